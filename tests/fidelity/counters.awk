# counters.awk — SimGPU's counters beside those that Nsight Compute read on a card, kernel by kernel.
#
#   awk -f counters.awk -v who=COMPILER -v summary=FILE RECORD SIMULATED    both as ncu.awk writes them, each with its header
#
# Hit rates and bytes of DRAM are compared for the first launch of a COLD kernel only. ncu makes the caches cold before each
# launch of such a kernel, and what it leaves in them for a WARM one is neither cold nor warm: it restores memory between its
# passes. Launches beyond those of the record warm the caches for the next kernel.
BEGIN {
    FS = "\t"
    at_mem = "l1tex__t_%s_pipe_lsu_mem_global_op_%s.sum"
    add("instructions", "smsp__inst_executed.sum", "10 %")
    add("registers a thread", "launch__registers_per_thread", "10 %")
    add("load requests", sprintf(at_mem, "requests", "ld"), "same")
    add("store requests", sprintf(at_mem, "requests", "st"), "same")
    add("load sectors", sprintf(at_mem, "sectors", "ld"), "same")
    add("store sectors", sprintf(at_mem, "sectors", "st"), "same")
    add("atomic requests", sprintf(at_mem, "requests", "atom") " + " sprintf(at_mem, "requests", "red"), "same")
    add("shared loads, ideal wavefronts", ideal("ld"), "same")
    add("shared stores and atomics, ideal wavefronts", ideal("st") " + " ideal("atom"), "same")
    add("local sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum + l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "10 %")
    add("L1 hit rate", "l1tex__t_sector_hit_rate.pct", "8 points")
    add("L2 hit rate", "lts__t_sector_hit_rate.pct", "8 points")
    add("DRAM bytes read", "dram__bytes_read.sum", "10 %")
    add("DRAM bytes written", "dram__bytes_write.sum", "10 %")
    add("DRAM bytes, both ways", "dram__bytes_read.sum + dram__bytes_write.sum", "10 %")
}
function add(label, formula, rule) { labels[++rows] = label; formulas[rows] = formula; rules[rows] = rule }
function ideal(op) {
    return "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_" op ".sum - l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_" op ".sum"
}
# A formula's value on this line: names with + or - between them; n/a where one of them is.
function evaluate(formula,   part, n, k, sum, sign) {
    n = split(formula, part, " ")
    sign = 1
    for (k = 1; k <= n; k++) {
        if (part[k] == "+" || part[k] == "-") { sign = part[k] == "+" ? 1 : -1; continue }
        if (!(part[k] in column) || $column[part[k]] == "n/a" || $column[part[k]] == "") return "n/a"
        sum += sign * $column[part[k]]
    }
    return sum
}
/^#/ { next }
$1 == "caches" { delete column; for (k = 1; k <= NF; k++) column[$k] = k; file++; next }
file == 1 { last[$2] = $3; caches[$2] = $1; l2[$2] = $column["lts__t_sectors_op_read.sum"] + $column["lts__t_sectors_op_write.sum"]; for (r = 1; r <= rows; r++) card[r, $2, $3] = evaluate(formulas[r]); next }
{ made[$2] = $3; for (r = 1; r <= rows; r++) ours[r, $2, $3] = evaluate(formulas[r]) }

function absolute(x) { return x < 0 ? -x : x }
function median(v, n,   i, j, x) {
    for (i = 2; i <= n; i++) {
        x = v[i]
        for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]
        v[j + 1] = x
    }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
# Some bytes and sectors that other work moves are in a card's counters: what is small is not looked at. For bytes that DRAM
# writes that is less than 2.4 MB, since ncu leaves 2.3 MB of its own in L2 (fidelity.h), and for L2's hit rate less than 1 MiB
# of lookups (there ncu's own rates lie above 100 %, too).
function least(label) { return label ~ /written/ ? 2.4e6 : label ~ /^DRAM/ ? 1e6 : label ~ /hit rate/ ? 0 : 1 }
function row(r,   unit, name, k, c, o, e, n, good, errors, worst, text) {
    for (name in last) {
        if (made[name] < last[name]) continue
        for (k = 1; k <= last[name]; k++) {
            if ((k > 1 || caches[name] == "warm") && labels[r] ~ /hit rate|DRAM/) continue
            if (labels[r] == "L2 hit rate" && l2[name] < 32768) continue
            c = card[r, name, k]
            o = ours[r, name, k]
            if (c == "n/a" || o == "n/a" || (c < least(labels[r]) && o < least(labels[r]))) continue
            e = rules[r] ~ /points/ ? o - c : o == c ? 0 : c ? 100 * (o / c - 1) : 999
            errors[++n] = absolute(e)
            good += rules[r] == "same" ? e == 0 : rules[r] == "10 %" ? absolute(e) <= 10 : absolute(e) <= 8
            if (absolute(e) > absolute(worst)) { worst = e; text = name }
        }
    }
    unit = rules[r] ~ /points/ ? "points" : "%"
    if (n)
        say(labels[r], good " of " n, rules[r], sprintf("%.1f %s", median(errors, n), unit), text (worst ? sprintf(", %+.0f %s", worst, unit) : ""))
    else
        say(labels[r], "n/a", rules[r], "n/a", "")
}
function say(label, good, rule, middle, worst) {
    printf "%-43s %-13s %-9s %13s   %s\n", label, good, rule, middle, worst
    print who "\t" label "\t" good "\t" rule "\t" middle "\t" worst >>summary
}
END {
    printf "%-43s %-13s %-9s %13s   %s\n", "counter, beside ncu's", "launches", "within", "median error", "worst"
    for (r = 1; r <= rows; r++) row(r)
}

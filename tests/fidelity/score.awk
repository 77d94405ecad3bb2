# score.awk — virtual times beside a card's: a summary for people on stdout and as tab-separated
# lines in `summary`, and a line a kernel in `table`.
#
#   awk -f split.awk -f score.awk -v table=FILE -v summary=FILE -v card=NAME who=card RECORD who=clang-14 TIMES ...
#
# RECORD and TIMES: lines "set<TAB>family/name<TAB>microseconds". Error: virtual time over the card's, less 1; so 100 % is
# twice too slow. Order: Kendall's tau within a family, of the pairs whose times on the card are 5 % or more apart.
BEGIN { FS = OFS = "\t" }
/^#/ || NF != 3 || $3 !~ /^[0-9.]/ { next }
{ key = $1 FS $2 }
who == "card" {
    if (!(key in real)) order[++count] = key
    real[key] = $3
    next
}
!(who in known) { known[who] = 1; compiler[++compilers] = who }
key in real { virtual[who, key] = $3 }

function family(key,   f) {
    split(key, f, FS)
    sub(/\/.*/, "", f[2])
    if (f[1] == "clock") { f[2] = substr(key, length("clock/clock/") + 1); sub(/,.*/, "", f[2]) }
    return f[1] FS f[2]
}
function absolute(x) { return x < 0 ? -x : x }
function percent(x) { return sprintf("%.0f %%", 100 * x) }
# Kendall's tau of a family in a half; "" where no two of its times can be told apart.
function tau(who, fam, part,   i, j, n, members, agree, pairs, a, b) {
    for (i = 1; i <= count; i++)
        if (family(order[i]) == fam && halves[i] == part && (who, order[i]) in virtual) members[++n] = order[i]
    for (i = 1; i < n; i++)
        for (j = i + 1; j <= n; j++) {
            a = real[members[i]] / real[members[j]]
            if (a < 1.05 && a > 1 / 1.05) continue
            b = virtual[who, members[i]] - virtual[who, members[j]]
            pairs++
            agree += b == 0 ? 0 : (b > 0) == (a > 1) ? 1 : -1
        }
    return pairs ? agree / pairs : ""
}
# A row, for people and for programs.
function say(who, set, part, n, error, signed, near, order_, families, worst) {
    printf "%-9s %-8s %-7s %4s %8s %8s %12s %6s %9s   %s\n", who, set, part, n, error, signed, near, order_, families, worst
    print who, set, part, n, error, signed, near, order_, families, worst >summary
}
function of_set(who, set, part,   i, n, sum, signed, near, worst, e, f, seen, t, taus, families, right, text) {
    for (i = 1; i <= count; i++) {
        split(order[i], f, FS)
        if (f[1] != set || halves[i] != part || !((who, order[i]) in virtual)) continue
        e = virtual[who, order[i]] / real[order[i]] - 1
        n++; sum += absolute(e); signed += e; near += absolute(e) <= 0.25
        if (absolute(e) > absolute(worst)) { worst = e; text = f[2] }
        if (family(order[i]) in seen) continue
        seen[family(order[i])] = 1
        t = tau(who, family(order[i]), part)
        if (t != "") { families++; taus += t; right += t == 1 }
    }
    if (!n) return
    say(who, set, part, n, percent(sum / n), percent(signed / n), near " of " n, \
        families ? sprintf("%.2f", taus / families) : "-", families ? right " of " families : "-", text ", " percent(worst))
}
function of_families(part,   i, c, k, f, seen, n, sum, t, line) {
    printf "\n%-34s", "family (half for the " part ")"
    for (c = 1; c <= compilers; c++) printf " %22s", compiler[c]
    print ""
    for (i = 1; i <= count; i++) {
        split(family(order[i]), f, FS)
        if (f[1] == "clock" || family(order[i]) in seen) continue
        seen[family(order[i])] = 1
        line = ""
        for (c = 1; c <= compilers; c++) {
            n = sum = 0
            for (k = 1; k <= count; k++)
                if (family(order[k]) == family(order[i]) && halves[k] == part && (compiler[c], order[k]) in virtual) {
                    n++
                    sum += absolute(virtual[compiler[c], order[k]] / real[order[k]] - 1)
                }
            t = tau(compiler[c], family(order[i]), part)
            line = line sprintf(" %22s", n ? n ", " percent(sum / n) ", order " (t == "" ? "-" : sprintf("%.2f", t)) : "-")
        }
        if (line ~ /%/) printf "%-34s%s\n", f[1] " " f[2], line
    }
}
END {
    for (i = 1; i <= count; i++) { split(order[i], f, FS); halves[i] = half(f[2]) }
    printf "set\thalf\tfamily/name\t%s us", card >table
    for (c = 1; c <= compilers; c++) printf "\t%s us\t%s error", compiler[c], compiler[c] >table
    printf "\n" >table
    for (i = 1; i <= count; i++) {
        split(order[i], f, FS)
        line = f[1] FS halves[i] FS f[2] FS real[order[i]]
        some = 0
        for (c = 1; c <= compilers; c++) {
            v = ""
            if ((compiler[c], order[i]) in virtual) { v = virtual[compiler[c], order[i]]; some = 1 }
            line = line FS (v == "" ? "n/a" : v) FS (v == "" ? "n/a" : sprintf("%+.3f", v / real[order[i]] - 1))
        }
        if (some) print line >table
    }
    say("compiler", "set", "half", "n", "error", "signed", "within 25 %", "order", "in order", "worst")
    for (c = 1; c <= compilers; c++)
        for (s = split("kernels host clock labs", sets, " "); s > 0; s--) {
            of_set(compiler[c], sets[5 - s], "tuning")
            of_set(compiler[c], sets[5 - s], "report")
        }
    of_families("report")
}

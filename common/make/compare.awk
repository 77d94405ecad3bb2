# compare.awk — reads traces (TRACE=trace.json), an event a line. Of several stretches with a mark's name the last counts: on a
# card, the ones before warmed it up.
#
#   -v longest=1     the name of the mark whose stretch is the longest
#   -v cut=MARK      the stretch of that mark alone, as a trace of its own; times count from the mark
#   -v mark=MARK     of two traces: count and time of each kernel and kind of copy in that stretch, side by side
BEGIN { wanted = cut != "" ? cut : mark }
function field(key,   at, rest) {
    at = index($0, "\"" key "\":")
    if (!at) return ""
    rest = substr($0, at + length(key) + 3)
    if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); return substr(rest, 1, index(rest, "\"") - 1) }
    match(rest, /^[-0-9.]+/)
    return substr(rest, 1, RLENGTH)
}
function shifted(   line) {
    line = $0
    sub(/"ts":[0-9.]+/, sprintf("\"ts\":%.3f", field("ts") - began), line)
    return line
}
FNR == 1 { file++; open_ = "" }
/"ph":"M"/ {
    heads = heads $0 "\n"
    if (/"process_name"/ && field("pid") == 2) { match($0, /"args":\{"name":"[^"]*/); gpu[file] = substr($0, RSTART + 16, RLENGTH - 16) }
}
/"ph":"i"/ {
    at = field("ts")
    if (open_ != "") {
        span[file, open_] = at - began
        if (open_ == wanted) stretch = stretch shifted() "\n"
        if (open_ != "end" && !(open_ in known)) { known[open_] = 1; names[++marks] = open_ }
    }
    open_ = field("name")
    began = at
    if (open_ != wanted) next
    stretch = shifted() "\n"
    for (k in count) if (index(k, file SUBSEP) == 1) { count[k] = 0; time[k] = 0 }
}
/"ph":"X"/ && open_ == wanted && wanted != "" {
    stretch = stretch shifted() "\n"
    tid = field("tid")
    if (tid < 2 || tid == 4 || tid >= 64) next
    name = field("name")
    sub(/ [0-9]+ B.*/, "", name)
    if (!(name in seen)) { seen[name] = 1; order[++kinds] = name }
    count[file, name]++
    time[file, name] += field("dur")
}
END {
    if (longest) {
        for (i = 1; i <= marks; i++) if (span[1, names[i]] > span[1, best]) best = names[i]
        print best
    } else if (cut != "") {
        printf "[\n%s%s{}]\n", heads, stretch
    } else {
        printf "%-28s %26s %26s\n", mark, substr(gpu[1], 1, 26), substr(gpu[2], 1, 26)
        for (i = 1; i <= kinds; i++)
            printf "%-28s %8d %14.1f us %8d %14.1f us\n", substr(order[i], 1, 28), count[1, order[i]], time[1, order[i]], count[2, order[i]], time[2, order[i]]
        printf "%-28s %23.1f us %23.1f us\n", "the stretch", span[1, mark], span[2, mark]
    }
}

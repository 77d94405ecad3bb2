# ncu.awk — from what `ncu --csv --page raw PROGRAM --once KIND` prints to a table: a line a launch, tab-separated.
#
#   awk -v metrics=M1,M2,... -v kind=cold -f ncu.awk FILE
#
# The columns: kind, the kernel's name in the list, which of its launches, the function, grid, block, the metrics. ncu
# prints its table last; the program's lines "@ name<TAB>launches" before it say whose the rows are, in order. A metric
# that ncu did not give is n/a.
BEGIN { FS = "\",\""; n = split(metrics, wanted, ",") }
!/^"/ && match($0, /@ [a-z][a-z0-9 -]*\/.*\t[0-9]+$/) { # after a line of ncu's own that has no end, too
    split(substr($0, RSTART + 2), f, "\t")
    for (k = 1; k <= f[2]; k++) { name[++expected] = f[1]; place[expected] = k }
    next
}
!/^"/ { next }
{ sub(/^"/, ""); sub(/"$/, "") }
$1 == "ID" { for (k = 1; k <= NF; k++) column[$k] = k; units = 1; next }
units { units = 0; next }
{
    row++
    line = kind "\t" name[row] "\t" place[row] "\t" $column["Kernel Name"] "\t" $column["Grid Size"] "\t" $column["Block Size"]
    for (k = 1; k <= n; k++) {
        value = wanted[k] in column ? $column[wanted[k]] : "n/a"
        gsub(/,/, "", value)
        if (value == "nan") value = "n/a" # a pass of ncu that gave nothing
        line = line "\t" value
    }
    print line
}
END {
    if (row != expected) {
        printf "ncu.awk: the program named %d launches, and ncu counted %d\n", expected, row > "/dev/stderr"
        exit 1
    }
}

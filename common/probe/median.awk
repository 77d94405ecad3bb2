# median.awk — the figures of several runs of a probe's program, made one.
#
#   awk -f median.awk RUN...
#
# RUN: lines of probe.h. Each figure is the median of its runs (of an even number the lower of the two in the middle), with
# how that run measured it; its spread reaches from the lowest to the highest of theirs. A process that began on a core far
# from the card is slower in all that it does, which no number of measurements in it shows.
BEGIN { FS = OFS = "\t" }
/^#/ { next }
{
    if (!($1 in runs)) order[++keys] = $1
    at = ++runs[$1]
    for (; at > 1 && value[$1, at - 1] > $2 + 0; at--) { value[$1, at] = value[$1, at - 1]; line[$1, at] = line[$1, at - 1] }
    value[$1, at] = $2 + 0
    line[$1, at] = $0
    if (runs[$1] == 1 || $3 + 0 < low[$1] + 0) low[$1] = $3
    if (runs[$1] == 1 || $4 + 0 > high[$1] + 0) high[$1] = $4
}
END {
    for (k = 1; k <= keys; k++) {
        $0 = line[order[k], int((runs[order[k]] + 1) / 2)]
        print $1, $2, low[$1], high[$1], $5
    }
}

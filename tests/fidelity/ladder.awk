# ladder.awk — rungs of a lab's table (PROGRAM --bench, or its record in handouts/measured) as lines
# "labs<TAB>LAB SIZE/RUNG<TAB>microseconds<TAB>KB"; -v lab=lab3. Columns left of the time name a rung. KB: what it moved,
# where there is a column GB/s: lanes may have different amounts of data under one name.
#
# Then a line "=", a tab and what was measured (sizes, steps): rungs are alike only where that is the same in both.
BEGIN { FS = OFS = "\t" }
FNR == 1 && /^# .*driver/ { next } # the caption of a record
/^# lane / { sub(/^# lane [a-z]*, device [^,]*/, ""); what = what $0; next }
/^#/ { if (!/each engine|before the first/) what = what $0; next }
{
    at = 0
    for (k = 1; k <= NF; k++) {
        if ($k == "us" || $k == "step us") at = k
        if ($k == "GB/s") rate_at = k
    }
}
at { time = at; rate = rate_at; rate_at = 0; split($0, title, FS); next }
time && $time + 0 > 0 {
    name = $1
    for (k = 2; k < time; k++) name = name (k == 2 ? "/" : " ") $k
    if (time == 2) name = "ladder/" name
    print "labs", lab " " name, $time, rate ? $time * $rate : ""
}
END { print "=", lab what }

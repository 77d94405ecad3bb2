# ladder.awk — rungs of a lab's table (PROGRAM --bench, or its record in handouts/measured) as lines
# "labs<TAB>LAB SIZE/RUNG<TAB>microseconds"; -v lab=lab3. Columns left of the time name a rung.
#
# Then a line "=", a tab and what was measured (sizes, steps): rungs are alike only where that is the same in both.
BEGIN { FS = OFS = "\t" }
FNR == 1 && /^# .*driver/ { next } # the caption of a record
/^# lane / { sub(/^# lane [a-z]*, device [^,]*/, ""); what = what $0; next }
/^#/ { if (!/each engine|before the first/) what = what $0; next }
{
    at = 0
    for (k = 1; k <= NF; k++) if ($k == "us" || $k == "step us") at = k
}
at { time = at; split($0, title, FS); next }
time && $time + 0 > 0 {
    name = $1
    for (k = 2; k < time; k++) name = name (k == 2 ? "/" : " ") $k
    if (time == 2) name = "ladder/" name
    print "labs", lab " " name, $time
}
END { print "=", lab what }

# ladder.awk — the rungs of a lab's table (PROGRAM --bench) as lines "labs<TAB>LAB SIZE/RUNG<TAB>microseconds";
# -v lab=lab3. Columns left of the time name a rung. The reference's program has its own rung twice, as "yours".
#
# Then a line "# ", the lab and what was measured (sizes, steps): times are of the same jobs only where that is the same.
BEGIN { FS = OFS = "\t" }
/^# lane / { sub(/^# lane [a-z]*, device [^,]*/, ""); what = what $0; next }
/^#/ { if (!/each engine|before the first/) what = what substr($0, 2); next }
{
    at = 0
    for (k = 1; k <= NF; k++) if ($k == "us" || $k == "step us") at = k
}
at { time = at; next }
time && $time + 0 > 0 && $(time - 1) != "yours" {
    name = $1
    for (k = 2; k < time; k++) name = name (k == 2 ? "/" : " ") $k
    if (time == 2) name = "ladder/" name
    print "labs", lab " " name, $time
    rungs++
}
END { if (rungs) print "# " lab what }

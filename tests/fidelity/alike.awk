# alike.awk — of the rungs of the second file (ladder.awk's lines) those that moved as much data as the first file's of that
# name, within a tenth, or of which neither file tells: "labs<TAB>LAB SIZE/RUNG<TAB>microseconds".
BEGIN { FS = OFS = "\t" }
NR == FNR { amount[$2] = $4; next }
$1 == "labs" && ($2 in amount) && ($4 - amount[$2]) ^ 2 <= (0.1 * $4) ^ 2 { print $1, $2, $3 }

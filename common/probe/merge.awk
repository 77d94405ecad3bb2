# merge.awk — a profile with a probe's figures in place of its own.
#
#   awk -v base=h200 [-v name=H100] -f merge.awk FIGURES profiles/h200.conf
#
# FIGURES: lines of probe.h. Every key of the profile stays in its place; a figure says how it was measured, and between
# which percentiles its measurements lie; a key without a figure keeps its value, and says whose it is.
FNR == NR {
    if (/^#/ || split($0, f, "\t") < 5) next
    value[f[1]] = f[2]
    how[f[1]] = f[5] == "property" ? "property" : "measured: " f[5] (f[3] == f[4] ? "" : "; " f[3] " to " f[4])
    next
}
/^#/ && !inside { next } # what the profile says of itself
!/^[a-z0-9_]+ = / { inside = 1; print; next }
{ key = $1 }
key == "name" { print "name = " (name != "" ? name : $3); next }
key in value { printf "%-35s # %s\n", key " = " value[key], how[key]; used[key] = 1; next }
{ printf "%-35s # not measured: as in profiles/%s.conf\n", key " = " $3, base }
END {
    for (key in value) if (!(key in used)) { print "merge.awk: the profile has no key " key >"/dev/stderr"; bad = 1 }
    exit bad
}

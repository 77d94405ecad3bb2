#!/bin/bash
# hint.sh N: the next hint for the row that is furthest off, or for ROW. Each row has three: a question, a place, a technique.
# What has been shown is remembered in .build/hints (BLUEBAR_HINTS); a row that is fixed makes room for the next one.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh
. common/make/variant.sh

n=$1
dir=$(lab_dir "$n")
variant=$(variant "$n" labs)
program=$B/$variant/lab$n
record=$program.tsv

need_compilers
build "$program"
if [ ! -f "$record" ] || [ "$program.so" -nt "$record" ] || ! score "$record" >/dev/null; then
    echo "running lab $n to see where it stands ..."
    rm -f "$record"
    limited "$program" --record "$record" >/dev/null 2>&1 || true
fi
score "$record" >/dev/null || die "lab $n does not run to its end yet, so there is no row to give a hint for. Its message: make lab$n"

# id, hint and sentence of ROW; or of the row furthest off: the largest share of its points is missing; of equals, the
# first; one that waits for another row has no next step ($12), and comes last
IFS=$'\t' read -r row hint sentence < <(awk -F '\t' -v asked="${ROW:-}" '
    $1 != "row" { next }
    asked != "" { if ($2 == asked) best = $2 "\t" ($3 == "pass" ? "-" : $11) "\t" $6; next }
    $3 != "fail" && $3 != "part" { next }
    { off = ($5 - $4) / $5 + ($12 != "") }
    off > worst { worst = off; best = $2 "\t" $11 "\t" $6 }
    END { print best }' "$record") || true
if [ -n "${ROW:-}" ] && [ -z "${row:-}" ]; then
    die "Lab $n has no row '$ROW'. Its rows:
$(awk -F '\t' '$1 == "row" { printf "  ROW=%-15s %s\n", $2, $6 }' "$record")"
fi
if [ "${hint:-}" = - ]; then
    echo "Row '$ROW' of lab $n is full. No hint needed."
    exit 0
fi
if [ -z "${row:-}" ]; then
    echo "Every row of lab $n is full. No hint needed: read solutions/${dir#labs/} and the handout's bonus question."
    exit 0
fi

seen=${BLUEBAR_HINTS:-.build/hints}/lab$n-$hint
mkdir -p "$(dirname "$seen")"
step=$(($(cat "$seen" 2>/dev/null || echo 0) + 1))
[ "$step" -le 3 ] || step=3
text=$(awk -v id="$hint" -v step="$step" '
    /^## / { inside = ($2 == id); next }
    inside && /^[0-9]+\. / { shown = ($1 == step "."); sub(/^[0-9]+\. */, "") }
    inside && /^[ \t]*$/ { shown = 0 }
    inside && shown { sub(/^ +/, ""); print "  " $0 }' "$dir/hints.md")
[ -n "$text" ] || die "$dir/hints.md: no hint $step under '## $hint'."
echo "$step" >"$seen"

kind=(- question place technique)
echo "lab $n, hint $step of 3 (${kind[step]}) for: $sentence"
echo "$text"
if [ "$step" = 3 ]; then
    echo "That was the last one for this row. Measure again: make lab$n"
else
    echo "More: make hint$n${ROW:+ ROW=$ROW}"
fi

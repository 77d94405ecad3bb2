#!/bin/bash
# mistakes.sh: what a student reads after each mistake, and whether any mistake earns points by luck.
#
# Grades each program of a lab's wrong/, cheat/ and right/ with SEEDS (50) seeds and writes tests/labN/mistakes.md, a table:
# the mistake, the rows that are not full (in brackets those that could not be measured because of another), and what the
# card says of the first of them that has a next step.
# A mistake must fail the same rows with every seed, and a program of right/ none: exit 1 where that is not so.
#
# LAB=3 picks a lab, else all. ONLY=REGEX picks programs by name, and prints their part of the table instead of writing it.
# Slow (some minutes a lab): the table is tracked, and tests/mistakes.bats looks whether it has every program.
set -u
cd "$(dirname "$0")/.." || exit 1
. common/make/lib.sh

export DEVICE=sim CUDA_COMPILER=clang B=.build/sim DESK=desk/mistakes
picked=${LAB:-$(labs)} seeds=${SEEDS:-50} only=${ONLY:-}
part=5 # seeds of one job
unset LAB SUBMISSION SEED SAN SEEDS ONLY "${!SIMGPU_@}"
export LC_ALL=C.UTF-8 # the order of the files
export SIMGPU_THREADS=1 # as many programs at a time as there are cores
need bats timeout flock || exit
[[ $seeds =~ ^[1-9][0-9]{0,3}$ ]] || die "SEEDS=$seeds: a number of seeds from 1 to 9999"

# Why a file got no score: the first finding of the gate or of the compiler, else how its run ended and what it said.
why_none() {
    awk '/^gate: / { print; found = 1; exit }
         /^compiler: .*error: / { sub(/.*error: /, "compiler: "); print; found = 1; exit }
         sub(/^# no result: /, "") && !ended { ended = $0; next }
         ended && sub(/^#    */, "") { ended = ended "; " $0; next }
         ended { exit }
         END { if (!found) print ended }' "$1"
}

# A row that waits for another one has no next step of its own (record.h): (row).
not_full() {
    awk -F '\t' '$1 == "columns" { for (i = 2; i <= NF; i++) at[$i] = i }
        $1 == "row" && $3 != "pass" && $3 != "na" { printf $at["next"] == "" ? "\t(%s)" : "\t%s", $2 }' "$1"
}

# Where the results of program $1 lie in folder $2, without .tsv.
results() { echo "$2/$(basename "${1%.*}")-$(basename "$(dirname "$1")")"; }

# One program, built and graded with the first seed: `one LAB FILE OUT` writes lines "rows SEED ROW..." and then
# "say COLUMN TEXT".
one() {
    local n=$1 file=$2 out name record
    out=$(results "$file" "$3")
    name=$(submission "$file")
    record=$B/$DESK/check/$name-lab$n.tsv
    make -s check LAB="$n" SUBMISSION="$file" SEED=1 >"$out.log" 2>&1 </dev/null
    if ! score "$record" >/dev/null 2>&1; then
        # No record: refused, or ended early. The gate and the compiler know no seed.
        printf 'none\t%s\n' "$(why_none "$out.log")" >"$out.tsv"
        return
    fi
    {
        printf 'rows\t1%s\n' "$(not_full "$record")"
        awk -F '\t' '$1 == "columns" { for (i = 2; i <= NF; i++) at[$i] = i }
            $1 == "row" && $3 != "pass" && $3 != "na" && (!rows++ || (!found && $at["next"] != "")) {
                for (c in at) say[c] = $at[c]; found = $at["next"] != "" } # the first with a next step; if none has, the first
            END { for (c in say) print "say\t" c "\t" say[c] }' "$record"
    } >"$out.tsv"
}

# The same program with the seeds FROM to TO: `more LAB FILE OUT FROM TO`. A part of them at a time, as a program whose
# runs take long would keep the rest waiting.
more() {
    local n=$1 file=$2 out scratch seed
    out=$(results "$file" "$3")
    grep -q '^rows' "$out.tsv" || return 0
    scratch=$(mktemp -d)
    for ((seed = $4; seed <= $5; seed++)); do
        rm -f "$scratch/record"
        echo "$seed" | TMPDIR=$scratch "$BLUEBAR" run --quiet --clean --alone --stdin --seconds 120 --log "$scratch/log" \
            --verdict "$scratch/verdict" -- "$B/$DESK/$(submission "$file")/lab$n" --record "$scratch/record" --seed - --others "$(others "$n" "$seed")"
        if score "$scratch/record" >/dev/null 2>&1; then
            printf 'rows\t%s%s\n' "$seed" "$(not_full "$scratch/record")"
        else
            printf 'rows\t%s\t(no score)\n' "$seed"
        fi
    done >"$out.from$4"
    rm -rf "$scratch"
}
export -f one more results not_full why_none

# The line of the table for program $1, whose results are in $2.
line() {
    local program=$1 mistake
    mistake=$(sed -n '2,${ \,^//,!q; s,^// *,,p; }' "$program" | paste -sd " ")
    awk -F '\t' -v program="${program#tests/lab*/}" -v mistake="$mistake" '
        function cell(text) { gsub(/:\\n */, ": ", text); gsub(/\\n */, "; ", text); gsub(/\\t/, " ", text); gsub(/\\\\/, "\\", text)
                              gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/\|/, "\\&#124;", text); return text }
        function add(text, before) { if (text != "") said = said (said == "" ? "" : before) text }
        $1 == "none" { none = $2 == "" ? "no score" : $2 }
        $1 == "rows" { runs++; for (i = 3; i <= NF; i++) { if (!($i in count)) order[++rows] = $i; count[$i]++ } }
        $1 == "say" { say[$2] = $3 }
        END {
            if (none != "") { print "| " program " | " cell(mistake) " | all | " cell(none) " |"; exit }
            for (i = 1; i <= rows; i++) { what = order[i]; list = list (i > 1 ? ", " : "") what
                if (count[what] != runs) list = list " **with " count[what] " of " runs " seeds**" }
            add(say["value"], ""); add(say["want"], ", "); add(say["where"], "; "); add(say["why"], "; "); add(say["next"], "; next: ")
            print "| " program " | " cell(mistake) " | " (rows ? list : "none") " | " cell(said) " |" }' "$2"
}

bad=0
for n in $picked; do
    out=$(mktemp -d)
    files=()
    for f in tests/lab"$n"/{wrong,cheat,right}/*.{cu,patch}; do
        if [ -f "$f" ] && [[ $f =~ $only ]]; then files+=("$f"); fi
    done
    [ ${#files[@]} -gt 0 ] || die "lab $n has no program like '$only' in tests/lab$n/wrong, cheat or right."
    build "$B/reference/lab$n" || exit 1
    # What the starter, the reference and the rungs measure with a seed is the same beside every program: once is enough.
    export BLUEBAR_OTHERS=$out/others
    # shellcheck disable=SC2016 # the inner shell is to expand it
    seq "$seeds" | xargs -P "$(nproc)" -I {} bash -c '. common/make/lib.sh; "$B/reference/lab$1" --seed "$2" --others "$(others "$@")" >/dev/null' mistakes.sh "$n" {} || exit 1
    printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I {} bash -c '. common/make/lib.sh; one "$@"' mistakes.sh "$n" {} "$out"
    for f in "${files[@]}"; do
        for ((from = 2; from <= seeds; from += part)); do echo "$f $out $from $((from + part - 1 < seeds ? from + part - 1 : seeds))"; done
    done | xargs -P "$(nproc)" -L 1 bash -c '. common/make/lib.sh; more "$@"' mistakes.sh "$n"
    for f in "${files[@]}"; do
        for one in "$(results "$f" "$out")".from*; do if [ -f "$one" ]; then cat "$one" >>"$(results "$f" "$out").tsv"; fi; done
    done
    table=$out/table.md
    {
        echo "# Lab $n: the mistakes, and what the card says of them"
        echo
        echo "Made by \`make mistakes LAB=$n\`, with $seeds seeds a program. \"all\" stands for a file that is refused before it runs."
        echo
        echo '| program | the mistake | rows that are not full | the first of them says |'
        echo '|---|---|---|---|'
        for f in "${files[@]}"; do line "$f" "$(results "$f" "$out").tsv"; done
    } >"$table"
    if [ -n "$only" ]; then cat "$table"; else cp "$table" "tests/lab$n/mistakes.md" && echo "written: tests/lab$n/mistakes.md (${#files[@]} programs)"; fi
    if grep -E 'of [0-9]+ seeds\*\*' "$table"; then bad=1; fi
    if grep -E '^\| right/' "$table" | grep -v '| none |'; then bad=1; fi
    if grep -E '^\| (wrong|cheat)/' "$table" | grep '| none |'; then bad=1; fi
    rm -rf "$out"
done
exit $bad

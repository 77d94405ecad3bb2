#!/bin/bash
# wording.sh: all that a student may read from a card, on one page, for somebody who reads it through: each row with its
# sentence and next step, each hint, and what the card or the gate says of each mistake (the tables of `make mistakes`).
# Writes .build/wording.md. LAB=3 picks a lab.
set -eu
cd "$(dirname "$0")/.."
. common/make/lib.sh

page=.build/wording.md
picked=${LAB:-$(labs)}
unset LAB
for n in $picked; do
    build "$B/judge/lab$n"
    folder=$(lab_dir "$n")
    head -n 1 "handouts/${folder#labs/}.md"
    printf '\n## The rows\n\n| on the card | points | the sentence | next step |\n|---|---:|---|---|\n'
    apart "$B/judge/lab$n" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print "| " $at["label"] " | " $at["points"] " | " $at["sentence"] " | " $at["next"] " |" }'
    printf '\n## The hints\n\n'
    sed '1,/^## /{ /^## /!d; }; s/^#/##/' "$folder/hints.md" # without what stands above the first hint
    printf '\n## After a mistake\n\n'
    sed '1,/^Made by/d' "tests/lab$n/mistakes.md"
    echo
done >"$page"
echo "written: $page ($(wc -w <"$page") words)"

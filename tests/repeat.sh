#!/bin/bash
# repeat.sh: does a starter fail exactly the rows that it should, whatever the data? Grades each lab's starter RUNS times
# (20), as `make check` does, each time with a fresh seed, and holds the rows that are not full against the lab's
# rows-failing-at-start.txt. LAB=3 picks one. Prints a line a lab, and the seed of each run that is another; exit 1 then.
set -u
cd "$(dirname "$0")/.." || exit 1
. common/make/lib.sh

export DEVICE=sim CUDA_COMPILER=clang B=.build/sim DESK=desk/repeat
picked=${LAB:-$(labs)} runs=${RUNS:-20} bad=0
unset LAB SUBMISSION SEED SAN

for n in $picked; do
    declared=$(grep -v '^#' "$(lab_tests "$n")/rows-failing-at-start.txt" | sort | xargs)
    same=0 seeds=
    for ((run = 0; run < runs; run++)); do
        log=$(make -s check LAB="$n" SUBMISSION=starter 2>&1)
        failed=$(awk -F '\t' '$1 == "row" && $3 != "pass" { print $2 }' "$B/$DESK/check/starter-lab$n.tsv" | sort | xargs)
        seed=$(sed -n 's/.*SEED=//p' <<<"$log" | head -n 1)
        seeds+="$seed"$'\n'
        if [ "$failed" = "$declared" ]; then
            same=$((same + 1))
        else
            echo "lab $n, SEED=$seed: not full are '$failed', declared are '$declared'"
        fi
    done
    echo "lab $n: exactly the declared rows failed in $same of $runs runs, with $(printf %s "$seeds" | sort -u | wc -l) seeds: $declared"
    [ "$same" = "$runs" ] || bad=1
done
exit $bad

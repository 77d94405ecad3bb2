#!/usr/bin/env bats
# Lab 5: the grader of the training loop. What is common to all labs is in graders.bats; the programs in wrong/ and cheat/
# have a test each (wrong-programs.sh).

load helper

lab_number=5

setup_file() { build "$B/starter/lab5" "$B/reference/lab5"; }
setup() { lab=$(lab_dir 5); }

# The solution with a change by sed, as a submission.
changed() {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed "$@" "solutions/${lab#labs/}/train.cu" >"$BATS_TEST_TMPDIR/s/train.cu"
    ! cmp -s "$BATS_TEST_TMPDIR/s/train.cu" "solutions/${lab#labs/}/train.cu" || echo "the change changed nothing"
    grade "$BATS_TEST_TMPDIR/s/train.cu"
}

# A row's value as a plain number: "78.9 us" is 78.9.
value() { field "$record" "$1" value | sed 's/ .*//'; }
between() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }' || { echo "$1 is not in $2 .. $3"; return 1; }; }

@test "lab 5: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    for seed in 1 2 4000000000; do
        grade starter $seed
        [ "$status" != 0 ]
        diff <(grep -v '^#' "$lab/rows-failing-at-start.txt" | sort) <(awk -F '\t' '$1 == "row" && $3 != "pass" { print $2 }' "$record" | sort)
    done
    for row in $(grep -v '^#' "$lab/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == train.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
    done
}

@test "lab 5: the file to edit is the starter, and the starter has gained nothing" {
    git diff --quiet HEAD -- "$lab/train.cu" || skip "it has been edited here"
    cmp "$lab/train.cu" "$lab/.starter.cu"
    grade starter 3
    [ "$(score "$record")" = "35 100" ]
}

@test "lab 5: the solution is full, with margin, whatever the seed" {
    for seed in 1 2 3 4000000000; do
        grade solutions $seed
        [ "$status" = 0 ]
        [ "$(score "$record")" = "100 100" ]
        between "$(value busy)" 97 100
        [ "$(value drains)" = 0.0 ]
    done
    # Full marks are for 1.05 times the kernels; the solution does with 1.03.
    between "$(value virtual-time)" 0 "$(field "$record" virtual-time want | sed 's/.*kernels \([0-9.]*\) us/\1/' | awk '{ print $1 * 1.03 }')"
}

@test "lab 5: the same card and the same report on any number of host threads" {
    for t in 1 2 3; do
        SIMGPU_THREADS=$t SIMGPU_REPORT=$BATS_TEST_TMPDIR/report$t apart "$B/starter/lab5" >"$BATS_TEST_TMPDIR/card$t"
    done
    for t in 2 3; do
        cmp "$BATS_TEST_TMPDIR/card1" "$BATS_TEST_TMPDIR/card$t"
        cmp "$BATS_TEST_TMPDIR/report1" "$BATS_TEST_TMPDIR/report$t"
    done
}

@test "lab 5: waiting later buys nothing, waiting for the present costs the overlap" {
    grade solutions
    two=$(value virtual-time)
    changed 's/DEPTH = 2/DEPTH = 3/'
    [ "$status" = 0 ]
    between "$(value virtual-time)" "$(echo "$two" | awk '{ print $1 * 0.99 }')" "$(echo "$two" | awk '{ print $1 * 1.01 }')"
    changed 's/DEPTH = 2/DEPTH = 1/'
    [ "$status" != 0 ]
    row_is learns pass
    row_is nan pass
    row_is busy fail || row_is busy part
    between "$(value drains)" 1 1
}

@test "lab 5: too deep a queue finds the NaN too late" {
    changed 's/DEPTH = 2/DEPTH = 10/'
    [ "$status" != 0 ]
    row_is nan fail
    [[ $(field "$record" nan why) == *"at most 8 may be"* ]]
}

@test "lab 5: --bench climbs from the starter to the kernels alone" {
    apart "$B/reference/lab5" --bench >"$BATS_TEST_TMPDIR/bench"
    cat "$BATS_TEST_TMPDIR/bench"
    awk -F '\t' '/^#/ { next } $1 == "program" || $1 == "yours" { next } { if (n++ && $3 < last) exit 1; last = $3 } END { exit n < 6 }' "$BATS_TEST_TMPDIR/bench"
}

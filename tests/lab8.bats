#!/usr/bin/env bats
# Lab 8: the grader of the thousand little steps. graders.bats has the tests common to all labs; the programs in wrong/,
# cheat/ and right/ have a test each (wrong-programs.sh).

load helper

lab_number=8

setup_file() { build "$B/starter/lab8" "$B/reference/lab8"; }
setup() { lab=$(lab_dir 8); }

# A row's value as a plain number: "0.43 us" is 0.43.
value() { field "$record" "$1" value | sed 's/ .*//'; }
between() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }' || { echo "$1 is not in $2 .. $3"; return 1; }; }

@test "lab 8: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    [ "$(score "$record")" = "40 100" ]
    for row in $(grep -v '^#' "tests/lab8/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == steps.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
    done
}

@test "lab 8: the file to edit is the starter" {
    git diff --quiet HEAD -- "$lab/steps.cu" || skip "it has been edited here"
    cmp "$lab/steps.cu" "tests/lab8/starter.cu"
}

@test "lab 8: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    between "$(value calls)" 0 0.1
    between "$(value host-time)" 0 0.1
    # Forty times the starter.
    between "$(value virtual-time)" 0 "$(field "$record" virtual-time want | sed 's/start \([0-9.]*\) us.*/\1/' | awk '{ print $1 / 40 }')"
}

@test "lab 8: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 8: each rung is right, and faster than the one before" {
    local last=17
    for rung in seldom persistent tile; do
        rung "$lab/rungs/$rung.cu"
        echo "$rung: $(value virtual-time) us a step, $last before"
        for row in correct races stops leaks; do row_is $row pass; done
        between "$(value virtual-time)" 0.3 "$last"
        last=$(value virtual-time)
    done
}

@test "lab 8: each mistake of the judge's list has a hint" {
    for hint in $(grep -ohE '\{"[a-z-]+",' "$lab"/parts/{advice,failed}.c | grep -oE '[a-z-]+' | sort -u); do
        echo "$hint"
        grep -q "^## $hint\$" "$lab/hints.md"
    done
}

@test "lab 8: --bench has a line for each program and size" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    awk -F '\t' '$1 == 256 && $2 != "yours" { us[$2] = $3 } END { exit !(us["starter"] > us["seldom"] && us["seldom"] > us["persistent"] && us["persistent"] > us["reference"] && us["reference"] > us["sums alone"] && us["sums alone"] > 0) }' "$BATS_TEST_TMPDIR/bench"
}

# The student's code is in a shared object, whose lines addr2line must be asked for.
@test "lab 8: a read of the host in front of the wait is named by its own line" {
    load expect
    expected tests/lab8/wrong/does_not_wait_for_the_copy.patch
}

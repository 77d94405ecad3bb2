#!/usr/bin/env bats
# Lab 10: the grader of half the bits. graders.bats has the tests common to all labs; the programs in wrong/, cheat/ and
# right/ have a test each (wrong-programs.sh).

load helper

# shellcheck disable=SC2034 # read by grade
lab_number=10

setup_file() { build "$B/starter/lab10" "$B/reference/lab10"; }
setup() { lab=$(lab_dir 10); }

# shellcheck disable=SC2154 # grade sets $record
# at_most ROW LIMIT: the row's value as a plain number.
at_most() {
    awk -v v="$(field "$record" "$1" value | sed 's/ .*//')" -v limit="$2" 'BEGIN { exit !(v != "" && v + 0 <= limit) }' || {
        echo "$1 is $(field "$record" "$1" value), want at most $2"
        return 1
    }
}

@test "lab 10: the starter fails exactly its declared rows, each with a reason and a hint" {
    # The last puts a hidden unit so near to 0 that sums in halves have it on the other side.
    for seed in 4000000000 10419922439244948483; do # docs.bats has the whole card of seed 2048
        play starter $seed
        as_declared
    done
    [ "$(score "$record")" = "25 100" ]
    while read -r row; do
        echo "$row"
        [ -n "$(field "$record" "$row" why)" ]
        [ "$row" = loss ] || [[ $(field "$record" "$row" where) == half.cu:[0-9]* ]]
    done < <(grep -v '^#' "tests/lab10/rows-failing-at-start.txt")
}

@test "lab 10: every row and every kind of mistake has its three hints" {
    {
        apart "$B/reference/lab10" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'
        grep -oE '\{"[a-z-]+"' "$lab/parts/advice.c" | tr -d '{"'
    } | sort -u >"$BATS_TEST_TMPDIR/ids"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/ids")" -gt 15 ]
    while read -r id; do
        echo "$id"
        [ "$(awk -v id="$id" '/^## / { inside = $2 == id; next } inside && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done <"$BATS_TEST_TMPDIR/ids"
}

@test "lab 10: the points sum to 100 in each lane" {
    apart "$B/reference/lab10" --rows >"$BATS_TEST_TMPDIR/rows"
    cat "$BATS_TEST_TMPDIR/rows"
    [ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }' "$BATS_TEST_TMPDIR/rows")" = 100 ]
}

@test "lab 10: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    at_most accuracy 1.5
    at_most lost 1
    at_most loss 1.5
    at_most issued 5
    at_most conflicts 0.02
}

@test "lab 10: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 10: every rung of the bench is right, and each better one is faster" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    awk -F '\t' '{ us[$1, $2] = $3 }
        END { exit !(us["dense 256", "sums"] > 1.1 * us["dense 256", "wmma"] && us["dense 256", "wmma"] > us["dense 256", "shared"] &&
                     us["dense 256", "shared"] > us["dense 256", "mma"] &&
                     us["dense 256", "mma"] > us["dense 256", "stages"] && us["dense 256", "stages"] >= us["dense 256", "reference"] &&
                     us["pass 2^22", "starter"] > us["pass 2^22", "half2"] && us["pass 2^22", "half2"] >= us["pass 2^22", "reference"]) }' "$BATS_TEST_TMPDIR/bench"
}

# docs.bats compares the points in the handout with runs; here the order counts.
@test "lab 10: each rung of the chapter is right, and earns more than the one before" {
    before=25
    for rung in "$lab"/rungs/*.patch; do
        rung "$rung"
        for row in correct races; do row_is $row pass; done
        points=$(score "$record" | cut -d ' ' -f 1)
        echo "$rung: $points"
        awk -v now="$points" -v before="$before" 'BEGIN { exit !(now > before) }'
        before=$points
    done
}

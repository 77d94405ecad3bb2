#!/usr/bin/env bats
# Lab 9: the grader of the matmul. graders.bats has the tests common to all labs; the programs in wrong/, cheat/ and right/
# have a test each (wrong-programs.sh).

load helper

lab_number=9

setup_file() { build "$B/starter/lab9" "$B/reference/lab9"; }
setup() { lab=$(lab_dir 9); }

# A row's value as a plain number.
value() { field "$record" "$1" value | sed 's/ .*//'; }
between() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }' || { echo "$1 is not in $2 .. $3"; return 1; }; }

# times_of ROW NAME: how many times the time that the row's "want" gives under this name.
times_of() {
    awk -v mine="$(field "$record" "$1" value)" -v want="$(field "$record" "$1" want)" -v name="$2" '
        function us(s,  f) { split(s, f, " "); return f[2] == "ms" ? 1000 * f[1] : f[1] }
        BEGIN { sub(".*" name " ", "", want); print us(mine) / us(want) }'
}

@test "lab 9: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    [ "$(score "$record")" = "35 100" ]
    while read -r row; do
        echo "$row"
        [[ $(field "$record" "$row" where) == matmul.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done < <(grep -v '^#' tests/lab9/rows-failing-at-start.txt)
}

@test "lab 9: the file to edit is the starter" {
    git diff --quiet HEAD -- "$lab/matmul.cu" || skip "it has been edited here"
    cmp "$lab/matmul.cu" tests/lab9/starter.cu
}

@test "lab 9: every row and every kind of mistake has its three hints" {
    {
        apart "$B/reference/lab9" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'
        grep -oE '\{"[a-z-]+",' "$lab/parts/advice.c" | tr -d '{",'
    } | tr -d '"' | sort -u >"$BATS_TEST_TMPDIR/ids"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/ids")" -gt 15 ]
    while read -r id; do
        echo "$id"
        [ "$(awk -v id="$id" '/^## / { inside = $2 == id; next } inside && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done <"$BATS_TEST_TMPDIR/ids"
}

@test "lab 9: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    between "$(value global)" 15 20
    between "$(value loads)" 0.05 0.13
    between "$(value local)" 0 0
    between "$(times_of virtual-time roof)" 1 1.9
}

@test "lab 9: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 9: every rung of the bench is right, and each better one is faster" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    awk -F '\t' '$1 == "2048x1024x64" { us[$2] = $3 }
        END { exit !(us["starter"] > 3 * us["coalesced"] && us["coalesced"] > 1.3 * us["tile"] && us["tile"] > 1.2 * us["column"] &&
                     us["column"] > 1.1 * us["patch"] && us["patch"] > 1.05 * us["wide"] && us["wide"] > 0.97 * us["warp"] &&
                     us["spilled"] > 1.2 * us["warp"] && us["reference"] > us["roof"]) }' "$BATS_TEST_TMPDIR/bench"
    apart "$B/reference/lab9" --ladder
}

# docs.bats compares the points in the handout with runs; here the order counts.
@test "lab 9: each rung of the chapter is right, and earns more than the one before" {
    before=35
    for rung in "$lab"/rungs/*; do
        rung "$rung"
        for row in correct races; do row_is $row pass; done
        points=$(score "$record" | cut -d ' ' -f 1)
        echo "$rung: $points"
        awk -v now="$points" -v before="$before" 'BEGIN { exit !(now > before) }'
        before=$points
    done
    awk -v now="$before" 'BEGIN { exit !(now > 99) }'
}

@test "lab 9: a patch of 16 x 16 spills, and the card says so" {
    grade tests/lab9/wrong/patch_of_16x16.patch || true
    row_is local fail
    [[ $(field "$record" local why) == *"the compiler spills the rest"* ]]
    [[ $(field "$record" local where) == patch_of_16x16.cu:[0-9]* ]]
    between "$(value local)" 400 3000
}

@test "lab 9: a fetch in a loop without a constant number of turns: unroll that first" {
    grade tests/lab9/wrong/fetches_in_a_rolled_loop.cu || true
    [[ $(field "$record" virtual-time next) == "unroll the loop that fetches"* ]]
}

@test "lab 9: who returns before a barrier is the line that the card names; a wrong sum waits for the row races" {
    grade tests/lab9/wrong/leaves_early.patch || true
    [[ $(field "$record" races why) == *"end here; others wait at the __syncthreads()"* ]]
    [[ $(field "$record" races next) == *"do not return" ]]
    grade tests/lab9/wrong/commits_while_it_fetches.patch || true
    [[ $(field "$record" correct next) == *"row 'races'"* ]]
}

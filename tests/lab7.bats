#!/usr/bin/env bats
# Lab 7: the grader of the fusion. graders.bats has the tests common to all labs; the programs in wrong/ and cheat/ have a
# test each (wrong-programs.sh).

load helper

# shellcheck disable=SC2034 # read by grade
lab_number=7

setup_file() { build "$B/starter/lab7" "$B/reference/lab7"; }
setup() { lab=$(lab_dir 7); }

# shellcheck disable=SC2154 # grade sets $record
# at_most ROW LIMIT: the row's value as a plain number.
at_most() {
    awk -v v="$(field "$record" "$1" value | sed 's/ .*//')" -v limit="$2" 'BEGIN { exit !(v != "" && v + 0 <= limit) }' || {
        echo "$1 is $(field "$record" "$1" value), want at most $2"
        return 1
    }
}

# times_copy ROW: how many times the time of the copy.
times_copy() {
    awk -v mine="$(field "$record" "$1" value)" -v want="$(field "$record" "$1" want)" '
        function us(s,  f) { split(s, f, " "); return f[2] == "ms" ? 1000 * f[1] : f[1] }
        BEGIN { sub(/.*copy /, "", want); print us(mine) / us(want) }'
}

@test "lab 7: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    while read -r row; do
        echo "$row"
        [[ $(field "$record" "$row" where) == fusion.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done < <(grep -v '^#' "tests/lab7/rows-failing-at-start.txt")
    # The matrix crosses the bus eleven times, where two are the least.
    [ "$(field "$record" bytes value)" = 5.50 ]
    [ "$(score "$record")" = "40 100" ]
}

@test "lab 7: every row and every kind of mistake has its three hints" {
    {
        apart "$B/reference/lab7" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'
        grep -oE '\{"[a-z-]+"' "$lab/parts/advice.c" | tr -d '{"'
    } | sort -u >"$BATS_TEST_TMPDIR/ids"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/ids")" -gt 15 ]
    while read -r id; do
        echo "$id"
        [ "$(awk -v id="$id" '/^## / { inside = $2 == id; next } inside && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done <"$BATS_TEST_TMPDIR/ids"
}

@test "lab 7: the points sum to 100" {
    apart "$B/reference/lab7" --rows >"$BATS_TEST_TMPDIR/rows"
    cat "$BATS_TEST_TMPDIR/rows"
    [ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }' "$BATS_TEST_TMPDIR/rows")" = 100 ]
}

@test "lab 7: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    at_most accuracy 0.5
    at_most bytes 1.0
    at_most sectors 16.3
    at_most barriers 4.1
    # Full marks are for 1.3 times the copy. An H200 takes 1.01 to 1.05 times the copy for the 2048 rows of 1024 of this lane
    # (8.3 us of 8.2), and 1.15 to 1.17 for the 1024 of 4096 (14.3 of 12.5): a wave of blocks loads, and then stores.
    awk -v a="$(times_copy virtual-1024)" -v b="$(times_copy virtual-4096)" 'BEGIN { exit !(a > 0.95 && a <= 1.18 && b > 0.95 && b <= 1.18) }'
}

@test "lab 7: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 7: every rung of the bench is right, and each better one is faster" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    # At 4096 columns `registers` has no place in the order: the virtual card charges its loads of gamma and beta, which stand
    # between stores, one after the other, and it takes 10.5 us beside the 8.9 of one_kernel. An H200 takes 74 us for 8192
    # such rows, and 81 with one_kernel. The reference may take a sixth more than `block` there: what the scratch array and y
    # leave of L2 decides (9.2 and 8.0 us; the H200's differ by a hundredth), and a fiftieth more at 1024 columns. one_pass
    # has less of a lead at 4096 columns: L1 keeps gamma and beta for its blocks, and one_kernel waits for them.
    awk -F '\t' '{ us[$1, $2] = $3 }
        function climbs(s) { return us[s, "starter"] > 1.5 * us[s, "tail"] && us[s, "tail"] > 1.2 * us[s, "one_pass"] &&
                                    us[s, "one_pass"] > (s ~ /4096/ ? 1.03 : 1.2) * us[s, "one_kernel"] && us[s, "one_kernel"] > 1.05 * us[s, "block"] &&
                                    us[s, "reference"] <= (s ~ /4096/ ? 1.17 : 1.02) * us[s, "block"] }
        END { registers = us["2048x1024", "registers"]
              exit !(climbs("2048x1024") && climbs("1024x4096") && us["2048x1024", "one_kernel"] > registers &&
                     registers > 1.05 * us["2048x1024", "block"]) }' "$BATS_TEST_TMPDIR/bench"
    apart "$B/reference/lab7" --ladder
}

# docs.bats compares the points in the handout with runs; here the order counts. Registers save sectors, and cost time at
# 4096 columns on the virtual card (see above).
@test "lab 7: each rung of the chapter is right, and earns more than the one before, but for registers, which lose less than a point" {
    before=40
    for rung in "$lab"/rungs/*.patch; do
        rung "$rung"
        for row in correct accuracy races; do row_is $row pass; done
        points=$(score "$record" | cut -d ' ' -f 1)
        echo "$rung: $points"
        case $rung in *registers*) less=1 ;; *) less=0 ;; esac
        awk -v now="$points" -v before="$before" -v less=$less 'BEGIN { exit !(now > before - less) }'
        before=$points
    done
    [ "$before" = 100 ]
    # Blocks that stay read gamma and beta less often.
    at_most sectors 13
}

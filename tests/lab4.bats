#!/usr/bin/env bats
# Lab 4: the grader of the reductions. graders.bats has the tests common to all labs; the programs in wrong/ and cheat/
# have a test each (wrong-programs.sh).

load helper

# shellcheck disable=SC2034 # read by grade
lab_number=4

setup_file() { build "$B/starter/lab4" "$B/reference/lab4"; }
setup() { lab=$(lab_dir 4); }

# The solution with a change by sed, as a submission.
changed() {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed "$@" "solutions/${lab#labs/}/reduction.cu" >"$BATS_TEST_TMPDIR/s/reduction.cu"
    ! cmp -s "$BATS_TEST_TMPDIR/s/reduction.cu" "solutions/${lab#labs/}/reduction.cu" || {
        echo "the change changed nothing"
        return 1
    }
    grade "$BATS_TEST_TMPDIR/s/reduction.cu"
}

# shellcheck disable=SC2154 # grade sets $record
# at_most ROW LIMIT: the row's value as a plain number.
at_most() {
    awk -v v="$(field "$record" "$1" value | sed 's/ .*//')" -v limit="$2" 'BEGIN { exit !(v != "" && v + 0 <= limit) }' || {
        echo "$1 is $(field "$record" "$1" value), want at most $2"
        return 1
    }
}

# times_reading ROW: how many times the time of only reading.
times_reading() {
    awk -v mine="$(field "$record" "$1" value)" -v want="$(field "$record" "$1" want)" '
        function us(s,  f) { split(s, f, " "); return f[2] == "ms" ? 1000 * f[1] : f[1] }
        BEGIN { sub(/.*reading /, "", want); print us(mine) / us(want) }'
}

@test "lab 4: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    while read -r row; do
        echo "$row"
        [[ $(field "$record" "$row" where) == reduction.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done < <(grep -v '^#' "tests/lab4/rows-failing-at-start.txt")
}

@test "lab 4: the row of the copies names the first line that copied, whatever it calls, and no comment" {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed -e '1i // cudaMemcpy(' -e 's/cudaMemcpy(&items\[i\], \(.*\)DeviceToHost)/cudaMemcpyAsync(\&items[i], \1DeviceToHost)/' \
        "tests/lab4/starter.cu" >"$BATS_TEST_TMPDIR/s/reduction.cu"
    grade "$BATS_TEST_TMPDIR/s/reduction.cu"
    line=$(grep -n "cudaMemcpyAsync(&items" "$BATS_TEST_TMPDIR/s/reduction.cu" | cut -d: -f1)
    [ "$(field "$record" copies where)" = "reduction.cu:$line" ]
}

@test "lab 4: every row and every kind of mistake has its three hints" {
    {
        apart "$B/reference/lab4" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'
        grep -oE '\{"[a-z-]+"' "$lab/parts/advice.c" | tr -d '{"'
    } | sort -u >"$BATS_TEST_TMPDIR/ids"
    [ -s "$BATS_TEST_TMPDIR/ids" ]
    while read -r id; do
        echo "$id"
        [ "$(awk -v id="$id" '/^## / { inside = $2 == id; next } inside && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done <"$BATS_TEST_TMPDIR/ids"
}

@test "lab 4: the points sum to 100 in both lanes" {
    apart "$B/reference/lab4" --rows >"$BATS_TEST_TMPDIR/rows"
    cat "$BATS_TEST_TMPDIR/rows"
    [ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }' "$BATS_TEST_TMPDIR/rows")" = 100 ]
}

@test "lab 4: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    at_most accuracy 8
    at_most load-sectors 4.0
    at_most launches 1
    at_most copies 0
    # Full marks are for 1.2 times reading, and for 1.25 times with the tensors (1.17 on an H200).
    awk -v a="$(times_reading virtual-array)" -v t="$(times_reading virtual-tensors)" 'BEGIN { exit !(a > 0.9 && a <= 1.1 && t > 0.9 && t <= 1.22) }'
}

@test "lab 4: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 4: every rung of the bench is right, and each better one is faster" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    awk -F '\t' '{ us[$1, $2] = $3 }
        function steps(n) { return us[n, "interleaved"] > 1.35 * us[n, "strided_index"] && us[n, "strided_index"] > 1.07 * us[n, "sequential"] &&
                                   us[n, "sequential"] > 1.05 * us[n, "shuffle"] && us[n, "shuffle"] > us[n, "strided"] && us[n, "strided"] > us[n, "reference"] }
        END { exit !(steps("2^20") && steps("2^22") && us["2^22", "starter"] > 15 * us["2^22", "interleaved"] &&
                     us["skewed", "starter"] > us["skewed", "loop"] && us["skewed", "loop"] > us["skewed", "tensor_a_block"] &&
                     us["skewed", "tensor_a_block"] > 20 * us["skewed", "reference"] && us["skewed", "reference"] > 0) }' "$BATS_TEST_TMPDIR/bench"
    apart "$B/reference/lab4" --ladder
}

# docs.bats compares the points in the handout with runs; here the order counts.
@test "lab 4: each rung of the chapter is right, and earns more than the one before" {
    before=25
    for rung in "$lab"/rungs/*.patch; do
        rung "$rung"
        for row in correct accuracy races; do row_is $row pass; done
        points=$(score "$record" | cut -d ' ' -f 1)
        echo "$rung: $points"
        # Wide loads earn nothing here; the card has the difference.
        awk -v now="$points" -v before="$before" -v wide="$([[ $rung != *wide* ]] || echo 1)" 'BEGIN { exit !(now > before || wide && now == before) }'
        before=$points
    done
    [ "$before" = 80 ]
}

@test "lab 4: parts that are too long are seen in the time, and blamed on the loop that loads" {
    changed 's/^#define PART .*/#define PART 4000000/'
    row_is correct pass
    row_is virtual-array pass
    row_is virtual-tensors fail
    [[ $(field "$record" virtual-tensors why) == *"latency: a warp waits for"*"loads in a row"* ]]
}

@test "lab 4: the launches are blamed on the line that launches, not on a fill before it" {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed 's/^ *mean_of<<</        cudaMemsetAsync(d_item, 0, sizeof *d_item);\n&/' "tests/lab4/starter.cu" >"$BATS_TEST_TMPDIR/s/reduction.cu"
    fill=$(grep -n cudaMemsetAsync "$BATS_TEST_TMPDIR/s/reduction.cu" | cut -d: -f1)
    grade "$BATS_TEST_TMPDIR/s/reduction.cu"
    row_is launches fail
    [[ $(field "$record" launches where) == *reduction.cu:$((fill + 1)) ]]
    [[ $(field "$record" virtual-tensors where) == *reduction.cu:$((fill + 1)) ]]
}

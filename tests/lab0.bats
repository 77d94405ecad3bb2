#!/usr/bin/env bats
# Lab 0: what is special to it. (The programs in wrong/ and cheat/ have their tests from wrong-programs.sh.)

load helper

setup_file() {
    build "$B/starter/lab0" "$B/reference/lab0"
}

setup() {
    lab=$(lab_dir 0)
    record=$BATS_TEST_TMPDIR/record
}

# Runs a variant of lab 0; its card in $output, its record in $record.
card() { output=$(apart "$B/$1/lab0" --record "$record" "${@:2}"); }

@test "lab 0: the starter fails exactly its declared rows, whatever the seed" {
    for seed in 1 2 4000000000; do
        card starter --seed $seed
        diff <(grep -v '^#' "$lab/rows-failing-at-start.txt" | sort) <(awk -F '\t' '$1 == "row" && $3 != "pass" { print $2 }' "$record" | sort)
    done
}

@test "lab 0: each row that the starter fails comes with a line of its file and a hint in three steps" {
    card starter
    for row in $(grep -v '^#' "$lab/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == ceilings.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done
    for hint in $(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'); do
        echo "$hint"
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

@test "lab 0: the solution is full, whatever the seed, and predicts within a tenth" {
    for seed in 1 2 3 4000000000; do
        card reference --seed $seed
        [ "$(score "$record")" = "100 100" ]
        for row in one-flop send copy fma; do
            awk -v mine="$(field "$record" $row value)" -v want="$(field "$record" $row want)" 'BEGIN {
                split(mine, m, " "); split(want, w, " ")
                exit !(m[2] == "us" && w[3] == "us" && m[1] < 1.1 * w[2] && w[2] < 1.1 * m[1]) }'
        done
    done
}

@test "lab 0: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 0: two runs, on 1, 2 and 3 host threads: byte-identical cards and records" {
    cd "$BATS_TEST_TMPDIR"
    for run in 1 2 3 1again; do
        SIMGPU_THREADS=${run%again} apart "$BLUEBAR_TOP/$B/reference/lab0" --record record.$run --seed 11 >card.$run
    done
    for run in 2 3 1again; do
        cmp card.1 card.$run
        cmp record.1 record.$run
    done
}

@test "lab 0: the measured ceilings are those of the profile" {
    card reference
    echo "$output"
    profile() { awk -v key="$1" '$1 == key { print $3 }' common/simgpu/profiles/h200.conf; }
    [[ $output == *"the link, page-locked "*" $(profile pinned_gbs) GB/s up"* ]]
    [[ $output == *"device memory "*" $(profile dram_gbs) GB/s read"* ]]
    [[ $output == *"one more launch "*" 2.50 us"* ]]
}

@test "lab 0: --roofline writes a script that gnuplot draws" {
    cd "$BATS_TEST_TMPDIR"
    apart "$BLUEBAR_TOP/$B/reference/lab0" --roofline roof.gp
    grep -q 'matmul, n = 1024' roof.gp
    command -v gnuplot >/dev/null || skip "no gnuplot here"
    gnuplot roof.gp
    grep -q '</svg>' roof.gp.svg
}

#!/usr/bin/env bats
# Lab 6: its special tests. (The programs in wrong/ and cheat/ have their tests from wrong-programs.sh.)

load helper

lab_number=6

setup_file() { build "$B/starter/lab6" "$B/reference/lab6"; }

setup() {
    lab=$(lab_dir 6)
}

# Microseconds of a row's value.
us() { field "$record" "$1" value | awk '{ print $2 == "ms" ? 1000 * $1 : $1 }'; }

@test "lab 6: the starter is as shipped, fails exactly its declared rows, and each comes with a line and a hint" {
    cmp "$lab/pipeline.cu" tests/lab6/starter.cu
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    for row in $(grep -v "^#" tests/lab6/rows-failing-at-start.txt); do
        echo "$row"
        [[ $(field "$record" "$row" where) == pipeline.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
    done
}

@test "lab 6: the solution is full, whatever the seed, has a margin, and holds a ring" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    # The limit over the time: full marks are for 0.80.
    awk -v us="$(us virtual-time)" -v want="$(field "$record" virtual-time want)" 'BEGIN {
        sub(/.*limit /, "", want); split(want, w, " "); exit !(w[2] == "us" && us > 0 && w[1] / us >= 0.825 && w[1] < us) }'
    [ "$(field "$record" overlap value | cut -d ' ' -f 1)" -ge 70 ]
    [[ $(field "$record" pinned value) == "7."*" MiB" && $(field "$record" device value) == "7."*" MiB" ]]
    [[ $output == *"copies up "*"GPU busy "*"copies down "* ]]
}

@test "lab 6: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab6" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 6: all rungs apply; three streams earn more than two, and more than four breadth first" {
    local -A points
    for rung in 2-two-streams 3-three-streams 4-breadth-first; do
        rung "$lab/rungs/$rung.patch"
        points[${rung%%-*}]=$(score "$record" | cut -d ' ' -f 1)
        echo "$rung: ${points[${rung%%-*}]}"
    done
    for rung in "$lab"/rungs/*.patch; do
        head -n 1 "$rung" | grep -Eq '^// Rung [0-9]'
        [ -f "$(whole "$rung")" ]
    done
    awk -v b="${points[2]}" -v c="${points[3]}" -v d="${points[4]}" 'BEGIN { exit !(b > 40 && c > b + 20 && c > d + 10 && c < 100) }'
}

@test "lab 6: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 6: where a call of CUDA fails, it is named, and the other rows show neither a value nor a mark" {
    grade tests/lab6/wrong/frees_twice.patch
    row_is correct fail
    [[ $(field "$record" correct where) == frees_twice.cu:[0-9]* ]]
    [[ $(field "$record" correct why) == *"cudaFree"* ]]
    [ "$(score "$record")" = "0 100" ]
    for row in in-flight left-behind default-stream pinned device overlap virtual-time; do
        [[ $(field "$record" "$row" value) == - && -z $(field "$record" "$row" want) ]]
    done
}

@test "lab 6: the trace names the timed job, and make lines6 puts its calls beside their lines" {
    TRACE=$BATS_TEST_TMPDIR/trace.json apart "$B/reference/lab6" >/dev/null
    grep -q '"name":"timed"' "$BATS_TEST_TMPDIR/trace.json"
    run apart "$B/starter/lab6" --lines
    echo "$output"
    [ "$status" = 0 ]
    [[ ${lines[0]} == "lab6  pipeline: 32 MiB in 8192 frames, the timed job "* ]]
    grep -Eq '^ +1 +32 +0 +[0-9]+ +[0-9]+ │ +cudaMemcpyAsync\(d_frames, frames' <<<"$output"
}

@test "lab 6: the ladder's programs are right, in the order of the handout, and the best number of chunks is where it was derived" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    awk -F '\t' '{ us[$1] = $2; host[$1] = $6 } END {
        exit !(us["pageable"] > us["starter"] && us["pinned late"] > us["starter"] && us["starter"] > us["two streams"] &&
               us["two streams"] > us["three streams"] && us["four, breadth first"] > 1.1 * us["three streams"] &&
               us["ring, 4 chunks"] > us["ring, 8 chunks"] && us["ring, 8 chunks"] > us["ring, 16 chunks"] &&
               us["ring, 64 chunks"] > us["ring, 32 chunks"] && us["ring, 128 chunks"] > us["ring, 64 chunks"] &&
               us["reference"] < 1.05 * us["ring, 16 chunks"] && us["reference"] > us["limit"] &&
               host["pinned late"] == 2 * host["starter"] && host["reference"] < host["starter"] / 4) }' "$BATS_TEST_TMPDIR/bench"
}

#!/usr/bin/env bats
# Lab 1: its special tests. (The programs in wrong/ and cheat/ have their tests from wrong-programs.sh.)

load helper

lab_number=1

setup_file() {
    build "$B/starter/lab1" "$B/reference/lab1"
}

setup() {
    lab=$(lab_dir 1)
}

@test "lab 1: the starter fails exactly its declared rows, whatever the seed" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
}

@test "lab 1: each row that the starter fails comes with a line of its file and a hint, or names the row to fill first" {
    play starter 2048
    for row in $(grep -v "^#" "tests/lab1/rows-failing-at-start.txt"); do
        echo "$row"
        if [ -n "$(field "$record" "$row" next)" ]; then
            [[ $(field "$record" "$row" where) == pinning.cu:[0-9]* ]]
        else
            [[ $(field "$record" "$row" why) == *staged* ]]
        fi
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
        [ -n "$(field "$record" "$row" why)" ]
    done
}

@test "lab 1: the solution is full, whatever the seed, and has a margin" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    # GB/s of the link's GB/s: full marks are for 0.94 and 0.90.
    for row in to-device:0.95 to-host:0.95 both-ways:0.925; do
        awk -v mine="$(field "$record" "${row%:*}" value)" -v want="$(field "$record" "${row%:*}" want)" -v least="${row#*:}" 'BEGIN {
            sub(/.*link /, "", want)
            split(mine, m, " "); split(want, w, " ")
            exit !(m[2] == "GB/s" && m[1] >= least * w[1] && m[1] <= w[1]) }'
    done
    [[ $(field "$record" page-locked value) == "32.0 MiB" ]]
    [[ $output == *"copies up "*"GPU busy "*"copies down "* ]]
}

@test "lab 1: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab1" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 1: points follow work: two lines of new code earn fewer than half, one stream a little more" {
    for step in pins_once:35 one_stream_by_events:54.2; do
        grade "tests/lab1/wrong/${step%:*}.patch"
        [ "$(score "$record")" = "${step#*:} 100" ]
    done
}

@test "lab 1: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 1: a buffer used too early costs 'correct' whether or not the results are right, and the copy is named" {
    for program in no_wait.cu waits_for_the_next_slot.patch; do # wrong results, right results
        grade "tests/lab1/wrong/$program"
        row_is correct fail
        [[ $(field "$record" correct why) == "luck decides what the results are "* && -z $(field "$record" correct next) ]]
        [[ $(field "$record" in-flight where) == "${program%.*}.cu:"[0-9]* ]]
    done
}

@test "lab 1: the hint follows what the program does, not the row alone" {
    for pair in one_stream_waits_for_all:to-device:own-wait one_stream_by_events:to-device:own-stream two_slots:both-ways:third-slot cuts_into_5:both-ways:pieces; do
        IFS=: read -r program row hint <<<"$pair"
        grade "tests/lab1/wrong/$program.patch"
        echo "$row: $(field "$record" "$row" hint)"
        [ "$(field "$record" "$row" hint)" = "$hint" ]
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

@test "lab 1: what the checks find stands on the card, and is not printed a second time" {
    name=$(variant 1 tests/lab1/wrong/kernel_in_stream_0.patch)
    build "$B/$name/lab1"
    said=$(apart "$B/$name/lab1" 2>&1 >"$BATS_TEST_TMPDIR/card")
    echo "$said"
    [ -z "$said" ]
    grep -q "stream order: " "$BATS_TEST_TMPDIR/card"
}

@test "lab 1: new and delete are counted like malloc" {
    sed -e 's/void \*batch = malloc(job->in_bytes);/char *batch = new char[job->in_bytes];/' -e 's/free(batch);/delete[] batch;/' \
        "tests/lab1/starter.cu" >"$BATS_TEST_TMPDIR/pinning.cu"
    grade "$BATS_TEST_TMPDIR/pinning.cu"
    [[ $(field "$record" allocations value) == 63 ]]
}

@test "lab 1: make lines1 puts calls, bytes and the host's waits beside their lines" {
    run apart "$B/starter/lab1" --lines
    echo "$output"
    [ "$status" = 0 ]
    grep -Eq '^ +32 +128 +128 +[0-9]+ +[0-9]+ │ +cudaMemcpy\(d_in, batch' <<<"$output"
}

@test "lab 1: the trace names the job by its mark, loads and takes by their batch, and calls as the program wrote them" {
    TRACE=$BATS_TEST_TMPDIR/trace.json apart "$B/reference/lab1" --lines >/dev/null
    for name in "both ways" "load_batch 31" "take_result 0" cudaStreamCreateWithFlags; do
        grep -q "\"name\":\"$name\"" "$BATS_TEST_TMPDIR/trace.json"
    done
    run grep cudaStreamCreateWithPriority "$BATS_TEST_TMPDIR/trace.json"
    [ "$status" = 1 ]
}

@test "lab 1: the ladder's rungs are right, and in the order of the handout" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    run grep wrong "$BATS_TEST_TMPDIR/bench"
    [ "$status" = 1 ]
    awk -F '\t' '$1 == "both ways" { us[$2] = $3 } END {
        exit !(us["pin_each"] > us["starter"] && us["starter"] >= us["reuse"] && us["reuse"] > us["pin_once"] &&
               us["pin_once"] > us["one_stream"] && us["one_stream"] > us["reference"] && us["reference"] > us["link"] &&
               us["starter"] > 2.8 * us["reference"]) }' "$BATS_TEST_TMPDIR/bench"
}

@test "lab 1: where a call of CUDA fails, it is named, and the other rows show neither a value nor a mark" {
    grade tests/lab1/wrong/failing_call.patch
    [[ $(field "$record" correct where) == failing_call.cu:62 ]]
    [[ $(field "$record" correct why) == "cudaErrorInvalidValue, in the job "*"cudaMemcpyAsync: the source is a device pointer"* ]]
    [ "$(score "$record")" = "0 100" ]
    for row in in-flight allocations staged page-locked left-behind to-device to-host both-ways; do
        [[ $(field "$record" "$row" value) == - && -z $(field "$record" "$row" want) ]]
    done
}

@test "lab 1: a rate that the link could carry is refused while the device still works at the last take" {
    sed 's/UNFINISHED = 2/UNFINISHED = 1/' tests/lab1/cheat/takes_the_last_unseen.cu >"$BATS_TEST_TMPDIR/pinning.cu"
    grade "$BATS_TEST_TMPDIR/pinning.cu"
    row_is correct pass
    row_is to-device fail
    [[ $(field "$record" to-device why) == "at the last take_result the device still worked for "* ]]
}

# One process a line, not one a finding: there may be thousands, of milliseconds each.
@test "a race that is found at each step asks for the name of its line once" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\necho "$*" >>%s/asked\nexec %s "$@"\n' "$BATS_TEST_TMPDIR" "$(command -v addr2line)" >"$BATS_TEST_TMPDIR/bin/addr2line"
    chmod +x "$BATS_TEST_TMPDIR/bin/addr2line"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH grade tests/lab1/wrong/event_never_recorded.patch
    [ -s "$BATS_TEST_TMPDIR/asked" ]
    [ -z "$(sort "$BATS_TEST_TMPDIR/asked" | uniq -d)" ]
}

#!/usr/bin/env bats
# check/: each hazard is found, with both its lines; its corrected twin, and look-alikes, are not.
#
# The programs in tests/check/ have a kernel or a function a hazard; `// <-- NAME` stands at the lines to be named.

load helper
bats_require_minimum_version 1.5.0

setup_file() {
    build "$B/tests/check/block" "$B/tests/check/grid" "$B/tests/check/host"
}

# hazards PROGRAM: the names that its source marks.
hazards() { sed -n 's/.*<-- \([a-z_]*\).*/\1/p' "tests/check/$1.cu" | sort -u; }

# finds PROGRAM NAME CHECK...: all its findings, in the report too, are of these checks and at lines marked with NAME.
finds() {
    local program=$1 name=$2 lines line
    shift 2
    rm -f "$BATS_TEST_TMPDIR/report"
    status=0
    output=$(SIMGPU_REPORT=$BATS_TEST_TMPDIR/report timeout 20 "$B/tests/check/$program" "$name" 2>&1 3>&-) || status=$?
    echo "$output"
    [ "$status" = 0 ] || return 1
    lines=$(grep -n -- "<-- $name\$\|<-- $name (" "tests/check/$program.cu" | cut -d: -f1)
    for check; do grep "\"kind\":\"finding\",\"check\":\"$check\"" "$BATS_TEST_TMPDIR/report" || return 1; done
    ! grep '"kind":"finding"' "$BATS_TEST_TMPDIR/report" | grep -v "\"check\":\"\\($(printf '%s' "$*" | sed 's/ /\\|/g')\\)\"" || return 1
    for line in $(grep '"kind":"finding"' "$BATS_TEST_TMPDIR/report" | sed 's/"message".*//' | grep -o '"line":[0-9]*' | cut -d: -f2); do
        grep -qx "$line" <<<"$lines" || {
            echo "line $line is not one of: $lines"
            return 1
        }
    done
}

# silent PROGRAM NAME: requires that nothing is found.
silent() {
    run -0 --separate-stderr timeout 20 "$B/tests/check/$1" "$2"
    [ "$output" = "$2: cudaSuccess" ]
    echo "$stderr"
    [ -z "$stderr" ]
}

@test "races between threads of a block name both lines" {
    for name in reverse bytes wide rounds copies last_wins two_halves; do finds block "$name" race; done
}

@test "a barrier that some threads skip, and what it therefore does not order" {
    finds block skips barrier-skipped race
    for name in pairs turns; do finds block "$name" barrier-skipped; done
    run timeout 20 "$B/tests/check/block" pairs
    [[ $output == *": barrier: some threads of the block wait at this __syncthreads(), others skip it and go on"*"in kernel pairs, block (0,0,0): thread (0,0,0) waits, thread (32,0,0) does not come"*"Fix: let every thread of the block pass it"* ]]
}

@test "a barrier that threads never reach because they have ended" {
    finds block ends barrier-exited
    finds block leaves barrier-exited race
    run timeout 20 "$B/tests/check/block" ends
    [[ $output == *"others end without it, by the condition at line "*"thread (0,0,0) waits, thread (90,0,0) ends; a GPU counts it as arrived"* ]]
}

@test "races between lanes of a warp: the reduction's tail without __syncwarp, volatile or not" {
    for name in tail half_warp tiles histogram; do finds block "$name" race; done
    run timeout 20 "$B/tests/check/block" tail_volatile
    [[ $output == *"race: a thread reads what another lane of the warp wrote"*"Fix: "*"put __syncwarp() between the "* ]]
}

@test "a race between warps is told as one, though the lanes of the first warp have raced before" {
    for name in reverse histogram; do
        run timeout 20 "$B/tests/check/block" $name
        [[ $output == *"what another thread wrote at line "*"Fix: put __syncthreads() between the two"* ]]
        [[ $output != *__syncwarp* && $output != *uninitialised* ]]
    done
}

@test "flags and locks need a fence" {
    for name in flag lock; do finds block "$name" race; done
    for name in last_block chain lock; do finds grid "$name" race; done
}

@test "shared memory that was never written" {
    for name in halo counter; do finds block "$name" uninit; done
}

@test "device memory that was never written" {
    for name in one_missing unset; do finds grid "$name" uninit; done
    run timeout 20 "$B/tests/check/grid" one_missing
    [[ $output == *": uninitialised: a thread reads device memory that nothing has written since its allocation"*"thread (63,0,0) reads device memory, "*"Fix: write each element before the first read, zeros too, by cudaMemset, "* ]]
}

@test "races between blocks of one launch" {
    for name in smooth total exchange steps; do finds grid "$name" race; done
}

@test "a host access to a buffer during its copy is reported with its line, and the program continues" {
    for name in read_early unwaited beside refill registered; do finds host "$name" in-flight; done
    [[ $output == "host.cu:"*": in flight: the host writes a buffer that a copy (line "*") may still be reading"* ]]
    run timeout 20 "$B/tests/check/host" included
    [[ $output == "touch.cuh:3: in flight: the host reads a buffer that a copy (host.cu:"*"     3 |     return *p; // <-- included"* ]]
}

@test "two streams on the same bytes without an order" {
    for name in two_streams reused early_event non_blocking; do finds host "$name" stream-order; done
    [[ $output == *"kernel add on stream 0 writes what kernel add on stream 3 reads (line "*"), and nothing puts the two in order"* ]]
}

@test "a fresh card's streams are not taken for those of the card before" {
    for name in two_streams read_early; do
        run timeout 20 "$B/tests/check/host" "$name" after-another-card
        [[ $output == *": stream order: "* || $output == *": in flight: "* ]]
        run -0 --separate-stderr timeout 20 "$B/tests/check/host" "$name-mended" after-another-card
        [ -z "$stderr" ]
    done
}

@test "what a card's checks know is the card's own: a fresh card, and one after a reset, find the same again" {
    for again in card reset; do
        run env SIMGPU_REPORT="$BATS_TEST_TMPDIR/report" timeout 20 "$B/tests/check/block" reverse "$again"
        [ "$status" = 0 ]
        [ "$(grep -c '"check":"race"' "$BATS_TEST_TMPDIR/report")" = 2 ] # an event each
        [ "$(grep -c ': race: ' <<<"$output")" = 1 ]                    # but one message
    done
}

@test "corrected twins and look-alikes are silent" {
    for name in $(hazards block); do [ "$name" = tail_volatile ] || silent block "$name-mended"; done
    for name in any_negative shuffles flag_in_warp padding own_bytes copied uniform; do silent block "$name-clean"; done
    for name in $(hazards grid); do silent grid "$name-mended"; done
    for name in harmless as_fresh first_touch; do silent grid "$name-clean"; done
    for name in $(hazards host); do silent host "$name-mended"; done
    for name in neighbours pageable orders told between_rows; do silent host "$name-clean"; done
}

@test "a finding shows both lines with a caret, the threads, the variable and the fix" {
    run timeout 20 "$B/tests/check/block" rounds
    local at
    mapfile -t at < <(grep -n "<-- rounds" tests/check/block.cu | cut -d: -f1)
    expected="block.cu:${at[1]}: race: a thread reads what another thread wrote at line ${at[0]}, and nothing puts them in order
    ${at[0]} |         s[threadIdx.x] = threadIdx.x + 100 * r; // <-- rounds
       |                        ^
    ${at[1]} |         sum += s[127 - threadIdx.x]; // <-- rounds
       |                ^
  in kernel rounds, block (0,0,0): thread (127,0,0) wrote and thread (0,0,0) reads byte 508 of the shared variable s
  Fix: put __syncthreads() between the two, where every thread of the block passes it.
rounds: cudaSuccess"
    diff <(echo "$expected") <(echo "$output")
}

@test "a finding is wrapped on a terminal, its lines of source are not; a file has it as it is" {
    wrapped=$(SIMGPU_WRAP=1 timeout 20 "$B/tests/check/block" tail 2>&1)
    plain=$(timeout 20 "$B/tests/check/block" tail 2>&1)
    echo "$wrapped"
    grep -Eq "^.{101,}\$" <<<"$plain"
    run grep -E "^.{101,}\$" <<<"$wrapped"
    [ "$status" = 1 ]
    diff <(tr -s ' \n' ' ' <<<"$wrapped") <(tr -s ' \n' ' ' <<<"$plain")
    diff <(grep -E '^ +[0-9]* \|' <<<"$wrapped") <(grep -E '^ +[0-9]* \|' <<<"$plain")
    [ "$(script -qec "$B/tests/check/block tail" /dev/null </dev/null | tr -d '\r')" = "$wrapped" ]
}

@test "findings are the same for any number of host threads" {
    for threads in 1 2 3; do
        SIMGPU_THREADS=$threads timeout 20 "$B/tests/check/grid" chain >"$BATS_TEST_TMPDIR/$threads" 2>&1
        diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/$threads"
    done
    [ -s "$BATS_TEST_TMPDIR/1" ]
}

@test "lab 3's solution has no findings" {
    build "$B/reference/lab3"
    run -0 --separate-stderr env SIMGPU_CHECK=1 "$B/reference/lab3"
    [ -z "$stderr" ]
}

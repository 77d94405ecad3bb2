#!/usr/bin/env bats
# Programs that mean SimGPU ill, or themselves: what a GPU would compute, CUDA's error or a message; no crash, no hang, no wrong number.

load helper

setup_file() { build "$B/tests/hostile/host"; }

# host CASE: one of tests/hostile/host.cu, in ten seconds.
host() {
    run timeout -s KILL 10 "$B/tests/hostile/host" "$@"
    echo "$output"
}
computed=$'computed cudaSuccess\n3eaaaaab 00400000 7f800000 3fd5555555555555'

@test "kernels do not depend on the program's rounding mode, flushing or traps" {
    for how in plain flush traps; do
        host "$how"
        [ "$output" = "$computed" ]
    done
    host rounding
    [ "$(grep -c 'mode kept' <<<"$output")" = 3 ]
    [ "$(grep -v mode <<<"$output" | sort -u)" = "$(sort -u <<<"$computed")" ]
}

@test "kernels, on whatever host thread, and files do not depend on the program's language" {
    # One with a decimal comma: SimGPU reads numbers in its profile, and writes some in reports.
    command -v localedef >/dev/null && [ -e /usr/share/i18n/locales/de_DE ] || skip "needs localedef and the locale de_DE"
    mkdir -p "$BATS_TEST_TMPDIR/languages"
    localedef -i de_DE -f UTF-8 "$BATS_TEST_TMPDIR/languages/de_DE.UTF-8" || true # 1: it has warned
    export LOCPATH=$BATS_TEST_TMPDIR/languages LC_ALL=de_DE.UTF-8
    TRACE=$BATS_TEST_TMPDIR/trace host language
    [ "$output" = "$computed"$'\n1,5' ]
    grep -q '"ts":[0-9]*\.[0-9]' "$BATS_TEST_TMPDIR/trace"
    for threads in 1 3; do
        SIMGPU_THREADS=$threads host speaking
        [ "$(sort <<<"$output" | uniq -c | sed 's/^ *//')" = $'256 0.5\n1 1,5\n1 spoken cudaSuccess' ]
    done
}

@test "threads: one is cancelled in its calls, one calls without end; the others go on" {
    host cancel
    [ "$output" = "after it cudaSuccess" ]
    host "cancel anywhere"
    [ "$output" = "after it cudaSuccess" ]
    host turns
    [ "$output" = "turns cudaSuccess" ]
}

@test "a signal handler may not call the API in the middle of a call; it may end the program" {
    host handler
    [[ $output == *"the handler's call was refused"*"after it cudaSuccess"*"$computed" ]]
    [[ $output == *"cudaMemcpy: a signal handler that comes in the middle of a call may not call the CUDA API"* ]]
    host "handler at the ends"
    [ "$(grep -v '^simgpu' <<<"$output" | xargs)" = "around it cudaSuccess when it begins cudaErrorNotPermitted when it ends cudaErrorNotPermitted 2 signals after it cudaSuccess" ]
    host interrupted
    [ "$status" = 7 ]
}

@test "a signal handler that calls the API wherever it comes: no hang, and no call of the program fails" {
    host "asked anywhere"
    [[ $output == *"0 calls failed" && $output != *siglongjmp:* && $status = 0 ]]
}

@test "a signal handler that leaves a call by siglongjmp: the next call, or the program's end, says so; nothing hangs" {
    host "left and calls"
    [[ $output == *left*"host.cu:"*": cuda"*": a signal handler has left this call by siglongjmp"* && $output != *never* ]]
    [ "$status" = 2 ]
    host left
    [[ $output == *left*"a signal handler has left a call by siglongjmp"* && $output != *never* ]]
}

@test "a graph that a capture or a node holds does not end twice" {
    host graphs
    [ "$status" = 0 ]
    [ "$(grep -v '^simgpu' <<<"$output" | xargs)" = "captured cudaErrorInvalidValue reset cudaSuccess child cudaErrorInvalidValue outer cudaSuccess child cudaErrorInvalidValue reset cudaSuccess" ]
}

@test "printf: a launch prints what the buffer holds, whatever the number of host threads; a loop that prints for ever ends" {
    local out=$BATS_TEST_TMPDIR/out threads
    for threads in 1 3; do
        SIMGPU_THREADS=$threads SIMGPU_BUDGET=2000000 timeout 10 "$B/tests/hostile/host" printing >"$out$threads" 2>"$out.err"
    done
    cmp "${out}1" "${out}3"
    [ "$(wc -c <"${out}1")" = $((200000 + $(printf 'prints cudaSuccess\nprints for ever cudaErrorLaunchTimeout\n' | wc -c))) ]
    [ "$(grep -ac "simgpu: prints: a launch printed more than printf's buffer holds" "$out.err")" = 1 ]
    grep -aq "prints for ever cudaErrorLaunchTimeout" "${out}1"
}

@test "a copy from or to a pointer that nobody set is an error that names it" {
    host garbage
    [ "$(grep -v '^simgpu' <<<"$output" | xargs)" = "peer from cudaErrorInvalidValue peer to cudaErrorInvalidValue peer async cudaErrorInvalidValue beyond all cudaErrorInvalidValue to device cudaErrorInvalidValue to host cudaErrorInvalidValue freed cudaErrorInvalidValue box cudaErrorInvalidValue after it cudaSuccess" ]
    [[ $output == *"host.cu:"*": cudaMemcpyPeer: the source, 0x123456789000, is no address of this program's memory"*"was the pointer ever set"* ]]
}

@test "the largest grid of blocks that do nothing takes no time" {
    host blocks
    [ "$output" = "blocks cudaSuccess" ]
}

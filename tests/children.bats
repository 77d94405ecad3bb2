#!/usr/bin/env bats
# Kernels that launch kernels (common/simgpu/exec/children.c): nvcc's PTX on every machine, clang's where a clang 22 is.

load helper

setup_file() {
    build "$B/lib/libcuda.so.1" "$B/lib/libcudart.so.13"
    "$(common/make/find-clang.sh)" -std=c11 -Wall -Wextra -Werror -I common/simgpu/include -o "$BATS_FILE_TMPDIR/host" \
        tests/children/host.c -L "$B/lib" -lcuda
}

host() {
    LD_LIBRARY_PATH=$B/lib run "$BATS_FILE_TMPDIR/host" tests/children/children.ptx "$@"
    echo "$output"
    [ "$status" = 0 ]
}

# bats test_tags=quick
@test "nvcc's launches in kernels: order, streams, tails, parameters, errors, depth, events, memory, recursion" {
    LD_LIBRARY_PATH=$B/lib "$BATS_FILE_TMPDIR/host" tests/children/children.ptx 2>"$BATS_TEST_TMPDIR/said" |
        diff - tests/children/expected
    cat "$BATS_TEST_TMPDIR/said"
    grep -q 'children.cu:[0-9]*: a launch in a kernel: add: a block of (1025,1,1) = 1025 threads; a block has at most' "$BATS_TEST_TMPDIR/said"
    # The same with the checks on, which have nothing to say but what is wrong in the test itself.
    SIMGPU_CHECK=1 LD_LIBRARY_PATH=$B/lib "$BATS_FILE_TMPDIR/host" tests/children/children.ptx 2>"$BATS_TEST_TMPDIR/said" |
        diff - tests/children/expected
    [ "$(grep -c 'stream-order\|in-flight\|uninit' "$BATS_TEST_TMPDIR/said")" = 0 ]
}

@test "a child's fault is its own, an endless recursion ends, the report names parents, a chain takes an H200's time" {
    host t_fault
    [[ $output == *"children.cu:"*": illegal address: store of 4 bytes at 0x10"*"in kernel faulty, block (0,0,0)"* ]]
    [[ $output == *"t_fault: error 700"* ]]
    SIMGPU_BUDGET=65536 host t_endless
    [[ $output == *"runaway kernel: kernels have launched 1024 kernels behind one launch of the host; does the recursion end?"*"in kernel again"* ]]
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report host t_chain
    # The H200: 354 to 362 us (CUDA 13.0, driver 580).
    us=$(sed -n 's/t_chain: error 0, \([0-9]*\) us/\1/p' <<<"$output")
    [ "$us" -gt 300 ]
    [ "$us" -lt 400 ]
    [ "$(grep -c '"parent":"_Z13link_of_chainPi"' "$BATS_TEST_TMPDIR/report")" = 31 ]
    [ "$(grep -c '"parent":"t_chain"' "$BATS_TEST_TMPDIR/report")" = 1 ]
    # One stream, that of the host's launch, and the line in the kernel.
    [ "$(grep '"parent"' "$BATS_TEST_TMPDIR/report" | grep -o '"stream":[0-9]*' | sort -u)" = '"stream":0' ]
    grep '"parent":"t_chain"' "$BATS_TEST_TMPDIR/report" | grep -q '"host_file":"[^"]*children.cu"'
}

@test "clang 22 compiles launches in kernels; simcc finds it, and says what is missing where it is not" {
    make -s simgpu >/dev/null
    PATH=$BLUEBAR_TOP/$B/bin:$PATH
    if command -v clang-22 >/dev/null; then
        simcc -rdc=true tests/children/children.cu -o "$BATS_TEST_TMPDIR/children"
        "$BATS_TEST_TMPDIR/children" 2>/dev/null | diff - tests/children/expected
        simcc -dc tests/children/children.cu -o "$BATS_TEST_TMPDIR/children.o"
        simcc "$BATS_TEST_TMPDIR/children.o" -o "$BATS_TEST_TMPDIR/linked"
        "$BATS_TEST_TMPDIR/linked" 2>/dev/null | diff - tests/children/expected
    fi
    run simcc tests/children/children.cu -o "$BATS_TEST_TMPDIR/children"
    [ "$status" != 0 ]
    [[ ${lines[-1]} == "simcc: a kernel that launches kernels (dynamic parallelism) needs -rdc=true, as with nvcc" ]]
    PATH=$BLUEBAR_TOP/$B/bin:$(path_without 'clang-2[2-9]' 'clang-[34]?')
    [ "$("$(command -v simcc)" --version | grep -c 'clang version 2[2-9]')" = 0 ] || skip "clang itself is new enough"
    run simcc -rdc=true tests/children/children.cu -o "$BATS_TEST_TMPDIR/children"
    [ "$status" != 0 ]
    [[ ${lines[-1]} == "simcc: "*" does not compile a launch in a kernel (dynamic parallelism); clang 22 and later do. Install one: simcc finds clang-22" ]]
}

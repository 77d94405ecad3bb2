#!/usr/bin/env bats
# CUDA's C++ library, Thrust and CUB, through simcc. The library is NVIDIA's, and none of it is here: the tests take it
# from SIMCC_CCCL, from a distribution's packages (libthrust-dev, libcub-dev), or from a CUDA toolkit, else they skip.

load helper

setup() {
    PATH=$BLUEBAR_TOP/$B/bin:$PATH
    tmp=$BATS_TEST_TMPDIR
    make -s simgpu >/dev/null
}

with_cccl() {
    if [ -z "${SIMCC_CCCL-}" ] && [ ! -f /usr/include/thrust/version.h ]; then
        [ -f /usr/local/cuda/include/cccl/thrust/version.h ] || skip "neither a CUDA toolkit nor libthrust-dev is here"
        export SIMCC_CCCL=/usr/local/cuda/include/cccl
    fi
}

# right PROGRAM LINES: it compiles without a message, and all its lines say that it is right.
right() {
    simcc -O3 -arch=sm_80 --extended-lambda -o "$tmp/$1" "tests/cccl/$1.cu" >"$tmp/said" 2>&1 || { cat "$tmp/said" && return 1; }
    diff /dev/null "$tmp/said"
    run "$tmp/$1"
    echo "$output"
    [ "$status" = 0 ]
    [ "${#lines[@]}" = "$2" ]
    [ "$(grep -c ' right$' <<<"$output")" = "$2" ]
}

@test "Thrust: sort, reduce, scan, transform with a lambda" {
    with_cccl
    right thrust 4
}

@test "CUB: primitives of a warp, of a block, of the device" {
    with_cccl
    right cub 7
}

@test "libcu++: atomics, barriers and pipelines with copies" {
    with_cccl
    if [ -z "${SIMCC_CCCL-}" ]; then skip "Debian's packages have no libcu++"; fi
    right barrier 4
}

@test "without the library: one message that says where to get it; a folder without it is refused" {
    [ ! -f /usr/include/thrust/version.h ] || skip "libthrust-dev is here"
    printf '#include <thrust/sort.h>\nint main() { thrust::less<int> x; }\n' >"$tmp/a.cu"
    SIMCC_CCCL='' run simcc "$tmp/a.cu" -o "$tmp/a"
    echo "$output"
    [ "$status" = 1 ]
    [ "$(grep -c error: <<<"$output")" = 1 ]
    [[ $output == *"a.cu:1:"*"SimGPU does not have Thrust, and so not this header. simcc compiles NVIDIA's: set SIMCC_CCCL to the folder include/cccl"* ]]
    SIMCC_CCCL=$tmp run simcc "$tmp/a.cu" -o "$tmp/a"
    [ "$status" = 1 ]
    [ "$output" = "simcc: SIMCC_CCCL=$tmp has neither thrust/ nor cub/ nor cuda/std/ in it" ]
}

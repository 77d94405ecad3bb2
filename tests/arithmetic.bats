#!/usr/bin/env bats
# What device code computes, held against the host.

load helper

@test "CUDA's math API: functions, rounded arithmetic, conversions, integers in a word" {
    build "$B/tests/arithmetic/math"
    run apart "$B/tests/arithmetic/math"
    echo "$output"
    [ "$status" = 0 ]
    [[ $output = "256 functions agree, 0 differ" ]]
}

# `make fuzz-kernels` tries thousands.
@test "random kernels compute what the host computes, optimised and not" {
    export COMPILERS
    COMPILERS=$(common/make/find-clang.sh)
    KERNELS=6 SEED=4711 run apart tests/random.sh
    echo "$output"
    [ "$status" = 0 ]
    [ "${lines[-1]}" = "12 of 12 kernels are as on the host" ]
}

@test "curand_kernel.h: the numbers of an H200, whatever the seed, the sequence and the offset" {
    build "$B/tests/curand/curand"
    apart "$B/tests/curand/curand" >"$BATS_TEST_TMPDIR/ours"
    "$(common/make/find-clang.sh)" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o "$BATS_TEST_TMPDIR/compare" tests/curand/compare.c -lm
    "$BATS_TEST_TMPDIR/compare" "$BATS_TEST_TMPDIR/ours" tests/curand/h200.txt
}

@test "curand.h: the numbers of NVIDIA's library, its order from call to call, codes of wrong calls" {
    build kit
    "$B/bin/simcc" tests/curand/host.cu -lcurand -o "$BATS_TEST_TMPDIR/host"
    run apart "$BATS_TEST_TMPDIR/host"
    echo "$output"
    [ "$status" = 0 ]
    [ "${lines[0]}" = "curand: generator 201 is missing here; CURAND_RNG_PSEUDO_DEFAULT (XORWOW) and CURAND_RNG_PSEUDO_PHILOX4_32_10 are not" ]
    [ "${lines[1]}" = fine ]
}

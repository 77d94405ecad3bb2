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

@test "curand_kernel.h: MRG32k3a's numbers are those of NVIDIA's header" {
    build "$B/tests/curand/mrg"
    run "$B/tests/curand/mrg"
    diff - <(echo "$output") <<'EOS'
545508615 1368065476 1327943825, 0.825846851 0.22162991583362512, -0.977877692307 2.16226111524 4.56
2890950871 2749090064 2410030135, 0.463891506 0.50532826911974893, 1.92486375877 1.85960689931 6.78
898973320 2099779680 1669125878, 0.738544643 0.8297858523263697, -1.63514332069 3.09433843542 5.892
643242223 2132846120 3174980112, 0.1117796 0.79869820967501171, 0.326108683629 1.86821781101 9.07
EOS
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

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

# dpx.txt has what nvcc 13's own functions give on the host: nvcc -DPRINT -cudart none.
@test "DPX: the functions of CUDA 12 for dynamic programming, on device and host, give what nvcc's give" {
    build kit
    for compiler in "" $(command -v clang-22); do
        SIMCC_CLANG=$compiler "$B/bin/simcc" -DPRINT tests/arithmetic/dpx.cu -o "$BATS_TEST_TMPDIR/dpx"
        run apart "$BATS_TEST_TMPDIR/dpx"
        echo "$output"
        [ "$status" = 0 ]
        diff tests/arithmetic/dpx.txt <(echo "$output")
    done
    # nvcc's PTX for Hopper has instructions of its own for them.
    if command -v nvcc >/dev/null; then
        nvcc -std=c++17 -DPRINT -w --no-compress -gencode arch=compute_90,code=compute_90 -cudart none -Xcompiler -idirafter,"$PWD/common/simgpu/include" \
            -o "$BATS_TEST_TMPDIR/dpx" tests/arithmetic/dpx.cu -Xlinker "$PWD/$B/lib/libcudart.so.13"
        LD_LIBRARY_PATH=$PWD/$B/lib run apart "$BATS_TEST_TMPDIR/dpx"
        diff tests/arithmetic/dpx.txt <(echo "$output")
    fi
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
    [ "${lines[0]}" = "simgpu: tests/curand/host.cu:129: curandGenerateNormal: CURAND_RNG_PSEUDO_XORWOW makes normal numbers in pairs, and 7 is odd" ]
    [[ "$output" = *"host.cu:140: curandCreateGenerator: SimGPU has no CURAND_RNG_PSEUDO_MTGP32; CURAND_RNG_PSEUDO_MT19937 is a Mersenne Twister, too"* ]]
    [[ "$output" = *"host.cu:146: curandSetQuasiRandomGeneratorDimensions: SimGPU has direction numbers for 1111 dimensions, not for 1112"* ]]
    [ "${lines[-1]}" = fine ]
}

@test "curand.h: MRG32k3a and Sobol, of 1 to 1111 dimensions: what NVIDIA's library prints" {
    build kit
    "$B/bin/simcc" tests/curand/kinds.cu -lcurand -o "$BATS_TEST_TMPDIR/kinds"
    run apart "$BATS_TEST_TMPDIR/kinds"
    diff - <(echo "$output") <<'EOS'
MRG32k3a, 0 dimensions
bits: c96891f0 6fe55dfd b1bbebf2 553cb261 0b2d5a3c d5cb741e 72d6b07a 163f1b92
bits from an offset: fd70a34d b6906c25 36b34d2b f92154e2 e0bce563 05698096 f7523049 ac511636
uniform: 0.786752 0.437094 0.694274 5542.32 0.0436608 0.835136 0.448588 5554.09
uniform double: 0.7867518627157 0.4370936149155 0.6942737070153 5542.33295871 0.04366077392481 0.8351357054299 0.448588399858 5554.086901725
normal double: 0.278692708 0.000364235216 0.451079389 10940.7467 0.130444654 0.787446987 0.178455596 11300.8066
normal: 0.279 0.000364 0.451 1.09e+04 0.13 0.787 0.178 1.13e+04
log normal double: 2.26975791 2.1171928 2.36971536 34141.1274 2.18717589 2.57760777 2.21358616 34442.1099
log normal: 2.27 2.12 2.37 3.41e+04 2.19 2.58 2.21 3.44e+04
Sobol32, 1 dimensions
bits: 00000000 76f80000 eb7c0000 27680000 ab7c0000 e9860000 75be0000 00000000
bits from an offset: f9d46f20 b5c86f20 e2206f20 f5d2a6c0 62206f20 1c904f20 084c4f20 97c686c0
uniform: 1.16415e-10 0.464722 0.919861 5554.83 0.669861 0.912201 0.45993 5554.77
uniform double: 2.328306436539e-10 0.4647216799203 0.9198608400766 5555.153933251 0.6698608400766 0.9122009279672 0.4599304201547 5555.000002587
normal double: -11.6759155 0.822909597 3.80827224 11106.0029 1.87905787 3.70886682 0.79878197 11110.5093
normal: -11.7 0.823 3.81 1.11e+04 1.88 3.71 0.799 1.11e+04
log normal double: 0.114294266 2.60056154 5.48527955 34221.1175 3.38639004 5.35064281 2.58492241 34221.4089
log normal: 0.114 2.6 5.49 3.42e+04 3.39 5.35 2.58 3.42e+04
Sobol32, 1111 dimensions
bits: 00000000 60000000 d0000000 20000000 f0000000 48000000 28000000 c0000000
bits from an offset: f9d46f20 7f41a520 6a792fa0 1f9ae0c0 09d46f20 e341a520 be792fa0 0b9ae0c0
uniform: 1.16415e-10 0.375 0.8125 4995.12 0.9375 0.28125 0.15625 5559.75
uniform double: 2.328306436539e-10 0.3750000002328 0.8125000002328 4995.125002587 0.9375000002328 0.2812500002328 0.1562500002328 5559.750002587
normal double: -11.6759155 0.362721273 2.77429312 -3005.91562 4.06824109 -0.158264324 -1.01998034 11145.8119
normal: -11.7 0.363 2.77 -3.01e+03 4.07 -0.158 -1.02 1.11e+04
log normal double: 0.114294266 2.31794338 4.23580452 29397.1906 5.85362 2.03487404 1.6405063 33709.7758
log normal: 0.114 2.32 4.24 2.94e+04 5.85 2.03 1.64 3.37e+04
Sobol64, 10 dimensions
bits: 0000000000000000 8000000000000000 fde0000000000000 f8c0000000000000 3e60000000000000 0220000000000000 e030000000000000 1040000000000000
bits from an offset: f9d46f2000000000 99f2c96000000000 751fc1a000000000 9fe757c000000000 5b9c6f2000000000 017ac96000000000 d3ffc1a000000000 d8d757c000000000
uniform: 1.16415e-10 0.5 0.991699 5549.97 0.243652 0.00830078 0.875732 5554.19
uniform double: 5.551115123126e-17 0.5 0.99169921875 5549.971679688 0.24365234375 0.00830078125 0.875732421875 5554.063476562
normal double: -15.5847222 1 5.79083002 10942.03 -0.389204227 -3.79083002 3.30782933 11096.8764
normal: -11.7 1 5.79 1.1e+04 -0.389 -3.79 3.31 1.11e+04
log normal double: 0.0430161119 2.71828183 9.0043474 34140.7167 1.92071775 0.820609842 4.84020625 34201.8222
log normal: 0.114 2.72 9 3.41e+04 1.92 0.821 4.84 3.42e+04
EOS
}

@test "curand.h, curand_kernel.h: Sobol in kernels is the host's, scrambled points stay even, MT19937 is std::mt19937" {
    build kit
    "$B/bin/simcc" tests/curand/sobol.cu -lcurand -o "$BATS_TEST_TMPDIR/sobol"
    run apart "$BATS_TEST_TMPDIR/sobol"
    echo "$output"
    [ "$status" = 0 ]
    [ "${lines[-1]}" = fine ]
}

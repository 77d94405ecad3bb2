#!/usr/bin/env bats
# SimGPU proved, from the inside: PTX files that say in comments what must come out (tests/ptx, run by ptxrun).
# isa/: every row of opcodes.def; flow/: divergence, progress, deadlock; count/: the counters, by the rules;
# error/: every message. The expected values come from the PTX ISA's rules; tests/ptx/on-gpu.c holds them to a real GPU.

load helper

setup_file() {
    build "$B/ptxrun" "$B/tests/launch/limits"
}

# The failures, without the passes.
ptxrun() {
    run "$B/ptxrun" "$@"
    grep -v '^ok' <<<"$output" || true
    return "$status"
}

# bats test_tags=quick
@test "every instruction: golden values, full warps and partial ones" { ptxrun --all-rows tests/ptx/isa/*.ptx; }
@test "a real GPU agrees with every golden value" {
    command -v nvcc >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU' || skip "needs nvcc and a GPU"
    local cuda
    cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
    cc -std=c11 -D_GNU_SOURCE -O1 -I common/simgpu/exec -I "$cuda/include" -Wl,--wrap=ptx_load -o "$BATS_TEST_TMPDIR/on-gpu" \
        tests/ptx/on-gpu.c common/simgpu/tools/ptxrun.c common/simgpu/base/*.c common/simgpu/ptx/*.c common/simgpu/words/*.c -L "$cuda/lib64/stubs" -lcuda -lm
    for f in tests/ptx/isa/*.ptx tests/ptx/flow/divergence.ptx tests/ptx/flow/progress.ptx; do
        case $f in */sim-only.ptx | */texture.ptx) continue ;; esac # a card's textures: tests/texture.bats
        run "$BATS_TEST_TMPDIR/on-gpu" "$f"
        grep -v '^ok' <<<"$output"
        [ "$status" = 0 ]
    done
}
# bats test_tags=quick
@test "divergence, joins, early ends, locks, flags, deadlocks, runaway loops" { ptxrun tests/ptx/flow/*.ptx; }
# bats test_tags=quick
@test "counters: sectors, wavefronts, conflicts, L1, local memory, branches, by hand" { ptxrun tests/ptx/count/*.ptx; }
# bats test_tags=quick
@test "errors: every message, with its place" { ptxrun tests/ptx/error/*.ptx; }

# Prints the counters, the output and the memory of a run.
trace() { env "$@" "$B/ptxrun" -v tests/ptx/*/*.ptx; }

@test "the same on 1, 2, 3 host threads, and without AVX2" {
    trace SIMGPU_THREADS=1 >"$BATS_TEST_TMPDIR/one"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/one")" -gt 5000 ]
    for setting in SIMGPU_THREADS=2 SIMGPU_THREADS=3 SIMGPU_NO_AVX2=1; do
        trace "$setting" >"$BATS_TEST_TMPDIR/other"
        diff "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other" | head -20
        cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other"
    done
}

@test "host threads: a number above the limit means the limit, a word that is not a number is reported" {
    trace SIMGPU_THREADS=1 >"$BATS_TEST_TMPDIR/one"
    trace SIMGPU_THREADS=4294967296 >"$BATS_TEST_TMPDIR/other"
    cmp "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/other"
    for text in -1 +2 0 two; do
        SIMGPU_THREADS=$text run "$B/ptxrun" tests/ptx/error/memory.ptx
        [ "$status" = 0 ]
        [[ $output == *"simgpu: SIMGPU_THREADS=$text is not a positive number; using "* ]]
    done
}

@test "clean under AddressSanitizer and UndefinedBehaviorSanitizer" {
    build SAN=1 .build/san/ptxrun
    run .build/san/ptxrun tests/ptx/*/*.ptx
    grep -v '^ok' <<<"$output"
    [ "$status" = 0 ]
}

# Reads inputs under the sanitizers; `says INPUT TEXT` looks at what became of one.
read_all() {
    build SAN=1 .build/san/fuzz_ptx
    run .build/san/fuzz_ptx "$@"
    echo "$output"
    [ "$status" = 0 ]
}
says() { [[ $output == *"$1: "*"$2"* ]]; }

@test "the corpus of the fuzzer: no text and no fat binary harms the reader" {
    read_all tests/fuzz/*/* tests/ptx/*/*.ptx
    says fatbin/plain "1 functions, 0 of them unusable"
    says fatbin/lz4 "1 functions, 0 of them unusable"
    says fatbin/zstd-of-nvcc "1 functions, 0 of them unusable"
    for wrong in zstd zstd-corrupt zstd-too-long; do says fatbin/$wrong "does not decompress"; done
    says fatbin/zstd-short "lengths that lie outside"
    says fatbin/machine-code-only "carries machine code but no PTX"
    says fatbin/lz4-too-long "does not decompress"
    says fatbin/entry-past-end "an entry is longer than the file"
    says text/predicates-as-numbers.ptx "10 functions, 10 of them unusable"
    says text/outside-parameters.ptx "6 functions, 6 of them unusable"
    says text/initial-huge.ptx "PTX line 4: x is too large for initial values"
}

# A kernel of N lines, each from a format with its number in it, up to three times.
header() { printf '.version 7.8\n.target sm_90\n.address_size 64\n'; }
kernel() { header; printf '.visible .entry k()\n{\n.reg .b32 %%r<99999>; .reg .pred %%p<4>;\n'; }
lines() { awk -v n="$1" -v f="$2\n" 'BEGIN { for (i = 0; i < n; i++) printf f, i, i, i }'; }
deep() { printf '%200000s' '' | tr ' ' "$1"; }

@test "texts that are large or deep: read within seconds, or refused" {
    local d=$BATS_TEST_TMPDIR
    for c in '(' '[' '{' '!' '-'; do { kernel && printf 'add.u32 %%r1, ' && deep "$c"; } >"$d/deep$c"; done
    { kernel && deep '{'; } >"$d/deep-body"
    { header && printf '.global .u32 x[4] = ' && deep '{'; } >"$d/deep-values"
    { kernel && lines 30000 'L%d: @%%p1 bra L%d;' && echo 'ret; }'; } >"$d/labels"
    { kernel && lines 50000 'add.u32 %%r1, %%r1, %d;' && echo 'ret; }'; } >"$d/constants"
    { kernel && lines 30000 '.reg .b32 a%d; mov.u32 a%d, %%r1;' && echo 'ret; }'; } >"$d/names"
    { kernel && lines 2000 '.reg .b32 %%q%d_<1000000>;' && echo 'ret; }'; } >"$d/registers"
    { kernel && lines 50000 'add.u32 %%r%d, %%r%d, 1; @%%p1 bra END;' && echo 'END: ret; }'; } >"$d/live"
    { header && lines 30000 '.global .u32 v%d;'; } >"$d/variables"
    { header && lines 10000 '.func f%d() { ret; }'; } >"$d/functions"
    read_all "$d"/*
    says 'deep(' "1 functions, 1 of them unusable"
    says deep-body "1 functions, 1 of them unusable"
    says deep-values "brackets nest more than 64 deep"
    says labels "1 functions, 0 of them unusable"
    says constants "1 functions, 0 of them unusable"
    says registers "1 functions, 1 of them unusable"
    says functions "10000 functions, 0 of them unusable"
}

@test "launches: the limits of shared memory, and whose arrays count" {
    SIMGPU_THREADS=1 apart "$B/tests/launch/limits" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err"
    diff - "$BATS_TEST_TMPDIR/out" <<'END'
fixed_48k cudaSuccess
fixed_48k_and_4 cudaErrorLaunchOutOfResources
fixed_128 cudaSuccess
fixed_48k_blocks 4
fixed_128_blocks 32
fixed_48k_and_4_asked cudaErrorLaunchOutOfResources
dynamic_48k_and_4 cudaErrorInvalidValue
dynamic_48k_and_4_asked cudaSuccess
END
    [ "$(grep -c "fixed: 49156 bytes of __shared__ arrays; nvcc allows at most 49152; declare them extern __shared__" "$BATS_TEST_TMPDIR/err")" = 2 ]
    grep -q "dynamic: 49156 bytes of shared memory a block; at most 49152, more after cudaFuncSetAttribute" "$BATS_TEST_TMPDIR/err"
}

@test "ptxrun finds a wrong value, a wrong count, a wrong message, and a row without a test" {
    cat >"$BATS_TEST_TMPDIR/wrong.ptx" <<'PTX'
.version 7.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .b64 %d<2>; .reg .b32 %r<2>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, 6;
    st.global.u32 [%d1], %r1;
    ret;
}
// run: k block=1
// arg: buf u32 0
// out: 0 u32 7
// run: k block=1
// arg: buf u32 0
// count: st_sectors 2
// run: k block=1
// arg: u64 0
// fault: illegal /a different message/
// run: k block=1
// arg: u64 0
// table: d:u32 = a:u32 | add.u32 d, a, 1;
//   3 = 1
// table: d:u32 = a:u32 | frobnicate.u32 d, a;
//   3 = 1
PTX
    run "$B/ptxrun" --all-rows "$BATS_TEST_TMPDIR/wrong.ptx"
    echo "$output"
    [ "$status" = 1 ]
    [ "$(grep -c '^not ok' <<<"$output")" = 7 ]
    [[ $output == *"buffer 0[0] is 0x00000006, should be 0x00000007"* ]]
    [[ $output == *"st_sectors is 1, should be 2"* ]]
    [[ $output == *"the message does not match /a different message/"* ]]
    [[ $output == *"status is illegal, should be ok"* ]]
    [[ $output == *"frobnicate.u32: this instruction is not supported"* ]]
    [[ $output == *"no test for mul.hi.u32"* ]]
}

@test "every switch that SimGPU reads stands in its README's table" {
    local names name
    names=$(grep -rhoE '(getenv|setting|open_as_asked)\("[A-Z0-9_]+"' common/simgpu | grep -oE '[A-Z][A-Z0-9_]+' | sort -u)
    [ "$(wc -l <<<"$names")" -ge 7 ]
    for name in $names; do
        grep "^| \`$name=" common/simgpu/README.md
    done
}

@test "ptxrun stops at a mistake in a test" {
    for text in 'run:' 'arg: u33 5' 'out: 0 u32 x' 'fault: bang /x/' 'count: nonsense 3'; do
        printf '// run: k block=1\n// %s\n.visible .entry k()\n{\n    ret;\n}\n' "$text" >"$BATS_TEST_TMPDIR/mistake.ptx"
        run "$B/ptxrun" "$BATS_TEST_TMPDIR/mistake.ptx"
        echo "$output"
        [ "$status" = 2 ]
        [[ $output == *"Bail out! $BATS_TEST_TMPDIR/mistake.ptx:"* ]]
    done
}

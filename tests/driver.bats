#!/usr/bin/env bats
# The driver API (common/simgpu/driver): libcuda.so.1, its functions, its errors, and a process that uses the runtime too.

load helper

setup_file() { build "$B/lib/libcuda.so.1" "$B/lib/libcudart.so.12" "$B/lib/libnvrtc.so.13"; }

# compiled NAME [OPTION...]: compiles tests/driver/NAME.c against the library, with no header but ours.
compiled() {
    "$(common/make/find-clang.sh)" -std=c11 -g -Wall -Wextra -Werror -I common/simgpu/include -o "$BATS_TEST_TMPDIR/$1" \
        "tests/driver/$1.c" "${@:2}"
}

# program NAME [ARGUMENT...]: compiles it and runs it.
program() {
    compiled "$1" -L "$B/lib" -lcuda
    LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/$1" "${@:2}"
    echo "$output"
}

# bats test_tags=quick
@test "a program of the driver API, from cuInit to the end" {
    program basics
    [ "$status" = 0 ]
    [ "$output" = fine ]
}

@test "fat binaries of nvcc, plain and compressed with LZ4 and ZSTD" {
    program images tests/driver/scale-{none,speed,balance,size}.fatbin
    [ "$status" = 0 ]
    [ "$output" = $'fine \nfine \nfine \nfine ' ]
    # On a machine without libzstd the message, and the JIT's log, say what to do.
    compiled no-zstd -shared -fPIC -ldl
    LD_PRELOAD=$BATS_TEST_TMPDIR/no-zstd LD_LIBRARY_PATH=$B/lib \
        run "$BATS_TEST_TMPDIR/images" tests/driver/scale-{speed,size}.fatbin
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *"fine "* ]]
    [[ $output == *"CUDA_ERROR_NO_BINARY_FOR_GPU the program's PTX is compressed with ZSTD"*"install the package libzstd1"* ]]
}

@test "what it must refuse has CUDA's code and a message, and harms nothing" {
    program errors
    [ "$status" = 0 ]
    [[ $output == *fine ]]
    [[ $output == *"simgpu: cuMemAlloc: no context is current on this thread; call cuCtxCreate"* ]]
    [[ $output == *"simgpu: cuModuleLoadDataEx: the module: PTX line 4: expected ']' before ';'"* ]]
    [[ $output == *"simgpu: cuModuleLoadDataEx: the module: k: special register %r7 is not supported, or the register is not declared (PTX line 6)"* ]]
    [[ $output == *"simgpu: cuLaunchKernel: k takes 2 arguments; kernelParams[1] is NULL"* ]]
    [[ $output == *"the module, PTX line 7: illegal address: store of 4 bytes at 0x40: a null pointer"* ]]
}

@test "the runtime and the driver in one process: one card, one context, the same streams" {
    compiled mixed -pthread -L "$B/lib" -lcuda -lcudart
    LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/mixed"
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *fine ]]
    # Messages and the report name the driver's functions.
    [[ $output == *"simgpu: cuMemFree: the pointer is not the start of a live allocation"* ]]
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report LD_LIBRARY_PATH=$B/lib "$BATS_TEST_TMPDIR/mixed" 2>/dev/null
    grep -q '"kind":"call","name":"cuMemAlloc"' "$BATS_TEST_TMPDIR/report"
    # A program of CUDA 12, whichever library it names first.
    for first in -lcuda -l:libcudart.so.12; do
        compiled mixed -pthread -L "$B/lib" "$first" -l:libcudart.so.12 -lcuda -Wl,-rpath-link,"$B/lib"
        LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/mixed"
        [ "$status" = 0 ]
        [[ $output == *fine ]]
    done
}

# names LIBRARY: what it exports, without versions.
names() { nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }' | grep '^cu[A-Z]' | sort -u; }

@test "libcuda.so.1 has the driver's names, and libcudart.so a function for each" {
    diff <(names "$B/lib/libcuda.so.1") <(names "$B/lib/libcudart.so.13")
    [ "$(names "$B/lib/libcuda.so.1" | wc -l)" = 637 ]
    # Programs open it with dlopen, for which static thread-local storage may have no room.
    ! readelf -dW "$B/lib/libcudart.so.13" | grep STATIC_TLS || return 1
}

@test "contexts: which calls need a current one, what belongs to which, what ends with it; as an H100's driver answers" {
    compiled contexts -L "$B/lib" -lcuda
    LD_LIBRARY_PATH=$B/lib "$BATS_TEST_TMPDIR/contexts" >"$BATS_TEST_TMPDIR/said" 2>/dev/null
    diff <(grep -v '^#' tests/driver/contexts.txt) "$BATS_TEST_TMPDIR/said"
}

@test "arrays and a texture" {
    program arrays
    [ "$status" = 0 ]
    [[ $output == *fine ]]
}

@test "virtual memory management: reserve, create, map, grow in place, and what is refused" {
    program virtual
    [ "$status" = 0 ]
    [[ $output == *fine ]]
    [[ $output == *"simgpu: cuMemCreate: the size, 12345, must be a multiple of 2097152"* ]]
    [[ $output == *"simgpu: cuMemAddressFree: memory is mapped there; call cuMemUnmap first"* ]]
    [[ $output == *"simgpu: cuMemMap: the address, the size, 2097152, and the offset, 1048576, must be multiples of 2097152"* ]]
    [[ $output == *"simgpu: cuMemMap: the handle is no memory; "* ]]
    [[ $output == *"simgpu: cuMemMap: the flags must be 0, not 4"* ]]
    [[ $output == *"simgpu: cuMemSetAccess: the addresses are a part of a mapping; "* ]]
    [[ $output == *"simgpu: cuMemGetAccess: there is no device 1"* ]]
}

@test "two devices; handles of one while the other is current, or none" {
    SIMGPU_DEVICES=2 program devices
    [ "$status" = 0 ]
    [[ $output == *fine ]]
    [[ $output == *"simgpu: cuStreamQuery: this is not a stream; "* ]]
}

@test "NVRTC is refused by name" {
    printf 'int nvrtcVersion(int *, int *), nvrtcCreateProgram(void);\nint main(void) { int a, b; return nvrtcVersion(&a, &b) || a < 12 ? 1 : nvrtcCreateProgram(); }\n' >"$BATS_TEST_TMPDIR/n.c"
    "$(common/make/find-clang.sh)" -o "$BATS_TEST_TMPDIR/n" "$BATS_TEST_TMPDIR/n.c" -L "$B/lib" -l:libnvrtc.so.13
    LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/n"
    echo "$output"
    [ "$status" = 11 ]
    [[ $output == *"simgpu: nvrtcCreateProgram: SimGPU does not compile while a program runs; compile the kernel to PTX before"* ]]
}

#!/usr/bin/env bats
# The driver API (common/simgpu/driver): libcuda.so.1, its functions, its errors, and a process that uses the runtime too.

load helper

setup_file() { build "$B/lib/libcuda.so.1"; }

# compiled NAME [OPTION...]: compiles tests/driver/NAME.c against the library, with no header but ours.
compiled() {
    "$(common/make/find-clang.sh)" -std=c11 -g -Wall -Wextra -Werror -I common/simgpu/include -o "$BATS_TEST_TMPDIR/$1" \
        "tests/driver/$1.c" "${@:2}"
}

# program NAME [ARGUMENT...]: compiles it and runs it.
program() {
    compiled "$1" -L "$B/lib" -lcuda
    LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/$@"
    echo "$output"
}

# bats test_tags=quick
@test "a program of the driver API, from cuInit to the end" {
    program basics
    [ "$status" = 0 ] && [ "$output" = fine ]
}

@test "fat binaries of nvcc, plain and compressed with LZ4 and ZSTD" {
    program images tests/driver/scale-{none,speed,balance,size}.fatbin
    [ "$status" = 0 ] && [ "$output" = $'fine \nfine \nfine \nfine ' ]
    # On a machine without libzstd the message, and the JIT's log, say what to do.
    compiled no-zstd -shared -fPIC -ldl
    LD_PRELOAD=$BATS_TEST_TMPDIR/no-zstd LD_LIBRARY_PATH=$B/lib \
        run "$BATS_TEST_TMPDIR/images" tests/driver/scale-{speed,size}.fatbin
    echo "$output"
    [ "$status" = 0 ] && [[ $output == *"fine "* ]]
    [[ $output == *"CUDA_ERROR_NO_BINARY_FOR_GPU the program's PTX is compressed with ZSTD"*"install the package libzstd1"* ]]
}

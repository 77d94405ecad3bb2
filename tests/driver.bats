#!/usr/bin/env bats
# The driver API (common/simgpu/driver): libcuda.so.1, its functions, its errors, and a process that uses the runtime too.

load helper

setup_file() { build "$B/lib/libcuda.so.1"; }

# program NAME: compiles tests/driver/NAME.c against the library, with no header but ours, and runs it.
program() {
    "$(common/make/find-clang.sh)" -std=c11 -g -Wall -Wextra -Werror -I common/simgpu/include -o "$BATS_TEST_TMPDIR/$1" \
        "tests/driver/$1.c" -L "$B/lib" -lcuda "${@:2}"
    LD_LIBRARY_PATH=$B/lib run "$BATS_TEST_TMPDIR/$1"
    echo "$output"
}

# bats test_tags=quick
@test "a program of the driver API, from cuInit to the end" {
    program basics
    [ "$status" = 0 ] && [ "$output" = fine ]
}

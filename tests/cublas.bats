#!/usr/bin/env bats
# The small cuBLAS (common/simgpu/extra/cublas.cu).

load helper

@test "cuBLAS: each function as loops on the host, with every transpose, step and pointer mode; codes of wrong calls" {
    build kit
    "$B/bin/simcc" -w tests/cublas/all.cu -lcublas -o "$BATS_TEST_TMPDIR/all"
    run apart "$BATS_TEST_TMPDIR/all"
    echo "$output"
    [ "$status" = 0 ]
    [ "$output" = fine ]
}

@test "cuBLASLt: the product with each function behind it, as loops on the host" {
    build kit
    "$B/bin/simcc" tests/cublas/lt.cu -lcublasLt -o "$BATS_TEST_TMPDIR/lt"
    run apart "$BATS_TEST_TMPDIR/lt"
    echo "$output"
    [ "$status" = 0 ]
    [ "$output" = fine ]
}

#!/usr/bin/env bats
# The small cuBLAS (common/simgpu/extra/cublas.cu).

load helper

@test "cuBLAS: each function as loops on the host, with every transpose, step and pointer mode; codes of wrong calls" {
    build kit
    "$B/bin/simcc" -w tests/cublas/all.cu -lcublas -o "$BATS_TEST_TMPDIR/all"
    run apart "$BATS_TEST_TMPDIR/all"
    echo "$output"
    [ "$status" = 0 ]
    [ "$(grep -v '^simgpu: ' <<<"$output")" = fine ]
}

@test "cuBLAS: a wrong call says what is wrong at the program's line" {
    build kit
    cat >"$BATS_TEST_TMPDIR/wrong.cu" <<'EOS'
#include <cublas_v2.h>
#include <cstdio>
static const float one = 1;
static int multiply(cublasHandle_t h, int lda) {
    return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 4, 5, 6, &one, 0, lda, 0, 5, &one, 0, 4);
}
int main() {
    cublasHandle_t h = nullptr;
    int none = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_T, 4, 5, 6, &one, 0, 4, 0, 5, &one, 0, 4);
    cublasCreate(&h);
    int step = multiply(h, 3);
    int scalar = cublasSgemv(h, CUBLAS_OP_N, 2, 2, nullptr, 0, 2, 0, 1, nullptr, 0, 1);
    printf("%d %d %d\n", none, step, scalar);
}
EOS
    "$B/bin/simcc" "$BATS_TEST_TMPDIR/wrong.cu" -lcublas -o "$BATS_TEST_TMPDIR/wrong"
    run apart "$BATS_TEST_TMPDIR/wrong"
    echo "$output"
    [[ $output == *"wrong.cu:9: cublasSgemm: the handle is NULL; call cublasCreate first"* ]]
    [[ $output == *"wrong.cu:5: cublasSgemm: lda is 3, less than the 4 rows of the matrix as it is stored, column by column"* ]]
    [[ $output == *"wrong.cu:12: cublasSgemv: alpha or beta is a null pointer; pass the address of a number"*"1 7 7" ]]
}

@test "cuBLAS: a fault in a kernel of the library names the program's call and line" {
    build kit
    cat >"$BATS_TEST_TMPDIR/short.cu" <<'EOS'
#include <cublas_v2.h>
#include <cstdio>
int main() {
    const float one = 1;
    float *d;
    cublasHandle_t h;
    cudaMalloc(&d, 64);
    cublasCreate(&h);
    cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, d, 64, d, 64, &one, d, 64);
    return cudaDeviceSynchronize() != cudaErrorIllegalAddress;
}
EOS
    "$B/bin/simcc" "$BATS_TEST_TMPDIR/short.cu" -lcublas -o "$BATS_TEST_TMPDIR/short"
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report run apart "$BATS_TEST_TMPDIR/short"
    echo "$output"
    [ "$status" = 0 ]
    [[ ${lines[0]} == *"short.cu:9: cublasSgemm: illegal address: load of 4 bytes at "*"past the end of the 64-byte allocation"* ]]
    [[ ${lines[1]} == *"9 |     cublasSgemm(h, "* ]]
    [[ ${lines[2]} == "  in kernel gemm (cublas.cu:"*"), block (0,0,0), thread ("* ]]
    grep -q '"fault_message":"cublasSgemm: illegal address: ' "$BATS_TEST_TMPDIR/report"
}

@test "cuBLASLt: the product with each function behind it, as loops on the host" {
    build kit
    "$B/bin/simcc" tests/cublas/lt.cu -lcublasLt -o "$BATS_TEST_TMPDIR/lt"
    run apart "$BATS_TEST_TMPDIR/lt"
    echo "$output"
    [ "$status" = 0 ]
    [ "$output" = fine ]
}

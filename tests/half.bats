#!/usr/bin/env bats
# Half precision and the tensor cores as programs use them: cuda_fp16.h, cuda_bf16.h, mma.h, cuda_pipeline.h. The
# instructions themselves are tested in tests/ptx/isa (half.ptx, tensor.ptx, tensor-sums.ptx).

load helper

@test "halves and bfloat16: every function gives the bits that an H200 gives, with nvcc's own headers, on device and host" {
    build "$B/tests/half/functions"
    run "$B/tests/half/functions" all
    [ "$status" = 0 ]
    diff - tests/half/functions.h200 <<<"$output"
}

@test "cuda_fp8.h: every conversion gives the bits that NVIDIA's own header gives, on device and host" {
    build "$B/tests/half/fp8"
    run "$B/tests/half/fp8"
    diff - <<<"$output" <(cat tests/half/fp8.nvidia && echo 'no error' && cat tests/half/fp8.nvidia)
}

@test "mma.h: products of tiles in halves, bfloat16, tf32, bytes and doubles, in each layout" {
    build "$B/tests/half/wmma"
    run "$B/tests/half/wmma"
    [ "$status" = 0 ]
    diff - <<<"$output" <(printf '%s: right\n' 'half, row row' 'half, col col' 'half, 32 x 8' 'half, 8 x 32' bfloat16 tf32 bytes doubles && echo 'no error')
}

@test "cuda_pipeline.h, cuda_awbarrier.h: copies in flight arrive when they are waited for; a wait that is missing is found" {
    build "$B/tests/half/pipeline"
    SIMGPU_CHECK=1 run "$B/tests/half/pipeline"
    [ "$status" = 0 ]
    grep ', no error' <<<"$output" | diff - <(printf '%s, no error\n' 'stages: right' 'stages without a wait: wrong' 'class: right' 'producer and consumer: right')
    [ "$(grep -c '^  in kernel stages, ' <<<"$output")" = 1 ]
    [[ $output == *"uninitialised: a thread reads shared memory that no thread of its block has written"* ]]
    [[ $output != *race* ]]
}

@test "the tensor cores have a time of their own: 512 products of 16 x 8 x 16 by each of 16 warps of an SM" {
    build "$B/tests/half/bound"
    SIMGPU_REPORT="$BATS_TEST_TMPDIR/report" "$B/tests/half/bound"
    # 16 * 512 products of 3 passes of 0.563 clocks at 1.98 GHz
    grep -q '"bound":"tensor","why":"tensor cores: 7.0 us of products, most in bound.cu:' "$BATS_TEST_TMPDIR/report"
    grep -q '"tensor":6988[,}]' "$BATS_TEST_TMPDIR/report"
    grep -q '"smsp__inst_executed_pipe_tensor.sum":8192,"simgpu__tensor_passes.sum":24576' "$BATS_TEST_TMPDIR/report"
}

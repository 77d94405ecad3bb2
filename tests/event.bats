#!/usr/bin/env bats
# Events: a listener gets them (include/simgpu_event.h) as data and in the order of the host's calls.

load helper

setup_file() { build "$B/tests/event/listen"; }

@test "launches, copies, calls and gaps are told in the order of the calls, with enums, numbers and places" {
    diff <(apart "$B/tests/event/listen") - <<'END'
8 may listen
gap host working
totals syncs=0
mark order
fill bytes=65536 from listen.cu
launch chase stream=1 grid=1 block=1 term=latency rounds=100 lines=4 bytes=32+32 l2=100/100 dram=0+0 timed from listen.cu
copy h2d bytes=64 stream=0 from listen.cu
function from listen.cu
call cudaDeviceSynchronize waits syncs from listen.cu
gap host launching from listen.cu
gap kernel starting from listen.cu
gap host launching from listen.cu
gap kernel starting from listen.cu
gap host blocked in cudaDeviceSynchronize from listen.cu
totals syncs=1
mark classes
call cudaMalloc allocates from listen.cu
call cudaFree frees syncs from listen.cu
call cudaMallocHost pins from listen.cu
call cudaFreeHost unpins syncs from listen.cu
copy h2d bytes=65536 stream=0 pageable from listen.cu
call cudaMemcpy copies syncs from listen.cu
work load from listen.cu
gap host blocked in cudaMalloc from listen.cu
gap host blocked in cudaFree from listen.cu
gap host blocked in cudaMallocHost from listen.cu
gap host blocked in cudaFreeHost from listen.cu
gap host launching from listen.cu
gap host blocked in cudaMemcpy from listen.cu
gap host working from listen.cu
totals syncs=3
mark end
gap host blocked in exit
totals syncs=0
END
}

@test "a call that fails is told with its place, error and cause, each time" {
    diff <(apart "$B/tests/event/listen" refused 2>/dev/null) - <<'END'
8 may listen
gap host working
totals syncs=0
mark refused
refusal cudaLaunchKernel error=9 cause=2 writes: a block of (2000,1,1) = 2000 threads; a block has at most 1024, and at most (1024,1024,64) from listen.cu
refusal cudaLaunchKernel error=9 cause=2 writes: a block of (2000,1,1) = 2000 threads; a block has at most 1024, and at most (1024,1024,64) from listen.cu
refusal cudaLaunchKernel error=9 cause=3 writes: a grid of (1,70000,1) blocks; a grid has at most (2147483647,65535,65535) from listen.cu
refusal cudaLaunchKernel error=1 cause=5 writes: 1048576 bytes of shared memory a block; at most 49152 from listen.cu
refusal cudaMemcpy error=1 cause=0 the source is a null pointer; check that its allocation succeeded from listen.cu
gap host launching from listen.cu
totals syncs=0
mark end
totals syncs=0
END
}

@test "a fault is told as kind, address, place and thread; what was queued behind it did not happen" {
    diff <(apart "$B/tests/event/listen" fault 2>/dev/null) - <<'END'
8 may listen
launch writes stream=1 grid=1 block=32 term=launch lines=0 bytes=0+0 l2=0/0 dram=0+0 timed fault=illegal address where=4 distance=8 did=write bytes=4 thread=0 at=listen.cu:14 from listen.cu
gap host working
gap host launching from listen.cu
gap kernel starting from listen.cu
gap host launching from listen.cu
totals syncs=0
mark end
totals syncs=0
END
}

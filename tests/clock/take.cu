/* take.cu — warps that take numbers from a counter, for which others of their block wait in shared memory; and blocks
 * that wait for words by atomicAdd. Each kernel must end: a warp that has taken a number must not wait for good. Prints
 * `name right` a kernel. */
#include <cuda_runtime.h>
#include <stdio.h>

enum { ROUNDS = 50 };

/* Thread 0 takes a number and raises a flag, for which the block's other threads wait. */
__global__ void flags(int *next, int *sum) {
    __shared__ volatile int flag, piece;
    if (threadIdx.x == 0) flag = -1;
    __syncthreads();
    for (int round = 0;; round++) {
        if (threadIdx.x == 0) {
            piece = atomicAdd(next, 1);
            __threadfence_block();
            flag = round;
        }
        while (flag != round) {}
        const int p = piece;
        __syncthreads();
        if (p >= ROUNDS) return;
        if (threadIdx.x == blockDim.x - 1) atomicAdd(sum, p);
    }
}

/* A warp takes a number while it holds a lock of the block. */
__global__ void locks(int *next, int *sum) {
    __shared__ int lock;
    if (threadIdx.x == 0) lock = 0;
    __syncthreads();
    if (threadIdx.x % 32) return;
    for (;;) {
        while (atomicCAS(&lock, 0, 1)) {}
        const int p = atomicAdd(next, 1);
        __threadfence_block();
        atomicExch(&lock, 0);
        if (p >= ROUNDS) return;
        atomicAdd(sum, p);
    }
}

/* Each block but the last waits for the next one's word, by adding what is 0. */
__global__ void words(int *word, int zero) {
    const int b = blockIdx.x;
    if (b + 1 < (int)gridDim.x)
        while (atomicAdd(&word[b + 1], zero) == 0) {}
    atomicExch(&word[b], 1);
}

int main() {
    int *next, *sum, *word, got = 0, want = ROUNDS * (ROUNDS - 1) / 2, of[8] = {};
    cudaMallocManaged(&next, sizeof *next);
    cudaMallocManaged(&sum, sizeof *sum);
    cudaMalloc(&word, sizeof of);
    cudaMemset(word, 0, sizeof of);
    *next = *sum = 0;
    flags<<<2, 64>>>(next, sum);
    if (cudaDeviceSynchronize()) return 1;
    printf("flags %s\n", *sum == want ? "right" : "wrong");
    *next = *sum = 0;
    locks<<<2, 64>>>(next, sum);
    if (cudaDeviceSynchronize()) return 1;
    printf("locks %s\n", *sum == want ? "right" : "wrong");
    words<<<8, 32>>>(word, 0);
    if (cudaMemcpy(of, word, sizeof of, cudaMemcpyDeviceToHost)) return 1;
    for (int w : of) got += w;
    printf("words %s\n", got == 8 ? "right" : "wrong");
    return 0;
}

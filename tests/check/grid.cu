/* grid.cu — kernels whose blocks share device memory: each with a hazard and, beside it, without.
 *
 * grid NAME runs one of them with checks on. A comment `// <-- NAME` marks the lines that the finding must name.
 */
#include "simgpu.h"
#include <stdio.h>
#include <string.h>

enum { BLOCKS = 6, THREADS = 64, N = BLOCKS * THREADS };

__device__ int data[N + 2], sum, ticket, mutex;
__device__ volatile int flags[BLOCKS], state[BLOCKS];

/* Its own element, and the neighbours': in place, a block reads what the next one has perhaps written. */
__global__ void smooth(int *out, bool apart) {
    int i = blockIdx.x * THREADS + threadIdx.x, left = data[i], right = data[i + 2]; // <-- smooth
    __syncthreads();
    (apart ? out : data)[i + 1] = left + right; // <-- smooth
}

__global__ void total(int *out, bool atomic) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (atomic)
        atomicAdd(&sum, i);
    else
        sum += i; // <-- total
    out[i] = i;
}

/* Threads of one block, through device memory. */
__global__ void exchange(int *out, bool barrier) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    data[i] = i; // <-- exchange
    if (barrier) __syncthreads();
    out[i] = data[i ^ 32]; // <-- exchange
}

/* The block that comes last adds up the sums of the others. It must know that they are there. */
__global__ void last_block(int *out, bool fence) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        data[blockIdx.x] = blockIdx.x + 1; // <-- last_block
        if (fence) __threadfence();
        last = atomicAdd(&ticket, 1) == BLOCKS - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int all = 0;
        for (int b = 0; b < BLOCKS; b++) all += data[b]; // <-- last_block
        out[0] = all;
    }
}

/* Each block waits for the one before: a chain, as in a scan of one pass. */
__global__ void chain(int *out, bool fence) {
    if (threadIdx.x == 0) {
        int before = 0;
        if (blockIdx.x > 0) {
            while (!flags[blockIdx.x - 1]) {}
            before = data[blockIdx.x - 1]; // <-- chain
        }
        data[blockIdx.x] = before + 1; // <-- chain
        if (fence) __threadfence();
        flags[blockIdx.x] = 1;
        out[blockIdx.x] = before;
    }
}

__global__ void lock(int *out, bool fence) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&mutex, 0, 1)) {}
        sum = sum * 3 + blockIdx.x; // <-- lock
        if (fence) __threadfence();
        atomicExch(&mutex, 0);
    }
    out[blockIdx.x * THREADS + threadIdx.x] = 1;
}

/* Not races: everybody stores the same; everybody reads; progress is looked at in passing. */
__global__ void harmless(int *out) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (data[N] == 0) ticket = 1;
    state[blockIdx.x] = 1;
    out[i] = data[0] + state[(blockIdx.x + 1) % BLOCKS];
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    int *out;
    cudaMalloc(&out, 2 * N * sizeof *out);
    cudaMemset(out, 0, 2 * N * sizeof *out);
    simgpuCheck(1);
#define RUN(kernel, mode, arguments)                                                                                   \
    if (!strcmp(name, #kernel mode)) kernel<<<BLOCKS, THREADS>>> arguments;
#define TWINS(kernel) RUN(kernel, "", (out, false)) RUN(kernel, "-mended", (out, true))
    TWINS(smooth)
    TWINS(total)
    TWINS(exchange)
    TWINS(last_block)
    TWINS(chain)
    TWINS(lock)
    RUN(harmless, "-clean", (out))
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(e));
    return e != cudaSuccess;
}

/* grid.cu — kernels whose blocks share device memory: each with a hazard and, beside it, without.
 *
 * grid NAME runs one of them with checks on. A comment `// <-- NAME` marks the lines that the finding must name.
 */
#include "simgpu.h"
#include <cooperative_groups.h>
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

/* Nothing has written the last word of `part`, or the counter. */
__global__ void one_missing(int *out, int *part) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    out[i] = part[i]; // <-- one_missing
}

__global__ void unset(int *out, int *part) {
    out[blockIdx.x * THREADS + threadIdx.x] = atomicAdd(&part[N - 1], 1); // <-- unset
}

/* Not unwritten: the value of fresh memory, by a memset (the first half), by a kernel; what an exchange finds; the
 * padding of a wide load. */
__global__ void as_fresh(int *out, int *part) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= N / 2) part[i] = 0xCDCDCDCD;
    __syncthreads();
    out[i] = part[i ^ 32];
}

__global__ void first_touch(int *out, int *part) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i % 4) return;
    atomicExch(&part[i], i);
    int4 four = *(int4 *)&part[i];
    out[i] = four.x + four.y;
}

/* Three steps over two buffers. Between two steps all blocks meet; with one meeting too few they run into each other.
 */
__global__ void steps(int *out, bool both) {
    __shared__ int mine[THREADS];
    auto grid = cooperative_groups::this_grid();
    int i = blockIdx.x * THREADS + threadIdx.x;
    for (int s = 0; s < 3; s++) {
        mine[threadIdx.x] = data[(i + THREADS) % N]; // <-- steps
        grid.sync();
        data[i] = mine[threadIdx.x ^ 1] + i; // <-- steps
        if (both) grid.sync();
    }
    out[i] = mine[threadIdx.x];
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
    bool no = false, yes = true;
    int *out, *part;
    void *without[] = {&out, &no}, *with[] = {&out, &yes};
    cudaMalloc(&out, 2 * N * sizeof *out);
    cudaMalloc(&part, N * sizeof *part);
    cudaMemset(out, 0, 2 * N * sizeof *out);
    simgpuCheck(1);
    if (!strcmp(name, "as_fresh-clean")) cudaMemset(part, 0xCD, N / 2 * sizeof *part);
    if (!strncmp(name, "one_missing", 11)) cudaMemset(part, 0, (N - 1) * sizeof *part);
    if (strstr(name, "-mended")) cudaMemset(part + N - 1, 0, sizeof *part);
#define RUN(kernel, mode, arguments)                                                                                   \
    if (!strcmp(name, #kernel mode)) kernel<<<BLOCKS, THREADS>>> arguments;
#define TWINS(kernel) RUN(kernel, "", (out, false)) RUN(kernel, "-mended", (out, true))
    TWINS(smooth)
    TWINS(total)
    TWINS(exchange)
    TWINS(last_block)
    TWINS(chain)
    TWINS(lock)
    RUN(one_missing, "", (out, part));
    RUN(one_missing, "-mended", (out, part));
    RUN(unset, "", (out, part));
    RUN(unset, "-mended", (out, part));
    RUN(as_fresh, "-clean", (out, part));
    RUN(first_touch, "-clean", (out, part));
    if (!strcmp(name, "steps")) cudaLaunchCooperativeKernel(steps, BLOCKS, THREADS, without);
    if (!strcmp(name, "steps-mended")) cudaLaunchCooperativeKernel(steps, BLOCKS, THREADS, with);
    RUN(harmless, "-clean", (out))
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(e));
    return e != cudaSuccess;
}

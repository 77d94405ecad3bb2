/* block.cu — kernels whose threads share memory inside a block: each with a hazard and, beside it, without.
 *
 * block NAME runs one of them with checks on. A comment `// <-- NAME` marks the lines that the finding must name.
 * block NAME reset, block NAME card: runs it, resets the device or takes a fresh one, and runs it again.
 */
#include "simgpu.h"
#include <cuda_pipeline.h>
#include <stdio.h>
#include <string.h>

/* --- barriers --------------------------------------------------------------------------------------------------- */

__global__ void reverse(int *out, bool barrier) {
    __shared__ int s[256];
    s[threadIdx.x] = threadIdx.x * 3; // <-- reverse
    if (barrier) __syncthreads();
    out[threadIdx.x] = s[255 - threadIdx.x]; // <-- reverse
}

/* A copy in flight may land at once: it must not be issued while others still read its place. */
__global__ void copies(int *out, bool barrier) {
    __shared__ int s[2][128];
    const int *in = out + 512;
    int sum = 0;
    __pipeline_memcpy_async(&s[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    for (int r = 0; r < 4; r++) {
        __pipeline_wait_prior(0);
        if (barrier) __syncthreads();
        __pipeline_memcpy_async(&s[(r + 1) % 2][threadIdx.x], &in[threadIdx.x], 4); // <-- copies
        __pipeline_commit();
        if (!barrier) __syncthreads();
        sum += s[r % 2][127 - threadIdx.x]; // <-- copies
    }
    __pipeline_wait_prior(0);
    out[threadIdx.x] = sum;
}

/* The second barrier is the one that is forgotten: the next round writes what this round still reads. */
__global__ void rounds(int *out, bool barrier) {
    __shared__ int s[128];
    int sum = 0;
    for (int r = 0; r < 3; r++) {
        s[threadIdx.x] = threadIdx.x + 100 * r; // <-- rounds
        __syncthreads();
        sum += s[127 - threadIdx.x]; // <-- rounds
        if (barrier) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

/* Every thread writes the one result; only one should. */
__global__ void last_wins(int *out, bool one) {
    __shared__ int last;
    if (!one || threadIdx.x == 7) last = threadIdx.x; // <-- last_wins
    __syncthreads();
    out[threadIdx.x] = last;
}

/* Not a race: all who write, write the same. */
__global__ void any_negative(int *out) {
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (out[threadIdx.x] < 0) found = 1;
    __syncthreads();
    out[threadIdx.x] = found;
}

/* Each thread its own byte. */
__global__ void bytes(int *out, bool barrier) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = (unsigned char)(threadIdx.x * 5); // <-- bytes
    if (barrier) __syncthreads();
    out[threadIdx.x] = s[threadIdx.x] + (barrier ? s[threadIdx.x ^ 33] : s[threadIdx.x ^ 32]); // <-- bytes
}

__global__ void wide(int *out, bool barrier) {
    __shared__ float4 s[64];
    float f = threadIdx.x;
    s[threadIdx.x] = make_float4(f, f + 1, f + 2, f + 3); // <-- wide
    if (barrier) __syncthreads(); // <-- wide (where clang places a store that it has merged from four)
    out[threadIdx.x] = (int)((float *)s)[255 - threadIdx.x]; // <-- wide
}

/* A barrier for half of the block: producers arrive, consumers wait. */
__global__ void two_halves(int *out, bool barrier) {
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x; // <-- two_halves
        if (barrier) asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        if (barrier) asm volatile("bar.sync 1, 128;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x - 64]; // <-- two_halves
    }
}

/* --- barriers that not every thread reaches ----------------------------------------------------------------------- */

/* Each warp reads what the next one wrote. The last warp skips the barrier; it runs last here, when all is written. */
__global__ void skips(int *out, bool all) {
    __shared__ int s[128];
    s[threadIdx.x] = threadIdx.x;                   // <-- skips
    if (all || threadIdx.x < 96) __syncthreads();   // <-- skips
    out[threadIdx.x] = s[(threadIdx.x + 32) % 128]; // <-- skips
}

/* A warp that leaves out one turn's barrier meets the others of that turn in its own next one. */
__global__ void pairs(int *out, bool all) {
    __shared__ int s[64];
    int sum = 0;
    for (int turn = 0; turn < 3; turn++) {
        s[threadIdx.x] = turn;
        if (all || threadIdx.x < 32 || turn != 1) __syncthreads(); // <-- pairs
        sum += s[threadIdx.x];
    }
    if (!all && threadIdx.x < 32) sum++;
    out[threadIdx.x] = sum;
}

/* More turns for some warps than for others. */
__global__ void turns(int *out, bool all) {
    __shared__ int s[128];
    int last = all ? 4 : 2 + threadIdx.x / 64;
    for (int turn = 0; turn < last; turn++) { // <-- turns
        s[threadIdx.x] = turn;
        __syncthreads(); // <-- turns
    }
    out[threadIdx.x] = s[threadIdx.x];
}

/* Right on a card since Volta, and still a trap: what would the threads that ended have loaded? */
__global__ void ends(int *out, bool all) {
    __shared__ int s[128];
    if (!all && threadIdx.x >= 90) return; // <-- ends
    s[threadIdx.x] = threadIdx.x;
    __syncthreads(); // <-- ends
    out[threadIdx.x] = s[threadIdx.x < 90 ? 89 - threadIdx.x : threadIdx.x];
}

/* A barrier orders only those who wait at it. */
__global__ void leaves(int *out, bool all) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;           // <-- leaves
    if (!all && threadIdx.x >= 32) return;  // <-- leaves
    __syncthreads();                        // <-- leaves
    out[threadIdx.x] = s[63 - threadIdx.x]; // <-- leaves
}

/* Conditions that have one value in the block, or guard no barrier; turns that differ between two barriers. */
__global__ void uniform(int *out, int n) {
    __shared__ int s[128];
    if (n > 100) return;
    if (n > 2) __syncthreads();
    for (int turn = 0; turn < n; turn++) {
        s[threadIdx.x] = turn;
        for (int k = 0; k < (int)threadIdx.x % 5; k++) s[threadIdx.x] += out[k];
        if (threadIdx.x < 32) s[threadIdx.x]++;
        if (turn % 2) __syncthreads();
        if (turn == 2) continue;
        __syncthreads();
    }
    if (threadIdx.x >= 64) return;
    out[threadIdx.x] = s[threadIdx.x];
}

/* --- inside a warp ---------------------------------------------------------------------------------------------- */

/* The classic tail of a reduction, as it was written before Volta. */
__global__ void tail_volatile(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 32) {
        volatile int *v = s;
        v[threadIdx.x] += v[threadIdx.x + 32];
        v[threadIdx.x] += v[threadIdx.x + 16]; // <-- tail_volatile
        v[threadIdx.x] += v[threadIdx.x + 8];
    }
    __syncthreads();
    out[threadIdx.x] = s[0];
}

__global__ void tail(int *out, bool sync) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int half = 32; half > 0 && threadIdx.x < 32; half /= 2) {
        int other = s[threadIdx.x + half]; // <-- tail
        if (sync) __syncwarp();
        s[threadIdx.x] += other; // <-- tail
        if (sync) __syncwarp();
    }
    __syncthreads();
    out[threadIdx.x] = s[0];
}

/* Only half of the warp is brought together. */
__global__ void half_warp(int *out, bool half) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x; // <-- half_warp
    if (threadIdx.x < 16) __syncwarp(0xffff);
    if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x ^ (half ? 8 : 16)]; // <-- half_warp
}

/* Two tiles of 16 lanes, each under its own mask, at once; together they are not in order. */
__global__ void tiles(int *out, bool whole) {
    __shared__ int s[32];
    unsigned mask = threadIdx.x < 16 ? 0xffffu : 0xffff0000u;
    int v = threadIdx.x;
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(mask, v, d, 16);
    int most = __ballot_sync(mask, threadIdx.x % 3 == 0);
    s[threadIdx.x] = v + most; // <-- tiles
    __syncwarp(mask);
    if (whole) __syncwarp();
    out[threadIdx.x] = s[threadIdx.x & 16] + s[threadIdx.x ^ 16]; // <-- tiles
    if (threadIdx.x % 16 == 0 && (v != (threadIdx.x ? 376 : 120) || (unsigned)most != (mask & 0x49249249u))) __trap();
}

__global__ void shuffles(int *out) {
    __shared__ int s[4];
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[0] + s[1] + s[2] + s[3];
}

/* --- atomics, flags, locks -------------------------------------------------------------------------------------- */

__global__ void histogram(int *out, bool barrier) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) bins[threadIdx.x] = 0; // <-- histogram
    if (barrier) __syncthreads();
    atomicAdd(&bins[threadIdx.x * 7 % 16], 1); // <-- histogram
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}

/* One warp waits for another's word. Without the fence, the flag may be seen before the value. */
__global__ void flag(int *out, bool fence) {
    __shared__ int value;
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 42; // <-- flag
        if (fence) __threadfence_block();
        ready = 1;
    }
    if (threadIdx.x == 32) {
        while (!ready) {}
        out[0] = value; // <-- flag
    }
}

/* Lanes of one warp wait for a lane of their own: allowed since Volta. */
__global__ void flag_in_warp(int *out) {
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 5) ready = 1;
    while (!ready) {}
    out[threadIdx.x] = 1;
}

__global__ void lock(int *out, bool fence) {
    __shared__ int mutex, sum;
    if (threadIdx.x == 0) mutex = sum = 0;
    __syncthreads();
    while (atomicCAS(&mutex, 0, 1)) {}
    if (fence) __threadfence_block();
    sum += threadIdx.x; // <-- lock
    if (fence) __threadfence_block();
    atomicExch(&mutex, 0);
    __syncthreads();
    out[threadIdx.x] = sum;
}

/* --- memory that nobody wrote ----------------------------------------------------------------------------------- */

__global__ void halo(int *out, bool whole) {
    __shared__ int s[130];
    s[threadIdx.x + 1] = threadIdx.x;
    if (threadIdx.x == 0) s[0] = 0;
    if (whole && threadIdx.x == 0) s[129] = 0;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 2]; // <-- halo
}

__global__ void counter(int *out, bool zero) {
    extern __shared__ int count[];
    if (zero && threadIdx.x == 0) count[0] = 0;
    __syncthreads();
    atomicAdd(&count[0], 1); // <-- counter
    __syncthreads();
    out[threadIdx.x] = count[0];
}

/* A struct is copied with its padding. */
struct padded {
    char c;
    double d;
};
__global__ void padding(int *out) {
    __shared__ padded s[32];
    s[threadIdx.x].c = 1;
    s[threadIdx.x].d = 2;
    __syncthreads();
    padded p = s[31 - threadIdx.x];
    out[threadIdx.x] = p.c + (int)p.d;
}

/* Each thread has bytes of its own: in device memory, under a condition, in shared memory, two at a time. */
__global__ void own_bytes(int *out) {
    __shared__ unsigned char s[128];
    unsigned char *p = (unsigned char *)out;
    short *two = (short *)(out + 128);
    int t = threadIdx.x;
    p[t] = p[t] + 1;
    if (p[t] & 1) p[t] = p[t] * 3;
    s[t] = p[t];
    s[t] += 1;
    if (s[t] & 2) s[t]++;
    two[t] = two[t] + s[t];
}

/* A struct with padding, copied as words: the first word holds one byte that was written and three that never are. */
__global__ void copied(int *out) {
    __shared__ unsigned words[2 * 128];
    ((unsigned char *)words)[8 * threadIdx.x] = 1;
    words[2 * threadIdx.x + 1] = 2;
    out[threadIdx.x] = words[2 * threadIdx.x] & 255;
    out[threadIdx.x] += words[2 * threadIdx.x + 1];
}

static cudaError_t run(const char *name) {
    int *out;
    cudaMalloc(&out, 4096);
    cudaMemset(out, 0, 4096);
    simgpuCheck(1);
#define RUN(kernel, mode, threads, arguments)                                                                          \
    if (!strcmp(name, #kernel mode)) kernel<<<1, threads, 64>>> arguments;
#define TWINS(kernel, threads)                                                                                         \
    RUN(kernel, "", threads, (out, false))                                                                             \
    RUN(kernel, "-mended", threads, (out, true))
    TWINS(reverse, 256)
    TWINS(rounds, 128)
    TWINS(copies, 128)
    TWINS(last_wins, 64)
    TWINS(bytes, 64)
    TWINS(wide, 64)
    TWINS(two_halves, 128)
    TWINS(skips, 128)
    TWINS(pairs, 64)
    TWINS(turns, 128)
    TWINS(ends, 128)
    TWINS(leaves, 64)
    RUN(uniform, "-clean", 128, (out, 4))
    TWINS(tail, 64)
    TWINS(half_warp, 32)
    TWINS(tiles, 32)
    TWINS(histogram, 256)
    TWINS(flag, 64)
    TWINS(lock, 64)
    TWINS(halo, 128)
    TWINS(counter, 64)
    RUN(tail_volatile, "", 64, (out))
    RUN(any_negative, "-clean", 128, (out))
    RUN(shuffles, "-clean", 128, (out))
    RUN(flag_in_warp, "-clean", 32, (out))
    RUN(padding, "-clean", 32, (out))
    RUN(own_bytes, "-clean", 128, (out))
    RUN(copied, "-clean", 128, (out))
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(e));
    return e;
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "", *again = argc > 2 ? argv[2] : "";
    cudaError_t e = run(name);
    if (!strcmp(again, "reset")) cudaDeviceReset();
    if (!strcmp(again, "card")) simgpuNewDevice();
    if (*again && e == cudaSuccess) e = run(name);
    return e != cudaSuccess;
}

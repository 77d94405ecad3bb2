/* shares.cu — work that warps and blocks share out by a counter, blocks of unequal work, loops that copy to shared
 * memory, constant memory and tensor cores for few warps, kernels one after another in a graph. Prints a line a case:
 * its name, microseconds. tests/places.bats has an H200's. */
#include "timed.h"

enum { PIECES = 8192, LONG = 3000, SHORT = 100 };

/* Piece p of the work: one in 64 is long. */
__device__ float piece(int p, float x) {
    const int steps = p % 64 ? SHORT : LONG;
    for (int k = 0; k < steps; k++) x = x * 1.0001f + 0.5f;
    return x;
}

/* Each warp takes the next piece. */
__global__ void warps_take(int *next, float *out) {
    for (;;) {
        int p = threadIdx.x % 32 == 0 ? atomicAdd(next, 1) : 0;
        p = __shfl_sync(~0u, p, 0);
        if (p >= PIECES) return;
        out[p * 32 + threadIdx.x % 32] = piece(p, (float)threadIdx.x);
    }
}
/* Each block does, by one thread, which tells the others. */
__global__ void blocks_take(int *next, float *out) {
    __shared__ int p;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) p = atomicAdd(next, 1);
        __syncthreads();
        if (p >= PIECES) return;
        out[p * blockDim.x + threadIdx.x] = piece(p, (float)threadIdx.x);
    }
}

/* Blocks in the middle have most to do, as in a picture of a fractal. */
__global__ void unequal(float *out) {
    const int b = blockIdx.x, middle = gridDim.x / 2, steps = b > middle - 200 && b < middle + 200 ? 2000 : 100;
    float x = (float)threadIdx.x;
    for (int k = 0; k < steps; k++) x = x * 1.0001f + 0.5f;
    out[b * blockDim.x + threadIdx.x] = x;
}

/* A block copies tiles of two matrices and adds a column and a row. The second kernel's tiles are rows of memory. */
enum { WIDE = 1024 };
__global__ void tiles(const float *__restrict__ a, const float *__restrict__ b, float *out, int n) {
    __shared__ float s[1024], q[1024];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        for (int e = threadIdx.x; e < 1024; e += 256) {
            s[e] = a[(k * 16 + e / 64) * WIDE + blockIdx.x % 16 * 64 + e % 64];
            q[e] = b[(k * 16 + e / 64) * WIDE + blockIdx.x % 16 * 64 + e % 64];
        }
        __syncthreads();
        sum += s[threadIdx.x] + q[1023 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}
__global__ void rows(const float *__restrict__ a, float *out, int n) {
    __shared__ float s[1024];
    float sum = 0;
    for (int k = 0; k < n; k++) {
        for (int e = threadIdx.x; e < 1024; e += 256) s[e] = a[(k * 16 + blockIdx.x % 16) * WIDE + e];
        __syncthreads();
        sum += s[threadIdx.x] + s[1023 - threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

/* The lanes of a warp read so many different words of constant memory, again and again. */
__constant__ unsigned table[256];
__global__ void words(unsigned *out, int n, int different) {
    unsigned at = threadIdx.x % 32 % different, sum = 0;
    for (int i = 0; i < n; i++) {
        const unsigned v = table[at & 255];
        sum += v;
        at += v;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Eight products of matrices in turn, each added to sums of its own. */
__global__ void products(float *out, int n) {
    float d[8][4] = {};
    const unsigned a = threadIdx.x, b = threadIdx.x / 2;
    for (int i = 0; i < n; i++)
#pragma unroll
        for (int c = 0; c < 8; c++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, "
                         "{%0,%1,%2,%3};"
                         : "+f"(d[c][0]), "+f"(d[c][1]), "+f"(d[c][2]), "+f"(d[c][3])
                         : "r"(a), "r"(b));
    float sum = 0;
    for (int c = 0; c < 8; c++) sum += d[c][0] + d[c][1] + d[c][2] + d[c][3];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void store(float *out, float x) { out[blockIdx.x * blockDim.x + threadIdx.x] = x; }

/* 50 kernels in a graph, one after another. */
static void in_graph(const char *name, float *out, int blocks) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t all;
    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < 50; k++) store<<<blocks, 256, 0, stream>>>(out, (float)k);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&all, graph, 0));
    const auto launch = [=] { MUST(cudaGraphLaunch(all, 0)); };
    timed_behind(name, launch, launch);
}

int main() {
    float *a, *b, *out;
    int *next;
    const unsigned zeros[256] = {};
    MUST(cudaMalloc(&a, 64 << 20));
    MUST(cudaMalloc(&b, 64 << 20));
    MUST(cudaMalloc(&out, 64 << 20));
    MUST(cudaMalloc(&next, 4));
    MUST(cudaMemset(a, 0, 64 << 20));
    MUST(cudaMemset(b, 0, 64 << 20));
    MUST(cudaMemcpyToSymbol(table, zeros, sizeof zeros));
    const auto again = [=] { MUST(cudaMemset(next, 0, 4)); };
    timed_behind("warps_take", again, [=] { warps_take<<<264, 256>>>(next, out); });
    timed_behind("few_warps_take", again, [=] { warps_take<<<33, 64>>>(next, out); });
    timed_behind("blocks_take", again, [=] { blocks_take<<<528, 128>>>(next, out); });
    timed("unequal", [=] { unequal<<<4000, 256>>>(out); });
    const auto of_tiles = [=] { tiles<<<132, 256>>>(a, b, out, 60); };
    const auto of_rows = [=] { rows<<<132, 256>>>(a, out, 60); };
    timed_behind("tiles", of_tiles, of_tiles);
    timed_behind("rows", of_rows, of_rows);
    unsigned *to = (unsigned *)out;
    timed("words_1", [=] { words<<<132, 32>>>(to, 512, 1); });
    timed("words_8", [=] { words<<<132, 32>>>(to, 512, 8); });
    timed("words_32", [=] { words<<<132, 32>>>(to, 512, 32); });
    timed("words_32_of_8_warps", [=] { words<<<132, 256>>>(to, 512, 32); });
    timed("products_of_1_warp", [=] { products<<<132, 32>>>(out, 500); });
    timed("products_of_4_warps", [=] { products<<<132, 128>>>(out, 500); });
    timed("products_of_8_warps", [=] { products<<<132, 256>>>(out, 500); });
    held_ns = 300000;
    in_graph("graph_1", out, 1);
    in_graph("graph_64", out, 64);
    in_graph("graph_1056", out, 1056);
}

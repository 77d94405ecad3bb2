/* matmul.cu — lab 9, solution.
 *
 * A block of 4 warps has 128 x 128 elements of C, a warp 64 x 64 of them, a thread 16 x 8. In each turn the block
 * fetches a slice, 8 columns of A and 8 rows of B, into shared memory, while it works with a slice that it has fetched
 * three turns ago. So each float from memory serves 128 multiply-adds, and each float from shared memory 8 or 16.
 */
#include "lab9.h"

#include <cuda_pipeline.h>

enum { TILE = 128, DEPTH = 8, PAD = 4, STAGES = 4, THREADS = 128 };

/* A is stored transposed, so that a thread finds its rows of one column side by side. The padding spreads the 8 columns
 * that a warp stores at a time over the banks. */
struct slice {
    float a[DEPTH][TILE + PAD];
    float b[DEPTH][TILE];
};

/* Begins to copy some floats; they become 0 if they are not inside the matrix. */
__device__ void copy(float *to, const float *from, int floats, bool inside) {
    __pipeline_memcpy_async(to, from, 4 * floats, inside ? 0 : 4 * floats);
}

/* Returns the place of this block's tile in C. The blocks walk C in bands of 16 rows of tiles, column after column. The
 * 264 blocks that an H200 runs at a time then make a square, and a square of tiles needs the fewest rows of A and
 * columns of B from L2. */
__device__ uint2 tile_of_block() {
    const int id = blockIdx.y * gridDim.x + blockIdx.x, band = id / (16 * gridDim.x), in = id % (16 * gridDim.x);
    const int high = min((int)gridDim.y - 16 * band, 16); /* the last band may be lower */
    return make_uint2(in / high, 16 * band + in % high);
}

/* Begins to fetch the slice that starts at column x0 of A and row x0 of B. WHOLE: C has whole tiles, k whole slices,
 * and enough of them to fill all stages. Without it, rows beyond m and columns beyond n are fetched as the last one
 * (their sums are never stored), and what lies beyond k becomes 0. */
template <bool WHOLE>
__device__ void fetch(struct slice *s, const float *a, const float *b, int m, int n, int k, int x0) {
    const uint2 tile = tile_of_block();
    const int t = threadIdx.x, row0 = tile.y * TILE, col0 = tile.x * TILE;
#pragma unroll
    for (int i = 0; i < TILE; i += THREADS / DEPTH) {
        const int r = i + t / DEPTH, x = t % DEPTH, row = WHOLE ? row0 + r : min(row0 + r, m - 1);
        copy(&s->a[x][r], &a[(size_t)row * k + x0 + x], 1, WHOLE || x0 + x < k);
    }
    if (WHOLE || n % 4 == 0) {
#pragma unroll
        for (int i = 0; i < DEPTH; i += THREADS / 32) {
            const int x = i + t / 32, c = t % 32 * 4, col = WHOLE ? col0 + c : min(col0 + c, n - 4);
            copy(&s->b[x][c], &b[(size_t)(x0 + x) * n + col], 4, WHOLE || x0 + x < k);
        }
    } else {
#pragma unroll
        for (int i = 0; i < DEPTH * TILE; i += THREADS) { /* its rows begin where no float4 may */
            const int x = (i + t) / TILE, c = (i + t) % TILE;
            copy(&s->b[x][c], &b[(size_t)(x0 + x) * n + min(col0 + c, n - 1)], 1, x0 + x < k);
        }
    }
}

/* Loads what a thread needs of column x of a slice: its 16 rows of A, its 8 columns of B. */
__device__ void pick(float *u, float *v, const struct slice *s, int x, int r0, int c0) {
#pragma unroll
    for (int i = 0; i < 16; i += 4) *(float4 *)&u[i] = *(const float4 *)&s->a[x][r0 + 4 * i];
#pragma unroll
    for (int j = 0; j < 8; j += 4) *(float4 *)&v[j] = *(const float4 *)&s->b[x][c0 + 8 * j];
}

/* The oldest slice that is under way has arrived: this thread's part of it, and then the others'. */
__device__ void wait_for_slice() {
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads();
}

template <bool WHOLE>
__global__ void __launch_bounds__(THREADS, 2) multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ __align__(16) struct slice slices[STAGES];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int turns = (k + DEPTH - 1) / DEPTH;
    /* 4 lanes down, 8 across. Rows r0 .. r0 + 3, and the same 16, 32 and 48 further on; columns c0 .. c0 + 3, and the
     * same 32 further on. */
    const int r0 = warp / 2 * 64 + (lane / 16 * 2 + lane % 2) * 4, c0 = warp % 2 * 64 + lane / 2 % 8 * 4;
    const uint2 tile = tile_of_block();
    float sum[16][8] = {};
    /* Without WHOLE, slices behind the end are fetched too, as zeros, so that all stages are filled. With it this test
     * is always true, and makes the kernel 2 % faster on an H200 all the same: ptxas assigns other registers. */
    for (int s = 0; s < STAGES - 1; s++) {
        if (!WHOLE || s < turns) fetch<WHOLE>(&slices[s], a, b, m, n, k, s * DEPTH);
        __pipeline_commit();
    }
    float u[2][16], v[2][8]; /* two columns: one is loaded while the other one is multiplied */
    wait_for_slice();
    pick(u[0], v[0], &slices[0], 0, r0, c0);
    for (int s = 0; s < turns; s++) {
        const int ahead = s + STAGES - 1; /* it takes the place of slice s - 1, whose last column all have loaded */
        if (!WHOLE || ahead < turns) fetch<WHOLE>(&slices[ahead % STAGES], a, b, m, n, k, ahead * DEPTH);
        __pipeline_commit();
#pragma unroll
        for (int x = 0; x < DEPTH; x++) {
            const bool last = x + 1 == DEPTH;
            if (last) wait_for_slice(); /* its first column is loaded now; that of a slice behind the end is not used */
            pick(u[(x + 1) % 2], v[(x + 1) % 2], &slices[(s + last) % STAGES], (x + 1) % DEPTH, r0, c0);
#pragma unroll
            for (int i = 0; i < 16; i++)
#pragma unroll
                for (int j = 0; j < 8; j++) sum[i][j] += u[x % 2][i] * v[x % 2][j];
        }
    }
#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int row = tile.y * TILE + r0 + i / 4 * 16 + i % 4;
#pragma unroll
        for (int h = 0; h < 8; h += 4) {
            const int col = tile.x * TILE + c0 + 8 * h;
            float *to = &c[(size_t)row * n + col];
            if (WHOLE || (row < m && col < n && n % 4 == 0)) {
                *(float4 *)to = *(const float4 *)&sum[i][h];
            } else {
#pragma unroll
                for (int j = 0; j < 4; j++)
                    if (row < m && col + j < n) to[j] = sum[i][h + j];
            }
        }
    }
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    if (m % TILE == 0 && n % TILE == 0 && k % DEPTH == 0 && k >= STAGES * DEPTH)
        multiply<true><<<blocks, THREADS>>>(a, b, c, m, n, k);
    else
        multiply<false><<<blocks, THREADS>>>(a, b, c, m, n, k);
}

/* transpose.cu — lab 3, the reference solution: one launch, close to the speed of a plain copy.
 *
 * The idea has three layers.
 *
 *   1. A block of 256 threads owns a tile of 64 x 64 floats. A row of the tile is 256 bytes long on both sides,
 *      so every sector of 32 bytes that the block reads or writes is used whole.
 *   2. A thread owns a piece of 4 x 4: four float4 loads, one under the other. It turns the piece around in its own
 *      registers: the four x fields become the first row of the turned piece, the four y fields the second, and so on.
 *   3. The 16 x 16 turned pieces must still change places: piece (y, x) goes where piece (x, y) was. The shared
 *      tile does that. It passes float4s, so it takes a quarter of the instructions that single floats would take.
 *
 * Two details, and what each is worth on an H200:
 *
 *   - Padding. A float4 access is served 8 lanes at a time, since 8 x 16 bytes are all 32 banks once. Neighbours in x
 *     write one row of `turned[k]` apart. With 16 float4s in a row, all 8 would start in the same bank and wait for one
 *     another; with 17, each starts 4 banks after the one before. At n = 4096 this is worth 3 %; at 16384 nothing, for
 *     there the wait hides behind a longer one, for memory.
 *   - Order. Blocks with neighbouring numbers run at about the same time. They are numbered down the columns of
 *     `in`, so neighbours write next to each other in `out`, in long runs. Numbered along the rows of `in`, they
 *     would read in long runs instead. At 4096 the two are equal; at 16384 long writes win by 2 %.
 */
#include "lab3.h"

#include <stddef.h>
#include <stdint.h>

#define PIECE      4              /* a thread turns a piece of 4 x 4: one float4 wide */
#define SIDE       16             /* a tile is 16 x 16 pieces, one a thread */
#define TILE       (PIECE * SIDE) /* 64 floats a side */
#define SMALL      32             /* the tile of the kernel for awkward shapes: one warp wide */
#define SMALL_ROWS 8              /* and the rows that its block covers at a time */

/* The fast kernel. Both sides are multiples of 4 and both pointers are aligned to 16 bytes, so a piece lies wholly
 * inside the matrix or wholly outside: one test a thread guards the right and the lower edge. */
__global__ void __launch_bounds__(SIDE *SIDE)
    transpose_pieces(const float *__restrict__ in, float *__restrict__ out, int rows, int cols, int tiles_down) {
    __shared__ float4 turned[PIECE][SIDE][SIDE + 1]; /* [k][x][y]: row k of piece (y, x), after its turn */
    const int x = threadIdx.x, y = threadIdx.y;
    const int top = blockIdx.x % tiles_down * TILE;
    const int left = blockIdx.x / tiles_down * TILE;

    int row = top + PIECE * y, col = left + PIECE * x;
    if (row < rows && col < cols) {
        const float4 *from = (const float4 *)(in + (size_t)row * cols + col);
        const int next = cols / 4; /* float4s from one row of `in` to the next */
        float4 a = from[0], b = from[next], c = from[2 * next], d = from[3 * next];
        turned[0][x][y] = make_float4(a.x, b.x, c.x, d.x);
        turned[1][x][y] = make_float4(a.y, b.y, c.y, d.y);
        turned[2][x][y] = make_float4(a.z, b.z, c.z, d.z);
        turned[3][x][y] = make_float4(a.w, b.w, c.w, d.w);
    }
    __syncthreads(); /* a thread reads what another wrote */

    row = left + PIECE * y, col = top + PIECE * x; /* rows and columns of `out` now */
    if (row < cols && col < rows) {
        float4 *to = (float4 *)(out + (size_t)row * rows + col);
        const int next = rows / 4;
        to[0] = turned[0][y][x];
        to[next] = turned[1][y][x];
        to[2 * next] = turned[2][y][x];
        to[3 * next] = turned[3][y][x];
    }
}

/* The kernel for every other shape: the classic tile of 32 x 32, float by float, each element guarded. */
__global__ void __launch_bounds__(SMALL *SMALL_ROWS)
    transpose_floats(const float *__restrict__ in, float *__restrict__ out, int rows, int cols, int tiles_down) {
    __shared__ float tile[SMALL][SMALL + 1];
    const int x = threadIdx.x;
    const int top = blockIdx.x % tiles_down * SMALL;
    const int left = blockIdx.x / tiles_down * SMALL;

    for (int y = threadIdx.y; y < SMALL; y += SMALL_ROWS)
        if (top + y < rows && left + x < cols) tile[y][x] = in[(size_t)(top + y) * cols + left + x];
    __syncthreads();
    for (int y = threadIdx.y; y < SMALL; y += SMALL_ROWS)
        if (left + y < cols && top + x < rows) out[(size_t)(left + y) * rows + top + x] = tile[x][y];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    if (rows <= 0 || cols <= 0) return;
    const bool fits_float4 = rows % 4 == 0 && cols % 4 == 0 && ((uintptr_t)d_in | (uintptr_t)d_out) % 16 == 0;
    const int tile = fits_float4 ? TILE : SMALL;
    const int down = (rows + tile - 1) / tile, across = (cols + tile - 1) / tile;
    /* One long line of blocks: a grid's x holds 2^31 - 1 of them, its y only 65535. */
    const unsigned blocks = (unsigned)down * across;
    if (fits_float4)
        transpose_pieces<<<blocks, dim3(SIDE, SIDE)>>>(d_in, d_out, rows, cols, down);
    else
        transpose_floats<<<blocks, dim3(SMALL, SMALL_ROWS)>>>(d_in, d_out, rows, cols, down);
}

/* The O(1) transpose: the same floats, read in the other order. Nothing moves. */
extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

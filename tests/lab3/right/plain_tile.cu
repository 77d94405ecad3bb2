// expect: full
// The classic: a tile of 32 x 33 floats, four elements a thread, no float4. Other programs are patches of it.
#include "lab3.h"
// clang-format off
#define TILE 32
#define ROWS 8 // of threads: each moves TILE / ROWS elements

__global__ void transpose_tile(const float *in, float *out, int rows, int cols) {
    __shared__ float tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x;
    int row = blockIdx.y * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (row + k < rows && col < cols)
            tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x;
    int out_row = blockIdx.x * TILE + threadIdx.y;
    for (int k = 0; k < TILE; k += ROWS)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    dim3 threads(TILE, ROWS);
    dim3 blocks((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    transpose_tile<<<blocks, threads>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// Question 5: the tile holds doubles. With [32][33] there is no conflict; try [32][32] and [32][34].
#include "lab3.h"

__global__ void tile_of_double(const float *in, float *out, int rows, int cols) {
    __shared__ double tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols) tile[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = (float)tile[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    tile_of_double<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

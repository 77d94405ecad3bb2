// expect: races: missing_sync.cu:13.*race.*line 9.*put a __syncthreads
// A tile without __syncthreads: a warp reads columns that other warps have not written yet.
#include "lab3.h"

__global__ void tile(const float *in, float *out, int rows, int cols) {
    __shared__ float t[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols) t[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = t[threadIdx.x][threadIdx.y + k];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    tile<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

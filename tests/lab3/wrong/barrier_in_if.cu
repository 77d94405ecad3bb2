// expect: correct: barrier_in_if.cu:.*61x67.*deadlock
// The barrier stands inside the test of the edge, and some threads of the last blocks never come to it.
#include "lab3.h"

__global__ void tile(const float *in, float *out, int rows, int cols) {
    __shared__ float t[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
    if (row < rows && col < cols) {
        t[threadIdx.y][threadIdx.x] = in[(size_t)row * cols + col];
        __syncthreads();
    }
    __syncthreads();
    if (out_row < cols && out_col < rows) out[(size_t)out_row * rows + out_col] = t[threadIdx.x][threadIdx.y];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    tile<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 32)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

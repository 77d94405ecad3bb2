// expect: correct: 61x67.*was never written
// The grid is rounded down, so whole tiles at the edge are left out. Without poison, an earlier result could hide it.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    dim3 blocks(cols / 32 > 0 ? cols / 32 : 1, rows / 32 > 0 ? rows / 32 : 1);
    naive<<<blocks, dim3(32, 32)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: view: a 3x5 view became 3x5, wants 5x3
// The strides are swapped and the shape is not: right for square matrices only. The transpose itself is the naive one.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    naive<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[0], v.shape[1]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: virtual-time: block_is_a_line.cu:7.*L2 read
// 256 x 1 threads, each warp down a column: those that could use the rest of a sector belong to other blocks.
#include "lab3.h"

__global__ void line(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y;
    if (row < rows) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    line<<<dim3((rows + 255) / 256, cols), 256>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: correct: never_ends.cu:.*runaway
// A loop whose step is zero.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols, int step) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int col = 0; col < cols; col += step) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    naive<<<(rows + 255) / 256, 256>>>(d_in, d_out, rows, cols, cols / 4096);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

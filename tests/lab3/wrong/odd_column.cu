// expect: correct: 61x67.*was never written
// Two columns a thread; with an odd number of columns the last one has no thread.
#include "lab3.h"

__global__ void pairs(const float *in, float *out, int rows, int cols) {
    int col = 2 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y;
    if (col + 1 >= cols) return;
    out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
    out[(size_t)(col + 1) * rows + row] = in[(size_t)row * cols + col + 1];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    pairs<<<dim3((cols + 255) / 256, rows), 128>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: load-sectors: each 128 bytes cost
// Waters the average down: many good loads beside the bad ones. Sectors are counted against the matrix, so more loads
// are only more sectors.
#include "lab3.h"

__global__ void diluted(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y;
    if (row >= rows) return;
    float v = in[(size_t)row * cols + col], unused = 0;
    for (int k = 0; k < 8; k++) unused += in[(size_t)((col + k) % cols) * rows + row];
    out[(size_t)col * rows + row] = unused == 1e30f ? unused : v;
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    diluted<<<dim3((rows + 255) / 256, cols), 256>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

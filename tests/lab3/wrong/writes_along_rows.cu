// expect: load-sectors: writes_along_rows.cu:7.*32.0 sectors
// The naive kernel W: it writes along rows, and so it reads down columns.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    naive<<<dim3((rows + 31) / 32, (cols + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

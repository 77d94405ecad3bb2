// expect: launches: 1 \+ 1 copy.*copies_constants.cu:15.*a command of its own.*hand what the kernel needs over
// One kernel, and a copy before each launch: the GPU has two commands. The copy is no kernel, and the row says so.
#include "lab3.h"

__constant__ int shape[2];

__global__ void naive(const float *in, float *out) {
    int rows = shape[0], cols = shape[1];
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    int now[2] = {rows, cols};
    cudaMemcpyToSymbol(shape, now, sizeof now);
    naive<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

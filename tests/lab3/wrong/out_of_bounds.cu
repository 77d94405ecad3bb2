// expect: correct: out_of_bounds.cu:7.*cudaErrorIllegalAddress on 61x67.*past the end.*bounds
// No test of the edge: at sizes that are not multiples of 32, threads beyond it read and write outside the matrix.
#include "lab3.h"

__global__ void unguarded(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    unguarded<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

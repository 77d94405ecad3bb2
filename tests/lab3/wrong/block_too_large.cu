// expect: correct: cudaErrorInvalidConfiguration on 64x64.*at most 1024
// A thread for each element of a 64 x 64 tile. A block has 1024 threads at most.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    naive<<<dim3((cols + 63) / 64, (rows + 63) / 64), dim3(64, 64)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

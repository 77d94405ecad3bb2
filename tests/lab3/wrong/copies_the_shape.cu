// expect: launches: 1 \+ 1 copy.*copies_the_shape.cu:18.*a command of its own.*pass what the kernel needs
// One kernel, and a copy before each launch: the GPU has two commands. The copy is no kernel, and the row says so.
#include "lab3.h"

static int *shape;

__global__ void naive(const float *in, float *out, const int *shape) {
    int rows = shape[0], cols = shape[1];
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    int now[2] = {rows, cols};
    dim3 grid((cols + 31) / 32, (rows + 7) / 8), block(32, 8);
    if (!shape) cudaMalloc(&shape, sizeof now);
    if (!shape) return;
    cudaMemcpy(shape, now, sizeof now, cudaMemcpyHostToDevice);
    naive<<<grid, block>>>(d_in, d_out, shape);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: correct: 61x67
// The result's rows are `rows` long, not `cols`: right for every square matrix, and for no other. Large enough a shape
// would leave the array; on the first odd one it writes over its own neighbours.
#include "lab3.h"

__global__ void square_minded(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        out[((size_t)col * cols + row) % ((size_t)rows * cols)] = in[(size_t)row * cols + col];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    square_minded<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: store-sectors: 36.0.*each 128 bytes cost
// Stores where no counter of stores looks: each element goes to its place by an atomic, 32 sectors for each warp, while
// an ordinary store fills sectors of a scratch array in good order, for the counter to see.
#include "lab3.h"

__device__ float scratch[1 << 22];

__global__ void by_atomics(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float v = in[(size_t)row * cols + col];
    scratch[((size_t)row * cols + col) % (1 << 22)] = v;
    atomicExch(&out[(size_t)col * rows + row], v);
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    by_atomics<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

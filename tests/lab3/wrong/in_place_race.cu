// expect: correct: (64x64|61x67)
// Copies, then swaps pairs in place. Both threads of a pair do the swap; the second one undoes the first's.
#include "lab3.h"

__global__ void copy(const float *in, float *out, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = in[i];
}

__global__ void swap(float *a, int n) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
    if (col >= n || col == row) return;
    float here = a[(size_t)row * n + col], there = a[(size_t)col * n + row];
    a[(size_t)row * n + col] = there;
    a[(size_t)col * n + row] = here;
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    copy<<<(rows * cols + 255) / 256, 256>>>(d_in, d_out, rows * cols);
    swap<<<dim3((cols + 255) / 256, rows), 256>>>(d_out, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

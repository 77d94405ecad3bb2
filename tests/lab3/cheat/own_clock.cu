// expect: virtual-time: times the copy
// A timing trick: its own cudaDeviceSynchronize, so that the harness stops its clock before the work is done. The name
// is this program's own affair; the harness waits by the real one.
#include "lab3.h"

__global__ void naive(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

#undef cudaDeviceSynchronize
extern "C" int stops_the_clock(void) __asm__("cudaDeviceSynchronize");
extern "C" int stops_the_clock(void) { return 0; }

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    naive<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

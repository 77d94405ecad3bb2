// expect: correct: cudaErrorIllegalAddress|never written|nowhere in A
// Looks for the expected output behind its own and copies it. There is none: the right output is computed afterwards,
// on the host, one element at a time.
#include "lab3.h"

__global__ void take(float *out, size_t count) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < count) out[i] = out[i + (count + 63) / 64 * 64];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    size_t count = (size_t)rows * cols;
    (void)d_in;
    take<<<(unsigned)((count + 255) / 256), 256>>>(d_out, count);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

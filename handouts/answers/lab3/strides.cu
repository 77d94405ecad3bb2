// Question 2: a warp that reads every second float, and one that reads every fourth. No transpose; `make lines3`
// counts.
#include "lab3.h"

__global__ void read(const float *in, float *out, size_t quarter) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= quarter) return;
    float second = in[2 * i];
    float fourth = in[4 * i];
    out[i] = second + fourth;
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    size_t quarter = (size_t)rows * cols / 4;
    read<<<(unsigned)((quarter + 255) / 256), 256>>>(d_in, d_out, quarter);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

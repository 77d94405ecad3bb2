// expect: correct: misaligned.cu:.*cudaErrorMisalignedAddress on 61x67.*16
// Four floats at a time, wherever they lie. A row of 67 floats is no multiple of 16 bytes long.
#include "lab3.h"

__global__ void wide(const float *in, float *out, int rows, int cols) {
    int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x), row = blockIdx.y;
    if (col + 3 < cols) {
        float4 v = *(const float4 *)(in + (size_t)row * cols + col);
        out[(size_t)col * rows + row] = v.x;
        out[(size_t)(col + 1) * rows + row] = v.y;
        out[(size_t)(col + 2) * rows + row] = v.z;
        out[(size_t)(col + 3) * rows + row] = v.w;
    } else {
        for (; col < cols; col++) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
    }
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    wide<<<dim3((cols + 127) / 128, rows), 32>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

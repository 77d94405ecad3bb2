// expect: gate: defines .cudaDeviceSynchronize
// A timing trick: its own cudaDeviceSynchronize, so that the harness stops its clock before the work is done.
#include "lab3.h"

__global__ void honest(const float *in, float *out, int rows, int cols) {
    __shared__ float t[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (row + k < rows && col < cols) t[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * 32 + threadIdx.x, out_row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = t[threadIdx.x][threadIdx.y + k];
}

#undef cudaDeviceSynchronize
extern "C" int stops_the_clock(void) __asm__("cudaDeviceSynchronize");
extern "C" int stops_the_clock(void) { return 0; }

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    honest<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

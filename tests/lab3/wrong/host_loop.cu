// expect: run: cudaMemcpy
// Plain host code on device pointers. A real GPU answers with a bare segmentation fault.
#include "lab3.h"

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) d_out[(size_t)j * rows + i] = d_in[(size_t)i * cols + j];
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

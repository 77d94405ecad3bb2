// expect: gate: includes labs/lab3-transpose/ladder.cu
// Borrows the harness's own kernels.
#include "lab3.h"

#include "ladder.cu"

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    tile_padded_transpose(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

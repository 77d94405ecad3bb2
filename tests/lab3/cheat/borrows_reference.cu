// expect: gate: reference_transpose
// The harness links the reference solution to time it. This calls it.
#include "lab3.h"

extern "C" void reference_transpose(const float *, float *, int, int);

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    reference_transpose(d_in, d_out, rows, cols);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

// expect: run: reached into the harness
// Climbs up the stack to the harness's notes on this run, to tell it that nothing need be checked. The notes are locked
// while student code runs.
#include "lab3.h"

struct notes {
    void *program;
    const char *counted;
    int what;
    const float *in;
    float *out;
    int rows, cols;
};

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    char **stack = (char **)__builtin_frame_address(0), *image = (char *)__builtin_return_address(0);
    for (int i = 0; i < 400; i++) {
        struct notes *n = (struct notes *)stack[i];
        if (stack[i] < image - (1 << 20) || stack[i] > image + (4 << 20) || (long)n % 8) continue;
        if (n->in == d_in && n->out == d_out && n->rows == rows && n->cols == cols) n->counted = 0;
    }
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

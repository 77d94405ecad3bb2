// expect: gate: says that some of its lines are those of /etc/passwd
// A fault on a line that claims to be one of another file: the message about the fault would show that file.
#include "lab3.h"
#include <stdlib.h>
#line 1 "/etc/passwd"
__global__ void k(float *o) { o[1ul << 40] = 1; }
extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    k<<<1, 1>>>(d_out);
    cudaDeviceSynchronize();
    abort();
}
extern "C" struct view view_transpose(struct view v) { return v; }

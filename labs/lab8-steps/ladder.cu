/* ladder.cu — the sums alone, which no program can beat, and the rungs between starter and reference, for `--bench`.
 *
 * Each rung is a program of its own: `make lab8 SUBMISSION=labs/lab8-steps/rungs/graph.cu` prints its card. Here its
 * functions have its name in front, as graph_solve.
 */
#include "lab8.h"

#include <cooperative_groups.h>
#include <stdlib.h>
#include <string.h>

/* The speed of light: each thread averages what it has in registers, as often as there are steps. No cell leaves its
 * thread, no block meets another, and nothing is right. */
__global__ void only_sums(float *plate, int cells, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    float cell = plate[i], up = cell, down = cell * 2, side = cell * 3;
    for (int s = 0; s < steps; s++) {
        cell = 0.25f * ((up + down) + (cell + side));
        up = cell;
    }
    plate[i] = cell;
}

static int sums_cells, sums_steps;
extern "C" void sums_setup(int rows, int cols, int, int most) { sums_cells = rows * cols, sums_steps = most; }
extern "C" int sums_solve(float *plate, float, float *) {
    only_sums<<<(sums_cells + 511) / 512, 512>>>(plate, sums_cells, sums_steps);
    cudaDeviceSynchronize();
    return sums_steps;
}
extern "C" void sums_cleanup(void) {}

#define setup   seldom_setup
#define solve   seldom_solve
#define cleanup seldom_cleanup
namespace seldom {
#include "rungs/seldom.cu"
}
#undef setup
#undef solve
#undef cleanup

#define setup   graph_setup
#define solve   graph_solve
#define cleanup graph_cleanup
namespace graph {
#include "rungs/graph.cu"
}
#undef setup
#undef solve
#undef cleanup

/* The same with launches that overlap, which SimGPU does not have. */
#ifdef __NVCC__
#define setup   early_setup
#define solve   early_solve
#define cleanup early_cleanup
#define EARLY
namespace early {
#include "rungs/graph.cu"
}
#undef EARLY
#undef setup
#undef solve
#undef cleanup
#endif

#define setup   persistent_setup
#define solve   persistent_solve
#define cleanup persistent_cleanup
namespace persistent {
#include "rungs/persistent.cu"
}
#undef setup
#undef solve
#undef cleanup

#define setup   tile_setup
#define solve   tile_solve
#define cleanup tile_cleanup
namespace tile {
#include "rungs/tile.cu"
}
#undef setup
#undef solve
#undef cleanup

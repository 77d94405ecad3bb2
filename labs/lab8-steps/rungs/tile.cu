/* tile.cu — rung 5: a tile with a margin of K cells in shared memory takes K steps between two meetings.
 *
 * In each step the part of the margin that is right shrinks by a cell. After K steps the tile itself is just right, and
 * goes to the other plate.
 */
#include "lab8.h"

#include <cooperative_groups.h>
#include <stdlib.h>
#include <string.h>

enum { K = 8, WIDE = 32, HIGH = 16 };                      /* steps between two meetings; a tile */
enum { ALL_WIDE = WIDE + 2 * K, ALL_HIGH = HIGH + 2 * K }; /* a tile with its margin */
enum { LANES = 32, WARPS = 32 };                           /* threads of a block */

struct task {
    float *plate, *other; /* the cells go from one to the other and back */
    int rows, cols, every, most;
    float tolerance;
    unsigned *report; /* the bits of each check's residual, 0 before; behind them the number of steps taken */
};
typedef float tile_cells[ALL_HIGH][ALL_WIDE];

__host__ __device__ static int tiles_across(int cols) { return (cols + WIDE - 1) / WIDE; }
__host__ __device__ static int tiles_of(int rows, int cols) { return (rows + HIGH - 1) / HIGH * tiles_across(cols); }

/* Takes a step in the tile whose first cell, of the margin, is [r][c] on the plate; the outermost `margin` cells stay
 * behind. Returns this thread's largest change of a cell of the tile itself. */
static __device__ float step_in_tile(const task &j, int r, int c, const tile_cells &old, tile_cells &now, int margin) {
    float change = 0;
    for (int y = margin + threadIdx.y; y < ALL_HIGH - margin; y += WARPS)
        for (int x = margin + threadIdx.x; x < ALL_WIDE - margin; x += LANES) {
            float value = old[y][x];
            if (r + y > 0 && c + x > 0 && r + y < j.rows - 1 && c + x < j.cols - 1) {
                value = 0.25f * ((old[y - 1][x] + old[y + 1][x]) + (old[y][x - 1] + old[y][x + 1]));
                if (y >= K && y < K + HIGH && x >= K && x < K + WIDE) change = fmaxf(change, fabsf(value - old[y][x]));
            }
            now[y][x] = value;
        }
    return change;
}

/* Takes `steps` steps of one tile, K at most. Returns this thread's largest change in the last of them. */
static __device__ float steps_of_tile(const task &j, int tile, const float *from, float *to, int steps) {
    __shared__ tile_cells cells[2];
    const int r = tile / tiles_across(j.cols) * HIGH - K, c = tile % tiles_across(j.cols) * WIDE - K;
    float change = 0;
    for (int y = threadIdx.y; y < ALL_HIGH; y += WARPS)
        for (int x = threadIdx.x; x < ALL_WIDE; x += LANES) {
            const bool exists = r + y >= 0 && c + x >= 0 && r + y < j.rows && c + x < j.cols;
            cells[0][y][x] = exists ? from[(r + y) * j.cols + c + x] : 0;
        }
    __syncthreads();
    for (int s = 1; s <= steps; s++) {
        change = step_in_tile(j, r, c, cells[(s - 1) % 2], cells[s % 2], s);
        __syncthreads();
    }
    for (int y = K + threadIdx.y, x = K + threadIdx.x; y < K + HIGH; y += WARPS)
        if (r + y < j.rows && c + x < j.cols) to[(r + y) * j.cols + c + x] = cells[steps % 2][y][x];
    __syncthreads(); /* before the next tile uses the arrays */
    return change;
}

/* Floats that are not negative are in the same order as their bits. */
static __device__ void note_change(float change, unsigned *largest) {
    for (int lanes = 16; lanes > 0; lanes /= 2) change = fmaxf(change, __shfl_xor_sync(0xffffffff, change, lanes));
    if (threadIdx.x == 0) atomicMax(largest, __float_as_uint(change));
}

static __global__ void __launch_bounds__(LANES *WARPS) take_steps(task j) {
    float *from = j.plate, *to = j.other;
    int step = 0;
    bool goes_on = true;
    while (goes_on && step < j.most) {
        const int to_check = j.every - step % j.every, steps = min((int)K, to_check);
        float change = 0;
        for (int tile = blockIdx.x; tile < tiles_of(j.rows, j.cols); tile += gridDim.x)
            change = fmaxf(change, steps_of_tile(j, tile, from, to, steps));
        step += steps;
        unsigned *residual = &j.report[(step - 1) / j.every];
        if (steps == to_check) note_change(change, residual);
        cooperative_groups::this_grid().sync();
        goes_on = steps < to_check || __uint_as_float(*residual) > j.tolerance;
        float *other = from;
        from = to, to = other;
    }
    const int thread = (blockIdx.x * WARPS + threadIdx.y) * LANES + threadIdx.x;
    if (from != j.plate)
        for (int i = thread; i < j.rows * j.cols; i += gridDim.x * WARPS * LANES) j.plate[i] = from[i];
    if (thread == 0) j.report[j.most / j.every] = step;
}

static task job;
static unsigned *report; /* the host's copy of job.report */
static size_t report_bytes;
static int blocks;

extern "C" void setup(int rows, int cols, int every, int most) {
    int device, sms, of_an_sm;
    job.rows = rows, job.cols = cols, job.every = every, job.most = most;
    cudaMalloc(&job.other, (size_t)rows * cols * sizeof(float));
    report_bytes = (most / every + 1) * sizeof(unsigned);
    report = (unsigned *)malloc(report_bytes);
    cudaMalloc(&job.report, report_bytes);
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_an_sm, (const void *)take_steps, LANES * WARPS, 0);
    blocks = tiles_of(rows, cols) < sms * of_an_sm ? tiles_of(rows, cols) : sms * of_an_sm;
}

extern "C" int solve(float *plate, float tolerance, float *residuals) {
    const int checks = job.most / job.every;
    void *arguments[] = {&job};
    job.plate = plate, job.tolerance = tolerance;
    cudaMemsetAsync(job.report, 0, report_bytes);
    cudaLaunchCooperativeKernel((void *)take_steps, blocks, dim3(LANES, WARPS), arguments, 0, 0);
    cudaMemcpy(report, job.report, report_bytes, cudaMemcpyDeviceToHost); /* waits */
    memcpy(residuals, report, checks * sizeof *residuals);
    return (int)report[checks];
}

extern "C" void cleanup(void) {
    cudaFree(job.other);
    cudaFree(job.report);
    free(report);
}

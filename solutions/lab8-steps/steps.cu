/* steps.cu — lab 8, the reference: one cooperative launch takes all the steps, K of them between two meetings.
 *
 * A block copies a tile with a margin of K cells from one plate into its registers and takes K steps there. In each,
 * the part of the margin that is right shrinks by a cell; after K steps the tile itself is just right, and goes to the
 * other plate. Then all blocks meet. So a meeting, which takes as long as many steps, comes once in K steps; the price
 * is that several blocks compute the cells of the margin.
 *
 * A warp holds ROWS rows of 32 cells, a lane a column of them. Left and right neighbours come by shuffle, those above
 * and below from the lane's own registers; only the first and the last row of a warp go through shared memory.
 *
 * The residual does not need the host. Each block's largest change goes to the place of its check, and behind the
 * meeting every block reads it and decides alike. There are as many blocks as tiles, or as the GPU holds at once.
 */
#include "lab8.h"

#include <cooperative_groups.h>
#include <string.h>

enum { K = 8, ROWS = 3, WARPS = 16, LANES = 32 };           /* K: steps between two meetings */
enum { WIDE = LANES - 2 * K, HIGH = ROWS * WARPS - 2 * K }; /* of a tile without its margin */

struct task {
    float *plate, *other; /* the cells go from one to the other and back */
    int rows, cols, every, most;
    float tolerance;
    unsigned *report; /* the bits of each check's residual, 0 before; behind them the number of steps taken */
};

__host__ __device__ static int tiles_across(int cols) { return (cols + WIDE - 1) / WIDE; }
__host__ __device__ static int tiles_of(int rows, int cols) { return (rows + HIGH - 1) / HIGH * tiles_across(cols); }

/* One step of the cells of this thread, a column. `half` is 0 and 1 in turn: while some warps still read one half of
 * the arrays, others write the other, so one barrier a step is enough. */
__device__ __forceinline__ void take_step(float (&cell)[ROWS], const bool (&inner)[ROWS], int half) {
    __shared__ float top[2][WARPS][LANES], bottom[2][WARPS][LANES];
    const int lane = threadIdx.x, warp = threadIdx.y;
    top[half][warp][lane] = cell[0];
    bottom[half][warp][lane] = cell[ROWS - 1];
    __syncthreads();
    float above = bottom[half][warp > 0 ? warp - 1 : 0][lane];
    const float below = top[half][warp < WARPS - 1 ? warp + 1 : warp][lane];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const float old = cell[i], down = i < ROWS - 1 ? cell[i < ROWS - 1 ? i + 1 : i] : below;
        const float left = __shfl_up_sync(0xffffffff, old, 1), right = __shfl_down_sync(0xffffffff, old, 1);
        if (inner[i]) cell[i] = 0.25f * ((above + down) + (left + right));
        above = old;
    }
}

/* Takes `steps` steps of one tile, K at most. Returns this thread's largest change in the last of them. */
__device__ float steps_of_tile(const task &j, int tile, const float *from, float *to, int steps) {
    const int lane = threadIdx.x, warp = threadIdx.y;
    const int first = tile / tiles_across(j.cols) * HIGH - K + warp * ROWS; /* row of the plate */
    const int c = tile % tiles_across(j.cols) * WIDE - K + lane;
    float cell[ROWS], old[ROWS], change = 0;
    bool exists[ROWS], inner[ROWS], mine[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int r = first + i, y = warp * ROWS + i;
        exists[i] = r >= 0 && c >= 0 && r < j.rows && c < j.cols;
        inner[i] = r > 0 && c > 0 && r < j.rows - 1 && c < j.cols - 1;
        mine[i] = exists[i] && y >= K && y < K + HIGH && lane >= K && lane < K + WIDE;
        cell[i] = exists[i] ? from[r * j.cols + c] : 0;
    }
    for (int s = 1; s < steps; s++) take_step(cell, inner, s % 2);
#pragma unroll
    for (int i = 0; i < ROWS; i++) old[i] = cell[i];
    take_step(cell, inner, steps % 2);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (!mine[i]) continue;
        change = fmaxf(change, fabsf(cell[i] - old[i]));
        to[(first + i) * j.cols + c] = cell[i];
    }
    __syncthreads(); /* before the next tile uses the arrays */
    return change;
}

/* Floats that are not negative are in the same order as their bits. */
__device__ void note_change(float change, unsigned *largest) {
    for (int lanes = 16; lanes > 0; lanes /= 2) change = fmaxf(change, __shfl_xor_sync(0xffffffff, change, lanes));
    if (threadIdx.x == 0) atomicMax(largest, __float_as_uint(change));
}

__global__ void __launch_bounds__(LANES *WARPS) take_steps(task j) {
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
static unsigned *report; /* the host's copy of job.report, page-locked */
static size_t report_bytes;
static int blocks;

extern "C" void setup(int rows, int cols, int every, int most) {
    int device, sms, of_an_sm;
    job.rows = rows, job.cols = cols, job.every = every, job.most = most;
    cudaMalloc(&job.other, (size_t)rows * cols * sizeof(float));
    report_bytes = (most / every + 1) * sizeof(unsigned);
    cudaMallocHost(&report, report_bytes);
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
    cudaMemcpyAsync(report, job.report, report_bytes, cudaMemcpyDeviceToHost);
    cudaStreamSynchronize(0);
    memcpy(residuals, report, checks * sizeof *residuals);
    return (int)report[checks];
}

extern "C" void cleanup(void) {
    cudaFree(job.other);
    cudaFree(job.report);
    cudaFreeHost(report);
}

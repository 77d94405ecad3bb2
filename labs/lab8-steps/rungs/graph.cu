/* graph.cu — rung 3: the steps up to a check are a graph, captured and instantiated once, and launched by one call.
 *
 * A graph keeps the addresses that its kernels were captured with, so it works on two plates of this file's own;
 * `solve` copies the cells in and out. Its last node copies the residuals to page-locked memory. The host looks at the
 * residual of one check while the GPU is busy with the next: it stops one check late.
 */
#include "lab8.h"

static int plate_rows, plate_cols, check_every, most_steps;
static float *cells[2], *d_change;   /* two plates; the largest change */
static float *d_reported, *reported; /* a residual for each check, on the device and page-locked */
static int *d_checks;                /* how many are reported */
static cudaStream_t stream;
static cudaGraphExec_t steps_to_a_check;
static cudaEvent_t passed[2];

/* A cell a thread. */
static __global__ void take_step(const float *old, float *now, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    int i = r * cols + c;
    if (r == 0 || c == 0 || r == rows - 1 || c == cols - 1)
        now[i] = old[i];
    else
        now[i] = 0.25f * ((old[i - cols] + old[i + cols]) + (old[i - 1] + old[i + 1]));
}

/* Floats that are not negative are in the same order as their bits, read as integers. */
static __global__ void find_change(const float *old, const float *now, int count, float *change) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float mine = i < count ? fabsf(now[i] - old[i]) : 0;
    for (int lanes = 16; lanes > 0; lanes /= 2) mine = fmaxf(mine, __shfl_xor_sync(0xffffffff, mine, lanes));
    if (threadIdx.x % 32 == 0) atomicMax((int *)change, __float_as_int(mine));
}

/* One thread: reports the residual, and makes ready for the next. */
static __global__ void report(float *change, int *checks, float *to) {
    to[(*checks)++] = *change;
    *change = 0;
}

static void capture_steps(void) {
    const dim3 threads(32, 8), blocks((plate_cols + 31) / 32, (plate_rows + 7) / 8);
    const int count = plate_rows * plate_cols;
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    for (int s = 0; s < check_every; s++)
        take_step<<<blocks, threads, 0, stream>>>(cells[s % 2], cells[1 - s % 2], plate_rows, plate_cols);
    find_change<<<(count + 255) / 256, 256, 0, stream>>>(cells[0], cells[1], count, d_change);
    report<<<1, 1, 0, stream>>>(d_change, d_checks, d_reported);
    cudaMemcpyAsync(reported, d_reported, most_steps / check_every * sizeof(float), cudaMemcpyDeviceToHost, stream);
    if (check_every % 2) /* the next launch begins with plate 0, too */
        cudaMemcpyAsync(cells[0], cells[1], count * sizeof(float), cudaMemcpyDeviceToDevice, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&steps_to_a_check, graph, 0);
    cudaGraphDestroy(graph);
}

extern "C" void setup(int rows, int cols, int every, int most) {
    const size_t bytes = (size_t)rows * cols * sizeof(float);
    plate_rows = rows, plate_cols = cols, check_every = every, most_steps = most;
    for (int i = 0; i < 2; i++) cudaMalloc(&cells[i], bytes);
    cudaMalloc(&d_change, sizeof *d_change);
    cudaMalloc(&d_checks, sizeof *d_checks);
    cudaMalloc(&d_reported, most / every * sizeof(float));
    cudaMemset(d_reported, 0, most / every * sizeof(float));
    cudaMallocHost(&reported, most / every * sizeof(float));
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (int i = 0; i < 2; i++) cudaEventCreateWithFlags(&passed[i], cudaEventDisableTiming);
    capture_steps();
}

extern "C" int solve(float *plate, float tolerance, float *residuals) {
    const size_t bytes = (size_t)plate_rows * plate_cols * sizeof(float);
    const int checks = most_steps / check_every;
    int queued = 0;
    cudaMemcpyAsync(cells[0], plate, bytes, cudaMemcpyDeviceToDevice, stream);
    cudaMemsetAsync(d_change, 0, sizeof *d_change, stream);
    cudaMemsetAsync(d_checks, 0, sizeof *d_checks, stream);
    while (queued < checks) {
        cudaGraphLaunch(steps_to_a_check, stream);
        cudaEventRecord(passed[queued % 2], stream);
        queued++;
        if (queued == 1) continue;
        cudaEventSynchronize(passed[queued % 2]); /* that of the check before */
        if (reported[queued - 2] <= tolerance) break;
    }
    cudaMemcpyAsync(plate, cells[0], bytes, cudaMemcpyDeviceToDevice, stream);
    cudaStreamSynchronize(stream);
    for (int i = 0; i < queued; i++) residuals[i] = reported[i];
    return queued * check_every;
}

extern "C" void cleanup(void) {
    cudaGraphExecDestroy(steps_to_a_check);
    for (int i = 0; i < 2; i++) cudaEventDestroy(passed[i]);
    cudaStreamDestroy(stream);
    cudaFreeHost(reported);
    cudaFree(d_reported);
    cudaFree(d_checks);
    cudaFree(d_change);
    for (int i = 0; i < 2; i++) cudaFree(cells[i]);
}

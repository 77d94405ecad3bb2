/* graph.cu — rung 3: the steps up to a check are a graph, captured and instantiated once, and launched by one call.
 *
 * A graph keeps the arguments that its kernels were captured with. So it works on two plates of this file's own, into
 * and out of which `solve` copies the cells, and a counter on the device tells it which check it is. A second stream
 * brings each residual to the host, which looks at it while the GPU is busy with the next check: one check late.
 */
#include "lab8.h"

static int plate_rows, plate_cols, check_every, most_steps;
static float *cells[2];               /* two plates */
static float *d_residuals, *residual; /* of each check, 0 before; the host's copies, page-locked */
static int *d_check;                  /* the number of the check, from 1 on */
static cudaStream_t work, back;
static cudaGraphExec_t steps_to_a_check;
static cudaEvent_t stepped, arrived[2];

/* One thread: the next steps are those up to the next check. */
static __global__ void count_check(int *check) { (*check)++; }

/* A cell a thread. The last step up to a check finds its residual: floats that are not negative are in the same order
 * as their bits, read as integers. */
static __global__ void take_step(const float *old, float *now, int rows, int cols, bool last, const int *check,
                                 float *largest) {
#if defined(EARLY) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion(); /* the next step may come, and */
    cudaGridDependencySynchronize();           /* waits here for all of this one */
#endif
    const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y, i = r * cols + c;
    const bool exists = r < rows && c < cols;
    float change = 0;
    if (exists && (r == 0 || c == 0 || r == rows - 1 || c == cols - 1)) {
        now[i] = old[i];
    } else if (exists) {
        const float value = 0.25f * ((old[i - cols] + old[i + cols]) + (old[i - 1] + old[i + 1]));
        change = fabsf(value - old[i]);
        now[i] = value;
    }
    if (!last) return;
    for (int lanes = 16; lanes > 0; lanes /= 2) change = fmaxf(change, __shfl_xor_sync(0xffffffff, change, lanes));
    if (threadIdx.x == 0) atomicMax((int *)&largest[*check - 1], __float_as_int(change));
}

#ifdef EARLY
/* A step's blocks are set up while the step before still runs, as far as they do not need it: "programmatic dependent
 * launch", of cards of compute capability 9. What follows another kind of node waits for its end. */
static void launch_step(dim3 blocks, dim3 threads, const float *old, float *now, int step) {
    cudaLaunchAttribute early = {};
    cudaLaunchConfig_t config = {};
    int device, major = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    early.val.programmaticStreamSerializationAllowed = 1;
    config.gridDim = blocks, config.blockDim = threads, config.stream = work;
    config.attrs = &early, config.numAttrs = step > 1 && major >= 9 ? 1 : 0;
    cudaLaunchKernelEx(&config, take_step, old, now, plate_rows, plate_cols, step == check_every, (const int *)d_check,
                       d_residuals);
}
#else
static void launch_step(dim3 blocks, dim3 threads, const float *old, float *now, int step) {
    take_step<<<blocks, threads, 0, work>>>(old, now, plate_rows, plate_cols, step == check_every, d_check,
                                            d_residuals);
}
#endif

static void capture_steps(void) {
    const dim3 threads(32, 8), blocks((plate_cols + 31) / 32, (plate_rows + 7) / 8);
    const size_t bytes = (size_t)plate_rows * plate_cols * sizeof(float);
    cudaGraph_t graph;
    cudaStreamBeginCapture(work, cudaStreamCaptureModeGlobal);
    count_check<<<1, 1, 0, work>>>(d_check);
    for (int s = 1; s <= check_every; s++) launch_step(blocks, threads, cells[1 - s % 2], cells[s % 2], s);
    if (check_every % 2) /* the next launch begins with plate 0, too */
        cudaMemcpyAsync(cells[0], cells[1], bytes, cudaMemcpyDeviceToDevice, work);
    cudaStreamEndCapture(work, &graph);
    cudaGraphInstantiate(&steps_to_a_check, graph, 0);
    cudaGraphDestroy(graph);
}

extern "C" void setup(int rows, int cols, int every, int most) {
    const size_t bytes = (size_t)rows * cols * sizeof(float), checks = most / every;
    plate_rows = rows, plate_cols = cols, check_every = every, most_steps = most;
    for (int i = 0; i < 2; i++) cudaMalloc(&cells[i], bytes);
    cudaMalloc(&d_residuals, checks * sizeof(float));
    cudaMallocHost(&residual, checks * sizeof(float));
    cudaMalloc(&d_check, sizeof(int));
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&back, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&stepped, cudaEventDisableTiming);
    for (int i = 0; i < 2; i++) cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming);
    capture_steps();
}

/* Queues the steps up to the check with this number, from 0 on, and the way of its residual to the host. */
static void queue_check(int check) {
    cudaGraphLaunch(steps_to_a_check, work);
    cudaEventRecord(stepped, work);
    cudaStreamWaitEvent(back, stepped, 0);
    cudaMemcpyAsync(&residual[check], &d_residuals[check], sizeof(float), cudaMemcpyDeviceToHost, back);
    cudaEventRecord(arrived[check % 2], back);
}

extern "C" int solve(float *plate, float tolerance, float *residuals) {
    const size_t bytes = (size_t)plate_rows * plate_cols * sizeof(float);
    const int checks = most_steps / check_every;
    int queued = 0;
    bool goes_on = true;
    cudaMemcpyAsync(cells[0], plate, bytes, cudaMemcpyDeviceToDevice, work);
    cudaMemsetAsync(d_residuals, 0, checks * sizeof(float), work);
    cudaMemsetAsync(d_check, 0, sizeof(int), work);
    while (goes_on && queued < checks) {
        queue_check(queued++);
        if (queued == 1) continue;
        cudaEventSynchronize(arrived[queued % 2]); /* the residual of the check before */
        goes_on = residual[queued - 2] > tolerance;
    }
    cudaMemcpyAsync(plate, cells[0], bytes, cudaMemcpyDeviceToDevice, work);
    cudaStreamSynchronize(work);
    cudaStreamSynchronize(back);
    for (int i = 0; i < queued; i++) residuals[i] = residual[i];
    return queued * check_every;
}

extern "C" void cleanup(void) {
    cudaGraphExecDestroy(steps_to_a_check);
    for (int i = 0; i < 2; i++) cudaEventDestroy(arrived[i]);
    cudaEventDestroy(stepped);
    cudaStreamDestroy(work);
    cudaStreamDestroy(back);
    cudaFree(d_check);
    cudaFreeHost(residual);
    cudaFree(d_residuals);
    for (int i = 0; i < 2; i++) cudaFree(cells[i]);
}

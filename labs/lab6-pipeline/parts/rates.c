/* rates.c — see rates.h. */
#include "rates.h"
#include "ear.h"

int rate_runs(void) { return lab_lane() == LAB_SIM ? 1 : MOST_RUNS; }

static uint64_t timed_frames(void) { return (lab_small_job() ? 32u << 20 : 256u << 20) / FRAME_BYTES; }

run *timed_job(lab_program *program) { return run_new(program, timed_frames(), FRAME_BYTES, true); }

/* The judge is asked several times a chunk: to close its memory each time would be what the clock shows (lab_fence).
 * The programs are the harness's own. */
measured program_measured(lab_program *program) {
    run *r = timed_job(program);
    double us[MOST_RUNS];
    lab_fence(false);
    for (int i = 0; i <= rate_runs(); i++) { /* once more, with its calls noted, which a card's clock would show */
        const bool last = i == rate_runs();
        if (lab_lane() == LAB_SIM && !last) continue;
        cudaError_t error = run_once(r, last, false);
        if (error) lab_die("a program of the harness failed: %s", cudaGetErrorString(error));
        if (!last || lab_lane() == LAB_SIM) us[last ? 0 : i] = run_us(r);
    }
    lab_fence(true);
    return (measured){lab_middle_of(us, rate_runs()).median,
                      !r->trouble,
                      r->chunks,
                      (double)ear->pinned_most,
                      (double)ear->device_most,
                      (double)ear->pinned_most + ear->c_bytes};
}

/* --- the engines ------------------------------------------------------------------------------------ */

enum { GPU_PIECES = 8 };

typedef struct {
    lab_program *nobody; /* a program that is opened and never played: its device is used */
    size_t bytes;
    void *host[2], *device[2];
    cudaStream_t stream[2];
} ends;

enum { UP = 1, DOWN = 2 };

static void copies(const ends *l, int which) {
    const int pieces = lab_lane() == LAB_SIM ? 1 : GPU_PIECES;
    const size_t bytes = l->bytes / (size_t)pieces;
    for (int i = 0; i < pieces; i++) {
        if (which & UP)
            LAB_CUDA(cudaMemcpyAsync(l->device[0], l->host[0], bytes, cudaMemcpyHostToDevice, l->stream[0]));
        if (which & DOWN)
            LAB_CUDA(cudaMemcpyAsync(l->host[1], l->device[1], bytes, cudaMemcpyDeviceToHost, l->stream[1]));
    }
}

static void copy_up(const ends *l) { copies(l, UP); }
static void copy_down(const ends *l) { copies(l, DOWN); }
static void copy_both(const ends *l) { copies(l, UP | DOWN); }
static void kernel_alone(const ends *l) {
    const struct lab6_message m = {.alone = (uint64_t)l->device[0], .kernel = {l->bytes / 4, 0, 1, LAB6_FULL}};
    lab_play(l->nobody, &m, sizeof m, NULL, 0);
}

static double time_of(const ends *l, void (*work)(const ends *)) {
    double us[MOST_RUNS];
    for (int i = 0; i < rate_runs(); i++) {
        LAB_CUDA(cudaDeviceSynchronize());
        const double begin = lab_now();
        work(l);
        LAB_CUDA(cudaDeviceSynchronize());
        us[i] = (lab_now() - begin) / 1e3;
    }
    return lab_middle_of(us, rate_runs()).median;
}

engine_times engine_times_of(void) {
    ends l = {.nobody = lab_open(LAB_REFERENCE, NULL), .bytes = timed_frames() * FRAME_BYTES};
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaHostAlloc(&l.host[i], l.bytes, cudaHostAllocDefault));
        LAB_CUDA(cudaMalloc(&l.device[i], l.bytes));
        LAB_CUDA(cudaStreamCreateWithFlags(&l.stream[i], cudaStreamNonBlocking));
    }
    engine_times t;
    t.up = LAB_OTHER("up", time_of(&l, copy_up));
    t.kernels = LAB_OTHER("kernels", time_of(&l, kernel_alone));
    t.down = LAB_OTHER("down", time_of(&l, copy_down));
    t.both = LAB_OTHER("both", time_of(&l, copy_both));
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaStreamDestroy(l.stream[i]));
        LAB_CUDA(cudaFree(l.device[i]));
        LAB_CUDA(cudaFreeHost(l.host[i]));
    }
    return t;
}

lab_floor limit_of(const engine_times *t) {
    return t->both > t->kernels ? (lab_floor){"link", t->both} : (lab_floor){"kernels", t->kernels};
}

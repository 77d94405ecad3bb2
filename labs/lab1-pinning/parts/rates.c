/* rates.c — see rates.h. */
#include "rates.h"

int rate_runs(void) { return lab_lane() == LAB_SIM ? 1 : MOST_RUNS; }

run *way_job(lab_program *program, enum way way) {
    const bool small_job = lab_small_job();
    uint32_t large = small_job ? 1 << 20 : 4 << 20, small = large / STAMP_WORDS; /* words */
    return run_new(program, small_job ? 32 : 64, way == TO_HOST ? small : large, way == TO_DEVICE ? small : large,
                   true);
}

const char *way_name(enum way way) {
    static const char *const names[WAYS] = {"to the device", "to the host", "both ways"};
    return names[way];
}

double way_rate(lab_program *program, enum way way, double *around_us, bool *right) {
    run *r = way_job(program, way);
    double gbs[MOST_RUNS];
    for (int i = 0; i < rate_runs(); i++) {
        cudaError_t error = run_once(r, false, false);
        if (error) lab_die("a program of the harness failed: %s", cudaGetErrorString(error));
        if (around_us) *around_us = (lab_now() - r->called - (r->end - r->begin)) / 1e3;
        if (right) *right = !r->failure[0];
        gbs[i] = run_rate(r);
    }
    return lab_middle_of(gbs, rate_runs()).median;
}

/* --- the link --------------------------------------------------------------------------------------- */

typedef struct {
    enum way way;
    size_t bytes;
    void *host[2], *device[2];
    cudaStream_t stream[2];
} ends;

static double once_us(const ends *l) {
    LAB_CUDA(cudaDeviceSynchronize());
    double begin = lab_now();
    if (l->way != TO_HOST)
        LAB_CUDA(cudaMemcpyAsync(l->device[0], l->host[0], l->bytes, cudaMemcpyHostToDevice, l->stream[0]));
    if (l->way != TO_DEVICE)
        LAB_CUDA(cudaMemcpyAsync(l->host[1], l->device[1], l->bytes, cudaMemcpyDeviceToHost, l->stream[1]));
    LAB_CUDA(cudaDeviceSynchronize());
    return (lab_now() - begin) / 1e3;
}

/* On a device of its own: that of a program which is opened and never played. */
double link_rate(enum way way) {
    static lab_program *nobody;
    ends l = {.way = way, .bytes = (size_t)(lab_small_job() ? 64 : 256) << 20};
    double us[MOST_RUNS];
    if (!nobody) nobody = lab_open(LAB_REFERENCE, NULL);
    lab_use(nobody);
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaHostAlloc(&l.host[i], l.bytes, cudaHostAllocDefault));
        LAB_CUDA(cudaMalloc(&l.device[i], l.bytes));
        LAB_CUDA(cudaStreamCreateWithFlags(&l.stream[i], cudaStreamNonBlocking));
    }
    for (int i = 0; i < rate_runs(); i++) us[i] = once_us(&l);
    for (int i = 0; i < 2; i++) {
        LAB_CUDA(cudaStreamDestroy(l.stream[i]));
        LAB_CUDA(cudaFree(l.device[i]));
        LAB_CUDA(cudaFreeHost(l.host[i]));
    }
    return lab_gbs((way == BOTH ? 2.0 : 1.0) * (double)l.bytes, lab_middle_of(us, rate_runs()).median);
}

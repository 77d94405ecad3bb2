/* lane.c — the one file that knows which lane it is compiled for.
 *
 * The sim lane is the one whose include path has SimGPU's own header; it links SimGPU in place of NVIDIA's runtime.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#if __has_include(<simgpu.h>)
#include <simgpu.h>

int lab_lane(void) { return LAB_SIM; }
bool lab_small_job(void) { return true; }
const char *lab_lane_name(void) { return "sim"; }
const char *lab_device_name(void) { return simgpuDeviceName(); }
double lab_now(void) { return (double)simgpuHostTime(); }
double lab_link_gbs(void) { return simgpuLinkRate(); }

void lab_count_begin(const char *name) { simgpuMark(name); }
void lab_count_end(void) { simgpuMark(LAB_COUNT_END); }

static int checking = 1; /* what simgpuCheck takes */
void lab_check_hazards(bool on) { simgpuCheck(on ? checking : 0); }
void lab_hazards_on_card(void) { checking = 2; }

/* simgpuUseDevice waits for the card in use, even if that is the one asked for; a message must not. */
static int in_use;
int lab_new_device(void) { return in_use = simgpuNewDevice(); }
void lab_use_device(int device) {
    if (device != in_use) simgpuUseDevice(device);
    in_use = device;
}
void lab_flush_l2(void) { simgpuFlushCache(); }
void lab_warm_code(void) { simgpuWarmCode(); }
void lab_hold_device(void) { simgpuHoldDevice(150000); }

/* Names on stderr the run that SimGPU's message is of: a card tells of the first mistake only, and messages of later
 * runs stand above it. A finding and a refused call have been printed before their event, a fault is printed after it.
 * Several messages of one run are named once. */
static void name_run(const struct simgpu_event *e, void *none) {
    static char named[256];
    const char *run = lab_stage_text();
    const bool finding = e->kind == SIMGPU_FINDING && checking == 1;
    (void)none;
    if (e->kind == SIMGPU_LAUNCH && e->is.launch.fault) fprintf(stderr, "in %s:\n", run);
    if (!finding && !(e->kind == SIMGPU_REFUSAL && e->is.refusal.text[0])) return;
    if (strcmp(named, run) != 0) fprintf(stderr, "  (in %s)\n", run);
    LAB_SAY(named, "%s", run);
}

void lab_hear_simgpu(void) {
    simgpuOddMemory(); /* no program is right because what it has not written is zero */
    simgpuLanesWait(); /* or because a card is lenient */
    if (simgpuListen(name_run, NULL) || simgpuListen(lab_hear, NULL)) lab_die("SimGPU takes no more listeners");
}

/* Seven times the largest launch of a lab (one of lab 0), and ten seconds of two quiet cores. */
void lab_limit_launches(void) { simgpuLaunchBudget(1u << 28); }

const char *lab_say_slowest(const lab_usage *u, char *text, size_t size) {
    char why[256];
    const struct simgpu_launch *l = lab_slowest(u);
    bool others = false; /* kernels of other names */
    for (int i = 0; l && i < u->nevents; i++)
        others = others || (u->events[i].kind == SIMGPU_LAUNCH && strcmp(u->events[i].is.launch.name, l->name) != 0);
    if (!l) return lab_text(text, size, "%s", ""), text;
    lab_text(text, size, "; the slowest kernel%s%s: %s", others ? ", " : "", others ? l->name : "",
             simgpuSayBound(l, why, sizeof why));
    return text;
}
const char *lab_say_fault(const struct simgpu_fault *f, enum simgpu_part part, char *text, size_t size) {
    return simgpuSayFault(f, part, text, size);
}
const char *lab_say_finding(const struct simgpu_finding *f, enum simgpu_part part, char *text, size_t size) {
    return simgpuSayFinding(f, part, text, size);
}
const char *lab_say_gap(const struct simgpu_gap *g, char *text, size_t size) { return simgpuSayGap(g, text, size); }

#else

#include <dlfcn.h>

int lab_lane(void) { return LAB_GPU; }
bool lab_small_job(void) {
    const char *size = getenv("LAB_SIZE");
    return size && !strcmp(size, "sim");
}
const char *lab_lane_name(void) { return "gpu"; }

const char *lab_device_name(void) {
    static struct cudaDeviceProp prop;
    if (!prop.name[0]) LAB_CUDA(cudaGetDeviceProperties(&prop, 0));
    return prop.name;
}

double lab_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

double lab_link_gbs(void) {
    char bus_id[32] = "";
    int device = 0;
    LAB_CUDA(cudaGetDevice(&device));
    LAB_CUDA(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
    return lab_pcie_gbs(bus_id, "/sys/bus/pci/devices");
}

/* Writes twice the cache's size, so that nothing of the data is left in it. A carve-out of L2 that student code set
 * aside would survive this, so it is reset first. */
void lab_flush_l2(void) {
    static void *junk;
    static size_t bytes;
    if (!junk) {
        int l2 = 0;
        LAB_CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0));
        bytes = l2 > 0 ? 2 * (size_t)l2 : (size_t)128 << 20;
        LAB_CUDA(cudaMalloc(&junk, bytes));
    }
    cudaCtxResetPersistingL2Cache(); /* cards without the feature refuse, and need no reset */
    cudaGetLastError();
    LAB_CUDA(cudaMemset(junk, 0, bytes));
}

void lab_warm_code(void) {}

/* Keeps stream 0 busy for about 0.15 ms. What the host queues meanwhile runs without gaps, so that the time between two
 * events is the device's alone. A copy to the host leaves nothing in L2 that must be written back; but a kernel behind
 * it waits for another engine, on an H200 1 to 5 us, and the first event does not. So four bytes are set before that
 * event. */
void lab_hold_device(void) {
    enum { BYTES = 8 << 20 };
    static void *from, *to;
    if (!from) {
        LAB_CUDA(cudaMalloc(&from, BYTES));
        LAB_CUDA(cudaMallocHost(&to, BYTES));
    }
    LAB_CUDA(cudaMemcpyAsync(to, from, BYTES, cudaMemcpyDeviceToHost, 0));
    LAB_CUDA(cudaMemsetAsync(from, 0, 4, 0));
}

int lab_new_device(void) { return 0; }
void lab_use_device(int device) { (void)device; }

/* A mark in the trace of a card, where one is written (common/cupti/trace.c). */
void lab_count_begin(const char *name) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void (*mark)(const char *) = library ? (void (*)(const char *))dlsym(library, "bluebar_trace_mark") : NULL;
    if (mark) mark(name);
}
void lab_count_end(void) { lab_count_begin(LAB_COUNT_END); }

void lab_check_hazards(bool on) { (void)on; }
void lab_hazards_on_card(void) {}
void lab_hear_simgpu(void) {}
void lab_limit_launches(void) {}

/* A card reports none of these, so each text is empty. */
static const char *nothing(char *text, size_t size) {
    if (size) text[0] = 0;
    return text;
}
const char *lab_say_slowest(const lab_usage *u, char *text, size_t size) { return (void)u, nothing(text, size); }
const char *lab_say_fault(const struct simgpu_fault *f, enum simgpu_part part, char *text, size_t size) {
    return (void)f, (void)part, nothing(text, size);
}
const char *lab_say_finding(const struct simgpu_finding *f, enum simgpu_part part, char *text, size_t size) {
    return (void)f, (void)part, nothing(text, size);
}
const char *lab_say_gap(const struct simgpu_gap *g, char *text, size_t size) { return (void)g, nothing(text, size); }

#endif

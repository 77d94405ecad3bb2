/* sited.c — simgpuX for each cudaX whose C++ declaration passes the caller's file and line, and SimGPU's own API
 * (simgpu.h). Each notes the place and calls the plain function. */
#include "rt.h"
#include "../check/check.h"
#include "../include/simgpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define API(Name, what, sited, labs, note, arguments, ...) sited(Name, arguments, __VA_ARGS__)
#define API0(Name, what, sited, labs)                      sited##0(Name)
#define SITED(Name, arguments, ...)                                                                                    \
    cudaError_t simgpu##Name(__VA_ARGS__, const char *file, int line);                                                 \
    cudaError_t simgpu##Name(__VA_ARGS__, const char *file, int line) {                                                \
        rt_at(file, line);                                                                                             \
        return cuda##Name arguments;                                                                                   \
    }
#define SITED0(Name)                                                                                                   \
    cudaError_t simgpu##Name(const char *file, int line);                                                              \
    cudaError_t simgpu##Name(const char *file, int line) {                                                             \
        rt_at(file, line);                                                                                             \
        return cuda##Name();                                                                                           \
    }
#define PLAIN(...)
#define PLAIN0(...)
#include "../include/cuda_api.def"

/* --- simgpu.h ----------------------------------------------------------------------------------------------- */

/* A listener asks for it between the <<< >>> of a launch and the launch, whose line stays. */
uint64_t simgpuHostTime(void) {
    const char *file;
    int line;
    rt_at_next(&file, &line);
    rt_begin(__func__);
    uint64_t ns = (uint64_t)(time_host_ns() + 0.5);
    rt_end(cudaSuccess);
    rt_at(file, line);
    return ns;
}

/* Names and files of callers are kept: messages and reports point to them. Behind the first messages the line is not
 * looked up any more, which takes milliseconds; rt_say prints no more either. */
void simgpuSayOfCaller(const char *text) {
    enum { MOST = 20 };
    static _Atomic int calls;
    if (calls++ >= MOST) return;
    const void *site;
    const char *function;
    char name[128];
    check_host_caller(&site, &function);
    const struct simgpu_place p = check_host_line(site);
    snprintf(name, sizeof name, "%s", function ? base_library_name(function).text : "a call of a library");
    rt_at(p.file ? base_must(strdup(p.file), "the host has no memory left for a message") : NULL, (int)p.line);
    rt_begin(base_must(strdup(name), "the host has no memory left for a message"));
    rt_say("%s", text);
    rt_end(cudaSuccess);
}

/* The work belongs to the host thread, or to the host function that is running. */
static void work(const char *name, double ns, const char *file, int line) {
    rt_at(file, line);
    rt_begin(name);
    time_charge(HOST_WORKS, ns);
    rt_end(cudaSuccess);
}

void simgpuHostTaskAt(const char *name, uint64_t ns, const char *file, int line);
void simgpuHostWorkAt(uint64_t ns, const char *file, int line);

void simgpuHostTaskAt(const char *name, uint64_t ns, const char *file, int line) { work(name, (double)ns, file, line); }
void simgpuHostWorkAt(uint64_t ns, const char *file, int line) { work("host work", (double)ns, file, line); }
void simgpuHostTask(const char *name, uint64_t ns) { work(name, (double)ns, NULL, 0); }
void simgpuHostWork(uint64_t ns) { work("host work", (double)ns, NULL, 0); }

void *simgpuHostMemcpy(void *to, const void *from, size_t bytes, const char *file, int line);
void *simgpuHostMemmove(void *to, const void *from, size_t bytes, const char *file, int line);
void *simgpuHostMemset(void *to, int value, size_t bytes, const char *file, int line);

/* Moves the bytes first and charges the time then, so that a use of a buffer that is too early shows for certain. */
void *simgpuHostMemcpy(void *to, const void *from, size_t bytes, const char *file, int line) {
    memcpy(to, from, bytes);
    work("memcpy", (double)bytes / time_profile_get()->host_memcpy_gbs, file, line);
    return to;
}
void *simgpuHostMemmove(void *to, const void *from, size_t bytes, const char *file, int line) {
    memmove(to, from, bytes);
    work("memmove", (double)bytes / time_profile_get()->host_memcpy_gbs, file, line);
    return to;
}
void *simgpuHostMemset(void *to, int value, size_t bytes, const char *file, int line) {
    memset(to, value, bytes);
    work("memset", (double)bytes / time_profile_get()->host_memset_gbs, file, line);
    return to;
}

void simgpuDeviceMemory(uint64_t bytes) {
    rt_begin(__func__);
    rt_device_limit(bytes);
    rt_end(cudaSuccess);
}

void simgpuOddMemory(void) {
    rt_begin(__func__);
    exec_mem_fresh(EXEC_FRESH);
    rt_end(cudaSuccess);
}

void simgpuLaunchBudget(uint64_t warp_instructions) {
    rt_begin(__func__);
    exec_launch_budget(warp_instructions);
    rt_end(cudaSuccess);
}

void simgpuLanesWait(void) {
    rt_begin(__func__);
    exec_lanes_wait();
    rt_end(cudaSuccess);
}

void simgpuMark(const char *name) {
    rt_begin(__func__);
    time_activity_mark(name ? name : "");
    rt_end(cudaSuccess);
}

void simgpuFlushCache(void) {
    rt_begin(__func__);
    if (!time_all_idle()) time_wait_all();
    exec_l2_flush(time_exec());
    rt_end(cudaSuccess);
}

void simgpuWarmCode(void) {
    rt_begin(__func__);
    if (!time_all_idle()) time_wait_all();
    exec_fetch_warm(time_exec());
    rt_end(cudaSuccess);
}

void simgpuHoldDevice(uint64_t ns) {
    rt_begin(__func__);
    time_hold((double)ns);
    rt_end(cudaSuccess);
}

int simgpuReport(const char *path) {
    rt_begin(__func__);
    if (!time_all_idle()) time_wait_all();
    int failed = time_report_to(path);
    if (failed) fprintf(stderr, "simgpu: the report %s cannot be opened: %s\n", path, strerror(errno));
    rt_end(cudaSuccess);
    return failed;
}

int simgpuListen(simgpu_listener hear, void *context) {
    rt_begin(__func__);
    int failed = time_events_listen(hear, context);
    rt_end(cudaSuccess);
    return failed;
}

void simgpuCheck(int on) {
    rt_begin(__func__);
    if (!time_all_idle()) time_wait_all(); /* earlier commands run with the old setting */
    check_finding_print(on != 2);
    check_enable(on != 0);
    rt_end(cudaSuccess);
}

double simgpuLinkRate(void) {
    rt_begin(__func__);
    double rate = time_profile_get()->link_gbs;
    rt_end(cudaSuccess);
    return rate;
}

const char *simgpuDeviceName(void) {
    static char name[80];
    rt_begin(__func__);
    snprintf(name, sizeof name, "virtual %s", time_profile_get()->name);
    rt_end(cudaSuccess);
    return name;
}

/* errors.c — the frame of every API call, and CUDA's rules for errors.
 *
 * A call that fails returns its error and leaves it as the thread's last error; cudaGetLastError reads and clears it.
 * A kernel that fails kills the context: its error is sticky, every later call returns it, nothing clears it. */
#include "rt.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* recursive: cudaLaunchHostFunc's callbacks */
static _Thread_local cudaError_t last_error;
static _Thread_local const char *at_file, *call_file, *call_name;
static _Thread_local int at_line, call_line;
static cudaError_t sticky;

static struct {
    cudaError_t error;
    char text[512];
} missed; /* a launch's error that nobody has read yet */

/* --- set-up and exit ---------------------------------------------------------------------------------------- */

static void at_exit(void) {
    pthread_mutex_lock(&lock);
    if (sticky == cudaSuccess && !time_all_idle()) {
        time_wait_all(); /* so that the report is whole and a late fault is seen */
        if (time_fault()) fprintf(stderr, "%s\n", time_fault()->message);
    }
    report_to(NULL);
    if (missed.error != cudaSuccess) fputs(missed.text, stderr);
    pthread_mutex_unlock(&lock);
}

static void set_up(void) {
    static bool done;
    if (done) return;
    done = true;
    mem_init((uint64_t)time_profile_get()->memory_bytes);
    rt_catch_host_faults();
    const char *report = getenv("SIMGPU_REPORT");
    if (report && *report && report_to(report)) {
        fprintf(stderr, "simgpu: SIMGPU_REPORT: cannot write %s; name a file in a folder that exists\n", report);
        exit(2);
    }
    atexit(at_exit);
}

/* --- the frame ---------------------------------------------------------------------------------------------- */

static cudaError_t code_of(exec_status s) {
    switch (s) {
    case EXEC_OK: return cudaSuccess;
    case EXEC_UNSUPPORTED: return cudaErrorNotSupported;
    case EXEC_ILLEGAL_ADDRESS: return cudaErrorIllegalAddress;
    case EXEC_MISALIGNED: return cudaErrorMisalignedAddress;
    case EXEC_BUDGET:
    case EXEC_DEADLOCK: return cudaErrorLaunchTimeout;
    case EXEC_ASSERT: return cudaErrorAssert;
    default: return cudaErrorLaunchFailure;
    }
}

/* A kernel may have failed since the last look. */
static cudaError_t look_for_fault(void) {
    const exec_fault *fault = time_fault();
    if (fault && sticky == cudaSuccess) {
        sticky = code_of(fault->status);
        size_t n = strlen(fault->message);
        fprintf(stderr, "%s%s", fault->message, n && fault->message[n - 1] == '\n' ? "" : "\n");
    }
    return sticky;
}

cudaError_t rt_begin(const char *call) {
    pthread_mutex_lock(&lock);
    set_up();
    call_name = call;
    call_file = at_file;
    call_line = at_line;
    at_file = NULL;
    time_catch_up();
    return look_for_fault();
}

cudaError_t rt_end(cudaError_t error) {
    if (error == cudaSuccess) error = look_for_fault();
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    pthread_mutex_unlock(&lock);
    return error;
}

void rt_at(const char *file, int line) {
    at_file = file;
    at_line = line;
}
const char *rt_file(void) { return call_file; }
int rt_line(void) { return call_line; }

/* --- messages ----------------------------------------------------------------------------------------------- */

enum { MESSAGES_MAX = 20 }; /* a loop of bad calls should not bury its first message */

void rt_say(const char *format, ...) {
    static int said;
    if (said == MESSAGES_MAX) fputs("simgpu: more messages of this kind are left out\n", stderr);
    if (++said > MESSAGES_MAX) return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (call_file)
        fprintf(stderr, "simgpu: %s:%d: %s: %s\n", call_file, call_line, call_name, text);
    else
        fprintf(stderr, "simgpu: %s: %s\n", call_name, text);
}

void rt_launch_failed(cudaError_t error, const char *kernel) {
    missed.error = error;
    char place[300] = "";
    if (call_file) snprintf(place, sizeof place, "%s:%d: ", call_file, call_line);
    snprintf(missed.text, sizeof missed.text,
             "simgpu: %s%s from the launch of %s was never read; call cudaGetLastError() after a launch\n", place,
             cudaGetErrorName(error), kernel);
}

/* Says the name of an API function that SimGPU lacks, once each. */
cudaError_t rt_unsupported(const char *call) {
    static const char *told[512];
    cudaError_t dead = rt_begin(call);
    int i = 0;
    while (told[i] && strcmp(told[i], call)) i++;
    if (!told[i] && i < 511) {
        told[i] = call;
        fprintf(stderr, "simgpu: %s is not supported; it returns cudaErrorNotSupported\n", call);
    }
    return rt_end(dead != cudaSuccess ? dead : cudaErrorNotSupported);
}

/* --- the API ------------------------------------------------------------------------------------------------ */

cudaError_t cudaGetLastError(void) {
    cudaError_t dead = rt_begin(__func__), error = dead != cudaSuccess ? dead : last_error;
    missed.error = cudaSuccess;
    rt_end(cudaSuccess);
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    cudaError_t dead = rt_begin(__func__), error = dead != cudaSuccess ? dead : last_error;
    missed.error = cudaSuccess;
    rt_end(cudaSuccess);
    return error;
}

const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUDA_ERROR(name, number, text)                                                                                 \
    case name:                                                                                                         \
        return #name;
#include "../include/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define CUDA_ERROR(name, number, text)                                                                                 \
    case name:                                                                                                         \
        return text;
#include "../include/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

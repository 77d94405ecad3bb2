/* children.c — what kernels ask of the runtime: whether a launch is within the limits, properties, occupancy
 * (exec/children.c). They ask while a command runs, so nothing here may touch the queues. */
#include "rt.h"

#include <string.h>

static struct device *device_with(const exec_program *p) {
    for (uint32_t k = 0; k < rt_cards(); k++)
        if (rt_device->machine[k]->exec == exec_device_of(p)) return rt_device->machine[k];
    return rt_device;
}

/* A limit that the host has set holds for launches by kernels too. */
static uint64_t most_shared(const ptx_function *f) {
    const rt_kernel *k = rt_kernel_of(f);
    return k ? *rt_kernel_most_shared(k) : 0;
}

/* Every launch beyond a limit has one code on an H200. */
static int admit(exec_launch *child, struct simgpu_place at) {
    time_site before = rt_speak_as((time_site){"a launch in a kernel", at.file, at.line});
    cudaError_t e = rt_launch_admit(child, most_shared(child->kernel));
    rt_speak_as(before);
    return e == cudaSuccess || e == cudaErrorNotSupported ? (int)e : (int)cudaErrorInvalidConfiguration;
}

static uint64_t most_waiting(void) { return rt_device->limits[cudaLimitDevRuntimePendingLaunchCount]; }

static void answer_int(exec_question *q, int value) { memcpy(q->answer, &value, q->bytes = sizeof value); }

static cudaError_t ask_limit(exec_question *q) {
    if (!rt_has_limit((enum cudaLimit)q->argument[0])) return cudaErrorUnsupportedLimit;
    memcpy(q->answer, &device_with(q->program)->limits[q->argument[0]], q->bytes = sizeof(size_t));
    return cudaSuccess;
}

static cudaError_t ask_attribute(exec_question *q) {
    int value;
    if ((uint32_t)q->argument[1] >= rt_cards()) return cudaErrorInvalidDevice;
    if (!rt_attribute((enum cudaDeviceAttr)q->argument[0], &value)) return cudaErrorInvalidValue;
    answer_int(q, value);
    return cudaSuccess;
}

static cudaError_t ask_kernel(exec_question *q) {
    struct cudaFuncAttributes a;
    if (!q->kernel) return cudaErrorInvalidDeviceFunction;
    rt_kernel_attributes(&a, q->kernel, most_shared(q->kernel));
    memcpy(q->answer, &a, q->bytes = sizeof a);
    return cudaSuccess;
}

static cudaError_t ask_occupancy(exec_question *q) {
    if (!q->kernel) return cudaErrorInvalidDeviceFunction;
    if ((int)q->argument[1] < 1) return cudaErrorInvalidValue;
    answer_int(q, rt_kernel_occupancy(q->kernel, most_shared(q->kernel), (int)q->argument[1], q->argument[2]));
    return cudaSuccess;
}

static int ask(exec_question *q) {
    cudaError_t e = cudaSuccess;
    _Static_assert(sizeof(struct cudaFuncAttributes) <= sizeof q->answer, "the largest answer");
    if (!strcmp(q->name, "DeviceGetLimit"))
        e = ask_limit(q);
    else if (!strcmp(q->name, "DeviceGetAttribute"))
        e = ask_attribute(q);
    else if (!strcmp(q->name, "FuncGetAttributes"))
        e = ask_kernel(q);
    else if (!strncmp(q->name, "Occupancy", strlen("Occupancy")))
        e = ask_occupancy(q);
    else if (!strcmp(q->name, "GetDevice"))
        answer_int(q, (int)device_with(q->program)->ordinal);
    else if (!strcmp(q->name, "GetDeviceCount"))
        answer_int(q, (int)rt_cards());
    else
        answer_int(q, 6000); /* the version of the device runtime, on an H200 with CUDA 13 */
    return (int)e;
}

static const char *text(int error, bool name) {
    return name ? cudaGetErrorName((cudaError_t)error) : cudaGetErrorString((cudaError_t)error);
}

void rt_serve_kernels(void) { exec_runtime_host = (exec_runtime){admit, most_waiting, ask, text}; }

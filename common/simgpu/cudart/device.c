/* device.c — the life of a card: set-up at the first call, further cards (simgpuNewDevice, simgpuUseDevice), reset, and
 * the program's end.
 *
 * A process begins with one card. simgpuNewDevice makes a fresh one and uses it from then on. The program sees it as
 * device 0 again, with a clock that begins at 0, empty memory, and modules that load at their first use. So a run on it
 * gives the same numbers after any earlier run. */
#include "rt.h"

#include "../include/simgpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device *rt_device;

static uint32_t machine_size = 1; /* devices of each machine, SIMGPU_DEVICES */
static struct device **devices;   /* device n is at index n - 1 */
static uint32_t ndevices;

/* --- a card ------------------------------------------------------------------------------------------------- */

static const size_t default_limits[RT_LIMITS] = {
    [cudaLimitStackSize] = 1024,           [cudaLimitPrintfFifoSize] = 8650752,
    [cudaLimitMallocHeapSize] = 8 << 20,   [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64, [cudaLimitPersistingL2CacheSize] = 11796480};

static void *need(void *memory) { return base_must(memory, "the host has no memory left for a device"); }

static void set_default_limits(struct device *d) {
    memcpy(d->limits, default_limits, sizeof d->limits);
    exec_heap_limit(d->exec, d->limits[cudaLimitMallocHeapSize]);
    exec_print_limit(d->exec, d->limits[cudaLimitPrintfFifoSize]);
}

static struct device *new_card(struct device **machine, uint32_t ordinal) {
    struct device *d = need(calloc(1, sizeof *d)), *first = machine[0];
    devices = need(realloc(devices, (ndevices + 1) * sizeof *devices));
    devices[ndevices] = d;
    d->number = ++ndevices;
    d->ordinal = ordinal;
    d->machine = machine;
    d->exec = first ? exec_device_beside(first->exec, ordinal) : exec_device_new(time_card());
    d->time = first ? first->time : time_device_new(d->exec);
    d->check = first ? first->check : check_device_new();
    d->memory_limit = UINT64_MAX;
    set_default_limits(d);
    d->hints = RT_NO_HINTS;
    rt_pool_init(&d->pool, d);
    return machine[ordinal] = d;
}

/* Makes a machine. Returns its first device. */
static struct device *new_device(void) {
    struct device **machine = need(calloc(machine_size, sizeof *machine));
    struct device *first = new_card(machine, 0);
    for (uint32_t k = 1; k < machine_size; k++) {
        const struct device *d = new_card(machine, k);
        time_use(first->time);
        time_add_card(d->exec, k);
    }
    return first;
}

static void use(struct device *d) {
    rt_device = d;
    time_use(d->time);
    time_use_card(d->ordinal);
    check_use(d->check);
    time_events_device(d->machine[0]->number);
}

/* --- set-up and exit ---------------------------------------------------------------------------------------- */

/* Waits for queued work, so that the report is complete and a late fault is printed. */
static void finish(void) {
    time_managed_look();
    time_activity_call((time_site){"exit", NULL, 0}, SIMGPU_WAITS);
    if (rt_device->sticky == cudaSuccess && !time_all_idle()) {
        time_wait_all();
        if (time_fault()) rt_say_fault(time_fault());
    }
    check_host_say();
}

static void at_exit(void) {
    struct device *last = rt_device;
    if (rt_inside() && !time_in_host_function()) { /* a signal handler has ended the program in a call */
        if (rt_left_by_jump())
            base_say("simgpu: a signal handler has left a call by siglongjmp, so the work after it is unknown, and the "
                     "report has no end; let the handler set a flag, and look at it between calls");
        return;
    }
    rt_lock();
    for (uint32_t k = 0; k < ndevices; k++) { /* leave() has finished all but the last one */
        use(devices[k]);
        if (rt_device->machine == last->machine) finish();
        if (rt_device->missed.error != cudaSuccess) fputs(rt_device->missed.text, stderr);
    }
    use(last);
    time_report_to(NULL);
    time_trace_to(NULL);
    rt_unlock();
}

/* fork() waits until no thread is in a call, so the child's state is consistent and its lock is free (unless a host
 * function forks, inside a call). */
static void before_fork(void) {
    rt_lock();
    exec_managed_before_fork();
}
static void in_parent(void) {
    exec_managed_in_parent();
    rt_unlock();
}
static void in_child(void) {
    exec_managed_in_child();
    rt_lock_anew();
}

static void open_as_asked(const char *variable, int (*to)(const char *path)) {
    const char *path = getenv(variable);
    if (!path || !*path || !to(path)) return;
    base_refuse("%s: cannot write %s: %s", variable, path, strerror(errno));
}

/* A shared object that listens, common/play for one. Its exit handlers come before ours, so they run behind them, when
 * the last events have been sent. It needs our names, which a program that opens us privately (dlopen) does not show.
 */
static void open_listener(void) {
    const char *path = getenv("SIMGPU_LISTENER");
    if (!path || !*path) return;
    Dl_info me;
    if (dladdr(&rt_device, &me)) dlopen(me.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    simgpu_begins *begin = object ? (simgpu_begins *)dlsym(object, "simgpuListener") : NULL;
    if (!begin) base_refuse("SIMGPU_LISTENER: %s", dlerror());
    begin(time_events_listen);
}

static void read_machine_size(void) {
    const char *text = getenv("SIMGPU_DEVICES");
    if (!text || !*text) return;
    char *end;
    long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > TIME_CARDS)
        base_refuse("SIMGPU_DEVICES=%s: a machine has 1 to %d devices", text, TIME_CARDS);
    machine_size = (uint32_t)n;
    exec_machines_of(machine_size);
}

void rt_set_up(void) {
    if (rt_device) return;
    read_machine_size();
    use(new_device());
    rt_catch_host_faults();
    rt_serve_kernels();
    const char *check = getenv("SIMGPU_CHECK");
    if (check && *check && strcmp(check, "0")) check_enable(true);
    open_as_asked("SIMGPU_REPORT", time_report_to);
    open_as_asked("TRACE", time_trace_to);
    open_listener();
    atexit(at_exit);
    pthread_atfork(before_fork, in_parent, in_child);
}

/* --- the devices of a machine --------------------------------------------------------------------------------- */

static _Thread_local uint32_t chosen;
static _Thread_local const void *context;    /* the chosen one; NULL: the device's primary context */
static _Thread_local struct device *visited; /* by calls of the driver API; NULL: they use the chosen one */

uint32_t rt_cards(void) { return machine_size; }
struct device *rt_first(void) {
    return rt_device->machine[0];
}
void rt_choose(uint32_t ordinal, const void *its_context) {
    chosen = ordinal;
    context = its_context;
}
uint32_t rt_chosen(void) { return chosen; }
const void *rt_context(void) { return context; }
void rt_visit(struct device *d) { visited = d; }

void rt_select_this(struct device *d) {
    if (d == rt_device) return;
    rt_device = d;
    time_use_card(d->ordinal);
}
void rt_select(bool by_driver) { rt_select_this(by_driver && visited ? visited : rt_device->machine[chosen]); }

struct device *rt_owner(uint64_t address) {
    const exec_device *e = exec_mem_owner(rt_device->exec, address);
    for (uint32_t k = 0; k < machine_size; k++)
        if (rt_device->machine[k]->exec == e) return rt_device->machine[k];
    return rt_device;
}

cudaError_t rt_check_device(int device) {
    if (device >= 0 && (uint32_t)device < machine_size) return cudaSuccess;
    if (machine_size == 1)
        rt_say("there is no device %d; SimGPU has one, number 0; SIMGPU_DEVICES=2 makes it two", device);
    else
        rt_say("there is no device %d; SIMGPU_DEVICES has made %u", device, machine_size);
    return cudaErrorInvalidDevice;
}

/* --- several cards ------------------------------------------------------------------------------------------ */

/* Finishes the queued work of the card in use and ends its stretch of the report. call: the API function, for the
 * report. Returns false inside a host function, where no other card may be used. */
static bool leave(const char *call) {
    rt_begin(call);
    bool nested = time_in_host_function();
    for (uint32_t k = 0; !nested && k < machine_size; k++) {
        rt_select_this(rt_device->machine[k]);
        if (!time_all_idle()) time_wait_all();
    }
    if (!nested) rt_select_this(rt_first());
    rt_end(nested ? cudaErrorNotPermitted : cudaSuccess);
    if (nested) return false;
    check_host_say();
    time_activity_stretch();
    return true;
}

static void enter(struct device *d) {
    if (d->machine == rt_device->machine) return;
    d = d->machine[0];
    rt_device->last = rt_exchange_last_error(d->last, d->number);
    use(d);
}

int simgpuNewDevice(void) {
    int number = -1;
    rt_lock();
    if (leave(__func__)) {
        enter(new_device());
        number = (int)rt_device->number;
    }
    rt_unlock();
    return number;
}

int simgpuUseDevice(int number) {
    int before = -1;
    rt_lock();
    bool here = leave(__func__);
    if (here && number >= 1 && (uint32_t)number <= ndevices) {
        before = (int)rt_device->number;
        enter(devices[number - 1]);
    } else if (here) {
        fprintf(stderr, "simgpu: simgpuUseDevice: there is no card %d; pass a number that simgpuNewDevice returned\n",
                number);
    }
    rt_unlock();
    return before;
}

/* --- reset -------------------------------------------------------------------------------------------------- */

static void clear(struct device *d) {
    check_forget(); /* first: it protects pages of the memory that is freed below */
    rt_streams_clear();
    rt_textures_clear();
    rt_pool_clear();
    rt_memory_clear();
    exec_device_clear(d->exec);
    for (uint32_t k = 0; k < machine_size; k++) exec_mem_peer(d->exec, k, false);
    d->peers = d->mapped = 0;
    d->cleared = true;
    rt_managed_variables();
    if (d->nloaded) memset(d->loaded, 0, d->nloaded * sizeof *d->loaded);
    if (d->nkernels) memset(d->most_dynamic_shared, 0, d->nkernels * sizeof *d->most_dynamic_shared);
    set_default_limits(d);
    d->hints = RT_NO_HINTS;
    time_forget_fault();
    d->sticky = d->missed.error = cudaSuccess;
    rt_exchange_last_error(cudaSuccess, d->machine[0]->number);
}

/* Kernels of other devices may use the context's memory, too. */
void rt_context_end(const void *gone) {
    struct device *here = rt_device;
    for (uint32_t k = 0; k < machine_size; k++) {
        rt_select_this(here->machine[k]);
        time_wait_all();
    }
    rt_select_this(here);
    rt_handles_end(gone);
    rt_modules_end(gone);
    rt_memory_end(gone);
    rt_managed_end(gone);
}

/* Frees all memory of the device, page-locked memory too, and destroys its streams and events. Revives a dead context;
 * modules load again at their next use. The clocks continue. */
cudaError_t cudaDeviceReset(void) {
    cudaError_t dead = rt_begin(__func__);
    if (dead == cudaErrorNotPermitted) return rt_end(dead);
    time_wait_all();
    cudaError_t late = rt_look_for_fault();
    clear(rt_device);
    rt_end(cudaSuccess);
    return dead == cudaSuccess ? late : cudaSuccess; /* the program has read this error before */
}

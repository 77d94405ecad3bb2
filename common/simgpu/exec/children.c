/* children.c — CUDA's device runtime: kernels that launch kernels.
 *
 * A launch in a kernel is noted here and runs behind its parent's blocks: since CUDA 12 no kernel can wait for one that
 * it has launched, so nobody sees the difference, and the child finds all that its parent has written. time/ decides
 * when each child runs, by the rules of the stream that the kernel named:
 *
 *   0                         children of one block run one after another
 *   cudaStreamCreateWithFlags those of that stream do
 *   cudaStreamFireAndForget   the child runs by itself
 *   cudaStreamTailLaunch      when the grid and all its other children have ended, one after another
 *
 * A launch is two calls: one gives a buffer for the parameters, the code fills it, the other takes it. Version 2, which
 * nvcc writes, tells the configuration with the first, version 1 (clang) with the second. Names begin with __cudaCDP2
 * or cuda. A kernel that launches runs on one host thread, since its children are in the order of its blocks. */
#include "builtin.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_STREAM = 0x100, TAIL_LAUNCH = 3, FIRE_AND_FORGET = 4, DEVICE_TO_DEVICE = 3, DEFAULT = 4 };
enum { FIRST_EVENT = 0x100, DISABLE_TIMING = 2, BUDGET_OF_CHILD = 64 };

/* Codes of cudaError_t. */
enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_DIRECTION = 21, TOO_MANY_WAIT = 69, INVALID_KERNEL = 98 };

exec_runtime exec_runtime_host;

/* A buffer for parameters that the code is filling. */
typedef struct {
    uint64_t address, bytes;
    exec_launch launch; /* of version 2, else all 0 */
} buffer;

/* The last error of a thread. */
typedef struct {
    uint64_t block;
    uint32_t thread;
    int error;
} thread_error;

/* Of the launch in progress. */
static struct {
    exec_child *list;
    uint32_t count, room;
    buffer *buffers;
    uint32_t nbuffers, buffers_room;
    uint32_t nstreams; /* handles from FIRST_STREAM on; a destroyed one may still be used, as on a card */
    uint32_t *events;  /* by handle - FIRST_EVENT: the child that it waits for, as its place in the list + 1 */
    uint32_t nevents, events_room;
    struct wait {
        uint64_t queue;
        uint32_t child;
    } * waits; /* of queues, for their next children */
    uint32_t nwaits, waits_room;
    thread_error *errors;
    uint32_t nerrors, errors_room;
    uint64_t waiting;           /* children that wait for the grid's end */
    uint64_t descendants, most; /* kernels since the host's launch, and how many there may be */
} now;

#define GROW(array, count, room)                                                                                       \
    do {                                                                                                               \
        if ((count) == (room)) {                                                                                       \
            (room) = (room) ? 2 * (room) : 16;                                                                         \
            (array) = exec_must(realloc((array), (room) * sizeof *(array)));                                           \
        }                                                                                                              \
    } while (0)

void exec_children_begin(const exec_launch *n, uint64_t budget) {
    for (uint32_t k = 0; k < now.count; k++) free((void *)(uintptr_t)now.list[k].launch.params);
    now.count = now.nbuffers = now.nstreams = now.nevents = now.nwaits = now.nerrors = 0;
    now.waiting = 0;
    if (n->level == 0) now.descendants = 0;
    now.most = budget / BUDGET_OF_CHILD;
}

exec_child *exec_children(uint32_t *n) {
    *n = now.count;
    now.count = 0; /* their parameters are the caller's */
    return now.list;
}

/* --- a thread's errors ---------------------------------------------------------------------------------------- */

static uint32_t thread_of(const warp *w, uint32_t lane) { return w->number * 32 + lane; }

static uint64_t fails(const warp *w, uint32_t lane, int error) {
    enum { KEPT = 4096 }; /* of threads that never ask */
    if (!error) return 0;
    if (now.nerrors == KEPT)
        memmove(now.errors, now.errors + KEPT / 2, KEPT / 2 * sizeof *now.errors), now.nerrors /= 2;
    GROW(now.errors, now.nerrors, now.errors_room);
    now.errors[now.nerrors++] = (thread_error){w->block->id, thread_of(w, lane), error};
    return (uint64_t)error;
}

static uint64_t last_error(const warp *w, uint32_t lane, bool forget) {
    int error = 0;
    uint32_t kept = 0;
    for (uint32_t k = 0; k < now.nerrors; k++) {
        bool mine = now.errors[k].block == w->block->id && now.errors[k].thread == thread_of(w, lane);
        if (mine) error = now.errors[k].error;
        if (!mine || !forget) now.errors[kept++] = now.errors[k];
    }
    now.nerrors = kept;
    return (uint64_t)error;
}
static uint64_t get_last_error(warp *w, const ptx_insn *i, uint32_t lane) { return (void)i, last_error(w, lane, true); }
static uint64_t peek_last_error(warp *w, const ptx_insn *i, uint32_t lane) {
    return (void)i, last_error(w, lane, false);
}

/* --- what a child is told -------------------------------------------------------------------------------------- */

static exec_device *device_of(const warp *w) { return w->block->worker->device; }

static exec_dim dim_argument(const warp *w, const ptx_insn *i, uint32_t k, uint32_t lane) {
    const ptx_slot *s = &i->call->args[k];
    exec_dim d = {0, 0, 0};
    memcpy(&d, w->r + s->offset + lane * s->stride, s->size < sizeof d ? s->size : sizeof d);
    return d;
}

/* Returns the function whose address the kernel passes, or NULL if it is no kernel. */
static const ptx_function *kernel_at(const warp *w, uint64_t number) {
    const ptx_module *m = w->block->launch->kernel->module;
    if (number == 0 || number > m->nfunctions || !m->functions[number - 1]->is_kernel) return NULL;
    return m->functions[number - 1];
}

/* Sets *queue to that of a stream. Returns 0, or an error. */
static int queue_of(const warp *w, uint64_t stream, uint64_t *queue) {
    *queue = stream == FIRE_AND_FORGET ? EXEC_ALONE : stream == TAIL_LAUNCH ? EXEC_TAIL : EXEC_QUEUES + w->block->id;
    if (stream <= FIRE_AND_FORGET) return 0; /* 1 and 2, the legacy and the thread's stream, are the block's here */
    if (stream - FIRST_STREAM >= now.nstreams) return INVALID_VALUE;
    *queue = stream;
    return 0;
}

/* Returns the place of a call, in the source of the kernel: nvcc's launches are functions of a header, inlined. */
static struct simgpu_place place_of(const warp *w, const ptx_insn *i) {
    static const char header[] = "cuda_device_runtime_api.h";
    const ptx_module *m = w->block->launch->kernel->module;
    struct simgpu_place at = exec_place_of(m, i);
    for (const ptx_insn *k = i; k-- > w->code && at.file && strstr(at.file, header);) at = exec_place_of(m, k);
    if (at.file && strstr(at.file, header)) memset(&at, 0, sizeof at);
    return at;
}

/* Lets the child wait for what its queue waits for. */
static void take_waits(exec_child *c) {
    uint32_t kept = 0, n = 0;
    for (uint32_t k = 0; k < now.nwaits; k++) {
        if (now.waits[k].queue == c->queue && n < sizeof c->after / sizeof *c->after)
            c->after[n++] = now.waits[k].child;
        else
            now.waits[kept++] = now.waits[k];
    }
    now.nwaits = kept;
}

/* Returns the clocks of the block until now. */
static uint64_t clocks_of(const warp *w) {
    int64_t rounds = ptx_depth_rounds(w->depth), clocks = ptx_depth_clocks(w->depth);
    int64_t all = rounds * w->block->launch->kernel->module->costs.round_clocks + clocks;
    return all > 0 ? (uint64_t)all : 0;
}

/* Adds a child, unless more than the limit would wait for the grid's end. An H200 keeps others waiting, too; they
 * seldom wait long. */
static int add(warp *w, const ptx_insn *i, uint32_t lane, exec_child c, uint64_t stream) {
    int error = queue_of(w, stream, &c.queue);
    if (error) return error;
    if (c.queue == EXEC_TAIL && now.waiting >= exec_runtime_host.most_waiting()) return TOO_MANY_WAIT;
    now.waiting += c.queue == EXEC_TAIL;
    if (++now.descendants > now.most) /* by default 2^20 */
        exec_fail(w, i, SIMGPU_FAULT_BUDGET, SIMGPU_CAUSE_CHILDREN, lane)->n[0] = now.most;
    w->depth += device_of(w)->card.launch_clocks;
    c.block = w->block->id;
    c.clocks = clocks_of(w);
    c.at = place_of(w, i);
    take_waits(&c);
    GROW(now.list, now.count, now.room);
    now.list[now.count++] = c;
    return 0;
}

/* --- launches -------------------------------------------------------------------------------------------------- */

static uint64_t new_buffer(warp *w, uint32_t lane, uint64_t bytes, const exec_launch *launch) {
    uint64_t address = exec_heap_take(device_of(w), bytes);
    if (!address) return fails(w, lane, OUT_OF_MEMORY), 0;
    GROW(now.buffers, now.nbuffers, now.buffers_room);
    now.buffers[now.nbuffers++] = (buffer){.address = address, .bytes = bytes};
    if (launch) now.buffers[now.nbuffers - 1].launch = *launch;
    return address;
}

/* cudaGetParameterBuffer(alignment, bytes) */
static uint64_t get_buffer(warp *w, const ptx_insn *i, uint32_t lane) {
    return new_buffer(w, lane, exec_argument(w, i, 1, lane), NULL);
}

/* Checks a launch whose kernel is given by its address, and completes it. Returns 0, or an error. */
static int admit(const warp *w, const ptx_insn *i, uint64_t function, exec_launch *l) {
    const exec_launch *parent = w->block->launch;
    l->program = parent->program;
    l->kernel = kernel_at(w, function);
    l->level = parent->level + 1;
    if (!l->kernel) return INVALID_KERNEL;
    return exec_runtime_host.admit(l, place_of(w, i));
}

/* cudaGetParameterBufferV2(kernel, grid, block, bytes of shared memory); NULL after an error. */
static uint64_t get_buffer_v2(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_launch l = {.grid = dim_argument(w, i, 1, lane),
                     .block = dim_argument(w, i, 2, lane),
                     .dynamic_shared = (uint32_t)exec_argument(w, i, 3, lane)};
    int error = admit(w, i, exec_argument(w, i, 0, lane), &l);
    if (error) return fails(w, lane, error), 0;
    return new_buffer(w, lane, l.kernel->param_bytes ? l.kernel->param_bytes : 1, &l);
}

/* Takes a buffer out of the list. Returns false if it is none. */
static bool take_buffer(uint64_t address, buffer *b) {
    for (uint32_t k = now.nbuffers; k-- > 0;) {
        if (now.buffers[k].address != address) continue;
        *b = now.buffers[k];
        now.buffers[k] = now.buffers[--now.nbuffers];
        return true;
    }
    return false;
}

/* Adds the launch with the parameters of the buffer, which it frees. */
static int launch(warp *w, const ptx_insn *i, uint32_t lane, const exec_launch *l, const buffer *b, uint64_t stream) {
    worker *t = w->block->worker;
    uint64_t bytes = l->kernel->param_bytes < b->bytes ? l->kernel->param_bytes : b->bytes;
    uint8_t *params = exec_must(calloc(1, l->kernel->param_bytes + 1u));
    memcpy(params, exec_mem_host(t->device, b->address), bytes);
    exec_builtin_free(w, i, lane, b->address);
    exec_child c = {.kind = EXEC_CHILD_LAUNCH, .launch = *l};
    c.launch.params = params;
    int error = add(w, i, lane, c, stream);
    if (error) free(params);
    return error;
}

/* cudaLaunchDevice(kernel, buffer, grid, block, bytes of shared memory, stream) */
static uint64_t launch_v1(warp *w, const ptx_insn *i, uint32_t lane) {
    buffer b;
    if (!take_buffer(exec_argument(w, i, 1, lane), &b)) return fails(w, lane, INVALID_VALUE);
    exec_launch l = {.grid = dim_argument(w, i, 2, lane),
                     .block = dim_argument(w, i, 3, lane),
                     .dynamic_shared = (uint32_t)exec_argument(w, i, 4, lane)};
    int error = admit(w, i, exec_argument(w, i, 0, lane), &l);
    if (!error) return fails(w, lane, launch(w, i, lane, &l, &b, exec_argument(w, i, 5, lane)));
    exec_builtin_free(w, i, lane, b.address);
    return fails(w, lane, error);
}

/* cudaLaunchDeviceV2(buffer, stream) */
static uint64_t launch_v2(warp *w, const ptx_insn *i, uint32_t lane) {
    buffer b;
    if (!take_buffer(exec_argument(w, i, 0, lane), &b) || !b.launch.kernel) return fails(w, lane, INVALID_VALUE);
    return fails(w, lane, launch(w, i, lane, &b.launch, &b, exec_argument(w, i, 1, lane)));
}

/* --- streams, copies, memory ------------------------------------------------------------------------------------ */

/* Writes the value to where the pointer argument k says. Returns false, after a fault, if that is nowhere. */
static bool put(warp *w, const ptx_insn *i, uint32_t k, uint32_t lane, const void *value, uint32_t bytes) {
    uint8_t *to = exec_generic_pointer(w, lane, exec_argument(w, i, k, lane), bytes);
    if (to) memcpy(to, value, bytes);
    return to != NULL;
}

/* cudaStreamCreateWithFlags(&stream, flags) */
static uint64_t stream_create(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t handle = FIRST_STREAM + now.nstreams;
    if ((uint32_t)exec_argument(w, i, 1, lane) > 1 || !put(w, i, 0, lane, &handle, 8))
        return fails(w, lane, INVALID_VALUE);
    now.nstreams++;
    return 0;
}

static uint64_t stream_destroy(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t queue, stream = exec_argument(w, i, 0, lane);
    return fails(w, lane, stream < FIRST_STREAM ? INVALID_VALUE : queue_of(w, stream, &queue));
}

/* cudaEventCreateWithFlags(&event, flags): kernels cannot time. */
static uint64_t event_create(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t handle = FIRST_EVENT + now.nevents;
    if (exec_argument(w, i, 1, lane) != DISABLE_TIMING || !put(w, i, 0, lane, &handle, 8))
        return fails(w, lane, INVALID_VALUE);
    GROW(now.events, now.nevents, now.events_room);
    now.events[now.nevents++] = 0;
    return 0;
}

static uint32_t *event_of(warp *w, const ptx_insn *i, uint32_t k, uint32_t lane) {
    uint64_t at = exec_argument(w, i, k, lane) - FIRST_EVENT;
    return at < now.nevents ? &now.events[at] : NULL;
}

/* cudaEventRecord(event, stream): the event waits for the queue's last child. */
static uint64_t event_record(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t queue;
    uint32_t *event = event_of(w, i, 0, lane), last = now.count;
    if (!event || queue_of(w, exec_argument(w, i, 1, lane), &queue)) return fails(w, lane, INVALID_VALUE);
    while (last && now.list[last - 1].queue != queue) last--;
    *event = last;
    return 0;
}

/* cudaStreamWaitEvent(stream, event, flags) */
static uint64_t event_wait(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t queue;
    uint32_t *event = event_of(w, i, 1, lane);
    if (!event || queue_of(w, exec_argument(w, i, 0, lane), &queue)) return fails(w, lane, INVALID_VALUE);
    if (!*event || queue == EXEC_ALONE) return 0;
    GROW(now.waits, now.nwaits, now.waits_room);
    now.waits[now.nwaits++] = (struct wait){queue, *event};
    return 0;
}

static uint64_t event_destroy(warp *w, const ptx_insn *i, uint32_t lane) {
    return event_of(w, i, 0, lane) ? 0 : fails(w, lane, INVALID_VALUE);
}

static bool usable(const warp *w, uint64_t address, uint64_t bytes) {
    return bytes == 0 || exec_mem_valid(device_of(w), address, bytes) || exec_outside(address, bytes);
}

/* Adds a copy or fill of rows. */
static uint64_t move(warp *w, const ptx_insn *i, uint32_t lane, exec_child c, uint64_t stream) {
    uint64_t last = c.height ? c.height - 1 : 0;
    if (c.width > c.to_pitch || (c.kind == EXEC_CHILD_COPY && c.width > c.from_pitch) ||
        !usable(w, c.to, last * c.to_pitch + c.width) ||
        (c.kind == EXEC_CHILD_COPY && !usable(w, c.from, last * c.from_pitch + c.width)))
        return fails(w, lane, INVALID_VALUE);
    return c.width && c.height ? fails(w, lane, add(w, i, lane, c, stream)) : 0;
}

static bool on_device(uint64_t kind) { return kind == DEVICE_TO_DEVICE || kind == DEFAULT; }

/* cudaMemcpyAsync(to, from, bytes, kind, stream) */
static uint64_t copy(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t bytes = exec_argument(w, i, 2, lane);
    if (!on_device((uint32_t)exec_argument(w, i, 3, lane))) return fails(w, lane, INVALID_DIRECTION);
    exec_child c = {.kind = EXEC_CHILD_COPY,
                    .to = exec_argument(w, i, 0, lane),
                    .from = exec_argument(w, i, 1, lane),
                    .to_pitch = bytes,
                    .from_pitch = bytes,
                    .width = bytes,
                    .height = 1};
    return move(w, i, lane, c, exec_argument(w, i, 4, lane));
}

/* cudaMemcpy2DAsync(to, pitch, from, pitch, width, height, kind, stream) */
static uint64_t copy_rows(warp *w, const ptx_insn *i, uint32_t lane) {
    if (!on_device((uint32_t)exec_argument(w, i, 6, lane))) return fails(w, lane, INVALID_DIRECTION);
    exec_child c = {.kind = EXEC_CHILD_COPY,
                    .to = exec_argument(w, i, 0, lane),
                    .to_pitch = exec_argument(w, i, 1, lane),
                    .from = exec_argument(w, i, 2, lane),
                    .from_pitch = exec_argument(w, i, 3, lane),
                    .width = exec_argument(w, i, 4, lane),
                    .height = exec_argument(w, i, 5, lane)};
    return move(w, i, lane, c, exec_argument(w, i, 7, lane));
}

/* cudaMemsetAsync(to, value, bytes, stream) */
static uint64_t fill(warp *w, const ptx_insn *i, uint32_t lane) {
    uint64_t bytes = exec_argument(w, i, 2, lane);
    exec_child c = {.kind = EXEC_CHILD_FILL,
                    .to = exec_argument(w, i, 0, lane),
                    .value = (uint8_t)exec_argument(w, i, 1, lane),
                    .to_pitch = bytes,
                    .width = bytes,
                    .height = 1};
    return move(w, i, lane, c, exec_argument(w, i, 3, lane));
}

/* cudaMemset2DAsync(to, pitch, value, width, height, stream) */
static uint64_t fill_rows(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_child c = {.kind = EXEC_CHILD_FILL,
                    .to = exec_argument(w, i, 0, lane),
                    .to_pitch = exec_argument(w, i, 1, lane),
                    .value = (uint8_t)exec_argument(w, i, 2, lane),
                    .width = exec_argument(w, i, 3, lane),
                    .height = exec_argument(w, i, 4, lane)};
    return move(w, i, lane, c, exec_argument(w, i, 5, lane));
}

/* cudaMalloc(&pointer, bytes), from the heap of malloc */
static uint64_t allocate(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_builtin_heap_waits(w);
    uint64_t address = exec_heap_alloc(device_of(w), exec_argument(w, i, 1, lane));
    if (!address) return fails(w, lane, OUT_OF_MEMORY);
    return put(w, i, 0, lane, &address, 8) ? 0 : fails(w, lane, INVALID_VALUE);
}

static uint64_t release(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_builtin_heap_waits(w);
    exec_builtin_free(w, i, lane, exec_argument(w, i, 0, lane));
    return 0;
}

/* --- queries --------------------------------------------------------------------------------------------------- */

/* One of the functions that return an answer through their first argument. */
static uint64_t ask(warp *w, const ptx_insn *i, uint32_t lane) {
    exec_question q = {.name = i->call->callee->name, .program = w->block->launch->program};
    q.name += strncmp(q.name, "__cudaCDP2", 10) ? strlen("cuda") : strlen("__cudaCDP2");
    for (uint32_t k = 1; k < i->call->nargs && k < 5; k++) q.argument[k - 1] = exec_argument(w, i, k, lane);
    q.kernel = kernel_at(w, q.argument[0]); /* if it is one */
    int error = exec_runtime_host.ask(&q);
    if (!error && !put(w, i, 0, lane, q.answer, q.bytes)) error = INVALID_VALUE;
    return fails(w, lane, error);
}

/* Returns the address of a copy of the text in device memory, one for each text, or 0. */
static uint64_t text_at(exec_device *d, const char *text) {
    static struct {
        const exec_device *device;
        const char *text;
        uint64_t address;
    } known[64];
    static uint32_t n;
    uint64_t bytes = strlen(text) + 1;
    for (uint32_t k = 0; k < n; k++)
        if (known[k].device == d && known[k].text == text && exec_mem_valid(d, known[k].address, bytes) &&
            !memcmp(exec_mem_host(d, known[k].address), text, bytes))
            return known[k].address;
    uint64_t address = exec_heap_take(d, bytes);
    if (!address) return 0;
    memcpy(exec_mem_host(d, address), text, bytes);
    known[n].device = d, known[n].text = text, known[n].address = address;
    n = (n + 1) % (sizeof known / sizeof *known);
    return address;
}
static uint64_t error_text(warp *w, const ptx_insn *i, uint32_t lane) {
    return text_at(device_of(w), exec_runtime_host.text((int)exec_argument(w, i, 0, lane), false));
}
static uint64_t error_name(warp *w, const ptx_insn *i, uint32_t lane) {
    return text_at(device_of(w), exec_runtime_host.text((int)exec_argument(w, i, 0, lane), true));
}

/* --- the table ------------------------------------------------------------------------------------------------- */

#define FUNCTION(end, function, n)                                                                                     \
    { .name = end, .shape = RUNTIME, .runtime = function, .arguments = n }
static const exec_builtin functions[] = {
    FUNCTION("GetParameterBuffer", get_buffer, 2),
    FUNCTION("GetParameterBufferV2", get_buffer_v2, 4),
    FUNCTION("LaunchDevice", launch_v1, 6),
    FUNCTION("LaunchDeviceV2", launch_v2, 2),
    FUNCTION("GetLastError", get_last_error, 0),
    FUNCTION("PeekAtLastError", peek_last_error, 0),
    FUNCTION("GetErrorString", error_text, 1),
    FUNCTION("GetErrorName", error_name, 1),
    FUNCTION("StreamCreateWithFlags", stream_create, 2),
    FUNCTION("StreamDestroy", stream_destroy, 1),
    FUNCTION("EventCreateWithFlags", event_create, 2),
    FUNCTION("EventRecord", event_record, 2),
    FUNCTION("EventRecordWithFlags", event_record, 3),
    FUNCTION("StreamWaitEvent", event_wait, 3),
    FUNCTION("EventDestroy", event_destroy, 1),
    FUNCTION("MemcpyAsync", copy, 5),
    FUNCTION("Memcpy2DAsync", copy_rows, 8),
    FUNCTION("MemsetAsync", fill, 4),
    FUNCTION("Memset2DAsync", fill_rows, 6),
    FUNCTION("Malloc", allocate, 2),
    FUNCTION("Free", release, 1),
    FUNCTION("GetDevice", ask, 1),
    FUNCTION("GetDeviceCount", ask, 1),
    FUNCTION("RuntimeGetVersion", ask, 1),
    FUNCTION("DeviceGetAttribute", ask, 3),
    FUNCTION("DeviceGetLimit", ask, 2),
    FUNCTION("FuncGetAttributes", ask, 2),
    FUNCTION("OccupancyMaxActiveBlocksPerMultiprocessor", ask, 4),
    FUNCTION("OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", ask, 5),
};

const exec_builtin *exec_runtime_find(const char *name) {
    char end[128];
    const char *begin = !strncmp(name, "__cudaCDP2", 10) ? name + 10 : !strncmp(name, "cuda", 4) ? name + 4 : NULL;
    if (!begin) return NULL;
    snprintf(end, sizeof end, "%s", begin);
    char *twin = strstr(end, "_ptsz"); /* of the per-thread default stream, which is the block's here */
    if (twin && !twin[5]) *twin = '\0';
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, end)) return &functions[k];
    return NULL;
}

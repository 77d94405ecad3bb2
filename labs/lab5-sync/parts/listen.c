/* listen.c — hears the calls of the loop; see listen.h. */
#include "listen.h"

#include <string.h>

enum { BLOCKS = 16 };

static heard *now;
/* The latest blocks that malloc and its relatives gave the program. Of use for a message only. */
static struct { uint64_t start, bytes; } blocks[BLOCKS];
static int nblocks;

/* Errors that a kernel leaves behind, for every later call. */
static bool is_a_kernels(cudaError_t e) {
    return e == cudaErrorIllegalAddress || e == cudaErrorMisalignedAddress || e == cudaErrorLaunchFailure ||
           e == cudaErrorLaunchTimeout || e == cudaErrorAssert || e == cudaErrorIllegalInstruction ||
           e == cudaErrorInvalidPc || e == cudaErrorHardwareStackError || e == cudaErrorInvalidAddressSpace;
}

static enum cudaMemoryType type_at(uint64_t address) {
    struct cudaPointerAttributes at;
    if (cudaPointerGetAttributes(&at, (const void *)address) == cudaSuccess) return at.type;
    cudaGetLastError();
    return cudaMemoryTypeUnregistered;
}

memory memory_at(uint64_t address) {
    memory m = {.address = address, .type = type_at(address)};
    const lab_thing_made *list;
    for (int i = lab_things(&list) - 1; i >= 0; i--) {
        const bool is_memory = list[i].thing != LAB_A_STREAM && list[i].thing != LAB_AN_EVENT;
        if (is_memory && list[i].address <= address && list[i].address >= m.in.address) m.in = list[i];
    }
    return m;
}

int64_t room_at(uint64_t address) {
    const memory m = memory_at(address);
    if (m.in.thing && address < m.in.address + m.in.bytes) return (int64_t)(m.in.address + m.in.bytes - address);
    for (int i = nblocks - 1; i >= 0 && i >= nblocks - BLOCKS; i--) {
        const uint64_t start = blocks[i % BLOCKS].start, end = start + blocks[i % BLOCKS].bytes;
        if (start <= address && address < end) return (int64_t)(end - address);
    }
    return -1;
}

static bool is_made(lab_thing thing, uint64_t handle) {
    const lab_thing_made *list;
    for (int i = lab_things(&list) - 1; i >= 0; i--)
        if (list[i].thing == thing && list[i].address == handle) return true;
    return false;
}

static void note_failure(const lab_call *c) {
    const bool of_event = !strncmp(c->name, "cudaEvent", 9) || !strcmp(c->name, "cudaStreamWaitEvent");
    now->failed = *c;
    now->no_event = of_event && c->error == cudaErrorInvalidResourceHandle && !is_made(LAB_AN_EVENT, c->event);
    now->no_stream = c->error == cudaErrorInvalidResourceHandle && c->stream && !is_made(LAB_A_STREAM, c->stream);
    now->to = memory_at(c->to);
    now->from = memory_at(c->from);
}

static void note_wait(const lab_call *c) {
    if (!c->event || !c->stream || strcmp(c->name, "cudaStreamWaitEvent") != 0) return;
    if (listen_waited(now, c->stream)) return;
    if (now->waiting.n < 8) now->waiting.stream[now->waiting.n++] = c->stream;
}

static void note_record(const lab_call *c) {
    enum { MOST = sizeof now->recorded.event / sizeof *now->recorded.event };
    int i = 0;
    if (strcmp(c->name, "cudaEventRecord") != 0) return;
    while (i < now->recorded.n && now->recorded.event[i] != c->event) i++;
    if (i == MOST) return;
    if (i == now->recorded.n) now->recorded.n++;
    now->recorded.event[i] = c->event;
    now->recorded.stream[i] = c->stream;
}

/* The host waits for a stream, or for the stream of an event. */
static void note_host_wait(const lab_call *c) {
    if (c->what != LAB_CALL_WAITS || now->ended) return;
    now->awaited = c->stream;
    for (int i = 0; c->event && i < now->recorded.n; i++)
        if (now->recorded.event[i] == c->event) now->awaited = now->recorded.stream[i];
}

static void note_copy(const lab_call *c) {
    if (c->kind == cudaMemcpyHostToDevice && now->largest.name && c->to != now->largest.to) now->targets = true;
    if (c->kind == cudaMemcpyHostToDevice && c->bytes > now->largest.bytes) now->largest = *c;
    if (!now->counting || lab_lane() != LAB_GPU) return;
    if (type_at(c->to) == cudaMemoryTypeUnregistered || type_at(c->from) == cudaMemoryTypeUnregistered)
        now->pageable_copies++;
}

static void hear(const lab_call *c) {
    const bool asks = !strcmp(c->name, "cudaEventQuery") || !strcmp(c->name, "cudaStreamQuery");
    if (c->what == LAB_CALL_C_ALLOCATES) {
        blocks[nblocks % BLOCKS].start = c->to;
        blocks[nblocks++ % BLOCKS].bytes = c->bytes;
        return;
    }
    if (!now->ended) now->host_waits += c->what == LAB_CALL_WAITS;
    if (!now->ended) now->host_asks += asks;
    if (c->error && c->error != cudaErrorNotReady && !is_a_kernels(c->error) && !now->failed.name && !now->deaf)
        note_failure(c);
    if (c->error) return;
    note_wait(c);
    note_record(c);
    note_host_wait(c);
    if (c->what == LAB_CALL_COPIES) note_copy(c);
}

void listen_begin(heard *h) {
    static const lab_ear ear = {NULL, hear};
    memset(h, 0, sizeof *h);
    nblocks = 0;
    now = h;
    lab_listen(&ear);
}

void listen_end(void) { lab_listen(NULL); }

bool listen_waited(const heard *h, uint64_t stream) {
    for (int i = 0; i < h->waiting.n; i++)
        if (h->waiting.stream[i] == stream) return true;
    return false;
}

/* meter.c — see meter.h. */
#include "meter.h"

#include <string.h>

static meter *now;

static void allocated(const lab_call *c) {
    now->allocations++;
    if (now->nlive == METER_LIVE) return;
    now->live[now->nlive++] = (meter_block){c->to, c->bytes, c->name, c->file, c->line};
    now->now += c->bytes;
    if (now->now <= now->peak) return;
    now->peak = now->now;
    now->nlargest = now->nlive;
    memcpy(now->largest, now->live, (size_t)now->nlive * sizeof *now->live);
}

static void freed(const lab_call *c) {
    for (int i = 0; i < now->nlive; i++)
        if (now->live[i].at == c->to) {
            now->now -= now->live[i].bytes;
            now->live[i] = now->live[--now->nlive];
            return;
        }
}

/* The direction of a copy, by where its ends lie if the program leaves that to CUDA. */
static void copied(const lab_call *c) {
    const bool to_host = c->kind == cudaMemcpyDeviceToHost, to_device = c->kind == cudaMemcpyHostToDevice;
    now->copies++;
    if (to_device) now->up += c->bytes;
    if (to_host) now->down += c->bytes;
    if (!c->async) now->waits++;
}

static void hear(const lab_call *c) {
    if (c->what == LAB_CALL_C_ALLOCATES) return;
    if (c->error && c->error != cudaErrorNotReady && !now->failed.name) now->failed = *c;
    if (c->error) return;
    if (c->what == LAB_CALL_FREES && c->to && c->to == now->weights && !now->freed.name) now->freed = *c;
    if (c->creates == LAB_DEVICE_MEMORY) allocated(c);
    if (c->destroys == LAB_DEVICE_MEMORY) freed(c);
    if (c->what == LAB_CALL_WAITS) now->waits++;
    if (c->what == LAB_CALL_COPIES) copied(c);
    if (strstr(c->name, "Launch")) now->launches++;
}

void meter_begin(meter *m, const void *weights) {
    static const lab_ear ear = {NULL, hear};
    memset(m, 0, sizeof *m);
    m->weights = (uint64_t)weights;
    now = m;
    lab_listen(&ear);
}

void meter_end(void) { lab_listen(NULL); }

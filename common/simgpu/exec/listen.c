/* listen.c — the list of listeners, and the views passed to them. See listen.h. */
#include "warp.h"

enum { MAX_LISTENERS = 8 };
static const exec_listener *listeners[MAX_LISTENERS + 1]; /* NULL ends the list */
bool exec_heard;

void exec_listen(const exec_listener *l, bool on) {
    uint32_t n = 0, kept = 0;
    for (; listeners[n]; n++)
        if (listeners[n] != l) listeners[kept++] = listeners[n];
    if (on && kept < MAX_LISTENERS) listeners[kept++] = l;
    while (kept <= n && kept <= MAX_LISTENERS) listeners[kept++] = NULL;
    exec_heard = listeners[0] != NULL;
}

#define TELL(event, ...)                                                                                               \
    for (const exec_listener *const *l = listeners; *l; l++)                                                           \
        if ((*l)->event) (*l)->event(__VA_ARGS__)

static exec_lanes view(const warp *w, uint32_t lanes) {
    return (exec_lanes){.block = w->block->id, .warp = w->number, .lanes = lanes, .live = w->live};
}

void exec_listen_launch_begins(const exec_launch *n, uint64_t blocks) { TELL(launch_begins, n, blocks); }
void exec_listen_launch_ended(void) { TELL(launch_ended); }
void exec_listen_block_begins(const block *b) { TELL(block_begins, b->id, b->shared_bytes); }

void exec_listen_block_resumes(const block *b) { TELL(block_resumes, b->id); }
void exec_listen_block_ended(const block *b) { TELL(block_ended, b->id); }
void exec_listen_grid_passed(void) { TELL(grid_passed); }

static const ptx_code *code_of(const warp *w) { return w->frames[w->splits[w->current].frame].function->code; }

exec_origin exec_listen_origin(const warp *w, const ptx_insn *i) {
    return (exec_origin){code_of(w), i, (uint32_t)(w->counters + (i - w->code) - w->block->worker->counters)};
}

static void tell_access(const warp *w, exec_origin from, enum ptx_space space, uint32_t size, const uint64_t *address,
                        bool begins) {
    exec_access a = {.at = view(w, w->mask),
                     .code = from.code,
                     .insn = from.insn,
                     .number = from.number,
                     .space = space,
                     .size = size,
                     .address = address,
                     .begins = begins,
                     .warp = w};
    TELL(access, &a);
}

void exec_listen_access(const warp *w, const ptx_insn *i, enum ptx_space space, uint32_t size) {
    tell_access(w, exec_listen_origin(w, i), space, size, w->address, false);
}

void exec_listen_begins(const warp *w, exec_origin from, const uint64_t *to, uint32_t size) {
    tell_access(w, from, SPACE_SHARED, size, to, true);
}

void exec_listen_arrives(const warp *w, exec_origin from, uint32_t size) {
    tell_access(w, from, SPACE_SHARED, size, w->address, false);
}

uint32_t exec_access_stores(const exec_access *a, uint32_t lane, uint32_t k) {
    const ptx_insn *i = a->insn;
    uint32_t bytes = ptx_type_bytes[i->type], element = bytes == 8 ? k / 2 : k;
    uint64_t v = i->d_wide ? ROW(a->warp, uint64_t, i->v[element])[lane] : ROW(a->warp, uint32_t, i->v[element])[lane];
    if (bytes == 8 && k & 1) return (uint32_t)(v >> 32);
    return bytes < 4 ? (uint32_t)v & ((1u << 8 * bytes) - 1) : (uint32_t)v;
}

const uint8_t *exec_access_finds(const exec_access *a, uint64_t address) {
    const block *b = a->warp->block;
    if (a->space != SPACE_SHARED && !exec_mem_in_window((void *)(uintptr_t)address))
        return (const uint8_t *)(uintptr_t)address;
    return a->space == SPACE_SHARED ? b->shared + address : exec_mem_host(b->worker->device, address);
}

void exec_listen_branched(const warp *w, const ptx_insn *i, uint32_t taken) {
    exec_branch b = {.at = view(w, w->active), .code = code_of(w), .insn = i, .taken = taken};
    TELL(branched, &b);
}

void exec_listen_arrived(const warp *w, const ptx_insn *i, uint32_t barrier, bool counted, bool waits) {
    exec_arrival a = {
        .at = view(w, w->mask), .code = code_of(w), .insn = i, .number = barrier, .counted = counted, .waits = waits};
    TELL(arrived, &a);
}

void exec_listen_passed(const block *b, uint32_t barrier) {
    exec_barrier view = {.number = barrier, .warps = b->nwarps};
    uint32_t threads = 0;
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            const split *p = &b->warps[k].splits[s];
            if (p->state != SPLIT_BARRIER || p->barrier != barrier) continue;
            view.waiting |= 1u << k;
            threads += (uint32_t)__builtin_popcount(p->mask);
        }
    view.all = threads == b->live;
    TELL(passed, &view);
}

void exec_listen_synced(const warp *w, uint32_t lanes) {
    exec_lanes together = view(w, lanes);
    TELL(synced, &together);
}

void exec_listen_fenced(const warp *w) {
    exec_lanes lanes = view(w, w->mask);
    TELL(fenced, &lanes);
}

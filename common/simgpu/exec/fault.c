/* fault.c — describes a fault as data: kind, cause, place, thread. words/ turns it into a message. */
#include "warp.h"

#include <stdio.h>
#include <string.h>

struct simgpu_place exec_place_of(const ptx_module *m, const ptx_insn *i) {
    const char *path = i->file < m->nfiles ? m->files[i->file] : "";
    if (!i->line || !*path) return (struct simgpu_place){.file = NULL};
    return (struct simgpu_place){.file = path, .line = (int)i->line, .column = (int)i->column};
}

static void at(exec_fault *f, const ptx_function *kernel, const ptx_insn *i, enum simgpu_fault_kind kind,
               enum simgpu_fault_cause cause) {
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->cause = cause;
    f->module = kernel->module->source_name;
    if (i) {
        f->at = exec_place_of(kernel->module, i);
        f->module_line = i->ptx_line;
    }
    snprintf(f->kernel, sizeof f->kernel, "%s", base_kernel_name(kernel->name).text);
}

exec_fault *exec_fail(warp *w, const ptx_insn *i, enum simgpu_fault_kind kind, enum simgpu_fault_cause cause,
                      uint32_t lane) {
    static _Thread_local exec_fault not_the_first;
    block *b = w->block;
    worker *t = b->worker;
    w->stop = true;
    b->failed = true;
    if (t->fault.kind != SIMGPU_FAULT_NONE && t->fault_block <= b->id) return &not_the_first;
    exec_fault *f = &t->fault;
    t->fault_block = b->id;
    at(f, b->launch->kernel, i, kind, cause);
    f->scope = lane < 32 ? SIMGPU_ONE_THREAD : SIMGPU_ONE_WARP;
    f->warp = w->number;
    exec_dim d = b->launch->block, block = b->index;
    uint32_t tid = w->number * 32 + (lane < 32 ? lane : 0);
    uint32_t thread[3] = {tid % d.x, tid / d.x % d.y, tid / d.x / d.y}, index[3] = {block.x, block.y, block.z};
    memcpy(f->thread, thread, sizeof thread);
    memcpy(f->block, index, sizeof index);
    return f;
}

void exec_fail_launch_budget(exec_fault *f, const exec_launch *n, uint64_t through, uint64_t blocks, uint64_t budget) {
    const ptx_insn *i = n->kernel->code->insns, *end = i + n->kernel->code->ninsns;
    while (i + 1 < end && !i->line) i++;
    at(f, n->kernel, i, SIMGPU_FAULT_BUDGET, SIMGPU_CAUSE_LAUNCH_BUDGET);
    f->n[0] = through;
    f->n[1] = blocks;
    f->n[2] = budget;
}

void exec_fail_refused(exec_fault *f, const ptx_function *kernel, const char *why) {
    at(f, kernel, NULL, SIMGPU_FAULT_UNSUPPORTED, SIMGPU_CAUSE_REFUSED);
    snprintf(f->text, sizeof f->text, "%s", why);
}

/* --- deadlock ----------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t state, threads;
    const ptx_insn *insn;
    warp *warp;
} group;

/* Groups the block's waiting threads by place and state; the place of those that wait for lanes of their warp is the
 * branch where these parted from them. Returns the number of groups, at most 16. */
static uint32_t waiting_groups(block *b, group groups[16]) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            warp *w = &b->warps[k];
            const split *p = &w->splits[s];
            if (p->state == SPLIT_FREE || !p->mask) continue;
            const ptx_code *c = w->frames[p->frame].function->code;
            const ptx_insn *i = p->state == SPLIT_JOIN ? p->branch : &c->insns[p->pc - (p->state == SPLIT_BARRIER)];
            uint32_t g = 0;
            while (g < n && (groups[g].insn != i || groups[g].state != (uint32_t)p->state)) g++;
            if (g == 16) continue;
            if (g == n) groups[n++] = (group){(uint32_t)p->state, 0, i, w};
            groups[g].threads += (uint32_t)__builtin_popcount(p->mask);
        }
    return n;
}

/* Reports a deadlock at the threads that cause it: those that wait for a mask, else those at a barrier. The other
 * threads only wait for them. */
void exec_fail_deadlock(block *b) {
    group groups[16];
    uint32_t n = waiting_groups(b, groups), first = 0;
    _Static_assert(SPLIT_JOIN < SPLIT_BARRIER && SPLIT_BARRIER < SPLIT_SYNC, "the order of blame");
    for (uint32_t g = 0; g < n; g++)
        if (groups[g].state > groups[first].state) first = g;
    exec_fault *f = exec_fail(groups[first].warp, groups[first].insn, SIMGPU_FAULT_DEADLOCK, SIMGPU_CAUSE_WAITING, 32);
    f->nwaiting = n;
    for (uint32_t g = 0; g < n; g++)
        f->waiting[g] = (struct simgpu_waiting){groups[g].threads, groups[g].insn->line,
                                                groups[g].state == SPLIT_BARRIER ? SIMGPU_WAITS_AT_BARRIER
                                                : groups[g].state == SPLIT_SYNC  ? SIMGPU_WAITS_FOR_MASK
                                                                                 : SIMGPU_WAITS_FOR_WARP};
    f->n[0] = b->nthreads - b->live;
    f->n[1] = b->nthreads;
    f->n[2] = first;
    for (uint32_t k = 0; k < MAX_BARRIERS; k++) f->counted |= b->barriers[k].arrived && b->barriers[k].expected;
}

/* May the host write this byte while a kernel of a card runs? */
static bool host_writes(uint64_t address) {
    const exec_range *r = exec_outside(address, 1);
    return (r && r->link) || exec_managed((void *)(uintptr_t)address);
}

void exec_fail_blocks_wait(block *b, uint64_t ended, uint64_t begun) {
    const exec_dim *grid = &b->launch->grid;
    warp *who = &b->warps[0];
    const ptx_insn *at_grid = NULL;
    for (uint32_t k = b->nwarps; k-- > 0;) {
        warp *w = &b->warps[k];
        if (w->live && w->vain_at && !at_grid) who = w;
        for (uint32_t s = 0; s < w->nsplits; s++) {
            const split *p = &w->splits[s];
            if (p->state != SPLIT_GRID) continue;
            at_grid = &w->frames[p->frame].function->code->insns[p->pc];
            who = w;
        }
    }
    enum simgpu_fault_cause cause = at_grid                          ? SIMGPU_CAUSE_GRID_SYNC
                                    : host_writes(who->vain_address) ? SIMGPU_CAUSE_HOST_WORD
                                                                     : SIMGPU_CAUSE_BLOCKS;
    exec_fault *f = exec_fail(who, at_grid ? at_grid : who->vain_at, SIMGPU_FAULT_DEADLOCK, cause, 32);
    f->n[0] = begun - ended;
    f->n[1] = (uint64_t)grid->x * grid->y * grid->z;
    f->n[2] = ended;
}

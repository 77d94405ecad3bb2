/* split.c — schedules the splits of a warp: divergence, joins, warp-wide synchronisation, calls and returns. See warp.h
 * for the idea. */
#include "warp.h"

#include <stdio.h>
#include <string.h>

static int32_t new_split(warp *w, const ptx_insn *i) {
    for (uint32_t s = 0; s < MAX_SPLITS; s++)
        if (w->splits[s].state == SPLIT_FREE) {
            if (s >= w->nsplits) w->nsplits = s + 1;
            return (int32_t)s;
        }
    exec_fail(w, i, SIMGPU_FAULT_STACK, SIMGPU_CAUSE_SPLITS, 32)->n[0] = MAX_SPLITS;
    return -1;
}

static void expand(warp *w) {
    uint32_t m = w->mask;
    for (int l = 0; l < 32; l++) w->lanes[l] = m >> l & 1 ? ~0u : 0;
    w->expanded = m;
}

/* Sets what is counted of a function to 0 when the launch comes to it first: a module has far more functions than a
 * launch runs. */
static void count_afresh(worker *t, const ptx_code *c) {
    t->ran_in[c->first] = t->launch_number;
    memset(t->executed + c->first, 0, c->ninsns * sizeof *t->executed);
    memset(t->threads + c->first, 0, c->ninsns * sizeof *t->threads);
    memset(t->counters + c->first, 0, c->ninsns * sizeof *t->counters);
    memset(t->ranges + c->first, 0, c->ninsns * sizeof *t->ranges);
}

/* Makes split s the running one and copies its state into the warp, for the interpreter's loop. */
static void enter_split(warp *w, int32_t s) {
    split *p = &w->splits[s];
    frame *f = &w->frames[p->frame];
    const ptx_code *c = f->function->code;
    worker *t = w->block->worker;
    if (t->ran_in[c->first] != t->launch_number) count_afresh(t, c);
    w->current = s;
    w->pc = p->pc;
    w->active = p->mask;
    w->r = w->stack + f->base;
    w->code = c->insns;
    w->run = t->run + c->first;
    w->executed = t->executed + c->first;
    w->threads = t->threads + c->first;
    w->counters = t->counters + c->first;
}

static void leave_split(warp *w) {
    split *p = &w->splits[w->current];
    if (p->state == SPLIT_FREE) return;
    p->pc = w->pc;
    p->mask = w->active;
}

/* --- divergence and joins ----------------------------------------------------------------------------------- */

/* Removes a child (arrived or ended) from a join node. A node without children runs, or is removed too if no lane
 * arrived. */
static void child_gone(warp *w, int32_t j) {
    while (j >= 0) {
        split *p = &w->splits[j];
        if (--p->children) return;
        if (p->mask) {
            p->state = SPLIT_RUN;
            return;
        }
        p->state = SPLIT_FREE;
        j = p->parent;
    }
}

/* Returns the nearest join node at `join` in the function that the split runs, or -1. Lanes may come there past nodes
 * where they would have met others in a turn of a loop that they have left. */
static int32_t node_at(const warp *w, const split *s, uint32_t join) {
    uint32_t here = s->join;
    for (int32_t j = s->parent; j >= 0 && w->splits[j].frame == s->frame; j = w->splits[j].parent) {
        if (here == join) return j;
        here = w->splits[j].join;
    }
    return -1;
}

/* Makes the running split a child of a join node at `join`, unless it joins there anyhow. Returns whether it could. */
static bool open_join(warp *w, const ptx_insn *i, uint32_t join) {
    split *s = &w->splits[w->current];
    if (join == NO_JOIN || node_at(w, s, join) >= 0) return true;
    int32_t n = new_split(w, i);
    if (n < 0) return false;
    w->splits[n] = (split){.state = SPLIT_JOIN,
                           .pc = join,
                           .join = s->join,
                           .parent = s->parent,
                           .children = 1,
                           .frame = s->frame,
                           .branch = i};
    s->parent = n;
    s->join = join;
    return true;
}

/* Splits the running split in two: `taken` lanes branch to target, the others continue. Both are children of a new join
 * node, unless they meet where the split itself joins its siblings. In a loop that lanes may leave, that node is at the
 * next turn, and itself a child of one behind the loop. */
void exec_warp_diverge(warp *w, const ptx_insn *i, uint32_t taken, uint32_t target) {
    uint32_t rest = w->active & ~taken;
    split *s = &w->splits[w->current];
    if (i->in_turn && i->join != s->join && !open_join(w, i, i->beyond)) return;
    if (!open_join(w, i, i->join)) return;
    if (s->join != NO_JOIN && target == s->join) {
        w->splits[s->parent].mask |= taken;
        w->active = rest;
    } else if (s->join != NO_JOIN && w->pc == s->join) {
        w->splits[s->parent].mask |= rest;
        w->active = taken;
        w->pc = target;
    } else {
        int32_t n = new_split(w, i);
        if (n < 0) return;
        w->splits[n] = (split){
            .state = SPLIT_RUN, .mask = taken, .pc = target, .join = s->join, .parent = s->parent, .frame = s->frame};
        if (s->parent >= 0) w->splits[s->parent].children++;
        w->active = rest;
    }
    s->mask = w->active;
}

void exec_op_join(warp *w, const ptx_insn *i) {
    uint32_t here = (uint32_t)(i - w->code);
    split *s = &w->splits[w->current];
    w->executed[here]--; /* not an instruction of the program */
    w->threads[here] -= (uint64_t)__builtin_popcount(w->mask);
    const int32_t parent = s->parent, j = node_at(w, s, here);
    if (j < 0) return;
    split *p = &w->splits[j];
    p->mask |= w->active;
    s->state = SPLIT_FREE;
    p->pc = here + 1;
    child_gone(w, parent);
    if (p->state == SPLIT_RUN)
        enter_split(w, j);
    else
        w->stop = true;
}

/* Counts a conditional branch, and a uniform one if all lanes agree. Where they meet others, the warp has come by both
 * ways, which is what the block's depth is of. */
void exec_op_bra(warp *w, const ptx_insn *i) {
    uint32_t taken = w->mask;
    if (i->guarded) {
        exec_counters *c = counters_of(w, i);
        c->branches++;
        if (exec_heard) exec_listen_branched(w, i, taken);
        if (taken && taken != w->active) {
            if (!i->folded && !i->exits) w->depth += w->block->launch->program->module->costs.diverge;
            exec_warp_diverge(w, i, taken, i->target);
            return;
        }
        c->uniform_branches++;
        if (!taken) {
            if (w->pc != w->splits[w->current].join) w->depth += i->ways[0];
            return;
        }
    }
    w->pc = i->target;
    if (w->pc != w->splits[w->current].join) w->depth += i->ways[1];
}

void exec_op_brx(warp *w, const ptx_insn *i) {
    const uint32_t *index = ROW(w, uint32_t, i->a);
    exec_counters *c = counters_of(w, i);
    uint32_t left = w->active, self = w->pc - 1;
    c->branches++;
    uint32_t first = index[__builtin_ctz(left)], same = 0;
    for (uint32_t m = left; m; m &= m - 1)
        if (index[__builtin_ctz(m)] == first) same |= m & -m;
    if (first >= i->call->ntargets) {
        exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_TRAP, SIMGPU_CAUSE_BRANCH_INDEX, (uint32_t)__builtin_ctz(left));
        f->n[0] = first;
        f->n[1] = i->call->ntargets;
        return;
    }
    if (same == left) {
        c->uniform_branches++;
        w->pc = i->call->targets[first];
        return;
    }
    /* Lanes with the first lane's target branch; the others repeat this instruction. */
    w->pc = self;
    exec_warp_diverge(w, i, same, i->call->targets[first]);
}

void exec_warp_exit(warp *w, uint32_t lanes) {
    w->live &= ~lanes;
    w->block->live -= (uint32_t)__builtin_popcount(lanes);
    w->active &= ~lanes;
    for (uint32_t s = 0; s < w->nsplits; s++) /* lanes that wait for them check again */
        if (w->splits[s].state == SPLIT_SYNC && w->splits[s].wanted & lanes) w->splits[s].state = SPLIT_RUN;
    if (w->active) return;
    split *s = &w->splits[w->current];
    s->state = SPLIT_FREE;
    w->stop = true;
    child_gone(w, s->parent);
    for (uint32_t b = 0; b < MAX_BARRIERS; b++)
        if (w->block->barriers[b].arrived) exec_barrier_check(w->block, b); /* a barrier waits for live threads only */
}

void exec_op_exit(warp *w, const ptx_insn *i) {
    (void)i;
    exec_warp_exit(w, w->mask);
}

/* Returns whether the function reads the address of a cooperative launch's workspace. */
static bool uses_workspace(const ptx_code *c) {
    for (uint32_t k = 0; k < c->nrows; k++)
        if (c->rows[k].kind == ROW_SPECIAL && c->rows[k].special == SREG_envreg2) return true;
    return false;
}

/* A trap, or with `sub` a breakpoint. Code of cooperative groups ends with a trap where it finds no workspace. */
void exec_op_trap(warp *w, const ptx_insn *i) {
    const frame *f = &w->frames[w->splits[w->current].frame];
    bool grid = !w->block->worker->workspace && uses_workspace(f->function->code);
    enum simgpu_fault_cause cause = i->sub ? SIMGPU_CAUSE_BREAKPOINT
                                    : grid ? SIMGPU_CAUSE_NOT_COOPERATIVE
                                           : SIMGPU_CAUSE_TRAP;
    exec_fail(w, i, SIMGPU_FAULT_TRAP, cause, (uint32_t)__builtin_ctz(w->mask));
}

/* --- calls -------------------------------------------------------------------------------------------------- */

/* Returns the value of a special register for one lane. */
static uint64_t special(const warp *w, enum ptx_special s, uint32_t lane) {
    const block *b = w->block;
    const exec_launch *n = b->launch;
    uint32_t tid = w->number * 32 + lane;
    switch (s) {
    case SREG_tid_x: return tid % n->block.x;
    case SREG_tid_y: return tid / n->block.x % n->block.y;
    case SREG_tid_z: return tid / n->block.x / n->block.y;
    case SREG_ntid_x: return n->block.x;
    case SREG_ntid_y: return n->block.y;
    case SREG_ntid_z: return n->block.z;
    case SREG_ctaid_x: return b->index.x;
    case SREG_ctaid_y: return b->index.y;
    case SREG_ctaid_z: return b->index.z;
    case SREG_nctaid_x: return n->grid.x;
    case SREG_nctaid_y: return n->grid.y;
    case SREG_nctaid_z: return n->grid.z;
    case SREG_laneid: return lane;
    case SREG_warpid: return w->number;
    case SREG_nwarpid: return b->nwarps;
    case SREG_smid: return b->id % w->block->worker->device->card.sms; /* round robin, one possible placement */
    case SREG_nsmid: return w->block->worker->device->card.sms;
    case SREG_lanemask_eq: return 1u << lane;
    case SREG_lanemask_lt: return (1u << lane) - 1;
    case SREG_lanemask_le: return (2u << lane) - 1;
    case SREG_lanemask_ge: return ~((1u << lane) - 1);
    case SREG_lanemask_gt: return ~((2u << lane) - 1);
    case SREG_dynamic_smem_size: return n->dynamic_shared;
    case SREG_total_smem_size: return b->shared_bytes;
    case SREG_envreg1: return b->worker->workspace >> 32;
    case SREG_envreg2: return (uint32_t)b->worker->workspace;
    default: return 0;
    }
}

/* Returns a kernel parameter, extended to the row's width by its type. */
static uint64_t parameter(const warp *w, const ptx_row *row) {
    uint64_t v = 0;
    memcpy(&v, (const uint8_t *)w->block->launch->params + row->bits, ptx_type_bytes[row->type]);
    switch (row->type) {
    case TY_s8: return (uint64_t)(int8_t)v;
    case TY_s16: return (uint64_t)(int16_t)v;
    case TY_s32: return (uint64_t)(int32_t)v;
    default: return v;
    }
}

static uint64_t address_of(const warp *w, const ptx_row *row, const frame *f) {
    uint64_t at = row->bits;
    if (row->function) return at + row->function->number;
    if (!row->var) return at; /* a kernel parameter's offset */
    if (row->var->space == SPACE_LOCAL) at += f->local_base;
    if (row->var->space == SPACE_SHARED && row->var->size == 0)
        return at + w->block->launch->kernel->dynamic_shared_offset;
    if (row->var->space == SPACE_LOCAL) return at + row->var->address;
    return at + w->block->launch->program->address[row->var->number];
}

bool exec_row_differs(const ptx_row *row) {
    return row->kind == ROW_SPECIAL &&
           ((row->special >= SREG_ctaid_x && row->special <= SREG_ctaid_z) || row->special == SREG_smid);
}

/* Stores v in all lanes of a row of the frame r; special registers have a value for each lane. */
static void fill_row(const warp *w, const ptx_row *row, uint8_t *r, uint64_t v) {
    uint64_t *wide = (uint64_t *)__builtin_assume_aligned(r + row->row, 64);
    uint32_t *narrow = (uint32_t *)__builtin_assume_aligned(r + row->row, 64);
    if (row->kind == ROW_SPECIAL) {
        for (uint32_t l = 0; l < 32; l++) {
            v = special(w, (enum ptx_special)row->special, l);
            if (row->bytes == 8)
                wide[l] = v;
            else
                narrow[l] = (uint32_t)v;
        }
    } else if (row->bytes == 8) {
        for (uint32_t l = 0; l < 32; l++) wide[l] = v;
    } else {
        for (uint32_t l = 0; l < 32; l++) narrow[l] = (uint32_t)v;
    }
}

/* Fills in the rows of constants, zeroes registers that may be read unwritten, and fills local memory with a fixed
 * pattern, so that a read before a write does not see another block's data. again: the frame held the same kernel of
 * the same launch before, for another block. */
void exec_frame_fill(warp *w, frame *f, uint8_t *r, bool again) {
    const ptx_code *c = f->function->code;
    for (uint32_t k = 0; k < c->nzeroed; k++) memset(r + c->zeroed[k].begin, 0, c->zeroed[k].end - c->zeroed[k].begin);
    for (uint32_t l = 0; l < 32 && f->function->local_bytes; l++)
        memset(w->local + (size_t)l * w->local_stride + f->local_base, 0xCD, f->function->local_bytes);
    for (uint32_t k = 0; k < c->nrows; k++) {
        const ptx_row *row = &c->rows[k];
        if (again && !exec_row_differs(row)) continue;
        uint64_t v = row->kind == ROW_PARAM     ? parameter(w, row)
                     : row->kind == ROW_ADDRESS ? address_of(w, row, f)
                                                : row->bits;
        fill_row(w, row, r, v);
    }
}

/* Returns the lowest place of so many bytes beside the frames that are in use, up to number last: in the warp's stack,
 * or in local memory. */
static uint32_t lowest_gap(const warp *w, const bool *used, int32_t last, bool local, uint32_t bytes) {
    uint32_t at = local ? w->frames[0].local_end : w->frames[0].end;
    for (bool moved = true; moved;) {
        moved = false;
        for (int32_t k = 1; k <= last; k++) {
            const frame *f = &w->frames[k];
            uint32_t begin = local ? f->local_base : f->base, end = local ? f->local_end : f->end;
            if (!used[k] || begin >= at + bytes || end <= at) continue;
            at = end;
            moved = true;
        }
    }
    return at;
}

/* Makes a frame beside those that lanes are in or return to. Splits that call in turn leave gaps, as one returns while
 * another's frame lies above its own; a frame always takes the lowest one, or their frames would climb without end. */
static frame *push_frame(warp *w, const ptx_insn *i, const ptx_function *f, int32_t *index) {
    bool used[MAX_FRAMES] = {false};
    int32_t last = 0, k = 1;
    for (uint32_t s = 0; s < w->nsplits; s++) {
        if (w->splits[s].state == SPLIT_FREE) continue;
        for (int32_t of = w->splits[s].frame; of >= 0 && !used[of]; of = w->frames[of].caller) {
            used[of] = true;
            if (of > last) last = of;
        }
    }
    while (k < MAX_FRAMES && used[k]) k++;
    uint32_t base = lowest_gap(w, used, last, false, f->code->frame_bytes);
    uint32_t local = lowest_gap(w, used, last, true, f->local_bytes);
    if (k >= MAX_FRAMES - 1 || base - w->frames[0].end + f->code->frame_bytes > w->call_stack ||
        local + f->local_bytes > w->local_stride) {
        exec_fault *deep = exec_fail(w, i, SIMGPU_FAULT_STACK, SIMGPU_CAUSE_CALLS, (uint32_t)__builtin_ctz(w->mask));
        snprintf(deep->name, sizeof deep->name, "%s", f->name);
        return NULL;
    }
    *index = k;
    w->frames[k] = (frame){.base = base,
                           .end = base + f->code->frame_bytes,
                           .local_base = local,
                           .local_end = local + f->local_bytes,
                           .function = f};
    return &w->frames[k];
}

static void copy_slot(uint8_t *to, const ptx_slot *d, const uint8_t *from, const ptx_slot *s, uint32_t mask) {
    uint32_t bytes = d->size < s->size ? d->size : s->size;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(m);
        memcpy(to + d->offset + l * d->stride, from + s->offset + l * s->stride, bytes);
    }
}

/* Returns the function of the first lane's pointer and the lanes with the same one; the others repeat the call. */
static const ptx_function *indirect_callee(warp *w, const ptx_insn *i, uint32_t *lanes) {
    const uint64_t *target = ROW(w, uint64_t, i->call->function);
    uint64_t number = target[__builtin_ctz(w->mask)];
    *lanes = 0;
    for (uint32_t m = w->mask; m; m &= m - 1)
        if (target[__builtin_ctz(m)] == number) *lanes |= m & -m;
    const ptx_module *mod = w->block->launch->kernel->module;
    if (number == 0 || number > mod->nfunctions || !mod->functions[number - 1]->code) {
        exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_NO_FUNCTION, (uint32_t)__builtin_ctz(w->mask))
            ->n[0] = number;
        return NULL;
    }
    return mod->functions[number - 1];
}

void exec_op_call(warp *w, const ptx_insn *i) {
    const ptx_function *f = i->call->callee;
    uint32_t lanes = w->mask;
    if (f && !f->code) {
        exec_builtin_call(w, i);
        return;
    }
    if (!f && !(f = indirect_callee(w, i, &lanes))) return;
    if (i->call->nargs != f->code->nparams) {
        exec_fault *e =
            exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, SIMGPU_CAUSE_ARGUMENTS, (uint32_t)__builtin_ctz(w->mask));
        snprintf(e->name, sizeof e->name, "%s", f->name);
        e->n[0] = i->call->nargs;
        e->n[1] = f->code->nparams;
        return;
    }
    if (lanes != w->active) { /* the others repeat the call for their own target, or skip it by its guard */
        exec_warp_diverge(w, i, w->active & ~lanes, w->pc - 1);
        if (w->stop) return;
        w->mask = lanes;
    }
    split *s = &w->splits[w->current];
    int32_t index;
    frame *n = push_frame(w, i, f, &index);
    if (!n) return;
    n->caller = s->frame;
    n->return_pc = w->pc;
    n->saved_join = s->join;
    n->call = i;
    uint8_t *r = w->stack + n->base;
    exec_frame_fill(w, n, r, false);
    for (uint32_t k = 0; k < i->call->nargs; k++) copy_slot(r, &f->code->params[k], w->r, &i->call->args[k], w->mask);
    s->join = NO_JOIN;
    s->frame = index;
    s->pc = 0;
    s->mask = w->active;
    enter_split(w, w->current);
}

/* In a kernel the lanes end. In a function they branch to its last ret, behind the join of all lanes, and return. */
void exec_op_ret(warp *w, const ptx_insn *i) {
    split *s = &w->splits[w->current];
    frame *f = &w->frames[s->frame];
    if (f->caller < 0) {
        exec_warp_exit(w, w->mask);
        return;
    }
    if (i->target != NO_JOIN) {
        if (w->mask != w->active)
            exec_warp_diverge(w, i, w->mask, i->target);
        else
            w->pc = i->target;
        return;
    }
    frame *to = &w->frames[f->caller];
    if (f->call->call->has_result && f->function->code->has_result)
        copy_slot(w->stack + to->base, &f->call->call->result, w->r, &f->function->code->result, w->active);
    s->frame = f->caller;
    s->join = f->saved_join;
    s->pc = f->return_pc;
    s->mask = w->active;
    enter_split(w, w->current);
}

/* --- synchronisation of lanes ------------------------------------------------------------------------------- */

/* Returns whether the split waits with this mask at this instruction; pure: or at any other that exchanges no values.
 */
static bool waits_with(const warp *w, const split *p, uint32_t pc, int32_t frame_index, uint32_t want, bool pure) {
    if (p->state != SPLIT_SYNC || p->wanted != want || p->frame != frame_index) return false;
    return p->pc == pc || (pure && w->code[p->pc].op == OP_bar_warp);
}

bool exec_warp_sync(warp *w, const ptx_insn *i, uint32_t member) {
    uint32_t self = w->pc - 1, want = member & w->live;
    split *s = &w->splits[w->current];
    if (w->mask & ~member) {
        uint32_t lane = (uint32_t)__builtin_ctz(w->mask & ~member);
        exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_BAD_SYNC, SIMGPU_CAUSE_MASK_WITHOUT_ME, lane);
        f->n[0] = member;
        f->n[1] = lane;
        return false;
    }
    if ((w->mask & want) == want || s->alone) {
        if (exec_heard) exec_listen_synced(w, want);
        s->alone = false;
        return true;
    }
    bool pure =
        i->op == OP_bar_warp; /* lanes may meet at __syncwarp of different lines, but must exchange values at one */
    uint32_t here = w->mask;
    for (uint32_t k = 0; k < w->nsplits; k++)
        if (waits_with(w, &w->splits[k], self, s->frame, want, pure)) here |= w->splits[k].mask;
    if ((here & want) != want) {
        w->executed[self]--;
        w->threads[self] -= (uint64_t)__builtin_popcount(w->mask);
        if (w->mask != w->active) { /* lanes that the guard switches off will never arrive */
            uint32_t absent = (uint32_t)__builtin_ctz(want & ~w->mask);
            exec_fail(w, i, SIMGPU_FAULT_BAD_SYNC, SIMGPU_CAUSE_MASK_OF_ABSENT, absent)->n[0] = member;
            return false;
        }
        s->state = SPLIT_SYNC;
        s->wanted = want;
        w->pc = self;
        w->stop = true;
        return false;
    }
    for (uint32_t k = 0; k < w->nsplits; k++) {
        split *p = &w->splits[k];
        if (!waits_with(w, p, self, s->frame, want, pure)) continue;
        p->state = SPLIT_RUN;
        p->pc++;
    }
    w->mask = here;
    if (exec_heard) exec_listen_synced(w, want);
    return true;
}

/* --- the loop ----------------------------------------------------------------------------------------------- */

static void run_split(warp *w) {
    while (!w->stop) {
        uint32_t pc = w->pc++, m = w->active;
        const ptx_insn *i = &w->code[pc];
        exec_handler *run = w->run[pc];
        if (i->guarded) m &= predicate(w, i->guard, i->guard_not);
        w->mask = m;
        w->executed[pc]++;
        w->depth += i->depth;
        if (m == FULL) { /* the usual case */
            w->threads[pc] += 32;
            run(w, i);
        } else {
            w->threads[pc] += (uint64_t)__builtin_popcount(m);
            if (m && m != w->expanded) expand(w);
            if (m || i->op == OP_bra) run(w, i);
        }
        if (--w->fuel == 0) w->stop = true;
    }
}

/* Lets the splits that wait for split s at joins continue without it; it meets them at a later join. Returns whether
 * there is one. */
static bool release_waiters(warp *w, const split *s) {
    bool any = false;
    for (int32_t j = s->parent; j >= 0; j = w->splits[j].parent) {
        split *p = &w->splits[j];
        if (!p->mask) continue;
        for (uint32_t n = 0; n < MAX_SPLITS; n++) {
            if (w->splits[n].state != SPLIT_FREE) continue;
            if (n >= w->nsplits) w->nsplits = n + 1;
            w->splits[n] = (split){.state = SPLIT_RUN,
                                   .mask = p->mask,
                                   .pc = p->pc,
                                   .join = p->join,
                                   .parent = p->parent,
                                   .frame = p->frame};
            if (p->parent >= 0) w->splits[p->parent].children++;
            p->mask = 0;
            any = true;
            break;
        }
    }
    return any;
}

static const ptx_insn *insn_of(const warp *w, const split *p) {
    return &w->frames[p->frame].function->code->insns[p->pc - (p->state == SPLIT_BARRIER)];
}

/* If all lanes that split s waits for have come to instructions of its kind, though to different ones, each split
 * exchanges with its own lanes. (A shuffle and a __syncwarp do not meet: a card hangs.) Returns whether they have. */
static bool meet_apart(warp *w, const split *s) {
    const uint32_t wanted = s->wanted;
    const uint16_t op = insn_of(w, s)->op;
    uint32_t here = 0;
    if (s->state != SPLIT_SYNC) return false;
    for (uint32_t n = 0; n < w->nsplits; n++) {
        const split *p = &w->splits[n];
        if (p->state == SPLIT_SYNC && p->wanted == wanted && insn_of(w, p)->op == op) here |= p->mask;
    }
    if (here != wanted) return false;
    for (uint32_t n = 0; n < w->nsplits; n++) {
        split *p = &w->splits[n];
        if (p->state != SPLIT_SYNC || p->wanted != wanted) continue;
        p->state = SPLIT_RUN;
        p->alone = true;
    }
    return true;
}

static bool lanes_wait; /* set by exec_lanes_wait */

void exec_lanes_wait(void) { lanes_wait = true; }

/* Some lanes of a warp wait for a mask or at a barrier, and the others for them at a join or at another line, so that
 * the block stands still. On a card they go on (../README.md, "Barriers that not every thread reaches"). Notes the
 * first place for exec_run's message. Returns whether any lanes go on. */
bool exec_block_goes_on(block *b) {
    bool any = false;
    if (lanes_wait || exec_heard) return false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        warp *w = &b->warps[k];
        for (uint32_t n = 0, all = w->nsplits; n < all; n++) {
            const split *p = &w->splits[n];
            if (p->state != SPLIT_SYNC && p->state != SPLIT_BARRIER) continue;
            const ptx_insn *here = insn_of(w, p);
            if (!meet_apart(w, p) && !release_waiters(w, p)) continue;
            any = true;
            worker *t = b->worker;
            if (b->id >= t->parted_block) continue;
            t->parted_block = b->id;
            t->parted = here;
        }
    }
    return any;
}

void exec_polled(warp *w, const ptx_insn *i) {
    w->polls++;
    if (!i->waits || !w->block->together || w->block->failed) return;
    uint32_t first = (uint32_t)__builtin_ctz(w->mask), place = ((uint32_t)(i - w->code) + first) % 8;
    uint64_t saw = w->mask;
    for (uint32_t k = 0; k < (i->op == OP_atom ? 1u : i->vector); k++) {
        uint32_t row = i->op == OP_atom ? i->d : i->v[k];
        bool wide = i->op == OP_atom ? ptx_type_bytes[i->type] == 8 : i->d_wide;
        for (uint32_t m = w->mask; m; m &= m - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(m);
            saw = base_hash(saw ^ (wide ? ROW(w, uint64_t, row)[l] : ROW(w, uint32_t, row)[l]));
        }
    }
    bool again = w->polled[place].insn == i && w->polled[place].saw == saw;
    w->polled[place].insn = i;
    w->polled[place].saw = saw;
    w->took = !again && i->takes;
    if (!again) w->news = true;
    if (!again && !i->takes) return;
    w->vain = again;
    if (again) w->vain_at = i, w->vain_address = w->address[first];
    w->unspent = w->fuel - 1; /* the slice ends behind this instruction */
    w->fuel = 1;
}

/* Returns the next runnable split after the current one, round robin, or -1. */
static int32_t next_runnable(const warp *w) {
    for (uint32_t k = 1; k <= w->nsplits; k++) {
        uint32_t s = ((uint32_t)w->current + k) % w->nsplits;
        if (w->splits[s].state == SPLIT_RUN) return (int32_t)s;
    }
    return -1;
}

bool exec_warp_run(warp *w) {
    bool progress = false;
    uint32_t turns = 0; /* slices used up in this turn of the warp */
    for (int32_t s; !w->block->failed && (s = next_runnable(w)) >= 0;) {
        block *b = w->block;
        enter_split(w, s);
        progress = true;
        w->fuel = SLICE;
        w->polls = w->unspent = 0;
        w->vain = w->news = w->stop = false;
        run_split(w);
        leave_split(w);
        uint32_t spent = SLICE - w->fuel - w->unspent;
        w->clock += spent;
        b->worked |= !w->vain || w->news;
        w->vain_slices = w->vain ? w->vain_slices + 1 : 0;
        if (b->failed) break;
        if (spent >= b->budget) {
            exec_fail(w, &w->code[w->pc], SIMGPU_FAULT_BUDGET, SIMGPU_CAUSE_BLOCK_BUDGET, 32);
            break;
        }
        b->budget -= spent;
        if (w->took) break;
        if (w->fuel == 0) {
            b->spun |= w->polls >= POLLS;
            /* A failed attempt at a lock: its holder may be a lane that waits at a join. */
            bool release = w->vain ? w->vain_at->op == OP_atom || w->vain_slices >= VAIN_SLICES : w->polls >= POLLS;
            if (release) release_waiters(w, &w->splits[w->current]);
            if (++turns >= w->nsplits) break; /* other warps of the block get their turn */
        }
    }
    return progress;
}

void exec_warp_start(warp *w, block *b, uint32_t number) {
    const exec_launch *n = b->launch;
    uint32_t first = number * 32, threads = b->nthreads - first < 32 ? b->nthreads - first : 32;
    w->block = b;
    w->number = number;
    w->live = threads == 32 ? FULL : (1u << threads) - 1;
    for (uint32_t s = 0; s < w->nsplits; s++) w->splits[s].state = SPLIT_FREE;
    w->nsplits = 1;
    w->current = 0;
    w->clock = 0;
    w->depth = 0;
    w->missed = w->missed_last = 0;
    w->nstored = 0; /* the block that was here before may have run elsewhere with more host threads */
    w->fetched = 0;
    w->fences = 0;
    w->copies = 0;
    memset(w->groups, 0, sizeof w->groups);
    w->vain_slices = 0;
    w->vain_at = NULL;
    w->took = false;
    memset(w->polled, 0, sizeof w->polled);
    w->splits[0] = (split){.state = SPLIT_RUN, .mask = w->live, .join = NO_JOIN, .parent = -1};
    w->frames[0] = (frame){
        .end = n->kernel->code->frame_bytes, .local_end = n->kernel->local_bytes, .function = n->kernel, .caller = -1};
    exec_frame_fill(w, &w->frames[0], w->stack, w->filled_for == b->worker->launch_number);
    w->filled_for = b->worker->launch_number;
}

/* What went wrong, said once and well: the source line with a caret, the cause, and who it was.
 *
 *   transpose.cu:31: illegal address: store of 4 bytes at 0x20000004000: 0 bytes past the end of the 16384-byte
 * allocation at 0x20000000000 31 |     out[c * rows + r] = in[r * cols + c]; |                       ^ in kernel
 * transpose, block (3,0,0), thread (31,0,0)
 */
#include "warp.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const titles[] = {[EXEC_UNSUPPORTED] = "unsupported instruction",
                                     [EXEC_ILLEGAL_ADDRESS] = "illegal address",
                                     [EXEC_MISALIGNED] = "misaligned address",
                                     [EXEC_BUDGET] = "runaway kernel",
                                     [EXEC_DEADLOCK] = "deadlock",
                                     [EXEC_BAD_SYNC] = "bad synchronisation",
                                     [EXEC_TRAP] = "trap",
                                     [EXEC_ASSERT] = "assertion failed",
                                     [EXEC_STACK] = "stack overflow"};

static void add(char *text, size_t size, const char *format, ...) {
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + n, size - n, format, ap);
    va_end(ap);
}

static const char *short_path(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The line of source that i comes from and a caret at its column, if the file can be read. */
void fault_source_line(char *text, size_t size, const ptx_module *m, const ptx_insn *i) {
    const char *path = i->file < m->nfiles ? m->files[i->file] : "";
    FILE *f = i->line && *path ? fopen(path, "r") : NULL;
    char line[512];
    uint32_t n = 0;
    if (!f) return;
    while (n < i->line && fgets(line, sizeof line, f)) n++;
    fclose(f);
    if (n != i->line) return;
    line[strcspn(line, "\r\n")] = '\0';
    uint32_t caret = i->column ? i->column - 1 : 0, indent = 0;
    while (line[indent] == ' ' || line[indent] == '\t') indent++;
    add(text, size, "\n%6u | %s\n       | ", i->line, line);
    for (uint32_t k = 0; k < caret && line[k]; k++) add(text, size, "%c", line[k] == '\t' ? '\t' : ' ');
    add(text, size, "^");
}

static bool first_fault(worker *t, uint64_t block_id, exec_status status) {
    t->block.failed = true;
    if (t->fault.status != EXEC_OK && t->fault_block <= block_id) return false;
    t->fault.status = status;
    t->fault_block = block_id;
    t->fault.message[0] = '\0';
    return true;
}

/* Where and what: "transpose.cu:31: illegal address: " */
static void add_title(char *text, size_t size, const ptx_module *m, const ptx_insn *i, exec_status status) {
    const char *path = i->file < m->nfiles ? m->files[i->file] : "";
    if (i->line && *path)
        add(text, size, "%s:%u: ", short_path(path), i->line);
    else
        add(text, size, "%s, PTX line %u: ", m->source_name, i->ptx_line);
    add(text, size, "%s: ", titles[status]);
}

static void add_kernel(char *text, size_t size, const ptx_function *f) {
    int length;
    const char *name = ptx_base_name(f->name, &length);
    add(text, size, "\n  in kernel %.*s", length, name);
}

void fault(warp *w, const ptx_insn *i, exec_status status, uint32_t lane, const char *format, ...) {
    block *b = w->block;
    w->stop = true;
    if (!first_fault(b->worker, b->id, status)) return;
    char *text = b->worker->fault.message;
    size_t size = sizeof b->worker->fault.message;
    const ptx_module *m = b->launch->kernel->module;
    char what[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    add_title(text, size, m, i, status);
    add(text, size, "%s", what);
    fault_source_line(text, size, m, i);
    add_kernel(text, size, b->launch->kernel);
    add(text, size, ", block (%u,%u,%u)", b->index.x, b->index.y, b->index.z);
    uint32_t tid = w->number * 32 + (lane < 32 ? lane : 0);
    exec_dim d = b->launch->block;
    if (lane < 32)
        add(text, size, ", thread (%u,%u,%u)", tid % d.x, tid / d.x % d.y, tid / d.x / d.y);
    else
        add(text, size, ", warp %u", w->number);
}

/* The blocks of a launch have gone past what they may execute together: each one by itself may end. */
void fault_launch_budget(exec_fault *f, const exec_launch *n, uint64_t through, uint64_t blocks, uint64_t budget) {
    const ptx_insn *i = n->kernel->code->insns, *end = i + n->kernel->code->ninsns;
    while (i + 1 < end && !i->line) i++;
    f->status = EXEC_BUDGET;
    f->message[0] = '\0';
    add_title(f->message, sizeof f->message, n->kernel->module, i, EXEC_BUDGET);
    add(f->message, sizeof f->message,
        "the first %llu of its %llu blocks took more than %llu warp instructions, which is the budget of a launch; "
        "SIMGPU_BUDGET raises it",
        (unsigned long long)through, (unsigned long long)blocks, (unsigned long long)budget);
    fault_source_line(f->message, sizeof f->message, n->kernel->module, i);
    add_kernel(f->message, sizeof f->message, n->kernel);
}

/* --- deadlock ----------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t line, threads, state;
    const ptx_insn *insn;
    warp *warp;
} group;

/* Nobody in the block can run, and not all have ended: who waits where. */
void fault_deadlock(block *b) {
    group groups[16];
    uint32_t n = 0;
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (uint32_t s = 0; s < b->warps[k].nsplits; s++) {
            warp *w = &b->warps[k];
            const split *p = &w->splits[s];
            if (p->state == SPLIT_FREE || !p->mask) continue;
            const ptx_code *c = w->frames[p->frame].function->code;
            const ptx_insn *i = &c->insns[p->state == SPLIT_BARRIER ? p->pc - 1 : p->pc];
            uint32_t g = 0;
            while (g < n && (groups[g].insn != i || groups[g].state != (uint32_t)p->state)) g++;
            if (g == 16) continue;
            if (g == n) groups[n++] = (group){i->line, 0, (uint32_t)p->state, i, w};
            groups[g].threads += (uint32_t)__builtin_popcount(p->mask);
        }
    char what[800] = "";
    /* Who waits for a mask is to blame, else who waits at a barrier: they keep the others waiting, for their warp to
     * come together or at a barrier. */
    const group *first = &groups[0];
    _Static_assert(SPLIT_JOIN < SPLIT_BARRIER && SPLIT_BARRIER < SPLIT_SYNC, "the order of blame");
    for (uint32_t g = 0; g < n; g++)
        if (groups[g].state > first->state) first = &groups[g];
    bool counted = false;
    for (uint32_t k = 0; k < MAX_BARRIERS; k++) counted |= b->barriers[k].arrived && b->barriers[k].expected;
    for (uint32_t g = 0; g < n; g++) {
        const char *where = groups[g].state == SPLIT_BARRIER ? "at the barrier"
                            : groups[g].state == SPLIT_SYNC  ? "for lanes that their mask names"
                                                             : "for the others of their warp to come";
        add(what, sizeof what, "%s%u of %u threads wait %s at line %u", g ? "; " : "", groups[g].threads, b->nthreads,
            where, groups[g].line);
    }
    if (b->live < b->nthreads) add(what, sizeof what, "; %u have ended", b->nthreads - b->live);
    add(what, sizeof what, ". %s",
        first->state == SPLIT_SYNC ? "Every lane that a mask names must come to the line that names it"
        : counted                  ? "A barrier with a number of threads waits until so many have come"
                                   : "Every thread of the block must reach the same __syncthreads()");
    fault(first->warp, first->insn, EXEC_DEADLOCK, 32, "%s", what);
}

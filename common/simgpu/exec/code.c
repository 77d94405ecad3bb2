/* code.c — the instruction caches of a device's SMs. An SM keeps the machine code of the kernels that ran last, as much
 * as the cache holds. What a kernel has that is no longer there comes from L2 when the first warps reach it. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

static exec_code *pieces; /* of the last launch */
static uint32_t npieces, piece_room;

static exec_code *add_piece(void) {
    if (npieces == piece_room) {
        piece_room = piece_room ? 2 * piece_room : 64;
        pieces = exec_must(realloc(pieces, piece_room * sizeof *pieces));
    }
    pieces[npieces] = (exec_code){0};
    return &pieces[npieces++];
}

static bool has_run(const worker *workers, unsigned threads, uint64_t launch, uint32_t first, uint32_t at) {
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].ran_in[first] == launch && workers[t].executed[at]) return true;
    return false;
}

/* Adds the basic blocks of a function that the launch has run. */
static void add_function(const ptx_code *code, const worker *workers, unsigned threads, uint64_t launch) {
    uint32_t skipped = 0;
    for (uint32_t n = 0; n < code->ninsns;) {
        const ptx_insn *first = &code->insns[n];
        uint32_t slots = 0, end = n;
        do slots += code->insns[end++].slots;
        while (end < code->ninsns && !code->insns[end].copies);
        const uint32_t at = n;
        n = end;
        if (!first->length) continue;
        if (!has_run(workers, threads, launch, code->first, code->first + at)) {
            skipped += first->length;
            continue;
        }
        const int64_t clocks = ptx_depth_clocks(first->depth) * first->copies;
        exec_code *piece = add_piece();
        *piece = (exec_code){first->length, skipped, clocks > 0 ? (uint32_t)clocks : 0,
                             slots * first->copies / PTX_MACHINE_UNIT};
        skipped = 0;
    }
}

/* Notes that the kernel has run, with so many machine instructions. Returns the part of them that the SMs lacked. */
static double note_kernel(exec_device *d, const ptx_function *kernel, uint64_t program, uint32_t length, double cache) {
    const exec_cached it = {program, kernel->number, length};
    double newer = length;
    uint32_t k = 0;
    for (; k < d->code.n; k++) {
        if (d->code.of[k].program == program && d->code.of[k].function == kernel->number) break;
        newer += d->code.of[k].length;
    }
    const double part = k < d->code.n ? ptx_part_fetched(length, newer, cache) : 1;
    if (k == d->code.n && k < EXEC_CACHED) d->code.n++;
    if (k == EXEC_CACHED) k--;
    memmove(&d->code.of[1], &d->code.of[0], k * sizeof it);
    d->code.of[0] = it;
    return part;
}

void exec_code_collect(const exec_launch *launch, const worker *workers, unsigned threads, uint64_t number,
                       exec_result *r) {
    const ptx_module *m = launch->program->module;
    npieces = 0;
    for (uint32_t k = 0; k < m->nfunctions; k++)
        if (m->functions[k]->code) add_function(m->functions[k]->code, workers, threads, number);
    uint32_t length = 0;
    for (uint32_t k = 0; k < npieces; k++) length += pieces[k].length;
    r->code = pieces, r->ncode = npieces;
    r->fetched =
        note_kernel(launch->program->device, launch->kernel, launch->program->number, length, m->costs.fetch.cache);
}

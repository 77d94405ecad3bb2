/* fetch.c — the instruction caches of a device's SMs. An SM keeps the machine code of the kernels that ran last, as
 * much as the cache holds. What a kernel has that is no longer there comes from L2 when the first warps reach it.
 *
 * A kernel's first launch on a device finds its code there: on a card to load it takes far longer, so programs launch
 * once before they measure. A small grid leaves most SMs alone: small ones are taken to run on the same SMs. */
#include "warp.h"

#include <stdlib.h>
#include <string.h>

static exec_code *fetched; /* the basic blocks of the last launch */
static uint32_t nfetched, fetched_room;

static void add_block(const exec_code *block) {
    if (nfetched == fetched_room) {
        fetched_room = fetched_room ? 2 * fetched_room : 64;
        fetched = exec_must(realloc(fetched, fetched_room * sizeof *fetched));
    }
    fetched[nfetched++] = *block;
}

static bool has_run(const worker *workers, unsigned threads, uint64_t launch, uint32_t first, uint32_t at) {
    for (unsigned t = 0; t < threads; t++)
        if (workers[t].ran_in[first] == launch && workers[t].executed[at]) return true;
    return false;
}

/* Adds the basic blocks of a function that the launch has run. */
static void add_function(const ptx_code *code, const worker *workers, unsigned threads, uint64_t launch) {
    uint32_t skipped = 0, end;
    for (uint32_t n = 0; n < code->ninsns; n = end) {
        const ptx_insn *first = &code->insns[n];
        uint32_t slots = first->slots;
        for (end = n + 1; end < code->ninsns && !code->insns[end].copies; end++) slots += code->insns[end].slots;
        if (!first->length) continue;
        if (!has_run(workers, threads, launch, code->first, code->first + n)) {
            skipped += first->length;
            continue;
        }
        const int64_t clocks = ptx_depth_clocks(first->depth) * first->copies;
        add_block(&(exec_code){first->length, skipped, clocks > 0 ? (uint32_t)clocks : 0,
                               slots * first->copies / PTX_MACHINE_UNIT});
        skipped = 0;
    }
}

/* Notes that a kernel has run, with so many machine instructions, on a part of the SMs. Returns the part of them that
 * these SMs lacked. */
static double note_kernel(exec_device *d, exec_kept it, bool again, double cache) {
    double between = it.length, part = again ? 1 : 0;
    uint32_t k = 0;
    for (; k < d->nkept; k++) {
        const exec_kept *x = &d->kept[k];
        if (x->program == it.program && x->function == it.function) break;
        between += x->length * (x->sms < it.sms ? x->sms / it.sms : 1);
    }
    if (k < d->nkept && it.sms <= d->kept[k].sms) part = ptx_part_fetched(it.length, between, cache);
    if (k == d->nkept && k < EXEC_KEPT) d->nkept++;
    if (k == EXEC_KEPT) k--;
    memmove(&d->kept[1], &d->kept[0], k * sizeof it);
    d->kept[0] = it;
    return part;
}

void exec_fetch_collect(const exec_launch *launch, const worker *workers, unsigned threads, uint64_t number,
                        exec_result *r) {
    const exec_program *p = launch->program;
    const ptx_module *m = p->module;
    const uint32_t function = launch->kernel->number;
    const double sms = (double)r->blocks / p->device->card.sms;
    nfetched = 0;
    for (uint32_t k = 0; k < m->nfunctions; k++) {
        const ptx_code *code = m->functions[k]->code;
        bool ran = false;
        for (unsigned t = 0; code && t < threads; t++) ran |= workers[t].ran_in[code->first] == number;
        if (ran) add_function(code, workers, threads, number);
    }
    uint32_t length = 0;
    for (uint32_t k = 0; k < nfetched; k++) length += fetched[k].length;
    r->code = fetched, r->ncode = nfetched;
    r->fetched = note_kernel(p->device, (exec_kept){p->number, function, length, sms < 1 ? sms : 1},
                             p->functions[function].ran > p->device->warmed, m->costs.fetch.cache);
    p->functions[function].ran = p->device->warmed + 1;
}

void exec_fetch_warm(exec_device *d) {
    d->nkept = 0;
    d->warmed++;
}

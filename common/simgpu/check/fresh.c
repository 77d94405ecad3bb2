/* fresh.c — tells which words of device memory nothing has written since their allocation.
 *
 * exec/ fills fresh memory with bytes of EXEC_FRESH. A word that still holds them was never written, unless the program
 * itself writes that value, which it hardly ever does: the ranges of such writes are kept, in the order of their
 * discovery. So memory that was written before the checks were switched on needs no record.
 */
#include "parts.h"

#include <string.h>

enum { MAX_RANGES = 4096 };
static const uint32_t FRESH_WORD = EXEC_FRESH * 0x01010101u;

/* Of a card. */
typedef struct {
    struct {
        uint64_t lo, hi;
    } range[MAX_RANGES]; /* the program wrote FRESH_WORD here */
    uint32_t n;
    bool full; /* more than that: nothing is known of any word */
} fresh_state;
static fresh_state *here;

static void written(uint64_t lo, uint64_t hi) {
    if (here->n && here->range[here->n - 1].hi == lo) {
        here->range[here->n - 1].hi = hi;
        return;
    }
    for (uint32_t k = 0; k < here->n; k++)
        if (here->range[k].lo <= lo && hi <= here->range[k].hi) return;
    here->full = here->n == MAX_RANGES;
    if (here->full) return;
    here->range[here->n].lo = lo;
    here->range[here->n++].hi = hi;
}

static bool was_written(uint64_t address) {
    for (uint32_t k = 0; k < here->n; k++)
        if (here->range[k].lo <= address && address < here->range[k].hi) return true;
    return here->full;
}

void check_fresh_stores(const exec_access *a, uint32_t lane) {
    const uint64_t at = a->address[lane];
    if (a->size < 4) {
        if (exec_access_stores(a, lane, 0) == FRESH_WORD >> (32 - 8 * a->size)) written(at & ~3ull, (at & ~3ull) + 4);
        return;
    }
    for (uint32_t k = 0; k < a->size / 4; k++)
        if (exec_access_stores(a, lane, k) == FRESH_WORD) written(at + 4 * k, at + 4 * k + 4);
}

bool check_fresh_reads(const exec_access *a, uint32_t lane) {
    const uint64_t at = a->address[lane];
    if (a->size < 4) return false;
    for (uint32_t k = 0; k < a->size / 4; k++) {
        uint32_t value;
        memcpy(&value, exec_access_finds(a, at + 4 * k), 4);
        if (value != FRESH_WORD || was_written(at + 4 * k)) return false;
    }
    return true;
}

/* Returns whether a word in these bytes, of those that are aligned, has the value of fresh memory. */
static bool has_fresh(const uint8_t *bytes, uint64_t n) {
    bool found = false;
    for (uint64_t k = 0; k + 4 <= n; k += 4) {
        uint32_t value;
        memcpy(&value, bytes + k, 4);
        found |= value == FRESH_WORD;
    }
    return found;
}

void check_fresh_moved(const time_command *c) {
    const time_copy *m = &c->is.copy;
    if ((c->kind != TIME_COPY && c->kind != TIME_MEMSET) || !exec_mem_in_window((void *)m->to.address)) return;
    for (uint64_t row = 0; row < time_rows(m); row++) {
        const uint64_t lo = time_row(m, &m->to, row), hi = lo + m->width, first = (lo + 3) & ~3ull;
        if (hi > first && has_fresh(exec_mem_host(time_exec(), first), hi - first)) written(lo, hi);
    }
}

static void use(void *state) { here = state; }
static void forget(void) {}
const check_part check_part_fresh = {sizeof(fresh_state), use, forget};

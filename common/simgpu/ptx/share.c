/* share.c — registers that are never live at the same time share a row of the frame.
 *
 * PTX has a fresh register for nearly every value, and a warp's frame a row of 32 lanes for each register. A kernel of
 * a few hundred registers needs a tenth of that at a time; the rest would be memory that resident blocks fill caches
 * with.
 *
 * Two registers conflict if one is written while the other is live, or read by the same instruction. Rows are given out
 * in the order of the registers, each the first whose registers do not conflict with it. A lane writes only its own
 * slot of a row, so lanes that have parted do not disturb each other. What a shuffle reads has a row of its own, since
 * it may read lanes that have not come so far.
 */
#include "cfg.h"

#include <string.h>

enum { MOST = 4096 }; /* registers: 2 MiB of bits */

struct ptx_sharing {
    uint32_t nregisters, words;
    uint64_t *conflicts; /* a set for each register's id, from 1 on: who is live where it is written */
    uint64_t *alone;     /* those that share with nobody */
};

static bool has(const uint64_t *set, uint32_t id) { return set[id / 64] >> id % 64 & 1; }
static void add(uint64_t *set, uint32_t id) { set[id / 64] |= 1ull << id % 64; }

ptx_sharing *ptx_sharing_begin(uint32_t nregisters) {
    if (nregisters > MOST) return NULL;
    ptx_sharing *s = ptx_alloc(sizeof *s);
    s->nregisters = nregisters;
    s->words = (nregisters + 64) / 64;
    s->conflicts = ptx_alloc((size_t)(nregisters + 1) * s->words * 8);
    s->alone = ptx_alloc(s->words * 8);
    return s;
}

static void conflict(ptx_sharing *s, uint32_t id, const uint64_t *with) {
    for (uint32_t w = 0; w < s->words; w++) s->conflicts[id * s->words + w] |= with[w];
}

void ptx_sharing_note(ptx_sharing *s, const uint64_t *written, const uint64_t *read, const uint64_t *live) {
    for (uint32_t w = 0; w < s->words; w++)
        for (uint64_t bits = written[w]; bits; bits &= bits - 1) {
            uint32_t id = w * 64 + (uint32_t)__builtin_ctzll(bits);
            conflict(s, id, written), conflict(s, id, read), conflict(s, id, live);
        }
}

void ptx_sharing_keep(ptx_sharing *s, uint32_t id) { add(s->alone, id); }

/* Rows of one size, and who has them. */
typedef struct {
    uint32_t count, words;
    uint64_t *owners, *conflicts; /* a set for each row: its registers, and all that conflict with one of them */
} rows;

static bool fits(const ptx_sharing *s, const rows *r, uint32_t row, uint32_t id) {
    const uint64_t *owners = r->owners + row * r->words, *own = s->conflicts + id * s->words;
    bool free = !has(r->conflicts + row * r->words, id);
    for (uint32_t w = 0; w < r->words && free; w++) free = !(owners[w] & (own[w] | s->alone[w]));
    return free;
}

static uint32_t row_for(const ptx_sharing *s, rows *r, uint32_t id) {
    uint32_t row = has(s->alone, id) ? r->count : 0;
    while (row < r->count && !fits(s, r, row, id)) row++;
    if (row == r->count) r->count++;
    add(r->owners + row * r->words, id);
    for (uint32_t w = 0; w < r->words; w++) r->conflicts[row * r->words + w] |= s->conflicts[id * s->words + w];
    return row;
}

static rows rows_begin(const ptx_sharing *s) {
    const size_t bytes = (size_t)(s->nregisters + 1) * s->words * 8;
    return (rows){0, s->words, ptx_alloc(bytes), ptx_alloc(bytes)};
}

void ptx_sharing_end(ptx_sharing *s, const parsed_function *pf, uint32_t begin, uint32_t *row) {
    for (uint32_t k = 0; k < pf->nregisters; k++) row[pf->registers[k]->id] = pf->registers[k]->row;
    if (!s) return;
    rows wide = rows_begin(s), narrow = rows_begin(s);
    for (uint32_t k = 0; k < pf->nregisters; k++) {
        const reg *x = pf->registers[k];
        if (x->type != TY_pred) row[x->id] = row_for(s, ptx_type_bytes[x->type] == 8 ? &wide : &narrow, x->id);
    }
    for (uint32_t k = 0; k < pf->nregisters; k++) {
        const reg *x = pf->registers[k];
        if (x->type == TY_pred) continue;
        row[x->id] = begin + (ptx_type_bytes[x->type] == 8 ? 256 * row[x->id] : 256 * wide.count + 128 * row[x->id]);
    }
    ptx_free(wide.owners), ptx_free(wide.conflicts), ptx_free(narrow.owners), ptx_free(narrow.conflicts);
    ptx_free(s->conflicts), ptx_free(s->alone), ptx_free(s);
}

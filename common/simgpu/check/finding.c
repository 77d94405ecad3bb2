/* finding.c — reports each pair of lines once: as an event once for each card, on stderr once for the process.
 *
 * What is found in a launch is held until it ends. By then the same two lines may have raced again, between threads
 * that are farther apart: lanes of one warp come first, since a warp runs before the next, and only a barrier of the
 * block puts all of them in order. The widest race is reported. */
#include "finding.h"
#include "check.h"
#include "parts.h"

#include <string.h>

enum { MAX_FINDINGS = 20 }; /* later findings mostly follow from the first ones */

/* What is held of one pair of places: of each direction (false: a write was found second; true: a read) the widest. */
struct held {
    bool has[2], first; /* first: the direction that was found first */
    struct simgpu_finding of[2];
};

typedef struct {
    int n;
    struct {
        enum simgpu_finding_kind kind;
        struct simgpu_place place[2];
    } of[MAX_FINDINGS];
    struct held held[MAX_FINDINGS]; /* of the launch that runs, in the order of their discovery */
    int nheld;
} findings;
static findings *here;   /* of the card in use: sent or held */
static findings printed; /* of the process */

static bool prints = true;
void check_finding_print(bool on) { prints = on; }

static bool same(const struct simgpu_place *a, const struct simgpu_place *b) {
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

/* Returns whether these are the places a and b, in either order. */
static bool are(const struct simgpu_place *x, const struct simgpu_place *y, const struct simgpu_place *a,
                const struct simgpu_place *b) {
    return (same(a, x) && same(b, y)) || (same(a, y) && same(b, x));
}

/* Returns whether the list has room and no finding of this kind about these places. */
static bool is_new(const findings *list, const struct simgpu_finding *f) {
    const struct simgpu_place *a = &f->side[0].at, *b = &f->side[f->nsides - 1].at;
    for (int k = 0; k < list->n; k++)
        if (list->of[k].kind == f->kind && are(&list->of[k].place[0], &list->of[k].place[1], a, b)) return false;
    return list->n < MAX_FINDINGS;
}

static void note(findings *list, const struct simgpu_finding *f) {
    list->of[list->n].kind = f->kind;
    list->of[list->n].place[0] = f->side[0].at;
    list->of[list->n++].place[1] = f->side[f->nsides - 1].at;
}

/* Returns a number that grows with the distance of the two threads. */
static int width(const struct simgpu_finding *f) {
    static const int widths[] = {
        [SIMGPU_OTHER_LANE] = 1, [SIMGPU_OTHER_THREAD] = 2, [SIMGPU_OTHER_BLOCK] = 3, [SIMGPU_SAME_STORE] = 4};
    return widths[f->rival];
}

/* Returns whether what was found second is a read, or an atomic, which reads too. */
static bool is_read(const struct simgpu_finding *f) { return f->side[0].at.did != SIMGPU_DID_WRITE; }

/* Returns what is held of the same pair of places, or NULL. */
static struct held *alike(const struct simgpu_finding *f) {
    for (int k = 0; k < here->nheld; k++) {
        struct held *h = &here->held[k];
        const struct simgpu_finding *g = &h->of[h->first];
        if (g->kind == f->kind &&
            are(&g->side[0].at, &g->side[g->nsides - 1].at, &f->side[0].at, &f->side[f->nsides - 1].at))
            return h;
    }
    return NULL;
}

/* Returns whether this race is wider than those that are held of its places and direction. */
static bool widens(const struct simgpu_finding *f) {
    const struct held *h = f->kind == SIMGPU_RACE ? alike(f) : NULL;
    return h && (!h->has[is_read(f)] || width(f) > width(&h->of[is_read(f)]));
}

bool check_finding_is_new(const struct simgpu_finding *f) { return is_new(here, f) || widens(f); }

static void report(const struct simgpu_finding *f) {
    char text[2048];
    if (prints && is_new(&printed, f)) {
        note(&printed, f);
        base_say(simgpuSayFinding(f, SIMGPU_WHOLE, text, sizeof text));
        if (printed.n == MAX_FINDINGS) fputs("simgpu: further findings are not printed; fix these first\n", stderr);
    }
    time_events_finding(f);
}

void check_finding_say(const struct simgpu_finding *f) {
    note(here, f);
    report(f);
}

void check_finding_hold(const struct simgpu_finding *f) {
    struct held *h = alike(f);
    if (!h) {
        note(here, f);
        h = &here->held[here->nheld++];
        *h = (struct held){.first = is_read(f)};
    }
    h->has[is_read(f)] = true;
    h->of[is_read(f)] = *f;
}

/* Returns whether a held finding of this kind has a read at this place, of shared memory or of device memory. */
static bool reads_at(enum simgpu_finding_kind kind, const struct simgpu_place *at, bool device) {
    for (int k = 0; k < here->nheld; k++) {
        const struct held *h = &here->held[k];
        const struct simgpu_finding *f = &h->of[h->first];
        for (int s = 0; s < f->nsides && f->kind == kind && (f->space == SIMGPU_DEVICE_MEMORY) == device; s++)
            if (f->side[s].at.did != SIMGPU_DID_WRITE && same(&f->side[s].at, at)) return true;
    }
    return false;
}

/* Chooses the direction of a race. The wider one; of equal ones that in which the read comes second, if the read has
 * also found memory that was not written yet, since then the barrier between write and read is missing; else the one
 * that was found first. */
static const struct simgpu_finding *chosen(const struct held *h) {
    const struct simgpu_finding *late = &h->of[false], *early = &h->of[true];
    if (!h->has[true] || !h->has[false]) return &h->of[h->first];
    if (width(late) != width(early)) return width(late) > width(early) ? late : early;
    return reads_at(SIMGPU_UNINITIALISED, &early->side[0].at, early->space == SIMGPU_DEVICE_MEMORY) ? early
                                                                                                    : &h->of[h->first];
}

void check_finding_launched(void) {
    for (int k = 0; k < here->nheld; k++) {
        const struct simgpu_finding *f = chosen(&here->held[k]);
        if (f->kind != SIMGPU_UNINITIALISED || !reads_at(SIMGPU_RACE, &f->side[0].at, f->space == SIMGPU_DEVICE_MEMORY))
            report(f);
    }
    here->nheld = 0;
}

void check_finding_thread(struct simgpu_finding *f, int side, const exec_launch *n, uint64_t block, uint32_t thread) {
    exec_dim g = n->grid, d = n->block;
    const uint32_t blocks[3] = {(uint32_t)(block % g.x), (uint32_t)(block / g.x % g.y), (uint32_t)(block / g.x / g.y)};
    const uint32_t threads[3] = {thread % d.x, thread / d.x % d.y, thread / d.x / d.y};
    struct simgpu_side *s = &f->side[side];
    snprintf(f->kernel, sizeof f->kernel, "%s", base_kernel_name(n->kernel->name).text);
    memcpy(s->block, blocks, sizeof blocks);
    memcpy(s->thread, threads, sizeof threads);
    s->warp = thread / 32;
}

static void use(void *state) { here = state; }
static void forget(void) {}
const check_part check_part_findings = {sizeof(findings), use, forget};

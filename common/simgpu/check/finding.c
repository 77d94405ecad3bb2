/* finding.c — reports each pair of lines once: as an event once for each card, on stderr once for the process. */
#include "finding.h"
#include "parts.h"

#include <string.h>

enum { MAX_FINDINGS = 20 }; /* later findings mostly follow from the first ones */

typedef struct {
    int n;
    struct {
        enum simgpu_finding_kind kind;
        struct simgpu_place place[2];
    } of[MAX_FINDINGS];
} findings;
static findings *here;   /* of the card in use: sent */
static findings printed; /* of the process */

static bool same(const struct simgpu_place *a, const struct simgpu_place *b) {
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

/* Returns whether the list has room and no finding of this kind about these places, in either order. */
static bool is_new(const findings *list, const struct simgpu_finding *f) {
    const struct simgpu_place *a = &f->side[0].at, *b = &f->side[f->nsides - 1].at;
    for (int k = 0; k < list->n; k++) {
        const struct simgpu_place *x = &list->of[k].place[0], *y = &list->of[k].place[1];
        if (list->of[k].kind != f->kind) continue;
        if ((same(a, x) && same(b, y)) || (same(a, y) && same(b, x))) return false;
    }
    return list->n < MAX_FINDINGS;
}

static void note(findings *list, const struct simgpu_finding *f) {
    list->of[list->n].kind = f->kind;
    list->of[list->n].place[0] = f->side[0].at;
    list->of[list->n++].place[1] = f->side[f->nsides - 1].at;
}

bool check_finding_is_new(const struct simgpu_finding *f) { return is_new(here, f); }

void check_finding_say(const struct simgpu_finding *f) {
    char text[2048];
    note(here, f);
    if (is_new(&printed, f)) {
        note(&printed, f);
        fprintf(stderr, "%s\n", simgpuSayFinding(f, SIMGPU_WHOLE, text, sizeof text));
        if (printed.n == MAX_FINDINGS) fputs("simgpu: further findings are not printed; fix these first\n", stderr);
    }
    time_events_finding(f);
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

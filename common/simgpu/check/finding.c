/* finding.c — reports each pair of lines once, on stderr and as an event. */
#include "finding.h"
#include "../time/time.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FINDINGS = 20 }; /* later findings mostly follow from the first ones */

static struct {
    enum simgpu_finding_kind kind;
    struct simgpu_place place[2];
} said[MAX_FINDINGS];
static int nsaid;

static bool same(const struct simgpu_place *a, const struct simgpu_place *b) {
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

bool check_finding_is_new(const struct simgpu_finding *f) {
    const struct simgpu_place *a = &f->side[0].at, *b = &f->side[f->nsides - 1].at;
    for (int k = 0; k < nsaid; k++) {
        const struct simgpu_place *x = &said[k].place[0], *y = &said[k].place[1];
        if (said[k].kind != f->kind) continue;
        if ((same(a, x) && same(b, y)) || (same(a, y) && same(b, x))) return false;
    }
    return nsaid < MAX_FINDINGS;
}

void check_finding_say(const struct simgpu_finding *f) {
    char text[2048];
    if (nsaid == MAX_FINDINGS) return;
    said[nsaid].kind = f->kind;
    said[nsaid].place[0] = f->side[0].at;
    said[nsaid].place[1] = f->side[f->nsides - 1].at;
    fprintf(stderr, "%s\n", simgpuSayFinding(f, SIMGPU_WHOLE, text, sizeof text));
    if (++nsaid == MAX_FINDINGS) fputs("simgpu: further findings are not printed; fix these first\n", stderr);
    time_events_finding(f);
}

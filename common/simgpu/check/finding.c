/* What was found, said once for each pair of lines. */
#include "finding.h"
#include "../time/time.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FINDINGS = 20 }; /* the first ones matter: most of the rest follow from them */

static struct {
    char check[16];
    finding_place place[2];
} said[MAX_FINDINGS];
static int nsaid;

static bool same(const finding_place *a, const finding_place *b) {
    return a->line == b->line && (a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file)));
}

bool finding_is_new(const char *check, const finding_place *places, int nplaces) {
    const finding_place *a = &places[0], *b = &places[nplaces - 1];
    for (int k = 0; k < nsaid; k++) {
        const finding_place *x = &said[k].place[0], *y = &said[k].place[1];
        if (strcmp(said[k].check, check)) continue;
        if ((same(a, x) && same(b, y)) || (same(a, y) && same(b, x))) return false;
    }
    return nsaid < MAX_FINDINGS;
}

void finding_say(const char *check, const char *kernel, const finding_place *places, int nplaces, const char *text) {
    if (nsaid == MAX_FINDINGS) return;
    snprintf(said[nsaid].check, sizeof said[nsaid].check, "%s", check);
    said[nsaid].place[0] = places[0];
    said[nsaid].place[1] = places[nplaces - 1];
    fprintf(stderr, "%s\n", text);
    if (++nsaid == MAX_FINDINGS) fputs("simgpu: further findings are left out; mend these first\n", stderr);
    if (!report_on()) return;
    report_place list[2];
    for (int k = 0; k < nplaces; k++) list[k] = (report_place){places[k].file, places[k].line, places[k].did};
    report_finding(check, kernel, list, nplaces, text);
}

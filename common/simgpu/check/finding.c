/* What was found, said once for each pair of lines. */
#include "finding.h"
#include "../time/time.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FINDINGS = 20 }; /* the first ones matter: most of the rest follow from them */

static struct {
    char check[16];
    finding_place place[2];
} said[MAX_FINDINGS];
static int nsaid;

/* --- words --------------------------------------------------------------------------------------------------- */

void finding_add(char *text, const char *format, ...) {
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + n, FINDING_TEXT - n, format, ap);
    va_end(ap);
}

const char *finding_base(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path && *path ? path : "?";
}

void finding_add_place(char *text, const finding_place *place, const char *file_at_hand) {
    if (!place->file)
        finding_add(text, "an unknown line");
    else if (file_at_hand && !strcmp(finding_base(place->file), finding_base(file_at_hand)))
        finding_add(text, "line %d", place->line);
    else
        finding_add(text, "%s:%d", finding_base(place->file), place->line);
}

void finding_add_source(char *text, const finding_place *place) {
    char line[512];
    int n = 0;
    FILE *f = place->file && place->line ? fopen(place->file, "re") : NULL;
    if (!f) return;
    while (n < place->line && fgets(line, sizeof line, f)) n++;
    fclose(f);
    line[strcspn(line, "\r\n")] = '\0';
    if (n == place->line) finding_add(text, "\n%6d | %s", n, line);
}

/* --- once ---------------------------------------------------------------------------------------------------- */

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

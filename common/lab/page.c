/* page.c — see page.h. */
#define _GNU_SOURCE
#include "page.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- colour ----------------------------------------------------------------------------------- */

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value;
}

static bool is(const char *name, const char *what) {
    const char *value = getenv(name);
    return value && !strcmp(value, what);
}

bool page_colours(FILE *f) {
    struct stat st;
    if (is_set("NO_COLOR") || is("CLICOLOR", "0") || is("TERM", "dumb")) return false;
    if (isatty(fileno(f))) return true;
    return is("BLUEBAR_COLOUR", "1") && !fstat(fileno(f), &st) && S_ISFIFO(st.st_mode);
}

const char *page_on(FILE *f, enum page_style style) {
    static const char *const begins[PAGE_STYLES] = {
        [PAGE_PLAIN] = "",          [PAGE_TITLE] = "\33[1m",  [PAGE_GOOD] = "\33[32m", [PAGE_PART] = "\33[33m",
        [PAGE_BAD] = "\33[31m",     [PAGE_PLACE] = "\33[36m", [PAGE_NEXT] = "\33[1m",  [PAGE_UP] = "\33[32m",
        [PAGE_KERNELS] = "\33[34m", [PAGE_DOWN] = "\33[35m"};
    return page_colours(f) ? begins[style] : "";
}

const char *page_off(FILE *f) { return page_colours(f) ? "\33[0m" : ""; }

/* --- lines that fit --------------------------------------------------------------------------- */

static int width_of(const char *text, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++) n += (text[i] & 0xC0) != 0x80; /* a continuation byte takes no column */
    return n;
}

int page_width(const char *text) { return width_of(text, strlen(text)); }

size_t page_fit(const char *text, int room) {
    size_t best = 0, n = 0;
    while (text[n] && text[n] != '\n') {
        n += strspn(text + n, " ");
        n += strcspn(text + n, " \n");
        if (best && width_of(text, n) > room) return best;
        best = n;
    }
    return n;
}

void page_go_on(FILE *f, enum page_style style, int indent, int more, const char *text) {
    for (int left = indent;;) {
        size_t n = page_fit(text, PAGE_COLUMNS - left);
        fprintf(f, "%s%.*s%s\n", page_on(f, style), (int)n, text, page_off(f));
        text += n;
        left = *text == '\n' ? indent : indent + more;
        text += *text == '\n' ? 1 : strspn(text, " ");
        if (!*text) return;
        fprintf(f, "%*s", left, "");
    }
}

void page_wrap(FILE *f, enum page_style style, int indent, int more, const char *text) {
    fprintf(f, "%*s", indent, "");
    page_go_on(f, style, indent, more, text);
}

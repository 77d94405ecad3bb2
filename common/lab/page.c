/* page.c — see page.h. */
#include "page.h"

#include <string.h>

static int width_of(const char *text, size_t bytes) {
    int n = 0;
    for (size_t i = 0; i < bytes; i++) n += (text[i] & 0xC0) != 0x80; /* a continuation byte takes no column */
    return n;
}

int page_width(const char *text) { return width_of(text, strlen(text)); }

/* Returns how many bytes of the text go on a line of `room` columns: up to a space, to a line break, or to the end. */
static size_t fitting(const char *text, int room) {
    size_t best = 0, n = 0;
    while (text[n] && text[n] != '\n') {
        size_t word = n + strspn(text + n, " ");
        word += strcspn(text + word, " \n");
        if (best && width_of(text, word) > room) return best;
        best = n = word;
    }
    return n;
}

void page_wrap(FILE *f, int indent, int more, const char *text) {
    bool first = true;
    do {
        int left = indent + (first ? 0 : more);
        size_t n = fitting(text, PAGE_COLUMNS - left);
        fprintf(f, "%*s%.*s\n", left, "", (int)n, text);
        text += n;
        first = *text == '\n';
        text += first ? 1 : strspn(text, " ");
    } while (*text);
}

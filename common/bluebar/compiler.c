/* compiler.c — a compiler's messages as a reader needs them: each once, and nothing of make's.
 *
 * clang reads a .cu file twice, for the device and for the host, so it gives many messages twice; and its notes may
 * show a line of our headers, or a name that their macros paste together, which is not the reader's. A message is its
 * first line ("FILE:LINE:COLUMN: warning:
 * ..."), the "In file included from" lines before it, and all lines behind it up to the next. Messages of another form
 * (nvcc's, a linker's) are shown as they are. A precompiled header has absolute paths; a header of ours is named from
 * the top folder on in any case.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINES = 400, MOST_COLUMNS = 2000 }; /* more than a reader needs */

enum line { INCLUDED, MESSAGE, NOTE, SUM, MAKE, REST };

/* Returns what stands behind "FILE:LINE:COLUMN: ", or NULL where the line has no such beginning. */
static const char *behind_place(const char *line) {
    for (const char *p = strchr(line, ':'); p && p > line; p = strchr(p + 1, ':')) {
        size_t row = strspn(p + 1, "0123456789"), column = row ? strspn(p + row + 2, "0123456789") : 0;
        if (column && p[row + 1] == ':' && bb_begins(p + row + column + 2, ": ")) return p + row + column + 4;
    }
    return NULL;
}

static enum line kind_of(const char *line) {
    static const char *const heads[] = {"error: ", "fatal error: ", "warning: "};
    const char *text = behind_place(line);
    size_t digits = strspn(line, "0123456789");
    if (bb_begins(line, "In file included from ")) return INCLUDED;
    if (bb_begins(line, "make")) return MAKE;
    if (digits && (bb_begins(line + digits, " warning") || bb_begins(line + digits, " error"))) return SUM;
    if (bb_begins(line, "clang: ") || bb_begins(line, "error: ")) return MESSAGE;
    for (size_t k = 0; text && k < sizeof heads / sizeof *heads; k++)
        if (bb_begins(text, heads[k])) return MESSAGE;
    return text && bb_begins(text, "note: ") ? NOTE : REST;
}

/* All messages shown so far, each as it was read. */
static char **shown;
static int nshown, lines;

static void show(const bb_text *message, const char *prefix) {
    for (int k = 0; k < nshown; k++)
        if (bb_same(shown[k], message->at)) return;
    shown = bb_must(realloc(shown, (size_t)(nshown + 1) * sizeof *shown));
    shown[nshown++] = bb_must(strdup(message->at));
    char *rest = message->at;
    for (char *line; (line = bb_line(&rest)); lines++) {
        bb_text safe = {0};
        if (lines >= MOST_LINES) continue;
        size_t length = strlen(line);
        bb_add_visible(&safe, line, length < MOST_COLUMNS ? length : MOST_COLUMNS);
        printf("%s%s%s\n", prefix, safe.at ? safe.at : "", length < MOST_COLUMNS ? "" : " ...");
        free(safe.at);
    }
}

/* Takes the top folder's path away where it stands before a header of SimGPU. */
static void shorten(char *line, const char *top) {
    char *at = strstr(line, top);
    size_t length = strlen(top);
    if (length && at && bb_begins(at + length, "/common/simgpu/include/"))
        memmove(at, at + length + 1, strlen(at + length));
}

/* Shows the message, unless it is empty, and begins the next. */
static void end_message(bb_text *message, const char *prefix) {
    if (message->size) show(message, prefix);
    free(message->at);
    *message = (bb_text){0};
}

int bb_cmd_compiler(int argc, char **argv) {
    const char *prefix = argc > 1 ? argv[1] : "";
    char *line = NULL;
    size_t room = 0;
    enum line last = REST;
    bool ours = false; /* in a note about one of our headers, or about a name that they paste together */
    bb_text message = {0};
    char top[4096];
    if (!getcwd(top, sizeof top)) *top = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        shorten(line, top);
        enum line kind = kind_of(line);
        if (kind == SUM || kind == MAKE) continue;
        if ((kind == MESSAGE && last != INCLUDED) || (kind == INCLUDED && last != INCLUDED))
            end_message(&message, prefix);
        if (kind != REST)
            ours = kind == NOTE && (bb_begins(line, "common/simgpu/include/") || bb_begins(line, "<scratch space>"));
        if (!ours) bb_addf(&message, "%s\n", line);
        if (kind != REST || last == INCLUDED) last = kind;
    }
    end_message(&message, prefix);
    free(line);
    for (int k = 0; k < nshown; k++) free(shown[k]);
    free(shown);
    if (lines > MOST_LINES) printf("%s... and %d lines more\n", prefix, lines - MOST_LINES);
    return 0;
}

/* text.c — strings that grow, files, TSV, and text of strangers made harmless. */
#define _GNU_SOURCE
#include "bluebar.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void bb_die(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fflush(stdout);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(1);
}

void *bb_must(void *memory) {
    if (!memory) bb_die("bluebar: out of memory");
    return memory;
}

void bb_add(bb_text *t, const char *bytes, size_t count) {
    if (t->room < t->size + count + 1) {
        t->room = 2 * (t->size + count) + 64;
        t->at = bb_must(realloc(t->at, t->room));
    }
    memcpy(t->at + t->size, bytes, count);
    t->size += count;
    t->at[t->size] = 0;
}

static void add_va(bb_text *t, const char *fmt, va_list ap) {
    char *made;
    int n = vasprintf(&made, fmt, ap);
    if (n < 0) bb_must(NULL);
    bb_add(t, made, (size_t)n);
    free(made);
}

void bb_addf(bb_text *t, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    add_va(t, fmt, ap);
    va_end(ap);
}

char *bb_format(const char *fmt, ...) {
    bb_text t = {0};
    va_list ap;
    va_start(ap, fmt);
    add_va(&t, fmt, ap);
    va_end(ap);
    return t.at;
}

bool bb_same(const char *a, const char *b) { return !strcmp(a, b); }
bool bb_begins(const char *text, const char *prefix) { return !strncmp(text, prefix, strlen(prefix)); }

const char *bb_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *bb_env(const char *name, const char *otherwise) {
    const char *value = getenv(name);
    return value && *value ? value : otherwise;
}

/* --- files ------------------------------------------------------------------------------------------------------- */

char *bb_read(const char *path, size_t most, size_t *size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0) return NULL;
    int error = fstat(fd, &st) ? errno : !S_ISREG(st.st_mode) ? EINVAL : (size_t)st.st_size > most ? EFBIG : 0;
    if (error) {
        close(fd);
        errno = error;
        return NULL;
    }
    size_t n = 0;
    char *bytes = bb_must(malloc((size_t)st.st_size + 1));
    for (ssize_t got; n < (size_t)st.st_size && (got = read(fd, bytes + n, (size_t)st.st_size - n)) > 0;)
        n += (size_t)got;
    close(fd);
    bytes[n] = 0;
    if (size) *size = n;
    return bytes;
}

void bb_write(const char *path, const char *bytes, size_t size) {
    char *fresh = bb_format("%s.new", path);
    FILE *f = fopen(fresh, "we");
    if (!f) bb_die("%s cannot be written: %s", fresh, strerror(errno));
    bool bad = fwrite(bytes, 1, size, f) != size;
    bad |= fclose(f) != 0;
    if (bad || rename(fresh, path)) bb_die("%s cannot be written: %s", path, strerror(errno));
    free(fresh);
}

void bb_make_folders(const char *path) {
    char *copy = bb_must(strdup(path));
    for (char *p = copy + 1; (p = strchr(p, '/')); p++) {
        *p = 0;
        if (mkdir(copy, 0777) && errno != EEXIST) bb_die("the folder %s cannot be made: %s", copy, strerror(errno));
        *p = '/';
    }
    free(copy);
}

/* --- TSV --------------------------------------------------------------------------------------------------------- */

char *bb_line(char **rest) {
    char *line = *rest;
    if (!line || !*line) return NULL;
    char *end = strchr(line, '\n');
    if (end) *end = 0;
    *rest = end ? end + 1 : line + strlen(line);
    return line;
}

int bb_split(char *line, char **field, int most) {
    int n = 0;
    for (char *p = line; p; n++) {
        if (n < most) field[n] = p;
        p = strchr(p, '\t');
        if (p) *p++ = 0;
    }
    return n;
}

void bb_unescape(char *field) {
    char *to = field;
    for (const char *p = field; *p; p++) {
        if (*p != '\\' || !p[1]) {
            *to++ = *p;
            continue;
        }
        p++;
        *to++ = *p == 't' ? '\t' : *p == 'n' ? '\n' : *p == 'r' ? '\r' : *p;
    }
    *to = 0;
}

void bb_add_escaped(bb_text *t, const char *text) {
    for (; *text; text++) {
        const char *escape = *text == '\t'   ? "\\t"
                             : *text == '\n' ? "\\n"
                             : *text == '\r' ? "\\r"
                             : *text == '\\' ? "\\\\"
                                             : NULL;
        bb_add(t, escape ? escape : text, escape ? 2 : 1);
    }
}

bool bb_number(const char *text, double *value) {
    char *end;
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

bool bb_whole(const char *text, uint64_t *value) {
    if (!*text || strspn(text, "0123456789") != strlen(text)) return false;
    errno = 0;
    *value = strtoull(text, NULL, 10);
    return !errno;
}

/* --- text of strangers ------------------------------------------------------------------------------------------- */

/* Returns the length of the UTF-8 character at p and its code point; 0 when the bytes are none. */
static size_t character(const unsigned char *p, size_t left, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = *p < 0x80                 ? 1
               : *p >= 0xC2 && *p < 0xE0 ? 2
               : *p >= 0xE0 && *p < 0xF0 ? 3
               : *p >= 0xF0 && *p < 0xF5 ? 4
                                         : 0;
    if (!n || n > left) return 0;
    *code = n == 1 ? *p : *p & (0xFFu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        *code = *code << 6 | (p[i] & 0x3F);
    }
    return *code < least[n] || *code > 0x10FFFF || (*code >= 0xD800 && *code < 0xE000) ? 0 : n;
}

static bool turns_direction(uint32_t code) {
    return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069) || code == 0x200E ||
           code == 0x200F || code == 0x2028 || code == 0x2029;
}

void bb_add_visible(bb_text *t, const char *text, size_t count) {
    const unsigned char *p = (const unsigned char *)text, *end = p + count;
    while (p < end) {
        uint32_t code = 0;
        size_t n = character(p, (size_t)(end - p), &code);
        if (!n)
            bb_addf(t, "\\x%02x", *p);
        else if (code == '\n' || code == '\t' || code == '\r')
            bb_addf(t, "\\%c", code == '\n' ? 'n' : code == '\t' ? 't' : 'r');
        else if (code < 32 || (code >= 127 && code < 160))
            bb_addf(t, "\\x%02x", code);
        else if (turns_direction(code))
            bb_addf(t, "\\u%04x", code);
        else
            bb_add(t, (const char *)p, n);
        p += n ? n : 1;
    }
}

uint64_t bb_sum(const char *bytes, size_t size) {
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < size; i++) sum = (sum ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return sum;
}

enum { QUOTED_LINES = 400, QUOTED_BYTES = 2000 }; /* of a compiler's messages, more than a reader needs */

int bb_cmd_quote(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    int lines = 0;
    for (ssize_t n; (n = getline(&line, &room, stdin)) > 0; lines++) {
        if (lines >= QUOTED_LINES) continue; /* reads on, so that the writer does not fail */
        bb_text shown = {0};
        if (line[n - 1] == '\n') n--;
        bool cut = n > QUOTED_BYTES;
        bb_add_visible(&shown, line, cut ? QUOTED_BYTES : (size_t)n);
        printf("%s%s%s\n", argc > 1 ? argv[1] : "", shown.at ? shown.at : "", cut ? " ..." : "");
        free(shown.at);
    }
    free(line);
    if (lines > QUOTED_LINES) printf("%s... and %d lines more\n", argc > 1 ? argv[1] : "", lines - QUOTED_LINES);
    return 0;
}

int bb_cmd_sum(int argc, char **argv) {
    size_t size;
    char *bytes = argc == 2 ? bb_read(argv[1], 1u << 30, &size) : NULL;
    if (!bytes) bb_die("bluebar sum %s: %s", argc == 2 ? argv[1] : "FILE", argc == 2 ? strerror(errno) : "which file?");
    printf("%016llx-%zu\n", (unsigned long long)bb_sum(bytes, size), size);
    free(bytes);
    return 0;
}

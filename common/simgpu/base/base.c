/* base.c — fatal messages, checked allocation, names of files and kernels. See base.h. */
#include "base.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void base_refuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(NULL); /* print the program's own output before the message */
    fputs("simgpu: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(2);
}

/* Returns how many bytes of a line go into `room` columns: up to a space, or the first word at least. A character takes
 * one column, however many bytes it has. */
static size_t fitting(const char *line, size_t length, int room) {
    size_t best = 0, n = 0;
    while (n < length) {
        const size_t from = n;
        while (n < length && line[n] == ' ') n++;
        while (n < length && line[n] != ' ') n++;
        for (size_t k = from; k < n; k++) room -= (line[k] & 0xC0) != 0x80;
        if (best && room < 0) return best;
        best = n;
    }
    return length;
}

/* Prints one line of a message, wrapped. */
static void say_line(const char *line, size_t length) {
    enum { COLUMNS = 100 };
    const size_t indent = strspn(line, " "), digits = strspn(line + indent, "0123456789");
    const bool source = !strncmp(line + indent + digits, " | ", 3) || line[indent] == '|';
    for (int left = 0; length; left = (int)indent + 4) {
        size_t n = source ? length : fitting(line, length, COLUMNS - left);
        fprintf(stderr, "%*s%.*s\n", left, "", (int)n, line);
        while (n < length && line[n] == ' ') n++;
        line += n;
        length -= n;
    }
}

void base_say(const char *message) {
    const char *wrap = getenv("SIMGPU_WRAP");
    if (wrap ? strcmp(wrap, "1") != 0 : !isatty(STDERR_FILENO)) {
        fprintf(stderr, "%s\n", message);
        return;
    }
    for (const char *line = message; *line;) {
        const size_t length = strcspn(line, "\n");
        say_line(line, length);
        line += length + (line[length] == '\n');
    }
}

void *base_plain_language(void) {
    static locale_t plain;
    if (!plain) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return plain;
}

void *base_must(void *memory, const char *otherwise) {
    if (!memory) base_refuse("%s", otherwise);
    return memory;
}

void base_add(char *text, size_t size, const char *format, ...) {
    size_t n = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, size - n, format, args);
    va_end(args);
}

const char *base_file_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (slash) path = slash + 1;
    return path && *path ? path : "?";
}

/* Takes the last length-prefixed name before the arguments: _ZN5tiles4copyIfEEvPT_ -> copy. */
base_name base_kernel_name(const char *mangled) {
    base_name name;
    const char *p = mangled, *found = mangled;
    int length = (int)strlen(mangled);
    bool nested = false;
    if (strncmp(p, "_Z", 2) == 0) {
        p += 2;
        nested = *p == 'N';
        p += nested;
        while (*p == 'L' || *p == 'K') p++; /* internal linkage, const */
    }
    while (p != mangled && *p >= '0' && *p <= '9') {
        int n = 0;
        for (; *p >= '0' && *p <= '9'; p++) n = n < 100000 ? 10 * n + (*p - '0') : n;
        if (n == 0 || (size_t)n > strlen(p)) break;
        found = p;
        length = n;
        p += n;
        if (!nested) break;
    }
    snprintf(name.text, sizeof name.text, "%.*s", length, found);
    return name;
}

base_name base_library_name(const char *symbol) {
    base_name name;
    snprintf(name.text, sizeof name.text, "%s", symbol);
    char *version = strstr(name.text, "_v2");
    if (version && !version[3]) *version = '\0';
    return name;
}

bool base_read_line(const char *path, uint32_t number, char *text, size_t size) {
    uint32_t n = 0;
    FILE *f = number && path && *path ? fopen(path, "re") : NULL;
    if (!f) return false;
    while (n < number && fgets(text, (int)size, f)) n++;
    fclose(f);
    text[strcspn(text, "\r\n")] = '\0';
    return n == number;
}

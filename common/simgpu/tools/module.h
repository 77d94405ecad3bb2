/* module.h — a module of LLVM IR as text, for the tools that stand between clang's front end and its optimiser. A tool
 * defines TOOL, its name, before it includes this. */
#ifndef SIMGPU_MODULE_H
#define SIMGPU_MODULE_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *text; /* the whole module */

static _Noreturn void refuse(const char *why, const char *what) {
    fprintf(stderr, TOOL ": %s: %s\n", what, why);
    exit(1);
}

/* Reads the only argument's file into `text`; ends with a message if there is no such file, or another argument. */
static void read_module(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: " TOOL " IN.ll >OUT.ll\n", stderr);
        exit(2);
    }
    FILE *f = fopen(argv[1], "rb");
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    text = size >= 0 ? malloc((size_t)size + 1) : NULL;
    if (!text) refuse("cannot be read", argv[1]);
    rewind(f);
    if (fread(text, 1, (size_t)size, f) != (size_t)size) refuse("cannot be read", argv[1]);
    fclose(f);
    text[size] = '\0';
}

static const char *next_line(const char *line) {
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* As sscanf and strstr, for one line. sscanf looks for the end of its text first, which is that of the module: for each
 * line, that made the reading of a large program take seconds. */
__attribute__((format(scanf, 2, 3))) static int scan(const char *line, const char *format, ...) {
    static char *copy;
    static size_t room;
    size_t length = (size_t)(next_line(line) - line);
    if (length >= room) {
        char *more = realloc(copy, room = 2 * length + 256);
        if (!more) refuse("out of memory", "a line");
        copy = more;
    }
    memcpy(copy, line, length);
    copy[length] = '\0';
    va_list into;
    va_start(into, format);
    int taken = vsscanf(copy, format, into);
    va_end(into);
    return taken;
}
static const char *find(const char *line, const char *what) {
    return memmem(line, (size_t)(next_line(line) - line), what, strlen(what));
}

/* Returns the text behind `!NUMBER = ` in the metadata, or "" if there is none. */
static const char *metadata(unsigned long number) {
    char begin[32];
    int n = snprintf(begin, sizeof begin, "\n!%lu = ", number);
    const char *found = strstr(text, begin);
    return found ? found + n : "";
}

/* Frees the module; ends with a message if the output could not be written. */
static int end_module(void) {
    free(text);
    if (fflush(stdout) || ferror(stdout)) refuse("cannot be written", "standard output");
    return 0;
}

#endif

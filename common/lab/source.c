/* source.c — a source file with the counters beside its lines. Knows no lab: `make play` has it, too. */
#define _GNU_SOURCE
#include "lab_internal.h"
#include "page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const lab_line *line_at(const lab_usage *u, const char *file, int line) {
    static const lab_line none;
    for (int i = 0; i < u->nlines; i++)
        if (u->lines[i].line == line && !strcmp(u->lines[i].file, file)) return &u->lines[i];
    return &none;
}

enum { CELL = 7 }; /* width of a counter, with the space before it */

static double launched(const lab_line *l) { return l->launches; }
static double instructions(const lab_line *l) { return l->c.inst; }
static double loaded(const lab_line *l) { return l->c.ld_sectors; }
static double stored(const lab_line *l) { return l->c.st_sectors; }
static double wavefronts(const lab_line *l) { return l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts; }
static double conflicts(const lab_line *l) { return l->c.shared_ld_conflicts + l->c.shared_st_conflicts; }
static double local(const lab_line *l) { return l->c.local_sectors; }
static double moved(const lab_line *l) { return l->c.ld_bytes + l->c.st_bytes; }

/* Beside a line, in this order; without those that are 0 on every line. */
static const struct column {
    const char *head[2];
    double (*of)(const lab_line *l);
} columns[] = {{{"kernel", "starts"}, launched}, {{"warp", "instr."}, instructions}, {{"sector", "loads"}, loaded},
               {{"sector", "stores"}, stored},   {{"shared", "waves"}, wavefronts},  {{"bank", "confl."}, conflicts},
               {{"local", "sect."}, local},      {{"bytes", "moved"}, moved}};

/* 0 is left blank and large numbers are shortened, so that the lines that cost something stand out. */
static void cell(FILE *f, double v) {
    if (v == 0)
        fprintf(f, "%*s", CELL, "");
    else if (v < 1e6)
        fprintf(f, "%*.0f", CELL, v);
    else
        fprintf(f, "%*.1f%c", CELL - 1, v < 1e9 ? v / 1e6 : v / 1e9, v < 1e9 ? 'M' : 'G');
}

/* A line at the left edge that begins with a word and follows none such opens a function, or near enough. */
static bool opens(const char *text) { return isalpha((unsigned char)text[0]) || text[0] == '_'; }

int lab_function_of(FILE *f, int line) {
    char *row = NULL;
    size_t room = 0;
    int start = 1;
    bool before = false;
    for (int n = 1; n <= line && getline(&row, &room, f) > 0; n++) {
        if (opens(row) && !before) start = n;
        before = opens(row);
    }
    free(row);
    rewind(f);
    return start;
}

/* Returns the line where the function with the first counted line begins. The lines above it cost nothing. */
static int first_function(const lab_usage *u, const char *file, FILE *f) {
    int counted = 0;
    for (int i = 0; i < u->nlines; i++)
        if (!strcmp(u->lines[i].file, file) && (!counted || u->lines[i].line < counted)) counted = u->lines[i].line;
    return lab_function_of(f, counted);
}

/* Returns the line without its end, tabs as spaces up to the next of every four columns. */
static const char *plain(const char *row, char *text, size_t size) {
    size_t n = 0;
    for (; *row && *row != '\n' && *row != '\r' && n + 5 < size; row++) {
        if (*row != '\t') text[n++] = *row;
        for (bool more = *row == '\t'; more; more = n % 4) text[n++] = ' ';
    }
    text[n] = 0;
    return text;
}

void lab_put_source(FILE *f, int used, int number, const char *row) {
    char text[4096];
    const int left = used + 8, indent = (int)strspn(plain(row, text, sizeof text), " ");
    const char *rest = text;
    for (int k = 0; k == 0 || *rest; k++) {
        int in = k ? indent + 4 : 0;
        size_t n = page_fit(rest, PAGE_COLUMNS - left - in);
        if (!k)
            fprintf(f, " %4d │ ", number);
        else
            fprintf(f, "%*s      │ %*s", used, "", in, "");
        fprintf(f, "%.*s\n", (int)n, rest);
        rest += n + strspn(rest + n, " ");
    }
}

static bool any(const lab_usage *u, const char *file, const struct column *c) {
    for (int i = 0; i < u->nlines; i++)
        if (!strcmp(u->lines[i].file, file) && c->of(&u->lines[i]) != 0) return true;
    return false;
}

void lab_print_source(FILE *f, FILE *source, const char *file, const lab_usage *u) {
    const struct column *shown[sizeof columns / sizeof *columns];
    int n = 0, start = first_function(u, file, source);
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
        if (any(u, file, &columns[k])) shown[n++] = &columns[k];
    for (int h = 0; h < 2; h++) {
        for (int k = 0; k < n; k++) fprintf(f, "%*s", CELL, shown[k]->head[h]);
        fputs(h ? " line\n" : "\n", f);
    }
    char *row = NULL;
    size_t room = 0;
    for (int number = 1; getline(&row, &room, source) > 0; number++) {
        if (number < start) continue;
        const lab_line *l = line_at(u, file, number);
        for (int k = 0; k < n; k++) cell(f, shown[k]->of(l));
        lab_put_source(f, n * CELL, number, row);
    }
    free(row);
}

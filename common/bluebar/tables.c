/* tables.c — TSV as Markdown tables: a lab's rows, the output of --bench, and a ladder on both lanes.
 *
 * The output of --bench has lines of names and lines of cells; a line that begins with # is the caption below the
 * table, but for "# share of WHAT", which goes into its corner.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 32, MOST_NAMES = 100 };

/* A time as a reader likes it. */
static void add_span(bb_text *t, double us) {
    if (us >= 1000)
        bb_addf(t, "%.2f ms", us / 1000);
    else
        bb_addf(t, "%.1f us", us);
}

static void add_caption(bb_text *caption, const char *line) {
    line += 1 + strspn(line + 1, " ");
    bb_addf(caption, "%s%s", caption->size ? "  \n" : "", line);
}

static void end_caption(bb_text *to, bb_text *caption) {
    if (caption->size) bb_addf(to, "\n%s\n", caption->at);
    free(caption->at);
}

void bb_rows_table(bb_text *to, const bb_table *table) {
    bb_addf(to, "| row | what it asks | full marks | none | points |\n|---|---|---|---|---|\n");
    for (int i = 0; i < table->nrows; i++) {
        const char *const *c = table->row[i].cell, *full = c[LAB_HEAD_full], *zero = c[LAB_HEAD_zero];
        bool either = bb_same(full, zero);
        bb_addf(to, "| %s | %s | %s %s | %s %s | %s |\n", c[LAB_HEAD_label], c[LAB_HEAD_sentence],
                either ? "yes" : full, c[LAB_HEAD_unit], either ? "no" : zero, c[LAB_HEAD_unit], c[LAB_HEAD_points]);
    }
}

/* --- a table of --bench: a row a program, a column a size ------------------------------------------------------ */

typedef struct {
    const char *key, *corner[3]; /* names of the first column and, where it is no `kernel`, of those in a cell */
    bool plain;                  /* the second column is `kernel`: cells have time and share only */
    const char *size[MOST_NAMES], *program[MOST_NAMES];
    char *cell[MOST_NAMES][MOST_NAMES];
    int nsizes, nprograms, printed;
    const char *share;
} bench;

static int place_of(const char **names, int *n, const char *name) {
    for (int i = 0; i < *n; i++)
        if (bb_same(names[i], name)) return i;
    if (*n == MOST_NAMES) bb_die("a table of --bench has more than %d names", MOST_NAMES);
    names[*n] = name;
    return (*n)++;
}

static void end_table(bb_text *to, bench *b) {
    if (!b->nprograms) return;
    if (b->printed++) bb_addf(to, "\n");
    if (b->plain)
        bb_addf(to, "| kernel · share of %s |", b->share ? b->share : "the copy");
    else
        bb_addf(to, "| %s · %s · %s |", b->corner[0], b->corner[1], b->corner[2]);
    for (int j = 0; j < b->nsizes; j++) bb_addf(to, " %s%s |", bb_same(b->key, "n") ? "n = " : "", b->size[j]);
    bb_addf(to, "\n|---|");
    for (int j = 0; j < b->nsizes; j++) bb_addf(to, "---:|");
    bb_addf(to, "\n");
    for (int i = 0; i < b->nprograms; i++) {
        bb_addf(to, "| %s |", b->program[i]);
        for (int j = 0; j < b->nsizes; j++) {
            bb_addf(to, " %s |", b->cell[i][j] ? b->cell[i][j] : "");
            free(b->cell[i][j]);
            b->cell[i][j] = NULL;
        }
        bb_addf(to, "\n");
    }
    b->nsizes = b->nprograms = 0;
}

static void add_bench_cell(bench *b, char **field) {
    int j = place_of(b->size, &b->nsizes, field[0]), i = place_of(b->program, &b->nprograms, field[1]);
    bb_text t = {0};
    if (bb_same(field[2], "wrong"))
        bb_addf(&t, "wrong");
    else
        add_span(&t, atof(field[2]));
    if (!b->plain) bb_addf(&t, " · %.1f", atof(field[3]));
    bb_addf(&t, " · %s", field[4]);
    free(b->cell[i][j]);
    b->cell[i][j] = t.at;
}

static void bench_table(bb_text *to, char *text, bool yours) {
    static bench b;
    bb_text caption = {0};
    char *field[MOST_FIELDS];
    bool names = false;
    b = (bench){.key = ""};
    for (char *line; (line = bb_line(&text));) {
        if (bb_begins(line, "# share of ")) {
            b.share = line + strlen("# share of ");
            continue;
        }
        if (*line == '#') {
            add_caption(&caption, line);
            continue;
        }
        int n = bb_split(line, field, MOST_FIELDS);
        if (n != 5) bb_die("a line of --bench has %d fields, not 5: %s", n, line);
        if (!names || bb_same(field[1], "kernel")) {
            end_table(to, &b);
            b.key = field[0];
            b.plain = bb_same(field[1], "kernel");
            for (int k = 0; k < 3; k++) b.corner[k] = field[k ? k + 2 : 1];
            names = true;
        } else if (yours || (!bb_same(field[0], "yours") && !bb_same(field[1], "yours")))
            add_bench_cell(&b, field);
    }
    end_table(to, &b);
    end_caption(to, &caption);
}

/* Any other table, as it is. */
static void plain_table(bb_text *to, char *text, bool yours) {
    bb_text caption = {0};
    char *field[MOST_FIELDS];
    for (int rows = 0; text && *text;) {
        char *line = bb_line(&text);
        if (*line == '#') {
            add_caption(&caption, line);
            continue;
        }
        int n = bb_split(line, field, MOST_FIELDS);
        if (n > MOST_FIELDS) bb_die("a table has more than %d columns", MOST_FIELDS);
        if (!yours && (bb_same(field[0], "yours") || (n > 1 && bb_same(field[1], "yours")))) continue;
        for (int i = 0; i < n; i++) bb_addf(to, "| %s ", field[i]);
        bb_addf(to, "|\n");
        if (rows++) continue;
        bb_addf(to, "|---|");
        for (int i = 1; i < n; i++) bb_addf(to, "---:|");
        bb_addf(to, "\n");
    }
    end_caption(to, &caption);
}

/* With `yours`, also the rows of the reader's own program. */
void bb_any_table(bb_text *to, char *text, bool yours) {
    char *copy = bb_must(strdup(text)), *rest = copy, *field[MOST_FIELDS], *line = bb_line(&rest);
    while (line && *line == '#') line = bb_line(&rest);
    bool of_bench = !line || (bb_split(line, field, MOST_FIELDS) == 5 && bb_same(field[2], "us"));
    free(copy);
    if (of_bench)
        bench_table(to, text, yours);
    else
        plain_table(to, text, yours);
}

/* --- a ladder: of each program of one size the time, the gain over the starter, the share of the ceiling --------- */

typedef struct {
    const char *name[MOST_NAMES];
    struct {
        bool there;
        double us, share;
    } at[2][MOST_NAMES];
    int n;
} ladder;

static void read_lane(ladder *l, int lane, char *text, const char *key) {
    char *field[MOST_FIELDS];
    int time = -1, part = 0;
    for (char *line; (line = bb_line(&text));) {
        if (*line == '#') continue;
        int n = bb_split(line, field, MOST_FIELDS), names = 0;
        for (int i = 0; i < n && i < MOST_FIELDS && !names; i++)
            names = bb_same(field[i], "us") || bb_same(field[i], "step us") ? i + 1 : 0;
        if (names) {
            time = names - 1;
            part = time + 1 < n && bb_same(field[time + 1], "GB/s") ? time + 2 : time + 1;
            continue;
        }
        if (time < 1 || part >= n || bb_same(field[time - 1], "yours")) continue;
        if (time > 1 && !bb_same(field[0], key)) continue;
        int i = place_of(l->name, &l->n, field[time - 1]);
        l->at[lane][i].there = true;
        l->at[lane][i].us = atof(field[time]);
        l->at[lane][i].share = atof(field[part]);
    }
}

static void add_rung(bb_text *to, const ladder *l, int lane, int i, int starter) {
    if (!l->at[lane][i].there) {
        bb_addf(to, " – | – | – |");
        return;
    }
    double us = l->at[lane][i].us, first = starter < 0 ? 0 : l->at[lane][starter].us;
    bb_addf(to, " ");
    add_span(to, us);
    bb_addf(to, " | %.*f | %.3f |", first<100 * us, us> 0 ? first / us : 0, l->at[lane][i].share);
}

bool bb_ladder_table(bb_text *to, char *measured, char *simulated, const char *key) {
    static ladder l;
    int starter = -1;
    l = (ladder){.n = 0};
    read_lane(&l, 0, measured, key);
    read_lane(&l, 1, simulated, key);
    for (int i = 0; i < l.n; i++)
        if (bb_same(l.name[i], "starter")) starter = i;
    if (!l.n) return false;
    bb_addf(to, "| program | H200 | × | share | virtual | × | share |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (int i = 0; i < l.n; i++) {
        bb_addf(to, "| %s |", l.name[i]);
        add_rung(to, &l, 0, i, starter);
        add_rung(to, &l, 1, i, starter);
        bb_addf(to, "\n");
    }
    return true;
}

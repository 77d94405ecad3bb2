/* results.c — the stored result of a grade, and scores.csv, which is made of all results.
 *
 * A result is TSV, its fields escaped as a record's: "bluebar-result 1", then a line a field ("points  45"), and
 * "row  <id>  <points>" for each row. The line "end" is the last: a file without it was cut off, and counts as none.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20 };
static const char magic[] = "bluebar-result\t1";

#define FIELDS(X) X(sum) X(name) X(lab) X(points) X(of) X(seed) X(commit) X(note)

void bb_result_row(bb_result *r, const char *id, const char *points) {
    r->row = bb_must(realloc(r->row, (size_t)(r->nrows + 1) * sizeof *r->row));
    r->row[r->nrows++] = (struct bb_points){bb_must(strdup(id)), bb_must(strdup(points))};
}

static void set(char **field, const char *text) {
    free(*field);
    *field = bb_must(strdup(text));
}

static bool read_line(bb_result *r, char *line) {
    char *field[3];
    int n = bb_split(line, field, 3);
    for (int i = 0; i < n && i < 3; i++) bb_unescape(field[i]);
    if (n == 3 && bb_same(field[0], "row")) {
        bb_result_row(r, field[1], field[2]);
        return true;
    }
    if (n != 2) return false;
#define READ(f)                                                                                                        \
    if (bb_same(field[0], #f)) {                                                                                       \
        set(&r->f, field[1]);                                                                                          \
        return true;                                                                                                   \
    }
    FIELDS(READ)
#undef READ
    return false;
}

bool bb_result_read(bb_result *r, const char *path) {
    char *text = bb_read(path, MOST_BYTES, NULL), *rest = text, *line = text ? bb_line(&rest) : NULL;
    bool good = line && bb_same(line, magic), ended = false;
    *r = (bb_result){0};
    while (good && !ended && (line = bb_line(&rest))) {
        ended = bb_same(line, "end");
        good = ended || read_line(r, line);
    }
#define FILL(f)                                                                                                        \
    if (!r->f) set(&r->f, "");
    FIELDS(FILL)
#undef FILL
    free(text);
    if (!good || !ended) bb_result_free(r);
    return good && ended;
}

void bb_result_write(const bb_result *r, const char *path) {
    bb_text t = {0};
    bb_addf(&t, "%s\n", magic);
#define WRITE(f)                                                                                                       \
    bb_add(&t, #f "\t", sizeof #f);                                                                                    \
    bb_add_escaped(&t, r->f ? r->f : "");                                                                              \
    bb_add(&t, "\n", 1);
    FIELDS(WRITE)
#undef WRITE
    for (int i = 0; i < r->nrows; i++) {
        bb_add(&t, "row\t", 4);
        bb_add_escaped(&t, r->row[i].id);
        bb_addf(&t, "\t%s\n", r->row[i].points);
    }
    bb_add(&t, "end\n", 4);
    bb_write(path, t.at, t.size);
    free(t.at);
}

void bb_result_free(bb_result *r) {
#define FREE(f) free(r->f);
    FIELDS(FREE)
#undef FREE
    for (int i = 0; i < r->nrows; i++) {
        free(r->row[i].id);
        free(r->row[i].points);
    }
    free(r->row);
    *r = (bb_result){0};
}

/* --- scores.csv -------------------------------------------------------------------------------------------------- */

/* A spreadsheet takes a cell that begins with one of = + - @ for a formula; an apostrophe before it makes it a text. */
static void add_cell(bb_text *t, const char *text) {
    bb_text shown = {0};
    bb_add_visible(&shown, text, strlen(text));
    const char *guard = shown.size && strchr("=+-@", shown.at[0]) ? "'" : "";
    bool quotes = shown.size && strpbrk(shown.at, ",\"");
    bb_addf(t, "%s%s", quotes ? "\"" : "", guard);
    for (size_t i = 0; i < shown.size; i++)
        bb_add(t, shown.at[i] == '"' ? "\"\"" : shown.at + i, shown.at[i] == '"' ? 2 : 1);
    if (quotes) bb_add(t, "\"", 1);
    free(shown.at);
}

/* The ids of all rows, each once, in the order in which they come. */
static int all_ids(const bb_result *results, int count, const char ***ids) {
    int n = 0;
    *ids = NULL;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < results[k].nrows; i++) {
            int j = 0;
            while (j < n && !bb_same((*ids)[j], results[k].row[i].id)) j++;
            if (j < n) continue;
            *ids = bb_must(realloc(*ids, (size_t)(n + 1) * sizeof **ids));
            (*ids)[n++] = results[k].row[i].id;
        }
    return n;
}

static const char *points_in(const bb_result *r, const char *id) {
    for (int i = 0; i < r->nrows; i++)
        if (bb_same(r->row[i].id, id)) return r->row[i].points;
    return "";
}

void bb_csv(bb_text *to, const bb_result *results, int count) {
    const char **ids;
    int n = all_ids(results, count, &ids);
    bb_addf(to, "name,lab,points,of,seed,commit,note");
    for (int i = 0; i < n; i++) bb_addf(to, ",%s", ids[i]);
    bb_addf(to, "\n");
    for (int k = 0; k < count; k++) {
        const bb_result *r = &results[k];
        const char *cells[] = {r->name, r->lab, r->points, r->of, r->seed, r->commit, r->note};
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) {
            if (c) bb_add(to, ",", 1);
            add_cell(to, cells[c]);
        }
        for (int i = 0; i < n; i++) {
            bb_add(to, ",", 1);
            add_cell(to, points_in(r, ids[i]));
        }
        bb_add(to, "\n", 1);
    }
    free(ids);
}

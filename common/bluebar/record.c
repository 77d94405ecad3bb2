/* record.c — records and tables of rows, read and held against each other. common/lab/record.h has their form.
 *
 * A record decides a grade, and a program that was handed in ran beside its writer. So nothing in it is trusted: a part
 * that is cut off, repeated, too long, of another lab or worth more than the lab's table allows makes the whole record
 * void, and the reader returns the reason.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 20, MOST_ROWS = 200, MOST_FIGURES = 400, MOST_FIELDS = 16 };
static const double NEAR = 0.051; /* %g keeps six digits of sums whose parts have a tenth */

static const char *why(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *why(const char *fmt, ...) {
    static char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

static const char *load(char **bytes, const char *path) {
    size_t size;
    *bytes = bb_read(path, MOST_BYTES, &size);
    if (!*bytes) return why("%s: %s", bb_base(path), errno == EFBIG ? "larger than 1 MB" : strerror(errno));
    if (strlen(*bytes) != size) return why("%s has zero bytes in it", bb_base(path));
    if (!size || (*bytes)[size - 1] != '\n') return why("%s is cut off", bb_base(path));
    return NULL;
}

/* --- tables ------------------------------------------------------------------------------------------------------ */

#define NAME(name) #name,
static const char *const heads[] = {LAB_TABLE_COLUMNS(NAME)};
static const char *const cells[] = {LAB_RECORD_COLUMNS(NAME)};
#undef NAME

int bb_cell(const char *name) {
    for (int i = 0; i < LAB_CELLS; i++)
        if (bb_same(cells[i], name)) return i;
    return -1;
}

static const char *table_row(bb_table *t, char **field, const int *place) {
    struct bb_table_row *r = &t->row[t->nrows];
    for (int k = 0; k < LAB_HEADS; k++) r->cell[k] = field[place[k]];
    for (int i = 0; i < t->nrows; i++)
        if (bb_same(t->row[i].cell[LAB_HEAD_id], r->cell[LAB_HEAD_id]))
            return why("the table has two rows '%.60s'", r->cell[LAB_HEAD_id]);
    if (!bb_number(r->cell[LAB_HEAD_points], &r->points) || r->points < 0)
        return why("the table's row '%.60s' has no points", r->cell[LAB_HEAD_id]);
    t->nrows++;
    return NULL;
}

const char *bb_table_read(bb_table *t, const char *path) {
    char *field[MOST_FIELDS], *rest, *line;
    int place[LAB_HEADS];
    *t = (bb_table){0};
    const char *bad = load(&t->bytes, path);
    if (bad) return bad;
    rest = t->bytes;
    int columns = bb_split(bb_line(&rest), field, MOST_FIELDS);
    if (columns > MOST_FIELDS) return "the table has too many columns";
    for (int k = 0; k < LAB_HEADS; k++) {
        place[k] = -1;
        for (int i = 0; i < columns; i++)
            if (bb_same(field[i], heads[k])) place[k] = i;
        if (place[k] < 0) return why("the table has no column '%s'", heads[k]);
    }
    t->row = bb_must(calloc(MOST_ROWS, sizeof *t->row));
    while ((line = bb_line(&rest))) {
        if (t->nrows == MOST_ROWS) return "the table has too many rows";
        if (bb_split(line, field, MOST_FIELDS) != columns)
            return why("line %d of the table is malformed", t->nrows + 2);
        if ((bad = table_row(t, field, place))) return bad;
    }
    return t->nrows ? NULL : "the table has no rows";
}

void bb_table_free(bb_table *t) {
    free(t->bytes);
    free(t->row);
    *t = (bb_table){0};
}

/* --- records ----------------------------------------------------------------------------------------------------- */

static const char *read_row(bb_record *r, char **field, int n) {
    static const char *const statuses[] = {[BB_PASS] = "pass", [BB_PART] = "part", [BB_FAIL] = "fail", [BB_NA] = "na"};
    struct bb_row *row = &r->row[r->nrows];
    int status = -1;
    if (n != LAB_CELLS + 1) return why("row %d has %d fields, not %d", r->nrows + 1, n - 1, LAB_CELLS);
    if (r->nrows == MOST_ROWS) return "it has too many rows";
    for (int k = 0; k < LAB_CELLS; k++) {
        bb_unescape(field[k + 1]);
        row->cell[k] = field[k + 1];
    }
    const char *id = row->cell[LAB_CELL_id];
    if (bb_record_row(r, id)) return why("it has two rows '%.60s'", id);
    for (int s = BB_PASS; s <= BB_NA; s++)
        if (bb_same(row->cell[LAB_CELL_status], statuses[s])) status = s;
    if (status < 0) return why("row '%.60s' has the status '%.20s'", id, row->cell[LAB_CELL_status]);
    row->status = (bb_status)status;
    if (!bb_number(row->cell[LAB_CELL_points], &row->points) || !bb_number(row->cell[LAB_CELL_max], &row->max))
        return why("the points of row '%.60s' are no number", id);
    if (row->points < 0 || row->points > row->max)
        return why("row '%.60s' has %g of %g points", id, row->points, row->max);
    if ((status == BB_PASS) != (row->points == row->max) && status != BB_NA && row->max > 0)
        return why("row '%.60s' says '%s' with %g of %g points", id, statuses[status], row->points, row->max);
    r->nrows++;
    return NULL;
}

static const char *read_figure(bb_record *r, char **field, int n) {
    struct bb_figure *f = &r->figure[r->nfigures];
    if (r->nfigures == MOST_FIGURES) return "it has too many figures";
    if (n != 4 || !bb_number(field[2], &f->value))
        return why("figure %d is not a name, a number and a unit", r->nfigures + 1);
    bb_unescape(field[3]);
    f->name = field[1], f->unit = field[3];
    r->nfigures++;
    return NULL;
}

static const char *read_lines(bb_record *r, char *rest) {
    char *field[MOST_FIELDS], *line;
    bool scored = false;
    while ((line = bb_line(&rest))) {
        const char *bad = NULL;
        int n = bb_split(line, field, MOST_FIELDS);
        if (scored) return "it goes on after its score";
        if (bb_same(field[0], "row"))
            bad = read_row(r, field, n);
        else if (bb_same(field[0], "figure"))
            bad = read_figure(r, field, n);
        else if (bb_same(field[0], "score") && n == 4 && bb_same(field[3], "done"))
            scored = bb_number(field[1], &r->points) && bb_number(field[2], &r->max);
        else if (bb_same(field[0], "seed") && n == 2 && !r->seed)
            r->seed = field[1];
        else if (!bb_same(field[0], "note") && !bb_same(field[0], "columns"))
            bad = why("a line begins with '%.20s'", field[0]);
        if (bad) return bad;
    }
    return scored ? NULL : "it has no score: the program did not come to its end";
}

/* The score is the sum of the rows. */
static const char *check_sum(const bb_record *r) {
    double points = 0, max = 0;
    for (int i = 0; i < r->nrows; i++) {
        if (r->row[i].status == BB_NA) continue;
        points += r->row[i].points;
        max += r->row[i].max;
    }
    if (fabs(points - r->points) > NEAR || fabs(max - r->max) > NEAR)
        return why("its score is %g of %g, its rows have %g of %g", r->points, r->max, points, max);
    return NULL;
}

static const char *check_table(const bb_record *r, const bb_table *t) {
    for (int i = 0; i < r->nrows; i++) {
        const char *id = r->row[i].cell[LAB_CELL_id];
        if (i >= t->nrows || !bb_same(id, t->row[i].cell[LAB_HEAD_id]))
            return why("it has a row '%.60s' where the lab's table has %s", id, i < t->nrows ? "another" : "none");
        if (r->row[i].max != t->row[i].points)
            return why("row '%.60s' is worth %g there and %g in the lab's table", id, r->row[i].max, t->row[i].points);
    }
    return r->nrows == t->nrows ? NULL : why("it has %d rows, the lab's table %d", r->nrows, t->nrows);
}

const char *bb_record_read(bb_record *r, const char *path, const bb_table *table, const char *seed) {
    char *field[MOST_FIELDS], *rest;
    *r = (bb_record){0};
    const char *bad = load(&r->bytes, path);
    if (bad) return bad;
    rest = r->bytes;
    if (bb_split(bb_line(&rest), field, MOST_FIELDS) != 5 || !bb_same(field[0], LAB_RECORD_MAGIC) ||
        !bb_same(field[1], LAB_RECORD_VERSION))
        return "its first line is not a record's of this version";
    r->lab = field[2], r->lane = field[3], r->device = field[4];
    r->row = bb_must(calloc(MOST_ROWS, sizeof *r->row));
    r->figure = bb_must(calloc(MOST_FIGURES, sizeof *r->figure));
    if ((bad = read_lines(r, rest))) return bad;
    if (!r->nrows) return "it has no rows";
    if ((bad = check_sum(r))) return bad;
    if (seed && *seed && (!r->seed || !bb_same(r->seed, seed))) return "it is of another seed";
    return table ? check_table(r, table) : NULL;
}

void bb_record_free(bb_record *r) {
    free(r->bytes);
    free(r->row);
    free(r->figure);
    *r = (bb_record){0};
}

const struct bb_row *bb_record_row(const bb_record *r, const char *id) {
    for (int i = 0; i < r->nrows; i++)
        if (bb_same(r->row[i].cell[LAB_CELL_id], id)) return &r->row[i];
    return NULL;
}

/* --- commands ---------------------------------------------------------------------------------------------------- */

int bb_cmd_score(int argc, char **argv) {
    bb_record r;
    if (argc != 2 || bb_record_read(&r, argv[1], NULL, NULL)) return 1;
    printf("%g %g\n", r.points, r.max);
    bb_record_free(&r);
    return 0;
}

int bb_cmd_field(int argc, char **argv) {
    bb_record r;
    int cell = argc == 4 ? bb_cell(argv[3]) : -1;
    if (cell < 0) bb_die("bluebar field: RECORD ROW COLUMN; there is no column '%s'", argc == 4 ? argv[3] : "");
    const char *bad = bb_record_read(&r, argv[1], NULL, NULL);
    if (bad) bb_die("%s: %s", argv[1], bad);
    const struct bb_row *row = bb_record_row(&r, argv[2]);
    if (row) puts(row->cell[cell]);
    bb_record_free(&r);
    return row ? 0 : 1;
}

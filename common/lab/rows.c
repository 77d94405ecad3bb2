/* rows.c — rows and their marks.
 *
 * A row's value earns all points at `full`, none at `zero`, and a straight line in between: whichever of the two is
 * larger tells whether more or less is better. (The rule is CS:APP's Cache Lab's.)
 */
#include "lab_internal.h"
#include "record.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void lab_text(char *to, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to, size, fmt, ap);
    va_end(ap);
}

void lab_tsv(FILE *f, const char *text) {
    for (; *text; text++) {
        if (*text == '\t')
            fputs("\\t", f);
        else if (*text == '\n')
            fputs("\\n", f);
        else if (*text == '\r')
            fputs("\\r", f);
        else if (*text == '\\')
            fputs("\\\\", f);
        else
            fputc(*text, f);
    }
}

void lab_rows_begin(void) {
    lab.nverdicts = lab.spec->nrows;
    lab.verdicts = lab_hide((size_t)lab.nverdicts * sizeof *lab.verdicts);
    for (int i = 0; i < lab.nverdicts; i++) lab.verdicts[i].row = &lab.spec->rows[i];
}

bool lab_shown(const lab_verdict *v) { return v->row->lanes & lab_lane(); }

/* The table for `make check` and the handouts: only the rows of this lane, since only they can be run. */
void lab_rows_print(FILE *f, const lab_spec *spec) {
    fputs(&(LAB_TABLE_COLUMNS(LAB_TABBED) "\n")[1], f);
    for (int i = 0; i < spec->nrows; i++) {
        const lab_row *r = &spec->rows[i];
        if (!(r->lanes & lab_lane())) continue;
        fprintf(f, "%s\t%s\t%s\t%s\t%.*f\t%.*f\t%d\t%s\t%s\n", r->id, r->label, r->sentence, r->unit, r->decimals,
                r->full, r->decimals, r->zero, r->points, r->hint, r->next);
    }
}

lab_verdict *lab_verdict_of(int row) {
    if (row < 0 || row >= lab.nverdicts) lab_die("the harness asked for row %d of %d", row, lab.nverdicts);
    return &lab.verdicts[row];
}

/* --- verdicts --------------------------------------------------------------------------------- */

void lab_pass(lab_verdict *v) { v->status = LAB_PASS; }

void lab_fail(lab_verdict *v, const char *fmt, ...) {
    v->status = LAB_FAIL;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->why, sizeof v->why, fmt, ap);
    va_end(ap);
}

void lab_skip(lab_verdict *v, const char *fmt, ...) {
    v->status = LAB_NA;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(v->why, sizeof v->why, fmt, ap);
    va_end(ap);
}

static double share_of_line(const lab_row *row, double value) {
    if (isnan(value)) return 0;
    if (row->full == row->zero) return value == row->full;
    double share = (value - row->zero) / (row->full - row->zero);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

int lab_digits(double value, double bound, int least) {
    enum { MORE = 3 };
    for (int digits = least; digits < least + MORE && value != bound; digits++) {
        char a[64], b[64];
        lab_text(a, sizeof a, "%.*f", digits, value);
        lab_text(b, sizeof b, "%.*f", digits, bound);
        if (strcmp(a, b) != 0) return digits;
    }
    return least;
}

void lab_grade(lab_verdict *v, double value) {
    double share = share_of_line(v->row, value);
    v->graded = true;
    v->value = value;
    v->status = share >= 1 ? LAB_PASS : share > 0 ? LAB_PART : LAB_FAIL;
}

void lab_grade_interval(lab_verdict *v, double value, double lo, double hi) {
    const lab_row *row = v->row;
    lab_grade(v, value);
    bool lo_full = share_of_line(row, lo) >= 1, hi_full = share_of_line(row, hi) >= 1;
    if (lo_full == hi_full) return;
    bool near = fabs(value - row->full) <= 0.03 * fabs(row->full);
    if (near) lab_pass(v);
    LAB_SAY(v->why, "inconclusive: between %.*f and %.*f on this machine%s", row->decimals + 1, lo, row->decimals + 1,
            hi, near ? "; counted in your favour" : "");
}

void lab_unmeasured(lab_verdict *v, const char *why) {
    v->status = LAB_FAIL;
    v->unmeasured = true;
    LAB_SAY(v->value_text, "-");
    LAB_SAY(v->why, "%s", why);
}

void lab_skip_rest(const char *why) {
    for (int i = 0; i < lab.nverdicts; i++)
        if (lab.verdicts[i].status == LAB_OPEN) lab_unmeasured(&lab.verdicts[i], why);
}

bool lab_passed(const lab_verdict *v) { return v->status == LAB_PASS; }

/* --- points ----------------------------------------------------------------------------------- */

static const lab_verdict *find(const char *id, size_t length) {
    for (int i = 0; i < lab.nverdicts; i++) {
        const char *name = lab.verdicts[i].row->id;
        if (!strncmp(name, id, length) && !name[length]) return &lab.verdicts[i];
    }
    lab_die("the table of rows has a gate '%.*s' that is none of its rows", (int)length, id);
}

/* The first gate of this row that is not full, or NULL. A gate that cannot be judged in this lane is open. */
static const lab_verdict *closed_gate(const lab_row *row) {
    for (const char *p = row->gates ? row->gates : ""; *p; p += strspn(p, " ")) {
        size_t length = strcspn(p, " ");
        const lab_verdict *gate = find(p, length);
        if (gate->status != LAB_PASS && gate->status != LAB_NA && lab_shown(gate)) return gate;
        p += length;
    }
    return NULL;
}

static void close_gate(lab_verdict *v) {
    const lab_verdict *gate = v->status == LAB_NA ? NULL : closed_gate(v->row);
    if (!gate) return;
    if (v->status == LAB_PASS && !v->graded && !v->value_text[0]) LAB_SAY(v->value_text, "PASS");
    v->status = LAB_FAIL;
    v->gated = true;
    if (v->unmeasured) return; /* the row names what is missing already */
    v->where[0] = v->code[0] = 0;
    LAB_SAY(v->why, "earns points once '%s' is full", gate->row->label);
}

static double points_of(const lab_verdict *v) {
    if (v->status == LAB_PASS) return v->row->points;
    if (v->status != LAB_PART) return 0;
    double points = floor(share_of_line(v->row, v->value) * v->row->points * 10 + 0.5) / 10;
    /* Rounding must not give a full mark to a row that is not full. */
    return points >= v->row->points ? v->row->points - 0.1 : points;
}

void lab_rows_end(void) {
    for (int i = 0; i < lab.nverdicts; i++)
        if (lab.verdicts[i].status == LAB_OPEN) lab_fail(&lab.verdicts[i], "the harness gave this row no verdict");
    for (int i = 0; i < lab.nverdicts; i++) close_gate(&lab.verdicts[i]); /* in order: a closed gate closes the next */
    for (int i = 0; i < lab.nverdicts; i++) lab.verdicts[i].points = points_of(&lab.verdicts[i]);
}

void lab_note(const char *name, const char *fmt, ...) {
    if (lab.nnotes == (int)(sizeof lab.notes / sizeof *lab.notes)) return;
    lab_note_line *n = &lab.notes[lab.nnotes++];
    lab_text(n->name, sizeof n->name, "%s", name);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(n->text, sizeof n->text, fmt, ap);
    va_end(ap);
}

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
    lab.results = lab_hide((size_t)lab.spec->nrows * sizeof *lab.results);
    lab.nresults = 0;
    for (int i = 0; i < lab.spec->nrows; i++)
        if (lab.spec->rows[i].lanes & lab_lane()) lab.results[lab.nresults++].row = &lab.spec->rows[i];
}

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

/* NULL for a row of the other lane: a harness may speak of both lanes' rows without asking where it is. */
lab_result *lab_find(const char *id) {
    for (int i = 0; i < lab.nresults; i++)
        if (!strcmp(lab.results[i].row->id, id)) return &lab.results[i];
    for (int i = 0; i < lab.spec->nrows; i++)
        if (!strcmp(lab.spec->rows[i].id, id)) return NULL;
    lab_die("the harness speaks of a row '%s' that its table lacks", id);
}

void lab_pass(const char *id) {
    lab_result *r = lab_find(id);
    if (!r) return;
    r->status = LAB_PASS;
    r->points = r->row->points;
}

void lab_fail(const char *id) {
    lab_result *r = lab_find(id);
    if (!r) return;
    r->status = LAB_FAIL;
    r->points = 0;
}

static double share_of_line(const lab_row *row, double value) {
    if (isnan(value)) return 0;
    if (row->full == row->zero) return value == row->full;
    double share = (value - row->zero) / (row->full - row->zero);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

void lab_grade(const char *id, double value) {
    lab_result *r = lab_find(id);
    if (!r) return;
    double share = share_of_line(r->row, value);
    r->graded = true;
    r->value = value;
    r->status = share >= 1 ? LAB_PASS : share > 0 ? LAB_PART : LAB_FAIL;
    r->points = floor(share * r->row->points * 10 + 0.5) / 10;
    /* Rounding must not give a full mark to a row that is not full. */
    if (r->status == LAB_PART && r->points >= r->row->points) r->points = r->row->points - 0.1;
}

void lab_grade_interval(const char *id, double value, double lo, double hi) {
    lab_result *r = lab_find(id);
    if (!r) return;
    lab_grade(id, value);
    bool lo_full = share_of_line(r->row, lo) >= 1, hi_full = share_of_line(r->row, hi) >= 1;
    if (lo_full == hi_full) return;
    bool near = fabs(value - r->row->full) <= 0.03 * fabs(r->row->full);
    if (near) lab_pass(id);
    lab_why(id, "inconclusive: between %.*f and %.*f on this machine%s", r->row->decimals + 1, lo, r->row->decimals + 1,
            hi, near ? "; counted in your favour" : "");
}

/* Its usual next step would mislead: nobody knows what the row lacks. */
static void unmeasured(lab_result *r, const char *why) {
    lab_fail(r->row->id);
    lab_value(r->row->id, "-");
    lab_text(r->why, sizeof r->why, "%s", why);
    r->unmeasured = true;
}

void lab_unmeasured(const char *id, const char *why) {
    lab_result *r = lab_find(id);
    if (r) unmeasured(r, why);
}

void lab_skip_rest(const char *why) {
    for (int i = 0; i < lab.nresults; i++)
        if (lab.results[i].status == LAB_OPEN) unmeasured(&lab.results[i], why);
}

/* The texts of a row: one setter a column. */
#define ROW_TEXT(column)                                                                                               \
    do {                                                                                                               \
        lab_result *r_ = lab_find(id);                                                                                 \
        if (!r_) return;                                                                                               \
        va_list ap_;                                                                                                   \
        va_start(ap_, fmt);                                                                                            \
        vsnprintf(r_->column, sizeof r_->column, fmt, ap_);                                                            \
        va_end(ap_);                                                                                                   \
    } while (0)

void lab_value(const char *id, const char *fmt, ...) { ROW_TEXT(shown); }
void lab_want(const char *id, const char *fmt, ...) { ROW_TEXT(want); }
void lab_where(const char *id, const char *fmt, ...) { ROW_TEXT(where); }
void lab_why(const char *id, const char *fmt, ...) { ROW_TEXT(why); }
void lab_next(const char *id, const char *fmt, ...) { ROW_TEXT(next); }

void lab_hint(const char *id, const char *hint) {
    lab_result *r = lab_find(id);
    if (r) r->hint = hint;
}

void lab_skip(const char *id, const char *fmt, ...) {
    lab_result *r = lab_find(id);
    if (r) r->status = LAB_NA;
    ROW_TEXT(why);
}

bool lab_passed(const char *id) {
    const lab_result *r = lab_find(id);
    return r && r->status == LAB_PASS;
}

static bool listed(const char *list, const char *id) {
    size_t n = strlen(id);
    for (const char *p = list; (p = strstr(p, id)); p += n)
        if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n])) return true;
    return false;
}

void lab_gate(const char *id, const char *except) {
    const lab_result *gate = lab_find(id);
    if (!gate || gate->status == LAB_PASS) return;
    for (int i = 0; i < lab.nresults; i++) {
        lab_result *r = &lab.results[i];
        if (r <= gate || listed(except, r->row->id) || r->status == LAB_NA) continue;
        r->status = LAB_FAIL;
        r->points = 0;
        if (r->gated || r->unmeasured) continue; /* the first gate, or what was missing, is what to mend */
        r->gated = true;
        r->where[0] = r->code[0] = 0;
        lab_text(r->why, sizeof r->why, "earns points once '%s' is full", gate->row->label);
    }
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

/* card.c — the score card for people and the record for programs, from the same results.
 *
 * record.h has the record's form. Only a record whose last line is a score line counts. It is written anew at the very
 * end, when the program has left main and every function that student code gave to atexit has run (lab_card_end, the
 * last thing that lab.c does). No file is open while student code runs.
 */
#define _GNU_SOURCE
#include "lab_internal.h"
#include "page.h"
#include "record.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char SEPARATOR[] = " · "; /* between the parts of a `want` */
enum { LABEL_WIDTH = 26, VALUE_WIDTH = 10, WANT_WIDTH = 50, POINTS_WIDTH = 5 };

/* Does not call exit, which may be under way. */
static void record_lost(void) {
    fprintf(stderr, "%s: cannot write the record %s: %s\n", lab.spec->lab, lab.record, strerror(errno));
    _exit(2);
}

static FILE *record_open(const char *mode) {
    FILE *f = fopen(lab.record, mode);
    if (!f) record_lost();
    return f;
}

static void record_close(FILE *f) {
    if (ferror(f) | fclose(f)) record_lost();
}

static void record_head(FILE *f) {
    fprintf(f, LAB_RECORD_MAGIC "\t" LAB_RECORD_VERSION "\t%s\t%s\t", lab.spec->lab, lab_lane_name());
    lab_tsv(f, lab_device_name());
    fprintf(f, "\nseed\t%llu\ncolumns" LAB_RECORD_COLUMNS(LAB_TABBED) "\n", (unsigned long long)lab.seed);
}

/* Checks first of all that the record can be written. "e" closes it in any program that student code starts. */
void lab_record_begin(const char *path) {
    lab_text(lab.record, sizeof lab.record, "%s", path);
    FILE *f = record_open("we");
    record_head(f);
    record_close(f);
}

/* --- texts that the card and the record share ------------------------------------------------- */

static const char *value_text(const lab_verdict *r, char *buf, size_t size) {
    if (r->status == LAB_NA) return "n/a";
    if (r->value_text[0]) return r->value_text;
    if (r->graded) {
        const bool full = r->status == LAB_PASS || r->gated;
        const int digits = full ? r->row->decimals : lab_digits(r->value, r->row->full, r->row->decimals);
        lab_text(buf, size, "%.*f%s%s", digits, r->value, r->row->unit[0] ? " " : "", r->row->unit);
        return buf;
    }
    return r->status == LAB_PASS ? "PASS" : "FAIL";
}

static const char *want_text(const lab_verdict *r, char *buf, size_t size) {
    const lab_row *row = r->row;
    if (r->want[0]) return r->want;
    if (row->full == row->zero || r->unmeasured) return ""; /* without a value a mark has no use */
    const char *sign = row->full > row->zero ? "≥ " : row->decimals && row->full != 0 ? "≤ " : "";
    lab_text(buf, size, "want %s%g", sign, row->full);
    return buf;
}

/* Returns the next step; "" where another row must be fixed first. */
static const char *next_of(const lab_verdict *r) {
    return r->gated || r->unmeasured ? "" : r->next[0] ? r->next : r->row->next;
}

static const char *status_text(lab_status s) {
    static const char *const names[] = {
        [LAB_OPEN] = "fail", [LAB_PASS] = "pass", [LAB_PART] = "part", [LAB_FAIL] = "fail", [LAB_NA] = "na"};
    return names[s];
}

/* Points of the rows that could be measured. */
static void score(double *points, double *max) {
    *points = *max = 0;
    for (int i = 0; i < lab.nverdicts; i++) {
        if (lab.verdicts[i].status == LAB_NA || !lab_shown(&lab.verdicts[i])) continue;
        *points += lab.verdicts[i].points;
        *max += lab.verdicts[i].row->points;
    }
}

/* --- the card --------------------------------------------------------------------------------- */

static void spaces(FILE *f, int n) { fprintf(f, "%*s", n > 0 ? n : 0, ""); }

/* Negative width: right-aligned. */
static void pad(FILE *f, enum page_style style, const char *text, int width) {
    int room = abs(width) - page_width(text);
    if (width < 0) spaces(f, room);
    fprintf(f, "%s%s%s", page_on(f, style), text, page_off(f));
    if (width > 0) spaces(f, room);
}

static enum page_style style_of(lab_status s) {
    return s == LAB_PASS ? PAGE_GOOD : s == LAB_PART ? PAGE_PART : s == LAB_NA ? PAGE_PLAIN : PAGE_BAD;
}

/* Does this row wait for another one, and says no more than the row above does? */
static bool waits_alike(const lab_verdict *a, const lab_verdict *b) {
    bool waits = (a->gated || a->unmeasured) && (b->gated || b->unmeasured);
    return waits && !a->where[0] && !b->where[0] && !strcmp(a->why, b->why);
}

/* The reason of some rows that wait for another one. */
static void print_reason_of_all(FILE *f, const lab_verdict *r, int nrows) {
    char text[sizeof r->why + 32];
    lab_text(text, sizeof text, "each of these %d: %s", nrows, r->why);
    page_wrap(f, PAGE_PLAIN, 6, 2, text);
}

/* The reason below a row: the source line, what it did, one next step. Indented under the label. */
static void print_reason(FILE *f, const lab_verdict *r) {
    char text[sizeof r->where + sizeof r->code + 2];
    lab_text(text, sizeof text, "%s%s%s", r->where, r->code[0] ? ": " : "", r->code);
    if (r->where[0]) page_wrap(f, PAGE_PLACE, 6, 4, text);
    if (r->why[0]) page_wrap(f, PAGE_PLAIN, 6, 2, r->why);
    bool short_of_full = r->status == LAB_FAIL || r->status == LAB_PART || r->status == LAB_OPEN;
    if (!short_of_full || !next_of(r)[0]) return;
    fprintf(f, "      %snext:%s ", page_on(f, PAGE_NEXT), page_off(f));
    page_go_on(f, PAGE_PLAIN, 12, 0, next_of(r));
}

/* Returns how many bytes of a `want` go into the first line: all, or up to a separator of its parts, or to a space. */
static size_t first_part(const char *wanted, int room) {
    const size_t fits = page_fit(wanted, room);
    size_t last = 0;
    for (const char *p = wanted; wanted[fits] && (p = strstr(p, SEPARATOR)) && (size_t)(p - wanted) <= fits; p++)
        last = (size_t)(p - wanted);
    return last ? last : fits;
}

/* A `want` that is longer than the columns before the points goes on below. */
static void print_row(FILE *f, const lab_verdict *r) {
    char value[64], want[160], first[160], points[32];
    const enum page_style style = r->gated ? PAGE_PLAIN : style_of(r->status);
    const char *wanted = want_text(r, want, sizeof want);
    if (r->status == LAB_NA)
        lab_text(points, sizeof points, "-");
    else
        lab_text(points, sizeof points, "%g", r->points);
    const int room = WANT_WIDTH + POINTS_WIDTH - page_width(points);
    const size_t fits = first_part(wanted, room - 1);
    lab_text(first, sizeof first, "%.*s", (int)fits, wanted);
    spaces(f, 2);
    /* A value that is too long for its column takes the room that the label leaves. */
    const int over = page_width(value_text(r, value, sizeof value)) - VALUE_WIDTH;
    const int spare = LABEL_WIDTH - 1 - page_width(r->row->label);
    pad(f, PAGE_PLAIN, r->row->label, LABEL_WIDTH - (over < 0 ? 0 : over < spare ? over : spare));
    pad(f, style, value_text(r, value, sizeof value), -VALUE_WIDTH);
    spaces(f, 3);
    pad(f, PAGE_PLAIN, first, room);
    fprintf(f, "%s%s%s/%d\n", page_on(f, style), points, page_off(f), r->row->points);
    wanted += fits + (strncmp(wanted + fits, SEPARATOR, strlen(SEPARATOR)) ? 0 : strlen(SEPARATOR));
    wanted += strspn(wanted, " ");
    if (*wanted) page_wrap(f, PAGE_PLAIN, LABEL_WIDTH + VALUE_WIDTH + 5, 0, wanted);
}

/* Rows that wait for one and the same thing share one line with the reason. */
static void print_rows(FILE *f) {
    const lab_verdict *before = NULL;
    int alike = 0;
    for (int i = 0; i < lab.nverdicts; i++) {
        const lab_verdict *r = &lab.verdicts[i];
        if (!lab_shown(r)) continue;
        bool joins = before && waits_alike(before, r);
        if (before && !joins && alike > 1) print_reason_of_all(f, before, alike);
        if (before && !joins && alike <= 1) print_reason(f, before);
        alike = joins ? alike + 1 : 1;
        print_row(f, r);
        before = r;
    }
    if (alike > 1)
        print_reason_of_all(f, before, alike);
    else if (before)
        print_reason(f, before);
}

/* The last line: the points, and the command that is worth most now. */
static void print_score(FILE *f) {
    double points, max;
    char text[64];
    score(&points, &max);
    const char *number = lab.spec->lab + strcspn(lab.spec->lab, "0123456789");
    lab_text(text, sizeof text, "%g/%g", points, max);
    spaces(f, 2);
    pad(f, points < max ? PAGE_TITLE : PAGE_GOOD, text, page_width(text));
    if (points < max)
        fprintf(f, "   next: make hint%s\n", number);
    else if (lab.options.solution && lab.spec->after)
        fprintf(f, "   every row is full. Next: %s\n", lab.spec->after);
    else {
        fprintf(f, "   every row is full. Compare with the reference: make solution%s\n", number);
        if (lab.spec->after) spaces(f, 12), fprintf(f, "Then: %s\n", lab.spec->after);
    }
}

void lab_card_print(FILE *f) {
    char title[128];
    lab_text(title, sizeof title, "%s  %s", lab.spec->lab, lab.spec->title);
    pad(f, PAGE_TITLE, title, LABEL_WIDTH + VALUE_WIDTH + 5);
    fprintf(f, "%s · %s%s\n", lab_lane_name(), lab_device_name(), lab_lane() == LAB_SIM ? " · deterministic" : "");
    print_rows(f);
    for (int i = 0; i < lab.nnotes; i++) {
        spaces(f, 2);
        pad(f, PAGE_PLAIN, lab.notes[i].name, LABEL_WIDTH);
        page_go_on(f, PAGE_PLAIN, LABEL_WIDTH + 2, 0, lab.notes[i].text);
    }
    lab_print_bars(f, lab.bars);
    print_score(f);
}

/* --- the record ------------------------------------------------------------------------------- */

void lab_record_write(FILE *f) {
    for (int i = 0; i < lab.nverdicts; i++) {
        const lab_verdict *r = &lab.verdicts[i];
        char value[64], want[160], points[32], max[32];
        if (!lab_shown(r)) continue;
        lab_text(points, sizeof points, "%g", r->points);
        lab_text(max, sizeof max, "%d", r->row->points);
        const char *cells[LAB_CELLS] = {[LAB_CELL_id] = r->row->id,
                                        [LAB_CELL_status] = status_text(r->status),
                                        [LAB_CELL_points] = points,
                                        [LAB_CELL_max] = max,
                                        [LAB_CELL_sentence] = r->row->sentence,
                                        [LAB_CELL_value] = value_text(r, value, sizeof value),
                                        [LAB_CELL_want] = want_text(r, want, sizeof want),
                                        [LAB_CELL_where] = r->where,
                                        [LAB_CELL_why] = r->why,
                                        [LAB_CELL_hint] = r->hint ? r->hint : r->row->hint,
                                        [LAB_CELL_next] = next_of(r),
                                        [LAB_CELL_label] = r->row->label};
        fputs("row", f);
        for (int k = 0; k < LAB_CELLS; k++) {
            fputc('\t', f);
            lab_tsv(f, cells[k]);
        }
        fputc('\n', f);
    }
    for (int i = 0; i < lab.nnotes; i++) {
        fprintf(f, "note\t%s\t", lab.notes[i].name);
        lab_tsv(f, lab.notes[i].text);
        fputc('\n', f);
    }
    lab_figures_write(f);
    double points, max;
    score(&points, &max);
    fprintf(f, "score\t%g\t%g\tdone\n", points, max);
}

/* Handlers that a program has registered with atexit still run after this, but cannot change any verdict. */
int lab_end(void) {
    lab_rows_end();
    lab_others_end();
    lab.done = lab.ended = true;
    lab_lock();
    return 0;
}

void lab_card_end(void) {
    if (!lab.ended) return;
    signal(SIGPIPE, SIG_IGN);
    if (lab.record[0]) { /* first, since printing ends the program if the reader is gone */
        FILE *f = record_open("we");
        record_head(f);
        lab_record_write(f);
        record_close(f);
    }
    lab_card_print(stdout);
}

int lab_leave(void) {
    lab.done = true;
    return 0;
}

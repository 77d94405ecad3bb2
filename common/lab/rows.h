/* rows.h — the rows of a lab's score card, and the verdict on each.
 *
 * A row is one thing that a student can get right. The harness has one table of them; a run fills in one verdict a row:
 *
 *     lab_verdict *v = lab_verdict_of(LAUNCHES);
 *     lab_grade(v, launches);
 *     if (!lab_passed(v)) LAB_SAY(v->why, "%d kernels for one matrix", launches);
 *
 * Card, record, hints and the tests of `make check` are made from the table and the verdicts, so they cannot disagree.
 */
#ifndef LAB_ROWS_H
#define LAB_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define LAB_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define LAB_PRINTF(f, a)
#endif

/* --- rows (rows.c) ---------------------------------------------------------------------------- */

enum { LAB_SIM = 1, LAB_GPU = 2, LAB_BOTH = 3 }; /* lanes, as bits of lab_row.lanes */

typedef struct {
    const char *id;       /* "load-sectors": in the record, the tests and the hints */
    const char *label;    /* "load sectors per 128 B": on the card */
    const char *sentence; /* the goal in words for a student, and the name of the test */
    const char *unit;     /* printed after the value: "", "x", "%" */
    int decimals;         /* of the value */
    double full,
        zero; /* all points at full, none at zero, a straight line between; equal: pass or fail, by lab_pass/lab_fail */
    int points;
    int lanes;        /* LAB_SIM | LAB_GPU */
    const char *hint; /* "## id" in the lab's hints.md */
    const char *next; /* the one next step, printed under a row that is not full */
    /* Ids of rows, separated by spaces: while one of them is not full, this row shows its value, earns nothing, and
     * says only that. A gate that is n/a is open. NULL: none. */
    const char *gates;
} lab_row;

/* --- verdicts (rows.c) ------------------------------------------------------------------------- */

typedef enum { LAB_OPEN, LAB_PASS, LAB_PART, LAB_FAIL, LAB_NA } lab_status;

/* The verdict on a row of the table. A harness fills it in; texts that it leaves empty come from the row. */
typedef struct {
    const lab_row *row;
    lab_status status;
    double value;        /* of the row's metric */
    bool graded;         /* `value` is set */
    bool unmeasured;     /* no verdict of its own, and so no next step: an earlier row names the cause */
    bool gated;          /* lab_end: another row must be full first */
    double points;       /* lab_end: what it earned */
    char value_text[64]; /* shown in place of the number */
    char want[160];      /* shown in place of "want <= full" */
    char where[128];     /* "transpose.cu:31", or a shape */
    char code[256];      /* the source line there, if it could be read */
    char why[640];       /* the effect of that place, one sentence */
    char next[256];      /* the next step, in place of the row's own */
    const char *hint;    /* "## hint" in hints.md, in place of the row's; NULL: the row's */
} lab_verdict;

/* The verdict on a row, by its index in the table. Rows of the other lane have one too, which is not shown. */
lab_verdict *lab_verdict_of(int row);

/* LAB_SAY(v->why, "%d launches", n) writes one of its texts. */
#define LAB_SAY(text, ...) lab_text((text), sizeof(text), __VA_ARGS__)
void lab_text(char *to, size_t size, const char *fmt, ...) LAB_PRINTF(3, 4);

void lab_pass(lab_verdict *v);                                        /* full marks */
void lab_fail(lab_verdict *v, const char *why, ...) LAB_PRINTF(2, 3); /* none */
void lab_skip(lab_verdict *v, const char *why, ...) LAB_PRINTF(2, 3); /* n/a: its points leave the maximum */
/* How many digits, at least `least`, show a value apart from its bound: 1.403 beside 1.400, where both are 1.40. */
int lab_digits(double value, double bound, int least);
void lab_grade(lab_verdict *v, double value); /* marks on the line from full to zero */
/* As lab_grade for a value known as an interval (time on a real card): full, or not full, is said only when the whole
 * interval agrees. In between it is inconclusive: full if the value is within 3 % of the mark, and the row says so. */
void lab_grade_interval(lab_verdict *v, double value, double lo, double hi);
void lab_unmeasured(lab_verdict *v, const char *why); /* fails, and has no next step: an earlier row has it */
void lab_skip_rest(const char *why);                  /* the same for every row without a verdict */
bool lab_passed(const lab_verdict *v);

#ifdef __cplusplus
}
#endif
#endif

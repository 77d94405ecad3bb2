/* player.c — calls the entry points of a program of lab 0 as a message says. It holds no right answer. */
#include "messages.h"
#include "player.h"

const char *const lab_entries[] = {"copy_work",          "saxpy_work",         "one_flop_work", "matmul_work",
                                   "scores_work",        "intensity",          "least_us",      "bound_of",
                                   "sheet_bytes_per_us", "sheet_flops_per_us", "predict_us",    NULL};
const char *const lab_rung_entries[] = {"run", NULL};
enum { RUN = LAB0_FUNCTIONS }; /* behind the student's */

typedef struct work work_fn(long), scores_fn(long, long), one_flop_fn(void);
typedef double intensity_fn(struct work), least_fn(struct work, struct ceilings), sheet_fn(struct sheet);
typedef enum bound bound_fn(struct work, struct ceilings);
typedef double predict_fn(enum trial, double, struct sheet);
typedef void run_fn(struct lab0_job);

static struct lab0_answer pair(struct work w) { return (struct lab0_answer){w.bytes, w.flops}; }
static struct lab0_answer single(double value) { return (struct lab0_answer){value, 0}; }

static struct lab0_answer ask(lab_entry *f, const struct lab0_question *q) {
    switch (q->function) {
    case COPY_WORK:
    case SAXPY_WORK:
    case MATMUL_WORK: return pair(((work_fn *)f)((long)q->n));
    case ONE_FLOP_WORK: return pair(((one_flop_fn *)f)());
    case SCORES_WORK: return pair(((scores_fn *)f)((long)q->n, (long)q->d));
    case INTENSITY: return single(((intensity_fn *)f)(q->w));
    case LEAST_US: return single(((least_fn *)f)(q->w, q->c));
    case BOUND_OF: return single(((bound_fn *)f)(q->w, q->c));
    case SHEET_BYTES:
    case SHEET_FLOPS: return single(((sheet_fn *)f)(q->s));
    case PREDICT_US: return single(((predict_fn *)f)(q->trial, (double)q->n, q->s));
    case LAB0_FUNCTIONS: break;
    }
    return single(0);
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab0_message *m = message;
    if (m->what == LAB0_RUN)
        ((run_fn *)entry[RUN])(m->job);
    else
        *(struct lab0_answer *)reply = ask(entry[m->question.function], &m->question);
}

/* hazards.h — the row `races`: what the checks found in the runs of a lab's shapes, in its words.
 *
 * A lab has a sentence for each kind of finding where it says more than any lab could:
 *
 *     static const lab_hazard_words words = {.unwritten_memory = "write c, and do not read it: ...", ...};
 *     lab_advise_on_hazard(v, f, on_race(f), &words);
 */
#ifndef LAB_HAZARDS_H
#define LAB_HAZARDS_H

#include "lab.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Next steps. NULL: that of any lab, as far as there is one. */
typedef struct {
    const char *unwritten_memory; /* device memory was read that nobody has written */
    const char *unwritten_shared; /* the same of shared memory */
    const char *stream_order;
    const char *in_flight;
    const char *skipped; /* some threads never come to a barrier */
    const char *exited;  /* they end before it; NULL: as skipped */
} lab_hazard_words;

/* Fails the row for this finding: its place and what it is, and a next step of these words, or `race` for a race; NULL:
 * the lab says it itself. */
void lab_advise_on_hazard(lab_verdict *v, const struct simgpu_finding *f, const char *race,
                          const lab_hazard_words *words);

/* The finding to speak of where a lab's threads share tiles: a skipped barrier, since races follow from it; else a
 * race, which names both sides, where a missing barrier also gives a read of memory that was not written yet; else the
 * first. */
const struct simgpu_finding *lab_first_hazard(const lab_usage *u);

/* Returns whether neither side of a race only reads. */
bool lab_both_write(const struct simgpu_finding *f);

/* Fails a row of right results if blocks of one launch race for a place: blocks run in any order, on a card and in
 * SimGPU, so the next run may give another result. */
void lab_refuse_luck(lab_verdict *v, const lab_usage *u);

/* A lab's own: says what the checks found, which is in u. */
typedef void (*lab_hazard_advice)(lab_verdict *v, const lab_usage *u);

/* Fails the row `races`, in the words of `advise`, for what the checks found in a stretch of watched runs, even if all
 * results came out right: this run's order of warps is one of many. Returns whether they found something; behind an
 * error there may be no stretch. */
bool lab_fail_for_hazard(lab_verdict *v, const char *stretch, lab_hazard_advice advise);
/* The row where they found nothing. `correct`: the row of the results; alive: CUDA did not fail, else `failed` says so.
 * Without a race, a wrong result says nothing about races. */
void lab_pass_races(lab_verdict *v, const lab_verdict *correct, bool alive, const char *failed);
/* Both, for a lab with one stretch, whose row `correct` loses its marks to luck. n/a in the gpu lane. */
void lab_grade_races(lab_verdict *v, lab_verdict *correct, const char *stretch, bool alive, const char *failed,
                     lab_hazard_advice advise);

#ifdef __cplusplus
}
#endif
#endif

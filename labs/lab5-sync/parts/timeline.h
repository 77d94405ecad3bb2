/* timeline.h — the timeline of one run: the GPU's busy and idle times, and the line of yours behind each.
 * Sim lane only: it comes from SimGPU's events.
 *
 * The GPU is busy while a kernel of a step is under way. The window is that of the clock: from the end of one step's
 * last kernel to the end of another's, so that work before and after the loop does not count.
 */
#ifndef LAB5_TIMELINE_H
#define LAB5_TIMELINE_H

#include "lab.h"

typedef struct {
    double from, to; /* ns */
} interval;

/* An event that recurs at one line. */
typedef struct {
    const struct simgpu_event *what; /* the first time; lives as long as the usage that was read */
    double count, ns;
    const struct simgpu_event
        *held; /* of a drain: what keeps the kernels that are queued behind it waiting; NULL: none is */
} culprit;

enum { CULPRITS = 32 };
typedef struct {
    culprit list[CULPRITS]; /* most time first */
    int n;
} culprits;
double count_of(const culprits *c);
/* Returns "cudaMemcpy", "host blocked in cudaMemcpy" or "copy"; may write it into `text`. */
const char *culprit_name(const culprit *c, char *text, size_t size);

typedef struct {
    interval window;
    struct {
        interval at;
        int first, last; /* the steps first .. last - 1 */
    } shown;             /* of it, by the blue bar */
    interval *busy;      /* merged, in order */
    int nbusy;
    double busy_ns, idle_ns;
    culprits drains, harmless; /* calls that ended with the GPU idle; waits that ended with work left */
    culprits pageable, allocs; /* copies and calls */
    culprits gaps;             /* idle time by cause */
} timeline;

/* Reads it from the end of the `warm`th update on. Returns false if there are too few updates. */
bool timeline_read(timeline *t, const lab_usage *u, int warm);
void timeline_free(timeline *t);

#endif

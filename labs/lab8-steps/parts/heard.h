/* heard.h — the calls of CUDA that a program makes in one `solve`: how many, of which lines, and the host's time in
 * them. Both lanes.
 *
 *     heard_begin(&h);
 *     ... the program plays ...
 *     heard_end();
 */
#ifndef LAB8_HEARD_H
#define LAB8_HEARD_H

#include "lab.h"

enum { HEARD_PLACES = 48 };

/* The calls of one function from one line. */
typedef struct {
    const char *name, *file; /* file NULL: not known */
    int line, count;
    bool waits; /* for the device: cudaStreamSynchronize and its like, cudaMemcpy, cudaFree */
    double ns;  /* the host's time in them */
} heard_place;

typedef struct {
    heard_place places[HEARD_PLACES];
    int n;
    int calls, waits;  /* of all; questions about errors do not count */
    double working_ns; /* the host's time in calls that do not wait */
    lab_call failed;   /* the first that failed; name NULL: none */
    lab_call freed;    /* the first that frees one of the harness's plates */
    float *plates[2];  /* those */
} heard;

/* Forgets what was heard, and listens. The struct must be one that lab_hide gave out. plates: two, of the harness. */
void heard_begin(heard *h, float *const *plates);
void heard_end(void);

/* Returns the first place of this function; NULL: it has not been called. */
const heard_place *heard_has(const heard *h, const char *name);

/* Sorts the places, those with the most calls, waits or time first. */
enum heard_by { HEARD_CALLS, HEARD_WAITS, HEARD_TIME };
void heard_sort(heard *h, enum heard_by by);

#endif

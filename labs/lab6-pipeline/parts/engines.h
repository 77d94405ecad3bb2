/* engines.h — the card's three engines during a run, from SimGPU's events. Sim lane only.
 *
 * An engine is at work from the start of a copy, or of the kernel, to its end. Of kernels only the harness's own
 * counts, of copies only those over the link.
 */
#ifndef LAB6_ENGINES_H
#define LAB6_ENGINES_H

#include "lab.h"

enum engine { ENGINE_UP, ENGINE_KERNELS, ENGINE_DOWN, ENGINES };

typedef struct {
    double busy[ENGINES]; /* ns at work */
    int pieces[ENGINES];  /* copies or kernels */
    double together;      /* ns in which all three are at work */
    double ends;          /* ns before they are for the first time, and behind the last; all of it if they never are
                             for a microsecond: less is where one piece ends beside the next one's start */
    int idle_starts;      /* kernels that were queued when no kernel and no copy down was under way or waiting */
    double host;          /* ns of the host's own work (memcpy and its relatives) */
    struct simgpu_place host_at; /* the line with most of it */
} engines;

/* Reads the time from begin to end (lab_now's ns). */
engines engines_of(const lab_usage *u, double begin, double end);

#endif

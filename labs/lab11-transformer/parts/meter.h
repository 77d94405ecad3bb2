/* meter.h — the calls of CUDA that a program makes in one training: how many of each kind, the device memory that it
 * holds, and the first call that fails. Both lanes.
 *
 *     meter_begin(&m);   ... the program plays ...   meter_end();
 */
#ifndef LAB11_METER_H
#define LAB11_METER_H

#include "lab.h"

enum { METER_LIVE = 96 };

/* One piece of device memory. */
typedef struct {
    uint64_t at, bytes;
    const char *name, *file; /* of the call; file NULL: not known */
    int line;
} meter_block;

typedef struct {
    meter_block live[METER_LIVE], largest[METER_LIVE]; /* now; when most was held */
    int nlive, nlargest;
    uint64_t now, peak; /* bytes */
    int launches, waits, allocations, copies;
    uint64_t up, down;      /* bytes copied to and from the device */
    uint64_t weights;       /* the judge's memory, lent to the program */
    lab_call failed, freed; /* the first that failed; the first that freed `weights`; name NULL: none */
} meter;

/* Forgets what was heard, and listens. The struct must be one that lab_hide gave out. */
void meter_begin(meter *m, const void *weights);
void meter_end(void);

#endif

/* profile.h — where the time of a training went: by kernel, and by what the GPU waited for. Sim lane: it comes from
 * SimGPU's events.
 */
#ifndef LAB11_PROFILE_H
#define LAB11_PROFILE_H

#include "run.h"

enum { PROFILE_KERNELS = 48, PROFILE_CAUSES = 24 };

/* All launches of kernels of one name. */
typedef struct {
    char name[128];
    double launches, ns;         /* ns: from start to end, the launch's own time with it */
    double ld_sectors, ld_bytes; /* of its global loads */
} profile_kernel;

/* Idle time of one cause. */
typedef struct {
    char what[96];
    double ns;
    struct simgpu_place at; /* of its first gap: the line responsible */
} profile_cause;

typedef struct {
    double ns, busy_ns, kernel_ns; /* of the whole run; with a kernel under way; of all kernels, added up */
    double launches, waits;
    profile_kernel kernels[PROFILE_KERNELS]; /* most time first */
    int nkernels;
    profile_cause causes[PROFILE_CAUSES]; /* likewise */
    int ncauses;
} profile;

profile profile_of(const run *r, const lab_usage *u);

/* Writes the three kernels with the most time, the longest launch, and the three causes of the most idle time, as three
 * lines under the card. */
void profile_note(const profile *p, const lab_usage *u, int steps);

#endif

/* Memory that the host must have: without it the program ends, with a sentence. */
#ifndef SIMGPU_MUST_H
#define SIMGPU_MUST_H

#include "../ptx/ptx.h"

#include <stdlib.h>

static inline void *must(void *p) {
    if (!p) sim_refuse("out of host memory");
    return p;
}

#endif

/* Memory that the host must have: without it the program ends, with a sentence. */
#ifndef SIMGPU_MUST_H
#define SIMGPU_MUST_H

#include <stdio.h>
#include <stdlib.h>

static inline void *must(void *p) {
    if (p) return p;
    fputs("simgpu: out of host memory\n", stderr);
    exit(1);
}

#endif

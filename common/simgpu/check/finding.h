/* Findings: said once, on stderr and in the report. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include <stdbool.h>

/* One of the (one or two) places that a finding is about. */
typedef struct {
    const char *file; /* as the compiler wrote it; NULL: not known */
    int line;
    const char *did; /* "read", "write", "atomic", "copy" ... */
} finding_place;

enum { FINDING_TEXT = 2048 };

/* False if a finding of this check about these lines, in either order, was said before, or very many others were. */
bool finding_is_new(const char *check, const finding_place *places, int nplaces);
/* Says it. text: first line "file:line: what", then details; no newline at its end. kernel: NULL for a host's. */
void finding_say(const char *check, const char *kernel, const finding_place *places, int nplaces, const char *text);

#endif

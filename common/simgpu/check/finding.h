/* Findings: said once, on stderr and in the report. */
#ifndef SIMGPU_FINDING_H
#define SIMGPU_FINDING_H

#include <stdbool.h>
#include <stdint.h>

/* One of the (one or two) places that a finding is about. */
typedef struct {
    const char *file; /* as the compiler wrote it; NULL: not known */
    int line;
    const char *did; /* "read", "write", "atomic", "copy" ... */
} finding_place;

/* A message is composed in FINDING_TEXT bytes; what is too long is cut off. */
enum { FINDING_TEXT = 2048 };
void finding_add(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *finding_base(const char *path); /* its last part; "?" for NULL */
/* "line 41" of the file at hand, "train.cu:41" of another, or "an unknown line". */
void finding_add_place(char *text, const finding_place *place, const char *file_at_hand);
void finding_add_source(char *text, const finding_place *place); /* "\n    41 | the line", if it can be read */

/* False if a finding of this check about these lines, in either order, was said before, or very many others were. */
bool finding_is_new(const char *check, const finding_place *places, int nplaces);
/* Says it. text: first line "file:line: what", then details; no newline at its end. kernel: NULL for a host's. */
void finding_say(const char *check, const char *kernel, const finding_place *places, int nplaces, const char *text);

#endif

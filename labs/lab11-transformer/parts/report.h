/* report.h — the reader's report.md, beside the program: its numbers against those of the runs. Sim lane only.
 *
 * A line "- QUESTION: ANSWER" below the heading "## Before" is about the starter, below "## After" about the program
 * that runs. A line whose question is none of the list is text, like all others.
 */
#ifndef LAB11_REPORT_H
#define LAB11_REPORT_H

#include "profile.h"

/* What the answers are compared with. A number that is 0 was not measured. */
typedef struct {
    const profile *before, *after; /* each of `steps` steps */
    int before_steps, after_steps;
    double us;                  /* of a step now */
    double bytes, square_bytes; /* device memory now; of all N x N arrays of the starter */
    double operations;          /* of the products in a step */
    enum simgpu_term bound;     /* of the longest launch now */
} report_facts;

/* Reads report.md in the folder of this source file. Returns how many of the starter's questions it answers; 0 without
 * a file. */
int report_read(const char *source);

/* Writes a line under the card: how many answers agree, and which is the first that does not. */
void report_note(const report_facts *f);

#endif

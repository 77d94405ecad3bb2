/* ear.h — the notes of a judge on the calls of the program that is being played, for the labs about copies: host and
 * device memory, allocations in the loop, staged bytes, the places where the host waits, the streams, and buffers
 * touched while a copy on them is under way. Each call is noted with the line it comes from (sim lane) or its name (gpu
 * lane).
 *
 *     ear_begin(checking, copies);   ... lab_play ...   ear_end();
 *
 * The rule for buffers: behind each asynchronous copy of page-locked memory an event is recorded in the same stream.
 * A wait that covers the copy covers the event. A buffer whose event is not reached when the host writes it, or when
 * the host reads what the copy brings there, was touched too early, even if the bytes happen to be right today. Only
 * checked runs record events, since an event takes time: timed runs do without.
 *
 * All notes lie in hidden memory.
 */
#ifndef LAB_EAR_H
#define LAB_EAR_H

#include "lab.h"

enum { MOST_PLACES = 64, MOST_STREAMS = 16 };

/* One line of the student's file that calls. */
typedef struct {
    char file[256]; /* "": not known */
    char call[48];
    int line;
    lab_call_class what;
    double calls, bytes, staged, blocked_ns;
    double loop_ns, allocations; /* blocked, allocated: in the loop */
    double in_default;           /* copies in the default stream, in the loop */
} place;

/* A buffer touched too early. */
typedef struct {
    const place *by;       /* the copy that was still under way; NULL: none was */
    int number;            /* of the batch or chunk, as the lab counts them */
    bool loading, to_host; /* the host wrote it, else read it; the copy's direction */
} early_touch;

/* The notes on one run. */
typedef struct {
    place places[MOST_PLACES];
    int nplaces;
    double allocations, bytes, staged;
    size_t pinned_now, pinned_most; /* page-locked bytes; the next run inherits those that this one does not free */
    size_t pinned_before;           /* so many were inherited */
    const place *pinned_first;      /* where the run's first block was page-locked */
    size_t device_now, device_most; /* device memory; inherited likewise */
    const place *device_first;
    size_t device_before;
    double c_bytes;    /* given by malloc and its relatives, in all */
    early_touch early; /* the first */
    cudaError_t error; /* the first one that a call of CUDA returned */
    const place *error_by;
    bool in_loop;
    /* Of the copies that cross the link in the loop. */
    double waited; /* bytes that a call copied which returns when they are there */
    int copies;
    uint64_t streams[MOST_STREAMS]; /* the streams, each once */
    int nstreams;
} heard;
extern heard *ear; /* before the first ear_begin NULL */

/* Hears of each copy that crosses the link, behind its call. */
typedef void ear_copies(const lab_call *c, bool to_host);

void ear_begin(bool checking, ear_copies *copies); /* starts to note calls; forgets the last run. copies: may be NULL */
void ear_end(void);
void ear_in_loop(bool in_loop); /* the part of the run that counts begins or ends */
/* Is it the default stream, which works in order with all ordinary streams? */
bool ear_is_default(uint64_t stream);
uint64_t ear_device_bytes(uint64_t start); /* from there to the end of its allocation of device memory; 0: in none */
uint64_t ear_pinned_bytes(uint64_t start); /* the same of page-locked memory */
/* The host is about to touch these bytes, to write or to read them. */
void ear_touch(uint64_t start, uint64_t bytes, bool loading, int number);

/* Returns the place with the largest cost, or NULL when all cost nothing. */
const place *ear_worst(double (*cost)(const place *));
/* Blames the line of a call in the sim lane; in the gpu lane its name and the first line that has it. NULL: nothing. */
void ear_blame(lab_verdict *v, const place *p);
/* Blames the place if a call was noted there. Returns whether it was. */
bool ear_blame_line(lab_verdict *v, const struct simgpu_place *at);

/* Prints the student's source with what each line's calls did in the run that was noted (sim lane): "both ways" says
 * which run it was, "Kernels are" what is no line of theirs. */
void ear_print_lines(const char *run, const char *others);

#endif

/* ear.h — the harness's notes on your calls: page-locked host memory, allocations in the loop, staged bytes, the places
 * where the host waits, the bytes that cross the link, and buffers touched while a copy on them is under way. Each call
 * is noted with the line it comes from (sim lane) or its name (gpu lane).
 *
 * The rule for buffers: behind each asynchronous copy of page-locked memory an event is recorded in the same stream.
 * A wait that covers the copy covers the event. A buffer whose event is not reached when the loader writes it, or when
 * a result is read from it, was touched too early, even if the bytes happen to be right today. Only checked runs record
 * events, since an event takes time: timed runs do without.
 *
 * All notes lie in hidden memory.
 */
#ifndef LAB1_EAR_H
#define LAB1_EAR_H

#include "lab.h"

enum { MOST_PLACES = 64, MOST_STREAMS = 16 };

/* One line of the student's file that calls. */
typedef struct {
    char file[256]; /* "": not known */
    char call[48];
    int line;
    lab_call_class what;
    double calls, bytes, staged, blocked_ns;
    double loop_ns, allocations; /* blocked, allocated: between the first load and the last take */
} place;

/* A buffer touched too early. */
typedef struct {
    const place *by; /* the copy that was still under way; NULL: none was */
    int batch;
    bool loading, to_host; /* by load_batch, else by take_result; the copy's direction */
} early_touch;

/* The notes on one run. */
typedef struct {
    place places[MOST_PLACES];
    int nplaces;
    double allocations, bytes, staged;
    size_t pinned_now, pinned_most; /* page-locked bytes; the next run inherits those that this one does not free */
    size_t pinned_before;           /* so many were inherited */
    const place *pinned_first;      /* where the run's first block was page-locked */
    early_touch early;              /* the first */
    cudaError_t error;              /* the first one that a call of CUDA returned */
    const place *error_by;
    /* Of the copies that cross the link in the loop. */
    double waited; /* bytes that a call copied which returns when they are there */
    int copies;
    double carried;                 /* bytes to the device that lay elsewhere than where a batch was loaded */
    uint64_t streams[MOST_STREAMS]; /* the streams, each once */
    int nstreams;
} heard;
extern heard *ear; /* before the first ear_begin NULL */

void ear_begin(bool checking);             /* starts to note calls; forgets the last run */
void ear_end(void);                        /* stops noting calls */
void ear_in_loop(bool in_loop);            /* between the first load and the last take */
uint64_t ear_device_bytes(uint64_t start); /* from there to the end of its allocation of device memory; 0: in none */
uint64_t ear_pinned_bytes(uint64_t start); /* the same of page-locked memory */
/* The host is about to touch these bytes: to write them (a batch is loaded) or to read them (a result is taken). */
void ear_touch(uint64_t start, uint64_t bytes, bool loading, int batch);

/* Returns the place with the largest cost, or NULL when all cost nothing. */
const place *ear_worst(double (*cost)(const place *));

#endif

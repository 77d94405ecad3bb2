/* judge.h — what the files of lab 2's judge share, a section a file. The experiment begins in harness.c. */
#ifndef LAB2_JUDGE_H
#define LAB2_JUDGE_H

#include "lab.h"
#include "messages.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- traces.c: requests to an allocator, each trace a list of small steps ------------------------- */

typedef enum {
    OP_ALLOC,   /* block, bytes, stream: its home */
    OP_FREE,    /* block */
    OP_FILL,    /* block, stream: a kernel signs it */
    OP_READ,    /* block, stream: a kernel looks for the signature */
    OP_SHARE,   /* block, stream: the second stream waits for the first, and pool_use is called */
    OP_SLOW,    /* stream: keep it busy for some time */
    OP_BUSY,    /* stream: must still have work to do; counts if it has none, since a call has waited for it */
    OP_SYNC,    /* the harness itself waits until all is done */
    OP_MARK,    /* the harness notes what is held by now */
    OP_REFUSED, /* block, bytes, stream: an ALLOC that must return NULL, because the device is full */
} op_kind;

typedef struct {
    op_kind kind;
    int block, stream;
    size_t bytes;
} op;

enum {
    MOST_OPS = 8192,
    MOST_BLOCKS = 2048,
    STREAMS = 2,
    TURNS = 16, /* of the trace `streams` */
    PIECE = 256 /* bytes: what addresses are multiples of */
};

typedef struct {
    const char *name;
    size_t capacity; /* of the device; 0: all that is there */
    int nops, nblocks;
    op ops[MOST_OPS];
} trace;

/* Return a trace whose sizes depend on the seed; free() it. */
trace *trace_train(uint64_t seed);
trace *trace_lengths(uint64_t seed);
trace *trace_holes(uint64_t seed);
trace *trace_streams(uint64_t seed);
trace *trace_full(uint64_t seed);

/* --- meter.c: the device as an allocator sees it, its calls counted by line ----------------------- */

typedef struct {
    uint64_t at, bytes;
} region;

typedef struct {
    const char *file; /* NULL: not known, in the gpu lane */
    int line, mallocs, waits;
} call_site;

enum { MOST_REGIONS = 8192, MOST_SITES = 64 };

typedef struct {
    region regions[MOST_REGIONS]; /* allocated by cudaMalloc and not freed by cudaFree yet, by address */
    int nregions;
    size_t capacity; /* 0: as much as there is */
    size_t reserved, peak;
    long mallocs, waits;
    call_site sites[MOST_SITES];
    int nsites;
    bool foreign; /* cudaFree was given something else than a region */
} meter;

void meter_listen(meter *m);                                /* to the program played from here on; NULL: to none */
void meter_reset(meter *m);                                 /* counts begin anew; the regions stay, they are real */
bool meter_holds(const meter *m, uint64_t p, size_t bytes); /* do these bytes lie in one region? */

/* Returns the line with the most such calls; line 0 if there was none. */
call_site meter_worst(const meter *m, int (*count)(const call_site *));
int mallocs_of(const call_site *s);
int waits_of(const call_site *s);
int cost_of(const call_site *s); /* of both together */

/* --- replay.c: plays a trace on an allocator and checks every block --------------------------------- */

/* A program with the five functions of lab2.h, on a device of its own. */
typedef struct {
    const char *name;
    lab_program *program;
    meter meter;
    unsigned *chain; /* on its device, for the kernels */
    bool vendor;     /* its memory is not cudaMalloc's, so it may lie anywhere */
    bool asked;      /* is pool_stats asked for? */
} allocator;
/* Opens it as lab_open does. The vendor's and `light` are rungs whose memory is not metered. */
allocator *allocator_open(const char *name, lab_who who, const char *rung, bool vendor);

typedef struct {
    allocator *pool;
    const trace *t;
    cudaStream_t stream[STREAMS];
    cudaEvent_t ordered;
    struct lab2_verdict *verdict; /* on the device */
    struct lab2_reply said;       /* to the last call */
    uint64_t at[MOST_BLOCKS];     /* addresses; 0: not live */
    size_t bytes[MOST_BLOCKS];
    int home[MOST_BLOCKS];
    unsigned passes;
    size_t live, peak_live;
    size_t marked;                         /* the most that was held before OP_MARK */
    int drained;                           /* how often OP_BUSY found an idle stream */
    char failure[256], stats_failure[256]; /* the first of each; "" if there is none */
    const char *stats_next;                /* what to do about it */
} replay;

replay *replay_new(allocator *pool, const trace *t);
void replay_free(replay *r);
/* Plays the trace once, a message a call, and checks each block on the host. Queued work may still be running when it
 * returns. Returns false if it stopped at a failure. */
bool replay_pass(replay *r);
/* Waits, and reads what the kernels found. Returns CUDA's error; after one, nothing more can run. */
cudaError_t replay_verdict(replay *r);
/* Frees what a failure left over, and calls pool_empty. */
void replay_end(replay *r);

/* Plays the trace in lists, for the clock: calls are not counted, and only the kernels check. */
typedef struct {
    replay *r;
    int steps; /* passes a run; WARM_STEPS untimed ones come before */
    struct lab2_message message;
    struct lab2_reply reply;
    lab_work work;
} loop;
enum { WARM_STEPS = 2 };
loop *loop_new(replay *r, int steps);

/* Returns the microseconds of a step of an allocator that is known to be right. */
double time_of(allocator *a, const trace *t, int steps);
/* Returns the nanoseconds of an alloc and a free, without any kernel, over the sizes and in the order of the trace:
 * the best of up to 50 tries, within a second. For the gpu lane: the virtual clock does not see host code. */
double pair_of(allocator *a, const trace *t);

void *zeros(size_t size);      /* memory of the judge, to be freed by free(); exits with a message if there is none */
const char *kib(size_t bytes); /* "1.5 MiB"; the last four answers stay readable */

enum { SIM_STEPS = 50, GPU_STEPS = 3000, START_STEPS = 20 }; /* the starter's are all alike, and expensive */

#endif

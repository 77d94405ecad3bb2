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
    OP_EMPTY,   /* waits until all is done, and calls pool_empty, whatever is in use */
    OP_REFUSED, /* block, bytes, stream: an ALLOC that must return NULL, because the device is full */
    OP_NOTHING, /* pool_alloc(0), which must return NULL, and pool_free(NULL), which must do nothing */
} op_kind;

typedef struct {
    op_kind kind;
    int block, stream;
    size_t bytes;
} op;

enum {
    MOST_OPS = 8192,
    MOST_BLOCKS = 2048,
    STREAMS = 3,
    TURNS = 16, /* of the trace `streams` */
    PIECE = 256 /* bytes: what addresses are multiples of */
};

typedef struct {
    const char *name, *what; /* in one word, and in a few */
    size_t capacity;         /* of the device; 0: all that is there */
    int nops, nblocks;
    op ops[MOST_OPS];
} trace;

/* Return a trace whose sizes depend on the seed; free() it. */
trace *trace_train(uint64_t seed);
trace *trace_lengths(uint64_t seed);
trace *trace_holes(uint64_t seed);
trace *trace_sizes(uint64_t seed);
trace *trace_streams(uint64_t seed);
trace *trace_full(uint64_t seed);

/* --- meter.c: the device as an allocator sees it, its calls counted by line ----------------------- */

/* A line that calls CUDA. */
typedef struct {
    const char *file; /* NULL: not known, in the gpu lane */
    int line;
    const char *name; /* of the function, as "cudaFree" */
    lab_call_class what;
    int mallocs, waits, others; /* calls that allocate, that wait, and the rest */
    double ns;                  /* the host was in them */
} call_site;

/* What one cudaMalloc returned. */
typedef struct {
    uint64_t at, bytes;
    uint64_t low, high; /* addresses between which blocks have lain; equal: none has */
    unsigned born;      /* on the clock of `meter.clock` */
    int stream;         /* of the request for which it was allocated */
    call_site site;
} segment;

/* A call that a submission may not make, or whose argument is wrong. */
typedef enum {
    MISUSE_NONE,
    MISUSE_CALL,    /* allocates or frees by another function than cudaMalloc and cudaFree */
    MISUSE_UNKNOWN, /* cudaFree of an address that cudaMalloc never returned */
    MISUSE_TWICE,   /* cudaFree of a segment that is freed already */
    MISUSE_INSIDE   /* cudaFree of an address `offset` bytes inside a segment */
} misuse_kind;
typedef struct {
    misuse_kind kind;
    call_site site;
    size_t offset;
} misuse;

enum { MOST_SEGMENTS = 8192, MOST_SITES = 64, MOST_GONE = 64 };

typedef struct {
    segment segments[MOST_SEGMENTS]; /* allocated by cudaMalloc and not freed by cudaFree yet, by address */
    int nsegments;
    segment gone[MOST_GONE]; /* the last ones freed, with the line that freed them; a ring */
    unsigned ngone;
    size_t capacity; /* 0: as much as there is */
    size_t reserved, peak;
    struct {
        long calls;             /* of cudaMalloc, since the request began */
        int failed;             /* of them */
        size_t bytes, reserved; /* what the last that failed was asked for, and what was held then */
    } now;
    long mallocs, frees, waits, queries, records; /* cudaMalloc; cudaFree; calls that wait; that ask; cudaEventRecord */
    unsigned clock;                               /* ticks at each block and each segment */
    int stream;                                   /* of the request that is under way */
    call_site sites[MOST_SITES];
    int nsites;
    misuse misuse; /* the first */
} meter;

void meter_listen(meter *m); /* to the program played from here on; NULL: to none */
void meter_reset(meter *m);  /* counts begin anew; the segments stay, they are real */
/* Returns the segment that holds this address, or NULL. */
segment *meter_segment(meter *m, uint64_t p);
/* The same among those freed of late. */
const segment *meter_gone(const meter *m, uint64_t p);

/* Returns the line with the most such calls; line 0 if there was none. */
call_site meter_worst(const meter *m, double (*count)(const call_site *));
double mallocs_of(const call_site *s);
double waits_of(const call_site *s);
double time_in(const call_site *s);

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

/* What stopped a trace. The fields that a kind uses follow it. */
typedef enum {
    FAULT_NONE,
    FAULT_MISALIGNED,  /* block, bytes, by: behind a multiple of PIECE */
    FAULT_NOT_CUDA,    /* block, bytes: in no memory of cudaMalloc */
    FAULT_GIVEN_BACK,  /* block, bytes, site: in memory that cudaFree has freed there */
    FAULT_FREED_UNDER, /* block, bytes, site: cudaFree freed the memory of a block that is in use */
    FAULT_PAST_END,    /* block, bytes, by: past the end of the memory from cudaMalloc; before, had, site */
    FAULT_TWICE,       /* block, bytes, other, other_bytes: they begin at one address */
    FAULT_INTO_NEXT,   /* the same, and by: the block's end lies so far in the other, which is in use; before, had */
    FAULT_INTO_LAST,   /* the same, and by: the block begins so far before the other's end */
    FAULT_REFUSED,     /* block, bytes: NULL, though memory is there; the meter's `now` says what was tried */
    FAULT_NOT_REFUSED, /* block, bytes: no NULL, and no memory is there */
    FAULT_ZERO,        /* pool_alloc(0) returned an address */
    FAULT_MISUSE,      /* misuse */
    FAULT_EARLY,       /* block, other: at byte `by` it held what was written for the other one */
    FAULT_CHANGED,     /* block, by: there it held what no kernel of the trace has written */
    FAULT_GROWS,       /* by: more bytes held in the second half of `streams` */
    FAULT_CUDA         /* error */
} fault_kind;
/* Do the allocator's records contradict themselves or the device after such a fault? */
bool fault_breaks(fault_kind kind);

typedef struct {
    fault_kind kind;
    int block, other;
    size_t bytes, other_bytes, by;
    int before; /* the block that lay at the same address before; -1: none. It had `had` bytes */
    size_t had;
    call_site site;
    misuse misuse;
    cudaError_t error;
} fault;

/* How pool_stats differed first. */
typedef struct {
    bool wrong;
    bool refused;         /* that call returned NULL */
    enum lab2_what after; /* the call before it */
    int block;            /* of ALLOC and FREE */
    size_t live, reserved, said_live, said_reserved;
    size_t rounded; /* live, with each block rounded up to PIECE */
    size_t parked;  /* bytes of blocks that two streams used, freed in this trace */
} stats_fault;

typedef struct heap heap;

typedef struct {
    allocator *pool;
    const trace *t;
    cudaStream_t stream[STREAMS];
    cudaEvent_t ordered;
    struct lab2_verdict *verdict;                   /* on the device */
    struct lab2_reply said;                         /* to the last call */
    uint64_t at[MOST_BLOCKS];                       /* addresses; 0: not live */
    uint64_t was[MOST_BLOCKS];                      /* the last address; 0: none yet */
    unsigned born[MOST_BLOCKS], freed[MOST_BLOCKS]; /* when, on the meter's clock */
    size_t bytes[MOST_BLOCKS];
    int home[MOST_BLOCKS];
    bool shared[MOST_BLOCKS]; /* pool_use was called */
    unsigned passes;
    size_t live, peak_live;
    size_t shared_freed; /* bytes of blocks that two streams used and that are freed */
    size_t marked;       /* the most that was held before OP_MARK */
    int drained;         /* how often OP_BUSY found an idle stream */
    long used_records;   /* calls of cudaEventRecord within pool_use */
    fault fault;         /* the first */
    stats_fault stats;   /* the first */
    heap *heap;          /* watched, if it is not NULL */
} replay;

/* Returns the freed block of the trace that lay last at this address; -1: none. */
int block_before(const replay *r, uint64_t p);

replay *replay_new(allocator *pool, const trace *t);
void replay_free(replay *r);
/* Plays the trace once, a message a call, and checks each block on the host. Queued work may still be running when it
 * returns. Returns false if it stopped at a fault. */
bool replay_pass(replay *r);
/* Waits, and reads what the kernels found. Returns CUDA's error; after one, nothing more can run. */
cudaError_t replay_verdict(replay *r);
/* Frees what a fault left over, and calls pool_empty. */
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

void *zeros(size_t size); /* memory of the judge, to be freed by free(); exits with a message if there is none */

enum { SIM_STEPS = 50, GPU_STEPS = 3000, START_STEPS = 20 }; /* the starter's are all alike, and expensive */

/* --- heap.c: where the blocks lie, and why cudaMalloc was called ------------------------------------- */

/* Why a request was not served from free memory of its own stream. The first that holds. */
typedef enum {
    NEED_ROOM,     /* a freed block was large enough: `piece` */
    NEED_TAIL,     /* so was what cudaMalloc had returned and no block had taken yet */
    NEED_UNJOINED, /* free blocks side by side were, together: `piece` and `neighbour`, or `piece` and a cut's rest */
    NEED_UNCUT,    /* the rest of a freed block was, behind the block that reuses it: `piece` */
    NEED_MEMORY,   /* nothing was: the memory was needed */
    NEEDS
} need;

typedef struct {
    int block; /* that asked */
    size_t bytes;
    int piece, neighbour; /* blocks; neighbour -1: none */
    size_t piece_bytes;
    bool piece_freed_last; /* after its neighbour, which lies on its right */
} need_example;

/* What was held when most was held, in bytes. All but `live` and the rounding could serve a request. */
typedef struct {
    size_t held, live;
    size_t unused;  /* no block has lain there since cudaMalloc */
    size_t idle;    /* in segments without a block in use */
    size_t gaps;    /* between blocks in use */
    int idle_count; /* segments without a block in use */
    size_t asked;   /* the request that raised it */
    size_t segment; /* what cudaMalloc was called for then */
    size_t free[5]; /* the largest free stretches */
    int nfree;      /* all of them */
    unsigned site_born;
    call_site site; /* of the youngest cudaMalloc */
} heap_peak;

struct heap {
    long calls[NEEDS]; /* of cudaMalloc */
    long reused;       /* requests that were served without it, */
    long resized;      /* and of them those of another size than the block that began there last */
    bool cut;          /* some block began behind the beginning of its segment */
    long released;     /* calls of cudaFree within pool_alloc, */
    call_site release; /* and the line of the last */
    need_example example[NEEDS];
    heap_peak peak;
    size_t unit;           /* bytes a character of the picture */
    int drawn;             /* lines of the picture, those without room counted */
    char picture[32][256]; /* at the peak, a segment a line */
};

heap *heap_new(void); /* to be freed by free() */
/* After a pool_alloc of this request that called cudaMalloc, before the block is entered. */
void heap_grown(replay *r, const op *o);
/* After a pool_alloc of this request that returned p without a call of cudaMalloc, before the block is entered. */
void heap_served(replay *r, const op *o, uint64_t p);
/* After a pool_alloc that called cudaFree so often. */
void heap_released(replay *r, long frees);
/* After it is entered: notes the peak, if this is one. */
void heap_look(replay *r, const op *o);
need heap_need(const heap *h); /* the most frequent one, NEED_MEMORY only if it is the only one */

/* --- words.c: sentences about all of these ------------------------------------------------------------ */

const char *kib(size_t bytes); /* "1.5 MiB"; the last eight answers stay readable */
/* Says of a row what stopped the trace, where, and the next step. */
void say_fault(lab_verdict *v, const replay *r);
void say_stats(lab_verdict *v, const replay *r);
/* Says of a row of memory held what made it so much. */
void say_heap(lab_verdict *v, const replay *r);
/* Returns a sentence about calls of cudaMalloc that were not needed, and in `next` the remedy; NULL: all were. */
const char *say_need(const replay *r, const char **next, char *text, size_t size);
/* Returns whether pool_alloc frees memory that a later request takes anew: it does, and its blocks are never cut. */
bool releases_too_much(const heap *h);
/* Returns the remedy where all were needed, and in `text` what the bytes are that no block used at the peak. */
const char *say_peak(const replay *r, char *text, size_t size);
/* The fault in one line, as for the list of lines. */
const char *fault_text(const replay *r, char *text, size_t size);
void blame(lab_verdict *v, call_site site); /* places a row's blame on a line that calls CUDA */

#endif

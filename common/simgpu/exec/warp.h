/* exec/'s inside: a block of warps on one host thread.
 *
 * A warp is 32 lanes and a table of splits. A split is a set of lanes that run together: it has a pc, a mask and a
 * frame. Lanes that part at a branch become two splits, children of a join node that stands where they meet; the node
 * runs when all its children have arrived or ended. One split runs until it blocks, joins or its slice of instructions
 * is used up; then the next. A split that polls (a spin lock) while others of its warp wait for it at a join lets those
 * go on alone: that is how the lock's holder makes progress.
 */
#ifndef SIMGPU_WARP_H
#define SIMGPU_WARP_H

#include "contention.h"
#include "device.h"
#include "listen.h"

#define FULL 0xffffffffu
/* Out of memory. */
static inline void *exec_must(void *memory) { return base_must(memory, "out of host memory"); }

enum { MAX_SPLITS = 80, MAX_FRAMES = 256, MAX_BARRIERS = 16, SLICE = 1 << 14, POLLS = 256 };
#define CALL_STACK (1u << 20) /* bytes that a warp has for the frames of what its kernel calls */

typedef struct frame {
    uint32_t base, end;             /* bytes in the warp's stack */
    uint32_t local_base, local_end; /* bytes of local memory a lane */
    const ptx_function *function;
    uint32_t return_pc, saved_join;
    int32_t caller;       /* frame index, -1: the kernel's own */
    const ptx_insn *call; /* whose result to copy back */
} frame;

typedef struct split {
    enum { SPLIT_FREE, SPLIT_RUN, SPLIT_JOIN, SPLIT_BARRIER, SPLIT_SYNC } state;
    uint32_t mask, pc;
    uint32_t join;     /* pc of the join where it meets its siblings, NO_JOIN: never */
    int32_t parent;    /* the join node, -1: none */
    uint32_t children; /* of a join node: splits that have not arrived */
    int32_t frame;
    uint32_t barrier, wanted; /* BARRIER: its number; SYNC: the lanes waited for */
} split;

typedef struct warp {
    /* The running split, kept here while it runs. */
    uint8_t *r;                   /* its frame's rows */
    const ptx_insn *code;         /* its function's instructions */
    exec_handler *const *run;     /* and their handlers */
    uint64_t *executed, *threads; /* their counters */
    exec_counters *counters;
    uint32_t pc, active;                             /* next instruction; lanes of the split */
    uint32_t mask;                                   /* lanes of the current instruction: active and not guarded off */
    uint32_t expanded;                               /* the mask that lanes[] holds */
    bool stop;                                       /* back to the scheduler */
    bool dense;                                      /* address[]: lane l at the first + l * size, all 32 */
    uint32_t fuel, polls;                            /* instructions and polls left in this slice */
    int32_t current;                                 /* the running split */
    uint32_t lanes[32] __attribute__((aligned(64))); /* mask, ~0 or 0 a lane */
    uint64_t address[32] __attribute__((aligned(64)));

    struct block *block;
    uint32_t number, live, nsplits;
    split splits[MAX_SPLITS];
    frame frames[MAX_FRAMES];
    uint8_t *stack, *local; /* local: local_stride bytes a lane */
    uint32_t local_stride;
    uint64_t filled_for; /* the launch whose rows frame 0 holds */
    uint64_t clock;      /* instructions executed before this slice */
    int64_t depth;       /* of the code so far, as ptx_insn.depth */
    int32_t missed;      /* of its rounds of loads: how many L1 could not answer */
    int32_t missed_last; /* the last of those */
} warp;

typedef struct {
    uint64_t lo, hi; /* an allocation that this instruction's last access lay in */
} mem_range;

/* The cache of one SM as one block sees it: direct-mapped lines with four sector bits. */
typedef struct {
    uint64_t tag;  /* line number + 1, and the epoch above it */
    int32_t round; /* of the warp that filled it last */
    uint8_t sectors;
} l1_line;
typedef struct {
    l1_line *lines;
    uint32_t room;  /* lines that the SM has: the greatest power of two */
    uint32_t shift; /* 64 - log2(lines in use) */
    uint64_t epoch;
} l1_cache;

typedef struct block {
    struct worker *worker;
    const exec_launch *launch;
    uint64_t id;
    exec_dim index;
    warp *warps;
    uint32_t nwarps, nthreads, live;
    uint8_t *shared;
    uint32_t shared_bytes;
    uint64_t budget;
    struct {
        uint32_t arrived, expected, sum; /* expected 0: all that live */
        bool all, any;
    } barriers[MAX_BARRIERS];
    bool failed;
} block;

/* Where the text of a block begins in a worker's print buffer. */
typedef struct {
    uint64_t block;
    size_t begin;
} printed_block;

/* A host thread's share of a launch. */
typedef struct worker {
    block block;
    exec_device *device;
    exec_handler *const *run;     /* the program's */
    uint64_t memory;              /* device address a lies at host address memory + a */
    uint64_t *bitmap[2];          /* the device's, of the footprint */
    uint64_t first_sector;        /* of the window */
    uint64_t *executed, *threads; /* a number an instruction of the module */
    exec_counters *counters;
    mem_range *ranges;
    l1_cache l1;
    uint64_t *touched[2]; /* words of the footprint bitmaps that were zero: read, written */
    uint32_t ntouched[2], touched_capacity[2];
    exec_depth deepest, depths;
    contention busy;
    uint8_t *arena;
    size_t arena_bytes;
    char *print; /* what kernels printed, in block order */
    size_t print_length, print_capacity;
    printed_block *printed;
    uint32_t printed_blocks, printed_capacity;
    uint32_t capacity; /* instructions that the arrays hold */
    exec_fault fault;
    uint64_t fault_block;
    uint64_t launch_number;
    unsigned generation; /* of work that the host thread has seen */
    bool parallel;       /* other threads run blocks of this launch */
} worker;

/* lanes.h, compiled twice: the handlers of opcodes.def's arithmetic rows, NULL for OTHER. exec_lanes_modified has the
 * rows that modifiers change: .ftz, .sat, directed rounding. */
extern exec_handler *const exec_lanes_base[NOPS], *const exec_lanes_avx2[NOPS], *const exec_lanes_modified[NOPS];
/* Handlers of OTHER rows. */
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define FLT1(...)
#define FLT2(...)
#define FLT3(...)
#define COMPARE(...)
#define OTHER(id, key, cost) exec_handler exec_op_##id;
#include "../ptx/opcodes.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef FLT1
#undef FLT2
#undef FLT3
#undef COMPARE
#undef OTHER

/* A function compiled for AVX2 too, chosen when the program starts: for loops over 32 addresses. */
#if defined(__x86_64__) && defined(__linux__)
#define VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR
#endif

#define ROW(w, type, offset) ((type *)__builtin_assume_aligned((w)->r + (offset), 64))
/* A predicate, or its negation. */
static inline uint32_t predicate(const warp *w, uint32_t row, bool negate) {
    uint32_t p = *(const uint32_t *)(w->r + row);
    return negate ? ~p : p;
}
static inline void set_predicate(warp *w, uint32_t row, uint32_t value) {
    uint32_t *p = (uint32_t *)(w->r + row);
    *p = (*p & ~w->mask) | (value & w->mask);
}
/* The counters of the instruction being executed. */
static inline exec_counters *counters_of(warp *w, const ptx_insn *i) { return &w->counters[i - w->code]; }

/* split.c: who runs when. */
void exec_warp_start(warp *w, block *b, uint32_t number);
bool exec_warp_run(warp *w); /* until nothing can run; false: made no progress */
void exec_warp_diverge(warp *w, const ptx_insn *i, uint32_t taken, uint32_t target);
void exec_warp_exit(warp *w, uint32_t lanes);
/* True: every lane of `member` is here, and w->mask is all of them. False: the split waits. */
bool exec_warp_sync(warp *w, const ptx_insn *i, uint32_t member);
void exec_block_run(block *b);
void exec_barrier_check(block *b, uint32_t number); /* collective.c */
/* memory.c, with locks held by nobody: allocations change only between launches. */
bool exec_mem_find(const exec_device *d, uint64_t addr, mem_range *range);
uint64_t exec_mem_base(void); /* where the window begins */
/* fault.c: stops the warp. The first fault of the lowest block is the launch's. lane 32: the whole warp. Returns the
 * fault, in which the caller puts what its cause needs (simgpu_event.h). */
exec_fault *exec_fail(warp *w, const ptx_insn *i, enum simgpu_fault_kind kind, enum simgpu_fault_cause cause,
                      uint32_t lane);
void exec_fail_deadlock(block *b); /* none of the block's threads can run, and not all have ended */
/* The blocks of a launch have gone past what they may execute together: each one by itself may end. */
void exec_fail_launch_budget(exec_fault *f, const exec_launch *n, uint64_t through, uint64_t blocks, uint64_t budget);
void exec_fail_refused(exec_fault *f, const ptx_function *kernel,
                       const char *why); /* it has something that SimGPU lacks */
/* listen.c: tells the listeners. Nobody calls these unless exec_heard. */
extern bool exec_heard;
void exec_listen_launch_begins(const exec_launch *n, uint64_t blocks);
void exec_listen_launch_ended(void);
void exec_listen_block_begins(const block *b);
void exec_listen_access(const warp *w, const ptx_insn *i, enum ptx_space space, uint32_t size);
void exec_listen_arrived(const warp *w, uint32_t barrier);
void exec_listen_passed(const block *b, uint32_t barrier);
void exec_listen_synced(const warp *w, uint32_t lanes);
void exec_listen_fenced(const warp *w);
/* builtin.c */
const exec_builtin *exec_builtin_find(const char *name);
void exec_builtin_call(warp *w, const ptx_insn *i);
/* access.c: device addresses of any space to host memory, for builtins; NULL: outside. */
uint8_t *exec_generic_pointer(warp *w, uint32_t lane, uint64_t addr, uint64_t bytes);
/* footprint.c */
void exec_footprint_begin(worker *t);
void exec_footprint_touch(worker *t, int written, uint64_t first_sector, uint64_t last_sector);
uint64_t exec_footprint_take(worker *t,
                             int written); /* how many sectors this worker was first to touch; forgets them */
void exec_frame_fill(warp *w, frame *f, uint8_t *r, bool again); /* split.c */

#endif

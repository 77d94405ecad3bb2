/* warp.h — exec/'s internals: a block of warps on one host thread.
 *
 * A warp is 32 lanes and a table of splits. A split is a set of lanes that run together, with a pc, a mask and a frame.
 * Lanes that diverge at a branch become two splits, children of a join node at the place where they meet; the node runs
 * when all its children have arrived or ended. A split runs until it blocks, joins or uses up its slice of
 * instructions; then the next one runs. If a split polls (a spin lock) while others of its warp wait for it at a join,
 * those continue alone, so that the lock's holder makes progress.
 */
#ifndef SIMGPU_WARP_H
#define SIMGPU_WARP_H

#include "constant.h"
#include "contention.h"
#include "device.h"
#include "listen.h"

#define FULL 0xffffffffu

/* Returns `memory`; ends the program with a message if it is NULL. */
static inline void *exec_must(void *memory) { return base_must(memory, "out of host memory"); }

enum { MAX_SPLITS = 112, MAX_FRAMES = 256, MAX_BARRIERS = 16, SLICE = 1 << 14, POLLS = 256, VAIN_SLICES = 64 };
#define CALL_STACK                                                                                                     \
    (1u << 20) /* bytes of a warp for the frames of device functions, and at least two of the largest                  \
                */

typedef struct frame {
    uint32_t base, end;             /* bytes in the warp's stack */
    uint32_t local_base, local_end; /* bytes of local memory per lane */
    const ptx_function *function;
    uint32_t return_pc, saved_join;
    int32_t caller;       /* frame index; -1 for the kernel's frame */
    const ptx_insn *call; /* the call, which receives the result */
} frame;

typedef struct split {
    enum { SPLIT_FREE, SPLIT_RUN, SPLIT_JOIN, SPLIT_BARRIER, SPLIT_SYNC, SPLIT_GRID } state;
    uint32_t mask, pc;
    uint32_t join;     /* pc of the join with its siblings, or NO_JOIN */
    int32_t parent;    /* the join node, or -1 */
    uint32_t children; /* of a join node: splits that have not arrived */
    int32_t frame;
    uint32_t barrier, wanted; /* BARRIER: its number; SYNC: the lanes that it waits for */
    const ptx_insn *branch;   /* of a join node: where its lanes parted */
    bool alone;               /* its next meeting is its own lanes' alone (exec_block_goes_on) */
} split;

typedef struct warp {
    /* A copy of the running split's state. */
    uint8_t *r;                   /* its frame's rows */
    const ptx_insn *code;         /* its function's instructions */
    exec_handler *const *run;     /* and their handlers */
    uint64_t *executed, *threads; /* their counters */
    exec_counters *counters;
    uint32_t pc, active;     /* next instruction; lanes of the split */
    uint32_t mask;           /* lanes of the current instruction: active and not guarded off */
    uint32_t expanded;       /* the mask that lanes[] holds */
    bool stop;               /* return to the scheduler */
    bool dense;              /* address[] has all 32 lanes, lane l at the first + l * size */
    uint32_t fuel, polls;    /* instructions and polls left in this slice */
    uint32_t unspent;        /* the fuel that a poll in vain has taken from this slice */
    uint32_t vain_slices;    /* in a row that ended with a poll in vain */
    bool vain;               /* this slice ended with one */
    const ptx_insn *vain_at; /* the last one, and what its first lane read */
    uint64_t vain_address;
    bool news; /* a poll of this slice read another value than the last time */
    bool took; /* it has the next piece of work, and waits until others that are less far have theirs (together.c) */
    struct {
        const ptx_insn *insn;
        uint64_t saw; /* a hash of lanes and values */
    } polled[8];
    int32_t current;                                 /* the running split */
    uint32_t lanes[32] __attribute__((aligned(64))); /* `expanded` as ~0 or 0 for each lane */
    uint64_t address[32] __attribute__((aligned(64)));
    uint64_t result[32] __attribute__((aligned(64))); /* of an instruction that not all lanes take (lanes.h) */

    struct block *block;
    uint32_t number, live, nsplits;
    split splits[MAX_SPLITS];
    frame frames[MAX_FRAMES];
    uint8_t *stack, *local;            /* local: local_stride bytes per lane */
    uint32_t local_stride, call_stack; /* call_stack: bytes for frames above the kernel's */
    uint64_t filled_for;               /* the launch of the rows in frame 0 */
    uint8_t *async;                    /* room for copies in flight (async.c); NULL if the kernel has none */
    uint32_t copies, groups[32];       /* copies in flight; by lane, the number of its open group */
    uint64_t clock;                    /* instructions executed before this slice */
    int64_t depth;                     /* of the executed code, as ptx_insn.depth */
    int32_t missed;                    /* number of rounds of loads that missed L1 */
    int32_t missed_last;               /* the last of those rounds */
    uint32_t fetched;                  /* lines that it fetched into L1 */
    uint8_t fences;                    /* that have emptied L1 for it; 255: or more */
    uint64_t stored_line[7];           /* of the last store, if it touched a few lines: they, */
    uint8_t stored[7], nstored;        /* the sectors that the stores to them have touched, the lines' number */
} warp;

/* The lines that a block has fetched into L1; see count.h. */
typedef struct {
    uint64_t tag;            /* line number + 1, and the epoch above it */
    int32_t round[4];        /* of each sector: the round of loads that filled it */
    uint32_t at;             /* the lines that its warp had fetched when it last used it */
    uint8_t warp, fences;    /* the one that fetched it; the fences that it had passed */
    uint8_t sectors, stored; /* a bit for each that loads have fetched, that stores have touched */
} l1_line;
typedef struct {
    l1_line *lines; /* sets of two */
    uint32_t reach; /* the lines that a warp may fetch until it loses one */
    uint64_t epoch;
} l1_cache;

/* Additions to a word of shared memory by loops of compare and swap, and a bit for each warp that has made one. */
typedef struct {
    uint32_t n, warps;
} exec_additions;

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
    uint8_t *arena; /* a mapping with the memory of the block's warps, and its shared memory */
    size_t arena_bytes;
    exec_additions *additions; /* to each word of its shared memory, where `adds` is not NULL; */
    exec_counters *adds;       /* the counters of the latest one's instruction (cas.c) */
    bool sampled;              /* it notes what it misses (resident.h) */
    bool together;             /* other blocks of the launch are resident beside it (together.c) */
    bool read_clock;           /* it has asked for the time since it began */
    bool worked;               /* a slice of this round did more than poll for a value that does not change */
    bool spun;           /* a warp of it polled for a whole slice, perhaps for one that has taken a piece of work */
    bool in_grid_sync;   /* it has arrived at grid.sync() and may wait there */
    uint32_t grid_saw;   /* the barrier's word when it arrived */
    uint64_t grid_syncs; /* its arrivals */
    bool grid_fenced;    /* they are no releases: fences stand beside them */
    struct {
        uint32_t arrived, expected, sum; /* expected 0: all live threads */
        bool all, any;
    } barriers[MAX_BARRIERS];
    bool failed;
} block;

/* The start of a block's text in a worker's print buffer. */
typedef struct {
    uint64_t block;
    size_t begin;
} printed_block;

/* A host thread's share of a launch. */
typedef struct worker {
    block block;
    exec_device *device;
    exec_handler *const *run;     /* the program's */
    uint64_t memory;              /* device address a is stored at host address memory + a */
    l2_chunk *chunks;             /* the device's; */
    uint32_t *bytes;              /* likewise (l2_cache); */
    l2_early *early;              /* likewise */
    uint64_t first_line;          /* of the window */
    uint64_t *executed, *threads; /* one counter for each instruction of the module; */
    exec_counters *counters;      /* valid for functions that have run */
    mem_range *ranges;            /* likewise: the allocation of its last access */
    uint64_t *ran_in;             /* at a function's first instruction: the last launch that ran it here, by number */
    l1_cache l1;
    constant_cache constant;
    l2_list touched;         /* chunks that it touched first in this wave */
    struct exec_note *notes; /* of what its sampled blocks missed in this wave (resident.h) */
    size_t nnotes, notes_room;
    uint64_t st_hits;      /* sectors stored that a load or store had touched before */
    uint64_t stored_line;  /* of the block's last store, + 1 */
    uint64_t st_merged;    /* sectors stored that go to L2 with those of the store before */
    uint64_t st_scattered; /* exec_result's */
    exec_stored local_stored;
    exec_depth deepest, depths;
    uint64_t most_missed; /* rounds of a block of this wave that miss L1 */
    contention busy;
    uint64_t stores;                    /* to memory that other warps read; a turn that stores is no vain wait */
    uint64_t link[2];                   /* bytes of memory outside of the device, read and written; */
    uint64_t link_requests, link_loads; /* see exec_result */
    uint64_t workspace;                 /* of a cooperative launch, or 0 */
    uint64_t grid_syncs;                /* the most of a block */
    bool grid_fenced;                   /* as that block's */
    char *print;                        /* output of kernels' printf, in block order */
    size_t print_length, print_capacity;
    void *tensor; /* the work of tensor.c, or NULL */
    printed_block *printed;
    uint32_t printed_blocks, printed_capacity;
    uint32_t capacity; /* of the arrays, in instructions */
    exec_fault fault;
    uint64_t fault_block;
    const ptx_insn *parted; /* where lanes did not wait for others of their warp, in the first such block; or NULL */
    uint64_t parted_block;
    uint64_t launch_number;
    unsigned generation; /* of the last launch that the host thread has seen */
    bool parallel;       /* other threads run blocks of this launch */
} worker;

/* The handlers of opcodes.def's arithmetic rows, NULL for OTHER; lanes.h is compiled twice. The last is for FLT rows
 * with .ftz, .sat or directed rounding. */
enum { LANES_MODIFIED = NOPS };
extern exec_handler *const exec_lanes_base[NOPS + 1], *const exec_lanes_avx2[NOPS + 1];

/* The handler of a division or root that has a slower way for some operands, in front of the plain one (operands.c). */
bool exec_has_rare(const ptx_insn *i);
enum ptx_rare exec_rare_of(const ptx_insn *i); /* requires that it has */
exec_handler exec_run_rare;

/* cas.c: counts an atomic on shared memory that is a loop of compare and swap. Returns its wavefronts. */
uint32_t exec_cas_wavefronts(warp *w, const ptx_insn *i);
/* At the end of a block: counts the turns in vain. Returns the clocks in which its warps waited for each other. */
uint64_t exec_cas_end(const block *b);

/* The handlers of OTHER rows. */
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

/* Marks a function with a loop over 32 addresses, which is compiled for AVX2 too and selected at program start. What
 * selects it is a global name, so such a function has the room's prefix, even if it is static. */
#if defined(__x86_64__) && defined(__linux__)
#define VECTOR __attribute__((target_clones("avx2", "default")))
#else
#define VECTOR
#endif

#define ROW(w, type, offset) ((type *)__builtin_assume_aligned((w)->r + (offset), 64))

/* Returns a predicate's bits, or their negation. */
static inline uint32_t predicate(const warp *w, uint32_t row, bool negate) {
    uint32_t p = *(const uint32_t *)(w->r + row);
    return negate ? ~p : p;
}
static inline void set_predicate(warp *w, uint32_t row, uint32_t value) {
    uint32_t *p = (uint32_t *)(w->r + row);
    *p = (*p & ~w->mask) | (value & w->mask);
}

/* Returns the counters of the instruction in execution. */
static inline exec_counters *counters_of(warp *w, const ptx_insn *i) { return &w->counters[i - w->code]; }

/* split.c: the scheduler of a warp. */
void exec_warp_start(warp *w, block *b, uint32_t number);
bool exec_block_goes_on(block *b);
bool exec_warp_run(warp *w); /* runs all splits until none can; returns false without any progress */
void exec_warp_diverge(warp *w, const ptx_insn *i, uint32_t taken, uint32_t target);
void exec_warp_exit(warp *w, uint32_t lanes);

/* Synchronises the lanes of `member`. Returns true if all of them are here, and sets w->mask to them; false if the
 * split must wait. */
bool exec_warp_sync(warp *w, const ptx_insn *i, uint32_t member);
void exec_barrier_check(block *b, uint32_t number); /* collective.c */

/* run.c: the life of a block. A round runs each of its warps; it returns false if none could run. */
void exec_block_prepare(block *b, worker *t, const exec_launch *n);
void exec_block_begin(block *b, uint64_t id);
bool exec_block_round(block *b);
void exec_block_end(block *b);

/* together.c: runs the blocks of a launch that may wait for each other. `charge` notes the instructions of a block's
 * turn; it returns false if the launch must stop. */
void exec_run_together(worker *t, const exec_launch *n, uint64_t nblocks, bool (*charge)(uint64_t id, uint64_t spent));

/* split.c: returns whether the row is another one in each block. */
bool exec_row_differs(const ptx_row *row);

/* alike.c: returns whether all blocks of the kernel do the same, with no effect; makes the counts of one those of all.
 */
bool exec_blocks_alike(const ptx_function *kernel);
void exec_count_alike(worker *t, uint64_t blocks);

/* collect.c: adds up what the host threads have counted of each instruction in the launch of this number: the total,
 * the lines, the stages, and the instructions by cost class. */
void exec_collect(const ptx_module *m, const worker *workers, unsigned threads, uint64_t launch, exec_result *r);

/* fetch.c: sets the launch's code, and the part of it that SMs did not keep. Requires r->blocks. */
void exec_fetch_collect(const exec_launch *launch, const worker *workers, unsigned threads, uint64_t number,
                        exec_result *r);

/* Notes what a load or atomic has read that may wait for another thread. */
void exec_polled(warp *w, const ptx_insn *i);

/* For a load of the barrier of grid.sync() by a block that has arrived: the warp waits, and repeats the load when all
 * blocks have arrived. Returns false if it does not wait. */
bool exec_grid_wait(warp *w, const ptx_insn *i);
bool exec_at_grid_barrier(const warp *w);           /* are all its addresses the word of grid.sync()? */
void exec_grid_arrived(warp *w, const ptx_insn *i); /* after an atomic in a cooperative launch */

/* memory.c. No lock is needed, since allocations change only between launches. */
bool exec_mem_find(const exec_device *d, uint64_t addr, mem_range *range);
uint64_t exec_mem_base(void); /* returns the start of the window */
uint64_t exec_mem_end(void);  /* and its end */

/* fault.c: stops the warp. The first fault of the lowest block becomes the launch's. lane 32 means the whole warp.
 * Returns the fault, in which the caller sets the fields of its cause (simgpu_event.h). */
exec_fault *exec_fail(warp *w, const ptx_insn *i, enum simgpu_fault_kind kind, enum simgpu_fault_cause cause,
                      uint32_t lane);

/* Reports a block of which no thread can run although some have not ended. */
void exec_fail_deadlock(block *b);

/* Reports blocks that all wait for each other or for blocks that cannot start. b: the first of them; ended, begun: the
 * number of blocks that have. */
void exec_fail_blocks_wait(block *b, uint64_t ended, uint64_t begun);

/* Reports a launch whose blocks together exceed its budget, although each block alone may end. */
void exec_fail_launch_budget(exec_fault *f, const exec_launch *n, uint64_t through, uint64_t blocks, uint64_t budget);

/* Reports a kernel that uses something SimGPU lacks. */
void exec_fail_refused(exec_fault *f, const ptx_function *kernel, const char *why);

/* listen.c: these call the listeners. Requires exec_heard. */
extern bool exec_heard;
void exec_listen_launch_begins(const exec_launch *n, uint64_t blocks);
void exec_listen_launch_ended(void);
void exec_listen_block_begins(const block *b);
void exec_listen_block_resumes(const block *b);
void exec_listen_block_ended(const block *b);
void exec_listen_grid_passed(void);
void exec_listen_access(const warp *w, const ptx_insn *i, enum ptx_space space, uint32_t size);
/* The same for a copy (async.c) that is issued now, and for its bytes when they arrive, perhaps in another function. */
typedef struct {
    const ptx_code *code;
    const ptx_insn *insn;
    uint32_t number;
} exec_origin;
exec_origin exec_listen_origin(const warp *w, const ptx_insn *i);
void exec_listen_begins(const warp *w, exec_origin from, const uint64_t *to, uint32_t size);
void exec_listen_arrives(const warp *w, exec_origin from, uint32_t size);
void exec_listen_branched(const warp *w, const ptx_insn *i, uint32_t taken);
void exec_listen_arrived(const warp *w, const ptx_insn *i, uint32_t barrier, bool counted, bool waits);
void exec_listen_passed(const block *b, uint32_t barrier);
void exec_listen_synced(const warp *w, uint32_t lanes);
void exec_listen_fenced(const warp *w);
/* builtin.c */
const exec_builtin *exec_builtin_find(const char *name);
void exec_builtin_call(warp *w, const ptx_insn *i);

/* children.c: before a launch (budget: warp instructions of a block); behind it: returns its children, and how many. */
void exec_children_begin(const exec_launch *n, uint64_t budget);
exec_child *exec_children(uint32_t *n);

/* xorwow.c: returns a word of the state after n * 2^power steps; power is at most 67. */
uint32_t exec_xorwow(const uint32_t state[5], uint64_t n, uint32_t power, uint32_t word);

/* tensor.c: transposes a matrix of 8 x 8 halves, of which each lane has two neighbours in a row. */
void exec_transpose_halves(const uint32_t *from, uint32_t *to);

/* async.c: a copy of w->mask's lanes into shared memory is in flight. size: bytes of a lane. */
enum { EXEC_ASYNC_BYTES = 1 << 20 }; /* of a warp, for copies in flight */
void exec_async_add(warp *w, const ptx_insn *i, uint32_t size, const uint64_t *to, uint8_t (*data)[16]);

/* access.c: returns in object[] the host addresses of 8 bytes of shared memory, at i's address, for each lane. Counts
 * and tells listeners. Returns false after a fault. */
bool exec_shared_objects(warp *w, const ptx_insn *i, uint64_t **object);

/* access.c: returns the host address of a generic device address, for builtins, or NULL if it is invalid. */
uint8_t *exec_generic_pointer(warp *w, uint32_t lane, uint64_t addr, uint64_t bytes);
/* footprint.c: tell what a load that misses L1, a store and an atomic touch. A line is an address / 128; sectors: four
 * bits; bytes, wants: by sector of the line, a bit for each byte; wants NULL: all of the sectors'; dense: the request
 * has no gaps. */
void exec_footprint_begin(worker *t);
void exec_footprint_read(worker *t, uint64_t line, uint32_t sectors, const uint32_t *wants, int32_t round, bool dense);
void exec_footprint_written(worker *t, uint64_t lo, uint64_t end); /* all bytes from lo to before end */
void exec_footprint_line_written(worker *t, uint64_t line, const uint32_t bytes[4]);
void exec_footprint_changed(worker *t, uint64_t line, uint32_t sectors);

/* l2.c: the cache gets what the workers' blocks have touched since the last call. */
void exec_l2_wave(exec_device *d, worker *workers, unsigned threads);
void exec_l2_launch_begins(exec_device *d);
void exec_l2_launch_ended(exec_device *d, exec_result *r); /* needs r->total and its link_ fields */
void exec_l2_clear(exec_device *d);                        /* empties it; nothing is written back */

void exec_frame_fill(warp *w, frame *f, uint8_t *r, bool again); /* split.c */

#endif

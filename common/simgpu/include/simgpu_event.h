/* simgpu_event.h — the events of a run as data: one struct for a launch, a copy, a call, a gap, a finding ...
 *
 *   simgpuListen(hear, context);      calls hear(event, context) for each event from now on
 *
 * The report in JSON Lines, the trace, a lab's counters, its card and its hints are all made from these events. An
 * event holds enums, numbers and places, so no program reads a fact from a sentence. The simgpuSay functions make the
 * sentences, at the end; they are all in one file (../words/words.c), the only one to translate.
 *
 * Events come in the order of the host's calls, although commands finish in another order. A command's event is delayed
 * until it and all earlier ones are known. simgpuMark with an idle device, or the end of the program, sends all.
 *
 * An event has no handle and no pointer into a device, so it can be stored and sent elsewhere. Its pointers (strings,
 * lines, fault) are valid until the listener returns; a listener that keeps an event must copy the data behind them.
 * Two runs of a program give the same events, since these hold no host addresses, process ids or wall times.
 *
 * Times are whole nanoseconds of virtual time since the program's start. C11 and C++; includes no other header of
 * SimGPU.
 */
#ifndef SIMGPU_EVENT_H
#define SIMGPU_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- parts --------------------------------------------------------------------------------------------------- */

enum simgpu_did {
    SIMGPU_DID_NOTHING,
    SIMGPU_DID_READ,
    SIMGPU_DID_WRITE,
    SIMGPU_DID_ATOMIC,
    SIMGPU_DID_WAIT, /* at a barrier */
    SIMGPU_DID_SKIP  /* took the way of a branch that has no barrier */
};

/* A line of source; the file's name is the compiler's. */
struct simgpu_place {
    const char *file; /* NULL if unknown; then the other fields are 0 */
    int line, column; /* column 0 if unknown */
    enum simgpu_did did;
};

/* The place of an address of a kernel or a copy. */
enum simgpu_where {
    SIMGPU_NULL_POINTER,     /* below 4096 */
    SIMGPU_NO_DEVICE_MEMORY, /* not a device address, most likely a host pointer */
    SIMGPU_NONE_ALLOCATED,
    SIMGPU_INSIDE, /* an allocation, `distance` bytes from its beginning */
    SIMGPU_PAST_END,
    SIMGPU_BEFORE
};
struct simgpu_address {
    uint64_t address;
    enum simgpu_where where;
    uint64_t distance, base, bytes; /* distance from the nearest allocation; its start; its size */
    bool freed;
    bool elsewhere; /* memory of another device, which this one's kernels may not use */
};

/* The counters of a launch or of a line; simgpu_counters.def describes each. */
struct simgpu_counters {
#define COUNTER(field, ncu, what) uint64_t field;
#include "simgpu_counters.def"
#undef COUNTER
};

struct simgpu_line {
    const char *file;
    uint32_t line;
    struct simgpu_counters counters;
};

/* --- launch -------------------------------------------------------------------------------------------------- */

/* The bounds of a kernel's duration. */
enum simgpu_term {
    SIMGPU_TERM_LAUNCH, /* all other terms are shorter than the launch itself */
    SIMGPU_TERM_BLOCKS,
    SIMGPU_TERM_ISSUE,
    SIMGPU_TERM_LSU,
    SIMGPU_TERM_BARRIER,
    SIMGPU_TERM_L2_READ,
    SIMGPU_TERM_L2_WRITE,
    SIMGPU_TERM_DRAM,
    SIMGPU_TERM_ATOMIC,
    SIMGPU_TERM_LATENCY,
    SIMGPU_TERM_LINK,   /* memory of the host, or of another device, used over the link; absent from reports if 0 */
    SIMGPU_TERM_PAGES,  /* page faults of managed memory; likewise */
    SIMGPU_TERM_TENSOR, /* the tensor cores; likewise */
    SIMGPU_TERM_ALU,    /* the pipes of integers and logic; likewise */
    SIMGPU_TERM_SFU,    /* the special function units and conversions; likewise */
    SIMGPU_TERM_FP64,   /* double precision; likewise */
    SIMGPU_TERMS
};

struct simgpu_bound {
    enum simgpu_term term;        /* the longest one */
    double term_ns[SIMGPU_TERMS]; /* the time of each alone; the duration is more than LAUNCH + the largest
                                     other, since not all of them pass at the same time */
    struct simgpu_place at;       /* the line with most of the bound's work; file NULL if there is none */
    /* The amount of work, by term: LAUNCH ns of work; BLOCKS blocks started per ns; ISSUE, ALU, SFU, FP64 ns of
     * instructions; LSU clocks per request; BARRIER barriers of a warp; L2_READ sectors per load that miss L1; L2_WRITE
     * sectors per store or atomic; DRAM bytes to move; ATOMIC atomics or stores that wait for their turn; LATENCY 0;
     * LINK bytes over the link; PAGES bytes of pages that moved; TENSOR ns of products. */
    double amount;
    double share;        /* part of the GPU's places for blocks that the launch fills, 0 to 1 */
    uint64_t rounds;     /* rounds of global loads of the slowest warp, one after another */
    uint64_t clocks;     /* clocks in which its instructions wait for each other */
    uint64_t grid_syncs; /* of a block, in a cooperative launch */
    bool by_loads;       /* LATENCY: the rounds take longer than the clocks; LINK: than the bytes */
    bool by_stores;      /* ATOMIC: stores of one word wait for their turn, longer than atomics */
    bool by_fills; /* L2_WRITE: most of it waits for DRAM, which fills sectors that scattered stores write in part */
    bool by_grid_syncs;    /* LATENCY: the grid.sync()s take longer than either */
    uint32_t atomic_bytes; /* ATOMIC: pieces of so many bytes belong to a slice of L2, where they wait */
};

/* The kind of fault that stopped a kernel. */
enum simgpu_fault_kind {
    SIMGPU_FAULT_NONE,
    SIMGPU_FAULT_UNSUPPORTED, /* an instruction that SimGPU lacks */
    SIMGPU_FAULT_ILLEGAL_ADDRESS,
    SIMGPU_FAULT_MISALIGNED,
    SIMGPU_FAULT_BUDGET, /* it ran past the instruction budget of a block or of the launch */
    SIMGPU_FAULT_DEADLOCK,
    SIMGPU_FAULT_BAD_SYNC, /* incorrect use of a barrier or a mask */
    SIMGPU_FAULT_TRAP,
    SIMGPU_FAULT_ASSERT,
    SIMGPU_FAULT_STACK, /* calls or branches nested too deep */
    SIMGPU_FAULTS
};

/* The cause of a fault, one for each sentence. The comments name the fields that each uses: n, name, text ... */
enum simgpu_fault_cause {
    SIMGPU_CAUSE_NONE,
    SIMGPU_CAUSE_REFUSED,         /* the kernel never started; text is the reason from ptx/ */
    SIMGPU_CAUSE_ADDRESS,         /* did, bytes, address */
    SIMGPU_CAUSE_MISALIGNED,      /* did, bytes, address */
    SIMGPU_CAUSE_BEFORE_SPACE,    /* did, bytes; n[0] bytes before the beginning of memory called `name` */
    SIMGPU_CAUSE_PAST_SPACE,      /* did, bytes; offset n[0] of memory called `name`, which has n[1] bytes */
    SIMGPU_CAUSE_LOCAL_ATOMIC,    /* an atomic on local memory */
    SIMGPU_CAUSE_PRINTF_STRING,   /* printf's string is not in device memory */
    SIMGPU_CAUSE_ARGUMENTS,       /* name is called with n[0] arguments; it takes n[1] */
    SIMGPU_CAUSE_FREE,            /* free() of an address where no live block of malloc() begins; address */
    SIMGPU_CAUSE_NO_FUNCTION,     /* a call through a pointer, n[0], that is not a device function */
    SIMGPU_CAUSE_ASSERTION,       /* text is the condition, name its file, n[0] its line */
    SIMGPU_CAUSE_BARRIERS,        /* threads of one block at different barriers, on lines n[0] and n[1] */
    SIMGPU_CAUSE_BARRIER_NUMBER,  /* barrier n[0] for n[1] threads; one of the numbers is invalid */
    SIMGPU_CAUSE_BARRIER_PARTLY,  /* a barrier that only some lanes of a warp execute */
    SIMGPU_CAUSE_MASK_WITHOUT_ME, /* the mask n[0] does not name lane n[1], which executes it */
    SIMGPU_CAUSE_MASK_OF_ABSENT,  /* the mask n[0] names lanes that do not execute it */
    SIMGPU_CAUSE_SPLITS,          /* branches nested more than n[0] deep */
    SIMGPU_CAUSE_CALLS,           /* calls nested too deep, at the function `name` */
    SIMGPU_CAUSE_TRAP,
    SIMGPU_CAUSE_NOT_COOPERATIVE, /* grid.sync() in a launch that is not cooperative */
    /* Texture and surface objects; n[0] is the handle, n[1] is 1 for a surface. */
    SIMGPU_CAUSE_NO_OBJECT,       /* the handle is none */
    SIMGPU_CAUSE_OBJECT_ENDED,    /* the object was destroyed before the launch */
    SIMGPU_CAUSE_OBJECT_KIND,     /* an object of the other kind */
    SIMGPU_CAUSE_OBJECT_MEMORY,   /* its memory, address, was freed */
    SIMGPU_CAUSE_OUTSIDE_SURFACE, /* did, bytes; at n[0] (a byte), n[1], n[2] of a surface of `name` */
    SIMGPU_CAUSE_SURFACE_BYTE,    /* the same: n[0] is no multiple of the bytes */
    SIMGPU_CAUSE_BRANCH_INDEX,    /* brx.idx with index n[0] into a list of n[1] targets */
    SIMGPU_CAUSE_BLOCK_BUDGET,
    SIMGPU_CAUSE_CHILDREN,      /* kernels have launched n[0] kernels since the host's launch */
    SIMGPU_CAUSE_LAUNCH_BUDGET, /* the first n[0] of n[1] blocks took more than n[2] warp instructions */
    SIMGPU_CAUSE_WAITING,       /* a deadlock: n[0] of the block's n[1] threads have ended; waiting[n[2]] causes it */
    /* A deadlock of blocks: n[0] resident ones of the grid's n[1] blocks wait, n[2] have ended, the others cannot
     * start. GRID_SYNC: they wait in grid.sync(); BLOCKS: they poll device memory, which does not change; HOST_WORD:
     * they poll memory that the host may write, which it cannot do while SimGPU runs the launch. */
    SIMGPU_CAUSE_GRID_SYNC,
    SIMGPU_CAUSE_BLOCKS,
    SIMGPU_CAUSE_HOST_WORD,
    SIMGPU_CAUSE_BREAKPOINT
};

/* The threads that a fault concerns. */
enum simgpu_scope { SIMGPU_WHOLE_LAUNCH, SIMGPU_ONE_WARP, SIMGPU_ONE_THREAD };

/* Threads of a deadlocked block that wait at one place; FOR_WARP: the line is that of the branch where they parted. */
enum simgpu_waits_for { SIMGPU_WAITS_FOR_WARP, SIMGPU_WAITS_AT_BARRIER, SIMGPU_WAITS_FOR_MASK };
struct simgpu_waiting {
    uint32_t threads, line;
    enum simgpu_waits_for what;
};

struct simgpu_fault {
    enum simgpu_fault_kind kind;
    enum simgpu_fault_cause cause;
    struct simgpu_place at;
    const char *module; /* the PTX's name and the line in it, for code without a line table */
    uint32_t module_line;
    char kernel[128]; /* as simgpu_launch's name */
    enum simgpu_scope scope;
    uint32_t block[3], thread[3], warp; /* valid as far as scope reaches */
    enum simgpu_did did;
    uint32_t bytes;
    struct simgpu_address address;
    uint64_t n[3];
    bool counted; /* WAITING: some of them wait at a barrier with a thread count */
    uint32_t nwaiting;
    struct simgpu_waiting waiting[16];
    char name[304], text[1024];
    const char *library;        /* the function of a library (cublasSgemm) that launched the kernel, or NULL */
    const void *library_site;   /* the program's call of it; NULL: unknown */
    struct simgpu_place called; /* the line of that, in the message to stderr only */
};

struct simgpu_launch {
    const char *kernel; /* the mangled name */
    char name[128];     /* in the source, without namespace and template arguments */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_bytes; /* of a thread (estimated), of a block */
    bool spilled;                     /* a thread wants more registers than it may have; the rest is local memory */
    uint32_t blocks_per_sm;           /* resident at once: the occupancy */
    uint64_t call_ns, arrive_ns;      /* start of the host's call; arrival of the command at the device */
    bool in_graph;                    /* a node of a graph; the calls and lines are those of cudaGraphLaunch and of
                                         the call that was captured or added the node */
    bool cooperative;
    const char *parent;                 /* the mangled name of the kernel that launched it (the event's place is there),
                                           or NULL: the host did */
    uint64_t launch_ns;                 /* the launch's own part of the duration, before any instruction */
    uint64_t read_bytes, written_bytes; /* the different sectors that it reads before it writes them, and writes */
    uint64_t dram_read_bytes, dram_write_bytes; /* what L2 lacked, and what it wrote back meanwhile */
    uint64_t l2_read_sectors, l2_read_hits;     /* that loads asked L2 for, and that it had */
    uint64_t l2_write_sectors;
    double l1_hit_pct, l2_hit_pct; /* lookups that hit, as the hardware counts them, in percent */
    struct simgpu_bound bound;
    struct simgpu_counters total;
    const struct simgpu_line *lines; /* the counters by source line, ordered by file and line */
    uint32_t nlines;
    const struct simgpu_fault *fault; /* NULL if the kernel ran to its end; otherwise all counters are 0 */
};

/* --- the device's other commands ----------------------------------------------------------------------------- */

enum simgpu_direction { SIMGPU_H2D, SIMGPU_D2H, SIMGPU_D2D, SIMGPU_H2H };

struct simgpu_copy { /* a copy, or a fill, which has bytes and times only */
    uint64_t bytes;
    enum simgpu_direction direction;
    bool pageable; /* the host's memory is not page-locked */
    bool in_graph;
    uint64_t call_ns, arrive_ns;
    double limit_gbs; /* its highest possible rate, GB/s; 0 for a copy that does not use the link */
};

/* Pages of managed memory that moved between the host and the device. */
enum simgpu_migration_cause {
    SIMGPU_BY_KERNEL, /* page faults of a kernel, within its duration */
    SIMGPU_BY_HOST,   /* page faults of the host, which waits for them */
    SIMGPU_BY_PREFETCH,
    SIMGPU_BY_COPY /* page faults of a copy or memset on the device */
};
struct simgpu_migration {
    enum simgpu_direction direction;
    enum simgpu_migration_cause cause;
    uint64_t bytes, faults; /* faults: groups that the driver handled together; 0 of a prefetch */
    const char *kernel;     /* BY_KERNEL: the mangled name */
};

/* --- the host ------------------------------------------------------------------------------------------------ */

/* The class of a call. */
enum simgpu_class {
    SIMGPU_SUBMITS,   /* submits a command, or queries something */
    SIMGPU_ALLOCATES, /* device memory */
    SIMGPU_FREES,
    SIMGPU_PINS, /* page-locks host memory, newly allocated or not */
    SIMGPU_UNPINS,
    SIMGPU_COPIES,
    SIMGPU_FILLS,
    SIMGPU_WAITS /* for a stream, an event or the device */
};

/* A call of the API, or the host's declared work. */
struct simgpu_call {
    const char *name; /* "cudaMemcpy"; of work, the name passed to simgpuHostTask */
    enum simgpu_class what;
    bool syncs;                /* waits for the device, even if the device is idle */
    bool short_one;            /* only submits, or works for less than a microsecond, so the report omits it */
    uint64_t waited_ns, bytes; /* the wait within its duration; bytes allocated, freed or copied */
};

/* A call that returned an error, other than cudaErrorNotReady or the error of an earlier kernel. */
enum simgpu_refusal_cause {
    SIMGPU_REFUSED_OTHER,
    /* A launch that cannot run. */
    SIMGPU_REFUSED_ZERO,          /* a dimension of grid or block is 0 */
    SIMGPU_REFUSED_BLOCK,         /* too many threads in a block, or in one of its dimensions */
    SIMGPU_REFUSED_GRID,          /* too many blocks in a dimension of the grid */
    SIMGPU_REFUSED_STATIC_SHARED, /* its __shared__ arrays are larger than ptxas allows */
    SIMGPU_REFUSED_SHARED,        /* static and dynamic shared memory together are too large */
    SIMGPU_REFUSED_BOUNDS,        /* more threads than __launch_bounds__ allows */
    SIMGPU_REFUSED_REGISTERS,     /* a block needs more registers than an SM has */
    SIMGPU_REFUSED_COOPERATIVE,   /* a cooperative grid of which not all blocks are resident at once */
    SIMGPU_REFUSED_UNSUPPORTED    /* the kernel has an instruction that SimGPU lacks */
};
struct simgpu_refusal {
    const char *call; /* "cudaLaunchKernel" */
    int error;        /* a cudaError_t */
    enum simgpu_refusal_cause cause;
    const char *text; /* one sentence for people; "" if the call has none */
};

/* --- a time in which the SMs ran nothing ---------------------------------------------------------------------- */

enum simgpu_gap_cause {
    SIMGPU_HOST_BLOCKED,   /* in the API call `call`, which waited, allocated or staged */
    SIMGPU_HOST_WORKING,   /* in its own, declared work */
    SIMGPU_HOST_LAUNCHING, /* submitting, or the command was on its way */
    SIMGPU_WAITING_FOR_COPY,
    SIMGPU_WAITING_FOR_FUNCTION, /* of the host */
    SIMGPU_BETWEEN_COMMANDS,     /* the device's own time: an event, the switch from a copy to a kernel */
    SIMGPU_KERNEL_STARTING       /* the launch's own time */
};

/* A gap; the event's place is the responsible line. */
struct simgpu_gap {
    enum simgpu_gap_cause cause;
    const char *call; /* HOST_BLOCKED: the name of the call; else NULL */
};

/* --- findings of check/ --------------------------------------------------------------------------------------- */

enum simgpu_finding_kind {
    SIMGPU_RACE,
    SIMGPU_UNINITIALISED,
    SIMGPU_STREAM_ORDER,
    SIMGPU_IN_FLIGHT,
    /* A __syncthreads() under a condition that only some threads of the block meet. SKIPPED: the others go on behind
     * it. EXITED: for them the kernel ends without it; CUDA allows that since Volta, as far as nothing waits for what
     * they would have done. Side 0 waits at the barrier, side 1 is the condition's line and a thread that skips it. */
    SIMGPU_BARRIER_SKIPPED,
    SIMGPU_BARRIER_EXITED
};

/* RACE: the other side. */
enum simgpu_rival {
    SIMGPU_OTHER_THREAD,
    SIMGPU_OTHER_LANE, /* of the same warp */
    SIMGPU_OTHER_BLOCK,
    SIMGPU_SAME_STORE /* lanes of one instruction, each with a value of its own */
};

enum simgpu_command { SIMGPU_KERNEL, SIMGPU_COPYING, SIMGPU_FILLING };
enum simgpu_space {
    SIMGPU_SHARED_VARIABLE,
    SIMGPU_SHARED_DYNAMIC,
    SIMGPU_SHARED_MEMORY,
    SIMGPU_DEVICE_MEMORY,
    SIMGPU_HOST_MEMORY
};

/* One access of a finding: index 0 is the later one, which was reported, index 1 the other (none for UNINITIALISED).
 * For the sides of a barrier see above. */
struct simgpu_side {
    struct simgpu_place at; /* with what it did */
    /* In a kernel. */
    uint32_t block[3], thread[3];
    bool any_lane; /* some lane of warp `warp`; `thread` is unknown */
    uint32_t warp;
    /* Between streams. */
    enum simgpu_command command;
    enum simgpu_direction direction;
    uint32_t stream;
    char name[128]; /* of the kernel */
};

struct simgpu_finding {
    enum simgpu_finding_kind kind;
    int nsides;
    struct simgpu_side side[2];
    enum simgpu_rival rival;
    char kernel[128]; /* name in the source; "" if the finding is about the host or streams */
    bool same_code;   /* both sides are the same expression of the source */
    bool cooperative; /* a launch whose blocks can meet in grid.sync(), which has barriers */
    enum simgpu_space space;
    const char *variable;          /* SHARED_VARIABLE: its name in the source */
    uint64_t offset, bytes;        /* offset in shared memory or in the copy; bytes common to both sides, or copied */
    struct simgpu_address address; /* DEVICE_MEMORY */
};

/* --- totals --------------------------------------------------------------------------------------------------- */

enum simgpu_memory { SIMGPU_MEMORY_DEVICE, SIMGPU_MEMORY_POOL, SIMGPU_MEMORY_PINNED, SIMGPU_MEMORIES };

/* The sums of a stretch, from one mark to the next; ../README.md, "Reports". */
struct simgpu_totals {
    struct {
        uint64_t allocs, frees, live, peak; /* two numbers, two sizes in bytes */
    } memory[SIMGPU_MEMORIES];
    uint64_t busy_ns, working_ns; /* of the SMs, with and without the launches' own time */
    uint64_t sync_calls, waited_ns, staged_bytes;
};

/* --- the event ------------------------------------------------------------------------------------------------ */

enum simgpu_kind {
    SIMGPU_LAUNCH,
    SIMGPU_COPY,
    SIMGPU_FILL,
    SIMGPU_FUNCTION, /* a function of the host in a stream (cudaLaunchHostFunc) */
    SIMGPU_CALL,
    SIMGPU_WORK, /* the host's declared work */
    SIMGPU_GAP,
    SIMGPU_FINDING,
    SIMGPU_REFUSAL,
    SIMGPU_TOTALS,
    SIMGPU_MARK,
    SIMGPU_MIGRATION,
    SIMGPU_RANGE /* of NVTX; start_ns and duration_ns are of the host */
};

struct simgpu_range {
    const char *name;
    enum simgpu_range_kind {
        SIMGPU_RANGE_PUSHED,  /* nvtxRangePush to nvtxRangePop, of one host thread: such ranges nest */
        SIMGPU_RANGE_STARTED, /* nvtxRangeStart to nvtxRangeEnd */
        SIMGPU_RANGE_POINT    /* nvtxMark */
    } kind;
    uint32_t thread; /* of PUSHED: the host thread, from 0 in the order of their first ranges */
};

struct simgpu_event {
    enum simgpu_kind kind;
    uint32_t device, stream;        /* number of the device; stream 0 is the legacy default stream */
    struct simgpu_place at;         /* the host's line, if known; a FINDING has its own places */
    uint64_t start_ns, duration_ns; /* on the device; for CALL and WORK on the host; for MARK the host's clock and 0 */
    union {
        struct simgpu_launch launch; /* LAUNCH */
        struct simgpu_copy copy;     /* COPY, FILL */
        struct simgpu_call call;     /* CALL, WORK */
        struct simgpu_gap gap;
        struct simgpu_finding finding;
        struct simgpu_refusal refusal;
        struct simgpu_totals totals;
        struct simgpu_migration migration;
        struct simgpu_range range;
        const char *mark; /* the name passed to simgpuMark */
    } is;
};

/* --- listening ------------------------------------------------------------------------------------------------ */

typedef void (*simgpu_listener)(const struct simgpu_event *event, void *context);

/* Calls hear(event, context) for every event from now on. Returns 0, or -1 if there are 8 listeners already. hear runs
 * inside API calls of the program, with SimGPU locked, so it may call neither the CUDA API nor functions of SimGPU
 * other than simgpuSay. */
int simgpuListen(simgpu_listener hear, void *context);

/* A shared object that listens to any program: SIMGPU_LISTENER=path names it, and SimGPU calls its function
 * `simgpuListener` when it sets itself up, at the program's first call. The function may call `listen`, which is
 * simgpuListen, and nothing else of the API. */
typedef void simgpu_begins(int (*listen)(simgpu_listener hear, void *context));

/* --- sentences ------------------------------------------------------------------------------------------------ */

/* The part of a message: all of it; one line with the fault or finding, without its place; or the last line, which is
 * the kernel and thread of a fault, the remedy of a finding. */
enum simgpu_part { SIMGPU_WHOLE, SIMGPU_WHAT, SIMGPU_LAST };

/* Each writes English into text, at most size bytes including the final 0, and returns text. SIMGPU_WHOLE reads the
 * source files to show lines and carets. */
const char *simgpuSayBound(const struct simgpu_launch *launch, char *text, size_t size);
const char *simgpuSayFault(const struct simgpu_fault *fault, enum simgpu_part part, char *text, size_t size);
const char *simgpuSayFinding(const struct simgpu_finding *finding, enum simgpu_part part, char *text, size_t size);
const char *simgpuSayGap(const struct simgpu_gap *gap, char *text, size_t size);
const char *simgpuSayAddress(const struct simgpu_address *address, char *text, size_t size);

/* Each returns the report's word for an enum: "l2_read", "illegal address", "race", "h2d", "write". */
const char *simgpuTermName(enum simgpu_term term);
const char *simgpuFaultName(enum simgpu_fault_kind kind);
const char *simgpuFindingName(enum simgpu_finding_kind kind);
const char *simgpuDirectionName(enum simgpu_direction direction);
const char *simgpuMigrationName(enum simgpu_migration_cause cause);
const char *simgpuDidName(enum simgpu_did did);

#ifdef __cplusplus
}
#endif

#endif

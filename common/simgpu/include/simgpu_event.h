/* simgpu_event.h — what happened, as data: one struct for a launch, a copy, a call, a gap, a finding ...
 *
 *   simgpuListen(hear, context);      from here on, hear(event, context) is called for each
 *
 * Whatever tells a person or a program about a run is made from these events: the report in JSON Lines, the trace, a
 * lab's counters, its card and its hints. An event holds enums, numbers and places; nobody reads a sentence to learn a
 * fact. Sentences are made last, by the simgpuSay functions, which are all in one file (../words/words.c), so that it
 * alone would be translated.
 *
 * Order: that of the host's calls, though commands finish in another. A command's event is held back until it and all
 * before it are known, so an event comes some time after what it tells; simgpuMark with an idle device, or the end of
 * the program, sends all.
 *
 * Plain data: an event has no handle and no pointer into a device, so it can be written down and sent elsewhere. Its
 * pointers (strings, lines, fault) are valid until the listener returns; a listener that keeps an event copies what
 * they point to. Two runs of a program give the same events: no addresses of the host, process ids or wall times.
 *
 * Times are whole nanoseconds of virtual time since the program's start. C11 and C++; needs no other header of ours.
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

enum simgpu_did { SIMGPU_DID_NOTHING, SIMGPU_DID_READ, SIMGPU_DID_WRITE, SIMGPU_DID_ATOMIC };

/* A line of source, as the compiler names the file. */
struct simgpu_place {
    const char *file; /* NULL: not known, and the rest is 0 */
    int line, column; /* column 0: not known */
    enum simgpu_did did;
};

/* Where an address of a kernel or a copy lies. */
enum simgpu_where {
    SIMGPU_NULL_POINTER,     /* below 4096 */
    SIMGPU_NO_DEVICE_MEMORY, /* no device address: most likely a host pointer */
    SIMGPU_NONE_ALLOCATED,
    SIMGPU_INSIDE, /* an allocation, `distance` bytes from its beginning */
    SIMGPU_PAST_END,
    SIMGPU_BEFORE
};
struct simgpu_address {
    uint64_t address;
    enum simgpu_where where;
    uint64_t distance, base, bytes; /* from, of, and of the nearest allocation */
    bool freed;
};

/* The counters of a launch or of a line: simgpu_counters.def says what each counts. */
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

/* What a kernel's duration can come from. */
enum simgpu_term {
    SIMGPU_TERM_LAUNCH, /* all its work takes less than the launch itself */
    SIMGPU_TERM_BLOCKS,
    SIMGPU_TERM_ISSUE,
    SIMGPU_TERM_LSU,
    SIMGPU_TERM_BARRIER,
    SIMGPU_TERM_L2_READ,
    SIMGPU_TERM_L2_WRITE,
    SIMGPU_TERM_DRAM,
    SIMGPU_TERM_ATOMIC,
    SIMGPU_TERM_LATENCY,
    SIMGPU_TERMS
};

struct simgpu_bound {
    enum simgpu_term term;        /* the one that made the duration */
    double term_ns[SIMGPU_TERMS]; /* what each alone would take; the duration is LAUNCH + the largest other */
    struct simgpu_place at;       /* the line with most of the bound's work; file NULL: none */
    /* How much of it, by term: LAUNCH ns of work; BLOCKS blocks started a nanosecond; ISSUE ns of instructions; LSU
     * clocks a request; BARRIER barriers that a warp waits at; L2_READ sectors a load that miss L1; L2_WRITE sectors a
     * store, each written in part; DRAM bytes to move; ATOMIC how many wait for their turn; LATENCY 0. */
    double amount;
    double share;          /* of the GPU's places for blocks, 0..1, that the launch fills */
    uint64_t rounds;       /* of global loads that the slowest warp waits for, one after another */
    uint64_t clocks;       /* for which its instructions wait for each other */
    bool by_loads;         /* LATENCY: the rounds take longer than the clocks */
    uint32_t atomic_bytes; /* ATOMIC: within so many bytes they wait for each other */
};

/* What stopped a kernel. */
enum simgpu_fault_kind {
    SIMGPU_FAULT_NONE,
    SIMGPU_FAULT_UNSUPPORTED, /* an instruction that SimGPU lacks */
    SIMGPU_FAULT_ILLEGAL_ADDRESS,
    SIMGPU_FAULT_MISALIGNED,
    SIMGPU_FAULT_BUDGET, /* it ran past the instruction budget of a block or of the launch */
    SIMGPU_FAULT_DEADLOCK,
    SIMGPU_FAULT_BAD_SYNC, /* a barrier or a mask used against its rules */
    SIMGPU_FAULT_TRAP,
    SIMGPU_FAULT_ASSERT,
    SIMGPU_FAULT_STACK, /* calls or branches nested too deep */
    SIMGPU_FAULTS
};

/* How it came to that, one for each sentence. n, name: what that sentence needs, as named behind it. */
enum simgpu_fault_cause {
    SIMGPU_CAUSE_NONE,
    SIMGPU_CAUSE_REFUSED,         /* the kernel never began; text is the reason that the reader of PTX gave */
    SIMGPU_CAUSE_ADDRESS,         /* did, bytes, address */
    SIMGPU_CAUSE_MISALIGNED,      /* did, bytes, address */
    SIMGPU_CAUSE_BEFORE_SPACE,    /* did, bytes; n[0] bytes before the beginning of memory called `name` */
    SIMGPU_CAUSE_PAST_SPACE,      /* did, bytes; offset n[0] of memory called `name`, which has n[1] bytes */
    SIMGPU_CAUSE_LOCAL_ATOMIC,    /* an atomic on local memory */
    SIMGPU_CAUSE_PRINTF_STRING,   /* printf's string is not in device memory */
    SIMGPU_CAUSE_ARGUMENTS,       /* name is called with n[0] arguments; it takes n[1] */
    SIMGPU_CAUSE_NO_FUNCTION,     /* a call through a pointer, n[0], that is no device function */
    SIMGPU_CAUSE_ASSERTION,       /* text is the condition, name its file, n[0] its line */
    SIMGPU_CAUSE_BARRIERS,        /* threads of one block at different barriers, on lines n[0] and n[1] */
    SIMGPU_CAUSE_BARRIER_NUMBER,  /* barrier n[0] for n[1] threads: there is none such */
    SIMGPU_CAUSE_BARRIER_PARTLY,  /* a barrier that only some lanes of a warp execute */
    SIMGPU_CAUSE_MASK_WITHOUT_ME, /* the mask n[0] does not name lane n[1], which executes it */
    SIMGPU_CAUSE_MASK_OF_ABSENT,  /* the mask n[0] names lanes that do not execute it */
    SIMGPU_CAUSE_SPLITS,          /* branches nested more than n[0] deep */
    SIMGPU_CAUSE_CALLS,           /* calls nested too deep, at the function `name` */
    SIMGPU_CAUSE_TRAP,
    SIMGPU_CAUSE_BRANCH_INDEX, /* brx.idx with index n[0] into a list of n[1] targets */
    SIMGPU_CAUSE_BLOCK_BUDGET,
    SIMGPU_CAUSE_LAUNCH_BUDGET, /* the first n[0] of n[1] blocks took more than n[2] warp instructions */
    SIMGPU_CAUSE_WAITING /* nobody can go on: waiting; n[0] of the block's n[1] threads have ended; waiting[n[2]] is to
                            blame */
};

/* Whom a fault is about. */
enum simgpu_scope { SIMGPU_WHOLE_LAUNCH, SIMGPU_ONE_WARP, SIMGPU_ONE_THREAD };

/* Threads of a deadlocked block that wait at one place. */
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
    uint32_t block[3], thread[3], warp; /* as far as scope says */
    enum simgpu_did did;
    uint32_t bytes;
    struct simgpu_address address;
    uint64_t n[3];
    bool counted; /* WAITING: a barrier with a number of threads is among what they wait for */
    uint32_t nwaiting;
    struct simgpu_waiting waiting[16];
    char name[304], text[1024];
};

struct simgpu_launch {
    const char *kernel; /* the mangled name */
    char name[128];     /* in the source, without namespace and template arguments */
    uint32_t grid[3], block[3];
    uint32_t registers, shared_bytes; /* of a thread (estimated), of a block */
    uint32_t blocks_per_sm;           /* resident at once: the occupancy */
    uint64_t call_ns, arrive_ns;      /* the host's call began; the device had the command */
    uint64_t launch_ns;               /* of the duration: the launch's own time, in which nothing of the kernel runs */
    struct simgpu_bound bound;
    struct simgpu_counters total;
    const struct simgpu_line *lines; /* the counters by source line, ordered by file and line */
    uint32_t nlines;
    const struct simgpu_fault *fault; /* NULL: it ran to its end; otherwise all counters are 0 */
};

/* --- the device's other commands ----------------------------------------------------------------------------- */

enum simgpu_direction { SIMGPU_H2D, SIMGPU_D2H, SIMGPU_D2D, SIMGPU_H2H };

struct simgpu_copy { /* of a fill, a copy's fields that make sense */
    uint64_t bytes;
    enum simgpu_direction direction;
    bool pageable; /* the host's side is not page-locked */
    uint64_t call_ns, arrive_ns;
    double limit_gbs; /* the rate that it could have at most; 0: not over the link */
};

/* --- the host ------------------------------------------------------------------------------------------------ */

/* What a call is for. */
enum simgpu_class {
    SIMGPU_SUBMITS,   /* hands the device a command, or asks about something */
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
    const char *name; /* "cudaMemcpy"; of work, what simgpuHostTask was given */
    enum simgpu_class what;
    bool syncs;                /* it waits for the device, or would if there were something to wait for */
    bool short_one;            /* it only submitted, or worked for less than a microsecond: not in the report */
    uint64_t waited_ns, bytes; /* of its duration; what it allocated, freed or copied */
};

/* --- a time in which the SMs ran nothing ---------------------------------------------------------------------- */

enum simgpu_gap_cause {
    SIMGPU_HOST_BLOCKED,   /* in a call that waited, allocated or staged: `call` */
    SIMGPU_HOST_WORKING,   /* in its own, declared work */
    SIMGPU_HOST_LAUNCHING, /* submitting, or the command was on its way */
    SIMGPU_WAITING_FOR_COPY,
    SIMGPU_WAITING_FOR_FUNCTION, /* of the host */
    SIMGPU_BETWEEN_COMMANDS,     /* the device's own time: an event, the switch from a copy to a kernel */
    SIMGPU_KERNEL_STARTING       /* the launch's own time */
};

/* The line responsible is the event's place. */
struct simgpu_gap {
    enum simgpu_gap_cause cause;
    const char *call; /* HOST_BLOCKED: its name; else NULL */
};

/* --- what check/ found ---------------------------------------------------------------------------------------- */

enum simgpu_finding_kind { SIMGPU_RACE, SIMGPU_UNINITIALISED, SIMGPU_STREAM_ORDER, SIMGPU_IN_FLIGHT };

/* RACE: who the other one is. */
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

/* One side: at index 0 who found it, at 1 the other (none for UNINITIALISED). */
struct simgpu_side {
    struct simgpu_place at; /* with what it did */
    /* In a kernel. */
    uint32_t block[3], thread[3];
    bool any_lane; /* it is not known which lane of warp `warp` */
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
    char kernel[128]; /* bare name; "": the finding is about the host or streams */
    bool same_code;   /* both sides are one expression of the source */
    enum simgpu_space space;
    const char *variable;          /* SHARED_VARIABLE: its name in the source */
    uint64_t offset, bytes;        /* in shared memory, or in the copy; how many bytes are shared, or copied */
    struct simgpu_address address; /* DEVICE_MEMORY */
};

/* --- totals --------------------------------------------------------------------------------------------------- */

enum simgpu_memory { SIMGPU_MEMORY_DEVICE, SIMGPU_MEMORY_POOL, SIMGPU_MEMORY_PINNED, SIMGPU_MEMORIES };

/* The sums of a stretch, from one mark to the next; ../README.md, "Reports". */
struct simgpu_totals {
    struct {
        uint64_t allocs, frees, live, peak; /* number; bytes */
    } memory[SIMGPU_MEMORIES];
    uint64_t busy_ns, working_ns; /* of the SMs: with and without the launches' own time */
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
    SIMGPU_TOTALS,
    SIMGPU_MARK
};

struct simgpu_event {
    enum simgpu_kind kind;
    uint32_t device, stream;        /* number of the device; stream 0 is the legacy default stream */
    struct simgpu_place at;         /* the host's line, as far as it is known; a FINDING has its own */
    uint64_t start_ns, duration_ns; /* on the device; of CALL and WORK on the host; MARK: the host's clock, 0 */
    union {
        struct simgpu_launch launch; /* LAUNCH */
        struct simgpu_copy copy;     /* COPY, FILL */
        struct simgpu_call call;     /* CALL, WORK */
        struct simgpu_gap gap;
        struct simgpu_finding finding;
        struct simgpu_totals totals;
        const char *mark; /* as simgpuMark was given it */
    } is;
};

/* --- listening ------------------------------------------------------------------------------------------------ */

typedef void (*simgpu_listener)(const struct simgpu_event *event, void *context);

/* Calls hear for every event from here on; 0, or -1 when 8 listen already. It is called inside API calls of the
 * program, with SimGPU locked: it may not call the CUDA API, nor functions of SimGPU other than simgpuSay. */
int simgpuListen(simgpu_listener hear, void *context);

/* --- sentences ------------------------------------------------------------------------------------------------ */

/* Which part of a message: all of it; what happened, in one line and without the place; its last line: of a fault who
 * it was, of a finding the remedy. */
enum simgpu_part { SIMGPU_WHOLE, SIMGPU_WHAT, SIMGPU_LAST };

/* Each writes English into text, at most size bytes with the final 0, and returns text. SIMGPU_WHOLE reads the source
 * files, to show lines and carets. */
const char *simgpuSayBound(const struct simgpu_launch *launch, char *text, size_t size);
const char *simgpuSayFault(const struct simgpu_fault *fault, enum simgpu_part part, char *text, size_t size);
const char *simgpuSayFinding(const struct simgpu_finding *finding, enum simgpu_part part, char *text, size_t size);
const char *simgpuSayGap(const struct simgpu_gap *gap, char *text, size_t size);
const char *simgpuSayAddress(const struct simgpu_address *address, char *text, size_t size);

/* The words of enums, as the report has them: "l2_read", "illegal address", "race", "h2d", "write". */
const char *simgpuTermName(enum simgpu_term term);
const char *simgpuFaultName(enum simgpu_fault_kind kind);
const char *simgpuFindingName(enum simgpu_finding_kind kind);
const char *simgpuDirectionName(enum simgpu_direction direction);
const char *simgpuDidName(enum simgpu_did did);

#ifdef __cplusplus
}
#endif

#endif

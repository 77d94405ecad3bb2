/* time/ — the virtual clock: when the host, the copy engines and the SMs did what.
 *
 *   cudart/ --command--> stream queues --> copy engines, SMs (exec/ runs kernels) --> report
 *
 * Nothing here reads a wall clock. The host's clock moves by a fixed price for each call and by waiting; the device's
 * clock moves from one happening to the next. A command runs at its virtual time: a copy that nobody waited for has
 * not happened yet. The same program gives the same times on every machine.
 *
 * Interface:
 * - time_profile   the device's measured constants (profiles/NAME.conf)
 * - time_model     from a launch's counters to its duration and the bound that made it
 * - time_submit    queues a command (plain data: what, which stream, from which host line)
 * - time_wait_*    the host waits; time_charge: the host pays; time_catch_up: the device reaches the host's present
 * - activity_*     who was busy when and for which host line, and so why the SMs were idle
 * - report_*       JSON Lines, one object a command (described in ../README.md)
 *
 * Called from one thread at a time; cudart/ holds its lock. All times are nanoseconds since the program began.
 */
#ifndef SIMGPU_TIME_H
#define SIMGPU_TIME_H

#include "../exec/exec.h"

/* --- profile.c ---------------------------------------------------------------------------------------------- */

typedef struct {
    char name[64];
#define PROFILE(key, unit, what) double key;
#include "profile.def"
#undef PROFILE
} time_profile;

/* The profile named by the environment's PROFILE, or h200; read at the first call. One that is not there, or is wrong,
 * ends the program with a message (exit 2): no time would be true. */
const time_profile *time_profile_get(void);

/* --- model.c ------------------------------------------------------------------------------------------------ */

enum time_term {
    TERM_LAUNCH,
    TERM_BLOCKS,
    TERM_ISSUE,
    TERM_LSU,
    TERM_BARRIER,
    TERM_L2_READ,
    TERM_L2_WRITE,
    TERM_DRAM,
    TERM_ATOMIC,
    TERM_LATENCY,
    TERMS
};
extern const char *const time_term_names[TERMS];

typedef struct {
    double duration_ns;
    double term_ns[TERMS]; /* what each bound alone would take; the duration is launch + the largest other */
    enum time_term bound;
    double share;    /* of the device that its blocks fill, 0..1 */
    uint32_t per_sm; /* resident blocks of an SM */
    char why[256];   /* one sentence: the bound, its cause, its line */
} time_estimate;

void time_model(const time_profile *p, const exec_result *r, time_estimate *e);

/* Resident blocks of an SM for a block of this size; 0 when it does not fit at all. Registers a thread, shared bytes
 * a block. The rule of NVIDIA's occupancy calculator for this compute capability. */
uint32_t time_occupancy(const time_profile *p, uint32_t threads, uint32_t registers, uint64_t shared_bytes);

/* --- what the host does ------------------------------------------------------------------------------------- */

enum time_doing {
    HOST_SUBMITS, /* in a call that hands the device a command, or asks about one */
    HOST_IN_CALL, /* in a call that works itself: allocates, pins, stages pageable memory */
    HOST_WAITS,   /* in a call that waits for the device */
    HOST_WORKS,   /* in the program's own code, as far as it is declared */
};

/* An API call, or a piece of declared work, and the host line it comes from. The strings are kept. */
typedef struct {
    const char *name, *file; /* file NULL: not known */
    int line;
} time_site;

/* --- timeline.c --------------------------------------------------------------------------------------------- */

enum time_kind { TIME_LAUNCH, TIME_COPY, TIME_MEMSET, TIME_EVENT, TIME_WAIT_EVENT, TIME_HOST_CALL };
enum time_direction { TIME_H2D, TIME_D2H, TIME_D2D, TIME_H2H };

typedef struct time_event time_event;

/* Rows of bytes: `width` bytes each, `pitch` bytes apart. */
typedef struct {
    uint64_t address, pitch; /* a device address, or a host pointer as a number */
} time_place;

typedef struct {
    enum time_kind kind;
    uint32_t stream;
    const char *host_file; /* NULL: not known */
    int host_line;
    union {
        struct {
            exec_launch launch; /* params: malloc'd, owned by the timeline from time_submit on */
        };
        struct {
            enum time_direction direction;
            bool pageable;     /* the host's side */
            bool shares_pages; /* it was registered: its first and last page may hold other things too */
            time_place to, from;
            uint64_t width, height;
            int value; /* TIME_MEMSET */
        };
        time_event *event;
        struct {
            /* A function of the program, run once when its turn comes; dead: a fault has stopped the device. It may
             * charge work to itself, and no call of it may submit or wait. */
            void (*call)(void *argument, bool dead);
            void *argument;
        };
    };
} time_command;

enum { TIME_LEGACY_STREAM = 0 };

uint32_t time_stream_new(bool blocking); /* blocking: ordered against the legacy default stream */
void time_stream_end(uint32_t stream);   /* its queued work still runs */

time_event *time_event_new(void);
void time_event_end(time_event *e);
bool time_event_recorded(const time_event *e);
bool time_event_done(const time_event *e); /* nothing recorded counts as done */
double time_event_ns(const time_event *e); /* when it was reached; only if done */

/* A place in a stream: behind all that has been submitted to it so far. */
typedef struct {
    uint32_t stream;
    uint64_t count;
} time_point;
time_point time_point_now(uint32_t stream);
bool time_point_passed(time_point p);
/* The stream was given memory that it may use because p has passed: nobody waits, but somebody may want to know. */
void time_point_joins(time_point p, uint32_t stream);

/* Queues a command. Charges the host the call's price and, for pageable memory, the staging. */
void time_submit(const time_command *c);

double time_host_ns(void);                         /* inside a host function: that function's clock */
void time_charge(enum time_doing what, double ns); /* the host is busy */
void time_catch_up(void);                          /* runs what the device has begun by the host's present */
bool time_in_host_function(void);
bool time_stream_idle(uint32_t stream);
bool time_all_idle(void);
void time_wait_stream(uint32_t stream);
void time_wait_all(void);
void time_wait_event(time_event *e);
/* As a synchronous copy from pageable memory begins: waits for earlier work, at no price when there is none. */
void time_wait_before(uint32_t stream);

/* The fault that stopped the device, or NULL. From then on commands complete without doing anything. */
const exec_fault *time_fault(void);

/* --- activity.c --------------------------------------------------------------------------------------------- */

/* Brackets a call of the API, or declared work: what the host does in between belongs to it. At its end it becomes a
 * line of the report, unless it only submitted. Host functions run inside other calls and have no bracket. */
void activity_call(time_site site);
void activity_call_end(void);
double activity_call_ns(void);            /* when the call in progress began */
void activity_call_bytes(uint64_t bytes); /* what it is about, for the report */
void activity_call_syncs(void);           /* it waits for the device, or would if there were something to wait for */

void activity_host(enum time_doing what, double start_ns, double end_ns);

/* A command that has run, or whose end is known. call_ns: when its host call began; arrive_ns: when the device had it;
 * work_ns: when the launch's own time was over. */
void activity_device(const time_command *c, double call_ns, double arrive_ns, double start_ns, double work_ns,
                     double end_ns);

/* Memory: what cudaMalloc and the pool hold of the device; what of the pool is given out; page-locked host memory. */
enum time_memory { MEMORY_DEVICE, MEMORY_POOL, MEMORY_PINNED, MEMORIES };
void activity_alloc(enum time_memory what, uint64_t bytes);
void activity_free(enum time_memory what, uint64_t bytes);
void activity_staged(uint64_t bytes);

/* The sums of a stretch: from one mark of the report to the next. Peaks are the stretch's own. */
typedef struct {
    struct {
        uint64_t allocs, frees, live, peak; /* number; bytes */
    } memory[MEMORIES];
    uint64_t staged_bytes, sync_calls;
    double waited_ns, start_ns, duration_ns;
    double busy_ns, working_ns; /* of the SMs: with and without the launches' own time */
} time_totals;

/* Ends a stretch: its gaps and totals go to the report. Then a new one begins. */
void activity_stretch(void);

/* --- report.c ----------------------------------------------------------------------------------------------- */

typedef struct report_slot report_slot;

int report_to(const char *path); /* NULL closes; 0, or -1 with errno set */
bool report_on(void);
report_slot *report_reserve(void); /* the next line of the report, still empty; lines appear in this order */
void report_launch(report_slot *s, const time_command *c, const exec_result *r, const time_estimate *e, double call_ns,
                   double start_ns);
void report_transfer(report_slot *s, const time_command *c, double call_ns, double start_ns, double duration_ns,
                     double gbs_cap);
void report_mark(const char *name);

/* Something that check/ found: about one or two source lines. */
typedef struct {
    const char *file; /* NULL: not known */
    int line;
    const char *did;
} report_place;
void report_finding(const char *check, const char *kernel, const report_place *places, int nplaces,
                    const char *message);

/* A call that waited or worked (waited_ns: of its duration), or a piece of declared work. */
void report_call(const time_site *site, bool declared, double start_ns, double duration_ns, double waited_ns,
                 uint64_t bytes);
void report_gap(const time_site *site, const char *cause, double start_ns, double duration_ns);
void report_totals(const time_totals *t);

/* --- trace.c ------------------------------------------------------------------------------------------------ */

enum trace_row { TRACE_HOST, TRACE_CALLBACK, TRACE_H2D, TRACE_D2H, TRACE_GAPS, TRACE_SMS, TRACE_STREAMS = 64 };

int trace_to(const char *path); /* NULL: closes; 0, or -1 with errno set */
bool trace_on(void);
void trace_span(unsigned row, const char *name, const char *file, int line, double start_ns, double end_ns);
void trace_mark(const char *name, double at_ns);

#endif

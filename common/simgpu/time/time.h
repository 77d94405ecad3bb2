/* time/ — the virtual clock: when the host, the copy engines and the SMs did what.
 *
 *   cudart/ --command--> stream queues --> copy engines, SMs (exec/ runs kernels) --> report
 *
 * Nothing here reads a wall clock. The host's clock moves by a fixed price for each call and by waiting; the device's
 * clock moves from one happening to the next. A command runs at its virtual time: a copy that nobody waited for has
 * not happened yet. The same program gives the same times on every machine.
 *
 * Interface:
 * - time_device_new, time_use   a device with a clock of its own; the one that all of the rest is about
 * - time_profile   the device's measured constants (profiles/NAME.conf)
 * - time_model     from a launch's counters to its duration and the bound that made it
 * - time_submit    queues a command (plain data: what, which stream, from which host line)
 * - time_wait_*    the host waits; time_charge: the host pays; time_catch_up: the device reaches the host's present
 * - activity_*     who was busy when and for which host line, and so why the SMs were idle
 * - events_*       sends what happened, as data, to those who listen; report.c and trace.c are two of them
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
const exec_card *time_card(void);  /* what exec/ must know of it */
const ptx_costs *time_costs(void); /* what ptx/ must know of it */

/* --- model.c ------------------------------------------------------------------------------------------------ */

typedef struct {
    double duration_ns;
    struct simgpu_bound bound; /* what made it so, and what each bound alone would take */
    uint32_t per_sm;           /* resident blocks of an SM */
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

/* A device: its clocks, streams, engines and what it did. The clocks begin at 0. All functions below are about the one
 * in use; none may be called before time_use. */
typedef struct time_device time_device;
time_device *time_device_new(exec_device *exec);
void time_use(time_device *d);
exec_device *time_exec(void); /* of the one in use */

enum time_kind { TIME_LAUNCH, TIME_COPY, TIME_MEMSET, TIME_EVENT, TIME_WAIT_EVENT, TIME_HOST_CALL };

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
            enum simgpu_direction direction;
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

/* Of a copy or memset; 0 for what moves no bytes. */
uint64_t time_bytes(const time_command *c);

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
void time_forget_fault(void); /* the device lives again. Requires that it is idle */

/* --- activity.c --------------------------------------------------------------------------------------------- */

typedef struct time_activity time_activity; /* of a device */
time_activity *time_activity_new(void);
void time_activity_use(time_activity *a);

/* Brackets a call of the API, or declared work: what the host does in between belongs to it. At its end it becomes a
 * line of the report, unless it only submitted. Host functions run inside other calls and have no bracket. */
void time_activity_call(time_site site);
void time_activity_call_end(void);
double time_activity_call_ns(void); /* when the call in progress began */
/* What the call in progress is for, and of how many bytes. */
void time_activity_call_is(enum simgpu_class what, uint64_t bytes);
void time_activity_call_syncs(void); /* it waits for the device, or would if there were something to wait for */

void time_activity_host(enum time_doing what, double start_ns, double end_ns);

/* A command that has run, or whose end is known, for the log of who was busy. call_ns: when its host call began;
 * arrive_ns: when the device had it; work_ns: when the launch's own time was over. */
void time_activity_device(const time_command *c, double call_ns, double arrive_ns, double start_ns, double work_ns,
                          double end_ns);

/* Memory: what cudaMalloc and the pool hold of the device; what of the pool is given out; page-locked host memory. */
void time_activity_alloc(enum simgpu_memory what, uint64_t bytes);
void time_activity_free(enum simgpu_memory what, uint64_t bytes);
void time_activity_staged(uint64_t bytes);

/* Ends a stretch: its gaps and totals are sent. Then a new one begins. */
void time_activity_stretch(void);
void time_activity_mark(const char *name); /* ends a stretch, and names the next */

/* --- events.c ----------------------------------------------------------------------------------------------- */

/* Those who hear of events (../include/simgpu_event.h): at most 8. 0, or -1 when there are so many. */
int time_events_listen(simgpu_listener hear, void *context);
void time_events_stop(simgpu_listener hear, void *context);
bool time_events_on(void); /* does anybody listen? */

typedef struct time_event_slot time_event_slot;
time_event_slot *time_events_reserve(void); /* the next place in the order of events, for one that is not known yet */
/* Fills the slot, or the next place if it is NULL, with a copy of the event and sends what is due. */
void time_events_send(time_event_slot *slot, const struct simgpu_event *event);
void time_events_drop(time_event_slot *slot); /* nothing happened: no event */

/* When a command's call began, when the device had it, when it started. */
typedef struct {
    double called, arrive, start;
} time_moments;
void time_events_launch(time_event_slot *slot, const time_command *c, const exec_result *r, const time_estimate *e,
                        const time_moments *m);
/* A copy (at most gbs_cap GB/s), a fill, a function of the host. */
void time_events_command(time_event_slot *slot, const time_command *c, const time_moments *m, double end_ns,
                         double gbs_cap);
void time_events_finding(const struct simgpu_finding *f);

static inline uint64_t whole_ns(double ns) { return (uint64_t)(ns + 0.5); }

/* --- report.c, trace.c: two who listen ------------------------------------------------------------------------ */

int time_report_to(const char *path); /* NULL closes; 0, or -1 with errno set */
int time_trace_to(const char *path);  /* likewise */

#endif

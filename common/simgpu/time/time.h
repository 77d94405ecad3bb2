/* time/ — the virtual clock of the host, the copy engines and the SMs.
 *
 *   cudart/ --command--> stream queues --> copy engines, SMs (exec/ runs kernels) --> report
 *
 * No function here reads a wall clock. The host's clock advances by a fixed cost for each call and by waiting; the
 * device's clock advances from one event to the next. A command runs at its virtual time, so a copy moves its bytes
 * only when the virtual clock reaches its end. The same program gives the same times on every machine.
 *
 * Interface:
 * - time_device_new, time_use   make a device with a clock of its own; select the device for all other functions
 * - time_profile_get    the device's measured constants (profiles/NAME.conf)
 * - time_model          computes a launch's duration and its bound from its counters
 * - time_submit         queues a command (plain data: its kind, stream and host line)
 * - time_wait_* make the host wait; time_charge: advances the host; time_catch_up: advances the device to the host
 * - time_activity_*     log the work of host and device by host line, and explain the SMs' idle times
 * - time_events_*       send events, as data, to the listeners; report.c and trace.c are two of them
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

/* Returns the profile named by the environment's PROFILE, or h200, which it reads at the first call. Ends the program
 * with a message (status 2) if the profile does not exist or is invalid. */
const time_profile *time_profile_get(void);
const exec_card *time_card(void);  /* returns the profile's constants for exec/ */
const ptx_costs *time_costs(void); /* returns the profile's constants for ptx/ */

/* --- managed.c: where managed memory is ------------------------------------------------------------------------ */

/* Advice about blocks (cudaMemAdvise). */
enum time_advice {
    TIME_NO_ADVICE,
    TIME_READ_MOSTLY = 1,
    TIME_PREFER_HOST = 2,
    TIME_PREFER_DEVICE = 4,
    TIME_ACCESSED = 8,
    TIME_FETCHED_TO_HOST = 16,
    TIME_FETCHED_TO_DEVICE = 32 /* where the last prefetch went */
};

/* What a launch did to managed memory: pieces of 2 MiB with faults; bytes that came from the host; bytes that were
 * nowhere before. */
typedef struct {
    uint64_t faults, bytes, fresh_bytes;
    double ns; /* of the faults */
} time_pages;

/* Each takes any range within one allocation; advice holds for whole blocks of 64 KiB. The third returns what holds for
 * all of them. */
void time_managed_new(uint64_t address, uint64_t bytes);
void time_managed_advise(uint64_t address, uint64_t bytes, enum time_advice set, enum time_advice clear);
enum time_advice time_managed_advice(uint64_t address, uint64_t bytes);
bool time_managed_on_device(uint64_t address); /* of the address's block */

/* Around a launch: notes what the host has filled before; moves what the launch touched, and adds to its
 * result what it used over the link. */
void time_managed_before_launch(void);
void time_managed_launched(exec_device *d, exec_result *r, time_pages *pages);

/* Moves what a copy or memset on the device touches. Returns the time of its page faults. */
double time_managed_touched(uint64_t address, uint64_t bytes, uint64_t *moved, uint64_t *faults);

/* Returns the bytes that a prefetch in this direction must move; notes that they have moved. */
uint64_t time_managed_to_move(uint64_t address, uint64_t bytes, enum simgpu_direction direction);
void time_managed_moved(uint64_t address, uint64_t bytes, enum simgpu_direction direction);

/* The host may touch managed memory from now on, since it has waited for the device. The next time_managed_look charges
 * it for the blocks that it has touched. */
void time_managed_host_may_look(void);
void time_managed_look(void);

/* --- model.c ------------------------------------------------------------------------------------------------ */

typedef struct {
    double duration_ns;
    struct simgpu_bound bound; /* the bound that decided it, and the time of each bound alone */
    uint32_t per_sm;           /* resident blocks of an SM */
} time_estimate;

/* pages: what the launch moved of managed memory; launch_ns: the launch's own time on the device; in_graph: the next
 * kernel begins while it ends. */
void time_model(const time_profile *p, const exec_result *r, const time_pages *pages, double launch_ns, bool in_graph,
                time_estimate *e);

/* Returns the share of a launch's work that the busiest SM has if later blocks begin where others have ended; 0 if all
 * are resident at once, or if there are so many that it does not matter. resident: blocks of an SM. */
double time_busiest_share(const exec_result *r, uint32_t sms, uint32_t resident);

/* Returns the resident blocks of an SM, or 0 if a block does not fit. threads: of a block; registers: of a thread;
 * shared_bytes: of a block. Source: NVIDIA's occupancy calculator for the profile's compute capability. */
uint32_t time_occupancy(const time_profile *p, uint32_t threads, uint32_t registers, uint64_t shared_bytes);

/* --- the host's activity ------------------------------------------------------------------------------------ */

enum time_doing {
    HOST_SUBMITS, /* in a call that submits a command or queries one */
    HOST_IN_CALL, /* in a call that works on the host: allocates, pins, stages pageable memory */
    HOST_WAITS,   /* in a call that waits for the device */
    HOST_WORKS,   /* in the program's own declared work */
};

/* An API call, or a piece of declared work, and its host line. The strings must stay valid; they are not copied. */
typedef struct {
    const char *name, *file; /* file NULL: unknown */
    int line;
} time_site;

/* --- timeline.c --------------------------------------------------------------------------------------------- */

/* A device: its clocks, streams, engines and logs. The clocks begin at 0. All functions below use the device selected
 * by time_use, which must be called first. */
typedef struct time_device time_device;
time_device *time_device_new(exec_device *exec);
void time_use(time_device *d);
exec_device *time_exec(void); /* returns exec/'s part of the device in use */

/* MIGRATE: a prefetch of managed memory. */
enum time_kind {
    TIME_LAUNCH,
    TIME_COPY,
    TIME_MEMSET,
    TIME_EVENT,
    TIME_WAIT_EVENT,
    TIME_HOST_CALL,
    TIME_PAUSE,
    TIME_MIGRATE
};

typedef struct time_event time_event;

/* One end of a copy: rows of `width` bytes, `pitch` bytes apart, in planes that are `slice` bytes apart. */
typedef struct {
    uint64_t address, pitch; /* a device address, or a host pointer as a number */
    uint64_t slice;          /* 0 for a copy of one plane */
} time_place;

/* A copy or a memset. */
typedef struct {
    enum simgpu_direction direction;
    bool pageable;     /* the host's memory */
    bool shares_pages; /* registered host memory: its first and last page may hold other data */
    time_place to, from;
    uint64_t width, height; /* bytes of a row; rows of a plane */
    uint64_t depth;         /* planes; 0 is 1 */
    double peer_gbs;        /* of a copy between devices: the rate of the way between them; else 0 */
    int value;              /* of a memset */
    uint8_t element;        /* its bytes: 1, 2 or 4; 0 is 1. `width` is a multiple of it */
} time_copy;

/* Returns the number of rows of all planes, and the address of one of them. */
static inline uint64_t time_rows(const time_copy *c) { return c->height * (c->depth > 1 ? c->depth : 1); }
static inline uint64_t time_row(const time_copy *c, const time_place *at, uint64_t row) {
    if (c->depth <= 1) return at->address + row * at->pitch;
    return at->address + row / c->height * at->slice + row % c->height * at->pitch;
}

typedef struct {
    enum time_kind kind;
    uint32_t stream;
    const char *host_file; /* NULL: unknown */
    int host_line;
    const char *library;      /* of a launch by a library: the function that the program called, else NULL */
    const void *library_site; /* the program's call; NULL: unknown */
    bool in_graph;            /* a node of a graph; `stream` may be a stream of time_submit_graph's own */
    uint32_t
        graph_stream;   /* the stream of the graph's launch, or of the launch by the host whose kernels launched it */
    const char *parent; /* the kernel that launched it, or NULL: the host did; its host line is then a line of that */
    union {
        exec_launch launch; /* LAUNCH; params: malloc'd; time_submit takes ownership */
        time_copy copy;     /* COPY, MEMSET; of MIGRATE the direction, `to` and width */
        time_event *event;  /* EVENT, WAIT_EVENT */
        struct {
            /* A function of the program, called once at its turn in the stream; dead: a fault has stopped the device.
             * It may charge work to itself but may not submit or wait. */
            void (*call)(void *argument, bool dead);
            void *argument;
        } host;          /* HOST_CALL */
        double pause_ns; /* PAUSE: the device's own time between the nodes of a graph */
    } is;
} time_command;

/* Returns the bytes of a copy or memset, 0 for other commands. */
uint64_t time_bytes(const time_command *c);

enum { TIME_LEGACY_STREAM = 0 }; /* of the first device */

/* The devices of a machine: time_device_new makes the first, time_add_card each further one and uses it. A new stream
 * belongs to the one in use; so do waits for all work, faults and the legacy default stream. */
enum { TIME_CARDS = 16 };
void time_add_card(exec_device *exec, uint32_t number);
void time_use_card(uint32_t number);
uint32_t time_cards(void);
uint32_t time_card_of(uint32_t stream);
uint32_t time_legacy(void);
bool time_is_legacy(uint32_t stream); /* of any device */

uint32_t time_stream_new(bool blocking); /* blocking: ordered with the legacy default stream */
bool time_stream_blocking(uint32_t stream);
void time_stream_priority(uint32_t stream, int priority); /* lower numbers first, where two commands could start */
void time_stream_end(uint32_t stream);                    /* lets the queued work run, then frees the stream's number */

time_event *time_event_new(void);
void time_event_end(time_event *e);
bool time_event_recorded(const time_event *e);
bool time_event_done(const time_event *e);    /* also true if never recorded */
bool time_event_reached(const time_event *e); /* the same, for a host function: it is no news to the host's thread */
double time_event_ns(const time_event *e);    /* the time of the record. Requires time_event_done */

/* A point in a stream, behind all work submitted to it so far. */
typedef struct {
    uint32_t stream;
    uint64_t count;
} time_point;
time_point time_point_now(uint32_t stream);
bool time_point_passed(time_point p);
/* Tells listeners that all later work of the stream comes after p, since it reuses memory that was freed at p. Does not
 * wait. */
void time_point_joins(time_point p, uint32_t stream);

/* Queues a command. Charges the host for the call and, with pageable memory, for the staging. */
void time_submit(const time_command *c);

/* Lets the device begin what the host submits to it at the end of the next ns nanoseconds, or when the host waits. */
void time_hold(double ns);

/* A node of a graph: a command, the lane in which it runs (0 is the launch's stream), and the earlier nodes, by index,
 * that it waits for beside the one before it in its lane. */
typedef struct {
    time_command command;
    uint32_t lane;
    const uint32_t *after;
    uint32_t nafter;
} time_graph_node;

/* Queues the nodes of a graph, each behind the nodes that it waits for, as one command of the stream. The host's cost
 * is the caller's. *last: the end of the last launch of the same graph, which this one waits for; set to its own end.
 */
void time_submit_graph(const time_graph_node *nodes, uint32_t n, uint32_t lanes, uint32_t stream, time_point *last);

double time_host_ns(void);                         /* returns the host's clock, or a running host function's */
void time_charge(enum time_doing what, double ns); /* advances the host's clock */
void time_catch_up(void);                          /* runs the device up to the host's clock */
bool time_in_host_function(void);
bool time_stream_idle(uint32_t stream);
bool time_all_idle(void);
void time_wait_stream(uint32_t stream);
void time_wait_all(void);
void time_wait_event(time_event *e);
/* Waits for the stream's earlier work, at no cost if there is none, as a synchronous copy from pageable memory does. */
void time_wait_before(uint32_t stream);

/* Returns the fault that stopped the device, or NULL. After a fault, commands complete without any effect. */
const exec_fault *time_fault(void);
void time_forget_fault(void); /* revives the device. Requires that it is idle */

/* --- activity.c --------------------------------------------------------------------------------------------- */

typedef struct time_activity time_activity; /* of a device */
time_activity *time_activity_new(void);
void time_activity_use(time_activity *a);

/* These two enclose an API call, or declared work; the host's activity in between belongs to it. The end sends an event
 * for the call. Host functions run inside other calls and are not enclosed. */
void time_activity_call(time_site site, enum simgpu_class what);
void time_activity_call_end(void);
double time_activity_call_ns(void); /* returns the start of the call in progress */

void time_activity_call_bytes(uint64_t bytes); /* sets the bytes of the call in progress */
void time_activity_call_syncs(void); /* marks it as one that waits for the device, even if the device is idle */

void time_activity_host(enum time_doing what, double start_ns, double end_ns);

/* Logs a command with a known end. call_ns: start of its host call; arrive_ns: its arrival at the device; work_ns: end
 * of the launch's own time. */
void time_activity_device(const time_command *c, double call_ns, double arrive_ns, double start_ns, double work_ns,
                          double end_ns);

/* Count allocated and freed bytes: device memory of cudaMalloc and of the pool, the pool's memory in use, page-locked
 * host memory. */
void time_activity_alloc(enum simgpu_memory what, uint64_t bytes);
void time_activity_free(enum simgpu_memory what, uint64_t bytes);
void time_activity_staged(uint64_t bytes);

/* Ends a stretch, sends its gaps and totals, and begins a new one. */
void time_activity_stretch(void);
void time_activity_mark(const char *name); /* ends a stretch and names the next one */

/* --- events.c ----------------------------------------------------------------------------------------------- */

/* Adds a listener to events (../include/simgpu_event.h). Returns 0, or -1 if there are 8 already. */
int time_events_listen(simgpu_listener hear, void *context);
void time_events_stop(simgpu_listener hear, void *context);
void time_events_device(uint32_t number); /* the number that events carry from here on */
bool time_events_on(void);                /* returns whether there is a listener */

typedef struct time_event_slot time_event_slot;
time_event_slot *time_events_reserve(void); /* returns the next slot in the order of events, to be filled later */

/* Fills the slot, or the next one if it is NULL, with a copy of the event, and sends all events that are due. */
void time_events_send(time_event_slot *slot, const struct simgpu_event *event);
void time_events_drop(time_event_slot *slot); /* releases the slot without an event */

/* The start of a command's call, its arrival at the device, its start there. */
typedef struct {
    double called, arrive, start;
} time_moments;
void time_events_launch(time_event_slot *slot, const time_command *c, const exec_result *r, const time_estimate *e,
                        const time_moments *m);
/* Sends the event of a copy (with its highest possible rate, gbs_cap GB/s), a fill or a host function. */
void time_events_command(time_event_slot *slot, const time_command *c, const time_moments *m, double end_ns,
                         double gbs_cap);
/* c: the launch or prefetch that moves the pages; NULL if the host's touch does. */
void time_events_migration(const struct simgpu_migration *m, const time_command *c, double start_ns, double end_ns);
void time_events_range(const struct simgpu_range *r, double start_ns, double end_ns);
void time_events_finding(const struct simgpu_finding *f);
void time_events_refusal(const struct simgpu_refusal *r, const char *file, int line); /* file: NULL if unknown */

static inline uint64_t whole_ns(double ns) { return (uint64_t)(ns + 0.5); }

/* --- report.c, trace.c: two listeners to events --------------------------------------------------------------- */

int time_report_to(const char *path); /* opens the report; NULL closes it. Returns 0, or -1 with errno set */
int time_trace_to(const char *path);  /* likewise */

#endif

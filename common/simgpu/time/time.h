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

/* The profile named by the environment's PROFILE, or h200; read at the first call. A file that is missing or wrong
 * ends the program with a message (exit 2): no time would be true. */
const time_profile *time_profile_get(void);

/* --- model.c ------------------------------------------------------------------------------------------------ */

enum time_term { TERM_LAUNCH, TERM_ISSUE, TERM_LSU, TERM_L2_READ, TERM_L2_WRITE, TERM_DRAM, TERM_LATENCY, TERMS };
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
            bool pageable; /* the host's side */
            time_place to, from;
            uint64_t width, height;
            int value; /* TIME_MEMSET */
        };
        time_event *event;
        struct {
            void (*call)(void *);
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

/* Queues a command. Charges the host the call's price and, for pageable memory, the staging. */
void time_submit(const time_command *c);

double time_host_ns(void);
void time_charge(double ns); /* the host works */
void time_catch_up(void);    /* runs what the device has begun by the host's present */
bool time_stream_idle(uint32_t stream);
bool time_all_idle(void);
void time_wait_stream(uint32_t stream);
void time_wait_all(void);
void time_wait_event(time_event *e);

/* The fault that stopped the device, or NULL. From then on commands complete without doing anything. */
const exec_fault *time_fault(void);

/* --- report.c ----------------------------------------------------------------------------------------------- */

typedef struct report_slot report_slot;

int report_to(const char *path); /* NULL closes; 0, or -1 with errno set */
bool report_on(void);
report_slot *report_reserve(void); /* the next line of the report, still empty; lines appear in this order */
void report_launch(report_slot *s, const time_command *c, const exec_result *r, const time_estimate *e,
                   double start_ns);
void report_transfer(report_slot *s, const time_command *c, double start_ns, double duration_ns, double gbs_cap);
void report_mark(const char *name);

#endif

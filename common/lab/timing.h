/* timing.h — times of a piece of work that can be trusted. The same calls in both lanes.
 *
 *     lab_work work = {program, prepare, verify, context, &message, sizeof message};
 *     lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 2, 9, true}, &work);
 *     if (t.error || t.refused[0]) ...                    it failed, or its time would be a lie: refused says why
 *     printf("%s, %.0f GB/s\n", lab_us(t.median), lab_gbs(bytes, t.median));
 *
 * A time is the middle of several runs, after some that do not count, with the interval that holds the true middle.
 * Two programs are compared by running them in turn. A time below a named floor is rejected. handouts/how-we-time.md
 * gives the reasons.
 *
 * In the sim lane the clock is virtual and has no noise: one run. It has no warm-up either: SimGPU gives the SMs the
 * kernels' code before it (simgpuWarmCode).
 */
#ifndef LAB_TIMING_H
#define LAB_TIMING_H

#include "player.h"
#include "rows.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- one program ------------------------------------------------------------------------------ */

/* One message, played to one program, as often as a timer asks. */
typedef struct {
    lab_program *program;
    void (*prepare)(void *context); /* untimed, before each run: fresh data, poisoned output. May be NULL */
    void (*verify)(void *context);  /* untimed, after each run. May be NULL */
    void *context;
    const void *message; /* timed, up to the end of all that it starts; read after prepare */
    size_t size;
    void *reply; /* NULL; or where the reply goes, before verify */
    size_t reply_size;
    double (*took)(void *context); /* NULL; or the microseconds of the last run by a clock of its own, where only a part
                                      of the run counts. Asked after verify */
} lab_work;

/* The host's clock runs for as long as a caller waits, from the call until the device is idle. The device's: from event
 * to event on stream 0. Work on a stream that these events do not wait for would cost nothing by it, so its time is
 * refused. */
typedef enum { LAB_HOST_CLOCK, LAB_DEVICE_CLOCK } lab_clock;

typedef struct {
    lab_clock clock;
    int warmup, repetitions; /* runs that do not count, and runs that do: 9, 15, 31 or 63 make a narrow interval */
    bool flush;              /* fill L2 with other data before each run */
} lab_timer;

/* The middle of some samples. The interval holds the true median with 95.7 % or more, whatever the noise looks like; of
 * fewer than nine samples it is the whole range. */
typedef struct {
    double median, lo, hi;
} lab_middle;
lab_middle lab_middle_of(double *samples, int n); /* n <= 255; sorts them */

typedef struct {
    double median, lo, hi; /* microseconds, as in lab_middle; 0 when there is no time */
    int repetitions;
    cudaError_t error; /* of the work itself */
    char refused[192]; /* why the time would be a lie, and what to do; "" when it is none */
} lab_time;
lab_time lab_time_work(lab_timer how, const lab_work *work);

/* Returns the median of a work of ours, which is known to be right; exits with a message if it fails. */
double lab_time_ours(lab_timer how, const lab_work *work);

double lab_now(void); /* ns of this lane's host clock, for all else; wait for the device before you read it */

/* --- two programs ----------------------------------------------------------------------------- */

/* Played in turn: a round is a b b a, so that a drift of the machine, and what one run leaves in the caches for the
 * next, reaches both alike. ratio = time of a / time of b, round by round. NAN when one of them failed, or was refused
 * because its work went on for longer than the other one's when the clock had stopped.
 * The sim lane's one round is a b. */
typedef struct {
    double ratio, lo, hi;
    double a, b; /* medians, microseconds; 0 when there is no ratio */
    int rounds;
    cudaError_t error; /* of the one that failed */
    char refused[192]; /* as in lab_time */
    bool first;        /* it was a that failed or was refused */
} lab_duel;
lab_duel lab_time_duel(lab_timer how, const lab_work *a, const lab_work *b, int rounds /* 3, or 9, 15, 31, 63 */);
const char *lab_untimed(const lab_duel *d); /* why there is no ratio */

/* --- what a time means ------------------------------------------------------------------------ */

/* The least time that the work can take, and of what: {"the copy", 11.9}. */
typedef struct {
    const char *name;
    double us;
} lab_floor;

/* A number that no student's program has a part in, as the time of the starter; `name` is its own. The expression is
 * not evaluated if an earlier run with the same seed has left it in the file of --others (others.c). So it may do
 * nothing else that counts, but draw seeds. The sim lane's alone: a card is measured now. */
#define LAB_OTHER(name, expression) (lab_other_known(name) ? lab_other_value() : lab_other_new(expression))
bool lab_other_known(const char *name);
double lab_other_value(void);
double lab_other_new(double value);

double lab_gbs(double bytes, double us);      /* throughput: 10^9 bytes a second; 0 for no time */
double lab_share(double us, lab_floor floor); /* of the ceiling: 1 is as fast as can be; 0 for no time */
const char *lab_us(double us);                /* "5.13 ms", "12.4 us"; the last eight answers stay readable */

/* Returns whether the work can take this time. A tenth below the floor is left for the noise of both measurements. If
 * not, the row fails and names the floor. */
bool lab_possible(lab_verdict *v, double us, lab_floor floor);

/* Gpu lane: the row's value is the student's share of the reference's gain over the starter, on a logarithmic scale: 0
 * is as slow as the starter, 1 as fast as the reference. All are timed in turn; a close call is timed again, longer.
 * The figures `time` and the floor's name hold yours and the floor's microseconds. */
void lab_grade_gain(lab_verdict *v, lab_timer how, const lab_work *start, const lab_work *reference,
                    const lab_work *you, lab_floor floor);

#ifdef __cplusplus
}
#endif
#endif

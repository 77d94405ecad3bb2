/* machine.h — the judge's view of the machine: its ceilings, its data sheet, and the two pictures.
 *
 * It measures by the ladder's rung `machine`, on a device of its own; nothing of a student's program can change that.
 */
#ifndef LAB0_MACHINE_H
#define LAB0_MACHINE_H

#include "lab.h"
#include "messages.h"

#include <stdio.h>

/* Rates in 10^9 a second, times in microseconds. */
struct machine {
    double up, down, pageable_up, pageable_down; /* the link: to the card and back */
    double dram_read, dram_copy, l2, shared;     /* bytes; a copy's are those read and those written */
    double fp32;                                 /* operations */
    double launch_us;                            /* to hand one more kernel to a busy card */
    double wait_us;                              /* to start an empty kernel and wait for its end */
    double sync_us;                              /* to wait for nothing */
    double one_flop_us;                          /* to add two numbers, and wait */
};

/* --- measuring (machine.c) ----------------------------------------------------------------------- */

/* The rung, ready to work, and the room that its works have. */
struct bench_bed {
    lab_program *program;
    struct lab0_message message; /* what lab_time_work plays; piece and amount change */
    size_t device_bytes, host_bytes;
    int sms;
};

struct bench_bed bed_new(void);
void bed_free(struct bench_bed *bed);

/* Returns the microseconds from the call until the host has waited for the work. Ends the program if a kernel
 * fails. */
double bed_time(struct bench_bed *bed, enum lab0_piece piece, long amount);

/* Measures each ceiling. A rate is the slope between two amounts of one work, which cancels their common part (the
 * call, the start, the wait). That part is measured by itself, as wait_us. */
struct machine bed_measure(struct bench_bed *bed);

struct sheet this_sheet(void); /* of the current device */

/* A kernel on the drawn picture: the machine says how long it took, the student's functions what it had to do. */
struct spot {
    const char *name;
    struct work work;
    double us;
    double nudge; /* of its label, up or down: two kernels for one work stand close together */
};
enum { SPOTS = 5, SPOT_FLOATS = 1 << 25, SPOT_SMALL = 64, SPOT_LARGE = 512 };

/* Runs SAXPY on SPOT_FLOATS, one addition, and matmul of SPOT_SMALL and twice of SPOT_LARGE (simple, in tiles). Fills
 * in all but the work. */
void bed_spots(struct bench_bed *bed, struct spot spots[SPOTS]);

/* --- pictures (roofline.c) ------------------------------------------------------------------------ */

/* A work on the picture in characters. */
struct point {
    char mark;
    const char *name;
    struct work work;
};

void print_machine(const struct machine *m);
void print_roofline(const struct machine *m, const struct point *points, int count);
void write_roofline(FILE *f, const struct machine *m, const struct spot spots[SPOTS]);

#endif

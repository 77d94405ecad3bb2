/* lab_internal.h — declarations that only the files of common/lab share. */
#ifndef LAB_INTERNAL_H
#define LAB_INTERNAL_H

#include "lab.h"

#include <stdio.h>

typedef struct {
    char name[32], text[160];
} lab_note_line;

typedef struct {
    char name[64], unit[24];
    double value;
} lab_figure_line;

/* A row of the blue bar: as high in each cell as the engine was busy there. */
enum { LAB_BARS = 3, LAB_BAR_CELLS = 60 };
typedef struct {
    char name[16], cells[LAB_BAR_CELLS * 3 + 1], what[48];
} lab_bar;

/* One lab a process, so one state. It fills whole pages, which lab_lock can close. */
typedef struct __attribute__((aligned(4096))) {
    const lab_spec *spec;
    lab_options options;
    uint64_t seed, seeds;  /* --seed; how many lab_fresh_seed has given out */
    char program[4096];    /* argv[0] */
    char record[4096];     /* the record's path, or "" */
    lab_verdict *verdicts; /* of all rows of the table, in its order */
    int nverdicts;
    lab_note_line notes[8];
    int nnotes;
    lab_figure_line figures[128];
    int nfigures;
    lab_bar bars[LAB_BARS]; /* up, kernels, down; cells "": not shown */
    bool done;              /* lab_end or another proper end was reached */
    bool ended;             /* lab_end: a record and a card are to be written */
    int status;             /* of the process */
    size_t hidden;          /* bytes of the vault that lab_hide has given out */
    _Alignas(16) char vault[1 << 18];
} lab_state;
extern lab_state lab;

/* rows.c */
void lab_rows_begin(void);            /* all open */
void lab_rows_end(void);              /* gates and points */
bool lab_shown(const lab_verdict *v); /* is it a row of this lane? */
void lab_rows_print(FILE *f, const lab_spec *spec);
void lab_tsv(FILE *f, const char *text); /* one field: tab, newline and backslash escaped */

/* card.c */
void lab_record_begin(const char *path);
void lab_card_print(FILE *f);
void lab_card_end(void); /* at the very end: the record and the card, if lab_end was reached */
void lab_record_write(FILE *f);

/* figures.c */
void lab_figures_write(FILE *f);

/* data.c */
uint64_t lab_spread(uint64_t x); /* mixes the bits of x; can be undone */

/* bar.c: fills in the rows from begin to end (ns; end > begin), and each one's share of that time in %; prints those
 * that are shown. */
void lab_draw_bars(lab_bar bars[LAB_BARS], double share[LAB_BARS], const lab_usage *u, double begin, double end,
                   enum lab_busy how);
void lab_print_bars(FILE *f, const lab_bar bars[LAB_BARS]);

/* source.c: prints the open source file with the counters of the lines that the usage names `file`, from the first
 * function that cost something on. */
void lab_print_source(FILE *f, FILE *source, const char *file, const lab_usage *u);

/* report.c: keeps an event of the stretch, and adds up what it counts. */
void lab_take(lab_usage *u, const struct simgpu_event *e);
void lab_hear(const struct simgpu_event *e, void *none); /* SimGPU's listener: takes it into the present stretch */
#define LAB_COUNT_END "end"                              /* the mark behind a stretch */
int lab_read_ncu(FILE *f, lab_usage *u, char *why, size_t why_size); /* ncu.c: of ncu's CSV */
bool lab_is_source(const char *file);                                /* one of the student's files, not a header */

/* link.c: what the PCIe link of the card at this address can carry one way, in GB/s, by nvidia-smi or else the files in
 * `sysfs`; 0 where neither says. */
double lab_pcie_gbs(const char *bus_id, const char *sysfs);

/* others.c: --others: what an earlier run has left in the file, and at the end what it did not know. */
void lab_others_begin(const char *path);
void lab_others_end(void);

/* lab.c: what lab_stage named last. */
const char *lab_stage_text(void);

/* endless.c: ends a program whose host code does not end. `play`: student code begins, or has ended; `own`: it runs
 * itself from here on, or does not (a call, a question to the judge); `call`: it begins this call. */
void lab_endless_begin(void);
void lab_endless_play(bool begins);
void lab_endless_own(bool runs);
void lab_endless_call(const lab_call *c);

/* lane.c: listens to SimGPU from here on; nothing in the gpu lane. */
void lab_hear_simgpu(void);
void lab_limit_launches(void); /* sim lane: a kernel without an end is stopped in seconds */
const char *lab_say_fault(const struct simgpu_fault *f, enum simgpu_part part, char *text, size_t size);
void lab_flush_l2(void);
void lab_warm_code(void);        /* sim lane: SMs have all kernels' code, as behind a warm-up; gpu lane: nothing */
void lab_hold_device(void);      /* gpu lane: stream 0 has enough to do until the host has queued what is timed */
int lab_new_device(void);        /* sim lane: a fresh virtual card, and its number; gpu lane: 0 */
void lab_use_device(int device); /* the calls of this process go to that one from here on */

/* calls.c: what --wraps and --calls print. */
void lab_print_wraps(FILE *f);
void lab_print_calls(FILE *f);

/* player.c: the name of entry point i, NULL behind the last one. A rung of the ladder has more of them. */
const char *lab_entry_name(int i, bool rung);

/* player.c: lab_play in three parts, so that a clock can run around the middle one. `entry` is what run takes. */
void lab_play_begin(lab_program *program, const void *message, size_t size, lab_entry ***entry);
void lab_play_run(lab_entry **entry);
void lab_play_end(void *reply, size_t size);

#endif

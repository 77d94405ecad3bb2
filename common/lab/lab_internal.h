/* lab_internal.h — what the files of common/lab share with each other and with nobody else. */
#ifndef LAB_INTERNAL_H
#define LAB_INTERNAL_H

#include "lab.h"

#include <stdio.h>

typedef enum { LAB_OPEN, LAB_PASS, LAB_PART, LAB_FAIL, LAB_NA } lab_status;

/* A row's result while the harness runs: texts are empty until given. */
typedef struct {
    const lab_row *row;
    lab_status status;
    bool graded, gated; /* graded: has a value. gated: earns nothing because its gate is not full */
    bool unmeasured;    /* no verdict of its own: an earlier step failed, or the time is none of this work */
    double value, points;
    char shown[64], want[160], where[128], why[640], next[256]; /* next, hint: in place of the row's own */
    const char *hint;
    char code[256]; /* the source line behind `where`, if it could be read */
} lab_result;

typedef struct {
    char name[32], text[160];
} lab_note_line;

/* One lab a process, so one state. It fills whole pages, which lab_lock can close. */
typedef struct __attribute__((aligned(4096))) {
    const lab_spec *spec;
    lab_options options;
    uint64_t seed, seeds; /* --seed; how many lab_fresh_seed has given out */
    char program[4096];   /* argv[0] */
    char record[4096];    /* the record's path, or "" */
    lab_result *results;
    int nresults;
    lab_note_line notes[8];
    int nnotes;
    char bar[256]; /* the blue bar, or "" */
    bool done;     /* lab_end or another proper end was reached */
    bool scored;   /* lab_end was reached: the rows have their verdicts */
    size_t hidden; /* bytes of the vault that lab_hide has given out */
    _Alignas(16) char vault[1 << 16];
} lab_state;
extern lab_state lab;

/* rows.c */
void lab_rows_begin(void); /* the rows of this lane, all open */
void lab_rows_print(FILE *f, const lab_spec *spec);
lab_result *lab_find(const char *id);
void lab_text(char *to, size_t size, const char *fmt, ...) LAB_PRINTF(3, 4);
void lab_tsv(FILE *f, const char *text); /* one field: tab, newline and backslash escaped */

/* card.c */
void lab_record_begin(const char *path);
void lab_card_print(FILE *f);
void lab_record_write(FILE *f);
void lab_record_end(void); /* The rows and the score into the record; nothing where there are none. */

/* data.c */
uint64_t lab_spread(uint64_t x); /* mixes the bits of x; can be undone */

/* report.c: keeps an event of the stretch, and adds up what it counts. */
void lab_take(lab_usage *u, const struct simgpu_event *e);
void lab_hear(const struct simgpu_event *e, void *none); /* SimGPU's listener: takes it into the present stretch */
#define LAB_COUNT_END "end"                              /* the mark behind a stretch */
int lab_read_ncu(FILE *f, lab_usage *u, char *why, size_t why_size); /* ncu.c: of ncu's CSV */
bool lab_is_source(const char *file);                                /* one of the student's files, not a header */

/* link.c: what the PCIe link of the card at this address can carry one way, in GB/s, by nvidia-smi or else the files in
 * `sysfs`; 0 where neither says. */
double lab_pcie_gbs(const char *bus_id, const char *sysfs);

/* lane.c: listens to SimGPU from here on; nothing in the gpu lane. */
void lab_listen(void);
const char *lab_say_fault(const struct simgpu_fault *f, enum simgpu_part part, char *text, size_t size);
void lab_flush_l2(void);

#endif

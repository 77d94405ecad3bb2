/* lab.h — what every lab of the course links: timing, data, comparison, counters, rows and the score card.
 *
 * The idea: a lab's harness owns one table of rows. A row is one thing that a student can get right: its sentence, its
 * full and zero marks, its points. The harness runs the student's code, hands a value to each row, and ends. The card,
 * the record that `make check` reads, the names of its tests and the hints all come from that table, so they cannot
 * disagree.
 *
 *     lab_options opt = lab_begin(&spec, argc, argv);     options, record, report; exits for --rows
 *     ... play the programs; fill in a lab_verdict for each row ...
 *     return lab_end();                                   prints the card, writes the record
 *
 * Two lanes share this interface. In the sim lane the clock is SimGPU's virtual one and the counters come from its
 * report; in the gpu lane the clock is the host's and the counters come from Nsight Compute, when it is there and
 * allowed. Only lane.c knows which lane it is compiled for.
 *
 * A program that ends before lab_end has no `score` line in its record, and without that line nothing is passed.
 * Times are a header of their own, timing.h. Errors of the harness itself end the program with one message and
 * status 2.
 */
#ifndef LAB_H
#define LAB_H

#include "../simgpu/include/simgpu_event.h"
#include "calls.h"
#include "player.h"
#include "rows.h"
#include "timing.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *lab;    /* "lab3" */
    const char *title;  /* "transpose 2048x2048 fp32" */
    const char *source; /* "transpose.cu": the file that students edit */
    const lab_row *rows;
    int nrows;
    const char *after; /* what to do once every row is full: "'the last tenth' in the handout" */
} lab_spec;

typedef struct {
    bool lines;    /* --lines: the student's source with counters beside each line, instead of a card */
    bool solution; /* --solution: the program under test is the reference itself */
    bool counted;  /* --counted: run the work once and exit; how the program calls itself under ncu */
} lab_options;

/* First thing in main. Reads the options, opens the record, names the lane. */
lab_options lab_begin(const lab_spec *spec, int argc, char **argv);
/* Defined by a lab's tests/labN/bench.c, in place of the harness: --bench prints the lab's table of kernels by size,
 * --ladder runs each kernel of that table once, for a profiler to count. A lab without that file has neither. */
void lab_bench(void);
void lab_ladder(void);
/* A seed for one run's data, from --seed (a fixed one by default, so that a student's card is the same twice) and the
 * number of seeds given out before. Knowing some of them does not help to guess the others. */
uint64_t lab_fresh_seed(void);

/* Memory that student code can neither read nor write: zeros, never freed, 256 KiB in all. It holds the data
 * that decide a grade: rows, seeds, the harness's notes on its runs. It is locked from lab_lock to lab_unlock;
 * lab_time_work locks it around the work, a harness that calls student code elsewhere does so itself. An alarm and a
 * fence against stray pointers, not a wall: it is all one process. */
void *lab_hide(size_t size);
void lab_lock(void);
void lab_unlock(void);
/* Off: nothing is locked, until it is on again. Each crossing of the lock costs a system call, up to 10 us on a virtual
 * machine, which a card's time of a program that asks the judge much would show. Only for a program that has been
 * judged behind the lock before. Requires that no program plays. */
void lab_fence(bool on);
/* Names the next stage, for the message if it crashes: "your transpose on 61x67". */
void lab_stage(const char *fmt, ...) LAB_PRINTF(1, 2);

/* A line under the rows, also in the record: "cublasSgeam" "41.5 us". */
void lab_note(const char *name, const char *fmt, ...) LAB_PRINTF(2, 3);
/* A measured number under a name of its own, in the record only: what a question of the lab's questions.tsv may be
 * about (make predictN). Each row that lab_grade gave a value has one already, of the row's id and unit; the blue bar
 * gives `busy`, in %. A name comes once: the later value stays. A value that is not finite is left out. */
void lab_figure(const char *name, double value, const char *unit);
/* Prints the card and returns main's exit status (0: it ran, whatever the score). The record gets its rows and its
 * score line when the program has left main and every exit handler has run. */
int lab_end(void);
int lab_leave(void); /* a proper end of a run that has no card: --lines, --bench, --ladder, --counted */

/* --- errors (lab.c) --------------------------------------------------------------------------- */

/* Ends the program with "lab3: <message>", status 2. */
void lab_die(const char *fmt, ...) LAB_PRINTF(1, 2)
#if defined(__GNUC__) || defined(__clang__)
    __attribute__((noreturn))
#endif
    ;
void lab_check(cudaError_t e, const char *call, const char *file, int line);
/* For the harness's own CUDA calls; the student's errors are rows, not deaths. */
#define LAB_CUDA(call) lab_check((call), #call, __FILE__, __LINE__)

/* --- data, poison, comparison (data.c) -------------------------------------------------------- */

/* Returns the value of element `index` of an array under a seed: finite, never zero, different for each of 2^31 indices
 * and in no order. A wrong output therefore shows which element it holds. */
float lab_data(uint64_t seed, uint32_t index);
/* Returns the index of this value, if it is below count; -1 when the value belongs to no element. */
int64_t lab_data_index(uint64_t seed, float value, size_t count);
void lab_fill(uint64_t seed, float *host, size_t count);
bool lab_is_poison(float v); /* the 0xFF bytes that outputs hold before each run: a NaN no computation gives */
bool lab_is_fresh(float v);  /* the 0xCD bytes that SimGPU fills fresh memory with, shared memory too */

/* Device memory for `count` floats. In the gpu lane both ends carry a band of poison, which lab_guards_broken reads
 * back: 0, or -1/+1 when a kernel wrote before/behind the array. SimGPU checks every access itself and needs no band.
 */
float *lab_alloc(size_t count);
void lab_free(float *device);
int lab_guards_broken(const float *device, size_t count);
void lab_poison(float *device, size_t count);

typedef double (*lab_oracle)(size_t index, void *context); /* the right value of out[index], in double precision */
enum { LAB_DIFFS = 4 };
typedef struct {
    size_t wrong;            /* elements that differ */
    size_t poison;           /* of those, never written */
    size_t first[LAB_DIFFS]; /* the first of them */
    double want[LAB_DIFFS];
    float got[LAB_DIFFS];
} lab_diff;
/* Compares got[0..count) with the oracle: |got - want| <= relative * |want|, and non-finite values match nothing but
 * themselves. Call it after the student's code has run: the expected values do not exist before. True when all agree.
 */
bool lab_compare(const float *got, size_t count, lab_oracle oracle, void *context, double relative, lab_diff *diff);

/* --- counters (report.c, ncu.c, lines.c) ------------------------------------------------------ */

/* SimGPU's counters, as sums. A card's are the same ones as far as ncu has them. */
typedef struct {
#define COUNTER(field, ncu, what) double field;
#include "../simgpu/include/simgpu_counters.def"
#undef COUNTER
} lab_counters;

typedef struct {
    char file[256]; /* as the compiler wrote it */
    int line;
    double launches, copies; /* kernels that this host line started; copies and fills */
    lab_counters c;          /* of the device code of this line */
} lab_line;

/* The work of the device in one stretch of the program. */
typedef struct {
    int launches, copies; /* kernels; copies and fills */
    lab_counters total;
    lab_line *lines;
    int nlines;
    /* The whole stretch in the order of the host's calls, but for calls that only submitted. Their strings stay; the
     * launches' own lists of lines are left out. From ncu: launches with counters, and nothing else about them. */
    struct simgpu_event *events;
    int nevents;
} lab_usage;

/* The launch that took longest, the first thing that stopped a kernel, the hazard that the checks found
 * (lab_check_hazards): a skipped barrier, since races follow from it; else that of lab_order_finding; else device
 * memory that was never written, which may be the counter that decides who reads; else the first one. No barrier that
 * threads which have ended never reach, which is allowed. lab_finding_of: the first of this kind. NULL: none, or the
 * gpu lane. They live as long as u. */
const struct simgpu_launch *lab_slowest(const lab_usage *u);
const struct simgpu_fault *lab_fault(const lab_usage *u);
const struct simgpu_finding *lab_finding(const lab_usage *u);
/* The first about two uses of memory by host and streams that nothing orders: a kernel may read unwritten memory
 * because of it. NULL: none. */
const struct simgpu_finding *lab_order_finding(const lab_usage *u);
const struct simgpu_finding *lab_finding_of(const lab_usage *u, enum simgpu_finding_kind kind);
/* The first call that returned this error by itself, as its event, which has the place; NULL: none, or the gpu lane. */
const struct simgpu_event *lab_refusal(const lab_usage *u, cudaError_t error);
/* Sim lane: all counters of a stretch as figures, "transpose.ld_sectors" and so on for the name `transpose`, and its
 * `.launches` and `.copies`. Nothing in the gpu lane, where some are not known. */
void lab_figures_of(const char *name, const lab_usage *u);

/* In words, in the caller's text, which is returned: simgpu_event.h has the parts. "; the slowest kernel: LSU: ..." is
 * empty where no kernel was timed, and has the kernel's name where there are others. */
const char *lab_say_slowest(const lab_usage *u, char *text, size_t size);
const char *lab_say_finding(const struct simgpu_finding *f, enum simgpu_part part, char *text, size_t size);
const char *lab_say_gap(const struct simgpu_gap *g, char *text, size_t size);

/* Whether jobs have the sim lane's size: in that lane, and on a card with LAB_SIZE=sim, so that their times can be
 * compared: those of the ladders of all labs (make fidelity), and the timelines of some (make compare3). */
bool lab_small_job(void);

/* Marks a stretch. Sim lane: counters of everything between begin and end can be read after it. Gpu lane: a mark in the
 * trace, where one is written (TRACE). */
void lab_count_begin(const char *name);
void lab_count_end(void);
/* Sim lane: from here on, kernels are watched for races and for reads of unwritten memory, which takes several times
 * as long and changes no counter. Does nothing in the gpu lane, since a card does not report them. */
void lab_check_hazards(bool on);
/* From here on the checks print nothing on stderr: for a harness whose card shows what they found first. */
void lab_hazards_on_card(void);
/* Reads that stretch, to be freed. Returns 0, or -1 with the reason in `why` when there is none. */
int lab_count_read(const char *name, lab_usage *u, char *why, size_t why_size);
/* Returns a stretch that must be there, to be freed. Exits with a message without it. */
lab_usage lab_usage_of(const char *name);
/* Gpu lane: runs this program again under ncu with --counted and reads its counters. Same results as lab_count_read;
 * and -2 when that run itself went wrong. */
int lab_count_ncu(lab_usage *u, char *why, size_t why_size);
/* The same of the last stretch of that name alone, where several add up: a line to look at is one that ran there. Empty
 * where there is none. */
lab_usage lab_usage_of_last(const char *name);
void lab_usage_free(lab_usage *u);
/* Returns the line of the student's file with the largest cost, or NULL when all cost nothing. */
const lab_line *lab_worst(const lab_usage *u, double (*cost)(const lab_line *));
/* Blanks comments and text between quotes in a line of C. *inside: a comment is open, before it and after. */
void lab_keep_code(char *row, bool *inside);
/* Returns what stands behind the last slash: "transpose.cu". */
const char *lab_file_name(const char *path);
/* Places a row's blame: "transpose.cu:31", with the source line shown under the row. */
void lab_blame(lab_verdict *v, const lab_line *line);
void lab_blame_place(lab_verdict *v, const struct simgpu_place *place); /* the same; nothing if it is not known */
/* The same for the first line of the student's file whose code (no comment, no string) has this text, and not as a part
 * of a longer word: for a row whose line no counter shows. */
void lab_blame_text(lab_verdict *v, const lab_usage *u, const char *text);
/* The same where no kernel of the student's file has run; lab_blame_last: for the last such line. */
void lab_blame_code(lab_verdict *v, const char *text);
void lab_blame_last(lab_verdict *v, const char *text);
/* Like lab_blame_text, for the first of the lines that ran in a kernel, with both texts (beside: "" for any); where
 * there is none, the place stays as it is. A declaration does not run. */
void lab_blame_ran(lab_verdict *v, const lab_usage *u, const char *text, const char *beside);
/* The same for the first `return` from that line on, where no kernel of the student's file has run: what a function
 * answered. Where the text is not there, it stands for the place. */
void lab_blame_return(lab_verdict *v, const char *text);
/* Places a row's blame where a kernel was stopped, and adds the reason, if the report has one. */
void lab_blame_fault(lab_verdict *v, const lab_usage *u);
/* The same where the first call failed with this error, with the call's name and what it said. */
void lab_blame_refusal(lab_verdict *v, const lab_usage *u, cudaError_t error);
/* The same where the checks found something, without the general remedy: a row has a next step of its own. */
void lab_blame_finding(lab_verdict *v, const lab_usage *u);
/* Prints the student's source with the counters beside each line, from the first function that cost something on. */
void lab_print_lines(const lab_usage *u);
/* Returns the line where the function begins that this line is in, as far as its first column tells it; rewinds f. */
int lab_function_of(FILE *f, int line);
/* Prints a source line behind `used` columns that are printed already: number, bar, text; goes on below where the text
 * is longer than the page. */
void lab_put_source(FILE *f, int used, int number, const char *row);
/* Shows the time from begin to end (lab_now's ns) under the card: a bar as high as the SMs were busy with kernels, and,
 * where copies over the link take 1 % of the time, one for each direction. Copies on the device and fills do not count.
 * Sim lane only. LAB_RUNNING: from when a kernel's blocks run; LAB_UNDER_WAY: with its start. The figures `busy`,
 * `busy-up` and `busy-down` hold their shares. */
enum lab_busy { LAB_RUNNING, LAB_UNDER_WAY };
void lab_blue_bar(const lab_usage *u, double begin, double end, enum lab_busy how);

/* --- lane (lane.c) ---------------------------------------------------------------------------- */

int lab_lane(void);                /* LAB_SIM or LAB_GPU */
double lab_link_gbs(void);         /* what the link to the host can carry one way, by its kind; 0: not known */
const char *lab_lane_name(void);   /* "sim", "gpu" */
const char *lab_device_name(void); /* "virtual H200", "NVIDIA H200" */

#ifdef __cplusplus
}
#endif
#endif

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

#include "calls.h"
#include "player.h"
#include "rows.h"
#include "timing.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
/* What each lab's bench.c defines, in place of the harness: --bench prints the lab's table of kernels by size, --ladder
 * runs each kernel of that table once, for a profiler to count. */
void lab_bench(void);
void lab_ladder(void);
/* A seed for one run's data, from --seed (a fixed one by default, so that a student's card is the same twice) and the
 * number of seeds given out before. Who knows some of them knows none of the others. */
uint64_t lab_fresh_seed(void);

/* Memory that student code can neither read nor write: zeros, never freed, some kilobytes in all. What decides a grade
 * lives there: rows, seeds, the harness's notes on its runs. It is locked from lab_lock to lab_unlock; lab_time_work
 * locks it around the work, a harness that calls student code elsewhere does so itself. An alarm and a fence against
 * stray pointers, not a wall: it is all one process. */
void *lab_hide(size_t size);
void lab_lock(void);
void lab_unlock(void);
/* What runs next, for the message if it crashes: "your transpose on 61x67". */
void lab_stage(const char *fmt, ...) LAB_PRINTF(1, 2);

/* A line under the rows, also in the record: "cublasSgeam" "41.5 us". */
void lab_note(const char *name, const char *fmt, ...) LAB_PRINTF(2, 3);
/* Prints the card, writes the record with its score line, returns main's exit status (0: it ran, whatever the score).
 */
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

/* The value of element `index` of an array under a seed: finite, never zero, different for each of 2^31 indices and in
 * no order. A wrong output therefore tells which element it holds. */
float lab_data(uint64_t seed, uint32_t index);
/* The index whose value this is, if it is below count; -1 when the value belongs to no element. */
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

#define LAB_COUNTERS(X)                                                                                                \
    X(inst, "smsp__inst_executed.sum")                                                                                 \
    X(ld_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")                                                  \
    X(st_requests, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")                                                  \
    X(ld_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")                                                    \
    X(st_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum")                                                    \
    X(ld_bytes, "smsp__sass_data_bytes_mem_global_op_ld.sum")                                                          \
    X(atom_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum")                                                \
    X(red_sectors, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum")                                                  \
    X(st_bytes, "smsp__sass_data_bytes_mem_global_op_st.sum")                                                          \
    X(shared_ld, "smsp__inst_executed_op_shared_ld.sum")                                                               \
    X(shared_st, "smsp__inst_executed_op_shared_st.sum")                                                               \
    X(shared_ld_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum")                                    \
    X(shared_st_wavefronts, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")                                    \
    X(shared_ld_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum")                                 \
    X(shared_st_conflicts, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")                                 \
    X(branches, "smsp__sass_branch_targets.sum")                                                                       \
    X(uniform_branches, "smsp__sass_branch_targets_threads_uniform.sum")                                               \
    X(barriers, "simgpu__barriers.sum")

typedef struct {
#define LAB_FIELD(field, ncu) double field;
    LAB_COUNTERS(LAB_FIELD)
#undef LAB_FIELD
} lab_counters;

typedef struct {
    char file[256]; /* as the compiler wrote it */
    int line;
    double launches; /* started by this host line */
    lab_counters c;  /* of the device code of this line */
} lab_line;

typedef struct {
    double start, duration; /* ns of the virtual clock; of a launch, the part in which its blocks run */
} lab_span;

/* A line of SimGPU's report (common/simgpu/README.md, "Reports"): a launch, a copy, a call that waits or works, a gap.
 */
typedef struct {
    char kind[12], name[64]; /* name: of the kernel or the call; of a gap, its cause; else the kind */
    char file[256];          /* the host line; "" when it is not known */
    int line;
    double start, duration; /* ns of the virtual clock */
    double bytes;
    bool pageable; /* a copy from or to memory that is not page-locked */
} lab_event;

/* What one stretch of the program made the device do. */
typedef struct {
    int launches, copies;
    lab_counters total;
    lab_line *lines;
    int nlines;
    lab_span *spans; /* launches and copies, in order; sim lane only */
    int nspans;
    lab_event *events; /* the whole stretch, line by line; sim lane only */
    int nevents;
    char bound[32], why[160]; /* the longest launch's limit, in the words of the time model; sim lane only */
    char slowest[64];         /* its name */
    char fault[24];           /* what stopped a kernel: "illegal address", "deadlock" ...; "" when all went well */
    char fault_message[1024]; /* in SimGPU's words: the first line begins with file:line */
    char finding[1024];       /* the first thing that the checks said (lab_check_hazards), in the same form */
} lab_usage;

/* Sim lane: marks a stretch; counters of everything between begin and end can be read after it. Nothing in the gpu
 * lane. */
void lab_count_begin(const char *name);
void lab_count_end(void);
/* Sim lane: from here on, kernels are watched for races and for reads of what nobody wrote, which takes several times
 * as long and changes no counter. Nothing in the gpu lane: no card tells. */
void lab_check_hazards(bool on);
/* Reads that stretch's counters. 0; or -1 with the reason why there are none in `why`. The first call ends the
 * counting. */
int lab_count_read(const char *name, lab_usage *u, char *why, size_t why_size);
/* The same for a stretch that must be there: without its counters the program ends. To be freed as well. */
lab_usage lab_usage_of(const char *name);
/* Gpu lane: runs this program again under ncu with --counted and reads its counters. Same results as lab_count_read;
 * and -2 when that run itself went wrong. */
int lab_count_ncu(lab_usage *u, char *why, size_t why_size);
void lab_usage_free(lab_usage *u);
/* The line of the student's file with the largest cost, or NULL when all cost nothing. */
const lab_line *lab_worst(const lab_usage *u, double (*cost)(const lab_line *));
/* Places a row's blame: "transpose.cu:31", with the source line shown under the row. */
void lab_blame(lab_verdict *v, const lab_line *line);
/* The same for the first line of the student's file whose code (no comment, no string) has this text, and not as a part
 * of a longer word: for a row that no counter can place. */
void lab_blame_text(lab_verdict *v, const lab_usage *u, const char *text);
/* Places a row's blame where a kernel was stopped, and adds the reason, if the report has one. */
void lab_blame_fault(lab_verdict *v, const lab_usage *u);
/* The same where the checks found something. */
void lab_blame_finding(lab_verdict *v, const lab_usage *u);
/* Prints the student's source with the counters beside each line, from the first function that cost something on. */
void lab_print_lines(const lab_usage *u);
/* Shows the time from begin to end (lab_now's ns) under the card: a bar as high as the device was busy. Sim lane only.
 */
void lab_blue_bar(const lab_usage *u, double begin, double end);

/* --- lane (lane.c) ---------------------------------------------------------------------------- */

int lab_lane(void);                /* LAB_SIM or LAB_GPU */
double lab_link_gbs(void);         /* what the link to the host can carry one way, by its kind; 0: nobody says */
const char *lab_lane_name(void);   /* "sim", "gpu" */
const char *lab_device_name(void); /* "virtual H200", "NVIDIA H200" */

#ifdef __cplusplus
}
#endif
#endif

/* harness.c — runs and grades lab 4. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: arrays and lists of tensors of several lengths, some of them chosen by the seed, aligned and not. Each
 *      is run twice with fresh data, the means are poisoned before, and the right means are computed in double
 *      precision after (parts/job.c). In the sim lane these runs are watched for races, too.
 *   2. One long array: `mean` once more, counted and timed. Here the tree shows.
 *   3. All tensors: `means` of 2000, counted and timed. Here launches, copies and balance show.
 *   4. Beside them, on this machine and now: the untouched starter, the reference solution, and a kernel that only
 *      reads the same bytes. No mean can be had without reading, so that is the speed of light here.
 *
 * The sim lane grades counters and virtual time; the gpu lane grades the same rows, with ncu's counters if it may, and
 * times you against the reference in turn (a b b a).
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your functions.
 * What the card advises for each kind of mistake is in parts/advice.c. Rows, then the verdicts, then the run, then
 * main.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "advice.h"
#include "hazards.h"
#include "job.h"
#include "lab.h"
#include "usage.h"

#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "not measured: the kernel failed, see 'correct'";
enum { COUNTED_FLOATS = 1 << 23, COUNTED_TENSORS = 100 }; /* in the gpu lane: ncu takes milliseconds a launch */

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    CORRECT,
    ACCURACY,
    RACES,
    LOAD_SECTORS,
    SHARED,
    BARRIERS,
    DIVERGENCE,
    LAUNCHES,
    COPIES,
    VIRTUAL_ARRAY,
    VIRTUAL_TENSORS,
    TIME_ARRAY,
    TIME_TENSORS,
    LAB4_ROWS
};

// clang-format off
static const lab_row rows[LAB4_ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every mean is right, for short, long, odd, unaligned and hidden lengths",
     "", 0, 1, 1, 15, LAB_BOTH, "correct",
     "fix the line named here or under 'races'; if none is named, add up the shortest length that fails by hand", NULL},
    [ACCURACY] = {"accuracy", "worst error, in 2^-24", "no mean is off by more than 32 times 2^-24 of its value",
     "", 1, 32, 256, 5, LAB_BOTH, "accuracy",
     "find the longest row of additions into one float, and make a tree of it", "correct"},
    [RACES] = {"races", "races", "no thread reads memory that another may still be writing, or that was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put a __syncthreads, __syncwarp or __threadfence between the write and the read", NULL},
    [LOAD_SECTORS] = {"load-sectors", "array: sectors /128 B", "loads of the long array are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "load-sectors",
     "let neighbouring threads read neighbouring floats, in every turn of the loop", "correct"},
    [SHARED] = {"shared", "array: shared waves /1024", "shared memory is used for at most 3 wavefronts for each 1024 floats",
     "", 1, 3, 40, 5, LAB_BOTH, "shared",
     "build the tree once: add in a register in the loop over the tiles, and move the tree behind it; then use shuffles", "correct"},
    [BARRIERS] = {"barriers", "array: barriers /1024", "warps wait at barriers at most 4 times for each 1024 floats",
     "", 1, 4, 32, 5, LAB_BOTH, "barriers",
     "build the tree once, behind the loop over the tiles; then exchange registers by __shfl_down_sync, which needs no barrier", "correct"},
    [DIVERGENCE] = {"divergence", "array: divergence /1024", "warps part ways at branches at most 2 times for each 1024 floats",
     "", 1, 2, 16, 5, LAB_BOTH, "divergence",
     "let whole warps work or rest, not every second thread", "correct"},
    [LAUNCHES] = {"launches", "tensors: launches", "the means of all tensors take at most two kernel launches",
     "", 0, 2, 64, 10, LAB_BOTH, "launches",
     "give each tensor one block of a single launch, and choose the tensor by blockIdx.x", "correct"},
    [COPIES] = {"copies", "tensors: copies, fills", "no mean travels through the host: at most one copy or fill in a step",
     "", 0, 1, 64, 5, LAB_BOTH, "copies",
     "let the kernel write means[i] where it is wanted, on the device", "correct"},
    [VIRTUAL_ARRAY] = {"virtual-array", "array: virtual time", "virtual time of the long array is at most 1.2 times that of only reading it",
     "x reading", 2, 1.2, 6, 15, LAB_SIM, "time-array",
     "fix the rows above first; then fill the GPU with blocks, and keep several loads a thread on their way", "correct"},
    /* For such tensors an H200 takes 1.17 times reading with the reference, and the virtual card up to 1.21: the latency of a
     * part is as long as DRAM's time for all. With sums in doubles it takes 1.24. */
    [VIRTUAL_TENSORS] = {"virtual-tensors", "tensors: virtual time", "virtual time of all tensors is at most 1.25 times that of only reading them",
     "x reading", 2, 1.25, 6, 20, LAB_SIM, "time-tensors",
     "fix the rows above first; then give no block more work than the others, and let no second kernel wait for the first", "correct"},
    [TIME_ARRAY] = {"time-array", "array: time", "at least 0.95 of the reference's gain over the starter for the long array, on this card",
     "of the gain", 2, 0.95, 0.5, 15, LAB_GPU, "time-array",
     "fix the rows above first; then fill the GPU with blocks, and keep several loads a thread on their way", "correct"},
    [TIME_TENSORS] = {"time-tensors", "tensors: time", "at least 0.95 of the reference's gain over the starter for all tensors, on this card",
     "of the gain", 2, 0.95, 0.5, 20, LAB_GPU, "time-tensors",
     "fix the rows above first; then give no block more work than the others, and let no second kernel wait for the first", "correct"},
};
// clang-format on
static lab_spec spec = {"lab4", "means: 2^23 floats, 2000 tensors", "reduction.cu", rows, LAB4_ROWS, NULL};

/* --- jobs ------------------------------------------------------------------------------------- */

/* Each program is opened once, since its statics belong to one device. */
static lab_program *opened(lab_who who, const char *rung) {
    static lab_program *program[LAB_LADDER + 1];
    if (who == LAB_LADDER && strcmp(rung, "read")) return lab_open(who, rung);
    if (!program[who]) program[who] = lab_open(who, rung);
    return program[who];
}

static job *new_job(lab_program *program, const char *counted, const job_shape *shape) {
    job *j = lab_hide(sizeof *j);
    job_open(j, program, counted, shape);
    return j;
}

static job *long_array(lab_program *mine, uint64_t seed) {
    const job_shape shape = {.array = true,
                             .count = 1,
                             .length = lab_small_job() ? 1 << 23 : 1 << 24,
                             .align = JOB_ALIGNED,
                             .seed = seed + 77};
    return new_job(mine, "array", &shape);
}

static job *all_tensors(lab_program *mine, uint64_t seed) {
    const job_shape shape = {.count = SET_TENSORS, .length_of = skewed_length, .align = JOB_ALIGNED, .seed = seed + 78};
    return new_job(mine, "tensors", &shape);
}

/* --- verdict: correct ------------------------------------------------------------------------- */

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_job(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, true}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_usage u = lab_usage_if_any(j->counted), plan = lab_usage_if_any(JOB_PLAN);
        LAB_SAY(v->where, "%s", j->shape.array ? "mean" : "means");
        if (t->error) {
            if (j->shape.array)
                lab_fail(v, "mean of %d float%s: %s", j->longest, j->longest == 1 ? "" : "s",
                         cudaGetErrorName(t->error));
            else
                lab_fail(v, "means, a list of %d: %s", j->shape.count, cudaGetErrorName(t->error));
            lab_advise_on_error(v, t->error, &plan, &u, advice_on_errors);
        } else {
            lab_fail(v, "%s", j->failure);
            advise_on_output(v, j, &u);
        }
        lab_usage_free(&u);
        lab_usage_free(&plan);
    }
    return t->error == cudaSuccess;
}

/* Under these names the short runs are counted: those of `means`, and of `mean`, since a line of one is no cause of
 * what the other does wrong. All of one name add up, so a finding of any of them is there at the end. */
static const char *const checks[] = {"checks of means", "checks of mean"};

static int tiny_length(int i, uint64_t seed) {
    static const int n[] = {1, 2, 31, 32, 33, 64, 100};
    return (void)seed, n[i];
}
static int hidden_length(int i, uint64_t seed) {
    int n = 1 + (int)(job_bits(seed, (uint32_t)i) % 3000);
    return i == 11 ? 280000 + n : i % 40 == 11 ? 30000 + 7 * n : n; /* longer than a block would take at once */
}

/* Runs a job twice with one plan, so that means kept from the first call are wrong in the second. */
static bool check_job(lab_program *mine, const job_shape *shape) {
    lab_time t;
    job *j = new_job(mine, checks[shape->array], shape);
    bool alive = run_job(j, &t) && run_job(j, &t);
    job_close(j);
    return alive;
}

/* Each length finds another kind of mistake: 1 leaves all lanes but one without a float; 31 and 33 lie beside a warp;
 * 1000 and 4099 are no multiples of a block, of which the second is none of a quad; 1024 and 65536 are of whole blocks;
 * 300001 has several blocks in any grid. Every second array begins where no float4 may. The seed draws the last. */
static bool check_lengths(lab_program *mine, uint64_t seed) {
    static const int lengths[] = {1, 31, 33, 1000, 1024, 4099, 65536, 300001};
    int hidden = 70000 + (int)(seed * 2654435761u % 60007), count = 40 + (int)(seed * 40503u / 7 % 89);
    LAB_SAY(lab_verdict_of(CORRECT)->want, "arrays of 1 to 300001, hidden; lists of 1, 7, hidden, 2000");
    for (size_t i = 0; i <= sizeof lengths / sizeof *lengths; i++) {
        const job_shape shape = {.array = true,
                                 .count = 1,
                                 .length = i < sizeof lengths / sizeof *lengths ? lengths[i] : hidden,
                                 .align = i % 2 ? JOB_PACKED : JOB_ALIGNED,
                                 .seed = seed + 1000 * i};
        if (!check_job(mine, &shape)) return false;
    }
    const job_shape lists[] = {
        {.count = 1, .length = 5000, .align = JOB_ALIGNED, .seed = seed + 1},
        {.count = 7, .length_of = tiny_length, .align = JOB_PACKED, .seed = seed + 2},
        {.count = count, .length_of = hidden_length, .align = JOB_PACKED, .seed = seed + 3},
    };
    return check_job(mine, &lists[0]) && check_job(mine, &lists[1]) && check_job(mine, &lists[2]);
}

/* Additions into one float, one after the other: atomics, or the loop that loads. */
static double additions_of(const lab_line *l) { return 1e6 * l->c.atom_requests + l->c.ld_requests; }

static void grade_accuracy(lab_verdict *v, const job *j) {
    if (j->failure[0]) return lab_unmeasured(v, "not measured: see 'correct'");
    lab_grade(v, j->worst);
    if (lab_passed(v)) return;
    lab_usage u = lab_usage_if_any(j->counted);
    lab_blame(v, lab_worst(&u, additions_of));
    LAB_SAY(v->why, "a tensor of %d float%s: the mean is off by %.1e of its value", j->worst_length,
            j->worst_length == 1 ? "" : "s", j->worst * 0x1p-24);
    lab_usage_free(&u);
}

/* Fails the row for what the checks found in the short runs, even if the means came out right: this run's order of
 * warps is one of many. A race is shown beside wrong means, since it may be their cause; without one, wrong means say
 * nothing about races. */
static void grade_races(lab_verdict *v, bool alive) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card cannot find races; the sim lane can");
    bool found = false;
    for (int array = 1; array >= 0 && !found; array--) found = lab_fail_for_hazard(v, checks[array], advise_on_finding);
    if (!found) lab_pass_races(v, lab_verdict_of(CORRECT), alive, FAILED);
}

/* --- verdicts: counters ----------------------------------------------------------------------- */

/* `value` of something for each 1024 floats of the array. */
static void grade_rate(lab_verdict *v, double value, double floats, const lab_line *worst, const char *what) {
    lab_grade(v, value / floats * 1024);
    if (lab_passed(v)) return;
    lab_blame(v, worst);
    LAB_SAY(v->why, "%.0f %s to add %.0f floats", value, what, floats);
}

static void grade_array(const lab_usage *u, double floats) {
    lab_verdict *loads = lab_verdict_of(LOAD_SECTORS), *barriers = lab_verdict_of(BARRIERS);
    lab_verdict *divergence = lab_verdict_of(DIVERGENCE);
    double per_line = u->total.ld_sectors / (floats / 32);
    lab_grade(loads, per_line);
    if (per_line < 3.99) {
        lab_fail(loads, "your kernels read only a part of the array");
    } else if (!lab_passed(loads)) {
        lab_blame(loads, lab_worst(u, excess_loads));
        LAB_SAY(loads->why, "each 128 bytes cost %.1f sectors of 32 bytes where 4 would do", per_line);
    }
    grade_rate(lab_verdict_of(SHARED), u->total.shared_ld_wavefronts + u->total.shared_st_wavefronts, floats,
               lab_worst(u, wavefronts_of), "wavefronts of shared memory");
    if (lab_lane() == LAB_GPU) {
        lab_skip(barriers, "a card has no counter of barriers; the sim lane has one");
        lab_skip(divergence, "ptxas turns short branches into predicates, which no counter shows; the sim lane counts");
        return;
    }
    grade_rate(barriers, u->total.barriers, floats, lab_worst(u, lab_barriers_of), "waits of a warp at a barrier");
    grade_rate(divergence, u->total.branches - u->total.uniform_branches, floats, lab_worst(u, divergent_of),
               "branches that split a warp");
}

/* Returns the first of your lines that copied or filled. */
static void blame_copy(lab_verdict *v, const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if ((e->kind == SIMGPU_COPY || e->kind == SIMGPU_FILL) && e->at.file) return lab_blame_place(v, &e->at);
    }
}

static void grade_launches(const lab_usage *u, int tensors) {
    lab_verdict *launches = lab_verdict_of(LAUNCHES), *copies = lab_verdict_of(COPIES);
    lab_grade(launches, u->launches);
    if (!lab_passed(launches)) {
        lab_blame(launches, lab_worst(u, launches_of));
        LAB_SAY(launches->why, "%d kernels for %d tensors", u->launches, tensors);
    }
    if (lab_lane() == LAB_GPU) return lab_skip(copies, "ncu counts kernels only; the sim lane counts copies");
    lab_grade(copies, u->copies);
    if (lab_passed(copies)) return;
    blame_copy(copies, u);
    LAB_SAY(copies->why, "%d copies and fills for %d tensors; the host waits for each copy that it reads", u->copies,
            tensors);
}

/* --- verdicts: times -------------------------------------------------------------------------- */

/* Microseconds of another program on a job like this one. */
static double time_of(lab_program *program, const job_shape *shape, int repetitions) {
    job *j = new_job(program, NULL, shape);
    const double us = lab_time_ours((lab_timer){LAB_HOST_CLOCK, 1, repetitions, true}, &j->work);
    job_close(j);
    return us;
}

/* No mean can be had without reading: the floats of the job, as one array. */
static lab_floor reading_floor(const job *like, int repetitions) {
    const job_shape one = {
        .array = true, .count = 1, .length = (int)like->floats, .align = JOB_ALIGNED, .seed = like->shape.seed};
    return (lab_floor){"reading", time_of(opened(LAB_LADDER, "read"), &one, repetitions)};
}

/* The times of other programs for the same job, in microseconds. */
typedef struct {
    double start, reference;
    lab_floor light;
} rivals;

static void time_rivals(const job *const of[2], rivals r[2]) {
    static const char *const names[2][3] = {{"start, array", "reference, array", "reading, array"},
                                            {"start, tensors", "reference, tensors", "reading, tensors"}};
    for (int i = 0; i < 2; i++) {
        r[i].start = LAB_OTHER(names[i][0], time_of(opened(LAB_STARTER, NULL), &of[i]->shape, 1));
        r[i].reference = LAB_OTHER(names[i][1], time_of(opened(LAB_REFERENCE, NULL), &of[i]->shape, 1));
    }
    for (int i = 0; i < 2; i++) r[i].light = (lab_floor){"reading", LAB_OTHER(names[i][2], reading_floor(of[i], 1).us)};
}

/* Sim lane: a multiple of the time that reading takes. */
static void grade_virtual_time(lab_verdict *v, double you, const rivals *r, const lab_usage *u, bool array) {
    const lab_floor light = r->light;
    lab_grade(v, you / light.us);
    lab_figure(array ? "array" : "tensors", you, "us");
    if (array) lab_figure("reading", light.us, "us");
    LAB_SAY(v->value_text, "%s", lab_us(you));
    LAB_SAY(v->want, "start %s · reference %s · reading %s", lab_us(r->start), lab_us(r->reference), lab_us(light.us));
    if (lab_possible(v, you, light) && !lab_passed(v)) advise_on_time(v, u, you, light.us, array);
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(lab_verdict *v, job *yours) {
    job *start = new_job(opened(LAB_STARTER, NULL), NULL, &yours->shape);
    job *reference = new_job(opened(LAB_REFERENCE, NULL), NULL, &yours->shape);
    lab_timer how = {LAB_HOST_CLOCK, 2, 1, true};
    lab_grade_gain(v, how, &start->work, &reference->work, &yours->work, reading_floor(yours, 9));
    job_close(start);
    job_close(reference);
}

/* The vendor's own sums of the same data, where they are linked. */
static void note_cub(const job *array, const job *tensors) {
    if (!lab_has_rung("cub")) return;
    lab_program *cub = opened(LAB_LADDER, "cub");
    lab_note("CUB, array", "%s", lab_us(time_of(cub, &array->shape, 9)));
    lab_note("CUB, tensors", "%s", lab_us(time_of(cub, &tensors->shape, 9)));
}

/* --- the run ---------------------------------------------------------------------------------- */

static void grade_sim(job *array, job *tensors, const lab_time *ta, const lab_time *tt) {
    rivals r[2];
    time_rivals((const job *const[]){array, tensors}, r);
    grade_accuracy(lab_verdict_of(ACCURACY), tensors);
    lab_usage u = lab_usage_of(array->counted);
    grade_array(&u, (double)array->floats);
    grade_virtual_time(lab_verdict_of(VIRTUAL_ARRAY), ta->median, &r[0], &u, true);
    lab_usage_free(&u);
    u = lab_usage_of(tensors->counted);
    grade_launches(&u, tensors->shape.count);
    grade_virtual_time(lab_verdict_of(VIRTUAL_TENSORS), tt->median, &r[1], &u, false);
    lab_blue_bar(&u, tensors->begin, tensors->end, LAB_RUNNING);
    lab_usage_free(&u);
}

/* Reads the counters of one entry point alone; LAB4_COUNT names it to the program under ncu. */
static bool count(const char *entry, lab_usage *u, char *why, size_t size) {
    setenv("LAB4_COUNT", entry, 1);
    return lab_count_ncu(u, why, size) == 0;
}

static void grade_gpu(job *array, job *tensors) {
    lab_usage u;
    char why[256];
    lab_verdict *correct = lab_verdict_of(CORRECT);
    grade_time(lab_verdict_of(TIME_ARRAY), array);
    grade_time(lab_verdict_of(TIME_TENSORS), tensors);
    grade_accuracy(lab_verdict_of(ACCURACY), tensors);
    const job *wrong = array->failure[0] ? array : tensors;
    if (wrong->failure[0] && lab_passed(correct))
        lab_fail(correct, "%s", wrong->failure); /* in one of the timed runs */
    note_cub(array, tensors);
    int uncounted = LOAD_SECTORS;
    if (count("mean", &u, why, sizeof why)) {
        grade_array(&u, COUNTED_FLOATS);
        lab_usage_free(&u);
        uncounted = LAUNCHES;
        if (count("means", &u, why, sizeof why)) return grade_launches(&u, COUNTED_TENSORS), lab_usage_free(&u);
    }
    for (int row = uncounted; row <= COPIES; row++) lab_skip(lab_verdict_of(row), "%s", why);
}

/* --counted: the program under ncu. */
static void run_counted(lab_program *mine, uint64_t seed) {
    const char *entry = getenv("LAB4_COUNT");
    const job_shape shape = {.array = true, .count = 1, .length = COUNTED_FLOATS, .align = JOB_ALIGNED, .seed = seed};
    const job_shape tensors = {
        .count = COUNTED_TENSORS, .length_of = skewed_length, .align = JOB_ALIGNED, .seed = seed};
    lab_time once;
    run_job(new_job(mine, "counted", entry && !strcmp(entry, "mean") ? &shape : &tensors), &once);
}

/* --lines: one call of each, right or wrong, and what each line of them cost. */
static void print_lines(lab_program *mine, uint64_t seed) {
    lab_time once;
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines4 DEVICE=sim");
    job *array = long_array(mine, seed), *tensors = all_tensors(mine, seed);
    array->counted = tensors->counted = "lines";
    if (!run_job(array, &once) || !run_job(tensors, &once))
        lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_usage u = lab_usage_of("lines");
    lab_print_lines(&u);
    lab_usage_free(&u);
    job_close(array);
    job_close(tensors);
}

static void grade(lab_program *mine) {
    lab_time ta, tt;
    job *array = NULL, *tensors = NULL;
    lab_check_hazards(true);
    bool alive = check_lengths(mine, lab_fresh_seed());
    lab_check_hazards(false);
    if (alive) alive = run_job(array = long_array(mine, lab_fresh_seed()), &ta);
    if (alive) alive = run_job(tensors = all_tensors(mine, lab_fresh_seed()), &tt);
    grade_races(lab_verdict_of(RACES), alive);
    if (!alive)
        lab_skip_rest(FAILED);
    else if (lab_lane() == LAB_SIM)
        grade_sim(array, tensors, &ta, &tt);
    else
        grade_gpu(array, tensors);
    if (array) job_close(array);
    if (tensors) job_close(tensors);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "means: 2^24 floats, 2000 tensors";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    if (opt.lines) return print_lines(mine, lab_fresh_seed()), lab_leave();
    LAB_SAY(lab_verdict_of(LAUNCHES)->want, "want ≤ 2"); /* one is as good */
    LAB_SAY(lab_verdict_of(COPIES)->want, "want ≤ 1");
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.counted) return run_counted(mine, lab_fresh_seed()), lab_leave();
    grade(mine);
    return lab_end();
}

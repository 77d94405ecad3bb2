/* harness.cu — runs and grades lab 4. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: arrays and lists of tensors of several lengths, some of them chosen by the seed, aligned and not. Each
 * is run twice with fresh data, the means are poisoned before, and what is right is added up in double precision after.
 *   2. One long array: `mean` once more, counted and timed. Here the tree shows.
 *   3. All tensors: `means` of 2000, counted and timed. Here launches, copies and balance show.
 *   4. Beside them, on this machine and now: the untouched starter, the reference solution, and a kernel that only
 * reads the same bytes. No mean can be had without reading, so that is the speed of light here.
 *
 * The sim lane grades counters and virtual time; the gpu lane grades the same rows, with ncu's counters if it may, and
 * times you against the reference in turn (a b b a).
 */
#include "lab.h"
#include "lab4.h"
#include "job.cuh"
#include "rungs.cuh"
#include "bench.cuh"
#include "times.cuh"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTED_FLOATS = 1 << 23, COUNTED_TENSORS = 100 }; /* in the gpu lane: ncu takes milliseconds a launch */

/* --- the rows --------------------------------------------------------------------------------- */

// clang-format off
static const lab_row rows[] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step */
    {"correct", "correct", "every mean is right, for short, long, odd, unaligned and hidden lengths",
     "", 0, 1, 1, 15, LAB_BOTH, "correct",
     "first mend the line named here or under 'races'; if there is none, add up the shortest length that fails by hand"},
    {"accuracy", "worst error, in 2^-24", "no mean is off by more than 32 times 2^-24 of its value",
     "", 1, 32, 256, 5, LAB_BOTH, "accuracy",
     "find the longest row of additions into one float, and make a tree of it"},
    {"races", "races", "no thread uses what another may still be writing, or what nobody has written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put what makes the reader wait between writing and reading: __syncthreads, __syncwarp, __threadfence"},
    {"load-sectors", "array: sectors /128 B", "loads of the long array are coalesced: at most 4.2 sectors for each 128 bytes",
     "", 1, 4.2, 32, 10, LAB_BOTH, "load-sectors",
     "let neighbouring threads read neighbouring floats, in every turn of the loop"},
    {"shared", "array: shared waves /1024", "shared memory is used for at most 3 wavefronts for each 1024 floats",
     "", 1, 3, 40, 5, LAB_BOTH, "shared",
     "sum in registers first, build the tree once a block, and by shuffles"},
    {"barriers", "array: barriers /1024", "warps wait at barriers at most 4 times for each 1024 floats",
     "", 1, 4, 32, 5, LAB_BOTH, "barriers",
     "lanes of a warp need no barrier to exchange registers: __shfl_down_sync"},
    {"divergence", "array: divergence /1024", "warps part ways at branches at most 2 times for each 1024 floats",
     "", 1, 2, 16, 5, LAB_BOTH, "divergence",
     "let whole warps work or rest, not every second thread"},
    {"launches", "tensors: launches", "the means of all tensors take at most two kernel launches",
     "", 0, 2, 64, 10, LAB_BOTH, "launches",
     "give each tensor a block of one launch: which tensor, says blockIdx.x"},
    {"copies", "tensors: copies, fills", "no mean travels through the host: at most one copy or fill in a step",
     "", 0, 1, 64, 5, LAB_BOTH, "copies",
     "let the kernel write means[i] where it is wanted, on the device"},
    {"virtual-array", "array: virtual time", "virtual time of the long array is at most 1.2 times that of only reading it",
     "x reading", 2, 1.2, 6, 15, LAB_SIM, "time-array",
     "mend the rows above first; then fill the GPU with blocks, and keep several loads a thread on their way"},
    {"virtual-tensors", "tensors: virtual time", "virtual time of all tensors is at most 1.2 times that of only reading them",
     "x reading", 2, 1.2, 6, 20, LAB_SIM, "time-tensors",
     "mend the rows above first; then let no block have more to do than the others, nor a second kernel wait for the first"},
    {"time-array", "array: time", "at least 0.95 of the reference's gain over the starter for the long array, on this card",
     "of the gain", 2, 0.95, 0.5, 15, LAB_GPU, "time-array",
     "mend the rows above first; then fill the GPU with blocks, and keep several loads a thread on their way"},
    {"time-tensors", "tensors: time", "at least 0.95 of the reference's gain over the starter for all tensors, on this card",
     "of the gain", 2, 0.95, 0.5, 20, LAB_GPU, "time-tensors",
     "mend the rows above first; then let no block have more to do than the others, nor a second kernel wait for the first"},
};
// clang-format on
static lab_spec spec = {"lab4", "means: 2^23 floats, 2000 tensors", "reduction.cu", rows, sizeof rows / sizeof *rows};

/* --- correct ---------------------------------------------------------------------------------- */

/* CUDA's error; in the sim lane also what happened, and where in the source. */
static void blame_error(const job *j, cudaError_t error) {
    lab_usage u;
    char none[256];
    lab_why("correct", "%s on %d floats", cudaGetErrorName(error), j->longest);
    if (lab_count_read(j->counted, &u, none, sizeof none) == 0) lab_blame_fault("correct", &u);
    lab_usage_free(&u);
}

/* False when CUDA itself failed: after that nothing more can be run. */
static bool run_job(job *j, lab_time *t) {
    lab_timer once = {LAB_HOST_CLOCK, 0, 1, false};
    lab_work w = work_of(j);
    *t = lab_time_work(once, &w);
    if (lab_passed("correct") && (t->error || j->failure[0])) {
        lab_fail("correct");
        lab_where("correct", "%s", j->array ? "mean" : "means");
        lab_why("correct", "%s", j->failure);
        if (t->error) blame_error(j, t->error);
    }
    return t->error == cudaSuccess;
}

static int tiny_length(int i, uint64_t seed) {
    static const int n[] = {1, 2, 31, 32, 33, 64, 100};
    return (void)seed, n[i];
}
static int hidden_length(int i, uint64_t seed) {
    int n = 1 + (int)(hash(mixed(seed), i) % 3000);
    return i % 40 == 11 ? 30000 + 7 * n : n; /* longer than a block would take at once */
}

/* Twice with one plan: what was kept from the first call is worth nothing in the second. */
static bool check_job(job j) {
    lab_time t;
    bool alive = run_job(&j, &t) && run_job(&j, &t);
    job_free(&j);
    return alive;
}

static bool check_lengths(uint64_t seed) {
    static const int lengths[] = {1, 31, 33, 1000, 4099, 65537};
    int hidden = 70000 + (int)(seed * 2654435761u % 60007), count = 40 + (int)(seed * 40503u / 7 % 89);
    lab_want("correct", "arrays of 1 to 65537, hidden %d; lists of 1, 7, hidden %d, 2000", hidden, count);
    for (size_t i = 0; i <= sizeof lengths / sizeof *lengths; i++) {
        asked_length = i < sizeof lengths / sizeof *lengths ? lengths[i] : hidden;
        if (!check_job(
                job_new(&yours, "check", true, 1, just_length, i % 2 ? JOB_PACKED : JOB_ALIGNED, seed + 1000 * i)))
            return false;
    }
    asked_length = 5000;
    return check_job(job_new(&yours, "check", false, 1, just_length, JOB_ALIGNED, seed + 1)) &&
           check_job(job_new(&yours, "check", false, 7, tiny_length, JOB_PACKED, seed + 2)) &&
           check_job(job_new(&yours, "check", false, count, hidden_length, JOB_PACKED, seed + 3));
}

/* --- counters --------------------------------------------------------------------------------- */

static double excess_loads(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
static double divergent_of(const lab_line *l) { return l->c.branches - l->c.uniform_branches; }

/* `value` of something for each 1024 floats of the array. */
static void grade_rate(const char *id, double value, double floats, const lab_line *worst, const char *what) {
    lab_grade(id, value / floats * 1024);
    if (lab_passed(id)) return;
    lab_blame(id, worst);
    lab_why(id, "%.0f %s to add %.0f floats", value, what, floats);
}

static void grade_array(const lab_usage *u, double floats) {
    double per_line = u->total.ld_sectors / (floats / 32);
    lab_grade("load-sectors", per_line);
    if (per_line < 3.99) {
        lab_fail("load-sectors");
        lab_why("load-sectors", "your kernels read only a part of the array");
    } else if (!lab_passed("load-sectors")) {
        lab_blame("load-sectors", lab_worst(u, excess_loads));
        lab_why("load-sectors", "each 128 bytes cost %.1f sectors of 32 bytes where 4 would do", per_line);
    }
    grade_rate("shared", u->total.shared_ld_wavefronts + u->total.shared_st_wavefronts, floats,
               lab_worst(u, wavefronts_of), "wavefronts of shared memory");
    if (lab_lane() == LAB_GPU) {
        lab_skip("barriers", "a card has no counter of barriers; the sim lane has");
        lab_skip("divergence",
                 "ptxas turns short branches into predicates, which no counter shows; the sim lane counts");
        return;
    }
    grade_rate("barriers", u->total.barriers, floats, lab_worst(u, barriers_of), "waits of a warp at a barrier");
    grade_rate("divergence", u->total.branches - u->total.uniform_branches, floats, lab_worst(u, divergent_of),
               "branches that split a warp");
}

/* The first of your lines that copied or filled. */
static void blame_copy(const char *id, const lab_usage *u) {
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if ((e->kind == SIMGPU_COPY || e->kind == SIMGPU_FILL) && e->at.file) return lab_blame_place(id, &e->at);
    }
}

static void grade_launches(const lab_usage *u, int tensors) {
    lab_grade("launches", u->launches);
    if (!lab_passed("launches")) {
        lab_blame("launches", lab_worst(u, launches_of));
        lab_why("launches", "%d kernels for %d tensors", u->launches, tensors);
    }
    if (lab_lane() == LAB_GPU) return lab_skip("copies", "ncu counts kernels only; the sim lane counts copies");
    lab_grade("copies", u->copies);
    if (lab_passed("copies")) return;
    blame_copy("copies", u);
    lab_why("copies", "%d copies and fills for %d tensors; the host waits for each copy that it reads", u->copies,
            tensors);
}

static void grade_accuracy(const job *j) {
    if (j->failure[0]) return lab_unmeasured("accuracy", "not measured: see 'correct'");
    lab_grade("accuracy", j->worst);
    if (!lab_passed("accuracy"))
        lab_why("accuracy", "a tensor of %d floats: the mean is off by %.1e of its value", j->worst_length,
                j->worst * 0x1p-24);
}

/* The vendor's own sums of the same data, where they are linked. */
static void note_cub(const job *array, const job *tensors) {
#ifdef LAB_CUB
    static const program cub = {rung_cub, rung_cub_plan, rung_cub_segmented};
    lab_note("CUB, array", "%s", lab_us(time_of(&cub, array, 9)));
    lab_note("CUB, tensors", "%s", lab_us(time_of(&cub, tensors, 9)));
#else
    (void)array, (void)tensors;
#endif
}

/* --- the run ---------------------------------------------------------------------------------- */

static job long_array(uint64_t seed) {
    asked_length = lab_lane() == LAB_SIM ? 1 << 23 : 1 << 24;
    return job_new(&yours, "array", true, 1, just_length, JOB_ALIGNED, seed + 77);
}

static job all_tensors(uint64_t seed) {
    return job_new(&yours, "tensors", false, SET_TENSORS, skewed_length, JOB_ALIGNED, seed + 78);
}

/* What the checks found in the short runs: a race may well give the right means on the day of the test. */
static void grade_races(void) {
    if (lab_lane() == LAB_GPU) return lab_skip("races", "no card tells; the sim lane does");
    lab_usage u = lab_usage_of("check");
    if (!lab_finding(&u))
        lab_pass("races");
    else
        lab_fail("races"), lab_blame_finding("races", &u);
    lab_usage_free(&u);
}

/* Everything runs before the counters are read, so that one report holds it all. */
static void grade_sim(job *array, job *tensors, const lab_time *ta, const lab_time *tt) {
    double array_start = time_of(&starter, array, 1), array_ref = time_of(&reference, array, 1);
    double start = time_of(&starter, tensors, 1), ref = time_of(&reference, tensors, 1);
    lab_floor array_light = reading_floor(array, 1), light = reading_floor(tensors, 1);
    grade_races();
    grade_accuracy(tensors);
    lab_usage u = lab_usage_of(array->counted);
    grade_array(&u, (double)array->floats);
    grade_virtual_time("virtual-array", ta->median, array_start, array_ref, array_light, &u);
    lab_usage_free(&u);
    u = lab_usage_of(tensors->counted);
    grade_launches(&u, tensors->count);
    grade_virtual_time("virtual-tensors", tt->median, start, ref, light, &u);
    lab_blue_bar(&u, tensors->begin, tensors->end, LAB_RUNNING);
    lab_usage_free(&u);
}

/* The counters of one entry point alone: under ncu the program runs what LAB4_COUNT says. */
static bool count(const char *entry, lab_usage *u, char *why, size_t size) {
    setenv("LAB4_COUNT", entry, 1);
    return lab_count_ncu(u, why, size) == 0;
}

static void grade_gpu(job *array, job *tensors) {
    lab_usage u;
    char why[256];
    grade_time("time-array", array);
    grade_time("time-tensors", tensors);
    grade_races();
    grade_accuracy(tensors);
    const job *wrong = array->failure[0] ? array : tensors;
    if (wrong->failure[0] && lab_passed("correct")) { /* in one of the timed runs */
        lab_fail("correct");
        lab_why("correct", "%s", wrong->failure);
    }
    note_cub(array, tensors);
    static const char *const counted[] = {"load-sectors", "shared", "barriers", "divergence", "launches", "copies"};
    int uncounted = 0;
    if (count("mean", &u, why, sizeof why)) {
        grade_array(&u, COUNTED_FLOATS);
        lab_usage_free(&u);
        uncounted = 4;
        if (count("means", &u, why, sizeof why)) return grade_launches(&u, COUNTED_TENSORS), lab_usage_free(&u);
    }
    for (int i = uncounted; i < 6; i++) lab_skip(counted[i], "%s", why);
}

/* --counted: the program under ncu. */
static void run_counted(uint64_t seed) {
    const char *entry = getenv("LAB4_COUNT");
    bool array = entry && !strcmp(entry, "mean");
    lab_time once;
    asked_length = COUNTED_FLOATS;
    job j = job_new(&yours, "counted", array, array ? 1 : COUNTED_TENSORS, array ? just_length : skewed_length,
                    JOB_ALIGNED, seed);
    run_job(&j, &once);
}

/* --lines: one call of each, right or wrong, and what each line of them cost. */
static void print_lines(uint64_t seed) {
    lab_time once;
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines4 DEVICE=sim");
    job array = long_array(seed), tensors = all_tensors(seed);
    array.counted = tensors.counted = "lines";
    if (!run_job(&array, &once) || !run_job(&tensors, &once))
        lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
    lab_usage u = lab_usage_of("lines");
    lab_print_lines(&u);
    lab_usage_free(&u);
    job_free(&array);
    job_free(&tensors);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "means: 2^24 floats, 2000 tensors";
    lab_options opt = lab_begin(&spec, argc, argv);
    if (opt.bench) return bench(), lab_leave();
    if (opt.ladder) return ladder(), lab_leave();
    if (opt.lines) return print_lines(lab_fresh_seed()), lab_leave();
    lab_want("launches", "want ≤ 2"); /* one is as good */
    lab_want("copies", "want ≤ 1");
    lab_pass("correct"); /* until a run says otherwise */
    if (opt.counted) return run_counted(lab_fresh_seed()), lab_leave();
    lab_time ta, tt;
    job array = {}, tensors = {};
    lab_check_hazards(true);
    bool right = check_lengths(lab_fresh_seed());
    lab_check_hazards(false);
    bool alive = right && (array = long_array(lab_fresh_seed()), run_job(&array, &ta)) &&
                 (tensors = all_tensors(lab_fresh_seed()), run_job(&tensors, &tt));
    if (!alive)
        lab_skip_rest("not measured: the kernel failed, see 'correct'");
    else if (lab_lane() == LAB_SIM)
        grade_sim(&array, &tensors, &ta, &tt);
    else
        grade_gpu(&array, &tensors);
    job_free(&array);
    job_free(&tensors);
    lab_gate("correct", "");
    return lab_end();
}

/* harness.c — runs and grades lab 10. You need not edit it, but do read it: nothing about your grade is hidden.
 *
 *   1. Correct: dense and relu_backward on shapes of whole tiles and not, one of each chosen by the seed; then two
 * steps of a small network whose numbers suit halves. Each run has fresh data and a poisoned result (parts/job.c,
 *      parts/net.c). In the sim lane these runs are watched for races.
 *   2. Exact: dense on long sums, and dense_bf16 on sums that no half can hold (parts/wide.c), held against double
 *      precision.
 *   3. Training: 60 steps of a network whose gradients are about 1e-8. Before each step the harness computes the same
 *      gradients in double precision; at the end it compares the loss with that of training in double precision.
 *   4. Counted and timed: dense on one product and relu_backward on long arrays. Beside them, on this machine and now:
 *      the untouched starter, the reference, and a plain copy of the bytes that relu_backward must move.
 *
 * The sim lane grades counters and virtual time, on smaller matrices than a card. The gpu lane times you against the
 * reference in turn (a b b a), on 4096 x 4096 x 4096 and on 64 million halves.
 *
 * This file judges and runs none of your code: it sends messages (messages.h) to player.c, which calls your functions.
 * What the card advises is in parts/advice.c, what a wrong result shows in parts/explain.c. Rows, then the verdicts,
 * then the run and main.
 */
#include "advice.h"
#include "frame.h"
#include "hazards.h"
#include "job.h"
#include "lab.h"
#include "usage.h"
#include "net.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char FAILED[] = "not measured: CUDA reported an error, see 'correct'";

/* --- the rows --------------------------------------------------------------------------------- */

enum {
    CORRECT,
    RACES,
    ACCURACY,
    FINITE,
    LOST,
    LOSS,
    BF16,
    BYTES,
    REQUESTS,
    TENSOR,
    ISSUED,
    CONFLICTS,
    VIRTUAL_PASS,
    VIRTUAL_DENSE,
    TIME_PASS,
    TIME_DENSE,
    LAB10_ROWS
};

// clang-format off
static const lab_row rows[LAB10_ROWS] = {
    /* id, label, sentence;   unit, decimals, full, zero, points, lanes, hint;   next step;   gates */
    [CORRECT] = {"correct", "correct", "every product, mask, gradient and update is right, for odd, short and hidden shapes",
     "", 0, 1, 1, 10, LAB_BOTH, "correct",
     "take the smallest shape that fails, and follow its first element through your kernels", NULL},
    [RACES] = {"races", "races", "no thread reads or writes what another one may be writing, or what was never written",
     "", 0, 1, 1, 5, LAB_BOTH, "races",
     "put a __syncthreads() between the write and the read, where every thread of the block reaches it", NULL},
    [ACCURACY] = {"accuracy", "worst error, roundings", "no element of dense is off by more than the one rounding to a half, even for long sums",
     "", 1, 2, 10, 10, LAB_BOTH, "sums",
     "sum in floats, and round to a half once, at the end", "correct"},
    [FINITE] = {"finite", "infinities, NaNs", "in 60 steps of training no gradient, weight or loss is infinite or no number",
     "", 0, 0, 1, 5, LAB_BOTH, "finite",
     "compute the update in floats: EPSILON and the squares of small gradients are 0 as halves", "correct"},
    [LOST] = {"lost", "gradients lost", "at most 5 % of the first step's gradients are off by more than half of themselves",
     "%", 0, 5, 60, 10, LAB_BOTH, "scale",
     "multiply what goes back by a power of two, before it becomes a half, and divide in update", "correct"},
    [LOSS] = {"loss", "final loss", "the loss after 60 steps is at most 1.8 times that of training in double precision",
     "x exact", 2, 1.8, 3, 15, LAB_BOTH, "loss",
     "keep the weights that learn as floats, in net->state, and give net->w their rounded copy", "correct finite lost"},
    [BF16] = {"bf16", "bf16: worst, roundings", "no element of dense_bf16 is off by more than the one rounding to a bfloat16, where a half would overflow",
     "", 1, 1.5, 10, 5, LAB_BOTH, "bf16",
     "sum in floats, and round to a bfloat16 once, at the end", "correct"},
    [BYTES] = {"bytes", "bytes of DRAM / least", "relu_backward moves at most 1.05 times the bytes of its three arrays of halves",
     "", 2, 1.05, 2, 5, LAB_SIM, "bytes",
     "read y and dy once, as halves, and write dz once", "correct"},
    [REQUESTS] = {"requests", "bytes a request", "each load or store of relu_backward moves 500 bytes or more for its warp",
     "", 0, 500, 64, 5, LAB_SIM, "requests",
     "let each lane move 16 bytes at a time: a uint4 is eight halves", "correct"},
    [TENSOR] = {"tensor", "products on tensor cores", "the tensor cores compute all products of dense",
     "%", 0, 99, 0, 5, LAB_SIM, "tensor",
     "multiply tiles of 16 x 16: nvcuda::wmma is the easy way to the tensor cores", "correct"},
    [ISSUED] = {"issued", "instr. /1000 products", "dense takes at most 6 instructions of a warp for 1000 products",
     "", 1, 6, 20, 5, LAB_SIM, "issued",
     "give each warp a larger tile, whose loads serve more products", "correct"},
    [CONFLICTS] = {"conflicts", "conflicts per access", "dense's accesses to shared memory have no bank conflicts to speak of",
     "", 2, 0.1, 2, 5, LAB_SIM, "conflicts",
     "lay halves out so that eight rows of a column of 16 bytes lie in different banks; pad rows of float sums by 4", "correct"},
    [VIRTUAL_PASS] = {"virtual-pass", "relu_backward: virt. time", "relu_backward takes at most 1.15 times as long as a copy of its bytes",
     "x copy", 2, 1.15, 1.5, 5, LAB_SIM, "time",
     "have more bytes on their way at a time", "correct"},
    [VIRTUAL_DENSE] = {"virtual-dense", "dense: virtual time", "dense takes at most 1.2 times as long as the reference",
     "x reference", 2, 1.2, 3, 10, LAB_SIM, "time",
     "fix the rows above first; then find what the tensor cores wait for", "correct"},
    [TIME_PASS] = {"time-pass", "relu_backward: time", "relu_backward: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 15, LAB_GPU, "time",
     "let each lane move 16 bytes at a time", "correct"},
    [TIME_DENSE] = {"time-dense", "dense: time", "dense: at least 0.95 of the reference's gain over the starter, on this card",
     "of the gain", 2, 0.95, 0.5, 25, LAB_GPU, "time",
     "find what the tensor cores wait for: loads, bank conflicts, barriers", "correct"},
};
// clang-format on
static lab_spec spec = {"lab10",    "dense 512x512x256, 4 M halves",       "half.cu", rows,
                        LAB10_ROWS, "the ungraded question in the handout"};

/* The timed shapes. */
static job_shape dense_shape(void) {
    return lab_lane() == LAB_SIM ? (job_shape){512, 512, 256, JOB_TAME} : (job_shape){4096, 4096, 4096, JOB_TAME};
}
static job_shape pass_shape(void) { return (job_shape){lab_lane() == LAB_SIM ? 1 << 22 : 1 << 26, 0, 0, JOB_TAME}; }

/* --- verdict: correct ------------------------------------------------------------------------- */

/* Returns false when CUDA itself failed: after that nothing more can be run. */
static bool run_job(job *j, lab_time *t) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    *t = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, false}, &j->work);
    if (lab_passed(v) && (t->error || j->failure[0])) {
        lab_usage u = lab_usage_if_any(j->counted);
        char shape[64];
        job_say(j, shape, sizeof shape);
        LAB_SAY(v->where, "%s", shape);
        if (t->error) {
            lab_fail_by_error(v, t->error, shape, &u, advice_on_errors);
        } else {
            lab_fail(v, "%s: %s", job_is_dense(j) ? "dense" : "relu_backward", j->failure);
            advise_on_output(v, j, &u);
        }
        lab_usage_free(&u);
    }
    return t->error == cudaSuccess;
}

/* Runs a shape so often, each time with other data. */
static bool run_shape(lab_program *mine, const char *counted, const job_shape *shape, int times, double *worst) {
    bool alive = true;
    job *j = job_new(mine, counted, shape);
    for (int i = 0; alive && i < times; i++) {
        lab_time t;
        alive = run_job(j, &t);
    }
    if (worst && j->worst > *worst) *worst = j->worst;
    job_free(j);
    return alive;
}

/* Each shape finds another kind of mistake. 64x96x32 is of whole tiles of 16 and 32, and comes twice, so what is kept
 * from the first call is wrong in the second; 128x128x64 is of large tiles; 17x19x33 and 61x67x45 are of none;
 * 40x24x200 has long rows of x; 130x8x16 is narrow, 1x200x7 a single row, 33x1x65 a single column; 256x256x32 has whole
 * large tiles and few products. In 64x72x64, 72x64x64, 64x64x72, 128x200x128 and 200x128x128 one side is a multiple of
 * 8 and no whole tile: a program that asks for multiples of 8 there must not round its tiles down. The seed draws the
 * last. */
static bool check_dense(lab_program *mine) {
    job_shape shapes[] = {
        {64, 96, 32, JOB_TAME},    {128, 128, 64, JOB_TAME},  {17, 19, 33, JOB_TAME}, {61, 67, 45, JOB_TAME},
        {40, 24, 200, JOB_TAME},   {130, 8, 16, JOB_TAME},    {1, 200, 7, JOB_TAME},  {33, 1, 65, JOB_TAME},
        {256, 256, 32, JOB_TAME},  {64, 72, 64, JOB_TAME},    {72, 64, 64, JOB_TAME}, {64, 64, 72, JOB_TAME},
        {128, 200, 128, JOB_TAME}, {200, 128, 128, JOB_TAME}, {1, 1, 1, JOB_TAME},    {0, 0, 0, JOB_TAME}};
    const int n = sizeof shapes / sizeof *shapes;
    shapes[n - 1].m = 35 + 2 * (int)(lab_fresh_seed() % 30);
    shapes[n - 1].n = 37 + 2 * (int)(lab_fresh_seed() % 30);
    shapes[n - 1].k = 41 + 2 * (int)(lab_fresh_seed() % 20);
    for (int i = 0; i < n; i++)
        if (!run_shape(mine, "shape", &shapes[i], i ? 1 : 2, NULL)) return false;
    return true;
}

/* Whole groups of eight, and rests of all sizes; the last by the seed. */
static bool check_pass(lab_program *mine) {
    int counts[] = {4096, 1000, 4099, 7, 1, 30001, 0};
    const int n = sizeof counts / sizeof *counts;
    counts[n - 1] = 5001 + 2 * (int)(lab_fresh_seed() % 4000);
    for (int i = 0; i < n; i++) {
        const job_shape shape = {counts[i], 0, 0, JOB_TAME};
        if (!run_shape(mine, "counts", &shape, i ? 1 : 2, NULL)) return false;
    }
    return true;
}

static void fail_step(lab_verdict *v, const net *n) {
    lab_usage u = lab_usage_if_any(n->counted);
    char shape[64];
    LAB_SAY(shape, "the network of %dx%dx%d", n->m, n->n, n->k);
    if (n->error) {
        lab_fail_by_error(v, n->error, shape, &u, advice_on_errors);
    } else {
        lab_fail(v, "%s", n->failure);
        advise_on_step(v, n, &u);
    }
    lab_usage_free(&u);
}

static bool check_steps(lab_program *mine) {
    lab_verdict *v = lab_verdict_of(CORRECT);
    net *n = net_new(mine, "steps", NET_SMALL);
    bool alive = true;
    for (int step = 0; alive && step < 2 && !n->failure[0]; step++) alive = net_judged_step(n);
    if (lab_passed(v) && (!alive || n->failure[0])) fail_step(v, n);
    net_free(n);
    return alive;
}

/* 35 columns have each kind of sum; the seed draws the rest. */
static bool check_bf16(lab_program *mine, wide **r) {
    const uint64_t seed = lab_fresh_seed();
    *r = wide_run(mine, "bf16", 19, 35 + 2 * (int)(seed % 8), 501 + 2 * (int)(seed / 8 % 100));
    if ((*r)->error && lab_passed(lab_verdict_of(CORRECT))) {
        lab_usage u = lab_usage_if_any("bf16");
        char shape[64];
        LAB_SAY(shape, "dense_bf16 of %dx%dx%d", (*r)->m, (*r)->n, (*r)->k);
        lab_fail_by_error(lab_verdict_of(CORRECT), (*r)->error, shape, &u, advice_on_errors);
        lab_usage_free(&u);
    }
    return (*r)->error == cudaSuccess;
}

static bool check_shapes(lab_program *mine, wide **r) {
    LAB_SAY(lab_verdict_of(CORRECT)->want, "64x96x32, 17x19x33, 1x200x7, ..., hidden; two steps");
    return check_dense(mine) && check_pass(mine) && check_steps(mine) && check_bf16(mine, r);
}

/* --- verdict: worst error ---------------------------------------------------------------------- */

static bool check_long(lab_program *mine, double *worst) {
    static const job_shape shapes[] = {{32, 64, 4096, JOB_LONG}, {19, 21, 3001, JOB_LONG}};
    *worst = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (!run_shape(mine, "long", &shapes[i], 1, worst)) return false;
    return true;
}

static double sums_of(const lab_line *l) { return l->c.ld_requests + l->c.shared_ld; }

static void grade_accuracy(lab_verdict *v, double worst) {
    LAB_SAY(v->want, "want ≤ 2, for sums of 4096 products");
    if (isfinite(worst))
        lab_grade(v, worst);
    else
        lab_fail(v, "an element is infinite or no number");
    if (lab_passed(v)) return;
    lab_usage u = lab_usage_if_any("long");
    lab_blame(v, lab_worst(&u, sums_of));
    if (isfinite(worst))
        LAB_SAY(v->why, "an element is off by %.3g roundings of a half: small products are lost beside a large sum",
                worst);
    lab_usage_free(&u);
}

/* --- verdict: races ---------------------------------------------------------------------------- */

/* Fails the row for what the checks found, even if all results came out right: this run's order of warps is one of
 * many. A race is shown beside a wrong result, since it may be the cause; without one, a wrong result says nothing
 * about races. */
static void grade_races(lab_verdict *v, bool alive) {
    if (lab_lane() == LAB_GPU) return lab_skip(v, "a card cannot find races; the sim lane can");
    static const char *const watched[] = {"shape", "counts", "steps", "bf16"};
    bool found = false;
    for (size_t i = 0; !found && i < sizeof watched / sizeof *watched; i++)
        found = lab_fail_for_hazard(v, watched[i], advise_on_finding);
    if (!found) lab_pass_races(v, lab_verdict_of(CORRECT), alive, FAILED);
}

/* --- verdict: bf16 ------------------------------------------------------------------------------ */

static void grade_bf16(lab_verdict *v, const wide *r) {
    LAB_SAY(v->want, "want ≤ 1.5; %.0f %% exceed a half", 100.0 * r->large / (r->m * r->n));
    lab_grade(v, r->worst);
    if (!r->poison && !r->odd && lab_passed(v)) return;
    lab_usage u = lab_usage_if_any(r->counted);
    advise_on_wide(v, r);
    lab_blame(v, lab_worst(&u, sums_of));
    lab_usage_free(&u);
}

/* --- verdicts: training ------------------------------------------------------------------------ */

/* How training went. */
typedef struct {
    int step;           /* the last; the one of the first number that is none */
    bool finite;        /* there was none */
    const char *odd;    /* what it was */
    double lost;        /* % of the first step's gradients */
    double zero;        /* % of those of a late step that are 0, and should not be */
    double loss, exact; /* in the end */
    double reported;    /* the distance of the first loss reported to the right one, as a part of that */
    bool divides;
} course;

static int weights_of(const net *n) { return n->k * n->n; }

static double lost_share(const net *n) {
    int lost = 0;
    for (int i = 0; i < weights_of(n); i++) {
        const double got = half_value(n->g[i]) / (double)n->scale;
        lost += !(fabs(got - n->want[i]) <= 0.5 * fabs(n->want[i]));
    }
    return 100.0 * lost / weights_of(n);
}

/* Gradients shrink with the loss, so a scale may do for the first step and not for a later one. */
static double zero_share(const net *n) {
    int zero = 0;
    for (int i = 0; i < weights_of(n); i++) zero += half_value(n->g[i]) == 0 && n->want[i] != 0;
    return 100.0 * zero / weights_of(n);
}

static const char *what_is_odd(const net *n) {
    for (int i = 0; i < weights_of(n); i++)
        if (!half_is_finite(n->g[i])) return "a gradient";
    for (int i = 0; i < weights_of(n); i++)
        if (!half_is_finite(n->w[i])) return "a weight";
    return isfinite(n->loss) ? NULL : "the loss";
}

/* Returns false when CUDA failed. */
static bool train(lab_program *mine, course *c) {
    net *n = net_new(mine, "training", NET_LONG);
    bool alive = true;
    *c = (course){.finite = true};
    for (int step = 0; alive && step < NET_STEPS && c->finite; step++) {
        net_expect(n);
        alive = net_gradients(n);
        if (!alive) break;
        if (step == 0) c->lost = lost_share(n), c->reported = fabs((double)n->loss - n->want_loss) / n->want_loss;
        if (step == NET_STEPS * 3 / 4) c->zero = zero_share(n);
        alive = net_update(n);
        c->odd = alive ? what_is_odd(n) : NULL;
        c->finite = !c->odd;
        c->step = step;
    }
    if (alive && c->finite) {
        c->loss = net_now(n);
        c->exact = LAB_OTHER("exact", net_learned_exactly(n));
        c->divides = net_divides(n);
        alive = n->error == cudaSuccess;
    }
    if (!alive && lab_passed(lab_verdict_of(CORRECT))) fail_step(lab_verdict_of(CORRECT), n);
    net_free(n);
    return alive;
}

static void grade_finite(lab_verdict *v, const course *c) {
    lab_grade(v, c->finite ? 0 : 1);
    if (c->finite) return LAB_SAY(v->value_text, "none");
    LAB_SAY(v->value_text, "step %d on", c->step);
    LAB_SAY(v->why, "from step %d on %s is infinite or no number, and all that is computed from it", c->step, c->odd);
    lab_blame_code(v, !strcmp(c->odd, "a weight") ? "update(" : "gradients(");
    if (strcmp(c->odd, "a weight") != 0)
        LAB_SAY(v->next, "keep what is large below 65504: sums as floats, and a smaller scale");
}

static void grade_lost(lab_verdict *v, const course *c) {
    lab_grade(v, c->lost);
    if (lab_passed(v)) return;
    lab_blame_code(v, "gradients(");
    LAB_SAY(
        v->why,
        "%.0f %% of the first gradients are 0, or off by more than half: they are about 1e-8, and the smallest half is "
        "6e-8",
        c->lost);
}

static void grade_loss(lab_verdict *v, const course *c) {
    if (!c->finite) return lab_fail(v, "training ended in step %d", c->step);
    LAB_SAY(v->want, "%.3g exactly · want ≤ 1.8 times that", c->exact);
    lab_grade(v, c->loss / c->exact);
    lab_figure("final-loss", c->loss * 1e12, "1e-12");
    if (c->reported > 0.05) {
        lab_fail(v, "the first loss that gradients reports is off by %.0f %%", 100 * c->reported);
        lab_blame_code(v, "gradients(");
        LAB_SAY(v->next, "square and sum in floats: the square of 0.0001 is 0 as a half");
    } else if (!c->divides) {
        lab_fail(v, "update does not divide the gradient by the scale: beside EPSILON that counts");
        lab_blame_code(v, "update(");
        LAB_SAY(v->next, "divide g by the scale in floats, first of all");
    } else if (!lab_passed(v) && c->zero > 5) {
        lab_blame_code(v, "gradients(");
        LAB_SAY(
            v->why,
            "the loss ends at %.3g, and at %.3g where nothing is rounded: in step %d %.0f %% of the gradients are 0",
            c->loss, c->exact, NET_STEPS * 3 / 4, c->zero);
        v->hint = "scale";
        LAB_SAY(v->next,
                "take a larger scale, up to 131072: the gradients shrink with the loss, and fall below 6e-8 again");
    } else if (!lab_passed(v)) {
        lab_blame_code(v, "update(");
        LAB_SAY(v->why,
                "the loss ends at %.3g, and at %.3g where nothing is rounded: small changes of the weights are lost",
                c->loss, c->exact);
    }
}

/* --- verdicts: counters ------------------------------------------------------------------------ */

static void grade_bytes(lab_verdict *v, const lab_usage *pass) {
    const double least = 6.0 * pass_shape().m, bytes = lab_bytes_of(pass);
    lab_grade(v, bytes / least);
    if (bytes < 0.99 * least) lab_fail(v, "your kernels moved only a part of y, dy and dz");
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(pass, requests_of));
    if (!v->why[0]) LAB_SAY(v->why, "%.1f MB, where %.1f MB are the least", bytes / 1e6, least / 1e6);
}

static void grade_requests(lab_verdict *v, const lab_usage *pass) {
    const double requests = pass->total.ld_requests + pass->total.st_requests;
    const double bytes = pass->total.ld_bytes + pass->total.st_bytes;
    lab_grade(v, requests > 0 ? bytes / requests : 0);
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(pass, small_requests_of));
    LAB_SAY(v->why, "%.0f requests for %.1f MB: %.1f bytes a lane, where 16 are possible", requests, bytes / 1e6,
            requests > 0 ? bytes / requests / 32 : 0);
    if (bytes > 4 * 32 * requests) /* more than a half2 */
        LAB_SAY(v->next,
                "mask the four words of a uint4, a.x to a.w: where its halves are picked one by one, the compiler "
                "loads and stores smaller pieces");
}

static double products_of_dense(void) {
    const job_shape s = dense_shape();
    return (double)s.m * s.n * s.k;
}

/* Of 16 x 8 sums a product over 16 of k takes three passes, one over 8 takes two. */
static void grade_tensor(lab_verdict *v, const lab_usage *dense) {
    const double done = dense->total.tensor_passes * (16 * 8 * 16 / 3.0);
    lab_grade(v, fmin(100, 100 * done / products_of_dense()));
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(dense, others_of));
    LAB_SAY(v->why, "%.3g million instructions of a warp, of which %.3g million are for the tensor cores",
            dense->total.issue_slots / 1e6, dense->total.tensor / 1e6);
}

static void grade_issued(lab_verdict *v, const lab_usage *dense) {
    lab_grade(v, 1000 * dense->total.issue_slots / products_of_dense());
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(dense, others_of));
    LAB_SAY(v->why, "%.3g million instructions of a warp, of which %.3g million are products of the tensor cores",
            dense->total.issue_slots / 1e6, dense->total.tensor / 1e6);
    if (dense->total.tensor == 0) LAB_SAY(v->next, "let the tensor cores multiply: see the row above");
}

static void grade_conflicts(lab_verdict *v, const lab_usage *dense) {
    const double accesses = dense->total.shared_ld + dense->total.shared_st;
    const double conflicts = dense->total.shared_ld_conflicts + dense->total.shared_st_conflicts;
    lab_grade(v, accesses > 0 ? conflicts / accesses : 0);
    if (lab_passed(v)) return;
    lab_blame(v, lab_worst(dense, lab_conflicts_of));
    LAB_SAY(v->why, "%.2f million wavefronts of shared memory beyond those that its bytes need", conflicts / 1e6);
    if (v->value <= 0.6 && strstr(v->code, "store_matrix_sync"))
        LAB_SAY(v->next, "leave it, or go on to mma.sync: rows that are padded already keep two lanes of a fragment's "
                         "store in each bank");
}

/* --- verdicts: times --------------------------------------------------------------------------- */

/* Another program on a shape, as you are timed in this lane. Microseconds. */
static double time_of(lab_program *program, const job_shape *shape, int repetitions) {
    job *j = job_new(program, NULL, shape);
    const double us = lab_time_ours((lab_timer){LAB_DEVICE_CLOCK, 1, repetitions, false}, &j->work);
    job_free(j);
    return us;
}

/* Nothing can beat a plain copy of the bytes. */
static lab_floor copy_floor(int repetitions) {
    const job_shape shape = pass_shape();
    return (lab_floor){"copy", time_of(lab_opened(LAB_LADDER, "copy"), &shape, repetitions)};
}

/* ratio: of your time to that of what is named by `of`. */
static void explain_time(lab_verdict *v, const lab_time *you, const lab_usage *u, double ratio, const char *of) {
    char slowest[320];
    if (lab_refused(v, you, u)) return;
    if (!lab_passed(v)) {
        LAB_SAY(v->why, "%.*f times %s, want ≤ %.2f%s", lab_digits(ratio, v->row->full, 2), ratio, of, v->row->full,
                lab_say_slowest(u, slowest, sizeof slowest));
        advise_on_time(v, u, you->median, v == lab_verdict_of(VIRTUAL_DENSE));
    }
}

static void grade_virtual_pass(const lab_time *you, const lab_usage *u) {
    lab_verdict *v = lab_verdict_of(VIRTUAL_PASS);
    const job_shape shape = pass_shape();
    const double start = LAB_OTHER("start-pass", time_of(lab_opened(LAB_STARTER, NULL), &shape, 1));
    const lab_floor copy = {"copy", LAB_OTHER("copy", copy_floor(1).us)};
    lab_figure("time-pass", you->median, "us");
    lab_figure("copy", copy.us, "us");
    lab_grade(v, you->median / copy.us);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "start %s · copy %s", lab_us(start), lab_us(copy.us));
    if (lab_possible(v, you->median, copy)) explain_time(v, you, u, you->median / copy.us, "the copy");
}

static void grade_virtual_dense(const lab_time *you, const lab_usage *u) {
    lab_verdict *v = lab_verdict_of(VIRTUAL_DENSE);
    const job_shape shape = dense_shape();
    const double start = LAB_OTHER("start-dense", time_of(lab_opened(LAB_STARTER, NULL), &shape, 1));
    const double reference = LAB_OTHER("reference-dense", time_of(lab_opened(LAB_REFERENCE, NULL), &shape, 1));
    lab_figure("time-dense", you->median, "us");
    lab_figure("reference-dense", reference, "us");
    lab_grade(v, you->median / reference);
    LAB_SAY(v->value_text, "%s", lab_us(you->median));
    LAB_SAY(v->want, "start %s · reference %s", lab_us(start), lab_us(reference));
    explain_time(v, you, u, you->median / reference, "the reference");
}

/* Gpu lane: the share of the reference's gain over the starter, from interleaved runs. */
static void grade_time(lab_verdict *v, job *yours, lab_floor floor) {
    job *start = job_new(lab_opened(LAB_STARTER, NULL), NULL, &yours->shape);
    job *reference = job_new(lab_opened(LAB_REFERENCE, NULL), NULL, &yours->shape);
    lab_fence(false); /* correct by now */
    lab_grade_gain(v, (lab_timer){LAB_DEVICE_CLOCK, 2, 1, false}, &start->work, &reference->work, &yours->work, floor);
    lab_fence(true);
    job_free(start);
    job_free(reference);
}

/* --- the run ------------------------------------------------------------------------------------ */

enum { DENSE, PASS, JOBS };
static const char *const job_name[JOBS] = {"dense", "pass"};
static job_shape shape_of(int which) { return which == DENSE ? dense_shape() : pass_shape(); }

/* --lines: one call of each, right or wrong, and what each line of it cost. */
static void print_lines(lab_program *mine) {
    if (lab_lane() == LAB_GPU) lab_die("counters by line need the sim lane: make lines10 DEVICE=sim");
    for (int i = 0; i < JOBS; i++) {
        lab_time once;
        const job_shape shape = shape_of(i);
        job *j = job_new(mine, "lines", &shape);
        if (!run_job(j, &once)) lab_die("your kernel failed: %s", cudaGetErrorString(once.error));
        job_free(j);
    }
    lab_print_counted("lines");
}

static void grade_sim(job *const j[JOBS], const lab_time you[JOBS]) {
    lab_usage u[JOBS];
    for (int i = 0; i < JOBS; i++) u[i] = lab_usage_of(job_name[i]);
    grade_bytes(lab_verdict_of(BYTES), &u[PASS]);
    grade_requests(lab_verdict_of(REQUESTS), &u[PASS]);
    grade_tensor(lab_verdict_of(TENSOR), &u[DENSE]);
    grade_issued(lab_verdict_of(ISSUED), &u[DENSE]);
    grade_conflicts(lab_verdict_of(CONFLICTS), &u[DENSE]);
    grade_virtual_pass(&you[PASS], &u[PASS]);
    grade_virtual_dense(&you[DENSE], &u[DENSE]);
    lab_figures_of("dense", &u[DENSE]);
    lab_figures_of("pass", &u[PASS]);
    lab_blue_bar(&u[DENSE], j[DENSE]->begin, j[DENSE]->end, LAB_RUNNING);
    for (int i = 0; i < JOBS; i++) lab_usage_free(&u[i]);
}

static void grade_gpu(job *const j[JOBS]) {
    lab_verdict *correct = lab_verdict_of(CORRECT);
    const lab_floor copy = copy_floor(9);
    const job_shape p = dense_shape();
    const double bytes = 2.0 * ((double)p.m * p.k + (double)p.k * p.n + (double)p.m * p.n);
    for (int i = 0; i < JOBS; i++) {
        const lab_floor floor = i == PASS ? copy : (lab_floor){"bytes", copy.us * bytes / (6.0 * pass_shape().m)};
        grade_time(lab_verdict_of(i == PASS ? TIME_PASS : TIME_DENSE), j[i], floor);
        if (j[i]->failure[0] && lab_passed(correct)) lab_fail(correct, "%s", j[i]->failure); /* in a timed run */
    }
}

static void grade_timed(lab_program *mine, double worst, const course *c, const wide *bf16) {
    job *j[JOBS] = {NULL, NULL};
    lab_time you[JOBS];
    bool alive = true;
    for (int i = 0; alive && i < JOBS; i++) {
        const job_shape shape = shape_of(i);
        alive = run_job(j[i] = job_new(mine, job_name[i], &shape), &you[i]);
    }
    if (!alive) {
        lab_skip_rest(FAILED);
    } else {
        grade_accuracy(lab_verdict_of(ACCURACY), worst);
        grade_finite(lab_verdict_of(FINITE), c);
        grade_lost(lab_verdict_of(LOST), c);
        grade_loss(lab_verdict_of(LOSS), c);
        grade_bf16(lab_verdict_of(BF16), bf16);
        if (lab_lane() == LAB_SIM)
            grade_sim(j, you);
        else
            grade_gpu(j);
    }
    for (int i = 0; i < JOBS; i++)
        if (j[i]) job_free(j[i]);
}

static void grade(lab_program *mine) {
    double worst = 0;
    course c = {0};
    wide *bf16 = NULL;
    lab_check_hazards(true);
    bool alive = check_shapes(mine, &bf16);
    lab_check_hazards(false);
    grade_races(lab_verdict_of(RACES), alive);
    alive = alive && check_long(mine, &worst) && train(mine, &c);
    if (alive)
        grade_timed(mine, worst, &c, bf16);
    else
        lab_skip_rest(FAILED);
    if (bf16) wide_free(bf16);
}

int main(int argc, char **argv) {
    if (lab_lane() == LAB_GPU) spec.title = "dense 4096x4096x4096, 64 M halves";
    lab_options opt = lab_begin(&spec, argc, argv);
    lab_program *mine = lab_open(LAB_MINE, NULL);
    lab_pass(lab_verdict_of(CORRECT)); /* until a run says otherwise */
    if (opt.lines) return print_lines(mine), lab_leave();
    if (opt.counted) {
        const job_shape shape = {1024, 1024, 1024, JOB_TAME};
        lab_time once;
        run_job(job_new(mine, "counted", &shape), &once);
        return lab_leave();
    }
    grade(mine);
    return lab_end();
}

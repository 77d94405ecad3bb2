/* run.c — plays a training and checks it; see run.h. */
#include "run.h"
#include "task.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LOSS_TOLERANCE   5e-5 /* of a loss, relative; doubled by later steps */
#define WEIGHT_TOLERANCE 4e-3 /* of a weight, relative to the largest move in its tensor */

static void *checked(void *memory) {
    if (!memory) lab_die("out of memory for a training");
    return memory;
}

static size_t count_of(const run *r) { return lab11_offset(&r->job, LAB11_TENSORS); }

const char *tensor_name(int tensor) {
    static const char *const names[LAB11_TENSORS] = {"embedding", "position", "gain1", "qkv",   "mix",
                                                     "gain2",     "up",       "down",  "gain3", "out"};
    return names[tensor];
}

/* --- mistakes ------------------------------------------------------------------------------------ */

static void mistaken(run *r, enum mistake which, int step, const char *fmt, ...) LAB_PRINTF(4, 5);
static void mistaken(run *r, enum mistake which, int step, const char *fmt, ...) {
    char what[384];
    va_list args;
    if (r->mistake) return;
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    r->mistake = which;
    r->step = step;
    LAB_SAY(r->failure, "%d characters, D = %d, %d head%s, V = %d, %d step%s: %s", r->job.context, r->job.width,
            r->job.heads, r->job.heads == 1 ? "" : "s", r->job.symbols, r->job.steps, r->job.steps == 1 ? "" : "s",
            what);
}

/* --- losses -------------------------------------------------------------------------------------- */

static bool is_near(double got, double want, int step) {
    return fabs(got - want) <= LOSS_TOLERANCE * (1 + 0.5 * step) * fabs(want);
}

/* Returns the part of the network whose absence explains the first loss; MODEL_PARTS: none. */
static enum model_part missing_part(const run *r, double got) {
    for (enum model_part part = 0; part < MODEL_PARTS; part++) {
        model *m = model_new(&r->job, r->first);
        model_without(m, part);
        const bool it_is = is_near(got, model_step(m), 0);
        model_free(m);
        if (it_is) return part;
    }
    return MODEL_PARTS;
}

static void describe_loss(run *r, int step, const double *want) {
    const double got = (double)r->reply.losses[step];
    char what[96];
    LAB_SAY(what, "losses[%d] is %.6g, wants %.6g", step, got, want[step]);
    if (r->reply.losses[step] == LAB11_NOTHING)
        return mistaken(r, NOT_REPORTED, step, "losses[%d] was never written", step);
    if (isnan(got)) return mistaken(r, BECAME_NAN, step, "losses[%d] is not a number, wants %.6g", step, want[step]);
    if (is_near(got, want[step] * r->job.context, step))
        return mistaken(r, NOT_THE_MEAN, step, "%s: it is the sum of the rows' losses", what);
    for (int other = 0; other < r->job.steps; other++)
        if (other != step && is_near(got, want[other], 0))
            return mistaken(r, OTHER_STEP, step, "%s: that is the loss of step %d", what, other);
    if (step > 0) return mistaken(r, LATER_LOSS, step, "%s; the losses before it are right", what);
    r->part = missing_part(r, got);
    if (r->part < MODEL_PARTS)
        mistaken(r, OTHER_FORWARD, step, "%s: so it is %s", what, model_part_name(r->part));
    else
        mistaken(r, FIRST_LOSS, step, "%s", what);
}

static void check_losses(run *r, const double *want) {
    if (r->reply.behind)
        mistaken(r, BEHIND_LOSSES, -1, "losses[%d] or one behind it was written; the last is losses[%d]", r->job.steps,
                 r->job.steps - 1);
    for (int step = 0; step < r->job.steps && !r->mistake; step++)
        if (!is_near((double)r->reply.losses[step], want[step], step)) describe_loss(r, step, want);
    if (!r->mistake && r->reply.result != -1)
        mistaken(r, STOPPED, -1, "train returned %d, and all losses are numbers; then it returns -1", r->reply.result);
}

/* --- weights ------------------------------------------------------------------------------------- */

/* The first wrong weight of a tensor and how many there are. */
typedef struct {
    size_t at;
    int wrong, unmoved;
    double most; /* the largest move in the tensor */
} tensor_diff;

static tensor_diff compare_tensor(const run *r, const double *want, int tensor) {
    const size_t from = lab11_offset(&r->job, tensor), to = lab11_offset(&r->job, tensor + 1);
    tensor_diff d = {.at = from};
    for (size_t i = from; i < to; i++) d.most = fmax(d.most, fabs(want[i] - (double)r->first[i]));
    for (size_t i = from; i < to; i++) {
        if (fabs((double)r->got[i] - want[i]) <= WEIGHT_TOLERANCE * d.most + 4e-7) continue;
        if (!d.wrong++) d.at = i;
        d.unmoved += r->got[i] == r->first[i];
    }
    return d;
}

/* Whether all moves of the tensor are `factor` times the right ones. */
static bool moved_by(const run *r, const double *want, int tensor, double factor, double most) {
    for (size_t i = lab11_offset(&r->job, tensor); i < lab11_offset(&r->job, tensor + 1); i++) {
        const double right = want[i] - (double)r->first[i], got = (double)r->got[i] - (double)r->first[i];
        if (fabs(got - factor * right) > 2e-2 * most * fabs(factor) + 4e-7) return false;
    }
    return true;
}

static void describe_weight(run *r, const double *want, int tensor, tensor_diff d) {
    const int cols = lab11_cols(&r->job, tensor), n = lab11_rows(&r->job, tensor) * cols;
    const size_t at = d.at - lab11_offset(&r->job, tensor);
    const double right = want[d.at] - (double)r->first[d.at], got = (double)r->got[d.at] - (double)r->first[d.at];
    static const struct {
        double factor;
        const char *what;
    } factors[] = {{-1, "all of it moves the other way"},
                   {0.1, "all of it moves by a tenth"},
                   {2, "all of it moves twice as far"},
                   {0.5, "all of it moves half as far"}};
    char where[64];
    if (n == cols)
        LAB_SAY(where, "%s[%zu]", tensor_name(tensor), at);
    else
        LAB_SAY(where, "%s[%zu][%zu]", tensor_name(tensor), at / (size_t)cols, at % (size_t)cols);
    r->tensor = tensor;
    if (d.unmoved == d.wrong)
        return mistaken(r, UNMOVED, -1, "%s is as it was before the training, %d of its %d weights should have moved",
                        where, d.wrong, n);
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (moved_by(r, want, tensor, factors[i].factor, d.most))
            return mistaken(r, OTHER_UPDATE, -1, "%s has moved by %.4g, wants %.4g: %s", where, got, right,
                            factors[i].what);
    if (r->job.context > 2 && moved_by(r, want, tensor, r->job.context, d.most))
        return mistaken(r, TIMES_N, -1,
                        "%s has moved by %.4g, wants %.4g: %d times as far, as if the loss were "
                        "the sum of the rows'",
                        where, got, right, r->job.context);
    mistaken(r, OTHER_GRADIENT, -1, "%s has moved by %.4g, wants %.4g (%d of its %d weights are wrong)", where, got,
             right, d.wrong, n);
}

/* In the order of the backward pass: the first wrong gradient makes those behind it wrong. */
static void check_weights(run *r, const double *want) {
    static const int order[LAB11_TENSORS] = {LAB11_OUT, LAB11_GAIN3, LAB11_DOWN,  LAB11_UP,        LAB11_GAIN2,
                                             LAB11_MIX, LAB11_QKV,   LAB11_GAIN1, LAB11_EMBEDDING, LAB11_POSITION};
    for (int i = 0; i < LAB11_TENSORS && !r->mistake; i++) {
        const tensor_diff d = compare_tensor(r, want, order[i]);
        if (d.wrong) describe_weight(r, want, order[i], d);
    }
}

/* --- a training that breaks ----------------------------------------------------------------------- */

/* The losses before the broken step are right; when it stopped is the harness's to say (it compares runs). */
static void check_broken(run *r, const double *want) {
    const int said = r->reply.result;
    for (int step = 0; step < r->broken && !r->mistake; step++)
        if (!is_near((double)r->reply.losses[step], want[step], step)) describe_loss(r, step, want);
    if (r->mistake) return;
    if (said < 0)
        mistaken(r, NAN_MISSED, r->broken, "the loss of step %d was not a number, and train returned %d", r->broken,
                 said);
    else if (said != r->broken)
        mistaken(r, NAN_OTHER, r->broken, "the first loss that is not a number was that of step %d; train returned %d",
                 r->broken, said);
    else if (!isnan(r->reply.losses[r->broken]))
        mistaken(r, NAN_HIDDEN, r->broken, "losses[%d] is %g where the loss was not a number", r->broken,
                 (double)r->reply.losses[r->broken]);
}

static void check_guards(run *r, int side) {
    if (side) mistaken(r, OUT_OF_BOUNDS, -1, "memory %s the weights was written", side < 0 ? "before" : "behind");
}

static void check(run *r) {
    if (r->mistake) return;
    double want[LAB11_MOST_STEPS];
    const int steps = r->broken >= 0 ? r->broken : r->job.steps;
    model *m = model_new(&r->job, r->first);
    for (int step = 0; step < steps; step++) want[step] = model_step(m);
    if (r->broken >= 0) {
        check_broken(r, want);
    } else {
        check_losses(r, want);
        LAB_CUDA(cudaMemcpy(r->got, r->d_weights, count_of(r) * sizeof *r->got, cudaMemcpyDeviceToHost));
        check_weights(r, model_weights(m));
        check_guards(r, lab_guards_broken(r->d_weights, count_of(r)));
    }
    model_free(m);
}

/* --- playing -------------------------------------------------------------------------------------- */

static run *playing; /* for the player's question */

static void answer(const void *question, size_t size, void *to, size_t room) {
    (void)question, (void)size;
    memcpy(to, playing->text, room);
}

static void prepare(void *context) {
    run *r = context;
    const size_t count = count_of(r);
    r->seed = r->again ? r->again : lab_fresh_seed();
    make_text(r->text, r->job.length, r->job.symbols, r->seed);
    make_weights(r->first, &r->job, r->seed);
    if (r->broken >= 0 && !break_step(r->text, r->first, &r->job, r->broken)) lab_die("no step %d to break", r->broken);
    r->d_weights = lab_alloc(count);
    LAB_CUDA(cudaMemcpy(r->d_weights, r->first, count * sizeof *r->first, cudaMemcpyHostToDevice));
    LAB_CUDA(cudaDeviceSynchronize());
    r->message = (struct lab11_message){r->job.symbols, r->job.context, r->job.width, r->job.heads,
                                        r->job.steps,   r->job.length,  r->job.rate,  (uint64_t)r->d_weights};
    playing = r;
    lab_answer_with(answer);
    if (!r->counted) return;
    lab_stage("your train (%d characters, D = %d)", r->job.context, r->job.width);
    lab_count_begin(r->counted);
    meter_begin(&r->meter, r->d_weights);
    r->begin = lab_now();
}

/* What is wrong with CUDA after the training, if anything. */
static void note_errors(run *r) {
    const cudaError_t left = cudaGetLastError(), ran = cudaDeviceSynchronize();
    r->error = ran ? ran : left;
    if (r->error == cudaErrorNotReady) r->error = cudaSuccess; /* an answer to a query, not an error */
    if (!r->counted) return;
    if (r->error && r->meter.failed.name) r->error = r->meter.failed.error; /* the first comes first */
    if (r->meter.freed.name)
        mistaken(r, WEIGHTS_FREED, -1, "train freed the weights, which are not yours: it was only lent them");
    else if (r->error)
        mistaken(r, A_CALL_FAILED, -1, "%s after train", cudaGetErrorName(r->error));
}

/* What a timed training left, and the one before it. */
struct timed_run {
    uint64_t seed;
    struct lab11_reply reply;
    int side; /* of the weights where memory was written: -1, 1; 0: none */
    struct timed_run *before;
    float weights[];
};

static void keep(run *r) {
    const size_t bytes = count_of(r) * sizeof(float);
    struct timed_run *kept = checked(malloc(sizeof *kept + bytes));
    kept->seed = r->seed;
    kept->reply = r->reply;
    kept->side = lab_guards_broken(r->d_weights, count_of(r));
    kept->before = r->timed;
    LAB_CUDA(cudaMemcpy(kept->weights, r->d_weights, bytes, cudaMemcpyDeviceToHost));
    r->timed = kept;
}

static void verify(void *context) {
    run *r = context;
    note_errors(r);
    r->end = lab_now();
    if (r->counted) {
        meter_end();
        lab_count_end();
        lab_stage("the harness, after your train");
    }
    if (r->error || r->meter.freed.name) return;
    if (r->counted) check(r);
    if (r->kept) keep(r);
    lab_free(r->d_weights);
}

bool run_play(run *r) {
    lab_use(r->program);
    prepare(r);
    lab_play(r->program, &r->message, sizeof r->message, &r->reply, sizeof r->reply);
    verify(r);
    return !r->error && !r->meter.freed.name;
}

/* Compares with what another program made of the same text and weights, in float. */
static void compare(run *r, const run *right, double *weights) {
    double losses[LAB11_MOST_STEPS];
    for (int step = 0; step < r->job.steps; step++) losses[step] = (double)right->reply.losses[step];
    for (size_t i = 0; i < count_of(r); i++) weights[i] = (double)right->timed->weights[i];
    check_losses(r, losses);
    check_weights(r, weights);
}

bool run_check_kept(run *r, run *right) {
    double *weights = checked(malloc(count_of(r) * sizeof *weights));
    right->kept = true;
    for (const struct timed_run *kept = r->timed; kept && !r->mistake; kept = kept->before) {
        right->again = kept->seed;
        if (!run_play(right)) lab_die("a program of the harness failed: %s", cudaGetErrorString(right->error));
        memcpy(r->text, right->text, (size_t)r->job.length);
        memcpy(r->first, right->first, count_of(r) * sizeof *r->first);
        memcpy(r->got, kept->weights, count_of(r) * sizeof *r->got);
        r->reply = kept->reply;
        compare(r, right, weights);
        check_guards(r, kept->side);
    }
    free(weights);
    return !r->mistake;
}

run *run_new(lab_program *program, const char *counted, shape s, int broken) {
    run *r = lab_hide(sizeof *r);
    *r = (run){.program = program, .counted = counted, .broken = broken, .step = -1, .tensor = -1};
    const int length = s.context * (broken < 0 ? 5 : s.steps + 2) + 13 * s.context / 8 + 1;
    r->job = (struct lab11_job){s.symbols, s.context, s.width, s.heads, s.steps, s.rate, NULL, length};
    r->text = checked(malloc((size_t)length));
    r->first = checked(malloc(count_of(r) * sizeof *r->first));
    r->got = checked(malloc(count_of(r) * sizeof *r->got));
    r->job.text = r->text;
    r->work = (lab_work){program, prepare, verify, r, &r->message, sizeof r->message, &r->reply, sizeof r->reply, NULL};
    return r;
}

/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "errors.h"

#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

static double launches_of(const lab_line *l) { return l->launches; }
static double stores_of(const lab_line *l) { return l->c.st_requests; }
static double work_of(const lab_line *l) { return l->c.inst; }

/* --- a wrong training -------------------------------------------------------------------------- */

/* The line to begin with, of those that ran, or by its text. */
enum look { AT_NOTHING, AT_LAUNCH, AT_STORE, AT_LOSSES, AT_RETURN, AT_TENSOR, AT_PART };

static const struct {
    lab_advice advice;
    enum look look;
} for_mistake[] = {
    [NO_MISTAKE] = {{"learns", ""}, AT_NOTHING},
    [A_CALL_FAILED] = {{"error", "look at the first call that does not return cudaSuccess"}, AT_LAUNCH},
    [WEIGHTS_FREED] = {{"error", "free what you have allocated, and leave the weights alone"}, AT_NOTHING},
    [NOT_REPORTED] = {{"losses", "write the loss of each step to losses[], those of the last steps, too"}, AT_LOSSES},
    [BEHIND_LOSSES] = {{"losses", "the losses are losses[0] to losses[steps - 1]; copy no more than these"}, AT_LOSSES},
    [STOPPED] = {{"nan", "return -1 unless a loss is not equal to itself"}, AT_RETURN},
    [BECAME_NAN] = {{"learns", "find the first array that has a NaN: a sum that is 0 below a fraction bar, the root of "
                               "a negative number, memory that nobody has written"},
                    AT_STORE},
    [OTHER_FORWARD] = {{"forward", "compare this part of your program with its formula in lab11.h"}, AT_PART},
    [OTHER_STEP] = {{"losses", "losses[k] is the loss of step k: follow the number of the step from where the text is "
                               "read to where the loss is written"},
                    AT_LOSSES},
    [NOT_THE_MEAN] = {{"losses", "divide by the number of rows: the loss is their mean"}, AT_LOSSES},
    [FIRST_LOSS] = {{"forward", "compare each array of the forward pass with a copy of the starter's, in the order of "
                                "lab11.h; the first that differs has the mistake"},
                    AT_NOTHING},
    [LATER_LOSS] = {{"steps", "what does a step find that it should not: an array that nobody cleared, another part of "
                              "the text, a velocity that began anew?"},
                    AT_NOTHING},
    [UNMOVED] = {{"update", "does your update reach this weight? Count its rows and columns"}, AT_TENSOR},
    [OTHER_UPDATE] = {{"update", "velocity = 0.9 * velocity + gradient; weight -= rate * velocity; once a step"},
                      AT_TENSOR},
    [TIMES_N] = {{"losses",
                  "divide by N: the loss is the mean over the rows, so the gradient of the logits is (share - 1 "
                  "at the next character) / N"},
                 AT_NOTHING},
    [OTHER_GRADIENT] = {{"gradient", "compare the gradient of this array with that of a copy of the starter, after one "
                                     "step"},
                        AT_TENSOR},
    [OUT_OF_BOUNDS] = {{"error", "test row and column of each thread against the shape of what it writes"}, AT_STORE},
    [NAN_MISSED] = {{"nan", "look at every loss once; those of the last steps are still to come when the loop ends"},
                    AT_RETURN},
    [NAN_OTHER] = {{"nan", "look at the losses in their order, and return the step whose loss it is, not the one in "
                           "which you look"},
                   AT_RETURN},
    [NAN_HIDDEN] = {{"nan", "the broken loss is reported, too: write it to losses[] before you stop"}, AT_LOSSES},
    [NAN_LATE] = {{"nan", "look at each loss a few steps after its own, and before you queue another"}, AT_RETURN},
};

/* The weights whose gradient is the first wrong one of the backward pass tell where that pass leaves the right way. */
static const lab_advice for_tensor[LAB11_TENSORS] = {
    [LAB11_OUT] = {"gradient", "the gradient of out is h3 turned, times that of the logits: (share - 1 where it is the "
                               "next character) / N"},
    [LAB11_GAIN3] = {"gradient",
                     "the gradient of gain3 sums, over all rows, that of h3 times the normalised x2, column "
                     "by column"},
    [LAB11_DOWN] = {"gradient",
                    "the gradient of down is gelu(u) turned, times that of x2, which comes through the last "
                    "normalisation"},
    [LAB11_UP] = {"gradient", "the gradient of up is h2 turned, times that of u: that of gelu(u), times the slope of "
                              "gelu"},
    [LAB11_GAIN2] = {"gradient", "the gradient of gain2 sums, over all rows, that of h2 times the normalised x1"},
    [LAB11_MIX] = {"gradient", "the gradient of mix is o turned, times that of x1; two ways lead back to x1: the "
                               "residual, and h2"},
    [LAB11_QKV] = {"gradient", "the gradients of q, k and v: columns below D are q's, below 2D k's, then v's. Which of "
                               "them is wrong? The scores' gradient is share * (dp - sum of share * dp) / sqrt(S)"},
    [LAB11_GAIN1] = {"gradient", "the gradient of gain1 sums, over all rows, that of h1 times the normalised x0"},
    [LAB11_EMBEDDING] = {"gradient",
                         "each character's row sums the gradients of all the rows of x0 where it stands; two "
                         "ways lead back to x0: the residual, and h1"},
    [LAB11_POSITION] = {"gradient", "the gradient of position is that of x0, row by row"},
};

/* What a line about this part of the network mentions. */
static const char *const text_of_part[MODEL_PARTS] = {
    [MODEL_NO_MASK] = "LAB11_QKV",       [MODEL_MASKS_SELF] = "LAB11_QKV",       [MODEL_NO_SCALE] = "LAB11_QKV",
    [MODEL_SCALE_OF_ALL] = "LAB11_QKV",  [MODEL_NO_POSITION] = "LAB11_POSITION", [MODEL_NO_GAIN] = "LAB11_GAIN1",
    [MODEL_NO_GELU] = "LAB11_UP",        [MODEL_NO_RESIDUAL1] = "LAB11_MIX",     [MODEL_NO_RESIDUAL2] = "LAB11_DOWN",
    [MODEL_LAST_NORMAL] = "LAB11_GAIN3", [MODEL_SAME_CHARACTER] = "text",
};

/* Lines that name a tensor: the first is of the forward pass, the last of the backward pass or the update. */
static void look_at_tensor(lab_verdict *v, int tensor) {
    static const char *const names[LAB11_TENSORS] = {"LAB11_EMBEDDING", "LAB11_POSITION", "LAB11_GAIN1", "LAB11_QKV",
                                                     "LAB11_MIX",       "LAB11_GAIN2",    "LAB11_UP",    "LAB11_DOWN",
                                                     "LAB11_GAIN3",     "LAB11_OUT"};
    lab_blame_last(v, names[tensor]);
}

static void look_at(lab_verdict *v, enum look look, const run *r, const lab_usage *u) {
    const lab_line *launch = lab_worst(u, launches_of), *store = lab_worst(u, stores_of);
    switch (look) {
    case AT_NOTHING: return;
    case AT_LAUNCH: return lab_blame(v, launch);
    case AT_STORE: return lab_blame(v, store ? store : launch);
    case AT_LOSSES:
        lab_blame_text(v, u, "losses"); /* where the next finds nothing */
        return lab_blame_text(v, u, "losses[");
    case AT_RETURN: return lab_blame_return(v, "train(");
    case AT_TENSOR: return look_at_tensor(v, r->tensor);
    case AT_PART: return lab_blame_text(v, u, text_of_part[r->part]);
    }
}

static const lab_advice on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"error", "work out row and column of this thread: do they lie beyond the shape? Then compare "
                                   "the bytes that you allocate with the shape"},
    [LAB_HOST_ADDRESS] = {"error", "pass the kernel device memory: text and losses are memory of the host"},
};

void advise_on_run(lab_verdict *v, const run *r, const lab_usage *u) {
    enum { SHORT_TEXT = 32 }; /* the shapes before have fewer characters */
    static const lab_advice tiles = {
        "forward", "shapes before it are right: is it the second tile, or S or V? A tile's first index, what is "
                   "behind the end of the last one, and in the attention the correction by "
                   "exp(most - now) of the sum and of the result"};
    static const lab_advice velocity = {
        "update", "this is the first loss for which the velocity of an earlier step counts: 0.9 of it "
                  "stays, and it is 0 before the first step"};
    if (r->mistake == A_CALL_FAILED) return lab_advise_on_error(v, r->error, NULL, u, on_errors);
    lab_advise(v, &for_mistake[r->mistake].advice);
    look_at(v, for_mistake[r->mistake].look, r, u);
    if (r->mistake == LATER_LOSS && r->step > 1) {
        lab_advise(v, &velocity);
        lab_blame_text(v, u, "velocity"); /* where the next finds nothing */
        lab_blame_ran(v, u, "velocity[", "");
    }
    if (r->mistake == OTHER_GRADIENT) lab_advise(v, &for_tensor[r->tensor]);
    if (r->mistake == FIRST_LOSS && r->job.context > SHORT_TEXT) lab_advise(v, &tiles);
    if (r->mistake == TIMES_N) {
        lab_blame_last(v, "expf"); /* where the next finds nothing: a share, less 1 at the next character */
        lab_blame_ran(v, u, "expf", "==");
    }
    if (r->mistake == WEIGHTS_FREED && r->meter.freed.file)
        lab_blame_place(v, &(struct simgpu_place){.file = r->meter.freed.file, .line = r->meter.freed.line});
}

/* --- findings ------------------------------------------------------------------------------------- */

static const char *next_for_race(const struct simgpu_finding *f) {
    if (f->space != SIMGPU_DEVICE_MEMORY)
        return "a tile in shared memory needs two barriers a round: one when it is full, before any thread reads it, "
               "and "
               "one when all have read it, before it is filled again";
    if (f->rival == SIMGPU_OTHER_BLOCK)
        return "blocks of one launch cannot wait for each other: let one launch write and the next one read, or read "
               "the "
               "old number and write a new one to another place";
    return "for each array, write down which thread writes it, which reads it, and what keeps the two apart";
}

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_finding(u);
    char what[512];
    /* The player, which calls your train, is no line of yours. */
    const bool ours = f->side[0].at.file && !strcmp(lab_file_name(f->side[0].at.file), "player.c");
    lab_blame_place(v, &f->side[ours && f->nsides > 1].at);
    LAB_SAY(v->why, "%s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
    switch (f->kind) {
    case SIMGPU_RACE: LAB_SAY(v->next, "%s", next_for_race(f)); return;
    case SIMGPU_UNINITIALISED:
        LAB_SAY(
            v->next,
            "who writes this first? Fresh memory holds anything: the velocity begins at 0, sums begin at 0, "
            "and a tile holds 0 behind the end of a matrix. If a line above writes it, a __syncthreads() is missing "
            "between the two");
        return;
    case SIMGPU_STREAM_ORDER: LAB_SAY(v->next, "queue both on one stream, or order the two by an event"); return;
    case SIMGPU_IN_FLIGHT:
        LAB_SAY(v->next, "wait for the copy before the host reads what it brings, or before train returns: by "
                         "cudaEventSynchronize or cudaStreamSynchronize");
        return;
    case SIMGPU_BARRIER_SKIPPED:
    case SIMGPU_BARRIER_EXITED:
        LAB_SAY(v->next, "let every thread of the block come to this barrier: move it out of the condition");
        return;
    }
}

/* --- memory -------------------------------------------------------------------------------------- */

void advise_on_memory(lab_verdict *v, const meter *m, double growth, double reference) {
    const meter_block *largest = NULL;
    for (int i = 0; i < m->nlargest; i++)
        if (!largest || m->largest[i].bytes > largest->bytes) largest = &m->largest[i];
    if (!largest) return;
    if (largest->file) lab_blame_place(v, &(struct simgpu_place){.file = largest->file, .line = largest->line});
    LAB_SAY(v->why,
            "%.2f times the reference, want ≤ 1.25; the largest of %d piece%s has %.0f KB; twice the text takes "
            "%.1f times the memory",
            (double)m->peak / reference, m->nlargest, m->nlargest == 1 ? "" : "s", (double)largest->bytes / 1e3,
            growth);
    if (growth <= MEMORY_LINEAR)
        LAB_SAY(v->next,
                "the attention is not it: which arrays hold what another array tells as well, or are needed in "
                "one part of the step only?");
}

/* --- time ----------------------------------------------------------------------------------------- */

void advise_on_time(lab_verdict *v, const run *r, const lab_usage *u, const profile *p) {
    const lab_line *launch = lab_worst(u, launches_of), *work = lab_worst(u, work_of);
    const double steps = r->job.steps, a_step = u->launches / steps;
    const bool host = r->meter.waits > 2 * steps || r->meter.allocations > steps || p->busy_ns < 0.6 * p->ns;
    lab_blame(v, a_step > 60 ? launch : work);
    if (a_step <= 60 && host && p->ncauses) lab_blame_place(v, &p->causes[0].at);
    LAB_SAY(v->why, "%.0f kernels and copies a step, %.1f waits of the host", (u->launches + u->copies) / steps,
            r->meter.waits / steps);
    if (a_step > 60)
        LAB_SAY(v->next, "one launch can compute all rows of a matrix: give the kernel a second index");
    else if (r->meter.waits > 2 * steps)
        LAB_SAY(v->next, "find out what the host waits for, and which of these answers it needs at once");
    else if (r->meter.allocations > steps)
        LAB_SAY(v->next, "allocate once, before the first step");
    else if (p->busy_ns < 0.6 * p->ns)
        LAB_SAY(v->next,
                "no kernel is under way for most of the time: let one call launch the kernels of a whole step (a "
                "graph), and see what the line 'idle' names besides");
}

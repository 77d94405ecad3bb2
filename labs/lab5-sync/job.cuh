/* job.cuh — one call of a training loop: fresh network and data before it, everything checked after it.
 *
 * What is right is computed after the call: the losses and the final weights by the oracle in double precision where
 * the network is small, else by the harness's own plain loop on the same device.
 */
#ifndef JOB_CUH
#define JOB_CUH

#include "lab.h"
#include "net.cuh"

#include <ctype.h>

typedef int (*train_fn)(const struct lab5_job *job, float *losses);

#define TOLERANCE 2e-5 /* of a loss, and of the weights: float against double, over all steps, is some 1e-7 */

typedef struct {
    train_fn fn;         /* yours, the starter's, the reference's or a rung: the same function under several names */
    const char *counted; /* the student's: the name of its stretch of the report; NULL: it is only timed */
    shape s;
    int steps, warm, poison;
    uint64_t seed;
    /* what came of it */
    cudaError_t error;
    int result, queued; /* what train returned; complete steps */
    double us;          /* of a step, from the end of step warm-1 to the end of the last; 0 if it did not come so far */
    double idle_launches, pageable_batches; /* a step, after the first `warm` */
    float losses[MOST_STEPS];
    char failure[256]; /* the first thing that is wrong */
    const char *blame; /* text of the student's line that is nearest to it */
    bool blame_last;   /* the last line with that text, not the first */
    const char *next;  /* the step that mends it; NULL: the row's own */
} job;

static job job_new(train_fn fn, const char *counted, shape s, int steps) {
    job j = {};
    j.fn = fn;
    j.counted = counted;
    j.s = s;
    j.steps = steps;
    j.warm = steps > 3 ? steps / 3 : 1;
    j.poison = -1;
    j.seed = lab_fresh_seed();
    j.blame = "lab5_forward(";
    return j;
}

static float *device_floats(size_t count) {
    float *p;
    LAB_CUDA(cudaMalloc(&p, count * sizeof *p));
    return p;
}

static void net_begin(const job *j) {
    size_t n = batch_floats(j->s), weights = weight_floats(j->s), units = (size_t)j->s.batch * j->s.hidden;
    memset(&net, 0, sizeof net);
    net.s = j->s;
    net.steps = j->steps;
    net.poison = j->poison;
    net.warm = j->warm;
    net.pool = (float *)malloc(POOL * n * sizeof(float));
    float *w = (float *)malloc(weights * sizeof *w);
    if (!net.pool || !w) lab_die("out of memory");
    for (int i = 0; i < POOL; i++) make_batch(j->s, j->seed, i, net.pool + i * n);
    for (size_t k = 0; k < weights; k++) w[k] = first_weight(j->s, j->seed, k);
    net.weights = device_floats(weights);
    net.gradients = device_floats(weights);
    net.hidden = device_floats(units);
    net.delta = device_floats(units);
    net.error = device_floats(j->s.batch);
    net.square = device_floats(j->s.batch);
    net.seen = device_floats(2 * (size_t)j->steps);
    LAB_CUDA(cudaMemcpy(net.weights, w, weights * sizeof *w, cudaMemcpyHostToDevice));
    LAB_CUDA(cudaMemset(net.seen, 0xff, 2 * (size_t)j->steps * sizeof(float)));
    LAB_CUDA(cudaEventCreate(&net.begin));
    LAB_CUDA(cudaEventCreate(&net.end));
    LAB_CUDA(cudaDeviceSynchronize());
    free(w);
}

static void net_end(void) {
    float *all[] = {net.weights, net.gradients, net.hidden, net.delta, net.error, net.square, net.seen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cudaFree(all[i]);
    cudaEventDestroy(net.begin);
    cudaEventDestroy(net.end);
    free(net.pool);
}

/* --- what can be wrong ------------------------------------------------------------------------ */

/* Which batch did step k work on? */
static void check_stamps(job *j, const float *seen, int steps) {
    for (int k = 0; k < steps && !j->failure[0]; k++) {
        float front = seen[2 * k], back = seen[2 * k + 1], other = front != (float)k ? front : back;
        if (front == (float)k && back == (float)k) continue;
        const char *which = front != (float)k ? "forward pass" : "backward pass";
        j->blame = front != (float)k ? "lab5_forward(" : "lab5_backward(";
        j->next =
            "the kernels come after their batch: an event behind its copy, and cudaStreamWaitEvent before lab5_forward";
        if (!net.loaded[k]) {
            snprintf(j->failure, sizeof j->failure, "step %d was queued, and lab5_load was never asked for batch %d", k,
                     k);
            j->next = "each step has a batch of its own: follow the number that you hand to lab5_load";
        } else if (!(other >= 0 && other < (float)j->steps)) {
            snprintf(j->failure, sizeof j->failure, "the %s of step %d read memory that no batch had reached yet",
                     which, k);
        } else if (other < (float)k) {
            snprintf(j->failure, sizeof j->failure,
                     "the %s of step %d worked on batch %.0f: the copy of batch %d had not arrived", which, k, other,
                     k);
        } else {
            snprintf(j->failure, sizeof j->failure,
                     "the %s of step %d worked on batch %.0f: a buffer was filled again before step %d was through "
                     "with it",
                     which, k, other, k);
            j->next =
                "before a buffer is filled again, wait for an event that stands behind its last reader: lab5_backward";
        }
    }
}

static bool near(double got, double want) { return fabs(got - want) <= TOLERANCE * fabs(want) + 1e-6; }

static void check_losses(job *j, const double *want, int steps) {
    j->blame = "losses[";
    for (int k = 0; k < steps && !j->failure[0]; k++) {
        bool late = k > 0 && k >= steps - LAB5_GRACE; /* right so long: it is about the end of the loop */
        if (late) {
            j->blame = "losses";
            j->blame_last = true;
            j->next = "after the loop, wait for the copies of the last losses, and only then read what they brought";
        } else {
            j->next = j->losses[k] == -1
                          ? "the loss of each step belongs in losses[step]: follow the first one through your loop"
                          : "a loss can be read when the host has waited for its copy: an event, cudaEventSynchronize";
        }
        if (j->losses[k] == -1)
            snprintf(j->failure, sizeof j->failure, "losses[%d] was never written, or not before train returned", k);
        else if (!near(j->losses[k], want[k]))
            snprintf(j->failure, sizeof j->failure, "losses[%d] is %.6g, wants %.6g", k, j->losses[k], want[k]);
    }
    if (!j->failure[0]) j->next = NULL;
}

/* Losses and weights against the oracle's. */
static void check_training(job *j) {
    size_t n = weight_floats(j->s);
    double *w = (double *)malloc(n * sizeof *w), *hidden = (double *)malloc(j->s.hidden * sizeof *hidden);
    double want[MOST_STEPS], size = 0, off = 0;
    float *got = (float *)malloc(n * sizeof *got);
    if (!w || !hidden || !got) lab_die("out of memory");
    for (size_t k = 0; k < n; k++) w[k] = first_weight(j->s, j->seed, k);
    for (int k = 0; k < j->steps; k++) want[k] = oracle_step(j->s, net.pool + k % POOL * batch_floats(j->s), w, hidden);
    check_losses(j, want, j->steps);
    LAB_CUDA(cudaMemcpy(got, net.weights, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < n; k++) {
        size += w[k] * w[k];
        off += (got[k] - w[k]) * (got[k] - w[k]);
    }
    if (!j->failure[0] && !(sqrt(off) <= TOLERANCE * sqrt(size))) {
        j->blame = "lab5_update(";
        j->blame_last = false;
        snprintf(j->failure, sizeof j->failure,
                 "the final weights differ from those of plain training by %.2g of their size", sqrt(off / size));
    }
    free(w);
    free(hidden);
    free(got);
}

/* --- the run ---------------------------------------------------------------------------------- */

static void job_call(job *j) {
    struct lab5_job task = {j->steps, batch_floats(j->s) * sizeof(float)};
    float *losses = (float *)malloc(j->steps * sizeof *losses);
    if (!losses) lab_die("out of memory");
    for (int k = 0; k < j->steps; k++) losses[k] = -1;
    if (j->counted) {
        lab_stage("your train, %d steps%s", j->steps,
                  j->poison < 0 ? "" : ", of which one has a loss that is no number");
        lab_count_begin(j->counted);
    }
    lab_lock();
    j->result = j->fn(&task, losses);
    lab_unlock();
    memcpy(j->losses, losses, j->steps * sizeof *losses); /* before anything that is still queued can run */
    j->error = cudaGetLastError();
    if (j->error == cudaErrorNotReady) j->error = cudaSuccess; /* an answer to a query, not an error */
    cudaError_t ran = cudaDeviceSynchronize();
    if (!j->error) j->error = ran;
    if (j->counted) {
        lab_count_end();
        lab_stage("the harness, after your train");
    }
    free(losses);
}

/* Runs the loop. What it got wrong is in failure afterwards. Small networks are held to the oracle. */
static void job_run(job *j, bool oracle) {
    net_begin(j);
    job_call(j);
    if (j->error) {
        snprintf(j->failure, sizeof j->failure, "%s", cudaGetErrorName(j->error));
        j->next = "read what each CUDA call returns, in order: the first that is not cudaSuccess is the one to mend";
    } else if (net.failure[0]) {
        memcpy(j->failure, net.failure, sizeof j->failure);
        j->blame = net.blame;
        j->next = "lab5.h says what a step is made of, and how far the loader may be ahead";
    }
    j->queued = net.queued;
    if (!j->error && j->queued == j->steps) {
        float ms;
        LAB_CUDA(cudaEventElapsedTime(&ms, net.begin, net.end));
        j->us = ms * 1e3 / (j->steps - j->warm);
    }
    j->idle_launches = (double)net.idle_launches / (j->steps - j->warm);
    j->pageable_batches = (double)net.pageable_batches / (j->steps - j->warm);
    if (j->counted && !j->error) {
        static float seen[2 * MOST_STEPS];
        int sound = j->poison < 0 ? j->queued : j->poison < j->queued ? j->poison : j->queued;
        LAB_CUDA(cudaMemcpy(seen, net.seen, 2 * (size_t)j->steps * sizeof(float), cudaMemcpyDeviceToHost));
        check_stamps(j, seen, sound);
        if (j->poison < 0 && j->queued < j->steps && !j->failure[0])
            snprintf(j->failure, sizeof j->failure, "only %d of %d steps were trained", j->queued, j->steps);
        if (j->poison < 0 && j->result != -1 && !j->failure[0])
            snprintf(j->failure, sizeof j->failure, "train returned %d; all losses are numbers, so it must return -1",
                     j->result);
        if (oracle && !j->failure[0]) check_training(j);
    }
    if (!j->error) net_end();
}

/* --- whose line it was ------------------------------------------------------------------------ */

/* Takes the comments out of a line; `inside` says whether one is open. */
static void blank_comments(char *row, bool *inside) {
    for (char *p = row; *p; p++) {
        if (!*inside && !strncmp(p, "//", 2)) {
            *p = 0;
            return;
        }
        bool edge = !strncmp(p, *inside ? "*/" : "/*", 2);
        if (edge) *inside = !*inside;
        if (edge || *inside) *p = ' ';
        if (edge) *++p = ' ';
    }
}

/* Does the text stand in the row as a word of its own? "losses[" is not in "d_losses[". */
static bool has_word(const char *row, const char *text) {
    for (const char *p = row; (p = strstr(p, text)); p++)
        if (p == row || (!isalnum((unsigned char)p[-1]) && !strchr("_.>", p[-1]))) return true;
    return false;
}

/* Places the row at the first, or the last, line of the student's code with this text. */
static bool blame_code(const char *row, const char *text, bool last) {
    lab_line at = {};
    char *code = NULL;
    size_t room = 0;
    bool inside = false;
    FILE *f = net.load_file ? fopen(net.load_file, "re") : NULL;
    for (int n = 1; f && (last || !at.line) && getline(&code, &room, f) > 0; n++) {
        blank_comments(code, &inside);
        if (has_word(code, text)) at.line = n;
    }
    free(code);
    if (f) fclose(f);
    if (!at.line) return false;
    snprintf(at.file, sizeof at.file, "%s", net.load_file);
    lab_blame(row, &at);
    return true;
}

static void blame_load(const char *row) {
    lab_line at = {};
    if (!net.load_file) return;
    snprintf(at.file, sizeof at.file, "%s", net.load_file);
    at.line = net.load_line;
    lab_blame(row, &at);
}

/* A kernel of the harness was stopped: the student's line is the one that called for it. */
static void blame_fault(const char *row, const lab_usage *u) {
    static const char *const calls[][2] = {
        {"forward", "lab5_forward("}, {"errors", "lab5_loss("}, {"mean", "lab5_loss("}, {"backward", "lab5_backward("}};
    const struct simgpu_fault *f = lab_fault(u);
    lab_blame_fault(row, u);
    for (size_t i = 0; f && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(f->kernel, calls[i][0]) && blame_code(row, calls[i][1], false))
            lab_next(row,
                     "look at what this line hands over: is it device memory, allocated, and as large as it is used?");
}

/* Fails the row where the run went wrong. In the sim lane a kernel's fault has a place. */
static void blame_run(const char *row, const job *j) {
    lab_usage u;
    char none[256];
    lab_fail(row);
    lab_why(row, "%s", j->failure);
    if (j->next) lab_next(row, "%s", j->next);
    if (!j->error) {
        if (j->blame == net.blame && !strcmp(j->blame, "lab5_load("))
            blame_load(row);
        else if (!blame_code(row, j->blame, j->blame_last))
            blame_code(row, "lab5_loss(", false);
    } else if (lab_count_read(j->counted, &u, none, sizeof none) == 0) {
        if (!lab_fault(&u)) lab_why(row, "a CUDA call in train gave back %s", j->failure);
        blame_fault(row, &u);
        lab_usage_free(&u);
    }
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_harness(const struct simgpu_place *at) {
    return !strcmp(base_name(at->file), "harness.cu") || !strcmp(base_name(at->file), "net.cuh");
}

/* Blames the place if it is a line of the student's. */
static bool blame_place(const char *row, const struct simgpu_place *at) {
    if (!net.load_file || !at->file || strcmp(base_name(at->file), base_name(net.load_file))) return false;
    lab_blame_place(row, at);
    return true;
}

/* What SimGPU's checks found in a run that came out right: something that nothing puts in order. Its place is yours, or
 * a line of the harness that your loop called. */
static void blame_hazard(const char *row, const job *j) {
    lab_usage u;
    char none[256], what[512];
    if (lab_count_read(j->counted, &u, none, sizeof none)) return;
    const struct simgpu_finding *f = lab_finding(&u);
    if (!f) return lab_usage_free(&u);
    const struct simgpu_place *here = &f->side[0].at, *there = &f->side[1].at;
    lab_fail(row);
    if (here->file && !is_harness(here)) {
        lab_why(row, "right by luck");
        lab_blame_finding(row, &u);
    } else {
        lab_why(row, "right by luck; %s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
        if (f->kind == SIMGPU_IN_FLIGHT && here->did == SIMGPU_DID_WRITE)
            blame_load(row);
        else if (!blame_place(row, there))
            blame_code(row, "lab5_forward(", false);
    }
    lab_usage_free(&u);
}

#endif

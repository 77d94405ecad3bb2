/* training.c — plays one training, answers its functions' questions, and checks the results; see training.h. */
#include "training.h"
#include "advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 2e-5 /* of a loss, and of the weights: float against double, over all steps, is some 1e-7 */

enum { FORWARD, LOSS, BACKWARD, UPDATE, PARTS };
static const char *const part_names[] = {"lab5_forward", "lab5_loss", "lab5_backward", "lab5_update"};
static const char *const part_calls[] = {"lab5_forward(", "lab5_loss(", "lab5_backward(", "lab5_update("};

/* The progress of the loop that is playing. It lies in hidden memory, since it decides grades. */
static struct progress {
    training *t;
    float *data;                /* of the pool's batches */
    int part, queued;           /* the part that is due; steps completely queued */
    int idle_launches;          /* parts that found nothing left to do on their stream */
    int split_step, split_part; /* the first part on another stream than the part before; part -1: none */
    uint64_t stream;            /* of the part before */
    bool split_on_0;            /* and one of the two is stream 0 */
    uint64_t forward_stream;    /* of the last lab5_forward */
    heard heard;
    cudaEvent_t begin, end; /* around the steps that the clock counts */
    bool loaded[LAB5_MOST_STEPS];
} * now;

/* --- before ------------------------------------------------------------------------------------- */

static uint64_t device_floats(size_t count) {
    float *p;
    LAB_CUDA(cudaMalloc((void **)&p, count * sizeof *p));
    return (uint64_t)p;
}

static void *checked(void *memory) {
    if (!memory) lab_die("out of memory");
    return memory;
}

static void make_network(training *t) {
    const shape s = t->s;
    const size_t weights = weight_floats(s), units = (size_t)s.batch * (size_t)s.hidden;
    const size_t seen = 2 * (size_t)t->steps;
    struct lab5_network *n = &t->message.net;
    float *w = checked(malloc(weights * sizeof *w));
    for (size_t k = 0; k < weights; k++) w[k] = first_weight(s, t->seed, k);
    n->weights = device_floats(weights);
    n->gradients = device_floats(weights);
    n->units = device_floats(units);
    n->delta = device_floats(units);
    n->error = device_floats((size_t)s.batch);
    n->square = device_floats((size_t)s.batch);
    n->seen = device_floats(seen);
    LAB_CUDA(cudaMemcpy((void *)n->weights, w, weights * sizeof *w, cudaMemcpyHostToDevice));
    LAB_CUDA(cudaMemset((void *)n->seen, 0xff, seen * sizeof(float)));
    free(w);
}

static void free_network(training *t) {
    const struct lab5_network *n = &t->message.net;
    const uint64_t all[] = {n->weights, n->gradients, n->units, n->delta, n->error, n->square, n->seen};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cudaFree((void *)all[i]);
    cudaEventDestroy(now->begin);
    cudaEventDestroy(now->end);
}

static void forget(training *t) {
    t->error = cudaSuccess;
    t->queued = 0;
    t->us = t->idle_launches = t->pageable_copies = 0;
    t->load = t->at = (place){.line = 0};
    t->blame = "lab5_forward(";
    t->blame_last = false;
    t->blame_else = "lab5_loss(";
    t->failure[0] = 0;
    t->next = NULL;
    t->fault = false;
    t->call[0] = 0;
    t->refused = cudaSuccess;
}

static void prepare(void *context) {
    training *t = context;
    const size_t data = data_floats(t->s);
    forget(t);
    if (!now) now = lab_hide(sizeof *now);
    free(now->data);
    *now = (struct progress){.t = t, .split_part = -1};
    now->data = checked(malloc(LAB5_POOL * data * sizeof(float)));
    for (int i = 0; i < LAB5_POOL; i++) make_data(t->s, t->seed, i, now->data + (size_t)i * data);
    lab_use(t->program);
    make_network(t);
    LAB_CUDA(cudaEventCreate(&now->begin));
    LAB_CUDA(cudaEventCreate(&now->end));
    LAB_CUDA(cudaDeviceSynchronize());
}

/* --- questions of the loop's functions ----------------------------------------------------------- */

static void misuse(const char *blame, const char *next, const char *fmt, int a, int b) LAB_PRINTF(3, 0);
static void misuse(const char *blame, const char *next, const char *fmt, int a, int b) {
    training *t = now->t;
    if (t->failure[0]) return;
    snprintf(t->failure, sizeof t->failure, fmt, a, b);
    t->blame = blame;
    t->next = next;
    now->heard.deaf = true;
}

/* Checks the memory that the loader is to fill. */
static void check_batch(const struct lab5_question *q) {
    training *t = now->t;
    const int64_t bytes = (int64_t)(batch_floats(t->s) * sizeof(float)), room = room_at(q->batch);
    const memory m = memory_at(q->batch);
    if (t->failure[0]) return;
    if (q->batch < 4096) {
        LAB_SAY(t->failure, "lab5_load was given a null pointer to fill");
        t->next = "allocate the batch before the loop, job->batch_bytes of page-locked memory: cudaMallocHost";
    } else if (m.type == cudaMemoryTypeDevice) {
        LAB_SAY(t->failure, "lab5_load was given device memory, and the loader runs on the host");
        t->next = "load into host memory (cudaMallocHost), and copy from there to the device";
    } else if (room >= 0 && room < bytes) {
        LAB_SAY(t->failure, "lab5_load fills %lld bytes, and there is room for %lld", (long long)bytes,
                (long long)room);
        t->next = "allocate job->batch_bytes: it is a number of bytes, as cudaMallocHost wants it";
    }
}

static void answer_load(const struct lab5_question *q, struct lab5_answer *a) {
    training *t = now->t;
    const bool sound = !t->failure[0];
    if (sound) {
        LAB_SAY(t->load.file, "%.255s", q->file);
        t->load.line = q->line;
    }
    if (q->number < 0 || q->number >= t->steps)
        misuse("lab5_load(", "step n trains on batch n: they are numbered from 0 to job->steps - 1",
               "lab5_load was asked for batch %d; the last one is %d", q->number, t->steps - 1);
    else if (q->number > now->queued + LAB5_AHEAD)
        misuse("lab5_load(", "load a batch when its step is due, at most LAB5_AHEAD steps before",
               "batch %d was loaded when %d steps were queued: the loader is at most 4 batches ahead", q->number,
               now->queued);
    check_batch(q);
    if (sound && t->failure[0]) t->at = t->load;
    now->heard.deaf = t->failure[0];
    if (t->failure[0]) return;
    now->loaded[q->number] = true;
    *a = (struct lab5_answer){.go = 1, .number = q->number % LAB5_POOL, .stamp = (float)q->number};
}

/* Returns whether this stream has nothing left to do. A query that answers "not ready" leaves that as the last error;
 * an earlier error must stay. */
static bool is_idle(uint64_t stream) {
    bool clean = cudaPeekAtLastError() == cudaSuccess, done = cudaStreamQuery((cudaStream_t)stream) == cudaSuccess;
    if (clean && !done) cudaGetLastError();
    return done;
}

static void note_stream(const struct lab5_question *q) {
    const bool first = now->queued == 0 && q->part == FORWARD;
    if (!first && q->stream != now->stream && now->split_part < 0) {
        now->split_step = now->queued;
        now->split_part = q->part;
        now->split_on_0 = !q->stream || !now->stream;
    }
    if (q->part == FORWARD) now->forward_stream = q->stream;
    now->stream = q->stream;
}

/* The parts must come in order, and no step past the end is run. */
static void answer_part(const struct lab5_question *q, struct lab5_answer *a) {
    training *t = now->t;
    if (now->part != q->part && !t->failure[0]) {
        LAB_SAY(t->failure, "step %d: %s was called where %s was due", now->queued, part_names[q->part],
                part_names[now->part]);
        t->blame = part_calls[q->part];
        t->next = "a step is lab5_forward, lab5_loss, lab5_backward, lab5_update, each once, in this order";
    }
    if (now->queued >= t->steps)
        misuse(part_calls[q->part], "end the loop after job->steps steps", "step %d was queued; the job has %d",
               now->queued, t->steps);
    else if (t->counted && q->part == FORWARD && !now->loaded[now->queued]) /* the kernels alone load one batch */
        misuse("lab5_load(", "load batch n before you queue step n: follow the number that you hand to lab5_load",
               "step %d was queued, and lab5_load was never asked for batch %d", now->queued, now->queued);
    if (t->failure[0]) return;
    if (now->queued >= t->warm && is_idle(q->stream)) now->idle_launches++;
    note_stream(q);
    now->part = (q->part + 1) % PARTS;
    *a = (struct lab5_answer){.go = 1, .number = now->queued};
    a->rate = now->queued + 1 == t->poison ? NAN : LEARNING_RATE;
}

static void step_is_queued(const struct lab5_question *q) {
    now->queued++;
    now->heard.ended = now->queued == now->t->steps;
    now->heard.counting = now->queued >= now->t->warm && !now->heard.ended;
    if (now->queued == now->t->warm) cudaEventRecord(now->begin, (cudaStream_t)q->stream);
    if (now->queued == now->t->steps) cudaEventRecord(now->end, (cudaStream_t)q->stream);
}

static void answer(const void *question, size_t question_size, void *answer, size_t answer_size) {
    struct lab5_question q;
    if (question_size != sizeof q) lab_die("a question of %zu bytes", question_size);
    memcpy(&q, question, sizeof q);
    q.file[sizeof q.file - 1] = 0;
    const size_t data = data_floats(now->t->s);
    if (q.what == LAB5_DATA) {
        if (q.number < 0 || q.number >= LAB5_POOL || answer_size != data * sizeof(float))
            lab_die("the player asks for batch %d of the pool, %zu bytes", q.number, answer_size);
        memcpy(answer, now->data + (size_t)q.number * data, answer_size);
        return;
    }
    if (answer_size != sizeof(struct lab5_answer)) lab_die("an answer of %zu bytes", answer_size);
    if (q.part < 0 || q.part >= PARTS) lab_die("the player asks for part %d of a step", q.part);
    if (q.what == LAB5_LOAD) answer_load(&q, answer);
    if (q.what == LAB5_PART) answer_part(&q, answer);
    if (q.what == LAB5_DONE) step_is_queued(&q);
}

/* --- the run ------------------------------------------------------------------------------------ */

static void take_progress(training *t) {
    const int counted = t->steps - t->warm;
    t->queued = now->queued;
    if (!t->error && t->queued == t->steps) {
        float ms;
        LAB_CUDA(cudaEventElapsedTime(&ms, now->begin, now->end));
        t->us = ms * 1e3 / counted;
    }
    t->idle_launches = (double)now->idle_launches / counted;
    t->pageable_copies = (double)now->heard.pageable_copies / counted;
}

/* Places the failure at a call that was heard. */
static void place_at(training *t, const lab_call *c) {
    LAB_SAY(t->at.file, "%.255s", c->file ? c->file : "");
    t->at.line = c->line;
    LAB_SAY(t->call, "%s(", c->name);
    t->blame = t->call;
}

/* Describes the first call that failed, or else the error of a kernel. */
static void say_error(training *t) {
    const heard *h = &now->heard;
    if (h->failed.name) {
        LAB_SAY(t->failure, "%s returned %s", h->failed.name, cudaGetErrorName(h->failed.error));
        place_at(t, &h->failed);
        t->refused = h->failed.error;
        t->next = advice_for_call(h, t->advice, sizeof t->advice);
    } else if (!t->failure[0]) {
        t->fault = true;
        LAB_SAY(t->failure, "%s", cudaGetErrorName(t->error));
        t->next = "check what each CUDA call returns, in order, and look at the first that does not return cudaSuccess";
    }
}

void training_run(training *t) {
    prepare(t);
    if (t->counted) {
        lab_stage("your train, %d steps%s", t->steps,
                  t->poison < 0 ? "" : ", of which one has a loss that is not a number");
        lab_count_begin(t->counted);
    }
    listen_begin(&now->heard);
    lab_play(t->program, &t->message, sizeof t->message, &t->reply, sizeof t->reply);
    listen_end();
    t->error = cudaGetLastError();
    cudaError_t ran = cudaDeviceSynchronize();
    if (!t->error) t->error = ran;
    if (t->counted) {
        lab_count_end();
        lab_stage("the harness, after your train");
    }
    take_progress(t);
    if (t->error) say_error(t);
}

/* --- for the timing helper ----------------------------------------------------------------------- */

static void prepare_again(void *context) {
    training *t = context;
    t->seed = lab_fresh_seed();
    prepare(t);
}

/* What a timed run left, and the one before it. */
struct timed_run {
    uint64_t seed;
    struct lab5_reply reply;
    int queued;
    char failure[sizeof((training *)0)->failure];
    struct timed_run *before;
};

static void check_stamps(training *t);

static void keep(training *t) {
    struct timed_run *kept = checked(malloc(sizeof *kept));
    if (!t->failure[0]) check_stamps(t);
    *kept = (struct timed_run){.seed = t->seed, .reply = t->reply, .queued = t->queued, .before = t->timed};
    LAB_SAY(kept->failure, "%s", t->failure);
    t->timed = kept;
}

static void verify(void *context) {
    training *t = context;
    take_progress(t);
    if (t->work.reply) keep(t);
    free_network(t);
}

/* Returns the microseconds of a step once the loop has got going, by the training's own clock. */
static double step_took(void *context) { return ((const training *)context)->us; }

double training_time(training *t) { return lab_time_ours((lab_timer){LAB_HOST_CLOCK, 0, 5, false}, &t->work); }

training *training_new(lab_program *program, const char *counted, shape s, int steps) {
    training *t = lab_hide(sizeof *t);
    *t = (training){.program = program, .counted = counted, .s = s, .steps = steps};
    t->warm = steps > 3 ? steps / 3 : 1;
    t->poison = -1;
    t->seed = lab_fresh_seed();
    t->message.steps = steps;
    t->message.net = (struct lab5_network){
        .features = s.features, .hidden = s.hidden, .batch = s.batch, .ballast = s.ballast, .loader_ns = s.loader_ns};
    t->work = (lab_work){program, prepare_again, verify, t, &t->message, sizeof t->message, NULL, 0, step_took};
    lab_answer_with(answer);
    return t;
}

void training_free(training *t) {
    if (!t->error) free_network(t);
}

/* --- checks: stamps ------------------------------------------------------------------------------- */

/* Detects that no end of a batch ever arrived: every front stamp is right, and no end stamp belongs to a batch. */
static bool no_end_arrived(const training *t, const float *seen, int steps) {
    for (int k = 0; k < steps; k++)
        if (seen[2 * k] != (float)k || (seen[2 * k + 1] >= 0 && seen[2 * k + 1] < (float)t->steps)) return false;
    return steps > 0;
}

static void blame_short_copies(training *t) {
    const size_t bytes = batch_floats(t->s) * sizeof(float);
    if (now->heard.largest.name && now->heard.largest.bytes < bytes) {
        place_at(t, &now->heard.largest);
        LAB_SAY(t->failure,
                "only the front of each batch reached the device: the largest copy is of %llu bytes, a batch "
                "has %zu",
                (unsigned long long)now->heard.largest.bytes, bytes);
    } else {
        LAB_SAY(t->failure, "only the front of each batch reached the device: its last float is that of none");
    }
    t->next = "copy all of a batch: job->batch_bytes is a number of bytes, as cudaMemcpyAsync wants it";
}

/* The kernels did not find their batch. The reason, as far as the loop's calls tell it. */
static const char *why_too_early(void) {
    const heard *h = &now->heard;
    const uint64_t copies = h->largest.stream, kernels = now->forward_stream;
    if (copies == kernels)
        return "queue the copy of a batch before lab5_forward, into the buffer that lab5_forward gets";
    if (!kernels)
        return "lab5_forward is queued on stream 0, which waits for no non-blocking stream: queue it on the stream "
               "that "
               "waits for the copy";
    if (!listen_waited(h, kernels))
        return "the kernels' stream does not wait for the copy: record an event behind it, and call "
               "cudaStreamWaitEvent "
               "before lab5_forward";
    return "the event that the kernels' stream waits for must be recorded behind the copy of this batch, in its stream";
}

/* A buffer was filled before its last reader was through. */
static const char *why_refilled(void) {
    const heard *h = &now->heard;
    if (!h->host_waits && h->host_asks)
        return "a query does not wait: while its answer is cudaErrorNotReady, the buffer is in use";
    if (!h->host_waits)
        return "the host never waits: before it fills a buffer again, let it wait for an event behind the last step in "
               "it";
    if (!h->targets)
        return "all batches are copied to one place on the device: give each slot its own, or let the copy wait for "
               "the "
               "last step there";
    if (h->awaited && h->awaited != now->forward_stream && h->awaited != h->largest.stream &&
        !listen_waited(h, h->awaited))
        return "the host waits for an event on a stream that does not wait for the kernels: call cudaStreamWaitEvent "
               "for it, with an event behind the last kernel, before the copy of the loss";
    return "the wait above lab5_load must be for an event behind lab5_backward of the last step in this buffer";
}

static void blame_stamp(training *t, int k, float front, float back) {
    const bool forward = front != (float)k;
    const double other = forward ? (double)front : (double)back;
    const char *which = forward ? "forward pass" : "backward pass";
    t->blame = forward ? "lab5_forward(" : "lab5_backward(";
    t->next = why_too_early();
    if (!(other >= 0 && other < t->steps)) {
        LAB_SAY(t->failure, "the %s of step %d read memory that no batch had reached yet", which, k);
    } else if (other < k) {
        LAB_SAY(t->failure, "the %s of step %d worked on batch %.0f: the copy of batch %d had not arrived", which, k,
                other, k);
    } else {
        LAB_SAY(t->failure,
                "the %s of step %d worked on batch %.0f: a buffer was filled again before step %d was through with it",
                which, k, other, k);
        t->at = t->load;
        t->next = why_refilled();
    }
}

/* Checks the batch of each step. The steps before a ruined update are sound. */
static void check_stamps(training *t) {
    float seen[2 * LAB5_MOST_STEPS];
    const int steps = t->poison >= 0 && t->poison < t->queued ? t->poison : t->queued;
    LAB_CUDA(
        cudaMemcpy(seen, (void *)t->message.net.seen, 2 * (size_t)t->steps * sizeof(float), cudaMemcpyDeviceToHost));
    if (no_end_arrived(t, seen, steps)) return blame_short_copies(t);
    for (int k = 0; k < steps && !t->failure[0]; k++)
        if (seen[2 * k] != (float)k || seen[2 * k + 1] != (float)k) blame_stamp(t, k, seen[2 * k], seen[2 * k + 1]);
}

/* --- losses and weights --------------------------------------------------------------------------- */

static bool is_near(double got, double want) { return fabs(got - want) <= TOLERANCE * fabs(want) + 1e-6; }

/* If the numbers are wrong and the parts are on several streams, names the streams as the likely cause. */
static void add_streams(training *t) {
    const int part = now->split_part;
    const size_t n = strlen(t->failure);
    if (part < 0) return;
    if (part == FORWARD)
        lab_text(t->failure + n, sizeof t->failure - n, "; step %d is queued on another stream than step %d",
                 now->split_step, now->split_step - 1);
    else
        lab_text(t->failure + n, sizeof t->failure - n, "; in step %d, %s is queued on another stream than %s",
                 now->split_step, part_names[part], part_names[part - 1]);
    t->blame = part_calls[part];
    t->blame_last = false;
    t->next = now->split_on_0
                  ? "stream 0 does not wait for non-blocking streams, nor they for it: queue all parts of a "
                    "step on one stream"
                  : "only an event orders two streams: queue the parts on one, or cudaEventRecord on the one "
                    "and cudaStreamWaitEvent on the other";
}

/* Checks the losses of a training that ended early, as far as it wrote them. */
static void check_early_end(training *t, const double *want) {
    const float *losses = t->reply.losses;
    for (int k = 0; k < t->queued && !t->failure[0]; k++) {
        if (losses[k] == -1 || is_near((double)losses[k], want[k])) continue;
        LAB_SAY(t->failure, "losses[%d] is %.6g, wants %.6g; the training ended after %d of %d steps", k,
                (double)losses[k], want[k], t->queued, t->steps);
        t->blame = "losses[";
        add_streams(t);
    }
    if (t->failure[0]) return;
    LAB_SAY(t->failure, "only %d of %d steps were trained", t->queued, t->steps);
    t->blame = "return";
    t->blame_last = true;
    t->next = "train ends after job->steps steps, or when a loss is not a number: which condition ended your loop?";
}

/* A loss of another step tells more than its number. */
static void say_wrong_loss(training *t, int k, const double *want) {
    const double loss = (double)t->reply.losses[k];
    int other = 0;
    while (other < t->steps && (other == k || !is_near(loss, want[other]))) other++;
    if (other < t->steps) {
        LAB_SAY(t->failure, "losses[%d] is the loss of step %d, %.6g; wants %.6g", k, other, loss, want[k]);
        t->next = "follow one loss by its index: from lab5_loss, by the copy, to losses[step]";
    } else {
        LAB_SAY(t->failure, "losses[%d] is %.6g, wants %.6g", k, loss, want[k]);
    }
}

static bool no_loss_came(const training *t) {
    int k = 0;
    while (k < t->steps && t->reply.losses[k] == -1) k++;
    return k == t->steps;
}

static void check_losses(training *t, const double *want) {
    const float *losses = t->reply.losses;
    for (int k = 0; k < t->steps; k++) {
        const double loss = (double)losses[k];
        if (is_near(loss, want[k])) continue;
        const bool missing = losses[k] == -1;
        t->blame = "losses[";
        t->blame_else = "losses";
        t->next = missing ? "the loss of each step belongs in losses[step]: follow the first one through your loop"
                          : "a loss can be read when the host has waited for its copy: an event, cudaEventSynchronize";
        if (k > 0 && k >= t->steps - LAB5_GRACE) { /* all earlier losses are right, so the end of the loop is wrong */
            t->blame = "losses";
            t->blame_last = true;
            t->next = "after the loop, wait for the copies of the last losses, and only then read what they brought";
        }
        if (missing && no_loss_came(t)) {
            LAB_SAY(t->failure, "no loss was written to losses before train returned");
            t->next = "follow the first loss to losses[0]; the compiler removes a loop that cannot end and does "
                      "nothing, and what follows it";
        } else if (missing) {
            LAB_SAY(t->failure, "losses[%d] was never written, or not before train returned", k);
        } else {
            say_wrong_loss(t, k, want);
            add_streams(t);
        }
        return;
    }
}

/* `w`: the right ones. */
static void check_weights(training *t, const double *w) {
    const size_t n = weight_floats(t->s);
    double size = 0, off = 0;
    float *got = checked(malloc(n * sizeof *got));
    LAB_CUDA(cudaMemcpy(got, (void *)t->message.net.weights, n * sizeof *got, cudaMemcpyDeviceToHost));
    for (size_t k = 0; k < n; k++) {
        size += w[k] * w[k];
        off += ((double)got[k] - w[k]) * ((double)got[k] - w[k]);
    }
    free(got);
    if (sqrt(off) <= TOLERANCE * sqrt(size)) return;
    t->blame = "lab5_update(";
    LAB_SAY(t->failure, "the final weights differ from those of plain training by %.2g of their size",
            sqrt(off / size));
    add_streams(t);
}

static void check_result(training *t) {
    const int result = t->reply.result;
    if (result == -1) return;
    LAB_SAY(t->failure, "train returned %d; all losses are numbers, so it must return -1", result);
    t->blame = "return";
    t->blame_last = true;
    t->next = "return the number of the first broken step, and -1 where there is none";
}

void training_check_losses(training *t, const double *want) {
    if (!t->failure[0]) check_stamps(t);
    if (t->failure[0]) return;
    if (t->queued < t->steps) return check_early_end(t, want);
    check_losses(t, want);
    if (!t->failure[0]) check_result(t);
}

void training_keep(training *t) {
    t->work.reply = &t->reply;
    t->work.reply_size = sizeof t->reply;
}

void training_check_kept(training *t, training *plain) {
    double want[LAB5_MOST_STEPS];
    t->failure[0] = 0;
    for (const struct timed_run *kept = t->timed; kept && !t->failure[0]; kept = kept->before) {
        plain->seed = kept->seed;
        training_run(plain);
        if (plain->error) lab_die("a loop of the harness failed: %s", cudaGetErrorString(plain->error));
        training_free(plain);
        for (int k = 0; k < t->steps; k++) want[k] = (double)plain->reply.losses[k];
        t->blame = "lab5_forward(";
        t->next = NULL; /* nobody listened to the run's calls, so no advice is about them */
        LAB_SAY(t->failure, "%s", kept->failure);
        t->reply = kept->reply;
        t->queued = kept->queued;
        if (!t->failure[0] && t->queued < t->steps) check_early_end(t, want);
        if (!t->failure[0]) check_losses(t, want);
        if (!t->failure[0]) check_result(t);
    }
    if (!t->failure[0]) return;
    char what[sizeof t->failure];
    LAB_SAY(what, "in a timed run, %s", t->failure);
    LAB_SAY(t->failure, "%s", what);
}

static void check_with_oracle(training *t) {
    const size_t data = data_floats(t->s), n = weight_floats(t->s);
    double want[LAB5_MOST_STEPS], *w = checked(malloc(n * sizeof *w));
    double *hidden = checked(malloc((size_t)t->s.hidden * sizeof *hidden));
    for (size_t k = 0; k < n; k++) w[k] = (double)first_weight(t->s, t->seed, k);
    for (int k = 0; k < t->steps; k++)
        want[k] = right_step(t->s, now->data + (size_t)(k % LAB5_POOL) * data, w, hidden);
    training_check_losses(t, want);
    if (!t->failure[0]) check_weights(t, w);
    free(w);
    free(hidden);
}

void training_check(training *t) {
    if (t->failure[0]) return;
    if (t->poison < 0)
        check_with_oracle(t);
    else
        check_stamps(t);
}

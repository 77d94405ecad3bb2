/* job.c — answers the player's questions about batches, and checks its results; see job.h. */
#include "job.h"
#include "ear.h"
#include "formula.h"

#include <string.h>
#if __has_include(<simgpu.h>)
#include <simgpu.h>
static void host_works(const char *task, double ns) { simgpuHostTask(task, (uint64_t)ns); }
#else
static void host_works(const char *task, double ns) { (void)task, (void)ns; } /* a real host takes its time by itself */
#endif

static const double LOADER_NS_PER_BYTE = 4000.0 / (1 << 20); /* lab1.h says so */

static run *current; /* hidden memory: the run whose questions are answered */

/* --- the data ----------------------------------------------------------------------------------- */

static uint32_t salt_of(const run *r, int batch) { return lab1_mix(r->salt + (uint32_t)batch); }
static uint32_t word_of(const run *r, int batch, uint32_t j) { return lab1_mix(salt_of(r, batch) ^ j * 0x9E3779B9u); }
static uint32_t right_word(const run *r, int batch, uint32_t i) {
    uint32_t salt = salt_of(r, batch);
    return lab1_result(word_of(r, batch, lab1_source(i, r->in, r->out, salt)), i, salt);
}

/* Every word, or one in each STAMP_WORDS: the k-th to be looked at, and how many there are. */
static uint32_t nth_word(const run *r, int batch, uint32_t k, uint32_t words) {
    if (!r->timed || words < STAMP_WORDS) return k;
    return k * STAMP_WORDS + lab1_mix(salt_of(r, batch) + k) % STAMP_WORDS;
}
static uint32_t count_of(const run *r, uint32_t words) {
    return !r->timed || words < STAMP_WORDS ? words : words / STAMP_WORDS;
}

/* --- answers -------------------------------------------------------------------------------------- */

typedef unsigned long long big; /* for printf */

/* Keeps the first failure; but any failure replaces a wrong word, which may be there by luck. */
#define FAILS(r, kind, ...)                                                                                            \
    do {                                                                                                               \
        if ((r)->trouble && ((r)->trouble < WRONG_WORDS || (kind) >= WRONG_WORDS)) break;                              \
        (r)->trouble = (kind);                                                                                         \
        (r)->troubled_first = !(r)->watched || !ear->error;                                                            \
        LAB_SAY((r)->failure, __VA_ARGS__);                                                                            \
    } while (0)

/* "load_batch 3", for the trace. Not in hidden memory: SimGPU reads it while that is locked. */
static const char *task_name(bool load, int batch) {
    static char names[2][MOST_BATCHES][24];
    char *name = names[load][batch];
    lab_text(name, sizeof names[0][0], "%s %d", load ? "load_batch" : "take_result", batch);
    return name;
}

/* The same time in both lanes: charged to the virtual host, or waited for by a real one that was faster. */
static void takes_time(const run *r, bool load, int batch) {
    double ns = (double)(load ? r->message.in_bytes : r->message.out_bytes) * LOADER_NS_PER_BYTE;
    if (lab_lane() == LAB_SIM)
        host_works(task_name(load, batch), ns);
    else
        while (r->timed && lab_now() < r->begun + ns) {}
}

/* Names the words from number q->first on, as many as fit into one answer. */
static void name_words(const run *r, const struct lab1_question *q, uint32_t words, struct lab1_answer *a) {
    const uint32_t all = count_of(r, words), left = q->first < all ? all - q->first : 0;
    a->count = left < LAB1_WORDS ? left : LAB1_WORDS;
    a->more = left > LAB1_WORDS;
    for (uint32_t k = 0; k < a->count; k++) a->words[k].at = nth_word(r, q->batch, q->first + k, words);
}

/* May the host touch so many bytes there? Of memory from malloc nobody knows. */
static bool within_reach(run *r, const struct lab1_question *q, uint64_t bytes) {
    const char *call = q->what == LAB1_LOAD ? "load_batch" : "take_result";
    if (!r->watched) return true;
    const uint64_t there = ear_pinned_bytes(q->host);
    if (ear_device_bytes(q->host)) {
        FAILS(r, NOT_ON_HOST, "batch %d: %s was given device memory, which the host cannot touch", q->batch, call);
        return false;
    }
    if (there && there < bytes)
        FAILS(r, SHORT_BUFFER, "batch %d: %s was given %llu bytes of page-locked memory; it needs %llu", q->batch, call,
              (big)there, (big)bytes);
    if (r->trouble == SHORT_BUFFER && !r->too_short.thing) r->too_short = lab_memory_at(q->host);
    return !there || there >= bytes;
}

static void begin_load(run *r, const struct lab1_question *q) {
    r->begun = lab_now();
    r->loaded[q->batch]++;
    if (++r->under_way > r->ahead) r->ahead = r->under_way;
    if (!r->in_loop && r->left) {
        r->begin = r->begun;
        r->in_loop = true;
        ear_in_loop(true);
        crossed_reset(); /* copies before the first load belong to no batch */
    }
    crossed_load(q->host, r->message.in_bytes);
    if (r->watched) ear_touch(q->host, r->message.in_bytes, true, q->batch);
}

static void answer_load(run *r, const struct lab1_question *q, struct lab1_answer *a) {
    a->refused = !within_reach(r, q, r->message.in_bytes);
    if (a->refused) return;
    if (!q->first) begin_load(r, q);
    name_words(r, q, r->in, a);
    for (uint32_t k = 0; k < a->count; k++) a->words[k].word = word_of(r, q->batch, a->words[k].at);
}

/* Is this device memory of so many bytes? `name` is the parameter's. */
static bool on_device(run *r, int batch, const char *name, uint64_t start, uint64_t bytes) {
    const uint64_t there = ear_device_bytes(start);
    if (!there)
        FAILS(r, NOT_ON_DEVICE, "batch %d: process_batch was called with a %s that is no memory from cudaMalloc", batch,
              name);
    else if (there < bytes)
        FAILS(r, TOO_SHORT, "batch %d: process_batch was called with a %s of %llu bytes; it needs %llu", batch, name,
              (big)there, (big)bytes);
    if (r->trouble == TOO_SHORT && !r->too_short.thing) r->too_short = lab_memory_at(start);
    return there >= bytes;
}

/* May the kernel run there? */
static bool well_placed(run *r, const struct lab1_question *q) {
    const uint64_t in = r->message.in_bytes, out = r->message.out_bytes;
    if (!on_device(r, q->batch, "d_in", q->d_in, in) || !on_device(r, q->batch, "d_out", q->d_out, out)) return false;
    if (q->d_in >= q->d_out + out || q->d_out >= q->d_in + in) return true;
    FAILS(r, ONE_PLACE, "batch %d: process_batch was called with d_in and d_out in the same memory", q->batch);
    return false;
}

/* The rest of a sentence that begins with the number of bytes. */
static void lacks(run *r, int batch, enum trouble kind, uint64_t came, const char *rest) {
    if (came)
        FAILS(r, kind, "batch %d: only %llu of %s", batch, (big)came, rest);
    else
        FAILS(r, kind, "batch %d: none of %s", batch, rest);
}

static void answer_process(run *r, const struct lab1_question *q, struct lab1_answer *a) {
    const uint64_t in = r->message.in_bytes, out = r->message.out_bytes;
    char rest[128];
    r->processed[q->batch]++;
    *a = (struct lab1_answer){.in = r->in, .out = r->out, .salt = salt_of(r, q->batch)};
    if (!r->watched) return;
    if (!q->stream) r->kernels_in_0 = true;
    a->refused = !well_placed(r, q);
    if (a->refused) return;
    if (r->processed[q->batch] > 1)
        FAILS(r, NOT_PROCESSED_ONCE, "process_batch was called again for batch %d", q->batch);
    const uint64_t came = crossed_process(q->batch, q->d_in, in, q->d_out, out);
    if (!r->loaded[q->batch]) FAILS(r, OUT_OF_ORDER, "batch %d: process_batch was called before load_batch", q->batch);
    const bool swapped = !came && crossed_came(q->d_out, in);
    LAB_SAY(rest, "its %llu bytes were copied from the host to d_in before process_batch%s", (big)in,
            swapped ? ": they went to its d_out" : "");
    if (came < in) lacks(r, q->batch, swapped ? UP_TO_OUT : NOT_UP, came, rest);
}

/* "batch 3: word 17 of 1000 holds the result of batch 1" */
static void describe(run *r, int batch, uint32_t i, uint32_t got) {
    for (int b = 0; b < r->message.batches; b++)
        if (got == right_word(r, b, i))
            FAILS(r, OTHER_RESULT, "batch %d: word %u of %u holds the result of batch %d", batch, i, r->out, b);
    for (int b = 0; b < r->message.batches && i < r->in; b++)
        if (got == word_of(r, b, i))
            FAILS(r, UNPROCESSED, "batch %d: word %u of %u holds a word of batch %d as it was loaded", batch, i, r->out,
                  b);
    FAILS(r, NO_RESULT, "batch %d: word %u of %u holds a value that no batch gives", batch, i, r->out);
}

/* A copy counts from the call that queues it on; ear_touch tells whether it is over. */
static void begin_take(run *r, const struct lab1_question *q) {
    const int b = q->batch;
    char rest[128];
    r->begun = lab_now();
    LAB_SAY(rest, "the %llu bytes of its result were copied from d_out to the host before take_result",
            (big)r->message.out_bytes);
    if (r->taken[b])
        FAILS(r, TAKEN_AGAIN, "the result of batch %d was taken again", b);
    else if (!r->processed[b])
        FAILS(r, OUT_OF_ORDER, "batch %d: take_result was called before process_batch", b);
    else if (r->watched && crossed_home(b) < r->message.out_bytes)
        lacks(r, b, NOT_HOME, crossed_home(b), rest);
    if (r->watched) ear_touch(q->host, r->message.out_bytes, false, b);
}

static void answer_take(run *r, const struct lab1_question *q, struct lab1_answer *a) {
    a->refused = !within_reach(r, q, r->message.out_bytes);
    if (a->refused) return;
    if (!q->first) begin_take(r, q);
    name_words(r, q, r->out, a);
}

/* Compares the words that the player read. The harness computes their places itself. */
static void judge_words(run *r, const struct lab1_question *q) {
    for (uint32_t k = 0; k < q->count && k < LAB1_WORDS; k++) {
        uint32_t i = nth_word(r, q->batch, q->first + k, r->out);
        if (i >= r->out || q->word[k] == right_word(r, q->batch, i)) continue;
        describe(r, q->batch, i, q->word[k]);
        return;
    }
}

/* Returns for how long the device still works, in ns. Even a wait for an idle device takes a little time. */
static double still_busy(void) {
    const double begin = lab_now();
    cudaDeviceSynchronize();
    const double idle = lab_now();
    cudaDeviceSynchronize();
    return idle - begin - (lab_now() - idle);
}

static void judge_taken(run *r, const struct lab1_question *q) {
    judge_words(r, q);
    if (q->first + q->count < count_of(r, r->out)) return; /* more pieces come */
    takes_time(r, false, q->batch);
    r->under_way--;
    if (r->taken[q->batch]++ == 0) r->left--;
    if (r->left) return;
    r->end = lab_now();
    r->in_loop = false;
    ear_in_loop(false);
    if (r->watched && r->timed) r->late = still_busy();
}

static bool known(run *r, const struct lab1_question *q) {
    static const char *const call[] = {[LAB1_LOAD] = "load_batch",
                                       [LAB1_LOADED] = "load_batch",
                                       [LAB1_PROCESS] = "process_batch",
                                       [LAB1_TAKE] = "take_result",
                                       [LAB1_TAKEN] = "take_result"};
    if (q->batch >= 0 && q->batch < r->message.batches) return true;
    if (r->message.batches)
        FAILS(r, UNKNOWN_BATCH, "%s was called for batch %d; there are batches 0 to %d", call[q->what], q->batch,
              r->message.batches - 1);
    else
        FAILS(r, UNKNOWN_BATCH, "%s was called for batch %d in a job of no batches", call[q->what], q->batch);
    return false;
}

static void answer(const void *question, size_t size, void *to, size_t answer_size) {
    const struct lab1_question *q = question;
    struct lab1_answer *a = to;
    run *r = current;
    if (size != sizeof *q || answer_size != sizeof *a || q->what > LAB1_TAKEN)
        lab_die("the player asks something that the harness does not know");
    if (!r->trouble || r->trouble >= WRONG_WORDS) r->asked = q->what;
    a->refused = !known(r, q);
    if (a->refused) return;
    if (q->what == LAB1_LOAD) answer_load(r, q, a);
    if (q->what == LAB1_LOADED) takes_time(r, true, q->batch);
    if (q->what == LAB1_PROCESS) answer_process(r, q, a);
    if (q->what == LAB1_TAKE) answer_take(r, q, a);
    if (q->what == LAB1_TAKEN) judge_taken(r, q);
}

/* --- one run -------------------------------------------------------------------------------------- */

run *run_new(lab_program *program, int batches, uint32_t in_words, uint32_t out_words, bool timed) {
    if (!current) current = lab_hide(sizeof *current);
    if (batches > MOST_BATCHES) lab_die("a job of %d batches; %d is the most", batches, MOST_BATCHES);
    uint64_t in = in_words * sizeof(uint32_t), out = out_words * sizeof(uint32_t);
    *current = (run){.program = program, .in = in_words, .out = out_words, .timed = timed};
    current->message =
        (struct lab1_message){.batches = batches, .in_bytes = in, .out_bytes = out, .page_locked_most = 4 * (in + out)};
    return current;
}

static void find_missing(run *r) {
    for (int b = 0; b < r->message.batches; b++) {
        if (r->loaded[b] != 1)
            FAILS(r, NOT_LOADED_ONCE, "batch %d was loaded %d times, should be once", b, r->loaded[b]);
        if (r->processed[b] != 1)
            FAILS(r, NOT_PROCESSED_ONCE, "batch %d was processed %d times, should be once", b, r->processed[b]);
        if (!r->taken[b]) FAILS(r, NEVER_TAKEN, "the result of batch %d was never taken", b);
    }
}

/* ear.h hears the program's copies. */
static void note_copy(const lab_call *c, bool to_host) {
    if (to_host)
        crossed_down(c->from, c->bytes);
    else
        crossed_up(c->to, c->bytes);
    if (!to_host && ear->in_loop && !crossed_is_load(c->from)) current->carried += (double)c->bytes;
}

static void start(run *r, bool watched, bool checking) {
    uint64_t seed = lab_fresh_seed();
    r->salt = lab1_mix((uint32_t)seed ^ lab1_mix((uint32_t)(seed >> 32) + 0x51ED270Bu));
    r->watched = watched;
    r->in_loop = r->kernels_in_0 = false;
    r->late = 0;
    r->carried = 0;
    r->left = r->message.batches;
    r->under_way = r->ahead = 0;
    r->trouble = NO_TROUBLE;
    r->too_short.thing = LAB_NO_THING;
    r->failure[0] = 0;
    memset(r->loaded, 0, sizeof r->loaded);
    memset(r->processed, 0, sizeof r->processed);
    memset(r->taken, 0, sizeof r->taken);
    lab_answer_with(answer);
    lab_use(r->program);
    LAB_CUDA(cudaDeviceSynchronize());
    if (watched) {
        ear_begin(checking, note_copy);
        crossed_reset();
    }
    r->begin = r->end = r->called = lab_now();
}

cudaError_t run_once(run *r, bool watched, bool checking) {
    start(r, watched, checking);
    lab_play(r->program, &r->message, sizeof r->message, NULL, 0);
    cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (watched) ear_end();
    find_missing(r);
    return launched ? launched : ran;
}

double run_bytes(const run *r) { return r->message.batches * (double)(r->message.in_bytes + r->message.out_bytes); }

double run_rate(const run *r) { return r->end > r->begin ? run_bytes(r) / (r->end - r->begin) : 0; }

/* job.cuh — a stream of batches: its loader, its kernel, what is right, and one run of it.
 *
 * A word of a result is made of one word of its batch, by arithmetic that depends on the run and on the batch. So a
 * wrong word tells what it is: a result of another batch (read too early, or a buffer mixed up), or nothing at all. No
 * memory ever holds an expected result: each word of it is computed when it is compared.
 *
 * In checked runs every word is loaded and compared. In timed runs the loader writes one word in each 16 KiB, at a
 * place that depends on the run, and only the words made of these are compared: as if a network card had filled the
 * rest of the buffer by itself. So the time is the link's, not that of our random numbers; and a copy that leaves
 * something out is found all the same.
 */
#ifndef JOB_CUH
#define JOB_CUH

#include "lab1.h"
#include "calls.cuh"

enum { STAMP_WORDS = 4096, MOST_BATCHES = 128 };
static const double LOADER_NS_PER_BYTE = 4000.0 / (1 << 20); /* lab1.h says so */

typedef void (*run_fn)(const struct job *);

typedef struct {
    run_fn fn;
    struct job job;
    uint32_t in, out; /* words of a batch, and of its result */
    uint32_t salt;    /* of this run */
    bool timed;
    int loaded[MOST_BATCHES], processed[MOST_BATCHES], taken[MOST_BATCHES];
    int left;                  /* batches not yet taken */
    double called, begin, end; /* ns: run_batches called; first load; last take */
    char failure[256];
} run;

static run *current; /* whose batches the three functions below handle */

/* --- the data ----------------------------------------------------------------------------------- */

static __host__ __device__ uint32_t mix(uint32_t x) {
    x = (x ^ (x >> 16)) * 0x7FEB352Du;
    x = (x ^ (x >> 15)) * 0x846CA68Bu;
    return x ^ (x >> 16);
}

/* The word of the batch that word i of its result is made of. */
static __host__ __device__ uint32_t source(uint32_t i, uint32_t in, uint32_t out, uint32_t salt) {
    if (in == out) return i;
    if (in < out) return i / ((out + in - 1) / in);
    return i * (in / out) + mix(salt + i) % (in / out);
}

static __host__ __device__ uint32_t result(uint32_t word, uint32_t i, uint32_t salt) {
    return word * 2654435761u + (salt ^ i);
}

static uint32_t salt_of(const run *r, int batch) { return mix(r->salt + (uint32_t)batch); }
static uint32_t word_of(const run *r, int batch, uint32_t j) { return mix(salt_of(r, batch) ^ j * 0x9E3779B9u); }
static uint32_t right_word(const run *r, int batch, uint32_t i) {
    uint32_t salt = salt_of(r, batch);
    return result(word_of(r, batch, source(i, r->in, r->out, salt)), i, salt);
}

/* Every word, or one in each STAMP_WORDS: the k-th to be looked at, and how many there are. */
static uint32_t nth_word(const run *r, int batch, uint32_t k, uint32_t words) {
    if (!r->timed || words < STAMP_WORDS) return k;
    return k * STAMP_WORDS + mix(salt_of(r, batch) + k) % STAMP_WORDS;
}
static uint32_t count_of(const run *r, uint32_t words) {
    return !r->timed || words < STAMP_WORDS ? words : words / STAMP_WORDS;
}

/* --- what your code calls ----------------------------------------------------------------------- */

/* The same time in both lanes: charged to the virtual host, or waited for by a real one that was faster. */
static void takes_time(double begun, size_t bytes) {
    double until = begun + (double)bytes * LOADER_NS_PER_BYTE;
    if (lab_lane() == LAB_SIM)
        host_works(until - begun);
    else
        while (current->timed && lab_now() < until) {}
}

static void fails(const char *fmt, int a, int b) {
    if (!current->failure[0]) snprintf(current->failure, sizeof current->failure, fmt, a, b);
}

static bool known(const struct job *job, int batch, const char *call) {
    bool ok = job && batch >= 0 && batch < current->job.batches;
    if (!ok && !current->failure[0])
        snprintf(current->failure, sizeof current->failure, "%s was called for batch %d; there are batches 0 to %d",
                 call, batch, current->job.batches - 1);
    return ok;
}

extern "C" void load_batch(const struct job *job, int batch, void *to) {
    run *r = current;
    double begun = lab_now();
    if (!known(job, batch, "load_batch")) return;
    if (!calls.in_loop && r->left) r->begin = begun, calls.in_loop = true;
    r->loaded[batch]++;
    calls_touch(to, r->job.in_bytes, true, batch);
    uint32_t *words = (uint32_t *)to;
    for (uint32_t k = 0, n = count_of(r, r->in); k < n; k++) {
        uint32_t j = nth_word(r, batch, k, r->in);
        words[j] = word_of(r, batch, j);
    }
    takes_time(begun, r->job.in_bytes);
}

enum { THREADS = 256, EACH = 4 }; /* words a thread */

static __global__ void touch_same(const uint32_t *in, uint32_t *out, uint32_t words, uint32_t salt) {
    uint32_t i = blockIdx.x * (THREADS * EACH) + threadIdx.x;
    for (int k = 0; k < EACH; k++, i += THREADS)
        if (i < words) out[i] = result(in[i], i, salt);
}

static __global__ void touch_some(const uint32_t *in, uint32_t *out, uint32_t in_words, uint32_t out_words,
                                  uint32_t salt) {
    uint32_t i = blockIdx.x * (THREADS * EACH) + threadIdx.x;
    for (int k = 0; k < EACH; k++, i += THREADS)
        if (i < out_words) out[i] = result(in[source(i, in_words, out_words, salt)], i, salt);
}

extern "C" void process_batch(const struct job *job, int batch, const void *d_in, void *d_out, cudaStream_t stream) {
    const run *r = current;
    if (!known(job, batch, "process_batch")) return;
    current->processed[batch]++;
    const uint32_t *in = (const uint32_t *)d_in, salt = salt_of(r, batch);
    uint32_t *out = (uint32_t *)d_out, blocks = (r->out + THREADS * EACH - 1) / (THREADS * EACH);
    if (r->in == r->out)
        touch_same<<<blocks, THREADS, 0, stream>>>(in, out, r->out, salt);
    else
        touch_some<<<blocks, THREADS, 0, stream>>>(in, out, r->in, r->out, salt);
}

/* "batch 3, word 17 of its result holds the result of batch 1" */
static void describe(const run *r, int batch, uint32_t i, uint32_t got) {
    char holds[96] = "holds a value that no batch gives";
    for (int b = 0; b < r->job.batches; b++)
        if (got == right_word(r, b, i)) snprintf(holds, sizeof holds, "holds the result of batch %d", b);
    if (!current->failure[0])
        snprintf(current->failure, sizeof current->failure, "batch %d: word %u of %u %s", batch, i, r->out, holds);
}

extern "C" void take_result(const struct job *job, int batch, const void *from) {
    run *r = current;
    double begun = lab_now();
    if (!known(job, batch, "take_result")) return;
    calls_touch(from, r->job.out_bytes, false, batch);
    const volatile uint32_t *words = (const volatile uint32_t *)from;
    for (uint32_t k = 0, n = count_of(r, r->out); k < n; k++) {
        uint32_t i = nth_word(r, batch, k, r->out), got = words[i];
        if (got == right_word(r, batch, i)) continue;
        describe(r, batch, i, got);
        break;
    }
    takes_time(begun, r->job.out_bytes);
    if (r->taken[batch]++ == 0) r->left--;
    if (r->left) return;
    r->end = lab_now();
    calls.in_loop = false;
}

/* --- one run -------------------------------------------------------------------------------------- */

static run run_new(run_fn fn, int batches, uint32_t in_words, uint32_t out_words, bool timed) {
    run r = {};
    r.fn = fn;
    r.job = {batches, in_words * sizeof(uint32_t), out_words * sizeof(uint32_t), 0};
    r.job.page_locked_most = 4 * (r.job.in_bytes + r.job.out_bytes);
    r.in = in_words;
    r.out = out_words;
    r.timed = timed;
    return r;
}

static void find_missing(run *r) {
    for (int b = 0; b < r->job.batches; b++) {
        if (r->loaded[b] != 1) fails("batch %d was loaded %d times, should be once", b, r->loaded[b]);
        if (r->processed[b] != 1) fails("batch %d was processed %d times, should be once", b, r->processed[b]);
        if (r->taken[b] != 1) fails("the result of batch %d was taken %d times, should be once", b, r->taken[b]);
    }
}

/* Runs it once with new data, and notes its calls. CUDA's error, if there was one: then nothing more can be run. */
static cudaError_t run_once(run *r, bool checking) {
    uint64_t seed = lab_fresh_seed();
    current = r;
    r->salt = mix((uint32_t)seed ^ mix((uint32_t)(seed >> 32) + 0x51ED270Bu));
    r->left = r->job.batches;
    r->failure[0] = 0;
    memset(r->loaded, 0, sizeof r->loaded);
    memset(r->processed, 0, sizeof r->processed);
    memset(r->taken, 0, sizeof r->taken);
    LAB_CUDA(cudaDeviceSynchronize());
    calls_reset(checking);
    r->begin = r->end = r->called = lab_now();
    lab_lock();
    r->fn(&r->job);
    lab_unlock();
    cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    calls.in_loop = false;
    find_missing(r);
    return launched ? launched : ran;
}

/* Bytes of batches and results in a second, from the first load to the last take; in 10^9. */
static double rate_of(const run *r) {
    return r->end > r->begin ? r->job.batches * (double)(r->job.in_bytes + r->job.out_bytes) / (r->end - r->begin) : 0;
}

#endif

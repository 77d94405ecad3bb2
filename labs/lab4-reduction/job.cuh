/* job.cuh — one call of `mean` or `means`, from fresh data to a checked result.
 *
 * A job has a list of tensors in one piece of device memory (for `mean`: a list of one). Between them lies poison, so
 * whoever adds a float too many gets a NaN. The data of each call is new. All of it is positive, so that an error can
 * be said relative to the mean. Most of it lies between 0.5 and 1.5, but one float in 512 is 128 larger, so that nobody
 * can guess a mean from a part of the data; and the first and the last float of a tensor weigh as much as 1/64 of the
 * others together, so that whoever forgets an end is found out in a tensor of any length.
 *
 * What is right is added up in double precision, after the call has returned and the device is idle: no memory ever
 * holds an expected mean that student code could copy.
 */
#ifndef JOB_CUH
#define JOB_CUH

#include "lab.h"
#include "lab4.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The three entry points, of your file, of the starter or of the reference: compiled under three names. */
typedef struct {
    void (*mean)(const float *, int, float *);
    void (*plan)(const struct tensor *, int);
    void (*means)(float *);
} program;

extern "C" void starter_mean(const float *, int, float *);
extern "C" void starter_plan(const struct tensor *, int);
extern "C" void starter_means(float *);
extern "C" void reference_mean(const float *, int, float *);
extern "C" void reference_plan(const struct tensor *, int);
extern "C" void reference_means(float *);

static const program yours = {mean, plan, means};
static const program starter = {starter_mean, starter_plan, starter_means};
static const program reference = {reference_mean, reference_plan, reference_means};

typedef int (*length_fn)(int i, uint64_t seed); /* of tensor i */

static int asked_length; /* of an array */
static int just_length(int i, uint64_t seed) { return (void)i, (void)seed, asked_length; }

typedef struct {
    const program *run;
    const char *counted; /* the student's: the name of its counters; NULL for the others, which are only timed */
    bool array;          /* `mean` of one array, instead of `means` */
    length_fn length;    /* of its tensors */
    int count;           /* tensors */
    struct tensor *list;
    size_t room, floats; /* of the whole piece of memory; of the tensors in it */
    int longest;
    uint64_t shape, seed; /* of the lengths; of the next run's data */
    float *d_in, *d_out, *host;
    double begin, end; /* of the last run, on this lane's clock */
    double worst;      /* relative error of any mean of any run, in units of 2^-24 */
    int worst_length;  /* of that tensor */
    char failure[256]; /* the first one */
} job;

enum { JOB_PACKED = 0, JOB_ALIGNED = 64 }; /* floats */

/* `align` floats: where a tensor may begin. JOB_PACKED: each begins two floats after the end of the one before. */
static job job_new(const program *run, const char *counted, bool array, int count, length_fn length, int align,
                   uint64_t seed) {
    job j = {};
    j.run = run, j.counted = counted, j.array = array, j.length = length, j.count = count, j.shape = j.seed = seed;
    size_t *at = (size_t *)malloc(count * sizeof *at);
    j.list = (struct tensor *)malloc(count * sizeof *j.list);
    if (!at || !j.list) lab_die("out of memory");
    j.room = align ? 0 : 1;
    for (int i = 0; i < count; i++) {
        int n = j.list[i].length = length(i, seed);
        at[i] = j.room;
        j.floats += n;
        j.room += align ? (n + align) / align * (size_t)align : n + 2;
        if (n > j.longest) j.longest = n;
    }
    j.d_in = lab_alloc(j.room);
    j.d_out = lab_alloc(count);
    j.host = (float *)malloc((j.room > (size_t)count ? j.room : count) * sizeof *j.host);
    if (!j.host) lab_die("out of memory");
    for (int i = 0; i < count; i++) j.list[i].data = j.d_in + at[i];
    free(at);
    if (array) return j;
    if (counted) lab_stage("your plan of %d tensors", count);
    run->plan(j.list, count);
    return j;
}

static void job_free(job *j) {
    lab_free(j->d_in);
    lab_free(j->d_out);
    free(j->host);
    free(j->list);
}

/* --- data ------------------------------------------------------------------------------------- */

static uint32_t hash(uint32_t mixed_seed, uint32_t place) {
    uint32_t x = place * 0x9E3779B1u + mixed_seed;
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

static uint32_t mixed(uint64_t seed) { return (uint32_t)((seed + 1) * 0x9E3779B97F4A7C15u >> 32); }

/* Element k of a tensor of n floats that begins at `place`. */
static float element(uint32_t mixed_seed, uint32_t place, int k, int n) {
    uint32_t h = hash(mixed_seed, place + (uint32_t)k);
    float v = (h % 512 ? 0.5f : 128.5f) + (float)(h >> 9) * 0x1p-23f;
    return (k == 0 || k == n - 1) && n > 1 ? v + (float)(n / 64) : v;
}

static uint32_t place_of(const job *j, int i) { return (uint32_t)(j->list[i].data - j->d_in); }

/* The mean of tensor i, in double precision. */
static double right_mean(const job *j, int i) {
    double sum = 0;
    int n = j->list[i].length;
    for (int k = 0; k < n; k++) sum += element(mixed(j->seed), place_of(j, i), k, n);
    return sum / n;
}

/* --- one call --------------------------------------------------------------------------------- */

static void prepare(void *context) {
    job *j = (job *)context;
    j->seed++;
    memset(j->host, 0xFF, j->room * sizeof *j->host);
    for (int i = 0; i < j->count; i++)
        for (int k = 0, n = j->list[i].length; k < n; k++)
            j->host[place_of(j, i) + k] = element(mixed(j->seed), place_of(j, i), k, n);
    LAB_CUDA(cudaMemcpy(j->d_in, j->host, j->room * sizeof *j->host, cudaMemcpyHostToDevice));
    memset(j->host, 0, j->room * sizeof *j->host);
    lab_poison(j->d_out, j->count);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    if (j->array)
        lab_stage("your mean of %d floats", j->longest);
    else
        lab_stage("your means of %d tensors", j->count);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

static void work(void *context) {
    const job *j = (const job *)context;
    if (j->array)
        j->run->mean(j->list[0].data, j->list[0].length, j->d_out);
    else
        j->run->means(j->d_out);
}

/* "tensor 3 of 7 (33 floats)" */
static const char *name_of(const job *j, int i, char *to, size_t size) {
    if (j->array)
        snprintf(to, size, "the array of %d floats", j->list[i].length);
    else
        snprintf(to, size, "tensor %d of %d (%d floats)", i, j->count, j->list[i].length);
    return to;
}

/* Says what is wrong with mean i, and what kind of mistake gives such a number. */
static void describe(job *j, int i, float got, double want) {
    char name[96];
    int n = j->list[i].length;
    name_of(j, i, name, sizeof name);
    if (lab_is_poison(got))
        snprintf(j->failure, sizeof j->failure, "%s: the mean was never written", name);
    else if (isnan(got))
        snprintf(j->failure, sizeof j->failure,
                 "%s: the mean is NaN: something outside was added, or read before it was written", name);
    else if (n > 1 && fabs(got / n - want) <= 1e-3 * want)
        snprintf(j->failure, sizeof j->failure, "%s: that is the sum; the mean is the %dth part of it", name, n);
    else
        snprintf(j->failure, sizeof j->failure, "%s: the mean is %.7g, wants %.7g (%+.3g %%)", name, got, want,
                 100 * (got - want) / want);
}

enum { LIMIT = 1678 }; /* a mean is wrong beyond 1e-4, in units of 2^-24; within it, `accuracy` says how good it is */

/* One mean against its tensor; `data` is what the device holds of it now. False when that was changed. */
static bool check(job *j, int i, float got, const float *data) {
    int n = j->list[i].length;
    for (int k = 0; k < n; k++)
        if (data[k] != element(mixed(j->seed), place_of(j, i), k, n)) return false;
    double want = right_mean(j, i), error = fabs(got - want) / want * 0x1p24;
    if (!(error <= LIMIT)) {
        describe(j, i, got, want);
    } else if (error > j->worst) {
        j->worst = error;
        j->worst_length = n;
    }
    return true;
}

static void verify(void *context) {
    job *j = (job *)context;
    char name[96];
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your %s", j->array ? "mean" : "means");
    if (j->failure[0]) return;
    float *got = (float *)malloc(j->count * sizeof *got);
    if (!got) lab_die("out of memory");
    LAB_CUDA(cudaMemcpy(got, j->d_out, j->count * sizeof *got, cudaMemcpyDeviceToHost));
    LAB_CUDA(cudaMemcpy(j->host, j->d_in, j->room * sizeof *j->host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < j->count && !j->failure[0]; i++)
        if (!check(j, i, got[i], j->host + place_of(j, i)))
            snprintf(j->failure, sizeof j->failure, "%s: the data was changed; it is const",
                     name_of(j, i, name, sizeof name));
    free(got);
    int side = lab_guards_broken(j->d_out, j->count);
    if (side && !j->failure[0])
        snprintf(j->failure, sizeof j->failure, "memory %s the means was written", side < 0 ? "before" : "behind");
}

static lab_work work_of(job *j) {
    lab_work w = {prepare, work, verify, j};
    return w;
}

#endif

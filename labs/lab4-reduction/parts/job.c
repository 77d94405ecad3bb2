/* job.c — one call of `mean` or `means`; see job.h. */
#include "job.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

uint32_t job_bits(uint64_t seed, uint32_t place) { return hash(mixed(seed), place); }

int skewed_length(int i, uint64_t seed) {
    int part = (int)(job_bits(seed, (uint32_t)i) % 1000), apart = lab_small_job() ? 500 : 125;
    return i % apart == 7 ? 900000 + 200 * part : i % 50 == 3 ? 20000 + 20 * part : 100 + part;
}

static uint32_t place_of(const job *j, int i) { return (uint32_t)j->list[i].at; }

/* The mean of tensor i under a seed, in double precision. */
static double mean_of(const job *j, int i, uint64_t seed) {
    double sum = 0;
    int n = j->list[i].length;
    for (int k = 0; k < n; k++) sum += (double)element(mixed(seed), place_of(j, i), k, n);
    return sum / n;
}

double job_right_mean(const job *j, int i) { return mean_of(j, i, j->seed); }

/* --- one call --------------------------------------------------------------------------------- */

void job_prepare(void *context) {
    job *j = context;
    j->seed++;
    j->calls++;
    memset(j->host, 0xFF, j->room * sizeof *j->host);
    for (int i = 0; i < j->shape.count; i++)
        for (int k = 0, n = j->list[i].length; k < n; k++)
            j->host[place_of(j, i) + k] = element(mixed(j->seed), place_of(j, i), k, n);
    LAB_CUDA(cudaMemcpy(j->d_in, j->host, j->room * sizeof *j->host, cudaMemcpyHostToDevice));
    memset(j->host, 0, j->room * sizeof *j->host);
    lab_poison(j->d_out, (size_t)j->shape.count);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    if (j->shape.array)
        lab_stage("your mean of %d float%s", j->longest, j->longest == 1 ? "" : "s");
    else
        lab_stage("your means of %d tensors", j->shape.count);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* "tensor 3 of 7 (33 floats)" */
static const char *name_of(const job *j, int i, char *to, size_t size) {
    const int length = j->list[i].length;
    const char *plural = length == 1 ? "" : "s";
    if (j->shape.array)
        snprintf(to, size, "the array of %d float%s", length, plural);
    else
        snprintf(to, size, "tensor %d of %d (%d float%s)", i, j->shape.count, length, plural);
    return to;
}

static bool near(double a, double b, double relative) { return fabs(a - b) <= relative * fabs(b); }

/* Returns the number of floats that are missing at the end, or at the beginning, if that explains the sum `got`; else
 * 0. Only of short tensors: among many partial sums one is always near. */
static int missing(const job *j, int i, double got, bool at_end) {
    enum { SHORT = 5000 };
    const int n = j->list[i].length;
    double sum = 0;
    for (int k = 1; k < n && n <= SHORT; k++) {
        sum += (double)element(mixed(j->seed), place_of(j, i), at_end ? k - 1 : n - k, n);
        if (near(got, sum, 2e-6)) return n - k;
    }
    return 0;
}

/* Returns the number by which the sum was divided, if it is another than n and explains `got`; else 0. The larger the
 * number, the nearer is some whole one by chance; that of a part of a long tensor may be this large. */
enum { PART_AT_MOST = 32768 };
static int divisor(double sum, double got, int n) {
    const double m = round(sum / got);
    return m > 1 && m <= PART_AT_MOST && (int)m != n && near(got * m, sum, m <= 4096 ? 2e-6 : 5e-7) ? (int)m : 0;
}

/* Returns the tensor whose mean `got` is, or -1. */
static int owner(const job *j, double got, int but) {
    for (int k = 0; k < j->shape.count; k++)
        if (k != but && near(got, job_right_mean(j, k), 2e-6)) return k;
    return -1;
}

static enum mistake remark(job *j, enum mistake m, const char *fmt, ...) LAB_PRINTF(3, 4);
static enum mistake remark(job *j, enum mistake m, const char *fmt, ...) {
    const size_t n = strlen(j->failure);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(j->failure + n, sizeof j->failure - n, fmt, ap);
    va_end(ap);
    return m;
}

/* Says of a number that is no right mean what it is, where it shows that. */
static enum mistake explain(job *j, int i, double got, double want) {
    const int n = j->list[i].length;
    const double before = j->calls > 1 ? mean_of(j, i, j->seed - 1) : 0;
    int m;
    if (got < 0) return remark(j, NOT_DATA, "; all data is above 0, so something else was added");
    if (got == 0) return remark(j, NOTHING, ": nothing was added");
    if (n > 1 && near(got, want * n, 1e-3)) return remark(j, IS_SUM, ": that is the sum, of %d floats", n);
    if (j->calls > 1 && near(got, before, 2e-6))
        return remark(j, OF_LAST_CALL, ": that is the mean of the call before");
    if (j->calls > 1 && near(got, before + want, 2e-6))
        return remark(j, ADDED_AGAIN, ": that is the mean and the one of the call before, added");
    if (near(got, 2 * want, 2e-6)) return remark(j, TWICE, ": each float was added twice");
    if ((m = divisor(want * n, got, n))) return remark(j, WRONG_DIVISOR, ": that is the sum divided by %d", m);
    if ((m = owner(j, got, i)) >= 0) return remark(j, OTHER_TENSOR, ": that is the mean of tensor %d", m);
    if ((m = missing(j, i, got * n, true)))
        return remark(j, LAST_MISSING, ": floats %d to %d are missing", n - m, n - 1);
    if ((m = missing(j, i, got * n, false))) return remark(j, FIRST_MISSING, ": floats 0 to %d are missing", m - 1);
    return WRONG;
}

/* Describes the error in mean i and, where the number shows it, the kind of mistake. */
static void describe(job *j, int i, float got, double want) {
    char name[96];
    name_of(j, i, name, sizeof name);
    LAB_SAY(j->failure, "%s%s: ", j->calls > 1 ? "the second call: " : "", name);
    if (lab_is_poison(got)) {
        j->mistake = remark(j, UNWRITTEN, "the mean was never written");
    } else if (isnan(got)) {
        j->mistake =
            remark(j, NOT_A_NUMBER, "the mean is NaN: something outside was added, or read before it was written");
    } else {
        remark(j, WRONG, "the mean is %.7g, wants %.7g", got, want);
        j->mistake = explain(j, i, got, want);
    }
}

enum { LIMIT = 1678 }; /* a mean is wrong beyond 1e-4, in units of 2^-24; `accuracy` grades smaller errors */

/* Checks one mean against its tensor; `data` is the tensor as the device holds it now. Returns false if it changed. */
static bool check(job *j, int i, float got, const float *data) {
    int n = j->list[i].length;
    for (int k = 0; k < n; k++)
        if (data[k] != element(mixed(j->seed), place_of(j, i), k, n)) return false;
    double want = job_right_mean(j, i), error = fabs(got - want) / want * 0x1p24;
    if (!(error <= LIMIT)) {
        describe(j, i, got, want);
    } else if (error > j->worst) {
        j->worst = error;
        j->worst_length = n;
    }
    return true;
}

static void verify(void *context) {
    job *j = context;
    char name[96];
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your %s", j->shape.array ? "mean" : "means");
    if (j->failure[0]) return;
    float *got = malloc((size_t)j->shape.count * sizeof *got);
    if (!got) lab_die("out of memory");
    LAB_CUDA(cudaMemcpy(got, j->d_out, (size_t)j->shape.count * sizeof *got, cudaMemcpyDeviceToHost));
    LAB_CUDA(cudaMemcpy(j->host, j->d_in, j->room * sizeof *j->host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < j->shape.count && !j->failure[0]; i++) {
        if (check(j, i, got[i], j->host + place_of(j, i))) continue;
        j->mistake = CHANGED;
        LAB_SAY(j->failure, "%s: the data was changed; it is const", name_of(j, i, name, sizeof name));
    }
    free(got);
    int side = lab_guards_broken(j->d_out, (size_t)j->shape.count);
    if (!side || j->failure[0]) return;
    j->mistake = OUTSIDE;
    LAB_SAY(j->failure, "memory %s the means was written", side < 0 ? "before" : "behind");
}

/* --- a job ------------------------------------------------------------------------------------- */

/* Lays the tensors out, one behind the other. */
static void lay_out(job *j) {
    const job_shape *s = &j->shape;
    j->list = malloc((size_t)s->count * sizeof *j->list);
    if (!j->list) lab_die("out of memory");
    j->room = s->align ? 0 : 1;
    for (int i = 0; i < s->count; i++) {
        int n = s->length_of ? s->length_of(i, s->seed) : s->length;
        j->list[i] = (struct job_tensor){j->room, n};
        j->floats += (size_t)n;
        j->room += (size_t)(s->align ? (n + s->align) / s->align * s->align : n + 2);
        if (n > j->longest) j->longest = n;
    }
}

static void send_plan(job *j) {
    struct lab4_list m = {.call = {.what = LAB4_LIST}};
    struct lab4_call plan = {.what = LAB4_PLAN, .count = j->shape.count};
    for (int first = 0; first < plan.count; first += LAB4_PORTION) {
        int left = plan.count - first;
        m.call.first = first;
        m.call.count = left < LAB4_PORTION ? left : LAB4_PORTION;
        for (int i = 0; i < m.call.count; i++) {
            const struct job_tensor *t = &j->list[first + i];
            m.tensors[i] = (struct lab4_tensor){(uint64_t)(j->d_in + t->at), t->length};
        }
        lab_play(j->program, &m, sizeof m, NULL, 0);
    }
    if (j->counted) lab_stage("your plan of %d tensors", plan.count);
    if (j->counted) lab_count_begin(JOB_PLAN);
    lab_play(j->program, &plan, sizeof plan, NULL, 0);
    if (j->counted) lab_count_end();
}

void job_open(job *j, lab_program *program, const char *counted, const job_shape *shape) {
    const size_t means = (size_t)shape->count;
    *j = (job){.program = program, .counted = counted, .shape = *shape, .seed = shape->seed};
    lab_use(program);
    lay_out(j);
    j->d_in = lab_alloc(j->room);
    j->d_out = lab_alloc(means);
    j->host = malloc((j->room > means ? j->room : means) * sizeof *j->host);
    if (!j->host) lab_die("out of memory");
    if (!shape->array) send_plan(j);
    j->message = (struct lab4_call){.what = shape->array ? LAB4_MEAN : LAB4_MEANS,
                                    .count = j->longest,
                                    .d_in = (uint64_t)(j->d_in + j->list[0].at),
                                    .d_out = (uint64_t)j->d_out};
    j->work = (lab_work){program, job_prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
}

void job_close(job *j) {
    lab_use(j->program);
    lab_free(j->d_in);
    lab_free(j->d_out);
    free(j->host);
    free(j->list);
}

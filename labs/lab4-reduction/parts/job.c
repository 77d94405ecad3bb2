/* job.c — one call of `mean` or `means`; see job.h. */
#include "job.h"

#include <math.h>
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
    int part = (int)(job_bits(seed, (uint32_t)i) % 1000), apart = lab_lane() == LAB_SIM ? 500 : 125;
    return i % apart == 7 ? 900000 + 200 * part : i % 50 == 3 ? 20000 + 20 * part : 100 + part;
}

static uint32_t place_of(const job *j, int i) { return (uint32_t)j->list[i].at; }

/* The mean of tensor i, in double precision. */
double job_right_mean(const job *j, int i) {
    double sum = 0;
    int n = j->list[i].length;
    for (int k = 0; k < n; k++) sum += (double)element(mixed(j->seed), place_of(j, i), k, n);
    return sum / n;
}

/* --- one call --------------------------------------------------------------------------------- */

void job_prepare(void *context) {
    job *j = context;
    j->seed++;
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
        lab_stage("your mean of %d floats", j->longest);
    else
        lab_stage("your means of %d tensors", j->shape.count);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* "tensor 3 of 7 (33 floats)" */
static const char *name_of(const job *j, int i, char *to, size_t size) {
    if (j->shape.array)
        snprintf(to, size, "the array of %d floats", j->list[i].length);
    else
        snprintf(to, size, "tensor %d of %d (%d floats)", i, j->shape.count, j->list[i].length);
    return to;
}

/* Describes the error in mean i and, where the number shows it, the kind of mistake. */
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
    for (int i = 0; i < j->shape.count && !j->failure[0]; i++)
        if (!check(j, i, got[i], j->host + place_of(j, i)))
            snprintf(j->failure, sizeof j->failure, "%s: the data was changed; it is const",
                     name_of(j, i, name, sizeof name));
    free(got);
    int side = lab_guards_broken(j->d_out, (size_t)j->shape.count);
    if (side && !j->failure[0])
        snprintf(j->failure, sizeof j->failure, "memory %s the means was written", side < 0 ? "before" : "behind");
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
    lab_play(j->program, &plan, sizeof plan, NULL, 0);
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

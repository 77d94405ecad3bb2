/* wide.c — see wide.h. */
#include "wide.h"
#include "job.h"

#include <math.h>
#include <stdlib.h>

enum { LARGEST_HALF = 65504 };

static size_t of_x(const wide *r) { return (size_t)r->m * (size_t)r->k; }
static size_t of_w(const wide *r) { return (size_t)r->k * (size_t)r->n; }
static size_t of_y(const wide *r) { return (size_t)r->m * (size_t)r->n; }

/* --- data ----------------------------------------------------------------------------------------- */

/* 8 to 16, with all the digits of a bfloat16. */
static double element(uint64_t seed, size_t place) { return (128 + (job_bits(seed, place) >> 25)) / 16.0; }

static double factor_of(const wide *r, size_t column) {
    const size_t c = column + r->seed % 35;
    return (c % 5 == 0 ? -1 : 1) * (c % 7 == 0 ? 0x1p-6 : 1);
}

static void fill(wide *r) {
    const size_t n = (size_t)r->n;
    for (size_t i = 0; i < of_x(r); i++) r->x[i] = bf16_of(element(r->seed + 1, i));
    for (size_t i = 0; i < of_w(r); i++) r->w[i] = bf16_of(element(r->seed + 2, i) * factor_of(r, i % n));
    for (size_t c = 0; c < n; c++) r->bias[c] = bf16_of(element(r->seed + 3, c) * r->k * factor_of(r, c));
}

static uint16_t *halves(size_t count) {
    uint16_t *p = calloc(count, sizeof *p);
    if (!p) lab_die("out of memory");
    return p;
}

static uint64_t sent(const uint16_t *from, size_t count) {
    float *to = lab_alloc((count + 1) / 2);
    lab_poison(to, (count + 1) / 2);
    if (from) LAB_CUDA(cudaMemcpy(to, from, count * sizeof *from, cudaMemcpyHostToDevice));
    return (uint64_t)to;
}

/* --- the oracle ----------------------------------------------------------------------------------- */

static double right(const wide *r, int row, int column) {
    const uint16_t *x = r->x + (size_t)row * (size_t)r->k, *w = r->w + column;
    double sum = bf16_value(r->bias[column]);
    for (int a = 0; a < r->k; a++) sum += bf16_value(x[a]) * bf16_value(w[(size_t)a * (size_t)r->n]);
    return fmax(sum, 0);
}

/* bias: its part of the right value. */
static enum wide_mistake kind_of(const wide *r, double bias) {
    if (r->want == 0 && r->got < 0) return WIDE_NO_RELU;
    if (r->worst > 1e6) return WIDE_OTHER_BITS;
    if (fabs(r->got - (r->want - bias)) <= 2 * bf16_ulp(r->want)) return WIDE_NO_BIAS;
    return r->worst <= 2.1 ? WIDE_CUT : WIDE_ROUNDED;
}

static void judge(wide *r, uint16_t bits, double want, double bias) {
    const double got = bf16_value(bits), error = fabs(got - want) / bf16_ulp(fmax(want, 1));
    r->large += want > LARGEST_HALF;
    r->poison += bits == HALF_POISON;
    if (!isfinite(got)) {
        if (!r->odd++) r->want = want, r->got = got;
    } else if (error > r->worst) {
        r->worst = error;
        if (r->odd) return;
        r->want = want, r->got = got;
        r->mistake = kind_of(r, bias);
    }
}

/* --- a run ---------------------------------------------------------------------------------------- */

static void play(wide *r) {
    const lab_work work = {.program = r->program, .message = &r->message, .size = sizeof r->message};
    LAB_CUDA(cudaDeviceSynchronize());
    lab_stage("your dense_bf16 on %dx%dx%d", r->m, r->n, r->k);
    lab_count_begin(r->counted);
    r->error = lab_time_work((lab_timer){LAB_DEVICE_CLOCK, 0, 1, false}, &work).error;
    lab_count_end();
    lab_stage("the harness, after your dense_bf16");
}

wide *wide_run(lab_program *program, const char *counted, int m, int n, int k) {
    wide *r = lab_hide(sizeof *r);
    lab_use(program);
    *r = (wide){.program = program, .counted = counted, .m = m, .n = n, .k = k, .seed = lab_fresh_seed() >> 8 | 1};
    r->x = halves(of_x(r)), r->w = halves(of_w(r)), r->bias = halves((size_t)n), r->y = halves(of_y(r));
    fill(r);
    r->message = (struct lab10_message){.what = LAB10_DENSE_BF16,
                                        .m = m,
                                        .n = n,
                                        .k = k,
                                        .x = sent(r->x, of_x(r)),
                                        .w = sent(r->w, of_w(r)),
                                        .bias = sent(r->bias, (size_t)n),
                                        .y = sent(NULL, of_y(r))};
    play(r);
    if (r->error) return r;
    LAB_CUDA(cudaMemcpy(r->y, (void *)r->message.y, of_y(r) * sizeof *r->y, cudaMemcpyDeviceToHost));
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            judge(r, r->y[(size_t)i * (size_t)n + (size_t)j], right(r, i, j), bf16_value(r->bias[j]));
    return r;
}

void wide_free(wide *r) {
    const uint64_t device[] = {r->message.x, r->message.w, r->message.bias, r->message.y};
    uint16_t *const host[] = {r->x, r->w, r->bias, r->y};
    lab_use(r->program);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) lab_free((float *)device[i]);
    for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
}

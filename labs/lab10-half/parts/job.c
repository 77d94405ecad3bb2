/* job.c — see job.h: the data, the oracle, and one run. */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool job_is_dense(const job *j) { return j->shape.k > 0; }
size_t job_results(const job *j) {
    return job_is_dense(j) ? (size_t)j->shape.m * (size_t)j->shape.n : (size_t)j->shape.m;
}

void job_say(const job *j, char *to, size_t size) {
    if (job_is_dense(j))
        lab_text(to, size, "%dx%dx%d", j->shape.m, j->shape.n, j->shape.k);
    else
        lab_text(to, size, "%d halves", j->shape.m);
}

/* --- data ----------------------------------------------------------------------------------------- */

uint32_t job_bits(uint64_t seed, size_t place) {
    uint32_t x = (uint32_t)place * 0x9E3779B1u + (uint32_t)(seed * 0x9E3779B97F4A7C15u >> 32);
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return x ^ x >> 16;
}

/* n / 1024 for |n| <= 1024 is a half. TAME: -1 to 1; LONG: 0.5 to 1. */
static uint16_t element(uint32_t bits, enum job_data data) {
    const int n = data == JOB_LONG ? 512 + (int)(bits >> 23) : (int)(bits >> 21) - 1024;
    return half_of(n / 1024.0);
}

uint16_t job_x(const job *j, uint64_t seed, size_t place) { return element(job_bits(seed + 1, place), j->shape.data); }
uint16_t job_w(const job *j, uint64_t seed, size_t place) { return element(job_bits(seed + 2, place), j->shape.data); }
/* Large beside one product, so that it counts in every sum. */
uint16_t job_bias(uint64_t seed, int column) {
    const int n = (int)(job_bits(seed + 3, (size_t)column) >> 21) - 1024;
    return half_of((n + (n < 0 ? -512 : 512)) / 512.0);
}

static uint16_t pass_y(uint64_t seed, size_t place) {
    const uint32_t bits = job_bits(seed + 4, place);
    if (bits % 3 == 0) return bits & 64 ? 0x8000 : 0;
    if (bits % 7 == 0) return half_of(-1 - (int)(bits >> 24));
    return half_of(((bits >> 20) + 1) / 256.0);
}

static uint16_t pass_dy(uint64_t seed, size_t place) {
    const uint32_t bits = job_bits(seed + 5, place);
    if (half_value(pass_y(seed, place)) <= 0 && bits % 16 == 1) return bits & 64 ? HALF_INFINITY : 0x7e00;
    return half_of(((int)(bits >> 21) - 1024) / 64.0 + 1 / 128.0);
}

static void *halves(size_t count) { return lab_alloc((count + 1) / 2); }

static void send(void *to, const uint16_t *from, size_t count) {
    LAB_CUDA(cudaMemcpy(to, from, count * sizeof *from, cudaMemcpyHostToDevice));
}

void job_fill(job *j, uint64_t seed) {
    const size_t m = (size_t)j->shape.m, n = (size_t)j->shape.n, k = (size_t)j->shape.k;
    for (size_t i = 0; i < m * k; i++) j->x[i] = job_x(j, seed, i);
    for (size_t i = 0; i < k * n; i++) j->w[i] = job_w(j, seed, i);
    for (size_t c = 0; c < n; c++) j->bias[c] = job_bias(seed, (int)c);
}

static void send_dense(job *j) {
    const size_t m = (size_t)j->shape.m, n = (size_t)j->shape.n, k = (size_t)j->shape.k;
    send(j->d_x, j->x, m * k);
    send(j->d_w, j->w, k * n);
    send(j->d_bias, j->bias, n);
    lab_poison(j->d_y, (m * n + 1) / 2);
}

/* Host data of so many elements; longer arrays repeat it, since a host that computes 64 million of them for each run is
 * slow. */
static size_t period(const job *j) {
    enum { MOST = 1 << 22, PIECE = 1 << 20 };
    return j->shape.m > MOST ? PIECE : (size_t)j->shape.m;
}

uint16_t job_y(const job *j, size_t place) { return j->y[place % period(j)]; }
uint16_t job_dy(const job *j, size_t place) { return j->dy[place % period(j)]; }

static void fill_pass(job *j) {
    for (size_t i = 0; i < period(j); i++) j->y[i] = pass_y(j->seed, i), j->dy[i] = pass_dy(j->seed, i);
}

static void send_pass(const job *j) {
    const size_t count = job_results(j), piece = period(j);
    for (size_t i = 0; i < count; i += piece) {
        const size_t n = count - i < piece ? count - i : piece;
        send((uint16_t *)j->d_y + i, j->y, n);
        send((uint16_t *)j->d_dy + i, j->dy, n);
    }
    lab_poison(j->d_dz, (count + 1) / 2);
}

void job_prepare(void *context) {
    job *j = context;
    char shape[64];
    if (!j->seed || j->counted) { /* who is only timed keeps the data */
        j->before = j->seed;
        j->seed = lab_fresh_seed() >> 8 | 1;
        if (job_is_dense(j))
            job_fill(j, j->seed);
        else
            fill_pass(j);
    }
    /* Sent in any case: before each program's run a card's L2 holds the same then. */
    if (job_is_dense(j))
        send_dense(j);
    else
        send_pass(j);
    memset(j->host, 0, job_results(j) * sizeof *j->host);
    LAB_CUDA(cudaDeviceSynchronize());
    if (!j->counted) return;
    job_say(j, shape, sizeof shape);
    lab_stage("your %s on %s", job_is_dense(j) ? "dense" : "relu_backward", shape);
    lab_count_begin(j->counted);
    j->begin = lab_now();
}

/* --- the oracle ----------------------------------------------------------------------------------- */

double job_sum(const job *j, int r, int c, int k, double *size) {
    const uint16_t *x = j->x + (size_t)r * (size_t)j->shape.k, *w = j->w + c;
    double sum = 0;
    *size = 0;
    for (int a = 0; a < k; a++) {
        const double product = half_value(x[a]) * half_value(w[(size_t)a * (size_t)j->shape.n]);
        sum += product;
        *size += fabs(product);
    }
    return sum;
}

/* `correct` is about what is computed, and even sums of halves pass it; `worst error` is about how exactly. */
bool job_near(const job *j, double got, double want) {
    return fabs(got - want) <= 0.004 + 0.001 * j->shape.k + fabs(want) / 512;
}

/* --- a run ---------------------------------------------------------------------------------------- */

struct tally {
    size_t first, wrong, poison;
};

static void note(struct tally *t, size_t place, bool missing) {
    if (!t->wrong++) t->first = place;
    t->poison += missing;
}

/* One row of y. `want`, `size`: the sums of its n products, and of their magnitudes. */
static void compare_row(job *j, int r, const double *want, const double *size, struct tally *t) {
    const int n = j->shape.n;
    for (int c = 0; c < n; c++) {
        const size_t place = (size_t)r * (size_t)n + (size_t)c;
        const double right = fmax(0, want[c] + half_value(j->bias[c])), got = half_value(j->host[place]);
        /* One rounding to a half, and those of a sum of floats. */
        const double error = fabs(got - right) / (half_ulp(right) + size[c] * 0x1p-20);
        if (!(error <= j->worst)) {
            j->worst = isnan(error) ? HUGE_VAL : error;
            j->worst_row = r, j->worst_col = c;
        }
        if (j->shape.data == JOB_LONG ? j->host[place] == HALF_POISON : !job_near(j, got, right))
            note(t, place, j->host[place] == HALF_POISON);
    }
}

/* So many rows are summed together, product by product, in the order of memory: a row of w becomes numbers once for
 * all. */
enum { TOGETHER = 8 };

/* Rows of y from `r` on, each `apart` rows behind the last. `room`: for 2 * TOGETHER + 1 rows of numbers. */
static void compare_rows(job *j, int r, int apart, double *room, struct tally *t) {
    const size_t n = (size_t)j->shape.n, k = (size_t)j->shape.k;
    double *w = room + 2 * TOGETHER * n;
    memset(room, 0, 2 * TOGETHER * n * sizeof *room);
    for (size_t a = 0; a < k; a++) {
        for (size_t c = 0; c < n; c++) w[c] = half_value(j->w[a * n + c]);
        for (int i = 0; i < TOGETHER && r + i * apart < j->shape.m; i++) {
            const double x = half_value(j->x[(size_t)(r + i * apart) * k + a]);
            double *want = room + (size_t)i * 2 * n, *size = want + n;
            for (size_t c = 0; c < n; c++) {
                const double product = x * w[c];
                want[c] += product;
                size[c] += fabs(product);
            }
        }
    }
    for (int i = 0; i < TOGETHER && r + i * apart < j->shape.m; i++)
        compare_row(j, r + i * apart, room + (size_t)i * 2 * n, room + (size_t)i * 2 * n + n, t);
}

/* A large product is looked at row by row, some of them chosen by the seed: the host is slower than the card. */
static int rows_apart(const job *j) {
    const double each = (double)j->shape.n * j->shape.k, all = each * j->shape.m, limit = 1 << 26;
    return all <= limit ? 1 : (int)(all / limit);
}

static struct tally compare_dense(job *j, int from, int apart) {
    struct tally t = {0, 0, 0};
    double *room = malloc((2 * TOGETHER + 1) * (size_t)j->shape.n * sizeof *room);
    if (!room) lab_die("out of memory");
    for (int r = from; r < j->shape.m; r += TOGETHER * apart) compare_rows(j, r, apart, room, &t);
    free(room);
    return t;
}

static struct tally compare_pass(job *j) {
    struct tally t = {0, 0, 0};
    const size_t count = job_results(j);
    for (size_t i = 0; i < count; i++) {
        const uint16_t right = half_value(job_y(j, i)) > 0 ? job_dy(j, i) : 0;
        if (j->host[i] != right && !(right == 0 && j->host[i] == 0x8000)) note(&t, i, j->host[i] == HALF_POISON);
    }
    return t;
}

static void receive(const job *j) {
    const void *from = job_is_dense(j) ? j->d_y : j->d_dz;
    LAB_CUDA(cudaMemcpy(j->host, from, job_results(j) * sizeof *j->host, cudaMemcpyDeviceToHost));
}

bool job_is_right(job *j) {
    struct tally t;
    receive(j);
    if (job_is_dense(j)) {
        const int apart = rows_apart(j);
        t = compare_dense(j, (int)(j->seed / 64 % (uint64_t)apart), apart);
    } else {
        t = compare_pass(j);
    }
    if (t.wrong) job_explain(j, t.first, t.wrong, t.poison);
    return !j->failure[0];
}

/* Compares an input with what was sent; the first difference is the failure. */
static void find_changed(job *j, const char *name, const void *device, size_t count,
                         uint16_t (*data)(const job *, size_t)) {
    uint16_t *now = malloc(count * sizeof *now);
    char shape[64];
    if (!now) lab_die("out of memory");
    LAB_CUDA(cudaMemcpy(now, device, count * sizeof *now, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < count && !j->failure[0]; i++) {
        if (now[i] == data(j, i)) continue;
        j->mistake = INPUT_CHANGED;
        job_say(j, shape, sizeof shape);
        LAB_SAY(j->failure, "%s: the input was changed at %s[%zu]; it is const", shape, name, i);
    }
    free(now);
}

static uint16_t sent_x(const job *j, size_t i) { return j->x[i]; }
static uint16_t sent_w(const job *j, size_t i) { return j->w[i]; }

static void find_changed_input(job *j) {
    const size_t m = (size_t)j->shape.m, n = (size_t)j->shape.n, k = (size_t)j->shape.k;
    if (job_is_dense(j)) {
        find_changed(j, "x", j->d_x, m * k, sent_x);
        find_changed(j, "w", j->d_w, k * n, sent_w);
    } else {
        find_changed(j, "y", j->d_y, m, job_y);
        find_changed(j, "dy", j->d_dy, m, job_dy);
    }
}

static void verify(void *context) {
    job *j = context;
    char shape[64];
    if (!j->counted) return;
    j->end = lab_now();
    lab_count_end();
    lab_stage("the harness, after your function");
    if (j->failure[0]) return;
    if (job_is_right(j)) find_changed_input(j);
    const void *result = job_is_dense(j) ? j->d_y : j->d_dz;
    const int side = j->failure[0] ? 0 : lab_guards_broken(result, (job_results(j) + 1) / 2);
    if (!side) return;
    j->mistake = OUT_OF_BOUNDS;
    job_say(j, shape, sizeof shape);
    LAB_SAY(j->failure, "%s: memory %s the result was written", shape, side < 0 ? "before" : "behind");
}

static uint16_t *room(size_t count) {
    uint16_t *p = malloc(count * sizeof *p);
    if (!p) lab_die("out of memory");
    return p;
}

static void make_dense(job *j) {
    const size_t m = (size_t)j->shape.m, n = (size_t)j->shape.n, k = (size_t)j->shape.k;
    j->d_x = halves(m * k), j->d_w = halves(k * n), j->d_bias = halves(n), j->d_y = halves(m * n);
    j->x = room(m * k), j->w = room(k * n), j->bias = room(n), j->host = room(m * n);
    j->message = (struct lab10_message){.what = LAB10_DENSE,
                                        .m = j->shape.m,
                                        .n = j->shape.n,
                                        .k = j->shape.k,
                                        .x = (uint64_t)j->d_x,
                                        .w = (uint64_t)j->d_w,
                                        .bias = (uint64_t)j->d_bias,
                                        .y = (uint64_t)j->d_y};
}

static void make_pass(job *j) {
    const size_t count = (size_t)j->shape.m;
    j->d_y = halves(count), j->d_dy = halves(count), j->d_dz = halves(count);
    j->host = room(count), j->y = room(period(j)), j->dy = room(period(j));
    j->message = (struct lab10_message){.what = LAB10_RELU_BACKWARD,
                                        .count = j->shape.m,
                                        .y = (uint64_t)j->d_y,
                                        .dy = (uint64_t)j->d_dy,
                                        .dz = (uint64_t)j->d_dz};
}

job *job_new(lab_program *program, const char *counted, const job_shape *shape) {
    job *j = lab_hide(sizeof *j);
    lab_use(program);
    *j = (job){.program = program, .counted = counted, .shape = *shape};
    if (job_is_dense(j))
        make_dense(j);
    else
        make_pass(j);
    j->work = (lab_work){program, job_prepare, verify, j, &j->message, sizeof j->message, NULL, 0, NULL};
    return j;
}

void job_free(job *j) {
    void *const device[] = {j->d_x, j->d_w, j->d_bias, j->d_y, j->d_dy, j->d_dz};
    lab_use(j->program);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++)
        if (device[i]) lab_free(device[i]);
    free(j->x);
    free(j->w);
    free(j->bias);
    free(j->y);
    free(j->dy);
    free(j->host);
}

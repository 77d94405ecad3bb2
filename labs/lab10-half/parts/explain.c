/* explain.c — what a wrong result of dense or relu_backward shows: the mistake that gives these very numbers. */
#include "job.h"

#include <math.h>

/* --- dense ---------------------------------------------------------------------------------------- */

/* One element, as each mistake would compute it. */
typedef double wrong_value(const job *j, int r, int c);

static double bias(const job *j, int c) { return half_value(j->bias[c]); }
static double sum(const job *j, int r, int c) {
    double size;
    return job_sum(j, r, c, j->shape.k, &size);
}
static double without_relu(const job *j, int r, int c) { return sum(j, r, c) + bias(j, c); }
static double right(const job *j, int r, int c) { return fmax(0, without_relu(j, r, c)); }
static double without_bias(const job *j, int r, int c) { return fmax(0, sum(j, r, c)); }
static double bias_last(const job *j, int r, int c) { return fmax(0, sum(j, r, c)) + bias(j, c); }
static double bias_by_row(const job *j, int r, int c) {
    return fmax(0, sum(j, r, c) + bias(j, r < j->shape.n ? r : c));
}
static double bias_twice(const job *j, int r, int c) { return fmax(0, sum(j, r, c) + 2 * bias(j, c)); }
static double bias_each_time(const job *j, int r, int c) { return fmax(0, sum(j, r, c) + j->shape.k * bias(j, c)); }
static double transposed(const job *j, int r, int c) {
    double s = 0;
    for (int a = 0; a < j->shape.k; a++)
        s += half_value(j->x[(size_t)r * (size_t)j->shape.k + (size_t)a]) *
             half_value(j->w[(size_t)c * (size_t)j->shape.k + (size_t)a]);
    return fmax(0, s + bias(j, c));
}

/* Each tile of w is transposed, as by an ldmatrix without .trans (8 x 8) or a fragment of the other layout. */
static double turned(const job *j, int r, int c, int tile) {
    const int k = j->shape.k, n = j->shape.n;
    double s = 0;
    for (int a = 0; a < k; a++) {
        const int row = a / tile * tile + c % tile, col = c / tile * tile + a % tile;
        if (row >= k || col >= n) continue; /* zeros */
        s += half_value(j->x[(size_t)r * (size_t)k + (size_t)a]) *
             half_value(j->w[(size_t)row * (size_t)n + (size_t)col]);
    }
    return fmax(0, s + bias(j, c));
}
static double turned_by_8(const job *j, int r, int c) { return turned(j, r, c, 8); }
static double turned_by_16(const job *j, int r, int c) { return turned(j, r, c, 16); }

static const struct {
    enum mistake kind;
    wrong_value *value;
} guesses[] = {
    {NO_RELU, without_relu},    {NO_BIAS, without_bias},     {BIAS_LAST, bias_last},
    {BIAS_BY_ROW, bias_by_row}, {BIAS_OFTEN, bias_twice},    {BIAS_OFTEN, bias_each_time},
    {TRANSPOSED, transposed},   {TILES_TURNED, turned_by_8}, {TILES_TURNED, turned_by_16},
};

enum { SAMPLES = 24 };

/* Does a mistake give what stands in some elements spread over the result, written ones only? */
static bool gives(const job *j, wrong_value *value) {
    const size_t count = job_results(j);
    int seen = 0;
    for (int s = 0; s < SAMPLES; s++) {
        const size_t place = count * (size_t)s / SAMPLES;
        const int r = (int)(place / (size_t)j->shape.n), c = (int)(place % (size_t)j->shape.n);
        if (j->host[place] == HALF_POISON) continue;
        if (!job_near(j, half_value(j->host[place]), value(j, r, c))) return false;
        seen++;
    }
    return seen > 0;
}

/* Sums of the products below a whole number of `step` only: how many are there? 0: it is not so. */
static int products_until(const job *j) {
    static const int steps[] = {8, 16, 32, 64, 128, 4, 2};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int k = j->shape.k / steps[i] * steps[i];
        bool all = k < j->shape.k;
        for (int s = 0; all && s < SAMPLES; s++) {
            const size_t place = job_results(j) * (size_t)s / SAMPLES;
            const int c = (int)(place % (size_t)j->shape.n);
            double size;
            const double want = job_sum(j, (int)(place / (size_t)j->shape.n), c, k, &size) + bias(j, c);
            all = job_near(j, half_value(j->host[place]), fmax(0, want));
        }
        if (all) return k ? k : -1;
    }
    return 0;
}

/* Is the right value of (r, c) at hand in the neighbourhood, or at [c][r]? */
static bool stands_elsewhere(const job *j, int r, int c) {
    const double want = right(j, r, c);
    const int m = j->shape.m, n = j->shape.n;
    int found = 0;
    if (want == 0) return false;
    if (c < m && r < n) found += job_near(j, half_value(j->host[(size_t)c * (size_t)n + (size_t)r]), want);
    for (int d = -16; d <= 16; d++) {
        if (d == 0) continue;
        if (r + d >= 0 && r + d < m)
            found += half_value(j->host[(size_t)(r + d) * (size_t)n + (size_t)c]) == half_value(half_of(want));
        if (c + d >= 0 && c + d < n)
            found += half_value(j->host[(size_t)r * (size_t)n + (size_t)(c + d)]) == half_value(half_of(want));
    }
    return found > 0;
}

/* Are exactly the last rows, or the last columns, unwritten? */
static bool only_last(const job *j, size_t first, size_t poison, bool rows) {
    const size_t m = (size_t)j->shape.m, n = (size_t)j->shape.n, r = first / n, c = first % n;
    return rows ? c == 0 && poison == (m - r) * n : poison == (n - c) * m && r == 0;
}

static enum mistake unwritten(const job *j, size_t first, size_t poison) {
    const size_t all = job_results(j);
    if (poison == all) return NOTHING_WRITTEN;
    if (!job_is_dense(j)) return poison == all - first ? LAST_COLUMNS : UNWRITTEN;
    if (only_last(j, first, poison, true)) return LAST_ROWS;
    return only_last(j, first, poison, false) ? LAST_COLUMNS : UNWRITTEN;
}

static bool is_stale(job *j) {
    const uint64_t now = j->seed;
    if (!j->before) return false;
    job_fill(j, j->before);
    const bool same = gives(j, right);
    job_fill(j, now);
    return same;
}

static enum mistake of_dense(job *j, size_t first, size_t poison, int *until) {
    const int r = (int)(first / (size_t)j->shape.n), c = (int)(first % (size_t)j->shape.n);
    if (poison) return unwritten(j, first, poison);
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++)
        if (gives(j, guesses[i].value)) return guesses[i].kind;
    if ((*until = products_until(j)) != 0) return NO_LAST_K;
    if (!half_is_finite(j->host[first])) return NOT_A_NUMBER;
    if (is_stale(j)) return STALE;
    return stands_elsewhere(j, r, c) ? OTHER_PLACE : WRONG;
}

/* --- relu_backward -------------------------------------------------------------------------------- */

/* What element i would be. */
static uint16_t passed(const job *j, size_t i, enum mistake kind) {
    const uint16_t y = job_y(j, i), dy = job_dy(j, i);
    const double v = half_value(y);
    if (kind == PASSES_ALL) return dy;
    if (kind == PASSES_Y) return v > 0 ? y : 0;
    if (kind == PASSES_PLUS_ZERO) return y < 0x8000 ? dy : 0;
    return v > 0 || (kind == PASSES_ZERO && v == 0) ? dy : 0;
}

static enum mistake of_pass(const job *j, size_t first, size_t poison) {
    static const enum mistake kinds[] = {PASSES_ZERO, PASSES_PLUS_ZERO, PASSES_ALL, PASSES_Y};
    if (poison) return unwritten(j, first, poison);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        bool all = true;
        for (size_t i = 0; all && i < job_results(j); i++) all = j->host[i] == passed(j, i, kinds[k]);
        if (all) return kinds[k];
    }
    return half_is_finite(j->host[first]) ? NOT_PASSED : MASK_MULTIPLIED;
}

/* --- words ---------------------------------------------------------------------------------------- */

static const char *words_for(enum mistake kind) {
    switch (kind) {
    case NOTHING_WRITTEN: return "nothing was written";
    case LAST_ROWS: return "the last rows were not written";
    case LAST_COLUMNS: return "the last ones of it were not written";
    case UNWRITTEN: return "it was never written";
    case STALE: return "it is right for the data of the call before";
    case NO_RELU: return "it is the sum with its bias, without relu";
    case NO_BIAS: return "the bias is missing";
    case BIAS_LAST: return "the bias was added behind relu";
    case BIAS_BY_ROW: return "the bias is that of the row's number";
    case BIAS_OFTEN: return "the bias was added more than once";
    case TRANSPOSED: return "w was read as if it had n rows of k";
    case TILES_TURNED: return "it is as if w's tile were transposed";
    case NO_LAST_K: return "the last products of the sums are missing";
    case OTHER_PLACE: return "its right value stands at another place";
    case PASSES_ZERO:
    case PASSES_PLUS_ZERO: return "dy passes where y is 0";
    case PASSES_ALL: return "dy passes everywhere";
    case PASSES_Y: return "y passes in place of dy";
    case MASK_MULTIPLIED:
    case NOT_A_NUMBER: return "it is infinite, or no number";
    default: return NULL;
    }
}

static void say_element(job *j, size_t first, double want, size_t wrong) {
    char shape[64], place[64];
    job_say(j, shape, sizeof shape);
    if (job_is_dense(j))
        LAB_SAY(place, "y[%zu][%zu]", first / (size_t)j->shape.n, first % (size_t)j->shape.n);
    else
        LAB_SAY(place, "dz[%zu]", first);
    if (j->host[first] == HALF_POISON)
        LAB_SAY(j->failure, "%s: %s was never written, wants %.4g (%zu of %zu are wrong)", shape, place, want, wrong,
                job_results(j));
    else
        LAB_SAY(j->failure, "%s: %s is %.4g, wants %.4g (%zu of %zu are wrong)", shape, place,
                half_value(j->host[first]), want, wrong, job_results(j));
}

void job_explain(job *j, size_t first, size_t wrong, size_t poison) {
    int until = 0;
    char *end = j->failure;
    if (job_is_dense(j)) {
        const int r = (int)(first / (size_t)j->shape.n), c = (int)(first % (size_t)j->shape.n);
        say_element(j, first, right(j, r, c), wrong);
        j->mistake = of_dense(j, first, poison, &until);
    } else {
        const uint16_t dy = job_dy(j, first);
        say_element(j, first, half_value(job_y(j, first)) > 0 ? half_value(dy) : 0, wrong);
        j->mistake = of_pass(j, first, poison);
    }
    const char *words = words_for(j->mistake);
    while (*end) end++;
    const size_t left = sizeof j->failure - (size_t)(end - j->failure);
    if (j->mistake == NO_LAST_K)
        lab_text(end, left, "; only the first %d of %d products are in the sums", until < 0 ? 0 : until, j->shape.k);
    else if (words && j->mistake != UNWRITTEN)
        lab_text(end, left, "; %s", words);
}

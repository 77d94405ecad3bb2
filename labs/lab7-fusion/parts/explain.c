/* explain.c — what a wrong result shows: which elements are missing, or which formula with one mistake gives what is
 * there. A mistake with a name has a next step of its own (advice.c). */
#include "job.h"
#include "lab7.h"

#include <math.h>
#include <stdio.h>

static size_t count_of(const job *j) { return (size_t)j->shape.rows * (size_t)j->shape.cols; }
static int row_at(const job *j, size_t k) { return (int)(k / (size_t)j->shape.cols); }
static int col_at(const job *j, size_t k) { return (int)(k % (size_t)j->shape.cols); }

/* --- elements that were not written ----------------------------------------------------------------- */

static enum mistake unwritten(const job *j, size_t poison, char *shows, size_t size) {
    const int rows = j->shape.rows, cols = j->shape.cols;
    int end_row = 0, end_col = 0; /* behind the last that have an element */
    if (poison == count_of(j)) return NOTHING_WRITTEN;
    for (size_t k = 0; k < count_of(j); k++) {
        if (lab_is_poison(j->host[k])) continue;
        if (row_at(j, k) >= end_row) end_row = row_at(j, k) + 1;
        if (col_at(j, k) >= end_col) end_col = col_at(j, k) + 1;
    }
    if (poison != count_of(j) - (size_t)end_row * (size_t)end_col) return UNWRITTEN;
    if (end_col < cols) {
        lab_text(shows, size, "only the first %d of %d columns were written", end_col, cols);
        return LAST_COLUMNS;
    }
    lab_text(shows, size, "only the first %d of %d rows were written", end_row, rows);
    return LAST_ROWS;
}

/* --- formulas with one mistake ---------------------------------------------------------------------- */

/* What an element is made of, and where it is. */
struct parts {
    double x, mean, variance, gamma, beta, pivot; /* pivot: the first float of the row */
    int r, c;
};

/* Requires the row in j->line. */
static struct parts parts_of(const job *j, int r, int c) {
    return (struct parts){.x = (double)j->line[c],
                          .mean = j->row[r].mean,
                          .variance = j->row[r].variance,
                          .gamma = (double)j->gamma[c],
                          .beta = (double)j->beta[c],
                          .pivot = (double)j->line[0],
                          .r = r,
                          .c = c};
}

static double root(double variance) { return sqrt(variance + (double)EPSILON); }
static double norm_of(struct parts p) { return (p.x - p.mean) / root(p.variance); }
static double whole(struct parts p, double norm) { return fmax(0, norm * p.gamma + p.beta) + p.x; }

/* Each of these computes an element with one mistake. `n` is a number that the mistake is about. */
typedef double formula(const job *j, struct parts p, int n);

#define FORMULA(name, value)                                                                                           \
    static double name(const job *j, struct parts p, int n) { return (void)j, (void)n, (value); }
FORMULA(only_x, p.x)
FORMULA(no_relu, norm_of(p) * p.gamma + p.beta + p.x)
FORMULA(relu_last, fmax(0, norm_of(p) * p.gamma + p.beta + p.x))
FORMULA(no_add, fmax(0, norm_of(p) * p.gamma + p.beta))
FORMULA(adds_norm, fmax(0, norm_of(p) * p.gamma + p.beta) + norm_of(p))
FORMULA(no_gamma, fmax(0, norm_of(p) + p.beta) + p.x)
FORMULA(no_beta, fmax(0, norm_of(p) * p.gamma) + p.x)
FORMULA(swapped, fmax(0, norm_of(p) * p.beta + p.gamma) + p.x)
FORMULA(no_mean, whole(p, p.x / root(p.variance)))
FORMULA(unbiased, whole(p, (p.x - p.mean) / root(p.variance * j->shape.cols / (j->shape.cols - 1.0))))
FORMULA(no_epsilon, whole(p, (p.x - p.mean) / sqrt(p.variance)))
FORMULA(epsilon_outside, whole(p, (p.x - p.mean) / (sqrt(p.variance) + (double)EPSILON)))
FORMULA(no_root, whole(p, (p.x - p.mean) / (p.variance + (double)EPSILON)))
FORMULA(times_root, whole(p, (p.x - p.mean) * root(p.variance)))
FORMULA(raw_squares, whole(p, (p.x - p.mean) / root(p.variance + p.mean * p.mean)))
FORMULA(count_of_squares, whole(p, (p.x - p.mean) / root(p.variance * j->shape.cols / n)))
#undef FORMULA

static double by_row(const job *j, struct parts p, int n) {
    const int k = p.r < j->shape.cols ? p.r : p.c;
    return (void)n, fmax(0, norm_of(p) * (double)j->gamma[k] + (double)j->beta[k]) + p.x;
}

/* n rows further on; 0: row 0. */
static double other_row(const job *j, struct parts p, int n) {
    const int r = n == 0 ? 0 : p.r + n;
    if (r < 0 || r >= j->shape.rows) return (double)NAN;
    return whole(p, (p.x - j->row[r].mean) / root(j->row[r].variance));
}

/* Both sums divided by n: the mean is off by a factor, and the variance is about that mean. */
static double count_of_both(const job *j, struct parts p, int n) {
    const double factor = (double)j->shape.cols / n, off = p.mean * (1 - factor);
    return whole(p, (p.x - p.mean * factor) / root((p.variance + off * off) * factor));
}

/* The same in one pass, of differences to the pivot. */
static double count_of_differences(const job *j, struct parts p, int n) {
    const double factor = (double)j->shape.cols / n, d = p.mean - p.pivot;
    const double squares = (p.variance + d * d) * factor, shift = d * factor;
    return whole(p, (p.x - p.pivot - shift) / root(squares - shift * shift));
}

/* n places for the row's floats, and 0 in those that are too many. They add their difference to the mean ... */
static double padded(const job *j, struct parts p, int n) {
    return whole(p, (p.x - p.mean) / root(p.variance + p.mean * p.mean * (n - j->shape.cols) / j->shape.cols));
}

/* ... or to the pivot. */
static double padded_differences(const job *j, struct parts p, int n) {
    const double more = (double)(n - j->shape.cols) / j->shape.cols, d = p.mean - p.pivot;
    const double shift = d - p.pivot * more, squares = p.variance + d * d + p.pivot * p.pivot * more;
    return whole(p, (p.x - p.pivot - shift) / root(squares - shift * shift));
}

static const struct {
    enum mistake mistake;
    formula *of;
    int n;
    const char *shows;
} formulas[] = {
    {NOT_A_NUMBER, only_x, 0, "only x arrived: what is added to it is 0, as relu makes it of a NaN, too"},
    {NO_RELU, no_relu, 0, "this is the result without relu"},
    {RELU_LAST, relu_last, 0, "relu was applied to the sum with x, not before"},
    {NO_ADD, no_add, 0, "this is the result without the + x"},
    {ADDS_NORM, adds_norm, 0, "the normalised element was added in place of x"},
    {NO_GAMMA, no_gamma, 0, "this is the result without gamma"},
    {NO_BETA, no_beta, 0, "this is the result without beta"},
    {SWAPPED, swapped, 0, "gamma and beta changed places"},
    {BY_ROW, by_row, 0, "gamma and beta are those of the row's number, not of the column's"},
    {NO_MEAN, no_mean, 0, "the mean was not subtracted"},
    {RAW_SQUARES, raw_squares, 0, "the mean of the squares was taken for the variance"},
    {UNBIASED, unbiased, 0, "the variance was divided by cols - 1"},
    {NO_EPSILON, no_epsilon, 0, "EPSILON is missing: where a row's variance is 0 or tiny, it decides"},
    {EPSILON_OUTSIDE, epsilon_outside, 0, "EPSILON was added to the root, not to the variance"},
    {NO_ROOT, no_root, 0, "the root is missing: this is divided by the variance"},
    {TIMES_ROOT, times_root, 0, "this is multiplied by the root, not divided by it"},
    {OTHER_ROW, other_row, 0, "mean and variance are those of row 0"},
    {OTHER_ROW, other_row, 1, "mean and variance are those of the row behind"},
    {OTHER_ROW, other_row, -1, "mean and variance are those of the row before"},
};

/* --- which of them it is ------------------------------------------------------------------------------ */

/* A sample of the wrong elements is enough, and keeps a wrong program's run short. */
enum { SAMPLES = 200 };
struct sample {
    int n;
    struct parts at[SAMPLES];
    float got[SAMPLES];
};

static void take_sample(const job *j, size_t wrong, struct sample *s) {
    const size_t every = wrong / SAMPLES + 1;
    size_t seen = 0;
    s->n = 0;
    for (int r = 0; r < j->shape.rows && s->n < SAMPLES; r++) {
        const float *y = j->host + (size_t)r * (size_t)j->shape.cols;
        job_fill_row(j, j->seed, r, j->line);
        for (int c = 0; c < j->shape.cols && s->n < SAMPLES; c++) {
            const struct parts p = parts_of(j, r, c);
            if (job_near(j, r, (double)y[c], whole(p, norm_of(p))) || seen++ % every) continue;
            s->got[s->n] = y[c];
            s->at[s->n++] = p;
        }
    }
}

/* Returns whether nine of ten of the wrong elements are what this mistake gives. */
static bool explains(const job *j, const struct sample *s, formula *of, int n) {
    int explained = 0;
    for (int i = 0; i < s->n; i++) {
        const double got = (double)s->got[i], v = of(j, s->at[i], n);
        explained += fabs(got - v) <= 1e-4 * (1 + fabs(v)) || (!isfinite(v) && !isfinite(got));
    }
    return explained * 10 >= s->n * 9;
}

/* Are the first wrong elements right with the statistics of their rows' first n floats? */
static bool is_of_a_part(const job *j, const struct sample *s, int n) {
    enum { ENOUGH = 12 };
    int i = 0;
    for (; i < s->n && i < ENOUGH; i++) {
        struct parts p = s->at[i];
        job_fill_row(j, j->seed, p.r, j->line);
        const struct job_row part = job_statistics(j->line, n);
        p.mean = part.mean;
        p.variance = part.variance;
        if (!job_near(j, p.r, (double)s->got[i], whole(p, norm_of(p)))) return false;
    }
    return i > 0;
}

/* Sums over the first n floats only, or divided by n: by a tile, or by cols rounded to tiles. */
static enum mistake of_a_number(const job *j, const struct sample *s, char *shows, size_t size) {
    static const int tiles[] = {4, 32, 64, 128, 256, 512, 1024, 2048, 4096};
    const int cols = j->shape.cols;
    for (size_t i = 0; i < 3 * sizeof tiles / sizeof *tiles; i++) {
        const int tile = tiles[i / 3], down = cols / tile * tile;
        const int n = i % 3 == 0 ? down : i % 3 == 1 ? down + tile : tile;
        if (n == cols || n == 0) continue;
        if (n < cols && is_of_a_part(j, s, n)) {
            lab_text(shows, size, "mean and variance are those of the row's first %d floats", n);
            return OF_A_PART;
        }
        if (n > cols && (explains(j, s, padded, n) || explains(j, s, padded_differences, n))) {
            lab_text(shows, size, "%d places for %d floats: those that are too many entered the sums", n, cols);
            return PADDED;
        }
        if (explains(j, s, count_of_both, n) || explains(j, s, count_of_squares, n) ||
            explains(j, s, count_of_differences, n)) {
            lab_text(shows, size, "a sum over the row was divided by %d, and the row has %d floats", n, cols);
            return OTHER_COUNT;
        }
    }
    return WRONG;
}

/* Is the first wrong element right for the data of the call before, or for this data with its statistics? */
static bool is_stale(const job *j, const struct sample *s) {
    struct parts now = s->at[0], then = now;
    if (!j->before) return false;
    job_fill_row(j, j->before, now.r, j->line);
    const struct job_row old = job_statistics(j->line, j->shape.cols);
    then.x = (double)j->line[now.c];
    then.mean = now.mean = old.mean;
    then.variance = now.variance = old.variance;
    const double got = (double)s->got[0];
    return job_near(j, now.r, got, whole(then, norm_of(then))) || job_near(j, now.r, got, whole(now, norm_of(now)));
}

/* Where all elements of the first wrong row are normalised by one mean and one deviation, it says which; else its
 * threads do not agree. An element that relu let through shows its normalised value, a line over x: fitted by least
 * squares. */
static enum mistake by_its_line(const job *j, const struct sample *s, char *shows, size_t size) {
    const int r = s->at[0].r, cols = j->shape.cols;
    const float *y = j->host + (size_t)r * (size_t)cols;
    double n = 0, sx = 0, sz = 0, sxx = 0, sxz = 0, szz = 0;
    job_fill_row(j, j->seed, r, j->line);
    for (int c = 0; c < cols; c++) {
        const double x = (double)j->line[c], h = (double)y[c] - x;
        if (!isfinite(h)) return WRONG;
        if (h < 1e-3) continue; /* relu made it 0 */
        const double z = (h - (double)j->beta[c]) / (double)j->gamma[c];
        n++, sx += x, sz += z, sxx += x * x, sxz += x * z, szz += z * z;
    }
    const double slope = (n * sxz - sx * sz) / (n * sxx - sx * sx), start = (sz - slope * sx) / n;
    const double rest = szz - slope * sxz - start * sz;
    if (n < 3 || !(slope > 0)) return WRONG;
    if (rest > 1e-5 * szz) {
        lab_text(shows, size, "the threads of row %d do not agree about its mean and deviation", r);
        return THREADS_DIFFER;
    }
    lab_text(shows, size, "row %d was taken for one of mean %.4g and deviation %.4g; it has %.4g and %.4g", r,
             -start / slope, 1 / slope, j->row[r].mean, root(j->row[r].variance));
    return OTHER_STATISTICS;
}

static enum mistake miscalculated(const job *j, size_t wrong, char *shows, size_t size) {
    struct sample s;
    take_sample(j, wrong, &s);
    if (is_stale(j, &s)) {
        lab_text(shows, size, "it has the data, or the sums, of the call before");
        return STALE;
    }
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++)
        if (explains(j, &s, formulas[i].of, formulas[i].n)) {
            lab_text(shows, size, "%s", formulas[i].shows);
            return formulas[i].mistake;
        }
    const enum mistake m = of_a_number(j, &s, shows, size);
    if (m != WRONG) return m;
    return isnan(s.got[0]) ? NOT_A_NUMBER : by_its_line(j, &s, shows, size);
}

void job_explain(job *j, size_t first, size_t wrong, size_t poison) {
    const float got = j->host[first];
    char is[64] = "was never written", shows[160] = "";
    if (poison) j->mistake = unwritten(j, poison, shows, sizeof shows);
    if (!poison || (j->mistake == UNWRITTEN && !lab_is_poison(got)))
        j->mistake = miscalculated(j, wrong, shows, sizeof shows);
    if (!lab_is_poison(got)) LAB_SAY(is, "is %.6g", (double)got);
    const int r = j->first_row = row_at(j, first), c = col_at(j, first);
    job_fill_row(j, j->seed, r, j->line);
    const struct parts p = parts_of(j, r, c);
    LAB_SAY(j->failure, "%dx%d: y[%d][%d] %s, wants %.6g (%zu of %zu are wrong)%s%s", j->shape.rows, j->shape.cols, r,
            c, is, whole(p, norm_of(p)), wrong, count_of(j), shows[0] ? "\n" : "", shows);
}

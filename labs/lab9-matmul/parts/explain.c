/* explain.c — what a wrong result shows: which elements are missing, or which sum with one mistake gives what is there.
 * A mistake with a name has a next step of its own (advice.c). */
#include "job.h"

#include <math.h>
#include <stdio.h>

static size_t count_c(const job *j) { return (size_t)j->shape.m * (size_t)j->shape.n; }
static float got_at(const job *j, int i, int col) { return j->c[(size_t)i * (size_t)j->shape.n + (size_t)col]; }

/* --- elements that were not written ----------------------------------------------------------------- */

static enum mistake unwritten(const job *j, char *shows, size_t size) {
    const int m = j->shape.m, n = j->shape.n;
    int end_row = 0, end_col = 0; /* behind the last that have an element */
    size_t poison = 0;
    for (int i = 0; i < m; i++)
        for (int c = 0; c < n; c++) {
            if (lab_is_poison(got_at(j, i, c))) {
                poison++;
                continue;
            }
            end_row = i + 1;
            if (c >= end_col) end_col = c + 1;
        }
    if (poison == count_c(j)) return NOTHING_WRITTEN;
    if (poison != count_c(j) - (size_t)end_row * (size_t)end_col) return UNWRITTEN;
    if (end_col < n) {
        lab_text(shows, size, "only the first %d of %d columns were written", end_col, n);
        return LAST_COLUMNS;
    }
    lab_text(shows, size, "only the first %d of %d rows were written", end_row, m);
    return LAST_ROWS;
}

/* --- sums with one mistake -------------------------------------------------------------------------- */

/* A sum of products of elements of the two factors, by their places in memory: of A at i * ai + x * ax, of B at x * bx
 * + col * bc, for x from `from` to `to`. NAN where one lies beyond its matrix. */
struct walk {
    int ai, ax, bx, bc, from, to;
};

static struct walk right_walk(const job *j) { return (struct walk){j->shape.k, 1, j->shape.n, 1, 0, j->shape.k}; }

static double sum_of(const float *a, size_t na, const float *b, size_t nb, struct walk w, int i, int col) {
    double sum = 0;
    for (int x = w.from; x < w.to; x++) {
        const size_t at = (size_t)i * (size_t)w.ai + (size_t)x * (size_t)w.ax;
        const size_t bt = (size_t)x * (size_t)w.bx + (size_t)col * (size_t)w.bc;
        if (at >= na || bt >= nb) return (double)NAN;
        sum += (double)a[at] * (double)b[bt];
    }
    return sum;
}

static double walked(const job *j, struct walk w, int i, int col) {
    const size_t na = (size_t)j->shape.m * (size_t)j->shape.k, nb = (size_t)j->shape.k * (size_t)j->shape.n;
    return sum_of(j->a, na, j->b, nb, w, i, col);
}
static double swapped(const job *j, int i, int col) {
    const size_t na = (size_t)j->shape.m * (size_t)j->shape.k, nb = (size_t)j->shape.k * (size_t)j->shape.n;
    return sum_of(j->b, nb, j->a, na, right_walk(j), i, col);
}

/* A sample of the wrong elements is enough, and keeps a wrong program's run short. */
enum { SAMPLES = 60 };
struct sample {
    int n;
    struct {
        int i, col;
        double got;
    } at[SAMPLES];
};

static void take_sample(job *j, size_t wrong, struct sample *s) {
    const size_t every = wrong / SAMPLES + 1;
    size_t seen = 0;
    s->n = 0;
    for (int i = j->row; i < j->shape.m && s->n < SAMPLES; i++) {
        job_right_row(j, i);
        for (int c = 0; c < j->shape.n && s->n < SAMPLES; c++) {
            const float got = got_at(j, i, c);
            if (job_near(j, c, (double)got, JOB_RELATIVE) || lab_is_poison(got) || seen++ % every) continue;
            s->at[s->n].i = i;
            s->at[s->n].col = c;
            s->at[s->n++].got = (double)got;
        }
    }
}

static bool alike(double got, double v) { return fabs(got - v) <= 1e-4 * (1 + fabs(v)); }

/* Returns whether nine of ten of the wrong elements are the sum of this walk, times `factor`. */
static bool explains(const job *j, const struct sample *s, struct walk w, double factor) {
    int explained = 0;
    for (int k = 0; k < s->n; k++) explained += alike(s->at[k].got, factor * walked(j, w, s->at[k].i, s->at[k].col));
    return s->n && explained * 10 >= s->n * 9;
}

static bool are_swapped(const job *j, const struct sample *s) {
    int explained = 0;
    for (int k = 0; k < s->n; k++) explained += alike(s->at[k].got, swapped(j, s->at[k].i, s->at[k].col));
    return s->n && explained * 10 >= s->n * 9;
}

static bool is_transposed(const job *j, const struct sample *s) {
    int explained = 0;
    for (int k = 0; k < s->n; k++) {
        const int i = s->at[k].col, col = s->at[k].i;
        if (i < j->shape.m && col < j->shape.n) explained += alike(s->at[k].got, walked(j, right_walk(j), i, col));
    }
    return s->n && explained * 10 >= s->n * 9;
}

/* Are the factors read by the wrong strides? */
static enum mistake by_strides(const job *j, const struct sample *s, char *shows, size_t size) {
    struct walk w = right_walk(j);
    if (is_transposed(j, s)) {
        lab_text(shows, size, "these are the elements of C's transpose");
        return TRANSPOSED;
    }
    w.ai = 1, w.ax = j->shape.m;
    if (explains(j, s, w, 1)) {
        lab_text(shows, size, "A was read as if it were stored column after column");
        return A_TRANSPOSED;
    }
    w = right_walk(j);
    w.bx = 1, w.bc = j->shape.k;
    if (explains(j, s, w, 1)) {
        lab_text(shows, size, "B was read as if it were stored column after column");
        return B_TRANSPOSED;
    }
    if (!are_swapped(j, s)) return WRONG;
    lab_text(shows, size, "these are the elements of B A");
    return FACTORS_SWAPPED;
}

/* Are there too few products, or too many? */
static enum mistake by_products(const job *j, const struct sample *s, char *shows, size_t size) {
    static const int tiles[] = {1, 2, 4, 8, 16, 32, 64, 128};
    const int k = j->shape.k;
    struct walk w = right_walk(j);
    if (explains(j, s, w, 2)) {
        lab_text(shows, size, "every product was added twice");
        return TWICE;
    }
    for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++) {
        const int tile = tiles[t], whole = tile == 1 ? k - 1 : k / tile * tile, last = (k - 1) / tile * tile;
        w = right_walk(j);
        if (w.to = whole, whole < k && explains(j, s, w, 1)) {
            lab_text(shows, size, "products are missing: the last %d of %d", k - whole, k);
            return PRODUCTS_MISSING;
        }
        if (w.to = last, explains(j, s, w, 1)) {
            if (!last) lab_text(shows, size, "the sum is 0: no product was added");
            if (!last) return PRODUCTS_MISSING;
            lab_text(shows, size, "products are missing: the last %d of %d", k - last, k);
            return PRODUCTS_MISSING;
        }
        if (w.from = last, w.to = k, last > 0 && explains(j, s, w, 1)) {
            lab_text(shows, size, "only the last %d of the %d products are in the sum", k - last, k);
            return PRODUCTS_MISSING;
        }
        if (w.from = tile, tile < k && explains(j, s, w, 1)) {
            lab_text(shows, size, "products are missing: the first %d of %d", tile, k);
            return FIRST_MISSING;
        }
        if (w.from = 0, w.to = tile, tile < k && explains(j, s, w, 1)) {
            lab_text(shows, size, "only the first %d of the %d products are in the sum", tile, k);
            return PRODUCTS_MISSING;
        }
        if (w.to = last + tile, w.to > k && explains(j, s, w, 1)) {
            lab_text(shows, size, "%d products were added, and there are %d", w.to, k);
            return PRODUCTS_BEYOND;
        }
    }
    return WRONG;
}

/* Is the first wrong element the right one for the data of the call before? */
static bool is_stale(job *j, const struct sample *s) {
    if (!j->before || !s->n) return false;
    job_fill(j, j->before);
    const double then = walked(j, right_walk(j), s->at[0].i, s->at[0].col);
    job_fill(j, j->seed);
    return alike(s->at[0].got, then);
}

/* Looks for the places whose values the first wrong elements have. One could be there by chance; three are not. */
static enum mistake elsewhere(job *j, const struct sample *s, char *shows, size_t size) {
    enum { MOST = 1 << 24, LOOKED_FOR = 4, ENOUGH = 3 }; /* MOST: multiply-adds, to look at all */
    const int n = s->n < LOOKED_FOR ? s->n : LOOKED_FOR;
    bool found[LOOKED_FOR] = {false};
    int places = 0, row = 0, col = 0;
    if ((double)count_c(j) * j->shape.k > MOST || j->shape.k < 3) return WRONG; /* few products: chance would do it */
    for (int r = 0; r < j->shape.m; r++) {
        job_right_row(j, r);
        for (int c = 0; c < j->shape.n; c++)
            for (int k = 0; k < n; k++) {
                if (found[k] || !job_near(j, c, s->at[k].got, JOB_RELATIVE)) continue;
                if (k == 0) row = r, col = c;
                found[k] = true;
                places++;
            }
    }
    if (places < ENOUGH || !found[0]) return WRONG;
    lab_text(shows, size, "c[%d][%d] has the value of c[%d][%d]", s->at[0].i, s->at[0].col, row, col);
    return ELSEWHERE;
}

static bool is_rounded(job *j, const struct sample *s) {
    int near = 0;
    for (int k = 0; k < s->n; k++) {
        job_right_row(j, s->at[k].i);
        near += job_near(j, s->at[k].col, s->at[k].got, 5e-3);
    }
    return s->n && near == s->n;
}

static enum mistake miscalculated(job *j, size_t wrong, char *shows, size_t size) {
    struct sample s;
    take_sample(j, wrong, &s);
    if (!s.n) return UNWRITTEN;
    if (is_stale(j, &s)) {
        lab_text(shows, size, "it has the data of the call before");
        return STALE;
    }
    enum mistake m = by_strides(j, &s, shows, size);
    if (m == WRONG) m = by_products(j, &s, shows, size);
    if (m != WRONG) return m;
    if (isnan(s.at[0].got)) return NOT_A_NUMBER;
    if (is_rounded(j, &s)) {
        lab_text(shows, size, "all are near, as if the numbers had been rounded to fewer bits than fp32 has");
        return ROUNDED;
    }
    return elsewhere(j, &s, shows, size);
}

void job_explain(job *j, size_t wrong, size_t poison) {
    const float got = got_at(j, j->row, j->col);
    char is[64] = "was never written", shows[160] = "";
    if (poison) j->mistake = unwritten(j, shows, sizeof shows);
    if (!poison || (j->mistake == UNWRITTEN && !lab_is_poison(got)))
        j->mistake = miscalculated(j, wrong, shows, sizeof shows);
    if (!lab_is_poison(got)) LAB_SAY(is, "is %.6g", (double)got);
    job_right_row(j, j->row);
    LAB_SAY(j->failure, "%dx%dx%d: c[%d][%d] %s, wants %.6g (%zu of %zu are wrong)%s%s", j->shape.m, j->shape.n,
            j->shape.k, j->row, j->col, is, j->want[j->col], wrong, count_c(j), shows[0] ? "\n" : "", shows);
}

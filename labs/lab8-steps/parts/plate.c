/* plate.c — a plate on the host; see plate.h. */
#include "plate.h"
#include "lab.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t count_of(const plate *p) { return (size_t)p->rows * (size_t)p->cols; }

/* 24 bits of a hash (splitmix64) of seed and place. */
static float first_value(uint64_t seed, size_t i) {
    uint64_t x = seed * 0x9E3779B97F4A7C15u + i * 0xD1342543DE82EF95u + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (float)((x ^ (x >> 31)) >> 40) * 0x1p-24f;
}

/* Both its plates are 0. */
static plate allocate(int rows, int cols) {
    plate p = {.rows = rows, .cols = cols};
    p.cells = calloc(count_of(&p), sizeof *p.cells);
    p.other = calloc(count_of(&p), sizeof *p.other);
    if (!p.cells || !p.other) lab_die("out of memory for a plate of %dx%d", rows, cols);
    return p;
}

plate plate_cold(int rows, int cols, bool far) {
    plate p = allocate(rows, cols);
    const int r = far ? rows - rows / 4 : rows / 4, c = far ? cols - cols / 4 : cols / 4;
    p.cells[(size_t)r * (size_t)cols + (size_t)c] = 1;
    p.cold = true;
    return p;
}

plate plate_new(int rows, int cols, uint64_t seed) {
    plate p = allocate(rows, cols);
    for (size_t i = 0; i < count_of(&p); i++) p.cells[i] = first_value(seed, i);
    memcpy(p.other, p.cells, count_of(&p) * sizeof *p.cells); /* the edge of both, for good */
    return p;
}

void plate_free(plate *p) {
    free(p->cells);
    free(p->other);
    *p = (plate){.rows = 0};
}

float plate_step(plate *p) {
    const size_t cols = (size_t)p->cols;
    float largest = 0;
    for (size_t r = 1; r + 1 < (size_t)p->rows; r++) {
        const float *old = p->cells + r * cols, *up = old - cols, *down = old + cols;
        float *now = p->other + r * cols;
        for (size_t c = 1; c + 1 < cols; c++) {
            now[c] = 0.25f * ((up[c] + down[c]) + (old[c - 1] + old[c + 1]));
            const float change = fabsf(now[c] - old[c]);
            largest = change > largest ? change : largest;
        }
    }
    float *cells = p->cells;
    p->cells = p->other, p->other = cells;
    p->steps++;
    return largest;
}

/* --- differences --------------------------------------------------------------------------------- */

static bool differs(const plate *p, float want, float got) {
    const float cold = (float)(p->steps * PLATE_ROUNDINGS) * 0x1p-24f * want + FLT_MIN;
    return !(fabsf(got - want) <= (p->cold ? cold : PLATE_TOLERANCE));
}

bool plate_equals(const plate *want, const float *got) {
    for (size_t i = 0; i < count_of(want); i++)
        if (differs(want, want->cells[i], got[i])) return false;
    return true;
}

/* Says which lines of the plate (rows or columns, n in all) have all the wrong cells, if they are the last ones, or at
 * most half of all. Returns whether it did. */
static bool say_lines(char *to, size_t size, const char *what, const bool *wrong, int n) {
    enum { SHOWN = 6 };
    int count = 0, first = -1;
    for (int i = 0; i < n; i++) {
        if (wrong[i] && first < 0) first = i;
        count += wrong[i];
    }
    if (count == 1) return lab_text(to, size, "all in %s %d", what, first), true;
    if (first > n / 8 && count >= n - first - 1)
        return lab_text(to, size, "all in the %ss from %d on; the last is %d", what, first, n - 1), true;
    if (count * 2 > n) return false;
    lab_text(to, size, "all in %ss", what);
    for (int i = 0, said = 0; i < n && said <= SHOWN; i++) {
        const size_t used = strlen(to);
        if (!wrong[i]) continue;
        if (said < SHOWN) lab_text(to + used, size - used, "%s %d", said ? "," : "", i);
        if (said++ == SHOWN) lab_text(to + used, size - used, " ...");
    }
    return true;
}

bool plate_compare(const plate *want, const float *got, difference *d) {
    const int rows = want->rows, cols = want->cols;
    bool *in_row = calloc((size_t)rows, sizeof *in_row), *in_col = calloc((size_t)cols, sizeof *in_col);
    if (!in_row || !in_col) lab_die("out of memory");
    *d = (difference){.wrong = 0};
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++) {
            const size_t i = (size_t)r * (size_t)cols + (size_t)c;
            if (!differs(want, want->cells[i], got[i])) continue;
            if (!d->wrong) d->row = r, d->col = c;
            d->wrong++;
            d->edge += r == 0 || c == 0 || r == rows - 1 || c == cols - 1;
            in_row[r] = in_col[c] = true;
        }
    if (d->wrong > 1 && !say_lines(d->where, sizeof d->where, "column", in_col, cols))
        say_lines(d->where, sizeof d->where, "row", in_row, rows);
    free(in_row), free(in_col);
    return d->wrong == 0;
}

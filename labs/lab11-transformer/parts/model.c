/* model.c — the transformer in double precision; see model.h. Plain loops in the order of lab11.h, forward and back. */
#include "model.h"
#include "lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct model {
    const struct lab11_job *job;
    int v, n, d, heads, size, steps; /* steps taken */
    double *weights, *gradient, *velocity;
    double *x0, *h1, *qkv, *p, *o, *x1, *h2, *u, *g, *x2, *h3, *z; /* as in lab11.h; p: shares; g: gelu(u); z: logits */
    double *dx, *dh, *dqkv, *dwide;
    int without;  /* enum model_part; MODEL_PARTS: nothing is left out */
    double *room; /* all the arrays */
};

static double *weight(const model *m, int t) { return m->weights + lab11_offset(m->job, t); }
static double *gradient(const model *m, int t) { return m->gradient + lab11_offset(m->job, t); }

static void *need(void *memory) {
    if (!memory) lab_die("out of memory for a model");
    return memory;
}

model *model_new(const struct lab11_job *job, const float *weights) {
    model *m = need(calloc(1, sizeof *m));
    const size_t n = (size_t)job->context, d = (size_t)job->width, v = (size_t)job->symbols, nd = n * d;
    const size_t all = lab11_offset(job, LAB11_TENSORS);
    m->job = job;
    m->without = MODEL_PARTS;
    m->v = job->symbols, m->n = job->context, m->d = job->width, m->heads = job->heads, m->size = m->d / m->heads;
    const size_t sizes[] = {all,   all, all, nd,     nd,     3 * nd, (size_t)m->heads * n * n,
                            nd,    nd,  nd,  4 * nd, 4 * nd, nd,     nd,
                            n * v, nd,  nd,  3 * nd, 4 * nd};
    double **const arrays[] = {&m->weights, &m->gradient, &m->velocity, &m->x0,   &m->h1,   &m->qkv, &m->p,
                               &m->o,       &m->x1,       &m->h2,       &m->u,    &m->g,    &m->x2,  &m->h3,
                               &m->z,       &m->dx,       &m->dh,       &m->dqkv, &m->dwide};
    size_t sum = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) sum += sizes[i];
    m->room = need(calloc(sum, sizeof *m->room));
    sum = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) *arrays[i] = m->room + sum, sum += sizes[i];
    for (size_t i = 0; i < all; i++) m->weights[i] = (double)weights[i];
    return m;
}

void model_free(model *m) {
    free(m->room);
    free(m);
}

void model_without(model *m, enum model_part part) { m->without = part; }

const char *model_part_name(enum model_part part) {
    static const char *const names[MODEL_PARTS] = {
        [MODEL_NO_MASK] = "when a row of the attention sees the rows behind it, too",
        [MODEL_MASKS_SELF] = "when a row of the attention does not see itself",
        [MODEL_NO_SCALE] = "without the factor 1 / sqrt(S) of the scores",
        [MODEL_SCALE_OF_ALL] = "with scores divided by sqrt(D) in place of sqrt(S)",
        [MODEL_NO_POSITION] = "without the positions",
        [MODEL_NO_GAIN] = "without the gains",
        [MODEL_NO_GELU] = "without gelu",
        [MODEL_NO_RESIDUAL1] = "when x1 is only o * mix, without x0",
        [MODEL_NO_RESIDUAL2] = "when x2 is only gelu(h2 * up) * down, without x1",
        [MODEL_LAST_NORMAL] = "when x2 goes to `out` without its normalisation",
        [MODEL_SAME_CHARACTER] = "when each row is to guess its own character",
    };
    return names[part];
}

const double *model_weights(const model *m) { return m->weights; }
const double *model_gradient(const model *m) { return m->gradient; }

/* --- products ------------------------------------------------------------------------------------ */

/* c[rows][cols] = a[rows][inner] b[inner][cols] */
static void multiply(const double *a, const double *b, double *c, int rows, int inner, int cols) {
    memset(c, 0, (size_t)rows * (size_t)cols * sizeof *c);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < inner; k++)
            for (int j = 0; j < cols; j++) c[i * cols + j] += a[i * inner + k] * b[k * cols + j];
}

/* c[rows][cols] = a[rows][inner] b[cols][inner]: the gradient of a product's left side */
static void multiply_by_turned(const double *a, const double *b, double *c, int rows, int inner, int cols) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            double sum = 0;
            for (int k = 0; k < inner; k++) sum += a[i * inner + k] * b[j * inner + k];
            c[i * cols + j] = sum;
        }
}

/* c[rows][cols] = a[inner][rows] b[inner][cols]: that of its right side */
static void multiply_turned(const double *a, const double *b, double *c, int rows, int inner, int cols) {
    memset(c, 0, (size_t)rows * (size_t)cols * sizeof *c);
    for (int k = 0; k < inner; k++)
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) c[i * cols + j] += a[k * rows + i] * b[k * cols + j];
}

/* --- rows ---------------------------------------------------------------------------------------- */

/* Mean of a row, and 1 / deviation. */
static double stats_of(const double *x, int d, double *mean) {
    double sum = 0, squares = 0;
    for (int c = 0; c < d; c++) sum += x[c];
    *mean = sum / d;
    for (int c = 0; c < d; c++) squares += (x[c] - *mean) * (x[c] - *mean);
    return 1 / sqrt(squares / d + 1e-5);
}

static void normalise(const double *x, const double *gain, double *h, int n, int d) {
    for (int i = 0; i < n; i++) {
        double mean, scale = stats_of(x + i * d, d, &mean);
        for (int c = 0; c < d; c++) h[i * d + c] = (x[i * d + c] - mean) * scale * (gain ? gain[c] : 1);
    }
}

/* Adds to dx the gradient that comes back through normalise(x). */
static void normalise_back(const double *x, const double *gain, const double *dh, double *dgain, double *dx, int n,
                           int d) {
    memset(dgain, 0, (size_t)d * sizeof *dgain);
    for (int i = 0; i < n; i++) {
        double mean, scale = stats_of(x + i * d, d, &mean), sum = 0, along = 0;
        for (int c = 0; c < d; c++) {
            const double hat = (x[i * d + c] - mean) * scale, g = dh[i * d + c] * gain[c];
            dgain[c] += dh[i * d + c] * hat;
            sum += g / d, along += g * hat / d;
        }
        for (int c = 0; c < d; c++)
            dx[i * d + c] += scale * (dh[i * d + c] * gain[c] - sum - (x[i * d + c] - mean) * scale * along);
    }
}

static double tanh_of(double u) { return tanh(0.7978845608 * (u + 0.044715 * u * u * u)); }
static double gelu(double u) { return u / 2 * (1 + tanh_of(u)); }
static double slope_of_gelu(double u) {
    const double t = tanh_of(u);
    return (1 + t) / 2 + u / 2 * (1 - t * t) * 0.7978845608 * (1 + 3 * 0.044715 * u * u);
}

/* --- attention ----------------------------------------------------------------------------------- */

static void attend(const model *m, int head) {
    const int n = m->n, wide = 3 * m->d, s = m->size;
    const double scale = m->without == MODEL_NO_SCALE ? 1 : 1 / sqrt(m->without == MODEL_SCALE_OF_ALL ? m->d : s);
    for (int i = 0; i < n; i++) {
        const double *q = m->qkv + i * wide + head * s;
        double *p = m->p + ((size_t)head * (size_t)n + (size_t)i) * (size_t)n, *o = m->o + i * m->d + head * s;
        const int last = m->without == MODEL_NO_MASK ? n - 1 : m->without == MODEL_MASKS_SELF ? i - 1 : i;
        double most = -INFINITY, sum = 0;
        for (int j = 0; j <= last; j++) {
            const double *k = m->qkv + j * wide + m->d + head * s;
            p[j] = 0;
            for (int c = 0; c < s; c++) p[j] += q[c] * k[c] * scale;
            if (p[j] > most) most = p[j];
        }
        for (int j = 0; j <= last; j++) sum += p[j] = exp(p[j] - most);
        for (int c = 0; c < s; c++) o[c] = 0;
        for (int j = 0; j <= last; j++) {
            p[j] /= sum;
            for (int c = 0; c < s; c++) o[c] += p[j] * m->qkv[j * wide + 2 * m->d + head * s + c];
        }
    }
}

/* From m->dh, the gradient of o, to m->dqkv, which is 0 before the first head. */
static void attend_back(const model *m, int head) {
    const int n = m->n, d = m->d, wide = 3 * d, s = m->size;
    for (int i = 0; i < n; i++) {
        const double *p = m->p + ((size_t)head * (size_t)n + (size_t)i) * (size_t)n, *back = m->dh + i * d + head * s;
        const double *q = m->qkv + i * wide + head * s;
        double *dq = m->dqkv + i * wide + head * s, inner = 0;
        for (int c = 0; c < s; c++) inner += back[c] * m->o[i * d + head * s + c];
        for (int j = 0; j <= i; j++) {
            const double *k = m->qkv + j * wide + d + head * s, *v = k + d;
            double *dk = m->dqkv + j * wide + d + head * s, *dv = dk + d, dp = 0;
            for (int c = 0; c < s; c++) dp += back[c] * v[c];
            const double ds = p[j] * (dp - inner) / sqrt(s);
            for (int c = 0; c < s; c++) {
                dq[c] += ds * k[c];
                dk[c] += ds * q[c];
                dv[c] += p[j] * back[c];
            }
        }
    }
}

/* --- a step -------------------------------------------------------------------------------------- */

static void add(double *to, const double *from, int count) {
    for (int i = 0; i < count; i++) to[i] += from[i];
}

/* Returns the loss; m->z becomes its own gradient. */
static double find_loss(const model *m, const unsigned char *next) {
    double loss = 0;
    for (int i = 0; i < m->n; i++) {
        double *z = m->z + i * m->v, most = z[0], sum;
        for (int c = 1; c < m->v; c++) most = z[c] > most ? z[c] : most;
        sum = exp(z[0] - most);
        for (int c = 1; c < m->v; c++) sum += exp(z[c] - most);
        loss += (log(sum) + most - z[next[i]]) / m->n;
        for (int c = 0; c < m->v; c++) z[c] = (exp(z[c] - most) / sum - (c == next[i])) / m->n;
    }
    return loss;
}

/* The gain of a normalisation; NULL: left out. */
static const double *gain(const model *m, int t) { return m->without == MODEL_NO_GAIN ? NULL : weight(m, t); }

static double forward(const model *m, const unsigned char *text) {
    const int n = m->n, d = m->d;
    const double placed = m->without != MODEL_NO_POSITION;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < d; c++)
            m->x0[i * d + c] =
                weight(m, LAB11_EMBEDDING)[text[i] * d + c] + placed * weight(m, LAB11_POSITION)[i * d + c];
    normalise(m->x0, gain(m, LAB11_GAIN1), m->h1, n, d);
    multiply(m->h1, weight(m, LAB11_QKV), m->qkv, n, d, 3 * d);
    for (int head = 0; head < m->heads; head++) attend(m, head);
    multiply(m->o, weight(m, LAB11_MIX), m->x1, n, d, d);
    if (m->without != MODEL_NO_RESIDUAL1) add(m->x1, m->x0, n * d);
    normalise(m->x1, gain(m, LAB11_GAIN2), m->h2, n, d);
    multiply(m->h2, weight(m, LAB11_UP), m->u, n, d, 4 * d);
    for (int i = 0; i < n * 4 * d; i++) m->g[i] = m->without == MODEL_NO_GELU ? m->u[i] : gelu(m->u[i]);
    multiply(m->g, weight(m, LAB11_DOWN), m->x2, n, 4 * d, d);
    if (m->without != MODEL_NO_RESIDUAL2) add(m->x2, m->x1, n * d);
    normalise(m->x2, gain(m, LAB11_GAIN3), m->h3, n, d);
    if (m->without == MODEL_LAST_NORMAL) memcpy(m->h3, m->x2, (size_t)(n * d) * sizeof *m->h3);
    multiply(m->h3, weight(m, LAB11_OUT), m->z, n, d, m->v);
    return find_loss(m, m->without == MODEL_SAME_CHARACTER ? text : text + 1);
}

static void backward(const model *m, const unsigned char *text) {
    const int n = m->n, d = m->d, v = m->v;
    memset(m->dx, 0, (size_t)n * (size_t)d * sizeof *m->dx);
    multiply_turned(m->h3, m->z, gradient(m, LAB11_OUT), d, n, v);
    multiply_by_turned(m->z, weight(m, LAB11_OUT), m->dh, n, v, d);
    normalise_back(m->x2, weight(m, LAB11_GAIN3), m->dh, gradient(m, LAB11_GAIN3), m->dx, n, d);

    multiply_turned(m->g, m->dx, gradient(m, LAB11_DOWN), 4 * d, n, d);
    multiply_by_turned(m->dx, weight(m, LAB11_DOWN), m->dwide, n, d, 4 * d);
    for (int i = 0; i < n * 4 * d; i++) m->dwide[i] *= slope_of_gelu(m->u[i]);
    multiply_turned(m->h2, m->dwide, gradient(m, LAB11_UP), d, n, 4 * d);
    multiply_by_turned(m->dwide, weight(m, LAB11_UP), m->dh, n, 4 * d, d);
    normalise_back(m->x1, weight(m, LAB11_GAIN2), m->dh, gradient(m, LAB11_GAIN2), m->dx, n, d);

    multiply_turned(m->o, m->dx, gradient(m, LAB11_MIX), d, n, d);
    multiply_by_turned(m->dx, weight(m, LAB11_MIX), m->dh, n, d, d);
    memset(m->dqkv, 0, (size_t)n * (size_t)(3 * d) * sizeof *m->dqkv);
    for (int head = 0; head < m->heads; head++) attend_back(m, head);
    multiply_turned(m->h1, m->dqkv, gradient(m, LAB11_QKV), d, n, 3 * d);
    multiply_by_turned(m->dqkv, weight(m, LAB11_QKV), m->dh, n, 3 * d, d);
    normalise_back(m->x0, weight(m, LAB11_GAIN1), m->dh, gradient(m, LAB11_GAIN1), m->dx, n, d);

    memset(gradient(m, LAB11_EMBEDDING), 0, (size_t)v * (size_t)d * sizeof(double));
    for (int i = 0; i < n; i++) add(gradient(m, LAB11_EMBEDDING) + text[i] * d, m->dx + i * d, d);
    memcpy(gradient(m, LAB11_POSITION), m->dx, (size_t)n * (size_t)d * sizeof(double));
}

double model_step(model *m) {
    const unsigned char *text = m->job->text + lab11_start(m->job, m->steps++);
    const double loss = forward(m, text);
    backward(m, text);
    for (size_t i = 0; i < lab11_offset(m->job, LAB11_TENSORS); i++) {
        m->velocity[i] = 0.9 * m->velocity[i] + m->gradient[i];
        m->weights[i] -= (double)m->job->rate * m->velocity[i];
    }
    return loss;
}

/* net.c — see net.h. */
#include "net.h"
#include "lab10.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t weights_of(const net *n) { return (size_t)n->k * (size_t)n->n; }
static size_t units_of(const net *n) { return (size_t)n->m * (size_t)n->n; }

/* --- data ----------------------------------------------------------------------------------------- */

static double unit(uint32_t stream, uint32_t place) {
    uint32_t x = place * 0x9E3779B1u + stream;
    x = (x ^ x >> 16) * 0x7FEB352Du;
    x = (x ^ x >> 15) * 0x846CA68Bu;
    return (x ^ x >> 16) * 0x1p-31 - 1;
}

/* An order of 0 .. count-1 that the seed draws. */
static int *order(uint64_t seed, int count) {
    int *o = malloc((size_t)count * sizeof *o);
    if (!o) lab_die("out of memory");
    for (int i = 0; i < count; i++) o[i] = i;
    for (int i = count - 1; i > 0; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int j = (int)((seed >> 33) % (uint64_t)(i + 1)), kept = o[i];
        o[i] = o[j], o[j] = kept;
    }
    return o;
}

/* The numbers of a network, in the order before the seed's. */
struct numbers {
    uint32_t stream;
    double weight, bias, out, teacher, noise; /* how large each is */
};
static const struct numbers small = {31337, 0.5, 0.5, 0.5, 0, 0}, large = {7920, 0.5, 0.5, 0x1p-11, 0.3, 0.02};

static double x_of(const struct numbers *s, int place) {
    return half_value(half_of(unit(s->stream + 1, (uint32_t)place)));
}
static double w_of(const struct numbers *s, int place) {
    return half_value(half_of(unit(s->stream + 2, (uint32_t)place) * s->weight));
}
static double b_of(const struct numbers *s, int j) {
    return half_value(half_of(unit(s->stream + 4, (uint32_t)j) * s->bias));
}
static double v_of(const struct numbers *s, int j) {
    return half_value(half_of(s->out * (j % 2 ? 1 : -1) * (1 + 0.5 * unit(s->stream + 5, (uint32_t)j))));
}
/* What a network with other weights, the teacher's, answers; of SMALL, anything. */
static double t_of(const net *n, const struct numbers *s, int i) {
    if (s->teacher == 0) return 1.5 * unit(s->stream + 6, (uint32_t)i);
    double out = 0;
    for (int j = 0; j < n->n; j++) {
        double z = b_of(s, j);
        for (int a = 0; a < n->k; a++)
            z += x_of(s, i * n->k + a) *
                 (w_of(s, a * n->n + j) + unit(s->stream + 3, (uint32_t)(a * n->n + j)) * s->teacher);
        if (z > 0) out += z * v_of(s, j);
    }
    return (double)(float)(out * (1 + s->noise * unit(s->stream + 6, (uint32_t)i)));
}

static void fill(net *n) {
    const struct numbers *s = n->kind == NET_SMALL ? &small : &large;
    int *pm = order(lab_fresh_seed(), n->m), *pk = order(lab_fresh_seed(), n->k), *pn = order(lab_fresh_seed(), n->n);
    for (int i = 0; i < n->m; i++) {
        for (int a = 0; a < n->k; a++) n->x[i * n->k + a] = half_of(x_of(s, pm[i] * n->k + pk[a]));
        n->t[i] = (float)t_of(n, s, pm[i]);
    }
    for (int j = 0; j < n->n; j++) {
        for (int a = 0; a < n->k; a++) n->first[a * n->n + j] = half_of(w_of(s, pk[a] * n->n + pn[j]));
        n->b[j] = half_of(b_of(s, pn[j])), n->v[j] = half_of(v_of(s, pn[j]));
    }
    free(pm);
    free(pk);
    free(pn);
}

static void send(void *to, const void *from, size_t bytes) {
    LAB_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}
static void receive(void *to, const void *from, size_t bytes) {
    LAB_CUDA(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}

static void *halves(size_t count) {
    void *p = lab_alloc((count + 1) / 2);
    lab_poison(p, (count + 1) / 2);
    return p;
}

static void *room(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) lab_die("out of memory");
    return p;
}

static void make_arrays(net *n) {
    const size_t m = (size_t)n->m, k = (size_t)n->k, w = weights_of(n), h = units_of(n), columns = (size_t)n->n;
    n->d_x = halves(m * k), n->d_b = halves(columns), n->d_v = halves(columns), n->d_w = halves(w);
    n->d_h = halves(h), n->d_dh = halves(h), n->d_dz = halves(h), n->d_g = halves(w);
    n->d_t = lab_alloc(m), n->d_loss = lab_alloc(1), n->d_state = lab_alloc(2 * w);
    n->x = room(m * k * 2), n->b = room(columns * 2), n->v = room(columns * 2), n->first = room(w * 2);
    n->w = room(w * 2), n->g = room(w * 2), n->t = room(m * sizeof *n->t);
    n->want = room(w * sizeof *n->want), n->square = room(w * sizeof *n->square);
    n->doubt = room(w * sizeof *n->doubt), n->doubtful = room(w * sizeof *n->doubtful);
}

static void begin_anew(net *n) {
    memcpy(n->w, n->first, weights_of(n) * 2);
    memset(n->square, 0, weights_of(n) * sizeof *n->square);
    memset(n->doubtful, 0, weights_of(n) * sizeof *n->doubtful);
    send(n->d_w, n->w, weights_of(n) * 2);
    LAB_CUDA(cudaMemset(n->d_state, 0, 2 * weights_of(n) * sizeof *n->d_state));
    n->message.step = 0;
}

net *net_new(lab_program *program, const char *counted, enum net_kind kind) {
    net *n = lab_hide(sizeof *n);
    lab_use(program);
    *n = (net){.program = program, .counted = counted, .kind = kind};
    n->m = kind == NET_SMALL ? 24 : 128, n->k = kind == NET_SMALL ? 9 : 32, n->n = kind == NET_SMALL ? 17 : 64;
    make_arrays(n);
    fill(n);
    send(n->d_x, n->x, (size_t)n->m * (size_t)n->k * 2);
    send(n->d_b, n->b, (size_t)n->n * 2);
    send(n->d_v, n->v, (size_t)n->n * 2);
    send(n->d_t, n->t, (size_t)n->m * sizeof *n->t);
    n->message = (struct lab10_message){.m = n->m,
                                        .n = n->n,
                                        .k = n->k,
                                        .x = (uint64_t)n->d_x,
                                        .w = (uint64_t)n->d_w,
                                        .bias = (uint64_t)n->d_b,
                                        .dz = (uint64_t)n->d_dz,
                                        .v = (uint64_t)n->d_v,
                                        .t = (uint64_t)n->d_t,
                                        .h = (uint64_t)n->d_h,
                                        .dh = (uint64_t)n->d_dh,
                                        .g = (uint64_t)n->d_g,
                                        .loss = (uint64_t)n->d_loss,
                                        .state = (uint64_t)n->d_state};
    begin_anew(n);
    return n;
}

void net_free(net *n) {
    void *const device[] = {n->d_x,  n->d_b, n->d_v, n->d_w,    n->d_h,    n->d_dh,
                            n->d_dz, n->d_g, n->d_t, n->d_loss, n->d_state};
    void *const host[] = {n->x, n->b, n->v, n->first, n->t, n->w, n->g, n->want, n->square, n->doubt, n->doubtful};
    lab_use(n->program);
    for (size_t i = 0; i < sizeof device / sizeof *device; i++) lab_free(device[i]);
    for (size_t i = 0; i < sizeof host / sizeof *host; i++) free(host[i]);
}

/* --- calls ---------------------------------------------------------------------------------------- */

static bool play(net *n, enum lab10_what what, struct lab10_reply *reply) {
    n->message.what = what;
    const lab_work work = {.program = n->program,
                           .message = &n->message,
                           .size = sizeof n->message,
                           .reply = reply,
                           .reply_size = sizeof *reply};
    LAB_CUDA(cudaDeviceSynchronize());
    lab_stage("your %s, step %d", what == LAB10_UPDATE ? "update" : "gradients", n->message.step);
    if (n->counted) lab_count_begin(n->counted);
    n->begin = lab_now();
    const lab_time t = lab_time_work((lab_timer){LAB_HOST_CLOCK, 0, 1, false}, &work);
    n->end = lab_now();
    if (n->counted) lab_count_end();
    lab_stage("the harness, after your function");
    n->error = t.error;
    return t.error == cudaSuccess;
}

float net_rate(const net *n, int step) {
    return n->kind == NET_SMALL ? 0.0625f : 0.02f * (float)(NET_STEPS - step) / NET_STEPS;
}

bool net_gradients(net *n) {
    struct lab10_reply reply = {0};
    n->message.rate = net_rate(n, n->message.step);
    lab_poison(n->d_loss, 1);
    lab_poison(n->d_g, (weights_of(n) + 1) / 2);
    if (!play(n, LAB10_GRADIENTS, &reply)) return false;
    n->scale = reply.scale;
    receive(n->g, n->d_g, weights_of(n) * 2);
    receive(&n->loss, n->d_loss, sizeof n->loss);
    return true;
}

bool net_update(net *n) {
    struct lab10_reply none;
    n->message.scale = n->scale;
    if (!play(n, LAB10_UPDATE, &none)) return false;
    receive(n->w, n->d_w, weights_of(n) * 2);
    n->message.step++;
    return true;
}

/* --- what is right -------------------------------------------------------------------------------- */

/* The loss with weights w, and its gradient into g, if that is not NULL. masked: relu lets nothing back where it gave
 * 0. doubt, unless NULL: by how much each gradient may be another one since a sum in halves, whose error is at most
 * 2^-11 of what it adds up for each of its additions and products, puts a hidden unit on the other side of relu's 0. */
static double compute(const net *n, const double *w, double *g, double *doubt, bool masked) {
    double loss = 0, *h = room(2 * (size_t)n->n * sizeof *h), *size = h + n->n;
    if (g) memset(g, 0, weights_of(n) * sizeof *g);
    for (int i = 0; i < n->m; i++) {
        double out = 0;
        for (int j = 0; j < n->n; j++) h[j] = half_value(n->b[j]), size[j] = fabs(h[j]);
        for (int a = 0; a < n->k; a++) {
            const double x = half_value(n->x[i * n->k + a]);
            for (int j = 0; j < n->n; j++) h[j] += x * w[a * n->n + j], size[j] += fabs(x * w[a * n->n + j]);
        }
        for (int j = 0; j < n->n; j++) out += fmax(0, h[j]) * half_value(n->v[j]);
        const double error = out - (double)n->t[i];
        loss += error * error / n->m;
        if (!g) continue;
        for (int j = 0; j < n->n; j++) {
            const double back = 2 * error / n->m * half_value(n->v[j]);
            size[j] = fabs(h[j]) <= 0x1p-11 * 2 * (n->k + 1) * size[j] ? fabs(back) : 0;
            h[j] = h[j] > 0 || !masked ? back : 0;
        }
        for (int a = 0; a < n->k; a++) {
            const double x = half_value(n->x[i * n->k + a]);
            for (int j = 0; j < n->n; j++) g[a * n->n + j] += x * h[j];
            for (int j = 0; doubt && j < n->n; j++) doubt[a * n->n + j] += fabs(x) * size[j];
        }
    }
    free(h);
    return loss;
}

static double *values(const net *n, const uint16_t *halves_of) {
    double *v = room(weights_of(n) * sizeof *v);
    for (size_t i = 0; i < weights_of(n); i++) v[i] = half_value(halves_of[i]);
    return v;
}

void net_expect(net *n) {
    double *w = values(n, n->w);
    memset(n->doubt, 0, weights_of(n) * sizeof *n->doubt);
    n->want_loss = compute(n, w, n->want, n->doubt, true);
    free(w);
}

double net_loss(const net *n, const double *w) { return compute(n, w, NULL, NULL, true); }

double net_now(const net *n) {
    double *w = values(n, n->w);
    const double loss = net_loss(n, w);
    bool finite = true;
    for (size_t i = 0; i < weights_of(n); i++) finite = finite && half_is_finite(n->w[i]);
    free(w);
    return finite ? loss : NAN;
}

static double change_of(double rate, double a, double q) { return rate * a / (sqrt(q) + (double)EPSILON); }

double net_learned_exactly(const net *n) {
    double *w = values(n, n->first), *g = room(weights_of(n) * sizeof *g), *q = room(weights_of(n) * sizeof *q);
    for (int step = 0; step < NET_STEPS; step++) {
        compute(n, w, g, NULL, true);
        for (size_t i = 0; i < weights_of(n); i++) {
            q[i] = (double)DECAY * q[i] + (1 - (double)DECAY) * g[i] * g[i];
            w[i] -= change_of((double)net_rate(n, step), g[i], q[i]);
        }
    }
    const double loss = net_loss(n, w);
    free(w);
    free(g);
    free(q);
    return loss;
}

/* --- a judged step -------------------------------------------------------------------------------- */

static double largest(const double *v, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(v[i]));
    return most;
}

/* Is g a multiple of want, to a few percent of its largest and to what is in doubt? The multiple is in *factor. */
static bool is_multiple(const net *n, const double *want, double *factor) {
    double up = 0, down = 0;
    for (size_t i = 0; i < weights_of(n); i++) up += half_value(n->g[i]) * want[i], down += want[i] * want[i];
    *factor = down > 0 ? up / down : 0;
    const double bound = 0.04 * fabs(*factor) * largest(want, weights_of(n));
    for (size_t i = 0; i < weights_of(n); i++)
        if (!(fabs(half_value(n->g[i]) - *factor * want[i]) <= bound + 1.04 * fabs(*factor) * n->doubt[i]))
            return false;
    return *factor != 0;
}

static bool about(double a, double b) { return fabs(a - b) <= 0.05 * fabs(b); }

static void fail(net *n, enum net_mistake kind, const char *what) {
    n->mistake = kind;
    LAB_SAY(n->failure, "network of %dx%dx%d, step %d: %s", n->m, n->n, n->k, n->judged, what);
}

static enum net_mistake of_factor(const net *n, double factor) {
    const double s = (double)n->scale;
    if (about(factor, s)) return NET_RIGHT;
    if (about(factor, s * n->m)) return NET_NO_MEAN;
    if (about(factor, s / 2)) return NET_NO_TWO;
    if (about(factor, -s)) return NET_SIGN;
    return about(factor, 1) ? NET_NO_SCALE : NET_FACTOR;
}

static void judge_factor(net *n, double factor) {
    char text[160];
    switch (of_factor(n, factor)) {
    case NET_RIGHT: return;
    case NET_NO_MEAN:
        return fail(n, NET_NO_MEAN, "the gradient is m times too large: it is that of the sum, not of the mean");
    case NET_NO_TWO: return fail(n, NET_NO_TWO, "the gradient is half of what it should be: the square gives a 2");
    case NET_SIGN: return fail(n, NET_SIGN, "the gradient has the wrong sign");
    case NET_NO_SCALE:
        LAB_SAY(text, "gradients returned a scale of %g, but g is the plain gradient", (double)n->scale);
        return fail(n, NET_NO_SCALE, text);
    default:
        LAB_SAY(text, "g is %.3g times the gradient, and the scale returned is %g", factor, (double)n->scale);
        return fail(n, NET_FACTOR, text);
    }
}

static void judge_gradient(net *n) {
    double factor;
    char text[160];
    size_t poison = 0, odd = 0;
    for (size_t i = 0; i < weights_of(n); i++) {
        poison += n->g[i] == HALF_POISON;
        odd += !half_is_finite(n->g[i]);
    }
    if (!(n->scale >= 1) || isinf(n->scale)) {
        LAB_SAY(text, "gradients returned %g, wants a scale of 1 or more", (double)n->scale);
        return fail(n, NET_BAD_SCALE, text);
    }
    if (poison || lab_is_poison(n->loss)) {
        LAB_SAY(text, "%zu of %zu gradients were never written%s", poison, weights_of(n),
                lab_is_poison(n->loss) ? ", nor was the loss" : "");
        return fail(n, NET_UNWRITTEN, text);
    }
    if (odd) {
        LAB_SAY(text, "%zu of %zu gradients are infinite, or no numbers", odd, weights_of(n));
        return fail(n, NET_NOT_FINITE, text);
    }
    if (!(fabs((double)n->loss - n->want_loss) <= 0.03 * n->want_loss)) {
        LAB_SAY(text, "the loss is %.4g, wants %.4g", (double)n->loss, n->want_loss);
        return fail(n, NET_LOSS, text);
    }
    if (is_multiple(n, n->want, &factor)) return judge_factor(n, factor);
    double *w = values(n, n->w), *open = room(weights_of(n) * sizeof *open);
    compute(n, w, open, NULL, false);
    const bool no_mask = is_multiple(n, open, &factor);
    free(w);
    free(open);
    if (no_mask) return fail(n, NET_NO_MASK, "the gradient is that of a network without relu");
    size_t at = 0;
    double worst = 0;
    for (size_t i = 0; i < weights_of(n); i++) {
        const double error = fabs(half_value(n->g[i]) / (double)n->scale - n->want[i]);
        if (error > worst) worst = error, at = i;
    }
    LAB_SAY(text, "g[%zu][%zu] is %.4g times the scale, wants %.4g", at / (size_t)n->n, at % (size_t)n->n,
            half_value(n->g[at]) / (double)n->scale, n->want[at]);
    fail(n, NET_GRADIENT, text);
}

/* The change of weight i, if the mean square were q. */
typedef double changing(double rate, double a, double q);
static double by_square(double rate, double a, double q) { return rate * a / (q + (double)EPSILON); }
static double by_nothing(double rate, double a, double q) {
    (void)q;
    return rate * a;
}

/* Have the weights changed from `before` as this says, times `factor`? Small gradients are left out, and those in
 * doubt in one of the steps so far: their sign is a matter of rounding. fresh: q had been 0. */
static bool changed_so(const net *n, const uint16_t *before, changing *how, double factor, bool fresh) {
    const double small_one = 0.1 * largest(n->want, weights_of(n)), rate = (double)net_rate(n, 0);
    size_t judged = 0;
    for (size_t i = 0; i < weights_of(n); i++) {
        const double a = n->want[i];
        const double q = fresh ? (1 - (double)DECAY) * a * a : n->square[i];
        const double want = factor * how(rate, a, q), got = half_value(before[i]) - half_value(n->w[i]);
        if (fabs(a) <= small_one || n->doubtful[i]) continue;
        if (!(fabs(got - want) <= 0.05 * fabs(want) + 0.004)) return false;
        judged++;
    }
    return judged > 0;
}

/* Is each weight the change alone, after the first step? */
static bool begins_at_zero(const net *n) {
    uint16_t *zeros = room(weights_of(n) * sizeof *zeros);
    const bool it_is = changed_so(n, zeros, change_of, 1, false);
    free(zeros);
    return it_is;
}

static void judge_update(net *n, const uint16_t *before) {
    char text[200], scaled[48] = "";
    for (size_t i = 0; i < weights_of(n); i++) n->doubtful[i] = n->doubtful[i] || n->doubt[i] > 0.02 * fabs(n->want[i]);
    for (size_t i = 0; i < weights_of(n); i++)
        n->square[i] = (double)DECAY * n->square[i] + (1 - (double)DECAY) * n->want[i] * n->want[i];
    if (changed_so(n, before, change_of, 1, false)) return;
    if (!memcmp(before, n->w, weights_of(n) * 2)) return fail(n, NET_NOT_CHANGED, "update changed no weight");
    if (n->judged == 0 && begins_at_zero(n))
        return fail(n, NET_FROM_ZERO, "the weights are as if they had been 0 before this step");
    if (changed_so(n, before, change_of, -1, false))
        return fail(n, NET_UPHILL, "update adds the change; it is subtracted");
    if (changed_so(n, before, by_square, 1, false) || changed_so(n, before, by_nothing, 1, false))
        return fail(n, NET_NO_ROOT, "update does not divide by the root of the mean square");
    if (changed_so(n, before, change_of, 1, true))
        return fail(n, NET_FORGETS, "the mean square begins anew: q of the step before is lost");
    size_t at = 0;
    for (size_t i = 0; i < weights_of(n); i++)
        if (fabs(n->want[i]) > fabs(n->want[at])) at = i;
    if (n->scale > 1) LAB_SAY(scaled, "; not divided by the scale %.6g?", (double)n->scale);
    LAB_SAY(text, "w[%zu][%zu] went from %.4g to %.4g, wants %.4g%s", at / (size_t)n->n, at % (size_t)n->n,
            half_value(before[at]), half_value(n->w[at]),
            half_value(before[at]) - change_of((double)net_rate(n, 0), n->want[at], n->square[at]), scaled);
    fail(n, NET_UPDATE, text);
}

bool net_judged_step(net *n) {
    uint16_t *before = room(weights_of(n) * 2);
    memcpy(before, n->w, weights_of(n) * 2);
    net_expect(n);
    n->judged = n->message.step;
    bool alive = net_gradients(n);
    if (alive) judge_gradient(n);
    if (alive && !n->failure[0]) alive = net_update(n);
    if (alive && !n->failure[0]) judge_update(n, before);
    free(before);
    return alive;
}

/* Gradients of 1e-8 to 4e-8, times 16384. Where they are divided by it, EPSILON counts; else it does not. */
bool net_divides(net *n) {
    const double rate = (double)net_rate(n, 0);
    begin_anew(n);
    n->scale = 16384;
    for (size_t i = 0; i < weights_of(n); i++) {
        n->want[i] = (1 + (double)(i % 4)) * 1e-8;
        n->g[i] = half_of(n->want[i] * (double)n->scale);
    }
    send(n->d_g, n->g, weights_of(n) * 2);
    n->message.rate = net_rate(n, 0);
    if (!net_update(n)) return false;
    for (size_t i = 0; i < weights_of(n); i++) {
        const double a = n->want[i], want = change_of(rate, a, (1 - (double)DECAY) * a * a);
        if (!(fabs(half_value(n->first[i]) - half_value(n->w[i]) - want) <= 0.1 * want)) return false;
    }
    return true;
}

/* filter.c — see filter.h. */
#include "filter.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { ONE = 256 /* of a coordinate's fixed point, and of a weight */, OUTSIDE = -1 };

/* Returns the offset of a texel in bytes. */
static uint64_t offset_of(const exec_texture *t, uint64_t x, uint64_t y, uint64_t plane) {
    return plane * t->slice + y * t->pitch + x * t->channels * (t->bits / 8u);
}

/* --- formats ------------------------------------------------------------------------------------------------------ */

/* A texel as it is in memory, or the border. */
typedef struct {
    bool border;
    uint32_t raw[4]; /* signed channels with their sign */
} texel;

static double half_value(uint32_t h) {
    int exponent = h >> 10 & 31;
    double m = h & 1023, v = exponent == 0 ? ldexp(m, -24) : ldexp(m + 1024, exponent - 25);
    if (exponent == 31) v = m != 0 ? NAN : INFINITY;
    return h >> 15 ? -v : v;
}

static double srgb_to_linear(double v) { return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); }

static bool reads_floats(const exec_texture *t) { return t->kind == EXEC_FLOAT || t->unit; }

/* Returns the integer that stands for 1 in a channel that is read as a fraction. */
static double one_of(const exec_texture *t) {
    return (double)((1u << (t->kind == EXEC_SIGNED ? t->bits - 1 : t->bits)) - 1);
}

/* The border's channels have the precision of the texture's. */
static double border_of(const exec_texture *t, uint32_t c) {
    double v = t->border[c];
    if (t->kind == EXEC_FLOAT) return v;
    if (isnan(v)) return 0;
    if (!t->unit) {
        double least = t->kind == EXEC_SIGNED ? INT32_MIN : 0, most = t->kind == EXEC_SIGNED ? INT32_MAX : UINT32_MAX;
        return v < least ? least : v > most ? most : trunc(v);
    }
    double low = t->kind == EXEC_SIGNED ? -1 : 0;
    return ceil((v < low ? low : v > 1 ? 1 : v) * one_of(t) - 0.5);
}

/* Returns the number in channel c; 0 if the texture has no such channel. */
static double number_of(const exec_texture *t, const texel *x, uint32_t c) {
    float f;
    if (c >= t->channels) return 0;
    if (x->border) return border_of(t, c);
    if (t->kind == EXEC_SIGNED) return (int32_t)x->raw[c];
    if (t->kind == EXEC_UNSIGNED) return x->raw[c];
    if (t->bits == 16) return half_value(x->raw[c]);
    memcpy(&f, &x->raw[c], 4);
    return f;
}

/* Returns channel c as a kernel reads it without a filter. */
static uint32_t bits_of(const exec_texture *t, const texel *x, uint32_t c) {
    uint32_t bits = 0;
    if (c >= t->channels) return 0;
    if (t->bits == 32 && !x->border) return x->raw[c];
    double v = number_of(t, x, c);
    if (!reads_floats(t)) return t->kind == EXEC_SIGNED ? (uint32_t)(int32_t)v : (uint32_t)v;
    if (t->unit) v = v / one_of(t) < -1 ? -1 : v / one_of(t);
    if (t->srgb && c < 3) v = srgb_to_linear(v);
    float f = (float)v;
    memcpy(&bits, &f, 4);
    return bits;
}

/* --- addressing --------------------------------------------------------------------------------------------------- */

/* Returns the texel that stands for number i of n, or OUTSIDE. */
static int64_t addressed(int64_t i, int64_t n, enum exec_address mode) {
    if (i >= 0 && i < n) return i;
    int64_t turn = (i % (2 * n) + 2 * n) % (2 * n); /* of a texture and its mirror image */
    switch (mode) {
    case EXEC_WRAP: return turn % n;
    case EXEC_MIRROR: return turn < n ? turn : 2 * n - 1 - turn;
    case EXEC_BORDER: return OUTSIDE;
    default: return i < 0 ? 0 : n - 1;
    }
}

/* One dimension of a read: two neighbours, and the weight of the second, in 256ths. */
typedef struct {
    int64_t first, second;
    uint32_t weight;
} axis;

/* Returns the place in texels of a coordinate, within what fixed point holds. A whole number of turns changes nothing
 * in a texture that is repeated. */
static double in_texels(const exec_texture *t, float x, uint32_t n, enum exec_address mode) {
    const double most = 1 << 30;
    if (isnan(x)) return 0;
    double v = x;
    if (t->normalized) {
        bool repeats = mode == EXEC_WRAP || mode == EXEC_MIRROR;
        if (repeats && !(v >= 0 && v < 2)) v = isfinite(v) ? v - 2 * floor(v / 2) : 0;
        v = (float)v * (float)n; /* one rounding to a float, as on the card */
    }
    return v < -most ? -most : v > most ? most : v;
}

/* Wrap and mirror need normalized coordinates. */
static enum exec_address mode_of(const exec_texture *t, int d) {
    bool repeats = t->mode[d] == EXEC_WRAP || t->mode[d] == EXEC_MIRROR;
    return repeats && !t->normalized ? EXEC_CLAMP : t->mode[d];
}

static axis axis_of(const exec_texture *t, float x, uint32_t n, int d, bool two) {
    enum exec_address mode = mode_of(t, d);
    double v = in_texels(t, x, n, mode);
    if (!two) {
        int64_t i = (int64_t)v;
        i = addressed(i - (v < (double)i), n, mode);
        return (axis){.first = i, .second = i};
    }
    double scaled = v * ONE + 0.5;
    int64_t fixed = (int64_t)scaled;
    fixed -= (scaled < (double)fixed) + ONE / 2;
    int64_t i = fixed >> 8;
    if (mode == EXEC_CLAMP && (i < 0 || i >= (int64_t)n - 1)) {
        i = addressed(i, n, mode);
        return (axis){i, i, 0};
    }
    return (axis){addressed(i, n, mode), addressed(i + 1, n, mode), (uint32_t)(fixed & (ONE - 1))};
}

/* Returns the texel at a coordinate without a filter. */
static inline int64_t nearest(const exec_texture *t, float x, uint32_t n, int d) {
    float v = t->normalized && x < 1 ? x * (float)n : x;
    if (v >= 0 && v < (float)n && (!t->normalized || x < 1)) return (int64_t)v; /* the usual case */
    return axis_of(t, x, n, d, false).first;
}

/* --- reads -------------------------------------------------------------------------------------------------------- */

static void note(filter_reads *r, uint32_t x, uint32_t y, uint32_t plane) {
    for (uint32_t k = 0; k < r->n; k++)
        if (r->at[k].x == x && r->at[k].y == y && r->at[k].plane == plane && r->at[k].level == r->level) return;
    r->at[r->n++] = (struct filter_texel){x, y, plane, r->level};
}

/* Reads one texel; any coordinate may be OUTSIDE. */
static texel read_texel(const exec_texture *t, const uint8_t *texels, int64_t x, int64_t y, int64_t z,
                        filter_reads *reads) {
    texel v = {.border = x < 0 || y < 0 || z < 0};
    if (v.border) return v;
    uint64_t at = offset_of(t, (uint64_t)x, (uint64_t)y, (uint64_t)z);
    uint32_t bytes = t->bits / 8u, unused = 32u - t->bits;
    note(reads, (uint32_t)x, (uint32_t)y, (uint32_t)z);
    if (bytes == 4) { /* the usual case: the copies below have no fixed length */
        for (uint32_t c = 0; c < t->channels; c++) memcpy(&v.raw[c], texels + at + 4 * c, 4);
        return v;
    }
    for (uint32_t c = 0; c < t->channels; c++) {
        memcpy(&v.raw[c], texels + at + c * bytes, bytes);
        if (t->kind == EXEC_SIGNED) v.raw[c] = (uint32_t)((int32_t)(v.raw[c] << unused) >> unused);
    }
    return v;
}

/* The face of a cube that a direction meets. Source: CUDA Programming Guide, cubemap textures. */
static uint32_t face_of(const float v[3]) {
    float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]);
    if (z >= x && z >= y) return v[2] < 0 ? 5 : 4;
    if (y >= x) return v[1] < 0 ? 3 : 2;
    return v[0] < 0 ? 1 : 0;
}

/* The parts of a direction on a face: across, down, and towards it. */
static void parts_on(uint32_t face, const float v[3], float part[3]) {
    float sign = face % 2 ? -1 : 1;
    part[0] = face / 2 == 0 ? -sign * v[2] : face / 2 == 1 ? v[0] : sign * v[0];
    part[1] = face / 2 == 1 ? sign * v[2] : -v[1];
    part[2] = sign * v[face / 2];
}

/* Sets the place on the face of a direction, from 0 to 1. Returns the face. */
static uint32_t place_on(const float v[3], float place[2]) {
    float part[3];
    uint32_t face = face_of(v);
    parts_on(face, v, part);
    for (int k = 0; k < 2; k++) place[k] = (part[k] / part[2] + 1) / 2;
    return face;
}

/* The axes of a place; of a layered texture or a cube the third one is the plane. The card reads a texture of one
 * dimension at y = 0, which a border in y shows. */
static void axes_of(const exec_texture *t, const filter_place *p, bool two, axis axes[3]) {
    bool cube = p->geometry == GEOMETRY_cube || p->geometry == GEOMETRY_acube;
    bool volume = p->geometry == GEOMETRY_3d, line = p->geometry == GEOMETRY_1d || p->geometry == GEOMETRY_a1d;
    uint32_t layers = t->layers ? t->layers : 1, plane = p->layer < layers ? p->layer : layers - 1;
    float at[3] = {p->at[0], p->at[1], p->at[2]};
    if (cube) plane = plane * t->faces + (t->faces == 6 ? place_on(p->at, at) : 0);
    axes[0] = axis_of(t, at[0], t->width, 0, two);
    axes[1] = axis_of(t, line ? 0 : at[1], t->rows, 1, two);
    axes[2] = volume ? axis_of(t, at[2], t->planes, 2, two) : (axis){plane, plane, 0};
}

/* The weights of the texels around a place, in 256ths: they always add up to `share`. corner: a bit for each
 * dimension. */
static void weigh(const axis axes[3], int32_t share, int32_t weight[8]) {
    int32_t a = (int32_t)axes[0].weight, b = (int32_t)axes[1].weight, c = (int32_t)axes[2].weight;
    int32_t behind = (share * c + ONE / 2) / ONE;
    for (int z = 0; z < 2; z++) {
        int32_t all = z ? behind : share - behind, right = (all * a + ONE / 2) / ONE, left = all - right;
        int32_t *w = weight + 4 * z;
        w[3] = (right * b + ONE / 2) / ONE;
        w[1] = right - w[3];
        w[0] = (left * (ONE - b) + ONE / 2) / ONE;
        w[2] = left - w[0];
    }
}

/* The exponent e of v = m * 2^e, m from 0.5 to 1, and 2^e: as frexp and ldexp, without a call. Requires a v that is a
 * float other than 0, and an e that a double has. */
static int exponent_of(double v) {
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return (int)(bits >> 52 & 0x7ff) - 1022;
}
static double power_of_two(int e) {
    uint64_t bits = (uint64_t)(e + 1023) << 52;
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

/* Rounds to a number of significant bits, of which the last is at least 2^least; a half away from zero. */
static double rounded(double v, int bits, int least) {
    if (v == 0 || !isfinite(v)) return v;
    int last = exponent_of(v) - bits < least ? least : exponent_of(v) - bits;
    double n = (double)(int64_t)(fabs(v) * power_of_two(-last) + 0.5) * power_of_two(last);
    return v < 0 ? -n : n;
}

/* Adds up the floats of one plane: each is cut to the last bit that the largest of them has, and four more. */
static double plane_sum(const double v[4], const int32_t weight[4], int bits) {
    int largest = INT_MIN;
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        if (!weight[k] || v[k] == 0) continue;
        if (!isfinite(v[k])) return v[0] * weight[0] + v[1] * weight[1] + v[2] * weight[2] + v[3] * weight[3];
        if (exponent_of(v[k]) > largest) largest = exponent_of(v[k]);
    }
    if (largest == INT_MIN) return 0;
    double unit = power_of_two(bits + 4 - largest);
    for (int k = 0; k < 4; k++) sum += weight[k] * (double)(int64_t)(v[k] * unit);
    return sum / unit / ONE;
}

enum { MOST_TEXELS = 16 /* eight in each of two levels */ };

/* Texels with their weights, in planes of four. */
typedef struct {
    int n;
    int32_t weight[MOST_TEXELS];
    texel texel[MOST_TEXELS];
} mixture;

/* Adds up fractions as integers of 16 bits, and returns the float. */
static float fractions_sum(const exec_texture *t, const double *v, const mixture *m) {
    int64_t sum = 0, half = ONE / 2;
    if (t->kind == EXEC_UNSIGNED) {
        for (int k = 0; k < m->n; k++) sum += m->weight[k] * (int64_t)v[k] * (t->bits == 8 ? 257 : 1);
        return (float)((sum + half) >> 8) / 65535;
    }
    for (int k = 0; k < m->n; k++) {
        int64_t n = (int64_t)(v[k] < -one_of(t) ? -one_of(t) : v[k]);
        sum += m->weight[k] * (t->bits == 8 ? n * 258 * 16 + (n >> 3) : n * 16);
    }
    return (float)((sum + half * 16) >> 12) / 32767;
}

/* Integers between two levels: those of 8 and 16 bits are rounded, those of 32 bits are rounded down. (Measured on an
 * H200.) */
static uint32_t integers_sum(const exec_texture *t, const double *v, const mixture *m) {
    int64_t sum = t->bits < 32 ? ONE / 2 : 0;
    for (int k = 0; k < m->n; k++) sum += m->weight[k] * (int64_t)v[k];
    return (uint32_t)(sum >> 8);
}

static uint32_t sum_of(const exec_texture *t, const mixture *m, uint32_t c) {
    double v[MOST_TEXELS] = {0}, sum = 0;
    const bool curve = t->srgb && c < 3;
    const int bits = curve || t->bits == 16 ? 11 : 24, least = curve || t->bits == 16 ? -24 : -149;
    for (int k = 0; k < m->n; k++) {
        if (!m->weight[k]) continue;
        v[k] = number_of(t, &m->texel[k], c);
        if (curve) v[k] = rounded(srgb_to_linear(v[k] / one_of(t)), 11, -24);
    }
    if (!reads_floats(t)) return integers_sum(t, v, m);
    for (int k = 0; k < m->n; k += 4) sum += plane_sum(v + k, m->weight + k, bits);
    const float f = t->unit && !curve ? fractions_sum(t, v, m) : (float)rounded(sum, bits, least);
    uint32_t word;
    memcpy(&word, &f, 4);
    return word;
}

/* Adds the texels of one level around a place, with `share` 256ths of the weight: eight, four, or the nearest. */
static void add_texels(const exec_texture *t, const uint8_t *texels, const axis axes[3], bool filters, int32_t share,
                       mixture *m, filter_reads *reads) {
    int32_t weight[8] = {share};
    const int corners = axes[2].weight ? 8 : 4;
    if (filters) weigh(axes, share, weight);
    for (int k = 0; k < corners; k++) {
        m->weight[m->n + k] = weight[k];
        if (!weight[k]) continue;
        m->texel[m->n + k] =
            read_texel(t, texels, k & 1 ? axes[0].second : axes[0].first, k & 2 ? axes[1].second : axes[1].first,
                       k & 4 ? axes[2].second : axes[2].first, reads);
    }
    m->n += corners;
}

static void add_up(const exec_texture *t, const mixture *m, uint32_t out[4]) {
    for (uint32_t c = 0; c < 4; c++) out[c] = c < t->channels ? sum_of(t, m, c) : 0;
}

static void unfiltered(const exec_texture *t, texel v, uint32_t out[4]) {
    for (uint32_t c = 0; c < 4; c++) out[c] = bits_of(t, &v, c);
}

/* Reads a texture that has one level. */
static void read_level(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t out[4],
                       filter_reads *reads) {
    axis axes[3];
    if (p->whole) {
        const int64_t size[3] = {t->width, t->rows, t->planes};
        bool layered = p->geometry == GEOMETRY_a1d || p->geometry == GEOMETRY_a2d;
        int64_t at[3];
        for (int d = 0; d < 3; d++) at[d] = p->texel[d] < size[d] ? p->texel[d] : OUTSIDE;
        if (layered) at[2] = p->layer < t->planes ? p->layer : t->planes - 1;
        if (at[0] < 0 || at[1] < 0 || at[2] < 0)
            memset(out, 0, 4 * sizeof *out);
        else
            unfiltered(t, read_texel(t, texels, at[0], at[1], at[2], reads), out);
        return;
    }
    bool filters = t->linear && reads_floats(t);
    if (!filters && p->geometry <= GEOMETRY_3d) {
        int64_t x = nearest(t, p->at[0], t->width, 0),
                y = p->geometry >= GEOMETRY_2d ? nearest(t, p->at[1], t->rows, 1) : 0,
                z = p->geometry == GEOMETRY_3d ? nearest(t, p->at[2], t->planes, 2) : 0;
        unfiltered(t, read_texel(t, texels, x, y, z, reads), out);
        return;
    }
    axes_of(t, p, filters, axes);
    mixture m = {0};
    if (filters)
        add_texels(t, texels, axes, true, ONE, &m, reads), add_up(t, &m, out);
    else
        unfiltered(t, read_texel(t, texels, axes[0].first, axes[1].first, axes[2].first, reads), out);
}

/* --- levels ------------------------------------------------------------------------------------------------------ */

/* The length of a gradient, as an H200 estimates it: the longest part, 11/32 of the next, a quarter of the third. */
static double length_of(const double v[3]) {
    double x = fabs(v[0]), y = fabs(v[1]), z = fabs(v[2]);
    const double middle = fmax(fmin(x, y), fmin(fmax(x, y), z));
    return fmax(x, fmax(y, z)) + 11 / 32.0 * middle + fmin(x, fmin(y, z)) / 4;
}

/* The level of a gradient, in 256ths: the logarithm of the longer one of the two, in texels of the first level, or of
 * 11/16 of their sum or difference, if that is longer. On a cube a gradient is the way on the face from the place to
 * place + gradient. Source: measured on an H200: 413 of 420 random gradients give its level to 1/256; those of cubes
 * that lead to another face do not. maxAnisotropy has no effect here. */
static double level_of_gradient(const exec_texture *t, const filter_place *p) {
    const uint32_t size[3] = {t->width, t->rows, t->planes};
    bool cube = p->geometry == GEOMETRY_cube || p->geometry == GEOMETRY_acube;
    int dimensions = p->geometry == GEOMETRY_1d || p->geometry == GEOMETRY_a1d ? 1 : p->geometry == GEOMETRY_3d ? 3 : 2;
    double change[2][3] = {{0}}, sum[3], difference[3];
    for (int xy = 0; xy < 2; xy++) {
        float there[3], part[3], at[3];
        for (int k = 0; k < 3; k++) there[k] = p->at[k] + p->gradient[xy][k];
        if (cube) parts_on(face_of(p->at), p->at, at), parts_on(face_of(p->at), there, part);
        for (int k = 0; k < dimensions; k++)
            change[xy][k] = size[k] * (double)(cube ? (part[k] / part[2] - at[k] / at[2]) / 2 : p->gradient[xy][k]);
    }
    for (int k = 0; k < 3; k++) sum[k] = change[0][k] + change[1][k], difference[k] = change[0][k] - change[1][k];
    const double longest =
        fmax(fmax(length_of(change[0]), length_of(change[1])), 11 / 16.0 * fmax(length_of(sum), length_of(difference)));
    const double round_up = 0.65;                 /* the card's logarithm is that much above, on average */
    return floor(ONE * log2(longest) + round_up); /* -infinity without a gradient */
}

/* Returns the level that a read asks for, within the texture's limits, in 256ths; what is finer is cut. A read without
 * a level or gradient takes the first level, and the bias does not count; the limits do. */
static uint32_t level_of(const exec_texture *t, const filter_place *p) {
    double level = 0, bias = trunc((double)t->bias * ONE);
    if (p->how == FILTER_LEVEL) level = trunc((double)p->level * ONE) + bias;
    if (p->how == FILTER_GRADIENT) level = level_of_gradient(t, p) + bias;
    level = isnan(level) ? 0 : fmin(level, trunc((double)t->most * ONE));
    level = fmax(level, trunc((double)t->least * ONE)); /* also where it is above the most */
    level = fmax(fmin(level, (t->levels - 1) * (double)ONE), 0);
    return (uint32_t)level;
}

/* Returns the texture that level k is by itself, and where its texels are. */
static exec_texture level_alone(const exec_texture *t, uint32_t k, const uint8_t **texels) {
    const exec_level *l = &t->level[k];
    exec_texture one = *t;
    one.pitch = l->pitch, one.slice = l->slice, one.width = l->width, one.rows = l->rows, one.planes = l->planes;
    *texels += l->offset;
    return one;
}

/* Reads the nearest level, or a mixture of two. The second one may have no weight. */
static void read_levels(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t out[4],
                        filter_reads *reads) {
    uint32_t level = level_of(t, p), weight = level % ONE;
    const uint32_t levels = weight ? 2 : 1;
    if (!t->between) level += ONE / 2;
    mixture m = {0};
    for (uint32_t k = 0; k < levels; k++) {
        const uint8_t *from = texels;
        const exec_texture one = level_alone(t, reads->level = level / ONE + k, &from);
        if (!t->between) {
            read_level(&one, from, p, out, reads);
            return;
        }
        const bool filters = t->linear && reads_floats(t);
        axis axes[3];
        axes_of(&one, p, filters, axes);
        add_texels(&one, from, axes, filters, (int32_t)(k ? weight : ONE - weight), &m, reads);
    }
    add_up(t, &m, out);
}

/* Returns whether the instructions of a geometry read an array of this shape. Of another one an H200 gives zeros,
 * without an error. */
static bool reads_shape(enum exec_shape shape, enum ptx_geometry g) {
    switch (shape) {
    case EXEC_PLANE: return g == GEOMETRY_1d || g == GEOMETRY_2d || g == GEOMETRY_a2d;
    case EXEC_LAYERED_LINE: return g == GEOMETRY_a1d;
    case EXEC_VOLUME: return g == GEOMETRY_3d;
    case EXEC_CUBE: return g == GEOMETRY_cube || g == GEOMETRY_acube;
    default: return true;
    }
}

void exec_filter_read(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t out[4],
                      filter_reads *reads) {
    if (!reads_shape(t->shape, p->geometry))
        memset(out, 0, 4 * sizeof *out);
    else if (t->levels)
        read_levels(t, texels, p, out, reads);
    else
        read_level(t, texels, p, out, reads);
}

void exec_filter_gather(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t channel,
                        uint32_t out[4], filter_reads *reads) {
    axis axes[3];
    axes_of(t, p, true, axes);
    const int64_t x[] = {axes[0].first, axes[0].second, axes[0].second, axes[0].first},
                  y[] = {axes[1].second, axes[1].second, axes[1].first, axes[1].first};
    for (int k = 0; k < 4; k++) {
        texel v = read_texel(t, texels, x[k], y[k], axes[2].first, reads);
        out[k] = bits_of(t, &v, channel);
    }
}

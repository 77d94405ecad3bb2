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

/* The weights of the texels around a place, in 256ths: they always add up to 256. corner: a bit for each dimension. */
static void weigh(const axis axes[3], int32_t weight[8]) {
    int32_t a = (int32_t)axes[0].weight, b = (int32_t)axes[1].weight, c = (int32_t)axes[2].weight;
    for (int z = 0; z < 2; z++) {
        int32_t all = z ? c : ONE - c, right = (all * a + ONE / 2) / ONE, left = all - right;
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

/* Adds up fractions as integers of 16 bits, and returns the float. */
static float fractions_sum(const exec_texture *t, const double v[8], const int32_t weight[8]) {
    int64_t sum = 0, half = ONE / 2;
    if (t->kind == EXEC_UNSIGNED) {
        for (int k = 0; k < 8; k++) sum += weight[k] * (int64_t)v[k] * (t->bits == 8 ? 257 : 1);
        return (float)((sum + half) >> 8) / 65535;
    }
    for (int k = 0; k < 8; k++) {
        int64_t n = (int64_t)(v[k] < -one_of(t) ? -one_of(t) : v[k]);
        sum += weight[k] * (t->bits == 8 ? n * 258 * 16 + (n >> 3) : n * 16);
    }
    return (float)((sum + half * 16) >> 12) / 32767;
}

static void filtered(const exec_texture *t, const uint8_t *texels, const axis axes[3], uint32_t out[4],
                     filter_reads *reads) {
    int32_t weight[8];
    texel around[8];
    int corners = axes[2].weight ? 8 : 4;
    weigh(axes, weight);
    for (int k = 0; k < corners; k++) {
        if (!weight[k]) continue;
        around[k] = read_texel(t, texels, k & 1 ? axes[0].second : axes[0].first,
                               k & 2 ? axes[1].second : axes[1].first, k & 4 ? axes[2].second : axes[2].first, reads);
    }
    memset(out, 0, 4 * sizeof *out);
    for (uint32_t c = 0; c < t->channels; c++) {
        double v[8] = {0};
        bool curve = t->srgb && c < 3;
        int bits = curve || t->bits == 16 ? 11 : 24, least = curve || t->bits == 16 ? -24 : -149;
        for (int k = 0; k < corners; k++)
            if (weight[k]) v[k] = number_of(t, &around[k], c);
        for (int k = 0; k < corners && curve; k++) v[k] = rounded(srgb_to_linear(v[k] / one_of(t)), 11, -24);
        float f;
        if (t->unit && !curve)
            f = fractions_sum(t, v, weight);
        else
            f = (float)rounded(plane_sum(v, weight, bits) + (corners == 8 ? plane_sum(v + 4, weight + 4, bits) : 0),
                               bits, least);
        memcpy(&out[c], &f, 4);
    }
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
    if (filters)
        filtered(t, texels, axes, out, reads);
    else
        unfiltered(t, read_texel(t, texels, axes[0].first, axes[1].first, axes[2].first, reads), out);
}

/* --- levels ------------------------------------------------------------------------------------------------------ */

/* The level whose texels lie as far apart as the places of neighbouring pixels: the logarithm of the longer gradient,
 * in texels of the first level. A gradient on a cube is the change of the place on the face. */
static float level_of_gradient(const exec_texture *t, const filter_place *p) {
    const uint32_t size[3] = {t->width, t->rows, t->planes};
    bool cube = p->geometry == GEOMETRY_cube || p->geometry == GEOMETRY_acube;
    int dimensions = p->geometry == GEOMETRY_1d || p->geometry == GEOMETRY_a1d ? 1 : p->geometry == GEOMETRY_3d ? 3 : 2;
    double longest = 0;
    for (int xy = 0; xy < 2; xy++) {
        float change[3] = {p->gradient[xy][0], p->gradient[xy][1], p->gradient[xy][2]}, part[3], at[3];
        if (cube) {
            uint32_t face = face_of(p->at);
            parts_on(face, p->at, at);
            parts_on(face, p->gradient[xy], part);
            for (int k = 0; k < 2; k++) change[k] = (part[k] - at[k] / at[2] * part[2]) / at[2] / 2;
        }
        double sum = 0;
        for (int k = 0; k < dimensions; k++) sum += (double)change[k] * size[k] * change[k] * size[k];
        if (sum > longest) longest = sum;
    }
    return longest > 0 ? (float)(log2(longest) / 2) : -INFINITY;
}

/* Returns the level that a read asks for, within the texture's limits, in 256ths. */
static uint32_t level_of(const exec_texture *t, const filter_place *p) {
    if (p->how == FILTER_FIRST_LEVEL || t->levels == 1) return 0;
    double level = (double)(p->how == FILTER_LEVEL ? p->level : level_of_gradient(t, p)) + (double)t->bias;
    if (!(level > (double)t->least)) level = t->least;
    if (level > (double)t->most) level = t->most;
    if (!(level > 0)) return 0; /* NAN, too */
    if (level > t->levels - 1) level = t->levels - 1;
    return (uint32_t)(level * ONE + 0.5);
}

static void read_of_level(const exec_texture *t, const uint8_t *texels, uint32_t level, const filter_place *p,
                          uint32_t out[4], filter_reads *reads) {
    const exec_level *l = &t->level[level];
    exec_texture one = *t;
    one.pitch = l->pitch, one.slice = l->slice, one.width = l->width, one.rows = l->rows, one.planes = l->planes;
    reads->level = level;
    read_level(&one, texels + l->offset, p, out, reads);
}

void exec_filter_read(const exec_texture *t, const uint8_t *texels, const filter_place *p, uint32_t out[4],
                      filter_reads *reads) {
    if (!t->levels) {
        read_level(t, texels, p, out, reads);
        return;
    }
    uint32_t level = level_of(t, p), weight = level % ONE;
    if (!t->between) level += ONE / 2, weight = 0;
    read_of_level(t, texels, level / ONE, p, out, reads);
    if (!weight) return;
    uint32_t next[4];
    read_of_level(t, texels, level / ONE + 1, p, next, reads);
    for (uint32_t c = 0; c < t->channels; c++) {
        float a, b;
        memcpy(&a, &out[c], 4), memcpy(&b, &next[c], 4);
        a = (float)(((double)a * (ONE - weight) + (double)b * weight) / ONE);
        memcpy(&out[c], &a, 4);
    }
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

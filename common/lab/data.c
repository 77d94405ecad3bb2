/* data.c — inputs that tell positions apart, poison, and the comparison with an oracle.
 *
 * The data: index -> 31 bits by a bijection that depends on the seed -> a finite float whose sign, 7 bits of exponent
 * and 23 bits of mantissa are those bits. Each step can be undone, so a value found in a wrong output says which
 * element it is. All-ones data would let a swapped index pass; 0, 1, 2, ... would let a program invent its output.
 */
#include "lab_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BITS = 31 };
#define MASK         ((1u << BITS) - 1)
#define LOW_EXPONENT 64u /* the 128 exponents 64..191: about 1e-19 to 1e+19 */

/* splitmix64: spreads a seed's few bits over 64. */
uint64_t lab_spread(uint64_t x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* x -> ((x + add) * mul) ^ high half -> * mul, all modulo 2^31. mul is odd, so each step has an inverse. */
typedef struct {
    uint32_t add, mul, inverse;
} bijection;

static bijection bijection_of(uint64_t seed) {
    uint64_t s = lab_spread(seed);
    bijection b = {.add = (uint32_t)(s >> 33), .mul = (uint32_t)s | 1};
    b.inverse = b.mul; /* right modulo 8; each Newton step doubles the right bits */
    for (int i = 0; i < 4; i++) b.inverse *= 2 - b.mul * b.inverse;
    return b;
}

static uint32_t forward(const bijection *b, uint32_t index) {
    uint32_t x = ((index + b->add) * b->mul) & MASK;
    x ^= x >> 16;
    return (x * b->mul) & MASK;
}

static uint32_t backward(const bijection *b, uint32_t bits) {
    uint32_t x = (bits * b->inverse) & MASK;
    x ^= x >> 16; /* its own inverse: 16 is more than half of 31 bits */
    return (x * b->inverse - b->add) & MASK;
}

static float to_float(uint32_t bits) {
    uint32_t f = (bits >> 30) << 31 | (((bits >> 23) & 127) + LOW_EXPONENT) << 23 | (bits & 0x7FFFFF);
    float v;
    memcpy(&v, &f, sizeof v);
    return v;
}

/* Oracles ask element by element, always under one seed: the last one's numbers are kept. */
static const bijection *kept_bijection(uint64_t seed) {
    static uint64_t kept_seed;
    static bijection kept;
    if (!kept.mul || kept_seed != seed) kept = bijection_of(kept_seed = seed);
    return &kept;
}

float lab_data(uint64_t seed, uint32_t index) { return to_float(forward(kept_bijection(seed), index)); }

int64_t lab_data_index(uint64_t seed, float value, size_t count) {
    uint32_t f;
    memcpy(&f, &value, sizeof f);
    uint32_t exponent = (f >> 23) & 255;
    if (exponent < LOW_EXPONENT || exponent >= LOW_EXPONENT + 128) return -1;
    bijection b = bijection_of(seed);
    uint32_t index = backward(&b, (f >> 31) << 30 | (exponent - LOW_EXPONENT) << 23 | (f & 0x7FFFFF));
    return index < count ? (int64_t)index : -1;
}

void lab_fill(uint64_t seed, float *host, size_t count) {
    if (count > MASK) lab_die("the harness asks for %zu distinct values; lab_fill has 2^31", count);
    bijection b = bijection_of(seed);
    for (size_t i = 0; i < count; i++) host[i] = to_float(forward(&b, (uint32_t)i));
}

bool lab_is_poison(float v) {
    uint32_t f;
    memcpy(&f, &v, sizeof f);
    return f == 0xFFFFFFFFu;
}

bool lab_is_fresh(float v) {
    uint32_t f;
    memcpy(&f, &v, sizeof f);
    return f == 0xCDCDCDCDu;
}

/* --- device memory ---------------------------------------------------------------------------- */

/* Floats of poison before and behind an array. A band in the sim lane would hide from SimGPU the very access it
 * reports. */
static size_t band(void) { return lab_lane() == LAB_GPU ? 4096 : 0; }

float *lab_alloc(size_t count) {
    float *base;
    size_t bytes = (count + 2 * band()) * sizeof(float);
    LAB_CUDA(cudaMalloc((void **)&base, bytes));
    LAB_CUDA(cudaMemset(base, 0xFF, bytes));
    return base + band();
}

void lab_free(float *device) {
    if (device) cudaFree(device - band()); /* ignores its error, which would be the student's and is known by now */
}

int lab_guards_broken(const float *device, size_t count) {
    float guard[4096];
    const float *bands[2] = {device - band(), device + count};
    if (!band()) return 0;
    for (int side = 0; side < 2; side++) {
        LAB_CUDA(cudaMemcpy(guard, bands[side], sizeof guard, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < band(); i++)
            if (!lab_is_poison(guard[i])) return side ? 1 : -1;
    }
    return 0;
}

void lab_poison(float *device, size_t count) { LAB_CUDA(cudaMemset(device, 0xFF, count * sizeof *device)); }

/* --- comparison ------------------------------------------------------------------------------- */

static bool agrees(float got, double want, double relative) {
    if (got == want) return true; /* infinities of one sign, and exact results */
    if (isnan(want)) return isnan(got) && !lab_is_poison(got);
    if (!isfinite(want) || !isfinite(got)) return false;
    return fabs(got - want) <= relative * fabs(want);
}

bool lab_compare(const float *got, size_t count, lab_oracle oracle, void *context, double relative, lab_diff *diff) {
    memset(diff, 0, sizeof *diff);
    for (size_t i = 0; i < count; i++) {
        double want = oracle(i, context);
        if (agrees(got[i], want, relative)) continue;
        if (diff->wrong < LAB_DIFFS) {
            diff->first[diff->wrong] = i;
            diff->want[diff->wrong] = want;
            diff->got[diff->wrong] = got[i];
        }
        diff->wrong++;
        diff->poison += lab_is_poison(got[i]);
    }
    return diff->wrong == 0;
}

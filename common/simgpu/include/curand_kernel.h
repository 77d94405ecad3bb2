/* curand_kernel.h — random numbers for device code: cuRAND's device API for the generators XORWOW (curandState),
 * Philox4x32-10, MRG32k3a and Sobol (simgpu_sobol.h), with cuRAND's seeds, sequences and values: the whole numbers and
 * the uniform ones are the same bits as on a GPU, the others differ from it by the last digits of sine and logarithm.
 *
 * XORWOW: Marsaglia, "Xorshift RNGs", 2003. Philox: Salmon, Moraes, Dror, Shaw, "Parallel Random Numbers: As Easy as 1,
 * 2, 3", 2011. MRG32k3a: L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number
 * Generators", 1999. Distributions: cuRAND Library, "Device API". MTGP32 is missing. */
#ifndef SIMGPU_CURAND_KERNEL_H
#define SIMGPU_CURAND_KERNEL_H

#include <cuda_runtime.h>
#include <curand.h>

typedef struct curandStateXORWOW {
    unsigned d, v[5]; /* the counter that is added to each number, and the state of the shifts */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra; /* the second of a pair of normal numbers, if the flag is set */
    double boxmuller_extra_double;
} curandStateXORWOW_t;
typedef curandStateXORWOW_t curandState_t, curandState;

typedef struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* four numbers for each count */
    uint2 key;
    unsigned STATE; /* how many of them are used */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
} curandStatePhilox4_32_10_t;

typedef struct curandStateMRG32k3a {
    unsigned s1[3], s2[3]; /* the last three numbers of each of the two recursions */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
} curandStateMRG32k3a_t;

#if defined(__CUDA__)
#define SIMGPU_DEVICE      static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#define SIMGPU_HOST_DEVICE SIMGPU_DEVICE __host__

/* --- XORWOW ------------------------------------------------------------------------------------------------------- */

SIMGPU_DEVICE unsigned curand(curandStateXORWOW_t *s) {
    unsigned t = s->v[0] ^ (s->v[0] >> 2);
    s->v[0] = s->v[1], s->v[1] = s->v[2], s->v[2] = s->v[3], s->v[3] = s->v[4];
    s->v[4] = (s->v[4] ^ (s->v[4] << 4)) ^ (t ^ (t << 1));
    s->d += 362437;
    return s->v[4] + s->d;
}

/* Word `k` of the state v after n * 2^power steps; built into SimGPU (exec/xorwow.c). */
extern "C" __device__ unsigned __simgpu_xorwow(unsigned v0, unsigned v1, unsigned v2, unsigned v3, unsigned v4,
                                               unsigned long long n, unsigned power, unsigned k) __attribute__((const));
SIMGPU_DEVICE void simgpuXorwowSkip(curandStateXORWOW_t *s, unsigned long long n, unsigned power) {
    unsigned to[5];
    if (n == 0) return;
    for (unsigned k = 0; k < 5; k++) to[k] = __simgpu_xorwow(s->v[0], s->v[1], s->v[2], s->v[3], s->v[4], n, power, k);
    for (int k = 0; k < 5; k++) s->v[k] = to[k];
}
SIMGPU_DEVICE void skipahead(unsigned long long n, curandStateXORWOW_t *s) {
    simgpuXorwowSkip(s, n, 0);
    s->d += 362437 * (unsigned)n;
}
/* A sequence has 2^67 numbers, after which d is where it was. */
SIMGPU_DEVICE void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *s) { simgpuXorwowSkip(s, n, 67); }
SIMGPU_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateXORWOW_t *s) {
    unsigned s0 = (unsigned)seed ^ 0xaad26b49u, s1 = (unsigned)(seed >> 32) ^ 0xf7dcefddu;
    unsigned t0 = 1099087573u * s0, t1 = 2591861531u * s1;
    *s = curandStateXORWOW_t();
    s->d = 6615241 + t1 + t0;
    s->v[0] = 123456789u + t0;
    s->v[1] = 362436069u ^ t0;
    s->v[2] = 521288629u + t1;
    s->v[3] = 88675123u ^ t1;
    s->v[4] = 5783321u + t0;
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

/* --- Philox ---------------------------------------------------------------------------------------------------------
 */

SIMGPU_DEVICE uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xD2511F53u, c.x), high1 = __umulhi(0xCD9E8D57u, c.z);
        c = make_uint4(high1 ^ c.y ^ key.x, 0xCD9E8D57u * c.z, high0 ^ c.w ^ key.y, 0xD2511F53u * c.x);
        key.x += 0x9E3779B9u, key.y += 0xBB67AE85u;
    }
    return c;
}
SIMGPU_DEVICE void simgpuAdd64(unsigned *low, unsigned *high, unsigned long long n, unsigned *carry_to_low,
                               unsigned *carry_to_high) {
    unsigned long long sum = ((unsigned long long)*high << 32 | *low) + n;
    *low = (unsigned)sum, *high = (unsigned)(sum >> 32);
    if (sum < n && carry_to_low && ++*carry_to_low == 0) ++*carry_to_high;
}
SIMGPU_DEVICE void simgpuPhiloxCount(curandStatePhilox4_32_10_t *s, unsigned long long n) {
    simgpuAdd64(&s->ctr.x, &s->ctr.y, n, &s->ctr.z, &s->ctr.w);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
SIMGPU_DEVICE void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    s->STATE += (unsigned)(n & 3);
    simgpuPhiloxCount(s, n / 4 + (s->STATE > 3));
    s->STATE &= 3;
}
SIMGPU_DEVICE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *s) {
    simgpuAdd64(&s->ctr.z, &s->ctr.w, n, 0, 0);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
SIMGPU_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStatePhilox4_32_10_t *s) {
    *s = curandStatePhilox4_32_10_t();
    s->key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}
SIMGPU_DEVICE unsigned curand(curandStatePhilox4_32_10_t *s) {
    unsigned k = s->STATE++;
    unsigned v = k == 0 ? s->output.x : k == 1 ? s->output.y : k == 2 ? s->output.z : s->output.w;
    if (s->STATE == 4) {
        simgpuPhiloxCount(s, 1);
        s->STATE = 0;
    }
    return v;
}
SIMGPU_DEVICE uint4 curand4(curandStatePhilox4_32_10_t *s) {
    uint4 v;
    v.x = curand(s), v.y = curand(s), v.z = curand(s), v.w = curand(s);
    return v;
}

/* --- MRG32k3a ----------------------------------------------------------------------------------------------------- */

#define SIMGPU_MRG_1 4294967087u
#define SIMGPU_MRG_2 4294944443u

/* A number from 1 to SIMGPU_MRG_1. */
SIMGPU_HOST_DEVICE double curand_MRG32k3a(curandStateMRG32k3a_t *s) {
    typedef unsigned long long wide;
    wide a = (1403580ull * s->s1[1] + 810728ull * (SIMGPU_MRG_1 - s->s1[0])) % SIMGPU_MRG_1;
    wide b = (527612ull * s->s2[2] + 1370589ull * (SIMGPU_MRG_2 - s->s2[0])) % SIMGPU_MRG_2;
    s->s1[0] = s->s1[1], s->s1[1] = s->s1[2], s->s1[2] = (unsigned)a;
    s->s2[0] = s->s2[1], s->s2[1] = s->s2[2], s->s2[2] = (unsigned)b;
    return (double)(a > b ? a - b : a + SIMGPU_MRG_1 - b);
}
SIMGPU_HOST_DEVICE unsigned curand(curandStateMRG32k3a_t *s) { return (unsigned)(curand_MRG32k3a(s) * 1.000000048662); }

/* s becomes m^n s, all modulo `modulus`. Changes m. */
static __host__ __device__ __attribute__((noinline, nodebug, unused)) void
simgpuMrgSkip(unsigned *s, unsigned (*m)[3], unsigned modulus, unsigned long long n) {
    typedef unsigned long long wide;
    for (; n; n >>= 1) {
        unsigned to[3], squared[3][3];
        for (int i = 0; n & 1 && i < 3; i++) {
            wide sum = 0;
            for (int k = 0; k < 3; k++) sum += (wide)m[i][k] * s[k] % modulus;
            to[i] = (unsigned)(sum % modulus);
        }
        for (int i = 0; n & 1 && i < 3; i++) s[i] = to[i];
        if (n == 1) break;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                wide sum = 0;
                for (int k = 0; k < 3; k++) sum += (wide)m[i][k] * m[k][j] % modulus;
                squared[i][j] = (unsigned)(sum % modulus);
            }
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) m[i][j] = squared[i][j];
    }
}
/* The matrices of one step, of 2^76 (a subsequence) and of 2^127 (a sequence): the step's, squared so often. */
SIMGPU_HOST_DEVICE void skipahead(unsigned long long n, curandStateMRG32k3a_t *s) {
    unsigned one[3][3] = {{0, 1, 0}, {0, 0, 1}, {SIMGPU_MRG_1 - 810728, 1403580, 0}};
    unsigned two[3][3] = {{0, 1, 0}, {0, 0, 1}, {SIMGPU_MRG_2 - 1370589, 0, 527612}};
    simgpuMrgSkip(s->s1, one, SIMGPU_MRG_1, n);
    simgpuMrgSkip(s->s2, two, SIMGPU_MRG_2, n);
}
SIMGPU_HOST_DEVICE void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *s) {
    unsigned one[3][3] = {
        {82758667, 1871391091, 4127413238}, {3672831523, 69195019, 1871391091}, {3672091415, 3528743235, 69195019}};
    unsigned two[3][3] = {{1511326704, 3759209742, 1610795712},
                          {4292754251, 1511326704, 3889917532},
                          {3859662829, 4292754251, 3708466080}};
    simgpuMrgSkip(s->s1, one, SIMGPU_MRG_1, n);
    simgpuMrgSkip(s->s2, two, SIMGPU_MRG_2, n);
}
SIMGPU_HOST_DEVICE void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *s) {
    unsigned one[3][3] = {
        {2427906178, 3580155704, 949770784}, {226153695, 1230515664, 3580155704}, {1988835001, 986791581, 1230515664}};
    unsigned two[3][3] = {
        {1464411153, 277697599, 1610723613}, {32183930, 1464411153, 1022607788}, {2824425944, 32183930, 2093834863}};
    simgpuMrgSkip(s->s1, one, SIMGPU_MRG_1, n);
    simgpuMrgSkip(s->s2, two, SIMGPU_MRG_2, n);
}
SIMGPU_HOST_DEVICE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                    curandStateMRG32k3a_t *s) {
    unsigned long long of[2] = {(unsigned)seed ^ 0x55555555u, (unsigned)(seed >> 32) ^ 0xAAAAAAAAu};
    *s = curandStateMRG32k3a_t();
    for (int i = 0; i < 3; i++) {
        s->s1[i] = seed ? (unsigned)(of[i % 2] * 12345 % SIMGPU_MRG_1) : 12345;
        s->s2[i] = seed ? (unsigned)(of[1 - i % 2] * 12345 % SIMGPU_MRG_2) : 12345;
    }
    skipahead_subsequence(subsequence, s);
    skipahead(offset, s);
}

/* --- distributions --------------------------------------------------------------------------------------------------
 */

/* Uniform: above 0, up to and with 1. */
SIMGPU_DEVICE float simgpuUniform(unsigned x) { return __fmaf_rn((float)x, 0x1p-32f, 0x1p-33f); }
SIMGPU_DEVICE double simgpuUniformDouble(unsigned x, unsigned y) {
    unsigned long long z = (unsigned long long)x ^ ((unsigned long long)y << 21);
    return __fma_rn((double)z, 0x1p-53, 0x1p-54);
}
/* Two normal numbers of two uniform ones (Box and Muller, 1958): the sine, then the cosine. */
SIMGPU_DEVICE float2 simgpuNormal(unsigned x, unsigned y) {
    const float turn = 0x1p-32f * 6.2831855f;
    float u = simgpuUniform(x), v = __fmaf_rn((float)y, turn, turn / 2);
    float length = sqrtf(-2.0f * logf(u));
    return make_float2(__sinf(v) * length, __cosf(v) * length);
}
SIMGPU_DEVICE double2 simgpuNormalDouble(unsigned x0, unsigned x1, unsigned y0, unsigned y1) {
    double length = sqrt(-2.0 * log(simgpuUniformDouble(x0, x1))), v = 2 * simgpuUniformDouble(y0, y1);
    return make_double2(sinpi(v) * length, cospi(v) * length);
}
SIMGPU_DEVICE float curand_uniform(curandStateXORWOW_t *s) { return simgpuUniform(curand(s)); }
SIMGPU_DEVICE float curand_uniform(curandStatePhilox4_32_10_t *s) { return simgpuUniform(curand(s)); }
SIMGPU_DEVICE double curand_uniform_double(curandStateXORWOW_t *s) {
    unsigned x = curand(s), y = curand(s);
    return simgpuUniformDouble(x, y);
}
/* cuRAND makes a single one of one number. */
SIMGPU_DEVICE double curand_uniform_double(curandStatePhilox4_32_10_t *s) {
    return __fma_rn((double)curand(s), 0x1p-32, 0x1p-32);
}
SIMGPU_DEVICE float curand_uniform(curandStateMRG32k3a_t *s) {
    return (float)(curand_MRG32k3a(s) * 2.3283065498378288e-10);
}
SIMGPU_DEVICE double curand_uniform_double(curandStateMRG32k3a_t *s) {
    return curand_MRG32k3a(s) * 2.3283065498378288e-10;
}
SIMGPU_DEVICE float4 curand_uniform4(curandStatePhilox4_32_10_t *s) {
    uint4 v = curand4(s);
    return make_float4(simgpuUniform(v.x), simgpuUniform(v.y), simgpuUniform(v.z), simgpuUniform(v.w));
}
SIMGPU_DEVICE double2 curand_uniform2_double(curandStatePhilox4_32_10_t *s) {
    uint4 v = curand4(s);
    return make_double2(simgpuUniformDouble(v.x, v.y), simgpuUniformDouble(v.z, v.w));
}

SIMGPU_DEVICE double4 curand_uniform4_double(curandStatePhilox4_32_10_t *s) {
    uint4 a = curand4(s), b = curand4(s);
    return make_double4(simgpuUniformDouble(a.x, a.y), simgpuUniformDouble(a.z, a.w), simgpuUniformDouble(b.x, b.y),
                        simgpuUniformDouble(b.z, b.w));
}

SIMGPU_DEVICE float2 curand_normal2(curandStateMRG32k3a_t *s) {
    float u = curand_uniform(s), v = curand_uniform(s) * 6.2831855f, length = sqrtf(-2.0f * logf(u));
    return make_float2(__sinf(v) * length, __cosf(v) * length);
}
SIMGPU_DEVICE double2 curand_normal2_double(curandStateMRG32k3a_t *s) {
    double u = curand_uniform_double(s), v = curand_uniform_double(s) * 2, length = sqrt(-2.0 * log(u));
    return make_double2(sinpi(v) * length, cospi(v) * length);
}
SIMGPU_DEVICE float2 curand_normal2(curandStateXORWOW_t *s) {
    unsigned x = curand(s), y = curand(s);
    return simgpuNormal(x, y);
}
SIMGPU_DEVICE float2 curand_normal2(curandStatePhilox4_32_10_t *s) {
    unsigned x = curand(s), y = curand(s);
    return simgpuNormal(x, y);
}
SIMGPU_DEVICE float4 curand_normal4(curandStatePhilox4_32_10_t *s) {
    uint4 v = curand4(s);
    float2 a = simgpuNormal(v.x, v.y), b = simgpuNormal(v.z, v.w);
    return make_float4(a.x, a.y, b.x, b.y);
}
SIMGPU_DEVICE double2 curand_normal2_double(curandStateXORWOW_t *s) {
    unsigned x0 = curand(s), x1 = curand(s), y0 = curand(s), y1 = curand(s);
    return simgpuNormalDouble(x0, x1, y0, y1);
}
SIMGPU_DEVICE double2 curand_normal2_double(curandStatePhilox4_32_10_t *s) {
    uint4 v = curand4(s);
    return simgpuNormalDouble(v.x, v.y, v.z, v.w);
}
SIMGPU_DEVICE double4 curand_normal4_double(curandStatePhilox4_32_10_t *s) {
    double2 a = curand_normal2_double(s), b = curand_normal2_double(s);
    return make_double4(a.x, a.y, b.x, b.y);
}
/* One at a time: the second of a pair waits in the state. */
template <class State> SIMGPU_DEVICE float curand_normal(State *s) {
    if (!(s->boxmuller_flag = !s->boxmuller_flag)) return s->boxmuller_extra;
    float2 v = curand_normal2(s);
    s->boxmuller_extra = v.y;
    return v.x;
}
template <class State> SIMGPU_DEVICE double curand_normal_double(State *s) {
    if (!(s->boxmuller_flag_double = !s->boxmuller_flag_double)) return s->boxmuller_extra_double;
    double2 v = curand_normal2_double(s);
    s->boxmuller_extra_double = v.y;
    return v.x;
}
template <class State> SIMGPU_DEVICE float curand_log_normal(State *s, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(s));
}
template <class State> SIMGPU_DEVICE double curand_log_normal_double(State *s, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(s));
}
template <class State> SIMGPU_DEVICE float2 curand_log_normal2(State *s, float mean, float deviation) {
    float2 v = curand_normal2(s);
    return make_float2(expf(mean + deviation * v.x), expf(mean + deviation * v.y));
}

template <class State> SIMGPU_DEVICE double2 curand_log_normal2_double(State *s, double mean, double deviation) {
    double2 v = curand_normal2_double(s);
    return make_double2(exp(mean + deviation * v.x), exp(mean + deviation * v.y));
}
SIMGPU_DEVICE float4 curand_log_normal4(curandStatePhilox4_32_10_t *s, float mean, float deviation) {
    float2 a = curand_log_normal2(s, mean, deviation), b = curand_log_normal2(s, mean, deviation);
    return make_float4(a.x, a.y, b.x, b.y);
}

/* Poisson: Knuth's product of uniform numbers; for a large mean Hörmann's transformed rejection (1993, "PTRS"); for a
 * very large one a normal number. cuRAND's values differ from 64 on, not their distribution. */
template <class State> SIMGPU_DEVICE unsigned curand_poisson(State *s, double mean) {
    if (mean < 64) {
        float least = expf((float)-mean), product = 1;
        for (unsigned k = 0;; k++)
            if ((product *= curand_uniform(s)) <= least) return k;
    }
    if (mean > 4000) return (unsigned)(sqrt(mean) * curand_normal_double(s) + mean + 0.5);
    double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b, r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = (double)curand_uniform(s) - 0.5, v = (double)curand_uniform(s), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + mean + 0.43);
        if (us >= 0.07 && v <= r) return (unsigned)k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        double bound = log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b));
        if (bound <= k * log(mean) - mean - lgamma(k + 1)) return (unsigned)k;
    }
}

#include "simgpu_sobol.h"

#undef SIMGPU_HOST_DEVICE
#undef SIMGPU_DEVICE
#undef SIMGPU_MRG_1
#undef SIMGPU_MRG_2
#endif
#endif

/* simgpu_sobol.h — the Sobol generators of curand_kernel.h, which includes this: points of 32 and of 64 bits, plain and
 * scrambled. A state has the direction numbers of one dimension, from curandGetDirectionVectors32 or a like function of
 * the host (curand.h). Each number is made of one point: a normal one by the inverse of its distribution. */
#ifndef SIMGPU_SOBOL_H
#define SIMGPU_SOBOL_H

/* The middle of a word's share of 0 to 1. */
SIMGPU_DEVICE float simgpuOfWord(unsigned x) { return simgpuUniform(x); }
SIMGPU_DEVICE float simgpuOfWord(unsigned long long x) { return simgpuUniform((unsigned)(x >> 32)); }
SIMGPU_DEVICE double simgpuOfWordDouble(unsigned x) { return __fma_rn((double)x, 0x1p-32, 0x1p-33); }
SIMGPU_DEVICE double simgpuOfWordDouble(unsigned long long x) { return __fma_rn((double)(x >> 11), 0x1p-53, 0x1p-54); }
/* cuRAND's uniform doubles of 32 bits are the end of the share. */
SIMGPU_DEVICE double simgpuSobolDouble(unsigned x) { return __fma_rn((double)x, 0x1p-32, 0x1p-32); }
SIMGPU_DEVICE double simgpuSobolDouble(unsigned long long x) { return simgpuOfWordDouble(x); }

/* The least k whose share of Poisson's distribution up to k reaches u: by adding shares, or, for a large mean, by the
 * expansion of Cornish and Fisher (1937). */
SIMGPU_DEVICE unsigned simgpuPoissonOf(double u, double mean) {
    if (mean < 64) {
        double share = exp(-mean), sum = share;
        unsigned k = 0;
        while (sum < u && share > 0) sum += share *= mean / ++k;
        return k;
    }
    double z = normcdfinv(u), root = sqrt(mean);
    double k = mean + root * z + (2 + z * z) / 6 - (2 * z + z * z * z) / (72 * root);
    return k > 0 ? (unsigned)k : 0;
}

/* The number's count, its point, and the shift that its first point has. */
template <class Word> struct simgpuSobol { Word i, x, c, direction_vectors[8 * sizeof(Word)]; };
template <class Word> SIMGPU_DEVICE void simgpuSobolSkip(simgpuSobol<Word> *s, Word n) {
    Word gray = s->i += n;
    gray ^= gray >> 1, s->x = s->c;
    for (int k = 0; gray; k++, gray >>= 1)
        if (gray & 1) s->x ^= s->direction_vectors[k];
}
template <class Word> SIMGPU_DEVICE void simgpuSobolInit(simgpuSobol<Word> *s, const Word *v, Word shift, Word offset) {
    for (unsigned k = 0; k < 8 * sizeof(Word); k++) s->direction_vectors[k] = v[k];
    s->i = 0, s->c = shift;
    simgpuSobolSkip(s, offset);
}
/* This point. The next one differs by the direction number of the lowest bit that is 0 in the count. */
template <class Word> SIMGPU_DEVICE Word simgpuSobolNext(simgpuSobol<Word> *s) {
    Word x = s->x;
    int bit = __ffsll((long long)~s->i) - 1;
    if (bit >= 0 && bit < 8 * (int)sizeof(Word)) s->x ^= s->direction_vectors[bit];
    s->i++;
    return x;
}

#define SIMGPU_SOBOL(State, Word)                                                                                      \
    typedef struct State : simgpuSobol<Word> {                                                                         \
    } State##_t;                                                                                                       \
    SIMGPU_DEVICE void skipahead(Word n, State##_t *s) { simgpuSobolSkip<Word>(s, n); }                                \
    SIMGPU_DEVICE Word curand(State##_t *s) { return simgpuSobolNext<Word>(s); }                                       \
    SIMGPU_DEVICE float curand_uniform(State##_t *s) { return simgpuOfWord(simgpuSobolNext<Word>(s)); }                \
    SIMGPU_DEVICE double curand_uniform_double(State##_t *s) { return simgpuSobolDouble(simgpuSobolNext<Word>(s)); }   \
    SIMGPU_DEVICE float curand_normal(State##_t *s) { return normcdfinvf(simgpuOfWord(simgpuSobolNext<Word>(s))); }    \
    SIMGPU_DEVICE double curand_normal_double(State##_t *s) {                                                          \
        return normcdfinv(simgpuOfWordDouble(simgpuSobolNext<Word>(s)));                                               \
    }                                                                                                                  \
    SIMGPU_DEVICE float curand_log_normal(State##_t *s, float mean, float deviation) {                                 \
        return expf(mean + deviation * curand_normal(s));                                                              \
    }                                                                                                                  \
    SIMGPU_DEVICE double curand_log_normal_double(State##_t *s, double mean, double deviation) {                       \
        return exp(mean + deviation * curand_normal_double(s));                                                        \
    }                                                                                                                  \
    SIMGPU_DEVICE unsigned curand_poisson(State##_t *s, double mean) {                                                 \
        return simgpuPoissonOf(simgpuOfWordDouble(simgpuSobolNext<Word>(s)), mean);                                    \
    }
SIMGPU_SOBOL(curandStateSobol32, unsigned)
SIMGPU_SOBOL(curandStateScrambledSobol32, unsigned)
SIMGPU_SOBOL(curandStateSobol64, unsigned long long)
SIMGPU_SOBOL(curandStateScrambledSobol64, unsigned long long)
#undef SIMGPU_SOBOL

SIMGPU_DEVICE void curand_init(curandDirectionVectors32_t vectors, unsigned offset, curandStateSobol32_t *s) {
    simgpuSobolInit<unsigned>(s, vectors, 0, offset);
}
SIMGPU_DEVICE void curand_init(curandDirectionVectors32_t vectors, unsigned shift, unsigned offset,
                               curandStateScrambledSobol32_t *s) {
    simgpuSobolInit<unsigned>(s, vectors, shift, offset);
}
SIMGPU_DEVICE void curand_init(curandDirectionVectors64_t vectors, unsigned long long offset, curandStateSobol64_t *s) {
    simgpuSobolInit<unsigned long long>(s, vectors, 0, offset);
}
SIMGPU_DEVICE void curand_init(curandDirectionVectors64_t vectors, unsigned long long shift, unsigned long long offset,
                               curandStateScrambledSobol64_t *s) {
    simgpuSobolInit<unsigned long long>(s, vectors, shift, offset);
}

#endif

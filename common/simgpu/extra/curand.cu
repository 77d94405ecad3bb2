// curand.cu — libcurand for programs that call it: what curand.h declares, as plain kernels of ours, on top of the
// device's generators (curand_kernel.h). simcc compiles it.
//
// XORWOW, MRG32k3a: 4096 (81920) states, each a sequence of its own, 2^67 (2^76) numbers from the last. The items of a
// call go round the states: item i comes from state (next + i) mod 4096, and the next call goes on behind the last. An
// item is a number, or a pair of normal ones.
//
// Philox: 65536 states, four numbers of each in turn. A state is a count of numbers used, since any number of Philox
// can be computed at once.
//
// MT19937: the one sequence of Matsumoto and Nishimura (1998), which one block makes. Sobol: points of some dimensions,
// first all of the first dimension; any of them can be computed at once. Of both a number is made of one word, so a
// normal one is by the inverse of its distribution.
#include <curand.h>
#include <curand_kernel.h>
#include <simgpu.h>

#include <cstdlib>

#include "refused.cuh"
#include "sobol.cuh"

constexpr unsigned XORWOW = 4096, MRG = 81920, PHILOX = 65536; // states
constexpr unsigned BLOCK = 256, MT = 624;

struct curandGenerator_st {
    curandRngType_t type;
    bool host;
    cudaStream_t stream;
    unsigned long long seed, offset; // what the states are made of
    unsigned long long next; // the next item since the seed's first; of Philox and MT19937 a number, of Sobol a point
    unsigned dimensions;     // of Sobol
    void *states;            // of the device; NULL: to be made
};

// --- kernels ---------------------------------------------------------------------------------------------------------

template <class State> struct states {
    enum { N = XORWOW };
};
template <> struct states<curandStateMRG32k3a_t> {
    enum { N = MRG };
};

// State s as after `offset` numbers that went round all states.
__global__ void seed_xorwow(curandState *all, unsigned long long seed, unsigned long long offset) {
    unsigned s = blockIdx.x * BLOCK + threadIdx.x;
    curand_init(seed, s, (offset + XORWOW - 1 - s) / XORWOW, &all[s]);
}
__global__ void seed_philox(unsigned long long *used, unsigned long long offset) {
    unsigned s = blockIdx.x * BLOCK + threadIdx.x;
    used[s] = (offset / 4 + PHILOX - 1 - s) / PHILOX * 4;
}

template <class State, class Make>
__global__ void with_states(State *all, unsigned next, typename Make::number *out, size_t items, Make make) {
    size_t first = blockIdx.x * BLOCK + threadIdx.x;
    if (first >= items) return;
    unsigned s = (next + (unsigned)first) % states<State>::N;
    State state = all[s];
    for (size_t i = first; i < items; i += states<State>::N) make.item(&state, out + i * Make::WIDTH);
    all[s] = state;
}

// Numbers next ... next + n - 1; the four of a state that are used in part are made again by the next call.
template <class Make>
__global__ void with_philox(unsigned long long *used, unsigned long long seed, unsigned long long next,
                            typename Make::number *out, size_t n, Make make) {
    unsigned long long group = next / 4 + blockIdx.x * BLOCK + threadIdx.x, last = (next + n - 1) / 4;
    if (group > last) return;
    unsigned s = (unsigned)(group % PHILOX);
    curandStatePhilox4_32_10_t state;
    curand_init(seed, s, used[s], &state);
    unsigned long long took = 0;
    for (; group <= last; group += PHILOX) {
        typename Make::number four[4];
        make.four(&state, four);
        for (int k = 0; k < 4; k++)
            if (group * 4 + k >= next && group * 4 + k < next + n) out[group * 4 + k - next] = four[k];
        if (group * 4 + 3 < next + n) took += Make::DRAWS;
    }
    used[s] += took;
}

// The next 624 words, in three parts, since a word depends on the one 227 before it.
static __device__ void mt_advance(unsigned *words) {
    for (unsigned first = 0; first < MT; first += 227) {
        unsigned i = first + threadIdx.x, word = 0;
        bool mine = threadIdx.x < 227 && i < MT;
        if (mine) {
            unsigned y = (words[i] & 0x80000000u) | (words[(i + 1) % MT] & 0x7fffffffu);
            word = words[(i + 397) % MT] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        __syncthreads();
        if (mine) words[i] = word;
        __syncthreads();
    }
}
static __device__ unsigned mt_tempered(unsigned y) {
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    return y ^ y >> 18;
}
// One block. `used` of the state's words have been numbers.
template <class Make>
__global__ void with_mt19937(unsigned *state, unsigned used, typename Make::number *out, size_t n, Make make) {
    __shared__ unsigned words[MT];
    for (unsigned i = threadIdx.x; i < MT; i += BLOCK) words[i] = state[i];
    __syncthreads();
    for (size_t done = 0; done < n;) {
        if (used == MT) {
            mt_advance(words);
            used = 0;
        }
        unsigned here = n - done < MT - used ? (unsigned)(n - done) : MT - used;
        for (unsigned i = threadIdx.x; i < here; i += BLOCK) out[done + i] = make.of(mt_tempered(words[used + i]));
        done += here, used += here;
        __syncthreads();
    }
    for (unsigned i = threadIdx.x; i < MT; i += BLOCK) state[i] = words[i];
}

// Points next ... next + points - 1 of each dimension. A dimension's numbers lie behind each other, its shift is last.
template <class Word, class Make>
__global__ void with_sobol(const Word *numbers, unsigned long long next, typename Make::number *out, size_t points,
                           unsigned dimensions, Make make) {
    const unsigned bits = 8 * sizeof(Word);
    size_t n = points * dimensions;
    for (size_t i = blockIdx.x * (size_t)BLOCK + threadIdx.x; i < n; i += gridDim.x * (size_t)BLOCK) {
        const Word *v = numbers + i / points * (bits + 1);
        Word point = (Word)(next + i % points), gray = point ^ point >> 1, x = v[bits];
        for (unsigned k = 0; gray; k++, gray >>= 1)
            if (gray & 1) x ^= v[k];
        out[i] = make.of(x);
    }
}

// --- what is made: by XORWOW and MRG32k3a an item of WIDTH numbers, by Philox four numbers out of DRAWS
// ---------------

struct make_bits {
    typedef unsigned number;
    enum { WIDTH = 1, DRAWS = 4 };
    template <class S> __device__ void item(S *s, unsigned *out) const { *out = curand(s); }
    __device__ void four(curandStatePhilox4_32_10_t *s, unsigned *out) const {
        for (int k = 0; k < 4; k++) out[k] = curand(s);
    }
};
struct make_uniform {
    typedef float number;
    enum { WIDTH = 1, DRAWS = 4 };
    template <class S> __device__ void item(S *s, float *out) const { *out = curand_uniform(s); }
    __device__ void four(curandStatePhilox4_32_10_t *s, float *out) const {
        for (int k = 0; k < 4; k++) out[k] = curand_uniform(s);
    }
};
struct make_uniform_double {
    typedef double number;
    enum { WIDTH = 1, DRAWS = 8 };
    template <class S> __device__ void item(S *s, double *out) const { *out = curand_uniform_double(s); }
    __device__ void four(curandStatePhilox4_32_10_t *s, double *out) const {
        for (int k = 0; k < 4; k += 2) {
            double2 v = curand_uniform2_double(s);
            out[k] = v.x, out[k + 1] = v.y;
        }
    }
};
// LOG: the exponential of a normal number.
template <bool LOG> struct make_normal {
    typedef float number;
    enum { WIDTH = 2, DRAWS = 4 };
    float mean, stddev;
    __device__ float of(float v) const { return LOG ? expf(mean + stddev * v) : mean + stddev * v; }
    template <class S> __device__ void item(S *s, float *out) const {
        float2 v = curand_normal2(s);
        out[0] = of(v.x), out[1] = of(v.y);
    }
    __device__ void four(curandStatePhilox4_32_10_t *s, float *out) const { item(s, out), item(s, out + 2); }
};
template <bool LOG> struct make_normal_double {
    typedef double number;
    enum { WIDTH = 2, DRAWS = 8 };
    double mean, stddev;
    __device__ double of(double v) const { return LOG ? exp(mean + stddev * v) : mean + stddev * v; }
    template <class S> __device__ void item(S *s, double *out) const {
        double2 v = curand_normal2_double(s);
        out[0] = of(v.x), out[1] = of(v.y);
    }
    __device__ void four(curandStatePhilox4_32_10_t *s, double *out) const { item(s, out), item(s, out + 2); }
};
struct make_poisson {
    typedef unsigned number;
    enum { WIDTH = 1, DRAWS = 4 };
    double lambda;
    template <class S> __device__ void item(S *s, unsigned *out) const { *out = curand_poisson(s, lambda); }
    // Each of the four from numbers of its own: one of Philox's for each would not do.
    __device__ void four(curandStatePhilox4_32_10_t *s, unsigned *out) const {
        uint4 v = curand4(s);
        unsigned seeds[4] = {v.x, v.y, v.z, v.w};
        for (int k = 0; k < 4; k++) {
            curandStatePhilox4_32_10_t own;
            curand_init(seeds[k], 0, 0, &own);
            out[k] = curand_poisson(&own, lambda);
        }
    }
};

// --- what is made by MT19937 and Sobol: a number of a word
// ------------------------------------------------------------

struct word_bits {
    typedef unsigned number;
    __device__ unsigned of(unsigned x) const { return x; }
};
struct word_long_bits {
    typedef unsigned long long number;
    __device__ unsigned long long of(unsigned long long x) const { return x; }
};
struct word_uniform {
    typedef float number;
    template <class Word> __device__ float of(Word x) const { return simgpuOfWord(x); }
};
struct word_uniform_double {
    typedef double number;
    bool sobol; // whose numbers of 32 bits cuRAND makes otherwise
    template <class Word> __device__ double of(Word x) const {
        return sobol ? simgpuSobolDouble(x) : simgpuOfWordDouble(x);
    }
};
template <bool LOG> struct word_normal {
    typedef float number;
    float mean, stddev;
    template <class Word> __device__ float of(Word x) const {
        float v = mean + stddev * normcdfinvf(simgpuOfWord(x));
        return LOG ? expf(v) : v;
    }
};
template <bool LOG> struct word_normal_double {
    typedef double number;
    double mean, stddev;
    template <class Word> __device__ double of(Word x) const {
        double v = mean + stddev * normcdfinv(simgpuOfWordDouble(x));
        return LOG ? exp(v) : v;
    }
};
struct word_poisson {
    typedef unsigned number;
    double lambda;
    template <class Word> __device__ unsigned of(Word x) const {
        return simgpuPoissonOf(simgpuOfWordDouble(x), lambda);
    }
};

// --- generators ------------------------------------------------------------------------------------------------------

#define NEEDS(generator)                                                                                               \
    if (!(generator))                                                                                                  \
    return refused(CURAND_STATUS_NOT_INITIALIZED, "the generator is NULL; call curandCreateGenerator first")

static const struct {
    curandRngType_t type;
    const char *name;
} GENERATORS[] = {
#define GENERATOR(name)                                                                                                \
    { CURAND_RNG_##name, "CURAND_RNG_" #name }
    GENERATOR(PSEUDO_XORWOW),           GENERATOR(PSEUDO_MRG32K3A), GENERATOR(PSEUDO_MT19937),
    GENERATOR(PSEUDO_PHILOX4_32_10),    GENERATOR(PSEUDO_MTGP32),   GENERATOR(QUASI_SOBOL32),
    GENERATOR(QUASI_SCRAMBLED_SOBOL32), GENERATOR(QUASI_SOBOL64),   GENERATOR(QUASI_SCRAMBLED_SOBOL64),
#undef GENERATOR
};
static const char *name_of(curandRngType_t type) {
    for (auto &g : GENERATORS)
        if (g.type == type) return g.name;
    return NULL;
}

static bool quasi(curandGenerator_t g) { return g->type >= CURAND_RNG_QUASI_DEFAULT; }
static bool scrambled(curandGenerator_t g) {
    return g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || g->type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}
static bool wide(curandGenerator_t g) { return g->type >= CURAND_RNG_QUASI_SOBOL64; }

// Copies what the host has made for a generator's state.
static curandStatus_t made(curandGenerator_t g, const void *words, size_t bytes) {
    if (cudaMalloc(&g->states, bytes)) return CURAND_STATUS_ALLOCATION_FAILED;
    bool failed = cudaMemcpyAsync(g->states, words, bytes, cudaMemcpyHostToDevice, g->stream) != cudaSuccess;
    return failed ? CURAND_STATUS_INITIALIZATION_FAILED : CURAND_STATUS_SUCCESS;
}
static curandStatus_t make_mt19937(curandGenerator_t g) {
    unsigned words[MT];
    words[0] = (unsigned)g->seed;
    for (unsigned i = 1; i < MT; i++) words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + i;
    return made(g, words, sizeof words);
}
template <class Word> static curandStatus_t make_sobol(curandGenerator_t g) {
    const unsigned bits = 8 * sizeof(Word);
    size_t words = (size_t)g->dimensions * bits;
    Word *v = (Word *)malloc((words + g->dimensions) * sizeof(Word) + words * sizeof(Word)), *packed = v + words;
    if (!v) return CURAND_STATUS_ALLOCATION_FAILED;
    sobol_vectors(v, g->dimensions, scrambled(g));
    for (unsigned d = 0; d < g->dimensions; d++) {
        for (unsigned k = 0; k < bits; k++) packed[d * (bits + 1) + k] = v[d * bits + k];
        packed[d * (bits + 1) + bits] = scrambled(g) ? sobol_shift<Word>(d) : 0;
    }
    curandStatus_t status = made(g, packed, (words + g->dimensions) * sizeof(Word));
    free(v);
    return status;
}

// On the host, each state from the one before it: a kernel would compute a power of a matrix for each.
static curandStatus_t make_mrg(curandGenerator_t g) {
    curandStateMRG32k3a_t *all = (curandStateMRG32k3a_t *)malloc(MRG * sizeof *all), state;
    if (!all) return CURAND_STATUS_ALLOCATION_FAILED;
    curand_init(g->seed, 0, g->offset / MRG, &state);
    for (unsigned s = 0; s < MRG; s++) {
        all[s] = state;
        if (s < g->offset % MRG) curand(&all[s]);
        skipahead_subsequence(1, &state);
    }
    curandStatus_t status = made(g, all, MRG * sizeof *all);
    free(all);
    return status;
}

static curandStatus_t prepare(curandGenerator_t g) {
    if (g->states) return CURAND_STATUS_SUCCESS;
    g->next = g->offset;
    if (quasi(g)) return wide(g) ? make_sobol<unsigned long long>(g) : make_sobol<unsigned>(g);
    if (g->type == CURAND_RNG_PSEUDO_MT19937) return make_mt19937(g);
    if (g->type == CURAND_RNG_PSEUDO_MRG32K3A) return make_mrg(g);
    bool philox = g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    size_t bytes = philox ? PHILOX * sizeof(unsigned long long) : XORWOW * sizeof(curandState);
    if (cudaMalloc(&g->states, bytes)) return CURAND_STATUS_ALLOCATION_FAILED;
    if (philox)
        seed_philox<<<PHILOX / BLOCK, BLOCK, 0, g->stream>>>((unsigned long long *)g->states, g->offset);
    else
        seed_xorwow<<<XORWOW / BLOCK, BLOCK, 0, g->stream>>>((curandState *)g->states, g->seed, g->offset);
    return cudaPeekAtLastError() ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

// The states are made anew by the next call.
static void forget(curandGenerator_t g) {
    cudaFree(g->states);
    g->states = nullptr;
}

static unsigned blocks_of(size_t threads, unsigned most) {
    return (unsigned)((threads < most ? threads : most) + BLOCK - 1) / BLOCK;
}

// Memory of the device for n numbers, which go to the host's memory behind the kernel if the generator is the host's.
// Queues launch(memory).
template <class Number, class Launch>
static curandStatus_t launched(curandGenerator_t g, Number *out, size_t n, Launch launch) {
    Number *to = out;
    if (g->host && cudaMalloc(&to, n * sizeof *to)) return CURAND_STATUS_ALLOCATION_FAILED;
    launch(to);
    bool failed = cudaPeekAtLastError() != cudaSuccess;
    if (g->host) {
        failed |= cudaMemcpyAsync(out, to, n * sizeof *to, cudaMemcpyDeviceToHost, g->stream) != cudaSuccess;
        failed |= cudaStreamSynchronize(g->stream) != cudaSuccess;
        cudaFree(to);
    }
    return failed ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

template <class State, class Make>
static void go_round(curandGenerator_t g, typename Make::number *to, size_t items, Make make) {
    const unsigned n = states<State>::N;
    with_states<<<blocks_of(items, n), BLOCK, 0, g->stream>>>((State *)g->states, (unsigned)(g->next % n), to, items,
                                                              make);
}
// By XORWOW, MRG32k3a and Philox.
template <class Make>
static curandStatus_t by_items(curandGenerator_t g, typename Make::number *out, size_t n, Make make) {
    bool philox = g->type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    if (!philox && n % Make::WIDTH)
        return refused(CURAND_STATUS_LENGTH_NOT_MULTIPLE, "%s makes normal numbers in pairs, and %zu is odd",
                       name_of(g->type), n);
    curandStatus_t status = prepare(g);
    if (status || n == 0) return status;
    return launched(g, out, n, [&](typename Make::number *to) {
        if (philox) {
            size_t groups = (g->next + n - 1) / 4 - g->next / 4 + 1;
            with_philox<<<blocks_of(groups, PHILOX), BLOCK, 0, g->stream>>>((unsigned long long *)g->states, g->seed,
                                                                            g->next, to, n, make);
            g->next += n;
            return;
        }
        size_t items = n / Make::WIDTH;
        if (g->type == CURAND_RNG_PSEUDO_MRG32K3A)
            go_round<curandStateMRG32k3a_t>(g, to, items, make);
        else
            go_round<curandState>(g, to, items, make);
        g->next += items;
    });
}
// By MT19937 and Sobol numbers of 32 bits (Word unsigned), or by those of 64.
template <class Word, class Make>
static curandStatus_t by_words(curandGenerator_t g, typename Make::number *out, size_t n, Make make) {
    if (quasi(g) && n % g->dimensions)
        return refused(CURAND_STATUS_LENGTH_NOT_MULTIPLE,
                       "%zu numbers are not a whole number of points of %u dimensions", n, g->dimensions);
    curandStatus_t status = prepare(g);
    if (status || n == 0) return status;
    return launched(g, out, n, [&](typename Make::number *to) {
        if (quasi(g)) {
            size_t points = n / g->dimensions;
            with_sobol<Word><<<blocks_of(n, PHILOX), BLOCK, 0, g->stream>>>((const Word *)g->states, g->next, to,
                                                                            points, g->dimensions, make);
            g->next += points;
        } else if constexpr (sizeof(Word) == 4) {
            unsigned used = g->next ? (unsigned)((g->next - 1) % MT + 1) : MT;
            with_mt19937<<<1, BLOCK, 0, g->stream>>>((unsigned *)g->states, used, to, n, make);
            g->next += n;
        }
    });
}
template <class Make, class OfWord>
static curandStatus_t generate(curandGenerator_t g, typename Make::number *out, size_t n, Make make, OfWord of_word) {
    NEEDS(g);
    if (quasi(g) && wide(g)) return by_words<unsigned long long>(g, out, n, of_word);
    if (quasi(g) || g->type == CURAND_RNG_PSEUDO_MT19937) return by_words<unsigned>(g, out, n, of_word);
    return by_items(g, out, n, make);
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool host) {
    if (!generator) return refused(CURAND_STATUS_NOT_INITIALIZED, "the pointer to the generator is NULL");
    if (type == CURAND_RNG_PSEUDO_DEFAULT) type = CURAND_RNG_PSEUDO_XORWOW;
    if (type == CURAND_RNG_QUASI_DEFAULT) type = CURAND_RNG_QUASI_SOBOL32;
    if (!name_of(type)) return refused(CURAND_STATUS_TYPE_ERROR, "there is no generator %d", (int)type);
    if (type == CURAND_RNG_PSEUDO_MTGP32)
        return refused(CURAND_STATUS_TYPE_ERROR, "SimGPU has no %s; %s is a Mersenne Twister, too", name_of(type),
                       name_of(CURAND_RNG_PSEUDO_MT19937));
    curandGenerator_t g = (curandGenerator_t)calloc(1, sizeof *g);
    if (!g) return CURAND_STATUS_ALLOCATION_FAILED;
    g->type = type, g->host = host, g->dimensions = 1;
    *generator = g;
    return CURAND_STATUS_SUCCESS;
}

extern "C" {

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type) {
    return create(generator, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
    NEEDS(g);
    forget(g);
    free(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetVersion(int *version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
    if (!value || (unsigned)type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = type == MAJOR_VERSION ? CURAND_VER_MAJOR : type == MINOR_VERSION ? CURAND_VER_MINOR : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t stream) {
    NEEDS(g);
    g->stream = stream;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
    NEEDS(g);
    if (quasi(g)) return refused(CURAND_STATUS_TYPE_ERROR, "%s has no seed", name_of(g->type));
    g->seed = seed;
    bool may_skip = g->type != CURAND_RNG_PSEUDO_MT19937;
    if (g->states && may_skip) g->offset = g->next; // the position stays
    forget(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
    NEEDS(g);
    if (g->type == CURAND_RNG_PSEUDO_MT19937)
        return refused(CURAND_STATUS_TYPE_ERROR, "%s has no offset: it cannot skip ahead", name_of(g->type));
    g->offset = offset;
    forget(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order) {
    NEEDS(g);
    if (order == CURAND_ORDERING_PSEUDO_SEEDED && g->type == CURAND_RNG_PSEUDO_XORWOW)
        return refused(CURAND_STATUS_OUT_OF_RANGE, "SimGPU has no CURAND_ORDERING_PSEUDO_SEEDED; its states are made "
                                                   "quickly in any ordering");
    bool pseudo = order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                  order == CURAND_ORDERING_PSEUDO_LEGACY || order == CURAND_ORDERING_PSEUDO_DYNAMIC;
    bool known = quasi(g) ? order == CURAND_ORDERING_QUASI_DEFAULT : pseudo;
    if (known) return CURAND_STATUS_SUCCESS;
    return refused(CURAND_STATUS_OUT_OF_RANGE, "%s has no ordering %d", name_of(g->type), (int)order);
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t g, unsigned int dimensions) {
    NEEDS(g);
    if (!quasi(g)) return refused(CURAND_STATUS_TYPE_ERROR, "%s has no dimensions", name_of(g->type));
    if (!dimensions || dimensions > 20000)
        return refused(CURAND_STATUS_OUT_OF_RANGE, "%u dimensions; 1 to 20000 are possible", dimensions);
    if (dimensions > SOBOL_MOST)
        return refused(CURAND_STATUS_OUT_OF_RANGE, "SimGPU has direction numbers for %d dimensions, not for %u",
                       SOBOL_MOST, dimensions);
    g->dimensions = dimensions;
    if (g->states) g->offset = g->next; // the position stays
    forget(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t g) {
    NEEDS(g);
    return prepare(g);
}
curandStatus_t curandGetDirectionVectors32(curandDirectionVectors32_t *vectors[], curandDirectionVectorSet_t set) {
    if (!vectors) return refused(CURAND_STATUS_OUT_OF_RANGE, "the pointer to the vectors is NULL");
    if (set != CURAND_DIRECTION_VECTORS_32_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6)
        return refused(CURAND_STATUS_OUT_OF_RANGE, "%d is no set of direction vectors of 32 bits", (int)set);
    bool plain = set == CURAND_DIRECTION_VECTORS_32_JOEKUO6;
    *vectors = plain ? sobol_all<unsigned, false>() : sobol_all<unsigned, true>();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetDirectionVectors64(curandDirectionVectors64_t *vectors[], curandDirectionVectorSet_t set) {
    if (!vectors) return refused(CURAND_STATUS_OUT_OF_RANGE, "the pointer to the vectors is NULL");
    if (set != CURAND_DIRECTION_VECTORS_64_JOEKUO6 && set != CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6)
        return refused(CURAND_STATUS_OUT_OF_RANGE, "%d is no set of direction vectors of 64 bits", (int)set);
    bool plain = set == CURAND_DIRECTION_VECTORS_64_JOEKUO6;
    *vectors = plain ? sobol_all<unsigned long long, false>() : sobol_all<unsigned long long, true>();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants32(unsigned int **constants) {
    if (!constants) return refused(CURAND_STATUS_OUT_OF_RANGE, "the pointer to the constants is NULL");
    *constants = sobol_all_shifts<unsigned>();
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetScrambleConstants64(unsigned long long **constants) {
    if (!constants) return refused(CURAND_STATUS_OUT_OF_RANGE, "the pointer to the constants is NULL");
    *constants = sobol_all_shifts<unsigned long long>();
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned int *out, size_t n) {
    NEEDS(g);
    if (wide(g))
        return refused(CURAND_STATUS_TYPE_ERROR, "%s has numbers of 64 bits; call curandGenerateLongLong",
                       name_of(g->type));
    if (quasi(g) || g->type == CURAND_RNG_PSEUDO_MT19937) return by_words<unsigned>(g, out, n, word_bits());
    return by_items(g, out, n, make_bits());
}
curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long *out, size_t n) {
    NEEDS(g);
    if (!wide(g))
        return refused(CURAND_STATUS_TYPE_ERROR, "%s has numbers of 32 bits; call curandGenerate", name_of(g->type));
    return by_words<unsigned long long>(g, out, n, word_long_bits());
}
curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t n) {
    return generate(g, out, n, make_uniform(), word_uniform());
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *out, size_t n) {
    return generate(g, out, n, make_uniform_double(), word_uniform_double{g && quasi(g)});
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t n, float mean, float stddev) {
    return generate(g, out, n, make_normal<false>{mean, stddev}, word_normal<false>{mean, stddev});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double stddev) {
    return generate(g, out, n, make_normal_double<false>{mean, stddev}, word_normal_double<false>{mean, stddev});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *out, size_t n, float mean, float stddev) {
    return generate(g, out, n, make_normal<true>{mean, stddev}, word_normal<true>{mean, stddev});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double stddev) {
    return generate(g, out, n, make_normal_double<true>{mean, stddev}, word_normal_double<true>{mean, stddev});
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int *out, size_t n, double lambda) {
    if (!(lambda > 0 && lambda <= 400000))
        return refused(CURAND_STATUS_OUT_OF_RANGE, "lambda is %g; it must be above 0 and at most 400000", lambda);
    return generate(g, out, n, make_poisson{lambda}, word_poisson{lambda});
}
}

// curand.cu — libcurand for programs that call it: what curand.h declares, as plain kernels of ours, on top of the
// device's generators (curand_kernel.h). simcc compiles it.
//
// XORWOW: 4096 states, each a sequence of its own, 2^67 numbers from the last. The items of a call go round the states:
// item i comes from state (next + i) mod 4096, and the next call goes on behind the last. An item is a number, or a
// pair of normal ones.
//
// Philox: 65536 states, four numbers of each in turn. A state is a count of numbers used, since any number of Philox
// can be computed at once.
#include <curand.h>
#include <curand_kernel.h>

#include <cstdio>
#include <cstdlib>

constexpr unsigned XORWOW = 4096, PHILOX = 65536, BLOCK = 256;

struct curandGenerator_st {
    bool philox, host;
    cudaStream_t stream;
    unsigned long long seed, offset; // what the states are made of
    unsigned long long next;         // the next item since the seed's first, or for Philox the next number
    void *states;                    // of the device; NULL: to be made
};

// --- kernels ---------------------------------------------------------------------------------------------------------

// State s as after `offset` numbers that went round all states.
__global__ void seed_xorwow(curandState *states, unsigned long long seed, unsigned long long offset) {
    unsigned s = blockIdx.x * BLOCK + threadIdx.x;
    curand_init(seed, s, (offset + XORWOW - 1 - s) / XORWOW, &states[s]);
}
__global__ void seed_philox(unsigned long long *used, unsigned long long offset) {
    unsigned s = blockIdx.x * BLOCK + threadIdx.x;
    used[s] = (offset / 4 + PHILOX - 1 - s) / PHILOX * 4;
}

template <class Make>
__global__ void with_xorwow(curandState *states, unsigned next, typename Make::number *out, size_t items, Make make) {
    size_t first = blockIdx.x * BLOCK + threadIdx.x;
    if (first >= items) return;
    unsigned s = (next + (unsigned)first) % XORWOW;
    curandState state = states[s];
    for (size_t i = first; i < items; i += XORWOW) make.item(&state, out + i * Make::WIDTH);
    states[s] = state;
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

// --- what is made: by XORWOW an item of WIDTH numbers, by Philox four numbers out of DRAWS ---------------------------

struct make_bits {
    typedef unsigned number;
    enum { WIDTH = 1, DRAWS = 4 };
    __device__ void item(curandState *s, unsigned *out) const { *out = curand(s); }
    __device__ void four(curandStatePhilox4_32_10_t *s, unsigned *out) const {
        for (int k = 0; k < 4; k++) out[k] = curand(s);
    }
};
struct make_uniform {
    typedef float number;
    enum { WIDTH = 1, DRAWS = 4 };
    __device__ void item(curandState *s, float *out) const { *out = curand_uniform(s); }
    __device__ void four(curandStatePhilox4_32_10_t *s, float *out) const {
        for (int k = 0; k < 4; k++) out[k] = curand_uniform(s);
    }
};
struct make_uniform_double {
    typedef double number;
    enum { WIDTH = 1, DRAWS = 8 };
    __device__ void item(curandState *s, double *out) const { *out = curand_uniform_double(s); }
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
    __device__ void item(curandState *s, unsigned *out) const { *out = curand_poisson(s, lambda); }
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

// --- generators ------------------------------------------------------------------------------------------------------

#define NEEDS(generator)                                                                                               \
    if (!(generator)) return CURAND_STATUS_NOT_INITIALIZED

static curandStatus_t prepare(curandGenerator_t g) {
    if (g->states) return CURAND_STATUS_SUCCESS;
    size_t bytes = g->philox ? PHILOX * sizeof(unsigned long long) : XORWOW * sizeof(curandState);
    if (cudaMalloc(&g->states, bytes)) return CURAND_STATUS_ALLOCATION_FAILED;
    if (g->philox) {
        seed_philox<<<PHILOX / BLOCK, BLOCK, 0, g->stream>>>((unsigned long long *)g->states, g->offset);
    } else {
        seed_xorwow<<<XORWOW / BLOCK, BLOCK, 0, g->stream>>>((curandState *)g->states, g->seed, g->offset);
    }
    g->next = g->offset;
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

template <class Make>
static curandStatus_t generate(curandGenerator_t g, typename Make::number *out, size_t n, Make make) {
    NEEDS(g);
    if (!g->philox && n % Make::WIDTH) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    curandStatus_t status = prepare(g);
    if (status || n == 0) return status;
    typename Make::number *to = out;
    if (g->host && cudaMalloc(&to, n * sizeof *to)) return CURAND_STATUS_ALLOCATION_FAILED;
    if (g->philox) {
        size_t groups = (g->next + n - 1) / 4 - g->next / 4 + 1;
        with_philox<<<blocks_of(groups, PHILOX), BLOCK, 0, g->stream>>>((unsigned long long *)g->states, g->seed,
                                                                        g->next, to, n, make);
        g->next += n;
    } else {
        size_t items = n / Make::WIDTH;
        with_xorwow<<<blocks_of(items, XORWOW), BLOCK, 0, g->stream>>>((curandState *)g->states,
                                                                       (unsigned)(g->next % XORWOW), to, items, make);
        g->next += items;
    }
    bool failed = cudaPeekAtLastError() != cudaSuccess;
    if (g->host) {
        failed |= cudaMemcpyAsync(out, to, n * sizeof *to, cudaMemcpyDeviceToHost, g->stream) != cudaSuccess;
        failed |= cudaStreamSynchronize(g->stream) != cudaSuccess;
        cudaFree(to);
    }
    return failed ? CURAND_STATUS_LAUNCH_FAILURE : CURAND_STATUS_SUCCESS;
}

static curandStatus_t create(curandGenerator_t *generator, curandRngType_t type, bool host) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    bool philox = type == CURAND_RNG_PSEUDO_PHILOX4_32_10;
    if (!philox && type != CURAND_RNG_PSEUDO_DEFAULT && type != CURAND_RNG_PSEUDO_XORWOW) {
        fprintf(stderr,
                "curand: generator %d is missing here; CURAND_RNG_PSEUDO_DEFAULT (XORWOW) and "
                "CURAND_RNG_PSEUDO_PHILOX4_32_10 are not\n",
                (int)type);
        return CURAND_STATUS_TYPE_ERROR;
    }
    *generator = (curandGenerator_t)calloc(1, sizeof **generator);
    if (!*generator) return CURAND_STATUS_ALLOCATION_FAILED;
    (*generator)->philox = philox;
    (*generator)->host = host;
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
    g->seed = seed;
    if (g->states) g->offset = g->next; // the position stays
    forget(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
    NEEDS(g);
    g->offset = offset;
    forget(g);
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order) {
    NEEDS(g);
    bool known = order == CURAND_ORDERING_PSEUDO_BEST || order == CURAND_ORDERING_PSEUDO_DEFAULT ||
                 order == CURAND_ORDERING_PSEUDO_LEGACY || order == CURAND_ORDERING_PSEUDO_DYNAMIC;
    return known ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t g, unsigned int) {
    NEEDS(g);
    return CURAND_STATUS_TYPE_ERROR; // there is no quasirandom generator
}
curandStatus_t curandGenerateSeeds(curandGenerator_t g) {
    NEEDS(g);
    return prepare(g);
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned int *out, size_t n) {
    return generate(g, out, n, make_bits());
}
curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long *, size_t) {
    NEEDS(g);
    return CURAND_STATUS_TYPE_ERROR; // only 64-bit quasirandom generators have such numbers
}
curandStatus_t curandGenerateUniform(curandGenerator_t g, float *out, size_t n) {
    return generate(g, out, n, make_uniform());
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double *out, size_t n) {
    return generate(g, out, n, make_uniform_double());
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float *out, size_t n, float mean, float stddev) {
    return generate(g, out, n, make_normal<false>{mean, stddev});
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double stddev) {
    return generate(g, out, n, make_normal_double<false>{mean, stddev});
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float *out, size_t n, float mean, float stddev) {
    return generate(g, out, n, make_normal<true>{mean, stddev});
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double *out, size_t n, double mean, double stddev) {
    return generate(g, out, n, make_normal_double<true>{mean, stddev});
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int *out, size_t n, double lambda) {
    if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
    return generate(g, out, n, make_poisson{lambda});
}
}

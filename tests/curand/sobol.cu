// sobol.cu — Sobol sequences in kernels, with the vectors of the host's tables: the same numbers as the host API's, of
// some dimensions, from an offset, and behind a skip. MT19937 against its authors' rule, as the C++ library has it.
// Prints what differs, then "fine".
#include <curand_kernel.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

static int wrong;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) wrong++, printf("line %d: %s\n", __LINE__, #condition);                                      \
    } while (0)

enum { POINTS = 40, DIMENSIONS = 100, FROM = 1000001 };

template <class Word> struct drawn {
    Word bits;
    float uniform, normal;
    double uniform_double, normal_double;
    unsigned poisson, large;
};

static __device__ void start(unsigned *v, unsigned, unsigned long long offset, curandStateSobol32_t *s) {
    curand_init(v, (unsigned)offset, s);
}
static __device__ void start(unsigned *v, unsigned shift, unsigned long long offset, curandStateScrambledSobol32_t *s) {
    curand_init(v, shift, (unsigned)offset, s);
}
static __device__ void start(unsigned long long *v, unsigned long long, unsigned long long offset,
                             curandStateSobol64_t *s) {
    curand_init(v, offset, s);
}
static __device__ void start(unsigned long long *v, unsigned long long shift, unsigned long long offset,
                             curandStateScrambledSobol64_t *s) {
    curand_init(v, shift, offset, s);
}

// A thread makes the points of a dimension. Each distribution has a state of its own; that of the bits
// skips to every second point.
template <class State, class Word> __global__ void draw(Word *vectors, Word *shifts, drawn<Word> *out) {
    unsigned d = threadIdx.x;
    State s[7];
    for (int k = 0; k < 7; k++) start(vectors + d * 8 * sizeof(Word), shifts[d], FROM, &s[k]);
    for (unsigned i = 0; i < POINTS; i++) {
        drawn<Word> &v = out[d * POINTS + i];
        if (i % 2) {
            start(vectors + d * 8 * sizeof(Word), shifts[d], FROM, &s[0]);
            skipahead(Word(i), &s[0]);
        }
        v.bits = curand(&s[0]);
        v.uniform = curand_uniform(&s[1]), v.normal = curand_normal(&s[2]);
        v.uniform_double = curand_uniform_double(&s[3]), v.normal_double = curand_normal_double(&s[4]);
        v.poisson = curand_poisson(&s[5], 4), v.large = curand_poisson(&s[6], 5000);
    }
}

static curandStatus_t bits(curandGenerator_t g, unsigned *out, size_t n) { return curandGenerate(g, out, n); }
static curandStatus_t bits(curandGenerator_t g, unsigned long long *out, size_t n) {
    return curandGenerateLongLong(g, out, n);
}

template <class T, class Make> static std::vector<T> host_made(curandRngType_t type, Make make) {
    curandGenerator_t g;
    std::vector<T> v(POINTS * DIMENSIONS);
    CHECK(curandCreateGeneratorHost(&g, type) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, DIMENSIONS) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetGeneratorOffset(g, FROM) == CURAND_STATUS_SUCCESS);
    CHECK(make(g, v.data(), v.size()) == CURAND_STATUS_SUCCESS);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
    return v;
}

template <class State, class Word> static void compare(curandRngType_t type, const void *vectors, const Word *shifts) {
    const size_t bytes = DIMENSIONS * 8 * sizeof(Word) * sizeof(Word), n = POINTS * DIMENSIONS;
    Word *v, *c;
    drawn<Word> *out;
    cudaMalloc(&v, bytes), cudaMalloc(&c, DIMENSIONS * sizeof(Word));
    cudaMemcpy(v, vectors, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(c, shifts, DIMENSIONS * sizeof(Word), cudaMemcpyHostToDevice);
    cudaMallocManaged(&out, n * sizeof *out);
    draw<State><<<1, DIMENSIONS>>>(v, c, out);
    cudaDeviceSynchronize();
    auto b = host_made<Word>(type, [](curandGenerator_t g, Word *d, size_t n) { return bits(g, d, n); });
    auto u = host_made<float>(type, curandGenerateUniform);
    auto ud = host_made<double>(type, curandGenerateUniformDouble);
    auto normal = host_made<float>(
        type, [](curandGenerator_t g, float *d, size_t n) { return curandGenerateNormal(g, d, n, 0, 1); });
    auto nd = host_made<double>(
        type, [](curandGenerator_t g, double *d, size_t n) { return curandGenerateNormalDouble(g, d, n, 0, 1); });
    auto p = host_made<unsigned>(
        type, [](curandGenerator_t g, unsigned *d, size_t n) { return curandGeneratePoisson(g, d, n, 4); });
    auto large = host_made<unsigned>(
        type, [](curandGenerator_t g, unsigned *d, size_t n) { return curandGeneratePoisson(g, d, n, 5000); });
    for (size_t i = 0; i < n; i++) {
        CHECK(out[i].bits == b[i]);
        CHECK(out[i].uniform == u[i] && out[i].uniform_double == ud[i]);
        CHECK(out[i].normal == normal[i] && out[i].normal_double == nd[i]);
        CHECK(out[i].poisson == p[i] && out[i].large == large[i]);
    }
    cudaFree(v), cudaFree(c), cudaFree(out);
}

// Of the 4096 points from 0 on each dimension has one in each 4096th of the range, scrambled or not, and the squares of
// any two dimensions' points are filled evenly; Poisson's mean and variance are lambda.
static void even(curandRngType_t type) {
    const unsigned n = 4096, dimensions = 8;
    curandGenerator_t g;
    std::vector<double> u(n * dimensions);
    std::vector<unsigned> p(n * dimensions);
    CHECK(curandCreateGeneratorHost(&g, type) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, dimensions) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerateUniformDouble(g, u.data(), u.size()) == CURAND_STATUS_SUCCESS);
    const double least = type < CURAND_RNG_QUASI_SOBOL64 ? 0x1p-32 : 0; // the number of a word of 0
    for (unsigned d = 0; d < dimensions; d++) {
        std::vector<int> seen(n);
        for (unsigned i = 0; i < n; i++) seen[(unsigned)((u[d * n + i] - least) * n)]++;
        for (int count : seen) CHECK(count == 1);
        double product = 0;
        for (unsigned i = 0; i < n; i++) product += u[d * n + i] * u[(d + 1) % dimensions * n + i];
        CHECK(fabs(product / n - 0.25) < 1e-3);
    }
    for (double lambda : {0.5, 40.0, 90.0, 300000.0}) {
        double sum = 0, squares = 0;
        CHECK(curandGeneratePoisson(g, p.data(), p.size(), lambda) == CURAND_STATUS_SUCCESS);
        for (unsigned v : p) sum += v - lambda, squares += (v - lambda) * (v - lambda);
        CHECK(fabs(sum / p.size()) < 0.02 * sqrt(lambda));
        CHECK(fabs(squares / p.size() / lambda - 1) < 0.02);
    }
    curandDestroyGenerator(g);
}

static void mt19937(unsigned long long seed) {
    curandGenerator_t g;
    std::vector<unsigned> a(2000), b(2001);
    std::vector<float> u(7), normal(3);
    std::mt19937 rule((unsigned)seed);
    CHECK(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_MT19937) == CURAND_STATUS_SUCCESS);
    if (seed) CHECK(curandSetPseudoRandomGeneratorSeed(g, seed) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetGeneratorOffset(g, 5) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandGenerate(g, a.data(), a.size()) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerate(g, b.data(), b.size()) == CURAND_STATUS_SUCCESS);
    for (unsigned v : a) CHECK(v == rule());
    for (unsigned v : b) CHECK(v == rule());
    CHECK(curandGenerateUniform(g, u.data(), u.size()) == CURAND_STATUS_SUCCESS);
    for (float v : u) CHECK(v == fmaf((float)rule(), 0x1p-32f, 0x1p-33f));
    CHECK(curandGenerateNormal(g, normal.data(), normal.size(), 3, 2) == CURAND_STATUS_SUCCESS);
    for (float v : normal) CHECK(fabs(0.5 * erfc((3 - v) / 2 * M_SQRT1_2) - rule() * 0x1p-32) < 1e-6);
    CHECK(curandSetPseudoRandomGeneratorSeed(g, seed) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerate(g, b.data(), 10) == CURAND_STATUS_SUCCESS && b[9] == a[9]);
    curandDestroyGenerator(g);
}

int main() {
    curandDirectionVectors32_t *v32;
    curandDirectionVectors64_t *v64;
    unsigned *c32;
    unsigned long long *c64;
    CHECK(curandGetScrambleConstants32(&c32) == CURAND_STATUS_SUCCESS);
    CHECK(curandGetScrambleConstants64(&c64) == CURAND_STATUS_SUCCESS);
    CHECK(curandGetDirectionVectors32(&v32, CURAND_DIRECTION_VECTORS_64_JOEKUO6) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandGetDirectionVectors32(&v32, CURAND_DIRECTION_VECTORS_32_JOEKUO6) == CURAND_STATUS_SUCCESS);
    compare<curandStateSobol32_t>(CURAND_RNG_QUASI_SOBOL32, v32, c32);
    CHECK(curandGetDirectionVectors32(&v32, CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6) == CURAND_STATUS_SUCCESS);
    compare<curandStateScrambledSobol32_t>(CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, v32, c32);
    CHECK(curandGetDirectionVectors64(&v64, CURAND_DIRECTION_VECTORS_64_JOEKUO6) == CURAND_STATUS_SUCCESS);
    compare<curandStateSobol64_t>(CURAND_RNG_QUASI_SOBOL64, v64, c64);
    CHECK(curandGetDirectionVectors64(&v64, CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6) == CURAND_STATUS_SUCCESS);
    compare<curandStateScrambledSobol64_t>(CURAND_RNG_QUASI_SCRAMBLED_SOBOL64, v64, c64);
    for (auto type : {CURAND_RNG_QUASI_SOBOL32, CURAND_RNG_QUASI_SCRAMBLED_SOBOL32, CURAND_RNG_QUASI_SOBOL64,
                      CURAND_RNG_QUASI_SCRAMBLED_SOBOL64})
        even(type);
    mt19937(0), mt19937(1234), mt19937(0x500000007ull);
    if (!wrong) printf("fine\n");
    return wrong != 0;
}

// cuRAND's host API: the numbers of NVIDIA's library (its generators of the host, cuRAND 10.4, seed 1234) at a few
// places; codes of wrong calls. Prints what differs, then "fine".
#include <cmath>
#include <cstdio>
#include <curand.h>
#include <vector>

constexpr size_t N = 1 << 20;
static int wrong;

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) wrong++, printf("line %d: %s\n", __LINE__, #condition);                                      \
    } while (0)

struct expected {
    size_t at;
    double xorwow, philox;
};
static bool philox, of_host;

static curandGenerator_t fresh(bool seeded = true) {
    curandGenerator_t g;
    curandRngType_t type = philox ? CURAND_RNG_PSEUDO_PHILOX4_32_10 : CURAND_RNG_PSEUDO_DEFAULT;
    CHECK((of_host ? curandCreateGeneratorHost(&g, type) : curandCreateGenerator(&g, type)) == CURAND_STATUS_SUCCESS);
    if (seeded) CHECK(curandSetPseudoRandomGeneratorSeed(g, 1234) == CURAND_STATUS_SUCCESS);
    return g;
}

// Calls make(memory), and compares the numbers at some places with what they should be, to `digits`.
template <class T, class F>
static void numbers(const char *what, size_t n, double digits, F make, std::vector<expected> places) {
    std::vector<T> h(n);
    T *d = h.data();
    if (!of_host) cudaMalloc(&d, n * sizeof *d);
    CHECK(make(d) == CURAND_STATUS_SUCCESS);
    if (!of_host) {
        cudaMemcpy(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
        cudaFree(d);
    }
    for (expected e : places) {
        double want = philox ? e.philox : e.xorwow;
        if (fabs((double)h[e.at] - want) <= digits * fabs(want)) continue;
        wrong++, printf("%s of %s [%zu]: %.17g, not %.17g\n", what, philox ? "Philox" : "XORWOW", e.at, (double)h[e.at],
                        want);
    }
}

static void all_numbers() {
    curandGenerator_t g = fresh();
    auto bits = [&](size_t n) { return [=](unsigned *d) { return curandGenerate(g, d, n); }; };
    numbers<unsigned>("bits", 10, 0, bits(10), {{0, 624778773, 546353992}, {1, 3522650202, 3665621163}});
    numbers<unsigned>("the next bits", 10, 0, bits(10), {{0, 3356973615, 1896250878}});
    CHECK(curandSetGeneratorOffset(g, 5000) == CURAND_STATUS_SUCCESS);
    numbers<unsigned>("bits from 5000", 9000, 0, bits(9000),
                      {{0, 1378181827, 4164562676}, {4096, 1911353636, 2293546429}});
    CHECK(curandSetGeneratorOffset(g, 0) == CURAND_STATUS_SUCCESS);
    numbers<unsigned>("many bits", N, 0, bits(N),
                      {{4095, 3856448218, 984438016}, {4096, 1867875844, 2053518784}, {N - 1, 2288748017, 1573348462}});
    curandDestroyGenerator(g);

    g = fresh();
    numbers<float>("uniform", 10, 1e-8, [=](float *d) { return curandGenerateUniform(g, d, 10); },
                   {{0, 0.145467639, 0.12720795}});
    curandDestroyGenerator(g);
    g = fresh();
    numbers<double>("uniform double", 5000, 0, [=](double *d) { return curandGenerateUniformDouble(g, d, 5000); },
                    {{0, 0.43489880438841294, 0.85346899543001431}, {4097, 0.53759377731372671, 0.83971973543461997}});
    curandDestroyGenerator(g);
    g = fresh();
    auto normal = [&](float *d) { return curandGenerateNormal(g, d, 10, 0, 1); };
    numbers<float>("normal", 10, 1e-6, normal, {{0, 0.780973554, -1.61649048}, {1, -1.80157816, 1.22915542}});
    numbers<float>("the next normal", 10, 1e-6, normal, {{0, -0.00414826395, 1.27699864}, {9, 0.502786994, 1.3743124}});
    numbers<float>("uniform behind normal", 10, 1e-8, [=](float *d) { return curandGenerateUniform(g, d, 10); },
                   {{0, 0.781606317, 0.973670244}});
    curandDestroyGenerator(g);
    g = fresh();
    numbers<float>("normal, mean 3", 10, 1e-6, [=](float *d) { return curandGenerateNormal(g, d, 10, 3, 2); },
                   {{0, 4.56194687, -0.232980967}});
    curandDestroyGenerator(g);
    g = fresh();
    numbers<double>("normal double", 5000, 1e-13,
                    [=](double *d) { return curandGenerateNormalDouble(g, d, 5000, 0, 1); },
                    {{0, 0.35873979852445503, -0.53952669590731883}, {4096, 1.4438503460964678, -1.4806033316311182}});
    curandDestroyGenerator(g);
    g = fresh();
    numbers<float>("log normal", 10, 1e-6, [=](float *d) { return curandGenerateLogNormal(g, d, 10, 0, 1); },
                   {{0, 2.18359709, 0.198594451}, {1, 0.165038228, 3.41834116}});
    curandDestroyGenerator(g);
    g = fresh(false);
    numbers<unsigned>("bits without a seed", 10, 0, bits(10),
                      {{0, 3179217846, 1713891541}, {1, 3955638199, 3781805453}});
    curandDestroyGenerator(g);
}

// The mean and the variance of a Poisson distribution are lambda.
static void poisson(double lambda) {
    const int n = 20000;
    curandGenerator_t g = fresh();
    std::vector<unsigned> h(n);
    unsigned *d;
    cudaMalloc(&d, n * sizeof *d);
    CHECK(curandGeneratePoisson(g, d, n, lambda) == CURAND_STATUS_SUCCESS);
    cudaMemcpy(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
    double sum = 0, squares = 0;
    for (unsigned v : h) sum += v, squares += (double)v * v;
    double mean = sum / n, variance = squares / n - mean * mean;
    CHECK(fabs(mean - lambda) < 5 * sqrt(lambda / n));
    CHECK(fabs(variance - lambda) < 0.1 * lambda);
    cudaFree(d);
    curandDestroyGenerator(g);
}

int main() {
    for (int kind = 0; kind < 3; kind++) {
        philox = kind == 1, of_host = kind == 2;
        all_numbers();
    }
    of_host = false;
    for (int kind = 0; kind < 2; kind++) {
        philox = kind == 1;
        poisson(3), poisson(100);
    }

    philox = false;
    curandGenerator_t g = fresh();
    float *d;
    cudaMalloc(&d, 64);
    CHECK(curandGenerateNormal(g, d, 7, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CHECK(curandGenerateUniform(g, d, 0) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerateUniform(nullptr, d, 4) == CURAND_STATUS_NOT_INITIALIZED);
    CHECK(curandGenerateLongLong(g, (unsigned long long *)d, 4) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandGeneratePoisson(g, (unsigned *)d, 4, 0) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandGeneratePoisson(g, (unsigned *)d, 4, 400001) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, 3) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_SEEDED) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_LEGACY) == CURAND_STATUS_SUCCESS);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
    CHECK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_MTGP32) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandCreateGenerator(&g, (curandRngType_t)7) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetPseudoRandomGeneratorSeed(g, 1) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, 0) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, 20001) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, 1112) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetQuasiRandomGeneratorDimensions(g, 3) == CURAND_STATUS_SUCCESS);
    CHECK(curandSetGeneratorOrdering(g, CURAND_ORDERING_PSEUDO_BEST) == CURAND_STATUS_OUT_OF_RANGE);
    CHECK(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerateUniform(g, d, 7) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    CHECK(curandGenerateLongLong(g, (unsigned long long *)d, 3) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
    CHECK(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL64) == CURAND_STATUS_SUCCESS);
    CHECK(curandGenerate(g, (unsigned *)d, 3) == CURAND_STATUS_TYPE_ERROR);
    CHECK(curandDestroyGenerator(g) == CURAND_STATUS_SUCCESS);
    int version = 0;
    CHECK(curandGetVersion(&version) == CURAND_STATUS_SUCCESS && version == CURAND_VERSION);
    cudaFree(d);
    if (!wrong) printf("fine\n");
    return wrong != 0;
}

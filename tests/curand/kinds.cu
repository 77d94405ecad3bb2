// kinds.cu — cuRAND's host API with MRG32k3a and Sobol: numbers of every distribution at a few places, and a sum over
// all of them. NVIDIA's library prints the same lines (g++ -x c++ kinds.cu -DHOST -lcurand, generators of the host).
#include <curand.h>

#include <cstdio>
#include <vector>

#if defined(HOST)
#define cudaMalloc(p, n)              ((void)(*(p) = (decltype(*(p) + 0))malloc(n)))
#define cudaFree                      free
#define cudaMemcpy(to, from, n, kind) memcpy(to, from, n)
#include <cstdlib>
#include <cstring>
#define curandCreateGenerator curandCreateGeneratorHost
#endif

static curandGenerator_t fresh(curandRngType_t type, unsigned dimensions) {
    curandGenerator_t g;
    curandCreateGenerator(&g, type);
    if (type < CURAND_RNG_QUASI_DEFAULT)
        curandSetPseudoRandomGeneratorSeed(g, 1234);
    else
        curandSetQuasiRandomGeneratorDimensions(g, dimensions);
    return g;
}

// Two calls of n numbers each: the first, one in the middle and the last of each, and the sum of all.
template <class T, class Make> static void show(const char *what, size_t n, const char *format, Make make) {
    std::vector<T> h(n);
    T *d;
    cudaMalloc(&d, n * sizeof *d);
    printf("%s:", what);
    for (int call = 0; call < 2; call++) {
        curandStatus_t status = make(d, n);
        if (status) printf(" status %d", (int)status);
        cudaMemcpy(h.data(), d, n * sizeof *d, cudaMemcpyDeviceToHost);
        T sum = 0;
        for (T v : h) sum += v;
        T shown[] = {h[0], h[n / 2 + 1], h[n - 1], sum};
        for (T v : shown) putchar(' '), printf(format, v);
    }
    printf("\n");
    cudaFree(d);
}

static void all(const char *name, curandRngType_t type, unsigned dimensions) {
    const size_t n = 10 * 1111;
    bool wide = type >= CURAND_RNG_QUASI_SOBOL64;
    printf("%s, %u dimensions\n", name, dimensions);
    curandGenerator_t g = fresh(type, dimensions);
    if (wide)
        show<unsigned long long>("bits", n, "%016llx",
                                 [=](unsigned long long *d, size_t n) { return curandGenerateLongLong(g, d, n); });
    else
        show<unsigned>("bits", n, "%08x", [=](unsigned *d, size_t n) { return curandGenerate(g, d, n); });
    curandSetGeneratorOffset(g, 123456789);
    if (wide)
        show<unsigned long long>("bits from an offset", n, "%016llx",
                                 [=](unsigned long long *d, size_t n) { return curandGenerateLongLong(g, d, n); });
    else
        show<unsigned>("bits from an offset", n, "%08x",
                       [=](unsigned *d, size_t n) { return curandGenerate(g, d, n); });
    curandSetGeneratorOffset(g, 0);
    show<float>("uniform", n, "%.6g", [=](float *d, size_t n) { return curandGenerateUniform(g, d, n); });
    curandSetGeneratorOffset(g, 0);
    show<double>("uniform double", n, "%.13g",
                 [=](double *d, size_t n) { return curandGenerateUniformDouble(g, d, n); });
    curandSetGeneratorOffset(g, 0);
    show<double>("normal double", n, "%.9g",
                 [=](double *d, size_t n) { return curandGenerateNormalDouble(g, d, n, 1, 2); });
    curandSetGeneratorOffset(g, 0);
    show<float>("normal", n, "%.3g", [=](float *d, size_t n) { return curandGenerateNormal(g, d, n, 1, 2); });
    curandSetGeneratorOffset(g, 0);
    show<double>("log normal double", n, "%.9g",
                 [=](double *d, size_t n) { return curandGenerateLogNormalDouble(g, d, n, 1, 0.5); });
    curandSetGeneratorOffset(g, 0);
    show<float>("log normal", n, "%.3g", [=](float *d, size_t n) { return curandGenerateLogNormal(g, d, n, 1, 0.5f); });
    curandDestroyGenerator(g);
}

int main() {
    all("MRG32k3a", CURAND_RNG_PSEUDO_MRG32K3A, 0);
    all("Sobol32", CURAND_RNG_QUASI_DEFAULT, 1);
    all("Sobol32", CURAND_RNG_QUASI_SOBOL32, 1111);
    all("Sobol64", CURAND_RNG_QUASI_SOBOL64, 10);
    return 0;
}

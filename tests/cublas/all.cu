// Every function of our small cuBLAS against loops on the host, for odd sizes, steps, transposes and both pointer
// modes. The numbers are small integers, so that every sum is exact. Prints `fine`, or what differs.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int bad;
static cublasHandle_t handle;

#define OK(call)                                                                                                       \
    if (cublasStatus_t status = call) printf("line %d: %s\n", __LINE__, cublasGetStatusName(status)), bad++

static unsigned state = 1;
template <class T> static std::vector<T> some(size_t n) {
    std::vector<T> v(n);
    for (T &x : v) x = (T)(float)((int)((state = state * 1664525 + 1013904223) >> 28) - 8);
    return v;
}
template <class T> struct on_device {
    T *p;
    size_t n;
    on_device(const std::vector<T> &v) : n(v.size()) {
        cudaMalloc(&p, n * sizeof(T));
        cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyDefault);
    }
    ~on_device() { cudaFree(p); }
    std::vector<T> back() const {
        std::vector<T> v(n);
        cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDefault);
        return v;
    }
};
template <class T> static void same(const char *what, const std::vector<T> &got, const std::vector<T> &want) {
    for (size_t i = 0; i < want.size(); i++)
        if ((float)got[i] != (float)want[i]) {
            printf("%s: element %zu is %g, want %g\n", what, i, (double)(float)got[i], (double)(float)want[i]);
            bad++;
            return;
        }
}
static void same(const char *what, double got, double want) {
    if (std::fabs(got - want) > 1e-6 * std::fabs(want)) printf("%s: %.9g, want %.9g\n", what, got, want), bad++;
}

template <class T> static size_t at(size_t n, int step, size_t i) {
    return step > 0 ? i * (size_t)step : (n - 1 - i) * (size_t)-step;
}

// Level 1 and 2 of type T, by their functions.
#define LEVELS(X, x_, T)                                                                                               \
    static void level_1_##X() {                                                                                        \
        const int n = 1000;                                                                                            \
        for (int step : {1, 3, -2}) {                                                                                  \
            std::vector<T> x = some<T>(3 * n), y = some<T>(3 * n), want = y;                                           \
            T alpha = 3, r, dot = 0;                                                                                   \
            on_device<T> dx(x), dy(y);                                                                                 \
            OK(cublas##X##dot(handle, n, dx.p, step, dy.p, 1, &r));                                                    \
            for (int i = 0; i < n; i++) dot += x[at<T>(n, step, i)] * y[i];                                            \
            same(#X "dot", r, dot);                                                                                    \
            OK(cublas##X##axpy(handle, n, &alpha, dx.p, step, dy.p, 1));                                               \
            for (int i = 0; i < n; i++) want[i] += alpha * x[at<T>(n, step, i)];                                       \
            same(#X "axpy", dy.back(), want);                                                                          \
            OK(cublas##X##copy(handle, n, dx.p, step, dy.p, 1));                                                       \
            for (int i = 0; i < n; i++) want[i] = x[at<T>(n, step, i)];                                                \
            same(#X "copy", dy.back(), want);                                                                          \
        }                                                                                                              \
        std::vector<T> x = some<T>(n), y = some<T>(n), scaled = x;                                                     \
        x[500] = -20, x[501] = 20, x[700] = 0, scaled = x;                                                             \
        on_device<T> dx(x), dy(y), scalars(std::vector<T>{2, 0});                                                      \
        T sum = 0, squares = 0, r;                                                                                     \
        int index, least = 0;                                                                                          \
        for (T v : x) sum += std::fabs(v), squares += v * v;                                                           \
        OK(cublas##X##asum(handle, n, dx.p, 1, &r));                                                                   \
        same(#X "asum", r, sum);                                                                                       \
        OK(cublas##X##nrm2(handle, n, dx.p, 1, &r));                                                                   \
        same(#X "nrm2", r, std::sqrt((double)squares));                                                                \
        OK(cublasI##x_##amax(handle, n, dx.p, 1, &index));                                                             \
        same("I" #x_ "amax", index, 501);                                                                              \
        OK(cublasI##x_##amin(handle, n, dx.p, 1, &index));                                                             \
        while (x[least] != 0) least++;                                                                                 \
        same("I" #x_ "amin", index, least + 1);                                                                        \
        OK(cublasI##x_##amax(handle, 0, dx.p, 1, &index));                                                             \
        same("I" #x_ "amax of nothing", index, 0);                                                                     \
        OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));                                                  \
        OK(cublas##X##scal(handle, n, scalars.p, dx.p, 1));                                                            \
        OK(cublas##X##asum(handle, n, dx.p, 1, scalars.p + 1));                                                        \
        OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));                                                    \
        for (T & v : scaled) v *= 2;                                                                                   \
        same(#X "scal", dx.back(), scaled);                                                                            \
        same(#X "asum on the device", scalars.back()[1], 2 * sum);                                                     \
        OK(cublas##X##swap(handle, n, dx.p, 1, dy.p, 1));                                                              \
        same(#X "swap", dx.back(), y);                                                                                 \
        same(#X "swap", dy.back(), scaled);                                                                            \
    }                                                                                                                  \
    static void level_2_##X() {                                                                                        \
        const int m = 67, n = 301, lda = 70;                                                                           \
        std::vector<T> a = some<T>(lda * n), x = some<T>(n), z = some<T>(m), y = some<T>(n);                           \
        T alpha = 2, beta = -1;                                                                                        \
        on_device<T> da(a), dx(x), dz(z), dy(y);                                                                       \
        std::vector<T> want = z, turned = y;                                                                           \
        for (int i = 0; i < m; i++) {                                                                                  \
            T sum = 0;                                                                                                 \
            for (int j = 0; j < n; j++) sum += a[i + j * lda] * x[j];                                                  \
            want[i] = alpha * sum + beta * z[i];                                                                       \
        }                                                                                                              \
        for (int j = 0; j < n; j++) {                                                                                  \
            T sum = 0;                                                                                                 \
            for (int i = 0; i < m; i++) sum += a[i + j * lda] * z[i];                                                  \
            turned[j] = alpha * sum + beta * y[j];                                                                     \
        }                                                                                                              \
        OK(cublas##X##gemv(handle, CUBLAS_OP_T, m, n, &alpha, da.p, lda, dz.p, 1, &beta, dy.p, 1));                    \
        same(#X "gemv of the transpose", dy.back(), turned);                                                           \
        OK(cublas##X##gemv(handle, CUBLAS_OP_N, m, n, &alpha, da.p, lda, dx.p, 1, &beta, dz.p, 1));                    \
        same(#X "gemv", dz.back(), want);                                                                              \
        on_device<T> du(z);                                                                                            \
        OK(cublas##X##ger(handle, m, n, &alpha, du.p, 1, dx.p, 1, da.p, lda));                                         \
        for (int i = 0; i < m; i++)                                                                                    \
            for (int j = 0; j < n; j++) a[i + j * lda] += alpha * z[i] * x[j];                                         \
        same(#X "ger", da.back(), a);                                                                                  \
    }
LEVELS(S, s, float)
LEVELS(D, d, double)

// One product of each pair of transposes, with matrices inside larger ones.
template <class T, class F> static void gemm(const char *what, int m, int n, int k, T alpha, T beta, F call) {
    for (int ta = 0; ta < 2; ta++)
        for (int tb = 0; tb < 2; tb++) {
            int lda = (ta ? k : m) + 3, ldb = (tb ? n : k) + 1, ldc = m + 2;
            std::vector<T> a = some<T>((size_t)lda * (size_t)(ta ? m : k)),
                           b = some<T>((size_t)ldb * (size_t)(tb ? k : n)), c = some<T>((size_t)ldc * (size_t)n),
                           want = c;
            for (int i = 0; i < m; i++)
                for (int j = 0; j < n; j++) {
                    double sum = 0;
                    for (int p = 0; p < k; p++)
                        sum += (double)(float)a[ta ? p + i * lda : i + p * lda] *
                               (double)(float)b[tb ? j + p * ldb : p + j * ldb];
                    want[i + j * ldc] =
                        (T)(float)((double)(float)alpha * sum +
                                   ((float)beta == 0 ? 0 : (double)(float)beta * (double)(float)c[i + j * ldc]));
                }
            on_device<T> da(a), db(b), dc(c);
            OK(call(ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k, &alpha, da.p, lda, db.p,
                    ldb, &beta, dc.p, ldc));
            same(what, dc.back(), want);
        }
}

// Products of bytes, whose sums are no bytes: ints and floats. A sum of ints is exact where one of floats is not.
static void bytes() {
    const int n = 20, k = 2000;
    std::vector<signed char> a(n * k, 127), b(k * n, 127);
    for (int i = 0; i < n; i++) a[i] = (signed char)(i - 8); // of the first column
    std::vector<int> c(n * n), sums = c;
    std::vector<float> floats(n * n);
    for (int i = 0; i < n * n; i++) sums[i] = 127 * 127 * (k - 1) + (i % n - 8) * 127;
    on_device<signed char> da(a), db(b);
    on_device<int> dc(c);
    on_device<float> df(floats);
    int one = 1, zero = 0;
    float unit = 1, none = 0;
    OK(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, k, &one, da.p, CUDA_R_8I, n, db.p, CUDA_R_8I, k, &zero,
                    dc.p, CUDA_R_32I, n, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT));
    c = dc.back();
    for (int i = 0; i < n * n; i++)
        if (c[i] != sums[i]) printf("bytes into ints: element %d is %d, want %d\n", i, c[i], sums[i]), bad++, i = n * n;
    OK(cublasSgemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, 8, &unit, da.p, CUDA_R_8I, n, db.p, CUDA_R_8I, k, &none,
                     df.p, CUDA_R_32F, n));
    for (int i = 0; i < n * n; i++) floats[i] = (float)(127 * 127 * 7 + (i % n - 8) * 127);
    same("bytes into floats", df.back(), floats);
}

static void products() {
    for (int n : {1, 63, 130}) {
        gemm<float>("Sgemm", n, 70, 17, 2, -1, [](auto... a) { return cublasSgemm(handle, a...); });
        gemm<double>("Dgemm", 33, n, 40, 1, 0, [](auto... a) { return cublasDgemm(handle, a...); });
    }
    gemm<__half>("Hgemm", 20, 30, 7, __half(1), __half(1), [](auto... a) { return cublasHgemm(handle, a...); });
    gemm<__half>("GemmEx of halves", 65, 9, 16, __half(1), __half(0),
                 [](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const __half *, const __half *a,
                    int lda, const __half *b, int ldb, const __half *, __half *c, int ldc) {
                     float one = 1, zero = 0;
                     return cublasGemmEx(handle, ta, tb, m, n, k, &one, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, &zero,
                                         c, CUDA_R_16F, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
                 });
    gemm<__half>("SgemmEx of halves", 65, 9, 16, __half(2), __half(1),
                 [](cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, const __half *, const __half *a,
                    int lda, const __half *b, int ldb, const __half *, __half *c, int ldc) {
                     float two = 2, one = 1;
                     return cublasSgemmEx(handle, ta, tb, m, n, k, &two, a, CUDA_R_16F, lda, b, CUDA_R_16F, ldb, &one,
                                          c, CUDA_R_16F, ldc);
                 });
    bytes();

    // A batch, by strides and by lists of addresses.
    const int m = 5, batches = 3;
    std::vector<float> a = some<float>(m * m * batches), b = some<float>(m * m * batches), c(m * m * batches), want = c;
    for (int t = 0; t < batches; t++)
        for (int i = 0; i < m; i++)
            for (int j = 0; j < m; j++)
                for (int p = 0; p < m; p++)
                    want[t * m * m + i + j * m] += a[t * m * m + i + p * m] * b[t * m * m + p + j * m];
    on_device<float> da(a), db(b), dc(c);
    float one = 1, zero = 0;
    OK(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, da.p, m, m * m, db.p, m, m * m, &zero,
                                 dc.p, m, m * m, batches));
    same("SgemmStridedBatched", dc.back(), want);
    std::vector<float *> la, lb, lc;
    for (int t = 0; t < batches; t++)
        la.push_back(da.p + t * m * m), lb.push_back(db.p + t * m * m), lc.push_back(dc.p + t * m * m);
    on_device<float *> pa(la), pb(lb), pc(lc);
    cudaMemset(dc.p, 0, c.size() * sizeof(float));
    OK(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, pa.p, m, pb.p, m, &zero, pc.p, m, batches));
    same("SgemmBatched", dc.back(), want);
    cudaMemset(dc.p, 0, c.size() * sizeof(float));
    OK(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, (const void **)pa.p, CUDA_R_32F, m,
                           (const void **)pb.p, CUDA_R_32F, m, &zero, (void **)pc.p, CUDA_R_32F, m, batches,
                           CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    same("GemmBatchedEx", dc.back(), want);
}

static void copies_and_sums() {
    const int rows = 6, cols = 4;
    std::vector<float> a = some<float>(8 * cols), back(7 * cols), c(rows * cols), want = c;
    float *d, two = 2, minus = -1;
    cudaMalloc(&d, rows * cols * sizeof(float));
    OK(cublasSetMatrix(rows, cols, sizeof(float), a.data(), 8, d, rows));
    OK(cublasGetMatrix(rows, cols, sizeof(float), d, rows, back.data(), 7));
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) same("matrices", back[i + j * 7], a[i + j * 8]);
    OK(cublasSetVector(cols, sizeof(float), a.data(), 2, d, 1));
    OK(cublasGetVector(cols, sizeof(float), d, 1, back.data(), 3));
    for (int i = 0; i < cols; i++) same("vectors", back[3 * i], a[2 * i]);
    cudaFree(d);
    std::vector<float> turned = some<float>(cols * rows), plain = some<float>(rows * cols);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) want[i + j * rows] = 2 * turned[j + i * cols] - plain[i + j * rows];
    on_device<float> dt(turned), dp(plain), dc(c);
    OK(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &two, dt.p, cols, &minus, dp.p, rows, dc.p, rows));
    same("Sgeam", dc.back(), want);
}

#define REFUSED(code, call)                                                                                            \
    if (cublasStatus_t status = call; status != code)                                                                  \
    printf("line %d: %s, want " #code "\n", __LINE__, cublasGetStatusName(status)), bad++

int main() {
    cudaStream_t stream, same_stream;
    float one = 1, r;
    REFUSED(CUBLAS_STATUS_NOT_INITIALIZED, cublasSdot(nullptr, 1, nullptr, 1, nullptr, 1, nullptr));
    OK(cublasCreate(&handle));
    cudaStreamCreate(&stream);
    OK(cublasSetStream(handle, stream));
    OK(cublasGetStream(handle, &same_stream));
    if (same_stream != stream) printf("another stream\n"), bad++;
    level_1_S(), level_1_D(), level_2_S(), level_2_D(), products(), copies_and_sums();
    REFUSED(CUBLAS_STATUS_INVALID_VALUE,
            cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, nullptr, 3, nullptr, 4, &one, nullptr, 4));
    REFUSED(CUBLAS_STATUS_INVALID_VALUE, cublasSdot(handle, 4, nullptr, 1, nullptr, 1, &r));
    REFUSED(CUBLAS_STATUS_NOT_SUPPORTED,
            cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, nullptr, CUDA_R_8I, 4, nullptr, CUDA_R_8I, 4,
                         &one, nullptr, CUDA_R_32I, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    REFUSED(CUBLAS_STATUS_NOT_SUPPORTED,
            cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, nullptr, CUDA_R_32F, 4, nullptr, CUDA_R_32F,
                         4, &one, nullptr, CUDA_R_32F, 4, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_ALGO3_TENSOR_OP));
    // Types that it refuses have names, too: programs print tables of them.
    static_assert(CUDA_C_8U == 9 && CUDA_C_64U == 27 && CUDA_R_8F_E5M2 == 29 && CUDA_R_4F_E2M1 == 33, "numbers");
    OK(cublasDestroy(handle));
    if (cudaGetLastError()) printf("an error of CUDA\n"), bad++;
    if (!bad) printf("fine\n");
    return bad != 0;
}

// cuBLASLt's matrix product against loops on the host: transposes, bias, ReLU and GELU behind it, two layouts of a
// batch, half precision; what it lacks is refused. Prints what differs, then "fine".
#include <cmath>
#include <cstdio>
#include <cublasLt.h>
#include <vector>

constexpr int M = 13, N = 7, K = 9, LD = 16, BATCH = 2;
static int wrong;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) wrong++, printf("line %d: %s\n", __LINE__, #condition);                                      \
    } while (0)

template <class T> static T *on_device(const std::vector<T> &h) {
    T *d;
    cudaMalloc(&d, h.size() * sizeof(T));
    cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice);
    return d;
}
static float value(int i) { return (float)((i * 37 + 11) % 23 - 11) / 8; }
static float function(int epilogue, float v) {
    if (epilogue & 2) return fmaxf(v, 0);
    if (epilogue & 32) return 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    return v;
}

template <class T> static void product(cudaDataType type, int epilogue, bool ta, bool tb, float beta, double error) {
    std::vector<T> a(LD * LD * BATCH), b(a), c(a), d(a), bias(LD), aux(a);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = T(value((int)i)), b[i] = T(value((int)i + 5)), c[i] = T(value((int)i + 9));
    for (int i = 0; i < LD; i++) bias[i] = T(value(i + 3));
    T *da = on_device(a), *db = on_device(b), *dc = on_device(c), *dd = on_device(d), *dbias = on_device(bias),
      *daux = on_device(aux);
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, lc;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t result;
    cublasOperation_t t = CUBLAS_OP_T;
    int found = 0, batch = epilogue & 128 ? 1 : BATCH;
    long long stride = LD * LD, ld = LD;
    CHECK(cublasLtCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F) == CUBLAS_STATUS_SUCCESS);
    if (ta)
        CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t) == CUBLAS_STATUS_SUCCESS);
    if (tb)
        CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSB, &t, sizeof t) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &dbias, sizeof dbias) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &daux, sizeof daux) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld) ==
          CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatrixLayoutCreate(&la, type, ta ? K : M, ta ? M : K, LD) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatrixLayoutCreate(&lb, type, tb ? N : K, tb ? K : N, LD) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatrixLayoutCreate(&lc, type, M, N, LD) == CUBLAS_STATUS_SUCCESS);
    for (cublasLtMatrixLayout_t l : {la, lb, lc}) {
        CHECK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch) ==
              CUBLAS_STATUS_SUCCESS);
        CHECK(cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                                               sizeof stride) == CUBLAS_STATUS_SUCCESS);
    }
    CHECK(cublasLtMatmulPreferenceCreate(&preference) == CUBLAS_STATUS_SUCCESS);
    CHECK(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, lc, preference, 1, &result, &found) ==
              CUBLAS_STATUS_SUCCESS &&
          found == 1);
    float alpha = 0.5f;
    CHECK(cublasLtMatmul(handle, desc, &alpha, da, la, db, lb, &beta, dc, lc, dd, lc, &result.algo, nullptr, 0, 0) ==
          CUBLAS_STATUS_SUCCESS);
    cudaMemcpy(d.data(), dd, d.size() * sizeof(T), cudaMemcpyDeviceToHost);
    cudaMemcpy(aux.data(), daux, aux.size() * sizeof(T), cudaMemcpyDeviceToHost);
    for (int i = 0; i < batch * M * N; i++) {
        int part = i / (M * N), row = i % M, column = i / M % N;
        const T *pa = &a[part * LD * LD], *pb = &b[part * LD * LD];
        float sum = 0;
        for (int k = 0; k < K; k++)
            sum += (float)pa[ta ? row * LD + k : k * LD + row] * (float)pb[tb ? k * LD + column : column * LD + k];
        size_t at = (size_t)(part * LD * LD + column * LD + row);
        float before = alpha * sum + beta * (float)c[at] + (epilogue & 4 ? (float)bias[row] : 0),
              want = function(epilogue, before);
        if (fabs((float)d[at] - want) > error || (epilogue & 128 && fabs((float)aux[at] - before) > error))
            wrong++, printf("type %d, epilogue %d [%d]: %g, not %g\n", (int)type, epilogue, i, (float)d[at], want);
    }
    epilogue = CUBLASLT_EPILOGUE_BGRADB;
    cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue);
    CHECK(cublasLtMatmul(handle, desc, &alpha, da, la, db, lb, &beta, dc, lc, dd, lc, nullptr, nullptr, 0, 0) ==
          CUBLAS_STATUS_NOT_SUPPORTED);
    cublasLtMatmulPreferenceDestroy(preference), cublasLtMatmulDescDestroy(desc), cublasLtDestroy(handle);
    for (cublasLtMatrixLayout_t l : {la, lb, lc}) cublasLtMatrixLayoutDestroy(l);
    for (T *p : {da, db, dc, dd, dbias, daux}) cudaFree(p);
}

int main() {
    for (int epilogue : {1, 2, 4, 2 | 4, 32, 32 | 4, 32 | 128, 32 | 4 | 128, 2 | 128})
        product<float>(CUDA_R_32F, epilogue, epilogue & 4, epilogue & 2, epilogue & 32 ? 0 : 2, 1e-5);
    product<__half>(CUDA_R_16F, CUBLASLT_EPILOGUE_GELU_BIAS, true, false, 0, 0.01);
    if (!wrong) printf("fine\n");
    return wrong != 0;
}

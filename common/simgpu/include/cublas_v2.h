/* cublas_v2.h — a small cuBLAS: handles and streams, copies of vectors and matrices, level 1, matrix by vector, matrix
 * by matrix (also batched) in single, double and half precision. Column-major, as BLAS is. Its kernels are ours and run
 * like any other: their time says what they do, not what NVIDIA's library would do. extra/cublas.cu is the library.
 * Names, arguments and codes: NVIDIA's cuBLAS Library, "Using the cuBLAS API". */
#ifndef SIMGPU_CUBLAS_V2_H
#define SIMGPU_CUBLAS_V2_H
#define CUBLAS_API_H_ /* programs ask for it by this name */

#include <cuda_runtime.h>
#include <library_types.h>
#if defined(__cplusplus)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
/* There is one algorithm; a number of NVIDIA's is taken for it. */
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_ALGO2 = 2,
    CUBLAS_GEMM_ALGO3 = 3,
    CUBLAS_GEMM_ALGO4 = 4,
    CUBLAS_GEMM_ALGO5 = 5,
    CUBLAS_GEMM_ALGO6 = 6,
    CUBLAS_GEMM_ALGO7 = 7,
    CUBLAS_GEMM_ALGO8 = 8,
    CUBLAS_GEMM_ALGO9 = 9,
    CUBLAS_GEMM_ALGO10 = 10,
    CUBLAS_GEMM_ALGO11 = 11,
    CUBLAS_GEMM_ALGO12 = 12,
    CUBLAS_GEMM_ALGO13 = 13,
    CUBLAS_GEMM_ALGO14 = 14,
    CUBLAS_GEMM_ALGO15 = 15,
    CUBLAS_GEMM_ALGO16 = 16,
    CUBLAS_GEMM_ALGO17 = 17,
    CUBLAS_GEMM_ALGO18 = 18,
    CUBLAS_GEMM_ALGO19 = 19,
    CUBLAS_GEMM_ALGO20 = 20,
    CUBLAS_GEMM_ALGO21 = 21,
    CUBLAS_GEMM_ALGO22 = 22,
    CUBLAS_GEMM_ALGO23 = 23,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
    CUBLAS_GEMM_ALGO0_TENSOR_OP = 100,
    CUBLAS_GEMM_ALGO1_TENSOR_OP = 101,
    CUBLAS_GEMM_ALGO2_TENSOR_OP = 102,
    CUBLAS_GEMM_ALGO3_TENSOR_OP = 103,
    CUBLAS_GEMM_ALGO4_TENSOR_OP = 104,
    CUBLAS_GEMM_ALGO5_TENSOR_OP = 105,
    CUBLAS_GEMM_ALGO6_TENSOR_OP = 106,
    CUBLAS_GEMM_ALGO7_TENSOR_OP = 107,
    CUBLAS_GEMM_ALGO8_TENSOR_OP = 108,
    CUBLAS_GEMM_ALGO9_TENSOR_OP = 109,
    CUBLAS_GEMM_ALGO10_TENSOR_OP = 110,
    CUBLAS_GEMM_ALGO11_TENSOR_OP = 111,
    CUBLAS_GEMM_ALGO12_TENSOR_OP = 112,
    CUBLAS_GEMM_ALGO13_TENSOR_OP = 113,
    CUBLAS_GEMM_ALGO14_TENSOR_OP = 114,
    CUBLAS_GEMM_ALGO15_TENSOR_OP = 115,
    CUBLAS_GEMM_AUTOTUNE = 999
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION   (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

#if defined(__cplusplus)
extern "C" {
#endif

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version);
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream);
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream);
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode);
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode);
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes);
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode);
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);

cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy);
cublasStatus_t cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy);
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *device, int incy, cudaStream_t s);
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *device, int incx, void *y, int incy, cudaStream_t s);
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *device, int ldb);
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *device, int lda, void *b, int ldb);
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void *a, int lda, void *device, int ldb,
                                    cudaStream_t s);
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void *device, int lda, void *b, int ldb,
                                    cudaStream_t s);

/* For X = S (float) and D (double), T being that type. */
#define SIMGPU_CUBLAS(X, T)                                                                                            \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t h, int n, const T *alpha, const T *x, int incx, T *y, int incy);  \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, T *result);  \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t h, int n, const T *x, int incx, T *result);                       \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t h, int n, const T *x, int incx, T *result);                       \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t h, int n, const T *alpha, T *x, int incx);                        \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t h, int n, const T *x, int incx, T *y, int incy);                  \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t h, int n, T *x, int incx, T *y, int incy);                        \
    cublasStatus_t cublas##X##rot_v2(cublasHandle_t h, int n, T *x, int incx, T *y, int incy, const T *c, const T *s); \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t h, cublasOperation_t op, int m, int n, const T *alpha,            \
                                      const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy);       \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
                                     int incy, T *a, int lda);                                                         \
    cublasStatus_t cublas##X##geam(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,       \
                                   const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c,      \
                                   int ldc);
SIMGPU_CUBLAS(S, float)
SIMGPU_CUBLAS(D, double)
#undef SIMGPU_CUBLAS
cublasStatus_t cublasIsamax_v2(cublasHandle_t h, int n, const float *x, int incx, int *result);
cublasStatus_t cublasIsamin_v2(cublasHandle_t h, int n, const float *x, int incx, int *result);
cublasStatus_t cublasIdamax_v2(cublasHandle_t h, int n, const double *x, int incx, int *result);
cublasStatus_t cublasIdamin_v2(cublasHandle_t h, int n, const double *x, int incx, int *result);

/* Matrix by matrix: C = alpha op(A) op(B) + beta C, of m x k by k x n. */
#define SIMGPU_CUBLAS(X, T, suffix)                                                                                    \
    cublasStatus_t cublas##X##gemm##suffix(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m,      \
                                           int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb,     \
                                           const T *beta, T *c, int ldc);                                              \
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb,       \
                                                 int m, int n, int k, const T *alpha, const T *a, int lda,             \
                                                 long long strideA, const T *b, int ldb, long long strideB,            \
                                                 const T *beta, T *c, int ldc, long long strideC, int batches);        \
    cublasStatus_t cublas##X##gemmBatched(                                                                             \
        cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha,           \
        const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc, int batches);
SIMGPU_CUBLAS(S, float, _v2)
SIMGPU_CUBLAS(D, double, _v2)
#if defined(__cplusplus)
SIMGPU_CUBLAS(H, __half, )
#endif
#undef SIMGPU_CUBLAS

/* A, B and C of the given types: all of one type, half or bfloat16 products into floats, or bytes into ints or floats.
 */
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType typeA, int lda, const void *b,
                            cudaDataType typeB, int ldb, const void *beta, void *c, cudaDataType typeC, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                             const float *alpha, const void *a, cudaDataType typeA, int lda, const void *b,
                             cudaDataType typeB, int ldb, const float *beta, void *c, cudaDataType typeC, int ldc);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                                   const void *alpha, const void *const a[], cudaDataType typeA, int lda,
                                   const void *const b[], cudaDataType typeB, int ldb, const void *beta,
                                   void *const c[], cudaDataType typeC, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                                          int k, const void *alpha, const void *a, cudaDataType typeA, int lda,
                                          long long strideA, const void *b, cudaDataType typeB, int ldb,
                                          long long strideB, const void *beta, void *c, cudaDataType typeC, int ldc,
                                          long long strideC, int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm);
#if defined(__cplusplus)
}

/* CUDA 10 named the type of the sums by a type of data. */
static inline cublasComputeType_t simgpuComputeType(cudaDataType type) {
    return type == CUDA_R_16F ? CUBLAS_COMPUTE_16F : type == CUDA_R_64F ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F;
}
static inline cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                                          int k, const void *alpha, const void *a, cudaDataType typeA, int lda,
                                          const void *b, cudaDataType typeB, int ldb, const void *beta, void *c,
                                          cudaDataType typeC, int ldc, cudaDataType compute,
                                          cublasGemmAlgo_t algorithm) {
    return cublasGemmEx(h, opa, opb, m, n, k, alpha, a, typeA, lda, b, typeB, ldb, beta, c, typeC, ldc,
                        simgpuComputeType(compute), algorithm);
}
#endif

#define cublasCreate         cublasCreate_v2
#define cublasDestroy        cublasDestroy_v2
#define cublasGetVersion     cublasGetVersion_v2
#define cublasSetStream      cublasSetStream_v2
#define cublasGetStream      cublasGetStream_v2
#define cublasSetPointerMode cublasSetPointerMode_v2
#define cublasGetPointerMode cublasGetPointerMode_v2
#define cublasSetWorkspace   cublasSetWorkspace_v2
#define cublasSaxpy          cublasSaxpy_v2
#define cublasSdot           cublasSdot_v2
#define cublasSnrm2          cublasSnrm2_v2
#define cublasSasum          cublasSasum_v2
#define cublasSscal          cublasSscal_v2
#define cublasScopy          cublasScopy_v2
#define cublasSswap          cublasSswap_v2
#define cublasSrot           cublasSrot_v2
#define cublasSgemv          cublasSgemv_v2
#define cublasSger           cublasSger_v2
#define cublasSgemm          cublasSgemm_v2
#define cublasDaxpy          cublasDaxpy_v2
#define cublasDdot           cublasDdot_v2
#define cublasDnrm2          cublasDnrm2_v2
#define cublasDasum          cublasDasum_v2
#define cublasDscal          cublasDscal_v2
#define cublasDcopy          cublasDcopy_v2
#define cublasDswap          cublasDswap_v2
#define cublasDrot           cublasDrot_v2
#define cublasDgemv          cublasDgemv_v2
#define cublasDger           cublasDger_v2
#define cublasDgemm          cublasDgemm_v2
#define cublasIsamax         cublasIsamax_v2
#define cublasIsamin         cublasIsamin_v2
#define cublasIdamax         cublasIdamax_v2
#define cublasIdamin         cublasIdamin_v2

#endif

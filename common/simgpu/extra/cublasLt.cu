// cublasLt.cu — libcublasLt for programs that call it: what cublasLt.h declares. The product is the small cuBLAS's
// (cublas.cu); one more kernel adds the bias and applies the function behind it. simcc compiles it.
#include <cublasLt.h>
#include <cuda_bf16.h>

#include <cstdlib>
#include <cstring>

struct cublasLtMatmulDesc_st {
    cublasComputeType_t compute;
    cudaDataType scale, bias_type; // bias_type: valid with typed_bias, else that of the result
    bool typed_bias;
    cublasPointerMode_t pointers;
    cublasOperation_t a, b;
    unsigned epilogue;
    const void *bias;
    void *aux; // the numbers before the function
    long long aux_ld;
};
struct cublasLtMatrixLayout_st {
    cudaDataType type;
    int order;
    unsigned long long rows, columns;
    long long ld, stride;
    int batch;
};
struct cublasLtMatmulPreference_st {
    size_t workspace;
};

enum { RELU = 2, BIAS = 4, GELU = 32, AUX = 128, BLOCK = 256 };

// --- behind the product ----------------------------------------------------------------------------------------------

static __device__ float number(float v) { return v; }
static __device__ float number(__half v) { return __half2float(v); }
static __device__ float number(__nv_bfloat16 v) { return __bfloat162float(v); }
static __device__ void store(float *to, float v) { *to = v; }
static __device__ void store(__half *to, float v) { *to = __float2half_rn(v); }
static __device__ void store(__nv_bfloat16 *to, float v) { *to = __float2bfloat16_rn(v); }

// d[row, column] becomes f(d + bias[row]); a batch is blockIdx.y.
template <class T, class B>
__global__ void finish(T *d, long long rows, long long columns, long long ld, long long stride, const B *bias, T *aux,
                       long long aux_ld, unsigned epilogue) {
    long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= rows * columns) return;
    long long row = i % rows, column = i / rows;
    T *to = d + blockIdx.y * stride + column * ld + row;
    float v = number(*to);
    if (epilogue & BIAS) v += number(bias[row]);
    if (epilogue & AUX) store(aux + column * aux_ld + row, v);
    if (epilogue & RELU) v = fmaxf(v, 0);
    if (epilogue & GELU) v = 0.5f * v * (1 + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
    store(to, v);
}

template <class T, class B>
static void finish_as(cublasLtMatmulDesc_t p, T *d, cublasLtMatrixLayout_t l, cudaStream_t stream) {
    unsigned blocks = (unsigned)((l->rows * l->columns + BLOCK - 1) / BLOCK);
    finish<<<dim3(blocks, l->batch), BLOCK, 0, stream>>>(d, (long long)l->rows, (long long)l->columns, l->ld, l->stride,
                                                         (const B *)p->bias, (T *)p->aux, p->aux_ld, p->epilogue);
}
template <class T>
static bool finish_for(cublasLtMatmulDesc_t p, void *d, cublasLtMatrixLayout_t l, cudaStream_t stream) {
    switch (p->typed_bias ? p->bias_type : l->type) {
    case CUDA_R_32F: return finish_as<T, float>(p, (T *)d, l, stream), true;
    case CUDA_R_16F: return finish_as<T, __half>(p, (T *)d, l, stream), true;
    case CUDA_R_16BF: return finish_as<T, __nv_bfloat16>(p, (T *)d, l, stream), true;
    default: return false;
    }
}

static bool supported(cublasLtMatmulDesc_t p, cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                      cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
    unsigned epilogue = p->epilogue;
    bool known = (epilogue & ~(1u | RELU | BIAS | GELU | AUX)) == 0 && (epilogue & (RELU | GELU)) != (RELU | GELU);
    if ((epilogue & AUX) && (!(epilogue & (RELU | GELU)) || d->batch > 1)) known = false;
    bool plain = d->type == CUDA_R_32F || d->type == CUDA_R_16F || d->type == CUDA_R_16BF || epilogue == 1;
    return known && plain && a->order == CUBLASLT_ORDER_COL && b->order == CUBLASLT_ORDER_COL &&
           c->order == CUBLASLT_ORDER_COL && d->order == CUBLASLT_ORDER_COL && c->type == d->type &&
           c->rows == d->rows && c->columns == d->columns && c->ld == d->ld && c->stride == d->stride;
}

// --- descriptions ----------------------------------------------------------------------------------------------------

#define REQUIRES(condition)                                                                                            \
    if (!(condition)) return CUBLAS_STATUS_INVALID_VALUE

template <class T> static cublasStatus_t make(T **made) {
    REQUIRES(made);
    *made = (T *)calloc(1, sizeof **made);
    return *made ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
template <class T> static cublasStatus_t set(T *field, const void *value, size_t bytes) {
    REQUIRES(bytes == sizeof *field);
    memcpy(field, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) { return cublasCreate((cublasHandle_t *)handle); }
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) { return cublasDestroy((cublasHandle_t)handle); }
size_t cublasLtGetVersion(void) { return CUBLAS_VERSION; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc, cublasComputeType_t compute, cudaDataType scale) {
    cublasStatus_t status = make(desc);
    if (status) return status;
    (*desc)->compute = compute, (*desc)->scale = scale, (*desc)->epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    return status;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc) { return free(desc), CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t p, cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes) {
    REQUIRES(p && value);
    switch (attribute) {
    case CUBLASLT_MATMUL_DESC_COMPUTE_TYPE: return set(&p->compute, value, bytes);
    case CUBLASLT_MATMUL_DESC_SCALE_TYPE: return set(&p->scale, value, bytes);
    case CUBLASLT_MATMUL_DESC_POINTER_MODE: return set(&p->pointers, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSA: return set(&p->a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB: return set(&p->b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE: return set(&p->epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER: return set(&p->bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER: return set(&p->aux, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD: return set(&p->aux_ld, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE: return p->typed_bias = true, set(&p->bias_type, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout, cudaDataType type, unsigned long long rows,
                                          unsigned long long columns, long long ld) {
    cublasStatus_t status = make(layout);
    if (status) return status;
    **layout = {type, CUBLASLT_ORDER_COL, rows, columns, ld, 0, 1};
    return status;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
    return free(layout), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes) {
    REQUIRES(l && value);
    switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_TYPE: return set(&l->type, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ORDER: return set(&l->order, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_ROWS: return set(&l->rows, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_COLS: return set(&l->columns, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_LD: return set(&l->ld, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT: return set(&l->batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET: return set(&l->stride, value, bytes);
    default: return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference) { return make(preference); }
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
    return free(preference), CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void *value,
                                                    size_t bytes) {
    REQUIRES(preference && value);
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return set(&preference->workspace, value, bytes);
    return CUBLAS_STATUS_SUCCESS; // what steers a search among many
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int asked,
                                              cublasLtMatmulHeuristicResult_t *results, int *found) {
    REQUIRES(handle && desc && a && b && c && d && results && found && asked > 0);
    *found = supported(desc, a, b, c, d);
    if (!*found) return CUBLAS_STATUS_NOT_SUPPORTED;
    memset(results, 0, sizeof *results);
    results->wavesCount = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void *alpha, const void *a,
                              cublasLtMatrixLayout_t la, const void *b, cublasLtMatrixLayout_t lb, const void *beta,
                              const void *c, cublasLtMatrixLayout_t lc, void *d, cublasLtMatrixLayout_t ld,
                              const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t stream) {
    REQUIRES(handle && desc && alpha && beta && a && b && d && la && lb && lc && ld);
    if (!supported(desc, la, lb, lc, ld)) return CUBLAS_STATUS_NOT_SUPPORTED;
    REQUIRES(!(desc->epilogue & BIAS) || desc->bias);
    REQUIRES(!(desc->epilogue & AUX) || (desc->aux && desc->aux_ld >= (long long)ld->rows));
    unsigned long long k = desc->a == CUBLAS_OP_N ? la->columns : la->rows;
    cublasHandle_t blas = (cublasHandle_t)handle;
    cudaStream_t before;
    cublasPointerMode_t mode;
    cublasGetStream(blas, &before);
    cublasGetPointerMode(blas, &mode);
    cublasSetStream(blas, stream);
    cublasSetPointerMode(blas, desc->pointers);
    size_t element = ld->type == CUDA_R_64F ? 8 : ld->type == CUDA_R_32F ? 4 : 2;
    size_t last = (size_t)(ld->batch - 1) * (size_t)ld->stride + (size_t)(ld->columns - 1) * (size_t)ld->ld + ld->rows;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    if (c && c != d && cudaMemcpyAsync(d, c, last * element, cudaMemcpyDeviceToDevice, stream))
        status = CUBLAS_STATUS_EXECUTION_FAILED;
    if (!status)
        status = cublasGemmStridedBatchedEx(blas, desc->a, desc->b, (int)ld->rows, (int)ld->columns, (int)k, alpha, a,
                                            la->type, (int)la->ld, la->stride, b, lb->type, (int)lb->ld, lb->stride,
                                            beta, d, ld->type, (int)ld->ld, ld->stride, ld->batch, desc->compute,
                                            CUBLAS_GEMM_DEFAULT);
    if (!status && desc->epilogue != CUBLASLT_EPILOGUE_DEFAULT) {
        bool done = ld->type == CUDA_R_32F   ? finish_for<float>(desc, d, ld, stream)
                    : ld->type == CUDA_R_16F ? finish_for<__half>(desc, d, ld, stream)
                                             : finish_for<__nv_bfloat16>(desc, d, ld, stream);
        if (!done) status = CUBLAS_STATUS_NOT_SUPPORTED;
        if (cudaPeekAtLastError()) status = CUBLAS_STATUS_EXECUTION_FAILED;
    }
    cublasSetStream(blas, before);
    cublasSetPointerMode(blas, mode);
    return status;
}
}

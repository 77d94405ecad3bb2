// cublas.cu — libcublas for programs that call it: what cublas_v2.h declares, as plain kernels of ours. simcc compiles
// it.
//
// A scalar (alpha, beta, a result) is a pointer of the host or, after cublasSetPointerMode, of the device; a kernel
// takes it as a `scalar`, a value or an address. Everything is queued on the handle's stream; a result for the host is
// waited for. Results are the same on each run: no sum depends on an order of atomics. Half and bfloat16 are summed in
// float, bytes in float or int.
#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <cstdlib>

#include "refused.cuh"

enum { BLOCK = 256, PARTS = 64 }; // threads of a block; blocks that reduce a vector

struct cublasContext {
    cudaStream_t stream;
    cublasPointerMode_t pointers;
    cublasMath_t math;
    void *parts; // of the device: PARTS partial results and a result
};

// --- numbers ---------------------------------------------------------------------------------------------------------

template <class T> struct sum_of { typedef float type; };
template <> struct sum_of<double> { typedef double type; };
template <> struct sum_of<int> { typedef int type; };
template <class T> using sum_t = typename sum_of<T>::type;

template <class T> static __host__ __device__ T to_number(T v) { return v; }
static __host__ __device__ float to_number(__half v) { return __half2float(v); }
static __host__ __device__ float to_number(__nv_bfloat16 v) { return __bfloat162float(v); }
template <class T> struct from {
    static __device__ T number(sum_t<T> v) { return v; }
};
template <> struct from<__half> {
    static __device__ __half number(float v) { return __float2half_rn(v); }
};
template <> struct from<__nv_bfloat16> {
    static __device__ __nv_bfloat16 number(float v) { return __float2bfloat16_rn(v); }
};

// A scalar of type T, computed with as type S.
template <class T, class S> struct scalar {
    S value;
    const T *at; // of the device, or NULL: value
    __device__ S get() const { return at ? (S)to_number(*at) : value; }
};
template <class S, class T> static scalar<T, S> scalar_of(cublasHandle_t h, const T *p) {
    bool device = h->pointers == CUBLAS_POINTER_MODE_DEVICE;
    return {device ? S(0) : (S)to_number(*p), device ? p : nullptr};
}

// BLAS walks a vector with a negative step from its end.
template <class T> static __device__ T &element(T *x, int n, int step, int i) {
    return step >= 0 ? x[(long long)i * step] : x[(long long)(i - (n - 1)) * step];
}

// --- handles ---------------------------------------------------------------------------------------------------------

static cublasStatus_t launched() {
    return cudaPeekAtLastError() ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}
static cublasStatus_t copied(cudaError_t e) { return e ? CUBLAS_STATUS_MAPPING_ERROR : CUBLAS_STATUS_SUCCESS; }
static int blocks_of(long long n) { return (int)((n + BLOCK - 1) / BLOCK); }

#define NEEDS(handle)                                                                                                  \
    if (!(handle)) return refused(CUBLAS_STATUS_NOT_INITIALIZED, "the handle is NULL; call cublasCreate first")
#define REQUIRES(condition, ...)                                                                                       \
    if (!(condition)) return refused(CUBLAS_STATUS_INVALID_VALUE, __VA_ARGS__)
#define LACKS(...) return refused(CUBLAS_STATUS_NOT_SUPPORTED, __VA_ARGS__)

// The first of a matrix' dimensions, of which a column has `rows`: the step from column to column.
#define REQUIRES_STEP(step, rows)                                                                                      \
    REQUIRES((step) >= ((rows) > 1 ? (rows) : 1),                                                                      \
             #step " is %d, less than the %d rows of the matrix as it is stored, "                                     \
                   "column by column",                                                                                 \
             (step), (rows))
#define REQUIRES_SCALARS(alpha, beta)                                                                                  \
    REQUIRES((alpha) && (beta), "alpha or beta is a null pointer; pass the address of a number")

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle) {
    REQUIRES(handle, "pass the address of a handle");
    *handle = (cublasHandle_t)calloc(1, sizeof **handle);
    if (!*handle) return CUBLAS_STATUS_ALLOC_FAILED;
    if (cudaMalloc(&(*handle)->parts, (PARTS + 1) * 16) == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
    free(*handle);
    *handle = nullptr;
    return CUBLAS_STATUS_ALLOC_FAILED;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
    NEEDS(handle);
    cudaFree(handle->parts);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version) {
    NEEDS(handle);
    REQUIRES(version, "pass the address of a number");
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
    NEEDS(handle);
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t *stream) {
    NEEDS(handle);
    REQUIRES(stream, "pass the address of a stream");
    *stream = handle->stream;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
    NEEDS(handle);
    REQUIRES(mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE, "there is no pointer mode %d",
             (int)mode);
    handle->pointers = mode;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t *mode) {
    NEEDS(handle);
    REQUIRES(mode, "pass the address of a mode");
    *mode = handle->pointers;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
    NEEDS(handle);
    handle->math = mode; // a permission, which these kernels do not use
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t *mode) {
    NEEDS(handle);
    REQUIRES(mode, "pass the address of a mode");
    *mode = handle->math;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t) { // likewise
    NEEDS(handle);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *, size_t) { // likewise
    NEEDS(handle);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED: return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE: return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH: return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR: return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR: return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR: return "CUBLAS_STATUS_LICENSE_ERROR";
    }
    return "CUBLAS_STATUS_UNKNOWN";
}
const char *cublasGetStatusString(cublasStatus_t status) {
    switch (status) {
    case CUBLAS_STATUS_SUCCESS: return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED: return "the handle was not created by cublasCreate";
    case CUBLAS_STATUS_ALLOC_FAILED: return "memory could not be allocated";
    case CUBLAS_STATUS_INVALID_VALUE: return "an argument has a value that the function does not take";
    case CUBLAS_STATUS_MAPPING_ERROR: return "memory could not be read or written";
    case CUBLAS_STATUS_EXECUTION_FAILED: return "a kernel failed";
    case CUBLAS_STATUS_NOT_SUPPORTED: return "SimGPU's small cuBLAS does not have this combination of types";
    default: return cublasGetStatusName(status);
    }
}

// --- copies between host and device ----------------------------------------------------------------------------------

static cublasStatus_t copy_rows(int rows, int bytes, const void *from, int from_step, void *to, int to_step,
                                cudaStream_t *stream) {
    REQUIRES(rows >= 0 && bytes > 0 && from_step > 0 && to_step > 0,
             "%d elements of %d bytes, with steps of %d and %d: all must be positive", rows, bytes, from_step, to_step);
    if (rows == 0) return CUBLAS_STATUS_SUCCESS;
    size_t to_pitch = (size_t)to_step * (size_t)bytes, from_pitch = (size_t)from_step * (size_t)bytes;
    return copied(
        stream
            ? cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, (size_t)bytes, (size_t)rows, cudaMemcpyDefault, *stream)
            : cudaMemcpy2D(to, to_pitch, from, from_pitch, (size_t)bytes, (size_t)rows, cudaMemcpyDefault));
}
cublasStatus_t cublasSetVector(int n, int bytes, const void *x, int incx, void *device, int incy) {
    return copy_rows(n, bytes, x, incx, device, incy, nullptr);
}
cublasStatus_t cublasGetVector(int n, int bytes, const void *device, int incx, void *y, int incy) {
    return copy_rows(n, bytes, device, incx, y, incy, nullptr);
}
cublasStatus_t cublasSetVectorAsync(int n, int bytes, const void *x, int incx, void *device, int incy, cudaStream_t s) {
    return copy_rows(n, bytes, x, incx, device, incy, &s);
}
cublasStatus_t cublasGetVectorAsync(int n, int bytes, const void *device, int incx, void *y, int incy, cudaStream_t s) {
    return copy_rows(n, bytes, device, incx, y, incy, &s);
}

// A column of a matrix lies together.
static cublasStatus_t copy_matrix(int rows, int cols, int bytes, const void *from, int lda, void *to, int ldb,
                                  cudaStream_t *stream) {
    REQUIRES(rows >= 0 && cols >= 0 && bytes > 0, "%d x %d elements of %d bytes: none may be negative", rows, cols,
             bytes);
    REQUIRES_STEP(lda, rows);
    REQUIRES_STEP(ldb, rows);
    if (rows == 0 || cols == 0) return CUBLAS_STATUS_SUCCESS;
    size_t width = (size_t)rows * (size_t)bytes, a = (size_t)lda * (size_t)bytes, b = (size_t)ldb * (size_t)bytes;
    return copied(stream ? cudaMemcpy2DAsync(to, b, from, a, width, (size_t)cols, cudaMemcpyDefault, *stream)
                         : cudaMemcpy2D(to, b, from, a, width, (size_t)cols, cudaMemcpyDefault));
}
cublasStatus_t cublasSetMatrix(int rows, int cols, int bytes, const void *a, int lda, void *device, int ldb) {
    return copy_matrix(rows, cols, bytes, a, lda, device, ldb, nullptr);
}
cublasStatus_t cublasGetMatrix(int rows, int cols, int bytes, const void *device, int lda, void *b, int ldb) {
    return copy_matrix(rows, cols, bytes, device, lda, b, ldb, nullptr);
}
cublasStatus_t cublasSetMatrixAsync(int rows, int cols, int bytes, const void *a, int lda, void *device, int ldb,
                                    cudaStream_t s) {
    return copy_matrix(rows, cols, bytes, a, lda, device, ldb, &s);
}
cublasStatus_t cublasGetMatrixAsync(int rows, int cols, int bytes, const void *device, int lda, void *b, int ldb,
                                    cudaStream_t s) {
    return copy_matrix(rows, cols, bytes, device, lda, b, ldb, &s);
}

} // extern "C"

// --- level 1 ---------------------------------------------------------------------------------------------------------

// One element of x, or of x and y, a thread.
enum map_kind { AXPY, SCAL, COPY, SWAP, ROT };
template <map_kind KIND, class T>
static __global__ void map(int n, scalar<T, T> alpha, scalar<T, T> beta, T *x, int incx, T *y, int incy) {
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    T &a = element(x, n, incx, i), &b = element(y, n, incy, i);
    if (KIND == AXPY) b += alpha.get() * a;
    if (KIND == SCAL) a = alpha.get() * a;
    if (KIND == COPY) b = a;
    if (KIND == SWAP || KIND == ROT) {
        T was = a, c = KIND == ROT ? alpha.get() : T(0), s = KIND == ROT ? beta.get() : T(1);
        a = c * was + s * b;
        b = KIND == ROT ? c * b - s * was : was;
    }
}
template <map_kind KIND, class T>
static cublasStatus_t run_map(cublasHandle_t h, int n, const T *alpha, const T *beta, T *x, int incx, T *y, int incy) {
    static const T zero = 0;
    NEEDS(h);
    REQUIRES(n <= 0 || x, "x is a null pointer");
    if (n <= 0) return CUBLAS_STATUS_SUCCESS;
    scalar<T, T> none = {zero, nullptr};
    map<KIND><<<blocks_of(n), BLOCK, 0, h->stream>>>(n, alpha ? scalar_of<T>(h, alpha) : none,
                                                     beta ? scalar_of<T>(h, beta) : none, x, incx, y, incy);
    return launched();
}

// A vector becomes one value: each block adds a part, and one block the parts.
enum reduce_kind { DOT, NRM2, ASUM, AMAX, AMIN };
template <class T> struct partial {
    T value;
    int index; // of AMAX, AMIN: from 1; 0: none
};
template <reduce_kind KIND, class T> static __device__ partial<T> joined(partial<T> a, partial<T> b) {
    if (KIND != AMAX && KIND != AMIN) return {a.value + b.value, 0};
    if (!a.index || !b.index) return a.index ? a : b;
    bool first = KIND == AMAX ? a.value > b.value : a.value < b.value;
    return first || (a.value == b.value && a.index < b.index) ? a : b;
}
template <reduce_kind KIND, class T> static __device__ partial<T> of_block(partial<T> mine) {
    __shared__ partial<T> all[BLOCK];
    all[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half; half /= 2) {
        if (threadIdx.x < half) all[threadIdx.x] = joined<KIND>(all[threadIdx.x], all[threadIdx.x + half]);
        __syncthreads();
    }
    return all[0];
}
template <reduce_kind KIND, class T>
static __global__ void reduce(int n, const T *x, int incx, const T *y, int incy, partial<T> *parts) {
    partial<T> mine = {0, 0};
    for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += (int)(gridDim.x * blockDim.x)) {
        T v = element(x, n, incx, i);
        if (KIND == DOT) v *= element(y, n, incy, i);
        if (KIND == NRM2) v *= v;
        if (KIND == ASUM || KIND == AMAX || KIND == AMIN) v = v < 0 ? -v : v;
        mine = joined<KIND>(mine, partial<T>{v, i + 1});
    }
    mine = of_block<KIND>(mine);
    if (threadIdx.x == 0) parts[blockIdx.x] = mine;
}
template <reduce_kind KIND, class T, class R> static __global__ void finish(int n, const partial<T> *parts, R *result) {
    partial<T> mine = {0, 0};
    if ((int)threadIdx.x < n) mine = parts[threadIdx.x];
    mine = of_block<KIND>(mine);
    if (threadIdx.x) return;
    if (KIND == AMAX || KIND == AMIN)
        *result = (R)mine.index;
    else
        *result = (R)(KIND == NRM2 ? sqrt(mine.value) : mine.value);
}
template <reduce_kind KIND, class T, class R>
static cublasStatus_t run_reduce(cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, R *result) {
    NEEDS(h);
    REQUIRES(result && (n <= 0 || x), "x or the result is a null pointer");
    bool device = h->pointers == CUBLAS_POINTER_MODE_DEVICE;
    int blocks = n <= 0 ? 0 : blocks_of(n) < PARTS ? blocks_of(n) : PARTS;
    partial<T> *parts = (partial<T> *)h->parts;
    R *to = device ? result : (R *)(parts + PARTS);
    if (incx < 1 && (KIND == NRM2 || KIND == ASUM || KIND == AMAX || KIND == AMIN)) blocks = 0; // BLAS: nothing
    if (blocks) reduce<KIND><<<blocks, BLOCK, 0, h->stream>>>(n, x, incx, y, incy, parts);
    finish<KIND><<<1, BLOCK, 0, h->stream>>>(blocks, parts, to);
    if (device || launched()) return launched();
    cudaError_t e = cudaMemcpyAsync(result, to, sizeof *result, cudaMemcpyDeviceToHost, h->stream);
    return copied(e ? e : cudaStreamSynchronize(h->stream));
}

// --- level 2, and sums of matrices -----------------------------------------------------------------------------------

template <class T> static __device__ T at(const T *a, int lda, bool turned, int row, int col) {
    return turned ? a[col + (long long)row * lda] : a[row + (long long)col * lda];
}

// y = alpha op(A) x + beta y. A thread adds a row of A, as neighbours read neighbours; a block a column.
template <bool TURNED, class T>
static __global__ void gemv(int m, int n, scalar<T, T> alpha, const T *a, int lda, const T *x, int incx,
                            scalar<T, T> beta, T *y, int incy) {
    int long_side = TURNED ? m : n, results = TURNED ? n : m;
    int row = TURNED ? (int)blockIdx.x : (int)(blockIdx.x * blockDim.x + threadIdx.x);
    partial<T> sum = {0, 0};
    for (int k = TURNED ? (int)threadIdx.x : 0; row < results && k < long_side; k += TURNED ? BLOCK : 1)
        sum.value += at(a, lda, TURNED, row, k) * element(x, long_side, incx, k);
    if (TURNED) sum = of_block<DOT>(sum);
    if (row >= results || (TURNED && threadIdx.x)) return;
    T &to = element(y, results, incy, row), b = beta.get();
    to = alpha.get() * sum.value + (b == 0 ? T(0) : b * to);
}
template <class T>
static cublasStatus_t run_gemv(cublasHandle_t h, cublasOperation_t op, int m, int n, const T *alpha, const T *a,
                               int lda, const T *x, int incx, const T *beta, T *y, int incy) {
    NEEDS(h);
    REQUIRES(m >= 0 && n >= 0 && incx && incy,
             "m %d, n %d, incx %d, incy %d: m and n may not be negative, a step not 0", m, n, incx, incy);
    REQUIRES_STEP(lda, m);
    REQUIRES_SCALARS(alpha, beta);
    if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
    scalar<T, T> s = scalar_of<T>(h, alpha), t = scalar_of<T>(h, beta);
    if (op == CUBLAS_OP_N)
        gemv<false><<<blocks_of(m), BLOCK, 0, h->stream>>>(m, n, s, a, lda, x, incx, t, y, incy);
    else
        gemv<true><<<n, BLOCK, 0, h->stream>>>(m, n, s, a, lda, x, incx, t, y, incy);
    return launched();
}

// A += alpha x y' (B is NULL), or C = alpha op(A) + beta op(B).
template <class T>
static __global__ void ger(int m, int n, scalar<T, T> alpha, const T *x, int incx, const T *y, int incy, T *a,
                           int lda) {
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x), col = (int)blockIdx.y;
    if (row < m) a[row + (long long)col * lda] += alpha.get() * element(x, m, incx, row) * element(y, n, incy, col);
}
template <class T>
static __global__ void geam(int m, scalar<T, T> alpha, const T *a, int lda, bool turn_a, scalar<T, T> beta, const T *b,
                            int ldb, bool turn_b, T *c, int ldc) {
    int row = (int)(blockIdx.x * blockDim.x + threadIdx.x), col = (int)blockIdx.y;
    if (row >= m) return;
    T s = alpha.get(), t = beta.get(), v = s == 0 ? T(0) : s * at(a, lda, turn_a, row, col);
    c[row + (long long)col * ldc] = v + (t == 0 ? T(0) : t * at(b, ldb, turn_b, row, col));
}
// Columns lie in y, of which a grid has 65535.
template <class T>
static cublasStatus_t run_ger(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y,
                              int incy, T *a, int lda) {
    NEEDS(h);
    REQUIRES(m >= 0 && n >= 0 && incx && incy,
             "m %d, n %d, incx %d, incy %d: m and n may not be negative, a step not 0", m, n, incx, incy);
    REQUIRES_STEP(lda, m);
    REQUIRES_SCALARS(alpha, alpha);
    for (int from = 0; m && from < n; from += 65535) {
        int columns = n - from < 65535 ? n - from : 65535;
        const T *part = y + (long long)(incy > 0 ? from : columns + from - n) * incy;
        ger<<<dim3((unsigned)blocks_of(m), (unsigned)columns), BLOCK, 0, h->stream>>>(
            m, columns, scalar_of<T>(h, alpha), x, incx, part, incy, a + (long long)from * lda, lda);
    }
    return launched();
}
template <class T>
static cublasStatus_t run_geam(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                               const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c, int ldc) {
    NEEDS(h);
    REQUIRES(m >= 0 && n >= 0, "m %d, n %d: none may be negative", m, n);
    REQUIRES_STEP(ldc, m);
    REQUIRES_SCALARS(alpha, beta);
    for (int from = 0; m && from < n; from += 65535) {
        unsigned columns = (unsigned)(n - from < 65535 ? n - from : 65535);
        geam<<<dim3((unsigned)blocks_of(m), columns), BLOCK, 0, h->stream>>>(
            m, scalar_of<T>(h, alpha), a + (long long)from * (opa ? 1 : lda), lda, opa != CUBLAS_OP_N,
            scalar_of<T>(h, beta), b + (long long)from * (opb ? 1 : ldb), ldb, opb != CUBLAS_OP_N,
            c + (long long)from * ldc, ldc);
    }
    return launched();
}

// --- matrix by matrix ------------------------------------------------------------------------------------------------

// The matrices of a batch lie `stride` elements apart, or where a list of addresses says.
template <class T> struct matrices {
    T *first;
    long long stride;
    T *const *list;
    __device__ T *of(unsigned batch) const { return list ? list[batch] : first + (long long)batch * stride; }
};

enum { TILE = 64, DEPTH = 16, EACH = 4 }; // a block computes 64 x 64 elements, a thread 4 x 4, in steps of 16

template <class T, class S>
static __device__ void load_tile(S (*tile)[TILE + 1], const T *a, int lda, bool turned, int row0, int rows, int k0,
                                 int k) {
    for (int e = (int)threadIdx.x; e < TILE * DEPTH; e += BLOCK) { // neighbours read neighbours, turned or not
        int r = turned ? e / DEPTH : e % TILE, p = turned ? e % DEPTH : e / TILE;
        bool inside = row0 + r < rows && k0 + p < k;
        tile[p][r] = inside ? (S)to_number(at(a, lda, turned, row0 + r, k0 + p)) : S(0);
    }
}

template <class T, class R, class A>
static __global__ void __launch_bounds__(BLOCK)
    gemm(bool turn_a, bool turn_b, int m, int n, int k, scalar<A, sum_t<R>> alpha, matrices<const T> as, int lda,
         matrices<const T> bs, int ldb, scalar<A, sum_t<R>> beta, matrices<R> cs, int ldc) {
    typedef sum_t<R> number;
    __shared__ number tile_a[DEPTH][TILE + 1], tile_b[DEPTH][TILE + 1];
    const T *a = as.of(blockIdx.z), *b = bs.of(blockIdx.z);
    int row0 = (int)blockIdx.x * TILE, col0 = (int)blockIdx.y * TILE;
    int r0 = (int)threadIdx.x % (TILE / EACH), c0 = (int)threadIdx.x / (TILE / EACH) * EACH;
    number sum[EACH][EACH] = {};
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        load_tile(tile_a, a, lda, turn_a, row0, m, k0, k);
        load_tile(tile_b, b, ldb, !turn_b, col0, n, k0, k); // rows of B transposed
        __syncthreads();
        for (int p = 0; p < DEPTH; p++)
#pragma unroll
            for (int i = 0; i < EACH; i++)
#pragma unroll
                for (int j = 0; j < EACH; j++) sum[i][j] += tile_a[p][r0 + i * (TILE / EACH)] * tile_b[p][c0 + j];
        __syncthreads();
    }
    R *c = cs.of(blockIdx.z);
    number s = alpha.get(), t = beta.get();
    for (int i = 0; i < EACH; i++)
        for (int j = 0; j < EACH; j++) {
            int row = row0 + r0 + i * (TILE / EACH), col = col0 + c0 + j;
            if (row >= m || col >= n) continue;
            R &to = c[row + (long long)col * ldc];
            to = from<R>::number(s * sum[i][j] + (t == 0 ? number(0) : t * (number)to_number(to)));
        }
}

template <class T, class R, class A>
static cublasStatus_t run_gemm(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                               const A *alpha, matrices<const T> a, int lda, matrices<const T> b, int ldb,
                               const A *beta, matrices<R> c, int ldc, int batches) {
    NEEDS(h);
    REQUIRES((unsigned)opa <= CUBLAS_OP_C && (unsigned)opb <= CUBLAS_OP_C,
             "the operations are %d and %d, none of CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C", (int)opa, (int)opb);
    REQUIRES_SCALARS(alpha, beta);
    REQUIRES(m >= 0 && n >= 0 && k >= 0 && batches >= 0, "m %d, n %d, k %d, %d matrices: none may be negative", m, n, k,
             batches);
    REQUIRES_STEP(lda, opa ? k : m);
    REQUIRES_STEP(ldb, opb ? n : k);
    REQUIRES_STEP(ldc, m);
    if (m == 0 || n == 0 || batches == 0) return CUBLAS_STATUS_SUCCESS;
    dim3 grid((unsigned)((m + TILE - 1) / TILE), (unsigned)((n + TILE - 1) / TILE), (unsigned)batches);
    if (grid.y > 65535 || grid.z > 65535)
        LACKS("n %d and %d matrices are more than SimGPU's small cuBLAS has; n may be %d, and matrices 65535", n,
              batches, 65535 * TILE);
    gemm<T, R, A><<<grid, BLOCK, 0, h->stream>>>(opa != CUBLAS_OP_N, opb != CUBLAS_OP_N, m, n, k,
                                                 scalar_of<sum_t<R>>(h, alpha), a, lda, b, ldb,
                                                 scalar_of<sum_t<R>>(h, beta), c, ldc);
    return launched();
}

// --- the entry points ------------------------------------------------------------------------------------------------

extern "C" {

#define LEVELS_1_AND_2(X, x_, T)                                                                                       \
    cublasStatus_t cublas##X##axpy_v2(cublasHandle_t h, int n, const T *alpha, const T *x, int incx, T *y, int incy) { \
        return run_map<AXPY>(h, n, alpha, (const T *)nullptr, (T *)x, incx, y, incy);                                  \
    }                                                                                                                  \
    cublasStatus_t cublas##X##scal_v2(cublasHandle_t h, int n, const T *alpha, T *x, int incx) {                       \
        return run_map<SCAL>(h, incx < 1 ? 0 : n, alpha, (const T *)nullptr, x, incx, x, incx);                        \
    }                                                                                                                  \
    cublasStatus_t cublas##X##copy_v2(cublasHandle_t h, int n, const T *x, int incx, T *y, int incy) {                 \
        return run_map<COPY>(h, n, (const T *)nullptr, (const T *)nullptr, (T *)x, incx, y, incy);                     \
    }                                                                                                                  \
    cublasStatus_t cublas##X##swap_v2(cublasHandle_t h, int n, T *x, int incx, T *y, int incy) {                       \
        return run_map<SWAP>(h, n, (const T *)nullptr, (const T *)nullptr, x, incx, y, incy);                          \
    }                                                                                                                  \
    cublasStatus_t cublas##X##rot_v2(cublasHandle_t h, int n, T *x, int incx, T *y, int incy, const T *c,              \
                                     const T *s) {                                                                     \
        return run_map<ROT>(h, n, c, s, x, incx, y, incy);                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##dot_v2(cublasHandle_t h, int n, const T *x, int incx, const T *y, int incy, T *r) {      \
        return run_reduce<DOT>(h, n, x, incx, y, incy, r);                                                             \
    }                                                                                                                  \
    cublasStatus_t cublas##X##nrm2_v2(cublasHandle_t h, int n, const T *x, int incx, T *r) {                           \
        return run_reduce<NRM2>(h, n, x, incx, x, incx, r);                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##X##asum_v2(cublasHandle_t h, int n, const T *x, int incx, T *r) {                           \
        return run_reduce<ASUM>(h, n, x, incx, x, incx, r);                                                            \
    }                                                                                                                  \
    cublasStatus_t cublasI##x_##amax_v2(cublasHandle_t h, int n, const T *x, int incx, int *r) {                       \
        return run_reduce<AMAX>(h, n, x, incx, x, incx, r);                                                            \
    }                                                                                                                  \
    cublasStatus_t cublasI##x_##amin_v2(cublasHandle_t h, int n, const T *x, int incx, int *r) {                       \
        return run_reduce<AMIN>(h, n, x, incx, x, incx, r);                                                            \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemv_v2(cublasHandle_t h, cublasOperation_t op, int m, int n, const T *alpha,            \
                                      const T *a, int lda, const T *x, int incx, const T *beta, T *y, int incy) {      \
        return run_gemv(h, op, m, n, alpha, a, lda, x, incx, beta, y, incy);                                           \
    }                                                                                                                  \
    cublasStatus_t cublas##X##ger_v2(cublasHandle_t h, int m, int n, const T *alpha, const T *x, int incx, const T *y, \
                                     int incy, T *a, int lda) {                                                        \
        return run_ger(h, m, n, alpha, x, incx, y, incy, a, lda);                                                      \
    }                                                                                                                  \
    cublasStatus_t cublas##X##geam(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,       \
                                   const T *alpha, const T *a, int lda, const T *beta, const T *b, int ldb, T *c,      \
                                   int ldc) {                                                                          \
        return run_geam(h, opa, opb, m, n, alpha, a, lda, beta, b, ldb, c, ldc);                                       \
    }
LEVELS_1_AND_2(S, s, float)
LEVELS_1_AND_2(D, d, double)

#define LEVEL_3(X, T, suffix)                                                                                          \
    cublasStatus_t cublas##X##gemm##suffix(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m,      \
                                           int n, int k, const T *alpha, const T *a, int lda, const T *b, int ldb,     \
                                           const T *beta, T *c, int ldc) {                                             \
        return run_gemm<T, T>(h, opa, opb, m, n, k, alpha, {a, 0, nullptr}, lda, {b, 0, nullptr}, ldb, beta,           \
                              {c, 0, nullptr}, ldc, 1);                                                                \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmStridedBatched(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb,       \
                                                 int m, int n, int k, const T *alpha, const T *a, int lda,             \
                                                 long long sa, const T *b, int ldb, long long sb, const T *beta, T *c, \
                                                 int ldc, long long sc, int batches) {                                 \
        return run_gemm<T, T>(h, opa, opb, m, n, k, alpha, {a, sa, nullptr}, lda, {b, sb, nullptr}, ldb, beta,         \
                              {c, sc, nullptr}, ldc, batches);                                                         \
    }                                                                                                                  \
    cublasStatus_t cublas##X##gemmBatched(                                                                             \
        cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k, const T *alpha,           \
        const T *const a[], int lda, const T *const b[], int ldb, const T *beta, T *const c[], int ldc, int batches) { \
        return run_gemm<T, T>(h, opa, opb, m, n, k, alpha, {nullptr, 0, a}, lda, {nullptr, 0, b}, ldb, beta,           \
                              {nullptr, 0, c}, ldc, batches);                                                          \
    }
LEVEL_3(S, float, _v2)
LEVEL_3(D, double, _v2)
LEVEL_3(H, __half, )

} // extern "C"

// --- matrix by matrix, of types that are arguments -------------------------------------------------------------------

template <class T> static matrices<T> typed(matrices<const void> m) {
    return {(T *)m.first, m.stride, (T *const *)m.list};
}
#define no_such_types                                                                                                  \
    "SimGPU's small cuBLAS does not have these types together: A and C of half or bfloat16 (C also of float), "        \
    "computed in float; all of float; all of double; all of half; A of bytes, C of int, computed in int; A of bytes, " \
    "C of float, computed in float"
static cublasStatus_t gemm_of_types(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                                    const void *alpha, matrices<const void> a, cudaDataType type_a, int lda,
                                    matrices<const void> b, cudaDataType type_b, int ldb, const void *beta,
                                    matrices<const void> c, cudaDataType type_c, int ldc, int batches,
                                    cublasComputeType_t compute) {
    NEEDS(h);
    bool half_scalars = compute == CUBLAS_COMPUTE_16F || compute == CUBLAS_COMPUTE_16F_PEDANTIC;
    bool doubles = compute == CUBLAS_COMPUTE_64F || compute == CUBLAS_COMPUTE_64F_PEDANTIC;
    bool ints = compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC;
    if (type_a != type_b) LACKS("A and B have different types; SimGPU's small cuBLAS takes one type of both");
#define CASE(name_t, T, name_r, R, A, holds)                                                                           \
    if (type_a == name_t && type_c == name_r && (holds))                                                               \
        return run_gemm<T, R>(h, opa, opb, m, n, k, (const A *)alpha, typed<const T>(a), lda, typed<const T>(b), ldb,  \
                              (const A *)beta, typed<R>(c), ldc, batches);
    CASE(CUDA_R_64F, double, CUDA_R_64F, double, double, doubles)
    CASE(CUDA_R_16F, __half, CUDA_R_16F, __half, __half, half_scalars)
    CASE(CUDA_R_8I, signed char, CUDA_R_32I, int, int, ints)
    if (doubles || half_scalars || ints) LACKS(no_such_types);
    CASE(CUDA_R_32F, float, CUDA_R_32F, float, float, true)
    CASE(CUDA_R_16F, __half, CUDA_R_16F, __half, float, true)
    CASE(CUDA_R_16F, __half, CUDA_R_32F, float, float, true)
    CASE(CUDA_R_16BF, __nv_bfloat16, CUDA_R_16BF, __nv_bfloat16, float, true)
    CASE(CUDA_R_16BF, __nv_bfloat16, CUDA_R_32F, float, float, true)
    CASE(CUDA_R_8I, signed char, CUDA_R_32F, float, float, true)
    LACKS(no_such_types);
}

extern "C" {

cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n,
                                          int k, const void *alpha, const void *a, cudaDataType type_a, int lda,
                                          long long sa, const void *b, cudaDataType type_b, int ldb, long long sb,
                                          const void *beta, void *c, cudaDataType type_c, int ldc, long long sc,
                                          int batches, cublasComputeType_t compute, cublasGemmAlgo_t) {
    return gemm_of_types(h, opa, opb, m, n, k, alpha, {a, sa, nullptr}, type_a, lda, {b, sb, nullptr}, type_b, ldb,
                         beta, {c, sc, nullptr}, type_c, ldc, batches, compute);
}
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                                   const void *alpha, const void *const a[], cudaDataType type_a, int lda,
                                   const void *const b[], cudaDataType type_b, int ldb, const void *beta,
                                   void *const c[], cudaDataType type_c, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t) {
    return gemm_of_types(h, opa, opb, m, n, k, alpha, {nullptr, 0, a}, type_a, lda, {nullptr, 0, b}, type_b, ldb, beta,
                         {nullptr, 0, c}, type_c, ldc, batches, compute);
}
cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                            const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                            cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t) {
    return gemm_of_types(h, opa, opb, m, n, k, alpha, {a, 0, nullptr}, type_a, lda, {b, 0, nullptr}, type_b, ldb, beta,
                         {c, 0, nullptr}, type_c, ldc, 1, compute);
}
cublasStatus_t cublasSgemmEx(cublasHandle_t h, cublasOperation_t opa, cublasOperation_t opb, int m, int n, int k,
                             const float *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                             cudaDataType type_b, int ldb, const float *beta, void *c, cudaDataType type_c, int ldc) {
    return gemm_of_types(h, opa, opb, m, n, k, alpha, {a, 0, nullptr}, type_a, lda, {b, 0, nullptr}, type_b, ldb, beta,
                         {c, 0, nullptr}, type_c, ldc, 1, CUBLAS_COMPUTE_32F);
}

} // extern "C"

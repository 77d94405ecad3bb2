/* wmma.cu — matrix products with mma.h as textbooks write them: tiles of 16 x 16 x 16 in halves, bfloat16, tf32 and
 * bytes, with an elementwise step on the fragments. Prints "right" or the number of wrong elements. */
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <mma.h>
#include <vector>

using namespace nvcuda;

/* D = alpha * A * B + beta * C: one warp for each tile of D. */
template <int M, int N, int K, class T, class Store, class Sum, class LayoutA, class LayoutB>
__global__ void gemm(const Store *a, const Store *b, const Sum *c, Sum *d, int m, int n, int k, Sum alpha, Sum beta) {
    const bool row_a = sizeof(LayoutA) == sizeof(wmma::row_major) && __is_same(LayoutA, wmma::row_major);
    const bool row_b = __is_same(LayoutB, wmma::row_major);
    int row = blockIdx.y * M, column = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * N;
    if (column >= n) return;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum, old;
    wmma::fill_fragment(sum, Sum(0));
    for (int i = 0; i < k; i += K) {
        wmma::load_matrix_sync(fa, row_a ? a + row * k + i : a + i * m + row, row_a ? k : m);
        wmma::load_matrix_sync(fb, row_b ? b + i * n + column : b + column * k + i, row_b ? n : k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < old.num_elements; i++) old.x[i] = alpha * sum.x[i] + beta * old.x[i];
    wmma::store_matrix_sync(d + row * n + column, old, n, wmma::mem_row_major);
}

template <int M, int N, int K, class T, class Store, class Sum, class LayoutA, class LayoutB>
void product(const char *name, Store (*make)(int), double (*value)(Store), Sum alpha, Sum beta) {
    const int m = 64, n = 96, k = 48;
    std::vector<Store> a(m * k), b(k * n);
    std::vector<Sum> c(m * n), d(m * n);
    for (int i = 0; i < m * k; i++) a[i] = make(rand() % 17 - 8);
    for (int i = 0; i < k * n; i++) b[i] = make(rand() % 17 - 8);
    for (int i = 0; i < m * n; i++) c[i] = Sum(rand() % 17 - 8);
    Store *da, *db;
    Sum *dc, *dd;
    cudaMalloc(&da, a.size() * sizeof(Store)), cudaMalloc(&db, b.size() * sizeof(Store));
    cudaMalloc(&dc, c.size() * sizeof(Sum)), cudaMalloc(&dd, c.size() * sizeof(Sum));
    cudaMemcpy(da, a.data(), a.size() * sizeof(Store), cudaMemcpyHostToDevice);
    cudaMemcpy(db, b.data(), b.size() * sizeof(Store), cudaMemcpyHostToDevice);
    cudaMemcpy(dc, c.data(), c.size() * sizeof(Sum), cudaMemcpyHostToDevice);
    gemm<M, N, K, T, Store, Sum, LayoutA, LayoutB>
        <<<dim3((n / N + 3) / 4, m / M), 128>>>(da, db, dc, dd, m, n, k, alpha, beta);
    cudaMemcpy(d.data(), dd, d.size() * sizeof(Sum), cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < k; l++)
                sum += value(__is_same(LayoutA, wmma::row_major) ? a[i * k + l] : a[l * m + i]) *
                       value(__is_same(LayoutB, wmma::row_major) ? b[l * n + j] : b[j * k + l]);
            wrong += (double)d[i * n + j] != (double)alpha * sum + (double)beta * (double)c[i * n + j];
        }
    printf("%s: %s\n", name, wrong ? "wrong" : "right");
    cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dd);
}

static half half_of(int v) { return __float2half(v / 4.0f); }
static double of_half(half v) { return __half2float(v); }
static __nv_bfloat16 bfloat_of(int v) { return __float2bfloat16(v / 4.0f); }
static double of_bfloat(__nv_bfloat16 v) { return __bfloat162float(v); }
static float float_of(int v) { return (float)v / 4; }
static double of_float(float v) { return v; }
static signed char byte_of(int v) { return (signed char)v; }
static double of_byte(signed char v) { return v; }
static double double_of(int v) { return v / 4.0; }
static double of_double(double v) { return v; }

int main() {
    using wmma::col_major;
    using wmma::row_major;
    product<16, 16, 16, half, half, float, row_major, row_major>("half, row row", half_of, of_half, 2, 3);
    product<16, 16, 16, half, half, float, col_major, col_major>("half, col col", half_of, of_half, 1, 1);
    product<32, 8, 16, half, half, float, row_major, col_major>("half, 32 x 8", half_of, of_half, 1, 0);
    product<8, 32, 16, half, half, float, col_major, row_major>("half, 8 x 32", half_of, of_half, 1, 0);
    product<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float, row_major, col_major>("bfloat16", bfloat_of, of_bfloat, 1,
                                                                                   2);
    product<16, 16, 8, wmma::precision::tf32, float, float, row_major, row_major>("tf32", float_of, of_float, 1, 2);
    product<16, 16, 16, signed char, signed char, int, row_major, col_major>("bytes", byte_of, of_byte, 1, 2);
    product<8, 8, 4, double, double, double, row_major, row_major>("doubles", double_of, of_double, 1, 2);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}

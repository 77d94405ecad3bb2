/* functions.cu — every function of cuda_fp16.h and cuda_bf16.h on all inputs (one operand) or as many by chance: prints
 * a hash of the results' bits, on the device and, if the function exists there, on the host. tests/half/functions.h200
 * is what an H200 and nvcc's own headers print. */
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

enum { INPUTS = 65536, ROUNDS = 1 };

__host__ __device__ unsigned mix(unsigned v) {
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}
template <class T> __host__ __device__ unsigned long long bits_of(T v) {
    unsigned long long b = 0;
    memcpy(&b, &v, sizeof v);
    return b;
}
template <class T, class B> __host__ __device__ T of_bits(B b) {
    T v;
    memcpy(&v, &b, sizeof v);
    return v;
}
/* Input number i of a function: all numbers as the first operand, others by chance; small exponents differ little. */
template <class T> __host__ __device__ T operand(unsigned i, unsigned which) {
    unsigned r = which == 0 ? i : mix(i + which * 0x10000000u);
    if (sizeof(T) == 2) return of_bits<T>((unsigned short)r);
    if (sizeof(T) == 4) return of_bits<T>((r & 0xffff) | mix(r + which) << 16);
    return of_bits<T>((unsigned long long)mix(r) << 32 | mix(r + 1));
}
__host__ __device__ unsigned long long part(unsigned long long r, unsigned i) {
    return (r + 0x9e3779b97f4a7c15ull) * (2ull * i + 1) ^ r >> 7;
}

template <class F> __global__ void run(unsigned long long *sum) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, part(F::at(i), i));
}
template <class F> void show(const char *type, const char *name, const char *host) {
    unsigned long long *sum, got = 0;
    cudaMalloc(&sum, sizeof *sum);
    cudaMemset(sum, 0, sizeof *sum);
    run<F><<<INPUTS * F::rounds / 256, 256>>>(sum);
    cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(sum);
    printf("%s %s %016llx%s\n", type, name, got, host);
}
template <class F> const char *on_host() {
    static char text[32];
    unsigned long long sum = 0;
    for (unsigned i = 0; i < INPUTS * F::rounds; i++) sum += part(F::at(i), i);
    snprintf(text, sizeof text, " %016llx", sum);
    return text;
}

/* Lists of functions: ONE, TWO and THREE operands; D of the device only. The lists are read twice: once for a type for
 * each function, once to show its hash. */
#define STRUCT(f, WHERE, n, value)                                                                                     \
    struct F_##f {                                                                                                     \
        enum { rounds = n };                                                                                           \
        WHERE static unsigned long long at(unsigned i) { return bits_of(value); }                                      \
    };
#define DEFINE_ONE(f, A)   STRUCT(f, __host__ __device__, 1, f(operand<A>(i, 0)))
#define DEFINE_ONE_D(f, A) STRUCT(f, __device__, 1, f(operand<A>(i, 0)))
#define DEFINE_TWO(f, A)   STRUCT(f, __host__ __device__, ROUNDS, f(operand<A>(i, 0), operand<A>(i, 1)))
#define DEFINE_THREE(f, A) STRUCT(f, __device__, ROUNDS, f(operand<A>(i, 0), operand<A>(i, 1), operand<A>(i, 2)))
#define SHOW_ONE(f, A)     show<F_##f>(type, #f, on_host<F_##f>());
#define SHOW_ONE_D(f, A)   show<F_##f>(type, #f, "");
#define SHOW_TWO(f, A)     show<F_##f>(type, #f, on_host<F_##f>());
#define SHOW_THREE(f, A)   show<F_##f>(type, #f, "");

/* clang-format off: it does not settle on these lists */
#define ARITHMETIC(ONE, ONE_D, TWO, THREE, H, H2)                                                                      \
    TWO(__hadd, H)                                                                                                     \
    TWO(__hsub, H)                                                                                                     \
    TWO(__hmul, H)                                                                                                     \
    TWO(__hadd_rn, H)                                                                                                  \
    TWO(__hmul_rn, H)                                                                                                  \
    TWO(__hadd2, H2)                                                                                                   \
    TWO(__hsub2, H2)                                                                                                   \
    TWO(__hmul2, H2)                                                                                                   \
    TWO(__hadd_sat, H) TWO(__hmul_sat, H) TWO(__hsub2_sat, H2) TWO(__hmin, H) TWO(__hmax, H) TWO(__hmin2, H2)          \
        TWO(__hmax_nan, H) TWO(__hmin2_nan, H2) ONE(__hneg, H) ONE(__habs, H) ONE(__habs2, H2) THREE(__hfma, H)        \
            THREE(__hfma2, H2) THREE(__hfma_sat, H) THREE(__hfma_relu, H) THREE(__hfma2_relu, H2) THREE(__hcmadd, H2)  \
                TWO(__hdiv, H) TWO(__h2div, H2) ONE(__hisnan, H) ONE(__hisinf, H) ONE(__hisnan2, H2) TWO(__heq, H)     \
                    TWO(__heq2, H2) TWO(__hbeq2, H2) TWO(__heq2_mask, H2) TWO(__hne, H) TWO(__hne2, H2)                \
                        TWO(__hbne2, H2) TWO(__hne2_mask, H2) TWO(__hlt, H) TWO(__hlt2, H2) TWO(__hblt2, H2)           \
                            TWO(__hlt2_mask, H2) TWO(__hle, H) TWO(__hle2, H2) TWO(__hble2, H2) TWO(__hle2_mask, H2)   \
                                TWO(__hgt, H) TWO(__hgt2, H2) TWO(__hbgt2, H2) TWO(__hgt2_mask, H2) TWO(__hge, H)      \
                                    TWO(__hge2, H2) TWO(__hbge2, H2) TWO(__hge2_mask, H2) TWO(__hequ, H)               \
                                        TWO(__hequ2, H2) TWO(__hbequ2, H2) TWO(__hequ2_mask, H2) TWO(__hneu, H)        \
                                            TWO(__hneu2, H2) TWO(__hbneu2, H2) TWO(__hneu2_mask, H2) TWO(__hltu, H)    \
                                                TWO(__hltu2, H2) TWO(__hbltu2, H2) TWO(__hltu2_mask, H2)               \
                                                    TWO(__hleu, H) TWO(__hleu2, H2) TWO(__hbleu2, H2)                  \
                                                        TWO(__hleu2_mask, H2) TWO(__hgtu, H) TWO(__hgtu2, H2)          \
                                                            TWO(__hbgtu2, H2) TWO(__hgtu2_mask, H2) TWO(__hgeu, H)     \
                                                                TWO(__hgeu2, H2) TWO(__hbgeu2, H2)                     \
                                                                    TWO(__hgeu2_mask, H2) ONE_D(hsqrt, H)              \
                                                                        ONE_D(hrcp, H) ONE_D(htrunc, H)                \
                                                                            ONE_D(hceil, H) ONE_D(hfloor, H)           \
                                                                                ONE_D(hrint, H) ONE_D(h2rint, H2)
#define APPROXIMATE(ONE_D, H)                                                                                          \
    ONE_D(hrsqrt, H)                                                                                                   \
    ONE_D(hexp, H)                                                                                                     \
    ONE_D(hexp2, H) ONE_D(hexp10, H) ONE_D(hlog, H) ONE_D(hlog2, H) ONE_D(hlog10, H) ONE_D(hsin, H) ONE_D(hcos, H)
#define HALVES(ONE, ONE_D)                                                                                             \
    ONE(__half2float, __half)                                                                                          \
    ONE(__float2half, float)                                                                                           \
    ONE(__float2half_rz, float)                                                                                        \
    ONE(__float2half_rd, float)                                                                                        \
    ONE(__float2half_ru, float)                                                                                        \
    ONE(__double2half, double)                                                                                         \
    ONE(__int2half_rn, int)                                                                                            \
    ONE(__int2half_rz, int)                                                                                            \
    ONE(__short2half_rd, short) ONE(__uint2half_ru, unsigned) ONE(__ll2half_rn, long long)                             \
        ONE(__ull2half_rn, unsigned long long) ONE(__half2int_rz, __half) ONE_D(__half2int_rn, __half)                 \
            ONE_D(__half2int_rd, __half) ONE(__half2short_rz, __half) ONE(__half2ushort_rz, __half)                    \
                ONE(__half2uint_rz, __half) ONE(__half2ll_rz, __half) ONE(__half2ull_rz, __half)                       \
                    ONE(__half2char_rz, __half) ONE(__half2uchar_rz, __half) ONE(__float22half2_rn, float2)            \
                        ONE(__half22float2, __half2) ONE(__lowhigh2highlow, __half2) ONE(__high2half2, __half2)        \
                            ONE(__low2float, __half2)
#define BFLOATS(ONE, ONE_D)                                                                                            \
    ONE(__bfloat162float, __nv_bfloat16)                                                                               \
    ONE(__float2bfloat16, float)                                                                                       \
    ONE(__float2bfloat16_rz, float)                                                                                    \
    ONE(__float2bfloat16_rd, float)                                                                                    \
    ONE(__float2bfloat16_ru, float)                                                                                    \
    ONE(__double2bfloat16, double)                                                                                     \
    ONE(__int2bfloat16_rn, int)                                                                                        \
    ONE(__ull2bfloat16_rn, unsigned long long)                                                                         \
    ONE(__bfloat162int_rz, __nv_bfloat16) ONE_D(__bfloat162int_rn, __nv_bfloat16) ONE(__bfloat162ll_rz, __nv_bfloat16) \
        ONE(__float22bfloat162_rn, float2) ONE(__bfloat1622float2, __nv_bfloat162)                                     \
            ONE(__bfloat162bfloat162, __nv_bfloat16)
/* clang-format on */

namespace of_half {
HALVES(DEFINE_ONE, DEFINE_ONE_D)
ARITHMETIC(DEFINE_ONE, DEFINE_ONE_D, DEFINE_TWO, DEFINE_THREE, __half, __half2)
APPROXIMATE(DEFINE_ONE_D, __half)
static void exact(const char *type) {
    HALVES(SHOW_ONE, SHOW_ONE_D)
    ARITHMETIC(SHOW_ONE, SHOW_ONE_D, SHOW_TWO, SHOW_THREE, __half, __half2)
}
static void approximate(const char *type) { APPROXIMATE(SHOW_ONE_D, __half) }
} // namespace of_half

namespace of_bfloat16 {
BFLOATS(DEFINE_ONE, DEFINE_ONE_D)
ARITHMETIC(DEFINE_ONE, DEFINE_ONE_D, DEFINE_TWO, DEFINE_THREE, __nv_bfloat16, __nv_bfloat162)
APPROXIMATE(DEFINE_ONE_D, __nv_bfloat16)
static void exact(const char *type) {
    BFLOATS(SHOW_ONE, SHOW_ONE_D)
    ARITHMETIC(SHOW_ONE, SHOW_ONE_D, SHOW_TWO, SHOW_THREE, __nv_bfloat16, __nv_bfloat162)
}
static void approximate(const char *type) { APPROXIMATE(SHOW_ONE_D, __nv_bfloat16) }
} // namespace of_bfloat16

int main(int argc, char **) {
    of_half::exact("half");
    of_bfloat16::exact("bfloat16");
    if (argc > 1) of_half::approximate("half"), of_bfloat16::approximate("bfloat16");
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}

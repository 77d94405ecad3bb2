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

/* functions.def is read three times: for a type for each function, and to show the hashes. */
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

namespace of_half {
#define H  __half
#define H2 __half2
#define HALF
#define ONE   DEFINE_ONE
#define ONE_D DEFINE_ONE_D
#define TWO   DEFINE_TWO
#define THREE DEFINE_THREE
#define CONVERSIONS
#define ARITHMETIC
#define APPROXIMATE
#include "functions.def"
#undef ONE
#undef ONE_D
#undef TWO
#undef THREE
#define ONE   SHOW_ONE
#define ONE_D SHOW_ONE_D
#define TWO   SHOW_TWO
#define THREE SHOW_THREE
#undef APPROXIMATE
static void exact(const char *type) {
#include "functions.def"
}
#undef CONVERSIONS
#undef ARITHMETIC
#define APPROXIMATE
static void approximate(const char *type) {
#include "functions.def"
}
#undef APPROXIMATE
#undef ONE
#undef ONE_D
#undef TWO
#undef THREE
#undef H
#undef H2
#undef HALF
} // namespace of_half

namespace of_bfloat16 {
#define H  __nv_bfloat16
#define H2 __nv_bfloat162
#define BFLOAT16
#define ONE   DEFINE_ONE
#define ONE_D DEFINE_ONE_D
#define TWO   DEFINE_TWO
#define THREE DEFINE_THREE
#define CONVERSIONS
#define ARITHMETIC
#define APPROXIMATE
#include "functions.def"
#undef ONE
#undef ONE_D
#undef TWO
#undef THREE
#define ONE   SHOW_ONE
#define ONE_D SHOW_ONE_D
#define TWO   SHOW_TWO
#define THREE SHOW_THREE
#undef APPROXIMATE
static void exact(const char *type) {
#include "functions.def"
}
#undef CONVERSIONS
#undef ARITHMETIC
#define APPROXIMATE
static void approximate(const char *type) {
#include "functions.def"
}
#undef APPROXIMATE
#undef ONE
#undef ONE_D
#undef TWO
#undef THREE
#undef H
#undef H2
#undef BFLOAT16
} // namespace of_bfloat16

int main(int argc, char **) {
    of_half::exact("half");
    of_bfloat16::exact("bfloat16");
    if (argc > 1) of_half::approximate("half"), of_bfloat16::approximate("bfloat16");
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 0;
}

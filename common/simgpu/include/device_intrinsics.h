/* device_intrinsics.h — the intrinsics of CUDA's math API: functions of device code whose names begin with __, most of
 * them one instruction. Approximations, arithmetic and conversions with a direction of rounding (rn nearest even, rz
 * towards zero, ru up, rd down), casts of bits, integers, and two or four small integers in a word. Names and meanings:
 * CUDA Math API Reference, "Intrinsics". Included by cuda_runtime.h. */
#ifndef SIMGPU_DEVICE_INTRINSICS_H
#define SIMGPU_DEVICE_INTRINSICS_H

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__

/* --- approximations: fast, and less exact than the functions of the same name without __ ---------------------- */

SIMGPU_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
SIMGPU_DEVICE float __expf(float x) { return __nvvm_ex2_approx_f(x * 1.442695041f); }
SIMGPU_DEVICE float __exp10f(float x) { return __nvvm_ex2_approx_f(x * 3.321928095f); }
SIMGPU_DEVICE float __logf(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }
SIMGPU_DEVICE float __log2f(float x) { return __nvvm_lg2_approx_f(x); }
SIMGPU_DEVICE float __log10f(float x) { return __nvvm_lg2_approx_f(x) * 0.301029996f; }
SIMGPU_DEVICE float __sinf(float x) { return __nvvm_sin_approx_f(x); }
SIMGPU_DEVICE float __cosf(float x) { return __nvvm_cos_approx_f(x); }
SIMGPU_DEVICE float __tanf(float x) { return __nvvm_div_approx_f(__sinf(x), __cosf(x)); }
SIMGPU_DEVICE void __sincosf(float x, float *s, float *c) {
    *s = __sinf(x);
    *c = __cosf(x);
}
SIMGPU_DEVICE float __powf(float x, float y) { return __nvvm_ex2_approx_f(y * __nvvm_lg2_approx_f(x)); }
SIMGPU_DEVICE float __saturatef(float x) { return __nvvm_saturate_f(x); }

/* --- arithmetic that no compiler contracts, to the nearest --------------------------------------------------- */

SIMGPU_DEVICE float __fmaf_rn(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SIMGPU_DEVICE double __fma_rn(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
SIMGPU_DEVICE float __fadd_rn(float x, float y) { return __nvvm_add_rn_f(x, y); }
SIMGPU_DEVICE float __fsub_rn(float x, float y) { return __nvvm_add_rn_f(x, -y); }
SIMGPU_DEVICE float __fdiv_rn(float x, float y) { return __nvvm_div_rn_f(x, y); }
SIMGPU_DEVICE float __frcp_rn(float x) { return __nvvm_rcp_rn_f(x); }
SIMGPU_DEVICE float __fsqrt_rn(float x) { return __nvvm_sqrt_rn_f(x); }
SIMGPU_DEVICE float __frsqrt_rn(float x) { return __nvvm_rsqrt_approx_f(x); }
SIMGPU_DEVICE double __dadd_rn(double x, double y) { return __nvvm_add_rn_d(x, y); }
SIMGPU_DEVICE double __dsub_rn(double x, double y) { return __nvvm_add_rn_d(x, -y); }
SIMGPU_DEVICE double __ddiv_rn(double x, double y) { return __nvvm_div_rn_d(x, y); }
SIMGPU_DEVICE double __drcp_rn(double x) { return __nvvm_rcp_rn_d(x); }
SIMGPU_DEVICE double __dsqrt_rn(double x) { return __nvvm_sqrt_rn_d(x); }

/* --- the same with a direction of rounding ------------------------------------------------------------------- */

/* And products to the nearest: of their builtin clang 14 makes a plain product, and of that and a difference an FMA. */

#define SIMGPU_ROUNDED1(name, op, T, c)                                                                                \
    SIMGPU_DEVICE T name(T x) {                                                                                        \
        T r;                                                                                                           \
        asm(op " %0, %1;" : "=" c(r) : c(x));                                                                          \
        return r;                                                                                                      \
    }
#define SIMGPU_ROUNDED2(name, op, T, c)                                                                                \
    SIMGPU_DEVICE T name(T x, T y) {                                                                                   \
        T r;                                                                                                           \
        asm(op " %0, %1, %2;" : "=" c(r) : c(x), c(y));                                                                \
        return r;                                                                                                      \
    }
#define SIMGPU_ROUNDED3(name, op, T, c)                                                                                \
    SIMGPU_DEVICE T name(T x, T y, T z) {                                                                              \
        T r;                                                                                                           \
        asm(op " %0, %1, %2, %3;" : "=" c(r) : c(x), c(y), c(z));                                                      \
        return r;                                                                                                      \
    }
#define SIMGPU_ROUNDED(suffix, mode)                                                                                   \
    SIMGPU_ROUNDED2(__fadd_##suffix, "add." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED2(__fsub_##suffix, "sub." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED2(__fmul_##suffix, "mul." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED2(__fdiv_##suffix, "div." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED1(__frcp_##suffix, "rcp." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED1(__fsqrt_##suffix, "sqrt." mode ".f32", float, "f")                                                 \
    SIMGPU_ROUNDED3(__fmaf_##suffix, "fma." mode ".f32", float, "f")                                                   \
    SIMGPU_ROUNDED2(__dadd_##suffix, "add." mode ".f64", double, "d")                                                  \
    SIMGPU_ROUNDED2(__dsub_##suffix, "sub." mode ".f64", double, "d")                                                  \
    SIMGPU_ROUNDED2(__dmul_##suffix, "mul." mode ".f64", double, "d")                                                  \
    SIMGPU_ROUNDED2(__ddiv_##suffix, "div." mode ".f64", double, "d")                                                  \
    SIMGPU_ROUNDED1(__drcp_##suffix, "rcp." mode ".f64", double, "d")                                                  \
    SIMGPU_ROUNDED1(__dsqrt_##suffix, "sqrt." mode ".f64", double, "d")                                                \
    SIMGPU_ROUNDED3(__fma_##suffix, "fma." mode ".f64", double, "d")
SIMGPU_ROUNDED2(__fmul_rn, "mul.rn.f32", float, "f")
SIMGPU_ROUNDED2(__dmul_rn, "mul.rn.f64", double, "d")
SIMGPU_ROUNDED(rz, "rz")
SIMGPU_ROUNDED(ru, "rp")
SIMGPU_ROUNDED(rd, "rm")
#undef SIMGPU_ROUNDED
#undef SIMGPU_ROUNDED3
#undef SIMGPU_ROUNDED2
#undef SIMGPU_ROUNDED1

/* --- conversions, saturated as the hardware does it; and casts of bits ---------------------------------------- */

#define SIMGPU_CONVERT(name, to, from, types, out, in, mode, suffix)                                                   \
    SIMGPU_DEVICE to name##_##suffix(from x) {                                                                         \
        to r;                                                                                                          \
        asm("cvt." mode "." types " %0, %1;" : "=" out(r) : in(x));                                                    \
        return r;                                                                                                      \
    }
#define SIMGPU_TO_INTEGER(name, to, from, types, out, in)                                                              \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rni", rn)                                                          \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rzi", rz)                                                          \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rpi", ru)                                                          \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rmi", rd)
#define SIMGPU_TO_FLOAT(name, to, from, types, out, in)                                                                \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rn", rn)                                                           \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rz", rz)                                                           \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rp", ru)                                                           \
    SIMGPU_CONVERT(name, to, from, types, out, in, "rm", rd)
SIMGPU_TO_INTEGER(__float2int, int, float, "s32.f32", "r", "f")
SIMGPU_TO_INTEGER(__float2uint, unsigned, float, "u32.f32", "r", "f")
SIMGPU_TO_INTEGER(__float2ll, long long, float, "s64.f32", "l", "f")
SIMGPU_TO_INTEGER(__float2ull, unsigned long long, float, "u64.f32", "l", "f")
SIMGPU_TO_INTEGER(__double2int, int, double, "s32.f64", "r", "d")
SIMGPU_TO_INTEGER(__double2uint, unsigned, double, "u32.f64", "r", "d")
SIMGPU_TO_INTEGER(__double2ll, long long, double, "s64.f64", "l", "d")
SIMGPU_TO_INTEGER(__double2ull, unsigned long long, double, "u64.f64", "l", "d")
SIMGPU_TO_FLOAT(__int2float, float, int, "f32.s32", "f", "r")
SIMGPU_TO_FLOAT(__uint2float, float, unsigned, "f32.u32", "f", "r")
SIMGPU_TO_FLOAT(__ll2float, float, long long, "f32.s64", "f", "l")
SIMGPU_TO_FLOAT(__ull2float, float, unsigned long long, "f32.u64", "f", "l")
SIMGPU_TO_FLOAT(__ll2double, double, long long, "f64.s64", "d", "l")
SIMGPU_TO_FLOAT(__ull2double, double, unsigned long long, "f64.u64", "d", "l")
SIMGPU_TO_FLOAT(__double2float, float, double, "f32.f64", "f", "d")
#undef SIMGPU_TO_FLOAT
#undef SIMGPU_TO_INTEGER
#undef SIMGPU_CONVERT
SIMGPU_DEVICE double __int2double_rn(int x) { return x; }
SIMGPU_DEVICE double __uint2double_rn(unsigned x) { return x; }

SIMGPU_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SIMGPU_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SIMGPU_DEVICE unsigned __float_as_uint(float x) { return (unsigned)__builtin_bit_cast(int, x); }
SIMGPU_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, (int)x); }
SIMGPU_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
SIMGPU_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SIMGPU_DEVICE int __double2hiint(double x) { return __nvvm_d2i_hi(x); }
SIMGPU_DEVICE int __double2loint(double x) { return __nvvm_d2i_lo(x); }
SIMGPU_DEVICE double __hiloint2double(int high, int low) { return __nvvm_lohi_i2d(low, high); }

/* --- integers ------------------------------------------------------------------------------------------------- */

SIMGPU_DEVICE int __mulhi(int x, int y) { return __nvvm_mulhi_i(x, y); }
SIMGPU_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)__nvvm_mulhi_ui(x, y); }
SIMGPU_DEVICE long long __mul64hi(long long x, long long y) { return __nvvm_mulhi_ll(x, y); }
SIMGPU_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)__nvvm_mulhi_ull(x, y);
}
SIMGPU_DEVICE int __mul24(int x, int y) { return __nvvm_mul24_i(x, y); }
SIMGPU_DEVICE unsigned __umul24(unsigned x, unsigned y) { return (unsigned)__nvvm_mul24_ui(x, y); }
SIMGPU_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
SIMGPU_DEVICE unsigned __sad(int x, int y, unsigned z) { return z + (unsigned)(x < y ? y - x : x - y); }
SIMGPU_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) { return z + (x < y ? y - x : x - y); }
SIMGPU_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
SIMGPU_DEVICE unsigned __uhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y) >> 1); }
SIMGPU_DEVICE unsigned __urhadd(unsigned x, unsigned y) { return (unsigned)(((unsigned long long)x + y + 1) >> 1); }
SIMGPU_DEVICE int __abs(int x) { return x < 0 ? -x : x; }

/* Four products of bytes, or two of 16-bit by 8-bit halves, and a sum. */
#define SIMGPU_DOT(name, T, op)                                                                                        \
    SIMGPU_DEVICE T name(T a, T b, T c) {                                                                              \
        T r;                                                                                                           \
        asm(op " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                                                 \
        return r;                                                                                                      \
    }
SIMGPU_DOT(__dp4a, int, "dp4a.s32.s32")
SIMGPU_DOT(__dp4a, unsigned, "dp4a.u32.u32")
SIMGPU_DOT(__dp2a_lo, int, "dp2a.lo.s32.s32")
SIMGPU_DOT(__dp2a_lo, unsigned, "dp2a.lo.u32.u32")
SIMGPU_DOT(__dp2a_hi, int, "dp2a.hi.s32.s32")
SIMGPU_DOT(__dp2a_hi, unsigned, "dp2a.hi.u32.u32")
#undef SIMGPU_DOT
SIMGPU_DEVICE int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
SIMGPU_DEVICE unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) {
    return c + (unsigned)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}

/* --- two or four integers in a word ("SIMD intrinsics"): each lane of BITS bits by itself ---------------------- */

#define SIMGPU_LANES(name, BITS, T, value)                                                                             \
    SIMGPU_DEVICE unsigned name(unsigned a, unsigned b) {                                                              \
        unsigned all = 0;                                                                                              \
        for (int i = 0; i < 32; i += BITS) {                                                                           \
            int x = (T)(a >> i), y = (T)(b >> i), r = value;                                                           \
            (void)y;                                                                                                   \
            all |= ((unsigned)r & (0xffffffffu >> (32 - BITS))) << i;                                                  \
        }                                                                                                              \
        return all;                                                                                                    \
    }
#define SIMGPU_LANES1(name, BITS, T, value)                                                                            \
    SIMGPU_LANES(name##_of, BITS, T, value)                                                                            \
    SIMGPU_DEVICE unsigned name(unsigned a) { return name##_of(a, 0); }
#define SIMGPU_LIMIT(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
#define SIMGPU_SIMD(N, BITS, S, U)                                                                                     \
    SIMGPU_LANES1(__vabs##N, BITS, S, x < 0 ? -x : x)                                                                  \
    SIMGPU_LANES1(__vabsss##N, BITS, S, SIMGPU_LIMIT(x < 0 ? -x : x, 0, (1 << (BITS - 1)) - 1))                        \
    SIMGPU_LANES1(__vneg##N, BITS, S, -x)                                                                              \
    SIMGPU_LANES1(__vnegss##N, BITS, S, SIMGPU_LIMIT(-x, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1))                   \
    SIMGPU_LANES(__vadd##N, BITS, U, x + y)                                                                            \
    SIMGPU_LANES(__vsub##N, BITS, U, x - y)                                                                            \
    SIMGPU_LANES(__vaddss##N, BITS, S, SIMGPU_LIMIT(x + y, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1))                 \
    SIMGPU_LANES(__vsubss##N, BITS, S, SIMGPU_LIMIT(x - y, -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1))                 \
    SIMGPU_LANES(__vaddus##N, BITS, U, SIMGPU_LIMIT(x + y, 0, (1 << BITS) - 1))                                        \
    SIMGPU_LANES(__vsubus##N, BITS, U, SIMGPU_LIMIT(x - y, 0, (1 << BITS) - 1))                                        \
    SIMGPU_LANES(__vabsdiffs##N, BITS, S, x < y ? y - x : x - y)                                                       \
    SIMGPU_LANES(__vabsdiffu##N, BITS, U, x < y ? y - x : x - y)                                                       \
    SIMGPU_LANES(__vavgs##N, BITS, S, (x + y + (x + y >= 0)) >> 1)                                                     \
    SIMGPU_LANES(__vavgu##N, BITS, U, (x + y + 1) >> 1)                                                                \
    SIMGPU_LANES(__vhaddu##N, BITS, U, (x + y) >> 1)                                                                   \
    SIMGPU_LANES(__vmaxs##N, BITS, S, x > y ? x : y)                                                                   \
    SIMGPU_LANES(__vmaxu##N, BITS, U, x > y ? x : y)                                                                   \
    SIMGPU_LANES(__vmins##N, BITS, S, x < y ? x : y)                                                                   \
    SIMGPU_LANES(__vminu##N, BITS, U, x < y ? x : y)                                                                   \
    SIMGPU_SIMD_COMPARE(eq, N, BITS, U, ==)                                                                            \
    SIMGPU_SIMD_COMPARE(ne, N, BITS, U, !=)                                                                            \
    SIMGPU_SIMD_COMPARE(ges, N, BITS, S, >=)                                                                           \
    SIMGPU_SIMD_COMPARE(geu, N, BITS, U, >=)                                                                           \
    SIMGPU_SIMD_COMPARE(gts, N, BITS, S, >)                                                                            \
    SIMGPU_SIMD_COMPARE(gtu, N, BITS, U, >)                                                                            \
    SIMGPU_SIMD_COMPARE(les, N, BITS, S, <=)                                                                           \
    SIMGPU_SIMD_COMPARE(leu, N, BITS, U, <=)                                                                           \
    SIMGPU_SIMD_COMPARE(lts, N, BITS, S, <)                                                                            \
    SIMGPU_SIMD_COMPARE(ltu, N, BITS, U, <)                                                                            \
    SIMGPU_DEVICE unsigned __vsads##N(unsigned a, unsigned b) { return simgpuSum##N(__vabsdiffs##N(a, b)); }           \
    SIMGPU_DEVICE unsigned __vsadu##N(unsigned a, unsigned b) { return simgpuSum##N(__vabsdiffu##N(a, b)); }
#define SIMGPU_SIMD_COMPARE(name, N, BITS, T, op)                                                                      \
    SIMGPU_LANES(__vcmp##name##N, BITS, T, x op y ? -1 : 0)                                                            \
    SIMGPU_LANES(__vset##name##N, BITS, T, x op y)
SIMGPU_DEVICE unsigned simgpuSum2(unsigned v) { return (v & 0xffff) + (v >> 16); }
SIMGPU_DEVICE unsigned simgpuSum4(unsigned v) { return (v & 0xff) + (v >> 8 & 0xff) + (v >> 16 & 0xff) + (v >> 24); }
SIMGPU_SIMD(2, 16, short, unsigned short)
SIMGPU_SIMD(4, 8, signed char, unsigned char)
#undef SIMGPU_SIMD_COMPARE
#undef SIMGPU_SIMD
#undef SIMGPU_LIMIT
#undef SIMGPU_LANES1
#undef SIMGPU_LANES

#undef SIMGPU_DEVICE
#endif

/* simgpu_dpx.h — DPX, the functions of CUDA 12 for dynamic programming: the greatest or least of two or three integers,
 * of a sum and an integer, and with _relu at least 0; for a word (s32, u32) or for each half of it (s16x2, u16x2). Host
 * and device. Sums wrap around. Names and meanings: CUDA Math API Reference, "SIMD Intrinsics". Hopper has instructions
 * for them; here they are ordinary ones, as on older cards. Included by cuda_runtime.h. */
#ifndef SIMGPU_DPX_H
#define SIMGPU_DPX_H

#define SIMGPU_BOTH static __inline__ __attribute__((host, device, always_inline, nodebug, unused))

template <class T> SIMGPU_BOTH T simgpuMost(T a, T b) { return a < b ? b : a; }
template <class T> SIMGPU_BOTH T simgpuLeast(T a, T b) { return b < a ? b : a; }
template <class T> SIMGPU_BOTH T simgpuSum(T a, T b) { return (T)((unsigned)a + (unsigned)b); }
template <class T> SIMGPU_BOTH T simgpuRelu(T a) { return a < 0 ? 0 : a; }
SIMGPU_BOTH unsigned simgpuHalves(unsigned high, unsigned low) { return high << 16 | (low & 0xffff); }

#define SIMGPU_OF_WORD2(name, T, value)                                                                                \
    SIMGPU_BOTH T name(const T a, const T b) { return value; }
#define SIMGPU_OF_WORD3(name, T, value)                                                                                \
    SIMGPU_BOTH T name(const T a, const T b, const T c) { return value; }
#define SIMGPU_OF_HALVES2(name, T, value)                                                                              \
    SIMGPU_BOTH T simgpuHalf##name(T a, T b) { return value; }                                                         \
    SIMGPU_BOTH unsigned name(const unsigned a, const unsigned b) {                                                    \
        return simgpuHalves((unsigned)simgpuHalf##name((T)(a >> 16), (T)(b >> 16)),                                    \
                            (unsigned)simgpuHalf##name((T)a, (T)b));                                                   \
    }
#define SIMGPU_OF_HALVES3(name, T, value)                                                                              \
    SIMGPU_BOTH T simgpuHalf##name(T a, T b, T c) { return value; }                                                    \
    SIMGPU_BOTH unsigned name(const unsigned a, const unsigned b, const unsigned c) {                                  \
        return simgpuHalves((unsigned)simgpuHalf##name((T)(a >> 16), (T)(b >> 16), (T)(c >> 16)),                      \
                            (unsigned)simgpuHalf##name((T)a, (T)b, (T)c));                                             \
    }

#define SIMGPU_DPX3(name, value)                                                                                       \
    SIMGPU_OF_WORD3(name##_s32, int, value)                                                                            \
    SIMGPU_OF_WORD3(name##_u32, unsigned, value)                                                                       \
    SIMGPU_OF_HALVES3(name##_s16x2, short, value)                                                                      \
    SIMGPU_OF_HALVES3(name##_u16x2, unsigned short, value)                                                             \
    SIMGPU_OF_WORD3(name##_s32_relu, int, simgpuRelu(value))                                                           \
    SIMGPU_OF_HALVES3(name##_s16x2_relu, short, simgpuRelu(value))
SIMGPU_DPX3(__vimax3, simgpuMost(simgpuMost(a, b), c))
SIMGPU_DPX3(__vimin3, simgpuLeast(simgpuLeast(a, b), c))
SIMGPU_DPX3(__viaddmax, simgpuMost(simgpuSum(a, b), c))
SIMGPU_DPX3(__viaddmin, simgpuLeast(simgpuSum(a, b), c))
#undef SIMGPU_DPX3

SIMGPU_OF_WORD2(__vimax_s32_relu, int, simgpuRelu(simgpuMost(a, b)))
SIMGPU_OF_WORD2(__vimin_s32_relu, int, simgpuRelu(simgpuLeast(a, b)))
SIMGPU_OF_HALVES2(__vimax_s16x2_relu, short, simgpuRelu(simgpuMost(a, b)))
SIMGPU_OF_HALVES2(__vimin_s16x2_relu, short, simgpuRelu(simgpuLeast(a, b)))

/* These also tell whether the result is a: a >= b, or a <= b. CUDA has no __vimax_s16x2; that is __vmaxs2
 * (device_intrinsics.h). */
#define SIMGPU_OF_WORD_TOLD(name, T, pick, op)                                                                         \
    SIMGPU_BOTH T name(const T a, const T b, bool *const first) {                                                      \
        *first = a op b;                                                                                               \
        return pick(a, b);                                                                                             \
    }
#define SIMGPU_OF_HALVES_TOLD(name, T, pick, op)                                                                       \
    SIMGPU_BOTH unsigned name(const unsigned a, const unsigned b, bool *const high, bool *const low) {                 \
        *high = (T)(a >> 16) op(T)(b >> 16);                                                                           \
        *low = (T)a op(T) b;                                                                                           \
        return simgpuHalves((unsigned)pick((T)(a >> 16), (T)(b >> 16)), (unsigned)pick((T)a, (T)b));                   \
    }
#define SIMGPU_DPX_TOLD(name, pick, op)                                                                                \
    SIMGPU_OF_WORD_TOLD(name##_s32, int, pick, op)                                                                     \
    SIMGPU_OF_WORD_TOLD(name##_u32, unsigned, pick, op)                                                                \
    SIMGPU_OF_HALVES_TOLD(name##_s16x2, short, pick, op)                                                               \
    SIMGPU_OF_HALVES_TOLD(name##_u16x2, unsigned short, pick, op)
SIMGPU_DPX_TOLD(__vibmax, simgpuMost, >=)
SIMGPU_DPX_TOLD(__vibmin, simgpuLeast, <=)
#undef SIMGPU_DPX_TOLD
#undef SIMGPU_OF_HALVES_TOLD
#undef SIMGPU_OF_WORD_TOLD
#undef SIMGPU_OF_HALVES3
#undef SIMGPU_OF_HALVES2
#undef SIMGPU_OF_WORD3
#undef SIMGPU_OF_WORD2
#undef SIMGPU_BOTH
#endif

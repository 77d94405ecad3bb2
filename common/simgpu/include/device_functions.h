/* device_functions.h — device functions other than arithmetic and atomics: barriers, shuffles, votes, fences, clocks,
 * cached loads, operations on bits, printf, assert. Included by cuda_runtime.h. */
#ifndef SIMGPU_DEVICE_FUNCTIONS_H
#define SIMGPU_DEVICE_FUNCTIONS_H

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__

/* --- barriers and fences ------------------------------------------------------------------------------------ */

/* clang has builtins for these, but LLVM 14 assumes that no intrinsic writes a __shared__ variable whose address is
 * never taken, and moves its loads across them. PTX with a "memory" clobber prevents that. */
SIMGPU_DEVICE void simgpuBarrier() { asm volatile("bar.sync 0;" ::: "memory"); }
#define __syncthreads() simgpuBarrier()
#define SIMGPU_BARRIER_OF(name, builtin)                                                                               \
    SIMGPU_DEVICE int name(int p) {                                                                                    \
        asm volatile("" ::: "memory");                                                                                 \
        int all = builtin(p);                                                                                          \
        asm volatile("" ::: "memory");                                                                                 \
        return all;                                                                                                    \
    }
SIMGPU_BARRIER_OF(__syncthreads_count, __nvvm_bar0_popc)
SIMGPU_BARRIER_OF(__syncthreads_and, __nvvm_bar0_and)
SIMGPU_BARRIER_OF(__syncthreads_or, __nvvm_bar0_or)
#undef SIMGPU_BARRIER_OF
/* One of the 16 barriers of a block: all of its threads, or the first `count` to come, meet there. */
SIMGPU_DEVICE void __barrier_sync(unsigned id) { asm volatile("barrier.sync %0;" ::"r"(id) : "memory"); }
SIMGPU_DEVICE void __barrier_sync_count(unsigned id, unsigned count) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
}
SIMGPU_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { asm volatile("bar.warp.sync %0;" ::"r"(mask) : "memory"); }
SIMGPU_DEVICE void __threadfence_block() { asm volatile("membar.cta;" ::: "memory"); }
SIMGPU_DEVICE void __threadfence() { asm volatile("membar.gl;" ::: "memory"); }
SIMGPU_DEVICE void __threadfence_system() { asm volatile("membar.sys;" ::: "memory"); }
SIMGPU_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }
SIMGPU_DEVICE void __trap() { asm volatile("trap;"); }
SIMGPU_DEVICE void __brkpt() { asm volatile("brkpt;"); } /* without a debugger a trap, as on a card */
/* Counters of a profiler, which SimGPU has not. */
SIMGPU_DEVICE void __prof_trigger(int) {}

/* --- the warp: votes, matches, shuffles --------------------------------------------------------------------- */

/* Written as PTX, since clang 14 has builtins for these only with a flag for a newer PTX version. */
#define SIMGPU_VOTE(T, name, how)                                                                                      \
    SIMGPU_DEVICE T name(unsigned mask, int p) {                                                                       \
        T v;                                                                                                           \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %1, 0; " how " }" : "=r"(v) : "r"(p), "r"(mask) : "memory");   \
        return v;                                                                                                      \
    }
SIMGPU_VOTE(int, __all_sync, "vote.sync.all.pred q, p, %2; selp.s32 %0, 1, 0, q;")
SIMGPU_VOTE(int, __any_sync, "vote.sync.any.pred q, p, %2; selp.s32 %0, 1, 0, q;")
SIMGPU_VOTE(int, __uni_sync, "vote.sync.uni.pred q, p, %2; selp.s32 %0, 1, 0, q;")
SIMGPU_VOTE(unsigned, __ballot_sync, "vote.sync.ballot.b32 %0, p, %2;")
#undef SIMGPU_VOTE
SIMGPU_DEVICE unsigned __activemask() {
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}
SIMGPU_DEVICE unsigned __lanemask_lt() { return __nvvm_read_ptx_sreg_lanemask_lt(); }

/* A shuffle moves 32 bits; the bits of a value of another width are converted. `clamp` limits the source lane to the
 * last lane of the segment (0x1f), or for `up` to the first (0); the segment's mask is above it. */
#define SIMGPU_SHUFFLE(name, mode, clamp, argument)                                                                    \
    SIMGPU_DEVICE int name(unsigned mask, int v, argument a, int width = 32) {                                         \
        int got;                                                                                                       \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, %3, %4;"                                                      \
                     : "=r"(got)                                                                                       \
                     : "r"(v), "r"((int)a), "r"(((32 - width) << 8) | clamp), "r"(mask)                                \
                     : "memory");                                                                                      \
        return got;                                                                                                    \
    }                                                                                                                  \
    SIMGPU_DEVICE unsigned name(unsigned mask, unsigned v, argument a, int width = 32) {                               \
        return (unsigned)name(mask, (int)v, a, width);                                                                 \
    }                                                                                                                  \
    SIMGPU_DEVICE float name(unsigned mask, float v, argument a, int width = 32) {                                     \
        return __builtin_bit_cast(float, name(mask, __builtin_bit_cast(int, v), a, width));                            \
    }                                                                                                                  \
    SIMGPU_DEVICE unsigned long long name(unsigned mask, unsigned long long v, argument a, int width = 32) {           \
        unsigned low = name(mask, (unsigned)v, a, width), high = name(mask, (unsigned)(v >> 32), a, width);            \
        return (unsigned long long)high << 32 | low;                                                                   \
    }                                                                                                                  \
    SIMGPU_DEVICE long long name(unsigned mask, long long v, argument a, int width = 32) {                             \
        return (long long)name(mask, (unsigned long long)v, a, width);                                                 \
    }                                                                                                                  \
    SIMGPU_DEVICE long name(unsigned mask, long v, argument a, int width = 32) {                                       \
        return (long)name(mask, (unsigned long long)v, a, width);                                                      \
    }                                                                                                                  \
    SIMGPU_DEVICE unsigned long name(unsigned mask, unsigned long v, argument a, int width = 32) {                     \
        return (unsigned long)name(mask, (unsigned long long)v, a, width);                                             \
    }                                                                                                                  \
    SIMGPU_DEVICE double name(unsigned mask, double v, argument a, int width = 32) {                                   \
        return __builtin_bit_cast(double, name(mask, __builtin_bit_cast(long long, v), a, width));                     \
    }
SIMGPU_SHUFFLE(__shfl_sync, "idx", 0x1f, int)
SIMGPU_SHUFFLE(__shfl_up_sync, "up", 0, unsigned)
SIMGPU_SHUFFLE(__shfl_down_sync, "down", 0x1f, unsigned)
SIMGPU_SHUFFLE(__shfl_xor_sync, "bfly", 0x1f, int)
#undef SIMGPU_SHUFFLE

#define SIMGPU_MATCH(T, bits, constraint)                                                                              \
    SIMGPU_DEVICE unsigned __match_any_sync(unsigned mask, T v) {                                                      \
        unsigned lanes;                                                                                                \
        asm volatile("match.any.sync." bits " %0, %1, %2;" : "=r"(lanes) : constraint(v), "r"(mask) : "memory");       \
        return lanes;                                                                                                  \
    }                                                                                                                  \
    SIMGPU_DEVICE unsigned __match_all_sync(unsigned mask, T v, int *same) {                                           \
        unsigned lanes;                                                                                                \
        asm volatile("{ .reg .pred p; match.all.sync." bits " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"                   \
                     : "=r"(lanes), "=r"(*same)                                                                        \
                     : constraint(v), "r"(mask)                                                                        \
                     : "memory");                                                                                      \
        return lanes;                                                                                                  \
    }
SIMGPU_MATCH(int, "b32", "r")
SIMGPU_MATCH(unsigned, "b32", "r")
SIMGPU_MATCH(float, "b32", "f")
SIMGPU_MATCH(long, "b64", "l")
SIMGPU_MATCH(unsigned long, "b64", "l")
SIMGPU_MATCH(long long, "b64", "l")
SIMGPU_MATCH(unsigned long long, "b64", "l")
SIMGPU_MATCH(double, "b64", "d")
#undef SIMGPU_MATCH

/* The sum, least, greatest ... of the values of the lanes in mask, in all of them. */
#define SIMGPU_REDUCE(name, T, op)                                                                                     \
    SIMGPU_DEVICE T name(unsigned mask, T v) {                                                                         \
        T r;                                                                                                           \
        asm volatile("redux.sync." op " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask) : "memory");                        \
        return r;                                                                                                      \
    }
SIMGPU_REDUCE(__reduce_add_sync, unsigned, "add.u32")
SIMGPU_REDUCE(__reduce_add_sync, int, "add.s32")
SIMGPU_REDUCE(__reduce_min_sync, unsigned, "min.u32")
SIMGPU_REDUCE(__reduce_min_sync, int, "min.s32")
SIMGPU_REDUCE(__reduce_max_sync, unsigned, "max.u32")
SIMGPU_REDUCE(__reduce_max_sync, int, "max.s32")
SIMGPU_REDUCE(__reduce_and_sync, unsigned, "and.b32")
SIMGPU_REDUCE(__reduce_or_sync, unsigned, "or.b32")
SIMGPU_REDUCE(__reduce_xor_sync, unsigned, "xor.b32")
#undef SIMGPU_REDUCE

/* --- loads and stores with a cache hint, which SimGPU ignores -------------------------------------------------- */

#define SIMGPU_HINTED(name)                                                                                            \
    template <class T> SIMGPU_DEVICE T name(const T *p) { return *p; }
SIMGPU_HINTED(__ldg)
SIMGPU_HINTED(__ldcg)
SIMGPU_HINTED(__ldca)
SIMGPU_HINTED(__ldcs)
SIMGPU_HINTED(__ldlu)
SIMGPU_HINTED(__ldcv)
#undef SIMGPU_HINTED
#define SIMGPU_HINTED(name)                                                                                            \
    template <class T> SIMGPU_DEVICE void name(T *p, T v) { *p = v; }
SIMGPU_HINTED(__stwb)
SIMGPU_HINTED(__stcg)
SIMGPU_HINTED(__stcs)
SIMGPU_HINTED(__stwt)
#undef SIMGPU_HINTED

/* --- bits --------------------------------------------------------------------------------------------------- */

SIMGPU_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
SIMGPU_DEVICE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
SIMGPU_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
SIMGPU_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
SIMGPU_DEVICE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
SIMGPU_DEVICE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
SIMGPU_DEVICE int __ffs(int v) { return v ? 32 - __clz(v & -v) : 0; }
SIMGPU_DEVICE int __ffsll(long long v) { return v ? 64 - __clzll(v & -v) : 0; }
SIMGPU_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
    return (unsigned)__nvvm_prmt(a, b, selector);
}
SIMGPU_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)((((unsigned long long)high << 32 | low) << (shift & 31)) >> 32);
}
SIMGPU_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return (unsigned)(((unsigned long long)high << 32 | low) >> (shift & 31));
}
#define SIMGPU_FUNNEL(name, op)                                                                                        \
    SIMGPU_DEVICE unsigned name(unsigned low, unsigned high, unsigned shift) {                                         \
        unsigned r;                                                                                                    \
        asm(op ".clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(shift));                              \
        return r;                                                                                                      \
    }
SIMGPU_FUNNEL(__funnelshift_lc, "shf.l")
SIMGPU_FUNNEL(__funnelshift_rc, "shf.r")
#undef SIMGPU_FUNNEL
/* The offset-th set bit of mask at or above base (offset > 0), or at or below it (offset < 0); 0: base itself if it is
 * set. Returns its place, or ~0 if there is none. */
SIMGPU_DEVICE unsigned __fns(unsigned mask, unsigned base, int offset) {
    if (offset == 0) return mask >> (base & 31) & 1 ? base : ~0u;
    int step = offset > 0 ? 1 : -1;
    for (int i = (int)base; i >= 0 && i < 32; i += step)
        if (mask >> i & 1 && (offset -= step) == 0) return (unsigned)i;
    return ~0u;
}

/* --- which memory a pointer points into, and its address there ------------------------------------------------- */

#define SIMGPU_SPACE(is, space)                                                                                        \
    SIMGPU_DEVICE unsigned is(const void *p) {                                                                         \
        unsigned yes;                                                                                                  \
        asm("{ .reg .pred q; isspacep." space " q, %1; selp.u32 %0, 1, 0, q; }" : "=r"(yes) : "l"(p));                 \
        return yes;                                                                                                    \
    }
SIMGPU_SPACE(__isGlobal, "global")
SIMGPU_SPACE(__isShared, "shared")
SIMGPU_SPACE(__isLocal, "local")
SIMGPU_SPACE(__isConstant, "const")
#undef SIMGPU_SPACE
SIMGPU_DEVICE unsigned __isClusterShared(const void *p) { return __isShared(p); } /* a cluster is one block */
#define SIMGPU_SPACE(name, space)                                                                                      \
    SIMGPU_DEVICE size_t __cvta_generic_to_##name(const void *p) {                                                     \
        size_t address;                                                                                                \
        asm("cvta.to." space ".u64 %0, %1;" : "=l"(address) : "l"(p));                                                 \
        return address;                                                                                                \
    }                                                                                                                  \
    SIMGPU_DEVICE void *__cvta_##name##_to_generic(size_t address) {                                                   \
        void *p;                                                                                                       \
        asm("cvta." space ".u64 %0, %1;" : "=l"(p) : "l"(address));                                                    \
        return p;                                                                                                      \
    }
SIMGPU_SPACE(global, "global")
SIMGPU_SPACE(shared, "shared")
SIMGPU_SPACE(local, "local")
SIMGPU_SPACE(constant, "const")
#undef SIMGPU_SPACE

/* --- clocks, memory, messages ------------------------------------------------------------------------------- */

SIMGPU_DEVICE clock_t clock() { return (clock_t)__nvvm_read_ptx_sreg_clock(); }
SIMGPU_DEVICE long long clock64() { return (long long)__nvvm_read_ptx_sreg_clock64(); }
SIMGPU_DEVICE void *memcpy(void *to, const void *from, size_t bytes) { return __builtin_memcpy(to, from, bytes); }
SIMGPU_DEVICE void *memset(void *to, int value, size_t bytes) { return __builtin_memset(to, value, bytes); }

/* clang compiles a kernel's printf to vprintf(format, packed arguments). */
extern "C" {
__device__ int vprintf(const char *format, const char *arguments);
__device__ void *malloc(size_t bytes) __attribute__((nothrow));
__device__ void free(void *block) __attribute__((nothrow));
__device__ int printf(const char *format, ...);
__device__ void __assertfail(const char *condition, const char *file, unsigned line, const char *function,
                             size_t char_size) __attribute__((noreturn));
}

/* new and delete of kernels: clang wraps this header of the host's. */
#if __has_include(<new>)
#include <new>
#endif

SIMGPU_DEVICE void __assert_fail(const char *condition, const char *file, unsigned line, const char *function) {
    __assertfail(condition, file, line, function, sizeof(char));
}

#undef SIMGPU_DEVICE
#endif

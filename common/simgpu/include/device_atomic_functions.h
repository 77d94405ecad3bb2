/* device_atomic_functions.h — atomics on global and shared memory; each returns the old value.
 * Included by cuda_runtime.h. */
#ifndef SIMGPU_DEVICE_ATOMIC_FUNCTIONS_H
#define SIMGPU_DEVICE_ATOMIC_FUNCTIONS_H

#define SIMGPU_DEVICE static __inline__ __attribute__((always_inline, nodebug, unused)) __device__

/* Defines one function for each name and type. The builtins have 32 (i) or 64 (ll) bits; U is their parameter's
 * type. */
#define SIMGPU_ATOMIC(name, T, U, builtin)                                                                             \
    SIMGPU_DEVICE T name(T *p, T v) { return (T)builtin((U *)p, (U)v); }
#define SIMGPU_ATOMIC_BITS(name, op)                                                                                   \
    SIMGPU_ATOMIC(name, int, int, __nvvm_atom_##op##_gen_i)                                                            \
    SIMGPU_ATOMIC(name, unsigned, int, __nvvm_atom_##op##_gen_i)                                                       \
    SIMGPU_ATOMIC(name, unsigned long long, long long, __nvvm_atom_##op##_gen_ll)

SIMGPU_ATOMIC_BITS(atomicAdd, add)
SIMGPU_ATOMIC(atomicAdd, float, float, __nvvm_atom_add_gen_f)
SIMGPU_ATOMIC(atomicAdd, double, double, __nvvm_atom_add_gen_d)
SIMGPU_ATOMIC_BITS(atomicExch, xchg)
SIMGPU_ATOMIC_BITS(atomicAnd, and)
SIMGPU_ATOMIC_BITS(atomicOr, or)
SIMGPU_ATOMIC_BITS(atomicXor, xor)
SIMGPU_ATOMIC(atomicMin, int, int, __nvvm_atom_min_gen_i)
SIMGPU_ATOMIC(atomicMin, unsigned, unsigned, __nvvm_atom_min_gen_ui)
SIMGPU_ATOMIC(atomicMin, long long, long long, __nvvm_atom_min_gen_ll)
SIMGPU_ATOMIC(atomicMin, unsigned long long, unsigned long long, __nvvm_atom_min_gen_ull)
SIMGPU_ATOMIC(atomicMax, int, int, __nvvm_atom_max_gen_i)
SIMGPU_ATOMIC(atomicMax, unsigned, unsigned, __nvvm_atom_max_gen_ui)
SIMGPU_ATOMIC(atomicMax, long long, long long, __nvvm_atom_max_gen_ll)
SIMGPU_ATOMIC(atomicMax, unsigned long long, unsigned long long, __nvvm_atom_max_gen_ull)
SIMGPU_ATOMIC(atomicInc, unsigned, unsigned, __nvvm_atom_inc_gen_ui)
SIMGPU_ATOMIC(atomicDec, unsigned, unsigned, __nvvm_atom_dec_gen_ui)
#undef SIMGPU_ATOMIC_BITS
#undef SIMGPU_ATOMIC

SIMGPU_DEVICE int atomicSub(int *p, int v) { return atomicAdd(p, (int)-(unsigned)v); }
SIMGPU_DEVICE unsigned atomicSub(unsigned *p, unsigned v) { return atomicAdd(p, -v); }
SIMGPU_DEVICE float atomicExch(float *p, float v) {
    return __builtin_bit_cast(float, atomicExch((int *)p, __builtin_bit_cast(int, v)));
}

/* Relaxed, as in CUDA; clang 22's own builtin for it emits an acquire. */
#define SIMGPU_CAS(T)                                                                                                  \
    SIMGPU_DEVICE T atomicCAS(T *p, T expected, T v) {                                                                 \
        __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                       \
        return expected;                                                                                               \
    }
SIMGPU_CAS(int)
SIMGPU_CAS(unsigned)
SIMGPU_CAS(unsigned long long)
#undef SIMGPU_CAS
SIMGPU_DEVICE unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
    unsigned short old;
    asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(p), "h"(expected), "h"(v) : "memory");
    return old;
}

/* The _block and _system forms differ from the plain one in scope only, which has no effect in SimGPU. The value takes
 * the type of what the pointer points to. */
template <class T> struct simgpuSame { typedef T type; };
#define SIMGPU_SCOPED(name, scope)                                                                                     \
    template <class T> SIMGPU_DEVICE T name##scope(T *p, typename simgpuSame<T>::type v) { return name(p, v); }
#define SIMGPU_SCOPES(name) SIMGPU_SCOPED(name, _block) SIMGPU_SCOPED(name, _system)
SIMGPU_SCOPES(atomicAdd)
SIMGPU_SCOPES(atomicSub)
SIMGPU_SCOPES(atomicExch)
SIMGPU_SCOPES(atomicMin)
SIMGPU_SCOPES(atomicMax)
SIMGPU_SCOPES(atomicInc)
SIMGPU_SCOPES(atomicDec)
SIMGPU_SCOPES(atomicAnd)
SIMGPU_SCOPES(atomicOr)
SIMGPU_SCOPES(atomicXor)
#undef SIMGPU_SCOPES
#undef SIMGPU_SCOPED
template <class T>
SIMGPU_DEVICE T atomicCAS_block(T *p, typename simgpuSame<T>::type expected, typename simgpuSame<T>::type v) {
    return atomicCAS(p, expected, v);
}
template <class T>
SIMGPU_DEVICE T atomicCAS_system(T *p, typename simgpuSame<T>::type expected, typename simgpuSame<T>::type v) {
    return atomicCAS(p, expected, v);
}

#undef SIMGPU_DEVICE
#endif

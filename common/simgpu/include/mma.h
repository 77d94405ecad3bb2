/* mma.h — nvcuda::wmma, matrix products of a warp on the tensor cores.
 *
 * All 32 threads of a warp call these functions together, with the same arguments. A fragment is a thread's share of a
 * matrix, x[0] to x[num_elements - 1]; where its elements lie in the matrix is not promised, so treat all alike. A and
 * B are half, __nv_bfloat16, signed or unsigned char with shapes 16x16x16, 32x8x16 and 8x32x16, precision::tf32 with
 * 16x16x8, double with 8x8x4, and experimental::precision::s4, u4 (8x8x32), b1 (8x8x128). */
#ifndef SIMGPU_MMA_H
#define SIMGPU_MMA_H

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"

#define SIMGPU_WMMA static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
#ifdef __CUDA_ARCH__
#define SIMGPU_HERE(...) __VA_ARGS__
#else
#define SIMGPU_HERE(...)
#endif

/* CUDA leaves undefined what a stride does that is no multiple of 16 bytes. SimGPU stops the kernel there, where the
 * compiler knows the stride. (Where it does not, the question would cost instructions that a card does not have.) */
SIMGPU_WMMA void simgpu_wmma_stride(unsigned ldm, unsigned bytes, const char *file, int line) {
    if (__builtin_constant_p(ldm) && ldm * bytes % 16)
        __assert_fail("the stride of a fragment is a multiple of 16 bytes", file, line, "wmma");
}
template <class T> struct simgpu_wmma_bytes {
    enum { each = sizeof(T) };
};
template <> struct simgpu_wmma_bytes<void> { /* of elements of less than a byte: nothing is told */
    enum { each = 0 };
};
#define SIMGPU_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace nvcuda {
namespace wmma {

enum layout_t { mem_row_major, mem_col_major };
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision {
struct tf32 {};
} // namespace precision
namespace experimental {
namespace precision {
struct s4 {};
struct u4 {};
struct b1 {};
} // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
} // namespace experimental

/* --- fragments ----------------------------------------------------------------------------------------------- */

/* What a fragment has: `items` elements of type T in x, and `each` elements of the matrix in one of x. */
template <class T, int items, class Element = T, int each = 1>
struct __attribute__((aligned(sizeof(T) == 8 ? 8 : 4))) simgpu_fragment {
    enum { num_elements = items * each, num_storage_elements = items };
    typedef Element element_type;
    typedef T storage_element_type;
    T x[items];
};
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

#define SIMGPU_FRAGMENT(use, m, n, k, T, ...)                                                                          \
    template <> class fragment<use, m, n, k, T> : public simgpu_fragment<__VA_ARGS__> {};
#define SIMGPU_FACTOR(use, m, n, k, T, ...)                                                                            \
    template <> class fragment<use, m, n, k, T, row_major> : public simgpu_fragment<__VA_ARGS__> {};                   \
    template <> class fragment<use, m, n, k, T, col_major> : public simgpu_fragment<__VA_ARGS__> {};

/* SIMGPU_LARGE(X, T, type, wide, square, narrow, ...): the three large shapes; `wide` elements a lane of a factor with
 * 32 rows or columns, `square` with 16, `narrow` with 8. */
#define SIMGPU_LARGE(T, wide, square, narrow)                                                                          \
    SIMGPU_FACTOR(matrix_a, 16, 16, 16, T, T, square)                                                                  \
    SIMGPU_FACTOR(matrix_b, 16, 16, 16, T, T, square)                                                                  \
    SIMGPU_FACTOR(matrix_a, 32, 8, 16, T, T, wide)                                                                     \
    SIMGPU_FACTOR(matrix_b, 32, 8, 16, T, T, narrow)                                                                   \
    SIMGPU_FACTOR(matrix_a, 8, 32, 16, T, T, narrow)                                                                   \
    SIMGPU_FACTOR(matrix_b, 8, 32, 16, T, T, wide)
#define SIMGPU_SUMS(T)                                                                                                 \
    SIMGPU_FRAGMENT(accumulator, 16, 16, 16, T, T, 8)                                                                  \
    SIMGPU_FRAGMENT(accumulator, 32, 8, 16, T, T, 8)                                                                   \
    SIMGPU_FRAGMENT(accumulator, 8, 32, 16, T, T, 8)
SIMGPU_LARGE(__half, 16, 16, 16)
SIMGPU_LARGE(__nv_bfloat16, 16, 8, 4)
SIMGPU_LARGE(signed char, 16, 8, 4)
SIMGPU_LARGE(unsigned char, 16, 8, 4)
SIMGPU_SUMS(__half)
SIMGPU_SUMS(float)
SIMGPU_SUMS(int)
SIMGPU_FACTOR(matrix_a, 16, 16, 8, precision::tf32, float, 4, precision::tf32)
SIMGPU_FACTOR(matrix_b, 16, 16, 8, precision::tf32, float, 4, precision::tf32)
SIMGPU_FRAGMENT(accumulator, 16, 16, 8, float, float, 8)
SIMGPU_FACTOR(matrix_a, 8, 8, 4, double, double, 1)
SIMGPU_FACTOR(matrix_b, 8, 8, 4, double, double, 1)
SIMGPU_FRAGMENT(accumulator, 8, 8, 4, double, double, 2)
#define SIMGPU_SMALL(k, P, each)                                                                                       \
    template <>                                                                                                        \
    class fragment<matrix_a, 8, 8, k, experimental::precision::P, row_major>                                           \
        : public simgpu_fragment<unsigned, 1, experimental::precision::P, each> {};                                    \
    template <>                                                                                                        \
    class fragment<matrix_b, 8, 8, k, experimental::precision::P, col_major>                                           \
        : public simgpu_fragment<unsigned, 1, experimental::precision::P, each> {};
SIMGPU_SMALL(32, s4, 8)
SIMGPU_SMALL(32, u4, 8)
SIMGPU_SMALL(128, b1, 32)
SIMGPU_FRAGMENT(accumulator, 8, 8, 32, int, int, 2)
SIMGPU_FRAGMENT(accumulator, 8, 8, 128, int, int, 2)
#undef SIMGPU_SMALL
#undef SIMGPU_SUMS
#undef SIMGPU_LARGE
#undef SIMGPU_FACTOR
#undef SIMGPU_FRAGMENT

template <class Use, int m, int n, int k, class T, class Layout, class Any>
SIMGPU_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout> &f, const Any &v) {
    for (int i = 0; i < (int)f.num_storage_elements; i++) f.x[i] = v;
}

/* Rounds to the 10 bits of fraction that the tensor cores read; ties go away from zero. */
SIMGPU_WMMA float __float_to_tf32(float v) {
    float r = v;
    SIMGPU_HERE(asm("cvt.rna.tf32.f32 %0, %1;" : "=f"(r) : "f"(v)));
    return r;
}

/* --- registers ------------------------------------------------------------------------------------------------- */

/* A fragment's registers as operands of assembly: n words, or doubles (nD), called a0, a1 ... */
#define SIMGPU_TEXT_1(r) "{%[" #r "0]}"
#define SIMGPU_TEXT_2(r) "{%[" #r "0], %[" #r "1]}"
#define SIMGPU_TEXT_4(r) "{%[" #r "0], %[" #r "1], %[" #r "2], %[" #r "3]}"
#define SIMGPU_TEXT_8(r)                                                                                               \
    "{%[" #r "0], %[" #r "1], %[" #r "2], %[" #r "3], %[" #r "4], %[" #r "5], %[" #r "6], %[" #r "7]}"
#define SIMGPU_TEXT_1D       SIMGPU_TEXT_1
#define SIMGPU_TEXT_2D       SIMGPU_TEXT_2
#define SIMGPU_ITEM(c, r, i) [r##i] c(r[i])
#define SIMGPU_ITEMS_1(c, r) SIMGPU_ITEM(c, r, 0)
#define SIMGPU_ITEMS_2(c, r) SIMGPU_ITEM(c, r, 0), SIMGPU_ITEM(c, r, 1)
#define SIMGPU_ITEMS_4(c, r) SIMGPU_ITEMS_2(c, r), SIMGPU_ITEM(c, r, 2), SIMGPU_ITEM(c, r, 3)
#define SIMGPU_ITEMS_8(c, r)                                                                                           \
    SIMGPU_ITEMS_4(c, r), SIMGPU_ITEM(c, r, 4), SIMGPU_ITEM(c, r, 5), SIMGPU_ITEM(c, r, 6), SIMGPU_ITEM(c, r, 7)
#define SIMGPU_OUT_1(r)    SIMGPU_ITEMS_1("=r", r)
#define SIMGPU_OUT_2(r)    SIMGPU_ITEMS_2("=r", r)
#define SIMGPU_OUT_4(r)    SIMGPU_ITEMS_4("=r", r)
#define SIMGPU_OUT_8(r)    SIMGPU_ITEMS_8("=r", r)
#define SIMGPU_OUT_1D(r)   SIMGPU_ITEMS_1("=d", r)
#define SIMGPU_OUT_2D(r)   SIMGPU_ITEMS_2("=d", r)
#define SIMGPU_IN_1(r)     SIMGPU_ITEMS_1("r", r)
#define SIMGPU_IN_2(r)     SIMGPU_ITEMS_2("r", r)
#define SIMGPU_IN_4(r)     SIMGPU_ITEMS_4("r", r)
#define SIMGPU_IN_8(r)     SIMGPU_ITEMS_8("r", r)
#define SIMGPU_IN_1D(r)    SIMGPU_ITEMS_1("d", r)
#define SIMGPU_IN_2D(r)    SIMGPU_ITEMS_2("d", r)
#define SIMGPU_WORDS_1(r)  unsigned r[1]
#define SIMGPU_WORDS_2(r)  unsigned r[2]
#define SIMGPU_WORDS_4(r)  unsigned r[4]
#define SIMGPU_WORDS_8(r)  unsigned r[8]
#define SIMGPU_WORDS_1D(r) double r[1]
#define SIMGPU_WORDS_2D(r) double r[2]

/* --- load and store ------------------------------------------------------------------------------------------- */

/* ldm: the elements from one row (column) of the matrix to the next. */
#define SIMGPU_LOAD(use, which, m, n, k, T, layout, P, ptx, regs)                                                      \
    SIMGPU_WMMA void load_matrix_sync(fragment<use, m, n, k, T, layout##_major> &f, const P *p, unsigned ldm,          \
                                      SIMGPU_CALLER) {                                                                 \
        SIMGPU_HERE(simgpu_wmma_stride(ldm, simgpu_wmma_bytes<P>::each, file, line); SIMGPU_WORDS_##regs(r);           \
                    asm volatile("wmma.load." which ".sync.aligned." #layout ".m" #m "n" #n "k" #k "." ptx             \
                                 " " SIMGPU_TEXT_##regs(r) ", [%[p]], %[ldm];"                                         \
                                 : SIMGPU_OUT_##regs(r)                                                                \
                                 : [p] "l"(p), [ldm] "r"(ldm)                                                          \
                                 : "memory");                                                                          \
                    __builtin_memcpy(f.x, r, sizeof r);)                                                               \
    }
#define SIMGPU_LOADS(m, n, k, T, P, ptx, a, b)                                                                         \
    SIMGPU_LOAD(matrix_a, "a", m, n, k, T, row, P, ptx, a)                                                             \
    SIMGPU_LOAD(matrix_a, "a", m, n, k, T, col, P, ptx, a)                                                             \
    SIMGPU_LOAD(matrix_b, "b", m, n, k, T, row, P, ptx, b)                                                             \
    SIMGPU_LOAD(matrix_b, "b", m, n, k, T, col, P, ptx, b)
#define SIMGPU_LARGE(T, ptx, wide, square, narrow)                                                                     \
    SIMGPU_LOADS(16, 16, 16, T, T, ptx, square, square)                                                                \
    SIMGPU_LOADS(32, 8, 16, T, T, ptx, wide, narrow)                                                                   \
    SIMGPU_LOADS(8, 32, 16, T, T, ptx, narrow, wide)
SIMGPU_LARGE(__half, "f16", 8, 8, 8)
SIMGPU_LARGE(__nv_bfloat16, "bf16", 8, 4, 2)
SIMGPU_LARGE(signed char, "s8", 4, 2, 1)
SIMGPU_LARGE(unsigned char, "u8", 4, 2, 1)
SIMGPU_LOADS(16, 16, 8, precision::tf32, float, "tf32", 4, 4)
SIMGPU_LOADS(8, 8, 4, double, double, "f64", 1D, 1D)
SIMGPU_LOAD(matrix_a, "a", 8, 8, 32, experimental::precision::s4, row, void, "s4", 1)
SIMGPU_LOAD(matrix_b, "b", 8, 8, 32, experimental::precision::s4, col, void, "s4", 1)
SIMGPU_LOAD(matrix_a, "a", 8, 8, 32, experimental::precision::u4, row, void, "u4", 1)
SIMGPU_LOAD(matrix_b, "b", 8, 8, 32, experimental::precision::u4, col, void, "u4", 1)
SIMGPU_LOAD(matrix_a, "a", 8, 8, 128, experimental::precision::b1, row, void, "b1", 1)
SIMGPU_LOAD(matrix_b, "b", 8, 8, 128, experimental::precision::b1, col, void, "b1", 1)
#undef SIMGPU_LARGE
#undef SIMGPU_LOADS
#undef SIMGPU_LOAD

#define SIMGPU_SUM_ACCESS(layout, m, n, k, ptx, regs)                                                                  \
    asm volatile("wmma.load.c.sync.aligned." layout ".m" #m "n" #n "k" #k "." ptx                                      \
                 " " SIMGPU_TEXT_##regs(r) ", [%[p]], %[ldm];"                                                         \
                 : SIMGPU_OUT_##regs(r)                                                                                \
                 : [p] "l"(p), [ldm] "r"(ldm)                                                                          \
                 : "memory")
#define SIMGPU_SUM_STORE(layout, m, n, k, ptx, regs)                                                                   \
    asm volatile("wmma.store.d.sync.aligned." layout ".m" #m "n" #n "k" #k "." ptx                                     \
                 " [%[p]], " SIMGPU_TEXT_##regs(r) ", %[ldm];" ::[p] "l"(p),                                           \
                 [ldm] "r"(ldm), SIMGPU_IN_##regs(r)                                                                   \
                 : "memory")
#define SIMGPU_SUM(m, n, k, T, ptx, regs)                                                                              \
    SIMGPU_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned ldm, layout_t layout, \
                                      SIMGPU_CALLER) {                                                                 \
        SIMGPU_HERE(simgpu_wmma_stride(ldm, sizeof(T), file, line); SIMGPU_WORDS_##regs(r);                            \
                    if (layout == mem_row_major) SIMGPU_SUM_ACCESS("row", m, n, k, ptx, regs);                         \
                    else SIMGPU_SUM_ACCESS("col", m, n, k, ptx, regs); __builtin_memcpy(f.x, r, sizeof r);)            \
    }                                                                                                                  \
    SIMGPU_WMMA void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned ldm,                 \
                                       layout_t layout, SIMGPU_CALLER) {                                               \
        SIMGPU_HERE(simgpu_wmma_stride(ldm, sizeof(T), file, line); SIMGPU_WORDS_##regs(r);                            \
                    __builtin_memcpy(r, f.x, sizeof r);                                                                \
                    if (layout == mem_row_major) SIMGPU_SUM_STORE("row", m, n, k, ptx, regs);                          \
                    else SIMGPU_SUM_STORE("col", m, n, k, ptx, regs);)                                                 \
    }
#define SIMGPU_LARGE(T, ptx, regs)                                                                                     \
    SIMGPU_SUM(16, 16, 16, T, ptx, regs)                                                                               \
    SIMGPU_SUM(32, 8, 16, T, ptx, regs)                                                                                \
    SIMGPU_SUM(8, 32, 16, T, ptx, regs)
SIMGPU_LARGE(__half, "f16", 4)
SIMGPU_LARGE(float, "f32", 8)
SIMGPU_LARGE(int, "s32", 8)
SIMGPU_SUM(16, 16, 8, float, "f32", 8)
SIMGPU_SUM(8, 8, 4, double, "f64", 2D)
SIMGPU_SUM(8, 8, 32, int, "s32", 2)
SIMGPU_SUM(8, 8, 128, int, "s32", 2)
#undef SIMGPU_LARGE
#undef SIMGPU_SUM
#undef SIMGPU_SUM_STORE
#undef SIMGPU_SUM_ACCESS

/* --- products: d = a * b + c ------------------------------------------------------------------------------------- */

#define SIMGPU_PRODUCT(before, after, la, lb, m, n, k, na, nb, nc, nd)                                                 \
    asm volatile("wmma.mma" before ".sync.aligned." #la "." #lb ".m" #m "n" #n "k" #k after " " SIMGPU_TEXT_##nd(      \
                     rd) ", " SIMGPU_TEXT_##na(ra) ", " SIMGPU_TEXT_##nb(rb) ", " SIMGPU_TEXT_##nc(rc) ";"             \
                 : SIMGPU_OUT_##nd(rd)                                                                                 \
                 : SIMGPU_IN_##na(ra), SIMGPU_IN_##nb(rb), SIMGPU_IN_##nc(rc))
#define SIMGPU_REGISTERS(na, nb, nc, nd)                                                                               \
    SIMGPU_WORDS_##na(ra);                                                                                             \
    SIMGPU_WORDS_##nb(rb);                                                                                             \
    SIMGPU_WORDS_##nc(rc);                                                                                             \
    SIMGPU_WORDS_##nd(rd);                                                                                             \
    __builtin_memcpy(ra, a.x, sizeof ra);                                                                              \
    __builtin_memcpy(rb, b.x, sizeof rb);                                                                              \
    __builtin_memcpy(rc, c.x, sizeof rc)
#define SIMGPU_MMA(m, n, k, T, la, lb, TC, TD, types, na, nb, nc, nd)                                                  \
    SIMGPU_WMMA void mma_sync(                                                                                         \
        fragment<accumulator, m, n, k, TD> &d, const fragment<matrix_a, m, n, k, T, la##_major> &a,                    \
        const fragment<matrix_b, m, n, k, T, lb##_major> &b, const fragment<accumulator, m, n, k, TC> &c) {            \
        SIMGPU_HERE(SIMGPU_REGISTERS(na, nb, nc, nd); SIMGPU_PRODUCT("", types, la, lb, m, n, k, na, nb, nc, nd);      \
                    __builtin_memcpy(d.x, rd, sizeof rd);)                                                             \
    }
/* Integers: satf keeps a sum that leaves the range at its end. */
#define SIMGPU_MMA_INTEGER(m, n, k, T, la, lb, types, na, nb, nc)                                                      \
    SIMGPU_WMMA void mma_sync(fragment<accumulator, m, n, k, int> &d,                                                  \
                              const fragment<matrix_a, m, n, k, T, la##_major> &a,                                     \
                              const fragment<matrix_b, m, n, k, T, lb##_major> &b,                                     \
                              const fragment<accumulator, m, n, k, int> &c, bool satf = false) {                       \
        SIMGPU_HERE(SIMGPU_REGISTERS(na, nb, nc, nc);                                                                  \
                    if (satf) SIMGPU_PRODUCT("", types ".satfinite", la, lb, m, n, k, na, nb, nc, nc);                 \
                    else SIMGPU_PRODUCT("", types, la, lb, m, n, k, na, nb, nc, nc);                                   \
                    __builtin_memcpy(d.x, rd, sizeof rd);)                                                             \
    }
#define SIMGPU_LAYOUTS(X, m, n, k, T, ...)                                                                             \
    X(m, n, k, T, row, row, __VA_ARGS__)                                                                               \
    X(m, n, k, T, row, col, __VA_ARGS__)                                                                               \
    X(m, n, k, T, col, row, __VA_ARGS__)                                                                               \
    X(m, n, k, T, col, col, __VA_ARGS__)
#define SIMGPU_HALVES(m, n)                                                                                            \
    SIMGPU_LAYOUTS(SIMGPU_MMA, m, n, 16, __half, float, float, ".f32.f32", 8, 8, 8, 8)                                 \
    SIMGPU_LAYOUTS(SIMGPU_MMA, m, n, 16, __half, __half, __half, ".f16.f16", 8, 8, 4, 4)                               \
    SIMGPU_LAYOUTS(SIMGPU_MMA, m, n, 16, __half, __half, float, ".f32.f16", 8, 8, 4, 8)                                \
    SIMGPU_LAYOUTS(SIMGPU_MMA, m, n, 16, __half, float, __half, ".f16.f32", 8, 8, 8, 4)
SIMGPU_HALVES(16, 16)
SIMGPU_HALVES(32, 8)
SIMGPU_HALVES(8, 32)
SIMGPU_LAYOUTS(SIMGPU_MMA, 16, 16, 16, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", 4, 4, 8, 8)
SIMGPU_LAYOUTS(SIMGPU_MMA, 32, 8, 16, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", 8, 2, 8, 8)
SIMGPU_LAYOUTS(SIMGPU_MMA, 8, 32, 16, __nv_bfloat16, float, float, ".f32.bf16.bf16.f32", 2, 8, 8, 8)
SIMGPU_LAYOUTS(SIMGPU_MMA, 16, 16, 8, precision::tf32, float, float, ".f32.tf32.tf32.f32", 4, 4, 8, 8)
SIMGPU_LAYOUTS(SIMGPU_MMA, 8, 8, 4, double, double, double, ".rn.f64.f64.f64.f64", 1D, 1D, 2D, 2D)
#define SIMGPU_BYTES(T, types)                                                                                         \
    SIMGPU_LAYOUTS(SIMGPU_MMA_INTEGER, 16, 16, 16, T, types, 2, 2, 8)                                                  \
    SIMGPU_LAYOUTS(SIMGPU_MMA_INTEGER, 32, 8, 16, T, types, 4, 1, 8)                                                   \
    SIMGPU_LAYOUTS(SIMGPU_MMA_INTEGER, 8, 32, 16, T, types, 1, 4, 8)
SIMGPU_BYTES(signed char, ".s32.s8.s8.s32")
SIMGPU_BYTES(unsigned char, ".s32.u8.u8.s32")
SIMGPU_MMA_INTEGER(8, 8, 32, experimental::precision::s4, row, col, ".s32.s4.s4.s32", 1, 1, 2)
SIMGPU_MMA_INTEGER(8, 8, 32, experimental::precision::u4, row, col, ".s32.u4.u4.s32", 1, 1, 2)

/* The number of bits that both have (AND) or one has (XOR), added to c. */
SIMGPU_WMMA void bmma_sync(fragment<accumulator, 8, 8, 128, int> &d,
                           const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> &a,
                           const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> &b,
                           const fragment<accumulator, 8, 8, 128, int> &c,
                           experimental::bmmaBitOp op = experimental::bmmaBitOpXOR,
                           experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
    SIMGPU_HERE(SIMGPU_REGISTERS(1, 1, 2, 2); if (op == experimental::bmmaBitOpAND)
                    SIMGPU_PRODUCT(".and.popc", ".s32.b1.b1.s32", row, col, 8, 8, 128, 1, 1, 2, 2);
                else SIMGPU_PRODUCT(".xor.popc", ".s32.b1.b1.s32", row, col, 8, 8, 128, 1, 1, 2, 2);
                __builtin_memcpy(d.x, rd, sizeof rd);)
}
#undef SIMGPU_BYTES
#undef SIMGPU_HALVES
#undef SIMGPU_LAYOUTS
#undef SIMGPU_MMA_INTEGER
#undef SIMGPU_MMA
#undef SIMGPU_REGISTERS
#undef SIMGPU_PRODUCT
#undef SIMGPU_CALLER
#undef SIMGPU_HERE
#undef SIMGPU_WMMA

} // namespace wmma
} // namespace nvcuda

#pragma clang diagnostic pop
#endif

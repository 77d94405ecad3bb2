/* reduce.h — cooperative_groups::reduce(group, value, op) for tiles and coalesced groups: every thread receives the
 * result. Tiles exchange with the lane at distance 1, 2, 4 ...; other groups add up from their neighbours. The warps of
 * a larger tile put their results together in order. */
#ifndef SIMGPU_COOPERATIVE_GROUPS_REDUCE_H
#define SIMGPU_COOPERATIVE_GROUPS_REDUCE_H

#include <cooperative_groups.h>

namespace cooperative_groups {

#define SIMGPU_CG_OPERATOR(name, expression)                                                                           \
    template <class T> struct name {                                                                                   \
        SIMGPU_CG T operator()(T a, T b) const { return expression; }                                                  \
    };
SIMGPU_CG_OPERATOR(plus, a + b)
SIMGPU_CG_OPERATOR(less, b < a ? b : a)
SIMGPU_CG_OPERATOR(greater, a < b ? b : a)
SIMGPU_CG_OPERATOR(bit_and, a &b)
SIMGPU_CG_OPERATOR(bit_or, a | b)
SIMGPU_CG_OPERATOR(bit_xor, a ^ b)
#undef SIMGPU_CG_OPERATOR

namespace simgpu {
template <bool> struct of_several_warps {};
template <unsigned Size, class Tile, class T, class Op>
SIMGPU_CG T reduce_tile(const Tile &g, T v, Op op, of_several_warps<false>) {
#pragma unroll
    for (unsigned by = 1; by < Size; by *= 2) v = op(v, g.shfl_xor(v, by));
    return v;
}
template <unsigned Size, class T, class Op>
SIMGPU_CG T reduce_tile(const wide_tile<Size> &g, T v, Op op, of_several_warps<true>) {
    v = reduce_tile<32>(thread_block_tile<32>(0, 1), v, op, of_several_warps<false>());
    const T *of = g.exchange(v, lane() == 0, thread() / 32) + thread() / Size * (Size / 32);
    v = of[0];
    for (unsigned k = 1; k < Size / 32; k++) v = op(v, of[k]);
    return v;
}
} // namespace simgpu

template <unsigned Size, class Parent, class T, class Op>
SIMGPU_CG T reduce(const thread_block_tile<Size, Parent> &g, T v, Op op) {
    return simgpu::reduce_tile<Size>(g, v, op, simgpu::of_several_warps<(Size > 32)>());
}
template <class T, class Op> SIMGPU_CG T reduce(const coalesced_group &g, T v, Op op) {
    for (unsigned by = 1; by < g.size(); by *= 2) {
        T other = g.shfl_down(v, by);
        if (g.thread_rank() + by < g.size()) v = op(v, other);
    }
    return g.shfl(v, 0);
}

namespace simgpu {
/* Applies op to an atomic (of CUDA's C++ library) and a value. Returns what it held before. */
template <class Atomic, class T, class Op> SIMGPU_CG T update(Atomic &&to, T v, Op op) {
    T before = to.load();
    while (!to.compare_exchange_weak(before, op(before, v))) {}
    return before;
}
} // namespace simgpu

/* The group's result goes into an atomic, together with what that holds, or is stored there or behind a pointer. */
template <class Group, class Atomic, class T, class Op>
SIMGPU_CG void reduce_update_async(const Group &g, Atomic &&to, T v, Op op) {
    const T all = reduce(g, v, op);
    if (g.thread_rank() == 0) simgpu::update(to, all, op);
}
template <class Group, class Atomic, class T, class Op>
SIMGPU_CG void reduce_store_async(const Group &g, Atomic &&to, T v, Op op) {
    const T all = reduce(g, v, op);
    if (g.thread_rank() == 0) to.store(all);
}
template <class Group, class T, class Op> SIMGPU_CG void reduce_store_async(const Group &g, T *to, T v, Op op) {
    const T all = reduce(g, v, op);
    if (g.thread_rank() == 0) *to = all;
}

} // namespace cooperative_groups

#endif

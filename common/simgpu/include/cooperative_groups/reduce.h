/* reduce.h — cooperative_groups::reduce(group, value, op) for tiles and coalesced groups: every thread receives the
 * result. Tiles exchange with the lane at distance 1, 2, 4 ...; other groups add up from their neighbours. */
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

template <unsigned Size, class Parent, class T, class Op>
SIMGPU_CG T reduce(const thread_block_tile<Size, Parent> &g, T v, Op op) {
#pragma unroll
    for (unsigned by = 1; by < Size; by *= 2) v = op(v, g.shfl_xor(v, by));
    return v;
}
template <class T, class Op> SIMGPU_CG T reduce(const coalesced_group &g, T v, Op op) {
    for (unsigned by = 1; by < g.size(); by *= 2) {
        T other = g.shfl_down(v, by);
        if (g.thread_rank() + by < g.size()) v = op(v, other);
    }
    return g.shfl(v, 0);
}

} // namespace cooperative_groups

#endif

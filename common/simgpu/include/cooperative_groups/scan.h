/* scan.h — cooperative_groups::inclusive_scan and exclusive_scan for tiles and coalesced groups. */
#ifndef SIMGPU_COOPERATIVE_GROUPS_SCAN_H
#define SIMGPU_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

namespace cooperative_groups {

template <class Group, class T, class Op> SIMGPU_CG T inclusive_scan(const Group &g, T v, Op op) {
    for (unsigned by = 1; by < g.size(); by *= 2) {
        T before = g.shfl_up(v, by);
        if (g.thread_rank() >= by) v = op(before, v);
    }
    return v;
}
template <class Group, class T> SIMGPU_CG T inclusive_scan(const Group &g, T v) {
    return inclusive_scan(g, v, plus<T>());
}

namespace simgpu {
/* What the warps of a tile before this thread's have in all, put before v; inclusive: the warp's scan of each thread.
 */
template <unsigned Size, class T, class Op>
SIMGPU_CG T behind_warps(const wide_tile<Size> &g, T v, T inclusive, Op op, bool first) {
    const unsigned begin = thread() / Size * (Size / 32), warp = thread() / 32;
    const T *of = g.exchange(inclusive, lane() == 31, warp);
    if (begin == warp) return v;
    T before = of[begin];
    for (unsigned k = begin + 1; k < warp; k++) before = op(before, of[k]);
    return first ? before : op(before, v);
}
} // namespace simgpu
template <unsigned Size, class T, class Op>
SIMGPU_CG T simgpu_wide_scan(const simgpu::wide_tile<Size> &g, T v, Op op, bool exclusive) {
    const thread_block_tile<32> warp(0, 1);
    T all = v, to = v;
    for (unsigned by = 1; by < 32; by *= 2) {
        T before = warp.shfl_up(all, by);
        if (simgpu::lane() >= by) all = op(before, all);
    }
    to = all;
    if (exclusive) {
        T before = warp.shfl_up(all, 1);
        to = simgpu::lane() ? before : T();
    }
    return simgpu::behind_warps(g, to, all, op, exclusive && simgpu::lane() == 0);
}
#define SIMGPU_WIDE_SCAN(Size)                                                                                         \
    template <class Parent, class T, class Op>                                                                         \
    SIMGPU_CG T inclusive_scan(const thread_block_tile<Size, Parent> &g, T v, Op op) {                                 \
        return simgpu_wide_scan<Size>(g, v, op, false);                                                                \
    }                                                                                                                  \
    template <class Parent, class T, class Op>                                                                         \
    SIMGPU_CG T exclusive_scan(const thread_block_tile<Size, Parent> &g, T v, Op op) {                                 \
        return simgpu_wide_scan<Size>(g, v, op, true);                                                                 \
    }
SIMGPU_WIDE_SCAN(64)
SIMGPU_WIDE_SCAN(128)
SIMGPU_WIDE_SCAN(256)
SIMGPU_WIDE_SCAN(512)
SIMGPU_WIDE_SCAN(1024)
#undef SIMGPU_WIDE_SCAN

/* The first thread receives T(). */
template <class Group, class T, class Op> SIMGPU_CG T exclusive_scan(const Group &g, T v, Op op) {
    T before = g.shfl_up(inclusive_scan(g, v, op), 1);
    return g.thread_rank() ? before : T();
}
template <class Group, class T> SIMGPU_CG T exclusive_scan(const Group &g, T v) {
    return exclusive_scan(g, v, plus<T>());
}

/* The group's total goes into an atomic; each thread receives its scan behind what the atomic held before. So groups
 * that share it receive places one behind the other. */
template <class Group, class Atomic, class T, class Op>
SIMGPU_CG T inclusive_scan_update(const Group &g, Atomic &&to, T v, Op op) {
    const T mine = inclusive_scan(g, v, op);
    T before = T();
    if (g.thread_rank() + 1 == g.size()) before = simgpu::update(to, mine, op);
    return op(g.shfl(before, g.size() - 1), mine);
}
template <class Group, class Atomic, class T, class Op>
SIMGPU_CG T exclusive_scan_update(const Group &g, Atomic &&to, T v, Op op) {
    const T all = inclusive_scan(g, v, op);
    T before = T();
    if (g.thread_rank() + 1 == g.size()) before = simgpu::update(to, all, op);
    before = g.shfl(before, g.size() - 1);
    const T ahead = g.shfl_up(all, 1);
    return g.thread_rank() ? op(before, ahead) : before;
}
template <class Group, class Atomic, class T> SIMGPU_CG T inclusive_scan_update(const Group &g, Atomic &&to, T v) {
    return inclusive_scan_update(g, to, v, plus<T>());
}
template <class Group, class Atomic, class T> SIMGPU_CG T exclusive_scan_update(const Group &g, Atomic &&to, T v) {
    return exclusive_scan_update(g, to, v, plus<T>());
}

} // namespace cooperative_groups

#endif

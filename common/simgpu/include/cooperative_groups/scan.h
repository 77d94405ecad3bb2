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

/* The first thread receives T(). */
template <class Group, class T, class Op> SIMGPU_CG T exclusive_scan(const Group &g, T v, Op op) {
    T before = g.shfl_up(inclusive_scan(g, v, op), 1);
    return g.thread_rank() ? before : T();
}
template <class Group, class T> SIMGPU_CG T exclusive_scan(const Group &g, T v) {
    return exclusive_scan(g, v, plus<T>());
}

} // namespace cooperative_groups

#endif

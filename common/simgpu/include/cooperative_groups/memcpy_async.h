/* memcpy_async.h — cooperative_groups::memcpy_async(group, to, from, bytes) and wait(group). The group's threads copy
 * words one after another, so the copy has happened when the call returns; wait() makes it visible to all of them. */
#ifndef SIMGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define SIMGPU_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include <cooperative_groups.h>

namespace cooperative_groups {

template <class Group, class T> SIMGPU_CG void memcpy_async(const Group &g, T *to, const T *from, size_t bytes) {
    for (size_t k = g.thread_rank(); k < bytes / sizeof(T); k += g.size()) to[k] = from[k];
}
template <class Group> SIMGPU_CG void wait(const Group &g) { g.sync(); }
template <unsigned Stages, class Group> SIMGPU_CG void wait_prior(const Group &g) { g.sync(); }

} // namespace cooperative_groups

#endif

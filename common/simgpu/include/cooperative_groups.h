/* cooperative_groups.h — groups of threads as values: the grid, the block, tiles of a warp, and the lanes that are
 * here.
 *
 *   auto grid = cooperative_groups::this_grid();                  cudaLaunchCooperativeKernel only
 *   grid.sync();                                                  every thread of every block
 *   auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
 *   x += warp.shfl_down(x, 16);
 *
 * Each function is inline PTX of the caller's line. grid.sync() is what nvcc makes of it: a barrier word in the
 * launch's workspace, whose address is in %envreg1 (high half) and %envreg2. A tile of several warps waits at a barrier
 * of its own, and exchanges through shared memory. Groups of several devices and clusters are missing. */
#ifndef SIMGPU_COOPERATIVE_GROUPS_H
#define SIMGPU_COOPERATIVE_GROUPS_H

#include "cuda_runtime.h"

#define SIMGPU_CG __device__ __inline__ __attribute__((always_inline, nodebug))

/* Applies a shuffle of 32 bits, of the word w, to each word of a value v of any size, and returns it. */
#define SIMGPU_CG_SHUFFLE(v, shuffle)                                                                                  \
    unsigned words[(sizeof(v) + 3) / 4] = {};                                                                          \
    __builtin_memcpy(words, &v, sizeof v);                                                                             \
    _Pragma("unroll") for (unsigned k = 0; k < sizeof words / sizeof *words; k++) {                                    \
        unsigned w = words[k];                                                                                         \
        words[k] = shuffle;                                                                                            \
    }                                                                                                                  \
    __builtin_memcpy(&v, words, sizeof v);                                                                             \
    return v

namespace cooperative_groups {

namespace simgpu {
SIMGPU_CG unsigned lane() {
    unsigned at;
    asm("mov.u32 %0, %%laneid;" : "=r"(at));
    return at;
}
SIMGPU_CG unsigned thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
SIMGPU_CG unsigned threads() { return blockDim.x * blockDim.y * blockDim.z; }

} // namespace simgpu

/* --- the block ---------------------------------------------------------------------------------------------- */

class thread_block {
  public:
    static SIMGPU_CG void sync() { __syncthreads(); }
    static SIMGPU_CG unsigned thread_rank() { return simgpu::thread(); }
    static SIMGPU_CG unsigned size() { return simgpu::threads(); }
    static SIMGPU_CG unsigned num_threads() { return simgpu::threads(); }
    static SIMGPU_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
    static SIMGPU_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
    static SIMGPU_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
    static SIMGPU_CG dim3 dim_threads() { return group_dim(); }
};
SIMGPU_CG thread_block this_thread_block() { return thread_block(); }

/* What tiles of several warps need of shared memory; here they bring their own. */
template <unsigned Threads = 1024> struct block_tile_memory { char bytes[16]; };
template <unsigned Threads> SIMGPU_CG thread_block this_thread_block(block_tile_memory<Threads> &) {
    return thread_block();
}

/* --- the grid of a cooperative launch ----------------------------------------------------------------------- */

class grid_group {
    static SIMGPU_CG unsigned *barrier() {
        unsigned high, low;
        asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
        unsigned long long workspace = (unsigned long long)high << 32 | low;
        if (!workspace) __trap();
        return (unsigned *)workspace + 1;
    }

  public:
    class arrival_token {
        friend class grid_group;
        unsigned saw;
    };

    /* Returns whether the launch is a cooperative one. */
    static SIMGPU_CG bool is_valid() {
        unsigned high, low;
        asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
        asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
        return (high | low) != 0;
    }

    /* The first thread of each block adds to the barrier's word: each block 1, the first block as much as makes the sum
     * 2^31. So the highest bit flips when all have arrived. */
    SIMGPU_CG arrival_token barrier_arrive() const {
        arrival_token t;
        unsigned *word = barrier();
        t.saw = 0;
        __syncthreads();
        if (simgpu::thread() == 0) {
            unsigned blocks = (unsigned)num_blocks();
            __threadfence();
            t.saw = atomicAdd(word, block_rank() == 0 ? 0x80000000u - (blocks - 1) : 1u);
        }
        return t;
    }
    SIMGPU_CG void barrier_wait(arrival_token &&t) const {
        unsigned *word = barrier();
        if (simgpu::thread() == 0) {
            while (((t.saw ^ *(volatile unsigned *)word) & 0x80000000u) == 0) {}
            __threadfence();
        }
        __syncthreads();
    }
    SIMGPU_CG void sync() const { barrier_wait(barrier_arrive()); }

    static SIMGPU_CG unsigned long long block_rank() {
        return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static SIMGPU_CG unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    static SIMGPU_CG unsigned long long thread_rank() { return block_rank() * simgpu::threads() + simgpu::thread(); }
    static SIMGPU_CG unsigned long long num_threads() { return num_blocks() * simgpu::threads(); }
    static SIMGPU_CG unsigned long long size() { return num_threads(); }
    static SIMGPU_CG dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
    static SIMGPU_CG dim3 dim_blocks() { return group_dim(); }
    static SIMGPU_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};
SIMGPU_CG grid_group this_grid() { return grid_group(); }

/* Groups that SimGPU lacks: a use of one is one message that says so. */
typedef grid_group cluster_group SIMGPU_LACKS_IT("SimGPU does not have clusters of blocks");
typedef grid_group multi_grid_group SIMGPU_LACKS_IT("SimGPU does not have groups of several devices");
SIMGPU_LACKS_IT("SimGPU does not have clusters of blocks") SIMGPU_CG grid_group this_cluster();
SIMGPU_LACKS_IT("SimGPU does not have groups of several devices") SIMGPU_CG grid_group this_multi_grid();

/* --- some lanes of a warp ------------------------------------------------------------------------------------ */

/* The lanes of a mask, in order. */
class coalesced_group {
  protected:
    unsigned mask_, meta_rank_ = 0, meta_size_ = 1;

    /* Returns the lane with this rank. */
    SIMGPU_CG int lane_of(unsigned rank) const {
        if (mask_ == 0xffffffffu) return (int)(rank & 31);
        unsigned rest = mask_;
        for (unsigned k = 0; k < rank; k++) rest &= rest - 1;
        return __ffs((int)rest) - 1;
    }

  public:
    explicit SIMGPU_CG coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
        : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}
    SIMGPU_CG void sync() const { __syncwarp(mask_); }
    SIMGPU_CG unsigned size() const { return (unsigned)__popc(mask_); }
    SIMGPU_CG unsigned num_threads() const { return size(); }
    SIMGPU_CG unsigned thread_rank() const { return (unsigned)__popc(mask_ & __lanemask_lt()); }
    SIMGPU_CG unsigned meta_group_rank() const { return meta_rank_; }
    SIMGPU_CG unsigned meta_group_size() const { return meta_size_; }
    SIMGPU_CG unsigned lanes() const { return mask_; }
    template <class T> SIMGPU_CG T shfl(T v, unsigned rank) const {
        int from = lane_of(rank % size());
        SIMGPU_CG_SHUFFLE(v, __shfl_sync(mask_, w, from));
    }
    template <class T> SIMGPU_CG T shfl_up(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return shfl(v, rank < by ? rank : rank - by);
    }
    template <class T> SIMGPU_CG T shfl_down(T v, unsigned by) const {
        unsigned rank = thread_rank();
        return shfl(v, rank + by < size() ? rank + by : rank);
    }
    SIMGPU_CG int any(int p) const { return __any_sync(mask_, p); }
    SIMGPU_CG int all(int p) const { return __all_sync(mask_, p); }
    SIMGPU_CG unsigned ballot(int p) const { return pack(__ballot_sync(mask_, p)); }
    template <class T> SIMGPU_CG unsigned match_any(T v) const { return pack(__match_any_sync(mask_, v)); }
    template <class T> SIMGPU_CG unsigned match_all(T v, int &same) const {
        return pack(__match_all_sync(mask_, v, &same));
    }

  private:
    /* Returns the bits of the group's lanes, side by side. */
    SIMGPU_CG unsigned pack(unsigned lanes) const {
        unsigned packed = 0, n = 0;
        if (mask_ == 0xffffffffu) return lanes;
        for (unsigned rest = mask_; rest; rest &= rest - 1, n++)
            if (lanes & rest & (0u - rest)) packed |= 1u << n;
        return packed;
    }
};
SIMGPU_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

/* --- tiles --------------------------------------------------------------------------------------------------- */

/* `Size` neighbouring lanes; Size is a power of two. */
template <unsigned Size, class Parent = void> class thread_block_tile {
    static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4 ... 1024 threads");
    unsigned meta_rank_, meta_size_;
    template <unsigned, class> friend class thread_block_tile;
    static SIMGPU_CG unsigned base() { return simgpu::lane() & ~(Size - 1); }
    static SIMGPU_CG unsigned mask() { return Size == 32 ? 0xffffffffu : ((1u << Size % 32) - 1) << base(); }

  public:
    static SIMGPU_CG unsigned lanes() { return mask(); }
    SIMGPU_CG thread_block_tile(unsigned meta_rank, unsigned meta_size)
        : meta_rank_(meta_rank), meta_size_(meta_size) {}
    template <class Other>
    SIMGPU_CG thread_block_tile(const thread_block_tile<Size, Other> &t)
        : meta_rank_(t.meta_rank_), meta_size_(t.meta_size_) {}
    SIMGPU_CG void sync() const { __syncwarp(mask()); }
    static constexpr SIMGPU_CG unsigned size() { return Size; }
    static constexpr SIMGPU_CG unsigned num_threads() { return Size; }
    static SIMGPU_CG unsigned thread_rank() { return simgpu::lane() & (Size - 1); }
    SIMGPU_CG unsigned meta_group_rank() const { return meta_rank_; }
    SIMGPU_CG unsigned meta_group_size() const { return meta_size_; }
#define SIMGPU_TILE_SHUFFLE(name, argument, intrinsic)                                                                 \
    template <class T> SIMGPU_CG T name(T v, argument a) const {                                                       \
        SIMGPU_CG_SHUFFLE(v, intrinsic(mask(), w, a, (int)Size));                                                      \
    }
    SIMGPU_TILE_SHUFFLE(shfl, int, __shfl_sync)
    SIMGPU_TILE_SHUFFLE(shfl_up, unsigned, __shfl_up_sync)
    SIMGPU_TILE_SHUFFLE(shfl_down, unsigned, __shfl_down_sync)
    SIMGPU_TILE_SHUFFLE(shfl_xor, unsigned, __shfl_xor_sync)
#undef SIMGPU_TILE_SHUFFLE
    SIMGPU_CG int any(int p) const { return __any_sync(mask(), p); }
    SIMGPU_CG int all(int p) const { return __all_sync(mask(), p); }
    SIMGPU_CG unsigned ballot(int p) const { return __ballot_sync(mask(), p) >> base(); }
    template <class T> SIMGPU_CG unsigned match_any(T v) const { return __match_any_sync(mask(), v) >> base(); }
    template <class T> SIMGPU_CG unsigned match_all(T v, int &same) const {
        return __match_all_sync(mask(), v, &same) >> base();
    }
};

/* A tile of several warps: 64, 128, 256, 512 or 1024 neighbouring threads of the block. Each waits at a barrier of the
 * block's, of which there are 16, and the first is __syncthreads'. The others suffice for all tiles of 64 to 512 in a
 * block of 512 threads, and of 128 to 1024 in a larger one: there a tile of 64 traps. */
namespace simgpu {
template <unsigned Size> class wide_tile {
    unsigned meta_rank_, meta_size_;

    /* As in a heap: 1 for the largest, 2 and 3 for its halves, 4 to 7 for theirs. */
    static SIMGPU_CG unsigned barrier() { return ((threads() > 512 ? 1024 : 512) + thread()) / Size; }

    /* Applies a vote of all threads of the tile. */
#define SIMGPU_TILE_VOTE(name, operation)                                                                              \
    SIMGPU_CG int name(int p) const {                                                                                  \
        int r;                                                                                                         \
        asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %3, 0; barrier.red." operation ".pred q, %1, %2, p; "          \
                     "selp.s32 %0, 1, 0, q; }"                                                                         \
                     : "=r"(r)                                                                                         \
                     : "r"(barrier()), "r"(Size), "r"(p)                                                               \
                     : "memory");                                                                                      \
        return r;                                                                                                      \
    }

  public:
    SIMGPU_CG wide_tile(unsigned meta_rank, unsigned meta_size) : meta_rank_(meta_rank), meta_size_(meta_size) {
        if (barrier() > 15) __trap();
    }
    SIMGPU_CG void sync() const { asm volatile("barrier.sync %0, %1;" : : "r"(barrier()), "r"(Size) : "memory"); }
    static constexpr SIMGPU_CG unsigned size() { return Size; }
    static constexpr SIMGPU_CG unsigned num_threads() { return Size; }
    static SIMGPU_CG unsigned thread_rank() { return thread() % Size; }
    SIMGPU_CG unsigned meta_group_rank() const { return meta_rank_; }
    SIMGPU_CG unsigned meta_group_size() const { return meta_size_; }
    SIMGPU_TILE_VOTE(any, "or")
    SIMGPU_TILE_VOTE(all, "and")
#undef SIMGPU_TILE_VOTE
    /* Every thread gives the same rank. */
    template <class T> SIMGPU_CG T shfl(T v, unsigned rank) const {
        return exchange(v, thread_rank() == rank % Size)[thread() / Size * (Size / 32)];
    }

    /* The values of the threads for which `gives` is so, at most one of a warp: by the warp's number in the block, or,
     * if the tile has one such thread only, by that of the tile's first warp. The tile may read them until it waits
     * next. */
    template <class T> SIMGPU_CG const T *exchange(const T &v, bool gives, unsigned warp) const {
        __shared__ __align__(16) char bytes[32 * sizeof(T)];
        sync(); /* what was there is read */
        if (gives) __builtin_memcpy(bytes + warp * sizeof(T), &v, sizeof(T));
        sync();
        return (const T *)bytes;
    }
    template <class T> SIMGPU_CG const T *exchange(const T &v, bool gives) const {
        return exchange(v, gives, thread() / Size * (Size / 32));
    }
};
} // namespace simgpu

#define SIMGPU_WIDE_TILE(Size)                                                                                         \
    template <class Parent> class thread_block_tile<Size, Parent> : public simgpu::wide_tile<Size> {                   \
      public:                                                                                                          \
        using simgpu::wide_tile<Size>::wide_tile;                                                                      \
        template <class Other>                                                                                         \
        SIMGPU_CG thread_block_tile(const thread_block_tile<Size, Other> &t)                                           \
            : thread_block_tile(t.meta_group_rank(), t.meta_group_size()) {}                                           \
    };
SIMGPU_WIDE_TILE(64)
SIMGPU_WIDE_TILE(128)
SIMGPU_WIDE_TILE(256)
SIMGPU_WIDE_TILE(512)
SIMGPU_WIDE_TILE(1024)
#undef SIMGPU_WIDE_TILE

template <unsigned Size> SIMGPU_CG thread_block_tile<Size, thread_block> tiled_partition(const thread_block &) {
    return thread_block_tile<Size, thread_block>(simgpu::thread() / Size, (simgpu::threads() + Size - 1) / Size);
}
template <unsigned Size, unsigned Whole, class Parent>
SIMGPU_CG thread_block_tile<Size, thread_block_tile<Whole, Parent>>
tiled_partition(const thread_block_tile<Whole, Parent> &t) {
    static_assert(Size <= Whole, "a tile cannot be larger than the tile that it divides");
    return thread_block_tile<Size, thread_block_tile<Whole, Parent>>(t.thread_rank() / Size, Whole / Size);
}

SIMGPU_CG thread_block_tile<1> this_thread() { return thread_block_tile<1>(0, 1); }

/* --- a group whose kind is known at run time -------------------------------------------------------------------- */

class thread_group {
    unsigned lanes_; /* 0: the whole block */

  public:
    SIMGPU_CG thread_group(const thread_block &) : lanes_(0) {}
    SIMGPU_CG thread_group(const coalesced_group &g) : lanes_(g.lanes()) {}
    template <unsigned Size, class Parent>
    SIMGPU_CG thread_group(const thread_block_tile<Size, Parent> &t) : lanes_(t.lanes()) {}
    SIMGPU_CG void sync() const {
        if (lanes_)
            __syncwarp(lanes_);
        else
            __syncthreads();
    }
    SIMGPU_CG unsigned size() const { return lanes_ ? (unsigned)__popc(lanes_) : simgpu::threads(); }
    SIMGPU_CG unsigned num_threads() const { return size(); }
    SIMGPU_CG unsigned thread_rank() const {
        return lanes_ ? (unsigned)__popc(lanes_ & __lanemask_lt()) : simgpu::thread();
    }
};

/* Divides a group into tiles of `size` threads, a power of two up to 32. */
SIMGPU_CG thread_group tiled_partition(const thread_group &g, unsigned size) {
    unsigned first = (g.thread_rank() & ~(size - 1)) - g.thread_rank() + simgpu::lane();
    return coalesced_group(size == 32 ? 0xffffffffu : ((1u << size) - 1) << first);
}

/* --- groups by a property of each lane ------------------------------------------------------------------------ */

template <class Group> SIMGPU_CG coalesced_group binary_partition(const Group &g, bool p) {
    (void)g;
    unsigned here = __activemask(), with = __ballot_sync(here, p);
    return coalesced_group(p ? with : here & ~with, p ? 1 : 0, 2);
}
template <class Group, class T> SIMGPU_CG coalesced_group labeled_partition(const Group &g, T label) {
    (void)g;
    return coalesced_group(__match_any_sync(__activemask(), label));
}

/* --- one thread for all --------------------------------------------------------------------------------------- */

/* Calls the function in one thread of the group, the first; CUDA says no more than one. */
template <class Group, class Function, class... Arguments>
SIMGPU_CG void invoke_one(const Group &g, Function &&f, Arguments &&...a) {
    if (g.thread_rank() == 0) static_cast<Function &&>(f)(static_cast<Arguments &&>(a)...);
}

namespace simgpu {
template <class T> struct plain { typedef T type; };
template <class T> struct plain<T &> { typedef T type; };
template <class T> struct plain<T &&> { typedef T type; };
template <class T> __host__ __device__ T &&made(); /* for decltype, never called */
template <class Function, class... Arguments>
using returned = typename plain<decltype(made<Function>()(made<Arguments>()...))>::type;

template <class Group, class Function, class... Arguments>
SIMGPU_CG returned<Function, Arguments...> from_one(const Group &g, Function &&f, Arguments &&...a) {
    returned<Function, Arguments...> result;
    if (g.thread_rank() == 0) result = static_cast<Function &&>(f)(static_cast<Arguments &&>(a)...);
    return g.shfl(result, 0);
}
} // namespace simgpu

/* The same, and every thread receives what it returns: of tiles and coalesced groups. */
template <class Function, class... Arguments>
SIMGPU_CG simgpu::returned<Function &&, Arguments &&...> invoke_one_broadcast(const coalesced_group &g, Function &&f,
                                                                              Arguments &&...a) {
    return simgpu::from_one<coalesced_group, Function, Arguments...>(g, static_cast<Function &&>(f),
                                                                     static_cast<Arguments &&>(a)...);
}
template <unsigned Size, class Parent, class Function, class... Arguments>
SIMGPU_CG simgpu::returned<Function &&, Arguments &&...> invoke_one_broadcast(const thread_block_tile<Size, Parent> &g,
                                                                              Function &&f, Arguments &&...a) {
    return simgpu::from_one<thread_block_tile<Size, Parent>, Function, Arguments...>(g, static_cast<Function &&>(f),
                                                                                     static_cast<Arguments &&>(a)...);
}

/* --- the same as functions ------------------------------------------------------------------------------------ */

template <class Group> SIMGPU_CG void sync(const Group &g) { g.sync(); }
template <class Group> SIMGPU_CG auto thread_rank(const Group &g) -> decltype(g.thread_rank()) {
    return g.thread_rank();
}
template <class Group> SIMGPU_CG auto group_size(const Group &g) -> decltype(g.size()) { return g.size(); }

} // namespace cooperative_groups

#undef SIMGPU_CG_SHUFFLE
#endif

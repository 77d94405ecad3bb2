/* exec/ — the device: its memory, and warps that run a decoded kernel and count what hardware would count.
 *
 * Interface:
 * - mem_*    device memory. A device address is never a host address: the pages there are not readable by the host.
 * - exec_load gives a module's variables their addresses; exec_run runs one launch to its end, on all host cores.
 *
 * Contract: exec_run gives the same memory, counters and fault for any number of host threads, if the kernel's blocks
 * do not race on plain loads and stores. Kernels whose result
 * could depend on the order of blocks (atomics that return a value, floating-point atomics) and small grids run on one
 * thread. exec/ knows nothing of streams, time or the CUDA runtime: one launch at a time, called from one thread.
 */
#ifndef SIMGPU_EXEC_H
#define SIMGPU_EXEC_H

#include "../include/simgpu_event.h"
#include "../ptx/ptx.h"

/* --- memory ------------------------------------------------------------------------------------------------- */

/* Device addresses lie in [MEM_BASE, MEM_BASE + MEM_WINDOW): reserved and unreadable, so that a host access faults. */
void mem_init(uint64_t capacity_bytes);
/* 256-byte aligned, as cudaMalloc promises; filled with 0xCD so that nobody leans on zeros. 0: device is full. */
uint64_t mem_alloc(uint64_t bytes);
/* 0; or -1 when addr is not the start of a live allocation. Addresses are not handed out again while others are left.
 */
int mem_free(uint64_t addr);
bool mem_in_window(const void *p);             /* could only be a device address */
bool mem_valid(uint64_t addr, uint64_t bytes); /* wholly inside one live allocation */
uint8_t *mem_host(uint64_t addr);              /* where SimGPU keeps that byte; no check */
void mem_usage(uint64_t *free_bytes, uint64_t *total_bytes);
/* Where any address lies: in or next to which allocation, or that it is none of the device's. */
struct simgpu_address mem_locate(uint64_t addr);

/* --- counters ----------------------------------------------------------------------------------------------- */

typedef struct simgpu_counters exec_counters;
enum {
#define COUNTER(field, ncu, what) COUNTER_##field,
#include "../include/simgpu_counters.def"
#undef COUNTER
    NCOUNTERS
};
typedef struct {
    const char *field, *ncu, *what;
} exec_counter_name;
extern const exec_counter_name exec_counter_names[NCOUNTERS]; /* exec_counters as an array of uint64_t, in this order */

typedef struct simgpu_line exec_line; /* one source line's share */

/* --- launches ----------------------------------------------------------------------------------------------- */

typedef struct {
    uint32_t x, y, z;
} exec_dim;

typedef struct {
    ptx_function *kernel;
    exec_dim grid, block;
    uint32_t dynamic_shared;
    const void *params; /* kernel->param_bytes bytes, laid out by kernel->params */
} exec_launch;

typedef struct simgpu_fault exec_fault; /* kind SIMGPU_FAULT_NONE: all went well */

/* How long a block's slowest warp waits for itself (ptx/depth.c): for global loads, one round after another; of those,
 * for rounds that L1 cannot answer; and for the results of its other instructions, in clocks. */
typedef struct {
    uint64_t rounds, missed, clocks;
} exec_depth;

typedef struct {
    exec_fault fault;
    exec_counters total; /* zero, as all below, when the launch was stopped by a fault */
    exec_line *lines;    /* sorted by file, line; owned by exec/, valid until the next exec_run */
    uint32_t nlines;
    /* Unique sectors of the launch: the least that DRAM must move, in 32-byte sectors. */
    uint64_t footprint_read, footprint_written;
    uint64_t blocks, threads_per_block;
    uint32_t registers, shared_bytes; /* a thread, a block: what occupancy is made of */
    exec_depth deepest, depths;       /* of the block that waits longest; the sum over the blocks */
    uint64_t atomic_turns[2]; /* turns at the busiest place: integer atomics, floating-point ones (contention.c) */
} exec_result;

/* 0, or -1 with a message (too little device memory for the module's variables). */
int exec_load(ptx_module *m, char *err, size_t err_size);
/* Runs the launch. The caller has checked the launch limits (block size, shared memory, grid). */
void exec_run(const exec_launch *launch, exec_result *result);

/* Settings; 0 = default. threads: host threads (default: all cores; SIMGPU_THREADS). budget: warp instructions a block
 * may execute (default 2^26; SIMGPU_BUDGET); a launch may execute 64 times as many. */
void exec_configure(unsigned threads, uint64_t budget);

/* What exec/ must know of the card: it has no profile. An H200's until somebody sets it, before the first launch. */
typedef struct {
    uint32_t sms, threads_per_sm;
    uint32_t l1_per_sm, shared_per_sm; /* bytes: L1 cache and shared memory together, and how much may be shared */
} exec_card;
extern exec_card exec_device;

/* printf of kernels lands here, in block order, at the end of each launch. Default: stdout. */
extern void (*exec_print)(const char *text, size_t length);

#endif

/* exec/ — the device: its memory, and warps that run a decoded kernel and count what hardware would count.
 *
 * Interface:
 * - exec_device_*  a card with memory of its own; any number of them, all alike
 * - exec_mem_*     its memory. A device address is never a host address: the pages there are not readable by the host.
 * - exec_load      binds a module to a device: handlers for its instructions, addresses for its variables. The module
 *                  itself stays as ptx/ made it.
 * - exec_run       runs one launch to its end, on all host cores.
 *
 * Contract: exec_run gives the same memory, counters and fault for any number of host threads, if the kernel's blocks
 * do not race on plain loads and stores. Kernels whose result could depend on the order of blocks (atomics that return
 * a value, floating-point atomics) and small grids run on one thread. exec/ knows nothing of streams, time or the CUDA
 * runtime: one launch at a time, called from one thread.
 */
#ifndef SIMGPU_EXEC_H
#define SIMGPU_EXEC_H

#include "../include/simgpu_event.h"
#include "../ptx/ptx.h"

/* --- devices ------------------------------------------------------------------------------------------------ */

typedef struct exec_device exec_device;

/* What exec/ must know of a card: it has no profile. Bytes, but for the first three. */
typedef struct {
    uint32_t sms, threads_per_sm, blocks_per_sm;
    uint32_t l1_per_sm;       /* L1 cache and shared memory together */
    uint32_t shared_per_sm;   /* how much of it may be shared */
    uint32_t shared_reserved; /* that each block with shared memory costs beside its own */
    uint32_t atomic_place;    /* atomics inside one such piece of memory wait for each other */
    uint64_t memory;
} exec_card;

/* Returns a card whose memory is empty. Without address space it ends the program with a message. */
exec_device *exec_device_new(const exec_card *card);
/* Frees all of its memory and forgets its programs; the pointers that were given out are found out from here on. */
void exec_device_clear(exec_device *d);

/* --- memory ------------------------------------------------------------------------------------------------- */

/* Device addresses lie in one window of the process: reserved and unreadable, so that a host access faults. Every
 * device has all of it, so that its addresses do not depend on what other devices hold. */

/* Returns an address that is 512-byte aligned (cudaMalloc promises 256), its bytes filled with 0xCD so that nobody
 * leans on zeros; 0 when the device is full. Addresses are not handed out again while others are left. */
uint64_t exec_mem_alloc(exec_device *d, uint64_t bytes);
/* Returns 0; or -1 when addr is not the start of a live allocation. */
int exec_mem_free(exec_device *d, uint64_t addr);
bool exec_mem_in_window(const void *p);                                   /* could only be a device address */
bool exec_mem_valid(const exec_device *d, uint64_t addr, uint64_t bytes); /* wholly inside one live allocation */
uint8_t *exec_mem_host(const exec_device *d, uint64_t addr);              /* where SimGPU keeps that byte; no check */
void exec_mem_usage(const exec_device *d, uint64_t *free_bytes, uint64_t *total_bytes);
/* Where any address lies: in or next to which allocation, or that it is none of the device's. */
struct simgpu_address exec_mem_locate(const exec_device *d, uint64_t addr);

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

typedef struct exec_program exec_program; /* a module on a device */

typedef struct {
    uint32_t x, y, z;
} exec_dim;

typedef struct {
    exec_program *program;
    const ptx_function *kernel; /* of the program's module */
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

/* Returns NULL with a message if there is too little device memory for the module's variables. A program lives until
 * its device is cleared. */
exec_program *exec_load(exec_device *d, const ptx_module *m, char *err, size_t err_size);
exec_device *exec_device_of(const exec_program *p);
const ptx_module *exec_module_of(const exec_program *p);
/* Returns the device address of a .global or .const variable. */
uint64_t exec_var_address(const exec_program *p, const ptx_var *v);
/* Returns why a launch of the kernel would fail with EXEC_UNSUPPORTED, or NULL. */
const char *exec_unsupported(const exec_program *p, const ptx_function *kernel);
/* Runs the launch. The caller has checked the launch limits (block size, shared memory, grid). */
void exec_run(const exec_launch *launch, exec_result *result);

/* Returns the place in the source that an instruction comes from. */
struct simgpu_place exec_place_of(const ptx_module *m, const ptx_insn *i);

/* Settings; 0 = default. threads: host threads (default: all cores; SIMGPU_THREADS). budget: warp instructions a block
 * may execute (default 2^26; SIMGPU_BUDGET); a launch may execute 64 times as many. */
void exec_configure(unsigned threads, uint64_t budget);

/* printf of kernels lands here, in block order, at the end of each launch. Default: stdout. */
extern void (*exec_print)(const char *text, size_t length);

#endif

/* exec/ — the device: its memory, and warps that run a decoded kernel and count as hardware does.
 *
 * Interface:
 * - exec_device_*  a card with its own memory; any number of cards may exist, all alike
 * - exec_mem_*     its memory. A device address is never a host address; the host cannot read the pages there.
 * - exec_load      binds a module to a device: handlers for its instructions, addresses for its variables. The module
 *                  itself stays constant.
 * - exec_run       runs one launch to its end, on all host cores.
 *
 * Contract: exec_run gives the same memory, counters and fault for any number of host threads, if the kernel's blocks
 * do not race on plain loads and stores. Kernels whose result could depend on the order of blocks (atomics that return
 * a value, floating-point atomics, loops that wait for another block) and small grids run on one thread. exec/ does not
 * know streams, time or the CUDA runtime. It runs one launch at a time and must be called from one thread at a time.
 */
#ifndef SIMGPU_EXEC_H
#define SIMGPU_EXEC_H

#include "../include/simgpu_event.h"
#include "../ptx/ptx.h"

/* --- devices ------------------------------------------------------------------------------------------------ */

typedef struct exec_device exec_device;

/* The constants of a card that exec/ needs; the caller has them from the profile. Sizes in bytes. */
typedef struct {
    uint32_t sms, threads_per_sm, blocks_per_sm;
    uint32_t l1_per_sm;       /* L1 cache and shared memory together */
    uint32_t shared_per_sm;   /* most shared memory among them */
    uint32_t shared_reserved; /* for each block with shared memory, beside the block's own */
    uint32_t atomic_place;    /* bytes of a piece of memory whose atomics wait for each other (contention.h) */
    uint64_t l2_bytes;
    uint64_t l2_reach;         /* bytes of data that it keeps for SMs that load them */
    uint64_t l2_dirty;         /* bytes that may wait to be written back */
    uint32_t heap_clocks;      /* of a warp, for malloc or free in a kernel; and */
    uint32_t heap_lane_clocks; /* for each lane that calls it */
    uint32_t launch_clocks;    /* of a thread, for a launch in a kernel */
    uint64_t memory;
} exec_card;

/* Returns a card with empty memory. Ends the program with a message if the host lacks address space. */
exec_device *exec_device_new(const exec_card *card);

/* Devices of one machine stand side by side, with numbers from 0 and with addresses of their own; the first is made by
 * exec_device_new. exec_machines_of: how many every machine may have, before the first is made (default: 1). */
void exec_machines_of(uint32_t devices);
exec_device *exec_device_beside(exec_device *first, uint32_t number);

/* Lets the device's kernels use the memory of another device of its machine, or no longer. */
void exec_mem_peer(exec_device *d, uint32_t number, bool on);
exec_device *exec_mem_owner(const exec_device *d,
                            uint64_t addr);                   /* returns the device of the machine with that address */
bool exec_mem_elsewhere(const exec_device *d, uint64_t addr); /* returns whether it is another device's memory */

/* Frees all memory and programs of the device, but not the memory of virtual.c. Accesses through old pointers fault
 * from then on. */
void exec_device_clear(exec_device *d);

/* --- memory ------------------------------------------------------------------------------------------------- */

/* Device addresses lie in one window of the process, which is reserved and unreadable, so that a host access faults.
 * Every device uses the whole window, so its addresses do not depend on other devices. */

enum { EXEC_FRESH = 0xCD }; /* each byte of fresh memory, unless exec_mem_fresh says another */

/* From now on fresh device memory has these bytes; shared and local memory keep EXEC_FRESH. exec_mem_make_fresh: fills
 * host bytes of it. */
void exec_mem_fresh(uint8_t byte);
void exec_mem_make_fresh(void *from, uint64_t bytes);

/* Returns a 512-byte aligned address (cudaMalloc guarantees 256), or 0 if the device is full. The bytes are EXEC_FRESH,
 * so that no program relies on zeros, or as exec_mem_fresh said. An address is reused only when no unused ones are
 * left. */
uint64_t exec_mem_alloc(exec_device *d, uint64_t bytes);

/* The same for what a program does not allocate itself: on a card that lies elsewhere, so it does not shift the others.
 */
uint64_t exec_mem_alloc_apart(exec_device *d, uint64_t bytes);

/* Fills memory of one allocation; whole pages of a large one cost the host no memory until something is stored there.
 */
void exec_mem_fill(exec_device *d, uint64_t address, uint8_t byte, uint64_t bytes);

/* Returns 0, or -1 if addr is not the start of a live allocation. */
int exec_mem_free(exec_device *d, uint64_t addr);

/* Virtual memory management (virtual.c). exec_mem_reserve returns addresses of the device for exec_mem_map, `wanted` if
 * they are free, or 0; nothing else uses them. exec_mem_file returns a file as memory of the device, or -1 if there is
 * none left. exec_mem_map shows a part of the file there, exec_mem_show lets kernels and copies use it, exec_mem_hide
 * no longer. Requires whole pages. */
uint64_t exec_mem_reserve(exec_device *d, uint64_t bytes, uint64_t alignment, uint64_t wanted);
void exec_mem_unreserve(exec_device *d, uint64_t address); /* gives back what exec_mem_reserve returned */
int exec_mem_file(exec_device *d, uint64_t bytes);
void exec_mem_file_free(exec_device *d, int file, uint64_t bytes);
bool exec_mem_map(exec_device *d, uint64_t address, uint64_t bytes, int file, uint64_t offset);
void exec_mem_unmap(exec_device *d, uint64_t address, uint64_t bytes);
bool exec_mem_show(exec_device *d, uint64_t address, uint64_t bytes);
void exec_mem_hide(exec_device *d, uint64_t address);

/* Returns whether p lies in the window of device addresses. */
bool exec_mem_in_window(const void *p);

/* Returns whether all bytes lie in one live allocation. */
bool exec_mem_valid(const exec_device *d, uint64_t addr, uint64_t bytes);

/* Returns the host address of a byte of device memory. Requires a valid address. */
uint8_t *exec_mem_host(const exec_device *d, uint64_t addr);
void exec_mem_usage(const exec_device *d, uint64_t *free_bytes, uint64_t *total_bytes);

/* Returns the allocation that contains any address, or the nearest one, or that it is no device address. */
struct simgpu_address exec_mem_locate(const exec_device *d, uint64_t addr);

/* Returns the address of the device's workspace for cooperative launches, or 0 if the device is full. Its second word
 * is the barrier of grid.sync(). */
uint64_t exec_workspace(exec_device *d);

/* --- the L2 cache (l2.c) ---------------------------------------------------------------------------------------- */

/* What a copy or memset has done to bytes of device memory: a kernel of the driver has read or written them, or a copy
 * engine has written them, which reads and writes DRAM. Returns the bytes that DRAM reads and writes for a kernel's. */
enum exec_l2_copy { EXEC_L2_READ, EXEC_L2_WRITE, EXEC_L2_ENGINE };
uint64_t exec_l2_copies(exec_device *d, uint64_t address, uint64_t bytes, enum exec_l2_copy what);

/* Leaves the cache as a memset of a large buffer does: full of other data, which must be written back. */
void exec_l2_flush(exec_device *d);

/* Gives the SMs the code of all kernels (fetch.c). */
void exec_fetch_warm(exec_device *d);

/* --- managed memory (managed.c) --------------------------------------------------------------------------------- */

/* It lies in the window too, and the host may use it there. All of it is zeros at first, in blocks of 64 KiB, which are
 * numbered over all devices. */
enum { EXEC_MANAGED_BLOCK = 64 << 10 };
#define EXEC_MANAGED_BYTES (1ull << 37)

/* Returns a 512-byte aligned address, or 0 if the host refuses the memory. exec_mem_free frees it; it is no part of
 * exec_mem_usage. */
uint64_t exec_managed_alloc(exec_device *d, uint64_t bytes);

/* Adds an allocation of another device, or one that this device has freed, with the bytes that it has. Returns false if
 * the host refuses the memory. */
bool exec_managed_share(exec_device *d, uint64_t address, uint64_t bytes);
bool exec_managed(const void *p); /* returns whether p lies in the managed part of the window */
uint32_t exec_managed_block(uint64_t address);
uint64_t exec_managed_address(uint32_t block);
uint32_t exec_managed_blocks(void); /* returns the number of blocks that were ever in use, the first ones */

/* A block that a launch has touched, and the bytes of the different sectors that it read and wrote there. */
typedef struct {
    uint32_t block;
    uint64_t read, written;
} exec_touch;

/* Sets *touches to the blocks that the device's last launch has touched, by number; valid until its next. Returns how
 * many, and forgets them. */
uint32_t exec_managed_touches(exec_device *d, const exec_touch **touches);

/* Closes blocks: exec_managed_seen tells of each whether the host has touched it since then. */
void exec_managed_close(uint32_t first, uint32_t blocks);
void exec_managed_seen(uint32_t first, uint32_t blocks, bool *seen);

/* Returns the first of the blocks in which anybody has ever written or read a byte, and in *count how many such follow
 * each other; first + blocks and 0 if there is none. */
uint32_t exec_managed_filled(uint32_t first, uint32_t blocks, uint32_t *count);

/* For the handlers of fork(): the child gets a copy of its own. */
void exec_managed_before_fork(void);
void exec_managed_in_parent(void);
void exec_managed_in_child(void);

/* --- memory of the host that kernels use (outside.c) ---------------------------------------------------------------
 */

/* Kernels of every device use it at the host's addresses. link: over the link; otherwise it stands for memory of the
 * device, a __managed__ variable. Ranges do not overlap; the second takes a range's first address. */
void exec_outside_add(uint64_t address, uint64_t bytes, bool link);
void exec_outside_remove(uint64_t address);
/* --- textures and surfaces (texture.c) ------------------------------------------------------------------------- */

enum exec_address { EXEC_WRAP, EXEC_CLAMP, EXEC_MIRROR, EXEC_BORDER }; /* CUDA's numbers */
enum exec_channel_kind { EXEC_SIGNED, EXEC_UNSIGNED, EXEC_FLOAT };     /* likewise */

enum { EXEC_LEVELS = 18 }; /* of the longest mipmapped array */

/* A level of a mipmapped array, as the first one's fields of exec_texture. */
typedef struct {
    uint64_t offset, pitch, slice; /* offset: in bytes, from the first level */
    uint32_t width, rows, planes;
} exec_level;

/* Of an array; memory that a texture is bound to can be read as any. */
enum exec_shape { EXEC_MEMORY, EXEC_PLANE, EXEC_LAYERED_LINE, EXEC_VOLUME, EXEC_CUBE };

/* What a texture or surface object is bound to, and how texels are read. */
typedef struct {
    bool surface;
    uint64_t address, pitch, slice; /* of the first texel; bytes from row to row, plane to plane */
    uint64_t bytes;                 /* from the first texel on, all of which must be allocated */
    uint32_t width, rows, planes;   /* texels; at least 1 each; a layer is a plane */
    uint32_t layers, faces;         /* layers: 0 if not layered; faces: 6 of a cubemap, else 1 */
    enum exec_shape shape;
    bool tiled;             /* the memory of an array: counted as if laid out in tiles */
    uint8_t channels, bits; /* of a texel */
    enum exec_channel_kind kind;
    enum exec_address mode[3];
    bool linear;     /* filters; else takes the nearest texel */
    bool normalized; /* coordinates from 0 to 1 */
    bool unit;       /* integers are read as fractions, 0 to 1 or -1 to 1 */
    bool srgb;       /* and the first three channels through sRGB's curve */
    float border[4];
    uint32_t levels; /* of a mipmapped array, else 0 */
    bool between;    /* mixes two levels; else takes the nearest one */
    float bias, least, most;
    exec_level level[EXEC_LEVELS];
} exec_texture;

/* Makes an object. Returns its handle, never 0. */
uint64_t exec_texture_new(exec_device *d, const exec_texture *t);

/* Returns the live object of a handle, or NULL. */
const exec_texture *exec_texture_find(const exec_device *d, uint64_t handle);

/* Ends an object for all launches that are submitted later. Requires a live one. */
void exec_texture_end(exec_device *d, uint64_t handle);

/* Binds the texture reference whose variable is at `reference` to an object, or with 0 to none, for all launches that
 * are submitted later. */
void exec_texture_bind(exec_device *d, uint64_t reference, uint64_t handle);

/* Returns the object to which launches with this `ended` have it bound, or 0. */
uint64_t exec_texture_bound(const exec_device *d, uint64_t reference, uint64_t ended);

/* Returns the number of ends and bindings so far, which a launch notes when it is submitted (exec_launch.ended). */
uint64_t exec_textures_ended(const exec_device *d);

/* --- the heap of kernels (heap.c) -------------------------------------------------------------------------------- */

#define EXEC_HEAP_BYTES (1ull << 34) /* of addresses */

/* Sets the bytes that malloc in kernels may give out, with their overhead. Requires that none has been called yet. */
void exec_heap_limit(exec_device *d, uint64_t bytes);
bool exec_heap_begun(const exec_device *d); /* returns whether one has been called since the device was cleared */

/* Sets the bytes that printf in kernels may print in a launch; what is more is dropped, with a message. */
void exec_print_limit(exec_device *d, uint64_t bytes);

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
extern const exec_counter_name exec_counter_names[NCOUNTERS]; /* in the order of exec_counters' fields */

typedef struct simgpu_line exec_line; /* the counters of one source line */

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
    const void *params; /* kernel->param_bytes bytes in the layout of kernel->params */
    bool cooperative;   /* all blocks are resident together, and may meet in grid.sync() */
    uint32_t resident;  /* blocks that the device holds at once; 0: no limit */
    uint64_t ended;     /* exec_textures_ended when the program submitted it */
    uint32_t level;     /* 0; of a kernel that a kernel launched, one more than that of its parent */
} exec_launch;

/* What a kernel has launched (children.c), in the order of its blocks: a kernel, or a copy or fill of rows of device
 * memory. Children of one queue run one after another, a queue of EXEC_ALONE for each of its own; those of EXEC_TAIL
 * when the grid and all others have ended. */
#define EXEC_ALONE  0ull
#define EXEC_TAIL   1ull
#define EXEC_QUEUES (1ull << 32) /* of blocks: this + the block; queues of streams lie below */
typedef struct {
    enum { EXEC_CHILD_LAUNCH, EXEC_CHILD_COPY, EXEC_CHILD_FILL } kind;
    exec_launch launch;                                     /* params: malloc'd */
    uint64_t to, to_pitch, from, from_pitch, width, height; /* bytes, rows */
    uint8_t value;
    uint64_t queue, block; /* block: that launched it */
    uint32_t after[4];     /* earlier children for which it waits by events, as their place in the list + 1; 0: none */
    uint64_t clocks;       /* of its block until then, with rounds as round_clocks; of exec_result.deepest, if more */
    struct simgpu_place at;
} exec_child;

/* A query of a kernel, by the name of the runtime's function without "cuda"; the answer goes to its first argument. */
typedef struct {
    const char *name;
    exec_program *program;
    uint64_t argument[4];       /* those behind it */
    const ptx_function *kernel; /* argument[0] as a kernel, or NULL */
    uint8_t answer[256];
    uint32_t bytes;
} exec_question;

/* What children.c needs of the runtime; int is CUDA's error code. admit checks a launch and sets its `resident` and
 * `ended`; most_waiting is cudaLimitDevRuntimePendingLaunchCount; text is an error's name or sentence. */
typedef struct {
    int (*admit)(exec_launch *child, struct simgpu_place at);
    uint64_t (*most_waiting)(void);
    int (*ask)(exec_question *q);
    const char *(*text)(int error, bool name);
} exec_runtime;
extern exec_runtime exec_runtime_host; /* set before the first launch */

typedef struct simgpu_fault exec_fault; /* kind SIMGPU_FAULT_NONE means no fault */

/* The serial work of a block's slowest warp (ptx/depth.c): its rounds of global loads, those of them that miss L1, and
 * the clocks in which its other instructions wait for results. */
typedef struct {
    uint64_t rounds, missed, clocks;
} exec_depth;
/* Lines that stores to local memory go to, and sectors that they fill or not. */
typedef struct {
    uint64_t lines, whole, partial;
} exec_stored;

typedef struct {
    uint64_t instructions, longest;
} exec_part;

/* A basic block that a launch has run: its machine instructions, those in front of it that it has not, the clocks that
 * a warp takes for it, without its loads, and the issue slots. */
typedef struct {
    uint32_t length, skipped, clocks, slots;
} exec_code;

/* A stage of the kernel (ptx/stage.c): its part of exec_result's fields of these names. The rounds and clocks are the
 * sums over the warps, not over each block's slowest one. */
typedef struct {
    exec_counters total;
    uint64_t slots[NCOSTS], machine[NCOSTS], additions, multiplied;
    uint64_t alone_sectors, alone_lines, more_wavefronts;
    double rounds, clocks, lsu_other, constant_other;
    uint32_t group; /* stages of one loop, which follow each other, have the same */
    uint64_t turns; /* of the first of them: the turns of the loop, of all warps; 0 if it is no loop */
} exec_stage;

typedef struct {
    exec_fault fault;
    exec_counters total; /* 0 after a fault, as all fields below */
    exec_line *lines;    /* sorted by file, line; owned by exec/, valid until the next exec_run */
    uint32_t nlines;
    /* The different 32-byte sectors of the launch; footprint_read: those that it read before it had written them. */
    uint64_t footprint_read, footprint_written;
    /* Sectors that L2 was asked for by loads that missed L1, those of them that it had, and sectors stored. The bytes
     * of DRAM: what L2 lacked, and what it wrote back, of this launch or of what came before it. */
    uint64_t l2_read_sectors, l2_read_hits, l2_write_sectors, dram_read_bytes, dram_write_bytes;
    uint64_t alone_sectors, alone_lines; /* that loads would miss if each block had an L1 of its own (resident.h) */
    double l1_hit_pct, l2_hit_pct; /* as the hardware counts them: L1 with stores to sectors that it knows; see l2.c */
    /* The pieces of 64 bytes that loads have DRAM move, the lines of 128 bytes and the rows of 256 with any of them:
     * the fewer in a row, the longer each takes. */
    uint64_t dram_pairs, dram_lines, dram_rows;
    /* The same in sectors, of those that are written back, and of those stored in part for which DRAM gives the rest
     * before. dram_filled: how many the latter are. */
    uint64_t dram_stored_sectors, dram_stored_lines, dram_stored_rows, dram_filled;
    /* The rounds of loads of a wave of blocks that are the first to want what L2 lacks, and the rounds of the wave's
     * block with most that miss L1; both summed over the waves. */
    uint64_t dram_rounds, wave_rounds;
    /* Those that are the first to want what L2 has, but was stored since it was loaded last; twice where a copy brought
     * it from the host. */
    uint64_t stored_rounds;
    uint64_t alone_rounds; /* rounds of loads that miss L1, of all blocks, if each had an L1 of its own */
    uint64_t blocks, threads_per_block;
    uint32_t registers, shared_bytes; /* per thread, per block; they decide occupancy */
    bool spilled;                     /* more registers were wanted: the rest is in local memory */
    /* By cost class: issue slots, whose sum is total.issue_slots, and machine instructions, whose sum is total.inst. Of
     * those of COST_ALU: additions of 32 bits, which two pipes can do, and those with a multiplication in them. */
    uint64_t slots[NCOSTS], machine[NCOSTS], additions, multiplied;
    exec_depth deepest, depths; /* of the block with the longest waits; the sum over the blocks */
    uint64_t more_wavefronts;   /* of the LSU, beyond the first one of each request */
    /* Clocks of the LSU: fences, and accesses that ptxas predicates, where no lane does them; those of constant memory.
     */
    double lsu_other, constant_other;
    /* The stages in order, of which some may not have run. What a called function does belongs to the stage of the call
     * that ran most often. exec/'s until the next exec_run. */
    const exec_stage *stages;
    uint32_t nstages;
    /* The blocks in order, in parts of `part_blocks`: the instructions that a part has run, and the serial work of its
     * longest block, in clocks with rounds as round_clocks. exec/'s until the next exec_run. */
    const exec_part *parts;
    uint64_t nparts, part_blocks;
    /* The most instructions that an SM runs for blocks of the first wave, which go to SMs in turn. */
    uint64_t busiest_sm;
    /* The code that ran, and the part of it that the SMs did not keep from before. exec/'s until the next exec_run. */
    const exec_code *code;
    uint32_t ncode;
    double fetched;
    uint64_t grid_syncs; /* of a block: its arrivals at grid.sync() */
    bool grid_fenced;    /* fences stand beside them, as in SimGPU's header; nvcc's has releases and acquires */
    /* Over the link: bytes of the sectors read and written; warps' requests of 128 bytes; how many loads those are of.
     */
    uint64_t link_read, link_written, link_requests, link_loads;
    uint64_t peer_read, peer_written; /* bytes of the different sectors of other devices' memory */
    uint64_t atomic_turns[2];         /* at each wave's busiest slice of L2; of floating point on its busiest sector */
    exec_child *children; /* what the kernel has launched; exec/'s until the next exec_run, their params the caller's */
    uint32_t nchildren;
    uint64_t atomic_all;  /* the turns at all places */
    uint64_t store_turns; /* of stores of one word at the busiest slice of L2 (contention.h) */
    uint64_t st_merged;   /* stored sectors that went to L2 together with the request before */
    /* Lines that a request stores in part, 2 KiB or more away from its line before: of st_partial, up to all. */
    uint64_t st_scattered;
    exec_stored local_stored;
} exec_result;

/* Memory that a variable of a module has already. */
typedef struct {
    const char *name;
    uint64_t address;
} exec_given;

/* Binds a module to a device. given: nothing is allocated for these variables, and they keep their values. Returns NULL
 * with a message in err if device memory is too small for the other variables. The program lives until its device is
 * cleared. */
exec_program *exec_load(exec_device *d, const ptx_module *m, const exec_given *given, uint32_t ngiven, char *err,
                        size_t err_size);
void exec_unload(exec_program *p); /* frees the memory of its variables; nothing of it may run any more */
exec_device *exec_device_of(const exec_program *p);
const ptx_module *exec_module_of(const exec_program *p);

/* Returns the device address of a .global or .const variable. */
uint64_t exec_var_address(const exec_program *p, const ptx_var *v);

/* Returns the reason why the kernel cannot run, or NULL if it can. */
const char *exec_unsupported(const exec_program *p, const ptx_function *kernel);

/* Runs the launch and fills in *result. Requires that the launch is within the limits (block size, shared memory,
 * grid). */
void exec_run(const exec_launch *launch, exec_result *result);

/* Returns the source line of an instruction. */
struct simgpu_place exec_place_of(const ptx_module *m, const ptx_insn *i);

/* Settings; 0 = default. threads: host threads (default: all cores; SIMGPU_THREADS). budget: warp instructions a block
 * may execute (default 2^26; SIMGPU_BUDGET); a launch may execute 64 times as many. */
void exec_configure(unsigned threads, uint64_t budget);

/* Sets the default of SIMGPU_BUDGET, before exec_configure. */
void exec_usual_budget(uint64_t warp_instructions);

/* Sets the budget of a launch, in warp instructions of all its blocks; 0: 64 times a block's. */
void exec_launch_budget(uint64_t warp_instructions);

/* From now on a launch fails with a deadlock if lanes wait for others of their warp that have gone another way, even
 * while nothing listens. (Otherwise those others go on, as on a card.) */
void exec_lanes_wait(void);

/* Receives the output of kernels' printf, in block order, at the end of each launch. Default: writes to stdout. */
extern void (*exec_print)(const char *text, size_t length);

#endif

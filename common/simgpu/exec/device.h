/* device.h — exec/'s internal state of one device, and of a module bound to it. */
#ifndef SIMGPU_DEVICE_H
#define SIMGPU_DEVICE_H

#include "../ptx/decode.h"
#include "exec.h"
#include "l2.h"

struct warp;
typedef void exec_handler(struct warp *w, const ptx_insn *i);
typedef struct exec_builtin exec_builtin; /* builtin.c */

typedef struct {
    uint64_t address, bytes;
    bool live;
} exec_allocation;

typedef struct {
    uint64_t lo, hi; /* the first address, and the one behind the last */
} mem_range;

/* managed.c */
typedef struct {
    bool mapped;              /* the storage shows managed memory */
    struct exec_device *next; /* the next such device */
    exec_touch *touches;      /* of the launch in progress, a block once */
    uint32_t ntouches, room;
    uint32_t *touch_of, known; /* by block, of the first `known`: its place in the list + 1, or 0 */
} exec_managed_state;

/* fetch.c: a kernel whose code SMs may still have, the machine instructions that it has run, and on which part of the
 * SMs. So many kernels, of 32 instructions at least, fill an instruction cache. */
enum { EXEC_KEPT = 64 };
typedef struct {
    uint64_t program;
    uint32_t function, length;
    double sms;
} exec_kept;

struct exec_device {
    exec_card card;
    exec_allocation *allocations; /* by address; freed ones stay for messages until the window is reused */
    uint32_t nallocations;
    struct exec_device **machine; /* the devices that stand side by side, by number; this one is among them */
    uint32_t peers;               /* a bit for each whose memory this one's kernels may use */
    uint64_t first;               /* the start of its own part of the window */
    uint64_t next_address, used;
    uint64_t small, small_end;        /* the unused addresses of the piece for small allocations */
    uint64_t reserved, next_reserved; /* virtual.c: where reserved addresses begin, and the next ones; 0: none yet */
    mem_range *reservations;          /* likewise: the live ones, by address */
    uint32_t nreservations;
    uint64_t workspace; /* of cooperative launches; 0: none yet */
    uint8_t *storage;   /* the bytes of the window */
    l2_cache l2;
    struct exec_object *objects;            /* texture.c: by handle */
    uint64_t nobjects, first_object, ended; /* first_object: the handle of objects[0]; 0: none yet */
    struct exec_binding *bindings;          /* of texture references, in order */
    uint64_t nbindings;
    base_arena programs;
    exec_managed_state managed;
    struct {
        uint64_t limit, used; /* bytes */
        uint64_t next;        /* where the next block begins, 0 if there was none */
        uint64_t lo, hi;      /* its part of the window's heap */
    } heap;
    uint64_t print_limit;      /* bytes that a launch may print */
    exec_kept kept[EXEC_KEPT]; /* the one that ran last comes first */
    uint32_t nkept;
    uint64_t nprograms; /* so many have been bound to the device */
    uint64_t warmed;    /* how often the SMs were given the code of all kernels */
};

/* The device's part of a module; the ptx_module itself is constant. */
struct exec_program {
    exec_device *device;
    const ptx_module *module;
    uint64_t number;            /* of the device's programs */
    exec_handler *const *lanes; /* the plain handlers of arithmetic, by opcode */
    exec_handler **run;         /* indexed by an instruction's number in the module */
    uint64_t *address;          /* indexed by a variable's number; for .shared, as the running kernel places them */
    struct exec_bound {
        const exec_builtin *builtin; /* of a function without a body */
        const char *unsupported;     /* the reason why it cannot run, or NULL */
        uint64_t ran;                /* a kernel that was launched: d->warmed + 1 at that time; else 0 */
    } * functions;                   /* indexed by a function's number, which begins at 1 */
};

/* memory.c: enters a live allocation into the device's list. Returns false if the host has no memory for that. */
bool exec_mem_note(exec_device *d, uint64_t address, uint64_t bytes);
/* Forgets freed allocations from `from` on, and returns how far behind it the first gap of `need` bytes begins. */
uint64_t exec_mem_gap(exec_device *d, uint64_t from, uint64_t need);
uint64_t exec_mem_slice_end(const exec_device *d); /* the end of the device's own part of the window */
uint64_t exec_mem_heap_base(void);                 /* the start of the kernels' heap, at the end of the window */
uint64_t exec_mem_managed_base(void);              /* the start of the part of the window that is managed memory */

/* outside.c: returns the range in which all of the bytes lie, or NULL. */
typedef struct {
    uint64_t lo, hi;
    bool link;
} exec_range;
const exec_range *exec_outside(uint64_t address, uint64_t bytes);

/* heap.c: return an address, or 0; false if no live block begins there. exec_heap_freed is for memory.c. */
uint64_t exec_heap_alloc(exec_device *d, uint64_t bytes);
uint64_t exec_heap_take(exec_device *d, uint64_t bytes); /* for SimGPU's own use, beyond any limit */
bool exec_heap_free(exec_device *d, uint64_t address);
void exec_heap_freed(exec_device *d, uint64_t bytes);

/* managed.c */
void exec_managed_free(uint64_t address, uint64_t bytes);
void exec_managed_touch(exec_device *d, uint64_t address, uint32_t sectors, bool written);
/* texture.c */
void exec_texture_clear(exec_device *d); /* forgets every object */

/* l2.c */
void exec_l2_init(exec_device *d, uint64_t window);                   /* window: bytes of device addresses */
void exec_l2_drops(exec_device *d, uint64_t address, uint64_t bytes); /* memory that is freed, or leaves the device */

#endif

/* exec/'s inside: what belongs to one device, and a module bound to it. */
#ifndef SIMGPU_DEVICE_H
#define SIMGPU_DEVICE_H

#include "../ptx/decode.h"
#include "exec.h"

struct warp;
typedef void exec_handler(struct warp *w, const ptx_insn *i);
typedef struct exec_builtin exec_builtin; /* builtin.c */

typedef struct {
    uint64_t address, bytes;
    bool live;
} exec_allocation;

struct exec_device {
    exec_card card;
    exec_allocation *allocations; /* by address; freed ones stay, for the messages, until the window is reused */
    uint32_t nallocations;
    uint64_t next_address, used;
    uint8_t *storage;     /* the bytes of the window */
    uint64_t *touched[2]; /* footprint.c: a bit a sector of the window; read, written */
    base_arena programs;
};

/* A ptx_module is constant; this is what the device adds. */
struct exec_program {
    exec_device *device;
    const ptx_module *module;
    exec_handler **run; /* by an instruction's number in the module */
    uint64_t *address;  /* by a variable's number; of .shared ones where the running kernel has them */
    struct exec_bound {
        const exec_builtin *builtin; /* of a function without a body */
        const char *unsupported;     /* NULL: it can run */
    } * functions;                   /* by a function's number, which begins at 1 */
};

/* footprint.c */
void exec_footprint_init(exec_device *d, uint64_t bytes);

#endif

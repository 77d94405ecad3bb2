/* builtin.h — functions without a body that device code may call, between builtin.c and children.c. */
#ifndef SIMGPU_BUILTIN_H
#define SIMGPU_BUILTIN_H

#include "warp.h"

#include <string.h>

/* The result and the arguments: F float, D double, I and L integers of 32 and 64 bits. */
enum shape { F_F, F_FF, F_FFF, D_D, D_DD, D_DDD, I_I, L_L, F_FI, D_DI, PRINTF, ASSERT, XORWOW, MALLOC, FREE, RUNTIME };

struct exec_builtin {
    const char *name;
    enum shape shape;
    double (*f1)(double);
    double (*f2)(double, double);
    int64_t (*i1)(int64_t);
    uint64_t (*runtime)(warp *w, const ptx_insn *i, uint32_t lane); /* RUNTIME: returns its result */
    uint32_t arguments;                                             /* likewise: how many it takes */
};

/* children.c: returns a function of CUDA's device runtime, or NULL. */
const exec_builtin *exec_runtime_find(const char *name);

/* Returns the first 8 bytes of a lane's argument. */
static inline uint64_t exec_argument(const warp *w, const ptx_insn *i, uint32_t k, uint32_t lane) {
    const ptx_slot *s = &i->call->args[k];
    uint64_t v = 0;
    memcpy(&v, w->r + s->offset + lane * s->stride, s->size < 8 ? s->size : 8);
    return v;
}

/* Sets a lane's result. */
static inline void exec_result_is(warp *w, const ptx_insn *i, uint32_t lane, const void *value, uint32_t bytes) {
    const ptx_slot *s = &i->call->result;
    if (i->call->has_result) memcpy(w->r + s->offset + lane * s->stride, value, bytes < s->size ? bytes : s->size);
}

void exec_builtin_free(warp *w, const ptx_insn *i, uint32_t lane, uint64_t address); /* free(address) of a lane */
void exec_builtin_heap_waits(warp *w); /* the time of malloc or free, which serve one lane after another */

#endif

/* program.c — binds a module to a device: the handler of each instruction, the address of each variable. */
#include "warp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool use_avx2(void) {
#if defined(__x86_64__)
    return exec_lanes_avx2[OP_mov_b32] && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2") && !getenv("SIMGPU_NO_AVX2");
#else
    return false;
#endif
}

static exec_handler *handler_of(const ptx_insn *i, exec_handler *const *lanes) {
    static exec_handler *const others[NOPS] = {
#define LANE1(...)     NULL,
#define LANE2(...)     NULL,
#define LANE3(...)     NULL,
#define FLT1(...)      NULL,
#define FLT2(...)      NULL,
#define FLT3(...)      NULL,
#define COMPARE(...)   NULL,
#define OTHER(id, ...) exec_op_##id,
#include "../ptx/opcodes.def"
#undef LANE1
#undef LANE2
#undef LANE3
#undef FLT1
#undef FLT2
#undef FLT3
#undef COMPARE
#undef OTHER
    };
    static const bool can_be_modified[NOPS] = {
#define LANE1(...)   false,
#define LANE2(...)   false,
#define LANE3(...)   false,
#define FLT1(...)    true,
#define FLT2(...)    true,
#define FLT3(...)    true,
#define COMPARE(...) false,
#define OTHER(...)   false,
#include "../ptx/opcodes.def"
    };
    if (exec_has_rare(i)) return exec_run_rare;
    if (i->modified && can_be_modified[i->op]) return lanes[LANES_MODIFIED];
    return others[i->op] ? others[i->op] : lanes[i->op];
}

/* --- variables ---------------------------------------------------------------------------------------------- */

static uint64_t place_given(const ptx_var *v, const exec_given *given, uint32_t n) {
    while (n--)
        if (!strcmp(given[n].name, v->name)) return given[n].address;
    return 0;
}

static bool place_variables(exec_program *p, const exec_given *given, uint32_t ngiven, char *err, size_t err_size) {
    for (uint32_t k = 0; k < p->module->nvars; k++) {
        const ptx_var *v = p->module->vars[k];
        if ((v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || v->size == 0) continue;
        if ((p->address[v->number] = place_given(v, given, ngiven))) continue;
        uint64_t at = p->address[v->number] = exec_mem_alloc_apart(p->device, v->size);
        if (!at) {
            snprintf(err, err_size, "no device memory left for the variable %s of %llu bytes", v->name,
                     (unsigned long long)v->size);
            return false;
        }
        if (v->initial)
            memcpy(exec_mem_host(p->device, at), v->initial, v->size);
        else
            exec_mem_fill(p->device, at, 0, v->size);
    }
    return true;
}

static void fill_in_addresses(exec_program *p) {
    const ptx_module *m = p->module;
    for (uint32_t k = 0; k < m->nvars; k++)
        for (uint32_t r = 0; r < m->vars[k]->nrelocs; r++) {
            if (!exec_mem_in_window((void *)(uintptr_t)p->address[m->vars[k]->number])) continue;
            const ptx_reloc *reloc = &m->vars[k]->relocs[r];
            uint64_t value = reloc->addend;
            const ptx_var *target = ptx_find_var(m, reloc->name);
            if (target) value += p->address[target->number];
            for (uint32_t n = 0; n < m->nfunctions && !target; n++)
                if (strcmp(m->functions[n]->name, reloc->name) == 0) value += m->functions[n]->number;
            memcpy(exec_mem_host(p->device, p->address[m->vars[k]->number]) + reloc->offset, &value, 8);
        }
}

exec_device *exec_device_of(const exec_program *p) { return p->device; }
const ptx_module *exec_module_of(const exec_program *p) { return p->module; }
uint64_t exec_var_address(const exec_program *p, const ptx_var *v) { return p->address[v->number]; }

/* --- functions ---------------------------------------------------------------------------------------------- */

/* Returns why SimGPU lacks this function of the device runtime, or NULL if it is none. */
static const char *lacks(const char *name) {
    if (strstr(name, "DeviceSynchronize"))
        return "since CUDA 12 no kernel can wait for those that it has launched; launch what comes behind them with "
               "cudaStreamTailLaunch";
    bool runtime = !strncmp(name, "__cudaCDP2", 10) || !strncmp(name, "cuda", 4);
    return runtime ? "SimGPU does not have it in kernels" : NULL;
}

/* Returns the reason why the function, or a function that it calls, cannot run; NULL if it can. */
static const char *find_unsupported(exec_program *p, const ptx_function *f) {
    for (uint32_t k = 0; k < f->code->ninsns; k++) {
        const ptx_insn *i = &f->code->insns[k];
        const ptx_function *callee = i->op == OP_call ? i->call->callee : NULL;
        if (!callee) continue;
        const struct exec_bound *b = &p->functions[callee->number];
        if (!callee->code && b->builtin) continue;
        if (b->unsupported) return b->unsupported;
        const char *why = callee->code ? NULL : lacks(callee->name);
        if (why)
            return base_arena_format(&p->device->programs, "call: %s (PTX line %u): %s", callee->name, i->ptx_line,
                                     why);
        if (!callee->code)
            return base_arena_format(&p->device->programs,
                                     "call: %s has no body and is no builtin (PTX line %u); if another file has it, "
                                     "compile all of them with -rdc=true",
                                     callee->name, i->ptx_line);
    }
    return NULL;
}

static void bind(exec_program *p) {
    const ptx_module *m = p->module;
    exec_handler *const *lanes = use_avx2() ? exec_lanes_avx2 : exec_lanes_base;
    bool again = true;
    p->lanes = lanes;
    for (uint32_t n = 0; n < m->nfunctions; n++) {
        const ptx_function *f = m->functions[n];
        struct exec_bound *b = &p->functions[f->number];
        b->unsupported = f->unsupported;
        if (!f->code) b->builtin = exec_builtin_find(f->name);
        for (uint32_t k = 0; f->code && k < f->code->ninsns; k++)
            p->run[f->code->first + k] = handler_of(&f->code->insns[k], lanes);
    }
    while (again) { /* a caller of an unsupported function is unsupported too */
        again = false;
        for (uint32_t n = 0; n < m->nfunctions; n++) {
            const ptx_function *f = m->functions[n];
            struct exec_bound *b = &p->functions[f->number];
            if (!f->code || b->unsupported) continue;
            b->unsupported = find_unsupported(p, f);
            again |= b->unsupported != NULL;
        }
    }
}

const char *exec_unsupported(const exec_program *p, const ptx_function *kernel) {
    const char *why = p->functions[kernel->number].unsupported;
    return why ? why : kernel->code ? NULL : "it has no body";
}

void exec_unload(exec_program *p) {
    for (uint32_t k = 0; k < p->module->nvars; k++) {
        uint64_t *at = &p->address[p->module->vars[k]->number];
        if (*at && !exec_managed((void *)(uintptr_t)*at)) exec_mem_free(p->device, *at); /* that was given */
        *at = 0;
    }
}

exec_program *exec_load(exec_device *d, const ptx_module *m, const exec_given *given, uint32_t ngiven, char *err,
                        size_t err_size) {
    exec_program *p = base_arena_alloc(&d->programs, sizeof *p);
    p->device = d;
    p->module = m;
    p->number = ++d->nprograms;
    p->run = base_arena_alloc(&d->programs, m->instructions * sizeof *p->run);
    p->address = base_arena_alloc(&d->programs, m->variables * sizeof *p->address);
    p->functions = base_arena_alloc(&d->programs, (m->nfunctions + 1) * sizeof *p->functions);
    if (!place_variables(p, given, ngiven, err, err_size)) {
        exec_unload(p);
        return NULL;
    }
    fill_in_addresses(p);
    bind(p);
    return p;
}

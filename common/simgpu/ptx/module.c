/* module.c — loads a module, and finds its kernels and variables by name. */
#include "parse.h"

#include <string.h>

base_arena ptx_arena;

const ptx_module *ptx_load(const char *text, size_t length, const char *source_name, const ptx_costs *costs, char *err,
                           size_t err_size) {
    ptx_module *m = ptx_alloc(sizeof *m);
    m->source_name = ptx_format("%s", source_name);
    m->costs = *costs;
    return ptx_parse_module(m, text, length, err, err_size) ? m : NULL;
}

void ptx_free_all(void) { base_arena_clear(&ptx_arena); }

const ptx_function *ptx_find_kernel(const ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_kernel && strcmp(m->functions[i]->name, name) == 0) return m->functions[i];
    return NULL;
}

const ptx_var *ptx_find_var(const ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nvars; i++)
        if (strcmp(m->vars[i]->name, name) == 0) return m->vars[i];
    return NULL;
}

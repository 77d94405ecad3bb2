/* The room's front: loading a module and looking things up in it. */
#include "parse.h"

#include <string.h>

ptx_module *ptx_load(const char *text, size_t length, const char *source_name, char *err, size_t err_size) {
    ptx_module *m = ptx_alloc(sizeof *m);
    char *name = ptx_alloc(strlen(source_name) + 1);
    strcpy(name, source_name);
    m->source_name = name;
    return parse_module(m, text, length, err, err_size) ? m : NULL;
}

ptx_function *ptx_find_kernel(const ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_kernel && strcmp(m->functions[i]->name, name) == 0) return m->functions[i];
    return NULL;
}

ptx_var *ptx_find_var(const ptx_module *m, const char *name) {
    for (uint32_t i = 0; i < m->nvars; i++)
        if (strcmp(m->vars[i]->name, name) == 0) return m->vars[i];
    return NULL;
}

/* _Z9transposePfPKfi -> transpose; _ZN5tiles4copyIfEEvPT_ -> copy: the last length-prefixed name before the arguments.
 */
const char *ptx_base_name(const char *mangled, int *length) {
    const char *p = mangled, *found = mangled;
    *length = (int)strlen(mangled);
    if (strncmp(p, "_Z", 2) != 0) return mangled;
    p += 2;
    bool nested = *p == 'N';
    if (nested) p++;
    while (*p == 'L' || *p == 'K') p++; /* internal linkage, const */
    while (*p >= '0' && *p <= '9') {
        int n = 0;
        for (; *p >= '0' && *p <= '9'; p++) n = n < 100000 ? 10 * n + (*p - '0') : n;
        if (n == 0 || (size_t)n > strlen(p)) break;
        found = p;
        *length = n;
        p += n;
        if (!nested) break;
    }
    return found;
}

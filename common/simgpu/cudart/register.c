/* register.c — the fat binaries, kernels and variables that compiled code registers before main.
 *
 * clang and nvcc put calls of these functions into constructors. Registration only stores a fat binary; its PTX is read
 * at the first use of one of its kernels or variables, so that an error belongs to a call. All devices share the parsed
 * module; each has its own handlers and variables (exec_program). */
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rt_module {
    const void *fat; /* NULL: loaded by rt_module_load */
    uint32_t number;
    char *text;             /* its PTX, after reading */
    const ptx_module *ptx;  /* likewise */
    struct rt_module *next; /* of those that rt_module_load made */
    struct device *home;    /* likewise: the device of the context to which it belongs; NULL: it is for all */
    const void *context;
};

typedef struct rt_var {
    const void *shadow; /* the host's variable of the same name */
    const char *name;
    rt_module *module;
    struct rt_var *next;
    /* Of a __managed__ variable, else 0. */
    void **pointer;          /* nvcc: where the program keeps its address */
    bool own;                /* clang: its memory is the host's variable */
    uint64_t address, bytes; /* of its memory; address 0: none yet */
} rt_var;

static rt_kernel *kernels;
static rt_var *vars;
static rt_module *opened; /* by rt_module_load */
/* Those of them that the program has unloaded: nodes of graphs may still point to a kernel, and a kernel to its module.
 */
static rt_module *closed;
static rt_kernel *dropped;
static uint32_t nmodules, nkernels;

static void *need(void *memory) {
    return base_must(memory, "the host has no memory to register the program's kernels");
}

/* --- loading ------------------------------------------------------------------------------------------------ */

/* Parses the module's PTX, once for all devices. Returns an error with its message in err. */
static cudaError_t read_text(rt_module *m, char *err, size_t err_size) {
    size_t length;
    if (m->ptx) return cudaSuccess;
    free(m->text);
    m->text = ptx_extract(m->fat, &length, err, err_size);
    if (!m->text) return cudaErrorNoKernelImageForDevice;
    m->ptx = ptx_load(m->text, length, "the program's PTX", time_costs(), err, err_size);
    return m->ptx ? cudaSuccess : cudaErrorInvalidPtx;
}

static rt_loaded *loaded(const rt_module *m) {
    struct device *d = rt_device;
    if (m->number >= d->nloaded) {
        d->loaded = need(realloc(d->loaded, nmodules * sizeof *d->loaded));
        memset(d->loaded + d->nloaded, 0, (nmodules - d->nloaded) * sizeof *d->loaded);
        d->nloaded = nmodules;
    }
    return &d->loaded[m->number];
}

/* --- __managed__ variables ---------------------------------------------------------------------------------- */

/* Requires that the module's PTX is read. */
static void set_first_value(const rt_var *v) {
    const ptx_var *p = ptx_find_var(v->module->ptx, v->name);
    void *memory = (void *)(uintptr_t)v->address;
    memset(memory, 0, v->bytes);
    if (p && p->initial) memcpy(memory, p->initial, p->size < v->bytes ? p->size : v->bytes);
}

/* Gives the variable its memory and its first value on the device in use, if it has none there. */
static bool make_managed(rt_var *v) {
    if (v->address && rt_managed_find(v->address)) return true;
    bool again = v->address != 0;
    if (v->own) {
        rt_block_add(&rt_first()->managed, (rt_block){.address = v->address, .bytes = v->bytes, .symbol = true});
        if (rt_device->cleared) set_first_value(v);
        return true;
    }
    if (!again) v->address = exec_managed_alloc(rt_first()->exec, v->bytes);
    if (!v->address || (again && !exec_managed_share(rt_first()->exec, v->address, v->bytes))) return false;
    time_managed_new(v->address, v->bytes);
    rt_block_add(&rt_first()->managed, (rt_block){.address = v->address, .bytes = v->bytes, .symbol = true});
    *v->pointer = (void *)(uintptr_t)v->address;
    set_first_value(v);
    return true;
}

/* Returns false, with a message, if the host has no memory for the module's managed variables. */
static bool make_all_managed(const rt_module *m) {
    for (rt_var *v = vars; v; v = v->next)
        if (v->bytes && v->module == m && !make_managed(v)) {
            rt_say("the host has no memory for the __managed__ variable %s", v->name);
            return false;
        }
    return true;
}

void rt_managed_variables(void) {
    for (rt_var *v = vars; v; v = v->next)
        if (v->address) make_managed(v);
}

/* Lists the module's managed variables. Returns their number; the caller frees the list. */
static uint32_t given_to(const rt_module *m, exec_given **list) {
    uint32_t n = 0;
    for (const rt_var *v = vars; v; v = v->next) n += v->address && v->module == m;
    *list = need(calloc(n + 1, sizeof **list));
    n = 0;
    for (const rt_var *v = vars; v; v = v->next)
        if (v->address && v->module == m) (*list)[n++] = (exec_given){v->name, v->address};
    return n;
}

static cudaError_t load(rt_module *m) {
    rt_loaded *l = loaded(m);
    char err[1024] = "";
    if (l->tried) return l->error;
    l->tried = true;
    l->error = read_text(m, err, sizeof err);
    if (l->error == cudaSuccess && !make_all_managed(m)) return l->error = cudaErrorMemoryAllocation;
    if (l->error == cudaSuccess) {
        exec_given *given;
        uint32_t n = given_to(m, &given);
        l->program = exec_load(rt_device->exec, m->ptx, given, n, err, sizeof err);
        free(given);
        if (!l->program) l->error = cudaErrorMemoryAllocation;
    }
    if (l->error != cudaSuccess) rt_say("%s", err);
    return l->error;
}

exec_program *rt_kernel_program(const rt_kernel *k) { return loaded(k->module)->program; }

uint64_t *rt_kernel_most_shared(const rt_kernel *k) {
    struct device *d = rt_device;
    if (k->number >= d->nkernels) {
        d->most_dynamic_shared = need(realloc(d->most_dynamic_shared, nkernels * sizeof *d->most_dynamic_shared));
        memset(d->most_dynamic_shared + d->nkernels, 0, (nkernels - d->nkernels) * sizeof *d->most_dynamic_shared);
        d->nkernels = nkernels;
    }
    return &d->most_dynamic_shared[k->number];
}

rt_kernel *rt_kernel_find(const void *stub, cudaError_t *error) {
    rt_kernel *k = kernels;
    while (k && k->stub != stub) k = k->next;
    if (!k) {
        rt_say("this is not a __global__ function of the program, or a kernel of a loaded module");
        *error = cudaErrorInvalidDeviceFunction;
        return NULL;
    }
    *error = load(k->module);
    if (*error != cudaSuccess) return NULL;
    if (!k->function) k->function = ptx_find_kernel(k->module->ptx, k->name);
    if (!k->function) {
        rt_say("the program's PTX has no kernel %s; rebuild the program", k->name);
        *error = cudaErrorInvalidDeviceFunction;
        return NULL;
    }
    return k;
}

const rt_kernel *rt_kernel_of(const ptx_function *f) {
    const rt_kernel *k = kernels;
    while (k && k->function != f) k = k->next;
    return k;
}

const ptx_var *rt_symbol_find(const void *shadow, uint64_t *address, cudaError_t *error) {
    rt_var *v = vars;
    while (v && v->shadow != shadow && (!v->address || v->address != (uint64_t)(uintptr_t)shadow)) v = v->next;
    if (!v) {
        rt_say("the symbol is not a __device__ or __constant__ variable of the program");
        *error = cudaErrorInvalidSymbol;
        return NULL;
    }
    *error = load(v->module);
    if (*error != cudaSuccess) return NULL;
    const ptx_var *found = ptx_find_var(v->module->ptx, v->name);
    if (found) {
        *address = exec_var_address(loaded(v->module)->program, found);
    } else {
        rt_say("the program's PTX has no variable %s, perhaps because no kernel uses it", v->name);
        *error = cudaErrorInvalidSymbol;
    }
    return found;
}

/* --- modules that the program loads ---------------------------------------------------------------------------- */

/* PTX that was parsed before. Parsed modules live as long as the process, so a program that loads the same text again
 * and again gets the same one. */
static struct parsed {
    uint64_t hash;
    size_t length;
    char *text;
    const ptx_module *ptx;
    struct parsed *next;
} * parsed[256];

/* FNV-1a. */
static uint64_t hash_of(const char *text, size_t length) {
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t k = 0; k < length; k++) h = (h ^ (unsigned char)text[k]) * 0x100000001b3ull;
    return h;
}

static const ptx_module *parse_once(const char *text, size_t length, const char *source, char *err, size_t err_size) {
    uint64_t hash = hash_of(text, length);
    struct parsed **chain = &parsed[hash % 256];
    for (struct parsed *p = *chain; p; p = p->next)
        if (p->hash == hash && p->length == length && memcmp(p->text, text, length) == 0 &&
            strcmp(p->ptx->source_name, source) == 0)
            return p->ptx;
    const ptx_module *ptx = ptx_load(text, length, source, time_costs(), err, err_size);
    if (!ptx) return NULL;
    struct parsed *p = need(malloc(sizeof *p));
    *p = (struct parsed){hash, length, memcpy(need(malloc(length + 1)), text, length), ptx, *chain};
    *chain = p;
    return ptx;
}

rt_module *rt_module_load(const char *text, size_t length, const char *source, bool shared, cudaError_t *error,
                          char *err, size_t err_size) {
    *error = cudaErrorInvalidPtx;
    const ptx_module *ptx = parse_once(text, length, source, err, err_size);
    if (!ptx) return NULL;
    for (uint32_t n = 0; n < ptx->nfunctions; n++)
        if (ptx->functions[n]->malformed) {
            snprintf(err, err_size, "%s: %s: %s", source, ptx->functions[n]->name, ptx->functions[n]->unsupported);
            return NULL;
        }
    rt_module *m = need(calloc(1, sizeof *m));
    m->ptx = ptx;
    m->number = nmodules++;
    *error = load(m);
    if (*error != cudaSuccess) {
        free(m);
        return NULL;
    }
    if (!shared) m->home = rt_device, m->context = rt_context();
    m->next = opened;
    opened = m;
    return m;
}

bool rt_module_live(const rt_module *m) {
    for (const rt_module *o = opened; o; o = o->next)
        if (o == m) return true;
    return false;
}

const ptx_module *rt_module_ptx(const rt_module *m) { return m->ptx; }
struct device *rt_module_home(const rt_module *m) {
    return rt_module_live(m) ? m->home : NULL;
}
struct device *rt_kernel_home(const void *stub) {
    const rt_kernel *k = kernels;
    while (k && k->stub != stub) k = k->next;
    return k ? k->module->home : NULL;
}

const void *rt_module_context_at(uint64_t address) {
    for (const rt_module *m = opened; m; m = m->next)
        for (uint32_t k = 0; m->home == rt_device && k < m->ptx->nvars; k++) {
            const ptx_var *v = m->ptx->vars[k];
            if (v->space != SPACE_GLOBAL && v->space != SPACE_CONST) continue;
            if (address - exec_var_address(loaded(m)->program, v) < v->size) return m->context;
        }
    return NULL;
}

bool rt_module_admits(const rt_module *m, const void *context) {
    if (!m->home || (m->home == rt_device && m->context == context)) return true;
    rt_say("the kernel's module belongs to another context than the stream; load it in that context, or load a library "
           "(cuLibraryLoadData), which is for all");
    return false;
}

void rt_module_unload(rt_module *m) {
    struct device *here = rt_device;
    for (uint32_t k = 0; k < rt_cards(); k++) {
        rt_select_this(here->machine[k]);
        rt_loaded *l = loaded(m);
        if (l->program) time_wait_all(), exec_unload(l->program);
        l->program = NULL;
        l->error = cudaErrorInvalidResourceHandle;
    }
    rt_select_this(here);
    for (rt_kernel **k = &kernels; *k;) {
        rt_kernel *gone = *k;
        if (gone->module != m) {
            k = &gone->next;
            continue;
        }
        *k = gone->next;
        gone->next = dropped;
        dropped = gone;
    }
    rt_module **link = &opened;
    while (*link != m) link = &(*link)->next;
    *link = m->next;
    m->next = closed;
    closed = m;
}

void rt_modules_end(const void *context) {
    for (rt_module *m = opened, *next; m; m = next) {
        next = m->next;
        if (m->home && m->context == context) rt_module_unload(m);
    }
}

rt_kernel *rt_module_kernel(rt_module *m, const char *name) {
    for (rt_kernel *k = kernels; k; k = k->next)
        if (k->module == m && strcmp(k->name, name) == 0) return k;
    const ptx_function *f = ptx_find_kernel(m->ptx, name);
    if (!f) return NULL;
    rt_kernel *k = need(calloc(1, sizeof *k));
    *k = (rt_kernel){.stub = k, .name = f->name, .module = m, .number = nkernels++, .function = f, .next = kernels};
    return kernels = k;
}

const ptx_var *rt_module_var(rt_module *m, const char *name, uint64_t *address) {
    const ptx_var *v = ptx_find_var(m->ptx, name);
    if (!v || (v->space != SPACE_GLOBAL && v->space != SPACE_CONST) || load(m) != cudaSuccess) return NULL;
    *address = exec_var_address(loaded(m)->program, v);
    return v;
}

/* --- the functions that compilers call ----------------------------------------------------------------------- */

void **__cudaRegisterFatBinary(void *fat);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *name, int external, size_t size,
                       int constant, int global);
void __cudaRegisterTexture(void **handle, const void *reference, const void **device_address, const char *name,
                           int type, int fractions, int external);
void __cudaRegisterSurface(void **handle, const void *reference, const void **device_address, const char *name,
                           int type, int external);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name, int external,
                              size_t size, int constant, int global);

void **__cudaRegisterFatBinary(void *fat) {
    rt_module *m = need(calloc(1, sizeof *m));
    m->fat = fat;
    m->number = nmodules++;
    return (void **)m;
}
void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
void __cudaUnregisterFatBinary(void **handle) { (void)handle; } /* its kernels stay until the process ends */

/* The program calls it before it uses the module's __managed__ variables, at least before the first time. */
char __cudaInitModule(void **handle) {
    rt_module *m = (rt_module *)handle;
    char err[1024] = "";
    if (rt_begin(__func__) == cudaErrorNotPermitted) return (char)(rt_end(cudaErrorNotPermitted) == cudaSuccess);
    bool good = read_text(m, err, sizeof err) == cudaSuccess;
    if (!good) rt_say("%s", err);
    good = good && make_all_managed(m);
    rt_end(cudaSuccess);
    return (char)good;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size) {
    (void)device_stub, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp_size;
    rt_kernel *k = need(calloc(1, sizeof *k));
    k->stub = stub;
    k->name = name;
    k->module = (rt_module *)handle;
    k->number = nkernels++;
    k->next = kernels;
    kernels = k;
}

static rt_var *add_var(rt_module *m, const void *shadow, const char *name) {
    rt_var *v = need(calloc(1, sizeof *v));
    v->shadow = shadow;
    v->name = name;
    v->module = m;
    v->next = vars;
    return vars = v;
}

void __cudaRegisterVar(void **handle, char *shadow, char *device_address, const char *name, int external, size_t size,
                       int constant, int global) {
    (void)device_address, (void)external, (void)constant, (void)global;
    rt_module *m = (rt_module *)handle;
    rt_var *v = add_var(m, shadow, name);
    char err[1024] = "";
    if (!rt_in_section(shadow, "simgpu_managed")) return;
    if (read_text(m, err, sizeof err) != cudaSuccess) base_refuse("the __managed__ variable %s: %s", name, err);
    v->own = true;
    v->address = (uint64_t)(uintptr_t)shadow;
    v->bytes = size;
    set_first_value(v);
    exec_outside_add(v->address, v->bytes, false);
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *device_address, const char *name, int external,
                              size_t size, int constant, int global) {
    (void)device_address, (void)external, (void)constant, (void)global;
    rt_var *v = add_var((rt_module *)handle, (void *)pointer, name);
    v->pointer = pointer;
    v->bytes = size;
}

/* clang: a texture reference; the device's variable holds nothing, and its address is the handle. */
void __cudaRegisterTexture(void **handle, const void *reference, const void **device_address, const char *name,
                           int type, int fractions, int external) {
    (void)device_address, (void)type, (void)fractions, (void)external;
    add_var((rt_module *)handle, reference, name);
}
void __cudaRegisterSurface(void **handle, const void *reference, const void **device_address, const char *name,
                           int type, int external) {
    (void)device_address, (void)type, (void)external;
    add_var((rt_module *)handle, reference, name);
}

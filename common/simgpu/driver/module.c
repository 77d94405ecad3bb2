/* module.c — modules from PTX text or a fat binary, with the options and logs of a JIT compiler; libraries and links.
 *
 * A CUmodule and a CUlibrary are an rt_module; a CUfunction and a CUkernel are an rt_kernel, which is also its own
 * stub. A handle that is none is found out, since the runtime has a list of both.
 *
 * A module whose text does not parse is refused with CUDA_ERROR_INVALID_PTX. A kernel that uses an instruction that
 * SimGPU lacks is loaded: the info log names it, and its launch fails. */
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the options of the compiler ----------------------------------------------------------------------------- */

typedef struct {
    const char *name;   /* of the call */
    const char *source; /* the file, or NULL */
    bool shared;        /* a library, which belongs to no context */
    unsigned count;
    CUjit_option *options;
    void **values;
    size_t error_room, info_room; /* bytes of the logs */
} jit;

static void *value_of(const jit *j, CUjit_option option) {
    for (unsigned k = 0; k < j->count; k++)
        if (j->options[k] == option) return j->values[k];
    return NULL;
}

/* Writes the text into a log buffer of `room` bytes, and the number of bytes into the option that had the room. */
static void log_text(const jit *j, CUjit_option buffer, CUjit_option size, size_t room, const char *text) {
    char *to = value_of(j, buffer);
    size_t length = strlen(text);
    if (!to || room == 0) return;
    if (length > room - 1) length = room - 1;
    memcpy(to, text, length);
    to[length] = '\0';
    for (unsigned k = 0; k < j->count; k++)
        if (j->options[k] == size) j->values[k] = (void *)(uintptr_t)length;
}
static void log_error(const jit *j, const char *text) {
    log_text(j, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, j->error_room, text);
}
static void log_info(const jit *j, const char *text) {
    log_text(j, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, j->info_room, text);
}

/* Checks the options, notes the sizes of the logs and empties them. */
static CUresult begin_options(jit *j) {
    enum { OPTIONS_MAX = 256 }; /* more than there are, so `count` is no number of options */
    if (j->count > OPTIONS_MAX || (j->count && (!j->options || !j->values))) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned k = 0; k < j->count; k++)
        if ((unsigned)j->options[k] >= CU_JIT_NUM_OPTIONS) return CUDA_ERROR_INVALID_VALUE;
    j->error_room = (uint32_t)(uintptr_t)value_of(j, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    j->info_room = (uint32_t)(uintptr_t)value_of(j, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
    log_error(j, "");
    log_info(j, "");
    return CUDA_SUCCESS;
}

/* The info log: a line for each kernel that cannot run. */
static void log_unsupported(const jit *j, const rt_module *m) {
    char text[4096] = "";
    size_t n = 0;
    const ptx_module *ptx = rt_module_ptx(m);
    for (uint32_t k = 0; k < ptx->nfunctions && n < sizeof text; k++) {
        const ptx_function *f = ptx->functions[k];
        if (f->unsupported)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s cannot run: %s\n", f->name, f->unsupported);
    }
    log_info(j, text);
}

/* --- images -------------------------------------------------------------------------------------------------- */

/* Returns whether the text begins, behind white space and comments, as PTX does. */
static bool is_ptx(const char *p) {
    for (;;) {
        p += strspn(p, " \t\r\n\v\f");
        if (strncmp(p, "//", 2) == 0)
            p += strcspn(p, "\n");
        else if (strncmp(p, "/*", 2) == 0 && strstr(p + 2, "*/"))
            p = strstr(p + 2, "*/") + 2;
        else
            return strncmp(p, ".version", 8) == 0;
    }
}

/* Returns the PTX text of an image, malloc'd, or NULL with *error and its message. */
static char *text_of(const void *image, size_t *length, CUresult *error, char *err, size_t err_size) {
    char magic[4];
    memcpy(magic, image, sizeof magic);
    *error = CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (ptx_is_fatbin(image)) return ptx_extract(image, length, err, err_size);
    if (memcmp(magic, "\177ELF", 4) == 0) {
        snprintf(err, err_size,
                 "the image is machine code (a cubin); SimGPU runs PTX: compile with nvcc -ptx or -fatbin");
        return NULL;
    }
    *error = CUDA_ERROR_INVALID_IMAGE;
    if (!is_ptx(image)) {
        snprintf(err, err_size, "the image is neither PTX text, which begins with .version, nor a fat binary");
        return NULL;
    }
    *length = strlen(image);
    return base_must(strdup(image), "the host has no memory left for PTX text");
}

/* Opens a module of an image. Requires an open call. */
static CUresult open_image(const jit *j, rt_module **module, const void *image) {
    char err[1024] = "";
    size_t length = 0;
    CUresult error = CUDA_SUCCESS;
    char *text = text_of(image, &length, &error, err, sizeof err);
    if (text) {
        cudaError_t e = cudaSuccess;
        *module = rt_module_load(text, length, j->source ? j->source : "the module", j->shared, &e, err, sizeof err);
        error = drv_code(e);
        free(text);
    }
    if (error == CUDA_SUCCESS) {
        log_unsupported(j, *module);
        return CUDA_SUCCESS;
    }
    log_error(j, err);
    rt_say("%s", err);
    return error;
}

static CUresult needs_of(const jit *j) { return j->shared ? drv_needs_init(j->name) : drv_needs_context(j->name); }

static CUresult load(jit *j, rt_module **module, const void *image) {
    CUresult e = needs_of(j);
    if (e != CUDA_SUCCESS) return e;
    if (!module || !image || begin_options(j) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    e = drv_begin(j->name);
    if (e == CUDA_SUCCESS) e = open_image(j, module, image);
    return drv_end(e);
}

/* Returns the file, malloc'd and with a NUL behind it, or NULL with an error. */
static char *read_file(const char *path, size_t *length, CUresult *error) {
    FILE *f = fopen(path, "rb");
    *error = CUDA_ERROR_FILE_NOT_FOUND;
    if (!f) return NULL;
    char *bytes = NULL;
    size_t got = 1;
    for (*length = 0; got; *length += got) {
        bytes = base_must(realloc(bytes, *length + (1 << 16) + 1), "the host has no memory left for a module");
        got = fread(bytes + *length, 1, 1 << 16, f);
    }
    bytes[*length] = '\0';
    *error = ferror(f) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
    fclose(f);
    /* A fat binary says how long it is; text ends at the NUL. */
    if (*error == CUDA_SUCCESS && *length >= 16 && ptx_is_fatbin(bytes) && ptx_fatbin_bytes(bytes) > *length)
        *error = CUDA_ERROR_INVALID_IMAGE;
    if (*error == CUDA_SUCCESS) return bytes;
    free(bytes);
    return NULL;
}

static CUresult load_file(jit *j, rt_module **module, const char *path) {
    size_t length;
    CUresult e = needs_of(j);
    if (e != CUDA_SUCCESS) return e;
    if (!module || !path) return CUDA_ERROR_INVALID_VALUE;
    char *bytes = read_file(path, &length, &e);
    if (!bytes && e == CUDA_ERROR_INVALID_IMAGE)
        return drv_refuse(j->name, e, "%s is cut off: it is a fat binary of more bytes than it has", path);
    if (!bytes) return drv_refuse(j->name, e, "%s cannot be read: %s", path, strerror(errno));
    j->source = path;
    e = load(j, module, bytes);
    free(bytes);
    return e;
}

/* --- modules ------------------------------------------------------------------------------------------------- */

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values) {
    jit j = {.name = "cuModuleLoadDataEx", .count = count, .options = options, .values = values};
    return load(&j, (rt_module **)module, image);
}
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    jit j = {.name = "cuModuleLoadData"};
    return load(&j, (rt_module **)module, image);
}
CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    jit j = {.name = "cuModuleLoadFatBinary"};
    return load(&j, (rt_module **)module, image);
}
CUresult cuModuleLoad(CUmodule *module, const char *path) {
    jit j = {.name = "cuModuleLoad"};
    return load_file(&j, (rt_module **)module, path);
}

/* Opens a call about a module, and sets *m to it. The caller closes the call. */
static CUresult begin_module(const char *name, const void *handle, rt_module **m) {
    CUresult e = drv_begin(name);
    *m = (rt_module *)(uintptr_t)handle;
    if (e != CUDA_SUCCESS || rt_module_live(*m)) return e;
    rt_say("this is not a module; load it first, and do not use it after cuModuleUnload");
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult unload(const char *name, void *handle) {
    rt_module *m;
    CUresult e = drv_needs_module(name, handle);
    if (e != CUDA_SUCCESS) return e;
    e = begin_module(name, handle, &m);
    if (e == CUDA_SUCCESS) rt_module_unload(m);
    return drv_end(e);
}
CUresult cuModuleUnload(CUmodule module) { return unload("cuModuleUnload", module); }
CUresult cuLibraryUnload(CUlibrary library) { return unload("cuLibraryUnload", library); }

static CUresult get_function(const char *name, void *function, void *handle, const char *kernel) {
    rt_module *m;
    rt_kernel *k = NULL;
    CUresult e = drv_needs_module(name, handle);
    if (e != CUDA_SUCCESS) return e;
    if (!function || !kernel) return CUDA_ERROR_INVALID_VALUE;
    e = begin_module(name, handle, &m);
    if (e == CUDA_SUCCESS && !(k = rt_module_kernel(m, kernel))) {
        rt_say("the module has no kernel %s; a C++ function has a mangled name unless it is extern \"C\"", kernel);
        e = CUDA_ERROR_NOT_FOUND;
    }
    if (e == CUDA_SUCCESS) *(rt_kernel **)function = k;
    return drv_end(e);
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    return get_function("cuModuleGetFunction", function, module, name);
}
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    return get_function("cuLibraryGetKernel", kernel, library, name);
}

/* Sets *count to the number of kernels; fills in at most `room` of them. */
static CUresult get_functions(const char *name, rt_kernel **kernels, unsigned room, void *handle, unsigned *count) {
    rt_module *m;
    CUresult e = drv_needs_module(name, handle);
    if (e != CUDA_SUCCESS) return e;
    e = begin_module(name, handle, &m);
    *count = 0;
    for (uint32_t k = 0; e == CUDA_SUCCESS && k < rt_module_ptx(m)->nfunctions; k++) {
        const ptx_function *f = rt_module_ptx(m)->functions[k];
        if (!f->is_kernel) continue;
        if (*count < room) kernels[*count] = rt_module_kernel(m, f->name);
        ++*count;
    }
    return drv_end(e);
}
CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    return get_functions("cuModuleGetFunctionCount", NULL, 0, module, count);
}
CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library) {
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    return get_functions("cuLibraryGetKernelCount", NULL, 0, library, count);
}
CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned room, CUmodule module) {
    unsigned count;
    if (!functions || !room) return CUDA_ERROR_INVALID_VALUE;
    return get_functions("cuModuleEnumerateFunctions", (rt_kernel **)functions, room, module, &count);
}
CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned room, CUlibrary library) {
    unsigned count;
    if (!kernels || !room) return CUDA_ERROR_INVALID_VALUE;
    return get_functions("cuLibraryEnumerateKernels", (rt_kernel **)kernels, room, library, &count);
}

static CUresult get_global(const char *name, CUdeviceptr *address, size_t *bytes, void *handle, const char *variable) {
    rt_module *m;
    uint64_t at = 0;
    const ptx_var *v = NULL;
    if (!variable || (!address && !bytes)) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = begin_module(name, handle, &m);
    if (e == CUDA_SUCCESS && !(v = rt_module_var(m, variable, &at))) {
        rt_say("the module has no variable %s", variable);
        e = CUDA_ERROR_NOT_FOUND;
    }
    if (v && address) *address = at;
    if (v && bytes) *bytes = v->size;
    return drv_end(e);
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name) {
    NEEDS_MODULE(cuModuleGetGlobal, module);
    return get_global("cuModuleGetGlobal", address, bytes, module, name);
}
CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name) {
    NEEDS_CONTEXT(cuLibraryGetGlobal); /* which has a variable of its own */
    return get_global("cuLibraryGetGlobal", address, bytes, library, name);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    NEEDS_INIT(cuModuleGetLoadingMode);
    if (!mode) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* --- libraries: modules that belong to no context; each device gets its variables at their first use there -------- */

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values, unsigned count,
                           CUlibraryOption *library_options, void **library_values, unsigned library_count) {
    (void)library_options, (void)library_values, (void)library_count; /* hints about copies of the image */
    jit j = {.name = "cuLibraryLoadData", .shared = true, .count = count, .options = options, .values = values};
    return load(&j, (rt_module **)library, image);
}
CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                               unsigned count, CUlibraryOption *library_options, void **library_values,
                               unsigned library_count) {
    (void)library_options, (void)library_values, (void)library_count;
    jit j = {.name = "cuLibraryLoadFromFile", .shared = true, .count = count, .options = options, .values = values};
    return load_file(&j, (rt_module **)library, path);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    rt_module *m;
    NEEDS_CONTEXT(cuLibraryGetModule);
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = begin_module("cuLibraryGetModule", library, &m);
    if (e == CUDA_SUCCESS) *module = (CUmodule)m;
    return drv_end(e);
}

/* --- what is known of a function ----------------------------------------------------------------------------- */

/* Opens a call about a function, and sets *k to it. The caller closes the call. */
static CUresult begin_function(const char *name, const void *function, const rt_kernel **k) {
    cudaError_t e = cudaSuccess;
    CUresult dead = drv_begin(name);
    if (dead != CUDA_SUCCESS) return dead;
    *k = rt_kernel_find(function, &e);
    return drv_code(e);
}

static CUresult function_name(const char *call, const char **name, const void *function) {
    const rt_kernel *k;
    CUresult e = drv_needs_function(call, function);
    if (e != CUDA_SUCCESS) return e;
    if (!name) return CUDA_ERROR_INVALID_VALUE;
    e = begin_function(call, function, &k);
    if (e == CUDA_SUCCESS) *name = k->name;
    return drv_end(e);
}
CUresult cuFuncGetName(const char **name, CUfunction function) {
    return function_name("cuFuncGetName", name, function);
}
CUresult cuKernelGetName(const char **name, CUkernel kernel) { return function_name("cuKernelGetName", name, kernel); }

static CUresult module_of(const char *call, void *module, const void *function) {
    const rt_kernel *k;
    CUresult e = drv_needs_function(call, function);
    if (e != CUDA_SUCCESS) return e;
    if (!module) return CUDA_ERROR_INVALID_VALUE;
    e = begin_function(call, function, &k);
    if (e == CUDA_SUCCESS) *(rt_module **)module = k->module;
    return drv_end(e);
}
CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    return module_of("cuFuncGetModule", module, function);
}
CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    return module_of("cuKernelGetLibrary", library, kernel);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    const rt_kernel *k;
    NEEDS_CONTEXT(cuKernelGetFunction);
    if (!function) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = begin_function("cuKernelGetFunction", kernel, &k);
    if (e == CUDA_SUCCESS) *function = (CUfunction)kernel;
    return drv_end(e);
}

static CUresult param_info(const char *name, const void *function, size_t index, size_t *offset, size_t *bytes) {
    const rt_kernel *k;
    CUresult e = drv_needs_function(name, function);
    if (e != CUDA_SUCCESS) return e;
    if (!offset) return CUDA_ERROR_INVALID_VALUE;
    e = begin_function(name, function, &k);
    if (e == CUDA_SUCCESS && index >= k->function->nparams) e = CUDA_ERROR_INVALID_VALUE;
    if (e == CUDA_SUCCESS) *offset = k->function->params[index].offset;
    if (e == CUDA_SUCCESS && bytes) *bytes = k->function->params[index].size;
    return drv_end(e);
}
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes) {
    return param_info("cuFuncGetParamInfo", function, index, offset, bytes);
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes) {
    return param_info("cuKernelGetParamInfo", kernel, index, offset, bytes);
}

CUresult cuFuncLoad(CUfunction function) {
    const rt_kernel *k;
    NEEDS_FUNCTION(cuFuncLoad, function);
    return drv_end(begin_function("cuFuncLoad", function, &k));
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    if (!state) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return cuFuncLoad(function);
}

/* --- links: of one image, which is the result ----------------------------------------------------------------- */

struct CUlinkState_st {
    char *image;
    size_t bytes;
    jit j;
    CUlinkState next;
};
static CUlinkState links;

static bool link_live(CUlinkState s) {
    for (CUlinkState o = links; o; o = o->next)
        if (o == s) return true;
    return false;
}

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
    jit j = {.name = "cuLinkCreate", .count = count, .options = options, .values = values};
    NEEDS_CONTEXT(cuLinkCreate);
    if (!state || begin_options(&j) != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    *state = base_must(calloc(1, sizeof **state), "the host has no memory left for a link");
    rt_lock();
    **state = (struct CUlinkState_st){.j = j, .next = links};
    links = *state;
    rt_unlock();
    return CUDA_SUCCESS;
}

/* Loads the image, so that an error is found here and not later, and keeps it. */
static CUresult add_image(CUlinkState s, const char *call, void *data, size_t bytes) {
    rt_module *m = NULL;
    jit j = s->j;
    j.name = call;
    j.shared = true;
    for (unsigned k = 0; k < j.count; k++) { /* as they were: a log of an earlier call has left its length there */
        if (j.options[k] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) j.values[k] = (void *)(uintptr_t)j.error_room;
        if (j.options[k] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES) j.values[k] = (void *)(uintptr_t)j.info_room;
    }
    if (s->image) return drv_unsupported("a link of several images");
    char *image = base_must(calloc(1, bytes + 1), "the host has no memory left for a link");
    memcpy(image, data, bytes);
    CUresult e = bytes >= 16 && ptx_is_fatbin(image) && ptx_fatbin_bytes(image) > bytes ? CUDA_ERROR_INVALID_IMAGE
                                                                                        : load(&j, &m, image);
    if (e == CUDA_SUCCESS) e = unload(call, m);
    if (e == CUDA_SUCCESS)
        s->image = image, s->bytes = bytes + 1;
    else
        free(image);
    return e;
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes, const char *name,
                          unsigned count, CUjit_option *options, void **values) {
    (void)name, (void)count, (void)options, (void)values; /* the options of the link hold */
    NEEDS_INIT(cuLinkAddData);
    if (!link_live(state)) return CUDA_ERROR_INVALID_HANDLE;
    if (!data || bytes == 0 || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
    return add_image(state, "cuLinkAddData", data, bytes);
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values) {
    size_t bytes;
    CUresult e;
    (void)count, (void)options, (void)values;
    NEEDS_INIT(cuLinkAddFile);
    if (!link_live(state)) return CUDA_ERROR_INVALID_HANDLE;
    if (!path || (unsigned)type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
    char *data = read_file(path, &bytes, &e);
    if (!data) return e;
    e = add_image(state, "cuLinkAddFile", data, bytes);
    free(data);
    return e;
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *bytes) {
    NEEDS_INIT(cuLinkComplete);
    if (!link_live(state)) return CUDA_ERROR_INVALID_HANDLE;
    if (!image || !state->image) return CUDA_ERROR_INVALID_VALUE;
    *image = state->image;
    if (bytes) *bytes = state->bytes;
    return CUDA_SUCCESS;
}

CUresult cuLinkDestroy(CUlinkState state) {
    NEEDS_INIT(cuLinkDestroy);
    if (!link_live(state)) return CUDA_ERROR_INVALID_HANDLE;
    rt_lock();
    CUlinkState *link = &links;
    while (*link != state) link = &(*link)->next;
    *link = state->next;
    rt_unlock();
    free(state->image);
    free(state);
    return CUDA_SUCCESS;
}

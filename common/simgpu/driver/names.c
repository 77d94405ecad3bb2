/* names.c — the functions of the driver by name: cuGetProcAddress, and those that SimGPU lacks. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

CUresult drv_unsupported(const char *name) {
    rt_call_as(name);
    return drv_code(rt_unsupported(name));
}

/* Declared without parameters, since the definitions ignore them. */
#define UNSUPPORTED(name)                                                                                              \
    CUresult name(void);                                                                                               \
    CUresult name(void) { return drv_unsupported(#name); }
#include "unsupported.def"

typedef void (*any_function)(void);
typedef struct {
    const char *name;
    int since;
    any_function function;
} row;

static const row rows[] = {
#define CU(name, since, ...) {#name, since, (any_function)name},
#include "../include/cuda_driver.def"
#define UNSUPPORTED(name) {#name, 0, (any_function)name},
#include "unsupported.def"
};

/* Returns whether the name is that of the symbol, or of one of its later layouts: cuX, cuX_v2. */
static bool is_of(const char *name, const char *symbol) {
    size_t n = strlen(symbol);
    if (strncmp(name, symbol, n)) return false;
    return name[n] == '\0' || (name[n] == '_' && name[n + 1] == 'v' && name[n + 2] && !name[n + 3]);
}

/* Finds the newest layout that the version has. One that SimGPU has comes before one that it lacks. */
CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *result) {
    const row *best = NULL;
    bool known = false;
    if (!symbol || !function || flags > CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (!is_of(rows[k].name, symbol)) continue;
        known = true;
        if (rows[k].since <= version && (!best || rows[k].since >= best->since)) best = &rows[k];
    }
    *function = best ? (void *)(uintptr_t)best->function : NULL;
    if (result)
        *result = best    ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return best || result ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* For cudaGetDriverEntryPoint. */
static int find(const char *symbol, void **function, int version) {
    CUdriverProcAddressQueryResult result = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    cuGetProcAddress_v2(symbol, function, version, 0, &result);
    return (int)result;
}
__attribute__((constructor)) static void tell_runtime(void) { rt_driver_find = find; }

CUresult cuGetProcAddress(const char *symbol, void **function, int version, cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}

/* Functions without a name, which only NVIDIA's own libraries call; the first is the static CUDA runtime, nvcc's
 * default. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    static bool told;
    (void)id;
    if (table) *table = NULL;
    if (!told)
        drv_refuse(
            "cuGetExportTable", CUDA_ERROR_NOT_SUPPORTED,
            "the program has NVIDIA's static CUDA runtime in it, which works with NVIDIA's driver only; link it with "
            "nvcc -cudart shared");
    told = true;
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* driver/ — the CUDA driver API (libcuda.so.1): a second face of the runtime in cudart/.
 *
 *   cuMemAlloc_v2 --AS--> cudaMalloc --> the same frame, checks, messages, events, card
 *
 * A function here checks what only the driver has (contexts, the shapes of its structs), and calls the function of the
 * runtime that does the work, under its own name. So one process may use both: a CUstream is a cudaStream_t, a
 * CUfunction is the stub that cudaLaunchKernel takes, and the primary context of a device is the runtime's.
 *
 * Memory, streams, events, arrays and modules belong to the context that was current when they were made, and end with
 * it. Contexts of one device share its addresses, its default streams and its fate: their kernels may use each other's
 * memory, and one that fails kills all of them.
 *
 *   CUresult cuX(...) {
 *       NEEDS_CONTEXT(cuX);                 // or another NEEDS_
 *       return AS(cuX, cudaX(...));
 *   } */
#ifndef SIMGPU_DRIVER_H
#define SIMGPU_DRIVER_H

#define __CUDA_API_VERSION_INTERNAL /* the functions stand under their own names */
#include "../include/cuda.h"

#include "../cudart/rt.h"

/* Calls a function of the runtime as cuName. */
#define AS(name, ...) (rt_call_as(#name), drv_code(__VA_ARGS__))

#define NEEDS_INIT(name)                                                                                               \
    do {                                                                                                               \
        CUresult drv_bad = drv_needs_init(#name);                                                                      \
        if (drv_bad != CUDA_SUCCESS) return drv_bad;                                                                   \
    } while (0)
#define NEEDS_CONTEXT(name)                                                                                            \
    do {                                                                                                               \
        CUresult drv_bad = drv_needs_context(#name);                                                                   \
        if (drv_bad != CUDA_SUCCESS) return drv_bad;                                                                   \
    } while (0)

/* For a function that gets a handle, or an address of memory: it works in the handle's context, whichever is current,
 * and so on the device of that. A default stream is one of the current context. */
#define NEEDS_(what, name, it)                                                                                         \
    do {                                                                                                               \
        CUresult drv_bad = drv_needs_##what(#name, it);                                                                \
        if (drv_bad != CUDA_SUCCESS) return drv_bad;                                                                   \
    } while (0)
#define NEEDS_STREAM(name, it)   NEEDS_(stream, name, it)
#define NEEDS_HANDLE(name, it)   NEEDS_(handle, name, it)
#define NEEDS_ADDRESS(name, it)  NEEDS_(address, name, it)
#define NEEDS_MODULE(name, it)   NEEDS_(module, name, it)
#define NEEDS_FUNCTION(name, it) NEEDS_(function, name, it)

/* Each returns CUDA_SUCCESS, or an error with a message: the library is not initialised; no context is current. */
CUresult drv_needs_init(const char *name);
CUresult drv_needs_context(const char *name);
CUresult drv_needs_stream(const char *name, CUstream stream);
CUresult drv_needs_handle(const char *name, const void *handle); /* of an event, an array, an executable graph */
CUresult drv_needs_address(const char *name, uint64_t address);
CUresult drv_needs_module(const char *name, const void *module);     /* or library */
CUresult drv_needs_function(const char *name, const void *function); /* or kernel */

/* Lets the rest of the function work on that device. */
void drv_visit(CUdevice device);

CUresult drv_check_device(const char *name, CUdevice device); /* likewise; or there is no such device */

CUresult drv_code(cudaError_t error); /* the driver's number of an error */

/* Opens a call that is the driver's alone. Returns the error of a dead context. drv_end closes it. */
CUresult drv_begin(const char *name);
CUresult drv_end(CUresult result);

/* Prints the message of a call that does nothing else, and returns the error. */
CUresult drv_refuse(const char *name, CUresult error, const char *format, ...) __attribute__((format(printf, 3, 4)));
CUresult drv_unsupported(const char *name); /* prints the name once, and returns CUDA_ERROR_NOT_SUPPORTED */

CUcontext drv_context(void);         /* the one that is current on this thread, or NULL */
bool drv_context_live(CUcontext c);  /* c: any pointer */
CUdevice drv_device_of(CUcontext c); /* of a live context */
/* Returns the context that the runtime has noted for a thing on this device. */
CUcontext drv_context_of(const void *noted, CUdevice device);

bool drv_mapped(uint64_t address); /* by cuMemMap */

/* Sets *arguments to a kernel's arguments as an array of pointers: kernelParams itself, or `room`, filled from the
 * buffer in `extra`. Returns an error with a message if they are not complete. Requires an open call (drv_begin). */
enum { DRV_PARAMS_MAX = 1 << 10 };
CUresult drv_arguments(CUfunction f, void **params, void **extra, void **room, void ***arguments);

/* Sets *p to the copy as the runtime describes it. */
CUresult drv_box(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *p);

/* Sets *bytes to the size of an element of an array. */
CUresult drv_texel_bytes(CUarray array, size_t *bytes);

#endif

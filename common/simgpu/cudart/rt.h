/* cudart/ — the CUDA runtime API. It checks what the program asks, and turns it into commands for time/.
 *
 *   program --call--> errors, handles, registration --time_command--> time/ --> exec/
 *
 * Every public function has the same frame:
 *
 *     cudaError_t cudaX(...) {
 *         RT_BEGIN;                      // lock, first-call set-up, a dead context's error
 *         ...
 *         return rt_end(error);          // remember the error, unlock
 *     }
 *
 * Messages go to stderr and begin with "simgpu: ", then the host line where it is known. */
#ifndef SIMGPU_RT_H
#define SIMGPU_RT_H

#include "device.h"

/* --- errors.c: the frame, and what went wrong ----------------------------------------------------------------- */

#define RT_BEGIN                                                                                                       \
    do {                                                                                                               \
        cudaError_t rt_dead = rt_begin(__func__);                                                                      \
        if (rt_dead != cudaSuccess) return rt_end(rt_dead);                                                            \
    } while (0)

cudaError_t rt_begin(const char *call); /* the sticky error, if there is one */
cudaError_t rt_end(cudaError_t error);  /* its argument */
cudaError_t rt_unsupported(const char *call);
cudaError_t rt_look_for_fault(void); /* what killed the context, told once */
void rt_say_fault(const exec_fault *fault);
bool rt_inside(void); /* is this thread in an API call? */

/* The lock that every call holds; a thread may take it again. rt_lock_anew: in a forked child. */
void rt_lock(void);
void rt_unlock(void);
void rt_lock_anew(void);

/* Makes this the thread's last error, on that device; returns the one before. */
cudaError_t rt_exchange_last_error(cudaError_t error, uint32_t device);

/* The host line that the next call is made from; SimGPU's C++ headers know it (sited.c). */
void rt_at(const char *file, int line);
const char *rt_file(void); /* of the call in progress; NULL when not known */
int rt_line(void);

/* One message: "simgpu: harness.cu:40: cudaMemcpy: ...". Once for each place; after some of them it falls silent. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says so at exit if nobody has looked: a launch returns nothing, so its error is easily missed. */
void rt_launch_failed(cudaError_t error, const char *kernel);

/* --- device.c -------------------------------------------------------------------------------------------------- */

void rt_set_up(void); /* at the first call: a card, and what the environment asks for */

/* --- register.c: what compiled code registers before main ------------------------------------------------------ */

typedef struct rt_module rt_module;

typedef struct rt_kernel {
    const void *stub; /* the host function that stands for the kernel */
    const char *name; /* mangled */
    rt_module *module;
    uint32_t number;              /* among all that are registered */
    const ptx_function *function; /* after rt_kernel_find */
    struct rt_kernel *next;
} rt_kernel;

/* The kernel of a stub, its module loaded. NULL with the error in *error, said on stderr. */
rt_kernel *rt_kernel_find(const void *stub, cudaError_t *error);
exec_program *rt_kernel_program(const rt_kernel *k); /* on the device in use. Requires rt_kernel_find */
uint64_t *rt_kernel_most_shared(const rt_kernel *k); /* the same: what cudaFuncSetAttribute allowed; 0: the usual */
/* The variable of a host shadow (&symbol) and its address on the device in use, its module loaded. NULL: the same. */
const ptx_var *rt_symbol_find(const void *shadow, uint64_t *address, cudaError_t *error);

/* --- streams.c ------------------------------------------------------------------------------------------------- */

/* The timeline's number of a stream handle; false: no such stream. */
bool rt_stream(cudaStream_t handle, uint32_t *stream);
void rt_streams_clear(void); /* every stream and event is gone */

/* --- memory.c --------------------------------------------------------------------------------------------------- */

void rt_charge_malloc(uint64_t bytes);
void rt_charge_free(uint64_t bytes);

/* Device memory within the limit that simgpuDeviceMemory may have set; 0: full. */
uint64_t rt_device_alloc(uint64_t bytes);
void rt_device_usage(uint64_t *free_bytes, uint64_t *total_bytes);
void rt_device_limit(uint64_t bytes);

/* Frees what cudaMalloc gave once the device has passed that place; false: not such a block. */
bool rt_free_behind(uint64_t address, time_point behind);

/* "allocated by cudaMalloc at harness.cu:31" for a device address; empty when not known. */
void rt_describe_allocation(uint64_t address, char *text, size_t size);

void rt_memory_clear(void); /* all that cudaMalloc gave is freed, and page-locked host memory */

/* --- pool.c ----------------------------------------------------------------------------------------------------- */

/* Gives a block back to the pool, behind that place; false: not of the pool. */
bool rt_pool_free(uint64_t address, time_point behind, bool *twice);
void rt_pool_trim(uint64_t keep_bytes);
void rt_pool_synced(void); /* the host has synchronized: idle memory above the threshold goes back */
void rt_pool_init(rt_pool *p);
void rt_pool_clear(void);

/* --- fault.c ---------------------------------------------------------------------------------------------------- */

void rt_catch_host_faults(void);

#endif

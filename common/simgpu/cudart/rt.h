/* cudart/ — the CUDA runtime API. It checks the program's calls and turns them into commands for time/.
 *
 *   program --call--> errors, handles, registration --time_command--> time/ --> exec/
 *
 * Every public function has the same frame:
 *
 *     cudaError_t cudaX(...) {
 *         RT_BEGIN;                      // lock, set up at the first call, return a dead context's error
 *         ...
 *         return rt_end(error);          // set the last error, unlock
 *     }
 *
 * Messages go to stderr as "simgpu: file.cu:40: cudaMemcpy: ...", without the host line if it is unknown. */
#ifndef SIMGPU_RT_H
#define SIMGPU_RT_H

#include "device.h"

/* --- errors.c: the frame, errors, messages -------------------------------------------------------------------- */

#define RT_BEGIN                                                                                                       \
    do {                                                                                                               \
        cudaError_t rt_dead = rt_begin(__func__);                                                                      \
        if (rt_dead != cudaSuccess) return rt_end(rt_dead);                                                            \
    } while (0)

cudaError_t rt_begin(const char *call); /* returns the sticky error, or cudaSuccess */
cudaError_t rt_end(cudaError_t error);  /* returns its argument, or the error of a kernel that failed meanwhile */
cudaError_t rt_unsupported(const char *call);
cudaError_t rt_look_for_fault(void); /* returns the sticky error; prints the kernel's fault once */
void rt_say_fault(const exec_fault *fault);
bool rt_inside(void);       /* returns whether this thread is in an API call */
bool rt_left_by_jump(void); /* returns whether it was, and a signal handler has left it by siglongjmp */

/* The recursive lock that every call holds. rt_lock_anew initialises it in a forked child. */
void rt_lock(void);
void rt_unlock(void);
void rt_lock_anew(void);

/* Sets the thread's last error, on that device. Returns its last error on the device in use. */
cudaError_t rt_exchange_last_error(cudaError_t error, uint32_t device);

/* The driver API (driver/) is a second face of these functions. rt_call_as names this thread's next call, so that
 * messages and reports say what the program wrote; the call leaves the runtime's last error alone. name must stay
 * valid. rt_runtime_used returns whether this thread, or any, has called the runtime API by itself. */
void rt_call_as(const char *name);
bool rt_runtime_used(bool by_this_thread);

/* Sets the host line of this thread's next call; SimGPU's C++ headers pass it (sited.c). */
void rt_at(const char *file, int line);
void rt_at_next(const char **file, int *line); /* what rt_at noted for it; file NULL: nothing */
const char *rt_file(void);                     /* of the call in progress; NULL if unknown */
int rt_line(void);

/* Prints one message, "simgpu: harness.cu:40: cudaMemcpy: ...", once for each place, and at most 20 in all. */
void rt_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What rt_say names in place of the call in progress. Returns what it named before. */
time_site rt_speak_as(time_site site);
void rt_because(enum simgpu_refusal_cause cause); /* the cause in the event of this call, if it fails */

/* Notes a launch's error. At exit a message names it if the program never read it: <<<...>>> returns nothing, so the
 * error is easily missed. */
void rt_launch_failed(cudaError_t error, const char *kernel);

/* --- properties.c ------------------------------------------------------------------------------------------------ */

bool rt_attribute(enum cudaDeviceAttr attr, int *value); /* returns false if SimGPU does not know it */
bool rt_has_limit(enum cudaLimit limit);

/* Set by driver/, if the program has it: finds one of its functions; returns 0, 1 (no such name) or 2 (too old). */
extern int (*rt_driver_find)(const char *symbol, void **function, int version);

/* --- device.c -------------------------------------------------------------------------------------------------- */

uint32_t rt_cards(void);       /* devices of the machine */
struct device *rt_first(void); /* the machine's first device */

/* Chooses a device for this host thread, from its next call on, and a context of it: what the thread makes from then on
 * belongs to that. NULL: the primary one, which the runtime API uses. driver/ has the others; here a context is no more
 * than an address. */
void rt_choose(uint32_t ordinal, const void *context);
uint32_t rt_chosen(void);
const void *rt_context(void); /* the chosen one */

/* Lets the driver API's calls of this thread use another device than the chosen one, until it says otherwise: that of a
 * handle that they take. NULL: the chosen one. */
void rt_visit(struct device *d);

void rt_select(bool by_driver);            /* uses this thread's device */
void rt_select_this(struct device *d);     /* uses another one of the machine, within a call */
struct device *rt_owner(uint64_t address); /* the device of the machine that has this device address */
cudaError_t rt_check_device(int device);   /* prints a message if there is no such device */
void rt_context_end(const void *context);  /* ends all that belongs to a context of the device in use; waits first */
void rt_set_up(void); /* at the first call: makes a card and reads SIMGPU_CHECK, SIMGPU_REPORT, TRACE */

/* --- register.c: kernels and variables that compiled code registers before main --------------------------------- */

typedef struct rt_module rt_module;

typedef struct rt_kernel {
    const void *stub; /* the kernel's host function, its key in the API */
    const char *name; /* mangled */
    rt_module *module;
    uint32_t number;              /* among all registered kernels */
    const ptx_function *function; /* set by rt_kernel_find */
    struct rt_kernel *next;
} rt_kernel;

/* Returns the kernel of a stub after loading its module. Returns NULL, sets *error and prints a message if there is
 * none or the module does not load. */
rt_kernel *rt_kernel_find(const void *stub, cudaError_t *error);
const rt_kernel *rt_kernel_of(const ptx_function *f); /* NULL: the host has not used it yet */

/* Returns the kernel's program on the device in use. Requires rt_kernel_find. */
exec_program *rt_kernel_program(const rt_kernel *k);

/* Returns where the device in use keeps the kernel's limit of dynamic shared memory in bytes, set by
 * cudaFuncSetAttribute; 0 is the default limit. Requires rt_kernel_find. */
uint64_t *rt_kernel_most_shared(const rt_kernel *k);

/* After a reset: gives the __managed__ variables their memory and first values again. */
void rt_managed_variables(void);

/* section.c: returns whether the variable lies in that section of the program or of its library. */
bool rt_in_section(const void *variable, const char *name);

/* Returns the variable of a host shadow (&symbol) after loading its module, and its address on the device in use.
 * Returns NULL, sets *error and prints a message if there is none. */
const ptx_var *rt_symbol_find(const void *shadow, uint64_t *address, cudaError_t *error);

/* Modules that the program loads while it runs. They belong to the chosen context, unless `shared`: a library is for
 * all. rt_module_load returns a module of PTX text, or NULL with an error and its message in err; warning: likewise, if
 * a kernel of it cannot run. A kernel's stub is the kernel itself, so each call that takes the stub of a __global__
 * function takes such a kernel. */
rt_module *rt_module_load(const char *text, size_t length, const char *source, bool shared, cudaError_t *error,
                          char *err, size_t err_size);
bool rt_module_live(const rt_module *m); /* m: any pointer */
const ptx_module *rt_module_ptx(const rt_module *m);
/* Return the device of its context, or of its module's. NULL: it is for all, or there is no such thing. */
struct device *rt_module_home(const rt_module *m);
struct device *rt_kernel_home(const void *stub);
/* Returns what the module that has a variable there, on the device in use, notes of its context. */
const void *rt_module_context_at(uint64_t address);
/* Prints a message and returns false if a kernel of the module cannot run in that context of the device in use. */
bool rt_module_admits(const rt_module *m, const void *context);
void rt_modules_end(const void *context); /* unloads those that belong to it. Requires that the device is idle */
void rt_module_unload(rt_module *m);      /* waits for the device; drops the kernels and frees the variables */
rt_kernel *rt_module_kernel(rt_module *m, const char *name); /* NULL: there is none */

/* Returns a variable of the module and its address on the device in use, or NULL. */
const ptx_var *rt_module_var(rt_module *m, const char *name, uint64_t *address);

/* --- streams.c ------------------------------------------------------------------------------------------------- */

enum { RT_HIGHEST_PRIORITY = -5 }; /* of a stream; 0 is the lowest */

/* per_thread.c: whether stream 0 is the thread's own in the call in progress. */
bool rt_default_is_own(void);

/* Sets *stream to the handle's number in time/. Returns false and prints a message if the handle is invalid. */
bool rt_stream(cudaStream_t handle, uint32_t *stream);
void rt_streams_clear(void);              /* destroys every stream and event */
void rt_handles_end(const void *context); /* streams, events and arrays that belong to it */

/* Return the device, and the context, in which a handle was made. Of no handle, and of a default stream: NULL, and the
 * chosen context. */
struct device *rt_maker(const void *handle);
const void *rt_context_of(const void *handle);

/* Make, find and drop handles of graphs, their nodes and executable graphs. rt_object returns NULL if the handle is
 * none of that kind. */
void *rt_handle_make(enum rt_handle_kind kind, void *object);
void *rt_object(const void *handle, enum rt_handle_kind kind);
void rt_handle_drop(const void *handle, enum rt_handle_kind kind);
rt_handle *rt_event_handle(cudaEvent_t event); /* prints a message if it is none */

/* The argument of a queued function of the host; rt_host_run calls it once and frees the argument. Exactly one of the
 * first two is set. */
void *rt_host_argument(cudaHostFn_t function, cudaStreamCallback_t callback, cudaStream_t stream, void *argument);
void rt_host_run(void *argument, bool dead);

/* --- capture.c: work of a stream that becomes the nodes of a graph ---------------------------------------------------
 */

/* What a node needs beside its command. */
typedef struct {
    const rt_kernel *kernel;        /* of a launch */
    struct cudaHostNodeParams host; /* of a host function */
    struct rt_graph_memory *memory; /* of a node that allocates or frees */
    cudaEvent_t event;              /* of a node that records it or waits for it */
} rt_source;

/* Queues a command, or adds it to the graph if its stream captures; takes the launch's params in any case. Returns
 * cudaErrorStreamCaptureImplicit for the legacy stream while a blocking stream captures. source: NULL for commands that
 * need none. */
cudaError_t rt_submit(const time_command *c, const rt_source *source);
bool rt_captured(uint32_t stream);
cudaError_t rt_capture_legacy(uint32_t stream); /* the same error, before a call that waits for the stream */

/* Each returns cudaSuccess, or the error for a call that no capture in progress allows, and makes the capture invalid:
 * a wait for a stream or a query of it; a wait for an event (changes: the capture becomes invalid) ; a call that may
 * synchronize or allocate; a wait for the device. */
cudaError_t rt_capture_forbids_wait(uint32_t stream);
cudaError_t rt_capture_forbids_event(const rt_handle *event, bool changes);
cudaError_t rt_capture_forbids_unsafe(void);
cudaError_t rt_capture_forbids_all(void);
cudaError_t rt_capture_refuse(uint32_t stream, const char *remedy); /* of a call that is no node */

cudaError_t rt_capture_record(uint32_t stream, rt_handle *event);
cudaError_t rt_capture_wait(uint32_t stream, const rt_handle *event);
void rt_capture_leave(uint32_t stream); /* the stream ends */
void rt_captures_clear(void);
void rt_mark_free(struct rt_mark *m);

/* --- launch.c -------------------------------------------------------------------------------------------------------
 */

/* Checks a launch as cudaLaunchKernel does, and fills in the command but for its stream; its params are malloc'd. */
cudaError_t rt_launch_command(const rt_kernel *k, dim3 grid, dim3 block, void **args, size_t shared, bool cooperative,
                              time_command *c);

/* Checks a launch, and sets its `resident` and `ended`. most_shared: as rt_kernel_most_shared. */
cudaError_t rt_launch_admit(exec_launch *n, uint64_t most_shared);
cudaError_t rt_kernel_attributes(struct cudaFuncAttributes *a, const ptx_function *f, uint64_t most_shared);
int rt_kernel_occupancy(const ptx_function *f, uint64_t most_shared, int block_size, size_t shared);

void rt_serve_kernels(void); /* children.c: answers the device runtime of exec/ */

/* Reads the attributes of a launch: hints are ignored, *cooperative is set, others are refused with a message. */
cudaError_t rt_launch_attributes(const cudaLaunchAttribute *attributes, unsigned count, bool *cooperative);

/* Launches a kernel into a stream. args: kernel->nparams pointers. */
cudaError_t rt_launch(const void *stub, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream,
                      bool cooperative);

/* --- graph.c, graph_exec.c
 * --------------------------------------------------------------------------------------------- */

void rt_graph_free(void *graph);
void rt_graph_end(void *graph); /* frees it, unless something holds it */

/* graph_memory.c: memory of nodes that allocate. The first two return false if the address is no such memory. twice: it
 * is not in use; the stream of the second captures, and the memory's node is added. */
bool rt_graph_memory_freed(uint64_t address, time_point behind, bool *twice);
bool rt_graph_memory_captured_free(uint64_t address, uint32_t stream, cudaError_t *e);
cudaError_t rt_graph_memory_captured(void **ptr, size_t bytes, uint32_t stream);
void rt_graph_memory_clear(void); /* forgets it all: the device is reset */
void rt_exec_free(void *exec);

/* Sets *address to that of bytes at an offset in a variable, which must lie in it. */
cudaError_t rt_symbol_part(const void *symbol, size_t bytes, size_t offset, void **address);

/* Checks a copy or memset, and completes its command: direction, kind of memory. */
cudaError_t rt_copy_command(time_command *c, enum cudaMemcpyKind kind);
cudaError_t rt_fill_command(time_command *c);

/* --- peer.c ------------------------------------------------------------------------------------------------------- */

/* Lets kernels of d use home's memory, or no longer: by its masks, and by the pools there. Access is not kept by the
 * piece. */
void rt_renew_access(struct device *d, const struct device *home);
double rt_peer_gbs(uint64_t to,
                   uint64_t from); /* the rate of a copy between two devices' memory; 0: it is one device's */

/* --- memory.c --------------------------------------------------------------------------------------------------- */

/* Fills rows of `width` bytes with elements of 1, 2 or 4 bytes. waits: the form without Async. */
cudaError_t rt_fill_elements(void *to, size_t pitch, uint32_t value, unsigned element, size_t width, size_t height,
                             cudaStream_t stream, bool waits);

/* Returns the allocation that contains an address, of device memory or page-locked, or NULL. */
const rt_block *rt_block_of(uint64_t address);
/* The same for memory of a pool. Returns the pool. */
const rt_pool *rt_pool_block_of(uint64_t address, uint64_t *base, uint64_t *bytes);

/* cudaMalloc inside a call. Returns its error. The second is for memory of graphs, which a capture allows. */
cudaError_t rt_allocate(void **ptr, size_t bytes);
cudaError_t rt_allocate_captured(void **ptr, size_t bytes);
void rt_free_array_memory(uint64_t address); /* frees a block of rt_allocate. Requires that the device is idle */

/* Queues a copy or memset inside a call, after all checks. waits: the form without Async. */
cudaError_t rt_copy(time_copy bytes, enum cudaMemcpyKind kind, cudaStream_t stream, bool waits);
cudaError_t rt_fill(time_copy bytes, cudaStream_t stream, bool waits);

/* Allocates device memory within the limit of simgpuDeviceMemory. Returns its address, or 0 if the device is full. */
uint64_t rt_device_alloc(uint64_t bytes);
void rt_device_usage(uint64_t *free_bytes, uint64_t *total_bytes);
void rt_device_limit(uint64_t bytes);

/* Frees an allocation of cudaMalloc once the device has passed that point. Returns false if it is not one. */
bool rt_free_behind(uint64_t address, time_point behind);

/* Writes "allocated at harness.cu:31" for a device address, or "" if the place is unknown. */
void rt_describe_allocation(uint64_t address, char *text, size_t size);

void rt_memory_clear(void); /* frees all memory from cudaMalloc and all page-locked host memory */
/* Frees what belongs to a context, of these and of managed memory. Requires that the device is idle. */
void rt_memory_end(const void *context);

bool rt_block_add(rt_block_list *l, rt_block b); /* returns false if the host has no memory for the list */

/* --- chunk.c ---------------------------------------------------------------------------------------------------- */

/* Takes bytes from a chunk; *fresh: from a new one. Returns its id; 0 if they are too many for a chunk, or the host has
 * no memory for the list. */
uint32_t rt_chunk_take(rt_chunk_list *l, uint64_t bytes, bool *fresh);
/* Gives them back. Returns whether the chunk is now empty; true for id 0. */
bool rt_chunk_give(rt_chunk_list *l, uint32_t id, uint64_t bytes);

/* --- managed.c -------------------------------------------------------------------------------------------------- */

/* Returns the managed allocation that contains the address, or NULL. Frees one that begins there; returns false if none
 * does. */
const rt_block *rt_managed_find(uint64_t address);
bool rt_managed_free(uint64_t address);
void rt_managed_end(const void *context);
/* The limits of textures and surfaces, in the order of cudaDeviceProp in CUDA 12's layout, from maxTexture1D on. */
enum { RT_TEXTURE_LIMITS = 40 };
extern const int rt_texture_limits[RT_TEXTURE_LIMITS];
bool rt_texture_attribute(enum cudaDeviceAttr attr, int *value); /* returns false if it is none of these */
void rt_textures_clear(void); /* forgets every texture and surface object (texture.c) */

/* --- pool.c ----------------------------------------------------------------------------------------------------- */

/* Frees a block of the pool, for use behind that point. Returns false if the pool has no such block; sets *twice if it
 * was freed before. */
bool rt_pool_free(uint64_t address, time_point behind, bool *twice);
void rt_pool_synced(void); /* after a synchronization: returns idle memory above the threshold to the device */
void rt_pool_init(rt_pool *p, struct device *home);
bool rt_pool_reached(const struct device *home, uint32_t from); /* may device number `from` use a pool there? */
void rt_pool_clear(void);

/* --- fault.c ---------------------------------------------------------------------------------------------------- */

void rt_catch_host_faults(void);

#endif

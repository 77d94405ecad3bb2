/* struct device: all that cudart/ knows of one card. The cards of a process are alike, and know nothing of each other.
 *
 * Not here, because it is the process's: what compiled code registered (register.c), the report, messages that were
 * said, the listeners, the host threads that run blocks. */
#ifndef SIMGPU_RT_DEVICE_H
#define SIMGPU_RT_DEVICE_H

#include "../include/cuda_runtime_api.h"

#include "../time/time.h"

/* Memory that was given out: of the device by cudaMalloc, of the host page-locked. */
typedef struct {
    uint64_t address, bytes;
    const char *file; /* of the allocating call; NULL when not known */
    int line;
    bool registered; /* cudaHostRegister: not ours to free */
    bool leaving;    /* cudaFreeAsync: to be freed when the device has passed `behind` */
    time_point behind;
    unsigned flags;
} rt_block;
typedef struct {
    rt_block *blocks;
    size_t count, room;
} rt_block_list;

typedef struct {
    uint64_t address, bytes;
    bool idle;
    time_point freed; /* idle: behind this place */
} rt_pool_block;
typedef struct {
    rt_pool_block *blocks;
    size_t count, room;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t threshold;
    int reuse[4]; /* by cudaMemPoolReuse...; only AllowOpportunistic makes a difference here */
} rt_pool;

/* A stream or event that the program has a handle of. */
typedef struct {
    enum rt_handle_kind { HANDLE_FREE, HANDLE_STREAM, HANDLE_EVENT } kind;
    uint32_t generation;
    uint32_t stream; /* STREAM: the timeline's number */
    time_event *event;
    unsigned flags;
    int priority;
} rt_handle;

/* A registered module on this device. */
typedef struct {
    bool tried;
    cudaError_t error; /* why it could not be loaded */
    exec_program *program;
} rt_loaded;

enum { RT_LIMITS = cudaLimitPersistingL2CacheSize + 1 };

struct device {
    uint32_t number; /* from 1; the program sees each as device 0 */
    exec_device *exec;
    time_device *time;
    cudaError_t sticky; /* of a dead context */
    cudaError_t last;   /* while another card is in use: the last error of the thread that changed it */
    struct {
        cudaError_t error;
        char text[512];
    } missed; /* a launch's error that nobody has read yet */
    rt_block_list blocks, pinned;
    uint64_t memory_limit; /* by simgpuDeviceMemory */
    rt_pool pool;
    rt_handle *handles;
    uint32_t nhandles;
    bool has_thread_stream;
    uint32_t thread_stream; /* of cudaStreamPerThread */
    size_t limits[RT_LIMITS];
    rt_loaded *loaded; /* by a module's number */
    uint32_t nloaded;
    uint64_t *most_dynamic_shared; /* by a kernel's number, by cudaFuncSetAttribute; 0: the default limit */
    uint32_t nkernels;
};

extern struct device *rt_device; /* the one in use; set at the first call */

#endif

/* device.h — struct device, the state of one card in cudart/. The cards of a process are alike and share nothing.
 *
 * State of the process is elsewhere: the modules that compiled code registered (register.c), the report, the messages
 * printed so far, the listeners, the host threads that run blocks. */
#ifndef SIMGPU_RT_DEVICE_H
#define SIMGPU_RT_DEVICE_H

#include "../include/cuda_runtime_api.h"

#include "../check/check.h"
#include "../time/time.h"

/* A live allocation: device memory from cudaMalloc, or page-locked host memory. */
typedef struct {
    uint64_t address, bytes;
    const char *file; /* of the allocating call; NULL if unknown */
    int line;
    bool registered; /* by cudaHostRegister: the program owns the memory */
    bool symbol;     /* a __managed__ variable */
    bool leaving;    /* by cudaFreeAsync: freed when the device has passed `behind` */
    time_point behind;
    unsigned flags;
    uint32_t chunk;      /* of chunk.c; 0: none */
    const void *context; /* to which it belongs (rt_choose), */
    uint32_t ordinal;    /* and the device of that */
} rt_block;
typedef struct {
    rt_block *blocks;
    size_t count, room;
} rt_block_list;

/* A chunk of memory from which small allocations come. */
typedef struct {
    uint32_t id, live; /* live: allocations in it */
    uint64_t left;     /* bytes */
} rt_chunk;
typedef struct {
    rt_chunk *chunks;
    size_t count, room;
    uint32_t last_id;
} rt_chunk_list;

typedef struct {
    uint64_t address, bytes;
    bool idle;
    time_point freed; /* if idle, free for use behind this point */
} rt_pool_block;
typedef struct rt_pool {
    struct rt_pool *next; /* the device's default pool is the first */
    struct device *home;  /* whose memory it has */
    uint32_t reached;     /* a bit for each other device that may use it (cudaMemPoolSetAccess) */
    bool dead;            /* destroyed; it waits for its last blocks */
    uint64_t most;        /* bytes that it may hold; 0: no limit */
    rt_pool_block *blocks;
    size_t count, room;
    uint64_t reserved, reserved_high, used, used_high;
    uint64_t chunks; /* that the driver would have for 'reserved' */
    uint64_t threshold;
    int reuse[4]; /* indexed by the cudaMemPoolReuse attributes; only AllowOpportunistic has an effect */
} rt_pool;

/* What cudaStreamSetAttribute keeps of a stream, beside its priority; it changes nothing here. */
typedef struct {
    struct cudaAccessPolicyWindow window;
    int policy; /* of waiting; -1: not set */
    cudaLaunchMemSyncDomain domain;
    cudaLaunchMemSyncDomainMap domains;
} rt_hints;
#define RT_NO_HINTS ((rt_hints){.policy = -1, .domains = {0, 1}})

/* A stream, event, graph ... that the program created. */
typedef struct {
    enum rt_handle_kind {
        HANDLE_FREE,
        HANDLE_STREAM,
        HANDLE_EVENT,
        HANDLE_GRAPH,
        HANDLE_NODE,
        HANDLE_EXEC,
        HANDLE_ARRAY,
        HANDLE_MIPMAP
    } kind;
    uint32_t generation;
    uint32_t stream; /* STREAM: its number in time/ */
    time_event *event;
    struct rt_mark *mark; /* EVENT: its latest record, if a capture has it; else NULL */
    void *object;         /* GRAPH, NODE, EXEC, ARRAY, MIPMAP */
    unsigned flags;
    int priority;
    rt_hints hints;      /* STREAM */
    const void *context; /* in which it was made (rt_choose) */
} rt_handle;

/* A registered module on this device. */
typedef struct {
    bool tried;
    cudaError_t error; /* of a load that failed */
    exec_program *program;
} rt_loaded;

enum { RT_LIMITS = cudaLimitPersistingL2CacheSize + 1 };

/* A device. Those of one machine share its clock and checks; the first holds the lists of page-locked and managed
 * memory. */
struct device {
    uint32_t number;         /* from 1, in the process */
    uint32_t ordinal;        /* its number among the devices of its machine, as the program sees it */
    struct device **machine; /* all of them, by ordinal */
    uint32_t peers;          /* a bit for each whose memory its kernels may use (cudaDeviceEnablePeerAccess) */
    uint32_t mapped;         /* a bit for each of whose mappings they may use one (cuMemSetAccess) */
    exec_device *exec;
    time_device *time;
    check_device *check;
    cudaError_t sticky; /* of a dead context */
    cudaError_t last;   /* while another card is in use: the last error of the thread that switched cards */
    struct {
        cudaError_t error;
        char text[512];
    } missed; /* a launch's error that the program has not read yet */
    rt_block_list blocks, pinned, managed;
    rt_chunk_list chunks, pinned_chunks;
    uint64_t memory_limit; /* bytes, set by simgpuDeviceMemory */
    struct {
        struct rt_graph_memory *first;
        uint64_t used, used_high, reserved, reserved_high; /* bytes */
    } graph_memory;
    rt_pool pool, *pool_in_use;  /* of cudaMallocAsync; NULL: the default one */
    struct rt_texture *textures; /* the live texture and surface objects (texture.c) */
    size_t ntextures;
    rt_handle *handles;
    uint32_t nhandles;
    uint32_t free_handle;        /* no handle below it is free */
    struct rt_capture *captures; /* in progress */
    struct rt_member **members;  /* by stream: its part in a capture; NULL: none */
    uint32_t nmembers;
    uint64_t ncaptures;
    uint32_t *thread_streams; /* of cudaStreamPerThread, by the host thread's number; 0: none yet */
    uint32_t nthread_streams;
    rt_hints hints; /* of the default streams */
    enum cudaFuncCache cache_config;
    unsigned flags; /* of cudaSetDeviceFlags; they change nothing here */
    size_t limits[RT_LIMITS];
    bool cleared;      /* by cudaDeviceReset, once or more */
    rt_loaded *loaded; /* indexed by module number */
    uint32_t nloaded;
    uint64_t *most_dynamic_shared; /* bytes by kernel number, set by cudaFuncSetAttribute; 0: the default limit */
    uint32_t nkernels;
};

extern struct device *rt_device; /* the card in use; set at the first call */

#endif

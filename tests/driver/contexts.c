/* contexts.c — which functions need a current context, and to which context a thing belongs. Prints a line a call;
 * contexts.txt has the lines that an H100's driver printed.
 *
 * A function that gets a handle works in the context of that, whichever is current. Left out is where the card's driver
 * ends the program: a kernel node of a graph without a current context, and the use of a stream or an event whose
 * context was destroyed (errors.c). It compiles with NVIDIA's cuda.h, too. */
#include "check.h"

#include <string.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .global .align 4 .b8 g[16];\n"
                          ".visible .entry k(.param .u64 p) {\n ret;\n}\n";

static CUdevice device;
static CUcontext context, current;
static CUstream stream;
static CUevent first, second;
static CUmodule module;
static CUfunction kernel;
static CUdeviceptr p, q, managed;
static char *pinned, bytes[64];
static void *arguments[] = {&p};

static const char *name_of(CUresult e) {
    const char *name = "?";
    cuGetErrorName(e, &name);
    return name;
}

static void say(const char *what, CUresult e) { printf("%-48s %s\n", what, name_of(e)); }

/* Makes a call while no context is current, and says so if it leaves one current. Returns its result. */
#define ALONE(what, call)                                                                                              \
    (OK_(cuCtxSetCurrent(NULL)), result = (call), cuCtxGetCurrent(&current), OK_(cuCtxSetCurrent(context)),            \
     say(what, result), current ? puts("  and a context is current") : 0, result)
#define OK_(call) ((call) == CUDA_SUCCESS ? (void)0 : (void)(printf("not so: %s\n", #call), exit(1)))
/* Likewise, and makes the call with the context if it failed: what follows needs its result. */
#define ALONE_OR_NOT(what, call)                                                                                       \
    do {                                                                                                               \
        if (ALONE(what, call) != CUDA_SUCCESS) OK(call);                                                               \
    } while (0)
static CUresult result;

/* c: read when the call has set it. */
static void says_context(const char *what, CUresult e, const CUcontext *c, CUcontext other) {
    const char *which = *c == context ? "the first" : *c && *c == other ? "the second" : *c ? "another" : "none";
    printf("%-48s %s: %s\n", what, name_of(e), which);
}

static void CUDA_CB on_host(void *unused) { (void)unused; }
static void CUDA_CB on_end(CUstream s, CUresult e, void *unused) { (void)s, (void)e, (void)unused; }

static void contexts(void) {
    CUcontext c;
    CUdevice d;
    CUfunc_cache cache;
    CUsharedconfig banks;
    unsigned long long id;
    unsigned n;
    int least, greatest;
    size_t limit;
    ALONE("cuCtxGetCurrent", cuCtxGetCurrent(&c));
    ALONE("cuCtxGetDevice", cuCtxGetDevice(&d));
    ALONE("cuCtxGetFlags", cuCtxGetFlags(&n));
    ALONE("cuCtxGetId of none", cuCtxGetId(NULL, &id));
    ALONE("cuCtxGetId", cuCtxGetId(context, &id));
    ALONE("cuCtxGetApiVersion of none", cuCtxGetApiVersion(NULL, &n));
    ALONE("cuCtxGetApiVersion", cuCtxGetApiVersion(context, &n));
    ALONE("cuCtxGetCacheConfig", cuCtxGetCacheConfig(&cache));
    ALONE("cuCtxSetCacheConfig", cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    ALONE("cuCtxGetSharedMemConfig", cuCtxGetSharedMemConfig(&banks));
    ALONE("cuCtxGetLimit", cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE));
    ALONE("cuCtxSetLimit", cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024));
    ALONE("cuCtxGetStreamPriorityRange", cuCtxGetStreamPriorityRange(&least, &greatest));
    ALONE("cuCtxResetPersistingL2Cache", cuCtxResetPersistingL2Cache());
    ALONE("cuCtxSynchronize", cuCtxSynchronize());
    ALONE("cuCtxPopCurrent", cuCtxPopCurrent(&c));
    ALONE("cuProfilerStart", cuProfilerStart());
}

static void streams(void) {
    CUstream s;
    CUcontext c;
    CUdevice d;
    CUstreamCaptureStatus status;
    unsigned flags;
    unsigned long long id;
    int priority;
    ALONE("cuStreamCreate", cuStreamCreate(&s, 0));
    ALONE("cuStreamCreateWithPriority", cuStreamCreateWithPriority(&s, 0, 0));
    ALONE("cuStreamQuery", cuStreamQuery(stream));
    ALONE("cuStreamQuery, default", cuStreamQuery(NULL));
    ALONE("cuStreamSynchronize", cuStreamSynchronize(stream));
    ALONE("cuStreamSynchronize, default", cuStreamSynchronize(NULL));
    ALONE("cuStreamSynchronize, legacy", cuStreamSynchronize(CU_STREAM_LEGACY));
    ALONE("cuStreamSynchronize, the thread's", cuStreamSynchronize(CU_STREAM_PER_THREAD));
    ALONE("cuStreamWaitEvent", cuStreamWaitEvent(stream, first, 0));
    ALONE("cuStreamWaitEvent, default", cuStreamWaitEvent(NULL, first, 0));
    ALONE("cuStreamAddCallback", cuStreamAddCallback(stream, on_end, NULL, 0));
    ALONE("cuStreamAddCallback, default", cuStreamAddCallback(NULL, on_end, NULL, 0));
    ALONE("cuLaunchHostFunc", cuLaunchHostFunc(stream, on_host, NULL));
    ALONE("cuLaunchHostFunc, default", cuLaunchHostFunc(NULL, on_host, NULL));
    ALONE("cuStreamGetFlags", cuStreamGetFlags(stream, &flags));
    ALONE("cuStreamGetFlags, default", cuStreamGetFlags(NULL, &flags));
    ALONE("cuStreamGetPriority", cuStreamGetPriority(stream, &priority));
    ALONE("cuStreamGetPriority, default", cuStreamGetPriority(NULL, &priority));
    ALONE("cuStreamGetId", cuStreamGetId(stream, &id));
    ALONE("cuStreamGetId, default", cuStreamGetId(NULL, &id));
    says_context("cuStreamGetCtx", ALONE("cuStreamGetCtx", cuStreamGetCtx(stream, &c)), &c, NULL);
    ALONE("cuStreamGetCtx, default", cuStreamGetCtx(NULL, &c));
    ALONE("cuStreamGetDevice", cuStreamGetDevice(stream, &d));
    ALONE("cuStreamGetDevice, default", cuStreamGetDevice(NULL, &d));
    ALONE("cuStreamIsCapturing", cuStreamIsCapturing(stream, &status));
    ALONE("cuStreamIsCapturing, default", cuStreamIsCapturing(NULL, &status));
}

/* Prints an attribute of a stream. */
static void has(const char *what, CUstream s, CUstreamAttrID id) {
    CUstreamAttrValue v;
    memset(&v, 0, sizeof v);
    say(what, cuStreamGetAttribute(s, id, &v));
    if (id == CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        printf("  %d %d\n", v.memSyncDomainMap.default_, v.memSyncDomainMap.remote);
    else if (id == CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW)
        printf("  %zu %g %d %d\n", v.accessPolicyWindow.num_bytes, (double)v.accessPolicyWindow.hitRatio,
               (int)v.accessPolicyWindow.hitProp, (int)v.accessPolicyWindow.missProp);
    else
        printf("  %d\n", v.priority); /* the others have an int in its place */
}
static void sets(const char *what, CUstream s, CUstreamAttrID id, int value) {
    CUstreamAttrValue v;
    memset(&v, 0, sizeof v);
    v.priority = value;
    printf("%-38s %9d %s\n", what, value, name_of(cuStreamSetAttribute(s, id, &v)));
}

static void attributes(void) {
    CUstreamAttrValue v;
    CUstream other;
    memset(&v, 0, sizeof v);
    ALONE("cuStreamGetAttribute", cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    ALONE("cuStreamSetAttribute, what was got", /* -1: nobody has set it */
          cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    ALONE("cuStreamGetAttribute, default", cuStreamGetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &v));
    ALONE("cuStreamGetAttribute, none of a stream's",
          cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v));
    ALONE("cuStreamCopyAttributes", cuStreamCopyAttributes(stream, stream));
    OK(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, -2));
    CUstream each[] = {stream, NULL};
    for (int k = 0; k < 2; k++) {
        has("policy at first", each[k], CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
        has("window at first", each[k], CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
        has("priority at first", each[k], CU_LAUNCH_ATTRIBUTE_PRIORITY);
        has("map at first", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
        has("domain at first", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
        sets("policy", each[k], CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, CU_SYNC_POLICY_BLOCKING_SYNC);
        has("policy", each[k], CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
        sets("map", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 0x203);
        has("map", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
        sets("domain", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
        has("domain", each[k], CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
    }
    sets("policy", stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 0);
    sets("policy", stream, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 5);
    sets("map", stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 4);
    sets("map", stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, 0x400);
    sets("domain", stream, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 2);
    sets("none of a stream's", stream, CU_LAUNCH_ATTRIBUTE_IGNORE, 0);
    sets("none of a stream's", stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1);
    sets("none of a stream's", stream, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1);
    sets("priority", stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, -9);
    has("priority", stream, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    sets("priority", stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, 9);
    has("priority", stream, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    sets("priority", stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, -3);
    static const struct {
        float ratio;
        CUaccessProperty miss;
    } windows[] = {{1.5f, CU_ACCESS_PROPERTY_NORMAL},
                   {-0.5f, CU_ACCESS_PROPERTY_NORMAL},
                   {0.5f, CU_ACCESS_PROPERTY_PERSISTING},
                   {0.5f, CU_ACCESS_PROPERTY_STREAMING}};
    for (int k = 0; k < 4; k++) {
        memset(&v, 0, sizeof v);
        v.accessPolicyWindow.base_ptr = (void *)p;
        v.accessPolicyWindow.num_bytes = 4096;
        v.accessPolicyWindow.hitRatio = windows[k].ratio;
        v.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
        v.accessPolicyWindow.missProp = windows[k].miss;
        say("window", cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &v));
    }
    has("window", stream, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
    say("copy", cuStreamCopyAttributes(other, stream));
    has("policy, copied", other, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY);
    has("window, copied", other, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW);
    has("priority, copied", other, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    has("map, copied", other, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
    has("domain, copied", other, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
    say("copy to the default stream", cuStreamCopyAttributes(NULL, stream));
    say("copy from the default stream", cuStreamCopyAttributes(stream, NULL));
    OK(cuStreamDestroy(other));
}

static void graphs(void) {
    CUgraph graph, other;
    CUgraphExec exec;
    CUgraphNode node;
    CUgraphExecUpdateResultInfo info;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    ALONE("cuThreadExchangeStreamCaptureMode", cuThreadExchangeStreamCaptureMode(&mode));
    ALONE_OR_NOT("cuStreamBeginCapture", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    ALONE("cuLaunchKernel, captured", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    ALONE_OR_NOT("cuStreamEndCapture", cuStreamEndCapture(stream, &graph));
    ALONE_OR_NOT("cuGraphInstantiate", cuGraphInstantiate(&exec, graph, 0));
    ALONE("cuGraphLaunch", cuGraphLaunch(exec, stream));
    ALONE("cuGraphLaunch, default", cuGraphLaunch(exec, NULL));
    ALONE("cuGraphUpload", cuGraphUpload(exec, stream));
    ALONE("cuGraphClone", cuGraphClone(&other, graph));
    memset(&info, 0, sizeof info);
    ALONE("cuGraphExecUpdate", cuGraphExecUpdate(exec, graph, &info));
    ALONE("cuGraphExecDestroy", cuGraphExecDestroy(exec));
    ALONE("cuGraphDestroy", cuGraphDestroy(other));
    ALONE("cuGraphCreate", cuGraphCreate(&other, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .elementSize = 1, .width = 16, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .WidthInBytes = 16,
                          .Height = 1,
                          .Depth = 1};
    ALONE("cuGraphAddMemsetNode", cuGraphAddMemsetNode(&node, other, NULL, 0, &fill, context));
    ALONE("cuGraphMemsetNodeSetParams", cuGraphMemsetNodeSetParams(node, &fill));
    ALONE("cuGraphAddMemcpyNode", cuGraphAddMemcpyNode(&node, other, NULL, 0, &copy, context));
    ALONE("cuGraphMemcpyNodeSetParams", cuGraphMemcpyNodeSetParams(node, &copy));
    ALONE("cuGraphAddEventRecordNode", cuGraphAddEventRecordNode(&node, other, NULL, 0, first));
    ALONE("cuGraphEventRecordNodeSetEvent", cuGraphEventRecordNodeSetEvent(node, second));
    ALONE("cuGraphAddEmptyNode", cuGraphAddEmptyNode(&node, other, NULL, 0));
    OK(cuGraphDestroy(other));
    OK(cuGraphDestroy(graph));
}

/* A host function may ask for an event. */
static void CUDA_CB ask(void *unused) {
    (void)unused;
    say("in a host function: cuEventQuery", cuEventQuery(first));
}

static void events(void) {
    CUevent e;
    CUstream s;
    float ms;
    ALONE("cuEventCreate", cuEventCreate(&e, 0));
    ALONE("cuEventRecord", cuEventRecord(first, stream));
    ALONE("cuEventRecord, default", cuEventRecord(first, NULL));
    ALONE("cuEventRecordWithFlags", cuEventRecordWithFlags(first, stream, 0));
    OK(cuLaunchHostFunc(stream, ask, NULL));
    OK(cuEventRecord(second, stream));
    OK(cuCtxSynchronize());
    ALONE("cuEventQuery", cuEventQuery(first));
    ALONE("cuEventSynchronize", cuEventSynchronize(first));
    ALONE("cuEventElapsedTime", cuEventElapsedTime(&ms, first, second));
    OK(cuEventCreate(&e, 0));
    ALONE("cuEventDestroy", cuEventDestroy(e));
    OK(cuStreamCreate(&s, 0));
    ALONE("cuStreamDestroy", cuStreamDestroy(s));
}

static void allocations(void) {
    CUdeviceptr t;
    void *h;
    unsigned flags;
    size_t n, all;
    char *own = aligned_alloc(4096, 8192);
    ALONE("cuMemAlloc", cuMemAlloc(&t, 64));
    ALONE("cuMemAllocPitch", cuMemAllocPitch(&t, &n, 64, 4, 4));
    ALONE("cuMemAllocManaged", cuMemAllocManaged(&t, 64, CU_MEM_ATTACH_GLOBAL));
    ALONE("cuMemAllocHost", cuMemAllocHost(&h, 64));
    ALONE("cuMemHostAlloc", cuMemHostAlloc(&h, 64, 0));
    ALONE("cuMemHostAlloc, portable", cuMemHostAlloc(&h, 64, CU_MEMHOSTALLOC_PORTABLE));
    ALONE("cuMemHostGetDevicePointer", cuMemHostGetDevicePointer(&t, pinned, 0));
    ALONE("cuMemHostGetFlags", cuMemHostGetFlags(&flags, pinned));
    ALONE_OR_NOT("cuMemHostRegister", cuMemHostRegister(own, 4096, 0));
    ALONE("cuMemHostUnregister", cuMemHostUnregister(own));
    free(own);
    ALONE("cuMemGetInfo", cuMemGetInfo(&n, &all));
    ALONE("cuMemGetAddressRange", cuMemGetAddressRange(&t, &n, p));
    ALONE("cuMemAllocAsync", cuMemAllocAsync(&t, 64, stream));
    ALONE("cuMemAllocAsync, default", cuMemAllocAsync(&t, 64, NULL));
    OK(cuMemAllocAsync(&t, 64, stream));
    ALONE("cuMemFreeAsync", cuMemFreeAsync(t, stream));
    OK(cuMemAllocAsync(&t, 64, stream));
    ALONE("cuMemFreeAsync, default", cuMemFreeAsync(t, NULL));
}

static void copies(void) {
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = p,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = q,
                          .dstPitch = 16,
                          .WidthInBytes = 16,
                          .Height = 1};
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                         .dstDevice = q,
                         .WidthInBytes = 16,
                         .Height = 1,
                         .Depth = 1};
    CUDA_MEMCPY3D_PEER between = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = p,
                                  .srcContext = context,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = q,
                                  .dstContext = context,
                                  .WidthInBytes = 16,
                                  .Height = 1,
                                  .Depth = 1};
    ALONE("cuMemcpyHtoD", cuMemcpyHtoD(p, bytes, 64));
    ALONE("cuMemcpyDtoH", cuMemcpyDtoH(bytes, p, 64));
    ALONE("cuMemcpyDtoD", cuMemcpyDtoD(q, p, 64));
    ALONE("cuMemcpy", cuMemcpy(q, p, 64));
    ALONE("cuMemcpyAsync", cuMemcpyAsync(q, p, 64, stream));
    ALONE("cuMemcpyAsync, default", cuMemcpyAsync(q, p, 64, NULL));
    ALONE("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync(p, pinned, 64, stream));
    ALONE("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync(pinned, p, 64, stream));
    ALONE("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync(q, p, 64, stream));
    ALONE("cuMemcpyPeer", cuMemcpyPeer(q, context, p, context, 64));
    ALONE("cuMemcpyPeerAsync", cuMemcpyPeerAsync(q, context, p, context, 64, stream));
    ALONE("cuMemcpyPeerAsync, default", cuMemcpyPeerAsync(q, context, p, context, 64, NULL));
    say("cuMemcpyPeer to no context", cuMemcpyPeer(q, NULL, p, context, 64));
    say("cuMemcpyPeer from no context", cuMemcpyPeer(q, context, p, NULL, 64));
    ALONE("cuMemcpy2D", cuMemcpy2D(&rows));
    ALONE("cuMemcpy2DAsync", cuMemcpy2DAsync(&rows, stream));
    ALONE("cuMemcpy2DUnaligned", cuMemcpy2DUnaligned(&rows));
    ALONE("cuMemcpy3D", cuMemcpy3D(&box));
    ALONE("cuMemcpy3DAsync", cuMemcpy3DAsync(&box, stream));
    ALONE("cuMemcpy3DPeer", cuMemcpy3DPeer(&between));
    ALONE("cuMemcpy3DPeerAsync", cuMemcpy3DPeerAsync(&between, stream));
    ALONE("cuMemcpy3DPeerAsync, default", cuMemcpy3DPeerAsync(&between, NULL));
    between.srcContext = between.dstContext = NULL;
    say("cuMemcpy3DPeer between no contexts", cuMemcpy3DPeer(&between));
    ALONE("cuMemsetD8", cuMemsetD8(p, 0, 64));
    ALONE("cuMemsetD8Async", cuMemsetD8Async(p, 0, 64, stream));
    ALONE("cuMemsetD8Async, default", cuMemsetD8Async(p, 0, 64, NULL));
    ALONE("cuMemsetD2D8", cuMemsetD2D8(p, 64, 0, 16, 2));
}

static void pointers(void) {
    const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    CUpointer_attribute one[] = {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    CUcontext c;
    int n = 1;
    void *values[] = {&n};
    ALONE("cuMemAdvise", cuMemAdvise_v2(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
    ALONE("cuMemPrefetchAsync", cuMemPrefetchAsync_v2(managed, 4096, here, 0, stream));
    ALONE("cuMemPrefetchAsync, default", cuMemPrefetchAsync_v2(managed, 4096, here, 0, NULL));
    ALONE("cuMemRangeGetAttribute", cuMemRangeGetAttribute(&n, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 4096));
    ALONE("cuStreamAttachMemAsync", cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_GLOBAL));
    const CUdeviceptr each[] = {p, (CUdeviceptr)pinned, managed};
    for (int k = 0; k < 3; k++)
        says_context("its context",
                     ALONE("cuPointerGetAttribute", cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, each[k])),
                     &c, NULL);
    ALONE("cuPointerGetAttribute, no memory of CUDA's",
          cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, (CUdeviceptr)bytes));
    CUmemoryPool none = (CUmemoryPool)&n, pool = none, its;
    CUdeviceptr t;
    OK(cuDeviceGetDefaultMemPool(&its, device));
    OK(cuMemAllocAsync(&t, 64, stream));
    say("its pool", cuPointerGetAttribute(&none, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p));
    say("the pool of a pool's memory", cuPointerGetAttribute(&pool, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, t));
    printf("  %s, %s\n", none ? "one" : "none", pool == its ? "the default one" : "another");
    OK(cuMemFreeAsync(t, stream));
    ALONE("cuPointerGetAttributes", cuPointerGetAttributes(1, one, values, p));
    ALONE("cuPointerSetAttribute", cuPointerSetAttribute(&n, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
    say("cuPointerSetAttribute, another", cuPointerSetAttribute(&n, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    say("cuPointerSetAttribute, no memory of CUDA's",
        cuPointerSetAttribute(&n, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)bytes));
}

static void virtual_memory(void) {
    enum { GRANULE = 2 << 20 };
    CUmemAllocationProp prop;
    CUmemAccessDesc access;
    CUmemGenericAllocationHandle memory, again;
    CUdeviceptr at;
    size_t granularity;
    unsigned long long flags;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memset(&access, 0, sizeof access);
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ALONE("cuMemGetAllocationGranularity",
          cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ALONE_OR_NOT("cuMemCreate", cuMemCreate(&memory, GRANULE, &prop, 0));
    ALONE_OR_NOT("cuMemAddressReserve", cuMemAddressReserve(&at, GRANULE, 0, 0, 0));
    ALONE_OR_NOT("cuMemMap", cuMemMap(at, GRANULE, 0, memory, 0));
    ALONE_OR_NOT("cuMemSetAccess", cuMemSetAccess(at, GRANULE, &access, 1));
    ALONE("cuMemGetAccess", cuMemGetAccess(&flags, &prop.location, at));
    ALONE("cuMemGetAllocationPropertiesFromHandle", cuMemGetAllocationPropertiesFromHandle(&prop, memory));
    ALONE("cuMemRetainAllocationHandle", cuMemRetainAllocationHandle(&again, (void *)at));
    ALONE_OR_NOT("cuMemUnmap", cuMemUnmap(at, GRANULE));
    ALONE_OR_NOT("cuMemAddressFree", cuMemAddressFree(at, GRANULE));
    ALONE("cuMemRelease", cuMemRelease(memory));
}

static void modules(void) {
    CUlibrary library;
    CUkernel of_library;
    CUfunction f;
    CUmodule m;
    CUdeviceptr g;
    CUlinkState link;
    CUfunctionLoadingState loading;
    const char *name;
    unsigned count;
    size_t n, offset;
    int value;
    void *image;
    ALONE("cuModuleLoadData", cuModuleLoadData(&m, ptx));
    ALONE("cuModuleGetFunction", cuModuleGetFunction(&f, module, "k"));
    ALONE("cuModuleGetGlobal", cuModuleGetGlobal(&g, &n, module, "g"));
    ALONE("cuModuleGetFunctionCount", cuModuleGetFunctionCount(&count, module));
    ALONE_OR_NOT("cuLibraryLoadData", cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ALONE_OR_NOT("cuLibraryGetKernel", cuLibraryGetKernel(&of_library, library, "k"));
    ALONE("cuKernelGetFunction", cuKernelGetFunction(&f, of_library));
    ALONE("cuKernelGetAttribute", cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, of_library, device));
    ALONE("cuKernelSetAttribute",
          cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, of_library, device));
    ALONE("cuKernelGetName", cuKernelGetName(&name, of_library));
    ALONE("cuLibraryGetGlobal", cuLibraryGetGlobal(&g, &n, library, "g"));
    ALONE("cuLibraryGetModule", cuLibraryGetModule(&m, library));
    ALONE("cuLaunchKernel, a library's",
          cuLaunchKernel((CUfunction)of_library, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    ALONE("cuLaunchKernel, a library's, default",
          cuLaunchKernel((CUfunction)of_library, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    ALONE("cuLibraryUnload", cuLibraryUnload(library));
    ALONE_OR_NOT("cuLinkCreate", cuLinkCreate(0, NULL, NULL, &link));
    ALONE_OR_NOT("cuLinkAddData", cuLinkAddData(link, CU_JIT_INPUT_PTX, (void *)ptx, sizeof ptx, "k", 0, NULL, NULL));
    ALONE_OR_NOT("cuLinkComplete", cuLinkComplete(link, &image, &n));
    ALONE("cuLinkDestroy", cuLinkDestroy(link));
    ALONE("cuFuncGetAttribute", cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel));
    ALONE("cuFuncSetAttribute", cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024));
    ALONE("cuFuncSetCacheConfig", cuFuncSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1));
    ALONE("cuFuncGetModule", cuFuncGetModule(&m, kernel));
    ALONE("cuFuncGetName", cuFuncGetName(&name, kernel));
    ALONE("cuFuncLoad", cuFuncLoad(kernel));
    ALONE("cuFuncIsLoaded", cuFuncIsLoaded(&loading, kernel));
    ALONE("cuFuncGetParamInfo", cuFuncGetParamInfo(kernel, 0, &offset, &n));
}

static void launches(void) {
    CUlaunchConfig config;
    int blocks, threads;
    size_t n;
    memset(&config, 0, sizeof config);
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    ALONE("cuOccupancyMaxActiveBlocksPerMultiprocessor",
          cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 64, 0));
    ALONE("cuOccupancyMaxPotentialBlockSize", cuOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, NULL, 0, 0));
    ALONE("cuOccupancyAvailableDynamicSMemPerBlock", cuOccupancyAvailableDynamicSMemPerBlock(&n, kernel, 1, 64));
    ALONE("cuLaunchKernel", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    ALONE("cuLaunchKernel, default", cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    ALONE("cuLaunchKernelEx", cuLaunchKernelEx(&config, kernel, arguments, NULL));
    ALONE("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments));
    say("cuLaunchKernel, -1 threads", cuLaunchKernel(kernel, 1, 1, 1, (unsigned)-1, 1, 1, 0, stream, arguments, NULL));
}

static void arrays(void) {
    CUDA_ARRAY_DESCRIPTOR shape = {64, 4, CU_AD_FORMAT_FLOAT, 1};
    CUDA_ARRAY3D_DESCRIPTOR shape_3d;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC how;
    CUarray array, other;
    CUtexObject texture;
    ALONE("cuArrayCreate", cuArrayCreate(&other, &shape));
    OK(cuArrayCreate(&array, &shape));
    ALONE("cuArrayGetDescriptor", cuArrayGetDescriptor(&shape, array));
    ALONE("cuArray3DGetDescriptor", cuArray3DGetDescriptor(&shape_3d, array));
    ALONE("cuMemcpyHtoA", cuMemcpyHtoA(array, 0, bytes, 64));
    ALONE("cuMemcpyAtoH", cuMemcpyAtoH(bytes, array, 0, 64));
    memset(&resource, 0, sizeof resource);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    memset(&how, 0, sizeof how);
    ALONE_OR_NOT("cuTexObjectCreate", cuTexObjectCreate(&texture, &resource, &how, NULL));
    ALONE_OR_NOT("cuTexObjectGetResourceDesc", cuTexObjectGetResourceDesc(&resource, texture));
    EXPECT(resource.resType == CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array);
    ALONE_OR_NOT("cuTexObjectDestroy", cuTexObjectDestroy(texture));
    ALONE("cuArrayDestroy", cuArrayDestroy(array));
}

static void pools(void) {
    CUmemoryPool pool;
    CUmemPoolProps props;
    CUdeviceptr t;
    int warp;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    ALONE("cuMemPoolCreate", cuMemPoolCreate(&pool, &props));
    ALONE("cuMemAllocFromPoolAsync", cuMemAllocFromPoolAsync(&t, 64, pool, stream));
    ALONE("cuMemPoolDestroy", cuMemPoolDestroy(pool));
    ALONE("cuDeviceGetAttribute", cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
}

static void frees(void) {
    ALONE("cuMemFree", cuMemFree(q));
    ALONE("cuMemFree, managed", cuMemFree(managed));
    ALONE("cuMemFreeHost", cuMemFreeHost(pinned));
    ALONE("cuMemFree of nothing", cuMemFree(0));
}

/* Says to which context each of these belongs while the first is current. */
static void whose(const char *what, CUcontext other, CUdeviceptr address) {
    CUcontext c = NULL;
    CUresult e = cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, address);
    says_context(what, e, &c, other);
}

static void two_contexts(void) {
    CUcontext other, c = NULL;
    CUdeviceptr mine, g, a, b, from_pool, shared;
    CUstream s;
    CUevent e;
    CUmodule m;
    CUgraph graph;
    CUgraphExec exec;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {64, 4, CU_AD_FORMAT_FLOAT, 1};
    char *host, *own = aligned_alloc(4096, 8192);
    size_t n, before, after;
    float ms;
    OK(cuMemAlloc(&mine, 64));
    OK(cuCtxCreate_v4(&other, NULL, 0, device));
    OK(cuMemAlloc(&a, 64));
    OK(cuMemAlloc(&b, 64 << 20));
    OK(cuMemAllocHost((void **)&host, 64));
    OK(cuMemHostRegister(own, 4096, 0));
    OK(cuMemAllocManaged(&shared, 64, CU_MEM_ATTACH_GLOBAL));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuMemAllocAsync(&from_pool, 64, s));
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetGlobal(&g, &n, m, "g"));
    OK(cuArrayCreate(&array, &shape));
    say("the second is current; copy attributes of the first's stream", cuStreamCopyAttributes(s, stream));
    say("launch the first's kernel in its stream",
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    say("launch the first's kernel in the second's stream",
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, s, arguments, NULL));
    say("launch the first's kernel in the default stream",
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
    say("record the first's event in its stream", cuEventRecord(first, stream));
    say("record the first's event in the default stream", cuEventRecord(first, NULL));
    say("record the second's event in its stream", cuEventRecord(e, s));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamSynchronize(s));
    say("time between the events", cuEventElapsedTime(&ms, first, e));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    say("launch the first's graph in the second's stream", cuGraphLaunch(exec, s));
    OK(cuStreamSynchronize(s));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));

    OK(cuCtxPopCurrent(&c));
    whose("the first is current; memory of its own", other, mine);
    whose("memory", other, a);
    whose("a part of it", other, b + 4096);
    whose("page-locked memory", other, (CUdeviceptr)host);
    whose("registered memory", other, (CUdeviceptr)own);
    whose("managed memory", other, shared);
    whose("memory of the pool", other, from_pool);
    whose("a variable", other, g);
    says_context("a stream", cuStreamGetCtx(s, &c), &c, other);
    says_context("the default stream", cuStreamGetCtx(NULL, &c), &c, other);
    says_context("the stream of the first", cuStreamGetCtx(stream, &c), &c, other);
    say("copy to the second's memory", cuMemcpyHtoD(a, bytes, 64));
    say("record the second's event in the first's stream", cuEventRecord(e, stream));
    say("the first's stream waits for the second's event", cuStreamWaitEvent(stream, e, 0));
    say("query the second's stream", cuStreamQuery(s));
    say("synchronize the second's stream", cuStreamSynchronize(s));
    say("copy in the second's stream", cuMemcpyHtoDAsync(a, bytes, 64, s));
    say("free the second's memory", cuMemFree(a));
    OK(cuMemGetInfo(&before, &n));
    say("destroy the second", cuCtxDestroy(other));
    OK(cuMemGetInfo(&after, &n));
    printf("its memory came back: %s\n", after >= before + (64 << 20) ? "yes" : "no");
    OK(cuCtxGetCurrent(&c));
    says_context("current", CUDA_SUCCESS, &c, other);
    say("copy to its memory", cuMemcpyHtoD(b, bytes, 64));
    whose("its memory", other, b);
    whose("its page-locked memory", other, (CUdeviceptr)host);
    whose("its registered memory", other, (CUdeviceptr)own);
    whose("its managed memory", other, shared);
    whose("its variable", other, g);
    whose("memory of the pool", other, from_pool);
    say("free its memory", cuMemFree(b));
    say("unregister its memory", cuMemHostUnregister(own));
    say("free its page-locked memory", cuMemFreeHost(host));
    say("free memory of the pool", cuMemFree(from_pool));
    say("copy to the first's memory", cuMemcpyHtoD(mine, bytes, 64));
    say("synchronize the first", cuCtxSynchronize());
    free(own);
}

int main(void) {
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuCtxCreate_v4(&context, NULL, 0, device));
    OK(cuMemAlloc(&p, 4096));
    OK(cuMemAlloc(&q, 4096));
    OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cuMemAllocHost((void **)&pinned, 4096));
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&first, 0));
    OK(cuEventCreate(&second, 0));
    OK(cuEventRecord(first, stream));
    OK(cuEventRecord(second, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "k"));
    contexts();
    streams();
    attributes();
    graphs();
    events();
    allocations();
    copies();
    pointers();
    virtual_memory();
    modules();
    launches();
    arrays();
    pools();
    frees();
    two_contexts();
    ALONE("cuModuleUnload", cuModuleUnload(module));
    return 0;
}

/* basics.c — a program of the driver API from cuInit to the end: a context, a module of PTX text, both forms of
 * arguments, copies, memset, streams, events, graphs, occupancy. Prints "fine". */
#include "check.h"

#include <string.h>

enum { N = 1000 };

/* scale: out[i] = in[i] * factor + bias; fill: out[i] = table[i % 4]. A carriage return ends each line. */
static const char ptx[] =
    "// a comment\r\n"
    "/* and another\r\n   one */\r\n"
    ".version 8.3\r\n.target sm_89\r\n.address_size 64\r\n"
    ".visible .const .align 4 .s32 table[4] = {7, -1, 0x10, 2};\r\n"
    ".visible .global .align 4 .f32 bias = 0f3F000000;\r\n"
    ".visible .entry scale(.param .u64 out, .param .u64 in, .param .f32 factor, .param .u32 n) {\r\n"
    "  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;\r\n"
    "  ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in];\r\n"
    "  ld.param.f32 %f1, [factor]; ld.param.u32 %r1, [n];\r\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\r\n"
    "  mad.lo.u32 %r5, %r2, %r3, %r4; setp.ge.u32 %p, %r5, %r1; @%p bra done;\r\n"
    "  mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd2, %rd3; add.s64 %rd5, %rd1, %rd3;\r\n"
    "  ld.global.f32 %f2, [%rd4]; ld.global.f32 %f3, [bias];\r\n"
    "  fma.rn.f32 %f2, %f2, %f1, %f3; st.global.f32 [%rd5], %f2;\r\n"
    "done: ret;\r\n}\r\n"
    ".visible .entry fill(.param .u64 out) {\r\n"
    "  .reg .b32 %r<4>; .reg .b64 %rd<6>;\r\n"
    "  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 3;\r\n"
    "  mul.wide.u32 %rd2, %r2, 4; mov.u64 %rd3, table; add.s64 %rd3, %rd3, %rd2;\r\n"
    "  ld.const.u32 %r3, [%rd3]; mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4;\r\n"
    "  st.global.u32 [%rd5], %r3; ret;\r\n}\r\n";

static CUdevice device;
static CUcontext context;
static CUmodule module;
static CUfunction scale, fill;
static float in[N], out[N];

static void start(void) {
    int count, major, minor, sms, version;
    char name[64];
    size_t bytes, free_bytes;
    OK(cuInit(0));
    OK(cuDriverGetVersion(&version));
    EXPECT(version >= 13000); /* programs that nvcc 13 built ask for it */
    OK(cuDeviceGetCount(&count));
    EXPECT(count == 1);
    OK(cuDeviceGet(&device, 0));
    OK(cuDeviceGetName(name, sizeof name, device));
    EXPECT(strncmp(name, "virtual ", 8) == 0);
    OK(cuDeviceComputeCapability(&major, &minor, device));
    OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    EXPECT(major >= 8 && sms > 100);
    OK(cuCtxCreate(&context, 0, device));
    OK(cuDeviceTotalMem(&bytes, device));
    OK(cuMemGetInfo(&free_bytes, &bytes));
    EXPECT(free_bytes == bytes && bytes > 1ull << 34);
    OK(cuMemGetInfo(&free_bytes, NULL)); /* NVIDIA's own programs ask so */
    EXPECT(free_bytes == bytes);
    for (int i = 0; i < N; i++) in[i] = (float)i;
}

static void load(void) {
    unsigned count;
    int registers;
    const char *name;
    size_t offset, bytes;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&scale, module, "scale"));
    OK(cuModuleGetFunction(&fill, module, "fill"));
    OK(cuModuleGetFunctionCount(&count, module));
    EXPECT(count == 2);
    OK(cuFuncGetName(&name, scale));
    EXPECT(strcmp(name, "scale") == 0);
    OK(cuFuncGetParamInfo(scale, 3, &offset, &bytes));
    EXPECT(offset == 20 && bytes == 4);
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, scale));
    EXPECT(registers > 4 && registers < 64);
    OK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_PTX_VERSION, scale));
    EXPECT(registers == 89);
}

static void launch_both_ways(void) {
    CUdeviceptr a, b;
    CUstream stream;
    CUevent start_event, end_event;
    float factor = 3, ms = -1;
    unsigned n = N;
    OK(cuMemAlloc(&a, sizeof in));
    OK(cuMemAlloc(&b, sizeof out));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start_event, CU_EVENT_DEFAULT));
    OK(cuEventCreate(&end_event, CU_EVENT_DEFAULT));
    OK(cuMemcpyHtoDAsync(a, in, sizeof in, stream));
    OK(cuEventRecord(start_event, stream));
    void *params[] = {&b, &a, &factor, &n};
    OK(cuLaunchKernel(scale, 4, 1, 1, 256, 1, 1, 0, stream, params, NULL));
    OK(cuEventRecord(end_event, stream));
    OK(cuEventSynchronize(end_event));
    OK(cuEventElapsedTime(&ms, start_event, end_event));
    EXPECT(ms > 0 && ms < 1);
    OK(cuMemcpyDtoH(out, b, sizeof out));
    for (int i = 0; i < N; i++) EXPECT(out[i] == 3 * in[i] + 0.5f);

    struct {
        CUdeviceptr out, in;
        float factor;
        unsigned n;
    } packed = {b, a, 5, N};
    size_t bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    CUlaunchConfig config = {4, 1, 1, 256, 1, 1, 0, stream, NULL, 0};
    OK(cuLaunchKernelEx(&config, scale, NULL, extra));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(out, b, sizeof out));
    for (int i = 0; i < N; i++) EXPECT(out[i] == 5 * in[i] + 0.5f);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuEventDestroy(start_event));
    OK(cuEventDestroy(end_event));
    OK(cuStreamDestroy(stream));
}

static void variables(void) {
    CUdeviceptr at, got;
    size_t bytes;
    int table[4] = {1, 2, 3, 4}, values[8];
    OK(cuModuleGetGlobal(&at, &bytes, module, "table"));
    EXPECT(bytes == sizeof table);
    OK(cuMemcpyDtoH(values, at, sizeof table));
    EXPECT(values[0] == 7 && values[1] == -1 && values[2] == 16 && values[3] == 2);
    OK(cuMemcpyHtoD(at, table, sizeof table));
    OK(cuMemAlloc(&got, sizeof values));
    void *params[] = {&got};
    OK(cuLaunchKernel(fill, 1, 1, 1, 8, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(values, got, sizeof values));
    for (int i = 0; i < 8; i++) EXPECT(values[i] == table[i % 4]);
    OK(cuMemFree(got));
}

static void fills_and_boxes(void) {
    CUdeviceptr at, base;
    size_t pitch, bytes;
    unsigned short half[3 * 8];
    unsigned words[8];
    OK(cuMemAllocPitch(&at, &pitch, 16, 6, 4));
    OK(cuMemsetD2D16(at, pitch, 0xABCD, 8, 6));
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = at,
                          .srcPitch = pitch,
                          .srcY = 2,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = half,
                          .dstPitch = 16,
                          .WidthInBytes = 16,
                          .Height = 3};
    OK(cuMemcpy2D(&rows));
    for (int i = 0; i < 24; i++) EXPECT(half[i] == 0xABCD);
    OK(cuMemsetD32(at, 0x12345678, 8));
    OK(cuMemcpyDtoH(words, at, sizeof words));
    for (int i = 0; i < 8; i++) EXPECT(words[i] == 0x12345678);
    OK(cuMemsetD8Async(at, 0x5A, 6, NULL));
    /* Two planes of two rows of 8 bytes, out of planes of three rows. */
    CUDA_MEMCPY3D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = at,
                         .srcPitch = pitch,
                         .srcHeight = 3,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = words,
                         .dstPitch = 8,
                         .dstHeight = 2,
                         .WidthInBytes = 8,
                         .Height = 2,
                         .Depth = 2};
    OK(cuMemcpy3D(&box));
    EXPECT(words[0] == 0x5A5A5A5A && words[1] == 0x12345A5A && words[2] == 0xABCDABCD && words[7] == 0xABCDABCD);
    OK(cuMemGetAddressRange(&base, &bytes, at + 100));
    EXPECT(base == at && bytes == 6 * pitch);
    OK(cuMemFree(at));
}

/* Memory that the host and kernels use: page-locked, and managed. */
static void shared_with_the_host(void) {
    float *pinned, factor = 2;
    CUdeviceptr managed, mapped;
    unsigned n = 8, type;
    OK(cuMemHostAlloc((void **)&pinned, 32, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&mapped, pinned, 0));
    OK(cuMemAllocManaged(&managed, 32, CU_MEM_ATTACH_GLOBAL));
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    EXPECT(type == 1);
    for (int i = 0; i < 8; i++) pinned[i] = (float)i;
    OK(cuMemPrefetchAsync(managed, 32, device, NULL));
    void *params[] = {&managed, &mapped, &factor, &n};
    OK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 8; i++) EXPECT(((float *)(uintptr_t)managed)[i] == 2 * (float)i + 0.5f);
    OK(cuMemFree(managed));
    OK(cuMemFreeHost(pinned));
}

static void graph(void) {
    CUgraph g;
    CUgraphExec exec;
    CUgraphNode set, kernel;
    CUdeviceptr a, b;
    float factor = 2;
    unsigned n = 100;
    OK(cuMemAlloc(&a, 400));
    OK(cuMemAlloc(&b, 400));
    void *params[] = {&b, &a, &factor, &n};
    CUDA_MEMSET_NODE_PARAMS one = {.dst = a, .value = 0x3F800000, .elementSize = 4, .width = 100, .height = 1};
    CUDA_KERNEL_NODE_PARAMS k = {.func = scale,
                                 .gridDimX = 1,
                                 .gridDimY = 1,
                                 .gridDimZ = 1,
                                 .blockDimX = 128,
                                 .blockDimY = 1,
                                 .blockDimZ = 1,
                                 .kernelParams = params};
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemsetNode(&set, g, NULL, 0, &one, context));
    OK(cuGraphAddKernelNode(&kernel, g, &set, 1, &k));
    OK(cuGraphInstantiate(&exec, g, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH(out, b, 400));
    for (int i = 0; i < 100; i++) EXPECT(out[i] == 2.5f);
    factor = 4;
    OK(cuGraphExecKernelNodeSetParams(exec, kernel, &k));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuMemcpyDtoH(out, b, 400));
    for (int i = 0; i < 100; i++) EXPECT(out[i] == 4.5f);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

/* A graph that allocates, fills and frees; nodes that change; a pool of the program. */
static void graph_memory(void) {
    CUgraph g;
    CUgraphExec exec;
    CUgraphNode alloc, fill, out_node, release;
    CUDA_MEM_ALLOC_NODE_PARAMS m = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                    .bytesize = 400},
                               same;
    CUdeviceptr address;
    CUmemoryPool pool;
    CUmemAccess_flags flags;
    unsigned enabled;
    unsigned long long used;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemAllocNode(&alloc, g, NULL, 0, &m));
    OK(cuGraphMemAllocNodeGetParams(alloc, &same));
    EXPECT(same.dptr == m.dptr && same.bytesize >= 400);
    CUDA_MEMSET_NODE_PARAMS one = {.dst = m.dptr, .value = 0x3F800000, .elementSize = 4, .width = 100, .height = 1};
    OK(cuGraphAddMemsetNode(&fill, g, &alloc, 1, &one, context));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = m.dptr,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .WidthInBytes = 400,
                          .Height = 1,
                          .Depth = 1};
    OK(cuGraphAddMemcpyNode(&out_node, g, &fill, 1, &copy, context));
    OK(cuGraphAddMemFreeNode(&release, g, &out_node, 1, m.dptr));
    OK(cuGraphMemFreeNodeGetParams(release, &address));
    EXPECT(address == m.dptr);
    one.value = 0x40000000;
    OK(cuGraphMemsetNodeSetParams(fill, &one));
    OK(cuGraphInstantiate(&exec, g, 0));
    OK(cuGraphLaunch(exec, NULL));
    OK(cuCtxSynchronize());
    for (int i = 0; i < 100; i++) EXPECT(out[i] == 2);
    OK(cuGraphNodeGetEnabled(exec, fill, &enabled));
    EXPECT(enabled == 1);
    OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &used));
    EXPECT(used >= 400);
    OK(cuDeviceGraphMemTrim(0));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(g));

    OK(cuMemPoolCreate(&pool, &m.poolProps));
    OK(cuMemPoolGetAccess(&flags, pool, &m.poolProps.location));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemAllocFromPoolAsync(&address, 64, pool, NULL));
    OK(cuMemFreeAsync(address, NULL));
    OK(cuMemPoolDestroy(pool));
}

/* As on an H100: a context keeps its preference; pools are of a device, and need no context. */
static void pool_without_a_context(void) {
    CUcontext popped;
    CUfunc_cache config;
    CUmemoryPool pool;
    CUstream stream;
    CUdeviceptr address;
    CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location.type = CU_MEM_LOCATION_TYPE_DEVICE};
    OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    OK(cuCtxGetCacheConfig(&config));
    EXPECT(config == CU_FUNC_CACHE_PREFER_L1);
    OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    OK(cuCtxPopCurrent(&popped));
    OK(cuMemPoolCreate(&pool, &props));
    OK(cuMemAllocFromPoolAsync(&address, 64, pool, stream)); /* a stream has a context of its own */
    OK(cuMemFreeAsync(address, stream));
    OK(cuMemPoolDestroy(pool));
    OK(cuCtxPushCurrent(popped));
}

static void by_name(void) {
    CUresult (*alloc)(CUdeviceptr *, size_t) = NULL;
    CUdriverProcAddressQueryResult found;
    CUdeviceptr p;
    OK(cuGetProcAddress("cuMemAlloc", (void **)&alloc, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    EXPECT(found == CU_GET_PROC_ADDRESS_SUCCESS && alloc);
    OK(alloc(&p, 16));
    OK(cuMemFree(p));
    OK(cuGetProcAddress("cuLaunchKernelEx", (void **)&alloc, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    EXPECT(found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT && !alloc);
    OK(cuGetProcAddress("cuNothing", (void **)&alloc, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found));
    EXPECT(found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
}

static void occupancy(void) {
    int blocks, threads;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0));
    EXPECT(blocks == 8);
    OK(cuOccupancyMaxPotentialBlockSize(&blocks, &threads, scale, NULL, 0, 0));
    EXPECT(threads == 1024 && blocks > 100);
}

int main(void) {
    start();
    load();
    launch_both_ways();
    variables();
    fills_and_boxes();
    shared_with_the_host();
    graph();
    graph_memory();
    pool_without_a_context();
    by_name();
    occupancy();
    OK(cuModuleUnload(module));
    OK(cuCtxDestroy(context));
    puts("fine");
    return 0;
}

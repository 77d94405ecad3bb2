/* errors.c — each call that the driver API must refuse, with CUDA's code, and that it does not harm. Prints "fine". */
#include "check.h"

#include <string.h>

static const char ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
    ".reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "st.global.u32 [%rd1], %r1; ret; }\n";

static CUcontext context;
static CUmodule module;
static CUfunction k;
static CUdeviceptr p;

static void before_init(void) {
    int n;
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&n));
    FAILS(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
}

static void contexts(void) {
    CUdevice device;
    CUcontext c, other;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 99));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuDeviceGet(NULL, 0));
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&c, 0, 7));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuCtxCreate(NULL, 0, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&c));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent((CUcontext)0x1234));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy((CUcontext)&c));
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == NULL);
    OK(cuCtxCreate(&context, CU_CTX_SCHED_SPIN, 0));
    OK(cuCtxCreate(&other, 0, 0));
    OK(cuCtxGetCurrent(&c));
    EXPECT(c == other);
    OK(cuCtxPopCurrent(&c));
    EXPECT(c == other);
    OK(cuCtxDestroy(other));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(other));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(other));
    OK(cuCtxPushCurrent(context));
    OK(cuCtxPopCurrent(NULL));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(c));
    OK(cuDevicePrimaryCtxRelease(0));
    FAILS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
}

/* Loads the text and expects this error, with these words in the JIT's error log. */
static void bad_image(CUresult error, const char *image, const char *words) {
    char log[512] = "old";
    CUmodule m;
    CUjit_option options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {(void *)32, log, (void *)sizeof log};
    FAILS(error, cuModuleLoadDataEx(&m, image, 3, options, values));
    EXPECT(strstr(log, words) && strlen(log) == (size_t)values[2]);
    values[2] = (void *)8;
    FAILS(error, cuModuleLoadDataEx(&m, image, 3, options, values));
    EXPECT(strlen(log) == 7 && (size_t)values[2] == 7);
}

static void modules(void) {
    static const char head[] = ".version 7.0\n.target sm_75\n.address_size 64\n";
    char text[512];
    CUmodule m;
    CUfunction f;
    size_t bytes;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&m, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(NULL, ptx));
    FAILS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&m, "/nowhere/k.ptx"));
    bad_image(CUDA_ERROR_INVALID_IMAGE, "hello", "neither PTX text");
    bad_image(CUDA_ERROR_NO_BINARY_FOR_GPU, "\177ELF\2\1\1", "machine code");
    snprintf(text, sizeof text, "%s.global .u32 x[4;\n", head);
    bad_image(CUDA_ERROR_INVALID_PTX, text, "PTX line 4: expected ']'");
    snprintf(text, sizeof text, "%s.entry k() {\n.reg .b32 %%r<2>;\nadd.u32 %%r1, %%r7, 1;\nret; }\n", head);
    bad_image(CUDA_ERROR_INVALID_PTX, text, "PTX line 6");
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&k, module, "k"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "j"));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuModuleGetFunction(&f, module, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&f, (CUmodule)&f, "k"));
    FAILS(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal(&p, &bytes, module, "k"));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload((CUmodule)0x99));
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetFunction(&f, m, "k"));
    EXPECT(f != k);
    OK(cuModuleUnload(m));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(m));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
}

/* A kernel with an instruction that SimGPU lacks loads, and says so in the info log; its launch fails. */
static void lacking(void) {
    char log[256], text[512];
    CUmodule m;
    CUfunction f;
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    snprintf(text, sizeof text, ".version 8.0\n.target sm_90\n.entry w() {\nwgmma.fence.sync.aligned;\nret; }\n");
    OK(cuModuleLoadDataEx(&m, text, 2, options, values));
    EXPECT(strstr(log, "w cannot run: wgmma") && strlen(log) == (size_t)values[1]);
    OK(cuModuleGetFunction(&f, m, "w"));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    OK(cuModuleUnload(m));
}

/* Variables larger than the host's memory cost nothing, and those that the device cannot hold leave nothing behind. */
static void large(void) {
    char text[512];
    CUmodule m;
    size_t before, after, all;
    OK(cuMemGetInfo(&before, &all));
    for (int number = 1; number < 3; number++) {
        snprintf(text, sizeof text,
                 ".version 7.0\n.target sm_75\n.address_size 64\n.global .b8 a[100000000000];\n%s.entry w() { ret; }\n",
                 number == 1 ? "" : ".global .b8 b[100000000000];\n");
        FAILS(number == 1 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY, cuModuleLoadData(&m, text));
        if (number == 1) OK(cuModuleUnload(m));
        OK(cuMemGetInfo(&after, &all));
        EXPECT(after == before);
    }
}

static void launches(void) {
    unsigned n = 5;
    size_t bytes = 8, enough = 12;
    char buffer[12] = {0};
    void *params[] = {&p, &n}, *hole[] = {&p, NULL};
    void *small[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    void *endless[] = {CU_LAUNCH_PARAM_BUFFER_SIZE, &enough, CU_LAUNCH_PARAM_BUFFER_SIZE, &enough,
                       CU_LAUNCH_PARAM_BUFFER_SIZE, &enough};
    void *odd[] = {(void *)7, buffer};
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&p, 0));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&p, 1ull << 50));
    OK(cuMemAlloc(&p, 64));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 2048, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 0, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, hole, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, small));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, endless));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, odd));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, params, small));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, (CUstream)0x77, params, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)0x77));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery((CUevent)0x77));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(p, params, 65));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(NULL, p, 4));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemHostRegister(buffer, 1ull << 40, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 1, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p, 1, SIZE_MAX / 2));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(p + 4));
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuCtxCreate_v4(&context, &(CUctxCreateParams){NULL, 1, NULL}, 0, 0));
}

static void graphs(void) {
    CUgraph g;
    CUgraphNode node;
    CUgraphExec exec;
    OK(cuGraphCreate(&g, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddEmptyNode(&node, g, &node, SIZE_MAX / 8));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphAddKernelNode(&node, g, NULL, 0, NULL));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate(&exec, (CUgraph)0x99, 0));
    OK(cuGraphDestroy(g));
    CUgraph empty;
    CUgraphExecUpdateResultInfo info;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddEmptyNode(&node, g, NULL, 0));
    OK(cuGraphInstantiate(&exec, g, 0));
    OK(cuGraphCreate(&empty, 0));
    FAILS(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate(exec, empty, &info));
    EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED && !info.errorNode);
}

static void names(void) {
    const char *text;
    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    EXPECT(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    EXPECT(strcmp(text, "out of memory") == 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuGetErrorString((CUresult)12345, &text));
    EXPECT(text == NULL);
}

/* A kernel that fails kills the context; the next one works. */
static void after_a_fault(void) {
    CUdeviceptr nowhere = 64;
    unsigned n = 1;
    void *params[] = {&nowhere, &n};
    OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 4));
    OK(cuCtxDestroy(context));
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&k, module, "k"));
    OK(cuMemAlloc(&p, 4));
    params[0] = &p;
    OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH(&n, p, 4));
    EXPECT(n == 1);
}

/* Streams, events and modules end with their context, and what a stream captures ends with the stream. */
static void after_a_context(void) {
    CUcontext c;
    CUstream stream, captured;
    CUevent event;
    CUmodule m;
    CUfunction f;
    OK(cuCtxCreate(&c, 0, 0));
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamCreate(&captured, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuModuleLoadData(&m, ptx));
    OK(cuModuleGetFunction(&f, m, "k"));
    OK(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuCtxDestroy(c));
    OK(cuCtxSetCurrent(context));
    OK(cuCtxSynchronize());
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamQuery(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy(stream));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuEventRecord(event, NULL));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(m));
    FAILS(CUDA_ERROR_INVALID_HANDLE, cuFuncLoad(f));
}

int main(void) {
    before_init();
    OK(cuInit(0));
    contexts();
    OK(cuCtxSetCurrent(context));
    modules();
    lacking();
    launches();
    graphs();
    names();
    large();
    after_a_fault();
    after_a_context();
    puts("fine");
    return 0;
}

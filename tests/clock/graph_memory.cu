// Nodes of graphs that allocate and free device memory. Prints what differs, then "fine".
#include <cstdio>
#include <cuda_runtime.h>

static int wrong;
#define IS(call, code)                                                                                                 \
    do {                                                                                                               \
        int e_ = (int)(call);                                                                                          \
        if (e_ != (int)(code)) wrong++, printf("line %d: %s: %d, not %d\n", __LINE__, #call, e_, (int)(code));         \
    } while (0)
#define OK(call) IS(call, cudaSuccess)

__global__ void fill(int *p, int n, int value) {
    for (int k = threadIdx.x; k < n; k += blockDim.x) p[k] = value + k;
}
__global__ void sum(const int *p, int n, int *to) {
    int s = 0;
    for (int k = 0; k < n; k++) s += p[k];
    *to = s;
}

static cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t after, void *f, void **arguments) {
    cudaGraphNode_t node = nullptr;
    cudaKernelNodeParams k = {};
    k.func = f, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
    OK(cudaGraphAddKernelNode(&node, g, &after, 1, &k));
    return node;
}

static size_t used(cudaGraphMemAttributeType what) {
    size_t v = 0;
    OK(cudaDeviceGetGraphMemAttribute(0, what, &v));
    return v;
}

// By hand: allocate, fill, sum, free.
static void by_hand(int *out) {
    cudaGraph_t g, other;
    cudaGraphExec_t x, second;
    cudaGraphNode_t allocation, last, freeing, again;
    cudaMemAllocNodeParams p = {};
    int n = 1000, value = 7, h = 0;
    OK(cudaGraphCreate(&g, 0));
    IS(cudaGraphAddMemAllocNode(&allocation, g, nullptr, 0, &p), cudaErrorInvalidValue); // no pool, no bytes
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = 4000;
    OK(cudaGraphAddMemAllocNode(&allocation, g, nullptr, 0, &p));
    void *first[] = {&p.dptr, &n, &value}, *then[] = {&p.dptr, &n, &out};
    last = kernel(g, kernel(g, allocation, (void *)fill, first), (void *)sum, then);
    OK(cudaGraphAddMemFreeNode(&freeing, g, &last, 1, p.dptr));
    IS(cudaGraphAddMemFreeNode(&again, g, &last, 1, p.dptr), cudaErrorInvalidValue);
    IS(cudaGraphAddMemFreeNode(&again, g, &last, 1, out), cudaErrorInvalidValue);
    IS(cudaGraphClone(&other, g), cudaErrorNotSupported);
    IS(cudaGraphDestroyNode(freeing), cudaErrorNotSupported);
    cudaGraphNodeType type;
    void *freed = nullptr;
    cudaMemAllocNodeParams q = {};
    OK(cudaGraphNodeGetType(allocation, &type));
    IS(type, cudaGraphNodeTypeMemAlloc);
    OK(cudaGraphMemFreeNodeGetParams(freeing, &freed));
    OK(cudaGraphMemAllocNodeGetParams(allocation, &q));
    IS(freed == p.dptr && q.dptr == p.dptr && q.bytesize >= 4000, true);
    OK(cudaGraphInstantiate(&x, g, 0));
    IS(cudaGraphInstantiate(&second, g, 0), cudaErrorNotSupported);
    for (int k = 0; k < 3; k++) OK(cudaGraphLaunch(x, 0));
    OK(cudaMemcpy(&h, out, sizeof h, cudaMemcpyDeviceToHost));
    IS(h, 1000 * 7 + 999 * 1000 / 2);
    IS(used(cudaGraphMemAttrUsedMemCurrent), 0);
    IS(used(cudaGraphMemAttrUsedMemHigh), 4096);
    IS(used(cudaGraphMemAttrReservedMemCurrent), 4096);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphInstantiate(&second, g, 0)); // now it may
    OK(cudaGraphExecDestroy(second));
    OK(cudaGraphDestroy(g));
    OK(cudaDeviceSynchronize());
    OK(cudaDeviceGraphMemTrim(0));
    IS(used(cudaGraphMemAttrReservedMemCurrent), 0);
}

// Captured, and freed outside: by cudaFreeAsync, by the next launch, by another graph.
static void captured(int *out, cudaStream_t s) {
    cudaGraph_t g, frees;
    cudaGraphExec_t x, automatic, y;
    int *p = nullptr, h = 0;
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaMallocAsync((void **)&p, 400, s));
    fill<<<1, 32, 0, s>>>(p, 100, 1);
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, s));
    sum<<<1, 1, 0, s>>>(p, 100, out);
    OK(cudaMemcpyAsync(&h, out, sizeof h, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    IS(h, 100 + 99 * 50);
    IS(cudaGraphLaunch(x, s), cudaErrorInvalidValue); // not freed yet
    OK(cudaFreeAsync(p, s));
    IS(cudaFreeAsync(p, s), cudaErrorInvalidValue);
    OK(cudaGraphLaunch(x, s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamEndCapture(s, &frees));
    OK(cudaGraphInstantiate(&y, frees, 0));
    OK(cudaGraphLaunch(y, s));
    IS(cudaGraphLaunch(y, s), cudaErrorInvalidValue); // nothing is allocated
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphInstantiate(&automatic, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    OK(cudaGraphLaunch(automatic, s));
    OK(cudaGraphLaunch(automatic, s));
    OK(cudaGraphExecDestroy(automatic));
    OK(cudaGraphExecDestroy(y));
    OK(cudaGraphDestroy(frees));
    OK(cudaGraphDestroy(g));
    OK(cudaFree(p)); // it outlives its graph
    IS(cudaFree(p), cudaErrorInvalidValue);
    IS(used(cudaGraphMemAttrReservedMemCurrent), 0);
}

// Nodes get other parameters.
static void changed(int *out) {
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t set, copy;
    cudaMemsetParams m = {};
    m.dst = out, m.elementSize = 4, m.width = 1, m.height = 1, m.value = 5;
    int h = 0, from = 3;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddMemsetNode(&set, g, nullptr, 0, &m));
    OK(cudaGraphAddMemcpyNode1D(&copy, g, &set, 1, &from, out, 4, cudaMemcpyDeviceToHost));
    m.value = 6;
    OK(cudaGraphMemsetNodeSetParams(set, &m));
    OK(cudaGraphMemcpyNodeSetParams1D(copy, &h, out, 4, cudaMemcpyDeviceToHost));
    IS(cudaGraphMemsetNodeSetParams(copy, &m), cudaErrorInvalidValue);
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, 0));
    OK(cudaDeviceSynchronize());
    IS(h, 6);
    IS(from, 3);
    cudaGraphNodeParams c = {};
    c.type = cudaGraphNodeTypeConditional;
    IS(cudaGraphAddNode(&copy, g, nullptr, nullptr, 0, &c), cudaErrorNotSupported);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

int main() {
    int *out;
    cudaStream_t s;
    cudaMalloc(&out, sizeof *out);
    cudaStreamCreate(&s);
    by_hand(out);
    captured(out, s);
    changed(out);
    IS(cudaDeviceReset(), cudaSuccess);
    puts(wrong ? "wrong" : "fine");
}

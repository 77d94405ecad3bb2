/* graphs.cu — graphs: what they do, what their calls return, what breaks a capture, and what they cost: a line
 * `name value` for each question. The times are those of tests on an H200, in microseconds. */
#include "simgpu.h"

static cudaStream_t s, t, apart;
static cudaEvent_t e, earlier;
static float *d, *pinned, *pageable;

static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }
static void error(const char *name, cudaError_t e) { printf("%s %s\n", name, cudaGetErrorName(e)); }

__global__ void empty() {}
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }
__global__ void store(float *p, float v) { p[blockIdx.x * blockDim.x + threadIdx.x] = v; }
__global__ void step(const float *u, float *v, int n) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x > 0 && x < n - 1 && y > 0 && y < n - 1)
        v[y * n + x] = 0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]);
}

static int first(const int *p) {
    int v;
    cudaMemcpy(&v, p, sizeof v, cudaMemcpyDeviceToHost);
    return v;
}
static int *ints() {
    int *p;
    cudaMalloc(&p, 32 * sizeof *p);
    cudaMemset(p, 0, 32 * sizeof *p);
    return p;
}
static void count(void *n) { ++*(int *)n; }

/* --- what they do ------------------------------------------------------------------------------------------------ */

static void captured() {
    int *p = ints(), called = 0, host = 0;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[8];
    size_t n = 8;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, s>>>(p, 3);
    twice<<<1, 32, 0, s>>>(p);
    cudaLaunchHostFunc(s, count, &called);
    cudaMemcpyAsync(&host, p, sizeof host, cudaMemcpyDeviceToHost, s);
    cudaStreamEndCapture(s, &graph);
    say("nothing_ran", first(p) + called);
    cudaGraphGetNodes(graph, nodes, &n);
    say("nodes", n);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);
    for (int k = 0; k < 3; k++) cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    say("three_launches", first(p));
    say("host_function", called);
    say("host_copy", host);
    error("exec_destroy", cudaGraphExecDestroy(exec));
    error("exec_destroyed", cudaGraphLaunch(exec, s));
}

static void forked() {
    int *p = ints(), *q = ints();
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    add<<<1, 32, 0, s>>>(p, 1);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e);
    add<<<1, 32, 0, t>>>(q, 10);
    add<<<1, 32, 0, s>>>(p, 1);
    cudaEventRecord(e, t);
    cudaStreamWaitEvent(s, e);
    cudaMemcpyAsync(q + 1, p, sizeof *p, cudaMemcpyDeviceToDevice, s);
    error("join", cudaStreamEndCapture(s, &graph));
    size_t edges = 0, roots = 0;
    cudaGraphGetEdges(graph, nullptr, nullptr, &edges);
    cudaGraphGetRootNodes(graph, nullptr, &roots);
    printf("forked_edges %zu %zu\n", edges, roots);
    cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0);
    cudaGraphLaunch(exec, t);
    cudaDeviceSynchronize();
    say("forked", first(q) * 100 + first(q + 1));
    /* The stream was free again behind the capture. */
    add<<<1, 32, 0, t>>>(q, 5);
    say("behind", first(q));
}

/* The same by cudaGraphAddNode, whose one struct says what each node is. */
static void by_params() {
    int *p = ints(), *q = ints(), three = 3, called = 0;
    void *with_three[] = {&p, &three}, *alone[] = {&p};
    cudaGraph_t graph, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t last, node;
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    cudaGraphNodeParams params = {cudaGraphNodeTypeMemset};
    params.memset = {p, 0, 1, 4, 32, 1};
    error("node_memset", cudaGraphAddNode(&last, graph, nullptr, 0, &params));
    params = {cudaGraphNodeTypeKernel};
    params.kernel = {(void *)add, dim3(1), dim3(32), 0, with_three, nullptr};
    error("node_kernel", cudaGraphAddNode(&node, graph, &last, nullptr, 1, &params));
    last = node;
    params.kernel.func = (void *)twice, params.kernel.kernelParams = alone;
    cudaGraphAddNode(&node, child, nullptr, 0, &params);
    params = {cudaGraphNodeTypeGraph};
    params.graph.graph = child;
    error("node_child", cudaGraphAddNode(&node, graph, &last, 1, &params));
    last = node;
    params = {cudaGraphNodeTypeMemcpy};
    params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(p, 128, 32, 1);
    params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(q, 128, 32, 1);
    params.memcpy.copyParams.extent = make_cudaExtent(128, 1, 1);
    params.memcpy.copyParams.kind = cudaMemcpyDeviceToDevice;
    error("node_copy", cudaGraphAddNode(&node, graph, &last, 1, &params));
    params = {cudaGraphNodeTypeHost};
    params.host = {count, &called};
    error("node_host", cudaGraphAddNode(&node, graph, &last, 1, &params));
    params = {cudaGraphNodeTypeEventRecord};
    params.eventRecord.event = e;
    error("node_event", cudaGraphAddNode(&node, graph, &last, 1, &params));
    params = {cudaGraphNodeTypeEmpty};
    error("node_empty", cudaGraphAddNode(&node, graph, nullptr, 0, &params));
    params = {cudaGraphNodeTypeMemAlloc};
    error("node_allocates_nothing", cudaGraphAddNode(&node, graph, nullptr, 0, &params));
    params = {(cudaGraphNodeType)99};
    error("node_unknown", cudaGraphAddNode(&node, graph, nullptr, 0, &params));
    error("node_nothing", cudaGraphAddNode(&node, graph, nullptr, 0, nullptr));
    cudaGraphInstantiate(&exec, graph);
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    say("by_params", first(q) * 10 + called);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(child), cudaGraphDestroy(graph);
}

static void by_hand() {
    int *p = ints(), three = 3, four = 4, called = 0;
    void *with_three[] = {&p, &three}, *with_four[] = {&p, &four}, *alone[] = {&p};
    cudaGraph_t graph, child, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, added, doubled, inner, host, none, found;
    cudaMemsetParams fill = {p, 0, 0, 4, 32, 1};
    cudaKernelNodeParams k = {(void *)add, dim3(1), dim3(32), 0, with_three, nullptr}, asked;
    cudaHostNodeParams call = {count, &called};
    cudaGraphCreate(&graph, 0);
    cudaGraphCreate(&child, 0);
    error("add_memset", cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill));
    error("add_kernel", cudaGraphAddKernelNode(&added, graph, &set, 1, &k));
    k.func = (void *)twice, k.kernelParams = alone;
    cudaGraphAddKernelNode(&none, child, nullptr, 0, &k);
    error("add_child", cudaGraphAddChildGraphNode(&doubled, graph, &added, 1, child));
    cudaGraphDestroy(child);
    error("add_host", cudaGraphAddHostNode(&host, graph, &doubled, 1, &call));
    error("add_empty", cudaGraphAddEmptyNode(&none, graph, &host, 1));
    error("clone", cudaGraphClone(&clone, graph));
    error("find", cudaGraphNodeFindInClone(&found, added, clone));
    error("ask", cudaGraphKernelNodeGetParams(found, &asked));
    say("asked", (asked.func == (void *)add) * 10 + *(int *)asked.kernelParams[1]);
    error("instantiate", cudaGraphInstantiate(&exec, graph));
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    say("by_hand", first(p) * 10 + called);
    k.func = (void *)add, k.kernelParams = with_four;
    error("set_params", cudaGraphExecKernelNodeSetParams(exec, added, &k));
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    say("with_four", first(p));
    cudaGraphExecUpdateResultInfo info;
    error("update", cudaGraphExecUpdate(exec, clone, &info));
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    say("with_three_again", first(p));
    enum cudaGraphNodeType type;
    cudaGraphNodeGetType(doubled, &type);
    say("type_of_child", type);
    cudaGraphAddEmptyNode(&inner, clone, nullptr, 0);
    error("update_refused", cudaGraphExecUpdate(exec, clone, &info));
    say("update_result", info.result);
    k.blockDim = dim3(2000);
    error("set_2000_threads", cudaGraphExecKernelNodeSetParams(exec, added, &k));
    error("add_2000_threads", cudaGraphAddKernelNode(&none, graph, nullptr, 0, &k));
    k.blockDim = dim3(32), k.kernelParams = nullptr;
    error("add_without_params", cudaGraphAddKernelNode(&none, graph, nullptr, 0, &k));
    error("set_of_empty", cudaGraphExecMemsetNodeSetParams(exec, none, &fill));
    cudaGraphNode_t two[] = {set, set};
    error("twice_behind", cudaGraphAddEmptyNode(&none, graph, two, 2));
    error("edge_twice", cudaGraphAddDependencies(graph, &set, &added, 1));
    error("edge_to_itself", cudaGraphAddDependencies(graph, &set, &set, 1));
    error("circle", cudaGraphAddDependencies(graph, &host, &set, 1));
    error("instantiate_circle", cudaGraphInstantiate(&exec, graph));
    error("edge_removed", cudaGraphRemoveDependencies(graph, &host, &set, 1));
    error("dot", cudaGraphDebugDotPrint(graph, "/dev/null", 0));
    error("node_destroyed", cudaGraphDestroyNode(none));
    error("node_again", cudaGraphDestroyNode(none));
    error("graph_destroyed", cudaGraphDestroy(graph));
    error("graph_again", cudaGraphDestroy(graph));
}

/* --- what breaks a capture --------------------------------------------------------------------------------------- */

struct question {
    const char *name;
    cudaError_t (*ask)();
};
static void nothing(void *) {}
static void nothing_back(cudaStream_t, cudaError_t, void *) {}
static cudaError_t launched(cudaStream_t where, int threads = 1) {
    empty<<<1, threads, 0, where>>>();
    return cudaGetLastError();
}
static cudaError_t fork_to_t() {
    cudaEventRecord(e, s);
    return cudaStreamWaitEvent(t, e);
}
static const question questions[] = {
    {"wait_for_it", [] { return cudaStreamSynchronize(s); }},
    {"wait_for_another", [] { return cudaStreamSynchronize(apart); }},
    {"wait_for_default", [] { return cudaStreamSynchronize(0); }},
    {"query_it", [] { return cudaStreamQuery(s); }},
    {"query_another", [] { return cudaStreamQuery(apart); }},
    {"wait_for_device", [] { return cudaDeviceSynchronize(); }},
    {"malloc",
     [] {
         void *p;
         return cudaMalloc(&p, 256);
     }},
    {"free", [] { return cudaFree(0); }},
    {"pin",
     [] {
         void *p;
         return cudaMallocHost(&p, 256);
     }},
    {"memcpy", [] { return cudaMemcpy(d, pinned, 64, cudaMemcpyHostToDevice); }},
    {"memset", [] { return cudaMemset(d, 0, 64); }},
    {"copy_async", [] { return cudaMemcpyAsync(d, pinned, 64, cudaMemcpyHostToDevice, s); }},
    {"copy_pageable", [] { return cudaMemcpyAsync(pageable, d, 64, cudaMemcpyDeviceToHost, s); }},
    {"launch_on_default", [] { return launched(0); }},
    {"launch_on_another", [] { return launched(t); }},
    {"launch_2000_threads", [] { return launched(s, 2000); }},
    {"query_its_event", [] { return cudaEventRecord(e, s), cudaEventQuery(e); }},
    {"wait_for_its_event", [] { return cudaEventRecord(e, s), cudaEventSynchronize(e); }},
    {"time_of_its_event",
     [] {
         float ms;
         return cudaEventRecord(e, s), cudaEventElapsedTime(&ms, earlier, e);
     }},
    {"query_earlier_event", [] { return cudaEventQuery(earlier); }},
    {"behind_earlier_event", [] { return cudaStreamWaitEvent(s, earlier); }},
    {"fork", [] { return fork_to_t(); }},
    {"fork_and_work", [] { return fork_to_t(), launched(t); }},
    {"end_on_fork",
     [] {
         cudaGraph_t g;
         return fork_to_t(), cudaStreamEndCapture(t, &g);
     }},
    {"default_behind_it", [] { return cudaEventRecord(e, s), cudaStreamWaitEvent(0, e); }},
    {"begin_again", [] { return cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); }},
    {"merge",
     [] {
         cudaGraph_t g;
         cudaStreamBeginCapture(t, cudaStreamCaptureModeGlobal);
         cudaEventRecord(e, t);
         cudaError_t r = cudaStreamWaitEvent(s, e);
         cudaStreamEndCapture(t, &g);
         return r;
     }},
    {"host_function", [] { return cudaLaunchHostFunc(s, nothing, 0); }},
    {"callback", [] { return cudaStreamAddCallback(s, nothing_back, 0, 0); }},
    {"ask_default",
     [] {
         cudaStreamCaptureStatus x;
         return cudaStreamIsCapturing(0, &x);
     }},
};

static void broken() {
    const char *modes[] = {"global", "thread", "relaxed"};
    for (const question &q : questions)
        for (int mode = 0; mode < 3; mode++) {
            cudaStreamCaptureStatus status;
            cudaGraph_t graph;
            size_t nodes = 0;
            cudaEventRecord(earlier, t);
            cudaStreamSynchronize(t);
            cudaStreamBeginCapture(s, (cudaStreamCaptureMode)mode);
            cudaError_t asked = q.ask();
            cudaStreamIsCapturing(s, &status);
            cudaError_t end = cudaStreamEndCapture(s, &graph);
            if (graph) cudaGraphGetNodes(graph, nullptr, &nodes);
            printf("%s_%s %s %d %s %zu\n", modes[mode], q.name, cudaGetErrorName(asked), (int)status,
                   cudaGetErrorName(end), nodes);
            cudaGetLastError();
            if (cudaDeviceSynchronize() != cudaSuccess || launched(t) != cudaSuccess)
                printf("%s stays broken\n", q.name);
        }
    cudaGraph_t graph;
    error("end_without_begin", cudaStreamEndCapture(s, &graph));
    error("begin_on_default", cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
}

/* --- what they cost ------------------------------------------------------------------------------------------------
 */

static double now() { return simgpuHostTime() / 1e3; }

/* The time of a graph of n steps, captured with `put`: of the call, with the wait, and on the device in a row. */
template <class F> static void cost(const char *name, int n, F put) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaEvent_t a, b;
    float ms;
    cudaEventCreate(&a), cudaEventCreate(&b);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    for (int k = 0; k < n; k++) put(k);
    cudaStreamEndCapture(s, &graph);
    double begin = now();
    cudaGraphInstantiate(&exec, graph, 0);
    double made = now();
    cudaGraphUpload(exec, s);
    double up = now();
    cudaGraphLaunch(exec, s);
    double call = now();
    cudaStreamSynchronize(s);
    double all = now();
    cudaEventRecord(a, s);
    for (int k = 0; k < 5; k++) cudaGraphLaunch(exec, s);
    cudaEventRecord(b, s);
    cudaStreamSynchronize(s);
    cudaEventElapsedTime(&ms, a, b);
    printf("%s_%d_instantiate %.1f\n%s_%d_upload %.1f\n%s_%d_call %.2f\n%s_%d_sync %.2f\n%s_%d_device %.2f\n", name, n,
           made - begin, name, n, up - made, name, n, call - up, name, n, all - up, name, n, ms * 1e3 / 5);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
}

static void costs(int many) {
    float *u, *v;
    cudaMalloc(&u, 1 << 20), cudaMalloc(&v, 1 << 20);
    cudaMemset(u, 0, 1 << 20), cudaMemset(v, 0, 1 << 20);
    cudaDeviceSynchronize();
    const int sizes[] = {10, 100, 1000};
    for (int n : sizes) cost("empty", n, [=](int) { empty<<<1, 32, 0, s>>>(); });
    cost("store", many, [=](int k) { store<<<256, 256, 0, s>>>(u, k); });
    cost("jacobi", many, [=](int k) { step<<<256, 256, 0, s>>>(k & 1 ? v : u, k & 1 ? u : v, 256); });
    cost("memset", 100, [=](int) { cudaMemsetAsync(u, 0, 4096, s); });
    cost("copy", 100, [=](int) { cudaMemcpyAsync(u, v, 4096, cudaMemcpyDeviceToDevice, s); });
    cudaGraph_t graph;
    cudaGraphNode_t root, middle[16], last;
    cudaKernelNodeParams k = {(void *)empty, dim3(1), dim3(32), 0, nullptr, nullptr};
    cudaGraphCreate(&graph, 0);
    cudaGraphAddKernelNode(&root, graph, nullptr, 0, &k);
    for (cudaGraphNode_t &m : middle) cudaGraphAddKernelNode(&m, graph, &root, 1, &k);
    cudaGraphAddKernelNode(&last, graph, middle, 16, &k);
    cudaGraphExec_t exec;
    cudaEvent_t a, b;
    float ms;
    cudaEventCreate(&a), cudaEventCreate(&b);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphUpload(exec, s);
    cudaEventRecord(a, s);
    for (int j = 0; j < 5; j++) cudaGraphLaunch(exec, s);
    cudaEventRecord(b, s);
    cudaStreamSynchronize(s);
    cudaEventElapsedTime(&ms, a, b);
    say("fan_of_16_device", ms * 1e3 / 5);
}

// Each reason of a refused update: of a memset and a copy behind it, and of a kernel.
static cudaGraph_t two_nodes(int *p, bool behind, cudaMemcpyKind kind, size_t rows, int value,
                             cudaGraphNode_t nodes[2]) {
    static int host[64];
    cudaGraph_t g;
    cudaMemsetParams fill = {};
    fill.dst = p, fill.elementSize = 4, fill.width = 4, fill.height = rows, fill.pitch = 64,
    fill.value = (unsigned)value;
    cudaGraphCreate(&g, 0);
    cudaGraphAddMemsetNode(&nodes[0], g, nullptr, 0, &fill);
    const bool up = kind == cudaMemcpyHostToDevice;
    cudaGraphAddMemcpyNode1D(&nodes[1], g, nodes, behind, up ? p : host, up ? host : p, 64, kind);
    return g;
}
static cudaGraph_t allocating(cudaGraphNode_t nodes[2]) {
    cudaGraph_t g;
    cudaMemAllocNodeParams want = {};
    want.poolProps.allocType = cudaMemAllocationTypePinned;
    want.poolProps.location.type = cudaMemLocationTypeDevice;
    want.bytesize = 64;
    cudaGraphCreate(&g, 0);
    cudaGraphAddMemAllocNode(&nodes[0], g, nullptr, 0, &want);
    cudaGraphAddEmptyNode(&nodes[1], g, nodes, 1);
    return g;
}
static cudaGraph_t one_kernel(int *p, bool cooperative) {
    cudaGraph_t g;
    int three = 3;
    void *arguments[] = {&p, &three};
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    if (cooperative)
        cudaLaunchCooperativeKernel((void *)add, dim3(1), dim3(32), arguments, 0, s);
    else
        cudaLaunchKernel((void *)add, dim3(1), dim3(32), arguments, 0, s);
    cudaStreamEndCapture(s, &g);
    return g;
}
static void update(const char *name, cudaGraphExec_t exec, cudaGraph_t g, const cudaGraphNode_t *nodes) {
    cudaGraphExecUpdateResultInfo info;
    cudaError_t e = cudaGraphExecUpdate(exec, g, &info);
    int where = 0; // 1: the first node, 2: the second; tenfold, of an edge
    for (int k = 0; k < 2 && nodes; k++)
        where += (info.errorNode == nodes[k]) * (k + 1) + (info.errorFromNode == nodes[k]) * 10 * (k + 1);
    char line[64];
    snprintf(line, sizeof line, "reason_%s", name);
    say(line, (e == cudaErrorGraphExecUpdateFailure) * 1000 + info.result * 100 + where);
}
static void reasons() {
    int *p;
    cudaGraphNode_t n[2], third;
    cudaGraphExec_t exec, kernel;
    cudaMalloc(&p, 4096);
    cudaGraph_t first = two_nodes(p, true, cudaMemcpyDeviceToHost, 2, 1, n), g;
    cudaGraphInstantiate(&exec, first);
    update("none", exec, first, n);
    update("edges", exec, g = two_nodes(p, false, cudaMemcpyDeviceToHost, 2, 1, n), n);
    update("direction", exec, g = two_nodes(p, true, cudaMemcpyHostToDevice, 2, 1, n), n);
    update("rows", exec, g = two_nodes(p, true, cudaMemcpyDeviceToHost, 3, 1, n), n);
    update("value_of_rows", exec, g = two_nodes(p, true, cudaMemcpyDeviceToHost, 2, 7, n), n);
    cudaGraphAddEmptyNode(&third, g, nullptr, 0);
    update("count", exec, g, n);
    cudaGraphCreate(&g, 0);
    cudaGraphAddEmptyNode(&n[0], g, nullptr, 0), cudaGraphAddEmptyNode(&n[1], g, n, 1);
    update("kind", exec, g, n);
    update("rows_too", exec, g = two_nodes(p, true, cudaMemcpyDeviceToHost, 1, 7, n), n);
    update("address_of_rows", exec, g = two_nodes(p + 64, true, cudaMemcpyDeviceToHost, 2, 7, n), n);
    cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateSuccess};
    cudaGraph_t gone = nullptr;
    say("reason_no_graph", (cudaGraphExecUpdate(exec, gone, &info) == cudaErrorInvalidValue) * 10 + info.result);
    info = {cudaGraphExecUpdateSuccess};
    say("reason_no_exec", (cudaGraphExecUpdate(nullptr, g, &info) == cudaErrorInvalidValue) * 10 + info.result);
    cudaGraphExec_t owner, ranked;
    cudaGraphInstantiate(&owner, g = allocating(n));
    update("memory_of_itself", owner, g, n);
    update("memory", owner, allocating(n), n);
    cudaLaunchAttributeValue high = {};
    high.priority = -1;
    size_t one = 1;
    g = one_kernel(p, false);
    cudaGraphGetNodes(g, n, &one);
    cudaGraphKernelNodeSetAttribute(n[0], cudaLaunchAttributePriority, &high);
    cudaGraphInstantiate(&ranked, one_kernel(p, false), cudaGraphInstantiateFlagUseNodePriority);
    update("priority", ranked, g, n);
    cudaGraphInstantiate(&kernel, one_kernel(p, false));
    update("priority_unused", kernel, g, n);
    cudaGraphInstantiate(&kernel, one_kernel(p, false));
    update("kernel", kernel, one_kernel(p, false), nullptr);
    update("cooperative", kernel, one_kernel(p, true), nullptr);
    cudaFree(p);
}

int main(int argc, char **) { /* with an argument: the same, of fewer large launches */
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaStreamCreateWithFlags(&apart, cudaStreamNonBlocking);
    cudaEventCreate(&e), cudaEventCreate(&earlier);
    cudaMalloc(&d, 1 << 16), cudaMallocHost(&pinned, 1 << 16), pageable = (float *)malloc(1 << 16);
    simgpuMark("captured");
    captured();
    simgpuMark("forked");
    forked();
    simgpuMark("by hand");
    by_hand();
    by_params();
    simgpuMark("broken");
    broken();
    simgpuMark("costs");
    costs(argc > 1 ? 5 : 50);
    simgpuMark("reasons");
    reasons();
    return 0;
}

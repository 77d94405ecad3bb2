// change.cu — nodes of a graph, and of an executable one, that change after they were added: copies from and to
// variables, events, functions of the host, children, attributes, nodes that are passed over. Prints a line a step.
#include <cstdio>

__device__ int table[4];
__global__ void add(int *p, int v) { *p += v; }

static int told;
static void tell(void *what) { told += *(int *)what; }
static const char *name(cudaError_t e) { return cudaGetErrorName(e); }
static int *result;
static void run(const char *what, cudaGraphExec_t exec, cudaStream_t s) {
    *result = 0;
    cudaGraphLaunch(exec, s);
    cudaStreamSynchronize(s);
    printf("%s: %d\n", what, *result);
}

int main() {
    cudaGraph_t graph, child, other;
    cudaGraphNode_t to, from, kernel, host, nested, record, wait, copy;
    cudaGraphExec_t exec;
    cudaStream_t s;
    cudaEvent_t first, second, got;
    int four[4] = {1, 2, 3, 4}, back[4] = {}, one = 1, ten = 10, step = 5, more = 50;
    cudaMallocManaged(&result, sizeof *result);
    cudaStreamCreate(&s);
    cudaEventCreate(&first), cudaEventCreate(&second);
    void *arguments[] = {&result, &step}, *others[] = {&result, &more};
    cudaKernelNodeParams k = {};
    k.func = (void *)add, k.gridDim = k.blockDim = dim3(1), k.kernelParams = arguments;

    cudaGraphCreate(&graph, 0);
    cudaGraphAddMemcpyNodeToSymbol(&to, graph, NULL, 0, table, four, 8, 8, cudaMemcpyHostToDevice);
    cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, back, table, 16, 0, cudaMemcpyDeviceToHost);
    printf("too long: %s\n",
           name(cudaGraphAddMemcpyNodeToSymbol(&copy, graph, NULL, 0, table, four, 16, 4, cudaMemcpyHostToDevice)));
    cudaGraphAddKernelNode(&kernel, graph, NULL, 0, &k);
    cudaHostNodeParams h = {tell, &one}, h10 = {tell, &ten};
    cudaGraphAddHostNode(&host, graph, &kernel, 1, &h);
    cudaGraphAddEventRecordNode(&record, graph, &kernel, 1, first);
    cudaGraphAddEventWaitNode(&wait, graph, &record, 1, first);
    cudaGraphCreate(&child, 0);
    cudaGraphAddKernelNode(&copy, child, NULL, 0, &k);
    cudaGraphAddChildGraphNode(&nested, graph, &wait, 1, child);

    cudaLaunchAttributeValue value = {};
    value.priority = -3;
    cudaGraphKernelNodeSetAttribute(kernel, cudaKernelNodeAttributePriority, &value);
    cudaGraphKernelNodeCopyAttributes(copy, kernel);
    value.priority = 0;
    cudaGraphKernelNodeGetAttribute(copy, cudaKernelNodeAttributePriority, &value);
    printf("priority %d, of a copy: %s\n", value.priority,
           name(cudaGraphKernelNodeSetAttribute(to, cudaKernelNodeAttributePriority, &value)));
    cudaGraphHostNodeSetParams(host, &h10);
    cudaGraphEventRecordNodeSetEvent(record, second), cudaGraphEventWaitNodeSetEvent(wait, second);
    cudaGraphEventWaitNodeGetEvent(wait, &got);
    printf("event %s\n", got == second ? "changed" : "as before");

    cudaGraphInstantiateParams params = {cudaGraphInstantiateFlagUpload, s};
    printf("%s", name(cudaGraphInstantiateWithParams(&exec, graph, &params)));
    printf(" %d\n", params.result_out);
    run("all", exec, s);
    printf("told %d, back %d %d %d %d, %s\n", told, back[0], back[1], back[2], back[3], name(cudaEventQuery(second)));

    unsigned enabled = 7;
    cudaGraphNodeSetEnabled(exec, kernel, 0);
    cudaGraphNodeGetEnabled(exec, kernel, &enabled);
    run("without the first kernel", exec, s);
    printf("enabled %u; a host function: %s\n", enabled, name(cudaGraphNodeSetEnabled(exec, host, 0)));
    cudaGraphNodeSetEnabled(exec, kernel, 1);

    cudaGraphCreate(&other, 0);
    k.kernelParams = others;
    cudaGraphAddKernelNode(&copy, other, NULL, 0, &k);
    printf("child: %s", name(cudaGraphExecChildGraphNodeSetParams(exec, nested, other)));
    cudaGraphAddKernelNode(&copy, other, NULL, 0, &k);
    printf(", with one node more: %s\n", name(cudaGraphExecChildGraphNodeSetParams(exec, nested, other)));
    run("another child", exec, s);
    cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, table, four + 2, 8, 0, cudaMemcpyHostToDevice);
    cudaGraphNodeParams any = {cudaGraphNodeTypeKernel};
    any.kernel = k;
    printf("any: %s\n", name(cudaGraphExecNodeSetParams(exec, kernel, &any)));
    run("another kernel", exec, s);
    printf("told %d, back %d %d %d %d\n", told, back[0], back[1], back[2], back[3]);
    return 0;
}

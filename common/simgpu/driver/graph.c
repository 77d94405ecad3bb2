/* graph.c — graphs. Nodes and executable graphs are the runtime's; this file translates the parameters of nodes. */
#include "driver.h"

#include <string.h>

/* Opens the call, and sets *k to the parameters of a kernel node. The caller closes the call. */
static CUresult kernel_params(const char *name, const CUDA_KERNEL_NODE_PARAMS_v1 *p, void **room,
                              struct cudaKernelNodeParams *k) {
    void **arguments;
    CUresult e = drv_begin(name);
    if (e != CUDA_SUCCESS) return e;
    if (!p) return CUDA_ERROR_INVALID_VALUE;
    e = drv_arguments(p->func, p->kernelParams, p->extra, room, &arguments);
    if (e != CUDA_SUCCESS) return e;
    *k = (struct cudaKernelNodeParams){.func = p->func,
                                       .gridDim = {p->gridDimX, p->gridDimY, p->gridDimZ},
                                       .blockDim = {p->blockDimX, p->blockDimY, p->blockDimZ},
                                       .sharedMemBytes = p->sharedMemBytes,
                                       .kernelParams = arguments};
    return CUDA_SUCCESS;
}

/* The newer layout names the function or, if that is NULL, a kernel of a library. */
static CUDA_KERNEL_NODE_PARAMS_v1 older(const CUDA_KERNEL_NODE_PARAMS *p) {
    CUDA_KERNEL_NODE_PARAMS_v1 o;
    memcpy(&o, p, sizeof o);
    if (!o.func) o.func = (CUfunction)p->kern;
    return o;
}

/* --- graphs and nodes --------------------------------------------------------------------------------------- */

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
    NEEDS_INIT(cuGraphCreate);
    return AS(cuGraphCreate, cudaGraphCreate(graph, flags));
}
CUresult cuGraphDestroy(CUgraph graph) {
    NEEDS_INIT(cuGraphDestroy);
    return AS(cuGraphDestroy, cudaGraphDestroy(graph));
}
CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
    NEEDS_INIT(cuGraphClone);
    return AS(cuGraphClone, cudaGraphClone(clone, graph));
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags) {
    NEEDS_INIT(cuGraphDebugDotPrint);
    return AS(cuGraphDebugDotPrint, cudaGraphDebugDotPrint(graph, path, flags));
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    void *room[DRV_PARAMS_MAX];
    struct cudaKernelNodeParams k;
    NEEDS_CONTEXT(cuGraphAddKernelNode);
    CUresult e = drv_end(kernel_params("cuGraphAddKernelNode", params, room, &k));
    return e != CUDA_SUCCESS ? e : AS(cuGraphAddKernelNode, cudaGraphAddKernelNode(node, graph, after, count, &k));
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS *params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v1 p = older(params);
    return cuGraphAddKernelNode(node, graph, after, count, &p);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params) {
    struct cudaKernelNodeParams k;
    NEEDS_CONTEXT(cuGraphKernelNodeGetParams);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = AS(cuGraphKernelNodeGetParams, cudaGraphKernelNodeGetParams(node, &k));
    if (e != CUDA_SUCCESS) return e;
    *params = (CUDA_KERNEL_NODE_PARAMS){.func = k.func,
                                        .gridDimX = k.gridDim.x,
                                        .gridDimY = k.gridDim.y,
                                        .gridDimZ = k.gridDim.z,
                                        .blockDimX = k.blockDim.x,
                                        .blockDimY = k.blockDim.y,
                                        .blockDimZ = k.blockDim.z,
                                        .sharedMemBytes = k.sharedMemBytes,
                                        .kernelParams = k.kernelParams,
                                        .ctx = drv_context()};
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    void *room[DRV_PARAMS_MAX];
    struct cudaKernelNodeParams k;
    NEEDS_CONTEXT(cuGraphKernelNodeSetParams);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v1 p = older(params);
    CUresult e = drv_end(kernel_params("cuGraphKernelNodeSetParams", &p, room, &k));
    return e != CUDA_SUCCESS ? e : AS(cuGraphKernelNodeSetParams, cudaGraphKernelNodeSetParams(node, &k));
}

/* A node of memory names a context; NULL is the current one. */
static CUresult drv_needs_given(const char *name, CUcontext context) {
    CUresult e = context ? drv_needs_init(name) : drv_needs_context(name);
    if (e != CUDA_SUCCESS || !context) return e;
    if (!drv_context_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
    drv_visit(drv_device_of(context));
    return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMCPY3D *copy, CUcontext context) {
    struct cudaMemcpy3DParms p;
    NEEDS_(given, cuGraphAddMemcpyNode, context);
    CUresult e = drv_box(copy, &p);
    return e != CUDA_SUCCESS ? e : AS(cuGraphAddMemcpyNode, cudaGraphAddMemcpyNode(node, graph, after, count, &p));
}

/* The two structs have the same fields; the runtime's destination is a pointer. */
static struct cudaMemsetParams memset_params(const CUDA_MEMSET_NODE_PARAMS *p) {
    return (struct cudaMemsetParams){
        (void *)(uintptr_t)p->dst, p->pitch, p->value, p->elementSize, p->width, p->height,
    };
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
    NEEDS_(given, cuGraphAddMemsetNode, context);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    struct cudaMemsetParams p = memset_params(params);
    return AS(cuGraphAddMemsetNode, cudaGraphAddMemsetNode(node, graph, after, count, &p));
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params) {
    struct cudaMemsetParams p;
    NEEDS_INIT(cuGraphMemsetNodeGetParams);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = AS(cuGraphMemsetNodeGetParams, cudaGraphMemsetNodeGetParams(node, &p));
    if (e != CUDA_SUCCESS) return e;
    *params = (CUDA_MEMSET_NODE_PARAMS){(uintptr_t)p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
    return CUDA_SUCCESS;
}

static struct cudaHostNodeParams host_params(const CUDA_HOST_NODE_PARAMS *p) {
    return (struct cudaHostNodeParams){p ? p->fn : NULL, p ? p->userData : NULL};
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                            const CUDA_HOST_NODE_PARAMS *params) {
    NEEDS_INIT(cuGraphAddHostNode);
    struct cudaHostNodeParams p = host_params(params);
    return AS(cuGraphAddHostNode, cudaGraphAddHostNode(node, graph, after, count, &p));
}
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params) {
    struct cudaHostNodeParams p;
    NEEDS_INIT(cuGraphHostNodeGetParams);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = AS(cuGraphHostNodeGetParams, cudaGraphHostNodeGetParams(node, &p));
    if (e == CUDA_SUCCESS) *params = (CUDA_HOST_NODE_PARAMS){p.fn, p.userData};
    return e;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                  CUgraph child) {
    NEEDS_INIT(cuGraphAddChildGraphNode);
    return AS(cuGraphAddChildGraphNode, cudaGraphAddChildGraphNode(node, graph, after, count, child));
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    NEEDS_INIT(cuGraphChildGraphNodeGetGraph);
    return AS(cuGraphChildGraphNodeGetGraph, cudaGraphChildGraphNodeGetGraph(node, graph));
}
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count) {
    NEEDS_INIT(cuGraphAddEmptyNode);
    return AS(cuGraphAddEmptyNode, cudaGraphAddEmptyNode(node, graph, after, count));
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                   CUevent event) {
    NEEDS_INIT(cuGraphAddEventRecordNode);
    return AS(cuGraphAddEventRecordNode, cudaGraphAddEventRecordNode(node, graph, after, count, event));
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                 CUevent event) {
    NEEDS_INIT(cuGraphAddEventWaitNode);
    return AS(cuGraphAddEventWaitNode, cudaGraphAddEventWaitNode(node, graph, after, count, event));
}

/* --- edges -------------------------------------------------------------------------------------------------- */

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t count) {
    NEEDS_INIT(cuGraphAddDependencies);
    return AS(cuGraphAddDependencies,
              cudaGraphAddDependencies(graph, from, to, (const cudaGraphEdgeData *)edges, count));
}
CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *edges, size_t count) {
    NEEDS_INIT(cuGraphRemoveDependencies);
    return AS(cuGraphRemoveDependencies,
              cudaGraphRemoveDependencies(graph, from, to, (const cudaGraphEdgeData *)edges, count));
}
CUresult cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    return cuGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    NEEDS_INIT(cuGraphGetNodes);
    return AS(cuGraphGetNodes, cudaGraphGetNodes(graph, nodes, count));
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    NEEDS_INIT(cuGraphGetRootNodes);
    return AS(cuGraphGetRootNodes, cudaGraphGetRootNodes(graph, nodes, count));
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges, size_t *count) {
    NEEDS_INIT(cuGraphGetEdges);
    return AS(cuGraphGetEdges, cudaGraphGetEdges(graph, from, to, (cudaGraphEdgeData *)edges, count));
}
CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count) {
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count) {
    NEEDS_INIT(cuGraphNodeGetDependencies);
    return AS(cuGraphNodeGetDependencies, cudaGraphNodeGetDependencies(node, nodes, (cudaGraphEdgeData *)edges, count));
}
CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return cuGraphNodeGetDependencies_v2(node, nodes, NULL, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges, size_t *count) {
    NEEDS_INIT(cuGraphNodeGetDependentNodes);
    return AS(cuGraphNodeGetDependentNodes,
              cudaGraphNodeGetDependentNodes(node, nodes, (cudaGraphEdgeData *)edges, count));
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode *nodes, size_t *count) {
    return cuGraphNodeGetDependentNodes_v2(node, nodes, NULL, count);
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
    NEEDS_INIT(cuGraphNodeGetType);
    return AS(cuGraphNodeGetType, cudaGraphNodeGetType(node, (enum cudaGraphNodeType *)type));
}
CUresult cuGraphNodeFindInClone(CUgraphNode *found, CUgraphNode original, CUgraph clone) {
    NEEDS_INIT(cuGraphNodeFindInClone);
    return AS(cuGraphNodeFindInClone, cudaGraphNodeFindInClone(found, original, clone));
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
    NEEDS_INIT(cuGraphDestroyNode);
    return AS(cuGraphDestroyNode, cudaGraphDestroyNode(node));
}

/* --- executable graphs -------------------------------------------------------------------------------------- */

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    NEEDS_CONTEXT(cuGraphInstantiate);
    return AS(cuGraphInstantiate, cudaGraphInstantiate(exec, graph, flags));
}

/* Two older layouts, which also return the node at fault and a text about it: here stderr has the text. */
CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log, size_t log_bytes) {
    if (bad) *bad = NULL;
    if (log && log_bytes) log[0] = '\0';
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *bad, char *log, size_t log_bytes) {
    return cuGraphInstantiate_v2(exec, graph, bad, log, log_bytes);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    NEEDS_STREAM(cuGraphUpload, stream);
    return AS(cuGraphUpload, cudaGraphUpload(exec, stream));
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cuGraphInstantiateWithFlags(exec, graph, params->flags);
    params->hErrNode_out = NULL;
    params->result_out = e != CUDA_SUCCESS;
    if (e == CUDA_SUCCESS && params->flags & cudaGraphInstantiateFlagUpload)
        e = cuGraphUpload(*exec, params->hUploadStream);
    return e;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    NEEDS_STREAM(cuGraphLaunch, stream);
    return AS(cuGraphLaunch, cudaGraphLaunch(exec, stream));
}
CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t *flags) {
    NEEDS_INIT(cuGraphExecGetFlags);
    return AS(cuGraphExecGetFlags, cudaGraphExecGetFlags(exec, (unsigned long long *)flags));
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
    NEEDS_INIT(cuGraphExecDestroy);
    return AS(cuGraphExecDestroy, cudaGraphExecDestroy(exec));
}
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    NEEDS_HANDLE(cuGraphExecUpdate, exec);
    return AS(cuGraphExecUpdate, cudaGraphExecUpdate(exec, graph, (cudaGraphExecUpdateResultInfo *)info));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    void *room[DRV_PARAMS_MAX];
    struct cudaKernelNodeParams k;
    NEEDS_CONTEXT(cuGraphExecKernelNodeSetParams);
    CUresult e = drv_end(kernel_params("cuGraphExecKernelNodeSetParams", params, room, &k));
    return e != CUDA_SUCCESS ? e : AS(cuGraphExecKernelNodeSetParams, cudaGraphExecKernelNodeSetParams(exec, node, &k));
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params) {
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    CUDA_KERNEL_NODE_PARAMS_v1 p = older(params);
    return cuGraphExecKernelNodeSetParams(exec, node, &p);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *copy,
                                        CUcontext context) {
    struct cudaMemcpy3DParms p;
    NEEDS_HANDLE(cuGraphExecMemcpyNodeSetParams, exec);
    if (context && !drv_context_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
    CUresult e = drv_box(copy, &p);
    if (e != CUDA_SUCCESS) return e;
    if (p.extent.height != 1 || p.extent.depth != 1)
        return drv_unsupported("cuGraphExecMemcpyNodeSetParams with several rows");
    return AS(cuGraphExecMemcpyNodeSetParams,
              cudaGraphExecMemcpyNodeSetParams1D(exec, node, p.dstPtr.ptr, p.srcPtr.ptr, p.extent.width, p.kind));
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params,
                                        CUcontext context) {
    NEEDS_HANDLE(cuGraphExecMemsetNodeSetParams, exec);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    if (context && !drv_context_live(context)) return CUDA_ERROR_INVALID_CONTEXT;
    struct cudaMemsetParams p = memset_params(params);
    return AS(cuGraphExecMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams(exec, node, &p));
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    NEEDS_INIT(cuGraphExecHostNodeSetParams);
    struct cudaHostNodeParams p = host_params(params);
    return AS(cuGraphExecHostNodeSetParams, cudaGraphExecHostNodeSetParams(exec, node, &p));
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
    NEEDS_HANDLE(cuGraphExecChildGraphNodeSetParams, exec);
    return AS(cuGraphExecChildGraphNodeSetParams, cudaGraphExecChildGraphNodeSetParams(exec, node, child));
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    NEEDS_HANDLE(cuGraphExecEventRecordNodeSetEvent, exec);
    return AS(cuGraphExecEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent(exec, node, event));
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
    NEEDS_HANDLE(cuGraphExecEventWaitNodeSetEvent, exec);
    return AS(cuGraphExecEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent(exec, node, event));
}
CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
    NEEDS_HANDLE(cuGraphNodeSetEnabled, exec);
    return AS(cuGraphNodeSetEnabled, cudaGraphNodeSetEnabled(exec, node, enabled));
}
CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled) {
    NEEDS_HANDLE(cuGraphNodeGetEnabled, exec);
    return AS(cuGraphNodeGetEnabled, cudaGraphNodeGetEnabled(exec, node, enabled));
}

/* --- nodes of memory; nodes that change after they were added ----------------------------------------------- */

/* The struct is the runtime's, field by field. */
_Static_assert(sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) == sizeof(struct cudaMemAllocNodeParams), "one layout");

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    NEEDS_CONTEXT(cuGraphAddMemAllocNode);
    return AS(cuGraphAddMemAllocNode,
              cudaGraphAddMemAllocNode(node, graph, after, count, (struct cudaMemAllocNodeParams *)params));
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    NEEDS_HANDLE(cuGraphMemAllocNodeGetParams, node);
    return AS(cuGraphMemAllocNodeGetParams,
              cudaGraphMemAllocNodeGetParams(node, (struct cudaMemAllocNodeParams *)params));
}
CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                               CUdeviceptr address) {
    NEEDS_CONTEXT(cuGraphAddMemFreeNode);
    return AS(cuGraphAddMemFreeNode, cudaGraphAddMemFreeNode(node, graph, after, count, (void *)(uintptr_t)address));
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr *address) {
    NEEDS_HANDLE(cuGraphMemFreeNodeGetParams, node);
    return AS(cuGraphMemFreeNodeGetParams, cudaGraphMemFreeNodeGetParams(node, address));
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D *copy) {
    struct cudaMemcpy3DParms p;
    NEEDS_HANDLE(cuGraphMemcpyNodeSetParams, node);
    CUresult e = drv_box(copy, &p);
    return e != CUDA_SUCCESS ? e : AS(cuGraphMemcpyNodeSetParams, cudaGraphMemcpyNodeSetParams(node, &p));
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *params) {
    NEEDS_HANDLE(cuGraphMemsetNodeSetParams, node);
    if (!params) return CUDA_ERROR_INVALID_VALUE;
    struct cudaMemsetParams p = memset_params(params);
    return AS(cuGraphMemsetNodeSetParams, cudaGraphMemsetNodeSetParams(node, &p));
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *params) {
    NEEDS_INIT(cuGraphHostNodeSetParams);
    struct cudaHostNodeParams p = host_params(params);
    return AS(cuGraphHostNodeSetParams, cudaGraphHostNodeSetParams(node, &p));
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
    NEEDS_INIT(cuGraphEventRecordNodeGetEvent);
    return AS(cuGraphEventRecordNodeGetEvent, cudaGraphEventRecordNodeGetEvent(node, event));
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
    NEEDS_HANDLE(cuGraphEventRecordNodeSetEvent, node);
    return AS(cuGraphEventRecordNodeSetEvent, cudaGraphEventRecordNodeSetEvent(node, event));
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
    NEEDS_INIT(cuGraphEventWaitNodeGetEvent);
    return AS(cuGraphEventWaitNodeGetEvent, cudaGraphEventWaitNodeGetEvent(node, event));
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
    NEEDS_HANDLE(cuGraphEventWaitNodeSetEvent, node);
    return AS(cuGraphEventWaitNodeSetEvent, cudaGraphEventWaitNodeSetEvent(node, event));
}

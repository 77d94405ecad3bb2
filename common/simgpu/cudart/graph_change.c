/* graph_change.c — nodes of graphs after they were added: symbols, events, functions of the host, attributes, and
 * cudaGraphNodeSetParams for nodes of any kind. graph_exec.c changes the nodes of executable graphs. */
#include "graph.h"

#include <string.h>

cudaError_t rt_symbol_node_command(const void *symbol, void *other, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind, bool to_symbol, time_command *c) {
    void *at = NULL;
    cudaError_t e = rt_symbol_part(symbol, bytes, offset, &at);
    *c = rt_pause_command();
    if (e != cudaSuccess) return e;
    return rt_copy_node_command(to_symbol ? at : other, to_symbol ? other : at, bytes, kind, c);
}

cudaError_t rt_event_node_command(cudaEvent_t event, bool waits, time_command *c, rt_source *source) {
    const rt_handle *h = rt_event_handle(event);
    *c = rt_pause_command();
    *source = (rt_source){.event = event};
    if (!h) return cudaErrorInvalidResourceHandle;
    c->kind = waits ? TIME_WAIT_EVENT : TIME_EVENT;
    c->is.event = h->event;
    return cudaSuccess;
}

/* --- copies from and to variables ------------------------------------------------------------------------------- */

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *dependencies, size_t count, const void *symbol,
                                           const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, &c);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, &c, NULL, e));
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *dependencies, size_t count, void *to,
                                             const void *symbol, size_t bytes, size_t offset,
                                             enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, to, bytes, offset, kind, false, &c);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, &c, NULL, e));
}

/* --- other commands ----------------------------------------------------------------------------------------------- */

/* The rest of a call that gives a node another command of its kind. */
static cudaError_t replace(cudaGraphNode_t node, enum cudaGraphNodeType type, const time_command *c,
                           const rt_source *source, cudaError_t e) {
    rt_node *n = rt_node_find(node);
    if (!n || n->type != type) return rt_end(cudaErrorInvalidValue);
    if (e == cudaSuccess) rt_node_replace(n, c, source);
    return rt_end(e);
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol, const void *from,
                                                 size_t bytes, size_t offset, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, &c);
    return replace(node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to, const void *symbol, size_t bytes,
                                                   size_t offset, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, to, bytes, offset, kind, false, &c);
    return replace(node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const struct cudaHostNodeParams *params) {
    RT_BEGIN;
    time_command c = rt_pause_command();
    rt_source source = {.kernel = NULL};
    c.kind = TIME_HOST_CALL;
    if (params) source.host = *params;
    return replace(node, cudaGraphNodeTypeHost, &c, &source,
                   params && params->fn ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, false, &c, &source);
    return replace(node, cudaGraphNodeTypeEventRecord, &c, &source, e);
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, true, &c, &source);
    return replace(node, cudaGraphNodeTypeWaitEvent, &c, &source, e);
}

static cudaError_t get_event(cudaGraphNode_t node, enum cudaGraphNodeType type, cudaEvent_t *event) {
    const rt_node *n = rt_node_find(node);
    if (!n || n->type != type || !event) return cudaErrorInvalidValue;
    *event = n->source.event;
    return cudaSuccess;
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    RT_BEGIN;
    return rt_end(get_event(node, cudaGraphNodeTypeEventRecord, event));
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
    RT_BEGIN;
    return rt_end(get_event(node, cudaGraphNodeTypeWaitEvent, event));
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params) {
    switch (params ? params->type : cudaGraphNodeTypeCount) {
    case cudaGraphNodeTypeKernel: return cudaGraphKernelNodeSetParams(node, &params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphMemcpyNodeSetParams(node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphMemsetNodeSetParams(node, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphHostNodeSetParams(node, &params->host);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphEventWaitNodeSetEvent(node, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord: return cudaGraphEventRecordNodeSetEvent(node, params->eventRecord.event);
    default: break;
    }
    RT_BEGIN;
    if (params) rt_say("nodes of this kind have no parameters that can change");
    return rt_end(cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, struct cudaGraphNodeParams *params) {
    switch (params ? params->type : cudaGraphNodeTypeCount) {
    case cudaGraphNodeTypeKernel: return cudaGraphExecKernelNodeSetParams(exec, node, &params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudaGraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphExecMemsetNodeSetParams(exec, node, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphExecHostNodeSetParams(exec, node, &params->host);
    case cudaGraphNodeTypeGraph: return cudaGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    case cudaGraphNodeTypeWaitEvent: return cudaGraphExecEventWaitNodeSetEvent(exec, node, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphExecEventRecordNodeSetEvent(exec, node, params->eventRecord.event);
    default: break;
    }
    RT_BEGIN;
    if (params) rt_say("nodes of this kind have no parameters that can change");
    return rt_end(cudaErrorInvalidValue);
}

/* --- attributes of kernels: hints, but for `cooperative` ---------------------------------------------------------- */

static rt_node *kernel_node(cudaGraphNode_t node) {
    rt_node *n = rt_node_find(node);
    return n && n->type == cudaGraphNodeTypeKernel ? n : NULL;
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue *value) {
    RT_BEGIN;
    rt_node *n = kernel_node(node);
    if (!n || !value) return rt_end(cudaErrorInvalidValue);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: n->window = value->accessPolicyWindow; break;
    case cudaLaunchAttributePriority: n->priority = value->priority; break;
    case cudaLaunchAttributeCooperative: n->command.is.launch.cooperative = value->cooperative != 0; break;
    default: rt_say("kernel nodes have no attribute %d", (int)id); return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue *value) {
    RT_BEGIN;
    const rt_node *n = kernel_node(node);
    if (!n || !value) return rt_end(cudaErrorInvalidValue);
    memset(value, 0, sizeof *value);
    switch (id) {
    case cudaLaunchAttributeAccessPolicyWindow: value->accessPolicyWindow = n->window; break;
    case cudaLaunchAttributePriority: value->priority = n->priority; break;
    case cudaLaunchAttributeCooperative: value->cooperative = n->command.is.launch.cooperative; break;
    default: rt_say("kernel nodes have no attribute %d", (int)id); return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
    RT_BEGIN;
    rt_node *a = kernel_node(to);
    const rt_node *b = a ? kernel_node(from) : NULL;
    if (!b) return rt_end(cudaErrorInvalidValue);
    a->window = b->window;
    a->priority = b->priority;
    a->command.is.launch.cooperative = b->command.is.launch.cooperative;
    return rt_end(cudaSuccess);
}

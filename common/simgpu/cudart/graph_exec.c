/* graph_exec.c — executable graphs: what cudaGraphInstantiate makes of a graph, launched as often as the program likes.
 *
 * Instantiation copies the graph, puts child graphs in their places, and divides the nodes into lanes: a node goes on
 * in the lane of one that it waits for, if that is the last one there, else it begins a lane. A launch costs the host
 * one call, whatever the number of nodes; time/ runs each lane as a stream. */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

enum { LANES_MAX = 32 }; /* more nodes side by side share lanes */

typedef struct {
    rt_node *node;
    uint32_t lane, nafter;
    uint32_t *after; /* indexes */
} part;

typedef struct {
    rt_graph *graph; /* a copy, with copies of children in it */
    part *parts;
    uint32_t n, lanes, memsets, copies;
    uint32_t last_in[LANES_MAX]; /* by lane: the index of its last part */
    bool uploaded;
    unsigned long long flags;
    time_point last; /* the end of the last launch */
} rt_exec;

static void *need(void *memory) { return base_must(memory, "the host has no memory left for a graph"); }

static rt_exec *find(cudaGraphExec_t handle) {
    rt_exec *x = rt_object(handle, HANDLE_EXEC);
    if (!x)
        rt_say("this is not an executable graph; make one with cudaGraphInstantiate, and do not use it after "
               "cudaGraphExecDestroy");
    return x;
}

/* --- instantiation ---------------------------------------------------------------------------------------------- */

static uint32_t lane_for(rt_exec *x, const uint32_t *after, uint32_t nafter) {
    for (uint32_t k = 0; k < nafter; k++)
        if (x->last_in[x->parts[after[k]].lane] == after[k]) return x->parts[after[k]].lane;
    return x->lanes < LANES_MAX ? x->lanes++ : x->n % LANES_MAX;
}

/* Adds a part behind others; takes `after`. Returns its index. */
static uint32_t add_part(rt_exec *x, rt_node *node, uint32_t *after, uint32_t nafter) {
    if ((x->n & (x->n - 1)) == 0) x->parts = need(realloc(x->parts, (x->n ? 2 * x->n : 1) * sizeof *x->parts));
    uint32_t lane = lane_for(x, after, nafter);
    x->parts[x->n] = (part){node, lane, nafter, after};
    x->last_in[lane] = x->n;
    x->memsets += node->type == cudaGraphNodeTypeMemset;
    x->copies += node->type == cudaGraphNodeTypeMemcpy && node->command.is.copy.direction != SIMGPU_D2D;
    return x->n++;
}

/* Adds the nodes of a graph; those that wait for none wait for `root` (UINT32_MAX: nothing). Sets the marks of nodes to
 * the indexes of their last parts. Returns false if nodes wait for each other. */
static bool add_graph(rt_exec *x, const rt_graph *g, uint32_t root) {
    rt_node **sorted = rt_graph_sorted(g);
    bool good = sorted != NULL;
    for (uint32_t k = 0; good && k < g->n; k++) {
        rt_node *n = sorted[k];
        uint32_t nafter = n->nafter ? n->nafter : root != UINT32_MAX,
                 *after = need(malloc((nafter + 1) * sizeof *after));
        for (uint32_t a = 0; a < n->nafter; a++) after[a] = n->after[a]->mark;
        if (!n->nafter && nafter) after[0] = root;
        uint32_t at = add_part(x, n, after, nafter); /* of a child graph: its beginning, a pause */
        if (n->child) {
            good = add_graph(x, n->child, at);
            uint32_t *ends = need(malloc((n->child->n + 1) * sizeof *ends)), nends = 0;
            for (uint32_t c = 0; c < n->child->n; c++) ends[nends++] = n->child->nodes[c]->mark;
            if (!nends) ends[nends++] = at;
            at = add_part(x, n, ends, nends);
        }
        n->mark = at;
    }
    free(sorted);
    return good;
}

void rt_exec_free(void *exec) {
    rt_exec *x = exec;
    for (uint32_t k = 0; k < x->n; k++) free(x->parts[k].after);
    free(x->parts);
    rt_graph_free(x->graph);
    free(x);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    RT_BEGIN;
    const time_profile *p = time_profile_get();
    const rt_graph *g = rt_graph_find(graph);
    if (!g || !exec) return rt_end(cudaErrorInvalidValue);
    if (flags & cudaGraphInstantiateFlagDeviceLaunch) {
        rt_say("graphs that kernels launch are not supported");
        return rt_end(cudaErrorNotSupported);
    }
    cudaError_t e = rt_graph_memory_instantiate(g);
    if (e != cudaSuccess) return rt_end(e);
    rt_exec *x = need(calloc(1, sizeof *x));
    x->graph = rt_graph_copy(g, false);
    x->flags = flags;
    for (uint32_t k = 0; k < LANES_MAX; k++) x->last_in[k] = UINT32_MAX;
    if (!add_graph(x, x->graph, UINT32_MAX)) {
        rt_say("nodes of the graph wait for each other in a circle; remove one of those dependencies");
        rt_graph_memory_destroyed(x->graph);
        rt_exec_free(x);
        return rt_end(cudaErrorInvalidValue);
    }
    if (!x->lanes) x->lanes = 1;
    *exec = rt_handle_make(HANDLE_EXEC, x);
    time_charge(HOST_IN_CALL, p->host_instantiate_ns + x->n * p->host_instantiate_node_ns);
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) {
    return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *params) {
    if (!params) return cudaGraphInstantiate(NULL, graph, 0);
    cudaError_t e = cudaGraphInstantiate(exec, graph, params->flags);
    params->errNode_out = NULL;
    params->result_out = e == cudaSuccess             ? cudaGraphInstantiateSuccess
                         : e == cudaErrorNotSupported ? cudaGraphInstantiateNodeOperationNotSupported
                                                      : cudaGraphInstantiateInvalidStructure;
    if (e == cudaSuccess && params->flags & cudaGraphInstantiateFlagUpload)
        e = cudaGraphUpload(*exec, params->uploadStream);
    return e;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags) {
    RT_BEGIN;
    const rt_exec *x = find(exec);
    if (!x || !flags) return rt_end(cudaErrorInvalidValue);
    *flags = x->flags;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
    RT_BEGIN;
    const time_profile *p = time_profile_get();
    rt_exec *x = find(exec);
    if (!x) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, p->host_exec_destroy_ns + x->n * p->host_exec_destroy_node_ns);
    rt_handle_drop(exec, HANDLE_EXEC);
    rt_graph_memory_destroyed(x->graph);
    rt_exec_free(x); /* launches on their way have copies of all that they need */
    return rt_end(cudaSuccess);
}

/* --- launching -------------------------------------------------------------------------------------------------- */

static void upload(rt_exec *x) {
    const time_profile *p = time_profile_get();
    if (!x->uploaded) time_charge(HOST_SUBMITS, p->host_upload_ns + x->n * p->host_upload_node_ns);
    x->uploaded = true;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
    RT_BEGIN;
    uint32_t s;
    rt_exec *x = find(exec);
    if (!x) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    upload(x);
    return rt_end(cudaSuccess);
}

/* Returns a node's command for one launch, with params and arguments of its own. */
static time_command for_launch(const rt_node *n) {
    time_command c = n->command;
    if (n->disabled) return (time_command){.kind = TIME_PAUSE, .host_file = c.host_file, .host_line = c.host_line};
    if (c.kind == TIME_LAUNCH) {
        uint32_t bytes = c.is.launch.kernel->param_bytes;
        c.is.launch.params = memcpy(need(malloc(bytes + 1u)), n->command.is.launch.params, bytes);
    } else if (c.kind == TIME_HOST_CALL) {
        c.is.host.call = rt_host_run;
        c.is.host.argument = rt_host_argument(n->source.host.fn, NULL, NULL, n->source.host.userData);
    }
    return c;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
    RT_BEGIN;
    const time_profile *p = time_profile_get();
    uint32_t s;
    rt_exec *x = find(exec);
    if (!x) return rt_end(cudaErrorInvalidValue);
    if (!rt_stream(stream, &s)) return rt_end(cudaErrorInvalidResourceHandle);
    cudaError_t e = rt_capture_legacy(s);
    if (e != cudaSuccess) return rt_end(e);
    if (rt_captured(s) && rt_graph_allocates(x->graph))
        return rt_end(rt_capture_refuse(s, "launch a graph with nodes that allocate behind the capture"));
    if (rt_captured(s)) {
        time_command c = {.kind = TIME_PAUSE, .host_file = rt_file(), .host_line = rt_line()};
        rt_capture_add(s, cudaGraphNodeTypeGraph, &c, NULL)->child = rt_graph_copy(x->graph, false);
        return rt_end(cudaSuccess);
    }
    e = rt_graph_memory_launch(x->graph, x->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch);
    if (e != cudaSuccess) return rt_end(e);
    upload(x);
    time_charge(HOST_SUBMITS, p->host_graph_launch_ns + x->n * p->host_graph_node_ns);
    time_graph_node *nodes = need(malloc((x->n + 1) * sizeof *nodes));
    for (uint32_t k = 0; k < x->n; k++) {
        const part *q = &x->parts[k];
        nodes[k] = (time_graph_node){for_launch(q->node), q->lane, q->after, q->nafter};
    }
    time_submit_graph(nodes, x->n, x->lanes, s, &x->last);
    free(nodes);
    rt_graph_memory_launched(x->graph, x->last);
    /* the device begins meanwhile */
    time_charge(HOST_SUBMITS, x->memsets * p->host_graph_memset_ns + x->copies * p->host_graph_copy_ns);
    return rt_end(cudaSuccess);
}

/* --- updates ---------------------------------------------------------------------------------------------------- */

/* Returns the executable graph's copy of a node of the graph that it was made from. */
static rt_node *copy_in(const rt_graph *g, cudaGraphNode_t original) {
    for (uint32_t k = 0; k < g->n; k++) {
        rt_node *n = g->nodes[k], *inner = n->child ? copy_in(n->child, original) : NULL;
        if (n->original == original || inner) return inner ? inner : n;
    }
    return NULL;
}

/* The rest of a call that changes a node's parameters. `e`: the error so far; takes the command's params. */
static cudaError_t change(cudaGraphExec_t exec, cudaGraphNode_t node, enum cudaGraphNodeType type,
                          const time_command *c, const rt_source *source, cudaError_t e) {
    const rt_exec *x = find(exec);
    rt_node *n = x ? copy_in(x->graph, node) : NULL;
    if (e == cudaSuccess && x && !n) rt_say("the executable graph was not made from a graph with this node");
    if (e == cudaSuccess && (!n || n->type != type)) e = cudaErrorInvalidValue;
    if (e == cudaSuccess && type == cudaGraphNodeTypeMemcpy && c->is.copy.direction != n->command.is.copy.direction) {
        rt_say("the direction of a copy in an executable graph cannot change; instantiate the graph again");
        e = cudaErrorInvalidValue;
    }
    if (e == cudaSuccess) {
        time_charge(HOST_SUBMITS, time_profile_get()->host_node_params_ns);
        rt_node_replace(n, c, source);
    } else if (c->kind == TIME_LAUNCH) {
        free((void *)c->is.launch.params);
    }
    return rt_end(e);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams *params) {
    RT_BEGIN;
    time_command c;
    rt_source source = {.kernel = NULL};
    cudaError_t e = rt_kernel_node_command(params, &c, &source);
    return change(exec, node, cudaGraphNodeTypeKernel, &c, &source, e);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node, void *to, const void *from,
                                               size_t bytes, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_copy_node_command(to, from, bytes, kind, &c);
    return change(exec, node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_memset_node_command(params, &c);
    return change(exec, node, cudaGraphNodeTypeMemset, &c, NULL, e);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams *params) {
    RT_BEGIN;
    time_command c = {.kind = TIME_HOST_CALL, .host_file = rt_file(), .host_line = rt_line()};
    rt_source source = {.kernel = NULL};
    if (params) source.host = *params;
    return change(exec, node, cudaGraphNodeTypeHost, &c, &source,
                  params && params->fn ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_box_node_command(params, &c);
    return change(exec, node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, const void *symbol,
                                                     const void *from, size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, (void *)(uintptr_t)from, bytes, offset, kind, true, &c);
    return change(exec, node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node, void *to,
                                                       const void *symbol, size_t bytes, size_t offset,
                                                       enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_symbol_node_command(symbol, to, bytes, offset, kind, false, &c);
    return change(exec, node, cudaGraphNodeTypeMemcpy, &c, NULL, e);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, false, &c, &source);
    return change(exec, node, cudaGraphNodeTypeEventRecord, &c, &source, e);
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, true, &c, &source);
    return change(exec, node, cudaGraphNodeTypeWaitEvent, &c, &source, e);
}

/* Kernels, copies and memsets may be passed over by launches from now on. */
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
    RT_BEGIN;
    const rt_exec *x = find(exec);
    rt_node *n = x ? copy_in(x->graph, node) : NULL;
    if (!n || n->type > cudaGraphNodeTypeMemset) return rt_end(cudaErrorInvalidValue);
    n->disabled = !enabled;
    return rt_end(cudaSuccess);
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled) {
    RT_BEGIN;
    const rt_exec *x = find(exec);
    const rt_node *n = x ? copy_in(x->graph, node) : NULL;
    if (!n || !enabled || n->type > cudaGraphNodeTypeMemset) return rt_end(cudaErrorInvalidValue);
    *enabled = !n->disabled;
    return rt_end(cudaSuccess);
}

/* Where a graph differs from the executable one in what an update cannot change. */
typedef struct {
    enum cudaGraphExecUpdateResult result;
    const rt_node *other,
        *from; /* a node of the graph, NULL if it is none; the node of an edge that differs, or NULL */
    const char *what;
} difference;

static bool differs(difference *d, enum cudaGraphExecUpdateResult result, const char *what) {
    d->result = result;
    d->what = what;
    return true;
}

static bool is_elsewhere(const time_place *a, const time_place *b) {
    return rt_owner(a->address) != rt_owner(b->address);
}

/* Compares two nodes of one kind. priorities: the executable graph was told to keep those of its nodes. */
static bool changes(const rt_node *a, const rt_node *b, bool priorities, difference *d) {
    const time_copy *from = &a->command.is.copy, *to = &b->command.is.copy;
    switch (a->type) {
    case cudaGraphNodeTypeKernel:
        if (b->source.kernel->function->launches && !a->source.kernel->function->launches)
            return differs(d, cudaGraphExecUpdateErrorUnsupportedFunctionChange,
                           "its kernel launches kernels, and the one before does not");
        if (exec_device_of(a->command.is.launch.program) != exec_device_of(b->command.is.launch.program))
            return differs(d, cudaGraphExecUpdateErrorUnsupportedFunctionChange, "its kernel is of another device");
        if (priorities && a->priority != b->priority)
            return differs(d, cudaGraphExecUpdateErrorAttributesChanged, "its priority is another one");
        return a->command.is.launch.cooperative != b->command.is.launch.cooperative &&
               differs(d, cudaGraphExecUpdateErrorAttributesChanged, "only one of the two launches is cooperative");
    case cudaGraphNodeTypeMemcpy:
        if (from->direction != to->direction)
            return differs(d, cudaGraphExecUpdateErrorParametersChanged, "its copy has another direction");
        return (is_elsewhere(&from->from, &to->from) || is_elsewhere(&from->to, &to->to)) &&
               differs(d, cudaGraphExecUpdateErrorParametersChanged, "its copy uses memory of another device");
    case cudaGraphNodeTypeMemset:
        if (is_elsewhere(&from->to, &to->to))
            return differs(d, cudaGraphExecUpdateErrorParametersChanged, "its memset fills memory of another device");
        return (from->height > 1 || to->height > 1) &&
               (from->height != to->height || from->width != to->width || from->to.pitch != to->to.pitch ||
                from->element != to->element) &&
               differs(d, cudaGraphExecUpdateErrorParametersChanged,
                       "a memset of several rows fills other rows (its address and value may change)");
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        return a->source.memory != b->source.memory &&
               differs(d, cudaGraphExecUpdateErrorNotSupported, "a node allocates or frees other memory");
    default: return false;
    }
}

/* Compares a graph with the executable one's, node by node in the order in which they were added. */
static bool compare(const rt_graph *mine, const rt_graph *other, bool priorities, difference *d) {
    if (mine->n != other->n)
        return differs(d, cudaGraphExecUpdateErrorTopologyChanged, "the graph has another number of nodes");
    for (uint32_t k = 0; k < mine->n; k++) mine->nodes[k]->mark = other->nodes[k]->mark = k;
    for (uint32_t k = 0; k < mine->n; k++) {
        const rt_node *a = mine->nodes[k], *b = d->other = other->nodes[k];
        if (a->type != b->type) return differs(d, cudaGraphExecUpdateErrorNodeTypeChanged, "a node is of another kind");
        if (a->nafter != b->nafter)
            return differs(d, cudaGraphExecUpdateErrorTopologyChanged, "a node waits for more or for fewer others");
        for (uint32_t e = 0; e < a->nafter; e++)
            if (a->after[e]->mark != b->after[e]->mark) {
                d->from = b->after[e];
                return differs(d, cudaGraphExecUpdateErrorTopologyChanged, "a node waits for another one");
            }
        if (changes(a, b, priorities, d) || (a->child && compare(a->child, b->child, priorities, d))) return true;
    }
    d->other = NULL;
    return false;
}

static bool keeps_priorities(const rt_exec *x) { return x->flags & cudaGraphInstantiateFlagUseNodePriority; }

static void take_commands(rt_graph *to, const rt_graph *from) {
    rt_graph *copy = rt_graph_copy(from, false);
    for (uint32_t k = 0; k < to->n; k++) {
        rt_node_replace(to->nodes[k], &copy->nodes[k]->command, &copy->nodes[k]->source);
        copy->nodes[k]->command.kind = TIME_PAUSE; /* its params have another owner now */
        if (to->nodes[k]->child) take_commands(to->nodes[k]->child, from->nodes[k]->child);
    }
    rt_graph_free(copy);
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child) {
    RT_BEGIN;
    const rt_exec *x = find(exec);
    const rt_graph *g = x ? rt_graph_find(child) : NULL;
    const rt_node *n = g ? copy_in(x->graph, node) : NULL;
    difference d = {.result = cudaGraphExecUpdateSuccess};
    if (!n || !n->child) return rt_end(cudaErrorInvalidValue);
    if (compare(n->child, g, keeps_priorities(x), &d)) {
        rt_say("%s, which an update cannot change; instantiate the whole again", d.what);
        return rt_end(cudaErrorGraphExecUpdateFailure);
    }
    take_commands(n->child, g);
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *info) {
    RT_BEGIN;
    const time_profile *p = time_profile_get();
    const rt_exec *x = find(exec);
    const rt_graph *g = x ? rt_graph_find(graph) : NULL;
    difference d = {.result = cudaGraphExecUpdateSuccess};
    if (info)
        *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError}; /* for a value that is none */
    if (!g || !info) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, p->host_update_ns + x->n * p->host_update_node_ns);
    const bool differs_somewhere = compare(x->graph, g, keeps_priorities(x), &d);
    *info = (cudaGraphExecUpdateResultInfo){d.result, d.other ? d.other->handle : NULL, d.from ? d.from->handle : NULL};
    if (differs_somewhere) {
        rt_say("%s, which an update of the executable graph cannot change; instantiate the new graph", d.what);
        return rt_end(cudaErrorGraphExecUpdateFailure);
    }
    take_commands(x->graph, g);
    return rt_end(cudaSuccess);
}

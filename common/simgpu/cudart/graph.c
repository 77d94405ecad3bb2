/* graph.c — graphs: nodes, each a command and the nodes that it waits for; made by hand here, or by capture.c.
 *
 * A graph does nothing by itself: graph_exec.c makes an executable one of it, a copy, which can be launched often. */
#include "graph.h"
#include "array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory) { return base_must(memory, "the host has no memory left for a graph"); }

rt_graph *rt_graph_find(cudaGraph_t handle) {
    rt_graph *g = rt_object(handle, HANDLE_GRAPH);
    if (!g) rt_say("this is not a graph; create or capture it first, and do not use it after cudaGraphDestroy");
    return g;
}

rt_node *rt_node_find(cudaGraphNode_t handle) {
    rt_node *n = rt_object(handle, HANDLE_NODE);
    if (!n) rt_say("this is not a node of a graph; do not use it after its graph was destroyed");
    return n;
}

/* --- nodes --------------------------------------------------------------------------------------------------- */

rt_graph *rt_graph_new(bool with_handle) {
    rt_graph *g = need(calloc(1, sizeof *g));
    if (with_handle) g->handle = rt_handle_make(HANDLE_GRAPH, g);
    return g;
}

void rt_node_behind(rt_node *n, rt_node *earlier) {
    for (uint32_t k = 0; k < n->nafter; k++)
        if (n->after[k] == earlier) return;
    if ((n->nafter & (n->nafter - 1)) == 0)
        n->after = need(realloc(n->after, (n->nafter ? 2 * n->nafter : 1) * sizeof *n->after));
    n->after[n->nafter++] = earlier;
}

static void set_command(rt_node *n, const time_command *c, const rt_source *source) {
    n->command = *c;
    n->source = source ? *source : (rt_source){.kernel = NULL};
    if (n->source.memory) rt_graph_memory_hold(n->source.memory);
    if (c->kind != TIME_LAUNCH) return;
    const ptx_function *f = c->is.launch.kernel;
    n->args = need(malloc((f->nparams + 1) * sizeof *n->args));
    for (uint32_t k = 0; k < f->nparams; k++) n->args[k] = (uint8_t *)c->is.launch.params + f->params[k].offset;
}

static void drop_command(rt_node *n) {
    if (n->command.kind == TIME_LAUNCH) free((void *)n->command.is.launch.params);
    free(n->args);
    n->args = NULL;
    if (n->source.memory) rt_graph_memory_release(n->source.memory);
    n->source.memory = NULL;
}

void rt_node_replace(rt_node *n, const time_command *c, const rt_source *source) {
    drop_command(n);
    set_command(n, c, source);
}

rt_node *rt_node_add(rt_graph *g, enum cudaGraphNodeType type, const time_command *c, const rt_source *source,
                     rt_node *const *after, uint32_t nafter) {
    rt_node *n = need(calloc(1, sizeof *n));
    n->graph = g;
    n->type = type;
    n->original = n->handle = rt_handle_make(HANDLE_NODE, n);
    set_command(n, c, source);
    for (uint32_t k = 0; k < nafter; k++) rt_node_behind(n, after[k]);
    if ((g->n & (g->n - 1)) == 0) g->nodes = need(realloc(g->nodes, (g->n ? 2 * g->n : 1) * sizeof *g->nodes));
    g->nodes[g->n++] = n;
    return n;
}

static void free_node(rt_node *n) {
    rt_handle_drop(n->handle, HANDLE_NODE);
    drop_command(n);
    if (n->child && n->child->handle) rt_handle_drop(n->child->handle, HANDLE_GRAPH);
    if (n->child) rt_graph_free(n->child);
    free(n->after);
    free(n);
}

void rt_graph_free(void *graph) {
    rt_graph *g = graph;
    for (uint32_t k = 0; k < g->n; k++) free_node(g->nodes[k]);
    free(g->nodes);
    free(g);
}

void rt_graph_end(void *graph) {
    if (!((rt_graph *)graph)->held) rt_graph_free(graph);
}

/* Returns the command with params of its own. */
static time_command copy_command(const time_command *c) {
    time_command copy = *c;
    if (c->kind == TIME_LAUNCH) {
        uint32_t bytes = c->is.launch.kernel->param_bytes;
        copy.is.launch.params = memcpy(need(malloc(bytes + 1u)), c->is.launch.params, bytes);
    }
    return copy;
}

rt_graph *rt_graph_copy(const rt_graph *from, bool with_handle) {
    rt_graph *g = rt_graph_new(with_handle);
    g->held = !with_handle;
    for (uint32_t k = 0; k < from->n; k++) {
        rt_node *old = from->nodes[k];
        time_command c = copy_command(&old->command);
        rt_node *n = rt_node_add(g, old->type, &c, &old->source, NULL, 0);
        n->original = old->handle;
        n->priority = old->priority;
        n->window = old->window;
        if (old->child) n->child = rt_graph_copy(old->child, false);
        old->mark = k;
    }
    for (uint32_t k = 0; k < from->n; k++)
        for (uint32_t a = 0; a < from->nodes[k]->nafter; a++)
            rt_node_behind(g->nodes[k], g->nodes[from->nodes[k]->after[a]->mark]);
    return g;
}

rt_node **rt_graph_sorted(const rt_graph *g) {
    rt_node **sorted = need(malloc((g->n + 1) * sizeof *sorted));
    uint32_t n = 0, before;
    for (uint32_t k = 0; k < g->n; k++) g->nodes[k]->mark = 0;
    do { /* nodes are mostly in order already, so one round is the usual case */
        before = n;
        for (uint32_t k = 0; k < g->n; k++) {
            rt_node *x = g->nodes[k];
            bool ready = !x->mark;
            for (uint32_t a = 0; a < x->nafter && ready; a++) ready = x->after[a]->mark;
            if (!ready) continue;
            x->mark = 1;
            sorted[n++] = x;
        }
    } while (n > before && n < g->n);
    if (n == g->n) return sorted;
    free(sorted);
    return NULL;
}

/* --- commands of nodes ---------------------------------------------------------------------------------------- */

static time_command here(void) { return (time_command){.host_file = rt_file(), .host_line = rt_line()}; }

cudaError_t rt_kernel_node_command(const struct cudaKernelNodeParams *p, time_command *c, rt_source *source) {
    cudaError_t e = cudaSuccess;
    *c = here();
    if (!p) return cudaErrorInvalidValue;
    const rt_kernel *k = rt_kernel_find(p->func, &e);
    if (!k) return e;
    if (!p->kernelParams && k->function->nparams) {
        rt_say("%s: the node's kernelParams are NULL; pass an array of pointers to the arguments",
               base_kernel_name(k->function->name).text);
        return cudaErrorInvalidValue;
    }
    *source = (rt_source){.kernel = k};
    e = rt_launch_command(k, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, false, c);
    return e == cudaErrorInvalidConfiguration ? cudaErrorInvalidValue : e; /* as CUDA says it of a node */
}

cudaError_t rt_copy_node_command(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, time_command *c) {
    *c = here();
    c->is.copy = (time_copy){.to = {.address = (uint64_t)(uintptr_t)to, .pitch = bytes},
                             .from = {.address = (uint64_t)(uintptr_t)from, .pitch = bytes},
                             .width = bytes,
                             .height = 1};
    return bytes ? rt_copy_command(c, kind) : cudaErrorInvalidValue;
}

cudaError_t rt_box_node_command(const struct cudaMemcpy3DParms *p, time_command *c) {
    *c = here();
    if (!p) return cudaErrorInvalidValue;
    cudaError_t e = rt_box(p, &c->is.copy);
    if (e != cudaSuccess) return e;
    return c->is.copy.width && c->is.copy.height ? rt_copy_command(c, p->kind) : cudaErrorInvalidValue;
}

cudaError_t rt_memset_node_command(const struct cudaMemsetParams *p, time_command *c) {
    *c = here();
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) return cudaErrorInvalidValue;
    uint64_t width = (uint64_t)p->width * p->elementSize;
    c->is.copy = (time_copy){.to = {.address = (uint64_t)(uintptr_t)p->dst, .pitch = p->height > 1 ? p->pitch : width},
                             .width = width,
                             .height = p->height,
                             .value = (int)p->value,
                             .element = (uint8_t)p->elementSize};
    return width && p->height ? rt_fill_command(c) : cudaErrorInvalidValue;
}

/* --- adding --------------------------------------------------------------------------------------------------- */

/* Adds a node, unless `e`, the error so far, is one. Takes the command's params. */
cudaError_t rt_node_add_checked(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                size_t count, enum cudaGraphNodeType type, const time_command *c,
                                const rt_source *source, cudaError_t e) {
    rt_graph *g = e == cudaSuccess ? rt_graph_find(graph) : NULL;
    if (e == cudaSuccess && (!g || !node || (count && !dependencies))) e = cudaErrorInvalidValue;
    if (e == cudaSuccess && count > g->n) e = cudaErrorInvalidValue; /* each is another node of the graph */
    rt_node **after = need(malloc(((e == cudaSuccess ? count : 0) + 1) * sizeof *after));
    for (size_t k = 0; k < count && e == cudaSuccess; k++) {
        after[k] = rt_node_find(dependencies[k]);
        if (!after[k] || after[k]->graph != g) e = cudaErrorInvalidValue;
        for (size_t j = 0; j < k && e == cudaSuccess; j++)
            if (after[j] == after[k]) e = cudaErrorInvalidValue;
    }
    if (e == cudaSuccess)
        *node = rt_node_add(g, type, c, source, after, (uint32_t)count)->handle;
    else if (c->kind == TIME_LAUNCH)
        free((void *)c->is.launch.params);
    free(after);
    return e;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaKernelNodeParams *params) {
    RT_BEGIN;
    time_command c;
    rt_source source = {.kernel = NULL};
    cudaError_t e = rt_kernel_node_command(params, &c, &source);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeKernel, &c, &source, e));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_copy_node_command(to, from, bytes, kind, &c);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, &c, NULL, e));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemcpy3DParms *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_box_node_command(params, &c);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemcpy, &c, NULL, e));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                   size_t count, const struct cudaMemsetParams *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_memset_node_command(params, &c);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemset, &c, NULL, e));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                 size_t count, const struct cudaHostNodeParams *params) {
    RT_BEGIN;
    time_command c = here();
    c.kind = TIME_HOST_CALL;
    rt_source source = {.kernel = NULL};
    if (params) source.host = *params;
    cudaError_t e = params && params->fn ? cudaSuccess : cudaErrorInvalidValue;
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeHost, &c, &source, e));
}

time_command rt_pause_command(void) {
    time_command c = here();
    c.kind = TIME_PAUSE;
    return c;
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                  size_t count) {
    RT_BEGIN;
    time_command c = rt_pause_command();
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeEmpty, &c, NULL, cudaSuccess));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                        size_t count, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, false, &c, &source);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeEventRecord, &c, &source, e));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                      size_t count, cudaEvent_t event) {
    RT_BEGIN;
    time_command c;
    rt_source source;
    cudaError_t e = rt_event_node_command(event, true, &c, &source);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeWaitEvent, &c, &source, e));
}

static cudaError_t one_of_a_kind(const char *what) {
    rt_say("a graph with nodes that allocate or free cannot %s", what);
    return cudaErrorNotSupported;
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                       size_t count, cudaGraph_t child) {
    RT_BEGIN;
    const rt_graph *inner = rt_graph_find(child), *outer = inner ? rt_graph_find(graph) : NULL;
    time_command c = rt_pause_command();
    if (!inner || inner == outer) return rt_end(cudaErrorInvalidValue);
    if (rt_graph_allocates(inner)) return rt_end(one_of_a_kind("be the child of another"));
    rt_graph *copy = rt_graph_copy(inner, false);
    cudaGraphNode_t made = NULL;
    cudaError_t e = rt_node_add_checked(&made, graph, dependencies, count, cudaGraphNodeTypeGraph, &c, NULL,
                                        node ? cudaSuccess : cudaErrorInvalidValue);
    if (e != cudaSuccess) {
        rt_graph_free(copy);
        return rt_end(e);
    }
    *node = made;
    ((rt_node *)rt_object(made, HANDLE_NODE))->child = copy;
    return rt_end(e);
}

/* --- graphs --------------------------------------------------------------------------------------------------- */

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
    RT_BEGIN;
    if (!graph || flags) return rt_end(cudaErrorInvalidValue);
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    *graph = rt_graph_new(true)->handle;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph) {
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(graph);
    if (!g || !clone) return rt_end(cudaErrorInvalidValue);
    if (rt_graph_allocates(g)) return rt_end(one_of_a_kind("be cloned"));
    time_charge(HOST_SUBMITS, g->n * time_profile_get()->host_update_node_ns);
    *clone = rt_graph_copy(g, true)->handle;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    RT_BEGIN;
    rt_graph *g = rt_graph_find(graph);
    if (!g) return rt_end(cudaErrorInvalidValue);
    if (g->held) {
        rt_say("the graph belongs to a node, or to a capture in progress, and ends with it");
        return rt_end(cudaErrorInvalidValue);
    }
    time_charge(HOST_SUBMITS, g->n * time_profile_get()->host_update_node_ns);
    rt_handle_drop(graph, HANDLE_GRAPH);
    rt_graph_free(g);
    return rt_end(cudaSuccess);
}

/* Removes the edge; returns whether it was there. */
static bool remove_edge(rt_node *n, const rt_node *earlier) {
    for (uint32_t k = 0; k < n->nafter; k++) {
        if (n->after[k] != earlier) continue;
        memmove(n->after + k, n->after + k + 1, (--n->nafter - k) * sizeof *n->after);
        return true;
    }
    return false;
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
    RT_BEGIN;
    rt_node *n = rt_node_find(node);
    if (!n) return rt_end(cudaErrorInvalidValue);
    if (n->source.memory) return rt_end(one_of_a_kind("lose one of them"));
    rt_graph *g = n->graph;
    uint32_t at = 0;
    for (uint32_t k = 0; k < g->n; k++) {
        remove_edge(g->nodes[k], n);
        if (g->nodes[k] == n) at = k;
    }
    memmove(g->nodes + at, g->nodes + at + 1, (--g->n - at) * sizeof *g->nodes);
    free_node(n);
    return rt_end(cudaSuccess);
}

/* Adds or removes edges, which must not be, or be, there. */
static cudaError_t change_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count,
                                bool adds) {
    const rt_graph *g = rt_graph_find(graph);
    if (!g || (count && (!from || !to))) return cudaErrorInvalidValue;
    for (size_t k = 0; k < count; k++) {
        rt_node *a = rt_node_find(from[k]), *b = a ? rt_node_find(to[k]) : NULL;
        if (!a || !b || a == b || a->graph != g || b->graph != g) return cudaErrorInvalidValue;
        uint32_t before = b->nafter;
        if (adds)
            rt_node_behind(b, a);
        else
            remove_edge(b, a);
        if (b->nafter == before) return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                             const cudaGraphEdgeData *edges, size_t count, struct cudaGraphNodeParams *params) {
    (void)edges; /* ordinary edges only */
    enum cudaGraphNodeType type = params ? params->type : cudaGraphNodeTypeCount;
    switch (type) {
    case cudaGraphNodeTypeKernel: return cudaGraphAddKernelNode(node, graph, dependencies, count, &params->kernel);
    case cudaGraphNodeTypeMemcpy:
        return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset: return cudaGraphAddMemsetNode(node, graph, dependencies, count, &params->memset);
    case cudaGraphNodeTypeHost: return cudaGraphAddHostNode(node, graph, dependencies, count, &params->host);
    case cudaGraphNodeTypeGraph:
        return cudaGraphAddChildGraphNode(node, graph, dependencies, count, params->graph.graph);
    case cudaGraphNodeTypeEmpty: return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case cudaGraphNodeTypeWaitEvent:
        return cudaGraphAddEventWaitNode(node, graph, dependencies, count, params->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return cudaGraphAddEventRecordNode(node, graph, dependencies, count, params->eventRecord.event);
    case cudaGraphNodeTypeMemAlloc: return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &params->alloc);
    case cudaGraphNodeTypeMemFree: return cudaGraphAddMemFreeNode(node, graph, dependencies, count, params->free.dptr);
    default: break;
    }
    RT_BEGIN;
    if (!params || (int)type < 0 || type >= cudaGraphNodeTypeCount) return rt_end(cudaErrorInvalidValue);
    rt_say("%s nodes are not supported", type == cudaGraphNodeTypeConditional ? "conditional" : "external semaphore");
    return rt_end(cudaErrorNotSupported);
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                     const cudaGraphEdgeData *edges, size_t count) {
    (void)edges; /* ordinary edges only */
    RT_BEGIN;
    return rt_end(change_edges(graph, from, to, count, true));
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
                                        const cudaGraphEdgeData *edges, size_t count) {
    (void)edges;
    RT_BEGIN;
    return rt_end(change_edges(graph, from, to, count, false));
}

/* --- questions ------------------------------------------------------------------------------------------------ */

/* A list for the caller: up to *room handles in `to`, which may be NULL to ask for the number. */
typedef struct {
    cudaGraphNode_t *to;
    size_t room, n;
} listing;

static void list(listing *l, cudaGraphNode_t node) {
    if (l->to && l->n < l->room) l->to[l->n] = node;
    l->n++;
}

static cudaError_t listed(listing *l, size_t *count) {
    for (size_t k = l->n; l->to && k < l->room; k++) l->to[k] = NULL;
    *count = l->to && l->room < l->n ? l->room : l->n;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(graph);
    if (!g || !count) return rt_end(cudaErrorInvalidValue);
    listing l = {nodes, *count, 0};
    for (uint32_t k = 0; k < g->n; k++) list(&l, g->nodes[k]->handle);
    return listed(&l, count);
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count) {
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(graph);
    if (!g || !count) return rt_end(cudaErrorInvalidValue);
    listing l = {nodes, *count, 0};
    for (uint32_t k = 0; k < g->n; k++)
        if (!g->nodes[k]->nafter) list(&l, g->nodes[k]->handle);
    return listed(&l, count);
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, cudaGraphEdgeData *edges,
                              size_t *count) {
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(graph);
    if (!g || !count || !from != !to) return rt_end(cudaErrorInvalidValue);
    listing a = {from, *count, 0}, b = {to, *count, 0};
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t e = 0; e < g->nodes[k]->nafter; e++) {
            list(&a, g->nodes[k]->after[e]->handle);
            list(&b, g->nodes[k]->handle);
        }
    if (edges) memset(edges, 0, (a.n < a.room ? a.n : a.room) * sizeof *edges);
    size_t all = *count;
    for (size_t k = b.n; to && k < all; k++) to[k] = NULL;
    return listed(&a, count);
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges,
                                         size_t *count) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || !count) return rt_end(cudaErrorInvalidValue);
    listing l = {nodes, *count, 0};
    for (uint32_t k = 0; k < n->nafter; k++) list(&l, n->after[k]->handle);
    if (edges) memset(edges, 0, (l.n < l.room ? l.n : l.room) * sizeof *edges);
    return listed(&l, count);
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges,
                                           size_t *count) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || !count) return rt_end(cudaErrorInvalidValue);
    listing l = {nodes, *count, 0};
    for (uint32_t k = 0; k < n->graph->n; k++)
        for (uint32_t a = 0; a < n->graph->nodes[k]->nafter; a++)
            if (n->graph->nodes[k]->after[a] == n) list(&l, n->graph->nodes[k]->handle);
    if (edges) memset(edges, 0, (l.n < l.room ? l.n : l.room) * sizeof *edges);
    return listed(&l, count);
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || !type) return rt_end(cudaErrorInvalidValue);
    *type = n->type;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *found, cudaGraphNode_t original, cudaGraph_t clone) {
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(clone);
    for (uint32_t k = 0; g && found && k < g->n; k++) {
        if (g->nodes[k]->original != original || g->nodes[k]->handle == original) continue;
        *found = g->nodes[k]->handle;
        return rt_end(cudaSuccess);
    }
    return rt_end(cudaErrorInvalidValue);
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || !n->child || !graph) return rt_end(cudaErrorInvalidValue);
    if (!n->child->handle) n->child->handle = rt_handle_make(HANDLE_GRAPH, n->child);
    *graph = n->child->handle;
    return rt_end(cudaSuccess);
}

static const rt_node *of_type(cudaGraphNode_t node, enum cudaGraphNodeType type) {
    const rt_node *n = rt_node_find(node);
    return n && n->type == type ? n : NULL;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, struct cudaKernelNodeParams *params) {
    RT_BEGIN;
    const rt_node *n = of_type(node, cudaGraphNodeTypeKernel);
    if (!n || !params) return rt_end(cudaErrorInvalidValue);
    const exec_launch *l = &n->command.is.launch;
    *params = (struct cudaKernelNodeParams){.func = (void *)(uintptr_t)n->source.kernel->stub,
                                            .gridDim = {l->grid.x, l->grid.y, l->grid.z},
                                            .blockDim = {l->block.x, l->block.y, l->block.z},
                                            .sharedMemBytes = l->dynamic_shared,
                                            .kernelParams = n->args};
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const struct cudaKernelNodeParams *params) {
    RT_BEGIN;
    rt_node *n = rt_node_find(node);
    time_command c;
    rt_source source;
    if (!n || n->type != cudaGraphNodeTypeKernel) return rt_end(cudaErrorInvalidValue);
    cudaError_t e = rt_kernel_node_command(params, &c, &source);
    if (e == cudaSuccess) rt_node_replace(n, &c, &source);
    return rt_end(e);
}

/* Gives the node another command of its type. */
static cudaError_t set_params(cudaGraphNode_t node, enum cudaGraphNodeType type, const time_command *c, cudaError_t e) {
    rt_node *n = rt_node_find(node);
    if (!n || n->type != type) return cudaErrorInvalidValue;
    if (e == cudaSuccess) rt_node_replace(n, c, NULL);
    return e;
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const struct cudaMemcpy3DParms *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_box_node_command(params, &c);
    return rt_end(set_params(node, cudaGraphNodeTypeMemcpy, &c, e));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind kind) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_copy_node_command(to, from, bytes, kind, &c);
    return rt_end(set_params(node, cudaGraphNodeTypeMemcpy, &c, e));
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const struct cudaMemsetParams *params) {
    RT_BEGIN;
    time_command c;
    cudaError_t e = rt_memset_node_command(params, &c);
    return rt_end(set_params(node, cudaGraphNodeTypeMemset, &c, e));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, struct cudaHostNodeParams *params) {
    RT_BEGIN;
    const rt_node *n = of_type(node, cudaGraphNodeTypeHost);
    if (!n || !params) return rt_end(cudaErrorInvalidValue);
    *params = n->source.host;
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, struct cudaMemsetParams *params) {
    RT_BEGIN;
    const rt_node *n = of_type(node, cudaGraphNodeTypeMemset);
    if (!n || !params) return rt_end(cudaErrorInvalidValue);
    const time_copy *c = &n->command.is.copy;
    const unsigned element = c->element ? c->element : 1;
    *params = (struct cudaMemsetParams){.dst = (void *)(uintptr_t)c->to.address,
                                        .pitch = c->to.pitch,
                                        .value = (unsigned)c->value & 0xffffffffu >> (32 - 8 * element),
                                        .elementSize = element,
                                        .width = c->width / element,
                                        .height = c->height};
    return rt_end(cudaSuccess);
}

/* --- a picture ------------------------------------------------------------------------------------------------- */

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags) {
    static const char *const names[] = {"kernel",     "memcpy",       "memset", "host", "graph",     "empty",
                                        "wait event", "event record", "",       "",     "mem alloc", "mem free"};
    (void)flags;
    RT_BEGIN;
    const rt_graph *g = rt_graph_find(graph);
    FILE *f = g && path ? fopen(path, "w") : NULL;
    if (!f) return rt_end(g && path ? cudaErrorOperatingSystem : cudaErrorInvalidValue);
    fputs("digraph graph_1 {\n", f);
    for (uint32_t k = 0; k < g->n; k++) {
        const rt_node *n = g->nodes[k];
        g->nodes[k]->mark = k;
        fprintf(f, "  node_%u [label=\"%u\\n%s\"];\n", k, k,
                n->source.kernel ? base_kernel_name(n->source.kernel->function->name).text : names[n->type]);
    }
    for (uint32_t k = 0; k < g->n; k++)
        for (uint32_t a = 0; a < g->nodes[k]->nafter; a++)
            fprintf(f, "  node_%u -> node_%u;\n", g->nodes[k]->after[a]->mark, k);
    fputs("}\n", f);
    fclose(f);
    return rt_end(cudaSuccess);
}

/* graph_memory.c — nodes of graphs that allocate and free device memory.
 *
 * A node that allocates has its address from its making on. The memory is in use from the node's launch to a node that
 * frees it, in the same graph or another one, or to cudaFreeAsync or cudaFree. Here it keeps its place in device memory
 * for as long as a node names it or it is in use; nothing else gets it meanwhile. A captured cudaMallocAsync or
 * cudaFreeAsync is such a node. */
#include "graph.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct rt_graph_memory {
    struct rt_graph_memory *next;
    uint64_t address, bytes;
    uint32_t nodes;       /* that name it, in graphs and executable graphs */
    uint32_t executables; /* whose launch allocates it: 0 or 1 */
    bool in_use;
    time_point behind; /* the last launch, or free, that may use it */
} graph_memory;

/* --- the list of a device --------------------------------------------------------------------------------------- */

static graph_memory *find(uint64_t address) {
    graph_memory *m = rt_device->graph_memory.first;
    while (m && m->address != address) m = m->next;
    return m;
}

/* Gives the memory back when nothing needs it any more. */
static void drop_unneeded(graph_memory *m) {
    if (m->nodes || m->in_use) return;
    graph_memory **at = &rt_device->graph_memory.first;
    while (*at && *at != m) at = &(*at)->next;
    if (!*at) return; /* it was cleared */
    *at = m->next;
    rt_device->graph_memory.reserved -= m->bytes;
    rt_free_behind(m->address, m->behind);
    free(m);
}

static void use(graph_memory *m, bool on) {
    if (m->in_use == on) return;
    m->in_use = on;
    uint64_t *used = &rt_device->graph_memory.used;
    *used += on ? m->bytes : 0 - m->bytes;
    if (*used > rt_device->graph_memory.used_high) rt_device->graph_memory.used_high = *used;
}

void rt_graph_memory_hold(graph_memory *m) { m->nodes++; }
void rt_graph_memory_release(graph_memory *m) {
    m->nodes--;
    drop_unneeded(m);
}

void rt_graph_memory_clear(void) {
    for (graph_memory *m = rt_device->graph_memory.first, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    rt_device->graph_memory.first = NULL;
    rt_device->graph_memory.used = rt_device->graph_memory.reserved = 0;
}

bool rt_graph_memory_freed(uint64_t address, time_point behind, bool *twice) {
    graph_memory *m = find(address);
    *twice = m && !m->in_use;
    if (!m || !m->in_use) return m != NULL;
    use(m, false);
    m->behind = behind;
    drop_unneeded(m);
    return true;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

static graph_memory *allocate(size_t bytes) {
    enum { UNIT = 512 };
    void *pointer;
    uint64_t size = (bytes + UNIT - 1) / UNIT * UNIT;
    if (rt_allocate_captured(&pointer, size) != cudaSuccess) return NULL;
    graph_memory *m = base_must(calloc(1, sizeof *m), "the host has no memory left for a graph");
    *m = (graph_memory){.next = rt_device->graph_memory.first,
                        .address = (uint64_t)(uintptr_t)pointer,
                        .bytes = size,
                        .behind = time_point_now(time_legacy())};
    rt_device->graph_memory.first = m;
    rt_device->graph_memory.reserved += size;
    if (rt_device->graph_memory.reserved > rt_device->graph_memory.reserved_high)
        rt_device->graph_memory.reserved_high = rt_device->graph_memory.reserved;
    return m;
}

bool rt_graph_allocates(const rt_graph *g) {
    for (uint32_t k = 0; k < g->n; k++)
        if (g->nodes[k]->source.memory) return true;
    return false;
}

bool rt_graph_frees(const rt_graph *g, const graph_memory *m) {
    for (uint32_t k = 0; k < g->n; k++)
        if (g->nodes[k]->type == cudaGraphNodeTypeMemFree && g->nodes[k]->source.memory == m) return true;
    return false;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                     size_t count, struct cudaMemAllocNodeParams *params) {
    RT_BEGIN;
    if (!params || !params->bytesize || params->poolProps.allocType != cudaMemAllocationTypePinned ||
        params->poolProps.location.type != cudaMemLocationTypeDevice || params->poolProps.handleTypes)
        return rt_end(cudaErrorInvalidValue);
    if (rt_check_device(params->poolProps.location.id) != cudaSuccess) return rt_end(cudaErrorInvalidValue);
    graph_memory *m = allocate(params->bytesize);
    if (!m) return rt_end(cudaErrorMemoryAllocation);
    time_command c = rt_pause_command();
    rt_source source = {.memory = m};
    cudaError_t e =
        rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemAlloc, &c, &source, cudaSuccess);
    if (e == cudaSuccess)
        params->dptr = (void *)(uintptr_t)m->address;
    else
        drop_unneeded(m);
    return rt_end(e);
}

/* Returns an error if a graph cannot free this memory. */
static cudaError_t check_free(const rt_graph *g, const graph_memory *m) {
    if (!m)
        rt_say("the pointer is not that of a node that allocates (cudaGraphAddMemAllocNode, or a captured "
               "cudaMallocAsync)");
    else if (g && rt_graph_frees(g, m))
        rt_say("another node of this graph frees the memory already");
    else
        return cudaSuccess;
    return cudaErrorInvalidValue;
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                    size_t count, void *pointer) {
    RT_BEGIN;
    time_command c = rt_pause_command();
    rt_source source = {.memory = find((uint64_t)(uintptr_t)pointer)};
    cudaError_t e = check_free(rt_object(graph, HANDLE_GRAPH), source.memory);
    return rt_end(rt_node_add_checked(node, graph, dependencies, count, cudaGraphNodeTypeMemFree, &c, &source, e));
}

cudaError_t rt_graph_memory_captured(void **ptr, size_t bytes, uint32_t stream) {
    graph_memory *m = allocate(bytes);
    if (!m) return cudaErrorMemoryAllocation;
    time_command c = rt_pause_command();
    rt_capture_add(stream, cudaGraphNodeTypeMemAlloc, &c, &(rt_source){.memory = m});
    *ptr = (void *)(uintptr_t)m->address;
    return cudaSuccess;
}

bool rt_graph_memory_captured_free(uint64_t address, uint32_t stream, cudaError_t *e) {
    graph_memory *m = find(address);
    if (!m) return false;
    time_command c = rt_pause_command();
    *e = check_free(rt_capture_graph(stream), m);
    if (*e == cudaSuccess) rt_capture_add(stream, cudaGraphNodeTypeMemFree, &c, &(rt_source){.memory = m});
    return true;
}

/* --- launches ---------------------------------------------------------------------------------------------------- */

/* Calls each memory that the graph allocates. */
#define EACH_ALLOCATED(g, m)                                                                                           \
    for (uint32_t k_ = 0; k_ < (g)->n; k_++)                                                                           \
        for (graph_memory *m = (g)->nodes[k_]->source.memory; m && (g)->nodes[k_]->type == cudaGraphNodeTypeMemAlloc;  \
             m = NULL)

cudaError_t rt_graph_memory_instantiate(const rt_graph *g) {
    EACH_ALLOCATED(g, m)
    if (m->executables) {
        rt_say("the graph has nodes that allocate, and there is an executable graph of it; destroy that one first");
        return cudaErrorNotSupported;
    }
    EACH_ALLOCATED(g, m) m->executables++;
    return cudaSuccess;
}

void rt_graph_memory_destroyed(const rt_graph *g) { EACH_ALLOCATED(g, m) m->executables--; }

cudaError_t rt_graph_memory_launch(const rt_graph *g, bool auto_free) {
    EACH_ALLOCATED(g, m)
    if (m->in_use && !auto_free) {
        rt_say("the last launch of the graph has allocated %" PRIu64 " bytes that are not freed; free them before, let "
               "a node free them, or instantiate with cudaGraphInstantiateFlagAutoFreeOnLaunch",
               m->bytes);
        return cudaErrorInvalidValue;
    }
    for (uint32_t k = 0; k < g->n; k++) {
        const graph_memory *m = g->nodes[k]->source.memory;
        if (!m || m->in_use || g->nodes[k]->type != cudaGraphNodeTypeMemFree) continue;
        bool own = false;
        EACH_ALLOCATED(g, mine) own |= mine == m;
        if (own) continue;
        rt_say("a node of the graph frees memory that is not allocated now");
        return cudaErrorInvalidValue;
    }
    EACH_ALLOCATED(g, m) use(m, true);
    return cudaSuccess;
}

void rt_graph_memory_launched(const rt_graph *g, time_point last) {
    for (uint32_t k = 0; k < g->n; k++)
        if (g->nodes[k]->source.memory) g->nodes[k]->source.memory->behind = last;
    for (uint32_t k = 0; k < g->n; k++)
        if (g->nodes[k]->type == cudaGraphNodeTypeMemFree) use(g->nodes[k]->source.memory, false);
}

/* --- questions --------------------------------------------------------------------------------------------------- */

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, struct cudaMemAllocNodeParams *params) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || n->type != cudaGraphNodeTypeMemAlloc || !params) return rt_end(cudaErrorInvalidValue);
    *params = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = (int)rt_device->ordinal}},
        .bytesize = n->source.memory->bytes,
        .dptr = (void *)(uintptr_t)n->source.memory->address};
    return rt_end(cudaSuccess);
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *pointer) {
    RT_BEGIN;
    const rt_node *n = rt_node_find(node);
    if (!n || n->type != cudaGraphNodeTypeMemFree || !pointer) return rt_end(cudaErrorInvalidValue);
    *(void **)pointer = (void *)(uintptr_t)n->source.memory->address;
    return rt_end(cudaSuccess);
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    RT_BEGIN;
    const uint64_t values[] = {rt_device->graph_memory.used, rt_device->graph_memory.used_high,
                               rt_device->graph_memory.reserved, rt_device->graph_memory.reserved_high};
    if (rt_check_device(device) != cudaSuccess) return rt_end(cudaErrorInvalidDevice);
    if (!value || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh) return rt_end(cudaErrorInvalidValue);
    *(uint64_t *)value = values[attribute];
    return rt_end(cudaSuccess);
}

/* Resets a peak; 0 is the only value that CUDA takes. */
cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType attribute, void *value) {
    RT_BEGIN;
    if (rt_check_device(device) != cudaSuccess) return rt_end(cudaErrorInvalidDevice);
    if (!value || *(uint64_t *)value) return rt_end(cudaErrorInvalidValue);
    if (attribute == cudaGraphMemAttrUsedMemHigh)
        rt_device->graph_memory.used_high = rt_device->graph_memory.used;
    else if (attribute == cudaGraphMemAttrReservedMemHigh)
        rt_device->graph_memory.reserved_high = rt_device->graph_memory.reserved;
    else
        return rt_end(cudaErrorInvalidValue);
    return rt_end(cudaSuccess);
}

/* Memory that no node names and nobody uses is free already. */
cudaError_t cudaDeviceGraphMemTrim(int device) {
    RT_BEGIN;
    return rt_end(rt_check_device(device));
}

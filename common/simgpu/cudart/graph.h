/* graph.h — graphs inside cudart/: the structs shared by graph.c (graphs and their nodes), capture.c (work of streams
 * that becomes nodes) and graph_exec.c (executable graphs). */
#ifndef SIMGPU_RT_GRAPH_H
#define SIMGPU_RT_GRAPH_H

#include "rt.h"

typedef struct rt_graph rt_graph;

typedef struct rt_node {
    cudaGraphNode_t handle;
    rt_graph *graph;
    enum cudaGraphNodeType type;
    time_command command; /* as in a stream; of a HOST node without its argument, of a GRAPH or EMPTY node a pause */
    rt_source source;
    void **args;     /* KERNEL: pointers to the arguments in the command's params, for cudaGraphKernelNodeGetParams */
    rt_graph *child; /* GRAPH: a copy that belongs to the node */
    struct rt_node **after;
    uint32_t nafter;
    cudaGraphNode_t original; /* of a clone: the handle of the node that it was made from; else its own */
    uint32_t mark;            /* of a walk over the graph */
} rt_node;

struct rt_graph {
    cudaGraph_t handle; /* NULL for a node's child and for the graph inside an executable one */
    rt_node **nodes;
    uint32_t n;
};

/* Returns the object of a handle. Each returns NULL and prints a message if it is invalid. */
rt_graph *rt_graph_find(cudaGraph_t handle);
rt_node *rt_node_find(cudaGraphNode_t handle);

rt_graph *rt_graph_new(bool with_handle);
rt_graph *rt_graph_copy(const rt_graph *from, bool with_handle);

/* Adds a node behind others of its graph; takes the command's params. */
rt_node *rt_node_add(rt_graph *g, enum cudaGraphNodeType type, const time_command *c, const rt_source *source,
                     rt_node *const *after, uint32_t nafter);

/* Lets the node wait for another one, unless it does already. */
void rt_node_behind(rt_node *n, rt_node *earlier);

/* Puts a command (with params of its own) into the node in place of its old one. */
void rt_node_replace(rt_node *n, const time_command *c, const rt_source *source);

/* Makes a command of the parameters of a node, and checks them. */
cudaError_t rt_kernel_node_command(const struct cudaKernelNodeParams *p, time_command *c, rt_source *source);
cudaError_t rt_copy_node_command(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, time_command *c);
cudaError_t rt_memset_node_command(const struct cudaMemsetParams *p, time_command *c);

/* Returns the nodes in an order in which each comes behind those that it waits for, malloc'd, or NULL if there is none,
 * since they wait for each other. */
rt_node **rt_graph_sorted(const rt_graph *g);

/* Adds a node behind the last work of a stream that captures (capture.c). */
rt_node *rt_capture_add(uint32_t stream, enum cudaGraphNodeType type, const time_command *c, const rt_source *source);

#endif

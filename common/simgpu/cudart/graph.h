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
    bool disabled;                        /* in an executable graph: a launch passes it over */
    int priority;                         /* KERNEL: hints that the program may ask for */
    struct cudaAccessPolicyWindow window; /* KERNEL */
    cudaGraphNode_t original;             /* of a clone: the handle of the node that it was made from; else its own */
    uint32_t mark;                        /* of a walk over the graph */
} rt_node;

struct rt_graph {
    cudaGraph_t handle; /* NULL for the graph inside an executable one, and for a node's child until the program asks */
    rt_node **nodes;
    uint32_t n;
    bool held; /* by a capture in progress, a node or an executable graph, which end it */
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
cudaError_t rt_box_node_command(const struct cudaMemcpy3DParms *p, time_command *c);
cudaError_t rt_symbol_node_command(const void *symbol, void *other, size_t bytes, size_t offset,
                                   enum cudaMemcpyKind kind, bool to_symbol, time_command *c);
cudaError_t rt_event_node_command(cudaEvent_t event, bool waits, time_command *c, rt_source *source);

/* Returns the nodes in an order in which each comes behind those that it waits for, malloc'd, or NULL if there is none,
 * since they wait for each other. */
rt_node **rt_graph_sorted(const rt_graph *g);

/* graph_memory.c. A node with memory keeps it: hold it when the node gets it, let it go when the node is freed. */
void rt_graph_memory_hold(struct rt_graph_memory *m);
void rt_graph_memory_release(struct rt_graph_memory *m);
bool rt_graph_allocates(const rt_graph *g); /* or frees; such graphs are one of a kind */
bool rt_graph_frees(const rt_graph *g, const struct rt_graph_memory *m);

/* Each returns an error of a graph whose memory is in the wrong state: before it becomes executable (CUDA allows one
 * executable graph at a time); before its launch, whose nodes then allocate and free. last: the launch's end. */
cudaError_t rt_graph_memory_instantiate(const rt_graph *g);
cudaError_t rt_graph_memory_launch(const rt_graph *g, bool auto_free);
void rt_graph_memory_launched(const rt_graph *g, time_point last);
void rt_graph_memory_destroyed(const rt_graph *g); /* the executable graph */
rt_graph *rt_capture_graph(uint32_t stream);       /* of a stream that captures (capture.c) */

/* graph.c: adds a node, unless e, the error so far, is one; takes the command's params. */
cudaError_t rt_node_add_checked(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                size_t count, enum cudaGraphNodeType type, const time_command *c,
                                const rt_source *source, cudaError_t e);
time_command rt_pause_command(void);

/* Adds a node behind the last work of a stream that captures (capture.c). */
rt_node *rt_capture_add(uint32_t stream, enum cudaGraphNodeType type, const time_command *c, const rt_source *source);

#endif

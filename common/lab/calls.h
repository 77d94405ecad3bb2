/* calls.h — the calls of a program: the judge sees each call of the CUDA API, and each allocation of the C library, of
 * the program being played before it runs. It works in both lanes, with no profiler.
 *
 *     static const lab_ear ear = {before, after};
 *     lab_listen(&ear);              from here on; NULL: no listener
 *
 * How: the lab program defines the functions of cuda_api.def itself. A shared object that it opens finds those first;
 * each notes the call and goes on to the real function.
 *
 * A program that passes page-locked memory to free() ends with a message, with or without a listener.
 *
 * The listener does not see the judge's own calls, nor those of the functions that the player offers.
 */
#ifndef LAB_CALLS_H
#define LAB_CALLS_H

#include "rows.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The purpose of a call. */
typedef enum {
    LAB_CALL_SUBMITS,   /* queues a command on the device, or queries something */
    LAB_CALL_ALLOCATES, /* device memory */
    LAB_CALL_FREES,
    LAB_CALL_PINS, /* page-locks host memory, newly allocated or not */
    LAB_CALL_UNPINS,
    LAB_CALL_COPIES,
    LAB_CALL_FILLS,
    LAB_CALL_WAITS,      /* for a stream, an event or the device */
    LAB_CALL_C_ALLOCATES /* malloc and its relatives, new */
} lab_call_class;

/* A thing of CUDA's that a program creates by one call and destroys by another. */
typedef enum {
    LAB_NO_THING,
    LAB_DEVICE_MEMORY,
    LAB_PINNED_MEMORY,     /* allocated page-locked */
    LAB_REGISTERED_MEMORY, /* page-locked afterwards */
    LAB_A_STREAM,
    LAB_AN_EVENT,
    LAB_A_GRAPH,
    LAB_A_GRAPH_EXEC /* an instantiated one */
} lab_thing;

/* One call, as plain data. Fields that a call does not have are 0. */
typedef struct {
    const char *name; /* as a student writes it: "cudaMalloc", "new" */
    lab_call_class what;
    const char *file; /* the line that calls; NULL: not known (gpu lane, C library) */
    int line;
    uint64_t to, from; /* of a copy; `to` is also the memory filled or freed and, after the call, the thing created */
    uint64_t bytes;    /* allocated, copied, filled */
    enum cudaMemcpyKind kind;
    bool async;
    uint64_t stream, event;
    lab_thing creates, destroys;
    cudaError_t error; /* after the call */
    double begin, end; /* lab_now before and, after the call, after it */
} lab_call;

typedef struct {
    /* cudaSuccess: go on. Else the call returns this error and does nothing. May be NULL. */
    cudaError_t (*before)(const lab_call *call);
    void (*after)(const lab_call *call); /* may be NULL */
} lab_ear;
void lab_listen(const lab_ear *ear);

/* --- what stays behind ---------------------------------------------------------------------------- */

/* A thing that the program has created and not destroyed, with its call. */
typedef struct {
    lab_thing thing;
    uint64_t address, bytes;
    const char *name, *file; /* of the call; file NULL: not known */
    int line;
} lab_thing_made;

void lab_forget_things(void); /* those created before now do not count */
/* Returns their number and, in the order of their calls, the list, which lives until the program's next call. */
int lab_things(const lab_thing_made **list);
/* The memory that this address lies in; its thing is LAB_NO_THING where it is none of theirs. */
lab_thing_made lab_memory_at(uint64_t address);

/* The first call that failed since a listener was set, with the memory that its two addresses lay in then. */
typedef struct {
    lab_call call;
    lab_thing_made to, from;
} lab_failure;
const lab_failure *lab_first_failure(void); /* NULL: none failed */

/* leaks.c: grades the row by the number of things left, and names them with their lines and with the calls that destroy
 * them. when: "when pool_destroy returns". Returns whether nothing is left. */
bool lab_grade_leaks(lab_verdict *v, const char *when);

#ifdef __cplusplus
}
#endif
#endif

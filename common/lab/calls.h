/* calls.h — what a program calls: each call of the CUDA API, and each allocation of the C library, that the program
 * being played makes comes to the judge first. It works in both lanes, with no profiler.
 *
 *     static const lab_ear ear = {before, after};
 *     lab_listen(&ear);              from here on; NULL: nobody listens
 *
 * How: the lab program defines the functions of cuda_api.def itself. A shared object that it opens finds those first;
 * each notes the call and goes on to the real function.
 *
 * A program that gives free() page-locked memory is ended with a message, whether anybody listens or not.
 *
 * The judge's own calls, and those of the functions that the player offers, are not heard.
 */
#ifndef LAB_CALLS_H
#define LAB_CALLS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call is for. */
typedef enum {
    LAB_CALL_SUBMITS,   /* hands the device a command, or asks about something */
    LAB_CALL_ALLOCATES, /* device memory */
    LAB_CALL_FREES,
    LAB_CALL_PINS, /* page-locks host memory, newly allocated or not */
    LAB_CALL_UNPINS,
    LAB_CALL_COPIES,
    LAB_CALL_FILLS,
    LAB_CALL_WAITS,      /* for a stream, an event or the device */
    LAB_CALL_C_ALLOCATES /* malloc and its relatives, new */
} lab_call_class;

/* One call, as plain data. Fields that a call does not have are 0. */
typedef struct {
    const char *name; /* as a student writes it: "cudaMalloc", "new" */
    lab_call_class what;
    const char *file; /* the line that calls; NULL: not known (gpu lane, C library) */
    int line;
    uint64_t to, from; /* of a copy; `to` also what is filled or freed and, after the call, what was allocated */
    uint64_t bytes;    /* allocated, copied, filled */
    enum cudaMemcpyKind kind;
    bool async;
    uint64_t stream, event;
    cudaError_t error; /* after the call */
    double begin, end; /* lab_now before and, after the call, after it */
} lab_call;

typedef struct {
    /* cudaSuccess: go on. Else the call returns this error and does nothing. May be NULL. */
    cudaError_t (*before)(const lab_call *call);
    void (*after)(const lab_call *call); /* may be NULL */
} lab_ear;
void lab_listen(const lab_ear *ear);

#ifdef __cplusplus
}
#endif
#endif

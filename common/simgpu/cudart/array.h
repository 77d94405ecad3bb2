/* array.h — CUDA arrays, which array.c makes and texture.c binds to texture and surface objects. */
#ifndef SIMGPU_RT_ARRAY_H
#define SIMGPU_RT_ARRAY_H

#include "rt.h"

/* An array is device memory that the program knows by a handle only: rows `pitch` bytes apart, planes (of a 3D array)
 * or layers `slice` bytes apart. */
typedef struct rt_array {
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent; /* in elements, as the program gave it: 0 for a dimension that the array has not */
    unsigned flags;
    uint64_t element;             /* bytes */
    uint64_t width, rows, planes; /* elements of a row; at least 1 each */
    uint64_t address, bytes;      /* its memory */
    uint64_t pitch, slice;        /* bytes */
    bool level;                   /* of a mipmapped array, to which the memory belongs */
} rt_array;

/* A mipmapped array: levels, each of half the size of the one before it, one behind the other in one allocation. */
typedef struct {
    unsigned n;
    uint64_t bytes; /* of all levels; their address is the first one's */
    rt_array level[EXEC_LEVELS];
    cudaArray_t handle[EXEC_LEVELS]; /* NULL: not asked for yet */
} rt_mipmap;

/* Returns the mipmapped array of a handle. Returns NULL and prints a message if it is none. */
rt_mipmap *rt_mipmap_find(cudaMipmappedArray_const_t handle);

/* Returns the array of a handle. Returns NULL and prints a message if it is none. */
const rt_array *rt_array_find(cudaArray_const_t handle);

/* Returns the bytes of an element, or 0 if there is no such format: 1, 2 or 4 channels of 8, 16 or 32 bits each, floats
 * of 16 or 32. Source: CUDA Programming Guide, texture memory. */
uint64_t rt_element_bytes(const struct cudaChannelFormatDesc *d);

/* Sets *c to the copy that cudaMemcpy3D's parameters describe, after checking the arrays' limits. */
cudaError_t rt_box(const struct cudaMemcpy3DParms *p, time_copy *c);

void rt_array_free(void *array); /* at the end of a device: frees the description; its memory is freed elsewhere */

#endif

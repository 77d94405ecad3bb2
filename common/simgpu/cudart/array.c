/* array.c — CUDA arrays, and memory of two and three dimensions: allocation, copies in every direction, memset.
 *
 * A copy is one command of rows and planes (time_copy), whatever its ends are: host memory, device memory or an array.
 * This file turns arrays and offsets into addresses, and checks that a box lies inside its array; memory.c checks the
 * rest, and queues the command. */
#include "array.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    PITCH_ALIGN = 512,
    TILE_WIDTH = 64,
    TILE_ROWS = 8 /* of the memory of an array: bytes, rows (exec/texture.c) */
};

/* The largest arrays, in elements. Source: CUDA Programming Guide, technical specifications, compute capability 9.0. */
enum { MAX_1D = 131072, MAX_2D_ROWS = 65536, MAX_3D = 16384, MAX_LAYERED = 32768, MAX_LAYERS = 2048 };

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

/* --- allocation -------------------------------------------------------------------------------------------------- */

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *ptr, struct cudaExtent extent) {
    RT_BEGIN;
    size_t row, plane, all;
    if (!ptr || __builtin_add_overflow(extent.width, PITCH_ALIGN - 1, &row)) return rt_end(cudaErrorInvalidValue);
    row = row / PITCH_ALIGN * PITCH_ALIGN;
    if (__builtin_mul_overflow(row, extent.height, &plane) || __builtin_mul_overflow(plane, extent.depth, &all))
        return rt_end(cudaErrorInvalidValue);
    void *memory;
    cudaError_t e = rt_allocate(&memory, all);
    if (e == cudaSuccess)
        *ptr = (struct cudaPitchedPtr){.ptr = memory, .pitch = row, .xsize = extent.width, .ysize = extent.height};
    return rt_end(e);
}

struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

uint64_t rt_element_bytes(const struct cudaChannelFormatDesc *d) {
    int bits = d->x, channels = d->w ? 4 : d->z ? 3 : d->y ? 2 : 1;
    bool same = (channels < 2 || d->y == bits) && (channels < 4 || (d->z == bits && d->w == bits));
    bool known = bits == 16 || bits == 32 || (bits == 8 && d->f != cudaChannelFormatKindFloat);
    if (!known || !same || channels == 3 || (unsigned)d->f > cudaChannelFormatKindFloat) return 0;
    return (uint64_t)bits / 8 * (unsigned)channels;
}

/* Returns what is wrong with the dimensions of an array, or NULL. */
static const char *wrong_dimensions(const struct cudaExtent *e, unsigned flags) {
    bool layered = flags & cudaArrayLayered, cube = flags & cudaArrayCubemap;
    size_t most = layered || cube ? MAX_LAYERED : e->depth ? MAX_3D : MAX_1D;
    if (flags & ~(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather))
        return "these flags are none of cudaArrayLayered, cudaArraySurfaceLoadStore, cudaArrayCubemap, "
               "cudaArrayTextureGather";
    if (!e->width) return "the width is 0";
    if (layered && !e->depth) return "a layered array needs a depth, its number of layers";
    if (!layered && e->depth && !e->height) return "a 3D array needs a height";
    if (cube && (e->width != e->height || (layered ? e->depth % 6 : e->depth != 6)))
        return "a cubemap has six square faces: width equal to height, depth 6 (times the layers)";
    if (e->width > most || e->height > (most == MAX_1D ? MAX_2D_ROWS : most) ||
        e->depth > (layered ? MAX_LAYERS : most))
        return "a dimension is larger than the device allows";
    return NULL;
}

/* Checks the format, the flags and the size of an array, and lays out its rows; without memory. */
static cudaError_t lay_out(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned flags,
                           rt_array *a) {
    uint64_t element = rt_element_bytes(desc);
    if (desc->f > cudaChannelFormatKindNone) {
        rt_say("arrays of normalized and of compressed elements are not supported; make one of integers, and read it "
               "as fractions (cudaReadModeNormalizedFloat)");
        return cudaErrorNotSupported;
    }
    if (!element) {
        rt_say("there is no array of elements with %d, %d, %d, %d bits; an element has 1, 2 or 4 channels of 8, 16 or "
               "32 bits each, floats of 16 or 32",
               desc->x, desc->y, desc->z, desc->w);
        return cudaErrorInvalidChannelDescriptor;
    }
    const char *wrong = wrong_dimensions(&extent, flags);
    if (wrong) {
        rt_say("an array of %zu x %zu x %zu elements: %s", extent.width, extent.height, extent.depth, wrong);
        return cudaErrorInvalidValue;
    }
    *a = (rt_array){.desc = *desc, .extent = extent, .flags = flags, .element = element, .width = extent.width};
    a->rows = extent.height ? extent.height : 1;
    a->planes = extent.depth ? extent.depth : 1;
    a->pitch = round_up(a->width * element, TILE_WIDTH);
    a->slice = a->pitch * (a->rows > 1 ? round_up(a->rows, TILE_ROWS) : 1);
    a->bytes = a->slice * a->planes;
    return cudaSuccess;
}

static cudaError_t array_new(cudaArray_t *handle, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                             unsigned flags) {
    rt_array a;
    void *memory;
    if (!handle || !desc) return cudaErrorInvalidValue;
    *handle = NULL;
    cudaError_t e = lay_out(desc, extent, flags, &a);
    if (e == cudaSuccess) e = rt_allocate(&memory, a.bytes);
    if (e != cudaSuccess) return e;
    a.address = (uint64_t)(uintptr_t)memory;
    rt_array *kept = malloc(sizeof *kept);
    if (kept) *kept = a, *handle = rt_handle_make(HANDLE_ARRAY, kept);
    if (*handle) return cudaSuccess;
    free(kept);
    rt_free_array_memory(a.address);
    return cudaErrorMemoryAllocation;
}

cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, size_t width, size_t height,
                            unsigned flags) {
    RT_BEGIN;
    return rt_end(array_new(array, desc, (struct cudaExtent){width, height, 0}, flags));
}
cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc, struct cudaExtent extent,
                              unsigned flags) {
    RT_BEGIN;
    return rt_end(array_new(array, desc, extent, flags));
}

const rt_array *rt_array_find(cudaArray_const_t handle) {
    const rt_array *a = rt_object(handle, HANDLE_ARRAY);
    if (!a) rt_say("this is not an array; create it by cudaMallocArray, and do not use it after cudaFreeArray");
    return a;
}

void rt_array_free(void *array) { free(array); }

static void free_memory(uint64_t address, uint64_t bytes) {
    struct device *here = rt_device;
    rt_select_this(rt_owner(address));
    time_wait_all(); /* a kernel may still read it */
    time_activity_call_bytes(bytes);
    rt_free_array_memory(address);
    rt_select_this(here);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
    RT_BEGIN;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    if (!array) return rt_end(cudaSuccess);
    const rt_array *a = rt_array_find(array);
    if (!a) return rt_end(cudaErrorInvalidResourceHandle);
    if (a->level) {
        rt_say("the array is a level of a mipmapped array, and ends with it; call cudaFreeMipmappedArray");
        return rt_end(cudaErrorInvalidResourceHandle);
    }
    free_memory(a->address, a->bytes);
    void *kept = rt_object(array, HANDLE_ARRAY);
    rt_handle_drop(array, HANDLE_ARRAY);
    free(kept);
    return rt_end(cudaSuccess);
}

cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent, unsigned *flags,
                             cudaArray_t array) {
    RT_BEGIN;
    const rt_array *a = rt_array_find(array);
    if (!a) return rt_end(cudaErrorInvalidResourceHandle);
    if (desc) *desc = a->desc;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return rt_end(cudaSuccess);
}
cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    RT_BEGIN;
    const rt_array *a = rt_array_find(array);
    if (!a) return rt_end(cudaErrorInvalidResourceHandle);
    if (desc) *desc = a->desc;
    return rt_end(desc ? cudaSuccess : cudaErrorInvalidValue);
}

/* --- mipmapped arrays -------------------------------------------------------------------------------------------- */

static size_t halved(size_t n, unsigned times) { return n ? (n >> times ? n >> times : 1) : 0; }

/* Lays out the levels of an array; a layered array has all layers in each. */
static cudaError_t lay_out_levels(const struct cudaChannelFormatDesc *desc, struct cudaExtent extent, unsigned levels,
                                  unsigned flags, rt_mipmap *m) {
    bool planes = !(flags & (cudaArrayLayered | cudaArrayCubemap));
    size_t longest = extent.width > extent.height ? extent.width : extent.height;
    if (planes && extent.depth > longest) longest = extent.depth;
    unsigned most = 1;
    while (longest >> most) most++;
    m->n = levels < 1 ? 1 : levels < most ? levels : most;
    for (unsigned k = 0; k < m->n; k++) {
        rt_array *a = &m->level[k];
        const struct cudaExtent size = {halved(extent.width, k), halved(extent.height, k),
                                        planes ? halved(extent.depth, k) : extent.depth};
        cudaError_t e = lay_out(desc, size, flags, a); /* a size that is too large is so at the first level */
        if (e != cudaSuccess) return e;
        a->level = true;
        a->address = m->bytes; /* from the first level on */
        m->bytes += round_up(a->bytes, PITCH_ALIGN);
    }
    return cudaSuccess;
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *array, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned levels, unsigned flags) {
    RT_BEGIN;
    void *memory;
    if (!array || !desc) return rt_end(cudaErrorInvalidValue);
    *array = NULL;
    rt_mipmap *m = calloc(1, sizeof *m);
    if (!m) return rt_end(cudaErrorMemoryAllocation);
    cudaError_t e = lay_out_levels(desc, extent, levels, flags, m);
    if (e == cudaSuccess) e = rt_allocate(&memory, m->bytes);
    if (e != cudaSuccess) {
        free(m);
        return rt_end(e);
    }
    for (unsigned k = 0; k < m->n; k++) m->level[k].address += (uint64_t)(uintptr_t)memory;
    *array = rt_handle_make(HANDLE_MIPMAP, m);
    if (*array) return rt_end(cudaSuccess);
    free(m);
    rt_free_array_memory((uint64_t)(uintptr_t)memory);
    return rt_end(cudaErrorMemoryAllocation);
}

rt_mipmap *rt_mipmap_find(cudaMipmappedArray_const_t handle) {
    rt_mipmap *m = rt_object(handle, HANDLE_MIPMAP);
    if (!m)
        rt_say("this is not a mipmapped array; create it by cudaMallocMipmappedArray, and do not use it after "
               "cudaFreeMipmappedArray");
    return m;
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array, cudaMipmappedArray_const_t mipmap, unsigned level) {
    RT_BEGIN;
    rt_mipmap *m = rt_mipmap_find(mipmap);
    if (!m) return rt_end(cudaErrorInvalidResourceHandle);
    if (!array) return rt_end(cudaErrorInvalidValue);
    if (level >= m->n) {
        rt_say("there is no level %u; the array has %u, from 0 on", level, m->n);
        return rt_end(cudaErrorInvalidValue);
    }
    if (!m->handle[level]) {
        rt_array *kept = malloc(sizeof *kept);
        if (kept) *kept = m->level[level], m->handle[level] = rt_handle_make(HANDLE_ARRAY, kept);
        if (!m->handle[level]) {
            free(kept);
            return rt_end(cudaErrorMemoryAllocation);
        }
    }
    *array = m->handle[level];
    return rt_end(cudaSuccess);
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
    RT_BEGIN;
    cudaError_t forbidden = rt_capture_forbids_unsafe();
    if (forbidden != cudaSuccess) return rt_end(forbidden);
    if (!array) return rt_end(cudaSuccess);
    rt_mipmap *m = rt_mipmap_find(array);
    if (!m) return rt_end(cudaErrorInvalidResourceHandle);
    free_memory(m->level[0].address, m->bytes);
    for (unsigned k = 0; k < m->n; k++) {
        if (!m->handle[k]) continue;
        void *kept = rt_object(m->handle[k], HANDLE_ARRAY);
        rt_handle_drop(m->handle[k], HANDLE_ARRAY);
        free(kept);
    }
    rt_handle_drop(array, HANDLE_MIPMAP);
    free(m);
    return rt_end(cudaSuccess);
}

/* --- boxes ------------------------------------------------------------------------------------------------------- */

/* Sets *at to a box of the array: x and width in bytes, y and height in rows, z and depth in planes. */
static cudaError_t box_of(const rt_array *a, const struct cudaPos *pos, const struct cudaExtent *box, time_place *at) {
    uint64_t row = a->width * a->element;
    bool fits = pos->x <= row && box->width <= row - pos->x && pos->y <= a->rows && box->height <= a->rows - pos->y &&
                pos->z <= a->planes && box->depth <= a->planes - pos->z;
    if (!fits) {
        rt_say("the box of %zu bytes x %zu x %zu at (%zu, %zu, %zu) does not fit into the array of %" PRIu64
               " bytes x %" PRIu64 " x %" PRIu64,
               box->width, box->height, box->depth, pos->x, pos->y, pos->z, row, a->rows, a->planes);
        return cudaErrorInvalidValue;
    }
    *at = (time_place){
        .address = a->address + pos->z * a->slice + pos->y * a->pitch + pos->x, .pitch = a->pitch, .slice = a->slice};
    return cudaSuccess;
}

/* The same for pitched memory. */
static cudaError_t box_at(const struct cudaPitchedPtr *p, const struct cudaPos *pos, const struct cudaExtent *box,
                          const char *end, time_place *at) {
    uint64_t slice = (uint64_t)p->pitch * p->ysize, skip, rows, bytes;
    if (box->depth > 1 && p->ysize < box->height) {
        rt_say("the %s's ysize, the rows of a plane, is %zu, less than the height of %zu", end, p->ysize, box->height);
        return cudaErrorInvalidValue;
    }
    if (__builtin_mul_overflow(pos->z, slice, &skip) || __builtin_mul_overflow(pos->y, (uint64_t)p->pitch, &rows) ||
        __builtin_add_overflow(skip, rows, &bytes) || __builtin_add_overflow(bytes, (uint64_t)pos->x, &bytes))
        return cudaErrorInvalidValue;
    *at = (time_place){.address = p->ptr ? (uint64_t)(uintptr_t)p->ptr + bytes : 0, .pitch = p->pitch, .slice = slice};
    return cudaSuccess;
}

cudaError_t rt_box(const struct cudaMemcpy3DParms *p, time_copy *c) {
    if (!p) return cudaErrorInvalidValue;
    if ((p->srcArray != NULL) == (p->srcPtr.ptr != NULL) || (p->dstArray != NULL) == (p->dstPtr.ptr != NULL)) {
        rt_say("each end of a 3D copy needs either an array or a pointer; set all other fields to 0");
        return cudaErrorInvalidValue;
    }
    const rt_array *from = p->srcArray ? rt_array_find(p->srcArray) : NULL,
                   *to = p->dstArray ? rt_array_find(p->dstArray) : NULL;
    if ((p->srcArray && !from) || (p->dstArray && !to)) return cudaErrorInvalidResourceHandle;
    if (from && to && from->element != to->element) {
        rt_say("elements of the arrays have %" PRIu64 " and %" PRIu64 " bytes", from->element, to->element);
        return cudaErrorInvalidValue;
    }
    struct cudaExtent box = p->extent;
    struct cudaPos from_pos = p->srcPos, to_pos = p->dstPos;
    if (__builtin_mul_overflow(box.width,
                               from ? from->element
                               : to ? to->element
                                    : 1,
                               &box.width) ||
        (from && __builtin_mul_overflow(from_pos.x, from->element, &from_pos.x)) ||
        (to && __builtin_mul_overflow(to_pos.x, to->element, &to_pos.x)))
        return cudaErrorInvalidValue;
    *c = (time_copy){.width = box.width, .height = box.depth ? box.height : 0, .depth = box.depth};
    if (!box.width || !c->height) return cudaSuccess;
    cudaError_t e =
        from ? box_of(from, &from_pos, &box, &c->from) : box_at(&p->srcPtr, &from_pos, &box, "source", &c->from);
    if (e != cudaSuccess) return e;
    return to ? box_of(to, &to_pos, &box, &c->to) : box_at(&p->dstPtr, &to_pos, &box, "destination", &c->to);
}

static cudaError_t copy_box(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool waits) {
    time_copy c;
    cudaError_t e = rt_box(p, &c);
    return e == cudaSuccess ? rt_copy(c, p->kind, stream, waits) : e;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    RT_BEGIN;
    return rt_end(copy_box(p, NULL, true));
}
cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(copy_box(p, stream, false));
}

static cudaError_t fill_box(const struct cudaPitchedPtr *p, int value, const struct cudaExtent *box,
                            cudaStream_t stream, bool waits) {
    time_copy c = {.width = box->width, .height = box->depth ? box->height : 0, .depth = box->depth, .value = value};
    const struct cudaPos begin = {0, 0, 0};
    cudaError_t e = box_at(p, &begin, box, "destination", &c.to);
    return e == cudaSuccess ? rt_fill(c, stream, waits) : e;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent) {
    RT_BEGIN;
    return rt_end(fill_box(&ptr, value, &extent, NULL, true));
}
cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr ptr, int value, struct cudaExtent extent, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(fill_box(&ptr, value, &extent, stream, false));
}

/* --- rows of a plane --------------------------------------------------------------------------------------------- */

static time_place plain(const void *p, size_t pitch) {
    return (time_place){.address = (uint64_t)(uintptr_t)p, .pitch = pitch};
}

/* One side of a copy between memory and an array: rows of `width` bytes. */
typedef struct {
    cudaArray_const_t array;
    size_t x, y, width, height;
} part;

static cudaError_t part_of(const part *of, time_place *at) {
    const rt_array *a = rt_array_find(of->array);
    const struct cudaPos pos = {of->x, of->y, 0};
    const struct cudaExtent box = {of->width, of->height, 1};
    return a ? box_of(a, &pos, &box, at) : cudaErrorInvalidResourceHandle;
}

/* Checks the kind of a copy from or to an array; host: the kind whose other end is the host. */
static cudaError_t check_kind(enum cudaMemcpyKind kind, enum cudaMemcpyKind host, const char *direction) {
    if (kind == host || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault) return cudaSuccess;
    rt_say("the array is device memory, so a copy %s it is none of this cudaMemcpyKind", direction);
    return cudaErrorInvalidMemcpyDirection;
}

static cudaError_t to_array(part to, const void *from, size_t pitch, enum cudaMemcpyKind kind, cudaStream_t stream,
                            bool waits) {
    time_copy c = {.from = plain(from, pitch), .width = to.width, .height = to.height};
    cudaError_t e = check_kind(kind, cudaMemcpyHostToDevice, "to");
    if (e == cudaSuccess) e = part_of(&to, &c.to);
    return e == cudaSuccess ? rt_copy(c, kind, stream, waits) : e;
}
static cudaError_t from_array(void *to, size_t pitch, part from, enum cudaMemcpyKind kind, cudaStream_t stream,
                              bool waits) {
    time_copy c = {.to = plain(to, pitch), .width = from.width, .height = from.height};
    cudaError_t e = check_kind(kind, cudaMemcpyDeviceToHost, "from");
    if (e == cudaSuccess) e = part_of(&from, &c.from);
    return e == cudaSuccess ? rt_copy(c, kind, stream, waits) : e;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(to_array((part){to, x, y, width, height}, from, pitch, kind, NULL, true));
}
cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                     size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(to_array((part){to, x, y, width, height}, from, pitch, kind, stream, false));
}
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(from_array(to, pitch, (part){from, x, y, width, height}, kind, NULL, true));
}
cudaError_t cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                       size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(from_array(to, pitch, (part){from, x, y, width, height}, kind, stream, false));
}
cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    const part source = {from, from_x, from_y, width, height}, target = {to, to_x, to_y, width, height};
    time_copy c = {.width = width, .height = height};
    cudaError_t e = part_of(&source, &c.from);
    if (e == cudaSuccess) e = part_of(&target, &c.to);
    return rt_end(e == cudaSuccess ? rt_copy(c, kind, NULL, true) : e);
}

/* --- the old copies of a run of bytes, which goes on at the beginning of the array's next row
 * ------------------------- */

/* Cuts the run into at most three parts: the rest of its first row, whole rows, the beginning of its last row. Returns
 * their number, or 0 with *error set. */
static int cut(cudaArray_const_t array, size_t x, size_t y, size_t bytes, part parts[3], cudaError_t *error) {
    const rt_array *a = rt_array_find(array);
    *error = cudaErrorInvalidResourceHandle;
    if (!a) return 0;
    uint64_t row = a->width * a->element;
    *error = cudaErrorInvalidValue;
    if (x > row || y > a->rows || bytes > (a->rows - y) * row - (y < a->rows ? x : 0)) {
        rt_say("%zu bytes from byte %zu of row %zu do not fit into the array of %" PRIu64 " bytes x %" PRIu64, bytes, x,
               y, row, a->rows);
        return 0;
    }
    int n = 0;
    *error = cudaSuccess;
    size_t first = x ? (bytes < row - x ? bytes : row - x) : 0;
    if (first) parts[n++] = (part){array, x, y++, first, 1}, bytes -= first;
    if (bytes >= row) parts[n++] = (part){array, 0, y, row, bytes / row}, y += bytes / row, bytes %= row;
    if (bytes) parts[n++] = (part){array, 0, y, bytes, 1};
    return n;
}

static cudaError_t run_to_array(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                enum cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
    part parts[3];
    cudaError_t e;
    const char *at = from;
    int n = cut(to, x, y, bytes, parts, &e);
    for (int k = 0; k < n && e == cudaSuccess; at += parts[k].width * parts[k].height, k++)
        e = to_array(parts[k], at, parts[k].width, kind, stream, waits);
    return e;
}
static cudaError_t run_from_array(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                  enum cudaMemcpyKind kind, cudaStream_t stream, bool waits) {
    part parts[3];
    cudaError_t e;
    char *at = to;
    int n = cut(from, x, y, bytes, parts, &e);
    for (int k = 0; k < n && e == cudaSuccess; at += parts[k].width * parts[k].height, k++)
        e = from_array(at, parts[k].width, parts[k], kind, stream, waits);
    return e;
}

/* A run from array to array, in pieces that lie in one row of each. */
static cudaError_t run_between(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                               size_t from_y, size_t bytes, enum cudaMemcpyKind kind) {
    part parts[3];
    cudaError_t e = cudaSuccess;
    if (cut(from, from_x, from_y, bytes, parts, &e) == 0 || cut(to, to_x, to_y, bytes, parts, &e) == 0) return e;
    const rt_array *a = rt_array_find(from), *b = rt_array_find(to);
    const size_t from_row = a->width * a->element, to_row = b->width * b->element;
    while (bytes && e == cudaSuccess) {
        size_t n = from_row - from_x < to_row - to_x ? from_row - from_x : to_row - to_x;
        if (n > bytes) n = bytes;
        const part source = {from, from_x, from_y, n, 1}, target = {to, to_x, to_y, n, 1};
        time_copy c = {.width = n, .height = 1};
        e = part_of(&source, &c.from);
        if (e == cudaSuccess) e = part_of(&target, &c.to);
        if (e == cudaSuccess) e = rt_copy(c, kind, NULL, true);
        bytes -= n;
        if ((from_x += n) == from_row) from_x = 0, from_y++;
        if ((to_x += n) == to_row) to_x = 0, to_y++;
    }
    return e;
}
cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t bytes, enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(run_between(to, to_x, to_y, from, from_x, from_y, bytes, kind));
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(run_to_array(to, x, y, from, bytes, kind, NULL, true));
}
cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(run_to_array(to, x, y, from, bytes, kind, stream, false));
}
cudaError_t cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                enum cudaMemcpyKind kind) {
    RT_BEGIN;
    return rt_end(run_from_array(to, from, x, y, bytes, kind, NULL, true));
}
cudaError_t cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y, size_t bytes,
                                     enum cudaMemcpyKind kind, cudaStream_t stream) {
    RT_BEGIN;
    return rt_end(run_from_array(to, from, x, y, bytes, kind, stream, false));
}

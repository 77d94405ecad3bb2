/* texture.c — texture and surface objects: checks the descriptions, and makes of them what exec/ reads by.
 *
 * The rules and the error codes are those of an H200. */
#include "array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The descriptions of a live object, as the program gave them. */
typedef struct rt_texture {
    uint64_t handle;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture; /* zeros for a surface */
} rt_texture;

enum { BASE_ALIGN = 512, PITCH_ALIGN = 32 };

/* --- limits --------------------------------------------------------------------------------------------------------
 */

const int rt_texture_limits[RT_TEXTURE_LIMITS] = {
    131072, 32768, 1 << 28, 131072, 65536, 32768, 32768, 131072, 65000, 2097120, 32768, 32768, 16384, 16384,
    16384,  8192,  8192,    32768,  32768, 32768, 2048,  32768,  32768, 2048,    32768, 2046,  32768, 131072,
    65536,  16384, 16384,   16384,  32768, 2048,  32768, 32768,  2048,  32768,   32768, 2046};

bool rt_texture_attribute(enum cudaDeviceAttr attr, int *value) {
    static const struct {
        enum cudaDeviceAttr attr;
        int limit; /* index in rt_texture_limits */
    } attributes[] = {{cudaDevAttrMaxTexture1DWidth, 0},
                      {cudaDevAttrMaxTexture2DWidth, 3},
                      {cudaDevAttrMaxTexture2DHeight, 4},
                      {cudaDevAttrMaxTexture3DWidth, 12},
                      {cudaDevAttrMaxTexture3DHeight, 13},
                      {cudaDevAttrMaxTexture3DDepth, 14},
                      {cudaDevAttrMaxTexture2DLayeredWidth, 21},
                      {cudaDevAttrMaxTexture2DLayeredHeight, 22},
                      {cudaDevAttrMaxTexture2DLayeredLayers, 23},
                      {cudaDevAttrMaxTexture1DLayeredWidth, 19},
                      {cudaDevAttrMaxTexture1DLayeredLayers, 20},
                      {cudaDevAttrMaxTexture2DGatherWidth, 10},
                      {cudaDevAttrMaxTexture2DGatherHeight, 11},
                      {cudaDevAttrMaxTexture3DWidthAlt, 15},
                      {cudaDevAttrMaxTexture3DHeightAlt, 16},
                      {cudaDevAttrMaxTexture3DDepthAlt, 17},
                      {cudaDevAttrMaxTextureCubemapWidth, 18},
                      {cudaDevAttrMaxTextureCubemapLayeredWidth, 24},
                      {cudaDevAttrMaxTextureCubemapLayeredLayers, 25},
                      {cudaDevAttrMaxSurface1DWidth, 26},
                      {cudaDevAttrMaxSurface2DWidth, 27},
                      {cudaDevAttrMaxSurface2DHeight, 28},
                      {cudaDevAttrMaxSurface3DWidth, 29},
                      {cudaDevAttrMaxSurface3DHeight, 30},
                      {cudaDevAttrMaxSurface3DDepth, 31},
                      {cudaDevAttrMaxSurface1DLayeredWidth, 32},
                      {cudaDevAttrMaxSurface1DLayeredLayers, 33},
                      {cudaDevAttrMaxSurface2DLayeredWidth, 34},
                      {cudaDevAttrMaxSurface2DLayeredHeight, 35},
                      {cudaDevAttrMaxSurface2DLayeredLayers, 36},
                      {cudaDevAttrMaxSurfaceCubemapWidth, 37},
                      {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 38},
                      {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 39},
                      {cudaDevAttrMaxTexture1DLinearWidth, 2},
                      {cudaDevAttrMaxTexture2DLinearWidth, 7},
                      {cudaDevAttrMaxTexture2DLinearHeight, 8},
                      {cudaDevAttrMaxTexture2DLinearPitch, 9},
                      {cudaDevAttrMaxTexture2DMipmappedWidth, 5},
                      {cudaDevAttrMaxTexture2DMipmappedHeight, 6},
                      {cudaDevAttrMaxTexture1DMipmappedWidth, 1}};
    if (attr == cudaDevAttrTexturePitchAlignment) return *value = PITCH_ALIGN, true;
    if (attr == cudaDevAttrSurfaceAlignment) return *value = BASE_ALIGN, true;
    for (size_t k = 0; k < sizeof attributes / sizeof *attributes; k++)
        if (attributes[k].attr == attr) return *value = rt_texture_limits[attributes[k].limit], true;
    return false;
}

/* --- what an object is bound to ------------------------------------------------------------------------------------
 */

static cudaError_t set_format(const struct cudaChannelFormatDesc *d, exec_texture *t) {
    if (!rt_element_bytes(d)) {
        rt_say("there is no texture of elements with %d, %d, %d, %d bits; an element has 1, 2 or 4 channels of 8, 16 "
               "or 32 bits each, floats of 16 or 32",
               d->x, d->y, d->z, d->w);
        return cudaErrorInvalidChannelDescriptor;
    }
    t->channels = d->w ? 4 : d->y ? 2 : 1;
    t->bits = (uint8_t)d->x;
    t->kind = (enum exec_channel_kind)d->f;
    return cudaSuccess;
}

/* A line is a plane of one row, and so are layers of planes. */
static enum exec_shape shape_of(const rt_array *a) {
    if (a->flags & cudaArrayCubemap) return EXEC_CUBE;
    if (a->flags & cudaArrayLayered) return a->extent.height ? EXEC_PLANE : EXEC_LAYERED_LINE;
    return a->extent.depth ? EXEC_VOLUME : EXEC_PLANE;
}

static cudaError_t bind_to(const rt_array *a, exec_texture *t) {
    bool cube = a->flags & cudaArrayCubemap, layered = a->flags & cudaArrayLayered;
    t->address = a->address, t->bytes = a->bytes, t->pitch = a->pitch, t->slice = a->slice;
    t->width = (uint32_t)a->width, t->rows = (uint32_t)a->rows, t->planes = (uint32_t)a->planes;
    t->faces = cube ? 6 : 1;
    t->layers = layered ? t->planes / t->faces : 0;
    t->tiled = true;
    t->shape = shape_of(a);
    return set_format(&a->desc, t);
}
static cudaError_t bind_array(cudaArray_t handle, exec_texture *t) {
    const rt_array *a = rt_array_find(handle);
    return a ? bind_to(a, t) : cudaErrorInvalidResourceHandle;
}
static cudaError_t bind_mipmap(cudaMipmappedArray_t handle, exec_texture *t) {
    const rt_mipmap *m = rt_mipmap_find(handle);
    if (!m) return cudaErrorInvalidResourceHandle;
    t->levels = m->n;
    for (unsigned k = 0; k < m->n; k++) {
        const rt_array *a = &m->level[k];
        t->level[k] = (exec_level){.offset = a->address - m->level[0].address,
                                   .pitch = a->pitch,
                                   .slice = a->slice,
                                   .width = (uint32_t)a->width,
                                   .rows = (uint32_t)a->rows,
                                   .planes = (uint32_t)a->planes};
    }
    cudaError_t e = bind_to(&m->level[0], t);
    t->bytes = m->bytes;
    return e;
}

/* Checks device memory, and binds to it rows of `width` elements. */
static cudaError_t bind_memory(const void *p, const struct cudaChannelFormatDesc *desc, size_t width, size_t rows,
                               size_t pitch, exec_texture *t) {
    cudaError_t e = set_format(desc, t);
    if (e != cudaSuccess) return e;
    uint64_t address = (uint64_t)(uintptr_t)p, element = rt_element_bytes(desc), last, bytes;
    if (!width || !rows || width > INT32_MAX || rows > INT32_MAX ||
        __builtin_mul_overflow((uint64_t)rows - 1, (uint64_t)pitch, &last) ||
        __builtin_add_overflow(last, width * element, &bytes)) {
        rt_say("a texture of %zu x %zu elements: there is no such texture", width, rows);
        return cudaErrorInvalidValue;
    }
    if (address % BASE_ALIGN || (rows > 1 && pitch % PITCH_ALIGN)) {
        rt_say(
            "a texture's memory must begin at a multiple of %d bytes, and its pitch be a multiple of %d: the pointer "
            "is %" PRIu64 " bytes behind such a multiple, the pitch %zu bytes; use cudaMalloc or cudaMallocPitch",
            BASE_ALIGN, PITCH_ALIGN, address % BASE_ALIGN, pitch);
        return cudaErrorInvalidValue;
    }
    if (rows > 1 && pitch < width * element) {
        rt_say("the pitch of %zu bytes is less than the width of %zu elements of %" PRIu64 " bytes", pitch, width,
               element);
        return cudaErrorInvalidValue;
    }
    if (!exec_mem_valid(rt_device->exec, address, bytes)) {
        rt_say("%" PRIu64 " bytes from the pointer on do not lie in one allocation of device memory", bytes);
        return cudaErrorInvalidValue;
    }
    t->address = address, t->bytes = bytes, t->pitch = pitch, t->slice = bytes;
    t->width = (uint32_t)width, t->rows = (uint32_t)rows, t->planes = t->faces = 1;
    return cudaSuccess;
}

static cudaError_t bind_resource(const struct cudaResourceDesc *r, exec_texture *t) {
    switch (r->resType) {
    case cudaResourceTypeArray: return bind_array(r->res.array.array, t);
    case cudaResourceTypeLinear: {
        uint64_t element = rt_element_bytes(&r->res.linear.desc);
        size_t n = element ? r->res.linear.sizeInBytes / element : 1;
        return bind_memory(r->res.linear.devPtr, &r->res.linear.desc, n, 1, n * element, t);
    }
    case cudaResourceTypePitch2D:
        return bind_memory(r->res.pitch2D.devPtr, &r->res.pitch2D.desc, r->res.pitch2D.width, r->res.pitch2D.height,
                           r->res.pitch2D.pitchInBytes, t);
    case cudaResourceTypeMipmappedArray: return bind_mipmap(r->res.mipmap.mipmap, t);
    default: rt_say("%d is not a cudaResourceType", (int)r->resType); return cudaErrorInvalidValue;
    }
}

/* --- how it is read ------------------------------------------------------------------------------------------------
 */

static cudaError_t set_reading(const struct cudaTextureDesc *d, exec_texture *t) {
    bool fractions = d->readMode == cudaReadModeNormalizedFloat, whole = t->kind != EXEC_FLOAT;
    for (int k = 0; k < 3; k++)
        if ((unsigned)d->addressMode[k] > cudaAddressModeBorder) {
            rt_say("addressMode[%d] is %d, which is not a cudaTextureAddressMode; begin with a cudaTextureDesc of "
                   "zeros",
                   k, (int)d->addressMode[k]);
            return cudaErrorInvalidValue;
        }
    if (d->filterMode == cudaFilterModeLinear && whole && !(fractions && t->bits < 32)) {
        rt_say("linear filtering gives floats, and the texture is read as integers of %u bits; use "
               "cudaReadModeNormalizedFloat (8 and 16 bits), cudaFilterModePoint, or floats",
               t->bits);
        return cudaErrorInvalidFilterSetting;
    }
    if (d->seamlessCubemap && t->faces == 6 && d->filterMode == cudaFilterModeLinear) {
        rt_say("seamlessCubemap, filtering across the edges of a cube, is not supported; set it to 0");
        return cudaErrorNotSupported;
    }
    if (fractions && (!whole || t->bits == 32)) {
        rt_say("cudaReadModeNormalizedFloat is for integers of 8 and 16 bits; use cudaReadModeElementType");
        return cudaErrorInvalidNormSetting;
    }
    for (int k = 0; k < 3; k++) t->mode[k] = (enum exec_address)d->addressMode[k];
    t->linear = d->filterMode == cudaFilterModeLinear;
    t->normalized = d->normalizedCoords != 0 || t->levels; /* as on a card, which takes no others for levels */
    t->unit = fractions;
    t->srgb = d->sRGB && t->kind == EXEC_UNSIGNED && t->bits == 8;
    memcpy(t->border, d->borderColor, sizeof t->border);
    t->between = d->mipmapFilterMode == cudaFilterModeLinear;
    t->bias = d->mipmapLevelBias, t->least = d->minMipmapLevelClamp, t->most = d->maxMipmapLevelClamp;
    return cudaSuccess;
}

/* --- objects -------------------------------------------------------------------------------------------------------
 */

static cudaError_t object_new(unsigned long long *object, const struct cudaResourceDesc *r,
                              const struct cudaTextureDesc *d) {
    exec_texture t = {.surface = !d};
    if (!object || !r) return cudaErrorInvalidValue;
    cudaError_t e = bind_resource(r, &t);
    if (e == cudaSuccess && d) e = set_reading(d, &t);
    if (e != cudaSuccess) return e;
    struct device *v = rt_device;
    if ((v->ntextures & (v->ntextures - 1)) == 0) {
        rt_texture *more = realloc(v->textures, (v->ntextures ? 2 * v->ntextures : 1) * sizeof *more);
        if (!more) return cudaErrorMemoryAllocation;
        v->textures = more;
    }
    time_charge(HOST_SUBMITS, time_profile_get()->host_other_ns);
    rt_texture *made = &v->textures[v->ntextures++];
    *made = (rt_texture){.handle = exec_texture_new(v->exec, &t), .resource = *r};
    if (d) made->texture = *d;
    *object = made->handle;
    return cudaSuccess;
}

static rt_texture *find(unsigned long long handle, bool surface) {
    const exec_texture *t = exec_texture_find(rt_device->exec, handle);
    for (size_t k = rt_device->ntextures; t && t->surface == surface && k-- > 0;)
        if (rt_device->textures[k].handle == handle) return &rt_device->textures[k];
    rt_say("this is not a live %s object", surface ? "surface" : "texture");
    return NULL;
}

/* As on an H200, the end of no object is no error. */
static void object_end(unsigned long long handle, bool surface) {
    rt_texture *t = handle ? find(handle, surface) : NULL;
    if (!t) return;
    exec_texture_end(rt_device->exec, handle);
    *t = rt_device->textures[--rt_device->ntextures];
}

void rt_textures_clear(void) {
    free(rt_device->textures);
    rt_device->textures = NULL;
    rt_device->ntextures = 0;
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t *object, const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *texture, const struct cudaResourceViewDesc *view) {
    RT_BEGIN;
    if (!texture) return rt_end(cudaErrorInvalidValue);
    if (view && view->format != cudaResViewFormatNone) {
        rt_say("views of a texture in another format are not supported; pass NULL");
        return rt_end(cudaErrorNotSupported);
    }
    return rt_end(object_new(object, resource, texture));
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
    RT_BEGIN;
    object_end(object, false);
    return rt_end(cudaSuccess);
}
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource, cudaTextureObject_t object) {
    RT_BEGIN;
    const rt_texture *t = find(object, false);
    if (t && resource) *resource = t->resource;
    return rt_end(t && resource ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *texture, cudaTextureObject_t object) {
    RT_BEGIN;
    const rt_texture *t = find(object, false);
    if (t && texture) *texture = t->texture;
    return rt_end(t && texture ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *object, const struct cudaResourceDesc *resource) {
    RT_BEGIN;
    if (resource && resource->resType != cudaResourceTypeArray) {
        rt_say("a surface object needs an array (cudaResourceTypeArray)");
        return rt_end(cudaErrorInvalidValue);
    }
    return rt_end(object_new(object, resource, NULL));
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
    RT_BEGIN;
    object_end(object, true);
    return rt_end(cudaSuccess);
}
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource, cudaSurfaceObject_t object) {
    RT_BEGIN;
    const rt_texture *t = find(object, true);
    if (t && resource) *resource = t->resource;
    return rt_end(t && resource ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *width, const struct cudaChannelFormatDesc *desc, int device) {
    RT_BEGIN;
    if (!width || !desc || !rt_element_bytes(desc) || device) return rt_end(cudaErrorInvalidValue);
    *width = (size_t)1 << 30;
    return rt_end(cudaSuccess);
}

/* --- texture and surface references (include/cuda_texture_types.h, cuda_surface_types.h)
 * -------------------------------------------------------------
 */

/* What the host's variable begins with; the header has the whole. */
struct textureReference {
    int normalized;
    enum cudaTextureFilterMode filter;
    enum cudaTextureAddressMode address[3];
    struct cudaChannelFormatDesc desc;
    int srgb;
    unsigned anisotropy;
    enum cudaTextureFilterMode between;
    float bias, least, most;
};

/* Makes *r fit for an object: memory from an aligned address on (*offset: how far before the pointer), up to the end of
 * its allocation if the program gave no size. */
static void fit(struct cudaResourceDesc *r, size_t *offset) {
    bool rows = r->resType == cudaResourceTypePitch2D;
    if (!rows && r->resType != cudaResourceTypeLinear) return;
    void **p = rows ? &r->res.pitch2D.devPtr : &r->res.linear.devPtr;
    uint64_t at = (uint64_t)(uintptr_t)*p, behind = at % BASE_ALIGN;
    if (offset) {
        *offset = behind;
        *p = (void *)(uintptr_t)(at - behind);
    }
    if (rows) return;
    if (r->res.linear.sizeInBytes == UINT_MAX) {
        struct simgpu_address a = exec_mem_locate(rt_device->exec, at);
        r->res.linear.sizeInBytes = a.base + a.bytes - at;
    }
    if (offset) r->res.linear.sizeInBytes += behind;
}

cudaError_t simgpuBindTexture(size_t *offset, const struct textureReference *reference, struct cudaResourceDesc *r,
                              int fractions, const char *file, int line);
cudaError_t simgpuBindTexture(size_t *offset, const struct textureReference *reference, struct cudaResourceDesc *r,
                              int fractions, const char *file, int line) {
    rt_at(file, line);
    cudaError_t e = rt_begin(r ? "cudaBindTexture" : "cudaUnbindTexture");
    if (e != cudaSuccess) return rt_end(e);
    uint64_t address;
    unsigned long long object = 0;
    if (!rt_symbol_find(reference, &address, &e)) return rt_end(cudaErrorInvalidTexture);
    uint64_t bound = exec_texture_bound(rt_device->exec, address, UINT64_MAX);
    if (r) {
        struct cudaTextureDesc d = {.filterMode = reference->filter,
                                    .readMode = fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
                                    .sRGB = reference->srgb,
                                    .normalizedCoords = reference->normalized,
                                    .mipmapFilterMode = reference->between,
                                    .mipmapLevelBias = reference->bias,
                                    .minMipmapLevelClamp = reference->least,
                                    .maxMipmapLevelClamp = reference->most};
        memcpy(d.addressMode, reference->address, sizeof d.addressMode);
        fit(r, offset);
        e = object_new(&object, r, &d);
        if (e != cudaSuccess) return rt_end(e);
    }
    exec_texture_bind(rt_device->exec, address, object);
    if (bound) object_end(bound, false);
    return rt_end(cudaSuccess);
}

cudaError_t simgpuBindSurface(const void *reference, cudaArray_const_t array, const char *file, int line);
cudaError_t simgpuBindSurface(const void *reference, cudaArray_const_t array, const char *file, int line) {
    rt_at(file, line);
    cudaError_t e = rt_begin("cudaBindSurfaceToArray");
    if (e != cudaSuccess) return rt_end(e);
    uint64_t address;
    unsigned long long object = 0;
    if (!rt_symbol_find(reference, &address, &e)) return rt_end(cudaErrorInvalidSurface);
    const struct cudaResourceDesc r = {.resType = cudaResourceTypeArray, .res.array.array = (cudaArray_t)array};
    e = object_new(&object, &r, NULL);
    if (e != cudaSuccess) return rt_end(e);
    uint64_t bound = exec_texture_bound(rt_device->exec, address, UINT64_MAX);
    exec_texture_bind(rt_device->exec, address, object);
    if (bound) object_end(bound, true);
    return rt_end(cudaSuccess);
}

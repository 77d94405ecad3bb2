/* texture.c — arrays, textures and surfaces. A CUarray is a cudaArray_t, and an object is the runtime's; this file
 * translates their descriptions. */
#include "driver.h"

#include <string.h>

static cudaArray_t array_of(CUarray array) { return (cudaArray_t)array; }

/* --- formats ------------------------------------------------------------------------------------------------ */

static const struct {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {{CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
               {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
               {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
               {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat}};
enum { FORMATS = sizeof formats / sizeof *formats };

static CUresult channels_of(CUarray_format format, unsigned channels, struct cudaChannelFormatDesc *d) {
    if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
    for (size_t k = 0; k < FORMATS; k++) {
        if (formats[k].format != format) continue;
        const int n = formats[k].bits;
        *d = (struct cudaChannelFormatDesc){n, channels > 1 ? n : 0, channels > 2 ? n : 0, channels > 2 ? n : 0,
                                            formats[k].kind};
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static void format_of(const struct cudaChannelFormatDesc *d, CUarray_format *format, unsigned *channels) {
    *channels = 1u + (d->y > 0) + (d->z > 0) + (d->w > 0);
    for (size_t k = 0; k < FORMATS; k++)
        if (formats[k].bits == d->x && formats[k].kind == d->f) *format = formats[k].format;
}

/* --- arrays ------------------------------------------------------------------------------------------------- */

static CUresult format_for(const char *name, const void *array, const CUDA_ARRAY3D_DESCRIPTOR *d,
                           struct cudaChannelFormatDesc *channels) {
    CUresult e = drv_needs_context(name);
    if (e != CUDA_SUCCESS) return e;
    if (!array || !d) return CUDA_ERROR_INVALID_VALUE;
    return channels_of(d->Format, d->NumChannels, channels);
}
static CUresult create_array(const char *name, CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct cudaChannelFormatDesc channels;
    CUresult e = format_for(name, array, d, &channels);
    if (e != CUDA_SUCCESS) return e;
    const struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    rt_call_as(name);
    return drv_code(cudaMalloc3DArray((cudaArray_t *)array, &channels, extent, d->Flags));
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned levels) {
    struct cudaChannelFormatDesc channels;
    CUresult e = format_for("cuMipmappedArrayCreate", array, d, &channels);
    if (e != CUDA_SUCCESS) return e;
    const struct cudaExtent extent = {d->Width, d->Height, d->Depth};
    return AS(cuMipmappedArrayCreate,
              cudaMallocMipmappedArray((cudaMipmappedArray_t *)array, &channels, extent, levels, d->Flags));
}
CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned level) {
    NEEDS_HANDLE(cuMipmappedArrayGetLevel, mipmap);
    return AS(cuMipmappedArrayGetLevel,
              cudaGetMipmappedArrayLevel((cudaArray_t *)array, (cudaMipmappedArray_const_t)mipmap, level));
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    NEEDS_HANDLE(cuMipmappedArrayDestroy, array);
    return array ? AS(cuMipmappedArrayDestroy, cudaFreeMipmappedArray((cudaMipmappedArray_t)array))
                 : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    return create_array("cuArray3DCreate", array, descriptor);
}
CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d) {
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY3D_DESCRIPTOR all = {d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
    return create_array("cuArrayCreate", array, &all);
}
CUresult cuArrayDestroy(CUarray array) {
    NEEDS_HANDLE(cuArrayDestroy, array);
    return array ? AS(cuArrayDestroy, cudaFreeArray(array_of(array))) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray array) {
    struct cudaChannelFormatDesc channels;
    struct cudaExtent extent;
    unsigned flags;
    NEEDS_HANDLE(cuArray3DGetDescriptor, array);
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = AS(cuArray3DGetDescriptor, cudaArrayGetInfo(&channels, &extent, &flags, array_of(array)));
    if (e != CUDA_SUCCESS) return e;
    *d = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    format_of(&channels, &d->Format, &d->NumChannels);
    return CUDA_SUCCESS;
}
CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *d, CUarray array) {
    CUDA_ARRAY3D_DESCRIPTOR all;
    if (!d) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cuArray3DGetDescriptor_v2(&all, array);
    if (e == CUDA_SUCCESS) *d = (CUDA_ARRAY_DESCRIPTOR){all.Width, all.Height, all.Format, all.NumChannels};
    return e;
}

CUresult drv_texel_bytes(CUarray array, size_t *bytes) {
    struct cudaChannelFormatDesc d;
    CUresult e = AS(cuArrayGetDescriptor, cudaArrayGetInfo(&d, NULL, NULL, array_of(array)));
    if (e == CUDA_SUCCESS) *bytes = (size_t)(d.x + d.y + d.z + d.w) / 8;
    return e;
}

/* --- textures and surfaces ---------------------------------------------------------------------------------- */

static CUresult resource_of(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *r) {
    memset(r, 0, sizeof *r);
    if (!from) return CUDA_ERROR_INVALID_VALUE;
    r->resType = (enum cudaResourceType)from->resType;
    switch (from->resType) {
    case CU_RESOURCE_TYPE_ARRAY: r->res.array.array = array_of(from->res.array.hArray); return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        r->res.mipmap.mipmap = (cudaMipmappedArray_t)from->res.mipmap.hMipmappedArray;
        return CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        r->res.linear.devPtr = (void *)(uintptr_t)from->res.linear.devPtr;
        r->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return channels_of(from->res.linear.format, from->res.linear.numChannels, &r->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
        r->res.pitch2D.devPtr = (void *)(uintptr_t)from->res.pitch2D.devPtr;
        r->res.pitch2D.width = from->res.pitch2D.width;
        r->res.pitch2D.height = from->res.pitch2D.height;
        r->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return channels_of(from->res.pitch2D.format, from->res.pitch2D.numChannels, &r->res.pitch2D.desc);
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static void describe_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *r) {
    memset(r, 0, sizeof *r);
    r->resType = (CUresourcetype)from->resType;
    switch (from->resType) {
    case cudaResourceTypeArray: r->res.array.hArray = (CUarray)from->res.array.array; break;
    case cudaResourceTypeMipmappedArray:
        r->res.mipmap.hMipmappedArray = (CUmipmappedArray)from->res.mipmap.mipmap;
        break;
    case cudaResourceTypeLinear:
        r->res.linear.devPtr = (uintptr_t)from->res.linear.devPtr;
        r->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        format_of(&from->res.linear.desc, &r->res.linear.format, &r->res.linear.numChannels);
        break;
    case cudaResourceTypePitch2D:
        r->res.pitch2D.devPtr = (uintptr_t)from->res.pitch2D.devPtr;
        r->res.pitch2D.width = from->res.pitch2D.width;
        r->res.pitch2D.height = from->res.pitch2D.height;
        r->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        format_of(&from->res.pitch2D.desc, &r->res.pitch2D.format, &r->res.pitch2D.numChannels);
        break;
    }
}

/* Returns whether the texels are integers of 8 or 16 bits, which a texture reads as floats unless it is told not to. */
static bool reads_as_float(const struct cudaResourceDesc *r) {
    struct cudaChannelFormatDesc d = {0};
    cudaArray_t array = r->resType == cudaResourceTypeArray ? r->res.array.array : NULL;
    if (r->resType == cudaResourceTypeMipmappedArray) {
        rt_call_as("cuTexObjectCreate");
        if (cudaGetMipmappedArrayLevel(&array, r->res.mipmap.mipmap, 0) != cudaSuccess) return false;
    }
    if (array) {
        rt_call_as("cuTexObjectCreate");
        if (cudaArrayGetInfo(&d, NULL, NULL, array) != cudaSuccess) return false;
    } else {
        d = r->resType == cudaResourceTypeLinear ? r->res.linear.desc : r->res.pitch2D.desc;
    }
    return d.f != cudaChannelFormatKindFloat && d.x < 32;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const void *view) {
    struct cudaResourceDesc r;
    NEEDS_CONTEXT(cuTexObjectCreate);
    if (!object || !texture) return CUDA_ERROR_INVALID_VALUE;
    if (view) return drv_unsupported("cuTexObjectCreate with a view");
    CUresult e = resource_of(resource, &r);
    if (e != CUDA_SUCCESS) return e;
    const bool integers = texture->flags & CU_TRSF_READ_AS_INTEGER || !reads_as_float(&r);
    struct cudaTextureDesc t = {
        .filterMode = (enum cudaTextureFilterMode)texture->filterMode,
        .readMode = integers ? cudaReadModeElementType : cudaReadModeNormalizedFloat,
        .sRGB = (texture->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (texture->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = texture->maxAnisotropy,
        .mipmapFilterMode = (enum cudaTextureFilterMode)texture->mipmapFilterMode,
        .mipmapLevelBias = texture->mipmapLevelBias,
        .minMipmapLevelClamp = texture->minMipmapLevelClamp,
        .maxMipmapLevelClamp = texture->maxMipmapLevelClamp,
    };
    for (int k = 0; k < 3; k++) t.addressMode[k] = (enum cudaTextureAddressMode)texture->addressMode[k];
    memcpy(t.borderColor, texture->borderColor, sizeof t.borderColor);
    return AS(cuTexObjectCreate, cudaCreateTextureObject(object, &r, &t, NULL));
}
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject object) {
    struct cudaResourceDesc r;
    NEEDS_CONTEXT(cuTexObjectGetResourceDesc);
    if (!resource) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = AS(cuTexObjectGetResourceDesc, cudaGetTextureObjectResourceDesc(&r, object));
    if (e == CUDA_SUCCESS) describe_resource(&r, resource);
    return e;
}
CUresult cuTexObjectDestroy(CUtexObject object) {
    NEEDS_CONTEXT(cuTexObjectDestroy);
    return AS(cuTexObjectDestroy, cudaDestroyTextureObject(object));
}

CUresult cuSurfObjectCreate(CUsurfObject *object, const CUDA_RESOURCE_DESC *resource) {
    struct cudaResourceDesc r;
    NEEDS_CONTEXT(cuSurfObjectCreate);
    if (!object) return CUDA_ERROR_INVALID_VALUE;
    CUresult e = resource_of(resource, &r);
    return e != CUDA_SUCCESS ? e : AS(cuSurfObjectCreate, cudaCreateSurfaceObject(object, &r));
}
CUresult cuSurfObjectDestroy(CUsurfObject object) {
    NEEDS_CONTEXT(cuSurfObjectDestroy);
    return AS(cuSurfObjectDestroy, cudaDestroySurfaceObject(object));
}

/* texture_types.h — texture objects: what they are bound to, and how they are read. CUDA's numbers and layouts. */
#ifndef SIMGPU_TEXTURE_TYPES_H
#define SIMGPU_TEXTURE_TYPES_H

#define cudaTextureType1D             0x01
#define cudaTextureType2D             0x02
#define cudaTextureType3D             0x03
#define cudaTextureTypeCubemap        0x0C
#define cudaTextureType1DLayered      0xF1
#define cudaTextureType2DLayered      0xF2
#define cudaTextureTypeCubemapLayered 0xFC

enum cudaTextureAddressMode {
    cudaAddressModeWrap = 0,
    cudaAddressModeClamp = 1,
    cudaAddressModeMirror = 2,
    cudaAddressModeBorder = 3,
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };

struct cudaTextureDesc {
    enum cudaTextureAddressMode addressMode[3];
    enum cudaTextureFilterMode filterMode;
    enum cudaTextureReadMode readMode;
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned int maxAnisotropy; /* this field and the five behind it choose nothing in a texture of one level */
    enum cudaTextureFilterMode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

enum cudaResourceType {
    cudaResourceTypeArray = 0,
    cudaResourceTypeMipmappedArray = 1,
    cudaResourceTypeLinear = 2,
    cudaResourceTypePitch2D = 3,
};
struct cudaResourceDesc {
    enum cudaResourceType resType;
    union {
        struct {
            cudaArray_t array;
        } array;
        struct {
            cudaMipmappedArray_t mipmap;
        } mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes; /* texels, rows, bytes */
        } pitch2D;
    } res;
};

enum cudaResourceViewFormat { /* the only one that a texture object may have here is the first */
                              cudaResViewFormatNone = 0,
                              cudaResViewFormatUnsignedChar1 = 1,
                              cudaResViewFormatUnsignedChar2 = 2,
                              cudaResViewFormatUnsignedChar4 = 3,
                              cudaResViewFormatSignedChar1 = 4,
                              cudaResViewFormatSignedChar2 = 5,
                              cudaResViewFormatSignedChar4 = 6,
                              cudaResViewFormatUnsignedShort1 = 7,
                              cudaResViewFormatUnsignedShort2 = 8,
                              cudaResViewFormatUnsignedShort4 = 9,
                              cudaResViewFormatSignedShort1 = 10,
                              cudaResViewFormatSignedShort2 = 11,
                              cudaResViewFormatSignedShort4 = 12,
                              cudaResViewFormatUnsignedInt1 = 13,
                              cudaResViewFormatUnsignedInt2 = 14,
                              cudaResViewFormatUnsignedInt4 = 15,
                              cudaResViewFormatSignedInt1 = 16,
                              cudaResViewFormatSignedInt2 = 17,
                              cudaResViewFormatSignedInt4 = 18,
                              cudaResViewFormatHalf1 = 19,
                              cudaResViewFormatHalf2 = 20,
                              cudaResViewFormatHalf4 = 21,
                              cudaResViewFormatFloat1 = 22,
                              cudaResViewFormatFloat2 = 23,
                              cudaResViewFormatFloat4 = 24,
};
struct cudaResourceViewDesc {
    enum cudaResourceViewFormat format;
    size_t width, height, depth;
    unsigned int firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};

typedef unsigned long long cudaTextureObject_t;

#endif

/* texture_fetch_functions.h — the device functions that read through a texture reference (cuda_texture_types.h):
 * tex2D(reference, x, y) and so on. Each reads through the reference's handle as texture_indirect_functions.h reads
 * through an object. */
#ifndef SIMGPU_TEXTURE_FETCH_FUNCTIONS_H
#define SIMGPU_TEXTURE_FETCH_FUNCTIONS_H

#include "cuda_texture_types.h"

#if defined(__CUDA__)

/* What a read of T gives: T, or floats of as many channels. */
template <class T, enum cudaTextureReadMode mode> struct simgpuRead { typedef T type; };
#define SIMGPU_FRACTION(T, F)                                                                                          \
    template <> struct simgpuRead<T, cudaReadModeNormalizedFloat> { typedef F type; };
#define SIMGPU_FRACTIONS(T, V)                                                                                         \
    SIMGPU_FRACTION(T, float)                                                                                          \
    SIMGPU_FRACTION(V##1, float1) SIMGPU_FRACTION(V##2, float2) SIMGPU_FRACTION(V##4, float4)
SIMGPU_FRACTION(char, float)
SIMGPU_FRACTIONS(signed char, char)
SIMGPU_FRACTIONS(unsigned char, uchar)
SIMGPU_FRACTIONS(short, short)
SIMGPU_FRACTIONS(unsigned short, ushort)
#undef SIMGPU_FRACTIONS
#undef SIMGPU_FRACTION

/* For the compiler's back end a reference is its handle, of 64 bits. Nothing in the language makes a number of it; an
 * intrinsic of the back end does, and it is its own inverse. */
template <class T, int type, enum cudaTextureReadMode mode>
__device__ unsigned long long simgpuSwapped(texture<T, type, mode> reference) __asm__("llvm.bswap.i64");
template <class T, int type, enum cudaTextureReadMode mode>
static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ cudaTextureObject_t
simgpuHandle(texture<T, type, mode> reference) {
    return __builtin_bswap64(simgpuSwapped(reference));
}

#define SIMGPU_LIST(...) __VA_ARGS__
#define SIMGPU_FETCH(name, kind, parameters, ...)                                                                      \
    template <class T, enum cudaTextureReadMode mode>                                                                  \
    static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ typename simgpuRead<T, mode>::type    \
    name(texture<T, kind, mode> reference, parameters) {                                                               \
        return name<typename simgpuRead<T, mode>::type>(simgpuHandle(reference), __VA_ARGS__);                         \
    }
SIMGPU_FETCH(tex1Dfetch, cudaTextureType1D, int x, x)
SIMGPU_FETCH(tex1D, cudaTextureType1D, float x, x)
SIMGPU_FETCH(tex2D, cudaTextureType2D, SIMGPU_LIST(float x, float y), x, y)
SIMGPU_FETCH(tex3D, cudaTextureType3D, SIMGPU_LIST(float x, float y, float z), x, y, z)
SIMGPU_FETCH(tex1DLayered, cudaTextureType1DLayered, SIMGPU_LIST(float x, int layer), x, layer)
SIMGPU_FETCH(tex2DLayered, cudaTextureType2DLayered, SIMGPU_LIST(float x, float y, int layer), x, y, layer)
SIMGPU_FETCH(texCubemap, cudaTextureTypeCubemap, SIMGPU_LIST(float x, float y, float z), x, y, z)
SIMGPU_FETCH(tex2DLod, cudaTextureType2D, SIMGPU_LIST(float x, float y, float level), x, y, level)
#undef SIMGPU_FETCH
#undef SIMGPU_LIST

#endif
#endif

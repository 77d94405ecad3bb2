/* channel_descriptor.h — cudaCreateChannelDesc<T>(), the description of an array's elements of type T. */
#ifndef SIMGPU_CHANNEL_DESCRIPTOR_H
#define SIMGPU_CHANNEL_DESCRIPTOR_H

#include "cuda_runtime_api.h"

#if defined(__cplusplus)
template <class T> inline cudaChannelFormatDesc cudaCreateChannelDesc() {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define SIMGPU_DESC(T, bits, n, kind)                                                                                  \
    template <> inline cudaChannelFormatDesc cudaCreateChannelDesc<T>() {                                              \
        return cudaCreateChannelDesc(bits, n > 1 ? bits : 0, n > 2 ? bits : 0, n > 3 ? bits : 0,                       \
                                     cudaChannelFormatKind##kind);                                                     \
    }
#define SIMGPU_DESCS(T, V, bits, kind)                                                                                 \
    SIMGPU_DESC(T, bits, 1, kind)                                                                                      \
    SIMGPU_DESC(V##1, bits, 1, kind)                                                                                   \
    SIMGPU_DESC(V##2, bits, 2, kind)                                                                                   \
    SIMGPU_DESC(V##3, bits, 3, kind)                                                                                   \
    SIMGPU_DESC(V##4, bits, 4, kind)
SIMGPU_DESC(char, 8, 1, Signed)
SIMGPU_DESCS(signed char, char, 8, Signed)
SIMGPU_DESCS(unsigned char, uchar, 8, Unsigned)
SIMGPU_DESCS(short, short, 16, Signed)
SIMGPU_DESCS(unsigned short, ushort, 16, Unsigned)
SIMGPU_DESCS(int, int, 32, Signed)
SIMGPU_DESCS(unsigned int, uint, 32, Unsigned)
SIMGPU_DESCS(float, float, 32, Float)
#undef SIMGPU_DESCS
#undef SIMGPU_DESC

inline cudaChannelFormatDesc cudaCreateChannelDescHalf() {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf1() { return cudaCreateChannelDescHalf(); }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() {
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}
#endif

#endif

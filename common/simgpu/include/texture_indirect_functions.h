/* texture_indirect_functions.h — the device functions that read through a texture object: tex1Dfetch, tex1D, tex2D,
 * tex3D, layers, cubes, gather. Included by cuda_runtime.h.
 *
 * Each exists in two forms, T v = tex2D<T>(object, x, y) and tex2D(&v, object, x, y). The reads are PTX. They give
 * four channels of 32 bits, of which simgpuTexel<T> makes a T. The forms with Lod and Grad choose the level of a
 * mipmapped array. */
#ifndef SIMGPU_TEXTURE_INDIRECT_FUNCTIONS_H
#define SIMGPU_TEXTURE_INDIRECT_FUNCTIONS_H

#if defined(__CUDA__)

/* The types that a texture may be read as; a float's bits come back unchanged. */
template <class T> struct simgpuTexel;
#define SIMGPU_TEXEL(T, value)                                                                                         \
    template <> struct simgpuTexel<T> {                                                                                \
        static __device__ __inline__ __attribute__((always_inline)) T of(uint4 v) { return value; }                    \
    };
#define SIMGPU_TEXELS(T, V)                                                                                            \
    SIMGPU_TEXEL(T, (T)v.x)                                                                                            \
    SIMGPU_TEXEL(V##1, make_##V##1((T)v.x))                                                                            \
    SIMGPU_TEXEL(V##2, make_##V##2((T)v.x, (T)v.y))                                                                    \
    SIMGPU_TEXEL(V##4, make_##V##4((T)v.x, (T)v.y, (T)v.z, (T)v.w))
SIMGPU_TEXEL(char, (char)v.x)
SIMGPU_TEXELS(signed char, char)
SIMGPU_TEXELS(unsigned char, uchar)
SIMGPU_TEXELS(short, short)
SIMGPU_TEXELS(unsigned short, ushort)
SIMGPU_TEXELS(int, int)
SIMGPU_TEXELS(unsigned int, uint)
#define SIMGPU_BITS(part) __builtin_bit_cast(float, v.part)
SIMGPU_TEXEL(float, SIMGPU_BITS(x))
SIMGPU_TEXEL(float1, make_float1(SIMGPU_BITS(x)))
SIMGPU_TEXEL(float2, make_float2(SIMGPU_BITS(x), SIMGPU_BITS(y)))
SIMGPU_TEXEL(float4, make_float4(SIMGPU_BITS(x), SIMGPU_BITS(y), SIMGPU_BITS(z), SIMGPU_BITS(w)))
#undef SIMGPU_BITS
#undef SIMGPU_TEXELS
#undef SIMGPU_TEXEL

/* The asm exists in device code only: the host's compiler would not know its registers. */
#if defined(__CUDA_ARCH__)
#define SIMGPU_TEXTURE_READ(instruction, coordinates, behind, ...)                                                     \
    uint4 v;                                                                                                           \
    asm(instruction " {%0, %1, %2, %3}, [%4, " coordinates "]" behind ";"                                              \
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)                                                                   \
        : "l"(object), __VA_ARGS__);                                                                                   \
    return simgpuTexel<T>::of(v);
#else
#define SIMGPU_TEXTURE_READ(instruction, coordinates, behind, ...) return T();
#endif

#define SIMGPU_LIST(...) __VA_ARGS__
/* Both forms of one function. behind: what follows the place; names: the parameters without their types; inputs: of the
 * asm. */
#define SIMGPU_TEXTURE(name, instruction, coordinates, parameters, names, inputs)                                      \
    SIMGPU_TEXTURE_AT(name, instruction, coordinates, "", SIMGPU_LIST(parameters), SIMGPU_LIST(names),                 \
                      SIMGPU_LIST(inputs))
#define SIMGPU_TEXTURE_AT(name, instruction, coordinates, behind, parameters, names, inputs)                           \
    template <class T>                                                                                                 \
    static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ T name(cudaTextureObject_t object,    \
                                                                                        parameters) {                  \
        SIMGPU_TEXTURE_READ(instruction, coordinates, behind, inputs)                                                  \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ void name(                            \
        T *to, cudaTextureObject_t object, parameters) {                                                               \
        *to = name<T>(object, names);                                                                                  \
    }

#define SIMGPU_X   "f"(x)
#define SIMGPU_XY  "f"(x), "f"(y)
#define SIMGPU_XYZ "f"(x), "f"(y), "f"(z)
SIMGPU_TEXTURE(tex1Dfetch, "tex.1d.v4.u32.s32", "{%5}", SIMGPU_LIST(int x), x, "r"(x))
SIMGPU_TEXTURE(tex1D, "tex.1d.v4.u32.f32", "{%5}", SIMGPU_LIST(float x), x, SIMGPU_X)
SIMGPU_TEXTURE(tex2D, "tex.2d.v4.u32.f32", "{%5, %6}", SIMGPU_LIST(float x, float y), SIMGPU_LIST(x, y),
               SIMGPU_LIST(SIMGPU_XY))
SIMGPU_TEXTURE(tex3D, "tex.3d.v4.u32.f32", "{%5, %6, %7, %7}", SIMGPU_LIST(float x, float y, float z),
               SIMGPU_LIST(x, y, z), SIMGPU_LIST(SIMGPU_XYZ))
SIMGPU_TEXTURE(tex1DLayered, "tex.a1d.v4.u32.f32", "{%6, %5}", SIMGPU_LIST(float x, int layer), SIMGPU_LIST(x, layer),
               SIMGPU_LIST(SIMGPU_X, "r"(layer)))
SIMGPU_TEXTURE(tex2DLayered, "tex.a2d.v4.u32.f32", "{%7, %5, %6, %6}", SIMGPU_LIST(float x, float y, int layer),
               SIMGPU_LIST(x, y, layer), SIMGPU_LIST(SIMGPU_XY, "r"(layer)))
SIMGPU_TEXTURE(texCubemap, "tex.cube.v4.u32.f32", "{%5, %6, %7, %7}", SIMGPU_LIST(float x, float y, float z),
               SIMGPU_LIST(x, y, z), SIMGPU_LIST(SIMGPU_XYZ))
SIMGPU_TEXTURE(texCubemapLayered, "tex.acube.v4.u32.f32", "{%8, %5, %6, %7}",
               SIMGPU_LIST(float x, float y, float z, int layer), SIMGPU_LIST(x, y, z, layer),
               SIMGPU_LIST(SIMGPU_XYZ, "r"(layer)))

/* The level, or the gradients that choose it. */
#define SIMGPU_LEVEL(name, geometry, coordinates, behind, parameters, names, inputs)                                   \
    SIMGPU_TEXTURE_AT(name##Lod, "tex.level." geometry ".v4.u32.f32", coordinates, behind,                             \
                      SIMGPU_LIST(parameters, float level), SIMGPU_LIST(names, level),                                 \
                      SIMGPU_LIST(inputs, "f"(level)))
#define SIMGPU_GRADIENT(name, geometry, coordinates, behind, parameters, names, inputs, gradient, gradients)           \
    SIMGPU_TEXTURE_AT(name##Grad, "tex.grad." geometry ".v4.u32.f32", coordinates, behind,                             \
                      SIMGPU_LIST(parameters, gradient dx, gradient dy), SIMGPU_LIST(names, dx, dy),                   \
                      SIMGPU_LIST(inputs, gradients))
#define SIMGPU_D1 "f"(dx), "f"(dy)
#define SIMGPU_D2 "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)
#define SIMGPU_D3 "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)
#define SIMGPU_LEVELS(name, geometry, coordinates, level, grad, parameters, names, inputs, gradient, gradients)        \
    SIMGPU_LEVEL(name, geometry, coordinates, level, SIMGPU_LIST(parameters), SIMGPU_LIST(names), SIMGPU_LIST(inputs)) \
    SIMGPU_GRADIENT(name, geometry, coordinates, grad, SIMGPU_LIST(parameters), SIMGPU_LIST(names),                    \
                    SIMGPU_LIST(inputs), gradient, SIMGPU_LIST(gradients))
SIMGPU_LEVELS(tex1D, "1d", "{%5}", ", %6", ", {%6}, {%7}", float x, x, SIMGPU_X, float, SIMGPU_LIST(SIMGPU_D1))
SIMGPU_LEVELS(tex2D, "2d", "{%5, %6}", ", %7", ", {%7, %8}, {%9, %10}", SIMGPU_LIST(float x, float y),
              SIMGPU_LIST(x, y), SIMGPU_LIST(SIMGPU_XY), float2, SIMGPU_LIST(SIMGPU_D2))
SIMGPU_LEVELS(tex3D, "3d", "{%5, %6, %7, %7}", ", %8", ", {%8, %9, %10, %10}, {%11, %12, %13, %13}",
              SIMGPU_LIST(float x, float y, float z), SIMGPU_LIST(x, y, z), SIMGPU_LIST(SIMGPU_XYZ), float4,
              SIMGPU_LIST(SIMGPU_D3))
SIMGPU_LEVELS(tex1DLayered, "a1d", "{%6, %5}", ", %7", ", {%7}, {%8}", SIMGPU_LIST(float x, int layer),
              SIMGPU_LIST(x, layer), SIMGPU_LIST(SIMGPU_X, "r"(layer)), float, SIMGPU_LIST(SIMGPU_D1))
SIMGPU_LEVELS(tex2DLayered, "a2d", "{%7, %5, %6, %6}", ", %8", ", {%8, %9}, {%10, %11}",
              SIMGPU_LIST(float x, float y, int layer), SIMGPU_LIST(x, y, layer), SIMGPU_LIST(SIMGPU_XY, "r"(layer)),
              float2, SIMGPU_LIST(SIMGPU_D2))
SIMGPU_LEVELS(texCubemap, "cube", "{%5, %6, %7, %7}", ", %8", ", {%8, %9, %10, %10}, {%11, %12, %13, %13}",
              SIMGPU_LIST(float x, float y, float z), SIMGPU_LIST(x, y, z), SIMGPU_LIST(SIMGPU_XYZ), float4,
              SIMGPU_LIST(SIMGPU_D3))
SIMGPU_LEVELS(texCubemapLayered, "acube", "{%8, %5, %6, %7}", ", %9", ", {%9, %10, %11, %11}, {%12, %13, %14, %14}",
              SIMGPU_LIST(float x, float y, float z, int layer), SIMGPU_LIST(x, y, z, layer),
              SIMGPU_LIST(SIMGPU_XYZ, "r"(layer)), float4, SIMGPU_LIST(SIMGPU_D3))

/* One channel of the four texels around (x, y): of (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j). */
#define SIMGPU_GATHER(name, channel)                                                                                   \
    SIMGPU_TEXTURE(name, "tld4." channel ".2d.v4.u32.f32", "{%5, %6}", SIMGPU_LIST(float x, float y),                  \
                   SIMGPU_LIST(x, y), SIMGPU_LIST(SIMGPU_XY))
SIMGPU_GATHER(simgpuGather0, "r")
SIMGPU_GATHER(simgpuGather1, "g")
SIMGPU_GATHER(simgpuGather2, "b")
SIMGPU_GATHER(simgpuGather3, "a")
template <class T>
static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ T tex2Dgather(cudaTextureObject_t object,
                                                                                           float x, float y,
                                                                                           int channel = 0) {
    return channel == 3   ? simgpuGather3<T>(object, x, y)
           : channel == 2 ? simgpuGather2<T>(object, x, y)
           : channel == 1 ? simgpuGather1<T>(object, x, y)
                          : simgpuGather0<T>(object, x, y);
}
template <class T>
static __inline__ __attribute__((always_inline, nodebug, unused)) __device__ void
tex2Dgather(T *to, cudaTextureObject_t object, float x, float y, int channel = 0) {
    *to = tex2Dgather<T>(object, x, y, channel);
}

#undef SIMGPU_GATHER
#undef SIMGPU_LEVELS
#undef SIMGPU_LEVEL
#undef SIMGPU_GRADIENT
#undef SIMGPU_D1
#undef SIMGPU_D2
#undef SIMGPU_D3
#undef SIMGPU_X
#undef SIMGPU_XY
#undef SIMGPU_XYZ
#undef SIMGPU_TEXTURE
#undef SIMGPU_TEXTURE_AT
#undef SIMGPU_TEXTURE_READ
#undef SIMGPU_LIST

#endif
#endif

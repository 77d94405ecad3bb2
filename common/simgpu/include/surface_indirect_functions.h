/* surface_indirect_functions.h — the device functions that read and write an array through a surface object:
 * surf1Dread, surf2Dwrite, layers, cubes. Included by cuda_runtime.h.
 *
 * x counts bytes, all other coordinates count rows, planes or layers. Reads exist in two forms, surf2Dread<T>(object,
 * x, y) and surf2Dread(&v, object, x, y). T has 1, 2, 4, 8 or 16 bytes. */
#ifndef SIMGPU_SURFACE_INDIRECT_FUNCTIONS_H
#define SIMGPU_SURFACE_INDIRECT_FUNCTIONS_H

#if defined(__CUDA__)

/* The asm exists in device code only: the host's compiler would not know its registers. The value is v[0] to v[3], the
 * operands %0 to %3; %4 is the object. */
#if defined(__CUDA_ARCH__)
#define SIMGPU_LOAD(text, ...)                                                                                         \
    asm volatile(text : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "l"(object), __VA_ARGS__ : "memory")
#define SIMGPU_LOADS(geometry, boundary, at, ...)                                                                      \
    switch (sizeof(T)) {                                                                                               \
    case 1:                                                                                                            \
        SIMGPU_LOAD("{ .reg .b16 h; suld.b." geometry ".b8." boundary " {h}, [%4, " at "]; cvt.u32.u16 %0, h; }",      \
                    __VA_ARGS__);                                                                                      \
        break;                                                                                                         \
    case 2:                                                                                                            \
        SIMGPU_LOAD("{ .reg .b16 h; suld.b." geometry ".b16." boundary " {h}, [%4, " at "]; cvt.u32.u16 %0, h; }",     \
                    __VA_ARGS__);                                                                                      \
        break;                                                                                                         \
    case 4: SIMGPU_LOAD("suld.b." geometry ".b32." boundary " {%0}, [%4, " at "];", __VA_ARGS__); break;               \
    case 8: SIMGPU_LOAD("suld.b." geometry ".v2.b32." boundary " {%0, %1}, [%4, " at "];", __VA_ARGS__); break;        \
    default: SIMGPU_LOAD("suld.b." geometry ".v4.b32." boundary " {%0, %1, %2, %3}, [%4, " at "];", __VA_ARGS__);      \
    }
#define SIMGPU_STORE(text, ...)                                                                                        \
    asm volatile(text ::"r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3]), "l"(object), __VA_ARGS__ : "memory")
#define SIMGPU_STORES(geometry, boundary, at, ...)                                                                     \
    switch (sizeof(T)) {                                                                                               \
    case 1:                                                                                                            \
        SIMGPU_STORE("{ .reg .b16 h; cvt.u16.u32 h, %0; sust.b." geometry ".b8." boundary " [%4, " at "], {h}; }",     \
                     __VA_ARGS__);                                                                                     \
        break;                                                                                                         \
    case 2:                                                                                                            \
        SIMGPU_STORE("{ .reg .b16 h; cvt.u16.u32 h, %0; sust.b." geometry ".b16." boundary " [%4, " at "], {h}; }",    \
                     __VA_ARGS__);                                                                                     \
        break;                                                                                                         \
    case 4: SIMGPU_STORE("sust.b." geometry ".b32." boundary " [%4, " at "], {%0};", __VA_ARGS__); break;              \
    case 8: SIMGPU_STORE("sust.b." geometry ".v2.b32." boundary " [%4, " at "], {%0, %1};", __VA_ARGS__); break;       \
    default: SIMGPU_STORE("sust.b." geometry ".v4.b32." boundary " [%4, " at "], {%0, %1, %2, %3};", __VA_ARGS__);     \
    }
#define SIMGPU_BY_BOUNDARY(what, geometry, at, ...)                                                                    \
    if (mode == cudaBoundaryModeZero)                                                                                  \
    what(geometry, "zero", at, __VA_ARGS__) else if (mode == cudaBoundaryModeClamp)                                    \
        what(geometry, "clamp", at, __VA_ARGS__) else what(geometry, "trap", at, __VA_ARGS__)
#else
#define SIMGPU_BY_BOUNDARY(what, geometry, at, ...)
#endif

#define SIMGPU_LIST(...) __VA_ARGS__
#define SIMGPU_FUNCTION  static __inline__ __attribute__((always_inline, nodebug, unused)) __device__
/* The functions of one kind of surface. names: the parameters without their types; the rest: the asm's coordinates. */
#define SIMGPU_SURFACE(name, parameters, names, geometry, at, ...)                                                     \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION T surf##name##read(cudaSurfaceObject_t object, parameters,                                         \
                                       cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                          \
        unsigned v[4] = {0, 0, 0, 0};                                                                                  \
        T value;                                                                                                       \
        SIMGPU_BY_BOUNDARY(SIMGPU_LOADS, geometry, at, __VA_ARGS__)                                                    \
        __builtin_memcpy(&value, v, sizeof(T));                                                                        \
        return value;                                                                                                  \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION void surf##name##read(T *to, cudaSurfaceObject_t object, parameters,                               \
                                          cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                       \
        *to = surf##name##read<T>(object, names, mode);                                                                \
    }                                                                                                                  \
    template <class T>                                                                                                 \
    SIMGPU_FUNCTION void surf##name##write(T value, cudaSurfaceObject_t object, parameters,                            \
                                           cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                      \
        unsigned v[4] = {0, 0, 0, 0};                                                                                  \
        __builtin_memcpy(v, &value, sizeof(T));                                                                        \
        SIMGPU_BY_BOUNDARY(SIMGPU_STORES, geometry, at, __VA_ARGS__)                                                   \
    }
SIMGPU_SURFACE(1D, int x, x, "1d", "{%5}", "r"(x))
SIMGPU_SURFACE(2D, SIMGPU_LIST(int x, int y), SIMGPU_LIST(x, y), "2d", "{%5, %6}", "r"(x), "r"(y))
SIMGPU_SURFACE(3D, SIMGPU_LIST(int x, int y, int z), SIMGPU_LIST(x, y, z), "3d", "{%5, %6, %7, %7}", "r"(x), "r"(y),
               "r"(z))
SIMGPU_SURFACE(1DLayered, SIMGPU_LIST(int x, int layer), SIMGPU_LIST(x, layer), "a1d", "{%6, %5}", "r"(x), "r"(layer))
SIMGPU_SURFACE(2DLayered, SIMGPU_LIST(int x, int y, int layer), SIMGPU_LIST(x, y, layer), "a2d", "{%7, %5, %6, %6}",
               "r"(x), "r"(y), "r"(layer))
SIMGPU_SURFACE(Cubemap, SIMGPU_LIST(int x, int y, int face), SIMGPU_LIST(x, y, face), "a2d", "{%7, %5, %6, %6}", "r"(x),
               "r"(y), "r"(face))
SIMGPU_SURFACE(CubemapLayered, SIMGPU_LIST(int x, int y, int layer_face), SIMGPU_LIST(x, y, layer_face), "a2d",
               "{%7, %5, %6, %6}", "r"(x), "r"(y), "r"(layer_face))
#undef SIMGPU_SURFACE
#undef SIMGPU_FUNCTION
#undef SIMGPU_LIST
#undef SIMGPU_BY_BOUNDARY
#undef SIMGPU_LOADS
#undef SIMGPU_LOAD
#undef SIMGPU_STORES
#undef SIMGPU_STORE

#endif
#endif

/* surface_types.h — surface objects, through which kernels read and write arrays. CUDA's numbers. */
#ifndef SIMGPU_SURFACE_TYPES_H
#define SIMGPU_SURFACE_TYPES_H

#define cudaSurfaceType1D             0x01
#define cudaSurfaceType2D             0x02
#define cudaSurfaceType3D             0x03
#define cudaSurfaceTypeCubemap        0x0C
#define cudaSurfaceType1DLayered      0xF1
#define cudaSurfaceType2DLayered      0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

/* What an access outside of a surface does: reads 0 and writes nothing; goes to the nearest element; stops the
 * kernel. */
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum cudaSurfaceFormatMode { cudaFormatModeForced = 0, cudaFormatModeAuto = 1 };

typedef unsigned long long cudaSurfaceObject_t;

#endif

/* device_types.h — types of device code. */
#ifndef SIMGPU_DEVICE_TYPES_H
#define SIMGPU_DEVICE_TYPES_H

#include "cuda_runtime.h"

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#endif

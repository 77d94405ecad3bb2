#include "by.h"
static __device__ int twice = BY;
__device__ int offset;
__device__ int scaled(int i) { return i * twice; }

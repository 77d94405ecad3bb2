/* texture_fetch_functions.h — texture references had their functions here; see cuda_texture_types.h. */
#ifndef SIMGPU_TEXTURE_FETCH_FUNCTIONS_H
#define SIMGPU_TEXTURE_FETCH_FUNCTIONS_H

#include "cuda_texture_types.h"

#endif

/* surface_functions.h — surface references had their functions here; those of surface objects are in
 * surface_indirect_functions.h. */
#ifndef SIMGPU_SURFACE_FUNCTIONS_H
#define SIMGPU_SURFACE_FUNCTIONS_H

#include "surface_indirect_functions.h"

#endif

/* simgpu_cccl.h — ends the compilation at a header of CUDA's C++ library (Thrust, CUB, libcu++), with one message.
 *
 * NVIDIA's headers of that library compile with simcc, from a CUDA toolkit or from a checkout. The stubs of
 * unsupported/ are found where there is neither; simgpu_unsupported.h says how they work. */
#define SIMGPU_REMEDY                                                                                                  \
    ". simcc compiles NVIDIA's: set SIMCC_CCCL to the folder include/cccl of CUDA 13, or to a checkout of "            \
    "https://github.com/NVIDIA/cccl, tag v3.0.1"
#include "simgpu_unsupported.h"

/* simgpu_unsupported.h — ends the compilation at a header that SimGPU does not have, with one message.
 *
 * unsupported/ has a stub for each such header of CUDA's toolkit. It says in SIMGPU_LACKS what the header is for and
 * includes this file. The message is a warning that is made fatal, since after an error the compiler would go on, and
 * complain about each name that the header would have declared. common/make/gate.sh names the student's line. */
#define SIMGPU_PRAGMA(text) _Pragma(#text)
#define SIMGPU_STOP(text)   SIMGPU_PRAGMA(GCC warning text)
#pragma clang diagnostic fatal "-W#pragma-messages"
#ifndef SIMGPU_REMEDY
#define SIMGPU_REMEDY ". README.md, Limits, says what else it lacks"
#endif
SIMGPU_STOP("SimGPU does not have " SIMGPU_LACKS ", and so not this header" SIMGPU_REMEDY)

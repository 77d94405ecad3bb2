/* nvrtc.c — NVRTC (libnvrtc.so), which compiles CUDA C++ while a program runs. SimGPU has no compiler in it: each
 * function fails, and a message says what to do. A program that only looks for the library, or asks for its version,
 * goes on. */
#include "driver.h"

typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_INVALID_INPUT = 3, NVRTC_ERROR_INTERNAL_ERROR = 11 } nvrtcResult;

static nvrtcResult refuse(const char *name) {
    static bool told;
    if (!told)
        drv_refuse(
            name, CUDA_ERROR_NOT_SUPPORTED,
            "SimGPU does not compile while a program runs; compile the kernel to PTX before (simcc -ptx), and load it "
            "with cuModuleLoad");
    told = true;
    return NVRTC_ERROR_INTERNAL_ERROR;
}

/* Declared without parameters, since the definitions ignore them. */
#define NVRTC(name)                                                                                                    \
    nvrtcResult name(void);                                                                                            \
    nvrtcResult name(void) { return refuse(#name); }
#include "nvrtc.def"

nvrtcResult nvrtcVersion(int *major, int *minor);
const char *nvrtcGetErrorString(nvrtcResult result);

nvrtcResult nvrtcVersion(int *major, int *minor) {
    if (!major || !minor) return NVRTC_ERROR_INVALID_INPUT;
    *major = CUDA_VERSION / 1000;
    *minor = CUDA_VERSION % 1000 / 10;
    return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result) {
    switch (result) {
    case NVRTC_SUCCESS: return "NVRTC_SUCCESS";
    case NVRTC_ERROR_INVALID_INPUT: return "NVRTC_ERROR_INVALID_INPUT";
    case NVRTC_ERROR_INTERNAL_ERROR: return "NVRTC_ERROR_INTERNAL_ERROR";
    }
    return "NVRTC_ERROR unknown";
}

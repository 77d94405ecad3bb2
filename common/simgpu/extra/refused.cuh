// refused.cuh - how a library under extra/ says what is wrong with a call.
#ifndef SIMGPU_REFUSED_CUH
#define SIMGPU_REFUSED_CUH

#include <simgpu.h>

#include <cstdarg>
#include <cstdio>

// Says it at the program's line. Returns the status.
template <class Status>
__attribute__((format(printf, 2, 3))) static Status refused(Status status, const char *format, ...) {
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    simgpuSayOfCaller(text);
    return status;
}

#endif

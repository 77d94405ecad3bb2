/* refuse.c — the end of a program that SimGPU cannot serve. */
#include "ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void sim_refuse(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fflush(NULL); /* what the program has printed comes first */
    fputs("simgpu: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    _exit(2);
}

/* no-zstd.c — preloaded: a machine without libzstd. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *dlopen(const char *name, int flags) {
    void *(*real)(const char *, int);
    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    return name && strstr(name, "zstd") ? NULL : real(name, flags);
}

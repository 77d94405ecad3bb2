/* calls.c — intercepts the calls of a program; see calls.h.
 *
 * A program's shared object is linked with --wrap=cudaMalloc and so on (--wraps prints the list), so that only its
 * calls of cudaMalloc reach __wrap_cudaMalloc, defined here. In the sim lane the functions of the C++ headers are named
 * simgpuMalloc and carry the caller's file and line.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <stdlib.h>
#include <string.h>

static const lab_ear *ear;
static lab_failure failure; /* call.name NULL: none */

void lab_listen(const lab_ear *listener) {
    ear = listener;
    if (listener) failure.call.name = NULL;
}

const lab_failure *lab_first_failure(void) { return failure.call.name ? &failure : NULL; }

static bool heard(void) { return ear && lab_playing(); }

static cudaError_t before(lab_call *c) {
    if (lab_playing()) lab_endless_call(c);
    if (!heard()) return cudaSuccess;
    c->begin = c->end = lab_now();
    if (!ear->before) return cudaSuccess;
    lab_unlock(); /* two system calls: with each call of a program they are a tenth of lab 11's run */
    cudaError_t e = ear->before(c);
    lab_lock();
    if (e != cudaSuccess) lab_endless_own(true); /* the call ends here */
    return e;
}

static void after(lab_call *c, cudaError_t error) {
    if (heard()) {
        lab_unlock();
        c->error = error;
        c->end = lab_now();
        if (error && error != cudaErrorNotReady && !failure.call.name)
            failure = (lab_failure){*c, lab_memory_at(c->to), lab_memory_at(c->from)};
        if (ear->after) ear->after(c);
        lab_lock();
    }
    if (lab_playing()) lab_endless_own(true);
}

/* --- what a program has created and not destroyed ---------------------------------------------------------- */

static lab_thing_made *made;
static int nmade, forgotten; /* of them, those that lab_forget_things has met */

void lab_forget_things(void) { forgotten = nmade; }

int lab_things(const lab_thing_made **list) {
    *list = made ? made + forgotten : NULL;
    return nmade - forgotten;
}

lab_thing_made lab_memory_at(uint64_t address) {
    for (int i = nmade - 1; i >= 0; i--)
        if (made[i].thing != LAB_A_STREAM && made[i].thing != LAB_AN_EVENT && made[i].address <= address &&
            address < made[i].address + made[i].bytes)
            return made[i];
    return (lab_thing_made){.thing = LAB_NO_THING};
}

static void note_created(const lab_call *c) {
    if (!c->to) return; /* an allocation of 0 bytes */
    lab_thing_made *more = realloc(made, ((size_t)nmade + 1) * sizeof *more);
    if (!more) return;
    made = more;
    made[nmade++] = (lab_thing_made){c->creates, c->to, c->bytes, c->name, c->file, c->line};
}

static void note_destroyed(const lab_call *c) {
    const uint64_t address = c->destroys == LAB_A_STREAM ? c->stream : c->destroys == LAB_AN_EVENT ? c->event : c->to;
    int i = 0;
    while (i < nmade && (made[i].thing != c->destroys || made[i].address != address)) i++;
    if (i == nmade) return;
    if (i < forgotten) forgotten--;
    nmade--;
    memmove(&made[i], &made[i + 1], (size_t)(nmade - i) * sizeof *made); /* they stay in the order of their calls */
}

/* --- page-locked memory passed to free() ---------------------------------------------------------------- */

/* Returns whether the block is still page-locked. A reset of the device frees it, too. On a card free() of one ends the
 * program, or ruins the heap; here it would be the judge's heap as well. */
static bool is_pinned(const void *p) {
    struct cudaPointerAttributes at;
    return cudaPointerGetAttributes(&at, p) == cudaSuccess && at.type == cudaMemoryTypeHost;
}

static void refuse_free(const lab_thing_made *b) {
    char place[300] = "";
    lab_unlock();
    if (b->file) lab_text(place, sizeof place, " (%s:%d)", lab_file_name(b->file), b->line);
    lab_die(
        "%s gives free() the memory of %s%s, which is page-locked: on a card the program ends here. Call cudaFreeHost "
        "instead",
        lab.spec->source, b->name, place);
}

LAB_OFFERED void __wrap_free(void *p);
void __wrap_free(void *p) {
    for (int i = 0; p && i < nmade; i++)
        if (made[i].thing == LAB_PINNED_MEMORY && made[i].address == (uint64_t)p && is_pinned(p)) refuse_free(&made[i]);
    free(p);
}

/* --- CUDA's ------------------------------------------------------------------------------------- */

/* In the table's column: N(p) is a pointer as a number; NEW(p) notes where the call will put the address or
 * handle that it creates. */
#define N(p)        ((uint64_t)(p))
#define NEW(p)      .to = (slot = (void **)(p), 0)
#define FIELDS(...) __VA_ARGS__

#if __has_include(<cuda_profiler_api.h>)
#include <cuda_profiler_api.h>
#endif
#ifndef SIMGPU_DEFAULT /* the gpu lane, where the table's parameters are those of NVIDIA's header */
#define SIMGPU_DEFAULT(value)
#endif

/* slot: where the call has put what it created, or NULL. */
static cudaError_t ended(lab_call *c, void *const *slot, cudaError_t e) {
    if (slot && e == cudaSuccess) c->to = (uint64_t)*slot;
    if (e == cudaSuccess && c->creates) note_created(c);
    if (e == cudaSuccess && c->destroys) note_destroyed(c);
    after(c, e);
    return e;
}

#define BODY(Name, class_, note, site_file, site_line, call)                                                           \
    {                                                                                                                  \
        void **slot = NULL;                                                                                            \
        lab_call c = {                                                                                                 \
            .name = "cuda" #Name, .what = LAB_CALL_##class_, .file = site_file, .line = site_line, FIELDS note};       \
        cudaError_t e = before(&c);                                                                                    \
        return e != cudaSuccess ? e : ended(&c, slot, call);                                                           \
    }

/* Of what CUDA deprecates, the calls are listened to as well. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#define API(Name, class_, sited, labs, note, arguments, ...)                                                           \
    LAB_OFFERED cudaError_t __wrap_cuda##Name(__VA_ARGS__);                                                            \
    cudaError_t __wrap_cuda##Name(__VA_ARGS__) BODY(Name, class_, note, NULL, 0, cuda##Name arguments)
#define API0(Name, class_, sited, labs)                                                                                \
    LAB_OFFERED cudaError_t __wrap_cuda##Name(void);                                                                   \
    cudaError_t __wrap_cuda##Name(void) BODY(Name, class_, (), NULL, 0, cuda##Name())
#include "../simgpu/include/cuda_api.def"

/* What <<< >>> calls since nvcc 13. Weak: older runtimes lack it. */
#define NEW_LAUNCH(...)                                                                                                \
    cudaError_t __cudaLaunchKernel(__VA_ARGS__) __attribute__((weak));                                                 \
    LAB_OFFERED cudaError_t __wrap___cudaLaunchKernel(__VA_ARGS__);                                                    \
    cudaError_t __wrap___cudaLaunchKernel(__VA_ARGS__)                                                                 \
        BODY(LaunchKernel, SUBMITS, (.stream = N(stream)), NULL, 0,                                                    \
             __cudaLaunchKernel(func, grid, block, args, shared, stream))
NEW_LAUNCH(void *func, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)

#ifdef SIMGPU_SITE
#define ARGUMENTS(...)                                       __VA_ARGS__
#define API(Name, class_, sited, labs, note, arguments, ...) sited(Name, class_, note, arguments, __VA_ARGS__)
#define SITED(Name, class_, note, arguments, ...)                                                                      \
    cudaError_t simgpu##Name(__VA_ARGS__, const char *file, int line);                                                 \
    LAB_OFFERED cudaError_t __wrap_simgpu##Name(__VA_ARGS__, const char *file, int line);                              \
    cudaError_t __wrap_simgpu##Name(__VA_ARGS__, const char *file, int line)                                           \
        BODY(Name, class_, note, file, line, simgpu##Name(ARGUMENTS arguments, file, line))
#define PLAIN(...)
#define API0(Name, class_, sited, labs) sited##0(Name, class_)
#define SITED0(Name, class_)                                                                                           \
    cudaError_t simgpu##Name(const char *file, int line);                                                              \
    LAB_OFFERED cudaError_t __wrap_simgpu##Name(const char *file, int line);                                           \
    cudaError_t __wrap_simgpu##Name(const char *file, int line)                                                        \
        BODY(Name, class_, (), file, line, simgpu##Name(file, line))
#define PLAIN0(...)
#include "../simgpu/include/cuda_api.def"
#undef SITED
#undef PLAIN
#endif

/* --- the C library's ----------------------------------------------------------------------------- */

/* Their callers are not known by line. */
static void c_allocates(const char *name, size_t bytes, const void *start) {
    lab_call c = {.name = name, .what = LAB_CALL_C_ALLOCATES, .to = (uint64_t)start, .bytes = bytes};
    before(&c);
    after(&c, cudaSuccess);
}

/* gcc takes what `malloc` returns for bytes that c_allocates would read; it notes the address. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define C_ALLOCATOR(name, word, parameters, bytes, call)                                                               \
    LAB_OFFERED void *__wrap_##name parameters;                                                                        \
    void *__wrap_##name parameters {                                                                                   \
        void *p_ = call;                                                                                               \
        c_allocates(word, bytes, p_);                                                                                  \
        return p_;                                                                                                     \
    }
/* A `new` that finds no memory throws; this one ends the program. */
static void *or_die(void *p) {
    if (!p) lab_die("the host has no memory for `new`");
    return p;
}

C_ALLOCATOR(malloc, "malloc", (size_t bytes), bytes, malloc(bytes))
C_ALLOCATOR(calloc, "calloc", (size_t n, size_t bytes), n *bytes, calloc(n, bytes))
C_ALLOCATOR(realloc, "realloc", (void *old, size_t bytes), bytes, realloc(old, bytes))
C_ALLOCATOR(aligned_alloc, "aligned_alloc", (size_t to, size_t bytes), bytes, aligned_alloc(to, bytes))
C_ALLOCATOR(_Znwm, "new", (size_t bytes), bytes, or_die(malloc(bytes ? bytes : 1)))
C_ALLOCATOR(_Znam, "new", (size_t bytes), bytes, or_die(malloc(bytes ? bytes : 1)))

LAB_OFFERED int __wrap_posix_memalign(void **p, size_t to, size_t bytes);
int __wrap_posix_memalign(void **p, size_t to, size_t bytes) {
    int error = posix_memalign(p, to, bytes);
    if (!error) c_allocates("posix_memalign", bytes, *p);
    return error;
}

/* `new` takes memory from malloc, so `delete` passes it to free, whatever the C++ library would do. */
LAB_OFFERED void __wrap__ZdlPv(void *p);
LAB_OFFERED void __wrap__ZdaPv(void *p);
LAB_OFFERED void __wrap__ZdlPvm(void *p, size_t bytes);
LAB_OFFERED void __wrap__ZdaPvm(void *p, size_t bytes);
void __wrap__ZdlPv(void *p) { free(p); }
void __wrap__ZdaPv(void *p) { free(p); }
void __wrap__ZdlPvm(void *p, size_t bytes) { (void)bytes, free(p); }
void __wrap__ZdaPvm(void *p, size_t bytes) { (void)bytes, free(p); }

/* --- lists for the build and the gate ------------------------------------------------------------- */

/* The linker's options that bring a program's calls here. */
void lab_print_wraps(FILE *f) {
#define API(Name, ...)  fputs("--wrap=cuda" #Name "\n--wrap=simgpu" #Name "\n", f);
#define API0(Name, ...) fputs("--wrap=cuda" #Name "\n--wrap=simgpu" #Name "\n", f);
#include "../simgpu/include/cuda_api.def"
    static const char *const c[] = {"malloc", "calloc", "realloc", "aligned_alloc", "posix_memalign", "_Znwm",
                                    "free",   "_Znam",  "_ZdlPv",  "_ZdaPv",        "_ZdlPvm",        "_ZdaPvm"};
    fputs("--wrap=__cudaLaunchKernel\n", f);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) fprintf(f, "--wrap=%s\n", c[i]);
}

/* In the table's column: a set of labs. */
#define LAB(n) (1u << (n))
#define ALL    (~0u)
#define NONE   0u

void lab_print_calls(FILE *f) {
    const unsigned here = LAB(atoi(lab.spec->lab + strcspn(lab.spec->lab, "0123456789")));
#define API(Name, what, sited, labs, ...)                                                                              \
    if ((labs)&here) fputs("cuda" #Name "\nsimgpu" #Name "\n", f);
#define API0(Name, what, sited, labs)                                                                                  \
    if ((labs)&here) fputs("cuda" #Name "\nsimgpu" #Name "\n", f);
#include "../simgpu/include/cuda_api.def"
}

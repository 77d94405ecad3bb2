/* errors.c — the frame of every API call (rt_begin, rt_end), messages (rt_say), and CUDA's rules for errors.
 *
 * A call that fails returns its error and sets it as the thread's last error; cudaGetLastError reads and clears that.
 * A kernel that fails kills the context. Its error is sticky: every later call returns it until cudaDeviceReset. */
#include "rt.h"

#include "../check/check.h"

#ifdef __x86_64__
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* recursive: cudaLaunchHostFunc's callbacks */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;              /* held by the thread that gets the lock next */
/* What a thread has set for itself and SimGPU must not depend on, while the thread holds the lock. */
static _Thread_local struct {
    int depth;                /* of the lock; 0: the rest holds nothing */
    volatile int uncancelled; /* who wants that the thread is not cancelled; 0: `cancelling` holds nothing */
    volatile int cancelling, cancel_type;
#ifdef __x86_64__
    unsigned arithmetic;
#else
    fenv_t arithmetic;
#endif
    locale_t language;
} own;
static _Thread_local struct {
    uint32_t device;
    cudaError_t error;
} last; /* of this thread */
static _Thread_local const char *at_file;
static _Thread_local int at_line;
static _Thread_local time_site call;
static _Thread_local volatile int inside;   /* number of nested API calls of this thread; signal handlers read it */
static _Thread_local const char *face_name; /* of the next call, if it is one of the driver API */
static _Thread_local bool by_driver;        /* the call in progress is */
enum { NESTED_MAX = 8 };
static _Thread_local volatile uintptr_t frame; /* of the outermost call's rt_begin, while one is in progress, or 0 */
/* While a host function or a signal handler makes a call, the calls around it, by `inside`. A handler may come in the
 * middle of a host function's call; calls that are deeper than the last place share it. */
static _Thread_local struct {
    time_site call;
    bool by_driver;
} outer[NESTED_MAX + 1];
static _Thread_local bool runtime_here; /* this thread has called the runtime API itself */
static bool runtime_anywhere;
static _Thread_local struct {
    enum simgpu_refusal_cause cause;
    char text[1024];
} refusal; /* what the call has said so far */

/* --- the frame ---------------------------------------------------------------------------------------------- */

static cudaError_t code_of(enum simgpu_fault_kind s) {
    switch (s) {
    case SIMGPU_FAULT_NONE: return cudaSuccess;
    case SIMGPU_FAULT_UNSUPPORTED: return cudaErrorNotSupported;
    case SIMGPU_FAULT_ILLEGAL_ADDRESS: return cudaErrorIllegalAddress;
    case SIMGPU_FAULT_MISALIGNED: return cudaErrorMisalignedAddress;
    case SIMGPU_FAULT_BUDGET:
    case SIMGPU_FAULT_DEADLOCK: return cudaErrorLaunchTimeout;
    case SIMGPU_FAULT_ASSERT: return cudaErrorAssert;
    default: return cudaErrorLaunchFailure;
    }
}

void rt_say_fault(const exec_fault *fault) {
    char text[2048];
    exec_fault f = *fault;
    if (f.library) f.called = check_host_line(f.library_site);
    base_say(simgpuSayFault(&f, SIMGPU_WHOLE, text, sizeof text));
}

cudaError_t rt_look_for_fault(void) {
    const exec_fault *fault = time_fault();
    if (fault && rt_device->sticky == cudaSuccess) {
        rt_device->sticky = code_of(fault->kind);
        rt_say_fault(fault);
    }
    return rt_device->sticky;
}

/* Kernels, clocks and files must not depend on the program's rounding mode, on its flushing of denormals, on its traps
 * or its decimal point. */
static void set_plain(void) {
    own.language = uselocale(base_plain_language());
#ifdef __x86_64__ /* some 300 ns less for each call */
    own.arithmetic = _mm_getcsr();
    if (own.arithmetic != _MM_MASK_MASK) _mm_setcsr(_MM_MASK_MASK);
#else
    fegetenv(&own.arithmetic);
    fesetenv(FE_DFL_ENV);
#endif
}
static void set_as_before(void) {
#ifdef __x86_64__
    _mm_setcsr(own.arithmetic);
#else
    fesetenv(&own.arithmetic);
#endif
    uselocale(own.language);
}

/* A thread that ended in a call (pthread_cancel) would keep the lock: it ends at the call's end, when it has given back
 * all that says that it is in a call. With PTHREAD_CANCEL_ASYNCHRONOUS that is in cancel_again(). The type is set, too,
 * and first: glibc 2.36 decides in the thread that cancels, by this one's state, to send a signal, whose handler looks
 * at the type only. A signal handler may come between any two lines, and calls both. */
static void do_not_cancel(void) {
    int before, type;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    if (own.uncancelled++ == 0) own.cancelling = before, own.cancel_type = type;
}
static void cancel_again(void) {
    const int before = own.cancelling, type = own.cancel_type;
    if (--own.uncancelled) return;
    pthread_setcancelstate(before, NULL);
    pthread_setcanceltype(type, NULL);
}

/* Threads get the lock in turn: one that calls again and again would keep it from the others, since the system wakes
 * them too late. A thread that has the lock, or is about to take it or to let it go, does not touch it again: a signal
 * handler that came in the middle of pthread_mutex_unlock would wait for its own thread. (It is refused by rt_begin.)
 */
void rt_lock(void) {
    do_not_cancel();
    if (own.depth++) return;
    pthread_mutex_lock(&turn);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&turn);
    set_plain();
}
void rt_unlock(void) {
    if (own.depth == 1) {
        set_as_before();
        pthread_mutex_unlock(&lock);
    }
    own.depth--;
    cancel_again();
}
void rt_lock_anew(void) {
    lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    turn = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    if (--own.depth == 0) set_as_before();
    cancel_again();
}

static cudaError_t my_last_error(void) { return last.device == rt_first()->number ? last.error : cudaSuccess; }

cudaError_t rt_exchange_last_error(cudaError_t error, uint32_t device) {
    cudaError_t before = my_last_error();
    last.error = error;
    last.device = device;
    return before;
}

/* The table's functions by name. Other calls (a launch's parts, simgpu.h) only submit. */
typedef struct {
    const char *name;
    enum simgpu_class what;
} api_row;
static api_row api[] = {
#define API(Name, what, ...)  {"cuda" #Name, SIMGPU_##what},
#define API0(Name, what, ...) {"cuda" #Name, SIMGPU_##what},
#include "../include/cuda_api.def"
};
enum { APIS = sizeof api / sizeof *api };

static int by_name(const void *a, const void *b) {
    return strcmp(((const api_row *)a)->name, ((const api_row *)b)->name);
}

static enum simgpu_class class_of(const char *name) {
    static bool sorted;
    if (!sorted) qsort(api, APIS, sizeof *api, by_name);
    sorted = true;
    const api_row *row = bsearch(&(api_row){.name = name}, api, APIS, sizeof *api, by_name);
    return row ? row->what : SIMGPU_SUBMITS;
}

/* Returns whether the call in progress is one of a host function, or of a signal handler in the middle of another. */
static bool is_nested(void) { return inside > 1 || time_in_host_function(); }

static int place_of_outer(void) { return inside < NESTED_MAX ? inside : NESTED_MAX; }

/* Returns whether a call that never ended is gone: a signal handler has left it by siglongjmp. A handler's frames, and
 * the signal's own (more than a thousand bytes), lie below those of the call that it interrupts, unless it has a stack
 * of its own. A call from further below, after such a jump, looks like one of a handler, and is refused as that. */
static bool was_left(uintptr_t here) {
    enum { SIGNAL_FRAME = 768 };
    stack_t own_stack;
    if (!inside || !frame || here + SIGNAL_FRAME < frame || time_in_host_function()) return false;
    return sigaltstack(NULL, &own_stack) || !(own_stack.ss_flags & SS_ONSTACK);
}
bool rt_left_by_jump(void) { return was_left((uintptr_t)__builtin_frame_address(0)); }

__attribute__((noreturn)) static void refuse_jump(void) {
    const char *said =
        "a signal handler has left this call by siglongjmp, so SimGPU's state, as a GPU's, is unknown; let "
        "the handler set a flag, and look at it between calls";
    if (call.file) base_refuse("%s:%d: %s: %s", call.file, call.line, call.name, said);
    base_refuse("%s: %s", call.name, said);
}

/* `inside` is counted outside of the lock, so that a handler that comes while this thread waits for the lock, or lets
 * it go, is one in the middle of a call. */
cudaError_t rt_begin(const char *name) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (was_left(here)) refuse_jump();
    do_not_cancel();
    if (++inside == 1) frame = here;
    rt_lock();
    rt_set_up();
    const bool nested = is_nested();
    if (nested) outer[place_of_outer()].call = call, outer[place_of_outer()].by_driver = by_driver;
    by_driver = face_name != NULL;
    if (!by_driver) runtime_here = runtime_anywhere = true;
    call = (time_site){by_driver ? face_name : name, at_file, at_line};
    face_name = NULL;
    at_file = NULL;
    refusal.cause = SIMGPU_REFUSED_OTHER;
    refusal.text[0] = '\0';
    if (nested) return cudaErrorNotPermitted;
    rt_select(by_driver);
    check_host_say();
    time_catch_up();
    time_managed_look();
    time_activity_call(call, class_of(name));
    return rt_look_for_fault();
}

/* Sends the event of a call that fails by itself, not by an earlier kernel's fault. */
static void send_refusal(cudaError_t error) {
    if (error == cudaSuccess || error == cudaErrorNotReady || error == rt_device->sticky) return;
    const struct simgpu_refusal r = {
        .call = call.name, .error = (int)error, .cause = refusal.cause, .text = refusal.text};
    time_events_refusal(&r, call.file, call.line);
}

void rt_because(enum simgpu_refusal_cause cause) { refusal.cause = cause; }

cudaError_t rt_end(cudaError_t error) {
    if (is_nested()) {
        if (error == cudaErrorNotPermitted)
            rt_say("%s; let it set a flag for the program's own thread",
                   time_in_host_function()
                       ? "a host function may not call the CUDA API"
                       : "a signal handler that comes in the middle of a call may not call the CUDA "
                         "API, nor leave the call by siglongjmp");
    } else {
        time_activity_call_end();
        if (error == cudaSuccess) error = rt_look_for_fault();
        send_refusal(error);
    }
    if (error != cudaSuccess && error != cudaErrorNotReady && !by_driver)
        last.device = rt_first()->number, last.error = error;
    if (is_nested()) call = outer[place_of_outer()].call, by_driver = outer[place_of_outer()].by_driver;
    rt_unlock();
    if (inside == 1) frame = 0;
    inside--;
    cancel_again();
    if (!inside) pthread_testcancel();
    return error;
}

bool rt_inside(void) { return inside > 0; }

void rt_call_as(const char *name) { face_name = name; }
bool rt_runtime_used(bool by_this_thread) { return by_this_thread ? runtime_here : runtime_anywhere; }

void rt_at(const char *file, int line) {
    at_file = file;
    at_line = line;
}

void rt_at_next(const char **file, int *line) {
    *file = at_file;
    *line = at_line;
}
time_site rt_speak_as(time_site site) {
    time_site before = call;
    call = site;
    return before;
}
const char *rt_file(void) { return call.file; }
int rt_line(void) { return call.line; }

/* --- messages ----------------------------------------------------------------------------------------------- */

enum { MESSAGES_MAX = 20 }; /* more would bury the first one, which matters most */

/* A printed message. A call in a loop prints its message once, although the numbers in the text change; without a known
 * place only an equal text counts as the same message. */
static struct message {
    time_site from;
    const char *format;
    char text[1024];
} said[MESSAGES_MAX + 1];

static bool is_same(const struct message *a, const struct message *b) {
    if (a->format != b->format || strcmp(a->from.name, b->from.name)) return false;
    if (!a->from.file || !b->from.file) return a->from.file == b->from.file && !strcmp(a->text, b->text);
    return a->from.line == b->from.line && !strcmp(a->from.file, b->from.file);
}

__attribute__((format(printf, 1, 2))) static void say_call(const char *format, ...) {
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    base_say(text);
}

void rt_say(const char *format, ...) {
    static int n;
    struct message *m = &said[n];
    va_list args;
    va_start(args, format);
    vsnprintf(refusal.text, sizeof refusal.text, format, args);
    va_end(args);
    if (n > MESSAGES_MAX) return;
    m->from = call;
    m->format = format;
    memcpy(m->text, refusal.text, sizeof m->text);
    for (int i = 0; i < n; i++)
        if (is_same(&said[i], m)) return;
    if (n++ == MESSAGES_MAX)
        fputs("simgpu: further messages are not printed; fix these first\n", stderr);
    else if (call.file)
        say_call("simgpu: %s:%d: %s: %s", call.file, call.line, call.name, m->text);
    else
        say_call("simgpu: %s: %s", call.name, m->text);
}

void rt_launch_failed(cudaError_t error, const char *kernel) {
    if (by_driver) return; /* cuLaunchKernel returns its error */
    rt_device->missed.error = error;
    char place[300] = "";
    if (call.file) snprintf(place, sizeof place, "%s:%d: ", call.file, call.line);
    snprintf(rt_device->missed.text, sizeof rt_device->missed.text,
             "simgpu: %s%s from the launch of %s was never read; call cudaGetLastError() after a launch\n", place,
             cudaGetErrorName(error), kernel);
}

/* Prints the name of an API function that SimGPU lacks, once for each function. Returns cudaErrorNotSupported, or the
 * sticky error. */
cudaError_t rt_unsupported(const char *name) {
    static const char *told[512];
    cudaError_t dead = rt_begin(name);
    int i = 0;
    rt_because(SIMGPU_REFUSED_UNSUPPORTED);
    while (told[i] && strcmp(told[i], name)) i++;
    if (!told[i] && i < 511) {
        told[i] = name;
        fprintf(stderr, "simgpu: %s is not supported; it returns %s\n", call.name,
                by_driver ? "CUDA_ERROR_NOT_SUPPORTED" : "cudaErrorNotSupported");
    }
    return rt_end(dead != cudaSuccess ? dead : cudaErrorNotSupported);
}

/* --- the API ------------------------------------------------------------------------------------------------ */

cudaError_t cudaGetLastError(void) {
    cudaError_t dead = rt_begin(__func__), error = dead != cudaSuccess ? dead : my_last_error();
    rt_device->missed.error = cudaSuccess;
    rt_end(cudaSuccess);
    last.error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) {
    cudaError_t dead = rt_begin(__func__), error = dead != cudaSuccess ? dead : my_last_error();
    rt_device->missed.error = cudaSuccess;
    rt_end(cudaSuccess);
    return error;
}

const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define CUDA_ERROR(name, number, text)                                                                                 \
    case name:                                                                                                         \
        return #name;
#include "../include/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define CUDA_ERROR(name, number, text)                                                                                 \
    case name:                                                                                                         \
        return text;
#include "../include/cuda_errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

/* endless.c — ends a program of which the host's code does not: a loop that makes no call of CUDA for five seconds of
 * the processor's time, or one that makes millions. (SimGPU stops kernels without an end.)
 *
 * A timer of the process's own processor time looks every second whether the same stretch of student code is still
 * running; a machine that is busy with other work takes longer, and ends no program early. In time spent in calls of
 * CUDA or in the judge the student's code does not run, so a long simulation is not meant.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum { SECONDS = 5, MOST_CALLS = 1 << 21 };

static volatile sig_atomic_t own;   /* the student's code runs, outside of calls */
static volatile unsigned stretches; /* of it, so far */
static unsigned watched, seconds;   /* the stretch of the last look; how often it was seen */
static long calls;                  /* of the present play */

static uint64_t address_of(const void *context) {
#if defined(__x86_64__)
    return (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return ((const ucontext_t *)context)->uc_mcontext.pc;
#else
    return (void)context, 0;
#endif
}

/* Writes what addr2line prints of an address, "labs/lab3-transpose/transpose.cu:57", without folders; "" where it knows
 * no line. Runs in the handler: only calls that are safe there, and dladdr, whose lock a plain loop does not hold. */
static void place_of(uint64_t address, char *text, size_t size) {
    Dl_info object;
    int ends[2];
    char offset[32];
    text[0] = 0;
    if (!address || !dladdr((void *)(uintptr_t)address, &object) || !object.dli_fname || pipe(ends)) return;
    snprintf(offset, sizeof offset, "0x%llx", (unsigned long long)(address - (uint64_t)(uintptr_t)object.dli_fbase));
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(2);
        execlp("addr2line", "addr2line", "-s", "-e", object.dli_fname, offset, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n + 1 < size && (got = read(ends[0], text + n, size - 1 - n)) > 0;) n += (size_t)got;
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    text[n] = 0;
    text[strcspn(text, " \n")] = 0;
    if (text[0] == '?' || !strchr(text, '.')) text[0] = 0;
}

static void stop(const char *place, const char *did, const char *next) {
    char text[1024];
    int n = snprintf(text, sizeof text, "%s: %s%s%s, while running %s. Nothing was scored.\n  Next: %s\n",
                     lab.spec->lab, place, *place ? ": " : "", did, lab_stage_text(), next);
    if (write(2, text, (size_t)n) < 0) _exit(2);
    _exit(2);
}

static void look(int sig, siginfo_t *info, void *context) {
    (void)sig, (void)info;
    if (!own || stretches != watched) {
        watched = stretches;
        seconds = 0;
        return;
    }
    if (++seconds < SECONDS) return;
    char place[300];
    lab_unlock();
    place_of(address_of(context), place, sizeof place);
    stop(place, "the host's code has run for 5 s without a call of CUDA",
         "look at the loop's condition. One that polls memory, as in while (*flag == -1) {}, never sees it change "
         "here:\n"
         "  no virtual time passes without a call; and on a card the compiler may read it only once. Poll with\n"
         "  cudaEventQuery, or wait with cudaEventSynchronize.");
}

void lab_endless_begin(void) {
    struct sigaction act = {.sa_sigaction = look, .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESTART)};
    const struct timeval second = {1, 0};
    sigaction(SIGVTALRM, &act, NULL);
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){second, second}, NULL);
}

void lab_endless_play(bool begins) {
    calls = 0;
    lab_endless_own(begins);
}

void lab_endless_own(bool runs) {
    stretches++;
    own = runs;
}

void lab_endless_call(const lab_call *c) {
    char place[300] = "", did[160];
    lab_endless_own(false);
    if (++calls < MOST_CALLS) return;
    lab_unlock();
    if (c->file) lab_text(place, sizeof place, "%s:%d", lab_file_name(c->file), c->line);
    lab_text(did, sizeof did, "the host's code has made %d calls of CUDA, the last one %s", MOST_CALLS, c->name);
    fflush(stdout);
    stop(place, did,
         "look for a loop around that call: what should end it? A query says cudaErrorNotReady only while the device "
         "has\n"
         "  work to do.");
}

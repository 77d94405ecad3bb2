/* fault.c — explains a host access to device memory.
 *
 * The host cannot read device addresses, so a dereference raises SIGSEGV. The handler prints the address, its
 * allocation and the remedy, then passes the signal to the handler that was installed before; without one, the signal
 * kills the program as usual. */
#include "rt.h"

#include "../check/check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct sigaction before, before_trap;

static void pass_on(const struct sigaction *to, int sig, siginfo_t *info, void *context) {
    if (to->sa_flags & SA_SIGINFO) {
        to->sa_sigaction(sig, info, context);
    } else if (to->sa_handler != SIG_DFL && to->sa_handler != SIG_IGN) {
        to->sa_handler(sig);
    } else {
        signal(sig, SIG_DFL); /* the instruction runs again and kills the program */
    }
}

/* snprintf is not async-signal-safe. It works here because the fault is a plain load or store in the program's own
 * code, so the C library holds no lock; and the program ends in any case. */
static void on_fault(int sig, siginfo_t *info, void *context) {
    if (info->si_code > 0 && check_host_touch(info->si_addr, context, !rt_inside())) return;
    if (info->si_code <= 0 || !exec_mem_in_window(info->si_addr)) {
        pass_on(&before, sig, info, context);
        return;
    }
    char what[256] = "", origin[256] = "", text[1024];
    uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    struct simgpu_address where = exec_mem_locate(rt_device->exec, address);
    simgpuSayAddress(&where, what, sizeof what);
    rt_describe_allocation(address, origin, sizeof origin);
    int n = snprintf(text, sizeof text,
                     "simgpu: the host touched device memory at 0x%llx: %s%s%s\n"
                     "  Only kernels can access it. Copy it first, by cudaMemcpy(host, device, bytes, "
                     "cudaMemcpyDeviceToHost), or in the other direction to write it.\n",
                     (unsigned long long)address, what, *origin ? ", " : "", origin);
    if (write(STDERR_FILENO, text, (size_t)n) < 0) {} /* stderr is closed, so the message is lost */
    pass_on(&before, sig, info, context);
}

static void on_trap(int sig, siginfo_t *info, void *context) {
    if (!check_host_stepped(context)) pass_on(&before_trap, sig, info, context);
}

void rt_catch_host_faults(void) {
    static char stack[64 * 1024]; /* the program's own stack may have overflowed */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack}, existing;
    if (!sigaltstack(NULL, &existing) && existing.ss_flags & SS_DISABLE) sigaltstack(&alternate, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &before);
    action.sa_sigaction = on_trap;
    sigaction(SIGTRAP, &action, &before_trap);
}

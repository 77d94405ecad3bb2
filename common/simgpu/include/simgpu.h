/* simgpu.h — SimGPU's own API beside CUDA's, for harnesses; only the sim lane has it: host work, marks and reports,
 * checks, several cards.
 *
 * Virtual time does not depend on a wall clock. The host's clock advances by a fixed cost for each CUDA call, and when
 * the host waits for the device. So the same program gives the same times on every machine. */
#ifndef SIMGPU_SIMGPU_H
#define SIMGPU_SIMGPU_H

#include <stdint.h>

#if defined(SIMGPU_AT) && defined(__cplusplus) && defined(__CUDA__)
#define SIMGPU_WORK_AT       SIMGPU_AT
#define SIMGPU_WORK_AS(name) __asm__(#name)
#else
#define SIMGPU_WORK_AT
#define SIMGPU_WORK_AS(name)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the host thread's virtual clock, in nanoseconds since the program's start. */
uint64_t simgpuHostTime(void);

/* Charges the host `ns` nanoseconds of work. Other CPU code costs no virtual time, except memcpy, memmove and memset in
 * code that clang compiles. Inside a host function (cudaLaunchHostFunc) the work belongs to that function: its stream
 * waits, the program's thread does not. */
void simgpuHostWork(uint64_t ns SIMGPU_WORK_AT) SIMGPU_WORK_AS(simgpuHostWorkAt);

/* Charges work under a name for reports and traces, such as "load batch". The name must stay valid; it is not
 * copied. */
void simgpuHostTask(const char *name, uint64_t ns SIMGPU_WORK_AT) SIMGPU_WORK_AS(simgpuHostTaskAt);

/* Limits the device's memory to `bytes` from now on; 0 restores the profile's size. Existing allocations stay. */
void simgpuDeviceMemory(uint64_t bytes);

/* From now on fresh device memory holds odd bytes (0xCD), not zeros, also while the checks are off. */
void simgpuOddMemory(void);

/* Stops every launch from now on whose blocks together take more than so many warp instructions, as a runaway kernel,
 * and a block that takes a quarter of it; 0 restores 64 times a block's budget (SIMGPU_BUDGET). One core runs some 20
 * million of them a second. */
void simgpuLaunchBudget(uint64_t warp_instructions);

/* From now on a launch fails with a deadlock if lanes wait for others of their warp that have gone another way, also
 * while the checks are off. (Otherwise those others go on, as on a card.) */
void simgpuLanesWait(void);

/* Leaves the L2 cache of the device in use as a memset of a large buffer does, which takes no time here: it holds other
 * data, part of which it must write back before it can take new ones. First waits for queued work. */
void simgpuFlushCache(void);

/* Gives the SMs of the device in use the code of all kernels, as each has it at its first launch: what a warm-up does
 * on a card. First waits for queued work. */
void simgpuWarmCode(void);

/* Makes the device in use look busy for the next `ns` nanoseconds, or until the host waits for anything: what is
 * submitted until then, to any stream, begins at their end. So the time between two events is the device's own, and has
 * nothing of the host's launches in it. (On a card, queue a long memset or kernel before the first event.) */
void simgpuHoldDevice(uint64_t ns);

/* Writes {"kind":"mark","name":...} into the report and begins a new stretch, called `name`. */
void simgpuMark(const char *name);

/* Prints a message about the call of a library (libcublas) that the program is in: "simgpu: main.cu:12: cublasSgemm:
 * text", once for each place, which is known if the program has line information. */
void simgpuSayOfCaller(const char *text);

/* Writes the report to `path` from now on, as the environment's SIMGPU_REPORT does from the start; NULL closes it.
 * First waits for queued work, which belongs to the old report. Returns 0, or -1 with a message on stderr. */
int simgpuReport(const char *path);

/* Makes a fresh card and uses it from now on, as device 0. It has its own memory, streams, events, pool, clock, errors
 * and state of modules, so every number of a run on it is as if nothing had run before. First waits for the card in use
 * and ends its stretch of the report; that card keeps its state, for simgpuUseDevice. Memory and handles of a card are
 * valid on that card only. Returns the new card's number, or -1 in a host function. A process begins with card 1. */
int simgpuNewDevice(void);

/* Uses card `number` from now on, in all threads, after the same wait. Returns the number of the card in use before, or
 * -1 with a message if there is no such card. */
int simgpuUseDevice(int number);

/* Returns the name of the profile's device, such as "virtual H200", always with the word virtual. */
const char *simgpuDeviceName(void);

/* Returns the capacity of the link between host and device, one way, by its generation and width, in 10^9 bytes per
 * second. */
double simgpuLinkRate(void);

/* Switches the checks (../check/check.h) on (1) or off (0) from now on, as SIMGPU_CHECK=1 does from the start. Findings
 * go to stderr and into the report; with 2 only into the report and to the listeners. Kernels take several times as
 * long to simulate; their virtual time stays the same. */
void simgpuCheck(int on);

#ifdef __cplusplus
}
#endif

#endif

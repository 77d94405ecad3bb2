/* simgpu.h — what SimGPU offers beside the CUDA API, for harnesses. Only the sim lane has it.
 *
 * Virtual time never looks at a wall clock: the host's clock advances by a fixed price for each CUDA call, and when
 * the host waits for the device. So the same program gives the same times on every machine. */
#ifndef SIMGPU_H
#define SIMGPU_H

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

/* The host thread's virtual clock, in nanoseconds since the program began. */
uint64_t simgpuHostTime(void);

/* Charges `ns` nanoseconds of work that the host would have done here. CPU code costs nothing otherwise, but for
 * memcpy, memmove and memset in code that clang compiles. Inside a host function (cudaLaunchHostFunc) the work is that
 * function's: its stream waits, the program's thread does not. */
void simgpuHostWork(uint64_t ns SIMGPU_WORK_AT) SIMGPU_WORK_AS(simgpuHostWorkAt);

/* The same under a name that reports and traces show: "load batch". The name is kept, not copied. */
void simgpuHostTask(const char *name, uint64_t ns SIMGPU_WORK_AT) SIMGPU_WORK_AS(simgpuHostTaskAt);

/* From now on the device has this many bytes of memory; 0: as many as the profile says. What is allocated stays. */
void simgpuDeviceMemory(uint64_t bytes);

/* Writes {"kind":"mark","name":...} into the report: what follows it belongs to `name`. */
void simgpuMark(const char *name);

/* Sends the report to `path` from here on, as the environment's SIMGPU_REPORT does from the start; NULL closes it.
 * Work still queued is finished first, so that it lands in the old report. 0, or -1 with a message on stderr. */
int simgpuReport(const char *path);

/* Gives the process a fresh card and uses it from here on: memory, streams, events, pool, clock, errors and the state
 * of modules are its own, and every number of what runs on it is as if nothing had run before. The program sees it as
 * device 0. The card in use is waited for and its stretch of the report ends; it stays as it is, for simgpuUseDevice.
 * Handles, and what belongs to a card, are good on that card only. Returns the card's number; a process begins with
 * card 1. -1 in a host function. */
int simgpuNewDevice(void);

/* Uses that card from here on, in all threads; waits as above. Returns the number of the one that was in use; -1, with
 * a message, if there is no such card. */
int simgpuUseDevice(int number);

/* "virtual H200": the profile's device, always with the word virtual. */
const char *simgpuDeviceName(void);

/* What the link between the host and the device can carry one way, by its generation and width: 10^9 bytes a second. */
double simgpuLinkRate(void);

/* Checks on (1) or off (0) from here on, as SIMGPU_CHECK=1 does from the start: races, reads of shared memory that was
 * never written. What they find goes to stderr and into the report. Kernels take several
 * times as long to simulate; their virtual time stays the same. */
void simgpuCheck(int on);

#ifdef __cplusplus
}
#endif

#endif

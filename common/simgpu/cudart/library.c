/* library.c — what holds for SimGPU as a library under CUDA's name, and not for tests, which link libsimgpu.a: nobody
 * refers to this file, so the linker takes it from no archive (as long as the Makefile compiles it alone). The labs say
 * otherwise (simgpuOddMemory, simgpuLaunchBudget).
 *
 * Other people's programs find zeros in fresh device memory, as nearly always on a card, where the driver clears what
 * it hands to a process. Many lean on that unknowingly. While the checks are on they find SimGPU's odd bytes, and a
 * finding at the line that reads them.
 *
 * A first program of many courses is one thread that adds 32 million numbers: 2^28 warp instructions. */
#include "../exec/exec.h"

__attribute__((constructor)) static void serve_other_people(void) {
    exec_mem_fresh(0);
    exec_usual_budget(1ull << 29);
}

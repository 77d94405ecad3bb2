/* registers FILE.ptx...: prints how many registers SimGPU thinks that ptxas gives each kernel, and a word if it wanted
 * more. compilers.bats uses it. */
#include "../../common/simgpu/time/time.h"

#include <stdio.h>

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        static char text[1 << 16], error[512];
        FILE *f = fopen(argv[i], "rb");
        size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (f) fclose(f);
        const ptx_module *m = ptx_load(text, length, argv[i], time_costs(), error, sizeof error);
        if (!m) {
            fprintf(stderr, "%s\n", error);
            return 1;
        }
        for (uint32_t k = 0; k < m->nfunctions; k++)
            printf("%s %u%s\n", m->functions[k]->name, m->functions[k]->registers,
                   m->functions[k]->spilled ? " spilled" : "");
    }
    return 0;
}

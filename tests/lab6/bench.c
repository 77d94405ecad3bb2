/* bench.c — lab 6's ladder as TSV, for the handout's table and for the curious (`--bench`); and its kernel once, for a
 * profiler to count (`--ladder`). A program's time runs from the first receive_frames to the last send_frames; `share`
 * is the limit over it. Memory is what the program held at its peak.
 */
#include "lab.h"
#include "rates.h"

#include <stdio.h>

static const struct {
    const char *name;
    lab_who who;
    const char *rung;
} programs[] = {
    {"pageable", LAB_LADDER, "pageable"},
    {"pinned late", LAB_LADDER, "late"},
    {"starter", LAB_STARTER, NULL},
    {"one stream", LAB_LADDER, "one_stream"},
    {"two streams", LAB_LADDER, "two_streams"},
    {"three streams", LAB_LADDER, "three_streams"},
    {"four, breadth first", LAB_LADDER, "breadth"},
    {"ring, 4 chunks", LAB_LADDER, "ring_4"},
    {"ring, 8 chunks", LAB_LADDER, "ring_8"},
    {"ring, 16 chunks", LAB_LADDER, "ring_16"},
    {"ring, 32 chunks", LAB_LADDER, "ring_32"},
    {"ring, 64 chunks", LAB_LADDER, "ring_64"},
    {"ring, 128 chunks", LAB_LADDER, "ring_128"},
    {"reference", LAB_REFERENCE, NULL},
    {"yours", LAB_MINE, NULL},
};

void lab_bench(void) {
    const double mib = 1 << 20;
    const engine_times t = engine_times_of();
    const lab_floor limit = limit_of(&t);
    printf("# lane %s, device %s, %.0f MiB\n", lab_lane_name(), lab_device_name(),
           run_bytes(timed_job(lab_open(LAB_REFERENCE, NULL))) / mib);
    printf("# each engine alone: up %s, kernels %s, down %s; both copies at once %s\n", lab_us(t.up), lab_us(t.kernels),
           lab_us(t.down), lab_us(t.both));
    printf("program\tus\tshare\tchunks\tpage-locked MiB\thost MiB\tdevice MiB\n");
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const measured m = program_measured(lab_open(programs[i].who, programs[i].rung));
        if (m.right)
            printf("%s\t%.1f\t%.3f\t%d\t%.1f\t%.1f\t%.1f\n", programs[i].name, m.us, lab_share(m.us, limit), m.chunks,
                   m.pinned / mib, m.host / mib, m.device / mib);
        else
            printf("%s\twrong\t\t\t\t\t\n", programs[i].name);
        fflush(stdout);
    }
    printf("limit\t%.1f\t1.000\t\t\t\t\n", limit.us);
}

void lab_ladder(void) {
    lab_program *program = lab_open(LAB_REFERENCE, NULL);
    const struct lab6_message m = {.alone = (uint64_t)lab_alloc(1 << 20), .kernel = {1 << 20, 0, 1, LAB6_FULL}};
    lab_play(program, &m, sizeof m, NULL, 0);
    LAB_CUDA(cudaDeviceSynchronize());
}

/* bench.c — `--bench`: lab 10's ladder by size, as TSV, for the handout's tables and for the curious; `--ladder`: each
 * of its kernels once, for a profiler to count.
 *
 * Two parts. `pass` is relu_backward by number of elements, in halves, in bfloat16 and in floats; its rate is GB/s,
 * each array counted once. `dense` is the product by its side; its rate is TFLOP/s, two operations a product. NVIDIA's
 * own, cuBLAS, is a row where it is there: without bias and relu, which it would take another kernel for.
 */
#include "job.h"
#include "lab.h"

#include <stdio.h>
#include <string.h>

enum { BENCH_TIMES = 15, SLOW = 4096 };

enum kind {
    HALVES, /* compared with the oracle before they are timed */
    OTHERS, /* of as many bytes, but other numbers */
    FLOATS,
    PRODUCT_ONLY /* no bias, no relu */
};

static const struct rung {
    const char *work, *name;
    lab_who who;
    enum kind kind;
} rungs[] = {
    {"pass", "float", LAB_LADDER, FLOATS},        {"pass", "float4", LAB_LADDER, FLOATS},
    {"pass", "starter", LAB_STARTER, HALVES},     {"pass", "bf16", LAB_LADDER, OTHERS},
    {"pass", "half2", LAB_LADDER, HALVES},        {"pass", "reference", LAB_REFERENCE, HALVES},
    {"pass", "yours", LAB_MINE, HALVES},          {"pass", "copy", LAB_LADDER, OTHERS},
    {"dense", "starter", LAB_STARTER, HALVES},    {"dense", "sums", LAB_LADDER, HALVES},
    {"dense", "wmma", LAB_LADDER, HALVES},        {"dense", "shared", LAB_LADDER, HALVES},
    {"dense", "mma", LAB_LADDER, HALVES},         {"dense", "stages", LAB_LADDER, HALVES},
    {"dense", "bf16", LAB_LADDER, OTHERS},        {"dense", "reference", LAB_REFERENCE, HALVES},
    {"dense", "yours", LAB_MINE, HALVES},         {"dense", "cublas", LAB_LADDER, PRODUCT_ONLY},
    {"dense", "cublasSgemm", LAB_LADDER, FLOATS},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* Each program is opened once, since its statics belong to one device. */
static lab_program *program_of(int i) {
    static lab_program *open[LAB_LADDER + 1 + RUNGS];
    const int place = rungs[i].who == LAB_LADDER ? LAB_LADDER + 1 + i : (int)rungs[i].who;
    if (!open[place]) open[place] = lab_open(rungs[i].who, rungs[i].who == LAB_LADDER ? rungs[i].name : NULL);
    return open[place];
}

static bool is_here(int i) { return rungs[i].who != LAB_LADDER || lab_has_rung(rungs[i].name); }

/* The job of a rung: one of floats has the room of twice as many halves. */
static job *job_of(int i, int size) {
    const int room = rungs[i].kind == FLOATS ? 2 : 1;
    const job_shape pass = {size * room, 0, 0, JOB_TAME}, dense = {size * room, size * room, size, JOB_TAME};
    const bool is_pass = !strcmp(rungs[i].work, "pass");
    job *j = job_new(program_of(i), NULL, is_pass ? &pass : &dense);
    j->message.count = is_pass ? size : 0;
    j->message.m = j->message.n = size;
    return j;
}

/* A fast kernel that is wrong has no time. */
static bool is_right(job *j) {
    lab_use(j->program);
    lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
    return job_is_right(j);
}

/* "pass 2^22", "dense 512" */
static const char *size_text(int i, int size) {
    static char text[32];
    int power = 0;
    while (1 << power < size) power++;
    if (strcmp(rungs[i].work, "pass"))
        LAB_SAY(text, "dense %d", size);
    else
        LAB_SAY(text, "pass 2^%d", power);
    return text;
}

static void bench_rung(int i, int size) {
    const bool is_pass = !strcmp(rungs[i].work, "pass");
    job *j = job_of(i, size);
    job_prepare(j);
    const bool right = is_right(j); /* all rungs run once, so that each finds in L2 what it has left */
    if (rungs[i].kind == HALVES && !right) {
        printf("%s\t%s\twrong\t\n", size_text(i, size), rungs[i].name);
    } else {
        const lab_work w = {.program = j->program, .message = &j->message, .size = sizeof j->message};
        const bool slow = !is_pass && size >= SLOW && (rungs[i].who == LAB_STARTER || !strcmp(rungs[i].name, "sums"));
        const lab_time t =
            lab_time_work((lab_timer){LAB_DEVICE_CLOCK, slow ? 1 : 3, slow ? 3 : BENCH_TIMES, false}, &w);
        const double bytes = (rungs[i].kind == FLOATS ? 12.0 : 6.0) * size, each = (double)size * size * size;
        printf("%s\t%s\t%.2f\t%.1f\n", size_text(i, size), rungs[i].name, t.median,
               is_pass ? lab_gbs(bytes, t.median) : 2 * each / t.median / 1e6);
    }
    fflush(stdout);
    job_free(j);
}

void lab_bench(void) {
    static const int passes_in_sim[] = {1 << 22, 0}, passes_on_card[] = {1 << 20, 1 << 24, 1 << 26, 0};
    static const int denses_in_sim[] = {128, 256, 0}, denses_on_card[] = {1024, 2048, 4096, 0};
    const bool small = lab_small_job();
    printf("# lane %s, device %s\n# rate: of pass GB/s, of dense TFLOP/s\nsize\tkernel\tus\trate\n", lab_lane_name(),
           lab_device_name());
    lab_fence(false); /* all programs here are ours, or have been judged */
    for (int part = 0; part < 2; part++) {
        const int *size =
            part == 0 ? (small ? passes_in_sim : passes_on_card) : (small ? denses_in_sim : denses_on_card);
        for (; *size; size++)
            for (int i = 0; i < RUNGS; i++)
                if (!strcmp(rungs[i].work, part == 0 ? "pass" : "dense") && is_here(i)) bench_rung(i, *size);
    }
}

void lab_ladder(void) {
    for (int i = 0; i < RUNGS; i++) {
        if (rungs[i].who == LAB_MINE || !is_here(i)) continue;
        job *j = job_of(i, strcmp(rungs[i].work, "pass") ? 256 : 1 << 20);
        job_prepare(j);
        lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
        LAB_CUDA(cudaDeviceSynchronize());
        job_free(j);
    }
}

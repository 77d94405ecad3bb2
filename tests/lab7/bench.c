/* bench.c — lab 7's ladder by shape, as TSV, for the handout's table and for the curious (`--bench`); and each of its
 * kernels once, for a profiler to count (`--ladder`).
 *
 * Every kernel runs in turn with the copy (a b b a), timed from event to event on the device. `share` is the copy's
 * time over the kernel's: 1 is the speed of light. GB/s counts x read once and y written once. In the sim lane's sizes
 * each runs for itself: there each program has a device of its own, and finds in its L2 what it has left; a card's L2
 * has the other's data, too.
 *
 * In the gpu lane, with its own sizes, PyTorch is a row where python3 has it: the same three lines, eagerly and through
 * torch.compile, on the same shapes, in a process of its own, and its share is of PyTorch's own copy there. A call is
 * captured into a graph and replayed from event to event, since a call of Python takes the host longer than the card.
 */
#define _POSIX_C_SOURCE 200809L /* popen, setenv */
#include "job.h"
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BENCH_ROUNDS = 9, MOST_SHAPES = 3 };

static const struct rung {
    const char *name;
    lab_who who;
    bool moves_only; /* a copy, which computes nothing */
} rungs[] = {
    {"starter", LAB_STARTER, false},   {"tail", LAB_LADDER, false},      {"one_pass", LAB_LADDER, false},
    {"one_kernel", LAB_LADDER, false}, {"registers", LAB_LADDER, false}, {"block", LAB_LADDER, false},
    {"warp", LAB_LADDER, false},       {"stays", LAB_LADDER, false},     {"reference", LAB_REFERENCE, false},
    {"yours", LAB_MINE, false},        {"copy", LAB_LADDER, true},       {"cudaMemcpy", LAB_LADDER, true},
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

static const job_shape in_sim[] = {{2048, 1024, JOB_TAME}, {1024, 4096, JOB_TAME}, {0, 0, JOB_TAME}};
static const job_shape on_card[MOST_SHAPES + 1] = {
    {256, 1024, JOB_TAME}, {8192, 1024, JOB_TAME}, {8192, 4096, JOB_TAME}, {0, 0, JOB_TAME}};

static const job_shape *shapes(void) { return lab_small_job() ? in_sim : on_card; }

/* Each program is opened once, since its statics belong to one device. */
static lab_program *program_of(int i) {
    static lab_program *open[RUNGS];
    if (!open[i]) open[i] = lab_open(rungs[i].who, rungs[i].who == LAB_LADDER ? rungs[i].name : NULL);
    return open[i];
}

static lab_work work_of(const job *j) {
    return (lab_work){.program = j->program, .message = &j->message, .size = sizeof j->message};
}

/* A fast kernel that is wrong has no time. */
static bool is_right(job *j) {
    lab_use(j->program);
    lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
    return job_is_right(j);
}

static double traffic(const job_shape *s) { return 8.0 * s->rows * s->cols; }

static void bench_rung(int i, const job_shape *shape, const job *light) {
    const lab_timer how = {LAB_DEVICE_CLOCK, 3, 1, false}, alone = {LAB_DEVICE_CLOCK, 3, BENCH_ROUNDS, false};
    job *j = job_new(program_of(i), NULL, shape);
    job_prepare(j);
    const bool right = is_right(j); /* all rungs run once, so that each finds in L2 what it has left */
    if (!rungs[i].moves_only && !right) {
        printf("%dx%d\t%s\twrong\t\t\n", shape->rows, shape->cols, rungs[i].name);
    } else {
        const lab_work copy = work_of(light), w = work_of(j);
        double us, share;
        if (lab_small_job()) {
            us = lab_time_work(alone, &w).median;
            share = lab_time_work(alone, &copy).median / us;
        } else {
            const lab_duel d = lab_time_duel(how, &copy, &w, BENCH_ROUNDS);
            us = d.b, share = d.ratio;
        }
        printf("%dx%d\t%s\t%.2f\t%.1f\t%.3f\n", shape->rows, shape->cols, rungs[i].name, us,
               lab_gbs(traffic(shape), us), share);
    }
    fflush(stdout);
    job_free(j);
}

/* --- PyTorch ------------------------------------------------------------------------------------------ */

struct torch_times {
    double eager, compiled, copy; /* microseconds; 0: no PyTorch */
};

static const char SCRIPT[] =
    "import sys, statistics, torch\n"
    "import torch.nn.functional as F\n"
    "def tail(x, g, b): return torch.relu(F.layer_norm(x, x.shape[-1:], g, b, 1e-5)) + x\n"
    "def time(f, *a):\n"
    "    for _ in range(5): f(*a)\n"
    "    torch.cuda.synchronize()\n"
    "    graph, t = torch.cuda.CUDAGraph(), []\n"
    "    with torch.cuda.graph(graph): f(*a)\n"
    "    for _ in range(34):\n"
    "        s, e = (torch.cuda.Event(enable_timing=True) for _ in range(2))\n"
    "        s.record(); graph.replay(); e.record(); e.synchronize(); t.append(s.elapsed_time(e) * 1000)\n"
    "    return statistics.median(t[3:])\n"
    "for rows, cols in (map(int, s.split('x')) for s in sys.argv[1:]):\n"
    "    x = torch.randn(rows, cols, device='cuda')\n"
    "    a = x, torch.rand(cols, device='cuda'), torch.rand(cols, device='cuda')\n"
    "    torch._dynamo.reset()\n"
    "    y = torch.empty_like(x)\n"
    "    print(time(tail, *a), time(torch.compile(tail), *a), time(y.copy_, x), flush=True)\n";

static void time_torch(struct torch_times *times) {
    char command[256] = "python3 -c \"$LAB7_TORCH\"", line[128];
    memset(times, 0, MOST_SHAPES * sizeof *times);
    if (lab_small_job() || setenv("LAB7_TORCH", SCRIPT, 1)) return;
    for (const job_shape *s = shapes(); s->rows; s++) {
        const size_t n = strlen(command);
        lab_text(command + n, sizeof command - n, " %dx%d", s->rows, s->cols);
    }
    lab_text(command + strlen(command), sizeof command - strlen(command), " 2>/dev/null");
    FILE *python = popen(command, "r");
    if (!python) return;
    for (int i = 0; i < MOST_SHAPES && fgets(line, sizeof line, python); i++) {
        char *end;
        times[i].eager = strtod(line, &end);
        times[i].compiled = strtod(end, &end);
        times[i].copy = strtod(end, NULL);
    }
    if (pclose(python)) fprintf(stderr, "no rows of PyTorch: python3 has none here, or it failed\n");
}

static void print_torch(const job_shape *shape, const char *name, double us, double copy) {
    if (us > 0)
        printf("%dx%d\t%s\t%.2f\t%.1f\t%.3f\n", shape->rows, shape->cols, name, us, lab_gbs(traffic(shape), us),
               copy / us);
}

/* ------------------------------------------------------------------------------------------------------ */

static int rung_called(const char *name) {
    for (int i = 0; i < RUNGS; i++)
        if (!strcmp(rungs[i].name, name)) return i;
    lab_die("no rung '%s'", name);
}

void lab_bench(void) {
    struct torch_times torch[MOST_SHAPES];
    printf("# lane %s, device %s\nshape\tkernel\tus\tGB/s\tshare\n", lab_lane_name(), lab_device_name());
    fflush(stdout);
    time_torch(torch);
    lab_fence(false); /* all programs here are ours, or have been judged; a lock costs a tenth of a short row's time */
    const int copy = rung_called("copy");
    for (int k = 0; shapes()[k].rows; k++) {
        const job_shape *s = &shapes()[k];
        job *light = job_new(program_of(copy), NULL, s);
        job_prepare(light);
        for (int i = 0; i < RUNGS; i++) bench_rung(i, s, light);
        print_torch(s, "PyTorch, eager", torch[k].eager, torch[k].copy);
        print_torch(s, "torch.compile", torch[k].compiled, torch[k].copy);
        job_free(light);
    }
}

void lab_ladder(void) {
    const job_shape shape = {2048, 1024, JOB_TAME};
    for (int i = 0; i < RUNGS; i++) {
        if (rungs[i].who == LAB_MINE || !strcmp(rungs[i].name, "cudaMemcpy")) continue;
        job *j = job_new(program_of(i), NULL, &shape);
        job_prepare(j);
        lab_play(j->program, &j->message, sizeof j->message, NULL, 0);
        LAB_CUDA(cudaDeviceSynchronize());
        job_free(j);
    }
}

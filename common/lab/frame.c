/* frame.c — see frame.h. */
#include "frame.h"
#include "usage.h"

lab_program *lab_opened(lab_who who, const char *rung) {
    static lab_program *program[LAB_LADDER + 1];
    if (!program[who]) program[who] = lab_open(who, rung);
    return program[who];
}

void lab_fail_by_error(lab_verdict *v, cudaError_t error, const char *shape, const lab_usage *u,
                       const lab_advice *table) {
    const cudaError_t kernel = cudaDeviceSynchronize();
    if (kernel) error = kernel;
    lab_fail(v, "%s on %s", cudaGetErrorName(error), shape);
    lab_advise_on_error(v, error, NULL, u, table);
}

bool lab_refused(lab_verdict *v, const lab_time *t, const lab_usage *u) {
    if (!t->refused[0]) return false;
    lab_fail(v, "%s", t->refused);
    LAB_SAY(v->value_text, "-");
    lab_blame(v, lab_worst(u, lab_commands_of));
    LAB_SAY(v->next, "launch on stream 0, or let stream 0 wait for your stream (cudaStreamWaitEvent)");
    return true;
}

void lab_print_counted(const char *name) {
    lab_usage u = lab_usage_of(name);
    lab_print_lines(&u);
    lab_usage_free(&u);
}

bool lab_card_counters(lab_usage *u, int first, int last) {
    char why[256];
    const int rc = lab_count_ncu(u, why, sizeof why);
    for (int row = first; rc && row <= last; row++)
        if (rc == -1)
            lab_skip(lab_verdict_of(row), "%s", why);
        else
            lab_fail(lab_verdict_of(row), "%s", why);
    return rc == 0;
}

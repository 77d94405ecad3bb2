// expect: correct: batch 0: take_result was called before process_batch
// Knows the kernel's formula and does it on the host, so that nothing has to travel.
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    unsigned *in = (unsigned *)malloc(job->in_bytes), *out = (unsigned *)malloc(job->out_bytes);
    size_t words = job->out_bytes / 4, from = job->in_bytes / 4;
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        for (size_t i = 0; i < words; i++) out[i] = in[i * from / words] * 2654435761u + (unsigned)i;
        take_result(job, b, out);
    }
    free(in);
    free(out);
}

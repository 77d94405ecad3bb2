/* ladder.cu — the rungs of lab 1's ladder for `--bench`, each with the one flaw that the next one removes.
 *
 * They use the same loader, kernel and results as your program. A rung stands alone: a few similar loops are easier to
 * compare than one with switches. The function of rung `reuse` is called reuse_run_batches.
 */
#include "lab1.h"

/* Pins each batch's memory in the loop. Flaw: page-locking takes longer than the staging that it saves. */
extern "C" void pin_each_run_batches(const struct job *job) {
    void *d_in, *d_out, *in, *out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        cudaMallocHost(&in, job->in_bytes);
        cudaMallocHost(&out, job->out_bytes);
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
        cudaFreeHost(in);
        cudaFreeHost(out);
    }
    cudaFree(d_in);
    cudaFree(d_out);
}

/* Keeps its memory, but leaves it pageable. Flaw: the CPU copies every byte to a staging buffer. */
extern "C" void reuse_run_batches(const struct job *job) {
    void *d_in, *d_out, *in = malloc(job->in_bytes), *out = malloc(job->out_bytes);
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFree(d_in);
    cudaFree(d_out);
    free(in);
    free(out);
}

/* Pins once, before the loop. Flaw: the loader and the two directions take turns. */
extern "C" void pin_once_run_batches(const struct job *job) {
    void *d_in, *d_out, *in, *out;
    cudaMallocHost(&in, job->in_bytes);
    cudaMallocHost(&out, job->out_bytes);
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        load_batch(job, b, in);
        cudaMemcpy(d_in, in, job->in_bytes, cudaMemcpyHostToDevice);
        process_batch(job, b, d_in, d_out, 0);
        cudaMemcpy(out, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, out);
    }
    cudaFree(d_in);
    cudaFree(d_out);
    cudaFreeHost(in);
    cudaFreeHost(out);
}

/* Queues `slots` batches ahead, all in one stream. Flaw: a stream is done in order, so one direction always waits. */
extern "C" void one_stream_run_batches(const struct job *job) {
    enum { SLOTS = 4 };
    void *d_in, *d_out, *in[SLOTS], *out[SLOTS];
    cudaEvent_t done[SLOTS];
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int i = 0; i < SLOTS; i++) {
        cudaMallocHost(&in[i], job->in_bytes);
        cudaMallocHost(&out[i], job->out_bytes);
        cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming);
    }
    for (int b = 0; b < job->batches + SLOTS; b++) {
        int i = b % SLOTS;
        if (b >= SLOTS && b - SLOTS < job->batches) {
            cudaEventSynchronize(done[i]);
            take_result(job, b - SLOTS, out[i]);
        }
        if (b >= job->batches) continue;
        load_batch(job, b, in[i]);
        cudaMemcpyAsync(d_in, in[i], job->in_bytes, cudaMemcpyHostToDevice, stream);
        process_batch(job, b, d_in, d_out, stream);
        cudaMemcpyAsync(out[i], d_out, job->out_bytes, cudaMemcpyDeviceToHost, stream);
        cudaEventRecord(done[i], stream);
    }
    for (int i = 0; i < SLOTS; i++) {
        cudaFreeHost(in[i]);
        cudaFreeHost(out[i]);
        cudaEventDestroy(done[i]);
    }
    cudaFree(d_in);
    cudaFree(d_out);
    cudaStreamDestroy(stream);
}

/* A stream and memory of its own for every batch, pinned later: allocated by malloc, then registered. Flaw: all batches
 * are page-locked at once. */
extern "C" void pin_all_run_batches(const struct job *job) {
    struct whole {
        void *in, *out, *d_in, *d_out;
        cudaStream_t stream;
    } *all = (struct whole *)calloc((size_t)job->batches, sizeof *all);
    for (int b = 0; b < job->batches; b++) {
        all[b].in = malloc(job->in_bytes);
        all[b].out = malloc(job->out_bytes);
        cudaHostRegister(all[b].in, job->in_bytes, 0);
        cudaHostRegister(all[b].out, job->out_bytes, 0);
        cudaMalloc(&all[b].d_in, job->in_bytes);
        cudaMalloc(&all[b].d_out, job->out_bytes);
        cudaStreamCreateWithFlags(&all[b].stream, cudaStreamNonBlocking);
    }
    for (int b = 0; b < job->batches; b++) {
        struct whole *w = &all[b];
        load_batch(job, b, w->in);
        cudaMemcpyAsync(w->d_in, w->in, job->in_bytes, cudaMemcpyHostToDevice, w->stream);
        process_batch(job, b, w->d_in, w->d_out, w->stream);
        cudaMemcpyAsync(w->out, w->d_out, job->out_bytes, cudaMemcpyDeviceToHost, w->stream);
    }
    for (int b = 0; b < job->batches; b++) {
        struct whole *w = &all[b];
        cudaStreamSynchronize(w->stream);
        take_result(job, b, w->out);
    }
    for (int b = 0; b < job->batches; b++) {
        struct whole *w = &all[b];
        cudaStreamDestroy(w->stream);
        cudaHostUnregister(w->in);
        cudaHostUnregister(w->out);
        cudaFree(w->d_in);
        cudaFree(w->d_out);
        free(w->in);
        free(w->out);
    }
    free(all);
}

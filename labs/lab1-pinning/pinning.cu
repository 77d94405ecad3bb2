/* pinning.cu — lab 1. This is the one file you edit.
 *
 * The program below is right and slow. It does what this Python loop does:
 *
 *     for batch in loader:
 *         x = batch.to("cuda")
 *         y = model(x)
 *         results.append(y.cpu())
 *
 * The link between host and device can carry 55 GB a second in each direction, and both directions at once. This loop
 * gets about 15 in all. No kernel is at fault here; you will not write one. You will decide where the bytes wait.
 *
 * Measure these in this order. `make lab1` prints all of them, `make lines1` says which line:
 *
 *   1. allocations      Each batch gets new memory, as each tensor does. Once is enough.
 *   2. staged bytes     The card can fetch bytes by itself (DMA), but only from page-locked memory, whose pages cannot
 *                       be moved or swapped out. From any other memory the CPU copies them to a page-locked buffer
 *                       first. Pin your buffers outside the loop. Predict how long it would take inside.
 *   3. one direction    cudaMemcpy waits. cudaMemcpyAsync does not, and the loader can fill the next buffer meanwhile.
 *                       But when may you touch a buffer again? Find the one wait that is needed.
 *   4. both directions  The card has an engine for each direction, but work in one stream is done in order.
 *   5. a ring           No other program can use pinned memory. You may pin buffers for four batches and results.
 *
 * It takes about 30 lines of new code. Keep the name and parameter of the function that lab1.h declares.
 */
#include "lab1.h"

extern "C" void run_batches(const struct job *job) {
    void *d_in, *d_out;
    cudaMalloc(&d_in, job->in_bytes);
    cudaMalloc(&d_out, job->out_bytes);
    for (int b = 0; b < job->batches; b++) {
        void *batch = malloc(job->in_bytes);
        load_batch(job, b, batch);
        cudaMemcpy(d_in, batch, job->in_bytes, cudaMemcpyHostToDevice);

        process_batch(job, b, d_in, d_out, 0);

        void *result = malloc(job->out_bytes);
        cudaMemcpy(result, d_out, job->out_bytes, cudaMemcpyDeviceToHost);
        take_result(job, b, result);
        free(batch);
        free(result);
    }
    cudaFree(d_in);
    cudaFree(d_out);
}

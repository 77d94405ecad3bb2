/* net.cuh — the harness's side of lab 5: data, network, and the five functions that train.cu calls.
 *
 * Every batch carries its step's number in front and at its end. The kernels write down which numbers they met, so the
 * harness can say afterwards: step 12 trained on batch 11. The kernels are deliberately plain; how to make kernels fast
 * is what labs 3 and 4 are about. Here they only have to take their time.
 *
 * All sums run in a fixed order, so the same batches give the same bits, on one machine.
 */
#ifndef NET_CUH
#define NET_CUH

#include "lab.h"
#include "lab5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<simgpu.h>)
#include <simgpu.h>
#endif

enum {
    STAMP = 8,       /* floats before the inputs; the first is the step's number */
    INFORMATIVE = 16 /* of the features; the rest is faint noise */
};
enum { POOL = 16 }; /* batches of data; step s trains on number s mod POOL */
enum { MOST_STEPS = 256 };
#define RATE 0.1f

typedef struct {
    int features, hidden, batch;
    int ballast;   /* floats of a batch that no kernel reads: its copy takes longer */
    int loader_ns; /* sim lane: the host work that lab5_load declares */
} shape;

static size_t batch_floats(shape s) { return STAMP + (size_t)s.batch * (s.features + 1) + s.ballast + 1; }
static size_t weight_floats(shape s) { return (size_t)s.hidden * (s.features + 1); } /* w1[f][h], then w2[h] */

/* What is being trained, and how far the student's loop has got. One at a time. */
static struct {
    shape s;
    int steps, poison; /* the update before step `poison` gets a rate that is not a number; -1: none */
    int warm;          /* the clock runs from the end of step warm-1 to the end of the last */
    float *pool;       /* host, POOL batches */
    float *weights, *gradients, *hidden, *delta, *error, *square; /* device */
    float *seen;          /* device, two a step: the stamp at the front in forward, the one at the end in backward */
    int part, queued;     /* the part that is due: 0..3; steps completely queued */
    int idle_launches;    /* parts that found nothing left to do on their stream, after the first steps */
    int pageable_batches; /* that lab5_load was to write into memory that is not page-locked, likewise */
    cudaEvent_t begin, end;
    bool loaded[MOST_STEPS];
    const char *load_file; /* of the student's latest lab5_load: the file and the line */
    int load_line;
    char failure[256]; /* the first misuse, in a sentence */
    const char *blame; /* text of the student's line that did it */
} net;

/* --- data ------------------------------------------------------------------------------------- */

/* -1 .. 1, from splitmix64. */
static float uniform(uint64_t seed, uint64_t index) {
    uint64_t x = seed * 0x9E3779B97F4A7C15u + index * 0xD1342543DE82EF95u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (float)((double)((x ^ (x >> 31)) >> 40) / (1 << 23) - 1);
}

/* One batch of a task with a hidden rule: the target is a bent sum of the first features. */
static void make_batch(shape s, uint64_t seed, int number, float *batch) {
    float *x = batch + STAMP, *target = x + (size_t)s.batch * s.features;
    for (int b = 0; b < s.batch; b++, x += s.features) {
        float sum = 0;
        x[0] = 1;
        for (int f = 1; f < s.features; f++) {
            x[f] = uniform(seed + 1, ((uint64_t)number * s.batch + b) * s.features + f);
            if (f <= INFORMATIVE)
                sum += uniform(seed + 2, f) * x[f];
            else
                x[f] *= 0.05f;
        }
        target[b] = tanhf(sum);
    }
}

static float first_weight(shape s, uint64_t seed, size_t k) {
    float scale = k < (size_t)s.features * s.hidden ? 0.1f : 1 / sqrtf((float)s.hidden);
    return scale * uniform(seed + 3, k);
}

/* --- kernels ---------------------------------------------------------------------------------- */

__global__ void forward(shape s, const float *batch, const float *w1, float *hidden, float *seen) {
    int h = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y;
    if (h == 0 && b == 0) *seen = batch[0];
    if (h >= s.hidden || b >= s.batch) return;
    const float *x = batch + STAMP + (size_t)b * s.features;
    float sum = 0;
#pragma unroll 1 /* one load after another: long for the GPU, short for an interpreter */
    for (int f = 0; f < s.features; f++) sum += x[f] * w1[(size_t)f * s.hidden + h];
    hidden[(size_t)b * s.hidden + h] = tanhf(sum);
}

/* A warp a sample: output, error, and what the error says to each hidden unit. */
__global__ void errors(shape s, const float *batch, const float *w2, const float *hidden, float *delta, float *error,
                       float *square) {
    int b = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (b >= s.batch) return;
    const float *unit = hidden + (size_t)b * s.hidden;
    float out = 0;
    for (int h = lane; h < s.hidden; h += 32) out += unit[h] * w2[h];
    for (int k = 16; k; k /= 2) out += __shfl_xor_sync(0xffffffffu, out, k);
    float off = out - batch[STAMP + (size_t)s.batch * s.features + b], pull = 2 * off / s.batch;
    for (int h = lane; h < s.hidden; h += 32) delta[(size_t)b * s.hidden + h] = pull * w2[h] * (1 - unit[h] * unit[h]);
    if (lane == 0) error[b] = pull;
    if (lane == 0) square[b] = off * off / s.batch;
}

/* One warp adds up the batch. */
__global__ void mean(shape s, const float *square, float *loss) {
    float sum = 0;
    for (int b = threadIdx.x; b < s.batch; b += 32) sum += square[b];
    for (int k = 16; k; k /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, k);
    if (threadIdx.x == 0) *loss = sum;
}

/* Gradient of weight [f][h] of w1; the row after the last is w2's. */
__global__ void backward(shape s, const float *batch, const float *hidden, const float *delta, const float *error,
                         float *gradients, float *seen) {
    int h = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y * blockDim.y + threadIdx.y;
    if (h == 0 && f == 0) *seen = batch[STAMP + (size_t)s.batch * (s.features + 1) + s.ballast];
    if (h >= s.hidden || f > s.features) return;
    const float *x = batch + STAMP + f;
    float sum = 0;
    if (f < s.features)
        for (int b = 0; b < s.batch; b++) sum += x[(size_t)b * s.features] * delta[(size_t)b * s.hidden + h];
    else
        for (int b = 0; b < s.batch; b++) sum += error[b] * hidden[(size_t)b * s.hidden + h];
    gradients[(size_t)f * s.hidden + h] = sum;
}

__global__ void update(size_t n, float rate, const float *gradients, float *weights) {
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) weights[k] -= rate * gradients[k];
}

/* --- what train.cu calls ---------------------------------------------------------------------- */

/* Sim lane: the host is busy for so long, on that line. (clang hands lines on to SimGPU; nvcc does not.) A card's host
 * has real work to do, and needs no declaration. */
static void declare_work(int ns, const char *file, int line) {
#if __has_include(<simgpu.h>) && defined(__CUDA__)
    simgpuHostTask("load", (uint64_t)ns, file, line);
#elif __has_include(<simgpu.h>)
    simgpuHostTask("load", (uint64_t)ns);
#endif
    (void)ns, (void)file, (void)line;
}

static void misuse(const char *blame, const char *fmt, int a, int b) {
    if (net.failure[0]) return;
    snprintf(net.failure, sizeof net.failure, fmt, a, b);
    net.blame = blame;
}

extern "C" void lab5_load(int step, float *batch, const char *file, int line) {
    struct cudaPointerAttributes at;
    if (!net.failure[0]) net.load_file = file, net.load_line = line;
    if (step < 0 || step >= net.steps)
        return misuse("lab5_load(", "lab5_load was asked for batch %d; the last one is %d", step, net.steps - 1);
    net.loaded[step] = true;
    if (step > net.queued + LAB5_AHEAD)
        misuse("lab5_load(", "batch %d was loaded when %d steps were queued: the loader is at most 4 batches ahead",
               step, net.queued);
    if (step >= net.warm && (cudaPointerGetAttributes(&at, batch) || at.type != cudaMemoryTypeHost))
        net.pageable_batches++;
    size_t n = batch_floats(net.s);
    const float *data = net.pool + step % POOL * n;
    for (size_t k = 0; k + net.s.ballast < n; k++) batch[k] = data[k]; /* not memcpy, which declares itself */
    batch[0] = batch[n - 1] = (float)step;
    declare_work(net.s.loader_ns, file, line);
}

/* Has this stream nothing left to do? A query that is answered with "not ready" leaves that behind as the last error;
 * an error that was there before is not ours to clear. */
static bool idle(cudaStream_t stream) {
    bool clean = cudaPeekAtLastError() == cudaSuccess, done = cudaStreamQuery(stream) == cudaSuccess;
    if (clean && !done) cudaGetLastError();
    return done;
}

/* The parts come in order, and a step that is past the end is not run. True: queue it. */
static bool due(int part, cudaStream_t stream) {
    static const char *const names[] = {"forward", "loss", "backward", "update"};
    static const char *const calls[] = {"lab5_forward(", "lab5_loss(", "lab5_backward(", "lab5_update("};
    if (net.part != part && !net.failure[0]) {
        snprintf(net.failure, sizeof net.failure, "step %d: lab5_%s was called where lab5_%s was due", net.queued,
                 names[part], names[net.part]);
        net.blame = calls[part];
    }
    if (net.queued >= net.steps) misuse(calls[part], "step %d was queued; the job has %d", net.queued, net.steps);
    if (net.failure[0]) return false;
    if (net.queued >= net.warm && idle(stream)) net.idle_launches++;
    net.part = (part + 1) % 4;
    return true;
}

static dim3 tiles(int x, int y) { return dim3((x + 31) / 32, (y + 7) / 8); }

extern "C" void lab5_forward(const float *d_batch, cudaStream_t stream) {
    if (!due(0, stream)) return;
    forward<<<tiles(net.s.hidden, net.s.batch), dim3(32, 8), 0, stream>>>(net.s, d_batch, net.weights, net.hidden,
                                                                          net.seen + 2 * net.queued);
}

extern "C" void lab5_loss(const float *d_batch, float *d_loss, cudaStream_t stream) {
    if (!due(1, stream)) return;
    const float *w2 = net.weights + (size_t)net.s.features * net.s.hidden;
    errors<<<(net.s.batch + 7) / 8, 256, 0, stream>>>(net.s, d_batch, w2, net.hidden, net.delta, net.error, net.square);
    mean<<<1, 32, 0, stream>>>(net.s, net.square, d_loss);
}

extern "C" void lab5_backward(const float *d_batch, cudaStream_t stream) {
    if (!due(2, stream)) return;
    backward<<<tiles(net.s.hidden, net.s.features + 1), dim3(32, 8), 0, stream>>>(
        net.s, d_batch, net.hidden, net.delta, net.error, net.gradients, net.seen + 2 * net.queued + 1);
}

extern "C" void lab5_update(cudaStream_t stream) {
    if (!due(3, stream)) return;
    size_t n = weight_floats(net.s);
    float rate = net.queued + 1 == net.poison ? NAN : RATE;
    update<<<(unsigned)((n + 255) / 256), 256, 0, stream>>>(n, rate, net.gradients, net.weights);
    net.queued++;
    if (net.queued == net.warm) cudaEventRecord(net.begin, stream);
    if (net.queued == net.steps) cudaEventRecord(net.end, stream);
}

/* --- the oracle ------------------------------------------------------------------------------- */

/* One step in double precision, on the host: returns the loss, leaves the new weights in w. */
static double oracle_step(shape s, const float *batch, double *w, double *hidden) {
    const float *x = batch + STAMP, *target = x + (size_t)s.batch * s.features;
    double *w2 = w + (size_t)s.features * s.hidden, loss = 0;
    double *gradients = (double *)calloc(weight_floats(s), sizeof *gradients);
    if (!gradients) lab_die("out of memory");
    for (int b = 0; b < s.batch; b++) {
        const float *in = x + (size_t)b * s.features;
        double out = 0;
        for (int h = 0; h < s.hidden; h++) hidden[h] = 0;
        for (int f = 0; f < s.features; f++)
            for (int h = 0; h < s.hidden; h++) hidden[h] += in[f] * w[(size_t)f * s.hidden + h];
        for (int h = 0; h < s.hidden; h++) out += (hidden[h] = tanh(hidden[h])) * w2[h];
        double off = out - target[b], pull = 2 * off / s.batch;
        loss += off * off / s.batch;
        for (int h = 0; h < s.hidden; h++) {
            gradients[(size_t)s.features * s.hidden + h] += pull * hidden[h];
            hidden[h] = pull * w2[h] * (1 - hidden[h] * hidden[h]);
        }
        for (int f = 0; f < s.features; f++)
            for (int h = 0; h < s.hidden; h++) gradients[(size_t)f * s.hidden + h] += in[f] * hidden[h];
    }
    for (size_t k = 0; k < weight_floats(s); k++) w[k] -= (double)RATE * gradients[k];
    free(gradients);
    return loss;
}

#endif

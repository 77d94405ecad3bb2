/* host.cu — the host, two streams and their shared memory: each hazard and, beside it, the corrected form.
 *
 * host NAME runs one of them with checks on. A comment `// <-- NAME` marks the lines that the finding must name.
 */
#include "touch.cuh"

#include "simgpu.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { N = 1 << 14, BYTES = N * 4 };

__global__ void add(int *p, int v, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += v;
}
__global__ void move(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}

static int *device, *other, *pinned;
static cudaStream_t one, two;
static cudaEvent_t done;

static volatile int result; /* so that the sum is really formed */

/* The host reads bytes that the copy has not brought yet. */
static void read_early(bool mended) {
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one); // <-- read_early
    if (mended) cudaStreamSynchronize(one);
    int all = 0;
    for (int i = 0; i < N; i++) all += pinned[i]; // <-- read_early
    result = all;
}

/* The same, by a function of an included file. */
static void included(bool mended) {
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one); // <-- included
    if (mended) cudaStreamSynchronize(one);
    result = touch(pinned);
}

/* The same, long after the copy is through on this run's clock: still the host has not waited. */
static void unwaited(bool mended) {
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one); // <-- unwaited
    cudaEventRecord(done, one);
    simgpuHostWork(1000000000);
    if (mended && cudaEventQuery(done) != cudaSuccess) return;
    result = pinned[N - 1]; // <-- unwaited
}

/* The buffer is filled for the next round while the copy still reads it. */
static void refill(bool mended) {
    for (int round = 0; round < 2; round++) {
        memset(pinned, round, BYTES);                                        // <-- refill
        cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one); // <-- refill
        if (mended) cudaStreamSynchronize(one);
    }
}

/* Reading bytes that a copy reads is no hazard; nor is the neighbour of a small copy on the same page. */
static void neighbours(bool) {
    cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one);
    result = pinned[0] + pinned[1];
    cudaStreamSynchronize(one);
    cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, one);
    pinned[1] = 5;
    cudaMemcpyAsync(pinned + 2, device, 4, cudaMemcpyDeviceToHost, one);
    pinned[3] = 5;
    cudaDeviceSynchronize();
    pinned[0] += pinned[2];
}

/* Pageable memory is staged: the call returns when the host may go on with it. */
static void pageable(bool) {
    static int local[N];
    cudaMemcpyAsync(device, local, BYTES, cudaMemcpyHostToDevice, one);
    local[0] = 1;
    cudaMemcpyAsync(local, device, BYTES, cudaMemcpyDeviceToHost, one);
    local[1] = 2;
}

/* Registered memory shares its pages with its neighbours. */
static void registered(bool mended) {
    static int buffer[2 * N];
    int *p = buffer + 100;
    cudaHostRegister(p, BYTES, cudaHostRegisterDefault);
    cudaMemcpyAsync(device, p, BYTES, cudaMemcpyHostToDevice, one); // <-- registered
    buffer[99] = 1;
    if (mended) cudaStreamSynchronize(one);
    p[N / 2] = 1; // <-- registered
    cudaHostUnregister(p);
}

/* A copy on one stream, its user on another. */
static void two_streams(bool mended) {
    cudaMemcpyAsync(device, pinned, BYTES, cudaMemcpyHostToDevice, one); // <-- two_streams
    cudaEventRecord(done, one);
    if (mended) cudaStreamWaitEvent(two, done, 0);
    add<<<N / 128, 128, 0, two>>>(device, 1, N); // <-- two_streams
}

/* A block goes to the next user while the last one still uses it, which an allocator must not allow. */
static void reused(bool mended) {
    move<<<N / 128, 128, 0, one>>>(other, device, N); // <-- reused
    cudaEventRecord(done, one);
    if (mended) cudaStreamWaitEvent(two, done, 0);
    cudaMemsetAsync(device, 0, BYTES, two); // <-- reused
}

/* The event was recorded too early: before the kernel that matters. */
static void early_event(bool mended) {
    if (!mended) cudaEventRecord(done, one);
    add<<<N / 128, 128, 0, one>>>(device, 1, N); // <-- early_event
    if (mended) cudaEventRecord(done, one);
    cudaStreamWaitEvent(two, done, 0);
    move<<<N / 128, 128, 0, two>>>(other, device, N); // <-- early_event
}

/* Ordered by other means: each its half; both only read; the host in between; the legacy stream in between. */
static void orders(bool) {
    add<<<N / 256, 128, 0, one>>>(device, 1, N / 2 + 1);
    add<<<N / 256, 128, 0, two>>>(device + N / 2 + 1, 1, N / 2 - 1);
    cudaDeviceSynchronize();
    move<<<N / 256, 128, 0, one>>>(other, device, N / 2);
    move<<<N / 256, 128, 0, two>>>(other + N / 2, device, N / 2);
    add<<<N / 128, 128>>>(device, 1, N);
    add<<<N / 128, 128, 0, two>>>(device, 1, N);
    cudaStreamSynchronize(two);
    add<<<N / 128, 128, 0, one>>>(device, 1, N);
    cudaStreamSynchronize(one);
    cudaMemcpy(pinned, device, BYTES, cudaMemcpyDeviceToHost);
    pinned[0]++;
    cudaEventRecord(done, one);
    cudaEventSynchronize(done);
    add<<<N / 128, 128, 0, two>>>(device, 1, N);
}

/* Streams that do not know the legacy stream. */
static void non_blocking(bool mended) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, mended ? cudaStreamDefault : cudaStreamNonBlocking);
    add<<<N / 128, 128, 0, s>>>(device, 1, N); // <-- non_blocking
    add<<<N / 128, 128>>>(device, 2, N);       // <-- non_blocking
    cudaStreamDestroy(s);
}

/* Two results in one page: the first has come, the second is on its way. */
static void beside(bool mended) {
    cudaMemcpyAsync(&pinned[0], &device[0], 4, cudaMemcpyDeviceToHost, one);
    cudaStreamSynchronize(one);
    cudaMemcpyAsync(&pinned[1], &device[1], 4, cudaMemcpyDeviceToHost, one); // <-- beside
    int first = 0;
    for (int k = 0; k < 100; k++) first += pinned[0], pinned[2 + k] = k; /* fine */
    if (mended) cudaStreamSynchronize(one);
    result = first + pinned[1]; // <-- beside
}

/* A host thread that a function of the stream starts reads what was copied before it. */
static pthread_t reader;
static void *read_all(void *) {
    result = pinned[0] + pinned[N - 1];
    return NULL;
}
static void start_reader(void *) { pthread_create(&reader, NULL, read_all, NULL); }
static void told(bool) {
    cudaMemcpyAsync(pinned, device, BYTES, cudaMemcpyDeviceToHost, one);
    cudaLaunchHostFunc(one, start_reader, NULL);
    while (cudaStreamQuery(one) != cudaSuccess) {}
    pthread_join(reader, NULL);
}

/* The host writes between the rows of a copy in flight. */
static void between_rows(bool) {
    cudaMemcpy2DAsync(device, 256, pinned, 4096, 256, 8, cudaMemcpyHostToDevice, one);
    for (int row = 0; row < 8; row++) pinned[row * 1024 + 64] = 1;
}

/* Another card, whose streams had the same numbers and were long in use. */
static void leave_a_card() {
    cudaStreamCreate(&one), cudaStreamCreate(&two), cudaMalloc(&device, BYTES);
    for (int k = 0; k < 100; k++) cudaMemsetAsync(device, 0, BYTES, k & 1 ? one : two), cudaDeviceSynchronize();
    simgpuNewDevice();
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    simgpuCheck(1);
    if (argc > 2) leave_a_card();
    cudaMalloc(&device, BYTES);
    cudaMalloc(&other, BYTES);
    cudaMemset(device, 0, BYTES);
    cudaMallocHost(&pinned, BYTES);
    memset(pinned, 0, BYTES);
    cudaStreamCreate(&one);
    cudaStreamCreate(&two);
    cudaEventCreate(&done);
    cudaDeviceSynchronize();
#define RUN(f)                                                                                                         \
    if (!strcmp(name, #f) || !strcmp(name, #f "-mended") || !strcmp(name, #f "-clean")) f(strchr(name, '-') != NULL);
    RUN(read_early)
    RUN(included)
    RUN(unwaited)
    RUN(refill)
    RUN(neighbours)
    RUN(pageable)
    RUN(registered)
    RUN(two_streams)
    RUN(reused)
    RUN(early_event)
    RUN(orders)
    RUN(non_blocking)
    RUN(beside)
    RUN(told)
    RUN(between_rows)
    cudaError_t e = cudaGetLastError();
    if (e == cudaSuccess) e = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(e));
    return e != cudaSuccess;
}

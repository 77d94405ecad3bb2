/* order.cu — the order of commands: a line `name value` for each question, answered by the contents of memory.
 *
 * A command runs at its virtual time. So a program that forgets to wait reads old bytes here every time. */
#include "simgpu.h"

/* Sets p[0] to v after walking through p, one load after another: about 20 ns a step. A kernel's stores are there
 * when it starts, so where another stream must come too early, `set` follows it. */
__global__ void set_late(volatile int *p, int v, int steps) {
    int i = 1;
    for (int k = 0; k < steps; k++) i = p[i];
    p[0] = v + i - 1;
}
__global__ void set(int *p, int v) { p[0] = v; }

enum { LATE = 681 }; /* steps of 145 ns: a volatile load comes from L2 */
static int *device, *pinned;
static cudaStream_t blocking, other, free_stream;

static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }
static double now() { return simgpuHostTime() / 1e3; }

static void reset() {
    cudaDeviceSynchronize();
    int begin[4] = {0, 1, 1, 1};
    cudaMemcpy(device, begin, sizeof begin, cudaMemcpyHostToDevice);
    cudaDeviceSynchronize();
    pinned[0] = -1;
}

static int held() {
    int v;
    cudaMemcpy(&v, device, sizeof v, cudaMemcpyDeviceToHost);
    return v;
}

static void host_buffers() {
    reset(), set<<<1, 1>>>(device, 7);
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost);
    say("read_before_sync", pinned[0]);
    cudaDeviceSynchronize();
    say("read_after_sync", pinned[0]);

    reset(), pinned[0] = 1;
    cudaMemcpyAsync(device, pinned, sizeof(int), cudaMemcpyHostToDevice);
    pinned[0] = 2;
    say("pinned_overwritten_in_flight", held());

    int pageable = 1;
    reset();
    cudaMemcpyAsync(device, &pageable, sizeof(int), cudaMemcpyHostToDevice);
    pageable = 2;
    say("pageable_overwritten_in_flight", held());

    reset(), set<<<1, 1>>>(device, 9);
    cudaMemcpyAsync(&pageable, device, sizeof(int), cudaMemcpyDeviceToHost);
    say("pageable_read_needs_no_sync", pageable);
}

static void streams() {
    reset(), set_late<<<1, 1, 0, blocking>>>(device, 7, LATE);
    set<<<1, 1>>>(device + 1, 1); /* on the default stream: waits for the other's work ... */
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, other); /* ... and this waits for it */
    cudaStreamSynchronize(other), say("default_stream_orders_blocking_ones", pinned[0]);

    reset(), set_late<<<1, 1, 0, free_stream>>>(device + 1, 1, LATE), set<<<1, 1, 0, free_stream>>>(device, 7);
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0), say("default_stream_ignores_nonblocking", pinned[0]);

    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    reset(), set_late<<<1, 1, 0, blocking>>>(device + 1, 1, LATE), set<<<1, 1, 0, blocking>>>(device, 7);
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, other);
    cudaStreamSynchronize(other), say("two_streams_without_an_event", pinned[0]);

    reset(), set_late<<<1, 1, 0, blocking>>>(device + 1, 1, LATE), set<<<1, 1, 0, blocking>>>(device, 7);
    cudaEventRecord(e, blocking), cudaStreamWaitEvent(other, e);
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, other);
    cudaStreamSynchronize(other), say("two_streams_with_an_event", pinned[0]);
    cudaEventDestroy(e);
}

/* How much longer `kernels` of 12 blocks, one block an SM, take than one. */
static double side_by_side(int kernels) {
    enum { MOST = 12, SHARED = 200000 };
    static cudaStream_t streams[MOST];
    double took[2];
    cudaFuncSetAttribute((const void *)set_late, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    for (int i = 0; i < MOST; i++)
        if (!streams[i]) cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    for (int all = 0; all < 2; all++) {
        reset();
        double t = now();
        for (int i = 0; i < (all ? kernels : 1); i++) set_late<<<12, 1, SHARED, streams[i]>>>(device, 7, LATE);
        cudaDeviceSynchronize(), took[all] = now() - t;
    }
    return took[1] - took[0];
}

static void room() {
    say("eleven_kernels_that_fill_the_sms_us", side_by_side(11));
    say("a_twelfth_waits_us", side_by_side(12));
}

/* --- functions of the host in a stream */

static struct {
    int calls, saw;
    double at;
    cudaError_t api, status;
} heard;

static void on_host(void *argument) {
    heard.calls++;
    heard.saw = pinned[0];
    heard.at = now();
    simgpuHostWork((uint64_t)(uintptr_t)argument);
    if (argument) heard.api = cudaDeviceSynchronize();
}
static void on_stream(cudaStream_t stream, cudaError_t status, void *argument) {
    heard.calls += stream == blocking ? 1 : 100;
    heard.status = status;
    *(int *)argument = 5;
}

static void host_functions() {
    cudaEvent_t a, b;
    float ms;
    cudaEventCreate(&a), cudaEventCreate(&b);
    reset(), set<<<1, 1, 0, blocking>>>(device, 7);
    cudaMemcpyAsync(pinned, device, sizeof(int), cudaMemcpyDeviceToHost, blocking);
    cudaLaunchHostFunc(blocking, on_host, NULL);
    say("function_before_sync", heard.calls);
    cudaStreamSynchronize(blocking);
    say("function_after_sync", heard.calls), say("function_saw_the_copy", heard.saw);

    double t = now();
    cudaEventRecord(a, blocking);
    cudaLaunchHostFunc(blocking, on_host, (void *)(uintptr_t)100000);
    cudaEventRecord(b, blocking);
    say("submitting_a_function_us", now() - t);
    cudaEventSynchronize(b), cudaEventElapsedTime(&ms, a, b);
    say("function_of_100_us_holds_its_stream", ms * 1e3);
    say("api_in_a_function", heard.api);

    int set_by_callback = 0;
    heard.calls = 0;
    cudaStreamAddCallback(blocking, on_stream, &set_by_callback, 0), cudaStreamSynchronize(blocking);
    say("callback", heard.calls), say("callback_argument", set_by_callback), say("callback_status", heard.status);
}

static void polling() {
    cudaEvent_t e;
    int polls = 0;
    cudaEventCreate(&e);
    reset(), set_late<<<1, 1>>>(device, 7, LATE), cudaEventRecord(e);
    double t = now();
    while (cudaEventQuery(e) == cudaErrorNotReady) polls++;
    say("event_polls", polls), say("event_polled_us", now() - t);

    reset(), set_late<<<1, 1, 0, blocking>>>(device, 7, LATE), polls = 0, t = now();
    while (cudaStreamQuery(blocking) == cudaErrorNotReady) polls++;
    say("stream_polls", polls), say("stream_polled_us", now() - t);
    reset(), t = now(), set_late<<<1, 1>>>(device, 7, LATE), cudaDeviceSynchronize();
    say("waited_us", now() - t);
}

static void host_work() {
    static char from[1 << 20], to[1 << 20];
    double t = now();
    simgpuHostWork(12345), say("host_work_ns", (now() - t) * 1e3), t = now();
    simgpuHostTask("load", 1000), say("host_task_ns", (now() - t) * 1e3), t = now();
    memcpy(to, from, sizeof to), say("memcpy_us", now() - t), t = now();
    memset(to, 1, sizeof to), say("memset_us", now() - t), say("memset_did", to[sizeof to - 1]);
}

/* Handles that were never made, or are destroyed: each wrong call has its line in what is said. `// <-- handle` marks
 * them. */
static void handles() {
    cudaEvent_t none = nullptr, gone, untimed, early;
    cudaStream_t ended;
    float ms;
    cudaEventCreate(&gone), cudaEventCreate(&early);
    cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
    cudaStreamCreate(&ended);
    cudaEventDestroy(gone), cudaStreamDestroy(ended);
    int wrong = 0;
    for (int i = 0; i < 3; i++) {
        wrong += cudaEventRecord(none) == cudaErrorInvalidResourceHandle;                       // <-- handle
        wrong += cudaEventQuery(gone) == cudaErrorInvalidResourceHandle;                        // <-- handle
        wrong += cudaEventSynchronize(gone) == cudaErrorInvalidResourceHandle;                  // <-- handle
        wrong += cudaEventDestroy(gone) == cudaErrorInvalidResourceHandle;                      // <-- handle
        wrong += cudaStreamDestroy(ended) == cudaErrorInvalidResourceHandle;                    // <-- handle
        wrong += cudaStreamSynchronize(ended) == cudaErrorInvalidResourceHandle;                // <-- handle
        wrong += cudaEventElapsedTime(&ms, gone, gone) == cudaErrorInvalidResourceHandle;       // <-- handle
        wrong += cudaEventElapsedTime(&ms, untimed, untimed) == cudaErrorInvalidResourceHandle; // <-- handle
        wrong += cudaEventElapsedTime(&ms, early, early) == cudaErrorInvalidResourceHandle;     // <-- handle
    }
    say("wrong_handles", wrong);
    cudaGetLastError();
}

int main() {
    cudaMalloc(&device, 4096), cudaMallocHost(&pinned, 4096);
    cudaStreamCreate(&blocking), cudaStreamCreate(&other);
    cudaStreamCreateWithFlags(&free_stream, cudaStreamNonBlocking);
    host_buffers(), streams(), room(), host_functions(), polling(), host_work();
    say("last_error", cudaGetLastError());
    handles();
    return 0;
}

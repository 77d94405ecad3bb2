// Managed memory: values, attributes, errors, fork, system calls. Prints lines `name value`.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int n, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] + y[i];
}
__global__ void set(int *p, int v) { *p = v; }

struct node { // as in the samples: a class whose objects lie in managed memory
    int value;
    node *next;
    void *operator new(size_t bytes) {
        void *p;
        cudaMallocManaged(&p, bytes);
        return p;
    }
    void operator delete(void *p) { cudaFree(p); }
};
__global__ void sum_list(node *list, int *sum) {
    for (; list; list = list->next) *sum += list->value;
}

extern "C" cudaError_t plain_prefetch(const void *, size_t, cudaMemLocation, unsigned,
                                      cudaStream_t) __asm__("cudaMemPrefetchAsync");

static void say(const char *name, long value) { printf("%s %ld\n", name, value); }
static void says(const char *name, cudaError_t e) { printf("%s %s\n", name, cudaGetErrorName(e)), cudaGetLastError(); }

static void values() {
    enum { N = 1 << 20 };
    float *x, *y;
    cudaMallocManaged(&x, N * sizeof *x);
    cudaMallocManaged(&y, N * sizeof *y);
    long zeros = 0;
    for (int i = 0; i < N; i++) zeros += y[i] == 0;
    say("fresh_zeros", zeros);
    for (int i = 0; i < N; i++) x[i] = i % 1000, y[i] = 1;
    int wrong = 0;
    for (int round = 1; round <= 3; round++) {
        add<<<256, 256>>>(N, x, y);
        cudaDeviceSynchronize();
        for (int i = 0; i < N; i++) wrong += y[i] != round * (i % 1000) + round;
        for (int i = 0; i < N; i++) y[i] += 1; // the host writes between two kernels
    }
    say("wrong", wrong);
    float *d, host[4];
    cudaMalloc(&d, N * sizeof *d);
    cudaMemcpy(d, x, N * sizeof *d, cudaMemcpyHostToDevice); // the source may be called host or device memory
    cudaMemcpy(y, d, N * sizeof *d, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host, y + 7, sizeof host, cudaMemcpyDeviceToHost);
    say("copied", host[0] == 7 && host[3] == 10 && y[999] == 999);
    y[5] = 0;
    cudaMemcpy(y, d, N * sizeof *d, cudaMemcpyDefault);
    say("copied_behind", y[5] == 5); // the host waits for a copy to it, too
    cudaMemset(y, 0, N * sizeof *y); // the host waits for it, since the memory is its own too
    say("filled", y[0] == 0 && y[N - 1] == 0);
    cudaFree(x), cudaFree(y), cudaFree(d);
}

static void list() {
    node *first = NULL;
    int *sum;
    cudaMallocManaged(&sum, sizeof *sum);
    for (int k = 1; k <= 1000; k++) {
        node *n = new node;
        n->value = k, n->next = first, first = n;
    }
    sum_list<<<1, 1>>>(first, sum);
    cudaDeviceSynchronize();
    say("list_sum", *sum);
    while (first) {
        node *n = first->next;
        delete first;
        first = n;
    }
    cudaFree(sum);
}

// Each system call works on memory that a kernel has just written.
static void system_calls() {
    int *p, ends[2], back = 0;
    cudaMallocManaged(&p, 1 << 20);
    set<<<1, 1>>>(p, 42);
    cudaDeviceSynchronize();
    if (pipe(ends)) return;
    say("written", write(ends[1], p, 4));
    say("read_back", read(ends[0], &back, 4) == 4 && back == 42);
    back = 43;
    if (write(ends[1], &back, 4) != 4) return;
    set<<<1, 1>>>(p, 1);
    cudaDeviceSynchronize();
    say("read", read(ends[0], p, 4));
    say("value", *p);
    cudaFree(p);
}

static void forked() {
    int *p, status = 0;
    cudaMallocManaged(&p, 1 << 20);
    p[0] = 1, p[5000] = 5;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        p[0] += 1; // the child's own copy
        set<<<1, 1>>>(p + 1, 30);
        cudaDeviceSynchronize();
        _exit(p[0] + p[1] + p[5000]);
    }
    waitpid(child, &status, 0);
    say("child", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    say("parent", p[0] * 100 + p[1]);
    set<<<1, 1>>>(p, 9);
    cudaDeviceSynchronize();
    say("parent_after", p[0]);
    cudaFree(p);
}

static void attributes() {
    int *p, r[3] = {-9, -9, -9}, value;
    cudaMallocManaged(&p, 1 << 20);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, p + 3);
    printf("pointer %d %d %d %d\n", a.type, a.device, a.devicePointer == p + 3, a.hostPointer == p + 3);
    cudaDeviceGetAttribute(&value, cudaDevAttrConcurrentManagedAccess, 0);
    say("concurrent", value);
    cudaMemRangeGetAttribute(r, 12, cudaMemRangeAttributeAccessedBy, p, 4096);
    printf("accessed %d %d %d\n", r[0], r[1], r[2]);
    cudaMemAdvise(p, 1 << 20, cudaMemAdviseSetReadMostly, 0);
    cudaMemAdvise(p, 1 << 20, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    cudaMemAdvise(p, 1 << 20, cudaMemAdviseSetAccessedBy, 0);
    cudaMemPrefetchAsync(p, 1 << 20, 0);
    cudaDeviceSynchronize();
    void *data[] = {&r[0], &r[1], &r[2]};
    size_t sizes[] = {4, 4, 4};
    cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
                                     cudaMemRangeAttributeLastPrefetchLocation};
    says("attributes", cudaMemRangeGetAttributes(data, sizes, which, 3, p, 4096));
    printf("advised %d %d %d\n", r[0], r[1], r[2]);
    cudaFree(p);
}

static void errors() {
    int *p, *d, here;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocManaged(&p, 4096);
    cudaMalloc(&d, 4096);
    says("size_0", cudaMallocManaged(&p, 0));
    cudaMallocManaged(&p, 4096);
    says("flags_0", cudaMallocManaged(&d, 16, 0));
    says("too_large", cudaMallocManaged(&d, (size_t)1 << 50));
    cudaMalloc(&d, 4096);
    says("prefetch_device_memory", cudaMemPrefetchAsync(d, 4, 0));
    says("prefetch_host_memory", cudaMemPrefetchAsync(&here, 4, 0));
    says("prefetch_past_end", cudaMemPrefetchAsync(p, 8192, 0));
    says("prefetch_device_7", cudaMemPrefetchAsync(p, 4, 7));
    says("prefetch_13", cudaMemPrefetchAsync(p, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
    // CUDA 12's names for the same.
    says("prefetch_v2", cudaMemPrefetchAsync_v2(p, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
    says("advise_v2",
         cudaMemAdvise_v2(p, 4, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
    // As programs call it that CUDA 12 compiled: a device's number, no flags.
    typedef cudaError_t (*form12)(const void *, size_t, int, cudaStream_t);
    form12 old =
        (form12)(void *)(cudaError_t(*)(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t))plain_prefetch;
    says("prefetch_12", old(p, 4, 0, s));
    says("prefetch_12_host", old(p, 4, cudaCpuDeviceId, s));
    says("prefetch_12_stream", old(p, 4, 0, (cudaStream_t)0x12345678));
    says("advise_unknown", cudaMemAdvise(p, 4, (cudaMemoryAdvise)77, 0));
    says("attach", cudaStreamAttachMemAsync(s, p));
    says("attach_part", cudaStreamAttachMemAsync(s, p, 2));
    says("attach_single_legacy", cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle));
    says("host_as_device", cudaMemcpy(p, &here, 4, cudaMemcpyDeviceToHost));
    says("free_inside", cudaFree(p + 1));
    says("free_host", cudaFreeHost(p));
    says("free", cudaFree(p));
    says("free_twice", cudaFree(p));
}

int main() {
    values();
    list();
    system_calls();
    forked();
    attributes();
    errors();
    return 0;
}

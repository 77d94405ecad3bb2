// Several devices: which one a call is about, copies and events between them, peer access, errors. Prints lines.
#include <cuda_runtime.h>
#include <simgpu.h>
#include <stdio.h>
#include <stdlib.h>
#include <thread>

__device__ int own = 5; // each device has one

__global__ void add(int *p, int n, int by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += by;
}
__global__ void copy(int *to, const int *from, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = from[i];
}
__global__ void set_own(int v) { own += v; }
__global__ void slow(int *p, int rounds) {
    for (int k = 0; k < rounds; k++) *(volatile int *)p += k;
}

static void says(const char *name, cudaError_t e) { printf("%s %s\n", name, cudaGetErrorName(e)), cudaGetLastError(); }
static double now() { return simgpuHostTime() / 1e3; }

static void choose() {
    int n, d;
    cudaGetDeviceCount(&n);
    cudaGetDevice(&d);
    printf("count %d now %d\n", n, d);
    says("set_9", cudaSetDevice(9));
    cudaSetDevice(2);
    std::thread([] {
        int mine;
        cudaGetDevice(&mine);
        printf("thread %d\n", mine);
        cudaSetDevice(3);
    }).join();
    cudaGetDevice(&d);
    printf("still %d\n", d);
    for (int k = 0; k < n; k++) {
        cudaSetDevice(k);
        set_own<<<1, 1>>>(k * 10);
        int v;
        cudaMemcpyFromSymbol(&v, own, sizeof v);
        printf("own %d %d\n", k, v);
    }
    cudaSetDevice(0);
}

static void belongs() {
    cudaStream_t s0, s1;
    cudaEvent_t e0, e1;
    int *p0, *p1, device = -1;
    cudaStreamCreate(&s0), cudaEventCreate(&e0), cudaMalloc(&p0, 4096);
    cudaSetDevice(1);
    cudaStreamCreate(&s1), cudaEventCreate(&e1), cudaMalloc(&p1, 4096);
    cudaPointerAttributes a;
    cudaPointerGetAttributes(&a, p0);
    printf("attributes %d %d\n", a.type, a.device);
    cudaStreamGetDevice(s0, &device);
    printf("stream_of %d\n", device);
    add<<<1, 32, 0, s0>>>(p1, 32, 1);
    says("foreign_stream", cudaGetLastError());
    says("foreign_event", cudaEventRecord(e0, s1));
    says("record", cudaEventRecord(e1, s1));
    says("wait", cudaStreamWaitEvent(s0, e1, 0));
    says("synchronize", cudaEventSynchronize(e1));
    says("stream_synchronize", cudaStreamSynchronize(s0));
    cudaSetDevice(0);
    cudaEventRecord(e0, s0);
    cudaDeviceSynchronize();
    float ms;
    says("elapsed", cudaEventElapsedTime(&ms, e0, e1));
    says("free_foreign", cudaFree(p1));
    says("free", cudaFree(p0));
    cudaStreamDestroy(s0), cudaStreamDestroy(s1), cudaEventDestroy(e0), cudaEventDestroy(e1);
}

// A box of two planes of two rows from an array of device 0 to memory of device 1, and what names a wrong device.
static void boxes(int *p1) {
    const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
    int host[2][2][4], k = 0;
    cudaArray_t array;
    for (auto &plane : host)
        for (auto &row : plane)
            for (int &x : row) x = k++;
    cudaMemcpy3DParms up = {};
    cudaMemcpy3DPeerParms over = {};
    cudaSetDevice(0);
    cudaMalloc3DArray(&array, &ints, make_cudaExtent(4, 2, 2));
    up.srcPtr = make_cudaPitchedPtr(host, 16, 4, 2), up.dstArray = array, up.extent = make_cudaExtent(4, 2, 2);
    up.kind = cudaMemcpyHostToDevice;
    says("box_up", cudaMemcpy3D(&up));
    over.srcArray = array, over.srcPos = make_cudaPos(1, 0, 0), over.srcDevice = 0;
    over.dstPtr = make_cudaPitchedPtr(p1, 12, 3, 2), over.dstDevice = 1, over.extent = make_cudaExtent(3, 2, 2);
    says("box", cudaMemcpy3DPeer(&over));
    cudaSetDevice(1);
    says("box_async", cudaMemcpy3DPeerAsync(&over, nullptr));
    cudaMemcpy(host, p1, 48, cudaMemcpyDeviceToHost);
    printf("box_has %d %d %d %d\n", host[0][0][0], host[0][0][2], host[0][0][3], host[1][0][3]);
    over.srcDevice = 1;
    says("box_wrong_device", cudaMemcpy3DPeer(&over));
    says("box_null", cudaMemcpy3DPeer(nullptr));
    // To page-locked memory: the form without Async returns when the bytes are there.
    int *pinned;
    cudaMallocHost(&pinned, 48);
    memset(pinned, 0, 48);
    cudaMemcpy3DPeerParms back = {};
    back.srcPtr = make_cudaPitchedPtr(p1, 12, 3, 2), back.srcDevice = 1, back.dstDevice = 1;
    back.dstPtr = make_cudaPitchedPtr(pinned, 12, 3, 2), back.extent = make_cudaExtent(12, 2, 2);
    says("box_async_to_host", cudaMemcpy3DPeerAsync(&back, nullptr));
    printf("box_has_later %d\n", pinned[11]);
    cudaDeviceSynchronize();
    memset(pinned, 0, 48);
    says("box_to_host", cudaMemcpy3DPeer(&back));
    printf("box_has_at_once %d %d\n", pinned[0], pinned[11]);
    cudaFreeHost(pinned);
    cudaFreeArray(array);
}

// An executable graph of device 0 cannot be updated to a kernel of device 1.
static cudaGraph_t graph_of(int device) {
    cudaStream_t s;
    cudaGraph_t g;
    cudaSetDevice(device);
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    slow<<<1, 1, 0, s>>>(nullptr, 1);
    cudaStreamEndCapture(s, &g);
    cudaStreamDestroy(s);
    return g;
}
static void updates() {
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    cudaGraphInstantiate(&exec, graph_of(0), 0);
    says("update_here", cudaGraphExecUpdate(exec, graph_of(0), &info));
    says("update_there", cudaGraphExecUpdate(exec, graph_of(1), &info));
    printf("update_reason %d %d\n", info.result, info.errorNode != nullptr);
    cudaGetLastError();
    cudaSetDevice(0);
}

// Work on device 1 waits for an event of device 0, without the host.
static void ordered() {
    enum { N = 1024 };
    int *p0, *p1, host[N];
    cudaStream_t s0, s1;
    cudaEvent_t ready;
    cudaSetDevice(0);
    cudaStreamCreate(&s0), cudaMalloc(&p0, sizeof host), cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaMemset(p0, 0, sizeof host);
    slow<<<1, 1, 0, s0>>>(p0 + 1, 20000);
    add<<<4, 256, 0, s0>>>(p0, N, 3);
    cudaEventRecord(ready, s0);
    cudaSetDevice(1);
    cudaStreamCreate(&s1), cudaMalloc(&p1, sizeof host);
    cudaStreamWaitEvent(s1, ready, 0);
    cudaMemcpyPeerAsync(p1, 1, p0, 0, sizeof host, s1);
    add<<<4, 256, 0, s1>>>(p1, N, 4);
    cudaMemcpyAsync(host, p1, sizeof host, cudaMemcpyDeviceToHost, s1);
    cudaStreamSynchronize(s1);
    printf("ordered %d %d\n", host[0], host[N - 1]);
    says("copy_wrong_device", cudaMemcpyPeer(p1, 0, p0, 0, 64));
    boxes(p1);
    cudaFree(p0), cudaFree(p1);
    cudaSetDevice(0);
}

static void peers() {
    enum { N = 16 << 20 };
    int *p0, *p1, can, value;
    cudaSetDevice(1);
    cudaMalloc(&p1, N * 4);
    cudaMemset(p1, 0, N * 4);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    cudaMalloc(&p0, N * 4);
    double began = now();
    cudaMemcpyPeer(p0, 0, p1, 1, N * 4), cudaDeviceSynchronize();
    printf("staged_us %.0f\n", now() - began);
    cudaDeviceCanAccessPeer(&can, 0, 1), cudaDeviceCanAccessPeer(&value, 0, 0);
    printf("can %d %d\n", can, value);
    says("enable", cudaDeviceEnablePeerAccess(1, 0));
    says("enable_again", cudaDeviceEnablePeerAccess(1, 0));
    says("enable_self", cudaDeviceEnablePeerAccess(0, 0));
    says("disable_2", cudaDeviceDisablePeerAccess(2));
    began = now();
    cudaMemcpy(p0, p1, N * 4, cudaMemcpyDefault), cudaDeviceSynchronize();
    printf("direct_us %.0f\n", now() - began);
    add<<<N / 256, 256>>>(p1, N, 7); // device 0's kernel, device 1's memory
    began = now();
    copy<<<N / 256, 256>>>(p0, p1, N), cudaDeviceSynchronize();
    cudaMemcpy(&value, p0 + N - 1, 4, cudaMemcpyDeviceToHost);
    printf("peer_value %d\n", value);
    // Two devices at once: their kernels overlap, so both take as long as one.
    cudaSetDevice(1), cudaDeviceSynchronize(), cudaSetDevice(0), cudaDeviceSynchronize();
    began = now();
    slow<<<1, 1>>>(p0, 50000), cudaDeviceSynchronize();
    double one = now() - began;
    began = now();
    slow<<<1, 1>>>(p0, 50000);
    cudaSetDevice(1);
    slow<<<1, 1>>>(p1, 50000), cudaDeviceSynchronize();
    cudaSetDevice(0), cudaDeviceSynchronize();
    printf("overlap %d\n", now() - began < 1.2 * one);
    // Managed and page-locked memory is everybody's.
    int *m, *h;
    cudaMallocManaged(&m, 64), cudaMallocHost(&h, 64);
    *m = 1, *h = 1;
    for (int k = 0; k < 4; k++) {
        cudaSetDevice(k);
        add<<<1, 1>>>(m, 1, 10), add<<<1, 1>>>(h, 1, 10);
        cudaDeviceSynchronize();
    }
    printf("shared %d %d\n", *m, *h);
    cudaSetDevice(2);
    add<<<1, 1>>>(p1, 1, 1);
    says("no_access", cudaDeviceSynchronize());
    says("dead", cudaDeviceSynchronize());
    cudaSetDevice(0);
    says("others_live", cudaDeviceSynchronize());
    cudaSetDevice(2);
    says("reset", cudaDeviceReset());
    says("revived", cudaDeviceSynchronize());
}

// Pools of memory of one device, used while another one is in use.
static void pools() {
    cudaMemPool_t pool, other;
    cudaMemPoolProps props = {};
    cudaMemAccessDesc access = {};
    cudaMemAccessFlags flags;
    cudaPointerAttributes a;
    unsigned long long used;
    int *p, v = 0;
    cudaSetDevice(0);
    cudaDeviceGetDefaultMemPool(&other, 1);
    says("pool_of_other", cudaDeviceSetMemPool(0, other));
    says("pool_of_own", cudaDeviceSetMemPool(1, other));
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = access.location.type = cudaMemLocationTypeDevice;
    props.location.id = 9;
    says("pool_of_none", cudaMemPoolCreate(&pool, &props));
    props.location.id = 1;
    says("pool", cudaMemPoolCreate(&pool, &props));
    cudaMallocFromPoolAsync((void **)&p, 4096, pool, 0);
    cudaPointerGetAttributes(&a, p);
    cudaMemPoolGetAccess(&flags, pool, &access.location);
    printf("pool_on %d %d\n", a.device, flags);
    access.flags = cudaMemAccessFlagsProtReadWrite;
    says("pool_access", cudaMemPoolSetAccess(pool, &access, 1));
    cudaMemPoolGetAccess(&flags, pool, &access.location);
    cudaMemcpyAsync(p, &v, sizeof v, cudaMemcpyHostToDevice, 0);
    add<<<1, 1>>>(p, 1, 42);
    cudaMemcpyAsync(&v, p, sizeof v, cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    printf("pool_value %d %d %llu\n", v, flags, used);
    says("pool_free", cudaFreeAsync(p, 0));
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    printf("pool_used %llu\n", used);
    // A kernel that is queued may still use what is freed and destroyed behind it, and a pool without access takes none
    // away.
    access.location.id = 0;
    cudaMallocFromPoolAsync((void **)&p, 4096, pool, 0);
    slow<<<1, 1>>>(p, 1000);
    cudaFreeAsync(p, 0);
    cudaMemPool_t second;
    cudaMemPoolCreate(&second, &props), cudaMemPoolSetAccess(second, &access, 1);
    cudaMallocFromPoolAsync((void **)&p, 4096, second, 0);
    slow<<<1, 1>>>(p, 1000);
    cudaFreeAsync(p, 0), cudaMemPoolDestroy(second);
    says("pool_queued", cudaDeviceSynchronize());
    cudaMallocFromPoolAsync((void **)&p, 4096, pool, 0);
    slow<<<1, 1>>>(p, 1000);
    access.flags = cudaMemAccessFlagsProtNone;
    cudaMemPoolSetAccess(pool, &access, 1); // waits for that kernel
    says("pool_taken", cudaDeviceSynchronize());
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaMemPoolSetAccess(pool, &access, 1), cudaFreeAsync(p, 0);
    cudaDeviceSynchronize(), cudaDeviceReset();
    cudaMemPoolGetAccess(&flags, pool, &access.location);
    printf("pool_reset %d\n", flags);
    access.location.id = 1, access.flags = cudaMemAccessFlagsProtNone;
    says("pool_own_none", cudaMemPoolSetAccess(pool, &access, 1));
    says("pool_destroy", cudaMemPoolDestroy(pool));
    cudaSetDevice(1);
    cudaMallocAsync((void **)&p, 4096, 0);
    cudaSetDevice(0);
    add<<<1, 1>>>(p, 1, 1); // what was allowed is gone with the pool
    says("pool_gone", cudaDeviceSynchronize());
    cudaDeviceReset();
}

int main() {
    choose();
    belongs();
    ordered();
    updates();
    pools();
    peers();
    return 0;
}

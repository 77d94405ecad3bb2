// Further functions of the runtime that course programs call. Prints lines `name values`.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <thread>

__global__ void work(int *p, int rounds) {
    int v = 0;
    for (int k = 0; k < rounds; k++) v = v * 3 + k;
    p[threadIdx.x] = v;
}

static void says(const char *name, cudaError_t e) { printf("%s %s\n", name, cudaGetErrorName(e)), cudaGetLastError(); }

static void priorities() {
    int least, greatest, p;
    cudaDeviceGetStreamPriorityRange(&least, &greatest);
    printf("range %d %d\n", least, greatest);
    cudaStream_t low, high, other;
    cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least);
    cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, -100);
    cudaStreamGetPriority(high, &p);
    printf("clamped %d\n", p);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    // A kernel that fills the device, and behind it one of each stream that does so, too: the low one was asked for
    // first, the high one starts first.
    int *d;
    cudaMalloc(&d, 4096);
    cudaEvent_t first, second;
    cudaEventCreate(&first), cudaEventCreate(&second);
    work<<<4096, 1024, 0, other>>>(d, 1000);
    work<<<4096, 1024, 0, low>>>(d, 1000);
    cudaEventRecord(second, low);
    work<<<4096, 1024, 0, high>>>(d, 1000);
    cudaEventRecord(first, high);
    cudaDeviceSynchronize();
    float ms;
    cudaEventElapsedTime(&ms, first, second);
    printf("high_first %d\n", ms > 0);
    unsigned long long a, b;
    int device = -1;
    cudaStreamGetId(low, &a), cudaStreamGetId(high, &b), cudaStreamGetDevice(low, &device);
    printf("ids %d %d\n", a != b, device);
    cudaStreamAttrValue v = {}, back = {};
    v.accessPolicyWindow.base_ptr = d;
    v.accessPolicyWindow.num_bytes = 4096;
    v.accessPolicyWindow.hitRatio = 0.5f;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    says("window", cudaStreamSetAttribute(low, cudaStreamAttributeAccessPolicyWindow, &v));
    cudaStreamGetAttribute(low, cudaStreamAttributeAccessPolicyWindow, &back);
    printf("window_bytes %zu\n", back.accessPolicyWindow.num_bytes);
    says("reset_l2", cudaCtxResetPersistingL2Cache());
}

static void pools() {
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool, standard, now;
    says("create", cudaMemPoolCreate(&pool, &props));
    cudaDeviceGetDefaultMemPool(&standard, 0);
    char *p, *q;
    says("from_pool", cudaMallocFromPoolAsync(&p, 1024, pool, 0));
    unsigned long long used, in_default;
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &in_default);
    printf("used %llu %llu\n", used, in_default);
    cudaDeviceSetMemPool(0, pool);
    cudaDeviceGetMemPool(&now, 0);
    cudaMallocAsync(&q, 1024, 0);
    cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used);
    printf("in_use %d %llu\n", now == pool, used);
    cudaMemAccessFlags flags;
    says("access", cudaMemPoolGetAccess(&flags, pool, &props.location));
    printf("flags %d\n", flags);
    says("destroy", cudaMemPoolDestroy(pool));
    says("free", cudaFreeAsync(p, 0));
    says("free_other", cudaFreeAsync(q, 0));
    cudaDeviceSynchronize();
    says("gone", cudaMallocFromPoolAsync(&p, 1024, pool, 0));
    says("destroy_default", cudaMemPoolDestroy(standard));
    props.location.id = 5;
    says("create_elsewhere", cudaMemPoolCreate(&pool, &props));
}

static void queries() {
    cudaDeviceProp prop;
    int device = -1;
    cudaFuncCache cache;
    cudaGetDeviceProperties(&prop, 0);
    says("choose", cudaChooseDevice(&device, &prop));
    says("valid", cudaSetValidDevices(&device, 1));
    says("init", cudaInitDevice(0, 0, 0));
    says("init_1", cudaInitDevice(1, 0, 0));
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    cudaDeviceGetCacheConfig(&cache);
    printf("cache %d\n", cache);
    char text[32];
    cudaDeviceGetPCIBusId(text, sizeof text, 0);
    says("by_bus", cudaDeviceGetByPCIBusId(&device, text));
    size_t value;
    says("sync_depth", cudaDeviceGetLimit(&value, cudaLimitDevRuntimeSyncDepth));
    void *function = &device;
    cudaDriverEntryPointQueryResult result;
    says("entry", cudaGetDriverEntryPointByVersion("cuNoSuch", &function, 12000, cudaEnableDefault, &result));
    printf("entry_found %d %d\n", result, function != NULL);
}

// nvcc's name for a call with --default-stream per-thread, and what our headers call instead.
extern "C" cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long *id);
extern "C" int simgpuPerThreadDefaultStream(void);

static void own_streams() {
    unsigned long long mine, others, legacy, found;
    cudaStreamGetId(cudaStreamPerThread, &mine);
    cudaStreamGetId(0, &legacy);
    std::thread([&] { cudaStreamGetId(cudaStreamPerThread, &others); }).join();
    printf("own_stream %d %d\n", mine != legacy, mine != others);
    cudaStreamGetId_ptsz(0, &found);
    printf("by_name %d\n", found == mine);
    simgpuPerThreadDefaultStream();
    cudaStreamGetId(0, &found);
    printf("by_flag %d\n", found == mine);
    cudaStreamGetId(cudaStreamLegacy, &found);
    printf("legacy %d\n", found == legacy);
}

int main() {
    priorities();
    pools();
    queries();
    own_streams();
    return 0;
}

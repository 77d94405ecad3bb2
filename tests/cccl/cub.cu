// CUB against the host: a block's and a warp's primitives, and the device-wide ones.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/warp/warp_reduce.cuh>

#include <algorithm>
#include <cstdio>
#include <vector>

constexpr int N = 5120, BLOCK = 256;

static void say(const char *what, bool right) { printf("%s %s\n", what, right ? "right" : "WRONG"); }

// The sum of each block, the prefix sums in it, and the sum of each warp.
__global__ void blocks(const int *in, int *sums, int *scans, int *warps) {
    using Reduce = cub::BlockReduce<int, BLOCK>;
    using Scan = cub::BlockScan<int, BLOCK>;
    using Warp = cub::WarpReduce<int>;
    __shared__ typename Reduce::TempStorage reduce;
    __shared__ typename Scan::TempStorage scan;
    __shared__ typename Warp::TempStorage warp[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x, prefix;
    int sum = Reduce(reduce).Sum(in[i]);
    Scan(scan).InclusiveSum(in[i], prefix);
    int of_warp = Warp(warp[threadIdx.x / 32]).Sum(in[i]);
    scans[i] = prefix;
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
    if (threadIdx.x % 32 == 0) warps[i / 32] = of_warp;
}

// Calls a device-wide algorithm twice, as CUB wants it: for the size of its storage, and with that storage.
template <class F> static void with_storage(F algorithm) {
    void *storage = nullptr;
    size_t bytes = 0;
    algorithm(storage, bytes);
    cudaMalloc(&storage, bytes);
    algorithm(storage, bytes);
    cudaFree(storage);
}

static std::vector<int> fetch(const int *d, int n) {
    std::vector<int> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
    return h;
}

int main() {
    std::vector<int> h(N), sums(N / BLOCK), scans(N), warps(N / 32), before(N), counts(10);
    unsigned state = 1;
    int total = 0;
    for (int i = 0; i < N; i++) {
        h[i] = (int)((state = state * 1664525u + 1013904223u) >> 8) % 1000;
        before[i] = total;
        total += h[i];
        sums[i / BLOCK] += h[i];
        warps[i / 32] += h[i];
        scans[i] = (i % BLOCK ? scans[i - 1] : 0) + h[i];
        counts[h[i] / 100]++;
    }
    std::vector<int> sorted = h;
    std::sort(sorted.begin(), sorted.end());

    int *in, *a, *b, *c;
    cudaMalloc(&in, N * sizeof *in);
    cudaMalloc(&a, N * sizeof *a);
    cudaMalloc(&b, N * sizeof *b);
    cudaMalloc(&c, N * sizeof *c);
    cudaMemcpy(in, h.data(), N * sizeof *in, cudaMemcpyHostToDevice);
    blocks<<<N / BLOCK, BLOCK>>>(in, a, b, c);
    say("BlockReduce", fetch(a, N / BLOCK) == sums);
    say("BlockScan", fetch(b, N) == scans);
    say("WarpReduce", fetch(c, N / 32) == warps);
    with_storage([=](void *s, size_t &bytes) { cub::DeviceReduce::Sum(s, bytes, in, a, N); });
    say("DeviceReduce", fetch(a, 1)[0] == total);
    with_storage([=](void *s, size_t &bytes) { cub::DeviceScan::ExclusiveSum(s, bytes, in, a, N); });
    say("DeviceScan", fetch(a, N) == before);
    with_storage([=](void *s, size_t &bytes) { cub::DeviceRadixSort::SortKeys(s, bytes, in, a, N); });
    say("DeviceRadixSort", fetch(a, N) == sorted);
    with_storage([=](void *s, size_t &bytes) { cub::DeviceHistogram::HistogramEven(s, bytes, in, a, 11, 0, 1000, N); });
    say("DeviceHistogram", fetch(a, 10) == counts);
}

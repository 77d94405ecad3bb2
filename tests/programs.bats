#!/usr/bin/env bats
# What other people's programs lean on when they run: rules of the runtime, of launches, of groups, of memory.
# Each test is a program that was met, made short. (What clang does not read: spellings.bats.)

load helper

setup_file() {
    make -s simgpu >/dev/null
    mkdir "$BATS_FILE_TMPDIR/own programs" # the name of a folder may have a blank
}

setup() {
    PATH=$BLUEBAR_TOP/$B/bin:$PATH
    cd "$BATS_FILE_TMPDIR/own programs" || return 1
    tmp=$BATS_TEST_TMPDIR
}

@test "the address of a function of the API has CUDA's type" {
    cat >"$tmp/address.cu" <<'EOS'
#include <functional>
#include <memory>
template <cudaError_t (*release)(void *)> struct releases {
    void operator()(void *p) { release(p); }
};
int main() {
    float *d;
    cudaError_t (*allocate)(void **, size_t) = cudaMalloc;
    if (allocate((void **)&d, 4)) return 1;
    std::unique_ptr<float, decltype(&cudaFree)> one(d, &cudaFree);
    cudaMalloc(&d, 4);
    std::unique_ptr<float, cudaError_t (*)(void *)> two(d, cudaFree);
    cudaMalloc(&d, 4);
    std::unique_ptr<float, releases<cudaFree>> three(d);
    cudaMalloc(&d, 4);
    std::shared_ptr<float> four(d, cudaFree);
    auto wait = cudaDeviceSynchronize;
    std::function<cudaError_t()> last = cudaGetLastError;
    return wait() + last() + INT_MAX - 2147483647;
}
EOS
    simcc "$tmp/address.cu" -o "$tmp/address"
    "$tmp/address"
}

@test "a launch is refused for its registers only if half of the estimate is too much" {
    cat >"$tmp/wide.cu" <<'EOS'
#include <stdio.h>
template <int N> __global__ void reverse(float *p) { // N values at a time
    float v[N];
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = p[threadIdx.x + i * 1024];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < N; i++) p[threadIdx.x + i * 1024] = v[N - 1 - i];
}
template <int N> void run() {
    float *p;
    cudaMalloc(&p, N * 4096);
    cudaMemset(p, 0, N * 4096);
    reverse<N><<<1, 1024>>>(p);
    puts(cudaGetErrorName(cudaGetLastError()));
}
int main() { run<24>(), run<200>(); } // by ptxas 32 registers, and all that there are; some estimates of the first are 78
EOS
    simcc "$tmp/wide.cu" -o "$tmp/wide"
    run "$tmp/wide"
    [[ $output == *$'cudaSuccess\n'*$'cudaErrorLaunchOutOfResources'* ]]
}

@test "a lane may hand over a variable that only another lane has set" {
    cat >"$tmp/lane.cu" <<'EOS'
#include <cooperative_groups.h>
#include <stdio.h>
__global__ void k(unsigned *count, unsigned *out) {
    cooperative_groups::coalesced_group active = cooperative_groups::coalesced_threads();
    unsigned before;
    if ((threadIdx.x & 31) == 0) before = atomicAdd(count, 32);
    out[threadIdx.x] = active.shfl((int)before, 0) + (threadIdx.x & 31);
}
int main() {
    unsigned *d, h[65];
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    k<<<1, 64>>>(d, d + 1);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%u %u %u\n", h[0], h[33] / 32 + h[1] / 32, h[32] % 32);
}
EOS
    simcc "$tmp/lane.cu" -o "$tmp/lane"
    [ "$("$tmp/lane")" = "64 1 31" ]
}

@test "NVTX: ranges go to the trace and the report; without them nobody tracks" {
    cat >"$tmp/ranges.cu" <<'EOS'
#include <cstdio>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <string>
__global__ void k() {}
static void f() {
    NVTX3_FUNC_RANGE();
    k<<<1, 1>>>();
}
int main() {
    int all = nvtxRangePushA("all"), inner = nvtxRangePushW(L"inner");
    cudaDeviceSynchronize();
    int end = nvtxRangePop();
    nvtxRangeId_t loose = nvtxRangeStartA("loose");
    nvtxMarkA("here");
    f();
    nvtxEventAttributes_t e = {};
    e.messageType = NVTX_MESSAGE_TYPE_ASCII, e.message.ascii = "with \"attributes\"";
    nvtxRangePushEx(&e);
    {
        nvtx3::scoped_range scoped{std::string("scoped"), nvtx3::rgb{1, 2, 3}};
        cudaDeviceSynchronize();
    }
    nvtxRangePop();
    int last = nvtxRangePop(), none = nvtxRangePop();
    nvtxRangeEnd(loose);
    printf("%d %d %d %d %d\n", all, inner, end, last, none);
}
EOS
    simcc "$tmp/ranges.cu" -o "$tmp/ranges"
    [ "$("$tmp/ranges")" = "-2 -2 -2 -2 -2" ]
    run env TRACE="$tmp/trace" SIMGPU_REPORT="$tmp/report" "$tmp/ranges"
    [ "$output" = "0 1 1 0 -2" ]
    [ "$(grep -o '"kind":"range","name":"[a-z]*' "$tmp/report" | cut -d '"' -f 8 | xargs)" = "inner here f scoped with all loose" ]
    for range in '"X","name":"inner"' '"X","name":"f"' '"X","name":"scoped"' '"X","name":"with \"attributes\""' '"i","name":"here"' '"b","name":"loose"' '"e","name":"loose"'; do
        grep -qF "{\"ph\":$range" "$tmp/trace"
    done
    [ "$(grep -c 'ranges of thread 0' "$tmp/trace")" = 1 ]
}

@test "a launch that may begin early (programmatic dependent launch) begins behind the one ahead of it; a cluster of several blocks is refused" {
    cat >"$tmp/early.cu" <<'EOS'
#include <cstdio>
__global__ void first(int *p) { cudaTriggerProgrammaticLaunchCompletion(); *p = 5; }
__global__ void second(int *p) { cudaGridDependencySynchronize(); *p += 1; }
int main() {
    int *p, v;
    cudaMalloc(&p, 4);
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 1, config.stream = s;
    cudaLaunchAttribute a[2];
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization, a[0].val.programmaticStreamSerializationAllowed = 1;
    a[1].id = cudaLaunchAttributeClusterDimension, a[1].val.clusterDim.x = a[1].val.clusterDim.y = a[1].val.clusterDim.z = 1;
    config.attrs = a, config.numAttrs = 2;
    first<<<1, 1, 0, s>>>(p);
    cudaError_t e = cudaLaunchKernelEx(&config, second, p);
    a[1].val.clusterDim.x = 2;
    cudaError_t f = cudaLaunchKernelEx(&config, second, p);
    cudaMemcpy(&v, p, 4, cudaMemcpyDefault);
    printf("%d %s %s\n", v, cudaGetErrorName(e), cudaGetErrorName(f));
}
EOS
    simcc "$tmp/early.cu" -o "$tmp/early"
    run "$tmp/early"
    [[ $output == *"early.cu:18: cudaLaunchKernelExC: clusters of blocks are not supported; a cluster of one block is"*"6 cudaSuccess cudaErrorNotSupported" ]] || { echo "$output" && false; }
}

@test "nodes of graphs that change after they were added, also in executable graphs; nodes that are passed over" {
    simcc "$BLUEBAR_TOP/tests/graphs/change.cu" -o "$tmp/change"
    "$tmp/change" >"$tmp/out" 2>"$tmp/err"
    diff "$tmp/out" - <<'EOS'
too long: cudaErrorInvalidValue
priority -3, of a copy: cudaErrorInvalidValue
event changed
cudaSuccess 0
all: 10
told 10, back 0 0 1 2, cudaSuccess
without the first kernel: 5
enabled 0; a host function: cudaErrorInvalidValue
child: cudaSuccess, with one node more: cudaErrorGraphExecUpdateFailure
another child: 55
any: cudaSuccess
another kernel: 100
told 40, back 3 4 1 2
EOS
    grep -q 'cudaGraphAddMemcpyNodeToSymbol: 16 bytes at offset 4 do not fit into the 16 bytes of table' "$tmp/err"
}

@test "what programs lean on behind nvcc: zeros in fresh memory, arguments without a value, functions without a return" {
    cat >"$tmp/lean.cu" <<'EOS'
#include <cooperative_groups.h>
#include <stdio.h>
namespace cg = cooperative_groups;
__device__ int keep(int v) { return __shfl_sync(__activemask(), v, 0); } // handed on by a function of the program's own
__global__ void count(unsigned *counters, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, first, second, third;
    if (i >= n || in[i] < 0) return;
    if (lane == 0) first = atomicAdd(&counters[0], 32);
    first = __shfl_sync(__activemask(), first, 0);
    if (lane == 0) second = atomicAdd(&counters[1], 32);
    second = keep(second);
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    if (tile.thread_rank() == 0) third = atomicAdd(&counters[2], 32);
    third = tile.shfl(third, 0);
    atomicMax(&counters[3], first + second + third);
}
bool all(const unsigned *h, int n) {
    for (int i = 0; i < n; i++)
        if (h[i] != 256) printf("counters[%d] = %u\n", i, h[i]);
}
int main(int argc, char **) {
    if (argc > 1) return;
    unsigned *counters, h[4], *large;
    int *in;
    cudaMalloc(&counters, sizeof h), cudaMalloc(&in, 1024), cudaMalloc(&large, 64 << 20);
    count<<<2, 128>>>(counters, in, 256);
    cudaMemcpy(h, counters, sizeof h, cudaMemcpyDefault);
    all(h, 3);
    cudaMemcpy(h, large + (12 << 20), 4, cudaMemcpyDefault);
    printf("max %u, %u\n", h[3], h[0]);
}
EOS
    for compiler in $(clangs | sed -n '1p;$p'); do
        SIMCC_CLANG=$compiler simcc -w "$tmp/lean.cu" -o "$tmp/lean"
        [ "$("$tmp/lean")" = "max 672, 0" ]
    done
    # With the checks on, fresh memory is odd, and the line that reads it is told.
    run env SIMGPU_CHECK=1 "$tmp/lean"
    grep -q 'uninitialised: a thread reads device memory that nothing has written' <<<"$output"
    grep -q 'lean.cu:7' <<<"$output"
    grep -q "^max .*, 3452816845" <<<"$output"
}

@test "cuMemGetAddressRange knows a module's variable and a string of a kernel; symbols of our cuBLAS have a version" {
    cat >"$tmp/range.cu" <<'EOS'
#include <cuda.h>
#include <stdio.h>
__device__ int numbers[10];
__global__ void k(const char **p) { *p = "hello.cu"; }
int main() {
    const char **p, *text;
    void *symbol;
    cudaMalloc(&p, 8);
    k<<<1, 1>>>(p);
    cudaMemcpy(&text, p, 8, cudaMemcpyDeviceToHost);
    cudaGetSymbolAddress(&symbol, numbers);
    const void *all[] = {text, (int *)symbol + 3, (char *)p + 7, (char *)p + 4096};
    for (const void *one : all) {
        CUdeviceptr base = 0;
        size_t bytes = 0;
        CUresult e = cuMemGetAddressRange(&base, &bytes, (CUdeviceptr)one);
        printf("%d %zu %zu\n", e, bytes, e ? 0 : (size_t)((CUdeviceptr)one - base));
    }
}
EOS
    simcc "$tmp/range.cu" -o "$tmp/range" -lcuda
    [ "$("$tmp/range" | xargs)" = "0 9 0 0 40 12 0 8 7 500 0 0" ]
    objdump -T "$BLUEBAR_TOP/$B/lib/libcublas.so.13" | grep -q 'libcublas.so.13 *cublasCreate_v2'
}

@test "a loop that waits for a flag until its clock says stop ends; one without a clock is a deadlock" {
    cat >"$tmp/delay.cu" <<'EOS'
#include <stdio.h>
__global__ void delay(volatile int *flag, long long clocks) {
    long long start = clock64();
    while (!*flag)
        if (clock64() - start > clocks) break;
}
__global__ void never(volatile int *flag) { while (!*flag); }
int main(int n, char **) {
    int *flag;
    cudaHostAlloc(&flag, 4, 0);
    *flag = 0;
    delay<<<1, 1>>>(flag, 10000000);
    cudaError_t e = cudaDeviceSynchronize();
    never<<<1, 1>>>(flag);
    printf("%d %d\n", e, cudaDeviceSynchronize());
}
EOS
    simcc "$tmp/delay.cu" -o "$tmp/delay"
    [ "$("$tmp/delay" 2>"$tmp/said")" = "0 702" ]
    grep -q 'delay.cu:7: deadlock: 1 of 1 blocks wait for a value that the host is to write, but SimGPU runs a kernel to its end within' "$tmp/said"
}

@test "a program that limits its launches limits a block to a quarter of that" {
    cat >"$tmp/limit.cu" <<'EOS'
#include <simgpu.h>
#include <stdio.h>
__global__ void count(volatile int *n) {
    for (int i = 0; i < 100000; i++) *n += i;
}
int main() {
    int *n;
    cudaMalloc(&n, 4);
    simgpuLaunchBudget(1 << 22);
    count<<<1, 1>>>(n);
    printf("%d ", cudaDeviceSynchronize());
    fflush(stdout);
    simgpuLaunchBudget(1 << 20);
    count<<<1, 1>>>(n);
    printf("%d\n", cudaDeviceSynchronize());
}
EOS
    simcc "$tmp/limit.cu" -o "$tmp/limit"
    run "$tmp/limit"
    [[ $output == *"runaway kernel: a block used up its budget"* ]]
    [[ $output == "0 "* ]]
}

@test "objects with static storage: their constructors launch kernels before main, their destructors call after it" {
    cat >"$tmp/static.cu" <<'EOS'
#include <cstdio>
__global__ void k(int *p) { *p += 42; }
struct early {
    int *p, v = 0;
    early() {
        cudaMalloc(&p, 4), cudaMemset(p, 0, 4);
        k<<<1, 1>>>(p);
        cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
    }
    ~early() {
        k<<<1, 1>>>(p);
        cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
        printf("behind main %d, %s\n", v, cudaGetErrorName(cudaFree(p)));
    }
} static object;
int main() { printf("in main %d\n", object.v); }
EOS
    local way
    for way in "" -rdc=true "-MD -MF $tmp/static.d" "-Xcompiler -flto"; do
        # shellcheck disable=SC2086 # words
        run simcc $way -o "$tmp/static" "$tmp/static.cu"
        echo "$output"
        [ "$status" = 0 ]
        run "$tmp/static"
        echo "$output"
        [ "$output" = $'in main 42\nbehind main 84, cudaSuccess' ]
    done
}

@test "cooperative groups: one thread for all, results into atomics and pointers, scans behind an atomic, a group of one" {
    cat >"$tmp/one.cu" <<'EOS'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;
struct place { // as an atomic of CUDA's C++ library
    int *at;
    __device__ int load() const { return *(volatile int *)at; }
    __device__ void store(int v) const { *(volatile int *)at = v; }
    __device__ bool compare_exchange_weak(int &old, int v) const {
        const int was = atomicCAS(at, old, v), same = was == old;
        old = was;
        return same;
    }
};
__global__ void k(int *out, int *sums, int *places) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    const int i = threadIdx.x;
    cg::invoke_one(block, [&](int by) { atomicAdd(sums, by); }, 100);
    cg::invoke_one(tile, [&] { atomicAdd(sums, 1); });
    out[i] = cg::invoke_one_broadcast(tile, [&] { return i * 10; });
    if (i % 2) {
        auto here = cg::coalesced_threads();
        out[i] += cg::invoke_one_broadcast(here, [](int a, int b) { return a + b; }, i, 0);
    }
    cg::reduce_update_async(tile, place{sums + 1}, i, cg::plus<int>());
    cg::reduce_store_async(tile, place{sums + 2 + i / 16}, i, cg::greater<int>());
    cg::reduce_store_async(tile, sums + 6 + i / 16, i, cg::less<int>());
    places[i] = cg::exclusive_scan_update(tile, place{sums + 10}, i % 3);
    places[64 + i] = cg::inclusive_scan_update(tile, place{sums + 11}, 1);
    cg::this_thread().sync();
    if (cg::this_thread().size() != 1) out[i] = -1;
}
int main() {
    int *out, *sums, *places;
    cudaMallocManaged(&out, 256), cudaMallocManaged(&sums, 256), cudaMallocManaged(&places, 512);
    k<<<1, 64>>>(out, sums, places);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("%d %d %d %d\n", out[0], out[17], out[33], out[63]);
    for (int i = 0; i < 12; i++) printf("%d ", sums[i]);
    int last = 0; // the places behind each other are 1 to 64, each once
    for (int i = 0; i < 64; i++) last += places[64 + i];
    printf("\n%d %d\n", places[2], last);
}
EOS
    run simcc -o "$tmp/one" "$tmp/one.cu"
    echo "$output"
    [ "$status" = 0 ]
    run "$tmp/one"
    echo "$output"
    [ "$output" = $'cudaSuccess\n0 161 353 513\n104 2016 15 31 47 63 0 16 32 48 63 64 \n1 2080' ]
}

@test "halves of a warp that call by turns, each in a loop of its own, do not run out of frames" {
    cat >"$tmp/turns.cu" <<'EOS'
#include <cstdio>
__device__ __noinline__ unsigned turns(unsigned n, unsigned x) {
    for (unsigned i = 0; i < n; i++) x = x * 1664525u + (x >> 7);
    return x;
}
__global__ void k(unsigned *out, unsigned n) {
    unsigned x = threadIdx.x;
    if (x & 1)
        for (unsigned i = 0; i < 600; i++) x = turns(n, x) + 1;
    else
        for (unsigned i = 0; i < 600; i++) x ^= turns(n + 1, x + i);
    out[threadIdx.x] = x;
}
int main() {
    unsigned *out, h[32];
    cudaMalloc(&out, sizeof h);
    k<<<1, 32>>>(out, 3000);
    cudaError_t e = cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    unsigned x = 3;
    for (unsigned i = 0; i < 600; i++) {
        for (unsigned t = 0; t < 3000; t++) x = x * 1664525u + (x >> 7);
        x++;
    }
    printf("%s %d\n", cudaGetErrorName(e), h[3] == x);
}
EOS
    simcc "$tmp/turns.cu" -o "$tmp/turns"
    run "$tmp/turns"
    echo "$output"
    [ "$output" = "cudaSuccess 1" ]
}

@test "__barrier_sync, __barrier_sync_count, __uni_sync; a breakpoint stops the kernel with a message" {
    cat >"$tmp/meet.cu" <<'EOS'
#include <stdio.h>
__global__ void k(int *out) { // two halves of the block, each with a barrier of its own, hand their values round
    __shared__ int s[128];
    int t = threadIdx.x, half = t / 64;
    for (int round = 0; round < 3; round++) {
        s[t] = t + round;
        __barrier_sync_count(half + 1, 64);
        out[t] = s[half * 64 + (t + 33) % 64];
        __barrier_sync_count(half + 1, 64);
    }
    s[t] = 1;
    __barrier_sync(5);
    if (t == 0) for (int i = 0; i < 128; i++) out[128] += s[i];
    if (t < 32) out[129 + __uni_sync(~0u, t < 7)] = 1 + __uni_sync(~0u, t < 40);
}
__global__ void stop(int *out) { if (out[0] == 35) __brkpt(); }
int main() {
    int *d, h[131], wrong = 0;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    k<<<1, 128>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 128; t++) wrong += h[t] != t / 64 * 64 + (t + 33) % 64 + 2;
    stop<<<1, 1>>>(d);
    printf("%d wrong, %d, %d %d; ", wrong, h[128], h[129], h[130]);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
EOS
    for compiler in "" $(command -v clang-22); do
        SIMCC_CLANG=$compiler simcc "$tmp/meet.cu" -o "$tmp/meet"
        SIMGPU_CHECK=1 run "$tmp/meet"
        [[ $output == *"meet.cu:16: trap: the kernel came to a breakpoint (__brkpt), and no debugger is there; so it ends, as on a card"* ]]
        [ "${lines[-1]}" = "0 wrong, 128, 2 0; cudaErrorLaunchFailure" ]
        [[ $output != *race* ]]
    done
}

@test "a kernel's handle by its symbol, for the driver API" {
    cat >"$tmp/handle.cu" <<'EOS'
#include <cuda.h>
#include <cstdio>
__global__ void k(int *p) { *p = 7; }
int main() {
    int *p, h = 0, threads = 0, none = 0;
    cudaFunction_t f;
    cudaKernel_t kernel;
    const char *name;
    cudaMalloc(&p, 4);
    void *a[] = {&p};
    cudaError_t wrong = cudaGetFuncBySymbol(&f, (const void *)&none);
    cudaGetFuncBySymbol(&f, k);
    cudaGetKernel(&kernel, k);
    cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f);
    cuKernelGetName(&name, (CUkernel)kernel);
    CUlaunchAttribute hints[2] = {};
    hints[0].id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    hints[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, hints[1].value.clusterDim = {1, 1, 1};
    CUlaunchConfig c = {1, 1, 1, 1, 1, 1, 0, 0, hints, 2};
    CUresult launched = cuLaunchKernelEx(&c, f, a, 0);
    cudaMemcpy(&h, p, 4, cudaMemcpyDefault);
    printf("%s %d %s %d %d\n", cudaGetErrorName(wrong), threads, name, (int)launched, h);
}
EOS
    simcc -w -o "$tmp/handle" "$tmp/handle.cu" -lcuda
    run "$tmp/handle"
    echo "$output"
    [ "${lines[-1]}" = "cudaErrorInvalidDeviceFunction 1024 _Z1kPi 0 7" ]
}

@test "lanes that a mask names and that go another way: the others go on, as on an H100; the checks stop there" {
    cat >"$tmp/apart.cu" <<'EOS'
#include <cstdio>
#include <cstdlib>
#define ALL 0xffffffffu
__global__ void k(int test, int *out) {
    int lane = threadIdx.x & 31, v = 100 + lane, r = -1;
    if (test == 0 && lane < 8) {
        for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(ALL, v, o);
        r = v;
    }
    if (test == 1) r = lane == 0 ? 0 : __shfl_up_sync(ALL, v, 1);
    if (test == 2 && lane < 8) r = __ballot_sync(ALL, lane & 1);
    if (test == 3) {
        if (lane < 8)
            r = __shfl_sync(ALL, v, 1);
        else
            r = 1000 + __shfl_sync(ALL, v, 9);
    }
    if (test == 4)
        for (int i = 0; i < lane; i++) r = __shfl_sync(ALL, v + i, 31);
    if (test == 5) {
        if (lane >= 8) return;
        r = __shfl_xor_sync(ALL, v, 8);
    }
    if (test == 6 && lane < 8) __syncthreads(), r = v;
    if (test == 7) {
        if (lane < 8) r = __any_sync(ALL, lane == 2);
        __syncthreads();
    }
    if (test == 8) {
        if (lane < 8)
            r = __shfl_sync(ALL, v, 1);
        else
            __syncwarp();
    }
    out[lane] = r;
}
int main(int, char **argument) {
    int *d, h[32];
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0xff, sizeof h);
    k<<<1, 32>>>(atoi(argument[1]), d);
    printf("%s", cudaGetErrorName(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost)));
    for (int lane : {0, 1, 2, 7, 8, 9, 31}) printf(" %d", h[lane]);
    printf("\n");
}
EOS
    simcc -w "$tmp/apart.cu" -o "$tmp/apart"
    for test in 0 1 2 3 4 5 6; do "$tmp/apart" $test 2>"$tmp/said.$test"; done >"$tmp/all"
    # What an H100 gives (driver 580, nvcc 13.0). Lanes that are not there read as 0.
    diff "$tmp/all" - <<'END'
cudaSuccess 828 828 828 828 -1 -1 -1
cudaSuccess 0 0 101 106 107 108 130
cudaSuccess 170 170 170 170 -1 -1 -1
cudaSuccess 101 101 101 101 1109 1109 1109
cudaSuccess -1 131 132 137 138 139 161
cudaSuccess 0 0 0 0 -1 -1 -1
cudaSuccess 100 101 102 107 -1 -1 -1
END
    grep -qF "apart.cu:7: k: only some lanes of a warp come to this line, whose mask names them all, and the others do not wait for them, as on a card." "$tmp/said.0"
    grep -q "apart.cu:24: .*only some lanes of a warp come to this barrier" "$tmp/said.6"
    [ ! -s "$tmp/said.5" ] # lanes that have ended may be named
    for test in 7 8; do # the card hangs
        run "$tmp/apart" $test
        [[ $output == *"apart.cu:"[23]*": deadlock: "*cudaErrorLaunchTimeout* ]]
    done
    SIMGPU_CHECK=1 run "$tmp/apart" 0
    [[ $output == *"apart.cu:7: deadlock: "*"Every lane that a mask names must reach the line with that mask"* ]]
}

#!/usr/bin/env bats
# What other people's programs lean on behind nvcc: spellings that clang does not read, headers, names, rules of the runtime.
# Each test is a program that was met, made short.

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

@test "C++20: braces for vectors, <vector>, new in kernels; a launch that returns its error is not said to be unread" {
    cat >"$tmp/twenty.cu" <<'EOS'
#include <cstdio>
#include <vector>
__global__ void k(float4 *p) {
    float4 v = {1, 2, 3, 4};
    int *five = new int(5);
    float2 zero = {};
    p[0] = v, p[1] = make_float4(*five, zero.x, dim3(3).x, abs(-2.0f));
    delete five;
}
int main() {
    std::vector<float4> h(2);
    float4 *d;
    cudaMalloc(&d, sizeof(float4) * 2);
    void *arguments[] = {&d};
    cudaError_t e = cudaLaunchKernel((const void *)k, dim3(1), dim3(4096), arguments, 0, 0);
    k<<<1, 1>>>(d);
    cudaMemcpy(h.data(), d, sizeof(float4) * 2, cudaMemcpyDefault);
    printf("%g %g %g %g %s\n", h[0].x, h[0].w, h[1].x, h[1].w, cudaGetErrorName(e));
}
EOS
    for standard in 11 14 17 20; do
        simcc -std=c++$standard "$tmp/twenty.cu" -o "$tmp/twenty"
        run "$tmp/twenty"
        [[ $output == *"1 4 5 2 cudaErrorInvalidConfiguration"* ]]
        [[ $output != *"never read"* ]]
    done
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

@test "what clang does not read, in the program's own headers: __noinline__ before clang 15, a launch with blanks, alignas, %laneid" {
    mkdir -p "$tmp/own/part" "$tmp/own/more"
    echo 'static __device__ __noinline__ int twice(int i) { return 2 * i; }' >"$tmp/own/part/twice.h"
    cat >>"$tmp/own/part/twice.h" <<'EOS'
static __device__ int lane() {
    __shared__ alignas(16) int lanes[32];
    asm volatile("mov.u32 %0, %laneid;" : "=r"(lanes[threadIdx.x]));
    return lanes[threadIdx.x];
}
EOS
    printf '#include "part/twice.h"\n__global__ void k(int i) { printf("%%d\\n", twice(i) + lane()); }\nstatic void three() { k << <1, 1 >> > (3); }\n' >"$tmp/own/three.h"
    echo 'static void four() { k<<<1, 1>> >(4); }' >"$tmp/own/more/four.h"
    printf '#include "three.h"\n#include <four.h>\nint main() { three(), four(); return cudaDeviceSynchronize(); }\n' >"$tmp/own/main.cu"
    simcc -I "$tmp/own/more" "$tmp/own/main.cu" -o "$tmp/own/main"
    [ "$("$tmp/own/main")" = $'6\n8' ]
    cd "$tmp/own"
    simcc -Imore main.cu -o main
    [ "$(./main)" = $'6\n8' ]
}

@test "a definition without the __device__ or __host__ __device__ of its declaration has them, as behind nvcc; zeros in an array of variable length" {
    mkdir -p "$tmp/merge"
    cat >"$tmp/merge/shape.h" <<'EOS'
__host__ __device__ float twice(float x);
__host__ __device__ int seven();
template <class T> struct Shape {
    T side;
    __host__ __device__ Shape(T a);
    __device__ T area() const;
    __host__ __device__ Shape<T> &operator+=(T a);
};
struct Plain { __device__ int one(); __device__ int two(); };
EOS
    cat >"$tmp/merge/main.cu" <<'EOS'
#include "shape.h"
#include <stdio.h>
float twice(float x) { return 2 * x; }
__device__ int seven() { return 7; }
template <class T> inline Shape<T>::Shape(T a) : side(a) {}
template <class T> inline T Shape<T>::area() const { return side * side; }
template <class T> Shape<T>& Shape<T>::operator+=(T a) { side += a; return *this; }
int Plain::one() { return 1; } int Plain::two() { return 2; }
__global__ void k() {
    Shape<float> s(2);
    Plain p;
    printf("%g %d %d\n", twice((s += 1).area()), seven(), p.one() + p.two());
}
int main(int n, char **) {
    int more[n] = {};
    float zeros[n][n + 1] = {0.0f}; // an array of variable length, as the host's compiler behind nvcc takes it
    k<<<1, 1>>>();
    return cudaDeviceSynchronize() + (zeros[0][n] + more[0] != 0);
}
EOS
    for compiler in "" $(command -v clang-22); do
        SIMCC_CLANG=$compiler simcc "$tmp/merge/main.cu" -o "$tmp/merge/main"
        [ "$("$tmp/merge/main")" = "18 7 3" ]
    done
    sed -i 's/int Plain::one()/int Plain::one(int)/' "$tmp/merge/main.cu" # a mistake of the program's
    run simcc "$tmp/merge/main.cu" -o "$tmp/merge/main"
    [ "$status" = 1 ]
    [[ $output == *"main.cu:8:12: error: out-of-line definition of 'one' does not match any declaration in 'Plain'"*$'\nint Plain::one(int)'* ]]
}

@test "groups of clusters and of several devices are refused by name, at the line that asks for one" {
    cat >"$tmp/clusters.cu" <<'EOS'
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(unsigned *p) { auto c = cg::this_cluster(); *p = c.thread_rank(); }
__device__ void at(cg::cluster_group c);
__global__ void m() { cg::this_multi_grid().sync(); }
EOS
    run simcc -c "$tmp/clusters.cu" -o "$tmp/clusters.o"
    echo "$output"
    [ "$(grep -o '[0-9]*:[0-9]*: error: .*' <<<"$output")" = "3:47: error: 'this_cluster' is unavailable: SimGPU does not have clusters of blocks
4:24: error: 'cluster_group' is unavailable: SimGPU does not have clusters of blocks
5:27: error: 'this_multi_grid' is unavailable: SimGPU does not have groups of several devices" ]
}

@test "values for an array of variable length, as the host's compiler behind nvcc takes them" {
    cat >"$tmp/listed.cu" <<'EOS'
#include <algorithm>
#include <cstdio>
#include <string>
int main(int argc, char **) {
    int n = 4 + argc, sizes[3] = {5, 2, 3};
    const int most = *std::max_element(sizes, sizes + 3);
    float flat[n] = {1, 2.5, 3};
    unsigned char pixels[2][most][3] = {{{1, 2, 3}, {4, 5, 6}},
                                        {{7, 8, 9}}};
    int rows[2][n] =
        {{1, 2, 3, 4, 5},
         {6, 7}};
    const char *names[n] = {"a", "b"};
    std::string words[argc + 1] = {"one"}; float zeros[n][n] = {0.0f};
    for (int i = 0; i < n; i++) printf("%g ", flat[i]);
    for (int i = 0; i < 2 * most * 3; i++) printf("%d ", (&pixels[0][0][0])[i]);
    for (int i = 0; i < 2 * n; i++) printf("%d ", (&rows[0][0])[i]);
    printf("%s %s %d %s %zu %g\n", names[0], names[1], names[2] == nullptr, words[0].c_str(), words[1].size(), zeros[n - 1][n - 1]);
}
EOS
    for compiler in "" $(command -v clang-22); do
        SIMCC_CLANG=$compiler simcc "$tmp/listed.cu" -o "$tmp/listed"
        [ "$("$tmp/listed")" = "1 2.5 3 0 0 1 2 3 4 5 6 0 0 0 0 0 0 0 0 0 7 8 9 0 0 0 0 0 0 0 0 0 0 0 0 1 2 3 4 5 6 7 0 0 0 a b 1 one 0 0" ]
    done
    sed -i 's/{"a", "b"}/{1, 2}/' "$tmp/listed.cu" # a mistake of the program's: numbers where addresses belong
    run simcc "$tmp/listed.cu" -o "$tmp/listed"
    [ "$status" = 1 ]
    echo "$output"
    [[ $output == *"listed.cu:13:"*"error: "* ]]
    # What is not a list alone stays as it is, and gets the compiler's own message.
    for line in 'int a[n] = {1}, i = 5' 'const int a[n] = {1}' 'for (int a[n] = {1}; n--;)' 'int a[n] = {1}, b[n] = {2}'; do
        printf 'int i;\nint main(int n, char **) {\n    %s;\n    return i;\n}\n' "$line" >"$tmp/other.cu"
        run simcc "$tmp/other.cu" -o "$tmp/other"
        echo "$line: $output"
        [[ $status = 1 && $output == *"other.cu:3:"*"error: variable-sized object may not be initialized"* && $output != *simgpuListed* ]]
    done
}

@test "a definition without the __device__ that its function's declaration has: also of a free function" {
    cat >"$tmp/declared.cu" <<'EOS'
#include <stdio.h>
__device__ int twice(int x);
namespace one { __device__ float half(float x, float y); }
int
twice(int x)
{
    return 2 * x;
}
float one::half(float x, float) { return x / 2; }
__device__ int nowhere(int x);
__global__ void k() { printf("%d %g\n", twice(4), one::half(3, 1)); }
int main() {
    k<<<1, 1>>>();
    return cudaDeviceSynchronize();
}
EOS
    simcc "$tmp/declared.cu" -o "$tmp/declared"
    [ "$("$tmp/declared")" = "8 1.5" ]
    sed -i 's/twice(4)/nowhere(4)/' "$tmp/declared.cu"
    run simcc "$tmp/declared.cu" -o "$tmp/declared"
    [ "$status" = 1 ]
    [[ $output == *"the kernel k() calls nowhere(int), which has no body"* ]]
}

@test "a message shows the program's own line and column, though clang has read a respelt line" {
    cat >"$tmp/own.cu" <<'EOS'
struct Plain { __device__ int one(); };
int Plain::one() { return missing + 1; }
__global__ void k(int *) {}
int main() {
	k<<< 1, 1 >> >(0), k<<<{1}, 1>>>(0); wrong();
    int unused;
}
EOS
    for compiler in "" $(command -v clang-22); do
        SIMCC_CLANG=$compiler run simcc "$tmp/own.cu" -o "$tmp/own"
        [ "$status" = 1 ]
        [[ $output == *"own.cu:2:27: error: use of undeclared identifier 'missing'"*$'int Plain::one() { return missing + 1; }\n'*"                          ^"* ]]
        [[ $output == *"own.cu:5:39: error: use of undeclared identifier 'wrong'"*$'        k<<< 1, 1 >> >(0), k<<<{1}, 1>>>(0); wrong();\n'*"                                             ^"* ]]
        [[ $output != *dim3* ]]
    done
    sed -i 's/missing/0/; s/ wrong();//' "$tmp/own.cu"
    run simcc -Wall "$tmp/own.cu" -o "$tmp/own" # the host's pass, too
    [ "$status" = 0 ]
    [[ $output == *"own.cu:6:9: warning: unused variable 'unused'"* ]]
    sed -i 's/    int unused;/ k<<<{1}, 1>> >(0); int unused;/' "$tmp/own.cu"
    run simcc -Wall "$tmp/own.cu" -o "$tmp/own"
    [ "$status" = 0 ]
    [[ $output == *"own.cu:6:25: warning: unused variable 'unused'"*$' k<<<{1}, 1>> >(0); int unused;\n                        ^'* ]]
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

@test "headers that nvcc includes by itself: <ctype.h>, and with --extended-lambda <functional>" {
    printf '__global__ void k() {}\nint main() { k<<<1, 1>>>(); LINE; return !isdigit(0x31); }\n' >"$tmp/alone.cu"
    simcc -DLINE= "$tmp/alone.cu" -o "$tmp/alone"
    "$tmp/alone"
    simcc --extended-lambda -DLINE='std::vector<int> v(2); std::sort(v.begin(), v.end())' "$tmp/alone.cu" -c -o "$tmp/alone.o"
}

@test "headers that include each other by way of ../ are read once each" {
    mkdir -p "$tmp/round/"{a,b,c}
    for f in a b c; do # each includes the others; without one name for each, the ways to them double at every step
        for to in a b c; do echo "#include \"../$to/../$to/$to.h\""; done | cat <(echo '#pragma once') - >"$tmp/round/$f/$f.h"
    done
    echo 'inline void go(int *p) { k<< <1, 1>> >(p); }' >>"$tmp/round/c/c.h"
    printf '#include <cstdio>\n__global__ void k(int *p) { *p = 7; }\n#include <a/../b/b.h>\n' >"$tmp/round.cu"
    printf '%s\n' 'int main() { int *p; cudaMallocManaged(&p, 4); go(p); cudaDeviceSynchronize(); printf("%d\n", *p); }' >>"$tmp/round.cu"
    timeout 30 "$BLUEBAR_TOP/$B/bin/simcc" -I "$tmp/round" "$tmp/round.cu" -o "$tmp/round.out"
    [ "$("$tmp/round.out")" = 7 ]
}

@test "a call of a function without a body is refused at the link, a wait in a kernel with what it is" {
    printf '__device__ int other(int);\n__device__ int unused(int i) { return other(i); }\n__global__ void k(int *p) { *p = CALL(1); }\nint main() { k<<<1, 1>>>(0); }\n' >"$tmp/body.cu"
    run simcc -DCALL=other "$tmp/body.cu" -o "$tmp/body"
    [ "$status" = 1 ]
    [ "$output" = "simcc: the kernel k(int*) calls other(int), which has no body; if another file has it, compile all of them with -rdc=true" ]
    run simcc -rdc=true -DCALL=other "$tmp/body.cu" -o "$tmp/body"
    [ "$status" = 1 ]
    [ "$output" = "simcc: the kernel k(int*) calls other(int), which has no body; no file of this link has one" ]
    simcc -DCALL=int "$tmp/body.cu" -o "$tmp/body" # a function that no kernel calls may lack one
    # PTX of other compilers is refused at its launch.
    cat >"$tmp/waits.ptx" <<'EOS'
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) cudaDeviceSynchronize()
;
.visible .entry parent()
{
    .reg .b32 %r<2>;
    {
    .param .b32 v;
    call.uni (v), cudaDeviceSynchronize, ();
    ld.param.b32 %r1, [v];
    }
    ret;
}
EOS
    printf '#include <cuda.h>\n#include <stdio.h>\nint main(int n, char **v) { CUcontext c; CUmodule m; CUfunction f; CUdevice d; cuInit(0); cuDeviceGet(&d, 0); cuDevicePrimaryCtxRetain(&c, d); cuCtxSetCurrent(c);\n    return cuModuleLoad(&m, v[1]) || cuModuleGetFunction(&f, m, "parent") || cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0) != CUDA_ERROR_NOT_SUPPORTED; }\n' >"$tmp/load.cu"
    simcc "$tmp/load.cu" -o "$tmp/load"
    run "$tmp/load" "$tmp/waits.ptx"
    echo "$output"
    [[ $output == *"call: cudaDeviceSynchronize (PTX line "*"): since CUDA 12 no kernel can wait for those that it has launched; launch what comes behind them with cudaStreamTailLaunch"* ]]
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

@test "vectors are trivial types, so that a union may hold one; a copy of one is one access" {
    cat >"$tmp/trivial.cu" <<'EOS'
#include <type_traits>
union both {
    float4 v;
    float f[4];
};
static_assert(std::is_trivial<float4>::value && std::is_trivially_copyable<int2>::value && std::is_standard_layout<uchar4>::value, "");
__global__ void k(both *to, const both *from, float4 *v, const float4 *__restrict__ u) {
    both b = from[threadIdx.x];
    b.f[0] += 1;
    to[threadIdx.x] = b;
    v[threadIdx.x] = u[threadIdx.x];
}
int main() {}
EOS
    for standard in c++14 c++17 c++20; do
        simcc -std="$standard" -ptx "$tmp/trivial.cu" -o "$tmp/trivial.ptx"
        [ "$(grep -cE 'ld\.global.*v4\.' "$tmp/trivial.ptx")" = 1 ] # v; the union's parts are copied one by one
        [ "$(grep -cE 'st\.global.*v4\.' "$tmp/trivial.ptx")" = 1 ]
    done
}

@test "tiles of several warps: reduce, scan, vote, exchange; operands of assembly without a comma; a launch with braces; a #pragma from a macro" {
    cat >"$tmp/tiles.cu" <<'EOS'
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdio>
namespace cg = cooperative_groups;
struct three { double a; int b, c; };
#define UNROLLED #pragma unroll 4
__device__ unsigned both(unsigned a, unsigned b) {
    unsigned sum, difference;
    asm volatile("add.u32 %0, %2, %3;\n sub.u32 %1, %2, %3;"
                 : "=r"(sum) "=&r"(difference)
                 : "r"((unsigned)(a))
                   "r"(b) : "memory");
    return sum * 100 + difference;
}
template <unsigned N> __global__ void k(int *right) {
    __shared__ cg::block_tile_memory<256> scratch;
    auto tile = cg::tiled_partition<N>(cg::this_thread_block(scratch));
    auto inner = cg::tiled_partition<32>(tile);
    long long t = threadIdx.x, first = tile.meta_group_rank() * N, r = tile.thread_rank();
    long long sum = cg::reduce(tile, t, cg::plus<long long>());
    long long upto = cg::inclusive_scan(tile, t), before = cg::exclusive_scan(tile, t);
    int most = cg::reduce(tile, (int)t * 7 % 64, cg::greater<int>());
    three v = tile.shfl(three{t + 0.5, (int)t, -(int)t}, N - 1);
    auto half = cg::tiled_partition<64>(tile);
    if (t / 32 == 1)
        for (volatile int late = 0; late < 5000; late++);
    long long of_half = cg::reduce(half, t, cg::plus<long long>());
    bool some = tile.any(t == 5), each = tile.all(r < N), none = !tile.all(r > 0);
    right[t] = sum == N * first + N * (N - 1ll) / 2 && upto == first * (r + 1) + r * (r + 1) / 2 && before == upto - t &&
               most == 63 && v.a == first + N - 0.5 && v.c == -v.b && some == (first == 0) && each && none && both(9, 7) == 1602 &&
               tile.size() == N && tile.meta_group_size() == 256 / N && inner.meta_group_rank() == (unsigned)r / 32 &&
               of_half == 64 * (t / 64 * 64) + 64 * 63 / 2 && half.meta_group_rank() == (unsigned)r / 64;
    tile.sync();
}
int main() {
    int *right, all = 0;
    cudaMallocManaged(&right, 4 * 3 * 256);
    int four[] = {1, 4};
    k<64>
        <<<{1, 1}, {64u * (unsigned)four[1],
                    1}, 0>>>(right);
    k<128><<<1, {256}>>>(right + 256), k<256><<<dim3(1), 256>>>(right + 512);
    cudaDeviceSynchronize();
    UNROLLED
    for (int i = 0; i < 3 * 256; i++) all += right[i];
    printf("%d of %d, %s\n", all, 3 * 256, cudaGetErrorName(cudaGetLastError()));
}
EOS
    simcc "$tmp/tiles.cu" -o "$tmp/tiles"
    run env SIMGPU_CHECK=1 "$tmp/tiles"
    [ "$output" = "768 of 768, cudaSuccess" ] || { echo "$output" && false; }
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

@test "headers by the names that lie below CUDA's own; atomicCAS of two bytes" {
    cat >"$tmp/below.cu" <<'EOS'
#include <crt/device_functions.h>
#include <crt/host_defines.h>
#include <crt/host_runtime.h>
#include <crt/math_functions.hpp>
#include <crt/sm_70_rt.h>
#include <crt/sm_90_rt.h>
#include <vector_functions.hpp>
#include <crt/math_functions.h>
#include <crt/mma.h>
#include <cudaProfiler.h>
#include <cuda_surface_types.h>
#include <curand_normal.h>
#include <cstdio>
__global__ void swap(unsigned short *p) {
    p[2] = atomicCAS(&p[1], (unsigned short)5, (unsigned short)7);
    p[3] = atomicCAS(&p[1], (unsigned short)5, (unsigned short)9);
    __prof_trigger(0);
}
int main() {
    unsigned short *p;
    cudaMallocManaged(&p, 8);
    p[0] = 1, p[1] = 5;
    swap<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    printf("%d %d %d %d\n", p[0], p[1], p[2], p[3]);
}
EOS
    simcc "$tmp/below.cu" -o "$tmp/below"
    [ "$("$tmp/below")" = "1 7 5 7" ]
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

@test "files of the host alone may include what device code does: qualifiers, half, random states" {
    cat >"$tmp/alone.cpp" <<'EOS'
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <curand_kernel.h>
#include <cublas_v2.h>
__host__ __device__ __forceinline__ int both() { return 1; }
__global__ void declared(int *);
struct __align__(16) wide { int a; };
int main() {
    curandState *state = 0;
    half x = __float2half(3.5f);
    __nv_bfloat16 y = static_cast<__nv_bfloat16>(x);
    return both() != 1 || state || __half2float(x) != 3.5f || float(static_cast<half>(y)) != 3.5f || sizeof(wide) != 16;
}
EOS
    printf '#include <cuda_fp16.h>\n#include <cuda_bf16.h>\nint main(void) { __half h = {0x3c00}; return make_float4(1, 2, 3, 4).w != 4 || sizeof h != 2; }\n' >"$tmp/alone.c"
    for file in alone.cpp alone.c; do
        simcc "$tmp/$file" -o "$tmp/alone" 2>"$tmp/said"
        "$tmp/alone"
        [ ! -s "$tmp/said" ]
    done
    cat "$tmp/alone.cpp" >"$tmp/alone.cu" # as device code, too
    simcc "$tmp/alone.cu" -o "$tmp/alone"
    "$tmp/alone"
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

@test "warpSize: a program may define it, as with nvcc, and name what is its own so" {
    cat >"$tmp/own.cu" <<'EOS'
#include <cstdio>
__global__ void own(int *p, int warpSize) { p[0] = warpSize; }
template <int warpSize> __global__ void given(int *p) { p[1] = warpSize; }
__global__ void plain(int *p) { p[2] = warpSize + blockDim.x % warpSize; }
int main() {
    int *p, h[3];
    cudaMalloc(&p, sizeof h);
    own<<<1, 1>>>(p, 8), given<16><<<1, 1>>>(p), plain<<<1, 40>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault);
    printf("%d %d %d %d\n", h[0], h[1], h[2], warpSize);
}
EOS
    local way
    for way in '' 'const int warpSize = 32;' 'constexpr int warpSize = 32;'; do
        { echo "$way" && cat "$tmp/own.cu"; } >"$tmp/way.cu"
        run simcc -o "$tmp/way" "$tmp/way.cu"
        echo "$output"
        [ "$status" = 0 ]
        run "$tmp/way"
        echo "$output"
        [ "$output" = '8 16 40 32' ]
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

@test "names that programs have from CUDA's headers: flags of the device, NVTX for memory, formats that are refused, types that are lacking" {
    cat >"$tmp/names.cu" <<'EOS'
#include <cstdio>
#include <device_types.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtMemCudaRt.h>
static void show(const char *what, cudaError_t e) { printf("%s %s\n", what, cudaGetErrorName(e)); }
int main() {
    unsigned flags = 0;
    cudaArray_t a;
    show("set", cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
    show("get", cudaGetDeviceFlags(&flags));
    show("two", cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield));
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4);
    show("array", cudaMallocArray(&a, &bytes, 16, 16));
    nvtxMemVirtualRangeDesc_t range = {64, &flags};
    nvtxMemHeapDesc_t heap = {};
    heap.extCompatID = NVTX_EXT_COMPATID_MEM, heap.structSize = sizeof heap;
    heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR, heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    heap.typeSpecificDescSize = sizeof range, heap.typeSpecificDesc = &range;
    nvtxMemHeapHandle_t h = nvtxMemHeapRegister(nullptr, &heap);
    nvtxMemHeapUnregister(nullptr, h);
    nvtxMemCudaMarkInitialized(nullptr, nullptr, 0, nullptr);
    printf("%x %d %d %d\n", flags, h == NVTX_MEM_HEAP_HANDLE_NO_TOOL, cudaRoundZero, cudaResViewFormatFloat4);
}
EOS
    simcc "$tmp/names.cu" -o "$tmp/names"
    run "$tmp/names"
    echo "$output"
    [ "$(grep -v '^simgpu' <<<"$output" | xargs)" = "set cudaSuccess get cudaSuccess two cudaErrorInvalidValue array cudaErrorNotSupported c 1 1 24" ]
    echo 'int main() { cudaUserObject_t o; }' >"$tmp/lacks.cu"
    run simcc "$tmp/lacks.cu" -o "$tmp/lacks"
    [ "$status" != 0 ]
    [[ $output == *"lacks.cu:1:"*"'cudaUserObject_t' is unavailable: SimGPU does not have objects that graphs own"* ]]
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

@test "vectors with their alignment in the name, as CUDA 13 has them; a program for CUDA 12 may define them itself" {
    cat >"$tmp/aligned.cu" <<'EOS'
#include <stdio.h>
#include <stdint.h>
#if OWN == 1 && CUDART_VERSION < 13000
typedef double4 double4_16a;
using longlong4_16a = longlong4;
__host__ __device__ inline double4_16a make_double4_16a(double x, double y, double z, double w) { return {x, y, z, w}; }
#elif OWN == 2 && CUDART_VERSION < 13000
struct alignas(16) double4_16a { double x, y, z, w; };
struct alignas(16) longlong4_16a { long long x, y, z, w; };
__host__ __device__ inline double4_16a make_double4_16a(double x, double y, double z, double w) { return {x, y, z, w}; }
#else
template <class A, class B> struct same { enum { value = 0 }; };
template <class A> struct same<A, A> { enum { value = 1 }; };
static_assert(!same<double4, double4_16a>::value, "types of their own");
#define SIZES(name) static_assert(alignof(name##4_16a) == 16 && alignof(name##4_32a) == 32 && sizeof(name##4_16a) == 32 && sizeof(name##4_32a) == 32, #name);
SIZES(long) SIZES(ulong) SIZES(longlong) SIZES(ulonglong) SIZES(double)
__global__ void more(ulong4_32a *u, double4_32a *d) { *u = make_ulong4_32a(1, 2, 3, 4); d[1] = d[0]; }
#endif
__global__ void k(double4_16a *d, longlong4_16a *l) {
    *d = make_double4_16a(1, 2, 3, 4);
    l->w = (long long)d->w;
}
int main() {
    struct whole { double4_16a d; longlong4_16a l; } *p;
    cudaMallocManaged(&p, sizeof *p);
    k<<<1, 1>>>(&p->d, &p->l);
    cudaDeviceSynchronize();
    printf("%g %lld\n", p->d.z, p->l.w);
}
EOS
    for compiler in "" $(command -v clang-22); do
        for own in 0 1 2; do
            SIMCC_CLANG=$compiler simcc -DOWN=$own "$tmp/aligned.cu" -o "$tmp/aligned"
            [ "$("$tmp/aligned")" = "3 4" ]
        done
    done
    printf '#include <stdio.h>\ninline double4 make_double4_16a(double x, double y, double z, double w) { return {x, y, z, w}; }\nint main() { printf("%%g\\n", make_double4_16a(1, 2, 3, 4).w); }\n' >"$tmp/function.cu"
    printf '#include <stdio.h>\nnamespace my { struct double4_16a { double w; }; }\nusing namespace my;\nint main() { double4_16a d = {4}; printf("%%g\\n", d.w); }\n' >"$tmp/space.cu"
    for own in function space; do
        simcc "$tmp/$own.cu" -o "$tmp/$own"
        [ "$("$tmp/$own")" = 4 ]
    done
    printf '#include <cuda_runtime.h>\nint main() { double4_32a d = make_double4_32a(1, 2, 3, 4); return sizeof d - 32 + d.x - 1; }\n' >"$tmp/host.cpp"
    simcc -std=c++20 "$tmp/host.cpp" -o "$tmp/host"
    "$tmp/host"
}

@test "qualifiers at a template alone, or at a later definition alone, and pointers cast to int, as nvcc takes them" {
    cat >"$tmp/late.cu" <<'EOS'
#include <stdio.h>
#define BOTH __host__ __device__
#define LOW(p) (unsigned)(p) // of numbers, too
template <class T> T twice(T x);
template <class T> struct Box { T a; Box(T v); int get() const; T &operator[](int); };
template <class T> BOTH T twice(T x) { return 2 * x; }
template <class T> BOTH Box<T>::Box(T v) : a(v) {}
template <class T> __host__ __device__ int Box<T>::get() const { return a; }
template <class T> __host__ __device__ T &Box<T>::operator[](int) { return a; }
template <class T> __device__ T least(T x);
template <class T> __device__ T least(T x) { return x; }
template <> float least(float x);
template <> float least<float>(float x) { return x + 1; }
template <int N>
static inline BOTH
int up() { return N; }
template <> int up<3>() { return 33; }
template int up<4>();
template <class T> int halves(T v) { return (int)v; } // of a number, too
__global__ void k(int *p) {
    Box<int> b(3);
    printf("%d %d %d %g %d %d %d; ", twice(4), b.get(), b[0], least(4.f), least(1), up<2>(), up<3>());
    printf("%d ", (int)LOW(-2.5f + p[0]) + 3);
    int i = (int)(p + 1) - (int)p, n = p[(int)&p[1] - reinterpret_cast<int>(p + 1)]; char c = char(p + 2) - char(p);
    printf("%d %d %d %d\n", i, n, c, LOW(p + 3) - LOW(p) + (unsigned)(char)p - (unsigned)(char)(long)p);
}
int main() {
    int *d;
    cudaMalloc(&d, 16), cudaMemset(d, 0, 16);
    k<<<1, 1>>>(d);
    return cudaDeviceSynchronize() + halves(-2.5) + 2 + up<3>() + twice(1) - 35;
}
EOS
    for compiler in "" $(command -v clang-19) $(command -v clang-22); do
        SIMCC_CLANG=$compiler simcc "$tmp/late.cu" -o "$tmp/late"
        [ "$("$tmp/late")" = "8 3 3 5 1 2 33; 1 4 0 8 12" ]
    done
    # Of a template that also casts numbers: a message, since the cast would mean something else for them.
    sed -i 's/ + halves(-2.5)/& + halves(d)/' "$tmp/late.cu"
    run simcc "$tmp/late.cu" -o "$tmp/late"
    [ "$status" = 1 ]
    [[ $output == *"late.cu:19:45: error: cast from pointer to smaller type 'int' loses information"* ]]
    # A mistake of the program's is told at its own column.
    sed -i 's/ + halves(d)//; s/int i = (int)(p + 1) - (int)p,/& wrong = (int)p + missing,/' "$tmp/late.cu"
    run simcc "$tmp/late.cu" -o "$tmp/late"
    [ "$status" = 1 ]
    [[ $output == *"late.cu:24:53: error: use of undeclared identifier 'missing'"* ]]
    printf 'template <class T> __device__ T f(T x) { return x; }\ntemplate <> float f(int x) { return 1; }\nint main() {}\n' >"$tmp/other.cu"
    run simcc "$tmp/other.cu" -o "$tmp/late"
    [[ $output == *"other.cu:2:19: error: no function template matches function template specialization 'f'"* ]]
}

#!/usr/bin/env bats
# What other people's programs have in their text that clang does not read, or reads otherwise than nvcc: spellings, headers, names.
# Each test is a program that was met, made short. (What they lean on when they run: programs.bats.)

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
    [[ $output == *"main.cu:8:12: error: out-of-line definition of 'one' does not match any declaration in 'Plain'"*'int Plain::one(int)'* ]]
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
    output=$(sed -E 's/^ +[0-9]* [|] //' <<<"$output") # newer versions number the lines
    [[ $output == *"own.cu:6:25: warning: unused variable 'unused'"*$' k<<<{1}, 1>> >(0); int unused;\n                        ^'* ]]
}

@test "headers that nvcc includes by itself: <ctype.h>, and with --extended-lambda <functional>" {
    printf '__global__ void k() {}\nint main() { k<<<1, 1>>>(); LINE; return !isdigit(0x31); }\n' >"$tmp/alone.cu"
    simcc -DLINE= "$tmp/alone.cu" -o "$tmp/alone"
    "$tmp/alone"
    simcc --extended-lambda -DLINE='std::function<int(int)> f = isdigit; f(0)' "$tmp/alone.cu" -c -o "$tmp/alone.o"
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

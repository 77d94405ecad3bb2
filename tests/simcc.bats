#!/usr/bin/env bats
# simcc takes nvcc's place (common/simgpu/bin/simcc.sh), from the folder in which it was built and from one where it was
# installed.

load helper

setup_file() {
    make -s simgpu >"$BATS_FILE_TMPDIR/said"
    mkdir "$BATS_FILE_TMPDIR/own programs" # the name of a folder may have a blank
    cd "$BATS_FILE_TMPDIR/own programs" || return 1
    cat >main.cu <<'EOS'
#include <cstdio>
#include "by.h"
__device__ int scaled(int);
extern __device__ int offset;
__global__ void k(int *out) { out[threadIdx.x] = scaled(threadIdx.x) + offset; }
int main(void) {
    int *d, h[4] = {}, one = 1;
    cudaMalloc(&d, sizeof h);
    cudaMemcpyToSymbol(offset, &one, sizeof one);
    k<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %s\n", h[0], h[3], said());
}
EOS
    cat >part.cu <<'EOS'
#include "by.h"
static __device__ int twice = BY;
__device__ int offset;
__device__ int scaled(int i) { return i * twice; }
EOS
    echo 'const char *said();' >by.h
    printf '#include "by.h"\nconst char *said() { return "from C++"; }\n' >said.cpp
    cat >whole.cu <<'EOS'
#include <stdio.h>
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 0 // in host code
#endif
__device__ __noinline__ int value() { return VALUE; }
__global__ void k() { printf("%d %d\n", __CUDA_ARCH__, value()); }
int main(int argc, char **argv) { k << <1, 1 >> > (); return cudaDeviceSynchronize() + argc - 1; }
EOS
}

setup() {
    PATH=$BLUEBAR_TOP/$B/bin:$PATH
    cd "$BATS_FILE_TMPDIR/own programs" || return 1
    tmp=$BATS_TEST_TMPDIR
    compiler=$(sed -n "s/^clang='\(.*\)'/\1/p" "$BLUEBAR_TOP/$B/lib/simgpu/simcc.conf")
}

@test "make simgpu says what to type" {
    grep -qx "    $B/bin/simcc program.cu -o program" "$BATS_FILE_TMPDIR/said"
    grep -q "^    make NVCC=simcc CUDA_PATH=$BLUEBAR_TOP/$B/cuda\$" "$BATS_FILE_TMPDIR/said"
}

@test "one file, with nvcc's options; a launch that clang does not read" {
    run simcc -O3 -arch=sm_86 --extended-lambda -lineinfo -Xptxas -v -Xcompiler -Wall,-DVALUE=7 -std=c++14 -o "$tmp/whole" whole.cu
    echo "$output"
    [ "$status" = 0 ]
    [[ $output != *error* ]]
    run "$tmp/whole"
    [ "$status" = 0 ]
    [ "$output" = "860 7" ]
    run simcc -gencode arch=compute_75,code=sm_75 -gencode=arch=compute_80,code=\"sm_80,compute_80\" -DVALUE=1 -run whole.cu -o "$tmp/whole"
    [ "$status" = 0 ]
    [ "$output" = "800 1" ]
    run simcc -D VALUE=2 -run -run-args one whole.cu -o "$tmp/whole"
    [ "$status" = 1 ]
    [ "$output" = "750 2" ]
}

@test "--default-stream per-thread: stream 0 is the thread's own" {
    cat >"$tmp/stream.cu" <<'EOS'
#include <stdio.h>
int main() {
    unsigned long long zero, own;
    cudaStreamGetId(0, &zero), cudaStreamGetId(cudaStreamPerThread, &own);
    printf("%d\n", zero == own);
}
EOS
    run simcc --default-stream per-thread -run "$tmp/stream.cu" -o "$tmp/stream"
    [ "$status" = 0 ]
    [ "$output" = 1 ]
    run simcc -default-stream=legacy -run "$tmp/stream.cu" -o "$tmp/stream"
    [ "$status" = 0 ]
    [ "$output" = 0 ]
}

@test "device code of several files: -rdc=true, -dc and a link, -dlink and a link by another compiler, an archive" {
    simcc -rdc=true -DBY=10 main.cu part.cu said.cpp -o "$tmp/all"
    run "$tmp/all"
    [ "$output" = "1 31 from C++" ]
    simcc -dc -DBY=100 main.cu part.cu -odir "$tmp" && simcc -c said.cpp -o "$tmp/said.o"
    simcc "$tmp"/{main,part,said}.o -o "$tmp/linked"
    run "$tmp/linked"
    [ "$output" = "1 301 from C++" ]
    simcc -dlink "$tmp"/{main,part,said}.o -o "$tmp/device.o"
    "$compiler" --driver-mode=g++ "$tmp"/{main,part,said,device}.o -o "$tmp/dlinked" -L "$BLUEBAR_TOP/$B/lib" -lcudart
    LD_LIBRARY_PATH=$BLUEBAR_TOP/$B/lib run "$tmp/dlinked"
    [ "$output" = "1 301 from C++" ]
    simcc -lib "$tmp"/{part,said}.o -o "$tmp/libparts.a"
    simcc "$tmp/main.o" -L"$tmp" -lparts -o "$tmp/archived"
    run "$tmp/archived"
    [ "$output" = "1 301 from C++" ]
}

@test "-ptx, -fatbin, -E, -MM, -MD, --dryrun, --version" {
    simcc -ptx -DVALUE=1 -arch=sm_80 whole.cu -o "$tmp/whole.ptx"
    echo 'int x;' >"$tmp/x.cpp"
    (cd "$tmp" && simcc -E -MD x.cpp >/dev/null && grep -q '^x.o: x.cpp' x.d)
    grep -qx '.target sm_80' "$tmp/whole.ptx"
    grep -q 'entry _Z1kv' "$tmp/whole.ptx"
    simcc -fatbin -DVALUE=1 whole.cu -o "$tmp/whole.fatbin" && [ -s "$tmp/whole.fatbin" ]
    simcc -E -DVALUE=31 whole.cu | grep -q 'return 31'
    simcc -MM main.cu | grep -q '^main.o:.*main.cu'
    simcc -c -DBY=1 -MD -MF "$tmp/main.d" main.cu -o "$tmp/m.o" && grep -q 'by.h' "$tmp/main.d"
    # Of a program that is compiled and linked at once the file has the program's name, and all sources.
    mkdir "$tmp/v1.2"
    simcc -rdc=true -DBY=1 -MMD main.cu part.cu said.cpp -o "$tmp/v1.2/once"
    [ "$(grep -o '^[^ ]*: [^ ]*' "$tmp/v1.2/once.d")" = "$tmp/v1.2/once: main.cu
$tmp/v1.2/once: part.cu
$tmp/v1.2/once: said.cpp" ]
    # -MF names another file, which has all sources, too: of a link, of several objects, of -MM.
    simcc -rdc=true -DBY=1 -MMD -MF "$tmp/all.d" main.cu part.cu said.cpp -o "$tmp/v1.2/once"
    [ "$(grep -o '^[^ ]*: [^ ]*' "$tmp/all.d" | cut -d ' ' -f 2 | paste -sd ' ')" = "main.cu part.cu said.cpp" ]
    simcc -dc -DBY=1 -MMD -MF "$tmp/all.d" main.cu part.cu said.cpp -odir "$tmp/v1.2"
    [ "$(grep -o '^[^ ]*: [^ ]*' "$tmp/all.d" | paste -sd ' ')" = "$tmp/v1.2/main.o: main.cu $tmp/v1.2/part.o: part.cu $tmp/v1.2/said.o: said.cpp" ]
    simcc -MM main.cu part.cu said.cpp -MF "$tmp/all.d"
    [ "$(grep -o '^[^ ]*: [^ ]*' "$tmp/all.d" | paste -sd ' ')" = "main.o: main.cu part.o: part.cu said.o: said.cpp" ]
    # -MT is taken as it is, as by nvcc and gcc; -MQ, gcc's, is quoted for make, and so is the object's own name.
    simcc -c said.cpp -MMD -MF "$tmp/named.d" -MT 'one $two' -o "$tmp/m.o"
    grep -q '^one $two: said.cpp' "$tmp/named.d"
    simcc -dc main.cu -DBY=1 -MMD -MF "$tmp/named.d" -MQ 'one $two' -o "$tmp/m.o"
    grep -qF 'one\ $$two: main.cu' "$tmp/named.d"
    simcc -dc main.cu -DBY=1 -MMD -o "$tmp/v1.2/\$a.o"
    grep -qF 'v1.2/$$a.o: main.cu' "$tmp/v1.2/\$a.d"
    simcc -rdc=true -DBY=1 -MMD main.cu part.cu said.cpp -o "$tmp/v1.2/\$a"
    grep -qF 'v1.2/$$a: part.cu' "$tmp/v1.2/\$a.d"
    run simcc --dryrun -DVALUE=1 whole.cu -o "$tmp/none"
    [ "$status" = 0 ]
    [ ! -e "$tmp/none" ]
    [[ $output == *"--cuda-device-only"*"--cuda-host-only"* ]]
    run simcc --version
    [[ $output == *"Cuda compilation tools, release "[0-9]*.[0-9]", V"* ]]
}

@test "arithmetic as nvcc's options ask for it" {
    printf '__global__ void k(float *x) { x[0] = x[0] / x[1] + sqrtf(x[2]) * sinf(x[1]); }\n' >"$tmp/math.cu"
    simcc -ptx "$tmp/math.cu" -o "$tmp/math.ptx"
    for word in div.rn.f32 sqrt.rn.f32 fma.rn.f32 __nv_sinf; do grep -qw "$word" "$tmp/math.ptx"; done
    simcc -ptx -fmad=false "$tmp/math.cu" -o "$tmp/math.ptx"
    [ "$(grep -cw 'fma.rn.f32' "$tmp/math.ptx")" = 0 ]
    simcc -ptx --use_fast_math "$tmp/math.cu" -o "$tmp/math.ptx"
    for word in div.approx.ftz.f32 sqrt.approx.ftz.f32 fma.rn.ftz.f32 __nv_fast_sinf; do grep -qw "$word" "$tmp/math.ptx"; done
}

@test "a product and a sum are rounded once where nvcc and ptxas do so, whichever clang compiles them" {
    cat >"$tmp/once.cu" <<'EOS'
#include <cstdio>
__global__ void k(float *o, float a, float b, float c, float d, double e) { // a * a is b + 2^-24, which a float cannot hold
    o[0] = a * a, o[1] = a * a - b;                                // the product is needed itself
    o[2] = c * c - b;
    float p = a * d;
    o[3] = p - b, o[4] = b - p; // it goes into both sums
    o[5] = (float)(e * e - (e * 2 - 1));
    o[6] = __fmul_rn(a, d) - b;
}
int main() {
    float *d, h[7];
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d, 0x1.001p+0f, 0x1.002p+0f, 0x1.001p+0f, 0x1.001p+0f, 1 + 0x1p-27);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault);
    for (float v : h) printf("%a ", v);
}
EOS
    local compiler
    for compiler in $(clangs); do
        SIMCC_CLANG=$compiler simcc "$tmp/once.cu" -o "$tmp/once" && run "$tmp/once"
        echo "$compiler: $output"
        [ "$output" = '0x1.002p+0 0x0p+0 0x1p-24 0x1p-24 -0x1p-24 0x1p-54 0x0p+0 ' ]
    done
    # A product of the turn before, whose factor has changed since.
    cat >"$tmp/turns.cu" <<'EOS'
#include <cstdio>
__global__ void k(float *o, const float *in, int n, int from, float b, float c) {
    float p;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        float x = in[i];
        if (i > from) o[i] = p - c;
        __syncthreads();
        p = x * b;
        asm volatile("" ::: "memory");
    }
}
int main() {
    float *d, h[8] = {2, 3, 5, 7};
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyDefault);
    k<<<1, 1>>>(d + 4, d, 4, 0, 10, 1);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDefault);
    for (int i = 5; i < 8; i++) printf("%g ", h[i]);
}
EOS
    simcc -w "$tmp/turns.cu" -o "$tmp/turns" && run "$tmp/turns"
    [ "$output" = '19 29 49 ' ]
    simcc -fmad=false "$tmp/once.cu" -o "$tmp/once" && run "$tmp/once"
    echo "$output"
    [ "$output" = '0x1.002p+0 0x0p+0 0x0p+0 0x0p+0 0x0p+0 0x0p+0 0x0p+0 ' ]
}

@test "what cannot be: one message, and an exit status" {
    for case in '-cubin whole.cu|simcc: -cubin: SimGPU has no machine code; it runs PTX. Use -ptx or -fatbin' \
        "--nonsense whole.cu|simcc: --nonsense: this option is not known. simcc --help lists what is; -Xcompiler --nonsense hands it to the host's compiler" \
        'none.cu|simcc: none.cu: there is no such file' '-c|simcc: no input file; simcc --help lists the options' \
        '-arch=fast whole.cu|simcc: fast: no architecture of the kind sm_80 or compute_80' '-o|simcc: -o needs a value' \
        "-c -o x.o main.cu part.cu|simcc: -o x.o: several files cannot become one; compile each by itself, or use -odir"; do
        # shellcheck disable=SC2086 # words
        run simcc ${case%%|*}
        [ "$status" = 1 ] && [ "$output" = "${case#*|}" ] || { echo "$output" && false; }
    done
    printf '\n#include <thrust/sort.h>\n' >"$tmp/thrust.cu"
    printf "#include <cufft.h>\n__global__ void k(cufftHandle *s) {}\n" >"$tmp/fft.cu"
    run simcc "$tmp/thrust.cu" -c -o "$tmp/x.o"
    [ "$status" = 1 ]
    [[ $output == *"thrust.cu:2:"*"SimGPU does not have Thrust"* ]]
    run simcc "$tmp/fft.cu" -ptx -o "$tmp/x.ptx"
    [ "$status" = 1 ]
    [[ $output == *"fft.cu:1:"*"SimGPU does not have cuFFT"* && $output != *cufftHandle* ]]
    # A function of the driver that is left out.
    printf '#include <cuda.h>\nint main() { return cuIpcGetMemHandle(0, 0); }\n' >"$tmp/processes.cpp"
    run simcc "$tmp/processes.cpp" -o "$tmp/processes"
    [ "$status" = 1 ]
    [[ $output == *"processes.cpp:2:21: error: 'cuIpcGetMemHandle' is unavailable: SimGPU does not have memory of other processes"* ]]
    printf '#include <cuda.h>\nint main() {\n    CUtensorMap m;\n    CUgreenCtx g;\n    cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);\n}\n' >"$tmp/hopper.cu"
    run simcc "$tmp/hopper.cu" -o "$tmp/hopper"
    [ "$status" = 1 ]
    [ "$(grep -o '[0-9]*:[0-9]*: error: .*' <<<"$output")" = "4:5: error: 'CUgreenCtx' is unavailable: SimGPU does not have green contexts
5:5: error: 'cuTensorMapEncodeTiled' is unavailable: SimGPU does not have tensor maps (TMA)" ]
    # The compiler's own message, with the user's line.
    printf 'int main() {\n    return x;\n}\n' >"$tmp/wrong.cu"
    run simcc "$tmp/wrong.cu" -o "$tmp/wrong"
    [ "$status" = 1 ]
    [[ ${lines[0]} == "$tmp/wrong.cu:2:12: error: use of undeclared identifier 'x'" ]]
    [ ! -e "$tmp/wrong" ]
}

@test "installed in a folder of its own, and moved from there, it needs nothing of the project" {
    cd "$BLUEBAR_TOP"
    make -s install-simgpu PREFIX="$tmp/first" >"$tmp/said"
    grep -qx "    $tmp/first/bin/simcc program.cu -o program" "$tmp/said"
    mv "$tmp/first" "$tmp/second"
    run grep -rlF "$BLUEBAR_TOP" "$tmp/second" --include='sim*'
    [ -z "$output" ]
    [ -z "$(find "$tmp/second" -lname "/*")" ] # no link to outside
    for library in "$tmp"/second/lib/*.so; do
        run readelf -d "$library"
        [[ $output != *"$BLUEBAR_TOP"* ]] || { echo "$library" && false; }
    done
    cd "$tmp" && cp "$BATS_FILE_TMPDIR/own programs/whole.cu" .
    env -i PATH="/usr/bin:/bin" "$tmp/second/bin/simcc" -v -DVALUE=3 whole.cu -o whole 2>"$tmp/commands"
    [ "$(grep -c "$BLUEBAR_TOP" "$tmp/commands")" = 0 ]
    run env -i ./whole
    [ "$output" = "750 3" ]
    run ldd ./whole
    [[ $output == *"$tmp/second/lib/libcudart.so.13"* ]]
    printf 'CUDA_PATH = /usr/local/cuda\nall:\n\tnvcc -c -DVALUE=5 whole.cu -I$(CUDA_PATH)/include\n\tc++ whole.o -o made -L$(CUDA_PATH)/lib64 -lcudart_static -lcudadevrt -lrt -ldl\n' | sed "s,c++,$compiler --driver-mode=g++," >Makefile
    PATH=$tmp/second/cuda/bin:$PATH run make CUDA_PATH="$tmp/second/cuda"
    LD_LIBRARY_PATH=$tmp/second/lib run ./made
    [ "$output" = "750 5" ]
    mkdir -p "$tmp/others/include"
    cd "$BLUEBAR_TOP"
    run make -s install-simgpu PREFIX="$tmp/others"
    [ "$status" != 0 ]
    [[ $output == *"has an include folder of others"* ]]
    run env -u PREFIX make -s install-simgpu
    [[ $output == *"needs a folder of its own: make install-simgpu PREFIX="* ]]
}

# The precompiled headers of the kit in $tmp/kit.
ready_headers() { find "$tmp/kit/lib/simgpu/read" -name '*.pch' | wc -l; }

@test "cuda_runtime.h is read once for programs of the same options, and anew where it may say something else" {
    make -s -C "$BLUEBAR_TOP" install-simgpu PREFIX="$tmp/kit" >/dev/null
    cd "$tmp"
    printf '#include <cstdio>\n#include <cstdlib>\n#include <cmath>\n#ifndef VALUE\n#define VALUE 3\n#endif\n__global__ void k(float *x, int *arch) {\n    *x = rsqrtf(*x + VALUE);\n#ifdef __CUDA_ARCH__\n    *arch = __CUDA_ARCH__;\n#endif\n}\nint main() {\n    float *x;\n    int *arch;\n    cudaMallocManaged(&x, 4);\n    cudaMallocManaged(&arch, 4);\n    *x = 1;\n    k<<<1, 1>>>(x, arch);\n    cudaDeviceSynchronize();\n    printf("%%g %%d %%d\\n", *x, *arch, RAND_MAX);\n#ifdef MY_MATH\n    puts("mine");\n#endif\n}\n' >a.cu
    for number in 1 2 3; do # 1.ptx is made from the headers as they are
        kit/bin/simcc -DVALUE=3 a.cu -ptx -o "$number.ptx"
        kit/bin/simcc -DVALUE=3 a.cu -o a
        [ "$(./a)" = "0.5 750 2147483647" ]
    done
    [ "$(ready_headers)" = 2 ]
    cmp 1.ptx 3.ptx
    kit/bin/simcc -v -DVALUE=15 a.cu -o a 2>said
    [ "$(grep -c include-pch said)" = 2 ]
    [ "$(./a)" = "0.25 750 2147483647" ]
    # Names of our headers, of the system's, of the compiler; folders with a header of a system's name; -MD: read anew.
    run kit/bin/simcc -Drsqrtf=sqrtf a.cu -o a
    [ "$status" = 1 ]
    mkdir inc && printf '#include_next <math.h>\n#define MY_MATH 7\n' >inc/math.h
    for option in -DRAND_MAX=99 -D__CUDA_ARCH__=350 -Iinc "-I inc" -MD "-Xcompiler -MD,-MF,dep.d"; do
        # shellcheck disable=SC2086 # words
        kit/bin/simcc -v $option a.cu -o a 2>said
        [ "$(grep -c include-pch said)" = 0 ]
        [[ "$option $(./a | xargs)" == *"0.5 750 2147483647"* ]]
        [[ $option != *inc* || $(./a) == *mine ]]
    done
    CPATH=inc kit/bin/simcc a.cu -o a
    [[ $(./a) == *mine ]]
    for number in 1 2 3; do kit/bin/simcc -std=c++14 -O0 a.cu -o a && [ "$(./a)" = "0.5 750 2147483647" ]; done
    # One that is damaged, or older than a header, is made anew. A message of the program's own is none of the compiler's.
    for header in kit/lib/simgpu/read/*/*.pch; do echo nothing >"$header"; done
    kit/bin/simcc a.cu -o a
    [ "$(./a)" = "0.5 750 2147483647" ]
    kit/bin/simcc -v a.cu -o a 2>said
    [ "$(grep -c include-pch said)" = 2 ]
    before=$(ready_headers)
    printf '#error our precompiled header file is missing\n' >wrong.cu
    run kit/bin/simcc wrong.cu -o wrong
    [ "$status" = 1 ]
    [ "$(ready_headers)" = "$before" ]
    echo '#define VALUE 99' >>kit/include/math_host.h
    kit/bin/simcc a.cu -o a
    [ "$(./a)" = "0.1 750 2147483647" ]
}

@test "the two runtimes carry the names and versions of NVIDIA's" {
    for n in 12 13; do
        readelf -d "$BLUEBAR_TOP/$B/lib/libcudart.so.$n" | grep -q "SONAME.*\[libcudart.so.$n\]"
        readelf --dyn-syms -W "$BLUEBAR_TOP/$B/lib/libcudart.so.$n" | grep -q " cudaMalloc@@libcudart.so.$n\$"
    done
}

@test "a program's own macros of one capital letter, which CUDA's headers leave free" {
    for name in {A..S} {U..Z} l; do echo "#define $name 7"; done >"$tmp/letters.cu"
    for name in cooperative_groups cooperative_groups/{reduce,scan,memcpy_async} mma curand_kernel cublas_v2 cuda_{fp16,bf16,fp8,pipeline,awbarrier} cuComplex cuda; do
        echo "#include <$name.h>"
    done >>"$tmp/letters.cu"
    echo '__global__ void k(curandGenerator_t) {}' >>"$tmp/letters.cu" # curand_kernel.h includes curand.h
    simcc -DA=7 -DF=7 -DN=7 -DP=7 -ptx "$tmp/letters.cu" -o "$tmp/letters.ptx"
}

@test "headers that programs ask for by name, in CUDA C++ and, where they may be, in C++; old names work, with a warning" {
    cat >"$tmp/all.cu" <<'EOS'
#include <driver_types.h>
#include <builtin_types.h>
#include <host_defines.h>
#include <cuda_profiler_api.h>
#include <cuComplex.h>
#include <math_constants.h>
#include <nvToolsExt.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
#include <sm_20_intrinsics.h>
#include <sm_60_atomic_functions.h>
#include <device_launch_parameters.h>
#include <vector_types.h>
#if !defined(__CUDACC__) || !defined(__NVCC__) || !defined(__DRIVER_TYPES_H__) || !defined(__CUDA_RUNTIME_H__)
#error "the names by which programs ask for CUDA"
#endif
__global__ void k(double *o, double zero) {
    double whole;
    int e;
    unsigned lane = threadIdx.x;
    unsigned next = __shfl_down(lane, 1), four = __ballot(lane < 4), sum = __reduce_add_sync(~0u, lane);
    int most = __reduce_max_sync(~0u, -(int)lane);
    if (lane) return;
    o[0] = next;       // 1
    o[1] = four;       // 15
    o[2] = sum + most; // 496 + 0
    cuDoubleComplex z = cuCdiv(make_cuDoubleComplex(5, 10), make_cuDoubleComplex(3 + zero, -4)); // -1 + 2i
    o[3] = cuCreal(z) * 10 + cuCimag(z);                                                         // -8
    o[4] = cuCabs(make_cuDoubleComplex(3e300 + zero, 4e300)) / 1e300;                            // 5
    o[5] = __fadd_ru(1, 0x1p-30f + (float)zero) - __fadd_rd(1, 0x1p-30f + (float)zero);          // 2^-23
    o[6] = __double2ll_rd(-2.5 + zero) + __double2ll_ru(-2.5 + zero) + __double2ll_rn(2.5 + zero); // -3 - 2 + 2
    o[7] = __vsadu4(0x01020304, 0x04030201 + (unsigned)zero);                                    // 8
    o[8] = frexp(12.0 + zero, &e) * 100 + e;                                                     // 75 + 4
    o[9] = modf(-2.25 + zero, &whole) * 100 + whole;                                             // -27
    o[10] = CUDART_PI_F + CUDART_INF * 0 + CUDART_PI_LO != 0;                                                 // NaN: 1
    o[11] = powf((float)zero + 1, 1.0) - 1 + ilogb(0.0625 + zero) + __dp4a(0x01010101, 0x04030201, (int)zero);                    // -4 + 10
}
int main() {
    NVTX3_FUNC_RANGE();
    double *d, h[12];
    cudaEvent_t e;
    cudaSharedMemConfig banks;
    int bad = nvtxRangePushA("all") != NVTX_NO_PUSH_POP_TRACKING;
    bad |= cudaEventCreate(&e, 0) | cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte) | cudaDeviceGetSharedMemConfig(&banks);
    bad |= banks != cudaSharedMemBankSizeFourByte || cudaDeviceSetSharedMemConfig((cudaSharedMemConfig)3) != cudaErrorInvalidValue;
    cudaProfilerStart();
    cudaMalloc(&d, sizeof h);
    k<<<1, 32>>>(d, 0);
    bad |= cudaThreadSynchronize();
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 12; i++) printf("%g ", h[i]);
    printf("%g %d\n", rsqrtf(4), bad);
}
EOS
    simcc "$tmp/all.cu" -o "$tmp/all" 2>"$tmp/warned"
    for name in __shfl_down __ballot cudaThreadSynchronize; do
        grep -q "warning: '$name.* is deprecated: CUDA has no such name any more; today's is " "$tmp/warned"
    done
    run "$tmp/all"
    [ "$output" = "1 15 496 -8 5 1.19209e-07 -3 8 79 -27 1 6 0.5 0" ]
    # The templates of the API, and the launch's types, for a compiler of the host.
    printf '#include <cuda_runtime.h>\n#include <cuComplex.h>\n#include <nvToolsExt.h>\n%s\n' \
        'int main() { float *d; dim3 g(1, 2); return cudaMalloc(&d, 4) + cudaMemcpy(d, &g, 4, cudaMemcpyDefault) + cudaEventCreate((cudaEvent_t *)&d, 0) + (int)cuCrealf(make_cuComplex(0, 1)); }' >"$tmp/host.cpp"
    simcc "$tmp/host.cpp" -Xcompiler -Wall,-Wextra,-Werror -o "$tmp/host"
    "$tmp/host"
    if command -v g++ >/dev/null; then
        g++ -Wall -Wextra -Werror -I "$BLUEBAR_TOP/$B/include" "$tmp/host.cpp" -o "$tmp/host" -L "$BLUEBAR_TOP/$B/lib" -lcudart
        LD_LIBRARY_PATH=$BLUEBAR_TOP/$B/lib "$tmp/host"
    fi
    printf '#include <cuda_runtime.h>\n#include <cuComplex.h>\n#include <nvToolsExt.h>\nint main(void) { nvtxRangePop(); return (int)cudaDeviceSynchronize(); }\n' >"$tmp/host.c"
    simcc "$tmp/host.c" -Xcompiler -Wall,-Wextra,-Werror -o "$tmp/host"
    "$tmp/host"
}

@test "simgpu run: the report below a program's output, its lines, findings, trace and card; the exit status is the program's" {
    cat >"$tmp/race.cu" <<'EOS'
#include <cstdio>
#include <cstdlib>
__global__ void race(int *out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[63 - threadIdx.x];
}
int main(int argc, char **argv) {
    if (argc > 1 && *argv[1] == 'n') return 4;
    int *d, h[64];
    cudaMalloc(&d, sizeof h);
    race<<<1, 64>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[32]);
    cudaFree(d);
    if (argc > 1) abort();
    return 3;
}
EOS
    cd "$tmp" && simcc race.cu -o race
    status=0
    simgpu run ./race >out 2>err || status=$?
    [ "$status" = 3 ]
    [ "$(cat out)" = 31 ]
    grep -q '^run  ./race · sim · virtual H200$' err
    grep -q '^  race  *1  *[0-9.]* us   grid 1, block 64$' err
    grep -q 'blue bar ▏.*▕ GPU busy' err
    grep -q '^  the checks .* were off; simgpu run --check, or SIMGPU_CHECK=1, switches them on$' err
    [ "$(grep -c 'counters by line' err)" = 0 ]
    simgpu run --check --lines --trace trace.json --profile a100-pcie ./race >out 2>err || true
    grep -q '^run  ./race · sim · virtual A100' err
    grep -q '^race.cu:6: race: ' err
    grep -q '^  counters by line, every launch together: race.cu$' err
    grep -q '"name":"process_name"' trace.json
    # Lines of SimGPU's own headers are none of the reader's.
    printf '__global__ void k(int *p) { *p = __ballot_sync(~0u, 1) + __shfl(1, 0); }\nint main() { int *p; cudaMalloc(&p, 4); k<<<1, 32>>>(p); return cudaFree(p); }\n' >own.cu
    simcc own.cu -o own 2>own.said && simgpu run --lines ./own >out 2>err
    [ "$(grep 'counters by line' err)" = "  counters by line, every launch together: own.cu" ]
    run simgpu run ./race nothing
    [ "$status" = 4 ]
    [[ $output == *"the program sent the GPU no kernel and no copy"* ]]
    run simgpu run ./race crash
    [ "$status" = 134 ]
    [[ $output == *"simgpu: ./race was ended by SIGABRT, so there is no report of it" ]]
    run simgpu run ./none
    [ "$status" = 1 ]
    [ "$output" = "simgpu: ./none: there is no such program" ]
    run simgpu run race
    [ "$status" = 1 ]
    [[ $output == *"did you mean ./race?" ]]
    run simgpu run /tmp
    [ "$status" = 1 ]
    [ "$output" = "simgpu: /tmp is a folder; name a program in it" ]
    run simgpu run --none ./race
    [ "$status" = 1 ]
    [ "$output" = "simgpu: run --none: this option is not known; simgpu help lists them" ]
    SIMGPU_LISTENER=/none run ./race
    [ "$status" != 3 ]
    [[ $output == *"SIMGPU_LISTENER: /none: "* ]]
}

@test "simgpu run listens to a program of CUDA 12's library, and to one that opens the library itself" {
    cd "$tmp"
    cat >opens.c <<'EOS'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv) {
    void *cuda = dlopen(argc > 1 ? argv[1] : "libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
    int (*allocates)(void **, size_t) = cuda ? (int (*)(void **, size_t))dlsym(cuda, "cudaMalloc") : 0;
    void *p;
    return allocates ? allocates(&p, 4096) : 9;
}
EOS
    "$compiler" opens.c -o opens -ldl
    run simgpu run ./opens
    [ "$status" = 0 ]
    [[ $output == *"run  ./opens · sim · virtual H200"*"never freed: 4096 bytes of device memory"* ]]
}

@test "simgpu isa is the table of instructions; simgpu explain reads PTX, and names what it cannot run" {
    simgpu isa >"$tmp/isa"
    grep -q '^mad.lo  *.u32  *integer multiply$' "$tmp/isa"
    grep -q '^redux.sync  *shuffle$' "$tmp/isa"
    [ "$(grep -c '^join' "$tmp/isa")" = 0 ]
    [ "$(simgpu isa redux | wc -l)" = 1 ]
    simcc -ptx -DVALUE=1 whole.cu -o "$tmp/whole.ptx"
    run simgpu explain "$tmp/whole.ptx"
    [ "$status" = 0 ]
    [[ $output == *"for sm_75, "*"kernel "*"k"*"registers a thread (estimated)"*"instructions: "* ]]
    sed -i 's/ret;/wgmma.fence.sync.aligned; ret;/' "$tmp/whole.ptx"
    run simgpu explain "$tmp/whole.ptx"
    [ "$status" = 0 ]
    [[ $output == *"a launch of it fails: "*wgmma* ]]
    echo nonsense >"$tmp/whole.ptx"
    run simgpu explain "$tmp/whole.ptx"
    [ "$status" = 1 ]
    [[ $output == "simgpu: $tmp/whole.ptx: PTX line 1: "* ]]
    run simgpu explain "$tmp/none.ptx"
    [ "$status" = 1 ]
    [[ $output == "simgpu: $tmp/none.ptx: No such file"* ]]
    run simgpu dance
    [ "$status" = 1 ]
    [ "$output" = "simgpu: dance: simgpu knows run, explain and isa" ]
}

@test "CMake takes simcc for nvcc: it builds device code of several files, a library, and a program that links it" {
    command -v cmake >/dev/null || skip "cmake is not here"
    mkdir "$tmp/project" && cp main.cu part.cu said.cpp by.h "$tmp/project"
    cat >"$tmp/project/CMakeLists.txt" <<'EOS'
cmake_minimum_required(VERSION 3.18)
project(three LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_compile_definitions(BY=7)
add_library(parts STATIC part.cu said.cpp)
add_executable(three main.cu)
target_link_libraries(three parts CUDA::cudart)
find_package(CUDA REQUIRED) # as old projects do: the link names libcudart_static.a, with its folder
target_link_libraries(three ${CUDA_LIBRARIES})
set_target_properties(parts three PROPERTIES CUDA_SEPARABLE_COMPILATION ON POSITION_INDEPENDENT_CODE ON)
set_target_properties(parts three PROPERTIES CUDA_ARCHITECTURES "80;90")
EOS
    run cmake -S "$tmp/project" -B "$tmp/build" -DCMAKE_CUDA_COMPILER="$BLUEBAR_TOP/$B/bin/simcc" -DCUDA_TOOLKIT_ROOT_DIR="$BLUEBAR_TOP/$B/cuda"
    [ "$status" = 0 ] && [[ $output == *"CUDA compiler identification is NVIDIA"*"Found CUDAToolkit: "*"Found CUDA: $BLUEBAR_TOP/$B/cuda"* ]] || { echo "$output" && false; }
    run cmake --build "$tmp/build"
    [ "$status" = 0 ] && [[ $output != *"ar: "* ]] || { echo "$output" && false; }
    run "$tmp/build/three"
    [ "$output" = "1 22 from C++" ]
}

@test "foreign.sh: other people's programs by repository and cause" {
    mkdir -p "$tmp/all/"{first/src,second/one,second/two}
    cp whole.cu "$tmp/all/first/src/none.cu" # wants -DVALUE
    cp part.cu by.h said.cpp "$tmp/all/second/one" # part.cu wants -DBY; a call across files would want -rdc=true, too
    printf '#include "by.h"\nint main() { return !said(); }\n' >"$tmp/all/second/one/main.cu"
    printf '#include <cufft.h>\nint main() {}\n' >"$tmp/all/first/src/waves.cu"
    printf '#include "k.cuh"\nint main() { k<<<1, 1>>>(); puts("Test FAILED"); }\n' >"$tmp/all/second/two/says.cu"
    printf '#include "k.cuh"\nint main() { int n = 0; scanf("%%d", &n), k<<<n, 1>>>(), puts("Mismatches (naive): 0"); return cudaDeviceSynchronize(); }\n' >"$tmp/all/second/two/runs.cu"
    printf '#include <mpi.h>\nint main() {}\n' >"$tmp/all/second/two/mpi.cu"
    printf '/*\n * Update the host.\n * TODO: write it */\n#include "k.cuh"\nint main() { return 1; }\n' >"$tmp/all/second/two/gap.cu"
    mkdir -p "$tmp/all/third/"{one,solutions}
    printf '/*\n * Update the host.\n */\nint main() { return 1; }\n' | tee "$tmp/all/third/one/gap.cu" >"$tmp/all/first/src/update.cu"
    mkdir "$tmp/all/second/lib" # where their own build finds it
    printf '#include <stdio.h>\n__global__ void k() {}\n' >"$tmp/all/second/lib/k.cuh"
    mkdir "$tmp/all/second/two/src" && touch "$tmp/all/second/two/src/header.cuh" # no source
    printf '#!/bin/sh\ncase "$*" in *none.cu*) echo error: VALUE; exit 1 ;; esac\n' >"$tmp/oracle" && chmod +x "$tmp/oracle"
    ORACLE=$tmp/oracle RESULTS=$tmp/results JOBS=2 "$BLUEBAR_TOP/tests/foreign.sh" "$tmp/all" >"$tmp/table" 2>/dev/null
    diff "$tmp/table" - <<'EOS'
| repository | asked | compile | run | late | % of those in time | not asked |
|---|---:|---:|---:|---:|---:|---:|
| first | 1 | 1 | 0 | 0 | 0 | 2 |
| second | 3 | 2 | 1 | 0 | 33 | 2 |
| third | 0 | 0 | 0 | 0 |  | 1 |
| **all** | 4 | 3 | 1 | 0 | 25 | 5 |

| programs | what stopped them | asked | one of them |
|---:|---|---|---|
| 1 | compile: compiler: use of undeclared identifier 'BY' | yes | second/one/main.cu |
| 1 | run: exit status 1 | yes | first/src/update.cu |
| 1 | run: its own check says no | yes | second/two/says.cu |
| 2 | run: an exercise with gaps | no | second/two/gap.cu |
| 1 | compile: a library: cuFFT | no | first/src/waves.cu |
| 1 | compile: not CUDA's: mpi.h | no | second/two/mpi.cu |
| 1 | compile: nvcc rejects it | no | first/src/none.cu |
EOS

    # One program of that list, with the arguments of its Makefile, compiled by what NVCC names.
    grep -P '\truns.cu ' "$tmp/results/programs" >"$tmp/list"
    printf 'run: main\n\t./main seven 8\n' >"$tmp/all/second/two/Makefile"
    printf '#include "k.cuh"\nint main(int n, char **v) { puts(v[1]); return n != 3; }\n' >"$tmp/all/second/two/runs.cu"
    printf '#!/bin/sh\n[ "$1 $2 $3 $4" = "-w -cudart shared -arch=compute_80" ] && shift 4 && exec "%s/bin/simcc" "$@"\n' "$BLUEBAR_TOP/$B" >"$tmp/nvcc"
    chmod +x "$tmp/nvcc"
    NVCC=$tmp/nvcc LIST=$tmp/list RESULTS=$tmp/again "$BLUEBAR_TOP/tests/foreign.sh" "$tmp/all" >"$tmp/table" 2>/dev/null
    grep -qF '| **all** | 1 | 1 | 1 | 0 | 100 | 0 |' "$tmp/table"
    [ "$(cat "$tmp"/again/second-*/stdout)" = seven ]
}

#!/usr/bin/env bats
# Two compilers, one SimGPU: the PTX that nvcc embeds gives the counters that clang's does.

load helper

setup() {
    command -v nvcc >/dev/null || skip "no nvcc here"
}

# The memory counters of every launch, as the report has them: name, then the totals (line tables differ between compilers).
memory_counters() {
    sed -n 's/.*"kind":"launch".*"name":"\([^"]*\)".*"counters":{\([^}]*\)}.*/\1,\2/p' "$1" | awk -F, '{
        line = $1
        for (i = 2; i <= NF; i++) if ($i ~ /l1tex__/) line = line " " $i
        print line }'
}

@test "starter and solution: the same sectors, requests and wavefronts from clang and from nvcc" {
    build .build/sim/starter/lab3 .build/sim/reference/lab3
    CUDA_COMPILER=nvcc build .build/sim-nvcc/starter/lab3 .build/sim-nvcc/reference/lab3
    for who in starter reference; do
        for lane in sim sim-nvcc; do
            SIMGPU_REPORT=$BATS_TEST_TMPDIR/$lane apart .build/$lane/$who/lab3 >/dev/null
            memory_counters "$BATS_TEST_TMPDIR/$lane" >"$BATS_TEST_TMPDIR/$lane.counters"
        done
        [ "$(wc -l <"$BATS_TEST_TMPDIR/sim.counters")" -gt 5 ]
        diff "$BATS_TEST_TMPDIR/sim.counters" "$BATS_TEST_TMPDIR/sim-nvcc.counters"
    done
}

@test "the gate takes what nvcc adds: bodies of __device__ functions, checks of new, names that CUDA's headers put in between" {
    # These bodies call exit, and an array of a length that is not known asks for __cxa_throw_bad_array_new_length.
    CUDA_COMPILER=nvcc run make -s check LAB=4 SUBMISSION=tests/lab4/right/allocates_by_calloc_and_new.patch SEED=1
    [[ $output == *"Score: 100/100"* ]]
    CUDA_COMPILER=nvcc build .build/sim-nvcc/judge/lab11.names
    grep -qx 'may cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags' .build/sim-nvcc/judge/lab11.names
}

@test "a program of several objects (-rdc=true), some with launches in kernels, runs on the drop-in" {
    make -s simgpu >/dev/null
    cd "$BATS_TEST_TMPDIR"
    cat >main.cu <<'EOF'
#include <cstdio>
__device__ int scaled(int);
extern __device__ int offset;
static __device__ int mine = 3;
__global__ void k(int *out) { out[threadIdx.x] = scaled(threadIdx.x) + offset + mine; }
int main() {
    int *d, h[4] = {}, one = 1;
    cudaMalloc(&d, sizeof h);
    cudaMemcpyToSymbol(offset, &one, sizeof one);
    k<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[3]);
}
EOF
    printf 'static __device__ int mine = 10;\n__device__ int offset;\n__device__ int scaled(int i) { return i * mine; }\n' >part.cu
    nvcc -rdc=true -arch=sm_80 -cudart shared main.cu part.cu -o two
    LD_LIBRARY_PATH=$BLUEBAR_TOP/$B/lib run ./two
    [ "$output" = "4 34" ]
    nvcc -std=c++17 -rdc=true -arch=sm_80 -cudart shared "$BLUEBAR_TOP/tests/children/children.cu" -o children
    LD_LIBRARY_PATH=$BLUEBAR_TOP/$B/lib ./children 2>said | diff - "$BLUEBAR_TOP/tests/children/expected"
    # Machine code alone stays what it is.
    nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -cudart shared main.cu part.cu -o bare
    LD_LIBRARY_PATH=$BLUEBAR_TOP/$B/lib run ./bare
    [[ $output == *"the program carries machine code but no PTX; rebuild with nvcc "* ]]
}

@test "each public header of CUDA's C++ library has a stub that names the library" {
    cccl=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")/include/cccl
    [ -d "$cccl" ] || skip "the toolkit has no such folder"
    (cd "$cccl" && find -L thrust cub cuda nv -type f | grep -vE '/(__|detail/|specializations/|agent/|dispatch/)|^thrust/system/(omp|tbb|cpp)/|^thrust/system/cuda/(detail|experimental)/' | sort) >"$BATS_TEST_TMPDIR/theirs"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/theirs")" -gt 200 ]
    (cd common/simgpu/include/unsupported && find thrust cub cuda nv -type f | sort) >"$BATS_TEST_TMPDIR/ours"
    comm -23 "$BATS_TEST_TMPDIR/theirs" "$BATS_TEST_TMPDIR/ours" | tee "$BATS_TEST_TMPDIR/missing"
    [ ! -s "$BATS_TEST_TMPDIR/missing" ]
}

#!/usr/bin/env bats
# make play: any CUDA program on SimGPU, with a report below its output (common/make/play.sh, common/play/play.c).

load helper

setup_file() {
    # A program with its own main, C++ on the host, a header beside it, a template, a leak and a call that fails.
    mkdir -p "$BATS_FILE_TMPDIR/own programs"
    cd "$BATS_FILE_TMPDIR/own programs" || return 1
    echo 'static const float BY = 2;' >by.h
    cat >scale.cu <<'EOS'
#include "by.h"
#include <iostream>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

template <typename T> __global__ void scale(T *x, int n, T by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= by;
}

int main(int argc, char **argv) {
    std::string line;
    std::getline(std::cin, line);
    for (int i = 1; i < argc; i++) std::cout << '[' << argv[i] << ']';
    std::cout << line << std::endl;
    if (line == "nothing") return 0;
    if (line == "crash") abort();
    std::vector<float> h(4096, 1.0f);
    float *d, *never;
    cudaMalloc(&d, 16384);
    cudaMemcpy(d, h.data(), 16384, cudaMemcpyHostToDevice);
    for (int k = 0; k < 3; k++) scale<float><<<32, 128>>>(d, 4096, BY);
    cudaMemcpy(h.data(), d, 16384, cudaMemcpyDeviceToHost);
    if (cudaMalloc(&never, (size_t)1 << 60) == cudaSuccess) return 1;
    cudaGetLastError();
    if (fork() == 0) exit(7); // prints no second report
    std::cout << h[4095] << std::endl;
    try {
        throw std::runtime_error("thrown and caught");
    } catch (const std::exception &e) {
        std::cout << e.what(); // with no newline, and still in the buffer at the end
    }
    return 3;
}
EOS
}

# plays LINE [ARGS]: the program with this line on stdin; its output in $BATS_TEST_TMPDIR/out, the report in .../err.
plays() {
    status=0
    FILE="$BATS_FILE_TMPDIR/own programs/scale.cu" ARGS=${2:-} common/make/play.sh <<<"$1" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" 3>&- 4>&- || status=$?
    cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
}

@test "the program's output, its input, its arguments and its exit status are its own; the report is beside them" {
    plays hello "1 'two words' \$(touch ran) ; >ran"
    [ "$status" = 3 ]
    diff "$BATS_TEST_TMPDIR/out" <(printf '[1][two words][$(touch][ran)][;][>ran]hello\n8\nthrown and caught')
    [ ! -e ran ]
    [ "$(grep -c '^play  .*scale.cu · sim · virtual H200$' "$BATS_TEST_TMPDIR/err")" = 1 ]
}

@test "kernels by their names, copies, idle time, the bar, counters by line, failed calls, findings, memory" {
    plays hello
    for line in '^  scale  +3 +[0-9.]+ us   grid 32, block 128$' \
        '^      16 registers, 0 bytes shared, 16 blocks on an SM: 64 of 64 warps, from scale.cu:24$' \
        '^      bound by launch: ' \
        '^  host to device +1 +[0-9.]+ us   16.4 KB, [0-9.]+ GB/s; pageable, staged by the CPU$' \
        '^  device to host +1 ' \
        "^  the GPU's time, [0-9.]+ us from the first command to the end of the last; it ran no kernel because$" \
        '^ +[0-9.]+ %  kernel starting, scale.cu:24$' \
        '^  blue bar ▏.*▕ GPU busy [0-9]+ % \(virtual\)$' '^  up  ' '^  down  ' \
        '^ +3 +24 │     for \(int k' '^ +[0-9]+ +1536 +1536 +98304 +10 │     if \(i < n\)' \
        '^    scale.cu:26: cudaMalloc: cudaErrorMemoryAllocation$' \
        '^  no race, no read of unwritten memory, no unordered streams found$' \
        '^  never freed: 16.4 KB of device memory$'; do
        grep -Eq -- "$line" "$BATS_TEST_TMPDIR/err" || { echo "missing: $line" && false; }
    done
    [ "$(grep -v "$BATS_FILE_TMPDIR" "$BATS_TEST_TMPDIR/err" | LC_ALL=C.UTF-8 grep -cE '^.{101,}$')" = 0 ]
    SIMGPU_CHECK=0 plays hello
    grep -q '^  the checks for races and unordered copies were off; simgpu run --check, or SIMGPU_CHECK=1, switches them on$' "$BATS_TEST_TMPDIR/err"
}

@test "a program that makes no call, and one that crashes" {
    plays nothing
    [ "$status" = 0 ]
    grep -q '^  the program sent the GPU no kernel and no copy$' "$BATS_TEST_TMPDIR/err"
    plays crash
    [ "$status" = 134 ]
    [ "$(tail -n 1 "$BATS_TEST_TMPDIR/err")" = "play: $BATS_FILE_TMPDIR/own programs/scale.cu was ended by SIGABRT, so there is no report of it." ]
}

@test "a race is told, and listed" {
    run make -s play FILE=handouts/histogram.cu ARGS=5000
    [ "$status" = 0 ]
    [[ $output == *"histogram.cu:"*": race: a thread changes atomically what another thread wrote"*"findings (each is told in full above)"*"race: a thread changes"* ]]
}

@test "no FILE, none of that name, an open quotation mark, no main, an error of the compiler: one message each" {
    local tmp=$BATS_TEST_TMPDIR
    run make -s play
    [ "$status" = 2 ]
    [[ $output == "make play runs a CUDA program of your own: make play FILE=path/to/program.cu ARGS='its arguments'"* ]]
    run make -s play FILE="$tmp/none.cu"
    [[ $output == "FILE=$tmp/none.cu: there is no such file."* ]]
    run make -s play FILE="$tmp"
    [[ $output == "FILE=$tmp: there is no such file; it is a folder."* ]]
    echo '__global__ void k() {}' >"$tmp/a.cu"
    run make -s play FILE="$tmp/a.cu" ARGS="it's"
    [[ $output == "ARGS=it's: a quotation mark is not closed."* ]]
    run common/make/play.sh <<<'' # FILE is not exported here
    [ "$status" = 1 ]
    FILE=$tmp/a.cu run common/make/play.sh
    [ "$status" = 1 ]
    [[ ${lines[-1]} == "$tmp/a.cu has no main function. make play runs a whole program; a lab's file is run by make lab3." ]]
    printf 'int main() {\n    return x;\n}\n' >"$tmp/b.cu"
    FILE=$tmp/b.cu run common/make/play.sh
    [ "$status" = 1 ]
    [[ ${lines[0]} == "$tmp/b.cu:2:12: error: use of undeclared identifier 'x'" ]]
    [[ ${lines[-1]} == "$tmp/b.cu cannot be built: see above. What SimGPU lacks is listed in README.md, under Limits." ]]
    [[ $output != *"make["* && $output != *"***"* ]]
}

@test "in the gpu lane nvcc builds it, the card runs it, and one line says what is not shown" {
    house
    local bin=$BATS_TEST_TMPDIR/bin
    mkdir "$bin"
    # A stand-in for nvcc: what it links says hello and ends with 5.
    cat >"$bin/nvcc" <<'EOS'
#!/bin/sh
echo "$*" >>"$NVCC_LOG"
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\necho "hello $1"\nexit 5\n' >"$2" && chmod +x "$2"
EOS
    chmod +x "$bin/nvcc"
    export NVCC_LOG=$BATS_TEST_TMPDIR/log
    BLUEBAR=$PWD/$B/bluebar
    PATH=$bin:$PATH DEVICE=gpu B=.build/gpu FILE=handouts/histogram.cu ARGS="'a b'" run common/make/play.sh
    echo "$output"
    [ "$status" = 5 ]
    [ "${lines[0]}" = "hello a b" ]
    [[ ${lines[1]} == "play: on a GPU nothing is counted. DEVICE=sim shows kernels, counters by line and findings; ncu and nsys know this card." ]]
    [ "$(grep -c -e '-c -o ' "$NVCC_LOG")" = 1 ]
    [ "$(wc -l <"$NVCC_LOG")" = 2 ]
    [ "$(grep -c play.so "$NVCC_LOG")" = 0 ]
}

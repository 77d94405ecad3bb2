#!/usr/bin/env bats
# What a student reads when a file does not compile, is refused or does not end: one message, with the line of the file,
# and the same from `make lab3` as from `make check`.

load helper

setup_file() { build "$B/reference/lab3" "$BLUEBAR"; }

# variation SED: lab 3's starter, changed; in $file.
variation() {
    file=$BATS_TEST_TMPDIR/transpose.cu
    sed "$1" "$(lab_starter 3)" >"$file"
}

# tells TEXT...: `make lab3` refuses the file with exactly these lines, `make check` says the same.
tells() {
    run make -s lab3 SUBMISSION="$file" 3>&- 4>&-
    echo "$output"
    [ "$status" != 0 ]
    diff <(printf '%s\n' "$@") <(grep -v '^make: ' <<<"$output")
    grade "$file"
    [ "$status" != 0 ]
    diff <(printf '%s\n' "$@") <(grep '^gate: \|^compiler: ' <<<"$output" | sed 's/^compiler: //')
}

# The line of the transpose function, which each change below follows.
line=$(grep -n '^extern "C" void transpose(' tests/lab3/starter.cu | cut -d: -f1)

@test "a compile error is told once, without make's lines" {
    variation "$((line + 1))s/;//"
    run make -s lab3 SUBMISSION="$file" 3>&- 4>&-
    echo "$output"
    [ "$status" != 0 ]
    [[ ${lines[0]} == "$file:$((line + 1)):"*": error: expected ';' at end of declaration" ]]
    [ "$(grep -c 'error: ' <<<"$output")" = 1 ]
    [ "$(grep -c '^make\[' <<<"$output")" = 0 ]
    [[ $output != *generated* ]]
}

@test "what SimGPU says of a kernel names the run: the shape of a fault, a refused launch, a race" {
    for program in misaligned.cu grid_dimension_zero.patch; do
        run make -s lab3 SUBMISSION=tests/lab3/wrong/$program 3>&- 4>&-
        echo "$output"
        [[ $output == *"in your transpose on 61x67"* ]]
    done
    run make -s lab3 SUBMISSION=tests/lab3/wrong/missing_sync.cu 3>&- 4>&-
    [[ $output == *": race: "*$'\n  (in your transpose on 64x64)\n'* ]]
}

@test "warnings are shown at each run alike, each once" {
    variation "${line}a\\    if (rows = rows + 1) rows--;"
    for k in 1 2; do
        run make -s lab3 SUBMISSION="$file" 3>&- 4>&-
        [ "$status" = 0 ]
        sed '/^lab3 /,$d' <<<"$output" >"$BATS_TEST_TMPDIR/$k"
    done
    cat "$BATS_TEST_TMPDIR/1"
    [ "$(grep -c "$file:$((line + 1)):.*warning: using the result of an assignment" "$BATS_TEST_TMPDIR/1")" = 1 ]
    diff "$BATS_TEST_TMPDIR/1" "$BATS_TEST_TMPDIR/2"
}

@test "a missing function is named with its prototype" {
    variation 's/view view_transpose/view view_transposed/'
    tells 'gate: transpose.cu does not define `view_transpose`: the harness calls it. Is it extern "C", and spelled like this? extern "C" struct view view_transpose(struct view v)'
}

@test "a function that is only declared is named, with its line" {
    variation "${line}i int helper(int);
${line}a\\    rows = helper(rows);"
    tells "gate: transpose.cu:$line calls \`helper(int)\`, which is declared and nowhere defined. Write it, or spell it, with its parameters, as where it is defined."
}

@test "a call that is not allowed is named as its author wrote it, with its line" {
    variation "${line}a\\    void *early; cudaMallocAsync(&early, 4, 0);"
    tells "gate: transpose.cu:$((line + 1)) uses \`cudaMallocAsync\`, which a submission to lab 3 may not use. Remove the call. What may be called stands in common/make/allow.txt, and of CUDA's functions in common/simgpu/include/cuda_api.def, with ALL or LAB(3)."
}

@test "the C++ library is one message, with the class and its line" {
    variation "1i #include <unordered_map>
${line}a\\    static std::unordered_map<int, int> seen; seen[rows]++;"
    tells "gate: transpose.cu:$((line + 2)) uses the C++ library (std::unordered_map), which a submission to lab 3 may not use. Write it in C: plain arrays, structs and functions."
}

@test "a header that SimGPU lacks is one message; every stub of one says what it is" {
    variation "1i #include <thrust/sort.h>
${line}a\\    thrust::less<int> order;"
    tells 'gate: transpose.cu:1 includes <thrust/sort.h>: SimGPU does not have Thrust. README.md, Limits, says what else it lacks.'
    for stub in $(cd common/simgpu/include/unsupported && find . -type f | sed 's,^\./,,'); do
        up=$(sed 's,[^/]*/,../,g; s,[^/]*$,../simgpu_,' <<<"$stub")
        case $(head -n 1 "common/simgpu/include/unsupported/$stub") in *'"Thrust"' | *'"CUB"' | *'"libcu++"') up+=cccl.h ;; *) up+=unsupported.h ;; esac
        diff "common/simgpu/include/unsupported/$stub" - <<<"$(grep '^#define SIMGPU_LACKS ".*"$' "common/simgpu/include/unsupported/$stub")
#include \"$up\""
    done
}

@test "a header that SimGPU lacks ends the compilation of any program with its own message" {
    printf '#include <thrust/sort.h>\nthrust::less<int> x;\n' >"$BATS_TEST_TMPDIR/any.cu"
    run "$(common/make/find-clang.sh)" -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -fsyntax-only --cuda-host-only \
        -Icommon/simgpu/include -Icommon/simgpu/include/unsupported -include cuda_runtime.h "$BATS_TEST_TMPDIR/any.cu"
    echo "$output"
    [ "$(grep -c 'error: ' <<<"$output")" = 1 ]
    [[ $output == *"any.cu:1:"*"error: SimGPU does not have Thrust, and so not this header. simcc compiles NVIDIA's: set SIMCC_CCCL to the folder include/cccl of CUDA 13, "* ]]
}

@test "types and functions that SimGPU lacks are named, one message each" {
    cat >"$BATS_TEST_TMPDIR/any.cu" <<'END'
__global__ void k(int *p, cudaMemPoolPtrExportData t) {
    p[1] = t;
}
int main() {
    cudaIpcMemHandle_t a;
    cudaIpcGetMemHandle(0, 0);
}
END
    "$(common/make/find-clang.sh)" -x cuda --cuda-path=/nonexistent -nocudainc -nocudalib --cuda-gpu-arch=sm_70 -fsyntax-only --cuda-host-only \
        -Icommon/simgpu/include -include cuda_runtime.h "$BATS_TEST_TMPDIR/any.cu" 2>&1 | "$BLUEBAR" compiler | grep 'error: \|note: ' | sed 's/.*any.cu:\([0-9]*\):[0-9]*: error: /\1 /' >"$BATS_TEST_TMPDIR/said"
    diff "$BATS_TEST_TMPDIR/said" - <<'END'
1 'cudaMemPoolPtrExportData' is unavailable: SimGPU does not have memory of other processes
5 'cudaIpcMemHandle_t' is unavailable: SimGPU does not have memory of other processes
6 'cudaIpcGetMemHandle' is unavailable: SimGPU does not have it
END
}

@test "a compiler's message is shown once, with its notes, and none about a header of ours" {
    "$BLUEBAR" compiler '> ' >"$BATS_TEST_TMPDIR/said" <<'END'
In file included from a.cu:1:
b.h:3:4: warning: odd
  int x
      ^
a.cu:7:1: error: 'f' is unavailable: no
f();
^
common/simgpu/include/cuda_unsupported.h:20:1: note: 'f' has been explicitly marked unavailable here
int f();
    ^
<scratch space>:42:1: note: expanded from here
SIMGPU_SITED
^
a.cu:9:1: note: yours
1 warning and 1 error generated when compiling for sm_70.
In file included from a.cu:1:
b.h:3:4: warning: odd
  int x
      ^
1 warning generated.
make[1]: *** [Makefile:264: x] Error 1
END
    diff "$BATS_TEST_TMPDIR/said" - <<'END'
> In file included from a.cu:1:
> b.h:3:4: warning: odd
>   int x
>       ^
> a.cu:7:1: error: 'f' is unavailable: no
> f();
> ^
> a.cu:9:1: note: yours
END
}

@test "a loop of the host without an end is stopped in seconds, with its line" {
    variation "${line}a\\    for (volatile int k = 1; k;) {}"
    grade "$file"
    [[ $output == *"lab3: transpose.cu:$((line + 1)): the host's code has run for 5 s without a call of CUDA, while running your transpose on 64x64."* ]]
    [[ $output == *"no result: it ended with exit status 2 before the last row"* ]]
}

@test "a loop of calls without an end is stopped, with the call and its line" {
    variation "${line}a\\    while (cudaMemset(d_out, 0, 0) == cudaSuccess) {}"
    run make -s lab3 SUBMISSION="$file" 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == *"lab3: transpose.cu:$((line + 1)): the host's code has made 2097152 calls of CUDA, the last one cudaMemset, while running your transpose on 64x64."* ]]
}

@test "what runs for long says after 3 seconds what it is at" {
    # shellcheck disable=SC2016 # the inner shell is to expand it
    run "$BLUEBAR" run --name lab3 --stage "$BATS_TEST_TMPDIR/stage" -- sh -c 'printf "your transpose\033" | dd of="$1" conv=notrunc status=none; sleep 3.5' sh "$BATS_TEST_TMPDIR/stage"
    [ "$status" = 0 ]
    [ "$output" = 'lab3: still running after 3 s: your transpose\x1b' ]
    [ ! -e "$BATS_TEST_TMPDIR/stage" ]
}

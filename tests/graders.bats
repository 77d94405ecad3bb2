#!/usr/bin/env bats
# The graders, graded: the starter fails its declared rows, the solution passes, nothing depends on luck or on a program's
# output. The programs in tests/lab*/wrong and tests/lab*/cheat have a test each: see wrong-programs.sh.

load helper

setup_file() {
    build "$B/starter/lab3" "$B/reference/lab3"
}

setup() { lab=$(lab_dir 3); }

# The last line of the grade.
scored() { echo "$output" | grep -qx "Score: $1/100"; }

# The starter with a change by sed, as a submission.
changed() {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed "$@" "tests/lab3/starter.cu" >"$BATS_TEST_TMPDIR/s/transpose.cu"
    cmp -s "$BATS_TEST_TMPDIR/s/transpose.cu" "tests/lab3/starter.cu" && echo "the change changed nothing"
    grade "$BATS_TEST_TMPDIR/s/transpose.cu"
}

# bats test_tags=quick
@test "the starter fails exactly its declared rows, whatever the seed" {
    grade starter
    [ "$status" != 0 ]
    as_declared
    play starter 4000000000
    as_declared
}

@test "each row that the starter fails comes with a line and a hint" {
    grade starter
    for row in $(grep -v '^#' tests/lab3/rows-failing-at-start.txt); do
        echo "$row"
        [[ $(field "$record" "$row" where) == transpose.cu:[0-9]* ]]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
        [ -n "$(field "$record" "$row" why)" ]
    done
}

# bats test_tags=quick
@test "the solution is full, whatever the seed" {
    grade solutions
    [ "$status" = 0 ]
    [ "$(score "$record")" = "100 100" ]
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
}

@test "the card does not tell the hidden shape before it matters" {
    play starter 4000000000
    [[ $(field "$record" correct want) == *", hidden" ]]
}

@test "the solution has a margin: ideal sectors, no conflict, and the time of the copy itself" {
    grade solutions
    [ "$(field "$record" load-sectors value)" = 4.0 ]
    [ "$(field "$record" store-sectors value)" = 4.0 ]
    [ "$(field "$record" bank-conflicts value)" = 0.00 ]
    # Full marks are for 1.15 times the copy; the solution must do with 1.05.
    field "$record" virtual-time value
    field "$record" virtual-time want
    awk -v mine="$(field "$record" virtual-time value)" -v want="$(field "$record" virtual-time want)" 'BEGIN {
        sub(/.*copy /, "", want)
        split(mine, m, " "); split(want, c, " ")
        exit !(m[2] == "us" && c[2] == "us" && m[1] > 0 && m[1] <= 1.05 * c[1]) }'
}

# The cell $2 of row $1 on the card of one of the harness's own kernels, handed in.
rung() {
    mkdir -p "$BATS_TEST_TMPDIR/$1"
    {
        echo '#include "lab3.h"'
        sed -e '/^#/d' -e '/float4/,/^}/d' -e '/^extern "C" void copy_/,$d' "$lab/ladder.cu"
        echo "extern \"C\" void transpose(const float *a, float *b, int r, int c) { $1_transpose(a, b, r, c); }"
        sed -n '/^extern "C" struct view/,$p' "solutions/${lab#labs/}/transpose.cu"
    } >"$BATS_TEST_TMPDIR/$1/transpose.cu"
    grade "$BATS_TEST_TMPDIR/$1/transpose.cu" >"$BATS_TEST_TMPDIR/$1/out" || true
}

@test "time: each rung of the ladder earns the points of its speed, and its next step helps" {
    while read -r name least most next; do
        rung "$name"
        points=$(field "$record" virtual-time points)
        echo "$name: $points points, $(field "$record" virtual-time value), next: $(field "$record" virtual-time next)"
        awk -v p="$points" -v least="$least" -v most="$most" 'BEGIN { exit !(p >= least && p <= most) }'
        [[ $most = 30 || $(field "$record" virtual-time next) == *"$next"* ]]
        row_is correct pass
    done <<'TEXT'
naive_read   0  0  fill whole sectors
naive_write 17 22  coalesce this line
tile        16 20  bank conflicts
tile_padded 30 30
TEXT
    # The same padded tile in a loop whose bounds the compiler does not know.
    sed -i 's/for (int k = 0; k < RUNG_TILE; k += RUNG_THREAD_ROWS)/for (int k = 0; k < RUNG_TILE; k += blockDim.y)/' "$BATS_TEST_TMPDIR/tile_padded/transpose.cu"
    grade "$BATS_TEST_TMPDIR/tile_padded/transpose.cu"
    [[ $(field "$record" virtual-time next) == *"constant bounds"* ]]
    grade starter
    [[ $(field "$record" virtual-time next) == *"fewer launches"* ]]
}

@test "the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab3" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "the same card, record and report on 1 and 3 host threads, and the same card when it measures the times beside it anew" {
    runs_alike
    apart "$B/reference/lab3" --seed "$SEED" >"$BATS_TEST_TMPDIR/alone"
    diff "$BATS_TEST_TMPDIR/alone" <(printf '%s\n' "$output")
}

@test "a program's output decides nothing" {
    # The true record's last line, TAP, and a score: on the program's stdout, before its real results.
    changed -e '/^#include/a extern "C" int printf(const char *, ...);' \
        -e 's/^extern "C" void transpose(.*/&\n    printf("1..7\\nok 1 all\\nok 2 all\\nscore\\t100\\t100\\tdone\\nscore 100 100 done\\nScore: 100\/100\\n");/'
    [ "$status" != 0 ]
    diff <(cut -f 2-5 "$B/$DESK/check/starter-lab3.tsv") <(cut -f 2-5 "$record")
}

@test "a student's program sees no descriptor but 0, 1 and 2" {
    exec 9<Makefile
    seen=$(apart ls -l /proc/self/fd)
    echo "$seen"
    # The fourth is the folder that ls itself reads.
    [ "$(echo "$seen" | grep -c -- '->')" = 4 ]
}

@test "a program that ends in the middle passes nothing" {
    changed 's/^extern "C" void transpose(.*/&\n    __builtin_trap();/'
    [ "$status" != 0 ]
    [[ $output == *"no result: "* && $output != *$'\nok '* ]]
    scored 0
}

@test "a program that never ends is stopped, and says so" {
    export CHECK_TIMEOUT=2
    changed 's/^extern "C" void transpose(.*/&\n    for (volatile int forever = 1; forever;) continue;/'
    [ "$status" != 0 ]
    [[ $output == *"it was still running after 2 seconds"*"next: look for a loop that cannot end"* ]]
    scored 0
}

@test "a program that does not compile gets the compiler's message and no points" {
    changed '$ a int oops = ;'
    [ "$status" != 0 ]
    [[ $output == *"s/transpose.cu:"*"error: expected expression"* ]]
    scored 0
}

@test "only the submitted file is taken: a header beside it is not" {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    echo '#error "a header of the submission"' >"$BATS_TEST_TMPDIR/s/lab3.h"
    changed '1 i // mine'
    [[ $output != *"a header of the submission"* && $output == *Score:* ]]
    row_is correct pass
}

# The gate: NAME of the rule's word in the message, and a line of C++ that breaks it.
gate_stops() {
    changed "\$ a $2"
    echo "--- $output"
    [ "$status" != 0 ]
    [[ $output == *"gate: transpose.cu"*"$1"* ]]
    scored 0
}

@test "a program's names are its own: it may have a fault, a line, a memcmp, a clock and an operator new" {
    grade starter
    cp "$record" "$BATS_TEST_TMPDIR/before"
    changed '$ a extern "C" { int fault(int x) { return x; } int line = 3, pool[4]; long lab_seed; void lab_pass() {} int memcmp(const void *, const void *, unsigned long) { return 0; }\nint clock_gettime(clockid_t, struct timespec *) throw() { return 0; } }\nvoid *operator new(unsigned long) { return 0; }'
    [[ $output != *gate:* ]]
    diff "$BATS_TEST_TMPDIR/before" "$record"
}

@test "gate: a call that a submission may not make" {
    gate_stops 'uses `system`' 'extern "C" int system(const char *); int run_it() { return system("true"); }'
}

@test "gate: printing otherwise than by printf" {
    gate_stops 'which a submission to lab 3 may not use. To print, use printf' 'int say_it() { return fprintf(stderr, "%d\\n", 7); }'
    [[ $output != *"Remove the call"* ]]
}

@test "gate: SimGPU's own interface" {
    gate_stops 'uses `simgpuReport`' 'extern "C" int simgpuReport(const char *); int forge() { return simgpuReport("x"); }'
}

@test "gate: code before main" {
    gate_stops 'runs before main' '__attribute__((constructor)) void early() { printf("early\\n"); }'
}

@test "gate: code after main" {
    gate_stops 'runs outside the harness' 'int cheat_after_main; __attribute__((destructor)) void late() { cheat_after_main = 1; }'
}

@test "gate: an ifunc" {
    gate_stops 'ifunc' '#ifndef __CUDA_ARCH__\nstatic int plain() { return 1; } extern "C" int (*pick())() { return plain; } int picked() __attribute__((ifunc("pick")));\n#endif'
}

@test "gate: a C++ class is named once, and by its name" {
    changed '1 i #include <unordered_map>\n#include <string>\nint counted(int k) { std::unordered_map<int, std::string> m; m[k] = "x"; return (int)m.size(); }'
    [ "$status" != 0 ]
    [[ $output == *'uses the C++ library ('*std::unordered_map*'Write it in C'* ]]
    [ "$(grep -c '^gate: ' <<<"$output")" = 1 ]
    [[ $output != *_ZNS* ]]
}

@test "gate: a call is named as the student wrote it" {
    gate_stops 'uses `cudaMallocAsync`' 'void *early() { void *p; cudaMallocAsync(&p, 4, 0); return p; }'
}

@test "gate: an attribute that keeps a function puts it into no section of its own" {
    changed '$ a __attribute__((used)) static int kept(void) { return 1; }'
    [[ $output != *gate:* ]]
}

@test "gate: a function in a section that is written" {
    gate_stops 'section of its own choice (.data)' '#ifndef __CUDA_ARCH__\nextern "C" __attribute__((section(".data"))) int late(void); int late(void) { return 1; }\n#endif'
}

@test "gate: a system call by inline assembly" {
    gate_stops 'inline assembly' '#ifndef __CUDA_ARCH__\nint raw() { int r; asm volatile("syscall" : "=a"(r) : "a"(39)); return r; }\n#endif'
}

@test "gate: a file that only the device code includes" {
    changed '1 i #ifdef __CUDA_ARCH__\n#include "ladder.cu"\n#endif'
    [ "$status" != 0 ]
    [[ $output == *"gate: transpose.cu includes labs/lab3-transpose/ladder.cu"* ]]
    scored 0
}

@test "gate: a header of somebody else's, in a folder called include" {
    mkdir -p "$BATS_TEST_TMPDIR/it's/include"
    echo '#define MINE 1' >"$BATS_TEST_TMPDIR/it's/include/x.h"
    changed "1 i #include \"$BATS_TEST_TMPDIR/it's/include/x.h\""
    [ "$status" != 0 ]
    [[ $output == *"gate: transpose.cu includes $BATS_TEST_TMPDIR/it's/include/x.h."* ]]
    scored 0
}

@test "gate: the system's own headers may be included" {
    changed '1 i #include <algorithm>\n#include <stdint.h>\n#include <stddef.h>\n#include <limits.h>'
    [[ $output != *gate:* ]]
    row_is correct pass
}

@test "gate: a compiler's message about a file of the grader's is not shown" {
    echo 'a secret of the grader' >"$BATS_TEST_TMPDIR/secret"
    for also in '' '#include "nowhere.h"' '#error stop'; do
        changed "1 i #include \"$BATS_TEST_TMPDIR/secret\"\n$also"
        [ "$status" != 0 ]
        [[ $output == *"gate: transpose.cu includes $BATS_TEST_TMPDIR/secret."* && $output != *"a secret"* ]]
        scored 0
    done
}

@test "gate: assembly in host code is found where it would otherwise include a file" {
    echo 'a secret of the grader' >"$BATS_TEST_TMPDIR/secret"
    for how in .include .incbin; do
        printf '#ifndef __CUDA_ARCH__\nasm("%s \\"%s\\"");\n#endif\n' "$how" "$BATS_TEST_TMPDIR/secret" >"$BATS_TEST_TMPDIR/asm"
        changed "\$ r $BATS_TEST_TMPDIR/asm"
        [ "$status" != 0 ]
        [[ $output == *"gate: transpose.cu has inline assembly in host code"* && $output != *"a secret"* ]]
        scored 0
    done
}

@test "gate: a kernel may use asm, and a string may speak of it" {
    changed -e 's/int j = blockIdx.x \* blockDim.x + threadIdx.x;/&\n    int lane;\n    asm("mov.u32 %0, %%laneid;" : "=r"(lane));\n    if (lane < 0) return;/' \
        -e '/^#include/a extern "C" int puts(const char *);' -e 's/^extern "C" void transpose(.*/&\n    puts(" asm \\"\\" , section \\".text\\"");/'
    [[ $output != *gate:* ]]
    row_is correct pass
}

@test "gate: code that is data in the section of code" {
    gate_stops 'section of its own choice (.text)' 'extern const unsigned char raw[]; __attribute__((section(".text"))) const unsigned char raw[] = {0x0f, 0x05, 0xc3};'
}

@test "a refusal is said once, in full; each row has a short line" {
    changed '$ a int run_it() { return 1; } extern "C" int system(const char *); int run_other() { return system("true"); }'
    [ "$(grep -c 'uses `system`' <<<"$output")" = 1 ]
    [ "$(grep -c '^not ok ' <<<"$output")" = 8 ]
    [ "$(grep -c 'no result: it was refused, see above' <<<"$output")" = 1 ]
    [ "$(grep -c 'no result, as above' <<<"$output")" = 7 ]
}

@test "a submission whose compilation never ends is stopped, and says so" {
    export BUILD_SECONDS=8
    changed '$ a constexpr long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\ntemplate <int N> constexpr long g = f(22) + g<N - 1>;\ntemplate <> constexpr long g<0> = 0;\nstatic_assert(g<900> > 0, "");'
    unset BUILD_SECONDS
    [ "$status" != 0 ]
    [[ $output == *"The compiler did not come to an end in 8 seconds"* ]]
    scored 0
}

@test "gate: a missing entry point" {
    changed 's/view_transpose/view_transposed/'
    [ "$status" != 0 ]
    [[ $output == *'gate: transpose.cu does not define `view_transpose`'* || $output == *error:* ]]
}

@test "a submission is compiled where the solutions, and other submissions, cannot be seen" {
    unshare -rm true 2>/dev/null || skip "this machine gives a user no view of the files of its own"
    mkdir -p "$B/$DESK/sub-other"
    echo 'int theirs;' >"$B/$DESK/sub-other/lab3.cu"
    changed '1 i #if __has_include("../sub-other/lab3.cu") || __has_include("../../../solutions/lab3-transpose/transpose.cu") || __has_include(<../../proc/self/cwd/solutions/lab3-transpose/transpose.cu>)\n#error seen\n#else\n#error hidden\n#endif'
    [[ $output == *"error: hidden"* && $output != *"error: seen"* ]]
    scored 0
}

#!/usr/bin/env bats
# What ptxas would make of a kernel: machine instructions and registers beside those that an H200 counted for the same
# source, compiled by nvcc (tests/ptxas/counted.tsv, made by tests/ptxas/record.sh), whatever compiled it here.

load helper

setup_file() {
    build "$B/lib/libcudart.so" "$B/wide_copies" "$B/even_loops"
    compilers=$(clangs)
    [ -n "$compilers" ] || compilers=$(common/make/find-clang.sh)
    oldest=$(head -n 1 <<<"$compilers") newest=$(tail -n 1 <<<"$compilers")
    export oldest newest
}

# The kernels, compiled by clang $1 or by nvcc, run on SimGPU: kernel, machine instructions, registers, nanoseconds.
counted() {
    local folder=.build/sim-$1 program=$BATS_TEST_TMPDIR/kernels-$1
    if [ "$1" = nvcc ]; then
        nvcc -O3 -std=c++17 -lineinfo --no-compress -gencode arch=compute_90,code=compute_90 -cudart shared -o "$program" tests/ptxas/kernels.cu
    else
        build CLANG="$1" B="$folder" "$folder/tests/ptxas/kernels.o"
        "$1" --driver-mode=g++ -pthread -o "$program" "$folder/tests/ptxas/kernels.o" -L"$B/lib" -l:libcudart.so.13 -lm
    fi
    LD_LIBRARY_PATH=$B/lib SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$program"
    sed -n 's/,"lines":.*//; s/^{"kind":"launch".*"name":"\([^"]*\)".*"duration_ns":\([0-9]*\).*"registers":\([0-9]*\).*"smsp__inst_executed.sum":\([0-9]*\).*/\1\t\4\t\3\t\2/p' "$BATS_TEST_TMPDIR/report"
}

# Prints both numbers of each kernel, and fails unless the median error of the instructions of $1 is below a tenth, at
# most one in eight is off by more than a quarter, and the median of the registers' errors is at most 2.
near_the_card() {
    awk -F '\t' '
        /^#/ { next }
        FNR == NR { card[$1] = $2; registers[$1] = $3; next }
        { e = $2 / card[$1] - 1; printf "%-18s %8d here %8d on the card %+6.1f %%   registers %3d %3d\n", $1, $2, card[$1], 100 * e, $3, registers[$1]
          e = e < 0 ? -e : e; error[++n] = e; far += e > 0.25; d = $3 - registers[$1]; off[d < 0 ? -d : d]++ }
        END { for (i = 1; i <= n; i++) { below = 0; for (k = 1; k <= n; k++) below += error[k] < error[i]; if (below == int(n / 2)) median = error[i] }
              for (d = 0; d < 99; d++) { seen += off[d]; if (seen > n / 2) break }
              printf "%d kernels: median error %.1f %%, %d farther off than 25 %%; registers off by %d\n", n, 100 * median, far, d
              exit !(n >= 70 && median < 0.1 && far * 8 <= n && d <= 2) }' tests/ptxas/counted.tsv "$1"
}

@test "machine instructions and registers: as an H200 counts them, from the oldest and the newest clang" {
    for compiler in $oldest $newest; do
        counted "$compiler" >"$BATS_TEST_TMPDIR/$compiler"
        echo "$compiler"
        near_the_card "$BATS_TEST_TMPDIR/$compiler"
    done
    # The same kernel takes the same time, within a tenth, and where not, within a third.
    paste "$BATS_TEST_TMPDIR/$oldest" "$BATS_TEST_TMPDIR/$newest" | awk -F '\t' '
        { r = $4 / $8; if (r < 0.9 || r > 1.1) { far++; print $1, $4, $8 } if (r < 0.67 || r > 1.5) exit bad = 1 }
        END { exit bad || NR < 70 || far > 3 }'
}

@test "machine instructions and registers: as an H200 counts them, from nvcc's PTX" {
    command -v nvcc >/dev/null || skip "nvcc is not here"
    counted nvcc >"$BATS_TEST_TMPDIR/nvcc"
    near_the_card "$BATS_TEST_TMPDIR/nvcc"
}

@test "ptxas unrolls a loop of inline assembly, which compilers leave rolled, and makes one load of four neighbours" {
    build "$B/tests/ptxas/asm"
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$B/tests/ptxas/asm"
    # counted: KERNEL COUNTER
    counted() { sed -n 's/,"lines":.*//; s/^{"kind":"launch".*"name":"'"$1"'".*"'"$2"'":\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/report"; }
    n=$(counted halves smsp__inst_executed.sum)
    echo "256 turns in $n instructions"
    [ "$n" -gt 512 ]
    [ "$n" -lt 1000 ]
    # A load of 16 bytes that all lanes read at one address has two wavefronts, as Nsight Compute counts lab 9's.
    [ "$(counted rows smsp__inst_executed_op_shared_ld.sum)" = 32 ]
    [ "$(counted rows l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum)" = 64 ]
}

@test "neighbours in shared memory are one load where the loop around tells their place; what stands behind a division, a branch or a call waits for it" {
    build "$B/tests/ptxas/order"
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$B/tests/ptxas/order"
    # told: KERNEL NUMBER
    told() { sed -n 's/,"lines":.*//; s/^{"kind":"launch".*"name":"'"$1"'".*"'"$2"'":\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/report"; }
    # For each of 16 k a load of 16 bytes; for four k one of each of four rows.
    [ "$(told product smsp__inst_executed_op_shared_ld.sum)" = 32 ]
    # Three words of a float4 are a load of 16 bytes, with two wavefronts where all lanes have one address.
    [ "$(told points smsp__inst_executed_op_shared_ld.sum)" = 32 ]
    [ "$(told points l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum)" = 64 ]
    # A root and a quotient have branches in them: ptxas does not predicate them, and a warp jumps over them.
    n=$(told rarely smsp__inst_executed.sum)
    echo "1024 turns without them in $n instructions"
    [ "$n" -lt 12288 ]
    # 1024 turns that each wait for their own test. (An H200 takes 56 ns for such a turn, of forces of Lennard and Jones.)
    n=$(told meets duration_ns)
    echo "1024 turns with a branch in $n ns"
    [ "$n" -gt 31000 ]
    # The load behind a division comes in a round of its own, as does one whose address a function computes.
    division=$(told behind_division duration_ns) product=$(told behind_product duration_ns)
    call=$(told behind_call duration_ns) sum=$(told behind_sum duration_ns)
    echo "behind a division $division ns, a product $product ns, a call $call ns, a sum $sum ns"
    [ "$division" -gt $((product + 100)) ]
    [ "$call" -gt "$sum" ]
    # Four loads of two words of constant memory, each with 32 addresses that take two clocks. Three loads in each of 64 turns that no
    # lane wants take two clocks each. Two doubles are a load of 16 bytes.
    [ "$(told rows_of_constants simgpu__constant_clocks.sum)" = 256 ]
    skipped=$(told skipped_constants lsu)
    echo "constants that no lane wants take $skipped ns"
    [ "$skipped" -gt 190 ]
    [ "$(told doubles smsp__inst_executed_op_shared_ld.sum)" = 8 ]
}

@test "ptxas drops halves of 64-bit integers, makes three words' extreme one, and unrolls short loops with a barrier" {
    build "$B/tests/ptxas/rules"
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$B/tests/ptxas/rules"
    # between LOWEST KERNEL HIGHEST: so many instructions
    between() {
        local n
        n=$(sed -n 's/,"lines":.*//; s/^{"kind":"launch".*"name":"'"$2"'".*"smsp__inst_executed.sum":\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/report")
        echo "$2: $n instructions, $1 to $3"
        [ "$n" -ge "$1" ] && [ "$n" -le "$3" ]
    }
    between 180 limbs 370 # nvcc 13 for sm_90: 211, where it leaves no loop
    between 60 largest 70 # 65: a load each, 8 VIADDMNMX, 7 VIMNMX3, a VIMNMX
    between 1500 rows 2150
    between 150 roots 250
}

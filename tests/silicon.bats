#!/usr/bin/env bats
# The rungs of lab 3's ladder against what ncu read off an H200 (n = 4096, one launch each, caches cold):
# sectors per request, and shared-memory wavefronts without conflicts per access, must be equal to the last digit.
# Wavefronts with conflicts are held to the bank rule: a card's counter adds some percent of arbitration to it.

load helper

setup_file() { build "$B/reference/lab3"; }

# kernel, then per request or access: load sectors, store sectors, ideal shared load and store wavefronts, and by
# the bank rule load and store wavefronts.
silicon='copy_column  32  4 - - - -
naive_read    4 32 - - - -
naive_write  32  4 - - - -
tile          4  4 1 1 32 1
tile_padded   4  4 1 1  1 1
copy         16 16 - - - -'

# The same line for each launch of a report, once.
ratios() {
    awk '
        function total(name,   at) { at = index($0, "\"" name "\":"); return at ? substr($0, at + length(name) + 3) + 0 : 0 }
        function per(a, b) { return b ? sprintf("%.12g", a / b) : "-" }
        /^{"kind":"launch"/ {
            match($0, /"name":"[^"]*"/)
            ld = total("smsp__inst_executed_op_shared_ld.sum"); st = total("smsp__inst_executed_op_shared_st.sum")
            ldw = total("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"); stw = total("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum")
            ldc = total("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"); stc = total("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum")
            print substr($0, RSTART + 8, RLENGTH - 9), \
                per(total("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), total("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum")), \
                per(total("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"), total("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum")), \
                per(ldw - ldc, ld), per(stw - stc, st), per(ldw, ld), per(stw, st)
        }' "$1" | grep -v '^transpose_' | sort -u
}

same_as_silicon() {
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$1" --bench >/dev/null
    diff <(echo "$silicon" | tr -s ' ' | sort) <(ratios "$BATS_TEST_TMPDIR/report")
}

@test "the ladder's counters are an H200's: clang" { same_as_silicon "$B/reference/lab3"; }

@test "the ladder's counters are an H200's: nvcc" {
    command -v nvcc >/dev/null || skip "no nvcc here"
    CUDA_COMPILER=nvcc B=.build/sim-nvcc build .build/sim-nvcc/reference/lab3
    same_as_silicon .build/sim-nvcc/reference/lab3
}

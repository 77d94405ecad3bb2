#!/usr/bin/env bats
# SimGPU against silicon: every kernel of lab 3's ladder once at n = 4096, here and under Nsight Compute on a real card
# (handouts/measured/lab3-transpose-counters.tsv, made by `make bench` on a GPU). Instructions, requests, sectors and
# shared-memory wavefronts without conflicts must be equal to the last digit. Wavefronts with conflicts are held to the
# bank rule: a card's counter adds some percent of arbitration to it, another each time.

load helper

setup_file() { build "$B/reference/lab3"; }

measured=handouts/measured/lab3-transpose-counters.tsv

# kernel, grid, loads, stores (requests), their sectors, shared loads, stores (instructions), their wavefronts less
# conflicts; then their wavefronts. From the card ...
card() {
    awk -F '\t' '
        /^#/ { next }
        !n++ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        function v(name) { return $at[name ".sum"] }
        $1 ~ /</ { next } # cuBLAS has kernels of its own
        { gsub(/[(), ]+/, " ", $2); split($2, g, " "); s = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"; c = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
          print $1, g[1] "x" g[2], v("l1tex__t_requests_pipe_lsu_mem_global_op_ld"), v("l1tex__t_requests_pipe_lsu_mem_global_op_st"), \
              v("l1tex__t_sectors_pipe_lsu_mem_global_op_ld"), v("l1tex__t_sectors_pipe_lsu_mem_global_op_st"), \
              v("smsp__inst_executed_op_shared_ld"), v("smsp__inst_executed_op_shared_st"), v(s "ld") - v(c "ld"), v(s "st") - v(c "st"), v(s "ld"), v(s "st") }' "$measured"
}

# ... and from a report.
simulated() {
    awk '
        function v(name,   at) { at = index($0, "\"" name ".sum\":"); return at ? substr($0, at + length(name) + 7) + 0 : 0 }
        /^{"kind":"launch"/ {
            match($0, /"name":"[^"]*"/); kernel = substr($0, RSTART + 8, RLENGTH - 9)
            match($0, /"grid":\[[0-9,]*/); split(substr($0, RSTART + 8, RLENGTH - 8), g, ",")
            if ((kernel, g[1], g[2]) in seen) next
            seen[kernel, g[1], g[2]] = 1
            s = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_"; c = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_"
            print kernel, g[1] "x" g[2], v("l1tex__t_requests_pipe_lsu_mem_global_op_ld"), v("l1tex__t_requests_pipe_lsu_mem_global_op_st"), \
                v("l1tex__t_sectors_pipe_lsu_mem_global_op_ld"), v("l1tex__t_sectors_pipe_lsu_mem_global_op_st"), \
                v("smsp__inst_executed_op_shared_ld"), v("smsp__inst_executed_op_shared_st"), v(s "ld") - v(c "ld"), v(s "st") - v(c "st"), v(s "ld"), v(s "st") }' "$1"
}

same_as_silicon() {
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$1" --ladder >/dev/null
    card | sort >"$BATS_TEST_TMPDIR/card"
    simulated "$BATS_TEST_TMPDIR/report" | sort >"$BATS_TEST_TMPDIR/simulated"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/card")" -ge 7 ]
    diff <(cut -d ' ' -f 1-10 "$BATS_TEST_TMPDIR/card") <(cut -d ' ' -f 1-10 "$BATS_TEST_TMPDIR/simulated")
    # The rule is the least that the card can do, and the card does little more.
    paste -d ' ' "$BATS_TEST_TMPDIR/card" "$BATS_TEST_TMPDIR/simulated" | awk '
        { for (k = 11; k <= 12; k++) if ($(k + 12) > $k || $k > 1.16 * $(k + 12)) { print "card", $k, "rule", $(k + 12), ":", $0; bad = 1 } }
        END { exit bad }'
}

@test "the ladder's counters are an H200's: clang" { same_as_silicon "$B/reference/lab3"; }

@test "the ladder's counters are an H200's: nvcc, built here" {
    command -v nvcc >/dev/null || skip "no nvcc here; the PTX that nvcc made is in tests/ptx/nvcc, and simgpu.bats runs it"
    CUDA_COMPILER=nvcc B=.build/sim-nvcc build .build/sim-nvcc/reference/lab3
    same_as_silicon .build/sim-nvcc/reference/lab3
}

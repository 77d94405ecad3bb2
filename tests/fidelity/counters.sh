#!/bin/bash
# counters.sh FOLDER PROGRAM...: on a GPU, has Nsight Compute count each kernel of FOLDER's programs once. Prints the table of
# ncu.awk, with its header. Caches are cold (flushed before each pass of ncu) for COLD kernels, and left as they are for
# WARM ones. ncu runs a kernel several times, so a WARM kernel finds what it has left itself.
set -u -o pipefail
here=$(dirname "$0")
folder=$1 programs=("${@:2}")
metrics=(gpu__time_duration.sum smsp__inst_executed.sum smsp__thread_inst_executed.sum launch__registers_per_thread
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum
l1tex__t_sector_hit_rate.pct l1tex__m_xbar2l1tex_read_sectors.sum
lts__t_sector_hit_rate.pct lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sectors_op_read_lookup_hit.sum
dram__bytes_read.sum dram__bytes_write.sum sm__warps_active.avg.pct_of_peak_sustained_active)

# A metric that this ncu does not know would make it refuse all of them.
known=$(ncu --query-metrics --chip gh100 2>/dev/null | awk '{ print $1 }')
asked=$(for m in "${metrics[@]}"; do
    case $m in launch__*) echo "$m" && continue ;; esac
    [ -z "$known" ] || grep -qx "${m%%.*}" <<<"$known" && echo "$m"
done | paste -sd,)
columns=$(IFS=, && echo "${metrics[*]}")
printf 'caches\tkernel\tlaunch\tfunction\tgrid\tblock\t%s\n' "$(tr , '\t' <<<"$columns")"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for program in "${programs[@]}"; do
    for kind in cold warm; do
        [ $kind = cold ] || grep -q '^ *WARM(' "$here/$program.cu" || continue
        control=$([ $kind = cold ] && echo all || echo none)
        timeout 60 ncu --clock-control none --cache-control "$control" --print-units base --csv --page raw \
            --metrics "$asked" "$folder/$program" --once $kind >"$log" 2>&1
        awk -v metrics="$columns" -v kind=$kind -f "$here/ncu.awk" "$log" ||
            { echo "counters.sh: $program $kind, $SECONDS s; ncu said: $(grep -m 3 -i 'error\|failed' "$log")" >&2; }
    done
done

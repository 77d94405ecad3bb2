#!/bin/bash
# record.sh PROGRAM LAB: what a real GPU gives, into tracked files with device, date and commit.
#
#   handouts/measured/LAB.tsv            times of the lab's kernels by size (PROGRAM --bench)
#   handouts/measured/LAB-counters.tsv   Nsight Compute's counters of one launch of each (PROGRAM --ladder under ncu)
#
# The handout takes its table from the first file, tests/silicon.bats
# holds SimGPU to the second. `make bench` calls this.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

program=$1 lab=$2
out=handouts/measured
metrics=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
metrics+=,smsp__inst_executed_op_shared_ld.sum,smsp__inst_executed_op_shared_st.sum
metrics+=,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
metrics+=,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
metrics+=,gpu__time_duration.sum,dram__bytes_read.sum,dram__bytes_write.sum,launch__registers_per_thread

mkdir -p "$out" "$B"
echo "measuring $lab on this GPU, some minutes ..."
# The program is the reference: its row of "yours" would be the reference twice.
{ gpu_caption && apart "$program" --bench | awk -F '\t' '$1 != "yours" && $2 != "yours" { print; fflush() }'; } | tee "$B/$lab.tsv"
cp "$B/$lab.tsv" "$out/$lab.tsv"
echo "written: $out/$lab.tsv (make docs puts it into the handout)"

if ! command -v ncu >/dev/null; then
    echo "no ncu on this machine: $out/$lab-counters.tsv stays as it is"
    exit
fi
apart ncu --clock-control none --csv --page raw --metrics "$metrics" "$program" --ladder >"$B/$lab.ncu" 2>&1 || {
    grep -m 3 '==ERROR==' "$B/$lab.ncu" >&2
    die "ncu could not count: see $B/$lab.ncu"
}
if ! grep -q '^"' "$B/$lab.ncu"; then
    echo "$lab has no kernels of its own for ncu to count"
    exit
fi
{
    gpu_caption
    # The CSV's fields are quoted, its first line has the names, its second the units.
    grep '^"' "$B/$lab.ncu" | awk -v wanted="$metrics" '
        BEGIN { FS = "\",\""; OFS = "\t"; n = split(wanted, name, ",") }
        { sub(/^"/, ""); sub(/"$/, "") }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; printf "kernel\tgrid\tblock"; for (k = 1; k <= n; k++) printf "\t%s", name[k]; print ""; next }
        NR == 2 && $1 == "" { next }
        { kernel = $at["Kernel Name"]; sub(/\(.*/, "", kernel); sub(/^void /, "", kernel)
          line = kernel "\t" $at["Grid Size"] "\t" $at["Block Size"]
          for (k = 1; k <= n; k++) { v = $at[name[k]]; gsub(/,/, "", v); line = line "\t" v }
          print line }' | awk -F '\t' '!(($1, $2, $3) in seen) { seen[$1, $2, $3] = 1; print }'
} >"$out/$lab-counters.tsv"
echo "written: $out/$lab-counters.tsv"

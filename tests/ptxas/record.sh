#!/bin/bash
# record.sh: what an NVIDIA GPU counts for tests/ptxas/kernels.cu, into tests/ptxas/counted.tsv. Needs nvcc, a GPU and
# Nsight Compute, whose counters the user may read.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

out=tests/ptxas/counted.tsv program=$(mktemp)
"${NVCC:-nvcc}" -O3 -arch="${GPU_ARCH:-sm_90}" -std=c++17 -o "$program" tests/ptxas/kernels.cu
{
    gpu_caption
    printf '# kernel, machine instructions that its warps executed, registers of a thread\n'
    ncu --clock-control none --csv --page raw --metrics smsp__inst_executed.sum,launch__registers_per_thread "$program" |
        awk -F '","' '
            /^"ID"/ { for (i = 1; i <= NF; i++) { name = $i; gsub(/"/, "", name); column[name] = i } }
            /^"[0-9]/ { kernel = $column["Kernel Name"]; sub(/\(.*/, "", kernel); n = $column["smsp__inst_executed.sum"]
                        r = $column["launch__registers_per_thread"]; gsub(/[",]/, "", n); gsub(/"/, "", r); print kernel "\t" n "\t" r }'
} >"$out.new"
rm "$program"
mv "$out.new" "$out"
echo "written: $out"

#!/bin/bash
# remake.sh: makes ladder.ptx again: the PTX that nvcc makes of lab 3's starter, rungs and solution, under the tests of
# ladder.txt. It is kept so that SimGPU is held to nvcc's PTX on machines without nvcc too. Needs nvcc (made with 13.0).
set -eu
cd "$(dirname "$0")/../../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp labs/lab3-transpose/lab3.h "$tmp/"
{
    sed 's/^extern "C" \(.* \)\([a-z_]*transpose\)(/\1starter_\2(/' tests/lab3/starter.cu
    cat solutions/lab3-transpose/transpose.cu
    sed -n '/^__global__/,/^}/p' labs/lab3-transpose/ladder.cu | sed 's/RUNG_TILE/32/g; s/RUNG_THREAD_ROWS/8/g'
} >"$tmp/ladder.cu"
(cd "$tmp" && nvcc -std=c++17 -O2 -lineinfo -gencode arch=compute_90,code=compute_90 -ptx -o ladder.ptx ladder.cu)
{
    cat tests/ptx/nvcc/ladder.txt
    sed "s,$tmp/,,g" "$tmp/ladder.ptx"
} >tests/ptx/nvcc/ladder.ptx
echo "written: tests/ptx/nvcc/ladder.ptx"

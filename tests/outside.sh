#!/bin/bash
# outside.sh FOLDER: do the three outside programs of handouts/your-own-programs.md still print what the text shows? FOLDER has
# checkouts of code-samples, professional-cuda-c-programming and cuda-samples, at the commits that the text names; nothing in
# them is changed. Prints the whole output of each, and then every line of the text that no output has: with clang 14, whose
# figures those are, none. Exits 1 if there is one. (make test has no network; run it after a change of the clock.)
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
if [ $# != 1 ] || [ ! -d "$1" ]; then sed -n '2,5s/^# //p' "$0" >&2 && exit 1; fi
folder=$(cd "$1" && pwd)
DEVICE=sim make -s -C "$here" simgpu >/dev/null
PATH=$here/.build/sim/bin:$here/.build/sim/cuda/bin:$PATH
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# The text's commands, in a copy of the program's folder.
at() { mkdir -p "$out/$1" && cp -r "$folder/$2/." "$out/$1/" && cd "$out/$1"; }
{
    (at overlap code-samples/series/cuda-cpp/overlap-data-transfers && simcc async.cu -o async && simgpu run ./async)
    (at banks professional-cuda-c-programming/examples && cd chapter05 && make -s checkSmemSquare && simgpu run --check --lines ./checkSmemSquare)
    (at samples cuda-samples && cd Samples/0_Introduction/vectorAdd && cmake -B build -DCMAKE_CUDA_COMPILER=simcc && cmake --build build && simgpu run build/vectorAdd)
} 2>&1 | tee "$out/all"
missing=$(awk '/^## /{ here = /elsewhere/ } here && /^```/ { block = !block; next } here && block && !/^ *\.\.\.$|^$/' "$here/handouts/your-own-programs.md" |
    while IFS= read -r line; do grep -qxF -- "$line" "$out/all" || printf '%s\n' "$line"; done)
[ -z "$missing" ] || { printf '\nnot printed by any of them:\n%s\n' "$missing" && exit 1; }

#!/bin/bash
# random.sh: random kernels (random/kernels.c) on SimGPU, with the host's answers beside them, bit for bit.
#
# KERNELS (3000) of them, 20 in a program; the programs have the seeds from SEED (1) on. Each is compiled by each of
# COMPILERS (the oldest and the newest clang that are here), with its device code at -O2 and at -O0.
# NVCC=nvcc compiles them by nvcc in its place, for a real GPU or, with LD_LIBRARY_PATH, for SimGPU's libcudart.
# Programs that fail stay in .build/random. Prints the failures, and `N of N kernels are as on the host`.
set -u
cd "$(dirname "$0")/.." || exit 1
. common/make/lib.sh

kernels=${KERNELS:-3000} seed=${SEED:-1} each=20
unset SEED LAB SUBMISSION PROFILE "${!SIMGPU_@}"
export SIMGPU_THREADS=1 # a program a core
[[ $kernels =~ ^[1-9][0-9]{0,6}$ ]] || die "KERNELS=$kernels: a number of kernels"
[ "$kernels" -ge "$each" ] || each=$kernels
out=.build/random
mkdir -p "$out"
cc=${NVCC:+cc}
"${cc:-$(common/make/find-clang.sh)}" -std=c11 -O1 -o "$out/kernels" tests/random/kernels.c || exit 1
if [ -z "${NVCC:-}" ]; then
    make -s simgpu >/dev/null || exit 1
    read -ra compilers <<<"${COMPILERS:-$(clangs | sed -n '1p;$p' | sort -u | xargs)}"
    [ ${#compilers[@]} -gt 0 ] || compilers=("$(common/make/find-clang.sh)")
else
    compilers=("$NVCC")
fi
case ${LD_LIBRARY_PATH:-} in *"$B"/lib*) native=compute_90 ;; *) native=native ;; esac # SimGPU wants PTX
export out each B NVCC native

# One program: `one SEED COMPILER LEVEL`. Prints the last line that it says, and keeps nothing of it if all is well.
one() {
    local name said
    name=$out/$1-$(basename "$2")$3
    "$out/kernels" "$1" "$each" >"$name.cu"
    if [ -n "${NVCC:-}" ]; then
        "$NVCC" -w -O3 -Xcompiler -O0 -std=c++17 ${LD_LIBRARY_PATH:+-cudart shared} -arch="${GPU_ARCH:-$native}" -o "$name" "$name.cu"
    else
        SIMCC_CLANG=$2 "$B/bin/simcc" -w -Xcompiler -O0 "-Xcicc=$3" -o "$name" "$name.cu"
    fi || { echo "seed $1, $2 $3: does not compile: $name.cu"; return; }
    said=$(timeout 300 "$name" 2>&1)
    case $? in
    0) rm -f "$name" "$name.cu" ;;
    *) echo "seed $1, $2 $3: $(tail -n 2 <<<"$said" | head -n 1): $name.cu" ;;
    esac
    tail -n 1 <<<"$said" | sed "s/^/seed $1: /"
}
export -f one

for ((s = seed; s < seed + (kernels + each - 1) / each; s++)); do
    for compiler in "${compilers[@]}"; do
        echo "$s $compiler -O2"
        [ -n "${NVCC:-}" ] || echo "$s $compiler -O0"
    done
done | xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' random.sh >"$out/said"
grep -v ': [0-9]* of [0-9]* kernels' "$out/said"
# The same results whatever the compiler and its level.
different=$(sed -n 's/^seed \([0-9]*\): .*all results: \(.*\)/\1 \2/p' "$out/said" | sort -u | cut -d ' ' -f 1 | uniq -d | xargs)
[ -z "$different" ] || echo "results differ between compilers: seeds $different"
awk -v different="$different" '
    { if (match($0, /[0-9]+ of [0-9]+ kernels/)) { split(substr($0, RSTART, RLENGTH), n, " "); r += n[1]; a += n[3] } else bad = 1 }
    END { print r + 0 " of " a + 0 " kernels are as on the host"; exit !(a && r == a && !bad && different == "") }' "$out/said"

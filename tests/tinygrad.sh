#!/bin/bash
# tinygrad.sh CHECKOUT [TEST...]: a real client of the driver API. tinygrad writes PTX itself and loads it with libcuda.so.1
# (DEV=CUDA:PTX); its own tests compare each result with numpy or torch. This runs them there and on tinygrad's CPU backend, and
# prints a row for each file, and the tests that pass on the CPU and fail here. Exit 1 if there is one. tinygrad skips some
# tests for a backend by itself; they are counted.
#
#   tests/tinygrad.sh ~/tinygrad                        the files below
#   tests/tinygrad.sh ~/tinygrad test_tiny test_ops     these
#
# CHECKOUT is a copy of github.com/tinygrad/tinygrad. It takes python3 with numpy, torch, pytest and hypothesis (PYTHON=... names
# another python3), and SECONDS_EACH for one file on one backend (default 1800).
set -u
cd "$(dirname "$0")/.." || exit 1
. common/make/lib.sh
[ $# -gt 0 ] || {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 2
}
checkout=$(realpath "$1") && shift
tests=("$@")
[ ${#tests[@]} -gt 0 ] || tests=(test_tiny test_ops test_uops test_dtype test_dtype_alu test_transcendental test_nn test_softmax_fusion test_graph test_jit)
python=${PYTHON:-python3}
"$python" -c 'import numpy, torch, pytest, hypothesis' || {
    echo "tinygrad.sh: $python lacks what its tests import: apt install python3-numpy python3-torch python3-pytest python3-hypothesis" >&2
    exit 2
}
B=.build/sim
build "$B/lib/libcuda.so.1" || exit 2
lib=$PWD/$B/lib
clang=$(common/make/find-clang.sh)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# runs BACKEND FILE AS: sorts its tests into $dir/AS.PASSED and $dir/AS.FAILED. Returns false if the run did not end.
runs() {
    local state
    (cd "$checkout" && LD_LIBRARY_PATH=$lib SIMGPU_BUDGET=$((1 << 30)) DEV=$1 CC=$clang CACHEDB=$dir/cache.db PYTHONPATH=. timeout -k 5 "${SECONDS_EACH:-1800}" \
        "$python" -m pytest -q -rA --noconftest -p no:cacheprovider --color=no "$2" 2>&1) >"$dir/log"
    for state in PASSED FAILED; do sed -n "s/^$state [^:]*::\([^ ]*\).*/\1/p" "$dir/log" | sort -u >"$dir/$3.$state"; done
    grep -qE '(passed|failed|skipped).* in [0-9.]+s' "$dir/log" && return
    echo "tinygrad.sh: DEV=$1 $2 did not end: $(tail -n 1 "$dir/log")" >&2
    return 1
}

differences=0
printf '%-24s %8s %8s %8s %12s\n' file CPU SimGPU skipped 'CPU only'
for t in "${tests[@]}"; do
    file=$(cd "$checkout" && find test/backend test -maxdepth 1 -name "$t.py" | head -n 1)
    [ -n "$file" ] || {
        echo "tinygrad.sh: there is no $t in $checkout/test" >&2
        exit 2
    }
    runs CPU "$file" cpu || differences=1
    runs CUDA:PTX "$file" sim || differences=1
    comm -12 "$dir/cpu.PASSED" "$dir/sim.FAILED" >"$dir/lost"
    printf '%-24s %8d %8d %8d %12d\n' "$t" "$(wc -l <"$dir/cpu.PASSED")" "$(wc -l <"$dir/sim.PASSED")" \
        "$(comm -23 "$dir/cpu.PASSED" "$dir/sim.PASSED" | comm -23 - "$dir/lost" | wc -l)" "$(wc -l <"$dir/lost")"
    sed 's/^/    /' "$dir/lost"
    [ -s "$dir/sim.PASSED" ] && [ ! -s "$dir/lost" ] || differences=1
done
exit $differences

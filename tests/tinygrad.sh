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
# another python3). The tests run in parts of EACH (20), JOBS of them at a time (all cores), a part for SECONDS_EACH (1800) at most.
# LOGS=folder keeps what pytest says.
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
build "$B/libsimgpu.a" || exit 2
clang=$(common/make/find-clang.sh)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# The driver API alone, with all of SimGPU in it: a torch that was built for CUDA keeps its own libcudart.so.13.
lib=$dir/lib
mkdir "$lib" && echo '{ global: cu[A-Z]*; local: *; };' >"$dir/map" &&
    "$clang" -shared -pthread -Wl,-soname,libcuda.so.1 -Wl,--version-script="$dir/map" -o "$lib/libcuda.so.1" \
        -Wl,--whole-archive "$B/libsimgpu.a" -Wl,--no-whole-archive -ldl -lm || exit 2

export checkout python lib clang dir

pytest() { (cd "$checkout" && CC=$clang PYTHONPATH=.${PYTHONPATH:+:$PYTHONPATH} "$python" -m pytest --noconftest --assert=plain -p no:cacheprovider --color=no "$@" 2>&1); }

# part BACKEND NAME TEST...: some tests of the file NAME. pytest's report of them goes to a file of their own.
part() {
    local backend=$1 log
    log=$(mktemp "$dir/$2.$1.XXXXXX")
    shift 2
    LD_LIBRARY_PATH=$lib SIMGPU_THREADS=1 SIMGPU_BUDGET=$((1 << 30)) DEV=$backend CACHEDB=$log.db \
        timeout -k 5 "${SECONDS_EACH:-1800}" bash -c 'pytest -q -rA "$@"' part "$@" >"$log"
    rm -f "$log.db"*
    grep -qE '(passed|failed|skipped).* in [0-9.]+s' "$log" || echo "tinygrad.sh: DEV=$backend: these did not end ($(tail -n 1 "$log")): $*" | tee -a "$dir/cut" >&2
}
export -f pytest part

for t in "${tests[@]}"; do
    file=$(cd "$checkout" && find test/backend test -maxdepth 1 -name "$t.py" | head -n 1)
    [ -n "$file" ] || {
        echo "tinygrad.sh: there is no $t in $checkout/test" >&2
        exit 2
    }
    DEV=CPU pytest --collect-only -q "$file" | grep '::' >"$dir/ids" || {
        echo "tinygrad.sh: pytest finds no test in $file" >&2
        exit 2
    }
    for backend in CUDA:PTX CPU; do xargs -d '\n' -n "${EACH:-20}" echo "$backend" "$t" <"$dir/ids"; done
done >"$dir/parts"
xargs -a "$dir/parts" -P "${JOBS:-$(nproc)}" -L 1 bash -c 'part "$@"' tinygrad.sh

# of NAME BACKEND STATE: the tests with that end.
of() { sed -n "s/^$3 [^:]*::\([^ ]*\).*/\1/p" "$dir/$1.$2".* | sort -u; }

differences=0
[ ! -s "$dir/cut" ] || differences=1
printf '%-24s %8s %8s %8s %12s\n' file CPU SimGPU skipped 'CPU only'
for t in "${tests[@]}"; do
    of "$t" CPU PASSED >"$dir/cpu"
    of "$t" CUDA:PTX PASSED >"$dir/sim"
    of "$t" CUDA:PTX FAILED | comm -12 "$dir/cpu" - >"$dir/lost"
    printf '%-24s %8d %8d %8d %12d\n' "$t" "$(wc -l <"$dir/cpu")" "$(wc -l <"$dir/sim")" \
        "$(comm -23 "$dir/cpu" "$dir/sim" | comm -23 - "$dir/lost" | wc -l)" "$(wc -l <"$dir/lost")"
    sed 's/^/    /' "$dir/lost"
    [ -s "$dir/sim" ] && [ ! -s "$dir/lost" ] || differences=1
done
[ -z "${LOGS:-}" ] || { mkdir -p "$LOGS" && cp "$dir"/test_*.* "$LOGS"; }
exit $differences

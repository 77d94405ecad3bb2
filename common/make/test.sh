#!/bin/bash
# test.sh: the project proves itself. Builds all that is built, then runs every tests/*.bats, as many at a time as there
# are cores; a file's TAP is printed in one piece when the file is through. The last line is `N passed, N failed`, counted
# from Bats' own TAP; the exit status says the same.
# TESTS="tests/a.bats ..." runs only these, one after another, and prints as they go.
# test.sh TAG runs only the tests with that tag: `quick` marks those that find most mistakes soonest.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
need bats timeout clang readelf clang-format cppcheck shellcheck || exit
export CLANG=${CLANG:-$(common/make/find-clang.sh)} # found once, for every make that follows

# The tests prove the sim lane on every machine, with or without a GPU; tests that need one ask for it themselves.
export DEVICE=sim CUDA_COMPILER=clang B=.build/sim
unset LAB SUBMISSION SEED SAN

# Files run side by side, one a core; what a program does on several threads has tests that say so.
export SIMGPU_THREADS=${SIMGPU_THREADS:-1}
export tag=${1:-}
export results=.build/tests
rm -rf "$results" "$B/desk"
mkdir -p "$results"
touch "$results/began" # what is older is of another run
export BLUEBAR_OTHERS=$PWD/$results/others # with one seed, the starter and the reference run once
for n in $(labs); do tests/wrong-programs.sh "$n" >"$results/wrong-lab$n.bats"; done

# Runs a Bats file, prints its TAP and keeps it.
run_file() {
    local file=$1 tap status ended planned
    tap=$results/$(basename "$file").tap
    echo "# $file"
    bats --tap ${tag:+--filter-tags "$tag"} "$file" </dev/null | tee "$tap"
    status=${PIPESTATUS[0]}
    # A file that did not run all it announced, or that Bats could not read, is a failure by itself.
    ended=$(grep -cE '^(not )?ok ' "$tap")
    planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$tap" | head -n 1)
    if [ "${planned:-0}" != "$ended" ] || { [ "$status" != 0 ] && ! grep -q '^not ok ' "$tap"; }; then
        echo "not ok $file: bats ended with status $status after $ended of ${planned:-0} tests" | tee -a "$tap"
    fi
}

run_file_quietly() {
    run_file "$1" >"$results/$(basename "$1").out"
    flock "$results" cat "$results/$(basename "$1").out"
}

if [ -n "${TESTS:-}" ]; then
    for file in $TESTS; do run_file "$file"; done
else
    # The longest first, so that no core is left with one of them at the end.
    files=(tests/docs.bats "$results"/*.bats)
    for file in tests/*.bats; do [ "$file" = tests/docs.bats ] || files+=("$file"); done
    # Files that run side by side share .build, so everything that they build is there beforehand. (Each keeps the output of
    # submissions on a desk of its own: helper.bash.)
    # shellcheck disable=SC2046 # a list of goals
    build all "$B/system-headers" $(labs | sed "s,.*,$B/starter/lab& $B/judge/lab&.names $B/judge/lab&.rows,")
    if [ -n "$tag" ]; then
        mapfile -t files < <(grep -lE "^# bats (file|test)_tags=$tag\$" "${files[@]}")
    else
        programs=(tests/{check,clock}/*.cu)
        programs=("${programs[@]%.cu}")
        build kit "${programs[@]/#/$B/}"
        SAN=1 B=.build/san build .build/san/{ptxrun,fuzz_ptx,starter/lab3,reference/lab3} .build/san/tests/clock/{probe,order,pool,gaps}
        if command -v nvcc >/dev/null; then CUDA_COMPILER=nvcc B=.build/sim-nvcc build .build/sim-nvcc/{starter,reference}/lab3; fi
    fi
    export -f run_file run_file_quietly
    # One more than there are cores: every test waits now and then, for a sleep or for the end of a make.
    # shellcheck disable=SC2016 # the inner shell is to expand it
    printf '%s\n' "${files[@]}" | xargs -n 1 -P "$(($(nproc) + 1))" bash -c 'run_file_quietly "$1"' test.sh
fi

passed=$(cat "$results"/*.tap | grep -c '^ok ')
failed=$(cat "$results"/*.tap | grep -c '^not ok ')
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]

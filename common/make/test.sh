#!/bin/bash
# test.sh: the project proves itself. Builds all that is built, then runs every tests/*.bats and prints as it goes.
# The last line is `N passed, N failed`, counted from Bats' own TAP; the exit status says the same.
# TESTS="tests/a.bats ..." runs only these.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
need bats timeout clang nm objcopy clang-format cppcheck shellcheck

tap=$(mktemp)
trap 'rm -f "$tap"' EXIT
passed=0 failed=0

# The tests prove the sim lane on every machine, with or without a GPU; tests that need one ask for it themselves.
export DEVICE=sim CUDA_COMPILER=clang B=.build/sim
unset LAB SUBMISSION SEED SAN

# One test for each program that a grader must see through.
mkdir -p .build/tests
tests/wrong-programs.sh >.build/tests/wrong-programs.bats

for file in ${TESTS:-tests/*.bats .build/tests/wrong-programs.bats}; do
    echo "# $file"
    bats --tap "$file" </dev/null | tee "$tap"
    status=${PIPESTATUS[0]}
    ok=$(grep -c '^ok ' "$tap")
    bad=$(grep -c '^not ok ' "$tap")
    # A file that did not run all it announced, or that Bats could not read, is a failure by itself.
    planned=$(sed -n 's/^1\.\.\([0-9]*\)$/\1/p' "$tap" | head -n 1)
    if [ "$status" != 0 ] && [ "$bad" = 0 ] || [ "${planned:-0}" != $((ok + bad)) ]; then
        echo "not ok $file: bats ended with status $status after $((ok + bad)) of ${planned:-0} tests"
        bad=$((bad + 1))
    fi
    passed=$((passed + ok))
    failed=$((failed + bad))
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]

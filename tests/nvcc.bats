#!/usr/bin/env bats
# Two compilers, one SimGPU: the PTX that nvcc embeds gives the counters that clang's does.

load helper

setup() {
    command -v nvcc >/dev/null || skip "no nvcc here"
}

# The memory counters of every launch that is no copy of the harness's own, from a report.
memory_counters() {
    grep '"kind":"launch"' "$1" | grep -oE '"name":"[^"]*"|"(l1tex__t_(requests|sectors)|l1tex__data)[^"]*":[0-9]+' | awk '
        /"name"/ { print line; line = $0; seen = 0; next }
        # A launch gives its totals first, then its lines: only the totals are compared, because line tables differ.
        { split($0, kv, ":"); if (!((line, kv[1]) in once)) { once[line, kv[1]] = 1; line = line " " $0 } }
        END { print line }'
}

@test "starter and solution: the same sectors, requests and wavefronts from clang and from nvcc" {
    build .build/sim/starter/lab3 .build/sim/reference/lab3
    CUDA_COMPILER=nvcc build .build/sim-nvcc/starter/lab3 .build/sim-nvcc/reference/lab3
    for who in starter reference; do
        for lane in sim sim-nvcc; do
            SIMGPU_REPORT=$BATS_TEST_TMPDIR/$lane apart .build/$lane/$who/lab3 >/dev/null
            memory_counters "$BATS_TEST_TMPDIR/$lane" >"$BATS_TEST_TMPDIR/$lane.counters"
        done
        [ "$(wc -l <"$BATS_TEST_TMPDIR/sim.counters")" -gt 5 ]
        diff "$BATS_TEST_TMPDIR/sim.counters" "$BATS_TEST_TMPDIR/sim-nvcc.counters"
    done
}

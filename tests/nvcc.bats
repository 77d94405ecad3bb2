#!/usr/bin/env bats
# Two compilers, one SimGPU: the PTX that nvcc embeds gives the counters that clang's does.

load helper

setup() {
    command -v nvcc >/dev/null || skip "no nvcc here"
}

# The memory counters of every launch, as the report has them: name, then the totals (line tables differ between compilers).
memory_counters() {
    sed -n 's/.*"kind":"launch".*"name":"\([^"]*\)".*"counters":{\([^}]*\)}.*/\1,\2/p' "$1" | awk -F, '{
        line = $1
        for (i = 2; i <= NF; i++) if ($i ~ /l1tex__/) line = line " " $i
        print line }'
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

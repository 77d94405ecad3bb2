#!/bin/bash
# bench.sh WHAT: measurements for their own sake.
#
#   sim     how fast the software GPU itself is: warp instructions a second, for the tiled transpose, with every counter
#           and every memory check on. One core; SIMGPU_THREADS=n for more. Wall-clock time: nothing graded depends on it
#   clock   SimGPU's clock against a real GPU's, kernel by kernel (tests/bench-clock.cu). On a GPU: records its times in
#           handouts/measured/clock.tsv. On SimGPU: prints virtual beside recorded times, and their ratio; the constants
#           of profiles/h200.conf come from these kernels. COMMIT=... names the commit where there is no git
#   record PROGRAM LAB   a real GPU's figures, into tracked files with device, date and commit: handouts/measured/LAB.tsv
#           (PROGRAM --bench: times by size, which the handout shows) and LAB-counters.tsv (Nsight Compute's counters of
#           one launch of each kernel, PROGRAM --ladder, to which tests/silicon.bats holds SimGPU)
#   fuzz    looks for PTX text and fat binaries that break SimGPU's reader, with libFuzzer, beginning with those we have,
#           for FUZZ_SECONDS (300). Its findings are .build/fuzz/crash-*: fix them, and keep the input in tests/fuzz
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

bench_sim() {
    need clang
    [ "$DEVICE" = sim ] || die "bench-sim measures the software GPU: DEVICE=sim make bench-sim"
    build "$B/bench-sim"
    SIMGPU_THREADS=${SIMGPU_THREADS:-1} "$B/bench-sim"
}

bench_clock() {
    local record=handouts/measured/clock.tsv
    need "$([ "$DEVICE" = gpu ] && echo nvcc || echo clang)"
    build "$B/bench-clock"
    if [ "$DEVICE" = gpu ]; then
        { gpu_caption && apart "$B/bench-clock"; } | tee "$B/clock.tsv"
        cp "$B/clock.tsv" "$record"
        echo "written: $record"
        return
    fi
    apart "$B/bench-clock" >"$B/clock.tsv"
    awk -F '\t' '
        FNR == NR { if (/^#/) print substr($0, 3); else real[$1] = $2; next }
        FNR == 1 { printf "%-42s %10s %10s %8s\n", "kernel", "H200, us", "virtual", "ratio" }
        !($1 in real) { printf "%-42s %10s %10.2f\n", $1, "n/a", $2; next }
        { r = $2 / real[$1]; n++; near += r > 0.8 && r < 1.25
          printf "%-42s %10.2f %10.2f %8.2f\n", $1, real[$1], $2, r }
        END { printf "%d of %d within 25 %%\n", near, n }' "$record" "$B/clock.tsv"
}

bench_record() {
    local program=$1 lab=$2 out=handouts/measured
    mkdir -p "$out" "$B"
    echo "measuring $lab on this GPU, some minutes ..."
    stay_near
    # The program is the reference: its row of "yours" would be the reference twice.
    { gpu_caption && apart "$program" --bench | awk -F '\t' '$1 != "yours" && $2 != "yours" { print; fflush() }'; } | tee "$B/$lab.tsv"
    cp "$B/$lab.tsv" "$out/$lab.tsv"
    echo "written: $out/$lab.tsv (make docs puts it into the handout)"
    if ! command -v ncu >/dev/null; then
        echo "no ncu on this machine: $out/$lab-counters.tsv stays as it is"
        return
    fi
    apart ncu --clock-control none --csv --page raw --metrics "$(bluebar metrics)" "$program" --ladder >"$B/$lab.ncu" 2>&1 || {
        grep -m 3 '==ERROR==' "$B/$lab.ncu" >&2
        die "ncu could not count: see $B/$lab.ncu"
    }
    if bluebar counters <"$B/$lab.ncu" >"$B/$lab-counters.tsv"; then
        { gpu_caption && cat "$B/$lab-counters.tsv"; } >"$out/$lab-counters.tsv"
        echo "written: $out/$lab-counters.tsv"
    else
        echo "$lab has no kernels of its own for ncu to count"
    fi
}

bench_fuzz() {
    build .build/fuzz/fuzz_ptx
    mkdir -p .build/fuzz/corpus
    for f in tests/ptx/*/*.ptx tests/fuzz/*/*; do cp "$f" ".build/fuzz/corpus/$(echo "$f" | tr / _)"; done
    echo "fuzz: ${FUZZ_SECONDS:=300} s over $(find .build/fuzz/corpus -type f | wc -l) inputs"
    exec .build/fuzz/fuzz_ptx -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2000 -max_len=8000 \
        -artifact_prefix=.build/fuzz/ .build/fuzz/corpus
}

"bench_$1" "${@:2}"

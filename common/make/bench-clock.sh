#!/bin/bash
# bench-clock.sh: SimGPU's clock against a real GPU's, kernel by kernel (tests/bench-clock.cu). On a GPU: records its
# times in handouts/measured/clock.tsv. On SimGPU: prints virtual beside recorded times, and their ratio; the constants
# of profiles/h200.conf come from these kernels. COMMIT=... names the commit where there is no git.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

record=handouts/measured/clock.tsv
need "$([ "$DEVICE" = gpu ] && echo nvcc || echo clang)"
build "$B/bench-clock"
if [ "$DEVICE" = gpu ]; then
    { gpu_caption && apart "$B/bench-clock"; } | tee "$B/clock.tsv"
    cp "$B/clock.tsv" "$record"
    echo "written: $record"
    exit
fi
apart "$B/bench-clock" >"$B/clock.tsv"
awk -F '\t' '
    FNR == NR { if (/^#/) print substr($0, 3); else real[$1] = $2; next }
    FNR == 1 { printf "%-42s %10s %10s %8s\n", "kernel", "H200, us", "virtual", "ratio" }
    !($1 in real) { printf "%-42s %10s %10.2f\n", $1, "n/a", $2; next }
    { r = $2 / real[$1]; n++; near += r > 0.8 && r < 1.25
      printf "%-42s %10.2f %10.2f %8.2f\n", $1, real[$1], $2, r }
    END { printf "%d of %d within 25 %%\n", near, n }' "$record" "$B/clock.tsv"

#!/bin/bash
# bench-sim.sh: how fast the software GPU itself is: warp instructions a second, for the tiled transpose, with every
# counter and every memory check on. One core by default; SIMGPU_THREADS=n for more. This is wall-clock time, so it
# belongs to this machine; nothing that is graded depends on it.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh
need clang
[ "$DEVICE" = sim ] || die "bench-sim measures the software GPU: DEVICE=sim make bench-sim"
build "$B/bench-sim"
SIMGPU_THREADS=${SIMGPU_THREADS:-1} "$B/bench-sim"

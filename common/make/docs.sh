#!/bin/bash
# docs.sh [--check]: writes the output of runs into README.md and handouts/*.md (common/bluebar/docs.c). It sets up the
# runs: the sim lane, the fixed seed, the starter in place of the reader's own file, and every program built beforehand,
# since no text shows a build's messages.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh

export DEVICE=sim CUDA_COMPILER=clang B=.build/sim SEED=2048 BLUEBAR_MINE=starter BLUEBAR=.build/sim/bluebar
unset LAB SUBMISSION DESK PROFILE SAN MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
rm -rf .build/docs
mkdir -p .build/docs/tmp
export BLUEBAR_HINTS=.build/docs/tmp/hints BLUEBAR_OTHERS=${BLUEBAR_OTHERS:-$PWD/.build/docs/others}
for n in $(labs); do build "$B/starter/lab$n" "$B/reference/lab$n" || exit 1; done
build "$BLUEBAR" "$B/timeline_svg" || exit 1
CLANG_VERSION=$("$(common/make/find-clang.sh)" -dumpversion)
export CLANG_VERSION
exec "$BLUEBAR" docs "$@"

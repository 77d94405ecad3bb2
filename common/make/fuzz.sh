#!/bin/bash
# fuzz.sh: looks for PTX text and fat binaries that break SimGPU's reader, with libFuzzer, beginning with those we have.
# FUZZ_SECONDS=300 make fuzz. What it finds is .build/fuzz/crash-*: mend it, and keep the input in tests/fuzz.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

build .build/fuzz/fuzz_ptx
mkdir -p .build/fuzz/corpus
for f in tests/ptx/*/*.ptx tests/fuzz/*/*; do cp "$f" ".build/fuzz/corpus/$(echo "$f" | tr / _)"; done
echo "fuzz: ${FUZZ_SECONDS:=300} s over $(find .build/fuzz/corpus -type f | wc -l) inputs"
exec .build/fuzz/fuzz_ptx -max_total_time="$FUZZ_SECONDS" -timeout=10 -rss_limit_mb=2000 -max_len=8000 \
    -artifact_prefix=.build/fuzz/ .build/fuzz/corpus

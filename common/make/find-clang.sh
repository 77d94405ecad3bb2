#!/bin/sh
# Prints the C compiler of the sim lane: $CLANG, or `clang`, or the newest clang-N (14 or newer) on the PATH.
# Prints `clang` when there is none, so that the message about it is need.sh's and not this script's.
if [ -n "${CLANG:-}" ]; then
    echo "$CLANG"
    exit
fi
for c in clang clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
    if command -v "$c" >/dev/null 2>&1; then
        major=$("$c" -dumpversion 2>/dev/null | cut -d. -f1)
        if [ "${major:-0}" -ge 14 ] 2>/dev/null; then
            echo "$c"
            exit
        fi
    fi
done
echo clang

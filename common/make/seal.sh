#!/bin/sh
# seal.sh IN.o OUT.o REFERENCE.o [PREFIX]: makes every name in IN.o local but the lab's entry points.
#
# So a student's `memcmp` or `clock_gettime` cannot replace the one that the harness uses, and the kernels of
# starter, reference and submission may have the same names. With PREFIX the entry points are renamed
# (transpose -> starter_transpose). The entry points are the plain C names that the reference solution defines.
# COUNTED=FILE names calls, one a line, that the lab's harness wants to see first: cudaMalloc is renamed counted_cudaMalloc.
set -eu
in=$1 out=$2 reference=$3 prefix=${4:-}
entries=$("$(dirname "$0")/entries.sh" "$reference")
set --
for e in $entries; do
    if [ -n "$prefix" ]; then
        set -- "$@" --redefine-sym "$e=$prefix$e"
    fi
    set -- "$@" "--keep-global-symbol=$prefix$e"
done
if [ -f "${COUNTED:-}" ]; then
    while read -r call; do
        case $call in '' | '#'*) continue ;; esac
        set -- "$@" --redefine-sym "$call=counted_$call"
    done <"$COUNTED"
fi
# Templates live in COMDAT groups that the linker would merge by name; dissolve them before the names become local.
ld -r --force-group-allocation -o "$out" "$in"
objcopy "$@" "$out"

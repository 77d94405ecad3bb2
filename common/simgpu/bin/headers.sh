#!/bin/bash
# headers: cuda_runtime.h as clang has read it before, for simcc. To read it anew takes most of the time of a compilation.
#
#   headers PASS COMPILER WORD...     prints a precompiled header for these words, PASS.pch, if there is one
#
# The words are those of one pass over a program, PASS (device or host), without what names the program and its folders.
# clang takes such a header only with the words that it was made with, so each list of words has a folder of its own,
# lib/simgpu/read/SUM, or ~/.cache/simgpu/SUM where that cannot be written. A pass's first request leaves a mark there,
# its second one makes the header: most programs are compiled again, and those that are not cost nothing. Where MOST
# folders are there, no other is made.
set -u -o pipefail

MOST=24
pass=$1 compiler=$2
shift 2
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
header=$root/include/cuda_runtime.h

# Another compiler, or the same after an upgrade, has other headers.
sum=$({ stat -L -c '%n %Y %s' -- "$(command -v "$compiler")" && printf '%s\n' "$root" "$@"; } | cksum) || exit
all=$root/lib/simgpu/read
[ -w "$root/lib/simgpu" ] || all=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/simgpu
folder=$all/${sum%% *}
ready=$folder/$pass.pch

if [ -f "$ready" ] && [ -z "$(find "$root/include/" -newer "$ready" -print -quit)" ]; then
    echo "$ready"
    exit
fi
if [ ! -e "$folder/$pass" ]; then
    [ "$(find "$all" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -ge "$MOST" ] ||
        { mkdir -p "$folder" && touch "$folder/$pass"; } 2>/dev/null
    exit
fi
fresh=$(mktemp "$ready.XXXXXX" 2>/dev/null) || exit
if "$compiler" "$@" -S -emit-llvm -Xclang -emit-pch -o "$fresh" "$header" >/dev/null 2>&1; then mv "$fresh" "$ready" && echo "$ready"; else rm -f "$fresh"; fi

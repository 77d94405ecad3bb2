#!/bin/bash
# headers: cuda_runtime.h as clang has read it before, for simcc. To read it anew takes most of the time of a compilation.
#
#   headers PASS COMPILER [NAME | -IFOLDER]... -- WORD...     prints a precompiled header, PASS.pch, if there is one that serves
#
# The words are those of one pass over a program, PASS (device or host). Names that the program's options define, and its own folders,
# come in front: where the headers that were read have such a name, or ask for it, or such a folder has a file of the same name as
# one of the system's headers, they may say something else in this program, and none serves.
#
# clang takes such a header only with the words that it was made with, so each list of words has a folder of its own,
# lib/simgpu/read/SUM, or ~/.cache/simgpu/SUM where that cannot be written. A pass's first request leaves a mark, its second one
# makes the header: most programs are compiled again, and those that are not cost nothing. Of more than MOST folders, of
# 10 MB each, the one that was not used for the longest time goes.
set -u -o pipefail

MOST=24
pass=$1 compiler=$2
shift 2
names=() folders=()
while [ "$1" != -- ]; do
    case $1 in -I*) folders+=("${1#-I}") ;; *) names+=(-e "$1") ;; esac
    shift
done
shift
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
header=$root/include/cuda_runtime.h

# Another compiler, or the same after an upgrade, has other headers.
sum=$({ stat -L -c '%n %Y %s' -- "$(command -v "$compiler")" && printf '%s\n' "$root" "$@"; } | cksum) || exit
all=$root/lib/simgpu/read
[ -w "$root/lib/simgpu" ] || all=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/simgpu
folder=$all/${sum%% *}
ready=$folder/$pass.pch mark=$all/asked/${sum%% *}.$pass

# Writes the header, the list of the files that it is made of, and the names in them. An empty file stands for one that cannot be made.
make_ready() {
    mkdir -p "$folder" 2>/dev/null && fresh=$(mktemp "$folder/XXXXXX" 2>/dev/null) || exit
    trap 'rm -f "$fresh" "$fresh".*' EXIT
    trap 'exit 130' INT TERM HUP
    if "$compiler" "$@" -S -emit-llvm -Xclang -emit-pch -MD -MT x -MF "$fresh.d" -o "$fresh" "$header" >/dev/null 2>&1; then
        sed 's/^x://; s/ *\\$//; s/\\ /\x01/g' "$fresh.d" | tr -s ' ' '\n' | tr '\1' ' ' | grep . >"$fresh.files"
        { "$compiler" "$@" -E -dD -P "$header" 2>/dev/null; xargs -d '\n' sed -n '/^[[:blank:]]*#/p' <"$fresh.files"; } | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u >"$fresh.names"
        mv "$fresh.files" "$ready.files" && mv "$fresh.names" "$ready.names"
    else
        : >"$fresh"
    fi
    mv "$fresh" "$ready"
    find "$all/asked" -type f -mtime +7 -delete
    find "$all" -mindepth 1 -maxdepth 1 -type d ! -name asked -printf '%T@ %p\n' | sort -rn | tail -n "+$((MOST + 1))" | cut -d ' ' -f 2- | xargs -r -d '\n' rm -rf
}

if [ ! -f "$ready" ] || [ -n "$(find "$root/include/" -newer "$ready" -print -quit)" ]; then
    if [ ! -e "$mark" ]; then
        mkdir -p "$all/asked" 2>/dev/null && : 2>/dev/null >"$mark"
        exit
    fi
    make_ready "$@"
fi
[ -s "$ready" ] && [ -s "$ready.files" ] && [ -s "$ready.names" ] || exit
touch -c "$folder"
if [ "${#names[@]}" -gt 0 ] && grep -qxF "${names[@]}" "$ready.names"; then exit; fi
for own in ${folders[@]+"${folders[@]}"}; do
    while IFS= read -r file; do
        if [ -e "$own/${file##*/}" ] || [ -e "$own/sys/${file##*/}" ] || [ -e "$own/bits/${file##*/}" ]; then exit; fi
    done < <(grep -vF "$root/" "$ready.files")
done
echo "$ready"

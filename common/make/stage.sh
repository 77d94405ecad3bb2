#!/bin/sh
# stage.sh SOURCE NAME OUT: copies SOURCE to OUT, so that compilers, reports and cards call it NAME.
# The copy stands alone in its folder: a `#include "x"` finds the lab's own x, never one that lies beside SOURCE.
# OUT keeps its time stamp when nothing changed, and then nothing is built again.
set -eu
mkdir -p "${3%/*}"
# A folder's name must not end the string, or the line.
case $2 in
*[[:cntrl:]\"\\]*) name=$(printf %s "$2" | LC_ALL=C tr '"\\\000-\037\177' '?') ;;
*) name=$2 ;;
esac
printf '#line 1 "%s"\n' "$name" | cat - "$1" >"$3.new"
if cmp -s "$3.new" "$3"; then
    rm "$3.new"
else
    mv "$3.new" "$3"
fi

#!/bin/bash
# unknown.sh GOAL: what make says about a goal that it has no rule for.
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
case $1 in
lab[0-9]* | lines[0-9]* | hint[0-9]* | diff[0-9]* | reset[0-9]* | solution[0-9]*) lab_dir "${1##*[a-z]}" >/dev/null ;;
*) die "make $1: no such command, and no such file to build. 'make' alone lists the commands." ;;
esac

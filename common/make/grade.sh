#!/bin/bash
# grade.sh: grades all submissions of the folder DIR. This script builds; common/bluebar/grade.c does the rest and
# lists the variables that it reads.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
need timeout flock || exit
need_compilers || exit

[ -n "${DIR:-}" ] || die "make grade DIR=submissions: which folder? Each folder or .cu file in it is a submission."
[ -d "$DIR" ] || die "DIR=$DIR: there is no such folder."
read -ra asked <<<"${LAB:-$(labs | xargs)}"
for n in "${asked[@]}"; do lab_dir "$n" >/dev/null || exit 1; done

# `bluebar grade` has this process's number, by which it finds the folder and removes it.
ROWS=$B/grade-$$/rows
trap 'rm -rf "$B/grade-$$"' EXIT
mkdir -p "$ROWS"
for n in "${asked[@]}"; do
    build "$B/reference/lab$n" || exit 1
    apart "$B/reference/lab$n" --rows >"$ROWS/lab$n.rows" || exit 1
done
COMMIT=$(commit)
export ROWS COMMIT
exec "$BLUEBAR" grade

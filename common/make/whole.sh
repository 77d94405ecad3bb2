#!/bin/bash
# whole.sh FILE: prints where the whole program is that FILE stands for. A .cu file is whole already.
#
# A .patch file holds one mistake: why and what in its first lines, then a unified diff. The line `--- solutions/...` in
# it names the program that it is made from. The result lies in .build/patched/, under the patch's own path.
# A patch that no longer applies is an error: then the program that it changes has changed, and it must be made anew.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

case $1 in
*.patch) ;;
*)
    echo "$1"
    exit
    ;;
esac
need patch

base=$(sed -n 's/^--- //p' "$1" | head -n 1)
[ -n "$base" ] || die "$1: no line '--- FILE' says which program it changes."
[ -f "$base" ] || die "$1 changes $base, which is not there."
whole=.build/patched/${1%.patch}.cu
mkdir -p "$(dirname "$whole")"
new=$(mktemp "$whole.XXXXXX")
trap 'rm -f "$new"' EXIT
# --fuzz=0: every line that it shows must be there, or the mistake might land in another place.
if ! said=$(patch --silent --fuzz=0 --no-backup-if-mismatch --reject-file=- --output="$new" "$base" "$1" 2>&1 </dev/null); then
    die "$1 does not apply to $base any more. Make it anew: change a copy of that file, and take diff -U1.
$said"
fi
cmp -s "$new" "$whole" || mv "$new" "$whole"
echo "$whole"

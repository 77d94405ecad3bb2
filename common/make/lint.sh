#!/bin/bash
# lint.sh: the form of every file: clang-format 14 (where it is) and cppcheck on C and CUDA, shellcheck on scripts; and
# names of variables where files are compiled together. Changes nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
need cppcheck shellcheck || exit

# Versions of clang-format differ. This one decides the form of a file.
FORMATTER=14
formatter=''
for name in clang-format-$FORMATTER clang-format; do
    if command -v "$name" >/dev/null && [[ $("$name" --version) == *"version $FORMATTER."* ]]; then
        formatter=$name
        break
    fi
done

status=0
# Tracked files and new ones, but nothing generated.
files() { { git ls-files -co --exclude-standard -- "$@" 2>/dev/null || find . -path ./.build -prune -o -type f -print | sed 's,^\./,,'; } | sort -u; }
mapfile -t c < <(files '*.c' | grep '\.c$')
mapfile -t code < <(files '*.c' '*.h' '*.cu' '*.cuh' | grep -E '\.(c|h|cu|cuh)$')
# The file that a student edits is theirs; its starter is ours.
for n in $(labs); do
    mine=$(lab_dir "$n")/$(lab_file "$n")
    for i in "${!code[@]}"; do
        if [ "${code[i]}" = "$mine" ] && ! cmp -s "$mine" "$(lab_starter "$n")"; then unset "code[i]"; fi
    done
done
mapfile -t scripts < <(files 'common/make/*' 'common/simgpu/bin/*' 'tests/*' '.ci/*' | grep -E '\.(sh|bash|bats)$|^\.ci/run$')

if [ -z "$formatter" ]; then
    echo "lint: the format is not checked: that takes clang-format $FORMATTER, which is not here ($(common/make/need.sh --command clang-format-$FORMATTER))"
elif [ ${#code[@]} -gt 0 ]; then
    echo "lint: $formatter, ${#code[@]} files"
    # A file name a line: clang-format -i finds the lines itself.
    wrong=$("$formatter" --dry-run -Werror "${code[@]}" 2>&1 | sed -n "s/:[0-9]*:[0-9]*: error:.*//p" | sort -u)
    if [ -n "$wrong" ]; then
        for f in $wrong; do echo "not formatted: $f   (to format it: $formatter -i $f)"; done
        status=1
    fi
fi
if [ ${#c[@]} -gt 0 ]; then
    echo "lint: cppcheck, ${#c[@]} files"
    # Switched off: the checks that misread this code (loops it cannot follow, an arena that frees all at once, fields found
    # by offset, memory that base_must has checked, arithmetic shifts of PTX); and the table of CUDA's functions in calls.c, whose macros it does not expand as C does. The compilers and the
    # sanitizer build watch the first; inline suppressions say why at the place.
    # What it found in a file is kept, and the file read again when a word of it or of its headers is another. Comments are
    # none of its words, so with another suppression, as with other options, all are read again.
    kept=.build/cppcheck
    key=$({ cppcheck --version && cat common/make/lint.sh && grep -h cppcheck-suppress "${code[@]}"; } | cksum)
    if [ "$(cat "$kept/key" 2>/dev/null)" != "$key" ]; then
        rm -rf "$kept"
        mkdir -p "$kept"
        echo "$key" >"$kept/key"
    fi
    cppcheck --quiet --cppcheck-build-dir="$kept" --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 -j "$(nproc)" \
        --suppress=missingInclude --suppress=normalCheckLevelMaxBranches --suppress=nullPointerOutOfMemory --suppress=nullPointerArithmeticOutOfMemory --suppress=nullPointerOutOfResources --suppress=shiftTooManyBitsSigned:common/simgpu/ptx/opcodes.def \
        --suppress=syntaxError:common/simgpu/include/cuda_api.def --suppress=uninitvar --suppress=leakReturnValNotUsed --suppress=invalidPointerCast -D__x86_64__ -Icommon/simgpu/include -Icommon/lab "${c[@]}" || status=1
fi
# Files that are compiled together (`unit` in the Makefile): two variables of one name would be one, and no compiler says so
# where one of them has no value of its own.
variables() {
    local unit names own
    # shellcheck disable=SC2016
    sed -n 's/^\$(call unit,\([^,]*\),\([^,)]*\),*\(.*\))$/\1,\2,\3/p' Makefile | while IFS=, read -r unit names own; do
        # shellcheck disable=SC2046,SC2086 # names are words
        (cd "common/$(dirname "$unit")" && awk -v own=" $own " '
            /^static [^(]*[;=]/ {
                sub(/^static /, "")
                gsub(/\/\*.*|;.*|\[[^]]*\]|= *\{.*|=[^,]*/, "")
                n = split($0, part, ",")
                for (k = 1; k <= n; k++) {
                    sub(/ +$/, "", part[k])
                    sub(/.*[ *]/, "", part[k])
                    if (!index(own, " " part[k] " ") && part[k] in at && at[part[k]] != FILENAME) print "one variable in two files that are compiled together: " part[k] " of " FILENAME " and " at[part[k]] "; give one of them another name"
                    at[part[k]] = FILENAME
                }
            }' $(printf '%s.c\n' $names))
    done
}
if [ -f Makefile ]; then
    twice=$(set -o pipefail && variables) || status=1
    [ -z "$twice" ] || { echo "$twice" && status=1; }
fi
if [ ${#scripts[@]} -gt 0 ]; then
    echo "lint: shellcheck, ${#scripts[@]} files"
    # In Bats files variables cross from `run` and from tests, and quoted code is meant to stay as it is; functions are called by xargs.
    # A script in which nothing was found is read again when a word of it is another, or of what scripts take in (-x).
    kept=.build/shellcheck
    mkdir -p "$kept"
    taken_in=$({ shellcheck --version && cat common/make/lint.sh common/make/lib.sh tests/*.bash; } | cksum)
    for s in "${scripts[@]}"; do
        case $s in tests/*) quiet=SC2013,SC2016,SC2030,SC2031,SC2034,SC2154,SC2317 ;; *) quiet=SC1000 ;; esac
        key=$kept/$({ echo "$s $taken_in" && cat "$s"; } | cksum | tr ' ' -)
        [ -e "$key" ] || if shellcheck -x -P .:tests -e "$quiet" "$s"; then : >"$key"; else status=1; fi
    done
    find "$kept" -type f -mtime +30 -delete # of texts that are no more
fi
exit $status

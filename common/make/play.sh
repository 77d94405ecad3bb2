#!/bin/bash
# play.sh: `make play FILE=any.cu [ARGS='...']` compiles a CUDA program of the reader's own and runs it. In the sim lane
# simcc compiles it, and `simgpu run` prints below its output what a lab's profiler would; on a GPU nothing is counted. FILE may include what lies beside it. The exit status is the program's.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

file=${FILE:-}
[ -n "$file" ] || die "make play runs a CUDA program of your own: make play FILE=path/to/program.cu ARGS='its arguments'"
[ -f "$file" ] || die "FILE=$file: there is no such file$([ ! -d "$file" ] || echo "; it is a folder")."
# xargs splits as a shell does, and runs nothing of it.
split=$(printf %s "${ARGS:-}" | xargs -r -n 1 printf '%s\n' 2>/dev/null) || die "ARGS=$ARGS: a quotation mark is not closed."
args=()
[ -z "$split" ] || mapfile -t args <<<"$split"

need_compilers
name=$(submission "$(realpath "$file")")
program=$B/play/$name/program
common/make/stage.sh "$file" "$file" "$program.cu"
PLAY_FOLDER=$(dirname "$(realpath "$file")")
export PLAY_FOLDER
if ! said=$(build "$program" 2>&1); then
    printf '%s\n' "$said" | grep -vE "^make(\[[0-9]+\])?: \*\*\*|^clang.*: error: linker command failed|crt1\.o: in function" >&2 || true
    case $said in
    *"undefined reference to \`main'"* | *"undefined symbol: main"*)
        die "$file has no main function. make play runs a whole program; a lab's file is run by make lab3." ;;
    esac
    die "$file cannot be built: see above. What SimGPU lacks is listed in README.md, under Limits."
fi
[ -z "$said" ] || printf '%s\n' "$said" >&2

status=0
if [ "$DEVICE" = gpu ]; then
    [ -z "${TRACE:-}" ] || trace_card
    apart "$program" ${args[0]+"${args[@]}"} || status=$?
else
    export SIMGPU_CHECK="${SIMGPU_CHECK:-1}"
    apart "$B/bin/simgpu" run --lines --title "play  $file" "$program" ${args[0]+"${args[@]}"} || status=$?
fi
if [ "$status" -gt 128 ] && signal=$(kill -l $((status - 128)) 2>/dev/null); then
    echo "play: $file was ended by SIG$signal, so there is no report of it." >&2
elif [ "$DEVICE" = gpu ]; then
    echo "play: on a GPU nothing is counted. DEVICE=sim shows kernels, counters by line and findings; ncu and nsys know this card." >&2
fi
exit "$status"

#!/bin/bash
# simgpu: looks at programs and at PTX.
#
#   simgpu run [options] program [arguments]   runs any program that uses SimGPU, and shows its kernels below its output
#   simgpu explain file.ptx                    what SimGPU reads in a file of PTX: kernels, registers, instructions
#   simgpu isa [word]                          the instructions that SimGPU executes, or those with this word in them
#
# A program uses SimGPU if simcc linked it, or if it wants libcudart.so.12 or .13 and finds ours: `run` puts ours first in
# LD_LIBRARY_PATH. The report is lib/simgpu/play.so, which SimGPU opens in the program's process.
set -u
root=$(dirname "$(dirname "$(readlink -f "$0")")")
tools=$root/lib/simgpu

die() {
    echo "simgpu: $*" >&2
    exit 1
}

usage() {
    sed -n '4,6s/^#   //p' "$0"
    cat <<'END'

simgpu run takes:
  --lines          counters beside the lines of the source, too
  --check          looks for races, reads of unwritten memory, streams without an order
  --trace FILE     writes the timeline, for ui.perfetto.dev
  --profile NAME   another virtual card: h200, a100-pcie
END
}

run() {
    local title='' status=0 signal program
    while [ $# -gt 0 ]; do
        case $1 in
        --lines) export SIMGPU_RUN_LINES=1 ;;
        --check) export SIMGPU_CHECK=1 ;;
        --trace | --profile | --title)
            [ $# -ge 2 ] || die "$1 needs a value"
            case $1 in --trace) export TRACE=$2 ;; --profile) export PROFILE=$2 ;; *) title=$2 ;; esac
            shift
            ;;
        --) shift && break ;;
        -*) die "run $1: this option is not known; simgpu help lists them" ;;
        *) break ;;
        esac
        shift
    done
    [ $# -gt 0 ] || die "run: which program? simgpu run ./program arguments"
    if ! program=$(command -v -- "$1") || [ -d "$1" ]; then
        case $1 in *.cu | *.cpp | *.c) if [ -f "$1" ]; then die "$1 is a source file; compile it first: simcc $1 -o program"; fi ;; esac
        if [ -d "$1" ]; then die "$1 is a folder; name a program in it"; fi
        if [ -x "./$1" ]; then die "$1: a program is looked for in the PATH; did you mean ./$1?"; fi
        if [ -f "$1" ]; then die "$1 may not be run; if it is a program, chmod +x $1"; fi
        die "$1: there is no such program"
    fi
    export SIMGPU_RUN_TITLE=${title:-run  $1} SIMGPU_LISTENER=$tools/play.so
    export LD_LIBRARY_PATH=$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    SIMGPU_RUN_DONE=$(mktemp) || die "no file can be made in ${TMPDIR:-/tmp}"
    export SIMGPU_RUN_DONE
    trap 'rm -f "$SIMGPU_RUN_DONE"' EXIT
    { "$@" 2>&3 || status=$?; } 3>&2 2>/dev/null # the shell's own words about a crash are not the program's
    if [ "$status" -gt 128 ] && signal=$(kill -l $((status - 128)) 2>/dev/null); then
        [ -n "$title" ] || echo "simgpu: $1 was ended by SIG$signal, so there is no report of it" >&2
    elif [ -e "$SIMGPU_RUN_DONE" ]; then
        printf '\n%s · sim\n  the program sent the GPU no kernel and no copy\n' "$SIMGPU_RUN_TITLE" >&2
        if grep -aq '__cudaRegisterFatBinary\|\.nvFatBinSegment' "$program" 2>/dev/null && ! ldd "$program" 2>/dev/null | grep -q 'libcudart\.so\|libcuda\.so'; then
            echo "  CUDA's runtime is inside it, so it does not ask for ours: link it with nvcc -cudart shared, or build it with simcc" >&2
        fi
    fi
    return "$status"
}

case ${1:-help} in
run) shift && run "$@" ;;
explain)
    [ $# = 2 ] || die "explain: one file of PTX; simcc -ptx makes one"
    if command -v c++filt >/dev/null; then "$tools/ptxtell" explain "$2" | c++filt; else "$tools/ptxtell" explain "$2"; fi
    exit "${PIPESTATUS[0]}"
    ;;
isa) "$tools/ptxtell" isa | if [ $# -gt 1 ]; then grep -e "$2"; else cat; fi ;;
help | --help | -h) usage ;;
*) die "$1: simgpu knows run, explain and isa" ;;
esac

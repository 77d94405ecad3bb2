#!/bin/sh
# need.sh TOOL...: is all of it there? If not, one message with the command that installs it, and exit 1.
# TOOL: clang (14 or newer, able to write PTX), nvcc, or the name of a program.
set -u
cd "$(dirname "$0")/../.." || exit 1

missing="" packages=""
want() { # program, package
    missing="$missing $1"
    packages="$packages $2"
}

for tool in "$@"; do
    case $tool in
    clang)
        clang=$(common/make/find-clang.sh)
        if ! command -v "$clang" >/dev/null 2>&1; then
            want "clang (14 or newer)" clang
        elif ! "$clang" --print-targets 2>/dev/null | grep -q nvptx64; then
            echo "$clang cannot write PTX: it was built without the NVPTX target. The distribution's package can: $(common/make/install-command.sh clang)" >&2
            exit 1
        elif [ "$("$clang" -dumpversion | cut -d. -f1)" -lt 14 ]; then
            want "clang 14 or newer ($clang is $("$clang" -dumpversion))" clang
        fi
        ;;
    nvcc)
        if ! command -v "${NVCC:-nvcc}" >/dev/null 2>&1; then
            echo "DEVICE=gpu needs nvcc, which is not on the PATH. Install NVIDIA's CUDA toolkit (https://developer.nvidia.com/cuda-downloads)," >&2
            echo "or use the software GPU, which needs nothing of NVIDIA's: DEVICE=sim" >&2
            exit 1
        fi
        ;;
    flock) command -v flock >/dev/null 2>&1 || want flock util-linux ;;
    clang-format) command -v clang-format >/dev/null 2>&1 || want clang-format clang-format ;;
    *) command -v "$tool" >/dev/null 2>&1 || want "$tool" "$tool" ;;
    esac
done

if [ -n "$missing" ]; then
    # shellcheck disable=SC2086 # the list of packages is meant to be split
    echo "Not found:$missing. Install it with:  $(common/make/install-command.sh $packages)   (or all that is needed: make setup)" >&2
    exit 1
fi

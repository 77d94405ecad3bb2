#!/bin/sh
# need.sh TOOL...: is all of it there? If not, one message with the command that installs it, and exit 1.
# need.sh --command PACKAGE...: the command that installs these (named as Debian names them) on this system.
# TOOL: clang (14 or newer, able to write PTX), nvcc, or the name of a program.
# A clang that was found able is written down in .build/able-clang: to ask it again takes a tenth of a grade.
set -u
cd "${0%/*}/../.." || exit 1

install_command() {
    sudo=
    [ "$(id -u)" = 0 ] || sudo='sudo '
    if command -v apt-get >/dev/null 2>&1; then
        echo "${sudo}apt-get install --no-install-recommends $*"
    elif command -v dnf >/dev/null 2>&1; then
        names=
        for p in "$@"; do
            case $p in
            shellcheck) p=ShellCheck ;;
            clang-format) p="clang-tools-extra" ;;
            libclang-rt-*) p=compiler-rt ;;
            gnuplot-nox) p=gnuplot ;;
            esac
            names="$names $p"
        done
        echo "${sudo}dnf install --setopt=install_weak_deps=False$names"
    else
        echo "your package manager: install $*"
    fi
}
if [ "${1:-}" = --command ]; then
    shift
    install_command "$@"
    exit
fi

missing="" packages=""
want() { # program, package
    missing="$missing $1"
    packages="$packages $2"
}

for tool in "$@"; do
    case $tool in
    clang)
        clang=$(common/make/find-clang.sh)
        there=$(command -v "$clang" 2>/dev/null)
        able="$clang $(stat -L -c '%n %s %Y' "$there" 2>/dev/null)"
        if [ -z "$there" ]; then
            want "clang (14 or newer)" clang
        elif [ "$(cat .build/able-clang 2>/dev/null)" = "$able" ]; then
            continue
        elif ! "$clang" --print-targets 2>/dev/null | grep -q nvptx64; then
            echo "$clang cannot write PTX: it was built without the NVPTX target. The distribution's package can: $(install_command clang)" >&2
            exit 1
        elif [ "$("$clang" -dumpversion | cut -d. -f1)" -lt 14 ]; then
            want "clang 14 or newer ($clang is $("$clang" -dumpversion))" clang
        else
            mkdir -p .build && echo "$able" >.build/able-clang
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
    echo "Not found:$missing. Install it with:  $(install_command $packages)   (or all that is needed: make setup)" >&2
    exit 1
fi

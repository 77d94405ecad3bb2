#!/bin/bash
# doctor.sh: lists what is installed, what is missing, and the command that installs it. Exit 1 when the chosen lane cannot run.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh

bad=0
line() { printf '  %-14s %s\n' "$1" "$2"; }
# Prints a tool's version, or what needs it and how to install it. A missing tool of the labs makes the exit status 1.
tool() { # name, package, used for, needed: labs or tests
    local version
    if command -v "$1" >/dev/null 2>&1; then
        version=$("$1" --version 2>/dev/null | grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)*' | head -n 1)
        line "$1" "${version:-here}"
    else
        line "$1" "missing, needed $3: $(common/make/need.sh --command "$2")"
        if [ "$4" = labs ]; then bad=1; fi
    fi
}

# shellcheck source=/dev/null
system=$(. /etc/os-release 2>/dev/null && echo "$PRETTY_NAME")
echo "system"
line os "${system:-unknown} $(uname -m), $(nproc) cores"
line make "$(${MAKE:-make} --version | head -n 1)"

echo "sim lane (the software GPU)"
clang=$(common/make/find-clang.sh)
if trouble=$(common/make/need.sh clang 2>&1); then
    line clang "$("$clang" --version | head -n 1)"
    if echo 'int main(void) { return 0; }' | "$clang" -xc -fsanitize=address,undefined -o /dev/null - >/dev/null 2>&1; then
        line sanitizers "here"
    else
        line sanitizers "missing, needed for make test: make setup"
    fi
else
    line clang "$trouble"
    [ "$DEVICE" = gpu ] || bad=1
fi
tool readelf binutils 'to look at a submission' labs
tool objdump binutils 'to look at a submission' labs
tool c++filt binutils 'to name what a submission calls' labs
tool addr2line binutils 'to name the line of a loop without an end' tests
if unshare -rm true 2>/dev/null; then
    line unshare "here: make check compiles where the solutions cannot be seen"
else
    line unshare "refused by this machine, or not here: make check compiles where the solutions can be seen"
fi

echo "gpu lane (a real GPU)"
if command -v "${NVCC:-nvcc}" >/dev/null 2>&1; then
    line nvcc "$("${NVCC:-nvcc}" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
else
    line nvcc "not here; only this lane needs it (NVIDIA's CUDA toolkit)"
    [ "$DEVICE" = sim ] || bad=1
fi
if gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1) && [ -n "$gpu" ]; then
    line gpu "$gpu"
    if command -v ncu >/dev/null 2>&1; then line ncu "$(ncu --version | tail -n 1)"; else line ncu "not here: counters on this lane will be n/a"; fi
else
    line gpu "none answers (nvidia-smi); the sim lane needs none"
    [ "$DEVICE" = sim ] || bad=1
fi

echo "grading and tests"
tool bats bats 'for make test' tests
tool timeout coreutils 'for make check' tests
tool patch patch 'for make test' tests
tool shellcheck shellcheck 'for make lint' tests
tool clang-format clang-format 'for make lint' tests
tool cppcheck cppcheck 'for make lint' tests
tool gnuplot gnuplot-nox 'to draw: make roofline0' tests

echo
if [ "$bad" = 0 ]; then
    echo "Lane: $DEVICE${PROFILE:+, PROFILE=$PROFILE}. All that 'make lab3' needs is here."
else
    echo "Lane: $DEVICE${PROFILE:+, PROFILE=$PROFILE}. Something that 'make lab3' needs is missing; on Debian, Ubuntu and Fedora 'make setup' installs it."
    exit 1
fi

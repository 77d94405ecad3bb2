#!/bin/sh
# setup.sh: installs what the sim lane and the tests need, with the system's package manager. Says what it installs;
# does nothing when all is there. Uses sudo only where we are not root.
set -eu
cd "$(dirname "$0")/../.."

# The sanitizers' run-time library is a package of its own on Debian, named after clang's version.
sanitizers_work() {
    clang=$(common/make/find-clang.sh)
    command -v "$clang" >/dev/null 2>&1 || return 1
    dir=$(mktemp -d)
    echo 'int main(void) { return 0; }' >"$dir/a.c"
    if "$clang" -fsanitize=address,undefined -o "$dir/a" "$dir/a.c" >/dev/null 2>&1; then ok=0; else ok=1; fi
    rm -r "$dir"
    return $ok
}

# The package manager tells a long story; it is read only when it ends badly.
quietly() {
    log=$(mktemp)
    if "$@" >"$log" 2>&1; then
        rm "$log"
        return
    fi
    cat "$log" >&2
    rm "$log"
    echo "setup: this failed: $*" >&2
    exit 1
}

packages=
for pair in clang:clang make:make bats:bats shellcheck:shellcheck clang-format:clang-format cppcheck:cppcheck readelf:binutils objdump:binutils git:git awk:gawk patch:patch ps:procps; do
    program=${pair%%:*} package=${pair##*:}
    if [ "$program" = clang ]; then
        common/make/need.sh clang 2>/dev/null && continue
    elif command -v "$program" >/dev/null 2>&1; then
        continue
    fi
    case " $packages " in *" $package "*) ;; *) packages="$packages $package" ;; esac
done

if [ -z "$packages" ] && sanitizers_work; then
    echo "setup: everything is there already: clang, make, bats, shellcheck, clang-format, cppcheck, binutils."
    exit 0
fi

sudo=
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "setup: to install$packages this must be root, and there is no sudo. As root: make setup" >&2
        exit 1
    }
    sudo=sudo
fi

if command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    echo "setup: fetching the list of packages ..."
    $sudo apt-get update -qq
    # Known only now: which clang this release has, and how it names the sanitizers' package.
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    sanitizers_work || for p in "libclang-rt-$version-dev" "libclang-common-$version-dev"; do
        if apt-cache show "$p" >/dev/null 2>&1; then
            packages="$packages $p"
            break
        fi
    done
    echo "setup: installing$packages ..."
    # shellcheck disable=SC2086 # the list is meant to be split
    quietly $sudo apt-get install -y -qq --no-install-recommends $packages
elif command -v dnf >/dev/null 2>&1; then
    sanitizers_work || packages="$packages libclang-rt-dev"
    # shellcheck disable=SC2086
    command=$(common/make/need.sh --command $packages | sed 's/dnf install/dnf install -y/')
    echo "setup: installing: $command"
    # shellcheck disable=SC2086
    quietly $command
else
    echo "setup: neither apt-get nor dnf here. Please install:$packages, and clang's sanitizer run-time library" >&2
    exit 1
fi

sanitizers_work || {
    echo "setup: clang is there but cannot link a program with -fsanitize=address: install the compiler-rt package that belongs to it" >&2
    exit 1
}
echo "setup: done. Next: make lab3"

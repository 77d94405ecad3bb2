#!/bin/sh
# install-command.sh PACKAGE...: prints the command that installs these (named as Debian names them) on this system.
sudo=
[ "$(id -u)" = 0 ] || sudo='sudo '
if command -v apt-get >/dev/null 2>&1; then
    echo "${sudo}apt-get install --no-install-recommends $*"
elif command -v dnf >/dev/null 2>&1; then
    names=
    for p in "$@"; do
        case $p in
        shellcheck) p=ShellCheck ;;
        clang-format) p=clang-tools-extra ;;
        libclang-rt-*) p=compiler-rt ;;
        gnuplot-nox) p=gnuplot ;;
        esac
        names="$names $p"
    done
    echo "${sudo}dnf install --setopt=install_weak_deps=False$names"
else
    echo "your package manager: install $*"
fi

#!/bin/bash
# simgpu.sh: `make simgpu` builds SimGPU for programs from elsewhere, in $B: bin/simcc takes nvcc's place, lib/ has the
# runtime's libraries, include/ the headers. `make install-simgpu PREFIX=folder` copies them to a folder of their own,
# which may be moved: every path in it is relative. Both say what to type then.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

[ "$DEVICE-$CUDA_COMPILER" = sim-clang ] || die "make simgpu builds the software GPU: make simgpu DEVICE=sim"
need_compilers
build kit

kit=$PWD/$B
if [ "${1:-}" = install ]; then
    [ -n "${PREFIX:-}" ] || die "make install-simgpu needs a folder of its own: make install-simgpu PREFIX=\$HOME/simgpu"
    [ ! -e "$PREFIX/include" ] || [ -f "$PREFIX/lib/simgpu/simcc.conf" ] ||
        die "PREFIX=$PREFIX has an include folder of others. SimGPU's headers have the names of CUDA's, so it wants a folder of its own, as CUDA does."
    mkdir -p "$PREFIX"/{bin,lib/simgpu}
    PREFIX=$(realpath "$PREFIX")
    rm -rf "$PREFIX/include"
    cp -r common/simgpu/include "$PREFIX/include"
    cp "$kit"/bin/sim* "$PREFIX/bin/"
    cp -P "$kit"/lib/lib{cu*.{so,a},nvrtc*.so}* "$PREFIX/lib/"
    find "$kit/lib/simgpu" -maxdepth 1 -type f -exec cp -t "$PREFIX/lib/simgpu" {} + # headers.sh's folders are for this place alone
    cp -r -P "$kit/lib64" "$kit/cuda" "$PREFIX/"
    cp LICENSE "$PREFIX/lib/simgpu/"
    kit=$PREFIX
fi

short=$kit
case $kit in "$PWD"/*) short=${kit#"$PWD"/} ;; esac
cat <<END
SimGPU is in $short. To compile a CUDA program for it, and run it:

    $short/bin/simcc program.cu -o program
    ./program

In another project's folder:

    export PATH=$kit/bin:\$PATH
    make NVCC=simcc CUDA_PATH=$kit/cuda
    PATH=$kit/cuda/bin:\$PATH make      # where a Makefile says nvcc
    cmake -DCMAKE_CUDA_COMPILER=simcc ...
    LD_LIBRARY_PATH=$kit/lib ./a-program-of-nvcc      # one that nvcc linked with -cudart shared
    simgpu run ./program

handouts/your-own-programs.md says more.
END

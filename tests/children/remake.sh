#!/bin/bash
# remake.sh: makes children.ptx again, nvcc's PTX of children.cu, for machines without nvcc. Needs nvcc (made with 13.0).
set -eu
cd "$(dirname "$0")"
nvcc -std=c++17 -rdc=true -lineinfo -gencode arch=compute_75,code=compute_75 -ptx -o children.ptx children.cu
sed -i "s,\"[^\"]*/\([^/\"]*\)\",\"\1\"," children.ptx # no folders of this machine

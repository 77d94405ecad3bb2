#!/bin/bash
# probe.sh: measures the GPU of this machine and its host, in under two minutes, and writes a profile of them for SimGPU:
# common/simgpu/profiles/NAME.conf, with device, driver, date, and the spread of each figure.
#
#   NAME=mine    the profile's name; without it the card's (h100), with -probe behind it where such a profile is there
#
# It measures what one measurement can give (common/probe): the host's calls, copies, allocations, graphs; the chip's
# properties, its memory's rates and latencies, its pipes. Other constants of the model of kernels follow from many
# kernels (make bench-clock, handouts/how-simgpu-tells-time.md); they keep the value of the profile that the new one is
# made from, and say so: h200's, or that of NAME if it is there.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

[ "$DEVICE" = gpu ] || die "make probe measures a real GPU, and this is the lane of the software GPU. On a machine with a GPU and nvcc: DEVICE=gpu make probe"
need nvcc
profiles=common/simgpu/profiles
card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
own=$(card_name)
base=h200
if [ -f "$profiles/$own.conf" ]; then base=$own; fi
name=${NAME:-$own}
if [ -z "${NAME:-}" ] && [ -f "$profiles/$own.conf" ]; then name=$own-probe; fi
[[ $name =~ ^[a-z0-9][a-z0-9-]*$ ]] || die "NAME=$name: a name of small letters, digits and dashes"
echo "measuring $card and its host, about a minute ..."
probe "$base" | tee "$B/probe.tsv"
awk -v base="$base" -v name="${name^^}" -f common/probe/merge.awk "$B/probe.tsv" "$profiles/$base.conf" >"$B/probe.conf"
{
    gpu_caption | sed 's/$/, by make probe/'
    echo "# The host: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) threads."
    echo "# key = value, a line each; common/simgpu/time/profile.def gives the meaning and unit of each key."
    cat "$B/probe.conf"
} >"$profiles/$name.conf"
echo "written: $profiles/$name.conf (DEVICE=sim make lab3 PROFILE=$name)"

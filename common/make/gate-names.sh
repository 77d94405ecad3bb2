#!/bin/bash
# gate-names.sh N: what gate.sh holds the names of a submission to lab N against, a line each: `entry NAME`, what it must
# define; `wrap NAME`, what a header's macro made of a name of CUDA's; `may NAME`, what it may ask for: common/make/allow.txt,
# the lab's own tests/labN/allow.txt, CUDA's functions by the table (the judge's --calls), what the lab's header offers,
# what nvcc adds, and what the reference calls.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

n=$1
judge=$B/judge/lab$n
{
    "$judge" --entries | sed 's/^/entry /'
    "$judge" --wraps | sed 's/^--wrap=/wrap /'
    allowed=(common/make/allow.txt "$(lab_tests "$n")/allow.txt")
    [ -f "${allowed[1]}" ] || unset 'allowed[1]'
    sed 's/#.*//; s/[ \t]*$//; /./!d; s/^/may /' "${allowed[@]}"
    "$judge" --calls | sed 's/^/may /'
    readelf --dyn-syms -W "$judge" | awk '$7 != "UND" && $8 != "" && $8 !~ /^__wrap_/ { print "may", $8 }'
    # For the host, nvcc gives each __device__ function that is not static a body that only calls exit.
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then echo may exit; fi
    readelf -sW "$B/reference/lab$n.o" | awk '$7 == "UND" && $8 != "" { print "may", $8 }'
} | sort -u

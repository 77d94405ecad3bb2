# shellcheck shell=bash
# Which version of a lab's file is meant, and what it takes to build it. To be sourced after lib.sh.
#
#   variant N WHERE    prints the variant's name; stages a submission first. WHERE: `labs`, `solutions`, `starter`,
#                      another tree (WHERE/lab3-transpose/transpose.cu or WHERE/transpose.cu), or a .cu file, or a
#                      .patch against one (whole.sh)
#   submission FILE    the name of a submitted file's variant
#   submitted N WHERE  prints lab N's file in such a tree, or fails
#   need_compilers     exits with a message when this lane's compiler is missing
#
# DESK=folder puts what is made from submissions into a folder of its own below $B, so that two can be graded at once.

variant() {
    local where=${2%/} source whole name
    lab_dir "$1" >/dev/null || exit 1
    case $where in
    labs)
        [ -n "${BLUEBAR_MINE:-}" ] || need_file "$(lab_dir "$1")/$(lab_file "$1")" "$1" || exit 1
        # The handouts show the starter, whatever the reader has done to it since (docs.sh).
        echo "${BLUEBAR_MINE:-mine}"
        return
        ;;
    solutions) echo reference && return ;;
    starter) echo starter && return ;;
    esac
    source=$(submitted "$1" "$where") || die "SUBMISSION=$2: neither $where/$(basename "$(lab_dir "$1")")/$(lab_file "$1") nor $where/$(lab_file "$1") is there."
    whole=$(common/make/whole.sh "$source") || exit 1
    name=${DESK:+$DESK/}$(submission "$source")
    common/make/stage.sh "$whole" "$whole" "$B/$name/lab$1.cu"
    echo "$name"
}

# The end of the path, for people; and the checksum of all of it, since ann/lee and ann_lee look alike there.
submission() {
    local sum
    sum=$(printf %s "$1" | cksum)
    echo "sub-$(printf %s "$1" | tail -c 100 | LC_ALL=C tr -c 'A-Za-z0-9.-' _)-${sum%% *}"
}

submitted() {
    local dir file f
    dir=$(lab_dir "$1") || exit 1
    file=$(lab_file "$1") || exit 1
    for f in "$2/${dir#labs/}/$file" "$2/$file" "$2"; do
        if [ -f "$f" ]; then
            echo "$f"
            return
        fi
    done
    return 1
}

need_compilers() {
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then need nvcc nm objcopy; fi
    if [ "$DEVICE" = sim ]; then need clang nm objcopy; fi
}

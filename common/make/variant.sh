# shellcheck shell=bash
# Which version of a lab's file is meant, and what it takes to build it. To be sourced after lib.sh.
#
#   variant N WHERE    prints the variant's name; stages a submission first. WHERE: `labs`, `solutions`, `starter`,
#                      another tree (WHERE/lab3-transpose/transpose.cu or WHERE/transpose.cu), or a .cu file, or a
#                      .patch against one (whole.sh)
#   need_compilers     exits with a message when this lane's compiler is missing

variant() {
    local dir file where=${2%/} source whole
    dir=$(lab_dir "$1") || exit 1
    file=$(lab_file "$1") || exit 1
    case $where in
    labs)
        # The handouts show the starter, whatever the reader has done to it since (docs.sh).
        echo "${BLUEBAR_MINE:-mine}"
        return
        ;;
    solutions) echo reference && return ;;
    starter) echo starter && return ;;
    esac
    source=
    for f in "$where/${dir#labs/}/$file" "$where/$file" "$where"; do
        if [ -f "$f" ]; then
            source=$f
            break
        fi
    done
    [ -n "$source" ] || die "SUBMISSION=$2: neither $where/${dir#labs/}/$file nor $where/$file is there."
    whole=$(common/make/whole.sh "$source") || exit 1
    name=sub-$(printf %s "$source" | tr -c 'A-Za-z0-9.-' _)
    common/make/stage.sh "$whole" "$whole" "$B/$name/lab$1.cu"
    echo "$name"
}

need_compilers() {
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then need nvcc nm objcopy; fi
    if [ "$DEVICE" = sim ]; then need clang nm objcopy; fi
}

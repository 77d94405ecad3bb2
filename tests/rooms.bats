#!/usr/bin/env bats
# The rooms of common/simgpu: arrows between them run one way, through published headers only, and no name of the
# library is without its room's prefix.

# bats file_tags=quick

load helper

setup_file() { build "$B/libsimgpu.a"; }

# What a file of each room may include of other rooms. Every room may include include/.
published() {
    case $1 in
    base) ;;
    words) echo base/base.h ;;
    ptx) echo base/base.h ;;
    exec) echo base/base.h ptx/ptx.h ptx/decode.h ptx/opcodes.def ;;
    time) echo base/base.h ptx/ptx.h exec/exec.h ;;
    check) echo base/base.h ptx/ptx.h ptx/decode.h exec/exec.h exec/listen.h time/time.h time/listen.h ;;
    cudart) echo base/base.h ptx/ptx.h exec/exec.h time/time.h check/check.h ;;
    driver) echo base/base.h ptx/ptx.h cudart/rt.h ;;
    tools) echo base/base.h ptx/ptx.h ptx/decode.h exec/exec.h time/time.h ;;
    include) ;;
    *) return 1 ;;
    esac
}

# wrong_arrows FOLDER: each #include of a room below it that the list above does not have.
wrong_arrows() {
    local file line room target allowed
    (cd "$1" && grep -rnE --include='*.c' --include='*.h' --include='*.def' '^ *# *include +"' -- *) | while IFS=: read -r file line target; do
        case $file in include/unsupported/*) continue ;; esac # stubs, each with one line (messages.bats)
        room=${file%%/*} target=${target#*\"} target=${target%%\"*}
        case $file:$target in */*/*:../[!.]*) continue ;; esac # from a folder of the room into the room
        case $target in
        ../*) target=${target#../} ;;
        */*) ;;
        *) continue ;; # of its own room, or made by the build
        esac
        case ${target%%/*} in "$room" | include) continue ;; esac
        allowed=" $(published "$room") "
        [[ $allowed == *" $target "* ]] || echo "$file:$line: $room/ may not include $target"
    done
}

@test "rooms include one way: base, ptx, exec, time, cudart, driver; check listens" {
    run wrong_arrows common/simgpu
    echo "$output"
    [ -z "$output" ]
    # Every folder with code is a room with a rule.
    for folder in common/simgpu/*/; do
        folder=$(basename "$folder")
        [ -z "$(find "common/simgpu/$folder" -name '*.[ch]')" ] || published "$folder"
    done
}

@test "an arrow that runs back, or past a published header, is found" {
    cd "$BATS_TEST_TMPDIR"
    mkdir base ptx exec time check cudart
    touch {base,ptx,exec,time,check,cudart}/fine.h
    echo '#include "../exec/exec.h"' >ptx/back.c
    echo '#  include "../time/time.h" /* why not */' >exec/back.h
    printf '\n#include "../exec/contention.h"\n' >time/inside.c
    echo '#include "../check/check.h"' >exec/listener.c
    echo '#include "../ptx/ptx.h"' >base/back.c
    echo '#include "../exec/warp.h"' >check/inside.c
    printf '#include "../time/time.h"\n#include "rt.h"\n#include "../include/simgpu.h"\n' >cudart/fine.c
    run wrong_arrows .
    diff <(sort <<<"$output") - <<'END'
base/back.c:1: base/ may not include ptx/ptx.h
check/inside.c:1: check/ may not include exec/warp.h
exec/back.h:1: exec/ may not include time/time.h
exec/listener.c:1: exec/ may not include check/check.h
ptx/back.c:1: ptx/ may not include exec/exec.h
time/inside.c:2: time/ may not include exec/contention.h
END
}

# names OBJECT...: the global names that they define.
names() { nm -g --defined-only "$@" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u; }

@test "every global name of the library has its room's prefix" {
    local room prefix objects
    for room in base words ptx exec time check cudart driver; do
        prefix="${room}_"
        case $room in cudart) prefix='(rt_|cuda|__cuda|simgpu)' ;; words) prefix=simgpu ;; driver) prefix='(drv_|cu[A-Z]|nvrtc)' ;; esac
        # What the library is made of, not what else an older build has left there.
        mapfile -t objects < <(make -s --eval 'objects: ; @printf "%s\n" $(SIMGPU_OBJ)' objects | grep "/$room/")
        names "${objects[@]}" >"$BATS_TEST_TMPDIR/names"
        [ -s "$BATS_TEST_TMPDIR/names" ]
        run grep -vE "^$prefix" "$BATS_TEST_TMPDIR/names"
        echo "$room/: $output"
        [ -z "$output" ]
    done
}

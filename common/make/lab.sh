#!/bin/bash
# lab.sh WHAT [N]: the commands about one lab (make lab3, watch3, lines3, hint3, predict3, solution3, diff3, reset3, roofline0, bench).
#
#   run       builds and runs the student's file (or SUBMISSION), prints the score card; exit 0 when it ran
#   watch     runs it again at each save of the file, until Ctrl-C (common/bluebar/watch.c)
#   lines     the student's source with counters beside each line
#   solution  the same card for the reference solution
#   hint      the next hint for ROW, or the first row that is not full (common/bluebar/hint.c)
#   predict   asks what the next run will measure; the run then shows both (common/bluebar/predict.c)
#   diff      the starter against the student's file
#   reset     back to the starter, after a y/n, keeping a backup
#   roofline  lab 0 only: five kernels under the machine's roof, as an SVG file, drawn by gnuplot
#   bench     the table of rungs and sizes; measured on a GPU it goes into handouts/measured/, where the handout takes it from
#   unknown   make's message about a goal N without a rule
set -eu -o pipefail
cd "${0%/*}/../.."
. common/make/lib.sh

what=$1 n=${2:-${LAB:-3}}
if [ "$what" = unknown ]; then
    case $n in
    # A source that is gone, which an old build knew: what was made of it is made anew, or not at all.
    labs/*.[ch] | labs/*.cu | labs/*.cuh | tests/*.[ch] | tests/*.cu | common/*.[ch] | solutions/*.cu) exit ;;
    lab[0-9]* | lines[0-9]* | hint[0-9]* | predict[0-9]* | watch[0-9]* | diff[0-9]* | reset[0-9]* | solution[0-9]*) lab_dir "${n##*[a-z]}" >/dev/null ;;
    esac
    die "make $n: no such command, and no such file to build. 'make' alone lists the commands."
fi
dir=$(lab_dir "$n")
file=$(lab_file "$n")
mine=$dir/$file
[ "$what" != diff ] || need_file "$mine" "$n"

# Runs a command (limited PROGRAM, apart PROGRAM) for its output. 141 is not a failure: the reader, `head` for one, has closed the pipe.
show() {
    local status=0
    "$@" || status=$?
    [ "$status" = 141 ] || return "$status"
}

# Builds the lab program of $variant. Its place in $program, that of its run's record in $record.
compile() {
    need_compilers
    [ "$DEVICE" != gpu ] || [ -z "${TRACE:-}" ] || trace_card
    program=$B/$variant/lab$n
    record=$program${PROFILE:+.$PROFILE}.tsv # of another card it is another record
    case $variant in
    reference | starter) build "$program" || exit 1 ;;
    *)
        build_parts "$n" "$program.cu" || exit 1
        compiled "$n" "$program"
        [ -z "$refused" ] || exit 1
        ;;
    esac
}

# What other programs than the student's measure with the seed of these runs (common/lab/others.c) is taken from an earlier run, which
# is half of the time of one: theirs, or that of the texts and the tests (BLUEBAR_OTHERS). A program, a judge or a SimGPU that is
# newer measures anew. So does a run with a setting of SimGPU's, whose report has all programs in it.
beside=()
take_others() {
    local setting file made
    [ "$DEVICE" = sim ] || return 0
    if [ -z "${BLUEBAR_OTHERS:-}" ]; then
        for setting in "${!SIMGPU_@}" TRACE LAB4_COUNT; do
            [ "$setting" = SIMGPU_THREADS ] || [ -z "${!setting:-}" ] || return 0
        done
        BLUEBAR_OTHERS=$B/others
    fi
    file=$(others "$n" 2048)
    if [ "$BLUEBAR_OTHERS" = "$B/others" ]; then
        for made in "$B/judge/lab$n" "$B"/{starter,reference,ladder}/lab"$n.so" "$B/lib/libcudart.so"; do
            if [ "$made" -nt "$file" ]; then rm -f "$file"; fi
        done
    fi
    beside=(--others "$file")
}

# Where this reader's predictions of $variant are kept; each submission has its own. The starter has none.
predictions() {
    case $variant in mine) echo ".build/predictions/lab$n.tsv" ;; *) echo ".build/predictions/${variant##*/}-lab$n.tsv" ;; esac
}

# Adds this version of the student's file to its history, which `make rank` shows, unless it is the last one there.
remember() {
    local history=.build/history/$DEVICE/lab$n.tsv last='' points of us
    mkdir -p "${history%/*}"
    if [ -s "$history" ]; then last=$(tail -n 1 "$history" | cut -f 1); fi
    if [ "$last" = "$source_sum" ]; then return; fi
    read -r points of <<<"$(score "$record")"
    us=$(awk -F '\t' '$1 == "figure" && ($2 == "time" || $2 == "time-dense") && $4 == "us" { print $3; exit }' "$record")
    printf '%s\t%s\t%s\t%s\t%s\n' "$source_sum" "$(date +%F)" "$points" "$of" "${us:--}" >>"$history"
}

case $what in
run)
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    [ "$variant" != mine ] || source_sum=$(bluebar sum "$mine")
    compile
    # A record is of this run or of none: a crash must not leave the old score standing. The last whole one is kept beside it.
    if score "$record" >/dev/null; then mv -f "$record" "$record.before"; else rm -f "$record"; fi
    take_others
    stay_near
    limited "$program" --record "$record" ${beside[@]+"${beside[@]}"} || stopped=$?
    [ "${stopped:-0}" != 124 ] || exit 1
    score "$record" >/dev/null || die "lab$n ended before its last row (exit status ${stopped:-0}): see the message above. No score."
    # By this, `make` knows whether the score is of the file as it is now.
    [ "$variant" != mine ] || echo "$source_sum" >"$record.sum"
    if [ "$variant" = mine ] && [ -z "${PROFILE:-}" ]; then remember; fi
    # The texts show the starter's run, not what a reader did before it (docs.sh).
    [ -n "${BLUEBAR_MINE:-}" ] || [ ! -f "$record.before" ] || show bluebar changed "$record" "$record.before"
    show bluebar predicted "$n" "$record" "$(predictions)"
    ;;
hint)
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    compile
    if [ ! -f "$record" ] || [ "$program.so" -nt "$record" ] || ! score "$record" >/dev/null; then
        echo "running lab $n to see where it stands ..."
        rm -f "$record"
        take_others
        limited "$program" --record "$record" ${beside[@]+"${beside[@]}"} >/dev/null 2>&1 || true
    fi
    case $variant in mine | starter) who= ;; *) who=${variant##*/}- ;; esac
    bluebar hint "$n" "$record" "${BLUEBAR_HINTS:-.build/hints}/${who}lab$n"
    ;;
watch)
    where=${SUBMISSION:-labs}
    variant=$(variant "$n" "$where")
    if [ "$where" = labs ]; then source=$mine; else source=$(submitted "$n" "${where%/}"); fi
    exec "$BLUEBAR" watch "$source" "$B/$variant/lab$n${PROFILE:+.$PROFILE}.tsv" -- common/make/lab.sh run "$n"
    ;;
predict)
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    bluebar predict "$n" "$(predictions)"
    ;;
lines)
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    compile
    show limited "$program" --lines
    ;;
solution)
    variant=reference
    compile
    echo "solutions/${dir#labs/}/$file, on this machine:"
    take_others
    show limited "$program" --solution --record "$record" ${beside[@]+"${beside[@]}"}
    ;;
diff)
    if cmp -s "$(lab_starter "$n")" "$mine"; then
        echo "$mine is the starter, unchanged."
    else
        diff -u --label "starter/$file" --label "$mine" "$(lab_starter "$n")" "$mine" || true
    fi
    ;;
reset)
    if [ ! -e "$mine" ]; then
        cp "$(lab_starter "$n")" "$mine"
        echo "$mine was gone. The starter is in its place."
        exit 0
    fi
    if cmp -s "$(lab_starter "$n")" "$mine"; then
        echo "$mine is the starter already. Nothing to do."
        exit 0
    fi
    backup=$mine.bak
    i=1
    while [ -e "$backup" ]; do
        i=$((i + 1))
        backup=$mine.bak$i
    done
    printf 'Put the starter back in place of %s? Your version is kept as %s. [y/n] ' "$mine" "$backup"
    read -r answer || answer=n
    case $answer in
    y | Y | yes)
        cp "$mine" "$backup"
        cp "$(lab_starter "$n")" "$mine"
        echo "Done. To have yours again: cp $backup $mine"
        ;;
    *) echo "Nothing changed." ;;
    esac
    ;;
roofline)
    command -v gnuplot >/dev/null || die "make roofline$n draws with gnuplot, which is not here: $(common/make/need.sh --command gnuplot-nox). The picture in characters needs nothing: make lab$n"
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    compile
    apart "$program" --roofline >"$B/$variant/roofline$n.gp"
    gnuplot "$B/$variant/roofline$n.gp" >"$B/$variant/roofline$n.svg"
    echo "drawn: $B/$variant/roofline$n.svg (a browser shows it)"
    ;;
bench)
    variant=reference
    [ "$DEVICE" = gpu ] || variant=$(variant "$n" "${SUBMISSION:-labs}")
    compile
    if [ "$DEVICE" = sim ]; then
        show apart "$program" --bench
        exit
    fi
    common/make/bench.sh record "$program" "${dir#labs/}"
    ;;
esac

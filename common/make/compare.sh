#!/bin/bash
# compare.sh N: a lab's timeline of a real card above that of the virtual one, on one scale, and the times of both.
#
# On a machine with a GPU: of the student's file (or SUBMISSION), traced through CUPTI. Elsewhere: of the reference, whose
# trace on an H200 is in handouts/measured.
#
# Of the labs whose jobs can be alike in both lanes (lab_small_job of common/lab/lab.h).
#
#   MARK=view    another stretch of the run than the longest one of the virtual trace
#   RECORD=1     on a GPU, with MARK: writes that record of the reference
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

n=$1 lane=$DEVICE
dir=$(lab_dir "$n")
record=handouts/measured/${dir#labs/}-trace.json
folder=.build/compare/lab$n
grep -rqs lab_small_job "$dir" || die "compare$n: the two lanes of lab $n have jobs of different sizes, so their times cannot be compared. make compare1, 3, 4 and 6 can."
mkdir -p "$folder"

# Runs the variant's program with a trace: traced sim|gpu VARIANT FILE.
traced() {
    export DEVICE=$1 B=.build/$1
    need_compilers
    if [ "$1" = gpu ]; then trace_card; fi
    build "$B/$2/lab$n" || exit 1
    LAB_SIZE=sim TRACE=$3 limited "$B/$2/lab$n" >/dev/null
}

if [ -n "${RECORD:-}" ]; then
    traced gpu reference "$folder/card.json"
    awk -f common/make/compare.awk -v cut="${MARK:?names the stretch}" "$folder/card.json" >"$record"
    echo "written: $record"
    exit
fi
variant=reference card=$record
if [ "$lane" = gpu ]; then
    B=.build/sim variant "$n" "${SUBMISSION:-labs}" >/dev/null # a submission is staged in both lanes
    variant=$(variant "$n" "${SUBMISSION:-labs}")
    card=$folder/card.json
    traced gpu "$variant" "$card"
elif [ ! -f "$record" ]; then
    die "compare$n: no trace of lab $n on a card is here ($record). On a machine with a GPU: make compare$n."
elif [ -n "${SUBMISSION:-}" ]; then
    die "compare$n: without a GPU it compares the reference, whose trace on a card was recorded; of $SUBMISSION there is none."
fi
traced sim "$variant" "$folder/virtual.json"
mark=${MARK:-$(awk -f common/make/compare.awk -v longest=1 "$folder/virtual.json")}
build "$B/timeline_svg"
"$B/timeline_svg" --pair "$mark" "$card" "$folder/virtual.json" >"$folder.svg"
awk -f common/make/compare.awk -v mark="$mark" "$card" "$folder/virtual.json"
echo "drawn: $folder.svg (a browser shows it)"

#!/bin/bash
# fidelity.sh: how near SimGPU's clock and counters are to a real card's, on kernels that its model was not made from.
#
# On a GPU: records times and Nsight Compute's counters in handouts/measured/fidelity.tsv and fidelity-counters.tsv (of
# another card than an H200: fidelity-h100.tsv and so on, and clock-h100.tsv). Hosts differ more than cards, so the scenarios
# of the host (fidelity-host.tsv) and the labs' ladders (fidelity-ladders.tsv: --bench of each lab, its jobs as large as on
# SimGPU) stand beside a probe of that machine (fidelity-host-probe.tsv, by make probe's programs, between the others' runs),
# and their virtual times are by its figures: HOST=1 records these three alone.
# On SimGPU: each recorded kernel and scenario by each compiler that is here (CLANG, the newest clang, nvcc), and those of
# bench-clock and of the labs' ladders, beside the records. A line a kernel: .build/sim/fidelity/kernels.tsv.
#
#   COMPILERS="clang-14 nvcc" (only these)   ONLY=gather (only names with this in them)   PROFILE=h100
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

here=tests/fidelity
measured=handouts/measured
# Those behind the first line were written later, blind (handouts/how-simgpu-tells-time.md).
kernels=(stencil reduce sort gather dense neural science integer
    image linear learning vectors physics data codes
    classic mixed students engineers
    textbook lectures exercises makers campus visitors annex seminar evening)
folder=$B/fidelity

# As files of the record are named: those of an H200 have no card in their names.
suffix() { case $1 in h200) ;; *) echo "-$1" ;; esac }

record() {
    local card p out
    need nvcc
    card=$(card_name)
    out=$measured/fidelity$(suffix "$card")
    record_host "$card" "$out"
    [ -z "${HOST:-}" ] || return 0
    build "${kernels[@]/#/$folder/}"
    {
        gpu_caption
        printf 'set\tname\tus\n'
        for p in "${kernels[@]}"; do apart "$folder/$p" | sed 's/^/kernels\t/'; done
    } | tee "$folder/times.tsv"
    cp "$folder/times.tsv" "$out.tsv"
    echo "written: $out.tsv"
    # make bench-clock has an H200's.
    if [ "$card" != h200 ]; then
        build "$B/bench-clock"
        { gpu_caption && apart "$B/bench-clock"; } >"$measured/clock-$card.tsv"
        echo "written: $measured/clock-$card.tsv"
    fi
    command -v ncu >/dev/null || { echo "no ncu on this machine: $out-counters.tsv stays as it is" && return; }
    { gpu_caption && $here/counters.sh "$folder" "${kernels[@]}"; } >"$folder/counters.tsv"
    cp "$folder/counters.tsv" "$out-counters.tsv"
    echo "written: $out-counters.tsv"
}

# Scenarios, probe and ladders in turn: the medians of six processes, of five, and of three.
record_host() {
    local r base n references=()
    base=$(base_of "$1")
    for n in $(labs); do references+=("$B/reference/lab$n"); done
    build "$folder/host" "$B/probe/host" "${references[@]}"
    stay_near
    for r in 1 2 3 4 5 6; do
        apart "$folder/host" | sed 's/^/host\t/' >"$folder/host.$r"
        [ "$r" = 6 ] || probe_host "$base" >"$B/probe/host.$r"
        [ "$r" -gt 3 ] || ladders "$folder/ladders.$r"
    done
    { gpu_caption && awk -f common/probe/median.awk "$B"/probe/host.[1-5]; } >"$2-host-probe.tsv"
    { gpu_caption && printf 'set\tname\tus\n' && medians "$folder"/host.[1-6]; } >"$2-host.tsv"
    { gpu_caption && grep '^#' "$folder/ladders.1" && printf 'set\tname\tus\n' && medians "$folder"/ladders.[1-3]; } >"$2-ladders.tsv"
    echo "written: $2-host.tsv, $2-ladders.tsv and $2-host-probe.tsv"
}

# All labs' ladders, into file $1, in jobs of the sim lane's sizes. A lab with no such lines has no ladder.
ladders() {
    local n
    for n in $(labs); do
        LAB_SIZE=sim apart "$B/reference/lab$n" --bench 2>/dev/null | awk -v lab="lab$n" -f $here/ladder.awk
    done >"$1"
}

base_of() { if [ -f "common/simgpu/profiles/$1.conf" ]; then echo "$1"; else echo h200; fi; }

# Of lines SET, NAME, TIME.
medians() {
    awk -F '\t' '/^#/ { next } { key = $1 FS $2 } !(key in n) { order[++names] = key }
        { at = ++n[key]; while (at > 1 && us[key, at - 1] > $3) { us[key, at] = us[key, at - 1]; at-- } us[key, at] = $3 }
        END { for (i = 1; i <= names; i++) { k = n[order[i]]; printf "%s\t%.2f\n", order[i], (us[order[i], int((k + 1) / 2)] + us[order[i], int(k / 2) + 1]) / 2 } }' "$@"
}

compilers() {
    local newest
    newest=$(clangs | tail -n 1)
    basename "$CLANG"
    [ -z "$newest" ] || [ "$(command -v "$newest")" = "$(command -v "$CLANG")" ] || echo "$newest"
    if command -v nvcc >/dev/null; then echo nvcc; fi
}

# Runs one program, COMPILER/NAME: its times and, with the caches as ncu has them, reports of its counters beside it. What
# was run with this program and this SimGPU is not run again.
times() {
    local at=$folder/$1 set=kernels prefix='' k
    local to=$at$kind
    if [ -z "${ONLY:-}" ] && [ "$to.tsv" -nt "$at" ] && [ "$to.tsv" -nt "$B/lib/libcudart.so.13" ] && [ "$to.tsv" -nt "$host_profile" ]; then return; fi
    case $1 in */host) set=host && export PROFILE=$host_profile ;; */bench-clock) set=clock prefix=clock/ ;; esac
    export LD_LIBRARY_PATH=$B/lib SIMGPU_THREADS=1
    # The counters of one clang and of nvcc are enough.
    if [ $set = kernels ] && [[ $1 == $counted/* || $1 == nvcc/* ]]; then
        for k in cold warm; do SIMGPU_REPORT=$to.$k.report apart "$at" --once $k "${ONLY:-}" >/dev/null || return; done
    fi
    # A program that ends before its last kernel leaves no times.
    apart "$at" "${ONLY:-}" >"$to.new" && sed "s,^,$set\t$prefix," "$to.new" >"$to.part" && mv "$to.part" "$to.tsv"
}

# The ladders on SimGPU. Those of the record are of the same jobs, or it is too old.
hold_ladders() {
    local n references=()
    [ -f "$1" ] || return 0
    for n in $(labs); do references+=("$B/reference/lab$n"); done
    build "${references[@]}"
    PROFILE=$host_profile ladders "$folder/labs.virtual"
    [ "$(grep '^# lab' "$1")" = "$(grep '^#' "$folder/labs.virtual")" ] ||
        die "$1 is of other jobs than the labs have now. On that card: DEVICE=gpu HOST=1 make fidelity."
    cp "$1" "$folder/labs.card"
}

hold() {
    local card=${PROFILE:-h200} c p arguments=() targets=() runs=() host_record=()
    local record kind
    kind=$(suffix "$card")${ONLY:+-only}
    record=$measured/fidelity$(suffix "$card")
    if [ -f "$record-host.tsv" ]; then host_record=("$record-host.tsv"); fi
    need_compilers
    # Before a quarter of an hour of runs, not behind them.
    [ -n "${ONLY:-}${COMPILERS:-}" ] || command -v gnuplot >/dev/null ||
        die "the picture takes gnuplot, which is not here: $(common/make/need.sh --command gnuplot-nox)"
    [ -f "$record.tsv" ] || die "there is no record of times of this card ($record.tsv). On that card: DEVICE=gpu make fidelity."
    mapfile -t compiler < <(if [ -n "${COMPILERS:-}" ]; then tr ' ' '\n' <<<"$COMPILERS"; else compilers; fi)
    for p in "${kernels[@]}" host bench-clock; do
        grep -qsF -- "${ONLY:-}" "$here/$p.cu" "tests/$p.cu" || continue
        for c in "${compiler[@]}"; do targets+=("$folder/$c/$p") runs+=("$c/$p"); done
    done
    [ "${#runs[@]}" -gt 0 ] || die "ONLY=$ONLY: no program in $here has such a name."
    FIDELITY="${compiler[*]}" build "${targets[@]}"
    echo "running ${#runs[@]} programs on SimGPU, some minutes the first time ..." >&2
    export -f times apart
    host_profile=$card
    if [ -f "$record-host-probe.tsv" ]; then
        host_profile=$PWD/$folder/host.conf
        awk -v base="$card" -f common/probe/merge.awk "$record-host-probe.tsv" "common/simgpu/profiles/$card.conf" >"$host_profile.new"
        # A file that is the same stays as old as it is: what was run by it is not run again.
        cmp -s "$host_profile.new" "$host_profile" || cp "$host_profile.new" "$host_profile"
    fi
    export folder kind host_profile counted=${compiler[0]}
    printf '%s\n' "${runs[@]}" | xargs -P "$(nproc)" -I {} bash -c 'times {}'

    grep -v '^#' "$measured/clock$(suffix "$card").tsv" 2>/dev/null | sed 's,^,clock\tclock/,' >"$folder/clock.card" || true
    : >"$folder/labs.card"
    : >"$folder/labs.virtual"
    [ -n "${ONLY:-}" ] || hold_ladders "$record-ladders.tsv"
    for c in "${compiler[@]}"; do
        results "$c" tsv | xargs cat >"$folder/$c.times"
        [ "$c" != "${compiler[0]}" ] || cat "$folder/labs.virtual" >>"$folder/$c.times"
        arguments+=("who=$c" "$folder/$c.times")
    done
    echo
    sed -n "1s/^# //p" "$record.tsv"
    host_caption | sed "s/^# //"
    awk -f $here/split.awk -f $here/score.awk -v table="$folder/kernels.tsv" -v summary="$folder/summary.tsv" -v card="${card^^}" \
        who=card "$record.tsv" ${host_record[@]+"${host_record[@]}"} "$folder/clock.card" "$folder/labs.card" "${arguments[@]}"
    printf "compiler\tcounter\tlaunches\twithin\tmedian error\tworst\n" >"$folder/counters.tsv"
    for c in "${compiler[@]}"; do
        if [ -f "$record-counters.tsv" ]; then counters "$c" "$record-counters.tsv"; fi
    done
    printf "\na line a kernel: %s\n" "$folder/kernels.tsv"
    [ -n "${ONLY:-}${COMPILERS:-}" ] || publish "$card" "$record"
}

# Where the host's half was recorded.
host_caption() { [ -z "${host_record[*]-}" ] || sed -n "1s/^# /# the host: /p" "${host_record[@]}"; }

# What handouts/how-simgpu-tells-time.md shows, of card $1 with the record $2.
publish() {
    local f
    mkdir -p handouts/fidelity
    awk -F '\t' 'NR == 1 || ($2 == "report" && far($0))
        function far(line,   f, n, k, yes) { n = split(line, f, "\t"); for (k = 6; k <= n; k += 2) yes = yes || f[k] + 0 > 0.25 || f[k] + 0 < -0.25; return yes }
    ' "$folder/kernels.tsv" | cut -f 1,3- >"$folder/far.tsv"
    awk -F '\t' -v card="${1^^}" '
        NR == 1 { print "lab\trung\t" card " us\tvirtual us\terror" }
        $1 == "labs" { lab = $3; sub(/ .*/, "", lab); sub(/^[^ ]* (ladder\/)?/, "", $3); printf "%s\t%s\t%s\t%s\t%+.0f %%\n", lab, $3, $4, $5, 100 * $6 }
    ' "$folder/kernels.tsv" | sort -s -t "$(printf '\t')" -k 1.4,1n >"$folder/ladders.tsv"
    for f in kernels summary counters far ladders; do
        { head -n 1 "$2.tsv" && host_caption && echo "# virtual ${1^^}, commit $(commit)" && cat "$folder/$f.tsv"; } >"handouts/fidelity/$f$(suffix "$1").tsv"
    done
    gnuplot -e "table='$folder/kernels.tsv'; card='${1^^}'" $here/scatter.gp >"handouts/fidelity/kernels$(suffix "$1").svg"
    echo "written: handouts/fidelity/{kernels,summary,counters,far,ladders}$(suffix "$1").tsv and kernels$(suffix "$1").svg"
}

# The files of compiler $1 that this run has made or found, of the kind $2.
results() {
    local r
    for r in "${runs[@]}"; do
        if [[ $r == $1/* ]] && [ -f "$folder/$r$kind.$2" ]; then echo "$folder/$r$kind.$2"; fi
    done
}

counters() {
    local header reports
    mapfile -t reports < <(results "$1" cold.report && results "$1" warm.report)
    [ "${#reports[@]}" -gt 0 ] || return 0
    header=$(grep -m 1 '^caches' "$2")
    {
        echo "$header"
        awk -v metrics="$(cut -f 7- <<<"$header" | tr '\t' ,)" -f $here/report.awk "${reports[@]}"
    } >"$folder/$1.counters"
    printf '\n%s\n' "$1"
    awk -v who="$1" -v summary="$folder/counters.tsv" -f $here/counters.awk "$2" "$folder/$1.counters"
}

if [ "$DEVICE" = gpu ]; then record; else hold; fi

#!/bin/bash
# check.sh: grades labs with Bats. LAB=3 picks one, SUBMISSION=dir another tree (or a .cu file); the default is labs/.
#
# For each lab: compile the one submitted file, look at its symbols (gate.sh), link it to our own harness, then let Bats
# run it once, with a fresh seed, and turn each row of the record into a test. The verdict is the record's and Bats'
# exit status together; what the program prints decides nothing. Exit 0 only if every row of every lab graded is full.
# With LAB, that lab's file must be there. Without, the labs are graded whose files are there, and a line names the rest.
# Two checks may run at once: they wait for each other where they build what all share, and if they grade the same file.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
. common/make/variant.sh

need bats timeout flock
need_compilers

# A grade does not hang on what the caller has set for SimGPU. (Threads change no result; PROFILE is announced below.)
for setting in "${!SIMGPU_@}" TRACE LAB4_COUNT; do
    [ "$setting" = SIMGPU_THREADS ] || unset "$setting"
done

where=${SUBMISSION:-labs}
# A seed that nobody can know beforehand; SEED=n repeats a run.
seed=${SEED:-$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')}
if [[ ! $seed =~ ^[0-9]{1,20}$ ]] || [ "$(printf '%s\n' "$seed" 18446744073709551615 | sort -n | tail -n 1)" != 18446744073709551615 ]; then
    die "SEED=$seed: a seed is a whole number from 0 to 18446744073709551615, as SEED=7."
fi
seconds=${BUILD_SECONDS:-120} # for the compiler to read a submission
unset BUILD_SECONDS
out=$B/${DESK:+$DESK/}check
mkdir -p "$out"

# The rows of lab $1, from the harness: id, points, sentence. (The program asked is the reference: no student code runs.)
rows() {
    apart "$B/reference/lab$1" --rows | awk -F "\t" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["id"] "\t" $at["points"] "\t" $at["sentence"] }'
}

# Prints the Bats file of lab $1: a test a row, named by the row's sentence.
bats_file() {
    echo "# Made by common/make/check.sh from lab$1 --rows."
    echo "load '$PWD/common/make/check.bash'"
    echo 'setup_file() { run_program; }'
    rows "$1" | while IFS=$'\t' read -r id _ sentence; do
        printf '@test "lab %s: %s" { row %s; }\n' "$1" "$(printf %s "$sentence" | sed 's/[\\"`$]/\\&/g')" "$id"
    done
}

# "45 100" from the record of lab $1, or 0 and the full sum where there is no finished record.
points_of() {
    score "$2" && return
    rows "$1" | awk -F "\t" '{ max += $2 } END { print 0, max + 0 }'
}

# What lab $1's programs have in common, its harness, the reference and SimGPU; one check at a time builds it.
build_common() { (
    flock 9
    build "$B/reference/lab$1" 9>&-
) 9>"$B/common.lock"; }

# The compiler reads what a stranger wrote: it gets nothing to read from us, two minutes, and 6 GB. (nvcc maps more.)
build_apart() { (
    if [ "$DEVICE-$CUDA_COMPILER" = sim-clang ]; then ulimit -v 6000000; fi
    BUILD_SECONDS=$seconds build "$@" </dev/null
); }

# Compiles the submission, looks at it, links it. When it is refused on the way, the reason is printed in full, and here,
# in a few words, for each row.
refused() { export CHECK_REASON="$1, see above"; }
prepare() {
    local n=$1 first=ll
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then first=before; fi
    unset CHECK_REASON
    # What the compiler says is shown after the first look only.
    build_apart "$CHECK_PROGRAM.$first" 2>"$CHECK_LOG.cc" || refused "it does not compile"
    if ! common/make/gate.sh source "$n" "$CHECK_PROGRAM" >&2; then
        refused "it was refused"
    elif [ -n "${CHECK_REASON:-}" ] || ! build_apart "$CHECK_PROGRAM.o" 2>"$CHECK_LOG.cc"; then
        refused "it does not compile"
        grep -v '^make' "$CHECK_LOG.cc" >&2 || echo "lab $n: the compiler did not come to an end in $seconds seconds with 6 GB of memory." >&2
    elif ! common/make/gate.sh names "$n" "$CHECK_PROGRAM" >&2; then
        refused "it was refused"
    elif ! build "$CHECK_PROGRAM"; then
        refused "it does not link"
    fi
}

# Grades lab $1. Exit 0 if it is full.
grade() {
    local n=$1 name busy
    name=$(variant "$n" "$where") || exit 1
    local files=$out/${name##*/}-lab$n
    export CHECK_PROGRAM=$B/$name/lab$n CHECK_RECORD=$files.tsv CHECK_LOG=$files.log
    export CHECK_SEED=$seed CHECK_AGAIN="make check LAB=$n${SUBMISSION:+ SUBMISSION=$SUBMISSION} SEED=$seed"
    exec {busy}>"$files.lock"
    flock "$busy"
    rm -f "$CHECK_RECORD" "$CHECK_LOG"
    build_common "$n" || exit 1
    prepare "$n"

    bats_file "$n" >"$files.bats"
    if ! grep -q '^@test' "$files.bats"; then die "lab $n: the harness names no rows (lab$n --rows). That is our fault, not yours."; fi
    # Bats' two lines about its own file say nothing to a student; the rest stays TAP.
    bats --tap "$files.bats" | grep -v -e '^# (in test file' -e '^# (from function' -e '^#  *in test file' -e "^#   \`.*' failed"
    local status=${PIPESTATUS[0]}
    local points
    points=$(points_of "$n" "$CHECK_RECORD")
    total="$total $points"
    exec {busy}>&-
    [ "$status" = 0 ] && [ -z "${CHECK_REASON:-}" ] && [ "${points% *}" = "${points#* }" ]
}

# Has the submission a file of lab $1? (A file by itself is of the lab that has one of that name.)
has() {
    case $where in labs | solutions | starter) return ;; esac
    if [ -f "$where" ] && [ "$(basename "$where")" != "$(lab_file "$1")" ]; then return 1; fi
    submitted "$1" "${where%/}" >/dev/null
}

picked=${LAB:-} missing=''
read -ra words <<<"$picked"
for n in ${words[@]+"${words[@]}"}; do
    labs | grep -qxF -- "$n" || die "LAB=$picked: There is no lab '$n'. The labs here: $(labs | xargs). One of them, as LAB=3, or more, as LAB=\"3 4\"."
done
if [ -z "$picked" ]; then
    for n in $(labs); do
        if has "$n"; then picked="$picked $n"; else missing="$missing, lab $n"; fi
    done
    [ -n "$picked" ] || die "SUBMISSION=$where has no lab's file, as lab3-transpose/transpose.cu or transpose.cu. A file of another name needs LAB=3."
fi

[ -z "${PROFILE:-}" ] || echo "# PROFILE=$PROFILE: on another virtual card than the one that the marks were made for"
total='' full=0
for n in $picked; do
    grade "$n" || full=1
done
[ -z "$missing" ] || echo "Not in $where, and so not graded: ${missing#, }"
echo "$total" | awk '{ for (i = 1; i < NF; i += 2) { got += $i; max += $(i + 1) } print "Score: " got "/" max + 0 }'
exit $full

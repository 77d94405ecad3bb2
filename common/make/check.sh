#!/bin/bash
# check.sh: grades labs. LAB=3 picks one, SUBMISSION=dir another tree (or a .cu file); the default is labs/.
#
# For each lab: compile the one submitted file, look at its symbols (gate.sh), link it to our own harness, run it once
# with a fresh seed, then print each row of the record as a test, in TAP. All reading, comparing and counting is C
# (common/bluebar/verdict.c). The program's output decides nothing. A Bats file with the same tests lies beside the record,
# for other formats (handouts/instructors.md). Exit 0 only if every row of every lab graded is full, 1 if not, 2 if something could not be graded.
# With LAB, that lab's file must be there. Without it, every lab whose file is there is graded, and a line names the rest.
# Two checks may run at once: they wait for each other where they build what all share, and if they grade the same file.
#
# SEED=n repeats a run; SEED=- is a seed from stdin. The seed reaches the program through a pipe, and is in no argument
# and no variable of the environment while the program runs.
# BLUEBAR_OTHERS=folder keeps what the starter, the reference and the rungs measure, for the next program that is graded
# with the same seed (common/lab/others.c); the tests and `make mistakes` set it.
set -u
cd "${0%/*}/../.." || exit 2
. common/make/lib.sh

# An interrupted check prints no score.
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap '[ -z "${scratch:-}" ] || rm -rf "$scratch"' EXIT

need timeout flock || exit 2
need_compilers || exit 2

# A grade does not depend on the caller's settings for SimGPU. (Threads change no result; PROFILE is announced below.)
for setting in "${!SIMGPU_@}" TRACE LAB4_COUNT; do
    [ "$setting" = SIMGPU_THREADS ] || unset "$setting"
done

where=${SUBMISSION:-labs}
# Draws a seed that cannot be known beforehand.
seed=${SEED:-$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')}
[ "$seed" != - ] || IFS= read -r seed
unset SEED
most=18446744073709551615
if [[ ! $seed =~ ^[0-9]{1,20}$ ]] || { [ ${#seed} = 20 ] && [[ =$seed > =$most ]]; }; then
    die "SEED=$seed: a seed is a whole number from 0 to $most, as SEED=7."
fi
# What runs for long says so, on stderr; not in the texts' examples, which are the same on every machine.
PROGRESS=${BLUEBAR_MINE:-yes}
[ "$PROGRESS" = yes ] || PROGRESS=''
out=$B/${DESK:+$DESK/}check
[ -d "$out" ] || mkdir -p "$out"

# Adds to $hidden what lies beside the program's folder: other submissions, their programs and grades.
hide_beside() {
    local dir=${program%/*} parent other
    while [ "$dir" != "$B" ]; do
        parent=${dir%/*}
        for other in "$parent"/*/; do
            other=${other%/}
            case $parent:${other##*/} in "$B":sub-* | "$B":grade-* | "$B":desk | "$B":mine | "$B":check) ;; "$B":*) continue ;; esac
            [ "$other" = "$dir" ] || hidden=$hidden:$other
        done
        dir=$parent
    done
}

# Compiles the submission where our solutions, and those of others, cannot be seen. Each of the compiler's lines, which quote the file, is marked,
# so that none passes for one of ours. When it is refused, the reason is printed in full, and a word of it is kept for each row.
prepare() {
    local hidden=''
    case $program in
    "$B"/reference/* | "$B"/starter/*) ;;
    *)
        hidden=solutions:tests:.git:.build/patched:$B/reference:$B/ladder
        hide_beside
        ;;
    esac
    COMPILER_PREFIX='compiler: ' HIDDEN=$hidden compiled "$1" "$program"
    if [ -n "$refused" ]; then
        { echo "$refused" && if [ "$refused" = gate ]; then sed 's/^gate: //' "$program.gate.said"; fi; } >"$stem.refused"
    fi
}

# One run, with a folder of its own for what it writes. Its record is taken when nothing of it is left running.
run_program() {
    local others=${BLUEBAR_OTHERS:+$(others "$n" "$seed")}
    scratch=$(mktemp -d)
    printf '%s\n' "$seed" | TMPDIR=$scratch "$BLUEBAR" run --quiet --clean --alone --stdin --seconds "${CHECK_TIMEOUT:-120}" \
        ${PROGRESS:+--name "${program##*/}"} --stage "$scratch/stage" --log "$stem.log" --verdict "$stem.verdict" -- \
        "$program" --record "$scratch/record" --stage "$scratch/stage" --seed - ${others:+--others "$others"}
    if [ -f "$scratch/record" ] && [ ! -L "$scratch/record" ]; then mv "$scratch/record" "$stem.tsv"; fi
    rm -rf "$scratch"
    scratch=''
}

# Grades lab $1. Exit 0 if it is full.
grade() {
    local n=$1 name busy status full=0 again=$where
    name=$(variant "$n" "$where") || exit 2
    stem=$out/${name##*/}-lab$n program=$B/$name/lab$n
    exec {busy}>"$stem.lock"
    flock "$busy"
    rm -f "$stem".{tsv,log,verdict,refused,result}
    build_parts "$n" "$program.cu" || exit 2
    cp "$B/judge/lab$n.rows" "$stem.rows"
    "$BLUEBAR" tests "$n" "$stem" >"$stem.bats" || exit 2
    prepare "$n"
    [ -f "$stem.refused" ] || run_program

    [[ $again =~ ^[A-Za-z0-9./_-]*$ ]] || again=$(printf %q "$again")
    export CHECK_STEM=$stem CHECK_SEED=$seed CHECK_AGAIN="make check LAB=$n${SUBMISSION:+ SUBMISSION=$again} SEED=$seed"
    "$BLUEBAR" result "$n" "$stem" || full=1
    "$BLUEBAR" tap "$n" "$stem" && status=0 || status=$?
    unset CHECK_STEM CHECK_SEED CHECK_AGAIN
    results+=("$stem.result")
    exec {busy}>&-
    [ "$status" = 0 ] && [ "$full" = 0 ]
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
    (lab_dir "$n") >/dev/null 2>&1 || die "LAB=$picked: There is no lab '$n'. The labs here: $(labs | xargs). One of them, as LAB=3, or more, as LAB=\"3 4\"."
done
if [ -z "$picked" ]; then
    for n in $(labs); do
        if has "$n"; then picked="$picked $n"; else missing="$missing, lab $n"; fi
    done
    [ -n "$picked" ] || die "SUBMISSION=$where has no lab's file, as lab3-transpose/transpose.cu or transpose.cu. A file of another name needs LAB=3."
fi

[ -z "${PROFILE:-}" ] || echo "# PROFILE=$PROFILE: on another virtual card than the one that the marks were made for"
stay_near
results=() all=0
for n in $picked; do
    grade "$n" || all=1
done
[ -z "$missing" ] || echo "Not in $where, and so not graded: ${missing#, }"
"$BLUEBAR" total "${results[@]}"
exit $all

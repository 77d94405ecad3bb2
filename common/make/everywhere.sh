#!/bin/bash
# everywhere.sh: shows that a grade does not depend on the compiler or the processor. Slow (some minutes a compiler); not
# part of `make test`.
#
# For each clang-N on the PATH a copy of this tree is built in .build/everywhere/clang-N. There, with a fixed seed:
#   verdicts   each lab's starter, solution, rungs, wrong/ and cheat/ programs are graded (make check). Points, failing rows
#              and the lines that are blamed must be those of the first compiler.
#   counters   the starter and the solution of each lab run with a report. Each launch's counters and virtual time must be
#              those of the first compiler within 2 %; instructions within INSTRUCTIONS %.
# Where the cross compiler for ARM64 and qemu-user are, SimGPU and two labs are built for it with the first compiler, and
# their reports must have the same bytes as on this machine.
#
# LAB="3 4" takes only these labs, COMPILERS="clang-14 clang-19" only these compilers, PROGRAMS="starter solutions" only these
# programs. Prints what differs, a table, and `N passed, N failed`.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
need timeout flock || exit

SEED=2048
TOLERANCE=2 INSTRUCTIONS=35 # per cent
ARM_LABS='3 4' ARM_LIBRARIES=/usr/aarch64-linux-gnu
top=$PWD out=.build/everywhere
picked=${LAB:-$(labs)}
read -ra compilers <<<"${COMPILERS:-$(clangs | xargs)}" # read takes one line
[ ${#compilers[@]} -gt 0 ] || die "No clang-14, clang-15 ... is on the PATH. Install one, or name yours: COMPILERS=clang make test-everywhere"
first=${compilers[0]}
results=$out/results
rm -rf "$results"
mkdir -p "$results"
# The makes below stand alone, without this one's flags.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES LAB SUBMISSION DESK PROFILE SAN B CUDA_COMPILER CLANG "${!SIMGPU_@}"
export DEVICE=sim SEED SIMGPU_THREADS=1 # a program a core
B=.build/sim # of each of the trees

# The files of this tree, as they are now, beside what an earlier run has built.
copy_tree() {
    mkdir -p "$1"
    find "$1" -mindepth 1 -maxdepth 1 ! -name .build -exec rm -rf {} +
    git ls-files -co --exclude-standard -z | while IFS= read -r -d '' file; do
        [ -e "$file" ] && printf '%s\0' "$file"
    done | tar --null -T - -cf - | tar -xf - -C "$1"
    for n in $(labs); do cp "$(lab_starter "$n")" "$1/$(lab_dir "$n")/$(lab_file "$n")"; done
}

# note NAME STATUS [TEXT]: one result, a file each, so that several may be noted at a time.
note() {
    printf '%s\t%s\t%s\n' "$1" "$2" "${3:-}" >"$results/$(printf %s "$1" | tr '/ ' '__').note"
    [ "$2" = pass ] || printf 'differs: %s\n%s\n' "$1" "${3:-}"
}

# Prints the programs to try in lab $1.
programs() {
    if [ -n "${PROGRAMS:-}" ]; then
        # shellcheck disable=SC2086 # a list
        printf '%s\n' $PROGRAMS
        return
    fi
    printf '%s\n' starter solutions
    find "$(lab_dir "$1")" tests/lab"$1" -path '*/rungs/*' -type f -o -path '*/wrong/*' -type f -o -path '*/cheat/*' -type f -o -path '*/right/*' -type f | sort
}

# Prints a grade without its figures: rows, points, blamed lines, the gate's findings, the score.
verdict() {
    local lab=$2 program=$3
    (cd "$out/$1" && BLUEBAR_OTHERS=$top/$results/$1.others make -s check LAB="$lab" SUBMISSION="$program" DESK="desk/$(basename "$program")" CLANG="$1" 2>&1 </dev/null) |
        grep -E '^(not )?ok |^# +(where|points) |^gate: |^Score: '
}

# The counters of a report, a line each: launch, kernel, counter, value. The launches are numbered by kernel.
counters() {
    grep '"kind":"launch"' "$1" | awk '
        { match($0, /"kernel":"[^"]*"/); kernel = substr($0, RSTART + 10, RLENGTH - 11); launch = ++n[kernel]
          match($0, /"duration_ns":[0-9]+/); print launch "\t" kernel "\tduration_ns\t" substr($0, RSTART + 14, RLENGTH - 14)
          match($0, /"counters":{[^}]*}/); list = substr($0, RSTART + 12, RLENGTH - 13)
          k = split(list, item, ","); for (i = 1; i <= k; i++) { split(item[i], f, ":"); gsub(/"/, "", f[1]); print launch "\t" kernel "\t" f[1] "\t" f[2] } }'
}

# Compares two lists of counters and prints those beyond the tolerance; one line a kernel and counter, with the worst launch.
compare_counters() {
    awk -F '\t' -v most="$TOLERANCE" -v most_instructions="$INSTRUCTIONS" '
        NR == FNR { want[$1 "\t" $2 "\t" $3] = $4; next }
        { key = $1 "\t" $2 "\t" $3; seen[key]
          if (!(key in want)) { print "launch " $1 " of " $2 " is new"; exit }
          limit = $3 ~ /inst_executed.sum|inst_executed_pred_on|issue_slots/ ? most_instructions : most
          a = want[key]; b = $4; d = a > b ? a - b : b - a; m = a > b ? a : b
          if (m && 100 * d / m > limit && 100 * d / m > worst[$2 "\t" $3]) { worst[$2 "\t" $3] = 100 * d / m; text[$2 "\t" $3] = $2 ": " $3 " " b " in place of " a " (launch " $1 ")" } }
        END { for (key in want) if (!(key in seen)) { print "a launch is missing: " key; break } for (k in text) print text[k] }' "$1" "$2" | sort
}

# report COMPILER LAB PROGRAM FILE: runs it with a report.
report() {
    local to=$top/$4
    (cd "$out/$1" && SIMGPU_REPORT="$to" make -s "lab$2" SUBMISSION="$3" CLANG="$1" >"$to.said" 2>&1 </dev/null)
}

# The same on ARM64. The program is run by itself: qemu's tables of SimGPU's addresses take 10 GB, more than a lab may.
arm_report() {
    local to=$top/$3 program=.build/sim/$2/lab$1
    (
        cd "$out/arm64" || exit
        unset SIMGPU_THREADS # one after the other
        { PATH=$top/$out/arm64-bin:$PATH build CLANG="$top/$out/arm64-bin/clang" "$program" && SIMGPU_REPORT="$to" "$program"; } >"$to.said" 2>&1 </dev/null
    )
}

# One program with one compiler: `job COMPILER LAB PROGRAM`.
job() {
    local compiler=$1 lab=$2 program=$3 name
    name=$(printf %s "$3" | tr / _)-lab$lab
    verdict "$compiler" "$lab" "$program" >"$results/$compiler.$name.verdict"
    case $program in
    starter | solutions)
        report "$compiler" "$lab" "$program" "$results/$compiler.$name.report"
        counters "$results/$compiler.$name.report" >"$results/$compiler.$name.counters"
        ;;
    esac
}

compare() {
    local compiler=$1 lab=$2 program=$3 name said
    name=$(printf %s "$3" | tr / _)-lab$lab
    if ! grep -q '^Score: ' "$results/$compiler.$name.verdict"; then
        note "$compiler: lab $lab, $program, verdict" fail "no score"
    elif said=$(diff "$results/$first.$name.verdict" "$results/$compiler.$name.verdict"); then
        note "$compiler: lab $lab, $program, verdict" pass
    else
        note "$compiler: lab $lab, $program, verdict" fail "$said"
    fi
    [ -f "$results/$compiler.$name.counters" ] || return
    said=$(compare_counters "$results/$first.$name.counters" "$results/$compiler.$name.counters")
    if [ -z "$said" ] && [ -s "$results/$compiler.$name.counters" ]; then
        note "$compiler: lab $lab, $program, counters" pass
    else
        note "$compiler: lab $lab, $program, counters" fail "${said:-no launch}"
    fi
}

arm_cell() {
    local said=${arm[$1]:-not tried}
    said=${said# }
    echo "${said%;}"
}

# Points of all that matches in the verdicts of compiler $1: "got/of".
points() {
    find "$results" -name "$1.$2.verdict" -exec cat {} + | awk -F '[ /]' '/^Score/ { got += $2; of += $3 } END { print got + 0 "/" of + 0 }'
}

export -f verdict counters report job compare compare_counters note
export top out results first TOLERANCE INSTRUCTIONS

# In a tree of its own: so all compilers build at a time, and share the cores.
build_with() {
    copy_tree "$out/$1"
    echo "everywhere: $("$1" --version | head -n 1), building" >&2
    if (cd "$out/$1" && MAKEFLAGS=-j$share build CLANG="$1" all) >"$results/$1.build" 2>&1; then
        note "$1: builds without a warning" pass
        touch "$results/$1.built"
    else
        note "$1: builds without a warning" fail "$(head -n 20 "$results/$1.build")"
    fi
}

cores=$(nproc) building=()
share=$(((cores + ${#compilers[@]} - 1) / ${#compilers[@]}))
for compiler in "${compilers[@]}"; do
    build_with "$compiler" &
    building+=($!)
done
wait "${building[@]}"
built=()
for compiler in "${compilers[@]}"; do
    [ ! -f "$results/$compiler.built" ] || built+=("$compiler")
done
[ "${built[0]:-}" = "$first" ] || die "$first does not build: nothing to compare with."

echo "everywhere: grading ..." >&2
for lab in $picked; do
    programs "$lab" | while read -r program; do
        for compiler in "${built[@]}"; do echo "$compiler $lab $program"; done
    done
done >"$results/jobs"
# shellcheck disable=SC2016 # the inner shell is to expand it
xargs -L 1 -P "$(nproc)" bash -c 'job "$@"' everywhere.sh <"$results/jobs"
# shellcheck disable=SC2016
xargs -L 1 -P "$(nproc)" bash -c 'compare "$@"' everywhere.sh <"$results/jobs"

# clang for ARM64, with its linker and its like. The optimiser of device code, and the tools that prepare a build, stay this
# machine's. A program that is linked goes into the folder arm64 beside its own, from where lib/, starter/ and reference/
# are as far; a script that starts it under qemu takes its place.
arm_clang() {
    local tool
    mkdir -p "$out/arm64-bin"
    for tool in ld objcopy objdump nm readelf ar; do ln -sf "$(command -v "aarch64-linux-gnu-$tool")" "$out/arm64-bin/$tool"; done
    cat >"$out/arm64-bin/clang" <<TEXT
#!/bin/bash
PATH='$PATH'
linked=yes before=
for a in "\$@"; do
    case \$a in
    -cc1 | --version | -dumpversion | --print-targets | */bluebar | */ptx2fatbin | */wide_copies | */even_loops) exec $first "\$@" ;;
    -c | -S | -E | -M | -shared) linked= ;;
    esac
    [ "\$before" != -o ] || to=\$a
    before=\$a
done
$first --target=aarch64-linux-gnu "\$@" || exit
[ "\$linked" ] || exit 0
arm=\$(realpath -m "\$(dirname "\$to")/../arm64")/\$(basename "\$to")
mkdir -p "\${arm%/*}"
mv "\$to" "\$arm"
printf '#!/bin/sh\nexec qemu-aarch64 -L $ARM_LIBRARIES -0 "\$0" "%s" "\$@"\n' "\$arm" >"\$to"
chmod +x "\$to"
TEXT
    chmod +x "$out/arm64-bin/clang"
}

declare -A arm=() # by program: what came out
if command -v qemu-aarch64 >/dev/null && command -v aarch64-linux-gnu-g++ >/dev/null; then
    echo "everywhere: $first for ARM64, under qemu" >&2
    arm_clang
    copy_tree "$out/arm64"
    for lab in $picked; do
        case " $ARM_LABS " in *" $lab "*) ;; *) continue ;; esac
        for program in starter solutions; do
            arm_report "$lab" "${program/solutions/reference}" "$results/arm64.$program-lab$lab.report"
            if cmp -s "$results/$first.$program-lab$lab.report" "$results/arm64.$program-lab$lab.report"; then
                note "ARM64: lab $lab, $program, report" pass
                arm[$program]+=" lab $lab: same bytes;"
            else
                note "ARM64: lab $lab, $program, report" fail "$(tail -n 5 "$results/arm64.$program-lab$lab.report.said"; cmp "$results/$first.$program-lab$lab.report" "$results/arm64.$program-lab$lab.report" 2>&1)"
                arm[$program]+=" lab $lab: differs;"
            fi
        done
    done
fi

echo
echo '| compiler | machine | starters | solutions | wrong/, cheat/ and rungs | differ |'
echo '|---|---|---:|---:|---:|---:|'
for compiler in "${built[@]}"; do
    echo "| $("$compiler" --version | sed -n '1s/.*version \([0-9.]*\).*/clang \1/p') | $(uname -m) | $(points "$compiler" 'starter-lab*') | $(points "$compiler" 'solutions-lab*') | $(points "$compiler" '*_*-lab*') | $(cat "$results/$compiler:"*.note | grep -c "	fail	") |"
done
echo "| $("$first" --version | sed -n '1s/.*version \([0-9.]*\).*/clang \1/p') | ARM64 (qemu) | $(arm_cell starter) | $(arm_cell solutions) | | $(find "$results" -name 'ARM64:*.note' -exec grep -c "	fail	" {} + | awk -F: '{ n += $NF } END { print n + 0 }') |"
echo
passed=$(cat "$results"/*.note | grep -c "	pass	") failed=$(cat "$results"/*.note | grep -c "	fail	")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]

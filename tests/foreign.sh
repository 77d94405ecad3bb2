#!/bin/bash
# foreign.sh FOLDER [NAME...]: other people's CUDA programs through simcc. FOLDER has checkouts of repositories; each is
# searched for programs, each program is compiled and run, and two tables on stdout say how many compiled, how many ran,
# and what stopped the others. NAME: only these checkouts. Nothing of theirs is kept in this project.
#
#   JOBS=n (all cores)   LIMIT=s (30, of the CPU's time for a run)   RESULTS=folder (a line a program, and each one's messages)
#   PICK=n (every n-th program)   SIMCC=program (simcc of .build/sim)   WALL=s (a run at the most; ten times LIMIT)
#   NVCC=nvcc (its programs, with a shared cudart, on the libraries of .build/sim)   FOR=s (no program begins after that)
#   LIST=file (these programs in this order: lines of RESULTS/programs, which a run writes)
#
# A program is a source file with a main function, together with the folder's files that have none and that no other file
# includes. "Ran" means: it ended with status 0, and its output has none of the words by which programs say that their own
# check failed. A program that says less was not looked at by a person.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
SIMCC=${SIMCC:-$here/.build/sim/bin/simcc}
if [ $# -eq 0 ] || [ ! -d "$1" ]; then sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 1; fi
[ -x "$SIMCC" ] || { echo "$SIMCC is not there: make simgpu" >&2 && exit 1; }
dir=$(cd "$1" && pwd) && shift
RESULTS=${RESULTS:-$(mktemp -d)}
mkdir -p "$RESULTS"
LIMIT=${LIMIT:-30}
export SIMCC RESULTS LIMIT NVCC=${NVCC:-} WALL=${WALL:-${LIMIT}0} UNTIL=$(($(date +%s) + ${FOR:-1000000}))
export SIMGPU_THREADS=${SIMGPU_THREADS:-1} # a program a core
[ -z "$NVCC" ] || export LD_LIBRARY_PATH=$here/.build/sim/lib

# What to know of a repository: its name, the folder with its programs, and options of the compiler. Others: all of it, none.
recipe() {
    case $1 in
    cuda-samples) echo "Samples -I $2/Common -std=c++17" ;;
    Learn-CUDA-Programming) echo ". -I $2/../cuda-samples/Common" ;;
    professional-cuda-c-programming) echo "examples -I $2/examples/common" ;;
    cs344) echo ". -I $2/Lesson\ Code\ Snippets" ;;
    gpu-rodinia) echo "cuda -I $2/common -I $2/../cuda-samples/Common" ;;
    llm.c) echo "dev/cuda -I $2" ;;
    polybenchGpu) echo "CUDA -I $2/CUDA/common" ;;
    HeCBench) echo "src -I $2/src/include" ;;
    CUDA_Freshman) echo ". -I $2/include" ;;
    SummerUniversity) echo "cuda/practicals -I $2/cuda/practicals/include" ;;
    *) echo . ;;
    esac
}

# One line a program: repository, folder, sources, options; tabs between.
programs() {
    local name=$1 top=$2 start options folder
    read -r start options <<<"$(recipe "$name" "$top")"
    start=$top/$start start=${start%/.}
    find "$start" -name '*.cu' -printf '%h\n' | sort -u | while IFS= read -r folder; do programs_of_folder "$name" "$folder" "$options"; done
}

programs_of_folder() {
    local name=$1 folder=$2 options=$3 f parts=() mains=()
    for f in "$folder"/*.cu "$folder"/*.cpp "$folder"/*.c "$folder"/*.cc; do
        [ -f "$f" ] || continue
        if grep -qE '^[^/]*\bmain *\(' "$f"; then
            mains+=("${f##*/}")
        elif ! grep -qsE "#include *[\"<]([^\">]*/)?$(basename "$f" | sed 's/\./\\./g')[\">]" "$folder"/* "$folder"/../*.c*; then
            parts+=("${f##*/}")
        fi
    done
    for f in ${mains[@]+"${mains[@]}"}; do
        # Programs of the host alone, beside those of a GPU.
        case $f in *.cu) ;; *) [ "${#mains[@]}" = 1 ] || grep -qE 'cuda|CUDA' "$folder/$f" || continue ;; esac
        printf '%s\t%s\t%s\t%s\n' "$name" "$folder" "$f ${parts[*]+"${parts[*]}"}" "$options"
    done
}

# What stopped it, from the compiler's messages ($1): a word or two that many share.
cause_of_compile() {
    local first
    first=$(grep -E 'error:|undefined reference|left out of the link|^simcc:' "$1" | head -n 1)
    case $(cat "$1") in
    *"left out of the link: "*) echo "library: $(sed -n 's/.*left out of the link: \([^.]*\)\..*/\1/p' "$1" | head -n 1)" ;;
    *) case $first in
        *"is unavailable: SimGPU does not have it"*) echo "lacks: $(sed -E "s/.*error: '([^'<]*).*/\1/" <<<"$first")" ;;
        *"SimGPU does not have "*) echo "lacks: $(sed -E 's/.*SimGPU does not have ([^,]*).*/\1/; s/ \[.*//' <<<"$first")" ;;
        *"file not found"*) echo "header: $(sed -E "s/.*error: '([^']*)'.*/\1/" <<<"$first")" ;;
        *"undefined reference"*) echo "link: $(sed -E "s/.*reference to .([A-Za-z0-9_:]*).*/\1/" <<<"$first")" ;;
        *) echo "compiler: $(sed -E 's/.*error: //; s/simcc: //' <<<"$first" | cut -c 1-70)" ;;
        esac ;;
    esac
}

# What SimGPU is not asked to have: other APIs' headers.
left_out() {
    (cd "$1" && shift && grep -hsoE '#include *[<"](mpi\.h|GL/|GLES|EGL|helper_gl|vulkan|opencv|FreeImage|cudnn|nvscibuf|d3d|X11/|thrust/mpi|nccl|nvbench|cudla|tbb/|hdf5|netcdf|png\.h|SDL)' -- "$@" *.h *.hpp *.cuh) | head -n 1 | sed 's/.*[<"]//; s,/$,,'
}

try() {
    local name folder options sources out needs status=0 id library devices arguments compiler='"$SIMCC"'
    [ "$(date +%s)" -lt "$UNTIL" ] || return
    IFS=$'\t' read -r name folder sources options <<<"$1"
    id=$(printf %s "$folder/$sources" | cksum | tr ' ' -)
    out=$RESULTS/$name-$id
    mkdir -p "$out"
    printf '%s\n' "$folder: $sources" >"$out/program"
    say() { printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$1" "$2" "${folder#"$dir/"}/${sources%% *}" "$out" >"$out/result"; }
    compile() { eval "timeout 120 env $compiler $options $1 -I . -I inc -I ../inc -I include $sources -o \"\$out/a.out\" -lm" >"$out/compiler" 2>&1 </dev/null; }
    cd "$folder" || return
    # shellcheck disable=SC2086 # lists of words
    ! (cd "$folder" && grep -qs 'omp\.h\|pragma omp' -- $sources) || options+=' -Xcompiler -fopenmp'
    for library in cublasLt cublas curand; do # what their own Makefiles link
        # shellcheck disable=SC2086 # a list of words
        ! grep -qsE "#include *[<\"]$library(_v2)?\.h" -- $sources *.h *.hpp *.cuh ../*.h ../*.cuh || options+=" -l$library"
    done
    [ -z "$NVCC" ] || compiler='LD_LIBRARY_PATH= "$NVCC" -w -cudart shared -arch=compute_80 -L "$LD_LIBRARY_PATH" -lcuda'
    # What its own Makefile gives it.
    arguments=$(sed -n 's,^\t.*\./\(\$(program)\|main\) ,,p' Makefile 2>/dev/null | head -n 1)
    case $arguments in *['$`;&|<>']*) arguments= ;; esac
    # shellcheck disable=SC2086 # lists of words
    needs=$(left_out "$folder" $sources)
    if [ -n "$needs" ]; then
        say "left out" "not CUDA's: $needs"
    elif ! compile '' && ! { grep -qE 'separate compilation|needs -rdc=true' "$out/compiler" && compile -rdc=true; }; then
        if needs=$(grep -oE '(fatal error: |^[^ ]*: )'"'?"'(mpi\.h|GL/|GLES|EGL/|X11/|cutlass/|avilib\.h|opencv|cudnn)' "$out/compiler" | head -n 1) && [ -n "$needs" ]; then
            say "left out" "not CUDA's: $(sed -E "s/.*[ ']//; s,/\$,," <<<"$needs")"
        elif grep -qE "identifier ['\"]FIXME" "$out/compiler"; then
            say "left out" "an exercise with gaps"
        elif grep -qE "(multiple definition of|duplicate symbol)" "$out/compiler"; then
            say "left out" "its folder has parts of several programs"
        else
            say compile "$(cause_of_compile "$out/compiler")"
        fi
    else
        # The CPU's time is the same on a busy machine; a program that sleeps has ten times as long.
        for devices in 1 4; do # four where one is too few
            status=0
            # shellcheck disable=SC2086 # a list of words
            (ulimit -t "$LIMIT" && SIMGPU_DEVICES=$devices exec timeout -k 2 "$WALL" "$out/a.out" $arguments) >"$out/stdout" 2>"$out/stderr" </dev/null || status=$?
            grep -qiE 'there is no device [1-3];|requires two|two or more GPUs' "$out/stdout" "$out/stderr" || break
        done
        if [ "$status" = 124 ] || [ "$status" = 137 ] || [ "$status" = 152 ]; then
            say run "more than $LIMIT s"
        elif grep -q 'findModulePath file not found' "$out/stdout" "$out/stderr"; then
            say "left out" "loads a file that its own build makes"
        elif [ "$status" = 2 ] && grep -qi 'waiv' "$out/stdout" "$out/stderr"; then
            say "left out" "says that it waives its test on this machine"
        elif grep -q '^simgpu: ' "$out/stderr"; then
            say run "simgpu: $(grep '^simgpu: ' "$out/stderr" | head -n 1 | sed 's/^simgpu: //' | cut -c 1-80)"
        elif [ "$status" = 0 ] && grep -qiE '^ *usage' "$out/stdout" "$out/stderr"; then
            say "left out" "wants arguments or a file"
        elif [ "$status" != 0 ] && grep -qiE '\busage|no such file|cannot open|could not open|unable to open|not enough arg|missing arg|(wrong|incorrect) number of arg|no input file|file .*not (found|available)|please put' "$out/stdout" "$out/stderr"; then
            say "left out" "wants arguments or a file"
        elif [ "$status" -gt 128 ]; then
            say run "signal $((status - 128))"
        elif [ "$status" != 0 ]; then
            say run "exit status $status"
        elif grep -qiP '\bfail(ed|s|ure)?\b(?! as expected)|mismatch|incorrect|do(es)? not match|not correct|\bwrong\b' "$out/stdout"; then
            say run "its own check says no"
        else
            say ran ''
        fi
        rm -f "$out/a.out"
    fi
}
export -f try left_out cause_of_compile
export dir

if [ $# -eq 0 ]; then set -- "$dir"/*/; fi
if [ -n "${LIST:-}" ]; then
    cp "$LIST" "$RESULTS/programs"
else
    for name in "$@"; do programs "$(basename "$name")" "$dir/$(basename "$name")"; done >"$RESULTS/programs"
fi
awk -v n="${PICK:-1}" 'NR % n == 0' "$RESULTS/programs" | tr '\n' '\0' | xargs -0 -n 1 -P "${JOBS:-$(nproc)}" bash -c 'try "$1"' foreign.sh

cat "$RESULTS"/*/result | sort >"$RESULTS/all.tsv"
echo '| repository | tried | compile | run |'
echo '|---|---:|---:|---:|'
awk -F '\t' '$2 != "left out" { tried[$1]++; compile[$1] += $2 != "compile"; run[$1] += $2 == "ran" }
    END { for (r in tried) { printf "| %s | %d | %d | %d |\n", r, tried[r], compile[r], run[r] | "sort"; a += tried[r]; b += compile[r]; c += run[r] }
          close("sort"); printf "| **all** | %d | %d | %d |\n", a, b, c }' "$RESULTS/all.tsv"
printf '\n| programs | what stopped them |\n|---:|---|\n'
awk -F '\t' '$2 != "ran" { n[$2 ": " $3]++ } END { for (c in n) printf "| %d | %s |\n", n[c], c }' "$RESULTS/all.tsv" | sort -t '|' -k 2,2nr -k 3,3
echo "each program's messages: $RESULTS" >&2

#!/bin/bash
# foreign.sh FOLDER [NAME...]: other people's CUDA programs through simcc. FOLDER has checkouts of repositories; each is
# searched for programs, each program is compiled and run, and two tables on stdout say how many compiled, how many ran,
# and what stopped the others. tests/foreign/causes has the rules for that, and which causes lie outside of what SimGPU is
# asked for: the first table counts the other programs. NAME: only these checkouts. Nothing of theirs is kept here.
#
#   JOBS=n (all cores)   LIMIT=s (30, of the CPU's time for a run)   RESULTS=folder (a line a program, and each one's messages)
#   PICK=n (every n-th program)   SIMCC=program (simcc of .build/sim)   WALL=s (a run at the most; ten times LIMIT)
#   NVCC=nvcc (its programs, with a shared cudart, on the libraries of .build/sim)   FOR=s (no program begins after that)
#   ORACLE=nvcc (a program that simcc rejects, and nvcc too, is not counted)
#   LIST=file (these programs in this order: lines of RESULTS/programs, which a run writes)
#
# A program is a source file with a main function, together with the folder's files that have none and that no other file
# includes. "Ran" means: it ended with status 0, and its output has none of the words by which programs say that their own
# check failed. A program that says less was not looked at by a person. A program that reads its standard input finds 16 in each line.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
SIMCC=${SIMCC:-$here/.build/sim/bin/simcc}
if [ $# -eq 0 ] || [ ! -d "$1" ]; then sed -n '2,11s/^# \{0,1\}//p' "$0" && exit 1; fi
[ -x "$SIMCC" ] || { echo "$SIMCC is not there: make simgpu" >&2 && exit 1; }
dir=$(cd "$1" && pwd) && shift
RESULTS=${RESULTS:-$(mktemp -d)}
mkdir -p "$RESULTS" && RESULTS=$(cd "$RESULTS" && pwd)
LIMIT=${LIMIT:-30}
export SIMCC RESULTS LIMIT NVCC=${NVCC:-} ORACLE=${ORACLE:-} WALL=${WALL:-${LIMIT}0} UNTIL=$(($(date +%s) + ${FOR:-1000000}))
export SIMGPU_THREADS=${SIMGPU_THREADS:-1} # a program a core
if [ -n "$NVCC" ]; then # at the link only what is SimGPU's alone: libcudadevrt.a is NVIDIA's
    export LD_LIBRARY_PATH=$here/.build/sim/lib LINK=$RESULTS/link
    mkdir -p "$LINK" && ln -sf "$here"/.build/sim/lib/lib{cuda,cublas,cublasLt,curand}.so "$LINK"
fi

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
    for folder in include inc src; do [ ! -d "$top/$folder" ] || options+=" -I $top/$folder"; done
    find "$start" -name '*.cu' -printf '%h\n' | sort -u | while IFS= read -r folder; do programs_of_folder "$name" "$folder" "$options"; done
}

programs_of_folder() {
    local name=$1 folder=$2 options=$3 f parts=() mains=()
    for f in "$folder"/*.cu "$folder"/*.cpp "$folder"/*.c "$folder"/*.cc "$folder"/src/*.c*; do
        case $f in *.cuh) continue ;; esac
        [ -f "$f" ] || continue
        if grep -qE '^[^/]*\bmain *\(' "$f"; then
            case $f in "$folder"/src/*) ;; *) mains+=("${f##*/}") ;; esac
        elif ! grep -qsE "#include *[\"<]([^\">]*/)?$(basename "$f" | sed 's/\./\\./g')[\">]" "$folder"/* "$folder"/../*.c*; then
            f=${f#"$folder"/} && parts+=("${f//[ ()]/?}")
        fi
    done
    for f in ${mains[@]+"${mains[@]}"}; do
        # Programs of the host alone, beside those of a GPU.
        case $f in *.cu) ;; *) [ "${#mains[@]}" = 1 ] || grep -qE 'cuda|CUDA' "$folder/$f" || continue ;; esac
        printf '%s\t%s\t%s\t%s\n' "$name" "$folder" "${f//[ ()]/?} ${parts[*]+"${parts[*]}"}" "$options" # a blank or parenthesis of a name as the pattern ?
    done
}

# The rows of the table of causes, a tab between the columns.
CAUSES=$(sed -nE '/^(#|$)/!{s/  +/\t/; s/  +/\t/; s/  +/\t/; p}' "$here/tests/foreign/causes")

# cause_of WHEN FILE: prints side and cause, a tab between, of the first row that fits the file. Returns 1 if none does.
cause_of() {
    local when side cause pattern line case=I
    case $1 in source | compile) case= ;; esac
    while IFS=$'\t' read -r when side cause pattern; do
        [ "$when" = "$1" ] || { [ "$1" = fail ] && [ "$when" = run ]; } || continue
        line=$(grep -aE -m 1 ${case:+-i} -- "$pattern" "$2") || continue
        case $cause in *'\1'*) cause=${cause/'\1'/$(sed -E "s"$'\1'".*$pattern.*"$'\1\\1\1'"$case" <<<"$line")} ;; esac
        printf '%s\t%s\n' "$side" "$cause"
        return
    done <<<"$CAUSES"
    return 1
}

# has_gaps SOURCES: leaves this program something for its reader to write? Such a word stands in the source as code or as an
# order; or, as in NVIDIA's exercises, in an order alone, and then the solution lies beside the folder or in it.
has_gaps() {
    grep -qsiE 'TO-DO #|TODO:? *(--|fill|implement|add|write|complete|copy)|implement me|your code (here|goes)|[(,=<] *FIXME' -- "$@" *.h *.hpp *.cuh && return
    compgen -G './*[Ss]olution*' >/dev/null || compgen -G '../*[Ss]olution*' >/dev/null || return
    grep -qsiE '^ *\* (refactor the|update the|make .*changes|assign a value)' -- "$@"
}

try() {
    local name folder options sources out status=0 id library devices arguments compiler='"$SIMCC"'
    [ "$(date +%s)" -lt "$UNTIL" ] || return
    IFS=$'\t' read -r name folder sources options <<<"$1"
    id=$(printf %s "$folder/$sources" | cksum | tr ' ' -)
    out=$RESULTS/$name-$id
    mkdir -p "$out"
    printf '%s\n' "$folder: $sources" >"$out/program"
    # A line for the tables: repository, how far it came, side and cause, program, messages.
    say() { printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$1" "$2" "${folder#"$dir/"}/${sources%% *}" "$out" >"$out/result"; }
    compile() { eval "timeout 120 env $compiler $options $1 -I . -I inc -I ../inc -I include -I .. -I ../utils -I ../../utils $sources -o \"\$out/a.out\" -lm" >"$out/compiler" 2>&1 </dev/null; }
    # A program that does not compile with NVIDIA's compiler either. (A name that the link lacks is a name that SimGPU lacks.)
    rejected() {
        local ours="undefined reference to .(cu|nv|__cuda|__fatbin)"
        ! grep -qE "$ours" "$out/compiler" || return
        [ -z "$NVCC" ] || return 0
        [ -n "$ORACLE" ] || return
        cp "$out/compiler" "$out/simcc"
        compiler='"$ORACLE" -w -arch=compute_80'
        ! compile -rdc=true && ! grep -qE "$ours" "$out/compiler"; local no=$?
        mv "$out/simcc" "$out/compiler"
        return $no
    }
    # A header that lies elsewhere in the checkouts: its own build names the folder.
    compile_with_headers() {
        local header where rdc=
        for _ in 1 2 3 4 5 6; do
            compile "$rdc" && return
            if [ -z "$rdc" ] && grep -qE 'separate compilation|needs -rdc=true|them with -rdc=true|Unresolved extern function' "$out/compiler"; then rdc=-rdc=true && continue; fi
            header=$(sed -nE "s/.*fatal error: '?([^': ]*)(' file not found|: No such file).*/\\1/p" "$out/compiler" | sed '1!d; s,^\(\.\./\)*,,')
            [ -n "$header" ] || return
            where=$(for up in "$folder" "$folder/.." "$folder/../.." "$dir/$name" "$dir/cuda-samples/Common"; do find "$up" -path "*/$header"; done 2>/dev/null | head -n 1)
            where=${where%"/$header"}
            case $options in *" -I '$where'"*) return 1 ;; esac
            [ -n "$where" ] && options+=" -I '$where'" || return
        done
    }
    cd "$folder" || return
    # shellcheck disable=SC2086 # lists of words
    ! (cd "$folder" && grep -qs 'omp\.h\|pragma omp' -- $sources) || options+=' -Xcompiler -fopenmp'
    for library in cublasLt cublas curand; do # what their own Makefiles link
        # shellcheck disable=SC2086 # a list of words
        ! grep -qsE "#include *[<\"]$library(_v2)?\.h|${library}Generator_t" -- $sources *.h *.hpp *.cuh src/*.h src/*.cuh ../*.h ../*.cuh || options+=" -l$library"
    done
    # shellcheck disable=SC2086 # a list of words
    ! grep -lsE '__global__|<<<' -- $sources | grep -qv '\.cu$' || options+=' -x cu'
    [ -z "$NVCC" ] || compiler='LD_LIBRARY_PATH= "$NVCC" -w -cudart shared -arch=compute_80 -L "$LINK" -lcuda'
    # What its own Makefile gives it.
    arguments=$(sed -n 's,^\t.*\./\(\$(program)\|main\) ,,p' Makefile 2>/dev/null | head -n 1)
    case $arguments in *['$`;&|<>']*) arguments= ;; esac
    # shellcheck disable=SC2086 # lists of words
    grep -hs '#include' -- $sources *.h *.hpp *.cuh >"$out/source"
    cause_of source "$out/source" >"$out/cause" && say compile "$(cat "$out/cause")" && return
    if ! compile_with_headers; then
        cause_of compile "$out/compiler" >"$out/cause"
        if grep -q '^in' "$out/cause" && rejected; then printf 'out\tnvcc rejects it\n' >"$out/cause"; fi
        say compile "$(cat "$out/cause")"
        return
    fi
    # The CPU's time is the same on a busy machine; a program that sleeps has ten times as long.
    for devices in 1 4; do # four where one is too few
        status=0
        # shellcheck disable=SC2086 # a list of words
        (ulimit -t "$LIMIT" && SIMGPU_DEVICES=$devices exec timeout -k 2 "$WALL" "$out/a.out" $arguments) >"$out/stdout" 2>"$out/stderr" <"$RESULTS/sixteens" || status=$?
        grep -qiE 'there is no device [1-3];|requires two|(need|at least) (2|two) GPUs|two or more GPUs' "$out/stdout" "$out/stderr" || break
    done
    rm -f "$out/a.out"
    { grep -a '^simgpu: ' "$out/stderr"; sed -E 's/fail[a-z]* as expected|(mismatch[a-z ]*(\([a-z ]*\))?|failures?|failed?) *[:=] *0\b *[)]?$//I' "$out/stdout"; grep -avE '^simgpu: |assertion failed: ' "$out/stderr"; echo "status $status"
        # shellcheck disable=SC2086 # a list of words
        [ -n "$arguments" ] || ! grep -qs 'argv\[1\]' -- $sources || grep -qsE 'argc *[-<>=!]|!argc' -- $sources || echo "takes argv[1] without a look at argc"
    } >"$out/run"
    if [ "$status" = 0 ]; then library=run; else library=fail; fi
    cause_of "$library" "$out/run" >"$out/cause" || printf 'ok\t-\n' >"$out/cause"
    # shellcheck disable=SC2086 # a list of words
    if grep -q '^in' "$out/cause" && has_gaps $sources; then
        printf 'out\tan exercise with gaps\n' >"$out/cause"
    fi
    say run "$(cat "$out/cause")"
}
export -f try cause_of has_gaps
export dir CAUSES

yes 16 | head -n 10000 >"$RESULTS/sixteens"
if [ $# -eq 0 ]; then set -- "$dir"/*/; fi
if [ -n "${LIST:-}" ]; then
    cp "$LIST" "$RESULTS/programs"
else
    for name in "$@"; do programs "$(basename "$name")" "$dir/$(basename "$name")"; done >"$RESULTS/programs"
fi
awk -v n="${PICK:-1}" 'NR % n == 0' "$RESULTS/programs" | tr '\n' '\0' | xargs -0 -r -n 1 -P "${JOBS:-$(nproc)}" bash -c 'try "$1"' foreign.sh

cat "$RESULTS"/*/result | sort >"$RESULTS/all.tsv"
echo '| repository | asked | compile | run | late | % of those in time | not asked |'
echo '|---|---:|---:|---:|---:|---:|---:|'
awk -F '\t' '
    function row(name, of) {
        return sprintf("| %s | %d | %d | %d | %d | %s | %d |", name, asked[of], compile[of], run[of], late[of],
            asked[of] > late[of] ? sprintf("%.0f", 100 * run[of] / (asked[of] - late[of])) : "", out[of])
    }
    function count(of) {
        if ($3 == "out") { out[of]++; return }
        asked[of]++; compile[of] += $2 == "run"; run[of] += $3 == "ok"; late[of] += $3 == "late"
    }
    { count("all programs"); count($1); seen[$1] }
    END { for (r in seen) print row(r, r) | "sort"; close("sort"); print row("**all**", "all programs") }' "$RESULTS/all.tsv"
printf '\n| programs | what stopped them | asked | one of them |\n|---:|---|---|---|\n'
awk -F '\t' '$3 != "ok" { c = $2 ": " $4 " | " ($3 == "out" ? "no" : "yes"); n[c]++; if (!(c in one)) one[c] = $5 }
    END { for (c in n) printf "| %d | %s | %s |\n", n[c], c, one[c] }' "$RESULTS/all.tsv" | sort -t '|' -k 4,4r -k 2,2nr -k 3,3
echo "each program's messages: $RESULTS" >&2

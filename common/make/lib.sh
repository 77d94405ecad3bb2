# shellcheck shell=bash
# Functions of the front door's scripts: finding a lab, building a program, running it apart from us.
# To be sourced, from the top folder of the project. Make has exported DEVICE (the lane) and B (its build folder).
#
#   die TEXT...             one message on stderr, exit 1
#   labs                    the numbers of all labs, one a line
#   lab_dir N, lab_file N   labs/lab3-transpose, transpose.cu; a message and exit 1 where there is no such lab
#   need_file FILE N        a message and exit 1 where lab N's file is gone
#   lab_tests N             tests/lab3: what proves this lab's grader (the starter as it was shipped, wrong/, cheat/)
#   lab_starter N           tests/lab3/starter.cu
#   need TOOL...            prints the command that installs what is missing, and fails (see need.sh)
#   build TARGET...         make, with the caller's -j or else all cores; BUILD_SECONDS limits it. Two of them in one build folder
#                           wait for each other: both would make what is not there yet
#   build_parts N [FILE]    what all programs of lab N share: its harness, the reference, SimGPU, and what the gate asks; and FILE
#   build_apart TARGET...   the same with a limit of BUILD_SECONDS (120) and 6 GB, for the compiler to read a stranger's file: its
#                           messages in $said, how it ended in $said.verdict; the folders of $hidden cannot be seen
#   compiled N PROGRAM      builds lab N's PROGRAM (.build/sim/mine/lab3), with gate.sh's look before it is linked, and where the
#                           folders HIDDEN=a:b cannot be seen. Prints what is wrong, and warnings, each time alike. Sets $refused:
#                           compile, gate or link; "" when it is built
#   apart COMMAND...        runs with file descriptors 3 and up closed: nothing of the grader's leaks into a student's program
#   limited PROGRAM ...     runs a lab's program apart, for at most LIMIT (120) seconds, its output and memory bounded, and all that
#                           it started ended with it; one message where a limit ended it, exit 124. On a terminal a line
#                           says after 3 seconds what it is at
#   clangs                  every clang-N on the PATH, 14 and newer, one a line
#   bluebar COMMAND...      the program that handles data (common/bluebar), built if it is not there
#   variant N WHERE         the name of a version of lab N's file; a submission is staged first. WHERE: `labs`, `solutions`,
#                           `starter`, another tree (WHERE/lab3-transpose/transpose.cu or WHERE/transpose.cu), a .cu
#                           file, or a .patch against one. DESK=folder keeps what is made from submissions apart, below
#                           $B, so that two can be graded at once
#   submission FILE         the name of a submitted file's variant
#   submitted N WHERE       lab N's file in such a tree; fails where there is none
#   others N SEED           the file below BLUEBAR_OTHERS with what other programs than the submission measure, for --others
#   card_name               how this machine's card is called in file names: h200, h100, rtx-3090
#   probe BASE              measures the card and its host (common/probe), with profile BASE for what an empty kernel takes; prints the figures
#   probe_host BASE         measures the host alone, in one process; $B/probe/host is there
#   stay_near               on a card, this script and what it starts keep to the half of the CPUs that is nearer to it
#   trace_card              for TRACE=trace.json on a real card: builds what writes it, and lets the driver open that
#   whole FILE              where the program is that FILE stands for: itself, or what a .patch file makes. That is one
#                           mistake: why and what in its first lines, then a unified diff against `--- solutions/...`
#   need_compilers          the same for this lane's compiler
#   commit                  the project's commit; COMMIT where there is no git
#   gpu_caption             "# NVIDIA H200, driver ..., CUDA ..., date, commit": the first line of a record of measured times
#   field RECORD ROW COL    one cell of a record (row id, column name)
#   score RECORD            "45 100" of a record; fails when the program did not come to its end

export BLUEBAR=${B:=.build/sim}/bluebar

die() {
    printf '%s\n' "$*" >&2
    exit 1
}

labs() {
    local d
    for d in labs/lab*-*/; do
        [ -d "$d" ] || continue
        d=${d#labs/lab}
        echo "${d%%-*}"
    done | sort -n
}

lab_dir() {
    local d
    for d in labs/lab"$1"-*/; do
        if [ -d "$d" ]; then
            echo "${d%/}"
            return
        fi
    done
    die "There is no lab '$1'. The labs here: $(labs | tr '\n' ' ')(type 'make' for their titles)."
}

lab_file() {
    local dir f
    dir=$(lab_dir "$1") || exit 1
    for f in solutions/"${dir#labs/}"/*.cu; do
        [ -f "$f" ] && echo "${f##*/}" && return
    done
    die "solutions/${dir#labs/}: no .cu file there names the file of lab $1 to edit."
}

need_file() { [ -f "$1" ] || die "$1 is not there, and it is the file that lab $2 is about. If it lies elsewhere: SUBMISSION=path. To begin again with the starter: make reset$2"; }

lab_tests() { echo "tests/lab$1"; }
lab_starter() { echo "$(lab_tests "$1")/starter.cu"; }

# Of clang and nvcc need.sh asks more than whether they are there.
need() {
    local tool
    for tool in "$@"; do
        case $tool in clang | nvcc) ;; *) ! command -v "$tool" >/dev/null || continue ;; esac
        common/make/need.sh "$@"
        return
    done
}

build() {
    local jobs=''
    if [[ ${MAKEFLAGS:-} =~ -j[0-9]+ ]]; then jobs=${BASH_REMATCH[0]}; fi
    [ -d "$B" ] || mkdir -p "$B"
    (
        flock 9
        env -u MAKEFLAGS -u MFLAGS ${BUILD_SECONDS:+timeout -k 5 "$BUILD_SECONDS"} "${MAKE:-make}" --no-print-directory -s "${jobs:--j$(nproc 2>/dev/null || echo 2)}" "$@" 9>&-
    ) 9>"$B/build.lock"
}

# Of a first build, what takes longest is made first, with what the programs wait for; then the programs, whose steps wait for
# each other, while the other cores compile SimGPU.
build_parts() {
    local ladder=$B/obj/lab$1/ladder.o first=
    [ -f "$(lab_dir "$1")/ladder.cu" ] || ladder=
    [ "$DEVICE" = gpu ] || [ -e "$B/lib/libcudart.so" ] || first=$B/first
    build ${first:+"$first"} ${2:+"$2"} "$B"/{reference,starter}/lab"$1.o" ${ladder:+"$ladder"} "$B/reference/lab$1" "$B/judge/lab$1."{rows,names} "$B/system-headers"
}

# One make, and no shell around it: each process counts in a grade.
build_apart() {
    local seconds=${BUILD_SECONDS:-120} progress=()
    if [ -t 2 ] || [ -n "${PROGRESS:-}" ]; then progress=(--name "the compiler"); fi
    "$BLUEBAR" run --quiet --seconds "$seconds" --memory 6144 --log "$said" --verdict "$said.verdict" ${progress[@]+"${progress[@]}"} ${hidden:+--hide "$hidden"} -- \
        env -u MAKEFLAGS -u MFLAGS "${MAKE:-make}" --no-print-directory -s "$@"
}

# The messages of the step that made the last of FILE ... are kept beside it: what is not built anew shows its warnings again.
build_step() {
    local said=$program.said status=0 made=${*: -1}
    build_apart "$@" || status=$?
    if [ "$status" != 0 ] || [ -s "$said" ] || [ ! "$made.messages" -nt "$made" ]; then
        mv "$said" "$made.messages"
        touch "$made.messages"
    fi
    case $(cat "$said.verdict") in
    time* | memory*) echo "The compiler did not come to an end in ${BUILD_SECONDS:-120} seconds with 6 GB of memory." >>"$made.messages" ;;
    esac
    return "$status"
}

compiled() {
    local n=$1 program=$2 goals=("$2.o") there=compiled last=$2.o hidden=''
    refused=''
    # Nothing has changed since it passed.
    if [ "$program.passed" -nt "$program.o" ] && [ "$program.passed" -nt "$B/judge/lab$n.names" ] && build -q "$program" 2>/dev/null; then
        "$BLUEBAR" compiler "${COMPILER_PREFIX:-}" <"$last.messages" >&2
        return
    fi
    mkdir -p "${program%/*}"
    rm -f "$program.passed"
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then goals=("$program."{before,o}); fi
    hidden=${HIDDEN:-}
    build_step "${goals[@]}" || there=
    hidden=''
    # The compiler's messages quote lines of files: they are shown after the gate's look.
    if ! look "$n" $there; then
        refused=gate
    elif [ -z "$there" ]; then
        refused=compile
    elif ! build_step "$program"; then
        last=$program
        refused='link'
    else
        touch "$program.passed"
    fi
    if [ "$refused" != gate ]; then "$BLUEBAR" compiler "${COMPILER_PREFIX:-}" <"$last.messages" >&2; fi
}

# A finding may name files as the submission does.
look() {
    local status=0
    common/make/gate.sh "$1" "$program" "${@:2}" >"$program.gate.said" || status=$?
    [ "$status" = 0 ] || "$BLUEBAR" quote <"$program.gate.said" >&2
    return "$status"
}

apart() {
    local err status=0
    exec {err}>&2
    # The shell's own remark on a crash ("line 63: 29416 Segmentation fault ...") would only confuse: not shown.
    {
        (
            exec 2>&"$err"
            for fd in /proc/self/fd/*; do
                fd=${fd##*/}
                [ "$fd" -gt 2 ] && eval "exec $fd>&-"
            done
            exec "$@"
        ) || status=$?
    } 2>/dev/null
    exec {err}>&-
    return "$status"
}

bluebar() {
    [ -x "$BLUEBAR" ] || build "$BLUEBAR" || exit 1
    "$BLUEBAR" "$@"
}

limited() {
    [[ ${LIMIT:-120} =~ ^[1-9][0-9]{0,5}$ ]] || die "LIMIT=$LIMIT: a whole number of seconds, from 1 on"
    local stage=$B/stage.$$ progress=()
    if [ -t 2 ]; then
        progress=(--name "${1##*/}" --stage "$stage")
        set -- "$@" --stage "$stage"
    fi
    bluebar run --seconds "${LIMIT:-120}" ${progress[@]+"${progress[@]}"} -- "$@"
}

card_name() {
    nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1 | awk '{
        $0 = tolower($0)
        gsub(/nvidia |geforce |tesla |quadro /, "")
        print $1 == "rtx" || $1 == "gtx" ? $1 "-" $2 : $1
    }'
}

probe_host() {
    local profile=common/simgpu/profiles/$1.conf key known=()
    for key in kernel_fixed_ns block_ns launch_way_ns; do known+=("$(awk -v key=$key '$1 == key { print $3 }' "$profile")"); done
    apart "$B/probe/host" "${known[@]}"
}

# From a CPU of another socket each call takes longer (beside an H200 cudaDeviceSynchronize 0.36 us from CPUs 0 to 7 and
# 0.70 us from 8 to 15, a launch 3.6 and 4.6 us), and a process stays where it begins. A virtual machine does not say which
# CPUs are near, so each half of them is asked, once for each start of the machine. Where the two are alike, as on another
# machine with an H200, all may be used.
stay_near() {
    local list cpus half from ns=() near known
    [ "$DEVICE" = gpu ] && command -v taskset >/dev/null && build "$B/probe/near" || return 0
    list=$(taskset -cp "$BASHPID") && list=${list##*: }
    known=$B/probe/near.$(echo "$(cat /proc/sys/kernel/random/boot_id) $list ${CUDA_VISIBLE_DEVICES:-}" | cksum | tr ' ' -)
    if [ ! -s "$known" ]; then
        mapfile -t cpus < <(tr ',' '\n' <<<"$list" | awk -F - '{ for (i = $1; i <= $NF; i++) print i }')
        half=$((${#cpus[@]} / 2)) near=$list
        [ "$half" -gt 0 ] || return 0
        for from in 0 "$half"; do
            ns+=("$(taskset -c "$(IFS=, && echo "${cpus[*]:from:half}")" "$B/probe/near")") || return 0
        done
        if [ $((ns[0] * 5)) -lt $((ns[1] * 4)) ]; then near=$(IFS=, && echo "${cpus[*]:0:half}"); fi
        if [ $((ns[1] * 5)) -lt $((ns[0] * 4)) ]; then near=$(IFS=, && echo "${cpus[*]:half:half}"); fi
        { echo "$near" >"$known.$$" && mv "$known.$$" "$known"; } || return 0
    fi
    taskset -cp "$(cat "$known")" "$BASHPID" >/dev/null || true
}

probe() {
    local r
    build "$B/probe/host" "$B/probe/device" || exit 1
    stay_near
    for r in 1 2 3 4 5; do probe_host "$1" >"$B/probe/host.$r" || return; done
    awk -f common/probe/median.awk "$B"/probe/host.[1-5]
    apart "$B/probe/device" || return
    nvidia-smi --query-gpu=pcie.link.gen.max,pcie.link.width.max --format=csv,noheader,nounits | head -n 1 | awk -F ', *' '{
        split("0.25 0.5 0.9846 1.9692 3.9385 7.563", lane, " ")
        if (lane[$1] * $2 > 0) printf "link_gbs\t%.4g\t%.4g\t%.4g\tproperty\n", lane[$1] * $2, lane[$1] * $2, lane[$1] * $2
    }'
}

trace_card() {
    local root
    root=$(dirname "$(dirname "$(readlink -f "$(command -v "${NVCC:-nvcc}")")")")
    [ -f "$root/include/cupti.h" ] || [ -f "$root/extras/CUPTI/include/cupti.h" ] ||
        die "TRACE: a card's timeline takes CUPTI, and the toolkit in $root has none. DEVICE=sim has the virtual card's."
    build .build/gpu/lib/trace.so || exit 1
    CUDA_INJECTION64_PATH=$(realpath .build/gpu/lib/trace.so)
    TRACE_CARD=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
    export CUDA_INJECTION64_PATH TRACE_CARD
}

field() { bluebar field "$@"; }
score() { bluebar score "$1"; }

clangs() {
    local n
    for n in {14..40}; do
        if command -v "clang-$n" >/dev/null; then echo "clang-$n"; fi
    done
}

commit() {
    local commit=${COMMIT:-}
    if [ -z "$commit" ]; then
        commit=$(git rev-parse --short HEAD 2>/dev/null) || { echo unknown && return; }
        git diff --quiet HEAD -- common labs solutions 2>/dev/null || commit="$commit and changes"
    fi
    echo "$commit"
}

gpu_caption() {
    echo "# $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1 | sed 's/, /, driver /'), $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p'), $(date -u +%Y-%m-%d), commit $(commit)"
}

variant() {
    local where=${2%/} source whole name
    lab_dir "$1" >/dev/null || exit 1
    case $where in
    labs)
        [ -n "${BLUEBAR_MINE:-}" ] || need_file "$(lab_dir "$1")/$(lab_file "$1")" "$1" || exit 1
        # The handouts show the starter, whatever the reader has done to it since (docs.sh).
        echo "${BLUEBAR_MINE:-mine}"
        return
        ;;
    solutions) echo reference && return ;;
    starter) echo starter && return ;;
    esac
    source=$(submitted "$1" "$where") || die "SUBMISSION=$2: neither $where/$(basename "$(lab_dir "$1")")/$(lab_file "$1") nor $where/$(lab_file "$1") is there."
    whole=$(whole "$source") || exit 1
    name=${DESK:+$DESK/}$(submission "$source")
    common/make/stage.sh "$whole" "$whole" "$B/$name/lab$1.cu"
    echo "$name"
}

# The end of the path, for people; and the checksum of all of it, since ann/lee and ann_lee look alike there.
submission() {
    local sum LC_ALL=C name=$1
    sum=$(printf %s "$1" | cksum)
    [ ${#name} -le 100 ] || name=${name: -100}
    echo "sub-${name//[!A-Za-z0-9.-]/_}-${sum%% *}"
}

submitted() {
    local dir file f
    dir=$(lab_dir "$1") || exit 1
    file=$(lab_file "$1") || exit 1
    for f in "$2/${dir#labs/}/$file" "$2/$file" "$2"; do
        if [ -f "$f" ]; then
            echo "$f"
            return
        fi
    done
    return 1
}

others() {
    [ -d "$BLUEBAR_OTHERS" ] || mkdir -p "$BLUEBAR_OTHERS"
    echo "$BLUEBAR_OTHERS/${B##*/}-lab$1-$2${PROFILE:+-$PROFILE}"
}

need_compilers() {
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then need nvcc readelf objdump || return; fi
    if [ "$DEVICE" = sim ]; then
        export CLANG=${CLANG:-$(common/make/find-clang.sh)} # found once, for every make that follows
        need clang readelf objdump
    fi
}

# The result lies in .build/patched/, under the patch's own path. A patch that no longer applies is an error: then the
# program that it changes has changed, and it must be made anew.
whole() {
    local base='' made new said line
    case $1 in
    *.patch) need patch || exit 1 ;;
    *) echo "$1" && return ;;
    esac
    while [ -z "$base" ] && IFS= read -r line; do case $line in '--- '*) base=${line#--- } ;; esac done <"$1"
    [ -n "$base" ] || die "$1: no line '--- FILE' says which program it changes."
    [ -f "$base" ] || die "$1 changes $base, which is not there."
    made=.build/patched/${1%.patch}.cu
    [ -d "${made%/*}" ] || mkdir -p "${made%/*}"
    new=$made.$BASHPID # two may make it at a time
    # --fuzz=0: every line that it shows must be there, or the mistake might land in another place.
    if ! said=$(patch --silent --fuzz=0 --no-backup-if-mismatch --reject-file=- --output="$new" "$base" "$1" 2>&1 </dev/null); then
        rm -f "$new"
        die "$1 does not apply to $base any more. Make it anew: change a copy of that file, and take diff -U1.
$said"
    fi
    if cmp -s "$new" "$made"; then rm "$new"; else mv "$new" "$made"; fi
    echo "$made"
}

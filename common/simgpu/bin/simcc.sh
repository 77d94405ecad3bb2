#!/bin/bash
# simcc: takes nvcc's place. Compiles CUDA C++ with clang and SimGPU's headers, and links it with SimGPU, so that
# `make NVCC=simcc` builds other people's programs.
#
#   simcc [nvcc's options] file...      simcc --help lists what is known
#
# A .cu file is read twice, as by nvcc: device code becomes PTX inside a fat binary, host code becomes an object with it
# inside. Device code goes through wide_copies and even_loops (see "Every clang" in SimGPU's README.md), as in the labs.
#
# With -rdc=true or -dc an object carries LLVM IR in place of PTX. The link joins the IR of all its objects and archives
# (`device_link`), compiles it as one module, and adds an object that registers it. `-dlink` writes that object alone.
#
# All paths are relative to the folder above this program's: bin/simcc, include/, lib/, and lib/simgpu/ with simcc.conf,
# which the build has filled with the compiler's name and the labs' flags.
set -u -o pipefail

root=$(dirname "$(dirname "$(readlink -f "$0")")")
tools=$root/lib/simgpu
clang='' cuda_flags='' ptx_flags='' optimise_flags='' link_flags='' release=''
# shellcheck source=/dev/null
. "$tools/simcc.conf" || exit 1
clang=${SIMCC_CLANG:-$clang}
cccl=()

die() {
    echo "simcc: $*" >&2
    exit 1
}

# --- what the options say ---------------------------------------------------------------------------------------------

mode='link' output='' folder=. language='' arch='' rdc=no fast=no depend_file='' forward=no verbose=no dry=no run_it=no
inputs=() link_inputs=() both=() host=() device=() optimise=() linker=() libraries=() lambda=() left_out=() depend=() target=() run_args=()
standard=-std=gnu++17
declare -A copies=() respelt=() # of files: what clang reads in their place; lines that respell_lines has seen
colours='' # say_more puts a file between the compiler and the terminal
if [ -t 2 ]; then colours=-fcolor-diagnostics; fi

usage() {
    cat <<'END'
simcc takes nvcc's place: it compiles CUDA C++ with clang and links it with SimGPU, a GPU in software.

  simcc program.cu -o program && ./program
  make NVCC=simcc

What to make   (nothing: a program)  -c  -dc  -dlink  -ptx  -fatbin  -E  -M -MM  -lib  -shared  -run
Output         -o FILE  -odir FOLDER  -MD -MMD -MP -MF FILE -MT NAME
Language       -std=c++11 ... c++20  -x cu  -D -U -I -isystem -include  --extended-lambda  --expt-relaxed-constexpr
Device code    -arch=sm_NN  -gencode ...  -rdc=true  --use_fast_math -ftz -fmad -prec-div -prec-sqrt  -Xcicc -O0
Host code      -O0 ... -O3  -g  -Xcompiler OPTION,...  -w
Linking        -l -L -Xlinker OPTION,...  -cudart shared
Seeing         -v  --dryrun  --version  --help
Accepted, with nothing to do
               -G -lineinfo -maxrregcount -Xptxas -Xnvlink -Xfatbin -ccbin -cudart static -m64 -t N, and nvcc's warnings
END
}

version() {
    cat <<END
nvcc: NVIDIA (R) Cuda compiler driver
This is simcc, which takes its place: $("$clang" --version | head -n 1), for SimGPU
Cuda compilation tools, release $release, V$release.0
END
}

# "sm_80", "compute_80", "arch=compute_80,code=[...]", "all", "native": the newest number in it decides __CUDA_ARCH__.
take_arch() {
    local n
    case $1 in
    native | *"arch=native"*) n=90 ;;
    all | all-major | *"arch=all"*) n=75 ;;
    *) n=$(grep -oE '(sm|compute|lto)_[0-9]+' <<<"$1" | grep -oE '[0-9]+$' | sort -n | tail -n 1) ;;
    esac
    [ -n "$n" ] || die "$1: no architecture of the kind sm_80 or compute_80"
    if [ "${arch:-0}" -lt "$n" ]; then arch=$n; fi
}

take_standard() {
    case $1 in
    c++03 | c++98 | gnu++98 | gnu++03) standard=-std=gnu++11 ;;
    c++* | gnu++*) standard=-std=gnu++${1##*++} ;;
    *) die "-std=$1: simcc knows c++11, c++14, c++17 and c++20" ;;
    esac
}

# Options of the host's compiler. The preprocessor's hold for device code too.
take_host_options() {
    local option options
    IFS=, read -ra options <<<"$1"
    for option in ${options[@]+"${options[@]}"}; do
        option=${option#\"} option=${option%\"}
        case $option in
        -D* | -U* | -I* | -include* | -isystem*) both+=("$option") ;;
        -fopenmp*) host+=("$option") device+=(-D_OPENMP=201511) linker+=("$option") ;;
        -Wl,* | -pthread | -rdynamic | -fsanitize*) host+=("$option") linker+=("$option") ;;
        -std=*) take_standard "${option#-std=}" ;;
        -flto*) ;; # without it the link needs no LTO plugin, and the program does the same
        *) host+=("$option") ;;
        esac
    done
}

take_linker_options() {
    local option options
    IFS=, read -ra options <<<"$1"
    for option in ${options[@]+"${options[@]}"}; do linker+=(-Xlinker "$option"); done
}

# CUDA's libraries: what SimGPU is or has in its headers is left out silently, what it lacks is named if the link fails.
take_library() {
    case $1 in
    cudart | cudart_static | cudadevrt | nvToolsExt | nvtx3interop | culibos | cuda_profiler_api) ;;
    cublas | cublas_static) libraries+=(-lcublas) ;;
    cublasLt | cublasLt_static) libraries+=(-lcublasLt -lcublas) ;;
    curand | curand_static) libraries+=(-lcurand) ;;
    cublas* | cufft* | cusparse* | cusolver* | cudnn* | nccl* | nvrtc* | npp* | nvjpeg* | cufile* | nvml | nvidia-ml | cupti | cutensor*)
        left_out+=("$1")
        ;;
    *) libraries+=("-l$1") ;;
    esac
}

take_input() {
    [ -e "$1" ] || die "$1: there is no such file"
    case ${language:-${1##*.}} in
    cu) inputs+=("$1") ;;
    c | cc | cpp | cxx | c++ | C | CPP) inputs+=("$1") ;;
    o | obj | a | so | lo) link_inputs+=("$1") libraries+=("$1") ;;
    ptx | cubin | fatbin) die "$1: simcc compiles and links; a program loads such a file by the driver API (cuModuleLoad)" ;;
    *)
        case $1 in
        *.so.*) link_inputs+=("$1") libraries+=("$1") ;;
        *) die "$1: a file of this kind is not known; simcc takes .cu .c .cpp .o .a .so (or -x cu for CUDA C++ of any name)" ;;
        esac
        ;;
    esac
}

known_nothing_to_do() {
    case $1 in
    lineinfo | generate-line-info | G | device-debug | expt-relaxed-constexpr | \
        m64 | m=64 | machine=64 | keep | save-temps | clean | src-in-ptx | restrict | res-usage | resource-usage | no-compress | \
        extra-device-vectorization | Wreorder | Wdefault-stream-launch | Wmissing-launch-bounds | Wext-lambda-captures-this | \
        Wno-deprecated-gpu-targets | Wno-deprecated-declarations | disable-warnings | \
        display-error-number | no-display-error-number | err-no | allow-unsupported-compiler | objdir-as-tempdir | \
        dlto | lto | time | dont-use-profile | nodlink | forward-unknown-to-host-linker | cudadevrt | noprof | diag-suppress | use-local-env | relocatable-ptx | gen-opt-lto) return 0 ;;
    esac
    return 1
}

# Options with a value, "-name value" or "-name=value": sets $value, and $shifts to 2 where it was the next word.
with_value() {
    case $word in
    *=*) value=${word#*=} ;;
    *)
        [ "$words" -ge 2 ] || die "$word needs a value"
        value=$next shifts=2
        ;;
    esac
}

# A switch of the device's optimiser, for the value false: these words.
unless_true() {
    case $value in
    false | 0) optimise+=("$@") ;;
    true | 1) ;;
    *) die "$word: true or false" ;;
    esac
}

fast_math() {
    fast=yes
    both+=(-D__USE_FAST_MATH__)
    device+=(-fcuda-flush-denormals-to-zero)
    optimise+=(-mllvm -nvptx-prec-divf32=0 -mllvm -nvptx-prec-sqrtf32=0)
}

# -v says where things are, in nvcc's words, before anything is looked at: CMake reads them.
say_places() {
    verbose=yes
    cat >&2 <<END
#\$ TOP=$root
#\$ NVVMIR_LIBRARY_DIR=$root/nvvm/libdevice
#\$ PATH=$root/bin:$PATH
#\$ INCLUDES="-I$root/include"
#\$ LIBRARIES="-L$root/lib"
END
}

# With -forward-unknown-to-host-compiler (CMake says so) what is not known goes there.
unknown() {
    if [ "$forward" = yes ]; then take_host_options "$word" && return; fi
    die "$word: this option is not known. simcc --help lists what is; -Xcompiler $word hands it to the host's compiler"
}

# Takes one option and its value; name: without dashes and value.
take_option() {
    local name=${word#-}
    name=${name#-}
    case $name in
    o | output-file | output-file=* | o=*) with_value && output=$value ;;
    odir | output-directory | odir=* | output-directory=*) with_value && folder=$value ;;
    c | compile) mode=compile ;;
    dc | device-c) mode=compile rdc=yes ;;
    dw | device-w) mode=compile rdc=no ;;
    dlink | device-link) mode=dlink ;;
    ptx | fatbin | E | M | MM | lib) mode=$name ;;
    preprocess) mode=E ;;
    generate-dependencies) mode=M ;;
    generate-nonsystem-dependencies) mode=MM ;;
    link) mode='link' ;;
    shared) linker+=(-shared) ;;
    run) run_it=yes ;;
    run-args | run-args=*) with_value && run_args+=("$value") ;;
    cubin | ltoir | optix-ir | cuda | ewp) die "-$name: SimGPU has no machine code; it runs PTX. Use -ptx or -fatbin" ;;
    MD | MMD | MP) depend+=("-$name") ;;
    generate-dependencies-with-compile) depend+=(-MD) ;;
    generate-nonsystem-dependencies-with-compile) depend+=(-MMD) ;;
    generate-dependency-targets) depend+=(-MP) ;;
    MF | MF=* | dependency-output | dependency-output=*) with_value && depend_file=$value ;;
    MT | MT=* | dependency-target-name | dependency-target-name=*) with_value && target=(-MT "$value") ;; # as it is given
    MQ) with_value && target=(-MQ "$value") ;; # quoted for make; of gcc, nvcc has none
    rdc | relocatable-device-code | rdc=* | relocatable-device-code=*)
        with_value
        case $value in true) rdc=yes ;; *) rdc=no ;; esac
        ;;
    arch | gpu-architecture | arch=* | gpu-architecture=* | code | gpu-code | code=* | gpu-code=*) with_value && take_arch "$value" ;;
    gencode | generate-code | gencode=* | generate-code=*)
        value=${word#*=}
        case $name in gencode | generate-code) with_value ;; esac
        take_arch "$value"
        ;;
    std | std=*) with_value && take_standard "$value" ;;
    x | language | x=* | language=*)
        with_value
        case $value in cu) language=cu ;; c | c++) language=${value/c++/cpp} ;; *) die "-x $value: cu, c or c++" ;; esac
        ;;
    Xcompiler | compiler-options | Xcompiler=* | compiler-options=*) with_value && take_host_options "$value" ;;
    Xlinker | linker-options | Xlinker=* | linker-options=*) with_value && take_linker_options "$value" ;;
    Xptxas | ptxas-options | Xnvlink | nvlink-options | Xfatbin | fatbin-options | Xarchive | archive-options | maxrregcount | ccbin | \
        compiler-bindir | t | threads | split-compile | cudart | cudadevrt | diag-suppress | diag-warn | diag-error | compress-mode | \
        keep-dir | machine | m | nvlink-arch | Xcudafe | cudafe-options | Xopencc | opencc-options | target-dir | drive-prefix | minimal | idp | ddp | \
        Wno-error | Werror | entries | arch-list | fdevice-time-trace)
        with_value
        ;;
    Xptxas=* | ptxas-options=* | Xnvlink=* | nvlink-options=* | Xfatbin=* | fatbin-options=* | maxrregcount=* | ccbin=* | compiler-bindir=* | t=* | \
        threads=* | cudart=* | cudadevrt=* | diag-suppress=* | diag-warn=* | diag-error=* | compress-mode=* | keep-dir=* | Xcudafe=* | split-compile=* | Werror=* | \
        target-dir=* | dopt=*) ;;
    default-stream | default-stream=*)
        with_value
        [ "$value" != per-thread ] || both+=(-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1)
        ;;
    use_fast_math) fast_math ;;
    extended-lambda | expt-extended-lambda | extended-lambda=* | expt-extended-lambda=*) lambda=(-include functional) ;; # as nvcc, with all that it includes
    ftz | ftz=*)
        with_value
        case $value in true | 1) device+=(-fcuda-flush-denormals-to-zero) ;; esac
        ;;
    fmad | fmad=*) with_value && unless_true && case $value in false | 0) optimise_flags=${optimise_flags/fma-level=2/fma-level=0} ;; esac ;;
    prec-div | prec-div=*) with_value && unless_true -mllvm -nvptx-prec-divf32=0 ;;
    prec-sqrt | prec-sqrt=*) with_value && unless_true -mllvm -nvptx-prec-sqrtf32=0 ;;
    I | include-path | isystem | system-include | include | pre-include | include-path=* | system-include=* | isystem=* | include=* | pre-include=*)
        with_value
        case $name in
        I | include-path*) both+=(-I "$value") ;;
        *system*) both+=(-isystem "$value") ;;
        *) both+=(-include "$value") ;;
        esac
        ;;
    I*) both+=("-$name") ;;
    D | U | define-macro | undefine-macro | define-macro=* | undefine-macro=*)
        with_value
        case $name in U | undefine*) both+=("-U$value") ;; *) both+=("-D$value") ;; esac
        ;;
    D* | U*) both+=("-$name") ;;
    L | library-path | library-path=*) with_value && libraries+=("-L$value") ;;
    L*) libraries+=("-$name") ;;
    l | library | library=*) with_value && take_library "$value" ;;
    l[!i]*) take_library "${name#l}" ;;
    O | optimize | O=* | optimize=*) with_value && host+=("-O$value") ;;
    O*) host+=("-$name") ;;
    Xcicc | Xcicc=*) with_value && optimise+=("$value") ;; # the optimiser of device code, as -Xcicc -O0
    g | debug) host+=(-g -gdwarf-4) ;;
    pg | profile) host+=(-pg) linker+=(-pg) ;;
    w) host+=(-w) ;;
    Wall | Wextra | W*) if ! known_nothing_to_do "$name"; then host+=("-$name"); fi ;;
    forward-unknown-to-host-compiler | forward-unknown-opts) forward=yes ;;
    forward-unknown-to-host-linker) ;;
    pthread | march=* | mtune=* | f[PIa-z]*)
        case $word in --*) unknown ;; esac
        take_host_options "-$name"
        ;;
    optf | options-file | optf=* | options-file=*)
        with_value
        local more
        mapfile -t more < <(xargs -n 1 printf '%s\n' <"$value") || die "$value: cannot be read"
        take_all ${more[@]+"${more[@]}"}
        ;;
    v | verbose) say_places ;;
    dryrun | dry-run) dry=yes verbose=yes ;;
    V | version) version && exit 0 ;;
    h | help) usage && exit 0 ;;
    *)
        known_nothing_to_do "$name" || unknown
        ;;
    esac
}

take_all() {
    local word next words shifts value
    while [ $# -gt 0 ]; do
        word=$1 next=${2-} words=$# shifts=1 value=''
        case $word in
        @*) take_all -optf "${word#@}" ;;
        -?*) take_option ;;
        *) take_input "$word" ;;
        esac
        shift "$shifts"
    done
}

# --- compiling --------------------------------------------------------------------------------------------------------

run() {
    if [ "$verbose" = yes ]; then echo "#\$ ${*@Q}" >&2; fi
    [ "$dry" = yes ] || "$@"
}

# Sets $real: the path $1 without the steps that lead back, so that headers which include each other by ../ have one name.
set_real() {
    real=${1//\/.\//\/}
    while [[ $real =~ ^((.*/)?)([^/.][^/]*)/\.\./(.*)$ ]]; do real=${BASH_REMATCH[1]}${BASH_REMATCH[4]}; done
    [ -f "$real" ] || real=$1 # past a link to a folder
}

# Sets $own: the file $1, what it includes of its own folder and of those of -I, and these again, each by the name by
# which clang opens it; and $folders, those of -I. CUDA's C++ library is left out.
find_own() {
    local i file name folder near real level=("$1") next
    local -A seen=(["$1"]=1)
    folders=()
    for ((i = 0; i < ${#both[@]}; i++)); do
        case ${both[i]} in
        -I) folders+=("${both[i + 1]-}") ;;
        -I*) folders+=("${both[i]#-I}") ;;
        esac
    done
    own=("$1")
    while [ "${#level[@]}" -gt 0 ]; do
        next=()
        while IFS=: read -r file name; do
            near=()
            case $name in
            *[\"\<]thrust/* | *[\"\<]cub/* | *[\"\<]cuda/*) continue ;;
            *\"*) case $file in */*) near=("${file%/*}/") ;; *) near=('') ;; esac ;;
            esac
            name=${name#*[\"<]}
            for folder in ${near[@]+"${near[@]}"} ${folders[@]+"${folders[@]/%//}"}; do
                [ -f "$folder$name" ] || continue
                set_real "$folder$name"
                [ -n "${seen[$real]-}" ] || next+=("$real")
                seen[$real]=1
                break
            done
        done < <(grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+' -- "${level[@]}")
        level=(${next[@]+"${next[@]}"})
        own+=(${level[@]+"${level[@]}"})
    done
}

# clang reads $2 where a program has $1, under its own name.
overlay_file() {
    local name
    copies[$(readlink -f "$1")]=$2
    for name in "$1" "$(readlink -f "$1")" "$PWD/$1"; do
        printf '{"type": "file", "name": "%s", "external-contents": "%s"},\n' "$name" "$2"
    done >>"$work/overlaid"
    { echo '{"version": 0, "use-external-names": false, "roots": ['; sed '$s/,$//' "$work/overlaid"; echo ']}'; } >"$work/overlay.yaml"
    overlay=(-ivfsoverlay "$work/overlay.yaml")
}

# What nvcc's front end takes and clang's does not: a launch written `<< <` or `>> >`, or with a list in braces for the
# grid or the block; a macro whose text is a #pragma; alignas behind __shared__; the name of a special register with one %
# in assembly; operands of assembly without a comma between them; before clang 15, the word __noinline__; the destructor of
# cuda::barrier, which no shared variable runs (clang refuses a variable that has one). clang reads such a file from a
# copy, under its own name.
respell() {
    local file copy name n=0 texts=() comma='\)([[:space:]]+"[=+]?&?[a-zA-Z]"[[:space:]]*\()' braces='(<<<([^;>]*,)?[[:space:]]*)\{' word='s/(^|[^%])%(globaltimer|laneid|warpid|smid|nsmid|clock64|clock|lanemask_[a-z]+|tid|ntid|ctaid|nctaid)\b/\1%%\2/g'
    overlay=() copies=() respelt=() rounds=''
    rm -f "$work/overlaid"
    mapfile -t texts < <({ grep -lE '<<[[:space:]]+<|<[[:space:]]+<<|<<<.*(>>[[:space:]]+>|>[[:space:]]+>>)|__noinline__|__shared__[[:space:]]+alignas|asm.*[^%]%[a-z]|#[[:space:]]*define.*#[[:space:]]*pragma' -- "${own[@]}"
        grep -lzE "asm.*$comma|$braces" -- "${own[@]}"
        for file in ${folders[@]+"${folders[@]}"} ${cccl[@]+"${cccl[@]}"}; do
            name=$file/cuda/__barrier/barrier_block_scope.h
            [ ! -f "$name" ] || echo "$name"
        done; } | sort -u)
    [ "${#texts[@]}" -gt 0 ] || return 0
    for file in "${texts[@]}"; do
        n=$((n + 1)) copy=$work/respelt$n
        sed -E -e "/asm/$word" -e 's/^([ \t]*#[ \t]*define[ \t].*)#[ \t]*pragma[ \t]+([^"\\]*[^"\\ \t\r])/\1_Pragma("\2")/' -e 's/(__shared__[ \t]+)alignas\b/\1_Alignas/g; s/<<[ \t]+</<<</g; s/<[ \t]+<</<<</g; s/>>[ \t]+>[ \t]*\(/>>>(/g; s/>[ \t]+>>[ \t]*\(/>>>(/g; s/(^|[^(_[:alnum:]])__noinline__\b/\1__attribute__((noinline))/g' "$file" | sed -zE ":a; s/$braces/\1dim3{/; ta; s/$comma/),\1/g" >"$copy"
        case $file in */barrier_block_scope.h) sed -i 's/~barrier()/void simgpuLeave()/' "$copy" ;; esac
        overlay_file "$file" "$copy"
    done
}

# Is $1 a list in braces with only a semicolon behind it, or one that begins or goes on in the next line?
ends_statement() {
    local rest=$1 depth=0 c
    [[ $rest =~ ^[[:space:]]*(\{|$) ]] || return
    while [[ $rest =~ [{}] ]]; do
        c=${BASH_REMATCH[0]} rest=${rest#*"$c"}
        if [ "$c" = '{' ]; then depth=$((depth + 1)); else depth=$((depth - 1)); fi
        if [ "$depth" = 0 ]; then
            [[ $rest =~ ^[[:space:]]*\; ]]
            return
        fi
    done
}

# Sets $text to $before and $after, with what makes an integer of a pointer before it is cut to a smaller one: of such a
# cast, `(int)p`, `int(p)` or `reinterpret_cast<int>(p)`, nvcc only warns. (In host code that is up to the host's compiler.)
respell_cast() {
    local rest depth=0 c part='' cast type number='^(unsigned|signed|int|short|char|u?int(8|16|32)_t|uint|[[:space:]])+$' named='^reinterpret_cast[[:space:]]*<([^<>()]*)>[[:space:]]*\('
    if [[ $after =~ ^\([[:space:]]*([A-Za-z_][A-Za-z0-9_:[:space:]]*)\) ]]; then
        cast=${BASH_REMATCH[0]} type=${BASH_REMATCH[1]}
        # A macro may cast numbers, too; if the type is its argument, some would lose what does not fit a long.
        [[ $1 == macro* && ! $type =~ $number ]] || text="$before$cast(long)${after#"$cast"}"
    elif [[ $after =~ $named ]]; then
        text="$before(${BASH_REMATCH[1]})(long)(${after#"${BASH_REMATCH[0]}"}"
    elif [[ $1 != macro* && $after =~ ^[A-Za-z_][A-Za-z0-9_:]*[[:space:]]*\( ]]; then
        part=${BASH_REMATCH[0]}'(long)(' rest=${after#"${BASH_REMATCH[0]}"}
        while [[ $rest =~ ^[^()]*([()]) ]]; do
            c=${BASH_REMATCH[1]} part+=${BASH_REMATCH[0]} rest=${rest#"${BASH_REMATCH[0]}"}
            if [ "$c" = '(' ]; then depth=$((depth + 1)); elif [ "$depth" = 0 ]; then text="$before$part)$rest" && return; else depth=$((depth - 1)); fi
        done
    fi
}

# Prints __device__ or __host__ __device__, as the template has them whose name is at $1, FILE:LINE:COLUMN: by themselves, or
# by a macro of the program's own files. Prints nothing if it has neither.
qualifiers_at() {
    local file line column text word found=''
    IFS=: read -r file line column <<<"$1"
    file=${copies[$(readlink -f "$file")]-$file}
    text=$(sed -n "$((line > 6 ? line - 6 : 1)),$((line - 1))p" "$file") word=$(sed -n "${line}p" "$file")
    text+=" ${word:0:column-1}"
    text=${text##*[;\}]} # of this declaration
    while read -r word; do
        case $word in
        __host__ | __device__) found+=" $word" ;;
        *) found+=" $(grep -hE "^[[:space:]]*#[[:space:]]*define[[:space:]]+$word\b.*__device__" -- "${own[@]}" | head -n 1 | grep -oE '__(host|device)__' | tr '\n' ' ')" ;;
        esac
    done < <(grep -oE '[A-Za-z_][A-Za-z0-9_]*' <<<"${text##*template}")
    case $found in *__host__*__device__* | *__device__*__host__*) echo '__host__ __device__' ;; *__device__*) echo __device__ ;; esac
}

# Sets $text, a line of a program, to what clang takes and what means the same: $1 is clang's message, or a word of `refused`,
# $2 the column. nvcc takes __host__ and __device__ of a function that was declared before also for its definition, where
# clang sees another function, those of a definition for the declaration before it, and those of a template for its
# specializations and instantiations; it takes values of an array of variable length, `= {0}` and others (see simgpu_listed.h).
respell_line() {
    local before=${text:0:$2-1} after=${text:$2-1} words=__device__ array was element size sizes dimensions class='^(.*[^A-Za-z0-9_:>~]|)[A-Za-z_][A-Za-z0-9_]*(<[^()]*>)?::$'
    case $1 in
    *' loses information'*)
        respell_cast "$1"
        return
        ;;
    specialization*) words=$(qualifiers_at "${1#* }") ;;
    declaration*) words='__host__ __device__' ;;
    *variable-sized*)
        array=${before%[*}
        array=${array##*[^A-Za-z0-9_]}
        was=$text
        text=$(sed -E "s/\b$array(\[[^;=]*\])[ \t]*=[ \t]*\{[ \t]*(0(\.0*)?f?)?[ \t]*\}[ \t]*;/$array\1; __builtin_memset($array, 0, sizeof $array);/" <<<"$text")
        [ "$text" = "$was" ] && [[ $text =~ (^|[^A-Za-z0-9_])($array((\[[^]\;=]*\][ $'\t']*)+))=(.*) ]] || return 0
        array=${BASH_REMATCH[2]} after=${BASH_REMATCH[5]} element=${BASH_REMATCH[2]%%\[*}
        dimensions=${BASH_REMATCH[3]//[!\[]/}
        before=${text%"$array=$after"}
        if [ -z "$element" ] || [[ $before =~ (^|[^A-Za-z0-9_])(for[[:space:]]*\(|const[^*\;]*$) ]] || ! ends_statement "$after"; then return; fi
        sizes="&$element${dimensions//\[/[0]}"
        for ((size = 0; size <= ${#dimensions}; size++)); do
            words=${dimensions:0:size}
            sizes+=", sizeof $element${words//\[/[0]}"
        done
        text="${before}$array; simgpuListed<__typeof__($element${dimensions//\[/[0]}), ${#dimensions}>($sizes) =$after"
        [[ " ${common[*]} " == *' simgpu_listed.h '* ]] || common+=(-include simgpu_listed.h)
        return
        ;;
    *overload*) words='__host__ __device__' ;;
    esac
    [ -n "$words" ] || return 0
    while [[ $before =~ $class ]]; do after=${before#"${BASH_REMATCH[1]}"}$after before=${BASH_REMATCH[1]}; done
    text="$before$words $after"
}

# Prints, as FILE:LINE:COLUMN:message, each place of the compiler's words where respell_line may help. For a declaration that
# lacks what its definition has, and for a macro, that place is in a note; the note on a template becomes the message.
refused() {
    sed 's/\x1b\[[0-9;]*[mK]//g' "$work/said" | awk '
        function flush() { if (said != "" && place != "") print place ":" said; if (inner != "") print inner ":macro: loses information"; said = inner = "" }
        !match($0, /^[^:]+:[0-9]+:[0-9]+: /) { next }
        { here = substr($0, 1, RLENGTH - 2); words = substr($0, RLENGTH + 1) }
        words ~ /^(fatal )?error: |^warning: / { flush(); place = here }
        words ~ /^error: (.* cannot overload __host__ __device__ function \047|out-of-line definition of \047.*\047 does not match any declaration in (namespace )?\047|variable-sized object may not be initialized|cast from pointer to smaller type .* loses information)/ { said = words }
        words ~ /^error: __host__ __device__ function \047.* cannot overload __(host|device)__ function \047/ { place = ""; said = "declaration" }
        words ~ /^error: (no function template matches function template specialization|explicit instantiation of .* does not refer to a function template)/ { place = ""; said = "specialization"; of = here }
        words ~ /^note: previous declaration is here/ && said == "declaration" && here !~ "^/usr/" { place = here }
        words ~ /^note: candidate template ignored: target attributes do not match/ && said == "specialization" { place = of; said = said " " here }
        words ~ /^note: expanded from macro / && said ~ /loses information/ { inner = here; if (said !~ /^macro/) said = "macro: loses information" }
        words ~ /^note: in instantiation of / && said ~ /loses information/ { said = inner = "" } # of other types it may cast numbers
        END { flush() }'
}

# Does so for the lines that the compiler's messages name. Returns 1 if there was none.
respell_lines() {
    local file line column said key text old copy none=1 LC_ALL=C
    [ -n "$rounds" ] || show_said >"$work/said.first"
    while IFS=: read -r file line column said; do
        file=$(readlink -f "$file")
        case $file in "$root"/*) continue ;; esac
        key=$file:$line
        case $said in *" loses information") key+=:$column ;; esac # clang may stop in the middle of a line with many
        [ "${respelt[$key]:-${#rounds}}" = "${#rounds}" ] || continue
        respelt[$key]=${#rounds}
        copy=${copies[$file]-}
        if [ -z "$copy" ]; then
            copy=$work/lines${#copies[@]}
            cp "$file" "$copy" && overlay_file "$file" "$copy"
        fi
        old=$(sed -n "${line}p" "$copy") text=$old
        respell_line "$said" "$column"
        [ "$text" = "$old" ] || { TEXT=$text awk -v line="$line" 'NR == line { $0 = ENVIRON["TEXT"] } { print }' "$copy" >"$copy.new" && mv "$copy.new" "$copy" && none=0; }
    done < <(refused | sort -t : -k 1,1 -k 2,2n -k 3,3nr -u)
    rounds+=+
    [ "$none" = 1 ] || [[ " ${common[*]} " == *' -ivfsoverlay '* ]] || common+=("${overlay[@]}")
    return "$none"
}

# Does so for free functions of the device that lack a body: if their declaration says __device__ and a definition does not,
# clang takes that one for another function, of the host, and says nothing. With __host__, too, the declaration is the
# definition's (see respell_lines), as with nvcc. Returns 1 if there was none.
respell_bodiless() {
    local file name copy none=1
    while read -r name; do
        name=$(readable "$name") name=${name%%(*}
        name=${name##*[ :]}
        for file in "${own[@]}"; do
            copy=${copies[$(readlink -f "$file")]-$file}
            if ! grep -qzE "__device__[^;{}()]*\b${name}[[:space:]]*\([^;{}]*\)[[:space:]]*;" "$copy"; then continue; fi
            grep -qzE "\b${name}[[:space:]]*\([^;{}()]*\)[[:space:]]*\{" "${own[@]}" || continue
            if [ "$copy" = "$file" ]; then
                copy=$work/lines${#copies[@]}
                cp "$file" "$copy" && overlay_file "$file" "$copy"
            fi
            sed -i -zE "s/(__host__[[:space:]]+)?__device__([^;{}()]*\b${name}[[:space:]]*\([^;{}]*\)[[:space:]]*;)/__host__ __device__\2/g" "$copy"
            none=0
        done
    done < <(sed -nE 's/^declare .*@(_Z[A-Za-z0-9_]+)\(.*/\1/p' "$work/first.ll")
    [ "$none" = 1 ] || [[ " ${common[*]} " == *' -ivfsoverlay '* ]] || common+=("${overlay[@]}")
    return "$none"
}

# Prints the compiler's words, with the program's own line and column where clang has read a respelt line (said.awk).
show_said() {
    local file copy LC_ALL=C
    if [ "${#copies[@]}" = 0 ]; then cat "$work/said" && return; fi
    while IFS= read -r file; do
        copy=${copies[$(readlink -f "$file")]-}
        if [ -n "$copy" ]; then printf '%s\t%s\n' "$file" "$copy"; fi
    done < <(sed 's/\x1b\[[0-9;]*[mK]//g' "$work/said" | sed -nE 's/^([^:]+):[0-9]+:[0-9]+: .*/\1/p' | sort -u) >"$work/copied"
    awk -v copied="$work/copied" -f "$tools/said.awk" "$work/said"
}

# Has the compiler refused the header that set_start gave it? The system has another compiler, or other headers, since it was made.
# Then it is removed.
refused_header() { [ "${start[0]}" = -Xclang ] && grep -E 'error: .*(PCH file|AST file|precompiled header)' "$work/said" | grep -qF "${start[3]}" && rm -rf "${start[3]%/*}"; }

# Runs a compiler, and shows its words. Returns 4, without them, if it is to be run again: see refused_header.
show() {
    local status=0
    "$@" 2>"$work/said" || status=$?
    if [ "$status" != 0 ] && refused_header; then return 4; fi
    show_said >&2
    return "$status"
}

# Sets $cccl, where CUDA's C++ library (Thrust, CUB, libcu++) is: SIMCC_CCCL names a toolkit's headers or a checkout. A
# distribution's lie in /usr/include, where the compiler looks after the stubs that say what is missing; so it gets them
# by another folder.
find_cccl() {
    local folder
    if [ -n "${SIMCC_CCCL-}" ]; then
        for folder in "$SIMCC_CCCL"/{libcudacxx/include,cub,thrust} "$SIMCC_CCCL"; do
            if [ -d "$folder/cuda/std" ] || [ -d "$folder/cub/block" ] || [ -f "$folder/thrust/version.h" ]; then cccl+=(-I "$folder"); fi
        done
        [ "${#cccl[@]}" -gt 0 ] || die "SIMCC_CCCL=$SIMCC_CCCL has neither thrust/ nor cub/ nor cuda/std/ in it"
    elif [ -f /usr/include/thrust/version.h ]; then
        cccl=(-I "$work/cccl" "-fdebug-prefix-map=$work/cccl=/usr/include") && mkdir "$work/cccl"
        for folder in /usr/include/{thrust,cub,cuda,nv}; do [ ! -d "$folder" ] || ln -s "$folder" "$work/cccl/"; done
    fi
}

# Sets what both passes over the .cu file $1 are told: $fixed, the same for all programs, and $common.
set_common() {
    local major=${release%%.*}
    find_own "$1"
    respell
    # Texture and surface references, which CUDA 12 dropped; their names are free for other programs.
    old=()
    if grep -qE '\btexture[[:space:]]*<' -- "${own[@]}"; then old+=(-include texture_fetch_functions.h); fi
    if grep -qE '\bsurface[[:space:]]*<[[:space:]]*void' -- "${own[@]}"; then old+=(-include surface_functions.h); fi
    # shellcheck disable=SC2206 # lists of words
    common=() fixed=($cuda_flags $standard -I "$root/include"
        -Xclang -fcuda-allow-variadic-functions # as nvcc; CUDA's C++ library declares such functions, and calls none
        -U__CUDA_ARCH_LIST__ -D__CUDA_ARCH_LIST__="$arch"0 -DSIMGPU_TRIVIAL_VECTORS -D__NVCC__ -D__CUDACC__ -D__CUDACC_VER_MAJOR__="$major" -D__CUDACC_VER_MINOR__="${release#*.}" -D__CUDACC_VER_BUILD__=0 -D__CUDACC_EXTENDED_LAMBDA__
        -fno-strict-return # a function that ends without its return statement returns, as behind nvcc; clang would run on
        -Wno-error=return-type -Wno-c++11-narrowing -Wno-register -Wno-reserved-user-defined-literal -Wno-unused-command-line-argument -Wno-unknown-warning-option)
    if [ "$rdc" = yes ]; then
        # clang 21 and later register kernels another way by default, for a linker of their own.
        if [ "$("$clang" -dumpversion | cut -d . -f 1)" -gt 15 ]; then fixed+=(--no-offload-new-driver); fi
        fixed+=(-fgpu-rdc -D__CUDACC_RDC__)
        common+=(-Xclang "-cuid=$(printf %s "$(readlink -f "$1")" | cksum | tr -d ' ')")
    fi
    # shellcheck disable=SC2206
    common+=($colours ${lambda[@]+"${lambda[@]}"} ${old[@]+"${old[@]}"} ${overlay[@]+"${overlay[@]}"}
        ${both[@]+"${both[@]}"} ${cccl[@]+"${cccl[@]}"} -I "$root/include/unsupported") # last: what the user has comes before the stub that says it is missing
}

# Sets $start: $1 (device or host), a pass with the further words, reads cuda_runtime.h first, or takes it as it was read before where
# nothing in this program can make it say something else (headers.sh).
set_start() {
    local word previous='' ready='' own=()
    start=(-include cuda_runtime.h)
    # In C++20 clang takes a function of the host and one of the device for one with two bodies, if it has read them before.
    if [[ $standard == *++2* ]] || [ "${#cccl[@]}" != 0 ] || [ "$dry" = yes ]; then return; fi
    # A list of dependencies names the headers that are read. The environment may name other folders to look in.
    if [ "${#depend[@]}" != 0 ] || [ -n "${CPATH-}${C_INCLUDE_PATH-}${CPLUS_INCLUDE_PATH-}" ]; then return; fi
    for word in ${host[@]+"${host[@]}"} ${common[@]+"${common[@]}"}; do
        case $previous$word in
        -U* | -D_* | -D[0-9]* | -DNDEBUG* | -isystem* | -M* | -save-temps* | -ftime-trace*) return ;;
        -D*) word=${word#-D} && own+=("${word%%[=(]*}") ;;
        -I?*) [ "$word" = "$root/include/unsupported" ] || own+=("-I${word#-I}") ;;
        esac
        previous=''
        if [ "$word" = -I ]; then previous=-I; fi
    done
    ready=$("$tools/headers" "$1" "$clang" ${own[@]+"${own[@]}"} -- "${@:2}")
    if [ -n "$ready" ]; then start=(-Xclang -include-pch -Xclang "$ready"); fi
}

# Takes the newest clang of this machine if it compiles launches in kernels, which clang does from version 22 on.
# Returns 1 if there is none, or $clang is it.
take_newer_clang() {
    local version
    for version in {40..22}; do
        if command -v "clang-$version" >/dev/null; then
            [ "$("$clang" -dumpversion)" != "$("clang-$version" -dumpversion)" ] || return 1
            clang=clang-$version && return 0
        fi
    done
    return 1
}

# Do the compiler's messages say that the program defines $1, too? Then our headers leave it out: they ask for SIMGPU_OWN_$2.
own_names() {
    [[ " ${common[*]} " != *" -DSIMGPU_OWN_$2 "* ]] && grep -qE "error: .*(redefinition|conflicts|different kind).*\b$1\b|error: reference to '$1' is ambiguous|note: previous definition is here|note: previous declaration is here" "$work/said" && grep -qE "\b$1\b" "$work/said" && common+=("-DSIMGPU_OWN_$2")
}

# Runs a compiler. Returns 3, without its words, if another clang may do better: it does not know launches in kernels. Returns 4,
# without its words, if it may do better now: see refused_header and respell_lines.
say_more() {
    local status=0 launch=no
    "$@" 2>"$work/said" || status=$?
    if grep -qE "reference to (__global__ function|__host__ function '__cudaPush).* in __(global|device)__" "$work/said"; then launch=yes; fi
    if [ "$launch" = yes ] && [ "$rdc" = yes ] && take_newer_clang; then return 3; fi
    if [ "$status" != 0 ] && { refused_header || respell_lines; }; then return 4; fi
    # As with nvcc, a program may define these itself; our headers define them.
    if [ "$status" != 0 ] && { own_names warpSize WARP_SIZE || own_names "(make_)?u?(long|longlong|double)4_(16|32)a" ALIGNED_VECTORS; }; then return 4; fi
    if [ -n "$rounds" ] && grep -q 'out-of-line definition' "$work/said"; then cat "$work/said.first" >&2; else show_said >&2; fi
    if [ "$launch" = yes ] && [ "$rdc" = yes ]; then
        echo "simcc: $clang does not compile a launch in a kernel (dynamic parallelism); clang 22 and later do. Install one: simcc finds clang-22" >&2
    elif [ "$launch" = yes ] || grep -q "kernel launch from __device__ or __global__" "$work/said"; then
        echo "simcc: a kernel that launches kernels (dynamic parallelism) needs -rdc=true, as with nvcc" >&2
    fi
    return "$status"
}

# Device code of $1 as LLVM IR, $2.
compile_device() {
    # shellcheck disable=SC2206 # a list of words
    local last=(-U__CUDA_ARCH__ -D__CUDA_ARCH__="$arch"0 ${device[@]+"${device[@]}"}) # whatever the program's own options say
    # shellcheck disable=SC2206
    local words=("${fixed[@]}" $ptx_flags -Wno-everything "${last[@]}" --cuda-device-only -Xclang -disable-llvm-passes)
    set_start device "${words[@]}"
    say_more run "$clang" "${words[@]}" "${start[@]}" "${common[@]}" "${last[@]}" -emit-llvm -S -o "$work/first.ll" "$1" || return
    [ "$dry" = no ] || return 0
    if [ -z "$bodies" ] && bodies=seen && respell_bodiless; then return 4; fi
    sed -i '/^@/!s/ noundef / /g' "$work/first.ll" # see wide_copies.c; behind nvcc no function relies on it
    if [ "$fast" = yes ]; then # sinf and its like become the functions that are one instruction, as with nvcc
        sed -Ei 's/@__nv_(sin|cos|tan|exp|exp10|log|log2|log10|pow)f\>/@__nv_fast_\1f/g; s/@llvm\.nvvm\.sqrt\.rn\.f\>/@llvm.nvvm.sqrt.approx.ftz.f/g' "$work/first.ll"
    fi
    "$tools/wide_copies" "$work/first.ll" >"$work/second.ll" && "$tools/even_loops" "$work/second.ll" >"$2"
}


# PTX, $1, of what the further words name: LLVM IR.
compile_ptx() {
    # shellcheck disable=SC2086 # a list of words
    run "$clang" $optimise_flags ${optimise[@]+"${optimise[@]}"} -S -o "$1" "${@:2}" || return
    [ "$dry" = yes ] || sed -i "s/^\.target sm_[0-9]*/.target sm_$arch/" "$1"
}

# As nvcc: a kernel may call no function that has no body in this module of PTX, $1. $2: what to do about it.
check_bodies() {
    local kernel name known='vprintf|malloc|free|__assertfail|__nv_.*|__simgpu_.*|cuda[A-Z].*'
    [ "$dry" = no ] || return 0
    sed -nE 's/^\.extern \.func *(\([^)]*\))? *([A-Za-z0-9_$.]+).*/\2/p' "$1" | grep -qvxE "$known" || return 0
    IFS=$'\t' read -r kernel name < <("$tools/ptxtell" missing "$1" 2>/dev/null)
    if [ -z "${name-}" ]; then return 0; fi
    kernel=$(readable "$kernel") name=$(readable "$name")
    die "the kernel $kernel calls $name, which has no body; $2"
}
readable() { if command -v c++filt >/dev/null; then c++filt "$1"; else echo "$1"; fi; }

# Sets $depends, what the compiler is told of dependencies, whose file is the object's, $1. Without -MT that is quoted for make.
set_depends() {
    local base=${1##*/} file=$depend_to
    depends=()
    case "$mode ${depend[*]-} " in
    M\ * | MM\ *) ;; # to stdout, if to no file
    *' -MD '* | *' -MMD '*) file=${file:-${1%"$base"}${base%.*}.d} ;; # beside the object; clang would put it beside the assembly
    *) return ;;
    esac
    depends=(${depend[@]+"${depend[@]}"} ${file:+-MF "$file"})
    if [ "${#target[@]}" -gt 0 ]; then depends+=("${target[@]}"); elif [ -n "$1" ]; then depends+=(-MQ "${1#./}"); fi
}

# CUDA C++ $1 as an object, $2; or as what $mode says.
compile_cuda() {
    local fat=$work/fat status=0
    set_common "$1"
    case $mode in
    E) set_depends "${2:-$(basename "${1%.*}").o}" && run "$clang" "${fixed[@]}" -include cuda_runtime.h "${common[@]}" --cuda-host-only -E ${depends[@]+"${depends[@]}"} ${2:+-o "$2"} "$1" && return ;;
    M | MM) set_depends "" && run "$clang" "${fixed[@]}" -include cuda_runtime.h "${common[@]}" --cuda-host-only "-$mode" ${depends[@]+"${depends[@]}"} "$1" && return ;;
    esac
    if [ "$verbose" = yes ]; then echo "#\$ cicc -arch compute_$arch $1" >&2; fi # nvcc's word for this step, which CMake looks for
    local bodies=''
    while :; do
        status=0
        compile_device "$1" "$work/device.ll" || status=$?
        case $status in 3) set_common "$1" ;; 4) ;; *) break ;; esac # by the newer clang; with more qualifiers
    done
    [ "$status" = 0 ] || return "$status"
    if [ "$rdc" = yes ] && [ "$mode" != ptx ] && [ "$mode" != fatbin ]; then
        fat=$work/device.ll # no fat binary, but what the link makes one of
    else
        local ptx=$work/device.ptx
        [ "$mode" != ptx ] || ptx=$2
        compile_ptx "$ptx" -x ir "$work/device.ll" || return
        if [ "$mode" = ptx ]; then
            run "$tools/ptx2fatbin" "$ptx"
            return
        fi
        [ "$mode" != fatbin ] || fat=$2
        [ "$mode" = fatbin ] || check_bodies "$ptx" "if another file has it, compile all of them with -rdc=true" || return
        run "$tools/ptx2fatbin" "$ptx" "$fat" || return
        [ "$mode" != fatbin ] || return 0
    fi
    local words=(-gdwarf-4 -fno-strict-aliasing "${fixed[@]}" ${host[@]+"${host[@]}"} --cuda-host-only)
    set_depends "$2"
    while :; do
        status=0
        set_start host "${words[@]}"
        show run "$clang" "${words[@]}" "${start[@]}" "${common[@]}" -Xclang -fcuda-include-gpubinary -Xclang "$fat" ${depends[@]+"${depends[@]}"} -S -o "$work/host.s" "$1" || status=$?
        [ "$status" = 4 ] || break
    done
    [ "$status" = 0 ] && register_first "$work/host.s" &&
        run "$clang" -Wno-unused-command-line-argument ${host[@]+"${host[@]}"} -c -o "$2" "$work/host.s"
}

# In assembly, $1: clang registers a file's kernels behind its static objects; a constructor of one may launch a kernel.
register_first() {
    [ -e "$1" ] || return 0 # --dryrun
    sed -i -E 's/^(\t\.(quad|xword)\t__cuda_module_ctor)$/\t.section\t.init_array.00101,"aw",@init_array\n\t.p2align\t3\n\1\n\t.section\t.init_array,"aw",@init_array/' "$1"
}

# C or C++ of the host, $1, as an object, $2.
compile_host() {
    local language=(-x c++ "$standard") mine=(-c)
    case $1 in *.c) language=(-x c -Wno-error=implicit-function-declaration -Wno-error=implicit-int) ;; esac
    case $mode in E | M | MM) mine=("-$mode") ;; ptx | fatbin) return 0 ;; esac
    case $mode in M | MM) set_depends "" ;; E) set_depends "${2:-$(basename "${1%.*}").o}" ;; *) set_depends "$2" ;; esac
    run "$clang" "${language[@]}" -O2 -fno-strict-aliasing -fno-strict-return -fPIC -I "$root/include" -Wno-unused-command-line-argument -Wno-unknown-warning-option \
        ${both[@]+"${both[@]}"} ${cccl[@]+"${cccl[@]}"} -I "$root/include/unsupported" ${host[@]+"${host[@]}"} ${depends[@]+"${depends[@]}"} "${mine[@]}" ${2:+-o "$2"} "$1"
}

compile() {
    if [ "${language:-${1##*.}}" = cu ]; then compile_cuda "$1" "$2"; else compile_host "$1" "$2"; fi
}

# --- linking ----------------------------------------------------------------------------------------------------------

# The objects of the link, archives taken apart, one a line.
all_objects() {
    local input folder n=0
    for input in "$@"; do
        case $input in
        *.a)
            grep -q -m 1 '^!<arch>' "$input" || continue # a script of the linker, as libcudart_static.a
            folder=$work/archive$((n += 1))
            input=$(readlink -f "$input")
            mkdir "$folder" && (cd "$folder" && ar x "$input") && find "$folder" -type f
            ;;
        *.so | *.so.*) ;;
        *) echo "$input" ;;
        esac
    done
}

# Device code of an object, $work/part.ll, as bitcode. An older clang may not read what a newer one wrote.
read_part() {
    # shellcheck disable=SC2086 # a list of words
    "$clang" $optimise_flags -O0 -emit-llvm-bc -x ir -disable-llvm-passes -o "$work/${#bitcode[@]}.bc" "$work/part.ll" 2>/dev/null
}

# Joins the device code of the objects $2 ... and compiles it as one module; $1 is the object that registers it. Makes none
# if there is nothing to join.
device_link() {
    local made=$1 object part bitcode=() id ids=() fat=$work/linked.fatbin
    while IFS= read -r object; do
        nm "$object" 2>/dev/null | sed -n 's/.* U __cudaRegisterLinkedBinary/wanted /p; s/.* T __cudaRegisterLinkedBinary/there /p'
        rm -f "$work/ir" "$work"/part.*
        objcopy -O binary --only-section=__nv_relfatbin --set-section-flags __nv_relfatbin=alloc,contents "$object" "$work/ir" 2>/dev/null || continue
        [ -s "$work/ir" ] || continue
        # The compiler puts a NUL behind each module; `ld -r` may have put several into one object.
        split -t '\0' -l 1 "$work/ir" "$work/part."
        for part in "$work"/part.*; do
            tr -d '\0' <"$part" >"$work/part.ll"
            [ -s "$work/part.ll" ] || continue
            read_part || { take_newer_clang && read_part; } ||
                die "the device code in $object cannot be read: was it made by nvcc, or by another version of clang?"
            bitcode+=(-mlink-bitcode-file "$work/${#bitcode[@]}.bc")
        done
    done < <(all_objects "${@:2}") >"$work/ids"
    mapfile -t ids < <(sort -u "$work/ids" | awk '$1 == "there" { there[$2] = 1 } $1 == "wanted" && !there[$2] { print $2 }')
    [ "${#ids[@]}" -gt 0 ] || return 0
    compile_ptx "$work/linked.ptx" -x c "${bitcode[@]}" /dev/null || return
    check_bodies "$work/linked.ptx" "no file of this link has one" || return
    run "$tools/ptx2fatbin" "$work/linked.ptx" "$fat" || return
    {
        cat <<END
void **__cudaRegisterFatBinary(void *);
__asm__(".section .nv_fatbin,\\"a\\"\\n.balign 8\\n.local linked\\nlinked: .incbin \\"$fat\\"\\n.previous");
extern const char linked[];
static const struct { int magic, version; const void *data, *more; } wrapper = {0x466243B1, 1, linked, 0};
static void **handle;
static void add(void (*registers)(void **)) {
    if (!handle) handle = __cudaRegisterFatBinary((void *)&wrapper);
    registers(handle);
}
END
        for id in "${ids[@]}"; do
            echo "void __cudaRegisterLinkedBinary$id(void (*registers)(void **), void *a, void *b, void *c) { add(registers); }"
        done
    } >"$work/register.c"
    run "$clang" -O1 -fPIC -c -o "$made" "$work/register.c"
}

# The archives that -l names in the folders of -L: they may hold device code.
named_archives() {
    local word name folder folders=()
    for word in ${libraries[@]+"${libraries[@]}"}; do
        case $word in
        -L*) folders+=("${word#-L}") ;;
        -l*)
            name=lib${word#-l}.a
            for folder in ${folders[@]+"${folders[@]}"}; do [ ! -f "$folder/$name" ] || echo "$folder/$name"; done
            ;;
        esac
    done
}

link_program() {
    local archives=() status=0 rpath=$root/lib
    # What is made beside SimGPU's libraries moves with them.
    # shellcheck disable=SC2016 # the dynamic linker expands it
    if [ "$(readlink -f "$(dirname "${output:-a.out}")")" = "$root/lib" ]; then rpath='$ORIGIN'; fi
    mapfile -t archives < <(named_archives)
    if [ "$dry" = no ]; then
        device_link "$work/register.o" ${link_inputs[@]+"${link_inputs[@]}"} ${archives[@]+"${archives[@]}"} || return
    fi
    if [ -f "$work/register.o" ]; then objects+=("$work/register.o"); fi
    # The link as CMake is to repeat it: by this program, which adds what a program needs to find SimGPU. CMake reads the
    # linker's own line, too.
    if [ "$verbose" = yes ]; then linker+=(-v) && echo "#\$ $root/bin/simcc -o ${output:-a.out} \"-L$root/lib\" -lcudart" >&2; fi
    # shellcheck disable=SC2086 # a list of words
    run "$clang" --driver-mode=g++ $link_flags -pthread -Wno-unused-command-line-argument -o "${output:-a.out}" ${objects[@]+"${objects[@]}"} ${libraries[@]+"${libraries[@]}"} \
        ${linker[@]+"${linker[@]}"} -L "$root/lib" -lcudart -Wl,-rpath,"$rpath" -ldl -lm -lrt || status=$?
    if [ "$status" != 0 ] && [ "${#left_out[@]}" -gt 0 ]; then
        echo "simcc: left out of the link: ${left_out[*]}. SimGPU is CUDA's runtime; it does not have CUDA's libraries" >&2
    fi
    return "$status"
}

# --- the whole --------------------------------------------------------------------------------------------------------

# The result's name where -o does not say it: a.cu becomes a.o, a.ptx ...
result() {
    local base
    base=$(basename "$1")
    echo "${output:-$folder/${base%.*}.$2}"
}

take_all "$@"
arch=${arch:-75}
if [ "$arch" -lt 70 ]; then arch=70; fi # what older cards lack, SimGPU has
[ $(("${#inputs[@]}" + "${#link_inputs[@]}")) -gt 0 ] || die "no input file; simcc --help lists the options"
if [ "${#inputs[@]}" -gt 1 ] && [ -n "$output" ]; then
    case $mode in compile | ptx | fatbin) die "-o $output: several files cannot become one; compile each by itself, or use -odir" ;; esac
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/simcc.XXXXXX") || die "no folder can be made in ${TMPDIR:-/tmp}"
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
find_cccl

objects=()
sources=0
if [ -z "$depend_file" ]; then
    case $mode in
    M | MM) depend_file=$output ;;
    link | lib | dlink) # the program's file of dependencies has its name, as nvcc's
        program=${output:-${inputs[0]-}}
        name=${program##*/}
        [ -n "$output" ] || program=$name
        depend_file=${program%"$name"}${name%.*}.d
        ;;
    esac
fi
for input in ${inputs[@]+"${inputs[@]}"}; do
    depend_to=${depend_file:+$work/$((sources += 1)).d}
    case $mode in
    compile) compile "$input" "$(result "$input" o)" || exit 1 ;;
    ptx | fatbin) compile "$input" "$(result "$input" "$mode")" || exit 1 ;;
    E) compile "$input" "$output" || exit 1 ;;
    M | MM) compile "$input" '' || exit 1 ;;
    *)
        [ "${#target[@]}" -gt 0 ] || target=(-MQ "${output:-a.out}") # what a file of -MD is about
        made=$work/${#objects[@]}-$(basename "${input%.*}").o
        compile "$input" "$made" || exit 1
        objects+=("$made")
        ;;
    esac
done
# Of several sources the one file has all rules.
if [ -e "$work/1.d" ]; then
    for ((n = 1; n <= sources; n++)); do cat "$work/$n.d"; done >"$depend_file" || exit 1
fi
link_inputs=(${objects[@]+"${objects[@]}"} ${link_inputs[@]+"${link_inputs[@]}"})
case $mode in
dlink)
    device_link "${output:-a_dlink.o}" "${link_inputs[@]}" || exit 1
    # An object with nothing in it where nothing was to be joined: the build goes on to link it.
    [ -f "${output:-a_dlink.o}" ] || run "$clang" -x c -c -o "${output:-a_dlink.o}" /dev/null || exit 1
    ;;
lib) run ar rcs "${output:-a.a}" "${link_inputs[@]}" || exit 1 ;;
link)
    link_program || exit 1
    if [ "$run_it" = yes ]; then
        program=$(readlink -f "${output:-a.out}")
        "$program" ${run_args[@]+"${run_args[@]}"}
        exit
    fi
    ;;
esac

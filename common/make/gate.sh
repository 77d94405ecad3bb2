#!/bin/bash
# gate.sh N PROGRAM [compiled]: may this submission be run for a grade? PROGRAM is its place in .build, as
# .build/sim/sub-anna-123/lab3; `compiled` says that PROGRAM.o is there.
#
# It runs before the compiler's messages are shown: these quote lines of the file that the compiler could not read, and
# that may be a file of the grader's. First it looks at the source: at which files were read (PROGRAM.headers, written
# while they are opened, and the .d files), by their real paths, at which files the line tables name, and for assembly in
# host code (PROGRAM.ll, which is there if that much compiled): that can make any system call out of the sight of the
# rest. Kernels may use it. Then at PROGRAM.o: what it asks for, what would run before main, what may be written and
# executed.
#
# Prints one line a finding and exits 1 where there is one. It is an alarm, not a wall: the wall is a sandbox around the
# run. What may be called: gate-names.sh. (A grade calls this once; the text tools in it are as few as can be, since each
# is a process.)
set -eu
cd "${0%/*}/../.."
. common/make/lib.sh

n=$1 program=$2 compiled=${3:-}
object=$program.o
dir=$(lab_dir "$n")
file=$(lab_file "$n")
found=$program.gate
: >"$found"

# Prints the findings; fails if there are any.
end() {
    [ -s "$found" ] || exit 0
    sort -u "$found" | tr -c '[:print:]\n' '?' | sed 's/^/gate: /'
    exit 1
}

mapfile -t folders <"$B/system-headers"
IFS= read -r name <"$program.cu" # compilers list the source under this name, too
name=${name#'#line 1 "'}
name=${name%'"'}

within() { # PATH: in a folder of the system's headers?
    local folder
    for folder in "${folders[@]}"; do
        case $1 in "$folder"/*) return 0 ;; esac
    done
    return 1
}

# Reads paths, a line each; prints those that a submission may not name. A path is judged by where it leads to. The
# system's own links lead out of its folders (Debian 13: asm/ to /usr/lib/linux); a path that is spelled within such a
# folder, `..` taken away, may follow them below /usr.
foreign() {
    local path raw
    name=$name awk '$0 != "" && $0 != ENVIRON["name"] && !seen[$0]++' >"$program.paths"
    xargs -r -d "\n" realpath -m --relative-base=. <"$program.paths" >"$program.real"
    while IFS= read -r path <&3 && IFS= read -r raw <&4; do
        case $path in "$dir/lab$n.h" | common/simgpu/include/* | "$program.cu" | "$name") continue ;; esac
        if within "$path" || { [[ $path == /usr/* ]] && within "$(realpath -s -m "$raw")"; }; then continue; fi
        echo "$path"
    done 3<"$program.real" 4<"$program.paths"
}

# ":35" for the first line of the source that has this word, in no comment of its own and no #include; nothing if none has.
line_of() {
    grep -nwF -- "$1" "$program.cu" | grep -vE '^[0-9]+:[[:space:]]*(//|/?\*|#[[:space:]]*include)' | head -n 1 |
        awk -F : '{ print ":" $1 - 1 }' # the copy begins with a #line
}

# The stubs of common/simgpu/include/unsupported stand for headers that SimGPU lacks, each with a word for what it is.
look_at_unsupported() {
    grep -qsF common/simgpu/include/unsupported/ "$program.headers" || return 0
    sed -n 's,.*common/simgpu/include/unsupported/,,p' "$program.headers" | sort -u | while read -r header; do
        line=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]${header}[>\"]" "$program.cu" | head -n 1 | awk -F : '{ print ":" $1 - 1 }')
        [ -z "$line" ] || echo "$file$line includes <$header>: SimGPU does not have $(sed -n 's/^#define SIMGPU_LACKS "\(.*\)"$/\1/p' "common/simgpu/include/unsupported/$header"). README.md, Limits, says what else it lacks."
    done
}

look_at_includes() {
    {
        cat "$program.headers" 2>/dev/null || true
        sed 's/^[^:]*://; s/\\$//; s/ /\n/g' "$program".{before,d,device.d} 2>/dev/null || true
    } | foreign | while read -r path; do
        echo "$file includes $path. A submission stands alone: only $dir/lab$n.h and the system's headers may be included."
    done
}

# `#line 1 "/etc/passwd"` would make a message about a fault show that file.
look_at_lines() {
    { # bytes beyond ASCII stand as \C3 in the one, as \303 in the other
        sed -n '/^!.*DIFile(filename: "/{ s/.*DIFile(filename: "\([^"]*\)".*/\1/; s/\\\([0-9A-F][0-9A-F]\)/\\x\1/g; p; }' "$program.ll"
        sed -n '/^[[:space:]]*\.file/{ s/^[[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/; s/\\\([0-3][0-7][0-7]\)/\\0\1/g; p; }' "$program.ptx"
    } | while read -r path; do printf '%b\n' "$path"; done | grep -v '^<' | foreign | while read -r path; do
        echo "$file says that some of its lines are those of $path (#line). Remove that."
    done
}

# Text inside quotes is allowed. Data in a section of code would be code without a compiler's check; a function in one of
# data could be overwritten.
look_at_assembly() {
    awk -v file="$file" '
        / asm / { text = $0; gsub(/"[^"]*"/, "\"\"", text); assembly = assembly || text ~ / asm ([a-z]+ )*""/ }
        /^(@|define).*section "/ { gsub(/c"[^"]*"/, ""); if (match($0, /.*section "/)) { name = substr($0, RLENGTH + 1); sub(/".*/, "", name)
            if (name !~ /^(\.nv_fatbin|\.nvFatBinSegment|llvm\.metadata)$/)
                print file " puts something into a section of its own choice (" name "). Leave that to the compiler." } }
        END { if (assembly) print file " has inline assembly in host code, where nothing of this course needs it. Only kernels may use asm. Remove it." }' "$program.ll"
}

{
    look_at_unsupported
    look_at_includes
    if [ -f "$program.ll" ]; then
        look_at_lines
        look_at_assembly
    fi
} >>"$found"
if [ ! "$compiled" ] || [ -s "$found" ]; then end; fi

# The object's names, and its sections: code that runs by itself, before or after main (only the one constructor that
# registers the kernels is allowed). What it asks for and may not have goes to $program.asks, as its author wrote it: the
# headers' simgpuMalloc is cudaMalloc there. The symbols are readelf's: nm takes a fifth of a grade to load the plugins of
# another compiler.
: >"$program.asks"
readelf -SsW "$object" | awk -v file="$file" -v asks="$program.asks" -v header="$dir/lab$n.h" '
    # The declaration of an entry point in the lab'"'"'s header.
    function prototype(name, line, text) {
        while ((getline line <header) > 0) {
            if (line ~ "^[a-z].*[ *]" name "\\(") text = " extern \"C\""
            if (text) text = text " " line
            if (text && line ~ /;/) break
        }
        close(header)
        gsub(/[ \t]+/, " ", text)
        sub(/; *$/, "", text)
        return text
    }
    FNR == NR { if ($1 == "entry") entry[$2] = 1; else if ($1 == "wrap") wrapped[$2] = 1; else may[$2] = 1; next }
    /^Symbol table/ { symbols = 1; next }
    !symbols {
        sub(/^ *\[ *[0-9]*\] */, "")
        if ($1 ~ /^\.init_array/) early += $5 == "000008" ? 1 : 2
        if ($1 ~ /^\.(ctors|dtors|preinit_array|fini_array|init|fini)(\.|$)/) print file " has code that runs outside the harness (section " $1 "). Constructors and destructors are not allowed."
        if ($7 ~ /W/ && $7 ~ /X/) print file " has memory that is both written and executed (section " $1 "). Leave sections to the compiler."
        next
    }
    / (IFUNC|<OS specific>: 10) / { ifunc = 1 }
    $5 != "LOCAL" && $7 != "UND" { delete entry[$8] }
    $7 == "UND" && $8 != "" && !($8 in may) { name = $8; if (name in wrapped) sub(/^simgpu/, "cuda", name); print name >asks }
    END {
        for (e in entry) print file " does not define `" e "`: the harness calls it. Is it extern \"C\", and spelled like this?" prototype(e)
        if (early > 1) print file " has code that runs before main: a constructor, or a global object that needs one. Do that work inside the entry point."
        if (ifunc) print file " has an ifunc, whose resolver runs before main. Remove it."
    }' "$B/judge/lab$n.names" - >>"$found"

remedy_of() {
    case $1 in
    stdout | stderr | fprintf | vfprintf | __fprintf_chk | fputs | fputc | putc | fwrite | fflush | perror) echo "To print, use printf." ;;
    cudaStream*) echo "Stay on stream 0, where the clock of this lab stands." ;;
    *) echo "Remove the call. What may be called stands in common/make/allow.txt$([ ! -f "$(lab_tests "$n")/allow.txt" ] || echo " and $(lab_tests "$n")/allow.txt"), and of CUDA's functions in common/simgpu/include/cuda_api.def, with ALL or LAB($n)." ;;
    esac
}
# A C++ class is one thing, not twelve names. Other names of C++ are functions of the student's that are only declared.
if [ -s "$program.asks" ]; then
    library='std::|__gnu_cxx::|__cxxabiv1::|operator (new|delete)|vtable for|typeinfo for|__cxa_|__dso_handle$'
    c++filt <"$program.asks" >"$program.plain"
    if grep -qE "^($library)" "$program.plain"; then
        classes=$(readelf -sW "$object" | awk '{ print $8 }' | c++filt | sed 's/__cxx11:://g; s/std::__detail::_Hashtable\|std::_Hashtable/std::unordered_map/g; s/std::_Rb_tree/std::map/g; s/std::basic_string/std::string/g' |
            grep -oE 'std::(vector|string|map|set|multimap|multiset|unordered_map|unordered_set|list|forward_list|deque|queue|stack|priority_queue|function|shared_ptr|unique_ptr|thread|mutex|condition_variable|chrono|ostream|istream|runtime_error|exception)\b' | sort | uniq -c | sort -rn | awk '{ print $2 }')
        first=${classes%%$'\n'*}
        echo "$file$([ -z "$first" ] || line_of "${first#std::}") uses the C++ library ($(echo "${classes:-exceptions}" | head -n 3 | paste -s -d ' ' | sed '/std::/s/ /, /g')), which a submission to lab $n may not use. Write it in C: plain arrays, structs and functions." >>"$found"
    fi
    while IFS= read -r name <&3 && IFS= read -r plain <&4; do
        if [[ $plain =~ ^($library) ]]; then continue; fi
        if [ "$name" != "$plain" ]; then
            echo "$file$(line_of "${plain%%(*}") calls \`$plain\`, which is declared and nowhere defined. Write it, or spell it, with its parameters, as where it is defined."
        else
            echo "$file$(line_of "$name") uses \`$name\`, which a submission to lab $n may not use. $(remedy_of "$name")"
        fi
    done 3<"$program.asks" 4<"$program.plain" >>"$found"
fi

# System calls that go round the names: of what nvcc compiled, only those that stand in the open. (Of what clang compiled,
# the assembly was seen.)
if [ ! -f "$program.ll" ] && [ "$(objdump -d "$object" | awk -F "\t" "\$3 ~ /^(syscall|sysenter|svc|int +.0x80)/" | wc -l)" != 0 ]; then
    echo "$file makes a system call by inline assembly. Remove it." >>"$found"
fi
end

#!/bin/bash
# gate.sh source N PROGRAM, gate.sh names N PROGRAM: may this submission be compiled to its end and run for a grade?
# PROGRAM is its place in .build, as .build/sim/sub-anna-123/lab3.
#
# `source` runs first, before the compiler's messages are shown: these quote lines of the file that the compiler could not
# read, and that may be a file of the grader's. It looks at which files were read (PROGRAM.headers, written
# while they are opened, and the .d files), by their real paths, at which files the line tables name, and for assembly in
# host code (PROGRAM.ll, which is there if it compiled): that can make any system call out of the sight of the rest.
# Kernels may use it.
# `names` looks at PROGRAM.o: what it asks for, what would run before main, what may be written and executed.
#
# Prints one line a finding and exits 1 where there is one. It is an alarm, not a wall: the wall is a sandbox around the
# run. What may be called: common/make/allow.txt, the lab's own tests/labN/allow.txt, CUDA's functions by the table
# (the judge's --calls), what the lab's header offers, and what the reference calls.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

what=$1 n=$2 program=$3
object=$program.o
judge=$B/judge/lab$n
dir=$(lab_dir "$n")
file=$(lab_file "$n")
found=$program.gate
: >"$found"

# Prints the findings; fails if there are any.
end() {
    sort -u "$found" | tr -c '[:print:]\n' '?' | sed 's/^/gate: /'
    [ ! -s "$found" ]
    exit
}

# The symbols of an object, by readelf: nm takes a fifth of a grade to load the plugins of another compiler.
defined() { readelf -sW "$1" | awk '$5 != "LOCAL" && $7 != "UND" { print $8 }'; }
undefined() { readelf -sW "$1" | awk '$7 == "UND" && $8 != "" { print $8 }'; }

# The folders in which this lane's compiler looks for the system's headers.
system_headers() {
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then
        "${NVCC:-nvcc}" -x cu -E -Xcompiler -v /dev/null
    else
        "${CLANG:-$(common/make/find-clang.sh)}" -x c++ -E -v /dev/null
    fi 2>&1 | sed -n '/search starts here:$/,/^End of search list/s,^ */,/,p' | xargs -r -d '\n' realpath -m | sort -u
}

# Reads paths, a line each; prints those that a submission may not name. A path is judged by where it leads to. The
# system's own links lead out of its folders (Debian 13: asm/ to /usr/lib/linux); a path that is spelled within such a
# folder, `..` taken away, may follow them below /usr.
foreign() {
    local path raw folder folders name
    folders=$(system_headers)
    name=$(sed -n '1s/^#line 1 "\(.*\)"$/\1/p' "$program.cu") # compilers list the source under this name, too
    grep . | sort -u | grep -vxF -e "$name" >"$program.paths" || true
    xargs -r -d "\n" realpath -m --relative-base=. <"$program.paths" >"$program.real"
    paste "$program.real" "$program.paths" | sort -u |
        while IFS=$'\t' read -r path raw; do
            case $path in "$dir/lab$n.h" | common/simgpu/include/* | "$program.cu" | "$name") continue ;; esac
            for folder in $folders; do
                case $path in "$folder"/*) continue 2 ;; esac
            done
            if [[ $path == /usr/* ]]; then
                for folder in $folders; do
                    case $(realpath -s -m "$raw") in "$folder"/*) continue 2 ;; esac
                done
            fi
            echo "$path"
        done | sort -u
}

look_at_includes() {
    {
        cat "$program.headers" 2>/dev/null || true
        cat "$program".{before,d,device.d} 2>/dev/null | sed 's/^[^:]*://; s/\\$//' | tr ' ' '\n' || true
    } | foreign | while read -r path; do
        echo "$file includes $path. A submission stands alone: only $dir/lab$n.h and the system's headers may be included."
    done
}

# `#line 1 "/etc/passwd"` would make a message about a fault show that file.
look_at_lines() {
    { # bytes beyond ASCII stand as \C3 in the one, as \303 in the other
        sed -n 's/^!.*DIFile(filename: "\([^"]*\)".*/\1/p' "$program.ll" | sed 's/\\\([0-9A-F][0-9A-F]\)/\\x\1/g'
        sed -n 's/^[[:space:]]*\.file[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$program.ptx" | sed 's/\\\([0-3][0-7][0-7]\)/\\0\1/g'
    } | while read -r path; do printf '%b\n' "$path"; done | grep -v '^<' | foreign | while read -r path; do
        echo "$file says that some of its lines are those of $path (#line). Remove that."
    done
}

look_at_assembly() {
    # Text inside quotes is allowed.
    if sed 's/"[^"]*"/""/g' "$program.ll" | grep -qE ' asm ([a-z]+ )*""'; then
        echo "$file has inline assembly in host code, where nothing of this course needs it. Only kernels may use asm. Remove it."
    fi
    # Data in a section of code would be code without a compiler's check; a function in one of data could be overwritten.
    sed 's/c"[^"]*"//g' "$program.ll" | sed -n '/^@\|^define/s/.*section "\([^"]*\)".*/\1/p' | grep -vxE '\.nv_fatbin|\.nvFatBinSegment|llvm\.metadata' |
        while read -r section; do
            echo "$file puts something into a section of its own choice ($section). Leave that to the compiler."
        done
}

if [ "$what" = source ]; then
    {
        look_at_includes
        if [ -f "$program.ll" ]; then
            look_at_lines
            look_at_assembly
        fi
    } >>"$found"
    end
fi

# 1. What it defines: the entry points. Its other names are local to its shared object.
"$judge" --entries | while read -r e; do
    defined "$object" | grep -qx "$e" ||
        echo "$file does not define \`$e\`: the harness calls it. Is it extern \"C\", and spelled like this?"
done >>"$found"

# 2. The names that it uses. The headers' simgpuMalloc is shown as cudaMalloc, as its author wrote it; a C++ class is one thing, not twelve names.
allowed() {
    cat common/make/allow.txt "$(lab_tests "$n")/allow.txt" 2>/dev/null | sed 's/#.*//; s/[ \t]*$//' | grep . || true
    "$judge" --calls
    readelf --dyn-syms -W "$judge" | awk '$7 != "UND" && $8 != "" && $8 !~ /^__wrap_/ { print $8 }' # what the lab's header offers
    undefined "$B/reference/lab$n.o"
}
as_written() { awk 'NR == FNR { sub(/^--wrap=/, ""); ours[$0] = 1; next } $0 in ours { sub(/^simgpu/, "cuda") } { print }' <("$judge" --wraps) -; }
remedy_of() {
    case $1 in
    stdout | stderr | fprintf | vfprintf | __fprintf_chk | fputs | fputc | putc | fwrite | fflush | perror) echo "To print, use printf." ;;
    *) echo "Remove the call. What may be called stands in common/make/allow.txt$([ ! -f "$(lab_tests "$n")/allow.txt" ] || echo " and $(lab_tests "$n")/allow.txt"), and of CUDA in common/simgpu/include/cuda_api.def." ;;
    esac
}
undefined "$object" | grep -vxF -f <(allowed) | as_written | sort -u >"$program.asks" || true
if grep -qE '^_Z|^__cxa_' "$program.asks"; then
    classes=$(readelf -sW "$object" | awk '{ print $8 }' | c++filt | sed 's/__cxx11:://g; s/std::__detail::_Hashtable\|std::_Hashtable/std::unordered_map/g; s/std::_Rb_tree/std::map/g; s/std::basic_string/std::string/g' |
        grep -oE 'std::[a-z][a-z0-9_]*' | grep -vE '::(allocator|char_traits|pair|hash|equal_to|less|terminate|move|forward|length_error)$' | sort | uniq -c | sort -rn | awk 'NR <= 3 { printf "%s%s", (NR > 1 ? ", " : ""), $2 }')
    echo "$file uses the C++ library (${classes:-exceptions, new or delete}), which a submission to lab $n may not. Write it in C: plain arrays, structs and functions." >>"$found"
fi
grep -vE '^_Z|^__cxa_' "$program.asks" | while read -r name; do
    echo "$file uses \`$name\`, which a submission to lab $n may not. $(remedy_of "$name")"
done >>"$found" || true

# 3. Code that runs by itself, before or after main: only the one constructor that registers the kernels is allowed.
readelf -SW "$object" | sed 's/^ *\[ *[0-9]*\] *//' | awk -v file="$file" '
    $1 ~ /^\.init_array/ { n += $5 == "000008" ? 1 : 2 }
    $1 ~ /^\.(ctors|dtors|preinit_array|fini_array|init|fini)(\.|$)/ { print file " has code that runs outside the harness (section " $1 "). Constructors and destructors are not allowed." }
    $7 ~ /W/ && $7 ~ /X/ { print file " has memory that is both written and executed (section " $1 "). Leave sections to the compiler." }
    END { if (n > 1) print file " has code that runs before main: a constructor, or a global object that needs one. Do that work inside the entry point." }' >>"$found"
if readelf -sW "$object" | grep -qE ' (IFUNC|<OS specific>: 10) '; then
    echo "$file has an ifunc, whose resolver runs before main. Remove it." >>"$found"
fi

# 4. System calls that go round the names: of what nvcc compiled, only those that stand in the open.
if [ "$(objdump -d "$object" | awk -F "\t" "\$3 ~ /^(syscall|sysenter|svc|int +.0x80)/" | wc -l)" != 0 ]; then
    echo "$file makes a system call by inline assembly. Remove it." >>"$found"
fi

# 5. Includes that were not known before: nvcc lists all of them only when it compiles.
if [ ! -f "$program.ll" ]; then look_at_includes >>"$found"; fi
end

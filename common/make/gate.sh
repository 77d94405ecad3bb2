#!/bin/bash
# gate.sh source N PROGRAM, gate.sh names N PROGRAM: may this submission be compiled to its end and linked to the harness
# for a grade? PROGRAM is its place in .build, as .build/sim/sub-anna-123/lab3.
#
# `source` is asked first, before anybody sees what the compiler says: the compiler's message shows lines of the file that
# it could not read, and that may be a file of the grader's. It looks at which files were included (PROGRAM.headers and
# .d files), and for assembly in host code (PROGRAM.ll, which is there if it compiled): that can make any system call
# out of the sight of the rest, and `.incbin` takes in any file. Kernels may use it.
# `names` looks at PROGRAM.o: what it defines, what it asks for, what would run before main.
#
# Prints one line a finding and exits 1 where there is one. It is an alarm, not a wall: the wall is a sandbox around the
# run. Allowed calls: common/make/allow.txt, and the tests/labN/allow.txt.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

what=$1 n=$2 program=$3
object=$program.o
dir=$(lab_dir "$n")
file=$(lab_file "$n")
found=$program.gate
: >"$found"

# What is found is printed; did the submission pass?
end() {
    sort -u "$found" | sed 's/^/gate: /'
    [ ! -s "$found" ]
    exit
}

# The folders in which this lane's compiler looks for the system's headers.
system_headers() {
    if [ "$DEVICE" = gpu ] || [ "$CUDA_COMPILER" = nvcc ]; then
        "${NVCC:-nvcc}" -x cu -E -Xcompiler -v /dev/null
    else
        "$(common/make/find-clang.sh)" -x c++ -E -v /dev/null
    fi 2>&1 | sed -n '/search starts here:$/,/^End of search list/s,^ */,/,p' | xargs -r -d '\n' realpath -m | sort -u
}

look_at_includes() {
    local path name folder folders
    folders=$(system_headers)
    name=$(sed -n '1s/^#line 1 "\(.*\)"$/\1/p' "$program.cu") # nvcc lists the source under this name, too
    {
        cat "$program.headers" 2>/dev/null || true
        cat "$program".{before,d,device.d} 2>/dev/null | sed 's/^[^:]*://; s/\\$//' | tr ' ' '\n'
    } | grep . | sort -u | xargs -r -d '\n' realpath -m --relative-base=. |
        while read -r path; do
            case $path in "$dir"/*.h | common/simgpu/include/* | "$program.cu" | "$name") continue ;; esac
            for folder in $folders; do
                case $path in "$folder"/*) continue 2 ;; esac
            done
            echo "$file includes $path. A submission stands alone: only $dir's own headers and the system's may be included."
        done
}

look_at_assembly() {
    # Inside quotes anything may stand.
    if sed 's/"[^"]*"/""/g' "$program.ll" | grep -qE ' asm ([a-z]+ )*""'; then
        echo "$file has inline assembly in host code, where nothing of this course needs it. Only kernels may use asm. Remove it."
    fi
    # Data in a section of code would be code that nobody compiled.
    sed 's/c"[^"]*"//g' "$program.ll" | sed -n '/^@/s/.*, section "\([^"]*\)".*/\1/p' | grep -vxE '\.nv_fatbin|\.nvFatBinSegment' |
        while read -r section; do
            echo "$file puts data into a section of its own choice ($section). Leave that to the compiler."
        done
}

if [ "$what" = source ]; then
    {
        look_at_includes
        if [ -f "$program.ll" ]; then look_at_assembly; fi
    } >>"$found"
    end
fi

reference=$B/reference/lab$n.o
entries=$(common/make/entries.sh "$reference")

# 1. What it defines: the entry points, and C++ names (they carry their types, and seal.sh makes them local).
nm -g --defined-only "$object" | awk -v entries="$entries" -v file="$file" '
    BEGIN { n = split(entries, e, /[ \n]+/); for (i = 1; i <= n; i++) ok[e[i]] = 1 }
    $3 in ok || $3 ~ /^DW\.ref\./ { next }
    $3 ~ /^_Z(n|d)[wal]/ { print file " replaces C++ `operator new` or `delete` (" $3 "): the harness would use it too. Remove it."; next }
    $3 !~ /^_Z/ { print file " defines `" $3 "`, which is not an entry point of this lab (" entries "). Make it static, or give it another name if the C library has one like it." }
' entries="$(echo "$entries" | tr '\n' ' ' | sed 's/ $//')" >>"$found"
for e in $entries; do
    nm -g --defined-only "$object" | awk '{ print $3 }' | grep -qx "$e" ||
        echo "$file does not define \`$e\`: the harness calls it. Is it extern \"C\", and spelled like this?" >>"$found"
done

# 2. What it asks for.
nm -u "$object" | awk '{ print $2 }' | grep -vxF -f <(cat common/make/allow.txt "$(lab_tests "$n")/allow.txt" 2>/dev/null | sed 's/#.*//; s/[ \t]*$//' | grep .) |
    while read -r name; do
        if readelf -sW "$reference" | awk '{ print $8 }' | grep -qx "$name"; then continue; fi
        mend="Remove the call. What may be called stands in common/make/allow.txt$([ ! -f "$(lab_tests "$n")/allow.txt" ] || echo " and $(lab_tests "$n")/allow.txt")."
        case $name in stdout | stderr | fprintf | vfprintf | __fprintf_chk | fputs | fputc | putc | fwrite | fflush | perror | _ZSt4c* | _ZNSo* | *ostream*)
            mend="To print, use printf." ;;
        esac
        echo "$file calls \`$name\`, which a submission to lab $n may not. $mend"
    done >>"$found"

# 3. What would run by itself, before or after main: only the one constructor that registers the kernels.
sections=$(readelf -SW "$object" | sed 's/^ *\[ *[0-9]*\] *//' | awk '{ print $1, $5 }')
echo "$sections" | awk -v file="$file" '
    $1 ~ /^\.init_array/ { n += $2 == "000008" ? 1 : 2 }
    $1 ~ /^\.(ctors|dtors|preinit_array|fini_array|init|fini)(\.|$)/ { print file " has code that runs outside the harness (section " $1 "). Constructors and destructors are not allowed."; bad = 1 }
    END { if (n > 1) print file " has code that runs before main: a constructor, or a global object that needs one. Do that work inside the entry point." }' >>"$found"
if [ -n "$(nm "$object" | awk '$2 == "i"')" ]; then
    echo "$file has an ifunc, whose resolver runs before main. Remove it." >>"$found"
fi

# 4. System calls that go round the names: of what nvcc compiled, only those that stand in the open.
if [ "$(objdump -d "$object" | awk -F "\t" "\$3 ~ /^(syscall|sysenter|svc|int +.0x80)/" | wc -l)" != 0 ]; then
    echo "$file makes a system call by inline assembly. Remove it." >>"$found"
fi

# 5. What it included, as far as that was not known before: nvcc tells it in full only when it compiles.
if [ ! -f "$program.ll" ]; then look_at_includes >>"$found"; fi
end

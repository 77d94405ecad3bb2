#!/bin/bash
# gate.sh N OBJECT REFERENCE.o: may this compiled submission be linked to the harness and run for a grade?
#
# It looks at names only: what the object defines, what it asks for, what would run before main; and which files its
# source included (OBJECT's .d files). Prints one line a finding and exits 1 where there is one. It is an alarm, not a
# wall: the wall is a sandbox around the run.
# Allowed calls: common/make/allow.txt, and the lab's own allow.txt.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

n=$1 object=$2 reference=$3
dir=$(lab_dir "$n")
file=$(lab_file "$n")
found=${object%.o}.gate
: >"$found"

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
nm -u "$object" | awk '{ print $2 }' | grep -vxF -f <(cat common/make/allow.txt "$dir/allow.txt" 2>/dev/null | sed 's/#.*//; s/[ \t]*$//' | grep .) |
    while read -r name; do
        if readelf -sW "$reference" | awk '{ print $8 }' | grep -qx "$name"; then continue; fi
        mend="Remove the call. What may be called stands in common/make/allow.txt$([ ! -f "$dir/allow.txt" ] || echo " and $dir/allow.txt")."
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

# 4. System calls that go round the names.
if [ "$(objdump -d "$object" | awk -F "\t" "\$3 ~ /^(syscall|sysenter|svc|int +.0x80)/" | wc -l)" != 0 ]; then
    echo "$file makes a system call by inline assembly. Remove it." >>"$found"
fi

# 5. What it included: the lab's own headers and the system's, and nothing else of this tree or of anybody's home.
# nvcc lists the source under the name in its `#line`, too.
name=$(sed -n '1s/^#line 1 "\(.*\)"$/\1/p' "${object%.o}.cu")
sed 's/^[^:]*://; s/\\$//' "${object%.o}".d "${object%.o}".device.d 2>/dev/null | tr ' ' '\n' | grep . | sort -u | xargs -r realpath -m --relative-base=. |
    while read -r path; do
        case $path in
        "$dir"/*.h | common/simgpu/include/* | "${object%.o}.cu" | "$name" | /usr/* | /opt/* | /*/include/*) ;;
        *) echo "$file includes $path. A submission stands alone: only $dir's own headers and the system's may be included." ;;
        esac
    done >>"$found"

sort -u "$found" | sed 's/^/gate: /'
[ ! -s "$found" ]

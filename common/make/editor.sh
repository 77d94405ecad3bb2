#!/bin/bash
# editor.sh CLANG FLAGS...: writes .build/compile_commands.json, from which clangd knows how each file is compiled: an
# editor then completes names and marks errors in a lab's .cu without a CUDA toolkit. FLAGS: those of the sim lane's
# CUDA. (.clangd in the top folder says where the file lies.)
set -eu
cd "$(dirname "$0")/../.."

# Without a process a word: there are thousands of them.
quote() { # TEXT, into $quoted
    quoted=${1//\\/\\\\}
    quoted=\"${quoted//\"/\\\"}\"
}

# FILE ARGUMENT...: one entry.
entry() {
    local file=$1 argument list=''
    shift
    for argument in "$@" "$file"; do
        quote "$argument"
        list+=", $quoted"
    done
    printf '%s{"directory": %s, "file": %s, "arguments": [%s]}' "$comma" "$here" "$quoted" "${list#, }"
    comma=$',\n'
}

# FILE, into $folder: the lab's folder whose headers it includes, where it is a lab's.
folder_of() {
    local n=''
    [[ $1 =~ /lab([0-9]+) ]] && n=${BASH_REMATCH[1]}
    folder=(labs/lab"$n"-*/)
}

clang=$1
shift
out=.build/compile_commands.json comma=''
quote "$PWD"
here=$quoted
mkdir -p .build
{
    echo '['
    for file in labs/*/*.cu labs/*/*/*.cu solutions/*/*.cu tests/*/*.cu tests/*/*/*.cu tests/*.cu; do
        [ -f "$file" ] || continue
        folder_of "$file"
        entry "$file" "$clang" "$@" --cuda-host-only -I "${folder[0]}" -I "${folder[0]}parts" -I common/lab -c
    done
    for file in labs/*/*.c labs/*/parts/*.c tests/*/*.c tests/*.c common/*/*.c common/simgpu/*/*.c; do
        [ -f "$file" ] || continue
        folder_of "$file"
        entry "$file" "$clang" -std=c11 -D_GNU_SOURCE -Wall -Wextra -I common/simgpu/include -I "${folder[0]}" -I "${folder[0]}parts" -I common/lab -c
    done
    printf '\n]\n'
} >"$out.new"
mv "$out.new" "$out"
echo "editor: written $out. An editor with clangd reads it; open a file of labs/ there."

#!/bin/bash
# editor.sh CLANG FLAGS...: writes .build/compile_commands.json, from which clangd knows how each file is compiled: an
# editor then completes names and marks errors in a lab's .cu without a CUDA toolkit. FLAGS: those of the sim lane's
# CUDA. (.clangd in the top folder says where the file lies.)
set -eu
cd "$(dirname "$0")/../.."

quoted() { printf '"%s"' "$(printf %s "$1" | sed 's/[\\"]/\\&/g')"; }

# FILE ARGUMENT...: one entry.
entry() {
    local file=$1 argument
    shift
    printf '%s{"directory": %s, "file": %s, "arguments": [' "$comma" "$(quoted "$PWD")" "$(quoted "$file")"
    for argument in "$@"; do printf '%s, ' "$(quoted "$argument")"; done
    printf '%s]}' "$(quoted "$file")"
    comma=$',\n'
}

clang=$1
shift
out=.build/compile_commands.json comma=''
mkdir -p .build
{
    echo '['
    for file in labs/*/*.cu labs/*/*/*.cu solutions/*/*.cu tests/*/*.cu tests/*/*/*.cu tests/*.cu; do
        [ -f "$file" ] || continue
        lab=$(printf %s "$file" | sed -n 's,.*\(lab[0-9]*\).*,\1,p')
        folder=$(printf '%s\n' labs/"${lab:-lab}"-*/ | head -n 1)
        entry "$file" "$clang" "$@" --cuda-host-only -I "$folder" -I "${folder}parts" -I common/lab -c
    done
    for file in labs/*/*.c labs/*/parts/*.c tests/*/*.c tests/*.c common/*/*.c common/simgpu/*/*.c; do
        [ -f "$file" ] || continue
        lab=$(printf %s "$file" | sed -n 's,.*\(lab[0-9]*\).*,\1,p')
        folder=$(printf '%s\n' labs/"${lab:-lab}"-*/ | head -n 1)
        entry "$file" "$clang" -std=c11 -D_GNU_SOURCE -Wall -Wextra -I common/simgpu/include -I "$folder" -I "${folder}parts" -I common/lab -c
    done
    printf '\n]\n'
} >"$out.new"
mv "$out.new" "$out"
echo "editor: written $out. An editor with clangd reads it; open a file of labs/ there."

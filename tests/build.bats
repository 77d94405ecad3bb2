#!/usr/bin/env bats
# Everything builds, with and without sanitizers, and has the agreed form.

load helper

@test "SimGPU, its tools and every lab build without a warning" {
    build all
}

@test "a second build does nothing" {
    build all
    make -q "$B/mine/lab3"
}

@test "the sanitizer build of the starter and the solution runs clean" {
    SAN=1 make -s .build/san/starter/lab3 .build/san/reference/lab3 3>&- 4>&-
    for who in starter reference; do
        run apart .build/san/$who/lab3
        echo "${output:0:4000}" # a sanitizer can fill a thousand lines
        [ "$status" = 0 ]
    done
}

@test "lint: clang-format, cppcheck and shellcheck have nothing to say" {
    make -s lint 3>&- 4>&-
}

@test "lint: a script that was clean is read again when it is another, and one that was not is read again in any case" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p common/make tests
    cp "$BLUEBAR_TOP"/common/make/{lint,lib,need}.sh common/make
    touch tests/helper.bash
    printf '%s\n' '#!/bin/bash' '. common/make/lib.sh' 'echo "$B"' >common/make/new.sh
    run common/make/lint.sh
    echo "$output"
    [ "$status" = 0 ]
    echo 'rm $B/*.o' >>common/make/new.sh
    for again in 1 2; do
        run common/make/lint.sh
        echo "$again: $output"
        [ "$status" = 1 ]
        [[ $output == *"common/make/new.sh line 4"* ]]
    done
}

@test "lint: variables of two files that are compiled together have two names" {
    cd "$BATS_TEST_TMPDIR"
    mkdir -p common/make common/room tests
    cp "$BLUEBAR_TOP"/common/make/{lint,lib,need}.sh common/make
    touch tests/helper.bash
    echo '$(call unit,room/all,here there,find)' >Makefile
    echo 'static unsigned count = 1, room = 2;' >common/room/here.c
    echo 'static int *place; /* in this room */' >common/room/there.c
    run common/make/lint.sh
    echo "$output"
    [ "$status" = 0 ]
    echo 'static int room;' >>common/room/there.c
    run common/make/lint.sh
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == *"one variable in two files that are compiled together: room of there.c and here.c; give one of them another name"* ]]
}

@test "the top folder holds the house and nothing else" {
    [ "$(git ls-files -co --exclude-standard | sed 's,/.*,,' | grep -v '^\.' | sort -u | tr '\n' ' ')" = "LICENSE Makefile README.md common handouts labs solutions tests " ]
}

@test "the file to edit is shipped as its starter" {
    git diff --quiet HEAD -- "$(lab_dir 3)/$(lab_file 3)" || skip "it has been edited here"
    diff "$(lab_starter 3)" "$(lab_dir 3)/$(lab_file 3)" || {
        echo "after a change of the starter: cp $(lab_dir 3)/$(lab_file 3) $(lab_starter 3)"
        return 1
    }
}

@test "a built tree may be moved: programs carry their virtual cards, and a card that is edited there is the one that counts" {
    build "$B/reference/lab3"
    house
    [[ $(apart "$B/reference/lab3" | head -n 1) == *"virtual H200"* ]]
    sed -i 's/^name = .*/name = "Moved" \\ card/' common/simgpu/profiles/h200.conf
    build "$B/reference/lab3"
    mv common/simgpu/profiles elsewhere
    [[ $(apart "$B/reference/lab3" | head -n 1) == *'virtual "Moved" \ card'* ]]
}

@test "make editor: every .cu of the labs is in compile_commands.json, with flags that compile it alone" {
    make -s editor 3>&- 4>&-
    for file in labs/*/*.cu; do
        line=$(grep -F "\"file\": \"$file\"" .build/compile_commands.json)
        mapfile -t arguments < <(sed 's/.*"arguments": \[//; s/\]}.*//; s/", "/\n/g; s/"//g' <<<"$line")
        [ "${arguments[-1]}" = "$file" ]
        "${arguments[@]}" -fsyntax-only
    done
    ! command -v clangd >/dev/null || clangd --check="$(lab_dir 3)/$(lab_file 3)" 2>&1 | grep -q "All checks completed, 0 errors"
}

@test "libcudart.so shows CUDA's names, the driver's and SimGPU's own, under their versions, and no other; the runtime's name is CUDA's" {
    build "$B/lib/libcudart.so"
    lib=$B/lib/libcudart.so.13
    run bash -c "nm -D --defined-only '$lib' | awk '{ print \$3 }' | grep -vE '^(cuda|__cuda)[A-Za-z0-9_]*@@libcudart.so.13$|^(simgpu|cu[A-Z]|nvrtc[A-Z])[A-Za-z0-9_]*@@SIMGPU_1$|^(libcudart.so.13|SIMGPU_1)(@@.*)?$'"
    [ "$output" = "" ]
    nm -D --defined-only "$lib" | grep -q 'T cudaMalloc@@libcudart.so.13'
    readelf -dW "$lib" | grep -q 'SONAME.*\[libcudart.so.13\]'
    # Nothing of it can be written over once it is loaded.
    readelf -dW "$lib" | grep -q BIND_NOW
    run grep RWE <(readelf -lW "$lib")
    [ "$status" = 1 ]
}

@test "what is built is not built again" {
    build kit
    build -q kit
    touch "$B/lib" # as new as the last file that was put into it
    build -q kit
}

@test "every goal that builds may be the first in a clone" {
    house
    mv .build built
    for goal in all kit .build/sim/lib/libcudart.so .build/sim/bluebar; do
        env -u B DEVICE=sim make -n "$goal" >planned 2>&1 3>&- 4>&-
        grep -q -- '-c -o' planned
        run grep 'lab.sh unknown' planned # a file that nothing makes
        [ "$status" = 1 ]
        rm -rf .build
    done
    mv built .build
}

@test "a precompiled header is of this place, and of the headers as they are" {
    house
    build "$B/host.pch"
    build -q "$B/host.pch"
    mv "$PWD" "$BATS_FILE_TMPDIR/elsewhere" && cd "$BATS_FILE_TMPDIR/elsewhere"
    run build -q "$B/host.pch"
    [ "$status" = 1 ]
    build "$B/host.pch"
    mv "$PWD" "$BATS_FILE_TMPDIR/house"
    cd "$BATS_FILE_TMPDIR/house"
    build "$B/host.pch"
    touch common/simgpu/include/texture_types.h
    run build -q "$B/host.pch"
    [ "$status" = 1 ]
}

@test "a build that knew a file which is gone goes on" {
    house
    printf '%s/obj/lab3/harness.o: labs/lab3-transpose/was_here.c\n' "$B" >"$B/obj/lab3/gone.d"
    make lab3 3>&- 4>&- | grep 'lab3  transpose'
}

@test "a link of bluebar that fails leaves the program as it was, and nothing beside it" {
    house
    build "$B/bluebar"
    printf '#!/bin/sh\nfor a; do\n    [ "$last" = -o ] && out=$a\n    last=$a\ndone\ncase $out in\n*/bluebar | */bluebar.[0-9]*) echo half >"$out" && touch tried && exit 1 ;;\n*) exec %s "$@" ;;\nesac\n' "${CLANG:-clang}" >cc
    chmod +x cc
    cp "$B/bluebar" before
    touch common/bluebar/main.c
    make -s list CLANG="$PWD/cc" 3>&- 4>&- && return 1
    [ -e tried ]
    cmp before "$B/bluebar"
    [ "$(echo "$B"/bluebar*)" = "$B/bluebar" ]
}

# A macro of one file would change the next ones without a word of the compiler's.
@test "no file of a unit has a macro whose name a file behind it uses" {
    # shellcheck disable=SC2016 # make is to expand it
    units=$(printf 'include Makefile\n$(foreach u,$(UNITS),$(info $u $(in_$u)))\n' | make -s -f - -n list | grep '\.unit ')
    [ "$(wc -l <<<"$units")" -gt 15 ]
    run awk '
        # The lines of a file without its comments and texts, joined.
        function code(name,   line, all) {
            while ((getline line <name) > 0) all = all "\n" line
            close(name)
            gsub(/\\\n/, " ", all)
            gsub(/"([^"\\\n]|\\.)*"/, "", all)
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", all)
            return all
        }
        # Adds the words of a text to words[]; those that it defines as macros and keeps go to made[].
        function read(text,   n, i, line, w, k, j) {
            delete words; delete made
            n = split(text, line, "\n")
            for (i = 1; i <= n; i++) {
                k = split(line[i], w, /[^A-Za-z0-9_#]+/)
                for (j = 1; j <= k; j++) words[w[j]]
                if (line[i] ~ /^# *define /) { sub(/^# *define /, "", line[i]); match(line[i], /^[A-Za-z0-9_]+/); made[substr(line[i], 1, RLENGTH)] }
                if (line[i] ~ /^# *undef /) { sub(/^# *undef /, "", line[i]); delete made[line[i]] }
            }
        }
        {
            delete macro
            for (f = 2; f <= NF; f++) {
                read(code("common/" $f ".c"))
                for (m in macro) if (m in words && !(m in made)) print $1 ": " $f ".c uses " m ", a macro of " macro[m]
                for (m in made) if (m != "_GNU_SOURCE") macro[m] = $f ".c"
            }
        }' <<<"$units"
    echo "$output"
    [ "$status" = 0 ]
    [ -z "$output" ]
}

@test "a make that is killed leaves no file of the judge's cut off" {
    house
    rm -f "$B"/judge/lab3.{map,wraps,rows,names}
    printf '#!/bin/sh\necho half\nkill -9 0\n' >"$B/judge/lab3"
    touch -d "+1 hour" "$B/judge/lab3" # nothing builds it anew
    for file in map wraps rows names; do
        setsid -w make -s "$B/judge/lab3.$file" 3>&- 4>&- && return 1
        [ ! -e "$B/judge/lab3.$file" ]
    done
    rm "$B/judge/lab3"
    make -s "$B"/judge/lab3.{map,wraps,rows,names} 3>&- 4>&-
    grep -q 'local: \*' "$B/judge/lab3.map"
}

@test "make test-everywhere: a compiler that fails is told by its own words" {
    house
    [ -d .git ] || git init -q # which files there are it asks git
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    printf '#!/bin/sh\n[ "$1" = --version ] || { echo "no memory left" >&2; exit 1; }\n' >"$BATS_TEST_TMPDIR/bin/clang-99"
    chmod +x "$BATS_TEST_TMPDIR/bin/clang-99"
    PATH=$BATS_TEST_TMPDIR/bin:$PATH COMPILERS=clang-99 run make -s test-everywhere 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == *"clang-99: builds without a warning"*"no memory left"* ]]
}

# The last, since what is built in this copy is old then.
@test "objects of SimGPU, the harness and the labs are built anew when a flag of theirs changes" {
    house
    objects=("$B"/obj/{simgpu/base/all.unit,simgpu/words/words,lab/cold.unit,lab/calls,lab3/harness}.o)
    make -q "${objects[@]}"
    cp Makefile before
    sed 's/^\(\$(call unit,simgpu.base.*\))$/\1,more)/' before >Makefile # a name that each of its files has
    cmp before Makefile && return 1
    make -q "${objects[0]}" && return 1
    cp before Makefile
    for flags in SIMGPU_FLAGS LIBRARY_FLAGS WARN JUDGE_FLAGS; do
        sed "s/^$flags *:=.*/& -DMORE/" before >Makefile
        cmp before Makefile && return 1
        for object in "${objects[@]}"; do make -q "$object" && return 1; done
        cp before Makefile
        make -q "${objects[@]}" && return 1 # they may be of the other flags
        touch "${objects[@]}"
        make -q "${objects[@]}"
    done
}

@test "a solution that has changed is built beside a starter that has not" { # GNU make 4.4.1 once waited for ever
    house
    build "$B/starter/lab3" "$B/reference/lab3"
    echo "// new" >>solutions/lab3-transpose/transpose.cu
    BUILD_SECONDS=60 build "$B/starter/lab3" "$B/reference/lab3"
    [ "$B/reference/lab3.so" -nt solutions/lab3-transpose/transpose.cu ]
}

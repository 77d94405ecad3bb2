#!/usr/bin/env bats
# The README and the handouts agree with the output of runs.

load helper

@test "every block and figure of the sim lane in the texts is what a run gives" {
    common/make/docs.sh --check 3>&- 4>&-
}

@test "a wrong figure in a text is found" {
    house
    rm -f handouts/*.md handouts/answers/*.md README.md # one small text and one lab are enough here
    rm -r labs/lab[!3]*
    printf '# T\n\nIt takes <!-- row: starter 3 launches value -->7 or so<!-- end --> launches.\n' >handouts/t.md
    printf '# U\n\nIt takes <!-- row: starter 3 launches value -->8 or so<!-- end --> launches.\n' >handouts/u.md
    common/make/docs.sh --check >"$BATS_TEST_TMPDIR/said" 2>&1 3>&- 4>&- && return 1
    for n in 7 8; do grep -F -- "-It takes <!-- row: starter 3 launches value -->$n or so<!-- end --> launches." "$BATS_TEST_TMPDIR/said"; done
    # With another compiler the texts are compared only.
    [ "$("$(common/make/find-clang.sh)" -dumpversion | cut -d. -f1)" = 14 ] || return 0
    make -s docs 3>&- 4>&-
    run grep "7 or so" handouts/t.md
    [ "$status" = 1 ]
}

@test "a text can run only make's goals" {
    house
    rm -f handouts/*.md handouts/answers/*.md README.md
    printf '# T\n\n<!-- run: make lab3; touch forbidden -->\n<!-- end -->\n' >handouts/t.md
    run common/make/docs.sh --check 3>&- 4>&-
    [ "$status" = 1 ]
    [[ $output == *"can be run from a text"* ]]
    [ ! -e forbidden ]
}

# Prints "TEXT: PATH" for each path in backticks, and each link, that leads nowhere. The worked example's files (lab 12)
# are in its page alone; labN stands for every lab.
# shellcheck disable=SC2016 # the backticks are the text's
dead_ends() {
    local text path
    for text in README.md handouts/*.md handouts/answers/*.md labs/*/hints.md common/simgpu/README.md; do
        [ -e "$text" ] || continue
        grep -oE '`(labs|solutions|tests|common|handouts)/[^` ]*' "$text" | tr -d '`' | sed 's/labN/lab3/' |
            while read -r path; do
                [[ $path =~ /lab12(-add)?[/.] ]] || compgen -G "$path" >/dev/null || echo "$text: $path"
            done
        grep -oP '\]\(\K(?!https?:)[^)#]+' "$text" |
            while read -r path; do
                [ -e "${text%"${text##*/}"}$path" ] || echo "$text: $path"
            done
    done
}

@test "every path and link in the texts leads somewhere" {
    run dead_ends
    echo "$output"
    [ -z "$output" ]
}

# shellcheck disable=SC2016
@test "a path or a link that leads nowhere is found" {
    cd "$BATS_TEST_TMPDIR"
    mkdir handouts labs
    touch README.md labs/there.cu
    printf '# T\n\nRead `labs/lab3-transpose/nothing.cu` and [this](nothing.md), then `labs/there.cu`.\n' >handouts/t.md
    run dead_ends
    [ "$output" = "handouts/t.md: labs/lab3-transpose/nothing.cu
handouts/t.md: nothing.md" ]
}

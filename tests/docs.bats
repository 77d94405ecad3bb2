#!/usr/bin/env bats
# The README and the handouts say what a run says.

load helper

@test "every block and figure of the sim lane in the texts is what a run gives" {
    [ "$("$(common/make/find-clang.sh)" -dumpversion | cut -d. -f1)" = 14 ] || skip "the figures in the texts are those of clang 14"
    common/make/docs.sh --check 3>&- 4>&-
}

@test "a wrong figure in a text is found" {
    house
    rm -f handouts/*.md README.md # one small text is enough here
    printf '# T\n\nIt takes <!-- row: starter 3 launches value -->7 or so<!-- end --> launches.\n' >handouts/t.md
    run common/make/docs.sh --check 3>&- 4>&-
    [ "$status" = 1 ]
    [[ $output == *'-It takes <!-- row: starter 3 launches value -->7 or so<!-- end --> launches.'* ]]
    make -s docs 3>&- 4>&-
    run grep "7 or so" handouts/t.md
    [ "$status" = 1 ]
}

@test "a text can run only make's goals" {
    house
    rm -f handouts/*.md README.md
    printf '# T\n\n<!-- run: make lab3; touch forbidden -->\n<!-- end -->\n' >handouts/t.md
    run common/make/docs.sh 3>&- 4>&-
    [ "$status" = 1 ]
    [[ $output == *"can be run from a text"* ]]
    [ ! -e forbidden ]
}

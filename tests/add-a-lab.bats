#!/usr/bin/env bats
# The lab that handouts/instructors.md shows how to write, taken out of that page and graded.

load helper

# A file is a line with its name in bold code, then a fence. The house is a copy of this tree (see helper.bash).
setup_file() { build "$B/starter/lab3"; } # this file may be the first to build anything

setup() {
    house
    awk '/^\*\*`[^`]*`\*\*$/ { gsub(/[*`]/, ""); file = $0; next }
         file && /^```/ { if (inside) file = ""; inside = !inside; if (inside) { dir = file; sub(/[^\/]*$/, "", dir); system("mkdir -p " dir) } next }
         inside && file { print >file }' handouts/instructors.md
    cp labs/lab12-add/add.cu tests/lab12/starter.cu
}

@test "the starter of the worked example fails the row that it should, and names the line" {
    run make check LAB=12 SEED=7 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == *'Score: 40/100'* ]]
    [[ $output == *'where   add.cu:11'* ]]
    [ "$(grep -c '^not ok' <<<"$output")" = 1 ]
}

@test "the reference of the worked example is full" {
    run make check LAB=12 SUBMISSION=solutions 3>&- 4>&-
    [ "$status" = 0 ]
    [[ $output == *'Score: 100/100'* ]]
}

@test "its wrong program is told its first mistake, and it has hints" {
    run make check LAB=12 SUBMISSION=tests/lab12/wrong/leaves_the_last.patch 3>&- 4>&-
    [[ $output == *'out[1023] was never written (1 of 1024 are wrong)'* ]]
    [[ $output == *'Score: 0/100'* ]]
    run make hint12 3>&- 4>&-
    [[ $output == *'hint 1 of 3'* ]]
}

@test "a lab needs no ladder and no bench: make bench says where the table would come from" {
    run make bench LAB=12 3>&- 4>&-
    [ "$status" != 0 ]
    [[ $output == *"lab12: this lab has no table of kernels: tests/lab12/bench.c would print it"* ]]
    run make lines12 3>&- 4>&-
    [[ $output == *sector*"add_chunk"* ]]
}

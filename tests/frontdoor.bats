#!/usr/bin/env bats
# The front door: every command that a student types, and every message for missing tools and mistyped words.
# All of it happens in a copy of the project, since some commands change the student's file.

load helper

setup_file() { build all; }

setup() {
    house
    mine=$(lab_dir 3)/$(lab_file 3)
    starter=$(lab_starter 3)
    cp "$starter" "$mine"
}

# Says what a command printed, and runs it without Bats' descriptors.
say() {
    run "$@" 3>&- 4>&-
    echo "$output"
}

# The first heading of lab $1's handout, without its "Lab 3:".
title() { sed -n '/^# /{s/^# *\(Lab *[0-9]*[:.] *\)\{0,1\}//p;q;}' "handouts/$(basename "$(lab_dir "$1")").md"; }

# bats test_tags=quick
@test "make lists the labs with title, state and score, and the commands" {
    say make
    [ "$status" = 0 ]
    [[ $output =~ "lab 3 ".*untouched ]]
    # A lab is one line: its title, and no other heading of its handout.
    for n in $(labs); do [[ $(grep "^  lab $n " <<<"$output") == *" $(title "$n") "*untouched* ]]; done
    [[ $output != *'#'* ]]
    for c in setup lab3 lines3 hint3 diff3 reset3 solution3 rank check test doctor; do [[ $output == *"make $c "* ]]; done
}

@test "the state goes from untouched to in progress to done, with the score of the last run" {
    echo '// my first idea' >>"$mine"
    say make
    [[ $output =~ "lab 3 ".*"in progress" ]]
    make -s lab3 3>&- 4>&-
    say make
    [[ $output =~ "lab 3 ".*"in progress".*/100 ]]
    cp solutions/"${mine#labs/}" "$mine"
    make -s lab3 3>&- 4>&-
    say make
    [[ $output =~ "lab 3 ".*"done".*100/100 ]]
}

@test "make rank shows each version that was run once, with its points and its time" {
    rm -rf .build/history
    say make -s rank LAB=3
    [ "$status" != 0 ]
    [[ $output == *"lab 3 has no history yet"* ]]
    make -s lab3 3>&- 4>&-
    make -s lab3 3>&- 4>&-
    cp solutions/"${mine#labs/}" "$mine"
    make -s lab3 3>&- 4>&-
    say make -s rank LAB=3
    [ "$status" = 0 ]
    [[ ${lines[0]} =~ ^"lab 3, 2 versions; the best: version 2, 100/100, "[0-9.]+" us, "[0-9]+" times as fast as the slowest (bars: logarithmic)"$ ]]
    [[ ${lines[1]} =~ ^" "*1" "+[-0-9]+" "+40/100" "+[0-9.]+" ms "+▇+$ ]]
    [[ ${lines[2]} =~ ^" "*2" "+[-0-9]+" "+100/100" "+[0-9.]+" us "+▇$ ]]
    if command -v gnuplot >/dev/null; then grep -q '<svg' .build/history/sim/lab3.svg; fi
    # A wrong program that is faster is not the best.
    printf "0-0\t2026-11-22\t20\t100\t0.5\n" >>.build/history/sim/lab3.tsv
    say make -s rank LAB=3
    [[ ${lines[0]} == "lab 3, 3 versions; the best: version 2, 100/100, "* ]]
}

# bats test_tags=quick
@test "make lab3 prints a card whose first line names the lane and the virtual device, and exits 0" {
    say make lab3
    [ "$status" = 0 ]
    [[ $output =~ lab3.*sim.*virtual ]]
    [[ $output == */100* ]]
}

# bats test_tags=quick
@test "a compile error is the compiler's own message, with the student's line, and exit not 0" {
    echo 'int oops = ;' >>"$mine"
    say make lab3
    [ "$status" != 0 ]
    [[ $output == *"$mine:$(wc -l <"$mine"):"*"error: expected expression"* ]]
}

@test "a program that is killed leaves no file behind" {
    sed 's/^extern "C" void transpose(.*/&\n    for (volatile int forever = 1; forever;) continue;/' "$starter" >"$mine"
    build "$B/mine/lab3"
    mkdir "$BATS_TEST_TMPDIR/tmp"
    TMPDIR=$BATS_TEST_TMPDIR/tmp run apart timeout -s KILL 1 "$B/mine/lab3"
    [ "$status" = 137 ]
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

@test "after a crash no old score is left" {
    make -s lab3 3>&- 4>&-
    sed 's/^extern "C" void transpose(.*/&\n    __builtin_trap();/' "$starter" >"$mine"
    say make lab3
    [ "$status" != 0 ]
    [[ $output == *"No score"* ]]
    say make
    [[ $output != *"/100"* ]]
}

@test "a program that does not end is stopped: what ran, the usual causes, exit not 0" {
    sed 's/^extern "C" void transpose(.*/&\n    static volatile int flag = -1;\n    while (flag == -1) {}/' "$starter" >"$mine"
    for c in lab3 lines3; do
        say make "$c" LIMIT=1
        [ "$status" != 0 ]
        [[ $output == *"lab3: the host program was stopped from outside (SIGTERM) while running your transpose"* ]]
        [[ $output == *"lab3 had not ended after 1 seconds."*"a host loop that polls memory"*"cudaEventQuery"*"LIMIT=seconds"* ]]
        [[ $output != *"ended before its last row"* ]]
    done
    say make solution3 LIMIT=soon
    [ "$status" != 0 ]
    [[ $output == *"LIMIT=soon: a whole number of seconds, from 1 on"* ]]
}

@test "make -j2 builds it too, and a second time builds nothing" {
    say make -j2 lab3
    [ "$status" = 0 ]
    [[ $output != *warning:* ]]
    make -q .build/sim/mine/lab3
}

# bats test_tags=quick
@test "make hint3 gives a question, a place, a technique, and never code" {
    rm -rf .build/hints
    say make hint3
    [[ $output == *"hint 1 of 3 (question)"* ]]
    say make hint3
    [[ $output == *"hint 2 of 3 (place)"* ]]
    say make hint3
    [[ $output == *"hint 3 of 3 (technique)"* ]]
    say make hint3
    [[ $output == *"That was the last one"* ]]
    # A word of code in a sentence is no code: a statement, a block, a launch with its numbers are.
    run grep -nE ';$|[{}]|<<<[^.]|^    +[^ ]' "$(lab_dir 3)/hints.md"
    echo "$output"
    [ "$status" = 1 ]
}

@test "make hint takes a row, or a hint that the text or a card names" {
    build "$B/reference/lab10"
    rm -rf .build/hints
    say make hint10 ROW=shared SUBMISSION=solutions
    [[ $output == *"hint 1 of 3 (question)"*"How many bytes has your array?"*"More: make hint10 ROW=shared"* ]]
    run make -s hint10 ROW=nothing SUBMISSION=solutions 3>&- 4>&-
    [[ $output == *"Lab 10 has no row 'nothing'"* ]]
    rm -rf .build/hints
}

@test "every row has its three hints" {
    build "$B/reference/lab3"
    # Those of the table, and those that the harness gives to a row by what went wrong.
    given=$(grep -ohE '\{"[a-z]+",' "$(lab_dir 3)"/parts/advice.c | tr -d '{",')
    [ "$(echo "$given" | wc -w)" -gt 20 ]
    for id in $(apart "$B/reference/lab3" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }' | sort -u) $given; do
        echo "hint $id"
        [ "$(awk -v id="$id" '/^## / { in_it = $2 == id } in_it && /^[123]\. /' "$(lab_dir 3)/hints.md" | wc -l)" = 3 ]
    done
}

@test "make hint3 fits the mistake: a barrier that is missing, an edge without a test" {
    rm -rf .build/hints
    cp "$(lab_tests 3)/wrong/missing_sync.cu" "$mine"
    say make hint3
    [[ $output == *"hint 1 of 3 (question) for: every element lands"*"data goes from one thread to another"* ]]
    cp "$(lab_tests 3)/wrong/out_of_bounds.cu" "$mine"
    say make hint3
    [[ $output == *"hint 1 of 3 (question) for: every element lands"*"Does that element exist"* ]]
}

@test "make hint3 ROW=view is about that row; a word that is none lists them; a full row needs none" {
    rm -rf .build/hints
    say make hint3 ROW=view
    [[ $output == *"hint 1 of 3 (question) for: view_transpose swaps"*"More: make hint3 ROW=view" ]]
    say make hint3 ROW=view
    [[ $output == *"hint 2 of 3 (place) for: view_transpose swaps"* ]]
    say make hint3
    [[ $output == *"hint 1 of 3 (question) for: the whole matrix"*"More: make hint3" ]]
    say make hint3 ROW=correct
    [ "$status" = 0 ]
    [[ $output == "Row 'correct' of lab 3 is full. No hint needed." ]]
    say make hint3 ROW=speed
    [ "$status" != 0 ]
    [[ $output == *"Lab 3 has no row 'speed'. Its rows:"* ]]
    for id in $(apart "$B/reference/lab3" --rows | awk -F "\t" 'NR > 1 { print $1 }'); do grep -q "^  ROW=$id  " <<<"$output"; done
}

@test "make hint3 is about a row that was measured, as long as there is one" {
    make -s .build/sim/mine/lab3 3>&- 4>&-
    printf '%b\n' "bluebar-record\t1\tlab3\tsim\tvirtual H200" "row\tfirst\tfail\t0\t10\tit waits\t-\twant\t\tnot measured\tcorrect\t\tlabel" \
        "row\tsecond\tpart\t5\t10\tit lacks half\t2\twant\t\twhy\tlaunches\tdo it\tlabel" "score\t5\t20\tdone" >.build/sim/mine/lab3.tsv
    rm -rf .build/hints
    say make hint3
    [[ $output == *"for: it lacks half"* ]]
}

@test "make hint3 has nothing to say when every row is full" {
    cp solutions/"${mine#labs/}" "$mine"
    say make hint3
    [ "$status" = 0 ]
    [[ $output == *"Every row of lab 3 is full"* ]]
}

# bats test_tags=quick
@test "make diff3 shows the changes" {
    say make diff3
    [[ $output == *"is the starter, unchanged"* ]]
    echo '// mine' >>"$mine"
    say make diff3
    [ "$status" = 0 ]
    [[ $output == *"+// mine"* ]]
}

# bats test_tags=quick
@test "make reset3 asks, does nothing on n, and keeps a backup on y" {
    echo '// mine' >>"$mine"
    run make reset3 <<<n 3>&- 4>&-
    [[ $output == *"Nothing changed"* ]]
    [ "$(tail -n 1 "$mine")" = '// mine' ]
    run make reset3 <<<y 3>&- 4>&-
    [ "$status" = 0 ]
    cmp "$mine" "$starter"
    [ "$(tail -n 1 "$mine.bak")" = '// mine' ]
    echo '// again' >>"$mine"
    run make reset3 <<<y 3>&- 4>&-
    [ "$(tail -n 1 "$mine.bak")" = '// mine' ]
    [ "$(tail -n 1 "$mine.bak2")" = '// again' ]
    rm "$mine".bak*
}

# bats test_tags=quick
@test "make solution3 runs the reference, and prints the next step" {
    say make solution3
    [ "$status" = 0 ]
    [[ $output == *100/100* && $output == *"ungraded question"* && $output != *"make solution3"* ]]
    say make lab3 SUBMISSION=solutions
    [[ $output == *"Compare with the reference: make solution3"*"Then: 'the last tenth' and the ungraded question"* ]]
}

@test "make bench measures the file that is being edited" {
    cp solutions/"${mine#labs/}" "$mine"
    say make bench
    [ "$status" = 0 ]
    # n, kernel, time: yours is the reference here, to the last digit.
    [ "$(echo "$output" | awk '$2 == "yours" { print $1, $3 }')" = "$(echo "$output" | awk '$2 == "reference" { print $1, $3 }')" ]
    [ "$(echo "$output" | grep -c yours)" = 3 ]
}

@test "a reader that has seen enough is no error" {
    for c in lab3 lines3 solution3 bench; do
        said=$( (make "$c" 3>&- 4>&- | head -n 2) 2>&1)
        echo "$said"
        [ "$(echo "$said" | wc -l)" = 2 ]
        [[ $said != *Error* ]]
    done
}

# bats test_tags=quick
@test "make lines3 shows the student's source with counters" {
    say make lines3
    [ "$status" = 0 ]
    [[ $output == *"sector sector"* ]]
    # Under two lines of heads, from the first function on, with the file's own numbers.
    [[ ${lines[3]} =~ \ $(grep -n '^__global__' "$starter" | head -n 1 | cut -d : -f 1)\ │\ __global__ ]]
    # Some line of the starter is there as it is written, as far as it fits.
    [[ $output == *"$(grep -F '<<<' "$starter" | tail -n 1 | sed 's/^ *//' | cut -c 1-40)"* ]]
}

# bats test_tags=quick
@test "the card and the lines of the starter quote the starter, whatever the student has made of the file" {
    { yes '// a line of mine' | head -n 60 && cat "$starter"; } >"$mine"
    for c in lab3 lines3; do
        say make $c SUBMISSION=starter
        [ "$status" = 0 ]
        [[ $output == *"for (int i = 0; i < cols; i++) copy_column<<<"* ]]
        [[ $output != *"a line of mine"* ]]
    done
}

@test "make check ends with the score, and its exit status says whether it is full" {
    say make check LAB=3
    [ "$status" != 0 ]
    [[ ${output##*Score: } =~ ^[0-9.]+/100 ]]
    [[ $output == *"make hint3"* ]]
}

@test "without LAB, the labs are graded whose files are there, and one line names the rest" {
    mkdir -p "$BATS_TEST_TMPDIR/hers/lab4-reduction"
    cp solutions/lab3-transpose/transpose.cu "$BATS_TEST_TMPDIR/hers/"
    cp solutions/lab4-reduction/reduction.cu "$BATS_TEST_TMPDIR/hers/lab4-reduction/"
    say make check SUBMISSION="$BATS_TEST_TMPDIR/hers"
    [ "$status" = 0 ]
    [ "${lines[-1]}" = "Score: 200/200" ]
    [ "${lines[-2]}" = "Not in $BATS_TEST_TMPDIR/hers, and so not graded: lab $(labs | grep -v '^[34]$' | xargs | sed 's/ /, lab /g')" ]
    # What is there counts as always, and what LAB asks for must be there.
    cp "$starter" "$BATS_TEST_TMPDIR/hers/transpose.cu"
    say make check SUBMISSION="$BATS_TEST_TMPDIR/hers"
    [ "$status" != 0 ]
    say make check LAB=5 SUBMISSION="$BATS_TEST_TMPDIR/hers"
    [ "$status" != 0 ]
    [[ $output == *"neither $BATS_TEST_TMPDIR/hers/lab5-sync/train.cu nor $BATS_TEST_TMPDIR/hers/train.cu is there"* ]]
    # A file by itself is of the lab that has one of that name; an empty folder is of none.
    say make check SUBMISSION=solutions/lab3-transpose/transpose.cu
    [ "${lines[-1]}" = "Score: 100/100" ]
    mkdir "$BATS_TEST_TMPDIR/empty"
    say make check SUBMISSION="$BATS_TEST_TMPDIR/empty"
    [ "$status" != 0 ]
    [[ $output == *"empty has no lab's file"* && $output != *Score* ]]
}

@test "a seed or a lab that cannot be is refused before anything is graded, with the right form" {
    for seed in abc -1 1.5 18446744073709551616 '1 2'; do
        say make check LAB=3 SUBMISSION=solutions SEED="$seed"
        [ "$status" != 0 ]
        [[ $output == *"SEED=$seed: a seed is a whole number from 0 to 18446744073709551615, as SEED=7."* && $output != *"ok 1"* ]]
    done
    for lab in '3 99' 03 3,4 '*' lab3; do
        say make check LAB="$lab" SUBMISSION=solutions
        [ "$status" != 0 ]
        [[ $output == *"LAB=$lab: There is no lab '"*'One of them, as LAB=3, or more, as LAB="3 4".'* && $output != *"ok 1"* ]]
    done
    say make check LAB="3 4" SUBMISSION=solutions SEED=18446744073709551615
    [ "${lines[-1]}" = "Score: 200/200" ]
}

@test "the caller's settings for SimGPU do not change a grade" {
    export SIMGPU_BUDGET=1000 SIMGPU_CHECK=0
    say make check LAB=3 SUBMISSION=solutions
    [ "${lines[-1]}" = "Score: 100/100" ]
}

@test "two names that look alike are two submissions" {
    mkdir -p "$BATS_TEST_TMPDIR"/{ann/lee,ann_lee}
    cp "$starter" "$BATS_TEST_TMPDIR/ann_lee/transpose.cu"
    cp solutions/lab3-transpose/transpose.cu "$BATS_TEST_TMPDIR/ann/lee/"
    say make check LAB=3 SUBMISSION="$BATS_TEST_TMPDIR/ann/lee"
    [ "${lines[-1]}" = "Score: 100/100" ]
    say make check LAB=3 SUBMISSION="$BATS_TEST_TMPDIR/ann_lee"
    [[ $output == *"Score: 40/100"* ]]
    both=("$B/$DESK"/sub-*ann_lee_transpose*)
    [ ${#both[@]} = 2 ]
}

@test "a check waits while another builds what all share, and while another grades the same file" {
    make -s check LAB=3 SUBMISSION=solutions 3>&- 4>&-
    for lock in "$B/build.lock" "$B/$DESK/check/reference-lab3.lock"; do
        [ -f "$lock" ]
        exec {held}>"$lock"
        flock "$held"
        make -s check LAB=3 SUBMISSION=solutions >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 4>&- {held}>&- &
        sleep 3
        [ ! -s "$BATS_TEST_TMPDIR/out" ]
        exec {held}>&-
        wait
        grep -qx 'Score: 100/100' "$BATS_TEST_TMPDIR/out"
    done
}

@test "programs that are built at the same time do not make what all share twice" {
    local round at_once makes
    for round in 1 2 3; do
        makes=()
        rm -f "$B/judge/lab3."{names,rows,wraps}
        for at_once in 1 2 3 4 5 6; do
            DESK=$DESK-$at_once make -s hint3 SUBMISSION=solutions >"$BATS_TEST_TMPDIR/said$round.$at_once" 2>&1 3>&- 4>&- &
            makes+=($!)
        done
        for at_once in "${makes[@]}"; do wait "$at_once" || { cat "$BATS_TEST_TMPDIR"/said* && false; }; done
    done
}

# A class: full, slow, refused, not to be compiled, never ending; a name that needs quotes, a link, nothing at all.
class() {
    class=$BATS_TEST_TMPDIR/class
    mkdir -p "$class"/{anna/lab4-reduction,ben,"cem, o'neil",dora,eve,fay,gil}
    cp solutions/lab3-transpose/transpose.cu "$class/anna/"
    cp solutions/lab4-reduction/reduction.cu "$class/anna/lab4-reduction/"
    cp "$starter" "$class/ben/transpose.cu"
    { cat "$starter" && echo 'extern "C" int system(const char *); int run_it() { return system("true"); }'; } >"$class/cem, o'neil/transpose.cu"
    { cat "$starter" && echo 'int oops = ;'; } >"$class/dora/transpose.cu"
    sed 's/^extern "C" void transpose(.*/&\n    for (volatile int forever = 1; forever;) continue;/' "$starter" >"$class/eve/transpose.cu"
    ln -s /etc/passwd "$class/fay/transpose.cu"
}

# A line of scores.csv, without the seed and the commit.
scored() { sed -n "s/^\($1,$2,[0-9]*,100\),5,[^,]*,/\1,/p" "$class-grades/scores.csv"; }

@test "make grade grades a folder of submissions, whatever is wrong with one, and leaves nothing in .build" {
    class
    : >>"$B/build.lock" # which the first check of a tree leaves
    before=("$B"/*)
    say make -s grade DIR="$class" SEED=5
    [ "$status" != 0 ] # a link
    cat "$class-grades/scores.csv"
    [[ $(head -n 1 "$class-grades/scores.csv") == name,lab,points,of,seed,commit,note,correct,races,launches,load-sectors,store-sectors,bank-conflicts,virtual-time,view,* ]]
    [[ $(scored anna 3) == anna,3,100,100,,15,5,10,10,10,10,30,10,* ]]
    [[ $(scored anna 4) == anna,4,100,100,,* ]]
    [[ $(scored ben 3) == ben,3,40,100,,15,5,0,0,10,10,0,0,* ]]
    [[ $(scored "\"cem, o'neil\"" 3) == *'",3,0,100,"refused: transpose.cu:'*' uses `system`'*'",0,0,0,0,0,0,0,'* ]]
    [[ $(scored dora 3) == 'dora,3,0,100,it does not compile,0,'* ]]
    # An endless loop of the host ends after some seconds of its own time; a slow machine may be at the limit before.
    [[ $(scored eve 3) == 'eve,3,0,100,it ended with exit status 2 before the last row,0,'* || $(scored eve 3) == 'eve,3,0,100,it was still running after 10 seconds,0,'* ]]
    # What could not be graded is there too, with its reason.
    [[ $(grep ^fay "$class-grades/scores.csv") == fay,3,0,100,5,*',"'*'/fay/transpose.cu is a link, and links are not graded",0,0,'* ]]
    [[ $(grep ^gil "$class-grades/scores.csv") == gil,,0,,5,*",no file of lab $(labs | xargs) in it"* ]]
    [ "$(wc -l <"$class-grades/scores.csv")" = 9 ]
    [[ $output == *"fay: $class/fay/transpose.cu is a link, and links are not graded"* && $output == *"gil: no file of lab $(labs | xargs) in it"* ]]
    [ "${lines[-2]}" = "6 graded, 0 had a result already, 2 could not be graded; 2 of 6 are full: $class-grades/scores.csv" ]
    grep -q 'error: expected expression' "$class-grades/dora-lab3.txt"
    after=("$B"/*)
    [ "${before[*]}" = "${after[*]}" ]
    # The points are make check's.
    say make check LAB=3 SUBMISSION="$class/ben" SEED=5
    [[ $output == *"Score: 40/100"* ]]
}

@test "make grade goes on where it was stopped, and grades again what was handed in again, or on demand" {
    class
    rm -r "$class"/{anna/lab4-reduction,eve,fay,gil,cem*}
    say make -s grade DIR="$class" SEED=5
    [ "$status" = 0 ]
    cp "$starter" "$class/dora/transpose.cu"
    cp "$starter" "$class/hal.cu"
    say make -s grade DIR="$class" SEED=5
    [ "$status" != 0 ] # whose lab is hal.cu?
    [ "${lines[-2]}" = "1 graded, 2 had a result already (AGAIN=1 grades them anew), 1 could not be graded; 1 of 3 are full: $class-grades/scores.csv" ]
    [[ $output == *"hal.cu: a file of which lab? To grade it, say LAB=3"* && $(scored dora 3) == dora,3,40,100,,* ]]
    rm "$class-grades/results/ben-lab3.tsv" # as if stopped before it
    say make -s grade DIR="$class" SEED=5 LAB=3
    [[ ${lines[-1]} == "2 graded, 2 had"*" of 4 are full: "* ]]
    [[ $(scored ben 3) == ben,3,40,100,,* && $(scored hal 3) == hal,3,40,100,,* ]]
    [ "$(grep -c ^hal "$class-grades/scores.csv")" = 1 ]
    say make -s grade DIR="$class" LAB=3 AGAIN=1 OUT="$BATS_TEST_TMPDIR/mine"
    [[ ${lines[-1]} == "4 graded, 0 had"*"1 of 4 are full: $BATS_TEST_TMPDIR/mine/scores.csv" ]]
    exec {held}>"$BATS_TEST_TMPDIR/mine/results/.lock"
    flock "$held"
    say make -s grade DIR="$class" OUT="$BATS_TEST_TMPDIR/mine"
    exec {held}>&-
    [[ $output == "Another make grade is writing to $BATS_TEST_TMPDIR/mine."* ]]
    say make -s grade
    [ "$status" != 0 ]
    [[ ${lines[0]} == "make grade DIR=submissions: which folder?"* ]]
}

@test "a submission may be a tree, a folder or a file" {
    for s in solutions/lab3-transpose solutions/lab3-transpose/transpose.cu "$PWD/solutions"; do
        say make check LAB=3 SUBMISSION="$s"
        [ "${lines[-1]}" = "Score: 100/100" ]
    done
}

@test "refused: a lab that is not there, a folder without a submission, an unknown lane" {
    say make lab99
    [ "$status" != 0 ]
    [[ $output == *"There is no lab '99'. The labs here: "*3* ]]
    say make check LAB=99
    [ "$status" != 0 ]
    [[ $output == *"There is no lab '99'"* ]]
    say make check LAB=3 SUBMISSION=nowhere
    [ "$status" != 0 ]
    [[ $output == *"SUBMISSION=nowhere: neither nowhere/lab3-transpose/transpose.cu nor nowhere/transpose.cu is there"* ]]
    say make lab3 DEVICE=tpu
    [ "$status" != 0 ]
    [[ $output == *"DEVICE=tpu: there are two lanes"* ]]
    say make transpose
    [ "$status" != 0 ]
    [[ $output == *"make transpose: no such command"* ]]
}

@test "without clang: one message with the command that installs it" {
    unset CLANG # as `make CLANG=clang-19 test` sets it
    path=$(path_without 'clang*' 'nvcc')
    PATH=$path say make lab3
    [ "$status" != 0 ]
    [[ ${lines[0]} == "Not found: clang (14 or newer). Install it with:  "*" clang "*"make setup)" ]]
}

@test "make check needs no bats, which make test names if it is not there" {
    path=$(path_without 'bats')
    PATH=$path say make check LAB=3 SUBMISSION=starter SEED=4000000000
    [[ $output == *1..8*"not ok"*"Score: "* ]] # on a busy machine a line before says what runs for long
    PATH=$path say make test
    [ "$status" != 0 ]
    [[ ${lines[0]} == "Not found: bats. Install it with:  "* ]]
    [[ ${#lines[@]} = 2 && ${lines[1]} == make:* ]] # and that is all
}

@test "DEVICE=gpu without nvcc points to the toolkit and to the sim lane" {
    path=$(path_without 'nvcc')
    PATH=$path say make lab3 DEVICE=gpu
    [ "$status" != 0 ]
    [[ $output == *"DEVICE=gpu needs nvcc"*"DEVICE=sim"* ]]
}

@test "make doctor: all is there, or something is missing and the command that installs it is named" {
    say make doctor
    [ "$status" = 0 ]
    [[ $output == *"All that 'make lab3' needs is here"* ]]
    unset CLANG
    path=$(path_without 'clang*')
    PATH=$path say make doctor
    [ "$status" != 0 ]
    [[ $output == *"Not found: clang (14 or newer). Install it with:"* ]]
    path=$(path_without 'cppcheck')
    PATH=$path say make doctor
    [ "$status" = 0 ]
    [[ $output =~ cppcheck.*"missing, needed for make lint: " ]]
}

@test "make setup does nothing when all is there" {
    say make setup
    [ "$status" = 0 ]
    [ "${lines[0]}" = "setup: everything is there already: clang, make, bats, shellcheck, clang-format, cppcheck, binutils." ]
}

# A machine without bats, whose package manager only writes down what it was asked.
stub_machine() { # manager to stub, user id
    path=$(path_without bats apt-get apt-cache dnf sudo id)
    printf '#!/bin/sh\necho "%s $*" >>%s\n' "$1" "$BATS_TEST_TMPDIR/asked" >"$path/$1"
    printf '#!/bin/sh\necho "sudo $*" >>%s\n' "$BATS_TEST_TMPDIR/asked" >"$path/sudo"
    printf '#!/bin/sh\necho %s\n' "$2" >"$path/id"
    chmod +x "$path"/{"$1",sudo,id}
}

@test "make setup on Debian installs what is missing, and only that; sudo only when not root" {
    stub_machine apt-get 0
    PATH=$path say make setup
    [[ $output == *"setup: installing bats ..."* ]]
    grep -qx "apt-get install -y -qq --no-install-recommends bats" "$BATS_TEST_TMPDIR/asked"
    [ "$(grep -c sudo "$BATS_TEST_TMPDIR/asked")" = 0 ]
    stub_machine apt-get 1000
    PATH=$path say make setup
    grep -qx "sudo apt-get install -y -qq --no-install-recommends bats" "$BATS_TEST_TMPDIR/asked"
}

@test "make setup on Fedora speaks to dnf" {
    stub_machine dnf 1000
    PATH=$path say make setup
    grep -qx "sudo dnf install -y --setopt=install_weak_deps=False bats" "$BATS_TEST_TMPDIR/asked"
}

@test "a lab's file that is gone is an error in every command, never the score of before; make reset3 brings it back" {
    house
    mine=$(lab_dir 3)/$(lab_file 3)
    cp "solutions/${mine#labs/}" "$mine"
    make lab3 3>&- 4>&-
    rm "$mine"
    for command in lab3 lines3 hint3 diff3 check; do
        run make "$command" LAB=3 3>&- 4>&-
        [ "$status" != 0 ]
        [[ $output == *"$mine is not there"*"make reset3"* ]]
        [[ $output != *"100/100"* ]]
    done
    run make list 3>&- 4>&-
    [[ $output != *"100/100"* ]]
    run make reset3 3>&- 4>&-
    [ "$status" = 0 ]
    cmp "$mine" "$(lab_starter 3)"
}

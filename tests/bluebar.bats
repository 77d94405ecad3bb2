#!/usr/bin/env bats
# bluebar: records, lists, hints, one run apart, and grades, against hostile files, names and programs.

load helper
bats_require_minimum_version 1.5.0

setup_file() { build "$B/bluebar" "$B/reference/lab3" "$B/starter/lab3"; }

# A grade's files with a good record in them: STEM.rows, .tsv and .verdict.
good() {
    stem=$BATS_TEST_TMPDIR/grade
    printf 'id\tlabel\tsentence\tunit\tfull\tzero\tpoints\thint\tnext\n' >"$stem.rows"
    printf 'one\tl\tthe "first" $(row)\t\t1\t0\t40\th\tn\ntwo\tl\tthe second\t\t1\t0\t60\th\tn\n' >>"$stem.rows"
    printf 'bluebar-record\t1\tlab3\tsim\tvirtual H200\nseed\t7\n' >"$stem.tsv"
    printf 'row\tone\tpass\t40\t40\ts\tv\tw\t\t\th\tn\tl\nrow\ttwo\tpart\t30\t60\ts\tv\tw\t\t\th\tn\tl\nscore\t70\t100\tdone\n' >>"$stem.tsv"
    echo 'exit 0' >"$stem.verdict"
    export CHECK_SEED=7
}

# The record after a change by sed gets no points, and the reason is this.
void() { # sed script, reason
    good
    sed -i "$1" "$stem.tsv"
    "$BLUEBAR" result 3 "$stem" && return 1
    [ "$("$BLUEBAR" total "$stem.result")" = "Score: 0/100" ]
    run "$BLUEBAR" row 3 "$stem" one
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == "no result: its record does not count: $2"* ]]
}

@test "a good record gives its points, and tests named by its rows' sentences, with any characters in them" {
    good
    run -1 "$BLUEBAR" result 3 "$stem"
    [ "$("$BLUEBAR" total "$stem.result" "$stem.result")" = "Score: 140/200" ]
    [ "$(score "$stem.tsv")" = "70 100" ]
    [ "$(field "$stem.tsv" two status)" = part ]
    "$BLUEBAR" row 3 "$stem" one
    "$BLUEBAR" tests 3 "$stem" >"$stem.bats"
    CHECK_STEM=$stem run -1 bats --tap "$stem.bats"
    [ "${lines[1]}" = 'ok 1 lab 3: the "first" $(row)' ]
    [ "${lines[2]}" = 'not ok 2 lab 3: the second' ]
    # `make check` prints the same, without Bats and without its lines about its own file.
    want=$(printf "%s\n" "$output" | grep -v -e "^# (in test file" -e "^# (from function" -e "^#  *in test file" -e "^#   \`.* failed")
    CHECK_STEM=$stem run -1 "$BLUEBAR" tap 3 "$stem"
    [ "$output" = "$want" ]
    sed -i "/^row\ttwo/s/\tpart\t30\t60/\tna\t0\t60/; /^row\ttwo/s/\t\t\th\t/\t\tnot here\th\t/; /^score/s/70\t100/40\t40/" "$stem.tsv"
    CHECK_STEM=$stem run -0 bats --tap "$stem.bats"
    want=$output
    run -0 "$BLUEBAR" tap 3 "$stem"
    [ "$output" = "$want" ]
    good
    # A reason of two lines is two lines, each behind the column of names.
    sed -i '/^row\ttwo/s/\t\t\th\t/\t\tso it is\\nok 2 that it is\th\t/' "$stem.tsv"
    run -1 "$BLUEBAR" row 3 "$stem" two
    [[ $output == *$'\n  why     so it is\n          ok 2 that it is\n'* ]]
}

@test "a record that is not whole, not of this lab, or worth too much counts for nothing, and says why" {
    void 's/\tpart\t30\t60/\tpass\t90\t60/; s/score\t70/score\t130/' "row 'two' has 90 of 60 points"
    void 's/\tpart\t30\t60/\tpass\t160\t160/; s/score\t70\t100/score\t200\t200/' "row 'two' is worth 160 there and 60"
    void 's/\tpart\t30/\tpass\t30/' "row 'two' says 'pass' with 30 of 60"
    void 's/\tpart\t30/\tpart\t-30/; s/score\t70/score\t10/' "row 'two' has -30 of 60"
    void 's/\tpart\t30/\tpart\tnan/' "the points of row 'two' are no number"
    void 's/\tpart\t30/\tpart\t0x1e/' "the points of row 'two' are no number"
    void '/^score/s/70/100/' "its score is 100 of 100, its rows have 70 of 100"
    void '/^score/d' "it has no score"
    void '$a row\tthree\tpass\t1\t1\ts\tv\tw\t\t\th\tn\tl' "it goes on after its score"
    void 's/^row\ttwo/row\tone/' "it has two rows 'one'"
    void 's/^row\ttwo/row\tthree/' "it has a row 'three' where the lab's table has another"
    void '/^row\ttwo/d; s/score\t70\t100/score\t40\t40/' "it has 1 rows, the lab's table 2"
    void '/^row\ttwo/s/\tl$//' "row 2 has 11 fields, not 12"
    void '1d' "its first line"
    void 's/^seed\t7/seed\t8/' "it is of another seed"
    void '/^seed/s/^/what\tis\n/' "a line begins with 'what'"
    void '/^row\tone/s/\x74he/\x00/; s/\tv\t/\t\x00\t/' "grade.tsv has zero bytes"
    good
    truncate -s -1 "$stem.tsv"
    run "$BLUEBAR" row 3 "$stem" one
    [[ $output == *"grade.tsv is cut off"* ]]
    good
    head -c 2000000 /dev/zero | tr '\0' x >>"$stem.tsv"
    run "$BLUEBAR" row 3 "$stem" one
    [[ $output == *"larger than 1 MB"* ]]
}

@test "a full record does not count when the program that left it was stopped, crashed or left a process" {
    while read -r verdict reason; do
        good
        echo "${verdict/-/ }" >"$stem.verdict"
        run "$BLUEBAR" row 3 "$stem" one
        echo "$output"
        [ "$status" = 1 ]
        [[ $output == "no result: $reason"* ]]
    done <<'TEXT'
signal-11 it was ended by signal 11 (SEGV)
time-120 it was still running after 120 seconds
output-4194304 it printed more than 4 MB
left-2 it left 2 of its processes running
cut-15 its run was cut off
exit-3 it ended with exit status 3
TEXT
    rm "$stem.verdict"
    run -1 "$BLUEBAR" row 3 "$stem" one
    [[ $output == *"its run was cut off from outside"* ]]
}

@test "control characters of a stranger's text are made visible, line by line" {
    run "$BLUEBAR" quote '> ' < <(printf 'ok 1 all\nred \033[31m\rover\a\t\xff \xe2\x80\xae müß\n')
    echo "$output"
    [ "$output" = '> ok 1 all
> red \x1b[31m\rover\x07\t\xff \u202e müß' ]
    [ "$(seq 1 1000 | "$BLUEBAR" quote | tail -n 1)" = "... and 600 lines more" ]
}

@test "run: a program's output is bounded" {
    run "$BLUEBAR" run --output 1 -- yes
    [ "$status" = 124 ]
    [ "${#output}" -lt 1100000 ]
    [[ $output == *"yes printed more than 1 MB and was stopped"* ]]
}

@test "run: memory is bounded" {
    run "$BLUEBAR" run --memory 64 --verdict "$BATS_TEST_TMPDIR/v" -- bash -c 'x=$(head -c 400000000 /dev/zero | tr "\0" x); sleep 20'
    echo "$output"
    [ "$status" = 124 ]
    [ "$(cat "$BATS_TEST_TMPDIR/v")" = "memory $((64 << 20))" ]
}

@test "run: processes are bounded, and none outlives the run, whatever it does" {
    run "$BLUEBAR" run --processes 8 --verdict "$BATS_TEST_TMPDIR/v" -- bash -c 'for i in {1..30}; do sleep 1234 & done; wait'
    [ "$status" = 124 ]
    [ "$(cat "$BATS_TEST_TMPDIR/v")" = "processes 8" ]
    run "$BLUEBAR" run --alone --verdict "$BATS_TEST_TMPDIR/v" -- bash -c '(setsid nohup sleep 1235 >/dev/null 2>&1 & setsid bash -c "trap \"\" TERM HUP INT; exec sleep 1236" &) ; echo done'
    echo "$output"
    [[ $output == done* ]]
    [ "$status" = 126 ]
    [ "$(cat "$BATS_TEST_TMPDIR/v")" = "left 2" ]
    run pgrep -f 'sleep 123[456]'
    [ "$status" = 1 ]
}

@test "run: time is bounded, with SIGTERM first; a signal to us ends it all" {
    run "$BLUEBAR" run --quiet --seconds 1 --verdict "$BATS_TEST_TMPDIR/v" -- bash -c 'trap "echo asked; exit 3" TERM; while :; do sleep 0.1; done'
    [ "$status" = 124 ]
    [ "$output" = asked ]
    [ "$(cat "$BATS_TEST_TMPDIR/v")" = "time 1" ]
    "$BLUEBAR" run -- sleep 1237 3>&- 4>&- &
    sleep 0.5
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ "$status" = 143 ]
    run pgrep -f 'sleep 1237'
    [ "$status" = 1 ]
}

@test "run: nothing of the grader's is in the program's environment, arguments or descriptors, but a seed on stdin" {
    exec 9<Makefile
    export CHECK_SECRET=123456789 SEED=123456789
    out=$(echo 987654321 | "$BLUEBAR" run --clean --stdin -- bash -c 'env; ls -l /proc/self/fd; tr "\0" " " </proc/self/cmdline; read -r seed; echo "seed $seed"; read -r more; echo "more <$more>"')
    echo "$out"
    [[ $out != *123456789* && $out == *"seed 987654321"*"more <>"* ]]
    [ "$(grep -c -- '->' <<<"$out")" = 4 ] # and the folder that ls reads
    [ -z "$("$BLUEBAR" run -- cat)" ]
    # A lab program takes its seed so, and closes the way.
    echo 11 | "$B/reference/lab3" --seed - --record "$BATS_TEST_TMPDIR/r" >/dev/null
    grep -qx "seed"$'\t'"11" "$BATS_TEST_TMPDIR/r"
    run -2 "$B/reference/lab3" --seed - <<<seven
    [ "$output" = "lab3: --seed seven: a seed is a whole number from 0 on" ]
}

@test "make runs no text of a variable or a goal as a command" {
    cd "$BATS_TEST_TMPDIR"
    for text in '$(shell touch X)' '$(touch X)' '`touch X`' '${shell touch X}' ';touch X;' "'\$(shell touch X)'" $'a\n\ttouch X'; do
        # Together, but for those that end make, or the command, before it comes to the rest.
        for goal in check grade hint3 list bench; do
            for given in LAB=9 "LAB=$text"; do
                timeout 60 make -s -C "$BLUEBAR_TOP" "$goal" "$given" {SUBMISSION,DIR,OUT,ROW}="$text" >/dev/null 2>&1 3>&- 4>&- || true
            done
        done
        for given in SEED PROFILE DEVICE; do
            timeout 60 make -s -C "$BLUEBAR_TOP" check LAB=9 "$given=$text" >/dev/null 2>&1 3>&- 4>&- || true
        done
        timeout 60 make -s -C "$BLUEBAR_TOP" hint3 "ROW=$text" >/dev/null 2>&1 3>&- 4>&- || true
        [ ! -e "$BLUEBAR_TOP/X" ]
        make -s -C "$BLUEBAR_TOP" "x$text" 3>&- 4>&- && return 1
        DEVICE=$text make -s -C "$BLUEBAR_TOP" 3>&- 4>&- && return 1
        [ ! -e "$BLUEBAR_TOP/X" ]
    done
}

@test "a submission whose folder has an odd name gets its points" {
    for name in 'a "quoted" one' "it's" '$(touch X)' $'new\nline' $'carriage\rreturn' 'back\slash' 'semi;colon & more' '-n' 'müß'; do
        mkdir -p "$BATS_TEST_TMPDIR/$name"
        cp solutions/lab3-transpose/transpose.cu "$BATS_TEST_TMPDIR/$name/"
        run make -s check LAB=3 SUBMISSION="$BATS_TEST_TMPDIR/$name" SEED=4000000000 3>&- 4>&-
        echo "$output"
        [ "${lines[-1]}" = "Score: 100/100" ]
    done
    [ ! -e X ]
}

@test "a compiler's message cannot pass for a line of ours" {
    mkdir "$BATS_TEST_TMPDIR/s"
    printf 'ok 1 lab 3: all\nScore: 100/100\n=HYPERLINK("x") \033[2J oops\n' | cat tests/lab3/starter.cu - >"$BATS_TEST_TMPDIR/s/transpose.cu"
    run make -s check LAB=3 SUBMISSION="$BATS_TEST_TMPDIR/s" 3>&- 4>&-
    echo "$output"
    [ "$(grep -c '^Score: ' <<<"$output")" = 1 ]
    [[ $output == *"compiler: "*error:* && $output != *$'\033'* ]]
    run grep -E '^(ok|=)' <<<"$output"
    [ "$status" = 1 ]
}

@test "the list shows a score for the file that ran, byte for byte, and none for one that is gone" {
    house
    file=labs/lab3-transpose/transpose.cu
    cp solutions/lab3-transpose/transpose.cu $file
    make -s lab3 3>&- 4>&-
    cp $file "$BATS_TEST_TMPDIR/same"
    sleep 1.1
    cat "$BATS_TEST_TMPDIR/same" >$file # the same text, a later time
    make -s | grep 'lab 3 .*done  *100/100'
    echo '// another' >>$file
    make -s | grep 'lab 3 .*in progress *$'
    touch -d '2001-01-01' $file # older than the record, and not what ran
    make -s | grep 'lab 3 .*in progress *$'
    cp "$BATS_TEST_TMPDIR/same" $file
    make -s | grep 'lab 3 .*done  *100/100'
    rm $file
    make -s | grep 'lab 3 .*missing: make reset3 brings the starter back *$'
}

@test "the hint is for the first row that is not full, names the others, and heeds SUBMISSION" {
    house
    rm -rf .build/hints
    cp tests/lab3/starter.cu labs/lab3-transpose/transpose.cu
    run make -s hint3 3>&- 4>&-
    echo "$output"
    [[ $output == *"hint 1 of 3 (question) for: the whole matrix is transposed by one kernel launch"*"(ROW=launches)"* ]]
    [[ $output == *"Also not full: load sectors per 128 B (ROW=load-sectors); virtual time (ROW=virtual-time); strided"*"view (ROW=view)"* ]]
    [ "$(wc -L <<<"$output")" -le 100 ]
    run make -s hint3 SUBMISSION=solutions 3>&- 4>&-
    [[ $output == *"Every row of lab 3 is full"* ]]
    # Another's file has hints of its own.
    mkdir "$BATS_TEST_TMPDIR/s"
    cp tests/lab3/starter.cu "$BATS_TEST_TMPDIR/s/transpose.cu"
    run make -s hint3 SUBMISSION="$BATS_TEST_TMPDIR/s" 3>&- 4>&-
    [[ $output == *"hint 1 of 3"* ]]
    # Of a row that lacks little above one that lacks all, the first.
    printf '%b\n' "bluebar-record\t1\tlab3\tsim\tx" "row\tfirst\tpart\t9\t10\tit lacks little\t-\twant\t\t\tlaunches\tdo it\tlabel" \
        "row\tsecond\tfail\t0\t10\tit lacks all\t2\twant\t\twhy\tlaunches\tdo it\tlabel" "score\t9\t20\tdone" >"$BATS_TEST_TMPDIR/r"
    run "$BLUEBAR" hint 3 "$BATS_TEST_TMPDIR/r" "$BATS_TEST_TMPDIR/seen"
    [[ $output == *"for: it lacks little"* ]]
}

# A class of slow ones, for the time in which a key is pressed; $class-grades has their results.
slow_class() {
    house
    class=$BATS_TEST_TMPDIR/class
    mkdir -p "$class"/{anna,ben,cleo}
    cp solutions/lab3-transpose/transpose.cu "$class/anna/"
    for who in ben cleo; do
        sed 's/^extern "C" void transpose(.*/&\n    for (volatile long n = 0; n < 200000000; n = n + 1) continue;/' solutions/lab3-transpose/transpose.cu >"$class/$who/transpose.cu"
    done
}

@test "an interrupted make grade keeps no result of unfinished checks, and goes on from there" {
    slow_class
    for signal in INT TERM HUP; do
        rm -rf "$class-grades"
        setsid make -s grade DIR="$class" SEED=5 LAB=3 JOBS=2 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 4>&- &
        make_pid=$!
        for _ in {1..300}; do
            [ ! -f "$class-grades/results/anna-lab3.tsv" ] || break
            sleep 0.1
        done
        [ -f "$class-grades/results/anna-lab3.tsv" ]
        kill -"$signal" -- "-$(ps -o pgid= -p $make_pid | tr -d ' ')"
        wait $make_pid && return 1
        cat "$BATS_TEST_TMPDIR/out" "$class-grades/scores.csv"
        [ "$(tail -n +2 "$class-grades/scores.csv")" = "$(grep '^anna,3,100,100,5,' "$class-grades/scores.csv")" ]
        [ "$(cd "$class-grades/results" && echo *.tsv)" = anna-lab3.tsv ]
        [[ $(cat "$BATS_TEST_TMPDIR/out") == *"Stopped: 1 graded, 2 not yet"* ]]
        ! ls -d "$B"/grade-*
    done
    run env -u SEED make -s grade DIR="$class" LAB=3 3>&- 4>&-
    echo "$output"
    [[ $output == *"2 graded, 1 had a result already"*"3 of 3 are full"* ]]
    [ "$(cut -d , -f 5 "$class-grades/scores.csv" | xargs)" = "seed 5 5 5" ]
}

@test "make grade: one class, one seed" {
    house
    class=$BATS_TEST_TMPDIR/class
    mkdir -p "$class/anna"
    cp tests/lab3/starter.cu "$class/anna/transpose.cu"
    make -s grade DIR="$class" LAB=3 SEED=5 3>&- 4>&-
    run env OUT="$BATS_TEST_TMPDIR/not asked for" make -s grade DIR="$class" LAB=3 SEED=6 3>&- 4>&-
    [ "$status" != 0 ]
    [[ ${lines[0]} == "$class-grades has results with SEED=5, and one class has one seed. Go on without SEED, or begin anew in another folder: OUT=folder SEED=6" ]]
    [ ! -e "$BATS_TEST_TMPDIR/not asked for" ]
    cp solutions/lab3-transpose/transpose.cu "$class/anna/"
    env -u SEED make -s grade DIR="$class" LAB=3 3>&- 4>&-
    grep -q '^anna,3,100,100,5,' "$class-grades/scores.csv"
}

@test "scores.csv: odd names are quoted and never formulas; an ungradable submission is there with its reason" {
    house
    class=$BATS_TEST_TMPDIR/class
    mkdir -p "$class"/{pipe,none,folder/transpose.cu,out,big}
    for name in =1+1 +2 -3 @x 'a,"b"' $'tab\tnew\nline'; do
        mkdir "$class/$name"
        cp tests/lab3/starter.cu "$class/$name/transpose.cu"
    done
    mkfifo "$class/pipe/transpose.cu"
    ln -s /etc "$class/out/lab3-transpose"
    ln -s "$class/+2" "$class/linked"
    head -c 2000000 /dev/zero >"$class/big/transpose.cu"
    ln -s /nowhere "$class/broken.cu"
    run make -s grade DIR="$class" LAB=3 SEED=5 3>&- 4>&-
    echo "$output"
    [ "$status" != 0 ]
    cat "$class-grades/scores.csv"
    for line in "'=1+1,3,40,100,5," "'+2,3,40,100,5," "'-3,3,40,100,5," "'@x,3,40,100,5," '"a,""b""",3,40,100,5,' 'tab\tnew\nline,3,40,100,5,'; do
        grep -qF -- "$line" "$class-grades/scores.csv"
    done
    grep -q '^pipe,3,0,100,5,.*is a named pipe, and only plain files' "$class-grades/scores.csv"
    grep -q '^none,3,0,100,5,.*no file of lab 3 in it' "$class-grades/scores.csv"
    grep -q '^folder,3,0,100,5,.*is a folder, and only plain files' "$class-grades/scores.csv"
    grep -q '^linked,3,0,100,5,.*class/linked is a link' "$class-grades/scores.csv"
    grep -q '^big,3,0,100,5,.*larger than 1 MB' "$class-grades/scores.csv"
    grep -q '^out,3,0,100,5,' "$class-grades/scores.csv"
    grep -q '^broken,3,0,100,5,.*is a link' "$class-grades/scores.csv"
    [ "$(wc -l <"$class-grades/scores.csv")" = 14 ]
}

@test "texts of another compiler: the same words, numbers within 10 %, names and line numbers to the digit; one line in a hundred may differ" {
    printf 'lab3  virtual time  5.64 ms   transpose.cu:37 20 %% ▏▂▂ ▕ 1000 sectors\n' >"$BATS_TEST_TMPDIR/a"
    alike() { sed "$1" "$BATS_TEST_TMPDIR/a" >"$BATS_TEST_TMPDIR/b" && "$BLUEBAR" alike "$BATS_TEST_TMPDIR/a" "$BATS_TEST_TMPDIR/b"; }
    for same in 's/1/1/' 's/5.64/5.70/' 's/5.64 ms  /5.641 ms/' 's/20 %/21 %/' 's/▂▂/▂▃/' 's/1000/1099/'; do alike "$same"; done
    for other in 's/5.64/6.34/' 's/:37/:38/' 's/lab3/lab4/' 's/ms/us/' 's/1000/1120/' 's/20 %/23 %/' 's/virtual //' 's/$/ more/'; do
        alike "$other" && return 1
    done
    # A longer text: a line that is another one, a paragraph that is wrapped otherwise.
    for line in {1..250}; do echo "line $line takes $line.5 us"; done >"$BATS_TEST_TMPDIR/a"
    alike '100s/us/ms/; 180s/us/ms/'
    alike '200s/takes/\n/'
    for other in '50s/us/ms/; 100s/us/ms/; 200s/us/ms/' '50,60d'; do alike "$other" && return 1; done
    # Another compiler may compare, and writes nothing.
    CLANG_VERSION=19.1.7 run "$BLUEBAR" docs
    [ "$status" = 1 ]
    [[ $output == "The figures in the texts are those of clang 14"*"this is clang 19.1.7"*"to compare within 10 %: common/make/docs.sh --check" ]]
}

@test "ncu's CSV: each launch that differs once, numbers without commas" {
    printf '%s\n' '==PROF== words' '"ID","Kernel Name","Grid Size","Block Size","dram__bytes_read.sum","gpu__time_duration.sum"' \
        '"","","","","byte","us"' '"0","void copy<4>(float *, int)","(1, 2, 3)","(32, 1, 1)","1,234,567","3.5"' \
        '"1","void copy<4>(float *, int)","(1, 2, 3)","(32, 1, 1)","2","3.5"' '"2","tile(""x"")","(1, 2, 4)","(32, 1, 1)","2","7"' >"$BATS_TEST_TMPDIR/ncu"
    "$BLUEBAR" counters <"$BATS_TEST_TMPDIR/ncu" >"$BATS_TEST_TMPDIR/tsv"
    cat "$BATS_TEST_TMPDIR/tsv"
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/tsv" | cut -f 4- | tr '\t' ,)" = "$("$BLUEBAR" metrics)" ]
    [ "$(tail -n +2 "$BATS_TEST_TMPDIR/tsv" | tr -s '\t' ' ')" = 'copy<4> (1, 2, 3) (32, 1, 1) 3.5 1234567 
tile (1, 2, 4) (32, 1, 1) 7 2 ' ]
    run "$BLUEBAR" counters </dev/null
    [ "$status" = 1 ]
}

@test "bluebar under the sanitizers reads a good record, damaged ones and odd texts" {
    SAN=1 B=.build/san build .build/san/bluebar
    BLUEBAR=.build/san/bluebar
    good
    run -1 "$BLUEBAR" result 3 "$stem"
    [ "$output" = "" ]
    for cut in 1 5 20 60 100 -3; do
        good
        head -c "$cut" "$stem.tsv" >"$stem.cut" && mv "$stem.cut" "$stem.tsv"
        run -1 "$BLUEBAR" row 3 "$stem" one
        [[ $output == "no result: its record does not count"* && $output != *Sanitizer* ]]
    done
    head -c 20000 /dev/urandom | "$BLUEBAR" quote x >/dev/null
    "$BLUEBAR" list | grep 'lab 3'
    "$BLUEBAR" run --alone -- true
    "$BLUEBAR" hint 3 "$BATS_TEST_TMPDIR/none" "$BATS_TEST_TMPDIR/seen" && return 1
    CLANG_VERSION=19 "$BLUEBAR" docs && return 1
    printf '"Kernel Name"\n' | "$BLUEBAR" counters && return 1
    "$BLUEBAR" metrics
}

#!/usr/bin/env bats
# make predict3: the questions, the answers that are kept, and how near they came (common/bluebar/predict.c).

load helper

setup_file() { build "$B/bluebar"; }

# A house of one lab with three questions.
setup() {
    [[ $BATS_TEST_DESCRIPTION != one* ]] || return 0
    BLUEBAR=$PWD/$B/bluebar
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir -p labs/lab9-x
    printf '# a note\n\nloads\tHow many sectors?\tsectors\tload-sectors\tA row has 4.\ntime\tHow long?\tus\ttime\tBytes take time.\nbusy\tWhich share?\t%%\tbusy\tThe rest is waiting.\n' >labs/lab9-x/questions.tsv
}

predict() { "$BLUEBAR" predict 9 kept/lab9.tsv; }

# record FIGURE...: a record with these figures, beside one full row.
record() {
    printf 'bluebar-record\t1\tlab9\tsim\tvirtual H200\nseed\t1\ncolumns\tid\n'
    printf 'row\tr\tpass\t5\t5\ts\tv\tw\t\t\th\tn\tl\n'
    printf 'figure\t%b\n' "$@"
    printf 'score\t5\t5\tdone\n'
}

predicted() {
    record "$@" >record.tsv
    "$BLUEBAR" predicted 9 record.tsv kept/lab9.tsv
}

said() { cut -f 1,2,4 kept/lab9.tsv; }

@test "answers are kept one by one, in the unit of the question; Enter skips, q ends" {
    printf '16\n\n1.5\n' | predict
    diff <(said) <(printf 'loads\t16\t\nbusy\t1.5\t\n')
    grep -Eq '	20[0-9-]{8} [0-9:]{5}	' kept/lab9.tsv # when it was said
    printf '32 sectors\n2.5 ms\nq\n' | predict
    diff <(said) <(printf 'loads\t32\t\nbusy\t1.5\t\ntime\t2500\t\n')
    printf '4M\n0.5s\n 20 %% \n' | predict
    diff <(said) <(printf 'loads\t4000000\t\nbusy\t20\t\ntime\t500000\t\n')
}

@test "what is no number is asked again, with the form; the end of the input keeps what was said" {
    run predict <<<$'many\n-3\n3,5\n1e999\n12 ms\n0x10\nnan\n12 13\n\e[2J\n7'
    echo "$output"
    [ "$status" = 0 ]
    [ "$(grep -c 'is no number of sectors. As in 12, 1.5e3 or 4M. Enter skips' <<<"$output")" = 9 ]
    [[ $output == *"'\\x1b[2J' is no number"* ]]
    [[ $output == *"1 answer kept; 1 now waits for the next run. Measure: make lab9" ]]
    diff <(said) <(printf 'loads\t7\t\n')
    ASK=busy run predict <<<$'126\n12'
    [[ $output == *"A share is 100 % at most."*"1 answer kept; 2 now wait for the next run."* ]]
    run predict </dev/null
    [ "$status" = 0 ]
    [[ $output == *"You said 7 sectors (20"*"and no run has measured it since. Enter keeps it."* ]]
    [[ $output == *"0 answers kept; 2 now wait for the next run."* ]]
}

@test "a run shows each answer beside the figure, with the ratio and the reason, and only once" {
    printf '4\n11\n0\n' | predict >/dev/null
    run predicted 'load-sectors\t32\t' 'time\t10.5\tus' 'busy\t20\t%'
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *$'\n      you said 4, it was 32 sectors: 8 times too low\n      A row has 4.\n'* ]]
    [[ $output == *$'\n      you said 11, it was 10.5 us: within 4.8 %\n'* ]]
    [[ $output == *$'\n      you said 0, it was 20 %\n'* ]]
    [[ $output == *$'\n  1 of 3 within a tenth. For your next version: make predict9' ]]
    diff <(said) <(printf 'loads\t4\t32\ntime\t11\t10.5\nbusy\t0\t20\n')
    run predicted 'load-sectors\t32\t'
    [ "$status" = 0 ]
    [ -z "$output" ]
    # The next answers go below the old ones.
    printf '64\n' | predict | grep -q 'Last time you said 4, it was 32 sectors (20'
    run predicted 'load-sectors\t32\t'
    [[ $output == *$'\n      you said 64, it was 32 sectors: 2 times too high\n'* ]]
    [ "$(wc -l <kept/lab9.tsv)" = 4 ]
}

@test "an answer waits until a run measures it" {
    printf '4\n' | predict >/dev/null
    run predicted 'time\t10.5\tus'
    [[ $output == *'you said 4; this run did not measure it'*'None of them was measured'* ]]
    diff <(said) <(printf 'loads\t4\t\n')
    run predicted 'load-sectors\t4\t'
    [[ $output == *'you said 4, it was 4 sectors: just so'*'1 of 1 within a tenth'* ]]
}

@test "ASK chooses questions; CLEAR=1 forgets the answers; a lab without questions says so" {
    printf '5\n6\n' | ASK="busy time" predict >/dev/null
    diff <(said) <(printf 'time\t5\t\nbusy\t6\t\n')
    ASK=speed run predict
    [ "$status" = 1 ]
    [ "$output" = "ASK: there is no question 'speed'. The questions: loads time busy" ]
    CLEAR=1 run predict
    [ "$output" = "The predictions of lab 9 are gone." ]
    [ ! -e kept/lab9.tsv ]
    CLEAR=1 run predict
    [ "$output" = "There are no predictions of lab 9." ]
    rm labs/lab9-x/questions.tsv
    run predict
    [ "$status" = 0 ]
    [[ $output == "Lab 9 has no questions to predict: labs/lab9-x/questions.tsv is not there."* ]]
}

@test "a questions.tsv that is none is refused with file and line; a damaged store loses only the damaged lines" {
    printf 'loads\tHow many?\tsectors\n' >>labs/lab9-x/questions.tsv
    run predict
    [ "$status" = 1 ]
    [[ $output == "labs/lab9-x/questions.tsv:6 has 3 fields, not 5: id, question, unit, figure, why"* ]]
    sed -i 's/^loads\tHow many?\tsectors$/loads\tHow?\t-\tx\ty/' labs/lab9-x/questions.tsv
    run predict
    [ "$status" = 1 ]
    [ "$output" = "labs/lab9-x/questions.tsv:6: a second question 'loads'" ]
    sed -i '6d' labs/lab9-x/questions.tsv
    mkdir kept
    printf 'loads\tlots\t\t\t\n\nhalf a line\nloads\t8\t2026-01-01 10:00\t\t\n' >kept/lab9.tsv
    run predicted 'load-sectors\t4\t'
    [[ $output == *'you said 8, it was 4 sectors: 2 times too high'* ]]
    printf '1\n' | ASK="time" predict >/dev/null
    run predicted 'time\t1\tms'
    [ "$status" = 1 ]
    [ "$output" != "${output/asks \'time\' in \'us\', and the lab measures it in \'ms\'/}" ]
}

@test "a damaged figure makes a record void" {
    for figure in 'x\tmany\t' 'x\t1' 'x\tinf\t' 'x\t1\t\t2'; do
        record "$figure" >record.tsv
        run "$BLUEBAR" score record.tsv
        [ "$status" = 1 ] || { echo "$figure" && false; }
    done
    record 'x\t1\t' >record.tsv
    [ "$("$BLUEBAR" score record.tsv)" = "5 5" ]
}

@test "one lab after the other: each question is measured by a run, in its unit; make asks, and the next run shows" {
    local n lab_number store=$BATS_TEST_TMPDIR/store.tsv
    for n in $(labs); do
        [ -e "$(lab_dir "$n")/questions.tsv" ] || continue
        build "$B/reference/lab$n"
        lab_number=$n
        play reference 4000000000 # which the labs' own tests run, too
        yes 1 | bluebar predict "$n" "$store" >/dev/null
        run bluebar predicted "$n" "$record" "$store"
        echo "$output"
        [ "$status" = 0 ]
        [[ $output == *"you said 1, it was"* && $output != *"did not measure"* ]]
        CLEAR=1 bluebar predict "$n" "$store"
    done
    house
    printf '1\n' | make -s predict3 ASK=launches >/dev/null
    run make -s lab3
    [[ $output == *$'\n  40/100 '*$'\n      you said 1, it was 2048: 2048 times too low\n'* ]]
    [ "$(make -s lab3 | grep -c 'you said')" = 0 ]
    [ "$(make -s predict3 CLEAR=1)" = "The predictions of lab 3 are gone." ]
}

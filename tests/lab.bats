#!/usr/bin/env bats
# common/lab: the data, the comparison, the marks, the card and the record, and the two sources of counters.

# bats file_tags=quick

load helper

setup_file() {
    build "$B/libsimgpu.a" "$B/reference/lab3"
    # shellcheck disable=SC2046 # a list of files
    $(common/make/find-clang.sh) -std=c11 -g -Wall -Wextra -Werror -fsanitize=address,undefined -I common/lab -I common/simgpu/include \
        -Wl,--wrap=lab_lane,--wrap=lab_flush_l2 -o "$BATS_FILE_TMPDIR/lab-unit" tests/lab-unit.c $(printf "%s\n" common/lab/*.c | grep -v /player.c) "$B/libsimgpu.a" -pthread -lstdc++ -lm
}

unit() { "$BATS_FILE_TMPDIR/lab-unit" "$1"; }

@test "data: every value tells its index, under any seed" { unit data; }
@test "comparison: poison, NaN, infinities, relative error, first differences" { unit compare; }
@test "marks: a straight line between full and zero" { unit grades; }
@test "marks: an interval that straddles the mark is inconclusive" { unit intervals; }
@test "marks: nothing is earned behind a gate that is not full" { unit gates; }
@test "time: the middle, and the interval that holds the true one with 95.7 % or more" { unit middles; }
@test "time: warm-up, repetitions and flushes on a card; one run where the clock has no noise" { unit repetitions; }
@test "time: two programs in rounds of a b b a, compared round by round" { unit duel; }
@test "time: what a run leaves in the caches is no advantage for either of two programs" { unit duel-cached; }
@test "time: work left on a stream is refused, with the remedy" { unit unsynchronised; }
@test "time: throughput, share of the floor; a time below the floor fails by the floor's name" { unit floors; }
@test "time: the share of the reference's gain" { unit gains; }
@test "card and record, character by character" { unit card; }
@test "the card: no line is longer than 100 columns" { unit pages; }
@test "the card's last line tells a student from the reference" { unit ends; }
@test "a fault's place and cause are put beside the row" { unit faults; }
@test "so are a finding's place and remedy" { unit findings; }
@test "a text is looked for in code only, and as a whole word" { unit texts; }
@test "a signal is told with its own causes" { ASAN_OPTIONS=handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0 unit crashes; }
@test "seeds: the same again from one --seed, never one twice" { unit seeds; }
@test "the lock: rows, seeds and hidden memory cannot be read or written while student code runs" { unit locked; }
@test "the blue bar: kernels only, with or without their start" { unit bar; }
@test "SimGPU's events: sums by stretch and line, kernels apart from copies" { unit stretches; }
@test "the reader of ncu's CSV" { unit ncu; }

says() {
    run apart "$B/reference/lab3" "$@"
    echo "$output"
}

@test "options: a bad one is one message and status 2" {
    says --bogus
    [ "$status" = 2 ]
    [ "$output" = "lab3: unknown option --bogus; see --help" ]
    says --seed -1
    [ "$status" = 2 ]
    [ "$output" = "lab3: --seed -1: a seed is a whole number from 0 on" ]
    says --seed
    [ "$status" = 2 ]
    [ "$output" = "lab3: --seed needs a value; see --help" ]
    says --record /nonexistent/record
    [ "$status" = 2 ]
    [[ $output == "lab3: cannot write the record /nonexistent/record: No such file or directory" ]]
    echo what >"$BATS_TEST_TMPDIR/others"
    says --others "$BATS_TEST_TMPDIR/others"
    [ "$status" = 2 ]
    [ "$output" = "lab3: $BATS_TEST_TMPDIR/others is not a file that --others has written" ]
}

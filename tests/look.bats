#!/usr/bin/env bats
# What a reader sees: lines that fit, colour where it belongs, and what a run changed.

load helper

setup_file() { build "$B/reference/lab3" "$B/starter/lab3"; }

# wide: the lines of stdin with more than 100 characters.
wide() { LC_ALL=C.UTF-8 grep -E '^.{101,}$' || true; }

plain() { if coloured; then return 1; fi; }

coloured() { grep -q $'\e\\['; }

@test "the cards of every starter and every solution fit 100 columns" {
    local n who
    for n in $(labs); do
        build "$B/reference/lab$n" "$B/starter/lab$n"
        for who in starter reference; do
            lab_number=$n play "$who" 4000000000 # which the labs' own tests run, too
            [ -z "$(wide <<<"$output")" ] || { wide <<<"$output" && false; }
        done
    done
}

@test "make lines3 fits 100 columns, and shows no column without a number" {
    run make -s lines3 SUBMISSION=starter
    [ "$status" = 0 ] && [ -z "$(wide <<<"$output")" ] || { wide <<<"$output" && false; }
    [[ $output == *" kernel   warp sector sector  bytes"*" starts instr.  loads stores  moved line"* ]]
    run make -s lines3 SUBMISSION=tests/lab3/wrong/missing_sync.cu
    [[ $output == *" kernel   warp sector sector shared  bytes"* ]]
    [ -z "$(wide <<<"$output")" ]
}

@test "colour on a terminal; never in a file or a pipe, nor with NO_COLOR, CLICOLOR=0 or TERM=dumb" {
    local lab=("$B/starter/lab3" --others "$BATS_TEST_TMPDIR/others") show # ten runs: what others measure, once
    show="$B/bluebar run -- ${lab[*]}"
    export TERM=xterm
    unset NO_COLOR CLICOLOR BLUEBAR_COLOUR
    # script(1) gives the program a terminal of its own.
    script -qec "$show" /dev/null </dev/null | coloured
    script -qec "${lab[*]}" /dev/null </dev/null | coloured
    NO_COLOR=1 script -qec "$show" /dev/null </dev/null | plain
    CLICOLOR=0 script -qec "$show" /dev/null </dev/null | plain
    TERM=dumb script -qec "$show" /dev/null </dev/null | plain
    script -qec "$show | cat" /dev/null </dev/null | plain
    script -qec "$show >$BATS_TEST_TMPDIR/file" /dev/null </dev/null
    BLUEBAR_COLOUR=1 "${lab[@]}" >>"$BATS_TEST_TMPDIR/file"
    grep -q 'blue bar' "$BATS_TEST_TMPDIR/file"
    plain <"$BATS_TEST_TMPDIR/file"
    # With the colours taken away, it is the same text.
    diff <(BLUEBAR_COLOUR=1 "${lab[@]}" | sed 's/\x1b\[[0-9;]*m//g') <("${lab[@]}")
    BLUEBAR_COLOUR=1 "${lab[@]}" | coloured
}

# card POINTS LAUNCHES TIME: a record, as a run leaves it.
card() {
    printf 'bluebar-record\t1\tlab9\tsim\tvirtual H200\nseed\t%s\ncolumns\tid\n' "${seed:-1}"
    printf 'row\tlaunches\tpart\t%s\t80\ts\t%s\tw\t\t\th\tn\tlaunches\n' "$1" "$2"
    printf 'row\ttime\tpart\t7.5\t20\ts\t%s\tw\t\t\th\tn\ttime\n' "$3"
    printf 'score\t%s\t100\tdone\n' "$(awk "BEGIN { print $1 + 7.5 }")"
}

@test "a run says what it changed since the one before, and nothing where there is nothing to say" {
    cd "$BATS_TEST_TMPDIR"
    BLUEBAR=$BLUEBAR_TOP/$B/bluebar
    card 55.5 2048 '5.64 ms' >old
    card 68 1 '70.2 us' >new
    [ "$("$BLUEBAR" changed new old)" = '  since your last run: +12.5 points, 63 → 75.5; launches 2048 → 1; time 5.64 ms → 70.2 us' ]
    [ "$("$BLUEBAR" changed old new)" = '  since your last run: -12.5 points, 75.5 → 63; launches 1 → 2048; time 70.2 us → 5.64 ms' ]
    card 68 1 '70.1 us' >same
    [ "$("$BLUEBAR" changed new same)" = '  since your last run: 75.5 points as before; time 70.1 us → 70.2 us' ]
    card 70 1 '70.2 us' >better
    [ "$("$BLUEBAR" changed better new)" = '  since your last run: +2 points, 75.5 → 77.5; launches earns 68 → 70' ]
    [ -z "$("$BLUEBAR" changed new new)" ]
    seed=2 card 55.5 2048 '5.64 ms' >other
    echo damaged >damaged
    [ -z "$("$BLUEBAR" changed new other)$("$BLUEBAR" changed new damaged)$("$BLUEBAR" changed new none)" ]
}

@test "make lab3 shows the change beside the card, also over a crash; the texts do not" {
    house
    rm -rf "$B/mine"
    [[ $(make -s lab3) != *'since your last run'* ]]
    cp solutions/lab3-transpose/transpose.cu "$(lab_dir 3)/"
    [ "$(make -s lab3 | grep -c '^  since your last run: +60 points, 40 → 100; launches 2048 → 1; load sectors')" = 1 ]
    [[ $(make -s lab3) != *'since your last run'* ]]
    echo 'int broken = 1;' >>"$(lab_dir 3)/transpose.cu"
    sed -i 's/^extern "C" void transpose.*{$/&\n    __builtin_trap();/' "$(lab_dir 3)/transpose.cu"
    run make -s lab3
    [ "$status" != 0 ]
    cp "$(lab_starter 3)" "$(lab_dir 3)/transpose.cu"
    [[ $(make -s lab3) == *'since your last run: -60 points, 100 → 40; launches 1 → 2048;'* ]]
    [[ $(BLUEBAR_MINE=starter make -s lab3) != *'since your last run'* ]]
}

@test "a trace names the steps of lab 5 by their numbers" {
    build "$B/reference/lab5"
    TRACE=$BATS_TEST_TMPDIR/trace.json "$B/reference/lab5" >/dev/null
    for step in 0 1 7; do grep -q "\"name\":\"lab5_load $step\"" "$BATS_TEST_TMPDIR/trace.json"; done
}

@test "a run takes what other programs measure from the run before, until one of them is made anew" {
    house
    rm -rf "$B/others"
    make -s lab3 >"$BATS_TEST_TMPDIR/first" 3>&- 4>&-
    # A number that stands there is read: nothing is as slow as this copy.
    sed -i 's/0x[^\t]*$/0x1p+40/' "$B/others/sim-lab3-2048"
    make -s lab3 3>&- 4>&- | grep -v 'since your last run' >"$BATS_TEST_TMPDIR/second"
    run diff "$BATS_TEST_TMPDIR/first" "$BATS_TEST_TMPDIR/second"
    [ "$status" = 1 ]
    touch "$B/reference/lab3.so"
    make -s lab3 3>&- 4>&- | grep -v 'since your last run' | diff "$BATS_TEST_TMPDIR/first" -
}

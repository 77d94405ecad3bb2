#!/usr/bin/env bats
# Lanes of a warp that part: where they meet again, who goes on, and how long it takes.

load helper

@test "lanes that lock, wait for each other or meet at barriers in loops that some of them leave, as on a card" {
    build "$B/tests/lanes/locks"
    apart timeout 60 "$B/tests/lanes/locks" >"$BATS_TEST_TMPDIR/locks"
    diff "$BATS_TEST_TMPDIR/locks" - <<'END'
leaves_with_the_lock 256
some_go_around_first 558
one_waits_in_each_turn 286
one_waits_for_all_turns 10
barriers_in_turns 13
fewer_in_each_turn 3800
END
}

@test "lanes leave loops and go on in them in many ways, and are together behind them" {
    build "$B/tests/lanes/loops"
    apart "$B/tests/lanes/loops" >"$BATS_TEST_TMPDIR/loops"
    diff "$BATS_TEST_TMPDIR/loops" - <<'END'
next_outer_turn 0 256
out_of_two 0 256
one_of_several 0 256
END
}

@test "lanes meet in each turn of a loop, as on an H200; a root that clang takes ahead of its test has its usual time" {
    build "$B/tests/clock/lanes"
    SIMGPU_REPORT=$BATS_TEST_TMPDIR/report apart "$B/tests/clock/lanes" >"$BATS_FILE_TMPDIR/lanes"
    within 20 lanes <<<'stack 217.47'
    rare=$(sed -n 's/,"lines":.*//; s/^{"kind":"launch".*"name":"roots".*"simgpu__rare_operands.sum":\([0-9]*\).*/\1/p' "$BATS_TEST_TMPDIR/report")
    echo "$rare roots of a warp in 2162688 took the slower way"
    [ "$rare" -lt 2000 ]
}

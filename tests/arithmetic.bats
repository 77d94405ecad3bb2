#!/usr/bin/env bats
# What device code computes, held against the host.

load helper

@test "CUDA's math API: functions, rounded arithmetic, conversions, integers in a word" {
    build $B/tests/arithmetic/math
    run apart $B/tests/arithmetic/math
    echo "$output"
    [ "$status" = 0 ]
    [[ $output = "252 functions agree, 0 differ" ]]
}

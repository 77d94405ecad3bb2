#!/usr/bin/env bats
# The virtual clock where many warps want one place: slices of L2, constant memory, the SM with the most work.

load helper

@test "atomics, flags, addresses of constant memory and a triangle of tiles take what they take on an H200, within 20 %" {
    build "$B/tests/clock/places"
    apart "$B/tests/clock/places" >"$BATS_FILE_TMPDIR/places"
    # Microseconds (2026-11-27, medians of three runs). computed_word and parameters_word do the same: nvcc has one lane add
    # for all where it knows that they add to one word.
    within 20 places <<'END'
float_a_line 41.38
int_4_lines 22.05
int_32_lines 7.71
float_a_lane 31.58
int_a_lane 15.04
float_8_words 205.47
int_64_words 154.21
int_1024_words 46.94
int_16384_words 10.59
computed_word 395.04
parameters_word 14.88
flag_16 20.29
flag_4 39.97
addresses_8 19.74
addresses_32 69.44
triangle 158.50
END
}

#!/usr/bin/env bats
# The virtual clock where many warps want one place: slices of L2, constant memory, the SM with the most work, an SM's way
# to L2, DRAM. And what leaves L2 for it.

load helper

@test "atomics, flags, addresses of constant memory, a triangle of tiles, structs and walks take what they take on an H200, within 20 %" {
    build "$B/tests/clock/places"
    apart "$B/tests/clock/places" >"$BATS_FILE_TMPDIR/places"
    # Microseconds (2026-11-27 and 28, medians of three runs). computed_word and parameters_word do the same: nvcc has one lane add
    # for all where it knows that they add to one word.
    within 20 places <<'END'
float_a_line 41.47
int_4_lines 22.02
int_32_lines 7.71
float_a_lane 31.58
int_a_lane 14.94
float_8_words 205.54
int_64_words 154.27
int_1024_words 46.88
int_16384_words 10.59
computed_word 386.34
parameters_word 14.72
flag_16 20.38
flag_4 40.13
only_flag 21.73
addresses_8 19.78
addresses_32 69.66
table_1_KiB 66.08
table_2_KiB 68.16
table_4_KiB 338.43
table_8_KiB 703.65
table_16_KiB 936.42
table_64_KiB 1130.34
triangle 158.82
lines_by_8_SMs 72.10
structs_of_7 26.69
structs_of_8 39.78
walk_abreast 80.90
walk_apart 43.55
END
    # Stores to the six words of a struct go to L2 together in part. (43 to 67 % of them, on a card.)
    within 30 places <<<'structs_of_6 11.26'
}

@test "float atomics in shared memory, sums of a block, predicated loads and tables in global memory take what they take on an H200" {
    build "$B/tests/clock/cas"
    apart "$B/tests/clock/cas" >"$BATS_FILE_TMPDIR/cas"
    # Microseconds (2026-11-28, medians of three runs). Without cas.c random_8_8_warps and own_words_32_lanes take a tenth, without
    # lsu_off trees take 136, without count_atomics' shared memory sum_of_all_32_warps takes 137, with another place for the table
    # bins_behind_1500_bytes take twice the time.
    within 25 cas <<'END'
own_words 17.34
own_words_4_lanes 54.24
own_words_32_lanes 398.72
own_words_32_warps 62.88
own_words_double 62.98
same_words_4_warps 41.50
same_words_8_warps 61.73
same_words_32_warps 184.13
random_8_1_warp 107.01
random_8_8_warps 268.77
random_32_8_warps 107.01
random_256_8_warps 72.06
random_4096_8_warps 66.91
random_8_64_warps 146.75
random_256_64_warps 42.91
random_256_double 84.19
random_256_int 10.62
sum_of_all_8_warps 12.77
sum_of_all_32_warps 14.53
sum_of_warps_int 30.24
trees 242.88
bins_of_two_slices 272.19
bins_of_four_slices 131.71
bins_behind_1500_bytes 131.65
END
    # Doubles that all warps want, too, take longer on a card.
    within 30 cas <<<'same_words_32_warps_double 296.29'
    # One lane of each of eight warps, all at once behind a barrier: fewer turns in vain than with all lanes.
    within 45 cas <<<'sum_of_warps_float 48.93'
}

@test "what leaves L2: dirty data behind others, data loaded again, tables larger than L2, as many bytes as an H200's DRAM moves, within 12 %" {
    build "$B/tests/clock/dirty"
    SIMGPU_THREADS=1 apart "$B/tests/clock/dirty" >"$BATS_TEST_TMPDIR/one"
    SIMGPU_THREADS=7 "$B/tests/clock/dirty" | cmp - "$BATS_TEST_TMPDIR/one"
    awk '{ print $1 "_read", $2; print $1 "_wrote", $3 }' "$BATS_TEST_TMPDIR/one" >"$BATS_FILE_TMPDIR/dirty"
    # MiB (2026-11-28, Nsight Compute, medians of three runs). What a card does not write is less than 0.5 MiB, or 0.7 here.
    within 12 dirty <<'END'
twice_40_0_read 12.1
twice_44_0_read 31.1
twice_48_0_read 45.2
behind_memset_48_16_wrote 13.5
behind_memset_16_64_wrote 4.4
behind_memset_32_64_wrote 12.1
behind_memset_48_64_wrote 21.0
mix_0_48_wrote 19.4
mix_24_24_wrote 2.8
mix_32_16_wrote 2.2
mix_32_32_wrote 9.5
mix_48_8_wrote 1.9
mix_48_24_wrote 9.8
mix_48_48_wrote 24.6
mix_64_32_wrote 18.0
mix_64_64_wrote 40.7
by_several_40_1_wrote 9.9
by_several_40_2_wrote 13.9
by_several_40_8_wrote 16.0
in_place_40_0_wrote 12.1
in_place_again_40_0_wrote 39.3
in_place_64_0_wrote 37.1
in_place_again_64_0_read 64.0
pick_64_4_read 46.2
pick_64_16_read 163.8
pick_128_4_read 56.6
pick_128_16_read 219.3
pick_256_4_read 61.5
pick_256_16_read 242.9
beside_128_4_read 132.0
beside_128_16_read 149.6
fill_beside_128_4_read 4.0
fill_beside_128_4_wrote 101.4
rows_66_0_read 67.9
planes_64_0_read 66.0
planes_64_0_wrote 42.7
planes_128_0_read 132.0
planes_128_0_wrote 108.6
END
    awk '/^(once|twice|pick|beside|rows)_.*_wrote|^mix_0_24_|^mix_24_8_wrote|behind_memset_16_16_wrote|^in_place_(again_)?24_0_wrote/ && $2 > 0.7 { print; bad = 1 } END { exit bad }' "$BATS_FILE_TMPDIR/dirty"
    # Young dirty data leave early here, and late where few are dirty. Blocks of a card are not all in the same row at a time. A
    # table as large as half of L2 has parts of which more is wanted than of others.
    within 45 dirty <<'END'
behind_memset_32_16_wrote 5.4
mix_64_8_wrote 4.0
rows_132_0_read 152.8
pick_32_16_read 44.0
fill_beside_128_16_read 27.0
END
}

@test "fences, blocks of which the last adds up, stored data and steps between barriers take what they take on an H200" {
    build "$B/tests/clock/fences"
    apart "$B/tests/clock/fences" >"$BATS_FILE_TMPDIR/fences"
    # Microseconds (2026-11-28, medians of three runs). When fences took no time, those of the device and of the system took a
    # fifth to six tenths; when one stage of a loop had all of its latency, 16 warps that meet took up to 42 % longer.
    within 12 fences <<'END'
none_alone_1_x_32 2.72
none_stores_1_x_32 3.04
none_loads_1_x_32 3.68
none_alone_132_x_256 2.82
none_stores_132_x_256 3.49
none_loads_132_x_256 3.94
none_alone_1_x_1024 2.75
none_alone_1056_x_256 3.30
block_alone_1_x_32 2.85
block_stores_1_x_32 3.07
block_loads_1_x_32 3.68
block_alone_132_x_256 3.04
block_stores_132_x_256 3.52
block_loads_132_x_256 3.97
block_alone_1_x_1024 3.52
block_alone_1056_x_256 4.61
device_alone_1_x_32 4.99
device_stores_1_x_32 6.27
device_loads_1_x_32 8.45
device_alone_132_x_256 5.09
device_alone_1_x_1024 5.60
device_alone_1056_x_256 8.42
system_alone_1_x_32 11.10
system_stores_1_x_32 11.33
system_loads_1_x_32 13.73
system_alone_1056_x_256 19.84
none_last_adds_1_x_256 3.46
none_last_adds_64_x_1024 3.68
none_last_adds_132_x_256 3.68
none_last_adds_1056_x_256 5.09
device_last_adds_1_x_256 3.90
device_last_adds_64_x_1024 4.26
device_last_adds_132_x_256 4.32
device_last_adds_1056_x_256 5.76
around_stored_by_all 342.85
around_from_the_host 387.26
around_again 299.55
plate_3_rows_16_warps 24.35
plate_that_meets 96.19
steps_1_4_of_1_x_8_warps 7.78
steps_1_4_of_1_x_16_warps 8.93
steps_1_4_of_2_x_8_warps 8.38
steps_1_4_of_2_x_32_warps 18.02
steps_1_64_of_1_x_8_warps 19.97
steps_1_64_of_1_x_32_warps 36.64
steps_1_64_of_2_x_32_warps 67.49
steps_8_16_of_1_x_8_warps 13.47
steps_8_16_of_1_x_16_warps 17.18
steps_8_16_of_1_x_32_warps 26.72
steps_8_16_of_2_x_8_warps 14.37
steps_8_16_of_2_x_32_warps 46.91
END
    within 20 fences <<'END'
device_stores_132_x_256 8.29
device_loads_132_x_256 10.91
system_loads_132_x_256 15.97
system_alone_1_x_1024 16.32
uneven 6.46
steps_1_4_of_1_x_32_warps 12.19
steps_1_64_of_1_x_16_warps 21.02
steps_1_64_of_2_x_8_warps 20.86
END
    # SimGPU does not know that fences of the system by many SMs take turns.
    within 45 fences <<'END'
system_alone_132_x_256 17.70
system_stores_132_x_256 19.84
END
    SIMGPU_THREADS=7 SIMGPU_REPORT=$BATS_FILE_TMPDIR/fences.report apart "$B/tests/clock/fences" | cmp - "$BATS_FILE_TMPDIR/fences"
    # Only lines that were stored take longer, where a block's own round is the first to want one; twice what was copied.
    awk '{ us[$1] = $2 }
        END { near = us["part_all"] - us["part_nothing"]; far = us["part_copied"] - us["part_nothing"]
              exit !(near > 1.8 && near < 2.4 && far > 1.9 * near && far < 2.1 * near && us["part_all_and_copied"] == us["part_copied"] &&
                     us["part_other_lines"] == us["part_nothing"] &&
                     us["part_one_step_of_each_block"] < us["part_nothing"] + 0.05 * near) }' "$BATS_FILE_TMPDIR/fences"
    # A miss and an atomic are looked up 1.5 times each.
    [[ $(grep '"name":"atomics_that_miss"' "$BATS_FILE_TMPDIR/fences.report") == *'"lts__t_sector_hit_rate.pct":50.00'* ]]
}

@test "machine code that SMs do not have, and multiply-adds that wait for registers' banks, take what they take on an H200" {
    build "$B/tests/clock/code" "$B/bench-clock"
    apart "$B/tests/clock/code" >"$BATS_FILE_TMPDIR/code"
    # Microseconds (2026-11-28, the least of three runs). When code was always there, eight kernels in turn took as long as one
    # again and again: 30 % too short; a loop of 4096 instructions took half of its time. (The eleven turns are those of a kernel that
    # also read the clock around each.)
    within 15 code <<'END'
straight_256_x_32_threads_1_in_turn 66.8
straight_256_x_32_threads_4_in_turn 66.8
straight_256_x_32_threads_8_in_turn 78.4
straight_256_x_256_threads_1_in_turn 75.6
straight_256_x_256_threads_4_in_turn 75.6
straight_256_x_256_threads_8_in_turn 75.6
straight_1024_x_32_threads_1_in_turn 84.4
straight_1024_x_32_threads_4_in_turn 120.8
straight_1024_x_32_threads_8_in_turn 124.0
straight_1024_x_256_threads_1_in_turn 103.2
straight_1024_x_256_threads_4_in_turn 116.4
straight_1024_x_256_threads_8_in_turn 121.2
jumps_512_x_32_threads_1_in_turn 75.6
jumps_512_x_32_threads_4_in_turn 106.4
jumps_512_x_32_threads_8_in_turn 111.6
jumps_512_x_256_threads_1_in_turn 86.8
jumps_512_x_256_threads_4_in_turn 111.2
jumps_512_x_256_threads_8_in_turn 111.6
chain_1024_x_32_threads_1_in_turn 147.6
chain_1024_x_32_threads_4_in_turn 147.6
chain_1024_x_32_threads_8_in_turn 148.4
chain_1024_x_256_threads_1_in_turn 165.6
chain_1024_x_256_threads_4_in_turn 166.4
chain_1024_x_256_threads_8_in_turn 172.8
eleven_turns_of_1024 309.2
eleven_turns_of_2048 638.0
eleven_turns_of_4096 2634.0
END
    # A warp of other kernels has the place on one SM; of a kernel that ran on one SM the others have nothing.
    awk '{ us[$1] = $2 }
        END { cold = us["behind_others"] - us["behind_itself"]
              exit !(cold > 0.7 && cold < 1 && us["behind_a_warp"] < us["behind_itself"] + 0.05 * cold &&
                     us["behind_its_own_warp"] == us["behind_others"] && us["a_warp_behind_warps"] > us["behind_itself"] &&
                     us["behind_a_reset"] == us["behind_itself"] && us["behind_others_and_a_warm_up"] == us["behind_itself"]) }' "$BATS_FILE_TMPDIR/code"
    SIMGPU_THREADS=7 apart "$B/tests/clock/code" | cmp - "$BATS_FILE_TMPDIR/code"
    # Microseconds by make bench-clock (2026-11-28). When registers had no banks, 32 warps took 39, eight 20.7.
    apart "$B/bench-clock" "fma chain" | sed 's/,* /_/g; s/\t/ /' >"$BATS_FILE_TMPDIR/banks"
    within 6 banks <<'END'
fma_chain_1_warp 19.90
fma_chain_8_warps_an_SM 23.94
fma_chain_32_warps_an_SM 69.47
four_fma_chains_1_warp 7.78
END
}

@test "work that warps share out, unequal blocks, copies to shared memory, few warps and graphs take what they take on an H200, within 22 %" {
    build "$B/tests/clock/shares"
    apart "$B/tests/clock/shares" >"$BATS_FILE_TMPDIR/shares"
    # Microseconds (2026-11-28, medians of three runs).
    within 22 shares <<'END'
warps_take 16.19
few_warps_take 92.45
blocks_take 20.90
unequal 16.45
tiles 25.89
rows 24.22
words_1 14.88
words_8 34.82
words_32 103.04
words_32_of_8_warps 135.78
products_of_1_warp 18.50
products_of_4_warps 18.66
products_of_8_warps 30.53
graph_1 43.01
graph_64 47.17
graph_1056 67.01
END
}

@test "words stored in random sectors, and words side by side, in L2 and in DRAM, take what they take on an H200, within 10 %, one within 20 %" {
    build "$B/tests/clock/scattered"
    SIMGPU_REPORT="$BATS_FILE_TMPDIR/report" apart "$B/tests/clock/scattered" >"$BATS_FILE_TMPDIR/scattered"
    grep -q "L2 waits for DRAM to give the rest" "$BATS_FILE_TMPDIR/report"
    # Microseconds (2026-11-29, the least of six runs each). Of words 128 bytes apart each line takes longer here than there.
    within 10 scattered <<'END'
random_words_4MiB_512k 10.18
random_words_4MiB_1024k 17.02
random_words_4MiB_2048k 30.53
random_words_16MiB_512k 23.87
random_words_16MiB_1024k 37.38
random_words_16MiB_2048k 52.58
random_words_64MiB_512k 29.12
random_words_64MiB_1024k 53.70
random_words_64MiB_2048k 99.81
random_words_256MiB_512k 28.86
random_words_256MiB_1024k 58.82
random_words_256MiB_2048k 119.14
random_words_32MiB_2048k 74.21
random_words_128MiB_2048k 113.38
words_256_bytes_apart_256MiB_512k 21.86
END
    within 20 scattered <<'END'
words_128_bytes_apart_256MiB_512k 16.51
END
}

@test "tiles of a product, copied or computed alone and together, and banks of registers take what they take on an H200, within 12 %" {
    build "$B/tests/clock/tiles"
    apart "$B/tests/clock/tiles" >"$BATS_FILE_TMPDIR/tiles"
    # Microseconds (2026-11-29, of two processes of six runs each).
    within 12 tiles <<'END'
copy_1 18.59
copy_1_cold 30.66
copy_2 29.66
copy_2_cold 51.74
copy_4 24.64
copy_4_cold 37.79
copy_4_flat 57.31
copy_4_flat_cold 91.65
compute_2 31.42
compute_4 22.46
compute_8 71.84
both_1 23.26
both_2 37.25
both_2_cold 59.39
both_4 40.32
apart 52.70
outer_2 48.13
outer_4 62.18
outer_8 54.30
END
}

@test "barriers around shared memory, of few warps and of many, and branches that part a warp take what they take on an H200, within 16 %, three within 20 %" {
    build "$B/tests/clock/barriers"
    apart "$B/tests/clock/barriers" >"$BATS_FILE_TMPDIR/barriers"
    # Microseconds (2026-11-29, of three processes of six runs each).
    within 16 barriers <<'END'
alone_32_threads_32_blocks 22.78
in_place_32_threads_32_blocks 69.98
alone_64_threads_1_blocks 6.82
alone_64_threads_16_blocks 17.50
in_place_64_threads_16_blocks 53.82
alone_64_threads_32_blocks 31.07
in_place_64_threads_32_blocks 101.66
alone_128_threads_16_blocks 29.98
in_place_128_threads_16_blocks 82.02
alone_256_threads_8_blocks 30.43
in_place_256_threads_8_blocks 70.85
alone_32_threads_1_blocks 6.27
alone_32_threads_4_blocks 6.43
in_turn_64_threads_32_blocks 81.34
in_turn_256_threads_8_blocks 64.51
tree_64_threads_32_blocks 41.44
tree_256_threads_1_blocks 14.05
tree_1024_threads_1_blocks 28.48
in_order_all 22.53
in_order_none 14.24
in_order_half 26.27
in_order_half_full 66.72
some_lanes_all 58.62
some_lanes_half 66.69
turns_of_lanes_8 196.38
turns_of_lanes_32 693.41
END
    within 20 barriers <<'END'
in_place_64_threads_1_blocks 16.45
in_turn_1024_threads_1_blocks 35.01
in_turn_1024_threads_2_blocks 60.58
END
    # What parts a warp costs: 8.07 and 3.74 us on an H200. And 64 warps in 32 blocks take 1.34 times as long as in two.
    awk '{ us[$1] = $2 } END {
        part = us["some_lanes_half"] - us["some_lanes_all"]; step = us["in_order_half"] - us["in_order_all"]
        small = us["in_turn_64_threads_32_blocks"] / us["in_turn_1024_threads_2_blocks"]
        print part, step, small
        exit !(part > 5.6 && part < 10.5 && step > 2.6 && step < 4.9 && small > 1.12) }' "$BATS_FILE_TMPDIR/barriers"
}

@test "warps that take numbers do not keep those waiting that poll for them in shared memory; atomicAdd that polls is no taking" {
    build "$B/tests/clock/take"
    run timeout 60 "$B/tests/clock/take"
    [ "$status" = 0 ]
    [ "${lines[*]}" = "flags right locks right words right" ]
}

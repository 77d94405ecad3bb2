#!/usr/bin/env bats
# The virtual clock where warps wait for each other: loops with barriers, trees, meetings of all blocks.

load helper

setup_file() {
    build "$B/tests/clock/turns"
    apart "$B/tests/clock/turns" >"$BATS_FILE_TMPDIR/turns"
}

# agree PERCENT <<table of `name value`: the program's values lie that near to the card's, and their mean error is below
# a third of it.
agree() {
    awk -v percent="$1" '
        NR == FNR { want[$1] = $2; n++; next }
        $1 in want && $2 ~ /^[0-9.]+$/ {
            off = 100 * ($2 / want[$1] - 1); found++; sum += off < 0 ? -off : off
            if (off > percent || off < -percent) { printf "%s: %s, should be %s (%+.1f %%)\n", $1, $2, want[$1], off; bad = 1 }
        }
        END {
            if (found < n) { print n - found " values are missing"; exit 1 }
            if (sum / n > percent / 3) { printf "mean error %.1f %%\n", sum / n; exit 1 }
            exit bad
        }' - "$BATS_FILE_TMPDIR/turns"
}

@test "loops of multiply-adds, shared memory and barriers, by 1 to 32 warps, take what they take on an H200" {
    # Clocks a turn; blocks on an SM x threads of a block. Medians of three runs of 1,000 turns; SimGPU takes 40.
    agree 22 <<'END'
chain_1x32 36.6
chain_1x256 40.0
chain_1x512 48.5
chain_1x1024 87.5
chain_2x512 88.6
chain_4x256 98.3
load_1x32 88.6
load_1x256 93.3
load_1x512 107.8
load_1x1024 153.0
load_2x512 160.9
load_4x256 176.0
step_1x32 71.8
step_1x256 88.7
step_1x512 122.7
step_1x1024 184.4
step_2x512 126.1
step_4x256 123.3
steps_1x32 102.1
steps_1x256 117.2
steps_1x512 153.3
steps_1x1024 238.1
steps_2x512 203.6
steps_4x256 182.6
long_1x32 194.5
long_1x256 212.8
long_1x512 247.0
long_1x1024 415.8
long_2x512 396.4
long_4x256 408.5
wide_1x32 83.7
wide_1x256 124.3
wide_1x512 200.3
wide_1x1024 381.0
wide_2x512 364.2
wide_4x256 362.5
exchange_1x32 110.9
exchange_1x256 127.2
exchange_1x512 159.6
exchange_1x1024 256.7
exchange_2x512 234.8
exchange_4x256 231.8
END
}

@test "trees with a barrier at each step, and meetings of all blocks, take what they take on an H200" {
    # Clocks for a sum of 256 words, by one block and by two on each SM; ns of a grid.sync() of 128 blocks.
    agree 15 <<'END'
tree_1 611
tree_264 683
meeting 971
meeting_loads 1163
END
}

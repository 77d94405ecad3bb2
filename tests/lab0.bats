#!/usr/bin/env bats
# Lab 0: what is special to it. (The programs in wrong/ and cheat/ have their tests from wrong-programs.sh.)

load helper

setup_file() {
    build "$B/starter/lab0" "$B/reference/lab0"
}

setup() {
    lab=$(lab_dir 0)
    record=$BATS_TEST_TMPDIR/record
}

# Runs a variant of lab 0; its card in $output, its record in $record.
card() { output=$(apart "$B/$1/lab0" --record "$record" "${@:2}"); }

@test "lab 0: the starter fails exactly its declared rows, whatever the seed" {
    for seed in 1 2 4000000000; do
        card starter --seed $seed
        diff <(grep -v '^#' "$lab/rows-failing-at-start.txt" | sort) <(awk -F '\t' '$1 == "row" && $3 != "pass" { print $2 }' "$record" | sort)
    done
}

@test "lab 0: each row that the starter fails comes with a line of its file and a hint in three steps" {
    card starter
    for row in $(grep -v '^#' "$lab/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == ceilings.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done
    for hint in $(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'); do
        echo "$hint"
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

@test "lab 0: the solution is full, whatever the seed, and predicts within a tenth" {
    for seed in 1 2 3 4000000000; do
        card reference --seed $seed
        [ "$(score "$record")" = "100 100" ]
        for row in one-flop send copy fma; do
            awk -v mine="$(field "$record" $row value)" -v want="$(field "$record" $row want)" 'BEGIN {
                split(mine, m, " "); split(want, w, " ")
                exit !(m[2] == "us" && w[3] == "us" && m[1] < 1.1 * w[2] && w[2] < 1.1 * m[1]) }'
        done
    done
}

@test "lab 0: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 0: two runs, on 1, 2 and 3 host threads: byte-identical cards and records" {
    cd "$BATS_TEST_TMPDIR"
    for run in 1 2 3 1again; do
        SIMGPU_THREADS=${run%again} apart "$BLUEBAR_TOP/$B/reference/lab0" --record record.$run --seed 11 >card.$run
    done
    for run in 2 3 1again; do
        cmp card.1 card.$run
        cmp record.1 record.$run
    done
}

@test "lab 0: the measured ceilings are those of the profile" {
    card reference
    echo "$output"
    profile() { awk -v key="$1" '$1 == key { print $3 }' common/simgpu/profiles/h200.conf; }
    [[ $output == *"the link, page-locked "*" $(profile pinned_gbs) GB/s up"* ]]
    [[ $output == *"device memory "*" $(profile dram_gbs) GB/s read"* ]]
    [[ $output == *"one more launch "*" 2.50 us"* ]]
}

@test "lab 0: --roofline writes a script that gnuplot draws" {
    cd "$BATS_TEST_TMPDIR"
    apart "$BLUEBAR_TOP/$B/reference/lab0" --roofline roof.gp
    grep -q 'matmul, n = 1024' roof.gp
    command -v gnuplot >/dev/null || skip "no gnuplot here"
    gnuplot roof.gp
    grep -q '</svg>' roof.gp.svg
}

# A machine with a card at 0000:1b:00.0 under a port: SPEED WIDTH of the card, SPEED WIDTH of the port.
sysfs() {
    local port=$BATS_TEST_TMPDIR/devices/0000:1a:00.0 list=$BATS_TEST_TMPDIR/sysfs
    mkdir -p "$port/0000:1b:00.0" "$list"
    printf '%s\n' "$1" >"$port/0000:1b:00.0/max_link_speed"
    printf '%s\n' "$2" >"$port/0000:1b:00.0/max_link_width"
    printf '%s\n' "$3" >"$port/max_link_speed"
    printf '%s\n' "$4" >"$port/max_link_width"
    ln -sfn "$port/0000:1b:00.0" "$list/0000:1b:00.0"
}

@test "lab 0: the link's rate by nvidia-smi, by the kernel's files, or not at all" {
    local link=$BATS_TEST_TMPDIR/link bin=$BATS_TEST_TMPDIR/bin list=$BATS_TEST_TMPDIR/sysfs
    # shellcheck disable=SC2046 # a list of sources
    $(common/make/find-clang.sh) -std=c11 -g -Wall -Wextra -Werror -fsanitize=address,undefined -I common/lab -I common/simgpu/include \
        -o "$link" tests/lab0/link.c common/lab/*.c "$B/libsimgpu.a" -pthread -lstdc++ -lm
    mkdir "$bin"
    says() { [ "$(PATH=$bin "$link" "$list" "${2:-0000:1B:00.0}")" = "$1" ]; }
    # Neither of the two: no failure, and no rate.
    says 0.00
    # The files: the card and its port, whichever is slower.
    sysfs '32.0 GT/s PCIe' 16 '32.0 GT/s PCIe' 16 && says 63.02
    sysfs '32.0 GT/s PCIe' 16 '16.0 GT/s PCIe' 16 && says 31.51
    sysfs '16.0 GT/s PCIe' 16 '32.0 GT/s PCIe' 8 && says 31.51
    sysfs '8.0 GT/s PCIe' 8 'Unknown' 255 && says 7.88
    sysfs '5 GT/s' 16 '' '' && says 8.00
    sysfs Unknown 16 '16.0 GT/s PCIe' 16 && says 0.00
    sysfs '16.0 GT/s PCIe' 255 '16.0 GT/s PCIe' 16 && says 0.00
    # nvidia-smi knows better, where it knows.
    sysfs '16.0 GT/s PCIe' 16 '16.0 GT/s PCIe' 16
    printf '#!/bin/sh\n[ "$2" = 0000:1B:00.0 ] && echo "5, 16"\n' >"$bin/nvidia-smi"
    chmod +x "$bin/nvidia-smi"
    says 63.02
    printf '#!/bin/sh\necho "[N/A], [N/A]"\n' >"$bin/nvidia-smi"
    says 31.51
    printf '#!/bin/sh\necho "NVIDIA-SMI has failed"\nexit 9\n' >"$bin/nvidia-smi"
    says 31.51
    # What is no address goes into no command.
    printf '#!/bin/sh\necho "5, 16"\n' >"$bin/nvidia-smi"
    says 0.00 '0; echo'
    says 63.02
}

@test "lab 0: on another virtual card the solution still predicts the copy to the card: its link is on the sheet" {
    output=$(PROFILE=a100-pcie apart "$B/reference/lab0" --record "$record")
    [ "$(field "$record" send status)" = pass ]
}

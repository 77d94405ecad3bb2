#!/usr/bin/env bats
# Lab 0: its special tests. (The programs in wrong/ and cheat/ have their tests from wrong-programs.sh.)

load helper

lab_number=0

setup_file() {
    build "$B/starter/lab0" "$B/reference/lab0"
}

setup() {
    lab=$(lab_dir 0)
}

@test "lab 0: the starter fails exactly its declared rows, whatever the seed" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
}

@test "lab 0: each row that the starter fails comes with a line of its file and a hint in three steps" {
    play starter 2048
    for row in $(grep -v '^#' "tests/lab0/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == ceilings.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
    done
    for hint in $(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'); do
        echo "$hint"
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

# Within an eighth: nine tenths of the sheet are what an H200's memory gives (it took 436 us for a copy predicted at 430); a
# kernel of the virtual card also has a tenth of its latency beside DRAM's time, and copies at 0.81 of the sheet.
@test "lab 0: the solution is full, whatever the seed, and predicts within an eighth" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    for row in one-flop send copy fma; do
        awk -v mine="$(field "$record" $row value)" -v want="$(field "$record" $row want)" 'BEGIN {
            split(mine, m, " "); split(want, w, " ")
            exit !(m[2] == "us" && w[4] == "us" && m[1] < 1.125 * w[3] && w[3] < 1.125 * m[1]) }'
    done
}

@test "lab 0: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab0" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 0: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 0: the measured ceilings are those of the profile" {
    play reference 2048
    echo "$output"
    profile() { awk -v key="$1" '$1 == key { print $3 }' common/simgpu/profiles/h200.conf; }
    [[ $output == *"the link, page-locked "*" $(profile pinned_gbs) GB/s up"* ]]
    # A kernel has DRAM's rate less what its latency adds to it: an H200 reads faster than it copies, too, by 9 %.
    awk -v dram="$(profile dram_gbs)" '/^  device memory / { n++; read = $3; copied = $6 }
        END { exit !(n == 1 && read <= dram && read > 0.93 * dram && copied < read && copied > 0.88 * dram) }' <(echo "$output")
    [[ $output == *"one more launch "*" 2.50 us"* ]]
}

# Is the file well-formed XML, as far as a drawing goes: every tag closed in its turn, one root, no stray < or &?
well_formed() {
    awk '
        { text = text $0 "\n" }
        function bad(why) { print why; failed = 1; exit 1 }
        END {
            if (failed) exit 1
            while (match(text, /<[^>]*>/)) {
                between = substr(text, 1, RSTART - 1); tag = substr(text, RSTART + 1, RLENGTH - 2); text = substr(text, RSTART + RLENGTH)
                gsub(/&(amp|lt|gt|quot|apos|#[0-9]+);/, "", between)
                if (between ~ /[&<]/) bad("stray & or < in: " between)
                if (tag ~ /^[?!]/) continue
                if (tag ~ /^\//) { if (stack[depth--] != substr(tag, 2)) bad("closes what is not open: " tag); continue }
                if (!depth && roots++) bad("a second root: " tag)
                if (gsub(/"[^"<]*"|\047[^\047<]*\047/, "", tag) != gsub(/=/, "", tag)) bad("an attribute without its value: " tag)
                if (tag !~ /\/$/) { split(tag, word, /[ \t\n]/); stack[++depth] = word[1] }
            }
            if (depth || !roots || text ~ /[^ \t\n]/) bad("not closed: " stack[depth] text)
        }' "$1"
}

@test "lab 0: the check for well-formed XML finds malformed files" {
    local file=$BATS_TEST_TMPDIR/xml text
    echo '<?xml version="1.0"?><svg a="1"><g><text>a &amp; b</text><path d="M0,0"/></g></svg>' >"$file"
    well_formed "$file"
    for text in '<svg>' '<svg><g></svg></g>' '<svg>a & b</svg>' '<svg a=1></svg>' '<svg/><svg/>' '<svg></svg>more' ''; do
        echo "$text" >"$file"
        run well_formed "$file"
        [ "$status" = 1 ]
    done
}

@test "lab 0: the script of the drawn roofline has the roof, and five kernels below it" {
    reference_says roofline
    # Operations a byte, Gflop/s, the roof above, microseconds: below the roof, and above a five-thousandth of it but for the
    # addition; SAXPY near it; the kernel in tiles above the simple one.
    sed -n '/^\$spots/,/^END/p' "$BATS_TEST_TMPDIR/roofline" | awk -F '"' '
        NF == 3 { split($1, v, " "); flops[$2] = v[2]; n++; if (v[2] > v[3] || v[1] <= 0 || v[4] <= 0) bad = 1
                  if ($2 != "one addition" && v[2] < v[3] / 5000) bad = 1
                  if ($2 ~ /SAXPY/ && v[2] < 0.8 * v[3]) bad = 1 }
        END { exit !(n == 5 && !bad && flops["matmul 512, in tiles"] > 1.1 * flops["matmul 512, simple"]) }'
    # The roof is the measured one: its ridge is fp32 over the memory of the card.
    play reference 2048
    awk '/^  device memory / { memory = $6 } /^  fp32 arithmetic / { fp32 = $3 }
         /^\$roof/ { on = 1; next } on && ++n == 2 { exit !($2 > 0.999 * fp32 && $2 < 1.001 * fp32 && $1 > 0.999 * fp32 / memory && $1 < 1.001 * fp32 / memory) }' \
        <(echo "$output") "$BATS_TEST_TMPDIR/roofline"
}

@test "lab 0: make roofline0 draws it, and without gnuplot says how to get that" {
    local svg
    run env PATH="$(path_without 'gnuplot*')" make -s roofline0 3>&- 4>&-
    echo "$output"
    [ "$status" != 0 ]
    [ "$(grep -vc '^make: ' <<<"$output")" = 1 ]
    [[ $output == "make roofline0 draws with gnuplot, which is not here: "*"gnuplot"*"needs nothing: make lab0"* ]]
    svg=handouts/rooflines/lab0-reference.svg # drawn before, where gnuplot is not here
    if command -v gnuplot >/dev/null; then
        run make -s roofline0 SUBMISSION=solutions 3>&- 4>&-
        echo "$output"
        [ "$output" = "drawn: .build/sim/reference/roofline0.svg (a browser shows it)" ]
        svg=.build/sim/reference/roofline0.svg
    fi
    well_formed "$svg"
    for text in 'SAXPY, 2^25 floats: ' 'one addition: ' 'matmul 64: ' 'matmul 512, simple: ' 'matmul 512, in tiles: ' \
        'device memory: ' 'fp32 arithmetic: ' 'the ridge: ' 'virtual H200'; do
        grep -qF "$text" "$svg"
    done
}

@test "lab 0: a picture of another script than a run gives is found, with and without gnuplot" {
    local measured=${BLUEBAR_OTHERS:-$BATS_TEST_TMPDIR/others} # nothing of lab 0 changes here, so its script is made once
    house
    rm -f handouts/*.md handouts/answers/*.md README.md # one small text and one lab are enough here
    rm -r labs/lab[!0]*
    printf '# T\n\n<!-- roofline: solutions -->\n<!-- end -->\n' >handouts/t.md
    sed -i '$s/cksum [0-9]*/cksum 7/' handouts/rooflines/lab0-reference.svg
    rm handouts/rooflines/lab0-reference.gp # with another clang than 14 a script nearly the same would do
    run env BLUEBAR_OTHERS="$measured" PATH="$(path_without 'gnuplot*')" common/make/docs.sh --check 3>&- 4>&-
    [ "$status" = 1 ]
    [[ $output == *"handouts/rooflines/lab0-reference.svg is not of the script that a run gives; to draw it anew: "* ]]
    command -v gnuplot >/dev/null || return 0
    BLUEBAR_OTHERS=$measured run common/make/docs.sh --check 3>&- 4>&-
    [ "$status" = 1 ]
    [[ $output == *"cksum 7 "* ]]
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
    $(common/make/find-clang.sh) -std=c11 -g -Wall -Wextra -Werror -fsanitize=address,undefined -I common/lab -I common/simgpu/include \
        -o "$link" tests/lab0/link.c common/lab/link.c -lm
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
    record=$BATS_TEST_TMPDIR/record
    output=$(PROFILE=a100-pcie apart "$B/reference/lab0" --record "$record")
    [ "$(field "$record" send status)" = pass ]
}

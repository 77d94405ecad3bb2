#!/usr/bin/env bats
# Lab 11: the grader of the whole step. graders.bats has the tests common to all labs; the programs in wrong/, cheat/
# and right/ have a test each (wrong-programs.sh).

load helper

lab_number=11

setup_file() { build "$B/starter/lab11" "$B/reference/lab11"; }
setup() { lab=$(lab_dir 11); }

@test "lab 11: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000
    as_declared
    [ "$(score "$record")" = "35 100" ]
    for row in $(grep -v '^#' "tests/lab11/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == transformer.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
    done
}

@test "lab 11: the file to edit is the starter" {
    git diff --quiet HEAD -- "$lab/transformer.cu" || skip "it has been edited here"
    cmp "$lab/transformer.cu" "tests/lab11/starter.cu"
}

@test "lab 11: the solution is full whatever the seed, and more than a hundred times as fast as the starter" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    field "$record" virtual-time want
    field "$record" virtual-time want |
        awk '{ unit["us"] = 1; unit["ms"] = 1000; exit !($2 * unit[$3] > 100 * $6 * unit[$7]) }'
}

@test "lab 11: each mistake of the judge's list has three hints" {
    for hint in $(grep -ohE '\{"[a-z-]+",' "$lab"/parts/advice.c | grep -oE '[a-z-]+' | sort -u); do
        echo "$hint"
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

@test "lab 11: the card says how many answers of a report agree with the run" {
    local desk=$BATS_TEST_TMPDIR/desk
    mkdir -p "$desk"
    cp tests/lab11/starter.cu "$desk/transformer.cu"
    sed -e 's/^- kernel that takes the most time:/& `multiply_row`/;t' -e 's/^- kernels launched in a step:/& 3171/;t' \
        -e 's/^- waits of the host in a step:/& 12/' -e 's/arrays at 256.*:/& 524.3/' "$lab/report.md" >"$desk/report.md"
    grade "$desk/transformer.cu"
    # Half of them twice: before and after, which is the starter here.
    awk -F '\t' '$1 == "note" && $2 == "report.md" { print $3 }' "$record"
    awk -F '\t' '$1 == "note" && $2 == "report.md" { print $3 }' "$record" |
        grep -qxF "5 of 14 answers agree with the run, 8 are open, 1 does not; the first: before, 'waits of the host in a step': 12"
}

@test "lab 11: --bench has a line for each program" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    awk -F '\t' '$1 == 64 && $2 != "yours" { us[$2] = $3 } END { exit !(us["starter"] > 100 * us["reference"] && us["reference"] > 0) }' "$BATS_TEST_TMPDIR/bench"
}

@test "lab 11: make lines11 counts one step, and says so" {
    apart "$B/starter/lab11" --lines >"$BATS_TEST_TMPDIR/lines"
    head -n 1 "$BATS_TEST_TMPDIR/lines"
    [[ $(head -n 1 "$BATS_TEST_TMPDIR/lines") == "lab11  64 characters, D = 32, 1 step, "* ]]
    grep -qE "^ +1664 +61 " "$BATS_TEST_TMPDIR/lines"
}

@test "lab 11: a program may put its arguments into constant memory" {
    "$B/judge/lab11" --calls | grep -xF cudaMemcpyToSymbol
}

@test "lab 11: of a wrong velocity the card names the line that computes it, not a declaration" {
    local desk=$BATS_TEST_TMPDIR/desk
    mkdir -p "$desk"
    sed 's/0\.9f \* /0.95f * /' solutions/"${lab#labs/}"/transformer.cu >"$desk/transformer.cu"
    grade "$desk/transformer.cu"
    [ -z "$(awk -F '\t' '$1 == "note" && $2 == "report.md"' "$record")" ] # a folder without a report
    [[ $(field "$record" learns where) == transformer.cu:$(grep -n 'm\.velocity\[tensor\]' "$desk/transformer.cu" | cut -d : -f 1) ]]
}

#!/usr/bin/env bats
# Wrong programs, written as patches against a solution.

load helper

# Sets $status and $output, as Bats' run does.
made_of() {
    status=0
    output=$(bash -c '. common/make/lib.sh && whole "$1"' - "$1" 2>&1) || status=$?
    echo "$output"
}

patch_of() { # the line that it takes away
    printf '%s\n' '// expect: intensity: gave' '// Upside down.' '--- solutions/lab0-ceilings/ceilings.cu' '+++ wrong' \
        '@@ -1,1 +1,1 @@' "-$1" '+extern "C" double intensity(struct work w) { return w.bytes / w.flops; }' >"$BATS_TEST_TMPDIR/mine.patch"
}

@test "patches: every one in the tree applies, and changes its base" {
    local line made
    for p in tests/lab*/{wrong,cheat,right}/*.patch; do # a thousand: as few processes for each as can be
        whole "$p" >"$BATS_TEST_TMPDIR/made"
        read -r made <"$BATS_TEST_TMPDIR/made"
        [ "$made" = ".build/patched/${p%.patch}.cu" ]
        while read -r line && [[ $line != '--- '* ]]; do :; done <"$p"
        ! cmp -s "${line#--- }" "$made" || { echo "$p changes nothing" && false; }
    done
}

@test "patches: a .cu file is whole already" {
    made_of tests/lab3/wrong/missing_sync.cu
    [ "$status" = 0 ]
    [ "$output" = tests/lab3/wrong/missing_sync.cu ]
}

@test "patches: the whole program is the base with the mistake, wherever its lines have moved to" {
    patch_of 'extern "C" double intensity(struct work w) { return w.flops / w.bytes; }'
    made_of "$BATS_TEST_TMPDIR/mine.patch"
    [ "$status" = 0 ]
    diff solutions/lab0-ceilings/ceilings.cu "$output" >"$BATS_TEST_TMPDIR/diff" || true
    [ "$(grep -c '^[<>]' "$BATS_TEST_TMPDIR/diff")" = 2 ]
    grep -q 'w.bytes / w.flops' "$output"
}

@test "patches: one that no longer applies says so, and how to make it anew; it is not graded" {
    patch_of 'extern "C" double intensity(struct work w) { return w.flops * w.bytes; }'
    made_of "$BATS_TEST_TMPDIR/mine.patch"
    [ "$status" = 1 ]
    [[ $output == *"mine.patch does not apply to solutions/lab0-ceilings/ceilings.cu any more. Make it anew: change a copy of that file, and take diff -U1."* ]]
    lab_number=0 grade "$BATS_TEST_TMPDIR/mine.patch"
    [ "$status" != 0 ]
    [[ $output == *"does not apply"* && $output != *"ok 1"* ]]
}

@test "patches: one without a base says so" {
    echo nothing >"$BATS_TEST_TMPDIR/mine.patch"
    made_of "$BATS_TEST_TMPDIR/mine.patch"
    [ "$status" = 1 ]
    [[ $output == *"no line '--- FILE' says which program it changes"* ]]
    echo '--- solutions/nowhere.cu' >"$BATS_TEST_TMPDIR/mine.patch"
    made_of "$BATS_TEST_TMPDIR/mine.patch"
    [ "$status" = 1 ]
    [[ $output == *"changes solutions/nowhere.cu, which is not there"* ]]
}

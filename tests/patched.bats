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

# Prints the patches among its arguments that do not apply, or change nothing: each hunk's old lines must stand in its base,
# one after the other. (A thousand patches, so no process for each: the tests of programs go through patch itself.)
unfit() {
    awk '
        function base_of(name,   text, line) {
            if (!(name in bases)) {
                while ((getline line <name) > 0) text = text line "\n"
                bases[name] = "\n" text
            }
            return bases[name]
        }
        function end_of_hunk(   found) {
            if (inside) {
                found = old == "" ? 0 : index(substr(base_of(base), behind), "\n" old)
                if (!found || old == new) print file ": its hunk " hunks " does not fit " base
                behind += found + length(old) - 1 # at the line feed before what follows
            }
            inside = 0
        }
        function end_of_patch() {
            end_of_hunk()
            if (file != "" && !hunks) print file ": it changes nothing"
        }
        FNR == 1 { end_of_patch(); file = FILENAME; base = ""; hunks = 0; behind = 1 }
        !inside && /^--- / && base == "" { base = $2; next }
        base != "" && /^@@ / { end_of_hunk(); inside = 1; hunks++; old = new = ""; next }
        inside && /^ / { old = old substr($0, 2) "\n"; new = new substr($0, 2) "\n" }
        inside && /^-/ { old = old substr($0, 2) "\n" }
        inside && /^\+/ { new = new substr($0, 2) "\n" }
        END { end_of_patch() }' "$@"
}

@test "patches: every one in the tree applies, and changes its base" {
    run unfit tests/lab*/{wrong,cheat,right}/*.patch labs/lab*/rungs/*.patch
    echo "$output"
    [ "$status" = 0 ]
    [ -z "$output" ]
    # One that does not is found.
    patch_of 'extern "C" double intensity(struct work w) { return w.flops * w.bytes; }'
    [ "$(unfit "$BATS_TEST_TMPDIR/mine.patch")" = "$BATS_TEST_TMPDIR/mine.patch: its hunk 1 does not fit solutions/lab0-ceilings/ceilings.cu" ]
    echo '--- solutions/lab0-ceilings/ceilings.cu' >"$BATS_TEST_TMPDIR/mine.patch"
    [ "$(unfit "$BATS_TEST_TMPDIR/mine.patch")" = "$BATS_TEST_TMPDIR/mine.patch: it changes nothing" ]
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

#!/usr/bin/env bats
# Lab 2's grader, graded: the starter fails its declared rows, the solution passes with a margin, nothing depends on luck.
# The programs in tests/lab2/wrong and cheat have a test each: see wrong-programs.sh.

load helper

setup_file() {
    build "$B/starter/lab2" "$B/reference/lab2"
}


setup() {
    lab_number=2
    lab=$(lab_dir 2)
}

@test "lab 2: the starter fails exactly its declared rows, whatever the seed" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
}

@test "lab 2: each row that the starter fails has a reason, and a hint in three steps" {
    grade starter
    for row in $(grep -v '^#' "tests/lab2/rows-failing-at-start.txt"); do
        echo "$row"
        [ -n "$(field "$record" "$row" why)" ]
    done
    [[ $(field "$record" mallocs where) == allocator.cu:[0-9]* ]]
    [[ $(field "$record" waits where) == allocator.cu:[0-9]* ]]
    for hint in $(apart "$B/reference/lab2" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "hint") c = i; next } { print $c }'); do
        echo "$hint"
        [ "$(awk -v id="$hint" '/^## / { on = ($2 == id) } on && /^[123]\. /' "$lab/hints.md" | wc -l)" = 3 ]
    done
}

@test "lab 2: the solution is full, whatever the seed, and has a margin" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    [ "$(field "$record" mallocs value)" = 0.00 ]
    [ "$(field "$record" waits value)" = 0.00 ]
    # Full marks are for 1.25, 1.67 and 1.5.
    for row in training:1.20 lengths:1.45 holes:1.1; do
        echo "$row: $(field "$record" "${row%:*}" value)"
        awk -v v="$(field "$record" "${row%:*}" value)" -v most="${row#*:}" 'BEGIN { sub(/ x/, "", v); exit !(v > 0 && v <= most) }'
    done
}

# The solution with a change by sed, as a submission; with the seed in $seed, if that is set.
changed() {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed "$@" "solutions/${lab#labs/}/allocator.cu" >"$BATS_TEST_TMPDIR/s/allocator.cu"
    ! cmp -s "$BATS_TEST_TMPDIR/s/allocator.cu" "solutions/${lab#labs/}/allocator.cu" || {
        echo "the change changed nothing"
        return 1
    }
    grade "$BATS_TEST_TMPDIR/s/allocator.cu" "${seed:-4000000000}"
}

@test "lab 2: an event that pool_use records is too early" {
    changed -e '/cudaEventRecord(u->done, u->stream);$/d' -e 's/^    u->next = b->users;$/& cudaEventRecord(u->done, u->stream);/'
    row_is streams fail
    [[ $(field "$record" streams why) == *"held what was written for block"* ]]
}

@test "lab 2: the home stream may wait in place of the block, as the handout says" {
    changed -e 's/^    b->state = PARKED;$/    while (b->users) {\n        struct user *u = b->users;\n        cudaStreamWaitEvent(b->home, u->done, 0);\n        b->users = u->next;\n        u->next = pool.spare_users;\n        pool.spare_users = u;\n    }\n    set_free(b);/' \
        -e '/^    push(&pool.parked, b);$/d'
    [ "$status" = 0 ]
}

@test "lab 2: a full device asks for all of the cache: of every stream, and what is parked" {
    changed 's/^            pool_empty();$/            give_back(\&stream);/'
    row_is full fail
    [[ $(field "$record" full why) == *"no memory for block"* ]]
    changed 's/look_after_parked(true)/look_after_parked(false)/'
    row_is full fail
    [[ $(field "$record" full why) == *"no memory for block"* ]]
}

@test "lab 2: a segment that is still in use may not be freed on a full device" {
    changed 's/b->left || b->right ||/b->left ||/'
    row_is full fail
}

@test "lab 2: larger segments cost memory, and nothing else" {
    changed 's/SEGMENT = (size_t)2 << 20/SEGMENT = (size_t)8 << 20/'
    row_is correct pass
    row_is streams pass
    row_is training part
}

@test "lab 2: a pool_empty that frees nothing neither enlarges the small device nor fails the two streams" {
    changed 's/^    give_back(NULL);$//'
    row_is empty fail
    row_is full fail
    row_is streams pass
    [[ $(field "$record" full next) == *"left behind"* ]]
}

@test "lab 2: the time's place is a line of the submission" {
    changed -e 's/^extern "C" void pool_free(void \*p) {$/&\n    cudaDeviceSynchronize();/'
    row_is virtual-time part
    place=$(field "$record" virtual-time where)
    echo "$place"
    sed -n "${place#*:}p" "$BATS_TEST_TMPDIR/s/allocator.cu" | grep -q cudaDeviceSynchronize
}

# A submission that parks its memory for ever leaves other addresses to those that come after it.
@test "lab 2: the times of the starter, the vendor's pool and the light are the same beside every submission" {
    local seed=12345
    unset BLUEBAR_OTHERS # each is to measure them itself
    for who in starter solutions; do
        grade $who $seed
        field "$record" virtual-time want >>"$BATS_TEST_TMPDIR/wants"
    done
    changed 's/^    if (pool.parked) look_after_parked(false);$//'
    field "$record" virtual-time want >>"$BATS_TEST_TMPDIR/wants"
    changed 's/SEGMENT = (size_t)2 << 20/SEGMENT = (size_t)200 << 20/'
    field "$record" virtual-time want >>"$BATS_TEST_TMPDIR/wants"
    cat "$BATS_TEST_TMPDIR/wants"
    grep -c 'vendor.*light' "$BATS_TEST_TMPDIR/wants" | grep -qx 4
    [ "$(sort -u "$BATS_TEST_TMPDIR/wants" | wc -l)" = 1 ]
}

@test "lab 2: the points of the rows sum to 100" {
    [ "$(apart "$B/reference/lab2" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "points") c = i; next } { s += $c } END { print s }')" = 100 ]
}

@test "lab 2: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 2: make lines2 counts the driver's calls by line" {
    seen=$(apart "$B/starter/lab2" --lines)
    echo "$seen"
    # 24 blocks a step, 52 steps.
    echo "$seen" | grep -Eq '^ +1248 +0 +0 +allocator.cu:[0-9]+ cudaMalloc$'
    echo "$seen" | grep -Eq '^ +0 +1248 +0 +allocator.cu:[0-9]+ cudaFree$'
}

@test "lab 2: make lines2 ONLY=... plays one trace and draws its heap when most was held" {
    seen=$(ONLY=lengths apart "$B/reference/lab2" --lines)
    echo "$seen"
    [[ $seen == "trace lengths: "* ]]
    echo "$seen" | grep -Eq '^the heap when most was held: [0-9.]+ MiB, [0-9.]+ MiB of it in use$'
    echo "$seen" | grep -Eq '^ +[24].0 MiB  █+░*·*$'
    [[ $seen != *"trace training"* ]]
    status=0
    seen=$(ONLY=nothing apart "$B/reference/lab2" --lines 2>&1) || status=$?
    [ "$status" = 2 ]
    [[ $seen == *"ONLY=nothing: there is no such trace"*"training lengths holes sizes streams full"* ]]
}

@test "lab 2: make lines2 names the line of each call" {
    seen=$(ONLY=full apart "$B/reference/lab2" --lines)
    echo "$seen"
    echo "$seen" | grep -Eq "allocator.cu:[0-9]+ cudaGetLastError$"
    run grep -Eq "^ +[0-9]+ +[0-9]+ +[0-9]+ +cuda" <<<"$seen"
    [ "$status" = 1 ]
}

@test "lab 2: make lines2 says what stopped the trace" {
    name=$(variant 2 tests/lab2/wrong/allowance_of_a_granule.patch)
    build "$B/$name/lab2"
    seen=$(ONLY=sizes apart "$B/$name/lab2" --lines)
    echo "$seen"
    echo "$seen" | grep -Eq '^sizes: block [0-9]+ of [0-9]+ bytes (overlaps block|reaches)'
}

@test "lab 2: each allocator of the bench removes the flaw of the one before" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    awk -F '\t' '!/^#/ { step[$1] = $2; train[$1] = $4; lengths[$1] = $5; holes[$1] = $6 }
        END { exit !(step["starter"] > 4 * step["exact sizes"] && train["starter"] == 1 &&
                     lengths["exact sizes"] > 10 * lengths["powers of two"] && lengths["powers of two"] > lengths["reference"] &&
                     holes["powers of two"] > 5 * holes["reference"] && train["powers of two"] > 1.25 && train["reference"] <= 1.2 &&
                     step["reference"] <= 1.01 * step["bought beforehand"]) }' "$BATS_TEST_TMPDIR/bench"
}

#!/usr/bin/env bats
# Lab 5: the grader of the training loop. graders.bats has the tests common to all labs; the programs in wrong/ and cheat/
# have a test each (wrong-programs.sh).

load helper

lab_number=5

setup_file() { build "$B/starter/lab5" "$B/reference/lab5" "$B/reference/lab0"; }
setup() { lab=$(lab_dir 5); }

# The solution with a change by sed, as a submission.
changed() {
    mkdir -p "$BATS_TEST_TMPDIR/s"
    sed "$@" "solutions/${lab#labs/}/train.cu" >"$BATS_TEST_TMPDIR/s/train.cu"
    ! cmp -s "$BATS_TEST_TMPDIR/s/train.cu" "solutions/${lab#labs/}/train.cu" || echo "the change changed nothing"
    grade "$BATS_TEST_TMPDIR/s/train.cu"
}

# A row's value as a plain number: "78.9 us" is 78.9.
value() { field "$record" "$1" value | sed 's/ .*//'; }
between() { awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v >= a && v <= b) }' || { echo "$1 is not in $2 .. $3"; return 1; }; }
# The reference's time as the row says it, a plain number.
reference_time() { field "$record" virtual-time want | sed 's/.*reference \([0-9.]*\) us.*/\1/'; }

@test "lab 5: the starter fails exactly its declared rows, each with a line, a reason and a hint" {
    play starter 4000000000 # docs.bats has the whole card of seed 2048
    as_declared
    for row in $(grep -v '^#' "tests/lab5/rows-failing-at-start.txt"); do
        echo "$row"
        [[ $(field "$record" "$row" where) == train.cu:[0-9]* ]]
        [ -n "$(field "$record" "$row" why)" ]
        grep -q "^## $(field "$record" "$row" hint)\$" "$lab/hints.md"
    done
}

@test "lab 5: the file to edit is the starter, and the starter has gained nothing" {
    git diff --quiet HEAD -- "$lab/train.cu" || skip "it has been edited here"
    cmp "$lab/train.cu" "tests/lab5/starter.cu"
    grade starter
    [ "$(score "$record")" = "35 100" ]
}

@test "lab 5: the solution is full, with margin, whatever the seed" {
    play reference 4000000000
    [ "$(score "$record")" = "100 100" ]
    between "$(value busy)" 97 100
    [ "$(value drains)" = 0.0 ]
    # The reference beside it is the same program over the same steps: to the last digit.
    [ "$(value virtual-time)" = "$(reference_time)" ]
    # Full marks are for 1.05 times the kernels; the solution does with 1.04: its batches come from the host, so the kernels wait for the far half of L2.
    between "$(value virtual-time)" 0 "$(field "$record" virtual-time want | sed 's/.*kernels \([0-9.]*\) us/\1/' | awk '{ print $1 * 1.04 }')"
}

@test "lab 5: the same card, record and report on 1 and 3 host threads" { runs_alike; }

@test "lab 5: waiting later gains nothing, waiting for the present costs the overlap" {
    grade solutions
    two=$(value virtual-time)
    changed 's/DEPTH = 2/DEPTH = 3/'
    [ "$status" = 0 ]
    between "$(value virtual-time)" "$(echo "$two" | awk '{ print $1 * 0.99 }')" "$(echo "$two" | awk '{ print $1 * 1.01 }')"
    changed 's/DEPTH = 2/DEPTH = 1/'
    [ "$status" != 0 ]
    row_is learns pass
    row_is nan pass
    row_is busy fail || row_is busy part
    between "$(value drains)" 1 1
}

@test "lab 5: too deep a queue finds the NaN too late" {
    changed 's/DEPTH = 2/DEPTH = 10/'
    [ "$status" != 0 ]
    row_is nan fail
    [[ $(field "$record" nan why) == *"at most 8 may be"* ]]
}

@test "lab 5: --bench climbs from the starter to the kernels alone" {
    bench
    cat "$BATS_TEST_TMPDIR/bench"
    awk -F '\t' '/^#/ { next } $1 == "program" || $1 == "yours" { next } { if (n++ && $3 < last) exit 1; last = $3 } END { exit n < 6 }' "$BATS_TEST_TMPDIR/bench"
}

# The row blames the line of the submission with this text.
blames() { # ROW TEXT
    local line
    line=$(grep -nF -- "$2" "$BATS_TEST_TMPDIR/s/train.cu" | cut -d: -f1)
    echo "row $1 blames $(field "$record" "$1" where), should be line $line: $2"
    [[ $line =~ ^[0-9]+$ ]]
    [ "$(field "$record" "$1" where)" = "train.cu:$line" ]
}

@test "lab 5: a row blames code, never a comment with the same word" {
    changed -e '1a\ * isnan(loss) losses[step] lab5_forward(' -e 's/broken = known;/broken = step;/'
    row_is nan fail
    blames nan 'if (isnan('
    [[ $(field "$record" nan next) == *"not the step in which you look"* ]]
    # The last two losses are not handed over: that is a matter of the end.
    changed -e '1a\ * losses[step]' -e 's/memcpy(losses, l.losses, job->steps/memcpy(losses, l.losses, (job->steps - 2)/'
    row_is learns fail
    blames learns 'memcpy(losses, '
    [[ $(field "$record" learns next) == "after the loop, "* ]]
}

@test "lab 5: a hazard blames the line that does it, not the first of its kind" {
    # One page-locked buffer, and an earlier line that loads as well.
    changed -e 's/^    int known = 0/    if (job->steps < 0) lab5_load(0, l.slot[0].batch);\n&/' \
        -e 's/lab5_load(step, s->batch)/lab5_load(step, l.slot[0].batch)/' -e 's/(s->d_batch, s->batch, bytes/(s->d_batch, l->slot[0].batch, bytes/'
    row_is learns fail
    [[ $(field "$record" learns why) == *"in flight: the host writes"* ]]
    blames learns 'lab5_load(step, '
    # One place on the device for all losses.
    changed 's/&l->d_losses\[step\]/l->d_losses/'
    row_is learns fail
    [[ $(field "$record" learns why) == *"stream order: "* ]]
    blames learns 'cudaMemcpyAsync(&l->losses[step]'
}

@test "lab 5: a fault in a kernel of the harness is blamed on the call that passed the bad argument" {
    changed 's/&l->d_losses\[step\], l->work/\&l->d_losses[step + 10000000], l->work/'
    row_is learns fail
    [[ $(field "$record" learns why) == *"illegal address"* ]]
    blames learns 'lab5_loss('
    # An event that was never made: no kernel failed, and no text may say so.
    changed '/cudaEventCreateWithFlags(&s->told/d; s/^    struct lane l;/    struct lane l = {};/'
    row_is learns fail
    [[ $(field "$record" learns why) == "cudaErrorInvalidResourceHandle"*"cudaEventRecord: this is not an event"* ]]
    blames learns 'cudaEventRecord(s->told'
}

@test "lab 5: make lines5 says what shows the lines" {
    run make -s lines5 3>&- 4>&-
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == "The kernels of this lab are not yours"*"make lab5" ]]
    [ "$(apart "$B/reference/lab0" --lines | tail -n 1)" = "wrong answer: make lab0" ]
}

@test "lab 5: with four slots, too, the bars show a copy for each of their steps" {
    changed 's/DEPTH = 2 }/DEPTH = 4 }/'
    [ "$status" = 0 ]
    build "$B/$(variant 5 "$BATS_TEST_TMPDIR/s/train.cu")/lab5"
    card=$(apart "$B/$(variant 5 "$BATS_TEST_TMPDIR/s/train.cu")/lab5")
    echo "$card"
    # A batch of 49316 bytes takes 3.8 us of a step of 71; without the copy of one of three steps it would be 4 %.
    echo "$card" | grep -Eq 'copies up [56] %$'
    echo "$card" | grep -Eq "shown below +steps 36 to 38 of 48; 'GPU busy' is about 16 to 47"
}

@test "lab 5: a batch that was never loaded is not one that was overwritten" {
    changed 's/lab5_load(step, s->batch)/if (step != 3) &/'
    row_is learns fail
    [[ $(field "$record" learns why) == *"never asked for batch 3"* ]]
    changed 's/lab5_load(step, /lab5_load(step + 1, /'
    row_is learns fail
    blames learns 'lab5_load('
}

@test "lab 5: the time's place is a line of the student's, and its figure is not the mark" {
    grade "tests/lab5/wrong/loss_in_the_input_queue.patch"
    [[ $(field "$record" busy where) == loss_in_the_input_queue.cu:* ]]
    [[ $(field "$record" virtual-time where) == loss_in_the_input_queue.cu:* ]]
    # Just over the mark: more events between the kernels than anybody needs.
    changed 's/^    cudaEventRecord(s->ended, l->work);/    for (int i = 0; i < 3; i++) cudaEventRecord(s->ended, l->work);/'
    row_is virtual-time part
    [[ $(field "$record" virtual-time why) =~ ^1\.0(5[0-9]|[6-9])\ times ]]
}

@test "lab 5: the starter and the reference take the same time beside every submission" {
    grade solutions
    theirs=$(field "$record" virtual-time want)
    grade starter
    [ "$(field "$record" virtual-time want)" = "$theirs" ]
    [[ $theirs == "start $(value virtual-time) us · "* ]]
}

@test "lab 5: allowed calls cost no points: a query of a stream, a host function" {
    changed 's/^    set_up(&l, job);/&\n    if (cudaStreamQuery(l.work) != cudaSuccess) return -1;/'
    [ "$status" = 0 ]
    [ "$(score "$record")" = "100 100" ]
    changed -e 's/^extern "C" int train/static void nothing(void *) {}\n\n&/' -e 's/^    set_up(&l, job);/&\n    cudaLaunchHostFunc(l.in, nothing, NULL);/'
    [ "$status" = 0 ]
    [ "$(score "$record")" = "100 100" ]
}

@test "lab 5: kernels that read the host's memory explain a late step only if they are late by more than its idle time" {
    local host='s/^\( *lab5_[a-z]*\)(s->d_batch/\1(s->batch/'
    changed -e "$host"
    [[ $(field "$record" virtual-time why) == *"the slowest kernel, forward: link"* ]]
    [[ $(field "$record" virtual-time next) == "copy the batch to the device first"* ]]
    changed -e "$host" -e 's/^        lab5_load(step, s->batch);/        void *more; cudaHostAlloc(\&more, 16 << 20, 0); cudaFreeHost(more);\n&/'
    [[ $(field "$record" virtual-time why) == *"times its own kernels, want"* ]]
    [[ $(field "$record" virtual-time why) != *"the slowest kernel"* ]]
    [[ $(field "$record" virtual-time where) == train.cu:$(grep -n cudaHostAlloc "$BATS_TEST_TMPDIR/s/train.cu" | tail -n 1 | cut -d : -f 1) ]]
    [[ $(field "$record" virtual-time next) != "copy the batch"* ]]
}

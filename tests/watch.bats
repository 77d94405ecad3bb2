#!/usr/bin/env bats
# make watch3 (common/bluebar/watch.c): a run at each save, however an editor saves, and nothing left at the end.

load helper

setup_file() { build "$B/bluebar"; }

# A command that counts its runs, and leaves a record with that many points.
setup() {
    BLUEBAR=$BLUEBAR_TOP/$B/bluebar
    cd "$BATS_TEST_TMPDIR" || return 1
    mkdir src
    echo one >src/a.cu
    cat >run.sh <<'EOS'
echo run >>runs
n=$(wc -l <runs)
echo "output of run $n"
if [ "$(cat src/a.cu)" = crash ]; then rm -f record; exit 1; fi
printf 'bluebar-record\t1\tlab9\tsim\tvirtual H200\nseed\t1\nrow\tvirtual-time\tpart\t%d\t100\ts\t%d us\tw\t\t\th\tn\tl\nscore\t%d\t100\tdone\n' "$n" "$n" "$n" >record
EOS
}

watch() {
    : >out # `reaches` reads it before the watcher has begun
    "$BLUEBAR" watch "${1:-src/a.cu}" record -- bash run.sh >>out 2>&1 3>&- 4>&- &
    watcher=$!
}

# reaches N: waits until N runs are shown.
reaches() {
    local i
    for i in {1..400}; do
        [ "$(grep -c '^  watching ' out)" -lt "$1" ] || return 0
        sleep 0.02
    done
    cat out
    return 1
}

ends() {
    kill "-${1:-INT}" "$watcher"
    wait "$watcher"
}

teardown() { kill "$watcher" 2>/dev/null || true; }

@test "a save runs the command again: written, renamed as editors do, or through a link; the history has scores and times" {
    ln -s src/a.cu link.cu
    watch link.cu
    reaches 1
    echo two >src/a.cu
    reaches 2
    echo three >src/a.cu.new && mv src/a.cu.new src/a.cu
    reaches 3
    mv src/a.cu src/a.cu~ && echo crash >src/a.cu # as vim does
    reaches 4
    echo five >src/other.cu
    sleep 0.3
    [ "$(wc -l <runs)" = 4 ]
    ends INT
    cat out
    [ "$(grep -c '^output of run' out)" = 4 ]
    grep -Eq '^  run 1   [0-9:]{8}       1/100         1 us$' out
    grep -Eq '^  run 3   [0-9:]{8}       3/100     \+1  3 us$' out
    grep -Eq '^  run 4   [0-9:]{8}    no score         $' out
    [ "$(tail -n 1 out)" = "4 runs of link.cu." ]
}

@test "a save during a run starts it once more; many saves at once are one; the last eight runs are shown" {
    echo 'sleep 0.5' >>run.sh
    watch
    for i in {1..200}; do [ ! -e runs ] || break; sleep 0.02; done
    for i in {1..20}; do echo "$i" >src/a.cu; done
    reaches 2
    sleep 0.3
    ends TERM
    [ "$(wc -l <runs)" = 2 ]
    sed -i '$d' run.sh
    watch
    for i in {1..9}; do
        reaches "$i"
        echo "$i" >src/a.cu
    done
    reaches 10
    ends HUP
    [ "$(tac out | sed '/^$/q' | grep -c '^  run ')" -le 8 ]
    [ "$(sed -n '/^  run 10 /,$p' out | grep -c '^  run 1 ')" = 0 ]
}

@test "its end is the end of what the command has started" {
    local long=$((100000 + BASHPID)) # no other sleep's
    echo "setsid sleep $long & sleep $long" >run.sh
    watch
    for i in {1..200}; do [ "$(pgrep -fc "^sleep $long$")" -lt 2 ] || break; sleep 0.02; done
    [ "$(pgrep -fc "^sleep $long$")" = 2 ]
    ends INT
    [ "$(pgrep -fc "^sleep $long$")" = 0 ]
    [ ! -e record ]
}

@test "no folder, no command, no inotify watch: one message" {
    run "$BLUEBAR" watch nowhere/a.cu record -- true
    [ "$status" = 1 ]
    [ "$output" = "bluebar watch: the folder nowhere cannot be watched: No such file or directory" ]
    run "$BLUEBAR" watch src/a.cu record
    [ "$status" = 1 ]
    [ "$output" = "bluebar watch: FILE RECORD -- COMMAND..." ]
    watch
    reaches 1
    rm -r src
    run wait "$watcher"
    grep -q '^The folder of a.cu is gone.$' out
}

@test "make watch3 runs the lab and ends on Ctrl-C" {
    cd "$BLUEBAR_TOP" && house
    make -s watch3 >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- 4>&- &
    watcher=$!
    (cd "$BATS_TEST_TMPDIR" && for i in {1..100}; do ! reaches 1 >/dev/null || exit 0; done)
    pkill -INT -P "$watcher" -x bluebar
    wait "$watcher"
    grep -q '^  40/100   next: make hint3$' "$BATS_TEST_TMPDIR/out"
    grep -Eq '^  run 1   [0-9:]{8}      40/100         [0-9]\.[0-9]{2} ms$' "$BATS_TEST_TMPDIR/out"
    grep -q '^1 run of labs/lab3-transpose/transpose.cu.$' "$BATS_TEST_TMPDIR/out"
}

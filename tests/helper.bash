# shellcheck shell=bash
# Functions of all tests. Load it first: it goes to the project's top folder and forgets the caller's choices.
#
#   house              makes a copy of the project (with what is built) in $BATS_FILE_TMPDIR/house and goes there, so that
#                      a test may edit files; the copy is made once a file
#   path_without P...  prints a PATH with all of this machine's programs but those that match the patterns
#   grade FILE [SEED]  grades one submission of lab $lab_number (3, unless a test says otherwise); its record is then in $record, its output in $output, exit in $status
#   play WHO SEED      runs the starter or the reference of that lab, with no grade around it; its card is then in $output, its record in $record.
#                      In `make test` each such run is made once, whichever test asks first
#   rung FILE          runs one rung of that lab as `make labN SUBMISSION=FILE` of the texts does; its record is then in $record. In `make test`
#                      the run of docs.bats serves, where that has been made
#   runs_alike         that lab's solution is full, and gives byte-identical cards, records and reports on 1 and 3 host threads; in
#                      `make test` beside times that another run has left (--others)
#   bench              what the reference of that lab says to --bench, into $BATS_TEST_TMPDIR/bench; made once, too, for docs.bats as well
#   reference_says roofline   the same of another option, into a file of that name
#   as_declared        the rows that are not full are those of the lab's rows-failing-at-start.txt
#   row_is ROW STATUS  the record says so
#
# Seeds: 4000000000, beyond 31 bits, is the tests' own, and no cheat knows it; 2048 is that of the texts. For each one the starter and
# the reference are measured once in `make test`, so a new one costs a minute. `make repeat` and `make mistakes` take many.
#
# `run` of Bats leaks its own descriptors to what it starts; everything here is started with them closed.

cd "${BASH_SOURCE[0]%/*}/.." || exit 1
BLUEBAR_TOP=$PWD
export BLUEBAR_TOP DEVICE=sim CUDA_COMPILER=clang B=.build/sim
unset LAB SUBMISSION PROFILE SAN OUT MAKEFLAGS MAKELEVEL MFLAGS
export SEED=4000000000 # what other programs take is measured once; a test that wants fresh seeds unsets it
# Test files run side by side: each grades on a desk of its own (lib.sh).
DESK=${BATS_TEST_FILENAME##*/}
DESK=desk/${DESK%.bats}
export DESK
. common/make/lib.sh

house() {
    local house=$BATS_FILE_TMPDIR/house
    if [ ! -d "$house" ]; then
        mkdir -p "$house/.build"
        git ls-files -co --exclude-standard -z | tar --null -T - -cf - | tar -xf - -C "$house"
        cp "$(lab_starter 3)" "$house/$(lab_dir 3)/$(lab_file 3)"
        # Files made here by students and other tests are not copied; they may change meanwhile.
        tar --exclude='./sim/desk' --exclude='./sim/check' --exclude='./sim/mine' --exclude='./sim/sub-*' --exclude='./sim/tests' --exclude='./sim/fidelity' --exclude='./sim/play' --exclude='*.tsv' --exclude='*.pch' -C .build -cf - ./sim | tar -xf - -C "$house/.build"
    fi
    cd "$house" || return 1
    unset BLUEBAR_OTHERS # what a test changes there may change those numbers
}

path_without() {
    local dir p all=$BATS_FILE_TMPDIR/all-programs
    dir=$(mktemp -d "$BATS_TEST_TMPDIR/path.XXXXXX")
    if [ ! -d "$all" ]; then
        mkdir "$all"
        if [ ! /bin -ef /usr/bin ]; then ln -sf /bin/* "$all/"; fi
        ln -sf /usr/bin/* "$all/"
    fi
    cp -al "$all/." "$dir/" # hard links to links: a folder's entries, and no file is made
    for p in "$@"; do
        # shellcheck disable=SC2086 # a pattern
        rm -f "$dir"/$p
    done
    echo "$dir"
}

grade() {
    local name n=${lab_number:-3}
    export SEED=${2:-4000000000}
    status=0
    output=$(make -s check LAB="$n" SUBMISSION="$1" SEED="$SEED" 2>&1 3>&- 4>&-) || status=$?
    name=$(submission "$1")
    case $1 in starter) name=starter ;; solutions) name=reference ;; esac
    record=$B/$DESK/check/$name-lab$n.tsv
    echo "$output"
}

runs_alike() {
    local n=${lab_number:-3} dir=$BATS_TEST_TMPDIR t
    play reference "$SEED"
    [ "$(score "$record")" = "100 100" ]
    for t in 1 3; do
        SIMGPU_REPORT=$dir/report$t SIMGPU_THREADS=$t \
            apart "$B/reference/lab$n" --record "$dir/record$t" --seed "$SEED" ${BLUEBAR_OTHERS:+--others "$(others "$n" "$SEED")"} >"$dir/card$t"
        cmp "$dir/card$t" <(printf '%s\n' "$output") && cmp "$dir/record$t" "$record" || return 1
    done
    [ -s "$dir/report1" ] && cmp "$dir/report1" "$dir/report3"
}

rung() {
    local n=${lab_number:-3} made
    made=$B/$(submission "$1")/lab$n.tsv
    record=$BATS_TEST_TMPDIR/$(basename "$1").tsv
    if [ -n "${BLUEBAR_OTHERS:-}" ] && [ "$made" -nt "${BLUEBAR_OTHERS%/*}/began" ] && cp "$made" "$record" && score "$record" >/dev/null; then return; fi
    BLUEBAR_MINE=starter make -s "lab$n" SUBMISSION="$1" 3>&- 4>&- || return
    cp "$B/$DESK/${made#"$B"/}" "$record"
}

play() {
    local n=${lab_number:-3} kept
    record=$BATS_TEST_TMPDIR/$1-$2.tsv
    kept=$BATS_TEST_TMPDIR/played-$1-lab$n-$2
    # Both are given away when they are whole, the record last: files run side by side.
    [ -z "${BLUEBAR_OTHERS:-}" ] || kept=$BLUEBAR_OTHERS/${kept##*/}
    if [ ! -f "$kept.tsv" ]; then
        mkdir -p "${kept%/*}"
        apart "$B/$1/lab$n" --record "$kept.$$.tsv" --seed "$2" ${BLUEBAR_OTHERS:+--others "$(others "$n" "$2")"} >"$kept.$$.card" || return 1
        mv "$kept.$$.card" "$kept.card"
        mv "$kept.$$.tsv" "$kept.tsv"
    fi
    cp "$kept.tsv" "$record"
    output=$(cat "$kept.card")
}

reference_says() {
    local n=${lab_number:-3} kept
    kept=${BLUEBAR_OTHERS:-$BATS_TEST_TMPDIR}/lab$n--$1
    if [ ! -f "$kept" ]; then
        mkdir -p "${kept%/*}"
        apart "$B/reference/lab$n" "--$1" >"$kept.$$" || return 1
        mv "$kept.$$" "$kept"
    fi
    cp "$kept" "$BATS_TEST_TMPDIR/$1"
}
bench() { reference_says bench; }

as_declared() {
    diff <(grep -v '^#' "tests/lab${lab_number:-3}/rows-failing-at-start.txt" | sort) \
        <(awk -F '\t' '$1 == "row" && $3 != "pass" { print $2 }' "$record" | sort)
}

row_is() {
    local is
    is=$(field "$record" "$1" status)
    [ "$is" = "$2" ] || {
        echo "row $1 is '$is', should be '$2'"
        return 1
    }
}

# within PERCENT PROGRAM <<table of `name value`: the values that the program has printed lie that near to the table's.
within() {
    awk -v percent="$1" '
        NR == FNR { want[$1] = $2; n++; next }
        $1 in want && $2 ~ /^[0-9.]+$/ { n--; off = 100 * ($2 / want[$1] - 1); if (off > percent || off < -percent) { printf "%s: %s, should be %s (%+.1f %%)\n", $1, $2, want[$1], off; bad = 1 } }
        END { if (n) print n " values are missing"; exit bad || n }' - "$BATS_FILE_TMPDIR/$2"
}

#!/bin/bash
# docs.sh [--check]: writes what a run gives into README.md and handouts/*.md, between markers. With --check it changes
# nothing, prints what differs and exits 1: no figure of the sim lane in the text is typed by hand.
#
#   <!-- run: make lab3 -->           a block up to <!-- end -->: the command and its output
#   <!-- rows: 3 -->                  ... the lab's table of rows, as the harness has it
#   <!-- table: lab3-transpose -->    ... the table measured by `make bench` (handouts/measured/lab3-transpose.tsv)
#   <!-- bench: 3 -->                 ... the table of `make bench` in virtual time, made now
#   <!-- ladder: 3 2048 -->           ... both, of one size, with the gain over the starter
#   <!-- timeline: starter 5 train 2000 2575 -->   ... a picture, handouts/timelines/lab5-starter.svg: of a variant's run,
#                                     the stretch behind a mark, from and to so many microseconds
#   <!-- roofline: solutions -->      ... a picture, handouts/rooflines/lab0-reference.svg: lab 0's kernels, as a variant counts
#                                     them. gnuplot draws it, from the script beside it; only the script is compared, so
#                                     gnuplot is needed only when a run gives another one
#   <!-- row: starter 3 launches value -->2048<!-- end -->     inside a line: one cell of a variant's record
#                                     (<!-- row: PROFILE=a100-pcie starter 3 ... -->: of a run on another virtual card)
#
# Commands are make goals from a list, always in the sim lane, with the fixed seed, and on the starter in place of the
# reader's own file. Commands that need a second file say SUBMISSION=.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
. common/make/variant.sh

export DEVICE=sim CUDA_COMPILER=clang B=.build/sim SEED=2048 BLUEBAR_MINE=starter
unset LAB SUBMISSION DESK PROFILE SAN MAKEFLAGS MAKELEVEL MFLAGS MAKEOVERRIDES
tmp=.build/docs/tmp
rm -rf .build/docs
mkdir -p "$tmp"
export BLUEBAR_HINTS=$tmp/hints

# First build, then capture: what a build says is in no text.
for n in $(labs); do build "$B/starter/lab$n" "$B/reference/lab$n" || exit 1; done

# A command is run once, however many blocks and figures come from it. Prints the file with its output; beside it lies
# SimGPU's report of it.
said() {
    local kept
    kept=$tmp/$(printf %s "$1" | tr -c 'A-Za-z0-9.-' _)
    if [ ! -f "$kept" ]; then
        # shellcheck disable=SC2086 # the command is words
        SIMGPU_REPORT=$kept.report ${1/make/${MAKE:-make} -s} >"$kept" 2>/dev/null </dev/null
    fi
    echo "$kept"
}

# The command that runs this variant of a lab, and leaves its record beside the program.
goal_of() {
    case $1 in
    starter) echo "make lab$2" ;;
    solutions) echo "make solution$2" ;;
    *) echo "make lab$2 SUBMISSION=$1" ;;
    esac
}

# The fenced output of a command, with the command above it.
block_run() {
    local goal='^make( [A-Z]+=[A-Za-z0-9_./-]+)* (lab|lines|solution|diff|hint)[0-9]+( [A-Z]+=[A-Za-z0-9_./-]+)*$'
    local check='^make check( [A-Z]+=[A-Za-z0-9_./-]+)*$'
    [[ $1 =~ $goal || $1 =~ $check ]] || die "$file: <!-- run: $1 -->: only make's labN, linesN, hintN, diffN, solutionN and check can be run from a text"
    [ -s "$(said "$1")" ] || die "$file: '$1' printed nothing; run it by hand to see why"
    # shellcheck disable=SC2016 # these backticks are Markdown
    printf '```text\n$ %s\n%s\n```\n' "$1" "$(cat "$(said "$1")")"
}

block_rows() {
    build "$B/reference/lab$1" >/dev/null || exit 1
    apart "$B/reference/lab$1" --rows | awk -F '\t' '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; print "| row | what it asks | full marks | none | points |\n|---|---|---|---|---|"; next }
        { full = $at["full"]; zero = $at["zero"]; if (full == zero) { full = "yes"; zero = "no" }
          print "| " $at["label"] " | " $at["sentence"] " | " full " " $at["unit"] " | " zero " " $at["unit"] " | " $at["points"] " |" }'
}

# A table of `--bench` (n, kernel, us, GB/s, share) with a row a kernel and a column a size; its lines that begin with #
# are the caption, but for "# share of WHAT". Each line of names begins a table: where its first name is another than n,
# the first column holds words; where its second is not kernel, the cells show GB/s as well.
bench_table() {
    awk -F '\t' '
        function table(  line, rule, i, j) {
            line = "| " (corner ? corner : "kernel · share of " (share ? share : "the copy")) " |"; rule = "|---|"
            for (j = 1; j <= ns; j++) { line = line " " (key == "n" ? "n = " : "") sizes[j] " |"; rule = rule "---:|" }
            print (tables++ ? "\n" : "") line; print rule
            for (i = 1; i <= nk; i++) {
                line = "| " kernels[i] " |"
                for (j = 1; j <= ns; j++) line = line " " cell[kernels[i], sizes[j]] " |"
                print line
            }
            ns = nk = 0
            split("", known_n); split("", known_k)
        }
        /^# share of / { sub(/^# share of /, ""); share = $0; next }
        /^#/ { sub(/^# */, ""); caption = caption (caption ? "  \n" : "") $0; next }
        !header++ || $2 == "kernel" { if (nk) table(); key = $1; corner = $2 == "kernel" ? "" : $2 " · " $4 " · " $5; next }
        !($1 in known_n) { known_n[$1]; sizes[++ns] = $1 }
        !($2 in known_k) { known_k[$2]; kernels[++nk] = $2 }
        { cell[$2, $1] = $3 == "wrong" ? "wrong" : ($3 >= 1000 ? sprintf("%.2f ms", $3 / 1000) : sprintf("%.1f us", $3)) (corner ? " · " sprintf("%.1f", $4) : "") " · " $5 }
        END {
            if (nk) table()
            if (caption) print "\n" caption
        }'
}

# What --bench prints, as Markdown: what has five columns, the third of them us, has a row a program and size; any
# other table is shown as it is.
any_table() {
    local tsv
    tsv=$(cat)
    if awk -F '\t' '!/^#/ { exit !(NF == 5 && $3 == "us") }' <<<"$tsv"; then
        bench_table <<<"$tsv"
        return
    fi
    awk -F "\t" -v OFS=" | " '
        /^#/ { sub(/^# */, ""); caption = caption (caption ? "  \n" : "") $0; next }
        { $1 = $1; print "| " $0 " |" }
        !n++ { rule = "|---|"; for (i = 2; i <= NF; i++) rule = rule "---:|"; print rule }
        END { if (caption) print "\n" caption }' <<<"$tsv"
}

block_table() {
    [ -f "handouts/measured/$1.tsv" ] || die "$file: handouts/measured/$1.tsv is not there. On a machine with a GPU: make bench"
    any_table <"handouts/measured/$1.tsv"
}

# The same table, made now in the sim lane.
block_bench() {
    [ -f "$tmp/bench$1" ] || apart "$B/reference/lab$1" --bench >"$tmp/bench$1" || exit 1
    awk -F '\t' '$1 != "yours" && $2 != "yours"' "$tmp/bench$1" | any_table
}

# A lab's ladder on both lanes, "LAB [KEY]": of each program of one size (KEY is what stands in the first column, if
# there is a column of names after it) the time, how many times faster than the starter, and its share of the ceiling.
block_ladder() {
    local n key dir
    read -r n key <<<"$1"
    dir=$(lab_dir "$n") || exit 1
    [ -f "$tmp/bench$n" ] || apart "$B/reference/lab$n" --bench >"$tmp/bench$n" || exit 1
    awk -F '\t' -v key="$key" '
        function span(us) { return us >= 1000 ? sprintf("%.2f ms", us / 1000) : sprintf("%.1f us", us) }
        function cells(lane, name) {
            if (!((lane, name) in us)) return " – | – | – |"
            return " " span(us[lane, name]) " | " sprintf("%.*f", us[lane, "starter"] < 100 * us[lane, name] ? 1 : 0, us[lane, "starter"] / us[lane, name]) " | " sprintf("%.3f", share[lane, name]) " |"
        }
        FNR == 1 { lane++ }
        /^#/ { next }
        { for (i = 1; i <= NF; i++) if ($i == "us" || $i == "step us") { time = i; part = $(i + 1) == "GB/s" ? i + 2 : i + 1; names = time - 1; next } }
        (names == 1 || $1 == key) && $names != "yours" {
            if (!seen[$names]++) order[++n] = $names
            us[lane, $names] = $time; share[lane, $names] = $part
        }
        END {
            if (!n) exit 1
            print "| program | H200 | × | share | virtual | × | share |\n|---|---:|---:|---:|---:|---:|---:|"
            for (i = 1; i <= n; i++) print "| " order[i] " |" cells(1, order[i]) cells(2, order[i])
        }' "handouts/measured/${dir#labs/}.tsv" "$tmp/bench$n" || die "$file: <!-- ladder: $1 -->: no such rows in handouts/measured/${dir#labs/}.tsv"
}

# The timeline of a run as a picture beside the handout: VARIANT LAB MARK FROM TO.
block_timeline() {
    local who n mark from to name svg
    read -r who n mark from to <<<"$1"
    name=$(variant "$n" "$who") || exit 1
    svg=timelines/lab$n-$name.svg
    build "$B/timeline_svg" >/dev/null || exit 1
    mkdir -p .build/docs/handouts/timelines
    "$B/timeline_svg" "$(said "$(goal_of "$who" "$n")").report" "$mark" "$from" "$to" >".build/docs/handouts/$svg" || exit 1
    echo "![lab $n, $name: the host, the copies and the SMs over time]($svg)"
}

# Five kernels under the roof as a picture beside the handout: VARIANT. Another gnuplot draws the same script with other
# bytes, so the picture says in its last line which script it is of, and is drawn anew only for another one.
block_roofline() {
    local name script picture sum
    name=$(variant 0 "$1") || exit 1
    script=rooflines/lab0-$name.gp picture=rooflines/lab0-$name.svg
    build "$B/$name/lab0" >/dev/null || exit 1
    mkdir -p .build/docs/handouts/rooflines
    apart "$B/$name/lab0" --roofline >".build/docs/handouts/$script" 2>/dev/null || die "$file: <!-- roofline: $1 -->: lab 0 does not run"
    sum=$(cksum <".build/docs/handouts/$script")
    if [ "$(tail -n 1 "handouts/$picture" 2>/dev/null)" != "<!-- drawn from a script with cksum $sum -->" ]; then
        command -v gnuplot >/dev/null || die "handouts/$picture is not of the script that a run gives; to draw it anew: $(common/make/install-command.sh gnuplot-nox), then make docs"
        gnuplot ".build/docs/handouts/$script" >".build/docs/handouts/$picture" || exit 1
        echo "<!-- drawn from a script with cksum $sum -->" >>".build/docs/handouts/$picture"
    fi
    echo "![lab 0: five kernels under the roof of the machine]($picture)"
}

# One cell of a record: [PROFILE=CARD] VARIANT LAB ROW COLUMN.
cell() {
    local name card=
    case $1 in PROFILE=*) card=$1 && shift ;; esac
    name=$(variant "$2" "$1") || exit 1
    said "$(goal_of "$1" "$2")${card:+ $card}" >/dev/null
    field "$B/$name/lab$2${card:+.${card#*=}}.tsv" "$3" "$4"
}

# Prints the file with every block and cell made anew.
renew() {
    local line skipping='' before after args
    while IFS= read -r line || [ -n "$line" ]; do
        if [ -n "$skipping" ]; then
            if [ "$line" = '<!-- end -->' ]; then
                skipping=''
                echo "$line"
            fi
            continue
        fi
        if [[ $line =~ ^'<!-- '(run|rows|table|bench|ladder|timeline|roofline)': '(.*)' -->'$ ]]; then
            echo "$line"
            case ${BASH_REMATCH[1]} in
            run) block_run "${BASH_REMATCH[2]}" ;;
            rows) block_rows "${BASH_REMATCH[2]}" ;;
            table) block_table "${BASH_REMATCH[2]}" ;;
            bench) block_bench "${BASH_REMATCH[2]}" ;;
            ladder) block_ladder "${BASH_REMATCH[2]}" ;;
            timeline) block_timeline "${BASH_REMATCH[2]}" ;;
            roofline) block_roofline "${BASH_REMATCH[2]}" ;;
            esac
            skipping=$line
            continue
        fi
        after=$line before=''
        while [[ $after =~ ^([^\<]*('<'[^!][^\<]*)*)'<!-- row: '([^>]*)' -->'([^\<]*)'<!-- end -->'(.*)$ ]]; do
            args=${BASH_REMATCH[3]}
            before=$before${BASH_REMATCH[1]}"<!-- row: $args -->"
            after=${BASH_REMATCH[5]}
            # shellcheck disable=SC2086 # its words
            before="$before$(cell $args)<!-- end -->" || exit 1
        done
        printf '%s\n' "$before$after"
    done <"$1"
    [ -z "$skipping" ] || die "$1: '$skipping' has no <!-- end -->"
}

status=0
for file in README.md handouts/*.md; do
    [ -f "$file" ] || continue
    mkdir -p "$(dirname ".build/docs/$file")"
    renew "$file" >".build/docs/$file" || exit 1
done

# A text, or a picture that a text made.
for new in .build/docs/README.md .build/docs/handouts/*.md .build/docs/handouts/timelines/*.svg .build/docs/handouts/rooflines/*; do
    [ -f "$new" ] || continue
    file=${new#.build/docs/}
    if cmp -s "$file" "$new"; then continue; fi
    if [ "${1:-}" = --check ]; then
        echo "$file is not what a run gives (mend it with: make docs):"
        diff -uN --label "$file" --label 'a run now' "$file" "$new"
        status=1
    else
        mkdir -p "$(dirname "$file")"
        cp "$new" "$file"
        echo "docs: $file renewed"
    fi
done
exit $status

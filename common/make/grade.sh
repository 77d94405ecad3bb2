#!/bin/bash
# grade.sh: grades all submissions of a folder, several at once, each as `make check` would.
#
#   DIR=folder    each folder in it is a submission, with the labs whose files are there; so is each .cu file in it
#   LAB=3         this lab only, or these; needed for a .cu file whose name says nothing
#   SEED=n        one seed for all; without it a fresh one, the same for all that this call grades
#   AGAIN=1       also what has a result already. Else a submission is graded again only if its file is another
#   OUT=folder    where the results go (DIR-grades)
#   JOBS=n        so many at once (all cores; one in the gpu lane, where they would disturb each other's times)
#
# In OUT: scores.csv, a line for each submission and lab; NAME-lab3.txt, all that was said; results/, from which
# scores.csv is made and by which an interrupted call goes on. A submission that cannot be graded stops no other.
set -u
cd "$(dirname "$0")/../.." || exit 1
. common/make/lib.sh
. common/make/variant.sh
need bats timeout flock
need_compilers

[ -n "${DIR:-}" ] || die "make grade DIR=submissions: which folder? Each folder or .cu file in it is a submission."
dir=${DIR%/}
[ -d "$dir" ] || die "DIR=$DIR: there is no such folder."
out=${OUT:-$dir-grades}
jobs=${JOBS:-$(nproc)}
if [ "$DEVICE" = gpu ]; then jobs=${JOBS:-1}; fi
seed=${SEED:-$(od -An -N8 -tu8 /dev/urandom | tr -d ' ')}
commit=$(commit)
desk=grade-$$ # what is made from submissions: below $B, and removed
read -ra asked <<<"${LAB:-$(labs | xargs)}"
for n in "${asked[@]}"; do lab_dir "$n" >/dev/null || exit 1; done
mkdir -p "$out/results" || exit 1
exec {lock}>"$out/results/.lock"
flock -n "$lock" || die "Another make grade is writing to $out."
trap 'rm -rf "${B:?}/$desk"' EXIT
trap 'exit 130' INT TERM
for n in "${asked[@]}"; do build "$B/reference/lab$n" || exit 1; done

# All that is to be graded: name, lab, file, each ended by a zero byte.
submissions() {
    local path name n file some
    for path in "$dir"/*; do
        name=${path##*/}
        some=
        case $name in *$'\t'* | *$'\n'*) echo "$name: a name with such characters is not graded" >&2 && continue ;; esac
        if [ -d "$path" ]; then
            for n in "${asked[@]}"; do
                file=$(submitted "$n" "$path") && some=1 && printf '%s\0' "$name" "$n" "$file"
            done
        elif [ -f "$path" ] && [[ $name == *.cu ]]; then
            for n in "${asked[@]}"; do
                if [ ${#asked[@]} = 1 ] || [ "$name" = "$(lab_file "$n")" ]; then
                    some=1
                    if [ -d "${path%.cu}" ]; then printf '%s\0' "$name"; else printf '%s\0' "${name%.cu}"; fi
                    printf '%s\0' "$n" "$path"
                fi
            done
        else
            continue
        fi
        if [ -z "$some" ] && [ -d "$path" ]; then echo "$name: no file of lab ${asked[*]} in it" >&2; fi
        if [ -z "$some" ] && [ -f "$path" ]; then echo "$name: a file of which lab? To grade it, say LAB=3" >&2; fi
    done
}

# Grades one: NAME LAB FILE. Its result is one line, its fields apart by tabs; the last has the points of the rows.
one() {
    local name=$1 n=$2 file=$3 result text points note='' at
    result=$out/results/$name-lab$n.tsv
    text=$out/$name-lab$n.txt
    at=$desk/$BASHPID
    if [ -z "${AGAIN:-}" ] && [ "$(cut -f 1 "$result" 2>/dev/null)" = "$(cksum <"$file")" ]; then
        echo "$name-lab$n" >>"$B/$desk/had"
        return
    fi
    rm -f "$result"
    # A link in somebody's archive may lead to a file of the grader's.
    if [ "$(realpath "$file")" != "$(realpath "$dir")/${file#"$dir"/}" ]; then
        echo "$name: $file is a link, and links are not graded" | tee "$text"
        return
    fi
    LAB=$n SUBMISSION=$file SEED=$seed DESK=$at SIMGPU_THREADS=1 MAKEFLAGS=-j1 common/make/check.sh >"$text" 2>&1 </dev/null
    points=$(sed -n '$s/^Score: //p' "$text")
    if [ -z "$points" ]; then
        echo "$name, lab $n: not graded: $(tail -n 1 "$text")"
    else
        note=$(sed -n 's/^# no result: //p' "$text" | head -n 1)
        case $note in "it was refused"*) note="refused: $(sed -n 's/^gate: //p' "$text" | head -n 1)" ;; *) note=${note%, see above} ;; esac
        printf '%s\t' "$(cksum <"$file")" "$name" "$n" "${points%/*}" "${points#*/}" "$seed" "$commit" "$(tr '\t' ' ' <<<"$note")" >"$result.new"
        if score "$B/$at/check"/*"-lab$n.tsv" >/dev/null; then
            awk -F '\t' '$1 == "row" { printf "%s=%s ", $2, $3 == "na" ? "" : $4 }' "$B/$at/check"/*"-lab$n.tsv"
        else
            apart "$B/reference/lab$n" --rows | awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { printf "%s=0 ", $at["id"] }'
        fi >>"$result.new"
        echo >>"$result.new"
        mv "$result.new" "$result"
        printf '%-24s lab %s %9s  %.90s\n' "$name" "$n" "$points" "$note"
    fi
    rm -rf "${B:?}/$at"
}

# scores.csv of the results: a column for each row of any lab that is there. A field may hold commas and quotes.
scores() {
    LC_ALL=C awk -F '\t' '
        function quoted(s) { if (s ~ /[",]/) { gsub(/"/, "\"\"", s); s = "\"" s "\"" } return s }
        {
            line[++lines] = quoted($2)
            for (i = 3; i <= 8; i++) line[lines] = line[lines] "," quoted($i)
            n = split($9, rows, " ")
            for (i = 1; i <= n; i++) {
                split(rows[i], cell, "=")
                if (!(cell[1] in known)) known[cell[1]] = 1 && id[++ids] = cell[1]
                of[lines, cell[1]] = cell[2]
            }
        }
        END {
            printf "name,lab,points,of,seed,commit,note"
            for (i = 1; i <= ids; i++) printf ",%s", id[i]
            print ""
            for (l = 1; l <= lines; l++) {
                printf "%s", line[l]
                for (i = 1; i <= ids; i++) printf ",%s", of[l, id[i]]
                print ""
            }
        }' "$out"/results/*.tsv >"$out/scores.csv"
}

mkdir -p "$B/$desk"
: >"$B/$desk/had"
submissions >"$B/$desk/list"
export -f one apart score die
export dir out seed commit desk B
# shellcheck disable=SC2016 # the inner shell is to expand it
xargs -0 -r -n 3 -P "$jobs" bash -c 'one "$@"' grade.sh <"$B/$desk/list"

all=$(tr -cd '\0' <"$B/$desk/list" | wc -c)
had=$(wc -l <"$B/$desk/had")
have=0 full=0
while IFS= read -r -d '' name && IFS= read -r -d '' n && IFS= read -r -d '' _; do
    result=$out/results/$name-lab$n.tsv
    [ -f "$result" ] || continue
    have=$((have + 1))
    [ "$(cut -f 4 "$result")" != "$(cut -f 5 "$result")" ] || full=$((full + 1))
done <"$B/$desk/list"
[ "$have" = 0 ] || scores
echo "$((have - had)) graded, $had had a result already$([ "$had" = 0 ] || echo ' (AGAIN=1 grades them anew)'), $((all / 3 - have)) could not be graded; $full of $have are full: $out/scores.csv"
[ "$have" = $((all / 3)) ] && [ "$have" != 0 ]

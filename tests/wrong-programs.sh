#!/bin/bash
# wrong-programs.sh LAB: prints a Bats file with one test for each program in this lab's wrong/, cheat/ and right/.
#
# What is one mistake away from the solution is a patch (`whole` in common/make/lib.sh). Such a program opens with what the grader
# must say of it:
#     // expect: ROW: REGEX     that row is not full, and its value, place or reason matches the extended regex
#     // expect: gate: REGEX    the gate refuses it with such a message, and it is never run
#     // expect: run: REGEX     it ends without a score, and what is said matches
#     // expect: full           it is right, in an unusual way, and every row is full
# In every case but the last the grade is not full. (A wrong program that passes is a hole in the grader.)
# A few, each of which is caught in another way, are part of `make test-quick`. Of the others `make test` takes each second file of
# cheat/ and each 24th of wrong/ and right/, since all would take half an hour; PROGRAMS=all prints all, as do `make mistakes`
# and `make test-everywhere`.
set -eu
cd "$(dirname "$0")/.."

quick='lab3/wrong/missing_sync lab3/wrong/odd_column lab3/wrong/view_strides_only lab3/cheat/forges_the_record_at_exit lab3/cheat/includes_reference'

echo "# Made by tests/wrong-programs.sh."
echo "load '$PWD/tests/helper'"
echo "load '$PWD/tests/expect'"
number=0
for f in tests/lab"$1"/{wrong,cheat,right}/*.{cu,patch}; do
    [ -f "$f" ] || continue
    name=${f#tests/}
    number=$((number + 1))
    case " $quick " in
    *" ${name%.*} "*) echo '# bats test_tags=quick' ;;
    *) case ${PROGRAMS:-}/$name in all/*) ;; */cheat/*) [ $((number % 2)) = 0 ] || continue ;; *) [ $((number % 24)) = 0 ] || continue ;; esac ;;
    esac
    printf '@test "%s" { expected %s; }\n' "$name" "$f"
done

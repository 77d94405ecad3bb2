#!/bin/bash
# list.sh: the labs, how far each is, and the commands.
#
# State: untouched (the file is the starter), done (its last run had every row full), else in progress.
# The score is the last run's, and is shown only while the file is still the one that ran.
set -eu
cd "$(dirname "$0")/../.."
. common/make/lib.sh

echo "Bluebar: making GPUs actually fast, one lab at a time.      lane: $DEVICE$([ "$DEVICE" = sim ] && echo " (the software GPU${PROFILE:+ as $PROFILE})")"
echo
for n in $(labs); do
    dir=$(lab_dir "$n")
    mine=$dir/$(lab_file "$n")
    record=$B/mine/lab$n.tsv
    state='in progress' points=
    if [ -f "$record" ] && [ ! "$mine" -nt "$record" ]; then points=$(score "$record" || true); fi
    if cmp -s "$(lab_starter "$n")" "$mine"; then state=untouched; fi
    if [ -n "$points" ] && [ "${points% *}" = "${points#* }" ]; then state='done'; fi
    printf '  lab %-3s %-48s %-12s %s\n' "$n" "$(lab_title "$n")" "$state" "${points:+${points/ //}}"
done
cat <<'TEXT'

  make setup      install what the labs and the tests need
  make lab3       build and run lab 3, print its score card
  make lines3     your source with counters beside each line
  make hint3      the next hint for the row that is furthest off
  make diff3      the starter against your file
  make reset3     back to the starter (keeps a backup)
  make solution3  run the reference solution on this machine
  make roofline0  draw lab 0's kernels under the machine's roof (needs gnuplot)
  make check      grade every lab; LAB=3 one, SUBMISSION=dir another tree
  make grade      grade a folder of submissions: DIR=folder
  make test       the project proves itself
  make doctor     what is installed, what is missing, and the mend
  make bench      measure lab 3's ladder on a real GPU; bench-sim: the software GPU's own speed; bench-clock: its clock
  make lint docs clean

  DEVICE=sim or DEVICE=gpu before any of them chooses the lane.
TEXT

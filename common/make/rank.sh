#!/bin/bash
# rank.sh: the reader's own way through a lab (make rank, make rank LAB=3): points and time of each version that was run.
#
# `make lab11` adds a line to .build/history/LANE/lab11.tsv for each version of the file (lab.sh): checksum, day, points, of how
# many, microseconds (- if the lab has no such figure). Shown as text; where gnuplot is, also as .build/history/LANE/lab11.svg.
# A class's standing is another thing: make grade.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
. common/make/lib.sh

n=${LAB:-11}
lab_dir "$n" >/dev/null
history=.build/history/$DEVICE/lab$n.tsv
[ -s "$history" ] || die "lab $n has no history yet: each version that make lab$n runs adds to it."

# A bar as long as the time, on a logarithmic scale: from one cell for the fastest version to 40 for the slowest.
awk -F '\t' -v n="$n" '
    function say(us) { return us == "-" ? "" : us < 1000 ? sprintf("%.1f us", us) : us < 1e6 ? sprintf("%.2f ms", us / 1e3) : sprintf("%.2f s", us / 1e6) }
    { day[NR] = $2; points[NR] = $3; of[NR] = $4; us[NR] = $5; timed = $5 != "-" && $5 > 0 }
    timed && (!least || $5 < least) { least = $5 }
    timed && $5 > most { most = $5 }
    # A wrong program may be the fastest: points come first.
    timed && (!best || $3 > points[best] || $3 == points[best] && $5 < us[best]) { best = NR }
    END {
        printf "lab %s, %d version%s", n, NR, NR == 1 ? "" : "s"
        if (best) printf "; the best: version %d, %s/%s, %s", best, points[best], of[best], say(us[best])
        if (best && most > us[best]) printf ", %.0f times as fast as the slowest", most / us[best]
        print (most > least ? " (bars: logarithmic)" : "")
        for (i = 1; i <= NR; i++) {
            cells = us[i] == "-" || us[i] <= 0 ? 0 : most > least ? 1 + int(39 * log(us[i] / least) / log(most / least) + 0.5) : 1
            bar = ""
            for (c = 0; c < cells; c++) bar = bar "▇"
            printf "%4d  %s  %5s/%s  %9s  %s\n", i, day[i], points[i], of[i], say(us[i]), bar
        }
    }' "$history"

versions=$(wc -l <"$history")
if [ "$versions" -lt 2 ] || ! command -v gnuplot >/dev/null; then exit 0; fi
cut -f 5 "$history" | grep -qvx -e - || { echo "not drawn: no version has a time yet"; exit 0; }
picture=${history%.tsv}.svg
awk -F '\t' -v OFS='\t' '{ print NR, $3, $5 == "-" ? "?" : $5 }' "$history" >"$history.plot"
gnuplot >"$picture" <<EOF || { rm -f "$history.plot" "$picture"; echo "not drawn: see above"; exit 0; }
set terminal svg size 720,420 font "sans,13"
set title "lab $n: my versions"
set xlabel "version"
set ylabel "points"
set yrange [0:105]
set ytics nomirror
set y2label "microseconds"
set logscale y2
set y2tics
set xrange [0.5:$versions.5]
set key bottom left
set datafile missing "?"
plot "$history.plot" using 1:2 with linespoints pt 7 title "points", \
     "$history.plot" using 1:3 axes x1y2 with linespoints pt 5 title "time"
EOF
rm -f "$history.plot"
echo "drawn: $picture (a browser shows it)"

# scatter.gp — each kernel's and scenario's virtual time beside the card's, from score.awk's table; SVG on stdout.
#
#   gnuplot -e "table='FILE'; card='H200'" scatter.gp
set terminal svg size 900,700 font 'sans-serif,14' background rgb '#ffffff' noenhanced
set datafile separator tab
set title sprintf('Kernels and host scenarios: SimGPU beside an %s', card)
set xlabel sprintf('on the %s, us', card)
set ylabel 'virtual, us'
set logscale xy
set xrange [2:40000]
set yrange [2:40000]
set key left top reverse Left
set grid
part(set, half) = sprintf("< awk -F '\t' '$1 == \"%s\" && $2 == \"%s\"' %s", set, half, table)
plot x title 'as on the card' with lines lc rgb '#444444', \
     1.25 * x title '25 % more, 25 % less' with lines dt 2 lc rgb '#999999', \
     0.75 * x notitle with lines dt 2 lc rgb '#999999', \
     part('kernels', 'tuning') using 4:5 title 'kernels, half for tuning' with points pt 6 ps 0.6 lc rgb '#1f77b4', \
     part('kernels', 'report') using 4:5 title 'kernels, half for the report' with points pt 7 ps 0.6 lc rgb '#1f77b4', \
     part('host', 'tuning') using 4:5 title 'host scenarios, half for tuning' with points pt 4 ps 0.6 lc rgb '#d62728', \
     part('host', 'report') using 4:5 title 'host scenarios, half for the report' with points pt 5 ps 0.6 lc rgb '#d62728'

# The roofline of lab 0. To draw it: gnuplot THIS >FILE.svg
set terminal svg size 900,600 font 'sans-serif,14' background rgb '#ffffff' noenhanced
set encoding utf8
set logscale xy
set lmargin at screen 0.125; set rmargin at screen 0.975; set bmargin at screen 0.14; set tmargin at screen 0.9
set border 3 lc rgb '#55555c'; set key off; set tics nomirror out tc rgb '#33333a'; set mxtics 10
set grid xtics ytics lc rgb '#e4e4ea' lw 1 dt solid
set xtics ('0.1' 0.1, '1' 1, '10' 10, '100' 100, '1000' 1000)
set ytics ('100 kflop/s' 1e-4, '' 1e-3, '10 Mflop/s' 1e-2, '' 1e-1, '1 Gflop/s' 1, '' 10, '100 Gflop/s' 100, '' 1e3, '10 Tflop/s' 1e4, '' 1e5)
set xlabel 'operations for each byte of device memory' tc rgb '#33333a'
set xrange [0.05:3000]; set yrange [3e-05:300000]
set title 'Five kernels under the roof of a virtual H200 (virtual time)' tc rgb '#111116'
slope = atan2(600 * 0.76 / log10(1e+10), 900 * 0.85 / log10(60000)) * 180 / pi
set label 1 'device memory: 3908 GB/s' at 0.4,6252.5 rotate by slope center tc rgb '#33333a'
set label 2 'fp32 arithmetic: 64.9 Tflop/s' at 2700,123256 right tc rgb '#33333a'
set label 3 'the ridge: 16.6 operations a byte' at 18.5926,6.6e-05 left tc rgb '#33333a'
set arrow 1 from 16.6005,3e-05 to 16.6005,64871.8 nohead dt (6,5) lc rgb '#9a9aa3'
$roof << END
0.05 195.391
16.6005 64871.8
3000 64871.8
END
# operations a byte, Gflop/s, the roof above, the time in us, where the label goes, the name
$spots << END
0.1667 612.9 651.3 109.49 0.67 "SAXPY, 2^25 floats"
0.08333 0.0001167 325.7 8.57 1 "one addition"
10.67 41.41 4.168e+04 12.66 1 "matmul 64"
85.33 4882 6.487e+04 54.99 0.67 "matmul 512, simple"
85.33 6922 6.487e+04 38.78 1.5 "matmul 512, in tiles"
END
left(x) = x > 0.830027 && x < 16.6005
text(name, us) = sprintf('%s: %.1f us', name, us)
plot $spots using 1:2:(0):($3-$2) with vectors nohead dt (2,4) lw 1.5 lc rgb '#9a9aa3', \
     $roof with lines lw 3 lc rgb '#33333a', \
     $roof every ::1::1 with points pt 7 ps 0.7 lc rgb '#33333a', \
     $spots using 1:2 with points pt 7 ps 0.9 lc rgb '#2a62c9', \
     $spots using (left($1)?NaN:$1*1.15):($2*$5):(text(stringcolumn(6),$4)) with labels left tc rgb '#1d478f', \
     $spots using (left($1)?$1/1.15:NaN):($2*$5):(text(stringcolumn(6),$4)) with labels right tc rgb '#1d478f'

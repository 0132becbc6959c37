# gnuplot 5.4 or later, in this folder: gnuplot events.gp
if (!exists('out')) out = 'events-gnuplot.svg'
data = 'events.dat'
set encoding utf8
set terminal svg size 504,158 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.36507936507936506, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.36507936507936506
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.8987341772151899
set bmargin at screen 0.3417721518987342
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
unset logscale y
set format y '%g'
set yrange [0:1]
set ytics ('captured (188)' 0.875, 'impact (34)' 0.625, 'separation (9)' 0.375, 'zeno (6)' 0.125) scale 0 noenhanced
set border 1
plot NaN notitle, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 0.7 notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 0.7 notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 0.7 notitle, \
     data index 3 using ($1/ux):($2/uy) with lines lc rgb '#CC79A7' lw 0.7 notitle
unset label

unset multiplot
set output

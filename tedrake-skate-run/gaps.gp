# gnuplot 5.4 or later, in this folder: gnuplot gaps.gp
if (!exists('out')) out = 'gaps-gnuplot.svg'
data = 'gaps.dat'
set encoding utf8
set terminal svg size 504,428 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.1362374603174603, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.1362374603174603
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.9252336448598131
set bmargin at screen 0.5046728971962617
ux = 1
uy = 0.001
set xrange [0:2]
set xlabel ''
set format x ''
set label 'gap [mm]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [-2.5:12.499999999999998]
plot NaN notitle, \
     keyentry with lines lc rgb '#0072B2' lw 1.6 title 'ice–sleigh.left' noenhanced, \
     keyentry with lines lc rgb '#D55E00' lw 1.25 title 'ice–sleigh.right' noenhanced, \
     keyentry with lines lc rgb '#009E73' lw 0.9000000000000001 title 'sleigh.blade–ice' noenhanced, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.6 notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 1.25 notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 0.9000000000000001 notitle
unset label

set lmargin at screen 0.1362374603174603
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.4532710280373832
set bmargin at screen 0.12616822429906538
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label 'penetration [m]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
set logscale y
set format y '10^{%L}'
set yrange [1e-17:1e-13]
plot NaN notitle, \
     data index 3 using ($1/ux):($2/uy) with lines lc rgb '#000000' lw 1 notitle
unset label

unset multiplot
set output

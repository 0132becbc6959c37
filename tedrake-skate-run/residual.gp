# gnuplot 5.4 or later, in this folder: gnuplot residual.gp
if (!exists('out')) out = 'residual-gnuplot.svg'
data = 'residual.dat'
set encoding utf8
set terminal svg size 504,528 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
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
set tmargin at screen 0.9015151515151515
set bmargin at screen 0.5606060606060606
ux = 1
uy = 1
set xrange [0:2]
set xlabel ''
set format x ''
set label 'residual [m/s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
set logscale y
set format y '10^{%L}'
set yrange [1e-18:1e-09]
plot NaN notitle, \
     keyentry with lines lc rgb '#0072B2' lw 1.2 title 'gap', \
     keyentry with lines lc rgb '#D55E00' lw 1.2 title 'complementarity', \
     keyentry with lines lc rgb '#E69F00' lw 1.2 title 'momentum', \
     keyentry with lines lc rgb '#000000' lw 1.2 title 'residual', \
     keyentry with lines lc rgb '#222222' lw 0.7 dt (9,6) title 'limit', \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#000000' lw 1 notitle
unset label

set lmargin at screen 0.1362374603174603
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.5189393939393939
set bmargin at screen 0.10227272727272729
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label 'value / limit' at screen 0.023809523809523808, graph 0.5 center rotate by 90
set logscale y
set format y '10^{%L}'
set yrange [1e-16:1]
plot NaN notitle, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#222222' lw 0.7 dt (9,6) notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 0.7 notitle, \
     data index 3 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 0.7 notitle, \
     data index 4 using ($1/ux):($2/uy) with lines lc rgb '#E69F00' lw 0.7 notitle, \
     data index 5 using ($1/ux):($2/uy) with lines lc rgb '#000000' lw 0.9 notitle
unset label

unset multiplot
set output

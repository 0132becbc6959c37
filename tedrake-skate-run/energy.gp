# gnuplot 5.4 or later, in this folder: gnuplot energy.gp
if (!exists('out')) out = 'energy-gnuplot.svg'
data = 'energy.dat'
set encoding utf8
set terminal svg size 504,366 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.08687301587301587, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.08687301587301587
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.8579234972677596
set bmargin at screen 0.14754098360655743
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label 'energy [J]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [-0.5:4.5]
plot NaN notitle, \
     keyentry with lines lc rgb '#0072B2' lw 1.2 title 'kinetic', \
     keyentry with lines lc rgb '#009E73' lw 1.2 title 'potential', \
     keyentry with lines lc rgb '#000000' lw 1.2 title 'kinetic + potential', \
     keyentry with lines lc rgb '#E69F00' lw 1.2 dt (15,4.5) title 'work done', \
     keyentry with lines lc rgb '#D55E00' lw 1.2 dt (6,4.5) title 'dissipated', \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.2 notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 1.2 notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#000000' lw 1.2 notitle, \
     data index 3 using ($1/ux):($2/uy) with lines lc rgb '#E69F00' lw 1.2 dt (15,4.5) notitle, \
     data index 4 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 1.2 dt (6,4.5) notitle
unset label

unset multiplot
set output

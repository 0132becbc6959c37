# gnuplot 5.4 or later, in this folder: gnuplot forces.gp
if (!exists('out')) out = 'forces-gnuplot.svg'
data = 'forces.dat'
set encoding utf8
set terminal svg size 504,468 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.10231746031746031, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.10231746031746031
set rmargin at screen 0.8976825396825397
set tmargin at screen 0.9316239316239316
set bmargin at screen 0.5470085470085471
ux = 1
uy = 0.001
set xrange [0:2]
set xlabel ''
set format x ''
set label '{/:Italic p}_{n} [mN s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [0:22.500000000000004]
set label '{/:Italic p}_{n} / {/:Italic h} [N]' at screen 0.98, graph 0.5 center rotate by 90
set y2range [0:22.500000000000004]
set y2tics nomirror
set border 11
plot NaN notitle, \
     keyentry with lines lc rgb '#0072B2' lw 1.6 title 'ice–sleigh.left' noenhanced, \
     keyentry with lines lc rgb '#D55E00' lw 1.25 title 'ice–sleigh.right' noenhanced, \
     keyentry with lines lc rgb '#009E73' lw 0.9000000000000001 title 'sleigh.blade–ice' noenhanced, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.6 notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 1.25 notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 0.9000000000000001 notitle
unset label

set lmargin at screen 0.10231746031746031
set rmargin at screen 0.8976825396825397
set tmargin at screen 0.5
set bmargin at screen 0.11538461538461542
ux = 1
uy = 0.001
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label '{/:Italic p}_{f} [mN s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [0:8]
set label '{/:Italic p}_{f} / {/:Italic h} [N]' at screen 0.98, graph 0.5 center rotate by 90
set y2range [0:8]
set y2tics nomirror
set border 11
plot NaN notitle, \
     data index 3 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.6 notitle, \
     data index 4 using ($1/ux):($2/uy) with lines lc rgb '#D55E00' lw 1.25 notitle, \
     data index 5 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 0.9000000000000001 notitle
unset label

unset multiplot
set output

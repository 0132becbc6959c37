# gnuplot 5.4 or later, in this folder: gnuplot velocities.gp
if (!exists('out')) out = 'velocities-gnuplot.svg'
data = 'velocities.dat'
set encoding utf8
set terminal svg size 504,562 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.11003968253968253, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.11003968253968253
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.9430604982206405
set bmargin at screen 0.6868327402135231
ux = 1
uy = 1
set xrange [0:2]
set xlabel ''
set format x ''
set label '|{/:Italic v}| [m/s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [1.1500000000000001:1.45]
plot NaN notitle, \
     keyentry with lines lc rgb '#0072B2' lw 1.1 title 'sleigh' noenhanced, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.1 notitle
unset label

set lmargin at screen 0.11003968253968253
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.6476868327402135
set bmargin at screen 0.39145907473309605
ux = 1
uy = 1
set xrange [0:2]
set xlabel ''
set format x ''
set label '{/:Italic v}_{z} [m/s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [-0.25:1.5]
plot NaN notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.1 notitle
unset label

set lmargin at screen 0.11003968253968253
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.35231316725978645
set bmargin at screen 0.09608540925266906
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label '|{/:Italic ω}| [rad/s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [0:3.5]
plot NaN notitle, \
     data index 2 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1.1 notitle
unset label

unset multiplot
set output

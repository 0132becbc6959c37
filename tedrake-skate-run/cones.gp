# gnuplot 5.4 or later, in this folder: gnuplot cones.gp
if (!exists('out')) out = 'cones-gnuplot.svg'
data = 'cones.dat'
set encoding utf8
set terminal svg size 504,552 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
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
set tmargin at screen 0.9057971014492754
set bmargin at screen 0.47101449275362317
ux = 0.001
uy = 0.001
set xrange [0:20.600995033151886]
set format x '%g'
set xlabel '{/:Italic p}_{n} [mN s]'
set label '{/:Italic p}_{f} [mN s]' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [0:25]
set label '{/:Italic μ} = 10' at 0.002125 / ux, 0.02125 / uy right offset -0.5,0.4
plot NaN notitle, \
     keyentry with points pt 7 ps 0.5 lc rgb '#0072B2' title 'stick', \
     keyentry with points pt 7 ps 0.5 lc rgb '#E69F00' title 'slip', \
     keyentry with lines lc rgb '#0072B2' lw 1.6 title 'ice–sleigh.left' noenhanced, \
     keyentry with lines lc rgb '#D55E00' lw 1.25 title 'ice–sleigh.right' noenhanced, \
     keyentry with lines lc rgb '#009E73' lw 0.9000000000000001 title 'sleigh.blade–ice' noenhanced, \
     data index 0 using ($1/ux):($2/uy) with filledcurves closed fs transparent solid 0.18 noborder fc rgb '#9a9a9a' notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#222222' lw 0.6 dt (9,6) notitle, \
     data index 2 using ($1/ux):($2/uy) with points pt 7 ps 0.25 lc rgb '#0072B2' notitle, \
     data index 3 using ($1/ux):($2/uy) with points pt 7 ps 0.25 lc rgb '#E69F00' notitle
unset label

set lmargin at screen 0.11003968253968253
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.35144927536231885
set bmargin at screen 0.09782608695652173
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
set label '{/:Italic p}_{f} / {/:Italic μ p}_{n}' at screen 0.023809523809523808, graph 0.5 center rotate by 90
unset logscale y
set format y '%g'
set yrange [0:1.25]
plot NaN notitle, \
     data index 4 using ($1/ux):($2/uy) with lines lc rgb '#222222' lw 0.6 dt (9,6) notitle, \
     data index 5 using ($1/ux):($2/uy) with lines lc rgb '#009E73' lw 0.9000000000000001 notitle
unset label

unset multiplot
set output

# gnuplot 5.4 or later, in this folder: gnuplot paths.gp
if (!exists('out')) out = 'paths-gnuplot.svg'
data = 'paths.dat'
set encoding utf8
set terminal svg size 1020,856 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.00784313725490196, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot layout 1,2

set size ratio -1
ux = 1
uy = 1
set xrange [-1.9573592077185233:2.966483520909844]
set format x '%g'
set xlabel '{/:Italic x} [m]'
set ylabel '{/:Italic y} [m]'
unset logscale y
set format y '%g'
set yrange [-0.35341885425711556:3.021795919399426]
plot NaN notitle, \
     keyentry with boxes fs transparent solid 0.3 noborder fc rgb '#0072B2' title 'sleigh' noenhanced, \
     data index 0 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1 notitle
unset label

set size ratio -1
ux = 1
uy = 1
set xrange [-0.38045621665956614:1.3895805298508868]
set format x '%g'
set xlabel '{/:Italic x} [m]'
set ylabel '{/:Italic z} [m]'
unset logscale y
set format y '%g'
set yrange [-0.08045621665959722:0.23045621665957738]
plot NaN notitle, \
     data index 1 using ($1/ux):($2/uy) with lines lc rgb '#0072B2' lw 1 notitle
unset label

unset multiplot
set output

# gnuplot 5.4 or later, in this folder: gnuplot modes.gp
if (!exists('out')) out = 'modes-gnuplot.svg'
data = 'modes.dat'
set encoding utf8
set terminal svg size 504,152 enhanced background rgb 'white' font 'Helvetica,14' linewidth 1.6
set output out
set border 3
set tics nomirror out scale 0.6 font ',12'
set grid ytics lc rgb '#e3e3e3' lt 1 lw 0.4
set key at screen 0.23962698412698413, screen 0.995 left top horizontal samplen 1.2 width -3 Left reverse font ',12'
set clip two
set xlabel offset 0,1
set xtics offset 0,0.4
set multiplot

set lmargin at screen 0.23962698412698413
set rmargin at screen 0.9682539682539683
set tmargin at screen 0.7894736842105263
set bmargin at screen 0.35526315789473684
ux = 1
uy = 1
set xrange [0:2]
set format x '%g'
set xlabel '{/:Italic t} [s]'
unset logscale y
set format y '%g'
set yrange [0:1]
set ytics ('ice–sleigh.left' 0.8333333333333334, 'ice–sleigh.right' 0.5, 'sleigh.blade–ice' 0.16666666666666663) scale 0 noenhanced
set border 1
plot NaN notitle, \
     keyentry with boxes fs transparent solid 1 noborder fc rgb '#0072B2' title 'stick', \
     keyentry with boxes fs transparent solid 1 noborder fc rgb '#E69F00' title 'slip', \
     keyentry with boxes fs transparent solid 1 noborder fc rgb '#bdbdbd' title 'open', \
     data index 0 using ($1/ux):($2/uy):($3/ux):($4/ux):($5/uy):($6/uy) with boxxyerror fs transparent solid 1 noborder fc rgb '#0072B2' notitle, \
     data index 1 using ($1/ux):($2/uy):($3/ux):($4/ux):($5/uy):($6/uy) with boxxyerror fs transparent solid 1 noborder fc rgb '#E69F00' notitle
unset label

unset multiplot
set output

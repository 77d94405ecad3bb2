/* roofline.c — a table of the machine's rates, and two pictures of work under its roof.
 *
 * A roofline has operations for each byte from left to right and operations a second upwards, both by powers of two.
 * The slope is the memory's ceiling, the flat top is the arithmetic's. A third ceiling, the overhead, is drawn into
 * each work itself: small work lies far under the roof.
 */
#include "machine.h"

#include <math.h>
#include <string.h>

static struct ceilings ceilings_of(const struct machine *m) {
    return (struct ceilings){m->dram_copy * 1e3, m->fp32 * 1e3, m->wait_us};
}

/* A logarithm needs a positive argument. */
static bool drawn(const struct point *p) {
    return isfinite(p->work.flops) && isfinite(p->work.bytes) && p->work.flops > 0 && p->work.bytes > 0;
}

static double least_of(struct work w, struct ceilings c) {
    return fmax(c.overhead_us, fmax(w.bytes / c.bytes_per_us, w.flops / c.flops_per_us));
}

static double gflops(struct work w, struct ceilings c) { return w.flops / least_of(w, c) / 1e3; }

void print_machine(const struct machine *m) {
    printf("what this machine can do%s\n", lab_lane() == LAB_SIM ? " (virtual)" : "");
    printf("  the link, page-locked     %7.1f GB/s up   %7.1f down\n", m->up, m->down);
    printf("  the link, pageable        %7.1f GB/s up   %7.1f down\n", m->pageable_up, m->pageable_down);
    printf("  device memory             %7.0f GB/s read %7.0f copied\n", m->dram_read, m->dram_copy);
    printf("  L2 cache                  %7.0f GB/s\n", m->l2);
    printf("  shared memory             %7.0f GB/s\n", m->shared);
    printf("  fp32 arithmetic           %7.0f Gflop/s: %.0f for each byte of device memory\n", m->fp32,
           m->fp32 / m->dram_copy);
    printf("  one more launch           %7.2f us        wait for nothing  %5.2f us\n", m->launch_us, m->sync_us);
    printf("  launch and wait           %7.2f us        one addition      %5.2f us\n", m->wait_us, m->one_flop_us);
}

enum { COLUMNS = 64, ROWS = 15 };
static const double LEFT = -4, RIGHT = 10, TOP = 17; /* powers of two: flops a byte; the highest row's Gflop/s */

static int column_of(double intensity) {
    return (int)lround((log2(intensity) - LEFT) / (RIGHT - LEFT) * (COLUMNS - 1));
}
static int row_of(double gflops) { return (int)lround(TOP - log2(gflops)); }

void print_roofline(const struct machine *m, const struct point *points, int count) {
    const struct ceilings c = ceilings_of(m);
    char picture[ROWS][COLUMNS + 1];
    memset(picture, ' ', sizeof picture);
    for (int x = 0; x < COLUMNS; x++) {
        double intensity = exp2(LEFT + (RIGHT - LEFT) * x / (COLUMNS - 1)), slope = intensity * m->dram_copy;
        int y = row_of(slope < m->fp32 ? slope : m->fp32);
        if (y >= 0 && y < ROWS) picture[y][x] = slope < m->fp32 ? '/' : '-';
    }
    for (int i = 0; i < count; i++) {
        if (!drawn(&points[i])) continue;
        int x = column_of(points[i].work.flops / points[i].work.bytes), y = row_of(gflops(points[i].work, c));
        y = y < 0 ? 0 : y >= ROWS ? ROWS - 1 : y; /* on the edge: as low as that, or lower */
        x = x < 0 ? 0 : x >= COLUMNS ? COLUMNS - 1 : x;
        picture[y][x] = points[i].mark;
    }
    printf("\nyour bytes and operations, under this machine's roof (Gflop/s by flops a byte)\n");
    for (int y = 0; y < ROWS; y++) {
        int end = COLUMNS;
        while (end > 0 && picture[y][end - 1] == ' ') end--;
        printf("%8.0f |%.*s\n", exp2(TOP - y), end, picture[y]);
    }
    printf("         +");
    for (int x = 0; x < COLUMNS; x++) putchar('-');
    printf("\n         1/16     1/4       1         4        16       64       256    1024\n");
    for (int i = 0; i < count; i++) {
        const struct point *p = &points[i];
        if (drawn(p))
            printf("  %c  %-24s %10.3g flops a byte, at least %9.2f us\n", p->mark, p->name,
                   p->work.flops / p->work.bytes, least_of(p->work, c));
    }
    printf("\n");
}

/* --- the drawn one: a script for gnuplot, which writes SVG to its standard output ------------------ */

static const double XMIN = 0.05, XMAX = 3000, YMIN = 3e-5, YMAX = 3e5; /* flops a byte; Gflop/s */

static const char *const roofline_style =
    "set terminal svg size 900,600 font 'sans-serif,14' background rgb '#ffffff' noenhanced\n"
    "set encoding utf8\n"
    "set logscale xy\n"
    "set lmargin at screen 0.125; set rmargin at screen 0.975; set bmargin at screen 0.14; set tmargin at screen 0.9\n"
    "set border 3 lc rgb '#55555c'; set key off; set tics nomirror out tc rgb '#33333a'; set mxtics 10\n"
    "set grid xtics ytics lc rgb '#e4e4ea' lw 1 dt solid\n"
    "set xtics ('0.1' 0.1, '1' 1, '10' 10, '100' 100, '1000' 1000)\n"
    "set ytics ('100 kflop/s' 1e-4, '' 1e-3, '10 Mflop/s' 1e-2, '' 1e-1, '1 Gflop/s' 1, '' 10, '100 Gflop/s' 100, "
    "'' 1e3, '10 Tflop/s' 1e4, '' 1e5)\n"
    "set xlabel 'operations for each byte of device memory' tc rgb '#33333a'\n";

void write_roofline(FILE *f, const struct machine *m, const struct spot spots[SPOTS]) {
    const double roof = m->fp32, memory = m->dram_copy, ridge = roof / memory;
    fprintf(f, "# The roofline of lab 0. To draw it: gnuplot THIS >FILE.svg\n%s", roofline_style);
    fprintf(f, "set xrange [%g:%g]; set yrange [%g:%g]\n", XMIN, XMAX, YMIN, YMAX);
    fprintf(f, "set title 'Five kernels under the roof of a %s%s' tc rgb '#111116'\n", lab_device_name(),
            lab_lane() == LAB_SIM ? " (virtual time)" : "");
    /* A decade up and a decade to the right are not equally long: the angle of a line with slope 1. */
    fprintf(f, "slope = atan2(600 * 0.76 / log10(%g), 900 * 0.85 / log10(%g)) * 180 / pi\n", YMAX / YMIN, XMAX / XMIN);
    fprintf(f, "set label 1 'device memory: %.0f GB/s' at %g,%g rotate by slope center tc rgb '#33333a'\n", memory, 0.4,
            0.4 * memory * 4);
    fprintf(f, "set label 2 'fp32 arithmetic: %.1f Tflop/s' at %g,%g right tc rgb '#33333a'\n", roof / 1e3, XMAX * 0.9,
            roof * 1.9);
    fprintf(f, "set label 3 'the ridge: %.1f operations a byte' at %g,%g left tc rgb '#33333a'\n", ridge, ridge * 1.12,
            YMIN * 2.2);
    fprintf(f, "set arrow 1 from %g,%g to %g,%g nohead dt (6,5) lc rgb '#9a9aa3'\n", ridge, YMIN, ridge, roof);
    fprintf(f, "$roof << END\n%g %g\n%g %g\n%g %g\nEND\n", XMIN, XMIN * memory, ridge, roof, XMAX, roof);
    fprintf(f, "# operations a byte, Gflop/s, the roof above, the time in us, where the label goes, the name\n$spots "
               "<< END\n");
    for (int i = 0; i < SPOTS; i++) {
        const struct work w = spots[i].work;
        if (!(w.flops > 0 && w.bytes > 0 && isfinite(w.flops) && isfinite(w.bytes))) continue;
        double x = w.flops / w.bytes;
        fprintf(f, "%.4g %.4g %.4g %.2f %g \"%s\"\n", x, w.flops / spots[i].us / 1e3, fmin(x * memory, roof),
                spots[i].us, spots[i].nudge, spots[i].name);
    }
    /* Labels stand to the right of their points, but for what lies just left of the ridge and would cross its line. */
    fprintf(f,
            "END\nleft(x) = x > %g && x < %g\ntext(name, us) = sprintf('%%s: %%.1f us', name, us)\n"
            "plot $spots using 1:2:(0):($3-$2) with vectors nohead dt (2,4) lw 1.5 lc rgb '#9a9aa3', \\\n"
            "     $roof with lines lw 3 lc rgb '#33333a', \\\n"
            "     $roof every ::1::1 with points pt 7 ps 0.7 lc rgb '#33333a', \\\n"
            "     $spots using 1:2 with points pt 7 ps 0.9 lc rgb '#2a62c9', \\\n"
            "     $spots using (left($1)?NaN:$1*1.15):($2*$5):(text(stringcolumn(6),$4)) with labels left tc rgb "
            "'#1d478f', \\\n"
            "     $spots using (left($1)?$1/1.15:NaN):($2*$5):(text(stringcolumn(6),$4)) with labels right tc rgb "
            "'#1d478f'\n",
            ridge / 20, ridge);
}

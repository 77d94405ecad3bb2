/* roofline.cuh — the two pictures: what the machine can do, as a table; and where work lies under its roof.
 *
 * A roofline has operations for each byte from left to right and operations a second upwards, both by powers of two.
 * The slope is the memory's ceiling, the flat top is the arithmetic's. A third ceiling, the overhead, is drawn into
 * each work itself: small work lies far under the roof.
 */
#ifndef ROOFLINE_CUH
#define ROOFLINE_CUH

#include "lab.h"
#include "lab0.h"
#include "machine.cuh"

#include <math.h>
#include <stdio.h>

struct point {
    char mark; /* on the picture */
    const char *name;
    struct work work;
};

static struct ceilings ceilings_of(const struct machine *m) { return {m->dram_copy * 1e3, m->fp32 * 1e3, m->wait_us}; }

/* A logarithm needs something. */
static bool drawn(const struct point *p) {
    return isfinite(p->work.flops) && isfinite(p->work.bytes) && p->work.flops > 0 && p->work.bytes > 0;
}

static double gflops(struct work w, struct ceilings c) { return w.flops / reference_least_us(w, c) / 1e3; }

static void print_machine(const struct machine *m) {
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

static void print_roofline(const struct machine *m, const struct point *points, int count) {
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
                   p->work.flops / p->work.bytes, reference_least_us(p->work, c));
    }
    printf("\n");
}

/* The same picture as a script for gnuplot, which writes an SVG file beside itself. */
static void write_roofline(const char *path, const struct machine *m, const struct point *points, int count) {
    const struct ceilings c = ceilings_of(m);
    FILE *f = fopen(path, "w");
    if (!f) lab_die("--roofline: cannot write %s", path);
    fprintf(f, "set terminal svg size 800,500\nset output '%s.svg'\n", path);
    fprintf(f, "set title 'roofline, %s'\nset logscale xy 2\nset key off\nset grid\n", lab_device_name());
    fprintf(f, "set xlabel 'flops for each byte of device memory'\nset ylabel 'Gflop/s'\n");
    fprintf(f, "set xrange [0.0625:1024]\nset yrange [0.0001:131072]\n$points << END\n");
    for (int i = 0; i < count; i++)
        if (drawn(&points[i]))
            fprintf(f, "%g %g \"%s\"\n", points[i].work.flops / points[i].work.bytes, gflops(points[i].work, c),
                    points[i].name);
    fprintf(f, "END\nroof(x) = x * %g < %g ? x * %g : %g\n", m->dram_copy, m->fp32, m->dram_copy, m->fp32);
    fprintf(f, "plot roof(x) lw 2, $points using 1:2:3 with labels point pt 7 offset 1,1 left\n");
    if (fclose(f)) lab_die("--roofline: cannot write %s", path);
    printf("written: %s. The picture: gnuplot %s\n", path, path);
}

#endif

/* bar.c — the blue bar: the GPU's row of a timeline, under the card.
 *
 * One row, of the kernels; where copies over the link take a share that can be seen, one row above for those to the
 * device and one below for those back. There a dot stands for copies that are too short for the lowest bar. Knows no
 * lab: `make play` has it, too.
 */
#define _GNU_SOURCE
#include "lab_internal.h"
#include "page.h"

#include <stdlib.h>
#include <string.h>

enum engine { UP, KERNELS, DOWN }; /* the order of the rows */

typedef struct {
    double from, to; /* ns */
} span;

static int earlier(const void *a, const void *b) {
    double x = ((const span *)a)->from, y = ((const span *)b)->from;
    return (x > y) - (x < y);
}

static bool works_on(const struct simgpu_event *e, enum engine engine) {
    if (engine == KERNELS) return e->kind == SIMGPU_LAUNCH;
    return e->kind == SIMGPU_COPY && e->is.copy.direction == (engine == UP ? SIMGPU_H2D : SIMGPU_D2H);
}

/* Returns the times when the engine worked, in order; to be freed. */
static span *spans_of(const lab_usage *u, enum engine engine, enum lab_busy how, int *n) {
    span *spans = malloc(((size_t)u->nevents + 1) * sizeof *spans);
    if (!spans) lab_die("out of memory");
    *n = 0;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (!works_on(e, engine)) continue;
        double start = (double)e->start_ns, own = 0;
        if (engine == KERNELS && how == LAB_RUNNING) own = (double)e->is.launch.launch_ns;
        spans[(*n)++] = (span){start + own, start + (double)e->duration_ns};
    }
    qsort(spans, (size_t)*n, sizeof *spans, earlier);
    return spans;
}

/* Draws one row. Returns the share of the time in which the engine worked, in %. */
static double draw(lab_bar *bar, const lab_usage *u, double begin, double end, enum engine engine, enum lab_busy how) {
    static const char *const height[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    double busy[LAB_BAR_CELLS] = {0}, all = 0, covered = begin, width = (end - begin) / LAB_BAR_CELLS;
    int nspans;
    span *spans = spans_of(u, engine, how, &nspans);
    for (int i = 0; i < nspans; i++) {
        double from = spans[i].from, to = spans[i].to;
        if (from < covered) from = covered; /* overlapping work is one busy stretch */
        if (to > end) to = end;
        if (to <= from) continue;
        covered = to;
        all += to - from;
        for (int k = (int)((from - begin) / width); k < LAB_BAR_CELLS && begin + k * width < to; k++) {
            double a = begin + k * width, b = a + width;
            busy[k] += ((to < b ? to : b) - (from > a ? from : a)) / width;
        }
    }
    free(spans);
    size_t n = 0;
    for (int k = 0; k < LAB_BAR_CELLS; k++) {
        int h = (int)(busy[k] * 8 + 0.5);
        const char *cell = !h && busy[k] > 0 && engine != KERNELS ? "·" : height[h > 8 ? 8 : h];
        lab_text(bar->cells + n, sizeof bar->cells - n, "%s", cell);
        n += strlen(cell);
    }
    return 100 * all / (end - begin);
}

void lab_draw_bars(lab_bar bars[LAB_BARS], double share[LAB_BARS], const lab_usage *u, double begin, double end,
                   enum lab_busy how) {
    static const char *const names[] = {[UP] = "up", [KERNELS] = "blue bar", [DOWN] = "down"};
    static const char *const what[] = {
        [UP] = "copies up %.0f %%", [KERNELS] = "GPU busy %.0f %% (virtual)", [DOWN] = "copies down %.0f %%"};
    const double seen = 1; /* % of the time */
    for (enum engine k = UP; k <= DOWN; k++) {
        share[k] = draw(&bars[k], u, begin, end, k, how);
        LAB_SAY(bars[k].name, "%s", names[k]);
        lab_text(bars[k].what, sizeof bars[k].what, what[k], share[k]);
    }
    if (share[UP] < seen && share[DOWN] < seen) bars[UP].cells[0] = bars[DOWN].cells[0] = 0;
}

void lab_print_bars(FILE *f, const lab_bar bars[LAB_BARS]) {
    static const enum page_style styles[] = {[UP] = PAGE_UP, [KERNELS] = PAGE_KERNELS, [DOWN] = PAGE_DOWN};
    for (enum engine k = UP; k <= DOWN; k++)
        if (bars[k].cells[0])
            fprintf(f, "  %-8s ▏%s%s%s▕ %s\n", bars[k].name, page_on(f, styles[k]), bars[k].cells, page_off(f),
                    bars[k].what);
}

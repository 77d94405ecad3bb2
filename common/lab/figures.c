/* figures.c — measured numbers in the record, by name: what a prediction is held against (make predictN).
 *
 * Each graded row gives one of the row's id without a word from the harness; see record.h for their form.
 */
#include "lab_internal.h"

#include <math.h>
#include <string.h>

enum { FIGURES = sizeof lab.figures / sizeof *lab.figures };

void lab_figure(const char *name, double value, const char *unit) {
    int i = 0;
    while (i < lab.nfigures && strcmp(lab.figures[i].name, name)) i++;
    if (i == FIGURES) lab_die("the harness has more than %d figures; '%s' is one too many", FIGURES, name);
    lab_figure_line *f = &lab.figures[i];
    if (i == lab.nfigures) lab.nfigures++;
    LAB_SAY(f->name, "%s", name);
    LAB_SAY(f->unit, "%s", unit);
    f->value = value;
}

void lab_figures_of(const char *name, const lab_usage *u) {
    char full[96];
    if (lab_lane() != LAB_SIM) return; /* ncu has only some of them, and the others would read 0 */
    const struct {
        const char *field;
        double value;
    } of[] = {
        {"launches", u->launches},
        {"copies", u->copies},
#define COUNTER(field, ncu, what) {#field, u->total.field},
#include "../simgpu/include/simgpu_counters.def"
#undef COUNTER
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        LAB_SAY(full, "%s.%s", name, of[i].field);
        lab_figure(full, of[i].value, "");
    }
}

/* The rows of the bar are in the order of these names. */
void lab_blue_bar(const lab_usage *u, double begin, double end, enum lab_busy how) {
    static const char *const names[LAB_BARS] = {"busy-up", "busy", "busy-down"};
    double share[LAB_BARS];
    if (lab_lane() != LAB_SIM || !(end > begin)) return;
    lab_draw_bars(lab.bars, share, u, begin, end, how);
    for (int k = 0; k < LAB_BARS; k++) lab_figure(names[k], share[k], "%");
}

static void put(FILE *f, const char *name, double value, const char *unit) {
    if (!isfinite(value)) return;
    fprintf(f, "figure\t%s\t%.9g\t", name, value);
    lab_tsv(f, unit);
    fputc('\n', f);
}

void lab_figures_write(FILE *f) {
    for (int i = 0; i < lab.nverdicts; i++) {
        const lab_verdict *v = &lab.verdicts[i];
        const double digits = pow(10, v->row->decimals); /* those that the card shows */
        if (v->graded && v->status != LAB_NA && lab_shown(v))
            put(f, v->row->id, round(v->value * digits) / digits, v->row->unit);
    }
    for (int i = 0; i < lab.nfigures; i++) put(f, lab.figures[i].name, lab.figures[i].value, lab.figures[i].unit);
}

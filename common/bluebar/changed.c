/* changed.c — what a run changed since the one before: "+12.5 points, 63 → 75.5; launches 2048 → 1". */
#define _GNU_SOURCE
#include "bluebar.h"
#include "page.h"

#include <stdlib.h>

/* Records of another seed, card or lane have nothing to say about each other. */
static bool comparable(const bb_record *a, const bb_record *b) {
    return bb_same(a->lab, b->lab) && bb_same(a->lane, b->lane) && bb_same(a->device, b->device) && a->seed &&
           b->seed && bb_same(a->seed, b->seed);
}

static void add_row(bb_text *t, const struct bb_row *old, const struct bb_row *now) {
    const char *was = old->cell[LAB_CELL_value], *is = now->cell[LAB_CELL_value], *label = now->cell[LAB_CELL_label];
    if (!bb_same(was, is))
        bb_addf(t, "; %s %s → %s", label, was, is);
    else if (old->points != now->points)
        bb_addf(t, "; %s earns %g → %g", label, old->points, now->points);
}

/* Prints nothing where nothing changed, or where there is nothing to compare with. */
int bb_cmd_changed(int argc, char **argv) {
    bb_record now, old;
    bb_text t = {0};
    if (argc != 3) bb_die("bluebar changed: RECORD BEFORE");
    const char *bad = bb_record_read(&now, argv[1], NULL, NULL);
    if (bad) bb_die("%s: %s", argv[1], bad);
    if (!bb_record_read(&old, argv[2], NULL, NULL) && comparable(&now, &old)) {
        double more = now.points - old.points;
        if (more != 0)
            bb_addf(&t, "%+.4g points, %g → %g", more, old.points, now.points);
        else
            bb_addf(&t, "%g points as before", now.points);
        size_t size = t.size;
        for (int i = 0; i < now.nrows; i++) {
            const struct bb_row *was = bb_record_row(&old, now.row[i].cell[LAB_CELL_id]);
            if (was) add_row(&t, was, &now.row[i]);
        }
        if (more != 0 || t.size > size) {
            printf("  since your last run: ");
            page_go_on(stdout, more > 0 ? PAGE_GOOD : more < 0 ? PAGE_BAD : PAGE_PLAIN, 23, 0, t.at);
        }
    }
    free(t.at);
    bb_record_free(&now);
    bb_record_free(&old);
    return 0;
}

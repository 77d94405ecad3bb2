/* others.c — numbers of a run that no student's program has a part in: the times of the starter, of the reference, of a
 * rung. LAB_OTHER in timing.h says when a harness asks here.
 *
 * A class's programs are graded with a seed each, and each run measures these anew. Whoever runs hundreds of programs
 * with the same seeds (make mistakes, the tests) says --others FILE: the first run with a seed leaves its numbers
 * there, and the others take them from it. All that the judge does with a number is the same.
 *
 * A line a number: name, the seeds that were given out before and after it (lab_fresh_seed), value. It stands for the
 * very same measurement only if as many were given out before. The caller keeps one file for each lab, seed, virtual
 * card and state of the programs.
 */
#include "lab_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 96 };

typedef struct {
    char name[48];
    uint64_t before, after;
    double value;
} number;

typedef struct {
    char path[4096];
    int count, left; /* numbers in all, and those of the file: they come first */
    number of[MOST];
} numbers;

static numbers *others; /* hidden memory; NULL: without --others */
static double found;    /* by lab_other_known */

static void take_line(const char *line) {
    number n = {.value = 0};
    if (others->count == MOST ||
        sscanf(line, "%47[^\t]\t%" SCNu64 "\t%" SCNu64 "\t%la", n.name, &n.before, &n.after, &n.value) != 4)
        lab_die("%s is not a file that --others has written", others->path);
    others->of[others->count++] = n;
    others->left = others->count;
}

void lab_others_begin(const char *path) {
    char line[256];
    if (lab_lane() != LAB_SIM) lab_die("--others: the times of a real card are those of one moment");
    others = lab_hide(sizeof *others);
    lab_text(others->path, sizeof others->path, "%s", path);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) take_line(line);
    if (f) fclose(f);
}

/* Several runs may write it at a time, each a whole one. */
void lab_others_end(void) {
    char mine[sizeof others->path + 16];
    if (!others || others->count == others->left) return;
    lab_text(mine, sizeof mine, "%s.%d", others->path, (int)getpid());
    FILE *f = fopen(mine, "we");
    for (int i = 0; f && i < others->count; i++) {
        const number *n = &others->of[i];
        fprintf(f, "%s\t%" PRIu64 "\t%" PRIu64 "\t%a\n", n->name, n->before, n->after, n->value);
    }
    if (!f || fclose(f) || rename(mine, others->path))
        lab_die("%s cannot be written: %s", others->path, strerror(errno));
}

bool lab_other_known(const char *name) {
    for (int i = 0; others && i < others->left; i++) {
        const number *n = &others->of[i];
        if (n->before != lab.seeds || strcmp(n->name, name)) continue;
        lab.seeds = n->after;
        found = n->value;
        return true;
    }
    if (others) {
        if (others->count == MOST) lab_die("the harness has more than %d numbers of other programs", MOST);
        LAB_SAY(others->of[others->count].name, "%s", name);
        others->of[others->count].before = lab.seeds;
    }
    return false;
}

double lab_other_value(void) { return found; }

double lab_other_new(double value) {
    if (!others) return value;
    others->of[others->count].after = lab.seeds;
    others->of[others->count++].value = value;
    return value;
}

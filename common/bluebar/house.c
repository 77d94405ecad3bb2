/* house.c — where the labs are: every folder labs/labN-NAME is one, and solutions/labN-NAME holds its file to edit. */
#define _GNU_SOURCE
#include "bluebar.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>

/* Returns the handout's first heading, "# Lab 3: Transpose" as "Transpose"; NULL without a handout. */
static char *heading(const char *name) {
    char *path = bb_format("handouts/%s.md", name), *text = bb_read(path, 16u << 20, NULL), *rest = text, *title = NULL;
    for (char *line; !title && (line = bb_line(&rest));) {
        if (!bb_begins(line, "# ")) continue;
        char *from = line + 1 + strspn(line + 1, " "), *lab = from;
        if (bb_begins(lab, "Lab")) {
            lab += 3 + strspn(lab + 3, " ");
            lab += strspn(lab, "0123456789");
            if (*lab == ':' || *lab == '.' || *lab == ' ') from = lab + 1 + strspn(lab + 1, " ");
        }
        if (*from) title = bb_must(strdup(from));
    }
    free(path);
    free(text);
    return title;
}

static bb_lab lab_of(const char *folder) {
    bb_lab lab = {.folder = bb_must(strndup(folder, strlen(folder) - (folder[strlen(folder) - 1] == '/')))};
    glob_t found;
    lab.name = bb_must(strdup(bb_base(lab.folder)));
    lab.number = bb_must(strndup(lab.name + 3, strcspn(lab.name + 3, "-")));
    char *pattern = bb_format("solutions/%s/*.cu", lab.name);
    if (!glob(pattern, 0, NULL, &found)) {
        lab.file = bb_must(strdup(bb_base(found.gl_pathv[0])));
        globfree(&found);
    }
    free(pattern);
    lab.title = heading(lab.name);
    if (!lab.title) lab.title = bb_must(strdup(lab.name + 3 + strlen(lab.number) + 1));
    return lab;
}

static int by_number(const void *a, const void *b) {
    int x = atoi(((const bb_lab *)a)->number), y = atoi(((const bb_lab *)b)->number);
    return (x > y) - (x < y);
}

/* Read once, kept to the end. */
int bb_labs(bb_lab **labs) {
    static bb_lab *all;
    static int n;
    glob_t found;
    if (!all && !glob("labs/lab*-*/", 0, NULL, &found)) {
        all = bb_must(calloc(found.gl_pathc, sizeof *all));
        for (size_t i = 0; i < found.gl_pathc; i++) all[n++] = lab_of(found.gl_pathv[i]);
        globfree(&found);
        qsort(all, (size_t)n, sizeof *all, by_number);
    }
    *labs = all;
    return n;
}

bb_lab bb_lab_named(const char *number) {
    bb_lab *labs;
    bb_text known = {0};
    int n = bb_labs(&labs);
    for (int i = 0; i < n; i++) {
        if (bb_same(labs[i].number, number)) return labs[i];
        bb_addf(&known, "%s ", labs[i].number);
    }
    bb_die("There is no lab '%s'. The labs here: %s(type 'make' for their titles).", number, known.at ? known.at : "");
}

/* blame.c — places a failure on a line of the student's; see blame.h. */
#define _GNU_SOURCE
#include "blame.h"
#include "advice.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool is_ours(const struct simgpu_place *at) {
    const char *name = at->file ? lab_file_name(at->file) : "";
    return !strcmp(name, "offered.cu") || !strcmp(name, "player.c");
}

static bool blame_place(lab_verdict *v, const place *at) {
    const struct simgpu_place line = {.file = at->file, .line = at->line};
    if (!at->line || !at->file[0]) return false;
    lab_blame_place(v, &line);
    return true;
}

/* Does the text stand in the row as a word of its own? "losses[" is not in "d_losses[". */
static bool has_word(const char *row, const char *text) {
    for (const char *p = row; (p = strstr(p, text)); p++)
        if (p == row || (!isalnum((unsigned char)p[-1]) && !strchr("_.>", p[-1]))) return true;
    return false;
}

/* Places the row at the first, or the last, line of the student's code with this text. */
static bool blame_code(lab_verdict *v, const training *t, const char *text, bool last) {
    place at = t->load;
    char *code = NULL;
    size_t room = 0;
    bool inside = false;
    FILE *f = at.file[0] ? fopen(at.file, "re") : NULL;
    at.line = 0;
    for (int n = 1; f && (last || !at.line) && getline(&code, &room, f) > 0; n++) {
        lab_keep_code(code, &inside);
        if (has_word(code, text)) at.line = n;
    }
    free(code);
    if (f) fclose(f);
    return blame_place(v, &at);
}

/* A kernel of the harness was stopped; the student's line that launched it takes the blame. */
static void blame_fault(lab_verdict *v, const training *t, const lab_usage *u) {
    static const char *const calls[][2] = {
        {"forward", "lab5_forward("}, {"errors", "lab5_loss("}, {"mean", "lab5_loss("}, {"backward", "lab5_backward("}};
    const struct simgpu_fault *f = lab_fault(u);
    lab_blame_fault(v, u);
    for (size_t i = 0; f && i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(f->kernel, calls[i][0]) && blame_code(v, t, calls[i][1], false))
            LAB_SAY(v->next, "%s", advice_for_address(&f->address));
}

/* A comparison with NAN is never true, and code that asks so has no isnan. */
static bool blame_comparison(lab_verdict *v, const training *t) {
    if (strcmp(t->blame, "isnan(") != 0 || !blame_code(v, t, "NAN", false)) return false;
    LAB_SAY(v->next, "nothing equals NAN, not even NAN itself: ask isnan(loss)");
    return true;
}

/* A call whose line is not known (gpu lane) is placed only where the program has one such line. */
static void blame_call(lab_verdict *v, const training *t) {
    char first[sizeof v->where];
    if (blame_place(v, &t->at) || !blame_code(v, t, t->blame, false)) return;
    LAB_SAY(first, "%s", v->where);
    blame_code(v, t, t->blame, true);
    if (!strcmp(first, v->where)) return;
    v->where[0] = v->code[0] = 0;
}

/* The place that is known; or a line with the text that is nearest to the failure. */
static void blame_nearest(lab_verdict *v, const training *t) {
    if (t->call[0]) return blame_call(v, t);
    if (blame_place(v, &t->at) || blame_code(v, t, t->blame, t->blame_last)) return;
    if (!blame_comparison(v, t)) blame_code(v, t, t->blame_else, true);
}

void blame_run(lab_verdict *v, const training *t) {
    lab_usage u;
    char none[256];
    lab_fail(v, "%s", t->failure);
    if (t->next) LAB_SAY(v->next, "%s", t->next);
    if (!t->fault) blame_nearest(v, t);
    if ((!t->fault && !t->refused) || lab_count_read(t->counted, &u, none, sizeof none)) return;
    if (t->fault) {
        blame_fault(v, t, &u);
    } else if (lab_refusal(&u, t->refused)) { /* its sentence begins with the call */
        lab_fail(v, "%s", cudaGetErrorName(t->refused));
        lab_blame_refusal(v, &u, t->refused);
    }
    lab_usage_free(&u);
}

/* Blames the place if it is a line of the student's. */
static bool blame_yours(lab_verdict *v, const training *t, const struct simgpu_place *at) {
    if (!at->file || strcmp(lab_file_name(at->file), lab_file_name(t->load.file)) != 0) return false;
    lab_blame_place(v, at);
    return true;
}

void blame_hazard(lab_verdict *v, const training *t) {
    lab_usage u;
    char none[256], what[512];
    if (lab_count_read(t->counted, &u, none, sizeof none)) return;
    const struct simgpu_finding *f = lab_finding(&u);
    if (!f) return lab_usage_free(&u);
    const struct simgpu_place *here = &f->side[0].at, *there = &f->side[1].at;
    LAB_SAY(v->next, "%s", advice_for_finding(f));
    if (here->file && !is_ours(here)) { /* our own line is one that the loop has called */
        lab_fail(v, "right by luck");
        lab_blame_finding(v, &u);
    } else {
        lab_fail(v, "right by luck; %s", lab_say_finding(f, SIMGPU_WHAT, what, sizeof what));
        if (f->kind == SIMGPU_IN_FLIGHT && here->did == SIMGPU_DID_WRITE)
            blame_place(v, &t->load);
        else if (!blame_yours(v, t, there))
            blame_code(v, t, "lab5_forward(", false);
    }
    lab_usage_free(&u);
}

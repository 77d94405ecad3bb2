/* leaks.c — the verdict on what a program leaves behind; see calls.h. */
#include "lab.h"

#include <string.h>

/* Each kind of thing: its name, and the call that destroys it. */
static const struct {
    const char *one, *many, *destroy;
} kinds[] = {
    [LAB_DEVICE_MEMORY] = {"allocation of device memory", "allocations of device memory", "cudaFree"},
    [LAB_PINNED_MEMORY] = {"page-locked allocation", "page-locked allocations", "cudaFreeHost"},
    [LAB_REGISTERED_MEMORY] = {"page-locked range", "page-locked ranges", "cudaHostUnregister"},
    [LAB_A_STREAM] = {"stream", "streams", "cudaStreamDestroy"},
    [LAB_AN_EVENT] = {"event", "events", "cudaEventDestroy"},
    [LAB_A_GRAPH] = {"graph", "graphs", "cudaGraphDestroy"},
    [LAB_A_GRAPH_EXEC] = {"instantiated graph", "instantiated graphs", "cudaGraphExecDestroy"},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void append(char *text, size_t size, const char *more) {
    const size_t n = strlen(text);
    lab_text(text + n, size - n, "%s", more);
}

/* Returns how many of the list are of this kind, and of these the first whose line has created the most. */
static int count_kind(const lab_thing_made *list, int n, lab_thing kind, const lab_thing_made **most) {
    int count = 0, best = 0;
    for (int i = 0; i < n; i++) {
        int here = 0;
        if (list[i].thing != kind) continue;
        count++;
        for (int k = i; k < n; k++) here += list[k].thing == kind && list[k].line == list[i].line;
        if (here > best) *most = &list[i];
        if (here > best) best = here;
    }
    return count;
}

/* Writes ", train.cu:47" for all of this kind that are left; more lines of that file follow: ", train.cu:47, 51". */
static void say_places(const lab_thing_made *list, int n, const lab_thing_made *first, char *to, size_t size) {
    enum { SHOWN = 4 };
    int lines = 1;
    to[0] = 0;
    if (!first->file) return;
    lab_text(to, size, ", %s:%d", lab_file_name(first->file), first->line);
    for (int i = 0; i < n && lines <= SHOWN; i++) {
        bool told = list[i].thing != first->thing || list[i].line == first->line;
        for (int k = 0; k < i && !told; k++) told = list[k].thing == first->thing && list[k].line == list[i].line;
        if (told) continue;
        const size_t end = strlen(to);
        if (lines++ < SHOWN)
            lab_text(to + end, size - end, ", %d", list[i].line);
        else
            lab_text(to + end, size - end, " and others");
    }
}

/* Appends "3 events (cudaEventCreate, train.cu:47)", with the place that say_places wrote. */
static void append_kind(char *text, size_t size, lab_thing kind, int count, const lab_thing_made *first,
                        const char *place) {
    char one[256];
    lab_text(one, sizeof one, "%s%d %s (%s%s)", text[0] ? ", " : "", count,
             count == 1 ? kinds[kind].one : kinds[kind].many, first->name, place);
    append(text, size, one);
}

bool lab_grade_leaks(lab_verdict *v, const char *when) {
    const lab_thing_made *list, *worst = NULL;
    const int n = lab_things(&list);
    char what[400] = "", how[200] = "";
    for (int kind = 1; kind < KINDS; kind++) {
        const lab_thing_made *first = NULL;
        const int count = count_kind(list, n, (lab_thing)kind, &first);
        if (!first) continue;
        if (!worst) worst = first;
        char place[160];
        say_places(list, n, first, place, sizeof place);
        append_kind(what, sizeof what, (lab_thing)kind, count, first, place);
        append(how, sizeof how, how[0] ? ", " : "");
        append(how, sizeof how, kinds[kind].destroy);
    }
    lab_grade(v, n);
    if (!worst) return true;
    lab_blame_place(v, &(struct simgpu_place){.file = worst->file, .line = worst->line});
    LAB_SAY(v->why, "%s, these are left: %s", when, what);
    LAB_SAY(v->next, "destroy what you create, on every way out: %s", how);
    return false;
}

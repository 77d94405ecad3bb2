/* lines.c — the student's file: the place of a blame in it, and the counters beside its lines.
 *
 * Where a profiler gives a kernel's total, a student asks "which line?". The compilers' line tables answer it in the
 * sim lane.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lab_keep_code(char *row, bool *inside) {
    char quote = 0;
    for (char *p = row; *p; p++) {
        bool edge = !quote && !strncmp(p, *inside ? "*/" : "/*", 2);
        if (!quote && !*inside && !strncmp(p, "//", 2)) {
            *p = 0;
            return;
        }
        if (quote && *p == '\\' && p[1]) {
            *p++ = ' ';
        } else if (quote ? *p == quote : !*inside && (*p == '"' || *p == '\'')) {
            quote = quote ? 0 : *p;
            continue;
        }
        if (edge) *inside = !*inside, *p++ = ' ';
        if (edge || *inside || quote) *p = ' ';
    }
}

/* Reads a source file line by line, up to the one whose code `wanted` accepts; its text without the indent. 0: none, or
 * no file. */
static int find_line(const char *file, bool (*wanted)(const char *code, int line, const void *key), const void *key,
                     char *text, size_t size) {
    char *row = NULL, *code = NULL;
    size_t room = 0;
    int found = 0;
    bool inside = false;
    FILE *f = fopen(file, "re");
    if (!f) return 0;
    for (int n = 1; !found && getline(&row, &room, f) > 0; n++) {
        free(code);
        code = strdup(row);
        if (!code) break;
        lab_keep_code(code, &inside);
        if (!wanted(code, n, key)) continue;
        const char *from = row + strspn(row, " \t");
        lab_text(text, size, "%.*s", (int)strcspn(from, "\r\n"), from);
        found = n;
    }
    free(code);
    free(row);
    fclose(f);
    return found;
}

static bool has_number(const char *code, int line, const void *key) { return (void)code, line == *(const int *)key; }

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Returns whether the code has the text, not as a part of a longer word: "free(" is not in "cudaFree(" or "my_free(".
 */
static bool has_text(const char *code, int line, const void *key) {
    const char *text = key, *end = text + strlen(text) - 1;
    (void)line;
    for (const char *p = code; (p = strstr(p, text)); p++) {
        bool begins = p == code || !in_word(*text) || !in_word(p[-1]);
        if (begins && !(in_word(*end) && in_word(p[end - text + 1]))) return true;
    }
    return false;
}

const char *lab_file_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The file that the compiler named, which is the student's own: the program's source, beside it, is a copy whose first
 * line names the original. "" where there is none. */
static const char *own_file(void) {
    static char name[256];
    char copy[sizeof lab.program + 3];
    lab_text(copy, sizeof copy, "%s.cu", lab.program);
    FILE *f = fopen(copy, "re");
    name[0] = 0;
    if (f && fscanf(f, "#line 1 \"%255[^\"]\"", name) != 1) name[0] = 0;
    if (f) fclose(f);
    return name;
}

/* The student's file, as the report names it. NULL: no launch came from it. */
static const char *student_file(const lab_usage *u) {
    const char *own = own_file();
    for (int i = 0; i < u->nlines; i++)
        if (*own ? !strcmp(u->lines[i].file, own) : lab_is_source(u->lines[i].file)) return u->lines[i].file;
    return NULL;
}

void lab_blame(lab_verdict *v, const lab_line *line) {
    if (!line) return;
    LAB_SAY(v->where, "%s:%d", lab_file_name(line->file), line->line);
    v->code[0] = 0;
    /* A program may claim any file for a call of its own; only its source is shown. */
    if (strcmp(line->file, own_file())) return;
    if (!find_line(line->file, has_number, &line->line, v->code, sizeof v->code)) v->code[0] = 0;
}

void lab_blame_text(lab_verdict *v, const lab_usage *u, const char *text) {
    const char *file = student_file(u) ? student_file(u) : own_file();
    int line = find_line(file, has_text, text, v->code, sizeof v->code);
    if (line) LAB_SAY(v->where, "%s:%d", lab_file_name(file), line);
}

typedef struct {
    const char *text, *beside;
    const lab_usage *u;
    const char *file;
} text_that_ran;

static bool has_text_that_ran(const char *code, int line, const void *key) {
    const text_that_ran *t = key;
    if (!has_text(code, line, t->text) || !strstr(code, t->beside)) return false;
    for (int i = 0; i < t->u->nlines; i++)
        if (t->u->lines[i].line == line && t->u->lines[i].c.inst > 0 && !strcmp(t->u->lines[i].file, t->file))
            return true;
    return false;
}

void lab_blame_ran(lab_verdict *v, const lab_usage *u, const char *text, const char *beside) {
    char code[sizeof v->code];
    const text_that_ran wanted = {text, beside, u, student_file(u)};
    const int line = wanted.file ? find_line(wanted.file, has_text_that_ran, &wanted, code, sizeof code) : 0;
    if (!line) return;
    LAB_SAY(v->where, "%s:%d", lab_file_name(wanted.file), line);
    LAB_SAY(v->code, "%s", code);
}

void lab_blame_code(lab_verdict *v, const char *text) {
    char code[sizeof v->code];
    int line = find_line(own_file(), has_text, text, code, sizeof code);
    if (!line) return;
    LAB_SAY(v->where, "%s:%d", lab_file_name(own_file()), line);
    LAB_SAY(v->code, "%s", code);
}

typedef struct {
    const char *text;
    int after;
} text_after;

static bool has_text_after(const char *code, int line, const void *key) {
    const text_after *t = key;
    return line >= t->after && has_text(code, line, t->text);
}

void lab_blame_last(lab_verdict *v, const char *text) {
    char code[sizeof v->code];
    for (text_after wanted = {text, 1};;) {
        int line = find_line(own_file(), has_text_after, &wanted, code, sizeof code);
        if (!line) return;
        LAB_SAY(v->where, "%s:%d", lab_file_name(own_file()), line);
        LAB_SAY(v->code, "%s", code);
        wanted.after = line + 1;
    }
}

void lab_blame_return(lab_verdict *v, const char *text) {
    const char *file = own_file();
    text_after wanted = {text, 1};
    int line = find_line(file, has_text_after, &wanted, v->code, sizeof v->code);
    wanted = (text_after){"return", line};
    int returns = line ? find_line(file, has_text_after, &wanted, v->code, sizeof v->code) : 0;
    if (line)
        LAB_SAY(v->where, "%s:%d", lab_file_name(file), returns ? returns : line);
    else
        LAB_SAY(v->where, "%s", text);
}

void lab_blame_place(lab_verdict *v, const struct simgpu_place *place) {
    lab_line l = {.line = place->line};
    if (!place->file || !place->line) return;
    lab_text(l.file, sizeof l.file, "%s", place->file);
    lab_blame(v, &l);
}

/* A place, what happened there, and the last line: of a fault kernel, block and thread; "" for none. */
static void blame_message(lab_verdict *v, const struct simgpu_place *place, const char *what, const char *last) {
    if (!place->file || !place->line) return;
    size_t n = strlen(v->why);
    lab_blame_place(v, place);
    lab_text(v->why + n, sizeof v->why - n, "%s%s%s%s", n ? "\n" : "", what, *last ? "\n" : "", last);
}

void lab_blame_fault(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_fault *f = lab_fault(u);
    char what[1024], last[512];
    if (f)
        blame_message(v, &f->at, lab_say_fault(f, SIMGPU_WHAT, what, sizeof what),
                      lab_say_fault(f, SIMGPU_LAST, last, sizeof last));
}

void lab_blame_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = lab_finding(u);
    char what[1024];
    if (f) blame_message(v, &f->side[0].at, lab_say_finding(f, SIMGPU_WHAT, what, sizeof what), "");
}

/* A launch is written as <<<...>>>, so its call has no name for the student. */
void lab_blame_refusal(lab_verdict *v, const lab_usage *u, cudaError_t error) {
    const struct simgpu_event *e = lab_refusal(u, error);
    size_t n = strlen(v->why);
    if (!e) return;
    const struct simgpu_refusal *r = &e->is.refusal;
    const bool launch = !strcmp(r->call, "cudaLaunchKernel");
    lab_blame_place(v, &e->at);
    if (r->text[0])
        lab_text(v->why + n, sizeof v->why - n, "\n%s%s%s", launch ? "" : r->call, launch ? "" : ": ", r->text);
    else
        lab_text(v->why + n, sizeof v->why - n, "\n%s returned it", launch ? "the launch" : r->call);
}

/* --- the annotated source --------------------------------------------------------------------- */

void lab_print_lines(const lab_usage *u) {
    const char *file = student_file(u);
    FILE *f = file ? fopen(file, "re") : NULL;
    if (f) {
        printf("%s  %s, every launch of one call together        %s · %s\n", lab.spec->lab, lab.spec->title,
               lab_lane_name(), lab_device_name());
        lab_print_source(stdout, f, file, u);
        fclose(f);
    } else {
        lab_die("cannot read %s: %s", file ? file : lab.spec->source, file ? strerror(errno) : "no launch names it");
    }
}

/* report.c — reads SimGPU's report: JSON Lines, one object a launch, copy, memset or mark (common/simgpu/README.md).
 *
 * A strict scanner for exactly what JSON allows, without a tree: each reader consumes one value from the cursor and
 * keeps what it wants. The first malformed byte ends the reading with its line and column. Keys it does not know are
 * skipped, so the report may grow.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- the scanner ------------------------------------------------------------------------------ */

typedef struct {
    const char *start, *p; /* of the line; the cursor */
    const char *expected;  /* what a malformed place lacks; NULL while all is well */
} cursor;

static bool fail(cursor *c, const char *expected) {
    if (!c->expected) c->expected = expected;
    return false;
}

static void blanks(cursor *c) { c->p += strspn(c->p, " \t\r"); }

static bool accept(cursor *c, char ch) {
    blanks(c);
    if (*c->p != ch) return false;
    c->p++;
    return true;
}

static bool expect(cursor *c, char ch, const char *name) { return accept(c, ch) || fail(c, name); }

/* The four digits of a \u escape. What is not ASCII becomes '?': our reports hold none. */
static bool unicode(cursor *c, char *ch) {
    char digits[5] = "", *end;
    strncpy(digits, c->p, 4);
    unsigned long code = strtoul(digits, &end, 16);
    if (end != digits + 4) return fail(c, "four hexadecimal digits");
    *ch = code < 128 ? (char)code : '?';
    c->p += 4;
    return true;
}

static bool string(cursor *c, char *to, size_t size) {
    size_t n = 0;
    if (!expect(c, '"', "a string")) return false;
    while (*c->p != '"') {
        char ch = *c->p++;
        if ((unsigned char)ch < 0x20) return c->p--, fail(c, "a closing quote");
        if (ch == '\\') {
            static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
            const char *at = *c->p ? strchr(from, *c->p) : NULL;
            if (at)
                ch = into[at - from], c->p++;
            else if (*c->p != 'u')
                return fail(c, "an escape");
            else if (c->p++, !unicode(c, &ch))
                return false;
        }
        if (n + 1 < size) to[n++] = ch;
    }
    c->p++;
    if (size) to[n] = 0;
    return true;
}

static bool number(cursor *c, double *v) {
    char *end;
    blanks(c);
    if (*c->p != '-' && (*c->p < '0' || *c->p > '9')) return fail(c, "a number");
    *v = strtod(c->p, &end);
    c->p = end;
    return true;
}

static bool skip(cursor *c);

/* Calls member for each "key": value of an object; member consumes the value. */
static bool object(cursor *c, bool (*member)(cursor *, const char *key, void *), void *context) {
    char key[128];
    if (!expect(c, '{', "an object")) return false;
    if (accept(c, '}')) return true;
    do {
        if (!string(c, key, sizeof key) || !expect(c, ':', "a colon") || !member(c, key, context)) return false;
    } while (accept(c, ','));
    return expect(c, '}', "a closing brace");
}

static bool array(cursor *c, bool (*element)(cursor *, void *), void *context) {
    if (!expect(c, '[', "an array")) return false;
    if (accept(c, ']')) return true;
    do {
        if (!element(c, context)) return false;
    } while (accept(c, ','));
    return expect(c, ']', "a closing bracket");
}

static bool skip_member(cursor *c, const char *key, void *none) { return (void)key, (void)none, skip(c); }
static bool skip_element(cursor *c, void *none) { return (void)none, skip(c); }

static bool skip(cursor *c) {
    double number_ignored;
    blanks(c);
    if (*c->p == '{') return object(c, skip_member, NULL);
    if (*c->p == '[') return array(c, skip_element, NULL);
    if (*c->p == '"') return string(c, NULL, 0);
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++)
        if (!strncmp(c->p, words[i], strlen(words[i]))) return c->p += strlen(words[i]), true;
    return number(c, &number_ignored);
}

/* --- from objects to a usage ------------------------------------------------------------------ */

static const char *const counter_names[] = {
#define NAME(field, ncu) ncu,
    LAB_COUNTERS(NAME)
#undef NAME
};
enum { COUNTERS = sizeof counter_names / sizeof *counter_names };

/* Counters come in one order, so the next name is usually the one after the last. */
static int counter_index(const char *name) {
    static int guess;
    for (int i = 0; i < COUNTERS; i++) {
        int k = (guess + i) % COUNTERS;
        if (!strcmp(name, counter_names[k])) return guess = k + 1, k;
    }
    return -1;
}

static bool counter_member(cursor *c, const char *key, void *counters) {
    int k = counter_index(key);
    double v;
    if (k < 0) return skip(c);
    if (!number(c, &v)) return false;
    ((double *)counters)[k] += v;
    return true;
}

/* "./labs/x.cu", as one compiler pass writes it, is the other's "labs/x.cu". */
static bool path(cursor *c, char *to, size_t size) {
    if (!string(c, to, size)) return false;
    if (!strncmp(to, "./", 2)) memmove(to, to + 2, strlen(to) - 1);
    return true;
}

/* One object of the report, as far as labs care. */
typedef struct {
    char kind[16], name[64], bound[32], why[160], host_file[256], fault[24], fault_message[1024], memory[16],
        message[1024];
    double start, duration, launch, host_line; /* launch: the part of a kernel's duration in which nothing runs yet */
    double bytes;
    lab_counters total;
    lab_line *lines;
    int nlines;
    lab_line line; /* the element being read */
} event;

/* The list with room for element n; it is moved only when n is a power of two. */
static void *grow(void *list, int n, size_t size) {
    if (n & (n - 1)) return list;
    void *more = realloc(list, (size_t)(n ? 2 * n : 1) * size);
    if (!more) lab_die("out of memory while reading the report");
    return more;
}

static lab_line *line_of(lab_line **lines, int *n, const char *file, int line) {
    for (int i = 0; i < *n; i++)
        if ((*lines)[i].line == line && !strcmp((*lines)[i].file, file)) return &(*lines)[i];
    *lines = grow(*lines, *n, sizeof **lines);
    lab_line *l = &(*lines)[(*n)++];
    memset(l, 0, sizeof *l);
    lab_text(l->file, sizeof l->file, "%s", file);
    l->line = line;
    return l;
}

static bool line_member(cursor *c, const char *key, void *context) {
    lab_line *l = context;
    double v;
    if (!strcmp(key, "file")) return path(c, l->file, sizeof l->file);
    if (!strcmp(key, "line")) return number(c, &v) && (l->line = (int)v, true);
    if (!strcmp(key, "counters")) return object(c, counter_member, &l->c);
    return skip(c);
}

static bool line_element(cursor *c, void *context) {
    event *e = context;
    memset(&e->line, 0, sizeof e->line);
    if (!object(c, line_member, &e->line)) return false;
    e->lines = grow(e->lines, e->nlines, sizeof *e->lines);
    e->lines[e->nlines++] = e->line;
    return true;
}

static bool term_member(cursor *c, const char *key, void *context) {
    return strcmp(key, "launch") ? skip(c) : number(c, &((event *)context)->launch);
}

static bool event_member(cursor *c, const char *key, void *context) {
    event *e = context;
    if (!strcmp(key, "kind")) return string(c, e->kind, sizeof e->kind);
    if (!strcmp(key, "name")) return string(c, e->name, sizeof e->name);
    if (!strcmp(key, "cause")) return string(c, e->name, sizeof e->name);
    if (!strcmp(key, "memory")) return string(c, e->memory, sizeof e->memory);
    if (!strcmp(key, "bytes")) return number(c, &e->bytes);
    if (!strcmp(key, "bound")) return string(c, e->bound, sizeof e->bound);
    if (!strcmp(key, "why")) return string(c, e->why, sizeof e->why);
    if (!strcmp(key, "fault")) return string(c, e->fault, sizeof e->fault);
    if (!strcmp(key, "fault_message")) return string(c, e->fault_message, sizeof e->fault_message);
    if (!strcmp(key, "message")) return string(c, e->message, sizeof e->message);
    if (!strcmp(key, "host_file")) return path(c, e->host_file, sizeof e->host_file);
    if (!strcmp(key, "host_line")) return number(c, &e->host_line);
    if (!strcmp(key, "start_ns")) return number(c, &e->start);
    if (!strcmp(key, "duration_ns")) return number(c, &e->duration);
    if (!strcmp(key, "terms_ns")) return object(c, term_member, e);
    if (!strcmp(key, "counters")) return object(c, counter_member, &e->total);
    if (!strcmp(key, "lines")) return array(c, line_element, e);
    return skip(c);
}

static void add(lab_counters *to, const lab_counters *from) {
    for (int k = 0; k < COUNTERS; k++) ((double *)to)[k] += ((const double *)from)[k];
}

static void keep(lab_usage *u, const event *e) {
    u->events = grow(u->events, u->nevents, sizeof *u->events);
    lab_event *to = &u->events[u->nevents++];
    *to = (lab_event){.line = (int)e->host_line, .start = e->start, .duration = e->duration, .bytes = e->bytes};
    to->pageable = !strcmp(e->memory, "pageable");
    lab_text(to->kind, sizeof to->kind, "%s", e->kind);
    lab_text(to->name, sizeof to->name, "%s", e->name[0] ? e->name : e->kind);
    lab_text(to->file, sizeof to->file, "%s", e->host_file);
}

/* Launches, copies and memsets are what the device did, findings what the checks said; the report has lines of other
 * kinds too. */
static void take(lab_usage *u, const event *e, double *longest) {
    keep(u, e);
    bool launch = !strcmp(e->kind, "launch");
    if (!strcmp(e->kind, "finding") && !u->finding[0]) lab_text(u->finding, sizeof u->finding, "%s", e->message);
    if (!launch && strcmp(e->kind, "copy") && strcmp(e->kind, "memset")) return;
    if (launch)
        u->launches++;
    else
        u->copies++;
    u->spans = grow(u->spans, u->nspans, sizeof *u->spans);
    u->spans[u->nspans++] = (lab_span){e->start + e->launch, e->duration - e->launch};
    add(&u->total, &e->total);
    for (int i = 0; i < e->nlines; i++)
        add(&line_of(&u->lines, &u->nlines, e->lines[i].file, e->lines[i].line)->c, &e->lines[i].c);
    if (e->host_file[0]) line_of(&u->lines, &u->nlines, e->host_file, (int)e->host_line)->launches++;
    if (e->fault[0]) {
        lab_text(u->fault, sizeof u->fault, "%s", e->fault);
        lab_text(u->fault_message, sizeof u->fault_message, "%s", e->fault_message);
    }
    if (e->duration < *longest) return;
    *longest = e->duration;
    lab_text(u->bound, sizeof u->bound, "%s", e->bound);
    lab_text(u->why, sizeof u->why, "%s", e->why);
    lab_text(u->slowest, sizeof u->slowest, "%s", e->name);
}

/* Marks divide the report into stretches; a stretch's name may come back, and then its parts add up. */
int lab_read_report(FILE *f, const char *name, lab_usage *u, char *why, size_t why_size) {
    char *text = NULL;
    size_t room = 0;
    bool inside = false, seen = false;
    double longest = 0;
    event e = {.lines = NULL};
    for (int line = 1; getline(&text, &room, f) > 0; line++) {
        static const char mark[] = "{\"kind\":\"mark\"";
        if (!inside && strncmp(text, mark, sizeof mark - 1)) continue;
        text[strcspn(text, "\n")] = 0;
        cursor c = {.start = text, .p = text};
        e = (event){.lines = e.lines};
        if (!object(&c, event_member, &e) || (blanks(&c), *c.p && !fail(&c, "the end of the line"))) {
            lab_text(why, why_size, "SimGPU's report, line %d, column %d: expected %s", line, (int)(c.p - text) + 1,
                     c.expected);
            seen = false;
            break;
        }
        if (!strcmp(e.kind, "mark"))
            seen |= inside = !strcmp(e.name, name);
        else
            take(u, &e, &longest);
        why[0] = 0;
    }
    free(e.lines);
    free(text);
    if (!seen && !why[0]) lab_text(why, why_size, "SimGPU's report has no mark '%s'", name);
    return seen ? 0 : -1;
}

int lab_count_read(const char *name, lab_usage *u, char *why, size_t why_size) {
    memset(u, 0, sizeof *u);
    why[0] = 0;
    if (lab_lane() != LAB_SIM) return lab_text(why, why_size, "the gpu lane has no report"), -1;
    FILE *f = fopen(lab.report, "re");
    if (!f) return lab_text(why, why_size, "SimGPU's report %s: %s", lab.report, strerror(errno)), -1;
    int rc = lab_read_report(f, name, u, why, why_size);
    fclose(f);
    return rc;
}

lab_usage lab_usage_of(const char *name) {
    lab_usage u;
    char why[256];
    if (lab_count_read(name, &u, why, sizeof why)) lab_die("%s", why);
    return u;
}

void lab_usage_free(lab_usage *u) {
    free(u->lines);
    free(u->spans);
    free(u->events);
    memset(u, 0, sizeof *u);
}

/* A stretch holds the student's launches only, so every .cu file in it is the student's. */
bool lab_is_source(const char *file) {
    size_t n = strlen(file);
    return n > 3 && !strcmp(file + n - 3, ".cu");
}

const lab_line *lab_worst(const lab_usage *u, double (*cost)(const lab_line *)) {
    const lab_line *worst = NULL;
    double most = 0;
    for (int i = 0; i < u->nlines; i++) {
        if (!lab_is_source(u->lines[i].file)) continue;
        double v = cost(&u->lines[i]);
        if (v > most) most = v, worst = &u->lines[i];
    }
    return worst;
}

/* timeline_svg.c — draws a stretch of a report as a timeline, similar to a profiler's window.
 *
 *   timeline_svg REPORT [MARK [FROM TO]] > timeline.svg
 *   timeline_svg --pair MARK TRACE TRACE > timelines.svg
 *
 * MARK selects the stretch that begins with this mark (simgpuMark); without it, the whole report is drawn. FROM and TO
 * select a part of it, in microseconds from its beginning. The rows are the host's thread, the two copy engines, the
 * SMs, and the SMs' idle times; a legend lists their causes with share and host line. Hovering over a span shows its
 * name. The name of a kernel has a number behind it: so many of that name came before it in the stretch, which in a
 * loop is the step. A span has its name written on it, or at least the number, if that fits.
 *
 * The second form draws the stretch of two traces (TRACE=trace.json), a real card's and the virtual one's for example,
 * one above the other, on one scale of time; a real card's trace says nothing of idle times.
 *
 * The first reads only the report's lines (../README.md), so that the picture and the grade come from the same numbers.
 * It exits with status 1 and a message if there is nothing to draw. */
#include "../base/base.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum row { HOST, H2D, D2H, SMS, IDLE, ROWS };
enum { WIDTH = 960, LEFT = 84, RIGHT = 12, TOP = 34, ROW = 24, STEP = 34, CAUSES = 64, SHOWN = 7 };

typedef struct {
    enum row row;
    double start, end; /* ns */
    const char *colour;
    bool labelled; /* its name may be written on it */
    char name[176], place[256];
} span;

static span *spans;
static size_t nspans;
static double from_ns, to_ns;
static double top = TOP; /* of the timeline that is being drawn */
static int rows = ROWS;

static const char *const row_names[ROWS] = {"host", "H2D copies", "D2H copies", "SMs", "SMs idle"};

_Noreturn static void die(const char *what, const char *why) {
    fprintf(stderr, "timeline_svg: %s: %s\n", what, why);
    exit(1);
}

/* --- reading -------------------------------------------------------------------------------------------------- */

/* Returns the value of a key of the outermost object, or of the object `inside` it, or NULL. */
static const char *value_of(const char *line, const char *inside, const char *key) {
    size_t length = strlen(key);
    int depth = 0, wanted = inside ? -1 : 1;
    for (const char *p = line; *p; p++) {
        if (*p == '{' || *p == '[') depth++;
        if (*p == '}' || *p == ']') depth--;
        if (*p != '"') continue;
        const char *word = ++p;
        while (*p && *p != '"') p += *p == '\\' && p[1] ? 2 : 1;
        if (!*p) return NULL;
        if (p[1] != ':') continue;
        if (depth == wanted && (size_t)(p - word) == length && !strncmp(word, key, length)) return p + 2;
        if (inside && depth == 1)
            wanted = (size_t)(p - word) == strlen(inside) && !strncmp(word, inside, strlen(inside)) ? 2 : -1;
    }
    return NULL;
}

static double number(const char *line, const char *key) {
    const char *v = value_of(line, NULL, key);
    return v ? strtod(v, NULL) : 0;
}

static void text(const char *line, const char *key, char *to, size_t size) {
    const char *v = value_of(line, NULL, key);
    size_t n = 0;
    if (v && *v == '"')
        for (v++; *v && *v != '"' && n + 1 < size; v++) {
            if (*v == '\\' && v[1]) v++;
            to[n++] = *v;
        }
    to[n] = '\0';
}

static void add(enum row row, double start, double end, const char *colour, const char *name, const char *place) {
    if ((nspans & (nspans - 1)) == 0) {
        spans = realloc(spans, (nspans ? 2 * nspans : 1) * sizeof *spans);
        if (!spans) die("spans", "no memory; draw a shorter part");
    }
    span *s = &spans[nspans++];
    *s = (span){.row = row, .start = start, .end = end, .colour = colour};
    snprintf(s->name, sizeof s->name, "%s", name);
    snprintf(s->place, sizeof s->place, "%s", place);
}

/* Returns how many commands of this name came before. Beyond MOST names all are 0. */
static unsigned count_before(const char *name) {
    enum { MOST = 64 };
    static struct {
        char name[160];
        unsigned count;
    } seen[MOST];
    static int n;
    int i = 0;
    while (i < n && strcmp(seen[i].name, name) != 0) i++;
    if (i == MOST) return 0;
    if (i == n) snprintf(seen[n++].name, sizeof seen[0].name, "%s", name);
    return seen[i].count++;
}

static const char *gap_colour(const char *cause) {
    if (!strncmp(cause, "host blocked", 12)) return "#c8453c";
    if (!strcmp(cause, "host working")) return "#7d7d85";
    if (!strcmp(cause, "host launching")) return "#e0a030";
    if (!strncmp(cause, "waiting", 7)) return "#3d9a63";
    return "#a9c3ef";
}

static void take(const char *line) {
    char kind[16], name[160], file[200], place[256] = "";
    text(line, "kind", kind, sizeof kind);
    text(line, "name", name, sizeof name);
    text(line, "host_file", file, sizeof file);
    if (*file) snprintf(place, sizeof place, "%s:%.0f", base_file_name(file), number(line, "host_line"));
    double start = number(line, "start_ns"), end = start + number(line, "duration_ns"),
           called = number(line, "call_ns");
    bool bulk = !strcmp(kind, "launch") || !strcmp(kind, "copy") || !strcmp(kind, "memset");
    if (bulk) add(HOST, called, called, "#e0a030", *name ? name : kind, place);
    if (!strcmp(kind, "launch")) {
        const char *own = value_of(line, "terms_ns", "launch");
        double work = start + (own ? strtod(own, NULL) : 0);
        char numbered[176];
        snprintf(numbered, sizeof numbered, "%s %u", name, count_before(name));
        add(SMS, start, work, "#a9c3ef", numbered, place);
        add(SMS, work, end, "#2a62c9", numbered, place);
        spans[nspans - 1].labelled = true;
    } else if (bulk) {
        char what[64], direction[8];
        text(line, "direction", direction, sizeof direction);
        snprintf(what, sizeof what, "%s %s, %.0f bytes", kind, direction, number(line, "bytes"));
        enum row row = !strcmp(direction, "h2d") ? H2D : !strcmp(direction, "d2h") ? D2H : SMS;
        add(row, start, end, row == H2D ? "#3d9a63" : row == D2H ? "#8a5bb5" : "#2a62c9", what, place);
    } else if (!strcmp(kind, "call")) {
        add(HOST, start, end, "#c8453c", name, place);
    } else if (!strcmp(kind, "work")) {
        add(HOST, start, end, "#7d7d85", name, place);
        spans[nspans - 1].labelled = true;
    } else if (!strcmp(kind, "gap")) {
        text(line, "cause", name, sizeof name);
        add(IDLE, start, end, gap_colour(name), name, place);
    }
}

/* Reads the stretch's lines, from its mark to the next. */
static void read_report(const char *path, const char *mark) {
    FILE *f = fopen(path, "re");
    if (!f) die(path, strerror(errno));
    char *line = NULL, kind[16], name[160];
    size_t room = 0;
    bool inside = !mark, seen = inside;
    while (getline(&line, &room, f) > 0) {
        text(line, "kind", kind, sizeof kind);
        if (!strcmp(kind, "mark") && mark) {
            text(line, "name", name, sizeof name);
            inside = !strcmp(name, mark);
            if (inside && !seen) from_ns = number(line, "host_ns");
            seen |= inside;
        } else if (inside) {
            if (!strcmp(kind, "totals")) to_ns = number(line, "start_ns") + number(line, "duration_ns");
            take(line);
        }
    }
    free(line);
    fclose(f);
    if (!seen) die(mark, "the report has no such mark");
    if (to_ns <= from_ns) die(path, "the report has no time in that stretch");
}

/* Takes a line of a trace. Rows of threads: see trace_file.c. */
static void take_traced(const char *line) {
    enum { HOST_THREAD, FUNCTIONS, TO_DEVICE, TO_HOST, GAPS, FIRST_SM, STREAMS = 64 };
    char name[160];
    text(line, "name", name, sizeof name);
    double start = number(line, "ts") * 1e3, end = start + number(line, "dur") * 1e3, tid = number(line, "tid");
    const char *v = value_of(line, "args", "from");
    char place[256] = "";
    if (v) snprintf(place, sizeof place, "%.*s", (int)strcspn(v + 1, "\""), v + 1);
    bool submits = strstr(name, "Launch") || strstr(name, "Async") || strstr(name, "Record");
    if (tid <= FUNCTIONS)
        add(HOST, start, end, submits ? "#e0a030" : "#c8453c", name, place);
    else if (tid == TO_DEVICE || tid == TO_HOST)
        add(tid == TO_DEVICE ? H2D : D2H, start, end, tid == TO_DEVICE ? "#3d9a63" : "#8a5bb5", name, place);
    else if (tid >= FIRST_SM && tid < STREAMS) {
        add(SMS, start, end, "#2a62c9", name, place);
        spans[nspans - 1].labelled = true;
    }
}

/* Reads the trace's last stretch of that mark, which ends at the next mark. Returns its length; the spans count from
 * its beginning. gpu: the card's name. */
static double read_trace(const char *path, const char *mark, char gpu[96]) {
    FILE *f = fopen(path, "re");
    if (!f) die(path, strerror(errno));
    char *line = NULL, phase[4], name[160];
    size_t room = 0;
    double begin = -1, end = -1;
    nspans = 0;
    while (getline(&line, &room, f) > 0) {
        text(line, "ph", phase, sizeof phase);
        text(line, "name", name, sizeof name);
        if (*phase == 'M' && !strcmp(name, "process_name") && number(line, "pid") == 2) {
            const char *v = value_of(line, "args", "name");
            if (v) snprintf(gpu, 96, "%.*s", (int)strcspn(v + 1, "\""), v + 1);
        }
        if (*phase == 'X') take_traced(line);
        if (*phase != 'i') continue;
        if (begin >= 0 && end < 0) end = number(line, "ts") * 1e3;
        if (strcmp(name, mark) != 0) continue;
        begin = number(line, "ts") * 1e3;
        end = -1;
    }
    free(line);
    fclose(f);
    if (begin < 0) die(path, "the trace has no such mark");
    if (end <= begin) die(path, "the trace has no time behind that mark");
    size_t kept = 0;
    for (size_t i = 0; i < nspans; i++) {
        if (spans[i].end < begin || spans[i].start > end) continue;
        spans[kept] = spans[i];
        spans[kept].start -= begin;
        spans[kept++].end -= begin;
    }
    nspans = kept;
    return end - begin;
}

/* --- drawing -------------------------------------------------------------------------------------------------- */

static double x_of(double ns) { return LEFT + (ns - from_ns) / (to_ns - from_ns) * (WIDTH - LEFT - RIGHT); }

static void put_text(const char *s) {
    for (; *s; s++) {
        if (*s == '<')
            fputs("&lt;", stdout);
        else if (*s == '>')
            fputs("&gt;", stdout);
        else if (*s == '&')
            fputs("&amp;", stdout);
        else
            putchar(*s);
    }
}

static void put_label(double x, double y, const char *anchor, const char *s) {
    printf("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    put_text(s);
    puts("</text>");
}

/* Sorts by start, since commands of several streams are reported in the order of their calls but run in another. */
static int by_start(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* Writes the span's name on it, or the number at its end, or nothing. */
static void draw_name(const span *s, double x, double width, double y) {
    static const double letter = 5.4; /* pixels of one, in this font */
    const char *last = strrchr(s->name, ' '), *label = s->name;
    if ((double)strlen(label) * letter > width) label = last && last[1] >= '0' && last[1] <= '9' ? last + 1 : "";
    if (!s->labelled || !*label || (double)strlen(label) * letter > width) return;
    printf(
        "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"10\" fill=\"#ffffff\" pointer-events=\"none\">",
        x + width / 2, y + 16);
    put_text(label);
    puts("</text>");
}

/* Draws the spans, except those that an earlier span covers, so that thousands of launches in a pixel are one bar. */
static void draw_spans(void) {
    double drawn[ROWS];
    for (int r = 0; r < ROWS; r++) drawn[r] = -1;
    qsort(spans, nspans, sizeof *spans, by_start);
    for (size_t i = 0; i < nspans; i++) {
        const span *s = &spans[i];
        if (s->end < from_ns || s->start > to_ns) continue;
        double x = x_of(s->start < from_ns ? from_ns : s->start), end = x_of(s->end > to_ns ? to_ns : s->end);
        if (end - x < 0.6) end = x + 0.6;
        if (end <= drawn[s->row]) continue;
        drawn[s->row] = end;
        double y = top + STEP * s->row, height = s->start == s->end ? ROW / 2.0 : ROW; /* a submission is a tick */
        printf("<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>", x, y, end - x, height,
               s->colour);
        put_text(s->name);
        printf(" %.1f us", (s->end - s->start) / 1000);
        if (*s->place) printf(", ");
        put_text(s->place);
        puts("</title></rect>");
        draw_name(s, x, end - x, y);
    }
}

/* Returns the distance of ticks in ns, 1, 2 or 5 times a power of ten, so that about six of them fit. */
static double tick_ns(void) {
    static const double steps[] = {1, 2, 5};
    for (double ten = 1;; ten *= 10)
        for (int i = 0; i < 3; i++)
            if (ten * steps[i] * 6 >= to_ns - from_ns) return ten * steps[i];
}

static void draw_axis(double base_ns) {
    double step = tick_ns(), bottom = top + STEP * rows;
    for (double t = 0; base_ns + t <= to_ns; t += step) {
        if (base_ns + t < from_ns) continue;
        char label[32];
        snprintf(label, sizeof label, "%g %s", step < 1e6 ? t / 1e3 : t / 1e6, step < 1e6 ? "us" : "ms");
        double x = x_of(base_ns + t);
        printf("<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d8d8dd\"/>\n", x, (int)top - 4, x,
               bottom);
        put_label(x, bottom + 12, "middle", label);
    }
    for (int r = 0; r < rows; r++) put_label(LEFT - 8, top + STEP * r + 16, "end", row_names[r]);
}

typedef struct {
    const span *of;
    double ns;
} cause;

static int by_time(const void *a, const void *b) {
    double x = ((const cause *)a)->ns, y = ((const cause *)b)->ns;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* Sums the idle time of the drawn part by cause and line, largest first. Returns the number of causes. */
static int sum_causes(cause causes[CAUSES]) {
    int n = 0;
    for (size_t i = 0; i < nspans; i++) {
        const span *s = &spans[i];
        double start = s->start < from_ns ? from_ns : s->start, end = s->end > to_ns ? to_ns : s->end;
        if (s->row != IDLE || end <= start) continue;
        int c = 0;
        while (c < n && (strcmp(causes[c].of->name, s->name) || strcmp(causes[c].of->place, s->place))) c++;
        if (c == CAUSES) continue;
        if (c == n) causes[n++] = (cause){s, 0};
        causes[c].ns += end - start;
    }
    qsort(causes, (size_t)n, sizeof *causes, by_time);
    return n;
}

static void draw_legend(const cause *causes, int n, double y) {
    for (int c = 0; c < n; c++, y += 18) {
        char label[512];
        const span *s = causes[c].of;
        snprintf(label, sizeof label, "%4.1f %%  %s%s%s", 100 * causes[c].ns / (to_ns - from_ns), s->name,
                 *s->place ? ", " : "", s->place);
        printf("<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", LEFT, y - 10, s->colour);
        put_label(LEFT + 20, y, "start", label);
    }
}

static void draw_page(int height) {
    printf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
           "font-size=\"12\">\n",
           WIDTH, height);
    printf("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", WIDTH, height);
}

static int end_page(void) {
    puts("</svg>");
    free(spans);
    if (fflush(stdout) || ferror(stdout)) die("standard output", strerror(errno));
    return 0;
}

/* The longer stretch gives the scale, so the first trace is read twice. */
static int draw_pair(const char *mark, char **paths) {
    double ns[2], height = TOP + STEP * SMS + STEP + 34;
    char gpu[96] = "";
    for (int i = 0; i < 2; i++) ns[i] = read_trace(paths[i], mark, gpu);
    rows = SMS + 1;
    from_ns = 0;
    to_ns = ns[0] > ns[1] ? ns[0] : ns[1];
    draw_page((int)(2 * height));
    for (int i = 0; i < 2; i++) {
        char title[256];
        read_trace(paths[i], mark, gpu);
        top = TOP + i * height;
        snprintf(title, sizeof title, "%.80s, %.60s: %.1f us", gpu, mark, ns[i] / 1e3);
        put_label(LEFT, top - 16, "start", title);
        draw_axis(0);
        draw_spans();
    }
    return end_page();
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "--pair")) return draw_pair(argv[2], argv + 3);
    if (argc != 2 && argc != 3 && argc != 5) die("usage", "timeline_svg REPORT [MARK [FROM TO]] > timeline.svg");
    read_report(argv[1], argc > 2 ? argv[2] : NULL);
    double base = from_ns;
    if (argc == 5) {
        from_ns = base + atof(argv[3]) * 1e3;
        to_ns = base + atof(argv[4]) * 1e3;
        if (to_ns <= from_ns) die("FROM TO", "microseconds, the second larger than the first");
    }
    static cause causes[CAUSES];
    int n = sum_causes(causes);
    double idle = 0;
    for (int c = 0; c < n; c++) idle += causes[c].ns;
    if (n > SHOWN) n = SHOWN;

    int height = TOP + STEP * ROWS + 40 + 18 * n;
    draw_page(height);
    char title[256];
    snprintf(title, sizeof title, "%.60s%svirtual time: %.1f us, the SMs work for %.0f %% of it",
             argc > 2 ? argv[2] : "", argc > 2 ? ", " : "", (to_ns - from_ns) / 1e3,
             100 - 100 * idle / (to_ns - from_ns));
    put_label(LEFT, 18, "start", title);
    draw_axis(base);
    draw_legend(causes, n, TOP + STEP * ROWS + 36);
    draw_spans(); /* last, because it sorts the spans, to which the causes point */
    return end_page();
}

/* report.c — see report.h. */
#include "report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum when { BEFORE, AFTER };
enum question { KERNEL, SHARE, LAUNCHES, WAITS, IDLE, SECTORS, SQUARES, OPERATIONS, TIME, BOUND, BYTES };

static const struct {
    enum when when;
    enum question what;
    const char *text;
} questions[] = {
    {BEFORE, KERNEL, "kernel that takes the most time"},
    {BEFORE, SHARE, "its share of the time of all kernels, in %"},
    {BEFORE, LAUNCHES, "kernels launched in a step"},
    {BEFORE, WAITS, "waits of the host in a step"},
    {BEFORE, IDLE, "share of the time in which no kernel is under way, in %"},
    {BEFORE, SECTORS, "sectors of 32 bytes that this kernel loads for 128 bytes"},
    {BEFORE, SQUARES, "device memory of the N x N arrays at 256 characters and one head, in KB"},
    {BEFORE, OPERATIONS, "floating-point operations of the products in a step, in millions"},
    {AFTER, TIME, "time of a step, in us"},
    {AFTER, LAUNCHES, "kernels launched in a step"},
    {AFTER, KERNEL, "kernel that takes the most time"},
    {AFTER, SHARE, "its share of the time of all kernels, in %"},
    {AFTER, BOUND,
     "what bounds the longest launch (launch, issue, LSU, barrier, L2 reads, L2 writes, DRAM, latency ...)"},
    {AFTER, BYTES, "device memory at 256 characters, in KB"},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

static char answers[QUESTIONS][64]; /* "": open */
static bool is_there;

/* --- reading ------------------------------------------------------------------------------------- */

/* Cuts blanks, and the marks of a list or of code, off both ends. */
static char *trimmed(char *text) {
    static const char marks[] = " \t\r\n`*_-";
    text += strspn(text, marks);
    for (size_t n = strlen(text); n && strchr(marks, text[n - 1]); n--) text[n - 1] = 0;
    return text;
}

/* A line may hold "question: answer", in any case, with blanks around. */
static void take_line(char *line, enum when when) {
    char *colon = strchr(line, ':'); /* no question has one */
    if (!colon) return;
    *colon = 0;
    const char *question = trimmed(line);
    for (int i = 0; i < QUESTIONS; i++)
        if (questions[i].when == when && !strcasecmp(question, questions[i].text))
            LAB_SAY(answers[i], "%s", trimmed(colon + 1));
}

int report_read(const char *source) {
    char path[512], line[1024];
    const char *slash = strrchr(source, '/');
    enum when when = BEFORE;
    int answered = 0;
    LAB_SAY(path, "%.*s/report.md", slash ? (int)(slash - source) : 1, slash ? source : ".");
    FILE *f = fopen(path, "re");
    is_there = f != NULL;
    while (f && fgets(line, sizeof line, f)) {
        if (!strncasecmp(line, "## before", 9)) when = BEFORE;
        if (!strncasecmp(line, "## after", 8)) when = AFTER;
        take_line(line, when);
    }
    if (f) fclose(f);
    for (int i = 0; i < QUESTIONS; i++) answered += questions[i].when == BEFORE && answers[i][0];
    return answered;
}

/* --- comparing ----------------------------------------------------------------------------------- */

static double number_of(const report_facts *f, int i) {
    const profile *p = questions[i].when == BEFORE ? f->before : f->after;
    const double steps = questions[i].when == BEFORE ? f->before_steps : f->after_steps;
    const profile_kernel *k = &p->kernels[0];
    switch (questions[i].what) {
    case KERNEL:
    case BOUND: return 0;
    case SHARE: return 100 * k->ns / p->kernel_ns;
    case LAUNCHES: return p->launches / steps;
    case WAITS: return p->waits / steps;
    case IDLE: return 100 * (p->ns - p->busy_ns) / p->ns;
    case SECTORS: return k->ld_bytes > 0 ? 128 * k->ld_sectors / k->ld_bytes : 0;
    case SQUARES: return f->square_bytes / 1e3;
    case OPERATIONS: return f->operations / 1e6;
    case TIME: return f->us;
    case BYTES: return f->bytes / 1e3;
    }
    return 0;
}

/* Within 5 %, or half a unit, as far as rounding goes. Operations may count what the mask leaves out. */
static bool is_near(int i, double got, double want) {
    const double share = questions[i].what == OPERATIONS ? 0.2 : 0.05;
    return fabs(got - want) <= fmax(share * want, 0.5);
}

/* The words of the profile for what bounds a kernel; simgpuTermName has them in the sim lane only. */
static const char *const bounds[SIMGPU_TERMS] = {
    [SIMGPU_TERM_LAUNCH] = "launch",       [SIMGPU_TERM_BLOCKS] = "blocks",
    [SIMGPU_TERM_ISSUE] = "issue",         [SIMGPU_TERM_LSU] = "LSU",
    [SIMGPU_TERM_BARRIER] = "barrier",     [SIMGPU_TERM_L2_READ] = "L2 reads",
    [SIMGPU_TERM_L2_WRITE] = "L2 writes",  [SIMGPU_TERM_DRAM] = "DRAM",
    [SIMGPU_TERM_ATOMIC] = "atomics",      [SIMGPU_TERM_LATENCY] = "latency",
    [SIMGPU_TERM_LINK] = "link",           [SIMGPU_TERM_PAGES] = "pages",
    [SIMGPU_TERM_TENSOR] = "tensor cores",
};

static bool agrees(const report_facts *f, int i) {
    const profile *p = questions[i].when == BEFORE ? f->before : f->after;
    const char *answer = answers[i];
    char *end;
    if (questions[i].what == KERNEL) return !strcmp(answer, p->kernels[0].name);
    if (questions[i].what == BOUND) {
        const size_t n = strlen(bounds[f->bound]);
        return !strncasecmp(answer, bounds[f->bound], n) && !isalpha((unsigned char)answer[n]);
    }
    const double got = strtod(answer, &end);
    return end != answer && is_near(i, got, number_of(f, i));
}

void report_note(const report_facts *f) {
    int open = 0, right = 0, wrong = 0, first = -1;
    if (!is_there) return;
    for (int i = 0; i < QUESTIONS; i++) {
        if (!answers[i][0])
            open++;
        else if ((questions[i].when == BEFORE && !f->before) || !agrees(f, i))
            first = wrong++ ? first : i;
        else
            right++;
    }
    const char *are = open == 1 ? "is" : "are";
    if (!wrong)
        return lab_note("report.md", "%d of %d answers agree with the run, %d %s open", right, QUESTIONS, open, are);
    const char *text = questions[first].text; /* without the list of what may be answered */
    lab_note("report.md", "%d of %d answers agree with the run, %d %s open, %d %s not; the first: %s, '%.*s': %s",
             right, QUESTIONS, open, are, wrong, wrong == 1 ? "does" : "do",
             questions[first].when == BEFORE ? "before" : "after", (int)strcspn(text, "("), text, answers[first]);
}

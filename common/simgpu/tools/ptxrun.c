/* ptxrun.c — runs the tests in the comments of PTX files and prints TAP: ptxrun [-v] [--all-rows] FILE.ptx...
 *
 * A test is a block of comment lines. `run` launches a kernel of the file once:
 *
 *   // run: KERNEL [grid=X,Y,Z] [block=X,Y,Z] [shared=BYTES] [budget=WARP_INSTRUCTIONS] [cooperative]
 *                                      [resident=BLOCKS that the device holds at once]
 *   // arg: u32 7                      an argument of the kernel, in order
 *   // arg: buf f32 1 2.5 nan 0*29     a device buffer (buffer 0, 1, ... in order); passes its address
 *   // arg: ptr 0 -4                   the address of buffer 0, 4 bytes before its beginning
 *   // arg: freed 64                   the address of 64 bytes that were freed
 *   // arg: tex 0 f32*2 4x3x1 linear   a texture object on buffer 0: channels, size, and any of: linear normalized unit
 *                                      layered cube, clamp mirror border (wrap if none). A surface object: surf 0 ...;
 *                                      `ended` makes it one that was destroyed before the launch
 *   // out: 0 f32 2 3.5 nan            buffer 0 begins with these values afterwards
 *   // more: 4 5 6                     continues the list of the last arg or out
 *   // fault: illegal /load of 4/      the launch fails so, with a message that matches this extended expression
 *   // count: ld_requests 1 turns 4    counters of the launch: those of include/simgpu_counters.def, footprint_read,
 *                                      footprint_written, turns and float_turns (of atomics), and the deepest block's
 *                                      rounds, missed, clocks; grid_syncs of a block; registers
 *   // line: 12 ld_sectors 4           the same for one source line (.loc)
 *   // print: "hello\n"                the output of the kernel's printf
 *   // load: /expected '}'/            the file does not load, with a message that matches
 *
 * A table runs instructions on many inputs, one row per thread, with results on the left:
 *
 *   // table: d:u32 = a:u32 b:u32 | add.u32 d, a, b;
 *   //   0 = 0xffffffff 1              # wraps
 *
 * ptxrun generates the kernel of a table and runs it with full warps, and twice with some inactive lanes, whose
 * registers must keep their values. A column of type pred is 0 or 1.
 *
 * Values are integers, or floats as 1.5, 0x1p-149, inf, nan or bits (0x7f800000). v*n is n times v, a..b counts up. In
 * a result, nan means the one NaN of fp32 arithmetic and any NaN in f64; v~e allows the error e; ? allows any value.
 *
 * -v also prints each run's counters and a hash of its memory, which must be equal on every host and for any number of
 * threads. --all-rows adds a test that passed tests have decoded every row of opcodes.def. */
#include "../exec/exec.h"
#include "../ptx/decode.h"
#include "../time/time.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LIST = 1 << 20, MAX_ITEMS = 32, MAX_ROWS = 992 /* a block has 1024 threads */, DIFFERENCES = 4 };

typedef struct {
    uint64_t bits;
    double tolerance; /* of a float; 0 requires these bits */
    bool any;
} value;

typedef struct {
    enum ptx_type type;
    value *v;
    uint32_t n;
} list;

typedef struct {
    enum { ARG_SCALAR, ARG_BUFFER, ARG_POINTER, ARG_FREED, ARG_TEXTURE } kind;
    list values;      /* SCALAR, BUFFER */
    uint32_t buffer;  /* number of the buffer, or of the one that a POINTER points to */
    int64_t offset;   /* POINTER; FREED: bytes */
    uint64_t address; /* TEXTURE: the handle */
    exec_texture texture;
    bool ended;
} argument;

typedef struct {
    uint32_t buffer;
    list values;
} expectation;

typedef struct {
    uint32_t line; /* 0 for the whole launch */
    char field[40];
    uint64_t want;
} count;

typedef struct {
    char name[16];
    enum ptx_type type;
} column;

typedef struct {
    enum { TEST_NONE, TEST_RUN, TEST_TABLE, TEST_LOAD } kind;
    uint32_t line;
    char kernel[256];
    exec_launch launch;
    uint64_t budget;
    argument args[MAX_ITEMS];
    expectation outs[MAX_ITEMS];
    count counts[MAX_ITEMS];
    uint32_t nargs, nbuffers, nouts, ncounts;
    enum simgpu_fault_kind status;
    char pattern[512], printed[4096];
    bool checks_print;
    /* a table */
    column columns[16];
    list cells[16]; /* a list for each column */
    uint32_t ncolumns, nresults;
    char code[512];
} test;

static struct {
    const char *path;
    char *text;
    size_t length;
    uint32_t line;         /* of the current directive */
    exec_program *program; /* loaded at the first run */
    list *last;            /* the list that `more` continues */
    test t;
} file;
static bool verbose;
static uint32_t tests, failures;
static exec_device *device;
static bool failed; /* the current test has failed */
static char why[4096];
static bool covered[NOPS];
static char printed[65536];
static size_t printed_length;

static const char *const status_names[] = {[SIMGPU_FAULT_NONE] = "ok",
                                           [SIMGPU_FAULT_UNSUPPORTED] = "unsupported",
                                           [SIMGPU_FAULT_ILLEGAL_ADDRESS] = "illegal",
                                           [SIMGPU_FAULT_MISALIGNED] = "misaligned",
                                           [SIMGPU_FAULT_BUDGET] = "budget",
                                           [SIMGPU_FAULT_DEADLOCK] = "deadlock",
                                           [SIMGPU_FAULT_BAD_SYNC] = "sync",
                                           [SIMGPU_FAULT_TRAP] = "trap",
                                           [SIMGPU_FAULT_ASSERT] = "assert",
                                           [SIMGPU_FAULT_STACK] = "stack"};

/* Ends ptxrun because of a mistake in the test file itself. */
static _Noreturn __attribute__((format(printf, 1, 2))) void mistake(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    printf("Bail out! %s:%u: ", file.path, file.line);
    vprintf(format, ap);
    puts("");
    va_end(ap);
    exit(2);
}

static __attribute__((format(printf, 1, 2))) void fail(const char *format, ...) {
    size_t n = strlen(why);
    va_list ap;
    va_start(ap, format);
    failed = true;
    if (n + 2 < sizeof why) n += (size_t)snprintf(why + n, sizeof why - n, "#   ");
    if (n < sizeof why) n += (size_t)vsnprintf(why + n, sizeof why - n, format, ap);
    if (n + 1 < sizeof why) strcpy(why + n, "\n");
    va_end(ap);
}

/* --- reading ------------------------------------------------------------------------------------------------ */

static bool is_float(enum ptx_type t) { return t == TY_f32 || t == TY_f64; }

static enum ptx_type type_named(const char *text, size_t n) {
    for (int t = 1; t < NTYPES; t++)
        if (strlen(ptx_type_names[t]) == n + 1 && strncmp(ptx_type_names[t] + 1, text, n) == 0) return (enum ptx_type)t;
    mistake("'%.*s' is not a type", (int)n, text);
}

static uint64_t float_bits(enum ptx_type t, double v) {
    uint64_t bits = 0;
    float f = (float)v;
    if (t == TY_f32)
        memcpy(&bits, &f, 4);
    else
        memcpy(&bits, &v, 8);
    return bits;
}

static double float_value(enum ptx_type t, uint64_t bits) {
    float f;
    double d;
    memcpy(&f, &bits, 4);
    memcpy(&d, &bits, 8);
    return t == TY_f32 ? (double)f : d;
}

/* Reads one value at *p and advances *p behind it. Returns its bits. */
static uint64_t scalar(const char **p, enum ptx_type t) {
    const char *s = *p;
    char *end;
    uint64_t bits;
    errno = 0;
    size_t hex = strncmp(s, "0x", 2) == 0 ? strspn(s + 2, "0123456789abcdefABCDEF") : 0;
    bool is_bits = hex && !strchr(".pP", s[2 + hex] ? s[2 + hex] : ' ');
    if (is_float(t) && strncmp(s, "nan", 3) == 0) {
        *p = s + 3;
        return t == TY_f32 ? 0x7fffffff : 0x7fffffffffffffff;
    }
    if (is_float(t) && !is_bits) {
        double v = t == TY_f32 ? (double)strtof(s, &end) : strtod(s, &end);
        bits = float_bits(t, v);
    } else {
        bits = *s == '-' ? (uint64_t)strtoll(s, &end, 0) : strtoull(s, &end, 0);
        if (errno) mistake("'%s' is out of range", s);
    }
    if (end == s) mistake("expected a value at '%s'", s);
    *p = end;
    uint32_t bytes = ptx_type_bytes[t];
    return bytes < 8 ? bits & ((1ull << 8 * bytes) - 1) : bits;
}

static void append(list *l, value v) {
    if (l->n == MAX_LIST) mistake("a list of more than %d values", MAX_LIST);
    if ((l->n & (l->n - 1)) == 0) {
        l->v = realloc(l->v, (l->n ? 2 * l->n : 1) * sizeof *l->v);
        if (!l->v) mistake("no memory for the list");
    }
    l->v[l->n++] = v;
}

/* value = "?" | scalar [ "~" error ] [ "*" times | ".." last ] */
static void read_value(const char **p, list *l) {
    value v = {0};
    if (**p == '?') {
        v.any = true;
        ++*p;
    } else {
        v.any = l->type == TY_f64 && strncmp(*p, "nan", 3) == 0;
        v.bits = scalar(p, l->type);
    }
    if (v.any && v.bits) v.tolerance = -1; /* any NaN */
    if (**p == '~') {
        ++*p;
        char *end;
        v.tolerance = strtod(*p, &end);
        *p = end;
    }
    uint64_t times = 1, step = 0;
    if (**p == '*') {
        ++*p;
        times = scalar(p, TY_u32);
    } else if (strncmp(*p, "..", 2) == 0) {
        *p += 2;
        times = scalar(p, l->type) - v.bits + 1;
        step = 1;
    }
    if (times > MAX_LIST) mistake("a list of more than %d values", MAX_LIST);
    for (uint64_t k = 0; k < times; k++, v.bits += step) append(l, v);
    if (**p && **p != ' ') mistake("'%s' after a value", *p);
}

static void read_list(const char *p, list *l) {
    for (p += strspn(p, " "); *p && *p != '#'; p += strspn(p, " ")) read_value(&p, l);
    file.last = l;
}

/* Reads the next word of *p into `word`. Returns false at the end of the line. */
static bool next_word(const char **p, char *word, size_t size) {
    *p += strspn(*p, " ");
    size_t n = strcspn(*p, " ");
    if (n >= size) mistake("'%.*s' is too long", (int)n, *p);
    memcpy(word, *p, n);
    word[n] = '\0';
    *p += n;
    return n > 0;
}

static list new_list(const char *type) { return (list){.type = type_named(type, strlen(type))}; }

static exec_dim dimension(const char *text) {
    exec_dim d = {1, 1, 1};
    if (sscanf(text, "%u,%u,%u", &d.x, &d.y, &d.z) < 1 || !d.x || !d.y || !d.z) mistake("'%s' is not a size", text);
    return d;
}

static void read_run(const char *p) {
    test *t = &file.t;
    char word[256];
    if (!next_word(&p, t->kernel, sizeof t->kernel)) mistake("run: which kernel?");
    t->launch.grid = t->launch.block = (exec_dim){1, 1, 1};
    while (next_word(&p, word, sizeof word)) {
        if (strncmp(word, "grid=", 5) == 0)
            t->launch.grid = dimension(word + 5);
        else if (strncmp(word, "block=", 6) == 0)
            t->launch.block = dimension(word + 6);
        else if (strncmp(word, "shared=", 7) == 0)
            t->launch.dynamic_shared = (uint32_t)strtoul(word + 7, NULL, 10);
        else if (strncmp(word, "budget=", 7) == 0)
            t->budget = strtoull(word + 7, NULL, 10);
        else if (strncmp(word, "resident=", 9) == 0)
            t->launch.resident = (uint32_t)strtoul(word + 9, NULL, 10);
        else if (strcmp(word, "cooperative") == 0)
            t->launch.cooperative = true;
        else
            mistake("run: '%s'?", word);
    }
}

/* Reads BUFFER TYPE*CHANNELS WIDTHxROWSxPLANES and the words behind them. */
static void read_texture(const char *p, argument *a) {
    exec_texture *t = &a->texture;
    char word[64], type[8];
    unsigned channels;
    if (!next_word(&p, word, sizeof word)) mistake("arg: tex BUFFER ...");
    a->buffer = (uint32_t)strtoul(word, NULL, 10);
    if (!next_word(&p, word, sizeof word) || sscanf(word, "%7[a-z0-9]*%u", type, &channels) != 2)
        mistake("arg: TYPE*CHANNELS, as f32*4");
    if (!next_word(&p, word, sizeof word) || sscanf(word, "%ux%ux%u", &t->width, &t->rows, &t->planes) != 3)
        mistake("arg: WIDTHxROWSxPLANES");
    enum ptx_type element = type_named(type, strlen(type));
    t->bits = (uint8_t)(8 * ptx_type_bytes[element]), t->channels = (uint8_t)channels, t->faces = 1;
    t->kind = *type == 's' ? EXEC_SIGNED : *type == 'u' ? EXEC_UNSIGNED : EXEC_FLOAT;
    while (next_word(&p, word, sizeof word)) {
        static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
        bool known = false;
        for (int k = 0; k < 4; k++)
            if (strcmp(word, modes[k]) == 0) known = true, t->mode[0] = t->mode[1] = t->mode[2] = (enum exec_address)k;
        if (strcmp(word, "linear") == 0) known = t->linear = true;
        if (strcmp(word, "normalized") == 0) known = t->normalized = true;
        if (strcmp(word, "unit") == 0) known = t->unit = true;
        if (strcmp(word, "layered") == 0) known = true, t->layers = t->planes;
        if (strcmp(word, "cube") == 0) known = true, t->faces = 6;
        if (strcmp(word, "ended") == 0) known = a->ended = true;
        if (!known) mistake("arg: '%s' is no word for a texture", word);
    }
    for (int c = 0; c < 4; c++) t->border[c] = 0.5f;
}

static void read_arg(const char *p) {
    test *t = &file.t;
    char word[64];
    if (t->nargs == MAX_ITEMS) mistake("more than %d arguments", MAX_ITEMS);
    argument *a = &t->args[t->nargs++];
    if (!next_word(&p, word, sizeof word)) mistake("arg: what?");
    if (strcmp(word, "buf") == 0) {
        a->kind = ARG_BUFFER;
        a->buffer = t->nbuffers++;
        next_word(&p, word, sizeof word);
        a->values = new_list(word);
        read_list(p, &a->values);
    } else if (strcmp(word, "ptr") == 0) {
        a->kind = ARG_POINTER;
        if (sscanf(p, "%u %" SCNd64, &a->buffer, &a->offset) < 1) mistake("arg: ptr BUFFER [OFFSET]");
    } else if (strcmp(word, "tex") == 0 || strcmp(word, "surf") == 0) {
        a->kind = ARG_TEXTURE;
        a->texture.surface = *word == 's';
        read_texture(p, a);
    } else if (strcmp(word, "freed") == 0) {
        a->kind = ARG_FREED;
        a->offset = strtoll(p, NULL, 10);
    } else {
        a->values = new_list(word);
        read_list(p, &a->values);
        if (a->values.n != 1) mistake("arg: one value, or 'buf' before the type");
    }
}

static void read_out(const char *p) {
    test *t = &file.t;
    char word[64];
    if (t->nouts == MAX_ITEMS) mistake("more than %d results", MAX_ITEMS);
    expectation *e = &t->outs[t->nouts++];
    if (next_word(&p, word, sizeof word)) e->buffer = (uint32_t)strtoul(word, NULL, 10);
    if (!next_word(&p, word, sizeof word)) mistake("out: BUFFER TYPE VALUES");
    e->values = new_list(word);
    read_list(p, &e->values);
}

/* Reads the expression between the first / and the last; \n is a new line. */
static void read_pattern(const char *p) {
    const char *begin = strchr(p, '/'), *end = strrchr(p, '/');
    size_t n = 0;
    if (!begin || begin == end) mistake("an expression between two / is missing");
    for (p = begin + 1; p < end && n + 1 < sizeof file.t.pattern; p++) {
        bool line = p[0] == '\\' && p[1] == 'n';
        file.t.pattern[n++] = line ? '\n' : *p;
        if (line) p++;
    }
    file.t.pattern[n] = '\0';
}

static void read_fault(const char *p) {
    char word[32];
    next_word(&p, word, sizeof word);
    for (size_t k = 1; k < sizeof status_names / sizeof *status_names; k++)
        if (strcmp(status_names[k], word) == 0) file.t.status = (enum simgpu_fault_kind)k;
    if (!file.t.status) mistake("fault: '%s' is not a status", word);
    read_pattern(p);
}

static void read_counts(const char *p, uint32_t line) {
    test *t = &file.t;
    char word[40];
    while (next_word(&p, t->counts[t->ncounts].field, sizeof word)) {
        t->counts[t->ncounts].line = line;
        if (!next_word(&p, word, sizeof word)) mistake("count: FIELD NUMBER");
        t->counts[t->ncounts].want = strtoull(word, NULL, 10);
        if (++t->ncounts == MAX_ITEMS) mistake("%d counters are too many", MAX_ITEMS);
    }
}

static void read_line(const char *p) {
    char word[16];
    next_word(&p, word, sizeof word);
    read_counts(p, (uint32_t)strtoul(word, NULL, 10));
}

static void read_print(const char *p) {
    test *t = &file.t;
    size_t n = strlen(t->printed);
    const char *begin = strchr(p, '"'), *end = strrchr(p, '"');
    if (!begin || begin == end) mistake("print: a text in quotes");
    for (p = begin + 1; p < end && n + 1 < sizeof t->printed; p++) {
        bool escape = *p == '\\' && p + 1 < end;
        if (escape) p++;
        t->printed[n++] = escape && *p == 'n' ? '\n' : escape && *p == 't' ? '\t' : *p;
    }
    t->printed[n] = '\0';
    t->checks_print = true;
}

/* table: d:u32 p:pred = a:u32 b:f32 | code */
static void read_table(const char *p) {
    test *t = &file.t;
    const char *bar = strchr(p, '|');
    char word[64];
    if (!bar) mistake("table: RESULTS = OPERANDS | INSTRUCTIONS");
    while ((p += strspn(p, " ")) < bar) {
        next_word(&p, word, sizeof word);
        if (strcmp(word, "=") == 0) {
            t->nresults = t->ncolumns;
            continue;
        }
        char *colon = strchr(word, ':');
        column *c = &t->columns[t->ncolumns];
        if (!colon || colon - word >= (long)sizeof c->name || t->ncolumns == 16)
            mistake("table: NAME:TYPE, not '%s'", word);
        snprintf(c->name, sizeof c->name, "%.*s", (int)(colon - word), word);
        c->type = type_named(colon + 1, strlen(colon + 1));
        t->cells[t->ncolumns++].type = c->type == TY_pred ? TY_u32 : c->type;
    }
    if (!t->nresults) mistake("table: it has no result");
    snprintf(t->code, sizeof t->code, "%s", bar + 1 + strspn(bar + 1, " "));
}

static void read_row(const char *p) {
    test *t = &file.t;
    for (uint32_t c = 0; c < t->ncolumns; c++) {
        p += strspn(p, " ");
        if (c == t->nresults) {
            if (*p != '=') mistake("expected '=' at '%s'", p);
            p += 1 + strspn(p + 1, " ");
        }
        uint32_t n = t->cells[c].n;
        read_value(&p, &t->cells[c]);
        if (t->cells[c].n != n + 1) mistake("a cell is one value");
    }
    p += strspn(p, " ");
    if (*p && *p != '#') mistake("'%s' after the row", p);
    if (t->cells[0].n > MAX_ROWS) mistake("a table of more than %d rows", MAX_ROWS);
}

/* --- one launch --------------------------------------------------------------------------------------------- */

static void collect_print(const char *text, size_t n) {
    if (n > sizeof printed - printed_length) n = sizeof printed - printed_length;
    memcpy(printed + printed_length, text, n);
    printed_length += n;
}

static uint64_t device_buffer(const list *l) {
    uint32_t bytes = ptx_type_bytes[l->type];
    uint64_t at = exec_mem_alloc(device, l->n ? (uint64_t)l->n * bytes : 1);
    if (!at) mistake("no device memory");
    for (uint32_t k = 0; k < l->n; k++) memcpy(exec_mem_host(device, at) + (uint64_t)k * bytes, &l->v[k].bits, bytes);
    return at;
}

static bool same(enum ptx_type t, const value *want, uint64_t got) {
    if (want->tolerance < 0) return isnan(float_value(t, got));
    if (want->any || want->bits == got) return true;
    return want->tolerance > 0 && fabs(float_value(t, got) - float_value(t, want->bits)) <= want->tolerance;
}

static void show(char *text, size_t size, enum ptx_type t, uint64_t bits) {
    int digits = 2 * ptx_type_bytes[t];
    if (is_float(t))
        snprintf(text, size, "%a (0x%0*" PRIx64 ")", float_value(t, bits), digits, bits);
    else
        snprintf(text, size, "0x%0*" PRIx64, digits, bits);
}

/* Compares the elements at `host` with those wanted and prints the first differences. */
static void compare(const char *what, const list *want, const uint8_t *host) {
    uint32_t bytes = ptx_type_bytes[want->type], wrong = 0;
    for (uint32_t k = 0; k < want->n; k++) {
        uint64_t got = 0;
        char g[64], w[64];
        memcpy(&got, host + (uint64_t)k * bytes, bytes);
        if (same(want->type, &want->v[k], got) || ++wrong > DIFFERENCES) continue;
        show(g, sizeof g, want->type, got);
        show(w, sizeof w, want->type, want->v[k].bits);
        fail("%s[%u] is %s, should be %s", what, k, g, w);
    }
    if (wrong > DIFFERENCES) fail("... %u differences in all", wrong);
}

static void cover(const ptx_module *m) {
    for (uint32_t f = 0; f < m->nfunctions; f++)
        for (uint32_t k = 0; m->functions[f]->code && k < m->functions[f]->code->ninsns; k++)
            covered[m->functions[f]->code->insns[k].op] = true;
}

static bool matches(const char *pattern, const char *text) {
    regex_t r;
    if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB)) mistake("/%s/ is not an expression", pattern);
    bool yes = regexec(&r, text, 0, NULL, 0) == 0;
    regfree(&r);
    return yes;
}

static void message_of(const exec_fault *f, char *text, size_t size) {
    text[0] = '\0';
    if (f->kind != SIMGPU_FAULT_NONE) simgpuSayFault(f, SIMGPU_WHOLE, text, size);
}

static void check_fault(const test *t, const exec_fault *f) {
    char message[2048];
    message_of(f, message, sizeof message);
    if (f->kind == t->status && matches(t->pattern, message)) return;
    if (f->kind != t->status)
        fail("status is %s, should be %s", status_names[f->kind], status_names[t->status]);
    else
        fail("the message does not match /%s/", t->pattern);
    const char *line = message;
    for (size_t n; *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        fail("| %.*s", (int)n, line);
    }
}

static uint64_t counter(const exec_result *r, const exec_counters *c, const char *field) {
    const struct {
        const char *field;
        uint64_t value;
    } figures[] = {{"footprint_read", r->footprint_read},
                   {"footprint_written", r->footprint_written},
                   {"turns", r->atomic_turns[0]},
                   {"float_turns", r->atomic_turns[1]},
                   {"rounds", r->deepest.rounds},
                   {"missed", r->deepest.missed},
                   {"clocks", r->deepest.clocks},
                   {"grid_syncs", r->grid_syncs},
                   {"registers", r->registers}};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        if (strcmp(figures[k].field, field) == 0) return figures[k].value;
    for (int k = 0; k < NCOUNTERS; k++)
        if (strcmp(exec_counter_names[k].field, field) == 0) return ((const uint64_t *)(const void *)c)[k];
    mistake("'%s' is not a counter", field);
}

static void check_counts(const test *t, const exec_result *r) {
    static const exec_counters none;
    for (uint32_t k = 0; k < t->ncounts; k++) {
        const count *c = &t->counts[k];
        const exec_counters *from = c->line ? &none : &r->total;
        for (uint32_t l = 0; l < r->nlines; l++)
            if (c->line && r->lines[l].line == c->line) from = &r->lines[l].counters;
        uint64_t got = counter(r, from, c->field);
        char where[32] = "";
        if (c->line) snprintf(where, sizeof where, "line %u: ", c->line);
        if (got != c->want) fail("%s%s is %" PRIu64 ", should be %" PRIu64, where, c->field, got, c->want);
    }
}

/* Prints the results that must not depend on the host: counters, memory, messages. */
static void describe(const exec_result *r, const test *t) {
    for (int k = 0; k < NCOUNTERS; k++) {
        uint64_t v = ((const uint64_t *)(const void *)&r->total)[k];
        if (v) printf("# %s %" PRIu64 "\n", exec_counter_names[k].field, v);
    }
    printf("# footprint %" PRIu64 " %" PRIu64 ", deepest block %" PRIu64 " rounds, %" PRIu64 " clocks; turns %" PRIu64
           " %" PRIu64 "\n",
           r->footprint_read, r->footprint_written, r->deepest.rounds, r->deepest.clocks, r->atomic_turns[0],
           r->atomic_turns[1]);
    for (uint32_t a = 0; a < t->nargs; a++) {
        if (t->args[a].kind != ARG_BUFFER) continue;
        uint64_t hash = 0xcbf29ce484222325;
        const uint8_t *p = exec_mem_host(device, t->args[a].address);
        for (uint64_t k = 0; k < (uint64_t)t->args[a].values.n * ptx_type_bytes[t->args[a].values.type]; k++)
            hash = (hash ^ p[k]) * 0x100000001b3;
        printf("# buffer %u hash %016" PRIx64 "\n", t->args[a].buffer, hash);
    }
    char message[2048];
    message_of(&r->fault, message, sizeof message);
    const char *line = message;
    for (size_t n; *line; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        printf("# %.*s\n", (int)n, line);
    }
}

/* Fills the parameter buffer, with each argument at a multiple of its size, as in PTX. Returns its size in bytes. */
static uint32_t pack_arguments(test *t, uint8_t *params) {
    uint32_t top = 0;
    for (uint32_t k = 0; k < t->nargs; k++) {
        argument *a = &t->args[k];
        uint64_t bits = a->address;
        uint32_t bytes = a->kind == ARG_SCALAR ? ptx_type_bytes[a->values.type] : 8;
        if (a->kind == ARG_SCALAR) bits = a->values.v[0].bits;
        if (a->kind == ARG_POINTER) {
            for (uint32_t b = 0; b < k; b++)
                if (t->args[b].kind == ARG_BUFFER && t->args[b].buffer == a->buffer)
                    bits = t->args[b].address + (uint64_t)a->offset;
        }
        top = (top + bytes - 1) & ~(bytes - 1);
        memcpy(params + top, &bits, bytes);
        top += bytes;
    }
    return top;
}

/* Makes the object of a TEXTURE argument, on a buffer that exists. */
static void make_texture(test *t, argument *a) {
    exec_texture *x = &a->texture;
    for (uint32_t k = 0; k < t->nargs; k++)
        if (t->args[k].kind == ARG_BUFFER && t->args[k].buffer == a->buffer) x->address = t->args[k].address;
    x->pitch = (uint64_t)x->width * x->channels * x->bits / 8;
    x->slice = x->pitch * x->rows;
    x->bytes = x->slice * x->planes;
    a->address = exec_texture_new(device, x);
    if (a->ended) exec_texture_end(device, a->address);
}

static void launch(test *t, exec_program *p) {
    uint8_t params[8 * MAX_ITEMS] = {0};
    static exec_result r;
    t->launch.program = p;
    t->launch.kernel = ptx_find_kernel(exec_module_of(p), t->kernel);
    if (!t->launch.kernel) {
        fail("the module has no kernel %s", t->kernel);
        return;
    }
    for (uint32_t k = 0; k < t->nargs; k++) {
        argument *a = &t->args[k];
        if (a->kind == ARG_BUFFER) a->address = device_buffer(&a->values);
        if (a->kind == ARG_FREED) exec_mem_free(device, a->address = exec_mem_alloc(device, (uint64_t)a->offset));
    }
    for (uint32_t k = 0; k < t->nargs; k++)
        if (t->args[k].kind == ARG_TEXTURE) make_texture(t, &t->args[k]);
    t->launch.ended = exec_textures_ended(device);
    uint32_t bytes = pack_arguments(t, params);
    if (t->launch.kernel->has_body && bytes != t->launch.kernel->param_bytes)
        mistake("%u bytes of arguments; %s takes %u", bytes, t->kernel, t->launch.kernel->param_bytes);
    t->launch.params = params;
    printed_length = 0;
    exec_configure(0, t->budget);
    exec_lanes_wait(); /* a test says what CUDA allows, not what a card makes of the rest */
    exec_run(&t->launch, &r);
    check_fault(t, &r.fault);
    check_counts(t, &r);
    if (t->checks_print && (printed_length != strlen(t->printed) || memcmp(printed, t->printed, printed_length) != 0))
        fail("it printed:\n%.*s", (int)printed_length, printed);
    if (verbose) describe(&r, t);
    for (uint32_t k = 0; k < t->nouts; k++)
        for (uint32_t a = 0; a < t->nargs; a++) {
            char what[32];
            if (t->args[a].kind != ARG_BUFFER || t->args[a].buffer != t->outs[k].buffer) continue;
            snprintf(what, sizeof what, "buffer %u", t->outs[k].buffer);
            compare(what, &t->outs[k].values, exec_mem_host(device, t->args[a].address));
        }
    for (uint32_t k = 0; k < t->nargs; k++)
        if (t->args[k].kind == ARG_BUFFER) exec_mem_free(device, t->args[k].address);
}

/* --- tables ------------------------------------------------------------------------------------------------- */

static char *made; /* the text of a table's module */
static size_t made_length, made_capacity;

static __attribute__((format(printf, 1, 2))) void make(const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    if (made_capacity - made_length < 2048) {
        char *grown = realloc(made, made_capacity += 8192);
        if (!grown) mistake("no memory");
        made = grown;
    }
    made_length += (size_t)vsnprintf(made + made_length, made_capacity - made_length, format, ap);
    va_end(ap);
}

/* Returns the type of a register for this type. There are none of 8 bits, and halves are moved as bits. */
static const char *register_type(enum ptx_type t) {
    if (t == TY_f16) return ".b16";
    return ptx_type_bytes[t] == 1 ? ".u16" : ptx_type_names[t];
}
static const char *memory_type(enum ptx_type t) { return t == TY_f16 ? ".b16" : ptx_type_names[t]; }

/* Generates the kernel of a table. Its parameters are an address for each column, and the address of one word for each
 * thread, which is 0 for an inactive lane. */
static void make_kernel(const test *t) {
    made_length = 0;
    make(".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry table(");
    for (uint32_t c = 0; c <= t->ncolumns; c++) make("%s.param .u64 p%u", c ? ", " : "", c);
    make(")\n{\n.reg .b32 %%i, %%w;\n.reg .b64 %%a<%u>, %%o;\n.reg .pred %%on;\n", t->ncolumns + 1);
    make("mov.u32 %%i, %%tid.x;\n");
    for (uint32_t c = 0; c < t->ncolumns; c++) {
        const column *k = &t->columns[c];
        make(".reg %s %s;\nld.param.u64 %%a%u, [p%u];\n", register_type(k->type), k->name, c, c);
        make("mul.wide.u32 %%o, %%i, %u;\nadd.s64 %%a%u, %%a%u, %%o;\n", ptx_type_bytes[k->type], c, c);
        if (k->type == TY_pred)
            make("ld.global.u32 %%w, [%%a%u];\nsetp.ne.u32 %s, %%w, 0;\n", c, k->name);
        else
            make("ld.global%s %s, [%%a%u];\n", memory_type(k->type), k->name, c);
    }
    make("ld.param.u64 %%a%u, [p%u];\nmul.wide.u32 %%o, %%i, 4;\nadd.s64 %%a%u, %%a%u, %%o;\n", t->ncolumns,
         t->ncolumns, t->ncolumns, t->ncolumns);
    make("ld.global.u32 %%w, [%%a%u];\nsetp.eq.u32 %%on, %%w, 0;\n@%%on bra DONE;\n%s\nDONE:\n", t->ncolumns, t->code);
    for (uint32_t c = 0; c < t->nresults; c++) {
        const column *k = &t->columns[c];
        if (k->type == TY_pred)
            make("selp.u32 %%w, 1, 0, %s;\nst.global.u32 [%%a%u], %%w;\n", k->name, c);
        else
            make("st.global%s [%%a%u], %s;\n", memory_type(k->type), c, k->name);
    }
    make("ret;\n}\n");
}

/* Runs the table's rows, repeated, on `threads` threads, of which some are inactive and must keep their values. */
static void run_table(const test *t, exec_program *p, uint32_t threads, uint32_t period, uint32_t off) {
    static test x;
    uint32_t rows = t->cells[0].n;
    memset(&x, 0, sizeof x);
    strcpy(x.kernel, "table");
    x.launch.grid = (exec_dim){1, 1, 1};
    x.launch.block = (exec_dim){threads, 1, 1};
    x.nargs = t->ncolumns + 1;
    x.args[t->ncolumns].values.type = TY_u32;
    for (uint32_t c = 0; c < x.nargs; c++) {
        x.args[c].kind = ARG_BUFFER;
        x.args[c].buffer = c;
        if (c < t->ncolumns) x.args[c].values.type = t->cells[c].type;
        if (c < t->nresults) {
            x.outs[x.nouts].buffer = c;
            x.outs[x.nouts++].values.type = t->cells[c].type;
        }
        for (uint32_t k = 0; k < threads; k++) {
            bool on = k % period != off;
            value before = {.bits = t->columns[c].type == TY_pred ? k & 1 : 0x5a};
            if (c == t->ncolumns)
                append(&x.args[c].values, (value){.bits = on});
            else
                append(&x.args[c].values, c < t->nresults ? before : t->cells[c].v[k % rows]);
            if (c < t->nresults) append(&x.outs[c].values, on ? t->cells[c].v[k % rows] : before);
        }
    }
    launch(&x, p);
    for (uint32_t c = 0; c < x.nargs; c++) free(x.args[c].values.v), free(x.outs[c].values.v);
}

static exec_program *load(const char *text, size_t length, const char *name, char *err, size_t size) {
    const ptx_module *m = ptx_load(text, length, name, time_costs(), err, size);
    return m ? exec_load(device, m, NULL, 0, err, size) : NULL;
}

static void table(const test *t) {
    char err[1024], name[512];
    uint32_t rows = t->cells[0].n, full = (rows + 31) / 32 * 32;
    if (!rows) mistake("the table of line %u has no rows", t->line);
    make_kernel(t);
    snprintf(name, sizeof name, "%s:%u", file.path, t->line);
    exec_program *p = load(made, made_length, name, err, sizeof err);
    if (!p) {
        fail("%s", err);
        return;
    }
    run_table(t, p, full, full + 1, full);
    run_table(t, p, full + 1, 3, 0);
    run_table(t, p, full + 1, 2, 1);
    if (!failed) cover(exec_module_of(p));
}

/* --- tests -------------------------------------------------------------------------------------------------- */

static void finish_test(void) {
    test *t = &file.t;
    char err[1024] = "";
    if (t->kind == TEST_NONE) return;
    failed = false;
    why[0] = '\0';
    if (t->kind == TEST_TABLE) {
        table(t);
    } else {
        if (!file.program) file.program = load(file.text, file.length, file.path, err, sizeof err);
        if (t->kind == TEST_LOAD && file.program)
            fail("it loads");
        else if (t->kind == TEST_LOAD && !matches(t->pattern, err))
            fail("the message does not match: %s", err);
        else if (t->kind == TEST_RUN && !file.program)
            fail("%s", err);
        else if (t->kind == TEST_RUN)
            launch(t, file.program);
        if (t->kind == TEST_RUN && !failed) cover(exec_module_of(file.program));
    }
    tests++;
    failures += failed;
    printf("%s %u %s:%u %s\n%s", failed ? "not ok" : "ok", tests, file.path, t->line,
           t->kind == TEST_TABLE ? t->code : t->kernel, why);
    for (uint32_t k = 0; k < MAX_ITEMS; k++) free(t->args[k].values.v), free(t->outs[k].values.v);
    for (uint32_t k = 0; k < t->ncolumns; k++) free(t->cells[k].v);
    memset(t, 0, sizeof *t);
}

static void begin_test(int kind) {
    finish_test();
    file.t.kind = kind;
    file.t.line = file.line;
}

static void directive(const char *word, const char *rest) {
    static const struct {
        const char *word;
        void (*read)(const char *);
    } readers[] = {
        {"arg:", read_arg}, {"out:", read_out}, {"fault:", read_fault}, {"line:", read_line}, {"print:", read_print}};
    if (strcmp(word, "run:") == 0) {
        begin_test(TEST_RUN);
        read_run(rest);
        return;
    }
    if (strcmp(word, "table:") == 0) {
        begin_test(TEST_TABLE);
        read_table(rest);
        return;
    }
    if (strcmp(word, "load:") == 0) {
        begin_test(TEST_LOAD);
        read_pattern(rest);
        return;
    }
    if (file.t.kind == TEST_TABLE) {
        if (strchr(rest, '=')) {
            const char *row = rest - strlen(word);
            read_row(row);
        }
        return;
    }
    if (file.t.kind == TEST_NONE) return; /* prose */
    if (strcmp(word, "more:") == 0 && file.last) read_list(rest, file.last);
    if (strcmp(word, "count:") == 0) read_counts(rest, 0);
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
        if (strcmp(readers[k].word, word) == 0) readers[k].read(rest);
}

static void run_file(const char *path) {
    FILE *f = fopen(path, "r");
    memset(&file, 0, sizeof file);
    file.path = path;
    if (!f) mistake("%s", strerror(errno));
    size_t capacity = 0;
    ssize_t n = getdelim(&file.text, &capacity, '\0', f);
    fclose(f);
    if (n < 0) mistake("the file is empty");
    file.length = (size_t)n;
    for (const char *p = file.text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        char line[4096], word[256];
        file.line++;
        size_t length = strcspn(p, "\n");
        if (strncmp(p, "//", 2) != 0) {
            finish_test(); /* code ends a test */
            continue;
        }
        if (length >= sizeof line) mistake("the line is too long");
        snprintf(line, sizeof line, "%.*s", (int)(length - 2), p + 2);
        const char *rest = line;
        if (next_word(&rest, word, sizeof word)) directive(word, rest);
    }
    finish_test();
    free(file.text);
}

static void check_rows(void) {
    uint32_t missing = 0;
    why[0] = '\0';
    for (int k = 0; k < NOPS; k++) {
        if (covered[k]) continue;
        missing++;
        fail("no test for %s%s (%s)", ptx_ops[k].key, ptx_type_names[ptx_ops[k].type], ptx_ops[k].name);
    }
    tests++;
    failures += missing > 0;
    printf("%s %u every row of opcodes.def is tested (%d rows)\n%s", missing ? "not ok" : "ok", tests, NOPS, why);
}

int main(int argc, char **argv) {
    bool rows = false;
    exec_card card = *time_card();
    card.memory = 1ull << 32;
    device = exec_device_new(&card);
    exec_print = collect_print;
    int k = 1;
    for (; k < argc && argv[k][0] == '-'; k++) {
        if (strcmp(argv[k], "-v") == 0)
            verbose = true;
        else if (strcmp(argv[k], "--all-rows") == 0)
            rows = true;
        else
            k = argc;
    }
    if (k >= argc) {
        fputs("usage: ptxrun [-v] [--all-rows] FILE.ptx...\n", stderr);
        return 2;
    }
    for (; k < argc; k++) run_file(argv[k]);
    if (rows) check_rows();
    printf("1..%u\n", tests);
    return failures > 0;
}

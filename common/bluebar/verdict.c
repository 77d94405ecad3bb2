/* verdict.c — the grade of one file for `make check`: the tests, a row's verdict, the points.
 *
 * check.sh compiles and runs, and leaves its results in files with one STEM:
 *
 *     STEM.rows      the lab's table of rows, from our own reference program
 *     STEM.refused   why the file was not run: a word, compile, gate or link, and what the gate found first; or absent
 *     STEM.verdict   how the run ended, as run.c wrote it; STEM.log: the program's output
 *     STEM.tsv       the record that it left, or absent
 *     STEM.result    points and rows (bb_cmd_result), which `make grade` keeps
 *
 * CHECK_SEED is the seed that the record must be of, CHECK_AGAIN the command that repeats the run. Both are set after
 * the program and every process that it started have ended.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOG_LINES = 12, LOG_BYTES = 4000, SKIPPED = 77 };

/* Why a file was not run, by the word in STEM.refused, and as a sentence. */
static const char *const refusals[][2] = {
    {"compile", "it does not compile"}, {"gate", "it was refused"}, {"link", "it does not link"}};
enum { REFUSALS = sizeof refusals / sizeof *refusals };

typedef struct {
    bb_table table;
    bb_record record;
    char *refused; /* the word of STEM.refused, NULL when the file was run; found: what the gate says, "" for nothing */
    char *found;
    char *reason;  /* why there are no points, as a sentence; NULL when the record counts */
    bool too_long; /* it ran until a limit ended it */
} grade;

static char *path_of(const char *stem, const char *end) { return bb_format("%s.%s", stem, end); }

static char *read_of(const char *stem, const char *end) {
    char *path = path_of(stem, end), *text = bb_read(path, 64u << 20, NULL);
    free(path);
    if (text) text[strcspn(text, "\n")] = 0;
    return text;
}

/* Returns the end of a run without a valid record, as a sentence. */
static char *ended(const char *verdict, const char *damage) {
    long long n = 0;
    char word[16] = "";
    if (verdict) sscanf(verdict, "%15s %lld", word, &n);
    if (bb_same(word, "time")) return bb_format("it was still running after %lld seconds", n);
    if (bb_same(word, "signal"))
        return bb_format("it was ended by signal %lld (%s)", n, sigabbrev_np((int)n) ? sigabbrev_np((int)n) : "?");
    if (bb_same(word, "output")) return bb_format("it printed more than %lld MB and was stopped", n >> 20);
    if (bb_same(word, "memory")) return bb_format("it used more than %lld MB of memory and was stopped", n >> 20);
    if (bb_same(word, "processes")) return bb_format("it started more than %lld processes and was stopped", n);
    if (bb_same(word, "left")) return bb_format("it left %lld of its processes running. A submission starts none", n);
    if (bb_same(word, "start")) return bb_format("it could not be started");
    if (!bb_same(word, "exit")) return bb_format("its run was cut off from outside");
    if (n) return bb_format("it ended with exit status %lld before the last row", n);
    if (damage) return bb_format("its record does not count: %s", damage);
    return bb_format("it ended early, without an error and without a score: something called exit()");
}

static void read_refusal(grade *g, const char *stem) {
    char *path = path_of(stem, "refused"), *text = bb_read(path, 1u << 20, NULL), *rest = text;
    free(path);
    if (!text) return;
    const char *word = bb_line(&rest), *found = bb_line(&rest);
    for (int k = 0; k < REFUSALS; k++)
        if (word && bb_same(word, refusals[k][0])) g->reason = bb_format("%s", refusals[k][1]);
    if (!g->reason) bb_die("%s.refused holds no reason. That is our fault, not yours.", stem);
    g->refused = bb_format("%s", word);
    g->found = bb_format("%s", found ? found : "");
    free(text);
}

static grade grade_of(const char *stem) {
    grade g = {0};
    read_refusal(&g, stem);
    char *rows = path_of(stem, "rows"), *tsv = path_of(stem, "tsv"), *verdict = read_of(stem, "verdict");
    const char *bad = bb_table_read(&g.table, rows);
    if (bad) bb_die("%s: %s. That is our fault, not yours.", rows, bad);
    if (!g.reason) {
        bool there = !access(tsv, F_OK);
        bad = bb_record_read(&g.record, tsv, &g.table, getenv("CHECK_SEED"));
        if (bad || !verdict || !bb_same(verdict, "exit 0")) g.reason = ended(verdict, there ? bad : NULL);
    }
    g.too_long = verdict && bb_begins(verdict, "time ");
    free(rows);
    free(tsv);
    free(verdict);
    return g;
}

static void forget(grade *g) {
    bb_table_free(&g->table);
    bb_record_free(&g->record);
    free(g->refused);
    free(g->found);
    free(g->reason);
}

/* --- the tests --------------------------------------------------------------------------------------------------- */

/* A sentence inside double quotes of Bash. */
static void add_sentence(bb_text *t, const char *sentence) {
    for (; *sentence; sentence++) {
        if (strchr("\\\"`$", *sentence)) bb_add(t, "\\", 1);
        bb_add(t, sentence, 1);
    }
}

int bb_cmd_tests(int argc, char **argv) {
    if (argc != 3) bb_die("bluebar tests: N STEM");
    grade g = {0};
    char *rows = path_of(argv[2], "rows");
    const char *bad = bb_table_read(&g.table, rows);
    if (bad) bb_die("lab %s: %s (lab%s --rows). That is our fault, not yours.", argv[1], bad, argv[1]);
    bb_text t = {0};
    bb_addf(&t,
            "# Made by `bluebar tests` from lab%s --rows.\n"
            "row() {\n"
            "    local said status=0\n"
            "    said=$(\"$BLUEBAR\" row %s \"$CHECK_STEM\" \"$1\") || status=$?\n"
            "    case $status in 0) ;; %d) skip \"$said\" ;; *) echo \"$said\" && return 1 ;; esac\n"
            "}\n",
            argv[1], argv[1], SKIPPED);
    for (int i = 0; i < g.table.nrows; i++) {
        bb_addf(&t, "@test \"lab %s: ", argv[1]);
        add_sentence(&t, g.table.row[i].cell[LAB_HEAD_sentence]);
        bb_addf(&t, "\" { row %s; }\n", g.table.row[i].cell[LAB_HEAD_id]);
    }
    fputs(t.at, stdout);
    free(t.at);
    free(rows);
    forget(&g);
    return 0;
}

/* --- a row ------------------------------------------------------------------------------------------------------- */

/* Prints the end of the program's output, indented. */
static void print_log(FILE *out, const char *stem) {
    char *path = path_of(stem, "log");
    size_t size, lines = 0;
    char *log = bb_read(path, 64u << 20, &size);
    free(path);
    if (!log) return;
    while (size && log[size - 1] == '\n') size--;
    char *from = log + size;
    while (from > log && (size_t)(log + size - from) < LOG_BYTES && (from[-1] != '\n' || ++lines < LOG_LINES)) from--;
    log[size] = 0;
    for (char *line; (line = bb_line(&from));) {
        bb_text shown = {0};
        bb_add_visible(&shown, line, strlen(line));
        fprintf(out, "    %s\n", shown.at ? shown.at : "");
        free(shown.at);
    }
    free(log);
}

/* Each line of the text is a line. */
static void print_cell(FILE *out, const char *name, const char *text) {
    for (const char *end; *text; text = end + (*end == '\n'), name = "") {
        bb_text shown = {0};
        end = text + strcspn(text, "\n");
        bb_add_visible(&shown, text, (size_t)(end - text));
        fprintf(out, "  %-7s %s\n", name, shown.at ? shown.at : "");
        free(shown.at);
    }
}

/* All rows without a result share one reason, which the table's first row prints. */
static int no_result(FILE *out, const grade *g, const char *stem, const char *id) {
    if (!bb_same(g->table.row[0].cell[LAB_HEAD_id], id)) {
        fputs("no result, as above\n", out);
        return 1;
    }
    fprintf(out, "no result: %s%s\n", g->reason, g->refused ? ", see above" : "");
    if (g->too_long) fputs("    next: look for a loop that cannot end, or one that waits for what never comes\n", out);
    if (!g->refused) print_log(out, stem);
    return 1;
}

/* Writes what is to be said of a row; returns 0 if it is full, SKIPPED if this machine does not measure it, else 1. */
static int tell_row(FILE *out, const grade *g, const char *lab, const char *stem, const char *id) {
    if (g->reason) return no_result(out, g, stem, id);
    const struct bb_row *row = bb_record_row(&g->record, id);
    if (!row) {
        fprintf(out, "the record has no row '%s'\n", id);
        return 1;
    }
    if (row->status == BB_PASS) return 0;
    if (row->status == BB_NA) {
        print_cell(out, "why", row->cell[LAB_CELL_why]);
        return SKIPPED;
    }
    const char *want = row->cell[LAB_CELL_want]; /* as on the card: "want ≤ 4.2", "start 5.6 ms · ..." */
    char *value = bb_format("%s%s%s", row->cell[LAB_CELL_value], *want ? "   " : "", want);
    print_cell(out, "value", value);
    free(value);
    print_cell(out, "where", row->cell[LAB_CELL_where]);
    print_cell(out, "why", row->cell[LAB_CELL_why]);
    fprintf(out, "  %-7s %g of %g\n", "points", row->points, row->max);
    fprintf(out, "  %-7s make hint%s; the same run again: %s\n", "next", lab, bb_env("CHECK_AGAIN", "make check"));
    return 1;
}

int bb_cmd_row(int argc, char **argv) {
    if (argc != 4) bb_die("bluebar row: N STEM ID");
    grade g = grade_of(argv[2]);
    int status = tell_row(stdout, &g, argv[1], argv[2], argv[3]);
    forget(&g);
    return status;
}

/* As Bats prints the tests of bb_cmd_tests, in a tenth of its time and without its lines about its own file. */
int bb_cmd_tap(int argc, char **argv) {
    if (argc != 3) bb_die("bluebar tap: N STEM");
    grade g = grade_of(argv[2]);
    bool full = true;
    printf("1..%d\n", g.table.nrows);
    for (int i = 0; i < g.table.nrows; i++) {
        char *said = NULL;
        const char *const *cell = g.table.row[i].cell;
        size_t size;
        FILE *out = open_memstream(&said, &size);
        if (!out) bb_die("no memory");
        int status = tell_row(out, &g, argv[1], argv[2], cell[LAB_HEAD_id]);
        fclose(out);
        full = full && status != 1;
        printf("%s %d lab %s: %s", status == 1 ? "not ok" : "ok", i + 1, argv[1], cell[LAB_HEAD_sentence]);
        if (status == SKIPPED) printf(" # skip %.*s", (int)strcspn(said, "\n"), said);
        putchar('\n');
        char *rest = said;
        if (status == 1)
            for (char *line; (line = bb_line(&rest));) printf("# %s\n", line);
        free(said);
    }
    forget(&g);
    return full ? 0 : 1;
}

/* --- points ------------------------------------------------------------------------------------------------------ */

static char *note_of(const grade *g) {
    if (g->found && *g->found) return bb_format("refused: %s", g->found);
    return bb_format("%s", g->reason ? g->reason : "");
}

int bb_cmd_result(int argc, char **argv) {
    if (argc != 3) bb_die("bluebar result: N STEM");
    grade g = grade_of(argv[2]);
    double max = 0;
    bb_result r = {.lab = bb_format("%s", argv[1]), .note = note_of(&g)};
    for (int i = 0; i < g.table.nrows; i++) {
        const struct bb_row *row = g.reason ? NULL : &g.record.row[i];
        char *points = !row                   ? bb_format("0")
                       : row->status == BB_NA ? bb_format("%s", "")
                                              : bb_format("%g", row->points);
        max += g.table.row[i].points;
        bb_result_row(&r, g.table.row[i].cell[LAB_HEAD_id], points);
        free(points);
    }
    r.points = bb_format("%g", g.reason ? 0 : g.record.points);
    r.of = bb_format("%g", g.reason ? max : g.record.max);
    char *path = path_of(argv[2], "result");
    bb_result_write(&r, path);
    bool full = !g.reason && g.record.points == g.record.max;
    free(path);
    bb_result_free(&r);
    forget(&g);
    return full ? 0 : 1;
}

int bb_cmd_total(int argc, char **argv) {
    double points = 0, of = 0;
    for (int i = 1; i < argc; i++) {
        bb_result r;
        double p, o;
        if (!bb_result_read(&r, argv[i]) || !bb_number(r.points, &p) || !bb_number(r.of, &o))
            bb_die("%s is no result of a grade", argv[i]);
        points += p;
        of += o;
        bb_result_free(&r);
    }
    printf("Score: %g/%g\n", points, of);
    return 0;
}

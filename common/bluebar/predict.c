/* predict.c — `make predict3`: what a reader expects of the next run, and how near it came.
 *
 * `predict N STORE` asks the lab's questions one by one and keeps the answers with their time; `predicted N RECORD
 * STORE` holds those that wait for a run against the run's record. No points hang on them.
 *
 * The questions are labs/labN-NAME/questions.tsv, a line each, of five fields with a tab between two:
 *
 *     id          a word, for ASK="id id"
 *     question    about the program that will run next, as it will be then
 *     unit        what the answer counts: sectors, us, %; "-" for a plain number
 *     measured    the figure of the record that answers it (common/lab/record.h): a row's id, or a name that the
 *                 harness gave by lab_figure, as `busy` or `transpose.ld_sectors`
 *     why         one sentence, true for any program, shown beside the measured number
 *
 * Empty lines and lines that begin with # are left out. STORE has a line an answer: id, said, when, measured, when;
 * the last two are empty while it waits. An answer that was never measured gives way to a newer one.
 */
#define _GNU_SOURCE
#include "bluebar.h"
#include "page.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIELDS = 5, MOST_QUESTIONS = 64, MOST_ANSWERS = 4096, MOST_BYTES = 1 << 20 };

typedef struct {
    const char *id, *text, *unit, *measured, *why;
} question;

typedef struct {
    const char *id, *said_at, *was_at;
    double said, was;
    bool waits;
} answer;

/* --- questions --------------------------------------------------------------------------------------------------- */

typedef struct {
    char *path;
    question at[MOST_QUESTIONS];
    int n;
} questions;

static const question *question_of(const questions *q, const char *id) {
    for (int i = 0; i < q->n; i++)
        if (bb_same(q->at[i].id, id)) return &q->at[i];
    return NULL;
}

static void take_question(questions *q, char *line, int number) {
    char *field[FIELDS];
    int n = bb_split(line, field, FIELDS);
    if (n != FIELDS)
        bb_die("%s:%d has %d fields, not %d: id, question, unit, figure, why, with a tab between two", q->path, number,
               n, FIELDS);
    for (int k = 0; k < FIELDS; k++)
        if (!*field[k]) bb_die("%s:%d: field %d is empty; an answer without a unit has '-'", q->path, number, k + 1);
    if (strpbrk(field[0], " ,")) bb_die("%s:%d: the id '%s' is not one word", q->path, number, field[0]);
    if (question_of(q, field[0])) bb_die("%s:%d: a second question '%s'", q->path, number, field[0]);
    if (q->n == MOST_QUESTIONS) bb_die("%s has more than %d questions", q->path, MOST_QUESTIONS);
    q->at[q->n++] = (question){field[0], field[1], bb_same(field[2], "-") ? "" : field[2], field[3], field[4]};
}

/* Returns whether the lab has questions. */
static bool read_questions(questions *q, const bb_lab *lab) {
    *q = (questions){.path = bb_format("%s/questions.tsv", lab->folder)};
    char *text = bb_read(q->path, MOST_BYTES, NULL);
    if (!text && errno != ENOENT) bb_die("%s: %s", q->path, strerror(errno));
    int number = 0;
    for (char *line; (line = bb_line(&text));) {
        number++;
        if (*line && *line != '#') take_question(q, line, number);
    }
    return q->n > 0;
}

/* --- the store --------------------------------------------------------------------------------------------------- */

typedef struct {
    const char *path;
    answer at[MOST_ANSWERS];
    int n;
} store;

/* A line that is none of ours is left out: the file is the reader's own, and worth no points. */
static void read_store(store *s, const char *path) {
    char *field[FIELDS], *text = bb_read(path, MOST_BYTES, NULL);
    s->path = path;
    s->n = 0;
    for (char *line; s->n < MOST_ANSWERS && (line = bb_line(&text));) {
        answer *a = &s->at[s->n];
        if (bb_split(line, field, FIELDS) != FIELDS || !bb_number(field[1], &a->said)) continue;
        a->id = field[0], a->said_at = field[2], a->was_at = field[4];
        a->waits = !bb_number(field[3], &a->was);
        s->n++;
    }
}

static void write_store(const store *s) {
    bb_text t = {0};
    for (int i = 0; i < s->n; i++) {
        const answer *a = &s->at[i];
        bb_addf(&t, "%s\t%.9g\t%s\t", a->id, a->said, a->said_at);
        if (!a->waits) bb_addf(&t, "%.9g", a->was);
        bb_addf(&t, "\t%s\n", a->was_at);
    }
    bb_make_folders(s->path);
    bb_write(s->path, t.at, t.size);
    free(t.at);
}

static answer *last_answer(store *s, const char *id) {
    for (int i = s->n - 1; i >= 0; i--)
        if (bb_same(s->at[i].id, id)) return &s->at[i];
    return NULL;
}

static char *now(void) {
    char text[32];
    time_t t = time(NULL);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M", localtime(&t));
    return bb_must(strdup(text));
}

static void keep(store *s, const char *id, double said) {
    answer *a = last_answer(s, id);
    if (!a || !a->waits) {
        if (s->n == MOST_ANSWERS) bb_die("%s is full. To begin anew: CLEAR=1", s->path);
        a = &s->at[s->n++];
    }
    *a = (answer){.id = id, .said_at = now(), .was_at = "", .said = said, .waits = true};
    write_store(s);
}

/* --- numbers ----------------------------------------------------------------------------------------------------- */

/* Four digits, and a whole number to its last. The text is good until the eighth call from now. */
static const char *shown(double v) {
    static char texts[8][32];
    static int turn;
    char *to = texts[turn = (turn + 1) % 8];
    bool whole = v == floor(v) || fabs(v) >= 1000;
    snprintf(to, sizeof texts[0], fabs(v) >= 1e15 ? "%.4g" : whole ? "%.0f" : "%.4g", v);
    return to;
}

static double nanoseconds(const char *unit) {
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (bb_same(units[i].name, unit)) return units[i].ns;
    return 0;
}

static const char *after_spaces(const char *text) { return text + strspn(text, " \t"); }

/* "12", "1.5e3", "12 us", for a time also another unit of time, "4M". Returns false when it is no such number. */
static bool parse(const char *text, const char *unit, double *value) {
    char word[64], *end;
    text = after_spaces(text);
    if ((!isdigit((unsigned char)*text) && *text != '.') || (*text && tolower((unsigned char)text[1]) == 'x'))
        return false;
    *value = strtod(text, &end);
    const char *rest = after_spaces(end);
    size_t n = strcspn(rest, " \t");
    if (n >= sizeof word || *after_spaces(rest + n) || !isfinite(*value)) return false;
    memcpy(word, rest, n);
    word[n] = 0;
    if (!n || bb_same(word, unit)) return true;
    if (nanoseconds(word) && nanoseconds(unit)) return *value *= nanoseconds(word) / nanoseconds(unit), true;
    double scale = bb_same(word, "k") ? 1e3 : bb_same(word, "M") ? 1e6 : bb_same(word, "G") ? 1e9 : 0;
    *value *= scale;
    return scale > 0;
}

/* How far the two are apart, as a ratio. Returns whether they are within a tenth. */
static bool closeness(bb_text *t, double said, double was) {
    double ratio = said / was;
    if (said == was || fabs(ratio - 1) < 0.0005) return bb_addf(t, "just so"), true;
    if (fabs(ratio - 1) <= 0.1) return bb_addf(t, "within %.2g %%", 100 * fabs(ratio - 1)), true;
    if (said == 0 || was == 0) return false;
    bb_addf(t, "%s times too %s", shown(round(10 * (ratio > 1 ? ratio : 1 / ratio)) / 10), ratio > 1 ? "high" : "low");
    return false;
}

static void put(enum page_style style, int indent, int more, char *text) {
    page_wrap(stdout, style, indent, more, text);
    free(text);
}

/* --- asking ------------------------------------------------------------------------------------------------------ */

typedef enum { NEXT, STOP, ENDED } turn;

/* Reads one answer; asks again until it is one, or none. */
static turn ask(const question *q, store *s, int *kept) {
    static char *line;
    static size_t room;
    const answer *a = last_answer(s, q->id);
    bool typed = isatty(0);
    if (a && a->waits)
        printf("     You said %s %s (%s), and no run has measured it since. Enter keeps it.\n", shown(a->said), q->unit,
               a->said_at);
    else if (a)
        printf("     Last time you said %s, it was %s %s (%s).\n", shown(a->said), shown(a->was), q->unit, a->was_at);
    for (;;) {
        double value = 0;
        printf("     %s%s> ", q->unit, *q->unit ? " " : "");
        fflush(stdout);
        if (getline(&line, &room, stdin) <= 0) return puts(""), ENDED;
        line[strcspn(line, "\r\n")] = 0;
        bb_text visible = {0};
        bb_add_visible(&visible, line, strlen(line));
        if (!typed) puts(visible.at ? visible.at : "");
        const char *word = after_spaces(line);
        if (!*word) return NEXT;
        if (bb_same(word, "q") || bb_same(word, "quit")) return STOP;
        const bool number = parse(word, q->unit, &value), possible = !bb_same(q->unit, "%") || value <= 100;
        if (number && possible) return keep(s, q->id, value), ++*kept, NEXT;
        if (number)
            printf("     A share is 100 %% at most. Enter skips the question, q ends.\n");
        else
            printf("     '%.60s' is no number%s%s. As in 12, 1.5e3 or 4M%s. Enter skips the question, q ends.\n",
                   visible.at, *q->unit ? " of " : "", q->unit, nanoseconds(q->unit) ? ", or 12 ms" : "");
        free(visible.at);
    }
}

/* ASK="id id": only these. Exits with their list for a word that is none. */
static bool asked_for(const questions *q, const char *id) {
    const char *p = bb_env("ASK", "");
    bool found = !*p;
    for (p += strspn(p, " ,"); *p; p += strspn(p, " ,")) {
        size_t n = strcspn(p, " ,");
        char *word = bb_must(strndup(p, n));
        if (!question_of(q, word)) {
            bb_text ids = {0}, visible = {0};
            for (int i = 0; i < q->n; i++) bb_addf(&ids, " %s", q->at[i].id);
            bb_add_visible(&visible, word, strlen(word));
            bb_die("ASK: there is no question '%s'. The questions:%s", visible.at, ids.at);
        }
        found |= bb_same(word, id);
        free(word);
        p += n;
    }
    return found;
}

static void clear(const char *path, const char *lab) {
    if (!unlink(path))
        printf("The predictions of lab %s are gone.\n", lab);
    else if (errno == ENOENT)
        printf("There are no predictions of lab %s.\n", lab);
    else
        bb_die("%s cannot be removed: %s", path, strerror(errno));
}

int bb_cmd_predict(int argc, char **argv) {
    static store s;
    static questions q;
    if (argc != 3) bb_die("bluebar predict: N STORE");
    bb_lab lab = bb_lab_named(argv[1]);
    if (!bb_same(bb_env("CLEAR", "0"), "0")) return clear(argv[2], argv[1]), 0;
    if (!read_questions(&q, &lab)) {
        printf("Lab %s has no questions to predict: %s is not there. The chapter's own are in handouts/%s.md.\n",
               argv[1], q.path, lab.name);
        return 0;
    }
    read_store(&s, argv[2]);
    int asked = 0, kept = 0, all = 0;
    for (int i = 0; i < q.n; i++) all += asked_for(&q, q.at[i].id);
    put(PAGE_TITLE, 0, 0,
        bb_format("Lab %s: what will the next run measure? %d question%s. Type a number; Enter skips one, q ends. "
                  "No points hang on it.",
                  argv[1], all, all == 1 ? "" : "s"));
    turn t = NEXT;
    for (int i = 0; t == NEXT && i < q.n; i++) {
        if (!asked_for(&q, q.at[i].id)) continue;
        puts("");
        put(PAGE_PLAIN, 2, 3, bb_format("%d. %s (ASK=%s)", ++asked, q.at[i].text, q.at[i].id));
        t = ask(&q.at[i], &s, &kept);
    }
    int waiting = 0;
    for (int i = 0; i < s.n; i++) waiting += s.at[i].waits;
    printf("\n%d answer%s kept; %d now wait%s for the next run. %s: make lab%s\n", kept, kept == 1 ? "" : "s", waiting,
           waiting == 1 ? "s" : "", waiting ? "Measure" : "To measure", argv[1]);
    return 0;
}

/* --- showing ----------------------------------------------------------------------------------------------------- */

static const struct bb_figure *figure_of(const bb_record *r, const question *q, const char *path) {
    for (int i = 0; i < r->nfigures; i++) {
        const struct bb_figure *f = &r->figure[i];
        if (!bb_same(f->name, q->measured)) continue;
        if (*f->unit && !bb_same(f->unit, q->unit))
            bb_die("%s asks '%s' in '%s', and the lab measures it in '%s'", path, q->id, q->unit, f->unit);
        return f;
    }
    return NULL;
}

/* Returns 1 when the answer was near, 0 when not, -1 when this run did not measure it. */
static int show(const question *q, answer *a, const struct bb_figure *f) {
    bb_text t = {0};
    page_wrap(stdout, PAGE_PLAIN, 4, 2, q->text);
    if (!f) {
        put(PAGE_PLAIN, 6, 2, bb_format("you said %s; this run did not measure it", shown(a->said)));
        return -1;
    }
    a->was = f->value, a->was_at = now(), a->waits = false;
    bb_addf(&t, "you said %s, it was %s%s%s: ", shown(a->said), shown(a->was), *q->unit ? " " : "", q->unit);
    bool near = closeness(&t, a->said, a->was);
    if (bb_same(t.at + t.size - 2, ": ")) t.at[t.size - 2] = 0; /* of 0 there is no ratio */
    put(near ? PAGE_GOOD : PAGE_PART, 6, 2, t.at);
    page_wrap(stdout, PAGE_PLAIN, 6, 2, q->why);
    return near;
}

int bb_cmd_predicted(int argc, char **argv) {
    static store s;
    static questions q;
    bb_record r;
    if (argc != 4) bb_die("bluebar predicted: N RECORD STORE");
    bb_lab lab = bb_lab_named(argv[1]);
    read_store(&s, argv[3]);
    int measured = 0, near = 0, waiting = 0;
    for (int i = 0; i < s.n; i++) waiting += s.at[i].waits;
    if (!waiting || !read_questions(&q, &lab)) return 0;
    const char *bad = bb_record_read(&r, argv[2], NULL, NULL);
    if (bad) bb_die("%s: %s", argv[2], bad);
    puts("\n  your predictions");
    for (int i = 0; i < s.n; i++) {
        const question *of = s.at[i].waits ? question_of(&q, s.at[i].id) : NULL;
        if (!of) continue;
        int was = show(of, &s.at[i], figure_of(&r, of, q.path));
        measured += was >= 0;
        near += was > 0;
    }
    write_store(&s);
    if (measured)
        printf("  %d of %d within a tenth. For your next version: make predict%s\n", near, measured, argv[1]);
    else
        puts("  None of them was measured: they wait for a run that does.");
    bb_record_free(&r);
    return 0;
}

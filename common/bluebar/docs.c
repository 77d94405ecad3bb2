/* docs.c — writes the output of runs into README.md, handouts/ and handouts/answers/, between markers. With --check it
 * changes nothing, prints what differs and exits 1: no figure of the sim lane in a text is typed by hand.
 *
 *   <!-- run: make lab3 -->           a block up to <!-- end -->: the command and its output
 *   <!-- rows: 3 -->                  ... the lab's table of rows, as the harness has it
 *   <!-- table: lab3-transpose -->    ... the table measured by `make bench` (handouts/measured/lab3-transpose.tsv)
 *   <!-- bench: 3 -->                 ... the table of `make bench` in virtual time, made now
 *   <!-- ladder: 3 2048 -->           ... both, of one size (the word in the first column, if names stand in a column
 *                                     after it), with the gain over the starter
 *   <!-- timeline: starter 5 train 2000 2575 -->   ... a picture, handouts/timelines/lab5-starter.svg: of a variant's
 *                                     run, the stretch behind a mark, from and to so many microseconds
 *   <!-- roofline: solutions -->      ... a picture, handouts/rooflines/lab0-reference.svg: lab 0's kernels, as a
 * variant counts them. gnuplot draws it from the script beside it; only the script is compared, so gnuplot is needed
 * only when a run gives another one
 *   <!-- row: starter 3 launches value -->2048<!-- end -->     inside a line: one cell of a variant's record
 *                                     (<!-- row: PROFILE=a100-pcie starter 3 ... -->: of another virtual card)
 *   <!-- row: starter 3 score points -->40<!-- end -->         ... the score
 *
 * Commands are make goals from a list, always in the sim lane, with the fixed seed, and on the starter in place of the
 * reader's own file (docs.sh sets that up). Commands that need a second file say SUBMISSION=.
 *
 * Compilers differ in the last digits of a counter. The figures are those of clang 14, Debian 12's (PINNED): with it
 * every byte is compared, and only it may write. With another, a check asks for the same words, and for numbers within
 * 10 % of the text's (alike_texts): as near as the times of one kernel from two compilers should be. One line in a
 * hundred may be another one, such as registers decide (how many blocks fill the card). A timeline's picture is
 * compared with the pinned one only: its numbers are places on paper, and a bar that begins outside has what is left of
 * it.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PINNED "14."
static const double NEAR = 0.1;
enum { LINES_FOR_ANOTHER = 100, LOOK_AHEAD = 6 };
enum { MOST_BYTES = 64 << 20, MOST_WORDS = 16 };
static const char out[] = ".build/docs", end_mark[] = "<!-- end -->";

static const char *build; /* B, this lane's build folder */
static bool exact;        /* the pinned compiler */

/* --- running things ---------------------------------------------------------------------------------------------- */

enum messages { SHOWN, DROPPED, TAKEN }; /* stderr: ours, nowhere, into the file */

/* Runs a program with its output in `file` and nothing to read. Returns its exit status. */
static int run_into(const char *file, char *const *argv, const char *report, enum messages messages) {
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) bb_die("docs: %s", strerror(errno));
    if (!pid) {
        int in = open("/dev/null", O_RDONLY), to = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        int err = messages == TAKEN ? to : messages == DROPPED ? open("/dev/null", O_WRONLY) : 2;
        if (report) setenv("SIMGPU_REPORT", report, 1);
        if (in < 0 || to < 0 || err < 0 || dup2(in, 0) < 0 || dup2(to, 1) < 0 || dup2(err, 2) < 0) _exit(127);
        bb_close_rest();
        execvp(argv[0], argv);
        _exit(127);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static int words_of(char *text, char **word) {
    int n = 0;
    for (char *w = strtok(text, " "); w && n < MOST_WORDS; w = strtok(NULL, " ")) word[n++] = w;
    word[n] = NULL;
    return n;
}

static char *in_tmp(const char *name) { return bb_format("%s/tmp/%s", out, name); }

static char *read_or_die(const char *path, const char *remedy) {
    char *text = bb_read(path, MOST_BYTES, NULL);
    if (!text) bb_die("%s: %s%s%s", path, strerror(errno), *remedy ? ". " : "", remedy);
    return text;
}

/* Returns the file with a command's output. The command runs once, however many blocks and figures come from it; if
 * `reported`, SimGPU's report lies beside the file, FILE.report (with one more run, if there was one without: reports
 * are long, and few are asked for). */
static char *said(const char *command, bool reported) {
    char *copy = bb_format("%s", command), *word[MOST_WORDS + 1], *arguments[MOST_WORDS + 2];
    for (char *p = copy; *p; p++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-", *p)) *p = '_';
    char *kept = in_tmp(copy);
    free(copy);
    char *report = reported ? bb_format("%s.report", kept) : NULL;
    if (!access(report ? report : kept, F_OK)) {
        free(report);
        return kept;
    }
    copy = bb_format("%s", command);
    int n = words_of(copy, word), k = 0;
    arguments[k++] = (char *)bb_env("MAKE", "make");
    arguments[k++] = "-s";
    for (int i = 1; i < n && k < MOST_WORDS; i++) arguments[k++] = word[i];
    arguments[k] = NULL;
    bool play = n > 1 && bb_same(word[1], "play"); /* prints its report to stderr */
    run_into(kept, arguments, report, play ? TAKEN : DROPPED);
    free(report);
    free(copy);
    return kept;
}

/* A variant's name below the build folder, as lib.sh has it. */
static char *variant(const char *number, const char *who) {
    if (bb_same(who, "starter")) return bb_format("starter");
    if (bb_same(who, "solutions")) return bb_format("reference");
    char *file = in_tmp("variant"), *command = ". common/make/lib.sh && variant \"$1\" \"$2\"";
    char *const argv[] = {"bash", "-c", command, "docs", (char *)number, (char *)who, NULL};
    if (run_into(file, argv, NULL, SHOWN)) exit(1);
    char *name = read_or_die(file, "");
    name[strcspn(name, "\n")] = 0;
    free(file);
    return name;
}

/* The command that runs a variant of a lab, and leaves its record beside the program. */
static char *goal_of(const char *who, const char *number) {
    if (bb_same(who, "starter")) return bb_format("make lab%s", number);
    if (bb_same(who, "solutions")) return bb_format("make solution%s", number);
    return bb_format("make lab%s SUBMISSION=%s", number, who);
}

/* Returns the output of a lab's reference with this option. A test may have asked already: it is kept beside what other
 * programs measure (docs.sh), and gets its name when it is whole. */
static char *reference_says(const char *number, const char *option) {
    char *file = bb_format("%s/lab%s%s", bb_env("BLUEBAR_OTHERS", ".build/docs/others"), number, option);
    char *program = bb_format("%s/reference/lab%s", build, number), *fresh = bb_format("%s.%d", file, (int)getpid());
    char *const argv[] = {program, (char *)option, NULL};
    if (access(file, F_OK)) {
        bb_make_folders(fresh);
        if (run_into(fresh, argv, NULL, SHOWN)) bb_die("%s %s did not come to its end", program, option);
        if (rename(fresh, file)) bb_die("%s: %s", file, strerror(errno));
    }
    free(program);
    free(fresh);
    return file;
}

/* --- the blocks: each adds to `to`; `place` is the text's file, for messages ------------------------------------- */

static void block_run(bb_text *to, const char *place, const char *command) {
    static const char allowed[] = "^make( [A-Z]+=[A-Za-z0-9_./-]+)* ((lab|lines|solution|diff|hint)[0-9]+|check|play)( "
                                  "[A-Z]+=[A-Za-z0-9_./-]+)*$";
    regex_t form;
    if (regcomp(&form, allowed, REG_EXTENDED | REG_NOSUB)) bb_must(NULL);
    bool good = !regexec(&form, command, 0, NULL, 0);
    regfree(&form);
    if (!good)
        bb_die("%s: <!-- run: %s -->: only make's labN, linesN, hintN, diffN, solutionN, check and play can be run "
               "from a text",
               place, command);
    char *file = said(command, false), *text = bb_read(file, MOST_BYTES, NULL);
    if (!text || !*text) bb_die("%s: '%s' printed nothing; run it by hand to see why", place, command);
    size_t size = strlen(text);
    while (size && text[size - 1] == '\n') text[--size] = 0;
    bb_addf(to, "```text\n$ %s\n%s\n```\n", command, text);
    free(file);
    free(text);
}

static void block_rows(bb_text *to, const char *place, const char *number) {
    bb_table table;
    char *file = reference_says(number, "--rows");
    const char *bad = bb_table_read(&table, file);
    if (bad) bb_die("%s: <!-- rows: %s -->: %s", place, number, bad);
    bb_rows_table(to, &table);
    bb_table_free(&table);
    free(file);
}

static void block_table(bb_text *to, const char *place, const char *name) {
    char *path = bb_format("handouts/measured/%s.tsv", name), *text = bb_read(path, MOST_BYTES, NULL);
    if (!text) bb_die("%s: %s is not there. On a machine with a GPU: make bench", place, path);
    bb_any_table(to, text, true);
    free(path);
    free(text);
}

static void block_bench(bb_text *to, const char *place, const char *number) {
    (void)place;
    char *file = reference_says(number, "--bench"), *text = read_or_die(file, "");
    bb_any_table(to, text, false);
    free(file);
    free(text);
}

static void block_ladder(bb_text *to, const char *place, const char *arguments) {
    char *copy = bb_format("%s", arguments), *key = strchr(copy, ' ');
    if (key) *key++ = 0;
    bb_lab lab = bb_lab_named(copy);
    char *path = bb_format("handouts/measured/%s.tsv", lab.name), *file = reference_says(copy, "--bench");
    char *measured = read_or_die(path, "On a machine with a GPU: make bench"), *simulated = read_or_die(file, "");
    if (!bb_ladder_table(to, measured, simulated, key ? key : ""))
        bb_die("%s: <!-- ladder: %s -->: no such rows in %s", place, arguments, path);
    free(copy);
    free(path);
    free(file);
    free(measured);
    free(simulated);
}

static void block_timeline(bb_text *to, const char *place, const char *arguments) {
    char *copy = bb_format("%s", arguments), *w[MOST_WORDS + 1];
    if (words_of(copy, w) != 5) bb_die("%s: <!-- timeline: VARIANT LAB MARK FROM TO -->", place);
    char *name = variant(w[1], w[0]), *svg = bb_format("timelines/lab%s-%s.svg", w[1], name);
    char *path = bb_format("%s/handouts/%s", out, svg), *goal = goal_of(w[0], w[1]), *file = said(goal, true);
    char *report = bb_format("%s.report", file), *tool = bb_format("%s/timeline_svg", build);
    char *const argv[] = {tool, report, w[2], w[3], w[4], NULL};
    bb_make_folders(path);
    if (run_into(path, argv, NULL, SHOWN))
        bb_die("%s: <!-- timeline: %s -->: timeline_svg could not draw it", place, arguments);
    bb_addf(to, "![lab %s, %s: the host, the copies and the SMs over time](%s)\n", w[1], name, svg);
    char *all[] = {copy, name, svg, path, goal, file, report, tool};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static char *command_output(const char *command, const char *argument) {
    char *file = in_tmp("answer");
    char *const argv[] = {"bash", "-c", (char *)command, "docs", (char *)argument, NULL};
    char *text = run_into(file, argv, NULL, DROPPED) ? NULL : bb_read(file, MOST_BYTES, NULL);
    free(file);
    if (text) text[strcspn(text, "\n")] = 0;
    return text;
}

/* Another gnuplot draws the same script with other bytes, so the picture says in its last line which script it is of,
 * and is drawn anew only for another one. */
static void draw(const char *script, const char *picture) {
    char *fresh = bb_format("%s/%s", out, picture), *gp = bb_format("%s/%s", out, script);
    char *sum = command_output("cksum <\"$1\"", gp), *old = bb_read(picture, MOST_BYTES, NULL);
    char *before = bb_read(script, MOST_BYTES, NULL), *now = read_or_die(gp, "");
    char *mark = bb_format("<!-- drawn from a script with cksum %s -->\n", sum ? sum : "");
    size_t size = old ? strlen(old) : 0, tail = strlen(mark);
    if (old && size > tail && bb_same(old + size - tail, mark))
        bb_write(fresh, old, size);
    else if (old && before && !exact && bb_alike(before, now, NEAR)) {
        bb_write(fresh, old, size);
        bb_write(gp, before, strlen(before));
    } else {
        char *install =
            command_output("command -v gnuplot >/dev/null || common/make/need.sh --command gnuplot-nox", "");
        if (install && *install)
            bb_die("%s is not of the script that a run gives; to draw it anew: %s, then make docs", picture, install);
        char *const argv[] = {"gnuplot", gp, NULL};
        if (run_into(fresh, argv, NULL, SHOWN)) bb_die("gnuplot could not draw %s", script);
        FILE *f = fopen(fresh, "ae");
        if (!f || fputs(mark, f) < 0 || fclose(f)) bb_die("%s cannot be written", fresh);
        free(install);
    }
    char *all[] = {fresh, gp, sum, old, before, now, mark};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void block_roofline(bb_text *to, const char *place, const char *who) {
    char *name = variant("0", who), *script = bb_format("handouts/rooflines/lab0-%s.gp", name);
    char *picture = bb_format("handouts/rooflines/lab0-%s.svg", name), *gp = bb_format("%s/%s", out, script);
    bb_make_folders(gp);
    if (bb_same(name, "reference")) {
        char *file = reference_says("0", "--roofline"), *made = read_or_die(file, "");
        bb_write(gp, made, strlen(made));
        free(file);
        free(made);
    } else {
        char *program = bb_format("%s/%s/lab0", build, name);
        char *const argv[] = {program, "--roofline", NULL};
        if (run_into(gp, argv, NULL, DROPPED)) bb_die("%s: <!-- roofline: %s -->: lab 0 does not run", place, who);
        free(program);
    }
    draw(script, picture);
    bb_addf(to, "![lab 0: five kernels under the roof of the machine](%s)\n", picture + strlen("handouts/"));
    char *all[] = {name, script, picture, gp};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* One cell of a record: [PROFILE=CARD] VARIANT LAB ROW COLUMN; of row `score` the points in all. */
static void add_cell(bb_text *to, const char *place, const char *arguments) {
    char *copy = bb_format("%s", arguments), *words[MOST_WORDS + 1], **w = words, *card = NULL;
    int n = words_of(copy, words);
    if (n && bb_begins(w[0], "PROFILE=")) card = w[0], w++, n--;
    int column = n == 4 ? bb_cell(w[3]) : -1;
    if (column < 0) bb_die("%s: <!-- row: %s -->: VARIANT LAB ROW COLUMN", place, arguments);
    char *name = variant(w[1], w[0]), *goal = goal_of(w[0], w[1]);
    char *command = bb_format("%s%s%s", goal, card ? " " : "", card ? card : "");
    char *path =
        bb_format("%s/%s/lab%s%s%s.tsv", build, name, w[1], card ? "." : "", card ? card + strlen("PROFILE=") : "");
    free(said(command, false));
    bb_record r;
    const char *bad = bb_record_read(&r, path, NULL, NULL);
    const struct bb_row *row = bad ? NULL : bb_record_row(&r, w[2]);
    const bool score = !bad && bb_same(w[2], "score") && bb_same(w[3], "points");
    if (!row && !score) bb_die("%s: <!-- row: %s -->: %s", place, arguments, bad ? bad : "no such row");
    if (score)
        bb_addf(to, "%g", r.points);
    else
        bb_addf(to, "%s", row->cell[column]);
    bb_record_free(&r);
    char *all[] = {copy, name, goal, command, path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* --- a text ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *mark;
    void (*block)(bb_text *to, const char *place, const char *arguments);
} blocks[] = {{"<!-- run: ", block_run},          {"<!-- rows: ", block_rows},     {"<!-- table: ", block_table},
              {"<!-- bench: ", block_bench},      {"<!-- ladder: ", block_ladder}, {"<!-- timeline: ", block_timeline},
              {"<!-- roofline: ", block_roofline}};

/* A line that is a block's mark and nothing else: adds it and the block. */
static bool add_block(bb_text *to, const char *place, const char *line) {
    size_t size = strlen(line);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        size_t from = strlen(blocks[i].mark);
        if (!bb_begins(line, blocks[i].mark) || size < from + 4 || !bb_same(line + size - 4, " -->")) continue;
        char *arguments = bb_format("%.*s", (int)(size - 4 - from), line + from);
        bb_addf(to, "%s\n", line);
        blocks[i].block(to, place, arguments);
        free(arguments);
        return true;
    }
    return false;
}

/* A line of text, its cells made anew: MARK old value END. */
static void add_line(bb_text *to, const char *place, const char *line) {
    static const char mark[] = "<!-- row: ";
    for (const char *cell; (cell = strstr(line, mark));) {
        const char *args = cell + strlen(mark), *close = strstr(args, " -->");
        const char *value = close ? close + 4 : NULL, *end = value ? value + strcspn(value, "<") : NULL;
        if (!end || !bb_begins(end, end_mark)) break;
        char *arguments = bb_format("%.*s", (int)(close - args), args);
        bb_add(to, line, (size_t)(value - line));
        add_cell(to, place, arguments);
        bb_addf(to, "%s", end_mark);
        line = end + strlen(end_mark);
        free(arguments);
    }
    bb_addf(to, "%s\n", line);
}

static void renew(const char *place) {
    char *text = read_or_die(place, ""), *rest = text, *skipping = NULL, *path = bb_format("%s/%s", out, place);
    bb_text to = {0};
    for (char *line; (line = bb_line(&rest));) {
        if (skipping) {
            if (!bb_same(line, end_mark)) continue;
            skipping = NULL;
            bb_addf(&to, "%s\n", line);
        } else if (add_block(&to, place, line))
            skipping = line;
        else
            add_line(&to, place, line);
    }
    if (skipping) bb_die("%s: '%s' has no <!-- end -->", place, skipping);
    bb_make_folders(path);
    bb_write(path, to.at ? to.at : "", to.size);
    free(path);
    free(text);
    free(to.at);
}

/* --- comparing --------------------------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_bar(const char *p) {
    return (unsigned char)p[0] == 0xE2 && (unsigned char)p[1] == 0x96 && (unsigned char)p[2] >= 0x80 &&
           (unsigned char)p[2] <= 0x88;
}

/* Spaces, whose number follows the width of the figures beside them, and the bars of a drawn timeline. */
static const char *skip_blank(const char *p) {
    while (*p == ' ' || is_bar(p)) p += *p == ' ' ? 1 : 3;
    return p;
}

/* A number of figures and a point. *unit: one in its last place; 0 for a whole number that is no percentage. */
static const char *number(const char *p, double *value, double *unit) {
    const char *from = p, *point = NULL;
    while (is_digit(*p) || (*p == '.' && !point && is_digit(p[1]))) {
        if (*p == '.') point = p;
        p++;
    }
    *value = strtod(from, NULL);
    *unit = point ? pow(10, -(double)(p - point - 1)) : *p == '%' || bb_begins(p, " %") ? 1 : 0;
    return p;
}

/* A line number, or a part of a name as lab3 or float4: another one is another thing. */
static bool is_name(const char *text, const char *p) {
    char c = p > text ? p[-1] : ' ';
    return c == ':' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool bb_alike(const char *a, const char *b, double share) {
    const char *from_a = a, *from_b = b;
    if (share <= 0) return bb_same(a, b);
    for (;;) {
        a = skip_blank(a);
        b = skip_blank(b);
        if (is_digit(*a) && is_digit(*b)) {
            double x, y, ux, uy;
            bool name = is_name(from_a, a) || is_name(from_b, b);
            a = number(a, &x, &ux);
            b = number(b, &y, &uy);
            double room = fmax(share * fmax(x, y), fmax(ux, uy) * 1.0001);
            if (fabs(x - y) > (name ? 0 : room)) return false;
        } else if (*a != *b)
            return false;
        else if (!*a++)
            return true;
        else
            b++;
    }
}

/* Splits a text of its own into lines. Returns their number. */
static size_t lines_of(char *text, char ***lines) {
    size_t n = 1;
    for (const char *p = text; *p; p++) n += *p == '\n';
    *lines = bb_must(calloc(n, sizeof **lines));
    n = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) (*lines)[n++] = line;
    return n;
}

/* Returns whether two texts are alike, but for a line in LINES_FOR_ANOTHER. A paragraph that a run has wrapped
 * otherwise goes on some lines later. */
static bool alike_texts(const char *a, const char *b) {
    char *copies[2] = {bb_format("%s", a), bb_format("%s", b)}, **x, **y;
    size_t n = lines_of(copies[0], &x), m = lines_of(copies[1], &y), i = 0, j = 0, others = 0;
    while (i < n && j < m) {
        size_t skip = 0, of_x = 0;
        while (skip <= LOOK_AHEAD) {
            for (of_x = 0; of_x <= skip; of_x++)
                if (i + of_x < n && j + skip - of_x < m && bb_alike(x[i + of_x], y[j + skip - of_x], NEAR)) break;
            if (of_x <= skip) break;
            skip++;
        }
        if (skip > LOOK_AHEAD) break;
        others += skip;
        i += of_x + 1;
        j += skip - of_x + 1;
    }
    others += n - i + (m - j);
    free(x), free(y), free(copies[0]), free(copies[1]);
    return others <= 2 * (n / LINES_FOR_ANOTHER); /* a line that is another one counts in both texts */
}

static int compare(const char *fresh, bool check) {
    const char *file = fresh + strlen(out) + 1;
    char *now = read_or_die(fresh, ""), *before = bb_read(file, MOST_BYTES, NULL);
    size_t length = strlen(file);
    bool picture = length > 4 && bb_same(file + length - 4, ".svg");
    bool same = before && (exact ? bb_same(before, now) : picture || alike_texts(before, now));
    if (!same && check) {
        printf("%s is not what a run gives (put right by: make docs, with clang %.2s):\n", file, PINNED);
        fflush(stdout);
        char *const argv[] = {"diff",      "-uN",        "--label",     (char *)file, "--label",
                              "a run now", (char *)file, (char *)fresh, NULL};
        pid_t pid = fork(); /* to the same place behind what is there, which a file opened anew would lose */
        if (!pid) execvp(argv[0], argv), _exit(127);
        while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    } else if (!same) {
        bb_make_folders(file);
        bb_write(file, now, strlen(now));
        printf("docs: %s renewed\n", file);
    }
    free(now);
    free(before);
    return !same && check;
}

static int each(const char *pattern, int (*work)(const char *path, bool check), bool check) {
    glob_t found;
    int status = 0;
    if (glob(pattern, GLOB_BRACE, NULL, &found)) return 0;
    for (size_t i = 0; i < found.gl_pathc; i++) status |= work(found.gl_pathv[i], check);
    globfree(&found);
    return status;
}

static int renew_one(const char *path, bool check) {
    (void)check;
    renew(path);
    return 0;
}

int bb_cmd_docs(int argc, char **argv) {
    bool check = argc == 2 && bb_same(argv[1], "--check");
    const char *version = bb_env("CLANG_VERSION", "");
    if (argc > 2 || (argc == 2 && !check)) bb_die("bluebar docs [--check]");
    build = bb_env("B", ".build/sim");
    exact = bb_begins(version, PINNED);
    if (!exact && !check)
        bb_die("The figures in the texts are those of clang %.2s, Debian 12's, and this is clang %s, whose counters "
               "differ "
               "in their last digits. To write them, take clang %.2s (CLANG=clang-%.2s); to compare within %.0f "
               "%%: common/make/docs.sh --check",
               PINNED, version, PINNED, PINNED, 100 * NEAR);
    each("{README.md,handouts/*.md,handouts/answers/*.md}", renew_one, check);
    return each(
        ".build/docs/{README.md,handouts/*.md,handouts/answers/*.md,handouts/timelines/*.svg,handouts/rooflines/*}",
        compare, check);
}

/* For the tests: are two files alike, at another compiler's tolerance? */
int bb_cmd_alike(int argc, char **argv) {
    if (argc != 3) bb_die("bluebar alike: FILE FILE");
    char *a = read_or_die(argv[1], ""), *b = read_or_die(argv[2], "");
    bool same = alike_texts(a, b);
    free(a);
    free(b);
    return !same;
}

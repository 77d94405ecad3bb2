/* grade.c — `make grade`: all submissions of a folder, several at once, each by check.sh as `make check` would.
 *
 *   DIR=folder    each folder in it is a submission, with the labs whose files are there; so is each .cu file in it
 *   LAB=3         this lab only, or these; needed for a .cu file whose name says nothing
 *   SEED=n        the seed of the class; without it a fresh one. OUT keeps it: one class, one seed
 *   AGAIN=1       also what has a result already. Else a submission is graded again only if its file is another
 *   OUT=folder    where the results go (DIR-grades)
 *   JOBS=n        so many at once (all cores; one in the gpu lane, where they would disturb each other's times)
 *
 * In OUT: scores.csv, a line for each submission and lab; NAME-lab3.txt, all output of its check; results/, from which
 * scores.csv is made and by which an interrupted call goes on. A result is written when a check came to its own end,
 * and never else: Ctrl-C, a hang-up or a full disk leave no grade behind. A submission that cannot be graded (a link,
 * a pipe, no file) is in scores.csv with the reason, and stops no other.
 *
 * grade.sh has built the references, and left each lab's table in ROWS/labN.rows. COMMIT names the project's commit.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 20, MOST_LABS = 100, STOP_SECONDS = 3 };

typedef struct {
    char *name, *path, *refused; /* refused: why it is not graded, or NULL */
    const bb_lab *lab;           /* NULL where no file tells */
    char *stem;                  /* NAME-lab3, as a file's name */
    char *sum;                   /* of the file */
    pid_t pid;                   /* of its check */
} item;

static struct {
    const char *dir, *out, *build, *commit, *rows;
    char *seed, *desk;
    bb_lab lab[MOST_LABS];
    int nlabs;
    item *items;
    int nitems;
    int graded, had, failed;
} class;

static char *visible(const char *text) {
    bb_text t = {0};
    bb_add_visible(&t, text, strlen(text));
    return t.at ? t.at : bb_format("%s", "");
}

/* --- the submissions --------------------------------------------------------------------------------------------- */

/* NAME-lab3 as a name for files: no control character, not too long, and never the same for two names. */
static char *stem_of(const char *name, const char *lab) {
    bb_text t = {0};
    for (const char *p = name; *p && t.size < 160; p++)
        if ((unsigned char)*p < 32 || *p == 127 || *p == '%')
            bb_addf(&t, "%%%02X", (unsigned char)*p);
        else
            bb_add(&t, p, 1);
    if (strlen(name) >= 100) bb_addf(&t, "-%016llx", (unsigned long long)bb_sum(name, strlen(name)));
    bb_addf(&t, "-lab%s", lab);
    return t.at;
}

static item *add_item(const char *name, const bb_lab *lab, const char *path, char *refused) {
    class.items = bb_must(realloc(class.items, (size_t)(class.nitems + 1) * sizeof *class.items));
    item *it = &class.items[class.nitems++];
    *it = (item){.name = bb_must(strdup(name)), .path = bb_must(strdup(path)), .refused = refused, .lab = lab};
    it->stem = stem_of(name, lab ? lab->number : "");
    return it;
}

/* Returns why `path`, below the folder of the class, is not a file to grade; NULL when it is one. */
static char *no_file(const char *path) {
    struct stat st;
    char *copy = bb_must(strdup(path)), *why = NULL;
    /* A link in a submission may lead to a file of the grader's, at each step of the path. */
    for (char *end = copy + strlen(class.dir) + 1; end && !why;) {
        end = strchr(end, '/');
        if (end) *end = 0;
        if (!lstat(copy, &st) && S_ISLNK(st.st_mode)) why = bb_format("%s is a link, and links are not graded", copy);
        if (end) *end++ = '/';
    }
    free(copy);
    if (why) return why;
    if (lstat(path, &st)) return bb_format("%s cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return bb_format("%s is a %s, and only plain files are graded", path,
                         S_ISDIR(st.st_mode)    ? "folder"
                         : S_ISFIFO(st.st_mode) ? "named pipe"
                                                : "device or socket");
    if (st.st_size > MOST_BYTES) return bb_format("%s is larger than 1 MB, which no lab's file is", path);
    if (access(path, R_OK)) return bb_format("%s cannot be read: %s", path, strerror(errno));
    return NULL;
}

static bool is_there(const char *path) {
    struct stat st;
    return !lstat(path, &st);
}

static void add_folder(const char *name, const char *path) {
    int before = class.nitems;
    bb_text asked = {0};
    for (int i = 0; i < class.nlabs; i++) {
        const bb_lab *lab = &class.lab[i];
        char *inner = bb_format("%s/%s/%s", path, lab->name, lab->file), *outer = bb_format("%s/%s", path, lab->file);
        const char *file = is_there(inner) ? inner : is_there(outer) ? outer : NULL;
        if (file) add_item(name, lab, file, no_file(file));
        bb_addf(&asked, " %s", lab->number);
        free(inner);
        free(outer);
    }
    if (class.nitems == before)
        add_item(name, class.nlabs == 1 ? class.lab : NULL, path, bb_format("no file of lab%s in it", asked.at));
    free(asked.at);
}

static void add_file(const char *name, const char *path) {
    char *bare = bb_must(strndup(name, strlen(name) - 3)), *twin = bb_format("%.*s", (int)(strlen(path) - 3), path);
    const char *shown = is_there(twin) ? name : bare; /* a folder of that name is another submission */
    int before = class.nitems;
    for (int i = 0; i < class.nlabs; i++)
        if (class.nlabs == 1 || bb_same(name, class.lab[i].file)) add_item(shown, &class.lab[i], path, no_file(path));
    if (class.nitems == before)
        add_item(name, NULL, path, bb_format("a file of which lab? To grade it, say LAB=%s", class.nlabs ? "3" : "N"));
    free(bare);
    free(twin);
}

static void find_items(void) {
    struct dirent **found;
    int n = scandir(class.dir, &found, NULL, alphasort);
    if (n < 0) bb_die("DIR=%s: there is no such folder.", class.dir);
    for (int i = 0; i < n; i++) {
        const char *name = found[i]->d_name;
        char *path = bb_format("%s/%s", class.dir, name);
        struct stat st;
        size_t size = strlen(name);
        bool source = size > 3 && bb_same(name + size - 3, ".cu");
        if (name[0] == '.' || stat(path, &st)) st.st_mode = 0;
        if (name[0] != '.' && S_ISDIR(st.st_mode))
            add_folder(name, path);
        else if (name[0] != '.' && source)
            add_file(name, path);
        free(path);
        free(found[i]);
    }
    free(found);
}

/* --- results ----------------------------------------------------------------------------------------------------- */

static char *result_path(const item *it) { return bb_format("%s/results/%s.tsv", class.out, it->stem); }
static char *text_path(const item *it) { return bb_format("%s/%s.txt", class.out, it->stem); }

/* Fills in who and when, and keeps it. */
static void keep(const item *it, bb_result *r) {
    char *path = result_path(it);
    const struct {
        char **field;
        const char *text;
    } known[] = {{&r->sum, it->refused ? "" : it->sum},
                 {&r->name, it->name},
                 {&r->lab, it->lab ? it->lab->number : ""},
                 {&r->seed, class.seed},
                 {&r->commit, class.commit}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        free(*known[i].field);
        *known[i].field = bb_must(strdup(known[i].text));
    }
    bb_result_write(r, path);
    free(path);
}

/* A submission that is not graded: no points of the lab's, and the reason. `points`: "0", or "" where we failed. */
static void keep_reason(item *it, const char *points, const char *why) {
    bb_result r = {.points = bb_format("%s", points), .of = bb_format("%s", ""), .note = bb_format("%s", why)};
    bb_table t;
    char *rows = it->lab ? bb_format("%s/lab%s.rows", class.rows, it->lab->number) : NULL;
    if (rows && !bb_table_read(&t, rows)) {
        double max = 0;
        for (int i = 0; i < t.nrows; i++) {
            max += t.row[i].points;
            bb_result_row(&r, t.row[i].cell[LAB_HEAD_id], points);
        }
        free(r.of);
        r.of = bb_format("%g", max);
        bb_table_free(&t);
    }
    if (!it->refused) it->refused = bb_format("%s", why);
    keep(it, &r);
    free(rows);
    bb_result_free(&r);
    char *name = visible(it->name), *reason = visible(why);
    fprintf(stderr, "%s: %s\n", name, reason);
    free(name);
    free(reason);
    class.failed++;
}

static int by_name(const void *a, const void *b) {
    const bb_result *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : atoi(x->lab) - atoi(y->lab);
}

/* All results in OUT. With `drop`, those of submissions that could not be graded are removed, to be tried anew.
 */
static int all_results(bb_result **results, bool drop) {
    char *folder = bb_format("%s/results", class.out);
    DIR *d = opendir(folder);
    int n = 0;
    *results = NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        bb_result r;
        char *path = bb_format("%s/%s", folder, e->d_name);
        size_t size = strlen(e->d_name);
        if (size > 4 && bb_same(e->d_name + size - 4, ".tsv") && bb_result_read(&r, path)) {
            if (drop && !*r.sum) {
                unlink(path);
                bb_result_free(&r);
            } else {
                *results = bb_must(realloc(*results, (size_t)(n + 1) * sizeof **results));
                (*results)[n++] = r;
            }
        }
        free(path);
    }
    if (d) closedir(d);
    free(folder);
    if (n) qsort(*results, (size_t)n, sizeof **results, by_name);
    return n;
}

static void write_scores(void) {
    bb_result *results;
    bb_text csv = {0};
    int n = all_results(&results, false);
    if (n) {
        char *path = bb_format("%s/scores.csv", class.out);
        bb_csv(&csv, results, n);
        bb_write(path, csv.at, csv.size);
        free(path);
    }
    for (int i = 0; i < n; i++) bb_result_free(&results[i]);
    free(results);
    free(csv.at);
}

/* --- one check --------------------------------------------------------------------------------------------------- */

static char *desk_of(const item *it) { return bb_format("%s/%td", class.desk, it - class.items); }

/* In the child: a process group of its own, so that Ctrl-C reaches it through us only. The seed comes by a pipe. */
static void begin_check(const item *it, int in) {
    char *text = text_path(it), *desk = desk_of(it);
    int out = open(text, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setenv("LAB", it->lab->number, 1);
    setenv("SUBMISSION", it->path, 1);
    setenv("SEED", "-", 1);
    setenv("DESK", desk, 1);
    setenv("SIMGPU_THREADS", "1", 1);
    setenv("MAKEFLAGS", "-j1", 1);
    if (out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0) _exit(2);
    bb_close_rest();
    execl("common/make/check.sh", "check.sh", (char *)NULL);
    _exit(2);
}

static void start_check(item *it) {
    int ends[2];
    char *result = result_path(it);
    unlink(result);
    free(result);
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) || (it->pid = fork()) < 0) bb_die("make grade: %s", strerror(errno));
    if (!it->pid) begin_check(it, ends[0]);
    setpgid(it->pid, it->pid);
    dprintf(ends[1], "%s\n", class.seed);
    close(ends[0]);
    close(ends[1]);
}

/* The last line that the check printed; NULL when there is none. */
static char *last_line(const item *it) {
    char *path = text_path(it), *text = bb_read(path, 64u << 20, NULL), *rest = text, *last = NULL;
    for (char *line; (line = bb_line(&rest));)
        if (*line) last = line;
    if (last) last = bb_must(strdup(last));
    free(path);
    free(text);
    return last;
}

/* check.sh leaves one result, on the desk that was given to it. */
static bool result_of(const item *it, bb_result *r) {
    char *desk = desk_of(it), *pattern = bb_format("%s/%s/check/*-lab%s.result", class.build, desk, it->lab->number);
    glob_t found = {0};
    bool good = !glob(pattern, 0, NULL, &found) && found.gl_pathc == 1 && bb_result_read(r, found.gl_pathv[0]);
    globfree(&found);
    free(desk);
    free(pattern);
    return good;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st, (void)kind, (void)at;
    return remove(path);
}

static void remove_desk(const char *desk) {
    char *path = bb_format("%s/%s", class.build, desk);
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(path);
}

static void end_check(item *it, int status) {
    bb_result r;
    it->pid = 0;
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1 || !result_of(it, &r)) {
        char *last = last_line(it),
             *why = bb_format("not graded: %s", last ? last : "the check was ended from outside");
        keep_reason(it, "", why);
        free(last);
        free(why);
    } else {
        keep(it, &r);
        char *name = visible(it->name), *note = visible(r.note), *points = bb_format("%s/%s", r.points, r.of);
        printf("%-24s lab %s %9s  %.90s\n", name, it->lab->number, points, note);
        fflush(stdout);
        free(name);
        free(note);
        free(points);
        bb_result_free(&r);
        class.graded++;
    }
    char *desk = desk_of(it);
    remove_desk(desk);
    free(desk);
}

/* --- the class --------------------------------------------------------------------------------------------------- */

/* Returns whether it has a result of this very file. Computes the file's checksum on the way. */
static bool has_result(item *it) {
    bb_result r;
    size_t size;
    char *bytes = bb_read(it->path, MOST_BYTES, &size), *path = result_path(it);
    it->sum =
        bb_format("%016llx-%zu", (unsigned long long)bb_sum(bytes ? bytes : "", bytes ? size : 0), bytes ? size : 0);
    bool had = !*bb_env("AGAIN", "") && bb_result_read(&r, path);
    if (had) {
        had = bb_same(r.sum, it->sum) && bb_same(r.seed, class.seed);
        bb_result_free(&r);
    }
    free(bytes);
    free(path);
    return had;
}

/* Ends every check. None of them leaves a result. */
static void stop_all(void) {
    for (int i = 0; i < class.nitems; i++)
        if (class.items[i].pid) kill(-class.items[i].pid, SIGTERM);
    for (int tenth = 0; tenth < 10 * STOP_SECONDS; tenth++) {
        while (waitpid(-1, NULL, WNOHANG) > 0) continue;
        if (waitpid(-1, NULL, WNOHANG) < 0) return;
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    bb_end_all();
}

/* Grades all items, `jobs` at a time. Returns the signal that ended it, or 0. */
static int grade_items(int jobs, const sigset_t *mask) {
    int next = 0, busy = 0;
    while (next < class.nitems || busy) {
        while (next < class.nitems && busy < jobs) {
            item *it = &class.items[next++];
            if (it->refused)
                keep_reason(it, "0", it->refused);
            else if (has_result(it))
                class.had++;
            else
                start_check(it), busy++;
        }
        if (!busy) break;
        int caught = sigtimedwait(mask, NULL, &(struct timespec){.tv_sec = 1});
        if (caught > 0 && caught != SIGCHLD) return caught;
        int status;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
            for (int i = 0; i < next; i++) {
                if (class.items[i].pid != pid) continue;
                /* The Ctrl-C that is pending for us may have ended it. */
                sigset_t pending;
                sigpending(&pending);
                if (sigismember(&pending, SIGINT)) return SIGINT;
                if (sigismember(&pending, SIGTERM)) return SIGTERM;
                if (sigismember(&pending, SIGHUP)) return SIGHUP;
                end_check(&class.items[i], status);
                busy--;
            }
    }
    return 0;
}

static void choose_labs(void) {
    const char *asked = bb_env("LAB", "");
    bb_lab *all;
    int n = bb_labs(&all);
    if (n > MOST_LABS) bb_die("make grade knows at most %d labs", MOST_LABS);
    if (!*asked) {
        for (int i = 0; i < n; i++) class.lab[class.nlabs++] = all[i];
        return;
    }
    char *words = bb_must(strdup(asked));
    for (char *word = strtok(words, " \t\n"); word && class.nlabs < MOST_LABS; word = strtok(NULL, " \t\n"))
        class.lab[class.nlabs++] = bb_lab_named(word);
    free(words);
}

/* One class, one seed: that of the results that are there, else SEED, else a fresh one. */
static void choose_seed(void) {
    const char *asked = bb_env("SEED", "");
    char *path = bb_format("%s/results/seed", class.out), *kept = bb_read(path, 64, NULL);
    uint64_t seed;
    if (*asked && !bb_whole(asked, &seed))
        bb_die("SEED=%s: a seed is a whole number from 0 to 18446744073709551615, as SEED=7.", asked);
    if (kept) kept[strcspn(kept, "\n")] = 0;
    if (kept && !bb_whole(kept, &seed))
        bb_die("%s is damaged: it should hold the seed of the results beside it.", path);
    if (kept && *asked && !bb_same(kept, asked))
        bb_die("%s has results with SEED=%s, and one class has one seed. Go on without SEED, or begin anew in another "
               "folder: "
               "OUT=folder SEED=%s",
               class.out, kept, asked);
    if (!kept && !*asked && getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        bb_die("make grade: no random seed");
    class.seed = kept ? kept : *asked ? bb_must(strdup(asked)) : bb_format("%llu", (unsigned long long)seed);
    char *line = bb_format("%s\n", class.seed);
    bb_write(path, line, strlen(line));
    free(line);
    free(path);
}

static void open_results(void) {
    char *path = bb_format("%s/results/.lock", class.out);
    bb_make_folders(path);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) bb_die("%s cannot be written: %s", path, strerror(errno));
    if (flock(lock, LOCK_EX | LOCK_NB)) bb_die("Another make grade is writing to %s.", class.out);
    free(path);
}

static int full_ones(void) {
    bb_result *results;
    int full = 0, n = all_results(&results, false);
    for (int i = 0; i < class.nitems; i++)
        for (int k = 0; k < n && !class.items[i].refused; k++)
            full += bb_same(results[k].name, class.items[i].name) &&
                    bb_same(results[k].lab, class.items[i].lab->number) && bb_same(results[k].points, results[k].of);
    for (int k = 0; k < n; k++) bb_result_free(&results[k]);
    free(results);
    return full;
}

static int finish(int caught) {
    write_scores();
    int have = class.graded + class.had;
    if (caught) {
        printf(
            "Stopped: %d graded, %d not yet; what was under way has no result. The same command goes on from here.\n",
            have, class.nitems - have - class.failed);
        return 128 + caught;
    }
    printf("%d graded, %d had a result already%s, %d could not be graded; %d of %d are full: %s/scores.csv\n",
           class.graded, class.had, class.had ? " (AGAIN=1 grades them anew)" : "", class.failed, full_ones(), have,
           class.out);
    return class.failed || !have;
}

int bb_cmd_grade(int argc, char **argv) {
    (void)argv;
    if (argc != 1) bb_die("bluebar grade: see grade.c for the variables that it reads");
    char *dir = bb_format("%s", bb_env("DIR", ""));
    while (strlen(dir) > 1 && dir[strlen(dir) - 1] == '/') dir[strlen(dir) - 1] = 0;
    bool gpu = bb_same(bb_env("DEVICE", "sim"), "gpu");
    uint64_t jobs = gpu ? 1 : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    if (*bb_env("JOBS", "") && (!bb_whole(bb_env("JOBS", ""), &jobs) || !jobs || jobs > 1000))
        bb_die("JOBS=%s: a whole number from 1 to 1000", bb_env("JOBS", ""));
    class.dir = dir;
    class.out = *bb_env("OUT", "") ? bb_env("OUT", "") : bb_format("%s-grades", dir);
    class.build = bb_env("B", ".build/sim");
    class.commit = bb_env("COMMIT", "unknown");
    class.rows = bb_env("ROWS", "");
    class.desk = bb_format("grade-%d", (int)getpid());
    choose_labs();
    open_results();
    choose_seed();
    find_items();
    bb_result *old;
    int n = all_results(&old, true);
    for (int i = 0; i < n; i++) bb_result_free(&old[i]);
    free(old);

    sigset_t mask;
    sigemptyset(&mask);
    const int heard[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) sigaddset(&mask, heard[i]);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    bb_adopt();
    int caught = grade_items((int)jobs, &mask);
    if (caught) stop_all();
    remove_desk(class.desk);
    return finish(caught);
}

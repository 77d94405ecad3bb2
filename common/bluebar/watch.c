/* watch.c — `make watch3`: runs a command again whenever a file is saved, with the scores of the runs so far below it.
 *
 *     bluebar watch FILE RECORD -- COMMAND...
 *
 * inotify watches the file's folder and not the file, since most editors write a new file and rename it. A save is a
 * file of that name that was closed after writing, or that was moved there. Saves within SETTLE_MS are one. A save
 * while the command runs starts it again after its end.
 *
 * Ctrl-C (SIGINT), SIGTERM or SIGHUP ends it, with status 0, and whatever the command has started. The history is in
 * memory only.
 */
#define _GNU_SOURCE
#include "bluebar.h"
#include "page.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SETTLE_MS = 100, SHOWN = 8 };

typedef struct {
    char clock[16], time[64]; /* when it ended; the row of the time, "" without one */
    double points, max;       /* max 0: no score */
} past;

typedef struct {
    const char *record;
    char **command;
    struct {
        int watch;  /* of the folder */
        char *name; /* of the file in it */
    } place[2];     /* as it was named, and where a link leads */
    int nplaces, saves, signals;
    past *run;
    int nruns;
} watcher;

/* --- saves ------------------------------------------------------------------------------------------------------- */

static void look_at(watcher *w, const char *path) {
    char *folder = bb_must(strdup(path)), *slash = strrchr(folder, '/');
    w->place[w->nplaces].name = bb_must(strdup(bb_base(path)));
    if (slash) slash[slash == folder] = 0;
    const char *where = slash ? folder : ".";
    int watch = inotify_add_watch(w->saves, where, IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF);
    if (watch < 0)
        bb_die("bluebar watch: the folder %s cannot be watched: %s", where,
               errno == ENOSPC ? "the limit of this machine's watches is reached (fs.inotify.max_user_watches)"
                               : strerror(errno));
    w->place[w->nplaces++].watch = watch;
    free(folder);
}

static void begin_watching(watcher *w, const char *file) {
    char real[PATH_MAX];
    w->saves = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->saves < 0) bb_die("bluebar watch: %s", strerror(errno));
    look_at(w, file);
    if (realpath(file, real)) look_at(w, real);
}

/* Reads the events that have come. Returns whether the file was saved. */
static bool saved(watcher *w) {
    _Alignas(struct inotify_event) char bytes[4096];
    bool any = false;
    for (ssize_t n; (n = read(w->saves, bytes, sizeof bytes)) > 0;)
        for (char *p = bytes; p < bytes + n;) {
            const struct inotify_event *e = (void *)p;
            if (e->mask & (IN_DELETE_SELF | IN_MOVE_SELF)) bb_die("The folder of %s is gone.", w->place[0].name);
            for (int k = 0; k < w->nplaces; k++)
                any |= e->wd == w->place[k].watch && e->len && bb_same(e->name, w->place[k].name);
            any |= (e->mask & IN_Q_OVERFLOW) != 0; /* events were lost, perhaps a save */
            p += sizeof *e + e->len;
        }
    return any;
}

/* --- the history ------------------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), k = strlen(end);
    return n >= k && bb_same(text + n - k, end);
}

static void note_run(watcher *w) {
    bb_record r;
    w->run = bb_must(realloc(w->run, ((size_t)w->nruns + 1) * sizeof *w->run));
    past *p = &w->run[w->nruns++];
    *p = (past){.max = 0};
    time_t now = time(NULL);
    strftime(p->clock, sizeof p->clock, "%H:%M:%S", localtime(&now));
    if (!bb_record_read(&r, w->record, NULL, NULL)) {
        p->points = r.points, p->max = r.max;
        for (int i = 0; i < r.nrows && !*p->time; i++)
            if (ends_with(r.row[i].cell[LAB_CELL_id], "time"))
                snprintf(p->time, sizeof p->time, "%s", r.row[i].cell[LAB_CELL_value]);
    }
    bb_record_free(&r);
}

/* The last runs, newest last, each with its change of points. */
static void show_history(const watcher *w, const char *file) {
    int first = w->nruns > SHOWN ? w->nruns - SHOWN : 0;
    puts("");
    for (int i = first; i < w->nruns; i++) {
        const past *p = &w->run[i], *before = i ? p - 1 : NULL;
        double more = before && before->max > 0 && p->max > 0 ? p->points - before->points : 0;
        char change[32] = "", score[64] = "no score";
        if (more != 0) snprintf(change, sizeof change, "%+.4g", more);
        if (p->max > 0) snprintf(score, sizeof score, "%g/%g", p->points, p->max);
        enum page_style style = p->max <= 0 || more < 0 ? PAGE_BAD : more > 0 ? PAGE_GOOD : PAGE_PLAIN;
        printf("  run %-3d %s  %s%10s %6s%s  %s\n", i + 1, p->clock, page_on(stdout, style), score, change,
               page_off(stdout), p->time);
    }
    printf("  watching %s: save it to run again, Ctrl-C to end\n", file);
    fflush(stdout);
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

/* Returns whether a signal asks us to end. Collects a child that has ended. */
static bool told_to_end(const watcher *w, pid_t *child) {
    struct signalfd_siginfo s;
    bool end = false;
    while (read(w->signals, &s, sizeof s) == (ssize_t)sizeof s) end |= s.ssi_signo != SIGCHLD;
    for (pid_t pid; (pid = waitpid(-1, NULL, WNOHANG)) > 0;)
        if (child && pid == *child) *child = 0;
    return end;
}

/* Runs the command. Returns false when a signal came; then nothing of it is left. */
static bool run_once(const watcher *w) {
    pid_t child = fork();
    if (child < 0) bb_die("bluebar watch: %s", strerror(errno));
    if (!child) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(w->command[0], w->command);
        fprintf(stderr, "%s cannot be started: %s\n", w->command[0], strerror(errno));
        _exit(127);
    }
    while (child) {
        poll(&(struct pollfd){w->signals, POLLIN, 0}, 1, -1);
        if (!told_to_end(w, &child)) continue;
        bb_end_all();
        return false;
    }
    return true;
}

/* Returns when the file was saved, and false when a signal came. */
static bool wait_for_save(watcher *w) {
    struct pollfd p[2] = {{w->signals, POLLIN, 0}, {w->saves, POLLIN, 0}};
    for (bool settling = false;;) {
        int n = poll(p, 2, settling ? SETTLE_MS : -1);
        if (told_to_end(w, NULL)) return false;
        if (!n && settling) return true;
        settling |= saved(w);
    }
}

static void clear_screen(void) {
    if (isatty(1)) fputs("\33[H\33[2J\33[3J", stdout);
    fflush(stdout);
}

static void hear_signals(watcher *w) {
    static const int heard[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) {
        signal(heard[i], SIG_DFL); /* a shell's background job ignores SIGINT, and what is ignored is never read */
        sigaddset(&mask, heard[i]);
    }
    sigprocmask(SIG_BLOCK, &mask, NULL);
    w->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (w->signals < 0) bb_die("bluebar watch: %s", strerror(errno));
    bb_adopt();
}

int bb_cmd_watch(int argc, char **argv) {
    if (argc < 5 || !bb_same(argv[3], "--")) bb_die("bluebar watch: FILE RECORD -- COMMAND...");
    watcher w = {.record = argv[2], .command = argv + 4};
    hear_signals(&w);
    begin_watching(&w, argv[1]);
    do {
        clear_screen();
        if (!run_once(&w)) break;
        note_run(&w);
        show_history(&w, argv[1]);
    } while (wait_for_save(&w));
    printf("\n%d run%s of %s.\n", w.nruns, w.nruns == 1 ? "" : "s", argv[1]);
    for (int k = 0; k < w.nplaces; k++) free(w.place[k].name);
    free(w.run);
    return 0;
}

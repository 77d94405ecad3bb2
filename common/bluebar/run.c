/* run.c — runs one program apart from us, and ends every process that it started.
 *
 *     bluebar run [OPTIONS] -- COMMAND...
 *       --seconds N     wall-clock limit (120): SIGTERM, on which a lab program names its stage, then SIGKILL
 *       --memory MB     real memory of it and its children (4096); --output MB: all that it prints (4)
 *       --processes N   that it may have at a time (64)
 *       --log FILE      its output goes there, both streams in one; else to our own
 *       --verdict FILE  how it ended, one line, written when nothing of it is left:
 *                       exit N, signal N, time N, output BYTES, memory BYTES, processes N, left N or start 0
 *       --stdin         its stdin is the first line of ours (a seed); else nothing
 *       --clean         its environment is a short list (KEPT); else ours
 *       --alone         processes that it leaves running count against it ("left"); else they are only ended
 *       --hide A:B:C    it cannot see these folders, where this machine can do that (hide.c)
 *       --quiet         no message about a limit: the caller has its own
 *       --name TEXT     a line on stderr says after 3 seconds, and again later, that TEXT is still running
 *       --stage FILE    made here, removed at the end; what the program writes into it, that line shows: its stage
 *
 * The program is in a session of its own, has no descriptor but 0, 1 and 2, and every orphan below us becomes our
 * child, so what it leaves running is found and killed. Memory is measured, ten times a second, because SimGPU reserves
 * 256 GB of addresses, which a limit on address space or data would count.
 * The exit status is the program's; 124 when a limit ended it, 128 + N for signal N, 126 for what was left.
 */
#define _GNU_SOURCE
#include "bluebar.h"
#include "page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STAGE_BYTES = 160 }; /* as common/lab/lab.c has it */
enum { SAMPLE_MS = 100, GRACE_MS = 5000, MOST_PROCESSES = 4096, LIMITED = 124, LEFT = 126 };

static const char *const kept[] = {"PATH",    "HOME",           "LANG", "LC_ALL",          "TMPDIR",
                                   "PROFILE", "SIMGPU_THREADS", "NVCC", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES",
                                   "USER",    "CUDA_HOME",      "TERM"};

/* --- the processes below us -------------------------------------------------------------------------------------- */

typedef struct {
    pid_t pid, parent;
    long pages;
    bool ours, dead;
} process;

static bool read_process(const char *pid, process *p) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    char *end = strrchr(text, ')'), state; /* a program's name may hold anything, also ") R 1" */
    *p = (process){.pid = (pid_t)atoi(pid)};
    if (!end || sscanf(end + 1, " %c %d", &state, &p->parent) != 2) return false;
    p->dead = state == 'Z' || state == 'X';
    for (int field = 2; end && field < 24; field++) end = strchr(end + 1, ' ');
    p->pages = end ? atol(end + 1) : 0;
    return true;
}

/* All processes below this one, dead ones too. */
static int below(process *list) {
    DIR *proc = opendir("/proc");
    int n = 0, found = 0;
    if (!proc) return 0;
    for (struct dirent *e; n < MOST_PROCESSES && (e = readdir(proc));)
        if (e->d_name[0] > '0' && e->d_name[0] <= '9' && read_process(e->d_name, &list[n])) n++;
    closedir(proc);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++) {
            bool child = list[i].parent == getpid();
            for (int k = 0; k < n && !child; k++) child = list[k].ours && list[k].pid == list[i].parent;
            if (child && !list[i].ours) more = list[i].ours = true;
        }
    }
    for (int i = 0; i < n; i++)
        if (list[i].ours) list[found++] = list[i];
    return found;
}

/* Adds the children of a process that are not in the list yet, as its threads' own lists have them. Returns how many
 * there are now. */
static int add_children(pid_t parent, process *list, int n) {
    char path[96], pid[24];
    snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    DIR *threads = opendir(path);
    for (struct dirent *e; threads && (e = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)parent, e->d_name);
        FILE *children = e->d_name[0] == '.' ? NULL : fopen(path, "re");
        while (children && n < MOST_PROCESSES && fscanf(children, "%20s", pid) == 1) {
            int known = 0;
            while (known < n && list[known].pid != atoi(pid)) known++;
            if (known == n && read_process(pid, &list[n])) n++;
        }
        if (children) fclose(children);
    }
    if (threads) closedir(threads);
    return n;
}

/* The same as below(), for a fraction of its time; while processes begin and end one may be missed. A kernel may lack
 * those lists. */
static int sample_below(process *list) {
    int n = 0;
    if (access("/proc/thread-self/children", R_OK)) return below(list);
    for (int at = -1; at < n; at++) n = add_children(at < 0 ? getpid() : list[at].pid, list, n);
    return n;
}

void bb_adopt(void) { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

static void nap(long ms) { nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL); }

static process table[MOST_PROCESSES];

int bb_end_all(void) {
    int running = 0;
    for (int round = 0; round < 5000; round++) {
        int n = below(table);
        for (int i = 0; i < n; i++) {
            if (table[i].dead) continue;
            if (!round) running++;
            kill(table[i].pid, SIGKILL);
        }
        pid_t reaped;
        while ((reaped = waitpid(-1, NULL, WNOHANG)) > 0) continue;
        if (reaped < 0 && errno == ECHILD) break;
        nap(1);
    }
    return running;
}

void bb_close_rest(void) {
    DIR *fds = opendir("/proc/self/fd");
    int most = 256;
    for (struct dirent *e; fds && (e = readdir(fds));)
        if (atoi(e->d_name) > most) most = atoi(e->d_name);
    if (fds) closedir(fds);
    for (int fd = 3; fd <= most; fd++) close(fd);
}

/* --- the run ----------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t seconds, memory, output, processes;
    const char *log, *verdict, *hidden, *name, *stage;
    bool takes_stdin, clean, alone, quiet;
    char **command;
} limits;

typedef struct {
    const limits *l;
    pid_t pid;
    int from[2], to[2]; /* its streams and ours */
    int signals;
    uint64_t printed;
    int64_t began, stop_at; /* ms; stop_at: SIGKILL comes then, 0: it was not stopped */
    int64_t said_at;        /* ms of its run at which the last line about it came */
    int status;
    bool ended, reader_gone;
    int caught;      /* a signal that ends us */
    char reason[64]; /* the verdict of a limit, or "" */
} running;

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads the seed's line from our stdin, byte by byte, so that the text behind it stays unread. */
static int line_of_stdin(void) {
    int ends[2];
    char byte;
    if (pipe(ends)) bb_die("bluebar run: %s", strerror(errno));
    for (int i = 0; i < 64 && read(0, &byte, 1) == 1; i++) {
        if (write(ends[1], &byte, 1) != 1 || byte == '\n') break;
    }
    close(ends[1]);
    return ends[0];
}

static void clean_environment(void) {
    char *values[sizeof kept / sizeof *kept];
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        values[i] = getenv(kept[i]);
        if (values[i]) values[i] = bb_must(strdup(values[i]));
    }
    clearenv();
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (values[i]) setenv(kept[i], values[i], 1);
}

/* Runs in the child. Cores times seconds of processor time are a second limit, in case we are killed ourselves. */
static void begin_child(const limits *l, int in, int out, int err) {
    rlim_t cpu = (rlim_t)(l->seconds * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 10);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){cpu, cpu});
    if (l->clean) clean_environment();
    if (!l->log && page_colours(stdout))
        setenv("BLUEBAR_COLOUR", "1", 1); /* it writes into our pipe, and cannot see the terminal behind us */
    else
        unsetenv("BLUEBAR_COLOUR");
    if (!l->log && isatty(STDERR_FILENO)) setenv("SIMGPU_WRAP", "1", 1); /* the same for SimGPU's messages */
    if (l->hidden) bb_hide(l->hidden);                                   /* its messages are ours, not the program's */
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) _exit(127);
    bb_close_rest();
    execvp(l->command[0], l->command);
    dprintf(2, "%s cannot be started: %s\n", l->command[0], strerror(errno));
    _exit(127);
}

static void start(running *r) {
    int out[2], err[2] = {-1, -1};
    const limits *l = r->l;
    int in = l->takes_stdin ? line_of_stdin() : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (in < 0 || pipe(out) || (!l->log && pipe(err))) bb_die("bluebar run: %s", strerror(errno));
    r->to[0] = l->log ? open(l->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : 1;
    r->to[1] = 2;
    if (r->to[0] < 0) bb_die("%s cannot be written: %s", l->log, strerror(errno));
    r->began = now_ms();
    r->pid = fork();
    if (r->pid < 0) bb_die("bluebar run: %s", strerror(errno));
    if (!r->pid) begin_child(l, in, out[1], l->log ? out[1] : err[1]);
    close(in);
    close(out[1]);
    if (err[1] >= 0) close(err[1]);
    r->from[0] = out[0];
    r->from[1] = err[0];
    for (int i = 0; i < 2; i++)
        if (r->from[i] >= 0) fcntl(r->from[i], F_SETFL, O_NONBLOCK);
}

/* Ends the program for this reason, by SIGTERM first where it may print a message. */
static void stop(running *r, int64_t grace, const char *word, uint64_t value) {
    if (r->stop_at) return;
    if (word) snprintf(r->reason, sizeof r->reason, "%s %llu", word, (unsigned long long)value);
    r->stop_at = now_ms() + grace;
    if (!r->ended) kill(r->pid, grace ? SIGTERM : SIGKILL);
}

static bool write_all(int fd, const char *bytes, size_t count) {
    while (count) {
        ssize_t n = write(fd, bytes, count);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        bytes += n;
        count -= (size_t)n;
    }
    return true;
}

/* Copies its output. Returns false when there is none now. */
static bool relay(running *r, int which) {
    char bytes[1 << 16];
    ssize_t n = r->from[which] < 0 ? -1 : read(r->from[which], bytes, sizeof bytes);
    if (n == 0) {
        close(r->from[which]);
        r->from[which] = -1;
    }
    if (n <= 0) return false;
    uint64_t room = r->l->output - r->printed;
    size_t shown = (uint64_t)n < room ? (size_t)n : (size_t)room;
    r->printed += shown;
    if (!r->reader_gone && !write_all(r->to[which], bytes, shown)) {
        r->reader_gone = true; /* `head` has seen enough */
        stop(r, 0, NULL, 0);
    }
    if ((uint64_t)n > room) stop(r, 0, "output", r->l->output);
    return true;
}

static void take_signals(running *r) {
    struct signalfd_siginfo s;
    while (read(r->signals, &s, sizeof s) == (ssize_t)sizeof s) {
        if (s.ssi_signo == SIGCHLD) continue;
        r->caught = (int)s.ssi_signo;
        stop(r, 0, NULL, 0);
    }
    int status;
    if (!r->ended && waitpid(r->pid, &status, WNOHANG) == r->pid) {
        r->ended = true;
        r->status = status;
    }
}

/* Says that it is still running: after 3 seconds, 10, and every 30. */
static void say_progress(running *r) {
    int64_t ran = now_ms() - r->began, next = r->said_at < 3000    ? 3000
                                              : r->said_at < 10000 ? 10000
                                                                   : r->said_at + 30000;
    if (!r->l->name || r->stop_at || ran < next) return;
    r->said_at = next;
    size_t size = 0;
    char *stage = r->l->stage ? bb_read(r->l->stage, STAGE_BYTES, &size) : NULL;
    bb_text shown = {0};
    if (stage) bb_add_visible(&shown, stage, strnlen(stage, size));
    fprintf(stderr, "%s: still running after %lld s%s%s\n", r->l->name, (long long)next / 1000, shown.size ? ": " : "",
            shown.size ? shown.at : "");
    free(shown.at);
    free(stage);
}

static void look_at_limits(running *r) {
    long pages = 0, page = sysconf(_SC_PAGESIZE);
    int n = sample_below(table);
    for (int i = 0; i < n; i++) pages += table[i].pages;
    if ((uint64_t)pages * (uint64_t)page > r->l->memory) stop(r, 0, "memory", r->l->memory);
    if ((uint64_t)n > r->l->processes) stop(r, 0, "processes", r->l->processes);
    if (now_ms() - r->began > (int64_t)r->l->seconds * 1000) stop(r, GRACE_MS, "time", r->l->seconds);
    if (r->stop_at && now_ms() >= r->stop_at && !r->ended) kill(r->pid, SIGKILL);
}

static void follow(running *r) {
    int64_t next_look = r->began + SAMPLE_MS;
    while (!r->ended) {
        struct pollfd p[3] = {{r->signals, POLLIN, 0}, {r->from[0], POLLIN, 0}, {r->from[1], POLLIN, 0}};
        int64_t wait = next_look - now_ms();
        poll(p, 3, wait < 0 ? 0 : (int)wait);
        relay(r, 0);
        relay(r, 1);
        take_signals(r);
        if (now_ms() < next_look) continue;
        look_at_limits(r);
        say_progress(r);
        next_look = now_ms() + SAMPLE_MS;
    }
}

/* --- messages and the verdict ------------------------------------------------------------------------------------ */

static void say(const running *r) {
    const char *name = bb_base(r->l->command[0]);
    if (bb_begins(r->reason, "time"))
        fprintf(
            stderr,
            "%s had not ended after %llu seconds. The usual causes:\n"
            "  - a host loop that polls memory, as in  while (*flag == -1) {}  : it makes no call, so on the software "
            "GPU no virtual time\n"
            "    passes and no copy arrives; on a real one the compiler may read the flag only once. Poll with "
            "cudaEventQuery.\n"
            "  - a loop of the host that does not end: look at its condition. (Kernels that do not end are stopped by "
            "SimGPU.)\n"
            "  - kernels that do far more than the task asks, or very many launches: each instruction is simulated.\n"
            "If it is only slow: LIMIT=seconds gives it longer.\n",
            name, (unsigned long long)r->l->seconds);
    else if (bb_begins(r->reason, "output"))
        fprintf(stderr, "\n%s printed more than %llu MB and was stopped. Look for a printf inside a loop.\n", name,
                (unsigned long long)r->l->output >> 20);
    else if (bb_begins(r->reason, "memory"))
        fprintf(stderr,
                "%s used more than %llu MB of memory and was stopped. Look for a malloc or cudaMalloc in a loop.\n",
                name, (unsigned long long)r->l->memory >> 20);
    else if (bb_begins(r->reason, "processes"))
        fprintf(stderr, "%s started more than %llu processes and was stopped.\n", name,
                (unsigned long long)r->l->processes);
}

static void write_verdict(const running *r, int left) {
    char text[96];
    if (r->reason[0])
        snprintf(text, sizeof text, "%s\n", r->reason);
    else if (r->caught)
        snprintf(text, sizeof text, "cut %d\n", r->caught);
    else if (left)
        snprintf(text, sizeof text, "left %d\n", left);
    else if (WIFSIGNALED(r->status))
        snprintf(text, sizeof text, "signal %d\n", WTERMSIG(r->status));
    else
        snprintf(text, sizeof text, "%s %d\n", WEXITSTATUS(r->status) == 127 ? "start" : "exit",
                 WEXITSTATUS(r->status));
    unlink(r->l->verdict);
    bb_write(r->l->verdict, text, strlen(text));
}

static int run(const limits *l) {
    running r = {.l = l};
    sigset_t mask;
    sigemptyset(&mask);
    const int heard[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++) sigaddset(&mask, heard[i]);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    signal(SIGPIPE, SIG_IGN);
    r.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    bb_adopt();
    if (l->stage) bb_write(l->stage, (char[STAGE_BYTES]){0}, STAGE_BYTES);
    start(&r);
    follow(&r);
    int left = bb_end_all() * l->alone;
    if (l->stage) unlink(l->stage);
    while (relay(&r, 0) || relay(&r, 1)) continue;
    if (l->verdict) write_verdict(&r, left);
    if (!l->quiet) say(&r);
    if (r.caught) return 128 + r.caught;
    if (r.reason[0]) return LIMITED;
    if (r.reader_gone) return 128 + SIGPIPE;
    if (left) return LEFT;
    return WIFSIGNALED(r.status) ? 128 + WTERMSIG(r.status) : WEXITSTATUS(r.status);
}

static uint64_t whole(const char *option, const char *text) {
    uint64_t n;
    if (!text || !bb_whole(text, &n) || !n || n > 1u << 20)
        bb_die("bluebar run: %s %s: a whole number from 1 on", option, text ? text : "");
    return n;
}

int bb_cmd_run(int argc, char **argv) {
    limits l = {.seconds = 120, .memory = 4096, .output = 4, .processes = 64};
    int i = 1;
    for (; i < argc && !bb_same(argv[i], "--"); i++) {
        const char *a = argv[i];
        if (bb_same(a, "--stdin"))
            l.takes_stdin = true;
        else if (bb_same(a, "--clean"))
            l.clean = true;
        else if (bb_same(a, "--alone"))
            l.alone = true;
        else if (bb_same(a, "--quiet"))
            l.quiet = true;
        else if (bb_same(a, "--log"))
            l.log = argv[++i];
        else if (bb_same(a, "--verdict"))
            l.verdict = argv[++i];
        else if (bb_same(a, "--hide"))
            l.hidden = argv[++i];
        else if (bb_same(a, "--name"))
            l.name = argv[++i];
        else if (bb_same(a, "--stage"))
            l.stage = argv[++i];
        else if (bb_same(a, "--seconds"))
            l.seconds = whole(a, argv[i + 1]), i++;
        else if (bb_same(a, "--memory"))
            l.memory = whole(a, argv[i + 1]), i++;
        else if (bb_same(a, "--output"))
            l.output = whole(a, argv[i + 1]), i++;
        else if (bb_same(a, "--processes"))
            l.processes = whole(a, argv[i + 1]), i++;
        else
            bb_die("bluebar run: %s is no option; a command stands behind --", a);
    }
    if (i + 1 >= argc) bb_die("bluebar run: which command? It stands behind --");
    l.memory <<= 20;
    l.output <<= 20;
    l.command = argv + i + 1;
    return run(&l);
}

/* lab.c — the frame of a lab program: its options, its beginning, and every way in which it can end.
 *
 * The rule for ends: only a run that came to lab_end gets a score. A crash, a signal, exit() in the student's code or
 * an error of the harness leave a record without a score line, say what was running, and give a status other than 0.
 *
 * The frame also locks the state that decides a grade while student code runs.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

lab_state lab;

enum { STAGE = 160 };
static char own_stage[STAGE] = "the harness, before your code", *stage = own_stage;

void lab_stage(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(stage, STAGE, fmt, ap);
    va_end(ap);
}

const char *lab_stage_text(void) { return stage; }

/* From here on the stage is text in this file too, which whoever started this program shows (common/bluebar/run.c). */
static void share_stage(const char *path) {
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void *shared = fd < 0 || lseek(fd, 0, SEEK_END) < STAGE
                       ? MAP_FAILED
                       : mmap(NULL, STAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED) lab_die("--stage %s: no file of %d bytes to write the stage into", path, STAGE);
    close(fd);
    stage = memcpy(shared, stage, STAGE);
}

/* --- memory closed to student code ---------------------------------------------------------------- */

void *lab_hide(size_t size) {
    size = (size + 15) / 16 * 16;
    if (size > sizeof lab.vault - lab.hidden) lab_die("the harness hides more than its vault holds");
    lab.hidden += size;
    return lab.vault + lab.hidden - size;
}

/* The whole pages of `lab`. Where pages are larger than it, nothing is locked. Pages that are not dumped are a mapping
 * of their own, which the kernel need not cut out and put back at each of a program's calls: that takes most of the
 * time. */
static void protect(int access) {
    static bool apart;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = ((uintptr_t)&lab + page - 1) / page * page, to = (uintptr_t)(&lab + 1) / page * page;
    if (to > from && !apart) madvise((void *)from, to - from, MADV_DONTDUMP);
    apart = true;
    if (to > from && mprotect((void *)from, to - from, access)) _exit(2);
}

static bool fenced = true;
void lab_fence(bool on) { fenced = on; }

void lab_lock(void) {
    if (fenced) protect(PROT_NONE);
}
void lab_unlock(void) {
    if (fenced) protect(PROT_READ | PROT_WRITE);
}

/* The feed-forward (+ x) is what makes it one-way: without it, spread could be undone from any seed to --seed. */
uint64_t lab_fresh_seed(void) {
    uint64_t key = lab_spread(lab.seed), x = lab_spread(key + 0x9E3779B97F4A7C15u * ++lab.seeds);
    return lab_spread(x ^ key) + x;
}

/* --- ends ------------------------------------------------------------------------------------- */

/* Registered before any program is opened, so it runs after every handler that a program has registered, and writes the
 * record after them. Then the process ends at once. */
static void at_exit(void) {
    lab_unlock();
    if (lab.done) {
        lab_card_end();
        fflush(stdout);
        _exit(lab.status);
    }
    fflush(stdout);
    fprintf(stderr,
            "%s: the program ended by itself while running %s. Nothing was scored: "
            "your code must return, not exit.\n",
            lab.spec->lab, stage);
    _exit(2);
}

/* next: the usual causes. SIGTERM is not a crash: a time limit sends it, and its sender prints the causes. */
static const struct crash {
    int sig;
    const char *what, *next;
} crashes[] = {
    {SIGSEGV, "touched memory that is not its own (SIGSEGV)",
     "look for a device pointer that host code uses (cudaMemcpy is the way), for an index past an array's end, or for "
     "a pointer that was never set."},
    {SIGBUS, "touched memory that is not there (SIGBUS)",
     "look for an address that was miscounted: a pointer that was cast and is not aligned to its type, or one that was "
     "written over."},
    {SIGFPE, "divided by zero (SIGFPE)",
     "look for a whole number divided (/ or %) by a size or a count that is 0, perhaps only for a small or an odd "
     "shape."},
    {SIGILL, "ran into an illegal instruction (SIGILL)",
     "look for a function that promises a value and can end without a return, or a trap of your own."},
    {SIGABRT, "called abort (SIGABRT)",
     "if malloc or free complained above: look for a block freed twice, a pointer freed that malloc did not give, or a "
     "write past the end of a block. Else it is an assert or an abort() of your own."},
    {SIGTERM, "was stopped from outside (SIGTERM)", NULL}};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction before[CRASHES]; /* a sanitizer's handler knows more than we do */

/* The usual causes where the address is next to 0. */
static const char null_used[] =
    "a null pointer was used: look for an argument that may be NULL, for a search that went past the end of a list, or "
    "for memory that was asked for and not given.";

/* Names the running stage, then lets the earlier handler, or the signal itself, end the program. */
static void on_signal(int sig, siginfo_t *info, void *context) {
    int k = 0;
    const char *address = sig == SIGSEGV ? info->si_addr : NULL;
    bool ours = address >= (const char *)&lab && address < (const char *)(&lab + 1);
    lab_unlock();
    while (k + 1 < CRASHES && crashes[k].sig != sig) k++;
    bool handled = before[k].sa_flags & SA_SIGINFO;
    char text[768];
    const bool null = sig == SIGSEGV && info->si_code == SEGV_MAPERR && (uintptr_t)address < 4096;
    const char *next = handled || ours ? NULL : null ? null_used : crashes[k].next;
    int n = snprintf(text, sizeof text, "%s: the host program %s while running %s. Nothing was scored.\n%s%s%s",
                     lab.spec->lab, ours ? "reached into the harness (SIGSEGV)" : crashes[k].what, stage,
                     next ? "  Next: " : "", next ? next : "", next ? "\n" : "");
    if (write(2, text, (size_t)n) < 0) _exit(2);
    if (handled) before[k].sa_sigaction(sig, info, context);
    signal(sig, SIG_DFL);
    raise(sig);
}

static void catch_crashes(void) {
    static char stack[64 * 1024];
    stack_t alt = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alt, NULL);
    struct sigaction act = {.sa_sigaction = on_signal, .sa_flags = (int)(SA_SIGINFO | SA_ONSTACK | SA_RESETHAND)};
    for (int k = 0; k < CRASHES; k++) sigaction(crashes[k].sig, &act, &before[k]);
}

void lab_die(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    lab_unlock();
    fflush(stdout);
    fprintf(stderr, "%s: ", lab.spec ? lab.spec->lab : "lab");
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    lab.done = true; /* the message is printed */
    lab.ended = false;
    lab.status = 2;
    lab_lock(); /* the exit handlers of a program come first */
    exit(2);
}

void lab_check(cudaError_t e, const char *call, const char *file, int line) {
    if (e == cudaSuccess) return;
    if (e == cudaErrorInsufficientDriver || e == cudaErrorNoDevice)
        lab_die("no GPU answers on this machine: %s. Use the software GPU: make %s DEVICE=sim", cudaGetErrorString(e),
                lab.spec->lab);
    lab_die("%s:%d: %s gave %s: %s", lab_file_name(file), line, call, cudaGetErrorName(e), cudaGetErrorString(e));
}

/* --- options ---------------------------------------------------------------------------------- */

/* Weak: a bench.c of the lab replaces both. */
static void without_bench(void) {
    lab_die("this lab has no table of kernels: tests/%s/bench.c would print it", lab.spec->lab);
}
__attribute__((weak)) void lab_bench(void) { without_bench(); }
__attribute__((weak)) void lab_ladder(void) { without_bench(); }

static void usage(const lab_spec *spec) {
    printf("%s: %s\n"
           "  --seed N       data and the hidden shape from N (default 2048); -: the first line of stdin\n"
           "  --record FILE  write the machine-readable record there\n"
           "  --stage FILE   say there what is being run; a file of %d bytes\n"
           "  --others FILE  take what other programs measure with this seed from there; what is missing is added\n"
           "  --solution     this program is the reference: what the card says at the end\n"
           "  --rows         print the table of rows (TSV) and exit\n"
           "  --calls        print which functions of CUDA a submission may call, and exit\n"
           "  --wraps        print the linker's options that bring a program's calls to the judge, and exit\n"
           "  --entries      print the names of the functions that %s must define, and exit\n"
           "  --rung-entries the same, and those that rungs of the ladder define besides\n"
           "  --lines        print %s with counters beside each line\n"
           "  --bench        time the lab's kernels over sizes (TSV)\n"
           "  --ladder       run each of the lab's kernels once, for a profiler to count\n"
           "  --counted      run the work once and exit; the program calls itself so under ncu\n",
           spec->lab, spec->title, STAGE, spec->source, spec->source);
}

/* A seed that a grader chose: through a pipe, it stands neither in the arguments nor in the environment of a process.
 */
static void seed_of_stdin(char *text, size_t size) {
    size_t n = 0;
    while (n + 1 < size && read(0, text + n, 1) == 1 && text[n] != '\n') n++;
    text[n] = 0;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, 0) < 0) lab_die("stdin cannot be closed: %s", strerror(errno));
    close(nothing);
}

static uint64_t parse_seed(const char *text) {
    char *end, line[64];
    if (!strcmp(text, "-")) {
        seed_of_stdin(line, sizeof line);
        text = line;
    }
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || !*text || *end || *text == '-') lab_die("--seed %s: a seed is a whole number from 0 on", text);
    explicit_bzero(line, sizeof line);
    return v;
}

/* The build makes them the only names that a program shows. */
static void print_entries(bool of_rungs) {
    const char *name;
    for (int i = 0; (name = lab_entry_name(i, of_rungs)); i++) puts(name);
}

lab_options lab_begin(const lab_spec *spec, int argc, char **argv) {
    lab.spec = spec;
    lab.seed = 2048;
    const char *record = NULL, *others = NULL;
    void (*special)(void) = NULL; /* runs in place of the harness */
    atexit(at_exit);
    lab_text(lab.program, sizeof lab.program, "%s", argv[0]);
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        bool takes_value =
            !strcmp(a, "--seed") || !strcmp(a, "--record") || !strcmp(a, "--stage") || !strcmp(a, "--others");
        if (takes_value && i + 1 == argc) lab_die("%s needs a value; see --help", a);
        if (!strcmp(a, "--seed"))
            lab.seed = parse_seed(argv[++i]);
        else if (!strcmp(a, "--record"))
            record = argv[++i];
        else if (!strcmp(a, "--others"))
            others = argv[++i];
        else if (!strcmp(a, "--stage"))
            share_stage(argv[++i]);
        else if (!strcmp(a, "--solution"))
            lab.options.solution = true;
        else if (!strcmp(a, "--lines"))
            lab.options.lines = true;
        else if (!strcmp(a, "--bench"))
            special = lab_bench;
        else if (!strcmp(a, "--ladder"))
            special = lab_ladder;
        else if (!strcmp(a, "--counted"))
            lab.options.counted = true;
        else if (!strcmp(a, "--rows"))
            lab_rows_print(stdout, spec), exit(lab_leave());
        else if (!strcmp(a, "--entries"))
            print_entries(false), exit(lab_leave());
        else if (!strcmp(a, "--rung-entries"))
            print_entries(true), exit(lab_leave());
        else if (!strcmp(a, "--wraps"))
            lab_print_wraps(stdout), exit(lab_leave());
        else if (!strcmp(a, "--calls"))
            lab_print_calls(stdout), exit(lab_leave());
        else if (!strcmp(a, "--help"))
            usage(spec), exit(lab_leave());
        else
            lab_die("unknown option %s; see --help", a);
    }
    lab_rows_begin();
    catch_crashes();             /* before SimGPU sets its own handler, which lets the program go on where it can */
    if (lab_lane() == LAB_SIM) { /* a wrong PROFILE ends the program here, after SimGPU's message */
        lab.done = true;
        lab_device_name();
        lab.done = false;
    }
    lab_endless_begin();
    if (record) lab_record_begin(record);
    if (others) lab_others_begin(others);
    /* The command line lies open on the stack: nothing of it is left for student code to find. */
    for (int i = 1; i < argc; i++) memset(argv[i], ' ', strlen(argv[i]));
    lab_hear_simgpu();
    if (special) special(), exit(lab_leave());
    lab_limit_launches();
    return lab.options;
}

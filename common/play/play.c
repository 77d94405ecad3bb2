/* play.c — what `simgpu run` and `make play` show of a program: the report of a lab's profiler, without a lab.
 *
 * A shared object of its own (play.so), which SimGPU opens when it sets itself up (SIMGPU_LISTENER, simgpu_event.h). It
 * listens from the program's first call of CUDA, and prints when all of the program's exit handlers have run and SimGPU
 * has sent its last event. It shows one name, makes no call of CUDA before its end, and writes to stderr only: stdout
 * is the program's own. common/simgpu/bin/simgpu.sh gives it its orders, by the environment:
 *
 *     SIMGPU_RUN_TITLE   the words of the report's first line
 *     SIMGPU_RUN_LINES   print the counters by line, too
 *     SIMGPU_RUN_DONE    a file to remove when the report has been printed
 *
 *     kernels     starts, time, the slowest launch: shape, occupancy, bound with its line
 *     copies      by direction: bytes, rate, whether pageable memory was at an end
 *     gaps        why the SMs ran nothing, by cause and line
 *     the blue bar, the counters by line, failed calls, findings, memory that was left
 *
 * The counters and the bar are those of common/lab (report.c, source.c, bar.c), which are built into it.
 */
#define _GNU_SOURCE
#include "lab_internal.h"
#include "page.h"

#include <simgpu.h>

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KERNELS = 20, GAPS = 5, FAILED = 5, FINDINGS = 5 }; /* shown of each */

static lab_usage all;
static struct simgpu_totals left; /* the last totals */
static pid_t me;
static int err = -1;

/* --- what common/lab asks of its frame ------------------------------------------------------------- */

void lab_text(char *to, size_t size, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(to, size, fmt, ap);
    va_end(ap);
}

void lab_die(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fputs("play: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    _exit(2);
}

int lab_lane(void) { return LAB_SIM; }

/* --- kernels --------------------------------------------------------------------------------------- */

typedef struct {
    const struct simgpu_event *slowest;
    int starts;
    double ns;
} kernel;

/* Returns one element for each kernel, in the order of their first launch; to be freed. */
static kernel *kernels_of(int *n) {
    kernel *list = calloc((size_t)all.nevents + 1, sizeof *list);
    if (!list) lab_die("out of memory");
    *n = 0;
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        if (e->kind != SIMGPU_LAUNCH) continue;
        int k = 0;
        while (k < *n && strcmp(list[k].slowest->is.launch.kernel, e->is.launch.kernel)) k++;
        if (k == *n) list[(*n)++] = (kernel){.slowest = e};
        list[k].starts++;
        list[k].ns += (double)e->duration_ns;
        if (e->duration_ns > list[k].slowest->duration_ns || e->is.launch.fault) list[k].slowest = e;
    }
    return list;
}

static const char *time_text(double ns) {
    static char texts[4][32];
    static int turn;
    char *to = texts[turn = (turn + 1) % 4];
    lab_text(to, sizeof texts[0], ns >= 1e6 ? "%.2f ms" : "%.1f us", ns >= 1e6 ? ns / 1e6 : ns / 1e3);
    return to;
}

/* "4 bytes", "1.2 MB" */
static const char *size_text(double bytes) {
    static char texts[4][32];
    static int turn;
    char *to = texts[turn = (turn + 1) % 4];
    if (bytes < 1e4)
        lab_text(to, sizeof texts[0], "%.0f byte%s", bytes, bytes == 1 ? "" : "s");
    else
        lab_text(to, sizeof texts[0], bytes < 1e6 ? "%.1f KB" : "%.1f MB", bytes < 1e6 ? bytes / 1e3 : bytes / 1e6);
    return to;
}

/* "64", "64x64", "4x4x4" */
static const char *shape_text(const uint32_t n[3], char *to, size_t size) {
    if (n[2] > 1)
        lab_text(to, size, "%ux%ux%u", n[0], n[1], n[2]);
    else if (n[1] > 1)
        lab_text(to, size, "%ux%u", n[0], n[1]);
    else
        lab_text(to, size, "%u", n[0]);
    return to;
}

static const char *base_name(const char *file) {
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static void print_bound(FILE *f, const struct simgpu_launch *l) {
    char text[1200], why[1024];
    if (l->fault)
        lab_text(text, sizeof text, "stopped: %s", simgpuSayFault(l->fault, SIMGPU_WHAT, why, sizeof why));
    else
        lab_text(text, sizeof text, "bound by %s", simgpuSayBound(l, why, sizeof why));
    page_wrap(f, l->fault ? PAGE_BAD : PAGE_PLAIN, 6, 2, text);
}

static void print_kernel(FILE *f, const kernel *k) {
    const struct simgpu_launch *l = &k->slowest->is.launch;
    char grid[40], block[40], of[32] = "", where[160] = "";
    int threads = 0;
    uint32_t warps = (l->block[0] * l->block[1] * l->block[2] + 31) / 32 * l->blocks_per_sm;
    if (cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0) == cudaSuccess)
        lab_text(of, sizeof of, " of %d", threads / 32);
    if (k->slowest->at.file)
        lab_text(where, sizeof where, ", from %.100s:%d", base_name(k->slowest->at.file), k->slowest->at.line);
    fprintf(f, "  %s%-24s%s %6d %11s   grid %s, block %s\n", page_on(f, PAGE_TITLE), l->name, page_off(f), k->starts,
            time_text(k->ns), shape_text(l->grid, grid, sizeof grid), shape_text(l->block, block, sizeof block));
    char text[400];
    lab_text(text, sizeof text, "%u registers, %u bytes shared, %u blocks on an SM: %u%s warps%s", l->registers,
             l->shared_bytes, l->blocks_per_sm, warps, of, where);
    if (!l->fault) page_wrap(f, PAGE_PLAIN, 6, 2, text);
    print_bound(f, l);
}

static void print_kernels(FILE *f) {
    int n;
    kernel *list = kernels_of(&n);
    if (n) fprintf(f, "  %-24s %6s %11s   %s\n", "kernel", "starts", "time", "its slowest launch");
    for (int i = 0; i < n && i < KERNELS; i++) print_kernel(f, &list[i]);
    if (n > KERNELS) fprintf(f, "  and %d kernels more\n", n - KERNELS);
    free(list);
}

/* --- copies, gaps ---------------------------------------------------------------------------------- */

static void print_copies(FILE *f) {
    static const char *const names[] = {[SIMGPU_H2D] = "host to device",
                                        [SIMGPU_D2H] = "device to host",
                                        [SIMGPU_D2D] = "device to device",
                                        [SIMGPU_H2H] = "host to host"};
    struct {
        int n, pageable;
        double bytes, ns;
    } sum[SIMGPU_H2H + 1] = {{0}};
    bool any = false;
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        if (e->kind != SIMGPU_COPY) continue;
        const struct simgpu_copy *c = &e->is.copy;
        any = true;
        sum[c->direction].n++;
        sum[c->direction].pageable += c->pageable && c->direction != SIMGPU_D2D;
        sum[c->direction].bytes += (double)c->bytes;
        sum[c->direction].ns += (double)e->duration_ns;
    }
    if (any) fprintf(f, "  %-24s %6s %11s   %s\n", "copies", "times", "time", "bytes");
    for (int d = 0; d <= SIMGPU_H2H; d++)
        if (sum[d].n)
            fprintf(f, "  %-24s %6d %11s   %s, %.1f GB/s%s\n", names[d], sum[d].n, time_text(sum[d].ns),
                    size_text(sum[d].bytes), sum[d].ns > 0 ? sum[d].bytes / sum[d].ns : 0,
                    sum[d].pageable ? "; pageable, staged by the CPU" : "");
}

/* From the call of the first command of the device to the end of the last. */
static bool window(double *begin, double *end) {
    *begin = *end = -1;
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        bool launch = e->kind == SIMGPU_LAUNCH;
        if (!launch && e->kind != SIMGPU_COPY && e->kind != SIMGPU_FILL) continue;
        double call = (double)(launch ? e->is.launch.call_ns : e->is.copy.call_ns);
        double stop = (double)(e->start_ns + e->duration_ns);
        if (*begin < 0 || call < *begin) *begin = call;
        if (stop > *end) *end = stop;
    }
    return *begin >= 0 && *end > *begin;
}

typedef struct {
    const struct simgpu_event *of;
    double ns;
} gap;

static int most_first(const void *a, const void *b) {
    double x = ((const gap *)a)->ns, y = ((const gap *)b)->ns;
    return (x < y) - (x > y);
}

static bool same_gap(const struct simgpu_event *a, const struct simgpu_event *b) {
    return a->is.gap.cause == b->is.gap.cause && a->is.gap.call == b->is.gap.call && a->at.file == b->at.file &&
           a->at.line == b->at.line; /* kept strings: one for each text */
}

static void print_gaps(FILE *f, double begin, double end) {
    gap *list = calloc((size_t)all.nevents + 1, sizeof *list);
    int n = 0;
    if (!list) lab_die("out of memory");
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        double from = (double)e->start_ns, to = from + (double)e->duration_ns;
        if (from < begin) from = begin;
        if (to > end) to = end;
        if (e->kind != SIMGPU_GAP || to <= from) continue;
        int k = 0;
        while (k < n && !same_gap(list[k].of, e)) k++;
        if (k == n) list[n++] = (gap){.of = e};
        list[k].ns += to - from;
    }
    qsort(list, (size_t)n, sizeof *list, most_first);
    fprintf(f, "  the GPU's time, %s from the first command to the end of the last%s\n", time_text(end - begin),
            n ? "; it ran no kernel because" : "");
    for (int i = 0; i < n && i < GAPS; i++) {
        char why[160], text[400], where[200] = "";
        const struct simgpu_place *at = &list[i].of->at;
        if (at->file) lab_text(where, sizeof where, ", %.150s:%d", base_name(at->file), at->line);
        lab_text(text, sizeof text, "%5.1f %%  %s%s", 100 * list[i].ns / (end - begin),
                 simgpuSayGap(&list[i].of->is.gap, why, sizeof why), where);
        page_wrap(f, PAGE_PLAIN, 4, 9, text);
    }
    free(list);
}

/* --- lines, failed calls, findings, memory --------------------------------------------------------- */

static bool is_first_of_file(int i) {
    for (int k = 0; k < i; k++)
        if (!strcmp(all.lines[k].file, all.lines[i].file)) return false;
    return true;
}

/* SimGPU's headers lie beside simgpu_event.h, wherever that is, or in a folder there. */
static bool is_header_of_ours(const char *file) {
    static const char *const beside[] = {"simgpu_event.h", "../simgpu_event.h"};
    const char *slash = strrchr(file, '/');
    for (int i = 0; slash && i < 2; i++) {
        char path[4096];
        int n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - file), file, beside[i]);
        if (n > 0 && (size_t)n < sizeof path && access(path, F_OK) == 0) return true;
    }
    return false;
}

/* One table a file; our own headers are no file of the reader's. */
static void print_lines(FILE *f) {
    for (int i = 0; i < all.nlines; i++) {
        const char *file = all.lines[i].file;
        if (!*file || !is_first_of_file(i) || is_header_of_ours(file)) continue;
        FILE *source = fopen(file, "re");
        fprintf(f, "\n  counters by line, every launch together: %s\n", file);
        if (source)
            lab_print_source(f, source, file, &all);
        else
            fputs("  (the file cannot be read from here)\n", f);
        if (source) fclose(source);
    }
}

static void print_failed(FILE *f) {
    int n = 0;
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        if (e->kind != SIMGPU_REFUSAL) continue;
        char text[1400], where[200] = "";
        if (!n++) fputs("\n  calls that returned an error\n", f);
        if (n > FAILED) continue;
        if (e->at.file) lab_text(where, sizeof where, "%.150s:%d: ", base_name(e->at.file), e->at.line);
        lab_text(text, sizeof text, "%s%s: %s", where, e->is.refusal.call,
                 cudaGetErrorName((cudaError_t)e->is.refusal.error));
        page_wrap(f, PAGE_BAD, 4, 2, text);
    }
    if (n > FAILED) fprintf(f, "    and %d more\n", n - FAILED);
}

static void print_findings(FILE *f) {
    int n = 0;
    for (int i = 0; i < all.nevents; i++) {
        const struct simgpu_event *e = &all.events[i];
        if (e->kind != SIMGPU_FINDING) continue;
        char what[1024], text[1400];
        const struct simgpu_place *at = &e->is.finding.side[0].at;
        if (!n++) fputs("\n  findings (each is told in full above)\n", f);
        if (n > FINDINGS) continue;
        lab_text(text, sizeof text, "%s:%d: %s", at->file ? base_name(at->file) : "?", at->line,
                 simgpuSayFinding(&e->is.finding, SIMGPU_WHAT, what, sizeof what));
        page_wrap(f, PAGE_BAD, 4, 2, text);
    }
    if (n > FINDINGS) fprintf(f, "    and %d more\n", n - FINDINGS);
    const char *check = getenv("SIMGPU_CHECK");
    if (!check || !strcmp(check, "0"))
        fputs("\n  the checks for races and unordered copies were off; simgpu run --check, or SIMGPU_CHECK=1, switches "
              "them on\n",
              f);
    else if (!n)
        fputs("\n  no race, no read of unwritten memory, no unordered streams found\n", f);
}

static void print_memory(FILE *f) {
    static const char *const names[] = {[SIMGPU_MEMORY_DEVICE] = "device memory",
                                        [SIMGPU_MEMORY_POOL] = "memory of cudaMallocAsync",
                                        [SIMGPU_MEMORY_PINNED] = "page-locked memory"};
    for (int m = 0; m < SIMGPU_MEMORIES; m++)
        if (left.memory[m].live)
            fprintf(f, "  never freed: %s of %s\n", size_text((double)left.memory[m].live), names[m]);
}

/* --- the frame ------------------------------------------------------------------------------------- */

static void hear(const struct simgpu_event *e, void *none) {
    (void)none;
    if (e->kind == SIMGPU_TOTALS) left = e->is.totals;
    lab_take(&all, e);
}

static void print_all(FILE *f) {
    const char *title = getenv("SIMGPU_RUN_TITLE"), *lines = getenv("SIMGPU_RUN_LINES");
    double from, to, share[LAB_BARS];
    static lab_bar bars[LAB_BARS];
    fprintf(f, "\n%s%s%s · sim · %s\n", page_on(f, PAGE_TITLE), title ? title : "run", page_off(f), simgpuDeviceName());
    print_kernels(f);
    print_copies(f);
    if (window(&from, &to)) {
        print_gaps(f, from, to);
        lab_draw_bars(bars, share, &all, from, to, LAB_RUNNING);
        lab_print_bars(f, bars);
    } else {
        fputs("  the program sent the GPU no kernel and no copy\n", f);
    }
    if (lines && *lines) print_lines(f);
    print_failed(f);
    print_findings(f);
    print_memory(f);
}

/* A child of the program that exits is not the program. */
static void at_exit(void) {
    const char *done = getenv("SIMGPU_RUN_DONE");
    if (getpid() != me) return;
    fflush(NULL); /* what the program has printed comes first */
    FILE *f = fdopen(err, "w");
    if (!f) return;
    setvbuf(f, NULL, _IOFBF, 1 << 16);
    print_all(f);
    fclose(f);
    if (done) unlink(done);
}

__attribute__((visibility("default"))) void simgpuListener(int (*listen)(simgpu_listener hear, void *context));

/* Called before SimGPU registers its own exit handler, which sends the last events and says which errors the program
 * never read; so that one runs before ours. */
void simgpuListener(int (*listen)(simgpu_listener hear, void *context)) {
    me = getpid();
    err = fcntl(2, F_DUPFD_CLOEXEC, 100); /* out of the way of the program's own descriptors */
    if (err < 0 || atexit(at_exit)) return;
    listen(hear, NULL);
}

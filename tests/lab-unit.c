/* lab-unit.c — common/lab held against hand-made cases. `lab-unit GROUP` runs one group; lab.bats names them.
 *
 * A failed check prints its line and the condition, and the program exits 1.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
#define CHECK(x)                                                                                                       \
    do {                                                                                                               \
        if (!(x)) printf("line %d: not true: %s\n", __LINE__, #x), failures++;                                         \
    } while (0)
#define SAME(got, want)                                                                                                \
    do {                                                                                                               \
        const char *g_ = (got), *w_ = (want);                                                                          \
        if (strcmp(g_, w_)) printf("line %d: got  '%s'\n         want '%s'\n", __LINE__, g_, w_), failures++;          \
    } while (0)

enum { GATE, LESS, MORE, OTHER, SILICON, ROWS };
static const lab_row rows[ROWS] = {
    {"gate", "gate", "the gate", "", 0, 1, 1, 20, LAB_BOTH, "gate", "open it", NULL},
    {"less", "less is better", "less", "", 1, 4, 32, 10, LAB_BOTH, "less", "take less", "gate"},
    {"more", "more is better", "more", "", 2, 0.95, 0.5, 30, LAB_BOTH, "more", "take more", "gate less"},
    {"other", "other", "other", "", 0, 1, 1, 10, LAB_BOTH, "other", "do it", NULL},
    {"silicon", "silicon only", "silicon", "", 0, 1, 1, 50, LAB_GPU, "silicon", "find one", NULL},
};
#define V(row) lab_verdict_of(row)
static const lab_spec spec = {"lab9", "test", "test.cu", rows, sizeof rows / sizeof *rows, "read on"};

static void fresh(void) {
    memset(&lab, 0, sizeof lab);
    lab.spec = &spec;
    lab_rows_begin();
}

static FILE *file_of(const char *text) {
    FILE *f = tmpfile();
    fputs(text, f);
    rewind(f);
    return f;
}

/* Returns the output of a function, as a string. */
static const char *printed(void (*print)(FILE *)) {
    static char text[8192];
    FILE *f = tmpfile();
    print(f);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

/* --- data ------------------------------------------------------------------------------------- */

static void data(void) {
    enum { N = 1 << 18 };
    static float a[N], b[N];
    const uint64_t seeds[] = {0, 1, 2048, 0xFFFFFFFFFFFFFFFFu};
    for (int s = 0; s < 4; s++) {
        lab_fill(seeds[s], a, N);
        for (uint32_t i = 0; i < N; i++) {
            CHECK(isfinite(a[i]) && a[i] != 0 && fabsf(a[i]) > 1e-20f && fabsf(a[i]) < 1e20f);
            CHECK(lab_data_index(seeds[s], a[i], N) == (int64_t)i);
            CHECK(a[i] == lab_data(seeds[s], i));
            if (failures) return;
        }
        CHECK(lab_data_index(seeds[s], a[N - 1], N - 1) == -1);
    }
    lab_fill(7, a, N);
    lab_fill(8, b, N);
    int equal = 0;
    for (int i = 0; i < N; i++) equal += a[i] == b[i];
    CHECK(equal < 4);
    /* The last of the 2^31 indices, and values that are no data. */
    CHECK(lab_data_index(3, lab_data(3, 0x7FFFFFFF), 1u << 31) == 0x7FFFFFFF);
    CHECK(lab_data_index(3, 0, N) == -1 && lab_data_index(3, INFINITY, N) == -1 && lab_data_index(3, NAN, N) == -1);
    float poison;
    memset(&poison, 0xFF, sizeof poison);
    CHECK(lab_is_poison(poison) && !lab_is_poison(NAN) && lab_data_index(3, poison, N) == -1);
}

static double oracle(size_t i, void *context) { return ((const double *)context)[i]; }

static void compare(void) {
    float poison;
    memset(&poison, 0xFF, sizeof poison);
    double want[] = {1, 2, 3, 0, INFINITY, NAN, 1e10, 8};
    float good[] = {1, 2, 3, 0, INFINITY, NAN, 1e10f, 8};
    float bad[] = {1.01f, poison, NAN, 1e-30f, -INFINITY, poison, 1.0001e10f, 8};
    lab_diff d;
    CHECK(lab_compare(good, 8, oracle, want, 0, &d) && d.wrong == 0);
    CHECK(!lab_compare(bad, 8, oracle, want, 1e-3, &d));
    CHECK(d.wrong == 6 && d.poison == 2);
    CHECK(d.first[0] == 0 && d.first[1] == 1 && d.first[2] == 2 && d.first[3] == 3);
    CHECK(d.want[0] == 1 && d.got[0] == 1.01f);
    CHECK(!lab_compare(bad, 8, oracle, want, 1e-1, &d) && d.first[0] == 1);
}

/* --- rows ------------------------------------------------------------------------------------- */

static double points_of(int row, double value) {
    lab_pass(V(GATE));
    lab_pass(V(LESS));
    lab_grade(V(row), value);
    lab_verdict kept = *V(row);
    lab_rows_end();
    double points = V(row)->points;
    *V(row) = kept;
    return points;
}

static void grades(void) {
    fresh();
    CHECK(lab.nverdicts == ROWS && !lab_shown(V(SILICON)) && lab_shown(V(OTHER)));
    CHECK(points_of(LESS, 4) == 10 && points_of(LESS, 1) == 10 && lab_passed(V(LESS)));
    CHECK(points_of(LESS, 32) == 0 && points_of(LESS, 99) == 0 && V(LESS)->status == LAB_FAIL);
    CHECK(points_of(LESS, 18) == 5 && V(LESS)->status == LAB_PART);
    CHECK(points_of(LESS, 4.0001) == 9.9 && !lab_passed(V(LESS)));
    CHECK(points_of(LESS, NAN) == 0 && points_of(LESS, -INFINITY) == 10);
    CHECK(points_of(MORE, 0.95) == 30 && points_of(MORE, 0.5) == 0 && points_of(MORE, 0.725) == 15);
    CHECK(points_of(MORE, 2) == 30 && points_of(MORE, -1) == 0);
    /* A value beside its bound: as many digits as tell them apart, and no more. */
    CHECK(lab_digits(1.52, 1.4, 2) == 2 && lab_digits(1.403, 1.4, 2) == 3 && lab_digits(1.4004, 1.4, 2) == 4);
    CHECK(lab_digits(1.4, 1.4, 2) == 2 && lab_digits(1.4 + 1e-9, 1.4, 2) == 2);
    lab_grade(V(SILICON), 1); /* of the other lane: no effect, no death */
    V(SILICON)->status = LAB_FAIL;
    lab_skip(V(SILICON), "no");
}

static void intervals(void) {
    fresh();
    lab_grade_interval(V(MORE), 0.97, 0.96, 0.98);
    CHECK(lab_passed(V(MORE)) && !V(MORE)->why[0]);
    lab_grade_interval(V(MORE), 0.90, 0.89, 0.91);
    CHECK(!lab_passed(V(MORE)) && !V(MORE)->why[0]);
    lab_grade_interval(V(MORE), 0.94, 0.93, 0.96);
    CHECK(lab_passed(V(MORE)) && strstr(V(MORE)->why, "inconclusive") && strstr(V(MORE)->why, "favour"));
    lab_grade_interval(V(MORE), 0.80, 0.60, 0.99);
    CHECK(!lab_passed(V(MORE)) && strstr(V(MORE)->why, "inconclusive"));
}

static void gates(void) {
    fresh();
    V(GATE)->status = LAB_FAIL;
    lab_grade(V(LESS), 1);
    lab_grade(V(MORE), 0.7);
    LAB_SAY(V(MORE)->where, "test.cu:7");
    LAB_SAY(V(MORE)->why, "0.70 of the reference");
    lab_pass(V(OTHER));
    lab_rows_end();
    SAME(V(MORE)->why, "earns points once 'gate' is full"); /* in place of its own reason; the first gate counts */
    SAME(V(MORE)->where, "");
    CHECK(V(LESS)->points == 0 && V(LESS)->status == LAB_FAIL && V(LESS)->value == 1);
    SAME(V(LESS)->why, "earns points once 'gate' is full");
    CHECK(!strstr(printed(lab_card_print), "next: take") &&
          strstr(printed(lab_record_write), "is full\tmore\t\tmore is better\n"));
    CHECK(lab_passed(V(OTHER)) && V(OTHER)->points == 10);
    fresh();
    lab_pass(V(GATE));
    lab_grade(V(LESS), 1);
    lab_skip_rest("why not");
    lab_rows_end();
    CHECK(lab_passed(V(LESS)) && V(MORE)->status == LAB_FAIL && lab_passed(V(GATE)));
    SAME(V(OTHER)->why, "why not");
    CHECK(!strstr(printed(lab_card_print), "      next: ") &&
          strstr(printed(lab_record_write), "why not\tother\t\tother\n"));
    fresh();
    V(GATE)->status = LAB_FAIL;
    lab_unmeasured(V(LESS), "see 'gate'");
    lab_skip(V(MORE), "cannot be counted");
    lab_rows_end();
    SAME(V(LESS)->why, "see 'gate'");                    /* what was missing stands */
    CHECK(!strstr(printed(lab_card_print), "want ≤ 4")); /* no value, so no mark beside it */
    CHECK(V(MORE)->status == LAB_NA);
    SAME(V(OTHER)->why, "the harness gave this row no verdict");
    fresh();
    lab_skip(V(GATE), "cannot be judged here");
    lab_grade(V(LESS), 1);
    lab_rows_end();
    CHECK(lab_passed(V(LESS)) && V(LESS)->points == 10); /* a gate that is n/a is open */
}

/* --- time ------------------------------------------------------------------------------------- */

/* The linker puts these in place of lane.c's, so code that only a card needs can be tested here, too. */
static int lane = LAB_SIM, flushes;
int __wrap_lab_lane(void);
int __wrap_lab_lane(void) { return lane; }
void __wrap_lab_flush_l2(void);
void __wrap_lab_flush_l2(void) { flushes++; }

/* In place of player.c: a program is a function of this file, and its message the function's argument. */
struct lab_program {
    void (*run)(void *argument);
};
static lab_program *playing;
static char message[LAB_MESSAGE];
bool lab_playing(void) { return playing; }
lab_program *lab_open(lab_who who, const char *rung) { return (void)who, (void)rung, NULL; }
void lab_use(lab_program *program) { (void)program; }
void lab_play_begin(lab_program *program, const void *m, size_t size, lab_entry ***entry) {
    memcpy(message, m, size);
    playing = program;
    *entry = NULL;
    lab_lock();
}
void lab_play_run(lab_entry **entry) { (void)entry, playing->run(*(void **)message); }
void lab_play_end(void *reply, size_t size) {
    (void)reply, (void)size;
    playing = NULL;
    lab_unlock();
}
const char *lab_entry_name(int i, bool rung) {
    (void)i, (void)rung;
    return NULL;
}

/* A program whose clock gives the test's times one after the other, in a circle. Calls are noted as letters: p, w, v
 * and the program's name. */
typedef struct {
    char name;
    const double *times;
    int n, next;
} played;
static char calls[512];

static void note(char c) { calls[strlen(calls)] = c; }
static void play_prepare(void *context) { (void)context, note('p'); }
static void play_work(void *context) { note(((const played *)context)->name); }
static lab_program plays = {play_work};
static void play_verify(void *context) { (void)context, note('v'); }
static double play_took(void *context) {
    played *p = context;
    return p->times[p->next++ % p->n];
}

static void middles(void) {
    double odd[] = {9, 1, 8, 2, 7, 3, 6, 4, 5}, even[] = {4, 1, 3, 2}, one[] = {7}, many[63];
    lab_middle m = lab_middle_of(odd, 9); /* the second and the eighth of nine: 96.1 % */
    CHECK(m.median == 5 && m.lo == 2 && m.hi == 8);
    m = lab_middle_of(even, 4);
    CHECK(m.median == 2.5 && m.lo == 1 && m.hi == 4);
    m = lab_middle_of(one, 1);
    CHECK(m.median == 7 && m.lo == 7 && m.hi == 7);
    static const int ranks[][2] = {{9, 2}, {14, 2}, {15, 4}, {31, 10}, {63, 24}};
    for (int k = 0; k < 5; k++) {
        int n = ranks[k][0], rank = ranks[k][1];
        for (int i = 0; i < n; i++) many[i] = (i * 10 + 3) % n + 1; /* 1 to n, in no order where 10 and n share none */
        m = lab_middle_of(many, n);
        if (n != 14 && n != 15) CHECK(m.lo == rank && m.hi == n + 1 - rank && m.median == (n + 1) / 2);
        /* The chance that fewer than `rank` of n samples lie on one side of the true median, on either side. */
        double outside = 0, term = pow(0.5, n);
        for (int i = 0; i < rank; i++) outside += 2 * term, term = term * (n - i) / (i + 1);
        CHECK(1 - outside >= 0.957);
    }
}

/* Warm-up, repetitions and flushes of a card; one run and none of these where the clock has no noise. */
static void repetitions(void) {
    fresh();
    const double times[] = {100, 90, 1, 5, 3};
    played p = {'a', times, 5, 0};
    played *pp = &p;
    lab_work w = {&plays, play_prepare, play_verify, &p, &pp, sizeof pp, NULL, 0, play_took};
    lab_timer how = {LAB_HOST_CLOCK, 2, 3, true};
    lane = LAB_GPU, flushes = 0, memset(calls, 0, sizeof calls);
    lab_time t = lab_time_work(how, &w);
    SAME(calls, "pavpavpavpavpav");
    CHECK(flushes == 5 && t.repetitions == 3 && t.median == 3 && t.lo == 1 && t.hi == 5 && !t.refused[0]);
    lane = LAB_SIM, flushes = 0, p.next = 0, memset(calls, 0, sizeof calls);
    t = lab_time_work(how, &w);
    SAME(calls, "pav");
    CHECK(t.repetitions == 1 && t.median == 100 && t.lo == 100 && t.hi == 100);
}

/* In rounds of a b b a, a ratio a round; the second smallest and second largest of nine. */
static void duel(void) {
    fresh();
    const double slow[] = {18, 22, 20, 24, 22, 26, 24, 28, 26, 30, 28, 32, 30, 34, 32, 36, 34, 38}, fast[] = {10};
    played a = {'a', slow, 18, 0}, b = {'b', fast, 1, 0};
    played *pa = &a, *pb = &b;
    lab_work wa = {&plays, NULL, NULL, &a, &pa, sizeof pa, NULL, 0, play_took};
    lab_work wb = {&plays, NULL, NULL, &b, &pb, sizeof pb, NULL, 0, play_took};
    lab_timer how = {LAB_HOST_CLOCK, 0, 1, false};
    lane = LAB_GPU, memset(calls, 0, sizeof calls);
    lab_duel d = lab_time_duel(how, &wa, &wb, 9);
    lane = LAB_SIM;
    SAME(calls, "abbaabbaabbaabbaabbaabbaabbaabbaabba");
    CHECK(d.rounds == 9 && d.ratio == 2.8 && d.lo == 2.2 && d.hi == 3.4 && d.a == 28 && d.b == 10);
    memset(calls, 0, sizeof calls);
    d = lab_time_duel(how, &wa, &wb, 9);
    SAME(calls, "ab");
    CHECK(d.rounds == 1);
}

/* 10 us behind itself, whose data are still in the cache; 13 us behind the other one. */
static double cached_took(void *context) {
    const played *p = context;
    const size_t n = strlen(calls);
    return n < 2 || calls[n - 2] == p->name ? 10 : 13;
}

/* What a run leaves in the caches for its like is no advantage for either of two. */
static void duel_cached(void) {
    fresh();
    played a = {'a', NULL, 0, 0}, b = {'b', NULL, 0, 0};
    played *pa = &a, *pb = &b;
    lab_work wa = {&plays, NULL, NULL, &a, &pa, sizeof pa, NULL, 0, cached_took};
    lab_work wb = {&plays, NULL, NULL, &b, &pb, sizeof pb, NULL, 0, cached_took};
    for (int warmup = 1; warmup < 3; warmup++) {
        lane = LAB_GPU, memset(calls, 0, sizeof calls);
        lab_duel d = lab_time_duel((lab_timer){LAB_HOST_CLOCK, warmup, 1, false}, &wa, &wb, 9);
        lane = LAB_SIM;
        CHECK(d.ratio == 1 && d.lo == 1 && d.hi == 1 && d.a == d.b);
    }
}

/* A copy of 16 MiB on a stream of its own; `mode` says how the work waits for it before it returns. */
typedef struct {
    void *host, *device;
    cudaStream_t stream;
    cudaEvent_t done;
    enum { LEFT, WAITED_FOR, ORDERED } mode; /* stream 0 waits for it */
} queued;
enum { QUEUED_BYTES = 16 << 20 };

static void queue_copy(void *context) {
    const queued *q = context;
    cudaMemcpyAsync(q->device, q->host, QUEUED_BYTES, cudaMemcpyHostToDevice, q->stream);
    if (q->mode == WAITED_FOR) cudaStreamSynchronize(q->stream);
    if (q->mode == ORDERED) cudaEventRecord(q->done, q->stream), cudaStreamWaitEvent(0, q->done, 0);
}

static void unsynchronised(void) {
    fresh();
    queued q = {.mode = LEFT};
    LAB_CUDA(cudaMallocHost(&q.host, QUEUED_BYTES));
    LAB_CUDA(cudaMalloc(&q.device, QUEUED_BYTES));
    LAB_CUDA(cudaStreamCreateWithFlags(&q.stream, cudaStreamNonBlocking));
    LAB_CUDA(cudaEventCreate(&q.done));
    static lab_program copies = {queue_copy};
    queued *pq = &q;
    lab_work w = {&copies, NULL, NULL, &q, &pq, sizeof pq, NULL, 0, NULL};
    lab_timer host = {LAB_HOST_CLOCK, 0, 1, false}, device = {LAB_DEVICE_CLOCK, 0, 1, false};
    const double least = QUEUED_BYTES / 64e3; /* microseconds at 64 GB/s: no link of these machines carries more */
    lab_time t = lab_time_work(host, &w);     /* the host's clock waits for all */
    CHECK(!t.refused[0] && t.median > least);
    t = lab_time_work(device, &w);
    CHECK(t.median == 0 && strstr(t.refused, "not timed: when the clock had stopped, the device still worked for"));
    CHECK(strstr(t.refused, "Wait for your own streams, or let stream 0 wait for them, before you return"));
    queued waits = q;
    queued *pwaits = &waits;
    waits.mode = WAITED_FOR;
    lab_work good = {&copies, NULL, NULL, &waits, &pwaits, sizeof pwaits, NULL, 0, NULL};
    for (int turn = 0; turn < 2; turn++) { /* either of two, but not what holds up both alike: a busy host */
        lab_duel d = turn ? lab_time_duel(device, &w, &good, 9) : lab_time_duel(device, &good, &w, 9);
        CHECK(isnan(d.ratio) && strstr(d.refused, "not timed: when the clock had stopped") && d.first == (turn == 1));
    }
    lab_duel d = lab_time_duel(device, &w, &w, 9);
    CHECK(d.ratio == 1 && !d.refused[0]);
    for (int mode = WAITED_FOR; mode <= ORDERED; mode++) {
        q.mode = mode;
        t = lab_time_work(device, &w);
        SAME(t.refused, "");
        CHECK(t.median > least);
    }
}

static void floors(void) {
    fresh();
    const lab_floor copy = {"copy", 100};
    SAME(lab_us(12.34), "12.3 us");
    SAME(lab_us(5131), "5.13 ms");
    CHECK(lab_gbs(1e6, 10) == 100 && lab_gbs(1, 0) == 0);
    CHECK(lab_share(200, copy) == 0.5 && lab_share(0, copy) == 0);
    lab_grade(V(MORE), 1);
    CHECK(lab_possible(V(MORE), 90, copy) && lab_passed(V(MORE)));
    CHECK(!lab_possible(V(MORE), 89, copy) && !lab_passed(V(MORE)));
    SAME(V(MORE)->why, "89.0 us is less than the floor, copy 100.0 us: some of the work was not done, or not "
                       "while the clock ran");
    lab_rows_end(); /* its gate is not full: what the floor says stands */
    CHECK(!strncmp(V(MORE)->why, "89.0 us is less", 15) && !strstr(printed(lab_card_print), "next: take"));
}

/* The share of the reference's gain, on a logarithmic scale. */
static void gains(void) {
    static const double starter[] = {800}, reference[] = {50}, half[] = {200}, light[] = {10};
    played s = {'s', starter, 1, 0}, r = {'r', reference, 1, 0}, y = {'y', half, 1, 0}, l = {'l', light, 1, 0};
    played *p[] = {&s, &r, &y, &l};
    lab_work work[4];
    for (int i = 0; i < 4; i++) work[i] = (lab_work){&plays, NULL, NULL, p[i], &p[i], sizeof p[i], NULL, 0, play_took};
    const lab_work ws = work[0], wr = work[1], wy = work[2], wl = work[3];
    lab_timer how = {LAB_HOST_CLOCK, 0, 1, false};
    const lab_floor copy = {"copy", 40};
    fresh();
    lab_grade_gain(V(MORE), how, &ws, &wr, &wy, copy); /* half of the way from 800 to 50 by factors */
    CHECK(fabs(V(MORE)->value - 0.5) < 1e-9 && !lab_passed(V(MORE)));
    SAME(V(MORE)->why, "0.50 of the reference's gain, want ≥ 0.95");
    SAME(V(MORE)->value_text, "200.0 us");
    SAME(V(MORE)->want, "start 800.0 us · reference 50.0 us · copy 40.0 us");
    fresh();
    lab_grade_gain(V(MORE), how, &ws, &wr, &wr, copy);
    CHECK(lab_passed(V(MORE)));
    fresh();
    lab_grade_gain(V(MORE), how, &ws, &wr, &wl, copy);
    CHECK(!lab_passed(V(MORE)) && strstr(V(MORE)->why, "less than the floor, copy 40.0 us"));
    fresh();
    lab_grade_gain(V(MORE), how, &wr, &ws, &wy, copy);
    CHECK(V(MORE)->status == LAB_NA);
}

/* --- card and record -------------------------------------------------------------------------- */

static void print_tsv(FILE *f) { lab_tsv(f, "a\tb\nc\\d\re"); }

static void card(void) {
    SAME(printed(print_tsv), "a\\tb\\nc\\\\d\\re");
    fresh();
    lab_pass(V(GATE));
    lab_grade(V(LESS), 18);
    LAB_SAY(V(LESS)->where, "test.cu:7");
    LAB_SAY(V(LESS)->why, "too\tmany");
    lab_skip(V(MORE), "no counters here");
    V(OTHER)->status = LAB_FAIL;
    LAB_SAY(V(OTHER)->value_text, "12 us");
    LAB_SAY(V(OTHER)->want, "start 1 · end 2");
    LAB_SAY(V(OTHER)->next, "do %s", "that");
    V(OTHER)->hint = "elsewhere";
    lab_note("peer", "3 us");
    lab_figure("time", 9, "us");
    lab_figure("none", (double)NAN, "us");
    lab_figure("time", 12.5, "us"); /* the later one stays */
    lab_rows_end();
    SAME(printed(lab_card_print),
         "lab9  test                               sim · virtual H200 · deterministic\n"
         "  gate                            PASS                                                        20/20\n"
         "  less is better                  18.0   want ≤ 4                                              5/10\n"
         "      test.cu:7\n"
         "      too\tmany\n"
         "      next: take less\n"
         "  more is better                   n/a   want ≥ 0.95                                           -/30\n"
         "      no counters here\n"
         "  other                          12 us   start 1 · end 2                                       0/10\n"
         "      next: do that\n"
         "  peer                      3 us\n"
         "  25/40   next: make hint9\n");
    SAME(printed(lab_record_write),
         "row\tgate\tpass\t20\t20\tthe gate\tPASS\t\t\t\tgate\topen it\tgate\n"
         "row\tless\tpart\t5\t10\tless\t18.0\twant ≤ 4\ttest.cu:7\ttoo\\tmany\tless\ttake less\tless is better\n"
         "row\tmore\tna\t0\t30\tmore\tn/a\twant ≥ 0.95\t\tno counters here\tmore\ttake more\tmore is better\n"
         "row\tother\tfail\t0\t10\tother\t12 us\tstart 1 · end 2\t\t\telsewhere\tdo that\tother\n"
         "note\tpeer\t3 us\n"
         "figure\tless\t18\t\n"
         "figure\ttime\t12.5\tus\n"
         "score\t25\t40\tdone\n");
    fresh();
    lab_fail(V(GATE), "wrong");
    lab_grade(V(LESS), 18);
    lab_grade(V(MORE), 0.7);
    lab_unmeasured(V(OTHER), "not measured");
    lab_rows_end(); /* rows that wait for the same thing have one line with the reason */
    const char *all = printed(lab_card_print), *less = strstr(all, "less is better"), *other = strstr(all, "other");
    CHECK(strstr(less, "0/30\n      each of these 2: earns points once 'gate' is full\n  other"));
    CHECK(strstr(other, "0/10\n      not measured\n") && !strstr(less + 1, "each of these 1"));
    const char *first = strstr(all, "earns points");
    CHECK(first && !strstr(first + 1, "earns points"));
}

/* No line is longer than the page, and each goes on below its own beginning; a word is never cut, and no number is
 * parted from its unit. */
static void pages(void) {
    fresh();
    lab_pass(V(GATE)), lab_grade(V(LESS), 1), lab_grade(V(MORE), 0.7), lab_pass(V(OTHER));
    LAB_SAY(V(LESS)->value_text, "1083528.5 us"); /* longer than its column */
    lab_rows_end();
    CHECK(strstr(printed(lab_card_print), "\n  less is better          1083528.5 us   want "));
    fresh();
    lab_pass(V(GATE)), lab_grade(V(LESS), 1), lab_grade(V(MORE), 0.7), lab_pass(V(OTHER));
    LAB_SAY(V(MORE)->want, "start 24.32 ms · reference 13.9 us · reading 13.4 us");
    lab_rows_end();
    CHECK(strstr(printed(lab_card_print), "0.70   start 24.32 ms · reference 13.9 us                 13.3/30\n"
                                          "                                         reading 13.4 us\n"));
    fresh();
    lab_pass(V(GATE)), lab_pass(V(MORE)), lab_pass(V(OTHER));
    lab_grade(V(LESS), 18);
    LAB_SAY(V(LESS)->want, "ä word of want, and a word more, and so on, up to here, and then below it");
    LAB_SAY(V(LESS)->where, "test.cu:7");
    LAB_SAY(V(LESS)->code, "%s",
            "kernel<<<blocks, threads>>>(first, second, third); /* and a comment that is far too long */ more();");
    LAB_SAY(V(LESS)->why, "one sentence that is so long that it takes a second line, which begins two columns further "
                          "in, here\nand another");
    LAB_SAY(V(LESS)->next, "%s",
            "https://a.word/that/is/longer/than/a/line/and/therefore/stands/alone/in/one/since/nothing/is/ever/cut/in/"
            "two then more");
    lab_note("peer", "a note that is so long that the rest of it has to go into the line that follows");
    lab_rows_end();
    SAME(
        printed(lab_card_print),
        "lab9  test                               sim · virtual H200 · deterministic\n"
        "  gate                            PASS                                                        20/20\n"
        "  less is better                  18.0   ä word of want, and a word more, and so on, up to     5/10\n"
        "                                         here, and then below it\n"
        "      test.cu:7: kernel<<<blocks, threads>>>(first, second, third); /* and a comment that is far too\n"
        "          long */ more();\n"
        "      one sentence that is so long that it takes a second line, which begins two columns further in,\n"
        "        here\n"
        "      and another\n"
        "      next: "
        "https://a.word/that/is/longer/than/a/line/and/therefore/stands/alone/in/one/since/nothing/is/ever/cut/in/two\n"
        "            then more\n"
        "  more is better                  PASS   want ≥ 0.95                                           0/30\n"
        "      earns points once 'less is better' is full\n"
        "  other                           PASS                                                        10/10\n"
        "  peer                      a note that is so long that the rest of it has to go into the line that\n"
        "                            follows\n"
        "  35/70   next: make hint9\n");
}

/* The last line, by who the program is. */
static void ends(void) {
    for (int solution = 0; solution < 2; solution++) {
        fresh();
        lab.options.solution = solution;
        lab_pass(V(GATE)), lab_pass(V(LESS)), lab_pass(V(MORE)), lab_pass(V(OTHER));
        lab_rows_end();
        const char *text = printed(lab_card_print);
        CHECK(!!strstr(text, "70/70   every row is full. Compare with the reference: make solution9\n") == !solution);
        CHECK(!!strstr(text, "70/70   every row is full. Next: read on\n") == solution);
    }
}

/* Where a kernel was stopped, in SimGPU's words. */
static void faults(void) {
    fresh();
    struct simgpu_fault fault = {.kind = SIMGPU_FAULT_ILLEGAL_ADDRESS,
                                 .cause = SIMGPU_CAUSE_LOCAL_ATOMIC,
                                 .at = {.file = "nowhere.cu", .line = 7, .column = 3},
                                 .kernel = "k",
                                 .scope = SIMGPU_ONE_THREAD,
                                 .block = {2, 0, 0},
                                 .thread = {3, 0, 0}};
    struct simgpu_event e = {.kind = SIMGPU_LAUNCH};
    e.is.launch.fault = &fault;
    lab_usage u = {.events = &e, .nevents = 1};
    LAB_SAY(V(GATE)->why, "cudaErrorIllegalAddress on 61x67");
    lab_blame_fault(V(GATE), &u);
    SAME(V(GATE)->where, "nowhere.cu:7");
    SAME(V(GATE)->why,
         "cudaErrorIllegalAddress on 61x67\n"
         "illegal address: an atomic on local memory, which no other thread can see; use shared or device memory\n"
         "in kernel k, block (2,0,0), thread (3,0,0)");
}

/* Where the checks found something: the remedy is the last line, and without a place there is nothing to blame. */
static void findings(void) {
    fresh();
    struct simgpu_event e = {.kind = SIMGPU_FINDING};
    struct simgpu_finding *f = &e.is.finding;
    f->kind = SIMGPU_STREAM_ORDER;
    f->nsides = 2;
    f->side[0].at = (struct simgpu_place){.file = "a/t.cu", .line = 7, .did = SIMGPU_DID_WRITE};
    f->side[0].command = SIMGPU_FILLING;
    f->side[1].at = (struct simgpu_place){.file = "a/t.cu", .line = 5, .did = SIMGPU_DID_READ};
    f->side[1].stream = 2;
    lab_text(f->side[1].name, sizeof f->side[1].name, "step");
    lab_usage u = {.events = &e, .nevents = 1};
    lab_blame_finding(V(GATE), &u);
    SAME(V(GATE)->where, "t.cu:7");
    SAME(V(GATE)->why, "stream order: the memset on stream 0 writes what kernel step on stream 2 reads (line 5), and "
                       "nothing puts the two in order");
    fresh();
    f->side[0].at.file = NULL;
    lab_blame_finding(V(GATE), &u);
    SAME(V(GATE)->where, "");
    SAME(V(GATE)->why, "");

    /* A skipped barrier comes before what follows from it; one that ended threads never reach is no hazard. */
    struct simgpu_event several[] = {{.kind = SIMGPU_FINDING}, {.kind = SIMGPU_FINDING}, {.kind = SIMGPU_FINDING}};
    several[0].is.finding.kind = SIMGPU_BARRIER_EXITED;
    several[1].is.finding.kind = SIMGPU_RACE;
    several[2].is.finding.kind = SIMGPU_BARRIER_SKIPPED;
    u = (lab_usage){.events = several, .nevents = 1};
    CHECK(!lab_finding(&u) && lab_finding_of(&u, SIMGPU_BARRIER_EXITED) == &several[0].is.finding);
    u.nevents = 2;
    CHECK(lab_finding(&u) == &several[1].is.finding);
    u.nevents = 3;
    CHECK(lab_finding(&u) == &several[2].is.finding);
}

/* A text is looked for in code only, as a whole word. */
static void texts(void) {
    static const char source[] = "/* copy( in a comment,\n   and on its copy( second line */ int zero; // copy(\n"
                                 "say(\"\\\" copy(\", '\"'); my_copy(a); copy_all(b);\n"
                                 "static int copying; /* */ copy(c); /* copy( */\n"
                                 "int copy;\n";
    static const struct {
        const char *text;
        int line;
    } wanted[] = {{"copy(", 4}, {"copy", 4}, {"int copy", 5}, {"copying", 4}, {"all(", 0}, {"comment", 0}};
    const char *folder = getenv("BATS_TEST_TMPDIR");
    char name[256], where[64];
    lab_text(name, sizeof name, "%s/test.cu", folder ? folder : ".");
    FILE *f = fopen(name, "w");
    fputs(source, f);
    fclose(f);
    lab_line line = {.line = 1};
    lab_text(line.file, sizeof line.file, "%s", name);
    lab_usage u = {.lines = &line, .nlines = 1};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        fresh();
        lab_blame_text(V(GATE), &u, wanted[i].text);
        lab_text(where, sizeof where, "test.cu:%d", wanted[i].line);
        SAME(V(GATE)->where, wanted[i].line ? where : "");
        if (wanted[i].line == 5) SAME(V(GATE)->code, "int copy;");
    }
    unlink(name);
}

/* Checks the message when the program ends by a signal, and that signal. */
static const char *said_of(int sig) {
    static char text[1024];
    int ends[2], status;
    CHECK(!pipe(ends));
    pid_t child = fork();
    if (!child) {
        char *arguments[] = {"lab9", NULL};
        dup2(ends[1], 2);
        lab_begin(&spec, 1, arguments);
        lab_stage("your test");
        raise(sig);
        _exit(0);
    }
    close(ends[1]);
    FILE *f = fdopen(ends[0], "r");
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == sig);
    return text;
}

static void crashes(void) {
    static const struct {
        int sig;
        const char *what, *cause;
    } ends[] = {{SIGSEGV, "touched memory that is not its own (SIGSEGV)", "a device pointer that host code uses"},
                {SIGBUS, "touched memory that is not there (SIGBUS)", "an address that was miscounted"},
                {SIGABRT, "called abort (SIGABRT)", "a block freed twice"},
                {SIGFPE, "divided by zero (SIGFPE)", "a size or a count that is 0"},
                {SIGILL, "ran into an illegal instruction (SIGILL)", "without a return"},
                {SIGTERM, "was stopped from outside (SIGTERM)", NULL}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char first[160];
        const char *text = said_of(ends[i].sig);
        lab_text(first, sizeof first, "lab9: the host program %s while running your test. Nothing was scored.\n",
                 ends[i].what);
        CHECK(!strncmp(text, first, strlen(first)));
        CHECK(ends[i].cause ? strstr(text, "\n  Next: ") && strstr(text, ends[i].cause) : !strstr(text, "Next"));
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
            if (k != i && ends[k].cause) CHECK(!strstr(text, ends[k].cause));
        if (failures) printf("%s", text);
    }
}

/* --- seeds and the lock ----------------------------------------------------------------------- */

static void seeds(void) {
    uint64_t first[3][100];
    for (int s = 0; s < 3; s++) {
        fresh();
        lab.seed = s == 1 ? 8 : 7;
        for (int i = 0; i < 100; i++) first[s][i] = lab_fresh_seed();
    }
    CHECK(!memcmp(first[0], first[2], sizeof first[0]));
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < 100; k++) CHECK(first[0][i] != first[1][k] && (i == k || first[0][i] != first[0][k]));
}

static sigjmp_buf back;
static void on_segv(int sig) { (void)sig, lab_unlock(), siglongjmp(back, 1); }

static bool reaches(volatile char *p, bool writing) {
    bool reached = false;
    lab_lock();
    if (!sigsetjmp(back, 1)) {
        if (writing)
            *p = 1;
        else
            (void)*p;
        reached = true;
    }
    lab_unlock();
    return reached;
}

static void locked(void) {
    fresh();
    lab_lock();
    lab_unlock();
    char *secret = lab_hide(100), outside = 0;
    for (int i = 0; i < 100; i++) CHECK(secret[i] == 0);
    CHECK((char *)lab_hide(1) >= secret + 100);
    signal(SIGSEGV, on_segv);
    CHECK(reaches(&outside, true));
    for (int w = 0; w < 2; w++) {
        CHECK(!reaches(secret, w) && !reaches((char *)lab.verdicts, w) && !reaches((char *)&lab.seed, w));
        CHECK(!reaches((char *)&lab, w) && !reaches((char *)(&lab + 1) - 1, w));
    }
}

static struct simgpu_event launch(uint64_t start, uint64_t duration, uint64_t own) {
    struct simgpu_event e = {.kind = SIMGPU_LAUNCH, .start_ns = start, .duration_ns = duration};
    e.is.launch.launch_ns = own;
    return e;
}

#define TIMES15(cell) cell cell cell cell cell cell cell cell cell cell cell cell cell cell cell

/* Kernels out of order, overlapping, past the end. Copies and fills are none, and a kernel's own start is not either.
 */
static void bar(void) {
    fresh();
    struct simgpu_event events[] = {launch(150, 50, 0),
                                    launch(90, 60, 10),
                                    launch(120, 60, 0),
                                    launch(400, 1000, 0),
                                    {.kind = SIMGPU_COPY, .start_ns = 200, .duration_ns = 100},
                                    {.kind = SIMGPU_FILL, .start_ns = 300, .duration_ns = 100}};
    events[4].is.copy.direction = SIMGPU_D2D;
    lab_usage u = {.events = events, .nevents = 6};
    const lab_bar *up = &lab.bars[0], *kernels = &lab.bars[1], *down = &lab.bars[2];
    lab_blue_bar(&u, 100, 500, LAB_RUNNING);
    SAME(kernels->cells, TIMES15("█") TIMES15(" ") TIMES15(" ") TIMES15("█"));
    SAME(kernels->what, "GPU busy 50 % (virtual)");
    CHECK(!up->cells[0] && !down->cells[0]); /* a copy on the device is on neither */
    events[3] = launch(300, 1000, 100);
    lab_blue_bar(&u, 100, 500, LAB_RUNNING);
    SAME(kernels->what, "GPU busy 50 % (virtual)");
    lab_blue_bar(&u, 100, 500, LAB_UNDER_WAY);
    SAME(kernels->cells, TIMES15("█") TIMES15(" ") TIMES15("█") TIMES15("█"));
    events[4].is.copy.direction = SIMGPU_D2H;
    lab_blue_bar(&u, 100, 500, LAB_RUNNING);
    SAME(down->cells, TIMES15(" ") TIMES15("█") TIMES15(" ") TIMES15(" "));
    SAME(down->what, "copies down 25 %");
    SAME(up->what, "copies up 0 %");
    CHECK(up->cells[0] == ' ');
    /* Too short for the lowest bar: a dot, on a row of copies. */
    for (int i = 0; i < 4; i++) events[i] = launch(200, 50, 0);
    events[4].duration_ns = 6000;
    events[5] = events[4];
    events[5].start_ns = 59200, events[5].duration_ns = 50;
    events[5].is.copy.direction = SIMGPU_H2D;
    lab_blue_bar(&u, 100, 60100, LAB_RUNNING);
    CHECK(strlen(up->cells) == strlen("·") + 59);
    SAME(up->cells + 58, " ·");
    CHECK(kernels->cells[0] == ' ');
    lab_blue_bar(&(lab_usage){.nevents = 0}, 0, 10, LAB_RUNNING);
    SAME(kernels->what, "GPU busy 0 % (virtual)");
    CHECK(!up->cells[0] && !down->cells[0]);
}

/* --- SimGPU's events -------------------------------------------------------------------------- */

static double sectors(const lab_line *l) { return l->c.ld_sectors; }
static double launches(const lab_line *l) { return l->launches; }
static double copies(const lab_line *l) { return l->copies; }

static void mark(const char *name) {
    struct simgpu_event e = {.kind = SIMGPU_MARK};
    e.is.mark = name;
    lab_hear(&e, NULL);
}

/* A launch of 7 instructions from test.cu:9, of which `loads` sectors are from line 3. Its strings go away. */
static void tell_launch(uint64_t duration, uint64_t loads, const struct simgpu_fault *fault) {
    char source[] = "./t/test.cu", header[] = "cuda.h";
    struct simgpu_line lines[2] = {{.file = source, .line = 3, .counters = {.ld_sectors = loads}},
                                   {.file = header, .line = 3, .counters = {.ld_sectors = 99}}};
    struct simgpu_event e = {.kind = SIMGPU_LAUNCH, .at = {.file = source, .line = 9}, .duration_ns = duration};
    e.is.launch.total.inst = 7;
    e.is.launch.lines = lines;
    e.is.launch.nlines = 2;
    e.is.launch.bound = (struct simgpu_bound){.term = SIMGPU_TERM_LATENCY, .by_loads = true, .rounds = loads};
    e.is.launch.fault = fault;
    lab_hear(&e, NULL);
    memset(source, '?', sizeof source - 1);
    memset(header, '?', sizeof header - 1);
}

static void tell(struct simgpu_event e) { lab_hear(&e, NULL); }

static void stretches(void) {
    struct simgpu_fault deadlock = {.kind = SIMGPU_FAULT_DEADLOCK, .at = {.file = "./t.cu", .line = 3}};
    char why[256], text[320];
    fresh();
    tell_launch(9, 1, NULL); /* before all marks */
    mark("other");
    tell_launch(9, 1, NULL);
    mark("mine");
    tell_launch(20, 4, NULL);
    mark(LAB_COUNT_END);
    tell_launch(99, 1, NULL); /* nobody's */
    mark("mine");
    tell_launch(5, 6, &deadlock);
    memset(&deadlock, 0, sizeof deadlock);
    tell((struct simgpu_event){.kind = SIMGPU_COPY, .at = {.file = "t/test.cu", .line = 12}, .duration_ns = 50});
    tell((struct simgpu_event){.kind = SIMGPU_FILL, .at = {.file = "t/test.cu", .line = 9}});
    tell((struct simgpu_event){.kind = SIMGPU_CALL, .is.call = {.name = "cudaEventQuery", .short_one = true}});
    mark("end");

    lab_usage u = lab_usage_of("mine");
    CHECK(u.launches == 2 && u.copies == 2 && u.nevents == 4 && u.total.inst == 14);
    const lab_line *l = lab_worst(&u, sectors); /* a header is nobody's line */
    CHECK(l && l->line == 3 && l->c.ld_sectors == 10);
    SAME(l ? l->file : "", "t/test.cu");
    l = lab_worst(&u, launches);
    CHECK(l && l->line == 9 && l->launches == 2 && l->copies == 1);
    l = lab_worst(&u, copies);
    CHECK(l && l->launches == (l->line == 9 ? 2 : 0) && l->copies == 1);
    const struct simgpu_launch *slowest = lab_slowest(&u); /* a copy takes longer, and is none */
    CHECK(slowest && slowest->bound.rounds == 4);
    SAME(lab_say_slowest(&u, text, sizeof text),
         "; the slowest kernel: latency: a warp waits for 4 loads in a row, and warps fill 0 % of the GPU");
    CHECK(lab_fault(&u) && lab_fault(&u)->kind == SIMGPU_FAULT_DEADLOCK && !lab_finding(&u));
    SAME(lab_fault(&u)->at.file, "t.cu");
    lab_usage_free(&u);

    CHECK(lab_count_read("nobody", &u, why, sizeof why) == -1);
    SAME(why, "nothing was counted under the name 'nobody'");
    SAME(lab_say_slowest(&u, text, sizeof text), "");
    CHECK(!lab_slowest(&u) && !lab_fault(&u) && !lab_finding(&u));
}

static void ncu(void) {
    lab_usage u = {.launches = 0};
    char why[256] = "";
    FILE *f = file_of(
        "==PROF== Connected\nlab3 says hello\n"
        "\"ID\",\"Kernel Name\",\"smsp__inst_executed.sum\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\","
        "\"l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum\"\n"
        "\"\",\"\",\"inst\",\"sector\",\"sector\",\"sector\"\n"
        "\"0\",\"k(const float *, \"\"x\"\")\",\"1,234\",\"8\",\"3\",\"0\"\n"
        "\"1\",\"k\",\"1\",\"2\",\"0\",\"4\"\n");
    CHECK(lab_read_ncu(f, &u, why, sizeof why) == 0);
    CHECK(u.launches == 2 && u.total.inst == 1235 && u.total.ld_sectors == 10 && u.total.st_sectors == 0);
    CHECK(u.total.atom_sectors == 7 && u.nevents == 2 && u.events[0].is.launch.total.inst == 1234);
    CHECK(!lab_slowest(&u)); /* it tells no time */
    lab_usage_free(&u);
    fclose(f);
    u = (lab_usage){.launches = 0};
    f = file_of("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
    CHECK(lab_read_ncu(f, &u, why, sizeof why) == -1 && strstr(why, "may not read"));
    fclose(f);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } groups[] = {{"data", data},
                  {"compare", compare},
                  {"grades", grades},
                  {"intervals", intervals},
                  {"gates", gates},
                  {"card", card},
                  {"bar", bar},
                  {"stretches", stretches},
                  {"ncu", ncu},
                  {"ends", ends},
                  {"pages", pages},
                  {"faults", faults},
                  {"findings", findings},
                  {"texts", texts},
                  {"crashes", crashes},
                  {"seeds", seeds},
                  {"locked", locked},
                  {"middles", middles},
                  {"repetitions", repetitions},
                  {"duel", duel},
                  {"duel-cached", duel_cached},
                  {"unsynchronised", unsynchronised},
                  {"floors", floors},
                  {"gains", gains}};
    for (size_t i = 0; argc == 2 && i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(argv[1], groups[i].name)) continue;
        groups[i].run();
        return failures != 0;
    }
    fprintf(stderr, "usage: lab-unit GROUP\n");
    return 2;
}

/* questions.c — the questions of lab 0, drawn from the seed; see questions.h. */
#include "questions.h"

#include <math.h>

/* --- asking ----------------------------------------------------------------------------------------- */

struct lab0_answer ask(lab_program *program, const struct lab0_question *q) {
    struct lab0_message m = {.what = LAB0_ASK, .question = *q};
    struct lab0_answer a;
    lab_play(program, &m, sizeof m, &a, sizeof a);
    return a;
}

struct work ask_work(lab_program *program, enum lab0_function f, long n, long d) {
    struct lab0_question q = {.function = f, .n = n, .d = d};
    struct lab0_answer a = ask(program, &q);
    return (struct work){a.a, a.b};
}

/* --- the questions ------------------------------------------------------------------------------ */

static void add(struct exam *e, struct lab0_question q) {
    if (e->count == LAB0_MOST) lab_die("the harness has more questions than room");
    e->question[e->count++] = q;
}

/* A number from 0 to 1 that the seed gives. */
static double random_share(void) { return (double)(lab_fresh_seed() >> 11) / 9007199254740992.0; }

static void ask_about_works(struct exam *e) {
    /* Both odd, so the second is never the handout's 64. */
    const long hidden = 1001 + 2 * (long)(random_share() * 500), width = 17 + 2 * (long)(random_share() * 50);
    /* The square of the fifth does not fit an int. The last itself fits neither an int nor a float, which holds
     * multiples of 256 there: 127 lies between two, whatever it is multiplied by. */
    const long sizes[] = {64, 1024, 16384, hidden, 50000 + hidden, (3l << 30) + 256 * (hidden % 64) + 127};
    for (int k = 0; k < LAB0_WORKS; k++)
        for (int i = 0; i < 6; i++)
            if (k < MATMUL_WORK || sizes[i] < 1l << 20)
                add(e, (struct lab0_question){.function = (enum lab0_function)k,
                                              .n = k == ONE_FLOP_WORK ? 1 : sizes[i],
                                              .d = i == 3 ? width : 64});
}

/* Random machines, and works of which each ceiling decides a third, with each order of the other two. The times lie
 * apart by a factor of at least 1.3, and near enough that their sum is another number. */
static void ask_about_ceilings(struct exam *e) {
    for (int i = 0; i < 18; i++) {
        struct lab0_question q = {.function = INTENSITY};
        double us[3]; /* overhead, memory, arithmetic */
        const int longest = i % 3, middle = (longest + 1 + i / 3 % 2) % 3, shortest = 3 - longest - middle;
        us[longest] = exp2(3 + 7 * random_share());
        us[middle] = us[longest] / (1.3 + 3 * random_share());
        us[shortest] = us[middle] / (1.3 + 3 * random_share());
        q.c.bytes_per_us = exp2(16 + 8 * random_share());
        q.c.flops_per_us = exp2(18 + 9 * random_share());
        q.c.overhead_us = us[OVERHEAD];
        q.w.bytes = q.c.bytes_per_us * us[MEMORY];
        q.w.flops = q.c.flops_per_us * us[ARITHMETIC];
        add(e, q);
        q.function = LEAST_US, add(e, q);
        q.function = BOUND_OF, add(e, q);
    }
}

static struct sheet random_sheet(int lanes) {
    struct sheet s = {.lanes = lanes};
    s.sms = 20 + (int)(random_share() * 150);
    s.clock_mhz = 900 + 1500 * random_share();
    s.bus_bits = 128 * (1 + (int)(random_share() * 40));
    s.mem_clock_mhz = 900 + 4000 * random_share();
    return s;
}

static void ask_about_sheets(struct exam *e, struct sheet mine) {
    for (int i = 0; i < 4; i++) {
        struct lab0_question q = {.function = SHEET_BYTES};
        q.s = i ? random_sheet(i % 2 ? 64 : 128) : mine;
        add(e, q);
        q.function = SHEET_FLOPS, add(e, q);
    }
}

/* A card takes some microseconds to fill with warps, which no sheet gives; so a run on a card is longer.
 * A size that takes some microseconds by the sheet, about as long as it takes to start it and to wait. */
static long small_amount(enum trial t, const struct bench_bed *bed, struct sheet s) {
    const bool card = lab_lane() == LAB_GPU;
    const double share = random_share(), us = card ? 30 + 6 * share : 4 + 2 * share;
    const double memory = s.bus_bits / 8.0 * 2 * s.mem_clock_mhz, fp32 = 2.0 * s.sms * s.lanes * s.clock_mhz;
    const double round = (double)trial_n(FMA, bed, 1);
    switch (t) {
    case ONE_FLOP: return 1;
    case SEND: return (long)(us * s.link_gbs * 1e3) / 16 * 16;
    case COPY: return (long)(us * memory / 2) / 16 * 16;
    case FMA: return (long)ceil((card ? 25 + 10 * share : us) * fp32 / round);
    }
    return 0;
}

void exam_draw(struct exam *e, struct sheet sheet, const struct bench_bed *bed) {
    ask_about_works(e);
    ask_about_ceilings(e);
    ask_about_sheets(e, sheet);
    e->predictions = e->count;
    for (int size = LARGE; size < SIZES; size++)
        for (int t = 0; t < TRIALS; t++) {
            const enum trial trial = (enum trial)t;
            e->amount[size][t] = size == LARGE ? trial_amount(trial, bed) : small_amount(trial, bed, sheet);
            add(e,
                (struct lab0_question){
                    .function = PREDICT_US, .trial = trial, .n = trial_n(trial, bed, e->amount[size][t]), .s = sheet});
        }
}

/* --- the trials ------------------------------------------------------------------------------------- */

long trial_amount(enum trial t, const struct bench_bed *bed) {
    double share = 0.5 + 0.5 * random_share();
    switch (t) {
    case ONE_FLOP: return 1;
    case SEND: return (long)(share * (double)bed->host_bytes) / 16 * 16;
    case COPY: return (long)(share * (double)bed->device_bytes) / 16 * 16;
    case FMA: return (long)(share * 48);
    }
    return 0;
}

long trial_n(enum trial t, const struct bench_bed *bed, long amount) {
    return t == COPY  ? amount / 4
           : t == FMA ? amount * bed->sms * LAB0_FMA_BLOCKS * LAB0_THREADS * LAB0_ROUND_FLOPS
                      : amount;
}

double trial_time(enum trial t, struct bench_bed *bed, long amount) {
    static const enum lab0_piece piece[] = {
        [ONE_FLOP] = ADD_ONCE, [SEND] = SEND_PINNED, [COPY] = COPY_ARRAY, [FMA] = COMPUTE};
    return bed_time(bed, piece[t], amount);
}

/* causes.c — from wrong answers to causes; see causes.h. */
#include "causes.h"
#include "lab.h"

#include <math.h>

static bool near(double value, double to) { return fabs(value - to) <= 1e-6 * fabs(to); }

/* --- counts ------------------------------------------------------------------------------------------ */

static const char *const in_double = "compute in double from the first factor on: 4.0 * n, not 4 * n";

struct cause cause_of_count(bool bytes, const struct lab0_question *q, double got, double want, double other,
                            long right_up_to) {
    const double ratio = got / want;
    if (!isfinite(got)) return (struct cause){": that is no number", "which division or root of this line goes wrong?"};
    if (want == 0) return (struct cause){": nothing is computed there", "a copy moves bytes, and computes nothing"};
    if (got == other && other > 0)
        return (struct cause){bytes ? ": that is its operations" : ": that is its bytes",
                              "struct work has bytes first, then flops"};
    if (fabs(ratio - 1) < 1e-5) return (struct cause){": it was rounded; a float has seven digits", in_double};
    if (right_up_to > q->n)
        return (struct cause){q->function == SCORES_WORK ? ": right for d = 64"
                                                         : ": right for the sizes of the handout",
                              "write a formula of the arguments, for any size"};
    if (right_up_to && want > 2147483647)
        return (struct cause){": right for a smaller one; an int ends at 2147483647", in_double};
    if (ratio < 0) return (struct cause){": a count is not negative; an int ends at 2147483647", in_double};
    if (bytes && near(ratio, 0.25))
        return (struct cause){": floats were counted, and a float has 4 bytes", "multiply the floats by 4"};
    if (bytes && near(ratio, 8)) return (struct cause){": bits were counted", "a byte has 8 bits, a float 4 bytes"};
    if (!bytes && fabs(ratio - 0.5) < 1e-2)
        return (struct cause){": a multiply-add is two operations", "count the additions, too: one for each product"};
    if (!bytes && ratio < 1 && ratio > 0.9)
        return (struct cause){": something was left out",
                              "the usual count of a dot product is 2 n: its first addition is to 0"};
    if (ratio < 1) return (struct cause){": something was left out", NULL};
    return (struct cause){": something was counted that need not be done",
                          bytes ? "count each input array once and each result once, however often a kernel reads it"
                                : NULL};
}

/* --- ceilings ---------------------------------------------------------------------------------------- */

struct cause cause_of_intensity(double got, double want) {
    if (near(got * want, 1)) return (struct cause){": that is bytes for each operation", NULL};
    return (struct cause){"", NULL};
}

struct cause cause_of_least(const struct lab0_question *q, double got) {
    static const char *const longest =
        "take the longest of the three: they pass at the same time, so they do not add up";
    const double memory = q->w.bytes / q->c.bytes_per_us, arithmetic = q->w.flops / q->c.flops_per_us;
    const double overhead = q->c.overhead_us;
    if (near(got, memory + arithmetic + overhead)) return (struct cause){": the sum of the three", longest};
    if (near(got, memory + arithmetic)) return (struct cause){": the sum of two of them", longest};
    if (near(got, fmax(memory, arithmetic) + overhead))
        return (struct cause){": the overhead was added to the longer of the others", longest};
    if (near(got, fmin(overhead, fmin(memory, arithmetic))))
        return (struct cause){": the shortest of the three", longest};
    if (near(got, memory)) return (struct cause){": the bytes' time alone", longest};
    if (near(got, arithmetic)) return (struct cause){": the operations' time alone", longest};
    if (near(got, overhead)) return (struct cause){": the overhead alone", longest};
    return (struct cause){"", longest};
}

struct cause cause_of_bound(const struct lab0_question *q, double got, const int given[3]) {
    static const char *const never[] = {
        "bound_of never answers OVERHEAD: when is the fixed time the longest?",
        "bound_of never answers MEMORY: when is the time of the bytes the longest?",
        "bound_of never answers ARITHMETIC: when is the time of the operations the longest?"};
    if (got != OVERHEAD && got != MEMORY && got != ARITHMETIC)
        return (struct cause){"", "return OVERHEAD, MEMORY or ARITHMETIC"};
    const double times[] = {[OVERHEAD] = q->c.overhead_us,
                            [MEMORY] = q->w.bytes / q->c.bytes_per_us,
                            [ARITHMETIC] = q->w.flops / q->c.flops_per_us};
    const double time = times[(int)got];
    if (time <= times[OVERHEAD] && time <= times[MEMORY] && time <= times[ARITHMETIC])
        return (struct cause){", the shortest of the three",
                              "name the longest of the three: the other two pass meanwhile"};
    for (int b = 0; b < 3; b++)
        if (!given[b]) return (struct cause){"", never[b]};
    return (struct cause){"", NULL};
}

/* --- data sheets ------------------------------------------------------------------------------------- */

struct cause cause_of_peak(const struct lab0_question *q, double got, double want) {
    const double ratio = got / want, lanes = q->s.lanes, sms = q->s.sms;
    if (q->function == SHEET_BYTES) {
        if (near(ratio, 8)) return (struct cause){": a wire carries bits", "divide the wires by 8 for bytes"};
        if (near(ratio, 0.5))
            return (struct cause){": one edge of the clock", "this memory sends on both edges: times 2"};
        if (near(ratio, 4))
            return (struct cause){": bits, and one edge of the clock", "divide the wires by 8, and count both edges"};
    } else {
        if (near(ratio, 0.5)) return (struct cause){": a multiply-add is two operations", "times 2 for a multiply-add"};
        if (near(ratio, 1 / lanes) || near(ratio, 0.5 / lanes))
            return (struct cause){": SMs were counted, and not their lanes", "times the lanes of an SM, times 2"};
        if (near(ratio, 1 / sms) || near(ratio, 0.5 / sms))
            return (struct cause){": the lanes of one SM", "times the SMs, times 2 for a multiply-add"};
        if (near(ratio * lanes, 128) && lanes != 128)
            return (struct cause){": not every card has 128 lanes in an SM", "the sheet says how many: s.lanes"};
    }
    for (double thousands = 1e3; thousands < 1e10; thousands *= 1e3)
        if (near(ratio, thousands) || near(ratio * thousands, 1))
            return (struct cause){": a wrong unit",
                                  "MHz are ticks a microsecond, so the product needs no further factor"};
    return (struct cause){"", NULL};
}

/* --- predictions ------------------------------------------------------------------------------------- */

double forecast_distance(const struct forecast *f) {
    if (!isfinite(f->prediction) || f->prediction <= 0) return INFINITY;
    return fabs(log2(f->prediction / f->truth));
}

static bool is_about(double value, double to) { return value > to / 1.3 && value < to * 1.3; }

/* The bytes a microsecond at which a copy on the card is predicted to run: it reads and writes a float of 4 bytes. */
static double rate_of(const struct forecast of[SIZES]) {
    return 8.0 * (double)(of[LARGE].n - of[SMALL].n) / (of[LARGE].prediction - of[SMALL].prediction);
}

/* What is no time at all. */
static struct cause cause_of_no_time(double got) {
    if (!isfinite(got))
        return (struct cause){"", "return a positive number of microseconds: what does this line divide by?"};
    if (got < 0) return (struct cause){"", "return a positive number of microseconds: times are added, not subtracted"};
    return (struct cause){"",
                          "return a positive number of microseconds: has each kind of work its case, and its return?"};
}

struct cause cause_of_forecast(enum trial t, const struct forecast of[SIZES]) {
    const struct forecast *large = &of[LARGE], *small = &of[SMALL];
    /* The slope between the two sizes knows nothing of the fixed cost. */
    const double slope = (large->prediction - small->prediction) / (large->truth - small->truth);
    if (isinf(forecast_distance(large)) || isinf(forecast_distance(small))) return cause_of_no_time(large->prediction);
    if (t == ONE_FLOP && is_about(1000 * large->prediction / large->truth, 1))
        return (struct cause){": milliseconds?", "a millisecond is 1000 microseconds, and microseconds are asked for"};
    if (t == ONE_FLOP) return (struct cause){"", NULL};
    if (large->prediction == small->prediction)
        return (struct cause){": the same for two sizes",
                              "a number fits one size: write a formula with n, a rate and a fixed cost"};
    if (is_about(slope, 1) && small->prediction < small->truth)
        return (struct cause){": the rate is right; the time that every call costs is missing",
                              "add what every call costs, however small its work: launch and wait"};
    if (is_about(slope, 1))
        return (struct cause){": the rate is right; the fixed cost is too large",
                              "take 'launch and wait' from the table"};
    if (is_about(slope, 1000)) return (struct cause){": a GB/s is 1000 bytes a microsecond", "multiply GB/s by 1000"};
    if (is_about(slope, 1e-3))
        return (struct cause){": a GB/s is 1000 bytes a microsecond", "multiply GB/s by 1000, once"};
    if (t == COPY && is_about(rate_of(of), 1000 * lab_link_gbs()))
        return (struct cause){": at this rate the link carries bytes",
                              "a copy on the card does not cross the link: divide by the memory's rate"};
    if (t == COPY && is_about(slope, 0.125))
        return (struct cause){": each float is 4 bytes, read and written", "take the bytes from copy_work"};
    if (t == COPY && is_about(slope, 0.5))
        return (struct cause){": each byte is read and written", "take the bytes from copy_work"};
    if (t == FMA && is_about(slope, 2))
        return (struct cause){": n counts operations, and a multiply-add is two of them",
                              "divide n by sheet_flops_per_us"};
    return (struct cause){"", NULL};
}

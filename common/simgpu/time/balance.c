/* balance.c — which share of a launch's work the busiest SM has.
 *
 * Blocks of the first wave go to the SMs in turn. Each later one goes where one has ended: an SM shares itself out
 * among the blocks that it holds, so the one with least left to do ends first. Where blocks differ much, as in a
 * picture of a fractal, some SMs get more than their part and end last. (An H200: a Julia set of 3072 blocks; its SMs
 * are busy for three quarters of the kernel's time in the mean.) */
#include "time.h"

#include <stdlib.h>

enum { MOST_SMS = 256, MOST_RESIDENT = 32, MOST_BLOCKS = 1 << 14 };

typedef struct {
    double served;             /* the work that each of its blocks has had done since it began */
    double now;                /* when that was so */
    double end[MOST_RESIDENT]; /* `served` when a block ends */
    double all;                /* of its blocks */
    uint32_t n;
} sm;

static void begin(sm *s, double work) {
    s->end[s->n++] = s->served + work;
    s->all += work;
}

/* Returns the place of the block that ends first. */
static uint32_t first_of(const sm *s) {
    uint32_t first = 0;
    for (uint32_t k = 1; k < s->n; k++)
        if (s->end[k] < s->end[first]) first = k;
    return first;
}

static double next_of(const sm *s) { return s->now + (s->end[first_of(s)] - s->served) * s->n; }

/* Lets the block that ends first end. */
static void end_first(sm *s) {
    const uint32_t first = first_of(s);
    s->now = next_of(s);
    s->served = s->end[first];
    s->end[first] = s->end[--s->n];
}

/* Returns the SM that has room next; of those that have it at about the same time, the one that has had least. */
static uint32_t next_sm(const sm *all, const double *next, uint32_t sms) {
    enum { ABOUT = 64 }; /* one part of so many */
    double first = next[0];
    uint32_t best = sms;
    for (uint32_t k = 1; k < sms; k++)
        if (next[k] < first) first = next[k];
    for (uint32_t k = 0; k < sms; k++)
        if (next[k] <= first + first / ABOUT && (best == sms || all[k].all < all[best].all)) best = k;
    return best;
}

/* Returns the instructions of a block of part k. */
static double work_of(const exec_result *r, uint64_t k) {
    const uint64_t left = r->blocks - k * r->part_blocks;
    return (double)r->parts[k].instructions / (double)(left < r->part_blocks ? left : r->part_blocks);
}

/* Returns whether the blocks of all parts have about the same to do. */
static bool are_alike(const exec_result *r) {
    enum { ABOUT = 64 };
    double least = work_of(r, 0), most = least;
    for (uint64_t k = 1; k < r->nparts; k++) {
        const double work = work_of(r, k);
        if (work < least) least = work;
        if (work > most) most = work;
    }
    return most - least <= most / ABOUT;
}

double time_busiest_share(const exec_result *r, uint32_t sms, uint32_t resident) {
    static sm all[MOST_SMS];
    static double next[MOST_SMS];
    double total = 0, most = 0;
    const uint64_t slots = (uint64_t)sms * resident;
    /* Of blocks that are all alike one has run, and the parts do not say what the others would have done. */
    if (!r->busiest_sm || !resident || sms > MOST_SMS || resident > MOST_RESIDENT) return 0;
    if (r->blocks <= slots || r->blocks > MOST_BLOCKS) return 0;
    if (are_alike(r)) return 0;
    for (uint32_t k = 0; k < sms; k++) all[k] = (sm){0};
    for (uint64_t b = 0; b < r->blocks; b++) {
        const double work = work_of(r, b / r->part_blocks);
        uint32_t to = (uint32_t)(b % sms);
        total += work;
        if (b >= slots) {
            to = next_sm(all, next, sms);
            end_first(&all[to]);
        }
        begin(&all[to], work);
        if (b >= slots - sms) next[to] = next_of(&all[to]);
    }
    for (uint32_t k = 0; k < sms; k++)
        if (most < all[k].all) most = all[k].all;
    return total > 0 ? most / total : 0;
}

/* resident.c — see resident.h. */
#include "resident.h"

#include <stdlib.h>
#include <string.h>

/* KEEPS: eighths of L1 that keep what all blocks read. Measured: a table of 192 KiB stays in the 256 KiB of an SM, one
 * of 256 KiB does not. */
enum { SAMPLE = 4 /* SMs */, KEEPS = 7 };

/* Sectors of a line that a block missed at an instruction. place: the SM's number in the sample below the line. */
typedef struct exec_note {
    uint64_t place;
    uint32_t block, at, sectors;
    uint32_t number; /* of the misses of the block before it */
} note;

/* What the sample missed at an instruction. */
typedef struct {
    uint64_t sectors, lines;
} misses;

static struct {
    uint32_t sms, capacity;   /* sms: 0 where nothing is shared; capacity: lines of an SM's L1 */
    uint32_t resident;        /* blocks of an SM */
    double window[SAMPLE];    /* by SM: misses of its blocks in which L1 is filled anew; 0: all lines of a wave fit */
    uint64_t sectors, stayed; /* of all notes, and those of them that the wave before had left */
    uint32_t instructions;
    misses *alone, *together; /* by instruction */
    note *notes;              /* of a wave */
    size_t nnotes, room;
    note *kept; /* what the wave before has left */
    size_t nkept, kept_room;
} shared;

void exec_resident_begin(uint32_t resident, uint32_t sms, uint32_t lines, uint32_t instructions) {
    shared.sms = resident > 1 ? sms : 0;
    shared.capacity = lines / 8 * KEEPS;
    shared.resident = resident;
    shared.nkept = 0;
    shared.sectors = shared.stayed = 0;
    if (!shared.sms) return;
    if (instructions > shared.instructions) {
        shared.instructions = instructions;
        shared.alone = exec_must(realloc(shared.alone, instructions * sizeof *shared.alone));
        shared.together = exec_must(realloc(shared.together, instructions * sizeof *shared.together));
    }
    memset(shared.alone, 0, instructions * sizeof *shared.alone);
    memset(shared.together, 0, instructions * sizeof *shared.together);
}

static uint32_t step(void) { return (shared.sms + SAMPLE - 1) / SAMPLE; } /* between the SMs of the sample */

bool exec_resident_sampled(uint64_t block) {
    return shared.sms && (uint32_t)(block % shared.sms) % step() == step() / 2;
}

static note *grown(note *notes, size_t n, size_t *room) {
    if (n < *room) return notes;
    *room = *room ? 2 * *room : 1024;
    return exec_must(realloc(notes, *room * sizeof *notes));
}

/* A block's first misses say how much of them its SM has already; 16 MB of notes for an SM of 8 blocks are enough. */
enum { NOTES_OF_A_BLOCK = 1 << 16 };

void exec_resident_note(worker *t, const block *b, uint32_t at, uint64_t line, uint32_t sectors) {
    uint32_t sm = (uint32_t)(b->id % shared.sms) / step();
    const note *last = t->nnotes ? &t->notes[t->nnotes - 1] : NULL;
    uint32_t number = last && last->block == (uint32_t)b->id ? last->number + 1 : 0;
    if (number >= NOTES_OF_A_BLOCK) return;
    t->notes = grown(t->notes, t->nnotes, &t->notes_room);
    t->notes[t->nnotes] = (note){line * SAMPLE + sm, (uint32_t)b->id, at, sectors, number};
    t->nnotes++;
}

/* By SM and line, then in the order in which blocks miss that run side by side. */
static int in_order(const void *a, const void *b) {
    const note *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static void add(misses *to, uint32_t sectors) {
    to->sectors += (uint32_t)__builtin_popcount(sectors);
    to->lines += sectors != 0;
}

/* Counts the notes of one line on one SM; `left`: the sectors that the wave before has left. A sector is there unless
 * so much has been missed since its last use that it has gone. Returns the sectors that are in L1 afterwards, or 0 if
 * only one block has used the line. */
static uint32_t count_line(const note *notes, size_t n, uint32_t left) {
    const double window = shared.window[notes->place % SAMPLE];
    bool several = left != 0;
    uint32_t here = left, fetched = 0, used[4] = {0};
    for (size_t k = 0; k < n; k++) {
        uint32_t missing = 0;
        for (uint32_t q = 0; q < 4; q++) {
            if (!(notes[k].sectors >> q & 1)) continue;
            double since = (double)(notes[k].number - used[q]) * shared.resident;
            bool there = (here >> q & 1) && (window == 0 || since <= window);
            shared.stayed += there && !(fetched >> q & 1);
            if (!there) missing |= 1u << q;
            used[q] = notes[k].number;
        }
        here |= notes[k].sectors;
        fetched |= missing;
        several |= notes[k].block != notes[0].block;
        shared.sectors += (uint32_t)__builtin_popcount(notes[k].sectors);
        add(&shared.alone[notes[k].at], notes[k].sectors);
        add(&shared.together[notes[k].at], missing);
    }
    return several ? here : 0;
}

/* Returns the end of the notes of the line whose first is k. */
static size_t end_of_line(size_t k) {
    const uint64_t place = shared.notes[k].place;
    while (k < shared.nnotes && shared.notes[k].place == place) k++;
    return k;
}

/* Takes the workers' notes into one array, in order. */
static void gather(worker *workers, unsigned threads) {
    shared.nnotes = 0;
    for (unsigned t = 0; t < threads; t++) {
        for (size_t k = 0; k < workers[t].nnotes; k++) {
            shared.notes = grown(shared.notes, shared.nnotes, &shared.room);
            shared.notes[shared.nnotes++] = workers[t].notes[k];
        }
        workers[t].nnotes = 0;
    }
    if (shared.nnotes) qsort(shared.notes, shared.nnotes, sizeof *shared.notes, in_order);
}

/* Where an SM's blocks use n lines of which L1 holds m, it is filled anew when m different ones have been used. With
 * all equally likely, each further one of i takes n / (n - i) uses. */
static void find_windows(void) {
    uint32_t lines[SAMPLE] = {0};
    for (size_t k = 0; k < shared.nnotes; k = end_of_line(k)) lines[shared.notes[k].place % SAMPLE]++;
    for (uint32_t s = 0; s < SAMPLE; s++) {
        shared.window[s] = 0;
        for (uint32_t i = 0; lines[s] > shared.capacity && i < shared.capacity; i++)
            shared.window[s] += (double)lines[s] / (lines[s] - i);
    }
}

void exec_resident_wave(worker *workers, unsigned threads) {
    if (!shared.sms) return;
    gather(workers, threads);
    find_windows();
    static note *left;
    static size_t room;
    size_t nleft = 0, old = 0;
    uint32_t lines[SAMPLE] = {0};
    for (size_t k = 0, end; k < shared.nnotes; k = end) {
        const uint64_t place = shared.notes[k].place;
        end = end_of_line(k);
        while (old < shared.nkept && shared.kept[old].place < place) old++;
        bool there = old < shared.nkept && shared.kept[old].place == place;
        uint32_t sectors = count_line(&shared.notes[k], end - k, there ? shared.kept[old].sectors : 0);
        if (!sectors) continue;
        left = grown(left, nleft, &room);
        left[nleft++] = (note){.place = place, .sectors = sectors};
        lines[place % SAMPLE]++;
    }
    /* Of an SM with more lines than L1 has, none stays. */
    shared.nkept = 0;
    for (size_t k = 0; k < nleft; k++) {
        if (lines[left[k].place % SAMPLE] > shared.capacity) continue;
        shared.kept = grown(shared.kept, shared.nkept, &shared.kept_room);
        shared.kept[shared.nkept++] = left[k];
    }
}

static uint64_t part(uint64_t all, uint64_t of, uint64_t from) {
    return from ? (uint64_t)((double)all * (double)of / (double)from + 0.5) : all;
}

void exec_resident_share(uint32_t at, exec_counters *c) {
    if (!shared.sms) return;
    const misses *alone = &shared.alone[at], *together = &shared.together[at];
    c->l1_miss_sectors = part(c->l1_miss_sectors, together->sectors, alone->sectors);
    c->l1_miss_lines = part(c->l1_miss_lines, together->lines, alone->lines);
}

uint64_t exec_resident_missed_rounds(uint64_t alone) {
    return shared.sms ? part(alone, shared.sectors - shared.stayed, shared.sectors) : alone;
}

/* l2.h — the second-level cache of a card, which lives as long as the card does, and the sectors that a launch touches.
 *
 *   l2.c         the cache: 128-byte lines of four 32-byte sectors, write-back, what a launch leaves the next one finds
 *   footprint.c  the different sectors of a wave of blocks, collected by all host threads
 *
 * The blocks that the SMs hold at once, a wave, run side by side on a card. So the cache gets the sectors of a wave
 * together, as a set: the first read of a sector that the cache lacks is a miss, every other read of the wave is a hit,
 * unless the wave touches more than the cache keeps. A set has no order, so the result is the same for any number of
 * host threads.
 *
 * State is kept for chunks of 64 sectors (2 KB). A sector is `whole` when the cache has all its bytes, and dirty when
 * it must be written back. A dirty sector that is not whole has only the bytes of some stores: `bytes` tells which.
 * Stores that fill it together make it whole; otherwise DRAM supplies the rest when it is read or leaves.
 *
 * The rules and their constants are those of an H200, measured with Nsight Compute; ../README.md tells how. */
#ifndef SIMGPU_L2_H
#define SIMGPU_L2_H

#include <stdbool.h>
#include <stdint.h>

enum { L2_SECTOR = 32, L2_PAIR = 64, L2_LINE = 128, L2_CHUNK = 2048, L2_SETS = 128, L2_ROUNDS = 1 << 16, L2_GAPS = 32 };

/* Which of its set's lists a chunk is in: none, or by its worst sectors. A hash decides to which of the dirty ones. */
enum { L2_DIRTIES = 4 };
enum l2_state { L2_ABSENT, L2_CLEAN, L2_PARTLY, L2_DIRTY, L2_STATES = L2_DIRTY + L2_DIRTIES };

/* A bit for each sector. */
typedef struct {
    uint64_t read, written, partly; /* of the wave: read before the wave had written them; stored whole; in part */
    uint64_t paired;                /* of `read`: by a request that wanted the other half of 64 bytes, too */
    uint64_t whole, dirty;          /* in the cache */
    uint32_t newer, older;          /* its neighbours in a list, number + 1 */
    uint32_t used;                  /* its set's clock when it was touched last */
    uint8_t state : 7;              /* enum l2_state */
    bool loaded : 1;                /* an SM has loaded from it since it came */
    bool far;                       /* what was stored came from the host */
    uint16_t stored;                /* a bit for each line: stored since it was loaded last */
} __attribute__((aligned(64))) l2_chunk;

typedef struct {
    uint64_t read, written; /* sectors that the launch has touched so far */
} l2_union;

/* A part of the cache; a hash of its number decides to which one a chunk belongs. */
typedef struct {
    struct {
        uint32_t newest, oldest; /* chunk + 1 */
    } list[L2_STATES];
    uint32_t room;           /* that its lines take, in units of l2.c */
    uint32_t dirty, partly;  /* lines with dirty sectors, with ones that are not whole */
    uint32_t clock;          /* places that lines have taken so far, each PLACE units; wraps */
    uint32_t old[L2_STATES]; /* a dirty chunk of the list leaves when so many have been taken since it was touched */
    uint32_t due;            /* those for which old dirty chunks may still leave */
    uint32_t cleaned;        /* chunks written to DRAM because too many were dirty */
} l2_set;

typedef struct {
    uint32_t *chunks;
    uint32_t n, room;
} l2_list;

/* Pieces, and the lines and rows of 256 bytes with any of them. */
typedef struct {
    uint64_t pieces, lines, rows;
} l2_moved;

/* What loads of the wave want of 64 bytes: in bits 48 to 63 L2_ROUNDS - 1 less the first round that does (0: none
 * does), in bits 16 to 47 a bit for each round that does, modulo L2_GAPS, in the lowest 16 how many requests of the
 * first (or more). */
typedef uint64_t l2_early;
#define L2_EARLY_ROUND  48
#define L2_EARLY_ROUNDS 16
#define L2_EARLY_FIRST  0xffffull

typedef struct {
    l2_chunk *chunks; /* of the window of device addresses */
    l2_union *unions; /* likewise */
    uint32_t *bytes;  /* by sector of the window: of one that is dirty and not whole, a bit for each stored byte */
    l2_early *early;  /* by 64 bytes of the window */
    uint64_t first;   /* the window's first chunk */
    l2_set set[L2_SETS];
    uint32_t most_room, most_dirty, most_partly; /* of a set */
    double loaded_line;                          /* places of a line that one SM has loaded */
    uint64_t lines;                              /* of all sets */
    /* Of the wave: places of the lines that it loads and stores, in units of PLACE; its rounds; the lines that it
     * loads, with 64 bytes of them and sectors; how many lines are wanted again so many rounds later, and how many 64
     * bytes, by the longest of such times of their line in between. */
    double loaded_places, stored_places;
    uint64_t wave_length, loaded_lines, pieces, sectors, lines_again[L2_GAPS], again[L2_GAPS];
    l2_list wave, other, launch; /* chunks touched by the wave (other: for sorting), by the launch */
    /* Of the launch: */
    uint64_t missed[2];                /* sectors read that the cache lacked, which the wave did not write, or did */
    uint64_t dram_rounds, wave_rounds; /* exec_result's */
    uint64_t waits;                  /* pieces of 64 bytes that the cache lacked, for each request that waits for one */
    uint64_t rounds[L2_ROUNDS / 64]; /* a bit for each round of the wave that the cache lacked a sector of */
    /* The same of rounds of the wave that are the first to want what was stored, [1] of what came from the host. */
    struct {
        uint64_t set[L2_ROUNDS / 64], rounds, waits;
    } stored[2];
    uint64_t filled;              /* sectors stored in part for which DRAM had to supply the rest */
    uint64_t read, written;       /* bytes of DRAM */
    l2_moved loaded, stored_back; /* of DRAM: in pieces of 64 bytes for loads; in sectors, stored or filled for it */
    uint64_t peer[2];             /* bytes of other devices' sectors, read and written */
} l2_cache;

void exec_l2_list_add(l2_list *l, uint32_t chunk);

#endif

/* model.c — computes the duration of a kernel from its counters.
 *
 *   duration = launch + max(begin + max(link, pages, work and atomic), blocks + longest block) + last stores
 *              launch + begin + max(link, pages, work and atomic), for a kernel of a graph
 *
 * begin: the code that SMs do not have, and the first loads.
 *
 * Each term is a resource with a measured rate, and the time that the launch needs of it. The rates come from the
 * profile, each from kernels of their own (tests/bench-clock.cu); none is fitted to a kernel of a lab.
 *
 *   blocks    blocks                   * time between two starts, whole chip
 *   code      machine instructions that SMs do not have yet, where warps are not slower themselves
 *   issue     machine instructions     / (schedulers * SMs * clock); more where they wait for banks of registers
 *   alu, sfu, fp64, tensor             clocks of a pipe that takes several for an instruction
 *   lsu       clocks of the LSU pipe   / (SMs * clock)          wavefronts, global and shared together, and shuffles;
 *                                                               a global load takes load_clk at least; addresses of a
 *                                                               load of constant memory, one after another
 *   barrier   warps at barriers        * clocks for each        / (SMs * clock); they keep the LSU pipe from others
 *   l2 read   requests and sectors that miss L1, each with its clocks of the whole chip
 *   l2 write  requests and sectors stored, whole or in part, and those of atomics, likewise; or the busiest SM's way to
 *             L2, if that takes longer
 *   dram      what L2 lacks or writes back / bandwidth; pieces that stand alone take longer than a stream
 *   atomic    turns at the busiest slice of L2 * time of a turn; of floating point on the busiest sector, likewise
 *   link      bytes of memory that is not the device's / rate of the link
 *   pages     page faults of managed memory: time of each piece of 2 MiB, bytes / rate
 *   latency   the serial time of a block: its start, its rounds of loads, its chains of instructions, the wavefronts of
 *             its requests beyond the first one of each, its barriers
 *             and grid.sync()s (ptx/depth.c). The launch takes at least the longest block's serial time, and at least
 *             the sum over all blocks divided by the blocks that can be resident
 *
 * A scheduler starts one instruction a clock, of any warp and for any pipe, so the longest of issue and its pipes
 * stands for all of them. What a GPU does for some warps hides what others wait for, so the terms of SMs, L2 and DRAM
 * and the latency pass at the same time: the third root of the sum of their cubes: the largest, or up to a quarter more
 * beside another one as large. But warps ask DRAM together, wait together, and ask again, so that a part of its time
 * and of the latency adds up (dram_apart: twice that in a single wave of blocks, which begin together, down to half
 * with many). That is Little's law: with few bytes in flight the latency is longer than the bytes take.
 *
 * One thing hides another only where some warps are at the one while others are at the other: in the next turn of a
 * loop, or in the next wave of blocks. The stages of a kernel (ptx/stage.c) follow each other. In one wave all blocks
 * are at the same stage, so each stage takes a time of its own, by its part of all terms, and these times add up. With
 * n waves an n-th of what they take more than all stages at once stands apart (stages_ns); in a loop with barriers,
 * which keep the warps of a block together, the blocks on an SM count in place of its turns, if they are fewer. In the
 * same way the warps of a block compute, and then add their results to a word of memory: with n such turns an n-th of
 * the shorter time stands apart from the longer (work_ns). The warps of a block pass a barrier one after another
 * (waits_ns), and while the blocks meet in a grid.sync() nothing is hidden (meeting_work_ns).
 *
 * Issue, pipes, lsu and barrier are resources of an SM, so the busiest SM decides: it has ceil(blocks / SMs) of the
 * blocks. */
#include "time.h"

#include <math.h>
#include <string.h>

enum { WARP = 32 };

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }
static double warps_of(const exec_result *r) { return (double)((r->threads_per_block + WARP - 1) / WARP); }

uint32_t time_occupancy(const time_profile *p, uint32_t threads, uint32_t registers, uint64_t shared_bytes) {
    uint32_t warps = (threads + WARP - 1) / WARP;
    if (warps == 0) return 0;
    uint32_t unit = (uint32_t)p->register_unit;
    uint32_t per_warp = (registers * WARP + unit - 1) / unit * unit;
    uint32_t resident = (uint32_t)p->warps_per_sm, quarters = (uint32_t)p->schedulers_per_sm;
    if (per_warp) {
        /* An SM has four quarters, each with a quarter of the warps and registers. */
        uint32_t by_registers = (uint32_t)p->registers_per_sm / quarters / per_warp * quarters;
        if (by_registers < resident) resident = by_registers;
    }
    uint32_t blocks = resident / warps;
    uint64_t shared = (shared_bytes + (uint64_t)p->shared_reserved + 127) / 128 * 128;
    uint64_t fit = (uint64_t)p->shared_per_sm / shared;
    if (fit < blocks) blocks = (uint32_t)fit;
    if (blocks > (uint32_t)p->blocks_per_sm) blocks = (uint32_t)p->blocks_per_sm;
    return blocks;
}

/* Returns log2(x), linear between powers of two: the same on every machine. Requires x >= 1. */
static double doublings(double x) {
    int power;
    double part = frexp(x, &power);
    return power - 1 + (2 * part - 1);
}

/* Returns how much longer DRAM takes where a round asks for so many lines. Where few blocks ask, the neighbours among
 * the lines of one request come together, as from L2: those that do not stand alone in their rows of DRAM. (An H200,
 * one block that waits for each load: a line takes 371 ns, 8 of them side by side 390, at 4 KB from each other 460,
 * anywhere in 1 GB 560; 4 requests of a line each 480.) load: the part of the SMs that have a block. The parts are
 * those of the whole launch: of all lines that DRAM had to do with, and of the lines that a request misses in the mean.
 */
static double dram_lines_ns(const time_profile *p, const exec_result *r, double lines, double load) {
    const double known = (double)r->dram_lines, alone = known > 0 ? larger(0, 2 * (double)r->dram_rows / known - 1) : 1,
                 requests = (double)(r->total.ld_requests + r->total.tex_requests),
                 of_request = requests > 0 ? larger(1, smaller(lines, (double)r->alone_lines / requests)) : 1,
                 near = (1 - larger(alone, load)) * doublings(of_request);
    return (doublings(lines) - near) * p->latency_dram_line_ns + near * p->latency_l2_line_ns;
}

/* Returns how full DRAM is of lines that are on their way: the part of those that it has when it is as fast as it can
 * be (Little's law). */
static double dram_load(const time_profile *p, double lines) {
    enum { LINE = 128 };
    return smaller(1, lines * LINE / (p->dram_gbs * p->latency_dram_ns));
}

/* Returns the part of the rounds of loads that are the first to want what was stored, which may be in the other half of
 * L2, and twice that of what came from the host, which is. */
static double stored_part(const exec_result *r) {
    return r->wave_rounds ? smaller(2, (double)r->stored_rounds / (double)r->wave_rounds) : 0;
}

/* Returns the time of a block's rounds of loads in ns: those that L1 serves, and the rest, which L2 and DRAM serve.
 * Resident blocks that read the same sectors reach them together, so all of them wait for DRAM. For the same reason
 * what counts is what each block misses of L1 alone. A round ends with its slowest line; a barrier, and the block, with
 * that of all its warps that load. While DRAM is not busy, only the lines that a block is the first to ask for (own:
 * their part of those in rounds that DRAM serves) make a difference there: the others are on their way. (An H200, tiles
 * of matrices that 12 blocks share: a round takes 200 ns more where they come from DRAM, 1 or 16 lines alike:
 * tests/clock/tiles.cu.) An atomic whose result is used is a round that L2 serves. */
static double rounds_ns(const time_profile *p, const exec_result *r, exec_depth depth, double blocks, double resident) {
    const exec_counters *c = &r->total;
    double loads = (double)(c->ld_requests + c->tex_requests), atomics = (double)c->atom_requests;
    if (loads + atomics <= 0) return 0;
    double asked = (double)r->alone_sectors, lacked = (double)(r->l2_read_sectors - r->l2_read_hits);
    double dram = asked > 0 ? smaller(1, lacked / asked * larger(1, resident)) : 0;
    if (r->wave_rounds) dram = smaller(dram, (double)r->dram_rounds / (double)r->wave_rounds);
    double rounds = (double)r->depths.missed * warps_of(r), lines = rounds > 0 ? (double)r->alone_lines / rounds : 1;
    double own = asked > 0 && dram > 0 ? smaller(1, lacked / asked / dram) : 1,
           busy = dram_load(p, own * lines * warps_of(r) * resident),
           apart = busy + (1 - busy) * own, /* the part of a round's lines that make a difference in DRAM */
        wide = doublings(larger(1, lines));
    double dram_ns =
        p->latency_dram_ns + larger(dram_lines_ns(p, r, larger(1, apart * lines), smaller(1, resident / p->sm_count)),
                                    wide * p->latency_l2_line_ns);
    double l1_ns = p->latency_l1_clk / p->clock_ghz,
           l2_ns = p->latency_l2_clk / p->clock_ghz + wide * p->latency_l2_line_ns;
    double missed = (double)depth.missed, hit = (double)depth.rounds - missed;
    double meetings = smaller(missed, blocks + (double)c->barriers / warps_of(r) * blocks / (double)r->blocks);
    double missing = smaller(warps_of(r), larger(1, lines * warps_of(r))); /* warps of a block that wait in a round */
    double near_ns = doublings(missing) * p->latency_l2_line_ns,
           far_ns = doublings(larger(1, apart * missing)) * p->latency_dram_line_ns,
           last_ns = near_ns + dram * busy * larger(0, far_ns - near_ns);
    l2_ns += stored_part(r) * p->latency_l2_stored_clk / p->clock_ghz;
    double load_ns = hit * l1_ns + missed * ((1 - dram) * l2_ns + dram * dram_ns) + meetings * last_ns;
    double atomic_ns = (double)depth.rounds * p->latency_atomic_ns;
    return (loads * load_ns + atomics * atomic_ns) / (loads + atomics);
}

/* Returns the time of the two fences in a grid.sync() that are in the depth of its code. */
static double grid_fences_ns(const time_profile *p, const exec_result *r) {
    return r->grid_fenced ? (p->latency_fence_device_clk + p->latency_fence_behind_clk) / p->clock_ghz : 0;
}
/* Returns that of the rest of it. The blocks' atomics on the barrier's word take turns. */
static double grid_sync_ns(const time_profile *p, const exec_result *r) {
    const double all = larger(p->grid_sync_ns, (double)r->blocks * p->grid_sync_block_ns);
    return larger(0, all - grid_fences_ns(p, r));
}

static double atomics_ns(const time_profile *p, const exec_result *r) {
    return larger((double)r->atomic_turns[0] * p->atomic_turn_ns, (double)r->atomic_turns[1] * p->atomic_float_turn_ns);
}

/* Returns the time in which stores of one word take turns. The slice's other traffic waits behind them, so that it
 * stands apart. */
static double stores_turns_ns(const time_profile *p, const exec_result *r) {
    return (double)r->store_turns * p->store_turn_ns;
}

static double lsu_clocks(const time_profile *p, const exec_counters *c) {
    double loads = (double)c->ld_requests * p->load_clk;
    return larger((double)c->l1_wavefronts, loads) + (double)(c->shared_ld_wavefronts + c->shared_st_wavefronts +
                                                              c->local_requests + c->shuffles + c->tex_wavefronts);
}
/* Returns the clocks of the LSU pipe, summed line by line, since one line's loads cannot use the clocks that another's
 * leave free. Loads of constant memory have a pipe of their own. An access that is predicated off in all lanes takes
 * one, too. (An H200, 64 warps on each SM with loads or stores of shared or global memory alone: 1.01 clocks for each.)
 */
static double lsu_clocks_of_all(const time_profile *p, const exec_result *r) {
    double clocks = 0;
    for (uint32_t i = 0; i < r->nlines; i++) clocks += lsu_clocks(p, &r->lines[i].counters);
    return larger(clocks + r->lsu_other, (double)r->total.const_clocks + r->constant_other);
}
static uint64_t lsu_requests(const exec_counters *c) {
    return c->ld_requests + c->st_requests + c->atom_requests + c->shared_ld + c->shared_st + c->local_requests +
           c->shuffles + c->tex_requests + c->const_loads;
}

/* --- where and how much ---------------------------------------------------------------------------------------- */

static double weight(const time_profile *p, const struct simgpu_bound *b, const exec_counters *c) {
    switch (b->term) {
    case SIMGPU_TERM_ISSUE: return (double)c->inst;
    case SIMGPU_TERM_ALU:
    case SIMGPU_TERM_SFU:
    case SIMGPU_TERM_FP64: return (double)c->issue_slots;
    case SIMGPU_TERM_LSU: return lsu_clocks(p, c) + (double)c->const_clocks;
    case SIMGPU_TERM_BARRIER: return (double)c->barriers;
    case SIMGPU_TERM_L2_WRITE: return (double)(c->st_lines + c->atom_sectors);
    case SIMGPU_TERM_L2_READ: return (double)c->l1_miss_lines;
    case SIMGPU_TERM_ATOMIC: return (double)(b->by_stores ? c->st_partial : c->atom_requests);
    case SIMGPU_TERM_TENSOR: return (double)c->tensor_passes;
    case SIMGPU_TERM_LATENCY: return (double)(c->ld_requests + c->tex_requests + c->atom_requests);
    default: return (double)(c->ld_sectors + c->st_sectors + c->tex_sectors);
    }
}

/* Returns the line with most of the bound's work, or NULL if the PTX has no line table. */
static const exec_line *heaviest(const time_profile *p, const struct simgpu_bound *b, const exec_result *r) {
    const exec_line *best = NULL;
    for (uint32_t i = 0; i < r->nlines; i++)
        if (weight(p, b, &r->lines[i].counters) > (best ? weight(p, b, &best->counters) : 0)) best = &r->lines[i];
    return best;
}

/* Bytes of a stream that take as long as parts of a row of DRAM: a row of 256 bytes as a whole takes its bytes; parts
 * of it share less of what a row and a line cost. */
enum { ROW = 256, ROW_PAIRS = 4, ROW_SECTORS = 8 };
static double pair_bytes(const time_profile *p) {
    return (ROW - 2 * p->dram_line_bytes - p->dram_row_bytes) / ROW_PAIRS;
}
static double sector_bytes(const time_profile *p) {
    return (ROW - 2 * p->dram_part_line_bytes - p->dram_row_bytes) / ROW_SECTORS;
}

/* Returns the sectors that DRAM fills and writes for stores that are scattered. A sector that is stored in part comes
 * from DRAM and goes there again. Where such stores are scattered, L2 stands still in between, and each sector is alone
 * in its row. (An H200: 2^17 to 2^21 random words of 4 to 256 MiB take the time of as many in L2 and 47 ns for a
 * thousand such sectors; words 128 and 256 bytes apart the longer of both.) */
static double scattered_sectors(const exec_result *r) {
    const double partial = (double)r->total.st_partial;
    if (!(partial > 0)) return 0;
    return smaller((double)r->dram_stored_sectors,
                   2 * smaller(1, (double)r->st_scattered / partial) * (double)r->dram_filled);
}

static double scattered_ns(const time_profile *p, const exec_result *r) {
    return scattered_sectors(r) * (sector_bytes(p) + p->dram_part_line_bytes + p->dram_row_bytes) / p->dram_gbs;
}

/* Returns the time of DRAM but for scattered stores. */
static double dram_ns(const time_profile *p, const exec_result *r) {
    const double stored = (double)r->dram_stored_sectors, beside = stored > 0 ? 1 - scattered_sectors(r) / stored : 0,
                 loaded_bytes = (double)r->dram_pairs * pair_bytes(p) + (double)r->dram_lines * p->dram_line_bytes +
                                (double)r->dram_rows * p->dram_row_bytes,
                 stored_bytes = stored * sector_bytes(p) + (double)r->dram_stored_lines * p->dram_part_line_bytes +
                                (double)r->dram_stored_rows * p->dram_row_bytes;
    return (loaded_bytes + stored_bytes * beside) / p->dram_gbs;
}

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

/* Returns the launch's use of the bound's resource, in the unit that simgpu_event.h gives (simgpu_bound.amount). */
static double amount_of(const time_profile *p, const exec_result *r, const exec_line *l, const time_estimate *e) {
    const exec_counters *c = l ? &l->counters : &r->total;
    switch (e->bound.term) {
    case SIMGPU_TERM_LAUNCH: return e->duration_ns - e->bound.term_ns[SIMGPU_TERM_LAUNCH];
    case SIMGPU_TERM_BLOCKS: return 1 / p->block_start_ns;
    case SIMGPU_TERM_ISSUE:
    case SIMGPU_TERM_ALU:
    case SIMGPU_TERM_SFU:
    case SIMGPU_TERM_FP64:
    case SIMGPU_TERM_TENSOR: return e->bound.term_ns[e->bound.term];
    case SIMGPU_TERM_LSU:
        return (lsu_clocks(p, c) + (double)c->const_clocks) / (double)(lsu_requests(c) ? lsu_requests(c) : 1);
    case SIMGPU_TERM_BARRIER: return (double)r->total.barriers / ((double)r->blocks * warps_of(r));
    case SIMGPU_TERM_L2_READ: return ratio(c->l1_miss_sectors, c->ld_requests + c->tex_requests);
    case SIMGPU_TERM_L2_WRITE: return ratio(c->st_sectors + c->atom_sectors, c->st_requests + c->atom_requests);
    case SIMGPU_TERM_DRAM: return (double)(r->dram_read_bytes + r->dram_write_bytes);
    case SIMGPU_TERM_ATOMIC: return (double)(e->bound.by_stores ? r->store_turns : r->atomic_turns[0]);
    default: return 0;
    }
}

static void explain(const time_profile *p, const exec_result *r, double resident, time_estimate *e) {
    struct simgpu_bound *b = &e->bound;
    b->by_stores = stores_turns_ns(p, r) > atomics_ns(p, r);
    b->by_fills = scattered_ns(p, r) > b->term_ns[SIMGPU_TERM_L2_WRITE] / 2;
    const exec_line *l = heaviest(p, b, r);
    if (l && l->file) b->at = (struct simgpu_place){.file = l->file, .line = (int)l->line};
    b->amount = amount_of(p, r, l, e);
    b->rounds = r->deepest.rounds;
    b->clocks = r->deepest.clocks;
    const double syncs = (double)r->grid_syncs, fences_ns = syncs * grid_fences_ns(p, r),
                 loads_ns = rounds_ns(p, r, r->deepest, 1, resident),
                 clocks_ns = (double)r->deepest.clocks / p->clock_ghz - fences_ns;
    b->grid_syncs = r->grid_syncs;
    b->by_grid_syncs = syncs && syncs * grid_sync_ns(p, r) + fences_ns >= larger(loads_ns, clocks_ns);
    b->by_loads = loads_ns >= clocks_ns;
    b->atomic_bytes = (uint32_t)p->atomic_place_bytes;
}

/* Returns the share of all work that the busiest SM has. Blocks of the first wave go to the SMs in turn: where some of
 * them have nothing to do, an SM may have more than its part of the others. (An H200: a triangle of 32 x 32 blocks
 * takes twice the time of as many tiles elsewhere, since 132 SMs and rows of 32 leave each SM eight of the full ones or
 * none.) Of more than a wave, see balance.c. */
static double busiest_share(const time_profile *p, const exec_result *r, double slots) {
    const uint64_t sms = (uint64_t)p->sm_count;
    double all = 0;
    for (uint64_t k = 0; k < r->nparts; k++) all += (double)r->parts[k].instructions;
    const double of_blocks = r->blocks ? (double)((r->blocks + sms - 1) / sms) / (double)r->blocks : 0;
    if (all <= 0) return of_blocks;
    const double dynamic = time_busiest_share(r, (uint32_t)sms, (uint32_t)(slots / (double)sms));
    return larger(larger(of_blocks, dynamic), (double)r->busiest_sm / all);
}

/* --- the roofs ---------------------------------------------------------------------------------------------- */

/* Returns how long a block waits for its loads, chains and barriers, or the sum over `blocks` blocks, in ns. A request
 * of several wavefronts is through when the last of them is: that of one is in the latency. */
static double waits_ns(const time_profile *p, const exec_result *r, exec_depth depth, double blocks, double resident) {
    const double part = blocks / (double)r->blocks, barriers = (double)r->total.barriers * part,
                 more = (double)r->more_wavefronts / warps_of(r) * part;
    return rounds_ns(p, r, depth, blocks, resident) +
           ((double)depth.clocks + barriers * p->barrier_clk + more) / p->clock_ghz;
}

/* Returns the serial time of a block, or the sum over `blocks` blocks, in ns. */
static double serial_ns(const time_profile *p, const exec_result *r, exec_depth depth, double blocks, double resident) {
    return waits_ns(p, r, depth, blocks, resident) +
           blocks * (p->block_ns + (double)r->grid_syncs * grid_sync_ns(p, r));
}

static double latency_ns(const time_profile *p, const exec_result *r, double slots) {
    double blocks = (double)r->blocks, resident = smaller(blocks, slots);
    return larger(serial_ns(p, r, r->depths, blocks, resident) / slots, serial_ns(p, r, r->deepest, 1, resident));
}

/* Returns the clocks of issue: machine instructions, and what the sequences of divisions, branches, loads of several
 * registers and multiply-adds that wait for registers' banks take beside them. */
static double issue_clocks(const exec_result *r) {
    static const enum ptx_cost longer[] = {COST_FDIV,  COST_DIV32,  COST_DIV64,  COST_DDIV,
                                           COST_INT64, COST_BRANCH, COST_MEMORY, COST_FMA};
    double clocks = (double)r->total.inst;
    for (size_t k = 0; k < sizeof longer / sizeof *longer; k++)
        clocks += larger(0, (double)r->slots[longer[k]] - (double)r->machine[longer[k]]);
    return clocks;
}

/* Sets the times of what is an SM's: the busiest has `share` of all work. The pipe of integers and logic takes two
 * clocks for an instruction; additions may go through the multiplier instead, whichever is free. */
static void sm_terms(const time_profile *p, const exec_result *r, double share, double *ns) {
    const exec_counters *c = &r->total;
    double quarter = share / (p->schedulers_per_sm * p->clock_ghz), whole = share / p->clock_ghz;
    double multiplied = smaller((double)r->multiplied, (double)r->additions);
    double additions = (double)r->additions - multiplied;
    double logic = larger(0, (double)r->machine[COST_ALU] - (double)r->additions);
    double products = (double)r->slots[COST_IMUL] + p->slots_imul * multiplied;
    double both = (p->alu_clk * (logic + additions) + products) / 2;
    ns[SIMGPU_TERM_ISSUE] = issue_clocks(r) * quarter;
    ns[SIMGPU_TERM_ALU] = larger(larger(p->alu_clk * logic, products), both) * quarter;
    ns[SIMGPU_TERM_SFU] = (double)(r->slots[COST_SFU] + r->slots[COST_CONVERT]) * quarter;
    ns[SIMGPU_TERM_FP64] = (double)r->slots[COST_FP64] * quarter;
    ns[SIMGPU_TERM_LSU] = lsu_clocks_of_all(p, r) * whole;
    ns[SIMGPU_TERM_BARRIER] = (double)c->barriers * p->barrier_clk * whole;
    /* Each scheduler has a fourth of the tensor cores. (An H200, eight chains of mma.sync in each warp: one warp on
     * each SM takes as long as four.) */
    const double warps = warps_of(r) * larger(1, (double)r->blocks / p->sm_count),
                 used = smaller(1, warps / p->schedulers_per_sm);
    ns[SIMGPU_TERM_TENSOR] = (double)c->tensor_passes * p->tensor_pass_clk * whole / used;
}

/* Sets the times of L2 and DRAM. The busiest SM has `share` of all stores; those to local memory do not take its way.
 */
static void memory_terms(const time_profile *p, const exec_result *r, double share, double *ns) {
    const exec_counters *c = &r->total;
    const double stored = larger(0, (double)c->st_sectors - (double)c->st_partial - (double)r->st_merged),
                 whole = stored + (double)r->local_stored.whole;
    double partial = (double)(c->st_partial + r->local_stored.partial),
           lines = (double)(c->st_lines + r->local_stored.lines);
    double atomics = larger((double)c->atom_sectors, (double)r->atomic_all);
    ns[SIMGPU_TERM_L2_READ] =
        ((double)c->l1_miss_lines * p->l2_read_clk + (double)c->l1_miss_sectors * p->l2_read_sector_clk) / p->clock_ghz;
    ns[SIMGPU_TERM_L2_WRITE] = (lines * p->l2_write_clk + whole * p->l2_write_sector_clk +
                                partial * p->l2_partial_sector_clk + atomics * p->l2_atomic_sector_clk) /
                               p->clock_ghz;
    const double way = (double)(c->st_lines + c->st_partial) * p->store_clk + stored * p->store_sector_clk;
    ns[SIMGPU_TERM_L2_WRITE] = larger(ns[SIMGPU_TERM_L2_WRITE], way * share / p->clock_ghz);
    ns[SIMGPU_TERM_L2_WRITE] += scattered_ns(p, r);
    ns[SIMGPU_TERM_DRAM] = dram_ns(p, r);
}

/* Returns the third root of a sum of cubes, of which the largest is 1. Only operations that every machine rounds alike.
 */
static double third_root(double sum) {
    double root = 1.3;
    for (int k = 0; k < 8; k++) root = (2 * root + sum / (root * root)) / 3; /* Newton's: from 1 to 11 at most */
    return root;
}

/* Returns the third root of the sum of the cubes. */
static double third_root_of(const double *terms, int n) {
    double most = 0, sum = 0;
    for (int k = 0; k < n; k++) most = larger(most, terms[k]);
    if (!(most > 0)) return 0;
    for (int k = 0; k < n; k++) {
        const double part = terms[k] / most;
        sum += part * part * part;
    }
    return most * third_root(sum);
}

/* What a warp has beside itself: blocks and warps of an SM, itself among them, warps of its scheduler, waves of blocks.
 */
typedef struct {
    double blocks, of_sm, warps, waves;
    bool abreast; /* barriers keep the warps of a block together */
} company;

static company company_of(const time_profile *p, const exec_result *r, double slots) {
    const double blocks = smaller(slots, larger((double)r->blocks, p->sm_count)) / p->sm_count,
                 warps = blocks * warps_of(r);
    return (company){blocks, warps, warps / p->schedulers_per_sm, larger(1, (double)r->blocks / slots),
                     r->total.barriers > 0};
}

/* Returns the time of the LSU pipe, which barriers use, too: they keep it from the next requests, more so where each is
 * of few warps. (An H200, tests/clock/barriers.cu: 64 warps that load three words, store one and meet, 400 times, take
 * 60.6 us in two blocks, 81.3 in 32.) What a block's own barriers take is in its latency. */
static double shared_pipe_ns(const time_profile *p, const double *ns, const company *with) {
    const double barrier = ns[SIMGPU_TERM_BARRIER], warps = with->of_sm / with->blocks,
                 kept = (p->barrier_lsu_clk + p->barrier_block_clk / warps) / p->barrier_clk;
    return larger(barrier * (1 - 1 / larger(1, with->blocks)), ns[SIMGPU_TERM_LSU] + barrier * kept);
}

/* Returns the time in which an SM's units serve the warps beside one of them, whose own part is in its waits: of the
 * warps of its scheduler, and in the LSU pipe of those of the SM. A scheduler starts one instruction a clock, of any
 * warp that is ready and for any pipe that is free, so its busiest pipe decides. (An H200: kernels of integers, with
 * two clocks of the ALU for most instructions, take what the ALU does.) Requires both numbers to be 1 at least. */
static double units_ns(const time_profile *p, const double *ns, const company *with, double of_scheduler,
                       double of_sm) {
    double pipe = larger(ns[SIMGPU_TERM_ISSUE], ns[SIMGPU_TERM_ALU]);
    pipe = larger(pipe, larger(ns[SIMGPU_TERM_SFU], larger(ns[SIMGPU_TERM_FP64], ns[SIMGPU_TERM_TENSOR])));
    const double units[] = {pipe * (1 - 1 / of_scheduler), shared_pipe_ns(p, ns, with) * (1 - 1 / of_sm)};
    return third_root_of(units, sizeof units / sizeof *units);
}

/* Returns the time in which an SM's units and the waits of its warps pass: the longer of both hides most of the
 * shorter. Barriers, which keep the warps of a block together, take from that. Where a scheduler has one warp, and the
 * block has barriers, nothing hides what the units do for the block's other warps; only other blocks on the SM do.
 * (An H200: lab 10's products by one block of four warps on an SM; 400 barriers take 6.3 us by one block of one warp,
 * 6.4 by four.) */
static double sm_ns(const time_profile *p, const double *ns, const company *with) {
    const double waits = ns[SIMGPU_TERM_LATENCY], of_scheduler = larger(1, with->warps), of_sm = larger(1, with->of_sm);
    const double both[] = {units_ns(p, ns, with, HUGE_VAL, HUGE_VAL), waits}, at_once = third_root_of(both, 2);
    const double alone = with->abreast ? larger(0, 2 - of_scheduler) : 0,
                 apart = waits + units_ns(p, ns, with, of_scheduler, of_sm) - at_once;
    return at_once + alone * larger(0, apart) / with->blocks;
}

/* Returns the time in which the terms of SMs, L2, DRAM and the latency pass. */
static double together(const time_profile *p, const double *ns, const company *with) {
    const double latency = ns[SIMGPU_TERM_LATENCY], dram = ns[SIMGPU_TERM_DRAM],
                 hidden = sqrt(latency * latency + dram * dram);
    const double terms[] = {sm_ns(p, ns, with), dram, ns[SIMGPU_TERM_L2_READ], ns[SIMGPU_TERM_L2_WRITE]},
                 at_once = third_root_of(terms, sizeof terms / sizeof *terms);
    const double apart = p->dram_apart * (0.5 + 1.5 / with->waves);
    return larger(at_once, hidden + apart * (latency + dram - hidden));
}

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* What the stages so far have left for the next ones: sectors that L2 lacks, and rounds that are the first to want
 * them. The first stage that loads something finds it missing. */
typedef struct {
    double lacked, dram_rounds;
} stages_left;

/* The sums over all stages. */
typedef struct {
    double rounds, clocks, missing; /* missing: rounds that miss L1, by the part of their sectors that do */
} stages_sum;

static double missing_rounds(const exec_stage *s) {
    const double loaded = (double)(s->total.ld_sectors + s->total.tex_sectors);
    return loaded > 0 ? larger(0, s->rounds) * (double)s->alone_sectors / loaded : 0;
}

static exec_depth part_of(exec_depth d, const exec_stage *s, const stages_sum *all) {
    const double rounds = all->rounds > 0 ? larger(0, s->rounds) / all->rounds * (double)d.rounds : 0,
                 clocks = all->clocks > 0 ? larger(0, s->clocks) / all->clocks * (double)d.clocks : 0,
                 missed = all->missing > 0 ? missing_rounds(s) / all->missing * (double)d.missed : 0;
    return (exec_depth){(uint64_t)(rounds + 0.5), (uint64_t)(smaller(missed, rounds) + 0.5), (uint64_t)(clocks + 0.5)};
}

/* Returns the stage as a launch that does nothing else. *line becomes its only line. */
static exec_result launch_of(const exec_result *r, const exec_stage *s, const stages_sum *all, stages_left *left,
                             exec_line *line) {
    exec_result one = *r;
    *line = (exec_line){.counters = s->total};
    one.total = s->total, one.lines = line, one.nlines = 1;
    memcpy(one.slots, s->slots, sizeof one.slots);
    memcpy(one.machine, s->machine, sizeof one.machine);
    one.additions = s->additions, one.multiplied = s->multiplied;
    one.alone_sectors = s->alone_sectors, one.alone_lines = s->alone_lines;
    one.more_wavefronts = s->more_wavefronts, one.lsu_other = s->lsu_other, one.constant_other = s->constant_other;
    one.atomic_all = one.st_merged = 0;
    one.local_stored = (exec_stored){0, 0, 0};
    one.depths = part_of(r->depths, s, all);
    one.l2_read_sectors = s->total.l1_miss_sectors;
    const double lacked = smaller(left->lacked, (double)one.l2_read_sectors),
                 waves = all->missing > 0 ? missing_rounds(s) / all->missing * (double)r->wave_rounds : 0,
                 dram = smaller(left->dram_rounds, waves);
    one.l2_read_hits = one.l2_read_sectors - (uint64_t)lacked;
    enum { FINE = 1024 }; /* only their ratio counts, and a stage may have a part of a round */
    one.wave_rounds = (uint64_t)(FINE * waves), one.dram_rounds = (uint64_t)(FINE * dram);
    one.stored_rounds = (uint64_t)(FINE * waves * stored_part(r));
    left->lacked -= lacked, left->dram_rounds -= dram;
    return one;
}

/* Sets each term of such a launch, in any unit: of DRAM, the sectors that it reads there or stores. */
static void stage_terms(const time_profile *p, const exec_result *one, double slots, double share, double *ns) {
    const double blocks = (double)one->blocks;
    sm_terms(p, one, 1, ns);
    memory_terms(p, one, share, ns);
    ns[SIMGPU_TERM_DRAM] = (double)(one->l2_read_sectors - one->l2_read_hits + one->total.st_sectors);
    ns[SIMGPU_TERM_LATENCY] = waits_ns(p, one, one->depths, blocks, smaller(blocks, slots));
}

/* Sets of[k] to the parts of the launch's terms that stage k takes. */
static void share_out(const time_profile *p, const exec_result *r, double slots, const double *ns,
                      double of[][SIMGPU_TERMS]) {
    const double share = busiest_share(p, r, slots);
    double sum[SIMGPU_TERMS] = {0};
    stages_sum all = {0};
    stages_left left = {(double)(r->l2_read_sectors - r->l2_read_hits), (double)r->dram_rounds};
    for (uint32_t k = 0; k < r->nstages; k++) {
        all.rounds += larger(0, r->stages[k].rounds), all.clocks += larger(0, r->stages[k].clocks);
        all.missing += missing_rounds(&r->stages[k]);
    }
    for (uint32_t k = 0; k < r->nstages; k++) {
        memset(of[k], 0, sizeof of[k]);
        if (!r->stages[k].total.ptx_inst) continue;
        exec_line line;
        const exec_result one = launch_of(r, &r->stages[k], &all, &left, &line);
        stage_terms(p, &one, slots, share, of[k]);
        for (enum simgpu_term t = 0; t < SIMGPU_TERMS; t++) sum[t] += of[k][t];
    }
    for (uint32_t k = 0; k < r->nstages; k++)
        for (enum simgpu_term t = 0; t < SIMGPU_TERMS; t++) of[k][t] = sum[t] > 0 ? of[k][t] / sum[t] * ns[t] : 0;
}

/* Returns the time in which the stages pass one after another. Those of a loop do so in its first turn only: with n
 * turns, an n-th of what they take more than all of them at once stands apart. Where barriers keep the warps of a block
 * abreast, only other blocks can be in another turn; within one, half of that is hidden, since its warps leave a
 * barrier one after another. 0: there is only one stage. Sources: an H200, products of matrices by tiles with one and
 * two blocks on an SM. */
static double stages_ns(const time_profile *p, const exec_result *r, double slots, const double *ns) {
    const company with = company_of(p, r, slots);
    double of[PTX_STAGES][SIMGPU_TERMS], time = 0;
    if (r->nstages < 2) return 0;
    share_out(p, r, slots, ns, of);
    for (uint32_t k = 0, end; k < r->nstages; k = end) {
        const double turns = (double)r->stages[k].turns / ((double)r->blocks * warps_of(r));
        double group[SIMGPU_TERMS] = {0}, apart = 0, apace = warps_of(r);
        for (end = k; end < r->nstages && r->stages[end].group == r->stages[k].group; end++) {
            apart += together(p, of[end], &with);
            if (r->stages[end].total.barriers) apace = 1;
            for (enum simgpu_term t = 0; t < SIMGPU_TERMS; t++) group[t] += of[end][t];
        }
        const double at_once = together(p, group, &with);
        time += at_once + larger(0, apart - at_once) / larger(1, smaller(turns, 2 * apace * with.blocks));
    }
    return time;
}

/* Returns the time of all that blocks do: they load and compute, stage by stage, and then their atomics take turns. The
 * blocks of a wave end one after another, as the busiest resource serves them, so the first atomics are through when
 * the last come. Another wave of blocks or a loop's next atomic hides a part of the rest; a grid.sync() waits for all
 * of them. */
static double work_ns(const time_profile *p, const exec_result *r, double slots, const double *ns) {
    const company with = company_of(p, r, slots);
    const double blocks = (double)r->blocks, flags = stores_turns_ns(p, r),
                 atomic = larger(0, ns[SIMGPU_TERM_ATOMIC] - flags), at_once = together(p, ns, &with);
    if (blocks <= 0) return 0;
    const double waves = larger(1, blocks / slots), apart = larger(0, stages_ns(p, r, slots, ns) - at_once),
                 others = at_once + apart / waves, periods = larger(1, (double)r->grid_syncs),
                 turns = waves * larger(1, (double)r->total.atom_requests / (blocks * warps_of(r)) / periods);
    double busiest = 0;
    for (enum simgpu_term t = SIMGPU_TERM_BLOCKS; t < SIMGPU_TERMS; t++)
        if (t != SIMGPU_TERM_LATENCY && t != SIMGPU_TERM_ATOMIC) busiest = larger(busiest, ns[t]);
    const double shorter = larger(0, smaller(others, atomic) - p->atomic_spread * busiest);
    return larger(others, atomic) + shorter / turns + flags;
}

/* Returns the same for a kernel whose blocks meet in grid.sync()s. While they do, none has anything else to do, so that
 * this part of the latency hides nothing. */
static double meeting_work_ns(const time_profile *p, const exec_result *r, double slots, const double *ns) {
    const double meetings = (double)r->grid_syncs * grid_sync_ns(p, r);
    double between[SIMGPU_TERMS];
    memcpy(between, ns, sizeof between);
    between[SIMGPU_TERM_LATENCY] -= meetings;
    return meetings + work_ns(p, r, slots, between);
}

/* Returns the time in which the last blocks end, where some are longer than others: a block begins when those before it
 * have ended, but for as many as the device holds, and then takes its serial time. Until then the blocks take what
 * their busiest resource does, or their waits, whichever is longer. */
static double tail_ns(const time_profile *p, const exec_result *r, double slots, const double *ns) {
    const double resident = smaller((double)r->blocks, slots);
    double busy = serial_ns(p, r, r->depths, (double)r->blocks, resident) / slots;
    for (enum simgpu_term t = SIMGPU_TERM_BLOCKS; t < SIMGPU_TERMS; t++)
        if (t != SIMGPU_TERM_LATENCY) busy = larger(busy, ns[t]);
    double all = 0, before = 0, latest = 0;
    for (uint64_t k = 0; k < r->nparts; k++) all += (double)r->parts[k].instructions;
    const double clocks = (double)(r->deepest.rounds * (uint64_t)p->round_clk + r->deepest.clocks);
    if (all <= 0 || clocks <= 0) return 0;
    const double unit = serial_ns(p, r, r->deepest, 1, resident) / clocks;
    uint64_t ended = 0; /* parts that have, when part k begins */
    for (uint64_t k = 0; k < r->nparts; k++) {
        for (; (double)((k - ended) * r->part_blocks) >= slots; ended++) before += (double)r->parts[ended].instructions;
        latest = larger(latest, busy * before / all + (double)r->parts[k].longest * unit);
    }
    return latest;
}

/* Returns the time after which the work of the first blocks begins: their loads have come, for which all warps wait. */
static double begin_ns(const time_profile *p, const exec_result *r, double slots) {
    const exec_counters *c = &r->total;
    if (!(c->ld_requests + c->tex_requests)) return 0;
    return rounds_ns(p, r, (exec_depth){1, 1, 0}, 1, smaller((double)r->blocks, slots));
}

/* Returns the time in which the first warps wait for machine code that the SMs do not have: each basic block comes at a
 * rate, with a pause in front of the first and where others are skipped. Warps that are slower than that do not wait.
 * (An H200, eight kernels in turn beside one again and again: 1024
 * multiply-adds take a microsecond more, 512 with 8 jumps over others 0.9: tests/clock/code.cu.) */
static double code_ns(const time_profile *p, const exec_result *r, double slots) {
    const double warps = larger(1, company_of(p, r, slots).warps);
    double clocks = 0;
    for (uint32_t k = 0; k < r->ncode; k++) {
        const exec_code *c = &r->code[k];
        const double skipped = k ? c->skipped * p->fetch_clk : p->fetch_jump_clk,
                     own = larger(c->clocks, warps * c->slots);
        clocks += larger(0, c->length * p->fetch_clk - own) + smaller(p->fetch_jump_clk, skipped);
    }
    return r->fetched * clocks / p->clock_ghz;
}

/* Returns the time of the way of the last stores to L2. */
static double stores_ns(const time_profile *p, const exec_result *r) {
    return r->total.st_requests ? p->latency_l2_clk / p->clock_ghz : 0;
}

/* Returns what is left behind the last block: that way, and SMs that began later than the first. */
static double end_ns(const time_profile *p, const exec_result *r) {
    return stores_ns(p, r) + p->fill_ns * smaller(1, (double)r->blocks / p->sm_count);
}

/* Memory outside of the device: its bytes each way, its requests, and the loads of a block that wait for each other;
 * *waits: the last take longest. */
static double link_ns(const time_profile *p, const exec_result *r, double slots, bool *waits) {
    double moved = larger((double)r->link_read / p->link_read_gbs, (double)r->link_written / p->link_write_gbs);
    double loads = r->total.ld_requests ? (double)r->link_loads / (double)r->total.ld_requests : 0;
    double rounds = larger((double)r->deepest.rounds, (double)r->depths.rounds / slots) * loads;
    moved = larger(moved, (double)r->link_requests * p->link_request_ns);
    moved = larger(moved, larger((double)r->peer_read, (double)r->peer_written) / p->peer_gbs);
    *waits = rounds * p->link_latency_ns > moved;
    return larger(moved, rounds * p->link_latency_ns);
}

void time_model(const time_profile *p, const exec_result *r, const time_pages *pages, double launch_ns, bool in_graph,
                time_estimate *e) {
    memset(e, 0, sizeof *e);
    e->per_sm = time_occupancy(p, (uint32_t)r->threads_per_block, r->registers, r->shared_bytes);
    if (e->per_sm == 0) e->per_sm = 1;

    double blocks = (double)r->blocks, slots = p->sm_count * e->per_sm;
    e->bound.share = smaller(1, blocks / slots);
    const double busiest = busiest_share(p, r, slots);
    double *ns = e->bound.term_ns;
    ns[SIMGPU_TERM_LAUNCH] = launch_ns;
    ns[SIMGPU_TERM_BLOCKS] = blocks * p->block_start_ns;
    sm_terms(p, r, busiest, ns);
    memory_terms(p, r, busiest, ns);
    ns[SIMGPU_TERM_ATOMIC] = atomics_ns(p, r) + stores_turns_ns(p, r);
    ns[SIMGPU_TERM_LATENCY] = blocks > 0 ? latency_ns(p, r, slots) : 0;
    bool waits;
    ns[SIMGPU_TERM_LINK] = link_ns(p, r, slots, &waits);
    ns[SIMGPU_TERM_PAGES] = pages->ns;

    enum simgpu_term worst = SIMGPU_TERM_BLOCKS;
    for (enum simgpu_term t = SIMGPU_TERM_BLOCKS; t < SIMGPU_TERMS; t++)
        if (ns[t] > ns[worst]) worst = t;
    double work = larger(meeting_work_ns(p, r, slots, ns), ns[worst]);
    work = larger(work, tail_ns(p, r, slots, ns));
    work += begin_ns(p, r, slots) + code_ns(p, r, slots);
    if (blocks > 0) {
        const double block = serial_ns(p, r, r->deepest, 1, smaller(blocks, slots));
        /* In a graph the next kernel is on its way while the last blocks end, and begins when their stores are in L2,
         * for which it waits where all blocks end at once. (An H200, kernels that store a word a thread, one after
         * another in a graph: of one block each takes 0.65 us, of 64 blocks 0.85, of 1056 1.27.) */
        if (!in_graph)
            work = larger(work, ns[SIMGPU_TERM_BLOCKS] + block) + end_ns(p, r);
        else if (blocks <= p->sm_count)
            work = larger(work, block) + stores_ns(p, r);
    }
    e->duration_ns = ns[SIMGPU_TERM_LAUNCH] + work;
    /* What is shorter than an empty launch and its way is bound by them. */
    const double launching = ns[SIMGPU_TERM_LAUNCH] + (in_graph ? 0 : p->launch_way_ns);
    e->bound.term = work < launching ? SIMGPU_TERM_LAUNCH : worst;
    explain(p, r, smaller(blocks, slots), e);
    if (worst == SIMGPU_TERM_LINK) e->bound.by_loads = waits;
    if (worst == SIMGPU_TERM_LINK)
        e->bound.amount = (double)(r->link_read + r->link_written + r->peer_read + r->peer_written);
    if (worst == SIMGPU_TERM_PAGES) e->bound.amount = (double)(pages->bytes + pages->fresh_bytes);
}

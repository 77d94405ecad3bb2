/* model.c — how long a kernel takes, from what it did.
 *
 *   duration = launch + max(issue, lsu, l2 read, l2 write, dram, latency)
 *
 * A roofline with six roofs. Each roof is a resource with a measured rate; the time is that of the busiest. The rates
 * come from the profile and are never fitted to a kernel.
 *
 *   issue     issue slots              / (schedulers * SMs * clock)
 *   lsu       wavefronts               / (SMs * clock)          one a clock and SM, global and shared together
 *   l2 read   sectors that miss L1     / rate
 *   l2 write  sectors stored in part   / rate                   whole sectors are a matter of DRAM
 *   dram      unique bytes             / bandwidth              caches cold, each byte moved once
 *   latency   loads that a warp waits for, one after another * latency of the level that answers. The longest block
 *             takes that long at least; and all of them together as long as their sum, shared by the places for blocks
 *
 * The first two belong to an SM, so the busiest SM counts: it has ceil(blocks / SMs) of the blocks. */
#include "time.h"

#include <stdio.h>
#include <string.h>

const char *const time_term_names[TERMS] = {"launch", "issue", "lsu", "l2_read", "l2_write", "dram", "latency"};

enum { SECTOR = 32, WARP = 32 };

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

uint32_t time_occupancy(const time_profile *p, uint32_t threads, uint32_t registers, uint64_t shared_bytes) {
    uint32_t warps = (threads + WARP - 1) / WARP;
    if (warps == 0) return 0;
    uint32_t unit = (uint32_t)p->register_unit;
    uint32_t per_warp = (registers * WARP + unit - 1) / unit * unit;
    uint32_t resident = (uint32_t)p->warps_per_sm, quarters = (uint32_t)p->schedulers_per_sm;
    if (per_warp) {
        /* Warps live in four quarters of the SM, each with a quarter of the registers. */
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

/* The mean time of a load: which part of the sectors L1, L2 and DRAM answered. DRAM is slower the fuller the SMs are.
 */
static double load_latency(const time_profile *p, const exec_result *r, double fullness) {
    const exec_counters *c = &r->total;
    if (c->ld_sectors == 0) return 0;
    double missed = smaller(1, (double)c->l1_miss_sectors / (double)c->ld_sectors);
    double dram = c->l1_miss_sectors ? smaller(1, (double)r->footprint_read / (double)c->l1_miss_sectors) : 0;
    double dram_ns = p->latency_dram_idle_ns + fullness * (p->latency_dram_loaded_ns - p->latency_dram_idle_ns);
    double l1_ns = p->latency_l1_clk / p->clock_ghz, l2_ns = p->latency_l2_clk / p->clock_ghz;
    return (1 - missed) * l1_ns + missed * ((1 - dram) * l2_ns + dram * dram_ns);
}

static uint64_t lsu_wavefronts(const exec_counters *c) {
    return c->l1_wavefronts + c->shared_ld_wavefronts + c->shared_st_wavefronts + c->local_requests;
}
static uint64_t lsu_requests(const exec_counters *c) {
    return c->ld_requests + c->st_requests + c->atom_requests + c->shared_ld + c->shared_st + c->local_requests;
}

/* --- the sentence ------------------------------------------------------------------------------------------- */

static uint64_t weight(enum time_term bound, const exec_counters *c) {
    switch (bound) {
    case TERM_ISSUE: return c->issue_slots;
    case TERM_LSU: return lsu_wavefronts(c);
    case TERM_L2_WRITE: return c->st_partial;
    case TERM_L2_READ: return c->l1_miss_sectors;
    case TERM_LATENCY: return c->ld_requests;
    default: return c->ld_sectors + c->st_sectors;
    }
}

/* The line with most of the bound's work; NULL when the PTX had no line table. */
static const exec_line *heaviest(enum time_term bound, const exec_result *r) {
    const exec_line *best = NULL;
    for (uint32_t i = 0; i < r->nlines; i++)
        if (weight(bound, &r->lines[i].c) > (best ? weight(bound, &best->c) : 0)) best = &r->lines[i];
    return best;
}

static double ratio(uint64_t a, uint64_t b) { return b ? (double)a / (double)b : 0; }

static void explain(const exec_result *r, time_estimate *e) {
    const exec_line *l = heaviest(e->bound, r);
    const exec_counters *c = l ? &l->c : &r->total;
    char place[128] = "";
    if (l && l->file) {
        const char *slash = strrchr(l->file, '/');
        snprintf(place, sizeof place, " in %.100s:%u", slash ? slash + 1 : l->file, l->line);
    }
    double us = e->term_ns[e->bound] / 1000;
    double mb = (double)(r->footprint_read + r->footprint_written) * SECTOR / 1e6;
    switch (e->bound) {
    case TERM_ISSUE: snprintf(e->why, sizeof e->why, "issue: %.1f us of instructions, most%s", us, place); break;
    case TERM_LSU:
        snprintf(e->why, sizeof e->why, "LSU: %.1f wavefronts a request%s", ratio(lsu_wavefronts(c), lsu_requests(c)),
                 place);
        break;
    case TERM_L2_READ:
        snprintf(e->why, sizeof e->why, "L2 read: %.1f sectors a request miss L1%s",
                 ratio(c->l1_miss_sectors, c->ld_requests), place);
        break;
    case TERM_L2_WRITE:
        snprintf(e->why, sizeof e->why, "L2 write: %.1f sectors a store, each written in part%s",
                 ratio(c->st_partial, c->st_requests), place);
        break;
    case TERM_DRAM: snprintf(e->why, sizeof e->why, "DRAM: %.1f MB must move; only moving less is faster", mb); break;
    case TERM_LATENCY:
        snprintf(e->why, sizeof e->why,
                 "latency: a warp waits for %u load%s in a row%s, and warps fill %.0f %% of the GPU", r->critical_loads,
                 r->critical_loads == 1 ? "" : "s", place, e->share * 100);
        break;
    default:
        snprintf(e->why, sizeof e->why, "launch: a launch costs more than its work of %.2f us",
                 (e->duration_ns - e->term_ns[TERM_LAUNCH]) / 1000);
    }
}

/* --- the roofs ---------------------------------------------------------------------------------------------- */

void time_model(const time_profile *p, const exec_result *r, time_estimate *e) {
    const exec_counters *c = &r->total;
    memset(e, 0, sizeof *e);
    uint32_t threads = (uint32_t)r->threads_per_block;
    e->per_sm = time_occupancy(p, threads, r->registers, r->shared_bytes);
    if (e->per_sm == 0) e->per_sm = 1;

    double blocks = (double)r->blocks, slots = p->sm_count * e->per_sm;
    e->share = smaller(1, blocks / slots);
    double resident = smaller(blocks, slots) * ((threads + WARP - 1) / WARP);
    double fullness = smaller(1, resident / (p->sm_count * p->warps_per_sm));
    double most =
        (double)((r->blocks + (uint64_t)p->sm_count - 1) / (uint64_t)p->sm_count); /* blocks of the busiest SM */
    double busiest = blocks > 0 ? most / blocks : 0;                               /* its part of all work */
    double bytes = (double)(r->footprint_read + r->footprint_written) * SECTOR;

    e->term_ns[TERM_LAUNCH] = p->kernel_fixed_ns;
    e->term_ns[TERM_ISSUE] = (double)c->issue_slots * busiest / (p->schedulers_per_sm * p->clock_ghz);
    e->term_ns[TERM_LSU] = (double)lsu_wavefronts(c) * busiest / p->clock_ghz;
    e->term_ns[TERM_L2_READ] = (double)c->l1_miss_sectors / (p->l2_read_sectors_per_clk * p->clock_ghz);
    e->term_ns[TERM_L2_WRITE] = (double)c->st_partial / (p->l2_partial_sectors_per_clk * p->clock_ghz);
    e->term_ns[TERM_DRAM] = bytes / p->dram_gbs;
    double rounds = larger(r->critical_loads, (double)r->block_loads / slots);
    e->term_ns[TERM_LATENCY] = rounds * load_latency(p, r, fullness);

    enum time_term worst = TERM_ISSUE;
    for (enum time_term t = TERM_ISSUE; t < TERMS; t++)
        if (e->term_ns[t] > e->term_ns[worst]) worst = t;
    e->duration_ns = e->term_ns[TERM_LAUNCH] + e->term_ns[worst];
    e->bound = e->term_ns[worst] < e->term_ns[TERM_LAUNCH] ? TERM_LAUNCH : worst;
    explain(r, e);
}

/* price.c — what a command occupies on the device, and what it takes of the host and of the device beside its bytes.
 *
 * All follows from the command and the profile: the state of streams and engines is timeline.c's. How long a kernel
 * takes is model.c's. */
#include "price.h"

#include <math.h>

uint64_t time_bytes(const time_command *c) {
    return c->kind == TIME_COPY || c->kind == TIME_MEMSET ? c->is.copy.width * time_rows(&c->is.copy) : 0;
}

bool time_takes_room(const time_command *c) {
    return c->kind == TIME_LAUNCH || c->kind == TIME_COPY || c->kind == TIME_MEMSET;
}
bool time_on_bus(const time_command *c) {
    return (c->kind == TIME_COPY || c->kind == TIME_MIGRATE) &&
           (c->is.copy.direction == SIMGPU_H2D || c->is.copy.direction == SIMGPU_D2H);
}
bool time_on_sms(const time_command *c) {
    return c->kind == TIME_LAUNCH || c->kind == TIME_MEMSET ||
           (c->kind == TIME_COPY && c->is.copy.direction == SIMGPU_D2D && !(c->is.copy.peer_gbs > 0));
}

/* The SMs' load is counted exactly, in parts: each number of resident blocks from 1 to 32 divides an SM's parts. */
#define PARTS_OF_SM 144403552893600u

uint64_t time_all_parts(const time_profile *p) { return (uint64_t)p->sm_count * PARTS_OF_SM; }

double time_launch_ns(const time_command *c, const time_profile *p) {
    const exec_dim *grid = &c->is.launch.grid;
    double blocks = (double)grid->x * grid->y * grid->z,
           parent = c->is.launch.kernel->launches ? p->device_parent_ns : 0;
    if (c->parent) return p->device_kernel_ns; /* with or without launches of its own */
    if (!c->in_graph) return p->kernel_fixed_ns + parent;
    return parent + p->graph_kernel_ns + p->graph_full_ns * (blocks < p->sm_count ? blocks / p->sm_count : 1);
}

/* Returns whether a memset travels in the command: no kernel fills the memory. */
static bool small_memset(const time_command *c, const time_profile *p) {
    return c->kind == TIME_MEMSET && (double)time_bytes(c) <= p->memset_small_bytes;
}

double time_fixed_ns(const time_command *c, const time_profile *p) {
    if (c->parent) return p->device_kernel_ns;
    if (c->in_graph) return c->kind == TIME_MEMSET ? p->graph_memset_ns : p->graph_copy_ns;
    if (!small_memset(c, p)) return p->device_copy_ns;
    return p->memset_small_ns + (double)time_bytes(c) / p->memset_small_gbs;
}

/* Returns the parts of the SMs that a block of a launch occupies. */
static uint64_t block_parts(const exec_launch *l, const time_profile *p) {
    uint32_t per_sm = time_occupancy(p, l->block.x * l->block.y * l->block.z, l->kernel->registers,
                                     (uint64_t)l->kernel->static_shared + l->dynamic_shared);
    return PARTS_OF_SM / (per_sm ? per_sm : 1);
}
static uint64_t blocks_of(const exec_launch *l) { return (uint64_t)l->grid.x * l->grid.y * l->grid.z; }

uint64_t time_parts_of(const time_command *c, const time_profile *p) {
    if (c->kind != TIME_LAUNCH) return time_on_sms(c) ? time_all_parts(p) : 0;
    uint64_t blocks = blocks_of(&c->is.launch), part = block_parts(&c->is.launch, p);
    return blocks < time_all_parts(p) / part ? blocks * part : time_all_parts(p);
}

double time_waves_of(const exec_launch *l, const time_profile *p) {
    return (double)blocks_of(l) * (double)block_parts(l, p) / (double)time_all_parts(p);
}

double time_way_ns(const time_command *c, const time_profile *p) {
    return time_on_sms(c) && !small_memset(c, p) ? p->launch_way_ns : 0;
}

double time_call_ns(const time_command *c, const time_profile *p) {
    switch (c->kind) {
    case TIME_LAUNCH: return p->host_launch_ns;
    case TIME_COPY: return c->is.copy.direction == SIMGPU_D2D ? p->host_device_copy_ns : p->host_copy_ns;
    case TIME_MEMSET: return small_memset(c, p) ? p->host_memset_small_ns : p->host_memset_ns;
    case TIME_MIGRATE: return p->host_prefetch_ns;
    case TIME_EVENT: return p->host_event_ns;
    case TIME_WAIT_EVENT: return p->host_wait_event_ns;
    case TIME_HOST_CALL: return p->host_function_ns;
    default: return p->host_other_ns;
    }
}

/* Returns a rate between two, by the logarithm of the bytes between two sizes. */
static double between(double bytes, double from, double from_gbs, double to, double to_gbs) {
    if (bytes <= from) return from_gbs;
    if (bytes >= to) return to_gbs;
    double part = log2(bytes / from) / log2(to / from);
    return 1 / ((1 - part) / from_gbs + part / to_gbs);
}

/* Returns the rate at which the CPU copies pageable memory to or from the driver's buffer: one for a chunk, another for
 * many, and to the device a third for more than its cache has. */
static double pageable_gbs(double bytes, enum simgpu_direction direction, const time_profile *p) {
    double chunk = p->staging_bytes, many = 16 * chunk;
    if (direction == SIMGPU_D2H) return between(bytes, chunk, p->pageable_d2h_small_gbs, many, p->pageable_d2h_gbs);
    if (bytes <= many) return between(bytes, chunk, p->pageable_h2d_small_gbs, many, p->pageable_h2d_gbs);
    return between(bytes, p->pageable_cache_bytes, p->pageable_h2d_gbs, p->pageable_big_bytes, p->pageable_h2d_big_gbs);
}

/* The driver moves pageable memory through a page-locked buffer of its own, chunk by chunk: the CPU copies one chunk
 * while the engine moves another. So the copy takes the CPU's time and one chunk more on the bus. A call to the device
 * returns when the CPU has copied the last chunk; a call from the device waits for the end in any case. Small copies to
 * the device travel in the command itself. */
time_copy_plan time_plan_copy(const time_command *c, const time_profile *p) {
    time_copy_plan plan = {.fixed_ns = p->copy_fixed_ns, .cap_gbs = p->pinned_gbs};
    if (!time_on_bus(c)) return plan;
    const double bytes = (double)time_bytes(c);
    const bool small = bytes <= p->small_bytes, to_device = c->is.copy.direction == SIMGPU_H2D;
    if (c->kind == TIME_MIGRATE) {
        plan.fixed_ns = p->managed_prefetch_ns;
        plan.cap_gbs = to_device ? p->managed_prefetch_h2d_gbs : p->managed_prefetch_d2h_gbs;
        return plan;
    }
    if (!to_device) plan.fixed_ns += p->copy_d2h_ns;
    if (to_device && !small) plan.fixed_ns += p->copy_fetch_ns;
    if (!c->is.copy.pageable) return plan;
    if (c->in_graph) { /* the driver's thread moves it when its turn comes */
        plan.cap_gbs = to_device ? p->pageable_h2d_gbs : p->pageable_d2h_gbs;
        return plan;
    }
    plan.stages = true;
    if (to_device && bytes <= p->inline_bytes) {
        plan.fixed_ns = p->copy_fixed_ns;
        plan.cap_gbs = p->inline_dma_gbs;
        plan.staging_ns = small ? 0 : p->inline_ns + bytes / p->inline_gbs;
        return plan;
    }
    double chunk = bytes < p->staging_bytes ? bytes : p->staging_bytes;
    double cpu_gbs = pageable_gbs(bytes, c->is.copy.direction, p);
    plan.cap_gbs = bytes / (bytes / cpu_gbs + chunk / p->pinned_gbs);
    if (to_device)
        plan.staging_ns = bytes / cpu_gbs;
    else
        plan.fixed_ns += p->pageable_d2h_ns;
    return plan;
}

/* texture.c — texture and surface objects, and the instructions that use them: tex, tld4, txq, suld, sust.
 *
 * An object is a description of memory, of its format and of the way to read it. A program may destroy it as soon as it
 * has launched the last kernel that uses it, so an object ends for the launches behind that call only. A use of a
 * handle that is no object, or of memory that was freed, stops the kernel.
 *
 * Counting, as an H200 does it: the lanes of an instruction go in groups of four (reads with floating-point
 * coordinates, elements of 16 bytes) or eight (all others), each of them a request that touches the 32-byte sectors of
 * its texels. The memory of an array is laid out in tiles, so that neighbours in any direction share sectors: a sector
 * is 16 bytes of two rows, a tile 64 bytes of 8 rows. Here rows follow each other; only the counted addresses are those
 * of tiles. */
#include "count.h"
#include "filter.h"
#include "resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- objects ------------------------------------------------------------------------------------------------------ */

typedef struct exec_object {
    exec_texture texture;
    uint64_t ended; /* which of the device's ends was its own, from 1; 0: it lives */
} exec_object;

/* A handle is the card's own beginning and an index, so that another card's handle is none here. */
static const uint64_t SURFACE = 1ull << 60, OBJECTS = 1ull << 32; /* more than a card has */

uint64_t exec_texture_new(exec_device *d, const exec_texture *t) {
    static uint64_t beginnings;
    if (!d->first_object) d->first_object = ++beginnings * OBJECTS;
    if ((d->nobjects & (d->nobjects - 1)) == 0)
        d->objects = exec_must(realloc(d->objects, (d->nobjects ? 2 * d->nobjects : 1) * sizeof *d->objects));
    d->objects[d->nobjects] = (exec_object){.texture = *t};
    return d->first_object + d->nobjects++ + (t->surface ? SURFACE : 0);
}

static exec_object *object_of(const exec_device *d, uint64_t handle) {
    bool surface = handle >= SURFACE;
    uint64_t k = handle - d->first_object - (surface ? SURFACE : 0);
    return d->first_object && k < d->nobjects && d->objects[k].texture.surface == surface ? &d->objects[k] : NULL;
}

/* Texture references: the handle of one is the address of its variable, and what it is bound to is an object. A launch
 * reads by the bindings of the time when it was submitted, so all of them are kept, in order. */
typedef struct exec_binding {
    uint64_t reference, handle, since; /* since: a number in the order of ends; handle 0: bound to nothing */
} exec_binding;

void exec_texture_bind(exec_device *d, uint64_t reference, uint64_t handle) {
    if ((d->nbindings & (d->nbindings - 1)) == 0)
        d->bindings = exec_must(realloc(d->bindings, (d->nbindings ? 2 * d->nbindings : 1) * sizeof *d->bindings));
    d->bindings[d->nbindings++] = (exec_binding){reference, handle, ++d->ended};
}

uint64_t exec_texture_bound(const exec_device *d, uint64_t reference, uint64_t ended) {
    for (uint64_t k = d->nbindings; k-- > 0;)
        if (d->bindings[k].reference == reference && d->bindings[k].since <= ended) return d->bindings[k].handle;
    return 0;
}

const exec_texture *exec_texture_find(const exec_device *d, uint64_t handle) {
    const exec_object *o = object_of(d, handle);
    return o && !o->ended ? &o->texture : NULL;
}

void exec_texture_end(exec_device *d, uint64_t handle) { object_of(d, handle)->ended = ++d->ended; }
void exec_texture_clear(exec_device *d) {
    free(d->objects);
    free(d->bindings);
    d->objects = NULL;
    d->bindings = NULL;
    d->nobjects = d->first_object = d->nbindings = 0;
}

uint64_t exec_textures_ended(const exec_device *d) { return d->ended; }

/* Returns the object that the lanes of w->mask use; those that use another are left for the next turn: *rest has the
 * lanes that remain. Returns NULL after a fault. */
static const exec_texture *object_for(warp *w, const ptx_insn *i, uint32_t *rest, uint32_t *lanes) {
    const uint64_t *handles = ROW(w, uint64_t, i->a);
    const exec_device *d = w->block->worker->device;
    uint32_t first = (uint32_t)__builtin_ctz(*rest);
    uint64_t handle = handles[first];
    *lanes = 0;
    for (uint32_t m = *rest; m; m &= m - 1)
        if (handles[__builtin_ctz(m)] == handle) *lanes |= m & -m;
    *rest &= ~*lanes;
    const exec_object *o = object_of(d, handle);
    if (!o) o = object_of(d, exec_texture_bound(d, handle, w->block->launch->ended));
    bool surface = i->op == OP_suld || i->op == OP_sust || (i->op == OP_txq && i->boolean);
    enum simgpu_fault_cause cause = !o ? SIMGPU_CAUSE_NO_OBJECT : SIMGPU_CAUSE_OBJECT_ENDED;
    if (o && surface != o->texture.surface) cause = SIMGPU_CAUSE_OBJECT_KIND;
    bool lives = o && (!o->ended || o->ended > w->block->launch->ended);
    if (lives && surface == o->texture.surface) {
        if (exec_mem_valid(d, o->texture.address, o->texture.bytes)) return &o->texture;
        cause = SIMGPU_CAUSE_OBJECT_MEMORY;
    }
    exec_fault *f = exec_fail(w, i, SIMGPU_FAULT_ILLEGAL_ADDRESS, cause, first);
    f->did = i->op == OP_sust ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    f->n[0] = handle;
    f->n[1] = surface;
    if (cause == SIMGPU_CAUSE_OBJECT_MEMORY) f->address = exec_mem_locate(d, o->texture.address);
    return NULL;
}

/* --- counting ----------------------------------------------------------------------------------------------------- */

/* The sectors of one request by line: of at most eight lanes with eight texels of two sectors each, or four lanes with
 * sixteen. */
typedef struct {
    uint32_t n, sectors[128];
    uint64_t line[128];
} sector_list;

/* Returns the address that the card would use for byte x of a row of a level. */
static uint64_t card_address(const exec_texture *t, const exec_level *l, uint64_t x, uint64_t y, uint64_t plane) {
    uint64_t first = t->address + l->offset + plane * l->slice;
    if (!t->tiled || l->rows == 1) return first + y * l->pitch + x;
    uint64_t tile = y / 8 * 8 * l->pitch + x / 64 * 512;
    uint64_t inside = x % 64 / 32 * 256 + y % 8 / 2 * 64 + x % 32 / 16 * 32 + y % 2 * 16 + x % 16;
    return first + tile + inside;
}

static void add_sectors(sector_list *s, uint64_t address, uint32_t bytes) {
    for (uint64_t at = address, end = at + bytes; at < end; at = (at / 32 + 1) * 32) {
        uint64_t line = at / 128;
        uint32_t k = s->n;
        while (k && s->line[k - 1] != line) k--;
        if (!k) {
            s->line[s->n] = line, s->sectors[s->n] = 0;
            k = ++s->n;
        }
        s->sectors[k - 1] |= 1u << (at / 32 & 3);
    }
}

/* Returns the number of lanes that make a request together. */
static uint32_t lanes_together(const ptx_insn *i, uint32_t bytes) {
    bool filters = i->op == OP_tld4 || (i->op == OP_tex && i->from == TY_f32);
    return filters || bytes > 8 ? 4 : 8;
}

/* Counts one request. The texture units of an SM serve one in a clock; a filter over two planes or
 * levels takes twice as long. */
static void count_request(warp *w, const ptx_insn *i, const exec_texture *t, const sector_list *s) {
    worker *k = w->block->worker;
    exec_counters *c = counters_of(w, i);
    int32_t round = (int32_t)ptx_depth_rounds(w->depth) - i->later_rounds;
    bool waits = false, write = i->op == OP_sust, planes = i->op == OP_tex && i->texel->geometry == GEOMETRY_3d;
    c->tex_requests++;
    c->tex_wavefronts += (t->linear && planes ? 2 : 1) * (t->levels && t->between ? 2 : 1);
    for (uint32_t n = 0; n < s->n; n++) {
        c->tex_sectors += (uint32_t)__builtin_popcount(s->sectors[n]);
        if (write) {
            uint32_t bytes[4]; /* a store to part of a sector counts as one to all of it */
            for (uint32_t q = 0; q < 4; q++) bytes[q] = s->sectors[n] >> q & 1 ? ~0u : 0;
            exec_footprint_line_written(k, s->line[n], bytes);
            continue;
        }
        uint32_t missing = exec_l1_load(&k->l1, w, s->line[n], s->sectors[n], round, &waits);
        c->l1_miss_sectors += (uint32_t)__builtin_popcount(missing);
        c->l1_miss_lines += missing != 0;
        if (!missing) continue;
        exec_resident_missed(w, c, s->line[n], missing);
        exec_footprint_read(k, s->line[n], missing, NULL, round, false);
    }
    if (waits && round > w->missed_last) w->missed_last = round, w->missed++;
}

/* --- tex, tld4, txq ----------------------------------------------------------------------------------------------- */

static filter_place place_of(warp *w, const ptx_insn *i, uint32_t lane) {
    filter_place p = {.geometry = i->texel->geometry, .whole = i->from != TY_f32};
    if (i->texel->layer) p.layer = ROW(w, uint32_t, i->texel->layer)[lane];
    for (int k = 0; k < 3; k++) {
        if (!i->texel->at[k]) continue;
        p.at[k] = ROW(w, float, i->texel->at[k])[lane];
        p.texel[k] = ROW(w, int32_t, i->texel->at[k])[lane];
        for (int xy = 0; xy < 2; xy++)
            if (i->texel->gradient[xy][k]) p.gradient[xy][k] = ROW(w, float, i->texel->gradient[xy][k])[lane];
    }
    if (i->texel->gradient[0][0]) p.how = FILTER_GRADIENT;
    if (i->texel->level) p.how = FILTER_LEVEL, p.level = ROW(w, float, i->texel->level)[lane];
    return p;
}

static void read_lane(warp *w, const ptx_insn *i, const exec_texture *t, uint32_t lane, sector_list *sectors) {
    const uint8_t *texels = exec_mem_host(w->block->worker->device, t->address);
    filter_place p = place_of(w, i, lane);
    filter_reads reads;
    reads.n = reads.level = 0;
    uint32_t out[4];
    if (i->op == OP_tld4)
        exec_filter_gather(t, texels, &p, i->texel->channel, out, &reads);
    else
        exec_filter_read(t, texels, &p, out, &reads);
    for (uint32_t k = 0; k < 4; k++) ROW(w, uint32_t, i->v[k])[lane] = out[k];
    uint32_t bytes = t->channels * (t->bits / 8u);
    for (uint32_t k = 0; k < reads.n; k++) {
        const struct filter_texel *at = &reads.at[k];
        const exec_level first = {0, t->pitch, t->slice, t->width, t->rows, t->planes};
        const exec_level *level = t->levels ? &t->level[at->level] : &first;
        add_sectors(sectors, card_address(t, level, (uint64_t)at->x * bytes, at->y, at->plane), bytes);
    }
}

/* Runs an instruction for its lanes, by object and by request. */
static void each_lane(warp *w, const ptx_insn *i, uint32_t bytes,
                      void (*run)(warp *, const ptx_insn *, const exec_texture *, uint32_t, sector_list *)) {
    uint32_t rest = w->mask, lanes;
    while (rest && !w->block->failed) {
        const exec_texture *t = object_for(w, i, &rest, &lanes);
        if (!t) return;
        uint32_t together = lanes_together(i, bytes ? bytes : t->channels * (t->bits / 8u));
        for (uint32_t first = 0; first < 32; first += together) {
            sector_list sectors;
            sectors.n = 0;
            uint32_t m = lanes & ((1u << together) - 1) << first;
            if (!m) continue;
            for (; m && !w->block->failed; m &= m - 1) run(w, i, t, (uint32_t)__builtin_ctz(m), &sectors);
            count_request(w, i, t, &sectors);
        }
    }
}

void exec_op_tex(warp *w, const ptx_insn *i) { each_lane(w, i, 0, read_lane); }
void exec_op_tld4(warp *w, const ptx_insn *i) { each_lane(w, i, 0, read_lane); }

/* Returns what txq and suq tell; the numbers of types and orders are those of OpenCL, as the PTX ISA has them. */
static uint32_t answer(const exec_texture *t, enum ptx_query query) {
    enum { CHANNEL_R = 0x10B0, CHANNEL_RG = 0x10B2, CHANNEL_RGBA = 0x10B5 };
    enum { SNORM_8 = 0x10D0, UNORM_8 = 0x10D2, SIGNED_8 = 0x10D7, UNSIGNED_8 = 0x10DA, HALF = 0x10DD, FLOAT = 0x10DE };
    uint32_t step = t->bits == 8 ? 0 : t->bits == 16 ? 1 : 2;
    switch (query) {
    case QUERY_width: return t->width;
    case QUERY_height: return t->rows;
    case QUERY_depth: return t->planes;
    case QUERY_channel_order: return t->channels == 1 ? CHANNEL_R : t->channels == 2 ? CHANNEL_RG : CHANNEL_RGBA;
    case QUERY_channel_data_type:
        if (t->kind == EXEC_FLOAT) return t->bits == 16 ? HALF : FLOAT;
        if (t->unit) return (t->kind == EXEC_SIGNED ? SNORM_8 : UNORM_8) + step;
        return (t->kind == EXEC_SIGNED ? SIGNED_8 : UNSIGNED_8) + step;
    case QUERY_normalized_coords: return t->normalized;
    case QUERY_array_size: return t->layers;
    case QUERY_num_mipmap_levels: return t->levels ? t->levels : 1;
    default: return 1; /* samples */
    }
}

void exec_op_txq(warp *w, const ptx_insn *i) {
    uint32_t rest = w->mask, lanes;
    while (rest && !w->block->failed) {
        const exec_texture *t = object_for(w, i, &rest, &lanes);
        for (uint32_t m = t ? lanes : 0; m; m &= m - 1)
            ROW(w, uint32_t, i->d)[__builtin_ctz(m)] = answer(t, (enum ptx_query)i->sub);
    }
}

/* --- suld, sust --------------------------------------------------------------------------------------------------- */

/* Sets *offset to the place of a lane's access, `size` bytes from the byte coordinate x on, and *counted to its address
 * on the card. Returns false if there is
 * none: the access is outside of the surface, and the boundary mode is not to clamp. */
static bool surface_offset(warp *w, const ptx_insn *i, const exec_texture *t, uint32_t lane, uint32_t size,
                           uint64_t *offset, uint64_t *counted) {
    const ptx_texel *p = i->texel;
    int64_t n[3] = {(int64_t)t->width * t->channels * t->bits / 8 / size, t->rows, t->planes}, at[3] = {0};
    for (int k = 0; k < 3; k++)
        if (p->at[k]) at[k] = ROW(w, int32_t, p->at[k])[lane];
    if (p->layer) at[2] = ROW(w, int32_t, p->layer)[lane];
    int64_t x = at[0];
    bool clamps = p->boundary == BOUNDARY_clamp && n[0] > 0; /* a row may be shorter than the access */
    at[0] = x >= 0 ? x / size : (x - (int64_t)size + 1) / (int64_t)size;
    bool outside = false;
    for (int k = 0; k < 3; k++) {
        outside |= at[k] < 0 || at[k] >= n[k];
        if (clamps) at[k] = at[k] < 0 ? 0 : at[k] >= n[k] ? n[k] - 1 : at[k];
    }
    bool inside_whole = x % (int64_t)size == 0;
    if (!inside_whole || (outside && p->boundary == BOUNDARY_trap)) {
        exec_fault *f = exec_fail(w, i, inside_whole ? SIMGPU_FAULT_ILLEGAL_ADDRESS : SIMGPU_FAULT_MISALIGNED,
                                  inside_whole ? SIMGPU_CAUSE_OUTSIDE_SURFACE : SIMGPU_CAUSE_SURFACE_BYTE, lane);
        f->did = i->op == OP_sust ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
        f->bytes = size;
        f->n[0] = (uint64_t)x, f->n[1] = (uint64_t)at[1], f->n[2] = (uint64_t)at[2];
        snprintf(f->name, sizeof f->name, "%llu x %llu x %llu", (unsigned long long)n[0] * size,
                 (unsigned long long)n[1], (unsigned long long)n[2]);
        return false;
    }
    const exec_level all = {0, t->pitch, t->slice, t->width, t->rows, t->planes};
    *counted = card_address(t, &all, (uint64_t)at[0] * size, (uint64_t)at[1], (uint64_t)at[2]);
    *offset = (uint64_t)at[2] * t->slice + (uint64_t)at[1] * t->pitch + (uint64_t)at[0] * size;
    return !outside || clamps;
}

static void move_lane(warp *w, const ptx_insn *i, uint32_t lane, uint8_t *p) {
    uint32_t bytes = ptx_type_bytes[i->type];
    for (uint32_t k = 0; k < i->vector; k++) {
        uint64_t v = 0;
        if (i->op == OP_sust) {
            v = i->d_wide ? ROW(w, uint64_t, i->v[k])[lane] : ROW(w, uint32_t, i->v[k])[lane];
            memcpy(p + k * bytes, &v, bytes);
            continue;
        }
        if (p) memcpy(&v, p + k * bytes, bytes);
        if (i->d_wide)
            ROW(w, uint64_t, i->v[k])[lane] = v;
        else
            ROW(w, uint32_t, i->v[k])[lane] = (uint32_t)v;
    }
}

static void surface_lane(warp *w, const ptx_insn *i, const exec_texture *t, uint32_t lane, sector_list *sectors) {
    uint32_t size = (uint32_t)ptx_type_bytes[i->type] * i->vector;
    uint64_t offset = 0, counted = 0;
    bool there = surface_offset(w, i, t, lane, size, &offset, &counted);
    if (there) add_sectors(sectors, counted, size);
    if (there || i->op == OP_suld)
        move_lane(w, i, lane, there ? exec_mem_host(w->block->worker->device, t->address) + offset : NULL);
}

void exec_op_suld(warp *w, const ptx_insn *i) {
    each_lane(w, i, (uint32_t)ptx_type_bytes[i->type] * i->vector, surface_lane);
}
void exec_op_sust(warp *w, const ptx_insn *i) {
    each_lane(w, i, (uint32_t)ptx_type_bytes[i->type] * i->vector, surface_lane);
    w->block->worker->stores++;
}

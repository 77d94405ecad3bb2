/* decode_texture.c — decoders of texture and surface instructions: tex, tld4, txq, suld, sust, suq (PTX ISA, 9.7.10 and
 * 9.7.11). The object is a 64-bit handle in a register, as cudaCreateTextureObject returns it.
 *
 * decode.c has the parts that all decoders share. */
#include "decoder.h"

#include <string.h>

static const char GEOMETRIES[] = ".1d .2d .3d .a1d .a2d .cube .acube";

/* The number of coordinates, without the layer. */
static const uint8_t dimensions[] = {[GEOMETRY_1d] = 1,  [GEOMETRY_2d] = 2,   [GEOMETRY_3d] = 3,   [GEOMETRY_a1d] = 1,
                                     [GEOMETRY_a2d] = 2, [GEOMETRY_cube] = 3, [GEOMETRY_acube] = 3};

/* Sets *x's handle and texel from [object, coordinates], of which those behind the geometry's own are not used. */
static void texel(decoder *d, ptx_insn *x, const operand *o, enum ptx_type type) {
    int geometry = ptx_dec_choose(d, GEOMETRIES);
    if (geometry < 0) ptx_dec_unsupported(d, "this geometry of a texture is not supported");
    if (o->kind == OPERAND_SYMBOL || o->kind == OPERAND_LABEL)
        ptx_dec_unsupported(d, "texture and surface references are not supported; CUDA 12 dropped them: use "
                               "cudaCreateTextureObject and pass the object to the kernel");
    const operand *list = o->coordinates;
    uint32_t n = list ? 1 : 0;
    if (list && list->kind == OPERAND_VECTOR) n = list->nitems, list = list->items;
    bool layered = geometry == GEOMETRY_a1d || geometry == GEOMETRY_a2d || geometry == GEOMETRY_acube;
    if (!o->is_address || !list) ptx_dec_unsupported(d, "[object, coordinates] is missing");
    if (n < dimensions[geometry] + layered) ptx_dec_unsupported(d, "the coordinates are fewer than the geometry needs");
    operand handle = *o;
    handle.value = 0;
    x->a = ptx_dec_source(d, &handle, TY_u64, false, NULL);
    x->texel = ptx_alloc(sizeof *x->texel);
    x->texel->geometry = (enum ptx_geometry)geometry;
    if (layered) x->texel->layer = ptx_dec_source(d, list++, TY_u32, false, NULL);
    for (uint32_t k = 0; k < dimensions[geometry]; k++)
        x->texel->at[k] = ptx_dec_source(d, &list[k], type, false, NULL);
}

/* Sets the rows of the values: results, or what is stored. */
static void values(decoder *d, ptx_insn *x, const operand *o, enum ptx_type type, bool result) {
    uint32_t n = o->kind == OPERAND_VECTOR ? o->nitems : 1;
    if (n != x->vector || n > 4) ptx_dec_unsupported(d, "the vector has another length than the instruction says");
    for (uint32_t k = 0; k < n; k++) {
        const operand *item = o->kind == OPERAND_VECTOR ? &o->items[k] : o;
        x->v[k] = result ? ptx_dec_dest(d, item, type, false, NULL) : ptx_dec_source(d, item, type, false, NULL);
    }
    x->d_wide = ptx_dec_is_wide(type);
}

static ptx_insn *emit(decoder *d, enum ptx_op op, const ptx_insn *x) {
    ptx_insn *i = ptx_dec_emit(d, op);
    memcpy(i->v, x->v, sizeof x->v);
    i->a = x->a, i->texel = x->texel, i->d_wide = x->d_wide;
    i->space = SPACE_GLOBAL;
    i->read_only = op != OP_sust;
    return i;
}

/* Sets the rows of a gradient, a number for each coordinate; of three in a vector of four. */
static void gradient(decoder *d, ptx_insn *x, const operand *o, int xy) {
    uint32_t n = dimensions[x->texel->geometry], items = o->kind == OPERAND_VECTOR ? o->nitems : 1;
    if (items < n) ptx_dec_unsupported(d, "the gradient has fewer parts than the geometry needs");
    for (uint32_t k = 0; k < n && k < items; k++)
        x->texel->gradient[xy][k] =
            ptx_dec_source(d, o->kind == OPERAND_VECTOR ? &o->items[k] : o, TY_f32, false, NULL);
}

/* Decodes tex{.level|.grad}.geom.v4.dtype.ctype d, [a, c] {, level | , dx, dy}, and tld4.comp.2d.v4.dtype.f32 d, [a,
 * c]. */
void ptx_dec_tex(decoder *d) {
    bool gather = d->s->name[1] == 'l';
    ptx_dec_read_modifiers(d, gather ? ".r .g .b .a .2d" : ".1d .2d .3d .a1d .a2d .cube .acube .base .level .grad");
    ptx_dec_need(d, 2, ptx_dec_has(d, ".grad") ? 4 : ptx_dec_has(d, ".level") ? 3 : 2);
    if (d->ntypes != 2 || d->flags.vector != 4) ptx_dec_unsupported(d, "this form of a texture read is not supported");
    enum ptx_type to = d->types[0], from = d->types[1];
    bool whole = from == TY_s32 || from == TY_u32;
    if ((to != TY_f32 && to != TY_s32 && to != TY_u32) || (from != TY_f32 && (!whole || gather)))
        ptx_dec_unsupported(d, "these types of a texture read are not supported");
    ptx_insn x = d->flags;
    values(d, &x, &d->s->operands[0], to, true);
    texel(d, &x, &d->s->operands[1], from);
    bool level = ptx_dec_has(d, ".level"), grad = ptx_dec_has(d, ".grad");
    if (whole && (level || grad))
        ptx_dec_unsupported(d, "a level or gradients with whole coordinates are not supported");
    if (level) x.texel->level = ptx_dec_source(d, &d->s->operands[2], TY_f32, false, NULL);
    for (int k = 0; grad && k < 2; k++) gradient(d, &x, &d->s->operands[2 + k], k);
    if (gather) x.texel->channel = (uint32_t)ptx_dec_choose(d, ".r .g .b .a");
    if (gather && x.texel->channel > 3) ptx_dec_unsupported(d, "the channel is missing");
    emit(d, gather ? OP_tld4 : OP_tex, &x)->from = (uint8_t)from;
}

/* Decodes txq.query.b32 d, [a] and suq.query.b32 d, [a]. */
void ptx_dec_txq(decoder *d) {
    const char *queries = ".width .height .depth .channel_data_type .channel_order .normalized_coords .array_size "
                          ".num_mipmap_levels .num_samples";
    ptx_dec_read_modifiers(d, queries);
    ptx_dec_need(d, 2, 2);
    const operand *o = d->s->operands;
    int query = ptx_dec_choose(d, queries);
    if (query < 0 || o[1].kind != OPERAND_REGISTER) ptx_dec_unsupported(d, "this query is not supported");
    uint32_t to = ptx_dec_dest(d, &o[0], TY_b32, false, NULL);
    ptx_insn x = d->flags;
    x.a = ptx_dec_source(d, &o[1], TY_u64, false, NULL);
    ptx_insn *i = emit(d, OP_txq, &x);
    i->d = to;
    i->sub = (uint8_t)query;
    i->boolean = d->s->name[0] == 's';
}

/* Decodes suld.b.geom.vec.type.boundary d, [a, c] and sust.b.geom.vec.type.boundary [a, c], v; the first coordinate
 * counts bytes. */
void ptx_dec_surface(decoder *d) {
    bool load = d->s->name[2] == 'l';
    const char *boundaries = ".trap .clamp .zero";
    ptx_dec_read_modifiers(d, ".b .1d .2d .3d .a1d .a2d .trap .clamp .zero");
    ptx_dec_need(d, 2, 2);
    if (!ptx_dec_has(d, ".b") || !d->ntypes) ptx_dec_unsupported(d, "formatted surface accesses are not supported");
    const operand *value = &d->s->operands[load ? 0 : 1], *where = &d->s->operands[load ? 1 : 0];
    int boundary = ptx_dec_choose(d, boundaries);
    ptx_insn x = d->flags;
    enum ptx_type t = d->types[0];
    values(d, &x, value, t == TY_b8 ? TY_b16 : t, load);
    texel(d, &x, where, TY_s32);
    x.texel->boundary = boundary < 0 ? BOUNDARY_trap : (enum ptx_boundary)boundary;
    emit(d, load ? OP_suld : OP_sust, &x);
}

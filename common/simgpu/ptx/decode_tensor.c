/* decode_tensor.c — decoders of the tensor cores' instructions (PTX ISA 9.7.14): mma.sync, wmma.load, wmma.store,
 * wmma.mma, ldmatrix, movmatrix. decode.c has the parts that all decoders share.
 *
 * wmma.load and wmma.store become what ptxas makes of them: for each register an address, and a load or store.
 */
#include "decoder.h"

#include <stdio.h>
#include <string.h>

const char *const ptx_element_names[NELEMENTS] = {".f16", ".bf16", ".tf32", ".f32", ".f64", ".s8",
                                                  ".u8",  ".s4",   ".u4",   ".b1",  ".s32"};
const uint8_t ptx_element_bits[NELEMENTS] = {16, 16, 32, 32, 64, 8, 8, 4, 4, 1, 32};

/* --- where the elements are --------------------------------------------------------------------------------- */

uint32_t ptx_matrix_elements(const ptx_tensor *t, enum ptx_matrix x) {
    uint32_t bits = ptx_element_bits[t->element[x]];
    return t->pieces[x] * (bits == 64 ? 1 : 32 / bits);
}

/* The lanes are eight groups of four. Of C, a lane holds neighbours in a row of its group; of A and B, neighbours along
 * k. `outer` is the row of A and the column of B. mma: PTX ISA 9.7.14.5; wmma: as an H200 has them. */
static void place_of_product(const ptx_tensor *t, uint32_t lane, uint32_t i, uint32_t *row, uint32_t *column) {
    uint32_t group = lane >> 2, two = (lane & 3) * 2 + (i & 1), rest = i >> 1;
    if (t->wmma && t->n == 32) { /* as the transposed matrix of 32 x 8 */
        *row = two;
        *column = group + 8 * rest;
        return;
    }
    *row = group + 8 * (t->m > 16 ? rest : rest & 1);
    *column = two + (t->m > 16 ? 0 : 8 * (rest >> 1));
    if (t->m == 8) *row = group, *column = two;
}

static void place_of_factor(const ptx_tensor *t, enum ptx_matrix x, uint32_t lane, uint32_t i, uint32_t *outer,
                            uint32_t *k) {
    uint32_t bits = ptx_element_bits[t->element[x]], in_register = bits == 64 ? 1 : 32 / bits;
    uint32_t group = lane >> 2, extent = x == MATRIX_a ? t->m : t->n, piece = i / in_register;
    uint32_t first = (lane & 3) * in_register + i % in_register, step = 4 * in_register;
    uint32_t steps = t->k / step, tiles = extent / 8; /* registers along k, and along m or n */
    piece %= steps * tiles;                           /* wmma holds some halves twice */
    uint32_t along, tile;
    if (x == MATRIX_b && extent <= 16) /* B of 8 or 16 columns: k first */
        along = piece % steps, tile = piece / steps;
    else /* two tiles, then k, then the other two */
        tile = (piece & (tiles > 1 ? 1 : 0)), along = piece / (tiles > 1 ? 2 : 1) % steps,
        tile += tiles > 1 ? piece / (2 * steps) * 2 : 0;
    *outer = group + 8 * tile;
    *k = first + along * step;
}

void ptx_matrix_place(const ptx_tensor *t, enum ptx_matrix x, uint32_t lane, uint32_t i, uint32_t *row,
                      uint32_t *column) {
    if (x == MATRIX_c || x == MATRIX_d)
        place_of_product(t, lane, i, row, column);
    else if (x == MATRIX_a)
        place_of_factor(t, x, lane, i, row, column);
    else
        place_of_factor(t, x, lane, i, column, row);
}

/* --- modifiers ---------------------------------------------------------------------------------------------- */

static const char *const shape_text = "the tensor cores have no such shape for these types";

/* Reads a tensor instruction's modifiers: its shape, its types in order and its flags. Returns the number of types. */
static uint32_t read_tensor(decoder *d, ptx_tensor *t, enum ptx_element *types) {
    uint32_t n = 0, m_, n_, k_;
    int end;
    d->flags = (ptx_insn){.vector = 1};
    for (uint32_t i = 0; i < d->s->nmodifiers; i++) {
        const char *m = d->s->modifiers[i];
        bool known = strcmp(m, ".sync") == 0 || strcmp(m, ".aligned") == 0 || strcmp(m, ".row") == 0 ||
                     strcmp(m, ".col") == 0 || strcmp(m, ".mma") == 0 || strcmp(m, ".load") == 0 ||
                     strcmp(m, ".store") == 0 || strcmp(m, ".a") == 0 || strcmp(m, ".b") == 0 || strcmp(m, ".c") == 0 ||
                     strcmp(m, ".d") == 0 || strcmp(m, ".popc") == 0 || strcmp(m, ".rn") == 0 || strcmp(m, ".and") == 0;
        if (strcmp(m, ".xor") == 0)
            t->exclusive = known = true;
        else if (strcmp(m, ".satfinite") == 0)
            t->saturate = known = true;
        else if (strcmp(m, ".global") == 0 || strcmp(m, ".shared") == 0 || strcmp(m, ".shared::cta") == 0)
            d->flags.space = m[1] == 'g' ? SPACE_GLOBAL : SPACE_SHARED, known = true;
        else if (sscanf(m, ".m%un%uk%u%n", &m_, &n_, &k_, &end) == 3 && !m[end] && m_ <= 32 && n_ <= 32 && k_ <= 256)
            t->m = (uint16_t)m_, t->n = (uint16_t)n_, t->k = (uint16_t)k_, known = true;
        for (int e = 0; e < NELEMENTS && !known; e++)
            if (strcmp(m, ptx_element_names[e]) == 0 && n < 4) types[n++] = (enum ptx_element)e, known = true;
        if (!known) ptx_dec_unsupported(d, ptx_format("modifier %s is not supported", m));
    }
    return n;
}

static bool is_integer(enum ptx_element e) { return e >= EL_s8 && e <= EL_b1; }

/* Returns the number of registers of a lane for a matrix. */
static uint32_t pieces_of(const ptx_tensor *t, enum ptx_matrix x) {
    uint32_t elements = x == MATRIX_a ? t->m * t->k : x == MATRIX_b ? t->k * t->n : t->m * t->n;
    uint32_t bits = ptx_element_bits[t->element[x]];
    if (t->wmma && t->element[x] == EL_f16 && x <= MATRIX_b) return 8; /* for all shapes, as on sm_70 */
    return elements / 32 * bits / (bits == 64 ? 64 : 32);
}

/* The shapes of mma.sync: m, n and the values of k. */
static bool mma_has_shape(const ptx_tensor *t) {
    static const struct {
        uint8_t m;
        uint16_t k[3];
    } shapes[NELEMENTS][2] = {[EL_f16] = {{16, {8, 16}}},
                              [EL_bf16] = {{16, {8, 16}}},
                              [EL_tf32] = {{16, {4, 8}}},
                              [EL_f64] = {{8, {4}}, {16, {4, 8, 16}}},
                              [EL_s8] = {{8, {16}}, {16, {16, 32}}},
                              [EL_u8] = {{8, {16}}, {16, {16, 32}}},
                              [EL_s4] = {{8, {32}}, {16, {32, 64}}},
                              [EL_u4] = {{8, {32}}, {16, {32, 64}}},
                              [EL_b1] = {{8, {128}}, {16, {128, 256}}}};
    for (int s = 0; s < 2; s++)
        for (int k = 0; k < 3; k++)
            if (t->n == 8 && t->m == shapes[t->element[0]][s].m && t->k && t->k == shapes[t->element[0]][s].k[k])
                return true;
    return false;
}

static bool wmma_has_shape(const ptx_tensor *t) {
    enum ptx_element e = t->element[0];
    if (e == EL_tf32) return t->m == 16 && t->n == 16 && t->k == 8;
    if (e == EL_f64) return t->m == 8 && t->n == 8 && t->k == 4;
    if (e == EL_s4 || e == EL_u4) return t->m == 8 && t->n == 8 && t->k == 32;
    if (e == EL_b1) return t->m == 8 && t->n == 8 && t->k == 128;
    bool large = (t->m == 16 && t->n == 16) || (t->m == 32 && t->n == 8) || (t->m == 8 && t->n == 32);
    return large && t->k == 16 && (e == EL_f16 || e == EL_bf16 || e == EL_s8 || e == EL_u8);
}

/* Returns whether the types fit together. */
static bool types_fit(const ptx_tensor *t) {
    enum ptx_element a = t->element[MATRIX_a], b = t->element[MATRIX_b], c = t->element[MATRIX_c],
                     d = t->element[MATRIX_d];
    bool halves = (c == EL_f16 || c == EL_f32) && (d == EL_f16 || d == EL_f32);
    if (is_integer(a)) return is_integer(b) && ptx_element_bits[a] == ptx_element_bits[b] && c == EL_s32 && d == EL_s32;
    if (a != b) return false;
    if (a == EL_f16) return halves;
    if (a == EL_f64) return c == EL_f64 && d == EL_f64;
    return (a == EL_bf16 || a == EL_tf32) && c == EL_f32 && d == EL_f32;
}

static enum ptx_type register_type(enum ptx_element e) { return e == EL_f64 ? TY_b64 : TY_b32; }

static void matrix_rows(decoder *d, ptx_tensor *t, enum ptx_matrix x, const operand *o) {
    uint32_t n = o->kind == OPERAND_VECTOR ? o->nitems : 1;
    enum ptx_type type = register_type(t->element[x]);
    t->pieces[x] = pieces_of(t, x);
    if (n != t->pieces[x]) ptx_dec_unsupported(d, "a matrix with another number of registers than its shape has");
    for (uint32_t k = 0; k < n; k++) {
        const operand *item = o->kind == OPERAND_VECTOR ? &o->items[k] : o;
        t->row[x][k] =
            x == MATRIX_d ? ptx_dec_dest(d, item, type, false, NULL) : ptx_dec_source(d, item, type, false, NULL);
    }
}

/* Fills in t->place. */
static void list_places(ptx_tensor *t) {
    for (int x = MATRIX_a; x <= MATRIX_c; x++) {
        uint32_t n = ptx_matrix_elements(t, (enum ptx_matrix)x), columns = x == MATRIX_a ? t->k : t->n;
        t->place[x] = ptx_alloc(32 * n * sizeof *t->place[x]);
        for (uint32_t at = 0; at < 32 * n; at++) {
            uint32_t row, column;
            ptx_matrix_place(t, (enum ptx_matrix)x, at % 32, at / 32, &row, &column);
            t->place[x][at] = (uint16_t)(row * columns + column);
        }
    }
}

/* Decodes mma.sync d, a, b, c and wmma.mma.sync d, a, b, c. */
static void multiply(decoder *d, bool wmma) {
    ptx_tensor *t = ptx_alloc(sizeof *t);
    enum ptx_element types[4] = {0};
    uint32_t n = read_tensor(d, t, types);
    t->wmma = wmma;
    if (n == 2 && wmma) types[3] = types[1], types[1] = types[2] = EL_f16, n = 4; /* .dtype.ctype of halves */
    if (n != 4) ptx_dec_unsupported(d, "the types of four matrices are needed");
    t->element[MATRIX_d] = types[0], t->element[MATRIX_a] = types[1], t->element[MATRIX_b] = types[2],
    t->element[MATRIX_c] = types[3];
    if (!types_fit(t) || !(wmma ? wmma_has_shape(t) : mma_has_shape(t))) ptx_dec_unsupported(d, shape_text);
    if (!wmma && !(ptx_dec_has(d, ".row") && ptx_dec_has(d, ".col"))) ptx_dec_unsupported(d, "mma takes .row.col");
    ptx_dec_need(d, 4, 4);
    matrix_rows(d, t, MATRIX_d, &d->s->operands[0]);
    matrix_rows(d, t, MATRIX_a, &d->s->operands[1]);
    matrix_rows(d, t, MATRIX_b, &d->s->operands[2]);
    matrix_rows(d, t, MATRIX_c, &d->s->operands[3]);
    list_places(t);
    ptx_dec_emit(d, OP_mma)->tensor = t;
}

void ptx_dec_mma(decoder *d) { multiply(d, false); }

/* --- fragments in memory ------------------------------------------------------------------------------------ */

/* What wmma.load and wmma.store share: the matrix, where it is, and hidden registers for addresses and halves. */
typedef struct {
    ptx_tensor *t;
    ptx_insn at;            /* of the address: base row, its width, offset, stride row */
    bool adjacent;          /* the elements of a register lie side by side in memory */
    const ptx_insn *access; /* flags of each load or store */
} fragment;

/* Emits the address of element i of each lane. */
static uint32_t address_of(decoder *d, const fragment *f, uint32_t i) {
    ptx_insn *x = ptx_dec_emit(d, OP_fragment_address);
    x->tensor = f->t;
    x->a = f->at.a, x->a_wide = f->at.a_wide, x->imm = f->at.imm, x->b = f->at.b;
    x->later_rounds = 0;
    x->c = ptx_dec_constant(d, i, false);
    return x->d = d->hidden[0]->row;
}

static void emit_access(decoder *d, const fragment *f, bool load, enum ptx_type type, uint32_t i, uint32_t row) {
    uint32_t a = address_of(d, f, i);
    ptx_insn *x = ptx_dec_emit(d, load ? OP_ld : OP_st);
    x->type = (uint8_t)type;
    x->transposed = load && i == 0 && !f->adjacent;
    x->a = a, x->a_wide = true;
    x->v[0] = row, x->d_wide = ptx_dec_is_wide(type);
}

/* Loads or stores one register of a fragment, whose first element is i. */
static void access_register(decoder *d, const fragment *f, bool load, uint32_t i, uint32_t row) {
    uint32_t bits = ptx_element_bits[f->t->element[f->t->matrix]], n = bits >= 32 ? 1 : 32 / bits;
    if (n == 1 || f->adjacent) return emit_access(d, f, load, bits == 64 ? TY_b64 : TY_b32, i, row);
    for (uint32_t k = 0; k < n && load; k++)
        emit_access(d, f, true, bits == 16 ? TY_b16 : TY_u8, i + k, d->hidden[1 + k]->row);
    if (load) {
        ptx_insn *x = ptx_dec_emit(d, OP_mov_pack);
        x->transposed = true;
        for (uint32_t k = 0; k < n; k++) x->v[k] = d->hidden[1 + k]->row;
        x->vector = (uint8_t)n, x->type = TY_b32, x->from = bits == 16 ? TY_b16 : TY_b8, x->d = row;
        return;
    }
    ptx_insn *x = ptx_dec_emit(d, OP_mov_pack);
    for (uint32_t k = 0; k < n; k++) x->v[k] = d->hidden[1 + k]->row;
    x->vector = (uint8_t)n, x->type = TY_b32, x->from = bits == 16 ? TY_b16 : TY_b8, x->sub = 1, x->a = row;
    for (uint32_t k = 0; k < n; k++) emit_access(d, f, false, TY_b16, i + k, d->hidden[1 + k]->row);
}

/* Decodes wmma.load.x.sync.layout.shape.type r, [p], stride and wmma.store.d.sync.layout.shape.type [p], r, stride. */
static void wmma_memory(decoder *d, bool load) {
    fragment f = {.t = ptx_alloc(sizeof *f.t)};
    enum ptx_element type[4] = {0};
    if (read_tensor(d, f.t, type) != 1) ptx_dec_unsupported(d, "a fragment without its type");
    int which = ptx_dec_choose(d, ".a .b .c .d");
    ptx_dec_need(d, 2, 3);
    f.t->wmma = true;
    f.t->matrix = (enum ptx_matrix)(which < 0 ? MATRIX_d : which);
    f.t->column_major = ptx_dec_has(d, ".col");
    bool factor = f.t->matrix <= MATRIX_b;
    for (int x = 0; x < 4; x++) f.t->element[x] = type[0];
    if (!factor)
        f.t->element[0] = f.t->k == 8         ? EL_tf32
                          : type[0] == EL_s32 ? (f.t->k == 32    ? EL_s4
                                                 : f.t->k == 128 ? EL_b1
                                                                 : EL_s8)
                          : type[0] == EL_f32 ? EL_f16
                                              : type[0];
    if (!wmma_has_shape(f.t) || which < 0) ptx_dec_unsupported(d, shape_text);
    if (ptx_element_bits[type[0]] < 8 && f.t->column_major != (f.t->matrix == MATRIX_b))
        ptx_dec_unsupported(d, shape_text);
    const operand *o = d->s->operands, *registers = &o[load ? 0 : 1];
    ptx_tensor rows = *f.t;
    enum ptx_matrix as = load ? MATRIX_d : MATRIX_c; /* written or read */
    rows.pieces[f.t->matrix] = pieces_of(&rows, f.t->matrix);
    f.t->pieces[f.t->matrix] = rows.pieces[f.t->matrix];
    uint32_t n = rows.pieces[f.t->matrix],
             in_register = ptx_element_bits[type[0]] >= 32 ? 1 : 32 / ptx_element_bits[type[0]];
    if (registers->kind != OPERAND_VECTOR ? n != 1 : registers->nitems != n)
        ptx_dec_unsupported(d, "a matrix with another number of registers than its shape has");
    ptx_dec_address(d, &f.at, &o[load ? 1 : 0]);
    f.at.b = d->s->noperands > 2 ? ptx_dec_source(d, &o[2], TY_u32, false, NULL)
                                 : ptx_dec_constant(d,
                                                    f.t->column_major ? (f.t->matrix == MATRIX_b ? f.t->k : f.t->m)
                                                    : f.t->matrix == MATRIX_a ? f.t->k
                                                                              : f.t->n,
                                                    false);
    /* Neighbours are along k in A and B, along a row in C; but along a column in C of m8n32k16. */
    bool along_column = f.t->matrix == MATRIX_b || (!factor && f.t->n == 32);
    f.adjacent = f.t->column_major == along_column;
    uint32_t distinct =
        factor ? (f.t->matrix == MATRIX_a ? f.t->m : f.t->n) * f.t->k * ptx_element_bits[type[0]] / 1024 : n;
    if (!distinct) distinct = 1;
    for (uint32_t k = 0; k < n; k++) {
        const operand *item = registers->kind == OPERAND_VECTOR ? &registers->items[k] : registers;
        rows.row[as][k] = load ? ptx_dec_dest(d, item, register_type(type[0]), false, NULL)
                               : ptx_dec_source(d, item, register_type(type[0]), false, NULL);
        if (load && k >= distinct && rows.row[as][k % distinct]) { /* held twice */
            ptx_insn *x = ptx_dec_emit(d, OP_mov_b32);
            x->d = rows.row[as][k], x->a = rows.row[as][k % distinct];
        } else {
            access_register(d, &f, load, k * in_register, rows.row[as][k]);
        }
    }
}

void ptx_dec_wmma(decoder *d) {
    if (ptx_dec_has(d, ".mma")) return multiply(d, true);
    if (!ptx_dec_has(d, ".load") && !ptx_dec_has(d, ".store"))
        ptx_dec_unsupported(d, "this instruction is not supported");
    wmma_memory(d, ptx_dec_has(d, ".load"));
}

/* Decodes ldmatrix.sync.aligned.m8n8.num{.trans}.shared.b16 r, [p]. */
void ptx_dec_ldmatrix(decoder *d) {
    const char *own = ".sync .aligned .m8n8 .x1 .x2 .x4 .trans";
    ptx_dec_read_modifiers(d, own);
    ptx_dec_need(d, 2, 2);
    uint32_t n = ptx_dec_has(d, ".x4") ? 4 : ptx_dec_has(d, ".x2") ? 2 : 1;
    const operand *o = d->s->operands;
    if (!ptx_dec_has(d, ".m8n8") || d->types[0] != TY_b16) ptx_dec_unsupported(d, shape_text);
    if (d->flags.space != SPACE_SHARED && d->flags.space != SPACE_GENERIC)
        ptx_dec_unsupported(d, "ldmatrix reads shared memory");
    if ((o[0].kind == OPERAND_VECTOR ? o[0].nitems : 1) != n)
        ptx_dec_unsupported(d, "a matrix with another number of registers than its shape has");
    ptx_insn x = {0};
    for (uint32_t k = 0; k < n; k++)
        x.v[k] = ptx_dec_dest(d, o[0].kind == OPERAND_VECTOR ? &o[0].items[k] : &o[0], TY_b32, false, NULL);
    ptx_dec_address(d, &x, &o[1]);
    ptx_insn *i = ptx_dec_emit(d, OP_ldmatrix);
    memcpy(i->v, x.v, sizeof x.v);
    i->a = x.a, i->a_wide = x.a_wide, i->imm = x.imm;
    i->type = TY_b32;
    i->vector = (uint8_t)n;
    i->sub = ptx_dec_has(d, ".trans");
}

/* Decodes movmatrix.sync.aligned.m8n8.trans.b16 d, a. */
void ptx_dec_movmatrix(decoder *d) {
    ptx_dec_read_modifiers(d, ".sync .aligned .m8n8 .trans");
    ptx_dec_need(d, 2, 2);
    uint32_t to = ptx_dec_dest(d, &d->s->operands[0], TY_b32, false, NULL),
             a = ptx_dec_source(d, &d->s->operands[1], TY_b32, false, NULL);
    ptx_insn *i = ptx_dec_emit(d, OP_movmatrix);
    i->d = to, i->a = a;
}

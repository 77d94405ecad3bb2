/* halves.h — part of lanes.h: the arithmetic of half and bfloat16. Operands become numbers of fp32 beside the frame,
 * the handler of an fp32 row computes, and the result is rounded. So there are a few loops here, and not one in each
 * row of each of the four types, which took a third of the time in which lanes.h is compiled. A pair (f16x2, bf16x2) is
 * done half by half.
 */

/* What fp32 does not hold well enough, rounded to odd. */
LANE3(half_fused, "", f32, f32, f32, f32, f32, FMA, half_fused(a, b, c))
LANE3(bf16_fused, "", f32, f32, f32, f32, f32, FMA, bf16_fused(a, b, c))
LANE2(bf16_product, "", f32, f32, f32, f32, FMA, bf16_product(a, b))

static bool is_f16(const ptx_insn *i) { return i->type == TY_f16 || i->type == TY_f16x2; }
static bool is_pair(const ptx_insn *i) { return i->type == TY_f16x2 || i->type == TY_bf16x2; }

/* keep: the bits of each number that count. flush: subnormal numbers become zero. */
static __attribute__((noinline)) void read_f16(float *to, const uint32_t *from, uint32_t shift, uint32_t keep,
                                               bool flush) {
    EACH to[l] = half_value(half_flush(from[l] >> shift & keep, flush));
}
static __attribute__((noinline)) void read_bf16(float *to, const uint32_t *from, uint32_t shift, uint32_t keep) {
    EACH to[l] = bf16_value(from[l] >> shift & keep);
}
static __attribute__((noinline)) void write_f16(uint32_t *to, const float *from, uint32_t shift, bool flush) {
    uint32_t other = shift ? 0xffff : 0;
    EACH to[l] = (to[l] & other) | half_flush(half_of(from[l]), flush) << shift;
}
static __attribute__((noinline)) void write_bf16(uint32_t *to, const float *from, uint32_t shift) {
    uint32_t other = shift ? 0xffff : 0;
    EACH to[l] = (to[l] & other) | bf16_of(from[l]) << shift;
}
/* The same for what the special function unit has computed. */
static __attribute__((noinline)) void write_f16_cut(uint32_t *to, const float *from, uint32_t shift, bool flush) {
    uint32_t other = shift ? 0xffff : 0;
    EACH to[l] = (to[l] & other) | half_flush(half_cut(from[l]), flush) << shift;
}
static __attribute__((noinline)) void write_bf16_cut(uint32_t *to, const float *from, uint32_t shift) {
    uint32_t other = shift ? 0xffff : 0;
    EACH to[l] = (to[l] & other) | bf16_cut(from[l]) << shift;
}
static __attribute__((noinline)) void flush_all(float *d) { EACH d[l] = lane_flush_f32(d[l]); }
static __attribute__((noinline)) void clamp_all(float *d, const ptx_insn *i) { EACH d[l] = half_clamp(d[l], i); }

/* .xorsign: the result, a number of an absolute value, gets the product's sign. */
static __attribute__((noinline)) void sign_f16(uint32_t *d, const uint32_t *a, const uint32_t *b, uint32_t shift) {
    EACH {
        uint32_t sign = (a[l] ^ b[l]) & (uint32_t)HALF_SIGN << shift;
        d[l] |= (d[l] >> shift & 0x7fff) != HALF_NAN ? sign : 0;
    }
}

static const uint32_t *word_row(const warp *w, uint32_t row) { return ROW(w, uint32_t, row); }
static void read_half(float *to, const warp *w, const ptx_insn *i, uint32_t row, uint32_t shift) {
    uint32_t keep = i->xorsign ? 0x7fff : 0xffff;
    is_f16(i) ? read_f16(to, word_row(w, row), shift, keep, i->ftz) : read_bf16(to, word_row(w, row), shift, keep);
}

static __attribute__((noinline)) void halves(warp *w, const ptx_insn *i, exec_handler *half, exec_handler *brain) {
    apart_rows rows;
    uint32_t *d = (uint32_t *)w->result, sources = ptx_ops[i->op].sources;
    for (uint32_t shift = 0; shift <= (is_pair(i) ? 16 : 0); shift += 16) {
        read_half(rows.a.f, w, i, i->a, shift);
        if (sources > 1) read_half(rows.b.f, w, i, i->b, shift);
        if (sources > 2) read_half(rows.c.f, w, i, i->c, shift);
        apart(w, is_f16(i) ? half : brain, &rows);
        if (i->sat || i->relu) clamp_all(rows.d.f, i);
        is_f16(i) ? write_f16(d, rows.d.f, shift, i->ftz) : write_bf16(d, rows.d.f, shift);
        if (i->xorsign) sign_f16(d, word_row(w, i->a), word_row(w, i->b), shift);
    }
    row_of_result(w, i->d, false);
}

/* The special function unit flushes subnormal fp32 numbers of ex2, so of bfloat16 too. */
static __attribute__((noinline)) void halves_sfu(warp *w, const ptx_insn *i, exec_handler *row, bool flushes) {
    apart_rows rows;
    uint32_t *d = (uint32_t *)w->result;
    for (uint32_t shift = 0; shift <= (is_pair(i) ? 16 : 0); shift += 16) {
        read_half(rows.a.f, w, i, i->a, shift);
        if (flushes && !is_f16(i)) flush_all(rows.a.f);
        apart(w, row, &rows);
        if (flushes && !is_f16(i)) flush_all(rows.d.f);
        is_f16(i) ? write_f16_cut(d, rows.d.f, shift, i->ftz) : write_bf16_cut(d, rows.d.f, shift);
    }
    row_of_result(w, i->d, false);
}

/* neg and abs act on the bits, but a NaN becomes 0x7fff (as on an H200). */
static __attribute__((noinline)) void halves_bits(warp *w, const ptx_insn *i, uint32_t keep, uint32_t flip) {
    const uint32_t *a = word_row(w, i->a);
    uint32_t *d = (uint32_t *)w->result, infinity = is_f16(i) ? HALF_INFINITY : 0x7f80;
    bool flush = is_f16(i) && i->ftz;
    for (uint32_t shift = 0; shift <= (is_pair(i) ? 16 : 0); shift += 16) {
        uint32_t other = shift ? 0xffff : 0;
        EACH {
            uint32_t x = a[l] >> shift & 0xffff;
            uint32_t r = (x & 0x7fff) > infinity ? HALF_NAN : (half_flush(x, flush) & keep) ^ flip;
            d[l] = (d[l] & other) | r << shift;
        }
    }
    row_of_result(w, i->d, false);
}

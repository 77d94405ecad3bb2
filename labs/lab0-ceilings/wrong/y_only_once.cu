// expect: bytes: saxpy_work .*: 512 bytes: something was left out
// y is read and written, and here it moves once.
#include "lab0.h"

/* --- bytes and operations ------------------------------------------------------------------------- */

extern "C" struct work copy_work(long n) { return {8.0 * n, 0}; }

extern "C" struct work saxpy_work(long n) { return {8.0 * n, 2.0 * n}; }

extern "C" struct work one_flop_work(void) { return {12, 1}; }

extern "C" struct work matmul_work(long n) { return {12.0 * n * n, 2.0 * n * n * n}; }

extern "C" struct work scores_work(long n, long d) { return {4.0 * (2.0 * n * d + 1.0 * n * n), 2.0 * n * n * d}; }

extern "C" double intensity(struct work w) { return w.flops / w.bytes; }

/* --- ceilings --------------------------------------------------------------------------------------- */

static double larger(double a, double b) { return a > b ? a : b; }

extern "C" double least_us(struct work w, struct ceilings c) {
    return larger(c.overhead_us, larger(w.bytes / c.bytes_per_us, w.flops / c.flops_per_us));
}

extern "C" enum bound bound_of(struct work w, struct ceilings c) {
    double memory = w.bytes / c.bytes_per_us, arithmetic = w.flops / c.flops_per_us;
    if (c.overhead_us >= larger(memory, arithmetic)) return OVERHEAD;
    return memory > arithmetic ? MEMORY : ARITHMETIC;
}

/* Eight bits a byte; two transfers a clock. MHz are clocks a microsecond. */
extern "C" double sheet_bytes_per_us(struct sheet s) { return s.bus_bits / 8.0 * 2 * s.mem_clock_mhz; }

extern "C" double sheet_flops_per_us(struct sheet s) { return 2.0 * s.sms * s.lanes * s.clock_mhz; }

/* --- predictions ------------------------------------------------------------------------------------ */

extern "C" double predict_us(enum trial what, double n, struct sheet s) {
    const double call = 8, link = 55e3, of_sheet = 0.9; /* us; bytes a us; what a memory really gives */
    switch (what) {
    case ONE_FLOP: return call;
    case SEND: return call + n / link;
    case COPY: return call + copy_work((long)n).bytes / (of_sheet * sheet_bytes_per_us(s));
    case FMA: return call + n / sheet_flops_per_us(s);
    }
    return 0;
}

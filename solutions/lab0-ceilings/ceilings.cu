/* ceilings.cu — lab 0's reference solution.
 *
 * Least traffic is every input once and every result once; an array read *and* written (y of SAXPY) counts twice. Time
 * is the largest of three: bytes over bandwidth, operations over arithmetic, and the fixed cost of asking. The
 * predictions add a little wisdom to the sheet: a memory gives nine tenths of its sheet's rate, a link seven
 * eighths, and a launch with a wait takes some 8 us.
 */
#include "lab0.h"

/* --- bytes and operations ------------------------------------------------------------------------- */

extern "C" struct work copy_work(long n) { return {8.0 * n, 0}; }

extern "C" struct work saxpy_work(long n) { return {12.0 * n, 2.0 * n}; }

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
    const double call = 8, of_link = 0.88, of_sheet = 0.9; /* us; the real shares of a link and a memory */
    switch (what) {
    case ONE_FLOP: return call;
    case SEND: return call + n / (of_link * s.link_gbs * 1e3);
    case COPY: return call + copy_work((long)n).bytes / (of_sheet * sheet_bytes_per_us(s));
    case FMA: return call + n / sheet_flops_per_us(s);
    }
    return 0;
}

/* ceilings.cu — lab 0: what is this machine able to do? The file you edit.
 *
 * The functions below count the bytes that must move and the operations that must be done, for five pieces of work;
 * they choose the ceiling of the machine that limits each; and they predict four times before these are measured.
 *
 * They were written with a CPU in mind, in a hurry. They count operations and forget bytes, ignore the small print of
 * the data sheet, and guess every time. The file compiles, and nearly every line is wrong.
 *
 * Measure nothing; use a pencil first. `make lab0` then shows the machine's ceilings, where your work lies under them,
 * and how far each prediction was from the measured time. lab0.h says what each function must return.
 */
#include "lab0.h"

/* --- bytes and operations ------------------------------------------------------------------------- */

extern "C" struct work copy_work(long n) { return {4.0 * n, 0}; }

extern "C" struct work saxpy_work(long n) { return {8.0 * n, 1.0 * n}; }

extern "C" struct work one_flop_work(void) { return {4, 1}; }

extern "C" struct work matmul_work(long n) { return {12.0 * n * n, 1.0 * n * n * n}; }

extern "C" struct work scores_work(long n, long d) { return {8.0 * n * d, 1.0 * n * n * d}; }

extern "C" double intensity(struct work w) { return w.bytes / w.flops; }

/* --- ceilings --------------------------------------------------------------------------------------- */

extern "C" double least_us(struct work w, struct ceilings c) { return w.flops / c.flops_per_us; }

extern "C" enum bound bound_of(struct work w, struct ceilings c) {
    return w.flops / c.flops_per_us > c.overhead_us ? ARITHMETIC : OVERHEAD;
}

extern "C" double sheet_bytes_per_us(struct sheet s) { return s.bus_bits * s.mem_clock_mhz; }

extern "C" double sheet_flops_per_us(struct sheet s) { return s.sms * s.clock_mhz; }

/* --- predictions ------------------------------------------------------------------------------------ */

extern "C" double predict_us(enum trial what, double n, struct sheet s) {
    switch (what) {
    case ONE_FLOP: return 0.001;      /* a nanosecond, as on a CPU */
    case SEND: return n / 1e3;        /* 1 GB/s, like a disk */
    case COPY: return n / 1e3;        /* a float a nanosecond, as on a CPU */
    case FMA: return n / s.clock_mhz; /* one a clock */
    }
    return 0;
}

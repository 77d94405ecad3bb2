/* lab0.h — what ceilings.cu must offer. The harness calls these and nothing else of yours.
 *
 * Every function is pure: the same arguments give the same answer, and nothing else in the world decides it. The
 * harness calls each of them several times, in two orders, before it has measured anything.
 *
 * All data are floats of 4 bytes. Times are microseconds (us), so rates are per microsecond: 1 GB/s is 1000 bytes a us,
 * 1 TFLOP/s is a million operations a us.
 */
#ifndef LAB0_H
#define LAB0_H

#ifdef __cplusplus
extern "C" {
#endif

/* What a piece of work must do at the very least. */
struct work {
    double bytes; /* between the GPU and its memory, if each input is read once and each result is written once */
    double flops; /* additions and multiplications; a multiply-add is two */
};

struct work copy_work(long n);           /* b[i] = a[i], for n floats */
struct work saxpy_work(long n);          /* y[i] = alpha * x[i] + y[i], for n floats; alpha costs nothing */
struct work one_flop_work(void);         /* c = a + b: one float each */
struct work matmul_work(long n);         /* C = A * B, all n x n, by the definition */
struct work scores_work(long n, long d); /* S = Q * K^T, as in attention: Q and K are n x d, S is n x n */

/* Operations for each byte. */
double intensity(struct work w);

/* What a machine can do at most. */
struct ceilings {
    double bytes_per_us; /* its memory */
    double flops_per_us; /* its arithmetic */
    double overhead_us;  /* to start a kernel and to see that it is over: no work takes less */
};

/* The time that each of the three ceilings alone would force on the work: the largest decides. */
double least_us(struct work w, struct ceilings c);
enum bound { OVERHEAD, MEMORY, ARITHMETIC };
enum bound bound_of(struct work w, struct ceilings c); /* which of the three it is */

/* A card's data sheet, as the driver reports it. */
struct sheet {
    int sms;              /* streaming multiprocessors */
    int lanes;            /* fp32 units in each; each starts one multiply-add a clock */
    double clock_mhz;     /* of the SMs */
    int bus_bits;         /* wires to the memory; each carries one bit at a time */
    double mem_clock_mhz; /* of the memory, which sends on both edges of its clock */
    double link_gbs;      /* of the link to the host, one way, by its kind (PCIe 5 x16: 63); 0 where nobody says */
};

double sheet_bytes_per_us(struct sheet s);
double sheet_flops_per_us(struct sheet s);

/* Four things that the harness will time, from the host's call to the moment the host knows that it is over. */
enum trial {
    ONE_FLOP, /* a kernel that adds two numbers on the card (n is 1) */
    SEND,     /* n bytes from page-locked host memory to the card */
    COPY,     /* a kernel that copies n floats from one array on the card to another */
    FMA       /* a kernel that does n operations in registers, all of them multiply-adds */
};

double predict_us(enum trial what, double n, struct sheet s);

#ifdef __cplusplus
}
#endif
#endif

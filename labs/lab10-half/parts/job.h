/* job.h — one call of dense or of relu_backward, from fresh data to a checked result.
 *
 * Each call has fresh data and a poisoned result. What is right is computed in double precision after the call has
 * returned and the device is idle, so no memory ever holds a right result that student code could copy.
 *
 * The data of dense is of two kinds. TAME sums stay within about 10, so even sums of halves come close. LONG ones add
 * thousands of numbers of one sign, beside which a single one is smaller than a half's last digit. Of relu_backward's
 * y, a third is 0, some is -0 or below 0, and where it is 0 some of dy is infinite or no number.
 */
#ifndef LAB10_JOB_H
#define LAB10_JOB_H

#include "half.h"
#include "lab.h"
#include "messages.h"

enum job_data { JOB_TAME, JOB_LONG };

typedef struct {
    int m, n, k; /* of dense; relu_backward: m elements, n and k 0 */
    enum job_data data;
} job_shape;

/* What is wrong with a result. */
enum mistake {
    NO_MISTAKE,
    NOTHING_WRITTEN,
    LAST_ROWS, /* dense: the last rows, or columns, or elements, were not written */
    LAST_COLUMNS,
    UNWRITTEN, /* other elements were not written */
    STALE,     /* right for the data of the call before */
    NOT_A_NUMBER,
    NO_RELU,
    NO_BIAS,
    BIAS_LAST, /* added behind relu */
    BIAS_BY_ROW,
    BIAS_OFTEN,       /* added more than once */
    TRANSPOSED,       /* w read as n x k */
    TILES_TURNED,     /* each tile of 8 x 8 or 16 x 16 of w */
    NO_LAST_K,        /* the last products of each sum are missing */
    OTHER_PLACE,      /* the right value of another element */
    PASSES_ZERO,      /* relu_backward: y >= 0, or y != 0 */
    PASSES_PLUS_ZERO, /* y >= 0 by its bits: 0 and not -0 */
    PASSES_ALL,
    PASSES_Y,        /* y instead of dy */
    MASK_MULTIPLIED, /* relu_backward gives an infinity or a NaN */
    NOT_PASSED,      /* relu_backward is wrong in another way */
    WRONG,
    INPUT_CHANGED,
    OUT_OF_BOUNDS /* memory beside the result was written; gpu lane */
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL for the others, which are only timed */
    job_shape shape;
    struct lab10_message message;
    uint64_t seed, before; /* of the last run's data; of the run before it, 0: none */
    void *d_x, *d_w, *d_bias, *d_y, *d_dy, *d_dz;
    uint16_t *x, *w, *bias; /* of dense, as sent */
    uint16_t *y, *dy;       /* of relu_backward, as sent: use job_y, job_dy */
    uint16_t *host;         /* the result, after a run */
    double begin, end;      /* of the last run, on this lane's clock */
    double worst;           /* dense: the largest error, in roundings of a half */
    int worst_row, worst_col;
    enum mistake mistake;
    char failure[384]; /* the first wrong element, in words; "": none */
    lab_work work;     /* what the timing helper plays */
} job;

job *job_new(lab_program *program, const char *counted, const job_shape *shape);
void job_free(job *j);
void job_prepare(void *job); /* before a run: fresh data, poison */
bool job_is_right(job *j);   /* looks at the result of a call: for the bench, whose runs nobody verifies */
bool job_is_dense(const job *j);
size_t job_results(const job *j);                  /* elements of the result */
void job_say(const job *j, char *to, size_t size); /* "64x96x32", "1000 halves" */

uint32_t job_bits(uint64_t seed, size_t place); /* 32 random bits for an element, the same for the same seed */
/* The data of an element, by its seed: halves. */
uint16_t job_x(const job *j, uint64_t seed, size_t place);
uint16_t job_w(const job *j, uint64_t seed, size_t place);
uint16_t job_bias(uint64_t seed, int column);
void job_fill(job *j, uint64_t seed);       /* x, w and bias of dense, on the host */
uint16_t job_y(const job *j, size_t place); /* of relu_backward, of the last run */
uint16_t job_dy(const job *j, size_t place);

/* The right sum of element (r, c) without bias, over products a < k; and the sum of the products' sizes. */
double job_sum(const job *j, int r, int c, int k, double *size);
bool job_near(const job *j, double got, double want);

/* explain.c: fills in the mistake and its words. first: the place of the first wrong element; poison: those never
 * written. */
void job_explain(job *j, size_t first, size_t wrong, size_t poison);

#endif

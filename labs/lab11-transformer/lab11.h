/* lab11.h — what transformer.cu must offer: the training of a small transformer on a text.
 *
 * The network reads `context` characters (N) and guesses, behind each of them, the next one. Names: V = symbols,
 * D = width, S = D / heads. All matrices lie row after row.
 *
 *     x0 = embedding[character] + position        N x D, a row a character
 *     h1 = normal(x0) * gain1                     normal: each row minus its mean, divided by sqrt(variance + 1e-5)
 *     q, k, v = h1 * qkv                          N x 3D: q are the first D columns, then k, then v;
 *                                                 head a owns the columns a*S .. a*S + S-1 of each
 *     o = softmax(q * k^T / sqrt(S)) * v          head by head; row i sees the rows 0 .. i only
 *     x1 = x0 + o * mix
 *     h2 = normal(x1) * gain2
 *     x2 = x1 + gelu(h2 * up) * down              gelu(u) = u/2 * (1 + tanh(0.7978845608 * (u + 0.044715 * u^3)))
 *     h3 = normal(x2) * gain3
 *     loss = mean over the rows of -log softmax(h3 * out)[next character]
 *
 * A step reads the text from lab11_start on, computes the loss and its gradient, and changes each weight:
 *
 *     velocity = 0.9 * velocity + gradient        0 before the first step
 *     weight   = weight - rate * velocity
 */
#ifndef LAB11_H
#define LAB11_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAB11_GRACE = 8,    /* after a loss that is not a number, at most so many further steps may be computed */
    LAB11_SYMBOLS = 128 /* V is at most this; D is at most 256, and S is 16 or 32 */
};

struct lab11_job {
    int symbols, context, width, heads; /* V, N, D, and the number of heads */
    int steps;
    float rate;
    const unsigned char *text; /* ordinary memory of the host: characters from 0 to V - 1 */
    int length;                /* of the text, more than N */
};

/* The weights in the order in which they lie in one array, with their shapes. */
enum lab11_tensor {
    LAB11_EMBEDDING, /* V x D */
    LAB11_POSITION,  /* N x D */
    LAB11_GAIN1,     /* D */
    LAB11_QKV,       /* D x 3D */
    LAB11_MIX,       /* D x D */
    LAB11_GAIN2,     /* D */
    LAB11_UP,        /* D x 4D */
    LAB11_DOWN,      /* 4D x D */
    LAB11_GAIN3,     /* D */
    LAB11_OUT,       /* D x V */
    LAB11_TENSORS
};

/* Returns the number of rows, or columns, of a tensor; a gain is one row. */
static inline int lab11_rows(const struct lab11_job *j, int tensor) {
    const int rows[LAB11_TENSORS] = {j->symbols, j->context,   1, j->width, j->width, 1,
                                     j->width,   4 * j->width, 1, j->width};
    return rows[tensor];
}
static inline int lab11_cols(const struct lab11_job *j, int tensor) {
    if (tensor == LAB11_QKV) return 3 * j->width;
    if (tensor == LAB11_UP) return 4 * j->width;
    return tensor == LAB11_OUT ? j->symbols : j->width;
}

/* Returns where a tensor begins in the array of all weights, in floats; of LAB11_TENSORS, how many there are. */
static inline size_t lab11_offset(const struct lab11_job *j, int tensor) {
    size_t at = 0;
    for (int t = 0; t < tensor; t++) at += (size_t)lab11_rows(j, t) * (size_t)lab11_cols(j, t);
    return at;
}

/* Returns the first character that a step reads. Behind it stand N characters more; each is the next one of the one
 * before it. */
static inline int lab11_start(const struct lab11_job *j, int step) {
    return (int)((long)step * j->context % (j->length - j->context));
}

/* Yours. Takes job->steps steps. `weights` is device memory with all weights, and holds the new ones when it returns;
 * losses[k], ordinary memory of the host, then is the loss of step k. If a loss is not a number, it stops within
 * LAB11_GRACE steps and returns the first such step; that step's loss is reported, and the weights do not matter.
 * Otherwise it returns -1. When it returns, all of its work is done and all that it created is freed. */
int train(const struct lab11_job *job, float *weights, float *losses);

#ifdef __cplusplus
}
#endif
#endif

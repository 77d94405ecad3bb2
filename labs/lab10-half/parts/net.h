/* net.h — a network, its batch, and its steps of training.
 *
 * Two networks. The SMALL one has an odd shape and numbers that halves hold well: even sums of halves give its
 * gradients to a few percent, so it shows what is computed. The LONG one learns for 60 steps, and its gradients are
 * about 1e-8: it shows what halves lose. Its data is always the same but for the order of the inputs, of their numbers
 * and of the hidden units, which the seed draws: so its final loss hardly depends on the seed.
 *
 * What is right is computed here, in double precision, from the weights that the program had before the step.
 */
#ifndef LAB10_NET_H
#define LAB10_NET_H

#include "half.h"
#include "lab.h"
#include "messages.h"

enum net_kind { NET_SMALL, NET_LONG };
enum { NET_STEPS = 60 }; /* of LONG */

/* What is wrong with a step. */
enum net_mistake {
    NET_RIGHT,
    NET_UNWRITTEN, /* a part of g, or the loss */
    NET_NOT_FINITE,
    NET_LOSS,    /* the loss is not the mean of the squares */
    NET_NO_MASK, /* the gradient ignores relu */
    NET_NO_MEAN, /* is m times too large */
    NET_NO_TWO,  /* is half of it */
    NET_SIGN,
    NET_NO_SCALE,    /* is not multiplied by the scale that was returned */
    NET_FACTOR,      /* is another multiple */
    NET_GRADIENT,    /* is wrong in another way */
    NET_BAD_SCALE,   /* the scale is below 1, or no number */
    NET_UPHILL,      /* update adds where it should subtract */
    NET_NOT_CHANGED, /* the weights are as before */
    NET_NO_ROOT,     /* divides by q itself, or by nothing */
    NET_FORGETS,     /* q begins anew in each step */
    NET_FROM_ZERO,   /* the weights of its own begin as 0 */
    NET_UPDATE       /* is wrong in another way */
};

typedef struct {
    lab_program *program;
    const char *counted; /* yours: the name of its counters; NULL: the others */
    enum net_kind kind;
    int m, k, n;
    struct lab10_message message;
    void *d_x, *d_b, *d_v, *d_w, *d_h, *d_dh, *d_dz, *d_g;
    float *d_t, *d_loss, *d_state;
    uint16_t *x, *b, *v, *first; /* as sent; first: the first weights */
    float *t;
    uint16_t *w, *g;       /* what the program has, after a step */
    double *want, *square; /* the gradient that is right for w; the mean squares so far */
    double *doubt;         /* by how much a right program's gradient may differ, where a hidden unit is next to 0 */
    bool *doubtful;        /* that is more than 2 % of it, in one of the steps so far */
    float loss, scale;     /* what gradients reported and returned */
    double want_loss;
    double begin, end;
    int judged; /* the step that is judged: message.step is the next one when update has returned */
    enum net_mistake mistake;
    char failure[384];
    cudaError_t error;
} net;

net *net_new(lab_program *program, const char *counted, enum net_kind kind);
void net_free(net *n);
/* Play one call and read its result. Return false when CUDA failed: n->error. */
bool net_gradients(net *n);
bool net_update(net *n);
void net_expect(net *n); /* want and want_loss, for the weights in w */

/* One whole step of SMALL, judged: the first mistake stays in n. Returns false when CUDA failed. */
bool net_judged_step(net *n);
/* Gives `update` a gradient of its own, of about EPSILON without its scale. Returns whether it was divided by it. */
bool net_divides(net *n);

double net_loss(const net *n, const double *w); /* the loss with these weights */
double net_now(const net *n);                   /* with those in n->w; NAN if one of them is not finite */
double net_learned_exactly(const net *n);       /* the loss after all steps in double precision */
float net_rate(const net *n, int step);

#endif

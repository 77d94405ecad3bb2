/* task.c — the data of a seed, and training in double precision; see task.h. */
#include "task.h"
#include "messages.h"
#include "lab.h"

#include <math.h>
#include <stdlib.h>

enum { INFORMATIVE = 16 }; /* of the features; the rest is faint noise */

size_t data_floats(shape s) { return (size_t)s.batch * ((size_t)s.features + 1); }
size_t batch_floats(shape s) { return LAB5_STAMP + data_floats(s) + (size_t)s.ballast + 1; }
size_t weight_floats(shape s) { return (size_t)s.hidden * ((size_t)s.features + 1); }

/* -1 .. 1, from splitmix64. */
static float uniform(uint64_t seed, uint64_t index) {
    uint64_t x = seed * 0x9E3779B97F4A7C15u + index * 0xD1342543DE82EF95u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (float)((double)((x ^ (x >> 31)) >> 40) / (1 << 23) - 1);
}

/* A task with a hidden rule: the target is a bent sum of the first features. */
void make_data(shape s, uint64_t seed, int number, float *data) {
    float *x = data, *target = x + (size_t)s.batch * (size_t)s.features;
    for (int b = 0; b < s.batch; b++, x += s.features) {
        float sum = 0;
        x[0] = 1;
        for (int f = 1; f < s.features; f++) {
            x[f] = uniform(seed + 1,
                           ((uint64_t)number * (uint64_t)s.batch + (uint64_t)b) * (uint64_t)s.features + (uint64_t)f);
            if (f <= INFORMATIVE)
                sum += uniform(seed + 2, (uint64_t)f) * x[f];
            else
                x[f] *= 0.05f;
        }
        target[b] = tanhf(sum);
    }
}

float first_weight(shape s, uint64_t seed, size_t k) {
    float scale = k < (size_t)s.features * (size_t)s.hidden ? 0.1f : 1 / sqrtf((float)s.hidden);
    return scale * uniform(seed + 3, k);
}

double right_step(shape s, const float *data, double *w, double *hidden) {
    const size_t features = (size_t)s.features, units = (size_t)s.hidden;
    const float *target = data + (size_t)s.batch * features;
    double *w2 = w + features * units, loss = 0;
    double *gradients = calloc(weight_floats(s), sizeof *gradients);
    if (!gradients) lab_die("out of memory");
    for (int b = 0; b < s.batch; b++) {
        const float *in = data + (size_t)b * features;
        double out = 0;
        for (size_t h = 0; h < units; h++) hidden[h] = 0;
        for (size_t f = 0; f < features; f++)
            for (size_t h = 0; h < units; h++) hidden[h] += (double)in[f] * w[f * units + h];
        for (size_t h = 0; h < units; h++) out += (hidden[h] = tanh(hidden[h])) * w2[h];
        double off = out - (double)target[b], pull = 2 * off / s.batch;
        loss += off * off / s.batch;
        for (size_t h = 0; h < units; h++) {
            gradients[features * units + h] += pull * hidden[h];
            hidden[h] = pull * w2[h] * (1 - hidden[h] * hidden[h]);
        }
        for (size_t f = 0; f < features; f++)
            for (size_t h = 0; h < units; h++) gradients[f * units + h] += (double)in[f] * hidden[h];
    }
    for (size_t k = 0; k < weight_floats(s); k++) w[k] -= (double)LEARNING_RATE * gradients[k];
    free(gradients);
    return loss;
}

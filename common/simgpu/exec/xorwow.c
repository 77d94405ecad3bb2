/* xorwow.c — steps ahead in cuRAND's generator XORWOW. A step is linear over single bits: the five words of the state
 * are a vector of 160 bits, and a step multiplies it by a matrix. The matrix of 2^p steps is the one of 2^(p-1) steps
 * squared. */
#include "warp.h"

#include <pthread.h>
#include <string.h>

enum { WORDS = 5, BITS = 32 * WORDS, POWERS = 67 + 64 };

typedef struct {
    uint32_t of[BITS][WORDS]; /* what each bit of the state becomes */
} matrix;

static matrix powers[POWERS]; /* of 2^p steps */
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void multiply(uint32_t *v, const matrix *m) {
    uint32_t to[WORDS] = {0};
    for (uint32_t b = 0; b < BITS; b++)
        if (v[b / 32] >> b % 32 & 1)
            for (uint32_t k = 0; k < WORDS; k++) to[k] ^= m->of[b][k];
    memcpy(v, to, sizeof to);
}

static void make(void) {
    for (uint32_t b = 0; b < BITS; b++) {
        uint32_t v[WORDS] = {0}, *to = powers[0].of[b];
        v[b / 32] = 1u << b % 32;
        uint32_t t = v[0] ^ v[0] >> 2;
        memcpy(to, v + 1, 4 * sizeof *to);
        to[4] = (v[4] ^ v[4] << 4) ^ (t ^ t << 1);
    }
    for (uint32_t p = 1; p < POWERS; p++) {
        powers[p] = powers[p - 1];
        for (uint32_t b = 0; b < BITS; b++) multiply(powers[p].of[b], &powers[p - 1]);
    }
}

uint32_t exec_xorwow(const uint32_t state[WORDS], uint64_t n, uint32_t power, uint32_t word) {
    uint32_t v[WORDS];
    pthread_once(&made, make);
    memcpy(v, state, sizeof v);
    for (uint32_t p = power < POWERS - 64 ? power : POWERS - 64; n; n >>= 1, p++)
        if (n & 1) multiply(v, &powers[p]);
    return v[word < WORDS ? word : 0];
}

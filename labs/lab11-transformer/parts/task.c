/* task.c — text and weights from a seed; see task.h. */
#include "task.h"

#include <math.h>
#include <string.h>

/* 64 bits from seed and place (splitmix64). */
static uint64_t mix(uint64_t seed, uint64_t i) {
    uint64_t x = seed * 0x9E3779B97F4A7C15u + i * 0xD1342543DE82EF95u + 1;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}
static float uniform(uint64_t seed, uint64_t i) { return (float)(mix(seed, i) >> 40) * 0x1p-23f - 1; } /* -1 .. 1 */

void make_text(unsigned char *text, int length, int symbols, uint64_t seed) {
    enum { WORDS = 12, LONGEST = 7 };
    unsigned char word[WORDS][LONGEST + 1];
    int size[WORDS], now = 0, at = 0;
    for (int w = 0; w < WORDS; w++) {
        size[w] = 2 + (int)(mix(seed, (uint64_t)w) % (LONGEST - 2));
        for (int i = 0; i < size[w]; i++)
            word[w][i] =
                (unsigned char)(symbols > 2 ? 1 + mix(seed + 1, (uint64_t)(w * LONGEST + i)) % (uint64_t)(symbols - 2)
                                            : 0);
        word[w][size[w]] = 0; /* the space */
    }
    for (uint64_t count = 0; at < length; count++) {
        for (int i = 0; i <= size[now] && at < length; i++) text[at++] = word[now][i];
        now = (now * 5 + 3 + (mix(seed + 2, count) % 4 == 0)) % WORDS;
    }
}

void make_weights(float *weights, const struct lab11_job *job, uint64_t seed) {
    for (int t = 0; t < LAB11_TENSORS; t++) {
        const size_t first = lab11_offset(job, t), end = lab11_offset(job, t + 1);
        const bool gain = t == LAB11_GAIN1 || t == LAB11_GAIN2 || t == LAB11_GAIN3;
        const bool table = t == LAB11_EMBEDDING || t == LAB11_POSITION;
        const float size = gain ? 0.2f : table ? 0.5f : 1.5f / sqrtf((float)lab11_rows(job, t));
        for (size_t i = first; i < end; i++) weights[i] = (float)gain + size * uniform(seed + 3, i);
    }
}

bool break_step(unsigned char *text, float *weights, const struct lab11_job *job, int broken) {
    const int first = lab11_start(job, broken);
    float *row = weights + lab11_offset(job, LAB11_EMBEDDING) + (size_t)(job->symbols - 1) * (size_t)job->width;
    int place = -1;
    for (int i = job->context / 2; i < job->context && place < 0; i++) {
        bool seen = false;
        for (int step = 0; step < broken && !seen; step++) {
            const int from = lab11_start(job, step);
            seen = first + i >= from && first + i < from + job->context;
        }
        if (!seen) place = first + i;
    }
    if (place < 0) return false;
    text[place] = (unsigned char)(job->symbols - 1);
    for (int c = 0; c < job->width; c++) row[c] = INFINITY;
    return true;
}

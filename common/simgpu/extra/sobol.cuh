// sobol.cuh — the direction numbers of Sobol sequences, in words of 32 and of 64 bits, and how they are scrambled
// (curand.cu includes it).
//
// Point n of a dimension is the exclusive or of the direction numbers at the bits of n's Gray code, n ^ n / 2 (Antonov
// and Saleev, 1979). The numbers come from sobol.def, by Sobol's recurrence.
//
// Scrambling keeps what makes the points even: each direction number is multiplied by a random matrix of bits, the
// same for all numbers of a dimension, in which a bit depends on itself and on higher ones (Matousek, 1998), and each
// point is shifted by a random number. cuRAND's matrices and shifts are not published; these come from a hash.
#pragma once

enum { SOBOL_MOST = 1111 }; // dimensions that sobol.def has, the first included

static const unsigned short JOE_KUO[] = {
#include "sobol.def"
};

// A random number of a dimension: splitmix64 (Steele, Lea and Flood, 2014).
static unsigned long long sobol_hash(unsigned dimension, unsigned n) {
    unsigned long long z = (dimension * 128ull + n + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
template <class Word> static Word sobol_shift(unsigned dimension) {
    return (Word)(sobol_hash(dimension, 64) >> (64 - 8 * sizeof(Word)));
}

// The direction numbers of the first `dimensions`, the bits of a word for each, one dimension after another.
template <class Word> static void sobol_vectors(Word *v, unsigned dimensions, bool scrambled) {
    const unsigned bits = 8 * sizeof(Word);
    const unsigned short *row = JOE_KUO;
    for (unsigned d = 0; d < dimensions; d++, v += bits) {
        // The first dimension's numbers are those of a polynomial of degree 0.
        unsigned degree = d ? row[0] : 0, coefficients = d ? row[1] : 0;
        for (unsigned k = 0; k < bits; k++) {
            if (!d || k < degree) {
                v[k] = (Word)(d ? row[2 + k] : 1) << (bits - 1 - k);
                continue;
            }
            v[k] = v[k - degree] ^ v[k - degree] >> degree;
            for (unsigned j = 1; j < degree; j++)
                if (coefficients >> (degree - 1 - j) & 1) v[k] ^= v[k - j];
        }
        if (d) row += 2 + degree;
        for (unsigned k = 0; scrambled && k < bits; k++) {
            Word of = 0;
            for (unsigned bit = 0; bit < bits; bit++) {
                Word higher = bit == bits - 1 ? 0 : (Word) ~(Word)0 << (bit + 1);
                Word mask = ((Word)sobol_hash(d, bit) & higher) | (Word)1 << bit;
                of |= (Word)__builtin_parityll(v[k] & mask) << bit;
            }
            v[k] = of;
        }
    }
}

// What curandGetDirectionVectors32 and its like return: tables of all dimensions, made when they are first asked for.
template <class Word, bool SCRAMBLED> struct sobol_table {
    Word vectors[SOBOL_MOST][8 * sizeof(Word)];
    sobol_table() { sobol_vectors(vectors[0], SOBOL_MOST, SCRAMBLED); }
};
template <class Word> struct sobol_shifts {
    Word of[SOBOL_MOST];
    sobol_shifts() {
        for (unsigned d = 0; d < SOBOL_MOST; d++) of[d] = sobol_shift<Word>(d);
    }
};
template <class Word, bool SCRAMBLED> static Word (*sobol_all())[8 * sizeof(Word)] {
    static sobol_table<Word, SCRAMBLED> table;
    return table.vectors;
}
template <class Word> static Word *sobol_all_shifts() {
    static sobol_shifts<Word> shifts;
    return shifts.of;
}

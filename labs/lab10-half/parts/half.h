/* half.h — halves and bfloat16s on the host, as their 16 bits: the data, and what is right. */
#ifndef LAB10_HALF_H
#define LAB10_HALF_H

#include <stdbool.h>
#include <stdint.h>

enum { HALF_POISON = 0xffff, HALF_INFINITY = 0x7c00 };

uint16_t half_of(double v);    /* rounded to the nearest half, of two the even one */
double half_value(uint16_t h); /* a NaN is one */
bool half_is_finite(uint16_t h);
/* Half the distance between the halves near v: the largest error of one rounding. */
double half_ulp(double v);

/* The same of a bfloat16: the upper half of a float. v is one, or rounded to the nearest; |v| is 2^-126 or more. */
uint16_t bf16_of(double v);
double bf16_value(uint16_t b);
double bf16_ulp(double v);

#endif

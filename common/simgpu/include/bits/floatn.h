/* bits/floatn.h — stands before glibc's header of that name, which <math.h> and <stdlib.h> include to learn whether the
 * compiler has a 128-bit float. A GPU has none. glibc 2.41 does not ask whether it is device code that is compiled, and
 * clang 17 and 18 then reject <math.h>. The answer here is no for the device's pass on x86-64, and glibc's own
 * elsewhere. */
#if defined(__CUDA_ARCH__) && defined(__x86_64__)
#ifndef _BITS_FLOATN_H
#define _BITS_FLOATN_H
#include <features.h>
#define __HAVE_FLOAT128             0
#define __HAVE_DISTINCT_FLOAT128    0
#define __HAVE_FLOAT64X             1
#define __HAVE_FLOAT64X_LONG_DOUBLE 1
#include <bits/floatn-common.h>
#endif
#else
#include_next <bits/floatn.h>
#endif

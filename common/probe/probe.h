/* probe.h — how the programs of make probe measure and say what they found.
 *
 * A line for each figure: the profile's key, a tab, its value, a tab, the 10th and, behind another tab, the 90th
 * percentile of its measurements, a tab, and how it was measured. Units are those of time/profile.def.
 */
#ifndef PROBE_H
#define PROBE_H

#include <algorithm>
#include <cuda_runtime.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vector>

#define MUST(call) must((call), #call, __FILE__, __LINE__)
static inline void must(cudaError_t e, const char *call, const char *file, int line) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, call, cudaGetErrorString(e));
    exit(1);
}

enum : size_t { KIB = 1 << 10, MIB = 1 << 20 };

static inline double now() { /* ns */
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct spread {
    double median, low, high;
};
static inline spread spread_of(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    auto at = [&](double part) { return v[(size_t)(part * (double)(v.size() - 1) + 0.5)]; };
    return {at(0.5), at(0.1), at(0.9)};
}
/* Of a figure a * x + b that is made from a measurement x. */
static inline spread operator*(spread s, double a) {
    return a < 0 ? spread{s.median * a, s.high * a, s.low * a} : spread{s.median * a, s.low * a, s.high * a};
}
static inline spread operator+(spread s, double b) { return {s.median + b, s.low + b, s.high + b}; }
static inline spread operator-(spread s, double b) { return s + -b; }
static inline spread inverse(double a, spread s) { return {a / s.median, a / s.high, a / s.low}; } /* a / x */

/* A profile has positive numbers only; what is nothing here is 1. */
__attribute__((format(printf, 3, 4))) static void figure(const char *key, spread s, const char *how, ...) {
    va_list arguments;
    auto positive = [](double x) { return x < 1e-4 ? 1 : x; };
    printf("%s", key);
    for (double x : {positive(s.median), positive(s.low), positive(s.high)}) printf(x < 1e5 ? "\t%.4g" : "\t%.0f", x);
    putchar('\t');
    va_start(arguments, how);
    vprintf(how, arguments);
    va_end(arguments);
    puts("");
    fflush(stdout);
}
static inline void property(const char *key, double value) {
    printf("%s\t%.15g\t%.15g\t%.15g\tproperty\n", key, value, value, value);
}

/* Returns the ns of one of `each` that run() does, n times; after() is not timed. A run before the first is not
 * counted. */
template <class F, class G> static spread timed(int n, int each, F run, G after) {
    std::vector<double> v;
    for (int i = -1; i < n; i++) {
        double begin = now();
        run();
        double end = now();
        after();
        if (i >= 0) v.push_back((end - begin) / each);
    }
    return spread_of(v);
}
template <class F> static spread timed(int n, int each, F run) {
    return timed(n, each, run, [] {});
}
static inline void wait() { MUST(cudaDeviceSynchronize()); }

#endif

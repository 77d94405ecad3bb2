// Thrust on vectors of the device, against the host: sort, sort by key, reduce, scan, transform with a lambda.
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <vector>

static void say(const char *what, bool right) { printf("%s %s\n", what, right ? "right" : "WRONG"); }

int main() {
    const int n = 5003;
    thrust::host_vector<int> input(n);
    unsigned state = 1;
    for (int i = 0; i < n; i++) input[i] = (int)((state = state * 1664525u + 1013904223u) >> 8) % 1000 - 500;
    std::vector<int> sorted(input.begin(), input.end()), sums(n);
    std::stable_sort(sorted.begin(), sorted.end());
    std::partial_sum(input.begin(), input.end(), sums.begin());

    thrust::device_vector<int> values = input, order(n), scanned(n);
    say("reduce", thrust::reduce(values.begin(), values.end()) == sums[n - 1]);
    thrust::inclusive_scan(values.begin(), values.end(), scanned.begin());
    thrust::host_vector<int> back = scanned;
    say("scan", std::equal(sums.begin(), sums.end(), back.begin()));
    thrust::transform(values.begin(), values.end(), order.begin(), [] __device__(int v) { return 2 * v + 1; });
    back = order;
    bool right = true;
    for (int i = 0; i < n; i++) right &= back[i] == 2 * input[i] + 1;
    say("transform", right);
    thrust::sort(values.begin(), values.end());
    back = values;
    say("sort", std::equal(sorted.begin(), sorted.end(), back.begin()));
}

/* near.cu — how long cudaDeviceSynchronize takes from the CPU that this process runs on: the nanoseconds, in digits.
 * Beside an H200 of two sockets it was 360 from the CPUs of one and 700 from those of the other. */
#include "probe.h"

int main() {
    std::vector<double> ns;
    MUST(cudaFree(0));
    for (int i = 0; i < 301; i++) {
        MUST(cudaDeviceSynchronize());
        double begin = now();
        for (int k = 0; k < 20; k++) MUST(cudaDeviceSynchronize());
        ns.push_back((now() - begin) / 20);
    }
    printf("%.0f\n", spread_of(ns).median);
    return 0;
}

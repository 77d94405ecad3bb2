/* fills.cu — cudaMemset of large memory: the bytes are there, and no others, and pages that nobody stores to cost the
 * host nothing. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static const size_t MIB = 1 << 20;

static void say(const char *name, double value) { printf("%s %g\n", name, value); }

/* The bytes of [from, end) that are not `want`, by a copy to the host. */
static size_t others(const unsigned char *device, size_t from, size_t end, unsigned char want) {
    unsigned char *host = (unsigned char *)malloc(end - from);
    size_t n = 0;
    cudaMemcpy(host, device + from, end - from, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < end - from; i++) n += host[i] != want;
    free(host);
    return n;
}

static __global__ void add(unsigned char *bytes, size_t n) {
    size_t i = 4096 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    if (i < n) bytes[i]++;
}

/* Fills within fills, at odd places, with more bytes than have files; a kernel changes one byte of each page between.
 */
static size_t wrong_bytes(unsigned char *p, size_t n) {
    size_t wrong = 0;
    for (int byte = 0; byte < 7; byte++) {
        const size_t from = 4097 * (size_t)byte, end = n - 13 * (size_t)byte;
        cudaMemset(p, 0x11 * byte + 1, n);
        cudaMemset(p + from, 0x11 * byte, end - from);
        wrong +=
            others(p, 0, from, (unsigned char)(0x11 * byte + 1)) + others(p, end, n, (unsigned char)(0x11 * byte + 1));
        wrong += others(p, from, end, (unsigned char)(0x11 * byte));
        add<<<(unsigned)(n / 4096 / 256 + 1), 256>>>(p, n);
        wrong +=
            others(p, from + 1 + (4095 - from % 4096), from + 8192 - from % 4096, (unsigned char)(0x11 * byte)) - 1;
    }
    return wrong;
}

int main() {
    struct rusage before, after;
    unsigned char *p, *managed;
    getrusage(RUSAGE_SELF, &before);
    cudaMalloc(&p, 512 * MIB);
    cudaMemset(p, 0x5A, 512 * MIB);
    say("ends", (double)(others(p, 0, 1, 0x5A) + others(p, 512 * MIB - 1, 512 * MIB, 0x5A)));
    getrusage(RUSAGE_SELF, &after);
    const double mib = (double)(after.ru_maxrss - before.ru_maxrss) / 1024;
    say("mib_of_512_below_128", mib < 128 ? 1 : mib);
    cudaFree(p);
    cudaMalloc(&p, 20 * MIB);
    cudaMallocManaged(&managed, 20 * MIB);
    say("wrong", (double)wrong_bytes(p, 20 * MIB));
    say("wrong_managed", (double)wrong_bytes(managed, 20 * MIB));
}

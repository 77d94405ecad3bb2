/* scattered.cu — a word each of random sectors is stored: L2 waits for DRAM, which gives the rest of a sector before it
 * is written back. Beside that, words some bytes apart. Prints a line a case: its name, microseconds.
 * tests/places.bats has an H200's. */
#include "timed.h"

enum { MIB = 1 << 20, TABLE = 256 * MIB };
static float *table, *other;

__device__ unsigned mixed(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* mask: the table's bytes less 1 */
__global__ void random_words(float *out, unsigned mask) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(mixed(i) & mask / 32) * 8] = (float)i;
}

__global__ void words_apart(float *out, unsigned mask, unsigned bytes) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[(i * bytes & mask) / 4] = (float)i;
}

/* L2 has nothing of `table` behind it. */
__global__ void flush(const float4 *in, float *out) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < TABLE / 16; i += gridDim.x * blockDim.x) sum += in[i].x;
    if (sum == 1.5f) *out = sum;
}

static void flushed(void) { flush<<<1056, 256>>>((const float4 *)other, table); }

/* apart: bytes from word to word; 0: random */
static void stored(int mib, int thousands, unsigned apart) {
    const unsigned mask = (unsigned)mib * MIB - 1, blocks = (unsigned)thousands * 1024 / 256;
    char name[60];
    if (apart) {
        snprintf(name, sizeof name, "words_%u_bytes_apart_%dMiB_%dk", apart, mib, thousands);
        timed_behind(name, flushed, [=] { words_apart<<<blocks, 256>>>(table, mask, apart); });
    } else {
        snprintf(name, sizeof name, "random_words_%dMiB_%dk", mib, thousands);
        timed_behind(name, flushed, [=] { random_words<<<blocks, 256>>>(table, mask); });
    }
}

int main() {
    MUST(cudaMalloc(&table, TABLE));
    MUST(cudaMalloc(&other, TABLE));
    MUST(cudaMemset(table, 0, TABLE));
    MUST(cudaMemset(other, 0, TABLE));
    for (int mib = 4; mib <= 256; mib *= 4)
        for (int thousands = 512; thousands <= 2048; thousands *= 2) stored(mib, thousands, 0);
    stored(32, 2048, 0);
    stored(128, 2048, 0);
    stored(256, 512, 128);
    stored(256, 512, 256);
}

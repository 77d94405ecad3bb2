/* caches.cu — what L2 keeps from one command to the next. For each launch a line: its name, the sectors that loads
 * asked L2 for, those that it had, and the sectors that DRAM read and wrote. */
#include "simgpu.h"
#include "simgpu_event.h"
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { SECTOR = 32, MIB = 1 << 20, SMS = 132 };
static const char *name;
/* Under the sanitizers (brief): just more than L2 has, and fewer loads of tables. */
static bool brief;
static int large = 96, waves = 8;

static void hear(const struct simgpu_event *e, void *) {
    const struct simgpu_launch *l = &e->is.launch;
    if (e->kind != SIMGPU_LAUNCH || !name) return;
    printf("%s %d %d %d %d\n", name, (int)l->l2_read_sectors, (int)l->l2_read_hits, (int)(l->dram_read_bytes / SECTOR),
           (int)(l->dram_write_bytes / SECTOR));
}

__global__ void load(const float4 *p, size_t n, float *out) {
    float sum = 0;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        sum += p[i].x + p[i].w;
    if (sum == 0.125f) *out = sum;
}
__global__ void store(float4 *p, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        p[i] = make_float4(1, 2, 3, 4);
}
/* Words `from` to before `to` of each sector. */
__global__ void store_words(float *p, int from, int to) {
    float *mine = p + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * 8;
    for (int k = from; k < to; k++) mine[k] = k;
}
__global__ void load_strided(const float *p, int stride, float *out) {
    if (p[(size_t)(blockIdx.x * blockDim.x + threadIdx.x) * stride] == 0.125f) *out = 1;
}
__global__ void add_one(unsigned *p) { atomicAdd(&p[(blockIdx.x * blockDim.x + threadIdx.x) * 8], 1u); }
__global__ void twice(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
/* Every warp of a block loads the same 4 KB. */
__global__ void shared_by_warps(const volatile float *, const float *p, float *out) {
    float sum = 0;
    for (int k = 0; k < 32; k++) sum += p[k * 32 + threadIdx.x % 32];
    if (sum == 0.125f) *out = sum;
}
__global__ void passes_l1_by(const volatile float *p, const float *, float *out) {
    float sum = 0;
    for (int k = 0; k < 4; k++) sum += p[threadIdx.x];
    if (sum == 0.125f) *out = sum;
}

/* Each thread loads one word of a table, and another one than its neighbours. */
__global__ void one_of(const float *table, unsigned words, float *out) {
    unsigned x = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u;
    x = (x ^ x >> 15) * 0x85ebca6bu;
    if (table[(x ^ x >> 13) % words] == 0.125f) *out = 1;
}

static float *a, *b, *out;
static void done() {
    if (cudaDeviceSynchronize() != cudaSuccess) exit(1);
    name = NULL;
}
static void loads(const char *called, const float *p, int mib) {
    name = called;
    load<<<SMS * 8, 256>>>((const float4 *)p, (size_t)mib * MIB / 16, out);
    done();
}
static void stores(const char *called, float *p, int mib) {
    name = called;
    store<<<SMS * 8, 256>>>((float4 *)p, (size_t)mib * MIB / 16);
    done();
}
static void words(const char *called, int from, int to) {
    name = called;
    store_words<<<128, 256>>>(a, from, to);
    done();
}
static void allocate() {
    if (cudaMalloc(&a, 96 * MIB) || cudaMalloc(&b, 96 * MIB) || cudaMalloc(&out, 4)) exit(1);
}
/* Leaves L2 full of clean data. If `brief`, only once, since it takes a second under the sanitizers. */
static void clean() {
    static bool cleaned;
    if (brief && cleaned) return;
    cleaned = true;
    simgpuFlushCache();
    load<<<SMS * 8, 256>>>((const float4 *)b, (size_t)large * MIB / 16, out);
    done();
}

static void copies() {
    void *host = calloc(4, MIB);
    clean();
    cudaMemset(a, 0, 4 * MIB);
    loads("after_memset", a, 4);
    clean();
    cudaMemcpy(a, host, 4 * MIB, cudaMemcpyHostToDevice);
    loads("after_a_copy_to_the_device", a, 4);
    cudaMemcpy(a, host, 4 * MIB, cudaMemcpyHostToDevice);
    loads("after_a_copy_over_what_l2_had", a, 4);
    clean();
    cudaMemcpy(b, a, 4 * MIB, cudaMemcpyDeviceToDevice);
    loads("source_of_a_copy", a, 4);
    loads("target_of_a_copy", b, 4);
    clean();
    cudaMemcpy(host, a, 4 * MIB, cudaMemcpyDeviceToHost);
    loads("after_a_copy_to_the_host", a, 4);
    free(host);
}

static void parts() {
    clean();
    words("first_words", 0, 4);
    words("last_words", 4, 8);
    loads("whole_sectors_leave", b, large);
    words("words_alone", 0, 4);
    loads("parts_of_sectors_leave", b, large);
    words("words_again", 0, 4);
    loads("parts_of_sectors_are_read", a, 1);
    simgpuFlushCache();
    name = "one_word_of_64_bytes";
    load_strided<<<16, 256>>>(b + 8 * MIB, 16, out);
    done();
    name = "its_other_sector";
    load_strided<<<16, 256>>>(b + 8 * MIB + 8, 16, out);
    done();
}

static void others() {
    clean();
    name = "in_place";
    twice<<<1024, 256>>>(a);
    done();
    name = "atomics";
    add_one<<<16, 256>>>((unsigned *)a + 4 * MIB);
    done();
    name = "table_of_16_kib";
    one_of<<<SMS * 8 * waves, 256>>>(a, 4096, out);
    done();
    name = "table_of_512_kib";
    one_of<<<SMS * 8 * waves, 256>>>(a, 131072, out);
    done();
    name = "shared_by_warps";
    shared_by_warps<<<1, 256>>>(a, a, out);
    done();
    name = "passes_l1_by";
    passes_l1_by<<<1, 32>>>(a, a, out);
    done();
}

int main(int argc, char **) {
    brief = argc > 1;
    if (brief) large = 64, waves = 1;
    if (simgpuListen(hear, NULL)) return 1;
    allocate();
    loads("fresh_card", a, 4);
    loads("again", a, 4);
    stores("stores", a, 4);
    loads("what_was_stored", a, 4);
    simgpuFlushCache();
    loads("flushed", a, 4);
    loads("too_large", b, large);
    loads("too_large_again", b, large);
    stores("stores_too_much", a, large);
    copies();
    parts();
    others();
    cudaDeviceReset();
    allocate();
    loads("after_reset", a, 4);
    cudaFree(a);
    simgpuNewDevice();
    allocate();
    loads("new_card", a, 4);
    return 0;
}

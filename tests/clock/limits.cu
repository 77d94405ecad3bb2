/* limits.cu — sizes that no memory has, ranges that overlap, a large device memory on a small host, a forked child:
 * a line `name value` for each question. */
#include "simgpu.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(float *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void keep(int *p) {
    __shared__ int mine[4];
    mine[threadIdx.x % 4] = p[0];
    p[0] = mine[0];
}
__global__ void wide(float *p) {
    float v[128];
#pragma unroll
    for (int i = 0; i < 128; i++) v[i] = p[i];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 128; i++) p[i * 2] = v[127 - i];
}
__global__ void ask(unsigned *p) {
    asm("mov.u32 %0, %%nsmid;" : "=r"(p[0]));
    asm("mov.u32 %0, %%smid;" : "=r"(p[1 + blockIdx.x]));
}

enum { MIB = 1 << 20 };

static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }

static void sizes() {
    char *d, *host = (char *)malloc(MIB);
    void *p;
    size_t pitch;
    cudaMalloc(&d, MIB);
    /* (2^31) * 2^33 + 1 is 1 in 64 bits, and would look as if it fitted. */
    say("memset_beyond_addresses", cudaMemset2D(d, 1ull << 33, 1, 1, (1ull << 31) + 1));
    say("copy_beyond_addresses", cudaMemcpy2D(d, 1ull << 33, host, 1, 1, (1ull << 31) + 1, cudaMemcpyHostToDevice));
    say("copy_of_all_addresses", cudaMemcpy(d, host, SIZE_MAX, cudaMemcpyHostToDevice));
    say("pitch_beyond_addresses", cudaMallocPitch(&p, &pitch, 2, 1ull << 60));
    say("pinned_beyond_addresses", cudaMallocHost(&p, SIZE_MAX));
    keep<<<1, 32, SIZE_MAX>>>((int *)d);
    say("shared_beyond_addresses", cudaGetLastError());
    wide<<<1, 1024>>>((float *)d), say("registers_beyond_an_sm", cudaGetLastError());
    cudaFree(d), free(host);
}

static void registered() {
    enum { PAGE = 4096 };
    char *m = (char *)aligned_alloc(PAGE, 16 * PAGE);
    say("register", cudaHostRegister(m + 4 * PAGE, 4 * PAGE, 0));
    say("register_inside", cudaHostRegister(m + 5 * PAGE, PAGE, 0));
    say("register_around", cudaHostRegister(m, 16 * PAGE, 0));
    say("register_across_the_end", cudaHostRegister(m + 7 * PAGE, 2 * PAGE, 0));
    say("register_before", cudaHostRegister(m, 4 * PAGE, 0));
    say("register_behind", cudaHostRegister(m + 8 * PAGE, PAGE, 0));
    say("register_beyond_addresses", cudaHostRegister(m + 10 * PAGE, SIZE_MAX, 0));
    cudaHostUnregister(m), cudaHostUnregister(m + 4 * PAGE), cudaHostUnregister(m + 8 * PAGE), free(m);
}

/* Of `bytes` fresh ones, how many are not 0xCD. */
static double stale(size_t bytes) {
    unsigned char *d, *host = (unsigned char *)malloc(bytes);
    double n = 0;
    cudaMalloc(&d, bytes), cudaMemcpy(host, d, bytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < bytes; i++) n += host[i] != 0xCD;
    cudaMemset(d, 1, bytes), cudaFree(d), free(host);
    return n;
}

static void large() {
    struct rusage before, after;
    void *p;
    double bytes = 0;
    getrusage(RUSAGE_SELF, &before);
    cudaMalloc(&p, (size_t)1024 * MIB), cudaFree(p);
    getrusage(RUSAGE_SELF, &after);
    bool lazy = after.ru_maxrss - before.ru_maxrss < 64 * 1024;
    say("host_takes_less_than_64_mb", lazy);
    if (!lazy) return; /* the rest would take the host's memory */
    for (size_t size = 1; size < (size_t)32 * MIB; size = 9 * size + 4097) bytes += stale(size);
    /* More than the window of 256 GB has addresses, so that they are used again. */
    for (int i = 0; i < 3; i++) cudaMalloc(&p, (size_t)100 * 1024 * MIB), cudaMemset(p, 1, 32 * MIB), cudaFree(p);
    bytes += stale(64 * MIB) + stale(MIB / 2);
    say("bytes_that_are_not_fresh", bytes);
}

/* Where allocations begin, which decides the slices of L2 that serve them. */
static void beginnings() {
    char *of_3_mib, *of_4_mib, *of_1500, *of_1024, *last;
    cudaMalloc(&of_3_mib, (size_t)3 * MIB), cudaMalloc(&of_1500, 1500), cudaMalloc(&of_4_mib, (size_t)4 * MIB);
    cudaMalloc(&of_1024, 1024), cudaMalloc(&last, 1024);
    say("large_beyond_64_KiB", ((size_t)of_3_mib | (size_t)of_4_mib) % 65536);
    say("behind_1500_bytes_beyond_1_KiB", (of_1024 - of_1500) % 1024);
    say("behind_1024_bytes_beyond_1_KiB", (last - of_1024) % 1024);
    cudaFree(of_3_mib), cudaFree(of_4_mib), cudaFree(of_1500), cudaFree(of_1024), cudaFree(last);
}

static void child() {
    float *d;
    cudaGetLastError(); /* of the questions before */
    cudaMalloc(&d, 4 * MIB), fill<<<4096, 256>>>(d), cudaDeviceSynchronize();
    fflush(stdout);
    pid_t id = fork();
    if (id == 0) {
        float first = 0;
        cudaMemset(d, 0, 4 * MIB), fill<<<4096, 256>>>(d);
        cudaMemcpy(&first, d, sizeof first, cudaMemcpyDeviceToHost);
        _exit(first == 1 && cudaGetLastError() == cudaSuccess ? 7 : 1);
    }
    int status = 0;
    for (int tries = 0; tries < 300 && waitpid(id, &status, WNOHANG) == 0; tries++) usleep(100000);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) kill(id, SIGKILL);
    say("child", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    fill<<<4096, 256>>>(d), say("parent_after_it", cudaDeviceSynchronize());
    cudaFree(d);
}

static void device() {
    enum { BLOCKS = 300 };
    unsigned *d, host[1 + BLOCKS], most = 0;
    cudaDeviceProp prop;
    cudaGetDeviceProperties(&prop, 0);
    cudaMalloc(&d, sizeof host), ask<<<BLOCKS, 32>>>(d);
    cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost), cudaFree(d);
    for (int i = 1; i <= BLOCKS; i++) most = host[i] > most ? host[i] : most;
    say("multi_processor_count", prop.multiProcessorCount), say("nsmid", host[0]), say("last_smid", most);
}

int main(int argc, char **) {
    if (argc == 1) sizes(), registered(), large(), beginnings(), child();
    device();
    return 0;
}

/* bench-sim.cu — how many warp instructions a second SimGPU executes.
 *
 * The kernel is the tiled transpose with a padded tile, the work that lab 3 ends with: loads, shared memory, a barrier,
 * index arithmetic. It runs on a 2048 x 2048 matrix again and again for two seconds of wall-clock time. The number of
 * instructions is not assumed: it is read from SimGPU's own report of the launches.
 */
#include "simgpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { N = 2048, TILE = 32, ROWS = 8 };

__global__ void tile_padded(const float *in, float *out) {
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * N + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS) out[(y + j) * N + x] = tile[threadIdx.x][threadIdx.y + j];
}

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The sum over all launches in the report of the counter that Nsight Compute calls by this name. */
static double sum_of(const char *report, const char *counter) {
    static char line[1 << 20];
    char key[128];
    double sum = 0;
    snprintf(key, sizeof key, "\"%s\":", counter);
    FILE *f = fopen(report, "r");
    if (!f) return 0;
    while (fgets(line, sizeof line, f))
        if (const char *at = strstr(line, key)) sum += atof(at + strlen(key)); /* the first is the launch's total */
    fclose(f);
    return sum;
}

int main() {
    char report[32]; /* a file without a name: nothing to remove */
    snprintf(report, sizeof report, "/proc/self/fd/%d", memfd_create("report", 0));
    if (simgpuReport(report)) return fprintf(stderr, "bench-sim: cannot write a report to %s\n", report), 1;
    float *in, *out;
    cudaMalloc(&in, N * N * sizeof(float));
    cudaMalloc(&out, N * N * sizeof(float));
    cudaMemset(in, 0, N * N * sizeof(float));

    int launches = 0;
    double begin = now(), end;
    do {
        tile_padded<<<dim3(N / TILE, N / TILE), dim3(TILE, ROWS)>>>(in, out);
        if (cudaDeviceSynchronize() != cudaSuccess) return fprintf(stderr, "bench-sim: the kernel failed\n"), 1;
        launches++;
        end = now();
    } while (end - begin < 2);
    simgpuReport(NULL);

    double instructions = sum_of(report, "simgpu__ptx_inst_executed.sum");
    const char *threads = getenv("SIMGPU_THREADS");
    printf("bench-sim: %.1f M warp instructions a second (%s host thread%s, %d launches of the padded tile at %d, %.0f "
           "instructions each)\n",
           instructions / (end - begin) / 1e6, threads ? threads : "all", threads && !strcmp(threads, "1") ? "" : "s",
           launches, N, instructions / launches);
    return 0;
}

/* pipeline.cu — copies in flight as textbooks write them: a double buffer with cuda_pipeline.h, one with a wait that is
 * missing, and a barrier whose arrivals and waits are apart. Prints what each gives. */
#include <cstdio>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>

enum { THREADS = 128, TILES = 8, N = THREADS * 4 * TILES };

/* A function of its own: the copies arrive when another one runs. */
__attribute__((noinline)) __device__ void begin(int4 *to, const int4 *from) { __pipeline_memcpy_async(to, from, 16); }

/* Adds 1 to each number. Each thread copies four at a time, two tiles deep. wait: whether it waits for the copies. */
__global__ void stages(const int *in, int *out, bool wait) {
    __shared__ int4 tile[2][THREADS];
    const int4 *from = (const int4 *)in;
    begin(&tile[0][threadIdx.x], &from[threadIdx.x]);
    __pipeline_commit();
    for (int t = 0; t < TILES; t++) {
        if (t + 1 < TILES) begin(&tile[(t + 1) % 2][threadIdx.x], &from[(t + 1) * THREADS + threadIdx.x]);
        __pipeline_commit();
        if (wait) __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = tile[t % 2][THREADS - 1 - threadIdx.x];
        ((int4 *)out)[t * THREADS + THREADS - 1 - threadIdx.x] = make_int4(v.x + 1, v.y + 1, v.z + 1, v.w + 1);
        __syncthreads();
    }
}

/* The same with the class, by words; the last ones are zero-filled. */
__global__ void with_class(const int *in, int *out) {
    __shared__ int tile[THREADS];
    nvcuda::experimental::pipeline pipe;
    for (int t = 0; t < N / THREADS; t++) {
        nvcuda::experimental::memcpy_async(tile[threadIdx.x], in[t * THREADS + threadIdx.x], pipe);
        pipe.commit_and_wait();
        __syncthreads();
        out[t * THREADS + threadIdx.x] = tile[threadIdx.x ^ 1] + 1 + ((threadIdx.x & 1) ? 1 : -1);
        __syncthreads();
    }
}

/* Half of the block produces, the other half consumes; two barriers of shared memory stand between them. */
__global__ void producer(const int *in, int *out) {
    using nvcuda::experimental::awbarrier;
    __shared__ awbarrier full, empty;
    __shared__ int tile[THREADS / 2];
    int lane = threadIdx.x % (THREADS / 2);
    if (threadIdx.x == 0) init(&full, THREADS), init(&empty, THREADS);
    __syncthreads();
    for (int t = 0; t < N / (THREADS / 2); t++) {
        if (threadIdx.x < THREADS / 2) {
            tile[lane] = in[t * (THREADS / 2) + lane] + 1;
            full.arrive();
            empty.wait(empty.arrive());
        } else {
            full.wait(full.arrive());
            out[t * (THREADS / 2) + lane] = tile[lane];
            empty.wait(empty.arrive());
        }
    }
}

int main() {
    static int host[N];
    int *in, *out;
    cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host);
    for (int i = 0; i < N; i++) host[i] = i;
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    for (int k = 0; k < 4; k++) {
        static const char *const names[] = {"stages", "stages without a wait", "class", "producer and consumer"};
        cudaMemset(out, 0, sizeof host);
        if (k < 2) stages<<<1, THREADS>>>(in, out, k == 0);
        if (k == 2) with_class<<<1, THREADS>>>(in, out);
        if (k == 3) producer<<<1, THREADS>>>(in, out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (int i = 0; i < N; i++) wrong += host[i] != i + 1;
        printf("%s: %s, %s\n", names[k], wrong ? "wrong" : "right", cudaGetErrorString(cudaGetLastError()));
    }
    return 0;
}

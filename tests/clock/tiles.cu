/* tiles.cu — products of matrices by tiles of shared memory, their two halves each alone: a block's threads copy tiles,
 * and they compute. And multiply-adds whose registers lie in the same bank. Prints a line a case: its name,
 * microseconds. tests/places.bats has an H200's. */
#include "timed.h"

enum { DEPTH = 512, ACROSS = 12, SMS = 132, FLUSH = 256 << 20 };
enum part { BOTH, COPY, COMPUTE };
static float *a, *b, *c;

/* TX x TY threads have R x R results each; a tile is KT deep. A row of the left tile is one word longer than KT. */
template <int TX, int TY, int R, int KT, enum part PART>
__global__ void product(const float *left, const float *right, float *out, int depth, int n) {
    constexpr int HIGH = TY * R, WIDE = TX * R;
    __shared__ float as[HIGH][KT + 1], bs[KT][WIDE];
    const int t = threadIdx.y * TX + threadIdx.x, row0 = blockIdx.x / ACROSS * HIGH, col0 = blockIdx.x % ACROSS * WIDE;
    float sum[R][R] = {};
    for (int k0 = 0; k0 < depth; k0 += KT) {
        if (PART != COMPUTE || k0 == 0) {
            for (int e = t; e < HIGH * KT; e += TX * TY)
                as[e / KT][e % KT] = left[(row0 + e / KT) * depth + k0 + e % KT];
            for (int e = t; e < KT * WIDE; e += TX * TY)
                bs[e / WIDE][e % WIDE] = right[(k0 + e / WIDE) * n + col0 + e % WIDE];
        }
        __syncthreads();
        for (int k = 0; PART != COPY && k < KT; k++) {
            float x[R], y[R];
            for (int i = 0; i < R; i++) x[i] = as[threadIdx.y * R + i][k], y[i] = bs[k][threadIdx.x + i * TX];
            for (int i = 0; i < R; i++)
                for (int j = 0; j < R; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
    if (PART == COPY) sum[0][0] = as[threadIdx.y][threadIdx.x % KT] + bs[threadIdx.y % KT][threadIdx.x];
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) out[(row0 + threadIdx.y * R + i) * n + col0 + threadIdx.x + j * TX] = sum[i][j];
}

/* With so many blocks on each SM; cold: the matrices are not in L2. */
template <int TX, int TY, int R, int KT, enum part PART>
static void time_product(const char *name, int on_sm, bool cold) {
    const auto kernel = product<TX, TY, R, KT, PART>;
    const int stored = 4 * (TY * R * (KT + 1) + KT * TX * R), more = 227 * 1024 / on_sm - 1024 - stored;
    MUST(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, more));
    const auto run = [=] { kernel<<<SMS * on_sm, dim3(TX, TY), more>>>(a, b, c, DEPTH, ACROSS * TX * R); };
    const auto before = [=] {
        if (cold)
            MUST(cudaMemset(c, 0, FLUSH));
        else
            run();
    };
    timed_behind(name, before, run);
}

/* Each multiply-add has three registers that those around it do not have. */
template <int N> __global__ void apart(float *p, int n) {
    float s[N], x[N], y[N];
    for (int i = 0; i < N; i++) s[i] = p[i], x[i] = p[threadIdx.x + i], y[i] = p[threadIdx.x * 2 + i];
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int i = 0; i < N; i++) s[i] = fmaf(x[(i + r) % N], y[(i + 2 * r) % N], s[i]);
    }
    float sum = 0;
    for (int i = 0; i < N; i++) sum += s[i];
    if (sum == 1.5f) p[0] = sum;
}
/* Each shares one with its neighbours. */
template <int R> __global__ void outer(float *p, int n, float d) {
    float s[R][R] = {}, x[R], y[R];
    for (int i = 0; i < R; i++) x[i] = p[threadIdx.x + i], y[i] = p[threadIdx.x * 2 + i];
#pragma unroll 2
    for (int k = 0; k < n; k++) {
#pragma unroll
        for (int i = 0; i < R; i++) x[i] += d, y[i] += d;
#pragma unroll
        for (int i = 0; i < R; i++)
#pragma unroll
            for (int j = 0; j < R; j++) s[i][j] = fmaf(x[i], y[j], s[i][j]);
    }
    float sum = 0;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) sum += s[i][j];
    if (sum == 1.5f) p[0] = sum;
}

int main() {
    MUST(cudaMalloc(&a, 4 << 20));
    MUST(cudaMalloc(&b, 4 << 20));
    MUST(cudaMalloc(&c, FLUSH));
    MUST(cudaMemset(a, 0, 4 << 20));
    MUST(cudaMemset(b, 0, 4 << 20));
    held_ns = 200000;
    time_product<16, 16, 1, 16, COPY>("copy_1", 1, false);
    time_product<16, 16, 1, 16, COPY>("copy_1_cold", 1, true);
    time_product<16, 16, 2, 16, COPY>("copy_2", 1, false);
    time_product<16, 16, 2, 16, COPY>("copy_2_cold", 1, true);
    time_product<16, 16, 4, 16, COPY>("copy_4", 2, false);
    time_product<16, 16, 4, 16, COPY>("copy_4_cold", 2, true);
    time_product<16, 16, 4, 8, COPY>("copy_4_flat", 1, false);
    time_product<16, 16, 4, 8, COPY>("copy_4_flat_cold", 1, true);
    time_product<16, 16, 2, 16, COMPUTE>("compute_2", 4, false);
    time_product<16, 16, 4, 16, COMPUTE>("compute_4", 1, false);
    time_product<16, 8, 8, 16, COMPUTE>("compute_8", 2, false);
    time_product<16, 16, 1, 16, BOTH>("both_1", 1, false);
    time_product<16, 16, 2, 16, BOTH>("both_2", 1, false);
    time_product<16, 16, 2, 16, BOTH>("both_2_cold", 1, true);
    time_product<16, 16, 4, 16, BOTH>("both_4", 1, false);
    timed("apart", [] { apart<16><<<SMS, 256>>>(a, 500); });
    timed("outer_2", [] { outer<2><<<SMS, 256>>>(a, 4000, 1.0f); });
    timed("outer_4", [] { outer<4><<<SMS, 256>>>(a, 2000, 1.0f); });
    timed("outer_8", [] { outer<8><<<SMS, 256>>>(a, 500, 1.0f); });
}

/* classic.cu — lists, codes, automata, dynamic programs, systems of equations. */
#include "fidelity.h"

enum {
    BINS = 2048,
    NODES = 1 << 18,
    EDGES = 1 << 19,
    LETTERS = 1 << 23,
    LIFE_W = 512,
    LIFE_H = 8192,
    CITIES = 2048,
    STATES = 64,
    STEPS = 32,
    BLOCK_ROWS = 1 << 15,
    BLOCKS_A_ROW = 8
};
static float *a, *b, *c, *distance, *below, *diagonal, *above, *matrices, *costs, *vectors;
static int *runs, *keys, *parent, *first, *column, *row0, *row1, *row2, *row3;
static int2 *edges;
static float4 *points;
static unsigned *words, *more, *bins, *bad, *counts;
static unsigned char *text, *flags;

/* --- lists --- */
__global__ void histogram2048(const unsigned *in, unsigned *bins, int n) {
    __shared__ unsigned mine[BINS];
    for (int k = threadIdx.x; k < BINS; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] >> 21], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < BINS; k += blockDim.x) atomicAdd(&bins[k], mine[k]);
}
__global__ void run_starts(const int *in, unsigned char *flags, unsigned *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int start = i < n && (i == 0 || in[i] != in[i - 1]);
    if (i < n) flags[i] = start;
    int total = __syncthreads_count(start);
    if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
__global__ void segmented_sum(const int *keys, const float *values, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int key = i < n ? keys[i] : -1;
    float s = i < n ? values[i] : 0;
    for (int o = 1; o < 32; o *= 2) {
        int k = __shfl_up_sync(0xffffffffu, key, o);
        float v = __shfl_up_sync(0xffffffffu, s, o);
        if (lane >= o && k == key) s += v;
    }
    int after = __shfl_down_sync(0xffffffffu, key, 1);
    if (key >= 0 && (lane == 31 || after != key)) atomicAdd(&out[key], s);
}
__global__ void alone(int *parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) parent[i] = i;
}
__device__ int find_root(int *parent, int v) {
    int p = parent[v];
    while (p != v) {
        int g = parent[p];
        if (g != p) parent[v] = g; /* halves the path */
        v = p;
        p = g;
    }
    return v;
}
__global__ void hook(const int2 *edges, int *parent, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 e = edges[i];
    int x = find_root(parent, e.x), y = find_root(parent, e.y);
    while (x != y) {
        int high = max(x, y), low = min(x, y);
        int was = atomicCAS(&parent[high], high, low);
        if (was == high) break;
        x = find_root(parent, was);
        y = find_root(parent, low);
    }
}
/* --- codes --- */
__device__ unsigned spread3(unsigned v) {
    v = (v * 0x00010001u) & 0xFF0000FFu;
    v = (v * 0x00000101u) & 0x0F00F00Fu;
    v = (v * 0x00000011u) & 0xC30C30C3u;
    v = (v * 0x00000005u) & 0x49249249u;
    return v;
}
__global__ void morton(const float4 *p, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 q = p[i];
    float x = fminf(fmaxf(q.x * 1024.0f, 0.0f), 1023.0f), y = fminf(fmaxf(q.y * 1024.0f, 0.0f), 1023.0f),
          z = fminf(fmaxf(q.z * 1024.0f, 0.0f), 1023.0f);
    out[i] = spread3((unsigned)x) * 4 + spread3((unsigned)y) * 2 + spread3((unsigned)z);
}
__global__ void utf8(const unsigned char *text, unsigned *bad, int n) { /* each byte knows what should be around it */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char ch = text[i];
    bool wrong = false;
    if (ch < 0x80) return;
    if ((ch & 0xC0) == 0x80) { /* a lead byte that is long enough goes before */
        int back = 1;
        while (back < 4 && i - back >= 0 && (text[i - back] & 0xC0) == 0x80) back++;
        unsigned char lead = i - back >= 0 ? text[i - back] : 0;
        int length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
        wrong = back >= length;
    } else {
        int length = ch >= 0xF0 ? 4 : ch >= 0xE0 ? 3 : 2;
        for (int k = 1; k < length; k++)
            if (i + k >= n || (text[i + k] & 0xC0) != 0x80) wrong = true;
        if (ch == 0xC0 || ch == 0xC1 || ch > 0xF4) wrong = true;
    }
    if (wrong) atomicAdd(bad, 1u);
}
__global__ void lfsr(unsigned *out, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = i + 1;
    for (int k = 0; k < steps; k++) s = (s >> 1) ^ (-(s & 1u) & 0xD0000001u);
    out[i] = s;
}
__global__ void reverse_bits(const float *__restrict__ in, float *__restrict__ out, int bits) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[__brev(i) >> (32 - bits)] = in[i];
}
/* --- automata --- */
__global__ void rule30(const unsigned *in, unsigned *out, int n, int steps) { /* a word of halo at either side */
    __shared__ unsigned line[2][512];
    int i = blockIdx.x * 510 + threadIdx.x - 1, t = threadIdx.x, now = 0;
    line[0][t] = i >= 0 && i < n ? in[i] : 0;
    __syncthreads();
    for (int k = 0; k < steps; k++) {
        unsigned m = line[now][t], before = t > 0 ? line[now][t - 1] : 0, after = t < 511 ? line[now][t + 1] : 0;
        unsigned left = m << 1 | before >> 31, right = m >> 1 | after << 31;
        line[1 - now][t] = left ^ (m | right);
        now = 1 - now;
        __syncthreads();
    }
    if (t > 0 && t < 511 && i < n) out[i] = line[now][t];
}
__global__ void life_words(const unsigned *in, unsigned *out, int w, int h) { /* 32 cells a word */
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int left = (x + w - 1) % w, right = (x + 1) % w;
    unsigned ones = 0, twos = 0, fours = 0, self = 0;
#pragma unroll
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *row = in + (size_t)((y + dy + h) % h) * w;
        unsigned m = row[x], l = m << 1 | row[left] >> 31, r = m >> 1 | row[right] << 31;
        unsigned add[3] = {l, r, m};
        if (dy == 0) self = m;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            if (dy == 0 && k == 2) continue;
            unsigned carry = ones & add[k];
            ones ^= add[k];
            unsigned carry2 = twos & carry;
            twos ^= carry;
            fours |= carry2;
        }
    }
    out[(size_t)y * w + x] = twos & ~fours & (ones | self);
}
/* --- dynamic programs --- */
__global__ void floyd(float *d, int n, int k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float through = d[y * n + k] + d[k * n + x];
    d[y * n + x] = fminf(d[y * n + x], through);
}
__global__ void knapsack(const int *old, int *best, int capacity, int weight, int value) {
    int w = blockIdx.x * blockDim.x + threadIdx.x;
    if (w >= capacity) return;
    int without = old[w];
    if (w >= weight) {
        int with = old[w - weight] + value;
        best[w] = with > without ? with : without;
    } else {
        best[w] = without;
    }
}
__global__ void viterbi(const float *costs, const float *seen, unsigned char *from,
                        float *out) { /* a sequence a block */
    __shared__ float cost[STATES][STATES], now[STATES];
    int s = threadIdx.x;
    for (int k = 0; k < STATES; k++) cost[k][s] = costs[k * STATES + s];
    now[s] = 0;
    __syncthreads();
    for (int t = 0; t < STEPS; t++) {
        float best = 1e30f;
        int best_k = 0;
        for (int k = 0; k < STATES; k++) {
            float v = now[k] + cost[k][s];
            if (v < best) best = v, best_k = k;
        }
        size_t place = ((size_t)blockIdx.x * STEPS + t) * STATES + s;
        from[place] = (unsigned char)best_k;
        best += seen[place];
        __syncthreads();
        now[s] = best;
        __syncthreads();
    }
    out[blockIdx.x * STATES + s] = now[s];
}
/* --- systems of equations --- */
__global__ void inverse3(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float m[9];
    for (int k = 0; k < 9; k++) m[k] = in[9 * i + k];
    float c0 = m[4] * m[8] - m[5] * m[7], c1 = m[5] * m[6] - m[3] * m[8], c2 = m[3] * m[7] - m[4] * m[6];
    float det = m[0] * c0 + m[1] * c1 + m[2] * c2;
    float r = 1.0f / det;
    float *o = out + 9 * i;
    o[0] = c0 * r;
    o[1] = (m[2] * m[7] - m[1] * m[8]) * r;
    o[2] = (m[1] * m[5] - m[2] * m[4]) * r;
    o[3] = c1 * r;
    o[4] = (m[0] * m[8] - m[2] * m[6]) * r;
    o[5] = (m[2] * m[3] - m[0] * m[5]) * r;
    o[6] = c2 * r;
    o[7] = (m[1] * m[6] - m[0] * m[7]) * r;
    o[8] = (m[0] * m[4] - m[1] * m[3]) * r;
}
__global__ void pcr(const float *below, const float *diagonal, const float *above, const float *right, float *out) {
    __shared__ float a[256], b[256], c[256], d[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    a[t] = t == 0 ? 0 : below[i];
    b[t] = diagonal[i];
    c[t] = t == 255 ? 0 : above[i];
    d[t] = right[i];
    __syncthreads();
    for (int o = 1; o < 256; o *= 2) {
        float na = 0, nb = b[t], nc = 0, nd = d[t];
        if (t >= o) {
            float k = a[t] / b[t - o];
            na = -a[t - o] * k;
            nb -= c[t - o] * k;
            nd -= d[t - o] * k;
        }
        if (t + o < 256) {
            float k = c[t] / b[t + o];
            nc = -c[t + o] * k;
            nb -= a[t + o] * k;
            nd -= d[t + o] * k;
        }
        __syncthreads();
        a[t] = na, b[t] = nb, c[t] = nc, d[t] = nd;
        __syncthreads();
    }
    out[i] = d[t] / b[t];
}
__global__ void bsr4(const int *__restrict__ first, const int *__restrict__ column, const float4 *__restrict__ value,
                     const float4 *__restrict__ x, float *__restrict__ y, int rows) { /* a thread a row */
    int i = blockIdx.x * blockDim.x + threadIdx.x, block_row = i / 4, r = i % 4;
    if (block_row >= rows) return;
    float s = 0;
    for (int k = first[block_row]; k < first[block_row + 1]; k++) {
        float4 m = value[4 * (size_t)k + r], v = x[column[k]];
        s += m.x * v.x + m.y * v.y + m.z * v.z + m.w * v.w;
    }
    y[i] = s;
}

static void setup() {
    a = filled<float>(1 << 23, [](size_t i) { return unit(i); });
    b = zeroed<float>(1 << 23);
    c = zeroed<float>(1 << 20);
    distance = filled<float>(CITIES * CITIES, [](size_t i) { return i / CITIES == i % CITIES ? 0 : 1 + 99 * unit(i); });
    below = filled<float>(1 << 20, [](size_t i) { return -unit(i); });
    diagonal = filled<float>(1 << 20, [](size_t i) { return 3 + unit(i + 1); });
    above = filled<float>(1 << 20, [](size_t i) { return -unit(i + 2); });
    matrices = filled<float>(9 << 19, [](size_t i) { return unit(i) + (i % 9 % 4 == 0 ? 3.0f : 0.0f); });
    costs = filled<float>(STATES * STATES, [](size_t i) { return 4 * unit(i); });
    vectors = filled<float>(4 * BLOCK_ROWS, [](size_t i) { return unit(i + 3); });
    runs = filled<int>(1 << 23, [](size_t i) { return (int)(mixed(i / 5 + i / 7) & 255); });
    keys = filled<int>(1 << 21, [](size_t i) { return (int)(i / 6 - (i / 6) % (1 + (i >> 12) % 4)); });
    parent = zeroed<int>(NODES);
    edges = filled<int2>(
        EDGES, [](size_t i) { return make_int2((int)(mixed(2 * i) % NODES), (int)(mixed(2 * i + 1) % NODES)); });
    first = filled<int>(BLOCK_ROWS + 1, [](size_t i) { return (int)i * BLOCKS_A_ROW; });
    column = filled<int>(BLOCK_ROWS * BLOCKS_A_ROW,
                         [](size_t i) { /* five near the diagonal, three anywhere */
                                        int row = (int)(i / BLOCKS_A_ROW), k = (int)(i % BLOCKS_A_ROW);
                                        return k < 5 ? (row + k - 2 + BLOCK_ROWS) % BLOCK_ROWS
                                                     : (int)(mixed(i) % BLOCK_ROWS);
                         });
    row0 = filled<int>(1 << 21, [](size_t i) { return (int)(i / 3); });
    row1 = zeroed<int>(1 << 21);
    row2 = zeroed<int>(1 << 21);
    row3 = zeroed<int>(1 << 21);
    points =
        filled<float4>(1 << 21, [](size_t i) { return make_float4(unit(3 * i), unit(3 * i + 1), unit(3 * i + 2), 1); });
    words = filled<unsigned>(1 << 22, [](size_t i) { return mixed(i); });
    more = zeroed<unsigned>(1 << 22);
    bins = zeroed<unsigned>(BINS);
    bad = zeroed<unsigned>(1);
    counts = zeroed<unsigned>(1 << 15);
    flags = zeroed<unsigned char>(1 << 23);

    unsigned char *host = (unsigned char *)malloc(LETTERS);
    if (!host) exit(1);
    for (size_t i = 0, k = 0; i < LETTERS; k++) { /* mostly ASCII, some of two and of three bytes */
        unsigned m = mixed(k), kind = i + 3 > LETTERS ? 0 : m % 16;
        if (kind == 14) {
            host[i++] = 0xC3;
            host[i++] = 0x80 | (m >> 8 & 63);
        } else if (kind == 15) {
            host[i++] = 0xE4;
            host[i++] = 0x80 | (m >> 8 & 63);
            host[i++] = 0x80 | (m >> 16 & 63);
        } else {
            host[i++] = 32 + (m >> 8) % 95;
        }
    }
    MUST(cudaMalloc(&text, LETTERS));
    MUST(cudaMemcpy(text, host, LETTERS, cudaMemcpyHostToDevice));
    free(host);
}
static const fidelity_test tests[] = {
    COLD("lists/histogram of 2048 bins in shared memory, 2^22", 1, histogram2048<<<264, 1024>>>(words, bins, 1 << 22)),
    COLD("lists/starts of runs, 2^23", 1, run_starts<<<1 << 15, 256>>>(runs, flags, counts, 1 << 23)),
    COLD("lists/segmented sum by shuffles, 2^21", 1, segmented_sum<<<1 << 14, 128>>>(keys, a, c, 1 << 21)),
    COLD("lists/union and find, hooking, 2^19 edges", 2, alone<<<NODES / 256, 256>>>(parent, NODES);
         hook<<<EDGES / 256, 256>>>(edges, parent, EDGES)),
    COLD("codes/Morton, 2^21", 1, morton<<<1 << 12, 512>>>(points, more, 1 << 21)),
    COLD("codes/UTF-8 check, 2^23", 1, utf8<<<LETTERS / 256, 256>>>(text, bad, LETTERS)),
    COLD("codes/shift register, 1024 steps, 2^17", 1, lfsr<<<2048, 64>>>(more, 1024)),
    COLD("codes/reversed bits, 2^22", 1, reverse_bits<<<1 << 14, 256>>>(a, b, 22)),
    COLD("automata/rule 30, 16 steps in shared memory, 2^20 words", 1,
         rule30<<<((1 << 20) + 509) / 510, 512>>>(words, more, 1 << 20, 16)),
    COLD("automata/life, 32 cells a word, 16384 x 8192", 1,
         life_words<<<dim3(LIFE_W / 64, LIFE_H / 4), dim3(64, 4)>>>(words, more, LIFE_W, LIFE_H)),
    COLD("dynamic/Floyd and Warshall, 2 steps, 2048", 2,
         floyd<<<dim3(CITIES / 256, CITIES), 256>>>(distance, CITIES, 0);
         floyd<<<dim3(CITIES / 256, CITIES), 256>>>(distance, CITIES, 1)),
    WARM("dynamic/knapsack, 3 rows, 2^21", 3, knapsack<<<2048, 1024>>>(row0, row1, 1 << 21, 1003, 700);
         knapsack<<<2048, 1024>>>(row1, row2, 1 << 21, 20011, 9000);
         knapsack<<<2048, 1024>>>(row2, row3, 1 << 21, 77, 20)),
    COLD("dynamic/Viterbi, 64 states, 32 steps, 1024", 1, viterbi<<<1024, STATES>>>(costs, a, flags, c)),
    COLD("systems/inverse of 3 x 3, a thread each, 2^19", 1, inverse3<<<4096, 128>>>(matrices, b, 1 << 19)),
    COLD("systems/cyclic reduction in shared memory, 4096 of 256", 1, pcr<<<4096, 256>>>(below, diagonal, above, a, b)),
    COLD("systems/blocks of 4 x 4, CSR, 2^15 block rows", 1,
         bsr4<<<1024, 128>>>(first, column, (const float4 *)a, (const float4 *)vectors, b, BLOCK_ROWS)),
};
FIDELITY_MAIN(setup, tests)

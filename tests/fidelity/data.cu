/* data.cu — hash tables, columns of a data base, groups, graphs, orders. */
#include "fidelity.h"

enum { KEYS = 1 << 20, SLOTS = 1 << 21, FILTER_BITS = 1 << 24, TABLE_ROWS = 1 << 22, GROUPED = 1 << 21 };
enum { NODES = 1 << 19, FRONTIER = 1 << 15, FRIENDS = 1 << 16, RUN = 1 << 20, TOP_ROWS = 4096, TOP_WIDTH = 1024 };
const unsigned EMPTY = 0xffffffffu;

/* --- hash tables, with linear probing --- */
struct slot {
    unsigned key, value;
};

__host__ __device__ inline unsigned murmur(unsigned k) {
    k ^= k >> 16;
    k *= 0x85ebca6b;
    k ^= k >> 13;
    k *= 0xc2b2ae35;
    k ^= k >> 16;
    return k;
}

__global__ void clear_table(slot *table, unsigned slots) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots) {
        table[i].key = EMPTY;
        table[i].value = EMPTY;
    }
}

__global__ void insert(slot *table, unsigned slots, const unsigned *keys, const unsigned *values, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i];
    unsigned at = murmur(key) & (slots - 1);
    while (true) {
        unsigned before = atomicCAS(&table[at].key, EMPTY, key);
        if (before == EMPTY || before == key) {
            table[at].value = values[i];
            return;
        }
        at = (at + 1) & (slots - 1);
    }
}

__global__ void lookup(const slot *table, unsigned slots, const unsigned *wanted, unsigned *found, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = wanted[i];
    unsigned at = murmur(key) & (slots - 1);
    unsigned result = EMPTY;
    while (true) {
        slot s = table[at];
        if (s.key == key) {
            result = s.value;
            break;
        }
        if (s.key == EMPTY) break;
        at = (at + 1) & (slots - 1);
    }
    found[i] = result;
}

template <int HASHES> __global__ void bloom_add(unsigned *filter, unsigned bits, const unsigned *keys, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        unsigned h1 = murmur(keys[i]), h2 = murmur(h1 ^ 0x9e3779b9u) | 1;
#pragma unroll
        for (int k = 0; k < HASHES; k++) {
            unsigned h = (h1 + k * h2) & (bits - 1);
            atomicOr(&filter[h / 32], 1u << (h % 32));
        }
    }
}

/* --- columns --- */
/* Compaction in three launches: count in each block, scan the counts, place. */
__global__ void count_kept(const int *in, int *counts, int n, int limit) {
    __shared__ int kept;
    if (threadIdx.x == 0) kept = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] < limit) atomicAdd(&kept, 1);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = kept;
}

/* Inclusive scan of one value a thread, by Hillis and Steele. */
__device__ int scan_block(int value, int *s) {
    int t = threadIdx.x;
    s[t] = value;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int add = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += add;
        __syncthreads();
    }
    return s[t];
}

__global__ void scan_counts(const int *counts, int *offsets, int blocks) { /* one block, that loops */
    extern __shared__ int s[];
    int before = 0;
    for (int base = 0; base < blocks; base += blockDim.x) {
        int i = base + threadIdx.x;
        int value = i < blocks ? counts[i] : 0;
        int sum = scan_block(value, s);
        if (i < blocks) offsets[i] = before + sum - value;
        before += s[blockDim.x - 1];
        __syncthreads();
    }
}

__global__ void place_kept(const int *in, const int *offsets, int *out, int n, int limit) {
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int value = i < n ? in[i] : limit;
    int keep = value < limit;
    int at = scan_block(keep, s) - keep;
    if (keep) out[offsets[blockIdx.x] + at] = value;
}

/* select sum(price * discount) from lines where day between ... and discount between ... and quantity < ... */
__global__ void filter_sum(const int *__restrict__ day, const int *__restrict__ quantity,
                           const float *__restrict__ discount, const float *__restrict__ price, double *revenue,
                           int n) {
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (day[i] >= 365 && day[i] < 730 && discount[i] >= 0.05f && discount[i] <= 0.07f && quantity[i] < 24)
            sum += price[i] * discount[i];
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (threadIdx.x % 32 == 0) atomicAdd(revenue, (double)sum);
}

/* --- groups --- */
__global__ void group_shared(const int *group, const float *value, float *sums, int *counts, int n, int groups) {
    extern __shared__ float s_sums[];
    int *s_counts = (int *)(s_sums + groups);
    for (int g = threadIdx.x; g < groups; g += blockDim.x) {
        s_sums[g] = 0.0f;
        s_counts[g] = 0;
    }
    __syncthreads();
    int stride = blockDim.x * gridDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
        int g = group[i] % groups;
        atomicAdd(&s_sums[g], value[i]);
        atomicAdd(&s_counts[g], 1);
    }
    __syncthreads();
    for (int g = threadIdx.x; g < groups; g += blockDim.x) {
        atomicAdd(&sums[g], s_sums[g]);
        atomicAdd(&counts[g], s_counts[g]);
    }
}

__global__ void group_global(const int *group, const float *value, float *sums, int *counts, int n, int groups) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int g = group[i] % groups;
    atomicAdd(&sums[g], value[i]);
    atomicAdd(&counts[g], 1);
}

/* --- graphs: the edges of node v are those from row[v] to row[v + 1] --- */
__global__ void bfs_begin(const int *level_given, int *level, int *next_count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) level[i] = level_given[i];
    if (i == 0) *next_count = 0;
}

__global__ void bfs_expand(const int *row, const int *edge, const int *frontier, int count, int *level, int *next,
                           int *next_count, int depth) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    int v = frontier[i];
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = edge[e];
        if (level[w] == -1 && atomicCAS(&level[w], -1, depth) == -1) next[atomicAdd(next_count, 1)] = w;
    }
}

__global__ void page_rank(const int *__restrict__ row, const int *__restrict__ edge, const int *__restrict__ degree,
                          const float *__restrict__ rank, float *__restrict__ rank_next, int n, float damping) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0;
    for (int e = row[v]; e < row[v + 1]; e++) {
        int w = edge[e];
        sum += rank[w] / degree[w];
    }
    rank_next[v] = (1.0f - damping) / n + damping * sum;
}

/* An edge a thread, with v < w: how many neighbours do they share? Lists are sorted. */
__global__ void triangles(const int *row, const int *edge, const int *from, int edges, unsigned long long *total) {
    __shared__ int sums[256];
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int count = 0;
    if (e < edges) {
        int v = from[e], w = edge[e];
        int i = row[v], i_end = row[v + 1], j = row[w], j_end = row[w + 1];
        while (i < i_end && j < j_end) {
            int x = edge[i], y = edge[j];
            if (x == y) {
                count++;
                i++;
                j++;
            } else if (x < y) {
                i++;
            } else {
                j++;
            }
        }
    }
    sums[threadIdx.x] = count;
    __syncthreads();
    for (int d = blockDim.x / 2; d > 0; d >>= 1) {
        if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(total, (unsigned long long)sums[0]);
}

/* --- orders --- */
/* Merge path: a thread finds where its stretch of the result begins in both lists, and merges that stretch. */
template <int EACH> __global__ void merge_path(const int *a, int na, const int *b, int nb, int *out) {
    int diagonal = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    if (diagonal >= na + nb) return;
    int low = max(0, diagonal - nb), high = min(diagonal, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = diagonal - low;
    for (int k = 0; k < EACH && diagonal + k < na + nb; k++) {
        if (j >= nb || (i < na && a[i] <= b[j]))
            out[diagonal + k] = a[i++];
        else
            out[diagonal + k] = b[j++];
    }
}

__device__ inline void order(float &a, float &b) {
    float low = fminf(a, b), high = fmaxf(a, b);
    a = low;
    b = high;
}

/* Batcher's network: 19 comparisons sort 8 values. */
__global__ void network8(float *data, int n) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i >= n) return;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = data[i + k];
    order(v[0], v[1]), order(v[2], v[3]), order(v[4], v[5]), order(v[6], v[7]);
    order(v[0], v[2]), order(v[1], v[3]), order(v[4], v[6]), order(v[5], v[7]);
    order(v[1], v[2]), order(v[5], v[6]);
    order(v[0], v[4]), order(v[1], v[5]), order(v[2], v[6]), order(v[3], v[7]);
    order(v[2], v[4]), order(v[3], v[5]);
    order(v[1], v[2]), order(v[3], v[4]), order(v[5], v[6]);
#pragma unroll
    for (int k = 0; k < 8; k++) data[i + k] = v[k];
}

/* A row a block: K times, the block finds the largest that is left. */
template <int K> __global__ void top_k(const float *in, float *values, int *places, int width) {
    __shared__ float best[128];
    __shared__ int best_at[128];
    extern __shared__ float line[];
    int t = threadIdx.x;
    for (int i = t; i < width; i += blockDim.x) line[i] = in[(size_t)blockIdx.x * width + i];
    __syncthreads();
    for (int k = 0; k < K; k++) {
        float largest = -1e30f;
        int at = -1;
        for (int i = t; i < width; i += blockDim.x) {
            if (line[i] > largest) {
                largest = line[i];
                at = i;
            }
        }
        best[t] = largest;
        best_at[t] = at;
        __syncthreads();
        for (int d = blockDim.x / 2; d > 0; d /= 2) {
            if (t < d && best[t + d] > best[t]) {
                best[t] = best[t + d];
                best_at[t] = best_at[t + d];
            }
            __syncthreads();
        }
        if (t == 0) {
            values[blockIdx.x * K + k] = best[0];
            places[blockIdx.x * K + k] = best_at[0];
            line[best_at[0]] = -1e30f;
        }
        __syncthreads();
    }
}

static slot *table;
static unsigned *keys, *values, *wanted, *found, *filter;
static int *numbers, *kept, *kept_counts, *kept_offsets;
static int *day, *quantity, *group, *group_counts;
static float *discount, *price, *measure, *group_sums;
static double *revenue;
static int *row, *edge, *degree, *frontier, *level_given, *level, *next_queue, *next_count;
static float *rank_now, *rank_next;
static int *friend_row, *friend_edge, *friend_from, friend_edges;
static unsigned long long *total;
static int *run_a, *run_b, *merged;
static float *shuffled, *scores, *top_values;
static int *top_places;

static unsigned key_of(size_t i) { return (unsigned)(i * 2654435761u) >> 1; }

static void make_table() {
    slot *host = (slot *)malloc(SLOTS * sizeof(slot));
    for (unsigned i = 0; i < SLOTS; i++) host[i].key = host[i].value = EMPTY;
    for (unsigned i = 0; i < KEYS; i++) {
        unsigned at = murmur(key_of(i)) & (SLOTS - 1);
        while (host[at].key != EMPTY && host[at].key != key_of(i)) at = (at + 1) & (SLOTS - 1);
        host[at].key = key_of(i);
        host[at].value = i;
    }
    table = filled<slot>(SLOTS, [=](size_t i) { return host[i]; });
    free(host);
}

static void make_graph() { /* 2 to 14 edges a node, to anywhere */
    int *start = (int *)malloc((NODES + 1) * sizeof(int));
    start[0] = 0;
    for (int v = 0; v < NODES; v++) start[v + 1] = start[v] + 2 + mixed(v) % 13;
    row = filled<int>(NODES + 1, [=](size_t v) { return start[v]; });
    degree = filled<int>(NODES, [=](size_t v) { return start[v + 1] - start[v]; });
    edge = filled<int>(start[NODES], [](size_t e) { return (int)(mixed(e + 99) % NODES); });
    free(start);
}

static void make_friends() { /* 4 to 19 edges a node, each to a later node near by */
    int *start = (int *)malloc((FRIENDS + 1) * sizeof(int)), edges = 0;
    int *to = (int *)malloc(20 * FRIENDS * sizeof(int)), *from = (int *)malloc(20 * FRIENDS * sizeof(int));
    for (int v = 0; v < FRIENDS; v++) {
        start[v] = edges;
        int count = 4 + mixed(v) % 16;
        for (int k = 0; k < count; k++) {
            int w = v + 1 + 3 * k + mixed(20 * v + k) % 3;
            if (w < FRIENDS) from[edges] = v, to[edges++] = w;
        }
    }
    start[FRIENDS] = edges;
    friend_edges = edges;
    friend_row = filled<int>(FRIENDS + 1, [=](size_t v) { return start[v]; });
    friend_edge = filled<int>(edges, [=](size_t e) { return to[e]; });
    friend_from = filled<int>(edges, [=](size_t e) { return from[e]; });
    free(start), free(to), free(from);
}

static void setup() {
    make_table();
    keys = filled<unsigned>(KEYS, key_of);
    values = filled<unsigned>(KEYS, [](size_t i) { return (unsigned)i; });
    wanted = filled<unsigned>(KEYS, [](size_t i) { return key_of(mixed(i) % (2 * KEYS)); }); /* half are there */
    found = zeroed<unsigned>(KEYS);
    filter = zeroed<unsigned>(FILTER_BITS / 32);
    numbers = filled<int>(TABLE_ROWS, [](size_t i) { return (int)(mixed(i) % 1000); });
    kept = zeroed<int>(TABLE_ROWS);
    kept_counts = zeroed<int>(TABLE_ROWS / 512), kept_offsets = zeroed<int>(TABLE_ROWS / 512);
    day = filled<int>(TABLE_ROWS, [](size_t i) { return (int)(mixed(i + 1) % 2555); });
    quantity = filled<int>(TABLE_ROWS, [](size_t i) { return (int)(mixed(i + 2) % 50 + 1); });
    discount = filled<float>(TABLE_ROWS, [](size_t i) { return 0.01f * (mixed(i + 3) % 11); });
    price = filled<float>(TABLE_ROWS, [](size_t i) { return 1000.0f * unit(i + 4); });
    revenue = zeroed<double>(1);
    group = filled<int>(GROUPED, [](size_t i) { return (int)(mixed(i + 5) >> 1); });
    measure = filled<float>(GROUPED, [](size_t i) { return unit(i + 6); });
    group_sums = zeroed<float>(1 << 16), group_counts = zeroed<int>(1 << 16);
    make_graph();
    frontier = filled<int>(FRONTIER, [](size_t i) { return (int)(i * 16 + mixed(i) % 16); });
    level_given = filled<int>(NODES, [](size_t v) { return v % 16 == mixed(v / 16) % 16 ? 4 : v % 5 ? -1 : 3; });
    level = zeroed<int>(NODES), next_queue = zeroed<int>(NODES), next_count = zeroed<int>(1);
    rank_now = filled<float>(NODES, [](size_t i) { return unit(i) / NODES; });
    rank_next = zeroed<float>(NODES);
    make_friends();
    total = zeroed<unsigned long long>(1);
    run_a = filled<int>(RUN, [](size_t i) { return (int)(i * 16 + mixed(i) % 16); });
    run_b = filled<int>(RUN, [](size_t i) { return (int)(i * 16 + mixed(i + 7) % 16); });
    merged = zeroed<int>(2 * RUN);
    shuffled = filled<float>(1 << 22, [](size_t i) { return unit(i + 8); });
    scores = filled<float>(TOP_ROWS * TOP_WIDTH, [](size_t i) { return unit(i + 9); });
    top_values = zeroed<float>(TOP_ROWS * 8), top_places = zeroed<int>(TOP_ROWS * 8);
}

static void fill_table() {
    clear_table<<<SLOTS / 1024, 1024>>>(table, SLOTS);
    insert<<<KEYS / 1024, 1024>>>(table, SLOTS, keys, values, KEYS);
}
static void compact() {
    const int n = 1 << 21, blocks = n / 512;
    count_kept<<<blocks, 512>>>(numbers, kept_counts, n, 300);
    scan_counts<<<1, 1024, 1024 * sizeof(int)>>>(kept_counts, kept_offsets, blocks);
    place_kept<<<blocks, 512, 512 * sizeof(int)>>>(numbers, kept_offsets, kept, n, 300);
}
static void search() {
    bfs_begin<<<NODES / 256, 256>>>(level_given, level, next_count, NODES);
    bfs_expand<<<FRONTIER / 256, 256>>>(row, edge, frontier, FRONTIER, level, next_queue, next_count, 5);
}

static const fidelity_test tests[] = {
    COLD("tables/cleared and filled, compare and swap, 2^20", 2, fill_table()),
    COLD("tables/looked up, half are there, 2^20", 1, lookup<<<KEYS / 256, 256>>>(table, SLOTS, wanted, found, KEYS)),
    COLD("tables/Bloom filter, 4 bits a key, 2^20", 1, bloom_add<4><<<1024, 512>>>(filter, FILTER_BITS, keys, KEYS)),
    COLD("columns/compaction, 3 launches, 2^21", 3, compact()),
    COLD("columns/filter and sum, 2^22", 1,
         filter_sum<<<1056, 256>>>(day, quantity, discount, price, revenue, TABLE_ROWS)),
    COLD("groups/256, shared atomics, 2^21", 1,
         group_shared<<<528, 256, 256 * 8>>>(group, measure, group_sums, group_counts, GROUPED, 256)),
    COLD("groups/4096, global atomics, 2^20", 1,
         group_global<<<4096, 256>>>(group, measure, group_sums, group_counts, 1 << 20, 4096)),
    COLD("graphs/breadth first with a queue, 2^15", 2, search()),
    COLD("graphs/page rank, pull, 2^19 nodes", 1,
         page_rank<<<NODES / 128, 128>>>(row, edge, degree, rank_now, rank_next, NODES, 0.85f)),
    COLD("graphs/triangles, an edge a thread, 2^16 nodes", 1,
         triangles<<<(friend_edges + 255) / 256, 256>>>(friend_row, friend_edge, friend_from, friend_edges, total)),
    COLD("orders/merge path, 16 a thread, 2^21", 1,
         merge_path<16><<<2 * RUN / 16 / 128, 128>>>(run_a, RUN, run_b, RUN, merged)),
    COLD("orders/network of 8 a thread, 2^22", 1, network8<<<(1 << 19) / 64, 64>>>(shuffled, 1 << 22)),
    COLD("orders/top 8 of 1024, a row a block, 4096", 1,
         top_k<8><<<TOP_ROWS, 128, TOP_WIDTH * sizeof(float)>>>(scores, top_values, top_places, TOP_WIDTH)),
};
FIDELITY_MAIN(setup, tests)

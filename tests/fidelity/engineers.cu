/* engineers.cu — gradients of a layer, filters of many channels, joins of tables, neighbours of particles, a cipher,
 * rays in a tree of boxes. */
#include "fidelity.h"
#include <math.h>

enum {
    BATCH = 1024,
    WIDTH = 2048, /* backward */
    CHANNELS = 16384,
    SAMPLES = 128, /* biquad */
    BUILD = 1 << 18,
    PROBE = 1 << 20,
    PARTS = 512,
    SLOTS = 1024, /* join */
    PARTICLES = 1 << 16,
    NEAR = 64,        /* neighbours */
    CHUNKS = 1 << 17, /* chacha */
    SPHERES = 4096,
    LEAF = 4,
    VIEW = 256 /* trees */
};
#define EMPTY 0xffffffffu
#define NONE  0xfffffffeu

static float *x, *dy, *mean, *rstd, *dgamma, *dbeta, *signal_in, *signal_out, *density, *depth;
static uint2 *build_rows, *probe_rows, *build_parts, *probe_parts; /* x: key, y: payload */
static int *heads, *nexts, *build_from, *probe_from, *list_rows, *list_columns;
static unsigned *joined, *plain, *secret;
static float4 *places, *nodes, *spheres;

/* --- gradients of layer norm's gamma and beta --- */
__global__ void gamma_beta_column(const float *x, const float *dy, const float *mean, const float *rstd, float *dgamma,
                                  float *dbeta, int rows, int width) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= width) return;
    float g = 0, b = 0;
    for (int r = 0; r < rows; r++) {
        float d = dy[r * width + c];
        g += d * (x[r * width + c] - mean[r]) * rstd[r];
        b += d;
    }
    dgamma[c] += g;
    dbeta[c] += b;
}
__global__ void gamma_beta_tile(const float *__restrict__ x, const float *__restrict__ dy,
                                const float *__restrict__ mean, const float *__restrict__ rstd, float *dgamma,
                                float *dbeta, int rows, int width) { /* 32 x 8 threads */
    __shared__ float gs[8][33], bs[8][33];
    int c = blockIdx.x * 32 + threadIdx.x, each = rows / gridDim.y, first = blockIdx.y * each;
    float g = 0, b = 0;
    for (int r = first + threadIdx.y; r < first + each; r += 8) {
        float d = dy[r * width + c];
        g += d * (x[r * width + c] - mean[r]) * rstd[r];
        b += d;
    }
    gs[threadIdx.y][threadIdx.x] = g;
    bs[threadIdx.y][threadIdx.x] = b;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int k = 1; k < 8; k++) g += gs[k][threadIdx.x];
        atomicAdd(&dgamma[c], g);
    } else if (threadIdx.y == 1) {
        b = 0;
        for (int k = 0; k < 8; k++) b += bs[k][threadIdx.x];
        atomicAdd(&dbeta[c], b);
    }
}
/* --- a biquad section, transposed direct form II, for every channel --- */
struct biquad {
    float b0, b1, b2, a1, a2;
};
__global__ void biquad_rows(const float *in, float *out, int channels, int samples, biquad f) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    const float *from = in + (size_t)c * samples;
    float *to = out + (size_t)c * samples;
    float s1 = 0, s2 = 0;
    for (int t = 0; t < samples; t++) {
        float v = from[t], y = f.b0 * v + s1;
        s1 = f.b1 * v - f.a1 * y + s2;
        s2 = f.b2 * v - f.a2 * y;
        to[t] = y;
    }
}
__global__ void biquad_interleaved(const float *in, float *out, int channels, int samples, biquad f) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels) return;
    float s1 = 0, s2 = 0;
    for (int t = 0; t < samples; t++) {
        float v = in[t * channels + c], y = f.b0 * v + s1;
        s1 = f.b1 * v - f.a1 * y + s2;
        s2 = f.b2 * v - f.a2 * y;
        out[t * channels + c] = y;
    }
}
__global__ void biquad_staged(const float *__restrict__ in, float *__restrict__ out, int samples,
                              biquad f) { /* 64 threads, 64 channels */
    __shared__ float tile[64][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, first = blockIdx.x * 64;
    float s1 = 0, s2 = 0;
    for (int t = 0; t < samples; t += 32) {
        for (int r = warp; r < 64; r += 2) tile[r][lane] = in[(first + r) * samples + t + lane];
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            float v = tile[threadIdx.x][k], y = f.b0 * v + s1;
            s1 = f.b1 * v - f.a1 * y + s2;
            s2 = f.b2 * v - f.a2 * y;
            tile[threadIdx.x][k] = y;
        }
        __syncthreads();
        for (int r = warp; r < 64; r += 2) out[(first + r) * samples + t + lane] = tile[r][lane];
        __syncthreads();
    }
}
/* --- join: the payload of the row with the same key --- */
static __host__ __device__ unsigned hashed(unsigned key) { return key * 2654435761u; }
__global__ void join_chains(const uint2 *probe, int n, const int *heads, const int *nexts, const uint2 *rows,
                            unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint2 p = probe[i];
    unsigned found = NONE;
    for (int e = heads[hashed(p.x) >> 14]; e >= 0; e = nexts[e]) {
        uint2 r = rows[e];
        if (r.x == p.x) {
            found = r.y + p.y;
            break;
        }
    }
    out[i] = found;
}
__global__ void join_parts(const uint2 *build, const int *build_from, const uint2 *probe, const int *probe_from,
                           unsigned *out) {
    __shared__ unsigned keys[SLOTS], values[SLOTS];
    for (int k = threadIdx.x; k < SLOTS; k += blockDim.x) keys[k] = EMPTY;
    __syncthreads();
    int end = build_from[blockIdx.x + 1];
    for (int i = build_from[blockIdx.x] + threadIdx.x; i < end; i += blockDim.x) {
        uint2 r = build[i];
        unsigned slot = hashed(r.x) >> 13 & (SLOTS - 1);
        while (atomicCAS(&keys[slot], EMPTY, r.x) != EMPTY) slot = (slot + 1) & (SLOTS - 1);
        values[slot] = r.y;
    }
    __syncthreads();
    end = probe_from[blockIdx.x + 1];
    for (int i = probe_from[blockIdx.x] + threadIdx.x; i < end; i += blockDim.x) {
        uint2 p = probe[i];
        unsigned slot = hashed(p.x) >> 13 & (SLOTS - 1), found = NONE, k;
        while ((k = keys[slot]) != EMPTY) {
            if (k == p.x) {
                found = values[slot] + p.y;
                break;
            }
            slot = (slot + 1) & (SLOTS - 1);
        }
        out[i] = found;
    }
}
/* --- density of smoothed particles, by lists of neighbours --- */
__device__ float cubic(float4 p, float4 q, float inverse) { /* q.w: the mass */
    float ux = p.x - q.x, uy = p.y - q.y, uz = p.z - q.z;
    float r = sqrtf(ux * ux + uy * uy + uz * uz) * inverse;
    if (r >= 2) return 0;
    if (r >= 1) {
        float s = 2 - r;
        return q.w * 0.25f * s * s * s;
    }
    return q.w * (1 - 1.5f * r * r + 0.75f * r * r * r);
}
__global__ void density_rows(const float4 *places, const int *list, float *out, int n, float inverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = places[i];
    float sum = 0;
    for (int k = 0; k < NEAR; k++) sum += cubic(p, places[list[i * NEAR + k]], inverse);
    out[i] = sum;
}
__global__ void density_columns(const float4 *__restrict__ places, const int *__restrict__ list,
                                float *__restrict__ out, int n, float inverse) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 p = places[i];
    float sum = 0;
    for (int k = 0; k < NEAR; k++) sum += cubic(p, places[list[k * n + i]], inverse);
    out[i] = sum;
}
__global__ void density_warp(const float4 *__restrict__ places, const int *__restrict__ list, float *__restrict__ out,
                             int n, float inverse) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= n) return;
    float4 p = places[i];
    float sum = 0;
    for (int k = lane; k < NEAR; k += 32) sum += cubic(p, places[list[i * NEAR + k]], inverse);
    for (int o = 16; o > 0; o /= 2) sum += __shfl_down_sync(0xffffffffu, sum, o);
    if (lane == 0) out[i] = sum;
}
/* --- ChaCha20 --- */
__constant__ unsigned chacha_start[16] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u, 0x03020100u, 0x07060504u,
                                          0x0b0a0908u, 0x0f0e0d0cu, 0x13121110u, 0x17161514u, 0x1b1a1918u, 0x1f1e1d1cu,
                                          1u,          0x09000000u, 0x4a000000u, 0u};
__device__ unsigned turned(unsigned v, int by) { return v << by | v >> (32 - by); }
__device__ void quarter(unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
    a += b, d = turned(d ^ a, 16);
    c += d, b = turned(b ^ c, 12);
    a += b, d = turned(d ^ a, 8);
    c += d, b = turned(b ^ c, 7);
}
__global__ void chacha_thread(const uint4 *in, uint4 *out, int chunks) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks) return;
    unsigned s[16];
#pragma unroll
    for (int k = 0; k < 16; k++) s[k] = chacha_start[k];
    s[12] += i;
    for (int round = 0; round < 10; round++) {
        quarter(s[0], s[4], s[8], s[12]);
        quarter(s[1], s[5], s[9], s[13]);
        quarter(s[2], s[6], s[10], s[14]);
        quarter(s[3], s[7], s[11], s[15]);
        quarter(s[0], s[5], s[10], s[15]);
        quarter(s[1], s[6], s[11], s[12]);
        quarter(s[2], s[7], s[8], s[13]);
        quarter(s[3], s[4], s[9], s[14]);
    }
#pragma unroll
    for (int k = 0; k < 16; k++) s[k] += chacha_start[k];
    s[12] += i;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        uint4 v = in[i * 4 + k];
        v.x ^= s[4 * k], v.y ^= s[4 * k + 1], v.z ^= s[4 * k + 2], v.w ^= s[4 * k + 3];
        out[i * 4 + k] = v;
    }
}
__global__ void chacha_quad(const unsigned *in, unsigned *out) { /* four lanes a chunk, a column each */
    int thread = blockIdx.x * blockDim.x + threadIdx.x, i = thread / 4, q = thread % 4;
    unsigned a0 = chacha_start[q], b0 = chacha_start[4 + q], c0 = chacha_start[8 + q], d0 = chacha_start[12 + q];
    if (q == 0) d0 += i;
    unsigned a = a0, b = b0, c = c0, d = d0;
    for (int round = 0; round < 10; round++) {
        quarter(a, b, c, d);
        b = __shfl_sync(0xffffffffu, b, (q + 1) & 3, 4);
        c = __shfl_sync(0xffffffffu, c, (q + 2) & 3, 4);
        d = __shfl_sync(0xffffffffu, d, (q + 3) & 3, 4);
        quarter(a, b, c, d);
        b = __shfl_sync(0xffffffffu, b, (q + 3) & 3, 4);
        c = __shfl_sync(0xffffffffu, c, (q + 2) & 3, 4);
        d = __shfl_sync(0xffffffffu, d, (q + 1) & 3, 4);
    }
    const unsigned *from = in + (size_t)i * 16 + q;
    unsigned *to = out + (size_t)i * 16 + q;
    to[0] = from[0] ^ (a + a0);
    to[4] = from[4] ^ (b + b0);
    to[8] = from[8] ^ (c + c0);
    to[12] = from[12] ^ (d + d0);
}
/* --- the nearest of many spheres along a ray, by a tree of boxes in depth-first order ---
 * A node is two float4: the low corner and, as an integer, the right child (or ~ the first sphere, of a leaf); the
 * high corner and the node that follows its subtree. The left child is the next node. */
struct ray {
    float ox, oy, oz, dx, dy, dz, ix, iy, iz;
};
__device__ ray eye(int px, int py) {
    ray r;
    r.ox = 0.5f, r.oy = 0.5f, r.oz = -1.2f;
    float ax = (px + 0.5f) / VIEW - r.ox, ay = (py + 0.5f) / VIEW - r.oy, az = 1.2f;
    float s = rsqrtf(ax * ax + ay * ay + az * az);
    r.dx = ax * s, r.dy = ay * s, r.dz = az * s;
    r.ix = 1 / r.dx, r.iy = 1 / r.dy, r.iz = 1 / r.dz;
    return r;
}
__device__ float entry(const ray &r, float4 low, float4 high, float best) { /* 1e30: missed, or too far */
    float x0 = (low.x - r.ox) * r.ix, x1 = (high.x - r.ox) * r.ix;
    float y0 = (low.y - r.oy) * r.iy, y1 = (high.y - r.oy) * r.iy;
    float z0 = (low.z - r.oz) * r.iz, z1 = (high.z - r.oz) * r.iz;
    float in = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), fmaxf(fminf(z0, z1), 0.0f));
    float out = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), fminf(fmaxf(z0, z1), best));
    return in <= out ? in : 1e30f;
}
__device__ float struck(const ray &r, const float4 *spheres, int first, float best) {
    for (int k = 0; k < LEAF; k++) {
        float4 s = __ldg(&spheres[first + k]);
        float cx = s.x - r.ox, cy = s.y - r.oy, cz = s.z - r.oz;
        float along = cx * r.dx + cy * r.dy + cz * r.dz;
        float disc = along * along - (cx * cx + cy * cy + cz * cz) + s.w * s.w;
        if (disc < 0) continue;
        float t = along - sqrtf(disc);
        if (t > 0 && t < best) best = t;
    }
    return best;
}
__global__ void tree_stack(const float4 *__restrict__ nodes, const float4 *__restrict__ spheres, float *out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    ray r = eye(px, py);
    int stack[24], top = 0, at = 0;
    float best = 1e20f;
    for (;;) {
        int link = __float_as_int(__ldg(&nodes[2 * at]).w);
        if (link < 0) {
            best = struck(r, spheres, ~link, best);
        } else {
            int left = at + 1, right = link;
            float a = entry(r, __ldg(&nodes[2 * left]), __ldg(&nodes[2 * left + 1]), best);
            float b = entry(r, __ldg(&nodes[2 * right]), __ldg(&nodes[2 * right + 1]), best);
            if (b < a) { /* the near one first */
                int i = left;
                left = right, right = i;
                float f = a;
                a = b, b = f;
            }
            if (a < 1e30f) {
                if (b < 1e30f) stack[top++] = right;
                at = left;
                continue;
            }
        }
        if (top == 0) break;
        at = stack[--top];
    }
    out[py * VIEW + px] = best;
}
__global__ void tree_skip(const float4 *__restrict__ nodes, int count, const float4 *__restrict__ spheres, float *out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    ray r = eye(px, py);
    float best = 1e20f;
    for (int at = 0; at < count;) {
        float4 low = __ldg(&nodes[2 * at]), high = __ldg(&nodes[2 * at + 1]);
        int link = __float_as_int(low.w), next = __float_as_int(high.w);
        if (entry(r, low, high, best) < 1e30f) {
            if (link < 0)
                best = struck(r, spheres, ~link, best);
            else
                next = at + 1;
        }
        at = next;
    }
    out[py * VIEW + px] = best;
}

/* --- what the host makes --- */
static float4 ball[SPHERES], box[4 * SPHERES]; /* at most 2 * SPHERES nodes */
static int axis, node_count;
static int by_axis(const void *p, const void *q) {
    const float *s = (const float *)p, *t = (const float *)q;
    return (s[axis] > t[axis]) - (s[axis] < t[axis]);
}
static void grow(int from, int to) {
    int at = node_count++, link = ~from;
    float low[3] = {1e30f, 1e30f, 1e30f}, high[3] = {-1e30f, -1e30f, -1e30f}, as_float;
    for (int i = from; i < to; i++) {
        float centre[3] = {ball[i].x, ball[i].y, ball[i].z};
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], centre[k] - ball[i].w);
            high[k] = fmaxf(high[k], centre[k] + ball[i].w);
        }
    }
    if (to - from > LEAF) {
        int middle = (from + to) / 2;
        axis = 0;
        for (int k = 1; k < 3; k++)
            if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
        qsort(ball + from, to - from, sizeof *ball, by_axis);
        grow(from, middle);
        link = node_count;
        grow(middle, to);
    }
    memcpy(&as_float, &link, sizeof link);
    box[2 * at] = make_float4(low[0], low[1], low[2], as_float);
    memcpy(&as_float, &node_count, sizeof node_count);
    box[2 * at + 1] = make_float4(high[0], high[1], high[2], as_float);
}
static uint2 *host_rows;
static int *host_ints;
/* Returns the n rows in order of their partition, and where each partition starts. */
static uint2 *parted(const uint2 *rows, int n, int **starts) {
    static int from[PARTS + 1], at[PARTS];
    memset(from, 0, sizeof from);
    for (int i = 0; i < n; i++) from[(hashed(rows[i].x) >> 23) + 1]++;
    for (int k = 0; k < PARTS; k++) {
        if (n == BUILD && from[k + 1] >= SLOTS) exit(fprintf(stderr, "engineers.cu: a partition is too large\n"));
        from[k + 1] += from[k];
        at[k] = from[k];
    }
    host_rows = (uint2 *)malloc(n * sizeof(uint2));
    for (int i = 0; i < n; i++) host_rows[at[hashed(rows[i].x) >> 23]++] = rows[i];
    host_ints = from;
    *starts = filled<int>(PARTS + 1, [](size_t i) { return host_ints[i]; });
    uint2 *device = filled<uint2>(n, [](size_t i) { return host_rows[i]; });
    free(host_rows);
    return device;
}
static void setup_join() {
    uint2 *rows = (uint2 *)malloc(PROBE * sizeof(uint2));
    int *head = (int *)malloc(BUILD * sizeof(int)), *next = (int *)malloc(BUILD * sizeof(int));
    for (int i = 0; i < BUILD; i++) rows[i] = make_uint2(mixed(i), i), head[i] = -1; /* no key is there twice */
    for (int i = 0; i < BUILD; i++) {
        unsigned h = hashed(rows[i].x) >> 14;
        next[i] = head[h];
        head[h] = i;
    }
    host_rows = rows;
    build_rows = filled<uint2>(BUILD, [](size_t i) { return host_rows[i]; });
    host_ints = head;
    heads = filled<int>(BUILD, [](size_t i) { return host_ints[i]; });
    host_ints = next;
    nexts = filled<int>(BUILD, [](size_t i) { return host_ints[i]; });
    build_parts = parted(rows, BUILD, &build_from);
    for (int i = 0; i < PROBE; i++) /* half of them are found */
        rows[i] = make_uint2(mixed(mixed(i + 77777777) % (2 * BUILD)), i & 255);
    host_rows = rows;
    probe_rows = filled<uint2>(PROBE, [](size_t i) { return host_rows[i]; });
    probe_parts = parted(rows, PROBE, &probe_from);
    joined = zeroed<unsigned>(PROBE);
    free(rows), free(head), free(next);
}
static int neighbour(int i, int k) { /* in a grid of 64 x 32 x 32, at most two cells away */
    unsigned m = mixed((size_t)i * NEAR + k);
    int px = i % 64 + (int)(m % 5) - 2, py = i / 64 % 32 + (int)(m / 5 % 5) - 2, pz = i / 2048 + (int)(m / 25 % 5) - 2;
    return ((pz & 31) * 32 + (py & 31)) * 64 + (px & 63);
}
static void setup() {
    x = filled<float>(BATCH * WIDTH, [](size_t i) { return unit(i) - 0.5f; });
    dy = filled<float>(BATCH * WIDTH, [](size_t i) { return unit(i + 55555555) - 0.5f; });
    mean = filled<float>(BATCH, [](size_t i) { return 0.01f * unit(i); });
    rstd = filled<float>(BATCH, [](size_t i) { return 3 + unit(i); });
    dgamma = zeroed<float>(WIDTH);
    dbeta = zeroed<float>(WIDTH);
    signal_in = filled<float>(CHANNELS * SAMPLES, [](size_t i) { return 2 * unit(i) - 1; });
    signal_out = zeroed<float>(CHANNELS * SAMPLES);
    setup_join();
    places = filled<float4>(PARTICLES, [](size_t i) {
        return make_float4(i % 64 + unit(3 * i), i / 64 % 32 + unit(3 * i + 1), i / 2048 + unit(3 * i + 2),
                           1 + 0.1f * unit(i + 999));
    });
    list_rows = filled<int>(PARTICLES * NEAR, [](size_t e) { return neighbour((int)(e / NEAR), (int)(e % NEAR)); });
    list_columns =
        filled<int>(PARTICLES * NEAR, [](size_t e) { return neighbour((int)(e % PARTICLES), (int)(e / PARTICLES)); });
    density = zeroed<float>(PARTICLES);
    plain = filled<unsigned>(CHUNKS * 16, [](size_t i) { return mixed(i); });
    secret = zeroed<unsigned>(CHUNKS * 16);
    for (int i = 0; i < SPHERES; i++)
        ball[i] = make_float4(unit(4 * i), unit(4 * i + 1), unit(4 * i + 2), 0.008f + 0.01f * unit(4 * i + 3));
    grow(0, SPHERES);
    nodes = filled<float4>(2 * node_count, [](size_t i) { return box[i]; });
    spheres = filled<float4>(SPHERES, [](size_t i) { return ball[i]; });
    depth = zeroed<float>(VIEW * VIEW);
}
static const biquad lowpass = {0.2929f, 0.5858f, 0.2929f, -0.0001f, 0.1716f};
static const fidelity_test tests[] = {
    COLD("backward/gamma and beta, a column a thread, 1024 x 2048", 1,
         gamma_beta_column<<<WIDTH / 64, 64>>>(x, dy, mean, rstd, dgamma, dbeta, BATCH, WIDTH)),
    COLD("backward/gamma and beta, tiles and atomics, 1024 x 2048", 1,
         gamma_beta_tile<<<dim3(WIDTH / 32, 8), dim3(32, 8)>>>(x, dy, mean, rstd, dgamma, dbeta, BATCH, WIDTH)),
    COLD("biquad/channels in rows, 16384 of 128", 1,
         biquad_rows<<<CHANNELS / 64, 64>>>(signal_in, signal_out, CHANNELS, SAMPLES, lowpass)),
    COLD("biquad/channels interleaved, 16384 of 128", 1,
         biquad_interleaved<<<CHANNELS / 64, 64>>>(signal_in, signal_out, CHANNELS, SAMPLES, lowpass)),
    COLD("biquad/rows staged in shared memory, 16384 of 128", 1,
         biquad_staged<<<CHANNELS / 64, 64>>>(signal_in, signal_out, SAMPLES, lowpass)),
    COLD("join/chains in global memory, 2^18 and 2^20", 1,
         join_chains<<<PROBE / 256, 256>>>(probe_rows, PROBE, heads, nexts, build_rows, joined)),
    COLD("join/partitions in shared memory, 2^18 and 2^20", 1,
         join_parts<<<PARTS, 256>>>(build_parts, build_from, probe_parts, probe_from, joined)),
    COLD("neighbours/lists in rows, a thread each, 2^16 of 64", 1,
         density_rows<<<PARTICLES / 128, 128>>>(places, list_rows, density, PARTICLES, 0.8f)),
    COLD("neighbours/lists in columns, a thread each, 2^16 of 64", 1,
         density_columns<<<PARTICLES / 128, 128>>>(places, list_columns, density, PARTICLES, 0.8f)),
    COLD("neighbours/lists in rows, a warp each, 2^16 of 64", 1,
         density_warp<<<PARTICLES / 8, 256>>>(places, list_rows, density, PARTICLES, 0.8f)),
    COLD("chacha/a block a thread, 2^17", 1,
         chacha_thread<<<CHUNKS / 128, 128>>>((const uint4 *)plain, (uint4 *)secret, CHUNKS)),
    COLD("chacha/a block by four lanes, 2^17", 1, chacha_quad<<<CHUNKS * 4 / 256, 256>>>(plain, secret)),
    COLD("trees/boxes with a stack, 4096 spheres, 256 x 256", 1,
         tree_stack<<<dim3(VIEW / 8, VIEW / 8), dim3(8, 8)>>>(nodes, spheres, depth)),
    COLD("trees/boxes without a stack, 4096 spheres, 256 x 256", 1,
         tree_skip<<<dim3(VIEW / 8, VIEW / 8), dim3(8, 8)>>>(nodes, node_count, spheres, depth)),
};
FIDELITY_MAIN(setup, tests)

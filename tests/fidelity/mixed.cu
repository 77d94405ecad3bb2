/* mixed.cu — waves, chance, particles, meshes, pictures, layers of networks. */
#include "fidelity.h"

enum { WORDS = 1 << 23, SIDE = 2048, GRID = 64, BONES = 64, TRIANGLES = 128, HUES = 360 };
static float *a, *b, *c, *d, *triangles, *bones;
static float4 *points, *speeds, *field, *weights, *turns, *moved, *changed;
static uchar4 *which, *photo;
static unsigned *packed, *hits, *hues;
__constant__ float basis[64];

/* --- waves --- */
__global__ void burgers(const float *__restrict__ u, float *__restrict__ out, int n, float k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int left = i == 0 ? n - 1 : i - 1, right = i == n - 1 ? 0 : i + 1;
    float v = u[i];
    float slope = v > 0 ? v - u[left] : u[right] - v;
    out[i] = v - k * v * slope;
}
__global__ void wave(const float *now, const float *before, float *after, int w, int h, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    float m = now[i];
    float laplace = now[i - 1] + now[i + 1] + now[i - w] + now[i + w] - 4 * m;
    after[i] = 2 * m - before[i] + k * laplace;
}
__global__ void wave_tile(const float *now, const float *before, float *after, int w, int h, float k) {
    __shared__ float tile[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, i = y * w + x;
    tile[ty][tx] = now[i];
    if (threadIdx.x == 0) tile[ty][0] = x > 0 ? now[i - 1] : 0;
    if (threadIdx.x == 31) tile[ty][33] = x < w - 1 ? now[i + 1] : 0;
    if (threadIdx.y == 0) tile[0][tx] = y > 0 ? now[i - w] : 0;
    if (threadIdx.y == 15) tile[17][tx] = y < h - 1 ? now[i + w] : 0;
    __syncthreads();
    float m = tile[ty][tx];
    float laplace = tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4 * m;
    after[i] = 2 * m - before[i] + k * laplace;
}
/* --- chance --- */
__device__ unsigned xorshift(unsigned &s) {
    s ^= s << 13;
    s ^= s >> 17;
    s ^= s << 5;
    return s;
}
__device__ float uniform(unsigned &s) { return (xorshift(s) >> 8) * (1.0f / 16777216.0f); }
__global__ void darts(unsigned *hits, int each) {
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u + 88172645u;
    if (s == 0) s = 1;
    unsigned inside = 0;
    for (int k = 0; k < each; k++) {
        float x = uniform(s), y = uniform(s);
        if (x * x + y * y < 1.0f) inside++;
    }
    for (int o = 16; o > 0; o /= 2) inside += __shfl_down_sync(0xffffffffu, inside, o);
    if (threadIdx.x % 32 == 0) atomicAdd(hits, inside);
}
__global__ void options(float *out, int steps, float price, float strike, float rate, float sigma, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = i * 747796405u + 2891336453u;
    if (s == 0) s = 1;
    float p = price, drift = (rate - 0.5f * sigma * sigma) * dt, spread = sigma * sqrtf(dt);
    for (int k = 0; k < steps; k += 2) {
        float u = uniform(s) + 1e-7f, v = uniform(s);
        float r = sqrtf(-2.0f * logf(u)), angle = 6.2831853f * v;
        p *= expf(drift + spread * r * cosf(angle));
        p *= expf(drift + spread * r * sinf(angle));
    }
    out[i] = fmaxf(p - strike, 0.0f) * expf(-rate * dt * steps);
}
/* --- particles in a grid of forces --- */
__global__ void push_nearest(const float4 *p, const float4 *v, const float4 *field, float4 *p2, float4 *v2, int n,
                             float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 q = p[i], s = v[i];
    int x = min(max((int)q.x, 0), GRID - 1), y = min(max((int)q.y, 0), GRID - 1), z = min(max((int)q.z, 0), GRID - 1);
    float4 f = field[(z * GRID + y) * GRID + x];
    float k = dt / q.w;
    s.x += f.x * k, s.y += f.y * k, s.z += f.z * k;
    q.x += s.x * dt, q.y += s.y * dt, q.z += s.z * dt;
    p2[i] = q;
    v2[i] = s;
}
__global__ void push_trilinear(const float4 *__restrict__ p, const float4 *__restrict__ v,
                               const float4 *__restrict__ field, float4 *__restrict__ p2, float4 *__restrict__ v2,
                               int n, float dt) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 q = p[i], s = v[i];
        int x = min(max((int)q.x, 0), GRID - 2), y = min(max((int)q.y, 0), GRID - 2),
            z = min(max((int)q.z, 0), GRID - 2);
        float fx = q.x - x, fy = q.y - y, fz = q.z - z, gx = 0, gy = 0, gz = 0;
#pragma unroll
        for (int corner = 0; corner < 8; corner++) {
            int cx = corner & 1, cy = corner >> 1 & 1, cz = corner >> 2;
            float w = (cx ? fx : 1 - fx) * (cy ? fy : 1 - fy) * (cz ? fz : 1 - fz);
            float4 f = field[((z + cz) * GRID + y + cy) * GRID + x + cx];
            gx += w * f.x, gy += w * f.y, gz += w * f.z;
        }
        float k = dt / q.w;
        s.x += gx * k, s.y += gy * k, s.z += gz * k;
        q.x += s.x * dt, q.y += s.y * dt, q.z += s.z * dt;
        p2[i] = q;
        v2[i] = s;
    }
}
/* --- meshes --- */
__global__ void skin(const float3 *vertex, const float4 *weight, const uchar4 *bone, const float4 *matrix, float3 *out,
                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 p = vertex[i];
    float4 w = weight[i];
    uchar4 k = bone[i];
    float ws[4] = {w.x, w.y, w.z, w.w};
    int ks[4] = {k.x, k.y, k.z, k.w};
    float3 r = make_float3(0, 0, 0);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        float4 m0 = matrix[3 * ks[j]], m1 = matrix[3 * ks[j] + 1], m2 = matrix[3 * ks[j] + 2];
        r.x += ws[j] * (m0.x * p.x + m0.y * p.y + m0.z * p.z + m0.w);
        r.y += ws[j] * (m1.x * p.x + m1.y * p.y + m1.z * p.z + m1.w);
        r.z += ws[j] * (m2.x * p.x + m2.y * p.y + m2.z * p.z + m2.w);
    }
    out[i] = r;
}
__global__ void turn(const float4 *q, const float3 *in, float3 *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 r = q[i];
        float3 p = in[i];
        float length = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + r.w * r.w);
        r.x *= length, r.y *= length, r.z *= length, r.w *= length;
        float tx = 2 * (r.y * p.z - r.z * p.y), ty = 2 * (r.z * p.x - r.x * p.z), tz = 2 * (r.x * p.y - r.y * p.x);
        out[i] = make_float3(p.x + r.w * tx + r.y * tz - r.z * ty, p.y + r.w * ty + r.z * tx - r.x * tz,
                             p.z + r.w * tz + r.x * ty - r.y * tx);
    }
}
__global__ void cast(const float *triangles, float *depth, int w, int h) {
    __shared__ float t[TRIANGLES * 9];
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    for (int k = thread; k < TRIANGLES * 9; k += blockDim.x * blockDim.y) t[k] = triangles[k];
    __syncthreads();
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = (x + 0.5f) / w - 0.5f, dy = (y + 0.5f) / h - 0.5f, dz = 1, best = 1e30f;
    for (int k = 0; k < TRIANGLES; k++) { /* Moeller and Trumbore, from the origin */
        const float *v = t + 9 * k;
        float e1x = v[3] - v[0], e1y = v[4] - v[1], e1z = v[5] - v[2];
        float e2x = v[6] - v[0], e2y = v[7] - v[1], e2z = v[8] - v[2];
        float px = dy * e2z - dz * e2y, py = dz * e2x - dx * e2z, pz = dx * e2y - dy * e2x;
        float det = e1x * px + e1y * py + e1z * pz;
        if (fabsf(det) < 1e-8f) continue;
        float inverse = 1.0f / det;
        float u = -(v[0] * px + v[1] * py + v[2] * pz) * inverse;
        if (u < 0 || u > 1) continue;
        float qx = v[2] * e1y - v[1] * e1z, qy = v[0] * e1z - v[2] * e1x, qz = v[1] * e1x - v[0] * e1y;
        float s = (dx * qx + dy * qy + dz * qz) * inverse;
        if (s < 0 || u + s > 1) continue;
        float far = (e2x * qx + e2y * qy + e2z * qz) * inverse;
        if (far > 0 && far < best) best = far;
    }
    depth[y * w + x] = best;
}
/* --- pictures --- */
__global__ void dct(const float *in, float *out, int w) { /* 64 threads, 8 x 8 pixels */
    __shared__ float tile[8][8], half[8][8], cosines[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int i = (blockIdx.y * 8 + ty) * w + blockIdx.x * 8 + tx;
    tile[ty][tx] = in[i] - 128.0f;
    cosines[ty][tx] = basis[ty * 8 + tx];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += tile[ty][k] * cosines[tx][k];
    half[ty][tx] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) s += cosines[ty][k] * half[k][tx];
    out[i] = s;
}
__global__ void haar(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w / 2 || y >= h / 2) return;
    float2 top = *(const float2 *)(in + (2 * y) * w + 2 * x), low = *(const float2 *)(in + (2 * y + 1) * w + 2 * x);
    out[y * w + x] = (top.x + top.y + low.x + low.y) * 0.5f;
    out[y * w + x + w / 2] = (top.x - top.y + low.x - low.y) * 0.5f;
    out[(y + h / 2) * w + x] = (top.x + top.y - low.x - low.y) * 0.5f;
    out[(y + h / 2) * w + x + w / 2] = (top.x - top.y - low.x + low.y) * 0.5f;
}
__global__ void hue_histogram(const uchar4 *in, unsigned *bins, int n) {
    __shared__ unsigned mine[HUES];
    for (int k = threadIdx.x; k < HUES; k += blockDim.x) mine[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 p = in[i];
        int high = max(p.x, max(p.y, p.z)), low = min(p.x, min(p.y, p.z)), span = high - low;
        if (span == 0) continue;
        float hue;
        if (high == p.x)
            hue = 60.0f * (p.y - p.z) / span;
        else if (high == p.y)
            hue = 60.0f * (p.z - p.x) / span + 120.0f;
        else
            hue = 60.0f * (p.x - p.y) / span + 240.0f;
        if (hue < 0) hue += 360.0f;
        atomicAdd(&mine[min((int)hue, HUES - 1)], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < HUES; k += blockDim.x)
        if (mine[k]) atomicAdd(&bins[k], mine[k]);
}
/* --- layers --- */
__global__ void swiglu(const float *in, float *out, int width) { /* a row: width gates, then width values */
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    const float *row = in + (size_t)blockIdx.y * 2 * width;
    float gate = row[column], value = row[column + width];
    out[(size_t)blockIdx.y * width + column] = gate / (1.0f + expf(-gate)) * value;
}
__global__ void group_norm(const float *in, const float *gamma, const float *beta, float *out, int channels, int area,
                           int groups) {
    __shared__ float sums[32], squares[32];
    int count = channels * area, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const float *x = in + (size_t)blockIdx.x * count;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        float v = x[i];
        s += v, q += v * v;
    }
    for (int o = 16; o > 0; o /= 2) {
        s += __shfl_xor_sync(0xffffffffu, s, o);
        q += __shfl_xor_sync(0xffffffffu, q, o);
    }
    if (lane == 0) sums[warp] = s, squares[warp] = q;
    __syncthreads();
    s = q = 0;
    for (int k = 0; k < (int)blockDim.x / 32; k++) s += sums[k], q += squares[k];
    float mean = s / count, scale = rsqrtf(q / count - mean * mean + 1e-5f);
    int first = blockIdx.x % groups * channels;
    float *y = out + (size_t)blockIdx.x * count;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        int channel = first + i / area;
        y[i] = (x[i] - mean) * scale * gamma[channel] + beta[channel];
    }
}
__global__ void unpack4(const unsigned *__restrict__ in, const float *__restrict__ scales, float *__restrict__ out,
                        int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned word = in[i];
    float scale = scales[i / 4]; /* one for 32 values */
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = ((int)(word >> 4 * k & 15) - 8) * scale;
    float4 *to = (float4 *)(out + (size_t)8 * i);
    to[0] = make_float4(v[0], v[1], v[2], v[3]);
    to[1] = make_float4(v[4], v[5], v[6], v[7]);
}

static void setup() {
    static const float cosine[8] = {1.0f,        0.98078528f, 0.92387953f, 0.83146961f,
                                    0.70710678f, 0.55557023f, 0.38268343f, 0.19509032f};
    float table[64];
    for (int u = 0; u < 8; u++)
        for (int x = 0; x < 8; x++) { /* cos((2 x + 1) u pi / 16) */
            int m = (2 * x + 1) * u % 32;
            if (m > 16) m = 32 - m;
            float value = m < 8 ? cosine[m] : m == 8 ? 0.0f : -cosine[16 - m];
            table[u * 8 + x] = m == 16 ? -0.5f : value * (u == 0 ? 0.35355339f : 0.5f);
        }
    MUST(cudaMemcpyToSymbol(basis, table, sizeof table));
    a = filled<float>(WORDS, [](size_t i) { return unit(i) * 2 - 1; });
    b = filled<float>(WORDS, [](size_t i) { return unit(i + WORDS) * 2 - 1; });
    c = zeroed<float>(WORDS);
    d = zeroed<float>(WORDS);
    triangles = filled<float>(TRIANGLES * 9, [](size_t i) {
        size_t t = i / 9;
        int axis = (int)(i % 3);
        float middle = axis == 2 ? 3 + 5 * unit(3 * t + 2) : 4 * unit(3 * t + axis) - 2;
        return middle + unit(i + 7777) - 0.5f;
    });
    bones = filled<float>(BONES * 12, [](size_t i) { return unit(i + 99) - 0.5f; });
    points = filled<float4>(1 << 20, [](size_t i) {
        return make_float4(GRID * unit(3 * i), GRID * unit(3 * i + 1), GRID * unit(3 * i + 2), 1 + unit(i));
    });
    speeds = filled<float4>(1 << 20, [](size_t i) { return make_float4(unit(i), unit(i + 1), unit(i + 2), 0); });
    field =
        filled<float4>(GRID * GRID * GRID, [](size_t i) { return make_float4(unit(i), unit(i + 5), unit(i + 9), 0); });
    weights = filled<float4>(1 << 19, [](size_t i) { return make_float4(0.4f, 0.3f, 0.2f * unit(i), 0.1f); });
    turns = filled<float4>(1 << 20, [](size_t i) {
        return make_float4(unit(i) - 0.5f, unit(i + 1) - 0.5f, unit(i + 2) - 0.5f, unit(i + 3) + 0.1f);
    });
    moved = zeroed<float4>(1 << 20);
    changed = zeroed<float4>(1 << 20);
    which = filled<uchar4>(1 << 19, [](size_t i) { /* vertices near each other hang on the same bones, more or less */
                                                   unsigned m = mixed(i), bone = (unsigned)(i >> 10);
                                                   return make_uchar4(bone % BONES, (bone + m % 4) % BONES,
                                                                      (bone + (m >> 4) % 8) % BONES, (m >> 8) % BONES);
    });
    photo = filled<uchar4>(1 << 22, [](size_t i) {
        unsigned x = (unsigned)(i % 2048), y = (unsigned)(i / 2048), m = mixed(i);
        return make_uchar4((x / 8 + m % 16) & 255, (y / 8 + (m >> 4) % 16) & 255, ((x + y) / 16 + (m >> 8) % 32) & 255,
                           255);
    });
    packed = filled<unsigned>(1 << 20, [](size_t i) { return mixed(i); });
    hits = zeroed<unsigned>(1);
    hues = zeroed<unsigned>(HUES);
}
static const fidelity_test tests[] = {
    COLD("waves/Burgers, upwind, 2 steps, 2^22", 2, burgers<<<1 << 15, 128>>>(a, c, 1 << 22, 0.2f);
         burgers<<<1 << 15, 128>>>(c, d, 1 << 22, 0.2f)),
    COLD("waves/in the plane, 2048 x 2048", 1,
         wave<<<dim3(SIDE / 32, SIDE / 8), dim3(32, 8)>>>(a, b, c, SIDE, SIDE, 0.1f)),
    COLD("waves/in the plane, tile and halo, 2048 x 2048", 1,
         wave_tile<<<dim3(SIDE / 32, SIDE / 16), dim3(32, 16)>>>(a, b, c, SIDE, SIDE, 0.1f)),
    COLD("chance/darts for pi, xorshift, 2^17 of 256", 1, darts<<<1024, 128>>>(hits, 256)),
    COLD("chance/option paths, Box and Muller, 2^16 of 32", 1,
         options<<<256, 256>>>(c, 32, 100.0f, 105.0f, 0.03f, 0.2f, 1.0f / 32)),
    COLD("grids/nearest, 2^20", 1, push_nearest<<<4096, 256>>>(points, speeds, field, moved, changed, 1 << 20, 0.01f)),
    COLD("grids/trilinear, 2^19", 1,
         push_trilinear<<<1056, 128>>>(points, speeds, field, moved, changed, 1 << 19, 0.01f)),
    COLD("meshes/skinning, 4 bones a vertex, 2^19", 1,
         skin<<<2048, 256>>>((const float3 *)a, weights, which, (const float4 *)bones, (float3 *)c, 1 << 19)),
    COLD("meshes/rotation by quaternions, 2^20", 1, turn<<<528, 512>>>(turns, (const float3 *)a, (float3 *)c, 1 << 20)),
    COLD("meshes/rays and 128 triangles, 512 x 256", 1,
         cast<<<dim3(512 / 16, 256 / 8), dim3(16, 8)>>>(triangles, c, 512, 256)),
    COLD("pictures/cosine transform, 8 x 8, 1024 x 1024", 1, dct<<<dim3(128, 128), dim3(8, 8)>>>(a, c, 1024)),
    COLD("pictures/Haar, 2 x 2, 4096 x 2048", 1, haar<<<dim3(2048 / 64, 1024 / 4), dim3(64, 4)>>>(a, c, 4096, 2048)),
    COLD("pictures/histogram of hues, 2048 x 2048", 1, hue_histogram<<<264, 512>>>(photo, hues, 1 << 22)),
    COLD("layers/SwiGLU, 2048 x 2048", 1, swiglu<<<dim3(2048 / 256, 2048), 256>>>(a, c, 2048)),
    COLD("layers/group norm, 16 x 32 groups of 8 x 32 x 32", 1,
         group_norm<<<512, 512>>>(a, b, b + 256, c, 8, 1024, 32)),
    COLD("layers/4 bits to float, 2^23", 1, unpack4<<<4096, 256>>>(packed, b, c, 1 << 20)),
};
FIDELITY_MAIN(setup, tests)

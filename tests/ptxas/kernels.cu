/* kernels.cu — small kernels of all kinds, each launched once, whose machine instructions are counted: by Nsight
 * Compute on a real GPU, by SimGPU's rules elsewhere (tests/ptxas.bats). The same code with the same data, so that
 * every loop has as many turns. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 16, BLOCK = 128, BLOCKS = 64, THREADS = BLOCK * BLOCKS };

#define HERE   int i = blockIdx.x * blockDim.x + threadIdx.x
#define KERNEL static __global__ void

/* --- straight code --- */
KERNEL copy(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = x[i];
}
KERNEL axpy(const float *x, float *y, float a, int n) {
    HERE;
    if (i < n) y[i] = a * x[i] + y[i];
}
KERNEL copy_wide(const float4 *x, float4 *y, int n) {
    HERE;
    if (i < n) y[i] = x[i];
}
KERNEL stencil3(const float *x, float *y, int n) {
    HERE;
    if (i > 0 && i < n - 1) y[i] = 0.25f * x[i - 1] + 0.5f * x[i] + 0.25f * x[i + 1];
}
KERNEL stencil5(const float *x, float *y, int w, int h) {
    int c = blockIdx.x * 32 + threadIdx.x % 32, r = blockIdx.y * 4 + threadIdx.x / 32;
    if (c > 0 && c < w - 1 && r > 0 && r < h - 1)
        y[r * w + c] =
            0.2f * (x[r * w + c] + x[r * w + c - 1] + x[r * w + c + 1] + x[(r - 1) * w + c] + x[(r + 1) * w + c]);
}
KERNEL gather(const float *x, const int *at, float *y, int n) {
    HERE;
    if (i < n) y[i] = x[at[i]];
}
KERNEL scatter(const float *x, const int *at, float *y, int n) {
    HERE;
    if (i < n) y[at[i]] = x[i];
}
struct body {
    float x, y, z, w;
};
KERNEL structs(const body *in, body *out, float t, int n) {
    HERE;
    if (i >= n) return;
    out[i].x = in[i].x + t * in[i].w;
    out[i].y = in[i].y + t * in[i].w;
    out[i].z = in[i].z + t * in[i].w;
}
KERNEL sigmoid(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = 1 / (1 + expf(-x[i]));
}
KERNEL fast_math(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = __expf(x[i]) * __sinf(x[i]) + __logf(x[i] + 2);
}
KERNEL waves(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = sinf(x[i]) + cosf(x[i]);
}
KERNEL power(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = powf(x[i], 1.5f);
}
KERNEL logarithm(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = logf(x[i]) + log2f(x[i]);
}
KERNEL gelu(const float *x, float *y, int n) {
    HERE;
    if (i < n) {
        float v = x[i];
        y[i] = 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    }
}
KERNEL error_function(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = erff(x[i]);
}
KERNEL roots(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = sqrtf(x[i]) + rsqrtf(x[i]);
}
KERNEL quotient(const float *x, float *y, int n) {
    HERE;
    if (i < n) y[i] = x[i] / y[i];
}
KERNEL doubles(const double *x, double *y, int n) {
    HERE;
    if (i < n) y[i] = x[i] * y[i] + 3.0;
}
KERNEL double_quotient(const double *x, double *y, int n) {
    HERE;
    if (i < n) y[i] = x[i] / (y[i] + 1.5);
}
KERNEL double_root(const double *x, double *y, int n) {
    HERE;
    if (i < n) y[i] = sqrt(x[i]);
}
KERNEL double_exp(const double *x, double *y, int n) {
    HERE;
    if (i < n) y[i] = exp(x[i]);
}
KERNEL divide_int(const int *x, int *y, int d, int n) {
    HERE;
    if (i < n) y[i] = x[i] / d + x[i] % d;
}
KERNEL divide_unsigned(const unsigned *x, unsigned *y, unsigned d, int n) {
    HERE;
    if (i < n) y[i] = x[i] / d;
}
KERNEL divide_seven(const int *x, int *y, int n) {
    HERE;
    if (i < n) y[i] = x[i] / 7 + x[i] % 10;
}
KERNEL divide_long(const long long *x, long long *y, long long d, int n) {
    HERE;
    if (i < n) y[i] = x[i] / d;
}
KERNEL long_math(const long long *x, long long *y, long long a, int n) {
    HERE;
    if (i < n) y[i] = (x[i] * a + y[i]) ^ (x[i] >> 7) ^ (x[i] << 3);
}
KERNEL bits(const unsigned *x, unsigned *y, int n) {
    HERE;
    if (i < n) {
        unsigned v = x[i];
        y[i] = __popc(v) + __clz(v) + __brev(v) + __ffs(v);
    }
}
KERNEL hash(const unsigned *x, unsigned *y, int n) {
    HERE;
    if (i >= n) return;
    unsigned v = x[i];
    v ^= v >> 16, v *= 0x85ebca6bu, v ^= v >> 13, v *= 0xc2b2ae35u, v ^= v >> 16;
    y[i] = v;
}
KERNEL logic(const unsigned *x, unsigned *y, unsigned a, unsigned b, int n) {
    HERE;
    if (i < n) {
        unsigned v = x[i];
        y[i] = ((v & a) | (~v & b)) ^ (v << 5 | v >> 27);
    }
}
KERNEL clamp_all(const float *x, float *y, float lo, float hi, int n) {
    HERE;
    if (i < n) y[i] = fminf(fmaxf(x[i], lo), hi) + fabsf(x[i]);
}
KERNEL clamp_int(const int *x, int *y, int lo, int hi, int n) {
    HERE;
    if (i < n) y[i] = min(max(x[i], lo), hi) + abs(x[i]);
}
KERNEL choose(const float *x, float *y, int n) {
    HERE;
    if (i < n) {
        float v = x[i];
        y[i] = v > 0.5f ? v * v : v < 0.2f ? v + 1 : -v;
    }
}
KERNEL invert(const unsigned char *x, unsigned char *y, int n) {
    HERE;
    if (i < n) y[i] = (unsigned char)(255 - x[i]);
}
KERNEL grey(const uchar4 *x, unsigned char *y, int n) {
    HERE;
    if (i < n) {
        uchar4 p = x[i];
        y[i] = (unsigned char)((p.x * 77 + p.y * 150 + p.z * 29) >> 8);
    }
}
KERNEL upper(const char *x, char *y, int n) {
    HERE;
    if (i < n) {
        char c = x[i];
        y[i] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
    }
}
KERNEL to_int(const float *x, int *y, int n) {
    HERE;
    if (i < n) y[i] = (int)(x[i] * 255.0f + 0.5f) + (int)floorf(x[i]);
}
KERNEL mixed(const int *x, double *y, int n) {
    HERE;
    if (i < n) y[i] = x[i] * 0.5 + (float)x[i];
}

/* --- loops --- */
KERNEL strided_sum(const float *x, float *y, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
    y[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
KERNEL row_sum(const float *x, float *y, int w) {
    HERE;
    float s = 0;
    for (int k = 0; k < w; k++) s += x[i * w + k];
    y[i] = s;
}
KERNEL column_sum(const float *x, float *y, int w, int h) {
    HERE;
    float s = 0;
    for (int k = 0; k < h; k++) s += x[k * w + i];
    y[i] = s;
}
KERNEL matvec(const float *m, const float *x, float *y, int w) {
    HERE;
    float s = 0;
    for (int k = 0; k < w; k++) s += m[k * w + i] * x[k];
    y[i] = s;
}
KERNEL convolve(const float *x, const float *f, float *y, int n, int taps) {
    HERE;
    float s = 0;
    for (int k = 0; k < taps; k++)
        if (i + k < n) s += x[i + k] * f[k];
    if (i < n) y[i] = s;
}
__constant__ float filter[16];
KERNEL convolve_const(const float *x, float *y, int n) {
    HERE;
    float s = 0;
    for (int k = 0; k < 9; k++) s += x[i + k] * filter[k];
    if (i < n) y[i] = s;
}
KERNEL matmul(const float *a, const float *b, float *c, int n) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    float s = 0;
    for (int k = 0; k < n; k++) s += a[row * n + k] * b[k * n + col];
    c[row * n + col] = s;
}
KERNEL matmul_tiled(const float *a, const float *b, float *c, int n) {
    __shared__ float x[16][16], y[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        x[ty][tx] = a[row * n + t + tx], y[ty][tx] = b[(t + ty) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++) s += x[ty][k] * y[k][tx];
        __syncthreads();
    }
    c[row * n + col] = s;
}
KERNEL matmul_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float x[8][64], y[8][64];
    int t = threadIdx.x, tx = t % 16, ty = t / 16;
    float s[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int l = t; l < 512; l += 256) {
            x[l % 8][l / 8] = a[(blockIdx.y * 64 + l / 8) * n + k0 + l % 8];
            y[l / 64][l % 64] = b[(k0 + l / 64) * n + blockIdx.x * 64 + l % 64];
        }
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            float u[4], v[4];
            for (int j = 0; j < 4; j++) u[j] = x[k][ty * 4 + j], v[j] = y[k][tx * 4 + j];
            for (int p = 0; p < 4; p++)
                for (int q = 0; q < 4; q++) s[p][q] += u[p] * v[q];
        }
        __syncthreads();
    }
    for (int p = 0; p < 4; p++)
        for (int q = 0; q < 4; q++) c[(blockIdx.y * 64 + ty * 4 + p) * n + blockIdx.x * 64 + tx * 4 + q] = s[p][q];
}
KERNEL transpose(const float *x, float *y, int n) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x, r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(r + k) * n + c] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL sum_shared(const float *x, float *y) {
    __shared__ float s[BLOCK];
    HERE;
    int t = threadIdx.x;
    s[t] = x[i];
    __syncthreads();
    for (int k = BLOCK / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
KERNEL sum_any(const float *x, float *y) {
    extern __shared__ float s[];
    HERE;
    int t = threadIdx.x;
    s[t] = x[i];
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];
}
KERNEL sum_shuffle(const float *x, float *y) {
    HERE;
    float v = x[i];
    for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
KERNEL scan(const float *x, float *y) {
    __shared__ float s[2][BLOCK];
    HERE;
    int t = threadIdx.x, from = 0;
    s[0][t] = x[i];
    __syncthreads();
    for (int k = 1; k < BLOCK; k *= 2) {
        s[1 - from][t] = s[from][t] + (t >= k ? s[from][t - k] : 0);
        from = 1 - from;
        __syncthreads();
    }
    y[i] = s[from][t];
}
KERNEL scan_shuffle(const int *x, int *y) {
    HERE;
    int v = x[i], lane = threadIdx.x % 32;
    for (int k = 1; k < 32; k *= 2) {
        int w = __shfl_up_sync(~0u, v, k);
        if (lane >= k) v += w;
    }
    y[i] = v;
}
KERNEL histogram(const unsigned char *x, unsigned *y, int n) {
    __shared__ unsigned s[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) s[k] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&s[x[i]], 1);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&y[k], s[k]);
}
KERNEL bitonic(unsigned *x) {
    __shared__ unsigned s[BLOCK];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * BLOCK + t];
    for (int k = 2; k <= BLOCK; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            __syncthreads();
            int other = t ^ j;
            if (other > t) {
                unsigned a = s[t], b = s[other];
                if ((a > b) == ((t & k) == 0)) s[t] = b, s[other] = a;
            }
        }
    __syncthreads();
    x[blockIdx.x * BLOCK + t] = s[t];
}
KERNEL sparse(const int *row, const int *col, const float *v, const float *x, float *y, int rows) {
    HERE;
    if (i >= rows) return;
    float s = 0;
    for (int k = row[i]; k < row[i + 1]; k++) s += v[k] * x[col[k]];
    y[i] = s;
}
KERNEL softmax(const float *x, float *y, int w) {
    HERE;
    float most = -1e30f, sum = 0;
    for (int k = 0; k < w; k++) most = fmaxf(most, x[i * w + k]);
    for (int k = 0; k < w; k++) sum += __expf(x[i * w + k] - most);
    for (int k = 0; k < w; k++) y[i * w + k] = __expf(x[i * w + k] - most) / sum;
}
KERNEL nbody(const float4 *p, float4 *f, int n) {
    HERE;
    float4 me = p[i];
    float ax = 0, ay = 0, az = 0;
    for (int k = 0; k < n; k++) {
        float4 o = p[k];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f, r = rsqrtf(d),
              s = o.w * r * r * r;
        ax += dx * s, ay += dy * s, az += dz * s;
    }
    f[i] = make_float4(ax, ay, az, 0);
}
KERNEL mandelbrot(int *y, int w, int most) {
    HERE;
    float cx = (i % w) * (3.0f / w) - 2, cy = (i / w) * (2.0f / w) - 1, a = 0, b = 0;
    int k = 0;
    while (k < most && a * a + b * b < 4) {
        float t = a * a - b * b + cx;
        b = 2 * a * b + cy, a = t, k++;
    }
    y[i] = k;
}
KERNEL collatz(const unsigned *x, int *y, int n) {
    HERE;
    if (i >= n) return;
    unsigned v = x[i] % 1000 + 1;
    int k = 0;
    while (v != 1) v = v & 1 ? 3 * v + 1 : v / 2, k++;
    y[i] = k;
}
KERNEL search(const int *x, const int *want, int *y, int n) {
    HERE;
    int lo = 0, hi = n, v = want[i];
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (x[m] < v)
            lo = m + 1;
        else
            hi = m;
    }
    y[i] = lo;
}
KERNEL chase(const int *next, int *y, int steps) {
    HERE;
    int j = i;
    for (int k = 0; k < steps; k++) j = next[j];
    y[i] = j;
}
KERNEL poly(const float *x, float *y, int rounds) {
    HERE;
    float v = x[i];
    for (int k = 0; k < rounds; k++) v = v * v * 0.5f + 0.25f;
    y[i] = v;
}
KERNEL poly_fixed(const float *x, float *y) {
    HERE;
    float v = x[i];
    for (int k = 0; k < 100; k++) v = v * 0.99f + 0.25f;
    y[i] = v;
}
KERNEL lcg(unsigned *y, int rounds) {
    HERE;
    unsigned v = i;
    for (int k = 0; k < rounds; k++) v = v * 1664525u + 1013904223u;
    y[i] = v;
}
KERNEL xorshift(unsigned *y, int rounds) {
    HERE;
    unsigned v = i + 1;
    for (int k = 0; k < rounds; k++) v ^= v << 13, v ^= v >> 17, v ^= v << 5;
    y[i] = v;
}
KERNEL monte_carlo(unsigned *y, int rounds) {
    HERE;
    unsigned v = i * 747796405u + 1, in = 0;
    for (int k = 0; k < rounds; k++) {
        v = v * 1664525u + 1013904223u;
        float a = (v >> 8) * (1.0f / 16777216);
        v = v * 1664525u + 1013904223u;
        float b = (v >> 8) * (1.0f / 16777216);
        in += a * a + b * b < 1;
    }
    y[i] = in;
}
KERNEL gcd(const unsigned *x, unsigned *y, int n) {
    HERE;
    if (i >= n) return;
    unsigned a = x[i] | 1, b = i + 1;
    while (b) {
        unsigned t = a % b;
        a = b, b = t;
    }
    y[i] = a;
}
KERNEL primes(int *y, int n) {
    HERE;
    int v = i + 2, is = 1;
    for (int d = 2; d * d <= v; d++)
        if (v % d == 0) {
            is = 0;
            break;
        }
    if (i < n) y[i] = is;
}
KERNEL double_loop(const double *x, double *y, int rounds) {
    HERE;
    double v = x[i], s = 0;
    for (int k = 0; k < rounds; k++) s += v * k, v *= 0.5;
    y[i] = s;
}
KERNEL string_find(const char *text, int *y, int n) {
    HERE;
    const char what[6] = "hello";
    int found = 0;
    if (i + 5 <= n) {
        found = 1;
        for (int k = 0; k < 5; k++)
            if (text[i + k] != what[k]) {
                found = 0;
                break;
            }
    }
    y[i] = found;
}
KERNEL attention(const float *q, const float *k, const float *v, float *o, int n) {
    HERE;
    float me[8], out[8] = {}, most = -1e30f, sum = 0;
    for (int d = 0; d < 8; d++) me[d] = q[i * 8 + d];
    for (int j = 0; j < n; j++) {
        float s = 0;
        for (int d = 0; d < 8; d++) s += me[d] * k[j * 8 + d];
        float now = fmaxf(most, s), scale = __expf(most - now), p = __expf(s - now);
        sum = sum * scale + p, most = now;
        for (int d = 0; d < 8; d++) out[d] = out[d] * scale + p * v[j * 8 + d];
    }
    for (int d = 0; d < 8; d++) o[i * 8 + d] = out[d] / sum;
}
KERNEL fft_step(float2 *x, int half) {
    HERE;
    int at = (i / half) * 2 * half + i % half;
    float s, c;
    __sincosf(-3.14159265f * (i % half) / half, &s, &c);
    float2 a = x[at], b = x[at + half], t = make_float2(b.x * c - b.y * s, b.x * s + b.y * c);
    x[at] = make_float2(a.x + t.x, a.y + t.y), x[at + half] = make_float2(a.x - t.x, a.y - t.y);
}
KERNEL life(const unsigned char *x, unsigned char *y, int w, int h) {
    HERE;
    int c = i % w, r = i / w, s = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) s += x[((r + dy + h) % h) * w + (c + dx + w) % w];
    y[i] = s == 3 || (s == 2 && x[i]);
}
KERNEL layer_norm(const float *x, float *y, int w) {
    int t = threadIdx.x, warp = t / 32, lane = t % 32, row = blockIdx.x * 4 + warp;
    float s = 0, q = 0;
    for (int k = lane; k < w; k += 32) {
        float v = x[row * w + k];
        s += v, q += v * v;
    }
    for (int k = 16; k > 0; k /= 2) s += __shfl_xor_sync(~0u, s, k), q += __shfl_xor_sync(~0u, q, k);
    float mean = s / w, scale = rsqrtf(q / w - mean * mean + 1e-5f);
    for (int k = lane; k < w; k += 32) y[row * w + k] = (x[row * w + k] - mean) * scale;
}
KERNEL compact(const int *x, int *y, int *count, int n) {
    HERE;
    bool keep = i < n && (x[i] & 3) == 0;
    unsigned votes = __ballot_sync(~0u, keep);
    int lane = threadIdx.x % 32, at = 0;
    if (lane == 0) at = atomicAdd(count, __popc(votes));
    at = __shfl_sync(~0u, at, 0);
    if (keep) y[at + __popc(votes & ((1u << lane) - 1))] = x[i];
}
KERNEL kinds(const float *x, float *y, int n) {
    HERE;
    float v = x[i];
    switch (i % 4) {
    case 0:
        for (int k = 0; k < 20; k++) v = v * 1.01f + 0.1f;
        break;
    case 1: v = sqrtf(v); break;
    case 2: v = v / 3.7f; break;
    default:
        for (int k = 0; k < 10; k++) v = v * v - 0.1f;
        break;
    }
    if (i < n) y[i] = v;
}

#define RUN(kernel, grid, block, shared, ...)                                                                          \
    do {                                                                                                               \
        kernel<<<grid, block, shared>>>(__VA_ARGS__);                                                                  \
        cudaError_t e = cudaDeviceSynchronize();                                                                       \
        if (e != cudaSuccess) return fprintf(stderr, "kernels.cu: " #kernel ": %s\n", cudaGetErrorString(e)), 1;       \
    } while (0)
#define EACH(kernel, ...) RUN(kernel, BLOCKS, BLOCK, 0, __VA_ARGS__)

int main() {
    static int row[THREADS + 1], words[N], sorted[N], random[N];
    static float values[N];
    static double wide[N];
    unsigned v = 1;
    for (int k = 0; k < N; k++) {
        v = v * 1664525u + 1013904223u;
        values[k] = 0.1f + (v >> 8) / 16777216.0f;
        wide[k] = 0.1 + values[k];
        words[k] = (int)(v >> 4 & 0xfffffff), random[k] = (int)(v >> 16), sorted[k] = 3 * k;
    }
    for (int k = 0; k < THREADS; k++) row[k + 1] = row[k] + k % 16;
    float *x, *y, *z;
    int *at, *text, *big, *line, *found;
    double *d, *e;
    size_t bytes = 4u << 20;
    void **all[] = {(void **)&x,   (void **)&y,    (void **)&z,     (void **)&at, (void **)&text,
                    (void **)&big, (void **)&line, (void **)&found, (void **)&d,  (void **)&e};
    for (void **p : all) cudaMalloc(p, bytes), cudaMemset(*p, 0, bytes);
    float *const floats[] = {x, y, z};
    for (float *p : floats) cudaMemcpy(p, values, sizeof values, cudaMemcpyHostToDevice);
    cudaMemcpy(at, random, sizeof random, cudaMemcpyHostToDevice);
    cudaMemcpy(big, words, sizeof words, cudaMemcpyHostToDevice);
    cudaMemcpy(text, words, sizeof words, cudaMemcpyHostToDevice);
    cudaMemcpy(line, sorted, sizeof sorted, cudaMemcpyHostToDevice);
    cudaMemcpy(d, wide, sizeof wide, cudaMemcpyHostToDevice);
    cudaMemcpy(e, wide, sizeof wide, cudaMemcpyHostToDevice);
    unsigned *u = (unsigned *)found, *w = (unsigned *)big;
    int n = THREADS - 5;

    EACH(copy, x, y, n);
    EACH(axpy, x, y, 2, n);
    EACH(copy_wide, (float4 *)x, (float4 *)y, n);
    EACH(stencil3, x, y, n);
    RUN(stencil5, dim3(4, 16), BLOCK, 0, x, y, 128, 64);
    EACH(gather, x, at, y, n);
    EACH(scatter, x, at, y, n);
    EACH(structs, (body *)x, (body *)y, 0.1f, n);
    EACH(sigmoid, x, y, n);
    EACH(fast_math, x, y, n);
    EACH(waves, x, y, n);
    EACH(power, x, y, n);
    EACH(logarithm, x, y, n);
    EACH(gelu, x, y, n);
    EACH(error_function, x, y, n);
    EACH(roots, x, y, n);
    EACH(quotient, x, y, n);
    EACH(doubles, d, e, n);
    EACH(double_quotient, d, e, n);
    EACH(double_root, d, e, n);
    EACH(double_exp, d, e, n);
    EACH(divide_int, big, found, 37, n);
    EACH(divide_unsigned, w, u, 37, n);
    EACH(divide_seven, big, found, n);
    EACH(divide_long, (long long *)d, (long long *)e, 1234567891011ll, n);
    EACH(long_math, (long long *)d, (long long *)e, 12345, n);
    EACH(bits, w, u, n);
    EACH(hash, w, u, n);
    EACH(logic, w, u, 0xff00ff, 0xf0f0f0, n);
    EACH(clamp_all, x, y, 0.2f, 0.8f, n);
    EACH(clamp_int, big, found, 1000, 100000, n);
    EACH(choose, x, y, n);
    EACH(invert, (unsigned char *)text, (unsigned char *)found, n);
    EACH(grey, (uchar4 *)text, (unsigned char *)found, n);
    EACH(upper, (char *)text, (char *)found, n);
    EACH(to_int, x, found, n);
    EACH(mixed, big, e, n);
    EACH(strided_sum, x, y, N);
    EACH(row_sum, x, y, 7);
    EACH(column_sum, x, y, THREADS, 8);
    EACH(matvec, x, z, y, 8);
    EACH(convolve, x, z, y, n, 21);
    EACH(convolve_const, x, y, n);
    RUN(matmul, dim3(4, 4), dim3(16, 16), 0, x, z, y, 64);
    RUN(matmul_tiled, dim3(4, 4), dim3(16, 16), 0, x, z, y, 64);
    RUN(matmul_registers, dim3(2, 2), 256, 0, x, z, y, 128);
    RUN(transpose, dim3(4, 4), dim3(32, 8), 0, x, y, 128);
    EACH(sum_shared, x, y);
    RUN(sum_any, BLOCKS, BLOCK, BLOCK * 4, x, y);
    EACH(sum_shuffle, x, y);
    EACH(scan, x, y);
    EACH(scan_shuffle, big, found);
    EACH(histogram, (unsigned char *)text, u, N);
    EACH(bitonic, w);
    cudaMemcpy(found, row, sizeof row, cudaMemcpyHostToDevice);
    EACH(sparse, found, at, x, z, y, n);
    EACH(softmax, x, y, 7);
    EACH(nbody, (float4 *)x, (float4 *)y, 100);
    EACH(mandelbrot, found, 128, 64);
    EACH(collatz, w, found, n);
    EACH(search, line, big, found, N);
    EACH(chase, at, found, 30);
    EACH(poly, x, y, 50);
    EACH(poly_fixed, x, y);
    EACH(lcg, u, 50);
    EACH(xorshift, u, 50);
    EACH(monte_carlo, u, 50);
    EACH(gcd, w, u, n);
    EACH(primes, found, n);
    EACH(double_loop, d, e, 50);
    EACH(string_find, (char *)text, found, n);
    RUN(attention, 8, BLOCK, 0, x, z, y, (float *)e, 40);
    RUN(fft_step, 32, BLOCK, 0, (float2 *)x, 16);
    EACH(life, (unsigned char *)text, (unsigned char *)found, 128, 64);
    EACH(layer_norm, x, y, 200);
    EACH(compact, big, found, line, n);
    EACH(kinds, x, y, n);
    return 0;
}

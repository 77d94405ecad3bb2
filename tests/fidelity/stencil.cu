/* stencil.cu — stencils in one, two and three dimensions, and convolutions, as a course writes them. */
#include "fidelity.h"

enum { N1 = 1 << 22, W = 2048, H = 2048, D3 = 160, TAPS = 15 };
static float *a, *b, *taps;
__constant__ float weights[64];

__global__ void line(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 3 || i >= n - 3) return;
    float s = 0;
    for (int k = -3; k <= 3; k++) s += in[i + k];
    out[i] = s / 7;
}
__global__ void line_shared(const float *in, float *out, int n) {
    __shared__ float s[256 + 6];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x + 3;
    s[t] = in[i];
    if (threadIdx.x < 3) {
        s[t - 3] = i >= 3 ? in[i - 3] : 0;
        s[t + 256] = i + 256 < n ? in[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = -3; k <= 3; k++) sum += s[t + k];
    out[i] = sum / 7;
}
__global__ void five(const float *in, float *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1) {
        int i = y * w + x;
        out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
    }
}
__global__ void five_shared(const float *in, float *out, int w, int h) {
    __shared__ float s[18][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1, i = y * w + x;
    s[ty][tx] = in[i];
    if (threadIdx.x == 0 && x > 0) s[ty][0] = in[i - 1];
    if (threadIdx.x == 31 && x < w - 1) s[ty][33] = in[i + 1];
    if (threadIdx.y == 0 && y > 0) s[0][tx] = in[i - w];
    if (threadIdx.y == 15 && y < h - 1) s[17][tx] = in[i + w];
    __syncthreads();
    if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
        out[i] = 0.2f * (s[ty][tx] + s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx]);
}
__global__ void blur(const float *in, float *out, int w, int h, int r) { /* a square of side 2 r + 1 */
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    int count = 0;
    for (int dy = -r; dy <= r; dy++)
        for (int dx = -r; dx <= r; dx++) {
            int xx = x + dx, yy = y + dy;
            if (xx >= 0 && xx < w && yy >= 0 && yy < h) {
                s += in[yy * w + xx];
                count++;
            }
        }
    out[y * w + x] = s / count;
}
__global__ void seven(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1) return;
    int i = (z * n + y) * n + x;
    out[i] = 0.5f * in[i] + 0.08f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}
__global__ void seven_march(const float *in, float *out, int n) { /* a thread goes up a column */
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
    int i = y * n + x, plane = n * n;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < n - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = 0.5f * here + 0.08f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + below + above);
        below = here;
        here = above;
    }
}
/* --- convolutions --- */
__global__ void convolve(const float *in, const float *k, float *out, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + taps > n) return;
    float s = 0;
    for (int j = 0; j < taps; j++) s += in[i + j] * k[j];
    out[i] = s;
}
__global__ void convolve_constant(const float *in, float *out, int n, int taps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + taps > n) return;
    float s = 0;
    for (int j = 0; j < taps; j++) s += in[i + j] * weights[j];
    out[i] = s;
}
template <int T> __global__ void convolve_shared(const float *in, float *out, int n) {
    __shared__ float s[256 + T];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = in[i];
    if (threadIdx.x < T) s[256 + threadIdx.x] = i + 256 < n ? in[i + 256] : 0;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int j = 0; j < T; j++) sum += s[threadIdx.x + j] * weights[j];
    out[i] = sum;
}
__global__ void convolve_rows(const float *in, float *out, int w, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float s = 0;
    for (int k = -r; k <= r; k++) s += in[y * w + min(max(x + k, 0), w - 1)] * weights[k + r];
    out[y * w + x] = s;
}
__global__ void convolve_columns(const float *in, float *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    float s = 0;
    for (int k = -r; k <= r; k++) s += in[min(max(y + k, 0), h - 1) * w + x] * weights[k + r];
    out[y * w + x] = s;
}
__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char *p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[w - 1];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[1 - w];
    int g = abs(gx) + abs(gy);
    out[y * w + x] = g > 255 ? 255 : g;
}

static void setup() {
    float host[64];
    for (int i = 0; i < 64; i++) host[i] = 1.0f / (1 + i);
    a = filled<float>(N1, unit);
    b = zeroed<float>(N1);
    taps = filled<float>(64, unit);
    MUST(cudaMemcpyToSymbol(weights, host, sizeof host));
}

static const dim3 tile(32, 8), tiles(W / 32, H / 8);
static const fidelity_test tests[] = {
    COLD("stencil/line of 7, 2^22", 1, line<<<N1 / 256, 256>>>(a, b, N1)),
    COLD("stencil/line of 7 in shared memory, 2^22", 1, line_shared<<<N1 / 256, 256>>>(a, b, N1)),
    COLD("stencil/line of 7, 2^19", 1, line<<<(1 << 19) / 128, 128>>>(a, b, 1 << 19)),
    COLD("stencil/5 points, 2048 x 2048", 1, five<<<tiles, tile>>>(a, b, W, H)),
    COLD("stencil/5 points, blocks of 16 x 16", 1, five<<<dim3(W / 16, H / 16), dim3(16, 16)>>>(a, b, W, H)),
    COLD("stencil/5 points in shared memory", 1, five_shared<<<dim3(W / 32, H / 16), dim3(32, 16)>>>(a, b, W, H)),
    WARM(
        "stencil/5 points, 1024 x 1024, 4 steps", 4,
        for (int i = 0; i < 2; i++) {
            five<<<dim3(32, 128), tile>>>(a, b, 1024, 1024);
            five<<<dim3(32, 128), tile>>>(b, a, 1024, 1024);
        }),
    COLD("stencil/7 points, 160^3", 1, seven<<<dim3(D3 / 32, D3 / 8, D3), tile>>>(a, b, D3)),
    COLD("stencil/7 points, 160^3, marching", 1, seven_march<<<dim3(D3 / 32, D3 / 8), tile>>>(a, b, D3)),
    COLD("blur/3 x 3, 2048 x 1024", 1, blur<<<dim3(W / 32, 1024 / 8), tile>>>(a, b, W, 1024, 1)),
    COLD("blur/7 x 7, 1024 x 1024", 1, blur<<<dim3(32, 128), tile>>>(a, b, 1024, 1024, 3)),
    COLD("blur/Sobel, bytes, 2048 x 2048", 1, sobel<<<tiles, tile>>>((unsigned char *)a, (unsigned char *)b, W, H)),
    COLD("convolution/15 taps", 1, convolve<<<(1 << 21) / 256, 256>>>(a, taps, b, 1 << 21, TAPS)),
    COLD("convolution/63 taps", 1, convolve<<<(1 << 20) / 256, 256>>>(a, taps, b, 1 << 20, 63)),
    COLD("convolution/15 taps, constant memory", 1, convolve_constant<<<(1 << 21) / 256, 256>>>(a, b, 1 << 21, TAPS)),
    COLD("convolution/63 taps, constant memory", 1, convolve_constant<<<(1 << 20) / 256, 256>>>(a, b, 1 << 20, 63)),
    COLD("convolution/15 taps in shared memory", 1, convolve_shared<15><<<(1 << 21) / 256, 256>>>(a, b, 1 << 21)),
    COLD("convolution/63 taps in shared memory", 1, convolve_shared<63><<<(1 << 20) / 256, 256>>>(a, b, 1 << 20)),
    COLD("convolution/rows, 9 taps", 1, convolve_rows<<<dim3(W / 256, 1024), 256>>>(a, b, W, 4)),
    COLD("convolution/columns, 9 taps", 1, convolve_columns<<<dim3(W / 256, 1024), 256>>>(a, b, W, 1024, 4)),
};
FIDELITY_MAIN(setup, tests)

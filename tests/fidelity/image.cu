/* image.cu — filters, colours, geometry and regions of pictures. */
#include "fidelity.h"

enum { SIDE = 2048, PIXELS = SIDE * SIDE, SMALL = 1024, IN_W = 1500, IN_H = 1100 };
static float *picture, *result;
static unsigned char *bytes, *byte_result, *table;
static int *labels, *labels2, *labels3, *changed;

/* --- bilateral filter, 5 x 5 --- */
__global__ void bilateral(const float *in, float *out, int w, int h, float sigma_s, float sigma_r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float centre = in[y * w + x], sum = 0.0f, weights = 0.0f;
    for (int dy = -2; dy <= 2; dy++) {
        for (int dx = -2; dx <= 2; dx++) {
            int px = min(max(x + dx, 0), w - 1);
            int py = min(max(y + dy, 0), h - 1);
            float v = in[py * w + px];
            float d = v - centre;
            float weight =
                expf(-(dx * dx + dy * dy) / (2.0f * sigma_s * sigma_s)) * expf(-(d * d) / (2.0f * sigma_r * sigma_r));
            sum += weight * v;
            weights += weight;
        }
    }
    out[y * w + x] = sum / weights;
}

#define TILE   16
#define RADIUS 2
__constant__ float spatial[5][5];
__global__ void bilateral_shared(const float *__restrict__ in, float *__restrict__ out, int w, int h, float scale) {
    __shared__ float tile[TILE + 2 * RADIUS][TILE + 2 * RADIUS];
    int left = blockIdx.x * TILE - RADIUS, top = blockIdx.y * TILE - RADIUS;
    for (int ty = threadIdx.y; ty < TILE + 2 * RADIUS; ty += TILE) {
        for (int tx = threadIdx.x; tx < TILE + 2 * RADIUS; tx += TILE) {
            int px = min(max(left + tx, 0), w - 1);
            int py = min(max(top + ty, 0), h - 1);
            tile[ty][tx] = in[py * w + px];
        }
    }
    __syncthreads();
    float centre = tile[threadIdx.y + RADIUS][threadIdx.x + RADIUS], sum = 0.0f, weights = 0.0f;
#pragma unroll
    for (int dy = 0; dy < 5; dy++) {
#pragma unroll
        for (int dx = 0; dx < 5; dx++) {
            float v = tile[threadIdx.y + dy][threadIdx.x + dx];
            float d = v - centre;
            float weight = spatial[dy][dx] * __expf(scale * d * d);
            sum += weight * v;
            weights += weight;
        }
    }
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x < w && y < h) out[y * w + x] = sum / weights;
}

/* --- colours --- */
__global__ void equalise(const unsigned char *in, unsigned char *out, const unsigned char *lut, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = lut[in[i]];
}

__device__ unsigned char to_byte(float v) { return (unsigned char)fminf(fmaxf(v + 0.5f, 0.0f), 255.0f); }
__global__ void rgb_to_yuv(const uchar3 *rgb, uchar3 *yuv, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rgb[i].x, g = rgb[i].y, b = rgb[i].z;
    yuv[i].x = to_byte(0.299f * r + 0.587f * g + 0.114f * b);
    yuv[i].y = to_byte(-0.169f * r - 0.331f * g + 0.5f * b + 128.0f);
    yuv[i].z = to_byte(0.5f * r - 0.419f * g - 0.081f * b + 128.0f);
}

__global__ void rgba_to_yuv(const uchar4 *__restrict__ rgba, uchar4 *__restrict__ yuv, int n) { /* in integers */
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uchar4 p = rgba[i];
        int y = (66 * p.x + 129 * p.y + 25 * p.z + 128) >> 8;
        int u = (-38 * p.x - 74 * p.y + 112 * p.z + 128) >> 8;
        int v = (112 * p.x - 94 * p.y - 18 * p.z + 128) >> 8;
        yuv[i] = make_uchar4(y + 16, u + 128, v + 128, p.w);
    }
}

/* --- box filter by a running sum --- */
__global__ void box_rows(const float *in, float *out, int w, int h, int r) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h) return;
    in += y * w;
    out += y * w;
    float scale = 1.0f / (2 * r + 1), t = in[0] * r;
    for (int x = 0; x < r + 1; x++) t += in[x];
    out[0] = t * scale;
    for (int x = 1; x < r + 1; x++) {
        t += in[x + r];
        t -= in[0];
        out[x] = t * scale;
    }
    for (int x = r + 1; x < w - r; x++) {
        t += in[x + r];
        t -= in[x - r - 1];
        out[x] = t * scale;
    }
    for (int x = w - r; x < w; x++) {
        t += in[w - 1];
        t -= in[x - r - 1];
        out[x] = t * scale;
    }
}

__global__ void box_columns(const float *in, float *out, int w, int h, int r) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w) return;
    float scale = 1.0f / (2 * r + 1), t = in[x] * r;
    for (int y = 0; y <= r; y++) t += in[y * w + x];
    out[x] = t * scale;
    for (int y = 1; y < h; y++) {
        int enters = min(y + r, h - 1), leaves = max(y - r - 1, 0);
        t += in[enters * w + x] - in[leaves * w + x];
        out[y * w + x] = t * scale;
    }
}

/* --- ranks --- */
#define EXCHANGE(a, b)                                                                                                 \
    {                                                                                                                  \
        int lower = min(a, b);                                                                                         \
        b = max(a, b);                                                                                                 \
        a = lower;                                                                                                     \
    }
__global__ void median3(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int p[9];
#pragma unroll
    for (int i = 0; i < 9; i++) p[i] = in[(y + i / 3 - 1) * w + x + i % 3 - 1];
    EXCHANGE(p[1], p[2]);
    EXCHANGE(p[4], p[5]);
    EXCHANGE(p[7], p[8]);
    EXCHANGE(p[0], p[1]);
    EXCHANGE(p[3], p[4]);
    EXCHANGE(p[6], p[7]);
    EXCHANGE(p[1], p[2]);
    EXCHANGE(p[4], p[5]);
    EXCHANGE(p[7], p[8]);
    EXCHANGE(p[0], p[3]);
    EXCHANGE(p[5], p[8]);
    EXCHANGE(p[4], p[7]);
    EXCHANGE(p[3], p[6]);
    EXCHANGE(p[1], p[4]);
    EXCHANGE(p[2], p[5]);
    EXCHANGE(p[4], p[7]);
    EXCHANGE(p[4], p[2]);
    EXCHANGE(p[6], p[4]);
    EXCHANGE(p[4], p[2]);
    out[y * w + x] = p[4];
}

template <int R, int BX, int BY> __global__ void erode(const unsigned char *in, unsigned char *out, int w, int h) {
    __shared__ unsigned char tile[BY + 2 * R][BX + 2 * R];
    int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    for (int i = threadIdx.y * BX + threadIdx.x; i < (BX + 2 * R) * (BY + 2 * R); i += BX * BY) {
        int tx = i % (BX + 2 * R), ty = i / (BX + 2 * R);
        int x = x0 + tx - R, y = y0 + ty - R;
        tile[ty][tx] = x >= 0 && x < w && y >= 0 && y < h ? in[y * w + x] : 255;
    }
    __syncthreads();
    unsigned char least = 255;
    for (int dy = 0; dy <= 2 * R; dy++)
        for (int dx = 0; dx <= 2 * R; dx++) {
            unsigned char v = tile[threadIdx.y + dy][threadIdx.x + dx];
            if (v < least) least = v;
        }
    out[(y0 + threadIdx.y) * w + x0 + threadIdx.x] = least;
}

/* --- geometry --- */
__global__ void resize(const float *in, int in_w, int in_h, float *out, int out_w, int out_h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= out_w || y >= out_h) return;
    float fx = (x + 0.5f) * in_w / out_w - 0.5f, fy = (y + 0.5f) * in_h / out_h - 0.5f;
    int x0 = (int)floorf(fx), y0 = (int)floorf(fy);
    float ax = fx - x0, ay = fy - y0;
    int x1 = min(x0 + 1, in_w - 1), y1 = min(y0 + 1, in_h - 1);
    x0 = max(x0, 0);
    y0 = max(y0, 0);
    float top = in[y0 * in_w + x0] * (1 - ax) + in[y0 * in_w + x1] * ax;
    float bottom = in[y1 * in_w + x0] * (1 - ax) + in[y1 * in_w + x1] * ax;
    out[y * out_w + x] = top * (1 - ay) + bottom * ay;
}

__global__ void rotate(const float *in, float *out, int w, int h, float degrees) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float angle = degrees * 3.14159265f / 180.0f;
    float c = cosf(angle), s = sinf(angle);
    float cx = x - w / 2, cy = y - h / 2;
    int sx = (int)(cx * c + cy * s + w / 2);
    int sy = (int)(cy * c - cx * s + h / 2);
    out[y * w + x] = sx >= 0 && sx < w && sy >= 0 && sy < h ? in[sy * w + sx] : 0.0f;
}

/* --- regions --- */
__global__ void label_step(const int *in, int *out, int *changed, int w, int h) { /* the least label around */
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int i = y * w + x, own = in[i], least = own;
    if (own > 0) {
        if (x > 0 && in[i - 1] > 0) least = min(least, in[i - 1]);
        if (x < w - 1 && in[i + 1] > 0) least = min(least, in[i + 1]);
        if (y > 0 && in[i - w] > 0) least = min(least, in[i - w]);
        if (y < h - 1 && in[i + w] > 0) least = min(least, in[i + w]);
        if (least != own) *changed = 1;
    }
    out[i] = least;
}

__global__ void integral_rows(const float *in, float *out, int w) { /* a block has a row */
    __shared__ float sums[8];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float carry = 0.0f;
    for (int x = threadIdx.x; x < w; x += 256) {
        float v = in[blockIdx.x * w + x];
        for (int d = 1; d < 32; d *= 2) {
            float u = __shfl_up_sync(0xffffffff, v, d);
            if (lane >= d) v += u;
        }
        if (lane == 31) sums[warp] = v;
        __syncthreads();
        float before = carry;
        for (int k = 0; k < 8; k++) {
            if (k == warp) v += before;
            before += sums[k];
        }
        carry = before;
        out[blockIdx.x * w + x] = v;
        __syncthreads();
    }
}

static void setup() {
    float host[5][5];
    picture = filled<float>(PIXELS, unit);
    result = zeroed<float>(PIXELS);
    bytes = filled<unsigned char>(4 * PIXELS, [](size_t i) { return (unsigned char)(mixed(i) >> 11); });
    byte_result = zeroed<unsigned char>(4 * PIXELS);
    table = filled<unsigned char>(256, [](size_t i) { return (unsigned char)(i * i / 255); });
    labels = filled<int>(PIXELS, [](size_t i) { return mixed(i / 5) % 3 ? (int)i + 1 : 0; });
    labels2 = zeroed<int>(PIXELS);
    labels3 = zeroed<int>(PIXELS);
    changed = zeroed<int>(1);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 5; x++) host[y][x] = 1.0f / (1 + (x - 2) * (x - 2) + (y - 2) * (y - 2));
    MUST(cudaMemcpyToSymbol(spatial, host, sizeof host));
}

static const dim3 square(16, 16), wide(32, 8), flat(64, 2), tall(32, 16);
static const fidelity_test tests[] = {
    COLD("bilateral/5 x 5, 1024 x 1024", 1,
         bilateral<<<dim3(64, 64), square>>>(picture, result, SMALL, SMALL, 2.0f, 0.2f)),
    COLD("bilateral/5 x 5 in shared memory, 1024 x 1024", 1,
         bilateral_shared<<<dim3(64, 64), square>>>(picture, result, SMALL, SMALL, -12.5f)),
    COLD("colour/equalise, bytes, 4096 x 4096", 1,
         equalise<<<4 * PIXELS / 256, 256>>>(bytes, byte_result, table, 4 * PIXELS)),
    COLD("colour/YUV, uchar3, 2048 x 2048", 1,
         rgb_to_yuv<<<PIXELS / 128, 128>>>((uchar3 *)bytes, (uchar3 *)byte_result, PIXELS)),
    COLD("colour/YUV, uchar4, 2048 x 2048", 1,
         rgba_to_yuv<<<1024, 512>>>((uchar4 *)bytes, (uchar4 *)byte_result, PIXELS)),
    COLD("box/a row a thread, 1024 x 1024", 1, box_rows<<<SMALL / 64, 64>>>(picture, result, SMALL, SMALL, 8)),
    COLD("box/a column a thread, 1024 x 1024", 1, box_columns<<<SMALL / 64, 64>>>(picture, result, SMALL, SMALL, 8)),
    COLD("rank/median, 3 x 3, bytes, 2048 x 2048", 1,
         median3<<<dim3(SIDE / 32, SIDE / 8), wide>>>(bytes, byte_result, SIDE, SIDE)),
    COLD("rank/erosion, 7 x 7, in shared memory, 2048 x 2048", 1,
         erode<3, 32, 16><<<dim3(SIDE / 32, SIDE / 16), tall>>>(bytes, byte_result, SIDE, SIDE)),
    COLD("warp/resize to 2048 x 2048, bilinear", 1,
         resize<<<dim3(SIDE / 16, SIDE / 16), square>>>(picture, IN_W, IN_H, result, SIDE, SIDE)),
    COLD("warp/rotation by 30 degrees, 2048 x 2048", 1,
         rotate<<<dim3(SIDE / 32, SIDE / 8), wide>>>(picture, result, SIDE, SIDE, 30.0f)),
    WARM("regions/two steps of labels, 2048 x 2048", 2,
         label_step<<<dim3(SIDE / 64, SIDE / 2), flat>>>(labels, labels2, changed, SIDE, SIDE);
         label_step<<<dim3(SIDE / 64, SIDE / 2), flat>>>(labels2, labels3, changed, SIDE, SIDE)),
    COLD("regions/integral of rows, 2048 x 2048", 1, integral_rows<<<SIDE, 256>>>(picture, result, SIDE)),
};
FIDELITY_MAIN(setup, tests)

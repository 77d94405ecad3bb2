/* mipmap.cu — mipmapped arrays: their levels, how a read chooses among them, what a wrong use is told. Level k holds
 * the number k (times ten plus the plane), so a read tells the level that it took. Prints what differs, then "fine". */
#include <math.h>
#include <stdio.h>
#include <vector>

static int wrong;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) wrong++, printf("line %d: %s\n", __LINE__, #condition);                                      \
    } while (0)

#define IS(got, want)                                                                                                  \
    do {                                                                                                               \
        const double is = (got), wants = (want);                                                                       \
        if (is != wants) wrong++, printf("line %d: %s is %.9g, not %.9g\n", __LINE__, #got, is, wants);                \
    } while (0)

typedef cudaTextureObject_t texture_t;
static float *result; // managed

__global__ void lod(texture_t t, float level, float *to) { *to = tex2DLod<float>(t, 0.5f, 0.5f, level); }
__global__ void grad(texture_t t, float2 dx, float2 dy, float *to) { *to = tex2DGrad<float>(t, 0.5f, 0.5f, dx, dy); }
__global__ void first(texture_t t, float *to) { *to = tex2D<float>(t, 0.5f, 0.5f); }
__global__ void count(texture_t t, int *to) { asm("txq.num_mipmap_levels.b32 %0, [%1];" : "=r"(*to) : "l"(t)); }
__global__ void half_way(texture_t t, float x, float y, float level, float *to) {
    *to = tex2DLod<float>(t, x, y, level);
}
__global__ void fraction(texture_t t, float level, float4 *to) { *to = tex1DLod<float4>(t, 0.5f, level); }
__global__ void whole(texture_t t, float level, int *to) { tex1DLod(to, t, 0.5f, level); }
__global__ void others(texture_t line, texture_t volume, texture_t layers, texture_t cube, texture_t cubes, float *to) {
    float4 d = make_float4(0.25f, 0, 0, 0), none = make_float4(0, 0, 0, 0);
    to[0] = tex1DLod<float>(line, 0.5f, 1);
    to[1] = tex1DGrad<float>(line, 0.5f, 0.25f, -0.5f);
    to[2] = tex3DLod<float>(volume, 0.5f, 0.5f, 0.5f, 2);
    to[3] = tex3DGrad<float>(volume, 0.5f, 0.5f, 0.5f, d, make_float4(0, 0, 0.5f, 0));
    to[4] = tex2DLayeredLod<float>(layers, 0.5f, 0.5f, 1, 2);
    to[5] = tex2DLayeredGrad<float>(layers, 0.5f, 0.5f, 1, make_float2(0.25f, 0), make_float2(0, 0.125f));
    to[6] = texCubemapLod<float>(cube, 0.1f, 0.2f, 1, 2);
    to[7] = texCubemapGrad<float>(cube, 0, 0, 2, d, none); // a change of 1/16 of the face: a texel of the first level
    to[8] = texCubemapGrad<float>(cube, 0, 0, -1, none, make_float4(0, 0.25f, 0, 0));
    to[9] = texCubemapLayeredLod<float>(cubes, -1, 0.2f, 0.1f, 1, 1);
    to[10] = tex1DLayeredLod<float>(line, 0.5f, 0, 2); // not layered: zeros
}
__global__ void paint(cudaSurfaceObject_t s, int n, float v) {
    if (threadIdx.x < n) surf2Dwrite(v, s, threadIdx.x * 4, blockIdx.x);
}

// Level k of the array becomes k + 10 * plane.
static void fill(cudaMipmappedArray_t m, unsigned levels) {
    for (unsigned k = 0; k < levels; k++) {
        cudaArray_t a;
        cudaExtent e;
        CHECK(cudaGetMipmappedArrayLevel(&a, m, k) == cudaSuccess);
        cudaArrayGetInfo(nullptr, &e, nullptr, a);
        size_t rows = e.height ? e.height : 1, planes = e.depth ? e.depth : 1;
        std::vector<float> v(e.width * rows * planes);
        for (size_t i = 0; i < v.size(); i++) v[i] = k + 10 * (i / (e.width * rows));
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(v.data(), e.width * 4, e.width, rows), p.dstArray = a;
        p.extent = make_cudaExtent(e.width, rows, planes), p.kind = cudaMemcpyHostToDevice;
        CHECK(cudaMemcpy3D(&p) == cudaSuccess);
    }
}

static texture_t texture_of(cudaMipmappedArray_t m, bool between, float bias = 0, float least = 0, float most = 99,
                            bool linear = false) {
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    texture_t t = 0;
    r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    for (auto &mode : d.addressMode) mode = cudaAddressModeClamp;
    d.normalizedCoords = 1;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.mipmapFilterMode = between ? cudaFilterModeLinear : cudaFilterModePoint;
    d.mipmapLevelBias = bias, d.minMipmapLevelClamp = least, d.maxMipmapLevelClamp = most;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess);
    return t;
}
static float at(texture_t t, float level) {
    lod<<<1, 1>>>(t, level, result);
    cudaDeviceSynchronize();
    return *result;
}
static float by(texture_t t, float2 dx, float2 dy) {
    grad<<<1, 1>>>(t, dx, dy, result);
    cudaDeviceSynchronize();
    return *result;
}

static cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
static cudaMipmappedArray_t made(size_t w, size_t h, size_t d, unsigned levels, unsigned flags = 0) {
    cudaMipmappedArray_t m = nullptr;
    CHECK(cudaMallocMipmappedArray(&m, &floats, make_cudaExtent(w, h, d), levels, flags) == cudaSuccess);
    fill(m, levels);
    return m;
}

static void levels() {
    cudaMipmappedArray_t m;
    cudaArray_t a, again;
    cudaExtent e;
    CHECK(cudaMallocMipmappedArray(&m, &floats, make_cudaExtent(40, 9, 0), 99) == cudaSuccess); // as many as there are
    CHECK(cudaGetMipmappedArrayLevel(&a, m, 5) == cudaSuccess);
    CHECK(cudaArrayGetInfo(nullptr, &e, nullptr, a) == cudaSuccess && e.width == 1 && e.height == 1 && e.depth == 0);
    CHECK(cudaGetMipmappedArrayLevel(&a, m, 1) == cudaSuccess &&
          cudaGetMipmappedArrayLevel(&again, m, 1) == cudaSuccess);
    CHECK(a == again);
    CHECK(cudaArrayGetInfo(nullptr, &e, nullptr, a) == cudaSuccess && e.width == 20 && e.height == 4);
    CHECK(cudaGetMipmappedArrayLevel(&a, m, 6) == cudaErrorInvalidValue);
    CHECK(cudaFreeArray(again) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFreeMipmappedArray(m) == cudaSuccess);
    CHECK(cudaArrayGetInfo(nullptr, &e, nullptr, again) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFreeMipmappedArray(m) == cudaErrorInvalidResourceHandle);
    CHECK(cudaFreeMipmappedArray(nullptr) == cudaSuccess);
    CHECK(cudaMallocMipmappedArray(&m, &floats, make_cudaExtent(8, 8, 0), 0) == cudaSuccess); // one
    CHECK(cudaGetMipmappedArrayLevel(&a, m, 1) == cudaErrorInvalidValue);
    cudaFreeMipmappedArray(m);
    cudaGetLastError();
}

static void choice() {
    cudaMipmappedArray_t m = made(64, 64, 0, 7);
    texture_t t = texture_of(m, true);
    CHECK(at(t, 0) == 0 && at(t, 1) == 1 && at(t, 2.5f) == 2.5f && at(t, 5.25f) == 5.25f);
    CHECK(at(t, -3) == 0 && at(t, 6) == 6 && at(t, 17) == 6 && at(t, INFINITY) == 6 && at(t, NAN) == 0);
    IS(at(t, 1.003f), 1); // 8 bits of the level count
    IS(at(t, 1.004f), 1 + 1 / 256.0f);
    CHECK(by(t, make_float2(1 / 64.0f, 0), make_float2(0, 1 / 64.0f)) == 0);
    CHECK(by(t, make_float2(4 / 64.0f, 0), make_float2(0, 1 / 64.0f)) == 2); // the longer one
    CHECK(by(t, make_float2(0, 1 / 64.0f), make_float2(0, -8 / 64.0f)) == 3);
    IS(by(t, make_float2(3 / 64.0f, 4 / 64.0f), make_float2(0, 0)), 597 / 256.0f); // of 4 + 11/32 * 3, which is near 5
    IS(by(t, make_float2(3 / 64.0f, 0), make_float2(2 / 64.0f, 0)), 456 / 256.0f); // of 11/16 * (3 + 2)
    CHECK(by(t, make_float2(0.25f / 64, 0), make_float2(0, 0)) == 0 &&
          by(t, make_float2(0, 0), make_float2(0, 0)) == 0);
    CHECK(by(t, make_float2(INFINITY, 0), make_float2(0, 0)) == 6);
    t = texture_of(m, false);
    CHECK(at(t, 0.4f) == 0 && at(t, 0.6f) == 1 && at(t, 5.9f) == 6 && at(t, 9) == 6);
    t = texture_of(m, true, 0.5f);
    CHECK(at(t, 1) == 1.5f && at(t, -1) == 0 && at(t, 6) == 6);
    CHECK(by(t, make_float2(4 / 64.0f, 0), make_float2(0, 0)) == 2.5f);
    t = texture_of(m, true, 0, 1.25f, 3.5f);
    CHECK(at(t, 0) == 1.25f && at(t, 2) == 2 && at(t, 6) == 3.5f);
    texture_t least = texture_of(m, true, 1.003f, 1.2539f, 0.5f); // bias and limits are cut, too; the least wins
    IS(at(least, 0), 1.25f);
    IS(at(least, 6), 1.25f);
    first<<<1, 1>>>(texture_of(m, true, 2, 1, 5),
                    result); // no level: the first one within the limits, without the bias
    cudaDeviceSynchronize();
    IS(*result, 1);
    count<<<1, 1>>>(t, (int *)result); // an H200's driver does not load it: cudaErrorSymbolNotFound
    cudaDeviceSynchronize();
    IS(*(int *)result, 7);
    // A filter in each of two levels, and between them.
    for (unsigned k = 0; k < 2; k++) {
        cudaArray_t a;
        float two[64 * 64];
        for (int i = 0; i < 64 * 64; i++) two[i] = i % (64 >> k) * (k + 1);
        cudaGetMipmappedArrayLevel(&a, m, k);
        cudaMemcpy2DToArray(a, 0, 0, two, (64 >> k) * 4, (64 >> k) * 4, 64 >> k, cudaMemcpyHostToDevice);
    }
    half_way<<<1, 1>>>(texture_of(m, true, 0, 0, 99, true), 10.25f / 64, 0.5f, 0.25f, result);
    cudaDeviceSynchronize();
    CHECK(*result == 0.75f * 9.75f + 0.25f * (5.125f - 0.5f) * 2);
    // A kernel writes a level.
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s;
    r.resType = cudaResourceTypeArray;
    cudaGetMipmappedArrayLevel(&r.res.array.array, m, 3);
    CHECK(cudaCreateSurfaceObject(&s, &r) == cudaSuccess);
    paint<<<8, 32>>>(s, 8, 77);
    CHECK(at(texture_of(m, false), 3) == 77 && at(texture_of(m, false), 4) == 4);
    cudaFreeMipmappedArray(m);
}

static void shapes() {
    cudaMipmappedArray_t line = made(16, 0, 0, 5), volume = made(16, 16, 16, 5),
                         layers = made(16, 16, 3, 5, cudaArrayLayered), cube = made(16, 16, 6, 5, cudaArrayCubemap),
                         cubes = made(8, 8, 12, 4, cudaArrayCubemap | cudaArrayLayered);
    others<<<1, 1>>>(texture_of(line, true), texture_of(volume, true), texture_of(layers, true), texture_of(cube, true),
                     texture_of(cubes, true), result);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    const float want[] = {1,          780 / 256.0f, 2 + 10 * 2, 3 + 10 * 1, 2 + 10, 2 + 10,
                          2 + 10 * 4, 0 + 10 * 4,   1 + 10 * 5, 1 + 10 * 7, 0};
    for (int k = 0; k < 11; k++)
        if (result[k] != want[k]) wrong++, printf("shape %d: %g, not %g\n", k, result[k], want[k]);
    for (auto m : {line, volume, layers, cube, cubes}) CHECK(cudaFreeMipmappedArray(m) == cudaSuccess);
}

static void formats() {
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<uchar4>(), ints = cudaCreateChannelDesc<int>();
    cudaMipmappedArray_t m;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    texture_t t;
    d.normalizedCoords = 1, d.mipmapFilterMode = cudaFilterModeLinear, d.maxMipmapLevelClamp = 9;
    d.readMode = cudaReadModeNormalizedFloat;
    cudaMallocMipmappedArray(&m, &bytes, make_cudaExtent(2, 0, 0), 2);
    const uchar4 texels[2][2] = {{{0, 51, 255, 0}, {0, 51, 255, 0}}, {{255, 0, 0, 102}, {}}};
    for (int k = 0; k < 2; k++) {
        cudaArray_t a;
        cudaGetMipmappedArrayLevel(&a, m, k);
        cudaMemcpy2DToArray(a, 0, 0, texels[k], 8, 8 >> k, 1, cudaMemcpyHostToDevice);
    }
    r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess);
    fraction<<<1, 1>>>(t, 0.5f, (float4 *)result);
    cudaDeviceSynchronize();
    IS(result[0], 32768 / 65535.0f); // fractions of 16 bits, rounded
    IS(result[1], 6554 / 65535.0f);
    IS(result[2], 32768 / 65535.0f);
    IS(result[3], 13107 / 65535.0f);
    d.normalizedCoords = 0; // normalized all the same
    IS(cudaCreateTextureObject(&t, &r, &d, nullptr), cudaSuccess);
    fraction<<<1, 1>>>(t, 0, (float4 *)result);
    cudaDeviceSynchronize();
    IS(result[1], 0.2f);
    d.normalizedCoords = 1, d.readMode = cudaReadModeElementType;
    IS(cudaCreateTextureObject(&t, &r, &d, nullptr), cudaSuccess);
    whole<<<1, 1>>>(t, 0.25f, (int *)result); // integers between two levels: rounded
    cudaDeviceSynchronize();
    IS(*(int *)result, 64);
    cudaFreeMipmappedArray(m);
    cudaMallocMipmappedArray(&m, &ints, make_cudaExtent(2, 0, 0), 2);
    cudaArray_t a;
    const int minus = -7;
    cudaGetMipmappedArrayLevel(&a, m, 1);
    cudaMemcpy2DToArray(a, 0, 0, &minus, 4, 4, 1, cudaMemcpyHostToDevice);
    r.res.mipmap.mipmap = m, d.mipmapFilterMode = cudaFilterModePoint;
    CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr) == cudaSuccess);
    whole<<<1, 1>>>(t, 1, (int *)result);
    cudaDeviceSynchronize();
    CHECK(*(int *)result == -7);
    cudaFreeMipmappedArray(m);
    lod<<<1, 1>>>(t, 0, result); // behind the end of its memory
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
}

int main() {
    cudaMallocManaged(&result, 64 * sizeof *result);
    levels();
    choice();
    shapes();
    formats();
    if (!wrong) printf("fine\n");
    return wrong != 0;
}

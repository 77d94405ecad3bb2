/* silicon.cu — reads textures and surfaces at thousands of places and prints a line `name: hash of the results`; with
 * an argument, the results themselves. tests/texture/h200.txt has the lines of an H200 (nvcc 13, -arch=sm_90). */
#include <cstdio>
#include <cstdint>
#include <cstring>
#include <cmath>
#include <vector>
#include <cuda_runtime.h>
#define CK(x)                                                                                                          \
    do {                                                                                                               \
        cudaError_t e_ = (x);                                                                                          \
        if (e_ != cudaSuccess) printf("! %d %s line %d\n", (int)e_, cudaGetErrorName(e_), __LINE__);                   \
    } while (0)

static uint32_t state = 1;
static uint32_t rnd() {
    state = state * 1664525u + 1013904223u;
    uint32_t x = state;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    return x;
}
static float unit() { return (rnd() >> 8) * 0x1p-24f; }
static float mixed() {
    float f = unit() * 2 - 1;
    return ldexpf(f, (int)(rnd() % 12) - 6);
}

__global__ void k1(cudaTextureObject_t t, const float *x, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex1D<float>(t, x[i]);
}
__global__ void k2(cudaTextureObject_t t, const float *x, const float *y, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2D<float>(t, x[i], y[i]);
}
__global__ void k3(cudaTextureObject_t t, const float *x, const float *y, const float *z, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex3D<float>(t, x[i], y[i], z[i]);
}
__global__ void kc(cudaTextureObject_t t, const float *x, const float *y, const float *z, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = texCubemap<float>(t, x[i], y[i], z[i]);
}
__global__ void kl1(cudaTextureObject_t t, const float *x, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex1DLayered<float>(t, x[i], i % 6 - 1);
}
__global__ void kl2(cudaTextureObject_t t, const float *x, const float *y, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2DLayered<float>(t, x[i], y[i], i % 6 - 1);
}
__global__ void kg(cudaTextureObject_t t, const float *x, const float *y, float4 *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2Dgather<float4>(t, x[i], y[i], 0);
}
__global__ void kf(cudaTextureObject_t t, float *r, int n) {
    int i = threadIdx.x;
    if (i < n) r[i] = tex1Dfetch<float>(t, i - 4);
}
__global__ void ku2(cudaTextureObject_t t, const float *x, const float *y, unsigned *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2D<unsigned char>(t, x[i], y[i]);
}
__global__ void k24(cudaTextureObject_t t, const float *x, const float *y, float4 *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2D<float4>(t, x[i], y[i]);
}
__global__ void klod(cudaTextureObject_t t, const float *x, const float *y, float *r, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) r[i] = tex2DLod<float>(t, x[i], y[i], (float)(i % 3));
}
__global__ void ks(cudaSurfaceObject_t s, float *r) {
    int i = threadIdx.x;
    float v;
    surf2Dread(&v, s, (i - 2) * 4, 1, cudaBoundaryModeZero);
    r[i] = v;
    surf2Dread(&v, s, (i - 2) * 4, 1, cudaBoundaryModeClamp);
    r[32 + i] = v;
    surf2Dread(&v, s, 4, i - 2, cudaBoundaryModeZero);
    r[64 + i] = v;
    surf2Dread(&v, s, 4, i - 2, cudaBoundaryModeClamp);
    r[96 + i] = v;
}

template <class T> static T *up(const std::vector<T> &v) {
    T *p;
    CK(cudaMalloc(&p, v.size() * sizeof(T)));
    CK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
static bool all;
static void show(const char *name, const void *d, int words) {
    std::vector<uint32_t> h(words);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy(h.data(), d, words * 4, cudaMemcpyDeviceToHost));
    uint64_t hash = 0xcbf29ce484222325ull;
    for (uint32_t v : h) hash = (hash ^ v) * 0x100000001b3ull;
    printf("%s: %016llx\n", name, (unsigned long long)hash);
    for (int i = 0; all && i < words; i++) printf("%x%c", h[i], i % 16 == 15 || i == words - 1 ? '\n' : ' ');
}

struct Opt {
    cudaTextureAddressMode a;
    cudaTextureFilterMode f;
    cudaTextureReadMode r;
    int norm;
    int srgb;
};
static cudaTextureObject_t tex(cudaArray_t a, Opt o) {
    cudaResourceDesc rd;
    memset(&rd, 0, sizeof rd);
    rd.resType = cudaResourceTypeArray;
    rd.res.array.array = a;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.addressMode[0] = td.addressMode[1] = td.addressMode[2] = o.a;
    td.filterMode = o.f;
    td.readMode = o.r;
    td.normalizedCoords = o.norm;
    td.sRGB = o.srgb;
    td.borderColor[0] = 0.75f;
    td.borderColor[1] = 0.5f;
    td.borderColor[2] = 0.25f;
    td.borderColor[3] = 2.0f;
    cudaTextureObject_t t = 0;
    CK(cudaCreateTextureObject(&t, &rd, &td, 0));
    return t;
}
static cudaArray_t array(cudaChannelFormatDesc d, int w, int h, int dep, unsigned flags, const void *data) {
    cudaArray_t a = 0;
    CK(cudaMalloc3DArray(&a, &d, make_cudaExtent(w, h, dep), flags));
    size_t el = (d.x + d.y + d.z + d.w) / 8;
    cudaMemcpy3DParms p;
    memset(&p, 0, sizeof p);
    p.srcPtr = make_cudaPitchedPtr((void *)data, w * el, w, h ? h : 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(w, h ? h : 1, dep ? dep : 1);
    p.kind = cudaMemcpyHostToDevice;
    CK(cudaMemcpy3D(&p));
    return a;
}
static const cudaTextureAddressMode WRAP = cudaAddressModeWrap, CLAMP = cudaAddressModeClamp,
                                    MIRROR = cudaAddressModeMirror, BORDER = cudaAddressModeBorder;
static const cudaTextureFilterMode POINT = cudaFilterModePoint, LINEAR = cudaFilterModeLinear;
static const cudaTextureReadMode ELEM = cudaReadModeElementType, NORM = cudaReadModeNormalizedFloat;
static const char *an[] = {"wrap", "clamp", "mirror", "border"};
static float *res;

static std::vector<float> special(float scale) {
    static const float s[] = {0.f,         -0.f,   0.5f,   1.f,      -0.5f,     -1.f, -1.5f,       1.5f,
                              2.f,         2.5f,   3.f,    -2.f,     -2.5f,     -3.f, 0.001f,      -0.001f,
                              0.99999994f, 1e-20f, 1e-42f, 100.25f,  -100.25f,  1e6f, -1e6f,       1e9f,
                              -1e9f,       1e20f,  -1e20f, INFINITY, -INFINITY, NAN,  0.49999997f, 0.50000006f};
    std::vector<float> v;
    for (float f : s) v.push_back(f * scale);
    return v;
}

static void weights() { // quantisation of the fraction, seen by the texels 0 1 0 1
    std::vector<float> t(4096);
    for (int i = 0; i < 4096; i++) t[i] = i & 1;
    for (int N : {8, 7, 100, 4096}) {
        cudaArray_t a = array(cudaCreateChannelDesc<float>(), N, 0, 0, 0, t.data());
        for (int norm = 0; norm < 2; norm++) {
            cudaTextureObject_t o = tex(a, {norm ? WRAP : CLAMP, LINEAR, ELEM, norm, 0});
            std::vector<float> x;
            if (norm == 0 && N == 8)
                for (int k = 0; k < 1040; k++) x.push_back(0.5f + k / 1024.f);
            if (norm == 0 && N == 8)
                for (int k = 0; k < 64; k++) {
                    float c = 0.5f + (2 * k + 1) / 512.f;
                    x.push_back(c);
                    x.push_back(nextafterf(c, 0));
                    x.push_back(nextafterf(c, 9));
                }
            for (int k = 0; k < 256; k++) x.push_back(norm ? unit() * 2 - 0.5f : unit() * N);
            float *d = up(x);
            int n = (int)x.size();
            k1<<<(n + 127) / 128, 128>>>(o, d, res, n);
            char name[64];
            snprintf(name, sizeof name, "weights N=%d norm=%d", N, norm);
            show(name, res, n);
            CK(cudaFree(d));
            CK(cudaDestroyTextureObject(o));
        }
        CK(cudaFreeArray(a));
    }
}

static void corners() { // the weight of each corner, in 2D and 3D
    for (int c = 0; c < 8; c++) {
        std::vector<float> t(8, 0.f);
        t[c] = 1.f;
        int dims = c < 4 ? 2 : 3;
        (void)dims;
        std::vector<float> x, y, z;
        for (int k = 0; k < 64; k++) {
            x.push_back(0.5f + unit());
            y.push_back(0.5f + unit());
            z.push_back(0.5f + unit());
        }
        float *dx = up(x), *dy = up(y), *dz = up(z);
        char name[64];
        if (c < 4) {
            cudaArray_t a = array(cudaCreateChannelDesc<float>(), 2, 2, 0, 0, t.data());
            cudaTextureObject_t o = tex(a, {CLAMP, LINEAR, ELEM, 0, 0});
            k2<<<1, 64>>>(o, dx, dy, res, 64);
            snprintf(name, sizeof name, "corner2 %d", c);
            show(name, res, 64);
        }
        cudaArray_t a = array(cudaCreateChannelDesc<float>(), 2, 2, 2, 0, t.data());
        cudaTextureObject_t o = tex(a, {CLAMP, LINEAR, ELEM, 0, 0});
        k3<<<1, 64>>>(o, dx, dy, dz, res, 64);
        snprintf(name, sizeof name, "corner3 %d", c);
        show(name, res, 64);
    }
}

template <class T> static void formats(const char *fmt, cudaChannelFormatDesc d, cudaTextureReadMode rm, T (*make)()) {
    std::vector<T> t(8 * 6 * 5);
    for (auto &v : t) v = make();
    const int n = 192;
    std::vector<float> x, y, z, u, v, w;
    for (int k = 0; k < n; k++) {
        x.push_back(unit() * 12 - 2);
        y.push_back(unit() * 10 - 2);
        z.push_back(unit() * 9 - 2);
        u.push_back(unit() * 6 - 3);
        v.push_back(unit() * 6 - 3);
        w.push_back(unit() * 6 - 3);
    }
    float *dx = up(x), *dy = up(y), *dz = up(z), *du = up(u), *dv = up(v), *dw = up(w);
    char name[96];
    cudaArray_t a1 = array(d, 8, 0, 0, 0, t.data()), a2 = array(d, 8, 6, 0, 0, t.data()),
                a3 = array(d, 8, 6, 5, 0, t.data());
    for (int f = 0; f < 2; f++)
        for (int m = 0; m < 4; m++)
            for (int norm = 0; norm < 2; norm++) {
                if (!norm && (m == 0 || m == 2)) continue;
                Opt o = {(cudaTextureAddressMode)m, f ? LINEAR : POINT, rm, norm, 0};
                cudaTextureObject_t o1 = tex(a1, o), o2 = tex(a2, o), o3 = tex(a3, o);
                k1<<<2, 96>>>(o1, norm ? du : dx, res, n);
                snprintf(name, sizeof name, "%s 1D %s %s norm=%d", fmt, f ? "linear" : "point", an[m], norm);
                show(name, res, n);
                k2<<<2, 96>>>(o2, norm ? du : dx, norm ? dv : dy, res, n);
                snprintf(name, sizeof name, "%s 2D %s %s norm=%d", fmt, f ? "linear" : "point", an[m], norm);
                show(name, res, n);
                k3<<<2, 96>>>(o3, norm ? du : dx, norm ? dv : dy, norm ? dw : dz, res, n);
                snprintf(name, sizeof name, "%s 3D %s %s norm=%d", fmt, f ? "linear" : "point", an[m], norm);
                show(name, res, n);
            }
    cudaFree(dx);
    cudaFree(dy);
    cudaFree(dz);
    cudaFree(du);
    cudaFree(dv);
    cudaFree(dw);
    cudaFreeArray(a1);
    cudaFreeArray(a2);
    cudaFreeArray(a3);
}
static float mk_f() { return mixed(); }
static float mk_u() { return unit(); }
static unsigned char mk_u8() { return (unsigned char)rnd(); }
static signed char mk_s8() { return (signed char)rnd(); }
static unsigned short mk_u16() { return (unsigned short)rnd(); }
static short mk_s16() { return (short)rnd(); }
static unsigned short mk_h() { return (unsigned short)((rnd() & 0x83ff) | (rnd() % 12 + 9) << 10); }

static void specials() {
    std::vector<float> t(48);
    for (int i = 0; i < 48; i++) t[i] = 1.f + i;
    cudaArray_t a1 = array(cudaCreateChannelDesc<float>(), 8, 0, 0, 0, t.data()),
                a2 = array(cudaCreateChannelDesc<float>(), 8, 6, 0, 0, t.data());
    for (int f = 0; f < 2; f++)
        for (int m = 0; m < 4; m++)
            for (int norm = 0; norm < 2; norm++) {
                Opt o = {(cudaTextureAddressMode)m, f ? LINEAR : POINT, ELEM, norm, 0};
                std::vector<float> x = special(norm ? 1.f : 8.f), x1 = special(1.f);
                x.insert(x.end(), x1.begin(), x1.end());
                std::vector<float> y(x.size(), 0.4f);
                float *dx = up(x), *dy = up(y);
                char name[96];
                cudaTextureObject_t o1 = tex(a1, o), o2 = tex(a2, o);
                k1<<<1, 64>>>(o1, dx, res, 64);
                snprintf(name, sizeof name, "special 1D %s %s norm=%d", f ? "linear" : "point", an[m], norm);
                show(name, res, 64);
                k2<<<1, 64>>>(o2, dy, dx, res, 64);
                snprintf(name, sizeof name, "special 2D %s %s norm=%d", f ? "linear" : "point", an[m], norm);
                show(name, res, 64);
            }
}

static void rest() {
    std::vector<float> t(8 * 6 * 6);
    for (auto &v : t) v = mixed();
    const int n = 96;
    std::vector<float> x, y, z;
    for (int k = 0; k < n; k++) {
        x.push_back(unit() * 10 - 1);
        y.push_back(unit() * 8 - 1);
        z.push_back(unit() * 8 - 1);
    }
    float *dx = up(x), *dy = up(y);
    for (int f = 0; f < 2; f++) {
        Opt o = {CLAMP, f ? LINEAR : POINT, ELEM, 0, 0};
        kl1<<<1, n>>>(tex(array(cudaCreateChannelDesc<float>(), 8, 0, 4, cudaArrayLayered, t.data()), o), dx, res, n);
        show("layered1", res, n);
        kl2<<<1, n>>>(tex(array(cudaCreateChannelDesc<float>(), 8, 6, 4, cudaArrayLayered, t.data()), o), dx, dy, res,
                      n);
        show("layered2", res, n);
        klod<<<1, n>>>(tex(array(cudaCreateChannelDesc<float>(), 8, 6, 0, 0, t.data()), o), dx, dy, res, n);
        show("lod", res, n);
        for (int m = 0; m < 4; m += 1) {
            Opt g = {(cudaTextureAddressMode)m, f ? LINEAR : POINT, ELEM, 1, 0};
            std::vector<float> gx, gy;
            for (int k = 0; k < 32; k++) {
                gx.push_back(x[k] / 4);
                gy.push_back(y[k] / 4);
            }
            float *ggx = up(gx), *ggy = up(gy);
            kg<<<1, 32>>>(tex(array(cudaCreateChannelDesc<float>(), 8, 6, 0, cudaArrayTextureGather, t.data()), g), ggx,
                          ggy, (float4 *)res, 32);
            show("gather norm", res, 128);
        }
        kg<<<1, 32>>>(tex(array(cudaCreateChannelDesc<float>(), 8, 6, 0, cudaArrayTextureGather, t.data()), o), dx, dy,
                      (float4 *)res, 32);
        show("gather", res, 128);
    }
    // linear memory
    {
        float *lin = up(t);
        cudaResourceDesc rd;
        memset(&rd, 0, sizeof rd);
        rd.resType = cudaResourceTypeLinear;
        rd.res.linear.devPtr = lin;
        rd.res.linear.desc = cudaCreateChannelDesc<float>();
        rd.res.linear.sizeInBytes = 40;
        cudaTextureDesc td;
        memset(&td, 0, sizeof td);
        cudaTextureObject_t o;
        CK(cudaCreateTextureObject(&o, &rd, &td, 0));
        kf<<<1, 32>>>(o, res, 32);
        show("fetch", res, 32);
    }
    {
        float *lin;
        size_t pitch;
        CK(cudaMallocPitch(&lin, &pitch, 8 * 4, 6));
        CK(cudaMemcpy2D(lin, pitch, t.data(), 32, 32, 6, cudaMemcpyHostToDevice));
        for (int f = 0; f < 2; f++)
            for (int m = 0; m < 4; m++)
                for (int norm = 0; norm < 2; norm++) {
                    cudaResourceDesc rd;
                    memset(&rd, 0, sizeof rd);
                    rd.resType = cudaResourceTypePitch2D;
                    rd.res.pitch2D.devPtr = lin;
                    rd.res.pitch2D.desc = cudaCreateChannelDesc<float>();
                    rd.res.pitch2D.width = 8;
                    rd.res.pitch2D.height = 6;
                    rd.res.pitch2D.pitchInBytes = pitch;
                    cudaTextureDesc td;
                    memset(&td, 0, sizeof td);
                    td.filterMode = f ? LINEAR : POINT;
                    td.normalizedCoords = norm;
                    td.addressMode[0] = td.addressMode[1] = (cudaTextureAddressMode)m;
                    cudaTextureObject_t o = 0;
                    int e = (int)cudaCreateTextureObject(&o, &rd, &td, 0);
                    if (!e) {
                        k2<<<1, n>>>(o, dx, dy, res, n);
                        show("pitch2D", res, n);
                    }
                }
    }
    // sRGB, uchar4
    {
        std::vector<uchar4> c(256);
        for (int i = 0; i < 256; i++) c[i] = make_uchar4(i, 255 - i, i, i);
        std::vector<float> sx(256), sy(256, 0.5f);
        for (int i = 0; i < 256; i++) sx[i] = i + 0.5f;
        float *a = up(sx), *b = up(sy);
        cudaArray_t arr = array(cudaCreateChannelDesc<uchar4>(), 256, 1, 0, 0, c.data());
        for (int s = 0; s < 2; s++) {
            k24<<<2, 128>>>(tex(arr, {CLAMP, POINT, NORM, 0, s}), a, b, (float4 *)res, 256);
            show(s ? "srgb" : "uchar4", res, 1024);
        }
        for (int i = 0; i < 256; i++) sx[i] = unit() * 256;
        a = up(sx);
        for (int s = 0; s < 2; s++) {
            k24<<<2, 128>>>(tex(arr, {CLAMP, LINEAR, NORM, 0, s}), a, b, (float4 *)res, 256);
            show(s ? "srgb linear" : "uchar4 linear", res, 1024);
        }
        k24<<<1, 128>>>(tex(arr, {BORDER, LINEAR, NORM, 0, 0}), b, a, (float4 *)res, 128);
        show("uchar4 border", res, 512);
        std::vector<unsigned char> g(48);
        for (auto &q : g) q = mk_u8();
        cudaArray_t ga = array(cudaCreateChannelDesc<unsigned char>(), 8, 6, 0, 0, g.data());
        ku2<<<1, n>>>(tex(ga, {BORDER, POINT, ELEM, 0, 0}), dx, dy, (unsigned *)res, n);
        show("u8 element", res, n);
        std::vector<float> one(12);
        for (auto &q : one) q = mixed();
        k24<<<1, 8>>>(tex(array(cudaCreateChannelDesc<float2>(), 3, 2, 0, 0, one.data()), {BORDER, POINT, ELEM, 0, 0}),
                      dx, dy, (float4 *)res, 8);
        show("float2 as float4", res, 32);
        k24<<<1, 8>>>(tex(array(cudaCreateChannelDesc<float>(), 6, 2, 0, 0, one.data()), {BORDER, POINT, ELEM, 0, 0}),
                      dx, dy, (float4 *)res, 8);
        show("float as float4", res, 32);
    }
    // cubemap
    {
        std::vector<float> c(4 * 4 * 6);
        for (int i = 0; i < 96; i++) c[i] = 1 + i;
        const int m = 256;
        std::vector<float> cx, cy, cz;
        for (int i = 0; i < m; i++) {
            cx.push_back(unit() * 2 - 1);
            cy.push_back(unit() * 2 - 1);
            cz.push_back(unit() * 2 - 1);
            if (i < 16) cy[i] = cx[i];
            if (i < 8) cz[i] = -cx[i];
        }
        float *a = up(cx), *b = up(cy), *d = up(cz);
        cudaArray_t arr = array(cudaCreateChannelDesc<float>(), 4, 4, 6, cudaArrayCubemap, c.data());
        for (int f = 0; f < 2; f++) {
            cudaResourceDesc rd;
            memset(&rd, 0, sizeof rd);
            rd.resType = cudaResourceTypeArray;
            rd.res.array.array = arr;
            cudaTextureDesc td;
            memset(&td, 0, sizeof td);
            td.filterMode = f ? LINEAR : POINT;
            td.normalizedCoords = 1;
            td.addressMode[0] = td.addressMode[1] = td.addressMode[2] = CLAMP;
            cudaTextureObject_t o = 0;
            CK(cudaCreateTextureObject(&o, &rd, &td, 0));
            kc<<<1, m>>>(o, a, b, d, res, m);
            show("cubemap", res, m);
        }
    }
    // surfaces
    {
        cudaArray_t arr = array(cudaCreateChannelDesc<float>(), 8, 6, 0, cudaArraySurfaceLoadStore, t.data());
        cudaResourceDesc rd;
        memset(&rd, 0, sizeof rd);
        rd.resType = cudaResourceTypeArray;
        rd.res.array.array = arr;
        cudaSurfaceObject_t s = 0;
        CK(cudaCreateSurfaceObject(&s, &rd));
        ks<<<1, 32>>>(s, res);
        show("surface", res, 128);
    }
}

int main(int argc, char **) {
    all = argc > 1;
    CK(cudaMalloc(&res, 1 << 20));
    weights();
    corners();
    specials();
    formats<float>("f32", cudaCreateChannelDesc<float>(), ELEM, mk_f);
    formats<float>("f32unit", cudaCreateChannelDesc<float>(), ELEM, mk_u);
    formats<unsigned char>("u8", cudaCreateChannelDesc<unsigned char>(), NORM, mk_u8);
    formats<signed char>("s8", cudaCreateChannelDesc<signed char>(), NORM, mk_s8);
    formats<unsigned short>("u16", cudaCreateChannelDesc<unsigned short>(), NORM, mk_u16);
    formats<short>("s16", cudaCreateChannelDesc<short>(), NORM, mk_s16);
    formats<unsigned short>("f16", cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat), ELEM, mk_h);
    rest();
    return 0;
}

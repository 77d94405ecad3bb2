/* objects.cu — texture and surface objects: what they are made of, what ends them, and what a wrong use is told. A line
 * `name value` for each question; kernels that must stop run on cards of their own. */
#include "simgpu.h"

static void say(const char *name, double value) { printf("%s %.9g\n", name, value); }

__global__ void read2D(cudaTextureObject_t t, float x, float y, float *to) { *to = tex2D<float>(t, x, y); }
__global__ void paint(cudaSurfaceObject_t s, int w, int h) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < w && y < h) surf2Dwrite(make_short2(x, 100 * y), s, x * (int)sizeof(short2), y);
}
__global__ void unscaled(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, threadIdx.x, 0); }
__global__ void types(cudaTextureObject_t t, int *to) {
    uchar4 v = tex2D<uchar4>(t, 1, 0);
    to[0] = v.x * 1000 + v.w;
    to[1] = tex1Dfetch<unsigned char>(t, 0);
    to[2] = tex2D<uint2>(t, 0, 0).y;
    to[3] = (int)tex2Dgather<uchar4>(t, 1, 1, 3).w;
    char2 s;
    tex2DLod(&s, t, 0, 0, 2);
    to[4] = s.x;
}
__global__ void volume(cudaSurfaceObject_t s, float *to) {
    surf3Dwrite(7.0f, s, 4, 1, 1);
    surf3Dread(to, s, 4, 1, 1);
    to[1] = surf3Dread<float>(s, 4, 1, 7, cudaBoundaryModeZero);
    to[2] = surf3Dread<float>(s, 4, 9, 7, cudaBoundaryModeClamp);
}

static cudaResourceDesc of(cudaArray_t a) {
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    return r;
}

static float *result;
static float at(cudaTextureObject_t t, float x, float y) {
    float v = -1;
    read2D<<<1, 1>>>(t, x, y, result);
    cudaMemcpy(&v, result, sizeof v, cudaMemcpyDeviceToHost);
    return v;
}

static void lives() {
    float texels[] = {1, 2, 3, 4};
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaMallocArray(&a, &f, 2, 2);
    cudaMemcpyToArray(a, 0, 0, texels, sizeof texels, cudaMemcpyHostToDevice);
    cudaTextureDesc d = {};
    cudaResourceDesc r = of(a), back;
    cudaTextureObject_t t = 0, other = 0;
    say("create", cudaCreateTextureObject(&t, &r, &d, NULL));
    say("read", at(t, 1.5f, 0.5f));
    d.filterMode = cudaFilterModeLinear;
    say("second", cudaCreateTextureObject(&other, &r, &d, NULL));
    say("linear", at(other, 1, 1));
    say("resource", cudaGetTextureObjectResourceDesc(&back, t) + 10 * (back.res.array.array == a));
    say("description", cudaGetTextureObjectTextureDesc(&d, other) + 10 * d.filterMode);
    say("change", cudaMemcpy2DToArray(a, 0, 0, texels + 3, 4, 4, 1, cudaMemcpyHostToDevice));
    say("changed", at(t, 0.5f, 0.5f));
    read2D<<<1, 1>>>(t, 1.5f, 1.5f, result); /* destroyed behind the launch, which may still run */
    say("destroy", cudaDestroyTextureObject(t));
    float v;
    cudaMemcpy(&v, result, sizeof v, cudaMemcpyDeviceToHost);
    say("late_read", v);
    say("destroy_twice", cudaDestroyTextureObject(t));
    say("destroy_none", cudaDestroyTextureObject(0));
    say("ask_destroyed", cudaGetTextureObjectTextureDesc(&d, t));
    cudaGetLastError();
    cudaDestroyTextureObject(other);
    cudaFreeArray(a);
}

static void memory() {
    float *line;
    size_t pitch;
    cudaMallocPitch(&line, &pitch, 5 * sizeof(float), 3);
    float texels[3][5] = {{0, 1, 2, 3, 4}, {10, 11, 12, 13, 14}, {20, 21, 22, 23, 24}};
    cudaMemcpy2D(line, pitch, texels, 20, 20, 3, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = line, r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 5, r.res.pitch2D.height = 3, r.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeMirror;
    d.normalizedCoords = 1;
    cudaTextureObject_t t;
    say("pitched", cudaCreateTextureObject(&t, &r, &d, NULL));
    say("mirrored", at(t, -0.3f, 1.1f));
    r.res.pitch2D.devPtr = (char *)line + 32;
    say("unaligned", cudaCreateTextureObject(&t, &r, &d, NULL));
    r.res.pitch2D.devPtr = line, r.res.pitch2D.pitchInBytes = 24;
    say("bad_pitch", cudaCreateTextureObject(&t, &r, &d, NULL));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = line, r.res.linear.desc = cudaCreateChannelDesc<float>(), r.res.linear.sizeInBytes = 1 << 20;
    say("too_long", cudaCreateTextureObject(&t, &r, &d, NULL));
    r.res.linear.sizeInBytes = 64, r.res.linear.desc = cudaCreateChannelDesc<int>();
    d.filterMode = cudaFilterModeLinear;
    say("filtered_integers", cudaCreateTextureObject(&t, &r, &d, NULL));
    d.filterMode = cudaFilterModePoint, d.readMode = cudaReadModeNormalizedFloat;
    say("fractions_of_integers", cudaCreateTextureObject(&t, &r, &d, NULL));
    d.readMode = cudaReadModeElementType, d.addressMode[1] = (cudaTextureAddressMode)9;
    say("no_mode", cudaCreateTextureObject(&t, &r, &d, NULL));
    r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    say("mipmapped", cudaCreateTextureObject(&t, &r, &d, NULL));
    say("no_description", cudaCreateTextureObject(&t, &r, NULL, NULL));
    cudaGetLastError();
}

static void formats() {
    uchar4 texels[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}, {13, 14, 15, 16}};
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<uchar4>();
    cudaMallocArray(&a, &f, 2, 2, cudaArrayTextureGather);
    cudaMemcpy2DToArray(a, 0, 0, texels, 8, 8, 2, cudaMemcpyHostToDevice);
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    cudaResourceDesc r = of(a);
    cudaTextureObject_t t;
    cudaCreateTextureObject(&t, &r, &d, NULL);
    int *to, got[5];
    cudaMalloc(&to, sizeof got);
    types<<<1, 1>>>(t, to);
    cudaMemcpy(got, to, sizeof got, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; i++) printf("type_%d %d\n", i, got[i]);
}

static void surfaces() {
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<short2>();
    cudaMallocArray(&a, &f, 20, 9, cudaArraySurfaceLoadStore);
    cudaResourceDesc r = of(a);
    cudaSurfaceObject_t s;
    say("surface", cudaCreateSurfaceObject(&s, &r));
    paint<<<9, 32>>>(s, 20, 9);
    short2 got[9][20];
    cudaMemcpy2DFromArray(got, sizeof got[0], a, 0, 0, sizeof got[0], 9, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int y = 0; y < 9; y++)
        for (int x = 0; x < 20; x++) bad += got[y][x].x != x || got[y][x].y != 100 * y;
    say("painted_wrong", bad);
    say("destroy_surface", cudaDestroySurfaceObject(s));
    f = cudaCreateChannelDesc<float>();
    cudaMalloc3DArray(&a, &f, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore);
    r = of(a);
    cudaCreateSurfaceObject(&s, &r);
    float *to, v[3];
    cudaMalloc(&to, sizeof v);
    volume<<<1, 1>>>(s, to);
    cudaMemcpy(v, to, sizeof v, cudaMemcpyDeviceToHost);
    say("volume", v[0]);
    say("volume_outside", v[1]);
    r.resType = cudaResourceTypeLinear;
    say("surface_of_memory", cudaCreateSurfaceObject(&s, &r));
    cudaGetLastError();
}

/* Each launch stops its card. */
static void faults() {
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaTextureObject_t foreign = 0;
    for (int which = 0; which < 5; which++) {
        simgpuNewDevice();
        cudaArray_t a;
        cudaMallocArray(&a, &f, 8, 8, cudaArraySurfaceLoadStore);
        cudaResourceDesc r = of(a);
        cudaTextureDesc d = {};
        cudaTextureObject_t t;
        cudaSurfaceObject_t s;
        cudaCreateTextureObject(&t, &r, &d, NULL);
        cudaCreateSurfaceObject(&s, &r);
        float *to;
        cudaMalloc(&to, 4);
        if (which == 0) cudaDestroyTextureObject(t);
        if (which == 1) cudaFreeArray(a);
        if (which < 2) read2D<<<1, 1>>>(t, 0, 0, to);
        if (which == 2) read2D<<<1, 1>>>(s, 0, 0, to);
        if (which == 3) unscaled<<<1, 4>>>(s);
        if (which == 4) read2D<<<1, 1>>>(foreign, 0, 0, to); /* the last card's */
        foreign = t;
        printf("fault_%d %d\n", which, (int)cudaDeviceSynchronize());
    }
}

static void limits() {
    cudaDeviceProp p;
    int v = 0;
    cudaGetDeviceProperties(&p, 0);
    say("limit_1d", p.maxTexture1D);
    say("limit_gather", p.maxTexture2DGather[1]);
    say("limit_surface_layers", p.maxSurface2DLayered[2]);
    say("limit_last", p.maxSurfaceCubemapLayered[1]);
    cudaDeviceGetAttribute(&v, cudaDevAttrMaxTexture2DLinearPitch, 0);
    say("limit_pitch", v == p.maxTexture2DLinear[2] ? v : -1);
    cudaDeviceGetAttribute(&v, cudaDevAttrMaxSurface3DDepth, 0);
    say("limit_depth", v);
}

int main() {
    limits();
    cudaMalloc(&result, sizeof *result);
    lives();
    memory();
    formats();
    surfaces();
    faults();
    return 0;
}

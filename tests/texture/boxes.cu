/* boxes.cu — pitched and 3D memory, arrays, and copies between all of them: a line `name value` for each question. */
#include <cuda_runtime.h>

static void say(const char *name, long long value) { printf("%s %lld\n", name, value); }

enum { W = 20, H = 6, D = 5 };
static int source[D][H][W], target[D][H][W];

static void fresh() {
    for (int i = 0; i < D * H * W; i++) source[0][0][i] = i + 1, target[0][0][i] = -1;
}
/* The number of elements in which the box at (x, y, z) of the target differs from the one at (fx, fy, fz) of the
 * source, and the number of elements outside that have changed. */
static long long wrong(int x, int y, int z, int w, int h, int d, int fx, int fy, int fz) {
    long long bad = 0;
    for (int k = 0; k < D; k++)
        for (int j = 0; j < H; j++)
            for (int i = 0; i < W; i++) {
                bool in = i >= x && i < x + w && j >= y && j < y + h && k >= z && k < z + d;
                bad += target[k][j][i] != (in ? source[k - z + fz][j - y + fy][i - x + fx] : -1);
            }
    return bad;
}
static cudaPitchedPtr whole(void *p) { return make_cudaPitchedPtr(p, W * sizeof(int), W, H); }
static cudaMemcpy3DParms box(int w, int h, int d, cudaMemcpyKind kind) {
    cudaMemcpy3DParms p = {};
    p.extent = make_cudaExtent(w, h, d);
    p.kind = kind;
    return p;
}

static void memory() {
    cudaPitchedPtr a, b;
    say("malloc_3d", cudaMalloc3D(&a, make_cudaExtent(W * sizeof(int), H, D)));
    cudaMalloc3D(&b, make_cudaExtent(W * sizeof(int), H + 1, D));
    say("pitch", (long long)a.pitch);
    say("xsize", (long long)a.xsize);
    say("ysize", (long long)a.ysize);
    fresh();
    cudaMemcpy3DParms p = box(W * sizeof(int), H, D, cudaMemcpyHostToDevice);
    p.srcPtr = whole(source), p.dstPtr = a;
    say("up", cudaMemcpy3D(&p));
    p = box(8 * sizeof(int), 3, 2, cudaMemcpyDeviceToDevice); /* a part of each plane, to other planes of `b` */
    p.srcPtr = a, p.srcPos = make_cudaPos(4 * sizeof(int), 2, 1), p.dstPtr = b;
    p.dstPos = make_cudaPos(0, 4, 3);
    say("across", cudaMemcpy3DAsync(&p, 0));
    p = box(8 * sizeof(int), 3, 2, cudaMemcpyDeviceToHost);
    p.srcPtr = b, p.srcPos = make_cudaPos(0, 4, 3), p.dstPtr = whole(target),
    p.dstPos = make_cudaPos(12 * sizeof(int), 1, 2);
    say("down", cudaMemcpy3D(&p));
    say("wrong", wrong(12, 1, 2, 8, 3, 2, 4, 2, 1));
    fresh();
    say("fill", cudaMemset3D(a, 0xff, make_cudaExtent(4 * sizeof(int), 2, D)));
    p = box(W * sizeof(int), H, D, cudaMemcpyDefault);
    p.srcPtr = a, p.dstPtr = whole(target);
    cudaMemcpy3D(&p);
    long long filled = 0;
    for (int i = 0; i < W * H * D; i++) filled += target[0][0][i] == -1;
    say("filled", filled);
    p.extent.depth = D + 1;
    say("too_deep", cudaMemcpy3D(&p));
    p.extent.depth = D, p.srcPtr.ysize = H - 1;
    say("small_ysize", cudaMemcpy3D(&p));
    p.srcPtr.ptr = 0;
    say("no_end", cudaMemcpy3D(&p));
    p = box(W * sizeof(int), H, 0, cudaMemcpyDefault);
    p.srcPtr = a, p.dstPtr = whole(target);
    say("no_depth", cudaMemcpy3D(&p));
    cudaFree(a.ptr), cudaFree(b.ptr);
}

static void arrays() {
    cudaArray_t plane, other, volume, layers, line;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>(), got;
    size_t before, after, total;
    cudaMemGetInfo(&before, &total);
    say("array_2d", cudaMallocArray(&plane, &desc, W, H));
    cudaMallocArray(&other, &desc, W, H, cudaArraySurfaceLoadStore);
    say("array_1d", cudaMallocArray(&line, &desc, W));
    say("array_3d", cudaMalloc3DArray(&volume, &desc, make_cudaExtent(W, H, D)));
    say("array_layered", cudaMalloc3DArray(&layers, &desc, make_cudaExtent(W, 0, D), cudaArrayLayered));
    cudaExtent extent;
    unsigned flags;
    say("info", cudaArrayGetInfo(&got, &extent, &flags, layers));
    say("info_depth", (long long)(extent.width * 10000 + extent.height * 100 + extent.depth));
    say("info_flags", flags);
    say("info_bits", got.x * 100 + got.y);

    fresh();
    say("to_array", cudaMemcpy2DToArray(plane, 0, 0, source[1], W * 4, W * 4, H, cudaMemcpyHostToDevice));
    say("array_to_array", cudaMemcpy2DArrayToArray(other, 8, 3, plane, 4, 1, 40, 2));
    say("from_array", cudaMemcpy2DFromArray(&target[2][2][5], W * 4, other, 8, 3, 40, 2, cudaMemcpyDeviceToHost));
    say("array_wrong", wrong(5, 2, 2, 10, 2, 1, 1, 1, 1));

    fresh(); /* a run of bytes over three rows */
    say("run_to", cudaMemcpyToArray(plane, 12 * 4, 1, source, (8 + 2 * W + 5) * 4, cudaMemcpyHostToDevice));
    say("run_from", cudaMemcpyFromArray(target, plane, 12 * 4, 1, (8 + 2 * W + 5) * 4, cudaMemcpyDeviceToHost));
    long long bad = 0;
    for (int i = 0; i < W * H * D; i++) bad += target[0][0][i] != (i < 53 ? i + 1 : -1);
    say("run_wrong", bad);

    fresh();
    cudaMemcpy3DParms p = box(W, H, D, cudaMemcpyHostToDevice);
    p.srcPtr = whole(source), p.dstArray = volume;
    say("volume_up", cudaMemcpy3D(&p));
    p = box(7, 2, 3, cudaMemcpyDeviceToHost); /* in elements of the array; positions of memory in bytes */
    p.srcArray = volume, p.srcPos = make_cudaPos(3, 4, 1), p.dstPtr = whole(target);
    p.dstPos = make_cudaPos(2 * sizeof(int), 1, 2);
    say("volume_down", cudaMemcpy3DAsync(&p));
    say("volume_wrong", wrong(2, 1, 2, 7, 2, 3, 3, 4, 1));

    say("too_wide", cudaMemcpy2DToArray(plane, 0, 0, source, W * 4, W * 4 + 4, 1, cudaMemcpyHostToDevice));
    say("too_high", cudaMemcpy2DToArray(plane, 0, 5, source, W * 4, W * 4, 2, cudaMemcpyHostToDevice));
    say("run_too_long", cudaMemcpyToArray(plane, 4, 5, source, W * 4, cudaMemcpyHostToDevice));
    say("wrong_kind", cudaMemcpy2DToArray(plane, 0, 0, source, W * 4, W * 4, 1, cudaMemcpyDeviceToHost));
    cudaArray_t none = 0;
    desc = cudaCreateChannelDesc<int3>();
    say("three_channels", cudaMallocArray(&none, &desc, W, H));
    desc = cudaCreateChannelDesc<float>();
    say("no_width", cudaMallocArray(&none, &desc, 0, H));
    say("cube", cudaMalloc3DArray(&none, &desc, make_cudaExtent(4, 5, 6), cudaArrayCubemap));
    say("too_large", cudaMallocArray(&none, &desc, 1 << 18, 1));
    cudaGetLastError();
    cudaFreeArray(plane), cudaFreeArray(other), cudaFreeArray(volume), cudaFreeArray(line);
    say("free", cudaFreeArray(layers));
    say("free_twice", cudaFreeArray(layers));
    say("free_null", cudaFreeArray(0));
    say("use_freed", cudaMemcpy2DToArray(plane, 0, 0, source, W * 4, W * 4, 1, cudaMemcpyHostToDevice));
    cudaMemGetInfo(&after, &total);
    say("lost_bytes", (long long)(before - after));
    cudaGetLastError();
}

/* A 3D copy with gaps between its planes: the host may use the gaps while the copy is on its way. */
static void gaps() {
    cudaPitchedPtr a;
    cudaMalloc3D(&a, make_cudaExtent(4096, 8, 4));
    char *host;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocHost(&host, 4096 * 16 * 4);
    cudaMemcpy3DParms p = box(4096, 8, 4, cudaMemcpyHostToDevice);
    p.srcPtr = make_cudaPitchedPtr(host, 4096, 4096, 16), p.dstPtr = a;
    say("async", cudaMemcpy3DAsync(&p, stream));
    host[4096 * 16 + 4096 * 9] = 1; /* row 9 of plane 1, behind the eight that are copied */
    cudaStreamSynchronize(stream);
}

__constant__ int table[16];
__device__ int results[16];
__global__ void twice() { results[threadIdx.x] = 2 * table[threadIdx.x]; }

/* Variables of the device: parts of them, every direction, and through their address. */
static void symbols() {
    int in[16], out[16] = {0};
    for (int i = 0; i < 16; i++) in[i] = i + 1;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    say("to_symbol", cudaMemcpyToSymbol(table, in, sizeof in));
    say("to_symbol_part", cudaMemcpyToSymbolAsync(table, in + 8, 8, 4, cudaMemcpyHostToDevice, stream));
    cudaStreamSynchronize(stream);
    twice<<<1, 16>>>();
    say("from_symbol", cudaMemcpyFromSymbol(out, results, 12, 4));
    say("doubled", out[0] * 10000 + out[1] * 100 + out[2]); /* table: 1 9 10 4 ... */
    void *address;
    size_t size;
    say("address", cudaGetSymbolAddress(&address, results));
    say("size", cudaGetSymbolSize(&size, results) + (long long)size);
    say("device_to_symbol", cudaMemcpyToSymbolAsync(table, (int *)address + 3, 8, 0, cudaMemcpyDeviceToDevice));
    say("symbol_to_device", cudaMemcpyFromSymbol(address, table, 4, 4, cudaMemcpyDeviceToDevice));
    cudaMemcpyFromSymbolAsync(out, results, sizeof out);
    cudaDeviceSynchronize();
    say("through_address", out[0]); /* the double of 5 */
    say("past_symbol", cudaMemcpyToSymbol(table, in, 8, 60));
    cudaGetLastError();
}

int main() {
    symbols();
    memory();
    arrays();
    gaps();
    return 0;
}

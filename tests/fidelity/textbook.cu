/* textbook.cu — kernels as textbooks give them, in families of two to five ways to do one job: stencils, prefix sums,
 * histograms, sorting, gathers, sparse rows. lectures.cu and exercises.cu go on. */
#include "fidelity.h"

#include <math.h>

static float *fa, *fo;    /* 16 M floats each */
static unsigned *ua, *uo; /* 16 M words each */
enum { POOL = 1 << 24 };
static int up(int n, int d) { return (n + d - 1) / d; }

/* --- 5-point stencil in two dimensions --- */
enum { SX = 3000, SY = 2200 };
__global__ void stencil2d(const float *in, float *out, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int i = y * nx + x;
        out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
    }
}
#define TX 32
#define TY 16
__global__ void stencil2d_shared(const float *__restrict__ in, float *__restrict__ out, int nx, int ny) {
    __shared__ float tile[TY + 2][TX + 2];
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    if (inside) {
        tile[ty][tx] = in[y * nx + x];
        if (threadIdx.x == 0 && x > 0) tile[ty][0] = in[y * nx + x - 1];
        if (threadIdx.x == TX - 1 && x < nx - 1) tile[ty][TX + 1] = in[y * nx + x + 1];
        if (threadIdx.y == 0 && y > 0) tile[0][tx] = in[(y - 1) * nx + x];
        if (threadIdx.y == TY - 1 && y < ny - 1) tile[TY + 1][tx] = in[(y + 1) * nx + x];
    }
    __syncthreads();
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        out[y * nx + x] =
            0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
    }
}

/* --- 7-point stencil in three dimensions --- */
enum { GX = 250, GY = 200, GZ = 160 };
__global__ void stencil3d(float *in, float *out, int nx, int ny, int nz, float c0, float c1) {
    int x = threadIdx.x + blockIdx.x * blockDim.x;
    int y = threadIdx.y + blockIdx.y * blockDim.y;
    int z = threadIdx.z + blockIdx.z * blockDim.z;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) return;
    int plane = nx * ny;
    int i = z * plane + y * nx + x;
    out[i] = c0 * in[i] + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - plane] + in[i + plane]);
}
__global__ void stencil3d_march(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz, float c0,
                                float c1) {
    const int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    const int first = blockIdx.z * 20, last = min(first + 20, nz - 1), plane = nx * ny;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int z = max(first, 1);
    int i = z * plane + y * nx + x;
    float below = in[i - plane], here = in[i];
    for (; z < last; z++) {
        float above = in[i + plane];
        out[i] = c0 * here + c1 * (in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + below + above);
        below = here;
        here = above;
        i += plane;
    }
}

/* --- prefix sums: blocks of 1024 alone, and a whole array in three launches --- */
enum { SCANS = 2000, SCANNED = 3000000 };
__global__ void scan_hillis_steele(const int *in, int *out) {
    __shared__ int buffer[2][1024];
    int t = threadIdx.x, from = 0;
    buffer[0][t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (int offset = 1; offset < 1024; offset *= 2) {
        int v = buffer[from][t];
        if (t >= offset) v += buffer[from][t - offset];
        buffer[1 - from][t] = v;
        from = 1 - from;
        __syncthreads();
    }
    out[blockIdx.x * 1024 + t] = buffer[from][t];
}
__global__ void scan_blelloch(const int *in, int *out) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    int a = in[blockIdx.x * 1024 + 2 * t], b = in[blockIdx.x * 1024 + 2 * t + 1];
    s[2 * t] = a;
    s[2 * t + 1] = b;
    int offset = 1;
    for (int d = 512; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0) s[1023] = 0;
    for (int d = 1; d < 1024; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int i = offset * (2 * t + 1) - 1, j = offset * (2 * t + 2) - 1;
            int k = s[i];
            s[i] = s[j];
            s[j] += k;
        }
    }
    __syncthreads();
    out[blockIdx.x * 1024 + 2 * t] = s[2 * t] + a;
    out[blockIdx.x * 1024 + 2 * t + 1] = s[2 * t + 1] + b;
}
__device__ __forceinline__ int warp_scan(int v) {
    int lane = threadIdx.x & 31;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        int w = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += w;
    }
    return v;
}
/* Blocks of 256 threads, four elements each. */
__global__ void __launch_bounds__(256) scan_warps(const int4 *__restrict__ in, int4 *__restrict__ out) {
    __shared__ int sums[8];
    int i = blockIdx.x * 256 + threadIdx.x, warp = threadIdx.x / 32;
    int4 v = in[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int inclusive = warp_scan(v.w);
    if (threadIdx.x % 32 == 31) sums[warp] = inclusive;
    __syncthreads();
    int before = inclusive - v.w;
    for (int w = 0; w < warp; w++) before += sums[w];
    out[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}
__global__ void scan_blocks(const int *in, int *out, int *sums, int n) {
    __shared__ int s[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = i < n ? in[i] : 0;
    v = warp_scan(v);
    if ((threadIdx.x & 31) == 31) s[threadIdx.x >> 5] = v;
    __syncthreads();
    if (threadIdx.x < 32) s[threadIdx.x] = warp_scan(threadIdx.x < blockDim.x / 32 ? s[threadIdx.x] : 0);
    __syncthreads();
    if (threadIdx.x >= 32) v += s[(threadIdx.x >> 5) - 1];
    if (i < n) out[i] = v;
    if (sums && threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = v;
}
/* One block, in place, any n. */
__global__ void scan_sums(int *sums, int n) {
    __shared__ int s[32];
    __shared__ int carry;
    if (threadIdx.x == 0) carry = 0;
    for (int start = 0; start < n; start += 1024) {
        int i = start + threadIdx.x;
        int v = warp_scan(i < n ? sums[i] : 0);
        if ((threadIdx.x & 31) == 31) s[threadIdx.x >> 5] = v;
        __syncthreads();
        if (threadIdx.x < 32) s[threadIdx.x] = warp_scan(s[threadIdx.x]);
        __syncthreads();
        v += carry + (threadIdx.x >= 32 ? s[(threadIdx.x >> 5) - 1] : 0);
        if (i < n) sums[i] = v;
        __syncthreads();
        if (threadIdx.x == 1023) carry = v;
        __syncthreads();
    }
}
__global__ void add_sums(int *out, const int *sums, int n) {
    int i = (blockIdx.x + 1) * blockDim.x + threadIdx.x;
    if (i < n) out[i] += sums[blockIdx.x];
}
static int *small, *sums;
static void scan_whole(int block) {
    int blocks = up(SCANNED, block);
    scan_blocks<<<blocks, block>>>(small, (int *)uo, sums, SCANNED);
    scan_sums<<<1, 1024>>>(sums, blocks);
    add_sums<<<blocks - 1, block>>>((int *)uo, sums, SCANNED);
}

/* --- histogram of 256 bins --- */
enum { COUNTED = 1500000 };
static unsigned char *bytes;
static unsigned *bins;
__global__ void histogram_global(const unsigned char *in, unsigned *bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&bins[in[i]], 1u);
}
__global__ void histogram_shared(const unsigned char *__restrict__ in, unsigned *__restrict__ bins, int n) {
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&mine[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}
__global__ void histogram_warps(const uchar4 *in, unsigned *bins, int n4) {
    __shared__ unsigned all[8 * 256];
    unsigned *mine = all + threadIdx.x / 32 * 256;
    for (int i = threadIdx.x; i < 8 * 256; i += blockDim.x) all[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += blockDim.x * gridDim.x) {
        uchar4 v = in[i];
        atomicAdd(mine + v.x, 1u);
        atomicAdd(mine + v.y, 1u);
        atomicAdd(mine + v.z, 1u);
        atomicAdd(mine + v.w, 1u);
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; w++) sum += all[w * 256 + threadIdx.x];
    atomicAdd(bins + threadIdx.x, sum);
}

/* --- sorting: 1024 keys a block, and a step of 4 bits over 2 M keys --- */
enum { SORTS = 1056, KEYS = 2000000, DIGITS = 16 };
__global__ void bitonic_thread_a_key(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[1024];
    unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * 1024 + t];
    __syncthreads();
    for (unsigned k = 2; k <= 1024; k <<= 1) {
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned partner = t ^ j;
            if (partner > t) {
                unsigned a = s[t], b = s[partner];
                bool ascending = (t & k) == 0;
                if (a > b == ascending) {
                    s[t] = b;
                    s[partner] = a;
                }
            }
            __syncthreads();
        }
    }
    out[blockIdx.x * 1024 + t] = s[t];
}
__device__ inline void comparator(unsigned &a, unsigned &b, bool up) {
    unsigned low = min(a, b), high = max(a, b);
    a = up ? low : high;
    b = up ? high : low;
}
__global__ void bitonic_thread_a_pair(const unsigned *__restrict__ in, unsigned *__restrict__ out) {
    __shared__ unsigned s[1024];
    in += blockIdx.x * 1024 + threadIdx.x;
    out += blockIdx.x * 1024 + threadIdx.x;
    s[threadIdx.x] = in[0];
    s[threadIdx.x + 512] = in[512];
    for (unsigned size = 2; size <= 1024; size <<= 1) {
        bool up = (threadIdx.x & (size / 2)) == 0;
        for (unsigned stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            unsigned at = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            comparator(s[at], s[at + stride], up);
        }
    }
    __syncthreads();
    out[0] = s[threadIdx.x];
    out[512] = s[threadIdx.x + 512];
}
static int *counts;
__global__ void count_digits(const unsigned *keys, int *counts, int n, int shift) {
    __shared__ int c[DIGITS];
    if (threadIdx.x < DIGITS) c[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&c[keys[i] >> shift & (DIGITS - 1)], 1);
    __syncthreads();
    if (threadIdx.x < DIGITS) counts[threadIdx.x * gridDim.x + blockIdx.x] = c[threadIdx.x];
}
__global__ void move_keys(const unsigned *keys, unsigned *out, const int *counts, int n, int shift) {
    __shared__ int c[32][DIGITS];
    int i = blockIdx.x * blockDim.x + threadIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    unsigned key = i < n ? keys[i] : 0, digit = key >> shift & (DIGITS - 1);
    unsigned peers = __ballot_sync(~0u, i < n);
    for (int b = 0; b < 4; b++) {
        unsigned set = __ballot_sync(~0u, digit >> b & 1);
        peers &= digit >> b & 1 ? set : ~set;
    }
    if (lane < DIGITS) c[warp][lane] = 0;
    __syncwarp();
    int rank = __popc(peers & ((1u << lane) - 1));
    if (i < n && rank == 0) c[warp][digit] = __popc(peers);
    __syncthreads();
    if (threadIdx.x < DIGITS) {
        int at = threadIdx.x * gridDim.x + blockIdx.x;
        int sum = at ? counts[at - 1] : 0;
        for (int w = 0; w < blockDim.x / 32; w++) {
            int here = c[w][threadIdx.x];
            c[w][threadIdx.x] = sum;
            sum += here;
        }
    }
    __syncthreads();
    if (i < n) out[c[warp][digit] + rank] = key;
}
static void counting_step(int block) {
    int blocks = up(KEYS, block);
    count_digits<<<blocks, block>>>(ua, counts, KEYS, 4);
    scan_sums<<<1, 1024>>>(counts, blocks * DIGITS);
    move_keys<<<blocks, block>>>(ua, uo, counts, KEYS, 4);
}

/* --- gather --- */
enum { GATHERED = 3000000, TABLE = 32 << 20, GATHERED4 = 1000000 };
static float *table; /* 128 MiB */
static int *places;
__global__ void gather(const float *table, const int *places, float *out, int n, int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = table[places[i] & mask];
}
__global__ void gather4(const int4 *__restrict__ table, const int *__restrict__ places, int4 *__restrict__ out, int n,
                        int mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = __ldg(&table[places[i] & mask]);
}

/* --- sparse matrix times vector --- */
enum { SPARSE = 90000, SPARSE_COLUMNS = 150000 };
static int *row_starts, *columns;
static float *values;
static int nonzeros;
__global__ void csr_scalar(int rows, const int *starts, const int *columns, const float *values, const float *x,
                           float *y) {
    int row = blockDim.x * blockIdx.x + threadIdx.x;
    if (row < rows) {
        float dot = 0;
        int start = starts[row], end = starts[row + 1];
        for (int j = start; j < end; j++) dot += values[j] * x[columns[j]];
        y[row] = dot;
    }
}
template <int LANES>
__global__ void csr_vector(int rows, const int *__restrict__ starts, const int *__restrict__ columns,
                           const float *__restrict__ values, const float *__restrict__ x, float *__restrict__ y) {
    int row = (blockDim.x * blockIdx.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
    if (row >= rows) return;
    float dot = 0;
    for (int j = starts[row] + lane; j < starts[row + 1]; j += LANES) dot += values[j] * x[columns[j]];
    for (int d = LANES / 2; d > 0; d /= 2) dot += __shfl_down_sync(0xffffffff, dot, d, LANES);
    if (lane == 0) y[row] = dot;
}

static void setup() {
    fa = filled<float>(POOL, [](size_t i) { return unit(i); });
    ua = filled<unsigned>(POOL, [](size_t i) { return mixed(i + 5); });
    fo = zeroed<float>(POOL);
    uo = zeroed<unsigned>(POOL);
    small = filled<int>(SCANNED, [](size_t i) { return (int)(mixed(i) % 100); });
    sums = zeroed<int>(SCANNED / 64 + 1);
    bytes = filled<unsigned char>(8 << 20, [](size_t i) { return (unsigned char)mixed(i); });
    bins = zeroed<unsigned>(256);
    counts = zeroed<int>(KEYS / 64 * DIGITS);
    table = filled<float>(TABLE, [](size_t i) { return (float)(i & 0xffff); });
    places = filled<int>(GATHERED, [](size_t i) { return (int)(mixed(i + 99) >> 1); });
    static int starts[SPARSE + 1];
    for (int r = 0; r < SPARSE; r++) starts[r + 1] = starts[r] + (r % 50 == 7 ? 150 : 4 + mixed(r) % 32);
    nonzeros = starts[SPARSE];
    row_starts = filled<int>(SPARSE + 1, [](size_t i) { return starts[i]; });
    columns = filled<int>(nonzeros, [](size_t i) { return (int)(mixed(i + 3) % SPARSE_COLUMNS); });
    values = filled<float>(nonzeros, [](size_t i) { return unit(i + 11); });
}

static const fidelity_test tests[] = {
    COLD("textbook stencil2d/32x8, 3000x2200", 1,
         stencil2d<<<dim3(up(SX, 32), up(SY, 8)), dim3(32, 8)>>>(fa, fo, SX, SY)),
    COLD("textbook stencil2d/8x32, 3000x2200", 1,
         stencil2d<<<dim3(up(SX, 8), up(SY, 32)), dim3(8, 32)>>>(fa, fo, SX, SY)),
    COLD("textbook stencil2d/shared 32x16, 3000x2200", 1,
         stencil2d_shared<<<dim3(up(SX, TX), up(SY, TY)), dim3(TX, TY)>>>(fa, fo, SX, SY)),
    COLD("textbook stencil3d/32x4x2, 250x200x160", 1,
         stencil3d<<<dim3(up(GX, 32), up(GY, 4), up(GZ, 2)), dim3(32, 4, 2)>>>(fa, fo, GX, GY, GZ, 0.4f, 0.1f)),
    COLD("textbook stencil3d/8x8x8, 250x200x160", 1,
         stencil3d<<<dim3(up(GX, 8), up(GY, 8), up(GZ, 8)), dim3(8, 8, 8)>>>(fa, fo, GX, GY, GZ, 0.4f, 0.1f)),
    COLD("textbook stencil3d/march along z, 250x200x160", 1,
         stencil3d_march<<<dim3(up(GX, 32), up(GY, 8), up(GZ, 20)), dim3(32, 8)>>>(fa, fo, GX, GY, GZ, 0.4f, 0.1f)),
    COLD("textbook scan/Hillis-Steele, 2000 of 1024", 1, scan_hillis_steele<<<SCANS, 1024>>>(small, (int *)uo)),
    COLD("textbook scan/Blelloch, 2000 of 1024", 1, scan_blelloch<<<SCANS, 512>>>(small, (int *)uo)),
    COLD("textbook scan/warps, 2000 of 1024", 1, scan_warps<<<SCANS, 256>>>((int4 *)small, (int4 *)uo)),
    COLD("textbook scan/three launches of 1024, 3M", 3, scan_whole(1024)),
    COLD("textbook histogram/global atomics, 1.5M", 1,
         histogram_global<<<up(COUNTED, 256), 256>>>(bytes, bins, COUNTED)),
    COLD("textbook histogram/shared atomics, 1.5M", 1, histogram_shared<<<264, 256>>>(bytes, bins, COUNTED)),
    COLD("textbook histogram/one a warp, 1.5M", 1, histogram_warps<<<264, 256>>>((uchar4 *)bytes, bins, COUNTED / 4)),
    COLD("textbook sort/bitonic thread a key, 1056 of 1024", 1, bitonic_thread_a_key<<<SORTS, 1024>>>(ua, uo)),
    COLD("textbook sort/bitonic thread a pair, 1056 of 1024", 1, bitonic_thread_a_pair<<<SORTS, 512>>>(ua, uo)),
    COLD("textbook sort/counting step of 256, 2M", 3, counting_step(256)),
    COLD("textbook sort/counting step of 1024, 2M", 3, counting_step(1024)),
    COLD("textbook gather/1 MB, 3M", 1, gather<<<up(GATHERED, 256), 256>>>(table, places, fo, GATHERED, (1 << 18) - 1)),
    WARM("textbook gather/16 MB, 3M", 1,
         gather<<<up(GATHERED, 256), 256>>>(table, places, fo, GATHERED, (1 << 22) - 1)),
    COLD("textbook gather/128 MB, 3M", 1, gather<<<up(GATHERED, 256), 256>>>(table, places, fo, GATHERED, TABLE - 1)),
    COLD("textbook gather/int4 of 128 MB, 1M", 1,
         gather4<<<up(GATHERED4, 128), 128>>>((int4 *)table, places, (int4 *)fo, GATHERED4, TABLE / 4 - 1)),
    COLD("textbook csr/row a thread, 90000 rows", 1,
         csr_scalar<<<up(SPARSE, 128), 128>>>(SPARSE, row_starts, columns, values, fa, fo)),
    COLD("textbook csr/row 8 lanes, 90000 rows", 1,
         csr_vector<8><<<up(SPARSE * 8, 256), 256>>>(SPARSE, row_starts, columns, values, fa, fo)),
    COLD("textbook csr/row a warp, 90000 rows", 1,
         csr_vector<32><<<up(SPARSE * 32, 256), 256>>>(SPARSE, row_starts, columns, values, fa, fo)),
};
FIDELITY_MAIN(setup, tests)

/* half.cu — lab 10, the reference.
 *
 * Three decisions make it right. All sums are floats, rounded to halves once. The loss is multiplied by 65536 before it
 * goes back, so that the gradients fall into the range of halves, and `update` divides by it. The weights that learn
 * are floats; the network computes with their rounded copy.
 *
 * Two make it fast. relu_backward moves 16 bytes a lane at a time. dense gives each block a tile of y: four stages of
 * cp.async bring the tiles of x and w into shared memory, in an order of 16-byte chunks in which no two lanes meet in a
 * bank; ldmatrix takes them to registers, one step ahead; each warp multiplies by mma.sync. Where the matrices are no
 * whole tiles, the same kernel loads and stores them half by half.
 */
#include "lab10.h"

/* --- dense -------------------------------------------------------------------------------------------------- */

__device__ void copy16(unsigned to, const half *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait_until() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

/* Four 8 x 8 matrices of halves: lane 8 i + r names row r of matrix i. A lane gets two neighbours of each. */
__device__ void load_matrices(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}
/* The same, and each is transposed on its way. */
__device__ void load_transposed(unsigned (&r)[4], unsigned at) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
}

/* c += a b: 16 x 16 times 16 x 8. */
__device__ void multiply_add(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* The place of a chunk of 8 halves in a tile of W halves a row. Eight rows of one column of chunks, which is what
 * ldmatrix reads at a time, lie in different banks. */
template <int W> __device__ int place(int row, int chunk) {
    return row * W + (W >= 64 ? chunk ^ (row & 7) : chunk ^ (row / 2 & 3)) * 8;
}

/* A thread's part of every tile of ROWS x W halves: chunks of 16 bytes, in rows APART apart. Its addresses grow by
 * constants, so that a copy takes hardly more than its own instruction. */
template <int ROWS, int W, int THREADS> struct part {
    enum { APART = THREADS / (W / 8), CHUNKS = ROWS / APART };
    const half *from;
    size_t apart;
    unsigned to;

    /* Of the matrix with `cols` columns, tiles begin at row r, column c; `tile`: the first one's place. */
    __device__ part(const half *matrix, int r, int c, int cols, unsigned tile) {
        const int row = threadIdx.x / (W / 8), chunk = threadIdx.x % (W / 8);
        from = matrix + (size_t)(r + row) * cols + c + chunk * 8;
        apart = (size_t)APART * cols;
        to = tile + place<W>(row, chunk) * 2;
    }
    __device__ void fetch(unsigned slot, size_t ahead) const {
#pragma unroll
        for (int i = 0; i < CHUNKS; i++) copy16(to + slot + i * APART * W * 2, from + ahead + i * apart);
    }
};

/* The same for a tile that may lie across the edge of its matrix, half by half: beyond is 0. */
template <int ROWS, int W, int THREADS>
__device__ void fill(half *tile, const half *matrix, int r, int c, int rows, int cols) {
    for (int i = threadIdx.x; i < ROWS * W; i += THREADS) {
        const int row = i / W, col = i % W;
        const bool inside = r + row < rows && c + col < cols;
        tile[place<W>(row, col / 8) + col % 8] = inside ? matrix[(size_t)(r + row) * cols + c + col] : half(0.0f);
    }
}

/* A block has a tile of BM x BN of y, and each of its warps WM x WN of that. BK columns of x and rows of w are a stage,
 * and STAGES of them are on their way or in use. */
template <int BM, int BN, int BK, int WM, int WN, int STAGES, bool WHOLE>
__global__ void __launch_bounds__((BM / WM) * (BN / WN) * 32)
    tiles(const half *__restrict__ x, const half *__restrict__ w, const half *__restrict__ bias, half *__restrict__ y,
          int m, int n, int k) {
    constexpr int THREADS = (BM / WM) * (BN / WN) * 32, A = WM / 16, B = WN / 8, STEPS = BK / 16;
    constexpr int STAGE = (BM + BN) * BK, WIDE = BN + 8, GROUP = 8;
    extern __shared__ __align__(128) half shared[];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int wr = warp / (BN / WN) * WM, wc = warp % (BN / WN) * WN;

    /* Blocks that run together take tiles of 8 rows of tiles: their x and w stay in L2. */
    const int across = (n + BN - 1) / BN, down = (m + BM - 1) / BM;
    const int first = blockIdx.x / (GROUP * across) * GROUP, high = min(GROUP, down - first);
    const int r0 = (first + blockIdx.x % (GROUP * across) % high) * BM, c0 = blockIdx.x % (GROUP * across) / high * BN;

    float sum[A][B][4] = {};
    unsigned a[2][A][4], b[2][B / 2][4];
    const unsigned base = (unsigned)__cvta_generic_to_shared(shared);
    const int stages = (k + BK - 1) / BK;

    const part<BM, BK, THREADS> of_x(x, r0, 0, k, base);
    const part<BK, BN, THREADS> of_w(w, 0, c0, n, base + BM * BK * 2);
    auto fetch = [&](int stage, int slot) {
        half *to = shared + slot * STAGE;
        if (WHOLE) {
            of_x.fetch(slot * STAGE * 2, (size_t)stage * BK);
            of_w.fetch(slot * STAGE * 2, (size_t)stage * BK * n);
        } else {
            fill<BM, BK, THREADS>(to, x, r0, stage * BK, m, k);
            fill<BK, BN, THREADS>(to + BM * BK, w, stage * BK, c0, k, n);
        }
    };
    auto take = [&](int slot, int step, int into) {
        const unsigned from = base + slot * STAGE * 2, of_w = from + BM * BK * 2;
#pragma unroll
        for (int i = 0; i < A; i++)
            load_matrices(a[into][i], from + place<BK>(wr + i * 16 + lane % 16, step * 2 + lane / 16) * 2);
#pragma unroll
        for (int j = 0; j < B / 2; j++)
            load_transposed(b[into][j], of_w + place<BN>(step * 16 + lane % 16, wc / 8 + j * 2 + lane / 16) * 2);
    };

#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < stages) fetch(s, s);
        commit();
    }
    wait_until<STAGES - 2>();
    __syncthreads();
    int slot = 0, free_slot = STAGES - 1;
    take(0, 0, 0);
    for (int stage = 0; stage < stages; stage++) {
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (step == STEPS - 1) { /* the next stage has arrived, and all have read this one */
                wait_until<STAGES - 2>();
                __syncthreads();
                slot = slot + 1 == STAGES ? 0 : slot + 1;
            }
            if (step < STEPS - 1 || stage + 1 < stages) take(slot, (step + 1) % STEPS, (step + 1) & 1);
            if (step == 0) {
                if (stage + STAGES - 1 < stages) fetch(stage + STAGES - 1, free_slot);
                commit();
                free_slot = free_slot + 1 == STAGES ? 0 : free_slot + 1;
            }
#pragma unroll
            for (int i = 0; i < A; i++)
#pragma unroll
                for (int j = 0; j < B; j++)
                    multiply_add(sum[i][j], a[step & 1][i], b[step & 1][j / 2][j % 2 * 2],
                                 b[step & 1][j / 2][j % 2 * 2 + 1]);
        }
    }

    /* Through shared memory, so that a warp stores whole rows. All have read their last tiles before the last barrier.
     */
#pragma unroll
    for (int j = 0; j < B; j++) {
        const int c = wc + j * 8 + lane % 4 * 2;
        const float b0 = WHOLE || c0 + c < n ? __half2float(bias[c0 + c]) : 0;
        const float b1 = WHOLE || c0 + c + 1 < n ? __half2float(bias[c0 + c + 1]) : 0;
#pragma unroll
        for (int i = 0; i < A; i++) {
            const float *s = sum[i][j];
            half *to = shared + (wr + i * 16 + lane / 4) * WIDE + c;
            *(half2 *)to = __floats2half2_rn(fmaxf(s[0] + b0, 0), fmaxf(s[1] + b1, 0));
            *(half2 *)(to + 8 * WIDE) = __floats2half2_rn(fmaxf(s[2] + b0, 0), fmaxf(s[3] + b1, 0));
        }
    }
    __syncthreads();
#pragma unroll 4
    for (int t = 0; t < BM * BN / 8 / THREADS; t++) {
        const int i = threadIdx.x + t * THREADS, r = i / (BN / 8), c = i % (BN / 8) * 8;
        const half *from = shared + r * WIDE + c;
        half *to = y + (size_t)(r0 + r) * n + c0 + c;
        if (WHOLE)
            *(uint4 *)to = *(const uint4 *)from;
        else
            for (int e = 0; e < 8; e++)
                if (r0 + r < m && c0 + c + e < n) to[e] = from[e];
    }
}

template <int BM, int BN, int BK, int WM, int WN, int STAGES, bool WHOLE>
static void start(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    const int stages = STAGES * (BM + BN) * BK, out = BM * (BN + 8), bytes = (stages > out ? stages : out) * 2;
    auto *kernel = tiles<BM, BN, BK, WM, WN, STAGES, WHOLE>;
    if (bytes > 48 << 10) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<((m + BM - 1) / BM) * ((n + BN - 1) / BN), (BM / WM) * (BN / WN) * 32, bytes>>>(x, w, bias, y, m, n, k);
}

/* Large tiles load less for each product; small ones give every SM something to do. */
extern "C" void dense(const half *x, const half *w, const half *bias, half *y, int m, int n, int k) {
    enum { ENOUGH = 64 }; /* blocks */
    if (m % 128 == 0 && n % 256 == 0 && k % 64 == 0 && (m / 128) * (n / 256) >= ENOUGH)
        start<128, 256, 64, 64, 64, 4, true>(x, w, bias, y, m, n, k);
    else if (m % 64 == 0 && n % 64 == 0 && k % 32 == 0)
        start<64, 64, 32, 32, 32, 4, true>(x, w, bias, y, m, n, k);
    else
        start<64, 64, 32, 32, 32, 2, false>(x, w, bias, y, m, n, k);
}

/* --- relu_backward ------------------------------------------------------------------------------------------ */

/* Two halves: those of dy where y is above 0. The bits of a half above 0, read as a short, are above 0, too. */
__device__ unsigned pass(unsigned y, unsigned dy) {
    return dy & (((short)y > 0 ? 0xffffu : 0) | ((int)y > 0xffff ? 0xffff0000u : 0));
}

/* Eight halves a thread; the last thread of all has the rest. */
__global__ void mask(const half *y, const half *dy, half *dz, int count) {
    const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (i + 8 <= count) {
        const uint4 a = *(const uint4 *)(y + i), b = *(const uint4 *)(dy + i);
        *(uint4 *)(dz + i) = make_uint4(pass(a.x, b.x), pass(a.y, b.y), pass(a.z, b.z), pass(a.w, b.w));
    } else {
        for (int e = i; e < count; e++) dz[e] = __hgt(y[e], half(0.0f)) ? dy[e] : half(0.0f);
    }
}

extern "C" void relu_backward(const half *y, const half *dy, half *dz, int count) {
    const int threads = (count + 7) / 8;
    mask<<<(threads + 255) / 256, 256>>>(y, dy, dz, count);
}

/* --- training ----------------------------------------------------------------------------------------------- */

#define SCALE   65536.0f
#define THREADS 512

__device__ float warp_sum(float v) {
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

/* One block, an input of the batch a warp. */
__global__ void output(const half *h, const half *v, const float *t, half *dh, float *loss, int m, int n) {
    __shared__ float squares[THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float mine = 0;
    for (int i = warp; i < m; i += THREADS / 32) {
        float out = 0;
        for (int j = lane; j < n; j += 32) out += __half2float(h[i * n + j]) * __half2float(v[j]);
        const float error = warp_sum(out) - t[i], back = 2 * error / m * SCALE;
        mine += error * error;
        for (int j = lane; j < n; j += 32) dh[i * n + j] = __float2half(back * __half2float(v[j]));
    }
    if (lane == 0) squares[warp] = mine;
    __syncthreads();
    if (warp > 0) return;
    mine = warp_sum(lane < THREADS / 32 ? squares[lane] : 0);
    if (lane == 0) *loss = mine / m;
}

/* A weight a thread. */
__global__ void weight_gradients(const half *x, const half *dz, half *g, int m, int k, int n) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, a = blockIdx.y;
    float sum = 0;
    if (j >= n) return;
    for (int i = 0; i < m; i++) sum += __half2float(x[i * k + a]) * __half2float(dz[i * n + j]);
    g[a * n + j] = __float2half(sum);
}

extern "C" float gradients(const struct lab10_net *net) {
    const int m = net->m, k = net->k, n = net->n;
    dense(net->x, net->w, net->b, net->h, m, n, k);
    output<<<1, THREADS>>>(net->h, net->v, net->t, net->dh, net->loss, m, n);
    relu_backward(net->h, net->dh, net->dz, m * n);
    weight_gradients<<<dim3((n + 63) / 64, k), 64>>>(net->x, net->dz, net->g, m, k, n);
    return SCALE;
}

/* The state holds the mean squares, and behind them the weights as floats. */
__global__ void change(const half *g, half *w, float *q, float *weight, float scale, float rate, int count,
                       bool begin) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const float a = __half2float(g[i]) / scale, old = begin ? __half2float(w[i]) : weight[i];
    q[i] = DECAY * q[i] + (1 - DECAY) * a * a;
    weight[i] = old - rate * a / (sqrtf(q[i]) + EPSILON);
    w[i] = __float2half(weight[i]);
}

extern "C" void update(const struct lab10_net *net, float scale) {
    const int count = net->k * net->n;
    change<<<(count + 255) / 256, 256>>>(net->g, net->w, net->state, net->state + count, scale, net->rate, count,
                                         net->step == 0);
}

/* --- the other half ----------------------------------------------------------------------------------------- */

/* An element a thread: nobody times it. The product of two bfloat16s has 16 digits, so it is exact as a float. */
__global__ void multiply_bf16(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int m, int n, int k) {
    const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (i >= m || j >= n) return;
    for (int a = 0; a < k; a++) sum += __bfloat162float(x[(size_t)i * k + a]) * __bfloat162float(w[(size_t)a * n + j]);
    y[(size_t)i * n + j] = __float2bfloat16(fmaxf(sum + __bfloat162float(bias[j]), 0));
}

extern "C" void dense_bf16(const bf16 *x, const bf16 *w, const bf16 *bias, bf16 *y, int m, int n, int k) {
    multiply_bf16<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(32, 8)>>>(x, w, bias, y, m, n, k);
}

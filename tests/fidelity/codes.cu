/* codes.cu — ciphers, checks and codes of bytes, alignment of letters, big numbers, bits. */
#include "fidelity.h"

enum { MESSAGES = 1 << 18, CIPHER_BLOCKS = 1 << 17, RECORDS = 1 << 17, RECORD = 64, TRIPLES = 1 << 20 };
enum { PAIRS = 2048, LETTERS = 128, TEXTS = 1 << 16, TEXT = 128, PATTERN = 48, BIG = 1 << 16, QUADS = 1 << 20 };
enum { PRINTS = 2048, BITS = 8192, QUEENS = 12, PLACED = 4 };

/* --- ciphers --- */
__constant__ unsigned sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))

/* A block of 64 bytes, as 16 words, a thread: as bitcoin miners and password crackers do it. */
__global__ void sha256(const unsigned *in, unsigned *out, int n) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    unsigned w[64];
#pragma unroll
    for (int i = 0; i < 16; i++) w[i] = in[id * 16 + i];
#pragma unroll
    for (int i = 16; i < 64; i++) {
        unsigned s0 = ROTR(w[i - 15], 7) ^ ROTR(w[i - 15], 18) ^ (w[i - 15] >> 3);
        unsigned s1 = ROTR(w[i - 2], 17) ^ ROTR(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned a = state[0], b = state[1], c = state[2], d = state[3];
    unsigned e = state[4], f = state[5], g = state[6], h = state[7];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        unsigned s1 = ROTR(e, 6) ^ ROTR(e, 11) ^ ROTR(e, 25);
        unsigned t1 = h + s1 + ((e & f) ^ (~e & g)) + sha_k[i] + w[i];
        unsigned s0 = ROTR(a, 2) ^ ROTR(a, 13) ^ ROTR(a, 22);
        unsigned t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    unsigned result[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; i++) out[id * 8 + i] = state[i] + result[i];
}

__constant__ unsigned char aes_box[256];
__constant__ unsigned char round_key[176];

__device__ inline unsigned char twice(unsigned char x) { return (unsigned char)((x << 1) ^ ((x >> 7) * 0x1b)); }

/* AES with 128 bits, byte by byte. */
__device__ inline void aes(const unsigned char *box, unsigned char s[16]) {
    unsigned char t[16];
#pragma unroll
    for (int i = 0; i < 16; i++) s[i] ^= round_key[i];
    for (int r = 1; r <= 10; r++) {
#pragma unroll
        for (int i = 0; i < 16; i++) t[i] = box[s[(i + 4 * (i % 4)) % 16]]; /* a column is four bytes */
        if (r < 10) {
#pragma unroll
            for (int c = 0; c < 16; c += 4) {
                unsigned char all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3], first = t[c];
                t[c] ^= all ^ twice(t[c] ^ t[c + 1]);
                t[c + 1] ^= all ^ twice(t[c + 1] ^ t[c + 2]);
                t[c + 2] ^= all ^ twice(t[c + 2] ^ t[c + 3]);
                t[c + 3] ^= all ^ twice(t[c + 3] ^ first);
            }
        }
#pragma unroll
        for (int i = 0; i < 16; i++) s[i] = t[i] ^ round_key[16 * r + i];
    }
}

__device__ inline void take(uint4 v, unsigned char s[16]) {
    for (int i = 0; i < 4; i++) {
        s[i] = v.x >> 8 * i;
        s[4 + i] = v.y >> 8 * i;
        s[8 + i] = v.z >> 8 * i;
        s[12 + i] = v.w >> 8 * i;
    }
}
__device__ inline unsigned word(const unsigned char *s) { return s[0] | s[1] << 8 | s[2] << 16 | (unsigned)s[3] << 24; }
__device__ inline uint4 give(const unsigned char s[16]) {
    return make_uint4(word(s), word(s + 4), word(s + 8), word(s + 12));
}

__global__ void aes_shared(const uint4 *in, uint4 *out, const unsigned char *box, int n) {
    __shared__ unsigned char s_box[256];
    s_box[threadIdx.x] = box[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char s[16];
    take(in[i], s);
    aes(s_box, s);
    out[i] = give(s);
}
__global__ void aes_constant(const uint4 *in, uint4 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char s[16];
    take(in[i], s);
    aes(aes_box, s);
    out[i] = give(s);
}
__global__ void aes_global(const uint4 *in, uint4 *out, const unsigned char *__restrict__ box, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char s[16];
    take(in[i], s);
    aes(box, s);
    out[i] = give(s);
}

/* --- bytes --- */
__global__ void crc32(const unsigned char *data, const unsigned *__restrict__ table, unsigned *crcs, int length,
                      int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char *p = data + (size_t)i * length;
    unsigned crc = 0xffffffff;
    for (int k = 0; k < length; k++) crc = table[(crc ^ p[k]) & 255] ^ (crc >> 8);
    crcs[i] = ~crc;
}

__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__global__ void base64(const unsigned char *in, char *out, int triples) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < triples; i += gridDim.x * blockDim.x) {
        unsigned v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
        out[4 * i] = alphabet[v >> 18];
        out[4 * i + 1] = alphabet[v >> 12 & 63];
        out[4 * i + 2] = alphabet[v >> 6 & 63];
        out[4 * i + 3] = alphabet[v & 63];
    }
}

/* --- letters --- */
/* Smith and Waterman: a pair a block, a row a thread, the block goes along the anti-diagonals. */
template <int M> __global__ void smith_waterman(const char *a, const char *b, int *best, int n) {
    __shared__ int h[3][M + 1];
    __shared__ char sb[1024];
    __shared__ int largest;
    int t = threadIdx.x;
    char mine = a[blockIdx.x * M + t];
    for (int j = t; j < n; j += M) sb[j] = b[blockIdx.x * n + j];
    for (int k = 0; k < 3; k++) h[k][t + 1] = 0;
    if (t < 3) h[t][0] = 0;
    if (t == 0) largest = 0;
    __syncthreads();
    int most = 0;
    for (int d = 0; d < M + n - 1; d++) {
        int j = d - t;
        int now = d % 3, last = (d + 2) % 3, before = (d + 1) % 3;
        int score = 0;
        if (j >= 0 && j < n) {
            score = h[before][t] + (mine == sb[j] ? 2 : -1); /* row t is at t + 1 */
            score = max(score, h[last][t] - 1);
            score = max(score, h[last][t + 1] - 1);
            score = max(score, 0);
            most = max(most, score);
        }
        h[now][t + 1] = score;
        __syncthreads();
    }
    atomicMax(&largest, most);
    __syncthreads();
    if (t == 0) best[blockIdx.x] = largest;
}

/* Levenshtein by Myers: a pattern of up to 64 letters against a text a thread. */
__global__ void myers(const char *pattern, int m, const char *texts, int length, int *distance, int n) {
    __shared__ unsigned long long peq[128];
    unsigned long long mask = 0;
    for (int k = 0; k < m; k++)
        if (pattern[k] == threadIdx.x) mask |= 1ull << k;
    peq[threadIdx.x] = mask;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long pv = ~0ull, mv = 0, top = 1ull << (m - 1);
    int score = m;
    for (int j = 0; j < length; j++) {
        unsigned long long eq = peq[(int)texts[i * length + j]];
        unsigned long long xv = eq | mv;
        unsigned long long xh = (((eq & pv) + pv) ^ pv) | eq;
        unsigned long long ph = mv | ~(xh | pv);
        unsigned long long mh = pv & xh;
        if (ph & top) score++;
        if (mh & top) score--;
        ph = ph << 1 | 1;
        mh = mh << 1;
        pv = mh | ~(xv | ph);
        mv = ph & xv;
    }
    distance[i] = score;
}

/* --- numbers --- */
struct number {
    unsigned limb[8];
};
__constant__ number modulus;

/* a b / 2^256 modulo the modulus, limb by limb; inverse is -1 / modulus modulo 2^32 */
__device__ number montgomery(const number &a, const number &b, unsigned inverse) {
    unsigned t[10] = {0};
#pragma unroll
    for (int i = 0; i < 8; i++) {
        unsigned long long carry = 0;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            carry += (unsigned long long)a.limb[j] * b.limb[i] + t[j];
            t[j] = (unsigned)carry;
            carry >>= 32;
        }
        carry += t[8];
        t[8] = (unsigned)carry;
        t[9] = (unsigned)(carry >> 32);
        unsigned m = t[0] * inverse;
        carry = ((unsigned long long)m * modulus.limb[0] + t[0]) >> 32;
#pragma unroll
        for (int j = 1; j < 8; j++) {
            carry += (unsigned long long)m * modulus.limb[j] + t[j];
            t[j - 1] = (unsigned)carry;
            carry >>= 32;
        }
        carry += t[8];
        t[7] = (unsigned)carry;
        t[8] = t[9] + (unsigned)(carry >> 32);
    }
    number r;
    long long borrow = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        borrow += (long long)t[j] - modulus.limb[j];
        r.limb[j] = (unsigned)borrow;
        borrow >>= 32;
    }
    if (borrow + t[8] < 0)
        for (int j = 0; j < 8; j++) r.limb[j] = t[j];
    return r;
}

__global__ void multiply256(const number *a, const number *b, number *out, unsigned inverse, int times, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    number x = a[i], y = b[i];
    for (int k = 0; k < times; k++) x = montgomery(x, y, inverse);
    out[i] = x;
}

__device__ uint4 philox(uint4 c, uint2 key) {
#pragma unroll
    for (int r = 0; r < 10; r++) {
        unsigned high0 = __umulhi(0xD2511F53u, c.x), low0 = 0xD2511F53u * c.x;
        unsigned high1 = __umulhi(0xCD9E8D57u, c.z), low1 = 0xCD9E8D57u * c.z;
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

/* Four numbers of a normal distribution from each counter, by Box and Muller. */
__global__ void normals(float4 *out, unsigned seed, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        uint4 r = philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 0));
        float u1 = (r.x + 1.0f) * 2.3283064e-10f, u2 = r.y * 2.3283064e-10f;
        float u3 = (r.z + 1.0f) * 2.3283064e-10f, u4 = r.w * 2.3283064e-10f;
        float s = sqrtf(-2.0f * logf(u1)), t = sqrtf(-2.0f * logf(u3));
        out[i] = make_float4(s * cosf(6.2831853f * u2), s * sinf(6.2831853f * u2), t * cosf(6.2831853f * u4),
                             t * sinf(6.2831853f * u4));
    }
}

/* --- bits --- */
/* How many of 256 bits differ, for all pairs of fingerprints. */
__global__ void hamming(const unsigned *__restrict__ a, const unsigned *__restrict__ b, unsigned short *out, int n) {
    __shared__ unsigned sa[16][9], sb[16][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    if (tx < 8)
        sa[ty][tx] = a[row * 8 + tx];
    else
        sb[ty][tx - 8] = b[(blockIdx.x * 16 + ty) * 8 + tx - 8];
    __syncthreads();
    int count = 0;
#pragma unroll
    for (int k = 0; k < 8; k++) count += __popc(sa[ty][k] ^ sb[tx][k]);
    out[row * n + col] = count;
}

/* A matrix of bits: a warp has a tile of 32 x 32. */
__global__ void transpose_bits(const unsigned *in, unsigned *out, int words) {
    int lane = threadIdx.x % 32;
    int tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int tx = tile % words, ty = tile / words;
    unsigned mine = in[(ty * 32 + lane) * words + tx];
    unsigned result = 0;
    for (int k = 0; k < 32; k++) {
        unsigned column = __ballot_sync(0xffffffff, mine >> k & 1);
        if (lane == k) result = column;
    }
    out[(tx * 32 + lane) * words + ty] = result;
}

/* Queens: each thread goes on from a board of which the first rows are filled, with a stack of its own. */
struct board {
    unsigned columns, left, right;
};

template <int N, int FROM> __global__ void queens(const board *boards, int count, unsigned long long *solutions) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const unsigned all = (1u << N) - 1;
    board at[N + 1];
    unsigned open[N + 1];
    int row = FROM, found = 0;
    at[row] = boards[i];
    open[row] = all & ~(at[row].columns | at[row].left | at[row].right);
    while (row >= FROM) {
        if (open[row] == 0) {
            row--;
            continue;
        }
        unsigned bit = open[row] & (0u - open[row]);
        open[row] ^= bit;
        if (row == N - 1) {
            found++;
            continue;
        }
        at[row + 1].columns = at[row].columns | bit;
        at[row + 1].left = (at[row].left | bit) << 1;
        at[row + 1].right = (at[row].right | bit) >> 1;
        row++;
        open[row] = all & ~(at[row].columns | at[row].left | at[row].right);
    }
    atomicAdd(solutions, (unsigned long long)found);
}

static unsigned *messages, *digests, *crc_table, *crcs, *prints, *bits, *turned;
static uint4 *plain, *secret;
static unsigned char *box, *records;
static char *encoded, *first, *second, *pattern, *texts;
static int *best, *distances, boards_given;
static number *factor_a, *factor_b, *product;
static float4 *normal;
static unsigned short *differences;
static board *boards;
static unsigned long long *solutions;

/* secp256k1: 2^256 - 2^32 - 977 */
static const number prime = {
    {0xfffffc2f, 0xfffffffe, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}};
static unsigned minus_inverse() {
    unsigned x = 1;
    for (int i = 0; i < 5; i++) x *= 2 - prime.limb[0] * x;
    return 0u - x;
}

static void make_aes() {
    unsigned char host[256], key[176], p = 1, q = 1, c = 1;
    do { /* p runs through all bytes but 0; q is 1 / p */
        p = (unsigned char)(p ^ (p << 1) ^ (p & 0x80 ? 0x1b : 0));
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if (q & 0x80) q ^= 0x09;
        unsigned x = q | q << 8;
        host[p] = (unsigned char)(0x63 ^ q ^ x >> 7 ^ x >> 6 ^ x >> 5 ^ x >> 4);
    } while (p != 1);
    host[0] = 0x63;
    for (int i = 0; i < 16; i++) key[i] = (unsigned char)i;
    for (int i = 16; i < 176; i += 4) {
        unsigned char t[4] = {key[i - 4], key[i - 3], key[i - 2], key[i - 1]};
        if (i % 16 == 0) {
            unsigned char first = t[0];
            t[0] = host[t[1]] ^ c, t[1] = host[t[2]], t[2] = host[t[3]], t[3] = host[first];
            c = (unsigned char)(c << 1 ^ (c & 0x80 ? 0x1b : 0));
        }
        for (int k = 0; k < 4; k++) key[i + k] = key[i + k - 16] ^ t[k];
    }
    MUST(cudaMemcpyToSymbol(aes_box, host, sizeof host));
    MUST(cudaMemcpyToSymbol(round_key, key, sizeof key));
    box = filled<unsigned char>(256, [&](size_t i) { return host[i]; });
}

static void place(board *list, int row, board b) {
    const unsigned all = (1u << QUEENS) - 1;
    if (row == PLACED) {
        list[boards_given++] = b;
        return;
    }
    for (unsigned open = all & ~(b.columns | b.left | b.right); open; open &= open - 1) {
        unsigned bit = open & (0u - open);
        board next = {b.columns | bit, (b.left | bit) << 1, (b.right | bit) >> 1};
        place(list, row + 1, next);
    }
}
static void make_boards() {
    board *host = (board *)malloc(QUEENS * QUEENS * QUEENS * QUEENS * sizeof(board)), empty = {0, 0, 0};
    place(host, 0, empty);
    boards = filled<board>(boards_given, [=](size_t i) { return host[i]; });
    free(host);
    solutions = zeroed<unsigned long long>(1);
}

static number some_number(size_t i) {
    number x;
    for (int k = 0; k < 8; k++) x.limb[k] = mixed(8 * i + k);
    x.limb[7] >>= 1;
    return x;
}

static void setup() {
    messages = filled<unsigned>(MESSAGES * 16, mixed);
    digests = zeroed<unsigned>(MESSAGES * 8);
    make_aes();
    plain = filled<uint4>(CIPHER_BLOCKS, [](size_t i) {
        return make_uint4(mixed(4 * i), mixed(4 * i + 1), mixed(4 * i + 2), mixed(4 * i + 3));
    });
    secret = zeroed<uint4>(CIPHER_BLOCKS);
    records = filled<unsigned char>(RECORDS * RECORD, [](size_t i) { return (unsigned char)mixed(i); });
    crc_table = filled<unsigned>(256, [](size_t i) {
        unsigned c = (unsigned)i;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        return c;
    });
    crcs = zeroed<unsigned>(RECORDS);
    encoded = zeroed<char>(4 * TRIPLES);
    first = filled<char>(PAIRS * LETTERS, [](size_t i) { return "ACGT"[mixed(i) % 4]; });
    second = filled<char>(PAIRS * LETTERS, [](size_t i) { return "ACGT"[mixed(i + 5) % 4]; });
    best = zeroed<int>(PAIRS);
    pattern = filled<char>(PATTERN, [](size_t i) { return (char)('a' + mixed(i) % 26); });
    texts = filled<char>(TEXTS * TEXT, [](size_t i) { return (char)('a' + mixed(i + 3) % 26); });
    distances = zeroed<int>(TEXTS);
    MUST(cudaMemcpyToSymbol(modulus, &prime, sizeof prime));
    factor_a = filled<number>(BIG, some_number);
    factor_b = filled<number>(BIG, [](size_t i) { return some_number(i + BIG); });
    product = zeroed<number>(BIG);
    normal = zeroed<float4>(QUADS);
    prints = filled<unsigned>(PRINTS * 8, mixed);
    differences = zeroed<unsigned short>(PRINTS * PRINTS);
    bits = filled<unsigned>(BITS * (BITS / 32), mixed);
    turned = zeroed<unsigned>(BITS * (BITS / 32));
    make_boards();
}

static const fidelity_test tests[] = {
    COLD("ciphers/SHA-256, a block a thread, 2^18", 1, sha256<<<MESSAGES / 128, 128>>>(messages, digests, MESSAGES)),
    COLD("ciphers/AES, table in shared memory, 2^17", 1,
         aes_shared<<<CIPHER_BLOCKS / 256, 256>>>(plain, secret, box, CIPHER_BLOCKS)),
    COLD("ciphers/AES, table in constant memory, 2^17", 1,
         aes_constant<<<CIPHER_BLOCKS / 256, 256>>>(plain, secret, CIPHER_BLOCKS)),
    COLD("ciphers/AES, table in global memory, 2^17", 1,
         aes_global<<<CIPHER_BLOCKS / 256, 256>>>(plain, secret, box, CIPHER_BLOCKS)),
    COLD("bytes/CRC by table, 64 bytes a thread, 2^17", 1,
         crc32<<<RECORDS / 64, 64>>>(records, crc_table, crcs, RECORD, RECORDS)),
    COLD("bytes/base64, 2^20 triples", 1, base64<<<1024, 256>>>(records, encoded, TRIPLES)),
    WARM("letters/Smith and Waterman, a pair a block, 2048", 1,
         smith_waterman<LETTERS><<<PAIRS, LETTERS>>>(first, second, best, LETTERS)),
    COLD("letters/Levenshtein by Myers, 2^16 texts of 128", 1,
         myers<<<TEXTS / 128, 128>>>(pattern, PATTERN, texts, TEXT, distances, TEXTS)),
    COLD("numbers/Montgomery, 256 bits, 16 products, 2^16", 1,
         multiply256<<<BIG / 128, 128>>>(factor_a, factor_b, product, minus_inverse(), 16, BIG)),
    COLD("numbers/Philox, normal, 2^20 times 4", 1, normals<<<512, 512>>>(normal, 2024, QUADS)),
    WARM("bits/Hamming distances, 2048 x 2048", 1,
         hamming<<<dim3(PRINTS / 16, PRINTS / 16), dim3(16, 16)>>>(prints, prints, differences, PRINTS)),
    COLD("bits/transpose by ballot, 8192 x 8192", 1,
         transpose_bits<<<BITS / 32 * (BITS / 32) / 32, 1024>>>(bits, turned, BITS / 32)),
    COLD("bits/queens, a stack a thread, 12 x 12", 1,
         queens<QUEENS, PLACED><<<(boards_given + 63) / 64, 64>>>(boards, boards_given, solutions)),
};
FIDELITY_MAIN(setup, tests)

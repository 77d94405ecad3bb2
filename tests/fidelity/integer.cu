/* integer.cu — integers, bits, strings; grids that are tiny, unequal or divergent; launches that share L2 or the SMs.
 */
#include "fidelity.h"

enum { N = 1 << 20, TEXT = 1 << 22, MEBI = 1 << 20 };
static unsigned *u, *r;
static char *text, *other;
static float *a, *b, *c;
static int *lengths;
static cudaStream_t one, two;

__global__ void gcd(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i] >> 8 | 1, y = in[i + 1] >> 8 | 1;
    while (y) {
        unsigned t = x % y;
        x = y;
        y = t;
    }
    out[i] = x;
}
__global__ void collatz(unsigned *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = i + 1, steps = 0;
    while (n != 1 && steps < 300) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[i] = steps;
}
__global__ void primes(unsigned *out) { /* trial division */
    unsigned n = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + 3, prime = 1;
    for (unsigned k = 3; k * k <= n; k += 2)
        if (n % k == 0) {
            prime = 0;
            break;
        }
    out[n / 2] = prime;
}
__global__ void ones(const unsigned *in, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    out[i] = __popc(x) + __clz(x) * 64 + (__brev(x) & 255) + (x << (x & 7));
}
__global__ void hash(const unsigned *in, unsigned *out, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned h = in[i];
    for (int k = 0; k < rounds; k++) {
        h ^= h >> 16, h *= 0x85ebca6bu;
        h ^= h >> 13, h *= 0xc2b2ae35u;
        h = (h << 15 | h >> 17) + k;
    }
    out[i] = h;
}
__global__ void powers_modulo(const unsigned *in, unsigned *out, unsigned m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long x = in[i] % m, y = 1;
    for (unsigned e = 65537; e; e >>= 1) {
        if (e & 1) y = y * x % m;
        x = x * x % m;
    }
    out[i] = (unsigned)y;
}
__global__ void life(const unsigned char *in, unsigned char *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += in[((y + dy + h) % h) * w + (x + dx + w) % w] & 1;
    out[y * w + x] = n == 3 || (n == 2 && (in[y * w + x] & 1));
}
/* --- strings --- */
__global__ void upper(const char *in, char *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] >= 'a' && in[i] <= 'z' ? in[i] - 32 : in[i];
}
__global__ void caesar(const uchar4 *in, uchar4 *out, int key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    uchar4 v = in[i];
    out[i] = make_uchar4(v.x + key, v.y + key, v.z + key, v.w + key);
}
__global__ void find(const char *text, int n, unsigned *count) { /* the word "cuda" */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 4 > n) return;
    const char word[] = {'c', 'u', 'd', 'a'};
    int k = 0;
    while (k < 4 && text[i + k] == word[k]) k++;
    if (k == 4) atomicAdd(count, 1u);
}
__global__ void count_words(const char *text, int n, unsigned *count) {
    unsigned words = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += blockDim.x * gridDim.x)
        words += text[i] == ' ' && text[i + 1] != ' ';
    for (int d = 16; d > 0; d /= 2) words += __shfl_down_sync(0xffffffffu, words, d);
    if (threadIdx.x % 32 == 0) atomicAdd(count, words);
}
__global__ void edit_distance(const char *x, const char *y,
                              int *out) { /* a block a pair of words of 128, by diagonals */
    __shared__ int d[3][129];
    int t = threadIdx.x;
    const char *s = x + blockIdx.x * 128, *w = y + blockIdx.x * 128;
    if (t == 0) d[0][0] = 0, d[1][0] = d[1][1] = 1;
    __syncthreads();
    for (int k = 2; k <= 256; k++) {
        int *now = d[k % 3], *last = d[(k - 1) % 3], *before = d[(k - 2) % 3];
        for (int i = t; i <= 128; i += 128) {
            int j = k - i;
            if (j < 0 || j > 128) continue;
            if (i == 0 || j == 0)
                now[i] = k;
            else
                now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (s[i - 1] != w[j - 1]));
        }
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = d[256 % 3][128];
}
__global__ void checksum(const unsigned char *in, unsigned *out, int each) { /* CRC by bits, a stretch a thread */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned crc = 0xffffffffu;
    for (int k = 0; k < each; k++) {
        crc ^= in[i * each + k];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    out[i] = ~crc;
}
/* --- shapes of grids --- */
__global__ void serial(const float *in, float *out, int n) { /* one thread does it all */
    float s = 0;
    for (int i = 0; i < n; i++) s += in[i];
    *out = s;
}
__global__ void square(const float *in, float *out, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = in[i] * in[i];
}
__global__ void triangle(const float *in, float *out, int n) { /* the later the block, the more it does */
    float s = 0;
    for (int i = threadIdx.x; i < (int)(blockIdx.x + 1) * 16; i += blockDim.x) s += in[i] * 0.5f;
    for (int k = 0; k < (int)blockIdx.x; k++) s = s * 0.999f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void some_long(const int *lengths, float *out) { /* one block in 64 takes 32 times as long */
    float s = threadIdx.x;
    for (int k = 0; k < lengths[blockIdx.x]; k++) s = s * 0.999f + 0.5f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void by_lane(float *out, int rounds) { /* each lane of a warp has another number of rounds */
    float s = 1;
    for (unsigned k = 0; k < threadIdx.x % 32 * rounds; k++) s = s * 1.001f + 0.1f;
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
__global__ void by_parity(const float *in, float *out) { /* odd and even lanes go different ways */
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    if (i % 2)
        for (int k = 0; k < 32; k++) x = x * x + 0.1f;
    else
        for (int k = 0; k < 32; k++) x = sqrtf(x + 0.1f);
    out[i] = x;
}
__global__ void much_shared(const float *in, float *out) { /* 40 KiB a block: few blocks fit an SM */
    __shared__ float s[10240];
    for (int i = threadIdx.x; i < 10240; i += 128) s[i] = in[(blockIdx.x & 255) * 10240 + i];
    __syncthreads();
    float v = 0;
    for (int i = 0; i < 80; i++) v += s[(threadIdx.x * 33 + i * 128) % 10240];
    out[blockIdx.x * 128 + threadIdx.x] = v;
}
__global__ void private_table(const unsigned *in, unsigned *out,
                              int each) { /* an array that only local memory can hold */
    unsigned table[64] = {}, sum = 0;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < each; k++) table[in[(i + k * 4096) & (MEBI - 1)] & 63]++;
    for (int k = 0; k < 64; k++) sum = sum * 31 + table[k];
    out[i] = sum;
}
__global__ void scale(const float *in, float *out, float f) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * f;
}
__global__ void add(const float *x, const float *y, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + y[i];
}

static void setup() {
    u = filled<unsigned>(N + 1, mixed), r = zeroed<unsigned>(N + 1);
    text = filled<char>(TEXT, [](size_t i) { return " abcdefghijklmnopqrstuvwxyz cuda"[mixed(i / 2) >> 27]; });
    other = zeroed<char>(TEXT);
    a = filled<float>(4 * MEBI, unit), b = zeroed<float>(4 * MEBI), c = zeroed<float>(4 * MEBI);
    lengths = filled<int>(4096, [](size_t i) { return i % 64 == 63 ? 8192 : 256; });
    MUST(cudaStreamCreate(&one));
    MUST(cudaStreamCreate(&two));
}

static const fidelity_test tests[] = {
    COLD("integer/greatest common divisor, 2^20", 1, gcd<<<4096, 256>>>(u, r)),
    COLD("integer/Collatz, 2^17", 1, collatz<<<512, 256>>>(r)),
    COLD("integer/primes by division, 2^16", 1, primes<<<256, 256>>>(r)),
    COLD("integer/bits, 2^20", 1, ones<<<4096, 256>>>(u, r)),
    COLD("integer/hash, 64 rounds, 2^19", 1, hash<<<2048, 256>>>(u, r, 64)),
    COLD("integer/powers modulo, 2^17", 1, powers_modulo<<<512, 256>>>(u, r, 1000003)),
    COLD("integer/game of life, 1024 x 1024", 1,
         life<<<dim3(32, 128), dim3(32, 8)>>>((unsigned char *)u, (unsigned char *)r, 1024, 1024)),
    COLD("strings/upper case, 2^22", 1, upper<<<16384, 256>>>(text, other, TEXT)),
    COLD("strings/Caesar, four bytes, 2^22", 1, caesar<<<4096, 256>>>((uchar4 *)text, (uchar4 *)other, 3)),
    COLD("strings/find a word, 2^22", 1, find<<<16384, 256>>>(text, TEXT, r)),
    COLD("strings/count words, 2^22", 1, count_words<<<528, 256>>>(text, TEXT, r)),
    COLD("strings/edit distance, 512 pairs", 1, edit_distance<<<512, 128>>>(text, text + 65536, (int *)r)),
    COLD("strings/CRC by bits, 2^20", 1, checksum<<<64, 128>>>((unsigned char *)text, r, 128)),
    COLD("shapes/one thread, 4096 floats", 1, serial<<<1, 1>>>(a, b, 4096)),
    COLD("shapes/one block, 2^18 floats", 1, square<<<1, 256>>>(a, b, 1 << 18)),
    COLD("shapes/8 blocks, 2^20 floats", 1, square<<<8, 256>>>(a, b, 1 << 20)),
    COLD("shapes/132 blocks of 64, 2^20 floats", 1, square<<<132, 64>>>(a, b, 1 << 20)),
    COLD("shapes/133 blocks of 1024, 2^22 floats", 1, square<<<133, 1024>>>(a, b, 4 * MEBI)),
    COLD("shapes/triangle, 1024 blocks", 1, triangle<<<1024, 128>>>(a, b, N)),
    COLD("shapes/some long blocks", 1, some_long<<<4096, 256>>>(lengths, b)),
    COLD("shapes/by lane, 2^18", 1, by_lane<<<1024, 256>>>(b, 16)),
    COLD("shapes/odd and even lanes, 2^19", 1, by_parity<<<2048, 256>>>(a, b)),
    COLD("shapes/40 KiB of shared memory a block", 1, much_shared<<<1024, 128>>>(a, b)),
    COLD("shapes/private table of 64 words, 2^15", 1, private_table<<<128, 256>>>(u, r, 64)),
    WARM("series/scale twice, 4 MiB", 2, scale<<<4096, 256>>>(a, b, 2); scale<<<4096, 256>>>(b, c, 3)),
    WARM("series/scale twice, 16 MiB", 2, scale<<<16384, 256>>>(a, b, 2); scale<<<16384, 256>>>(b, c, 3)),
    COLD("series/scale twice, cold, 16 MiB", 2, scale<<<16384, 256>>>(a, b, 2); scale<<<16384, 256>>>(b, c, 3)),
    WARM("series/square, scale, add, 8 MiB", 3, square<<<1056, 256>>>(a, b, 2 * MEBI); scale<<<8192, 256>>>(b, c, 3);
         add<<<8192, 256>>>(b, c, b)),
    WARM("series/8 small launches in place, 1 MiB", 8, for (int i = 0; i < 8; i++) scale<<<1024, 256>>>(b, b, 1.01f)),
    COLD("streams/two that fill half the SMs", 2, some_long<<<64, 256, 0, one>>>(lengths, b);
         some_long<<<64, 256, 0, two>>>(lengths + 64, c)),
    COLD("streams/memory beside arithmetic", 2, scale<<<16384, 256, 0, one>>>(a, b, 2);
         by_lane<<<132, 128, 0, two>>>(c, 128)),
    COLD("streams/two that read, 16 MiB each", 2, scale<<<16384, 256, 0, one>>>(a, b, 2);
         scale<<<16384, 256, 0, two>>>(a, c, 2)),
};
FIDELITY_MAIN(setup, tests)

// DPX, CUDA's functions for dynamic programming, on the device and on the host: each is held against a formula in 64
// bits, lane by lane. With -DPRINT the program prints a sum of all values of each function instead; the test has the
// sums that nvcc's own functions give.
#include <cstdint>
#include <cstdio>

enum { WORDS = 4096, MOST = 64 };

// The arguments of a turn: neighbours of the ends of each range, and anything.
__host__ __device__ inline uint32_t word(int t, uint32_t k) {
    uint32_t any = (uint32_t)(t + 1) * 0x9E3779B9u * (k * 2 + 1);
    any ^= any >> 15;
    const uint32_t ends[] = {0, 0x7fff8000u, 0x80007fffu, 0xffff0001u, 0x7fffffffu, 0x80000000u, 0xffffffffu, 1};
    if (any >> 28 < 6) return ends[any & 7];
    return any >> 28 < 8 ? (uint32_t)(t + 1) * 0xC2B2AE35u : any * 0x85EBCA6Bu; // some are equal
}

// NAME, signed?, bits of a lane, value of the lanes x, y, z and s, the sum of x and y that has wrapped around.
#define MOST2(x, y)  ((x) > (y) ? (x) : (y))
#define LEAST2(x, y) ((x) < (y) ? (x) : (y))
#define MOST3        MOST2(MOST2(x, y), z)
#define LEAST3       LEAST2(LEAST2(x, y), z)
#define OF_THREE(F, name, value)                                                                                       \
    F(name##_s32, true, 32, value)                                                                                     \
    F(name##_u32, false, 32, value)                                                                                    \
    F(name##_s16x2, true, 16, value)                                                                                   \
    F(name##_u16x2, false, 16, value)                                                                                  \
    F(name##_s32_relu, true, 32, MOST2(value, 0))                                                                      \
    F(name##_s16x2_relu, true, 16, MOST2(value, 0))
#define THREE(F)                                                                                                       \
    OF_THREE(F, __vimax3, MOST3)                                                                                       \
    OF_THREE(F, __vimin3, LEAST3)                                                                                      \
    OF_THREE(F, __viaddmax, MOST2(s, z))                                                                               \
    OF_THREE(F, __viaddmin, LEAST2(s, z))
#define TWO(F)                                                                                                         \
    F(__vimax_s32_relu, true, 32, MOST2(MOST2(x, y), 0))                                                               \
    F(__vimin_s32_relu, true, 32, MOST2(LEAST2(x, y), 0))                                                              \
    F(__vimax_s16x2_relu, true, 16, MOST2(MOST2(x, y), 0))                                                             \
    F(__vimin_s16x2_relu, true, 16, MOST2(LEAST2(x, y), 0))
#define TOLD(F)                                                                                                        \
    F(__vibmax_s32, true, 32, MOST2(x, y), x >= y)                                                                     \
    F(__vibmin_s32, true, 32, LEAST2(x, y), x <= y)                                                                    \
    F(__vibmax_u32, false, 32, MOST2(x, y), x >= y)                                                                    \
    F(__vibmin_u32, false, 32, LEAST2(x, y), x <= y)
#define TOLD_TWICE(F)                                                                                                  \
    F(__vibmax_s16x2, true, 16, MOST2(x, y), x >= y)                                                                   \
    F(__vibmin_s16x2, true, 16, LEAST2(x, y), x <= y)                                                                  \
    F(__vibmax_u16x2, false, 16, MOST2(x, y), x >= y)                                                                  \
    F(__vibmin_u16x2, false, 16, LEAST2(x, y), x <= y)

// All functions of the arguments; the upper word has the predicates.
__host__ __device__ inline void compute(int t, uint64_t *out) {
    uint32_t a = word(t, 1), b = word(t, 2), c = word(t, 3);
    bool high = false, low = false;
#define F(name, ...) *out++ = (uint32_t)name(a, b, c);
    THREE(F)
#undef F
#define F(name, ...) *out++ = (uint32_t)name(a, b);
    TWO(F)
#undef F
#define F(name, ...)                                                                                                   \
    *out = (uint32_t)name(a, b, &low);                                                                                 \
    *out++ |= (uint64_t)low << 32;
    TOLD(F)
#undef F
#define F(name, ...)                                                                                                   \
    *out = (uint32_t)name(a, b, &high, &low);                                                                          \
    *out++ |= (uint64_t)high << 33 | (uint64_t)low << 32;
    TOLD_TWICE(F)
#undef F
}

static int64_t lane(uint64_t v, bool is_signed, int bits) {
    int64_t x = (int64_t)(v & ((1ull << bits) - 1)), top = 1ll << (bits - 1);
    return is_signed ? (x ^ top) - top : x;
}
static void expect(int t, uint64_t *out) {
    uint32_t a = word(t, 1), b = word(t, 2), c = word(t, 3);
#define F(name, is_signed, bits, value, ...)                                                                           \
    *out = 0;                                                                                                          \
    for (int i = 0; i < 32; i += bits) {                                                                               \
        int64_t x = lane(a >> i, is_signed, bits), y = lane(b >> i, is_signed, bits);                                  \
        int64_t z = lane(c >> i, is_signed, bits), s = lane((uint64_t)(x + y), is_signed, bits);                       \
        (void)z, (void)s;                                                                                              \
        *out |= ((uint64_t)(value) & ((1ull << bits) - 1)) << i;                                                       \
        *out |= (uint64_t)(__VA_ARGS__ + 0) << (32 + i / bits);                                                        \
    }                                                                                                                  \
    out++;
    THREE(F)
    TWO(F)
    TOLD(F)
    TOLD_TWICE(F)
#undef F
}

static const char *const names[] = {
#define F(name, ...) #name,
    THREE(F) TWO(F) TOLD(F) TOLD_TWICE(F)
#undef F
};
enum { FUNCTIONS = sizeof names / sizeof *names };
static_assert(FUNCTIONS == 36, "the list of CUDA's Math API");

__global__ void kernel(uint64_t (*out)[MOST]) {
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    compute(t, out[t]);
}

static uint64_t device[WORDS][MOST], want[MOST], host[MOST], sums[MOST];

int main() {
    bool differ[MOST] = {};
    int agree = 0;
#ifndef HOST_ONLY
    uint64_t(*got)[MOST];
    if (cudaMalloc(&got, sizeof device)) return 2;
    kernel<<<WORDS / 128, 128>>>(got);
    if (cudaMemcpy(device, got, sizeof device, cudaMemcpyDeviceToHost)) return 2;
#endif
    for (int t = 0; t < WORDS; t++) {
        compute(t, host);
        expect(t, want);
        for (int n = 0; n < FUNCTIONS; n++) {
#ifdef HOST_ONLY
            device[t][n] = host[n];
#endif
            sums[n] = sums[n] * 31 + device[t][n];
            if ((device[t][n] == want[n] && host[n] == want[n]) || differ[n]) continue;
            differ[n] = true;
            printf("%s(%x, %x, %x): %llx on the device, %llx on the host, want %llx\n", names[n], word(t, 1),
                   word(t, 2), word(t, 3), (unsigned long long)device[t][n], (unsigned long long)host[n],
                   (unsigned long long)want[n]);
        }
    }
    for (int n = 0; n < FUNCTIONS; n++) {
        agree += !differ[n];
#ifdef PRINT
        printf("%s %016llx\n", names[n], (unsigned long long)sums[n]);
#endif
    }
    printf("%d of %d functions agree\n", agree, (int)FUNCTIONS);
    return agree != FUNCTIONS;
}

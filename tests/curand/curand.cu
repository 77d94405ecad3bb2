// Numbers of each generator and distribution of curand_kernel.h, as bits, for several seeds, sequences and offsets.
// h200.txt has what a GPU prints; compare.c holds this against it.
#include <cstdio>
#include <curand_kernel.h>
template <class S>
__global__ void run(unsigned long long seed, unsigned long long sub, unsigned long long off, int kind) {
    S s;
    curand_init(seed, sub, off, &s);
    switch (kind) {
    case 0:
        for (int i = 0; i < 9; i++) printf(" %08x", curand(&s));
        break;
    case 1:
        for (int i = 0; i < 5; i++) printf(" %08x", __float_as_int(curand_uniform(&s)));
        break;
    case 2:
        for (int i = 0; i < 5; i++) printf(" %08x", __float_as_int(curand_normal(&s)));
        break;
    case 3:
        for (int i = 0; i < 5; i++) printf(" %016llx", __double_as_longlong(curand_uniform_double(&s)));
        break;
    case 4:
        for (int i = 0; i < 5; i++) printf(" %016llx", __double_as_longlong(curand_normal_double(&s)));
        break;
    case 5:
        for (int i = 0; i < 9; i++) printf(" %u", curand_poisson(&s, i < 5 ? 3.5 : 100.0));
        break;
    case 6:
        for (int i = 0; i < 5; i++) printf(" %08x", __float_as_int(curand_log_normal(&s, 0.5f, 0.25f)));
        break;
    case 7: {
        float2 v = curand_normal2(&s);
        printf(" %08x %08x", __float_as_int(v.x), __float_as_int(v.y));
        double2 d = curand_normal2_double(&s);
        printf(" %016llx %016llx then %08x", __double_as_longlong(d.x), __double_as_longlong(d.y), curand(&s));
        break;
    }
    case 8:
        skipahead(1000000007ull, &s);
        printf(" %08x", curand(&s));
        skipahead_sequence(12345ull, &s);
        printf(" %08x %08x", curand(&s), curand(&s));
        break;
    }
    printf("\n");
}
__global__ void four(unsigned long long seed, unsigned long long sub, unsigned long long off) {
    curandStatePhilox4_32_10_t s;
    curand_init(seed, sub, off, &s);
    for (int i = 0; i < 3; i++) {
        uint4 u = curand4(&s);
        printf(" %08x %08x %08x %08x;", u.x, u.y, u.z, u.w);
    }
    float4 f = curand_uniform4(&s);
    printf(" %08x %08x %08x %08x;", __float_as_int(f.x), __float_as_int(f.y), __float_as_int(f.z), __float_as_int(f.w));
    f = curand_normal4(&s);
    printf(" %08x %08x %08x %08x;", __float_as_int(f.x), __float_as_int(f.y), __float_as_int(f.z), __float_as_int(f.w));
    double2 d = curand_uniform2_double(&s);
    printf(" %016llx %016llx;", __double_as_longlong(d.x), __double_as_longlong(d.y));
    d = curand_normal2_double(&s);
    printf(" %016llx %016llx; %08x\n", __double_as_longlong(d.x), __double_as_longlong(d.y), curand(&s));
}
int main() {
    unsigned long long cases[][3] = {{0, 0, 0},
                                     {1234, 0, 0},
                                     {1234, 1, 0},
                                     {1234, 77, 3},
                                     {0x123456789abcdefull, 1023, 5},
                                     {42, 1ull << 40, 1000000}};
    for (auto &c : cases) {
        for (int k = 0; k < 9; k++) {
            printf("xorwow %llx %llu %llu %d:", c[0], c[1], c[2], k);
            fflush(stdout);
            run<curandState><<<1, 1>>>(c[0], c[1], c[2], k);
            cudaDeviceSynchronize();
        }
        for (int k = 0; k < 9; k++) {
            printf("philox %llx %llu %llu %d:", c[0], c[1], c[2], k);
            fflush(stdout);
            run<curandStatePhilox4_32_10_t><<<1, 1>>>(c[0], c[1], c[2], k);
            cudaDeviceSynchronize();
        }
        printf("philox4 %llx %llu %llu:", c[0], c[1], c[2]);
        fflush(stdout);
        four<<<1, 1>>>(c[0], c[1], c[2]);
        cudaDeviceSynchronize();
    }
}

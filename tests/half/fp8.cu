// What cuda_fp8.h makes of every half and bfloat16, of doubles and floats at each boundary, and of every 8-bit number:
// a sum for each function and kind, on the host and, without the argument `host`, on the device. The golden file is
// what NVIDIA's own header gives on a host:
// CUDA 13.0, nvcc tests/half/fp8.cu && ./a.out host >tests/half/fp8.nvidia
#include <cstdio>
#include <cstring>
#include <cuda_fp8.h>

enum { FUNCTIONS = 12, KINDS = 4 };

template <class T, class T2, class T4> __host__ __device__ unsigned members(float f) {
    T2 two(make_float2(f, 1 - f));
    T4 four(make_float4(f, 2 * f, -f, 0.5f));
    float4 back = (float4)four;
    T one(f), whole((int)(f < 1e6f && f > -1e6f ? f : 7));
    return one.__x + two.__x * 3u + four.__x * 5u + whole.__x * 7u + (unsigned)(int)one +
           (unsigned)(unsigned char)one * 11u + (unsigned)(back.x == (float)one) + (unsigned)(bool)one;
}

// One function's sum over every `step`th input, each result times a number of its own. Of a NaN's bits as a half, whose
// sign NVIDIA's host and cards differ in, only that it is one.
__host__ __device__ unsigned long long sum(int function, int kinds, unsigned first, unsigned step) {
    const __nv_fp8_interpretation_t kind = kinds & 1 ? __NV_E5M2 : __NV_E4M3;
    const __nv_saturation_t saturate = kinds & 2 ? __NV_SATFINITE : __NV_NOSAT;
    unsigned long long h = 0;
    for (unsigned i = first; i < 65536; i += step) {
        unsigned r = 0;
        __half_raw half;
        __nv_bfloat16_raw bf;
        __half2_raw pair;
        __nv_bfloat162_raw bfs;
        half.x = bf.x = pair.x = bfs.x = (unsigned short)i;
        pair.y = bfs.y = (unsigned short)(i * 40503u);
        // All the numbers near one with few bits: exponent, sign and five bits of fraction from i, then a little more
        // or less.
        unsigned long long bits =
            (unsigned long long)(i >> 15) << 63 | (unsigned long long)(1023 - 24 + (i >> 9 & 63)) << 52 |
            (unsigned long long)(i >> 3 & 63) << 46 | (i & 4 ? ((unsigned long long)(i & 3) << 20) : (i & 3));
        if ((i & 7) == 3) bits -= 2;
        double d;
        memcpy(&d, &bits, 8);
        if (i == 5) d = 1e300 * 1e10;
        if (i == 6) d = -1e-300;
        const float f = (float)d;
        switch (function) {
        case 0: r = __nv_cvt_halfraw_to_fp8(half, saturate, kind); break;
        case 1: r = __nv_cvt_bfloat16raw_to_fp8(bf, saturate, kind); break;
        case 2: r = __nv_cvt_halfraw2_to_fp8x2(pair, saturate, kind); break;
        case 3: r = __nv_cvt_bfloat16raw2_to_fp8x2(bfs, saturate, kind); break;
        case 4: r = __nv_cvt_double_to_fp8(d, saturate, kind); break;
        case 5: r = __nv_cvt_float_to_fp8(f, saturate, kind); break;
        case 6: r = __nv_cvt_double2_to_fp8x2(make_double2(d, -d), saturate, kind); break;
        case 7: r = __nv_cvt_float2_to_fp8x2(make_float2(f, 3 * f), saturate, kind); break;
        case 8:
            half = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)i, kind);
            r = (half.x & 0x7fff) > 0x7c00 ? 0x7fff : half.x;
            break;
        case 9:
            pair = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)i, kind);
            r = (pair.x & 0x7fff) > 0x7c00 ? 0x7fff : pair.x;
            r |= (unsigned)((pair.y & 0x7fff) > 0x7c00 ? 0x7fff : pair.y) << 16;
            break;
        case 10: r = members<__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(f); break;
        case 11: r = members<__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(f); break;
        }
        h += (r + 1ull) * (i * 0x9e3779b97f4a7c15ull | 1);
    }
    return h;
}
__global__ void sums(unsigned long long *h) {
    atomicAdd(&h[blockIdx.x], sum((int)blockIdx.x / KINDS, (int)blockIdx.x % KINDS, threadIdx.x, blockDim.x));
}

int main(int argc, char **) {
    static unsigned long long h[FUNCTIONS * KINDS];
    for (int f = 0; f < FUNCTIONS; f++)
        for (int k = 0; k < KINDS; k++) printf("%d %d %016llx\n", f, k, sum(f, k, 0, 1));
    if (argc > 1) return 0;
    unsigned long long *d;
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    sums<<<FUNCTIONS * KINDS, 128>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    puts(cudaGetErrorString(cudaGetLastError()));
    for (int f = 0; f < FUNCTIONS; f++)
        for (int k = 0; k < KINDS; k++) printf("%d %d %016llx\n", f, k, h[f * KINDS + k]);
}

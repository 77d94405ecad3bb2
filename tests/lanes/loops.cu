/* loops.cu — lanes that leave loops and go on in them in many ways. The host computes the same, lane by lane. Prints
 * for each function how many lanes differ, and how many are together with their whole warp afterwards. */
#include <cstdio>
#include <cuda_runtime.h>

enum { LANES = 256, MOST = 60 };

__host__ __device__ inline unsigned hashed(unsigned x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

/* The inner loop goes on with the outer one's next turn, past where the lanes of an `if` in front of it meet. */
__host__ __device__ __attribute__((noinline)) unsigned next_outer_turn(unsigned x) {
    unsigned turns = 0, y = x;
    for (;;) {
        if (hashed(x) & 1) {
            y += x * 3;
            x = hashed(x + 7);
            if (turns++ < 50 && (x & 4)) continue;
            y ^= 5;
        }
        for (;;) {
            x = hashed(x + 1);
            if (turns++ < 50 && (x & 3) == 1) goto next;
            y += x;
            if ((x & 3) == 2 || turns > MOST) break;
        }
        y = hashed(y) + 3;
        x += y;
        if ((y & 7) < 2 || turns > MOST) break;
    next:
        x ^= y * 9;
    }
    return y + x;
}

/* Out of two loops at once, to the end of the function or behind both. */
__host__ __device__ __attribute__((noinline)) unsigned out_of_two(unsigned x) {
    unsigned y = 0;
    for (unsigned turns = 0; turns < MOST; turns++) {
        x = hashed(x + turns);
        for (unsigned k = x % 5; k < 7; k++) {
            if ((x + k) % 11 == 3) continue;
            if ((x ^ k) % 13 == 5) goto behind;
            if ((x ^ k) % 29 == 7) return y * 2;
            y += hashed(k);
            if (y % 17 == 2) break;
        }
        if (y % 7 == 4) continue;
        y ^= x;
    }
behind:
    return y + 1;
}

/* What happens in a turn is one of several things, of which some end it and some end the loop. */
__host__ __device__ __attribute__((noinline)) unsigned one_of_several(unsigned x) {
    unsigned y = 1;
    for (unsigned turns = 0; turns < MOST; turns++) {
        x = hashed(x);
        switch (x % 6) {
        case 0: y += x; continue;
        case 1: y ^= x >> 3; break;
        case 2:
            if (y % 5 == 1) return y;
            y *= 3;
            continue;
        case 3:
            while (y % 3 == 1) y = hashed(y) % 64;
            break;
        case 4: y += next_outer_turn(y) & 7; break;
        default:
            if (turns > 20 && (y & 1)) goto done;
        }
        y = y * 5 + 1;
    }
done:
    return y;
}

template <unsigned (*F)(unsigned)> __host__ __device__ unsigned some_call(unsigned x) {
    unsigned y = x;
    if (hashed(x) & 3) {
        y = F(x) + 1;
        if (y & 1) y ^= F(y);
    }
    return y;
}
template <unsigned (*F)(unsigned)> __global__ void kernel(unsigned *out, unsigned *together) {
    const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    out[t] = some_call<F>(t);
    if (__activemask() == 0xffffffffu) atomicAdd(together, 1);
}
template <unsigned (*F)(unsigned)> static void check(const char *name) {
    unsigned *out, host[LANES + 1], differ = 0;
    cudaMalloc(&out, sizeof host);
    cudaMemset(out, 0, sizeof host);
    kernel<F><<<2, LANES / 2>>>(out, out + LANES);
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (unsigned t = 0; t < LANES; t++) differ += host[t] != some_call<F>(t);
    printf("%s %u %u%s\n", name, differ, host[LANES], cudaGetLastError() ? " failed" : "");
    cudaFree(out);
}

int main() {
    check<next_outer_turn>("next_outer_turn");
    check<out_of_two>("out_of_two");
    check<one_of_several>("one_of_several");
    return 0;
}

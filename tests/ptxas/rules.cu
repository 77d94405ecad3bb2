// rules.cu — what ptxas does with integers of 64 bits, with the smallest of some, and with branches in loops: one warp
// a kernel.
#include <cuda_runtime.h>

enum { LIMBS = 8, TURNS = 64, FEW = 16 };

// Big numbers: limb by limb, with a carry. The upper half of nearly all is 0.
__global__ void limbs(const unsigned *a, const unsigned *b, unsigned *out) {
    unsigned t[LIMBS] = {0}, x[LIMBS], y[LIMBS];
    for (int j = 0; j < LIMBS; j++) x[j] = a[threadIdx.x * LIMBS + j], y[j] = b[threadIdx.x * LIMBS + j];
    for (int i = 0; i < LIMBS; i++) {
        unsigned long long carry = 0;
        for (int j = 0; j < LIMBS; j++) {
            carry += (unsigned long long)x[j] * y[i] + t[j];
            t[j] = (unsigned)carry;
            carry >>= 32;
        }
    }
    for (int j = 0; j < LIMBS; j++) out[threadIdx.x * LIMBS + j] = t[j];
}

// The largest of sums and of others, at least 0: VIADDMNMX.RELU and VIMNMX3 of sm_90.
__global__ void largest(const int *in, int *out) {
    int v[32], most = in[threadIdx.x];
    for (int k = 0; k < 32; k++) v[k] = in[k * 32 + threadIdx.x];
    for (int k = 0; k < 32; k += 4) most = max(max(max(most, v[k]), max(v[k + 1] - 1, v[k + 2] + v[k + 3])), 0);
    out[threadIdx.x] = most;
}

// Rows in turn: the counter, divided, goes into addresses of shared memory; and a loop with barriers and an `if`.
__global__ void rows(const int *in, int *out, int turns) {
    __shared__ int row[3][33];
    const int t = threadIdx.x;
    for (int k = 0; k < 3; k++) row[k][t + 1] = row[k][0] = 0;
    __syncthreads();
    int most = 0;
    for (int k = 0; k < turns; k++) {
        int j = k - t, score = 0;
        if (j >= 0 && j < turns / 2) {
            score = row[(k + 1) % 3][t] + in[j];
            score = max(score, row[(k + 2) % 3][t] - in[j + 1]);
            score = max(score, row[(k + 2) % 3][t + 1] - in[j + 2]);
            most = max(most, score);
        }
        row[k % 3][t + 1] = score;
        __syncthreads();
    }
    out[t] = most;
}

// A root under a condition that no lane has, in a loop: a branch skips it, since it is a sequence with a branch in it.
__global__ void roots(float *in, int n) {
    __shared__ float x[32];
    x[threadIdx.x] = in[threadIdx.x];
    for (int k = 0; k < n; k++) {
        if (threadIdx.x + 32 == k) x[k % 32] = sqrtf(x[k % 32]);
        __syncthreads();
    }
    in[threadIdx.x] = x[threadIdx.x];
}

int main() {
    unsigned host[1024], *in, *out;
    for (unsigned k = 0, x = 1; k < 1024; k++) host[k] = x = x * 1103515245 + 12345;
    cudaMalloc(&in, sizeof host), cudaMalloc(&out, sizeof host);
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    limbs<<<1, 32>>>(in, in + 256, out);
    largest<<<1, 32>>>((int *)in, (int *)out);
    rows<<<1, 32>>>((int *)in, (int *)out, TURNS);
    roots<<<1, 32>>>((float *)out, 32);
    return cudaDeviceSynchronize();
}

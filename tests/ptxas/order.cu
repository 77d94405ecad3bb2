// order.cu — what ptxas leaves in the order of the source, and what it makes one: neighbours in shared memory whose
// place only the loop around them tells, and loads behind divisions, branches and calls, which stay there.
#include <cuda_runtime.h>

enum { K = 16, LONG = 1024 };

// Four by four sums of a thread: for each k four words of a column of `a`, four neighbours of a row of `b`.
__global__ void product(const float *in, float *out) {
    __shared__ float a[K][K], b[K][32];
    const int t = threadIdx.x, ty = t / 8, tx = t % 8;
    for (int i = t; i < K * K; i += 32) a[i / K][i % K] = in[i];
    for (int i = t; i < K * 32; i += 32) b[i / 32][i % 32] = in[i];
    __syncthreads();
    float sums[4][4] = {{0}};
    for (int k = 0; k < K; k++) {
        float left[4], right[4];
        for (int i = 0; i < 4; i++) left[i] = a[4 * ty + i][k];
        for (int j = 0; j < 4; j++) right[j] = b[k][4 * tx + j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) sums[i][j] += left[i] * right[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) out[(4 * ty + i) * 32 + 4 * tx + j] = sums[i][j];
}
// All lanes read three words of each float4.
__global__ void points(const float4 *in, float *out) {
    __shared__ float4 all[32];
    all[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
#pragma unroll 4
    for (int k = 0; k < 32; k++) sum = sum * all[k].x + all[k].y * all[k].z;
    out[threadIdx.x] = sum;
}
// A way that no warp takes, since all words are 0.75.
__global__ void rarely(const float *in, const float *by, float *out, int n) {
    float sum = 0;
    for (int k = 0; k < n; k++)
        if (in[k] > 1) sum += sqrtf(in[k]) / by[k];
    out[threadIdx.x] = sum;
}
// Four such ways after each other, in each turn.
__global__ void meets(const float4 *in, float *out, int n, float far) {
    __shared__ float4 all[32];
    all[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int first = 0; first < n; first += 32)
#pragma unroll 4
        for (int k = 0; k < 32; k++) {
            const float x = all[k].x - sum, y = all[k].y, z = all[k].z, square = x * x + y * y + z * z;
            if (square > far) {
                const float by = 1 / square;
                sum += by * by * by * (by - 1) + (by * x - y) * (by * x + z);
            }
        }
    out[threadIdx.x] = sum;
}
__global__ void behind_division(const float *a, const float *b, float *out) {
    const float left = a[threadIdx.x] / b[threadIdx.x];
    out[threadIdx.x] = left + b[threadIdx.x + 4096];
}
__global__ void behind_product(const float *a, const float *b, float *out) {
    const float left = a[threadIdx.x] * b[threadIdx.x];
    out[threadIdx.x] = left + b[threadIdx.x + 4096];
}
__global__ void behind_call(const float *a, const float *b, float *out) {
    out[threadIdx.x] = b[(int)expf(a[threadIdx.x]) * 1024];
}
__global__ void behind_sum(const float *a, const float *b, float *out) {
    out[threadIdx.x] = b[(int)(a[threadIdx.x] + 1) * 1024];
}

__constant__ float table[8 * 32], scene[64][3];
// A row of eight words of constant memory for each lane.
__global__ void rows_of_constants(float *out) {
    float sum = 0;
    for (int k = 0; k < 8; k++) sum += table[8 * threadIdx.x + k] * out[k];
    out[threadIdx.x] = sum;
}
// Words of constant memory that no lane wants, since all words of `in` are 0.75; ptxas loads them in any case. Where
// lanes may part for a root and a quotient, it loads them for each lane.
__global__ void skipped_constants(const float *in, float *out, int n) {
    float x = 0, y = 0, least = 1 + threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (in[threadIdx.x] > least) x += sqrtf(least) / in[k];
        if (in[k] > least) {
            x = scene[k][0];
            y = scene[k][1];
            least = scene[k][2];
        }
    }
    out[threadIdx.x] = x + y;
}
// Half a warp reads sixteen doubles one after another.
__global__ void doubles(const double *in, double *out) {
    __shared__ double all[32];
    all[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    const double *row = all + 16 * (threadIdx.x / 16);
    double sum = 0;
    for (int k = 0; k < 16; k++) sum = sum * row[k] + 1;
    out[threadIdx.x] = sum;
}

int main() {
    float *in, *out;
    cudaMalloc(&in, 1 << 20), cudaMalloc(&out, 4096);
    cudaMemset(in, 0x3f, 1 << 20);
    product<<<1, 32>>>(in, out);
    points<<<1, 32>>>((float4 *)in, out);
    rarely<<<1, 32>>>(in, in + LONG, out, LONG);
    meets<<<1, 32>>>((float4 *)in, out, LONG, 9);
    behind_division<<<1, 32>>>(in + (1 << 13), in + (2 << 13), out);
    behind_product<<<1, 32>>>(in + (4 << 13), in + (5 << 13), out);
    behind_call<<<1, 32>>>(in + (8 << 13), in + (9 << 13), out);
    behind_sum<<<1, 32>>>(in + (12 << 13), in + (13 << 13), out);
    rows_of_constants<<<1, 32>>>(out);
    skipped_constants<<<1, 32>>>(in, out, 64);
    doubles<<<1, 32>>>((double *)in, (double *)out);
    return cudaDeviceSynchronize();
}

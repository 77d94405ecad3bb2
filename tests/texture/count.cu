/* count.cu — eight ways to read and write 512 x 512 floats through textures and surfaces, whose counters an H200 gave.
 */
#include <cuda_runtime.h>
#include <cstring>
__global__ void tex_row(cudaTextureObject_t t, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = tex2D<float>(t, i % 512 + 0.5f, i / 512 + 0.5f);
}
__global__ void tex_block(cudaTextureObject_t t, float *o) {
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y;
    o[y * 512 + x] = tex2D<float>(t, x + 0.5f, y + 0.5f);
}
__global__ void tex_column(cudaTextureObject_t t, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = tex2D<float>(t, i / 512 + 0.5f, i % 512 + 0.5f);
}
__global__ void tex_linear(cudaTextureObject_t t, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = tex2D<float>(t, i % 512 + 1.0f, i / 512 + 1.0f);
}
__global__ void tex_fetch(cudaTextureObject_t t, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = tex1Dfetch<float>(t, i);
}
__global__ void tex_fetch4(cudaTextureObject_t t, float4 *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    o[i] = tex1Dfetch<float4>(t, i);
}
__global__ void surf_row(cudaSurfaceObject_t s) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    surf2Dwrite(1.0f, s, i % 512 * 4, i / 512);
}
__global__ void surf_rd(cudaSurfaceObject_t s, float *o) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    surf2Dread(o + i, s, i % 512 * 4, i / 512);
}
int main() {
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(), d4 = cudaCreateChannelDesc<float4>();
    cudaMallocArray(&a, &d, 512, 512, cudaArraySurfaceLoadStore);
    cudaResourceDesc r;
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaTextureDesc td;
    memset(&td, 0, sizeof td);
    td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t p, l, f, f4;
    cudaSurfaceObject_t s;
    cudaCreateTextureObject(&p, &r, &td, 0);
    td.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&l, &r, &td, 0);
    cudaCreateSurfaceObject(&s, &r);
    float *o, *in;
    cudaMalloc(&o, 4 << 20);
    cudaMalloc(&in, 4 << 20);
    cudaMemset(in, 0, 4 << 20);
    memset(&r, 0, sizeof r);
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = in;
    r.res.linear.desc = d;
    r.res.linear.sizeInBytes = 4 << 20;
    td.filterMode = cudaFilterModePoint;
    cudaCreateTextureObject(&f, &r, &td, 0);
    r.res.linear.desc = d4;
    cudaCreateTextureObject(&f4, &r, &td, 0);
    tex_row<<<1024, 256>>>(p, o);
    tex_block<<<dim3(64, 128), dim3(8, 4)>>>(p, o);
    tex_column<<<1024, 256>>>(p, o);
    tex_linear<<<1024, 256>>>(l, o);
    tex_fetch<<<1024, 256>>>(f, o);
    tex_fetch4<<<1024, 256>>>(f4, (float4 *)o);
    surf_row<<<1024, 256>>>(s);
    surf_rd<<<1024, 256>>>(s, o);
    return (int)cudaDeviceSynchronize();
}

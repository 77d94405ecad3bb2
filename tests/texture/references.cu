// Texture references: bound to memory, to rows, to arrays; bound anew while a kernel is still to run; unbound. Surface
// references: written and read.
#include <cstdio>
#include <surface_functions.h>
#include <texture_fetch_functions.h>
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

texture<float, 2, cudaReadModeElementType> image;
texture<int> list;
static texture<uchar4, cudaTextureType1D, cudaReadModeNormalizedFloat> colours;

surface<void, cudaSurfaceType2D> canvas;
surface<void, 3> space;
__global__ void paint(float *out) {
    surf2Dwrite(threadIdx.x * 1.5f, canvas, threadIdx.x % 8 * 4, threadIdx.x / 8);
    out[threadIdx.x] = surf2Dread<float>(canvas, threadIdx.x % 8 * 4, threadIdx.x / 8) + 1;
    if (threadIdx.x == 0) surf2Dread(&out[0], canvas, -4, 99, cudaBoundaryModeZero);
}
__global__ void deepen(int *out) {
    surf3Dwrite(7, space, 4, 1, 1);
    surf3Dread(out, space, 4, 1, 1);
}
texture<float, 2> pyramid;
__global__ void climb(float *out) { out[0] = tex2DLod(pyramid, 0.5f, 0.5f, 1.0f); }

__global__ void read_image(float *out) {
    out[threadIdx.x] = tex2D(image, threadIdx.x % 8 + 0.5f, threadIdx.x / 8 + 0.5f);
}
__global__ void read_list(int *out) { out[threadIdx.x] = tex1Dfetch(list, threadIdx.x); }
__global__ void read_colours(float4 *out) { out[threadIdx.x] = tex1Dfetch(colours, threadIdx.x); }

template <class T> static T fetch(const T *device, int i) {
    T value;
    cudaMemcpy(&value, device + i, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}

int main() {
    float pixels[32], *out;
    for (int i = 0; i < 32; i++) pixels[i] = (float)(i * i);
    cudaMalloc(&out, 512);
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMallocArray(&array, &desc, 8, 4);
    cudaMemcpy2DToArray(array, 0, 0, pixels, 32, 32, 4, cudaMemcpyHostToDevice);
    printf("clamps_first %d\n", image.addressMode[0] == cudaAddressModeClamp);
    printf("to_array %d\n", cudaBindTextureToArray(image, array, desc));
    read_image<<<1, 32>>>(out);
    printf("array %g %g\n", fetch(out, 9), fetch(out, 31));

    float *rows;
    size_t pitch, offset;
    cudaMallocPitch(&rows, &pitch, 8 * sizeof *rows, 4);
    cudaMemcpy2D(rows, pitch, pixels + 8, 32, 32, 3, cudaMemcpyHostToDevice);
    image.filterMode = cudaFilterModeLinear;
    image.normalized = true;
    image.addressMode[0] = image.addressMode[1] = cudaAddressModeWrap;
    printf("to_rows %d\n", cudaBindTexture2D(&offset, image, rows, desc, 8, 3, pitch));
    read_image<<<1, 32>>>(out); // whole coordinates and a half: the middle, of columns 3 and 4 in row 1
    printf("rows %zu %g\n", offset, fetch(out, 9)); // (19 * 19 + 20 * 20) / 2

    int *a, *b, *first, *second, numbers[64];
    cudaMalloc(&a, sizeof numbers);
    cudaMalloc(&b, sizeof numbers);
    cudaMalloc(&first, sizeof numbers);
    cudaMalloc(&second, sizeof numbers);
    for (int i = 0; i < 64; i++) numbers[i] = 3 * i;
    cudaMemcpy(a, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    for (int i = 0; i < 64; i++) numbers[i] = -i;
    cudaMemcpy(b, numbers, sizeof numbers, cudaMemcpyHostToDevice);
    cudaBindTexture(nullptr, list, a);
    read_list<<<1, 64>>>(first);
    cudaBindTexture(nullptr, list, b, sizeof numbers);
    read_list<<<1, 64>>>(second);
    cudaUnbindTexture(list);
    printf("bound_anew %d %d\n", fetch(first, 63), fetch(second, 63));
    cudaBindTexture(&offset, list, a + 5);
    read_list<<<1, 8>>>(first);
    printf("behind_a_boundary %zu %d\n", offset, fetch(first, 5));

    unsigned char bytes[16];
    for (int i = 0; i < 16; i++) bytes[i] = (unsigned char)(17 * i);
    cudaMemcpy(b, bytes, sizeof bytes, cudaMemcpyHostToDevice);
    cudaBindTexture(nullptr, colours, b, sizeof bytes);
    read_colours<<<1, 4>>>((float4 *)out);
    printf("fractions %g %g\n", fetch(out, 3), fetch(out, 15));

    printf("no_memory %s\n", cudaGetErrorName(cudaBindTexture(nullptr, list, numbers, 64)));
    cudaChannelFormatDesc whole = cudaCreateChannelDesc<int>();
    printf("by_pointers %d\n", cudaBindTexture(&offset, &list, a + 5, &whole, 256 - 20));
    read_list<<<1, 8>>>(second);
    printf("as_by_reference %d\n", fetch(second, 5));
    printf("canvas %d\n", cudaBindSurfaceToArray(canvas, array));
    paint<<<1, 32>>>(out);
    cudaMemcpy2DFromArray(pixels, 32, array, 0, 0, 32, 4, cudaMemcpyDeviceToHost);
    printf("painted %g %g %g\n", pixels[31], fetch(out, 31), fetch(out, 0));
    cudaArray_t other, box;
    cudaMallocArray(&other, &desc, 8, 4);
    cudaBindSurfaceToArray(canvas, other, desc); // behind the launch
    paint<<<1, 1>>>(out);
    cudaMalloc3DArray(&box, &whole, make_cudaExtent(2, 2, 2));
    printf("space %d\n", cudaBindSurfaceToArray(&space, box, &whole));
    deepen<<<1, 1>>>(first);
    printf("deep %d\n", fetch(first, 0));
    cudaMipmappedArray_t levels;
    cudaMallocMipmappedArray(&levels, &desc, make_cudaExtent(2, 2, 0), 2);
    cudaArray_t top;
    const float apex = 9;
    cudaGetMipmappedArrayLevel(&top, levels, 1);
    cudaMemcpy2DToArray(top, 0, 0, &apex, 4, 4, 1, cudaMemcpyHostToDevice);
    pyramid.normalized = 1, pyramid.maxMipmapLevelClamp = 5;
    printf("pyramid %d\n", cudaBindTextureToMipmappedArray(pyramid, levels, desc));
    climb<<<1, 1>>>(out);
    printf("apex %g\n", fetch(out, 0));
    cudaUnbindTexture(&list);
    read_list<<<1, 1>>>(first);
    printf("unbound %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

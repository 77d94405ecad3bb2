// Texture references: bound to memory, to rows, to arrays; bound anew while a kernel is still to run; unbound.
#include <cstdio>
#include <texture_fetch_functions.h>
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

texture<float, 2, cudaReadModeElementType> image;
texture<int> list;
static texture<uchar4, cudaTextureType1D, cudaReadModeNormalizedFloat> colours;

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
    cudaUnbindTexture(&list);
    read_list<<<1, 1>>>(first);
    printf("unbound %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

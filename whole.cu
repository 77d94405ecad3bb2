#include <stdio.h>
__global__ void k() { printf("%d %d\n", __CUDA_ARCH__, VALUE); }
int main(int argc, char **argv) { k << <1, 1 >> > (); return cudaDeviceSynchronize() + argc - 1; }

// The heap of kernels, virtual functions, pointers to functions, recursion. Prints lines `name values`.
#include <cuda_runtime.h>
#include <cstdio>
struct Shape {
    __device__ virtual float area() const { return 0; }
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    float s;
    __device__ Square(float s) : s(s) {}
    __device__ float area() const override { return s * s; }
};
struct Circle : Shape {
    float r;
    __device__ Circle(float r) : r(r) {}
    __device__ float area() const override { return 3 * r * r; }
};
__global__ void make(Shape **p, int n) {
    for (int i = 0; i < n; i++) p[i] = i & 1 ? (Shape *)new Circle(i) : (Shape *)new Square(i);
}
__global__ void areas(Shape **p, int n, float *out) {
    int i = threadIdx.x;
    if (i < n) out[i] = p[i]->area();
}
__global__ void drop(Shape **p, int n) {
    for (int i = 0; i < n; i++) delete p[i];
}
typedef float (*op)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float mul(float a, float b) { return a * b; }
__device__ op table[2] = {add, mul};
__global__ void by_pointer(float *out) { out[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x, 3); }
__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__global__ void recurse(int *out) { out[threadIdx.x] = fib(threadIdx.x % 12); }
__global__ void lists(int *sum, int n) {
    struct node {
        int v;
        node *next;
    };
    node *first = NULL;
    for (int i = 1; i <= n; i++) {
        node *k = (node *)malloc(sizeof *k);
        if (!k) {
            printf("none\n");
            return;
        }
        k->v = i;
        k->next = first;
        first = k;
    }
    int s = 0;
    while (first) {
        s += first->v;
        node *k = first->next;
        free(first);
        first = k;
    }
    int *a = new int[10];
    for (int i = 0; i < 10; i++) a[i] = s;
    atomicAdd(sum, a[9]);
    delete[] a;
}
__global__ void big(int n, size_t bytes, void **kept, int *got) {
    for (int i = 0; i < n; i++) *got += (kept[i] = malloc(bytes)) != NULL;
    for (int i = 0; i < n; i++) free(kept[i]);
}
__global__ void bad_free(int which, int *device) {
    *(int *volatile *)(device + 4) = (int *)malloc(40); // so that the compiler keeps the calls
    int *p = *(int *volatile *)(device + 4);
    if (which == 0) free(device);
    if (which == 1) free(p), free(p);
    if (which == 2) p[10] = 1;
    if (which == 3) free(p), *p = 1;
}
int main() {
    Shape **p;
    float *out, h[64];
    int *o, ho[64];
    cudaMalloc(&p, 64 * sizeof *p);
    cudaMalloc(&out, sizeof h);
    cudaMalloc(&o, sizeof ho);
    cudaMemset(o, 0, sizeof ho);
    make<<<1, 1>>>(p, 10);
    areas<<<1, 32>>>(p, 10, out);
    drop<<<1, 1>>>(p, 10);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("areas %g %g %g\n", h[2], h[3], h[9]);
    by_pointer<<<1, 32>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("pointers %g %g\n", h[4], h[5]);
    recurse<<<1, 32>>>(o);
    cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost);
    printf("fib %d %d\n", ho[10], ho[11]);
    cudaMemset(o, 0, sizeof ho);
    lists<<<4, 64>>>(o, 20);
    cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost);
    printf("lists %d\n", ho[0]);
    cudaMemset(o, 0, sizeof ho);
    big<<<1, 1>>>(10, 1 << 20, (void **)p, o);
    cudaMemcpy(ho, o, sizeof ho, cudaMemcpyDeviceToHost);
    printf("big %d\n", ho[0]);
    size_t heap;
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize);
    printf("heap %zu %s\n", heap, cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20)));
    cudaDeviceReset();
    printf("limit %s", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 9000001)));
    cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize), printf(" %zu\n", heap);
    for (int k = 0; k < 4; k++) {
        cudaMalloc(&o, 64);
        bad_free<<<1, 1>>>(k, o);
        printf("bad %d %s\n", k, cudaGetErrorName(cudaDeviceSynchronize()));
        cudaDeviceReset();
    }
    return 0;
}

// batch.cu — calls that CUDA 12.8 and 13 added, and one that old books use: batches of copies, pools of a place, the
// parameters of a kernel, copies from array to array. Prints what differs, then "fine".
#include <cstdio>
#include <cstring>

static int wrong;
#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) wrong++, printf("line %d: %s\n", __LINE__, #condition);                                      \
    } while (0)

struct wide {
    double a, b;
};
__global__ void kernel(char first, wide second, int third) {}
__global__ void none() {}

static void batches() {
    int host[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {}}, *d, *pinned;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&d, 64);
    cudaMallocHost(&pinned, 16);
    memset(pinned, 0, 16);
    void *to[] = {d, d + 4, d + 8};
    const void *from[] = {host[0], host[1], host[0]};
    size_t sizes[] = {16, 16, 8}, first[] = {0, 2};
    cudaMemcpyAttributes how[2] = {};
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    how[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first, 2, s) == cudaSuccess);
    cudaStreamSynchronize(s);
    int back[10];
    cudaMemcpy(back, d, sizeof back, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 10; k++) CHECK(back[k] == (k < 8 ? k + 1 : k - 7));
    // From the device: behind the stream's work, or at once if the source is read during the call.
    void *up[] = {pinned};
    const void *down[] = {d};
    CHECK(cudaMemcpyBatchAsync(up, down, sizes, 1, how, first, 1, s) == cudaSuccess && pinned[3] == 0);
    CHECK(cudaStreamSynchronize(s) == cudaSuccess && pinned[3] == 4);
    pinned[3] = 0;
    CHECK(cudaMemcpyBatchAsync(up, down, sizes, 1, how + 1, first, 1, s) == cudaSuccess && pinned[3] == 4);
    // What is no batch.
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first, 2, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first, 0, s) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 1, how, first, 2, s) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first + 1, 1, s) == cudaErrorInvalidValue);
    first[1] = 0;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first, 2, s) == cudaErrorInvalidValue);
    how[0].srcAccessOrder = cudaMemcpySrcAccessOrderInvalid;
    CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, how, first, 1, s) == cudaErrorInvalidValue);
    cudaFree(d), cudaFreeHost(pinned), cudaStreamDestroy(s);
}

static void pools() {
    cudaMemPool_t pool, same, mine;
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0}, host = {cudaMemLocationTypeHost, 0},
                    nowhere = {cudaMemLocationTypeDevice, 9};
    CHECK(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypePinned) == cudaSuccess);
    CHECK(cudaDeviceGetDefaultMemPool(&same, 0) == cudaSuccess && same == pool);
    CHECK(cudaMemGetDefaultMemPool(&pool, &nowhere, cudaMemAllocationTypePinned) == cudaErrorInvalidDevice);
    CHECK(cudaMemGetDefaultMemPool(&pool, &host, cudaMemAllocationTypePinned) == cudaErrorNotSupported);
    CHECK(cudaMemGetDefaultMemPool(&pool, &here, cudaMemAllocationTypeManaged) == cudaErrorNotSupported);
    cudaMemPoolProps p = {};
    p.allocType = cudaMemAllocationTypePinned, p.location = here;
    CHECK(cudaMemPoolCreate(&mine, &p) == cudaSuccess);
    CHECK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, mine) == cudaSuccess);
    CHECK(cudaMemGetMemPool(&same, &here, cudaMemAllocationTypePinned) == cudaSuccess && same == mine);
    CHECK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, nullptr) == cudaErrorInvalidValue);
    CHECK(cudaMemSetMemPool(&here, cudaMemAllocationTypePinned, pool) == cudaSuccess);
    cudaMemPoolDestroy(mine);
}

static void parameters() {
    size_t offset, size = 7;
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 0, &offset, &size) == cudaSuccess && offset == 0 && size == 1);
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 1, &offset, &size) == cudaSuccess && offset == 8 && size == 16);
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 2, &offset, nullptr) == cudaSuccess && offset == 24);
    CHECK(cudaFuncGetParamInfo((const void *)kernel, 3, &offset, &size) == cudaErrorInvalidValue);
    CHECK(cudaFuncGetParamInfo((const void *)none, 0, &offset, &size) == cudaErrorInvalidValue);
}

// 10 bytes from the middle of a row of 6 to that of a row of 4.
static void arrays() {
    cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>();
    cudaArray_t a, b;
    char in[19] = "abcdefghijklmnopqr", out[17] = "";
    cudaMallocArray(&a, &bytes, 6, 3);
    cudaMallocArray(&b, &bytes, 4, 4);
    cudaMemcpy2DToArray(a, 0, 0, in, 6, 6, 3, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(b, 0, 0, "................", 4, 4, 4, cudaMemcpyHostToDevice);
    CHECK(cudaMemcpyArrayToArray(b, 3, 0, a, 4, 0, 10) == cudaSuccess);
    cudaMemcpy2DFromArray(out, 4, b, 0, 0, 4, 4, cudaMemcpyDeviceToHost);
    CHECK(strcmp(out, "...efghijklmn...") == 0);
    CHECK(cudaMemcpyArrayToArray(b, 3, 0, a, 4, 0, 14) == cudaErrorInvalidValue); // more than b has
    CHECK(cudaMemcpyArrayToArray(b, 0, 0, a, 5, 2, 2) == cudaErrorInvalidValue);  // more than a has
    cudaFreeArray(a), cudaFreeArray(b);
}

int main() {
    batches();
    pools();
    parameters();
    arrays();
    if (!wrong) printf("fine\n");
    return wrong != 0;
}

/* ladder.cu — the rungs of lab 3's ladder, each kernel with the one flaw that the next one removes.
 *
 * The harness uses `copy`, the speed of light: the cost of a transpose if nothing had to turn. The bench times them
 * all, and the tests compare their counters with those of a real card. A rung is short and stands alone: three similar
 * kernels are easier to compare than one clever template. The launcher of rung `tile` is called tile_transpose.
 */
#include "lab3.h"

enum { RUNG_TILE = 32, RUNG_THREAD_ROWS = 8 };

/* Reads along rows, writes along columns. Flaw: each store of a warp touches 32 sectors, of which it fills an eighth.
 */
__global__ void naive_read(const float *in, float *out, int rows, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

/* Writes along rows, reads along columns. Flaw: each load of a warp touches 32 sectors. L1 keeps them for the
 * neighbours, which is why this one is the faster of the two. */
__global__ void naive_write(const float *in, float *out, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
}

/* Coalesced both ways through a tile. Flaw: a column of the tile lies in one bank, so its reads are served one by one.
 */
__global__ void tile(const float *in, float *out, int rows, int cols) {
    __shared__ float t[RUNG_TILE][RUNG_TILE];
    int col = blockIdx.x * RUNG_TILE + threadIdx.x, row = blockIdx.y * RUNG_TILE + threadIdx.y;
    for (int k = 0; k < RUNG_TILE; k += RUNG_THREAD_ROWS)
        if (row + k < rows && col < cols) t[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * RUNG_TILE + threadIdx.x, out_row = blockIdx.x * RUNG_TILE + threadIdx.y;
    for (int k = 0; k < RUNG_TILE; k += RUNG_THREAD_ROWS)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = t[threadIdx.x][threadIdx.y + k];
}

/* The same with one float of padding a row: columns of the tile spread over all banks. */
__global__ void tile_padded(const float *in, float *out, int rows, int cols) {
    __shared__ float t[RUNG_TILE][RUNG_TILE + 1];
    int col = blockIdx.x * RUNG_TILE + threadIdx.x, row = blockIdx.y * RUNG_TILE + threadIdx.y;
    for (int k = 0; k < RUNG_TILE; k += RUNG_THREAD_ROWS)
        if (row + k < rows && col < cols) t[threadIdx.y + k][threadIdx.x] = in[(size_t)(row + k) * cols + col];
    __syncthreads();
    int out_col = blockIdx.y * RUNG_TILE + threadIdx.x, out_row = blockIdx.x * RUNG_TILE + threadIdx.y;
    for (int k = 0; k < RUNG_TILE; k += RUNG_THREAD_ROWS)
        if (out_row + k < cols && out_col < rows)
            out[(size_t)(out_row + k) * rows + out_col] = t[threadIdx.x][threadIdx.y + k];
}

/* The speed of light: every byte in once, every byte out once, 16 bytes a thread. */
__global__ void copy(const float4 *in, float4 *out, size_t quads) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < quads) out[i] = in[i];
}

/* --- launchers, all with the signature of `transpose` ----------------------------------------- */

static dim3 rung_grid(int across, int down, dim3 threads) {
    return dim3((across + threads.x - 1) / threads.x, (down + threads.y - 1) / threads.y);
}

extern "C" void naive_read_transpose(const float *in, float *out, int rows, int cols) {
    dim3 threads(32, 8);
    naive_read<<<rung_grid(cols, rows, threads), threads>>>(in, out, rows, cols);
}

extern "C" void naive_write_transpose(const float *in, float *out, int rows, int cols) {
    dim3 threads(32, 8);
    naive_write<<<rung_grid(rows, cols, threads), threads>>>(in, out, rows, cols);
}

extern "C" void tile_transpose(const float *in, float *out, int rows, int cols) {
    dim3 square(RUNG_TILE, RUNG_TILE);
    tile<<<rung_grid(cols, rows, square), dim3(RUNG_TILE, RUNG_THREAD_ROWS)>>>(in, out, rows, cols);
}

extern "C" void tile_padded_transpose(const float *in, float *out, int rows, int cols) {
    dim3 square(RUNG_TILE, RUNG_TILE);
    tile_padded<<<rung_grid(cols, rows, square), dim3(RUNG_TILE, RUNG_THREAD_ROWS)>>>(in, out, rows, cols);
}

/* Copies rows * cols floats, a multiple of 4. */
extern "C" void copy_transpose(const float *in, float *out, int rows, int cols) {
    size_t quads = (size_t)rows * cols / 4;
    copy<<<(unsigned)((quads + 255) / 256), 256>>>((const float4 *)in, (float4 *)out, quads);
}

/* The driver's own copy of the same bytes. */
extern "C" void cudaMemcpy_transpose(const float *in, float *out, int rows, int cols) {
    cudaMemcpyAsync(out, in, (size_t)rows * cols * sizeof(float), cudaMemcpyDeviceToDevice, 0);
}

#ifdef LAB_CUBLAS
#include <cublas_v2.h>

/* cuBLAS is column-major: our rows x cols matrix is its cols x rows one, and the result is again read the other way
 * round. If it fails, it writes no output, and the bench says "wrong". */
extern "C" void cublasSgeam_transpose(const float *in, float *out, int rows, int cols) {
    static cublasHandle_t handle;
    const float one = 1, zero = 0;
    if (!handle && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) return;
    cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, cols, &zero, out, rows, out, rows);
}
#endif

/* transpose.cu — lab 3. This is the one file you edit.
 *
 * The program below is right and slow. It was ported from three lines of NumPy, as they stood:
 *
 *     result = np.empty((cols, rows), dtype=np.float32)
 *     for i in range(cols):
 *         result[i, :] = A[:, i]
 *
 * On the GPU each turn of that loop became one kernel launch: a row of the result, copied from a column of A. A matrix
 * of 2048 x 2048 takes 2048 launches. Each moves 8 KB, and most of the time the GPU waits for the next one.
 *
 * Measure these in this order. `make lab3` prints all of them, `make lines3` says which line:
 *
 *   1. launches         One kernel can do the whole matrix. How many threads is that, in how many blocks?
 *   2. sectors          Memory moves in sectors of 32 bytes. A warp that reads 32 neighbouring floats touches 4 of
 *                       them; a warp that reads a column touches 32. A transpose seems to force one of the two.
 *                       Which is cheaper, a bad load or a bad store? Predict, then try both.
 *   3. a tile           With shared memory both loads and stores are good.
 *   4. bank conflicts   But now the tile is read along a column. One more idea is needed.
 *   5. the last tenth   Several elements a thread; fewer, wider accesses.
 *   6. the view         The fastest transpose moves nothing at all. It is a function of its own, at the end.
 *
 * It takes about 25 lines of new code. Keep the names and parameters of the two functions that lab3.h declares;
 * everything else is yours.
 */
#include "lab3.h"

/* result[i, :] = A[:, i]: thread j copies one element. */
__global__ void copy_column(const float *in, float *out, int rows, int cols, int i) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < rows) out[(size_t)i * rows + j] = in[(size_t)j * cols + i];
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    int threads = 256;
    int blocks = (rows + threads - 1) / threads;
    for (int i = 0; i < cols; i++) copy_column<<<blocks, threads>>>(d_in, d_out, rows, cols, i);
}

/* Rung 6. NumPy's A.T costs nothing, whatever the size: it hands out the same data with another shape and other
 * strides. This one hands out its argument as it is, which is right only for a matrix that equals its own transpose. */
extern "C" struct view view_transpose(struct view v) { return v; }

/* matmul.cu — lab 9. This is the one file you edit.
 *
 * C = A B, the product of two matrices. A is m x k, B is k x n, C is m x n, in fp32, row after row. Each element of C
 * is a sum of k products, and a thread for each element is the program that everybody writes first. It is right, it has
 * two million threads at work, and a GPU could do its arithmetic a hundred times as fast.
 *
 * The arithmetic is not what takes the time. A multiply-add needs two floats, and the program fetches both of them anew
 * for each multiply-add. Each element of A is needed n times, and each of B m times: whoever keeps what it has fetched,
 * and uses it again, fetches less. All of this lab is reuse: first in shared memory, then in registers.
 *
 * Measure these in this order. `make lab9` prints all of them, `make lines9` says which line:
 *
 *   1. the index        Which elements do the 32 lanes of a warp want at one time, of A, of B and of C?
 *   2. the tile         A block that copies a piece of A and a piece of B into shared memory uses each float 32 times.
 *   3. the patch        Shared memory, too, has only so many wavefronts. With a column of 8 sums a thread uses a float
 *                       of B 8 times; with a patch of 8 x 8 sums each of its floats, from registers.
 *   4. float4s          Four floats by one instruction, if they are neighbours: of which matrix are they not?
 *   5. the warp         The 32 patches of a warp can lie in a row, or in a rectangle. Which of them needs fewer floats?
 *   6. two at a time    While a block waits for its next tile it multiplies nothing. cp.async fetches one tile while
 *                       the block works with another.
 *
 * It takes about 80 lines. Keep the name and the parameters of the function that lab9.h declares; everything else is
 * yours.
 */
#include "lab9.h"

#define SIDE 32 /* of a block, in threads */

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {
    int i = blockIdx.x * SIDE + threadIdx.x, j = blockIdx.y * SIDE + threadIdx.y;
    if (i >= m || j >= n) return;
    float sum = 0;
    for (int x = 0; x < k; x++) sum += a[(size_t)i * k + x] * b[(size_t)x * n + j];
    c[(size_t)i * n + j] = sum;
}

extern "C" void matmul(const float *a, const float *b, float *c, int m, int n, int k) {
    dim3 blocks((m + SIDE - 1) / SIDE, (n + SIDE - 1) / SIDE), threads(SIDE, SIDE);
    multiply<<<blocks, threads>>>(a, b, c, m, n, k);
}

/* lab3.h — what transpose.cu must offer. The harness calls these two and nothing else of yours. */
#ifndef LAB3_H
#define LAB3_H

#ifdef __cplusplus
extern "C" {
#endif

/* A matrix seen through a window: element [i][j] is data[i * strides[0] + j * strides[1]]. Strides count floats. */
struct view {
    float *data;
    int shape[2];
    long strides[2];
};

/* d_out = transpose of d_in. Both are device pointers; d_in is rows x cols, d_out is cols x rows, row after row
 * (row-major). Work may still be running when it returns; it must be complete when cudaDeviceSynchronize returns. */
void transpose(const float *d_in, float *d_out, int rows, int cols);

/* The same matrix with rows and columns swapped, without moving one element. Host code only. */
struct view view_transpose(struct view v);

#ifdef __cplusplus
}
#endif
#endif

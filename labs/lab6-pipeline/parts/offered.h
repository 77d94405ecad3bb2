/* offered.h — the kernel of lab 6, for the player. */
#ifndef LAB6_OFFERED_H
#define LAB6_OFFERED_H

#include "messages.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Launches it on words of device memory; the address is a multiple of 16, as is the number of bytes. */
void lab6_launch(const struct lab6_kernel *kernel, void *d_words, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif

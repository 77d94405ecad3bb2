/* offered.cu — process_frames, the one function offered to the student that launches a kernel. The harness sends the
 * kernel's parameters, and checks its output when the frames are sent. */
#include "offered.h"
#include "formula.h"
#include "lab6.h"
#include "player.h"

enum { THREADS = 64 }; /* each processes four words. Of so small blocks no multiprocessor gets much more than another */

/* One instruction of PTX: clang would put a shorter division beside it, for operands that never come. */
static __device__ uint64_t rest(uint64_t v, uint64_t modulus) {
    uint64_t r;
    asm("rem.u64 %0, %1, %2;" : "=l"(r) : "l"(v), "l"(modulus));
    return r;
}

template <int rounds> static __device__ uint32_t one(uint32_t word, uint64_t number, uint64_t salt, uint64_t modulus) {
    uint64_t v = (number ^ salt) << 32 | word;
#pragma unroll
    for (int r = 0; r < rounds; r++) v = rest(lab6_step(v, salt), modulus);
    return (uint32_t)(v >> 20);
}

template <int rounds>
static __global__ void process(uint4 *frames, uint32_t quads, uint64_t first_word, uint64_t salt, uint64_t modulus) {
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= quads) return;
    const uint64_t number = first_word + 4 * (uint64_t)i;
    uint4 q = frames[i];
    q.x = one<rounds>(q.x, number, salt, modulus);
    q.y = one<rounds>(q.y, number + 1, salt, modulus);
    q.z = one<rounds>(q.z, number + 2, salt, modulus);
    q.w = one<rounds>(q.w, number + 3, salt, modulus);
    frames[i] = q;
}

extern "C" void lab6_launch(const struct lab6_kernel *k, void *d_words, cudaStream_t stream) {
    const uint32_t quads = (uint32_t)(k->words / 4), blocks = (quads + THREADS - 1) / THREADS;
    if (!quads) return;
    if (k->rounds == LAB6_FULL)
        process<LAB6_FULL>
            <<<blocks, THREADS, 0, stream>>>((uint4 *)d_words, quads, k->first_word, k->salt, LAB6_MODULUS);
    else
        process<LAB6_FEW>
            <<<blocks, THREADS, 0, stream>>>((uint4 *)d_words, quads, k->first_word, k->salt, LAB6_MODULUS);
}

extern "C" LAB_OFFERED void process_frames(const struct job *job, size_t first, size_t count, void *d_frames,
                                           cudaStream_t stream) {
    static struct lab6_question question;
    static struct lab6_answer a;
    (void)job;
    question.what = LAB6_PROCESS;
    question.first = first;
    question.frames = count;
    question.d_frames = (uint64_t)d_frames;
    question.stream = (uint64_t)stream;
    lab_ask(&question, sizeof question, &a, sizeof a);
    if (!a.refused) lab6_launch(&a.kernel, d_frames, stream);
}

/* code.cu — kernels in turn, whose machine code an SM keeps or not: 40 launches of one kernel, or of eight with the
 * same code, one after another. Prints a line a case: its name, microseconds. tests/places.bats has an H200's. */
#include "timed.h"

/* N multiply-adds in so many chains. */
template <int N, int CHAINS> struct body {
    static __device__ __forceinline__ void run(float (&s)[8], float a, float b) {
        body<N / 2, CHAINS>::run(s, a, b);
        body<N - N / 2, CHAINS>::run(s, a, b);
    }
};
template <int CHAINS> struct body<8, CHAINS> {
    static __device__ __forceinline__ void run(float (&s)[8], float a, float b) {
#pragma unroll
        for (int i = 0; i < 8; i++) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(s[i % CHAINS]) : "f"(a), "f"(b));
    }
};

/* COPY: of the same code at another place. JUMPS: after each 64 instructions, over as many that are never run. */
template <int N, int CHAINS, bool JUMPS, int COPY>
__global__ void __launch_bounds__(1024) code(float *out, float a, float b, int never) {
    float s[8], sum = 0;
    for (int i = 0; i < 8; i++) s[i] = (float)(threadIdx.x + i + COPY);
    if (JUMPS) {
#pragma unroll
        for (int k = 0; k < N / 64; k++) {
            body<64, CHAINS>::run(s, a, b);
            if (never == k + 1) {
                body<64, CHAINS>::run(s, b, a);
                asm volatile("bar.sync 0;");
            }
        }
    } else {
        body<N, CHAINS>::run(s, a, b);
    }
    for (int i = 0; i < 8; i++) sum += s[i];
    if (sum == 0.123f) *out = sum;
}

enum { LAUNCHES = 40, COPIES = 8 };
typedef void kernel(float *, float, float, int);
static float *out;

/* Prints the time of 40 launches, which are all submitted before the device begins. */
template <typename F> static void timed_in_turn(const char *name, int different, F launch) {
    const auto run = [&](int launches) {
        for (int k = 0; k < launches; k++) launch(k % different);
    };
    timed_behind(
        name, [&] { run(different); }, [&] { run(LAUNCHES); });
}

template <int N, int CHAINS, bool JUMPS> static void of_code(const char *name) {
    static kernel *const copies[COPIES] = {
        code<N, CHAINS, JUMPS, 0>, code<N, CHAINS, JUMPS, 1>, code<N, CHAINS, JUMPS, 2>, code<N, CHAINS, JUMPS, 3>,
        code<N, CHAINS, JUMPS, 4>, code<N, CHAINS, JUMPS, 5>, code<N, CHAINS, JUMPS, 6>, code<N, CHAINS, JUMPS, 7>};
    char text[64];
    for (int threads = 32; threads <= 256; threads *= 8)
        for (int different : {1, 4, 8}) {
            snprintf(text, sizeof text, "%s_%d_x_%d_threads_%d_in_turn", name, N, threads, different);
            timed_in_turn(text, different, [&](int k) { copies[k]<<<132, threads>>>(out, 1, 0, 0); });
        }
}

/* A loop of so many multiply-adds. */
template <int N> __global__ void turns(float *out, float a, float b, int n) {
    float s[8], sum = 0;
    for (int i = 0; i < 8; i++) s[i] = (float)(threadIdx.x + i);
#pragma unroll 1
    for (int k = 0; k < n; k++) body<N, 8>::run(s, a, b);
    for (int i = 0; i < 8; i++) sum += s[i];
    if (sum == 0.123f) *out = sum;
}
template <int N> static void of_turns() {
    char text[64];
    snprintf(text, sizeof text, "eleven_turns_of_%d", N);
    timed_in_turn(text, 1, [](int) { turns<N><<<132, 128>>>(out, 1, 0, 11); });
}

/* A kernel that has run on all SMs, and what ran since: a warp of another kernel, or as large a grid of two; or it has
 * run on one SM only; or its device was reset, which leaves it as it is at first. */
static void of_grids() {
    static kernel *const copies[] = {code<1024, 8, false, 0>, code<1024, 8, false, 1>, code<1024, 8, false, 2>};
    const auto run = [](int copy, int blocks) { copies[copy]<<<blocks, 32>>>(out, 1, 0, 0); };
    const auto itself = [&] { run(0, 132); };
    timed_behind("behind_itself", itself, itself);
    timed_behind(
        "behind_a_warp", [&] { run(0, 132), run(1, 1), run(2, 1); }, itself);
    timed_behind(
        "behind_others", [&] { run(0, 132), run(1, 132), run(2, 132); }, itself);
#ifdef SIMGPU_CUDA_RUNTIME_API_H
    timed_behind(
        "behind_others_and_a_warm_up", [&] { run(1, 132), run(2, 132), simgpuWarmCode(); }, itself);
#endif
    timed_behind(
        "behind_its_own_warp", [&] { run(1, 132), run(2, 132), run(0, 1); }, itself);
    timed_behind(
        "a_warp_behind_warps", [&] { run(0, 1), run(1, 1), run(2, 1); }, [&] { run(0, 1); });
    MUST(cudaDeviceReset());
    MUST(cudaMalloc(&out, sizeof *out));
    timed_behind(
        "behind_a_reset", [] {}, itself);
}

int main() {
    MUST(cudaMalloc(&out, sizeof *out));
    held_ns = 400000;
    of_code<256, 8, false>("straight");
    of_code<1024, 8, false>("straight");
    of_code<512, 8, true>("jumps");
    of_code<1024, 1, false>("chain");
    of_turns<1024>();
    of_turns<2048>();
    of_turns<4096>();
    of_grids();
    return 0;
}

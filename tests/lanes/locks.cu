/* locks.cu — loops in which lanes wait for each other, part, and leave at different turns. Prints `name result`, the
 * same as on a card. In most of them some lanes have come to the next turn, where they would meet the others, while
 * those wait for them. */
#include <cstdio>
#include <cuda_runtime.h>

__device__ int lock, counter;
__device__ volatile int flag;

__device__ bool taken() { return atomicCAS(&lock, 0, 1) == 0; }
__device__ void count_and_release() {
    *(volatile int *)&counter += 1;
    __threadfence();
    atomicExch(&lock, 0);
}

__global__ void leaves_with_the_lock() {
    for (;;) {
        if (taken()) {
            count_and_release();
            break;
        }
    }
}
__global__ void some_go_around_first(int n) {
    int mine = 0;
    for (;;) {
        if (threadIdx.x % 3 == 1 && mine++ < 3) continue;
        if (!taken()) continue;
        count_and_release();
        if (++mine >= n) break;
    }
}
/* Lane 1 waits in each turn for what lane 0 does in the same one. */
__global__ void one_waits_in_each_turn(int n) {
    for (int k = 0;;) {
        if (threadIdx.x == 1) {
            while (flag < k + 1) {}
        } else if (threadIdx.x == 0 && k < n) {
            flag = k + 1;
        }
        k++;
        if (threadIdx.x == 5 && k < 3) continue;
        if (k >= n) break;
        atomicAdd(&counter, 1);
    }
}
/* Lane 1 waits for all turns of the others. */
__global__ void one_waits_for_all_turns(int n) {
    for (int k = 0;;) {
        if (threadIdx.x == 1) {
            if (flag < n) continue;
            counter = flag;
            break;
        }
        flag = k++;
        if (k > n) break;
    }
}
/* No thread ever goes on early or skips turns, but the compiler does not know that. */
__global__ void barriers_in_turns(int n) {
    __shared__ int cell[64];
    const int t = threadIdx.x;
    cell[t] = t;
    __syncthreads();
    for (int k = 0;;) {
        if (t & 1) {
            cell[t] += cell[t ^ 1];
            if (k == 77) continue;
        }
        __syncthreads();
        if (++k >= n) break;
        if (cell[t] < -1) {
            k += 2;
            continue;
        }
        __syncthreads();
    }
    if (t == 3) counter = cell[3];
}
/* Those that are left meet by their mask. */
__global__ void fewer_in_each_turn(int n) {
    const int t = threadIdx.x;
    unsigned left = 0xffffffffu;
    int k = 0, v = t;
    for (;;) {
        const bool out = k >= n + t / 8;
        left = __ballot_sync(left, !out);
        if (out) break;
        if (t & 1) {
            v += k++;
            __syncwarp(left);
            continue;
        }
        v += __popc(left);
        k++;
        __syncwarp(left);
    }
    atomicAdd(&counter, v);
}

template <typename F> static void run(const char *name, F launch) {
    const int zero = 0;
    int result;
    cudaMemcpyToSymbol(counter, &zero, sizeof zero);
    cudaMemcpyToSymbol(lock, &zero, sizeof zero);
    cudaMemcpyToSymbol(flag, &zero, sizeof zero);
    launch();
    const cudaError_t e = cudaDeviceSynchronize();
    if (e) printf("%s: %s\n", name, cudaGetErrorString(e));
    cudaMemcpyFromSymbol(&result, counter, sizeof result);
    printf("%s %d\n", name, result);
}

int main() {
    run("leaves_with_the_lock", [] { leaves_with_the_lock<<<4, 64>>>(); });
    run("some_go_around_first", [] { some_go_around_first<<<2, 64>>>(6); });
    run("one_waits_in_each_turn", [] { one_waits_in_each_turn<<<1, 32>>>(10); });
    run("one_waits_for_all_turns", [] { one_waits_for_all_turns<<<1, 32>>>(10); });
    run("barriers_in_turns", [] { barriers_in_turns<<<1, 64>>>(5); });
    run("fewer_in_each_turn", [] { fewer_in_each_turn<<<1, 32>>>(5); });
    return 0;
}

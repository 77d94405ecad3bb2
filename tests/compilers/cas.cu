/* atomicCAS of each width; compilers.bats reads the PTX. */
__global__ void swap(int *i, unsigned *u, unsigned long long *l) {
    i[1] = atomicCAS(i, 1, 2);
    u[1] = atomicCAS(u, 1u, 2u);
    l[1] = atomicCAS(l, 1ull, 2ull);
}

int main() { return 0; }

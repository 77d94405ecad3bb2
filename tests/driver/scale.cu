// scale-*.fatbin are made of this file: nvcc 13.0 -fatbin -gencode arch=compute_90,code=compute_90 --compress-mode=MODE
extern "C" __global__ void scale(float *out, const float *in, float factor, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] * factor + 0.5f;
}

/* virtual.c — virtual memory management: a vector that grows in place, memory at two addresses, and what is refused.
 * Prints "fine". */
#include "check.h"

#define MIB (1ull << 20)

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry move(.param .u64 to, .param .u64 from) {\n"
                          ".reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from];\n"
                          "ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

static CUfunction move;
static CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUresult run(CUdeviceptr to, CUdeviceptr from) {
    void *params[] = {&to, &from};
    OK(cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    return cuCtxSynchronize();
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle first, second, same;
    CUdeviceptr at, again, more, ordinary;
    size_t granule, before, after, bytes;
    unsigned long long flags;
    int has, got[2] = {0, 0};

    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&move, module, "move"));
    OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT(has == 1);
    OK(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT(granule == 2 * MIB);

    /* Memory counts from its creation to its last use, and its first bytes are zeros. */
    OK(cuMemGetInfo(&before, &bytes));
    OK(cuMemCreate(&first, 2 * MIB, &prop, 0));
    OK(cuMemGetInfo(&after, &bytes));
    EXPECT(before - after == 2 * MIB);
    OK(cuMemAddressReserve(&at, 4 * MIB, 0, 0, 0));
    OK(cuMemMap(at, 2 * MIB, 0, first, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(at, got, sizeof got)); /* no access yet */
    OK(cuMemSetAccess(at, 2 * MIB, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, at));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(cuMemsetD32(at + 2 * MIB - 4, 41, 1));
    OK(run(at, at + 2 * MIB - 4));

    /* It grows: a copy crosses from the one memory into the other. */
    OK(cuMemCreate(&second, 2 * MIB, &prop, 0));
    OK(cuMemMap(at + 2 * MIB, 2 * MIB, 0, second, 0));
    OK(cuMemSetAccess(at + 2 * MIB, 2 * MIB, &access, 1));
    OK(run(at + 2 * MIB, at));
    OK(cuMemcpyDtoH(got, at + 2 * MIB - 4, sizeof got));
    EXPECT(got[0] == 41 && got[1] == 43);
    OK(cuMemAddressReserve(&more, 2 * MIB, 0, at + 4 * MIB, 0));
    EXPECT(more == at + 4 * MIB);

    /* The same memory at two addresses. */
    OK(cuMemAddressReserve(&again, 2 * MIB, 0, 0, 0));
    OK(cuMemMap(again, 2 * MIB, 0, second, 0));
    OK(cuMemSetAccess(again, 2 * MIB, &access, 1));
    OK(run(again, again));
    OK(cuMemcpyDtoH(got, at + 2 * MIB, sizeof got[0]));
    EXPECT(got[0] == 44);

    /* A release leaves what is mapped; ordinary memory lies elsewhere. */
    OK(cuMemRetainAllocationHandle(&same, (void *)(size_t)(again + 4)));
    EXPECT(same == second);
    OK(cuMemRelease(same));
    OK(cuMemRelease(second));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRelease(second));
    OK(cuMemAlloc(&ordinary, 4 * MIB));
    EXPECT(ordinary + 4 * MIB <= at || ordinary >= again + 2 * MIB);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(at));

    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&same, 12345, &prop, 0));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemCreate(&same, 1ull << 40, &prop, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(at, 2 * MIB, 0, first, 0)); /* has memory */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(ordinary, 2 * MIB, 0, first, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(more, 4 * MIB, 0, first, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(at, MIB));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 4 * MIB)); /* has memory */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(at, 2 * MIB));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    FAILS(CUDA_ERROR_NOT_SUPPORTED, cuMemCreate(&same, 2 * MIB, &prop, 0));

    OK(cuMemUnmap(again, 2 * MIB));
    OK(cuMemUnmap(at, 4 * MIB));
    OK(cuMemAddressFree(at, 4 * MIB));
    OK(cuMemRelease(first));
    OK(cuMemFree(ordinary));
    OK(cuMemGetInfo(&after, &bytes));
    EXPECT(before == after);
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(at, at));
    puts("fine");
    return 0;
}

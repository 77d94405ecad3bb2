/* virtual.c — virtual memory management: a vector that grows in place, memory at two addresses, what is refused, and
 * what a dead context and a reset leave. Prints "fine". */
#include "check.h"

#include <stdint.h>

#define MIB (1ull << 20)

static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry move(.param .u64 to, .param .u64 from) {\n"
                          ".reg .b64 %rd<3>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [from];\n"
                          "ld.global.u32 %r1, [%rd2]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1; ret; }\n";

static CUfunction move;

static void load(void) {
    CUmodule module;
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&move, module, "move"));
}
static CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUresult run(CUdeviceptr to, CUdeviceptr from) {
    void *params[] = {&to, &from};
    OK(cuLaunchKernel(move, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    return cuCtxSynchronize();
}

/* Returns live memory that allocations have reached in the upper half of the device's addresses; all before it is
 * free. */
static CUdeviceptr high_memory(void) {
    const size_t half = (size_t)1 << 37, bytes = half / 8;
    CUdeviceptr at, first = 0;
    for (;;) {
        OK(cuMemAlloc(&at, bytes));
        if (!first) first = at;
        if (at - first > half) break;
        OK(cuMemFree(at));
    }
    OK(cuMemFree(at));
    OK(cuMemAlloc(&at, 4 * MIB));
    EXPECT(at - first > half);
    return at;
}

/* Addresses that are given back are used again, between those in use, and fresh ones before them. */
static void addresses_again(void) {
    CUdeviceptr kept, at, before = 0, small;
    OK(cuMemAddressReserve(&kept, 2 * MIB, 0, 0, 0));
    for (int k = 0; k < 50; k++) { /* 32 GB each time, of 128 */
        OK(cuMemAddressReserve(&at, 32768 * MIB, 0, 0, 0));
        EXPECT(k > 2 || at > before);
        EXPECT(at + 32768 * MIB <= kept || at >= kept + 2 * MIB);
        before = at;
        OK(cuMemAddressFree(at, 32768 * MIB));
    }
    OK(cuMemAddressReserve(&small, 2 * MIB, 0, kept + 2 * MIB, 0));
    EXPECT(small == kept + 2 * MIB);
    OK(cuMemAddressReserve(&at, 2 * MIB, 0, kept, 0)); /* taken: the address is a wish */
    EXPECT(at != kept && at != small);
    OK(cuMemAddressFree(at, 2 * MIB));
    OK(cuMemAddressFree(small, 2 * MIB));
    OK(cuMemAddressFree(kept, 2 * MIB));
    FAILS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&at, 1ull << 40, 0, 0, 0));
}

/* What cuMemMap, cuMemSetAccess and cuMemGetAccess refuse. at: a mapping of 2 MiB with access; free: reserved, without
 * memory; m: memory of 4 MiB. */
static void refuses(CUdeviceptr at, CUdeviceptr free, CUmemGenericAllocationHandle m) {
    CUmemAccessDesc none = {access.location, CU_MEM_ACCESS_FLAGS_PROT_NONE}, nowhere[2] = {none, access}, host = access;
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle;
    unsigned long long flags;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(free, 2 * MIB, MIB, m, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(free, 2 * MIB, 4 * MIB, m, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(free, 2 * MIB, 0, m + 1000, 0));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemMap(free, 2 * MIB, 0, m, 4));

    /* A part of a mapping keeps what it has, and so does what stands before a device that does not exist. */
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at, MIB, &none, 1));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at + MIB, MIB, &none, 1));
    nowhere[1].location.id = 1;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemSetAccess(at, 2 * MIB, nowhere, 2));
    host.location.type = CU_MEM_LOCATION_TYPE_HOST;
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(at, 2 * MIB, &host, 1));
    OK(cuMemGetAccess(&flags, &access.location, at + MIB));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(run(at, at));

    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &nowhere[1].location, at));
    nowhere[1].location.id = -1;
    FAILS(CUDA_ERROR_INVALID_DEVICE, cuMemGetAccess(&flags, &nowhere[1].location, at));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAccess(&flags, &access.location, free));
    OK(cuMemGetAllocationPropertiesFromHandle(&prop, m));
    EXPECT(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.id == 0);
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&prop, m + 1000));
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemRetainAllocationHandle(&handle, (void *)(size_t)free));
}

/* One mapping where two were: both halves of it have access. */
static void joined(CUdeviceptr at, CUmemGenericAllocationHandle m) {
    for (uint32_t k = 0; k < 2; k++) OK(cuMemMap(at + k * 2 * MIB, 2 * MIB, k * 2 * MIB, m, 0));
    OK(cuMemSetAccess(at, 4 * MIB, &access, 1));
    OK(cuMemUnmap(at, 4 * MIB));
    OK(cuMemMap(at, 4 * MIB, 0, m, 0));
    OK(cuMemSetAccess(at, 4 * MIB, &access, 1));
    OK(cuMemsetD32(at, 7, MIB));
    OK(run(at, at + 3 * MIB));
    OK(cuMemUnmap(at, 4 * MIB));
}

/* A dead context: no call changes anything. A new one resets the device, and mapped memory, which belongs to no
 * context, is what it was; so it is after a reset of a live one. at: 2 MiB that are mapped and reserved; m: their
 * memory. */
static void outlives(CUcontext context, CUdeviceptr at, CUmemGenericAllocationHandle m) {
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle same;
    CUdeviceptr ordinary;
    unsigned long long flags;
    int got = 0;
    OK(cuMemAlloc(&ordinary, 4));
    OK(cuMemsetD32(at, 51, 1));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(8, 8));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemUnmap(at, 2 * MIB));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemRelease(m));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAddressFree(at, 2 * MIB));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemGetAccess(&flags, &access.location, at));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemRetainAllocationHandle(&same, (void *)(size_t)at));
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemGetAllocationPropertiesFromHandle(&prop, m));

    OK(cuCtxDestroy(context));
    OK(cuCtxCreate(&context, 0, 0));
    load();
    FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(ordinary));
    OK(cuMemGetAccess(&flags, &access.location, at));
    EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    OK(run(at + 4, at));
    OK(cuMemcpyDtoH(&got, at + 4, sizeof got));
    EXPECT(got == 52);
    OK(cuDevicePrimaryCtxReset(0));
    OK(run(at, at + 4));
    OK(cuMemcpyDtoH(&got, at, sizeof got));
    EXPECT(got == 53);
    OK(cuMemUnmap(at, 2 * MIB));
    OK(cuMemRelease(m));
    OK(cuMemAddressFree(at, 2 * MIB));
}

int main(void) {
    CUcontext context;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle first, second, same;
    CUdeviceptr at, again, more, ordinary, high, small;
    size_t granule, before, after, bytes;
    unsigned long long flags;
    int has, got[2] = {0, 0};

    OK(cuInit(0));
    OK(cuCtxCreate(&context, 0, 0));
    load();
    OK(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EXPECT(has == 1);
    OK(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    EXPECT(granule == 2 * MIB);

    /* Memory counts from its creation to its last use, and its first bytes are zeros. */
    high = high_memory();
    for (int k = 0; k < 3; k++) { /* the next small ones would come behind them */
        OK(cuMemAlloc(&small, 19 * MIB / 10));
        OK(cuMemFree(small));
    }
    OK(cuMemGetInfo(&before, &bytes));
    OK(cuMemCreate(&first, 2 * MIB, &prop, 0));
    OK(cuMemGetInfo(&after, &bytes));
    EXPECT(before - after == 2 * MIB);
    OK(cuMemAddressReserve(&at, 4 * MIB, 0, 0, 0));
    EXPECT(at >= high + 4 * MIB); /* not those of memory that lives */
    OK(cuMemAlloc(&small, 4));
    EXPECT(small < at); /* not among reserved addresses */
    OK(cuMemFree(small));
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
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;

    OK(cuMemUnmap(again, 2 * MIB));
    OK(cuMemUnmap(at, 4 * MIB));
    OK(cuMemCreate(&second, 4 * MIB, &prop, 0));
    joined(at, second);
    OK(cuMemMap(more, 2 * MIB, 0, first, 0));
    OK(cuMemSetAccess(more, 2 * MIB, &access, 1));
    refuses(more, at, second);
    OK(cuMemRelease(second));
    OK(cuMemsetD32(high + 4 * MIB - 4, 1, 1));
    OK(cuMemAddressFree(at, 4 * MIB));
    OK(cuMemFree(ordinary));
    OK(cuMemFree(high));
    before += 4 * MIB;
    outlives(context, more, first);
    OK(cuMemGetInfo(&after, &bytes));
    EXPECT(before == after);
    addresses_again();
    FAILS(CUDA_ERROR_ILLEGAL_ADDRESS, run(at, at));
    puts("fine");
    return 0;
}

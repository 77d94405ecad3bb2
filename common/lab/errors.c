/* errors.c — see errors.h. */
#include "errors.h"

/* For a lab that has nothing of its own to say. */
static const lab_advice for_any_lab[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds", "compare the largest index of this line with the number of elements allocated"},
    [LAB_HOST_ADDRESS] = {"pointer", "hand the kernel memory of cudaMalloc: it cannot follow an address of the host's"},
    [LAB_NULL_ADDRESS] = {"pointer",
                          "find out where this pointer gets its value, and check the call that should give it "
                          "one"},
    [LAB_FREED_ADDRESS] = {"pointer", "free memory only when no kernel uses it any more"},
    [LAB_MISALIGNED] = {"misaligned", "a wide access needs an address that is a multiple of its width"},
    [LAB_PAST_SHARED] = {"shared", "compare the declared size of the array with the largest index of this line"},
    [LAB_NO_SHARED] = {"shared", "pass the size of the extern __shared__ array as the launch's third argument: "
                                 "<<<blocks, threads, bytes>>>"},
    [LAB_BARRIER_MISSED] = {"deadlock",
                            "let every thread of the block reach the barrier: move it out of the if, or the "
                            "return behind it"},
    [LAB_TWO_BARRIERS] = {"deadlock",
                          "put one __syncthreads() behind the if, where all threads of the block come to it"},
    [LAB_BARRIER_PARTLY] = {"deadlock", "move the barrier out of the condition: all lanes of a warp must come to it "
                                        "together"},
    [LAB_LANES_MISSED] = {"deadlock", "let every lane that the mask names reach this line"},
    [LAB_WRONG_MASK] = {"deadlock",
                        "let the mask name exactly the lanes that come to this line: 0xffffffff for a whole "
                        "warp"},
    [LAB_RUNAWAY] = {"runaway", "a loop does not end, or one thread does the work of many: print its bounds"},
    [LAB_WAITS_FOR_BLOCK] = {"runaway", "let no block wait for another: of an ordinary launch it may not have begun"},
    [LAB_UNSUPPORTED] = {"error", "use another instruction; SimGPU has none of this kind"},
    [LAB_ASSERTION] = {"error", "the condition of your assertion does not hold here: handle this case, or correct the "
                                "condition"},
    [LAB_OTHER_FAULT] = {"error", "read the line above: it names what stopped the kernel"},
    [LAB_SOME_ADDRESS] = {"bounds", "find the threads beyond the end: which test keeps them from their access?"},
    [LAB_SOME_MISALIGNED] = {"misaligned", "a wide access needs an address that is a multiple of its width"},
    [LAB_SOME_SHAPE] = {"error", "a block has 1 to 1024 threads, and no side of the grid may be 0"},
    [LAB_SOME_ERROR] = {"error", "look the error up: it names what CUDA could not do"},
    [LAB_REFUSED + SIMGPU_REFUSED_OTHER] = {"error", "look this call up: which of its arguments can it not take?"},
    [LAB_REFUSED + SIMGPU_REFUSED_ZERO] = {"error", "round the number of blocks up: (n + 255) / 256 is at least 1, "
                                                    "n / 256 is not"},
    [LAB_REFUSED + SIMGPU_REFUSED_BLOCK] = {"error", "use at most 1024 threads a block, and more blocks"},
    [LAB_REFUSED + SIMGPU_REFUSED_GRID] = {"error",
                                           "let the grid's x count the blocks, up to 2147483647; y and z end at "
                                           "65535"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared", "use a smaller array in shared memory"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared", "pass the bytes of one block's arrays as the third argument"},
    [LAB_REFUSED + SIMGPU_REFUSED_BOUNDS] = {"error", "give __launch_bounds__ the number of threads that you launch"},
    [LAB_REFUSED + SIMGPU_REFUSED_REGISTERS] = {"error", "launch smaller blocks, or let each thread keep fewer values"},
    [LAB_REFUSED + SIMGPU_REFUSED_UNSUPPORTED] = {"error", "do without it: SimGPU has no such instruction"},
};

void lab_advise(lab_verdict *v, const lab_advice *a) {
    v->hint = a->hint;
    LAB_SAY(v->next, "%s", a->next);
}

/* An address of global memory. */
static lab_trouble of_address(const struct simgpu_address *at) {
    if (at->freed) return LAB_FREED_ADDRESS;
    if (at->where == SIMGPU_NULL_POINTER) return LAB_NULL_ADDRESS;
    return at->where == SIMGPU_NO_DEVICE_MEMORY || at->where == SIMGPU_NONE_ALLOCATED ? LAB_HOST_ADDRESS
                                                                                      : LAB_PAST_THE_END;
}

static lab_trouble of_fault(const struct simgpu_fault *f) {
    const bool waits = f->cause == SIMGPU_CAUSE_WAITING && f->n[2] < f->nwaiting;
    switch (f->cause) {
    case SIMGPU_CAUSE_ADDRESS: return of_address(&f->address);
    case SIMGPU_CAUSE_BEFORE_SPACE: return LAB_PAST_SHARED;
    case SIMGPU_CAUSE_PAST_SPACE: return f->n[1] ? LAB_PAST_SHARED : LAB_NO_SHARED;
    case SIMGPU_CAUSE_BARRIERS: return LAB_TWO_BARRIERS;
    case SIMGPU_CAUSE_BARRIER_PARTLY: return LAB_BARRIER_PARTLY;
    case SIMGPU_CAUSE_NOT_COOPERATIVE:
    case SIMGPU_CAUSE_GRID_SYNC:
    case SIMGPU_CAUSE_HOST_WORD:
    case SIMGPU_CAUSE_BLOCKS: return LAB_WAITS_FOR_BLOCK;
    default: break;
    }
    switch (f->kind) {
    case SIMGPU_FAULT_MISALIGNED: return LAB_MISALIGNED;
    case SIMGPU_FAULT_DEADLOCK:
        return waits && f->waiting[f->n[2]].what == SIMGPU_WAITS_FOR_MASK ? LAB_LANES_MISSED : LAB_BARRIER_MISSED;
    case SIMGPU_FAULT_BAD_SYNC: return LAB_WRONG_MASK;
    case SIMGPU_FAULT_BUDGET: return LAB_RUNAWAY;
    case SIMGPU_FAULT_UNSUPPORTED: return LAB_UNSUPPORTED;
    case SIMGPU_FAULT_ASSERT: return LAB_ASSERTION;
    default: return LAB_OTHER_FAULT;
    }
}

static lab_trouble of_error(cudaError_t error) {
    switch (error) {
    case cudaErrorIllegalAddress: return LAB_SOME_ADDRESS;
    case cudaErrorMisalignedAddress: return LAB_SOME_MISALIGNED;
    case cudaErrorInvalidConfiguration: return LAB_SOME_SHAPE;
    default: return LAB_SOME_ERROR;
    }
}

void lab_advise_on_error(lab_verdict *v, cudaError_t error, const lab_usage *before, const lab_usage *u,
                         const lab_advice *table) {
    const struct simgpu_event *earlier = before ? lab_refusal(before, error) : NULL;
    const struct simgpu_event *refusal = earlier ? earlier : lab_refusal(u, error);
    const struct simgpu_fault *fault = earlier ? NULL : lab_fault(u);
    lab_trouble kind = of_error(error);
    if (fault) {
        lab_blame_fault(v, u);
        kind = of_fault(fault);
    } else if (refusal) {
        lab_blame_refusal(v, earlier ? before : u, error);
        kind = LAB_REFUSED + (lab_trouble)refusal->is.refusal.cause;
    }
    lab_advise(v, table[kind].next ? &table[kind] : &for_any_lab[kind]);
}

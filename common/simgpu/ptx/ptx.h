/* ptx/ — from the bytes of a fat binary to a decoded program.
 *
 *   fat binary --ptx_extract--> text --lex--> tokens --parse--> module --cfg, decode--> functions that exec/ runs
 *
 * Interface:
 * - ptx_extract finds the PTX text in the argument of __cudaRegisterFatBinary.
 * - ptx_load parses it. A module that does not parse is an error. A kernel that uses something SimGPU lacks still
 * loads;
 *   its `unsupported` is the reason, which a launch reports. No kernel is dropped.
 * - ptx_find_kernel finds a kernel by its (mangled) name.
 *
 * A module is constant after ptx_load; a device's handlers and addresses for it are in exec/'s exec_program. This room
 * executes nothing, allocates no device memory and does not know the CUDA runtime.
 */
#ifndef SIMGPU_PTX_H
#define SIMGPU_PTX_H

#include "../base/base.h"

/* Cost classes of instructions. FREE: folded into other instructions or hoisted (mov, cvta, ld.param); ADDRESS: a part
 * of an IMAD.WIDE; IMUL: a 32-bit integer multiplication; SFU: the special function unit, and the scaling around it. */
enum ptx_cost {
    COST_FREE,
    COST_ADDRESS,
    COST_ALU,
    COST_FMA,
    COST_IMUL,
    COST_INT64,
    COST_FP64,
    COST_SFU,
    COST_FDIV,
    COST_DIV32,
    COST_DIV64,
    COST_DDIV,
    COST_CONVERT,
    COST_MEMORY,
    COST_SHUFFLE,
    COST_BRANCH,
    COST_BARRIER,
    COST_TENSOR,
    NCOSTS
};

/* The cost of an instruction in the machine code of ptxas: issue slots of an SM's quarter, and clocks until a later
 * instruction may use the result (depth.c). */
typedef struct {
    uint16_t slots, latency;
} ptx_cost_info;

/* What has a slower way for some operands (exec/operands.c). */
enum ptx_rare { RARE_FDIV, RARE_FROOT, RARE_DDIV, RARE_DROOT, NRARE };

/* What a fence orders accesses for: the threads of the block, of the device, of the host and other devices too; or
 * something else than accesses of threads, which takes no time here. */
enum ptx_fence { FENCE_BLOCK, FENCE_DEVICE, FENCE_SYSTEM, FENCE_OTHER, NFENCES };

/* A card's costs, which the caller passes (time/ reads them from the profile). round_clocks: the assumed length of a
 * round of loads where two depths are compared, since the true length is not known yet. rare: of the slower way, beside
 * the usual one. cas: clocks of an addition to shared memory by compare and swap, and of each further turn of its loop
 * (exec/cas.c). combine: clocks in which the lanes of a warp combine what they add to a word of shared memory. diverge:
 * those of a branch that parts the lanes, beside the branch. guard: those by which a predicate is later known as a
 * guard than as an operand. fence: by enum ptx_fence, its clocks where nothing is under way, those behind other
 * accesses of global memory, and those of the LSU pipe. fetch: the machine instructions that an SM's instruction cache
 * holds, the clocks for each that it lacks, and those of a jump over such. */
typedef struct {
    ptx_cost_info of[NCOSTS];
    uint32_t round_clocks;
    ptx_cost_info rare[NRARE];
    struct {
        uint16_t latency, turn;
    } cas;
    uint16_t combine, diverge, guard;
    struct {
        uint16_t latency, behind;
        double lsu;
    } fence[NFENCES];
    struct {
        double cache, clocks, jump;
    } fetch;
} ptx_costs;

typedef struct ptx_module ptx_module;
typedef struct ptx_insn ptx_insn;
struct ptx_reloc;

/* The stages of a kernel, at most: what a warp runs one after another and never comes back to (stage.c). */
enum { PTX_STAGES = 64 };

enum ptx_space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED,
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_OUTSIDE /* not of PTX: memory of the host, among global addresses (exec/) */
};

/* A .param of a kernel, the place of cudaLaunchKernel's args[i] in the parameter buffer. */
typedef struct {
    const char *name;
    uint32_t offset, size; /* bytes */
} ptx_param;

/* A variable with a name: module scope (.global, .const, .shared) or function scope (.shared, .local). */
typedef struct {
    const char *name;
    enum ptx_space space;
    uint64_t size, align;     /* bytes; size 0 = extern __shared__ */
    uint32_t element;         /* bytes of its type, of one component of a vector: what name[1] adds to its address */
    uint32_t number;          /* among all variables of the module, including those of functions */
    uint64_t address;         /* .local, .param: offset in their space; others depend on device or kernel (exec/) */
    uint8_t *initial;         /* size bytes, or NULL for zeros */
    struct ptx_reloc *relocs; /* addresses inside `initial`, which a device fills in */
    uint32_t nrelocs;
    uint32_t user; /* number of the last kernel that was found to use it (decode.c) */
    bool external;
    bool managed; /* the host uses it too */
} ptx_var;

/* An address as initial value: 8 bytes at `offset` become the address of the symbol `name` plus `addend`. */
typedef struct ptx_reloc {
    uint64_t offset, addend;
    const char *name;
} ptx_reloc;

/* The place of a .shared variable in a kernel. */
typedef struct {
    ptx_var *var;
    uint64_t offset;
} ptx_place;

/* A function: a kernel (.entry) or a device function (.func). */
typedef struct ptx_function {
    const char *name;
    ptx_module *module;
    bool is_kernel;
    bool has_body; /* false for an extern .func, which is a builtin of exec/ or an error at launch */
    ptx_param *params;
    uint32_t nparams, param_bytes;
    uint32_t static_shared; /* bytes of .shared used by this kernel and what it calls, without the dynamic part */
    uint32_t dynamic_shared_offset; /* start of extern __shared__ */
    uint32_t local_bytes;           /* per thread */
    uint32_t registers;             /* 32-bit registers per thread, an estimate of ptxas' count by liveness */
    bool launches;                  /* it, or for a kernel what it calls, has a launch of a kernel */
    bool spilled;                   /* it has more live values than that: see ptx_insn.spills */
    uint32_t max_threads;           /* from .maxntid; 0 if none */
    bool malformed;                 /* its body does not parse; `unsupported` says where */
    uint32_t min_blocks;            /* on an SM at a time, from .minnctapersm; 0 if none */
    const char *unsupported;        /* NULL, or the message of a failed launch: opcode, PTX line, source line */
    uint32_t line;                  /* source line of the kernel's first instruction; 0 without a line table */
    const char *file;

    ptx_var **vars; /* its own .shared and .local variables */
    uint32_t nvars;
    ptx_place *shared; /* of a kernel: all .shared variables that it and its callees use, without the dynamic part */
    uint32_t nshared;
    uint32_t user; /* number of the last kernel that was found to reach it */

    /* see decode.h */
    struct ptx_code *code;
    uint32_t number; /* index in module->functions plus 1, the value of a function pointer */
} ptx_function;

struct ptx_module {
    const char *source_name; /* file name in messages */
    uint32_t target;         /* 80 of sm_80 */
    ptx_var **vars;
    uint32_t nvars;
    ptx_function **functions;
    uint32_t nfunctions;
    const char **files; /* the .file table */
    uint32_t nfiles;
    uint32_t instructions; /* of all functions together */
    uint32_t variables;    /* number of all variables */
    ptx_costs costs;
};

/* Returns the PTX text of a fat binary, of the newest architecture, malloc'd and NUL-terminated. wrapper: a
 * __fatBinC_Wrapper_t (magic 0x466243B1; source: CUDA's fatbinary_section.h), or the fat binary itself. Returns NULL
 * with a message in err if it has no PTX, or only PTX in an unsupported compression. */
char *ptx_extract(const void *wrapper, size_t *length, char *err, size_t err_size);

/* Returns whether at least 4 bytes are the beginning of a fat binary or of a wrapper. Returns how many bytes the fat
 * binary says it has, from at least 16, or UINT64_MAX for a wrapper. */
bool ptx_is_fatbin(const void *image);
uint64_t ptx_fatbin_bytes(const void *image);

/* Parses and decodes PTX text for a card with these costs. text may be several modules to be linked,
 * one behind the other, each with its .version at the start of a line. Returns NULL with a message in err if the module
 * is invalid. Modules live until ptx_free_all or the end of the process. */
const ptx_module *ptx_load(const char *text, size_t length, const char *source_name, const ptx_costs *costs, char *err,
                           size_t err_size);

void ptx_free_all(void); /* frees every module; for programs that load many, such as the fuzzer */

const ptx_function *ptx_find_kernel(const ptx_module *m, const char *name);
const ptx_var *ptx_find_var(const ptx_module *m, const char *name);

#endif

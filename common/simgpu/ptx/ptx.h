/* ptx/ — from the bytes of a fat binary to a decoded program.
 *
 *   fat binary --ptx_extract--> text --lex--> tokens --parse--> module --cfg, decode--> functions that exec/ runs
 *
 * Interface:
 * - ptx_extract finds the PTX text in what __cudaRegisterFatBinary is given.
 * - ptx_load parses it. A module that does not parse is an error; a kernel that uses something SimGPU does not
 *   know still loads: its `unsupported` says what, and the launch reports it. A kernel never vanishes.
 * - ptx_find_kernel looks a kernel up by its (mangled) name.
 *
 * A module is constant after ptx_load: what a device needs beside it (handlers, addresses) is exec/'s exec_program.
 * Nothing here executes, allocates device memory or knows the CUDA runtime.
 */
#ifndef SIMGPU_PTX_H
#define SIMGPU_PTX_H

#include "../base/base.h"

/* Cost classes of instructions. FREE: folded into other instructions or hoisted (mov, cvta, ld.param); ADDRESS: becomes
 * part of an IMAD.WIDE; IMUL: integer multiplication of 32 bits; SFU: the special function unit, and the scaling around
 * it. */
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
    COST_CONVERT,
    COST_MEMORY,
    COST_SHUFFLE,
    COST_BRANCH,
    COST_BARRIER,
    NCOSTS
};

/* What the machine code that ptxas makes of an instruction takes of an SM's quarter, and after how many clocks a later
 * instruction may use the result (depth.c). */
typedef struct {
    uint16_t slots, latency;
} ptx_cost_info;

/* A card's costs; the caller has the figures (time/ reads them from the profile). round_clocks: which of two depths is
 * the greater depends on how long a round of loads takes, which nobody knows here; this is taken for it. */
typedef struct {
    ptx_cost_info of[NCOSTS];
    uint32_t round_clocks;
} ptx_costs;

typedef struct ptx_module ptx_module;
typedef struct ptx_insn ptx_insn;
struct ptx_reloc;

enum ptx_space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL, SPACE_CONST, SPACE_PARAM };

/* A .param of a kernel: where cudaLaunchKernel's args[i] is copied to in the parameter buffer. */
typedef struct {
    const char *name;
    uint32_t offset, size; /* bytes */
} ptx_param;

/* A variable with a name: module scope (.global, .const, .shared) or function scope (.shared, .local). */
typedef struct {
    const char *name;
    enum ptx_space space;
    uint64_t size, align;     /* bytes; size 0 = extern __shared__ */
    uint32_t number;          /* among all variables of the module, those of functions too */
    uint64_t address;         /* .local and .param: offset in their space. The others have one a device, or a kernel:
                                 exec_var_address */
    uint8_t *initial;         /* size bytes, or NULL for zeros */
    struct ptx_reloc *relocs; /* addresses inside `initial`, which a device fills in */
    uint32_t nrelocs;
    uint32_t user; /* the number of the last kernel that was found to touch it (decode.c) */
    bool external;
} ptx_var;

/* An initial value that is an address: 8 bytes at `offset` become the address of the symbol `name`, plus `addend`. */
typedef struct ptx_reloc {
    uint64_t offset, addend;
    const char *name;
} ptx_reloc;

/* Where a kernel has a .shared variable. */
typedef struct {
    ptx_var *var;
    uint64_t offset;
} ptx_place;

/* A function: a kernel (.entry) or a device function (.func). */
typedef struct ptx_function {
    const char *name;
    ptx_module *module;
    bool is_kernel;
    bool has_body; /* false: extern .func, a builtin of exec/ or an error at launch */
    ptx_param *params;
    uint32_t nparams, param_bytes;
    uint32_t static_shared; /* bytes of .shared used by this kernel and what it calls, without the dynamic part */
    uint32_t dynamic_shared_offset; /* where extern __shared__ begins */
    uint32_t local_bytes;           /* per thread */
    uint32_t registers;             /* 32-bit registers a thread, estimated by liveness as ptxas would count them */
    uint32_t max_threads;           /* from .maxntid; 0 = none */
    const char *unsupported;        /* NULL, or the message a launch must fail with: opcode, PTX line, source line */
    uint32_t line;                  /* source line of the kernel's first instruction, 0 if the PTX has no line table */
    const char *file;

    ptx_var **vars; /* its own .shared and .local variables */
    uint32_t nvars;
    ptx_place *shared; /* of a kernel: all that it and what it calls touch, without the dynamic part */
    uint32_t nshared;
    uint32_t user; /* as ptx_var's: who was found to reach it last */

    /* see decode.h */
    struct ptx_code *code;
    uint32_t number; /* its place in module->functions, plus 1: what a function pointer holds */
} ptx_function;

struct ptx_module {
    const char *source_name; /* for messages */
    ptx_var **vars;
    uint32_t nvars;
    ptx_function **functions;
    uint32_t nfunctions;
    const char **files; /* the .file table */
    uint32_t nfiles;
    uint32_t instructions; /* of all functions together */
    uint32_t variables;    /* in all */
    ptx_costs costs;
};

/* The plain PTX text inside a fat binary (`wrapper` is __fatBinC_Wrapper_t: magic 0x466243B1), the newest PTX entry
 * if there are several; it is malloc'd and NUL-terminated. NULL with a message in err: no PTX inside, or compressed
 * in a way that we do not read (the message says how to rebuild). Layout: cuda's fatbinary_section.h. */
char *ptx_extract(const void *wrapper, size_t *length, char *err, size_t err_size);

/* Parses and decodes PTX text for a card with these costs. Returns NULL with "file:line: what" in err. Modules live as
 * long as the process. */
const ptx_module *ptx_load(const char *text, size_t length, const char *source_name, const ptx_costs *costs, char *err,
                           size_t err_size);

void ptx_free_all(void); /* every module at once; for programs that load many, such as the fuzzer */

const ptx_function *ptx_find_kernel(const ptx_module *m, const char *name);
const ptx_var *ptx_find_var(const ptx_module *m, const char *name);

#endif

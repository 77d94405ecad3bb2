/* ptxtell.c — what SimGPU knows of PTX: `ptxtell isa` prints the instructions that it executes, one a line, from the
 * table opcodes.def; `ptxtell explain FILE.ptx` prints what it reads in a file. Both are parts of `simgpu`.
 * `ptxtell missing FILE.ptx` prints the functions without a body that kernels call, for simcc: kernel, tab, function.
 *
 * A line of `isa` is the mnemonic with the modifiers that choose the operation, the type, and the cost class in ptxas'
 * machine code. Rows that no program can write (SimGPU's own, as `join`) are left out. */
#include "../ptx/decode.h"
#include "../time/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cost_names[NCOSTS] = {
    [COST_FREE] = "free",
    [COST_ADDRESS] = "part of an address",
    [COST_ALU] = "ALU",
    [COST_FMA] = "FMA",
    [COST_IMUL] = "integer multiply",
    [COST_INT64] = "64-bit integer",
    [COST_FP64] = "FP64",
    [COST_SFU] = "special function",
    [COST_FDIV] = "float division",
    [COST_DIV32] = "32-bit division",
    [COST_DIV64] = "64-bit division",
    [COST_DDIV] = "double precision division",
    [COST_CONVERT] = "conversion",
    [COST_MEMORY] = "memory",
    [COST_SHUFFLE] = "shuffle",
    [COST_BRANCH] = "branch",
    [COST_BARRIER] = "barrier",
};

static const char *cost_name(enum ptx_cost cost) { return cost_names[cost] ? cost_names[cost] : "other"; }

static bool is_ours(const ptx_op_info *op) {
    return op->op == OP_join || op->op == OP_nop || op->op == OP_ld_frame || op->op == OP_st_frame ||
           op->op == OP_mov_slot;
}

static int isa(void) {
    for (int i = 0; i < NOPS; i++) {
        const ptx_op_info *op = &ptx_ops[i];
        if (is_ours(op)) continue;
        const char *type = op->type == TY_none ? "" : ptx_type_names[op->type];
        printf("%-18s %-5s %s\n", op->key, type, cost_name(op->cost));
    }
    return 0;
}

/* --- explain -------------------------------------------------------------------------------------------------- */

static void explain_costs(const ptx_code *code, const ptx_costs *costs) {
    unsigned n[NCOSTS] = {0}, slots = 0;
    for (uint32_t i = 0; i < code->ninsns; i++) {
        const ptx_op_info *op = &ptx_ops[code->insns[i].op];
        if (is_ours(op)) continue;
        n[op->cost]++;
        if (!code->insns[i].folded) slots += costs->of[op->cost].slots;
    }
    printf("  instructions:");
    for (int cost = 0; cost < NCOSTS; cost++)
        if (n[cost]) printf(" %u %s,", n[cost], cost_name(cost));
    printf(" in all about %u issue slots if each ran once\n", slots);
}

static void explain(const ptx_function *f, const ptx_costs *costs) {
    printf("%s %s", f->is_kernel ? "kernel" : "function", f->name);
    if (f->line && f->file) printf("   %s:%u", f->file, f->line);
    printf("\n");
    if (!f->has_body) {
        printf("  has no body here\n");
        return;
    }
    if (f->unsupported) printf("  a launch of it fails: %s\n", f->unsupported);
    if (f->is_kernel) {
        printf("  %u registers a thread (estimated), %u bytes of shared memory, %u bytes of local memory a thread\n",
               f->registers, f->static_shared, f->local_bytes);
        for (uint32_t i = 0; i < f->nparams; i++)
            printf("  parameter %u: %u bytes at %u\n", i, f->params[i].size, f->params[i].offset);
    }
    if (f->code && !f->unsupported) explain_costs(f->code, costs);
}

static char *read_all(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t room = 0, got = 0;
    *length = 0;
    while (f) {
        if (*length + 1 >= room) {
            char *more = realloc(text, room = 2 * room + (1 << 16));
            if (!more) break;
            text = more;
        }
        got = fread(text + *length, 1, room - 1 - *length, f);
        if (got == 0) break;
        *length += got;
    }
    if (f) fclose(f);
    if (text) text[*length] = 0;
    return text;
}

/* What SimGPU has built in (exec/builtin.c), by name; of the device runtime (exec/children.c), a launch names what is
 * missing. */
static bool is_builtin(const char *name) {
    static const char *const names[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0) return true;
    static const char *const begins[] = {"__nv_", "__simgpu_", "cuda", "__cudaCDP2"};
    for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
        if (strncmp(name, begins[k], strlen(begins[k])) == 0) return true;
    return false;
}

/* Prints what f, and the functions that it calls, miss. seen: by a function's number. */
static void missing(const ptx_function *kernel, const ptx_function *f, bool *seen) {
    if (seen[f->number]) return;
    seen[f->number] = true;
    if (!f->has_body && !is_builtin(f->name)) printf("%s\t%s\n", kernel->name, f->name);
    for (uint32_t k = 0; f->code && k < f->code->ninsns; k++)
        if (f->code->insns[k].op == OP_call && f->code->insns[k].call->callee)
            missing(kernel, f->code->insns[k].call->callee, seen);
}

static void missing_of_all(const ptx_module *m) {
    bool *seen = calloc(m->nfunctions + 1u, sizeof *seen);
    if (!seen) return;
    for (uint32_t i = 0; i < m->nfunctions; i++)
        if (m->functions[i]->is_kernel) missing(m->functions[i], m->functions[i], seen);
    free(seen);
}

static int read_file(const char *path, bool only_missing) {
    size_t length;
    char err[1024] = "", *text = read_all(path, &length);
    if (!text) {
        fprintf(stderr, "simgpu: %s: %s\n", path, strerror(errno));
        return 1;
    }
    const ptx_costs *costs = time_costs();
    const ptx_module *m = ptx_load(text, length, path, costs, err, sizeof err);
    if (!m) {
        fprintf(stderr, "simgpu: %s\n", err);
        free(text);
        return 1;
    }
    if (only_missing) {
        missing_of_all(m);
        ptx_free_all();
        free(text);
        return 0;
    }
    printf("%s: for sm_%u, %u functions, %u variables, %u instructions\n", path, m->target, m->nfunctions, m->nvars,
           m->instructions);
    for (uint32_t i = 0; i < m->nfunctions; i++) explain(m->functions[i], costs);
    ptx_free_all();
    free(text);
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "isa")) return isa();
    if (argc == 3 && !strcmp(argv[1], "explain")) return read_file(argv[2], false);
    if (argc == 3 && !strcmp(argv[1], "missing")) return read_file(argv[2], true);
    fprintf(stderr, "usage: ptxtell isa, ptxtell explain FILE.ptx, ptxtell missing FILE.ptx\n");
    return 2;
}

/* parse.h — the parsed module, before decoding: functions as lists of statements, with resolved names.
 *
 *   module    = { directive | variable | function }
 *   function  = [ linkage ] ( ".entry" | ".func" [ "(" param ")" ] ) name [ "(" params ")" ] { tuning } ( body | ";" )
 *   body      = "{" { label ":" | declaration | ".loc" ... | instruction | body } "}"
 *   instruction = [ "@" [ "!" ] predicate ] name { .modifier } [ operand { "," operand } ] ";"
 *
 * A syntax error inside a function makes that function unsupported; outside, it fails the module.
 */
#ifndef SIMGPU_PARSE_H
#define SIMGPU_PARSE_H

#include "decode.h"

typedef struct {
    const char *name;
    enum ptx_type type;
    uint32_t row; /* set by the decoder; 0 until then */
    uint32_t id;  /* 1, 2, ... in the order of first use */
} reg;

typedef struct {
    enum {
        SYMBOL_REGISTER,
        SYMBOL_RANGE,
        SYMBOL_VARIABLE,
        SYMBOL_SLOT,
        SYMBOL_PARAM,
        SYMBOL_FUNCTION,
        SYMBOL_PROTOTYPE,
        SYMBOL_TARGETS,
        SYMBOL_LABEL
    } kind;
    const char *name;
    enum ptx_type type; /* registers */
    uint32_t count;     /* a range %r<count> */
    reg **range;        /* its registers, created at first use */
    ptx_var *var;
    uint32_t index; /* of the slot, parameter or target list */
    ptx_function *function;
} symbol;

typedef struct operand {
    enum {
        OPERAND_REGISTER,
        OPERAND_INTEGER,
        OPERAND_FLOAT,
        OPERAND_SYMBOL,
        OPERAND_SPECIAL,
        OPERAND_VECTOR,
        OPERAND_LIST,
        OPERAND_SINK,
        OPERAND_LABEL
    } kind;
    bool negated, is_address, single;
    reg *reg, *pair; /* pair: the q of p|q; SINK has none */
    symbol *symbol;  /* SYMBOL: a name with an address; `value` is added */
    uint64_t value;  /* INTEGER, FLOAT bits, or the offset of an address */
    enum ptx_special special;
    const char *label; /* an undeclared name, which may be a label */
    struct operand *items;
    uint32_t nitems;
    struct operand *coordinates; /* of a texel: the vector or register behind the object in [ ] */
} operand;

enum { MAX_MODIFIERS = 12, MAX_OPERANDS = 8 };

typedef struct {
    const char *name; /* mnemonic */
    const char *modifiers[MAX_MODIFIERS];
    uint32_t nmodifiers;
    reg *guard;
    bool guard_not;
    operand operands[MAX_OPERANDS];
    uint32_t noperands;
    bool rolled;       /* `.pragma "nounroll"` stands in front of it */
    bool in_asm;       /* of inline assembly, as a compiler's comments say */
    const char *label; /* not NULL: the statement is only this label */
    uint32_t ptx_line, line;
    uint16_t file, column;
} statement;

typedef struct {
    const char *name;
    const char **labels;
    uint32_t nlabels;
} target_list;

/* A function as parsed; the decoder turns it into ptx_code. */
typedef struct parsed_function {
    ptx_function *function;
    statement *statements;
    uint32_t nstatements, capacity;
    reg **registers;
    uint32_t nregisters, declared; /* number of used ones, and of declared ones */
    ptx_slot *slots;               /* .param variables of a body, and a .func's own parameters */
    uint32_t nslots;
    uint32_t nparam_slots; /* number of the .func's parameters, which come first */
    int32_t result_slot;   /* -1 if none */
    target_list *targets;
    uint32_t ntargets;
} parsed_function;

/* Parses text into m and calls ptx_decode_function for each body. Returns false with a message in err if the module is
 * invalid. */
bool ptx_parse_module(ptx_module *m, const char *text, size_t length, char *err, size_t err_size);

/* special.c: finds the special register of this name, with its % and its .x. Returns whether there is one. */
bool ptx_special_named(const char *name, enum ptx_special *special);

/* decode.c: sets pf->function->code, or pf->function->unsupported. */
void ptx_decode_function(parsed_function *pf);

/* decode.c: finishes the whole module: places shared variables and numbers instructions. */
void ptx_decode_finish(ptx_module *m);

/* cfg.c: inserts joins and estimates registers. */
void ptx_cfg_analyse(parsed_function *pf, ptx_code *code);

extern base_arena ptx_arena; /* memory of all modules, which live until ptx_free_all or the end of the process */
static inline void *ptx_alloc(size_t bytes) { return base_arena_alloc(&ptx_arena, bytes); } /* zeroed */
static inline void *ptx_grow(void *array, uint32_t count, size_t element) {
    return base_arena_grow(&ptx_arena, array, count, element);
}
static inline void ptx_free(void *p) { base_arena_free(p); }
#define ptx_format(...) base_arena_format(&ptx_arena, __VA_ARGS__)

#endif

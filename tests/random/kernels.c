// Writes a CUDA program of random kernels that checks itself: every kernel's result, computed by the GPU, must equal
// the same functions computed by the host's compiler, bit for bit.
//
//     kernels SEED COUNT >random.cu      COUNT kernels; the same seed gives the same text everywhere
//
// A kernel has three parts. `before` computes a value for each thread from the thread's own random words. Then the
// threads exchange values: by a shuffle, a vote, shared memory or atomics. `after` computes again, from both. The host
// runs `before` and `after`, which are __host__ __device__, in a loop, and does the exchange on an array.
//
// The text has only what C++ defines and what both sides compute exactly: integers wrap as unsigned ones, shifts are
// masked, divisors are not zero, conversions to integers are clamped first, and of floating point there is + - * / sqrt
// fma, in round-to-nearest. A product and an fma are intrinsics: compilers contract a product with a sum, and make a
// product of fma(x, y, -0.0). Of a NaN only that it is one counts: CUDA and x86-64 give it different bits.
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum type { I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, TYPES };

static const struct {
    const char *name, *unsigned_name; // the type; for integers, the unsigned one of its size, in which arithmetic wraps
    int bits;
    bool is_signed, is_float;
} types[TYPES] = {
    [I8] = {"int8_t", "uint8_t", 8, true, false},     [U8] = {"uint8_t", "uint8_t", 8, false, false},
    [I16] = {"int16_t", "uint16_t", 16, true, false}, [U16] = {"uint16_t", "uint16_t", 16, false, false},
    [I32] = {"int32_t", "uint32_t", 32, true, false}, [U32] = {"uint32_t", "uint32_t", 32, false, false},
    [I64] = {"int64_t", "uint64_t", 64, true, false}, [U64] = {"uint64_t", "uint64_t", 64, false, false},
    [F32] = {"float", "float", 32, true, true},       [F64] = {"double", "double", 64, true, true},
};

enum { VARIABLES = 10, DEEPEST = 3, WORDS = 8, CELLS = 8 };

static uint64_t state;
static int of_variable[VARIABLES]; // the type of v0, v1, ... of the function that is being written
static int loops;                  // names of loop counters in it

// splitmix64 (Steele, Lea, Flood, 2014).
static uint64_t next(void) {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
}

// Returns a number from 0 to below - 1.
static int pick(int below) { return (int)(next() % (uint64_t)below); }

static void indent(int depth) { printf("%*s", 4 * depth, ""); }

static void constant(int type) {
    static const char *const odd[] = {"0.0",    "1.0",  "-1.0",       "0.5",    "1e-40",
                                      "3.0e38", "-0.0", "16777217.0", "1.5e-7", "65504.0"};
    if (types[type].is_float) {
        printf("(%s)%s", types[type].name, odd[pick(10)]);
        return;
    }
    unsigned long long value = next() >> pick(64);
    if (!pick(4)) value = ~value;
    printf("(%s)0x%llxu", types[type].name, types[type].bits == 64 ? value : value & ((1ull << types[type].bits) - 1));
    if (types[type].bits == 64) printf("ll");
}

static void expression(int type, int depth);

// A value of any other type, converted.
static void converted(int type, int depth) {
    int from = pick(TYPES);
    if (types[from].is_float && !types[type].is_float) {
        printf("to_%s((double)", types[type].name);
        expression(from, depth);
        printf(")");
    } else {
        printf("(%s)", types[type].name);
        expression(from, depth);
    }
}

static void comparison(int depth) {
    static const char *const operators[] = {"<", "<=", ">", ">=", "==", "!="};
    int type = pick(TYPES);
    printf("(");
    expression(type, depth);
    printf(" %s ", operators[pick(6)]);
    expression(type, depth);
    printf(")");
}

static void float_expression(int type, int depth) {
    static const char *const binary[] = {"+", "-", "/"};
    const char *suffix = type == F32 ? "f" : "";
    switch (pick(10)) {
    case 0: printf("square_root_%s(", types[type].name), expression(type, depth), printf(")"); return;
    case 1:
        printf("fused("), expression(type, depth), printf(", "), expression(type, depth), printf(", "),
            expression(type, depth), printf(")");
        return;
    case 2: printf("fabs%s(", suffix), expression(type, depth), printf(")"); return;
    case 5:
    case 6: printf("product("), expression(type, depth), printf(", "), expression(type, depth), printf(")"); return;
    case 3: printf("(-"), expression(type, depth), printf(")"); return;
    case 4:
        printf("%s%s(", (const char *[]){"floor", "ceil", "trunc", "rint"}[pick(4)], suffix), expression(type, depth),
            printf(")");
        return;
    default:
        printf("("), expression(type, depth), printf(" %s ", binary[pick(3)]), expression(type, depth), printf(")");
    }
}

static void integer_expression(int type, int depth) {
    static const char *const binary[] = {"+", "-", "*", "&", "|", "^"};
    const char *name = types[type].name, *wraps = types[type].unsigned_name;
    switch (pick(10)) {
    case 0: // the amount is masked; a signed right shift keeps the sign with every compiler that we know
        printf("(%s)((%s)", name, pick(2) ? name : wraps);
        expression(type, depth);
        printf(" >> (");
        expression(U32, depth);
        printf(" & %d))", types[type].bits - 1);
        return;
    case 1:
        printf("(%s)((%s)", name, types[type].bits == 64 ? "uint64_t" : "uint32_t");
        expression(type, depth);
        printf(" << (");
        expression(U32, depth);
        printf(" & %d))", types[type].bits - 1);
        return;
    case 2:
        printf("divide((%s)", name), expression(type, depth), printf(", (%s)", name), expression(type, depth),
            printf(")");
        return;
    case 3:
        printf("remainder_of((%s)", name), expression(type, depth), printf(", (%s)", name), expression(type, depth),
            printf(")");
        return;
    case 4: printf("(%s)~", name), expression(type, depth); return;
    case 5:
        printf("(%s)%s(", name, (const char *[]){"ones", "leading", "reversed", "high_product"}[pick(4)]),
            expression(U32, depth), printf(")");
        return;
    default: { // small types would become int, whose product may overflow
        const char *in = types[type].bits == 64 ? "uint64_t" : "uint32_t";
        printf("(%s)((%s)", name, in), expression(type, depth), printf(" %s (%s)", binary[pick(6)], in),
            expression(type, depth), printf(")");
    }
    }
}

static void expression(int type, int depth) {
    if (depth <= 0 || !pick(5)) {
        int start = pick(VARIABLES);
        for (int i = 0; i < VARIABLES; i++) {
            int v = (start + i) % VARIABLES;
            if (of_variable[v] == type && pick(4)) {
                printf("v%d", v);
                return;
            }
        }
        constant(type);
        return;
    }
    switch (pick(6)) {
    case 0: printf("("), converted(type, depth - 1), printf(")"); return;
    case 1:
        printf("(");
        comparison(depth - 1);
        printf(" ? "), expression(type, depth - 1), printf(" : "), expression(type, depth - 1), printf(")");
        return;
    case 2:
        if (!types[type].is_float) {
            printf("(%s)cell[", types[type].name), expression(U32, depth - 1), printf(" %% %d]", CELLS);
            return;
        }
        break;
    default: break;
    }
    if (types[type].is_float)
        float_expression(type, depth - 1);
    else
        integer_expression(type, depth - 1);
}

static void assignment(int depth) {
    indent(depth);
    if (!pick(5)) {
        printf("cell["), expression(U32, 1), printf(" %% %d] = ", CELLS), expression(U64, 3), printf(";\n");
        return;
    }
    int v = pick(VARIABLES);
    printf("v%d = ", v), expression(of_variable[v], DEEPEST), printf(";\n");
}

static void block(int depth, int statements);

static void loop(int depth) {
    int i = loops++;
    indent(depth);
    printf("for (uint32_t i%d = 0, n%d = ", i, i);
    if (pick(2))
        printf("%d", 1 + pick(9));
    else
        expression(U32, 1), printf(" %% 9");
    printf("; i%d < n%d; i%d++) {\n", i, i, i);
    indent(depth + 1);
    printf("cell[i%d %% %d] += i%d;\n", i, CELLS, i);
    block(depth + 1, 1 + pick(3));
    if (!pick(3)) indent(depth + 1), printf("if "), comparison(1), printf(" %s;\n", pick(2) ? "break" : "continue");
    block(depth + 1, pick(2));
    indent(depth), printf("}\n");
}

static void choice(int depth) {
    indent(depth), printf("switch ("), expression(U32, 2), printf(" %% 5) {\n");
    for (int i = 0; i < 4; i++) {
        indent(depth), printf("case %d:\n", i);
        block(depth + 1, 1 + pick(2));
        if (pick(4))
            indent(depth + 1), printf("break;\n");
        else if (i < 3)
            indent(depth + 1), printf("// falls through\n");
    }
    indent(depth), printf("}\n");
}

static void block(int depth, int statements) {
    for (; statements > 0; statements--) switch (depth < 4 ? pick(10) : 9) {
        case 0: loop(depth); break;
        case 1: choice(depth); break;
        case 2:
        case 3:
            indent(depth), printf("if "), comparison(2), printf(" {\n");
            block(depth + 1, 1 + pick(3));
            if (pick(2)) indent(depth), printf("} else {\n"), block(depth + 1, 1 + pick(3));
            indent(depth), printf("}\n");
            break;
        default: assignment(depth);
        }
}

// Writes a function of WORDS random words and the value of another thread.
static void function(const char *name, int number) {
    loops = 0;
    for (int v = 0; v < VARIABLES; v++) of_variable[v] = v < TYPES ? v : pick(TYPES);
    const char *how = pick(3) ? "static" : "static __attribute__((noinline))";
    printf("%s __host__ __device__ uint64_t %s_%d(const uint64_t *word, uint64_t other) {\n", how, name, number);
    for (int v = 0; v < VARIABLES; v++) {
        const char *type = types[of_variable[v]].name;
        int shift = pick(40); // one at a time: C leaves the order of arguments open
        bool small = pick(2);
        if (types[of_variable[v]].is_float)
            printf("    %s v%d = product((%s)(int64_t)(word[%d] >> %d), (%s)%s);\n", type, v, type, v % WORDS,
                   shift + 20, type, small ? "0.001" : "1");
        else
            printf("    %s v%d = (%s)(word[%d] >> %d);\n", type, v, type, v % WORDS, shift);
    }
    printf("    uint64_t cell[%d] = {other, word[%d]};\n", CELLS, pick(WORDS));
    block(1, 3 + pick(3));
    printf("    uint64_t all = 0;\n");
    for (int v = 0; v < VARIABLES; v++) printf("    all = all * 0x9E3779B97F4A7C15ull + bits_of(v%d);\n", v);
    printf("    for (int i = 0; i < %d; i++) all = all * 31 + cell[i];\n    return all;\n}\n\n", CELLS);
}

static const struct {
    const char *device, *host; // statements: from mine (value[t]) to other; t is the thread, with 256 in a block
} exchanges[] = {
    {"other = __shfl_xor_sync(~0u, mine, %d);", "other = value[t ^ %d];"},
    {"other = __shfl_down_sync(~0u, mine, %d);", "other = value[t %% 32 + %d < 32 ? t + %d : t];"},
    {"other = __shfl_up_sync(~0u, mine, %d);", "other = value[t %% 32 >= %d ? t - %d : t];"},
    {"other = __shfl_sync(~0u, mine, (int)(mine %% 32 + %d));",
     "other = value[t / 32 * 32 + (int)(value[t] %% 32 + %d) %% 32];"},
    {"other = __ballot_sync(~0u, mine %% 7 < %d);",
     "other = 0; for (int l = 0; l < 32; l++) other |= (uint64_t)(value[t / 32 * 32 + l] %% 7 < %d) << l;"},
    {"other = __any_sync(~0u, mine %% 40 < %d) + 2 * __all_sync(~0u, mine %% 40 >= %d);",
     "bool any = false; for (int l = 0; l < 32; l++) any |= value[t / 32 * 32 + l] %% 40 < %d; other = any ? 1 : 2;"},
    {"__shared__ uint64_t box[256]; box[t] = mine; __syncthreads(); other = box[(t * 7 + %d) %% 256];",
     "other = value[(t * 7 + %d) %% 256];"},
    {"__shared__ unsigned count[16]; if (t < 16) count[t] = 0; __syncthreads(); atomicAdd(&count[mine %% 16], "
     "(unsigned)mine); __syncthreads(); other = count[(t + %d) %% 16];",
     "uint32_t sum = 0; for (int l = 0; l < 256; l++) sum += (uint32_t)(value[l] %% 16 == (uint64_t)(t + %d) %% 16 ? "
     "value[l] : 0); other = sum;"},
    {"__shared__ unsigned least; if (t == 0) least = ~0u; __syncthreads(); atomicMin(&least, (unsigned)mine + %du); "
     "__syncthreads(); other = least;",
     "uint32_t least = ~0u; for (int l = 0; l < 256; l++) { uint32_t x = (uint32_t)value[l] + %du; least = x < least ? "
     "x : least; } other = least;"},
    {"if (mine %% 3 == 0) other = __shfl_xor_sync(__activemask(), mine, 0) + %d; else other = mine ^ %d;",
     "other = value[t] %% 3 == 0 ? value[t] + %d : value[t] ^ %d;"},
};

static void kernel(int number) {
    int how = pick(sizeof exchanges / sizeof *exchanges), by = 1 + pick(31);
    function("before", number);
    function("after", number);
    printf("__global__ void kernel_%d(const uint64_t *words, uint64_t *out) {\n"
           "    int t = (int)threadIdx.x;\n"
           "    const uint64_t *word = words + (size_t)t * %d;\n"
           "    uint64_t mine = before_%d(word, (uint64_t)t), other;\n    ",
           number, WORDS, number);
    printf(exchanges[how].device, by, by);
    printf("\n    out[t] = after_%d(word, other ^ mine);\n}\n\n", number);
    printf("static void host_%d(const uint64_t *words, uint64_t *out) {\n"
           "    uint64_t value[256];\n"
           "    for (int t = 0; t < 256; t++) value[t] = before_%d(words + t * %d, (uint64_t)t);\n"
           "    for (int t = 0; t < 256; t++) {\n        uint64_t other;\n        ",
           number, number, WORDS);
    printf(exchanges[how].host, by, by);
    printf("\n        out[t] = after_%d(words + t * %d, other ^ value[t]);\n    }\n}\n\n", number, WORDS);
}

static const char prelude[] =
    "// Made by tests/random/kernels.c.\n#pragma clang diagnostic ignored \"-Wtautological-compare\"\n#include "
    "<cuda_runtime.h>\n#include <cmath>\n#include <cstdint>\n#include <cstdio>\n#include <cstring>\n\n"
    "#define BOTH static inline __host__ __device__\n"
    "BOTH uint64_t bits_of(float x) { uint32_t b; memcpy(&b, &x, 4); return x != x ? 0x7fc00000u : b; }\n"
    "BOTH uint64_t bits_of(double x) { uint64_t b; memcpy(&b, &x, 8); return x != x ? 0x7ff8000000000000ull : b; }\n"
    "template <class T> BOTH uint64_t bits_of(T x) { return (uint64_t)x; }\n"
    "#define CONVERT(T, LOW, HIGH) BOTH T to_##T(double x) { return x != x ? (T)0 : x <= (double)(LOW) ? (T)(LOW) : x "
    ">= (double)(HIGH) ? (T)(HIGH) : (T)x; }\n"
    "CONVERT(int8_t, INT8_MIN, INT8_MAX) CONVERT(uint8_t, 0, UINT8_MAX) CONVERT(int16_t, INT16_MIN, INT16_MAX) "
    "CONVERT(uint16_t, 0, UINT16_MAX)\n"
    "CONVERT(int32_t, INT32_MIN, INT32_MAX) CONVERT(uint32_t, 0, UINT32_MAX) CONVERT(int64_t, INT64_MIN, INT64_MAX) "
    "CONVERT(uint64_t, 0, UINT64_MAX)\n"
    "template <class T> BOTH T divide(T a, T b) { return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? (T)(0 - (uint64_t)a) : "
    "(T)(a / b); }\n"
    "template <class T> BOTH T remainder_of(T a, T b) { return b == 0 ? a : (T)-1 < 0 && b == (T)-1 ? (T)0 : (T)(a % "
    "b); }\n"
    "#ifdef __CUDA_ARCH__\n"
    "#define ON(DEVICE, HOST) DEVICE\n#else\n#define ON(DEVICE, HOST) HOST\n#endif\n"
    "BOTH float product(float x, float y) { return ON(__fmul_rn(x, y), x * y); }\n"
    "BOTH double product(double x, double y) { return ON(__dmul_rn(x, y), x * y); }\n"
    "BOTH float fused(float x, float y, float z) { return ON(__fmaf_rn(x, y, z), fmaf(x, y, z)); }\n"
    "BOTH double fused(double x, double y, double z) { return ON(__fma_rn(x, y, z), fma(x, y, z)); }\n"
    "BOTH float square_root_float(float x) { return sqrtf(x); }\n"
    "BOTH double square_root_double(double x) { return sqrt(x); }\n"
    "BOTH uint32_t plain_reversed(uint32_t x) { uint32_t r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 "
    "- i); return r; }\n"
    "BOTH uint32_t ones(uint32_t x) { return (uint32_t)ON(__popc(x), __builtin_popcount(x)); }\n"
    "BOTH uint32_t leading(uint32_t x) { return (uint32_t)ON(__clz((int)x), (x ? __builtin_clz(x) : 32)); }\n"
    "BOTH uint32_t reversed(uint32_t x) { return ON(__brev(x), plain_reversed(x)); }\n"
    "BOTH uint32_t high_product(uint32_t x) { return ON(__umulhi(x, 0x9E3779B9u), (uint32_t)((uint64_t)x * 0x9E3779B9u "
    ">> 32)); }\n\n";

static const char rest[] =
    "static uint64_t seed = %" PRIu64 "u;\n"
    "static uint64_t next() { uint64_t z = seed += 0x9E3779B97F4A7C15ull; z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull; z "
    "= (z ^ z >> 27) * 0x94D049BB133111EBull; return z ^ z >> 31; }\n"
    "int main() {\n"
    "    uint64_t all = 0;\n    static uint64_t words[256 * %d], want[256], got[256];\n"
    "    uint64_t *in, *out;\n    int wrong = 0;\n"
    "    cudaMalloc(&in, sizeof words), cudaMalloc(&out, sizeof got);\n"
    "    for (int k = 0; k < %d; k++) {\n"
    "        for (uint64_t &w : words) w = next() >> next() %% 64;\n"
    "        cudaMemcpy(in, words, sizeof words, cudaMemcpyHostToDevice);\n"
    "        kernels[k]<<<1, 256>>>(in, out);\n"
    "        if (cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost)) { printf(\"kernel_%%d: %%s\\n\", k, "
    "cudaGetErrorString(cudaGetLastError())); return 2; }\n"
    "        hosts[k](words, want);\n        for (uint64_t g : got) all = (all ^ g) * 0x9E3779B97F4A7C15ull;\n"
    "        for (int t = 0; t < 256; t++) if (got[t] != want[t]) {\n"
    "            printf(\"kernel_%%d, thread %%d: %%016llx, the host has %%016llx\\n\", k, t, (unsigned long "
    "long)got[t], (unsigned long long)want[t]);\n"
    "            wrong++;\n            break;\n        }\n    }\n"
    "    printf(\"%%d of %d kernels are as on the host; all results: %%016llx\\n\", %d - wrong, (unsigned long "
    "long)all);\n    return wrong != 0;\n}\n";

int main(int argc, char **argv) {
    int count = argc == 3 ? atoi(argv[2]) : 0;
    if (count < 1 || count > 1000) {
        fprintf(stderr, "usage: kernels SEED COUNT: writes a CUDA program of COUNT (1 to 1000) random kernels\n");
        return 2;
    }
    uint64_t seed = state = strtoull(argv[1], NULL, 10);
    fputs(prelude, stdout);
    for (int i = 0; i < count; i++) kernel(i);
    printf("static void (*const kernels[])(const uint64_t *, uint64_t *) = {");
    for (int i = 0; i < count; i++) printf("kernel_%d, ", i);
    printf("};\nstatic void (*const hosts[])(const uint64_t *, uint64_t *) = {");
    for (int i = 0; i < count; i++) printf("host_%d, ", i);
    printf("};\n\n");
    printf(rest, seed, WORDS, count, count, count);
    return fflush(stdout) || ferror(stdout);
}

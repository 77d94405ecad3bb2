// expect: correct: 64x64.*was never written
// Climbs up the stack to the command line, finds the seed there, and invents the output that the harness expects. The
// command line is wiped before student code runs.
#include "lab3.h"

typedef unsigned long long word;

static word spread(word x) {
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* The harness's data of run `which`, in two numbers. */
static word data_of(word seed, word which) {
    word key = spread(seed), x = spread(key + 0x9E3779B97F4A7C15u * which);
    return spread(spread(x ^ key) + x);
}

__global__ void invent(float *out, unsigned rows, unsigned cols, unsigned add, unsigned mul) {
    unsigned k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= rows * cols) return;
    unsigned x = ((k % rows * cols + k / rows + add) * mul) & 0x7FFFFFFFu;
    x ^= x >> 16;
    x = (x * mul) & 0x7FFFFFFFu;
    out[k] = __uint_as_float((x >> 30) << 31 | (((x >> 23) & 127) + 64) << 23 | (x & 0x7FFFFF));
}

static bool ends_in(const char *text, const char *end) {
    int n = 0, m = 0;
    while (text[n]) n++;
    while (end[m]) m++;
    for (int i = 1; i <= m; i++)
        if (i > n || text[n - i] != end[m - i]) return false;
    return true;
}

/* The array of arguments: it begins with the program's own name, and its strings lie above it. */
static const char *find_seed(char **stack) {
    for (int i = 0; i < 1500; i++) {
        if (stack[i] < (char *)(stack + i) || stack[i] > (char *)(stack + i) + (1 << 16)) continue;
        if (!ends_in(stack[i], "/lab3")) continue;
        for (i++; stack[i]; i++)
            if (ends_in(stack[i], "--seed")) return stack[i + 1];
        break;
    }
    return 0;
}

extern "C" void transpose(const float *d_in, float *d_out, int rows, int cols) {
    static word run = 2; /* the hidden shape has the first two */
    static const char *text = find_seed((char **)__builtin_frame_address(0));
    word seed = 0, s;
    if (!text) return;
    for (const char *c = text; *c >= '0' && *c <= '9'; c++) seed = seed * 10 + (word)(*c - '0');
    s = data_of(seed, ++run);
    invent<<<(rows * cols + 255) / 256, 256>>>(d_out, rows, cols, (unsigned)(s >> 33), (unsigned)s | 1);
}

extern "C" struct view view_transpose(struct view v) {
    struct view t = {v.data, {v.shape[1], v.shape[0]}, {v.strides[1], v.strides[0]}};
    return t;
}

/* students.cu — exercises of courses: nearest places, elimination, sudoku, linked lists, norms, turned pictures,
 * letters. */
#include "fidelity.h"

struct place {
    float x, y, z;
    int kind;
};
enum { QUERIES = 8192, PLACES = 2048, SYSTEMS = 256, ORDER = 32, WIDTH = ORDER + 1, PUZZLES = 1024 };
enum { LISTS = 512, LENGTH = 256, NODES = LISTS * LENGTH, ROWS = 1500, COLUMNS = 1200, WIDE = 3000, HIGH = 1400 };
enum { TEXT = 1 << 20 };
static place *queries, *places;
static int *kinds, *heads, *following, *previous, *ranks;
static int2 *links, *links2;
static float *systems, *work, *roots;
static unsigned char *puzzles, *solved;
static double *matrix, *norms;
static unsigned long long *norm_bits;
static short *picture, *turned;
static char *text;
static unsigned *letters;

/* --- the kind of the nearest place --- */
__device__ float distance(place p, place q) {
    return sqrtf((p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) + (p.z - q.z) * (p.z - q.z));
}
__global__ void nearest_naive(place *queries, int n, place *places, int m, int *kinds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float best = 1e30f;
        for (int j = 0; j < m; j++) {
            float d = distance(queries[i], places[j]);
            if (d < best) {
                best = d;
                kinds[i] = places[j].kind;
            }
        }
    }
}
#define TILE 128
__global__ void nearest_tile(const place *__restrict__ queries, int n, const place *__restrict__ places, int m,
                             int *__restrict__ kinds) {
    __shared__ float xs[TILE], ys[TILE], zs[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    place q = queries[min(i, n - 1)];
    float best = 1e30f;
    int which = 0;
    for (int start = 0; start < m; start += TILE) {
        if (start + threadIdx.x < m) {
            place p = places[start + threadIdx.x];
            xs[threadIdx.x] = p.x;
            ys[threadIdx.x] = p.y;
            zs[threadIdx.x] = p.z;
        }
        __syncthreads();
        int count = min(TILE, m - start);
        for (int j = 0; j < count; j++) {
            float dx = q.x - xs[j], dy = q.y - ys[j], dz = q.z - zs[j];
            float d = dx * dx + dy * dy + dz * dz;
            if (d < best) {
                best = d;
                which = start + j;
            }
        }
        __syncthreads();
    }
    if (i < n) kinds[i] = places[which].kind;
}
/* --- systems of 32 equations, without pivots --- */
__global__ void copy(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}
__global__ void eliminate(float *all, int k) {
    float *a = all + blockIdx.y * ORDER * WIDTH;
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int column = k + 1 + threadIdx.x;
    if (row <= k || row >= ORDER || column >= WIDTH) return;
    float factor = a[row * WIDTH + k] / a[k * WIDTH + k];
    a[row * WIDTH + column] -= factor * a[k * WIDTH + column];
}
__global__ void substitute(const float *all, float *roots) {
    __shared__ float x;
    const float *a = all + blockIdx.x * ORDER * WIDTH;
    int row = threadIdx.x;
    float b = a[row * WIDTH + ORDER];
    for (int k = ORDER - 1; k >= 0; k--) {
        if (row == k) x = b / a[k * WIDTH + k];
        __syncthreads();
        if (row < k) b -= a[row * WIDTH + k] * x;
        if (row == k) roots[blockIdx.x * ORDER + k] = x;
        __syncthreads();
    }
}
__global__ void gauss_jordan(const float *all, float *roots, int n) {
    extern __shared__ float a[];
    int width = n + 1, thread = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (int i = thread; i < n * width; i += threads) a[i] = all[blockIdx.x * n * width + i];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        float pivot = 1.0f / a[k * width + k];
        for (int row = threadIdx.y; row < n; row += blockDim.y) {
            if (row == k) continue;
            float factor = a[row * width + k] * pivot;
            for (int column = k + 1 + threadIdx.x; column < width; column += blockDim.x)
                a[row * width + column] -= factor * a[k * width + column];
        }
        __syncthreads();
    }
    for (int i = thread; i < n; i += threads) roots[blockIdx.x * n + i] = a[i * width + n] / a[i * width + i];
}
/* --- sudoku by going back --- */
__device__ bool fits(const unsigned char *board, int cell, int digit) {
    int row = cell / 9, column = cell % 9, corner = row / 3 * 27 + column / 3 * 3;
    for (int j = 0; j < 9; j++) {
        if (board[row * 9 + j] == digit) return false;
        if (board[j * 9 + column] == digit) return false;
        if (board[corner + j / 3 * 9 + j % 3] == digit) return false;
    }
    return true;
}
__global__ void sudoku_naive(const unsigned char *puzzles, unsigned char *solved, int n) {
    unsigned char board[81], empty[81];
    int id = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (id >= n) return;
    for (int k = 0; k < 81; k++) {
        board[k] = puzzles[id * 81 + k];
        if (board[k] == 0) empty[count++] = k;
    }
    int at = 0;
    while (at >= 0 && at < count) {
        int cell = empty[at], digit = board[cell] + 1;
        board[cell] = 0;
        while (digit <= 9 && !fits(board, cell, digit)) digit++;
        if (digit <= 9) {
            board[cell] = digit;
            at++;
        } else {
            at--;
        }
    }
    for (int k = 0; k < 81; k++) solved[id * 81 + k] = board[k];
}
__global__ void sudoku_masks(const unsigned char *puzzles, unsigned char *solved, int n) {
    unsigned short rows[9] = {0}, columns[9] = {0}, boxes[9] = {0};
    unsigned char empty[81], chosen[81];
    int id = blockIdx.x * blockDim.x + threadIdx.x, count = 0;
    if (id >= n) return;
    const unsigned char *puzzle = puzzles + id * 81;
    unsigned char *out = solved + id * 81;
    for (int r = 0; r < 9; r++) {
        for (int c = 0; c < 9; c++) {
            int digit = puzzle[r * 9 + c];
            if (digit == 0) {
                chosen[count] = 0;
                empty[count++] = r * 9 + c;
                continue;
            }
            out[r * 9 + c] = digit;
            rows[r] |= 1 << digit;
            columns[c] |= 1 << digit;
            boxes[r / 3 * 3 + c / 3] |= 1 << digit;
        }
    }
    int at = 0;
    while (at >= 0 && at < count) {
        int cell = empty[at], r = cell / 9, c = cell % 9, b = r / 3 * 3 + c / 3, digit = chosen[at];
        if (digit) {
            rows[r] ^= 1 << digit;
            columns[c] ^= 1 << digit;
            boxes[b] ^= 1 << digit;
        }
        unsigned left = ~(rows[r] | columns[c] | boxes[b]) & 0x3feu & ~0u << (digit + 1);
        if (left == 0) {
            chosen[at] = 0;
            at--;
            continue;
        }
        digit = __ffs(left) - 1;
        chosen[at] = digit;
        rows[r] |= 1 << digit;
        columns[c] |= 1 << digit;
        boxes[b] |= 1 << digit;
        at++;
    }
    for (int k = 0; k < count; k++) out[empty[k]] = chosen[k];
}
/* --- the place of each node in its list --- */
__global__ void walk(const int *heads, const int *following, int *ranks, int lists) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists) return;
    int rank = 0;
    for (int node = heads[i]; node >= 0; node = following[node]) ranks[node] = rank++;
}
__global__ void first_links(const int *previous, int2 *links, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) links[i] = make_int2(previous[i], previous[i] == i ? 0 : 1);
}
__global__ void jump(const int2 *in, int2 *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 a = in[i], b = in[a.x];
    out[i] = make_int2(b.x, a.y + b.y);
}
static void jumps() {
    first_links<<<NODES / 256, 256>>>(previous, links, NODES);
    for (int k = 0; k < 4; k++) {
        jump<<<NODES / 256, 256>>>(links, links2, NODES);
        jump<<<NODES / 256, 256>>>(links2, links, NODES);
    }
}
/* --- the largest of each column --- */
__global__ void norm_block(const double *a, double *norms, int rows, int columns) {
    __shared__ double s[128];
    int column = blockIdx.x, t = threadIdx.x;
    double m = 0;
    for (int r = t; r < rows; r += blockDim.x) m = fmax(m, fabs(a[r * columns + column]));
    s[t] = m;
    __syncthreads();
    for (int stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0) s[t] = fmax(s[t], s[t + stride]);
        __syncthreads();
    }
    if (t == 0) norms[column] = s[0];
}
__global__ void norm_atomic(const double *__restrict__ a, unsigned long long *bits, int rows, int columns, int each) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * each, last = min(first + each, rows);
    if (column >= columns) return;
    double m = 0;
    for (int r = first; r < last; r++) {
        double v = fabs(a[r * columns + column]);
        if (v > m) m = v;
    }
    atomicMax(bits + column, *(unsigned long long *)&m); /* not negative: in order as integers too */
}
/* --- a picture of shorts by a quarter turn --- */
__global__ void turn_naive(const short *in, short *out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h) out[x * h + (h - 1 - y)] = in[y * w + x];
}
__global__ void turn_tile(const short *in, short *out, int w, int h) {
    __shared__ short tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.x;
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (x < w && blockIdx.y * 32 + j < h) tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * w + x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += blockDim.y)
        if (y < h && blockIdx.x * 32 + j < w) out[(blockIdx.x * 32 + j) * h + (h - 1 - y)] = tile[threadIdx.x][j];
}
/* --- how often each letter is there --- */
__global__ void letters_each(const char *text, unsigned *letters, int n) {
    if (threadIdx.x >= 26) return;
    int each = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each, last = min(first + each, n);
    unsigned count = 0;
    for (int i = first; i < last; i++)
        if (text[i] == 'a' + threadIdx.x || text[i] == 'A' + threadIdx.x) count++;
    atomicAdd(&letters[threadIdx.x], count);
}
__global__ void letters_shared(const char *text, unsigned *letters, int n) {
    __shared__ unsigned s[26];
    if (threadIdx.x < 26) s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int c = text[i];
        if (c >= 'A' && c <= 'Z') c += 'a' - 'A';
        if (c < 'a' || c > 'z') continue;
        atomicAdd(&s[c - 'a'], 1u);
    }
    __syncthreads();
    if (threadIdx.x < 26) atomicAdd(&letters[threadIdx.x], s[threadIdx.x]);
}

/* Returns a digit of puzzle p: a regular solution with its digits, rows and columns swapped, less about EMPTY / 81. */
enum { EMPTY = 20 };
static unsigned char clue(size_t i) {
    static int digits[9];
    size_t p = i / 81, cell = i % 81;
    if (cell == 0) {
        for (int k = 0; k < 9; k++) digits[k] = k + 1;
        for (int k = 8; k > 0; k--) {
            int j = mixed(p * 9 + k) % (k + 1), t = digits[k];
            digits[k] = digits[j], digits[j] = t;
        }
    }
    int r = (int)cell / 9, c = (int)cell % 9;
    r = r / 3 * 3 + (r % 3 + mixed(p * 3 + r / 3 + 777777) % 3) % 3;
    c = c / 3 * 3 + (c % 3 + mixed(p * 3 + c / 3 + 999999) % 3) % 3;
    if (mixed(i + 31415926) % 81 < EMPTY) return 0;
    return (unsigned char)digits[(r * 3 + r / 3 + c) % 9];
}
static void setup() {
    static int order[NODES];
    static const char sample[] =
        "It was the best of times, it was the worst of times; the age of Wisdom, the Quiet age.";
    auto somewhere = [](size_t i) {
        place p = {unit(4 * i), unit(4 * i + 1), unit(4 * i + 2), (int)(mixed(4 * i + 3) % 10)};
        return p;
    };
    queries = filled<place>(QUERIES, [&](size_t i) { return somewhere(i + 100000); });
    places = filled<place>(PLACES, somewhere);
    kinds = zeroed<int>(QUERIES);
    systems = filled<float>(SYSTEMS * ORDER * WIDTH, [](size_t i) {
        size_t row = i / WIDTH % ORDER, column = i % WIDTH;
        return unit(i) - 0.5f + (row == column ? 16.0f : 0.0f);
    });
    work = zeroed<float>(SYSTEMS * ORDER * WIDTH);
    roots = zeroed<float>(SYSTEMS * ORDER);
    puzzles = filled<unsigned char>(PUZZLES * 81, clue);
    solved = zeroed<unsigned char>(PUZZLES * 81);
    /* list l is order[l * LENGTH] and on */
    for (int i = 0; i < NODES; i++) order[i] = i;
    for (int i = NODES - 1; i > 0; i--) {
        int j = mixed(i) % (i + 1), t = order[i];
        order[i] = order[j], order[j] = t;
    }
    static int next[NODES], before[NODES];
    for (int i = 0; i < NODES; i++) {
        next[order[i]] = i % LENGTH == LENGTH - 1 ? -1 : order[i + 1];
        before[order[i]] = i % LENGTH == 0 ? order[i] : order[i - 1];
    }
    heads = filled<int>(LISTS, [](size_t i) { return order[i * LENGTH]; });
    following = filled<int>(NODES, [](size_t i) { return next[i]; });
    previous = filled<int>(NODES, [](size_t i) { return before[i]; });
    ranks = zeroed<int>(NODES);
    links = zeroed<int2>(NODES);
    links2 = zeroed<int2>(NODES);
    matrix = filled<double>(ROWS * COLUMNS, [](size_t i) { return unit(i) * 2.0 - 1.0; });
    norms = zeroed<double>(COLUMNS);
    norm_bits = zeroed<unsigned long long>(COLUMNS);
    picture = filled<short>(WIDE * HIGH, [](size_t i) { return (short)mixed(i); });
    turned = zeroed<short>(WIDE * HIGH);
    text = filled<char>(TEXT, [](size_t i) { return sample[mixed(i) % (sizeof sample - 1)]; });
    letters = zeroed<unsigned>(26);
}
static void eliminations() {
    copy<<<(SYSTEMS * ORDER * WIDTH + 255) / 256, 256>>>(systems, work, SYSTEMS * ORDER * WIDTH);
    for (int k = 0; k < ORDER - 1; k++) eliminate<<<dim3(ORDER / 8, SYSTEMS), dim3(32, 8)>>>(work, k);
    substitute<<<SYSTEMS, ORDER>>>(work, roots);
}
static const fidelity_test tests[] = {
    COLD("nearest/a query a thread, sqrt, 8192 x 2048", 1,
         nearest_naive<<<QUERIES / 256, 256>>>(queries, QUERIES, places, PLACES, kinds)),
    COLD("nearest/tiles in shared memory, 8192 x 2048", 1,
         nearest_tile<<<QUERIES / TILE, TILE>>>(queries, QUERIES, places, PLACES, kinds)),
    COLD("gauss/a launch a column, 256 systems of 32", ORDER + 1, eliminations()),
    COLD("gauss/a block a system, 256 systems of 32", 1,
         gauss_jordan<<<SYSTEMS, dim3(32, 8), ORDER * WIDTH * sizeof(float)>>>(systems, roots, ORDER)),
    COLD("sudoku/board of bytes, 1024", 1, sudoku_naive<<<PUZZLES / 64, 64>>>(puzzles, solved, PUZZLES)),
    COLD("sudoku/masks, 1024", 1, sudoku_masks<<<PUZZLES / 64, 64>>>(puzzles, solved, PUZZLES)),
    COLD("chains/a list a thread, 512 of 256", 1, walk<<<LISTS / 64, 64>>>(heads, following, ranks, LISTS)),
    COLD("chains/pointer jumping, 512 of 256", 9, jumps()),
    WARM("norms/a column a block, double, 1500 x 1200", 1, norm_block<<<COLUMNS, 128>>>(matrix, norms, ROWS, COLUMNS)),
    WARM("norms/a column a thread and atomics, double, 1500 x 1200", 1,
         norm_atomic<<<dim3((COLUMNS + 127) / 128, (ROWS + 49) / 50), 128>>>(matrix, norm_bits, ROWS, COLUMNS, 50)),
    COLD("turns/naive, shorts, 3000 x 1400", 1,
         turn_naive<<<dim3((WIDE + 15) / 16, (HIGH + 15) / 16), dim3(16, 16)>>>(picture, turned, WIDE, HIGH)),
    COLD("turns/tile, shorts, 3000 x 1400", 1,
         turn_tile<<<dim3((WIDE + 31) / 32, (HIGH + 31) / 32), dim3(32, 8)>>>(picture, turned, WIDE, HIGH)),
    COLD("counts/a letter a thread, 2^20", 1, letters_each<<<128, 32>>>(text, letters, TEXT)),
    COLD("counts/shared atomics, 2^20", 1, letters_shared<<<128, 256>>>(text, letters, TEXT)),
};
FIDELITY_MAIN(setup, tests)

// What a host program may do to itself and SimGPU must bear: `host CASE`. Each case prints what a GPU would compute, or
// what its calls return; tests/hostile.bats knows the right answers.
#include <cuda_runtime.h>

#include <cfenv>
#include <clocale>
#include <locale.h>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

__global__ void third(float *f, double *d) {
    f[0] = f[1] / 3;
    f[2] = f[3] * 0.5f; // a denormal
    f[4] = 1 / (f[1] - f[1]);
    d[0] = d[1] / 3;
}

__global__ void work(unsigned *out, unsigned turns) {
    unsigned x = threadIdx.x;
    for (unsigned k = 0; k < turns; k++) x = x * 1664525 + 1013904223;
    out[threadIdx.x] = x;
}

static unsigned *words;

static void show(const char *what, cudaError_t e) { printf("%s %s\n", what, cudaGetErrorName(e)); }

static void compute() {
    float *f, h[5] = {0, 1, 0, 1.17549435e-38f, 0};
    double *d, g[2] = {0, 1};
    unsigned bits[5];
    unsigned long long wide;
    cudaMalloc(&f, sizeof h), cudaMalloc(&d, sizeof g);
    cudaMemcpy(f, h, sizeof h, cudaMemcpyHostToDevice), cudaMemcpy(d, g, sizeof g, cudaMemcpyHostToDevice);
    third<<<1, 1>>>(f, d);
    cudaMemcpy(h, f, sizeof h, cudaMemcpyDeviceToHost);
    show("computed", cudaMemcpy(g, d, sizeof g, cudaMemcpyDeviceToHost));
    memcpy(bits, h, sizeof bits), memcpy(&wide, g, sizeof wide);
    printf("%08x %08x %08x %016llx\n", bits[0], bits[2], bits[4], wide);
}

static void rounding() {
    for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        fesetround(mode);
        compute();
        printf("mode %s\n", fegetround() == mode ? "kept" : "lost");
    }
}

#ifdef __x86_64__
#include <xmmintrin.h>
static void flush() { _mm_setcsr(_mm_getcsr() | 0x8040), compute(); }
#else
static void flush() { compute(); }
#endif

static void traps() { feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), compute(); }

static void language() {
    if (!setlocale(LC_ALL, "")) puts("no such language");
    compute();
    printf("%.1f\n", 1.5);
}

// Blocks that several host threads run: each thread has to work, not only the one that calls.
__global__ void speaks(unsigned *out) {
    unsigned x = threadIdx.x;
    for (unsigned k = 0; k < 200; k++) x = x * 1664525 + 1013904223;
    out[threadIdx.x] = x;
    if (threadIdx.x == 0) printf("%.1f\n", 0.5);
}

static void speaking() {
    if (!setlocale(LC_ALL, "")) puts("no such language");
    speaks<<<256, 1024>>>(words);
    show("spoken", cudaDeviceSynchronize());
    printf("%.1f\n", 1.5);
}

static void *calls_forever(void *) {
    for (;;) {
        work<<<1, 32>>>(words, 1000);
        cudaDeviceSynchronize();
    }
}

static void cancel() {
    for (int k = 0; k < 3; k++) {
        pthread_t id;
        pthread_create(&id, nullptr, calls_forever, nullptr);
        usleep(5000);
        pthread_cancel(id);
        pthread_join(id, nullptr);
    }
    show("after it", cudaMemset(words, 0, 4));
}

static pthread_key_t key;
static cudaError_t at_its_end;
static void ends_thread(void *) { at_its_end = cudaMemset(words, 0, 4); }
static void *can_be_cancelled_anywhere(void *) {
    pthread_setspecific(key, words);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
    for (;;) cudaMemset(words, 0, 4096);
}

// The thread ends at any place but in a call: no lock is left behind, and what runs at its end may call.
static void cancel_anywhere() {
    pthread_key_create(&key, ends_thread);
    for (int k = 0; k < 100; k++) {
        pthread_t id;
        at_its_end = cudaErrorUnknown;
        pthread_create(&id, nullptr, can_be_cancelled_anywhere, nullptr);
        usleep(1000 + 7 * k);
        pthread_cancel(id);
        pthread_join(id, nullptr);
        if (at_its_end) show("at its end", at_its_end);
    }
    show("after it", cudaMemset(words, 0, 4));
}

// Another thread calls again and again; this one gets its turns.
static void turns() {
    pthread_t id;
    pthread_create(&id, nullptr, calls_forever, nullptr);
    cudaError_t e = cudaSuccess;
    for (int k = 0; k < 200 && !e; k++) e = cudaMemset(words, 0, 4);
    show("turns", e);
}

static volatile sig_atomic_t inside_a_call, refused;
static void calls(int) {
    unsigned x;
    if (cudaMemcpy(&x, words, 4, cudaMemcpyDeviceToHost) == cudaErrorNotPermitted) refused = inside_a_call;
}
static void ends(int) { cudaDeviceReset(), exit(7); }

static void each_millisecond(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGALRM, &action, nullptr);
    itimerval every = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_REAL, &every, nullptr);
}

// Runs kernels of some milliseconds until the handler was called in the middle of a call.
static void in_calls() {
    for (int k = 0; k < 500 && !refused; k++) {
        inside_a_call = 1;
        work<<<1, 1024>>>(words, 20000);
        cudaError_t e = cudaDeviceSynchronize();
        inside_a_call = 0;
        if (e) show("in_calls", e);
    }
}

static void handler() {
    each_millisecond(calls);
    in_calls();
    each_millisecond(SIG_IGN);
    printf("the handler's call was %s\n", refused ? "refused" : "never in the middle of another");
    show("after it", cudaMemset(words, 0, 4));
    cudaGetLastError();
    compute();
}

static void interrupted() {
    each_millisecond(ends);
    in_calls();
}

// A handler that leaves a call for good; the next call, and the program's end.
static sigjmp_buf before_the_call;
static void leaves(int) { siglongjmp(before_the_call, 1); }
static void leave_a_call() {
    signal(SIGALRM, leaves);
    if (!sigsetjmp(before_the_call, 1)) {
        const itimerval soon = {{0, 0}, {0, 100000}};
        setitimer(ITIMER_REAL, &soon, nullptr);
        work<<<1, 1024>>>(words, 4000000);
        show("never", cudaDeviceSynchronize());
    }
    puts("left");
    fflush(stdout);
}
static void left_and_calls() {
    leave_a_call();
    show("never", cudaMemset(words, 0, 4));
}

// Signals as often as the system sends them, so that some come in the middle of taking the lock or letting it go.
static volatile sig_atomic_t asked_for;
static void asks_which(int) {
    int device;
    asked_for = asked_for + 1;
    cudaGetDevice(&device);
}
static void asked_anywhere() {
    int device, wrong = 0;
    const itimerval often = {{0, 20}, {0, 20}}, never = {};
    signal(SIGALRM, asks_which);
    setitimer(ITIMER_REAL, &often, nullptr);
    while (asked_for < 30000) wrong += cudaGetDevice(&device) != cudaSuccess;
    setitimer(ITIMER_REAL, &never, nullptr);
    printf("%d calls failed\n", wrong);
}

// SimGPU sets a call's language when it has the lock, and the thread's own before it lets the lock go. This function is
// found in place of the library's, so a signal can come just there.
static int signals_to_come;
extern "C" locale_t __uselocale(locale_t);
extern "C" locale_t uselocale(locale_t to) noexcept {
    if (signals_to_come && signals_to_come--) raise(SIGUSR1);
    return __uselocale(to);
}
static cudaError_t answers[2];
static volatile sig_atomic_t nanswers;
static void asks(int) {
    unsigned x;
    cudaError_t e = cudaMemcpy(&x, words, 4, cudaMemcpyDeviceToHost);
    if (nanswers < 2) answers[nanswers] = e;
    nanswers = nanswers + 1;
}

static void handler_at_the_ends() {
    signal(SIGUSR1, asks);
    signals_to_come = 2;
    show("around it", cudaMemset(words, 0, 4));
    show("when it begins", answers[0]);
    show("when it ends", answers[1]);
    printf("%d signals\n", (int)nanswers);
    show("after it", cudaMemset(words, 0, 4));
}

__global__ void prints_for_ever() {
    for (;;) printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}
__global__ void prints() { printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }

static void printing() {
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 100000);
    prints<<<4096, 32>>>();
    show("prints", cudaDeviceSynchronize());
    prints_for_ever<<<1, 32>>>();
    show("prints for ever", cudaDeviceSynchronize());
}

// Graphs that end while something else holds them.
static void graphs() {
    cudaStream_t s;
    cudaGraph_t captured, outer, inner, child;
    cudaGraphNode_t node;
    cudaStreamCaptureStatus status;
    cudaStreamCreate(&s);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    cudaStreamGetCaptureInfo(s, &status, nullptr, &captured, nullptr, nullptr, nullptr);
    show("captured", cudaGraphDestroy(captured));
    show("reset", cudaDeviceReset());
    cudaGraphCreate(&outer, 0), cudaGraphCreate(&inner, 0);
    cudaGraphAddEmptyNode(&node, inner, nullptr, 0);
    cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, inner);
    cudaGraphChildGraphNodeGetGraph(node, &child);
    show("child", cudaGraphDestroy(child));
    show("outer", cudaGraphDestroy(outer));
    show("child", cudaGraphDestroy(child));
    cudaGraphCreate(&outer, 0);
    cudaGraphAddChildGraphNode(&node, outer, nullptr, 0, inner);
    cudaGraphChildGraphNodeGetGraph(node, &child);
    show("reset", cudaDeviceReset());
}

// Pointers that nobody set, and an array of the host that is too short.
static void garbage() {
    char *const bad = (char *)0x123456789000, local[64] = "";
    show("peer from", cudaMemcpyPeer(words, 0, bad, 0, 64));
    show("peer to", cudaMemcpyPeer(bad, 0, words, 0, 64));
    show("peer async", cudaMemcpyPeerAsync(bad, 0, words, 0, 64, nullptr));
    show("beyond all", cudaMemcpyPeer(words, 0, local, 0, (size_t)-5));
    show("to device", cudaMemcpy(words, bad, 64, cudaMemcpyHostToDevice));
    show("to host", cudaMemcpyAsync(bad, words, 64, cudaMemcpyDeviceToHost));
    char *page = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(page, 4096);
    show("freed", cudaMemcpy(words, page, 64, cudaMemcpyDefault));
    show("box", cudaMemcpy2D(words, 64, bad, 64, 64, 2, cudaMemcpyDefault));
    show("after it", cudaMemcpy(local, words, 64, cudaMemcpyDeviceToHost));
}

__global__ void nothing() {}

// As many blocks as a launch may have.
static void blocks() {
    nothing<<<2147483647, 1>>>();
    show("blocks", cudaDeviceSynchronize());
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"plain", compute},
                 {"rounding", rounding},
                 {"flush", flush},
                 {"traps", traps},
                 {"language", language},
                 {"cancel", cancel},
                 {"turns", turns},
                 {"handler", handler},
                 {"interrupted", interrupted},
                 {"graphs", graphs},
                 {"printing", printing},
                 {"speaking", speaking},
                 {"left", leave_a_call},
                 {"left and calls", left_and_calls},
                 {"asked anywhere", asked_anywhere},
                 {"garbage", garbage},
                 {"blocks", blocks},
                 {"cancel anywhere", cancel_anywhere},
                 {"handler at the ends", handler_at_the_ends}};
    for (const auto &c : cases)
        if (argc > 1 && !strcmp(argv[1], c.name)) {
            if (c.run != language && c.run != rounding && c.run != flush && c.run != traps) cudaMalloc(&words, 4096);
            c.run();
            return 0;
        }
    return 2;
}

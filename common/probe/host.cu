/* host.cu — the part of make probe that is about the host: what its calls cost, and what copies, allocations and graphs
 * take. No kernel and no scenario of make fidelity is in it.
 *
 *   host KERNEL_FIXED_NS BLOCK_NS LAUNCH_WAY_NS     as the profile has them, of an empty kernel of one block
 */
#include "probe.h"

#include <math.h>

typedef std::vector<double> times;

static char *dev, *other, *pinned, *pageable;
static cudaStream_t s;
static volatile int *gate; /* what hold() waits for */
static int *gate_on_device;
static double kernel_ns, way_ns, wake_ns, arrive_ns, sync_ns, copy_call_ns, pinned_gbs, small_copy_ns;

__global__ void nothing() {}
__global__ void spin(long long ns) {
    long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    while (now - begin < ns);
}
__global__ void hold(volatile int *gate) {
    while (!*gate) {}
}

/* What is queued between close_gate and open_gate runs when the gate opens, without gaps between. */
static void close_gate() {
    *gate = 0;
    hold<<<1, 1, 0, s>>>(gate_on_device);
}
static void open_gate() {
    *gate = 1;
    wait();
}

/* Returns the device's ns for each of n commands that run() queues on s. */
template <class F> static spread queued(int n, F run) {
    static cudaEvent_t begin, end;
    times v;
    if (!begin) MUST(cudaEventCreate(&begin));
    if (!end) MUST(cudaEventCreate(&end));
    for (int i = 0; i < 9; i++) {
        float ms;
        close_gate();
        run(); /* the first stands between what was before and the others */
        MUST(cudaEventRecord(begin, s));
        for (int k = 0; k < n; k++) run();
        MUST(cudaEventRecord(end, s));
        open_gate();
        MUST(cudaEventElapsedTime(&ms, begin, end));
        v.push_back((double)ms * 1e6 / n);
    }
    return spread_of(v);
}

static void launches() {
    enum { MIN_WAIT = 300000 };
    spread call = timed(
        31, 100,
        [] {
            for (int i = 0; i < 100; i++) nothing<<<1, 32>>>();
        },
        wait);
    spread idle = timed(31, 100, [] {
        for (int i = 0; i < 100; i++) wait();
    });
    spread whole = timed(101, 1, [] {
        nothing<<<1, 32>>>();
        wait();
    });
    sync_ns = idle.median;
    wake_ns = whole.median - call.median - way_ns - kernel_ns;
    figure("host_launch_ns", call, "100 in a row");
    figure("host_sync_ns", idle, "cudaDeviceSynchronize");
    figure("host_wake_ns", whole - call.median - way_ns - kernel_ns,
           "launch and wait, %.2f us, less the call, its way and the kernel", whole.median / 1e3);
    int room = 0; /* behind a kernel that ends by itself: with a full queue, a gate could never be opened */
    spin<<<1, 1, 0, s>>>(20000000);
    for (; room < 6000; room++) {
        double begin = now();
        nothing<<<1, 32, 0, s>>>();
        if (now() - begin > MIN_WAIT) break;
    }
    wait();
    figure("queue_commands", spread_of({room + 1.0}), "launches behind a long kernel, and that, until a call waits");
}

static void events() {
    cudaEvent_t e[100], timing[2];
    auto each = [&](cudaError_t (*f)(cudaEvent_t)) {
        for (auto &x : e) MUST(f(x));
    };
    auto make = [&] {
        for (auto &x : e) MUST(cudaEventCreate(&x));
    };
    auto destroy = [&] { each(cudaEventDestroy); };
    figure("host_event_create_ns", timed(21, 100, make, destroy), "100 in a row");
    figure(
        "host_event_destroy_ns",
        [&] {
            times v;
            for (int i = 0; i < 21; i++) {
                make();
                double t = now();
                destroy();
                v.push_back((now() - t) / 100);
            }
            return spread_of(v);
        }(),
        "100 in a row");
    make();
    figure("host_event_ns",
           timed(
               31, 100,
               [&] {
                   for (auto &x : e) MUST(cudaEventRecord(x));
               },
               wait),
           "100 in a row");
    figure("host_query_ns",
           timed(31, 100,
                 [&] {
                     for (auto &x : e) cudaEventQuery(x);
                 }),
           "100 events that are ready");
    figure("host_wait_event_ns",
           timed(
               31, 100,
               [&] {
                   for (auto &x : e) MUST(cudaStreamWaitEvent(s, x, 0));
               },
               wait),
           "100 events that are ready");
    figure("event_ns", queued(100, [&] { MUST(cudaEventRecord(e[0], s)); }), "100 behind a gate");
    for (auto &x : timing) MUST(cudaEventCreate(&x));
    for (auto &x : timing) MUST(cudaEventRecord(x));
    wait();
    figure("host_other_ns",
           timed(31, 100,
                 [&] {
                     float ms;
                     for (int i = 0; i < 100; i++) MUST(cudaEventElapsedTime(&ms, timing[0], timing[1]));
                 }),
           "cudaEventElapsedTime");
    destroy();
    cudaStream_t t;
    times made, ended;
    for (int i = 0; i < 200; i++) {
        double a = now();
        MUST(cudaStreamCreate(&t));
        double b = now();
        MUST(cudaStreamDestroy(t));
        made.push_back(b - a), ended.push_back(now() - b);
    }
    figure("host_stream_create_ns", spread_of(made), "200, each destroyed before the next");
    figure("host_stream_destroy_ns", spread_of(ended), "the same");
}

/* --- copies --------------------------------------------------------------------------------------------------- */

static spread up(size_t bytes, const char *from, int n = 31) { /* call and wait */
    return timed(n, 1, [=] {
        MUST(cudaMemcpy(dev, from, bytes, cudaMemcpyHostToDevice));
        wait();
    });
}
static spread up_call(size_t bytes, int n = 31) {
    return timed(
        n, 1, [=] { MUST(cudaMemcpy(dev, pageable, bytes, cudaMemcpyHostToDevice)); }, wait);
}
static spread down(size_t bytes, char *to, int n = 31) {
    return timed(n, 1, [=] { MUST(cudaMemcpy(to, dev, bytes, cudaMemcpyDeviceToHost)); });
}

static void copies_pinned() {
    enum : size_t { LARGE = 192 * MIB };
    spread large = down(LARGE, pinned, 7);
    spread call = timed(
        31, 30,
        [] {
            for (int i = 0; i < 30; i++) MUST(cudaMemcpyAsync(pinned, dev, 48 * KIB, cudaMemcpyDeviceToHost, s));
        },
        wait);
    pinned_gbs = LARGE / (large.median - 2 * wake_ns);
    copy_call_ns = call.median;
    figure("pinned_gbs", inverse(LARGE, large - 2 * wake_ns), "192 MiB from the device");
    figure("host_copy_ns", call, "30 of 48 KiB in a row, page-locked");
    spread to = queued(50, [] { MUST(cudaMemcpyAsync(dev, pinned, 48 * KIB, cudaMemcpyHostToDevice, s)); });
    spread from = queued(50, [] { MUST(cudaMemcpyAsync(pinned, dev, 48 * KIB, cudaMemcpyDeviceToHost, s)); });
    double bytes_ns = 48 * KIB / pinned_gbs;
    spread one = down(48 * KIB, pinned, 101), word = up(4, pinned, 101);
    arrive_ns = one.median - from.median - wake_ns;
    figure("arrive_ns", one - from.median - wake_ns,
           "48 KiB from the device, %.2f us, less the copy and the wait's end", one.median / 1e3);
    small_copy_ns = std::max(word.median - arrive_ns - wake_ns, 1.0);
    figure("copy_fixed_ns", word - arrive_ns - wake_ns, "4 bytes to the device, %.2f us, likewise", word.median / 1e3);
    figure("copy_fetch_ns", to - bytes_ns - small_copy_ns,
           "50 of 48 KiB queued, %.2f us each, less the bytes and copy_fixed_ns", to.median / 1e3);
    figure("copy_d2h_ns", from - bytes_ns - small_copy_ns, "50 of 48 KiB queued, %.2f us each, likewise",
           from.median / 1e3);
    /* In turn with kernels: two turns of the stream for each copy. Kernels that are queued take less than kernel_ns. */
    spread kernel = queued(100, [] { nothing<<<1, 32, 0, s>>>(); });
    spread both = queued(50, [] {
        MUST(cudaMemcpyAsync(dev, pinned, 48 * KIB, cudaMemcpyHostToDevice, s));
        nothing<<<1, 32, 0, s>>>();
    });
    figure("engine_switch_ns", (both - to.median - std::max(kernel.median, kernel_ns)) * 0.5,
           "48 KiB to the device and an empty kernel, in turn, %.1f us, alone %.2f and %.2f", both.median / 1e3,
           to.median / 1e3, kernel.median / 1e3);
    cudaStream_t t;
    MUST(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    spread ways = timed(7, 1, [=] {
        MUST(cudaMemcpyAsync(dev, pinned, 96 * MIB, cudaMemcpyHostToDevice, s));
        MUST(cudaMemcpyAsync(pinned + 96 * MIB, other, 96 * MIB, cudaMemcpyDeviceToHost, t));
        wait();
    });
    figure("pinned_duplex_gbs", inverse(96 * MIB, ways - 2 * wake_ns), "96 MiB each way");
    MUST(cudaStreamDestroy(t));
}

static void copies_pageable() {
    enum : size_t { CHUNK = 384 * KIB, MANY = 12 * MIB };
    auto cpu_gbs = [](size_t bytes, spread call) { return inverse((double)bytes, call - copy_call_ns); };
    spread few = cpu_gbs(CHUNK, up_call(CHUNK)), many = cpu_gbs(MANY, up_call(MANY, 9));
    figure("pageable_h2d_small_gbs", few, "the call of 384 KiB");
    figure("pageable_h2d_gbs", many, "the call of 12 MiB");
    figure("pageable_h2d_big_gbs", cpu_gbs(192 * MIB, up_call(192 * MIB, 5)), "the call of 192 MiB");
    size_t cached = 16 * MIB;
    while (cached < 96 * MIB && cpu_gbs(2 * cached, up_call(2 * cached, 5)).median > 0.9 * many.median) cached *= 2;
    figure("pageable_cache_bytes", spread_of({(double)cached}),
           "largest power of two within a tenth of the rate of 12 MiB");
    figure("pageable_big_bytes", spread_of({8.0 * (double)cached}), "eight times that");
    spread c8 = up_call(8 * KIB, 101), c60 = up_call(60 * KIB, 101), w8 = up(8 * KIB, pageable, 101),
           w60 = up(60 * KIB, pageable, 101);
    double inline_gbs = 52 * KIB / (c60.median - c8.median);
    figure("inline_gbs", inverse(52 * KIB, c60 - c8.median), "calls of 8 and 60 KiB, %.2f and %.2f us", c8.median / 1e3,
           c60.median / 1e3);
    figure("inline_ns", c8 - copy_call_ns - 8 * KIB / inline_gbs, "the call of 8 KiB, less its bytes and host_copy_ns");
    figure("inline_dma_gbs", inverse(52 * KIB, (w60 - c60.median) - (w8.median - c8.median)),
           "waits behind the calls of 8 and 60 KiB");
    figure("pageable_d2h_ns", down(4, pageable, 101) - down(4, pinned, 101).median,
           "4 bytes, pageable and page-locked");
    auto d2h_gbs = [](size_t bytes, size_t last, spread whole) {
        return inverse((double)bytes, whole - wake_ns - arrive_ns - 2 * copy_call_ns - (double)last / pinned_gbs);
    };
    figure("pageable_d2h_small_gbs", d2h_gbs(CHUNK, CHUNK, down(CHUNK, pageable)),
           "384 KiB, less the bytes on the bus and the rest");
    figure("pageable_d2h_gbs", d2h_gbs(MANY, MIB, down(MANY, pageable, 9)),
           "12 MiB, less 1 MiB on the bus and the rest");
    spread own = timed(7, 1, [] { memcpy(pinned, pageable, 192 * MIB); }),
           fill = timed(7, 1, [] { memset(pageable, 1, 192 * MIB); });
    figure("host_memcpy_gbs", inverse(192 * MIB, own), "192 MiB");
    figure("host_memset_gbs", inverse(192 * MIB, fill), "192 MiB");
}

static void copies_on_device() {
    auto sets = [](size_t bytes) {
        return timed(
            31, 30,
            [=] {
                for (int i = 0; i < 30; i++) MUST(cudaMemsetAsync(dev, 0, bytes));
            },
            wait);
    };
    spread small = sets(64), large = sets(256 * KIB);
    size_t most = 64;
    while (most < 256 * KIB && sets(2 * most).median < 0.5 * (small.median + large.median)) most *= 2;
    figure("memset_small_bytes", spread_of({(double)most}),
           "largest power of two whose call is nearer to that of 64 bytes than to that of 256 KiB");
    figure("host_memset_small_ns", small, "30 of 64 bytes in a row");
    figure("host_memset_ns", large, "30 of 256 KiB in a row");
    auto done = [](size_t bytes) { return queued(50, [=] { MUST(cudaMemsetAsync(dev, 0, bytes, s)); }); };
    const spread least = done(64);
    figure("memset_small_ns", least, "50 of 64 bytes queued");
    figure("memset_small_gbs", inverse((double)(most - 64), done(most) - least.median),
           "50 of memset_small_bytes queued, less that");
    figure("host_device_copy_ns",
           timed(
               31, 30,
               [] {
                   for (int i = 0; i < 30; i++) MUST(cudaMemcpy(other, dev, 16 * KIB, cudaMemcpyDeviceToDevice));
               },
               wait),
           "30 of 16 KiB in a row");
    auto on_device = [](int n, size_t bytes) {
        return queued(n, [=] { MUST(cudaMemcpyAsync(other, dev, bytes, cudaMemcpyDeviceToDevice, s)); });
    };
    const spread small_copy = on_device(50, 16 * KIB);
    figure("device_copy_ns", small_copy, "50 of 16 KiB queued");
    figure("device_copy_gbs", inverse(2.0 * 192 * MIB, on_device(5, 192 * MIB) - small_copy.median),
           "192 MiB, five queued");
    figure("device_copy_l2_gbs", inverse(2.0 * 16 * MIB, on_device(20, 16 * MIB) - small_copy.median),
           "16 MiB, twenty queued");
}

/* --- memory --------------------------------------------------------------------------------------------------- */

static void series(const times &v, times *few, times *many) { /* parts: nearer to the least, nearer to the most */
    double middle = 0.5 * (*std::min_element(v.begin(), v.end()) + spread_of(v).high);
    for (double x : v) (x < middle ? few : many)->push_back(x);
}
static void pair_of(size_t bytes, int n, times *got, times *freed) {
    for (int i = 0; i < n; i++) {
        void *p;
        double a = now();
        MUST(cudaMalloc(&p, bytes));
        double b = now();
        MUST(cudaFree(p));
        if (i) got->push_back(b - a), freed->push_back(now() - b);
    }
}
static void device_memory() {
    enum { N = 32 };
    void *p[N];
    times got, freed, got_part, got_chunk, freed_part, freed_chunk, a, f, a_large, f_large, a_most, f_most;
    for (int r = 0; r < 4; r++) {
        for (auto &x : p) {
            double t = now();
            MUST(cudaMalloc(&x, 512 * KIB));
            got.push_back(now() - t);
        }
        for (auto &x : p) {
            double t = now();
            MUST(cudaFree(x));
            freed.push_back(now() - t);
        }
    }
    series(got, &got_part, &got_chunk);
    series(freed, &freed_part, &freed_chunk);
    figure("chunk_bytes", spread_of({exp2(round(log2(512.0 * KIB * (double)got.size() / (double)got_chunk.size())))}),
           "of %zu cudaMalloc of 512 KiB, %zu are slow", got.size(), got_chunk.size());
    figure("host_malloc_small_ns", spread_of(got_part), "512 KiB, the fast ones");
    figure("host_free_small_ns", spread_of(freed_part) - sync_ns, "likewise, less host_sync_ns");
    pair_of(2 * MIB, 21, &a, &f);
    pair_of(192 * MIB, 15, &a_large, &f_large);
    pair_of(1536 * MIB, 9, &a_most, &f_most);
    spread al = spread_of(a_large), fl = spread_of(f_large), am = spread_of(a_most), fm = spread_of(f_most);
    double a_mib = std::max((am.median - al.median) / 1344, 1e-3),
           f_mib = std::max((fm.median - fl.median) / 1344, 1e-3);
    figure("large_bytes", spread_of({2.0 * MIB}), "the size for the figures of one chunk");
    figure("host_malloc_ns", spread_of(a), "2 MiB");
    figure("host_malloc_ns_per_mib", (am - al.median) * (1.0 / 1344), "192 MiB and 1536 MiB");
    figure("host_malloc_large_ns", al - spread_of(a).median - 192 * a_mib, "192 MiB, less the two above");
    figure("host_free_ns", spread_of(f) - sync_ns, "2 MiB, less host_sync_ns");
    figure("host_free_ns_per_mib", (fm - fl.median) * (1.0 / 1344), "192 MiB and 1536 MiB");
    figure("host_free_large_ns", fl - spread_of(f).median - 192 * f_mib, "192 MiB, less the two above");
}

static void pools() {
    void *p[6];
    times first, later, more, freed;
    for (int r = 0; r < 9; r++) {
        wait();
        for (int i = 0; i < 6; i++) {
            double t = now();
            MUST(cudaMallocAsync(&p[i], 12 * MIB, s));
            (i == 0 ? first : i % 3 == 2 ? more : later).push_back(now() - t);
        }
        for (auto x : p) MUST(cudaFreeAsync(x, s));
    }
    wait();
    figure("pool_chunk_bytes", spread_of({32.0 * MIB}),
           "of six cudaMallocAsync of 12 MiB the 1st, 3rd and 6th are slow: %.1f, %.1f; the others %.1f us",
           spread_of(first).median / 1e3, spread_of(more).median / 1e3, spread_of(later).median / 1e3);
    figure("host_pool_chunk_ns", spread_of(more), "the third and sixth of these");
    figure("host_pool_ns", spread_of(first) - spread_of(more).median, "the first, less that");
    times got;
    for (int i = 0; i < 300; i++) {
        double a = now();
        MUST(cudaMallocAsync(&p[0], MIB, s));
        double b = now();
        MUST(cudaFreeAsync(p[0], s));
        if (i > 10) got.push_back(b - a), freed.push_back(now() - b);
    }
    wait();
    figure("host_malloc_async_ns", spread_of(got), "1 MiB, 300 in turn");
    figure("host_free_async_ns", spread_of(freed), "the same");
}

static void page_locking() {
    auto lock = [](size_t bytes, int n, times *a, times *f) {
        for (int i = 0; i < n; i++) {
            void *p;
            double t = now();
            MUST(cudaHostAlloc(&p, bytes, 0));
            a->push_back(now() - t);
            t = now();
            MUST(cudaFreeHost(p));
            f->push_back(now() - t);
        }
    };
    times as, fs, a, f, al, fl, r, u, rl, ul;
    lock(16 * KIB, 21, &as, &fs); /* a chunk has room, since the gate is in it */
    lock(2 * MIB, 9, &a, &f);
    lock(96 * MIB, 3, &al, &fl);
    figure("host_pin_small_ns", spread_of(as), "16 KiB beside another");
    figure("host_pin_ns", spread_of(a), "2 MiB");
    figure("host_pin_ns_per_mib", spread_of(al) * (1.0 / 96), "96 MiB");
    figure("host_unpin_small_ns", spread_of(fs) - sync_ns, "16 KiB beside another, less host_sync_ns");
    figure("host_unpin_ns", spread_of(f) - sync_ns, "2 MiB, likewise");
    figure("host_unpin_ns_per_mib", spread_of(fl) * (1.0 / 96), "96 MiB");
    auto reg = [](size_t bytes, int n, times *a, times *f) {
        for (int i = 0; i < n; i++) {
            double t = now();
            MUST(cudaHostRegister(pageable, bytes, 0));
            a->push_back(now() - t);
            t = now();
            MUST(cudaHostUnregister(pageable));
            f->push_back(now() - t);
        }
    };
    reg(4 * KIB, 21, &r, &u);
    reg(96 * MIB, 5, &rl, &ul);
    figure("host_register_ns", spread_of(r), "4 KiB");
    figure("host_register_ns_per_mib", (spread_of(rl) - spread_of(r).median) * (1.0 / 96), "96 MiB");
    figure("host_unregister_ns", spread_of(u) - sync_ns, "4 KiB, less host_sync_ns");
    figure("host_unregister_ns_per_mib", (spread_of(ul) - spread_of(u).median) * (1.0 / 96), "96 MiB");
}

/* --- host functions and graphs ---------------------------------------------------------------------------------- */

static void CUDART_CB nothing_on_host(void *) {}

static void functions() {
    spread call = timed(
        31, 20,
        [] {
            for (int i = 0; i < 20; i++) MUST(cudaLaunchHostFunc(s, nothing_on_host, 0));
        },
        wait);
    spread row = timed(31, 60, [] {
        for (int i = 0; i < 60; i++) MUST(cudaLaunchHostFunc(s, nothing_on_host, 0));
        wait();
    });
    spread turn = timed(31, 30, [] {
        for (int i = 0; i < 30; i++) {
            nothing<<<1, 32, 0, s>>>();
            MUST(cudaLaunchHostFunc(s, nothing_on_host, 0));
        }
        wait();
    });
    figure("host_function_ns", call, "20 in a row");
    figure("function_next_ns", row - arrive_ns, "60 in a row, %.2f us each, less arrive_ns", row.median / 1e3);
    figure("function_ns", turn - arrive_ns - kernel_ns,
           "30 in turn with empty kernels, %.1f us each, less arrive_ns and the kernel", turn.median / 1e3);
}

template <class F> static cudaGraphExec_t graph_of(int n, F run, times *capture = 0, times *instantiate = 0) {
    cudaGraph_t g;
    cudaGraphExec_t x;
    MUST(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    double a = now();
    for (int i = 0; i < n; i++) run();
    if (capture) capture->push_back((now() - a) / n);
    MUST(cudaStreamEndCapture(s, &g));
    a = now();
    MUST(cudaGraphInstantiate(&x, g, 0));
    if (instantiate) instantiate->push_back(now() - a);
    MUST(cudaGraphDestroy(g));
    return x;
}
struct graph_times {
    spread call, whole, first, instantiate, destroy, capture;
};
template <class F> static graph_times graph_measured(int n, F run) {
    times call, whole, first, instantiate, destroy, capture;
    for (int r = -1; r < 9; r++) {
        cudaGraphExec_t x = graph_of(n, run, &capture, &instantiate);
        double a = now();
        MUST(cudaGraphLaunch(x, s));
        first.push_back(now() - a);
        wait();
        for (int k = 0; k < 5; k++) {
            a = now();
            MUST(cudaGraphLaunch(x, s));
            double b = now();
            MUST(cudaStreamSynchronize(s));
            call.push_back(b - a), whole.push_back(now() - a);
        }
        a = now();
        MUST(cudaGraphExecDestroy(x));
        destroy.push_back(now() - a);
    }
    return {spread_of(call),        spread_of(whole),   spread_of(first),
            spread_of(instantiate), spread_of(destroy), spread_of(capture)};
}
static void graphs(double block_ns, int sms) {
    auto kernel = [] { nothing<<<1, 32, 0, s>>>(); };
    auto full = [=] { nothing<<<sms, 256, 0, s>>>(); };
    graph_times one = graph_measured(1, kernel), few = graph_measured(10, kernel), many = graph_measured(60, kernel),
                more = graph_measured(600, kernel);
    graph_times wide = graph_measured(60, full);
    graph_times sets = graph_measured(30, [] { MUST(cudaMemsetAsync(dev, 0, 64, s)); });
    graph_times own = graph_measured(60, [] { MUST(cudaMemcpyAsync(other, dev, 64, cudaMemcpyDeviceToDevice, s)); });
    graph_times copies =
        graph_measured(30, [] { MUST(cudaMemcpyAsync(dev, pinned, 48 * KIB, cudaMemcpyHostToDevice, s)); });
    double node = (more.whole.median - many.whole.median) / 540,
           start = many.whole.median - 60 * node - wake_ns - std::max(arrive_ns, many.call.median);
    figure("graph_start_ns", many.whole - (many.whole.median - start),
           "60 empty kernels and a wait, less the kernels, the command's way and the wait's end");
    figure("graph_kernel_ns", (more.whole - many.whole.median) * (1.0 / 540) - block_ns,
           "60 and 600 empty kernels, less block_ns");
    figure("graph_full_ns", (wide.whole - many.whole.median) * (1.0 / 60),
           "60 kernels of a block for each SM, less 60 of one block");
    figure("graph_copy_ns", (own.whole - (many.whole.median - 60 * node)) * (1.0 / 60),
           "60 of 64 bytes on the device, less graph_start_ns");
    figure("graph_memset_ns", (sets.whole - (many.whole.median - 60 * node)) * (1.0 / 30), "30 of 64 bytes, likewise");
    figure("host_graph_launch_ns", one.call, "one kernel");
    figure("host_graph_node_ns", (more.call - one.call.median) * (1.0 / 599), "600 kernels, less one");
    figure("host_graph_memset_ns", (sets.call - one.call.median) * (1.0 / 30), "30 memsets, less one kernel");
    figure("host_graph_copy_ns", (copies.call - one.call.median) * (1.0 / 30),
           "30 copies of 48 KiB to the device, less one kernel");
    double per_node = (many.instantiate.median - one.instantiate.median) / 59,
           per_upload = (many.first.median - many.call.median - one.first.median + one.call.median) / 59;
    figure("host_instantiate_ns", one.instantiate - per_node, "one kernel");
    figure("host_instantiate_node_ns", (many.instantiate - one.instantiate.median) * (1.0 / 59),
           "60 kernels, less one");
    figure("host_upload_ns", one.first - one.call.median - per_upload, "the first launch of one kernel, less another");
    figure("host_upload_node_ns", ((many.first - many.call.median) - (one.first.median - one.call.median)) * (1.0 / 59),
           "60 kernels, likewise, less one");
    figure("host_capture_ns", few.capture, "10 kernels");
    double per_end = (many.destroy.median - one.destroy.median) / 59;
    figure("host_exec_destroy_ns", one.destroy - per_end, "one kernel");
    figure("host_exec_destroy_node_ns", (many.destroy - one.destroy.median) * (1.0 / 59), "60 kernels, less one");
}

/* --- managed memory --------------------------------------------------------------------------------------------- */

static void managed() {
    times a, f, fl;
    for (int i = 0; i < 9; i++) {
        char *p;
        double t = now();
        MUST(cudaMallocManaged((void **)&p, 4 * MIB));
        a.push_back(now() - t);
        MUST(cudaMemset(p, 1, 4 * MIB));
        wait();
        t = now();
        MUST(cudaFree(p));
        f.push_back(now() - t);
        MUST(cudaMallocManaged((void **)&p, 48 * MIB));
        MUST(cudaMemset(p, 1, 48 * MIB));
        wait();
        t = now();
        MUST(cudaFree(p));
        fl.push_back(now() - t);
    }
    double mib = std::max((spread_of(fl).median - spread_of(f).median) / 44, 1.0);
    figure("host_managed_ns", spread_of(a), "4 MiB");
    figure("host_managed_free_ns", spread_of(f) - 4 * mib, "4 MiB that the device has filled, less its MiB");
    figure("host_managed_free_ns_per_mib", (spread_of(fl) - spread_of(f).median) * (1.0 / 44), "48 MiB, less 4 MiB");
}

int main(int argc, char **argv) {
    if (argc != 4) return fprintf(stderr, "host KERNEL_FIXED_NS BLOCK_NS LAUNCH_WAY_NS\n"), 2;
    double block_ns = atof(argv[2]);
    cudaDeviceProp card;
    int *flag;
    kernel_ns = atof(argv[1]) + block_ns;
    way_ns = atof(argv[3]);
    MUST(cudaGetDeviceProperties(&card, 0));
    MUST(cudaMalloc(&dev, 192 * MIB));
    MUST(cudaMalloc(&other, 192 * MIB));
    MUST(cudaHostAlloc(&pinned, 192 * MIB, 0));
    MUST(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    MUST(cudaHostGetDevicePointer(&gate_on_device, flag, 0));
    gate = flag;
    pageable = (char *)malloc(192 * MIB);
    if (!pageable) return fprintf(stderr, "host: out of memory\n"), 1;
    memset(pageable, 1, 192 * MIB);
    memset(pinned, 1, 192 * MIB);
    MUST(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    /* Nothing is loaded for the first time while a kernel holds the device. */
    for (size_t bytes = 64; bytes <= 192 * MIB; bytes = bytes < 96 * MIB ? 4 * bytes : bytes + 96 * MIB) {
        MUST(cudaMemsetAsync(dev, 0, bytes, s));
        MUST(cudaMemcpyAsync(other, dev, bytes, cudaMemcpyDeviceToDevice, s));
        MUST(cudaMemcpyAsync(dev, pinned, bytes, cudaMemcpyHostToDevice, s));
        MUST(cudaMemcpyAsync(pinned, dev, bytes, cudaMemcpyDeviceToHost, s));
    }
    nothing<<<1, 32, 0, s>>>();
    spin<<<1, 1, 0, s>>>(1000);
    close_gate();
    open_gate();
    launches();
    events();
    copies_pinned();
    copies_pageable();
    copies_on_device();
    device_memory();
    pools();
    page_locking();
    functions();
    graphs(block_ns, card.multiProcessorCount);
    managed();
    MUST(cudaGetLastError());
    return 0;
}

/* listen.cu — prints the events of a listener, a line each, for tests/event.bats. */
#include "simgpu.h"
#include "simgpu_event.h"

#include <stdio.h>
#include <string.h>

__global__ void chase(volatile int *p, int steps) {
    int i = 0;
    for (int k = 0; k < steps; k++) i = p[i];
    p[1] = i;
}

__global__ void writes(int *p, int at) { p[at] = 1; }

static const char *base(const char *file) {
    const char *slash = file ? strrchr(file, '/') : NULL;
    return slash ? slash + 1 : "-";
}

static void hear_launch(const struct simgpu_event *e) {
    const struct simgpu_launch *l = &e->is.launch;
    printf("launch %s stream=%u grid=%u block=%u term=%s", l->name, e->stream, l->grid[0], l->block[0],
           simgpuTermName(l->bound.term));
    if (l->bound.by_loads && l->bound.term == SIMGPU_TERM_LATENCY) printf(" rounds=%d", (int)l->bound.rounds);
    bool timed = l->call_ns < l->arrive_ns && l->arrive_ns <= e->start_ns && l->launch_ns < e->duration_ns;
    printf(" lines=%d bytes=%d+%d l2=%d/%d dram=%d+%d %s", (int)l->nlines, (int)l->read_bytes, (int)l->written_bytes,
           (int)l->l2_read_hits, (int)l->l2_read_sectors, (int)l->dram_read_bytes, (int)l->dram_write_bytes,
           timed ? "timed" : "untimed");
    const struct simgpu_fault *f = l->fault;
    if (f)
        printf(" fault=%s where=%d distance=%d did=%s bytes=%u thread=%u at=%s:%d", simgpuFaultName(f->kind),
               f->address.where, (int)f->address.distance, simgpuDidName(f->did), f->bytes, f->thread[0],
               base(f->at.file), f->at.line);
}

static void hear(const struct simgpu_event *e, void *context) {
    static const char *const classes[] = {"submits", "allocates", "frees", "pins",
                                          "unpins",  "copies",    "fills", "waits"};
    char text[160];
    ++*(int *)context;
    switch (e->kind) {
    case SIMGPU_LAUNCH: hear_launch(e); break;
    case SIMGPU_COPY:
        printf("copy %s bytes=%d stream=%u%s", simgpuDirectionName(e->is.copy.direction), (int)e->is.copy.bytes,
               e->stream, e->is.copy.pageable ? " pageable" : "");
        break;
    case SIMGPU_FILL: printf("fill bytes=%d", (int)e->is.copy.bytes); break;
    case SIMGPU_FUNCTION: printf("function"); break;
    case SIMGPU_CALL:
        if (e->is.call.short_one) return;
        printf("call %s %s%s", e->is.call.name, classes[e->is.call.what], e->is.call.syncs ? " syncs" : "");
        break;
    case SIMGPU_WORK:
        if (e->is.call.short_one) return;
        printf("work %s", e->is.call.name);
        break;
    case SIMGPU_GAP: printf("gap %s", simgpuSayGap(&e->is.gap, text, sizeof text)); break;
    case SIMGPU_TOTALS: printf("totals syncs=%d", (int)e->is.totals.sync_calls); break;
    case SIMGPU_MARK: printf("mark %s", e->is.mark); break;
    case SIMGPU_REFUSAL:
        printf("refusal %s error=%d cause=%d %s", e->is.refusal.call, e->is.refusal.error, e->is.refusal.cause,
               e->is.refusal.text);
        break;
    case SIMGPU_FINDING: printf("finding %s", simgpuFindingName(e->is.finding.kind)); break;
    }
    printf("%s%s\n", e->at.file ? " from " : "", e->at.file ? base(e->at.file) : "");
}

static void on_host(void *) { simgpuHostWork(1000); }
static void nothing(const struct simgpu_event *, void *) {}

int main(int argc, char **argv) {
    enum { N = 1 << 16, WORDS = N / 4 };
    int *device, *pinned, *pageable = (int *)calloc(1, N), heard = 0;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMalloc(&device, N), cudaMallocHost(&pinned, N);
    if (simgpuListen(hear, &heard)) return 1;
    int more = 1;
    while (!simgpuListen(nothing, NULL)) more++;
    printf("%d may listen\n", more);

    if (argc == 1) {
        simgpuMark("order"); /* the copy ends first, and is told second */
        cudaMemset(device, 0, N);
        chase<<<1, 1, 0, s>>>(device, 100);
        cudaMemcpyAsync(device + 8, pinned, 64, cudaMemcpyHostToDevice);
        cudaLaunchHostFunc(s, on_host, NULL);
        cudaDeviceSynchronize();
        char name[] = "classes";
        simgpuMark(name);
        name[0] = '?'; /* a listener is told the text, whenever that is */
        void *p;
        cudaMalloc(&p, N), cudaFree(p);
        cudaMallocHost(&p, N), cudaFreeHost(p);
        cudaMemcpy(device, pageable, N, cudaMemcpyHostToDevice);
        simgpuHostTask("load", 5000);
        simgpuMark("end");
    } else if (!strcmp(argv[1], "refused")) { /* two equal launches: two events, and one message on stderr */
        simgpuMark("refused");
        for (int k = 0; k < 2; k++) writes<<<1, 2000>>>(device, 0);
        writes<<<dim3(1, 70000), 1>>>(device, 0);
        writes<<<1, 1, 1 << 20>>>(device, 0);
        cudaMemcpy(device, NULL, 4, cudaMemcpyHostToDevice);
        if (cudaStreamQuery(s) == cudaSuccess) cudaGetLastError();
        simgpuMark("end");
    } else { /* work queued behind a fault never happens */
        writes<<<1, 32, 0, s>>>(device, WORDS + 2);
        writes<<<1, 32, 0, s>>>(device, 0);
        cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, s);
        cudaStreamSynchronize(s);
        simgpuMark("end");
    }
    return !heard;
}

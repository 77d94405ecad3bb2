/* ear.c — notes the calls of the program that is being played; see ear.h. */
#include "ear.h"
#include "lab_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { MOST_BLOCKS = 2048, MOST_COPIES = 1024 };

typedef struct {
    uint64_t start, bytes;
} block;

typedef struct {
    block block[MOST_BLOCKS];
    int count;
} blocks;

typedef struct {
    uint64_t start, bytes;
    bool to_host;
    cudaEvent_t reached;
    const place *by;
} flight;

heard *ear;
static struct {
    heard heard;
    bool checking;
    ear_copies *copies;
    blocks pinned, device;
    flight flights[MOST_COPIES];
    int nflights;
} * notes; /* hidden */

void ear_in_loop(bool on) {
    if (notes) ear->in_loop = on;
}

static place *place_of(const lab_call *c) {
    for (int i = 0; i < ear->nplaces; i++) {
        place *p = &ear->places[i];
        if (p->line == c->line && !strcmp(p->call, c->name)) return p;
    }
    if (ear->nplaces == MOST_PLACES) return &ear->places[MOST_PLACES - 1];
    place *p = &ear->places[ear->nplaces++];
    memset(p, 0, sizeof *p);
    LAB_SAY(p->file, "%s", c->file ? c->file : "");
    LAB_SAY(p->call, "%s", c->name);
    p->line = c->line;
    p->what = c->what;
    return p;
}

const place *ear_worst(double (*cost)(const place *)) {
    const place *w = NULL;
    for (int i = 0; i < ear->nplaces; i++)
        if (cost(&ear->places[i]) > (w ? cost(w) : 0)) w = &ear->places[i];
    return w;
}

void ear_blame(lab_verdict *v, const place *p) {
    char word[64];
    if (!p) return;
    if (p->file[0]) return lab_blame_place(v, &(struct simgpu_place){.file = p->file, .line = p->line});
    LAB_SAY(v->where, "%s in %s", p->call, lab.spec->source);
    LAB_SAY(word, strcmp(p->call, "new") ? "%s(" : "%s", p->call);
    lab_blame_code(v, word); /* the C library's calls bring no line */
}

bool ear_blame_line(lab_verdict *v, const struct simgpu_place *at) {
    for (int i = 0; i < ear->nplaces; i++) {
        const place *p = &ear->places[i];
        if (!at->file || !p->file[0] || p->line != at->line || strcmp(lab_file_name(p->file), lab_file_name(at->file)))
            continue;
        ear_blame(v, p);
        return true;
    }
    return false;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void block_add(blocks *b, uint64_t start, uint64_t bytes, const char *what) {
    if (b->count == MOST_BLOCKS) lab_die("your code holds more than %d blocks of %s memory", MOST_BLOCKS, what);
    b->block[b->count++] = (block){start, bytes};
}

/* Returns the bytes of the block that began there; 0 for none. */
static uint64_t block_drop(blocks *b, uint64_t start) {
    for (int i = 0; i < b->count; i++) {
        uint64_t bytes = b->block[i].bytes;
        if (b->block[i].start != start) continue;
        b->block[i] = b->block[--b->count];
        return bytes;
    }
    return 0;
}

/* Returns the bytes from there to the end of its block; 0 for none. */
static uint64_t block_from(const blocks *b, uint64_t start) {
    for (int i = 0; i < b->count; i++)
        if (start >= b->block[i].start && start < b->block[i].start + b->block[i].bytes)
            return b->block[i].start + b->block[i].bytes - start;
    return 0;
}

bool ear_is_default(uint64_t stream) { return !stream || stream == (uint64_t)cudaStreamLegacy; }
uint64_t ear_device_bytes(uint64_t start) { return block_from(&notes->device, start); }
uint64_t ear_pinned_bytes(uint64_t start) { return block_from(&notes->pinned, start); }

static void note_allocation(place *p) {
    if (!ear->in_loop) return;
    p->allocations++;
    ear->allocations++;
}

static void note_pinned(const lab_call *c, const place *p) {
    block_add(&notes->pinned, c->to, c->bytes, "page-locked");
    ear->pinned_now += c->bytes;
    if (!ear->pinned_first) ear->pinned_first = p;
    if (ear->pinned_now > ear->pinned_most) ear->pinned_most = ear->pinned_now;
}

static void note_device(const lab_call *c, const place *p) {
    block_add(&notes->device, c->to, c->bytes, "device");
    ear->device_now += c->bytes;
    if (!ear->device_first) ear->device_first = p;
    if (ear->device_now > ear->device_most) ear->device_most = ear->device_now;
}

/* --- copies ----------------------------------------------------------------------------------- */

/* Records an event behind a copy, in its stream, by which the end of the copy is known. */
static void note_flight(const lab_call *c, uint64_t host, bool to_host, const place *p) {
    if (!notes->checking) return;
    if (notes->nflights == MOST_COPIES) lab_die("your code has more than %d copies under way", MOST_COPIES);
    flight f = {host, c->bytes, to_host, NULL, p};
    LAB_CUDA(cudaEventCreateWithFlags(&f.reached, cudaEventDisableTiming));
    if (cudaEventRecord(f.reached, (cudaStream_t)c->stream) == cudaSuccess) notes->flights[notes->nflights++] = f;
}

static void note_stream(uint64_t stream) {
    for (int i = 0; i < ear->nstreams; i++)
        if (ear->streams[i] == stream) return;
    if (ear->nstreams < MOST_STREAMS) ear->streams[ear->nstreams++] = stream;
}

static enum cudaMemcpyKind kind_of(const lab_call *c) {
    if (c->kind != cudaMemcpyDefault) return c->kind;
    if (!ear_device_bytes(c->to)) return cudaMemcpyDeviceToHost;
    return ear_device_bytes(c->from) ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
}

static void note_copy(const lab_call *c, place *p) {
    const enum cudaMemcpyKind kind = kind_of(c);
    const bool to_host = kind == cudaMemcpyDeviceToHost;
    if (!to_host && kind != cudaMemcpyHostToDevice) return;
    const uint64_t host = to_host ? c->to : c->from;
    if (notes->copies) notes->copies(c, to_host);
    p->bytes += (double)c->bytes;
    ear->bytes += (double)c->bytes;
    if (ear->in_loop) {
        ear->copies++;
        if (!c->async) ear->waited += (double)c->bytes;
        p->in_default += ear_is_default(c->stream);
        note_stream(c->stream);
    }
    if (block_from(&notes->pinned, host) >= c->bytes) {
        if (c->async) note_flight(c, host, to_host, p);
    } else {
        p->staged += (double)c->bytes;
        ear->staged += (double)c->bytes;
    }
}

void ear_touch(uint64_t start, uint64_t bytes, bool loading, int number) {
    for (int i = 0; i < notes->nflights; i++) {
        flight *f = &notes->flights[i];
        if (cudaEventQuery(f->reached) == cudaSuccess) {
            cudaEventDestroy(f->reached);
            notes->flights[i--] = notes->flights[--notes->nflights];
        } else if (start < f->start + f->bytes && f->start < start + bytes && (loading || f->to_host) &&
                   !ear->early.by) {
            ear->early = (early_touch){f->by, number, loading, f->to_host};
        }
    }
}

/* --- the listener ------------------------------------------------------------------------------- */

static void note_memory(const lab_call *c, place *p) {
    if (c->what == LAB_CALL_ALLOCATES || c->what == LAB_CALL_PINS || c->what == LAB_CALL_C_ALLOCATES)
        note_allocation(p);
    if (c->error) return;
    if (c->what == LAB_CALL_C_ALLOCATES) ear->c_bytes += (double)c->bytes;
    if (c->what == LAB_CALL_ALLOCATES) note_device(c, p);
    if (c->what == LAB_CALL_PINS) note_pinned(c, p);
    if (c->what == LAB_CALL_UNPINS) ear->pinned_now -= block_drop(&notes->pinned, c->to);
    if (c->what == LAB_CALL_COPIES) note_copy(c, p);
}

static void after(const lab_call *c) {
    const bool failed = c->error && c->error != cudaErrorNotReady;
    if (!failed && c->what == LAB_CALL_FREES) ear->device_now -= block_drop(&notes->device, c->to);
    if (!failed && (c->what == LAB_CALL_SUBMITS || c->what == LAB_CALL_FREES || c->what == LAB_CALL_FILLS)) return;
    place *p = place_of(c);
    p->calls++;
    if (failed && !ear->error) {
        ear->error = c->error;
        ear->error_by = p;
    }
    note_memory(c, p);
    if (c->what == LAB_CALL_C_ALLOCATES) return;
    p->blocked_ns += c->end - c->begin;
    if (ear->in_loop) p->loop_ns += c->end - c->begin;
}

void ear_begin(bool checking, ear_copies *copies) {
    static const lab_ear listener = {NULL, after};
    if (!notes) notes = lab_hide(sizeof *notes);
    ear = &notes->heard;
    while (notes->nflights) cudaEventDestroy(notes->flights[--notes->nflights].reached);
    const size_t pinned_now = ear->pinned_now, device_now = ear->device_now;
    memset(ear, 0, sizeof *ear);
    ear->pinned_now = ear->pinned_most = ear->pinned_before = pinned_now;
    ear->device_now = ear->device_most = ear->device_before = device_now;
    notes->checking = checking;
    notes->copies = copies;
    lab_listen(&listener);
}

void ear_end(void) {
    lab_listen(NULL);
    ear->in_loop = false;
}

/* --- the annotated source ----------------------------------------------------------------------- */

static place place_of_line(int line) {
    place sum = {.line = 0};
    for (int i = 0; i < ear->nplaces; i++) {
        const place *p = &ear->places[i];
        if (!p->file[0] || p->line != line) continue;
        sum.calls += p->calls;
        sum.bytes += p->bytes;
        sum.staged += p->staged;
        sum.blocked_ns += p->blocked_ns;
        sum.line = line;
    }
    return sum;
}

/* Returns the line where the function with the first noted call begins: the lines above it call nothing. */
static int first_function(FILE *f) {
    int first = INT_MAX;
    for (int i = 0; i < ear->nplaces; i++)
        if (ear->places[i].file[0] && ear->places[i].line < first) first = ear->places[i].line;
    return lab_function_of(f, first);
}

static void print_source(FILE *f, const char *run, const char *others) {
    printf("%s  %s, %s        %s · %s\n", lab.spec->lab, lab.spec->title, run, lab_lane_name(), lab_device_name());
    printf("One run: your lines' calls of CUDA, what they copied, and how long they held up the host (virtual).\n"
           "%s no lines of yours: TRACE=trace.json make %s shows them.\n",
           others, lab.spec->lab);
    const int first = first_function(f);
    printf("%7s %8s %8s %9s\n%7s %8s %8s %9s\n", "", "MiB", "of them", "host held", "calls", "copied", "staged",
           "up, us");
    char text[512];
    for (int n = 1; fgets(text, sizeof text, f); n++) {
        if (n < first) continue;
        const place p = place_of_line(n);
        if (p.line)
            printf("%7.0f %8.0f %8.0f %9.0f", p.calls, p.bytes / (1 << 20), p.staged / (1 << 20), p.blocked_ns / 1e3);
        else
            printf("%35s", "");
        lab_put_source(stdout, 35, n, text);
    }
}

void ear_print_lines(const char *run, const char *others) {
    const char *name = "";
    for (int i = 0; i < ear->nplaces; i++)
        if (ear->places[i].file[0]) name = ear->places[i].file;
    if (!*name) {
        puts("No line of your file calls CUDA.");
        return;
    }
    FILE *f = fopen(name, "re");
    if (f) {
        print_source(f, run, others);
        fclose(f);
    } else {
        lab_die("cannot read %s: %s", name, strerror(errno));
    }
}

/* host.c — finds uses of a page-locked buffer by the host during an asynchronous copy.
 *
 * From the call that queues a copy until the host has waited for it, the buffer's pages are protected: against writes
 * while the copy reads them, against any access while the copy writes them. An access raises SIGSEGV; the handler notes
 * the stack, unprotects the page, and the program continues. So the hazard is found even if the copy has ended by then
 * in this run, because the host had not waited for it.
 *
 * A page may hold bytes that the copy leaves alone, such as the results of earlier copies. An access of those runs as a
 * single step with the page open; behind it the page is protected again (x86-64; elsewhere it stays open until the next
 * wait, and later accesses are missed).
 *
 * addr2line gives the line of the host's code, outside of the handler. System calls that write into such a buffer
 * (read) fail with EFAULT instead. */
#include "check.h"
#include "finding.h"
#include "parts.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { PAGE = 4096, MAX_TOUCHES = 16, FRAMES = 24 };

typedef struct {
    uint64_t lo, hi;                      /* the host's bytes, with the gaps between rows */
    uint64_t width, pitch, height, slice; /* of a row; rows of a plane; from plane to plane */
    uint64_t first, last;                 /* the pages: addresses */
    bool writes;                          /* the copy writes them */
    uint32_t stream;
    uint64_t count;
    const char *file;
    int line;
} guard;

/* An access that the handler noted. */
typedef struct {
    guard of;
    uint64_t address;
    bool writes;
    void *frames[FRAMES]; /* innermost first, from the accessing instruction */
    int nframes;
} touch;

/* Of a card. */
typedef struct {
    guard *guards;
    uint32_t nguards, guards_room;
    touch touches[MAX_TOUCHES];
    uint32_t ntouches;
} host_state;
static host_state *here;

/* --- protecting ---------------------------------------------------------------------------------------------- */

static void protect(const guard *g, int how) {
    if (g->last > g->first) mprotect((void *)(uintptr_t)g->first, g->last - g->first, how);
}

static void protect_all(void) {
    for (uint32_t k = 0; k < here->nguards; k++)
        if (!here->guards[k].writes) protect(&here->guards[k], PROT_READ);
    for (uint32_t k = 0; k < here->nguards; k++) /* last, so that the stronger protection holds on a shared page */
        if (here->guards[k].writes) protect(&here->guards[k], PROT_NONE);
}

static void open_all(void) {
    for (uint32_t k = 0; k < here->nguards; k++) protect(&here->guards[k], PROT_READ | PROT_WRITE);
}

/* The host may touch the buffers of a card that is not in use: nobody would note it on the right card. */
static void use(void *state) {
    if (here) open_all();
    here = state;
    protect_all();
}

static void forget(void) {
    open_all();
    free(here->guards);
}

const check_part check_part_host = {sizeof(host_state), use, forget};

void check_host_submitted(const time_command *c, uint64_t count) {
    if (c->kind != TIME_COPY || c->is.copy.pageable ||
        (c->is.copy.direction != SIMGPU_H2D && c->is.copy.direction != SIMGPU_D2H))
        return;
    const time_place *at = c->is.copy.direction == SIMGPU_H2D ? &c->is.copy.from : &c->is.copy.to;
    guard g = {.lo = at->address,
               .hi = time_row(&c->is.copy, at, time_rows(&c->is.copy) - 1) + c->is.copy.width,
               .width = c->is.copy.width,
               .height = c->is.copy.height,
               .pitch = at->pitch ? at->pitch : 1,
               .slice = c->is.copy.depth > 1 && at->slice ? at->slice : UINT64_MAX,
               .writes = c->is.copy.direction == SIMGPU_D2H,
               .stream = c->stream,
               .count = count,
               .file = c->host_file,
               .line = c->host_line};
    /* Registered memory may share its first and last page with other data, so leave those pages open. */
    g.first = c->is.copy.shares_pages ? (g.lo + PAGE - 1) & ~(uint64_t)(PAGE - 1) : g.lo & ~(uint64_t)(PAGE - 1);
    g.last = c->is.copy.shares_pages ? g.hi & ~(uint64_t)(PAGE - 1) : (g.hi + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    for (uint32_t k = 0; k < here->nguards; k++) /* the same buffer: waiting for this copy covers the earlier one */
        if (here->guards[k].lo == g.lo && here->guards[k].hi == g.hi && here->guards[k].writes == g.writes &&
            here->guards[k].stream == g.stream) {
            here->guards[k] = g;
            return;
        }
    if (here->nguards == here->guards_room) {
        here->guards_room = here->guards_room ? 2 * here->guards_room : 64;
        here->guards = check_must(realloc(here->guards, here->guards_room * sizeof *here->guards));
    }
    here->guards[here->nguards++] = g;
    protect_all();
}

void check_host_moves(const time_command *c) {
    if (here->nguards && c->kind == TIME_COPY) open_all();
}

void check_host_guard_again(void) {
    uint32_t kept = 0;
    open_all();
    for (uint32_t k = 0; k < here->nguards; k++)
        if (!check_streams_host_has_seen(here->guards[k].stream, here->guards[k].count))
            here->guards[kept++] = here->guards[k];
    here->nguards = kept;
    protect_all();
}

/* --- the handler --------------------------------------------------------------------------------------------- */

/* Returns whether the fault was a write, and true where the processor does not report it. */
static bool was_write(const void *context) {
#if defined(__x86_64__)
    return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    return (void)context, true;
#endif
}

/* Notes the stack without the handler's own frames. */
static void note_frames(touch *t, const void *context) {
    void *frames[2 * FRAMES];
    int n = backtrace(frames, 2 * FRAMES), first = 3; /* skips this function, check_host_touch's caller, the signal's */
#if defined(__x86_64__)
    void *at = (void *)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    for (int k = 0; k < n; k++)
        if (frames[k] == at) first = k;
#endif
    (void)context;
    for (int k = first; k < n && t->nframes < FRAMES; k++) t->frames[t->nframes++] = frames[k];
}

/* --- a single step ------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
enum { TRAP_FLAG = 0x100 };
/* The pages that are open for one instruction of a thread, by its number; 0: a free place. No thread-local variable: a
 * signal handler may use only one of a kind that dlopen has little room for. */
static struct {
    _Atomic pid_t thread;
    uint64_t page;
} stepped[64];
enum { STEPPED = sizeof stepped / sizeof *stepped };

/* If more threads than that step at a time, a page stays open, and what else is done on it is not noticed. */
static void step_over(uint64_t page, void *context) {
    for (uint32_t k = 0; k < STEPPED; k++) {
        pid_t nobody = 0;
        if (!atomic_compare_exchange_strong(&stepped[k].thread, &nobody, gettid())) continue;
        stepped[k].page = page;
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
        return;
    }
}

/* Protects a page as its guards want it. */
static void protect_page(uint64_t page) {
    int how = PROT_READ | PROT_WRITE;
    for (uint32_t k = 0; k < here->nguards; k++)
        if (here->guards[k].first <= page && page < here->guards[k].last)
            how = here->guards[k].writes ? PROT_NONE : how & PROT_READ;
    mprotect((void *)(uintptr_t)page, PAGE, how);
}

bool check_host_stepped(void *context) {
    const pid_t me = gettid();
    for (uint32_t k = 0; k < STEPPED; k++) {
        if (stepped[k].thread != me) continue;
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
        protect_page(stepped[k].page);
        stepped[k].thread = 0;
        return true;
    }
    return false;
}
#else
static void step_over(uint64_t page, void *context) { (void)page, (void)context; }
bool check_host_stepped(void *context) { return (void)context, false; }
#endif

/* --- an access ----------------------------------------------------------------------------------------------- */

bool check_host_touch(const void *where, void *context, bool by_program) {
    const uint64_t address = (uint64_t)(uintptr_t)where, page = address & ~(uint64_t)(PAGE - 1);
    const bool program = by_program, writes = was_write(context);
    bool ours = false, noted = false;
    for (uint32_t k = 0; k < here->nguards; k++) {
        const guard *g = &here->guards[k];
        if (address < g->first || address >= g->last) continue;
        if (!ours) mprotect((void *)(uintptr_t)page, PAGE, PROT_READ | PROT_WRITE);
        ours = true;
        if (address < g->lo || address >= g->hi || (!g->writes && !writes)) continue;
        if ((address - g->lo) % g->slice / g->pitch >= g->height) continue; /* between two planes of a 3D copy */
        if ((address - g->lo) % g->slice % g->pitch >= g->width) continue;  /* between two rows of a 2D copy */
        noted = true;
        if (!by_program || here->ntouches == MAX_TOUCHES) continue;
        touch *t = &here->touches[here->ntouches++];
        *t = (touch){.of = *g, .address = address, .writes = writes};
        note_frames(t, context);
        by_program = false; /* one finding for each touch */
    }
    if (ours && !noted && program) step_over(page, context);
    return ours;
}

/* --- the line of the host's code ----------------------------------------------------------------------------- */

typedef struct {
    uint64_t base, lo, hi;
} program_image;

/* Finds the program's own range of addresses; dl_iterate_phdr passes the program first. */
static int find_program(struct dl_phdr_info *info, size_t size, void *result) {
    program_image *p = result;
    (void)size;
    p->base = info->dlpi_addr;
    p->lo = UINT64_MAX;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[k];
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
        uint64_t lo = p->base + h->p_vaddr;
        if (lo < p->lo) p->lo = lo;
        if (lo + h->p_memsz > p->hi) p->hi = lo + h->p_memsz;
    }
    return 1;
}

/* Returns whether the file belongs to SimGPU, whose memcpy and memset replace the program's. */
static bool is_ours(const char *file) {
    static const char here[] = __FILE__, me[] = "check/host.c";
    char folder[sizeof here];
    snprintf(folder, sizeof folder, "%.*s", (int)(sizeof here - sizeof me), here);
    return strstr(file, folder) != NULL;
}

/* Parses addr2line's "./tests/x.cu:41\n". Returns false if it names no line of the program. */
static bool read_place(char *text, struct simgpu_place *p) {
    static char file[1024];
    char *colon = strrchr(text, ':');
    if (!colon || text[0] == '?' || atoi(colon + 1) <= 0) return false;
    *colon = '\0';
    while (!strncmp(text, "./", 2)) text += 2;
    if (is_ours(text)) return false;
    snprintf(file, sizeof file, "%s", text);
    p->file = file;
    p->line = atoi(colon + 1);
    return true;
}

/* An address, and the program or shared object that it is in. */
typedef struct {
    uint64_t address, base;
    char file[1024]; /* "" if there is none, or if it is not the program's: SimGPU's own library, or the system's */
} code_object;

/* Sets the object of an address, for dl_iterate_phdr, which passes the program first and names it "". */
static int find_object(struct dl_phdr_info *info, size_t size, void *result) {
    code_object *o = result;
    bool inside = false, ours = false;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[k];
        const uint64_t lo = info->dlpi_addr + h->p_vaddr;
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X)) continue;
        inside |= o->address - lo < h->p_memsz;
        ours |= (uint64_t)(uintptr_t)find_object - lo < h->p_memsz;
    }
    if (!inside) return 0;
    o->base = info->dlpi_addr;
    if (!info->dlpi_name[0]) {
        const ssize_t n = readlink("/proc/self/exe", o->file, sizeof o->file - 1);
        o->file[n > 0 ? n : 0] = '\0';
    } else if (!ours && strncmp(info->dlpi_name, "/lib", 4) != 0 && strncmp(info->dlpi_name, "/usr/lib", 8) != 0) {
        snprintf(o->file, sizeof o->file, "%s", info->dlpi_name);
    }
    return 1;
}

/* Finds the source line of an address in the program or in a shared object of it, by binutils' addr2line, which prints
 * the innermost inlined function first. Returns false if it knows none. */
static bool ask_addr2line(uint64_t address, struct simgpu_place *p) {
    char command[1200], text[1024];
    code_object o = {.address = address};
    dl_iterate_phdr(find_object, &o);
    if (!o.file[0] || strchr(o.file, '\'')) return false;
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%llx 2>/dev/null", o.file,
             (unsigned long long)(address - o.base));
    FILE *f = popen(command, "re");
    if (!f) return false;
    bool found = false;
    while (!found && fgets(text, sizeof text, f)) found = read_place(text, p);
    pclose(f);
    return found;
}

/* The same; each of the last 256 addresses is asked for once, since a process takes milliseconds, and a race may be
 * found a thousand times. The lines of a program stay, so this is no device's state. */
static bool look_up(uint64_t address, struct simgpu_place *p) {
    enum { MOST = 256 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct {
        uint64_t address;
        const char *file; /* NULL: it has no line. Findings keep it, so it is never freed */
        int line;
    } known[MOST];
    static uint32_t asked;
    uint32_t k = 0;
    pthread_mutex_lock(&lock);
    while (k < MOST && known[k].address != address) k++;
    if (k == MOST) {
        struct simgpu_place found = {.file = NULL};
        k = asked++ % MOST;
        known[k].address = address;
        known[k].file = ask_addr2line(address, &found) ? strdup(found.file) : NULL;
        known[k].line = found.line;
    }
    if (known[k].file) p->file = known[k].file, p->line = known[k].line;
    pthread_mutex_unlock(&lock);
    return p->file;
}

/* Returns the line of the innermost frame that has one, so memcpy's caller rather than memcpy. */
static struct simgpu_place place_of(const touch *t) {
    struct simgpu_place p = {.did = t->writes ? SIMGPU_DID_WRITE : SIMGPU_DID_READ};
    for (int k = 0; k < t->nframes && !p.file; k++) {
        const uint64_t at = (uint64_t)(uintptr_t)t->frames[k];
        look_up(k ? at - 1 : at, &p); /* a return address points behind the call */
    }
    return p;
}

void check_host_caller(const void **site, const char **function) {
    void *frames[FRAMES];
    Dl_info info;
    program_image image = {0};
    const int n = backtrace(frames, FRAMES);
    *site = NULL;
    *function = NULL;
    dl_iterate_phdr(find_program, &image);
    for (int k = 1; k < n && !*site; k++) {
        const uint64_t at = (uint64_t)(uintptr_t)frames[k];
        if (at >= image.lo && at < image.hi)
            *site = (const char *)frames[k] - 1; /* a return address points behind the call */
        else if (dladdr(frames[k], &info) && info.dli_sname)
            *function = info.dli_sname;
    }
}

struct simgpu_place check_host_line(const void *site) {
    struct simgpu_place p = {.file = NULL};
    if (site) look_up((uint64_t)(uintptr_t)site, &p);
    return p;
}

static void say(const touch *t) {
    struct simgpu_finding n = {.kind = SIMGPU_IN_FLIGHT, .nsides = 2, .space = SIMGPU_HOST_MEMORY};
    n.side[0].at = place_of(t);
    n.side[1] = (struct simgpu_side){.at = {.file = t->of.file, .line = t->of.line},
                                     .command = SIMGPU_COPYING,
                                     .direction = t->of.writes ? SIMGPU_D2H : SIMGPU_H2D,
                                     .stream = t->of.stream};
    n.side[1].at.did = t->of.writes ? SIMGPU_DID_WRITE : SIMGPU_DID_READ;
    if (!check_finding_is_new(&n)) return;
    if (n.side[0].at.file) n.side[0].at.file = strdup(n.side[0].at.file); /* finding.c keeps it */
    n.offset = t->address - t->of.lo;
    n.bytes = t->of.hi - t->of.lo;
    check_finding_say(&n);
}

void check_host_say(void) {
    if (!here->ntouches) return;
    for (uint32_t k = 0; k < here->ntouches; k++) say(&here->touches[k]);
    here->ntouches = 0;
    check_host_guard_again();
}

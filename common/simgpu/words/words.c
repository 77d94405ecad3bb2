/* words.c — turns events into English: why a kernel took its time, why it stopped, what the checks found, why the SMs
 * were idle. It implements the simgpuSay functions of include/simgpu_event.h and uses only that header and base/, so a
 * translation replaces this one file. A fault, for example:
 *
 *   transpose.cu:31: illegal address: store of 4 bytes at 0x20000004000: 0 bytes past the end of the 16384-byte ...
 *       31 |     out[c * rows + r] = in[r * cols + c];
 *          |                       ^
 *     in kernel transpose, block (3,0,0), thread (31,0,0)
 */
#include "../include/simgpu_event.h"
#include "../base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef unsigned long long ull;

/* The caller's buffer; add() appends to it and truncates at its end. */
typedef struct {
    char *text;
    size_t size;
} page;

static page begin(char *text, size_t size) {
    if (size) text[0] = '\0';
    return (page){text, size};
}

__attribute__((format(printf, 2, 3))) static void add(const page *p, const char *format, ...) {
    size_t n = p->size ? strlen(p->text) : 0;
    if (n == p->size) return;
    va_list ap;
    va_start(ap, format);
    vsnprintf(p->text + n, p->size - n, format, ap);
    va_end(ap);
}

/* --- places -------------------------------------------------------------------------------------------------- */

static bool known(const struct simgpu_place *at) { return at->file && *at->file && at->line; }

/* Adds "line 41" if the place is in file_at_hand, else "train.cu:41", or "an unknown line". */
static void add_place(const page *p, const struct simgpu_place *at, const char *file_at_hand) {
    if (!at->file)
        add(p, "an unknown line");
    else if (file_at_hand && !strcmp(base_file_name(at->file), base_file_name(file_at_hand)))
        add(p, "line %d", at->line);
    else
        add(p, "%s:%d", base_file_name(at->file), at->line);
}

/* Adds the source line and, if the column is known, a caret below it. Adds nothing if the file cannot be read. */
static void add_source(const page *p, const struct simgpu_place *at) {
    char line[512];
    if (!known(at) || !base_read_line(at->file, (uint32_t)at->line, line, sizeof line)) return;
    add(p, "\n%6d | %s", at->line, line);
    if (!at->column) return;
    add(p, "\n       | ");
    for (int k = 0; k < at->column - 1 && line[k]; k++) add(p, "%c", line[k] == '\t' ? '\t' : ' ');
    add(p, "^");
}

static void add_address(const page *p, const struct simgpu_address *a) {
    ull distance = a->distance, bytes = a->bytes, start = a->base;
    switch (a->where) {
    case SIMGPU_NULL_POINTER: add(p, "a null pointer"); break;
    case SIMGPU_NO_DEVICE_MEMORY: add(p, "not a device address; a host pointer, or an index far out of range"); break;
    case SIMGPU_NONE_ALLOCATED: add(p, "nothing is allocated"); break;
    case SIMGPU_INSIDE:
        add(p, "%llu bytes into %s%llu-byte allocation at 0x%llx%s", distance, a->freed ? "a " : "the ", bytes, start,
            a->freed ? " that was freed" : "");
        break;
    default:
        add(p, "%llu bytes %s the %llu-byte allocation at 0x%llx%s", distance,
            a->where == SIMGPU_PAST_END ? "past the end of" : "before", bytes, start, a->freed ? " (freed)" : "");
    }
    if (a->elsewhere) add(p, ", memory of another device; cudaDeviceEnablePeerAccess lets kernels of this one use it");
}

const char *simgpuSayAddress(const struct simgpu_address *address, char *text, size_t size) {
    page p = begin(text, size);
    add_address(&p, address);
    return text;
}

static void add_three(const page *p, const char *what, const uint32_t v[3]) {
    add(p, "%s (%u,%u,%u)", what, v[0], v[1], v[2]);
}

/* --- why a kernel took its time ------------------------------------------------------------------------------ */

static double product(const uint32_t v[3]) { return (double)v[0] * v[1] * v[2]; }

static void add_latency(const page *p, const struct simgpu_bound *b, const char *place) {
    if (b->by_grid_syncs)
        add(p, "latency: the blocks meet in grid.sync() %.0f time%s", (double)b->grid_syncs,
            b->grid_syncs == 1 ? "" : "s");
    else if (b->by_loads && b->rounds == 1)
        add(p, "latency: too few bytes are on their way: a warp waits for its only load%s", place);
    else if (b->by_loads)
        add(p, "latency: a warp waits for %.0f loads in a row%s", (double)b->rounds, place);
    else
        add(p, "latency: a warp's instructions wait for each other for %.0f clocks", (double)b->clocks);
    add(p, ", and warps fill %.0f %% of the GPU", b->share * 100);
}

const char *simgpuSayBound(const struct simgpu_launch *launch, char *text, size_t size) {
    const struct simgpu_bound *b = &launch->bound;
    page p = begin(text, size);
    char place[128] = "";
    if (b->at.file) snprintf(place, sizeof place, " in %.100s:%d", base_file_name(b->at.file), b->at.line);
    switch (b->term) {
    case SIMGPU_TERM_BLOCKS:
        add(&p, "blocks: %.0f blocks of %.0f threads, of which the GPU starts %.1f a nanosecond", product(launch->grid),
            product(launch->block), b->amount);
        break;
    case SIMGPU_TERM_BARRIER: add(&p, "barriers: a warp waits at %.0f of them, most%s", b->amount, place); break;
    case SIMGPU_TERM_ATOMIC:
        add(&p, "%s: %.0f wait for their turn at one slice of L2, most%s", b->by_stores ? "stores" : "atomics",
            b->amount, place);
        break;
    case SIMGPU_TERM_ISSUE: add(&p, "issue: %.1f us of instructions, most%s", b->amount / 1000, place); break;
    case SIMGPU_TERM_ALU: add(&p, "alu: %.1f us of integers and logic, most%s", b->amount / 1000, place); break;
    case SIMGPU_TERM_SFU:
        add(&p, "sfu: %.1f us of special functions and conversions, most%s", b->amount / 1000, place);
        break;
    case SIMGPU_TERM_FP64: add(&p, "fp64: %.1f us of double precision, most%s", b->amount / 1000, place); break;
    case SIMGPU_TERM_LSU: add(&p, "LSU: %.1f clocks a request%s", b->amount, place); break;
    case SIMGPU_TERM_L2_READ: add(&p, "L2 read: %.1f sectors a request miss L1%s", b->amount, place); break;
    case SIMGPU_TERM_L2_WRITE:
        add(&p, "L2 write: %.1f sectors a store or atomic%s", b->amount, place);
        if (b->by_fills) add(&p, ", each stored in part: L2 waits for DRAM to give the rest");
        break;
    case SIMGPU_TERM_DRAM: add(&p, "DRAM: %.1f MB must move; only moving less is faster", b->amount / 1e6); break;
    case SIMGPU_TERM_LATENCY: add_latency(&p, b, place); break;
    case SIMGPU_TERM_TENSOR: add(&p, "tensor cores: %.1f us of products, most%s", b->amount / 1000, place); break;
    case SIMGPU_TERM_LINK:
        if (b->by_loads)
            add(&p, "link: a warp waits for %.0f loads in a row from memory outside of the GPU%s", (double)b->rounds,
                place);
        else
            add(&p, "link: %.1f MB of memory outside of the GPU move over the link", b->amount / 1e6);
        break;
    case SIMGPU_TERM_PAGES:
        add(&p,
            "page faults: %.1f MB of managed memory come to the GPU while the kernel waits; cudaMemPrefetchAsync "
            "before the launch moves them sooner",
            b->amount / 1e6);
        break;
    default: add(&p, "launch: a launch costs more than its work of %.2f us", b->amount / 1000);
    }
    return text;
}

/* --- what stopped a kernel ----------------------------------------------------------------------------------- */

static const char *const fault_titles[SIMGPU_FAULTS] = {[SIMGPU_FAULT_NONE] = "no fault",
                                                        [SIMGPU_FAULT_UNSUPPORTED] = "unsupported instruction",
                                                        [SIMGPU_FAULT_ILLEGAL_ADDRESS] = "illegal address",
                                                        [SIMGPU_FAULT_MISALIGNED] = "misaligned address",
                                                        [SIMGPU_FAULT_BUDGET] = "runaway kernel",
                                                        [SIMGPU_FAULT_DEADLOCK] = "deadlock",
                                                        [SIMGPU_FAULT_BAD_SYNC] = "bad synchronisation",
                                                        [SIMGPU_FAULT_TRAP] = "trap",
                                                        [SIMGPU_FAULT_ASSERT] = "assertion failed",
                                                        [SIMGPU_FAULT_STACK] = "stack overflow"};

static void add_access(const page *p, const struct simgpu_fault *f) {
    static const char *const verbs[] = {[SIMGPU_DID_NOTHING] = "access",
                                        [SIMGPU_DID_READ] = "load",
                                        [SIMGPU_DID_WRITE] = "store",
                                        [SIMGPU_DID_ATOMIC] = "atomic"};
    add(p, "%s of %u bytes ", verbs[f->did], f->bytes);
}

/* Lists where the threads of a deadlocked block wait. */
static void add_waiting(const page *p, const struct simgpu_fault *f) {
    static const char *const where[] = {[SIMGPU_WAITS_FOR_WARP] =
                                            "for the lanes of their warp that took the other way at the branch",
                                        [SIMGPU_WAITS_AT_BARRIER] = "at the barrier",
                                        [SIMGPU_WAITS_FOR_MASK] = "for lanes that their mask names"};
    for (uint32_t k = 0; k < f->nwaiting; k++)
        add(p, "%s%u of %llu threads wait%s %s %s line %u", k ? "; " : "", f->waiting[k].threads, (ull)f->n[1],
            f->waiting[k].threads == 1 ? "s" : "", where[f->waiting[k].what],
            f->waiting[k].what == SIMGPU_WAITS_FOR_WARP ? "of" : "at", f->waiting[k].line);
    if (f->n[0]) add(p, "; %llu have ended", (ull)f->n[0]);
    add(p, ". %s",
        f->waiting[f->n[2]].what == SIMGPU_WAITS_FOR_MASK
            ? "Every lane that a mask names must reach the line with that mask"
        : f->counted ? "A barrier with a thread count waits until that many threads reach it"
                     : "Every thread of the block must reach the same __syncthreads()");
}

/* Blocks of a launch that wait for each other. */
static void add_waiting_blocks(const page *p, const struct simgpu_fault *f) {
    ull waiting = f->n[0], all = f->n[1], ended = f->n[2], outside = all - waiting - ended;
    if (f->cause == SIMGPU_CAUSE_GRID_SYNC) {
        add(p, "%llu of %llu blocks wait in grid.sync(); ", waiting, all);
        if (ended) add(p, "%llu ended without it; ", ended);
        add(p, "every thread of every block must reach each grid.sync() of the kernel");
        return;
    }
    if (f->cause == SIMGPU_CAUSE_HOST_WORD)
        add(p,
            "%llu of %llu blocks wait for a value that the host is to write, but SimGPU runs a kernel to its end "
            "within the "
            "call that launches it; write the value before the launch, or launch behind an event or a host function",
            waiting, all);
    else if (outside)
        add(p,
            "%llu blocks fill the GPU and wait for the others of the grid's %llu, which start only when one of them "
            "ends; launch at most %llu blocks, or use cudaLaunchCooperativeKernel and grid.sync(), which refuse a grid "
            "that is too large",
            waiting, all, waiting);
    else
        add(p,
            "%llu of %llu blocks wait for a value that no block changes any more%s; let every block arrive, count "
            "them all, and reset the counter before the launch",
            waiting, all, ended ? ", and the rest have ended" : "");
}

/* Texture and surface objects. */
static void add_cause_of_object(const page *p, const struct simgpu_fault *f) {
    const char *kind = f->n[1] ? "surface" : "texture", *Kind = f->n[1] ? "Surface" : "Texture";
    ull handle = f->n[0];
    switch (f->cause) {
    case SIMGPU_CAUSE_NO_OBJECT:
        add(p,
            "0x%llx is no %s object; pass the kernel what cudaCreate%sObject stored, and check that the call succeeded",
            handle, kind, Kind);
        break;
    case SIMGPU_CAUSE_OBJECT_ENDED:
        add(p,
            "the %s object was destroyed before this launch; call cudaDestroy%sObject behind the last one that uses it",
            kind, Kind);
        break;
    case SIMGPU_CAUSE_OBJECT_KIND:
        add(p, "a %s is read or written through a %s object; make one by cudaCreate%sObject", kind,
            f->n[1] ? "texture" : "surface", Kind);
        break;
    default:
        add(p, "the memory of the %s object was freed: ", kind);
        add_address(p, &f->address);
        add(p, "; free it behind the last launch that uses the object");
    }
}

static void add_cause_of_access(const page *p, const struct simgpu_fault *f) {
    ull at = f->address.address;
    switch (f->cause) {
    case SIMGPU_CAUSE_ADDRESS:
        add_access(p, f);
        add(p, "at 0x%llx: ", at);
        add_address(p, &f->address);
        break;
    case SIMGPU_CAUSE_MISALIGNED:
        add_access(p, f);
        add(p, "at 0x%llx: the address must be a multiple of %u", at, f->bytes);
        break;
    case SIMGPU_CAUSE_BEFORE_SPACE:
        add_access(p, f);
        add(p, "%llu bytes before the beginning of %s memory", (ull)f->n[0], f->name);
        break;
    case SIMGPU_CAUSE_PAST_SPACE:
        add_access(p, f);
        add(p, "at offset %llu of %s memory, which has %llu bytes here", (ull)f->n[0], f->name, (ull)f->n[1]);
        break;
    case SIMGPU_CAUSE_OUTSIDE_SURFACE:
        add_access(p, f);
        add(p,
            "at (%lld, %lld, %lld), outside of the surface of %s (bytes x rows x planes); check the coordinates, or "
            "pass cudaBoundaryModeZero or cudaBoundaryModeClamp",
            (long long)f->n[0], (long long)f->n[1], (long long)f->n[2], f->name);
        break;
    case SIMGPU_CAUSE_SURFACE_BYTE:
        add_access(p, f);
        add(p,
            "at byte %lld of a row of a surface: a surface's x counts bytes, so multiply it by sizeof of the element",
            (long long)f->n[0]);
        break;
    case SIMGPU_CAUSE_NO_OBJECT:
    case SIMGPU_CAUSE_OBJECT_ENDED:
    case SIMGPU_CAUSE_OBJECT_KIND:
    case SIMGPU_CAUSE_OBJECT_MEMORY: add_cause_of_object(p, f); break;
    case SIMGPU_CAUSE_LOCAL_ATOMIC:
        add(p, "an atomic on local memory, which no other thread can see; use shared or device memory");
        break;
    case SIMGPU_CAUSE_PRINTF_STRING:
        add(p, "printf was given a string that is not in device memory; pass a string literal");
        break;
    case SIMGPU_CAUSE_NO_FUNCTION:
        add(p, "call through a pointer that is not a device function (0x%llx)", (ull)f->n[0]);
        break;
    default: break;
    }
}

static void add_cause(const page *p, const struct simgpu_fault *f) {
    ull a = f->n[0], b = f->n[1], c = f->n[2];
    switch (f->cause) {
    case SIMGPU_CAUSE_ARGUMENTS: add(p, "%s is called with %llu arguments; it takes %llu", f->name, a, b); break;
    case SIMGPU_CAUSE_FREE:
        add(p, "free() of 0x%llx, where no live block of a kernel's malloc() begins: ", (ull)f->address.address);
        add_address(p, &f->address);
        break;
    case SIMGPU_CAUSE_ASSERTION: add(p, "%s (%s:%llu)", f->text, f->name, a); break;
    case SIMGPU_CAUSE_BARRIERS:
        add(p,
            "threads of one block wait at different barriers, some at %sline %llu, others at %sline %llu; let every "
            "thread reach the same __syncthreads()",
            a == b ? "one of " : "", a, a == b ? "another of " : "", b);
        break;
    case SIMGPU_CAUSE_BARRIER_NUMBER:
        add(p, "barrier %llu for %llu threads; use barriers 0 to 15 and thread counts that are multiples of 32", a, b);
        break;
    case SIMGPU_CAUSE_BARRIER_PARTLY:
        add(p, "a barrier under a condition that only some lanes of the warp meet; move it out of the condition");
        break;
    case SIMGPU_CAUSE_MASK_WITHOUT_ME:
        add(p, "the mask 0x%08llx does not name lane %llu, which executes it; add the lane to the mask", a, b);
        break;
    case SIMGPU_CAUSE_MASK_OF_ABSENT:
        add(p, "the mask 0x%08llx names lanes that do not execute it; name only lanes that reach this line", a);
        break;
    case SIMGPU_CAUSE_SPLITS: add(p, "divergent branches nest more than %llu deep", a); break;
    case SIMGPU_CAUSE_CALLS: add(p, "calls nest too deep at %s; is the recursion endless?", f->name); break;
    case SIMGPU_CAUSE_TRAP: add(p, "the kernel executed a trap"); break;
    case SIMGPU_CAUSE_BREAKPOINT:
        add(p, "the kernel came to a breakpoint (__brkpt), and no debugger is there; so it ends, as on a card");
        break;
    case SIMGPU_CAUSE_NOT_COOPERATIVE:
        add(p, "grid.sync() in an ordinary launch, whose blocks need not be resident together; launch the kernel with "
               "cudaLaunchCooperativeKernel");
        break;
    case SIMGPU_CAUSE_BRANCH_INDEX: add(p, "brx.idx with index %llu into a list of %llu targets", a, b); break;
    case SIMGPU_CAUSE_BLOCK_BUDGET:
        add(p, "a block used up its budget of warp instructions; is a loop endless? SIMGPU_BUDGET raises the budget");
        break;
    case SIMGPU_CAUSE_LAUNCH_BUDGET:
        add(p,
            "the first %llu of its %llu blocks took more than %llu warp instructions, the budget of a launch; "
            "SIMGPU_BUDGET raises it",
            a, b, c);
        break;
    case SIMGPU_CAUSE_CHILDREN:
        add(p, "kernels have launched %llu kernels behind one launch of the host; does the recursion end?", a);
        break;
    case SIMGPU_CAUSE_WAITING: add_waiting(p, f); break;
    case SIMGPU_CAUSE_GRID_SYNC:
    case SIMGPU_CAUSE_HOST_WORD:
    case SIMGPU_CAUSE_BLOCKS: add_waiting_blocks(p, f); break;
    default: add_cause_of_access(p, f);
    }
}

const char *simgpuSayFault(const struct simgpu_fault *f, enum simgpu_part part, char *text, size_t size) {
    page p = begin(text, size);
    if (f->cause == SIMGPU_CAUSE_REFUSED) {
        if (part == SIMGPU_WHOLE) add(&p, "%s: ", f->module);
        add(&p, "kernel %s cannot run on SimGPU: %s", f->kernel, f->text);
        return text;
    }
    if (part == SIMGPU_WHOLE && f->library) {
        if (known(&f->called)) add(&p, "%s:%d: ", base_file_name(f->called.file), f->called.line);
        add(&p, "%s: ", base_library_name(f->library).text);
    } else if (part == SIMGPU_WHOLE && known(&f->at)) {
        add(&p, "%s:%d: ", base_file_name(f->at.file), f->at.line);
    } else if (part == SIMGPU_WHOLE) {
        add(&p, "%s, PTX line %u: ", f->module, f->module_line);
    }
    if (part != SIMGPU_LAST) {
        add(&p, "%s: ", fault_titles[f->kind]);
        add_cause(&p, f);
    }
    if (part == SIMGPU_WHAT) return text;
    if (part == SIMGPU_WHOLE) {
        add_source(&p, f->library ? &f->called : &f->at);
        add(&p, "\n  ");
    }
    add(&p, "in kernel %s", f->kernel);
    if (f->library && known(&f->at)) add(&p, " (%s:%d)", base_file_name(f->at.file), f->at.line);
    if (f->scope != SIMGPU_WHOLE_LAUNCH) add_three(&p, ", block", f->block);
    if (f->scope == SIMGPU_ONE_THREAD) add_three(&p, ", thread", f->thread);
    if (f->scope == SIMGPU_ONE_WARP) add(&p, ", warp %u", f->warp);
    return text;
}

/* --- what the checks found ----------------------------------------------------------------------------------- */

static const char *does(enum simgpu_did did) {
    return did == SIMGPU_DID_ATOMIC ? "changes atomically" : did == SIMGPU_DID_WRITE ? "writes" : "reads";
}
static const char *did_so(enum simgpu_did did) {
    return did == SIMGPU_DID_ATOMIC ? "changed atomically" : did == SIMGPU_DID_WRITE ? "wrote" : "read";
}

static void add_what_of_memory(const page *p, const struct simgpu_finding *f) {
    ull offset = f->offset;
    switch (f->space) {
    case SIMGPU_SHARED_VARIABLE: add(p, "byte %llu of the shared variable %s", offset, f->variable); break;
    case SIMGPU_SHARED_DYNAMIC: add(p, "byte %llu of the dynamic shared memory", offset); break;
    case SIMGPU_SHARED_MEMORY: add(p, "byte %llu of shared memory", offset); break;
    default: add(p, "device memory, "); add_address(p, &f->address);
    }
}

static void add_race(const page *p, const struct simgpu_finding *f) {
    static const char *const rivals[] = {[SIMGPU_OTHER_THREAD] = "another thread",
                                         [SIMGPU_OTHER_LANE] = "another lane of the warp",
                                         [SIMGPU_OTHER_BLOCK] = "another block"};
    const struct simgpu_place *mine = &f->side[0].at, *other = &f->side[1].at;
    if (f->rival == SIMGPU_SAME_STORE) {
        add(p, "race: lanes of one warp write different values to one place at once");
        return;
    }
    add(p, "race: a thread %s what %s %s ", does(mine->did), rivals[f->rival], did_so(other->did));
    if (mine->line == other->line)
        add(p, "on the same line");
    else
        add(p, "at line %d", other->line);
    add(p, ", and nothing puts them in order");
}

static void add_command(const page *p, const struct simgpu_side *s) {
    static const char *const copies[] = {[SIMGPU_H2D] = "the copy to the device",
                                         [SIMGPU_D2H] = "the copy to the host",
                                         [SIMGPU_D2D] = "the copy on the device",
                                         [SIMGPU_H2H] = "the copy on the host"};
    if (s->command == SIMGPU_KERNEL)
        add(p, "kernel %s", s->name);
    else
        add(p, "%s", s->command == SIMGPU_COPYING ? copies[s->direction] : "the memset");
    add(p, " on stream %u", s->stream);
}

/* The two that concern a barrier. */
static bool of_barrier(const struct simgpu_finding *f) {
    return f->kind == SIMGPU_BARRIER_SKIPPED || f->kind == SIMGPU_BARRIER_EXITED;
}

static void add_barrier(const page *p, const struct simgpu_finding *f) {
    const struct simgpu_place *condition = &f->side[1].at;
    add(p, "barrier: some threads of the block wait at this %s, others ",
        f->cooperative ? "__syncthreads() or grid.sync()" : "__syncthreads()");
    add(p, f->kind == SIMGPU_BARRIER_EXITED ? "end without it" : "skip it and go on");
    if (condition->line && !f->same_code) add(p, ", by the condition at line %d", condition->line);
}

static void add_finding(const page *p, const struct simgpu_finding *f) {
    const struct simgpu_side *mine = &f->side[0], *other = &f->side[1];
    bool writes = other->at.did == SIMGPU_DID_WRITE;
    switch (f->kind) {
    case SIMGPU_RACE: add_race(p, f); break;
    case SIMGPU_UNINITIALISED:
        add(p, f->space == SIMGPU_DEVICE_MEMORY
                   ? "uninitialised: a thread reads device memory that nothing has written since its allocation"
                   : "uninitialised: a thread reads shared memory that no thread of its block has written");
        break;
    case SIMGPU_STREAM_ORDER:
        add(p, "stream order: ");
        add_command(p, mine);
        add(p, " %s what ", does(mine->at.did));
        add_command(p, other);
        add(p, " %s (", does(other->at.did));
        add_place(p, &other->at, mine->at.file);
        add(p, "), and nothing puts the two in order");
        break;
    case SIMGPU_BARRIER_SKIPPED:
    case SIMGPU_BARRIER_EXITED: add_barrier(p, f); break;
    case SIMGPU_IN_FLIGHT:
        add(p, "in flight: the host %s a buffer that a copy (", does(mine->at.did));
        add_place(p, &other->at, mine->at.file);
        add(p, ") may still be %s, since the host has not waited for it", writes ? "writing" : "reading");
    }
}

/* Adds the lines between the source and the remedy. */
static void add_details(const page *p, const struct simgpu_finding *f) {
    const struct simgpu_side *mine = &f->side[0], *other = &f->side[1];
    bool writes = other->at.did == SIMGPU_DID_WRITE;
    switch (f->kind) {
    case SIMGPU_STREAM_ORDER:
        add(p, "\n  %llu bytes, from ", (ull)f->bytes);
        if (f->space == SIMGPU_HOST_MEMORY)
            add(p, "in host memory");
        else
            add_address(p, &f->address);
        return;
    case SIMGPU_IN_FLIGHT:
        add(p, "\n  byte %llu of the %llu that are copied %s on stream %u", (ull)f->offset, (ull)f->bytes,
            writes ? "to the host" : "to the device", other->stream);
        return;
    default: break;
    }
    add(p, "\n  in kernel %s", f->kernel);
    add_three(p, ", block", mine->block);
    add(p, ": ");
    if (of_barrier(f)) {
        add_three(p, "thread", mine->thread);
        add(p, " waits, ");
        add_three(p, "thread", other->thread);
        add(p, f->kind == SIMGPU_BARRIER_EXITED ? " ends; a GPU counts it as arrived" : " does not come");
        return;
    }
    if (f->kind == SIMGPU_RACE) {
        if (other->any_lane)
            add(p, "another lane of warp %u", other->warp);
        else
            add_three(p, "thread", other->thread);
        if (f->rival == SIMGPU_OTHER_BLOCK) add_three(p, " of block", other->block);
        add(p, " %s and ", did_so(other->at.did));
    }
    add_three(p, "thread", mine->thread);
    add(p, " %s ", f->kind == SIMGPU_RACE ? does(mine->at.did) : "reads");
    add_what_of_memory(p, f);
}

static const char *remedy(const struct simgpu_finding *f) {
    static const char *const races[] = {
        [SIMGPU_OTHER_THREAD] = "put __syncthreads() between the two, where every thread of the block passes it.",
        [SIMGPU_OTHER_LANE] = "put __syncwarp() between the two, or pass the value by __shfl_sync; lanes of one warp "
                              "need not run together.",
        [SIMGPU_OTHER_BLOCK] = "give each block its own element, use an atomic, end the kernel between the two, or "
                               "publish the value by __threadfence() and then a flag; blocks of one launch run in any "
                               "order.",
        [SIMGPU_SAME_STORE] = "let one thread write, or use an atomic; a GPU may keep any of the values."};
    /* Of one line: `count[k]++`, a tree's `s[i] += s[i + n]`, or a store of all to one place. */
    static const char *const additions[] = {
        [SIMGPU_OTHER_THREAD] =
            "if several threads add to one place, use an atomic; else put __syncthreads() between the "
            "read and the write.",
        [SIMGPU_OTHER_LANE] =
            "if several lanes add to one place, use an atomic; else put __syncwarp() between the read "
            "and the write, or pass the value by __shfl_sync."};
    const struct simgpu_place *mine = &f->side[0].at, *other = &f->side[1].at;
    const bool near = f->rival == SIMGPU_OTHER_THREAD || f->rival == SIMGPU_OTHER_LANE;
    if (f->kind == SIMGPU_RACE && f->rival == SIMGPU_OTHER_BLOCK && f->cooperative)
        return "let all blocks meet in grid.sync() between the two, or read one buffer and write another.";
    switch (f->kind) {
    case SIMGPU_RACE:
        if (!near || mine->line != other->line) return races[f->rival];
        return mine->did == other->did ? races[SIMGPU_SAME_STORE] : additions[f->rival];
    case SIMGPU_UNINITIALISED:
        if (f->space == SIMGPU_DEVICE_MEMORY)
            return "write each element before the first read, zeros too, by cudaMemset, a copy or an earlier kernel; "
                   "cudaMalloc gives memory with garbage in it.";
        return "write each element before the first read, zeros too; shared memory begins with garbage in every block.";
    case SIMGPU_BARRIER_SKIPPED:
        return "let every thread of the block pass it: put the condition around the loads and stores, and the barrier "
               "behind it. A barrier orders only the threads that wait at it.";
    case SIMGPU_BARRIER_EXITED:
        return "let no thread return before the last barrier: put the condition around its loads and stores instead. "
               "(The return is right only if nobody needs what that thread would have done.)";
    case SIMGPU_STREAM_ORDER:
        return "record an event behind the first (cudaEventRecord) and let the other's stream wait for it "
               "(cudaStreamWaitEvent), or put both on one stream.";
    default:
        return "wait for the copy before the host uses the buffer, by cudaStreamSynchronize(stream), or by an event "
               "behind the copy and cudaEventSynchronize.";
    }
}

const char *simgpuSayFinding(const struct simgpu_finding *f, enum simgpu_part part, char *text, size_t size) {
    const struct simgpu_place *mine = &f->side[0].at;
    bool in_kernel = f->kind == SIMGPU_RACE || f->kind == SIMGPU_UNINITIALISED || of_barrier(f);
    page p = begin(text, size);
    if (part == SIMGPU_WHOLE && (mine->file || in_kernel)) add(&p, "%s:%d: ", base_file_name(mine->file), mine->line);
    if (part != SIMGPU_LAST) add_finding(&p, f);
    if (part == SIMGPU_WHAT) return text;
    if (part == SIMGPU_WHOLE) {
        if (f->nsides > 1 && !f->same_code) add_source(&p, &f->side[1].at);
        add_source(&p, mine);
        add_details(&p, f);
        add(&p, "\n  ");
    }
    add(&p, "Fix: %s", remedy(f));
    return text;
}

/* --- why the SMs were idle ----------------------------------------------------------------------------------- */

const char *simgpuSayGap(const struct simgpu_gap *gap, char *text, size_t size) {
    static const char *const causes[] = {[SIMGPU_HOST_BLOCKED] = "host blocked in ",
                                         [SIMGPU_HOST_WORKING] = "host working",
                                         [SIMGPU_HOST_LAUNCHING] = "host launching",
                                         [SIMGPU_WAITING_FOR_COPY] = "waiting for copy",
                                         [SIMGPU_WAITING_FOR_FUNCTION] = "waiting for a host function",
                                         [SIMGPU_BETWEEN_COMMANDS] = "device between commands",
                                         [SIMGPU_KERNEL_STARTING] = "kernel starting"};
    page p = begin(text, size);
    add(&p, "%s%s", causes[gap->cause], gap->cause == SIMGPU_HOST_BLOCKED ? gap->call : "");
    return text;
}

/* --- the words of enums -------------------------------------------------------------------------------------- */

const char *simgpuTermName(enum simgpu_term term) {
    static const char *const names[SIMGPU_TERMS] = {"launch",   "blocks", "issue",  "lsu",     "barrier", "l2_read",
                                                    "l2_write", "dram",   "atomic", "latency", "link",    "pages",
                                                    "tensor",   "alu",    "sfu",    "fp64"};
    return names[term];
}

const char *simgpuFaultName(enum simgpu_fault_kind kind) {
    static const char *const names[SIMGPU_FAULTS] = {
        [SIMGPU_FAULT_NONE] = "none",
        [SIMGPU_FAULT_UNSUPPORTED] = "unsupported",
        [SIMGPU_FAULT_ILLEGAL_ADDRESS] = "illegal address",
        [SIMGPU_FAULT_MISALIGNED] = "misaligned",
        [SIMGPU_FAULT_BUDGET] = "budget",
        [SIMGPU_FAULT_DEADLOCK] = "deadlock",
        [SIMGPU_FAULT_BAD_SYNC] = "bad sync",
        [SIMGPU_FAULT_TRAP] = "trap",
        [SIMGPU_FAULT_ASSERT] = "assert",
        [SIMGPU_FAULT_STACK] = "stack",
    };
    return names[kind];
}

const char *simgpuFindingName(enum simgpu_finding_kind kind) {
    static const char *const names[] = {[SIMGPU_RACE] = "race",
                                        [SIMGPU_UNINITIALISED] = "uninit",
                                        [SIMGPU_STREAM_ORDER] = "stream-order",
                                        [SIMGPU_IN_FLIGHT] = "in-flight",
                                        [SIMGPU_BARRIER_SKIPPED] = "barrier-skipped",
                                        [SIMGPU_BARRIER_EXITED] = "barrier-exited"};
    return names[kind];
}

const char *simgpuDirectionName(enum simgpu_direction direction) {
    static const char *const names[] = {"h2d", "d2h", "d2d", "h2h"};
    return names[direction];
}

const char *simgpuMigrationName(enum simgpu_migration_cause cause) {
    static const char *const names[] = {"kernel", "host", "prefetch", "copy"};
    return names[cause];
}

const char *simgpuDidName(enum simgpu_did did) {
    static const char *const names[] = {"nothing", "read", "write", "atomic", "wait", "skip"};
    return names[did];
}

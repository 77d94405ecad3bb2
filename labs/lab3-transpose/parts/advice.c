/* advice.c — see advice.h. Tables of hint and next step, by kind. */
#include "advice.h"
#include "hazards.h"
#include "usage.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- costs of a line -------------------------------------------------------------------------- */

double copies_of(const lab_line *l) { return l->copies; }
double excess_loads(const lab_line *l) { return l->c.ld_sectors - l->c.ld_bytes / 32; }
double atomics(const lab_counters *c) { return c->atom_sectors; }
double excess_stores(const lab_line *l) { return l->c.st_sectors - l->c.st_bytes / 32 + atomics(&l->c); }
static double loads_of(const lab_line *l) { return l->c.ld_sectors; }
static double stores_of(const lab_line *l) { return l->c.st_sectors + atomics(&l->c); }
static double traffic_of(const lab_line *l) {
    return l->c.ld_sectors + l->c.st_sectors + l->c.shared_ld_wavefronts + l->c.shared_st_wavefronts;
}

/* --- a wrong output --------------------------------------------------------------------------- */

static const lab_advice for_mistake[] = {
    [NO_MISTAKE] = {"correct", ""},
    [NOTHING_WRITTEN] = {"unwritten",
                         "see which test sends every thread away before its store; a compiler also removes "
                         "a loop that does nothing and cannot end"},
    [EDGE] =
        {"unwritten",
         "round the number of blocks up, (n + tile - 1) / tile, in both directions of the grid, with x for columns "
         "and y for rows; and let a thread test each of its elements by itself"},
    [LAST] = {"unwritten", "test each element of a thread by itself: one that lies beyond the edge must not drop its "
                           "neighbours"},
    [UNWRITTEN] = {"unwritten",
                   "take the element named here: which block and which thread should write it, and what stops them?"},
    [AS_IT_WAS] = {"correct", "exchange row and column on one side only: load A[row][col], store out[col][row]"},
    [TILES_STAY] = {"correct", "exchange blockIdx.x and blockIdx.y where you compute the place in the result"},
    [TILES_UNTURNED] = {"correct",
                        "read the tile down its columns: tile[threadIdx.x][threadIdx.y], not as it was written"},
    [OUT_PITCH] = {"correct", "multiply the row of the result by rows: so long is each of its rows"},
    [IN_PITCH] = {"correct", "multiply the row of A by cols: so long is each of its rows"},
    [STALE] = {"correct", "keep nothing from one call to the next: each call brings another matrix"},
    [FRESH] = {"races", "find what one thread writes and another reads, and put a __syncthreads() between the two"},
    [NOWHERE] = {"correct",
                 "store what was loaded, unchanged; a float has 24 bits, so none of them may be lost on the way"},
    [MISPLACED] = {"correct", "draw a 2x3 matrix and follow one element through your indices"},
    [INPUT_CHANGED] = {"bounds", "write to d_out only: find the store whose address comes from d_in"},
    [OUT_OF_BOUNDS] = {"bounds", "test row < rows and col < cols before each access, not only before the first"},
};

/* The last kernel that the last run of j started; if none, its last copy or fill; NULL: it started nothing. */
static const struct simgpu_event *last_command(const job *j, const lab_usage *u) {
    const struct simgpu_event *last = NULL;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (e->kind == SIMGPU_LAUNCH && (double)e->is.launch.call_ns >= j->begin) last = e;
        if (lab_is_copy(e) && (double)e->is.copy.call_ns >= j->begin && (!last || last->kind != SIMGPU_LAUNCH))
            last = e;
    }
    return last;
}

/* Adds a line to the reason. */
__attribute__((format(printf, 2, 3))) static void add_reason(lab_verdict *v, const char *format, ...) {
    char line[200];
    size_t n = strlen(v->why);
    va_list ap;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    lab_text(v->why + n, sizeof v->why - n, "%s%s", n ? "\n" : "", line);
}

/* Where several lines store, none of them can be blamed for a change of the input. */
static void name_stores(lab_verdict *v, const lab_usage *u) {
    char lines[100] = "";
    int stores = 0;
    for (int i = 0; i < u->nlines; i++) {
        if (!stores_of(&u->lines[i])) continue;
        size_t n = strlen(lines);
        lab_text(lines + n, sizeof lines - n, "%s%d", stores++ ? ", " : "", u->lines[i].line);
    }
    if (stores > 1) add_reason(v, "your stores are on lines %s", lines);
}

/* What another row, or an event, says about a wrong output. */
static void add_causes(lab_verdict *v, enum mistake m, const lab_usage *u) {
    const struct simgpu_finding *exited = lab_finding_of(u, SIMGPU_BARRIER_EXITED);
    if (m == INPUT_CHANGED) name_stores(v, u);
    if (m == UNWRITTEN && exited) {
        add_reason(v, "threads return before the barrier of line %d, and a thread that has returned stores nothing",
                   exited->side[0].at.line);
        v->hint = "deadlock";
        LAB_SAY(v->next,
                "let a thread without an element to load skip the load only: behind the barrier it has another "
                "one to store");
    } else if ((m == FRESH || m == NOWHERE || m == UNWRITTEN || m == AS_IT_WAS || m == MISPLACED) && lab_finding(u)) {
        v->hint = "races";
        LAB_SAY(v->next, "do what the row 'races' says; this may be its effect");
    }
}

void advise_on_output(lab_verdict *v, const job *j, const lab_usage *u) {
    static const lab_advice none = {"unwritten",
                                    "launch your kernel in transpose, with <<<blocks, threads>>>, for every "
                                    "shape"};
    const enum mistake m = j->mistake;
    lab_advise(v, &for_mistake[m]);
    if (lab_lane() == LAB_GPU) return;
    const struct simgpu_event *command = last_command(j, u);
    const lab_line *load = lab_worst(u, loads_of), *store = lab_worst(u, stores_of);
    if (!command) {
        lab_blame_text(v, u, "transpose(");
        add_reason(v, "transpose returned without starting a kernel");
        return lab_advise(v, &none);
    }
    lab_blame_place(v, &command->at);
    if (command->kind != SIMGPU_LAUNCH) {
        add_reason(v, "this line is all that transpose gave the GPU to do");
        return;
    }
    if (m == NOTHING_WRITTEN) add_reason(v, "a kernel ran, and stored nothing there");
    if ((m == EDGE || m == UNWRITTEN) && command->is.launch.grid[1] == 1 && command->is.launch.grid[0] > 1)
        add_reason(v, "your grid has one row of blocks only: %u in x, 1 in y", command->is.launch.grid[0]);
    const bool grid = m == NOTHING_WRITTEN || m == EDGE || m == LAST || m == UNWRITTEN;
    if (!grid && store) lab_blame(v, m == IN_PITCH && load ? load : store);
    add_causes(v, m, u);
}

/* --- CUDA's errors ---------------------------------------------------------------------------- */

const lab_advice advice_on_errors[LAB_TROUBLES] = {
    [LAB_PAST_THE_END] = {"bounds",
                          "work out row and column of this thread: do they lie beyond the edge of this shape, or "
                          "does the index use the wrong one of rows and cols?"},
    [LAB_HOST_ADDRESS] = {"pointer",
                          "pass d_in and d_out to the kernel as they are, since it cannot follow an address of "
                          "the host's; if it is an index, compute its largest value"},
    [LAB_MISALIGNED] = {"misaligned",
                        "a wide access needs an address that is a multiple of its width: is a row of this "
                        "shape one?"},
    [LAB_PAST_SHARED] = {"shared",
                         "compare the size of the tile, in its declaration or (in bytes) in the launch, with the "
                         "largest indices of this line"},
    [LAB_RUNAWAY] = {"runaway", "a loop does not end, or one thread does the work of many: print its bounds for this "
                                "shape"},
    [LAB_SOME_ADDRESS] = {"bounds", "find the threads beyond the edge of this shape: which test keeps them from their "
                                    "access?"},
    [LAB_SOME_MISALIGNED] = {"misaligned",
                             "a wide access needs an address that is a multiple of its width: is a row of "
                             "this shape one?"},
    [LAB_REFUSED + SIMGPU_REFUSED_ZERO] = {"error",
                                           "round the number of blocks up: (n + 31) / 32 is at least 1, n / 32 is "
                                           "not"},
    [LAB_REFUSED + SIMGPU_REFUSED_BLOCK] = {"error",
                                            "use a block of 32 x 8 threads, and let each move several elements in "
                                            "a loop"},
    [LAB_REFUSED + SIMGPU_REFUSED_GRID] = {"error", "put the longer side into the grid's x, which may have 2147483647 "
                                                    "blocks; y and z end at 65535"},
    [LAB_REFUSED + SIMGPU_REFUSED_STATIC_SHARED] = {"shared", "use a smaller tile: 32 x 33 floats are 4224 bytes"},
    [LAB_REFUSED + SIMGPU_REFUSED_SHARED] = {"shared",
                                             "pass the bytes of one block's tile as the third argument: 32 x 33 "
                                             "floats are 4224 bytes"},
    [LAB_REFUSED + SIMGPU_REFUSED_UNSUPPORTED] = {"error",
                                                  "do without it: a transpose needs loads, stores, shared memory "
                                                  "and a barrier"},
};

/* --- findings --------------------------------------------------------------------------------- */

/* Two threads of a block, in shared memory. */
static void advise_on_tile(lab_verdict *v, const struct simgpu_finding *f, const lab_usage *u) {
    const lab_line *barrier = lab_worst(u, lab_barriers_of);
    const bool reused = f->side[0].at.did == SIMGPU_DID_WRITE && f->side[1].at.did == SIMGPU_DID_READ;
    const bool both = f->side[0].at.did == SIMGPU_DID_WRITE && f->side[1].at.did == SIMGPU_DID_WRITE;
    if (both)
        LAB_SAY(v->next, "give each element of the tile one thread: two of them write this one");
    else if (barrier && reused)
        LAB_SAY(v->next,
                "put a second __syncthreads() at the end of the loop: the next turn writes the tile while others "
                "still read it");
    else if (barrier)
        LAB_SAY(
            v->next,
            "let every thread pass the barrier of line %d between these two lines: no if around it, no return before "
            "it, and __syncthreads, since __syncwarp orders one warp only",
            barrier->line);
    else if (f->rival == SIMGPU_OTHER_LANE)
        LAB_SAY(v->next, "put a __syncwarp() between these two lines where a warp has a tile to itself, else a "
                         "__syncthreads(), which every thread of the block reaches");
    else
        LAB_SAY(v->next, "put a __syncthreads() between these two lines, where every thread of the block reaches it");
}

static void advise_on_race(lab_verdict *v, const struct simgpu_finding *f, const lab_usage *u) {
    const bool both_write = f->side[0].at.did != SIMGPU_DID_READ && f->side[1].at.did != SIMGPU_DID_READ;
    if (f->rival == SIMGPU_SAME_STORE)
        LAB_SAY(v->next, "give each place one lane: in this store several lanes compute the same index");
    else if (f->space != SIMGPU_DEVICE_MEMORY)
        advise_on_tile(v, f, u);
    else if (both_write)
        LAB_SAY(v->next, "let one thread write each element of the result: %s both compute this place",
                f->rival == SIMGPU_OTHER_BLOCK ? "threads of two blocks" : "two threads");
    else
        LAB_SAY(v->next,
                "read d_in only, and write d_out only: nothing orders a thread that reads behind one that writes");
}

/* The finding to speak of. A tile without a barrier gives two at one line: a race, which names both sides, and a read
 * of memory that was not written yet. */
static const struct simgpu_finding *foremost(const lab_usage *u) {
    const struct simgpu_finding *f = lab_finding(u);
    for (int i = 0; f->kind == SIMGPU_UNINITIALISED && i < u->nevents; i++) {
        const struct simgpu_finding *other = &u->events[i].is.finding;
        if (u->events[i].kind == SIMGPU_FINDING && other->kind == SIMGPU_RACE && other->space != SIMGPU_DEVICE_MEMORY)
            return other;
    }
    return f;
}

static const lab_hazard_words words = {
    .unwritten_memory = "who writes this place, and before this line? cudaMalloc gives memory with garbage in it",
    .unwritten_shared = "compare the elements of the tile that are written with those that this line reads: is a row "
                        "or a column missing, or a __syncthreads()?",
    .exited = "let threads without an element of their own skip the access only, and return after the barrier",
};

void advise_on_finding(lab_verdict *v, const lab_usage *u) {
    const struct simgpu_finding *f = foremost(u);
    lab_advise_on_hazard(v, f, NULL, &words);
    if (f->kind == SIMGPU_RACE) advise_on_race(v, f, u);
}

/* --- launches and time ------------------------------------------------------------------------ */

void advise_on_copy(lab_verdict *v, const lab_usage *u) {
    bool fills = false;
    for (int i = 0; i < u->nevents; i++) fills |= u->events[i].kind == SIMGPU_FILL;
    LAB_SAY(v->next, fills ? "remove the fill: your kernel writes every element"
                           : "remove the copy, and pass what the kernel needs as an argument");
}

/* Blames a call of the host, if it took a fifth of the time or more. */
static bool blame_call(lab_verdict *v, const lab_usage *u, double us) {
    const struct simgpu_event *e = lab_long_call(u, us);
    const char *next = "make this call before or after the transpose, or not at all";
    if (!e) return false;
    lab_blame_place(v, &e->at);
    LAB_SAY(v->why, "%s took %s, and the GPU had nothing to do meanwhile", e->is.call.name,
            lab_us((double)e->duration_ns / 1000));
    switch (e->is.call.what) {
    case SIMGPU_ALLOCATES:
    case SIMGPU_FREES:
    case SIMGPU_PINS:
    case SIMGPU_UNPINS:
        next = "allocate and free nothing in transpose: the tile lies in shared memory, and d_out is there";
        break;
    case SIMGPU_WAITS: next = "return without waiting: who needs the result waits for it"; break;
    case SIMGPU_COPIES:
    case SIMGPU_FILLS: next = "copy nothing in transpose: the kernel takes plain numbers as arguments"; break;
    default: break;
    }
    LAB_SAY(v->next, "%s", next);
    return true;
}

/* Blames a copy or a fill, if it took a tenth of the time or more. */
static bool blame_copy(lab_verdict *v, const lab_usage *u, double us) {
    const struct simgpu_event *longest = NULL;
    for (int i = 0; i < u->nevents; i++) {
        const struct simgpu_event *e = &u->events[i];
        if (!lab_is_copy(e)) continue;
        if (!longest || e->duration_ns > longest->duration_ns) longest = e;
    }
    if (!longest || (double)longest->duration_ns < us * 1000 / 10) return false;
    lab_blame_place(v, &longest->at);
    LAB_SAY(v->why, "this %s took %s beside the kernel", longest->kind == SIMGPU_FILL ? "fill" : "copy",
            lab_us((double)longest->duration_ns / 1000));
    advise_on_copy(v, u);
    return true;
}

void advise_on_time(lab_verdict *v, const lab_usage *u, double us) {
    const bool conflicts = u->total.shared_ld_conflicts + u->total.shared_st_conflicts > 0;
    const struct simgpu_launch *slowest = lab_slowest(u);
    if (!slowest) return;
    const struct simgpu_bound *bound = &slowest->bound;
    lab_blame(v, lab_worst(u, traffic_of));
    if (u->launches > 2 || (u->launches + u->copies > 1 && bound->term == SIMGPU_TERM_LAUNCH)) {
        lab_blame(v, lab_worst(u, lab_commands_of));
        LAB_SAY(v->next, "use fewer launches; most of this time the device waits for the host to start the next one");
    } else if (blame_call(v, u, us) || blame_copy(v, u, us)) {
        return;
    } else if (u->launches > 1) {
        lab_blame(v, lab_worst(u, lab_commands_of));
        LAB_SAY(v->next,
                "let one launch do all: the second one starts when the first has ended, and needs its own time to "
                "start");
    } else if (bound->term == SIMGPU_TERM_LSU && conflicts) {
        lab_blame(v, lab_worst(u, lab_conflicts_of));
        LAB_SAY(v->next, "remove the bank conflicts of this line, where each access now takes several turns");
    } else if (bound->term == SIMGPU_TERM_LSU || bound->term == SIMGPU_TERM_L2_READ) {
        lab_blame(v, lab_worst(u, excess_loads));
        LAB_SAY(v->next, "coalesce this line: let the lanes of a warp touch few sectors, and each of them whole");
    } else if (bound->term == SIMGPU_TERM_L2_WRITE) {
        lab_blame(v, lab_worst(u, excess_stores));
        LAB_SAY(v->next, "fill whole sectors: let 8 neighbouring threads store 8 neighbouring floats");
    } else if (bound->term == SIMGPU_TERM_LATENCY && bound->by_loads && bound->rounds > 1) {
        lab_blame(v, lab_worst(u, loads_of));
        LAB_SAY(v->next, "give the loop constant bounds, so that the compiler unrolls it and its loads start together");
    } else if (bound->term == SIMGPU_TERM_BLOCKS) {
        LAB_SAY(v->next, "launch fewer blocks: larger ones, or with several elements a thread");
    } else if (bound->term == SIMGPU_TERM_ISSUE) {
        LAB_SAY(v->next, "use fewer instructions an element: let several elements of a thread share index arithmetic");
    } else if (bound->term == SIMGPU_TERM_DRAM) {
        LAB_SAY(v->next, "move each byte once, in wider accesses: a float4 is 16 bytes in one instruction");
    }
}

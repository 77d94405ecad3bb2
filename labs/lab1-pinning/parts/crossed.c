/* crossed.c — sets of device memory, as pieces that neither overlap nor touch; see crossed.h. */
#include "crossed.h"
#include "lab.h"

enum { MOST_PIECES = 512 };

typedef struct {
    uint64_t begin, end;
} piece;

typedef struct {
    piece pieces[MOST_PIECES];
    int count;
} piece_set;

static struct {
    piece_set up, down; /* came from the host and not processed yet; gone to the host since it was processed */
    piece_set loads;    /* of the host */
    struct {
        piece out;
        bool open;     /* no later batch was processed into the same memory */
        uint64_t home; /* when it was closed */
    } results[MOST_BATCHES];
} * notes; /* hidden */

void crossed_reset(void) {
    if (!notes) notes = lab_hide(sizeof *notes);
    notes->up.count = notes->down.count = notes->loads.count = 0;
    for (int b = 0; b < MOST_BATCHES; b++) notes->results[b].open = false, notes->results[b].home = 0;
}

static void append(piece_set *s, piece p) {
    if (s->count == MOST_PIECES) lab_die("your code copies in more than %d separate pieces at a time", MOST_PIECES);
    s->pieces[s->count++] = p;
}

/* Joins the new piece with all pieces that it touches. */
static void add(piece_set *s, piece p) {
    for (int i = 0; i < s->count; i++) {
        piece q = s->pieces[i];
        if (q.begin > p.end || p.begin > q.end) continue;
        p.begin = q.begin < p.begin ? q.begin : p.begin;
        p.end = q.end > p.end ? q.end : p.end;
        s->pieces[i--] = s->pieces[--s->count];
    }
    if (p.begin < p.end) append(s, p);
}

static void cut(piece_set *s, piece p) {
    for (int i = 0; i < s->count; i++) {
        piece q = s->pieces[i];
        if (q.begin >= p.end || p.begin >= q.end) continue;
        s->pieces[i--] = s->pieces[--s->count];
        /* The rest lies outside of p, so the loop passes over it. */
        if (q.begin < p.begin) append(s, (piece){q.begin, p.begin});
        if (p.end < q.end) append(s, (piece){p.end, q.end});
    }
}

static uint64_t covered(const piece_set *s, piece p) {
    uint64_t bytes = 0;
    for (int i = 0; i < s->count; i++) {
        piece q = s->pieces[i];
        uint64_t begin = q.begin > p.begin ? q.begin : p.begin, end = q.end < p.end ? q.end : p.end;
        if (begin < end) bytes += end - begin;
    }
    return bytes;
}

void crossed_up(uint64_t to, uint64_t bytes) { add(&notes->up, (piece){to, to + bytes}); }
void crossed_down(uint64_t from, uint64_t bytes) { add(&notes->down, (piece){from, from + bytes}); }

uint64_t crossed_came(uint64_t to, uint64_t bytes) { return covered(&notes->up, (piece){to, to + bytes}); }

uint64_t crossed_process(int batch, uint64_t d_in, uint64_t in_bytes, uint64_t d_out, uint64_t out_bytes) {
    const piece in = {d_in, d_in + in_bytes}, out = {d_out, d_out + out_bytes};
    const uint64_t came = covered(&notes->up, in);
    for (int b = 0; b < MOST_BATCHES; b++)
        if (notes->results[b].open && notes->results[b].out.begin < out.end && out.begin < notes->results[b].out.end) {
            notes->results[b].home = covered(&notes->down, notes->results[b].out);
            notes->results[b].open = false;
        }
    cut(&notes->up, in);
    cut(&notes->down, out);
    notes->results[batch].out = out;
    notes->results[batch].open = true;
    return came;
}

uint64_t crossed_home(int batch) {
    return notes->results[batch].open ? covered(&notes->down, notes->results[batch].out) : notes->results[batch].home;
}

void crossed_load(uint64_t to, uint64_t bytes) { add(&notes->loads, (piece){to, to + bytes}); }

bool crossed_is_load(uint64_t from) { return covered(&notes->loads, (piece){from, from + 1}); }

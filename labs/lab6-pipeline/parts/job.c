/* job.c — answers the player's questions about frames, and checks what it sends; see job.h. */
#include "job.h"
#include "ear.h"
#include "formula.h"

#include <string.h>

static run *current; /* hidden memory: the run whose questions are answered */

/* --- the data ----------------------------------------------------------------------------------- */

/* `number` is a word's number in the job. */
static uint32_t word_of(const run *r, uint64_t number) { return (uint32_t)lab6_mix(r->salt + number); }
static uint32_t right_word(const run *r, uint64_t number) {
    uint64_t v = (number ^ r->salt) << 32 | word_of(r, number);
    for (int i = 0; i < (r->timed ? LAB6_FULL : LAB6_FEW); i++) v = lab6_step(v, r->salt) % LAB6_MODULUS;
    return (uint32_t)(v >> 20);
}

/* The words to look at among those of a call: every one, or the one of each stretch. Returns how many
 * there are from number `begin` up to `end`, and stores the numbers of those from the k-th on, at most `room`. */
static uint32_t name_numbers(const run *r, uint64_t begin, uint64_t end, uint32_t k, uint64_t *numbers, uint32_t room) {
    const uint64_t stretch = lab_lane() == LAB_SIM ? SIM_STRETCH : GPU_STRETCH;
    uint32_t all = 0;
    if (!r->timed) {
        for (uint32_t i = 0; i < room && begin + k + i < end; i++) numbers[i] = begin + k + i;
        return (uint32_t)(end - begin);
    }
    for (uint64_t s = begin / stretch; s * stretch < end; s++) {
        const uint64_t at = s * stretch + lab6_mix(r->salt ^ s) % stretch;
        if (at < begin || at >= end) continue;
        if (all >= k && all - k < room) numbers[all - k] = at;
        all++;
    }
    return all;
}

/* --- answers -------------------------------------------------------------------------------------- */

typedef unsigned long long big; /* for printf */

/* Keeps the first failure. */
#define FAILS(r, kind, ...)                                                                                            \
    do {                                                                                                               \
        if ((r)->trouble) break;                                                                                       \
        (r)->trouble = (kind);                                                                                         \
        (r)->troubled_first = !(r)->watched || !ear->error;                                                            \
        (r)->troubled_late = (r)->received == (r)->message.frames;                                                     \
        LAB_SAY((r)->failure, __VA_ARGS__);                                                                            \
    } while (0)

static const char *call_of(enum lab6_what what) {
    return what == LAB6_PROCESS ? "process_frames" : what >= LAB6_SEND ? "send_frames" : "receive_frames";
}

/* "frames 128 to 191" */
static const char *frames_of(const struct lab6_question *q) {
    static char text[64];
    if (q->frames == 1)
        lab_text(text, sizeof text, "frame %llu", (big)q->first);
    else
        lab_text(text, sizeof text, "frames %llu to %llu", (big)q->first, (big)(q->first + q->frames - 1));
    return text;
}

/* Names the words from number q->from on, as many as fit into one answer. */
static void name_words(const run *r, const struct lab6_question *q, struct lab6_answer *a, uint64_t *numbers) {
    const uint64_t begin = q->first * r->words, end = begin + q->frames * r->words;
    const uint32_t all = name_numbers(r, begin, end, q->from, numbers, LAB6_WORDS);
    const uint32_t left = q->from < all ? all - q->from : 0;
    a->count = left < LAB6_WORDS ? left : LAB6_WORDS;
    a->more = left > LAB6_WORDS;
    for (uint32_t k = 0; k < a->count; k++) a->words[k].at = (uint32_t)(numbers[k] - begin);
}

/* May the host touch the frames' bytes there? Of memory from malloc nobody knows. */
static bool within_reach(run *r, const struct lab6_question *q) {
    const uint64_t bytes = q->frames * r->message.frame_bytes;
    if (!r->watched) return true;
    const uint64_t there = ear_pinned_bytes(q->host);
    if (ear_device_bytes(q->host)) {
        FAILS(r, NOT_ON_HOST, "%s: %s was given device memory, which the host cannot touch", frames_of(q),
              call_of(q->what));
        return false;
    }
    if (there && there < bytes)
        FAILS(r, SHORT_BUFFER, "%s: %s was given %llu bytes of page-locked memory; it needs %llu", frames_of(q),
              call_of(q->what), (big)there, (big)bytes);
    return !there || there >= bytes;
}

/* Are these the frames that come next, behind `before` others? */
static bool in_turn(run *r, const struct lab6_question *q, uint64_t before) {
    if (q->first == before) return true;
    FAILS(r, OUT_OF_ORDER, "%s was called for %s; the next is frame %llu", call_of(q->what), frames_of(q), (big)before);
    return false;
}

static void begin_loop(run *r) {
    r->begin = lab_now();
    r->in_loop = true;
    r->up = r->down = 0; /* copies before belong to no frame */
    ear_in_loop(true);
}

static void answer_receive(run *r, const struct lab6_question *q, struct lab6_answer *a) {
    uint64_t numbers[LAB6_WORDS];
    a->refused = !in_turn(r, q, r->received) || !within_reach(r, q);
    if (a->refused) return;
    if (!q->from && !r->in_loop && q->frames) begin_loop(r);
    if (!q->from && r->watched) ear_touch(q->host, q->frames * r->message.frame_bytes, true, (int)q->first);
    name_words(r, q, a, numbers);
    for (uint32_t k = 0; k < a->count; k++) a->words[k].word = word_of(r, numbers[k]);
}

static void note_received(run *r, const struct lab6_question *q) {
    if (q->first != r->received) return; /* it was refused before */
    r->latest[r->nlatest++ % LATEST] =
        (struct received){q->host, q->host + q->frames * r->message.frame_bytes, q->first, q->frames};
    r->received += q->frames;
    if (r->received - r->sent > r->ahead) r->ahead = r->received - r->sent;
}

/* May the kernel run there? */
static bool well_placed(run *r, const struct lab6_question *q) {
    const uint64_t bytes = q->frames * r->message.frame_bytes, there = ear_device_bytes(q->d_frames);
    if (!there)
        FAILS(r, NOT_ON_DEVICE, "%s: d_frames of process_frames is no memory from cudaMalloc", frames_of(q));
    else if (q->d_frames % 16)
        FAILS(r, ODD_ADDRESS, "%s: d_frames of process_frames is no multiple of 16", frames_of(q));
    else if (there < bytes)
        FAILS(r, TOO_SHORT, "%s: d_frames of process_frames ends after %llu bytes; these frames have %llu",
              frames_of(q), (big)there, (big)bytes);
    return there >= bytes && q->d_frames % 16 == 0;
}

/* Notes frames as processed. Returns whether none of them was before. */
static bool mark_processed(run *r, const struct lab6_question *q) {
    bool fresh = true;
    for (uint64_t f = q->first; f < q->first + q->frames; f++) {
        fresh = fresh && !(r->is_processed[f / 8] >> f % 8 & 1);
        r->is_processed[f / 8] |= (uint8_t)(1 << f % 8);
    }
    r->processed += q->frames;
    return fresh;
}

/* Has a copy been queued in the stream? */
static bool is_of_copies(uint64_t stream) {
    for (int i = 0; i < ear->nstreams; i++)
        if (ear->streams[i] == stream) return true;
    return false;
}

static void answer_process(run *r, const struct lab6_question *q, struct lab6_answer *a) {
    a->kernel =
        (struct lab6_kernel){q->frames * r->words, q->first * r->words, r->salt, r->timed ? LAB6_FULL : LAB6_FEW};
    a->refused = !q->frames || (r->watched && !well_placed(r, q));
    if (a->refused) return;
    if (!r->chunks++) r->up_first = r->up >= run_bytes(r);
    r->in_default += ear_is_default(q->stream);
    r->third_stream = r->third_stream || (r->watched && !is_of_copies(q->stream));
    if (q->first + q->frames > r->received)
        FAILS(r, NOT_RECEIVED, "process_frames was called for %s, of which %llu were not received yet", frames_of(q),
              (big)(q->first + q->frames - (r->received > q->first ? r->received : q->first)));
    if (!mark_processed(r, q)) FAILS(r, AGAIN, "process_frames was called again for %s", frames_of(q));
    const double need = (double)(r->processed * r->message.frame_bytes);
    if (r->watched && r->up < need)
        FAILS(r, NOT_UP, "%s: %.0f of the %.0f bytes of the frames processed so far were copied to the device",
              frames_of(q), r->up, need);
}

static bool all_processed(const run *r, const struct lab6_question *q) {
    for (uint64_t f = q->first; f < q->first + q->frames; f++)
        if (!(r->is_processed[f / 8] >> f % 8 & 1)) return false;
    return true;
}

/* A copy counts from the call that queues it on; ear_touch tells whether it is over. */
static void begin_send(run *r, const struct lab6_question *q) {
    const double need = (double)((q->first + q->frames) * r->message.frame_bytes);
    if (!all_processed(r, q))
        FAILS(r, UNPROCESSED, "send_frames was called for %s before process_frames", frames_of(q));
    else if (r->watched && r->down < need)
        FAILS(r, NOT_HOME, "%s: %.0f of the %.0f bytes of the frames sent so far were copied to the host", frames_of(q),
              r->down, need);
    r->sent_from = q->host;
    if (r->watched) ear_touch(q->host, q->frames * r->message.frame_bytes, false, (int)q->first);
}

static void answer_send(run *r, const struct lab6_question *q, struct lab6_answer *a) {
    uint64_t numbers[LAB6_WORDS];
    a->refused = !in_turn(r, q, r->sent) || !within_reach(r, q);
    if (a->refused) return;
    if (!q->from) begin_send(r, q);
    name_words(r, q, a, numbers);
}

/* Where was this frame received, the last time that is known? 0: that is not known. */
static uint64_t home_of(const run *r, uint64_t frame) {
    const int n = r->nlatest < LATEST ? r->nlatest : LATEST;
    for (int i = 0; i < n; i++) {
        const struct received *l = &r->latest[(r->nlatest - 1 - i) % LATEST];
        if (l->first <= frame && frame < l->first + l->frames)
            return l->from + (frame - l->first) * r->message.frame_bytes;
    }
    return 0;
}

/* "frame 17: word 3 of 260 is that of frame 1". first: of the frames that were sent together. */
static void describe(run *r, uint64_t first, uint64_t number, uint32_t got) {
    const uint64_t frame = number / r->words, at = number % r->words;
    const uint64_t sent = r->sent_from + (frame - first) * r->message.frame_bytes, home = home_of(r, frame);
    for (uint64_t f = 0; f < r->message.frames; f++) {
        const uint64_t other = f * r->words + at;
        if (got == right_word(r, other) && home && home != sent && home_of(r, f) == sent)
            FAILS(r, OTHER_SLOT, "frame %llu: word %llu of %llu is that of frame %llu, from whose memory it was sent",
                  (big)frame, (big)at, (big)r->words, (big)f);
        if (got == right_word(r, other))
            FAILS(r, OTHER_FRAME, "frame %llu: word %llu of %llu is that of frame %llu", (big)frame, (big)at,
                  (big)r->words, (big)f);
        if (got == word_of(r, other))
            FAILS(r, AS_RECEIVED, "frame %llu: word %llu of %llu is that of frame %llu as it was received", (big)frame,
                  (big)at, (big)r->words, (big)f);
    }
    FAILS(r, NO_WORD, "frame %llu: word %llu of %llu holds a value that the kernel gives for no frame", (big)frame,
          (big)at, (big)r->words);
}

/* Compares the words that the player read. The harness computes their places itself. */
static uint32_t judge_words(run *r, const struct lab6_question *q) {
    uint64_t numbers[LAB6_WORDS];
    const uint64_t begin = q->first * r->words;
    const uint32_t all = name_numbers(r, begin, begin + q->frames * r->words, q->from, numbers, LAB6_WORDS);
    for (uint32_t k = 0; k < q->count && k < LAB6_WORDS && q->from + k < all; k++) {
        if (q->word[k] == right_word(r, numbers[k])) continue;
        describe(r, q->first, numbers[k], q->word[k]);
        break;
    }
    return all;
}

/* Returns for how long the device still works, in ns. Even a wait for an idle device takes a little time. */
static double still_busy(void) {
    const double begin = lab_now();
    cudaDeviceSynchronize();
    const double idle = lab_now();
    cudaDeviceSynchronize();
    return idle - begin - (lab_now() - idle);
}

static void judge_sent(run *r, const struct lab6_question *q) {
    if (q->first != r->sent) return;                    /* it was refused before */
    if (q->from + q->count < judge_words(r, q)) return; /* more pieces come */
    r->sent += q->frames;
    if (r->sent < r->message.frames || !r->in_loop) return;
    r->end = lab_now();
    r->in_loop = false;
    ear_in_loop(false);
    if (r->watched && r->timed) r->late = still_busy();
}

static bool known(run *r, const struct lab6_question *q) {
    const uint64_t all = r->message.frames;
    if (q->first <= all && q->frames <= all - q->first) return true;
    if (all)
        FAILS(r, BEYOND, "%s was called for %llu frame%s from frame %llu on; the job has %llu", call_of(q->what),
              (big)q->frames, q->frames == 1 ? "" : "s", (big)q->first, (big)all);
    else
        FAILS(r, BEYOND, "%s was called for %llu frame%s in a job of none", call_of(q->what), (big)q->frames,
              q->frames == 1 ? "" : "s");
    return false;
}

static void answer(const void *question, size_t size, void *to, size_t answer_size) {
    const struct lab6_question *q = question;
    struct lab6_answer *a = to;
    run *r = current;
    if (size != sizeof *q || answer_size != sizeof *a || q->what > LAB6_SENT)
        lab_die("the player asks something that the harness does not know");
    if (!r->trouble) r->asked = q->what;
    a->refused = !known(r, q);
    if (a->refused) return;
    if (q->what == LAB6_RECEIVE) answer_receive(r, q, a);
    if (q->what == LAB6_RECEIVED) note_received(r, q);
    if (q->what == LAB6_PROCESS) answer_process(r, q, a);
    if (q->what == LAB6_SEND) answer_send(r, q, a);
    if (q->what == LAB6_SENT) judge_sent(r, q);
}

/* --- one run -------------------------------------------------------------------------------------- */

run *run_new(lab_program *program, uint64_t frames, uint64_t frame_bytes, bool timed) {
    if (!current) current = lab_hide(sizeof *current);
    if (frames > MOST_FRAMES) lab_die("a job of %llu frames; %d is the most", (big)frames, MOST_FRAMES);
    const uint64_t quarter = frames * frame_bytes / 4;
    const uint64_t small = 4 * frame_bytes > SMALL_ROOM ? 4 * frame_bytes : SMALL_ROOM;
    const uint64_t room = quarter > small ? quarter : small;
    memset(current, 0, sizeof *current);
    current->program = program;
    current->words = frame_bytes / 4;
    current->timed = timed;
    current->message =
        (struct lab6_message){.frames = frames, .frame_bytes = frame_bytes, .pinned_most = room, .device_most = room};
    return current;
}

static void find_missing(run *r) {
    const uint64_t all = r->message.frames;
    if (r->received < all) FAILS(r, NEVER_RECEIVED, "%llu of %llu frames were received", (big)r->received, (big)all);
    if (r->sent < all) FAILS(r, NEVER_SENT, "%llu of %llu frames were sent", (big)r->sent, (big)all);
}

/* ear.h hears the program's copies. */
static void note_copy(const lab_call *c, bool to_host) {
    run *r = current;
    bool received = false;
    for (int i = 0; i < r->nlatest && i < LATEST; i++)
        received = received || (r->latest[i].from <= c->from && c->from < r->latest[i].to);
    if (to_host)
        r->down += (double)c->bytes;
    else
        r->up += (double)c->bytes;
    if (!to_host && !received) r->carried += (double)c->bytes;
}

static void start(run *r, bool watched, bool checking) {
    r->salt = lab_fresh_seed();
    r->watched = watched;
    r->in_loop = false;
    r->received = r->sent = r->processed = r->ahead = 0;
    r->chunks = r->in_default = 0;
    r->up_first = r->third_stream = false;
    r->carried = 0;
    r->nlatest = 0;
    r->up = r->down = r->late = 0;
    r->trouble = NO_TROUBLE;
    r->failure[0] = 0;
    memset(r->is_processed, 0, sizeof r->is_processed);
    lab_answer_with(answer);
    lab_use(r->program);
    LAB_CUDA(cudaDeviceSynchronize());
    if (watched) ear_begin(checking, note_copy);
    r->begin = r->end = lab_now();
}

cudaError_t run_once(run *r, bool watched, bool checking) {
    start(r, watched, checking);
    lab_play(r->program, &r->message, sizeof r->message, NULL, 0);
    cudaError_t launched = cudaGetLastError(), ran = cudaDeviceSynchronize();
    if (watched) ear_end();
    find_missing(r);
    return launched ? launched : ran;
}

double run_bytes(const run *r) { return (double)r->message.frames * (double)r->message.frame_bytes; }

double run_us(const run *r) { return (r->end - r->begin) / 1e3; }

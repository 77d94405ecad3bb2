/* player.c — calls run_pipeline of a program of lab 6, and plays the network card for it. It writes and reads the words
 * that the harness names, and holds no right result. (process_frames is in offered.cu.)
 */
#include "messages.h"
#include "lab6.h"
#include "offered.h"
#include "player.h"

const char *const lab_entries[] = {"run_pipeline", NULL};

typedef void run_pipeline_fn(const struct job *);

/* The questions to the judge, and its answer to the last one. */
static struct {
    struct lab6_question question;
    struct lab6_answer answer;
} stage;

static bool ask(const struct lab6_question *q) {
    stage.question = *q;
    lab_ask(&stage.question, sizeof stage.question, &stage.answer, sizeof stage.answer);
    return !stage.answer.refused;
}

LAB_OFFERED void receive_frames(const struct job *job, size_t first, size_t count, void *to) {
    struct lab6_question q = {.what = LAB6_RECEIVE, .first = first, .frames = count, .host = (uint64_t)to};
    uint32_t *words = to;
    (void)job;
    do {
        if (!ask(&q)) return;
        for (uint32_t k = 0; k < stage.answer.count; k++) words[stage.answer.words[k].at] = stage.answer.words[k].word;
        q.from += stage.answer.count;
    } while (stage.answer.more);
    q.what = LAB6_RECEIVED;
    ask(&q);
}

/* Volatile, since a copy may be writing the words meanwhile: each is read once, now. */
LAB_OFFERED void send_frames(const struct job *job, size_t first, size_t count, const void *from) {
    struct lab6_question q = {.what = LAB6_SEND, .first = first, .frames = count, .host = (uint64_t)from};
    const volatile uint32_t *words = from;
    bool more;
    (void)job;
    do {
        q.what = LAB6_SEND;
        if (!ask(&q)) return;
        more = stage.answer.more;
        q.count = stage.answer.count;
        for (uint32_t k = 0; k < q.count; k++) q.word[k] = words[stage.answer.words[k].at];
        q.what = LAB6_SENT;
        if (!ask(&q)) return;
        q.from += q.count;
    } while (more);
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab6_message *m = message;
    (void)reply;
    if (m->alone) return lab6_launch(&m->kernel, (void *)m->alone, 0);
    struct job *job = lab_page(); /* a write into it changes nothing that counts */
    *job = (struct job){m->frames, m->frame_bytes, m->pinned_most, m->device_most};
    ((run_pipeline_fn *)entry[0])(job);
}

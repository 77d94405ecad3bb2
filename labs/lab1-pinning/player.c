/* player.c — calls run_batches of a program of lab 1, and offers it the loader and the place where results go. It
 * writes and reads the words that the harness names, and holds no right result. (process_batch is in offered.cu.)
 */
#include "messages.h"
#include "lab1.h"
#include "player.h"

const char *const lab_entries[] = {"run_batches", NULL};

typedef void run_batches_fn(const struct job *);

/* The questions to the judge, and its answer to the last one. */
static struct {
    struct lab1_question question;
    struct lab1_answer answer;
} stage;

static bool ask(const struct lab1_question *q) {
    stage.question = *q;
    lab_ask(&stage.question, sizeof stage.question, &stage.answer, sizeof stage.answer);
    return !stage.answer.refused;
}

LAB_OFFERED void load_batch(const struct job *job, int batch, void *to) {
    struct lab1_question q = {.what = LAB1_LOAD, .batch = batch, .host = (uint64_t)to};
    uint32_t *words = to;
    (void)job;
    do {
        if (!ask(&q)) return;
        for (uint32_t k = 0; k < stage.answer.count; k++) words[stage.answer.words[k].at] = stage.answer.words[k].word;
        q.first += stage.answer.count;
    } while (stage.answer.more);
    q.what = LAB1_LOADED;
    ask(&q);
}

/* Volatile, since a copy may be writing the words meanwhile: each is read once, now. */
LAB_OFFERED void take_result(const struct job *job, int batch, const void *from) {
    struct lab1_question q = {.what = LAB1_TAKE, .batch = batch, .host = (uint64_t)from};
    const volatile uint32_t *words = from;
    bool more;
    (void)job;
    do {
        q.what = LAB1_TAKE;
        if (!ask(&q)) return;
        more = stage.answer.more;
        q.count = stage.answer.count;
        for (uint32_t k = 0; k < q.count; k++) q.word[k] = words[stage.answer.words[k].at];
        q.what = LAB1_TAKEN;
        if (!ask(&q)) return;
        q.first += q.count;
    } while (more);
}

void lab_perform(lab_entry *const *entry, const void *message, void *reply) {
    const struct lab1_message *m = message;
    (void)reply;
    struct job *job = lab_page(); /* a write into it changes nothing that counts */
    *job = (struct job){m->batches, m->in_bytes, m->out_bytes, m->page_locked_most};
    ((run_batches_fn *)entry[0])(job);
}

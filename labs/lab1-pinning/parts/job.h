/* job.h — a stream of batches: its loader, its right results, and one run of it.
 *
 * A word of a result is made of one word of its batch, by arithmetic that depends on the run and on the batch. A wrong
 * word therefore shows its origin: a result of another batch (read too early, or a buffer mixed up), or no batch.
 * No memory ever holds an expected result: each word of it is computed when it is compared.
 *
 * In checked runs every word is loaded and compared. In timed runs the loader writes one word in each 16 KiB, at a
 * place that depends on the run, and only the words made of these are compared, as if a network card had filled the
 * rest of the buffer by itself. So the clock times the link, not our random numbers. These words, and the bytes that
 * cross the link (crossed.h), still reveal a copy that leaves something out.
 */
#ifndef LAB1_JOB_H
#define LAB1_JOB_H

#include "lab.h"
#include "crossed.h"
#include "messages.h"

enum { STAMP_WORDS = 4096 };

/* What is wrong in a run: the kind, by which the harness chooses the place and the next step. The kinds up to NOT_HOME
 * are mistakes in calls, their order and their arguments. Wrong words come last: where a buffer is used too early, luck
 * decides whether there are any. */
enum trouble {
    NO_TROUBLE,
    UNKNOWN_BATCH, /* a number that no batch has */
    NOT_LOADED_ONCE,
    NOT_PROCESSED_ONCE,
    NEVER_TAKEN,
    TAKEN_AGAIN,
    NOT_ON_DEVICE,              /* d_in or d_out is no device memory */
    TOO_SHORT,                  /* d_in or d_out is shorter than the batch or the result */
    NOT_ON_HOST,                /* the host would touch device memory */
    SHORT_BUFFER,               /* a page-locked buffer is shorter than the batch or the result */
    ONE_PLACE,                  /* d_in and d_out overlap */
    OUT_OF_ORDER,               /* processed before it was loaded, or taken before it was processed */
    NOT_UP,                     /* bytes of the batch did not come to d_in */
    UP_TO_OUT,                  /* they went to d_out */
    NOT_HOME,                   /* bytes of the result did not go to the host */
    WRONG_WORDS,                /* from here on */
    OTHER_RESULT = WRONG_WORDS, /* a word is of another batch's result */
    UNPROCESSED,                /* a word is of a batch as it was loaded */
    NO_RESULT                   /* a word that no batch gives */
};

typedef struct {
    lab_program *program;
    struct lab1_message message;
    uint32_t in, out; /* words of a batch, and of its result */
    uint32_t salt;    /* of this run */
    bool timed;       /* stamps in place of every word */
    bool watched;     /* its calls are noted: the program under test */
    int loaded[MOST_BATCHES], processed[MOST_BATCHES], taken[MOST_BATCHES];
    int left;                  /* batches not yet taken */
    int under_way, ahead;      /* batches loaded and not yet taken, and the most of them at a time */
    bool kernels_in_0;         /* process_batch was given stream 0 */
    bool in_loop;              /* between the first load and the last take */
    double called, begin, end; /* ns: run_batches called; first load; last take */
    double begun;              /* ns: the load or take that is going on */
    double late;               /* ns that the device still worked after the last take, in timed runs */
    enum trouble trouble;      /* the first failure; a wrong word gives way to any other */
    double carried;            /* bytes to the device that lay elsewhere than where a batch was loaded */
    enum lab1_what asked;      /* the call that failed */
    bool troubled_first;       /* before any call of CUDA failed */
    lab_thing_made too_short;  /* TOO_SHORT, SHORT_BUFFER: the memory, with the line that allocated it */
    char failure[256];         /* in words; "": none */
} run;

/* Returns the one run there is, made anew: a job for a program, of so many batches, each of so many words. It lies in
 * memory that no program can reach, and is valid until the next call. */
run *run_new(lab_program *program, int batches, uint32_t in_words, uint32_t out_words, bool timed);

/* Plays it once with new data. `watched` notes its calls; `checking` also watches its buffers. Returns CUDA's error;
 * after one, nothing more can be run. */
cudaError_t run_once(run *r, bool watched, bool checking);

double run_bytes(const run *r); /* of all batches and results */
double run_rate(const run *r);  /* GB/s, from the first load to the last take; 0 for no time */

#endif

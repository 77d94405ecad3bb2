/* job.h — a job of frames: what the network card brings, what must come of it, and one run of a program.
 *
 * A word of a processed frame is computed from the word, its number in the job and the run's salt (formula.h). A wrong
 * word therefore shows its origin: another frame, a frame as it was received, or nothing that the kernel gives. No
 * memory ever holds an expected word: each is computed when it is compared.
 *
 * In checked runs every word is received and compared. In timed runs the card writes one word in each 64 KiB, at a
 * place that depends on the run, and only these are compared. So the clock times the three engines, not our arithmetic.
 * That nothing is left out is known from the bytes that cross the link as well.
 */
#ifndef LAB6_JOB_H
#define LAB6_JOB_H

#include "lab.h"
#include "messages.h"

enum { SIM_STRETCH = 1 << 14, GPU_STRETCH = 1 << 16, MOST_FRAMES = 1 << 16, SMALL_ROOM = 1 << 16, LATEST = 32 };

/* What is wrong in a run: the kind, by which the harness chooses the place and the next step. */
enum trouble {
    NO_TROUBLE,
    OUT_OF_ORDER,   /* frames received or sent that are not the next ones */
    BEYOND,         /* frames that the job does not have */
    NOT_RECEIVED,   /* processed before they were received */
    AGAIN,          /* processed again */
    UNPROCESSED,    /* sent before they were processed */
    NEVER_RECEIVED, /* frames are missing at the end */
    NEVER_SENT,
    NOT_ON_DEVICE, /* d_frames is no device memory */
    ODD_ADDRESS,   /* it is no multiple of 16 */
    TOO_SHORT,     /* it ends before the frames do */
    NOT_ON_HOST,   /* the network card would touch device memory */
    SHORT_BUFFER,  /* page-locked memory ends before the frames do */
    NOT_UP,        /* fewer bytes went to the device than were to be processed */
    NOT_HOME,      /* fewer bytes went to the host than were to be sent */
    OTHER_FRAME,   /* a word belongs to another frame */
    OTHER_SLOT,    /* the same, and that frame was received where this one was sent from */
    AS_RECEIVED,   /* a word is as it was received */
    NO_WORD        /* a word that the kernel does not give */
};

typedef struct {
    lab_program *program;
    struct lab6_message message;
    uint64_t words;          /* of a frame */
    uint64_t salt;           /* of this run */
    bool timed;              /* stamps in place of every word, and all rounds of the kernel */
    bool watched;            /* its calls are noted: the program under test */
    uint64_t received, sent; /* frames: those below are */
    uint64_t processed;      /* frames */
    uint8_t is_processed[MOST_FRAMES / 8];
    double up, down; /* bytes that copies took to the device, and to the host */
    double carried;  /* bytes that went up from elsewhere than where frames were received */
    struct received {
        uint64_t from, to, first, frames;
    } latest[LATEST]; /* host memory that frames were received in, the last so many times, and which frames */
    int nlatest;
    uint64_t sent_from;     /* the address of the last send_frames */
    int chunks, in_default; /* calls of process_frames; of them, those in stream 0 */
    bool up_first;          /* every frame's copy up was queued before the first process_frames */
    bool third_stream;      /* a kernel was in a stream that has no copies */
    uint64_t ahead;         /* the most frames between receive_frames and send_frames at a time */
    bool in_loop;           /* between the first receive_frames and the last send_frames */
    double begin, end;      /* ns: of these */
    double late;            /* ns that the device still worked after the last send_frames, in timed runs */
    enum trouble trouble;   /* the first failure */
    enum lab6_what asked;   /* the call that failed */
    bool troubled_first;    /* before any call of CUDA failed */
    bool troubled_late;     /* when all frames had been received: what sends then stands behind the loop */
    char failure[256];      /* in words; "": none */
} run;

/* Returns the one run there is, made anew: a job for a program. It lies in memory that no program can reach, and is
 * valid until the next call. */
run *run_new(lab_program *program, uint64_t frames, uint64_t frame_bytes, bool timed);

/* Plays it once with new data. `watched` notes its calls; `checking` also watches its buffers. Returns CUDA's error;
 * after one, nothing more can be run. */
cudaError_t run_once(run *r, bool watched, bool checking);

double run_bytes(const run *r); /* of all frames */
double run_us(const run *r);    /* from the first receive_frames to the end of the last send_frames; 0 for no time */

#endif

/* session.h — a program's work on plates of one shape: setup, some solves, cleanup; and whether what it did is right.
 *
 * Each solve has a plate of its own, at an address of its own, and fresh cells. What is right is computed after the
 * program has run (plate.c), so no memory ever holds a right answer that student code could copy.
 */
#ifndef LAB8_SESSION_H
#define LAB8_SESSION_H

#include "heard.h"
#include "lab.h"
#include "messages.h"

enum { LARGE_ROWS = 600, LARGE_COLS = 700 }; /* more cells than the GPU has places for threads */

enum mistake {
    NO_MISTAKE,
    TAKEN_NONSENSE,   /* solve returned a number that is none of a check, or of more steps than `most` */
    AS_IT_WAS,        /* the plate is the one before the call */
    OTHER_PLATE,      /* the plate a step before or after the last */
    OTHER_COUNT,      /* the plate after the steps up to an earlier check, and later checks have no residuals */
    OTHER_STEP,       /* the plate after another number of steps */
    EDGE_CHANGED,     /* all wrong cells are at the edge */
    FRESH,            /* memory that nobody has written; sim lane */
    SOME_CELLS,       /* some cells are wrong */
    ALL_CELLS,        /* nearly all are */
    OUT_OF_BOUNDS,    /* memory beside the plate was written; gpu lane */
    NOT_REPORTED,     /* a residual was not written */
    BEHIND_RESIDUALS, /* more residuals than there are checks */
    OF_ANOTHER_STEP,  /* a residual is that of a neighbouring step */
    NEVER_RESET,      /* a residual is the largest so far */
    EACH_STEP_COUNTS, /* a residual is the largest since the last check */
    SMALLER,          /* a residual is smaller than the largest change */
    OTHER_NUMBER,     /* a residual is none of those */
    TOO_EARLY,        /* solve stopped before the residual was small enough */
    TOO_LATE,         /* solve stopped more than LAB8_LATE checks after that */
    PLATE_FREED,      /* the program has freed the plate */
    A_CALL_FAILED     /* CUDA reported an error */
};

typedef struct {
    lab_program *program;
    const char *counted; /* the name of its counters; NULL: neither counted nor checked, only timed */
    bool judged;         /* timed and checked, though nothing is counted */
    int rows, cols, every, most;
    float tolerance;    /* of the next solve */
    int solves;         /* so far */
    int checked, wrong; /* of them; the first that was wrong, from 1 on */

    bool cold;     /* its plates are cold but for one cell (plate_cold) */
    uint64_t seed; /* of the last solve's plate */
    struct lab8_message message;
    struct lab8_reply reply;
    float *d_plate[2], *host;
    double begin, end; /* of the last solve, on this lane's clock */
    heard heard;
    cudaError_t error;
    enum mistake mistake; /* the first, and in words */
    char failure[512];
    lab_work work; /* the second solve of a session, for the timing helper; prepare and verify do the rest */
} session;

/* Returns a session that has not begun. Lives until the program ends. */
session *session_new(lab_program *program, const char *counted, int rows, int cols, int every, int most);

/* setup; one solve and its checks; cleanup. Each returns false once CUDA itself has failed or a plate was freed:
 * nothing more can be run then. After a mistake of another kind later solves change nothing in `mistake`. */
bool session_setup(session *s);
bool session_solve(session *s, float tolerance);
bool session_cleanup(session *s);

/* Computes the tolerance that a solve on the next plate meets first at the given check (from 1 on), neither sooner nor
 * later. */
float session_tolerance(session *s, int check);

#endif

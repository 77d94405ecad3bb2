/* bluebar.h — the program that handles data: lists, hints, records, grades, documents.
 *
 * Shell sets up, compiles and runs; everything that is read, counted, compared or written as a table happens here. One
 * file a subject; each is a command or two of the program (main.c has the list):
 *
 *     text.c      strings that grow, files, TSV, and text of strangers made harmless
 *     house.c     where the labs are, and what their files are called
 *     record.c    records and tables of rows, read and held against each other
 *     list.c      the labs and how far each is (`make`)
 *     hint.c      the next hint (`make hint3`)
 *     changed.c   what a run changed since the one before
 *     predict.c   what a reader expects of the next run, and how near it came (`make predict3`)
 *     verdict.c   the tests of a grade, a row's verdict, points (`make check`)
 *     watch.c     a command that runs again whenever a file is saved (`make watch3`)
 *     compiler.c  a compiler's messages, each shown once
 *     run.c       one program run apart: bounded, cleaned up after (`make lab3`, `make check`)
 *     hide.c      folders that a process cannot see
 *     grade.c     many submissions, several at once (`make grade`); results.c: their results, and scores.csv
 *     docs.c      the output of runs, written into the texts (`make docs`); tables.c: Markdown tables of TSV
 *     counters.c  Nsight Compute's CSV as a table (`make bench` on a GPU)
 *
 * It runs in the project's top folder. Errors are one line on stderr and exit status 1 (bb_die).
 */
#ifndef BLUEBAR_H
#define BLUEBAR_H

#include "record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* --- text.c ------------------------------------------------------------------------------------------------------ */

/* Bytes that grow; `at` ends with a zero byte once anything was added. Begin with {0}; free(at). */
typedef struct {
    char *at;
    size_t size, room;
} bb_text;

void bb_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void *bb_must(void *memory); /* Returns it; exits with a message when it is NULL (out of memory). */
void bb_add(bb_text *t, const char *bytes, size_t count);
void bb_addf(bb_text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *bb_format(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* To be freed. */
bool bb_same(const char *a, const char *b);
bool bb_begins(const char *text, const char *prefix);
const char *bb_base(const char *path);                       /* What stands behind its last slash. */
const char *bb_env(const char *name, const char *otherwise); /* `otherwise` where it is unset or empty. */

/* Returns the whole file with a zero byte behind it, to be freed; NULL (and errno) when it cannot be read or is larger
 * than `most` bytes (errno EFBIG). Never waits for a pipe: refuses all but plain files (EINVAL). */
char *bb_read(const char *path, size_t most, size_t *size);
void bb_write(const char *path, const char *bytes, size_t size); /* Whole or not at all: a new file, then renamed. */
void bb_make_folders(const char *path);                          /* Those above the last slash of `path`. */

char *bb_line(char **rest); /* The next line of a text, cut in place, without its newline; NULL at the end. */
/* Cuts a line at its tabs. Returns how many fields it has, which may be more than the `most` that were stored. */
int bb_split(char *line, char **field, int most);
void bb_unescape(char *field);                     /* \t \n \r \\ of a record, in place. */
void bb_add_escaped(bb_text *t, const char *text); /* The reverse. */
bool bb_number(const char *text, double *value);   /* The whole text is one finite number. */
bool bb_whole(const char *text, uint64_t *value);  /* Digits only, below 2^64. */

/* Adds text with everything made visible that would act on a terminal: control characters, escape sequences, bytes that
 * are no UTF-8 and marks that turn the writing direction become \n, \x1b, \xff, \u202e. */
void bb_add_visible(bb_text *t, const char *text, size_t count);
uint64_t bb_sum(const char *bytes, size_t size); /* A checksum (64-bit FNV-1a). */

/* --- house.c ----------------------------------------------------------------------------------------------------- */

typedef struct {
    char *number; /* "3" */
    char *folder; /* "labs/lab3-transpose" */
    char *name;   /* "lab3-transpose" */
    char *file;   /* "transpose.cu": the one to edit; NULL when solutions/ has none */
    char *title;  /* the handout's first heading, else "transpose" */
} bb_lab;

int bb_labs(bb_lab **labs);              /* All labs, by number. Returns how many. */
bb_lab bb_lab_named(const char *number); /* Exits with the list of labs if there is none. */

/* --- record.c ---------------------------------------------------------------------------------------------------- */

/* A lab's rows, as its program prints them (--rows). */
typedef struct {
    char *bytes;
    struct bb_table_row {
        const char *cell[LAB_HEADS];
        double points;
    } * row;
    int nrows;
} bb_table;

typedef enum { BB_PASS, BB_PART, BB_FAIL, BB_NA } bb_status;

typedef struct {
    char *bytes;
    const char *lab, *lane, *device, *seed;
    struct bb_row {
        const char *cell[LAB_CELLS]; /* unescaped */
        bb_status status;
        double points, max;
    } * row;
    int nrows;
    struct bb_figure {
        const char *name, *unit; /* unit: "" for a plain number */
        double value;
    } * figure; /* measured numbers, by name */
    int nfigures;
    double points, max; /* the score line; rows that are n/a are in neither */
} bb_record;

/* Reads a file. Returns NULL, or why it is not one: a text that is good until the next call. */
const char *bb_table_read(bb_table *t, const char *path);
/* The same. With a table, the record must have exactly the table's rows and their points; with a seed, that one. */
const char *bb_record_read(bb_record *r, const char *path, const bb_table *table, const char *seed);
void bb_table_free(bb_table *t);
void bb_record_free(bb_record *r);
const struct bb_row *bb_record_row(const bb_record *r, const char *id); /* NULL when there is none. */
int bb_cell(const char *name);                                          /* Its place in bb_row.cell; -1: no column. */

/* --- run.c ------------------------------------------------------------------------------------------------------- */

/* Makes this process the parent of every orphan below it, so that bb_end_all finds them. */
void bb_adopt(void);
/* Kills every process below this one and waits for each. Returns how many were still running. */
int bb_end_all(void);
/* Closes every descriptor from 3 on. */
void bb_close_rest(void);

/* --- hide.c ------------------------------------------------------------------------------------------------------ */

/* Takes these folders, divided by colons, out of this process's sight, for good; those that are not there need it not.
 * Says so on stderr where the machine gives a user no view of the files of its own. Exits where one cannot be hidden.
 */
void bb_hide(const char *folders);

/* --- results.c --------------------------------------------------------------------------------------------------- */

/* The grade of one file of one submission, as kept in OUT/results and shown in scores.csv. */
typedef struct {
    char *sum;                  /* of the file's bytes, "" where there is none */
    char *name, *lab;           /* lab: "3", "" where no file tells */
    char *points, *of;          /* as in the record; points "0" */
    char *seed, *commit, *note; /* note: "" or why it is not graded as usual */
    struct bb_points {
        char *id, *points; /* points: "" for n/a */
    } * row;
    int nrows;
} bb_result;

void bb_result_row(bb_result *r, const char *id, const char *points);
bool bb_result_read(bb_result *r, const char *path); /* False when there is none or it is damaged. */
void bb_result_write(const bb_result *r, const char *path);
void bb_result_free(bb_result *r);
/* scores.csv: a line a result, a column for each row of any lab; RFC 4180, and no cell that a spreadsheet computes. */
void bb_csv(bb_text *to, const bb_result *results, int count);

/* --- tables.c ---------------------------------------------------------------------------------------------------- */

/* Markdown of TSV texts; see docs.c for what each is. `text` is cut in place. */
void bb_rows_table(bb_text *to, const bb_table *table);
void bb_any_table(bb_text *to, char *text, bool yours);
/* Returns false when neither text has such rows. */
bool bb_ladder_table(bb_text *to, char *measured, char *simulated, const char *key);

/* --- docs.c ------------------------------------------------------------------------------------------------------ */

/* Returns whether two texts are the same but for numbers within `share` of each other. share 0: equal bytes. */
bool bb_alike(const char *a, const char *b, double share);

/* --- the commands: argv[0] is the command's name; each returns the exit status -------------------------------- */

#define BB_COMMANDS(X)                                                                                                 \
    X(list, "", "the labs, how far each is, and the commands of make")                                                 \
    X(hint, "N RECORD SEEN", "the next hint for the first row that is not full, or for ROW")                           \
    X(changed, "RECORD BEFORE", "what the run changed since the one before")                                           \
    X(predict, "N STORE", "asks the lab's questions, keeps the answers; ASK=\"id id\" some, CLEAR=1 forgets all")      \
    X(predicted, "N RECORD STORE", "answers that wait for a run, beside what it measured")                             \
    X(field, "RECORD ROW COLUMN", "one cell of a record")                                                              \
    X(score, "RECORD", "\"45 100\" of a record that came to its end; else exit 1")                                     \
    X(tests, "N STEM", "the Bats file of a grade, from STEM.rows")                                                     \
    X(row, "N STEM ID", "a row's verdict from STEM's files: exit 0 full, 77 n/a, 1 not")                               \
    X(tap, "N STEM", "all rows of a grade as TAP; exit 0 if each is full or not measured here")                        \
    X(result, "N STEM", "points and rows of a grade, into STEM.result")                                                \
    X(total, "FILE...", "the sum of results: \"Score: 145/200\"")                                                      \
    X(run, "[OPTIONS] -- COMMAND...", "runs a program apart; see run.c")                                               \
    X(watch, "FILE RECORD -- COMMAND...", "runs the command whenever FILE is saved, with the history of RECORD")       \
    X(quote, "[PREFIX]", "stdin with control characters made visible and PREFIX before each line")                     \
    X(compiler, "[PREFIX]", "a compiler's messages from stdin, each once; see compiler.c")                             \
    X(sum, "FILE", "a checksum of its bytes")                                                                          \
    X(grade, "", "grades a folder of submissions; see grade.c")                                                        \
    X(docs, "[--check]", "the texts' blocks and figures, made anew; see docs.c")                                       \
    X(alike, "FILE FILE", "the same words, and numbers within 2 %: exit 0")                                            \
    X(metrics, "", "the counters that make bench records, for ncu --metrics")                                          \
    X(counters, "", "ncu's CSV from stdin as TSV")

#define BB_DECLARE(name, args, what) int bb_cmd_##name(int argc, char **argv);
BB_COMMANDS(BB_DECLARE)

#endif

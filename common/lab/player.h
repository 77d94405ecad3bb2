/* player.h — the half of a lab that runs programs.
 *
 * A lab program has two halves. The judge (harness.c) knows the seeds, the data, the oracle and the rows, and runs no
 * code of a student. The player (player.c) opens a program, one shared object, and calls its entry points:
 *
 *     judge                                   player
 *     lab_open(LAB_MINE)            --->      dlopen, dlsym of lab_entries
 *     lab_play(program, &message)   --->      lab_perform(entry, message, reply): transpose(in, out, rows, cols)
 *
 * Between them go plain messages: structs of numbers, copied there and back. A message holds no pointer to memory of
 * the host; device addresses are numbers. So the player can move into a process of its own, and nothing that a
 * student's code does can reach what judges it.
 *
 * Each program plays on a device of its own: its memory, its streams, its clock and its counters are those of a fresh
 * card (sim lane), and no number of one program depends on what another did.
 */
#ifndef LAB_PLAYER_H
#define LAB_PLAYER_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LAB_MESSAGE = 4096 }; /* bytes of the largest message and of the largest reply */

/* --- what a lab's player.c defines ------------------------------------------------------------- */

/* Calls one entry point of a program, as the message says. `entry` holds the addresses of lab_entries, in their order;
 * `reply` is zeroed and LAB_MESSAGE bytes large. */
typedef void lab_entry(void);
void lab_perform(lab_entry *const *entry, const void *message, void *reply);

/* The names that a program of the lab must define as extern "C", up to a NULL. The build makes them the only names
 * that the program's shared object shows. */
extern const char *const lab_entries[];

/* Names that rungs of the ladder define besides, up to a NULL: for kernels of the harness that do no entry point's
 * work. Their addresses follow those of lab_entries. A lab without such names defines no list. */
extern const char *const lab_rung_entries[] __attribute__((weak));

/* What the student's code asks for through a function of the player, goes to the judge as a message, and the judge's
 * answer comes back: lab_ask copies the question there and `size` bytes of answer here. The judge hears it by the
 * function that it gave to lab_answer_with. */
void lab_ask(const void *question, size_t question_size, void *answer, size_t answer_size);

/* Returns a page between two that are closed, the same each time: for what a program is handed. A write beside it ends
 * the program. */
void *lab_page(void);

/* Marks a function of the player that the lab's header offers to the student. */
#define LAB_OFFERED __attribute__((visibility("default")))

/* --- what the judge calls ----------------------------------------------------------------------- */

typedef struct lab_program lab_program;

/* LAB_MINE: the program under test. LAB_STARTER, LAB_REFERENCE: as shipped. LAB_LADDER: the lab's own kernels, of which
 * one file holds several programs. */
typedef enum { LAB_MINE, LAB_STARTER, LAB_REFERENCE, LAB_LADDER } lab_who;

/* Opens a program on a fresh device and makes that device current. `rung` NULL; or of a LAB_LADDER the rung's name:
 * its entry points, some of lab_entries and lab_rung_entries, are called RUNG_ENTRY there, as `tile_transpose`. An
 * entry point that is missing in another program, or an undefined name, ends the run with a message. */
lab_program *lab_open(lab_who who, const char *rung);
bool lab_has_rung(const char *rung); /* does the ladder have it? (A vendor's library may not be there.) */

/* From here on the judge's own CUDA calls, and lab_now, are about this program's device. */
void lab_use(lab_program *program);

/* Plays one message to a program and waits for nothing. The reply may be NULL. */
void lab_play(lab_program *program, const void *message, size_t size, void *reply, size_t reply_size);

/* A function that answers lab_ask. It may fill in the answer (zeroed before), and may use everything that the judge
 * may; the program's device is current. */
typedef void (*lab_answerer)(const void *question, size_t question_size, void *answer, size_t answer_size);
void lab_answer_with(lab_answerer answerer);

bool lab_playing(void); /* Returns whether code of a program is running now; for calls.c */

#ifdef __cplusplus
}
#endif
#endif

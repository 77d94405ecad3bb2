/* base/ — what every room needs and no room owns: the end of a program that SimGPU cannot serve, checked allocation,
 * an arena, a hash, names. It includes nothing of SimGPU.
 */
#ifndef SIMGPU_BASE_H
#define SIMGPU_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints one message, after "simgpu: ", and ends the process (exit 2). The program's exit handlers do not run, since
 * they would explain an exit that the program did not call. */
__attribute__((noreturn, format(printf, 1, 2))) void base_refuse(const char *format, ...);

/* Returns `memory`, just allocated; ends the program if it is NULL. `otherwise`: the message, cause and remedy. */
void *base_must(void *memory, const char *otherwise);

/* Appends to the text in a buffer of `size` bytes; cuts off what does not fit. */
void base_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- names -------------------------------------------------------------------------------------------------- */

/* Returns the last part of a path, "?" for NULL and for an empty one. */
const char *base_file_name(const char *path);

/* Returns the name in the source of a mangled name, without its arguments: _Z9transposePfPKfi -> transpose. */
typedef struct {
    char text[256];
} base_name;
base_name base_kernel_name(const char *mangled);

/* Reads line `number` of a file, without its end. Returns false if there is no such line. */
bool base_read_line(const char *path, uint32_t number, char *text, size_t size);

/* --- hash --------------------------------------------------------------------------------------------------- */

/* Multiplicative (Knuth, TAOCP 6.4): its upper bits are the good ones. */
static inline uint64_t base_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15ull; }

/* --- arena.c: memory that is freed all at once -------------------------------------------------------------- */

typedef struct base_piece {
    struct base_piece *next, *previous;
} base_piece;
typedef struct {
    base_piece all; /* a ring, so that a piece can leave it; zero: empty */
} base_arena;

/* Without memory these end the program with a message. */
void *base_arena_alloc(base_arena *a, size_t bytes);                               /* zeroed */
void *base_arena_grow(base_arena *a, void *array, uint32_t count, size_t element); /* doubles at powers of two */
char *base_arena_format(base_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
void base_arena_free(void *piece); /* one piece, of any arena; NULL: nothing */
void base_arena_clear(base_arena *a);

#endif

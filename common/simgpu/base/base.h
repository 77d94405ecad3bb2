/* base/ — helpers that every room uses: fatal errors, checked allocation, an arena, a hash, names of files and kernels.
 * It includes nothing else of SimGPU.
 */
#ifndef SIMGPU_BASE_H
#define SIMGPU_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints "simgpu: " and the message to stderr, then ends the process with status 2. The program's exit handlers do not
 * run: they would explain an exit that the program never called. */
__attribute__((noreturn, format(printf, 1, 2))) void base_refuse(const char *format, ...);

/* Prints a message to stderr, which it ends. On a terminal, lines longer than 100 columns go on below, indented; lines
 * of source, which begin with a number and a bar, are not wrapped. A file or a pipe gets the message as it is.
 * SIMGPU_WRAP (1, 0) decides in place of the terminal. */
void base_say(const char *message);

/* Checks an allocation. Returns `memory`; if it is NULL, ends the process by base_refuse with `otherwise`, which states
 * the cause and the remedy. */
void *base_must(void *memory, const char *otherwise);

/* Appends to the string in `text`, a buffer of `size` bytes, and truncates at its end. */
void base_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the language "C", a locale_t (which strict C11 has not), for uselocale(): one object for all threads. Call it
 * first while no other thread does. */
void *base_plain_language(void);

/* --- names -------------------------------------------------------------------------------------------------- */

/* Returns the last component of a path, or "?" for NULL and for an empty path. */
const char *base_file_name(const char *path);

/* Returns the source name of a mangled kernel, without namespaces and arguments: _Z9transposePfPKfi -> transpose. */
typedef struct {
    char text[256];
} base_name;
base_name base_kernel_name(const char *mangled);
/* The name of a library's function as programs write it: cublasSgemm_v2 -> cublasSgemm. */
base_name base_library_name(const char *symbol);

/* Reads line `number` (from 1) of a file into `text`, without the newline. Returns false if the line or the file does
 * not exist. */
bool base_read_line(const char *path, uint32_t number, char *text, size_t size);

/* --- hash --------------------------------------------------------------------------------------------------- */

/* Returns a multiplicative hash (Knuth, TAOCP 6.4). Use its upper bits, which mix best. */
static inline uint64_t base_hash(uint64_t key) { return key * 0x9e3779b97f4a7c15ull; }

/* --- arena.c: pieces of memory that are freed together ------------------------------------------------------ */

typedef struct base_piece {
    struct base_piece *next, *previous;
} base_piece;
typedef struct {
    base_piece all; /* head of a ring of pieces; zero-initialised means empty */
} base_arena;

/* These three end the process with a message if the host has no memory. */

/* Returns `bytes` zeroed bytes. */
void *base_arena_alloc(base_arena *a, size_t bytes);

/* Returns an array with room for one more element than `count`, its new part zeroed. The capacity doubles at powers of
 * two, so call it with each count from 0 on. */
void *base_arena_grow(base_arena *a, void *array, uint32_t count, size_t element);
char *base_arena_format(base_arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees one piece of any arena; ignores NULL. */
void base_arena_free(void *piece);

/* Frees all pieces of the arena. */
void base_arena_clear(base_arena *a);

#endif

/* ptx2fatbin.c — wraps PTX text as the fat binary that clang puts into a program (-fcuda-include-gpubinary), and
 * corrects in it what clang writes wrong.
 *
 *   ptx2fatbin kernel.ptx kernel.fatbin
 *   ptx2fatbin kernel.ptx                  only corrects the text
 *
 * The output has a 16-byte header and one 64-byte entry before the text. ../ptx/fatbin.c reads it and names the
 * fields.
 *
 * Both correct kernel.ptx itself, and change nothing in most files.
 *
 * x << (n & 63) | x >> (-n & 63) is x rotated by n, whatever n is, and ~(1ull << (n & 63)) is ~1 rotated by n. Clang
 * before version 19 leaves out the mask: of 64 bits it shifts by n and by 64 - n, which gives 0 for an n above 64. (Of
 * 32 bits it takes shf.l.wrap, which takes n modulo 32.) Such a rotation declares a register of its own, %amt2.
 * mask_rotations puts the mask back, as version 19 writes it. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_BYTES = 16, ENTRY_BYTES = 64, KIND_PTX = 1, FLAGS_64BIT_LINUX = 0x11 };

static int fail(const char *path, const char *what) {
    fprintf(stderr, "ptx2fatbin: %s: %s\n", path, what);
    return 1;
}

static void put(uint8_t *at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

/* Returns the whole file, malloc'd, or NULL with errno set. */
static char *read_all(const char *path, size_t *length) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    size_t room = 1 << 16, n = 0, got;
    char *text = malloc(room);
    while (text && (got = fread(text + n, 1, room - n, f)) > 0) {
        n += got;
        if (n == room) {
            char *bigger = realloc(text, room *= 2);
            if (!bigger) free(text);
            text = bigger;
        }
    }
    fclose(f);
    *length = n;
    if (text) text[n] = 0;
    return text;
}

/* Returns the decimal number after the first `word` in the text, or 0 if there is none. */
static unsigned number_after(const char *text, size_t length, const char *word) {
    const char *at = memmem(text, length, word, strlen(word));
    if (!at) return 0;
    unsigned n = 0;
    for (at += strlen(word); at < text + length && *at >= '0' && *at <= '9'; at++) n = n * 10 + (unsigned)(*at - '0');
    return n;
}

/* Returns the text behind one line of it and its blanks, or NULL if the line is another. The line's last operand goes
 * into *last: its begin, up to the semicolon. */
static const char *skip_line(const char *at, const char *begins, const char **last, size_t *last_length) {
    at += strspn(at, " \t");
    const char *end = strchr(at, ';'), *comma = end;
    if (!end || strncmp(at, begins, strlen(begins)) != 0) return NULL;
    while (comma > at && comma[-1] != ' ') comma--;
    *last = comma;
    *last_length = (size_t)(end - comma);
    return end[1] == '\n' ? end + 2 : NULL;
}

/* Returns the text with masked rotations, malloc'd, or NULL: there is none that wants a mask, or, with errno set, no
 * memory. */
static char *mask_rotations(const char *text, size_t *length) {
    static const char declared[] = ".reg .u32 %amt2;\n", masked[] = "\tand.b32 \t%%amt2, %.*s, 63;\n";
    size_t n = 0, room = *length + 1;
    const char *from = text, *at = text;
    for (const char *p = text; (p = strstr(p, declared)); p++) room += sizeof masked + 64;
    char *to = malloc(room);
    while (to && (at = strstr(at, declared))) {
        const char *first = at += strlen(declared), *amount, *again;
        size_t size, again_size;
        const char *second = skip_line(first, "sh", &amount, &size);
        if (!second || size > 32 || !skip_line(second, "sub.u32 \t%amt2, 64, ", &again, &again_size) ||
            again_size != size || strncmp(amount, again, size) != 0)
            continue;
        memcpy(to + n, from, (size_t)(first - from)), n += (size_t)(first - from);
        n += (size_t)sprintf(to + n, masked, (int)size, amount);
        memcpy(to + n, first, (size_t)(amount - first)), n += (size_t)(amount - first);
        n += (size_t)sprintf(to + n, "%%amt2;\n\tsub.u32 \t%%amt2, 64, %%amt2;\n");
        at = from = again + size + 2;
    }
    if (!n) return free(to), NULL;
    memcpy(to + n, from, *length - (size_t)(from - text) + 1); /* with the 0 behind it */
    *length = n + *length - (size_t)(from - text);
    return to;
}

static bool write_all(const char *path, const char *head, size_t head_length, const char *text, size_t length,
                      size_t zeros) {
    static const char zero[8];
    FILE *f = fopen(path, "wb");
    if (!f) return false;
    fwrite(head, 1, head_length, f);
    fwrite(text, 1, length, f);
    fwrite(zero, 1, zeros, f);
    const bool bad = ferror(f);
    return !fclose(f) && !bad;
}

int main(int argc, char **argv) {
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: ptx2fatbin kernel.ptx [kernel.fatbin]\n");
        return 2;
    }
    size_t length;
    char *text = read_all(argv[1], &length);
    if (!text) return fail(argv[1], strerror(errno));
    unsigned arch = number_after(text, length, ".target sm_");
    if (arch == 0) {
        free(text);
        return fail(argv[1], "it has no .target sm_NN line, so it is not PTX");
    }
    errno = 0;
    char *corrected = mask_rotations(text, &length);
    if (!corrected && errno) return fail(argv[1], strerror(errno));
    if (corrected) {
        free(text);
        text = corrected;
        if (!write_all(argv[1], "", 0, text, length, 0)) return fail(argv[1], "cannot be written: is the disk full?");
    }
    if (argc == 2) return free(text), 0;

    size_t padded = (length + 1 + 7) / 8 * 8; /* with at least one NUL at the end, as from nvcc */
    uint8_t head[HEADER_BYTES + ENTRY_BYTES] = {0}, *entry = head + HEADER_BYTES;
    put(head, 0xBA55ED50u, 4);
    put(head + 4, 1, 2);
    put(head + 6, HEADER_BYTES, 2);
    put(head + 8, ENTRY_BYTES + padded, 8);
    put(entry, KIND_PTX, 2);
    put(entry + 2, 0x0101, 2);
    put(entry + 4, ENTRY_BYTES, 4);
    put(entry + 8, padded, 8);
    put(entry + 28, arch, 4);
    put(entry + 40, FLAGS_64BIT_LINUX, 8);

    errno = 0;
    const bool written = write_all(argv[2], (const char *)head, sizeof head, text, length, padded - length);
    free(text);
    return written ? 0 : fail(argv[2], errno ? strerror(errno) : "cannot be written: is the disk full?");
}

/* ptx2fatbin.c — wraps PTX text as the fat binary that clang puts into a program (-fcuda-include-gpubinary).
 *
 *   ptx2fatbin kernel.ptx kernel.fatbin
 *
 * The output has a 16-byte header and one 64-byte entry before the text. ../ptx/fatbin.c reads it and names the
 * fields. */
#include <errno.h>
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

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: ptx2fatbin kernel.ptx kernel.fatbin\n");
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

    FILE *f = fopen(argv[2], "wb");
    if (!f) {
        free(text);
        return fail(argv[2], strerror(errno));
    }
    static const char zeros[8];
    fwrite(head, 1, sizeof head, f);
    fwrite(text, 1, length, f);
    fwrite(zeros, 1, padded - length, f);
    free(text);
    int bad = ferror(f);
    if (fclose(f) || bad) return fail(argv[2], "cannot be written: is the disk full?");
    return 0;
}

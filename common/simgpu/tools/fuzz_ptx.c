/* fuzz_ptx: whatever bytes come, the reader of PTX must not crash, hang or run out of memory.
 *
 * LLVMFuzzerTestOneInput takes one input: a fat binary (by its magic number) goes through ptx_extract first, anything
 * else is PTX text. Built with libFuzzer (`make fuzz`) it looks for new inputs; built plainly it replays the files that
 * it is given, ten seconds each at most, and says what became of them: the tests do so with tests/fuzz and tests/ptx.
 */
#include "../ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 16, SECONDS = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char said[1024]; /* what became of the last input */

/* The wrapper and the header's two lengths belong to the program that carries the fat binary, and are believed; so they
 * must be true here. */
static char *extract(const uint8_t *data, size_t size, size_t *length) {
    struct {
        int32_t magic, version;
        const uint8_t *data;
        const void *more;
    } wrapper = {0x466243B1, 1, data, NULL};
    char *text = NULL;
    uint16_t header;
    uint64_t entries;
    memcpy(&header, data + 6, 2);
    memcpy(&entries, data + 8, 8);
    if (header <= size && entries <= size - header) text = ptx_extract(&wrapper, length, said, sizeof said);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t magic[4] = {0x50, 0xED, 0x55, 0xBA};
    char *text = NULL;
    size_t length = size;
    strcpy(said, "lengths that lie outside");
    if (size >= HEADER && memcmp(data, magic, sizeof magic) == 0) {
        text = extract(data, size, &length);
    } else {
        text = malloc(size ? size : 1); /* exactly as large as the text: reading past its end is found */
        if (text && size) memcpy(text, data, size);
    }
    if (text) {
        static const ptx_costs costs = {.round_clocks = 300}; /* any: only times depend on them */
        const ptx_module *m = ptx_load(text, length, "fuzz", &costs, said, sizeof said);
        uint32_t unusable = 0;
        for (uint32_t k = 0; m && k < m->nfunctions; k++)
            unusable += m->functions[k]->has_body && !m->functions[k]->code;
        if (m) snprintf(said, sizeof said, "%u functions, %u of them unusable", m->nfunctions, unusable);
    }
    free(text);
    ptx_free_all();
    return 0;
}

#ifndef LIBFUZZER
int main(int argc, char **argv) {
    for (int k = 1; k < argc; k++) {
        FILE *f = fopen(argv[k], "rb");
        if (!f) {
            perror(argv[k]);
            return 2;
        }
        uint8_t *data = NULL;
        size_t size = 0, capacity = 0, n;
        do {
            data = realloc(data, capacity += 1 << 16);
            if (!data) abort();
            n = fread(data + size, 1, capacity - size, f);
            size += n;
        } while (n > 0);
        fclose(f);
        printf("%s: ", argv[k]);
        fflush(stdout); /* if it crashes, its name stands last */
        alarm(SECONDS);
        LLVMFuzzerTestOneInput(data, size);
        alarm(0);
        puts(said);
        free(data);
    }
    return 0;
}
#endif

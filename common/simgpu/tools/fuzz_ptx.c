/* fuzz_ptx.c — tests that ptx/ does not crash, hang or run out of memory on any input.
 *
 * LLVMFuzzerTestOneInput takes one input. A fat binary (known by its magic number) goes through ptx_extract first; any
 * other input is PTX text. With libFuzzer (`make fuzz`) the program searches new inputs. Without it, the program
 * replays the files of its arguments, each in ten seconds at most, and prints the results; the tests do so with
 * tests/fuzz and tests/ptx.
 */
#include "../ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADER = 16, SECONDS = 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char said[1024]; /* the result of the last input */

/* Extracts the PTX of a fat binary. ptx_extract trusts the wrapper and the header's two lengths, which belong to the
 * program, so this function makes them valid. */
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
        text = malloc(size ? size : 1); /* of the text's exact size, so that a read past its end is detected */
        if (text && size) memcpy(text, data, size);
    }
    if (text) {
        static const ptx_costs costs = {.round_clocks = 300}; /* any value will do, since only times depend on it */
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
        fflush(stdout); /* in a crash the last line names the file */
        alarm(SECONDS);
        LLVMFuzzerTestOneInput(data, size);
        alarm(0);
        puts(said);
        free(data);
    }
    return 0;
}
#endif

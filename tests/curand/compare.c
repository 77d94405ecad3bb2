/* compare — holds the numbers that curand.cu prints against an H200's.
 *
 *   compare OURS H200
 *
 * A line is "generator seed sequence offset kind: numbers". Whole numbers (kind 0, and after a skip 8) and uniform ones
 * (1, 3) must be the same bits. Normal numbers (2, 4, 6, 7 and in philox4) may differ by 2e-6: their sine and logarithm
 * are the hardware's approximations. Of Poisson numbers (5) those with a small mean must be equal; SimGPU has another
 * method for a large one. Prints what differs, then how many lines agree. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double value(const char *hex) {
    uint64_t bits = strtoull(hex, NULL, 16);
    uint32_t low = (uint32_t)bits;
    double d;
    float f;
    if (strlen(hex) > 8) return memcpy(&d, &bits, 8), d;
    return memcpy(&f, &low, 4), f;
}

static bool alike(const char *a, const char *b, bool exact) {
    return strcmp(a, b) == 0 || (!exact && fabs(value(a) - value(b)) <= 2e-6 * fmax(1, fabs(value(b))));
}

static bool same_line(char *ours, char *theirs) {
    char *numbers = strchr(theirs, ':'), kind = numbers[-1], *a, *b, *more_a = NULL, *more_b = NULL;
    bool four = strncmp(theirs, "philox4", 7) == 0;
    int at = 0;
    if (strncmp(ours, theirs, (size_t)(numbers - theirs)) != 0) return false;
    a = strtok_r(ours + (numbers - theirs) + 1, " ;\n", &more_a), b = strtok_r(numbers + 1, " ;\n", &more_b);
    for (; a && b; a = strtok_r(NULL, " ;\n", &more_a), b = strtok_r(NULL, " ;\n", &more_b), at++) {
        bool exact = four ? at < 16 || at == 20 || at == 21 || at == 24 : strchr("0138", kind) != NULL;
        if (kind == '5' && !four ? at < 5 && strcmp(a, b) != 0 : !alike(a, b, exact)) return false;
    }
    return !a && !b && at > 0;
}

int main(int argc, char **argv) {
    char ours[1024], theirs[1024], shown[1024];
    int lines = 0, same = 0;
    FILE *f = argc == 3 ? fopen(argv[1], "r") : NULL, *g = argc == 3 ? fopen(argv[2], "r") : NULL;
    if (!f || !g) return fprintf(stderr, "usage: compare OURS H200\n"), 2;
    while (fgets(theirs, sizeof theirs, g)) {
        if (*theirs == '#') continue;
        lines++;
        strcpy(shown, theirs);
        if (!fgets(ours, sizeof ours, f)) break;
        char before[1024];
        strcpy(before, ours);
        if (same_line(ours, theirs))
            same++;
        else
            printf("ours %sH200 %s", before, shown);
    }
    printf("%d of %d lines agree\n", same, lines);
    return same != lines || !lines;
}

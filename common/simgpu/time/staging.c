/* staging.c — keeps one large buffer of a staged copy for the next one: new pages take the host longer than the copy.
 */
#include "staging.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

enum { KEPT_FROM = 128 << 10, KEPT_TO = 64 << 20 };

static struct {
    void *at;
    size_t bytes;
} spare;

void *time_staging_take(uint64_t bytes) {
    void *buffer = spare.at;
    if (bytes < KEPT_FROM || bytes > spare.bytes) return malloc(bytes);
    spare.at = NULL;
    spare.bytes = 0;
    return buffer;
}

void time_staging_give(void *buffer) {
    const size_t bytes = malloc_usable_size(buffer); /* it may have been lent for less */
    const bool kept = bytes >= KEPT_FROM && bytes <= KEPT_TO && bytes > spare.bytes;
    free(kept ? spare.at : buffer);
    if (!kept) return;
    spare.at = buffer;
    spare.bytes = bytes;
}

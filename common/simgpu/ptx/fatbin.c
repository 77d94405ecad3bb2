/* fatbin.c — finds the PTX text inside the fat binary that a compiled CUDA program carries.
 *
 *   wrapper {magic, version, data} --> header {magic, version, header size, bytes that follow}
 *                                      entry  {kind, header size, payload size, ...} payload
 *                                      entry  ...
 *
 * An entry is PTX text (kind 1) or machine code (kind 2). SimGPU takes the PTX of the newest architecture. A link of
 * several objects (nvcc -rdc=true) has machine code only; each object's PTX is beside it, and SimGPU links these. nvcc
 * compresses payloads by default: this file decodes LZ4 blocks, and has libzstd.so.1 decode ZSTD frames (CUDA 13's
 * default) where the system has it. It trusts the wrapper's own memory, which is part of the program, and checks every
 * length inside the data.
 *
 * Sources of the layout: fatbinary_section.h of the CUDA toolkit for the wrapper; the output of nvcc 13.0 for the
 * rest. */
#include "ptx.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WRAPPER_MAGIC = 0x466243B1,
    KIND_PTX = 1,
    ENTRY_BYTES = 64, /* up to the last field that is read */
    FLAG_LZ4_OLD = 0x1000,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
};
#define HEADER_MAGIC     0xBA55ED50u
#define HEADER_BYTES     16u
#define ENTRIES_MAX      (1ull << 32) /* bytes; more than any program has, to reject corrupt lengths */
#define UNCOMPRESSED_MAX (1ull << 30)

typedef struct {
    int32_t magic, version;
    const uint8_t *data;
    const uint8_t *const *more; /* version 2, of a link (-rdc=true): a NULL-terminated array of its objects' headers */
} wrapper;

typedef struct {
    const uint8_t *payload;
    uint64_t bytes;        /* stored, without padding */
    uint64_t uncompressed; /* 0 if not compressed */
    uint64_t flags;
    uint32_t arch;
} entry;

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const uint8_t *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const uint8_t *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

/* Reads a length in LZ4: if the token has 15, it adds the following bytes up to the first that is not 255. Returns 0,
 * or
 * -1 at the end of the data. */
static int lz4_length(const uint8_t **in, const uint8_t *in_end, size_t *length) {
    if (*length != 15) return 0;
    uint8_t more;
    do {
        if (*in == in_end) return -1;
        more = *(*in)++;
        *length += more;
    } while (more == 255);
    return 0;
}

/* Decodes an LZ4 block: sequences of literals and a match of at least 4 bytes from `offset` bytes back. Returns the
 * number of bytes written, or -1 if the block is corrupt. */
static int64_t lz4_decode(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes) {
    const uint8_t *in_end = in + in_bytes;
    size_t n = 0;
    while (in < in_end) {
        uint8_t token = *in++;
        size_t literals = token >> 4, match = token & 15;
        if (lz4_length(&in, in_end, &literals)) return -1;
        if (literals > (size_t)(in_end - in) || literals > out_bytes - n) return -1;
        memcpy(out + n, in, literals);
        in += literals;
        n += literals;
        if (in == in_end) break; /* the last sequence has no match */
        if (in_end - in < 2) return -1;
        size_t offset = get16(in);
        in += 2;
        if (lz4_length(&in, in_end, &match)) return -1;
        match += 4;
        if (offset == 0 || offset > n || match > out_bytes - n) return -1;
        for (size_t i = 0; i < match; i++, n++)
            out[n] = out[n - offset]; /* byte by byte, since the ranges may overlap */
    }
    return (int64_t)n;
}

/* Reads the entry at p. Returns its size in bytes, or 0 if it exceeds `left`. */
static uint64_t read_entry(const uint8_t *p, uint64_t left, entry *e, bool *is_ptx) {
    if (left < ENTRY_BYTES) return 0;
    uint64_t header = get32(p + 4), payload = get64(p + 8), compressed = get32(p + 16);
    if (header < ENTRY_BYTES || header > left || payload > left - header || compressed > payload) return 0;
    *is_ptx = get16(p) == KIND_PTX;
    e->payload = p + header;
    e->arch = get32(p + 28);
    e->flags = get64(p + 40);
    e->uncompressed = compressed ? get64(p + 56) : 0;
    e->bytes = compressed ? compressed : payload;
    return header + payload;
}

/* Decodes a ZSTD frame. Returns the number of bytes written, -1 if the frame is corrupt, or -2 if the system has no
 * libzstd. The library is looked for at the first use, so that no other program needs it. */
static int64_t zstd_decode(const uint8_t *in, size_t in_bytes, uint8_t *out, size_t out_bytes) {
    static void *library;
    if (!library) library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return -2;
    size_t (*decompress)(void *, size_t, const void *, size_t);
    unsigned (*is_error)(size_t);
    *(void **)&decompress = dlsym(library, "ZSTD_decompress");
    *(void **)&is_error = dlsym(library, "ZSTD_isError");
    if (!decompress || !is_error) return -2;
    size_t n = decompress(out, out_bytes, in, in_bytes);
    return is_error(n) ? -1 : (int64_t)n;
}

/* Decodes the payload into text of exactly this length. Returns NULL, or what is wrong. */
static const char *decode(const entry *e, char *text, size_t bytes) {
    int64_t n = -1;
    if (e->flags & (FLAG_LZ4 | FLAG_LZ4_OLD))
        n = lz4_decode(e->payload, e->bytes, (uint8_t *)text, bytes);
    else if (e->flags & FLAG_ZSTD)
        n = zstd_decode(e->payload, e->bytes, (uint8_t *)text, bytes);
    else
        return "the program's PTX is compressed by a method that SimGPU does not know; rebuild with nvcc --no-compress";
    if (n == -2)
        return "the program's PTX is compressed with ZSTD, and libzstd.so.1, which reads it, is not on this machine; "
               "install the package libzstd1, or rebuild with nvcc --no-compress";
    if (n != (int64_t)bytes) return "the fat binary is corrupt: its PTX does not decompress; rebuild the program";
    return NULL;
}

/* Returns the payload as malloc'd NUL-terminated text without its padding, or NULL with a message in err. */
static char *entry_text(const entry *e, size_t *length, char *err, size_t err_size) {
    bool packed = e->uncompressed != 0;
    if (packed && e->uncompressed > UNCOMPRESSED_MAX) {
        snprintf(err, err_size, "the fat binary is corrupt: its PTX claims %llu bytes; rebuild the program",
                 (unsigned long long)e->uncompressed);
        return NULL;
    }
    size_t bytes = packed ? e->uncompressed : e->bytes;
    char *text = malloc(bytes + 1);
    if (!text) {
        snprintf(err, err_size, "no host memory for %zu bytes of PTX", bytes);
        return NULL;
    }
    const char *wrong = packed ? decode(e, text, bytes) : NULL;
    if (wrong) {
        free(text);
        snprintf(err, err_size, "%s", wrong);
        return NULL;
    }
    if (!packed) memcpy(text, e->payload, bytes);
    while (bytes > 0 && text[bytes - 1] == '\0') bytes--;
    text[bytes] = '\0';
    *length = bytes;
    return text;
}

/* Returns the header that a wrapper points to, or `fat` itself if it is a header; NULL if it is neither. */
static const uint8_t *header_of(const void *fat) {
    if (!fat) return NULL;
    uint32_t magic = get32(fat);
    if (magic == HEADER_MAGIC) return fat;
    return magic == WRAPPER_MAGIC ? ((const wrapper *)fat)->data : NULL;
}

bool ptx_is_fatbin(const void *image) { return get32(image) == HEADER_MAGIC || get32(image) == WRAPPER_MAGIC; }
uint64_t ptx_fatbin_bytes(const void *image) {
    return get32(image) == HEADER_MAGIC ? get16((const uint8_t *)image + 6) + get64((const uint8_t *)image + 8)
                                        : UINT64_MAX;
}

/* Finds the PTX of the newest architecture. Returns false, with a message in err if the fat binary is corrupt, and
 * without one if it has no PTX. */
static bool find_best(const uint8_t *p, entry *best, char *err, size_t err_size) {
    uint64_t header = get16(p + 6), left = get64(p + 8);
    bool found = false;
    *err = '\0';
    if (get32(p) != HEADER_MAGIC || header < HEADER_BYTES || left > ENTRIES_MAX) {
        snprintf(err, err_size, "the fat binary is corrupt: its header is invalid; rebuild the program");
        return false;
    }
    for (p += header; left > 0;) {
        entry e;
        bool is_ptx;
        uint64_t taken = read_entry(p, left, &e, &is_ptx);
        if (taken == 0) {
            snprintf(err, err_size, "the fat binary is corrupt: an entry is longer than the file; rebuild the program");
            return false;
        }
        if (is_ptx && (!found || e.arch >= best->arch)) {
            *best = e;
            found = true;
        }
        p += taken;
        left -= taken;
    }
    return found;
}

/* Returns the texts of the objects that nvcc has linked (-rdc=true), one behind the other, as ptx_load takes them.
 * NVIDIA's own object, the device runtime, is left out: its functions are builtins. Returns NULL if one of the objects
 * has no PTX, with a message if its PTX cannot be read. */
static char *linked_text(const uint8_t *const *objects, size_t *length, char *err, size_t err_size) {
    char *all = NULL;
    *length = 0;
    for (; *objects; objects++) {
        entry e;
        size_t bytes;
        char *text = find_best(*objects, &e, err, err_size) ? entry_text(&e, &bytes, err, err_size) : NULL;
        char *more = text ? realloc(all, *length + bytes + 2) : NULL;
        if (!more) {
            free(text), free(all);
            return NULL;
        }
        all = more;
        if (!strstr(text, "__cuda_syscall_cnpv2")) {
            memcpy(all + *length, text, bytes);
            all[ *length += bytes] = '\n';
            *length += 1;
        }
        all[*length] = '\0';
        free(text);
    }
    return all;
}

char *ptx_extract(const void *fat, size_t *length, char *err, size_t err_size) {
    const uint8_t *p = header_of(fat);
    if (!p) {
        snprintf(err, err_size,
                 "the program registered something other than a fat binary; rebuild it with clang or nvcc 11 or newer");
        return NULL;
    }
    entry best;
    if (find_best(p, &best, err, err_size)) return entry_text(&best, length, err, err_size);
    const wrapper *w = get32(fat) == WRAPPER_MAGIC ? fat : NULL;
    char *text = !*err && w && w->version == 2 && w->more ? linked_text(w->more, length, err, err_size) : NULL;
    if (!text && !*err)
        snprintf(err, err_size,
                 "the program carries machine code but no PTX; rebuild with nvcc "
                 "-gencode arch=compute_90,code=compute_90");
    return text;
}

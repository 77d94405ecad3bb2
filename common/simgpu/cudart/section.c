/* section.c — tells in which section of the program, or of one of its libraries, a variable lies.
 *
 * clang has no __managed__ for CUDA. Our header makes such a variable a __device__ one, of which clang gives the host a
 * variable of the same name, and places that in a section of its own; so it can be told from others here. */
#include "rt.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t address, base; /* asked for; the difference between addresses and those of the file */
    char path[4096];
} image;

static int find_image(struct dl_phdr_info *info, size_t size, void *result) {
    image *i = result;
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[k];
        if (h->p_type != PT_LOAD || i->address - info->dlpi_addr - h->p_vaddr >= h->p_memsz) continue;
        i->base = info->dlpi_addr;
        snprintf(i->path, sizeof i->path, "%s", *info->dlpi_name ? info->dlpi_name : "/proc/self/exe");
        return 1;
    }
    return 0;
}

static bool read_at(FILE *f, uint64_t at, void *to, size_t bytes) {
    return !fseek(f, (long)at, SEEK_SET) && fread(to, 1, bytes, f) == bytes;
}

/* Returns whether the file's section of that name has the address, as the file counts them. */
static bool has(FILE *f, const char *name, uint64_t address) {
    Elf64_Ehdr e;
    Elf64_Shdr names, s;
    char text[64] = "";
    if (!read_at(f, 0, &e, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) || e.e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    if (!read_at(f, e.e_shoff + (uint64_t)e.e_shstrndx * e.e_shentsize, &names, sizeof names)) return false;
    for (uint32_t k = 0; k < e.e_shnum; k++) {
        if (!read_at(f, e.e_shoff + (uint64_t)k * e.e_shentsize, &s, sizeof s)) return false;
        if (address - s.sh_addr >= s.sh_size || !read_at(f, names.sh_offset + s.sh_name, text, strlen(name) + 1))
            continue;
        if (!strcmp(text, name)) return true;
    }
    return false;
}

bool rt_in_section(const void *variable, const char *name) {
    image i = {.address = (uint64_t)(uintptr_t)variable};
    if (!dl_iterate_phdr(find_image, &i)) return false;
    FILE *f = fopen(i.path, "re");
    bool yes = f && has(f, name, i.address - i.base);
    if (f) fclose(f);
    return yes;
}

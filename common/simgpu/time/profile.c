/* profile.c — reads a device profile, lines of `key = value`; # begins a comment. The build puts the files of profiles/
 * into the library (profiles.inc); any other is read by its path (PROFILE=./mine.conf).
 *
 * The reader is strict, since a wrong constant would give a wrong grade: an unknown key, a value that is not a positive
 * number, a repeated key and a missing key are errors with their place. */
#include "time.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} cards[] = {
#include "profiles.inc"
};
enum { NCARDS = sizeof cards / sizeof *cards };

static const struct {
    const char *key;
    size_t offset;
} keys[] = {
#define PROFILE(key, unit, what) {#key, offsetof(time_profile, key)},
#include "profile.def"
#undef PROFILE
};
enum { NKEYS = sizeof keys / sizeof *keys };

__attribute__((noreturn, format(printf, 3, 4))) static void refuse(const char *place, int line, const char *format,
                                                                   ...) {
    char text[1024], number[16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0) snprintf(number, sizeof number, ":%d", line);
    base_refuse("%s%s: %s", place, number, text);
}

/* Removes blanks at both ends. Returns the new beginning. */
static char *trim(char *s) {
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r\n", s[n - 1]); n--) s[n - 1] = '\0';
    return s;
}

static void set(time_profile *p, bool *seen, const char *place, int line, const char *key, const char *value) {
    if (!strcmp(key, "name")) {
        if (!*value || strlen(value) >= sizeof p->name) refuse(place, line, "name: use 1 to 63 characters");
        strcpy(p->name, value);
        return;
    }
    for (int i = 0; i < NKEYS; i++) {
        if (strcmp(key, keys[i].key)) continue;
        char *end;
        double number = strtod(value, &end);
        if (seen[i]) refuse(place, line, "%s is given twice; remove one", key);
        if (end == value || *end || !(number > 0 && number < 1e18))
            refuse(place, line, "%s: '%s' is not a positive number", key, value);
        seen[i] = true;
        *(double *)((char *)p + keys[i].offset) = number;
        return;
    }
    refuse(place, line, "unknown key '%s'; use a key of common/simgpu/time/profile.def", key);
}

static void read_profile(time_profile *p, const char *place, FILE *f) {
    if (!f) refuse(place, 0, "%s", strerror(errno));
    bool seen[NKEYS] = {0};
    char row[512];
    for (int line = 1; fgets(row, sizeof row, f); line++) {
        row[strcspn(row, "#\n")] = '\0';
        char *key = trim(row), *value = strchr(key, '=');
        if (!*key) continue;
        if (!value) refuse(place, line, "write the line as `key = value`");
        *value = '\0';
        set(p, seen, place, line, trim(key), trim(value + 1));
    }
    fclose(f);
    if (!p->name[0]) refuse(place, 0, "lacks the key 'name'");
    for (int i = 0; i < NKEYS; i++)
        if (!seen[i]) refuse(place, 0, "lacks the key '%s'", keys[i].key);
    /* The cache of exec/l2.c has 128 parts, and each keeps 2 KiB at least. */
    if (p->l2_reach_bytes < 262144 || p->l2_reach_bytes > p->l2_bytes)
        refuse(place, 0, "l2_reach_bytes: give 262144 at least, and not more than l2_bytes");
}

__attribute__((noreturn)) static void no_such_card(const char *name) {
    char here[512] = "";
    for (int i = 0; i < NCARDS; i++) snprintf(here + strlen(here), sizeof here - strlen(here), " %s", cards[i].name);
    base_refuse("PROFILE=%s: there is no such virtual card. Here are:%s", name, here);
}

static void read_built_in(time_profile *p, const char *name) {
    char place[128];
    int i = 0;
    while (i < NCARDS && strcmp(cards[i].name, name)) i++;
    if (i == NCARDS) no_such_card(name);
    snprintf(place, sizeof place, "profiles/%s.conf", name);
    read_profile(p, place, fmemopen((void *)(uintptr_t)cards[i].text, strlen(cards[i].text), "r"));
}

const exec_card *time_card(void) {
    static exec_card card;
    const time_profile *p = time_profile_get();
    card = (exec_card){.sms = (uint32_t)p->sm_count,
                       .threads_per_sm = (uint32_t)p->warps_per_sm * 32,
                       .blocks_per_sm = (uint32_t)p->blocks_per_sm,
                       .l1_per_sm = (uint32_t)p->l1_per_sm,
                       .shared_per_sm = (uint32_t)p->shared_per_sm,
                       .shared_reserved = (uint32_t)p->shared_reserved,
                       .atomic_place = (uint32_t)p->atomic_place_bytes,
                       .l2_bytes = (uint64_t)p->l2_bytes,
                       .l2_reach = (uint64_t)p->l2_reach_bytes,
                       .l2_dirty = (uint64_t)p->l2_dirty_bytes,
                       .heap_clocks = (uint32_t)p->heap_clk,
                       .heap_lane_clocks = (uint32_t)p->heap_lane_clk,
                       .launch_clocks = (uint32_t)p->device_launch_clk,
                       .memory = (uint64_t)p->memory_bytes};
    return &card;
}

const ptx_costs *time_costs(void) {
    static ptx_costs costs;
    const time_profile *p = time_profile_get();
    enum { MACHINE_BYTES = 16 }; /* of a machine instruction, since Volta */
#define COST(class, name) [COST_##class] = {(uint16_t)p->slots_##name, (uint16_t)p->latency_##name##_clk}
    costs = (ptx_costs){{[COST_ADDRESS] = {(uint16_t)p->slots_address, 0},
                         COST(ALU, alu),
                         COST(FMA, fma),
                         COST(IMUL, imul),
                         COST(INT64, int64),
                         COST(FP64, fp64),
                         COST(SFU, sfu),
                         COST(FDIV, fdiv),
                         COST(DIV32, div32),
                         COST(DIV64, div64),
                         COST(DDIV, ddiv),
                         COST(CONVERT, convert),
                         COST(MEMORY, memory),
                         COST(SHUFFLE, shuffle),
                         COST(BRANCH, branch),
                         COST(BARRIER, barrier),
                         COST(TENSOR, tensor)},
                        (uint32_t)p->round_clk,
                        {[RARE_FDIV] = {(uint16_t)p->slots_fdiv_rare, (uint16_t)p->latency_fdiv_rare_clk},
                         [RARE_FROOT] = {(uint16_t)p->slots_froot_rare, (uint16_t)p->latency_froot_rare_clk},
                         [RARE_DDIV] = {(uint16_t)p->slots_ddiv_rare, (uint16_t)p->latency_ddiv_rare_clk},
                         [RARE_DROOT] = {(uint16_t)p->slots_droot_rare, (uint16_t)p->latency_droot_rare_clk}},
                        {(uint16_t)p->latency_cas_clk, (uint16_t)p->latency_cas_turn_clk},
                        (uint16_t)p->latency_combine_clk,
                        (uint16_t)p->latency_diverge_clk,
                        (uint16_t)p->latency_guard_clk,
                        {[FENCE_BLOCK] = {(uint16_t)p->latency_fence_block_clk, (uint16_t)p->latency_fence_block_clk,
                                          p->fence_block_clk},
                         [FENCE_DEVICE] = {(uint16_t)p->latency_fence_device_clk, (uint16_t)p->latency_fence_behind_clk,
                                           p->fence_device_clk},
                         [FENCE_SYSTEM] = {(uint16_t)p->latency_fence_system_clk, (uint16_t)p->latency_fence_system_clk,
                                           p->fence_system_clk}},
                        {p->instruction_cache_bytes / MACHINE_BYTES, p->fetch_clk, p->fetch_jump_clk}};
#undef COST
    return &costs;
}

const time_profile *time_profile_get(void) {
    static time_profile profile;
    if (!profile.name[0]) {
        const char *name = getenv("PROFILE");
        if (!name || !*name) name = "h200";
        if (strchr(name, '/'))
            read_profile(&profile, name, fopen(name, "re"));
        else
            read_built_in(&profile, name);
    }
    return &profile;
}

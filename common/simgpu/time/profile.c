/* profile.c — reads a device profile: lines of `key = value`, # begins a comment.
 *
 * Strict, since a wrong constant would be a wrong grade: an unknown key, a value that is no positive number, a key
 * twice or a key missing is an error with its place. */
#include "time.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SIMGPU_PROFILES
#error "compile with -DSIMGPU_PROFILES=\"folder of the .conf files\""
#endif

static const struct {
    const char *key;
    size_t offset;
} keys[] = {
#define PROFILE(key, unit, what) {#key, offsetof(time_profile, key)},
#include "profile.def"
#undef PROFILE
};
enum { NKEYS = sizeof keys / sizeof *keys };

_Noreturn __attribute__((format(printf, 3, 4))) static void refuse(const char *path, int line, const char *format,
                                                                   ...) {
    char text[1024], number[16] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (line > 0) snprintf(number, sizeof number, ":%d", line);
    sim_refuse("%s%s: %s", path, number, text);
}

/* Cuts blanks at both ends. */
static char *trim(char *s) {
    s += strspn(s, " \t");
    for (size_t n = strlen(s); n > 0 && strchr(" \t\r\n", s[n - 1]); n--) s[n - 1] = '\0';
    return s;
}

static void set(time_profile *p, bool *seen, const char *path, int line, const char *key, const char *value) {
    if (!strcmp(key, "name")) {
        if (!*value || strlen(value) >= sizeof p->name) refuse(path, line, "name: wants 1 to 63 characters");
        strcpy(p->name, value);
        return;
    }
    for (int i = 0; i < NKEYS; i++) {
        if (strcmp(key, keys[i].key)) continue;
        char *end;
        double number = strtod(value, &end);
        if (seen[i]) refuse(path, line, "%s is given twice; remove one", key);
        if (end == value || *end || !(number > 0 && number < 1e18))
            refuse(path, line, "%s: '%s' is not a positive number", key, value);
        seen[i] = true;
        *(double *)((char *)p + keys[i].offset) = number;
        return;
    }
    refuse(path, line, "unknown key '%s'; the keys stand in common/simgpu/time/profile.def", key);
}

static void read_profile(time_profile *p, const char *path) {
    FILE *f = fopen(path, "re");
    if (!f) refuse(path, 0, "%s; PROFILE names a file of %s without its .conf", strerror(errno), SIMGPU_PROFILES);
    bool seen[NKEYS] = {0};
    char row[512];
    for (int line = 1; fgets(row, sizeof row, f); line++) {
        row[strcspn(row, "#\n")] = '\0';
        char *key = trim(row), *value = strchr(key, '=');
        if (!*key) continue;
        if (!value) refuse(path, line, "wants `key = value`");
        *value = '\0';
        set(p, seen, path, line, trim(key), trim(value + 1));
    }
    fclose(f);
    if (!p->name[0]) refuse(path, 0, "lacks the key 'name'");
    for (int i = 0; i < NKEYS; i++)
        if (!seen[i]) refuse(path, 0, "lacks the key '%s'", keys[i].key);
}

const time_profile *time_profile_get(void) {
    static time_profile profile;
    if (!profile.name[0]) {
        const char *name = getenv("PROFILE");
        if (!name || !*name) name = "h200";
        if (strchr(name, '/')) refuse(name, 0, "PROFILE is a name in %s, not a path", SIMGPU_PROFILES);
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.conf", SIMGPU_PROFILES, name);
        read_profile(&profile, path);
    }
    return &profile;
}

/* player.c — opens programs and plays messages to them; see player.h.
 *
 * Where the programs lie: the build puts the lab program's one executable into .build/LANE/judge/labN, and for each
 * program a link to it beside the program's shared object, as .build/sim/mine/lab3 and .build/sim/mine/lab3.so. So the
 * program under test is the shared object beside the name that the run was started by; the others are found from the
 * executable itself.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ENTRIES = 16 };

struct lab_program {
    int device; /* of SimGPU; 0 in the gpu lane */
    lab_entry *entry[MOST_ENTRIES];
};

/* All that lies open while a program's code runs. */
static struct {
    _Alignas(16) char message[LAB_MESSAGE], reply[LAB_MESSAGE];
    bool playing;
    lab_answerer answerer;
} stage;

static void *need(void *memory) {
    if (!memory) lab_die("out of memory for a message");
    return memory;
}

bool lab_playing(void) { return stage.playing; }
void lab_answer_with(lab_answerer answerer) { stage.answerer = answerer; }

/* The judge is open to itself while it answers, and what it does is no call of the program. */
void lab_ask(const void *question, size_t question_size, void *answer, size_t answer_size) {
    if (!stage.answerer) lab_die("the player asks the judge, which expects no questions");
    bool playing = stage.playing;
    char *asked = need(malloc(question_size + 1)), *answered = need(calloc(1, answer_size + 1));
    memcpy(asked, question, question_size); /* the program may change its own while the judge reads it */
    stage.playing = false;
    lab_endless_own(false);
    if (playing) lab_unlock();
    stage.answerer(asked, question_size, answered, answer_size);
    if (playing) lab_lock();
    lab_endless_own(playing);
    stage.playing = playing;
    if (answer) memcpy(answer, answered, answer_size);
    free(answered);
    free(asked);
}

void *lab_page(void) {
    static char *pages;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!pages) {
        pages = mmap(NULL, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_READ | PROT_WRITE))
            lab_die("no memory for what a program is handed: %s", strerror(errno));
    }
    return pages + page;
}

/* --- opening ------------------------------------------------------------------------------------ */

static void path_of(lab_who who, char *path) {
    static const char *const folder[] = {NULL, "starter", "reference", "ladder"};
    if (who == LAB_MINE) {
        lab_text(path, PATH_MAX, "%s.so", lab.program);
        return;
    }
    char exe[PATH_MAX];
    if (!realpath("/proc/self/exe", exe)) lab_die("cannot tell where this program lies");
    char *name = strrchr(exe, '/'), *up;
    *name++ = 0;
    up = strrchr(exe, '/');
    *up = 0;
    lab_text(path, PATH_MAX, "%s/%s/%s.so", exe, folder[who], name);
}

const char *lab_entry_name(int i, bool rung) {
    int entries = 0;
    while (entries < i && lab_entries[entries]) entries++;
    if (lab_entries[entries]) return lab_entries[entries];
    return rung && lab_rung_entries ? lab_rung_entries[i - entries] : NULL;
}

/* A copy of a file in memory, as a path that dlopen takes for another file: each copy has a descriptor's number of its
 * own, since dlopen knows a file by its path first. */
static void copy_of(char *path) {
    static char block[1 << 16];
    static int number = 100;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("program", MFD_CLOEXEC);
    ssize_t n = -1;
    while (from >= 0 && to >= 0 && (n = read(from, block, sizeof block)) > 0)
        if (write(to, block, (size_t)n) != n) n = -1;
    if (n < 0) lab_die("cannot copy %s: %s", path, strerror(errno));
    close(from);
    from = to;
    to = fcntl(from, F_DUPFD_CLOEXEC, number++);
    if (to < 0) lab_die("cannot copy %s: %s", path, strerror(errno));
    close(from);
    lab_text(path, PATH_MAX, "/proc/self/fd/%d", to);
}

/* Two programs may be one file (the reference is under test). Each has variables of its own, so the second and later
 * ones are opened from a copy. `again` false: the one that was opened first will do. */
static void *open_object(lab_who who, bool again) {
    static bool opened[LAB_LADDER + 1];
    static char first[LAB_LADDER + 1][PATH_MAX];
    char path[PATH_MAX], real[PATH_MAX];
    path_of(who, path);
    if (!realpath(path, real)) lab_die("%s is not there; make builds it", path);
    bool known = false;
    for (int i = 0; i <= LAB_LADDER; i++) known |= opened[i] && !strcmp(first[i], real);
    opened[who] = true;
    lab_text(first[who], sizeof first[who], "%s", real);
    if (known && again) copy_of(path);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) lab_die("cannot open %s: %s", path, dlerror());
    if (!strncmp(path, "/proc/", 6)) close(atoi(strrchr(path, '/') + 1));
    return object;
}

static lab_entry *find(void *object, const char *rung, const char *name) {
    char full[128];
    lab_text(full, sizeof full, "%s%s%s", rung ? rung : "", rung ? "_" : "", name);
    void *at = dlsym(object, full);
    lab_entry *entry;
    memcpy(&entry, &at, sizeof entry);
    return entry;
}

lab_program *lab_open(lab_who who, const char *rung) {
    lab_program *p = lab_hide(sizeof *p);
    p->device = lab_new_device();
    lab_use(p);
    void *object = open_object(who, true);
    const char *name;
    for (int i = 0; (name = lab_entry_name(i, rung)); i++) {
        if (i == MOST_ENTRIES) lab_die("the lab has more than %d entry points", MOST_ENTRIES);
        p->entry[i] = find(object, rung, name);
        if (!p->entry[i] && !rung)
            lab_die("%s does not define `%s`, which the harness calls. Is it extern \"C\", and spelled like this?",
                    lab.spec->source, name);
    }
    return p;
}

bool lab_has_rung(const char *rung) {
    void *object = open_object(LAB_LADDER, false);
    const char *name;
    for (int i = 0; (name = lab_entry_name(i, rung)); i++)
        if (find(object, rung, name)) return true;
    return false;
}

void lab_use(lab_program *program) { lab_use_device(program->device); }

/* --- playing ------------------------------------------------------------------------------------ */

/* In three parts, so that what is timed is the program's own code: lab_play_begin copies the message out of the judge's
 * memory and locks that, lab_play_end unlocks it and copies the reply in. */
void lab_play_begin(lab_program *program, const void *message, size_t size, lab_entry ***entry) {
    static lab_entry *kept[MOST_ENTRIES];
    if (size > LAB_MESSAGE) lab_die("a message of %zu bytes; %d is the most", size, LAB_MESSAGE);
    lab_use(program);
    for (int i = 0; i < MOST_ENTRIES; i++) kept[i] = program->entry[i];
    memcpy(stage.message, message, size);
    memset(stage.reply, 0, sizeof stage.reply);
    *entry = kept;
    lab_lock();
}

void lab_play_run(lab_entry **entry) {
    stage.playing = true;
    lab_endless_play(true);
    lab_perform(entry, stage.message, stage.reply);
    lab_endless_play(false);
    stage.playing = false;
}

void lab_play_end(void *reply, size_t size) {
    lab_unlock();
    if (size > LAB_MESSAGE) lab_die("a reply of %zu bytes; %d is the most", size, LAB_MESSAGE);
    if (reply) memcpy(reply, stage.reply, size);
}

void lab_play(lab_program *program, const void *message, size_t size, void *reply, size_t reply_size) {
    lab_entry **entry;
    lab_play_begin(program, message, size, &entry);
    lab_play_run(entry);
    lab_play_end(reply, reply_size);
}

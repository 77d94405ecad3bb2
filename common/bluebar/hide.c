/* hide.c — a process that cannot see some folders of the project (`bluebar run --hide`).
 *
 * The compiler reads a submission so: the gate finds what a submission includes or embeds, but a compilation that fails
 * may tell of a file byte by byte. It works as far as this machine lets a user have a view of the files of its own;
 * where it does not, nothing is hidden, and one line on stderr says so.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Writes a file of /proc. Returns whether the kernel took it. */
static bool tell(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool taken = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    close(fd);
    return taken;
}

/* A namespace of our own, in which we are root and nobody else is anybody. */
static bool leave(void) {
    char uid[64], gid[64];
    snprintf(uid, sizeof uid, "0 %u 1", (unsigned)geteuid());
    snprintf(gid, sizeof gid, "0 %u 1", (unsigned)getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS)) return false;
    tell("/proc/self/setgroups", "deny"); /* older kernels have no such file, and want none */
    return tell("/proc/self/uid_map", uid) && tell("/proc/self/gid_map", gid) &&
           !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

void bb_hide(const char *folders) {
    char *list = bb_must(strdup(folders)), *rest = list;
    struct stat is;
    bool away = leave();
    if (!away)
        fputs("This machine gives a user no view of the files of its own (unshare): the compiler can see the "
              "solutions, and "
              "other submissions.\n",
              stderr);
    for (char *folder; away && (folder = strsep(&rest, ":"));) {
        if (stat(folder, &is) || !S_ISDIR(is.st_mode)) continue;
        if (mount("none", folder, "tmpfs", 0, NULL) && errno != ENOENT) /* another grade may end meanwhile */
            bb_die("%s cannot be hidden: %s", folder, strerror(errno));
    }
    free(list);
}

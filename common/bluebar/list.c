/* list.c — `make`: the labs, how far each is, and the commands.
 *
 * State: untouched (the file is the starter), done (its last run had every row full), missing, else in progress.
 * The score is the last run's. It is shown only while the file is the one that ran, byte for byte: lab.sh leaves the
 * checksum of the source beside the record.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>

static const char commands[] =
    "\n"
    "  make setup      install what the labs and the tests need\n"
    "  make lab3       build and run lab 3, print its score card\n"
    "  make watch3     the same again whenever you save the file, until Ctrl-C\n"
    "  make lines3     your source with counters beside each line\n"
    "  make hint3      the next hint for the first row that is not full\n"
    "  make predict3   asks what the next run will measure, and the run shows how near you came\n"
    "  make diff3      the starter against your file\n"
    "  make rank       your versions of a lab so far, with points and times: LAB=3 (lab 11 if not said)\n"
    "  make reset3     back to the starter (keeps a backup)\n"
    "  make solution3  run the reference solution on this machine\n"
    "  make roofline0  draw lab 0's kernels under the machine's roof (needs gnuplot)\n"
    "  make play       run a CUDA program of your own: FILE=any.cu ARGS='its arguments'\n"
    "  make simgpu     build simcc, which takes nvcc's place in other people's Makefiles\n"
    "  make check      grade every lab; LAB=3 one, SUBMISSION=dir another tree\n"
    "  make grade      grade a folder of submissions: DIR=folder\n"
    "  make test       the project proves itself\n"
    "  make doctor     what is installed, what is missing, and the remedy\n"
    "  make bench      the times of lab 3's ladder by size, virtual or on your GPU\n"
    "  make bench-sim  the software GPU's own speed; bench-clock: its clock\n"
    "  make compare3   a card's timeline above the virtual one (an SVG); probe: measures your GPU\n"
    "  make lint docs clean\n"
    "\n"
    "  DEVICE=sim or DEVICE=gpu before any of them chooses the lane.\n";

enum { MOST_BYTES = 64 << 20 };

/* Returns whether the record beside the program comes from this very source. */
static bool ran(const char *record, const char *source, size_t size) {
    char *path = bb_format("%s.sum", record), *kept = bb_read(path, 100, NULL);
    char *now = bb_format("%016llx-%zu\n", (unsigned long long)bb_sum(source, size), size);
    bool same = kept && bb_same(kept, now);
    free(path);
    free(kept);
    free(now);
    return same;
}

static void show(const bb_lab *lab, const char *folder, const char *profile) {
    char *mine = bb_format("%s/%s", lab->folder, lab->file ? lab->file : "?");
    char *starter = bb_format("tests/lab%s/starter.cu", lab->number);
    char *record = bb_format("%s/mine/lab%s%s%s.tsv", folder, lab->number, *profile ? "." : "", profile);
    char points[64] = "";
    const char *state = "in progress";
    size_t size, first_size;
    char *source = bb_read(mine, MOST_BYTES, &size), *first = bb_read(starter, MOST_BYTES, &first_size);
    bb_record r = {0};
    if (source && ran(record, source, size) && !bb_record_read(&r, record, NULL, NULL)) {
        snprintf(points, sizeof points, "%g/%g", r.points, r.max);
        if (r.points == r.max) state = "done";
    }
    bb_record_free(&r);
    if (source && first && size == first_size && !memcmp(source, first, size)) state = "untouched";
    char *missing = source ? NULL : bb_format("missing: make reset%s brings the starter back", lab->number);
    printf("  lab %-3s %-48s %-12s %s\n", lab->number, lab->title, missing ? missing : state, points);
    free(missing);
    free(mine);
    free(starter);
    free(record);
    free(source);
    free(first);
}

int bb_cmd_list(int argc, char **argv) {
    (void)argv;
    if (argc != 1) bb_die("bluebar list takes no arguments");
    const char *lane = bb_env("DEVICE", "sim"), *profile = bb_env("PROFILE", "");
    bb_lab *labs;
    int n = bb_labs(&labs);
    printf("Bluebar: making GPUs actually fast, one lab at a time.      lane: %s", lane);
    if (bb_same(lane, "sim")) printf(" (the software GPU%s%s)", *profile ? " as " : "", profile);
    puts("\n");
    for (int i = 0; i < n; i++) show(&labs[i], bb_env("B", ".build/sim"), profile);
    fputs(commands, stdout);
    return 0;
}

/* link.c — the rate of the link between the host and a card, by PCIe's generation and width.
 *
 * CUDA does not report it. nvidia-smi does, for this card in this slot. Where it is not installed, the kernel's files
 * do: the card's own, and those of the port above it, since the slower of the two decides.
 */
#define _GNU_SOURCE
#include "lab_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A lane of generation 1, 2, ...: 10^9 transfers of one bit a second, and how much of them is data. */
static const struct {
    double transfers, data;
} lane[] = {{0, 0},           {2.5, 8 / 10.0}, {5, 8 / 10.0}, {8, 128 / 130.0}, {16, 128 / 130.0}, {32, 128 / 130.0},
            {64, 242 / 256.0}};
enum { GENERATIONS = sizeof lane / sizeof *lane };

static double rate(int generation, int width) {
    if (generation < 1 || generation >= GENERATIONS || width < 1 || width > 32) return 0;
    return lane[generation].transfers * lane[generation].data / 8 * width;
}

static double ask_nvidia_smi(const char *bus_id) {
    char command[256];
    int generation = 0, width = 0;
    lab_text(command, sizeof command,
             "nvidia-smi -i %s --query-gpu=pcie.link.gen.max,pcie.link.width.max --format=csv,noheader 2>/dev/null",
             bus_id);
    FILE *f = popen(command, "re");
    if (!f) return 0;
    bool both = fscanf(f, "%d , %d", &generation, &width) == 2;
    return pclose(f) == 0 && both ? rate(generation, width) : 0;
}

/* The first number in folder/name; 0 where there is none. */
static double number_in(const char *folder, const char *name) {
    char path[4096];
    double number = 0;
    lab_text(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    if (fscanf(f, "%lf", &number) != 1) number = 0;
    fclose(f);
    return number;
}

static double ask_folder(const char *folder) {
    double transfers = number_in(folder, "max_link_speed"), width = number_in(folder, "max_link_width");
    for (int g = 1; g < GENERATIONS; g++)
        if (fabs(transfers - lane[g].transfers) < 0.1) return rate(g, (int)width);
    return 0;
}

static double ask_sysfs(const char *sysfs, const char *bus_id) {
    char folder[4096], port[4096], id[32];
    lab_text(id, sizeof id, "%s", bus_id);
    for (char *p = id; *p; p++) *p = (char)tolower((unsigned char)*p);
    lab_text(folder, sizeof folder, "%s/%s", sysfs, id);
    lab_text(port, sizeof port, "%s/%s/..", sysfs, id); /* the folder is a link to where the card hangs */
    double card = ask_folder(folder), above = ask_folder(port);
    return above > 0 && above < card ? above : card;
}

double lab_pcie_gbs(const char *bus_id, const char *sysfs) {
    if (!*bus_id || bus_id[strspn(bus_id, "0123456789abcdefABCDEF:.")]) return 0;
    double gbs = ask_nvidia_smi(bus_id);
    return gbs > 0 ? gbs : ask_sysfs(sysfs, bus_id);
}

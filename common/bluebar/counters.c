/* counters.c — Nsight Compute's CSV as the table that `make bench` records: a line for each launch that differs in
 * kernel, grid or block, its counters in the columns that METRICS names.
 *
 * The CSV's fields are quoted; its first line has the names, the second the units (with an empty first field). Lines
 * that do not begin with a quote are ncu's messages and the program's own output.
 */
#define _GNU_SOURCE
#include "bluebar.h"

#include <stdlib.h>
#include <string.h>

static const char *const metrics[] = {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
                                      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
                                      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                                      "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
                                      "smsp__inst_executed_op_shared_ld.sum",
                                      "smsp__inst_executed_op_shared_st.sum",
                                      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
                                      "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                                      "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                                      "gpu__time_duration.sum",
                                      "dram__bytes_read.sum",
                                      "dram__bytes_write.sum",
                                      "launch__registers_per_thread"};
enum { METRICS = sizeof metrics / sizeof *metrics, MOST_FIELDS = 512, COLUMNS = METRICS + 3 };

int bb_cmd_metrics(int argc, char **argv) {
    (void)argv;
    if (argc != 1) bb_die("bluebar metrics takes no arguments");
    for (int k = 0; k < METRICS; k++) printf("%s%s", k ? "," : "", metrics[k]);
    puts("");
    return 0;
}

/* Splits a line of quoted fields in place; a doubled quote inside one is a quote. */
static int split(char *line, char **field) {
    int n = 0;
    for (char *p = line; *p == '"' && n < MOST_FIELDS;) {
        char *to = ++p;
        field[n++] = to;
        for (; *p && (*p != '"' || p[1] == '"'); p++) {
            p += *p == '"';
            *to++ = *p;
        }
        p += *p == '"';
        p += *p == ',';
        *to = 0;
    }
    return n;
}

/* "void copy<4>(float *, ...)" is copy<4>. */
static const char *kernel_name(char *text) {
    text[strcspn(text, "(")] = 0;
    return bb_begins(text, "void ") ? text + strlen("void ") : text;
}

static void add_launch(bb_text *line, char **field, const int *at) {
    bb_addf(line, "%s\t%s\t%s", kernel_name(field[at[0]]), field[at[1]], field[at[2]]);
    for (int k = 3; k < COLUMNS; k++) {
        bb_addf(line, "\t");
        for (const char *p = at[k] < 0 ? "" : field[at[k]]; *p; p++)
            if (*p != ',') bb_add(line, p, 1); /* 1,234 */
    }
}

/* Is this launch, by its first three columns, among the lines? */
static bool seen(const bb_text *lines, const char *line) {
    size_t key = 0;
    for (int tabs = 0; line[key] && (line[key] != '\t' || ++tabs < 3);) key++;
    for (const char *p = lines->at; p && *p; p = strchr(p, '\n') + 1)
        if (!strncmp(p, line, key) && p[key] == '\t') return true;
    return false;
}

static void find_columns(char **field, int n, int *at) {
    static const char *const first[] = {"Kernel Name", "Grid Size", "Block Size"};
    for (int k = 0; k < COLUMNS; k++) {
        const char *name = k < 3 ? first[k] : metrics[k - 3];
        at[k] = -1;
        for (int i = 0; i < n; i++)
            if (bb_same(field[i], name)) at[k] = i;
        if (k < 3 && at[k] < 0) bb_die("ncu's table has no column '%s'", name);
    }
}

int bb_cmd_counters(int argc, char **argv) {
    (void)argv;
    char *line = NULL, *field[MOST_FIELDS];
    size_t room = 0;
    int at[COLUMNS], columns = 0;
    bb_text lines = {0};
    if (argc != 1) bb_die("bluebar counters: ncu's CSV on stdin");
    for (ssize_t size; (size = getline(&line, &room, stdin)) > 0;) {
        if (*line != '"') continue;
        line[strcspn(line, "\r\n")] = 0;
        int n = split(line, field);
        if (!columns) {
            find_columns(field, columns = n, at);
        } else if (n == columns && *field[0]) {
            bb_text launch = {0};
            add_launch(&launch, field, at);
            if (!seen(&lines, launch.at)) bb_addf(&lines, "%s\n", launch.at);
            free(launch.at);
        }
    }
    free(line);
    if (!lines.size) return 1;
    printf("kernel\tgrid\tblock");
    for (int k = 0; k < METRICS; k++) printf("\t%s", metrics[k]);
    printf("\n%s", lines.at);
    free(lines.at);
    return 0;
}
